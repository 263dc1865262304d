//! Attacks by players: each thread plays both sides of its games.

use super::{
    attack::{Target, address},
    client::{self, Client, resign},
    games::moves,
};
use anyhow::Result;
use std::{thread, time::Duration};

/// How long a line is waited for.
const PATIENCE: Duration = Duration::from_secs(2);
/// Pause after a refusal or a fault.
const PAUSE: Duration = Duration::from_millis(100);
/// Plies of a game of self-play.
const PLIES: usize = 30;

/// One game of a thread's two players, from the offer on.
pub type Game = fn(&Target<'_>, &mut [Client; 2], usize) -> Result<()>;

/// Plays games against itself, from an address of its own, until the attack is over.
pub fn play(target: &Target<'_>, name: (&str, usize), game: Game) {
    let mut number = 0;
    while target.stands() {
        // A refusal or a fault ends the two logins; both come again.
        let _refused = keep_playing(target, name, &mut number, game);
        thread::sleep(PAUSE);
    }
}

fn keep_playing(
    target: &Target<'_>,
    (name, thread): (&str, usize),
    number: &mut usize,
    game: Game,
) -> Result<()> {
    let from = address(100 + thread);
    let login = |side: &str| Client::enter(from, target.address, &format!("{name}{side}{thread}"), PATIENCE);
    let mut players = [login("black")?, login("white")?];
    while target.stands() {
        *number += 1;
        for (player, color) in players.iter_mut().zip(["+", "-"]) {
            player.say(&format!("%%GAME {name}{thread}-600-10 {color}"))?;
        }
        game(target, &mut players, *number)?;
        target.hit();
    }
    Ok(())
}

/// Plays against itself with long lines of junk and long comments around every move, to fill the disk.
pub fn self_play(target: &Target<'_>, players: &mut [Client; 2], _: usize) -> Result<()> {
    client::agree(players)?;
    let (junk, comment) = ("x".repeat(8000), "+7776FU -3334FU ".repeat(200));
    for (ply, mv) in moves().take(PLIES).enumerate() {
        if !target.stands() {
            break;
        }
        players[1 - ply % 2].say(&junk)?;
        players[ply % 2].say(&format!("{junk}\n{mv},'* 30 {comment}"))?;
        for player in &mut *players {
            player.until(&mv)?;
        }
    }
    resign(players, 0)
}

/// Sends blank lines before each of black's moves, more than a connection may send in a second, and notes how long the
/// turn was beyond what was charged: from the arrival of white's move to that of black's.
pub fn stall(target: &Target<'_>, players: &mut [Client; 2], _: usize) -> Result<()> {
    let lines = "\n".repeat(110);
    let (_, mut began) = client::agree(players)?;
    for (ply, mv) in moves().take(PLIES).enumerate() {
        if !target.stands() {
            break;
        }
        let mover = ply % 2;
        players[mover].say(&format!("{}{mv}", if mover == 0 { &lines } else { "" }))?;
        let (message, arrived) = players[1 - mover].until(&mv)?;
        if mover == 0 {
            let charged = message.rsplit_once(",T").and_then(|(_, time)| time.parse().ok()).unwrap_or(0);
            let took = u64::try_from(arrived.saturating_sub(began).as_millis()).unwrap_or(u64::MAX);
            target.gained(took.saturating_sub(charged));
        } else {
            began = arrived;
        }
        players[mover].until(&mv)?;
        target.hit();
    }
    resign(players, 0)
}

/// Answers an offer with the ids of other games, and rejects it in the end.
pub fn agree(_: &Target<'_>, players: &mut [Client; 2], number: usize) -> Result<()> {
    for player in &mut *players {
        player.offered()?;
    }
    let others = format!("siege{0}-3600-0+black{0}+white{0}+20260101000000", number % 20);
    players[0]
        .say(&format!("AGREE siege+{others}\nREJECT siege+{others}\nAGREE x\nREJECT {}", "x".repeat(4000)))?;
    players[1].say(&format!("REJECT siege+{others}"))?;
    for player in players {
        player.say("REJECT")?;
        player.until("REJECT:")?;
    }
    thread::sleep(PAUSE / 5);
    Ok(())
}

/// Sends all moves of a game in one packet, those of the opponent too, and gives up in the opponent's turn.
pub fn premoves(_: &Target<'_>, players: &mut [Client; 2], _: usize) -> Result<()> {
    client::agree(players)?;
    let all: Vec<String> = moves().take(150).collect();
    players[1].say(&all.join("\n"))?;
    players[0].say(&format!("{}\n%TORYO\n%KACHI\n%CHUDAN", all.join("\n")))?;
    players[1].say("%TORYO\n%KACHI")?;
    for player in players {
        loop {
            let (line, _) = player.line()?;
            if ["#WIN", "#LOSE", "#DRAW", "#CENSORED", "#CHUDAN"].contains(&line.as_str()) {
                break;
            }
        }
    }
    thread::sleep(PAUSE / 5);
    Ok(())
}
