//! The rooms of the desk in which games are studied and shown to others, with the mouse and the keyboard.

use crate::{
    desk::{axe, ended, enter, look, open, submit},
    driver::{Browser, wait_for},
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
        submit(&browser, "form[enctype] button");
        look(&browser, "study");
        submit(&browser, "form[action=\"/study/import\"] button");
        ended(&browser);
        look(&browser, "read");
        submit(&browser, "main a[href^=\"/study/open\"]");
        submit(&browser, "td a[href$=\"/games/1\"]");
        submit(&browser, "a[href*=\"study/game?\"]");
        browser.run("document.querySelector('[name=ply]').value = '2'", &Value::Null);
        look(&browser, "game");
        submit(&browser, "[formaction=\"/study/find\"]");
        ended(&browser);
        look(&browser, "found");
        submit(&browser, "main a[href^=\"/study/game\"]");
        browser.run("document.querySelector('[name=nodes]').value = '200'", &Value::Null);
        submit(&browser, "[formaction=\"/study/analyze\"]");
        ended(&browser);
        look(&browser, "analysis");
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
