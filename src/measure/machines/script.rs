//! Scripted games: random legal moves, ruled by our referee, in the form of a worker's answer.

use anyhow::{Context, Result, bail, ensure};
use machines::messages::{Answer, Job, JobGame, Terms};
use referee::{
    Color,
    entry::{Entry, GameEnded, GameId, GameStarted, PlayerId, Score, Stamped, Thought},
    game::{self, Game, Input, Output, Reply, Said},
};
use rsshogi::{
    board::{MoveList, Position, position_from_sfen},
    movegen::generate_legal_all,
    types::Move,
};
use std::time::{Duration, SystemTime};
use usi_shell::SplitMix64;

/// Games of different moves that are sent in turn.
const GAMES: u64 = 16;
/// Time of each move by the clock.
const MOVE: Duration = Duration::from_millis(8);

/// How long a scripted game is, and how it ends.
#[derive(Clone, Copy, Debug)]
pub struct Length {
    /// Plies at least.
    pub plies: u32,
    /// The player to resign then; `None`: the side to move.
    pub loser: Option<PlayerId>,
}

/// Scripted games from one position, to be sent as answers.
#[derive(Debug)]
pub struct Script {
    /// By number of the game, and by the player who has black.
    games: Vec<[Vec<Stamped>; 2]>,
}

impl Script {
    /// Plays the games of a job's kind; its openings must be empty.
    ///
    /// # Errors
    /// When the job is not of such an event.
    pub fn of(job: &Job, terms: &Terms, length: Length) -> Result<Self> {
        let first = job.games.first().context("a job has no game")?;
        ensure!(first.opening.is_empty(), "scripted games have no opening");
        let play = |seed: u64, black: u32| {
            let mut game = first.clone();
            (game.pairing.black, game.pairing.white) = (PlayerId(black), PlayerId(1 - black));
            // A random game may be over too early.
            (0..100)
                .find_map(|retry| play(&game, terms, length, seed + GAMES * retry).transpose())
                .context("no random game is long enough")?
        };
        let games = (0..GAMES).map(|seed| Ok([play(seed, 0)?, play(seed, 1)?])).collect::<Result<_>>()?;
        Ok(Self { games })
    }

    /// The answer to a job.
    pub fn answer(&self, job: &Job) -> Result<Vec<u8>> {
        let games = job.games.iter().map(|game| self.game(game)).collect();
        Ok(serde_json::to_vec(&Answer { lease: job.lease, repeats: job.repeats, games })?)
    }

    fn game(&self, game: &JobGame) -> Vec<Stamped> {
        let pairing = game.pairing;
        let script = &self.games[(pairing.index % GAMES) as usize][pairing.black.0.min(1) as usize];
        let at = now();
        let entries = script.iter().map(|Stamped { entry, .. }| {
            let entry = match entry.clone() {
                Entry::GameStarted(started) => Entry::GameStarted(GameStarted { pairing, ..started }),
                Entry::GameEnded(ended) => Entry::GameEnded(GameEnded { pairing, ..ended }),
                other => other,
            };
            Stamped { at, entry }
        });
        entries.collect()
    }
}

/// Plays a game; `None` when it is over before its length.
fn play(job: &JobGame, terms: &Terms, length: Length, seed: u64) -> Result<Option<Vec<Stamped>>> {
    let fixture = job.fixture(GameId(1), terms.rules, terms.adjudication).map_err(anyhow::Error::msg)?;
    let (mut game, _calls) = Game::start(fixture.setup)?;
    for color in Color::BOTH {
        game.handle(Input::Reply(color, Reply::Ready));
    }
    let mut position = position_from_sfen(&job.start).map_err(|why| anyhow::anyhow!("{why:?}"))?;
    let mut random = SplitMix64::new(seed);
    let start = GameStarted {
        game: GameId(1),
        pairing: job.pairing,
        start: job.start.clone(),
        opening: String::new(),
        times: job.tells_times.then(|| Box::new(job.times)),
    };
    let mut entries = vec![Entry::GameStarted(start)];
    let player = |turn: Color| [job.pairing.black, job.pairing.white][turn.index()];
    while game.plies() < length.plies || length.loser.is_some_and(|loser| loser != player(game.turn())) {
        let Some(mv) = random_move(&mut position, &mut random) else { return Ok(None) };
        let outputs = said(&mut game, Said::Move(mv));
        entries.extend(outputs.into_iter().filter_map(|output| match output {
            Output::Happened(entry) => Some(entry),
            _ => None,
        }));
        if game.is_over() {
            return Ok(None);
        }
    }
    let plies = game.plies();
    let outputs = said(&mut game, Said::Resign);
    let ended = outputs.into_iter().find_map(|output| match output {
        Output::Ended(outcome, _) => Some(outcome),
        _ => None,
    });
    let Some(outcome) = ended else { bail!("a resignation did not end a scripted game") };
    let (evidence, pairing) = (String::new(), job.pairing);
    let end =
        GameEnded { game: GameId(1), pairing, outcome, plies, evidence, replayed: false, moves_hash: None };
    entries.push(Entry::GameEnded(end));
    Ok(Some(entries.into_iter().map(|entry| Stamped { at: 0, entry }).collect()))
}

/// A reply of the side to move, with the thought of an engine.
fn said(game: &mut Game, said: Said) -> Vec<Output> {
    let thought = Thought {
        depth: Some(12),
        seldepth: Some(18),
        score: Some(Score::Cp(35)),
        nodes: Some(123_456),
        nps: Some(1_000_000),
        time: Some(123),
        pv: Some("7g7f 3c3d 2g2f 8c8d 2f2e 8d8e".to_owned()),
    };
    let answer = game::Answer { said, elapsed: MOVE, ponders: false, thought: Some(Box::new(thought)) };
    let turn = game.turn();
    game.handle(Input::Reply(turn, Reply::Answer(answer)))
}

fn random_move(position: &mut Position, random: &mut SplitMix64) -> Option<Move> {
    let mut legal = MoveList::new();
    generate_legal_all(position, &mut legal);
    let mv = *random.choose(legal.as_slice())?;
    let played = position.move32_from_move(mv);
    position.apply_move32(played);
    Some(mv)
}

/// Time in ms since 1970-01-01 UTC.
pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
