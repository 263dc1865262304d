//! What a player's program does that could go wrong elsewhere or later, from the lines of its last game here.

use super::forms::Fields;
use crate::{
    Site,
    desk::{Desk, NoAnswer},
    layout::Page,
    refusals::Refusal,
    visitor::Visitor,
};
use axum::extract::{Query, State};
use maud::{Markup, html};
use notation::csa::wire::{ClientLine, is_player_name};
use referee::sink::{Channel, Direction, TranscriptLine};
use std::time::Duration;
use words::Language;

/// An agreement that takes longer than this is slow for a program: some leagues do not wait as long as this one.
const SLOW: Duration = Duration::from_secs(10);
/// Blank lines to keep the connection may come this often, by the protocol.
const KEEP_ALIVE: Duration = Duration::from_secs(30);

/// Something about a program that its author should know. Times are in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// It sends times, which are the server's to tell: so many lines.
    SendsTimes(usize),
    /// It agreed so late.
    AgreesLate(u64),
    /// It never agreed.
    NeverAgrees,
    /// So many lines have blanks around them.
    Blanks(usize),
    /// So many lines mean nothing to the host.
    Unknown(usize),
    /// So many comments do not begin with `'*`.
    Comments(usize),
    /// So many keep-alives came too soon after the line before.
    Hasty(usize),
}

impl Finding {
    fn words(self, language: Language) -> String {
        match self {
            Self::SendsTimes(lines) => language.sends_times(lines),
            Self::AgreesLate(seconds) => language.agrees_late(seconds),
            Self::NeverAgrees => language.never_agrees().to_owned(),
            Self::Blanks(lines) => language.blanks(lines),
            Self::Unknown(lines) => language.unknown_lines(lines),
            Self::Comments(lines) => language.unread_comments(lines),
            Self::Hasty(lines) => language.hasty_blank_lines(lines),
        }
    }
}

/// What stands out in the lines of one player in a game, ordered by time.
pub fn findings(lines: &[TranscriptLine]) -> Vec<Finding> {
    let received = || lines.iter().filter(|line| line.way == Direction::Received);
    let text = |line: &TranscriptLine| String::from_utf8_lossy(&line.bytes).into_owned();
    let count = |holds: &dyn Fn(&str) -> bool| received().filter(|line| holds(&text(line))).count();
    let is_move = |text: &str| text.starts_with(['+', '-', '%']) && !text.starts_with("%%");
    let sends_time = |text: &str| {
        let rest = text.split_once(",T").map(|(_, rest)| rest);
        is_move(text) && rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let comment = |text: &str| {
        let rest = text.split_once(',').map(|(_, rest)| rest);
        is_move(text)
            && !sends_time(text)
            && rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with("'*"))
    };
    let unknown = |text: &str| {
        let Ok(line) = text.parse::<ClientLine>();
        !text.trim().is_empty() && matches!(line, ClientLine::Unknown(_))
    };
    let mut found = agreement(lines);
    let mut add = |count: usize, finding: fn(usize) -> Finding| {
        if count > 0 {
            found.push(finding(count));
        }
    };
    add(count(&sends_time), Finding::SendsTimes);
    add(count(&|text| !text.is_empty() && text.trim() != text), Finding::Blanks);
    add(count(&unknown), Finding::Unknown);
    add(count(&comment), Finding::Comments);
    add(hasty(lines), Finding::Hasty);
    found
}

fn agreement(lines: &[TranscriptLine]) -> Vec<Finding> {
    let offered = lines.iter().find(|line| line.way == Direction::Sent && line.bytes == b"END Game_Summary");
    let agreed =
        lines.iter().find(|line| line.way == Direction::Received && line.bytes.starts_with(b"AGREE"));
    match (offered, agreed) {
        (Some(offered), Some(agreed)) => {
            let took = Duration::from_micros(agreed.at.saturating_sub(offered.at).unsigned_abs());
            if took > SLOW { vec![Finding::AgreesLate(took.as_secs())] } else { vec![] }
        }
        (Some(_), None) => vec![Finding::NeverAgrees],
        _ => vec![],
    }
}

fn hasty(lines: &[TranscriptLine]) -> usize {
    let received: Vec<_> = lines.iter().filter(|line| line.way == Direction::Received).collect();
    let soon = |pair: &&[&TranscriptLine]| {
        let since = Duration::from_micros(pair[1].at.saturating_sub(pair[0].at).unsigned_abs());
        pair[1].bytes.is_empty() && since + Duration::from_secs(1) < KEEP_ALIVE
    };
    received.windows(2).filter(soon).count()
}

/// The page: asks for a name, or shows what stands out in its last game.
pub async fn show(
    State(site): State<Site>,
    visitor: Visitor,
    Query(query): Query<Fields>,
) -> Result<Page, Refusal> {
    let (name, words) = (query.text("name").to_owned(), visitor.language);
    let asked = name.clone();
    let found = match is_player_name(&name) {
        true => Some(site.ask(move |desk| last(desk, &asked)).await),
        false => None,
    };
    let found =
        found.map(|found| if let Err(NoAnswer::NotYet) = found { Ok(None) } else { found }).transpose()?;
    let content = html! {
        h1 { (words.check_a_program()) }
        p { (words.how_to_check()) }
        form method="get" action="/register/check" {
            p { label { (words.login_name()) " " input name="name" maxlength="32" value=(name) required; } }
            p { button { (words.check()) } }
        }
        @match &found {
            None => {},
            Some(None) => p role="status" { (words.no_lines_of()) },
            Some(Some((game, found))) => (shown(words, *game, found)),
        }
    };
    Ok(Page::new(words.check_a_program(), "/register", content))
}

fn shown(words: Language, game: u64, found: &[Finding]) -> Markup {
    html! {
        h2 { (words.game()) " " (game) }
        @if found.is_empty() { p role="status" { (words.nothing_stands_out()) } }
        @else { ul role="status" { @for finding in found { li { (finding.words(words)) } } } }
    }
}

/// The last game of a player that viewers may see, and what stands out in it.
fn last(desk: &mut Desk, name: &str) -> Result<Option<(u64, Vec<Finding>)>, NoAnswer> {
    let Some((game, color)) = desk.last_game_of(name)? else { return Ok(None) };
    let (store, event) = desk.store()?;
    let mut lines = store.transcript(event.id, game)?;
    lines.retain(|line| line.color == color && line.channel == Channel::Network);
    Ok((!lines.is_empty()).then(|| (game.0, findings(&lines))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use referee::Color;

    fn lines(said: &[(u64, &str)]) -> Vec<TranscriptLine> {
        let line = |(seconds, text): &(u64, &str)| {
            let (way, text) = match text.strip_prefix("> ") {
                Some(text) => (Direction::Sent, text),
                None => (Direction::Received, *text),
            };
            let at = i64::try_from(*seconds).unwrap() * 1_000_000;
            let (color, channel) = (Color::Black, Channel::Network);
            TranscriptLine { at, color, channel, way, bytes: text.as_bytes().to_vec() }
        };
        said.iter().map(line).collect()
    }

    #[test]
    fn a_program_that_keeps_to_the_protocol_hears_of_nothing() {
        let said = [
            (0, "> END Game_Summary"),
            (1, "AGREE"),
            (5, "+7776FU"),
            (9, "+2726FU,'* 35 -8384FU"),
            (60, ""),
            (70, "%TORYO"),
        ];
        assert_eq!(findings(&lines(&said)), []);
    }

    #[test]
    fn what_would_go_wrong_elsewhere_is_told_with_its_number() {
        let said = [
            (0, "> END Game_Summary"),
            (45, "AGREE"),
            (50, "+7776FU,T5"),
            (52, ""),
            (60, "+2726FU,T3"),
            (61, " +2625FU"),
            (63, "+2524FU,best"),
            (64, "resign please"),
        ];
        let found = findings(&lines(&said));
        assert!(
            found.contains(&Finding::AgreesLate(45)) && found.contains(&Finding::SendsTimes(2)),
            "{found:?}"
        );
        assert!(found.contains(&Finding::Blanks(1)) && found.contains(&Finding::Comments(1)), "{found:?}");
        assert!(found.contains(&Finding::Hasty(1)), "{found:?}");
        assert!(found.iter().any(|finding| matches!(finding, Finding::Unknown(1 | 2))), "{found:?}");
        assert_eq!(findings(&lines(&[(0, "> END Game_Summary")])), [Finding::NeverAgrees]);
    }
}
