//! Games of which each has clocks of its own: those of machines that are not equally fast.

use super::*;
use referee::clock::TimeControl;

/// A game that was played with these clocks, black first.
fn timed(index: u64, outcome: Outcome, times: [TimeControl; 2]) -> Vec<Stamped> {
    let mut game = game(index, outcome);
    let Entry::GameStarted(started) = &mut game[0].entry else { unreachable!() };
    started.times = Some(Box::new(times));
    game
}

fn byoyomi(ms: u64) -> TimeControl {
    TimeControl { byoyomi: Duration::from_millis(ms), ..TimeControl::default() }
}

fn text(workspace: &Workspace, game: &str, format: Format) -> String {
    let output = workspace.path("record");
    workspace
        .export(|args| (args.game, args.format, args.output) = (vec![game.into()], format, output.clone()))
        .unwrap();
    String::from_utf8(fs::read(output).unwrap()).unwrap()
}

#[test]
fn a_record_names_the_clocks_that_its_game_was_played_with_and_not_those_of_the_plan() {
    let workspace = Workspace::new();
    let games = [
        timed(0, RESIGNED, [byoyomi(25_000); 2]),
        game(1, RESIGNED),
        timed(2, RESIGNED, [byoyomi(12_500); 2]),
        timed(3, RESIGNED, [byoyomi(12_000), byoyomi(24_000)]),
    ];
    workspace.played_as(["Asa", "Bei"], games.into_iter());
    let csa = text(&workspace, "1", Format::Csa);
    assert!(csa.contains("\n$TIME_LIMIT:00:00+25\n"), "{csa}");
    let csa3 = text(&workspace, "1", Format::Csa3);
    assert!(csa3.contains("\n$TIME:0+25+0\n"), "{csa3}");
    let kif = text(&workspace, "1", Format::Kifu);
    assert!(kif.contains("持ち時間：0分+25秒\n"), "{kif}");
    assert!(text(&workspace, "2", Format::Csa).contains("\n$TIME_LIMIT:00:00+10\n"), "those of the plan");
    let kif = text(&workspace, "3", Format::Kifu);
    assert!(kif.contains("持ち時間：0分+12.5秒\n"), "{kif}");
    let csa = text(&workspace, "3", Format::Csa);
    assert!(csa.contains("\n'clocks: 0+12.5+0\nPI\n"), "{csa}");
    let kif = text(&workspace, "4", Format::Kifu);
    assert!(kif.contains("先手持ち時間：0分+12秒\n後手持ち時間：0分+24秒\n"), "{kif}");
}

#[test]
fn a_record_of_longer_clocks_is_verified_by_these_and_one_that_lies_about_its_loss_is_found() {
    let outcome = Outcome::Win { winner: Color::White, by: WinBy::Time };
    let findings = |seconds: u64| {
        let workspace = Workspace::new();
        let mut game = timed(0, outcome, [byoyomi(seconds * 1000); 2]);
        // White thinks for 20 s, which the clocks of the plan would not have allowed.
        for stamped in &mut game {
            if let Entry::Moved(moved) = &mut stamped.entry
                && moved.ply == 4
            {
                moved.charged = Duration::from_secs(20);
            }
        }
        workspace.played_as(["Asa", "Bei"], std::iter::once(game));
        [Format::Csa, Format::Kifu].map(|format| {
            let record = workspace.put("a.record", text(&workspace, "1", format));
            let named = workspace.path(if format == Format::Csa { "a.csa" } else { "a.kifu" });
            fs::rename(record, &named).unwrap();
            let report = workspace.import(&[&named], |args| (args.db, args.verify) = (None, true)).unwrap();
            assert_eq!(report.faults, []);
            let found =
                report.findings.into_iter().map(|finding| format!("{}: {}", finding.ply, finding.text));
            found.collect::<Vec<_>>()
        })
    };
    assert_eq!(findings(25), [Vec::<String>::new(), vec![]]);
    let short = findings(15);
    assert!(short.iter().all(|found| found.iter().any(|text| text.starts_with("4: "))), "{short:?}");
}
