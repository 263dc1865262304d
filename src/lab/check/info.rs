//! Quality of an engine's `info` lines: legal moves and plausible numbers.

use super::{
    positions::Spot,
    report::{Row, cut, show},
};
use notation::usi::Info;

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
            let line = format!("{}   ({fault})", cut(&format!("< {line}")));
            show(&mut self.shown, SHOWN, &spot.line, line);
        }
    }

    /// The row of the report.
    pub fn row(&self) -> Row {
        let Self { lines, scored, with_pv, bad, .. } = self;
        let seen = format!("{lines} lines, {scored} with a score, {with_pv} with moves");
        if *bad > 0 {
            let advice = "no game is lost, but records and adjudication by score depend on these lines";
            return Row::warn("info", format!("{seen}; {bad} faulty"))
                .showing(self.shown.clone())
                .advising(advice);
        }
        match scored {
            0 => Row::note("info", format!("{seen}: adjudication by score needs scores")),
            _ => Row::pass("info", format!("{seen}, all legal")),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

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
}
