//! KIF and KI2: one parser, because they differ only in their move lines.

use rsshogi::board::{Position, PositionState, STARTPOS_SFEN};
use rsshogi::types::{Color, Move, Piece};

use super::clock::{self, ascii_digits};
use super::ending::contradiction;
use super::handicap;
use super::kif_move::{MARKS, begins_like_a_move, digit, piece, resolve};
use super::model::LONGEST_MATE;
use super::replay::{NoBranch, Replay, add_line, can_play, line_of};
use super::{DISTANT_MATE, Ending, GameRecord, Read, RecordFault};
use crate::csa::{add_to_hand, checked_position, empty_state, square};
use std::borrow::Cow;

pub(super) fn read<'a>(lines: impl Iterator<Item = Cow<'a, str>>) -> Read {
    let (mut reader, mut last) = (Reader::default(), 0);
    for (at, line) in (1..).zip(lines) {
        reader.line(line.trim(), at)?;
        last = at;
    }
    reader.finish(last)
}

#[derive(Default)]
struct Reader {
    header: GameRecord,
    /// The value of `手合割`, with its line.
    named: Option<(String, usize)>,
    diagram: Option<Diagram>,
    replay: Option<Replay>,
    /// True while lines are skipped, up to the next variation.
    skips: bool,
    /// The number of leading moves that a program comment marks as the opening.
    opening: Option<usize>,
}

impl Reader {
    /// Reads a line. A fault in a variation costs the rest of the variation, not the record.
    fn line(&mut self, line: &str, at: usize) -> Result<(), RecordFault> {
        let variation = line.strip_prefix("変化").filter(|_| self.replay.is_some());
        if let Some(number) = variation {
            return self.branch(number, at);
        }
        if self.skips {
            return Ok(());
        }
        match (self.known_line(line, at), &mut self.replay) {
            (Err(fault), Some(replay)) if replay.in_variation() => {
                replay.drop_rest(&fault.to_string());
                self.skips = true;
                Ok(())
            }
            (read, _) => read,
        }
    }

    /// Begins the variation of a line such as `変化：3手`.
    fn branch(&mut self, number: &str, at: usize) -> Result<(), RecordFault> {
        let replay = self.replay(at)?;
        if let Some(foul) = replay.take_foul() {
            if !replay.in_variation() {
                return Err(foul);
            }
            replay.drop_rest(&foul.to_string());
        }
        let digits: String =
            number.trim_start_matches(['：', ':', ' ', '　']).chars().map_while(ascii_digit).collect();
        let number = digits.parse().map_err(|_| NoBranch::NoNumber);
        let begun = number.and_then(|number| replay.branch(number));
        if let Err(reason) = &begun {
            replay.doubt(format!("the variation in line {at} is left out: {reason}"));
        }
        self.skips = begun.is_err();
        Ok(())
    }

    fn known_line(&mut self, line: &str, at: usize) -> Result<(), RecordFault> {
        let Some(first) = line.chars().next() else { return Ok(()) };
        if let Some(program) = line.strip_prefix('#') {
            self.program_comment(program);
        } else if let Some(comment) = line.strip_prefix('*') {
            self.comment(comment);
        } else if first == BOOKMARK {
            self.comment(line);
        } else if line.starts_with("まで") {
            self.summary(line, at)?;
        } else if let Some(body) = numbered(line) {
            self.numbered_move(body, at)?;
        } else if MARKS.contains(&first) {
            for text in line.split(MARKS).map(str::trim).filter(|text| !text.is_empty()) {
                self.move_or_ending(text, at)?;
            }
        } else if self.replay.is_none() {
            self.header_line(line, at)
                .map_err(|reason| RecordFault::new(at, format!("{reason}: `{line}`")))?;
        }
        Ok(())
    }

    /// Program comments of our writer: the length of the opening, and an ending without a KIF word.
    fn program_comment(&mut self, text: &str) {
        if let Some(length) = text.strip_prefix(OPENING) {
            self.opening = length.trim().parse().ok();
        }
        let Some(replay) = &mut self.replay else { return };
        let named =
            text.strip_prefix(ENDING).map(|word| Ending::from_kif(word.trim(), replay.position().turn()));
        if let Some(ending) = named.filter(Ending::is_draw)
            && replay.ending().is_some_and(Ending::is_draw)
        {
            replay.end_anew(ending);
        }
    }

    fn numbered_move(&mut self, body: &str, at: usize) -> Result<(), RecordFault> {
        let (text, spent) = parted_time(body);
        self.move_or_ending(text.trim_end_matches('+').trim_end(), at)?;
        if let Some(spent) = spent {
            self.replay(at)?.spend(spent);
        }
        Ok(())
    }

    fn move_or_ending(&mut self, text: &str, at: usize) -> Result<(), RecordFault> {
        let replay = self.replay(at)?;
        let text = text.trim_start_matches(MARKS).trim_start();
        if begins_like_a_move(text) {
            let mv = resolve(replay.position(), last_square(replay), text)
                .map_err(|reason| RecordFault::new(at, format!("{reason}: `{text}`")))?;
            return replay.push(mv, at);
        }
        let word = text.split([' ', '　', '(']).next().unwrap_or_default();
        if word.is_empty() || (replay.ending().is_some() && !Ending::is_kif_word(word)) {
            return Err(RecordFault::new(at, format!("no move: `{text}`")));
        }
        replay.end(Ending::from_kif(word, replay.position().turn()))
    }

    /// The summary line names the ending if the moves did not, and the reason of a foul.
    fn summary(&mut self, line: &str, at: usize) -> Result<(), RecordFault> {
        let replay = self.replay(at)?;
        let turn = replay.position().turn();
        let Some(summed) = Ending::from_kif_summary(line, turn) else { return Ok(()) };
        let Some(ending) = replay.ending() else { return replay.end(summed) };
        if ending.winner(turn) == summed.winner(turn) {
            if matches!(summed, Ending::PerpetualCheck { .. }) {
                replay.end_anew(summed);
            }
        } else if !matches!(summed, Ending::Unknown(_)) {
            let doubt = contradiction(ending, &summed, turn);
            replay.doubt(doubt);
        }
        Ok(())
    }

    fn comment(&mut self, text: &str) {
        match &mut self.replay {
            Some(replay) => {
                if !analysis(replay, text.trim_start_matches(['*', '#'])) {
                    replay.comment(text);
                }
            }
            None => add_line(&mut self.header.comment, text),
        }
    }

    fn header_line(&mut self, line: &str, at: usize) -> Result<(), &'static str> {
        match line {
            "先手番" | "下手番" => self.diagram().turn = Some(Color::BLACK),
            "後手番" | "上手番" => self.diagram().turn = Some(Color::WHITE),
            _ if line.starts_with('|') => return self.diagram().row(line),
            _ => {
                if let Some((key, value)) = line.split_once(['：', ':']) {
                    return self.header(key.trim(), value.trim(), at);
                }
            }
        }
        Ok(())
    }

    fn header(&mut self, key: &str, value: &str, at: usize) -> Result<(), &'static str> {
        match key {
            "先手の持駒" | "下手の持駒" => self.diagram().hand(Color::BLACK, value)?,
            "後手の持駒" | "上手の持駒" => self.diagram().hand(Color::WHITE, value)?,
            "手合割" if !value.is_empty() => self.named = Some((value.to_owned(), at)),
            _ => set_header(&mut self.header, key, value),
        }
        Ok(())
    }

    fn diagram(&mut self) -> &mut Diagram {
        self.diagram.get_or_insert_with(Diagram::default)
    }

    /// The start position. A diagram overrides a name; 詰将棋, その他 and unknown names need one and never mean the even
    /// game.
    fn start(&mut self, at: usize) -> Result<Position, RecordFault> {
        let name = self.named.as_ref().map(|(name, _)| name.as_str());
        let known = name.and_then(handicap::of_kif);
        if let Some(diagram) = self.diagram.take().filter(|diagram| diagram.rows > 0) {
            let first =
                if known.is_some_and(handicap::Named::is_handicap) { Color::WHITE } else { Color::BLACK };
            return diagram.finish(first).map_err(|reason| RecordFault::new(at, reason));
        }
        let sfen = match (known, &self.named) {
            (Some(named), _) => named.sfen,
            (None, None) => STARTPOS_SFEN,
            (None, Some((name, line))) => return Err(handicap::unknown(name, *line)),
        };
        Position::from_sfen(sfen).map_err(|_| RecordFault::new(at, "no such start position"))
    }

    fn replay(&mut self, at: usize) -> Result<&mut Replay, RecordFault> {
        if self.replay.is_none() {
            let position = self.start(at)?;
            self.replay = Some(Replay::new(position, std::mem::take(&mut self.header)));
        }
        self.replay.as_mut().ok_or_else(|| RecordFault::new(at, "no start position"))
    }

    fn finish(mut self, at: usize) -> Result<GameRecord, RecordFault> {
        self.replay(at)?;
        let Some(replay) = self.replay else { return Err(RecordFault::new(at, "no start position")) };
        let mut record = replay.finish()?;
        // The moves of an opening have a column of time, but no time.
        for ply in record.plies.iter_mut().take(self.opening.unwrap_or_default()) {
            ply.time_ms = ply.time_ms.filter(|time_ms| *time_ms > 0);
        }
        Ok(record)
    }
}

/// Prefixes of these comments.
pub(super) const OPENING: &str = "opening=";
pub(super) const ENDING: &str = "ending=";

/// First character of a bookmark, which a record keeps as a comment, as programs that convert KIF to JKF do.
pub(super) const BOOKMARK: char = '&';

fn ascii_digit(c: char) -> Option<char> {
    char::from_digit(c.to_digit(10).or_else(|| Some(digit(c)?.into())).or((c == '０').then_some(0))?, 10)
}

/// Stores a header of KIF, whose keys JKF shares; unknown keys are ignored.
pub(super) fn set_header(record: &mut GameRecord, key: &str, value: &str) {
    if value.is_empty() {
        return;
    }
    let value = value.to_owned();
    match key {
        "先手" | "下手" => record.black = Some(value),
        "後手" | "上手" => record.white = Some(value),
        "棋戦" => record.event = Some(value),
        "表題" => record.event = record.event.take().or(Some(value)),
        "場所" => record.site = Some(value),
        "開始日時" => record.started = Some(value),
        "対局日" => record.started = record.started.take().or(Some(value)),
        "終了日時" => record.ended = Some(value),
        "持ち時間" => clock::set(record, None, &clock::from_kif(&value)),
        "先手持ち時間" | "下手持ち時間" => {
            clock::set(record, Some(Color::BLACK), &clock::from_kif(&value))
        }
        "後手持ち時間" | "上手持ち時間" => {
            clock::set(record, Some(Color::WHITE), &clock::from_kif(&value))
        }
        "秒読み" => clock::set_byoyomi(record, &value),
        _ => {}
    }
}

/// ShogiHome's notes `評価値=CENTIPAWNS` (from Black's view) and `読み筋=MOVES`, or ShogiGUI's, of which the first candidate
/// counts; returns whether the text was one.
pub(super) fn analysis(replay: &mut Replay, text: &str) -> bool {
    let by_shogigui = text.starts_with("対局") || text.starts_with("解析");
    if let Some((head, rest)) = text.split_once("評価値 ").filter(|_| by_shogigui) {
        let (score, pv) = rest.split_once("読み筋").unwrap_or((rest, ""));
        let is_first = !head.contains("候補") || head.contains("候補1 ");
        let Some(score) = evaluation(score).filter(|_| is_first) else { return false };
        replay.score(score);
        expect(replay, pv);
        return true;
    }
    if let Some(score) = text.strip_prefix("評価値=").and_then(evaluation) {
        replay.score(score);
        return true;
    }
    let Some(text) = text.strip_prefix("読み筋=") else { return false };
    expect(replay, text);
    true
}

/// An evaluation from Black's view: centipawns, or ShogiGUI's word for a mate, with or without its plies: `+詰 13`, `-詰`,
/// `詰 13手`.
fn evaluation(text: &str) -> Option<i32> {
    let text = text.trim();
    let Some((sign, plies)) = text.split_once('詰') else { return text.parse().ok() };
    let plies = plies.trim_start_matches('み').trim_end_matches('手').trim();
    let plies =
        if plies.is_empty() { 0 } else { plies.parse().ok().filter(|plies| *plies < LONGEST_MATE)? };
    match sign.trim() {
        "" | "+" => Some(DISTANT_MATE - plies),
        "-" => Some(plies - DISTANT_MATE),
        _ => None,
    }
}

/// The evaluation as a note: centipawns as ShogiHome writes them, a mate as ShogiGUI does.
pub(super) fn evaluation_note(score: i32) -> String {
    let sign = if score < 0 { '-' } else { '+' };
    match DISTANT_MATE.saturating_sub(score.saturating_abs()) {
        0 => format!("**対局 評価値 {sign}詰\n"),
        plies if (1..LONGEST_MATE).contains(&plies) => format!("**対局 評価値 {sign}詰 {plies}\n"),
        _ => format!("**評価値={score}\n"),
    }
}

/// Stores a line of moves as expected after the last move, as far as it is legal.
fn expect(replay: &mut Replay, text: &str) {
    let last = std::cell::Cell::new(last_square(replay));
    let words = text.split(MARKS).map(str::trim).filter(|text| !text.is_empty());
    let pv = line_of(replay.position(), words, |position, word| {
        let mv = resolve(position, last.get(), word).ok().filter(|mv| can_play(position, *mv))?;
        last.set(Some(mv.to_sq()));
        Some(mv)
    });
    replay.expect(pv);
}

fn last_square(replay: &Replay) -> Option<rsshogi::types::Square> {
    replay.last_move().map(Move::to_sq)
}

/// The text after a move number and a blank.
fn numbered(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let body = rest.trim_start();
    (rest.len() < line.len() && body.len() < rest.len() && !body.is_empty()).then_some(body)
}

/// Splits `( 0:12/00:00:12)` from the move before it. Some programs write two such brackets: the first has the time of
/// the move.
fn parted_time(body: &str) -> (&str, Option<u32>) {
    let (mut rest, mut spent) = (body.trim_end(), None);
    while let Some(at) = rest.rfind(['(', '（']).filter(|at| rest[*at..].contains([':', '/'])) {
        let inside = rest[at..].trim_start_matches(['(', '（']);
        let first = inside.split(['/', ')', '）']).next().unwrap_or_default();
        (rest, spent) = (rest[..at].trim_end(), milliseconds(first.trim()).or(spent));
    }
    (rest, spent)
}

/// `1:02:03.5`, `0:12`: to milliseconds.
fn milliseconds(text: &str) -> Option<u32> {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let seconds = whole
        .split(':')
        .try_fold(0u32, |sum, part| sum.checked_mul(60)?.checked_add(part.trim().parse().ok()?))?;
    let thousandths: String = part.chars().chain("000".chars()).take(3).collect();
    seconds.checked_mul(1000)?.checked_add(thousandths.parse().ok()?)
}

/// A diagram with its hands.
struct Diagram {
    state: PositionState,
    /// The side to move, if the diagram has it.
    turn: Option<Color>,
    rows: u8,
}

impl Default for Diagram {
    fn default() -> Self {
        Self { state: empty_state(), turn: None, rows: 0 }
    }
}

impl Diagram {
    // `|v香v桂 ・ 歩|一`: a cell is a piece with an optional mark, or a dot.
    fn row(&mut self, line: &str) -> Result<(), &'static str> {
        self.rows += 1;
        let mut rest = line.trim_start_matches('|').split('|').next().unwrap_or_default();
        let (mut color, mut file) = (Color::BLACK, 9);
        while let Some(c) = rest.chars().next() {
            let after = &rest[c.len_utf8()..];
            match c {
                'v' | 'V' => color = Color::WHITE,
                ' ' | '^' => color = Color::BLACK,
                _ => {
                    let at = square(file, self.rows).ok_or("diagram larger than nine by nine")?;
                    file -= 1;
                    if let Some((kind, _)) = piece(&rest[..c.len_utf8()]) {
                        self.state.board.set(at, Piece::from_parts(color, kind));
                    } else if !matches!(c, '・' | '.' | '･') {
                        return Err("unknown piece in a diagram");
                    }
                    color = Color::BLACK;
                }
            }
            rest = after;
        }
        if file == 0 { Ok(()) } else { Err("diagram row with fewer than nine cells") }
    }

    // `飛　角　金四　歩十六`, `飛角金四`, `飛車、金将四`, `なし`, or nothing.
    fn hand(&mut self, color: Color, text: &str) -> Result<(), &'static str> {
        if text == "なし" {
            return Ok(());
        }
        let between = [' ', '　', '、', ',', '，'];
        let mut rest = text.trim_start_matches(between);
        while !rest.is_empty() {
            let (kind, after) = piece(rest).ok_or("unknown piece in a hand")?;
            // The second character of a full name, such as 飛車.
            let after = after.strip_prefix(['車', '行', '将', '馬', '兵']).unwrap_or(after);
            let next = after.trim_start_matches(|c: char| c == '十' || ascii_digit(c).is_some());
            let count = after.strip_suffix(next).unwrap_or_default();
            add_to_hand(&mut self.state, color, kind, number(&ascii_digits(count))?)?;
            rest = next.trim_start_matches(between);
        }
        Ok(())
    }

    fn finish(mut self, first: Color) -> Result<Position, &'static str> {
        if self.rows != 9 {
            return Err("diagram without nine rows");
        }
        self.state.side_to_move = self.turn.unwrap_or(first);
        checked_position(&self.state)
    }
}

/// Kanji numbers up to 19, or digits; an empty text is 1.
fn number(text: &str) -> Result<u32, &'static str> {
    if let Ok(number @ 1..=18) = text.parse::<u32>() {
        return Ok(number);
    }
    let (tens, ones) = text.strip_prefix('十').map_or((0, text), |ones| (10, ones));
    let mut ones = ones.chars();
    match (ones.next().map(digit), ones.next()) {
        (None, None) => Ok(if tens == 0 { 1 } else { 10 }),
        (Some(Some(ones)), None) => Ok(tens + u32::from(ones)),
        _ => Err("unknown number of pieces in a hand"),
    }
}
