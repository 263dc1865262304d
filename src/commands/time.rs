//! `renmei time`: what another division of an engine's clock is worth, before it is played.

use super::{Exit, Failure, find_event, pretty};
use crate::cli::TimeArgs;
use event::write_picture;
use journal::{EventSummary, FullGame, GameFilter, GameState, KnownIdentity, Store};
use laboratory::timing::{self, Doubling, Estimate, MOST_GAMES, Odds, OwnMove, PlayedGame, Question};
use plan::{
    PolicyConfig,
    policy::Present,
    stored::{StoredEngine, StoredPlan},
    time_text::control_text,
};
use referee::{
    Color, Outcome, WinBy,
    clock::TimeControl,
    entry::{PlayerId, Score, Thought},
    evaluation::ScoreScale,
};
use report::plot::{self, Size};
use serde::Serialize;
use std::time::Duration;
use usi_shell::{PolicyError, TimePolicy};

/// The delay that `usi-shell` keeps back of each move by default.
const DELAY: Duration = Duration::from_millis(50);
/// Least difference of nodes, in doublings, between two players that a doubling is measured from.
const LEAST_DOUBLINGS: f64 = 0.25;
/// Most names of players in a message.
const NAMES: usize = 8;
/// Least number of such games.
const LEAST_ODDS: usize = 20;

/// The estimate as JSON.
#[derive(Serialize)]
struct Document<'a> {
    event: &'a str,
    players: Vec<&'a str>,
    clock: String,
    centipawns: f64,
    /// The policy, and the present one if it is known, as the option `TimePolicy`.
    policy: String,
    present: Option<String>,
    #[serde(flatten)]
    estimate: &'a Estimate,
}

/// An event, and the players that are asked about.
struct Subject<'a> {
    store: &'a Store,
    event: &'a EventSummary,
    plan: StoredPlan,
    identities: Vec<KnownIdentity>,
    players: Vec<usize>,
}

/// Estimates what a policy is worth.
pub fn time(args: &TimeArgs) -> Result<Exit, Failure> {
    let policy = PolicyConfig::load(&args.policy).map_err(|faults| Failure::Usage(faults.to_string()))?;
    let store = Store::read(&args.db)?;
    let events = store.events()?;
    let event = find_event(&events, args.event.as_deref())?;
    let subject = Subject::of(&store, event, args.player.as_deref())?;
    let games = subject.games()?;
    let refused = |why: timing::NoEstimate| Failure::Usage(format!("`{}`: {why}", event.name));
    // Before anybody is asked to play games for the worth of a doubling.
    timing::check(&games).map_err(refused)?;
    let doubling = match args.elo_per_doubling {
        Some((elo, error)) => Doubling { elo, error, games: 0 },
        None => measured(&store, &events, &subject)?,
    };
    let question = subject.question(&policy, doubling)?;
    let estimate = timing::estimate(&games, &question).map_err(refused)?;
    if let Some(path) = &args.plot {
        let title = format!("{} · seconds a move by ply", event.name);
        write_picture(&plot::spent(&title, &estimate.course, Size::Wide), path)?;
    }
    let players =
        subject.players.iter().filter_map(|at| event.players.get(*at)).map(String::as_str).collect();
    let document = Document {
        event: &event.name,
        players,
        clock: games.first().map(|game| control_text(&game.control)).unwrap_or_default(),
        centipawns: question.centipawns,
        policy: question.policy.to_string(),
        present: question.present.as_ref().map(ToString::to_string),
        estimate: &estimate,
    };
    match args.json {
        true => out_line!("{}", pretty(&document)?),
        false => print(&document),
    }
    Ok(Exit::Done)
}

fn print(document: &Document<'_>) {
    let names: Vec<String> =
        document.players.iter().map(|name| notation::printable(name.as_bytes())).collect();
    out_line!(
        "{} in `{}` at {}",
        names.join(", "),
        notation::printable(document.event.as_bytes()),
        document.clock
    );
    out_line!("{}", document.estimate);
    out_line!("play it: option.TimePolicy=\"{}\"", document.policy);
    out_line!(
        "assumed: nodes are worth something where the expected score changes hands for good (weight), each doubling the same; \
         games are as long as they were"
    );
}

impl<'a> Subject<'a> {
    /// The player of this name, or all of them if they are one engine.
    fn of(store: &'a Store, event: &'a EventSummary, name: Option<&str>) -> Result<Self, Failure> {
        let unreadable = |why| Failure::Other(format!("the stored plan of `{}`: {why}", event.name));
        let plan = StoredPlan::from_json(&event.plan).map_err(unreadable)?;
        let identities = store.identities(event.id)?;
        let mut subject = Self { store, event, plan, identities, players: vec![] };
        let names = || first_names(&event.players);
        subject.players = match name {
            Some(name) => {
                let found = event.players.iter().position(|known| known == name);
                vec![found.ok_or_else(|| {
                    Failure::Usage(format!("`{}` has no player `{name}`; it has: {}", event.name, names()))
                })?]
            }
            None => (0..event.players.len()).collect(),
        };
        let first = subject.players.first().copied().unwrap_or_default();
        let is_one = |at: &usize| {
            subject.is_same(*at, first)
                && subject.engine(*at).map(|it| it.time) == subject.engine(first).map(|it| it.time)
        };
        match name.is_some() || subject.players.iter().all(is_one) {
            true => Ok(subject),
            false => {
                let hint = format!("name one by --player: {}", names());
                Err(Failure::Usage(format!(
                    "the players of `{}` are not one engine at one clock; {hint}",
                    event.name
                )))
            }
        }
    }

    fn engine(&self, player: usize) -> Option<&StoredEngine> {
        self.plan.engines.get(player)
    }

    /// True if two players are one program with the same arguments and options.
    fn is_same(&self, one: usize, other: usize) -> bool {
        let hash = |player: usize| {
            let known = self.identities.iter().rfind(|known| known.player.index() == player);
            known.and_then(|known| known.identity.hash.clone())
        };
        let settings = |player| self.engine(player).map(StoredEngine::settings);
        one == other || (hash(one).is_some() && hash(one) == hash(other) && settings(one) == settings(other))
    }

    /// The option of an engine; all players have the same.
    fn option(&self, name: &str) -> Option<String> {
        self.engine(*self.players.first()?)?.option(name)
    }

    /// The games of the players, the last ones if there are very many.
    fn games(&self) -> Result<Vec<PlayedGame>, Failure> {
        let filter = GameFilter { state: Some(GameState::Counted), ..GameFilter::default() };
        let mut games = vec![];
        self.store.full_games::<Failure>(self.event.id, &filter, |game| {
            for color in Color::BOTH {
                let player = seated(&game, color);
                if self.players.contains(&player.index())
                    && let Some(played) = self.played(&game, color)
                {
                    games.push(played);
                }
            }
            // Twice as many, so that the oldest are dropped seldom.
            if games.len() >= 2 * MOST_GAMES {
                games.drain(..games.len() - MOST_GAMES);
            }
            Ok(())
        })?;
        games.drain(..games.len().saturating_sub(MOST_GAMES));
        Ok(games)
    }

    /// A game seen from one side; `None` if it ended by a fault other than time.
    fn played(&self, game: &FullGame, color: Color) -> Option<PlayedGame> {
        let control = self.control(game, color);
        let outcome = game.row.outcome?;
        let half_points = outcome.half_points(color)?;
        let fell = match outcome {
            Outcome::Win { by: WinBy::Time, .. } if half_points == 0 => true,
            Outcome::Win { by, .. } if by.is_fault() => return None,
            _ => false,
        };
        Some(PlayedGame {
            control,
            result: f64::from(half_points) / 2.0,
            fell,
            moves: own_moves(game, color, &control),
        })
    }

    /// The clock of a side; one without any time where none is on record, as of imported games.
    fn control(&self, game: &FullGame, color: Color) -> TimeControl {
        let of_plan = || self.engine(seated(game, color).index())?.time;
        let of_game = game.row.times.as_ref().map(|times| times[color.index()]);
        of_game.or_else(of_plan).unwrap_or_default()
    }

    fn question(&self, policy: &PolicyConfig, doubling: Doubling) -> Result<Question, Failure> {
        let parsed = |text: &str| text.parse::<TimePolicy>();
        let unread = |why: PolicyError| Failure::Usage(format!("the policy of `{}`: {why}", self.event.name));
        let present = match policy.present {
            Present::Unknown => None,
            Present::UsiShell => {
                Some(parsed(&self.option("TimePolicy").unwrap_or_default()).map_err(unread)?)
            }
        };
        let delay = self.option("NetworkDelay").and_then(|text| text.parse().ok()).map(Duration::from_millis);
        Ok(Question {
            present,
            policy: time_policy(policy),
            delay: delay.unwrap_or(DELAY),
            centipawns: self.centipawns()?,
            doubling,
        })
    }

    /// The scale that fits the players' results; the common one where there are too few of them.
    fn centipawns(&self) -> Result<f64, Failure> {
        let scales = report::scale::scales(self.store, self.event)?;
        let own: Vec<f64> = self.players.iter().filter_map(|at| scales.get(*at)?.centipawns).collect();
        let common = f64::from(ScoreScale::COMMON.centipawns());
        Ok(if own.is_empty() { common } else { own.iter().sum::<f64>() / own.len() as f64 })
    }
}

/// The names of players, of many the first ones.
fn first_names(players: &[String]) -> String {
    let shown = if players.len() > NAMES + 1 { NAMES } else { players.len() };
    let names = players[..shown].iter().map(|name| notation::printable(name.as_bytes())).collect::<Vec<_>>();
    match players.len() - shown {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

/// The policy of a file, as engines on `usi-shell` have it.
fn time_policy(file: &PolicyConfig) -> TimePolicy {
    TimePolicy {
        moves: file.moves,
        least_moves: file.least_moves,
        most: file.most,
        reserve: file.reserve,
        floor: file.floor,
        phases: file.phase.iter().map(|phase| (phase.from, phase.share)).collect(),
        expected: file.expected,
        decided: file.decided.map(|decided| (decided.score, decided.share)),
    }
}

fn seated(game: &FullGame, color: Color) -> PlayerId {
    if color == Color::Black { game.row.pairing.black } else { game.row.pairing.white }
}

fn own_moves(game: &FullGame, color: Color, control: &TimeControl) -> Vec<OwnMove> {
    let (mut left, mut moves) = (control.main, vec![]);
    let mut line: Option<String> = None;
    let mut last = [String::new(), String::new()];
    for (_, moved) in &game.moves {
        if moved.color == color {
            let thought = moved.thought.as_deref();
            let expected = line.as_deref().is_some_and(|line| is_followed(line, &last));
            let (ply, elapsed) = (moved.ply, moved.elapsed);
            let (nodes, score) = (thought.and_then(|it| it.nodes), thought.and_then(centipawns));
            moves.push(OwnMove { ply, left, elapsed, nodes, score, expected });
            left = moved.left;
            line = thought.and_then(|it| it.pv.clone()).or(line);
        }
        last = [std::mem::take(&mut last[1]), moved.mv.to_usi()];
    }
    moves
}

/// True if the last two moves are the first two of a line.
fn is_followed(line: &str, last: &[String; 2]) -> bool {
    let mut words = line.split_ascii_whitespace();
    last.iter().all(|mv| words.next() == Some(mv))
}

/// A score as `usi-shell` counts it: a mate is more than any limit.
fn centipawns(thought: &Thought) -> Option<i32> {
    Some(match thought.score? {
        Score::Cp(score) => score,
        Score::Mate(plies) if plies > 0 => i32::MAX,
        Score::Mate(_) => -i32::MAX,
    })
}

/// The worth of a doubling, from games of the engine against itself with more or less time, in all events of the database.
fn measured(store: &Store, events: &[EventSummary], asked: &Subject<'_>) -> Result<Doubling, Failure> {
    let program = |subject: &Subject<'_>, player: usize| {
        let known = subject.identities.iter().rfind(|known| known.player.index() == player)?;
        Some((known.identity.hash.clone()?, subject.engine(player)?.settings()))
    };
    let own = asked.players.first().and_then(|player| program(asked, *player));
    let mut odds = vec![];
    for event in events.iter().filter(|_| own.is_some()) {
        let Ok(plan) = StoredPlan::from_json(&event.plan) else { continue };
        let identities = store.identities(event.id)?;
        let mut subject = Subject { store, event, plan, identities, players: vec![] };
        subject.players =
            (0..event.players.len()).filter(|player| program(&subject, *player) == own).collect();
        subject.odds(&mut odds)?;
    }
    let found = (odds.len() >= LEAST_ODDS).then(|| Doubling::measured(&odds)).flatten();
    found.ok_or_else(|| {
        Failure::Usage(format!(
            "the worth of a doubling cannot be measured: {} games of this engine against itself, with the same options and \
             another time, are in the database; play some hundred (`--engine .. time=2s --engine .. time=1s`), or give it: \
             --elo-per-doubling 100",
            odds.len()
        ))
    })
}

impl Subject<'_> {
    /// The games among its players of different speed.
    fn odds(&self, odds: &mut Vec<Odds>) -> Result<(), Failure> {
        if self.players.len() < 2 {
            return Ok(());
        }
        let filter = GameFilter { state: Some(GameState::Counted), ..GameFilter::default() };
        let mut sums = vec![(0.0, 0.0); self.event.players.len()];
        let mut met = vec![];
        self.store.full_games::<Failure>(self.event.id, &filter, |game| {
            let both = Color::BOTH.map(|color| seated(&game, color).index());
            if !both.iter().all(|player| self.players.contains(player)) {
                return Ok(());
            }
            let searched =
                game.moves.iter().filter_map(|(_, it)| Some((it.color, it.thought.as_ref()?.nodes?)));
            for (color, nodes) in searched.filter(|(_, nodes)| *nodes > 0) {
                let sum = &mut sums[both[color.index()]];
                *sum = (sum.0 + (nodes as f64).log2(), sum.1 + 1.0);
            }
            if let Some(points) = game.row.outcome.and_then(|outcome| outcome.black_half_points()) {
                met.push((both, f64::from(points) / 2.0));
            }
            Ok(())
        })?;
        let mean = |player: usize| Some(sums[player].0 / sums[player].1).filter(|mean| mean.is_finite());
        odds.extend(met.into_iter().filter_map(|([black, white], result)| {
            let doublings = mean(black)? - mean(white)?;
            (doublings.abs() >= LEAST_DOUBLINGS).then_some(Odds { doublings, result })
        }));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::Environment;

    #[test]
    fn a_policy_of_a_file_is_the_option_of_an_engine() {
        let environment = Environment::here(std::path::Path::new("")).unwrap();
        let option =
            |text: &str| time_policy(&PolicyConfig::parse(text, None, &environment).unwrap()).to_string();
        let text = "moves = 40\nleast_moves = 15\nmost = 25\nreserve = \"500ms\"\nexpected = 80\n\
                    decided = { score = 1500, share = 50 }\n[[phase]]\nfrom = 1\nshare = 70\n[[phase]]\nfrom = 41\nshare = 120\n";
        let words =
            "moves=40 least_moves=15 most=25 reserve=500 expected=80 decided=1500:50 ply1=70 ply41=120";
        assert_eq!(option(text), words);
        assert_eq!(option(""), "", "the defaults of the two are the same");
    }
}
