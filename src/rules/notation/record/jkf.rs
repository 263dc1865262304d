//! JSON Kifu Format: `rsshogi` reads moves, times and variations and writes moves and times, this module handles headers,
//! endings and the variations that are written.

use rsshogi::records::{
    JkfError, MoveEntry, Record, RecordAnnotation, RecordNode, RecordNodeId, export_jkf, parse_jkf_str,
};
use serde_json::{Value, json};
use std::{borrow::Cow, fmt::Display};

use super::handicap;
use super::kif_write::{headers, notes};
use super::lines::position_of;
use super::replay::Replay;
use super::{Ending, Flaw, GameRecord, Ply, Read, RecordFault};
use rsshogi::board::Position;

pub(super) fn read<'a>(lines: impl Iterator<Item = Cow<'a, str>>) -> Read {
    let mut text = String::new();
    for line in lines {
        text.push_str(&line);
        text.push('\n');
    }
    let mut json: Value =
        serde_json::from_str(&text).map_err(|fault| RecordFault::new(fault.line(), fault.to_string()))?;
    // Some programs write `"from": null` and the like for what is not there.
    drop_nulls(&mut json);
    spell_out_start(&mut json)?;
    let header = json.as_object_mut().and_then(|root| root.remove("header")).unwrap_or_default();
    let plain = json.to_string();
    // The parser makes a tree of its own, which takes dozens of times the text.
    drop(json);
    let parsed = parse_jkf_str(&plain).map_err(|fault| located(&fault, &text))?;
    let mut record = GameRecord {
        comment: parsed.initial_comment().unwrap_or_default().to_owned(),
        ..GameRecord::default()
    };
    for (key, value) in header.as_object().into_iter().flatten() {
        super::kif::set_header(&mut record, key, value.as_str().unwrap_or_default());
    }
    let position = position_of(parsed.init_position_sfen(), 1)?;
    let mut replay = Replay::new(position, record);
    line(&mut replay, &parsed, parsed.root_id(), 0, None)?;
    replay.finish()
}

/// Removes the keys of objects that have the value null.
fn drop_nulls(json: &mut Value) {
    match json {
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

/// Reads a line of play that begins behind a node after `before` moves, with its variations, the last first. `first` is
/// the first node of a variation; the game takes the first child. JSON has a bounded depth, and with it this recursion.
fn line(
    replay: &mut Replay,
    parsed: &Record,
    from: RecordNodeId,
    before: usize,
    first: Option<RecordNodeId>,
) -> Result<(), RecordFault> {
    let mut parents = vec![from];
    let mut next = first.or_else(|| parsed.main_child(from));
    while let Some(id) = next {
        node(replay, parsed.node(id))?;
        parents.push(id);
        next = parsed.main_child(id);
    }
    for (at, &parent) in parents.iter().enumerate().rev() {
        // The variations beside the first move of a variation are its siblings, which its parent reads.
        if at == 0 && first.is_some() {
            continue;
        }
        for &sibling in parsed.variation_children(parent) {
            match replay.branch(before + at + 1) {
                Ok(()) => line(replay, parsed, parent, before + at, Some(sibling))?,
                Err(reason) => replay.doubt(format!("a variation is left out: {reason}")),
            }
        }
    }
    Ok(())
}

fn node(replay: &mut Replay, node: &RecordNode) -> Result<(), RecordFault> {
    if let Some(entry) = node.mv() {
        replay.push(entry.mv(), 1)?;
    } else {
        let word = node.special().and_then(|special| special.raw()).unwrap_or_default();
        replay.end(Ending::from_csa(word, replay.position().turn()))?;
    }
    node.time_ms().into_iter().for_each(|time_ms| replay.spend(time_ms));
    for line in node.comment().into_iter().flat_map(str::lines) {
        if node.mv().is_none() || !super::kif::analysis(replay, line.trim_start_matches(['*', '#'])) {
            replay.comment(line);
        }
    }
    Ok(())
}

/// Writes the start position out where `rsshogi` would not find it: two presets that it lacks, and files that name their
/// handicap in the header alone.
fn spell_out_start(json: &mut Value) -> Result<(), RecordFault> {
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
    let Some(named) = named.filter(|named| named.is_handicap()) else { return Ok(()) };
    let start = GameRecord { start: named.sfen.to_owned(), ..GameRecord::default() };
    json["initial"] = rsshogi_json(&start)?["initial"].take();
    Ok(())
}

/// Illegal moves are reported by entry; if every entry has its own line, by that line.
fn located(fault: &JkfError, text: &str) -> RecordFault {
    match fault {
        JkfError::Json(json) => RecordFault::new(json.line(), json.to_string()),
        JkfError::IllegalMove { index } => {
            let mut moves = text.lines().enumerate().filter(|(_, line)| line.contains("\"move\""));
            let line = moves.nth(index.saturating_sub(1)).map_or(1, |(line, _)| line + 1);
            RecordFault { line, what: Flaw::IllegalEntry(*index) }
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
    json["header"] =
        headers(record, ["先手", "後手"]).map(|(key, value)| (key.to_owned(), json!(value))).collect();
    let mut lines = vec![entries(&mut json, record, &last, 0)];
    for (at, variation) in record.variations.iter().enumerate() {
        let line = record.line(at + 1);
        let last = line.replayed(|_, _, _| {})?;
        lines.push(entries(&mut rsshogi_json(&line)?, &line, &last, variation.ply));
    }
    json["moves"] = Value::Array(with_forks(lines, record));
    serde_json::to_string_pretty(&json)
        .map(|text| text + "\n")
        .map_err(|fault| RecordFault::new(1, fault.to_string()))
}

/// The entries of a line of play from move `from` on (0: with that of the start), and that of its ending.
fn entries(json: &mut Value, record: &GameRecord, last: &Position, from: usize) -> Vec<Value> {
    let Value::Array(mut entries) = json["moves"].take() else { return vec![] };
    entries.drain(..from.min(entries.len()));
    let Some(ending) = &record.ending else { return entries };
    let mut entry = json!({});
    if let Some(word) = ending.to_csa(last.turn()) {
        entry["special"] = json!(word);
    }
    if let Some(time_ms) = record.ending_time_ms {
        let seconds = time_ms / 1000;
        entry["time"] = json!({ "now": { "h": seconds / 3600, "m": seconds / 60 % 60, "s": seconds % 60 } });
    }
    if !record.ending_comment.is_empty() {
        entry["comments"] = record.ending_comment.lines().collect();
    }
    entries.push(entry);
    entries
}

/// The entries of the game, with those of each variation in the `forks` of the entry beside its first move. A variation
/// behind the last entry has no such place: it continues the variation that it branches off; one of the game is left out.
fn with_forks(mut lines: Vec<Vec<Value>>, record: &GameRecord) -> Vec<Value> {
    for (at, variation) in record.variations.iter().enumerate().rev() {
        let fork = std::mem::take(&mut lines[at + 1]);
        let parent = variation.parent.min(at);
        let first = parent.checked_sub(1).and_then(|at| record.variations.get(at)).map_or(0, |line| line.ply);
        let place = variation.ply.saturating_sub(first);
        if place == lines[parent].len() && parent > 0 {
            lines[parent].extend(fork);
            continue;
        }
        let Some(entry) = lines[parent].get_mut(place).filter(|_| !fork.is_empty()) else { continue };
        match entry.get_mut("forks").and_then(Value::as_array_mut) {
            Some(forks) => forks.insert(0, Value::Array(fork)),
            None => entry["forks"] = json!([fork]),
        }
    }
    lines.swap_remove(0)
}

fn rsshogi_json(record: &GameRecord) -> Result<Value, RecordFault> {
    let text = export_jkf(&to_rsshogi(record)?).map_err(|why| unwritten(&why))?;
    serde_json::from_str(&text).map_err(|why| unwritten(&why))
}

fn unwritten(why: &dyn Display) -> RecordFault {
    RecordFault::new(1, why.to_string())
}

fn to_rsshogi(record: &GameRecord) -> Result<Record, RecordFault> {
    let mut parsed = Record::new(record.start.clone()).map_err(|why| unwritten(&why))?;
    parsed.set_initial_comment(Some(record.comment.clone()).filter(|comment| !comment.is_empty()));
    let mut node = parsed.root_id();
    let mut comments = vec![];
    record.replayed(|position, _, ply| comments.push(comment(position, ply)))?;
    for (ply, comment) in record.plies.iter().zip(comments) {
        let comment = Some(comment).filter(|comment| !comment.is_empty());
        let annotation = RecordAnnotation::new().with_comment(comment).with_elapsed_ms(ply.time_ms);
        node = parsed
            .append_move_with_annotation(node, MoveEntry::new(ply.mv), annotation)
            .map_err(|why| unwritten(&why))?;
    }
    Ok(parsed)
}

/// Score, expected line and comment of a move, as programs that convert KIF to JKF keep them: the lines of KIF without
/// the `*` that marks a comment.
fn comment(position: &Position, ply: &Ply) -> String {
    let lines = notes(position, ply);
    lines.lines().map(|line| line.strip_prefix('*').unwrap_or(line)).collect::<Vec<_>>().join("\n")
}
