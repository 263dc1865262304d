//! Rooms of the desk in which games are studied and shown to others.

use super::{Answer, Open};
use crate::support::{Desk, program, until, until_within};
use std::{
    fs,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
};

const RECORD: &str = "V2.2\nN+mori\nN-kawa\nPI\n+\n+7776FU\nT1\n-3334FU\nT1\n+2726FU\nT1\n%TORYO\n";

/// A desk on which an engine has lost four games.
fn played(desk: &Desk) -> Open {
    let (random, puppet) = (program("renmei-random"), program("renmei-puppet"));
    let open = Open::of(&desk.path("Renmei"));
    open.send("/engines/add", &[("program", &random.display().to_string())]);
    let text = format!(
        "[event]\nname = \"cup\"\ngames = 4\n[time]\nbyoyomi = \"60s\"\n[[engines]]\nname = \"a\"\ncommand = '{}'\n\
         [[engines]]\nname = \"b\"\ncommand = '{}'\nargs = [\"--mode\", \"resign\", \"--ply\", \"9\"]\n",
        random.display(),
        puppet.display()
    );
    assert_eq!(open.send("/new/text", &[("text", &text), ("do", "begin")]), "/");
    until("its end", || open.state("cup") == "over");
    open
}

/// Sends a file as the form of the study does.
fn upload(open: &Open, name: &str, bytes: &str) -> Answer {
    let origin = format!("http://{}", open.host);
    let kind = ("Content-Type", "multipart/form-data; boundary=cut");
    let head = format!("--cut\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n");
    open.ask("POST", "/study", &[("Origin", &origin), kind], &format!("{head}{bytes}\r\n--cut--\r\n"))
}

/// Waits until the page of a job says so; returns it.
fn job(open: &Open, path: &str, says: &str) -> String {
    let mut page = String::new();
    until_within(testing::PATIENCE, || {
        page = open.get(path);
        if page.contains(says) { Ok(()) } else { Err(page.clone()) }
    });
    page
}

#[test]
fn a_record_is_taken_in_read_found_by_its_position_and_played_from_there() {
    let desk = Desk::new();
    let open = played(&desk);
    let board = "/study/file?file=study/game.csa";
    assert_eq!(upload(&open, "game.csa", RECORD).location(), Some(board), "it is opened at once");
    let alone = "/study/game?file=study/game.csa&record=1";
    assert_eq!(
        open.ask("GET", board, &[], "").location(),
        Some(alone),
        "a file with one game leads to its board"
    );
    let page = open.get(alone);
    assert!(page.contains("☗ mori – ☖ kawa") && page.contains("☖３四歩(33)"), "{page}");
    let page = open.get("/study");
    assert!(page.contains("study/game.csa") && page.contains("href=\"/e/cup/games\""), "{page}");
    let read = job(&open, &open.send("/study/import", &[("file", "study/game.csa")]), "Done.");
    let games = "/study/open?name=study/game.csa.db/game.csa";
    assert!(read.contains("1 read in") && read.contains(games), "{read}");
    assert!(open.get("/study").contains(games));
    let opened = open.ask("GET", games, &[], "").head;
    assert!(opened.contains("location: /e/study%2Fgame.csa.db%2Fgame.csa/games"), "{opened}");
    assert!(open.get("/e/study%2Fgame.csa.db%2Fgame.csa/games?player=mori").contains("kawa"));
    let game = open.get("/e/study%2Fgame.csa.db%2Fgame.csa/games/1");
    assert!(game.contains("../../../study/game?event=study%2Fgame.csa.db%2Fgame.csa&amp;game=1"), "{game}");
    assert!(!open.get("/").contains("game.csa"), "it is no event of the directory");
    let all = job(&open, &open.send("/study/import", &[("all", "1")]), "Done.");
    assert!(all.contains("1 read in") && all.contains("/study/open?name=study/records.db/records"), "{all}");

    let found = job(&open, &open.send("/study/find", &[("position", "7g7f 3c3d")]), "Done.");
    assert!(found.contains("game=1\">#1 ☗ mori") && found.contains("ply=2"), "{found}");
    assert_eq!(open.post("/study/find", &[("position", "7g7e")]).status, 400);

    let of_game = [("event", "study/game.csa.db/game.csa"), ("game", "1")];
    let page = open.get("/study/game?event=study/game.csa.db/game.csa&game=1&ply=2");
    assert!(page.contains("Board at ply 2 of 3") && page.contains("☖３四歩(33)"), "{page}");
    let found = job(&open, &open.send("/study/find", &[of_game[0], of_game[1], ("ply", "2")]), "Done.");
    assert!(found.contains("ply=2"), "{found}");
    let form =
        open.send("/study/play", &[of_game[0], of_game[1], ("ply", "2"), ("engine", "a"), ("engine", "b")]);
    let file = "study/study_game.csa.db_game.csa-1-2.sfen";
    assert!(form.contains(&format!("openings={file}")), "{form}");
    assert_eq!(fs::read_to_string(open.directory.join(file)).unwrap(), "startpos moves 7g7f 3c3d\n");
    assert!(open.get(&form).contains(&format!("value=\"{file}\"")));
    let list = open.get("/engines");
    let (_, name) = list.split_once("href=\"/engine?name=").unwrap();
    let name = name.split('"').next().unwrap().replace("%20", " ");
    let copy = open.send("/engines/order", &[("engine", &name), ("order", "copy")]);
    let copy = copy.strip_prefix("/engine?name=").unwrap().replace("%20", " ");
    let begun = [
        ("kind", "match"),
        ("name", "from here"),
        ("games", "2"),
        ("clock", "byoyomi 60s"),
        ("max_moves", "20"),
    ];
    let rest = [("openings", file), ("engine", &name), ("engine", &copy), ("do", "begin")];
    assert_eq!(open.send("/new/event", &[&begun[..], &rest[..]].concat()), "/");
    until("a match from there", || open.games("from-here") == 2);
    let database = rusqlite::Connection::open(open.directory.join("from-here.db")).unwrap();
    let sql = "SELECT count(*) FROM games WHERE opening_moves = '7g7f 3c3d'";
    assert_eq!(database.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap(), 2);
}

#[test]
fn a_game_is_analyzed_and_losses_are_explained_while_the_page_shows_how_far_it_is() {
    let desk = Desk::new();
    let open = played(&desk);
    let of_game = [("event", "cup"), ("game", "1"), ("judge", "")];
    let path = open.send("/study/analyze", &[&of_game[..], &[("nodes", "200")]].concat());
    let page = job(&open, &path, "Done.");
    let board = "/study/game?file=study/cup-1-renmei_pairwise.kifu&amp;ply=0";
    assert!(page.contains(board), "{page}");
    let page = open.get(&board.replace("&amp;", "&"));
    assert!(
        page.contains("renmei-pairwise: ") && page.contains("\"s\":") && page.contains("<polyline points=\""),
        "its graph, which needs no script, has the opinions: {page}"
    );
    let record = fs::read_to_string(open.directory.join("study/cup-1-renmei_pairwise.kifu")).unwrap();
    assert!(record.contains("renmei-pairwise: ") && record.contains("(200 nodes"), "{record}");
    assert!(open.get("/jobs").contains(&path.replace('&', "&amp;")));

    let long = open.send("/study/analyze", &[&of_game[..], &[("nodes", "1000000000")]].concat());
    assert!(open.get(&long).contains("/job/stop"));
    assert_eq!(open.send("/job/stop", &[("number", long.split_once('=').unwrap().1)]), long);
    assert!(open.get(&long).contains("Stopped."));

    let form = open.get("/events/explain?event=cup");
    assert!(form.contains("<option value=\"b\">"), "{form}");
    let losses = [("event", "cup"), ("player", "b"), ("last", "2"), ("judge", ""), ("nodes", "400")];
    let page = job(&open, &open.send("/events/explain", &losses), "Done.");
    assert!(page.contains("/e/cup/games/4") && page.contains("Cause"), "{page}");
    let nobody = [("event", "cup"), ("player", "a"), ("last", "2"), ("judge", ""), ("nodes", "400")];
    assert_eq!(open.post("/events/explain", &nobody).status, 400, "it has lost no game");
    for (path, fields) in [
        ("/study/analyze", [("event", "../cup"), ("game", "1"), ("nodes", "1")]),
        ("/study/analyze", [("event", "study/../../x.db/cup"), ("game", "1"), ("nodes", "1")]),
        ("/study/analyze", [("event", "cup"), ("game", "99"), ("nodes", "1")]),
        ("/study/analyze", [("event", "cup"), ("game", "1"), ("nodes", "0")]),
        ("/job/stop", [("number", "99"), ("game", ""), ("nodes", "")]),
    ] {
        assert_eq!(open.post(path, &fields).status, 400, "{path} {fields:?}");
    }
    assert_eq!(open.ask("GET", "/job/stop?number=1", &[], "").status, 405, "a link stops nothing");
}

#[test]
fn a_position_is_edited_tried_on_thought_about_copied_and_kept() {
    let desk = Desk::new();
    let open = Open::of(&desk.path("Renmei"));
    // A board without a file: each move leads to an address, also without a script.
    let page = open.get("/study/game?try=7g7f");
    assert!(page.contains("<path class=\"piece\"") && page.contains("☗７六歩(77)"), "{page}");
    assert!(page.contains("<input type=\"hidden\" name=\"moves\" value=\"7g7f\">"), "{page}");
    assert!(page.contains("<option value=\"3c3d\">☖３四歩(33)</option>"), "{page}");
    let mate = "position=7k1/9/7G1/9/9/9/9/9/4K4%20b%20G%201";
    assert!(open.get(&format!("/study/edit?{mate}")).contains("7k1/9/7G1/9/9/9/9/9/4K4 b G 1"));
    let text = |rest: &str| open.ask("GET", &format!("/study/text?{rest}"), &[], "").body;
    assert_eq!(text(&format!("{mate}&as=sfen&from=0&moves=G*2b")), "7k1/7G1/7G1/9/9/9/9/9/4K4 w - 2");
    assert!(text(&format!("{mate}&as=kif&from=0&moves=G*2b")).contains("   1 ２二金打"));
    assert!(text("as=csa&from=0&moves=7g7f").contains("+7776FU"));
    assert_eq!(text("as=usi&from=0&moves=7g7f%203c3d&ply=1"), "startpos moves 7g7f");
    assert_eq!(open.ask("GET", &format!("/study/legal?{mate}&from=0&moves=G*2b"), &[], "").body, "[]");
    let kept = open.send("/study/keep", &[("from", "0"), ("moves", "7g7f 8c8d"), ("ply", "1")]);
    assert_eq!(kept, "/study/game?file=study/board.kifu&record=1&line=0&ply=1");
    assert!(open.get(&kept).contains("☖８四歩(83)"));

    let ask = |fields: &[(&str, &str)]| {
        let usual = [("engine", ""), ("seconds", "3"), ("do", "search")];
        open.post("/study/think", &[fields, &usual].concat())
    };
    let asked = ask(&[("position", "7k1/9/7G1/9/9/9/9/9/4K4 b G 1")]);
    let number = asked.location().unwrap().split_once("&job=").unwrap().1.to_owned();
    let page = job(&open, &format!("/study/thoughts?number={number}"), "data-ended");
    assert!(page.contains("data-best=\"") && page.contains("<ol class=\"lines\"><li>"), "{page}");
    assert!(
        open.get(asked.location().unwrap()).contains("class=\"arrow\""),
        "the board shows it without a script"
    );
    let asked = ask(&[("position", "8k/9/9/7P1/9/9/9/9/4K4 b R2G 1"), ("do", "mate")]);
    let number = asked.location().unwrap().split_once("&job=").unwrap().1.to_owned();
    let page = job(&open, &format!("/study/thoughts?number={number}"), "data-ended");
    assert!(page.contains("Mate in 3"), "{page}");

    let long = "2h3h 8b7b 3h2h 7b8b ".repeat(1100);
    assert_eq!(upload(&open, "long.usi", &format!("startpos moves {long}\n")).status, 303);
    let answer = open.ask("GET", "/study/game?file=study/long.usi", &[], "");
    assert!(answer.status == 400 && answer.body.contains("4096 moves at most"), "{}", answer.status);

    // What strangers could send.
    for fields in [
        &[("seconds", "100000")][..],
        &[("do", "format c:")],
        &[("engine", "/bin/sh")],
        &[("position", "sfen 4k4/4R4/9/9/9/9/9/9/4K4 b - 1")],
        &[("file", "../engines.toml")],
        &[("file", "engines.toml")],
        &[("moves", "7g7f 7g7f")],
        &[("event", "study/../../x.db/cup"), ("game", "1")],
    ] {
        assert_eq!(ask(fields).status, 400, "{fields:?}");
    }
    let foreign = [("Origin", "http://evil.example"), ("Content-Type", "application/x-www-form-urlencoded")];
    assert_eq!(open.ask("POST", "/study/think", &foreign, "do=search&seconds=3&engine=").status, 403);
    assert_eq!(open.ask("GET", "/study/think", &[], "").status, 405, "a link starts no engine");
    let statuses: Vec<u16> = (0..6)
        .map(|ply| {
            let moves = ["7g7f", "3c3d", "2g2f", "8c8d", "2f2e", "8d8e"][..=ply].join(" ");
            ask(&[("seconds", "60"), ("from", "0"), ("moves", &moves)]).status
        })
        .collect();
    assert_eq!(statuses.last(), Some(&409), "engines that think at once are bounded: {statuses:?}");
    let jobs = open.get("/jobs");
    assert!(jobs.contains("renmei-pairwise thinks"), "{jobs}");
}

#[test]
fn a_person_plays_an_engine_from_any_position_and_the_game_is_kept_like_every_other() {
    let desk = Desk::new();
    let open = Open::of(&desk.path("Renmei"));
    let game = |fields: &[(&str, &str)]| {
        let usual = [("opponent", ""), ("minutes", "10"), ("manner", "byoyomi"), ("amount", "60")];
        open.post("/play", &[fields, &usual].concat())
    };
    let mate = ("position", "7k1/9/7G1/9/9/9/9/9/4K4 b G 1");
    assert_eq!(game(&[mate, ("side", "nobody")]).status, 400);
    for (name, wrong) in [("amount", "a while"), ("minutes", "1441"), ("amount", "-1")] {
        let refused = game(&[mate, ("side", "black"), (name, wrong)]);
        assert!(refused.status == 400 && refused.body.contains("from 0 to 1440 minutes"), "{}", refused.body);
    }
    let nothing = [mate, ("side", "black"), ("opponent", ""), ("minutes", ""), ("amount", "")];
    assert_eq!(open.post("/play", &nothing).status, 400, "an empty clock is no second");
    let begun = game(&[mate, ("side", "black")]);
    let board = "/play?event=You-and-renmei-pairwise";
    assert_eq!(begun.location(), Some(board), "{}", begun.body);
    until("its turn", || open.get(board).contains("your turn"));
    let page = open.get(board);
    assert!(
        page.contains("<option value=\"G*2b\">☗２二金打</option>") && page.contains("data-turn=\"yes\""),
        "{page}"
    );
    assert!(open.get("/").contains(&format!("href=\"{board}\"")), "its card leads there");
    let play = |event: &str, ply: &str, mv: &str| {
        open.post("/play/move", &[("event", event), ("ply", ply), ("move", mv)])
    };
    for (event, ply, mv, status) in [
        ("You-and-renmei-pairwise", "0", "G*2a", 400),
        ("You-and-renmei-pairwise", "0", "quit", 400),
        ("You-and-renmei-pairwise", "0", "G*2b\nquit", 400),
        ("You-and-renmei-pairwise", "1", "G*2b", 409),
        ("../You-and-renmei-pairwise", "0", "G*2b", 400),
        ("nothing", "0", "G*2b", 400),
    ] {
        assert_eq!(play(event, ply, mv).status, status, "{event} {ply} {mv}");
    }
    let foreign = [("Origin", "http://evil.example"), ("Content-Type", "application/x-www-form-urlencoded")];
    let stolen = open.ask("POST", "/play/move", &foreign, "event=You-and-renmei-pairwise&ply=0&move=G*2b");
    assert_eq!(stolen.status, 403);
    assert!(page.contains("<details class=\"asks\">") && page.contains("your clock runs"), "{page}");
    let ends = |event: &str, ply: &str, how: &str| {
        open.post("/play/move", &[("event", event), ("ply", ply), ("ends", how)])
    };
    assert!(!page.contains("value=\"win\""), "the king is at home");
    assert_eq!(ends("You-and-renmei-pairwise", "0", "win").status, 409, "it would lose");
    assert_eq!(ends("You-and-renmei-pairwise", "0", "quit").status, 400);
    assert_eq!(play("You-and-renmei-pairwise", "0", "G*2b").location(), Some(board));
    until("its end", || open.get(board).contains("you won"));
    let page = open.get(board);
    assert!(!page.contains("your clock runs") && !page.contains("class=\"asks\""), "{page}");
    assert_eq!(play("You-and-renmei-pairwise", "0", "G*2b").status, 409, "it is over");
    until("its event to be over", || open.state("You-and-renmei-pairwise") == "over");
    let database = rusqlite::Connection::open(open.directory.join("You-and-renmei-pairwise.db")).unwrap();
    let sql = "SELECT count(*) FROM games g JOIN moves m ON m.game = g.id WHERE m.move = 'G*2b' AND g.ended_at IS NOT NULL";
    assert_eq!(database.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap(), 1);

    let second = game(&[("side", "white")]);
    let board = second.location().unwrap().to_owned();
    until("the engine's first move", || open.get(&board).contains("your turn"));
    let event = board.split_once('=').unwrap().1;
    let resigned = ends(event, "1", "resign");
    assert_eq!(resigned.location(), Some(board.as_str()));
    until("its end", || open.get(&board).contains("you lost"));

    // The same again, with the other colours.
    let again = open.post("/play", &[("again", "You-and-renmei-pairwise"), ("swaps", "1")]);
    let board = again.location().unwrap_or_else(|| panic!("{}", again.body)).to_owned();
    until("the engine's mate", || open.get(&board).contains("you lost"));
    assert!(open.get(&board).contains("data-side=\"white\""), "{board}");
    let again = open.post("/play", &[("again", "You-and-renmei-pairwise")]);
    let board = again.location().unwrap_or_else(|| panic!("{}", again.body)).to_owned();
    until("its turn", || open.get(&board).contains("your turn"));
    assert!(open.get(&board).contains("<option value=\"G*2b\">"));

    let camp = ("position", "1+R+R1G1GG1/4K1SSS/PPPPP4/9/9/9/9/4k4/9 b 2B 1");
    let begun = game(&[camp, ("side", "black")]);
    let board = begun.location().unwrap_or_else(|| panic!("{}", begun.body)).to_owned();
    until("its turn", || open.get(&board).contains("your turn"));
    assert!(open.get(&board).contains("You have 31 points and 13 pieces there"), "{}", open.get(&board));
    assert_eq!(ends(board.split_once('=').unwrap().1, "0", "win").location(), Some(board.as_str()));
    until("its end", || open.get(&board).contains("you won"));
}

#[test]
fn a_copy_of_a_game_with_a_person_is_a_game_of_its_own() {
    let desk = Desk::new();
    let open = Open::of(&desk.path("Renmei"));
    let game =
        [("position", "startpos"), ("side", "black"), ("minutes", "10"), ("amount", "60"), ("opponent", "")];
    let board = open.post("/play", &game).location().unwrap().to_owned();
    let first = board.split_once('=').unwrap().1;
    until("its turn", || open.get(&board).contains("your turn"));
    open.post("/play/move", &[("event", first), ("ply", "0"), ("ends", "resign")]);
    until("its end", || open.get(&board).contains("you lost"));
    let copy = open.get(&format!("/events/text?event={first}"));
    let (_, text) = copy.split_once("<textarea").unwrap();
    let text = text.split_once('>').unwrap().1.split("</textarea>").next().unwrap();
    let text = text.replace("&quot;", "\"").replace("&amp;", "&").replace("&gt;", ">").replace("&lt;", "<");
    assert_eq!(open.send("/new/text", &[("text", &text), ("do", "begin")]), "/");
    let second = format!("{first}-2");
    let other = format!("/play?event={second}");
    let file = fs::read_to_string(open.directory.join(format!("{second}.toml"))).unwrap();
    assert!(file.contains(&format!(".person-{second}")), "{file}");
    until("its turn", || open.get(&other).contains("your turn"));
    let played = open.post("/play/move", &[("event", &second), ("ply", "0"), ("move", "7g7f")]);
    assert_eq!(played.location(), Some(other.as_str()));
    until("the engine's answer", || {
        let page = open.get(&other);
        page.contains("your turn") && page.contains("<span>☗７六歩(77)</span>")
    });
    assert!(!open.get(&board).contains("<span>☗７六歩(77)</span>"), "the first game is as it was");
}

#[test]
fn what_is_damaged_is_not_taken_in_what_is_left_out_is_named_and_a_long_line_makes_no_long_page() {
    let desk = Desk::new();
    let open = played(&desk);
    let origin = format!("http://{}", open.host);
    let kind = ("Content-Type", "multipart/form-data; boundary=cut");
    let head = |name: &str| {
        format!("--cut\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n")
    };
    // A database that was cut off while it was copied, as the text of a form.
    let schema = "SQLite format 3\0".to_owned() + &"x".repeat(5000);
    for language in ["en", "ja"] {
        let headers = [("Origin", origin.as_str()), kind, ("Accept-Language", language)];
        let answer =
            open.ask("POST", "/study", &headers, &format!("{}{schema}\r\n--cut--\r\n", head("cut.db")));
        assert_eq!(answer.status, 400, "{}", answer.body);
        assert!(answer.body.contains("cut.db") && !answer.body.contains(".looked-at"), "{}", answer.body);
    }
    assert!(
        !open.directory.join("study/cut.db").exists() && !open.directory.join("study/.looked-at").exists()
    );

    let record = "手合割：平手\n   1 ７六歩(77)\n   2 ３四歩(33)\n   3 ２六歩(27)\n   4 中断\n\n変化：3手\n   3 ６六歩(67)\n   4 ５五歩(53)\n";
    assert_eq!(upload(&open, "odd.kifu", record).status, 303);
    for (language, words) in [("en", "from move 3 is cut short"), ("ja", "3手目からの変化は途中まで")]
    {
        let page =
            open.ask("GET", "/study/game?file=study/odd.kifu&record=1", &[("Accept-Language", language)], "");
        assert!(page.body.contains(words), "{}", page.body);
    }

    let moves = |count: usize| "2h3h 8b7b 3h2h 7b8b ".repeat(count / 4).trim().replace(' ', "%20");
    let page = open.get(&format!("/study/game?from=0&moves={}", moves(1500)));
    assert!(page.len() < 1_000_000 && page.contains("value=\"1500\""), "{} bytes", page.len());
    assert_eq!(open.ask("GET", &format!("/study/game?from=0&moves={}", moves(1800)), &[], "").status, 400);
}

#[test]
fn what_is_taken_in_stays_in_its_folder_and_overwrites_nothing() {
    let desk = Desk::new();
    let open = Open::of(&desk.path("Renmei"));
    assert_eq!(upload(&open, "game.csa", RECORD).status, 303);
    assert_eq!(upload(&open, "game.csa", RECORD).status, 303, "the same file opens again");
    let again = upload(&open, "game.csa", &RECORD.replace("mori", "yama"));
    assert!(again.status == 409 && again.body.contains("is there already"), "{}", again.body);
    assert_eq!(fs::read_to_string(open.directory.join("study/game.csa")).unwrap(), RECORD);
    for hostile in [
        "../x.csa",
        "..\\x.csa",
        "/tmp/x.csa",
        "C:\\x.csa",
        "a/b.csa",
        "CON.csa",
        "nul.kif",
        ".x.csa",
        "x.csa.",
        "x.toml",
        "engines.toml",
        "x.sh",
        "x",
        "",
        "x.csa\u{202e}.",
        "x%2f..%2fy",
    ] {
        let answer = upload(&open, hostile, RECORD);
        assert_eq!(answer.status, 400, "{hostile}: {}", answer.body);
    }
    let page = upload(&open, "<script>alert(1)</script>.exe", RECORD).body;
    assert!(!page.contains("<script>alert"), "{page}");
    assert!(upload(&open, "x.db", "MZ").body.contains("is not a database"));
    let large = upload(&open, "large.csa", &"x".repeat((32 << 20) + 1));
    assert!(large.status == 400 && large.body.contains("larger than 32 MiB"), "{}", large.status);
    let origin = format!("http://{}", open.host);
    let multipart = ("Content-Type", "multipart/form-data; boundary=cut");
    for (what, headers, status) in [
        ("a page of another site", vec![("Origin", "http://evil.example"), multipart], 403),
        ("a page without an origin", vec![multipart], 403),
        ("a stranger", vec![("Origin", origin.as_str()), multipart, ("Cookie", "")], 403),
        ("a form without a file", vec![("Origin", origin.as_str()), multipart], 400),
        ("no form of files", vec![("Origin", origin.as_str()), ("Content-Type", "text/plain")], 400),
    ] {
        assert_eq!(open.ask("POST", "/study", &headers, "--cut--\r\n").status, status, "{what}");
    }
    let names = |directory: &str| -> Vec<_> {
        let entries = fs::read_dir(desk.path(directory)).unwrap();
        let mut names: Vec<String> =
            entries.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    assert_eq!(names("Renmei/study"), ["game.csa"]);
    assert_eq!(names("."), ["Renmei"]);
    for file in ["../Renmei/study/game.csa", "study/x.db", "hall.toml", ".desk.html", ""] {
        assert_eq!(open.post("/study/import", &[("file", file)]).status, 400, "{file}");
    }
    for name in ["study/none.db/x", "study/../.desk.html", "..db/x", "none"] {
        assert_eq!(open.ask("GET", &format!("/study/open?name={name}"), &[], "").status, 400, "{name}");
    }
}

/// What a browser elsewhere is answered by the public page.
fn public(port: u16, method: &str, path: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    write!(stream, "{method} {path} HTTP/1.0\r\nHost: 192.0.2.7:{port}\r\nContent-Length: 0\r\n\r\n")
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    (answer.split(' ').nth(1).unwrap().parse().unwrap(), answer)
}

#[test]
fn an_event_is_published_as_tables_records_and_a_page_without_anything_of_the_desk() {
    let desk = Desk::new();
    let open = played(&desk);
    let page = open.get("/events/publish?event=cup");
    assert!(page.contains("| a |") && page.contains("&lt;table border"), "{page}");
    let zip = open.ask("GET", "/events/records?event=cup&format=kifu&standings=1", &[], "");
    assert!(
        zip.body.starts_with("PK") && zip.body.contains("000004-") && zip.head.contains("cup.zip"),
        "{}",
        zip.head
    );
    assert_eq!(open.ask("GET", "/events/records?event=cup&round=99", &[], "").status, 400);
    assert_eq!(open.ask("GET", "/events/records?event=../cup", &[], "").status, 400);

    let taken = TcpListener::bind(("0.0.0.0", 0)).unwrap();
    let port = taken.local_addr().unwrap().port();
    let number = port.to_string();
    let on = [("event", "cup"), ("is", "on"), ("port", number.as_str())];
    assert_eq!(open.post("/events/public", &on).status, 409, "the port is taken");
    drop(taken);
    for wrong in ["80", "0", "x", "70000"] {
        assert_eq!(open.post("/events/public", &[on[0], on[1], ("port", wrong)]).status, 400, "{wrong}");
    }
    assert_eq!(open.send("/events/public", &on), "/events/publish?event=cup");
    let file = fs::read_to_string(open.directory.join("cup.toml")).unwrap();
    assert!(file.contains(&format!("listen = [\"0.0.0.0:{port}\"]")), "{file}");
    assert!(!open.get("/events/publish?event=cup").contains("Nobody answers"), "it is shown when it listens");
    until("its table", || public(port, "GET", "/table").0 == 200);
    for path in
        ["/engines", "/study", "/jobs", "/machine", "/e/cup/", "/events/publish?event=cup", "/enter?key=x"]
    {
        assert_eq!(public(port, "GET", path).0, 404, "{path}");
    }
    for path in ["/quit", "/events/order", "/study", "/engines/add"] {
        assert!([403, 404, 405].contains(&public(port, "POST", path).0), "{path}");
    }
    assert!(
        !public(port, "GET", "/games/1").1.contains("study/game"),
        "a game links to the study on the desk alone"
    );
    let off = [("event", "cup"), ("is", "off")];
    assert_eq!(open.send("/events/public", &off), "/events/publish?event=cup");
    until("its end", || TcpStream::connect(("127.0.0.1", port)).is_err());
    let text = fs::read_to_string(open.directory.join("cup.toml")).unwrap();
    assert!(!text.contains("http"));

    let later = format!("{text}\n[http]\nlisten = [\"127.0.0.1:{port}\"]\n");
    assert_eq!(open.send("/new/text", &[("text", &later), ("do", "keep")]), "/");
    let (page, link) = (open.get("/events/publish?event=cup-2"), format!("http://127.0.0.1:{port}/"));
    assert!(page.contains("Nobody answers") && page.contains(&link), "{page}");
    assert!(!page.contains(&format!("href=\"{link}\"")) && !page.contains("<img src=\"data:"), "{page}");
    let copy = open.get("/events/text?event=cup-2");
    assert!(
        copy.contains("left out of the copy: <code>http.listen</code>") && !copy.contains("127.0.0.1:"),
        "{copy}"
    );
    let like = open.get("/new/event?kind=match&from=cup");
    assert!(
        like.contains("<code>a</code> cannot be chosen") && like.contains("<code>b</code> cannot be chosen"),
        "{like}"
    );
}
