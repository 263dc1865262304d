//! What adjudication by score costs: games that the rule would have ended and that were played on.

use crate::{Language, scale::Given};
use journal::{EventSummary, GameFilter, GameState, Store, StoreError};
use referee::{
    Color, Outcome, WinBy,
    adjudicate::{AUDIT_WHOLE, Adjudication, Adjudicator, ResignRule, Verdict},
};
use serde::Serialize;

/// 97.5 % of the normal distribution: for 95 % intervals.
const Z: f64 = 1.959_963_985;

/// Games that adjudication by score ended, and those that it would have ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Audit {
    /// Share of games that are played on, as configured.
    pub share: f64,
    /// Games that the rule ended.
    pub ended: u64,
    /// Games that it would have ended and that were played to their end.
    pub played_on: u64,
    /// Of these, games that the side which the rule gives up has won.
    pub won: u64,
    /// Of these, games that were drawn.
    pub drawn: u64,
    /// Share of the games played on that did not end as the rule says.
    pub wrong: f64,
    /// The 95 % interval of that share, by E. B. Wilson (1927).
    pub interval: [f64; 2],
    /// Games played on with another result than the rule's, by number.
    pub games: Vec<u64>,
    /// Plies by which the games played on were longer, on average.
    pub plies: f64,
}

impl Audit {
    /// The audit of an event; `None` where no game is played on.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn of(store: &Store, event: &EventSummary) -> Result<Option<Self>, StoreError> {
        let Some((rules, resign)) = rules(event) else { return Ok(None) };
        let mut audit = Self {
            share: f64::from(resign.audit) / f64::from(AUDIT_WHOLE),
            interval: [0.0, 1.0],
            ..Self::default()
        };
        let scales = Given::of(event);
        let filter = GameFilter { state: Some(GameState::Counted), ..GameFilter::default() };
        let by_score = |outcome| matches!(outcome, Outcome::Win { by: WinBy::Adjudication, .. });
        store.full_games::<StoreError>(event.id, &filter, |game| {
            let Some(outcome) = game.row.outcome else { return Ok(()) };
            if by_score(outcome) {
                audit.ended += 1;
                return Ok(());
            }
            let mut adjudicator = Adjudicator::new(rules, scales.game(&game.row.pairing).both());
            let before = store.moves_before(event.id, &game.row)?;
            let scores = before
                .iter()
                .chain(&game.moves)
                .map(|(_, moved)| (moved.ply, adjudicator.moved(moved.color, moved.ply, moved.score(), 0)));
            let lost = scores.filter_map(|(ply, verdict)| match verdict? {
                Verdict::Lost(color) => Some((ply, color)),
                Verdict::Draw => None,
            });
            // The last move may have ended the game by another rule, which comes first.
            let last = game.moves.last().map_or(0, |(_, moved)| moved.ply);
            if let Some((ply, color)) = { lost }.next().filter(|(ply, _)| *ply < last) {
                audit.take(game.row.game.0, outcome, color, last - ply);
            }
            Ok(())
        })?;
        audit.sum();
        Ok(Some(audit))
    }

    fn take(&mut self, game: u64, outcome: Outcome, loser: Color, plies: u32) {
        self.played_on += 1;
        self.plies += f64::from(plies);
        match outcome.winner() {
            Some(winner) if winner != loser => return,
            Some(_) => self.won += 1,
            None => self.drawn += 1,
        }
        self.games.push(game);
    }

    fn sum(&mut self) {
        if self.played_on == 0 {
            return;
        }
        let (n, wrong) = (self.played_on as f64, (self.won + self.drawn) as f64);
        self.plies /= n;
        self.wrong = wrong / n;
        let scale = 1.0 + Z * Z / n;
        let middle = (self.wrong + Z * Z / (2.0 * n)) / scale;
        let half = Z * (self.wrong * (1.0 - self.wrong) / n + Z * Z / (4.0 * n * n)).sqrt() / scale;
        self.interval = [(middle - half).max(0.0), (middle + half).min(1.0)];
    }
}

/// The rules of adjudication of an event, to find where they would have ended a game.
fn rules(event: &EventSummary) -> Option<(Adjudication, ResignRule)> {
    let plan: serde_json::Value = serde_json::from_str(&event.plan).ok()?;
    let rules: Adjudication = serde_json::from_value(plan.get("adjudication")?.clone()).ok()?;
    let resign = rules.resign.filter(|resign| resign.audit > 0)?;
    let all = ResignRule { audit: 0, ..resign };
    Some((Adjudication { resign: Some(all), draw: None }, resign))
}

impl Audit {
    /// The audit in lines of text.
    pub(crate) fn text(&self, words: Language) -> String {
        let mut lines =
            vec![words.audit_games(&words.of_games(self.ended), self.played_on, 100.0 * self.share)];
        if self.played_on > 0 {
            let [low, high] = self.interval.map(|end| 100.0 * end);
            let wrong = self.won + self.drawn;
            lines.push(words.audit_wrong(wrong, self.won, self.drawn, 100.0 * self.wrong, low, high));
            let points = (self.won as f64 + 0.5 * self.drawn as f64) / self.played_on as f64;
            lines.push(words.audit_cost(points, self.plies));
        }
        if !self.games.is_empty() {
            let games: Vec<String> = self.games.iter().take(20).map(u64::to_string).collect();
            lines.push(words.listed_games(&games.join(", ")));
        }
        lines.join("\n  ") + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_resignation_is_counted_with_its_cost() {
        let mut audit = Audit {
            share: 0.05,
            ended: 90,
            played_on: 0,
            won: 0,
            drawn: 0,
            wrong: 0.0,
            interval: [0.0, 1.0],
            games: vec![],
            plies: 0.0,
        };
        let won = |winner| Outcome::Win { winner, by: WinBy::Resignation };
        audit.take(1, won(Color::White), Color::Black, 20);
        audit.take(2, won(Color::Black), Color::Black, 60);
        audit.sum();
        assert_eq!((audit.played_on, audit.won, audit.games.as_slice()), (2, 1, &[2][..]));
        let text = audit.text(Language::English);
        assert!(
            text.contains("90 games ended, 2 played on") && text.contains("50 % (95 %: 9 to 91 %)"),
            "{text}"
        );
        assert!(text.contains("0.50 points") && text.contains("40 plies longer"), "{text}");
    }
}
