//! Every page, as phones, desks and projectors show it.

use crate::{
    driver::{Browser, wait_for},
    league::{self, PASSWORD},
    site::Site,
};
use serde_json::{Value, json};
use std::{collections::BTreeMap, env, fs, path::PathBuf};

/// Windows: a phone, a desk, a projector.
const WINDOWS: [(u32, u32); 3] = [(390, 844), (1280, 800), (1920, 1080)];

/// Language and colours.
type Manner = (&'static str, &'static str);

/// How the pages are looked at.
const MANNERS: [Manner; 4] = [("en", "light"), ("ja", "dark"), ("en", "dark"), ("ja", "light")];

/// One address of each kind that links lead to, from the first page on; numbers and queries make no kind.
fn pages(browser: &Browser, site: &Site) -> Vec<String> {
    let mut found =
        BTreeMap::from([("/".to_owned(), "/".to_owned()), ("/nothing".to_owned(), "/nothing".to_owned())]);
    let mut waiting = vec!["/".to_owned()];
    while let Some(path) = waiting.pop() {
        browser.open(&site.at(&path));
        let links = browser.value("[...document.querySelectorAll('a[href]')].map((a) => a.href)");
        for link in links.as_array().unwrap().iter().filter_map(Value::as_str) {
            let Some(path) = link.strip_prefix(&site.address) else { panic!("{path} leads to {link}") };
            let plain = path.split(['?', '#']).next().unwrap();
            let is_page = !plain.contains('.') && !plain.starts_with("/prefs") && !plain.starts_with("/api");
            let kind = plain
                .split('/')
                .map(|part| if part.parse::<u64>().is_ok() { "N" } else { part })
                .collect::<Vec<_>>()
                .join("/");
            if is_page && !found.contains_key(&kind) {
                found.insert(kind, plain.to_owned());
                waiting.push(plain.to_owned());
            }
        }
    }
    found.into_values().collect()
}

/// Leads through every page of both leagues, in each of these languages and colours.
fn tour(
    browser: &Browser,
    manners: &[Manner],
    windows: &[(u32, u32)],
    mut look: impl FnMut(&Browser, &str, Manner, u32),
) {
    let (_desk, over) = league::finished();
    let (_other, live) = league::running();
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
    for (name, site) in [("over", &over), ("live", &live)] {
        browser.open(&site.at("/"));
        let pages = pages(browser, site);
        for manner in manners {
            browser.open(&site.at(&format!("/prefs?lang={}&back=/nothing", manner.0)));
            browser.open(&site.at(&format!("/prefs?theme={}&back=/nothing", manner.1)));
            let _of_other_manners = browser.complaints();
            for ((width, height), path) in
                windows.iter().flat_map(|window| pages.iter().map(move |path| (window, path)))
            {
                browser.resize(*width, *height);
                browser.open(&site.at(path));
                assert_eq!(browser.text("document.documentElement.lang"), manner.0);
                let page = path.replace('/', "-");
                look(browser, &format!("{name}{}", page.trim_end_matches('-')), *manner, *width);
            }
        }
    }
    // Before the programs end, which the browser would complain about.
    browser.open("about:blank");
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
        let unexpected = browser.complaints().into_iter().filter(|line| !is_expected(name, line));
        faults.extend(unexpected.map(|line| format!("{name} {manner:?}: {line}")));
    });
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    println!("{seen} views of pages without an error");
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
