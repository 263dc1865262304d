//! Moves in many positions: legality, mate, declaration, long games.

use super::{
    exam::{Answer, Exam, Failure},
    positions::{Judged, Kind, Spot},
    report::{LOSES, Row, Verdict, cut, show},
};
use referee::number::number;
use seat::usi::{AHEAD, is_behind, thought};
use std::time::{Duration, Instant};

/// Time for all positions together; the rest is left out.
const ALL: Duration = Duration::from_secs(15);
/// Number of losing answers shown.
const SHOWN: usize = 3;
/// Number of questions asked one right after the other.
const RAPID: usize = 100;
/// Number of failures after which no more questions are asked.
const FAILURES: usize = 3;

/// Results over the positions.
#[derive(Clone, Debug, Default)]
struct Tally {
    asked: usize,
    legal: usize,
    resigned: usize,
    lost: usize,
    failed: usize,
    lines: Vec<String>,
    ended: Ended,
    mates: [usize; 2],
    declared: [usize; 2],
}

/// Results over positions without a legal move.
#[derive(Clone, Debug, Default)]
struct Ended {
    asked: usize,
    resigned: usize,
    lines: Vec<String>,
}

/// Asks for a move in every position.
pub async fn positions(exam: &mut Exam) {
    let mut spots = exam.settings.spots.clone();
    let total = spots.len();
    // Special positions first, in case time runs out.
    spots.sort_by_key(|spot| spot.kind() == Kind::Ordinary && spot.position.checkers().is_empty());
    let (go, limit) = quick_go(exam);
    let until = Instant::now() + ALL;
    let mut tally = Tally::default();
    for spot in &spots {
        if Instant::now() > until || tally.failed >= FAILURES {
            break;
        }
        let answer = exam.ask_again(&spot.line, &go, limit, |_| true).await;
        if let Ok(answer) = &answer {
            exam.infos.judge(spot, &answer.infos);
        }
        tally.count(spot, answer);
    }
    for row in tally.rows(total) {
        exam.add(row);
    }
}

/// A short search: nodes if the engine accepts them, else a short byoyomi.
fn quick_go(exam: &Exam) -> (String, Duration) {
    if exam.facts.go.nodes {
        return ("go nodes 500".to_owned(), Duration::from_secs(2));
    }
    (exam.byoyomi(50), Duration::from_millis(50))
}

impl Tally {
    fn count(&mut self, spot: &Spot, answer: Result<Answer, Failure>) {
        let kind = spot.kind();
        if matches!(kind, Kind::Mated | Kind::Stalemated) {
            return self.ended.count(spot, answer);
        }
        self.asked += 1;
        self.mates[1] += usize::from(kind == Kind::MateInOne);
        self.declared[1] += usize::from(kind == Kind::Declarable);
        let answer = match answer {
            Ok(answer) => answer,
            Err(failure) => {
                self.failed += 1;
                self.show(spot, &failure.what);
                return;
            }
        };
        match spot.judge(&answer.mv) {
            Judged::Legal(_) => {
                self.legal += 1;
                let mates = kind == Kind::MateInOne
                    && spot.after(&answer.mv).is_ok_and(|after| after.position.is_mated());
                self.mates[0] += usize::from(mates);
            }
            Judged::Resigned => self.resigned += 1,
            Judged::Declared => self.declared[0] += 1,
            Judged::Lost(why) => {
                self.lost += 1;
                self.show(spot, &format!("bestmove {}   ({why})", answer.mv));
            }
        }
    }

    fn show(&mut self, spot: &Spot, what: &str) {
        show(&mut self.lines, SHOWN, &spot.line, format!("< {what}"));
    }

    fn rows(self, total: usize) -> Vec<Row> {
        let mut rows = vec![self.legal_row(total)];
        if self.resigned > 0 {
            let seen = format!("resigns in {} with legal moves", number(self.resigned, "position"));
            rows.push(Row::note("resigning", seen));
        }
        if self.mates[1] > 0 {
            let seen = format!("found in {} of {} positions", self.mates[0], self.mates[1]);
            rows.push(Row::note("mate in one", seen));
        }
        if self.declared[1] > 0 {
            let [declared, all] = self.declared;
            rows.push(Row::note(
                "entering king",
                format!("declares in {declared} of {all} positions that allow it"),
            ));
        }
        if self.ended.asked > 0 {
            rows.push(self.ended.row());
        }
        rows
    }

    fn legal_row(&self, total: usize) -> Row {
        let answered = self.asked - self.failed;
        if self.lost + self.failed > 0 {
            let seen = format!(
                "{} of {} lose, {} without an answer",
                self.lost,
                number(answered, "answer"),
                number(self.failed, "question")
            );
            return Row::fault("legal moves", seen).showing(self.lines.clone()).advising(LOSES);
        }
        let asked = self.asked + self.ended.asked;
        let of_all =
            if asked < total { format!(" ({} in all)", number(total, "position")) } else { String::new() };
        Row::pass("legal moves", format!("{}, all legal{of_all}", number(answered, "answer")))
    }
}

impl Ended {
    fn count(&mut self, spot: &Spot, answer: Result<Answer, Failure>) {
        self.asked += 1;
        let what = match answer {
            Ok(answer) if answer.mv == "resign" => {
                self.resigned += 1;
                return;
            }
            Ok(answer) => format!("bestmove {}", answer.mv),
            Err(failure) => failure.what,
        };
        show(&mut self.lines, SHOWN, &spot.line, format!("< {what}"));
    }

    fn row(&self) -> Row {
        let seen = format!("resigns in {} of {} positions without a legal move", self.resigned, self.asked);
        match self.resigned == self.asked {
            true => Row::pass("mated", seen),
            false => Row::warn("mated", seen)
                .showing(self.lines.clone())
                .advising("keep `rules.mate_ends_game = true`, which ends the game before the engine must answer; other servers may still ask"),
        }
    }
}

/// The evaluation of a position that White, to move, wins: negative if it is from black's side.
pub async fn side_of_scores(exam: &mut Exam) {
    let (go, limit) = quick_go(exam);
    let Ok(answer) = exam.ask_again(AHEAD, &go, limit, |_| true).await else { return };
    let scored = answer.infos.iter().rev().find_map(|line| Some((line, thought(line.as_bytes()).score?)));
    if let Some((line, _)) = scored.filter(|(_, score)| is_behind(*score).is_some()) {
        exam.facts.black_scores = true;
        let seen = "negative in a position that White, to move, wins easily";
        let lines = vec![format!("> position {AHEAD}"), cut(&format!("< {line}"))];
        exam.add(Row::warn("info scores", seen).showing(lines).advising(
            "its scores seem to be from black's side: `scores = \"black\"`, or adjudication by score takes it for lost where it wins",
        ));
    }
}

/// Games with a long `position` line, just before sennichite, or beyond it.
pub async fn long_games(exam: &mut Exam) {
    let shuffle = ["5i5h", "5a5b", "5h5i", "5b5a"];
    let shuffled = |plies| line(&shuffle, &[], plies);
    let cases = [
        ("one ply before sennichite", shuffled(11)),
        ("after sennichite", shuffled(12)),
        ("a game of 250 plies", line(&BLACK_ROOK, &WHITE_ROOK, 250)),
        ("a game of 1,000 plies", shuffled(1000)),
    ];
    let go = exam.byoyomi(100);
    let mut answered = Vec::new();
    for (name, line) in cases {
        match answered_well(exam, &line, &go).await {
            Ok(()) => answered.push(name),
            Err(row) => exam.add(row.named(format!("long games: {name}"))),
        }
    }
    if !answered.is_empty() {
        exam.add(Row::pass("long games", format!("legal answers: {}", answered.join(", "))));
    }
}

/// Questions without a pause, as against an opponent that answers at once.
pub async fn rapid(exam: &mut Exam) {
    let (go, limit) = quick_go(exam);
    let since = Instant::now();
    let mut asked = 0;
    while asked < RAPID && since.elapsed() < Duration::from_secs(3) {
        if let Err(failure) = exam.ask("startpos", &go, limit).await {
            let (seen, ended) = (format!("question {}: {}", asked + 1, failure.what), failure.ended);
            let row = Row { seen, ..failure.row(Verdict::Warn, "rapid questions") };
            let advice =
                "the engine misses a `go` sent right after its `bestmove`; only instant opponents cause this";
            return exam.add(if ended { row } else { row.advising(advice) });
        }
        asked += 1;
    }
    exam.add(Row::pass("rapid questions", format!("{asked} answered in a row")));
}

/// Reports questions that were answered only at the second attempt.
pub fn missed(exam: &mut Exam) {
    lapses(&exam.lapses).into_iter().for_each(|row| exam.add(row));
}

/// One missing answer may be the machine's fault; an ended process or repeated silence is not.
fn lapses(lapses: &[Failure]) -> Option<Row> {
    let shown = lapses.iter().find(|lapse| lapse.ended).or(lapses.first())?;
    let verdict = if shown.ended || lapses.len() > FAILURES { Verdict::Fault } else { Verdict::Warn };
    let asked = number(lapses.len(), "question");
    let seen = format!("{asked} answered only at the second attempt: {}", shown.what);
    let row = Row::new(verdict, "lapses", seen).showing(shown.lines.clone());
    Some(row.advising("every miss loses a game; the engine is restarted for the next one"))
}

/// The black rook's cycle has seven moves and the white one's six, so no position occurs four times within 252 plies.
const BLACK_ROOK: [&str; 7] = ["2h1h", "1h3h", "3h4h", "4h5h", "5h6h", "6h7h", "7h2h"];
const WHITE_ROOK: [&str; 6] = ["8b9b", "9b7b", "7b6b", "6b5b", "5b4b", "4b8b"];

/// Black and White each repeat their moves; if White has none, both share one cycle.
fn line(black: &[&str], white: &[&str], plies: usize) -> String {
    let mv = |ply: usize| match (white, ply % 2) {
        ([], _) => black[ply % black.len()],
        (_, 0) => black[ply / 2 % black.len()],
        _ => white[ply / 2 % white.len()],
    };
    format!("startpos moves {}", (0..plies).map(mv).collect::<Vec<_>>().join(" "))
}

async fn answered_well(exam: &mut Exam, line: &str, go: &str) -> Result<(), Row> {
    let fault = |what: String| Row::fault("", what);
    let spot = Spot::read(line).map_err(|why| fault(why.to_string()))?;
    let answer = exam.ask_again(line, go, Duration::from_millis(100), |_| true).await;
    match spot.judge(&answer.map_err(|failure| failure.row(Verdict::Fault, ""))?.mv) {
        Judged::Lost(why) => Err(fault(why).showing(exam.last_lines()).advising(LOSES)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(line: &str, mv: &str) -> Tally {
        let mut tally = Tally::default();
        let answer =
            Answer { mv: mv.to_owned(), took: Duration::ZERO, waited: Duration::ZERO, infos: vec![] };
        tally.count(&Spot::read(line).unwrap(), Ok(answer));
        tally
    }

    #[test]
    fn an_illegal_answer_is_a_fault_shown_with_its_position() {
        let row = answered("startpos", "2h2c").legal_row(1);
        assert_eq!(row.verdict, Verdict::Fault);
        assert_eq!(row.lines[0], "> position startpos");
        assert!(row.lines[1].contains("illegal-move:unreachable"), "{row:?}");
    }

    #[test]
    fn repeated_exits_are_a_fault_and_a_single_silence_is_a_warning() {
        let lapse = |ended| Failure { what: "silent".to_owned(), ended, stops: false, lines: vec![] };
        let verdict = |all: &[Failure]| lapses(all).map(|row| row.verdict);
        assert_eq!(verdict(&[]), None);
        assert_eq!(verdict(&[lapse(false)]), Some(Verdict::Warn));
        assert_eq!(verdict(&[lapse(false), lapse(true)]), Some(Verdict::Fault));
        assert_eq!(verdict(&[lapse(false), lapse(false), lapse(false), lapse(false)]), Some(Verdict::Fault));
    }

    #[test]
    fn resigning_with_legal_moves_is_a_note() {
        let tally = answered("startpos", "resign");
        assert_eq!(tally.legal_row(1).verdict, Verdict::Pass);
        assert_eq!((tally.resigned, tally.lost), (1, 0));
    }

    #[test]
    fn a_mated_side_should_resign() {
        let mated = "4k4/4G4/4P4/9/9/9/9/9/4K4 w - 1";
        assert_eq!(answered(mated, "resign").ended.row().verdict, Verdict::Pass);
        assert_eq!(answered(mated, "(none)").ended.row().verdict, Verdict::Warn);
    }

    #[test]
    fn long_games_are_legal_and_without_unintended_sennichite() {
        use referee::history::History;
        let spot = Spot::read("startpos").unwrap();
        let mut history = History::new(&spot.position, true);
        let rooks = line(&BLACK_ROOK, &WHITE_ROOK, 250);
        let moves = rooks.split_once("moves ").unwrap().1;
        let mut at = spot;
        for mv in moves.split(' ') {
            at = at.after(mv).unwrap();
            assert_eq!(history.push(&at.position), None);
        }
        assert!(Spot::read(&line(&["5i5h", "5a5b", "5h5i", "5b5a"], &[], 1000)).is_ok());
    }
}
