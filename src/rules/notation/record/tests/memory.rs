//! The memory that files of strangers take.

use super::*;
use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

/// Counts the bytes that a thread has allocated, and the most that it had at once.
struct Counting;

thread_local! {
    static HELD: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

fn count(change: isize) {
    // A thread that ends frees without its counts.
    let _ended = HELD.try_with(|held| {
        let now = held.get().0 + change;
        held.set((now, now.max(held.get().1)));
    });
}

#[allow(unsafe_code)]
// SAFETY: the system's allocator does the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Bytes that this thread had at most while it did something, beside those from before.
fn peak(what: impl FnOnce()) -> usize {
    let before = HELD.get().0;
    HELD.set((before, before));
    what();
    (HELD.get().1 - before) as usize
}

/// The peak while each game of a file is read and dropped, and how many were readable.
fn read_through(bytes: &[u8]) -> (usize, usize) {
    let mut games = 0;
    let peak = peak(|| {
        each(bytes, None, |_, read| {
            games += usize::from(read.is_ok());
            ControlFlow::Continue(())
        });
    });
    (peak, games)
}

/// A game of so many moves, without a repetition that would end it: gold generals walk.
fn long_game(format: Format, moves: usize) -> Vec<u8> {
    let walk = ["4i4h", "6a6b", "4h4i", "6b6a"].map(|mv| Move::from_usi(mv).unwrap());
    let plies = walk.iter().cycle().take(moves).map(|mv| Ply { time_ms: Some(1000), ..Ply::from(*mv) });
    write(&GameRecord { plies: plies.collect(), ..GameRecord::default() }, format).unwrap()
}

#[test]
fn a_file_of_many_games_takes_the_memory_of_one() {
    rsshogi::board::init();
    for (format, separator) in [(Format::Csa, "/\n"), (Format::Usi, "")] {
        let game = [&long_game(format, 100)[..], separator.as_bytes()].concat();
        let ((alone, _), (all, games)) = (read_through(&game), read_through(&game.repeat(1000)));
        assert_eq!(games, 1000);
        assert!(all <= 2 * alone, "{format:?}: {all} bytes, {alone} for one game of {}", game.len());
    }
}

#[test]
fn a_game_takes_a_bounded_multiple_of_its_text() {
    rsshogi::board::init();
    // A move of USI is five letters.
    let bounds =
        [(Format::Csa, 60), (Format::Kifu, 20), (Format::Ki2u, 45), (Format::Usi, 120), (Format::Jkf, 60)];
    for (format, times) in bounds {
        let game = long_game(format, 4000);
        let (peak, games) = read_through(&game);
        assert_eq!(games, 1);
        assert!(peak < times * game.len(), "{format:?}: {peak} bytes for {}", game.len());
    }
}

#[test]
fn a_game_beyond_the_bound_is_refused_and_the_others_are_read() {
    rsshogi::board::init();
    let comment = "*a line that fills a record with what nobody says of a game\n";
    let filled = |format, comment: &str| {
        [long_game(format, 4), comment.repeat(LARGEST_GAME / comment.len() + 1).into_bytes()].concat()
    };
    for file in [filled(Format::Kifu, comment), filled(Format::Ki2u, comment), filled(Format::Jkf, "\n")] {
        let fault = read(&file, None).unwrap_err().to_string();
        assert_eq!(fault, "line 1: a game of more than 8 MiB");
        assert!(read_through(&file).0 < 1 << 20);
    }
    let large = filled(Format::Csa, &format!("'{comment}"));
    let (small, mut found) = (long_game(Format::Csa, 4), vec![]);
    each(&[&small, &b"/\n"[..], &large, b"/\n", &small].concat(), None, |_, read| {
        found.push(read.map(|game| game.plies.len()).map_err(|fault| fault.what.to_string()));
        ControlFlow::Continue(())
    });
    assert_eq!(found, [Ok(4), Err("a game of more than 8 MiB".to_owned()), Ok(4)]);
}

#[test]
fn a_reading_that_is_broken_off_reads_no_further_game() {
    rsshogi::board::init();
    let scored = GameRecord {
        plies: moves("7g7f 3c3d").into_iter().map(|mv| Ply { score: Some(1), ..Ply::from(mv) }).collect(),
        ending: Some(Ending::Resign),
        ..GameRecord::default()
    };
    let csa = [&long_game(Format::Csa, 4)[..], b"/\n"].concat();
    for file in [csa, long_game(Format::Usi, 4), write(&scored, Format::Psv).unwrap()] {
        let mut seen = 0;
        each(&file.repeat(5), None, |_, _| {
            seen += 1;
            if seen < 2 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        assert_eq!(seen, 2);
    }
}
