use super::{
    Details, Encounter, Group, Opponent, Player, State, Suggestions, Table, Work,
    ui::{Order, Screen, Ui, Wish},
    view,
};
use crate::{
    input::{self, Action},
    view::text_of,
};
use ratatui::{buffer::Buffer, layout::Rect};
use referee::rating::Estimate;

fn player(node: usize, label: &str, elo: Estimate, games: f64) -> Player {
    Player {
        node,
        label: label.to_owned(),
        also: vec![],
        build: None,
        settings: String::new(),
        clock: "nodes 1000".to_owned(),
        machine: String::new(),
        elo,
        games,
        score: Some(0.5 + elo.value().unwrap_or(0.0) / 1000.0),
        events: 2,
    }
}

fn measured(value: f64, error: f64) -> Estimate {
    Estimate::Measured { value, error: Some(error) }
}

/// Three players that games connect, and two that none connects with them.
fn table() -> Table {
    let new = Player {
        also: vec!["newer\u{1b}[2J".to_owned()],
        build: Some("0123456789abcdef".repeat(4)),
        settings: "--fast option.USI_Hash=64".to_owned(),
        ..player(0, "new 01234567", measured(63.4, 8.2), 4000.0)
    };
    let tentative = Estimate::Tentative { value: -412.0, error: 350.0 };
    let old = Player { clock: "10s+0.1s".to_owned(), ..player(2, "evil\u{1b}]0;x\u{7}", tentative, 12.0) };
    let first = vec![new, player(1, "将棋エンジン", measured(-3.1, 12.0), 3000.0), old];
    let second = vec![
        player(3, "other", measured(20.0, 40.0), 90.0),
        player(4, "another", measured(-20.0, 40.0), 90.0),
    ];
    let note = "Elo is relative to the mean of these players; +- is half a 95 % interval".to_owned();
    Table {
        facts: "5 players, 3596 games of 3 events in 2 databases".to_owned(),
        groups: vec![
            Group {
                players: first,
                notes: vec!["black's advantage +12 +-9 Elo between equals".to_owned(), note.clone()],
            },
            Group { players: second, notes: vec![note] },
        ],
        next: Some(next([1, 2])),
        notes: vec!["left out: 4 games of a player against itself".to_owned()],
    }
}

fn next(players: [usize; 2]) -> Suggestions {
    Suggestions {
        error: 202.4,
        encounters: vec![Encounter { players, error_after: 61.3, seconds: Some(0.82) }],
    }
}

fn details() -> Details {
    let opponent = |node, results, difference| Opponent { node, results, difference };
    let far = Estimate::Tentative { value: 475.0, error: 352.0 };
    let opponents = vec![opponent(1, [1500, 1000, 1494], measured(66.5, 14.0)), opponent(2, [6, 0, 0], far)];
    Details { node: 0, opponents, next: Some(next([0, 2])) }
}

fn read() -> State {
    State { table: Some(table()), ..State::default() }
}

fn shown(state: &State, ui: &Ui, (width, height): (u16, u16)) -> String {
    let area = Rect { x: 0, y: 0, width, height };
    let mut buf = Buffer::empty(area);
    view::draw(state, ui, area, &mut buf);
    let text = text_of(&buf);
    assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text}");
    text
}

fn check(name: &str, state: &State, ui: &Ui) {
    for size in [(80, 24), (120, 40), (200, 60)] {
        insta::assert_snapshot!(format!("{name}_{}x{}", size.0, size.1), shown(state, ui, size));
    }
}

fn rows(state: &State, ui: &Ui) -> Vec<String> {
    ui.players(state.table.as_ref().unwrap()).iter().map(|player| player.label.clone()).collect()
}

#[test]
fn sets_that_no_game_connects_are_listed_apart_with_their_intervals() {
    check("ledger", &read(), &Ui::default());
    let second = shown(&read(), &Ui { chosen: 3, ..Ui::default() }, (120, 40));
    assert!(
        !second.contains("black's advantage"),
        "the notes are those of the chosen player's set: {second}"
    );
}

#[test]
fn long_names_and_clocks_make_room_for_the_numbers() {
    let mut table = table();
    table.groups[0].players[0].label = "front [TimePolicy=ply1=150 ply41=60] on box2".to_owned();
    table.groups[0].players[0].clock = "black main 10m increment 1s, white main 5m".to_owned();
    let state = State { table: Some(table), ..State::default() };
    for width in 60..140 {
        let text = shown(&state, &Ui::default(), (width, 24));
        let row = text.lines().find(|line| line.contains("63.4")).unwrap();
        let after = row.split_once("56.3%").unwrap().1;
        assert!(after.trim_start().starts_with('2') && !after.contains('…'), "{width}: {row}");
    }
}

#[test]
fn a_player_is_shown_with_its_opponents_and_what_to_play_next_for_it() {
    let state = State { details: Some(details()), ..read() };
    check("ledger_player", &state, &Ui { screen: Screen::Player, player: Some(0), ..Ui::default() });
    let other = shown(&state, &Ui { screen: Screen::Player, player: Some(1), ..Ui::default() }, (80, 24));
    assert!(other.contains("computing") && !other.contains("1500"), "another player's details: {other}");
}

#[test]
fn what_to_play_next_names_both_players_and_its_gain() {
    check("ledger_next", &read(), &Ui { screen: Screen::Next, ..Ui::default() });
    let nothing = State { table: Some(Table { next: None, ..table() }), ..State::default() };
    let text = shown(&nothing, &Ui { screen: Screen::Next, ..Ui::default() }, (80, 24));
    assert!(text.contains("no encounter is known"), "{text}");
}

#[test]
fn while_databases_are_read_the_screen_says_which_and_how_long() {
    let work = Work { words: "120 games read, reading results/two.db".to_owned(), seconds: 12 };
    let mut state =
        State { work: Some(work), lines: vec!["left out: one.db".to_owned()], ..State::default() };
    let text = shown(&state, &Ui::default(), (80, 24));
    assert!(text.contains("reading results/two.db · 12 s") && text.contains("left out: one.db"), "{text}");
    assert_eq!(Ui::default().act(Action::Quit, &state), Some(Wish::Quit));
    // The table of before stays while it is read again.
    state.table = Some(table());
    let text = shown(&state, &Ui::default(), (120, 24));
    assert!(text.contains("将棋エンジン") && text.contains("· 12 s"), "{text}");
    let notes = shown(&state, &Ui { screen: Screen::Notes, ..Ui::default() }, (120, 24));
    assert!(notes.contains("of a player against itself") && notes.contains("left out: one.db"), "{notes}");
}

#[test]
fn a_filter_finds_players_by_name_other_name_clock_and_build() {
    let state = read();
    for (filter, found) in [
        ("エンジン", vec!["将棋エンジン"]),
        ("NEWER", vec!["new 01234567"]),
        ("10s", vec!["evil\u{1b}]0;x\u{7}"]),
        ("other", vec!["other", "another"]),
        ("nobody", vec![]),
    ] {
        let ui = Ui { filter: filter.to_owned(), ..Ui::default() };
        assert_eq!(rows(&state, &ui), found, "{filter}");
        let text = shown(&state, &ui, (120, 24));
        assert!(!text.contains("no game connects"), "one set needs no line between sets: {text}");
    }
}

#[test]
fn another_order_sorts_each_set_and_keeps_the_places_by_elo() {
    let (state, mut ui) = (read(), Ui::default());
    let mut orders = vec![];
    for _ in 0..4 {
        orders.push((ui.order, rows(&state, &ui)[0].clone()));
        ui.act(Action::Sort, &state);
    }
    let first = |label: &str| label.to_owned();
    let evil = first("evil\u{1b}]0;x\u{7}");
    let new = first("new 01234567");
    assert_eq!(
        orders,
        [(Order::Elo, new.clone()), (Order::Error, evil.clone()), (Order::Games, new), (Order::Name, evil)]
    );
    ui.order = Order::Name;
    let text = shown(&state, &ui, (120, 40));
    let place = |name: &str| {
        text.lines().find(|line| line.contains(name)).unwrap()[..9].trim_matches(['│', ' ']).to_owned()
    };
    assert_eq!((place("evil"), place("new 0")), ("3".to_owned(), "1".to_owned()), "{text}");
}

#[test]
fn a_player_is_opened_and_left_for_its_opponent_the_next_one_and_back() {
    let (mut state, mut ui) = (read(), Ui::default());
    assert_eq!(ui.act(Action::Vertical(1), &state), None);
    assert_eq!(ui.act(Action::Open, &state), Some(Wish::Player(1)));
    assert_eq!(ui.act(Action::Neighbour(-1), &state), Some(Wish::Player(0)));
    state.details = Some(details());
    assert_eq!(ui.act(Action::Last, &state), None);
    assert_eq!(ui.act(Action::Open, &state), Some(Wish::Player(2)), "the last opponent");
    assert_eq!(ui.act(Action::Open, &state), None, "its own opponents have not come yet");
    assert_eq!(ui.act(Action::Back, &state), None);
    assert_eq!((ui.screen, ui.chosen), (Screen::Players, 0), "where it was left");
    assert_eq!(ui.act(Action::Show(input::Screen::ALL[1]), &state), None);
    assert_eq!(ui.screen, Screen::Next, "the second key");
    assert_eq!(ui.act(Action::Show(input::Screen::ALL[8]), &state), None);
    assert_eq!(ui.screen, Screen::Next, "no ninth screen");
    ui.act(Action::Show(input::Screen::ALL[3]), &state);
    assert_eq!((ui.screen, ui.player), (Screen::Player, Some(2)), "the player that was shown last");
    ui.renew();
    assert_eq!((ui.screen, ui.player), (Screen::Players, None), "its number may be another's now");
}

#[test]
fn in_the_smallest_window_and_without_a_player_nothing_breaks() {
    let empty = State { table: Some(Table::default()), ..State::default() };
    for screen in Screen::ALL {
        for size in [(1, 1), (40, 10), (41, 11), (60, 12)] {
            for state in [&State::default(), &empty, &read()] {
                let mut ui = Ui { screen, player: Some(0), chosen: usize::MAX, help: true, ..Ui::default() };
                let _drawn = shown(state, &ui, size);
                ui.help = false;
                let _drawn = shown(state, &ui, size);
                for action in [Action::Open, Action::Neighbour(1), Action::Vertical(-1), Action::Page(1)] {
                    ui.act(action, state);
                }
            }
        }
    }
}
