//! What a newcomer does on the desk with nothing but the first page: clicks and typed fields are counted.

use crate::{
    desk::{axe, enter, look, open_at, submit},
    driver::Browser,
    support::{Desk, program},
};
use std::{cell::Cell, fs, path::Path};

/// The hand at the mouse.
struct Hand<'a> {
    browser: &'a Browser,
    clicks: Cell<u32>,
}

impl<'a> Hand<'a> {
    fn at(browser: &'a Browser) -> Self {
        Self { browser, clicks: Cell::new(0) }
    }

    fn count(&self, clicks: u32) {
        self.clicks.set(self.clicks.get() + clicks);
    }

    /// Clicks on what leads to another page.
    fn go(&self, css: &str) {
        self.count(1);
        submit(self.browser, css);
    }

    /// Clicks on what changes the page alone.
    fn tick(&self, css: &str) {
        self.count(1);
        self.browser.click(css);
    }

    /// Opens a list, and clicks on one of its values.
    fn choose(&self, css: &str, value: &str) {
        self.count(2);
        let script = "const [css, value] = arguments[0]; const list = document.querySelector(css); list.value = value; \
                      list.dispatchEvent(new Event('input', { bubbles: true }))";
        self.browser.run(script, &serde_json::json!([css, value]));
    }

    /// Waits for the first page to show a game that is played.
    fn sees_a_game(&self) {
        self.browser.until("location.pathname === '/' && document.querySelector('[data-board] svg')");
    }
}

/// A library of engines that differ in their seeds.
fn library(directory: &Path, names: &[&str]) {
    fs::create_dir_all(directory).unwrap();
    let command = program("renmei-random");
    let table = |(seed, name): (usize, &&str)| {
        format!(
            "[[engines]]\nname = \"{name}\"\ncommand = '{}'\noptions = {{ Seed = {seed} }}\n",
            command.display()
        )
    };
    let tables: Vec<String> = names.iter().enumerate().map(table).collect();
    fs::write(directory.join("engines.toml"), tables.concat()).unwrap();
}

#[test]
#[ignore = "needs Chromium and axe-core; run by cargo xtask browser"]
fn three_engines_play_after_twelve_clicks_at_most_and_without_a_typed_field() {
    for language in ["en", "ja"] {
        let desk = Desk::new();
        let (directory, home) = (desk.path("Renmei"), desk.path("home"));
        let engines = home.join("engines");
        fs::create_dir_all(&engines).unwrap();
        for name in ["renmei-random", "renmei-pairwise", "renmei-puppet"] {
            fs::copy(program(name), engines.join(name)).unwrap();
        }
        let _open = open_at(&directory, Some(&home));
        let browser = enter(&directory, language);
        let hand = Hand::at(&browser);
        hand.go("main a.button.main");
        hand.go("ul.folders a[href$=\"engines\"]");
        for name in ["renmei-random", "renmei-pairwise", "renmei-puppet"] {
            hand.tick(&format!("[value$=\"{name}\"]"));
        }
        hand.go("form[action=\"/engines/add\"] button");
        hand.go(".done ~ * a[href=\"/new\"], .top a[href=\"/new\"]");
        hand.go("a[href=\"/new/event?kind=league\"]");
        hand.go("button[value=begin]");
        hand.sees_a_game();
        eprintln!("{language}: {} clicks from nothing to a game of three", hand.clicks.get());
        assert!(hand.clicks.get() <= 12, "{}", hand.clicks.get());
        browser.open("about:blank");
    }
}

#[test]
#[ignore = "needs Chromium and axe-core; run by cargo xtask browser"]
fn two_engines_of_the_library_are_tested_after_six_clicks_at_most_and_without_a_typed_field() {
    let desk = Desk::new();
    let directory = desk.path("Renmei");
    library(&directory, &["one", "two", "three"]);
    let _open = open_at(&directory, None);
    let browser = enter(&directory, "en");
    let hand = Hand::at(&browser);
    hand.go("main a[href=\"/new\"]");
    hand.go("a[href=\"/new/event?kind=sprt\"]");
    // The newest of the library is tested against the one before it; another one is chosen all the same.
    hand.choose("select[name=engine]", "one");
    hand.go("button[value=begin]");
    hand.sees_a_game();
    eprintln!("{} clicks to a test of two of three", hand.clicks.get());
    assert!(hand.clicks.get() <= 6, "{}", hand.clicks.get());
    browser.open("about:blank");
}

#[test]
#[ignore = "needs Chromium and axe-core; run by cargo xtask browser"]
fn six_engines_play_a_swiss_and_a_knock_out_in_both_languages() {
    let axe = axe();
    let mut found = vec![];
    for language in ["en", "ja"] {
        let desk = Desk::new();
        let directory = desk.path("Renmei");
        library(&directory, &["aoi", "botan", "chiri", "dango", "ebi", "fuji"]);
        let _open = open_at(&directory, None);
        let browser = enter(&directory, language);
        for kind in ["swiss", "knock-out"] {
            let hand = Hand::at(&browser);
            hand.go("main a[href=\"/new\"]");
            hand.go(&format!("a[href=\"/new/event?kind={kind}\"]"));
            look(&browser, &axe, &format!("{language}-new-{kind}"), &mut found);
            hand.go("button[value=begin]");
            eprintln!("{language}: {} clicks to a {kind} of six", hand.clicks.get());
            assert!(hand.clicks.get() <= 4);
        }
        // Both are over: what came out stands on the first page, and leads to the table.
        browser
            .until("location.pathname === '/' && document.querySelectorAll('tbody tr .letter').length === 2");
        look(&browser, &axe, &format!("{language}-both-over"), &mut found);
        let pages =
            browser.value("[...document.querySelectorAll('tbody td:first-child a')].map((one) => one.href)");
        for page in pages.as_array().unwrap() {
            browser.open(page.as_str().unwrap());
            // A knock-out says who went on and why; of the others the cross table is there as colours.
            let digest = "document.querySelector('.advances li, #standings .scroll:not(.sheet) td') !== null";
            assert_eq!(browser.value(digest), true, "{page}");
            browser.open(&format!("{}table", page.as_str().unwrap()));
            let kind = browser.text("location.pathname").replace('/', "-");
            browser.run(
                "document.querySelectorAll('main details').forEach((one) => { one.open = true })",
                &serde_json::Value::Null,
            );
            look(&browser, &axe, &format!("{language}-table{kind}"), &mut found);
        }
        browser.open("about:blank");
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
#[ignore = "needs Chromium and axe-core; run by cargo xtask browser"]
fn an_engine_that_cannot_start_is_replaced_and_an_option_goes_back_with_a_few_clicks() {
    let axe = axe();
    let mut found = vec![];
    for language in ["en", "ja"] {
        let desk = Desk::new();
        let directory = desk.path("Renmei");
        library(&directory, &["one", "two", "three"]);
        let command = program("renmei-random");
        let engine = |name: &str, command: &Path| {
            format!("[[engines]]\nname = \"{name}\"\ncommand = '{}'\n", command.display())
        };
        let engines = [engine("one", &command), engine("gone", &directory.join("gone"))].concat();
        fs::write(
            directory.join("cup.toml"),
            format!("[event]\ngames = 4000\n[time]\nbyoyomi = \"60s\"\n{engines}"),
        )
        .unwrap();
        let _open = open_at(&directory, None);
        let browser = enter(&directory, language);
        browser.until("document.querySelector('.event p .button')");
        let hand = Hand::at(&browser);
        hand.go(".event p .button");
        look(&browser, &axe, &format!("{language}-mend"), &mut found);
        assert!(browser.text("document.querySelector('.roster .wrong').textContent").contains("gone"));
        hand.choose("[name=\"player:gone\"]", "by:two");
        hand.go("button[value=begin]");
        hand.sees_a_game();
        assert_eq!(hand.clicks.get(), 4);

        // An option is changed, chosen from a folder, and goes back to its default.
        let address = browser.text("location.origin");
        browser.open(&format!("{address}/engine?name=three"));
        look(&browser, &axe, &format!("{language}-options"), &mut found);
        let is_changed = "document.querySelector('.option[data-name=Seed]').classList.contains('changed')";
        assert_eq!(browser.value(is_changed), true);
        submit(&browser, "button[name=reset][value=Seed]");
        assert_eq!(browser.value(is_changed), false);
        browser.open("about:blank");
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
