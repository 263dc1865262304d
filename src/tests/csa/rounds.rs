//! Rounds by the clock: the recorded ones of floodgate, where who meets whom and with which colours is up to the pairing
//! of the day. Every player logs in and says what was recorded of its side, and hears what was recorded.

use super::{
    client::{Client, Host},
    script::{Line, Step, read},
    transcripts::{masked, untimed},
};
use plan::serve::Compat;
use plan::serve::RoundsConfig;
use plan::serve::ServeConfig;
use std::{path::Path, sync::Mutex, time::Duration};

const PLAYERS: [&str; 5] = ["eng1", "eng2", "eng3", "eng4", "joe_human"];
const GAMES: usize = 6;

/// What the sides said and heard in the first recorded game, and their names in it.
struct Recorded {
    sides: [Vec<Step>; 2],
    names: [&'static str; 2],
}

impl Recorded {
    fn read(script: &[Line]) -> Self {
        let names = ["joe_human", "eng4"];
        let sides = names.map(|name| {
            let own = script.iter().filter(|line| line.who == name).map(|line| line.step.clone());
            let game = own.skip_while(|step| *step != Step::Heard("BEGIN Game_Summary".to_owned()));
            let over = |step: &Step| matches!(step, Step::ServerCloses | Step::ClientCloses);
            game.take_while(|step| !over(step)).collect()
        });
        Self { sides, names }
    }

    /// A recorded line with other players in it.
    fn of(&self, line: &str, players: &[String; 2]) -> String {
        let line = line.replace(self.names[0], "\u{1}").replace(self.names[1], "\u{2}");
        line.replace('\u{1}', &players[0]).replace('\u{2}', &players[1])
    }

    /// Plays one game from its summary on; the players.
    fn play(&self, player: &mut Client) -> [String; 2] {
        let mut summary = vec![];
        while summary.last().is_none_or(|line| line != "END Game_Summary") {
            summary.push(player.line().unwrap());
        }
        let value = |key: &str| summary.iter().find_map(|line| line.strip_prefix(key)).unwrap().to_owned();
        let players = [value("Name+:"), value("Name-:")];
        let side = usize::from(value("Your_Turn:") == "-");
        let mut told = summary.into_iter();
        for step in &self.sides[side] {
            match step {
                Step::Said(line) => player.say(line),
                Step::Heard(line) => {
                    let heard = told.next().unwrap_or_else(|| player.line().unwrap());
                    let (heard, recorded) = (masked(&heard), masked(&self.of(line, &players)));
                    assert_eq!(untimed(&heard).0, untimed(&recorded).0);
                }
                step => panic!("{step:?} within a game"),
            }
        }
        players
    }
}

/// One player: enters as recorded, plays whenever it is called, and enters again.
fn attend(host: &Host, name: &str, recorded: &Recorded, games: &Mutex<Vec<[String; 2]>>) {
    let extended = name == "eng3";
    let mut player = host.connect();
    let mut logged_in = false;
    loop {
        if !extended {
            player.say(&format!("LOGIN {name} floodgate-300-10F,trip{name}"));
            player.hears(&[&format!("LOGIN:{name} OK")]);
        } else if !logged_in {
            logged_in = true;
            player.say(&format!("LOGIN {name} trip{name} x1"));
            player.hears(&[&format!("LOGIN:{name} OK"), "##[LOGIN] +OK x1"]);
        }
        if extended {
            player.say("%%GAME floodgate-300-10F *");
        }
        while !player.hears_within(Duration::from_millis(100)) {
            if games.lock().unwrap().len() == GAMES {
                return;
            }
        }
        let players = recorded.play(&mut player);
        if players[0] == name {
            games.lock().unwrap().push(players);
        }
        if !extended {
            assert_eq!(player.line(), None, "CSA mode ends with the game");
            player = host.connect();
        }
    }
}

#[test]
fn three_rounds_are_heard_as_recorded_with_a_bye_for_another_each_time_and_no_rematch() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/protocol/transcripts/23_floodgate_rounds.txt");
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("{} is absent: nothing is compared", path.display());
        return;
    };
    let recorded = Recorded::read(&read("23_", &text));
    assert_eq!(recorded.sides.each_ref().map(|side| side.len() > 30), [true; 2]);
    let mut config = ServeConfig { compat: Compat::ShogiServer, max_moves: 512, ..ServeConfig::default() };
    config.name = "wdoor".to_owned();
    config.rounds = vec![RoundsConfig {
        game: "floodgate-300-10F".to_owned(),
        every: Some("2s".to_owned()),
        minutes: vec![],
        hours: vec![],
        pairing: Default::default(),
    }];
    let mut host = Host::start(config);
    let games = Mutex::new(vec![]);
    std::thread::scope(|scope| {
        for name in PLAYERS {
            let (host, recorded, games) = (&host, &recorded, &games);
            scope.spawn(move || attend(host, name, recorded, games));
        }
    });
    let stored = host.end();
    let mut rounds = stored
        .prepare(
            "SELECT round, group_concat(black || ' ' || white, ' '),
                    (SELECT group_concat(player) FROM byes WHERE byes.round = games.round) FROM games GROUP BY round",
        )
        .unwrap();
    let rounds: Vec<(u32, String, String)> =
        rounds.query_map([], |row| row.try_into()).unwrap().map(Result::unwrap).collect();
    assert_eq!(rounds.len(), 3, "{rounds:?}");
    let meetings = |round: &str| -> Vec<[u32; 2]> {
        let players: Vec<u32> = round.split(' ').map(|player| player.parse().unwrap()).collect();
        players.chunks(2).map(|two| [two[0].min(two[1]), two[0].max(two[1])]).collect()
    };
    for two in rounds.windows(2) {
        assert_ne!(two[0].2, two[1].2, "the same player has no opponent twice in a row: {rounds:?}");
        let (before, after) = (meetings(&two[0].1), meetings(&two[1].1));
        assert_eq!((before.len(), after.len()), (2, 2), "{rounds:?}");
        assert!(after.iter().all(|pair| !before.contains(pair)), "{rounds:?}");
    }
}

#[test]
fn ratings_are_told_and_stored_as_games_end_and_strangers_without_a_trip_have_none() {
    let mut host = Host::start(ServeConfig::default());
    for loser in [0, 1, 1] {
        let (mut black, mut white) = super::game(&host, "t-600-10");
        if loser == 1 {
            black.say("+7776FU");
            white.hears(&["+7776FU,T0"]);
        }
        let losing = if loser == 0 { &mut black } else { &mut white };
        losing.say("%TORYO");
        losing.until("#LOSE");
        black.drain();
        white.drain();
    }
    let mut watcher = host.connect();
    watcher.say("LOGIN watcher x x1");
    watcher.hears(&["LOGIN:watcher OK", "##[LOGIN] +OK x1"]);
    let mut told: Vec<String> = vec![];
    // They are estimated after the last game, not before it is told.
    while told.len() < 2 || !told[0].contains("sente+") {
        told.clear();
        watcher.say("%%RATING");
        while let Some(line) = watcher.line().filter(|line| line != "##[RATING] +OK") {
            told.push(line);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(told[0].starts_with("##[RATING] sente+e358efa48 \t 10"), "{told:?}");
    assert!(told[1].starts_with("##[RATING] gote+e358efa48 \t  9"), "{told:?}");
    let query = "SELECT group_concat(player || ' ' || games || ' ' || (rating > 1000), ', ') FROM standings";
    let stored: String = host.end().query_row(query, [], |row| row.get(0)).unwrap();
    let short = stored.replace("+e358efa489f58062f10dd7316b65649e", "");
    assert_eq!(short, "sente 3 1, gote 3 0");
}
