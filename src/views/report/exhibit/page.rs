//! An exhibit as a table of a page.

use super::{Cell, Exhibit, Heading, Mark, Value};
use maud::{Markup, html};
use unicode_width::UnicodeWidthChar;

/// Number of players with a colour of their own in pictures; the others share a neutral one.
pub const SERIES: usize = 8;

/// Removes characters from foreign text that are invisible, change the direction of text or are not allowed in XML. Lines
/// stay lines. The template escapes `<` and `&`.
pub fn plain(text: &str) -> String {
    let is_mark = |c: char| ('\u{300}'..'\u{370}').contains(&c);
    let is_hidden = |c: char| notation::is_hidden(c) || (c.width() == Some(0) && !is_mark(c));
    text.chars().map(|c| if c != '\n' && is_hidden(c) { '\u{fffd}' } else { c }).collect()
}

/// Numbers with the signs for minus and for an error instead of hyphens.
pub fn minus(numbers: &str) -> String {
    numbers.replace("+-", "±").replace('-', "−")
}

/// A number with thousands separated: 12 345.
pub fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| str::from_utf8(group).unwrap_or("")).collect();
    groups.join("\u{202f}")
}

/// A number with the signs of print. A tilde looks like the minus after it in many fonts.
fn printed(number: &str) -> String {
    minus(number).replace('~', "≈\u{202f}").replace('%', " %")
}

impl Cell {
    fn printed(&self) -> String {
        match &self.value {
            Value::Unknown => "–".to_owned(),
            Value::Empty => String::new(),
            Value::Words(words) => plain(words),
            Value::Count(count) => thousands(*count),
            Value::Number(number) => printed(number),
        }
    }

    fn content(&self) -> Markup {
        let chip = self.place.map(|place| match place {
            place if place < SERIES => format!("chip s{place}"),
            _ => "chip rest".to_owned(),
        });
        html! {
            @if let Some(chip) = chip { span class=(chip) {} }
            @if let Some(link) = &self.link { a href=(link) { (self.printed()) } } @else { (self.printed()) }
        }
    }

    fn class(&self, heading: &Heading) -> Option<String> {
        match self.mark {
            Mark::Fault => Some("bad".to_owned()),
            Mark::Own => Some("self".to_owned()),
            Mark::Tenths(tenths) => Some(format!("h{tenths}")),
            Mark::Plain | Mark::Quiet => heading.is_left.then(|| "name".to_owned()),
        }
    }
}

impl Exhibit {
    /// The table, in a frame of this name that scrolls where the window is narrow, also by the keyboard; its first column of
    /// words names the rows.
    pub fn page(&self, name: &str) -> Markup {
        let named = self.headings.iter().position(|heading| heading.is_left);
        html! {
            div.scroll tabindex="0" role="region" aria-label=(name) { table {
                thead { tr { @for heading in &self.headings {
                    th.name[heading.is_left] scope="col" title=[&heading.about] { (heading.words.replace("+-", "±")) }
                } } }
                tbody { @for row in &self.rows { tr { @for (at, cell) in row.iter().enumerate() {
                    @let about = cell.about.as_deref().filter(|about| !about.is_empty()).map(plain);
                    @if Some(at) == named { th.name scope="row" title=[about] { (cell.content()) } }
                    @else { td class=[cell.class(&self.headings[at])] title=[about] { (cell.content()) } }
                } } } }
            } }
            // Only a note on the sign itself begins with it; elsewhere it may stand in a name.
            @for note in &self.notes { p.note { @if note.starts_with('~') { (printed(note)) } @else { (plain(note)) } } }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::exhibit::{Cell, Column, Exhibit};

    #[test]
    fn numbers_have_the_signs_of_print_and_words_are_left_as_they_are() {
        let columns = vec![
            Column::left("Sonneborn-Berger", |name: &&str| Cell::words(*name).about("a-b\u{202e}")),
            Column::right("+-", |_: &&str| Cell::number("~-12.5")),
            Column::right("share", |_: &&str| Cell::share(Some(0.5), 1)),
            Column::right("games", |_: &&str| Cell::count(12_345)),
        ];
        let notes = ["~ loose".to_owned(), "engine~1 has two builds".to_owned()];
        let page = Exhibit::of(columns, &["x-1"]).with_notes(notes).page("a table").into_string();
        for shown in
            ["Sonneborn-Berger", ">±<", ">x-1<", "≈\u{202f}−12.5", "50.0 %", "12\u{202f}345", "engine~1"]
        {
            assert!(page.contains(shown), "{shown}: {page}");
        }
        assert!(page.contains("≈\u{202f} loose") && !page.contains('\u{202e}'), "{page}");
        assert!(page.contains("tabindex=\"0\"") && page.contains("aria-label=\"a table\""), "{page}");
    }
}
