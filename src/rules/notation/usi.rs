//! The USI line protocol: [`EngineLine`] is a line of an engine.
//!
//! What `Display` writes is read again as the same. An engine may print anything, so an [`EngineLine`] always parses:
//! an unknown line is [`EngineLine::Unknown`], cut to [`UNKNOWN_KEPT`] bytes. [`EngineLineRef`] is the same parser
//! for the game loop. Reference: <http://shogidokoro.starfree.jp/usi.html>.

mod engine;
mod info;
mod moves;
mod option;
mod words;

pub use engine::{BestMoveLine, Checkmate, EngineLine, EngineLineRef, OtherLine};
pub use info::{Bound, Info, InfoLine, Score, ScoreValue};
pub use moves::push_move;
pub use option::{OptionDecl, OptionFault, OptionKind, nearest};
pub use words::UNKNOWN_KEPT;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rsshogi::types::Move;

    fn read(line: &str) -> EngineLine {
        EngineLine::parse(line.as_bytes())
    }

    #[test]
    fn every_engine_line_survives_a_round_trip() {
        for line in [
            "id name Fairy-Stockfish 11.1 LB 64",
            "id author Fabian Fichter",
            "usiok",
            "readyok",
            "bestmove 7g7f",
            "bestmove P*5e ponder 8h2b+",
            "bestmove resign",
            "bestmove win",
            "checkmate nomate",
            "checkmate timeout",
            "checkmate notimplemented",
            "checkmate G*5b 4a3a G*4b",
            "info depth 3 score cp -20 pv 7g7f 3c3d",
            "option name Clear Hash type button",
            "option name UCI_Variant type combo default shogi var 3check var shogi",
            "No such option: USI_Hash",
        ] {
            assert_eq!(read(line).to_string(), line);
        }
    }

    #[test]
    fn blanks_and_line_ends_around_a_line_do_not_matter() {
        assert_eq!(EngineLine::parse(b"  usiok \r\n"), EngineLine::UsiOk);
        let best = EngineLine::BestMove { mv: "7g7f".into(), ponder: Some("3c3d".into()) };
        assert_eq!(read("bestmove   7g7f  ponder\t3c3d "), best);
    }

    #[test]
    fn a_best_move_without_a_move_is_an_unknown_line() {
        assert_eq!(read("bestmove"), EngineLine::Unknown("bestmove".into()));
        assert_eq!(read("bestmove 7g7f ponder"), EngineLine::BestMove { mv: "7g7f".into(), ponder: None });
    }

    #[test]
    fn a_flood_of_garbage_is_kept_only_in_part() {
        let EngineLine::Unknown(kept) = EngineLine::parse("金".repeat(100_000).as_bytes()) else {
            panic!("garbage is an unknown line");
        };
        assert_eq!(kept.len(), UNKNOWN_KEPT - 1);
    }

    #[test]
    fn a_choice_that_ends_with_a_form_feed_survives_a_round_trip() {
        let option = read("option name a type combo default x var x var y z\u{c} default x");
        assert_eq!(read(&option.to_string()), option);
        assert_eq!(read("bestmove \r\r 7g7f"), EngineLine::BestMove { mv: "7g7f".into(), ponder: None });
    }

    #[test]
    fn a_long_line_that_is_cut_at_a_blank_survives_a_round_trip() {
        let cut = read(&format!("{} and more", "x".repeat(UNKNOWN_KEPT - 1)));
        assert_eq!(cut, EngineLine::Unknown("x".repeat(UNKNOWN_KEPT - 1)));
        assert_eq!(read(&cut.to_string()), cut);
    }

    #[test]
    fn bytes_that_are_not_utf8_do_not_stop_the_parser() {
        assert_eq!(EngineLine::parse(b"readyok\xff"), EngineLine::Unknown("readyok\u{fffd}".into()));
        assert_eq!(EngineLine::parse(b"id name \x8f\xab"), EngineLine::IdName("\u{fffd}\u{fffd}".into()));
    }

    #[test]
    fn moves_are_appended_as_rsshogi_spells_them() {
        for usi in ["7g7f", "8h2b+", "P*5e", "G*1a", "R*9i"] {
            let mut out = String::new();
            push_move(&mut out, Move::from_usi(usi).unwrap());
            assert_eq!(out, usi);
        }
    }

    #[test]
    fn a_keyword_inside_a_line_is_a_whole_word() {
        for line in [
            "bestmove",
            "id namefoo Engine",
            "option namefoo X type check default true",
            "option name X typecheck default true",
            "checkmate",
            "checkmate nomatefoo",
            "checkmate G*5b foo",
            "usiok now",
        ] {
            assert_eq!(read(line), EngineLine::Unknown(line.into()));
        }
        let best = EngineLine::BestMove { mv: "7g7f".into(), ponder: None };
        assert_eq!(read("bestmove 7g7f ponderfoo 3c3d"), best);
        let kind = OptionKind::String { default: String::new() };
        let option = EngineLine::Option(OptionDecl { name: "X".into(), kind });
        assert_eq!(read("option name X type string defaultfoo"), option);
    }

    const OF_ENGINES: [&str; 7] = ["info", "bestmove", "option", "id", "checkmate", "usiok", "readyok"];
    proptest! {
        #[test]
        fn a_word_that_only_begins_with_a_keyword_is_unknown(
            keyword in prop::sample::select(OF_ENGINES.to_vec()),
            more in "[!-~]{1,8}",
            rest in "( (name|7g7f|nomate|score|[ -~]{1,6})){0,3}",
        ) {
            let line = format!("{keyword}{more}{rest}");
            prop_assert!(matches!(read(&line), EngineLine::Unknown(_)), "{}", line);
        }

        #[test]
        fn the_borrowed_and_the_owned_reading_of_a_line_agree(
            line in "(info|bestmove|usiok|id)?( score| cp| multipv| ponder| 7g7f| 1|[ -~]|\\PC){0,20}",
        ) {
            match (EngineLineRef::parse(line.as_bytes()), read(&line)) {
                (EngineLineRef::Info(info), EngineLine::Info(owned)) => prop_assert_eq!(info.read(), *owned),
                (EngineLineRef::BestMove(best), EngineLine::BestMove { mv, ponder }) => {
                    prop_assert_eq!((best.mv.as_ref(), best.ponder.as_deref()), (mv.as_str(), ponder.as_deref()));
                }
                (EngineLineRef::Other(other), owned) => prop_assert_eq!(other.read(), owned),
                readings => prop_assert!(false, "{:?}", readings),
            }
        }

        #[test]
        fn no_line_of_an_engine_panics(line in "(info|option|bestmove|checkmate|id)?( name| type| score| mate| cp| pv| default| var|[ -~]|\\PC){0,40}") {
            let once = read(&line);
            prop_assert_eq!(&read(&once.to_string()).to_string(), &once.to_string());
        }
    }
}
