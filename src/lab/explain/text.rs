//! Explanations as text for a terminal.

use super::{Cause, Explanation, Judged, Move, Summary, Trial};
use referee::{Color, evaluation::Evaluation, number::number};
use std::fmt;

/// Difference of an expected score to that of an evaluation beside it from which on the difference is explained.
const UNLIKE: f64 = 0.05;

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [black, white] = &self.players;
        let Self { game, loser, ending, moves, .. } = self;
        writeln!(
            f,
            "game {game}: {} {black} - {} {white}; {} lost by {ending} after {}",
            Color::Black.sign(),
            Color::White.sign(),
            loser.sign(),
            number(*moves, "move")
        )?;
        let [before, after] = self.shares.map(|share| 100.0 * share);
        writeln!(
            f,
            "  {} at ply {} ({}): expected score {before:.0} % -> {after:.0} %",
            self.cause, self.ply, self.phase
        )?;
        self.opinion(f)?;
        if let Some(trial) = &self.trial {
            writeln!(f, "  {}", again(trial))?;
        }
        if !self.remark.is_empty() {
            writeln!(f, "  {}", self.remark)?;
        }
        writeln!(f, "  sfen {}", self.sfen)
    }
}

impl Explanation {
    /// The move and what the judge prefers.
    fn opinion(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(mv) = &self.mv else { return Ok(()) };
        let [before, after] = mv.evaluations.map(evaluation);
        let better = match &mv.better {
            Some(better) => format!("the judge plays {better}"),
            None => "the judge plays the same".to_owned(),
        };
        writeln!(
            f,
            "  played {}, {better}; eval for {} {before} -> {after}",
            mv.played,
            Color::Black.sign()
        )?;
        let lasting = self.lasting(mv);
        if lasting.is_empty() { Ok(()) } else { writeln!(f, "  {}", lasting.join("; ")) }
    }

    /// Where the expected scores are not those of the two evaluations: what the judge's move held, and what lasted later.
    fn lasting(&self, mv: &Move) -> Vec<String> {
        let [held, lasted] = [0, 1].map(|at| {
            let black = Evaluation::Cp(mv.evaluations[at]?).black_share();
            let seen = if self.loser == Color::Black { black } else { 1.0 - black };
            let share = self.shares[at];
            ((seen - share).abs() > UNLIKE).then_some([100.0 * seen, 100.0 * share])
        });
        let held = held.map(|[seen, share]| format!("of {seen:.0} % the judge's move holds {share:.0} %"));
        let lasted = lasted.map(|[_, share]| format!("from there on no more than {share:.0} % lasted"));
        held.into_iter().chain(lasted).collect()
    }

    /// What a record says of the move that lost.
    pub fn comment(&self) -> String {
        let [before, after] = self.shares.map(|share| 100.0 * share);
        let mut text = format!("lost here: {}, expected score {before:.0} % -> {after:.0} %", self.cause);
        if let Some(trial) = &self.trial {
            text += &format!("\n{}", again(trial));
        }
        if !self.remark.is_empty() {
            text += &format!("\n{}", self.remark);
        }
        text
    }
}

impl Judged {
    /// What a record says of a position: the judge's evaluation, and the line of play that it expects.
    pub fn comment(&self, judge: &str) -> String {
        let depth = self.found.depth.map_or(String::new(), |depth| format!(", depth {depth}"));
        let line = if self.found.pv.is_empty() { &self.found.mv } else { &self.found.pv };
        format!("{judge}: {} ({} nodes{depth}) {line}", evaluation(self.centipawns), self.limit)
    }
}

fn evaluation(centipawns: Option<i32>) -> String {
    match centipawns {
        Some(cp) if cp.abs() > 99_000 => {
            let winner = if cp > 0 { Color::Black } else { Color::White };
            format!("{} mate", winner.sign())
        }
        Some(cp) => Evaluation::Cp(cp).to_string(),
        None => "?".to_owned(),
    }
}

fn again(trial: &Trial) -> String {
    let played = trial.played.map_or("an unknown number of nodes".to_owned(), |nodes| number(nodes, "node"));
    let usual = trial.usual.map_or(String::new(), |usual| format!(" (usual: {usual})"));
    let then = match (&trial.found, trial.found_with) {
        // Some engines search a few nodes more than they are asked for.
        (Some(found), Some(nodes)) if trial.played.is_some_and(|played| nodes <= played + played / 50) => {
            format!("asked again with as many it plays {found}")
        }
        (Some(found), Some(nodes)) => format!("with {nodes} it plays {found}"),
        _ => format!("up to {} it plays nothing better", trial.tried),
    };
    format!("searched {played} there{usual}; {then}")
}

impl fmt::Display for Summary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let losses = if self.losses == 1 { "loss" } else { "losses" };
        writeln!(f, "{}: {} {losses} explained", self.player, self.losses)?;
        writeln!(
            f,
            "  {:<10}  {:>6}  {:>5}  {:>13}  {:>7}  {:>10}  {:>7}",
            "cause", "losses", "share", "95 %", "opening", "middlegame", "endgame"
        )?;
        for share in &self.causes {
            let [low, high] = share.interval.map(|end| 100.0 * end);
            let [opening, middlegame, endgame] = share.phases;
            writeln!(
                f,
                "  {:<10}  {:>6}  {:>4.0}%  {:>13}  {opening:>7}  {middlegame:>10}  {endgame:>7}",
                share.cause,
                share.losses,
                100.0 * share.share,
                format!("{low:.0} to {high:.0}%")
            )?;
        }
        if self.causes.iter().any(|share| share.cause == Cause::Unsearched) {
            writeln!(f, "  a move: not looked into, as the engine was not searched again")?;
        }
        if !self.worst.is_empty() {
            writeln!(f, "  worst moves")?;
        }
        for one in &self.worst {
            let played = one.mv.as_ref().map_or("", |mv| mv.played.as_str());
            writeln!(
                f,
                "  {:>4.0}%  game {}, ply {}, {played}  sfen {}",
                100.0 * one.cost(),
                one.game,
                one.ply,
                one.sfen
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::Phase;

    fn explained(loser: Color, evaluations: [i32; 2], shares: [f64; 2]) -> String {
        let mv = Move {
            played: "6h5g".to_owned(),
            better: Some("6h7i".to_owned()),
            evaluations: evaluations.map(Some),
        };
        let explanation = Explanation {
            game: 558,
            players: ["one", "other"].map(str::to_owned),
            loser,
            ending: "mate",
            moves: 156,
            cause: Cause::Horizon,
            ply: 139,
            phase: Phase::Endgame,
            sfen: String::new(),
            at: 138,
            mv: Some(mv),
            shares,
            trial: None,
            remark: String::new(),
            judged: vec![],
        };
        explanation.to_string()
    }

    #[test]
    fn expected_scores_that_are_not_those_of_the_evaluations_are_explained() {
        let plain = explained(Color::Black, [0, -600], [0.5, 0.27]);
        assert!(!plain.contains("holds") && !plain.contains("lasted"), "{plain}");
        let both = explained(Color::Black, [898, -99_990], [0.4, 0.18]);
        let line = "  of 82 % the judge's move holds 40 %; from there on no more than 18 % lasted\n";
        assert!(both.contains("eval for ☗ +898 -> ☖ mate\n") && both.contains(line), "{both}");
        // A loser who is white has the other share.
        let white = explained(Color::White, [-39, 483], [0.5, 0.18]);
        assert!(
            white.contains("  from there on no more than 18 % lasted\n") && !white.contains("holds"),
            "{white}"
        );
    }
}
