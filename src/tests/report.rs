//! A league as a web page and as pictures, through the real binary.

use crate::support::{Desk, program};

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
    let json = page.split_once("id=\"data\">").unwrap().1.split_once("</script>").unwrap().0;
    let data: serde_json::Value = serde_json::from_str(json).unwrap();
    assert_eq!(data["games"].as_array().unwrap().len(), 4);
    assert_eq!(data["players"][0], "<b>bold</b>");
    for section in ["standings", "elo", "ratings", "endings", "games"] {
        assert!(page.contains(&format!("<section id=\"{section}\">")), "{section}");
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
        ("picture.svg", "weather", "expected elo, ratings, sprt, endings, time or eval:N"),
    ] {
        let refused = draw(file, of);
        let stderr = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains(why), "{stderr}");
    }
}
