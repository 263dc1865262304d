use super::*;
use crate::EventHistory;
use contest::schedule::Pairing;
use journal::{EventHead, EventSummary, Journal, Moves, Writer};
use referee::{
    Color, Outcome, WinBy,
    entry::{Entry, GameEnded, GameId, GameStarted, Moved, Opened, PlayerId, Score, Stamped, Thought},
    opening::EVEN,
};
use rsshogi::types::Move;
use std::time::Duration;

const HOSTILE: &str = "</script><img src=x onerror=alert(1)>";

/// A stored event of one game, with these engines in its plan: two plies of opening, three of the engines.
fn event(directory: &std::path::Path, engines: &str) -> (Writer, EventSummary) {
    let stage = r#"{"format":{"format":"round-robin","cycles":1},"games":2,"entrants":null}"#;
    let plan = format!(r#"{{"name":"e","stages":[{stage}],"sprt":null,"engines":[{engines}]}}"#);
    let head = EventHead { name: HOSTILE, kind: "run", plan: &plan, fingerprint: "{}" };
    let opening = Journal::open(&directory.join("event.db"), &head).unwrap();
    let journal = opening.start(vec![], || ()).unwrap();
    for (at, entry) in (1_790_000_000_000..).step_by(1000).zip(events()) {
        journal.append([Stamped { at, entry }]);
    }
    let store = journal.finish().unwrap();
    let summary = store.events().unwrap().remove(0);
    (store, summary)
}

fn events() -> Vec<Entry> {
    let (game, black, white) = (GameId(1), PlayerId(0), PlayerId(1));
    let pairing = Pairing { stage: 0, index: 0, attempt: 0, round: 1, pair: 0, opening: 0, black, white };
    let players = vec![HOSTILE.to_owned(), "\u{202e}other".to_owned()];
    let opened = Opened { name: HOSTILE.to_owned(), players, format: String::new(), resumed: false };
    let (start, opening) = (EVEN.to_owned(), "7g7f 3c3d".to_owned());
    let mut events = vec![
        Entry::Opened(opened),
        Entry::GameStarted(GameStarted { game, pairing, start, opening, times: None }),
    ];
    for (ply, usi) in (3..).zip(["8h2b+", "3a2b", "B*5e"]) {
        let time = Duration::from_millis(1500);
        let thought = Thought {
            score: Some(Score::Cp(120)),
            depth: Some(9),
            pv: Some(usi.to_owned()),
            ..Thought::default()
        };
        events.push(Entry::Moved(Moved {
            game,
            ply,
            color: if ply % 2 == 1 { Color::Black } else { Color::White },
            mv: Move::from_usi(usi).unwrap(),
            charged: time,
            elapsed: time,
            left: time,
            thought: Some(Box::new(thought)),
        }));
    }
    let outcome = Outcome::Win { winner: Color::Black, by: WinBy::Resignation };
    let ended = GameEnded { evidence: HOSTILE.to_owned(), ..GameEnded::new(game, pairing, outcome, 5) };
    events.extend([Entry::GameEnded(ended), Entry::Closed]);
    events
}

fn page_of_one_game() -> (EventHistory, String) {
    page_with("")
}

/// The page of the game in an event with these engines in its plan.
fn page_with(engines: &str) -> (EventHistory, String) {
    let directory = tempfile::tempdir().unwrap();
    let (store, event) = event(directory.path(), engines);
    let history = EventHistory::read(&store, &event, Moves::With).unwrap();
    let page = pages(&history, "e.html", Language::English).unwrap().remove(0).html;
    (history, page)
}

#[test]
fn names_are_escaped_everywhere() {
    let (_, page) = page_of_one_game();
    assert!(!page.contains("<img") && !page.contains('\u{202e}'), "{page}");
    assert_eq!(page.matches("</script>").count(), 2, "the data's and the script's");
    assert!(page.contains("&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;"));
}

#[test]
fn the_page_loads_nothing_and_runs_only_its_own_script() {
    let (_, page) = page_of_one_game();
    // The XML namespace of pictures is not an address.
    let page = page.replace("http://www.w3.org/2000/svg", "");
    for address in ["http:", "https:", "//cdn", "@import", "url(", "<link", " src="] {
        let elsewhere = page.replace(HOSTILE_ADDRESS, "");
        assert!(!elsewhere.contains(address), "{address}");
    }
    assert!(page.contains("default-src 'none'") && !page.contains("unsafe-inline"));
    assert!(!page.contains(" style=\"") && !page.contains(" onclick"));
}

/// The address-like part of the hostile name, however its brackets are escaped.
const HOSTILE_ADDRESS: &str = "img src=x onerror";

#[test]
fn the_page_knows_the_scales_that_the_event_gives_to_scores() {
    let scales = |engines| {
        let (_, page) = page_with(engines);
        let json = page.split_once("id=\"data\">").unwrap().1.split_once("</script>").unwrap().0;
        serde_json::from_str::<serde_json::Value>(json).unwrap()["scales"].clone()
    };
    assert_eq!(scales(""), serde_json::json!([null, null]));
    assert_eq!(scales(r#"{"name":"a"},{"name":"b","scale":1200}"#), serde_json::json!([null, 0.5]));
}

#[test]
fn a_game_is_packed_with_opening_result_and_thoughts() {
    let (history, page) = page_of_one_game();
    let json = page.split_once("id=\"data\">").unwrap().1.split_once("</script>").unwrap().0;
    let data: serde_json::Value = serde_json::from_str(json).unwrap();
    let game = &data["games"][0];
    assert_eq!(data["players"][0], HOSTILE);
    assert_eq!((&game[0], &game[2], &game[5]), (&1.into(), &1.into(), &2.into()), "number, result, opening");
    let columns = [&game[6]].into_iter().chain(game[7].as_array().unwrap());
    let lengths: Vec<usize> = columns.map(|column| column.as_str().unwrap().len()).collect();
    assert_eq!(
        lengths,
        [11, 6, 6, 3, 10],
        "five moves with one promotion; two, two and one letters for three plies; their lines"
    );
    assert_eq!(history.usage[0].moves, 2);
    assert_eq!(history.games.games(), 1);
}

#[test]
fn numbers_and_times_are_formatted_for_readers() {
    assert_eq!(
        [0, 999, 1000, 1_234_567].map(thousands),
        ["0", "999", "1\u{202f}000", "1\u{202f}234\u{202f}567"]
    );
    let day = 86_400_000;
    assert_eq!(span(0, 1000), "1970/01/01, 00:00:00 – 00:00:01 UTC");
    assert!(span(0, day).contains("1970/01/02"));
}

#[test]
fn a_japanese_page_has_japanese_plots_and_sentences() {
    let (history, _) = page_of_one_game();
    let japanese = live_sections(&history, Language::Japanese).into_string();
    assert!(japanese.contains("先手（☗）の勝ち") && japanese.contains("1 局"), "{japanese}");
    for word in [
        "Black (☗) won",
        "· complete",
        ">newest first<",
        ">ply<",
        ">games<",
        "Seconds a move",
        ">resignation<",
        ">mate<",
    ] {
        assert!(!japanese.contains(word), "{word}: {japanese}");
    }
    let english = live_sections(&history, Language::English).into_string();
    assert!(english.contains("Black (☗) won") && !english.contains("先手"), "{english}");
}

#[test]
fn a_large_event_has_its_older_games_on_pages_of_their_own_and_none_is_over_five_megabytes() {
    let mut packer = pack::Packer::default();
    let (black, white) = (PlayerId(0), PlayerId(1));
    let count = 40_000;
    for (game, opening) in (1..=count).map(GameId).zip([["7g7f", "3c3d"], ["2g2f", "8c8d"]].iter().cycle()) {
        let pairing =
            Pairing { stage: 0, index: game.0, attempt: 0, round: 1, pair: 0, opening: 0, black, white };
        let start =
            GameStarted { game, pairing, start: EVEN.to_owned(), opening: opening.join(" "), times: None };
        let outcome = Outcome::Win { winner: Color::Black, by: WinBy::Time };
        let evidence =
            "black: no reply within 200 ms, while the other engine printed a rather long line".to_owned();
        let ended = GameEnded { evidence, ..GameEnded::new(game, pairing, outcome, 2) };
        for entry in [Entry::GameStarted(start), Entry::GameEnded(ended)] {
            packer.take(&Stamped { at: 0, entry });
        }
    }
    let (mut history, _) = page_of_one_game();
    history.games = packer;
    let pages = pages(&history, "my league.html", Language::English).unwrap();
    assert!(pages.len() > 1, "{} bytes", pages[0].html.len());
    assert!(pages.iter().all(|page| page.html.len() < 5_000_000));
    let numbers = |page: &Page| -> Vec<u64> {
        let json = page.html.split_once("id=\"data\">").unwrap().1.split_once("</script>").unwrap().0;
        let data: serde_json::Value = serde_json::from_str(json).unwrap();
        assert_eq!(data["starts"].as_array().unwrap().len(), 1);
        data["games"].as_array().unwrap().iter().map(|game| game[0].as_u64().unwrap()).collect()
    };
    assert_eq!(numbers(&pages[0]).last(), Some(&count), "the newest are on the first page");
    let mut all: Vec<u64> = pages.iter().flat_map(numbers).collect();
    all.sort_unstable();
    assert_eq!(all, (1..=count).collect::<Vec<_>>());
    assert_eq!(pages[1].file, "my league-games-1.html");
    assert!(pages[0].html.contains("href=\"./my%20league-games-1.html\""));
    assert!(pages[1].html.contains("href=\"./my%20league.html\""));
}

#[test]
fn an_error_has_the_sign_for_plus_and_minus() {
    assert_eq!(minus("-104 +-215, -3"), "−104 ±215, −3");
}
