//! A day of a league, by clicking: a stranger takes part and watches, an arbiter decides.

use crate::{
    driver::{Browser, wait_for},
    league::{PASSWORD, arbiter},
    site::Site,
    support::Desk,
};
use std::{
    io::{BufRead, BufReader, Write},
    net::TcpStream,
};

/// A note that a stranger leaves for the arbiter, and an announcement.
const HOSTILE: &str = "<script>alert(1)</script><img src=x onerror=alert(2)>";

/// A program that plays.
struct Player(BufReader<TcpStream>);

impl Player {
    fn log_in(address: &str, name: &str) -> Self {
        let mut player = Self(BufReader::new(TcpStream::connect(address).unwrap()));
        player.say(&format!("LOGIN {name} secret-of-a-player x1"));
        player
    }

    fn say(&mut self, line: &str) {
        self.0.get_mut().write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    fn until(&mut self, beginning: &str) -> String {
        loop {
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).unwrap() > 0, "the connection ended before `{beginning}`");
            if line.starts_with(beginning) {
                return line.trim_end().to_owned();
            }
        }
    }
}

/// An open league with accounts: its desk, its pages, and the address for players.
pub fn league() -> (Desk, Site, String) {
    let desk = Desk::new();
    arbiter(&desk);
    // A port that was free a moment ago: the program says on stdout which it has, the pages on stderr.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let text = format!(
        "[serve]\ndatabase = \"event.db\"\nlogin = \"accounts\"\nlisten = [\"{free}\"]\n[http]\nlisten = [\"127.0.0.1:0\"]\n"
    );
    desk.write("league.toml", &text);
    let site = Site::start(&desk, &["serve", "league.toml", "--no-dashboard"]);
    wait_for("players to be let in", || TcpStream::connect(&free).is_ok());
    (desk, site, free)
}

/// The text of the page's content.
fn words(browser: &Browser) -> String {
    browser.text("document.querySelector('main').innerText")
}

fn register(browser: &Browser, name: &str) {
    browser.write("input[name=name]", name);
    browser.write("input[name=password]", "secret-of-a-player");
    browser.write("input[name=note]", HOSTILE);
    browser.click("form[action='/register'] button");
    browser.until("document.querySelector('main [role=status]')");
}

/// Opens the dialog that an element stands in, by its button.
fn open_dialog(browser: &Browser, css: &str) {
    let id =
        browser.text(&format!("document.querySelector({}).closest('[popover]').id", serde_json::json!(css)));
    browser.click(&format!("[popovertarget='{id}']:not(.closes)"));
}

/// Clicks on the button of an order on the arbiter's page, and waits until it was carried out.
fn order(browser: &Browser, form: &str) {
    browser.run("document.body.dataset.before = 'yes';", &serde_json::Value::Null);
    browser.click(&format!("{form} button"));
    browser.until("document.body && !document.body.dataset.before && document.readyState === 'complete'");
    assert_eq!(browser.text("location.pathname"), "/arbiter", "{}", words(browser));
}

#[test]
#[ignore = "needs Chromium; run by cargo xtask browser"]
fn a_stranger_takes_part_and_watches_and_an_arbiter_decides_all_by_clicking() {
    let (_desk, site, players) = league();
    let (stranger, kai) = (Browser::start("en"), Browser::start("en"));
    stranger.open(&site.at("/"));
    stranger.click("nav a[href='/register']");
    register(&stranger, "kuma");
    assert!(words(&stranger).contains("waits for an arbiter"), "{}", words(&stranger));

    kai.open(&site.at("/"));
    kai.click("nav a[href='/arbiter']");
    kai.write("input[name=name]", "kai");
    kai.write("input[name=password]", PASSWORD);
    kai.click("form[action='/arbiter/login'] button");
    kai.until("document.querySelector('button[value=approve]')");
    assert!(words(&kai).contains(HOSTILE), "a note is text: {}", words(&kai));
    open_dialog(&kai, "button[value=approve]");
    kai.click("button[value=approve]");
    kai.until("!document.querySelector('button[value=approve]') && document.querySelector('form[action=\"/arbiter/invite\"]')");
    open_dialog(&kai, "form[action='/arbiter/invite']");
    kai.write("form[action='/arbiter/invite'] input[name=note]", "tora's author");
    order(&kai, "form[action='/arbiter/invite']");
    let told = words(&kai);
    let (_, code) = told.split_once("/register?code=").expect("the invitation has an address");
    stranger.open(&site.at(&format!("/register?code={}", code.split_whitespace().next().unwrap())));
    register(&stranger, "tora");
    assert!(words(&stranger).contains("You can log in now"), "{}", words(&stranger));

    let mut two = [("kuma", "+"), ("tora", "-")].map(|(name, color)| {
        let mut player = Player::log_in(&players, name);
        player.until("##[LOGIN] +OK");
        player.say(&format!("%%GAME t-600-10 {color}"));
        player
    });
    for player in &mut two {
        player.until("END Game_Summary");
        player.say("AGREE");
    }
    two.iter_mut().for_each(|player| drop(player.until("START:")));
    stranger.click("nav a[href='/']");
    stranger.until("document.querySelector('#boards .card')");
    stranger.click("#boards .card");
    stranger.until("location.pathname === '/games/1' && document.querySelector('#board svg')");
    two[0].say("+7776FU");
    two[1].until("+7776FU");
    stranger.until("document.getElementById('board').getAttribute('aria-label').includes('ply 1 of 1')");
    two[1].say("%TORYO");
    two.iter_mut().for_each(|player| drop(player.until("#RESIGN")));
    stranger.until("document.getElementById('result').innerText.includes('kuma won')");

    open_dialog(&kai, "form:has([value=announce])");
    kai.write("form:has([value=announce]) input[name=text]", HOSTILE);
    order(&kai, "form:has([value=announce])");
    open_dialog(&kai, "form:has([value=pause])");
    order(&kai, "form:has([value=pause])");
    assert!(words(&kai).contains("Paused"), "{}", words(&kai));
    open_dialog(&kai, "form:has([value=resume])");
    order(&kai, "form:has([value=resume])");
    assert!(!words(&kai).contains("Paused: "), "{}", words(&kai));
    open_dialog(&kai, "form:has([value=rule]) input[type=number]");
    kai.write("form:has([value=rule]) input[type=number]", "1");
    kai.click("form:has([value=rule]):has(input[type=number]) option[value=white]");
    kai.write("form:has([value=rule]):has(input[type=number]) input[name=reason]", "the line was cut");
    order(&kai, "form:has([value=rule]):has(input[type=number])");
    let shown = |has: &str| {
        wait_for(has, || {
            stranger.open(&site.at("/games/1"));
            words(&stranger).contains(has)
        });
    };
    shown("tora won");
    assert!(words(&stranger).contains("the line was cut"), "everybody reads why: {}", words(&stranger));
    // The last order is the first of the record.
    open_dialog(&kai, "ol.record li:first-child form:has([value=undo])");
    order(&kai, "ol.record li:first-child form:has([value=undo])");
    shown("kuma won");
    stranger.open(&site.at("/register/check"));
    stranger.write("main input[name=name]", "tora");
    stranger.click("main form button");
    stranger.until("location.search.includes('tora')");
    assert!(words(&stranger).contains("Nothing stands out"), "{}", words(&stranger));
    for browser in [&stranger, &kai] {
        assert!(!browser.is_alerted());
        assert_eq!(browser.complaints(), [""; 0]);
    }
}
