//! Pondering.

use crate::support::{Desk, program};

fn pondering(mode: &str) -> (Desk, serde_json::Value) {
    let desk = Desk::new();
    let puppet = program("renmei-puppet");
    let args = format!("args=--mode {mode} --delay 50");
    let played = desk.play(
        &[
            &[&format!("cmd={}", puppet.display()), "name=ponders", &args, "ponder=true"],
            &[&format!("cmd={}", program("renmei-random").display()), "name=good", "option.ThinkTime=5"],
        ],
        &["--games", "4", "--time", "300s", "--max-moves", "40"],
    );
    let standing = played.standing("ponders");
    assert_eq!(standing["games"], 4, "{}", played.text());
    (desk, standing)
}

#[test]
fn ponder_hits_and_misses_are_played_without_a_fault() {
    for mode in ["honest", "ponderstale"] {
        let (desk, standing) = pondering(mode);
        for fault in ["time", "disconnection", "illegal-move:out-of-turn", "illegal-move:unreadable"] {
            assert!(standing["lost_by"].get(fault).is_none(), "{mode}: {standing}");
        }
        let plies: u32 = desk.query("SELECT count(*) FROM moves")[0][0].parse().unwrap();
        assert!(plies >= 60, "{plies} plies");
    }
}
