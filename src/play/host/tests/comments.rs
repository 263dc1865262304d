//! Comments of players on their moves, and who receives them.

use super::driver::{Host, game};
use plan::serve::ServeConfig;
use std::time::Duration;

#[test]
fn spectators_see_comments_if_the_league_allows_it_and_opponents_never_do() {
    let mut host = Host::start(ServeConfig { comments: true, ..ServeConfig::default() });
    let (mut black, mut white) = game(&host, "t-600-10");
    let mut watcher = host.connect();
    watcher.say("LOGIN watcher x x1");
    watcher.say("%%LIST");
    watcher.hears(&["LOGIN:watcher OK", "##[LOGIN] +OK x1"]);
    let id = watcher.line().unwrap().strip_prefix("##[LIST] ").unwrap().to_owned();
    watcher.hears(&["##[LIST] +OK"]);
    watcher.say(&format!("%%MONITOR2ON {id}"));
    let prefix = format!("##[MONITOR2][{id}]");
    watcher.until(&format!("{prefix} +OK"));
    black.say("+7776FU,'* 35 -8384FU\x1b[2J");
    white.hears(&["+7776FU,T0"]);
    white.say("-8384FU,'* -20");
    white.hears(&["-8384FU,T0"]);
    let shown = |line: &str| format!("{prefix} {line}");
    host.passes(Duration::from_millis(10));
    watcher.hears(&[&shown("+7776FU"), &shown("T0")]);
    let comment = watcher.line().unwrap();
    assert!(comment.starts_with(&shown("'** 35 -8384FU")) && !comment.contains('\x1b'), "{comment}");
    watcher.hears(&[&shown("+OK"), &shown("-8384FU"), &shown("T0"), &shown("'** -20"), &shown("+OK")]);
    black.say("%TORYO");
    white.until("#WIN");
    let scores = "SELECT group_concat(score_cp || ' ' || coalesce(pv, '-'), ', ') FROM moves WHERE ply = 2";
    let stored: String = host.end().query_row(scores, [], |row| row.get(0)).unwrap();
    assert_eq!(stored, "20 -", "from the mover's side");
}
