use super::text_of;
use crate::{
    EventInfo, Language, Named,
    input::{Action, Form, Screen},
    state::{MachineLine, State},
    theme::{Palette, Role},
    ui::{Ui, Wish},
    view,
};
use contest::{
    fault_limit::FaultLimit,
    schedule::{Format, Pairing, Stage},
    standings::Scale,
};
use plan::SprtPlan;
use ratatui::{buffer::Buffer, layout::Rect};
use referee::{
    Color, Outcome, WinBy,
    clock::TimeControl,
    entry::{
        Entry, GameEnded, GameId, GameStarted, Judged, Moved, Opened, PlayerId, Score, Stamped, Thought,
    },
    lease::{MachineState, Presence},
    opening::EVEN,
    operation::{Action as Operated, Operation},
    rating::Estimate,
    running::RunningGame,
};
use std::time::Duration;

const BEGIN: i64 = 1_790_000_000_000;

const LINE: &str = "7g7f 3c3d 8h2b+ 3a2b B*5e 2b3c 5e3c+ 2a3c S*4b";

/// Players with these names and this clock.
fn named(names: &[&str], time: TimeControl) -> Vec<Named> {
    names.iter().map(|name| Named { time, ..Named::whole(name) }).collect()
}

fn info() -> EventInfo {
    let time = TimeControl {
        main: Duration::from_secs(60),
        byoyomi: Duration::from_secs(10),
        ..TimeControl::default()
    };
    EventInfo {
        name: "Friday\u{1b}[2J".to_owned(),
        format: "round robin, 4 games a pair".to_owned(),
        stages: vec![Stage { format: Format::RoundRobin { cycles: 1 }, games: 4, ..Stage::default() }],
        engines: named(&["gpsusi", "将棋エンジン", "evil\u{1b}]0;x\u{7}"], time),
        ..EventInfo::default()
    }
}

fn pairing(index: u64) -> Pairing {
    let (black, white) = [(0, 1), (1, 0), (0, 2), (2, 1)][index as usize % 4];
    let (black, white) = (PlayerId(black), PlayerId(white));
    Pairing { stage: 0, index, attempt: 0, round: 1, pair: index / 2, opening: index / 2, black, white }
}

/// The events of a game: its start and `plies` moves, one a second; two of them are its opening.
fn game(number: u64, plies: usize) -> Vec<Stamped> {
    let (game, begin) = (GameId(number), BEGIN + 20_000 * number as i64);
    let opening = "7g7f 3c3d".to_owned();
    let started =
        GameStarted { game, pairing: pairing(number - 1), start: EVEN.to_owned(), opening, times: None };
    let mut events = vec![Stamped { at: begin, entry: Entry::GameStarted(started) }];
    for (at, usi) in LINE.split(' ').enumerate().take(plies).skip(2) {
        let color = Color::BOTH[at % 2];
        let sign = if color == Color::Black { 1 } else { -1 };
        let thought = Thought {
            depth: Some(12),
            seldepth: Some(20),
            score: Some(Score::Cp(sign * 90 * at as i32)),
            nodes: Some(1_234_567),
            nps: Some(890_000),
            time: Some(990),
            pv: Some(format!("{usi} resign\u{1b}[31m")),
        };
        let time = Duration::from_millis(1000);
        events.push(Stamped {
            at: begin + 1000 * at as i64,
            entry: Entry::Moved(Moved {
                game,
                ply: at as u32 + 1,
                color,
                mv: rsshogi_move(usi),
                charged: time,
                elapsed: time,
                left: Duration::from_secs(59 - at as u64),
                thought: Some(Box::new(thought)),
            }),
        });
    }
    events
}

fn rsshogi_move(usi: &str) -> rsshogi::types::Move {
    rsshogi::types::Move::from_usi(usi).unwrap()
}

fn ended(number: u64, outcome: Outcome, evidence: &str) -> Stamped {
    let end = GameEnded {
        evidence: evidence.to_owned(),
        ..GameEnded::new(GameId(number), pairing(number - 1), outcome, 9)
    };
    Stamped { at: BEGIN + 20_000 * number as i64 + 12_000, entry: Entry::GameEnded(end) }
}

/// Four games are finished, one of them on time; two are running.
fn league(info: EventInfo) -> State {
    league_in(State::new(info))
}

fn league_in(mut state: State) -> State {
    let opened = Opened {
        name: "Friday".to_owned(),
        players: vec![],
        format: "round robin".to_owned(),
        resumed: false,
    };
    let mut events = vec![Stamped { at: BEGIN, entry: Entry::Opened(opened) }];
    let mate = |winner| Outcome::Win { winner, by: WinBy::Mate };
    let ends = [
        (mate(Color::Black), ""),
        (mate(Color::White), ""),
        (Outcome::Win { winner: Color::Black, by: WinBy::Time }, "> go btime 0\u{1b}[2J\n! thinking"),
        (Outcome::Draw { by: referee::DrawBy::Sennichite }, ""),
    ];
    for (number, (outcome, evidence)) in (1..).zip(ends) {
        events.extend(game(number, 9));
        events.push(ended(number, outcome, evidence));
    }
    events.extend(game(5, 9));
    events.extend(game(6, 6));
    let memory = Entry::Memory { player: PlayerId(0), kib: 48_500 };
    events.push(Stamped { at: BEGIN + 1000, entry: memory });
    events.iter().for_each(|stamped| state.fold(stamped));
    state.tick(BEGIN + 20_000 * 6 + 9_500);
    state
}

fn picture(state: &State, ui: &Ui, width: u16, height: u16) -> Buffer {
    let area = Rect { x: 0, y: 0, width, height };
    let mut buf = Buffer::empty(area);
    view::draw(state, ui, area, &mut buf);
    buf
}

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];

fn check(name: &str, state: &State, ui: &Ui) {
    for (width, height) in SIZES {
        let text = text_of(&picture(state, ui, width, height));
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text}");
        insta::assert_snapshot!(format!("{name}_{width}x{height}"), text);
    }
}

fn on(screen: Screen) -> Ui {
    Ui { screen, ..Ui::default() }
}

#[test]
fn the_event_screen_shows_standings_test_and_running_games() {
    check("event", &league(info()), &on(Screen::Event));
}

#[test]
fn every_screen_is_in_japanese_for_a_reader_of_japanese() {
    let state = league_in(State::new(info()).in_language(Language::Japanese));
    check("japanese", &state, &on(Screen::Event));
    check("japanese_game", &state, &Ui { game: Some(GameId(3)), ..on(Screen::Game) });
    check("japanese_help", &state, &Ui { help: true, ..Ui::default() });
    let english = [
        "game",
        "ply",
        "player",
        "played",
        "eval",
        "depth",
        "fault",
        "help",
        "Enter opens",
        "score",
        "Moves",
        "won",
        "lost",
        "mate",
        "none",
        "Ratings",
        "Openings",
        "Cross",
        "Engines",
        "Log",
        "quit",
    ];
    for &screen in Screen::ALL {
        let shown = text_of(&picture(&state, &Ui { game: Some(GameId(5)), ..on(screen) }, 200, 60));
        // The evidence of a fault is what the engine wrote, and the names are whose they are.
        let left: Vec<_> = english.iter().filter(|word| shown.contains(**word)).collect();
        assert!(left.is_empty(), "{left:?} in\n{shown}");
    }
}

/// An open league, which players join, with ratings of its own.
fn free_league() -> State {
    let stages = vec![Stage { format: Format::RoundRobin { cycles: 1 }, games: 1, ..Stage::default() }];
    let mut state =
        State::new(EventInfo { name: "Friday".to_owned(), stages, open: true, ..EventInfo::default() });
    let opened = Opened {
        name: "Friday".to_owned(),
        players: vec![],
        format: "free pairing".to_owned(),
        resumed: false,
    };
    let mut events = vec![Stamped { at: BEGIN, entry: Entry::Opened(opened) }];
    for (player, name) in (0..).zip(["gps+0123456789abcdef", "将棋エンジン"]) {
        let entry = Entry::Entered { player: PlayerId(player), name: name.to_owned() };
        events.push(Stamped { at: BEGIN + 1000, entry });
    }
    events.extend(game(1, 9));
    events.push(ended(1, Outcome::Win { winner: Color::Black, by: WinBy::Resignation }, ""));
    events.extend(game(2, 6));
    let third = Entry::Entered { player: PlayerId(2), name: "gps+fedcba\u{1b}[2J".to_owned() };
    events.push(Stamped { at: BEGIN + 50_000, entry: third });
    events.extend(game(3, 7));
    for stamped in &mut events {
        if let Entry::GameStarted(started) = &mut stamped.entry {
            let time = |main| TimeControl { main: Duration::from_secs(main), ..TimeControl::default() };
            started.times = Some(Box::new([time(600), time(300)]));
        }
    }
    events.iter().for_each(|stamped| state.fold(stamped));
    let measured = |value| Estimate::Measured { value, error: Some(40.0) };
    let ratings = [(PlayerId(1), measured(1100.0)), (PlayerId(2), Estimate::AtMost { value: 900.0 })];
    state.rescale(Scale { ratings: ratings.into(), words: String::new() });
    state.tick(BEGIN + 20_000 * 3 + 9_500);
    state
}

#[test]
fn players_join_a_league_and_have_its_ratings_and_the_clocks_of_their_games() {
    let state = free_league();
    assert_eq!(state.running().count(), 2, "who joins breaks nothing off");
    check("free", &state, &on(Screen::Event));
    let clocks =
        Color::BOTH.map(|color| state.boards[&GameId(3)].clock(color, 0, BEGIN).unwrap().main.as_millis());
    assert_eq!(clocks, [600_000, 300_000]);
    let log = text_of(&picture(&state, &Ui { chosen: usize::MAX, ..on(Screen::Log) }, 120, 40));
    assert!(log.contains("gps+fedc joins"), "{log}");
}

#[test]
fn an_event_whose_players_log_in_waits_for_them_and_starts_no_engines() {
    let drawn = |remote: bool| {
        let engines = info().engines.into_iter().map(|engine| Named { remote, ..engine }).collect();
        text_of(&picture(&State::new(EventInfo { engines, ..info() }), &on(Screen::Event), 120, 40))
    };
    assert!(drawn(false).contains("the engines are starting"));
    assert!(drawn(true).contains("waiting for players to log in") && !drawn(true).contains("starting"));
}

#[test]
fn a_paused_event_says_so_at_the_head_of_every_screen() {
    let mut state = league(info());
    let operation = |number, action| {
        let (by, reason, undoes) = ("root".to_owned(), String::new(), None);
        let operation = Operation { number, by, reason, undoes, action };
        Stamped { at: BEGIN + 1, entry: Entry::Operator(Box::new(operation)) }
    };
    let head = |state: &State| {
        let drawn = text_of(&picture(state, &on(Screen::Games), 160, 40));
        drawn.lines().next().unwrap_or_default().to_owned()
    };
    assert!(!head(&state).contains("PAUSED"), "{}", head(&state));
    state.fold(&operation(1, Operated::Paused));
    assert!(head(&state).contains("PAUSED · "), "{}", head(&state));
    state.fold(&operation(2, Operated::Resumed));
    assert!(!head(&state).contains("PAUSED"), "{}", head(&state));
}

#[test]
fn a_player_who_is_renamed_has_its_new_name_everywhere() {
    let mut state = free_league();
    let name = "gps+aabbccddeeff".to_owned();
    state.fold(&Stamped { at: BEGIN + 90_000, entry: Entry::Renamed { player: PlayerId(0), name } });
    let shown = text_of(&picture(&state, &on(Screen::Event), 120, 40));
    let (now, _past) = shown.split_once("Latest").unwrap();
    assert!(now.contains("gps+aabb") && !now.contains("gps+0123"), "{shown}");
    let log = text_of(&picture(&state, &Ui { chosen: usize::MAX, ..on(Screen::Log) }, 120, 40));
    assert!(log.contains("gps+aabb is known by a new trip"), "{log}");
}

#[test]
fn a_field_too_large_to_be_rated_here_is_ordered_by_points() {
    let mut state = State::new(EventInfo { engines: vec![Named::whole("p"); 1000], ..info() });
    state.fold(&ended(1, Outcome::Win { winner: Color::White, by: WinBy::Mate }, ""));
    state.tick(BEGIN);
    assert_eq!(
        (state.figures.report.standings.len(), state.figures.report.standings[0].player),
        (1000, PlayerId(1))
    );
    let shown = text_of(&picture(&state, &on(Screen::Event), 120, 40));
    assert!(shown.lines().any(|line| line.contains(" 1 p ") && line.contains("100.0%")), "{shown}");
}

#[test]
fn a_sequential_test_stands_between_its_bounds() {
    let plan = SprtPlan { elo1: 50.0, ..SprtPlan::default() };
    let stages = vec![Stage { format: Format::Sprt { max_games: 100 }, games: 2, ..Stage::default() }];
    let state = league(EventInfo { sprt: Some(plan), stages, ..info() });
    check("sprt", &state, &on(Screen::Event));
}

#[test]
fn two_players_who_play_until_elo_is_known_have_its_error_above_the_games() {
    let within = "5 elo".parse().unwrap();
    let stages =
        vec![Stage { format: Format::Precision { max_games: 100, within }, games: 2, ..Stage::default() }];
    let state = league(EventInfo { stages, ..info() });
    let text = text_of(&picture(&state, &on(Screen::Event), 120, 40));
    assert!(text.contains("until Elo is known within ±5"), "{text}");
    assert!(text.contains("known within ±∞ · "), "{text}");
}

#[test]
fn two_players_have_one_difference_which_is_told_in_words() {
    let engines = info().engines[..2].to_vec();
    let stages = vec![Stage { games: 8, ..info().stages[0].clone() }];
    let mut state = State::new(EventInfo { engines, stages, ..info() });
    for number in 1..=8 {
        let mut end = ended(number, Outcome::Win { winner: Color::Black, by: WinBy::Mate }, "");
        if let Entry::GameEnded(end) = &mut end.entry {
            end.pairing = Pairing { index: number - 1, ..pairing(0) };
        }
        state.fold(&end);
    }
    state.tick(BEGIN + 400_000);
    check("duel", &state, &on(Screen::Event));
}

#[test]
fn boards_fill_the_window() {
    check("boards", &league(info()), &on(Screen::Games));
}

#[test]
fn a_running_game_is_followed() {
    check("game", &league(info()), &Ui { game: Some(GameId(5)), ..on(Screen::Game) });
}

#[test]
fn the_curves_of_a_game_are_on_the_common_scale_where_a_player_has_one_and_say_so() {
    let ui = Ui { game: Some(GameId(5)), ..on(Screen::Game) };
    let drawn = |scale| {
        let engines = info().engines.into_iter().map(|engine| Named { scale, ..engine }).collect();
        text_of(&picture(&league(EventInfo { engines, ..info() }), &ui, 120, 40))
    };
    let plain = drawn(None);
    let graph = |text: &str| text.split_once("Eval for ☗").unwrap().1.to_owned();
    assert!(!plain.contains("common scale"), "{plain}");
    // Centipawns of a player with this scale are worth a tenth of what is printed: its curve lies at the middle.
    let scaled = drawn(referee::evaluation::ScoreScale::new(6000));
    assert!(scaled.contains("Eval for ☗, common scale ·"), "{scaled}");
    assert_ne!(graph(&scaled).replace(", common scale", ""), graph(&plain));
    assert!(graph(&scaled).lines().find(|line| line.contains("     0")).unwrap().contains('●'), "{scaled}");
    // The numbers beside the board are those that the engine printed.
    let number = |text: &str| text.lines().find(|line| line.contains("for ☗  depth")).map(str::to_owned);
    assert_eq!(number(&scaled), number(&plain));
}

#[test]
fn a_game_is_looked_back_at_in_letters_and_from_the_other_side() {
    let ui = Ui { game: Some(GameId(3)), ply: Some(5), ascii: true, flipped: true, ..on(Screen::Game) };
    check("game_back", &league(info()), &ui);
}

#[test]
fn games_that_are_over_are_listed() {
    check("played", &league(info()), &on(Screen::Played));
}

#[test]
fn the_cross_table_shows_points_of_every_encounter() {
    check("table", &league(info()), &on(Screen::Table));
}

#[test]
fn ratings_are_drawn_over_the_games() {
    check("elo", &league(info()), &on(Screen::Ratings));
}

#[test]
fn a_reader_steps_into_what_the_engine_had_in_mind_and_out_again() {
    let mut state = league(info());
    let mut events = game(5, 9);
    if let Entry::Moved(moved) = &mut events[2].entry {
        moved.thought.as_mut().unwrap().pv = Some("3a2b 2g2f B*5e junk".to_owned());
    }
    state.recall(&events);
    let mut ui = Ui { game: Some(GameId(5)), ply: Some(4), ..on(Screen::Game) };
    let white_drops_a_bishop = |ui: &Ui| text_of(&picture(&state, ui, 120, 40)).contains("v角");
    assert!(!white_drops_a_bishop(&ui));
    for _ in 0..9 {
        ui.act(Action::Variation(1), &state);
    }
    assert_eq!(ui.ahead, 3, "the line ends where it is no line any more");
    assert!(text_of(&picture(&state, &ui, 120, 40)).contains("as it was meant, move 3"));
    assert!(white_drops_a_bishop(&ui));
    ui.act(Action::Sideways(1), &state);
    assert_eq!((ui.ahead, ui.ply), (0, Some(5)));
}

#[test]
fn only_a_game_that_is_shown_is_saved() {
    let state = league(info());
    let mut ui = Ui { game: Some(GameId(3)), ..on(Screen::Event) };
    assert_eq!(ui.act(Action::Save(Form::Csa), &state), None);
    ui.screen = Screen::Game;
    assert_eq!(ui.act(Action::Save(Form::Kif), &state), Some(Wish::Save(GameId(3), Form::Kif)));
}

#[test]
fn the_engines_screen_shows_their_use_of_time() {
    check("engines", &league(info()), &on(Screen::Engines));
}

#[test]
fn the_most_uneven_opening_stands_first() {
    check("openings", &league(info()), &on(Screen::Openings));
}

#[test]
fn a_halted_event_has_no_time_to_its_end_and_its_halts_are_no_faults() {
    let limit = FaultLimit { in_a_row: Some(2), share: None, games: 20 };
    let engines = ["a", "b"].map(Named::whole).into();
    let fault_limits = vec![Some(limit); 2];
    let mut state = State::new(EventInfo { engines, fault_limits, ..info() });
    let opened = Opened { name: "Friday".to_owned(), players: vec![], format: String::new(), resumed: false };
    state.fold(&Stamped { at: BEGIN, entry: Entry::Opened(opened) });
    for number in 1..=2 {
        let winner = if number == 1 { Color::White } else { Color::Black };
        let Stamped { at, entry: Entry::GameEnded(end) } =
            ended(number, Outcome::Win { winner, by: WinBy::Disconnection }, "")
        else {
            panic!("an end")
        };
        let (black, white) =
            if number == 1 { (PlayerId(0), PlayerId(1)) } else { (PlayerId(1), PlayerId(0)) };
        let pairing = Pairing { black, white, ..end.pairing };
        state.fold(&Stamped { at, entry: Entry::GameEnded(GameEnded { pairing, ..end }) });
    }
    let text = "engine `a`: 2 games; no further game of it begins".to_owned();
    state.fold(&Stamped { at: BEGIN + 60_000, entry: Entry::Fault { player: Some(PlayerId(0)), text } });
    state.tick(BEGIN + 60_000);
    assert_eq!((state.faults, state.to_go()), (2, None));
    let shown = text_of(&picture(&state, &on(Screen::Event), 120, 40));
    assert!(shown.contains("halted · 2 faults") && !shown.contains("ends in"), "{shown}");
}

#[test]
fn the_log_has_faults_in_full() {
    check("log", &league(info()), &Ui { chosen: usize::MAX, ..on(Screen::Log) });
}

#[test]
fn help_lists_every_key_at_every_size() {
    let (state, ui) = (league(info()), Ui { help: true, ..Ui::default() });
    check("help", &state, &ui);
    let smallest = text_of(&picture(&state, &ui, 80, 24));
    for (key, _) in crate::input::keys(platform::signals::can_suspend(), crate::Language::English) {
        assert!(smallest.contains(key), "{key} is not in\n{smallest}");
    }
}

#[test]
fn without_colours_nothing_is_coloured_and_a_fault_still_stands_out() {
    let state = league(info());
    let buf = picture(&state, &Ui { palette: Palette::Mono, ..Ui::default() }, 120, 40);
    let plain = |color| color == ratatui::style::Color::Reset;
    assert!(buf.content.iter().all(|cell| plain(cell.fg) && plain(cell.bg)));
    let fault = Palette::Mono.style(Role::Fault).add_modifier;
    assert!(buf.content.iter().any(|cell| cell.modifier == fault));
}

#[test]
fn every_window_down_to_nothing_is_drawn_without_harm() {
    let state = league(info());
    for &screen in Screen::ALL {
        for (width, height) in (0..90).step_by(7).flat_map(|w| (0..30).step_by(3).map(move |h| (w, h))) {
            let ui = Ui { game: Some(GameId(5)), help: width % 2 == 0, ..on(screen) };
            let drawn = picture(&state, &ui, width, height);
            assert_eq!((drawn.area.width, drawn.area.height), (width, height));
            // From the size of a small terminal on something is there to be read.
            let is_readable = text_of(&drawn).chars().any(char::is_alphanumeric);
            assert!(is_readable || width < 40 || height < 10, "{screen:?} in {width} x {height} is blank");
        }
    }
}

#[test]
fn a_reader_steps_back_and_is_not_dragged_along_until_the_end_is_reached_again() {
    let mut state = league(info());
    let mut ui = on(Screen::Event);
    ui.act(Action::Vertical(1), &state);
    ui.act(Action::Open, &state);
    assert_eq!((ui.screen, ui.game, ui.ply), (Screen::Game, Some(GameId(6)), None));
    ui.act(Action::Sideways(-1), &state);
    assert_eq!(ui.ply, Some(5));
    game(6, 9).iter().skip(5).for_each(|stamped| state.fold(stamped));
    assert!(text_of(&picture(&state, &ui, 120, 40)).contains("ply 5 of 9"));
    ui.act(Action::Last, &state);
    assert!(text_of(&picture(&state, &ui, 120, 40)).contains("live · ply 9"));
    ui.act(Action::Back, &state);
    assert_eq!(ui.screen, Screen::Event);
}

#[test]
fn a_filter_leaves_the_games_it_names() {
    let state = league(info());
    let mut ui = on(Screen::Played);
    for letter in "/evil time".chars() {
        let action = if letter == '/' { Action::Filter } else { Action::Letter(letter) };
        ui.act(action, &state);
    }
    let numbers = |ui: &Ui| ui.played(&state).iter().map(|played| played.game.0).collect::<Vec<_>>();
    assert_eq!(numbers(&ui), [3]);
    ui.act(Action::Back, &state);
    assert_eq!(numbers(&ui), [4, 3, 2, 1]);
    ui.act(Action::Sort, &state);
    ui.act(Action::Sort, &state);
    assert_eq!(numbers(&ui), [3, 1, 2, 4], "won by black, by white, drawn");
}

#[test]
fn a_game_without_its_moves_is_fetched_from_the_archive_and_is_the_same() {
    let mut state = State::new(info());
    state.fold(&game(1, 2)[0]);
    state.fold(&ended(1, Outcome::Win { winner: Color::Black, by: WinBy::Mate }, ""));
    assert!(state.boards.is_empty(), "a board without its moves is not kept");
    let mut events = game(1, 9);
    events.push(ended(1, Outcome::Win { winner: Color::Black, by: WinBy::Mate }, ""));
    state.recall(&events);
    assert_eq!(state.boards[&GameId(1)].plies.len(), 9);
    assert_eq!(state.counted(), 1, "the archive does not count games again");
}

#[test]
fn the_screen_of_a_lost_game_says_why_it_was_lost() {
    let mut state = league(info());
    let foul = Outcome::loss(Color::White, WinBy::IllegalMove(referee::Foul::Nifu));
    state.fold(&ended(5, foul, "white: P*3e\u{1b}[2J\n  > go btime 0"));
    state.tick(BEGIN + 20_000 * 6);
    let ui = Ui { game: Some(GameId(5)), ..on(Screen::Game) };
    for (width, height) in SIZES {
        let text = text_of(&picture(&state, &ui, width, height));
        assert!(
            ["lost:", "`P*3e", "nifu, a"].iter().all(|word| text.contains(word)),
            "{width}x{height}: {text}"
        );
        assert!(!text.contains('\u{1b}'), "{text}");
    }
    let wide = text_of(&picture(&state, &ui, 200, 60));
    assert!(wide.contains("nifu, a second pawn on its file"), "{wide}");
    let replayed = Ui { ply: Some(3), ..ui };
    assert!(
        !text_of(&picture(&state, &replayed, 200, 60)).contains("lost:"),
        "not in the middle of the game"
    );
}

#[test]
fn machines_are_a_line_each_with_what_was_told_of_them_last() {
    let machine = |name: &str, presence, word: &str| MachineLine {
        state: MachineState {
            name: name.to_owned(),
            slots: 8,
            cores: 16,
            nps: Some(1_234_567),
            scale: referee::clock::Scale::of(1.25).unwrap(),
            playing: 7,
            faults: 2,
            lag: 14,
            presence,
            word: word.to_owned(),
            seen: 0,
            held_since: None,
        },
        games: 1234,
    };
    let mut state = league(info());
    state.machines = vec![
        machine("box2", Presence::Here, ""),
        machine("box3", Presence::Silent, "1 pair did not reach it: played again"),
    ];
    state.machines.iter_mut().for_each(|line| line.state.seen = state.now - 4000);
    check("machines", &state, &on(Screen::Machines));
    let shown = text_of(&picture(&state, &on(Screen::Event), 130, 40));
    assert!(shown.lines().last().unwrap().contains("m machines"), "{shown}");
}

#[test]
fn games_of_other_machines_stand_among_the_running_ones_with_the_name_of_their_machine_until_they_are_gone() {
    let mut state = league(info());
    let mut events = game(1, 7);
    let id = GameId(GameId::ELSEWHERE);
    for stamped in &mut events {
        match &mut stamped.entry {
            Entry::GameStarted(started) => started.game = id,
            Entry::Moved(moved) => moved.game = id,
            _ => {}
        }
    }
    let running = state.running().count();
    let board = RunningGame::of(&events, |_| Default::default()).unwrap();
    state.show_elsewhere(vec![board.on_machine("box2")]);
    assert_eq!(state.running().count(), running + 1);
    let mut ui = on(Screen::Games);
    ui.filter = "gpsusi".to_owned();
    let shown = text_of(&picture(&state, &ui, 120, 40));
    assert!(shown.contains("box2 · ply 7"), "{shown}");
    ui = Ui { game: Some(id), ..on(Screen::Game) };
    let shown = text_of(&picture(&state, &ui, 120, 40));
    assert!(shown.contains("box2 · live · ply 7"), "{shown}");
    state.show_elsewhere(vec![]);
    assert_eq!(state.running().count(), running);
}

/// The event screen of 80 columns and 24 rows.
fn small(state: &State) -> String {
    text_of(&picture(state, &on(Screen::Event), 80, 24))
}

#[test]
fn every_player_has_a_line_or_is_counted_in_a_small_window() {
    let engines = |players| (0..players).map(|at| Named::whole(&format!("engine-{at:02}"))).collect();
    let mut state = league(EventInfo { engines: engines(12), ..info() });
    state.tick(BEGIN + 300_000);
    let shown = small(&state);
    let lines = (0..12).filter(|at| shown.contains(&format!("engine-{at:02} "))).count();
    assert!(lines >= 12, "{shown}");
    // The running games give way, down to the first.
    let mut state = league(EventInfo { engines: engines(15), ..info() });
    state.tick(BEGIN + 300_000);
    let shown = small(&state);
    let lines = (0..15).filter(|at| shown.contains(&format!("engine-{at:02} "))).count();
    assert!(lines >= 15 && shown.contains("Running games"), "{shown}");
    let mut state = State::new(EventInfo { engines: engines(30), ..info() });
    state.fold(&ended(1, Outcome::Win { winner: Color::Black, by: WinBy::Mate }, ""));
    state.tick(BEGIN + 300_000);
    let shown = small(&state);
    let lines = (0..30).filter(|at| shown.contains(&format!("engine-{at:02}"))).count();
    let left_out = format!("and {} more", 30 - lines);
    assert!(shown.contains(&left_out), "{left_out}: {shown}");
}

#[test]
fn a_long_name_shows_both_its_ends_in_a_small_window() {
    let names = ["gps-shogi-development-build-2026-11-22-a", "other", "third"];
    let state = league(EventInfo { engines: names.map(Named::whole).into(), ..info() });
    let row = small(&state).lines().find(|line| line.contains("gps-")).unwrap().to_owned();
    assert!(row.contains("gps-shogi-dev") && row.contains("2026-11-22-a"), "{row}");
    let game = text_of(&picture(&state, &Ui { game: Some(GameId(5)), ..on(Screen::Game) }, 80, 24));
    assert!(game.lines().any(|line| line.contains("gps-") && line.contains("22-a")), "{game}");
}

#[test]
fn evaluations_are_from_the_side_of_black_in_lists_graphs_and_boxes_and_say_so() {
    let mut state = league(info());
    let mut events = game(5, 9);
    for (at, score) in [(6, Score::Cp(676)), (7, Score::Mate(5)), (8, Score::Cp(-1_148_897))] {
        let Entry::Moved(moved) = &mut events[at - 2].entry else { unreachable!() };
        moved.thought.as_mut().unwrap().score = Some(score);
    }
    state.recall(&events);
    let at = |ply| {
        text_of(&picture(&state, &Ui { game: Some(GameId(5)), ply: Some(ply), ..on(Screen::Game) }, 120, 40))
    };
    let shown = at(6);
    assert!(!shown.contains("+676") && shown.matches("-676").count() >= 2, "the list and the box: {shown}");
    assert!(shown.contains("-676 for ☗") && shown.contains("eval for ☗"), "{shown}");
    assert!(shown.contains("Eval for ☗ · ● gpsusi ○ 将棋エンジン"), "{shown}");
    let shown = at(8);
    assert!(shown.contains("☗ mate in 5") && !shown.contains("148897"), "{shown}");
    assert!(shown.contains("☗ mate "), "a number that stands for a mate: {shown}");
}

#[test]
fn what_the_judge_says_stands_in_the_graph_and_fills_the_bar_of_the_board() {
    let mut state = league(info());
    state.recall(&game(5, 9));
    let judged = |ply, cp| {
        let (game, color, score) = (GameId(5), Color::White, Score::Cp(cp));
        let judged = Judged { game, ply, color, score, depth: None, nodes: None };
        Stamped { at: BEGIN, entry: Entry::Judged(judged) }
    };
    let shown = |state: &State, ply| {
        text_of(&picture(state, &Ui { game: Some(GameId(5)), ply: Some(ply), ..on(Screen::Game) }, 120, 40))
    };
    assert!(!shown(&state, 9).contains("judge"));
    let of_players = state.boards[&GameId(5)].expected();
    state.fold(&judged(5, 1500));
    state.fold(&judged(7, -333));
    assert!(shown(&state, 6).contains("◆ judge -1500"), "{}", shown(&state, 6));
    assert!(shown(&state, 9).contains("◆ judge +333"), "{}", shown(&state, 9));
    assert!(
        shown(&state, 9).matches('◆').count() >= 2,
        "the title and the point at -1500: {}",
        shown(&state, 9)
    );
    assert_ne!(state.boards[&GameId(5)].expected(), of_players);
    // An opinion of a game that is not there is passed over.
    let nowhere = Judged {
        game: GameId(99),
        ply: 1,
        color: Color::Black,
        score: Score::Cp(1),
        depth: None,
        nodes: None,
    };
    state.fold(&Stamped { at: BEGIN, entry: Entry::Judged(nowhere) });
}

#[test]
fn a_swiss_shows_its_tie_breaks_and_a_knock_out_its_bracket() {
    let swiss = vec![Stage { format: Format::Swiss { rounds: 3 }, games: 1, ..Stage::default() }];
    let shown = text_of(&picture(&league(EventInfo { stages: swiss, ..info() }), &on(Screen::Table), 80, 24));
    assert!(shown.contains("Buchholz Sonneborn-Berger direct") && shown.contains("Cross table"), "{shown}");
    let tie = contest::stage::Tie::default();
    let knockout = vec![Stage { format: Format::Knockout { tie }, games: 2, ..Stage::default() }];
    let shown =
        text_of(&picture(&league(EventInfo { stages: knockout, ..info() }), &on(Screen::Table), 80, 24));
    assert!(shown.contains("Bracket") && shown.contains(" round 1") && shown.contains("gpsusi"), "{shown}");
}

#[test]
fn a_small_terminal_shows_a_penalty_where_somebody_has_one() {
    let swiss = vec![Stage { format: Format::Swiss { rounds: 3 }, games: 1, ..Stage::default() }];
    for info in [info(), EventInfo { stages: swiss, ..info() }] {
        let mut state = league(info);
        let shown = |state: &State| text_of(&picture(state, &on(Screen::Table), 80, 24));
        assert!(!shown(&state).contains("penalty"), "{}", shown(&state));
        let (player, points) = (PlayerId(0), referee::points::Points::thousandths(500));
        let action = Operated::Penalised { player, name: "a".to_owned(), points, stage: 0, round: 1 };
        let (by, reason) = ("kai".to_owned(), "late".to_owned());
        let operation = Operation { number: 1, by, reason, undoes: None, action };
        state.fold(&Stamped { at: BEGIN, entry: Entry::Operator(Box::new(operation)) });
        assert!(shown(&state).contains("penalty") && shown(&state).contains("0.5"), "{}", shown(&state));
    }
}

#[test]
fn the_number_of_a_game_is_not_shortened() {
    let mut state = State::new(info());
    state.fold(&ended(12_345, Outcome::Win { winner: Color::Black, by: WinBy::Mate }, ""));
    let shown = text_of(&picture(&state, &on(Screen::Played), 80, 24));
    assert!(shown.contains("12345"), "{shown}");
}
