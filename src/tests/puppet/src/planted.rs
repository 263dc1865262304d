//! `renmei-planted`: plays like renmei-pairwise, makes one planted mistake a game, and notes it in a file, for testing
//! `renmei explain`.
//!
//! The mistake is a move that turns a position that is about even (200 centipawns) into a lost one (1000 or more), first tried
//! at a move between 24 and 63 that depends on the opening. Its kind depends on the opening as well. With a clock the engine searches
//! `Nodes` nodes; when it is asked for a number of nodes, it plays the mistake in a position that is in the file again, if
//! that is of the kind:
//!
//! | kind | in the game | asked again |
//! |---|---|---|
//! | `time` | a twentieth of the nodes | the mistake below half of `Nodes` |
//! | `horizon` | the nodes of every move | the mistake below three times `Nodes` |
//! | `evaluation` | the nodes of every move | always the mistake |
//! | `book` | the last of its first moves, which have no `info` | |
//! | `rules` | no declaration where one is possible, and resignation some moves later | |
//! | `fault` | ends in place of a move | |
//!
//! `rules` needs games that begin with a position in which it can declare; it is played there, and nowhere else.

use pairwise::{
    evaluation::Weights,
    search::{RootMove, Searcher, Task, to_score},
};
use rsshogi::types::{Color, EnteringKingRule, Move, Move32};
use std::{
    fs::{self, OpenOptions},
    io::Write,
    process::{ExitCode, abort},
};
use usi_shell::{BestMove, Engine, Game, Info, NotReady, OptionSpec, Options, Output, Search, SplitMix64};

/// Kinds of mistakes, in the order in which openings choose them.
const KINDS: [&str; 5] = ["time", "horizon", "evaluation", "book", "fault"];
/// A mistake is planted where the evaluation is at most so many centipawns from even.
const EVEN: i32 = 200;
/// Evaluation after a mistake, in centipawns: at most, and about. A smaller mistake loses no game between equals.
const AFTER: [i32; 2] = [-1000, -1400];
/// Nodes of the search for a mistake, as a multiple of those of a move; a quarter of them show whether the position is even.
const EFFORT: u64 = 16;
/// Value at which it resigns, in centipawns.
const LOST: i32 = -3000;
/// Own moves that come from the book.
const BOOK: usize = 3;
/// Own moves after a missed declaration at which it resigns.
const RESIGNS: usize = 4;

/// The engine.
struct Planted {
    searcher: Searcher,
    weights: Option<Weights>,
    has_planted: bool,
    /// Own moves of the game.
    made: usize,
    /// What chooses the mistake of the game, drawn at its first own move.
    lot: Option<u64>,
}

/// A line of the file.
struct Note {
    kind: String,
    position: String,
    mv: String,
}

impl Engine for Planted {
    fn name(&self) -> String {
        "Renmei planted".to_owned()
    }

    fn author(&self) -> String {
        "the Renmei authors".to_owned()
    }

    fn options(&self) -> Vec<OptionSpec> {
        vec![
            OptionSpec::spin("USI_Hash", 8, 1..=1024),
            OptionSpec::spin("Nodes", 2000, 1..=1_000_000),
            OptionSpec::spin("Seed", 1, 0..=i64::MAX),
            OptionSpec::string("Target", ""),
        ]
    }

    fn ready(&mut self, options: &Options, _: &Output) -> Result<(), NotReady> {
        self.searcher.resize(options.number("USI_Hash"));
        if self.weights.is_none() {
            self.weights = Some(Weights::choose("default")?);
        }
        Ok(())
    }

    fn new_game(&mut self) {
        self.searcher.clear();
        (self.has_planted, self.made, self.lot) = (false, 0, None);
    }

    fn think(&mut self, game: &Game, search: &Search, out: &Output) -> BestMove {
        match search.limits.nodes {
            Some(nodes) => self.asked(game, search, nodes, out),
            None => self.played(game, search, out),
        }
    }
}

impl Planted {
    /// Answers a question for a number of nodes.
    fn asked(&mut self, game: &Game, search: &Search, nodes: u64, out: &Output) -> BestMove {
        let usual = usual(search);
        let note = notes(&search.options).into_iter().find(|note| note.position == key(game));
        let Some(note) = note else { return self.honest(game, nodes, out) };
        let errs = match note.kind.as_str() {
            "time" => nodes < usual / 2,
            "horizon" => nodes < 3 * usual,
            _ => true,
        };
        match Move::from_usi(&note.mv).filter(|_| errs) {
            Some(mv) => {
                out.info(&Info { depth: Some(8), nodes: Some(nodes), pv: vec![mv], ..Info::default() });
                BestMove::play(mv)
            }
            None => self.honest(game, nodes, out),
        }
    }

    /// Makes a move of a game.
    fn played(&mut self, game: &Game, search: &Search, out: &Output) -> BestMove {
        self.made += 1;
        let usual = usual(search);
        if let Some(answer) = self.undeclared(game, search, out) {
            return answer;
        }
        let seed = search.options.number("Seed") as u64;
        let lot = *self.lot.get_or_insert_with(|| lot(game, seed));
        let kind = KINDS[(lot % KINDS.len() as u64) as usize];
        let ply = 24 + (lot / 8 % 40) as usize;
        let is_booked = kind == "book" && !self.has_planted;
        let is_due = if is_booked { self.made >= BOOK } else { game.moves().len() + 1 >= ply };
        if is_due
            && !self.has_planted
            && let Some((mv, score)) = self.mistake(game, usual)
        {
            self.has_planted = true;
            note(search, kind, game, &mv.to_usi());
            return plant(kind, mv, score, usual, out);
        }
        if is_booked {
            return self.silent(game, usual);
        }
        self.honest(game, usual, out)
    }

    /// Passes over a declaration, and resigns some moves later.
    fn undeclared(&mut self, game: &Game, search: &Search, out: &Output) -> Option<BestMove> {
        let mut start = game.start().clone();
        start.set_entering_king_rule(EnteringKingRule::Point27);
        if start.declaration_win_move() != Move32::MOVE_WIN {
            return None;
        }
        if !self.has_planted && game.moves().is_empty() {
            self.has_planted = true;
            note(search, "rules", game, "win");
        }
        match self.made {
            RESIGNS.. => Some(BestMove::Resign),
            _ => Some(self.honest(game, usual(search), out)),
        }
    }

    fn honest(&mut self, game: &Game, nodes: u64, out: &Output) -> BestMove {
        let (moves, searched, depth) = self.search(game, nodes, 1);
        let Some(best) = moves.first() else { return BestMove::Resign };
        if best.value < LOST {
            return BestMove::Resign;
        }
        out.info(&Info {
            depth: Some(depth),
            score: Some(to_score(best.value)),
            nodes: Some(searched),
            pv: best.line.clone(),
            ..Info::default()
        });
        best.line.first().map_or(BestMove::Resign, |&mv| BestMove::play(mv))
    }

    fn silent(&mut self, game: &Game, nodes: u64) -> BestMove {
        let (moves, ..) = self.search(game, nodes, 1);
        moves.first().and_then(|best| best.line.first()).map_or(BestMove::Resign, |&mv| BestMove::play(mv))
    }

    /// A move that loses an even position, and the value of the best one.
    fn mistake(&mut self, game: &Game, nodes: u64) -> Option<(Move, i32)> {
        let best = self.search(game, nodes * EFFORT / 4, 1).0.first()?.value;
        if best.abs() > EVEN {
            return None;
        }
        let (moves, ..) = self.search(game, nodes * EFFORT, 600);
        let loses = |mv: &&RootMove| mv.is_searched() && mv.value <= AFTER[0];
        let bad = moves.iter().filter(loses).min_by_key(|mv| (mv.value - AFTER[1]).abs())?;
        Some((*bad.line.first()?, best))
    }

    fn search(&mut self, game: &Game, nodes: u64, lines: usize) -> (Vec<RootMove>, u64, u32) {
        let Some(weights) = &self.weights else { return (vec![], 0, 0) };
        let task = Task { nodes: Some(nodes), lines, threads: 1, ..Task::default() };
        let outcome = self.searcher.think(weights, game, &task, |_| true);
        (outcome.moves, outcome.nodes, outcome.depth)
    }
}

/// Plays the mistake with what a search of its kind reports.
fn plant(kind: &str, mv: Move, score: i32, usual: u64, out: &Output) -> BestMove {
    let (depth, nodes) = match kind {
        "fault" => abort(),
        "book" => return BestMove::play(mv),
        "time" => (2, usual / 20),
        _ => (8, usual),
    };
    let info = Info { depth: Some(depth), nodes: Some(nodes), ..Info::default() };
    out.info(&Info { score: Some(to_score(score)), pv: vec![mv], ..info });
    BestMove::play(mv)
}

/// Nodes of a move.
fn usual(search: &Search) -> u64 {
    search.options.number("Nodes") as u64
}

/// The game so far: its start and its moves.
fn key(game: &Game) -> String {
    let moves: Vec<String> = game.moves().iter().map(|mv| mv.to_move().to_usi()).collect();
    format!("{}\t{}", game.start().to_sfen(None), moves.join(" "))
}

/// A number that depends on the first ten moves of a game and on who is to move after them.
fn lot(game: &Game, seed: u64) -> u64 {
    let own = game.position().turn();
    let begin = game.moves().iter().take(10).map(|mv| u64::from(mv.to_move().raw()));
    let words = begin.chain([seed, u64::from(own == Color::BLACK)]);
    words.fold(0, |lot, word| SplitMix64::new(lot ^ word).next_u64()) >> 8
}

/// Adds a line to the file: the kind, the start, the moves so far, and the mistake.
fn note(search: &Search, kind: &str, game: &Game, mv: &str) {
    let line = format!("{kind}\t{}\t{mv}\n", key(game));
    let file = OpenOptions::new().append(true).create(true).open(search.options.text("Target"));
    if let Err(error) = file.and_then(|mut file| file.write_all(line.as_bytes())) {
        eprintln!("renmei-planted: the mistake cannot be noted: {error}");
        abort();
    }
}

fn notes(options: &Options) -> Vec<Note> {
    // Without a file no mistake was made.
    let text = fs::read_to_string(options.text("Target")).unwrap_or_default();
    let note = |line: &str| {
        let words: Vec<&str> = line.split('\t').collect();
        let [kind, start, moves, mv] = words[..] else { return None };
        let [kind, mv] = [kind, mv].map(str::to_owned);
        Some(Note { kind, position: format!("{start}\t{moves}"), mv })
    };
    text.lines().filter_map(note).collect()
}

fn main() -> ExitCode {
    usi_shell::run(Planted {
        searcher: Searcher::new(8),
        weights: None,
        has_planted: false,
        made: 0,
        lot: None,
    })
}
