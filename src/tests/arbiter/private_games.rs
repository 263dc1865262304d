//! Private games: the doors of the network. Those of the pages are tested with the pages.

use super::League;

#[test]
fn a_private_game_is_at_none_of_the_doors_of_the_network() {
    let league = League::with("open", "private = [\"secret*\"]\n");
    let login = |name: &str| {
        let mut player = league.player();
        player.say(&format!("LOGIN {name} {name}-x x1"));
        player.until("##[LOGIN] +OK");
        player
    };
    let mut watcher = login("watcher");
    for (black, white, game) in [("secret1", "beta", "hush-600-10"), ("alpha", "gamma", "loud-600-10")] {
        let mut players = [(black, "+"), (white, "-")].map(|(name, color)| {
            let mut player = login(name);
            player.say(&format!("%%GAME {game} {color}"));
            player
        });
        let mut id = String::new();
        for player in &mut players {
            id = player.until("Game_ID:").trim_start_matches("Game_ID:").to_owned();
            player.until("END Game_Summary");
            player.say("AGREE");
        }
        players.iter_mut().for_each(|player| drop(player.until("START:")));
        let mut answer = |question: &str, end: &str| {
            watcher.say(question);
            let mut said = String::new();
            while !said.contains(end) {
                said.push_str(&watcher.until("##["));
                said.push('\n');
            }
            said
        };
        let is_private = black == "secret1";
        let list = answer("%%LIST", "##[LIST] +OK");
        assert_eq!(list.contains(&id), !is_private, "{list}");
        let who = answer("%%WHO", "##[WHO] +OK");
        assert_eq!(who.contains(&game[..4]), !is_private, "{who}");
        let shown = answer(&format!("%%SHOW {id}"), "##[SHOW] +OK");
        assert_eq!(shown.contains("Name+"), !is_private, "{shown}");
        // A game that may not be watched is none: the answer to what follows comes at once.
        watcher.say(&format!("%%MONITOR2ON {id}"));
        watcher.say("%%VERSION");
        let first = watcher.until("##[");
        assert_eq!(first.starts_with("##[MONITOR2]"), !is_private, "{first}");
        watcher.until("##[VERSION] +OK");
        watcher.say(&format!("%%FORK {id} copy 1"));
        let forked = watcher.until("##[ERROR]");
        assert_eq!(forked.contains("wrong source game name"), is_private, "{forked}");
        std::mem::forget(players);
    }
}
