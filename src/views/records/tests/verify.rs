use super::*;

/// Findings about a record with these CSA moves from the even position, and this ending.
fn findings(text: &str) -> Vec<String> {
    let workspace = Workspace::new();
    let file = workspace.put("a.csa", text);
    let report = workspace.import(&[&file], |args| (args.db, args.verify) = (None, true)).unwrap();
    assert_eq!(report.faults, []);
    assert_eq!(report.exit_code(), if report.findings.is_empty() { 0 } else { 20 });
    report.findings.into_iter().map(|finding| format!("{}: {}", finding.ply, finding.text)).collect()
}

const SHUFFLE: &str = "+5958OU\n-5152OU\n+5859OU\n-5251OU\n";

fn shuffled(times: usize, rest: &str) -> String {
    format!("PI\n+\n{}{rest}", SHUFFLE.repeat(times))
}

#[test]
fn correctly_ruled_repetition_is_no_finding() {
    assert_eq!(findings(&shuffled(3, "%SENNICHITE\n")), [""; 0]);
    assert_eq!(findings(&shuffled(2, "%TORYO\n")), [""; 0]);
}

#[test]
fn unnoticed_repetition_is_found() {
    assert_eq!(
        findings(&shuffled(4, "%TORYO\n")),
        ["12: draw by sennichite was not noticed; 4 more moves follow"]
    );
    assert_eq!(
        findings(&shuffled(3, "%TORYO\n")),
        ["12: draw by sennichite; the record has: white wins by resignation"]
    );
    assert_eq!(findings(&shuffled(3, "")), [""; 0], "a record without an ending claims nothing wrong");
    assert_eq!(
        findings(&shuffled(2, "%SENNICHITE\n")),
        ["8: called sennichite, but no position occurred four times"]
    );
}

#[test]
fn perpetual_check_recorded_as_sennichite_is_found() {
    let setup = "+7776FU\n-8272HI\n+8833UM\n-5152OU\n+8786FU\n-7282HI\n+5948OU\n-8272HI\n"
        .replace("7282HI\n+5948OU\n-8272HI", "7182GI\n+5948OU\n-7271HI");
    let check = "+3343UM\n-5251OU\n+4333UM\n-5152OU\n".repeat(3);
    let moves = format!("PI\n+\n{setup}{check}+3343UM\n");
    let game = |end: &str| findings(&format!("{moves}{end}\n"));
    assert_eq!(
        game("%SENNICHITE"),
        ["21: white wins by perpetual-check; the record has: draw by sennichite"]
    );
    assert_eq!(game("%+ILLEGAL_ACTION"), [""; 0]);
    assert_eq!(game("'summary:oute_sennichite:a lose:b win"), [""; 0]);
}

#[test]
fn unnoticed_mate_and_false_mate_are_found() {
    let mate = "P-51OU\nP+53FU59OU\nP+00KI\n+\n+0052KI\n";
    assert_eq!(findings(&format!("{mate}%TSUMI\n")), [""; 0]);
    assert_eq!(findings(&format!("{mate}%TORYO\n")), [""; 0], "a mated side may resign");
    assert_eq!(
        findings(&format!("{mate}%HIKIWAKE\n")),
        ["1: white is mated; the record has: draw by draw-adjudication"]
    );
    assert_eq!(findings("PI\n+\n+7776FU\n%TSUMI\n"), ["1: called mate, but white has a legal move"]);
}

#[test]
fn an_invalid_declaration_and_a_false_foul_are_found() {
    let found = findings("PI\n+\n+7776FU\n-3334FU\n%KACHI\n");
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("2: black declares without the right to: "), "{found:?}");
    assert_eq!(
        findings("PI\n+\n+7776FU\n%+ILLEGAL_ACTION\n"),
        ["1: called a foul of black, but its last move is legal"]
    );
}

#[test]
fn the_move_limit_and_the_clock_are_judged_where_the_record_has_them() {
    let game =
        |limit: u32, end: &str| findings(&format!("'Max_Moves:{limit}\nPI\n+\n+7776FU\n-3334FU\n{end}\n"));
    assert_eq!(game(2, "%MAX_MOVES"), [""; 0]);
    assert_eq!(game(1, "%TORYO"), ["1: the limit of 1 moves was not noticed; 1 follow"]);
    assert_eq!(game(9, "%MAX_MOVES"), ["2: called a draw by the limit of 9 moves after 2"]);
    let clock = |rest: &str| findings(&format!("V2.2\n$TIME_LIMIT:00:01+00\nPI\n+\n+7776FU\n{rest}\n"));
    assert_eq!(clock("T60\n-3334FU\nT1\n%TORYO"), [""; 0]);
    assert_eq!(clock("T61\n-3334FU\nT1\n%TORYO"), ["1: black used 61 s of 60 s and went on"]);
    assert_eq!(clock("T1\n%TIME_UP\nT30"), ["1: white lost on time after 30 s of 60 s"]);
    assert_eq!(clock("T1\n%TIME_UP\nT60"), [""; 0]);
}

#[test]
fn fouls_are_named() {
    let workspace = Workspace::new();
    let named = |text: &str| {
        let report = workspace.import(&[&workspace.put("a.csa", text)], |args| args.db = None).unwrap();
        let reason = &report.faults[0].reason;
        reason.rsplit_once('(').map_or(reason.clone(), |(_, name)| name.trim_end_matches(')').to_owned())
    };
    let start = "P-51OU\nP+59OU55FU\nP+00FU00KY\n";
    assert_eq!(named(&format!("{start}+\n+0054FU\n%TORYO\n")), "illegal-move:nifu");
    assert_eq!(named(&format!("{start}+\n+0041KY\n%TORYO\n")), "illegal-move:dead-piece");
    assert_eq!(named("PI\n+\n+7776FU\n+2726FU\n%TORYO\n"), "illegal-move:opponents-piece");
    assert_eq!(named("PI\n+\n+8822UM\n%TORYO\n"), "illegal-move:unreachable");
}

#[test]
fn an_illegal_move_is_a_disagreement_and_other_faults_are_not() {
    let workspace = Workspace::new();
    let code = |text: &str, verify: bool| {
        let file = workspace.put("a.csa", text);
        let report = workspace.import(&[&file], |args| (args.db, args.verify) = (None, verify)).unwrap();
        (report.exit_code(), report.to_string().contains("1 disagreement with the referee"))
    };
    for illegal in ["PI\n+\n+8822UM\n%TORYO\n", "PI\n+\n+7776FU\n+2726FU\n%TORYO\n"] {
        assert_eq!((code(illegal, true), code(illegal, false)), ((20, true), (1, false)), "{illegal}");
    }
    assert_eq!(code("PI\n+\nWHAT\n", true), (1, false));
}

#[test]
fn a_refused_declaration_is_found_where_it_was_right() {
    let entered = "P1+TO+TO+TO+TO+TO+TO+TO+TO+TO\nP2+OU+KI+KI *  *  *  *  *  * \n\
                   P9 *  *  *  *  *  *  *  * -OU\nP+00HI00HI00KA00KA00KI00KI00GI00GI\n+\n";
    let end = |summary: &str| format!("{entered}%KACHI\n'summary:{summary}\n");
    assert_eq!(findings(&end("kachi:a win:b lose")), [""; 0]);
    assert_eq!(
        findings(&end("illegal kachi:a lose:b win")),
        ["0: the declaration of black was refused, but it has the right to"]
    );
    assert_eq!(findings("PI\n+\n+7776FU\n-3334FU\n%KACHI\n'summary:illegal kachi:a lose:b win\n"), [""; 0]);
}
