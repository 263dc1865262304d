//! Summaries of every kind of server.

use super::*;
use plan::{
    Environment, Event,
    serve::{Counted, PlayerTime, ServeConfig},
};
use referee::clock::Clock;

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

/// Draws of a generator with a seed.
struct Draws(u64);

impl Draws {
    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        choices[(self.0 >> 33) as usize % choices.len()]
    }
}

/// A clock as a configuration has it, in thousandths of a millisecond.
#[derive(Clone, Copy, Debug)]
struct Written {
    main: u64,
    byoyomi: u64,
    increment: u64,
    delay: u64,
    fixed: bool,
}

impl Written {
    fn any(draws: &mut Draws) -> Self {
        let second = 1_000_000;
        let broken = draws.of(&[0, 0, 0, 0, 500_000, 1000, 1]);
        Self {
            main: draws.of(&[0, second, 10 * second, 60 * second + broken]),
            byoyomi: draws.of(&[0, 0, 2 * second, second + broken]),
            increment: draws.of(&[0, 0, second, 3 * second + broken]),
            delay: draws.of(&[0, 0, second, broken]),
            fixed: draws.of(&[false, false, false, true]),
        }
    }

    fn amounts(self) -> Vec<(&'static str, u64)> {
        let amounts = match self.fixed {
            true => vec![("fixed", self.main.max(self.byoyomi)), ("delay", self.delay)],
            false => {
                let Self { main, byoyomi, increment, delay, .. } = self;
                vec![("main", main), ("byoyomi", byoyomi), ("increment", increment), ("delay", delay)]
            }
        };
        amounts.into_iter().filter(|(_, amount)| *amount > 0).collect()
    }

    fn text(self) -> String {
        let part =
            |(key, micros): (&str, u64)| format!("{key} = \"{}.{:03}ms\"", micros / 1000, micros % 1000);
        format!("{{ {} }}", self.amounts().into_iter().map(part).collect::<Vec<_>>().join(", "))
    }

    /// All time of the first move but the delay.
    fn first(self) -> u64 {
        self.amounts().into_iter().filter(|(key, _)| *key != "delay").map(|(_, amount)| amount).sum()
    }
}

/// What a program reads that has only the announcement.
fn heard(serve: &ServeConfig, times: &[TimeControl; 2]) -> [TimeControl; 2] {
    let mut summary: Summary = SUMMARY.replace("TIMES\n", "").replace("MOVES\n", "").parse().unwrap();
    summary.times = serve.announced(times);
    let summary: Summary = summary.to_string().parse().unwrap();
    assert!(blocks(&summary.times).iter().all(|block| block.roundup != Some(true)), "fractions are dropped");
    Announced::read(&summary, "bob", &config()).unwrap().times
}

#[test]
fn every_clock_that_an_event_with_a_remote_player_accepts_is_announced_as_it_is_counted() {
    let (mut accepted, mut refused) = (0, 0);
    for seed in 0..400 {
        let mut draws = Draws(seed);
        let [black, white] = [(); 2].map(|()| Written::any(&mut draws));
        let least = draws.of(&[0, 0, 1_000_000, 2_000_000, 1500]);
        let unit = draws.of(&["sec", "msec"]);
        let text = format!(
            "[time]\nblack = {}\nwhite = {}\nleast = \"{}.{:03}ms\"\n[serve]\ntime_unit = \"{unit}\"\n\
             [[engines]]\nname = \"a\"\ncommand = \"sh\"\n[[engines]]\nname = \"b\"\nremote = true\n",
            black.text(),
            white.text(),
            least / 1000,
            least % 1000
        );
        let micros = if unit == "sec" { 1_000_000 } else { 1000 };
        let is_sound = |time: Written| {
            let is_whole = time.amounts().iter().all(|(_, amount)| amount.is_multiple_of(micros));
            let lasts = if unit == "sec" { least < time.first() } else { least <= time.first() };
            is_whole && lasts && time.first() > 0
        };
        let environment = Environment { base: "/".into(), search: vec!["/bin".into()], cores: 1 };
        let event = Event::parse(&text, None, &environment);
        let should = is_sound(black) && is_sound(white) && least.is_multiple_of(micros);
        assert_eq!(event.is_ok(), should, "{text}{:?}", event.err());
        let Ok(Event::Arranged { plan, serve: Some(serve) }) = event else {
            refused += 1;
            continue;
        };
        accepted += 1;
        let counted = Color::BOTH.map(|color| plan.engines[1].time_in(0, 1, color));
        let heard = heard(&serve, &counted);
        for (counted, heard) in counted.into_iter().zip(heard) {
            let [mut ours, mut theirs] =
                [counted, heard].map(|time| Clock::new(TimeControl { margin: Duration::ZERO, ..time }));
            for _ in 0..20 {
                let around =
                    [Duration::ZERO, counted.delay, ours.allowance(), ours.left(), secs(1), counted.least];
                let elapsed = (draws.of(&around)
                    + Duration::from_nanos(draws.of(&[0, 0, 1, 999_999, 400_000_000])))
                .saturating_sub(Duration::from_nanos(draws.of(&[0, 1, 900_000_000])));
                let charged = ours.charge(elapsed);
                assert_eq!(charged, theirs.charge(elapsed), "{elapsed:?} {ours:?} {theirs:?}\n{text}");
                assert_eq!(ours.left(), theirs.left(), "{text}");
            }
        }
    }
    assert!(accepted > 50 && refused > 50, "{accepted} accepted, {refused} refused");
}

#[test]
fn every_game_of_an_open_league_is_announced_as_it_is_counted() {
    for (unit, least) in [(Counted::Sec, 0), (Counted::Sec, 1), (Counted::Msec, 2)] {
        let own = PlayerTime { player: "b".to_owned(), total: 7, byoyomi: 3, increment: 0 };
        let serve =
            ServeConfig { time_unit: unit, least_time: least, time: vec![own], ..ServeConfig::default() };
        for game in ["t-600-10", "t-10-0", "t-0-5", "floodgate-300-10F", "t-20-3F"] {
            let times = ["a", "b"].map(|player| serve.clock(&game.parse().unwrap(), player, player));
            for (counted, heard) in times.into_iter().zip(heard(&serve, &times)) {
                let [mut ours, mut theirs] = [counted, heard].map(Clock::new);
                for ms in (0..40).map(|at| at * at * 17 % 4000 + 999 * (at % 3)) {
                    let elapsed = Duration::from_millis(ms);
                    assert_eq!(ours.charge(elapsed), theirs.charge(elapsed), "{game} {ms} ms {ours:?}");
                }
            }
        }
    }
}
