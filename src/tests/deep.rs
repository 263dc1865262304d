//! renmei-deep plays games on the CPU. `cargo xtask ci` builds it where libtorch is, and runs this test then.

use crate::support::{Desk, program};

#[test]
#[ignore = "needs renmei-deep, which only `cargo xtask ci` builds"]
fn renmei_deep_plays_an_event_without_a_fault_and_beats_a_greedy_mover() {
    let deep = program("renmei-deep");
    let (deep, random) =
        (format!("cmd={}", deep.display()), format!("cmd={}", program("renmei-random").display()));
    let desk = Desk::new();
    let played = desk.play(
        &[
            &[&deep, "name=mcts", "nodes=24"],
            &[&deep, "name=policy", "nodes=1", "option.Player=policy"],
            &[&random, "name=greedy", "option.Style=greedy", "time=10s"],
        ],
        &["--games", "2", "--concurrency", "1", "--max-moves", "256"],
    );
    assert_eq!(played.code(), Some(0), "{}", played.text());
    let json = played.json();
    assert_eq!(json["games"], 6);
    for cause in ["time", "disconnection", "illegal-move:unreadable"] {
        assert!(json["endings"].get(cause).is_none(), "{json}");
    }
    assert!(json["endings"].as_object().unwrap().keys().all(|cause| !cause.starts_with("illegal")), "{json}");
    assert_eq!(json["standings"][0]["name"], "mcts", "{json}");
    assert_eq!(json["standings"][2]["name"], "greedy", "{json}");
    let thought = desk.query("SELECT count(*) FROM moves WHERE depth IS NOT NULL");
    assert_ne!(thought[0][0], "0");
}
