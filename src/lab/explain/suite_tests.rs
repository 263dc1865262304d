#![allow(clippy::unwrap_used)]

use super::*;

const START: &str = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b -";

fn one(line: &str) -> Task {
    read(line).unwrap().remove(0)
}

#[test]
fn a_line_comes_out_as_it_went_in() {
    let line = format!("{START} 1 bm 7g7f 2g2f; am 5i5h; id \"new: game 12; ply 1\"; ce -30;");
    let task = one(&line);
    assert_eq!((task.best.len(), task.avoid.len(), task.id.as_str()), (2, 1, "new: game 12; ply 1"));
    assert_eq!(task.to_string(), line);
}

#[test]
fn the_word_sfen_and_a_missing_number_and_semicolon_are_no_fault() {
    let task = one(&format!("# a suite\n\nsfen {START} am 5i5h"));
    assert_eq!((task.sfen, task.avoid), (format!("{START} 1"), vec!["5i5h".to_owned()]));
}

#[test]
fn a_move_passes_if_it_is_among_the_best_or_not_to_be_avoided() {
    let best = one(&format!("{START} 1 bm 7g7f;"));
    assert!(best.passes("7g7f") && !best.passes("2g2f") && !best.passes("resign"));
    let avoid = one(&format!("{START} 1 am 5i5h;"));
    assert!(avoid.passes("7g7f") && !avoid.passes("5i5h"));
}

#[test]
fn a_faulty_line_is_named_with_its_reason() {
    for (line, reason) in [
        ("nonsense", "is no position"),
        (&format!("{START} 1"), "neither `bm` nor `am`"),
        (&format!("{START} 1 bm 7g7c;"), "is not legal"),
        (&format!("{START} 1 bm Nf3;"), "is no move"),
        (&format!("{START} 1 bm;"), "without a move"),
        (&format!("{START} 1 bm 7g7f; id \"open;"), "not closed"),
    ] {
        let fault = read(&format!("# first\n{line}")).unwrap_err();
        assert!(fault.line == 2 && fault.to_string().contains(reason), "{line}: {fault}");
    }
    assert!(read("# nothing\n").is_err());
}
