//! Writing KIF and KI2.

use std::fmt::Write;

use rsshogi::board::Position;
use rsshogi::records::board_to_bod;
use rsshogi::types::{Color, Move, Square};

use super::kif::{BOOKMARK, ENDING, OPENING};
use super::kif_move::{KANJI, piece_name, resolve};
use super::replay::play;
use super::{GameRecord, Ply, RecordFault, Variation};
use super::{clock, handicap};

/// Width of a move in KIF and in KI2, in half-width cells.
const CELL: usize = 12;

pub(super) fn kif(record: &GameRecord, encoding: &str) -> Result<String, RecordFault> {
    // The opening of a game whose moves have times gets a column of time too, for readers that expect one.
    let opening = record.plies.iter().position(|ply| ply.time_ms.is_some()).unwrap_or(0);
    let mut out = format!("#KIF version=2.0 encoding={encoding}\n{}", header(record));
    if opening > 0 {
        let _ = writeln!(out, "#{OPENING}{opening}");
    }
    out += "手数----指手---------消費時間--\n";
    out += &comment_lines(&record.comment);
    out += &kif_line_of_play(&untimed_as_zero(record, opening), 0)?;
    for_each_variation(record, |variation, line| {
        let _ = write!(out, "\n変化：{}手\n{}", variation.ply, kif_line_of_play(&line, variation.ply - 1)?);
        Ok(())
    })?;
    Ok(out)
}

fn untimed_as_zero(record: &GameRecord, opening: usize) -> GameRecord {
    let mut record = record.clone();
    record.plies.iter_mut().take(opening).for_each(|ply| ply.time_ms = Some(0));
    record
}

/// The moves of a line of play after its first `skipped`, and its ending.
fn kif_line_of_play(record: &GameRecord, skipped: usize) -> Result<String, RecordFault> {
    let mut out = String::new();
    let mut totals = [0u64; 2];
    let mut last_to = None;
    let last = record.replayed(|position, index, ply| {
        let text = kif_move(position, ply.mv, last_to.replace(ply.mv.to_sq()));
        let line = kif_line(index + 1, &text, ply.time_ms, &mut totals[position.turn().to_index()]);
        if index >= skipped {
            out += &line;
            out += &notes(position, ply);
        }
    })?;
    let comment = comment_lines(&record.ending_comment);
    let word = record.ending.as_ref().and_then(|ending| ending.to_kif(last.turn()));
    let Some(word) = word else { return Ok(out + &summary(record, last.turn()) + &comment) };
    let total = &mut totals[last.turn().to_index()];
    out += &kif_line(record.plies.len() + 1, word, record.ending_time_ms, total);
    Ok(out + &comment + &summary(record, last.turn()))
}

/// Calls `each` with every variation in the order in which readers of KIF find the line that it branches off, and with
/// that line of play from the start of the game on.
fn for_each_variation(
    record: &GameRecord,
    mut each: impl FnMut(&Variation, GameRecord) -> Result<(), RecordFault>,
) -> Result<(), RecordFault> {
    for line in record.variations_in_order() {
        if let Some(variation) = record.variations.get(line - 1) {
            each(variation, record.line(line))?;
        }
    }
    Ok(())
}

pub(super) fn ki2(record: &GameRecord) -> Result<String, RecordFault> {
    let mut out = header(record) + &comment_lines(&record.comment) + &ki2_line_of_play(record, 0)?;
    for_each_variation(record, |variation, line| {
        let _ = write!(out, "\n変化：{}手\n{}", variation.ply, ki2_line_of_play(&line, variation.ply - 1)?);
        Ok(())
    })?;
    Ok(out)
}

/// The moves of a record after its first `skipped` in the notation of every board and list: as KIF has them, each with the
/// mark of its side.
///
/// # Errors
/// The ply whose move is illegal.
pub fn spelled_moves(record: &GameRecord, skipped: usize) -> Result<Vec<String>, RecordFault> {
    let (mut moves, mut last_to) = (Vec::new(), None);
    record.replayed(|position, index, ply| {
        let text = kif_move(position, ply.mv, last_to.replace(ply.mv.to_sq()));
        if index >= skipped {
            let mark = if position.turn() == Color::BLACK { '☗' } else { '☖' };
            moves.push(format!("{mark}{text}"));
        }
    })?;
    Ok(moves)
}

fn ki2_line_of_play(record: &GameRecord, skipped: usize) -> Result<String, RecordFault> {
    let mut moves = String::new();
    let mut column = 0;
    let last = record.replayed(|position, index, ply| {
        if index < skipped {
            return;
        }
        let notes = notes(position, ply);
        column += 1;
        moves += &padded(&ki2_move(position, ply.mv));
        if column == 6 || !notes.is_empty() {
            column = 0;
            moves.truncate(moves.trim_end_matches(' ').len());
            moves.push('\n');
        }
        moves += &notes;
    })?;
    if column > 0 {
        moves.truncate(moves.trim_end_matches(' ').len());
        moves.push('\n');
    }
    Ok(moves + &summary(record, last.turn()) + &comment_lines(&record.ending_comment))
}

/// The headers with their keys in KIF, which JKF shares; black's and white's are given.
pub(super) fn headers(
    record: &GameRecord,
    [black, white]: [&'static str; 2],
) -> impl Iterator<Item = (&'static str, String)> {
    let before = [
        ("開始日時", &record.started),
        ("終了日時", &record.ended),
        ("棋戦", &record.event),
        ("場所", &record.site),
    ];
    let clocks = record.time_control.iter().flat_map(|control| clock::headers(control));
    let known = |(key, value): (_, &Option<String>)| Some((key, value.clone()?));
    let players = [(black, &record.black), (white, &record.white)].into_iter().filter_map(known);
    before.into_iter().filter_map(known).chain(clocks).chain(players)
}

fn header(record: &GameRecord) -> String {
    let sides = if is_handicap(record) { ["下手", "上手"] } else { ["先手", "後手"] };
    let line = |(key, value): (_, String)| format!("{key}：{}\n", value.replace(['\n', '\r'], " "));
    let out: String = headers(record, sides).map(line).collect();
    match (handicap::of_sfen(&record.start), Position::from_sfen(&record.start)) {
        (Some(named), _) => out + "手合割：" + named.kif + "\n",
        (None, Ok(position)) => out + &diagram(&position) + "\n",
        (None, Err(_)) => out,
    }
}

/// A diagram. Numbers of held pieces beyond ten, which rsshogi writes in digits, are kanji as everywhere else.
fn diagram(position: &Position) -> String {
    let kanji = |line: &str| {
        let ones = ["", "一", "二", "三", "四", "五", "六", "七", "八"];
        let tens = ones.iter().enumerate().rev();
        tens.fold(line.to_owned(), |line, (at, one)| line.replace(&format!("1{at}"), &format!("十{one}")))
    };
    let bod = board_to_bod(position);
    let lines = bod.lines().map(|line| if line.contains("持駒") { kanji(line) } else { line.to_owned() });
    lines.collect::<Vec<_>>().join("\n")
}

fn is_handicap(record: &GameRecord) -> bool {
    handicap::of_sfen(&record.start).is_some_and(handicap::Named::is_handicap)
}

fn summary(record: &GameRecord, to_move: Color) -> String {
    let Some(ending) = &record.ending else { return String::new() };
    let result = ending.kif_summary(to_move, is_handicap(record));
    if result.is_empty() {
        return result;
    }
    let text = format!("まで{}手で{result}\n", record.plies.len());
    text + &ending.to_kif_comment().map_or_else(String::new, |word| format!("#{ENDING}{word}\n"))
}

fn comment_lines(comment: &str) -> String {
    let line = |line: &str| format!("{}{line}\n", if line.starts_with(BOOKMARK) { "" } else { "*" });
    comment.lines().map(line).collect()
}

/// Score, expected line and comment of a move, in the style of ShogiHome.
pub(super) fn notes(position: &Position, ply: &Ply) -> String {
    let mut out = ply.score.map_or_else(String::new, super::kif::evaluation_note);
    if !ply.pv.is_empty() {
        let mut position = position.clone();
        play(&mut position, ply.mv);
        out += "**読み筋=";
        for &mv in &ply.pv {
            let text = ki2_move(&position, mv);
            if !play(&mut position, mv) {
                break;
            }
            out += &text;
        }
        out.push('\n');
    }
    out + &comment_lines(&ply.comment)
}

/// A move in KI2 notation. rsshogi omits a word for gold-like pieces that move sideways while another stands behind
/// on the same side (左寄, 右寄); it is added here.
pub(super) fn ki2_move(position: &Position, mv: Move) -> String {
    let text = position.move32_from_move(mv).to_ki2(position).unwrap_or_default();
    if resolve(position, Some(mv.to_sq()), &text) != Ok(mv)
        && let Some(at) = text.find(['左', '右'])
    {
        let (head, tail) = text.split_at(at + '左'.len_utf8());
        return format!("{head}寄{tail}");
    }
    text
}

fn kif_line(number: usize, text: &str, time_ms: Option<u32>, total_ms: &mut u64) -> String {
    let Some(time_ms) = time_ms else { return format!("{number:4} {text}\n") };
    *total_ms += u64::from(time_ms);
    let (spent, total) = (time_ms / 1000, *total_ms / 1000);
    format!(
        "{number:4} {} ({:2}:{:02}/{:02}:{:02}:{:02})\n",
        padded(text),
        spent / 60,
        spent % 60,
        total / 3600,
        total / 60 % 60,
        total % 60
    )
}

fn padded(text: &str) -> String {
    let width: usize = text.chars().map(|c| if c.is_ascii() { 1 } else { 2 }).sum();
    format!("{text}{}", " ".repeat(CELL.saturating_sub(width).max(1)))
}

fn kif_move(position: &Position, mv: Move, last_to: Option<Square>) -> String {
    let to = mv.to_sq();
    let square = if last_to == Some(to) { "同　".to_owned() } else { square_name(to) };
    match mv.dropped_piece() {
        Some(piece) => format!("{square}{}打", piece_name(piece)),
        None => {
            let from = mv.from_sq();
            let promotes = if mv.is_promotion() { "成" } else { "" };
            let piece = piece_name(position.piece_on(from).piece_type());
            format!("{square}{piece}{promotes}({}{})", from.file().raw() + 1, from.rank().raw() + 1)
        }
    }
}

fn square_name(square: Square) -> String {
    let sign = |signs: &str, index: i8| signs.chars().nth(usize::from(index.unsigned_abs()));
    let file = sign("１２３４５６７８９", square.file().raw());
    file.into_iter().chain(sign(KANJI, square.rank().raw())).collect()
}
