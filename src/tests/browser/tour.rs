//! Every page, as phones, desks and projectors show it.

use crate::{
    day,
    driver::{Browser, wait_for},
    league::{self, PASSWORD},
    site::Site,
};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::PathBuf,
};

/// Windows: a phone, a desk, a projector.
const WINDOWS: [(u32, u32); 3] = [(390, 844), (1280, 800), (1920, 1080)];

/// Language and colours.
type Manner = (&'static str, &'static str);

/// How the pages are looked at.
const MANNERS: [Manner; 4] = [("en", "light"), ("ja", "dark"), ("en", "dark"), ("ja", "light")];

/// The kind of an address: numbers and queries make none.
fn kind(path: &str) -> String {
    let plain = path.split(['?', '#']).next().unwrap();
    let parts = plain.split('/').map(|part| if part.parse::<u64>().is_ok() { "N" } else { part });
    parts.collect::<Vec<_>>().join("/")
}

/// One address of each kind that links lead to, from the first page and that of a game that is over, if any, on.
fn pages(browser: &Browser, site: &Site) -> BTreeMap<String, String> {
    let games: Value = serde_json::from_str(&site.get("/api/games")).unwrap();
    let mut waiting = vec!["/nothing".to_owned(), "/".to_owned()];
    waiting.extend(games["games"][0]["number"].as_u64().map(|number| format!("/games/{number}")));
    let mut found: BTreeMap<String, String> = waiting.iter().map(|path| (kind(path), path.clone())).collect();
    while let Some(path) = waiting.pop() {
        browser.open(&site.at(&path));
        let links = browser.value("[...document.querySelectorAll('a[href]')].map((a) => a.href)");
        for link in links.as_array().unwrap().iter().filter_map(Value::as_str) {
            let Some(path) = link.strip_prefix(&site.address) else { panic!("{path} leads to {link}") };
            let path = path.split('#').next().unwrap();
            let kind = kind(path);
            let is_page = !kind.contains('.') && !kind.starts_with("/prefs") && !kind.starts_with("/api");
            if is_page && !found.contains_key(&kind) {
                found.insert(kind, path.to_owned());
                waiting.push(path.to_owned());
            }
        }
    }
    let faults = faults(browser, "a page with a link to one that is not there: -nothing");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    found
}

/// Kinds of all pages that the program has.
fn kinds() -> BTreeSet<String> {
    let programs = [include_str!("../../views/web/pages.rs"), include_str!("../../views/web/arbiter.rs")];
    let routes = programs.iter().flat_map(|text| text.split(".route(\"").skip(1));
    let pages = routes.filter_map(|rest| {
        let (path, handler) = rest.split_once("\", ")?;
        handler.starts_with("get(").then_some(path)
    });
    let parts = |path: &str| {
        let parts = path.split('/').map(|part| if part.starts_with('{') { "N" } else { part });
        parts.collect::<Vec<_>>().join("/")
    };
    let others = ["/api/", "/static/", "/events", "/prefs"];
    let is_page = |path: &&str| !path.contains('.') && !others.iter().any(|other| path.starts_with(other));
    pages.filter(is_page).map(parts).collect()
}

/// Leads through every page of all leagues, in each of these languages and colours.
fn tour(
    browser: &Browser,
    manners: &[Manner],
    windows: &[(u32, u32)],
    mut look: impl FnMut(&Browser, &str, Manner, u32),
) {
    let (_desk, over) = league::finished();
    let (_other, live) = league::running();
    let busy = league::on_machines();
    let (_host, open, _) = day::league();
    wait_for("games that stand still", || {
        let now: Value = serde_json::from_str(&live.get("/api/now")).unwrap_or_default();
        let games = now["games"].as_array().cloned().unwrap_or_default();
        // The list tells the last two moves of a game, each with its ply.
        let plies = |game: &&Value| game["moves"].as_array()?.last()?["p"].as_u64();
        games.iter().filter(|game| plies(game) > Some(8)).count() >= 4
    });
    browser.open(&live.at("/arbiter"));
    look(browser, "login", manners[0], 800);
    browser.write("input[name=name]", "kai");
    browser.write("input[name=password]", PASSWORD);
    browser.click("main button");
    browser.until("document.querySelector('form[action=\"/arbiter/logout\"]')");
    let mut seen = BTreeSet::new();
    for (name, site) in [("over", &over), ("live", &live), ("machines", &busy.site), ("open", &open)] {
        browser.open(&site.at("/"));
        let mut pages = pages(browser, site);
        // Pages of others have it in a frame; none of ours leads there.
        if name == "live" {
            pages.insert("/embed".to_owned(), "/embed".to_owned());
        }
        // Of the league on machines and of the open one, what those before do not have.
        pages.retain(|kind, _| ["over", "live"].contains(&name) || !seen.contains(kind));
        seen.extend(pages.keys().cloned());
        for manner in manners {
            browser.open(&site.at(&format!("/prefs?lang={}&back=/nothing", manner.0)));
            browser.open(&site.at(&format!("/prefs?theme={}&back=/nothing", manner.1)));
            let faults = faults(browser, "prefs-nothing");
            assert!(faults.is_empty(), "{}", faults.join("\n"));
            for ((width, height), path) in
                windows.iter().flat_map(|window| pages.values().map(move |path| (window, path)))
            {
                browser.resize(*width, *height);
                browser.open(&site.at(path));
                assert_eq!(browser.text("document.documentElement.lang"), manner.0);
                let page = path.split('?').next().unwrap().replace('/', "-");
                look(browser, &format!("{name}{}", page.trim_end_matches('-')), *manner, *width);
            }
        }
    }
    let left_out: Vec<_> = kinds().into_iter().filter(|kind| !seen.contains(kind)).collect();
    assert_eq!(left_out, [""; 0], "no link leads there");
    // Before the programs end, which the browser would complain about.
    browser.open("about:blank");
}

/// What the console says against a page since the last call.
fn faults(browser: &Browser, name: &str) -> Vec<String> {
    browser.complaints().into_iter().filter(|line| !is_expected(name, line)).collect()
}

/// Elements that reach out of the window, but for those that scroll.
const WIDE: &str = "[...document.body.querySelectorAll('*')].filter((e) => e.getBoundingClientRect().right > innerWidth + 1 \
    && !e.parentElement.closest('.scroll, .rounds')).map((e) => `${e.tagName}.${e.getAttribute('class')}`).slice(0, 9).join(' ')";

/// Where pictures are kept, if they are wanted.
fn pictures() -> Option<PathBuf> {
    env::var_os("RENMEI_SCREENSHOTS").map(PathBuf::from)
}

#[test]
#[ignore = "needs Chromium; run by cargo xtask browser"]
fn no_page_has_an_error_or_is_wider_than_its_window() {
    let browser = Browser::start("en");
    let (mut seen, mut faults) = (0, vec![]);
    tour(&browser, &MANNERS, &WINDOWS, |browser, name, manner, width| {
        seen += 1;
        let wide = browser.value("document.documentElement.scrollWidth").as_u64().unwrap();
        if wide > u64::from(width) {
            let what = browser.value(WIDE);
            faults.push(format!("{name} {manner:?} is {wide} pixels wide in a window of {width}: {what}"));
        }
        if let Some(directory) = pictures() {
            let file = format!("{name}.{width}.{}.{}.png", manner.0, manner.1);
            browser.picture(&directory.join(file), true);
        }
        let unexpected = self::faults(browser, name);
        faults.extend(unexpected.into_iter().map(|line| format!("{name} {manner:?}: {line}")));
    });
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    println!("{seen} views of pages without an error");
}

/// Whether a page follows the stream, and what it does when it has heard of something.
const FOLLOWS: &str = "typeof follow === 'function' && link.source !== null";
const HEARD: &str = "link.seen !== state.since && !document.querySelector('#fresh[data-before]')";

#[test]
#[ignore = "needs Chromium and nats-server; run by cargo xtask browser"]
fn no_page_has_an_error_while_its_event_is_played() {
    let busy = league::on_machines();
    let site = &busy.site;
    let browser = Browser::start("en");
    let (mut heard, mut all) = (vec![], vec![]);
    for (kind, path) in pages(&browser, site) {
        if kind == "/games/N" {
            open_a_running_game(&browser, site);
        } else {
            browser.open(&site.at(&path));
        }
        if browser.value(FOLLOWS) == true {
            heard.push(kind);
            browser.value("document.getElementById('fresh')?.setAttribute('data-before', '')");
            browser.until(HEARD);
        }
        all.extend(
            faults(&browser, &path.replace('/', "-")).into_iter().map(|line| format!("{path}: {line}")),
        );
    }
    browser.open("about:blank");
    assert!(all.is_empty(), "{}", all.join("\n"));
    assert_eq!(heard, ["/", "/games/N", "/machines", "/rounds", "/rounds/table", "/table"]);
}

/// Opens the page of a game that has just begun, so that it goes on for a while.
fn open_a_running_game(browser: &Browser, site: &Site) {
    let newest = |known: u64| {
        let now: Value = serde_json::from_str(&site.get("/api/now")).unwrap_or_default();
        let games = now["games"].as_array().cloned().unwrap_or_default();
        let here = games.iter().filter(|game| game["machine"].is_null());
        here.filter_map(|game| game["number"].as_u64()).max().unwrap_or(known).max(known)
    };
    let (known, mut number) = (newest(0), 0);
    wait_for("a game begins", || {
        number = newest(known);
        number > known
    });
    browser.open(&site.at(&format!("/games/{number}")));
}

#[test]
#[ignore = "needs Chromium; run by cargo xtask browser"]
fn a_page_whose_script_throws_is_found() {
    let desk = crate::support::Desk::new();
    crate::site::stored(&desk, ["alpha", "beta"], "2");
    let site = Site::of(&desk, None);
    for (script, words) in [
        ("throw new Error('thrown at once')", "thrown at once"),
        ("addEventListener('load', () => absent())", "absent is not defined"),
        ("addEventListener('load', () => Promise.reject(new Error('nobody waits')))", "nobody waits"),
        ("addEventListener('load', () => console.error('said'))", "said"),
    ] {
        let browser = Browser::start("en");
        browser.chromium("Page.addScriptToEvaluateOnNewDocument", &serde_json::json!({ "source": script }));
        browser.open(&site.at("/table"));
        let found = faults(&browser, "-table");
        assert!(found.iter().any(|line| line.contains(words)), "{script}: {found:?}");
    }
}

/// A page that is not there is an error by intention.
fn is_expected(name: &str, line: &str) -> bool {
    name.ends_with("-nothing") && line.contains("/nothing") && line.contains("404")
}

#[test]
#[ignore = "needs Chromium and axe-core; run by cargo xtask browser"]
fn axe_finds_nothing_serious_on_any_page() {
    let modules = env::var_os("RENMEI_NODE_MODULES").expect("cargo xtask browser says where axe-core is");
    let axe = fs::read_to_string(PathBuf::from(modules).join("axe-core/axe.min.js")).unwrap();
    let browser = Browser::start("en");
    let mut findings = vec![];
    let mut seen = 0;
    tour(&browser, &MANNERS[..2], &WINDOWS[..2], |browser, name, manner, width| {
        let done = "const done = arguments[arguments.length - 1];";
        let run = "axe.run().then((found) => done(found.violations), (fault) => done(String(fault)));";
        let found = browser.wait(&format!("{axe}; {done} {run}"));
        seen += 1;
        for rule in found.as_array().unwrap_or_else(|| panic!("{name}: {found}")) {
            if rule["impact"] == "serious" || rule["impact"] == "critical" {
                let (first, rule) = (&rule["nodes"][0], &rule["id"]);
                let (target, why) = (&first["target"], &first["failureSummary"]);
                findings.push(format!("{name} {manner:?} {width}: {rule}: {target} {why}"));
            }
        }
    });
    assert!(findings.is_empty(), "{}", findings.join("\n"));
    println!("axe: {seen} views of pages without a serious or critical finding");
}

/// Bytes that the first paint of a page may need.
const FIRST_PAINT: u64 = 100_000;

#[test]
#[ignore = "needs Chromium; run by cargo xtask browser"]
fn the_live_page_is_painted_from_less_than_100_kb() {
    let (_desk, site) = league::running();
    let browser = Browser::start("en");
    browser.slow_down();
    browser.chromium("Network.setCacheDisabled", &json!({ "cacheDisabled": true }));
    browser.open(&site.at("/"));
    browser.until("performance.getEntriesByName('first-contentful-paint').length && document.querySelector('.card svg')");
    let bytes = "performance.getEntriesByType('navigation').concat(performance.getEntriesByType('resource'))\
                 .reduce((sum, entry) => sum + entry.transferSize, 0)";
    let bytes = browser.value(bytes).as_u64().unwrap();
    let paint = browser.value("performance.getEntriesByName('first-contentful-paint')[0].startTime");
    println!(
        "first paint of the live page at 1.6 Mbit/s and 150 ms: {:.0} ms (wanted: 1000), {bytes} bytes in all (wanted: {FIRST_PAINT})",
        paint.as_f64().unwrap()
    );
    assert!(bytes > 0 && bytes < FIRST_PAINT, "{bytes}");
}
