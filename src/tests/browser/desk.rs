//! The desk as its owner has it: from an empty directory to a league that is played, changed, stopped and copied, with the
//! mouse and the keyboard alone.

use crate::{
    driver::{Browser, wait_for},
    support::{Desk, program},
};
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

/// The program of a desk, which ends with the value.
pub struct Opened(Child);

impl Drop for Opened {
    fn drop(&mut self) {
        let _ended = self.0.kill();
        let _reaped = self.0.wait();
    }
}

pub fn open(directory: &Path) -> Opened {
    open_at(directory, None)
}

/// Opens the desk of a directory, for somebody whose home is another directory.
pub fn open_at(directory: &Path, home: Option<&Path>) -> Opened {
    let mut command = Command::new(env!("CARGO_BIN_EXE_renmei"));
    command.args(["desk", "--no-browser"]).arg(directory);
    home.into_iter().for_each(|home| _ = command.env("HOME", home));
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for("the way in", || directory.join(".desk.html").exists());
    Opened(child)
}

/// The script that examines whether a page is accessible.
pub fn axe() -> String {
    let modules = env::var_os("RENMEI_NODE_MODULES").expect("cargo xtask browser says where axe-core is");
    fs::read_to_string(PathBuf::from(modules).join("axe-core/axe.min.js")).unwrap()
}

/// A browser that the desk of a directory has let in.
pub fn enter(directory: &Path, language: &str) -> Browser {
    let browser = Browser::start(language);
    browser.resize(1280, 844);
    let_in(&browser, directory);
    browser
}

fn let_in(browser: &Browser, directory: &Path) {
    browser.open(&format!("file://{}", directory.join(".desk.html").display()));
    browser.until("location.pathname === '/' && document.readyState === 'complete'");
}

/// Waits until a page that is loaded anew has something.
fn until_page(browser: &Browser, address: &str, what: &str) {
    wait_for(what, || {
        browser.open(address);
        browser.value(what) == true
    });
}

/// Goes to an entry of the navigation.
fn go(browser: &Browser, path: &str) {
    browser.click(&format!("nav.side a[href=\"{path}\"]"));
    browser.until(&format!("location.pathname === '{path}' && document.readyState === 'complete'"));
}

/// Follows a job to its end.
pub fn ended(browser: &Browser) {
    browser.until("location.pathname === '/job' && !document.querySelector('[action=\"/job/stop\"]')");
}

pub fn submit(browser: &Browser, css: &str) {
    browser.run("document.body.dataset.before = 'yes'", &serde_json::Value::Null);
    browser.click(css);
    browser.until("!document.body.dataset.before && document.readyState === 'complete'");
}

/// What is wrong with the page as it stands: wider than the window, against the policy, not accessible.
pub fn look(browser: &Browser, axe: &str, what: &str, found: &mut Vec<String>) {
    for width in [390, 1280] {
        browser.resize(width, 844);
        let wide = browser.value("document.documentElement.scrollWidth").as_u64().unwrap();
        if wide > u64::from(width) {
            found.push(format!("{what} is {wide} pixels wide in a window of {width}"));
        }
        if let Some(directory) = env::var_os("RENMEI_SCREENSHOTS").map(PathBuf::from) {
            browser.picture(&directory.join(format!("desk-{what}.{width}.png")), true);
        }
    }
    found.extend(browser.complaints().into_iter().map(|line| format!("{what}: {line}")));
    let done = "const done = arguments[arguments.length - 1];";
    let run = "axe.run().then((found) => done(found.violations), (fault) => done(String(fault)));";
    let rules = browser.wait(&format!("{axe}; {done} {run}"));
    for rule in rules.as_array().unwrap() {
        if rule["impact"] == "serious" || rule["impact"] == "critical" {
            found.push(format!("{what}: {}: {}", rule["id"], rule["nodes"][0]["target"]));
        }
    }
}

#[test]
#[ignore = "needs Chromium and axe-core; run by cargo xtask browser"]
fn a_league_is_made_played_changed_and_copied_in_a_browser_in_both_languages() {
    let axe = axe();
    let mut found = vec![];
    for language in ["en", "ja"] {
        let desk = Desk::new();
        let directory = desk.path("Renmei");
        let opened = open(&directory);
        let browser = enter(&directory, language);
        browser.until("location.pathname === '/' && document.querySelector('main a.button')");
        assert_eq!(browser.text("document.documentElement.lang"), language);
        look(&browser, &axe, &format!("{language}-empty"), &mut found);

        // Three engines by browsing.
        submit(&browser, "main a.button");
        let random = program("renmei-random");
        browser.run(
            "document.querySelector('[name=path]').value = arguments[0]",
            &random.parent().unwrap().display().to_string().into(),
        );
        submit(&browser, "form[action=\"/engines/browse\"] button");
        look(&browser, &axe, &format!("{language}-browse"), &mut found);
        browser.click(&format!("[value=\"{}\"]", random.display()));
        submit(&browser, "form[action=\"/engines/add\"] button");
        look(&browser, &axe, &format!("{language}-engine"), &mut found);
        for style in ["greedy", "uniform"] {
            submit(&browser, "button[value=copy]");
            browser.run("document.querySelector('[name=name]').value = arguments[0]", &style.into());
            browser
                .run("document.querySelector('[name=\"option:Style\"]').value = arguments[0]", &style.into());
            // Another seed makes it another player than the engine that it is a copy of.
            browser.run(
                "document.querySelector('[name=\"option:Seed\"]').value = '2'",
                &serde_json::Value::Null,
            );
            submit(&browser, "form[action=\"/engine\"] .kept button");
        }
        submit(&browser, "form[action=\"/engine/check\"] button");
        ended(&browser);
        look(&browser, &axe, &format!("{language}-check"), &mut found);
        go(&browser, "/engines");
        assert_eq!(browser.value("document.querySelectorAll('tbody tr').length"), 3);
        look(&browser, &axe, &format!("{language}-engines"), &mut found);

        // A league, with a fault first.
        go(&browser, "/");
        submit(&browser, "a[href=\"/new\"]");
        look(&browser, &axe, &format!("{language}-kinds"), &mut found);
        submit(&browser, "a[href=\"/new/event?kind=league\"]");
        // All play where nobody has chosen; the third joins later.
        browser.click("[name=engine]:not([value=greedy]):not([value=uniform])");
        let fill = "for (const [name, value] of Object.entries(arguments[0])) document.querySelector(`[name=${name}]`).value = value";
        let fields = |games: &str| serde_json::json!({ "name": "Cup", "games": games, "clock": "byoyomi 60s", "max_moves": "60" });
        browser.run(fill, &fields("100000"));
        look(&browser, &axe, &format!("{language}-new"), &mut found);
        browser.run(fill, &fields("many"));
        submit(&browser, "button[value=show]");
        assert_eq!(browser.value("document.querySelectorAll('.wrong').length"), 1);
        look(&browser, &axe, &format!("{language}-form"), &mut found);
        browser.run(fill, &fields("100000"));
        submit(&browser, "button[value=begin]");
        browser.until(
            "document.querySelector('a[href=\"/e/Cup/\"]') && document.querySelector('[value=finish]')",
        );
        look(&browser, &axe, &format!("{language}-home"), &mut found);

        // Changed while it runs.
        let change = |address: &str| browser.open(&format!("{address}/events/change?event=Cup"));
        let address = browser.text("location.origin");
        change(&address);
        look(&browser, &axe, &format!("{language}-file"), &mut found);
        let fill = "for (const [name, value] of Object.entries(arguments[0])) document.querySelector(`[name=${name}]`).value = value";
        browser.run(fill, &serde_json::json!({ "at-once": "1" }));
        browser.run(
            "arguments; const one = document.querySelector('[name=joins]'); one.value = one.options[1].value",
            &serde_json::Value::Null,
        );
        submit(&browser, "form[action=\"/events/change\"] button.main");
        look(&browser, &axe, &format!("{language}-joined"), &mut found);
        assert_eq!(
            browser.value("!!document.querySelector('.done') && !document.querySelector('[name=joins]')"),
            true
        );
        browser.open(&format!("{address}/"));
        submit(&browser, "button[value=pause]");
        browser.until("document.querySelector('button[value=resume]')");
        look(&browser, &axe, &format!("{language}-paused"), &mut found);
        submit(&browser, "button[value=resume]");

        // Killed, it goes on; then stopped, published, copied as a test of two.
        drop(opened);
        fs::remove_file(directory.join(".desk.html")).unwrap();
        let _open = open(&directory);
        let_in(&browser, &directory);
        browser.until("document.querySelector('[value=adjourn]')");
        let address = browser.text("location.origin");
        browser.click(".event .menu summary");
        submit(&browser, ".event button[value=adjourn]");
        browser.until("document.querySelector('.event [value=begin]')");
        browser.open(&format!("{address}/events/publish?event=Cup"));
        assert!(browser.text("document.querySelector('textarea').value").contains("| greedy |"));
        look(&browser, &axe, &format!("{language}-publish"), &mut found);
        browser.open(&format!("{address}/new/event?kind=sprt&from=Cup"));
        let chosen =
            "[...document.querySelectorAll('select[name=engine]')].map((one) => one.value).join(' ')";
        assert_eq!(browser.text(chosen), "greedy uniform");
        go(&browser, "/settings");
        look(&browser, &axe, &format!("{language}-settings"), &mut found);
        browser.open("about:blank");
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Writes values into the fields of a form by their names.
const FILL: &str = "for (const [name, value] of Object.entries(arguments[0])) document.querySelector(`[name=${name}]`).value = value";

#[test]
#[ignore = "needs Chromium and axe-core; run by cargo xtask browser"]
fn a_league_for_guests_and_an_engine_on_a_server_are_made_in_a_browser_in_both_languages() {
    let axe = axe();
    let mut found = vec![];
    for language in ["en", "ja"] {
        let desk = Desk::new();
        let directory = desk.path("Renmei");
        fs::create_dir(&directory).unwrap();
        let engine =
            format!("[[engines]]\nname = \"random\"\ncommand = '{}'\n", program("renmei-random").display());
        fs::write(directory.join("engines.toml"), engine).unwrap();
        let _open = open(&directory);
        let browser = enter(&directory, language);
        let address = browser.text("location.origin");

        browser.open(&format!("{address}/new/event?kind=guests"));
        look(&browser, &axe, &format!("{language}-league"), &mut found);
        browser.run(
            FILL,
            &serde_json::json!({ "name": "friday", "reach": "here", "port": "0", "max_moves": "40" }),
        );
        submit(&browser, "button[value=begin]");
        let guests = format!("{address}/guests?event=friday");
        until_page(
            &browser,
            &guests,
            "!!document.querySelector('main pre')?.textContent.match(/port: [1-9]/)",
        );
        for name in ["mori", "kawa"] {
            browser.write("form:has([name=password]) [name=name]", name);
            browser.write("[name=password]", "secret");
            submit(&browser, "form:has([name=password]) button");
        }
        look(&browser, &axe, &format!("{language}-guests"), &mut found);
        assert!(browser.text("document.querySelector('main').textContent").contains("test-600-10,secret"));
        let port = browser.text("document.querySelector('main pre').textContent.match(/port: (\\d+)/)[1]");

        submit(&browser, "button[value=test]");
        until_page(
            &browser,
            &guests,
            "!![...document.querySelectorAll('li strong')].find((one) => one.textContent === 'tester')",
        );
        browser.open(&format!("{address}/new/event?kind=guests"));
        let shown =
            |name: &str| browser.value(&format!("!!document.querySelector('[name={name}]').offsetParent"));
        assert_eq!(
            (shown("invited"), shown("game"), shown("port")),
            (false.into(), false.into(), true.into())
        );

        for name in ["mori", "kawa"] {
            browser.open(&format!("{address}/new/event?kind=floodgate"));
            if name == "mori" {
                look(&browser, &axe, &format!("{language}-seat-form"), &mut found);
            }
            let fields = serde_json::json!({
                "name": name, "host": "127.0.0.1", "port": port, "login": name, "game": "test-600-10", "secret": "secret", "games": "2"
            });
            browser.run(FILL, &fields);
            submit(&browser, "button[value=begin]");
        }
        until_page(
            &browser,
            &format!("{address}/seat?event=mori"),
            "document.querySelectorAll('main tbody tr').length === 1",
        );
        look(&browser, &axe, &format!("{language}-seat"), &mut found);
        browser.open(&format!("{address}/"));
        look(&browser, &axe, &format!("{language}-hosted-home"), &mut found);
        browser.open("about:blank");
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
