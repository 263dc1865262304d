//! A league as a web page and as pictures, through the real binary.

use crate::support::{Desk, program};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value;
use std::io::Read;

/// The games on a page, each with its moves behind it, as JSON that is packed.
pub fn games_of(page: &str) -> String {
    let json = page.split_once("id=\"state\">").unwrap().1.split_once("</script>").unwrap().0;
    let data: Value = serde_json::from_str(json).unwrap();
    let packed = STANDARD.decode(data["games"].as_str().unwrap()).unwrap();
    let mut games = String::new();
    flate2::read::GzDecoder::new(&*packed).read_to_string(&mut games).unwrap();
    games
}

fn league(desk: &Desk) -> String {
    let random = format!("cmd={}", program("renmei-random").display());
    let players: [&[&str]; 2] = [&[&random, "name=<b>bold</b>"], &[&random, "name=other", "option.Seed=9"]];
    let played = desk.play(&players, &["--games", "4", "--time", "300s", "--max-moves", "100"]);
    assert_eq!(played.json()["games"], 4);
    desk.db().display().to_string()
}

#[test]
fn a_league_is_published_as_one_page_with_every_game() {
    let desk = Desk::new();
    let db = league(&desk);
    let done = desk.renmei(&["report", &db, "--html", "league.html"]);
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
    let page = std::fs::read_to_string(desk.path("league.html")).unwrap();
    assert!(page.contains("&lt;b&gt;bold&lt;/b&gt;") && !page.contains("<b>bold"), "names are text");
    let games: Vec<Value> = games_of(&page).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(games.len(), 2 * 4, "each has a line for its moves");
    assert!(games[0]["names"].as_array().unwrap().contains(&"<b>bold</b>".into()));
    for section in ["standings", "elo", "ratings", "endings", "games"] {
        assert!(page.contains(&format!("<section id=\"{section}\">")), "{section}");
    }
}

#[test]
fn a_report_is_in_the_language_that_is_asked_for_and_its_json_is_the_same_in_both() {
    let desk = Desk::new();
    let db = league(&desk);
    let told = |args: &[&str]| {
        let out = desk.renmei(&[&["report", &db], args].concat());
        assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap()
    };
    let (english, japanese) = (told(&[]), told(&["--language", "ja"]));
    assert!(english.contains("black scores") && english.contains(" against other "), "{english}");
    for words in
        ["総当たり戦", "4 局", "対局者", "先手の得点率", "終局：", " 対 other ", "強い確率", "対局プログラム"]
    {
        assert!(japanese.contains(words), "{words}: {japanese}");
    }
    for words in ["games", "black", "resignation", "against", "played by", "likely"] {
        assert!(!japanese.contains(words), "{words}: {japanese}");
    }
    assert_eq!(told(&["--json"]), told(&["--json", "--language", "ja"]));
    assert_eq!(desk.renmei(&["report", &db, "--language", "de"]).status.code(), Some(2));
    for args in [&["--list"][..], &["--openings"], &["--scales"]] {
        let japanese = told(&[args, &["--language", "ja"]].concat());
        assert!(!japanese.contains("games") && !japanese.contains("player"), "{japanese}");
    }
}

#[test]
fn pictures_are_drawn_by_name_and_impossible_ones_are_refused_with_a_reason() {
    let desk = Desk::new();
    let db = league(&desk);
    let draw = |file: &str, of: &str| desk.renmei(&["report", &db, "--plot", file, "--of", of]);
    for of in ["elo", "ratings", "endings", "time", "eval:2"] {
        assert_eq!(draw("picture.svg", of).status.code(), Some(0), "{of}");
        let svg = std::fs::read_to_string(desk.path("picture.svg")).unwrap();
        assert!(svg.starts_with("<svg xmlns=") && !svg.contains("<b>"), "{of}: {svg}");
    }
    assert_eq!(draw("picture.png", "elo").status.code(), Some(0));
    assert!(std::fs::read(desk.path("picture.png")).unwrap().starts_with(b"\x89PNG"));
    for (file, of, why) in [
        ("picture.jpg", "elo", "pictures are written as .svg or .png"),
        ("picture.svg", "sprt", "has no sequential test"),
        ("picture.svg", "eval:99", "has no game 99"),
        ("picture.svg", "weather", "expected elo, ratings, sprt, tuning, endings, time or eval:N"),
    ] {
        let refused = draw(file, of);
        let stderr = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains(why), "{stderr}");
    }
}

/// Records of games between three players: two are level, the third loses every game; a move takes milliseconds.
fn level_games(desk: &Desk) -> String {
    let mut records = vec![];
    for (black, white, ending) in [
        ("a", "b", "%TORYO"),
        ("b", "a", "%TORYO"),
        ("a", "b", "%KACHI"),
        ("b", "a", "%KACHI"),
        ("a", "c", "%KACHI"),
        ("c", "a", "%TORYO"),
        ("b", "c", "%KACHI"),
        ("c", "b", "%TORYO"),
    ] {
        let mut text = format!("V3.0\nN+{black}\nN-{white}\nPI\n+\n");
        for file in 1..=9 {
            let other = 10 - file;
            text += &format!("+{file}7{file}6FU\nT0.00{}\n-{other}3{other}4FU\nT0.002\n", file % 3);
        }
        records.push(text + ending + "\n");
    }
    desk.write("level.csa", &records.join("/\n"));
    let db = desk.db().display().to_string();
    let done = desk.renmei(&["import", "level.csa", "--db", &db]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    db
}

/// What a person reads of a page: its text without tags, scripts and styles.
fn visible(page: &str) -> String {
    let page = page.split("<script").next().unwrap();
    page.split('<').filter_map(|part| part.split_once('>')).map(|(_, text)| format!("{text}\n")).collect()
}

#[test]
fn no_report_shows_minus_zero_or_two_minus_signs() {
    let desk = Desk::new();
    let db = level_games(&desk);
    let text = String::from_utf8(desk.renmei(&["report", &db]).stdout).unwrap();
    let words = |text: &str| text.split([' ', '\n', '(', '[', ',']).map(str::to_owned).collect::<Vec<_>>();
    assert!(words(&text).iter().all(|word| word != "-0" && word != "-0.0"), "{text}");
    assert!(words(&text).iter().any(|word| word == "+0"), "the level pair is shown: {text}");
    desk.renmei(&["report", &db, "--html", "level.html"]);
    let page = visible(&std::fs::read_to_string(desk.path("level.html")).unwrap());
    assert!(page.contains("≈\u{202f}−"), "the loser's Elo is uncertain: {page}");
    assert!(!page.contains("~−") && !page.contains("worth -") && !page.contains("−0 "), "{page}");
}

#[test]
fn the_labels_of_an_axis_differ_however_small_its_values() {
    let desk = Desk::new();
    let db = level_games(&desk);
    for of in ["time", "ratings", "elo"] {
        let done = desk.renmei(&["report", &db, "--plot", "picture.svg", "--of", of]);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let svg = std::fs::read_to_string(desk.path("picture.svg")).unwrap();
        for class in ["quiet end", "quiet mid"] {
            let labels: Vec<&str> = svg
                .split(&format!("<text class=\"{class}\""))
                .skip(1)
                .filter_map(|text| text.split(['>', '<']).nth(1))
                .collect();
            let different: std::collections::HashSet<_> = labels.iter().collect();
            assert!(
                different.len() == labels.len() && !labels.iter().any(|label| label.ends_with('.')),
                "{of}: {labels:?}"
            );
        }
    }
}

/// A match in which `bad` drops a second pawn on a file; the text says why it lost.
fn foul_play(desk: &Desk) -> String {
    let (bad, good) = ("renmei-puppet", "renmei-random");
    let [bad, good] = [bad, good].map(|name| format!("cmd={}", program(name).display()));
    let players: [&[&str]; 2] =
        [&[&bad, "name=bad", "option.Mode=nifu", "option.Seed=5"], &[&good, "name=good"]];
    let played = desk.play(&players, &["--games", "4", "--time", "600s", "--name", "fouls"]);
    assert_eq!(played.standing("bad")["lost_by"]["illegal-move:nifu"], 4, "{}", played.text());
    let lines = String::from_utf8_lossy(&played.output.stderr).into_owned();
    assert!(lines.contains("plies): `P*") && lines.contains("`: nifu, a second pawn on its file"), "{lines}");
    let live = played.json();
    let failure = &live["failures"][0];
    assert_eq!((&failure["name"], &failure["opponent"]), (&"bad".into(), &"good".into()), "{live}");
    failure["reason"].as_str().unwrap().to_owned()
}

#[test]
fn why_a_game_was_lost_is_told_everywhere_the_game_is() {
    let desk = Desk::new();
    let reason = foul_play(&desk);
    assert!(reason.starts_with("`P*") && reason.ends_with("`: nifu, a second pawn on its file"), "{reason}");
    let db = desk.db().display().to_string();
    let said = |args: &[&str]| {
        let done = desk.renmei(args);
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    };
    let text = said(&["report", &db]);
    assert!(text.contains("lost by a fault") && text.contains(&reason), "{text}");
    let json: serde_json::Value = serde_json::from_str(&said(&["report", &db, "--json"])).unwrap();
    assert_eq!(json["failures"].as_array().unwrap().len(), 4);
    assert_eq!(json["failures"][0]["cause"], "illegal-move:nifu");
    said(&["report", &db, "--html", "fouls.html"]);
    let page = std::fs::read_to_string(desk.path("fouls.html")).unwrap();
    let shown = reason.replacen('`', "<code>", 1).replacen('`', "</code>", 1);
    assert!(page.contains(&shown), "{shown}");
    assert!(games_of(&page).contains(&reason), "the board's data has it: {reason}");
    for format in ["csa", "kifu", "jkf"] {
        let record = said(&["export", &db, "--game", "1", "--format", format]);
        assert!(record.contains(&format!("reason: {reason}")), "{format}: {record}");
    }
    assert!(said(&["export", &db, "--game", "1"]).contains(&format!("'*reason: {reason}")));
}

#[test]
fn strength_is_printed_by_families_of_openings_and_by_single_lines() {
    let desk = Desk::new();
    let command = program("renmei-random");
    desk.write("two.sfen", "startpos moves 7g7f 3c3d\nstartpos moves 2g2f 8c8d\n");
    let config = format!(
        "[event]\nname = \"lines\"\ngames = 8\n[openings]\nfile = \"two.sfen\"\n[rules]\nmax_moves = 60\n[time]\n\
         main = \"300s\"\n[defaults]\ncommand = '{}'\n[[engines]]\nname = \"a\"\n[[engines]]\nname = \"b\"\n",
        command.display()
    );
    desk.write("match.toml", &config);
    assert_eq!(desk.renmei(&["run", "match.toml", "--db", "match.db"]).status.code(), Some(0));
    let printed = |words: &[&str]| {
        let done = desk.renmei(&[&["report", "match.db", "--openings"], words].concat());
        assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).into_owned()
    };
    let families = printed(&[]);
    assert!(families.starts_with("  openings") && families.contains("95 %"), "{families}");
    let sets: serde_json::Value = serde_json::from_str(&printed(&["lines", "--json"])).unwrap();
    let mut lines: Vec<_> =
        sets.as_array().unwrap().iter().map(|set| (&set["name"], &set["games"])).collect();
    lines.sort_by_key(|(name, _)| name.to_string());
    assert_eq!(lines[0], (&"startpos moves 2g2f 8c8d".into(), &4.into()), "{sets}");
    assert_eq!(lines[1], (&"startpos moves 7g7f 3c3d".into(), &4.into()), "{sets}");
    let files: serde_json::Value = serde_json::from_str(&printed(&["two.sfen", "--json"])).unwrap();
    assert_eq!((&files[0]["name"], &files[0]["lines"]), (&"two.sfen".into(), &2.into()), "{files}");
}
