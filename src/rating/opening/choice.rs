//! The next line of an event, by what has been seen in it.
//!
//! "Why this line": of all lines that are open enough, those come next that were used least, and of these the one whose
//! next pair is expected to say most, the first in the order of the event where two are level. A line is left out while its
//! pairs are expected to say less than half as much as those of all lines in the mean: a line that one colour nearly always
//! wins ends pair after pair level. How open a line is follows from black's score in its games, which stands for a draw
//! from a beta distribution around the score of its family, as that does around the score of all; so a family that was
//! seen to be lopsided comes late before its lines were all tried.
//!
//! **Error rates.** The choice knows no player: it counts what black scored, whoever had black. If the two players of a
//! test are exchanged, a pair with the results (r1, r2) for black becomes (r2, r1), black's score of it stays, and so does
//! every later choice, while the difference r1 - r2 changes its sign. So where the players are equal on every line, the
//! sign of each difference is that of a fair coin, given all choices and all that they were made from: the sum is a
//! martingale, and the test errs no more often than with lines in a fixed order. The size of the difference is not used
//! either, since lines on which one of the players is better would be chosen by it.

/// Games that the score of its family weighs as, in that of a line.
const FAMILY: f64 = 8.0;
/// Games that the score of all lines weighs as, in that of a family.
const ALL: f64 = 12.0;
/// Games without bias that are counted to those of all lines.
const EQUAL: f64 = 20.0;
/// Lines whose pairs say less than this part of the mean are left out.
const LEAST: f64 = 0.5;

/// What was seen of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Seen {
    games: u64,
    /// Twice black's score.
    black: u64,
    /// Pairs that began from it.
    uses: u64,
}

/// Games and twice black's score.
type Sum = (u64, u64);

/// The lines of an event with what was seen of each, and the choice of the next one.
///
/// An opening is numbered `use * lines + line`, so the number that is stored with a game tells both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineChoice {
    /// Family of each line.
    families: Vec<usize>,
    seen: Vec<Seen>,
    by_family: Vec<Sum>,
    all: Sum,
}

impl LineChoice {
    /// A choice among lines of these families, in the order of the event, of which nothing was seen.
    #[must_use]
    pub fn new(families: Vec<usize>) -> Self {
        let many = families.iter().max().map_or(0, |most| most + 1);
        Self {
            seen: vec![Seen::default(); families.len()],
            families,
            by_family: vec![(0, 0); many],
            all: (0, 0),
        }
    }

    /// The number of the opening of the next pair, which is used with that.
    pub fn choose(&mut self) -> u64 {
        let Some(line) = self.best() else { return 0 };
        let opening = self.seen[line].uses.saturating_mul(self.seen.len() as u64).saturating_add(line as u64);
        self.used(opening);
        opening
    }

    /// A pair has begun from an opening.
    pub fn used(&mut self, opening: u64) {
        let Some((line, before)) = self.line(opening) else { return };
        self.seen[line].uses = self.seen[line].uses.max(before.saturating_add(1));
    }

    /// A game from an opening has ended with a result that counts.
    pub fn scored(&mut self, opening: u64, black_half_points: u8) {
        self.used(opening);
        self.add(opening, |sum| (sum.0 + 1, sum.1 + u64::from(black_half_points)));
    }

    /// Takes back a game that counted.
    pub fn take_back(&mut self, opening: u64, black_half_points: u8) {
        let half_points = u64::from(black_half_points);
        self.add(opening, |sum| (sum.0.saturating_sub(1), sum.1.saturating_sub(half_points)));
    }

    fn add(&mut self, opening: u64, change: impl Fn(Sum) -> Sum) {
        let Some((line, _)) = self.line(opening) else { return };
        let seen = &mut self.seen[line];
        (seen.games, seen.black) = change((seen.games, seen.black));
        let family = &mut self.by_family[self.families[line]];
        *family = change(*family);
        self.all = change(self.all);
    }

    /// The line of an opening, and how often it was used before.
    fn line(&self, opening: u64) -> Option<(usize, u64)> {
        let many = self.seen.len() as u64;
        let line = opening.checked_rem(many)?;
        Some((usize::try_from(line).ok()?, opening / many))
    }

    fn best(&self) -> Option<usize> {
        let all = score(self.all, 0.5, EQUAL);
        let families: Vec<f64> = self.by_family.iter().map(|&sum| score(sum, all, ALL)).collect();
        let open: Vec<f64> =
            self.seen.iter().zip(&self.families).map(|(seen, &of)| seen.openness(families[of])).collect();
        let mean = open.iter().sum::<f64>() / open.len().max(1) as f64;
        let lines = || (0..open.len()).filter(|&line| open[line] >= LEAST * mean);
        let least = lines().map(|line| self.seen[line].uses).min()?;
        let fresh = lines().filter(|&line| self.seen[line].uses == least);
        fresh.reduce(|best, line| if open[line] > open[best] { line } else { best })
    }
}

impl Seen {
    /// Four times the expected variance of a game's result, where the score is drawn from a beta distribution.
    fn openness(&self, family: f64) -> f64 {
        let black = self.black as f64 / 2.0 + FAMILY * family;
        let all = self.games as f64 + FAMILY;
        4.0 * black * (all - black) / (all * (all + 1.0))
    }
}

/// Black's score over some games, with so many more at a prior score.
fn score((games, black): Sum, prior: f64, weight: f64) -> f64 {
    (black as f64 / 2.0 + weight * prior) / (games as f64 + weight)
}

#[cfg(test)]
mod tests;
