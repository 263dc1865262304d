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
    /// What it consists of, and true if it repeats no earlier game.
    evidence: (Option<GameKey>, bool),
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
        let Pairing { stage, index, .. } = row.pairing;
        if row.start.is_some() {
            begun.entry((stage, index)).or_insert((row.start, row.opening));
        }
        Ok(())
    })?;
    let counted = GameFilter { state: Some(GameState::Counted), ..GameFilter::default() };
    store.games::<StoreError>(event.id, &counted, |row| {
        let black = row.outcome.and_then(|outcome| outcome.black_half_points());
        let first = begun.get(&(row.pairing.stage, row.pairing.index)).cloned();
        let (start, opening) = first.unwrap_or((row.start, row.opening));
        let (Some(start), Some(black)) = (start, black) else { return Ok(()) };
        let key = (start, opening.unwrap_or_default());
        let line = line_of(&key.0, &key.1);
        let goal = goals.entry(key).or_insert_with_key(|(start, moves)| {
            Opening::of_usi(start, moves).and_then(|opening| opening.goal())
        });
        let Some(goal) = goal.clone() else { return Ok(()) };
        // A game is as new as it was before a ruling gave it another result.
        let ended = row.ruling.map_or(row.outcome, |ruling| Some(ruling.was)).filter(|ended| ended.counts());
        let key = ended.and_then(|ended| GameKey::of(&row.pairing, ended, row.moves_hash));
        let is_new = distinct.is_new(key);
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
                if distinct.is_new_pair([half.evidence, (key, is_new)]) {
                    sums.pentanomial[usize::from(half.lower + lower).min(4)] += 1;
                }
            }
            other => {
                other.into_iter().for_each(|half| single(&mut sets, &half));
                halves.insert(place, Half { set, goal, lower, black, evidence: (key, is_new), players });
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
    if let Some(sums) = sets.get_mut(&half.set).filter(|_| half.evidence.1) {
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
    use contest::{
        stage::{Format, Stage},
        standings::Standings,
    };
    use journal::{EventHead, Journal, Moves};
    use ledger::Ledger;
    use referee::{
        AbortBy, Color, DrawBy, Outcome, WinBy,
        entry::{Entry, GameEnded, GameId, GameStarted, Opened, PlayerId, Stamped},
        operation::{Action, NamedGame, Operation},
    };
    use std::path::Path;

    const HEAD: EventHead<'_> =
        EventHead { name: "e", kind: "run", plan: r#"{"engines":[]}"#, fingerprint: "{}" };

    fn opened() -> Entry {
        let players = vec!["a".to_owned(), "b".to_owned()];
        Entry::Opened(Opened { name: "e".to_owned(), players, format: String::new(), resumed: false })
    }

    fn place(index: u64, attempt: u32) -> Pairing {
        let [black, white] = if index.is_multiple_of(2) { [0, 1] } else { [1, 0] }.map(PlayerId);
        Pairing { stage: 0, index, attempt, round: 1, pair: index / 2, opening: index / 2, black, white }
    }

    /// Entries of a test of two players: of its pairs many are alike, some games get another result, some do not count any
    /// more, and some of these are played again.
    fn entries(mut dice: impl FnMut(u64) -> u64) -> Vec<Entry> {
        let win = |color| Outcome::Win { winner: color, by: WinBy::Resignation };
        let outcomes = [win(Color::Black), win(Color::White), Outcome::Draw { by: DrawBy::Sennichite }];
        let (mut entries, mut number, mut orders, mut over) = (vec![opened()], 0, 0, vec![]);
        let mut game = |index: u64, attempt: u32, kind: u64, over: &mut Vec<_>, entries: &mut Vec<Entry>| {
            number += 1;
            let (game, pairing, moves) = (GameId(number), place(index, attempt), 2 * kind + index % 2);
            let (start, opening) = (EVEN.to_owned(), "7g7f".to_owned());
            entries.push(Entry::GameStarted(GameStarted { game, pairing, start, opening, times: None }));
            let was = outcomes[(moves % 3) as usize];
            let ended = GameEnded { moves_hash: Some(moves), ..GameEnded::new(game, pairing, was, 9) };
            entries.push(Entry::GameEnded(ended));
            over.push((game, pairing, was, kind));
        };
        for pair in 0..8 {
            let kind = dice(4);
            (2 * pair..2 * pair + 2).for_each(|index| game(index, 0, kind, &mut over, &mut entries));
            if dice(2) == 0 {
                continue;
            }
            let (id, pairing, was, kind) = over.swap_remove(dice(over.len() as u64) as usize);
            let named = NamedGame { game: id, black: String::new(), white: String::new(), round: 1 };
            let outcome = match dice(5) {
                at @ 0..3 => outcomes[at as usize],
                _ => Outcome::Aborted { by: AbortBy::Annulled },
            };
            let again = dice(3) == 0;
            let action = match again {
                true => Action::Replayed { game: named, pairing, was },
                false => Action::Ruled { game: named, pairing, was: Some(was), outcome },
            };
            if !again && outcome == was {
                continue;
            }
            orders += 1;
            let (by, reason) = ("kai".to_owned(), String::new());
            entries.push(Entry::Operator(Box::new(Operation {
                number: orders,
                by,
                reason,
                undoes: None,
                action,
            })));
            if again && dice(2) == 0 {
                game(pairing.index, pairing.attempt + 1, kind, &mut over, &mut entries);
            }
        }
        entries
    }

    /// The report's standings, the sequential test, the sets of openings and the ledger read one database.
    #[test]
    fn every_statistic_counts_the_same_games_of_one_event() {
        rsshogi::board::init();
        let directory = tempfile::tempdir().unwrap();
        for seed in 0..24 {
            let mut state = referee::rating::mix::mix(seed + 1);
            let dice = |sides: u64| {
                state = referee::rating::mix::mix(state);
                (state >> 20) % sides
            };
            counts_alike(&directory.path().join(format!("{seed}.db")), entries(dice));
        }
    }

    fn counts_alike(path: &Path, entries: Vec<Entry>) {
        let journal = Journal::open(path, &HEAD).unwrap().start(vec![], || ()).unwrap();
        journal.append((1..).zip(entries).map(|(at, entry)| Stamped { at, entry }));
        let store = journal.finish().unwrap();
        let event = store.events().unwrap().remove(0);
        let stage = Stage { format: Format::Sprt { max_games: 1000 }, games: 2, ..Stage::default() };
        let mut standings = Standings::new(&[stage], 2);
        store.replay(event.id, Moves::Without, &mut |stamped| standings.fold(&stamped.entry)).unwrap();
        let (total, seen) = (standings.total(), path.display());
        let (a, b) = (PlayerId(0), PlayerId(1));
        let test = standings.sequence().unwrap().finished;
        assert_eq!(test.pentanomial, total.pentanomial(a, b), "the test of {seen}");
        assert_eq!(test.trinomial.iter().sum::<u64>(), total.distinct_games(), "the test of {seen}");
        let sets = sets(&store, &event, &|_, _| "all".to_owned()).unwrap();
        assert_eq!(sets[0].games, total.games(), "the openings of {seen}");
        if sets[0].level.1 > 0 {
            assert_eq!(sets[0].difference, Some(total.numbers(a, b)), "the openings of {seen}");
        }
        let mut ledger = Ledger::default();
        ledger.read(path).unwrap();
        let counts = ledger.counts();
        assert_eq!(counts.games, total.distinct_games(), "the ledger of {seen}");
        assert_eq!(counts.games + counts.repeats, event.counted, "the ledger of {seen}");
        let rated = ledger.rate(&[]).unwrap();
        let row = rated.groups[0].rows.iter().find(|row| ledger.nodes()[row.node].name == "a").unwrap();
        let met = total.distinct_between(a, b);
        let score = (met.wins as f64 + met.draws as f64 / 2.0) / met.games() as f64;
        assert!((row.score.unwrap() - score).abs() < 1e-9, "the ledger of {seen}: {:?}, {score}", row.score);
    }

    #[test]
    fn a_game_that_is_played_on_has_the_line_that_it_began_with() {
        rsshogi::board::init();
        let directory = tempfile::tempdir().unwrap();
        let journal =
            Journal::open(&directory.path().join("e.db"), &HEAD).unwrap().start(vec![], || ()).unwrap();
        journal.append([Stamped { at: 1, entry: opened() }]);
        let win = Outcome::Win { winner: Color::Black, by: WinBy::Resignation };
        let adjourned = Outcome::Aborted { by: AbortBy::Stopped };
        let games = [
            (place(0, 0), "7g7f 3c3d", adjourned),
            (place(0, 1), "7g7f 3c3d 2g2f 8c8d", adjourned),
            (place(0, 2), "7g7f 3c3d 2g2f 8c8d 2f2e 8d8e", win),
            (place(1, 0), "7g7f 3c3d", win),
        ];
        for (number, (pairing, opening, outcome)) in (1..).zip(games) {
            let game = GameId(number);
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
        assert_eq!((found, store.opening_lines(event.id).unwrap()), (vec![(1, 2, (1, 1))], 1));
    }
}
