//! Watching what is played: boards, keys, and what a viewer misses.

use crate::{
    board::{READ, stored_boards},
    driver::{Browser, key, wait_for},
    site::{Site, live, stored},
    support::Desk,
    wire::Wire,
};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    io::{Read, Write},
    net::TcpListener,
};

/// The boards of the page of running games: number, words of the last move, drawn position.
const CARDS: &str = r##"return [...document.querySelectorAll("#boards .card")].map((card) => ({
  number: Number(card.dataset.game), last: card.querySelector(".foot .last").textContent, over: card.classList.contains("over"),
  board: readSvg(card.querySelector("svg")) }));"##;
/// Rows of the last results: number, result, plies.
const RESULTS: &str = r##"return [...document.querySelectorAll("#results tr")].map((row) => ({
  number: Number(row.cells[0].textContent.slice(1)), result: row.cells[2].textContent, plies: row.cells[5].textContent }));"##;

fn ended(desk: &Desk) -> u64 {
    let rows = desk.try_query("SELECT count(*) FROM games WHERE ended_at IS NOT NULL");
    rows.map_or(0, |rows| rows[0][0].parse().unwrap())
}

/// Compares every board of the page with the store; returns how many were compared.
fn compare_cards(browser: &Browser, desk: &Desk) -> usize {
    let cards = browser.run(&format!("{READ}{CARDS}"), &Value::Null);
    let cards = cards.as_array().unwrap();
    for card in cards {
        let (number, last) = (card["number"].as_u64().unwrap(), card["last"].as_str().unwrap());
        let boards = stored_boards(desk, number);
        // `12 ☗７六歩(77)` while the game runs; a board that is over shows the position before the end.
        let ply = match last.split(' ').next().and_then(|word| word.parse::<usize>().ok()) {
            Some(ply) => ply,
            None if last == "start" => 0,
            None => boards.len() - 1,
        };
        assert_eq!(card["board"], boards[ply].as_str(), "game {number} at ply {ply}: {last}");
    }
    cards.len()
}

/// Compares the last results of the page with the store: the right ones, and none left out between them.
fn compare_results(browser: &Browser, desk: &Desk) {
    let shown = browser.run(RESULTS, &Value::Null);
    let shown: BTreeMap<u64, (&str, &str)> = shown
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            (
                row["number"].as_u64().unwrap(),
                (row["result"].as_str().unwrap(), row["plies"].as_str().unwrap()),
            )
        })
        .collect();
    let rows = desk.query(
        "SELECT number, result, plies, ended_at FROM games WHERE ended_at IS NOT NULL ORDER BY ended_at",
    );
    let sign = |result: &str| match result {
        "black" => "1–0",
        "white" => "0–1",
        "draw" => "½",
        _ => "–",
    };
    let over: Vec<(u64, (&str, &str))> =
        rows.iter().map(|row| (row[0].parse().unwrap(), (sign(&row[1]), &*row[2]))).collect();
    let known = |number: &u64| over.iter().position(|(other, _)| other == number).expect("it is stored");
    let first = shown.keys().map(known).min().unwrap();
    let last = shown.keys().map(known).max().unwrap();
    for (number, facts) in &over[first..=last] {
        // Games that ended in the same millisecond have no order in the store.
        let same = |at: usize| rows[at][3] == rows[known(number)][3];
        assert!(shown.contains_key(number) || same(first), "game {number} is missing between {shown:?}");
        assert!(shown.get(number).is_none_or(|seen| seen == facts), "game {number}: {shown:?} and {facts:?}");
    }
    assert!(shown.len() >= 20 || first == 0, "{shown:?}");
}

#[test]
#[ignore = "needs Chromium; run by cargo xtask browser"]
fn the_boards_of_the_page_equal_the_store_until_fifty_games_are_over() {
    let desk = Desk::new();
    let site = live(&desk, "100000");
    let browser = Browser::start("en");
    browser.open(&site.at("/"));
    let mut compared = 0;
    wait_for("fifty games", || {
        compared += compare_cards(&browser, &desk);
        ended(&desk) >= 50
    });
    assert!(compared > 0, "boards were there to compare");
    let newest = ended(&desk);
    browser.until(&format!("Number(document.querySelector('#results td').textContent.slice(1)) >= {newest}"));
    compare_results(&browser, &desk);
    assert_eq!(browser.complaints(), [""; 0]);
}

/// The board and the ply that the page of a game shows.
fn shown(browser: &Browser) -> (String, usize) {
    let script = format!("{READ}return readSvg(document.querySelector('#board svg'));");
    let board = browser.run(&script, &Value::Null).as_str().unwrap().to_owned();
    let label = browser.text("document.getElementById('board').getAttribute('aria-label')");
    let number = label.split(' ').find_map(|word| word.parse().ok()).unwrap();
    (board, number)
}

#[test]
#[ignore = "needs Chromium; run by cargo xtask browser"]
fn keys_and_a_finger_step_through_a_game() {
    let desk = Desk::new();
    stored(&desk, ["alpha", "beta"], "2");
    let site = Site::of(&desk, None);
    let boards = stored_boards(&desk, 1);
    let last = boards.len() - 1;
    let browser = Browser::start("en");
    browser.open(&site.at("/games/1"));
    let at = |ply: usize| assert_eq!(shown(&browser), (boards[ply].clone(), ply));
    at(last);
    browser.press(&[key::HOME]);
    at(0);
    for ply in 1..=last {
        browser.press(&[key::RIGHT]);
        at(ply);
    }
    browser.press(&[key::LEFT, key::LEFT]);
    at(last - 2);
    browser.press(&[key::UP]);
    at(last - 12);
    browser.press(&[key::DOWN, key::END]);
    at(last);
    // A swipe to the right steps back, a tap on the right half forward.
    let middle = browser.run(
        "document.getElementById('board').scrollIntoView(); const box = document.getElementById('board').getBoundingClientRect();
         return [Math.round(box.left + box.width / 2), Math.round(box.top + box.height / 2)];",
        &Value::Null,
    );
    let (x, y) = (middle[0].as_i64().unwrap(), middle[1].as_i64().unwrap());
    browser.swipe((x - 60, y), (x + 60, y));
    at(last - 1);
    browser.swipe((x + 60, y), (x - 60, y));
    at(last);
    browser.swipe((x - 60, y), (x - 60, y));
    at(last - 1);
    browser.press(&["n"]);
    browser.until("location.pathname === '/games/2' && document.querySelector('#board svg')");
    assert_eq!(shown(&browser).0, *stored_boards(&desk, 2).last().unwrap());
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
#[ignore = "needs Chromium; run by cargo xtask browser"]
fn a_viewer_who_was_cut_off_misses_nothing() {
    let desk = Desk::new();
    let site = live(&desk, "100000");
    let browser = Browser::start("en");
    let wire = Wire::to(site.host());
    browser.open(&wire.address);
    browser.until("document.querySelector('#results td')");
    wire.cut();
    browser.until("document.getElementById('link').textContent.includes('trying again')");
    let before = ended(&desk);
    wait_for("games to end meanwhile", || ended(&desk) >= before + 6);
    wire.mend();
    let newest = ended(&desk);
    browser.until(&format!("Number(document.querySelector('#results td').textContent.slice(1)) >= {newest}"));
    compare_results(&browser, &desk);
    compare_cards(&browser, &desk);
    // The program crashes; another one shows the event at the same address. The page itself stays as it is.
    browser.run("document.body.dataset.mark = 'same page';", &Value::Null);
    let address = site.kill();
    browser.until("document.getElementById('link').textContent.includes('trying again')");
    let _again = Site::of(&desk, Some(&address));
    browser.until("document.getElementById('link').textContent === ''");
    let newest = ended(&desk);
    browser.until(&format!(
        "Number(document.querySelector('#results td').textContent.slice(1)) + 2 >= {newest}"
    ));
    compare_results(&browser, &desk);
    assert_eq!(browser.text("document.body.dataset.mark"), "same page");
}

/// A page of another site that has these pages in frames; it is served until the test ends.
fn another_site(frames: &[String]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    let frame = |page: &String| format!("<iframe src=\"{page}\" width=480 height=640></iframe>");
    let body: String = frames.iter().map(frame).collect();
    let answer = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<!doctype html>{body}"
    );
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let answer = answer.clone();
            // A browser connects before it has anything to ask.
            std::thread::spawn(move || {
                let mut asked = [0; 4096];
                let _lost = stream.read(&mut asked).and_then(|_| stream.write_all(answer.as_bytes()));
            });
        }
    });
    address
}

#[test]
#[ignore = "needs Chromium; run by cargo xtask browser"]
fn one_board_fits_its_frame_and_goes_from_game_to_game() {
    let desk = Desk::new();
    let site = live(&desk, "100000");
    let browser = Browser::start("en");
    wait_for("a game", || ended(&desk) >= 1);
    browser.open(&site.at("/embed?game=1"));
    browser.until("document.getElementById('facts').textContent.startsWith('#1 ')");
    let board =
        browser.run(&format!("{READ}return readSvg(document.querySelector('#board svg'));"), &Value::Null);
    assert_eq!(board, stored_boards(&desk, 1).last().unwrap().as_str());
    for (width, height) in [(480, 640), (300, 300), (1920, 1080)] {
        browser.resize(width, height);
        browser.open(&site.at("/embed?rotate=3"));
        browser.until("document.querySelector('#board svg')");
        let lowest = browser.value("document.getElementById('facts').getBoundingClientRect().bottom");
        assert!(lowest.as_f64().unwrap() <= f64::from(height), "{lowest} of {height}");
        let board = browser.value("document.querySelector('#board svg').getBoundingClientRect().height");
        assert!(board.as_f64().unwrap() * 2.0 >= f64::from(height), "the board has {board} of {height}");
    }
    browser.resize(1280, 900);
    for (page, board, all) in [("/", ".card svg", ".card"), ("/games/1", "#board svg", "#below")] {
        browser.open(&site.at(page));
        browser.until(&format!("document.querySelector('{board}')"));
        let lowest =
            browser.value(&format!("document.querySelector('{all}').getBoundingClientRect().bottom"));
        assert!(lowest.as_f64().unwrap() <= 900.0, "{page}: board and clocks reach down to {lowest}");
    }
    browser.open(&site.at("/embed?rotate=3"));
    browser.until("document.querySelector('#board svg')");
    let first = browser.text("document.getElementById('facts').textContent.split(' ')[0]");
    browser.until(&format!("document.getElementById('facts').textContent.split(' ')[0] !== '{first}'"));
    assert!(browser.value("document.querySelector('nav, a, form') === null").as_bool().unwrap());
    browser.open(&site.at("/embed?clear=true"));
    assert_eq!(browser.text("getComputedStyle(document.body).backgroundColor"), "rgba(0, 0, 0, 0)");
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
#[ignore = "needs Chromium; run by cargo xtask browser"]
fn a_browser_without_kanji_has_letters_on_the_pieces() {
    let desk = Desk::new();
    stored(&desk, ["alpha", "beta"], "2");
    let site = Site::of(&desk, None);
    let browser = Browser::start("ja");
    // Every letter looks alike, as where no font has it.
    let blank = "CanvasRenderingContext2D.prototype.fillText = () => {};";
    browser.chromium("Page.addScriptToEvaluateOnNewDocument", &serde_json::json!({ "source": blank }));
    for page in ["/games/1", "/embed?game=1"] {
        browser.open(&site.at(page));
        browser.until("document.querySelector('#board svg')");
        let pieces =
            "[...document.querySelectorAll('#board svg g text')].map((piece) => piece.textContent).join('')";
        let pieces = browser.text(pieces);
        assert!(pieces.len() >= 30 && pieces.is_ascii(), "{page}: {pieces}");
    }
}

#[test]
#[ignore = "needs Chromium; run by cargo xtask browser"]
fn another_site_may_have_the_board_in_a_frame_and_no_other_page() {
    let desk = Desk::new();
    let site = live(&desk, "100000");
    let browser = Browser::start("en");
    browser.open(&another_site(&[site.at("/embed"), site.at("/table")]));
    let tree = browser.chromium("Page.getFrameTree", &serde_json::json!({}));
    let frames = tree["frameTree"]["childFrames"].as_array().unwrap();
    let shown: Vec<_> = frames.iter().map(|frame| frame["frame"]["url"].as_str().unwrap()).collect();
    assert_eq!(shown, [&*site.at("/embed"), "chrome-error://chromewebdata/"]);
    let complaints = browser.complaints();
    assert!(complaints.iter().all(|line| line.contains("frame-ancestors")), "{complaints:?}");
}
