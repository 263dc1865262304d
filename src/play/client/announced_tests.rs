//! Summaries of every kind of server.

use super::*;
use plan::Environment;

const SUMMARY: &str = "BEGIN Game_Summary
Protocol_Version:1.2
Protocol_Mode:Server
Format:Shogi 1.0
Declaration:Jishogi 1.1
Game_ID:test+GAME+alice+bob+20261121055505
Name+:alice
Name-:bob
Your_Turn:-
Rematch_On_Draw:NO
To_Move:+
Max_Moves:256
TIMES
BEGIN Position
PI
+
MOVES
END Position
END Game_Summary
";
const TIME: &str = "BEGIN Time
Time_Unit:1sec
Total_Time:600
Byoyomi:10
Increment:0
Least_Time_Per_Move:0
END Time";

fn config() -> ClientConfig {
    let text =
        "[floodgate]\nhost = \"h\"\nlogin = \"bob\"\npassword = \"a-1-1,x\"\n[engine]\ncommand = \"sh\"\n";
    let environment = Environment { base: "/".into(), search: vec!["/bin".into()], cores: 1 };
    ClientConfig::parse(text, None, &environment).unwrap()
}

fn announced(game: &str, times: &str, moves: &[&str]) -> Result<Announced, CannotPlay> {
    let text = SUMMARY
        .replace("GAME", game)
        .replace("TIMES", times)
        .replace("MOVES\n", &{ moves.iter().map(|mv| format!("{mv}\n")).collect::<String>() });
    Announced::read(&text.parse().unwrap(), "bob", &config())
}

fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

#[test]
fn times_without_end_are_a_clock_that_can_be_counted() {
    let endless = format!(
        "BEGIN Time\nTime_Unit:{}min\nTotal_Time:{m}\nIncrement:{m}\nEND Time",
        u32::MAX,
        m = u64::MAX
    );
    let game = announced("t-600-10", &endless, &["+7776FU,T1", "-3334FU,T18446744073709551615"]).unwrap();
    assert_eq!(game.times[0].main, LONGEST);
    assert!(game.left.iter().all(|left| *left <= 2 * LONGEST), "{:?}", game.left);
}

#[test]
fn the_clocks_are_counted_in_the_servers_units() {
    let game = announced("t-600-10", TIME, &[]).unwrap();
    assert_eq!((game.color, game.times[0].main, game.times[0].byoyomi), (Color::White, secs(600), secs(10)));
    assert_eq!((game.left, game.count.unit), ([secs(600); 2], secs(1)));
    let msec = TIME.replace("1sec", "100msec");
    let game = announced("t-600-10", &msec, &[]).unwrap();
    assert_eq!((game.times[0].main, game.count.unit), (secs(60), Duration::from_millis(100)));
    let min = TIME.replace("1sec", "1min");
    assert_eq!(announced("t-600-10", &min, &[]).unwrap().times[0].main, secs(36_000));
    assert_eq!(announced("t-600-010", &min, &[]).unwrap().times[0].main, secs(600), "a stop-watch game");
    let watch = announced("sw-600-010", &min, &[]).unwrap().times[0];
    assert_eq!((watch.accounting, watch.byoyomi), (Accounting::StopWatch, secs(10)));
}

#[test]
fn each_side_may_have_a_clock_of_its_own() {
    let block = |side: char, total: u32| {
        format!("BEGIN Time{side}\nTime_Unit:1sec\nTotal_Time:{total}\nIncrement:5\nEND Time{side}")
    };
    let game = announced("t-1-1", &format!("{}\n{}", block('+', 60), block('-', 30)), &[]).unwrap();
    assert_eq!(game.left, [secs(60), secs(30)]);
    assert_eq!(game.times[1].increment, secs(5));
}

#[test]
fn a_game_that_goes_on_has_used_up_what_its_moves_took() {
    let game = announced("t-600-10", TIME, &["+7776FU,T12", "-3334FU,T30"]).unwrap();
    assert_eq!((game.opening.len(), game.left), (2, [secs(588), secs(570)]));
}

#[test]
fn the_seconds_of_a_summary_count_units_and_with_decimals_they_are_seconds() {
    let game = announced("t-600-10", TIME, &["+7776FU,T3.5", "-3334FU,T30"]).unwrap();
    assert_eq!(game.opening_times, [Some(Duration::from_millis(3500)), Some(secs(30))]);
    assert_eq!(game.left, [Duration::from_millis(596_500), secs(570)]);
    let msec = TIME.replace("1sec", "1msec").replace("600", "600000");
    let game = announced("t-600-10", &msec, &["+7776FU,T250", "-3334FU,T3.5,'* 20"]).unwrap();
    assert_eq!(game.left, [Duration::from_millis(599_750), Duration::from_millis(596_500)]);
}

#[test]
fn moves_of_a_buoy_took_no_time_whatever_is_said_of_them() {
    let game = announced("buoy_x-600-10", TIME, &["+7776FU,T1", "-3334FU,T1"]).unwrap();
    assert_eq!((game.opening.len(), game.left), (2, [secs(600); 2]));
    assert_eq!(game.opening_times, [None; 2]);
    let fork = announced("buoy_x-600-10", TIME, &["+7776FU,T1", "-3334FU,T9"]).unwrap();
    assert_eq!(fork.left, [secs(600); 2], "a fork starts with all its time too");
}

#[test]
fn an_opening_that_was_set_up_earns_no_increment() {
    let time =
        &TIME.replace("600", "20").replace("Byoyomi:10", "Byoyomi:0").replace("Increment:0", "Increment:1");
    let opening = ["+7776FU,T0", "-3334FU,T0"];
    assert_eq!(announced("l-20-1F", time, &opening).unwrap().left, [secs(20); 2]);
    let resumed = [&opening[..], &["+2726FU,T3", "-8384FU,T0"]].concat();
    assert_eq!(announced("l-20-1F", time, &resumed).unwrap().left, [secs(18), secs(21)]);
}

#[test]
fn a_game_without_clocks_is_thought_about_for_a_fixed_time() {
    assert_eq!(announced("t-0-0", "", &[]).unwrap().times[1].fixed, Some(secs(10)));
}

#[test]
fn a_summary_with_an_illegal_move_is_refused() {
    let refused = announced("t-600-10", TIME, &["+7776FU,T1", "-7776FU,T1"]).unwrap_err();
    assert_eq!(refused, CannotPlay::Move(2, "-7776FU".to_owned()));
}
