//! The rooms of the desk in which games are studied and shown to others, with the mouse and the keyboard.

use crate::{
    board::READ,
    desk::{axe, ended, enter, look, open, submit},
    driver::{Browser, key, wait_for},
    support::{Desk, program},
};
use serde_json::Value;
use std::{fs, net::TcpListener};

const RECORD: &str = "V2.2\nN+mori\nN-kawa\nPI\n+\n+7776FU\nT1\n-3334FU\nT1\n+2726FU\nT1\n%TORYO\n";

#[test]
#[ignore = "needs Chromium and axe-core; run by cargo xtask browser"]
fn games_are_taken_in_studied_explained_and_published_in_a_browser_in_both_languages() {
    let axe = axe();
    let mut found = vec![];
    for language in ["en", "ja"] {
        let desk = Desk::new();
        let directory = desk.path("Renmei");
        fs::create_dir(&directory).unwrap();
        let (random, puppet) = (program("renmei-random"), program("renmei-puppet"));
        let engines = format!(
            "[[engines]]\nname = \"a\"\ncommand = '{}'\n[[engines]]\nname = \"b\"\ncommand = '{}'\nargs = [\"--mode\", \"resign\", \"--ply\", \"9\"]\n",
            random.display(),
            puppet.display()
        );
        fs::write(directory.join("engines.toml"), &engines).unwrap();
        let event = format!("[event]\nname = \"Cup\"\ngames = 4\n[time]\nbyoyomi = \"60s\"\n{engines}");
        fs::write(directory.join("Cup.toml"), event).unwrap();
        let record = desk.write("game.csa", RECORD);
        let _open = open(&directory);
        let browser = enter(&directory, language);
        let mut look =
            |browser: &Browser, what: &str| look(browser, &axe, &format!("{language}-{what}"), &mut found);
        let address = browser.text("location.origin");
        wait_for("the end of the games", || {
            browser.open(&format!("{address}/"));
            browser.value("!!document.querySelector('a[href^=\"/events/explain\"]') && !!document.querySelector('[value=delete]')") == true
        });

        browser.open(&format!("{address}/study"));
        browser.write("[type=file]", &record.display().to_string());
        browser.until("location.pathname === '/study/game' && document.readyState === 'complete'");
        look(&browser, "board");
        browser.open(&format!("{address}/study"));
        look(&browser, "study");
        submit(&browser, "form[action=\"/study/import\"] button");
        ended(&browser);
        look(&browser, "read");
        submit(&browser, "main a[href^=\"/study/open\"]");
        submit(&browser, "td a[href$=\"/games/1\"]");
        submit(&browser, "a[href*=\"study/game?\"]");
        browser.press(&[key::RIGHT, key::RIGHT]);
        look(&browser, "game");
        submit(&browser, "[action=\"/study/find\"] button");
        ended(&browser);
        look(&browser, "found");
        submit(&browser, "main a[href*=\"ply=2\"]");
        browser.click("details:has([name=nodes]) summary");
        browser.run("document.querySelector('[name=nodes]').value = '200'", &Value::Null);
        submit(&browser, "[action=\"/study/analyze\"] button");
        ended(&browser);
        look(&browser, "analysis");
        submit(&browser, "main a.button");
        assert_eq!(browser.value("document.querySelectorAll('#graph polyline')[0].points.length > 1"), true);
        look(&browser, "analyzed");
        browser.open(&format!("{address}/events/explain?event=Cup"));
        browser.run("document.querySelector('[name=player]').value = 'b'; document.querySelector('[name=nodes]').value = '400'", &Value::Null);
        look(&browser, "explain");
        submit(&browser, "form[action=\"/events/explain\"] button");
        ended(&browser);
        look(&browser, "explained");
        browser.open(&format!("{address}/jobs"));
        look(&browser, "jobs");

        browser.open(&format!("{address}/events/publish?event=Cup"));
        let port = TcpListener::bind(("0.0.0.0", 0)).unwrap().local_addr().unwrap().port();
        browser.run("document.querySelector('[name=port]').value = arguments[0]", &port.into());
        submit(&browser, "[value=on]");
        // A machine without a network has no address for others.
        let shown = "(document.querySelector('main img')?.naturalWidth ?? 220) > 100";
        assert_eq!(browser.value(shown), true);
        look(&browser, "public");
        submit(&browser, "[value=off]");
        browser.open(&format!("{address}/engines"));
        look(&browser, "rated");
        browser.open("about:blank");
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The board as the page shows it, and as the server draws it and writes it for the same position.
fn boards(browser: &Browser, query: &str) -> [String; 3] {
    let shown = browser.wait(&format!(
        "{READ} const done = arguments[arguments.length - 1], query = {query:?};
        const ask = async (path) => (await fetch(path + query)).text();
        (async () => {{
          const page = new DOMParser().parseFromString(await ask('/study/game?'), 'text/html');
          const sfen = (await ask('/study/text?as=sfen&')).split(' ');
          return [readSvg(document.querySelector('#board svg')), readSvg(page.querySelector('#board svg')), `${{sfen[0]}} ${{sfen[2]}}`];
        }})().then(done, (fault) => done([String(fault), '', '']));"
    ));
    [0, 1, 2].map(|at| shown[at].as_str().unwrap_or_default().to_owned())
}

/// The middle of a square in the window, by file and rank.
fn square(browser: &Browser, file: u32, rank: u32) -> (i64, i64) {
    browser.run("document.querySelector('#board').scrollIntoView()", &Value::Null);
    let at = browser.run(
        "const [file, rank] = arguments[0], box = document.querySelector('#board svg').getBoundingClientRect();
        return [box.left + box.width * (8 + (9.5 - file) * 40) / 384, box.top + box.height * (60 + (rank - 0.5) * 44) / 518].map(Math.round);",
        &serde_json::json!([file, rank]),
    );
    (at[0].as_i64().unwrap(), at[1].as_i64().unwrap())
}

/// Puts a finger on a square of the board.
fn tap(browser: &Browser, file: u32, rank: u32) {
    let at = square(browser, file, rank);
    browser.swipe(at, at);
}

/// Draws a piece from one square to another, once its moves are known.
fn drag(browser: &Browser, from: (u32, u32), to: (u32, u32)) {
    browser.until("hand.of === view.ply");
    let [from, to] = [from, to].map(|(file, rank)| square(browser, file, rank));
    browser.drag(from, to);
}

#[test]
#[ignore = "needs Chromium and axe-core; run by cargo xtask browser"]
fn moves_are_tried_and_thought_about_on_a_board_and_a_position_is_put_together() {
    let axe = axe();
    let mut found = vec![];
    for language in ["en", "ja"] {
        let desk = Desk::new();
        let directory = desk.path("Renmei");
        fs::create_dir_all(directory.join("study")).unwrap();
        fs::write(directory.join("study/game.csa"), RECORD).unwrap();
        let _open = open(&directory);
        let browser = enter(&directory, language);
        let address = browser.text("location.origin");
        let mut look =
            |browser: &Browser, what: &str| look(browser, &axe, &format!("{language}-{what}"), &mut found);
        let ply = |ply: usize| format!("document.querySelector('[name=ply]').value === '{ply}'");

        browser.open(&format!("{address}/study/game?file=study/game.csa"));
        browser.until("document.querySelector('#board svg')");
        for at in 0..=3 {
            let [shown, drawn, written] = boards(&browser, &format!("file=study/game.csa&ply={at}"));
            assert_eq!((&shown, &drawn), (&written, &written), "{at}");
            browser.press(&[key::RIGHT]);
        }
        browser.press(&[key::LEFT]);
        browser.until(&ply(2));
        // The move of the game is a step; another one is a variation, with an address of its own.
        tap(&browser, 2, 7);
        browser.until("document.querySelectorAll('#board .can').length === 1");
        tap(&browser, 2, 6);
        browser.until(&ply(3));
        browser.press(&[key::LEFT]);
        browser.until(&ply(2));
        // The same by drawing the piece; drawn to where it cannot go, it stays.
        drag(&browser, (2, 7), (2, 5));
        let stays = format!("{} && !document.querySelector('#board .can')", ply(2));
        assert_eq!(browser.value(&stays), true);
        drag(&browser, (2, 7), (2, 6));
        browser.until(&ply(3));
        browser.press(&[key::LEFT]);
        tap(&browser, 8, 8);
        browser.until("document.querySelectorAll('#board .can').length > 1");
        tap(&browser, 2, 2);
        browser.until("!document.querySelector('#choice').hidden");
        submit(&browser, "#choice button.main");
        browser.until(
            "document.querySelector('.variations a[aria-current]')?.textContent.includes('２二角成(88)')",
        );
        let [shown, drawn, written] = boards(&browser, &browser.text("location.search.slice(1)"));
        assert_eq!((&shown, &drawn), (&written, &written));

        browser.click("[name=do][value=search]");
        browser.until("document.querySelector('#board .arrow') && document.querySelector('.lines a')");
        look(&browser, "thinks");
        // It follows the board while it thinks.
        browser.press(&[key::LEFT]);
        browser.until("new URLSearchParams(location.search).get('ply') === '2' && document.querySelector('#board .arrow')");
        browser.run("document.querySelector('#stop').click()", &Value::Null);
        browser.until(
            "document.querySelector('#stop').hidden && document.querySelector('#thoughts [data-ended]')",
        );
        // In one step: what the engine said last may just replace the list.
        browser.run(
            "document.body.dataset.before = 'yes'; document.querySelector('.lines a').click()",
            &Value::Null,
        );
        browser
            .until("!document.body.dataset.before && document.querySelector('.variations a[aria-current]')");

        browser.open(&format!("{address}/study/edit"));
        tap(&browser, 7, 7);
        tap(&browser, 7, 6);
        tap(&browser, 3, 3);
        browser.click("#turn + button");
        browser.click("#turn");
        let sfen = "lnsgkgsnl/1r5b1/pppppp1pp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 1";
        assert_eq!(browser.text("document.querySelector('#sfen').value"), sfen);
        look(&browser, "edit");
        submit(&browser, "button.main");
        let [shown, drawn, written] = boards(&browser, &browser.text("location.search.slice(1)"));
        assert_eq!((&shown, &drawn), (&written, &written));
        assert!(sfen.starts_with(shown.split(' ').next().unwrap()), "{shown}");
        browser.open("about:blank");
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
#[ignore = "needs Chromium and axe-core; run by cargo xtask browser"]
fn a_person_plays_an_engine_with_the_mouse_resigns_after_a_question_and_plays_again() {
    let axe = axe();
    let mut found = vec![];
    for language in ["en", "ja"] {
        let desk = Desk::new();
        let directory = desk.path("Renmei");
        let _open = open(&directory);
        let browser = enter(&directory, language);
        let address = browser.text("location.origin");
        let mut look =
            |browser: &Browser, what: &str| look(browser, &axe, &format!("{language}-{what}"), &mut found);
        let own_turn =
            "location.pathname === '/play' && document.querySelector('#viewer')?.dataset.turn === 'yes'";

        browser.open(&format!("{address}/study/game"));
        browser.click("details:has(#play-here) summary");
        submit(&browser, "#play-here button");
        browser.until(own_turn);
        drag(&browser, (7, 7), (7, 6));
        browser.until(&format!("{own_turn} && document.querySelectorAll('#moves li').length === 3"));
        look(&browser, "play");
        assert_eq!(browser.value("document.querySelector('[value=resign]').checkVisibility()"), false);
        browser.click(".asks:last-child summary");
        look(&browser, "resigns");
        submit(&browser, "[value=resign]");
        browser.until("document.querySelector('[name=again]')");
        assert_eq!(browser.value("document.querySelector('#move') === null"), true);
        look(&browser, "played");
        submit(&browser, "[name=swaps]");
        browser.until(
            "location.pathname === '/play' && document.querySelector('#viewer')?.dataset.side === 'white'",
        );
        browser.until(own_turn);
        browser.open("about:blank");
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
