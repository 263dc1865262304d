//! What the cells of a file of results say.

use referee::{AbortBy, Color, DrawBy, Outcome, WinBy};

/// What a cell of a table says of a round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Met {
    Nobody,
    /// Twice the score.
    Bye(u8),
    Player(Meeting),
}

/// A game from the side of one player.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Meeting {
    /// The opponent, from 1.
    pub number: usize,
    /// The player's colour, if it is known.
    pub color: Option<Color>,
    /// The outcome as if the player had black.
    pub outcome: Outcome,
}

impl Meeting {
    /// The player's colour and the outcome, if the cell of the opponent says the same of the player with this number.
    pub fn agreed(&self, number: usize, opponent: Met) -> Option<(Option<Color>, Outcome)> {
        let Met::Player(theirs) = opponent else { return None };
        let color = match (self.color, theirs.color) {
            (Some(own), Some(theirs)) if own == theirs => return None,
            (own, theirs) => own.or(theirs.map(|theirs| !theirs)),
        };
        let outcome = ended(self.outcome, theirs.outcome).filter(|_| theirs.number == number)?;
        Some((color, outcome))
    }
}

impl Met {
    /// Reads `27b+`, `+27b`, `○27` or `W27`; `f` at the end says that the game was not played.
    pub fn read(cell: &str) -> Option<Self> {
        if ["", "-", "--"].contains(&cell) {
            return Some(Self::Nobody);
        }
        if let Some(worth) = cell.strip_prefix("bye") {
            return bye(worth).map(Self::Bye);
        }
        let digits = cell.find(|c: char| c.is_ascii_digit())?;
        let (before, rest) = cell.split_at(digits);
        let (number, after) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len()));
        let color = |letter: char| match letter.to_ascii_lowercase() {
            'b' => Some(Color::Black),
            'w' => Some(Color::White),
            _ => None,
        };
        let colored = after.chars().next().and_then(color);
        let after = if colored.is_some() { &after[1..] } else { after };
        let outcome = match (before.to_uppercase().as_str(), after, colored) {
            // A result behind the number has the colour between them: `21` alone is no draw or win against 2.
            ("", result, Some(_)) => outcome(result)?,
            ("W", forfeit, _) => outcome(&format!("+{forfeit}"))?,
            ("D", forfeit, _) => outcome(&format!("={forfeit}"))?,
            ("L", forfeit, _) => outcome(&format!("-{forfeit}"))?,
            ("+" | "-" | "=" | "○" | "●" | "×" | "△", forfeit, _) => {
                outcome(&format!("{before}{forfeit}"))?
            }
            _ => return None,
        };
        Some(Self::Player(Meeting { number: number.parse().ok()?, color: colored, outcome }))
    }
}

/// The outcome that a result means, from black's side; of the cause it says nothing, but that nobody played.
pub(super) fn outcome(result: &str) -> Option<Outcome> {
    let result = result.to_lowercase();
    let (result, is_forfeit) = match result.strip_suffix('f') {
        Some(played) => (played, true),
        None => (result.as_str(), false),
    };
    let by = if is_forfeit { WinBy::Default } else { WinBy::Ruling };
    match result {
        "1-0" | "1" | "+" | "black" | "先手" | "先手勝ち" | "○" => {
            Some(Outcome::Win { winner: Color::Black, by })
        }
        "0-1" | "0" | "-" | "white" | "後手" | "後手勝ち" | "●" | "×" => {
            Some(Outcome::Win { winner: Color::White, by })
        }
        "1/2-1/2" | "½-½" | "0.5-0.5" | "1/2" | "½" | "0.5" | "=" | "draw" | "引き分け" | "引分" | "△"
            if !is_forfeit =>
        {
            Some(Outcome::Draw { by: DrawBy::Ruling })
        }
        "0-0" if is_forfeit => Some(BOTH_ABSENT),
        _ => None,
    }
}

/// Both players have lost by default.
const BOTH_ABSENT: Outcome = Outcome::Aborted { by: AbortBy::Missing };

/// What a game between these players ended with, from the other one's side.
pub(super) fn mirrored(outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Win { winner, by } => Outcome::Win { winner: !winner, by },
        outcome => outcome,
    }
}

/// The outcome of a game by what both players say of it, each as if it had black; `None`: they do not agree.
fn ended(own: Outcome, theirs: Outcome) -> Option<Outcome> {
    let lost = Outcome::Win { winner: Color::White, by: WinBy::Default };
    match own == mirrored(theirs) {
        true => Some(own),
        false => (own == lost && theirs == lost).then_some(BOTH_ABSENT),
    }
}

/// The games in a cell of a crosstable, from the side of the player of the line as if it had black. A `+` or `-` is a game
/// by default, and an `x` none.
pub(super) fn games_in(cell: &str) -> Option<Vec<Outcome>> {
    let mut games = vec![];
    for word in cell.split_whitespace() {
        match word {
            "1/2" | "0.5" => games.push(outcome("=")?),
            word => {
                for letter in word.chars().filter(|letter| !['x', 'X'].contains(letter)) {
                    let by_default = if ['+', '-'].contains(&letter) { "f" } else { "" };
                    games.push(outcome(&format!("{letter}{by_default}"))?);
                }
            }
        }
    }
    Some(games)
}

/// The games of two players by the cells of both, from the side of the first; `None`: the cells do not agree.
pub(super) fn agreed(own: &[Outcome], theirs: &[Outcome]) -> Option<Vec<Outcome>> {
    let games: Option<Vec<_>> = own.iter().zip(theirs).map(|(&own, &theirs)| ended(own, theirs)).collect();
    games.filter(|_| own.len() == theirs.len())
}

/// Twice the score of a bye.
pub(super) fn bye(worth: &str) -> Option<u8> {
    match worth {
        "" | "bye" | "1" | "+" | "1-0" | "不戦勝" => Some(2),
        "1/2" | "½" | "0.5" | "=" => Some(1),
        "0" => Some(0),
        _ => None,
    }
}

pub(super) fn unknown(result: &str) -> String {
    let result = shown(result);
    format!(
        "unknown result `{result}`; write 1-0, 0-1 or 1/2-1/2, with an `f` behind it for a game that was not played; 0-0f: \
         neither player appeared"
    )
}

pub(super) fn shown(cell: &str) -> String {
    cell.chars().filter(|c| !c.is_control()).take(50).collect()
}

/// The cells of a line. One in quotes may have the separator in it, and a quote doubled; a quote within a cell is a letter.
pub(super) fn cells(line: &str, separator: char) -> Vec<String> {
    let (mut cells, mut rest) = (vec![], Some(line));
    while let Some(text) = rest {
        let (cell, after) = quoted(text, separator).unwrap_or_else(|| match text.split_once(separator) {
            Some((cell, after)) => (cell.trim().to_owned(), Some(after)),
            None => (text.trim().to_owned(), None),
        });
        cells.push(cell);
        rest = after;
    }
    cells
}

/// A first cell that is in quotes from its beginning to its end, and what follows.
fn quoted(text: &str, separator: char) -> Option<(String, Option<&str>)> {
    let is_blank = |letter: char| letter != separator && letter.is_whitespace();
    let mut rest = text.trim_start_matches(is_blank).strip_prefix('"')?;
    let mut cell = String::new();
    loop {
        let (before, after) = rest.split_once('"')?;
        cell.push_str(before);
        let Some(doubled) = after.strip_prefix('"') else {
            let after = after.trim_start_matches(is_blank);
            let further = after.strip_prefix(separator);
            return (after.is_empty() || further.is_some()).then(|| (cell.trim().to_owned(), further));
        };
        cell.push('"');
        rest = doubled;
    }
}
