//! Lines of the CSA server protocol in both directions, game names, and summaries.

use super::text;
use client::{announced::Announced, ratings::Ratings};
use notation::{
    csa::{
        game_name::{Entry, GameName, player_id, short_ids},
        summary::Summary,
        wire::{ClientLine, Played, ServerLine, is_player_name},
    },
    date, file_name, printable,
};
use plan::{ClientConfig, Environment};
use rsshogi::board::{Position, position_from_sfen};
use std::{collections::HashSet, sync::LazyLock, time::Duration};

/// Lines of a client or of a server: each is written with the bytes that it was read from.
pub fn lines(data: &[u8]) {
    let text = text(data);
    for line in text.split('\n') {
        client_line(line);
        server_line(line);
        game_name(line);
        words(line);
    }
    ids(&text);
}

fn client_line(line: &str) {
    let Ok(read) = line.parse::<ClientLine>();
    assert_eq!(read.to_string(), line, "{read:?}");
    match read {
        ClientLine::Login { name, password, .. } => {
            let entry = Entry::read(&password);
            let id = player_id(&name, entry.trip.as_deref());
            assert!(id.len() <= name.len() + 33, "an id has the length of a name and a hash: {id}");
            game(&entry.game);
            if is_player_name(&name) {
                assert_eq!(printable(name.as_bytes()), name, "a name of a player is shown as it is");
            }
        }
        ClientLine::Move(played) | ClientLine::Special(played) => thoughts(&played, line),
        _ => {}
    }
}

/// What a comment says is no longer than its line, and a score is one that floodgate can hold.
fn thoughts(played: &Played, line: &str) {
    for by_black in [true, false] {
        let Some(thought) = played.thought(by_black) else { continue };
        assert!(thought.pv.is_none_or(|pv| pv.len() <= line.len()));
    }
}

fn server_line(line: &str) {
    let Ok(read) = line.parse::<ServerLine>();
    assert_eq!(read.to_string(), line, "{read:?}");
}

fn game_name(line: &str) {
    if let Ok(name) = line.parse::<GameName>() {
        assert_eq!(name.to_string(), line);
        assert!(line.is_ascii() && line.len() <= 64 && !line.contains('/'), "{line}");
        game(&name);
    }
}

/// A game of this name can begin: its time is bounded, and its position is one.
fn game(name: &GameName) {
    let time = name.time();
    let most = Duration::from_secs(999_999);
    assert!(time.main <= most && time.byoyomi <= most && time.increment <= most, "{name}: {time:?}");
    if let Some(sfen) = name.handicap() {
        position_from_sfen(&sfen).unwrap_or_else(|fault| panic!("{name}: {fault}"));
    }
}

/// Texts that go to a terminal, to a file's name or into a date.
fn words(line: &str) {
    let shown = printable(line.as_bytes());
    assert!(!shown.chars().any(char::is_control), "{shown:?}");
    let name = file_name(line);
    assert!(!name.contains('/') && !name.contains('\0') && name.len() <= 80, "{name:?}");
    // The leap second of the last year is in none that has four digits.
    if let Some(at) = date::parse(line).filter(|at| !date::text(*at).starts_with("10000/")) {
        assert_eq!(date::parse(&date::text(at)), Some(at / 1000 * 1000), "{line}");
    }
}

/// Ids that differ are told apart where they are shortened.
fn ids(text: &str) {
    let mut ids: Vec<String> = text.split(['\n', ' ']).take(64).map(str::to_owned).collect();
    ids.sort();
    ids.dedup();
    let short = short_ids(&ids);
    assert_eq!(short.len(), ids.len());
    assert_eq!(short.iter().collect::<HashSet<_>>().len(), ids.len(), "{ids:?} as {short:?}");
}

static CONFIG: LazyLock<ClientConfig> = LazyLock::new(|| {
    let engine = std::env::current_exe().unwrap_or_default();
    let text = format!(
        "[engine]\ncommand = {engine:?}\n[floodgate]\nhost = \"127.0.0.1\"\nlogin = \"me\"\npassword = \"t-60-0,secret\"\n"
    );
    let environment = Environment { base: "/".into(), search: vec![], cores: 1 };
    ClientConfig::parse(&text, None, &environment).unwrap_or_else(|faults| panic!("{faults}"))
});

/// Summaries: what was read is written and read again as the same; and a client can say whether it plays that game.
pub fn summaries(data: &[u8]) {
    let text = text(data);
    let ratings = Ratings::default();
    text.lines().for_each(|line| ratings.hear(line));
    let Ok(read) = text.parse::<Summary>() else { return };
    let written = read.to_string();
    assert_eq!(written.parse().as_ref(), Ok(&read), "{written}");
    Position::from_sfen(&read.start).unwrap_or_else(|fault| panic!("{}: {fault}", read.start));
    if let Ok(game) = Announced::read(&read, "me", &CONFIG) {
        assert_eq!(game.start, read.start);
        assert_eq!(game.opening.len(), read.moves.len());
    }
}
