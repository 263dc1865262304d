//! Suites of positions.

use super::text;
use explain::suite;
use rsshogi::board;

/// A suite that is read comes out as lines that ask for the same.
pub fn suites(data: &[u8]) {
    board::init();
    let Ok(tasks) = suite::read(&text(data)) else { return };
    let written: String = tasks.iter().map(|task| format!("{task}\n")).collect();
    let again = suite::read(&written).expect("what was written is read");
    assert_eq!(tasks.len(), again.len());
    for (task, again) in tasks.iter().zip(&again) {
        assert_eq!((&task.sfen, &task.best, &task.avoid), (&again.sfen, &again.best, &again.avoid));
    }
}
