//! Opening files to openings.

use super::{FileFault, files};
use flate2::read::DeflateDecoder;
use notation::record::{self, GameRecord, RecordFault};
use plan::{OpeningPlan, built_in};
use referee::opening::{Opening, Openings};
use rsshogi::{board::Position, types::Move};
use std::{collections::HashSet, io::Read, ops::ControlFlow, path::Path};

/// Number of faults listed one by one; the rest are only counted.
const LISTED: usize = 20;

/// All faults of an event's opening files; never empty.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", listed(.0))]
pub struct OpeningFaults(pub Vec<FileFault>);

fn listed(faults: &[FileFault]) -> String {
    let mut lines: Vec<_> = faults.iter().take(LISTED).map(ToString::to_string).collect();
    if faults.len() > LISTED {
        lines.push(format!("and {} more such lines", faults.len() - LISTED));
    }
    lines.join("\n")
}

/// Reads the opening files of a plan: lines of SFEN or USI moves, or records of any format, each cut to the plan's
/// plies. With `dedupe`, openings that lead to a position already reached are dropped.
///
/// # Errors
/// All faults at once: unreadable files, illegal lines, lines that end in a finished game.
pub fn load(plan: &OpeningPlan) -> Result<Vec<Opening>, OpeningFaults> {
    let (mut openings, mut faults) = (Vec::new(), Vec::new());
    let mut seen = HashSet::new();
    for file in &plan.files {
        if file == Path::new(built_in::NAME) {
            let lines = built_in_lines().into_iter().map(|line| line.cut(plan.plies));
            // Uncut and alone they lead to different positions, which a test holds.
            match plan.dedupe && (plan.plies.is_some() || plan.files.len() > 1) {
                true => {
                    openings.extend(lines.filter(|line| line.goal().is_some_and(|goal| seen.insert(goal))))
                }
                false => openings.extend(lines),
            }
            continue;
        }
        let bytes = match built_in::contents(file) {
            Ok(bytes) => bytes,
            Err(error) => {
                faults.push(files::unreadable(file, &error));
                continue;
            }
        };
        let mut found = false;
        record::each(&bytes, files::hint(file), |line, read| {
            found = true;
            match read.and_then(|record| opening(record, line, plan.plies)) {
                Err(fault) => faults.push(FileFault::of(file, fault)),
                Ok((opening, goal)) => {
                    if seen.insert(goal) || !plan.dedupe {
                        openings.push(opening);
                    }
                }
            }
            ControlFlow::Continue(())
        });
        if !found {
            faults.push(FileFault::whole(file, "holds no opening".to_owned()));
        }
    }
    if faults.is_empty() { Ok(openings) } else { Err(OpeningFaults(faults)) }
}

/// The lines that the program carries, mixed: in their file, which `make_openings` of `renmei-pairwise` describes, they
/// are sorted.
///
/// # Panics
/// If the file is damaged: it is part of the program, and a test reads it.
fn built_in_lines() -> Vec<Opening> {
    let mut packed = vec![];
    DeflateDecoder::new(built_in::PACKED).read_to_end(&mut packed).expect("the built-in openings are whole");
    let (mut lines, mut moves, mut rest) = (vec![], vec![], packed.as_slice());
    while let Some((&lengths, after)) = rest.split_first() {
        let (own, after) = after.split_at(2 * usize::from(lengths & 15));
        moves.truncate(usize::from(lengths >> 4));
        moves.extend(own.chunks_exact(2).map(|raw| Move::from_raw(u16::from_le_bytes([raw[0], raw[1]]))));
        lines.push(Opening { moves: moves.clone(), ..Opening::default() });
        rest = after;
    }
    let mixed = Openings::new(lines, Some(1));
    (0..mixed.count() as u64).map(|place| mixed.pick(place).clone()).collect()
}

/// The opening of a record that begins in a line, and the position it leads to.
fn opening(record: GameRecord, line: usize, plies: Option<u32>) -> Result<(Opening, String), RecordFault> {
    let illegal = || RecordFault::new(line, "breaks the rules");
    let moves = record.plies.into_iter().map(|ply| ply.mv).collect();
    let opening = Opening { start: record.start, moves }.cut(plies);
    let goal = opening.goal().ok_or_else(illegal)?;
    let end = Position::from_sfen(&format!("{goal} 1")).map_err(|_| illegal())?;
    if end.is_mated() {
        let ply = opening.moves.len();
        return Err(RecordFault::new(line, format!("ends in mate at ply {ply}; cut it with `plies`")));
    }
    Ok((opening, goal))
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::{OpeningChange, OpeningOrder};
    use std::fs;

    fn plan(files: &[&Path]) -> OpeningPlan {
        OpeningPlan {
            files: files.iter().map(|file| file.to_path_buf()).collect(),
            plies: None,
            order: OpeningOrder::Sequential,
            pairs: true,
            change: OpeningChange::default(),
            dedupe: true,
            by_default: false,
        }
    }

    /// Writes a file of that name and loads it with the default plan.
    fn loaded(name: &str, text: &str) -> Result<Vec<Opening>, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        fs::write(&path, text).unwrap();
        let dir = dir.path().display().to_string() + "/";
        load(&plan(&[&path])).map_err(|faults| faults.to_string().replace(&dir, ""))
    }

    fn usi(opening: &Opening) -> String {
        opening.moves.iter().map(|mv| mv.to_usi()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn usi_lines_positions_and_records_are_openings() {
        let position = "lnsgkgsnl/1r5b1/p1ppppppp/9/1p5P1/9/PPPPPPP1P/1B5R1/LNSGKGSNL b - 5";
        let lines = loaded(
            "a.sfen",
            &format!("# even\n\nstartpos moves 7g7f 3c3d\nsfen {position}\n{position}\n2g2f\nstartpos\n"),
        )
        .unwrap();
        let moves: Vec<_> = lines.iter().map(usi).collect();
        assert_eq!(moves, ["7g7f 3c3d", "", "2g2f", ""], "the second of two equal positions is left out");
        assert_eq!(lines[1].start, position);
        let csa = loaded("a.csa", "V2.2\nPI\n+\n+7776FU\n-3334FU\n%CHUDAN\n").unwrap();
        assert_eq!(csa.iter().map(usi).collect::<Vec<_>>(), ["7g7f 3c3d"]);
    }

    #[test]
    fn openings_are_cut_and_duplicates_dropped_if_the_plan_asks_for_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.usi");
        fs::write(&path, "7g7f 3c3d 2g2f 8c8d\n2g2f 3c3d 7g7f 4c4d\n7g7f 8c8d\n").unwrap();
        let mut plan = plan(&[&path]);
        plan.plies = Some(3);
        let cut = load(&plan).unwrap();
        assert_eq!(cut.iter().map(usi).collect::<Vec<_>>(), ["7g7f 3c3d 2g2f", "7g7f 8c8d"]);
        plan.dedupe = false;
        assert_eq!(load(&plan).unwrap().len(), 3);
    }

    #[test]
    fn every_bad_line_is_reported_with_number_and_reason() {
        let faults = loaded("a.usi", "7g7f\n7g7e\n\n2g2f 3c3d 2f2d\nhello\n").unwrap_err();
        assert_eq!(
            faults,
            "a.usi:2: illegal move 7g7e at ply 1 (illegal-move:unreachable)\n\
             a.usi:4: illegal move 2f2d at ply 3 (illegal-move:unreachable)\n\
             a.usi:5: `hello` is not a move"
        );
        assert_eq!(
            loaded("b.csa", "PI\n+\n+7776FU\n-7776FU\n").unwrap_err(),
            "b.csa:4: no such move here: `-7776FU` (illegal-move:no-piece)"
        );
        assert_eq!(loaded("c.usi", "# nothing\n").unwrap_err(), "c.usi: holds no opening");
        let many = loaded("d.usi", &("7g7f\n".to_owned() + &"7g7e\n".repeat(30))).unwrap_err();
        assert!(many.ends_with("\nand 10 more such lines"), "{many}");
        let missing = load(&plan(&[Path::new("/nowhere/x.usi")])).unwrap_err().to_string();
        assert!(missing.starts_with("/nowhere/x.usi: cannot be read: "), "{missing}");
    }

    #[test]
    fn an_opening_that_ends_the_game_is_refused() {
        let mate = "sfen 4k4/9/4P4/9/9/9/9/9/4K4 b G 1 moves G*5b\n";
        assert_eq!(loaded("a.usi", mate).unwrap_err(), "a.usi:1: ends in mate at ply 1; cut it with `plies`");
    }

    #[test]
    fn the_built_in_openings_are_20_000_legal_lines_of_9_to_12_plies_to_different_positions() {
        let lines = load(&plan(&[Path::new(built_in::NAME)])).unwrap();
        assert_eq!(lines.len(), 20_000);
        assert!(lines.iter().all(|line| (9..=12).contains(&line.moves.len())));
        let goals: HashSet<_> = lines.iter().map(|line| line.goal().unwrap()).collect();
        assert_eq!(goals.len(), lines.len());
        let first: HashSet<_> = lines[..100].iter().map(|line| line.moves[..4].to_vec()).collect();
        assert!(first.len() > 50, "the first hundred are of many families: {}", first.len());
        assert!(built_in::PACKED.len() < 300_000, "{}", built_in::PACKED.len());
    }

    #[test]
    fn built_in_openings_that_are_cut_lead_to_different_positions_too() {
        let mut plan = plan(&[Path::new(built_in::NAME)]);
        plan.plies = Some(3);
        let lines = load(&plan).unwrap();
        let goals: HashSet<_> = lines.iter().map(|line| line.goal().unwrap()).collect();
        assert!(lines.len() > 100 && goals.len() == lines.len(), "{} of {}", goals.len(), lines.len());
    }

    #[test]
    fn positions_of_the_repository_are_read_as_openings_without_a_fault() {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../kifu");
        let listed = |name: &str| {
            let text = std::fs::read_to_string(dir.join(name)).unwrap();
            text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).count()
        };
        for name in ["middlegames.sfen", "openings.sfen"] {
            let mut plan = plan(&[&dir.join(name)]);
            plan.dedupe = false;
            let read = load(&plan).unwrap_or_else(|faults| panic!("{faults}")).len();
            assert!(read == listed(name) && read > 0, "{name}: {read}");
        }
    }

    mod oracles {
        use super::*;

        #[test]
        #[ignore = "needs the oracles in ../shared/data/openings: opening sets of other projects"]
        fn the_opening_sets_of_other_projects_are_read_without_a_fault() {
            for (name, lines) in [
                ("floodgate_gokaku_030ply_1619.sfen", 1619),
                ("floodgate_gokaku_100ply_140.sfen", 140),
                ("records2016_10818.sfen", 10831),
                ("taya36_2020-11-06.sfen", 1957),
            ] {
                let mut plan = plan(&[&testing::oracle("data/openings").join(name)]);
                plan.dedupe = false;
                let read = load(&plan).unwrap_or_else(|faults| panic!("{faults}")).len();
                assert_eq!(read, lines, "{name}");
            }
        }
    }
}
