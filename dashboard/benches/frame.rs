//! The cost of a frame: `cargo bench -p dashboard`.

use contest::schedule::{Format, Pairing, Stage};
use dashboard::{EventInfo, Named, State, input::Screen, ui::Ui, view};
use ratatui::{buffer::Buffer, layout::Rect};
use referee::{
    Color, Outcome, WinBy,
    entry::{Entry, GameEnded, GameId, GameStarted, Moved, PlayerId, Score, Stamped, Thought},
    opening::EVEN,
};
use rsshogi::types::Move;
use std::time::Duration;

fn main() {
    divan::main();
}

const PLAYERS: u32 = 20;
const RUNNING: u64 = 100;
const OVER: u64 = 5_000;
const PLIES: u32 = 80;
const NOW: i64 = 1_790_000_000_000;

fn pairing(index: u64) -> Pairing {
    let black = PlayerId((index % u64::from(PLAYERS)) as u32);
    let white = PlayerId(((index / 20 + 1 + index % 20) % u64::from(PLAYERS)) as u32);
    let white = if white == black { PlayerId((black.0 + 1) % PLAYERS) } else { white };
    Pairing { stage: 0, index, attempt: 0, round: 1, pair: index / 2, opening: index % 50, black, white }
}

fn at(entry: Entry) -> Stamped {
    Stamped { at: NOW, entry }
}

fn started(number: u64) -> Stamped {
    let (game, opening) = (GameId(number), String::new());
    at(Entry::GameStarted(GameStarted {
        game,
        pairing: pairing(number),
        start: EVEN.to_owned(),
        opening,
        times: None,
    }))
}

fn ended(number: u64) -> Stamped {
    let winner = if number.is_multiple_of(3) { Color::White } else { Color::Black };
    let (game, outcome) = (GameId(number), Outcome::Win { winner, by: WinBy::Resignation });
    let pairing = pairing(number);
    at(Entry::GameEnded(GameEnded::new(game, pairing, outcome, PLIES)))
}

/// Rooks that step to and fro.
fn moved(number: u64, ply: u32) -> Stamped {
    let usi = ["2h3h", "8b7b", "3h2h", "7b8b"][(ply as usize - 1) % 4];
    let thought = Thought {
        depth: Some(20),
        score: Some(Score::Cp(30 * ply as i32)),
        nodes: Some(1_000_000),
        nps: Some(900_000),
        time: Some(990),
        pv: Some(format!("{usi} 7g7f 3c3d 2g2f 8c8d 2f2e 8d8e")),
        ..Thought::default()
    };
    let time = Duration::from_secs(1);
    at(Entry::Moved(Moved {
        game: GameId(number),
        ply,
        color: if ply % 2 == 1 { Color::Black } else { Color::White },
        mv: Move::from_usi(usi).expect("it is a move"),
        charged: time,
        elapsed: time,
        left: time,
        thought: Some(Box::new(thought)),
    }))
}

/// A league of twenty with a hundred games on the boards.
fn league() -> State {
    let info = EventInfo {
        name: "bench".to_owned(),
        stages: vec![Stage { format: Format::RoundRobin { cycles: 50 }, games: 2, ..Stage::default() }],
        engines: (0..PLAYERS).map(|player| Named::whole(&format!("engine {player}"))).collect(),
        ..EventInfo::default()
    };
    let mut state = State::new(info);
    (0..OVER).for_each(|number| state.fold(&ended(number)));
    for number in OVER..OVER + RUNNING {
        state.fold(&started(number));
        (1..=PLIES).for_each(|ply| state.fold(&moved(number, ply)));
    }
    state.tick(NOW);
    state
}

/// A frame of the terminal thread after a move in every game.
#[divan::bench(args = ["event", "boards", "game", "played", "table", "elo", "engines", "openings", "log"])]
fn frame(bencher: divan::Bencher<'_, '_>, name: &str) {
    let mut state = league();
    let screen = Screen::ALL
        .iter()
        .copied()
        .find(|screen| screen.keys_and_name(dashboard::Language::English).1 == name)
        .unwrap_or_default();
    let ui = Ui { screen, game: Some(GameId(OVER)), ..Ui::default() };
    let area = Rect { x: 0, y: 0, width: 200, height: 60 };
    let mut now = NOW;
    bencher.bench_local(|| {
        now += 100;
        state.tick(now);
        let mut buf = Buffer::empty(area);
        view::draw(&state, &ui, area, &mut buf);
        buf
    });
}

/// The ratings, which are computed at most once a second.
#[divan::bench]
fn figures(bencher: divan::Bencher<'_, '_>) {
    let mut state = league();
    let (mut now, mut number) = (NOW, OVER + RUNNING);
    bencher.bench_local(|| {
        (now, number) = (now + 1000, number + 1);
        state.fold(&ended(number));
        state.tick(now);
    });
}
