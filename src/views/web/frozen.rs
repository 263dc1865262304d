//! An event as files that need no server and no network: the sections of its pages, its games, and their board on one page.
//! Older games of a large event are on further pages beside it.
//!
//! The games are the JSON of the live pages: a line for a game, and one for its moves; all together gzip in base64.

use crate::{
    error::WebError,
    game::{Game, Ply},
    layout::percent,
    pages::game::sides,
    parts::data,
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use flate2::{Compression, write::GzEncoder};
use journal::{EventSummary, FullGame, GameFilter, GameRow, Moves, Store, StoreError};
use maud::{Markup, html};
use referee::clock::TimeControl;
use report::{
    EventHistory,
    exhibit::thousands,
    html::{heading, sections, shell},
    plot::plain,
};
use serde::Serialize;
use std::{
    collections::BTreeMap,
    io::{self, Write},
};
use words::Language;

/// Bytes of games on a page, at most. A page with more would be slow to open.
const PAGE: usize = 4_700_000;
/// Most games with expected lines: these take most of the space.
const LINES: usize = 1000;
/// Moves kept of an expected line.
const LINE: usize = 10;

const SCRIPT: &str = concat!(
    include_str!("assets/board.js"),
    include_str!("assets/viewer.js"),
    include_str!("assets/live.js"),
    include_str!("assets/frozen.js")
);

/// The pages of an event.
#[derive(Debug)]
pub struct Frozen {
    /// The page of the event, and behind it those with older games: the names of their files, and their content.
    pub files: Vec<(String, String)>,
    /// Number of games on them.
    pub games: usize,
}

/// Renders an event as a page called `file`, with pages for older games beside it.
///
/// # Errors
/// When the event cannot be read.
pub fn freeze(
    store: &Store,
    event: &EventSummary,
    file: &str,
    language: Language,
) -> Result<Frozen, WebError> {
    let history = EventHistory::read(store, event, Moves::With)?;
    let (mut sizes, all) = (vec![], GameFilter::default());
    store.games(event.id, &all, |row| {
        sizes.extend(row.outcome.map(|_| Size::of(&row)));
        Ok::<_, StoreError>(())
    })?;
    let mut parts = Parts::of(&sizes);
    store.full_games(event.id, &all, |game| parts.take(&game, &history).map_err(WebError::Pack))?;
    Ok(Frozen { games: sizes.len(), files: parts.files(&history, file, language).map_err(WebError::Pack)? })
}

/// A game, and what its bytes are estimated from.
struct Size {
    number: u64,
    plies: usize,
    letters: usize,
}

impl Size {
    fn of(row: &GameRow) -> Self {
        let plies = row.plies.map_or(0, |plies| plies as usize);
        Self { number: row.game.0, plies, letters: row.evidence.len() }
    }

    /// Bytes that the game takes on a page, at most: a move 18, each of its expected line 4.
    fn bytes(&self, line: usize) -> usize {
        150 + 2 * self.letters + self.plies * (18 + 4 * line)
    }
}

/// The games of all pages.
struct Parts {
    /// The newest first.
    parts: Vec<Part>,
    /// Moves kept of an expected line.
    line: usize,
}

/// The games of a page.
struct Part {
    first: u64,
    last: u64,
    bytes: usize,
    packed: GzEncoder<Vec<u8>>,
}

impl Parts {
    /// Pages for games in the order of their numbers: the newest ones first, as many as fit on each.
    fn of(games: &[Size]) -> Self {
        let line = if games.len() > LINES { 0 } else { LINE };
        let empty = || GzEncoder::new(vec![], Compression::default());
        let mut parts: Vec<Part> = vec![];
        for game in games.iter().rev() {
            let (number, bytes) = (game.number, game.bytes(line));
            match parts.last_mut().filter(|part| part.bytes + bytes <= PAGE) {
                Some(part) => (part.first, part.bytes) = (number, part.bytes + bytes),
                None => parts.push(Part { first: number, last: number, bytes, packed: empty() }),
            }
        }
        Self { parts, line }
    }

    /// Packs a game that has ended.
    fn take(&mut self, game: &FullGame, history: &EventHistory) -> io::Result<()> {
        let pairing = &game.row.pairing;
        let name = |player: usize| history.players.get(player).map(|name| plain(name)).unwrap_or_default();
        let names = [pairing.black, pairing.white].map(|player| name(player.index()));
        let mut shown = Game::stored(game, names, [TimeControl::default(); 2]);
        shown.scales = history.scales.game(pairing).worth();
        let moves: Vec<Ply> = shown.moves.drain(..).map(|ply| ply.frozen(self.line)).collect();
        let is_its = |part: &&mut Part| (part.first..=part.last).contains(&shown.number);
        if let Some(part) = self.parts.iter_mut().find(is_its).filter(|_| shown.end.is_some()) {
            serde_json::to_writer(&mut part.packed, &shown)?;
            part.packed.write_all(b"\n")?;
            serde_json::to_writer(&mut part.packed, &moves)?;
            part.packed.write_all(b"\n")?;
        }
        Ok(())
    }

    fn files(self, history: &EventHistory, file: &str, words: Language) -> io::Result<Vec<(String, String)>> {
        let stem = file.strip_suffix(".html").unwrap_or(file);
        let name = |at| if at == 0 { file.to_owned() } else { format!("{stem}-games-{at}.html") };
        let ends = self.parts.iter().enumerate().map(|(at, part)| (part.first, part.last, name(at)));
        let (ends, event) = (ends.collect::<Vec<_>>(), plain(&history.report.event));
        let mut packed = self.parts.into_iter().map(|part| part.packed.finish());
        let newest = packed.next().transpose()?;
        let list = newest.as_ref().map_or_else(|| html! {}, |_| games(words));
        let body = html! {
            (heading(history, words))
            main { (sections(history, words, Some(&list))) (older(ends.get(1..).unwrap_or_default(), words)) }
            footer { (words.made_by_renmei()) " " (words.what_elo_means()) }
        };
        let mut files = vec![(name(0), page(&event, &body, (newest.as_deref(), &ends, 0), words))];
        for (at, packed) in (1..).zip(packed) {
            let (first, last, name) = &ends[at];
            let range = words.range_of_games(&thousands(*first), &thousands(*last));
            let body = html! {
                header { h1 { (event) } p.facts { (range) } }
                main {
                    p { a href=(beside(file)) { (words.standings_and_newest()) } }
                    section id="games" { h2 { (words.games()) } (games(words)) }
                }
                footer { (words.made_by_renmei()) }
            };
            let title = format!("{event} · {range}");
            files.push((name.clone(), page(&title, &body, (Some(&packed?), &ends, at), words)));
        }
        Ok(files)
    }
}

/// First and last game of a page, and its file.
type Ends = (u64, u64, String);

/// The data of a page for its script.
#[derive(Serialize)]
struct Data<'a> {
    causes: BTreeMap<&'static str, &'static str>,
    games: String,
    /// First and last games of each other page, and its file.
    elsewhere: Vec<&'a Ends>,
}

/// The page at a place in the list of all pages, with its games.
fn page(
    title: &str,
    body: &Markup,
    (packed, ends, at): (Option<&[u8]>, &[Ends], usize),
    words: Language,
) -> String {
    let (causes, games) = (words.causes().collect(), STANDARD.encode(packed.unwrap_or_default()));
    let elsewhere = ends.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, ends)| ends).collect();
    let body = html! { (body) (viewer(words)) (data(&Data { causes, games, elsewhere })) };
    shell(words, title, &body, SCRIPT)
}

/// The address of a file beside the page; no name may be taken for one with a scheme.
fn beside(file: &str) -> String {
    format!("./{}", percent(file))
}

/// Links to the pages of the older games.
fn older(pages: &[Ends], words: Language) -> Markup {
    html! { @if !pages.is_empty() { section id="older" {
        h2 { (words.older_games()) }
        ul.files { @for (first, last, file) in pages {
            li { a href=(beside(file)) { (words.range_of_games(&thousands(*first), &thousands(*last))) } }
        } }
    } } }
}

/// The list of games, which the script fills.
fn games(words: Language) -> Markup {
    html! {
        form.filter {
            input id="filter" type="search" placeholder=(words.player_ending_number()) aria-label=(words.filter_games()) autocomplete="off";
            select id="sort" aria-label=(words.sort_games()) {
                option value="new" { (words.newest_first()) }
                option value="old" { (words.oldest_first()) }
                option value="long" { (words.most_plies_first()) }
                option value="short" { (words.fewest_plies_first()) }
            }
            output id="count" {}
        }
        noscript { p { (words.games_need_script()) } }
        ul id="list" {}
        button id="more" type="button" hidden { (words.more()) }
    }
}

/// The board on which games are replayed.
fn viewer(words: Language) -> Markup {
    let button = |id: &str, sign: &str, label: &str| html! { button type="button" id=(id) aria-label=(label) title=(label) { (sign) } };
    html! {
        dialog id="viewer" aria-labelledby="title" {
            div.bar {
                (button("previous", "‹", words.pick("game before (p)", "前の対局（p）")))
                h2 id="title" {}
                (button("next", "›", words.pick("next game (n)", "次の対局（n）")))
                (button("close", "×", words.pick("close (Esc)", "閉じる（Esc）")))
            }
            div.table { (sides(words, &html! {}, &html! { p id="thought" {} })) }
        }
    }
}

#[cfg(test)]
mod tests;
