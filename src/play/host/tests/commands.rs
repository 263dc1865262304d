//! Commands of the extended mode: what is asked for, and what is refused with which words.

use super::driver::{Client, Host, game};
use plan::serve::ServeConfig;
use std::time::Duration;

/// The lines with which a command is answered, but for the last.
fn answer(asks: &mut Client, command: &str, last: &str) -> Vec<String> {
    asks.say(command);
    std::iter::from_fn(|| asks.line().filter(|line| line != last)).collect()
}

/// Why a command is refused.
fn refusal(asks: &mut Client, command: &str) -> String {
    asks.say(command);
    asks.next("##[ERROR] ").split_off("##[ERROR] ".len())
}

/// The id of the only game.
fn id(asks: &mut Client) -> String {
    let list = answer(asks, "%%LIST", "##[LIST] +OK");
    assert_eq!(list.len(), 1, "{list:?}");
    list[0].strip_prefix("##[LIST] ").unwrap().to_owned()
}

/// The players of `%%WHO`, without their trips.
fn who(asks: &mut Client) -> Vec<String> {
    let shown = |line: String| {
        let (name, rest) = line.strip_prefix("##[WHO] ").unwrap().split_once('+').unwrap();
        format!("{name} {}", rest.split_once(' ').unwrap().1)
    };
    answer(asks, "%%WHO", "##[WHO] +OK").into_iter().map(shown).collect()
}

#[test]
fn who_looks_on_sees_the_players_the_board_and_each_move_until_it_has_seen_enough() {
    let host = Host::start(ServeConfig::default());
    let mut watcher = host.connect().login_x1("watcher", "secret");
    let (mut black, mut white) = game(&host, "t-600-10F");
    host.passes(Duration::ZERO);
    assert_eq!(
        who(&mut watcher),
        ["watcher x1 connected", "sente CSA game t-600-10F +", "gote CSA game t-600-10F -"]
    );
    let id = id(&mut watcher);
    assert_eq!(answer(&mut watcher, "%%SHOW nothing", "##[SHOW] +OK"), [""; 0]);
    let shown = |watcher: &mut Client, lines: [&str; 5]| {
        let shown = answer(watcher, &format!("%%SHOW {id}"), "##[SHOW] +OK");
        for line in lines {
            assert!(shown.contains(&format!("##[SHOW] {line}")), "{line} of {shown:?}");
        }
    };
    let before = ["Name+:sente", "To_Move:+", "Remaining_Time+:600", "Last_Move:", "Current_Turn:0"];
    shown(&mut watcher, before);
    host.passes(Duration::from_secs(3));
    let mut moves = |mover: usize, line: &str| {
        let (mv, _) = line.split_once(',').unwrap();
        [&mut black, &mut white][mover].say(mv);
        [&mut black, &mut white].into_iter().for_each(|player| player.hears(&[line]));
        host.passes(Duration::from_millis(10));
    };
    moves(0, "+7776FU,T3");
    let after =
        ["To_Move:-", "Remaining_Time+:607", "Remaining_Time-:600", "Last_Move:+7776FU,T3", "Current_Turn:1"];
    shown(&mut watcher, after);
    let [whole, alone] = ["", "2"].map(|kind| format!("##[MONITOR{kind}][{id}]"));
    let board = answer(&mut watcher, &format!("%%MONITORON {id}"), &format!("{whole} +OK"));
    assert!(board.contains(&format!("{whole} Current_Turn:1")), "{board:?}");
    let record = answer(&mut watcher, &format!("%%MONITOR2ON {id}"), &format!("{alone} +OK"));
    let record: Vec<&str> =
        record.iter().map(|line| line.strip_prefix(&alone).unwrap().trim_start()).collect();
    let head = ["V2", "N+sente", "N-gote", "'Max_Moves:256", "'Least_Time_Per_Move:0", "'Increment:10"];
    assert_eq!(record[..6], head);
    assert_eq!(record[record.len() - 2..], ["+7776FU", "T3"]);
    assert!(record[record.len() - 3].starts_with("'rating:sente+"), "{record:?}");
    moves(1, "-3334FU,T0");
    watcher.until(&format!("{whole} +OK"));
    let heard = |lines: &[&str]| lines.iter().map(|line| format!("{alone} {line}")).collect::<Vec<_>>();
    let hears = |watcher: &mut Client, lines: &[&str]| {
        heard(lines).iter().for_each(|line| watcher.hears(&[line]));
    };
    hears(&mut watcher, &["-3334FU", "T0", "+OK"]);
    watcher.say(&format!("%%MONITOROFF {id}"));
    moves(0, "+2726FU,T0");
    hears(&mut watcher, &["+2726FU", "T0", "+OK"]);
    watcher.say(&format!("%%MONITOR2OFF {id}"));
    moves(1, "-8384FU,T0");
    watcher.say("%%HELP");
    watcher.next("##[HELP] available commands");
    watcher.say(&format!("%%MONITOR2ON {id}"));
    watcher.until(&format!("{alone} +OK"));
    black.say("%TORYO");
    black.until("#LOSE");
    host.passes(Duration::from_millis(10));
    hears(&mut watcher, &["%TORYO", "+OK"]);
    assert_eq!(answer(&mut watcher, "%%LIST", "##[LIST] +OK"), [""; 0]);
}

#[test]
fn a_buoy_has_the_moves_that_it_was_set_or_forked_with_and_is_its_owners_alone() {
    let host = Host::start(ServeConfig::default());
    let (mut black, mut white) = game(&host, "t-600-10");
    black.say("+7776FU");
    white.until("+7776FU,T0");
    white.say("-3334FU");
    white.hears(&["-3334FU,T0"]);
    host.passes(Duration::ZERO);
    let [mut owner, mut other] = ["owner", "other"].map(|name| host.connect().login_x1(name, "secret"));
    let id = id(&mut owner);
    let forked = |name: &str| [format!("##[FORK]: new buoy game name: {name}"), "##[FORK] +OK".to_owned()];
    assert_eq!(answer(&mut owner, &format!("%%FORK {id}"), "##[SETBUOY] +OK"), forked("buoy_t_1-600-10"));
    let fork = format!("%%FORK {id} buoy_own-60-0 2");
    assert_eq!(answer(&mut owner, &fork, "##[SETBUOY] +OK"), forked("buoy_own-60-0"));
    let set = "%%SETBUOY buoy_timed-60-0 +7776FU,T12-3334FU,T0 10000";
    assert_eq!(answer(&mut owner, set, "##[SETBUOY] +OK"), [""; 0]);
    for (command, why) in [
        (format!("%%FORK {id} buoy_more-60-0 3"), "number of moves to fork is out of range: 2."),
        (format!("%%FORK {id} buoy_more-60-0 0"), "number of moves to fork is out of range: 2."),
        ("%%FORK nothing".to_owned(), "wrong source game name: nothing"),
        (format!("%%FORK {id}"), "duplicated buoy game name: buoy_t_1-600-10"),
        ("%%SETBUOY t-60-0 +7776FU".to_owned(), "wrong buoy game name: t-60-0"),
        ("%%SETBUOY buoy_z-60-0 +7776FU 0".to_owned(), "invalid count: 0"),
        (
            "%%SETBUOY buoy_z-60-0 +7776FU 10001".to_owned(),
            "invalid count: 10001; a buoy is good for 10000 games at most",
        ),
        ("%%SETBUOY buoy_z-60-0 +7775FU".to_owned(), "wrong moves: +7775FU"),
        ("%%SETBUOY buoy_z-60-0 +7776FU-3334".to_owned(), "wrong moves: +7776FU-3334"),
        ("%%DELETEBUOY buoy_none-60-0".to_owned(), "buoy game not found: buoy_none-60-0"),
    ] {
        assert_eq!(refusal(&mut owner, &command), why, "{command}");
    }
    let foreign = "you are not allowed to delete a buoy game that you did not set: buoy_own-60-0";
    assert_eq!(refusal(&mut other, "%%DELETEBUOY buoy_own-60-0"), foreign);
    owner.say("%%DELETEBUOY buoy_own-60-0");
    owner.hears(&["##[DELETEBUOY] +OK"]);
    let mut counts = |names: [&str; 3]| {
        names.map(|name| {
            let count = answer(&mut owner, &format!("%%GETBUOYCOUNT {name}"), "##[GETBUOYCOUNT] +OK");
            count[0].strip_prefix("##[GETBUOYCOUNT] ").unwrap().to_owned()
        })
    };
    let names = ["buoy_t_1-600-10", "buoy_own-60-0", "buoy_timed-60-0"];
    assert_eq!(counts(names), ["1", "-1", "10000"]);
    let mut players = [("a", "B"), ("b", "W")]
        .map(|(name, color)| host.connect().login(name, &format!("buoy_t_1-600-10-{color},t")));
    for player in &mut players {
        player.until("+7776FU,T0");
        player.hears(&["END Position"]);
    }
    assert_eq!(counts(names), ["-1", "-1", "10000"], "it was good for one game");
}
