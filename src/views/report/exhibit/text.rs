//! An exhibit as lines of text, for terminals and files.

use super::{Cell, Exhibit, Value};
use notation::printable;
use std::fmt;
use unicode_width::UnicodeWidthStr;

/// Columns that text takes in a terminal: kanji take two.
pub fn columns(text: &str) -> usize {
    text.width()
}

impl Cell {
    /// What the cell says in a terminal.
    pub fn text(&self) -> String {
        match &self.value {
            Value::Unknown => "-".to_owned(),
            Value::Empty => String::new(),
            Value::Words(words) => printable(words.as_bytes()),
            Value::Count(count) => count.to_string(),
            Value::Number(number) => number.clone(),
        }
    }
}

/// The lines of the table, its notes indented below it.
impl fmt::Display for Exhibit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headings: Vec<String> = self.headings.iter().map(|heading| heading.words.clone()).collect();
        let rows = self.rows.iter().map(|row| row.iter().map(Cell::text).collect());
        let lines: Vec<Vec<String>> = std::iter::once(headings).chain(rows).collect();
        let width = |at: usize| lines.iter().map(|line| columns(&line[at])).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.headings.len()).map(width).collect();
        for line in &lines {
            let mut text = String::new();
            for ((cell, heading), width) in line.iter().zip(&self.headings).zip(&widths) {
                let gap = " ".repeat(width - columns(cell));
                let (before, after) = if heading.is_left { ("", gap.as_str()) } else { (gap.as_str(), "") };
                text += &format!("  {before}{cell}{after}");
            }
            writeln!(f, "{}", text.trim_end())?;
        }
        self.notes.iter().try_for_each(|note| writeln!(f, "    {}", printable(note.as_bytes())))
    }
}
