//! What strangers write is text: nothing of it runs, loads or moves what stands around it.

use crate::{driver::Browser, site::Site, support::Desk};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;

/// Names, and a title, that try to be markup, to turn the line around, and to be longer than any column.
const NAMES: [&str; 2] = ["<img src=x onerror=alert(1)>", "\"><svg/onload=alert(2)>\u{202e}gnola\u{2066}"];
const TITLE: &str = "</title><script>alert(3)</script>";

/// An engine whose thoughts are markup.
const ENGINE: &str = r#"#!/bin/sh
while read -r line; do
  case "$line" in
    usi) echo "id name </script><script>alert(4)</script>"; echo usiok;;
    isready) echo readyok;;
    "position startpos") move=7g7f;;
    "position startpos moves "*" "*) move=resign;;
    "position startpos moves "*) move=3c3d;;
    go*) echo "info string <iframe src=javascript:alert(5)>"
      echo "info depth 3 score cp 10 pv <script>alert(6)</script> <img src=x onerror=alert(7)> 7g7f"
      echo "bestmove $move";;
    quit) exit;;
  esac
done
"#;

fn hostile() -> (Desk, Site) {
    let desk = Desk::new();
    let engine = desk.write("engine.sh", ENGINE);
    std::fs::set_permissions(&engine, PermissionsExt::from_mode(0o755)).unwrap();
    let engine = engine.display();
    let long = "長".repeat(60);
    let engines: String = NAMES
        .iter()
        .chain([&&*long])
        .map(|name| format!("[[engines]]\nname = {}\ncommand = \"{engine}\"\n", Value::from(*name)))
        .collect();
    desk.write(
        "event.toml",
        &format!(
            "[event]\nname = {}\ngames = 2\ndatabase = \"event.db\"\nlook = false\n[time]\nmain = \"300s\"\n{engines}",
            Value::from(TITLE)
        ),
    );
    let played = desk.renmei(&["run", "event.toml", "--no-dashboard", "--oversubscribe"]);
    assert!(played.status.success(), "{}", String::from_utf8_lossy(&played.stderr));
    let site = Site::of(&desk, None);
    (desk, site)
}

#[test]
#[ignore = "needs Chromium; run by cargo xtask browser"]
fn hostile_names_titles_and_thoughts_are_inert_text() {
    let (_desk, site) = hostile();
    let browser = Browser::start("en");
    browser.resize(390, 844);
    for path in [
        "/",
        "/table",
        "/rounds",
        "/games",
        "/games/1",
        "/games/4",
        "/players/0",
        "/players/1",
        "/players/2",
        "/games?player=%3Cimg&opening=7g7f",
    ] {
        browser.open(&site.at(path));
        browser.until("document.readyState === 'complete'");
        assert!(!browser.is_alerted(), "{path}");
        let foreign = "document.querySelectorAll('img, iframe, body script:not([type]), body [onload], body [onerror]').length";
        assert_eq!(browser.value(foreign), 0, "{path}");
        assert!(
            browser.text("document.title").ends_with(TITLE),
            "{path}: {}",
            browser.text("document.title")
        );
        let words = browser.text("document.body.innerText");
        assert!(words.contains(TITLE), "{path}: {words}");
        assert!(!words.contains(['\u{202e}', '\u{2066}']), "{path} turns the line around");
        let wide = browser.value("document.documentElement.scrollWidth").as_u64().unwrap();
        assert!(wide <= 390, "{path} is {wide} pixels wide");
        assert_eq!(browser.complaints(), [""; 0], "{path}");
    }
    browser.open(&site.at("/games/1"));
    let words = browser.text("document.querySelector('#heading').innerText");
    assert!(NAMES.iter().any(|name| words.contains(name.split('\u{202e}').next().unwrap())), "{words}");
    // If something got through, the policy would still stop it, and these tests would hear of it.
    browser.run("document.body.insertAdjacentHTML('beforeend', '<b id=probe onclick=\"alert(9)\">x</b>'); document.getElementById('probe').click();", &Value::Null);
    assert!(!browser.is_alerted());
    let complaints = browser.complaints();
    assert!(complaints.iter().any(|line| line.contains("Content Security Policy")), "{complaints:?}");
}
