//! Adjudication: ending a game early by the scores of both engines. Off unless the configuration of the event sets
//! it. Scores are compared on the common scale, each by the scale of its engine.

use crate::{
    Color,
    entry::Score,
    evaluation::{Evaluation, ScoreScale},
};
use serde::{Deserialize, Serialize};

/// The adjudication rules of an event; all counts are in plies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Adjudication {
    /// Rule by which a side loses.
    pub resign: Option<ResignRule>,
    /// Rule by which a game is drawn.
    pub draw: Option<DrawRule>,
}

/// The resign rule: a side loses after enough moves with a losing score of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResignRule {
    /// A score is losing at or below minus this many centipawns, from the side of the mover.
    pub score: i32,
    /// Consecutive moves of the losing side that need such a score.
    pub moves: u32,
    /// True if the opponent has to agree, with as many consecutive scores at or above `score`.
    pub two_sided: bool,
    /// How many of 10,000 such games are played on all the same, to see what the rule costs.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub audit: u16,
}

/// The whole of [`ResignRule::audit`].
pub const AUDIT_WHOLE: u16 = 10_000;

fn is_zero(audit: &u16) -> bool {
    *audit == 0
}

impl ResignRule {
    /// Whether a game is played on that the rule would end. `lot` is a number that depends on nothing but the position on the
    /// board: a game that is replayed, on another machine or from the database, is ruled as it was.
    fn plays_on(self, lot: u64) -> bool {
        // The finalizer of MurmurHash3 by A. Appleby: near positions have lots that are far apart.
        let mut mixed = lot ^ (lot >> 33);
        mixed = mixed.wrapping_mul(0xff51_afd7_ed55_8ccd);
        mixed ^= mixed >> 33;
        mixed = mixed.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        (mixed ^ (mixed >> 33)) % u64::from(AUDIT_WHOLE) < u64::from(self.audit)
    }
}

/// The draw rule: a game is drawn after enough plies with level scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrawRule {
    /// A score is level within this many centipawns of zero.
    pub score: i32,
    /// Consecutive plies of both sides that need such a score.
    pub plies: u32,
    /// First ply at which the rule applies.
    pub from_ply: u32,
}

/// The streaks of scores in one game.
#[derive(Clone, Copy, Debug, Default)]
pub struct Adjudicator {
    rules: Adjudication,
    /// By colour, the scale of the player's scores.
    scales: [ScoreScale; 2],
    /// Consecutive moves by colour: at or below `-score`, and at or above `score`.
    lost: [u32; 2],
    won: [u32; 2],
    level: u32,
    /// The resign rule would have ended the game, which is played on for the audit.
    is_audited: bool,
}

/// The ruling of adjudication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// This side loses.
    Lost(Color),
    /// The game is drawn.
    Draw,
}

impl Adjudicator {
    /// No score yet, under `rules`; `scales` are those of black's and of white's scores.
    pub fn new(rules: Adjudication, scales: [ScoreScale; 2]) -> Self {
        Self { rules, scales, ..Self::default() }
    }

    /// Counts the score that `color` gave with ply `ply`; a move without a score ends every streak. `lot` is a number that the
    /// position decides, for the audit.
    pub fn moved(&mut self, color: Color, ply: u32, score: Option<Score>, lot: u64) -> Option<Verdict> {
        // Read as black's, an evaluation keeps the mover's side.
        let scale = self.scales[color.index()];
        let cp = score.map(|score| Evaluation::of(score, Color::Black).on_common(scale).centipawns());
        let lost = self.resignation(color, cp).filter(|_| !self.is_audited);
        self.is_audited |= lost.is_some() && self.rules.resign.is_some_and(|rule| rule.plays_on(lot));
        lost.filter(|_| !self.is_audited).or_else(|| self.draw(ply, cp))
    }

    fn resignation(&mut self, color: Color, cp: Option<i32>) -> Option<Verdict> {
        let rule = self.rules.resign?;
        let side = color.index();
        self.lost[side] = streak(self.lost[side], cp.is_some_and(|cp| cp <= -rule.score));
        self.won[side] = streak(self.won[side], cp.is_some_and(|cp| cp >= rule.score));
        [color, !color]
            .into_iter()
            .find(|lost| {
                let agreed = !rule.two_sided || self.won[(!*lost).index()] >= rule.moves;
                self.lost[lost.index()] >= rule.moves && agreed
            })
            .map(Verdict::Lost)
    }

    fn draw(&mut self, ply: u32, cp: Option<i32>) -> Option<Verdict> {
        let rule = self.rules.draw?;
        self.level = streak(self.level, cp.is_some_and(|cp| cp.abs() <= rule.score));
        (self.level >= rule.plies && ply >= rule.from_ply).then_some(Verdict::Draw)
    }
}

fn streak(length: u32, goes_on: bool) -> u32 {
    if goes_on { length + 1 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both engines' scores are on the common scale by themselves.
    const OWN: [ScoreScale; 2] = [ScoreScale::COMMON; 2];

    fn resign(two_sided: bool) -> Adjudicator {
        let rule = ResignRule { score: 1000, moves: 2, two_sided, audit: 0 };
        Adjudicator::new(Adjudication { resign: Some(rule), draw: None }, OWN)
    }

    #[test]
    fn one_side_alone_can_give_up() {
        let mut game = resign(false);
        assert_eq!(game.moved(Color::Black, 1, Some(Score::Cp(-1000)), 0), None);
        assert_eq!(game.moved(Color::White, 2, Some(Score::Cp(0)), 0), None);
        assert_eq!(game.moved(Color::Black, 3, Some(Score::Mate(-4)), 0), Some(Verdict::Lost(Color::Black)));
    }

    #[test]
    fn each_side_is_judged_by_its_own_scale_and_a_mate_by_none() {
        let rule = ResignRule { score: 1000, moves: 1, two_sided: true, audit: 0 };
        let rules = Adjudication { resign: Some(rule), draw: None };
        let scales = [ScoreScale::new(918).unwrap(), ScoreScale::new(300).unwrap()];
        let ruling = |black, white| {
            let mut game = Adjudicator::new(rules, scales);
            assert_eq!(game.moved(Color::Black, 1, Some(black), 0), None);
            game.moved(Color::White, 2, Some(white), 0)
        };
        assert_eq!(ruling(Score::Cp(-1529), Score::Cp(500)), None);
        assert_eq!(ruling(Score::Cp(-1530), Score::Cp(499)), None);
        assert_eq!(ruling(Score::Cp(-1530), Score::Cp(500)), Some(Verdict::Lost(Color::Black)));
        assert_eq!(ruling(Score::Mate(-3), Score::Mate(3)), Some(Verdict::Lost(Color::Black)));
    }

    #[test]
    fn a_better_score_or_a_silent_move_starts_the_count_again() {
        let mut game = resign(false);
        for score in [Some(Score::Cp(-1500)), Some(Score::Cp(-999)), Some(Score::Cp(-1500)), None] {
            assert_eq!(game.moved(Color::White, 2, score, 0), None);
        }
    }

    #[test]
    fn two_sided_waits_for_the_winner_to_agree() {
        let mut game = resign(true);
        let plies = [(Color::Black, -2000), (Color::White, 900), (Color::Black, -2000), (Color::White, 1000)];
        for (ply, (color, cp)) in (1..).zip(plies) {
            assert_eq!(game.moved(color, ply, Some(Score::Cp(cp)), 0), None);
        }
        assert_eq!(game.moved(Color::Black, 5, Some(Score::Cp(-2000)), 0), None);
        assert_eq!(game.moved(Color::White, 6, Some(Score::Cp(1000)), 0), Some(Verdict::Lost(Color::Black)));
    }

    #[test]
    fn about_the_share_of_the_audit_is_played_on_and_always_the_same_games() {
        let rule = ResignRule { score: 1000, moves: 1, two_sided: false, audit: 500 };
        let rules = Adjudication { resign: Some(rule), draw: None };
        let ends = |lot| {
            let mut game = Adjudicator::new(rules, OWN);
            let plies =
                [1, 3, 5].map(|ply| game.moved(Color::Black, ply, Some(Score::Cp(-2000)), lot + ply as u64));
            assert!(plies[0].is_some() || plies == [None; 3], "a game that is played on is not ended later");
            plies[0].is_some()
        };
        let played_on = (0..10_000).filter(|&lot| !ends(lot)).count();
        assert!((400..600).contains(&played_on), "{played_on}");
        assert!((0..10_000).all(|lot| ends(lot) == ends(lot)));
    }

    #[test]
    fn a_draw_needs_its_plies_and_its_ply() {
        let rule = DrawRule { score: 10, plies: 3, from_ply: 5 };
        let mut game = Adjudicator::new(Adjudication { resign: None, draw: Some(rule) }, OWN);
        for ply in 1..5 {
            assert_eq!(game.moved(Color::Black, ply, Some(Score::Cp(-10)), 0), None);
        }
        assert_eq!(game.moved(Color::Black, 5, Some(Score::Cp(10)), 0), Some(Verdict::Draw));
    }

    /// A hundred games of random scores under random rules, against the sentences of the rules applied to the whole game.
    #[test]
    fn streaks_are_those_that_the_whole_list_of_scores_has() {
        for case in 0..400_u64 {
            let draw = |n: u64, sides: u64| rating::mix::mix(case * 1000 + n) % sides;
            let resign =
                ResignRule { score: 300, moves: 1 + draw(1, 3) as u32, two_sided: draw(2, 2) == 0, audit: 0 };
            let level = DrawRule { score: 20, plies: 2 + draw(3, 4) as u32, from_ply: draw(4, 12) as u32 };
            let rules = Adjudication { resign: Some(resign), draw: Some(level) };
            let mut game = Adjudicator::new(rules, OWN);
            let mut scores: Vec<(Color, Option<i32>)> = vec![];
            for ply in 1..30_u32 {
                let color = Color::BOTH[(ply as usize + 1) % 2];
                let cp = [-301, -300, -299, -21, -20, 0, 20, 21, 299, 300, 301];
                // Runs of alike scores, so that streaks come about.
                let at = draw(100 + u64::from(ply) / 5 * 7 + u64::from(color == Color::White), 11) as usize;
                let cp = (draw(200 + u64::from(ply), 9) > 0).then(|| cp[at]);
                scores.push((color, cp));
                let last = |color: Color, is: &dyn Fn(i32) -> bool| {
                    let own = scores.iter().rev().filter(|(mover, _)| *mover == color);
                    own.take_while(|(_, cp)| cp.is_some_and(is)).count() as u32
                };
                let loses = |side: Color| {
                    last(side, &|cp| cp <= -300) >= resign.moves
                        && (!resign.two_sided || last(!side, &|cp| cp >= 300) >= resign.moves)
                };
                let is_level = scores.iter().rev().take_while(|(_, cp)| cp.is_some_and(|cp| cp.abs() <= 20));
                let is_drawn = is_level.count() as u32 >= level.plies && ply >= level.from_ply;
                let expected = [color, !color].into_iter().find(|side| loses(*side)).map(Verdict::Lost);
                let expected = expected.or(is_drawn.then_some(Verdict::Draw));
                let verdict = game.moved(color, ply, cp.map(Score::Cp), 0);
                assert_eq!(verdict, expected, "case {case}, ply {ply}: {scores:?}");
                // A verdict ends the game.
                if verdict.is_some() {
                    break;
                }
            }
        }
    }

    /// Games are ruled again on other machines and from databases, where the same ones have to be played on.
    #[test]
    fn the_games_of_an_audit_are_those_that_were_played_on_before() {
        let rule = ResignRule { score: 1000, moves: 1, two_sided: false, audit: 100 };
        let near: Vec<u64> = (0..1000).filter(|lot| rule.plays_on(*lot)).collect();
        assert_eq!(near, [0, 428, 452, 579, 594, 740, 806, 846]);
        let far: Vec<u64> =
            (1..1000).filter(|n: &u64| rule.plays_on(n.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
        assert_eq!(far, [241, 324, 358, 367, 507, 509, 531, 580, 667, 679, 825]);
        assert!((0..1000).all(|lot| ResignRule { audit: AUDIT_WHOLE, ..rule }.plays_on(lot)));
        let json = |audit| serde_json::to_value(ResignRule { audit, ..rule }).unwrap().get("audit").cloned();
        assert_eq!((json(0), json(1)), (None, Some(1.into())), "a rule without an audit is written as ever");
    }
}
