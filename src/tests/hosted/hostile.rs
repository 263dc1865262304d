//! A tournament with an engine and a network player that misbehave in every game, each time otherwise: its results are
//! those that the honest entrants played for.

use super::{Guest, Hosted, first_legal, support::Desk};
use crate::support::program;
use std::{
    collections::BTreeMap,
    os::unix::fs::PermissionsExt,
    thread::{self, JoinHandle},
    time::Duration,
};

/// Main time of the honest entrants, in ms; they have nothing else.
const HONEST_MS: i64 = 60_000;
/// What the engine does in its games, one after the other. It loses every one.
const MISDEEDS: &str = "flood nopiece crash late win longline ignorestdin garbage";
/// Endings that the honest entrants can come to among themselves.
const HONEST_ENDINGS: [&str; 5] = ["max-moves", "mate", "resignation", "sennichite", "perpetual-check"];

/// A game as a client of it saw it.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    /// Moves in the CSA format with the seconds that were told, those of both players.
    moves: Vec<String>,
    result: String,
}

/// A command that is the puppet, in another mode in each of its games.
fn mischief(desk: &Desk) -> String {
    let (count, puppet) = (desk.path("count"), program("renmei-puppet"));
    let script = format!(
        "#!/bin/sh\nn=$(cat {count:?} 2>/dev/null || echo 0)\necho $((n + 1)) > {count:?}\n\
         set -- {MISDEEDS}\nshift $((n % 8))\n\
         exec {puppet:?} --mode \"$1\" --ply 3 --delay 4000 --seed \"$n\"\n"
    );
    let file = desk.write("mischief", &script);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    file.display().to_string()
}

fn tournament(desk: &Desk) -> String {
    let (random, mischief) = (program("renmei-random"), mischief(desk));
    format!(
        r#"
[event]
name = "cup"
format = "round-robin"
games = 2
look = false
fault_limit = "off"

[serve]
wait = 60
grace = 1

[rules]
max_moves = 40

[time]
main = "{HONEST_MS}ms"

[[engines]]
name = "alpha"
command = {random:?}

[[engines]]
name = "bravo"
command = {random:?}
options = {{ Seed = 2 }}

[[engines]]
name = "mischief"
command = {mischief:?}
restart = "every-game"
time.main = "1s"

[[engines]]
name = "kawa"
remote = true

[[engines]]
name = "troll"
remote = true
time.main = "1s"
"#
    )
}

/// Plays every game with the first legal move, and notes it under its Game_ID.
fn honest(mut guest: Guest) -> JoinHandle<BTreeMap<String, Seen>> {
    guest.say("LOGIN kawa secret x1");
    thread::spawn(move || {
        let (mut games, mut id, mut own, mut moves) =
            (BTreeMap::<String, Seen>::new(), String::new(), '+', vec![]);
        while let Some(line) = guest.line() {
            if let Some(named) = line.strip_prefix("Game_ID:") {
                id = named.to_owned();
            } else if line.starts_with("Your_Turn:") {
                own = line.chars().last().unwrap();
            } else if line == "END Game_Summary" {
                moves.clear();
                guest.say("AGREE");
            } else if line.starts_with("START:") && own == '+' {
                guest.say(&first_legal(&moves));
            } else if line.starts_with(['+', '-']) && line.contains(",T") {
                moves.push(line[..7].to_owned());
                games.entry(id.clone()).or_default().moves.push(line.clone());
                if !line.starts_with(own) {
                    guest.say(&first_legal(&moves));
                }
            } else if ["#WIN", "#LOSE", "#DRAW", "#CENSORED"].contains(&line.as_str()) {
                games.entry(id.clone()).or_default().result = line;
            }
        }
        games
    })
}

/// Misbehaves in each game otherwise, until nobody listens any more.
fn troll(address: String) -> JoinHandle<()> {
    thread::spawn(move || {
        let mut games = 0;
        while let Some(guest) = Guest::to(&address) {
            misbehave(guest, &mut games);
            thread::sleep(Duration::from_millis(50));
        }
    })
}

/// Returns when the connection has ended.
fn misbehave(mut guest: Guest, games: &mut usize) {
    guest.say("LOGIN troll secret x1");
    let (mut own, mut seen) = ('+', 0);
    while let Some(line) = guest.line() {
        match line.as_str() {
            "END Game_Summary" => {
                guest.say("AGREE cup+nobodys+game+of+another");
                guest.say("AGREE");
            }
            _ if line.starts_with("Your_Turn:") => own = line.chars().last().unwrap(),
            _ if line.starts_with("START:") => {
                (*games, seen) = (*games + 1, 0);
                if own == '+' {
                    guest.say("+7776FU");
                }
            }
            _ if line.starts_with(['+', '-']) && line.contains(",T") => {
                seen += 1;
                let last = if own == '+' { 2 } else { 1 };
                if !line.starts_with(own) && seen == last && !misdeed(&mut guest, own, *games) {
                    return;
                }
            }
            _ => {}
        }
    }
}

/// Does what it does in that game instead of a move; false: it drops the connection.
fn misdeed(guest: &mut Guest, own: char, game: usize) -> bool {
    match game % 8 {
        // Its flag falls.
        0 => {}
        1 => guest.say(&format!("{}%TORYO", "%%WHO\nx\n%%CHAT a\n%%LIST\n".repeat(300))),
        2 => guest.say(&format!("{own}0055FU")),
        3 => guest.say("%KACHI"),
        4 => return false,
        5 => guest.say(&format!("{own}5958OU\n{own}5859OU\n-3334FU\n+2726FU\n%CHUDAN\n{own}9999OU")),
        6 => guest.say(&format!("REJECT\n{}{own}1155KY", "\0".repeat(8100))),
        _ => guest.say("LOGOUT"),
    }
    true
}

#[test]
fn a_tournament_with_a_hostile_engine_and_a_hostile_client_ends_with_honest_results() {
    let desk = Desk::new();
    let mut hosted = Hosted::start(&desk, &tournament(&desk));
    let (kawa, troll) = (honest(hosted.connect()), troll(hosted.address.clone()));
    assert!(hosted.ends_well(), "the event ends with 0");
    let seen = kawa.join().unwrap();
    troll.join().unwrap();
    every_game_is_there_once(&desk);
    honest_entrants_beat_the_others_and_lose_nothing_by_them(&desk);
    what_a_client_saw_is_what_is_kept(&desk, &seen);
    clocks_of_honest_entrants_were_charged_what_was_told(&desk);
    standings_are_those_of_the_games(&desk);
}

fn every_game_is_there_once(desk: &Desk) {
    let counted =
        "SELECT count(*), count(DISTINCT black || ' ' || white) FROM game_list WHERE state = 'counted'";
    assert_eq!(desk.query(counted), [["20", "20"]]);
    assert_eq!(desk.query("SELECT count(*) FROM games WHERE state = 'running'"), [["0"]]);
}

fn honest_entrants_beat_the_others_and_lose_nothing_by_them(desk: &Desk) {
    let is_hostile = |name: &String| ["mischief", "troll"].contains(&name.as_str());
    let games = desk.query("SELECT black, white, result, cause FROM game_list WHERE state = 'counted'");
    for game in &games {
        let [black, white, result, cause] = &game[..] else { panic!("{game:?}") };
        match (is_hostile(black), is_hostile(white)) {
            (false, false) => assert!(HONEST_ENDINGS.contains(&cause.as_str()), "{game:?}"),
            (true, false) => assert_eq!(result, "white", "{game:?}"),
            (false, true) => assert_eq!(result, "black", "{game:?}"),
            (true, true) => {}
        }
    }
    for cause in ["time", "illegal-move", "disconnection", "illegal-declaration"] {
        assert!(games.iter().any(|game| game[3].starts_with(cause)), "nothing ended by {cause}: {games:?}");
    }
}

fn what_a_client_saw_is_what_is_kept(desk: &Desk, seen: &BTreeMap<String, Seen>) {
    let kept = desk.query(
        "SELECT n.name, iif(l.black = 'kawa', 'black', 'white'), l.result, l.plies
         FROM game_list l JOIN games g ON g.id = l.game
         JOIN game_names n ON n.event = g.event AND n.number = g.number
         WHERE l.state = 'counted' AND 'kawa' IN (l.black, l.white)",
    );
    assert_eq!(kept.len(), 8);
    for game in kept {
        let told = &seen[&game[0]];
        let expected = match game[2].as_str() {
            "draw" => ["#DRAW", "#CENSORED"],
            winner if winner == game[1] => ["#WIN"; 2],
            _ => ["#LOSE"; 2],
        };
        assert!(expected.contains(&told.result.as_str()), "{game:?}, and was told {told:?}");
        assert_eq!(told.moves.len().to_string(), game[3], "{game:?}: {told:?}");
    }
}

fn clocks_of_honest_entrants_were_charged_what_was_told(desk: &Desk) {
    let wrong = desk.query(&format!(
        "SELECT player, game, ply, left_ms, charged_ms FROM (
             SELECT l.player, m.game, m.ply, m.left_ms, m.charged_ms, m.elapsed_us,
                    sum(m.charged_ms) OVER (PARTITION BY m.game, m.color ORDER BY m.ply) AS spent
             FROM moves m JOIN move_list l USING (game, ply) WHERE l.player IN ('alpha', 'bravo', 'kawa'))
         WHERE left_ms <> {HONEST_MS} - spent OR charged_ms > elapsed_us / 1000"
    ));
    assert!(wrong.is_empty(), "{wrong:?}");
}

fn standings_are_those_of_the_games(desk: &Desk) {
    let standings = desk.query("SELECT player, wins, losses, draws FROM standings ORDER BY player");
    let counted = desk.query(
        "SELECT name, sum(won), sum(lost), count(*) - sum(won) - sum(lost) FROM (
             SELECT black AS name, result = 'black' AS won, result = 'white' AS lost FROM game_list WHERE state = 'counted'
             UNION ALL
             SELECT white, result = 'white', result = 'black' FROM game_list WHERE state = 'counted')
         GROUP BY name ORDER BY name",
    );
    assert_eq!(standings, counted);
    assert_eq!(standings.len(), 5);
}
