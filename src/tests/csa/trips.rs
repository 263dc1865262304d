//! Players who are known by another form of their trip, in all that is made of a database.

use super::client::{Client, Host};
use journal::{Moves, Store};
use plan::serve::{Compat, ServeConfig};
use referee::entry::Entry;
use std::{path::Path, process::Command};

/// The line of a player in the answer to `%%WHO`.
fn who(asks: &mut Client, name: &str) -> String {
    asks.say("%%WHO");
    let mut found = None;
    loop {
        match asks.line().unwrap() {
            end if end == "##[WHO] +OK" => return found.expect("the player is logged in"),
            line => {
                found = line
                    .strip_prefix("##[WHO] ")
                    .filter(|line| line.starts_with(name))
                    .map(str::to_owned)
                    .or(found)
            }
        }
    }
}

/// The id in such a line.
fn id(asks: &mut Client, name: &str) -> String {
    who(asks, name).split(' ').next().unwrap().to_owned()
}

/// A league on a copy of a database.
fn league_on(database: &Path, config: ServeConfig) -> Host {
    Host::prepared(config, |path| assert!(std::fs::copy(database, path).unwrap() > 0))
}

/// The player `kawa` as shogi-server shows it.
const OLD_KAWA: &str = "kawa+0bbdf4a066ea111701fa0e768d868466";

/// A league whose players `kawa` and `mori` played three games with trips as shogi-server shows them.
fn old_league() -> Host {
    let mut before = Host::start(ServeConfig { compat: Compat::ShogiServer, ..ServeConfig::default() });
    for _ in 0..3 {
        resigned(&before, ("kawa", "kawa-secret"), ("mori", "mori-secret"));
    }
    drop(before.end());
    league_on(&before.dir().join("league.db"), ServeConfig::default())
}

/// Plays a game that black, `sente`, resigns at once.
fn resigned(host: &Host, sente: (&str, &str), gote: (&str, &str)) {
    let mut black = host.connect().login(sente.0, &format!("t-600-10-B,{}", sente.1));
    let mut white = host.connect().login(gote.0, &format!("t-600-10-W,{}", gote.1));
    for player in [&mut black, &mut white] {
        player.until("END Game_Summary");
        player.say("AGREE");
    }
    for player in [&mut black, &mut white] {
        assert!(player.line().unwrap().starts_with("START:"));
    }
    black.say("%TORYO");
    white.until("#WIN");
    black.until("#LOSE");
    assert!(black.is_let_go() && white.is_let_go());
}

#[test]
fn a_player_who_is_known_by_the_other_trip_is_renamed_once_and_keeps_games_and_rating() {
    let mut host = old_league();
    let shown = id(&mut host.connect().login_x1("kawa", "kawa-secret"), "kawa");
    resigned(&host, ("newcomer", "x"), ("kawa", "kawa-secret"));
    let db = host.end();
    let players: Vec<String> = {
        let mut names = db.prepare("SELECT name FROM players ORDER BY player").unwrap();
        names.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    assert_eq!(players.len(), 3, "{players:?}");
    assert_eq!(players[0], shown, "the number is kept, and with it games and ratings");
    assert!(players[1].starts_with("mori+870af296"), "who has not come is still known: {players:?}");
    let standing = "SELECT games, wins, draws, rating IS NOT NULL FROM standings WHERE player_id = 0";
    let standing: (u32, u32, u32, bool) = db.query_row(standing, [], |row| row.try_into()).unwrap();
    assert_eq!(standing, (4, 1, 0, true));
    drop(db);
    let file = host.dir().join("league.db");
    let mut again = league_on(&file, ServeConfig::default());
    resigned(&again, ("kawa", "kawa-secret"), ("newcomer", "x"));
    let db = again.end();
    let renamed: u32 = db.query_row("SELECT count(*) FROM renamed", [], |row| row.get(0)).unwrap();
    assert_eq!(renamed, 1);
    let games = "SELECT count(*) FROM game_list WHERE ?1 IN (black, white)";
    assert_eq!(db.query_row(games, [&shown], |row| row.get(0)), Ok(5));
    drop(db);
    replays_and_reports_know(&again.dir().join("league.db"), &shown);
}

/// Everything that is made of a database knows a player by this name, and by no former one.
fn replays_and_reports_know(file: &Path, shown: &str) {
    let store = Store::read(file).unwrap();
    let (event, mut names) = (store.events().unwrap()[0].id, vec![]);
    store
        .replay(event, Moves::Without, &mut |stamped| match &stamped.entry {
            Entry::Opened(opened) => names.clone_from(&opened.players),
            Entry::Entered { name, .. } if !names.contains(name) => names.push(name.clone()),
            Entry::Renamed { player, name } => names[player.index()].clone_from(name),
            _ => {}
        })
        .unwrap();
    assert_eq!(names[0], shown);
    for args in [&["report"][..], &["report", "--json"], &["export", "--format", "csa"], &["games"]] {
        let out = Command::new(env!("CARGO_BIN_EXE_renmei")).args(args).arg(file).output().unwrap();
        let text = String::from_utf8(out.stdout).unwrap();
        assert!(!text.contains(OLD_KAWA), "{args:?}: {text}");
        if args.contains(&"--json") {
            assert!(text.contains(shown), "{args:?}: {text}");
        }
    }
}
