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

/// A buffer with a palette.
pub struct Paint<'a> {
    buf: &'a mut Buffer,
    palette: Palette,
}

impl<'a> Paint<'a> {
    /// Paints on this buffer with this palette.
    pub fn new(buf: &'a mut Buffer, palette: Palette) -> Self {
        Self { buf, palette }
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
