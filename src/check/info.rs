//! Quality of an engine's `info` lines: legal moves and plausible numbers.

use super::{
    exam::{Exam, cut},
    positions::Spot,
    report::{Row, Verdict},
};
use notation::usi::{EngineLine, Info, OptionKind};
use std::{collections::BTreeSet, time::Duration};

/// Number of `info` lines judged per answer, the last ones.
const JUDGED: usize = 40;
/// Number of bad lines shown.
const SHOWN: usize = 4;
/// A greater depth is certainly wrong.
const DEPTH_MAX: u32 = 1000;

/// Statistics of an engine's `info` lines.
#[derive(Clone, Debug, Default)]
pub struct InfoTally {
    lines: usize,
    scored: usize,
    with_pv: usize,
    bad: usize,
    shown: Vec<String>,
}

impl InfoTally {
    /// Judges the lines of one answer.
    pub fn judge(&mut self, spot: &Spot, lines: &[String]) {
        for line in &lines[lines.len().saturating_sub(JUDGED)..] {
            let info = Info::of(line);
            self.lines += 1;
            self.scored += usize::from(info.score.is_some());
            self.with_pv += usize::from(!info.pv.is_empty());
            let Some(fault) = fault(spot, line, &info) else { continue };
            self.bad += 1;
            if self.shown.len() < 2 * SHOWN {
                self.shown.push(cut(&format!("> position {}", spot.line)));
                self.shown.push(format!("{}   ({fault})", cut(&format!("< {line}"))));
            }
        }
    }

    /// The row of the report.
    #[must_use]
    pub fn row(&self) -> Row {
        let Self { lines, scored, with_pv, bad, .. } = self;
        let seen = format!("{lines} lines, {scored} with a score, {with_pv} with moves");
        if *bad > 0 {
            let seen = format!("{seen}; {bad} are wrong");
            let advice = "no game is lost by them, but records and adjudication by score rely on them";
            return Row::new(Verdict::Warn, "info", seen).showing(self.shown.clone()).advising(advice);
        }
        match scored {
            0 => Row::new(Verdict::Note, "info", format!("{seen}: adjudication by score needs scores")),
            _ => Row::new(Verdict::Pass, "info", format!("{seen}, all of them legal")),
        }
    }
}

/// The fault of a line about a position.
fn fault(spot: &Spot, line: &str, info: &Info) -> Option<String> {
    if line.contains(" score ") && !line.contains(" string ") && info.score.is_none() {
        return Some("a score that is neither `cp N` nor `mate N`".to_owned());
    }
    if info.depth.is_some_and(|depth| depth > DEPTH_MAX) {
        return Some("an impossible depth".to_owned());
    }
    let mut at = spot.clone();
    for word in info.pv.split_ascii_whitespace() {
        match at.after(word) {
            Ok(next) => at = next,
            // Engines end a variation with `resign`, `win` or a remark; only a word that looks like a move must be
            // legal.
            Err(_) if looks_like_a_move(word) => return Some(format!("`{word}` is illegal there")),
            Err(_) => break,
        }
    }
    None
}

fn looks_like_a_move(word: &str) -> bool {
    rsshogi::types::Move::from_usi(word).is_some_and(|mv| mv.is_normal())
}

/// Checks whether `MultiPV` gives as many variations as set, if the engine has it.
pub async fn multipv(exam: &mut Exam) {
    let option = exam.facts.options.iter().find(|option| option.name.eq_ignore_ascii_case("MultiPV"));
    let Some((name, default)) = option.and_then(|option| match option.kind {
        OptionKind::Spin { default, max: Some(3..), .. } => Some((option.name.clone(), default)),
        _ => None,
    }) else {
        return;
    };
    let Ok(talk) = exam.engine().await else { return };
    talk.send(&[&format!("setoption name {name} value 3")]);
    let answer = exam.ask("startpos", "go btime 0 wtime 0 byoyomi 300", Duration::from_millis(300)).await;
    let row = match answer {
        Err(failure) => failure.row(Verdict::Warn, "MultiPV"),
        Ok(answer) => match ranks(&answer.infos) {
            ranks if ranks == [1, 2, 3] => Row::new(Verdict::Pass, "MultiPV", "3 lines for `MultiPV` 3"),
            ranks => Row::new(Verdict::Note, "MultiPV", format!("set to 3 it gives the lines {ranks:?}")),
        },
    };
    exam.add(row);
    if let Ok(talk) = exam.engine().await {
        talk.send(&[&format!("setoption name {name} value {default}")]);
    }
}

fn ranks(infos: &[String]) -> Vec<u32> {
    let ranks = infos.iter().filter_map(|line| match EngineLine::parse(line.as_bytes()) {
        EngineLine::Info(info) => info.multipv,
        _ => None,
    });
    ranks.collect::<BTreeSet<_>>().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(lines: &[&str]) -> Row {
        let mut tally = InfoTally::default();
        let lines: Vec<_> = lines.iter().map(|&line| line.to_owned()).collect();
        tally.judge(&Spot::read("startpos").unwrap(), &lines);
        tally.row()
    }

    #[test]
    fn a_variation_must_be_legal_but_may_end_in_a_remark() {
        let row = judged(&["info depth 2 score cp 3 pv 7g7f 3c3d resign", "info string depth 9 score none"]);
        assert_eq!(row.verdict, Verdict::Pass, "{row:?}");
        let row = judged(&["info depth 2 score cp 3 pv 7g7f 7g7f"]);
        assert_eq!(row.verdict, Verdict::Warn);
        assert!(row.lines[1].contains("`7g7f` is illegal there"), "{row:?}");
    }

    #[test]
    fn scores_and_depths_must_be_plausible() {
        assert_eq!(judged(&["info depth 3 score 57 pv 7g7f"]).verdict, Verdict::Warn);
        assert_eq!(judged(&["info depth 99999 score cp 1"]).verdict, Verdict::Warn);
        assert_eq!(judged(&["info depth 3 nodes 100"]).verdict, Verdict::Note);
    }

    #[test]
    fn multipv_ranks_are_counted_once() {
        let infos =
            ["info multipv 2 pv 7g7f", "info multipv 1 pv 2g2f", "info multipv 2 pv 5g5f", "info depth 1"];
        assert_eq!(ranks(&infos.map(str::to_owned)), [1, 2]);
    }
}
