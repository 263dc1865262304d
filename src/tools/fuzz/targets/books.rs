//! Opening books, opening files, and lists of scored lines.

use crate::scratch::Scratch;
use opening_book::{Book, Choice, games::games};
use plan::{OpeningChange, OpeningOrder, OpeningPlan};
use records::openings::load;
use rsshogi::board::{Position, hirate_position};
use usi_shell::SplitMix64;

/// The opening book of a stranger, and a file of openings: a move that a book gives is legal, and an opening can be
/// played.
pub fn books(data: &[u8]) {
    let place = Scratch::new();
    let path = place.file("book.db", data);
    if let Ok(book) = Book::open(&path) {
        for position in positions() {
            for choice in [Choice::Best, Choice::Weighted] {
                let found = book.choose(&position, choice, &mut SplitMix64::new(7));
                let Ok(Some(found)) = found else { continue };
                assert!(position.is_legal_move(found.mv), "{}", found.mv);
                assert!(found.choices > 0);
            }
        }
    }
    let path = place.file("openings.tsv", data);
    let _games = games(&path);
    let openings = OpeningPlan {
        files: vec![path],
        plies: Some(24),
        order: OpeningOrder::Sequential,
        pairs: true,
        change: OpeningChange::Encounter,
        dedupe: true,
        by_default: false,
    };
    match load(&openings) {
        Ok(openings) => assert!(!openings.is_empty(), "a file without an opening is a fault"),
        Err(faults) => assert!(!faults.to_string().is_empty()),
    }
}

fn positions() -> [Position; 2] {
    let mut next = hirate_position();
    let played = next.move32_from_usi("7g7f").map(|mv| next.try_apply_move32(mv).is_ok());
    assert_eq!(played, Some(true));
    [hirate_position(), next]
}
