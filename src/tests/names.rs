//! A league to which strangers came under ever new names: everything still answers.

use crate::support::Desk;
use contest::schedule::Pairing;
use journal::{EventHead, Journal};
use plan::StoredPlan;
use referee::{
    Color, Outcome, WinBy,
    entry::{Entry, GameEnded, GameId, GameStarted, Opened, PlayerId, Stamped},
    opening::EVEN,
};
use std::{
    path::Path,
    process::{Command, Output},
};

/// Players who come back, before the strangers.
const REGULARS: usize = 20;

fn entry(at: i64, entry: Entry) -> Stamped {
    Stamped { at, entry }
}

/// A game that `winner` won at once.
fn game(number: u64, black: usize, white: usize, winner: Color) -> [Stamped; 2] {
    let (game, at) = (GameId(number), i64::try_from(number).unwrap());
    let [black, white] = [black, white].map(PlayerId::at);
    let pairing = Pairing {
        stage: 0,
        index: number - 1,
        attempt: 0,
        round: 1,
        pair: number - 1,
        opening: 0,
        black,
        white,
    };
    let start = GameStarted { game, pairing, start: EVEN.to_owned(), opening: String::new(), times: None };
    let outcome = Outcome::Win { winner, by: WinBy::Resignation };
    let end = GameEnded::new(game, pairing, outcome, 0);
    [entry(at, Entry::GameStarted(start)), entry(at, Entry::GameEnded(end))]
}

/// A league with its regulars, who have played so many games among themselves, and strangers who play one game each.
fn write(path: &Path, names: usize, among: usize) {
    let plan = StoredPlan::of_records("league").to_json();
    let head = EventHead { name: "league", kind: "serve", plan: &plan, fingerprint: "{}" };
    let journal = Journal::open(path, &head).unwrap().start(vec![], || ()).unwrap();
    let opened = Opened {
        name: "league".to_owned(),
        players: vec![],
        format: "free pairing".to_owned(),
        resumed: false,
    };
    journal.append([entry(0, Entry::Opened(opened))]);
    let mut number = 0;
    for player in 0..names {
        let name = format!("player{player}+trip");
        journal.append([entry(0, Entry::Entered { player: PlayerId::at(player), name })]);
        if player < REGULARS {
            continue;
        }
        number += 1;
        let winner = if number % 3 == 0 { Color::Black } else { Color::White };
        journal.append(game(number, player, player % REGULARS, winner));
    }
    for player in 0..among {
        number += 1;
        journal.append(game(number, player, (player + 1) % REGULARS, Color::Black));
    }
    journal.finish().unwrap();
}

/// Runs the program with at most 2 GB of address space.
fn renmei(desk: &Desk, args: &[&str]) -> Output {
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -v 2000000 && exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_renmei")]).args(args);
    limited.current_dir(desk.dir.path()).output().unwrap()
}

#[test]
fn a_league_of_seventy_thousand_names_is_reported_and_drawn_within_two_gigabytes() {
    let (desk, names) = (Desk::new(), testing::repetitions(70_000, 9_000));
    // A rating takes longest where nobody is anchored: without games among the regulars.
    write(&desk.db(), names, testing::repetitions(0, REGULARS));
    let drawn = renmei(&desk, &["report", "event.db", "--html", "page.html"]);
    assert_eq!(drawn.status.code(), Some(0), "{}", String::from_utf8_lossy(&drawn.stderr));
    let page = std::fs::read_to_string(desk.path("page.html")).unwrap();
    assert!(page.len() < 64_000_000, "{} bytes", page.len());
    // The text has the same tables; computing them is what takes long.
    let text = testing::requires_all().then(|| renmei(&desk, &["report", "event.db"]).stdout);
    for shown in [Some(page), text.map(|text| String::from_utf8(text).unwrap())].into_iter().flatten() {
        assert!(shown.contains(&format!("player{}", names - 1)), "the last of them is listed");
        assert!(shown.contains(&format!("the first 40 of {names} players")), "the cross table is bounded");
    }
}
