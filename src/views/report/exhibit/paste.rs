//! An exhibit as other places take it: Markdown for wikis and messages, BBCode for forums.

use super::{Cell, Exhibit, Value, plain};
use maud::html;

impl Exhibit {
    /// The table in Markdown.
    pub fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let rule = |is_left: bool| if is_left { "---".to_owned() } else { "---:".to_owned() };
        let mut text = line(self.headings.iter().map(|heading| in_markdown(&heading.words)).collect());
        text += &line(self.headings.iter().map(|heading| rule(heading.is_left)).collect());
        let rows =
            self.rows.iter().map(|row| line(row.iter().map(|cell| cell.pasted(in_markdown)).collect()));
        text.extend(rows);
        text.extend(self.notes.iter().map(|note| format!("\n{}\n", in_markdown(note))));
        text
    }

    /// The table in BBCode.
    pub fn bbcode(&self) -> String {
        let line = |tag: &str, cells: Vec<String>| {
            let cells: String = cells.iter().map(|cell| format!("[{tag}]{cell}[/{tag}]")).collect();
            format!("[tr]{cells}[/tr]\n")
        };
        let headings = self.headings.iter().map(|heading| in_bbcode(&heading.words)).collect();
        let mut text = format!("[table]\n{}", line("th", headings));
        let rows =
            self.rows.iter().map(|row| line("td", row.iter().map(|cell| cell.pasted(in_bbcode)).collect()));
        text.extend(rows);
        text += "[/table]\n";
        text.extend(self.notes.iter().map(|note| format!("{}\n", in_bbcode(note))));
        text
    }

    /// The table in HTML without classes, for pages of others.
    pub fn html(&self) -> String {
        let markup = html! {
            table border="1" {
                thead { tr { @for heading in &self.headings { th { (plain(&heading.words)) } } } }
                tbody { @for row in &self.rows { tr {
                    @for (cell, heading) in row.iter().zip(&self.headings) {
                        td align=[(!heading.is_left).then_some("right")] { (cell.pasted(plain)) }
                    }
                } } }
            }
            @for note in &self.notes { p { (plain(note)) } }
        };
        // A row is a line, so that people can change it.
        markup.into_string().replace("<tr>", "\n<tr>").replace("</table>", "\n</table>\n")
    }
}

impl Cell {
    fn pasted(&self, escape: fn(&str) -> String) -> String {
        match &self.value {
            Value::Words(words) => escape(words),
            _ => self.text(),
        }
    }
}

/// A stranger's words without what Markdown, or the HTML in it, would make of them.
fn in_markdown(words: &str) -> String {
    let words = notation::printable(words.as_bytes());
    let escaped = |c: char| if "\\`*_{}[]<>()#|!~&".contains(c) { format!("\\{c}") } else { c.to_string() };
    calling_nobody(words.chars().map(escaped).collect())
}

/// The same for BBCode, which has no way to write a bracket as itself everywhere.
fn in_bbcode(words: &str) -> String {
    calling_nobody(notation::printable(words.as_bytes()).replace('[', "(").replace(']', ")"))
}

/// Words that call nobody where they are pasted, as `@everyone` would: no escape keeps every site from that.
fn calling_nobody(words: String) -> String {
    words.replace('@', "＠")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exhibit::Column;

    #[test]
    fn a_table_is_pasted_without_what_a_players_name_would_make_of_it() {
        let columns = vec![
            Column::left("engine", |name: &&str| Cell::words(*name)),
            Column::right("games", |_: &&str| Cell::count(7)),
        ];
        let table = Exhibit::of(columns, &["a|b <img>", "[url=x]c[/url]", "@everyone"]);
        assert_eq!(
            table.markdown(),
            "| engine | games |\n| --- | ---: |\n| a\\|b \\<img\\> | 7 |\n| \\[url=x\\]c\\[/url\\] | 7 |\n| ＠everyone | 7 |\n"
        );
        let page = table.html();
        assert!(page.contains("<td>a|b &lt;img&gt;</td><td align=\"right\">7</td>"), "{page}");
        let forum = table.bbcode();
        assert!(
            forum.contains("[td]a|b <img>[/td][td]7[/td]")
                && !forum.contains('@')
                && forum.contains("[td](url=x)c(/url)[/td]"),
            "{forum}"
        );
    }
}
