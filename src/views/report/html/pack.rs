//! Compact encoding of games, for a page with ten thousand of them.
//!
//! The alphabet is the 88 printable ASCII characters that neither HTML nor JSON treats specially, `+` excepted.
//! `pack.js` is the decoder. Encoded are
//! - a move: source square (or dropped piece), destination square, and `+` for a promotion;
//! - an evaluation from black's side: two characters; centipawns up to 3000, coarser beyond, mates at both ends;
//! - a time: two characters, ms up to 2 s, then 10 ms, 100 ms and seconds;
//! - a depth: one character;
//! - what the judge of the event said: the number of the ply and an evaluation, two characters each, where it said anything;
//! - the expected line: its first moves and a blank. These lines take most of the space, so pages with more than a
//!   thousand games leave them out.
//!
//! Opening moves have no evaluation, time, depth and line. A column without any value in a game is left out of that game.

use referee::{
    Color, Outcome,
    entry::{Entry, GameEnded, GameId, GameStarted, Judged, Moved, PlayerId, Stamped},
    evaluation::Evaluation,
    operation::Action,
};
use rsshogi::types::Move;
use serde::{Serialize, Serializer};
use std::{collections::HashMap, sync::Arc};
use words::Language;

/// The alphabet, in the order of the values.
const LETTERS: &str =
    "!#$%'()*,-./0123456789:;=?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|}~";
const BASE: u32 = 88;
/// What fills a column without any value: its letter for "none", for no time, or the blank between lines.
const NOTHING: [char; 4] = ['~', '!', '~', ' '];

/// Packs games as entries arrive, and keeps the packed games.
#[derive(Clone, Debug, Default)]
pub struct Packer {
    drafts: HashMap<GameId, Packed>,
    starts: Vec<Arc<str>>,
    /// Places of the start positions in their list.
    places: HashMap<Arc<str>, usize>,
    causes: Vec<&'static str>,
    games: Vec<Packed>,
}

/// Bytes of games on a page, about. A page with more would be slow to open.
const PAGE: usize = 3_500_000;
/// Largest number of games with expected lines: about 2 kB each.
const LINES: usize = 1000;
/// Moves kept of an expected line.
const LINE: usize = 10;

/// A game, which ends up as a list of its fields in this order.
#[derive(Clone, Debug, Default)]
pub struct Packed {
    number: u64,
    /// Black and white.
    players: [u32; 2],
    /// 1: black won, 2: white won, 0: drawn, -1: not counted.
    result: i8,
    /// Places in the lists of causes and of start positions.
    cause: usize,
    start: usize,
    /// Plies of the opening.
    opening: usize,
    moves: String,
    /// Evaluations, times, depths and lines of the engines' moves.
    columns: [String; 4],
    /// Why it ended so.
    why: String,
    /// What the judge said.
    judged: String,
}

impl Serialize for Packed {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self { number, players, result, cause, start, opening, moves, columns, why, judged } = self;
        (number, players, result, cause, start, opening, moves, columns, why, judged).serialize(to)
    }
}

/// The data that the page's script reads.
#[derive(Serialize)]
struct Data<'a> {
    letters: &'a str,
    players: Vec<String>,
    /// By player, how many centipawns of the common scale one of its own is worth; null where no scale is given.
    scales: Vec<Option<f64>>,
    starts: Vec<&'a str>,
    causes: Vec<&'a str>,
    games: Vec<Packed>,
    /// Other pages: their first and last games, and their files.
    elsewhere: Vec<(u64, u64, &'a str)>,
}

impl Packed {
    /// Bytes that the game takes on a page, about.
    fn bytes(&self) -> usize {
        100 + self
            .columns
            .iter()
            .chain([&self.moves, &self.why, &self.judged])
            .map(String::len)
            .sum::<usize>()
    }
}

/// Games of a page, in the order of their numbers.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a>(&'a [Packed]);

impl Part<'_> {
    /// Numbers of the first and the last game; `None` without games.
    pub fn ends(&self) -> Option<(u64, u64)> {
        Some((self.0.first()?.number, self.0.last()?.number))
    }

    /// Number of games.
    pub fn games(&self) -> usize {
        self.0.len()
    }
}

/// The result of a game as [`Packed`] has it.
fn result(outcome: Outcome, replayed: bool) -> i8 {
    match outcome.black_half_points().filter(|_| !replayed) {
        None => -1,
        Some(2) => 1,
        Some(0) => 2,
        Some(_) => 0,
    }
}

impl Packer {
    /// Takes an entry; a game is packed when it ends.
    pub fn take(&mut self, stamped: &Stamped) {
        match &stamped.entry {
            Entry::GameStarted(started) => self.start(started),
            Entry::Moved(moved) => {
                let tells_lines = self.games.len() < LINES;
                if let Some(game) = self.drafts.get_mut(&moved.game) {
                    game.add(moved, tells_lines);
                }
            }
            Entry::GameEnded(end) => self.end(end),
            Entry::Operator(operation) => self.correct(&operation.action),
            _ => {}
        }
    }

    /// Black and white of a game that has not ended yet.
    pub fn players(&self, game: GameId) -> Option<[PlayerId; 2]> {
        self.drafts.get(&game).map(|game| game.players.map(PlayerId))
    }

    /// Number of packed games.
    pub fn games(&self) -> usize {
        self.games.len()
    }

    /// Adds to each packed game what the judge of the event said of it, which `judged` knows by the number of the game.
    ///
    /// # Errors
    /// Those of `judged`.
    pub fn judge<E>(&mut self, judged: impl Fn(GameId) -> Result<Vec<Judged>, E>) -> Result<(), E> {
        for game in &mut self.games {
            for judged in judged(GameId(game.number))? {
                push_two(&mut game.judged, judged.ply.min(BASE * BASE - 1));
                push_two(&mut game.judged, score_code(judged.evaluation()));
            }
        }
        Ok(())
    }

    /// Brings the packed games into the order of their numbers.
    pub fn sort(&mut self) {
        self.games.sort_by_key(|game| game.number);
    }

    /// The games by pages: first the newest ones, as many as fit on a page, then the others from the oldest on.
    pub fn parts(&self) -> Vec<Part<'_>> {
        let mut newest = self.games.len();
        let mut bytes = 0;
        while let Some(at) = newest.checked_sub(1)
            && bytes + self.games[at].bytes() <= PAGE
        {
            bytes += self.games[at].bytes();
            newest = at;
        }
        let (older, newer) = self.games.split_at(newest);
        let (mut parts, mut first, mut bytes) = (vec![Part(newer)], 0, 0);
        for (at, game) in older.iter().enumerate() {
            if bytes + game.bytes() > PAGE && at > first {
                parts.push(Part(&older[first..at]));
                (first, bytes) = (at, 0);
            }
            bytes += game.bytes();
        }
        parts.extend((first < older.len()).then(|| Part(&older[first..])));
        parts
    }

    /// Games as JSON that is safe inside an HTML element. `scales` are what a centipawn of the players is worth on the common
    /// scale where that is given, in the order of `names`; `elsewhere` are the first and last games of other pages with
    /// their files.
    ///
    /// # Errors
    /// Never: the data always serializes.
    pub fn json(
        &self,
        part: Part<'_>,
        names: &[String],
        scales: Vec<Option<f64>>,
        elsewhere: Vec<(u64, u64, &str)>,
        language: Language,
    ) -> serde_json::Result<String> {
        let (mut starts, mut known) = (vec![], HashMap::new());
        let mut games = part.0.to_vec();
        for game in &mut games {
            game.start = *known.entry(game.start).or_insert_with(|| {
                starts.push(&*self.starts[game.start]);
                starts.len() - 1
            });
        }
        let data = Data {
            letters: LETTERS,
            players: names.iter().map(|name| crate::plot::plain(name)).collect(),
            scales,
            starts,
            causes: self.causes.iter().map(|cause| language.cause(cause)).collect(),
            games,
            elsewhere,
        };
        // `<` occurs only in JSON strings; escaped, no name can end the enclosing element.
        Ok(serde_json::to_string(&data)?.replace('<', "\\u003c"))
    }

    /// The place of a start position in their list. An opening book may have a hundred thousand of them.
    fn start_place(&mut self, sfen: &str) -> usize {
        if let Some(place) = self.places.get(sfen) {
            return *place;
        }
        let (sfen, place): (Arc<str>, _) = (sfen.into(), self.starts.len());
        self.starts.push(sfen.clone());
        self.places.insert(sfen, place);
        place
    }

    fn start(&mut self, started: &GameStarted) {
        let players = [started.pairing.black, started.pairing.white].map(|player| player.0);
        let (number, start) = (started.game.0, self.start_place(&started.start));
        let mut game = Packed { number, players, start, ..Packed::default() };
        for mv in started.opening.split_whitespace().map_while(Move::from_usi) {
            game.opening += 1;
            push_move(&mut game.moves, mv);
        }
        self.drafts.insert(started.game, game);
    }

    /// Gives a game another result.
    fn correct(&mut self, action: &Action) {
        let Some((game, _, was, is)) = action.correction() else { return };
        let cause = place(&mut self.causes, is.unwrap_or(was).cause());
        if let Some(packed) = self.games.iter_mut().rfind(|packed| packed.number == game.0) {
            (packed.result, packed.cause) = (is.map_or(-1, |outcome| result(outcome, false)), cause);
        }
    }

    fn end(&mut self, end: &GameEnded) {
        let Some(mut game) = self.drafts.remove(&end.game) else { return };
        if self.games.len() == LINES {
            self.games.iter_mut().for_each(|game| game.columns[3] = String::new());
        }
        if self.games.len() >= LINES {
            game.columns[3] = String::new();
        }
        for (column, nothing) in game.columns.iter_mut().zip(NOTHING) {
            if column.chars().all(|letter| letter == nothing) {
                *column = String::new();
            }
        }
        game.result = result(end.outcome, end.replayed);
        game.cause = place(&mut self.causes, end.outcome.cause());
        game.why = end.reason().map_or_else(String::new, |reason| crate::plot::plain(&reason));
        self.games.push(game);
    }
}

/// Index of a value in a list of distinct values; adds it if necessary.
fn place<T: PartialEq>(list: &mut Vec<T>, value: T) -> usize {
    list.iter().position(|known| *known == value).unwrap_or_else(|| {
        list.push(value);
        list.len() - 1
    })
}

impl Packed {
    fn add(&mut self, moved: &Moved, tells_lines: bool) {
        push_move(&mut self.moves, moved.mv);
        let [scores, times, depths, lines] = &mut self.columns;
        let thought = moved.thought.as_deref();
        let score = thought.and_then(|thought| thought.score);
        push_two(scores, score.map_or(NO_SCORE, |score| score_code(Evaluation::of(score, moved.color))));
        push_two(times, time_code(u64::try_from(moved.charged.as_millis()).unwrap_or(u64::MAX)));
        let depth = thought.and_then(|thought| thought.depth);
        push(depths, depth.map_or(NO_DEPTH, |depth| depth.min(NO_DEPTH - 1)));
        let line = thought.and_then(|thought| thought.pv.as_deref()).filter(|_| tells_lines);
        for mv in line.unwrap_or_default().split_whitespace().take(LINE).map_while(Move::from_usi) {
            push_move(lines, mv);
        }
        lines.push(' ');
    }
}

fn push(text: &mut String, value: u32) {
    let at = usize::try_from(value.min(BASE - 1)).unwrap_or(0);
    text.push_str(&LETTERS[at..=at]);
}

fn push_two(text: &mut String, value: u32) {
    push(text, value / BASE);
    push(text, value % BASE);
}

/// Square indices run down the files: 0 is 1a, 8 is 1i, 80 is 9i; pieces in hand follow: pawn, lance, knight, silver,
/// bishop, rook, gold.
fn push_move(text: &mut String, mv: Move) {
    let from = match mv.dropped_piece() {
        Some(piece) => 80 + piece.to_index(),
        None => mv.from_sq().to_index(),
    };
    for place in [from, mv.to_sq().to_index()] {
        push(text, u32::try_from(place).unwrap_or(0));
    }
    if mv.is_promotion() {
        text.push('+');
    }
}

const EXACT: i32 = 3000;
const COARSE: i32 = EXACT + 700;
const FARTHEST: i32 = COARSE + 171;
const NO_SCORE: u32 = BASE * BASE - 1;
const NO_DEPTH: u32 = BASE - 1;

/// Evaluation code from black's side: centipawns exactly up to 3000, in hundreds up to 73,000; then mates in 0 to 169
/// plies, and a mate of unknown length.
fn score_code(evaluation: Evaluation) -> u32 {
    let value = match evaluation {
        Evaluation::Cp(cp) if cp.abs() <= EXACT => cp,
        Evaluation::Cp(cp) => cp.signum() * (EXACT + (cp.abs() - EXACT) / 100).min(COARSE),
        Evaluation::Mate { winner, plies } => {
            let longest = FARTHEST - COARSE - 1;
            let plies = plies.map_or(longest, |plies| i32::try_from(plies).unwrap_or(longest).min(longest));
            if winner == Color::Black { COARSE + 1 + plies } else { -(COARSE + 1 + plies) }
        }
    };
    u32::try_from(value + FARTHEST).unwrap_or(NO_SCORE)
}

/// Time code: milliseconds up to 2 s, tens up to 22 s, hundreds up to 222 s, then seconds up to half an hour.
fn time_code(ms: u64) -> u32 {
    let code = match ms {
        0..2_000 => ms,
        2_000..22_000 => 2_000 + (ms - 2_000) / 10,
        22_000..222_000 => 4_000 + (ms - 22_000) / 100,
        _ => 6_000 + (ms - 222_000) / 1_000,
    };
    u32::try_from(code).unwrap_or(u32::MAX).min(BASE * BASE - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use contest::schedule::Pairing;
    use referee::{
        AbortBy, Outcome,
        entry::{Score, Thought},
        opening::EVEN,
    };
    use std::time::Duration;

    #[test]
    fn no_letter_is_special_in_html_or_json() {
        assert!(LETTERS.len() == 88 && LETTERS.is_ascii() && LETTERS.ends_with('~'));
        assert!(LETTERS.as_bytes().is_sorted_by(|a, b| a < b), "each once");
        assert!(!LETTERS.contains(['"', '&', '+', '<', '>', '\\']));
    }

    #[test]
    fn every_move_has_a_code_of_its_own() {
        let mut seen = std::collections::HashSet::new();
        let squares: Vec<String> =
            ('1'..='9').flat_map(|file| ('a'..='i').map(move |rank| format!("{file}{rank}"))).collect();
        let pieces = "PLNSBRG".chars().map(|piece| format!("{piece}*"));
        let origins: Vec<String> = squares.iter().cloned().chain(pieces).collect();
        for (from, to) in origins.iter().flat_map(|from| squares.iter().map(move |to| (from, to))) {
            for suffix in if from.ends_with('*') { &[""][..] } else { &["", "+"] } {
                let Some(mv) = Move::from_usi(&format!("{from}{to}{suffix}")) else { continue };
                let mut text = String::new();
                push_move(&mut text, mv);
                assert!(seen.insert(text), "{from}{to}{suffix}");
            }
        }
        assert!(seen.len() > 2 * 80 * 81);
    }

    #[test]
    fn evaluations_keep_order_and_sign() {
        let code = |score| score_code(Evaluation::of(score, Color::Black));
        let rising = [
            Score::Mate(-i32::MAX + 1),
            Score::Mate(-3),
            Score::Cp(-99_999),
            Score::Cp(-3100),
            Score::Cp(-3000),
            Score::Cp(0),
            Score::Cp(1),
            Score::Cp(99_999),
        ];
        let codes = rising.map(code);
        assert_eq!(codes[0], 0);
        assert!(codes[1..].is_sorted_by(|a, b| a < b), "{codes:?}");
        assert_eq!(code(Score::Mate(i32::MAX)), NO_SCORE - 1);
        let by_white = |score| score_code(Evaluation::of(score, Color::White));
        assert_eq!(by_white(Score::Cp(-120)), code(Score::Cp(120)));
        assert_eq!(by_white(Score::Mate(3)), code(Score::Mate(-3)));
    }

    /// The expected lines on a page of that many games, each of one move.
    fn lines(games: u64) -> Vec<String> {
        let mut packer = Packer::default();
        for game in (1..=games).map(GameId) {
            let (black, white) = (PlayerId(0), PlayerId(1));
            let pairing =
                Pairing { stage: 0, index: game.0, attempt: 0, round: 1, pair: 0, opening: 0, black, white };
            let (start, opening) = (EVEN.to_owned(), String::new());
            let pv = Some(format!("7g7f 3c3d 8h2b+ junk {}", "2g2f ".repeat(20)));
            let moved = Moved {
                game,
                ply: 1,
                color: Color::Black,
                mv: Move::from_usi("7g7f").unwrap(),
                charged: Duration::ZERO,
                elapsed: Duration::ZERO,
                left: Duration::ZERO,
                thought: Some(Box::new(Thought { pv, ..Thought::default() })),
            };
            let outcome = Outcome::Aborted { by: AbortBy::Stopped };
            let ended = GameEnded::new(game, pairing, outcome, 1);
            for entry in [
                Entry::GameStarted(GameStarted { game, pairing, start, opening, times: None }),
                Entry::Moved(moved),
                Entry::GameEnded(ended),
            ] {
                packer.take(&Stamped { at: 0, entry });
            }
        }
        packer.games.into_iter().map(|game| game.columns[3].clone()).collect()
    }

    #[test]
    fn expected_lines_end_at_the_first_non_move_and_are_left_out_on_large_pages() {
        let few = lines(LINES as u64);
        let [mut first, mut rest] = [String::new(), String::new()];
        push_move(&mut first, Move::from_usi("7g7f").unwrap());
        ["3c3d", "8h2b+"].iter().for_each(|mv| push_move(&mut rest, Move::from_usi(mv).unwrap()));
        assert!(few.iter().all(|line| *line == format!("{first}{rest} ")), "{}", few[0]);
        assert!(lines(LINES as u64 + 2).iter().all(String::is_empty));
    }

    #[test]
    fn times_are_never_rounded_up() {
        assert_eq!([0, 1_999, 2_000, 22_000, 222_000].map(time_code), [0, 1_999, 2_000, 4_000, 6_000]);
        assert_eq!(time_code(u64::MAX), BASE * BASE - 1);
        assert!((0..400_000).map(time_code).is_sorted());
    }
}
