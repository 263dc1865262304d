//! Compact encoding of games, for a page with ten thousand of them.
//!
//! The alphabet is the 88 printable ASCII characters that neither HTML nor JSON treats specially, `+` excepted.
//! `page.js` is the decoder. Encoded are
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
use serde::Serialize;
use std::{collections::HashMap, sync::Arc};

/// The alphabet, in the order of the values.
const LETTERS: [u8; 88] = letters();
const BASE: u32 = 88;

const fn letters() -> [u8; 88] {
    let (mut letters, mut at, mut c) = ([0; 88], 0, b'!');
    while c <= b'~' {
        if !matches!(c, b'"' | b'&' | b'+' | b'<' | b'>' | b'\\') {
            letters[at] = c;
            at += 1;
        }
        c += 1;
    }
    letters
}

/// The alphabet as text, for the page.
pub fn alphabet() -> String {
    LETTERS.iter().map(|&c| char::from(c)).collect()
}

/// Packs games as entries arrive, and keeps the packed games.
#[derive(Clone, Debug, Default)]
pub struct Packer {
    drafts: HashMap<GameId, Draft>,
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

/// A game that has not ended yet.
#[derive(Clone, Debug)]
struct Draft {
    players: [PlayerId; 2],
    start: usize,
    opening: usize,
    at: i64,
    moves: String,
    scores: Column,
    times: Column,
    depths: Column,
    lines: Column,
}

/// A value for every move of the engines; empty if no move has one.
#[derive(Clone, Debug, Default)]
struct Column {
    text: String,
    is_used: bool,
}

impl Column {
    fn packed(self) -> String {
        if self.is_used { self.text } else { String::new() }
    }
}

/// A game: number, black, white, result (1: black won, 2: white won, 0: drawn, -1: not counted), cause, start
/// position, plies of the opening, start in seconds since 1970, then moves, evaluations, times, depths and lines, why it
/// ended so, and what the judge said.
#[derive(Clone, Debug, Serialize)]
pub struct Packed(
    u64,
    u32,
    u32,
    i8,
    usize,
    usize,
    usize,
    i64,
    String,
    String,
    String,
    String,
    String,
    String,
    String,
);

/// The data that the page's script reads.
#[derive(Serialize)]
struct Data<'a> {
    letters: String,
    players: Vec<String>,
    places: Vec<usize>,
    /// By player, how many centipawns of the common scale one of its own is worth; null where no scale is given.
    scales: Vec<Option<f64>>,
    starts: Vec<&'a str>,
    causes: &'a [&'static str],
    games: Vec<Packed>,
    /// Other pages: their first and last games, and their files.
    elsewhere: Vec<(u64, u64, &'a str)>,
}

impl Packed {
    /// Bytes that the game takes on a page, about.
    fn bytes(&self) -> usize {
        100 + [&self.8, &self.9, &self.10, &self.11, &self.12, &self.13, &self.14]
            .map(String::len)
            .iter()
            .sum::<usize>()
    }
}

/// Games of a page, in the order of their numbers.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a>(&'a [Packed]);

impl Part<'_> {
    /// Numbers of the first and the last game; `None` without games.
    pub fn ends(&self) -> Option<(u64, u64)> {
        Some((self.0.first()?.0, self.0.last()?.0))
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
            Entry::GameStarted(started) => self.start(started, stamped.at),
            Entry::Moved(moved) => {
                let tells_lines = self.games.len() < LINES;
                if let Some(draft) = self.drafts.get_mut(&moved.game) {
                    draft.add(moved, tells_lines);
                }
            }
            Entry::GameEnded(end) => self.end(end),
            Entry::Operator(operation) => self.correct(&operation.action),
            _ => {}
        }
    }

    /// Black and white of a game that has not ended yet.
    pub fn players(&self, game: GameId) -> Option<[PlayerId; 2]> {
        self.drafts.get(&game).map(|draft| draft.players)
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
            for judged in judged(GameId(game.0))? {
                push_two(&mut game.14, judged.ply.min(BASE * BASE - 1));
                push_two(&mut game.14, score_code(judged.evaluation()));
            }
        }
        Ok(())
    }

    /// Brings the packed games into the order of their numbers.
    pub fn sort(&mut self) {
        self.games.sort_by_key(|game| game.0);
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

    /// Games as JSON that is safe inside an HTML element. `places` are the ranks of the players from 0 and `scales` what a
    /// centipawn of theirs is worth on the common scale where that is given, in the order of `names`; `elsewhere` are the
    /// first and last games of other pages with their files.
    ///
    /// # Errors
    /// Never: the data always serializes.
    pub fn json(
        &self,
        part: Part<'_>,
        names: &[String],
        places: Vec<usize>,
        scales: Vec<Option<f64>>,
        elsewhere: Vec<(u64, u64, &str)>,
    ) -> serde_json::Result<String> {
        let (mut starts, mut known) = (vec![], HashMap::new());
        let mut games = part.0.to_vec();
        for game in &mut games {
            let start = game.5;
            game.5 = *known.entry(start).or_insert_with(|| {
                starts.push(&*self.starts[start]);
                starts.len() - 1
            });
        }
        let data = Data {
            letters: alphabet(),
            players: names.iter().map(|name| crate::plot::plain(name)).collect(),
            places,
            scales,
            starts,
            causes: &self.causes,
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

    fn start(&mut self, started: &GameStarted, at: i64) {
        let mut draft = Draft {
            players: [started.pairing.black, started.pairing.white],
            start: self.start_place(&started.start),
            opening: 0,
            at,
            moves: String::new(),
            scores: Column::default(),
            times: Column::default(),
            depths: Column::default(),
            lines: Column::default(),
        };
        for mv in started.opening.split_whitespace().map_while(Move::from_usi) {
            draft.opening += 1;
            push_move(&mut draft.moves, mv);
        }
        self.drafts.insert(started.game, draft);
    }

    /// Gives a game another result.
    fn correct(&mut self, action: &Action) {
        let Some((game, _, was, is)) = action.correction() else { return };
        let cause = place(&mut self.causes, is.unwrap_or(was).cause());
        if let Some(packed) = self.games.iter_mut().rfind(|packed| packed.0 == game.0) {
            (packed.3, packed.4) = (is.map_or(-1, |outcome| result(outcome, false)), cause);
        }
    }

    fn end(&mut self, end: &GameEnded) {
        let Some(draft) = self.drafts.remove(&end.game) else { return };
        let result = result(end.outcome, end.replayed);
        let cause = place(&mut self.causes, end.outcome.cause());
        let [black, white] = draft.players.map(|player| player.0);
        let Draft { start, opening, at, moves, scores, times, depths, lines, .. } = draft;
        let [scores, times, depths, mut lines] = [scores, times, depths, lines].map(Column::packed);
        if self.games.len() == LINES {
            self.games.iter_mut().for_each(|game| game.12 = String::new());
        }
        if self.games.len() >= LINES {
            lines = String::new();
        }
        let seconds = at.div_euclid(1000);
        self.games.push(Packed(
            end.game.0,
            black,
            white,
            result,
            cause,
            start,
            opening,
            seconds,
            moves,
            scores,
            times,
            depths,
            lines,
            end.reason().map_or_else(String::new, |reason| crate::plot::plain(&reason)),
            String::new(),
        ));
    }
}

/// Index of a value in a list of distinct values; adds it if necessary.
fn place<T: PartialEq>(list: &mut Vec<T>, value: T) -> usize {
    list.iter().position(|known| *known == value).unwrap_or_else(|| {
        list.push(value);
        list.len() - 1
    })
}

impl Draft {
    fn add(&mut self, moved: &Moved, tells_lines: bool) {
        push_move(&mut self.moves, moved.mv);
        let thought = moved.thought.as_deref();
        let score = thought
            .and_then(|thought| thought.score)
            .map(|score| score_code(Evaluation::of(score, moved.color)));
        push_two(&mut self.scores.text, score.unwrap_or(NO_SCORE));
        self.scores.is_used |= score.is_some();
        let ms = u64::try_from(moved.charged.as_millis()).unwrap_or(u64::MAX);
        push_two(&mut self.times.text, time_code(ms));
        self.times.is_used |= ms > 0;
        let depth = thought.and_then(|thought| thought.depth);
        push(&mut self.depths.text, depth.map_or(NO_DEPTH, |depth| depth.min(NO_DEPTH - 1)));
        self.depths.is_used |= depth.is_some();
        let line = thought.and_then(|thought| thought.pv.as_deref()).filter(|_| tells_lines);
        for mv in line.unwrap_or_default().split_whitespace().take(LINE).map_while(Move::from_usi) {
            push_move(&mut self.lines.text, mv);
            self.lines.is_used = true;
        }
        self.lines.text.push(' ');
    }
}

fn push(text: &mut String, value: u32) {
    let at = usize::try_from(value.min(BASE - 1)).unwrap_or(0);
    text.push(char::from(LETTERS[at]));
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
        let letters = alphabet();
        assert_eq!((letters.len(), LETTERS[87]), (88, b'~'));
        assert!(!letters.contains(['"', '&', '+', '<', '>', '\\']));
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
        packer.games.into_iter().map(|game| game.12).collect()
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
