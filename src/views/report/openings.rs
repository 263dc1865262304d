//! Strength by set of openings: the same players can be farther apart from one set than from another.

use crate::Language;
use crate::exhibit::{Cell, Column, Exhibit};
use contest::schedule::Pairing;
use journal::{EventSummary, GameFilter, GameState, Store, StoreError};
use referee::{
    distinct::{Distinct, GameKey},
    opening::{EVEN, Family, Opening},
    rating::{Counts, CrossTable, Estimate, Numbers, Pentanomial, Results, Trinomial, fit},
};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The games of an event from one set of openings.
#[derive(Clone, Debug, Serialize)]
pub struct OpeningSet {
    /// Its name: a family, or the file.
    pub name: String,
    /// Lines that were played.
    pub lines: usize,
    /// Games that count.
    pub games: u64,
    /// Points a game for black, 0..=1.
    pub black_score: f64,
    /// Pairs that ended level, and all complete ones.
    pub level: (u64, u64),
    /// The first player against the second, in an event of two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<Numbers>,
    /// Elo of the players, best first, relative to the mean of those who played from it, in an event of more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ratings: Vec<(String, Estimate)>,
}

/// Sums of a set.
#[derive(Default)]
struct Sums {
    lines: HashSet<String>,
    games: u64,
    black_half_points: u64,
    pairs: u64,
    level: u64,
    /// Of the player with the lower id, in pairs of games and in games without a pair.
    pentanomial: [u64; 5],
    trinomial: [u64; 3],
    met: BTreeMap<(usize, usize), [u64; 3]>,
}

/// A game of a pair whose other one is not known yet.
struct Half {
    set: String,
    goal: String,
    lower: u8,
    black: u8,
    /// True if it repeats no earlier game.
    is_new: bool,
    players: [usize; 2],
}

/// The sets of openings of an event, the one with most games first. `set_of` names the set of a position (SFEN without a
/// move number) after the opening moves, and of the line in USI that was first to lead there.
///
/// # Errors
/// When the database cannot be read.
pub fn sets(
    store: &Store,
    event: &EventSummary,
    set_of: &dyn Fn(&str, &str) -> String,
) -> Result<Vec<OpeningSet>, StoreError> {
    let mut sets: BTreeMap<String, Sums> = BTreeMap::new();
    let mut names: HashMap<String, String> = HashMap::new();
    let mut goals: HashMap<(String, String), Option<String>> = HashMap::new();
    let mut halves: HashMap<(u8, u64), Half> = HashMap::new();
    let mut distinct = Distinct::default();
    // A game that is played on begins with the moves before it: its line is that of the game that was adjourned.
    let mut begun = HashMap::new();
    let adjourned = GameFilter { state: Some(GameState::Adjourned), ..GameFilter::default() };
    store.games::<StoreError>(event.id, &adjourned, |row| {
        let Pairing { stage, index, attempt, .. } = row.pairing;
        if row.start.is_some() {
            begun.entry((stage, index, attempt)).or_insert((row.start, row.opening));
        }
        Ok(())
    })?;
    let counted = GameFilter { state: Some(GameState::Counted), ..GameFilter::default() };
    store.games::<StoreError>(event.id, &counted, |row| {
        let black = row.outcome.and_then(|outcome| outcome.black_half_points());
        let Pairing { stage, index, attempt, .. } = row.pairing;
        let first = begun.get(&(stage, index, attempt)).cloned();
        let (start, opening) = first.unwrap_or((row.start, row.opening));
        let (Some(start), Some(black)) = (start, black) else { return Ok(()) };
        let key = (start, opening.unwrap_or_default());
        let line = line_of(&key.0, &key.1);
        let goal = goals.entry(key).or_insert_with_key(|(start, moves)| {
            Opening::of_usi(start, moves).and_then(|opening| opening.goal())
        });
        let Some(goal) = goal.clone() else { return Ok(()) };
        let is_new = row
            .outcome
            .is_none_or(|outcome| distinct.is_new(GameKey::of(&row.pairing, outcome, row.moves_hash)));
        let set = names.entry(goal.clone()).or_insert_with_key(|goal| set_of(goal, &line)).clone();
        let players = [row.pairing.black, row.pairing.white].map(|player| player.index());
        let lower = if players[0] < players[1] { black } else { 2 - black.min(2) };
        let sums = sets.entry(set.clone()).or_default();
        sums.game(&goal, black, players, is_new);
        let place = (row.pairing.stage, row.pairing.pair);
        match halves.remove(&place) {
            Some(half) if half.goal == goal && half.players == [players[1], players[0]] => {
                sums.pairs += 1;
                sums.level += u64::from(half.black == black);
                if half.is_new && is_new {
                    sums.pentanomial[usize::from(half.lower + lower).min(4)] += 1;
                }
            }
            other => {
                other.into_iter().for_each(|half| single(&mut sets, &half));
                halves.insert(place, Half { set, goal, lower, black, is_new, players });
            }
        }
        Ok(())
    })?;
    halves.values().for_each(|half| single(&mut sets, half));
    let mut sets: Vec<OpeningSet> =
        sets.into_iter().map(|(name, sums)| sums.set(name, &event.players)).collect();
    sets.sort_by_key(|set| std::cmp::Reverse(set.games));
    Ok(sets)
}

/// A line as files of openings have it.
fn line_of(start: &str, moves: &str) -> String {
    let start = if start == EVEN { "startpos".to_owned() } else { format!("sfen {start}") };
    if moves.is_empty() { start } else { format!("{start} moves {moves}") }
}

/// The family of a position, as the name of a set.
pub fn family(goal: &str) -> String {
    Family::of(goal).to_string()
}

/// Counts a game without a pair.
fn single(sets: &mut BTreeMap<String, Sums>, half: &Half) {
    if let Some(sums) = sets.get_mut(&half.set).filter(|_| half.is_new) {
        sums.trinomial[usize::from(half.lower).min(2)] += 1;
    }
}

impl Sums {
    fn game(&mut self, goal: &str, black: u8, [one, other]: [usize; 2], is_new: bool) {
        if !self.lines.contains(goal) {
            self.lines.insert(goal.to_owned());
        }
        self.games += 1;
        self.black_half_points += u64::from(black);
        if is_new {
            self.met.entry((one, other)).or_default()[usize::from(2 - black.min(2))] += 1;
        }
    }

    fn set(self, name: String, players: &[String]) -> OpeningSet {
        let is_match = players.len() == 2;
        let [losses, draws, wins] = self.trinomial;
        let counts: Counts = match self.pairs {
            0 => Trinomial { losses, draws, wins }.into(),
            _ => Pentanomial(self.pentanomial).into(),
        };
        OpeningSet {
            name,
            lines: self.lines.len(),
            games: self.games,
            black_score: self.black_half_points as f64 / 2.0 / self.games.max(1) as f64,
            level: (self.level, self.pairs),
            difference: is_match.then(|| Numbers::from(&counts)),
            ratings: if is_match { vec![] } else { ratings(&self.met, players) },
        }
    }
}

fn ratings(met: &BTreeMap<(usize, usize), [u64; 3]>, players: &[String]) -> Vec<(String, Estimate)> {
    let here: Vec<usize> =
        (0..players.len()).filter(|at| met.keys().any(|(one, other)| one == at || other == at)).collect();
    let place = |player: usize| here.iter().position(|&at| at == player);
    let mut table = CrossTable::new(here.len());
    for (&(black, white), results) in met {
        let [black_wins, draws, white_wins] = results.map(|games| games as f64);
        if let (Some(black), Some(white)) = (place(black), place(white)) {
            // Only a player against itself is refused, and that is no game.
            let _no_game = table.add(black, white, Results { black_wins, draws, white_wins });
        }
    }
    let fitted = fit(&table);
    let mut rated: Vec<(String, Estimate)> =
        here.iter().zip(fitted.players).map(|(&at, player)| (players[at].clone(), player.elo)).collect();
    let value = |elo: &Estimate| elo.value().unwrap_or(f64::MIN);
    rated.sort_by(|a, b| value(&b.1).total_cmp(&value(&a.1)));
    rated
}

/// The table of sets of openings.
pub fn table(sets: &[OpeningSet], words: Language) -> Exhibit {
    let level = |set: &OpeningSet| {
        let (level, pairs) = set.level;
        Cell::share((pairs > 0).then(|| level as f64 / pairs as f64), 0)
    };
    let strength = |set: &OpeningSet| match &set.difference {
        Some(numbers) => Cell::words(words.elo_words(numbers.elo.value(), numbers.elo_low, numbers.elo_high)),
        None => Cell::words(
            set.ratings.iter().map(|(name, elo)| format!("{name} {elo}")).collect::<Vec<_>>().join(", "),
        ),
    };
    let columns = vec![
        Column::left(words.pick("openings", "開始局面"), |set: &OpeningSet| Cell::words(&set.name)),
        Column::right(words.pick("lines", "手順数"), |set: &OpeningSet| Cell::count(set.lines as u64)),
        Column::right(words.game_column(), |set: &OpeningSet| Cell::count(set.games)),
        Column::right(words.black(), |set: &OpeningSet| Cell::share(Some(set.black_score), 1)),
        Column::right(words.pick("level", "五分の組"), level),
        Column::left("Elo", strength),
    ];
    Exhibit::of(columns, sets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use journal::{EventHead, Journal};
    use referee::{
        AbortBy, Color, Outcome, WinBy,
        entry::{Entry, GameEnded, GameId, GameStarted, Opened, PlayerId, Stamped},
    };

    #[test]
    fn a_game_that_is_played_on_has_the_line_that_it_began_with() {
        rsshogi::board::init();
        let directory = tempfile::tempdir().unwrap();
        let head = EventHead { name: "e", kind: "run", plan: r#"{"engines":[]}"#, fingerprint: "{}" };
        let journal =
            Journal::open(&directory.path().join("e.db"), &head).unwrap().start(vec![], || ()).unwrap();
        let players = vec!["a".to_owned(), "b".to_owned()];
        let opened = Opened { name: "e".to_owned(), players, format: String::new(), resumed: false };
        journal.append([Stamped { at: 1, entry: Entry::Opened(opened) }]);
        let win = Outcome::Win { winner: Color::Black, by: WinBy::Resignation };
        let games = [
            (0, "7g7f 3c3d", Outcome::Aborted { by: AbortBy::Stopped }),
            (0, "7g7f 3c3d 2g2f 8c8d", win),
            (1, "7g7f 3c3d", win),
        ];
        for (number, (index, opening, outcome)) in (1..).zip(games) {
            let game = GameId(number);
            let [black, white] = if index == 0 { [0, 1] } else { [1, 0] }.map(PlayerId);
            let pairing =
                Pairing { stage: 0, index, attempt: 0, round: 1, pair: 0, opening: 0, black, white };
            let (start, opening) = (EVEN.to_owned(), opening.to_owned());
            let started = GameStarted { game, pairing, start, opening, times: None };
            journal.append([
                Stamped { at: 2, entry: Entry::GameStarted(started) },
                Stamped { at: 3, entry: Entry::GameEnded(GameEnded::new(game, pairing, outcome, 4)) },
            ]);
        }
        let store = journal.finish().unwrap();
        let event = store.events().unwrap().remove(0);
        let sets = sets(&store, &event, &|_, _| "all".to_owned()).unwrap();
        let found: Vec<_> = sets.iter().map(|set| (set.lines, set.games, set.level)).collect();
        assert_eq!(found, [(1, 2, (1, 1))]);
    }
}
