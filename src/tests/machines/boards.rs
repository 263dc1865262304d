//! Games that other machines play, as whoever looks on sees them.

use super::{
    unequal::{ask, page},
    *,
};
use std::io::Read;

#[test]
fn a_game_on_another_machine_is_on_the_page_while_it_is_played_and_has_its_number_when_its_pair_is_over() {
    let Some(hub) = Hub::start() else { return };
    let desk = Desk::new();
    let text = std::fs::read_to_string(event(&desk, 4, "")).unwrap();
    desk.write(
        "event.toml",
        &text.replace("ThinkTime = 5", "ThinkTime = 60").replace("max_moves = 30", "max_moves = 120"),
    );
    let mut manager = manages(&desk, &["--hub", &hub.address(), "--slots", "0", "--http", "127.0.0.1:0"]);
    let mut ann = worker(&desk, "ann");
    let mut shown = serde_json::Value::Null;
    until("a game of ann is shown with its moves", || {
        // Whoever asks too often is refused, in words.
        std::thread::sleep(Duration::from_millis(500));
        // Nothing goes on while the page is read, however long that takes.
        hold(&desk);
        let now = serde_json::from_str::<serde_json::Value>(&page(&desk, "/api/now")).unwrap_or_default();
        let games = now["games"].as_array().cloned().unwrap_or_default();
        let of_ann = |game: &&serde_json::Value| {
            game["machine"] == "ann" && game["moves"].as_array().is_some_and(|moves| moves.len() >= 2)
        };
        shown = games.iter().find(of_ann).cloned().unwrap_or_default();
        if shown.is_null() {
            release(&desk);
        }
        !shown.is_null()
    });
    let of_game = page(&desk, &format!("/games/{}", shown["number"]));
    assert!(of_game.contains("<span class=\"number\">ann</span>"), "{of_game}");
    assert!(!of_game.contains(".csa\""), "a game that is not stored has no record: {of_game}");
    assert_eq!(count(&desk, "SELECT count(*) FROM games"), 0, "and nothing of it is stored");
    // Who returns after a long break hears first that all boards are gone, and then of those that are there.
    let since = format!("/events?since={}-1-1", desk.query("SELECT created_at FROM events")[0][0]);
    let (mut stream, mut heard, mut bytes) = (ask(&desk, &since), String::new(), [0; 4096]);
    until("the boards come again", || {
        let count = stream.read(&mut bytes).unwrap();
        heard += &String::from_utf8_lossy(&bytes[..count]);
        heard.contains("\"machine\":\"ann\"")
    });
    let [gone, there] = ["{\"k\":\"x\",\"g\":null}", "\"machine\":\"ann\""].map(|words| heard.find(words));
    assert!(gone.is_some() && gone < there, "{heard}");
    release(&desk);
    assert_eq!(manager.code(), Some(0), "{}", log(&desk, "manager.log"));
    assert_eq!(ann.code(), Some(0), "{}", log(&desk, "ann.log"));
    assert_eq!(count(&desk, COUNTED), 4);
    assert_eq!(desk.query("SELECT max(number) FROM games"), [["4"]], "boards take no number of the event");
}
