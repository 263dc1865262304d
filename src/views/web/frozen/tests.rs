use super::*;
use contest::schedule::Pairing;
use journal::{EventHead, Journal, Writer};
use referee::{
    Color, Outcome, WinBy,
    entry::{Entry, GameEnded, GameId, GameStarted, Moved, Opened, PlayerId, Score, Stamped, Thought},
    opening::EVEN,
};
use rsshogi::types::Move;
use std::{io::Read, time::Duration};

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
    let page = freeze(&store, &event, "e.html", Language::English).unwrap().files.remove(0).1;
    (history, page)
}

/// The games of a page: a line for each, and one for its moves.
fn unpacked(page: &str) -> String {
    let json = page.split_once("id=\"state\">").unwrap().1.split_once("</script>").unwrap().0;
    let data: serde_json::Value = serde_json::from_str(json).unwrap();
    let packed = STANDARD.decode(data["games"].as_str().unwrap()).unwrap();
    let mut text = String::new();
    flate2::read::GzDecoder::new(&*packed).read_to_string(&mut text).unwrap();
    text
}

/// The first game of a page with its moves.
fn game_of(page: &str) -> serde_json::Value {
    let text = unpacked(page);
    let [mut game, moves]: [serde_json::Value; 2] =
        [0, 1].map(|line| serde_json::from_str(text.lines().nth(line).unwrap()).unwrap());
    game["moves"] = moves;
    game
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
        game_of(&page)["scales"].clone()
    };
    assert_eq!(scales(""), serde_json::Value::Null);
    assert_eq!(scales(r#"{"name":"a"},{"name":"b","scale":1200}"#), serde_json::json!([1.0, 0.5]));
}

#[test]
fn a_game_is_packed_with_opening_result_and_thoughts() {
    let (history, page) = page_of_one_game();
    let game = game_of(&page);
    assert_eq!((&game["number"], &game["names"][0]), (&1.into(), &HOSTILE.into()));
    assert_eq!((&game["opening"], &game["end"]["result"]), (&"7g7f 3c3d".into(), &"black".into()));
    let known = |key: &str| -> Vec<serde_json::Value> {
        game["moves"].as_array().unwrap().iter().map(|ply| ply[key].clone()).collect()
    };
    assert_eq!(known("m"), ["8h2b+", "3a2b", "B*5e"]);
    assert_eq!(known("pv"), ["8h2b+", "3a2b", "B*5e"]);
    assert_eq!((known("s"), known("c")), (vec![120.into(), (-120).into(), 120.into()], vec![1500.into(); 3]));
    assert_eq!(
        (known("d"), known("at")),
        (vec![9.into(); 3], vec![0.into(); 3]),
        "no clocks without a stream"
    );
    assert_eq!(history.usage[0].moves, 2);
}

#[test]
fn a_japanese_page_has_japanese_plots_and_sentences() {
    let (history, _) = page_of_one_game();
    let sections_of =
        |words| html! { (heading(&history, words)) (sections(&history, words, None)) }.into_string();
    let japanese = sections_of(Language::Japanese);
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
    let english = sections_of(Language::English);
    assert!(english.contains("Black (☗) won") && !english.contains("先手"), "{english}");
}

/// A stored game with so many moves, and in each an expected line, that are as hard to pack as moves can be.
fn stored(number: u64, (plies, line): (u32, usize), noise: &mut u64) -> FullGame {
    let (game, black, white) = (GameId(number), PlayerId(0), PlayerId(1));
    let pairing =
        Pairing { stage: 0, index: number, attempt: 0, round: 1, pair: 0, opening: 0, black, white };
    let mut next = |below: u64| {
        *noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*noise >> 33) % below
    };
    let square = |at: u64| format!("{}{}", at / 9 + 1, char::from(b'a' + (at % 9) as u8));
    let mv = |next: &mut dyn FnMut(u64) -> u64| {
        let from = next(81);
        square(from) + &square((from + 1 + next(80)) % 81)
    };
    let mut moves = vec![];
    for ply in 1..=plies {
        let [charged, left] = [next(60_000), next(600_000)].map(Duration::from_millis);
        let (score, depth) = (Some(Score::Cp(next(6000) as i32 - 3000)), Some(next(40) as u32));
        let pv = (0..line).map(|_| mv(&mut next)).collect::<Vec<_>>().join(" ");
        let thought = Some(Box::new(Thought { score, depth, pv: Some(pv), ..Thought::default() }));
        let mv = Move::from_usi(&mv(&mut next)).unwrap();
        let color = Color::Black;
        moves.push((0, Moved { game, ply, color, mv, charged, elapsed: charged, left, thought }));
    }
    let evidence =
        "black: no reply within 200 ms, while the other engine printed a rather long line".to_owned();
    let [black, white] = ["a", "b"].map(str::to_owned);
    let row = GameRow {
        game,
        pairing,
        black,
        white,
        start: Some(EVEN.to_owned()),
        opening: Some(["7g7f 3c3d", "2g2f 8c8d"][number as usize % 2].to_owned()),
        times: None,
        started_at: Some(0),
        ended_at: Some(0),
        outcome: Some(Outcome::Win { winner: Color::Black, by: WinBy::Time }),
        plies: Some(plies),
        moves_hash: None,
        evidence,
        replayed: false,
        pruned_at: None,
        ruling: None,
    };
    FullGame { row, moves, opening_times: vec![], judged: vec![] }
}

#[test]
fn a_large_event_has_its_older_games_on_pages_of_their_own_and_none_is_over_five_megabytes() {
    let (history, _) = page_of_one_game();
    let count = 40_000;
    let game = |number| stored(number, (0, 0), &mut 1);
    let mut parts = Parts::of(&(1..=count).map(|number| Size::of(&game(number).row)).collect::<Vec<_>>());
    (1..=count).for_each(|number| parts.take(&game(number), &history).unwrap());
    let pages = parts.files(&history, "my league.html", Language::English).unwrap();
    assert!(pages.len() > 1, "{} bytes", pages[0].1.len());
    assert!(pages.iter().all(|(_, page)| page.len() < 5_000_000));
    let numbers = |page: &(String, String)| -> Vec<u64> {
        let number = |game: &str| game.split([':', ',']).nth(1).unwrap().parse().unwrap();
        unpacked(&page.1).lines().step_by(2).map(number).collect()
    };
    assert_eq!(numbers(&pages[0]).last(), Some(&count), "the newest are on the first page");
    let mut all: Vec<u64> = pages.iter().flat_map(numbers).collect();
    all.sort_unstable();
    assert_eq!(all, (1..=count).collect::<Vec<_>>());
    assert_eq!(pages[1].0, "my league-games-1.html");
    assert!(pages[0].1.contains("href=\"./my%20league-games-1.html\""));
    assert!(pages[1].1.contains("href=\"./my%20league.html\""));
}

#[test]
fn no_game_takes_more_of_a_page_than_was_estimated_however_hard_it_is_to_pack() {
    let (history, _) = page_of_one_game();
    for line in [0, LINE] {
        let (mut noise, numbers) = (1, 1..=20);
        let games = numbers.map(|number| stored(number, (150, 2 * line), &mut noise)).collect::<Vec<_>>();
        let sizes: Vec<Size> = games.iter().map(|game| Size::of(&game.row)).collect();
        let mut parts = Parts { line, ..Parts::of(&sizes) };
        games.iter().for_each(|game| parts.take(game, &history).unwrap());
        let packed = parts.parts.remove(0).packed.finish().unwrap().len();
        let (bytes, most) =
            (packed.div_ceil(3) * 4, sizes.iter().map(|size| size.bytes(line)).sum::<usize>());
        assert!(bytes <= most && 2 * bytes > most, "{bytes} of {most} bytes, lines of {line} moves");
    }
}
