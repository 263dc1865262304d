//! Formats and policies in real events.

use crate::support::{Desk, program};
use serde_json::Value;

/// A configuration with `players` random movers.
fn config(desk: &Desk, event: &str, players: usize, engine: &str) -> String {
    let mut text = format!(
        "{event}\n[time]\nbyoyomi = '10s'\n[rules]\nmax_moves = 80\n[defaults]\ncommand = '{}'\n{engine}\n",
        program("renmei-random").display()
    );
    for n in 0..players {
        let style = if n % 2 == 0 { "greedy" } else { "uniform" };
        text += &format!("[[engines]]\nname = 'p{n}'\noptions = {{ Seed = {n}, Style = '{style}' }}\n");
    }
    desk.write("event.toml", &text).display().to_string()
}

fn run(desk: &Desk, file: &str) -> Value {
    let db = desk.db().display().to_string();
    let output = desk.renmei(&["run", file, "--db", &db, "--json", "--oversubscribe", "--concurrency", "3"]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_swiss_of_five_has_a_bye_in_every_round_and_at_most_one_per_player() {
    let desk = Desk::new();
    let file = config(&desk, "[event]\nname = 'swiss'\nformat = 'swiss'\nrounds = 4\ngames = 1", 5, "");
    let report = run(&desk, &file);
    assert_eq!(report["games"], 8);
    let byes = desk.query("SELECT round, player FROM byes ORDER BY round");
    let mut players: Vec<_> = byes.iter().map(|bye| &bye[1]).collect();
    players.sort();
    players.dedup();
    assert_eq!((byes.len(), players.len()), (4, 4));
    let rematches = desk.query(
        "SELECT count(*) FROM (SELECT min(black, white), max(black, white) FROM games GROUP BY 1, 2 HAVING count(*) > 1)",
    );
    assert_eq!(rematches[0][0], "0");
    let table = report["stages"][0]["table"].as_array().unwrap();
    assert!(
        table.iter().all(|row| row["tie_breaks"]["buchholz"].is_number()
            && row["tie_breaks"]["sonneborn-berger"].is_number())
    );
}

#[test]
fn a_swiss_and_a_final_have_one_winner() {
    let desk = Desk::new();
    let event = "[event]\nname = 'cup'\n[[stage]]\nformat = 'swiss'\nrounds = 3\ngames = 1\n\
                 [[stage]]\nformat = 'knock-out'\nentrants = 4\ngames = 2\ntie = 'more-games'\nextra_pairs = 1";
    let file = config(&desk, event, 6, "");
    let report = run(&desk, &file);
    let cup = report["stages"][1]["table"].as_array().unwrap();
    let rounds: Vec<_> = cup.iter().map(|row| row["round"].as_u64().unwrap()).collect();
    assert_eq!(rounds, [3, 2, 1, 1]);
    assert_eq!(report["standings"][0]["name"], cup[0]["name"], "the cup's winner leads the report");
}

#[test]
fn drawn_games_are_replayed_with_colours_swapped_if_configured() {
    let desk = Desk::new();
    let event = "[event]\nname = 'replay'\ngames = 2\nreplay_draws = 'swap'\nreplay_limit = 1";
    let file = config(&desk, event, 2, "");
    let text = std::fs::read_to_string(&file).unwrap().replace("max_moves = 80", "max_moves = 6");
    std::fs::write(&file, text).unwrap();
    let report = run(&desk, &file);
    assert_eq!(report["games"], 2);
    assert_eq!(report["uncounted"]["max-moves"], 2);
    let replays = desk.query("SELECT index_, attempt, black, state FROM games ORDER BY index_, attempt");
    for pair in replays.chunks(2) {
        assert_eq!((&*pair[0][3], &*pair[1][3]), ("replayed", "counted"));
        assert_ne!(pair[0][2], pair[1][2], "{replays:?}");
    }
}

#[test]
fn the_colour_with_less_time_loses_on_time_where_the_other_would_not() {
    let desk = Desk::new();
    let puppet = program("renmei-puppet");
    let text = format!(
        "[event]\nname = 'colours'\ngames = 4\n[event.fault_limit]\nshare = 1\n[rules]\nmax_moves = 8\n\
         [time]\nblack = 'byoyomi 200ms'\nwhite = 'byoyomi 20s'\nmargin = '0'\n\
         [defaults]\ncommand = '{}'\nargs = ['--mode', 'late', '--delay', '600']\n\
         [[engines]]\nname = 'a'\n[[engines]]\nname = 'b'\n",
        puppet.display()
    );
    let report = run(&desk, &desk.write("event.toml", &text).display().to_string());
    assert_eq!(report["endings"]["time"], 4, "{report}");
    let winners = desk.query("SELECT DISTINCT result FROM games");
    assert_eq!(winners, [["white"]]);
    let (db, out) = (desk.db().display().to_string(), desk.dir.path().join("1.kifu").display().to_string());
    let exported = desk.renmei(&["export", &db, "--game", "1", "--format", "kifu", "--output", &out]);
    assert!(exported.status.success(), "{}", String::from_utf8_lossy(&exported.stderr));
    let record = std::fs::read_to_string(out).unwrap();
    assert!(
        record.contains("先手持ち時間：0分+0.2秒") && record.contains("後手持ち時間：0分+20秒"),
        "{record}"
    );
}

#[test]
fn a_fresh_process_for_every_game_plays_every_game() {
    let desk = Desk::new();
    let file = config(&desk, "[event]\nname = 'fresh'\ngames = 6", 2, "restart = 'every-game'");
    let report = run(&desk, &file);
    assert_eq!(report["games"], 6);
    assert!(report["endings"].get("disconnection").is_none(), "{report}");
}

#[test]
fn an_engine_that_is_not_restarted_loses_its_remaining_games() {
    let desk = Desk::new();
    let text = format!(
        "[event]\nname = 'never'\ngames = 4\nconcurrency = 1\n[time]\nbyoyomi = '5s'\n\
         [[engines]]\nname = 'frail'\ncommand = '{}'\nargs = ['--mode', 'crash', '--ply', '3']\nrestart = 'never'\n\
         [[engines]]\nname = 'good'\ncommand = '{}'\n",
        program("renmei-puppet").display(),
        program("renmei-random").display()
    );
    let file = desk.write("event.toml", &text).display().to_string();
    let report = run(&desk, &file);
    assert_eq!(report["endings"]["disconnection"], 4, "{report}");
    let evidence = desk.query("SELECT evidence FROM games ORDER BY number DESC LIMIT 1");
    assert!(evidence[0][0].contains("not started again"), "{evidence:?}");
}

#[test]
fn games_are_adjudicated_by_score_if_configured() {
    let desk = Desk::new();
    let event = "[event]\nname = 'adjudged'\ngames = 4\n[adjudication]\nresign = { score = 300, moves = 2 }";
    let file = config(&desk, event, 2, "");
    let report = run(&desk, &file);
    assert!(report["endings"]["adjudication"].as_u64().unwrap_or(0) >= 1, "{report}");
}

/// What the loser of each adjudicated game said last, and the move before: number of the game, loser, two evaluations.
fn given_up(desk: &Desk) -> Vec<(String, [i64; 2])> {
    let rows = desk.query(
        "SELECT g.number, m.player, m.score_cp FROM move_list m JOIN games n ON n.id = m.game JOIN game_list g \
         ON g.game = m.game WHERE n.cause = 'adjudication' AND n.winner <> m.color ORDER BY g.number, m.ply DESC",
    );
    let mut found: Vec<(String, String, Vec<i64>)> = vec![];
    for row in rows {
        if found.last().is_none_or(|(number, ..)| *number != row[0]) {
            found.push((row[0].clone(), row[1].clone(), vec![]));
        }
        found.last_mut().unwrap().2.push(row[2].parse().unwrap());
    }
    found.into_iter().map(|(_, loser, said)| (loser, [said[0], said[1]])).collect()
}

#[test]
fn adjudication_reads_the_scores_of_an_engine_on_the_scale_that_it_is_given() {
    let event = "[event]\nname = 'scaled'\ngames = 12\n[adjudication]\nresign = { score = 300, moves = 2, audit = 0.2 }";
    let play = |scale: &str| {
        let desk = Desk::new();
        let file = config(&desk, event, 2, "");
        let text = std::fs::read_to_string(&file).unwrap() + scale;
        desk.write("event.toml", &text);
        let report = run(&desk, &file);
        (desk, file, report)
    };
    let (plain, ..) = play("");
    let early = given_up(&plain);
    assert!(early.iter().any(|(loser, said)| loser == "p1" && said.iter().any(|cp| *cp > -900)), "{early:?}");
    let (desk, file, report) = play("scale = 1800\n");
    let late = given_up(&desk);
    assert!(late.iter().any(|(loser, _)| loser == "p1"), "nobody was given up: {late:?}");
    for (loser, said) in &late {
        let least = if loser == "p1" { -900 } else { -300 };
        assert!(said.iter().all(|cp| *cp <= least), "{loser}: {said:?}");
    }
    // Who would have been given up is counted on the same scale.
    let ended = late.len() as u64;
    assert_eq!(report["audit"]["ended"].as_u64(), Some(ended), "{report}");
    // Another scale in the middle of an event would rule half of its games otherwise.
    let other = std::fs::read_to_string(&file).unwrap().replace("scale = 1800", "scale = 900");
    desk.write("event.toml", &other);
    let refused = desk.renmei(&["run", "event.toml", "--db", "event.db"]);
    let stderr = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("engines[p1].scale was 1800, is 900"), "{stderr}");
}

#[test]
fn a_handicap_game_begins_with_white() {
    let desk = Desk::new();
    desk.write("handicap.sfen", "sfen lnsgkgsnl/1r7/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1\n");
    let event = "[event]\nname = 'odds'\ngames = 2\n[openings]\nfile = 'handicap.sfen'";
    let file = config(&desk, event, 2, "");
    run(&desk, &file);
    let first = desk.query("SELECT DISTINCT color FROM move_list WHERE ply = 1");
    assert_eq!(first, [["white"]]);
}

#[test]
fn a_draw_that_is_worth_more_to_white_ranks_white_first_everywhere() {
    let desk = Desk::new();
    let text = format!(
        "[event]\nname = 'points'\ngames = 1\n[time]\nbyoyomi = '10s'\n[scoring]\ndraw = {{ black = 0.4, white = 0.6 }}\n\
         [tiebreaks]\norder = ['wins', 'seed']\n[defaults]\ncommand = '{}'\noptions = {{ Mode = 'king' }}\n\
         [[engines]]\nname = 'first'\n[[engines]]\nname = 'second'\n",
        program("renmei-puppet").display()
    );
    let file = desk.write("event.toml", &text).display().to_string();
    let report = run(&desk, &file);
    let table = report["stages"][0]["table"].as_array().unwrap();
    let white = desk.query("SELECT name FROM players JOIN games ON player = white");
    assert_eq!(white, [["first".to_owned()]]);
    let rows: Vec<_> =
        table.iter().map(|row| (row["name"].as_str().unwrap(), row["points"].as_f64().unwrap())).collect();
    assert_eq!(rows, [("first", 0.6), ("second", 0.4)]);
    assert_eq!(table[0]["tie_breaks"], serde_json::json!({ "wins": 0.0, "seed": 1.0 }));
    assert_eq!(report["standings"][0]["name"], "first");
    let text = desk.renmei(&["report", &desk.db().display().to_string()]);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("score  wins  seed"), "{text}");
    assert_eq!(report["pairs"][0]["points"], serde_json::json!([0.6, 0.4]));
    let changed = std::fs::read_to_string(&file).unwrap().replace("black = 0.4", "black = 0.3");
    let file = desk.write("event.toml", &changed).display().to_string();
    let refused = desk.renmei(&["run", &file, "--db", &desk.db().display().to_string(), "--oversubscribe"]);
    let stderr = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        refused.status.code() == Some(2) && stderr.contains("scoring.draw[0] was 0.4, is 0.3"),
        "{stderr}"
    );
}
