//! JSON Kifu Format: `rsshogi` reads and writes moves and times, this module handles headers and endings.

use rsshogi::records::{JkfError, MoveEntry, Record, RecordAnnotation, export_jkf, parse_jkf_str};
use serde_json::{Map, Value, json};

use super::handicap;
use super::kif_write::notes;
use super::lines::position_of;
use super::replay::Replay;
use super::{Ending, GameRecord, Ply, RecordFault};
use rsshogi::board::Position;

pub(super) fn read(lines: &[String]) -> Result<Vec<GameRecord>, RecordFault> {
    let text = lines.join("\n");
    let mut json: Value =
        serde_json::from_str(&text).map_err(|fault| RecordFault::new(fault.line(), fault.to_string()))?;
    let spelled_out = spell_out_start(&mut json)?.then(|| json.to_string());
    let parsed =
        parse_jkf_str(spelled_out.as_deref().unwrap_or(&text)).map_err(|fault| located(&fault, &text))?;
    let mut record = GameRecord {
        comment: parsed.initial_comment().unwrap_or_default().to_owned(),
        ..GameRecord::default()
    };
    for (key, value) in json["header"].as_object().into_iter().flatten() {
        super::kif::set_header(&mut record, key, value.as_str().unwrap_or_default());
    }
    let position = position_of(parsed.init_position_sfen()).map_err(|reason| RecordFault::new(1, reason))?;
    let mut replay = Replay::new(position, record);
    for id in parsed.main_line_ids() {
        let node = parsed.node(id);
        if let Some(entry) = node.mv() {
            replay.push(entry.mv(), 1)?;
            node.time_ms().into_iter().for_each(|time_ms| replay.spend(time_ms));
            for line in node.comment().into_iter().flat_map(str::lines) {
                if !super::kif::analysis(&mut replay, line.trim_start_matches(['*', '#'])) {
                    replay.comment(line);
                }
            }
        }
    }
    if let Some(id) = parsed.main_terminal_node() {
        let node = parsed.node(id);
        let word = node.special().and_then(|special| special.raw()).unwrap_or_default();
        replay.end(Ending::from_csa(word, replay.position().turn()))?;
        node.time_ms().into_iter().for_each(|time_ms| replay.spend(time_ms));
    }
    Ok(vec![replay.finish()?])
}

/// Writes the start position out where `rsshogi` would not find it, and returns whether it did: two presets that it
/// lacks, and files that name their handicap in the header alone.
fn spell_out_start(json: &mut Value) -> Result<bool, RecordFault> {
    let preset = json["initial"]["preset"].as_str();
    let header = json["header"]["手合割"].as_str().map(str::trim).filter(|name| !name.is_empty());
    let named = match (preset, header) {
        (Some(preset), _) => handicap::of_jkf(preset),
        (None, Some(name)) if json["initial"].is_null() => {
            Some(handicap::of_kif(name).ok_or_else(|| handicap::unknown(name, 1))?)
        }
        _ => None,
    };
    let initial = &json["initial"];
    if named.is_none() && !initial.is_null() && initial["data"].is_null() {
        return Err(handicap::unknown(&preset.map_or_else(|| initial.to_string(), str::to_owned), 1));
    }
    let Some(named) = named.filter(|named| named.is_handicap()) else { return Ok(false) };
    let start = GameRecord { start: named.sfen.to_owned(), ..GameRecord::default() };
    json["initial"] = rsshogi_json(&start)?["initial"].take();
    Ok(true)
}

/// Illegal moves are reported by entry; if every entry has its own line, by that line.
fn located(fault: &JkfError, text: &str) -> RecordFault {
    match fault {
        JkfError::Json(json) => RecordFault::new(json.line(), json.to_string()),
        JkfError::IllegalMove { index } => {
            let mut moves = text.lines().enumerate().filter(|(_, line)| line.contains("\"move\""));
            let line = moves.nth(index.saturating_sub(1)).map_or(1, |(line, _)| line + 1);
            RecordFault::new(line, format!("illegal move in entry {index}"))
        }
        other => RecordFault::new(1, other.to_string()),
    }
}

pub(super) fn write(record: &GameRecord) -> Result<String, RecordFault> {
    let last = record.replayed(|_, _, _| {})?;
    let mut json = rsshogi_json(record)?;
    if let Some(named) = handicap::of_sfen(&record.start) {
        json["initial"] = json!({ "preset": named.jkf });
    }
    json["header"] = header(record);
    if let (Some(ending), Some(moves)) = (&record.ending, json["moves"].as_array_mut()) {
        let mut entry = json!({});
        if let Some(word) = ending.to_csa(last.turn()) {
            entry["special"] = json!(word);
        }
        if let Some(time_ms) = record.ending_time_ms {
            let seconds = time_ms / 1000;
            entry["time"] =
                json!({ "now": { "h": seconds / 3600, "m": seconds / 60 % 60, "s": seconds % 60 } });
        }
        moves.push(entry);
    }
    serde_json::to_string_pretty(&json)
        .map(|text| text + "\n")
        .map_err(|fault| RecordFault::new(1, fault.to_string()))
}

fn rsshogi_json(record: &GameRecord) -> Result<Value, RecordFault> {
    let text = to_rsshogi(record).and_then(|parsed| export_jkf(&parsed).map_err(|fault| fault.to_string()));
    text.and_then(|text| serde_json::from_str(&text).map_err(|fault| fault.to_string()))
        .map_err(|reason| RecordFault::new(1, reason))
}

fn to_rsshogi(record: &GameRecord) -> Result<Record, String> {
    let mut parsed = Record::new(record.start.clone()).map_err(|fault| fault.to_string())?;
    parsed.set_initial_comment(Some(record.comment.clone()).filter(|comment| !comment.is_empty()));
    let mut node = parsed.root_id();
    let mut comments = vec![];
    record
        .replayed(|position, _, ply| comments.push(comment(position, ply)))
        .map_err(|fault| fault.to_string())?;
    for (ply, comment) in record.plies.iter().zip(comments) {
        let comment = Some(comment).filter(|comment| !comment.is_empty());
        let annotation = RecordAnnotation::new().with_comment(comment).with_elapsed_ms(ply.time_ms);
        node = parsed
            .append_move_with_annotation(node, MoveEntry::new(ply.mv), annotation)
            .map_err(|fault| fault.to_string())?;
    }
    Ok(parsed)
}

/// Score, expected line and comment of a move, as programs that convert KIF to JKF keep them: the lines of KIF without
/// the `*` that marks a comment.
fn comment(position: &Position, ply: &Ply) -> String {
    let lines = notes(position, ply);
    lines.lines().map(|line| line.strip_prefix('*').unwrap_or(line)).collect::<Vec<_>>().join("\n")
}

fn header(record: &GameRecord) -> Value {
    let fields = [
        ("先手", &record.black),
        ("後手", &record.white),
        ("棋戦", &record.event),
        ("場所", &record.site),
        ("開始日時", &record.started),
        ("終了日時", &record.ended),
        ("持ち時間", &record.time_control),
    ];
    let known = fields.into_iter().filter_map(|(key, value)| Some((key.to_owned(), json!(value.as_ref()?))));
    Value::Object(known.collect::<Map<_, _>>())
}
