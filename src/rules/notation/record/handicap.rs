//! Handicaps by name: the start positions that KIF, KI2 and JKF name instead of showing a board.
//!
//! `rsshogi` knows all of them but the two of seven pieces, so this table leads for reading and for writing. Left and
//! right are those of White, who gives the pieces and moves first.

use super::RecordFault;
use rsshogi::board::STARTPOS_SFEN;

/// A start position with a name.
#[derive(Clone, Copy, Debug)]
pub struct Named {
    /// Name in the header `手合割` of KIF and KI2.
    pub kif: &'static str,
    /// Name in `initial.preset` of JKF.
    pub jkf: &'static str,
    /// The position, as SFEN.
    pub sfen: &'static str,
}

macro_rules! given {
    ($kif:literal, $jkf:literal, $camp:literal) => {
        Named {
            kif: $kif,
            jkf: $jkf,
            sfen: concat!($camp, "/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1"),
        }
    };
}

/// Every name; the even game is the first.
pub const NAMED: [Named; 16] = [
    Named { kif: "平手", jkf: "HIRATE", sfen: STARTPOS_SFEN },
    given!("香落ち", "KY", "lnsgkgsn1/1r5b1"),
    given!("右香落ち", "KY_R", "1nsgkgsnl/1r5b1"),
    given!("角落ち", "KA", "lnsgkgsnl/1r7"),
    given!("飛車落ち", "HI", "lnsgkgsnl/7b1"),
    given!("飛香落ち", "HIKY", "lnsgkgsn1/7b1"),
    given!("二枚落ち", "2", "lnsgkgsnl/9"),
    given!("三枚落ち", "3", "lnsgkgsn1/9"),
    given!("四枚落ち", "4", "1nsgkgsn1/9"),
    given!("五枚落ち", "5", "2sgkgsn1/9"),
    given!("左五枚落ち", "5_L", "1nsgkgs2/9"),
    given!("六枚落ち", "6", "2sgkgs2/9"),
    given!("左七枚落ち", "7_L", "2sgkg3/9"),
    given!("右七枚落ち", "7_R", "3gkgs2/9"),
    given!("八枚落ち", "8", "3gkg3/9"),
    given!("十枚落ち", "10", "4k4/9"),
];

/// The start position of a name in KIF.
pub(super) fn of_kif(name: &str) -> Option<Named> {
    NAMED.into_iter().find(|named| named.kif == name)
}

/// The start position of a preset in JKF.
pub(super) fn of_jkf(preset: &str) -> Option<Named> {
    NAMED.into_iter().find(|named| named.jkf == preset)
}

/// The name of a start position.
pub(super) fn of_sfen(sfen: &str) -> Option<Named> {
    NAMED.into_iter().find(|named| named.sfen == sfen)
}

/// The fault of a record whose start position has a name that is not in the table, and no diagram.
pub(super) fn unknown(name: &str, line: usize) -> RecordFault {
    let known = NAMED.map(|named| named.kif).join(" ");
    RecordFault::new(
        line,
        format!("unknown start position `{name}` without a diagram; the known names are {known}"),
    )
}

impl Named {
    /// True if White gives pieces.
    pub fn is_handicap(self) -> bool {
        self.sfen != STARTPOS_SFEN
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rsshogi::board::{InitialPosition, Position};

    #[test]
    fn the_table_agrees_with_rsshogi_and_gives_as_many_pieces_as_it_says() {
        for named in NAMED {
            if let Some(known) = InitialPosition::from_handicap_name_ja(named.kif) {
                assert_eq!(known.to_sfen(), named.sfen, "{}", named.kif);
            }
            assert!(Position::from_sfen(named.sfen).is_ok(), "{}", named.kif);
            let pieces =
                named.sfen.chars().take_while(|c| *c != ' ').filter(char::is_ascii_alphabetic).count();
            if let Some(given) = named.jkf.split('_').next().and_then(|count| count.parse::<usize>().ok()) {
                assert_eq!(40 - pieces, given, "{}", named.kif);
            }
        }
    }
}
