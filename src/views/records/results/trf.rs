//! Tournament reports of FIDE (TRF16): a line `001` of fixed columns for each player, with ten of them for each round. Lines
//! about the tournament itself change no result.

use super::{
    Met, Results, Row, Wrong,
    cells::{Meeting, outcome},
};
use referee::Color;
use std::collections::BTreeMap;

/// Columns of a round: the opponent, its colour and the result, with blanks between them.
const ROUND: usize = 10;
/// Columns before the first round.
const ROUNDS_FROM: usize = 91;

pub(super) fn read(text: &str) -> Result<Results, Wrong> {
    let (mut rows, mut places, mut wrong) = (vec![], BTreeMap::new(), vec![]);
    for (line, text) in (1..).zip(text.lines()).filter(|(_, text)| text.starts_with("001")) {
        let letters: Vec<char> = text.trim_end().chars().collect();
        match columns(&letters, 4, 8).parse::<usize>() {
            Err(_) => wrong.push((Some(line), "has no starting rank in its columns 5 to 8".to_owned())),
            Ok(number) => {
                if let Some(first) = places.insert(number, rows.len()) {
                    let first: &Row = &rows[first];
                    wrong.push((
                        Some(line),
                        format!("starting rank {number} is that of line {} too", first.line),
                    ));
                }
                let rounds =
                    letters.get(ROUNDS_FROM..).unwrap_or_default().chunks(ROUND).map(round).collect();
                rows.push(Row { line, name: columns(&letters, 14, 47), rounds });
            }
        }
    }
    if !wrong.is_empty() {
        return Err(wrong);
    }
    // Starting ranks may have gaps and any order: the table knows its players by their lines.
    for (_, met) in rows.iter_mut().flat_map(|row| &mut row.rounds) {
        if let Some(Met::Player(meeting)) = met {
            meeting.number = places.get(&meeting.number).map_or(0, |place| place + 1);
        }
    }
    Results::of_rows(&rows)
}

fn columns(letters: &[char], from: usize, to: usize) -> String {
    let letters = letters.get(from..to.min(letters.len())).unwrap_or_default();
    letters.iter().collect::<String>().trim().to_owned()
}

fn round(letters: &[char]) -> (String, Option<Met>) {
    let [opponent, color, result] = [(0, 4), (5, 6), (7, 8)].map(|(from, to)| columns(letters, from, to));
    let met = match (opponent.trim_start_matches('0'), result.to_ascii_uppercase().as_str()) {
        ("", "" | "-" | "0") => Some(Met::Nobody),
        ("", "Z") => Some(Met::Bye(0)),
        ("", "H" | "=") => Some(Met::Bye(1)),
        ("", "F" | "U" | "+" | "1") => Some(Met::Bye(2)),
        (opponent, result) => meeting(opponent, &color, result).map(Met::Player),
    };
    (format!("{opponent} {color} {result}").trim().to_owned(), met)
}

fn meeting(opponent: &str, color: &str, result: &str) -> Option<Meeting> {
    let color = match color.to_ascii_lowercase().as_str() {
        "w" => Some(Color::White),
        "b" => Some(Color::Black),
        "" | "-" => None,
        _ => return None,
    };
    let outcome = outcome(match result {
        "1" | "W" => "1",
        "=" | "D" => "=",
        "0" | "L" => "0",
        "+" => "+f",
        "-" => "-f",
        _ => return None,
    })?;
    Some(Meeting { number: opponent.parse().ok()?, color, outcome })
}
