//! Rounds by the clock. The pairings depend on chance, so every player logs in, sends the lines of its side of a
//! recorded game, and compares what it receives with those recorded.

use super::{
    client::{Client, Host, SetAtEnd},
    script::{Line, Step},
    transcripts::{masked, untimed},
};
use plan::serve::Compat;
use plan::serve::RoundsConfig;
use plan::serve::ServeConfig;
use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};
use testing::conversation::{self, Conversation};

const PLAYERS: [&str; 5] = ["eng1", "eng2", "eng3", "eng4", "joe_human"];
const GAME: &str = "floodgate-300-10F";
/// Number of rounds to check; each must have two games and a bye, so that no player was late for it.
const ROUNDS: usize = 3;
use testing::PATIENCE;

/// Lines of both sides of a recorded game.
struct Recorded {
    sides: [Vec<Step>; 2],
    names: [&'static str; 2],
    game: &'static str,
}

impl Recorded {
    /// The first game of the two connections, whose players have these names.
    fn read(
        recorded: &Conversation,
        connections: [&str; 2],
        names: [&'static str; 2],
        game: &'static str,
    ) -> Self {
        let sides = connections.map(|who| {
            let own = recorded.of(who).map(|line: &Line| line.step.clone());
            let game = own.skip_while(|step| *step != Step::Heard("BEGIN Game_Summary".to_owned()));
            let over = |step: &Step| matches!(step, Step::ServerCloses | Step::ClientCloses);
            game.take_while(|step| !over(step)).collect()
        });
        Self { sides, names, game }
    }

    /// A recorded line with the names of other players.
    fn of(&self, line: &str, players: &[String; 2]) -> String {
        let line = line.replace(self.game, GAME).replace(self.names[0], "\u{1}");
        let line = line.replace(self.names[1], "\u{2}");
        line.replace('\u{1}', &players[0]).replace('\u{2}', &players[1])
    }

    /// Plays one game from its summary on.
    fn play(&self, player: &mut Client) {
        let mut summary = vec![];
        while summary.last().is_none_or(|line| line != "END Game_Summary") {
            summary.push(player.line().unwrap());
        }
        let value = |key: &str| summary.iter().find_map(|line| line.strip_prefix(key)).unwrap().to_owned();
        let players = [value("Name+:"), value("Name-:")];
        let side = usize::from(value("Your_Turn:") == "-");
        let mut pending = summary.into_iter();
        for step in &self.sides[side] {
            match step {
                Step::Said(line) => player.say(line),
                Step::Heard(line) => {
                    let heard = pending.next().unwrap_or_else(|| player.line().unwrap());
                    let (heard, recorded) = (masked(&heard), masked(&self.of(line, &players)));
                    assert_eq!(untimed(&heard).0, untimed(&recorded).0);
                }
                step => panic!("{step:?} within a game"),
            }
        }
    }
}

/// One player: logs in as recorded, plays every game it is called to and logs in again, until `over`.
fn attend(host: &Host, name: &str, recorded: &Recorded, over: &AtomicBool) {
    let extended = name == "eng3";
    let mut player = host.connect();
    for game in 0.. {
        if !extended {
            player.say(&format!("LOGIN {name} {GAME},trip{name}"));
            player.hears(&[&format!("LOGIN:{name} OK")]);
        } else if game == 0 {
            player.say(&format!("LOGIN {name} trip{name} x1"));
            player.hears(&[&format!("LOGIN:{name} OK"), "##[LOGIN] +OK x1"]);
        }
        if extended {
            player.say(&format!("%%GAME {GAME} *"));
        }
        while !player.hears_within(Duration::from_millis(100)) {
            if over.load(Ordering::Relaxed) {
                return;
            }
        }
        recorded.play(&mut player);
        if !extended {
            assert_eq!(player.line(), None, "CSA mode ends with the game");
            player = host.connect();
        }
    }
}

/// A round: the pairs of players who met, and the player with the bye.
#[derive(Debug, PartialEq)]
struct Round {
    meetings: Vec<[u32; 2]>,
    bye: String,
}

/// The last rounds in the database, if no player was late for them and their games are over.
fn full_rounds(database: &std::path::Path) -> Option<Vec<Round>> {
    let stored = rusqlite::Connection::open(database).ok()?;
    // The host may not have created its tables yet.
    let mut rounds = stored
        .prepare(
            "SELECT group_concat(black || ' ' || white, ' '), sum(result IS NOT NULL),
                    (SELECT group_concat(player) FROM byes WHERE byes.round = games.round)
             FROM games GROUP BY round ORDER BY round DESC LIMIT ?",
        )
        .ok()?;
    let read = |row: &rusqlite::Row| -> rusqlite::Result<_> {
        let players: Vec<u32> =
            row.get::<_, String>(0)?.split(' ').map(|player| player.parse().unwrap()).collect();
        let meetings = players.chunks(2).map(|two| [two[0].min(two[1]), two[0].max(two[1])]).collect();
        let bye: Option<String> = row.get(2)?;
        Ok((row.get::<_, u32>(1)?, bye.map(|bye| Round { meetings, bye })))
    };
    let rounds: Vec<_> = rounds.query_map([i64::try_from(ROUNDS).unwrap()], read).ok()?.flatten().collect();
    let full: Option<Vec<Round>> = rounds
        .into_iter()
        .map(|(over, round)| round.filter(|round| over == 2 && round.meetings.len() == 2))
        .collect();
    full.filter(|full| full.len() == ROUNDS)
}

/// Plays rounds of five players until enough full rounds follow each other.
fn three_rounds(recorded: &Recorded, event: &str) -> Vec<Round> {
    let mut config = ServeConfig { compat: Compat::ShogiServer, max_moves: 512, ..ServeConfig::default() };
    config.name = event.to_owned();
    config.rounds = vec![RoundsConfig {
        timezone: 0,
        game: GAME.to_owned(),
        every: Some(Duration::from_secs(2)),
        minutes: vec![],
        hours: vec![],
        pairing: Default::default(),
    }];
    let host = Host::start(config);
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _over = SetAtEnd(&over);
        for name in PLAYERS {
            let (host, over) = (&host, &over);
            scope.spawn(move || attend(host, name, recorded, over));
        }
        let (database, patience) = (host.dir().join("league.db"), Instant::now() + PATIENCE);
        let rounds = loop {
            match full_rounds(&database) {
                None if Instant::now() < patience => std::thread::sleep(Duration::from_millis(50)),
                rounds => break rounds,
            }
        };
        rounds.expect("three full rounds in a row")
    })
}

fn are_paired_anew(rounds: &[Round]) {
    for two in rounds.windows(2) {
        assert_ne!(two[0].bye, two[1].bye, "the same player has a bye twice in a row: {rounds:?}");
        let again = two[1].meetings.iter().any(|pair| two[0].meetings.contains(pair));
        assert!(!again, "two players meet in two rounds in a row: {rounds:?}");
    }
}

#[test]
fn rounds_match_the_golden_game_with_alternating_byes_and_no_rematch() {
    let golden = Conversation::load(&testing::file("conversations/fischer.txt"));
    let recorded = Recorded::read(&golden, ["A", "B"], ["kuma", "tanuki"], "sente-300-10F");
    are_paired_anew(&three_rounds(&recorded, "golden"));
}

mod oracles {
    use super::*;

    #[test]
    #[ignore = "needs the oracles in ../shared/protocol/transcripts: recordings of floodgate's server"]
    fn rounds_match_the_recording_with_alternating_byes_and_no_rematch() {
        let oracle = conversation::oracle().into_iter().find(|one| one.name.starts_with("23_")).unwrap();
        let names = ["joe_human", "eng4"];
        let recorded = Recorded::read(&oracle, names, names, GAME);
        assert_eq!(recorded.sides.each_ref().map(|side| side.len() > 30), [true; 2]);
        are_paired_anew(&three_rounds(&recorded, "wdoor"));
    }
}
