//! Writing text into cells of a buffer, clipped to its area.

use crate::{
    text,
    theme::{Palette, Role},
};
use ratatui::{
    buffer::Buffer,
    layout::Rect,
    style::Style,
    widgets::{Block, BorderType, Widget},
};
use report::{
    Language,
    exhibit::{Cell, Exhibit, Mark, Value},
};
use std::ops::Range;

/// A buffer with a palette and the reader's language.
pub struct Paint<'a> {
    buf: &'a mut Buffer,
    palette: Palette,
    /// The language of every text that is written.
    pub words: Language,
}

impl<'a> Paint<'a> {
    /// Paints on this buffer with this palette and in this language.
    pub fn new(buf: &'a mut Buffer, palette: Palette, words: Language) -> Self {
        Self { buf, palette, words }
    }

    /// Writes text into at most `width` columns, cut where it does not fit; returns the columns used.
    pub fn text(&mut self, x: u16, y: u16, width: u16, words: &str, role: Role) -> u16 {
        self.styled(x, y, width, words, self.palette.style(role))
    }

    /// Writes text in any style.
    pub fn styled(&mut self, x: u16, y: u16, width: u16, words: &str, style: Style) -> u16 {
        let area = self.buf.area;
        if y < area.y || y >= area.bottom() || x >= area.right() {
            return 0;
        }
        let words = text::cut(words, usize::from(width.min(area.right() - x)));
        let (end, _) = self.buf.set_stringn(x, y, &words, usize::from(width), style);
        end - x
    }

    /// Writes a line of an area, by its number; lines below the area are dropped.
    pub fn line(&mut self, area: Rect, row: u16, words: &str, role: Role) {
        if row < area.height {
            self.text(area.x, area.y + row, area.width, words, role);
        }
    }

    /// Writes a row over the whole width of an area, its blanks styled too.
    pub fn row(&mut self, area: Rect, row: u16, words: &str, role: Role) {
        self.line(area, row, &text::left(words, usize::from(area.width)), role);
    }

    /// Writes the rows of a list below the first `top` rows of an area, as many as fit around the chosen one. `row` gives
    /// the words of a row and its role, which the chosen row has not.
    pub fn list(
        &mut self,
        area: Rect,
        top: u16,
        (len, chosen): (usize, usize),
        row: impl Fn(usize) -> (String, Role),
    ) {
        let room = usize::from(area.height.saturating_sub(top)).max(1);
        let chosen = chosen.min(len.saturating_sub(1));
        let first = chosen.saturating_sub(room - 1);
        for at in (first..len).take(room) {
            let (words, role) = row(at);
            let role = if at == chosen { Role::Chosen } else { role };
            self.row(area, top + (at - first) as u16, &words, role);
        }
    }

    /// Draws a table with its headings in the first row of an area. Where it does not fit, spare columns are left out, from the
    /// right, and then the widest words are cut.
    pub fn table(&mut self, area: Rect, exhibit: &Exhibit, chosen: Option<usize>) {
        let columns = fitted(exhibit, area.width);
        let heading = |at: usize| exhibit.headings[at].words.replace("+-", "±");
        let headings = columns.iter().map(|&(at, width)| placed(exhibit, at, &heading(at), width));
        self.line(area, 0, &headings.collect::<String>(), Role::Quiet);
        for (row, y) in exhibit.rows.iter().zip(1..area.height) {
            let is_chosen = chosen == Some(usize::from(y) - 1);
            let mut x = 0;
            for &(at, width) in &columns {
                let role = match row[at].mark {
                    _ if is_chosen => Role::Chosen,
                    Mark::Fault => Role::Fault,
                    Mark::Quiet => Role::Quiet,
                    Mark::Plain | Mark::Own | Mark::Tenths(_) => Role::Plain,
                };
                let cell = placed(exhibit, at, &words(&row[at]), width);
                let width = text::columns(&cell) as u16;
                self.text(area.x + x, area.y + y, area.width.saturating_sub(x), &cell, role);
                x += width;
            }
            if is_chosen {
                let rest = " ".repeat(usize::from(area.width.saturating_sub(x)));
                self.text(area.x + x, area.y + y, area.width.saturating_sub(x), &rest, Role::Chosen);
            }
        }
    }

    /// Empties an area.
    pub fn clear(&mut self, area: Rect) {
        ratatui::widgets::Clear.render(area.intersection(self.buf.area), self.buf);
    }

    /// Draws a frame with a title; returns the area inside.
    pub fn frame(&mut self, area: Rect, title: &str) -> Rect {
        let block = Block::bordered()
            .border_type(BorderType::Plain)
            .border_style(self.palette.style(Role::Quiet))
            .title(ratatui::text::Span::styled(format!(" {title} "), self.palette.style(Role::Strong)));
        let inner = block.inner(area);
        block.render(area.intersection(self.buf.area), self.buf);
        inner
    }
}

/// The rows of a list that are visible below the headings of an area, and the place of the chosen one among them.
pub fn visible(len: usize, chosen: usize, area: Rect) -> (Range<usize>, usize) {
    let room = usize::from(area.height.saturating_sub(1)).max(1);
    let chosen = chosen.min(len.saturating_sub(1));
    let first = chosen.saturating_sub(room - 1);
    (first..len.min(first + room), chosen - first)
}

/// Columns that words keep where a table is too wide.
const LEAST: usize = 6;

/// What a cell says, in few columns.
fn words(cell: &Cell) -> String {
    match cell.value {
        Value::Count(count) => text::short(count),
        _ => text::clean(&cell.text()),
    }
}

/// A cell in its column, behind a gap.
fn placed(exhibit: &Exhibit, at: usize, words: &str, width: usize) -> String {
    match exhibit.headings[at].is_left {
        true => format!(" {}", text::left(&text::name(words, width), width)),
        false => format!(" {}", text::right(words, width)),
    }
}

/// The columns that are shown, and their widths.
fn fitted(exhibit: &Exhibit, width: u16) -> Vec<(usize, usize)> {
    let widest = |at: usize| {
        let cells = exhibit.rows.iter().map(|row| text::columns(&words(&row[at]))).max();
        cells.unwrap_or(0).max(text::columns(&exhibit.headings[at].words))
    };
    let mut columns: Vec<(usize, usize)> = (0..exhibit.headings.len()).map(|at| (at, widest(at))).collect();
    loop {
        let taken: usize = columns.iter().map(|(_, width)| width + 1).sum();
        if taken <= usize::from(width) {
            return columns;
        }
        if let Some(spare) = columns.iter().rposition(|(at, _)| exhibit.headings[*at].is_spare) {
            columns.remove(spare);
            continue;
        }
        let words = columns.iter_mut().filter(|(at, _)| exhibit.headings[*at].is_left);
        match words.max_by_key(|(_, width)| *width) {
            Some((_, width)) if *width > LEAST => *width -= 1,
            _ => return columns,
        }
    }
}
