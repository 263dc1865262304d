use super::*;
use referee::Foul;
use rsshogi::{
    board::{InitialPosition, MoveList},
    movegen::generate_legal_all,
    types::{HandPiece, PieceType, Square},
};
use std::collections::{BTreeMap, HashSet};

/// White, to move, has both kings on the board, no legal move and no check.
const STALEMATE: &str = "8k/6G2/8G/9/9/9/9/9/4K4 w 2R2B2G4S4N4L18P 1";
/// Black may declare: king on 5b, ten pieces in the zone, 28 points.
const DECLARABLE: &str = "1+R+R1G1GG1/4K1SSS/PPPPP4/9/9/9/9/4k4/9 b 2BGS2N3P 1";
/// Enough pieces in the zone but 26 points: one short for White, two for Black.
const SHORT_OF_POINTS: &str = "1+R+R1G1GG1/4K1SSS/PPPPP4/9/9/9/9/4k4/9 b GS2NP2b2n4l12p 1";

fn spot(sfen: &str) -> Spot {
    Spot::read(sfen).unwrap()
}

#[test]
fn the_kind_of_a_position_follows_from_the_rules() {
    assert_eq!(spot("startpos").kind(), Kind::Ordinary);
    assert_eq!(spot(STALEMATE).kind(), Kind::Stalemated);
    assert_eq!(spot(DECLARABLE).kind(), Kind::Declarable);
    assert_eq!(spot(SHORT_OF_POINTS).kind(), Kind::Ordinary);
    assert_eq!(spot("4k4/9/4P4/9/9/9/9/9/4K4 b G 1").kind(), Kind::MateInOne);
    assert_eq!(spot("4k4/4G4/4P4/9/9/9/9/9/4K4 w - 1").kind(), Kind::Mated);
}

#[test]
fn answers_are_judged_and_fouls_are_named() {
    let start = spot("startpos");
    assert!(matches!(start.judge("7g7f"), Judged::Legal(_)));
    assert_eq!(start.judge("resign"), Judged::Resigned);
    assert_eq!(start.judge("7g7e"), Judged::Lost("`7g7e`: illegal-move:unreachable".to_owned()));
    assert_eq!(start.judge("(none)"), Judged::Lost("`(none)` is not a move".to_owned()));
    assert!(matches!(start.judge("win"), Judged::Lost(_)));
    assert_eq!(spot(DECLARABLE).judge("win"), Judged::Declared);
    assert!(matches!(spot(SHORT_OF_POINTS).judge("win"), Judged::Lost(_)));
}

#[test]
fn positions_are_read_and_extended_by_moves() {
    let line = "position startpos moves 7g7f  3c3d";
    assert_eq!(spot(line).line, "startpos moves 7g7f 3c3d");
    assert_eq!(spot("startpos").after("7g7f").unwrap().after("3c3d").unwrap().line, spot(line).line);
    assert!(spot("startpos").after("7g7e").is_err());
    assert!(Spot::read("startpos moves 7g7f 7g7f").is_err());
    let (line, _) = read("# all good\nstartpos\n\nnonsense b - 1\n").unwrap_err();
    assert_eq!(line, 4);
}

#[test]
fn the_built_in_positions_cover_every_kind() {
    let spots = read(CARRIED).unwrap();
    let mut counts = BTreeMap::new();
    for spot in &spots {
        *counts.entry(format!("{:?}", spot.kind())).or_insert(0) += 1;
    }
    let distinct: HashSet<_> = spots.iter().map(|spot| &spot.line).collect();
    assert_eq!(distinct.len(), spots.len());
    assert!(counts["Ordinary"] >= 70, "{counts:?}");
    for kind in ["Mated", "MateInOne", "Stalemated", "Declarable"] {
        assert!(counts[kind] >= 2, "{counts:?}");
    }
    let in_check = spots.iter().filter(|spot| !spot.position.checkers().is_empty()).count();
    assert!(in_check >= 15, "{in_check} in check");
    for tempting in [Foul::Uchifuzume, Foul::Nifu] {
        assert!(spots.iter().filter(|spot| tempts(&spot.position, tempting)).count() >= 3, "{tempting:?}");
    }
}

/// Rewrites `kifu/check.sfen`: `cargo test -p check the_built_in_positions_are_written -- --ignored`
#[test]
#[ignore = "writes kifu/check.sfen"]
fn the_built_in_positions_are_written() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../kifu/check.sfen");
    std::fs::write(path, written()).unwrap();
}

const HEAD: &str = "\
# Positions that `renmei check` asks an engine about: random play with a fixed seed, handicap starts, a few by hand.
# Made by `cargo test -p check the_built_in_positions_are_written -- --ignored`
";

fn written() -> String {
    let mut text = HEAD.to_owned();
    let mut walk = Walk::new(2026);
    let mut section = |title: &str, sfens: Vec<String>| {
        text += &format!("# {title}\n");
        for sfen in sfens {
            text += &format!("{sfen}\n");
        }
    };
    let lengths = (0..46).map(|i| 4 + 5 * i);
    section("from the opening to the deep ending", lengths.map(|plies| walk.after(plies)).collect());
    let in_check = |position: &Position| !position.checkers().is_empty() && !position.is_mated();
    section("in check", walk.found(12, 40, in_check));
    section("a pawn drop would be the foul uchifuzume", walk.found(4, 60, |p| tempts(p, Foul::Uchifuzume)));
    let nifu = |p: &Position| in_check(p) && tempts(p, Foul::Nifu);
    section("in check, where a pawn in between would be the foul nifu", walk.found(4, 40, nifu));
    section("mated", walk.found(4, 60, |p| p.is_mated()));
    section("mate in one", walk.found(6, 60, |p| solve_mate_in_one(p).is_some()));
    let flipped = |sfen: &str| spot(sfen).position.to_sfen_flipped(Some(1));
    let both = |sfen: &str| vec![spot(sfen).position.to_sfen(Some(1)), flipped(sfen)];
    section("no legal move, though not in check", both(STALEMATE));
    section("the side to move may declare", both(DECLARABLE));
    section("a king in the camp, but short of points", both(SHORT_OF_POINTS));
    section("handicap starts", handicaps());
    text
}

fn handicaps() -> Vec<String> {
    use InitialPosition as Start;
    let starts = [
        Start::HandicapLance,
        Start::HandicapBishop,
        Start::HandicapRook,
        Start::HandicapRookLance,
        Start::Handicap2Pieces,
        Start::Handicap4Pieces,
        Start::Handicap6Pieces,
        Start::Handicap8Pieces,
        Start::Handicap10Pieces,
    ];
    starts.iter().map(|start| start.to_sfen().to_owned()).collect()
}

/// True if a pawn drop would be this foul; for nifu, another piece must be available for the drop.
fn tempts(position: &Position, foul: Foul) -> bool {
    use PieceType as P;
    let others = [P::LANCE, P::KNIGHT, P::SILVER, P::GOLD, P::BISHOP, P::ROOK];
    let other_drop = |to| others.iter().any(|&piece| position.is_legal_move(Move::drop(piece, to)));
    position.hand(position.turn()).count(HandPiece::from_piece_type(P::PAWN).unwrap()) > 0
        && (0..81).map(Square::from_index).any(|to| {
            legality::foul(position, Move::drop(P::PAWN, to)) == Some(foul)
                && (foul != Foul::Nifu || other_drop(to))
        })
}

/// Random games.
struct Walk(u64);

impl Walk {
    fn new(seed: u64) -> Self {
        board::init();
        Self(seed)
    }

    /// Knuth's MMIX generator; its high half is random enough to choose moves.
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n
    }

    fn step(&mut self, position: &mut Position) -> bool {
        let mut moves = MoveList::new();
        generate_legal_all(position, &mut moves);
        if moves.is_empty() {
            return false;
        }
        let mv = moves.as_slice()[self.below(moves.len())];
        play(position, &mv.to_usi()).unwrap();
        true
    }

    /// A position after that many plies in which the game is not over.
    fn after(&mut self, plies: usize) -> String {
        loop {
            let mut position = board::hirate_position();
            position.init_stack();
            if (0..plies).all(|_| self.step(&mut position)) && !position.is_mated() {
                return position.to_sfen(None);
            }
        }
    }

    /// The first matching position after `from` plies, in each of `count` games.
    fn found(&mut self, count: usize, from: usize, wanted: impl Fn(&Position) -> bool) -> Vec<String> {
        let mut found = Vec::new();
        while found.len() < count {
            let mut position = board::hirate_position();
            position.init_stack();
            let mut plies = 0;
            while plies < 400 && !(plies >= from && wanted(&position)) && self.step(&mut position) {
                plies += 1;
            }
            if wanted(&position) {
                found.push(position.to_sfen(None));
            }
        }
        found
    }
}

#[test]
fn the_middle_games_have_both_sides_to_move_and_no_quick_end() {
    let games = MiddleGames::new().unwrap();
    let turns = |color| games.spots.iter().filter(|spot| spot.position.turn() == color).count();
    assert!(turns(rsshogi::types::Color::BLACK) >= 3 && turns(rsshogi::types::Color::WHITE) >= 3);
    assert!(games.spots.iter().all(|spot| spot.kind() == Kind::Ordinary));
}
