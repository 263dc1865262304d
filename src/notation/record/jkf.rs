//! JSON Kifu Format: `rsshogi` reads and writes moves and times, this module handles headers and endings.

use rsshogi::records::{JkfError, MoveEntry, Record, RecordAnnotation, export_jkf, parse_jkf_str};
use serde_json::{Map, Value, json};

use super::lines::position_of;
use super::replay::Replay;
use super::{Ending, GameRecord, RecordFault};

pub(super) fn read(lines: &[String]) -> Result<Vec<GameRecord>, RecordFault> {
    let text = lines.join("\n");
    let json: Value =
        serde_json::from_str(&text).map_err(|fault| RecordFault::new(fault.line(), fault.to_string()))?;
    let parsed = parse_jkf_str(&text).map_err(|fault| located(&fault, &text))?;
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
            node.comment().into_iter().flat_map(str::lines).for_each(|line| replay.comment(line));
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
    let moves = to_rsshogi(record).and_then(|parsed| export_jkf(&parsed).map_err(|fault| fault.to_string()));
    let mut json: Value = moves
        .and_then(|text| serde_json::from_str(&text).map_err(|fault| fault.to_string()))
        .map_err(|reason| RecordFault::new(1, reason))?;
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

fn to_rsshogi(record: &GameRecord) -> Result<Record, String> {
    let mut parsed = Record::new(record.start.clone()).map_err(|fault| fault.to_string())?;
    parsed.set_initial_comment(Some(record.comment.clone()).filter(|comment| !comment.is_empty()));
    let mut node = parsed.root_id();
    for ply in &record.plies {
        let comment = Some(ply.comment.clone()).filter(|comment| !comment.is_empty());
        let annotation = RecordAnnotation::new().with_comment(comment).with_elapsed_ms(ply.time_ms);
        node = parsed
            .append_move_with_annotation(node, MoveEntry::new(ply.mv), annotation)
            .map_err(|fault| fault.to_string())?;
    }
    Ok(parsed)
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
