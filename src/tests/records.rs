//! Record files that go in and come out, as collectors have them.

use crate::support::{Desk, program};
use serde_json::Value;

/// The handicaps that KIF names, each with the camp that White keeps, top row first.
const HANDICAPS: [(&str, &str); 15] = [
    ("香落ち", "lnsgkgsn1/1r5b1"),
    ("右香落ち", "1nsgkgsnl/1r5b1"),
    ("角落ち", "lnsgkgsnl/1r7"),
    ("飛車落ち", "lnsgkgsnl/7b1"),
    ("飛香落ち", "lnsgkgsn1/7b1"),
    ("二枚落ち", "lnsgkgsnl/9"),
    ("三枚落ち", "lnsgkgsn1/9"),
    ("四枚落ち", "1nsgkgsn1/9"),
    ("五枚落ち", "2sgkgsn1/9"),
    ("左五枚落ち", "1nsgkgs2/9"),
    ("六枚落ち", "2sgkgs2/9"),
    ("左七枚落ち", "2sgkg3/9"),
    ("右七枚落ち", "3gkgs2/9"),
    ("八枚落ち", "3gkg3/9"),
    ("十枚落ち", "4k4/9"),
];

fn text(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

#[test]
fn every_handicap_is_imported_from_kif_and_ki2_and_survives_every_export() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path("in")).unwrap();
    for (at, (name, _)) in HANDICAPS.iter().enumerate() {
        let head = format!("手合割：{name}　　\n下手：{name}\n上手：上\n");
        desk.write(&format!("in/{at:02}.kifu"), &format!("{head}   1 ３四歩(33)\n   2 投了\n"));
        desk.write(&format!("in/{at:02}.ki2u"), &format!("{head}△４四歩\nまで1手で上手の勝ち\n"));
    }
    let imported = |from: &str, event: &str| {
        let output = desk.renmei(&["import", from, "--db", "event.db", "--event", event]);
        assert!(text(&output).contains("30 records in 30 files, 30 imported"), "{}", text(&output));
        let rows =
            format!("SELECT DISTINCT black, start FROM game_list WHERE event = '{event}' ORDER BY game");
        desk.query(&rows)
    };
    let starts: Vec<Vec<String>> = HANDICAPS
        .iter()
        .map(|(name, camp)| {
            vec![name.to_string(), format!("{camp}/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1")]
        })
        .collect();
    assert_eq!(imported("in", "in"), starts);
    for format in ["kif", "ki2", "jkf", "csa"] {
        let output = desk.renmei(&[
            "export",
            "event.db",
            "--event",
            "in",
            "--format",
            format,
            "--output",
            &format!("{format}/"),
        ]);
        assert!(output.status.success(), "{}", text(&output));
        assert_eq!(imported(format, format), starts, "{format}");
    }
}

#[test]
fn a_handicap_that_nobody_knows_is_refused_and_never_an_even_game() {
    let desk = Desk::new();
    desk.write("a.kifu", "手合割：十九枚落ち\n   1 ７六歩(77)\n   2 投了\n");
    let output = desk.renmei(&["import", "a.kifu", "--db", "event.db"]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output);
    assert!(said.contains("a.kifu:1: unknown start position `十九枚落ち`"), "{said}");
    assert!(said.contains("0 records in 1 file,"), "{said}");
}

#[test]
fn a_file_of_positions_is_told_to_be_openings_once() {
    let desk = Desk::new();
    let camp = "lnsgkgsnl/1r5b1/ppppppppp/9/9";
    desk.write(
        "a.sfen",
        &format!("# two\n{camp}/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 2\nsfen {camp}/7P1/PPPPPPP1P/1B5R1/LNSGKGSNL w - 2\n"),
    );
    let output = desk.renmei(&["import", "a.sfen", "--db", "event.db"]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("a.sfen:2: 2 positions without a move: openings, not games"), "{said}");
    assert!(!said.contains("holds no move") && said.contains("1 unreadable"), "{said}");
}

#[test]
fn jkf_keeps_the_scores_and_lines_of_a_game() {
    let desk = Desk::new();
    let greedy = format!("cmd={}", program("renmei-random").display());
    let played = desk.play(
        &[
            &[&greedy, "name=a", "option.Style=greedy"],
            &[&greedy, "name=b", "option.Style=greedy", "option.Seed=2"],
        ],
        &["--games", "2", "--time", "600s", "--max-moves", "30"],
    );
    assert!(played.output.status.success(), "{}", played.text());
    let scored = |event: &str| {
        let sql = format!(
            "SELECT number, ply, score_cp FROM move_list WHERE event = '{event}' AND score_cp IS NOT NULL"
        );
        desk.query(&sql)
    };
    let output =
        desk.renmei(&["export", "event.db", "--event", "match", "--format", "jkf", "--output", "jkf/"]);
    assert!(output.status.success(), "{}", text(&output));
    let output = desk.renmei(&["import", "jkf", "--db", "event.db", "--event", "again"]);
    assert!(output.status.success(), "{}", text(&output));
    assert!(!scored("match").is_empty());
    assert_eq!(scored("again"), scored("match"));
    let file = std::fs::read_dir(desk.path("jkf")).unwrap().next().unwrap().unwrap().path();
    let json: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let comments = json["moves"].as_array().unwrap().iter().filter_map(|entry| entry["comments"].as_array());
    assert!(comments.flatten().any(|line| line.as_str().is_some_and(|line| line.starts_with("*評価値="))));
}

/// A game of two plies whose record has a comment behind its end, a variation, no date and no result.
const NOTED: &str = "先手：朝\n後手：梅\n   1 ７六歩(77)   ( 0:02/00:00:02)\n   2 ３四歩(33)   ( 0:01/00:00:01)\n   3 封じ手\n\
                     *続きは明日\n\n変化：2手\n   2 ８四歩(83)   ( 0:03/00:00:03)\n*居飛車\n";

#[test]
fn an_imported_record_without_a_result_is_exported_with_its_comments_and_variations() {
    let desk = Desk::new();
    desk.write("a.kifu", NOTED);
    let said = text(&desk.renmei(&["import", "a.kifu", "--db", "event.db"]));
    assert!(
        said.contains("1 record in 1 file, 1 imported, 0 there before, 1 without a result, 0 unreadable"),
        "{said}"
    );
    let row = desk.query("SELECT started IS NULL, ended IS NULL, result_in_words FROM game_list");
    assert_eq!(row, [["1", "1", "no result"]]);
    let kif = desk.renmei(&["export", "event.db", "--format", "kif"]);
    assert!(kif.stdout.starts_with(b"#KIF version=2.0 encoding=Shift_JIS\n"));
    let kifu = String::from_utf8(desk.renmei(&["export", "event.db", "--format", "kifu"]).stdout).unwrap();
    for part in ["   3 封じ手\n*続きは明日\n", "\n変化：2手\n   2 ８四歩(83)   ( 0:03/00:00:03)\n*居飛車\n"]
    {
        assert!(kifu.contains(part), "{kifu}");
    }
    let csa = text(&desk.renmei(&["export", "event.db", "--format", "csa"]));
    assert!(csa.contains("%封じ手\n'*続きは明日\n"), "{csa}");
    assert!(
        csa.contains("variations of 1 game left out, the format has no place for them: 1\n1 game written"),
        "{csa}"
    );
    // Without `--format`, the extension names it.
    let psv = text(&desk.renmei(&["export", "event.db", "--output", "a.psv"]));
    assert!(
        psv.contains("1 game left out, a game without a result: 1\n0 games, 0 positions written"),
        "{psv}"
    );
    assert!(!desk.path("a.psv").exists());
}

#[test]
fn an_illegal_move_of_a_verified_record_is_exit_code_20() {
    let desk = Desk::new();
    desk.write("a.kifu", "   1 ７六歩(77)\n   2 ３四歩(33)\n   3 ５五角(77)\n   4 投了\n");
    // White leaves its king in check.
    desk.write("c.kifu", "   1 ７六歩(77)\n   2 ３四歩(33)\n   3 ３三角成(88)\n   4 ９四歩(93)\n   5 投了\n");
    let verified = |file: &str| desk.renmei(&["import", "--verify", file]);
    assert_eq!(verified("a.kifu").status.code(), Some(1), "no piece to move: a fault of the file");
    let output = verified("c.kifu");
    assert_eq!(output.status.code(), Some(20), "{}", text(&output));
    assert!(text(&output).contains("c.kifu:4: illegal move 9c9d at ply 4"), "{}", text(&output));
    assert_eq!(desk.renmei(&["import", "c.kifu", "--db", "event.db"]).status.code(), Some(1));
}

/// The names of the standings with their ranks.
fn places(desk: &Desk, event: &str) -> Vec<String> {
    let output = desk.renmei(&["report", "event.db", "--event", event, "--json"]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = report["standings"].as_array().unwrap();
    rows.iter().map(|row| format!("{} {}", row["rank"], row["name"].as_str().unwrap())).collect()
}

#[test]
fn a_published_round_robin_is_won_by_points_and_sonneborn_berger_or_by_the_rules_that_are_given() {
    let desk = Desk::new();
    desk.write(
        "rr.tsv",
        "name\tr1\tr2\tr3\tr4\tr5\nAlyx\t5w=\t2w+\t3b+\t4w-\t6b+\nBruno\t6w+\t1b-\t5w+\t3w=\t4b+\n\
         Charline\t4w+\t6b+\t1w-\t2b=\t5w+\nDavid\t3b-\t5b-\t6w=\t1b+\t2w-\n\
         Franck\t1b=\t4w+\t2b-\t6w-f\t3b-\nHelene\t2b-\t3w-\t4b=\t5b+f\t1w-\n",
    );
    desk.write("rules.toml", "[scoring]\ndraw = 0\n\n[tiebreaks]\norder = [\"seed\"]\n");
    desk.write("wrong.toml", "[tiebreaks]\norder = [\"solkoff\"]\n");
    let import = |event: &str, rules: &[&str]| {
        let words = [&["import", "rr.tsv", "--db", "event.db", "--event", event][..], rules].concat();
        text(&desk.renmei(&words))
    };
    import("usual", &[]);
    // 3.5 points each: Sonneborn-Berger 9.25, 6.25 and 6.25, and the two drew with each other.
    assert_eq!(places(&desk, "usual")[..3], ["1 Alyx", "2 Bruno", "2 Charline"]);
    assert_eq!(places(&desk, "usual")[3..], ["4 David", "5 Franck", "6 Helene"]);
    import("own", &["--rules", "rules.toml"]);
    assert_eq!(places(&desk, "own")[..3], ["1 Alyx", "2 Bruno", "3 Charline"]);
    let wrong = import("wrong", &["--rules", "wrong.toml"]);
    assert!(wrong.contains("wrong.toml:2") && wrong.contains("\"buchholz\""), "{wrong}");
    assert!(!text(&desk.renmei(&["report", "event.db", "--list"])).contains("wrong"));
}

#[test]
fn a_published_table_of_results_comes_out_to_its_last_column() {
    let desk = Desk::new();
    let published = include_str!("../rules/contest/standings/published/tcec5.tsv");
    desk.write("tcec5.tsv", published);
    let import = ["import", "tcec5.tsv", "--db", "event.db", "--event", "tcec5"];
    let output = desk.renmei(&import);
    assert!(text(&output).contains("126 records in 1 file, 126 imported"), "{}", text(&output));
    let output = desk.renmei(&["report", "event.db", "--json"]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&report["complete"], &report["games"]), (&true.into(), &126.into()), "{report}");
    let rows: Vec<Vec<&str>> = published.lines().skip(1).map(|line| line.split('\t').collect()).collect();
    let standings = report["standings"].as_array().unwrap();
    assert_eq!(standings.len(), rows.len());
    for (at, row) in standings.iter().enumerate() {
        let own = rows.iter().find(|cells| cells[1] == row["name"]).unwrap();
        // Players who are level in every published column may stand in any order.
        assert_eq!(own[9..], rows[at][9..], "{row}");
    }
    assert!(text(&desk.renmei(&["verify", "event.db"])).contains("nothing was altered"));
    let again = desk.renmei(&import);
    assert!(again.status.code() == Some(2) || text(&again).contains("--event"), "{}", text(&again));
    desk.write("wrong.csv", "round,black,white,result\n1,a,b,2-0\n1,a,a,1-0\n");
    let wrong = desk.renmei(&["import", "wrong.csv", "--db", "event.db", "--event", "wrong"]);
    assert_eq!(wrong.status.code(), Some(1));
    assert!(
        text(&wrong).contains("wrong.csv:2: ") && text(&wrong).contains("wrong.csv:3: "),
        "{}",
        text(&wrong)
    );
}

/// A Swiss with a bye, a game that was not played, and one to which neither player came.
const CUP: &str = "name\tr1\tr2\tr3\nKai\t2b+\t3w=\t4b-f\nBo\t1w-\tbye\t3b+f\nあい\t4b+\t1b=\t2w-f\n\
                   Di\t3w-\tbye0\t1w-f\n";

#[test]
fn who_met_whom_leaves_as_a_table_and_as_a_tournament_report_that_come_back() {
    let desk = Desk::new();
    desk.write("cup.tsv", CUP);
    let points = |event: &str| {
        let output = desk.renmei(&["report", "event.db", "--event", event, "--json"]);
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let mut rows: Vec<String> = report["stages"][0]["table"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| format!("{} {} {}", row["name"], row["points"], row["tie_breaks"]))
            .collect();
        rows.sort();
        rows
    };
    let import = |file: &str, event: &str| {
        let output = desk.renmei(&["import", file, "--db", "event.db", "--event", event]);
        assert!(text(&output).contains("5 records in 1 file, 5 imported"), "{}", text(&output));
    };
    import("cup.tsv", "cup");
    for file in ["out.tsv", "out.trf"] {
        let output = desk.renmei(&["report", "event.db", "--event", "cup", "--rounds", file]);
        assert!(output.status.success(), "{}", text(&output));
        import(file, file);
        assert_eq!(points(file), points("cup"), "{file}");
    }
    let shown = text(&desk.renmei(&["report", "event.db", "--event", "cup", "--rounds"]));
    assert!(shown.contains("Kai") && shown.contains("b-f") && shown.contains("bye0"), "{shown}");
    let refused = desk.renmei(&["report", "event.db", "--rounds", "out.pgn"]);
    assert!(refused.status.code() == Some(2) && text(&refused).contains("FILE.trf"), "{}", text(&refused));
}

#[test]
fn an_output_replaces_what_such_a_command_wrote_before_and_what_is_no_file_is_named() {
    let desk = Desk::new();
    desk.write("cup.tsv", CUP);
    desk.write("game.usi", "startpos moves 7g7f 3c3d 2g2f\n");
    desk.renmei(&["import", "cup.tsv", "--db", "event.db", "--event", "cup"]);
    desk.renmei(&["import", "game.usi", "--db", "event.db", "--event", "game"]);
    let notes = "int main(void);\n";
    desk.write("main.c", notes);
    for ending in ["html", "svg", "png", "tsv", "trf", "csa"] {
        std::os::unix::fs::symlink(desk.path("main.c"), desk.path(&format!("link.{ending}"))).unwrap();
    }
    for (command, event, own) in [
        (["report", "--html"], "cup", "page.html"),
        (["report", "--plot"], "cup", "elo.svg"),
        (["report", "--plot"], "cup", "elo.png"),
        (["report", "--rounds"], "cup", "rounds.tsv"),
        (["report", "--rounds"], "cup", "rounds.trf"),
        (["export", "--output"], "game", "games.csa"),
    ] {
        let write = |to: &str| desk.renmei(&[command[0], "event.db", "--event", event, command[1], to]);
        for turn in ["the first time", "again"] {
            let written = write(own);
            assert!(written.status.success(), "{own}, {turn}: {}", text(&written));
            assert!(std::fs::metadata(desk.path(own)).unwrap().len() > 0, "{own}");
        }
        let link = format!("link.{}", own.rsplit_once('.').unwrap().1);
        for other in ["main.c", &link] {
            let refused = write(other);
            assert!(!refused.status.success(), "{own} to {other}");
            assert_eq!(std::fs::read_to_string(desk.path("main.c")).unwrap(), notes, "{own} to {other}");
            let said = text(&refused);
            let is_named = said.contains("it holds something else than") && said.contains(other);
            assert!(
                is_named || said.contains("pictures are written") || said.contains("is neither"),
                "{said}"
            );
        }
    }
    std::fs::create_dir(desk.path("games")).unwrap();
    std::os::unix::fs::symlink(desk.path("nothing"), desk.path("games/a.csa")).unwrap();
    for (unreadable, why) in
        [("/dev/random", "it is a device"), ("games", "games/a.csa: cannot be read: it is a link")]
    {
        let refused = text(&desk.renmei(&["import", unreadable, "--db", "event.db", "--event", "x"]));
        assert!(refused.contains(why), "{refused}");
    }
    for of_another in ["event.db-wal", "event.db-run1", "other.db-journal"] {
        let refused = desk.renmei(&["pack", "event.db", "-o", of_another]);
        assert!(text(&refused).contains("it belongs to the database"), "{}", text(&refused));
        assert!(!desk.path(of_another).exists(), "{of_another}");
    }
}

#[test]
fn an_arbiter_rules_on_the_day_after_the_last_game() {
    let desk = Desk::new();
    desk.write("cup.tsv", CUP);
    desk.renmei(&["import", "cup.tsv", "--db", "event.db", "--event", "cup"]);
    let ruled = desk.renmei(&["admin", "event.db", "rule", "1", "draw", "--reason", "two engines"]);
    assert!(text(&ruled).contains("(operation 1)"), "{}", text(&ruled));
    let report = text(&desk.renmei(&["report", "event.db"]));
    assert!(report.contains("two engines"), "{report}");
    let half = desk.renmei(&["report", "event.db", "--rounds", "out.tsv"]);
    assert!(
        half.status.success() && std::fs::read_to_string(desk.path("out.tsv")).unwrap().contains("b="),
        "{}",
        text(&half)
    );
    assert!(text(&desk.renmei(&["verify", "event.db"])).contains("nothing was altered"));
    let refused = desk.renmei(&["admin", "event.db", "pause"]);
    assert!(
        refused.status.code() == Some(1) && text(&refused).contains("can still be done"),
        "{}",
        text(&refused)
    );
}
