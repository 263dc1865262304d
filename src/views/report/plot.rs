//! Pictures of an event in SVG, drawn by the same functions for the page, for SVG files and for PNG files.

mod axis;
mod bars;
mod curves;
mod eval;
mod heat;
mod paint;
mod png;
mod posterior;
mod style;
mod test_history;
mod tuning;

pub use crate::exhibit::{SERIES, plain};
pub use bars::{Bar, elo, elo_bars, endings};
pub use curves::{player_ratings, ratings, sprt, time};
pub use eval::{evaluation, judged, opinions};
pub use heat::{Cell, heat};
pub use png::PngError;
pub use posterior::posterior;
pub use style::rules;
pub use test_history::test_history;
pub use tuning::{Course, tuning};

use maud::{Markup, html};
use std::fmt::Write as _;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Width of a picture. Text keeps its size, so that it is readable on a phone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// At least 600 pixels.
    Wide,
    /// Less than 600 pixels.
    Narrow,
}

impl Size {
    /// Width in units; one unit is a pixel where there is room.
    pub fn width(self) -> f64 {
        match self {
            Self::Wide => 760.0,
            Self::Narrow => 344.0,
        }
    }

    fn class(self) -> &'static str {
        match self {
            Self::Wide => "plot wide",
            Self::Narrow => "plot narrow",
        }
    }
}

/// A picture.
#[derive(Clone, Debug)]
pub struct Plot {
    size: Size,
    height: f64,
    label: String,
    body: Markup,
}

impl Plot {
    fn new(size: Size, height: f64, label: impl Into<String>, body: Markup) -> Self {
        Self { size, height, label: plain(&label.into()), body }
    }

    /// As an element of a page whose styles include [`rules`].
    pub fn inline(&self) -> Markup {
        let view = format!("0 0 {} {}", self.size.width(), number(self.height));
        html! {
            svg class=(self.size.class()) viewBox=(view) role="img" aria-label=(self.label) { (self.body) }
        }
    }

    /// As a file.
    pub fn standalone(&self) -> String {
        self.document(&rules())
    }

    /// As PNG, two pixels per unit.
    ///
    /// # Errors
    /// [`PngError`], which indicates an error of this program.
    pub fn png(&self) -> Result<Vec<u8>, PngError> {
        png::render(&self.document(&style::light()))
    }

    fn document(&self, style: &str) -> String {
        let (margin, title) = (16.0, 40.0);
        let (width, height) = (self.size.width() + 2.0 * margin, self.height + title + margin);
        let view = format!("0 0 {} {}", number(width), number(height));
        let document = html! {
            svg xmlns="http://www.w3.org/2000/svg" class="plot" width=(number(width)) height=(number(height))
                viewBox=(view) {
                style { (maud::PreEscaped(style)) }
                rect class="paper" width=(number(width)) height=(number(height)) {}
                text class="title" x=(margin) y="26" { (self.label) }
                g transform=(format!("translate({margin} {title})")) { (self.body) }
            }
        };
        document.into_string()
    }
}

/// Shortens a name to `columns` columns. Both of its ends are kept: versions of an engine differ at the end.
fn short(name: &str, columns: usize) -> String {
    let name = plain(name);
    if name.width() <= columns {
        return name;
    }
    let room = columns.saturating_sub(1);
    let head = fitting(name.chars(), room - room / 2);
    let tail: String = fitting(name.chars().rev(), room / 2).chars().rev().collect();
    format!("{head}…{tail}")
}

/// The first of these characters that fit into so many columns.
fn fitting(characters: impl Iterator<Item = char>, columns: usize) -> String {
    let mut used = 0;
    characters
        .take_while(|c| {
            used += c.width().unwrap_or(0);
            used <= columns
        })
        .collect()
}

/// A coordinate in as few digits as a picture needs.
fn number(value: f64) -> String {
    let mut text = String::new();
    let _never_fails = write!(text, "{value:.1}");
    match text.strip_suffix(".0") {
        Some(whole) => whole.to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests;
