//! The log likelihood of a field's results and its derivatives.
//!
//! R. R. Davidson, "On extending the Bradley-Terry model to accommodate ties in paired comparison experiments" (1970),
//! with the order effect of R. R. Davidson and R. J. Beaver (1977): with x = black's strength - white's strength +
//! black's advantage (natural logarithms), a black win, a white win and a draw have the odds e^(x/2) : e^(-x/2) : nu.
//! Preferred to the model of Rao and Kupper because it is an exponential family: the likelihood is concave in all
//! parameters at once (with ln nu), a draw counts exactly as half a win and half a loss for the strengths, and without
//! draws it is the plain model of Bradley and Terry.

use super::Results;
use nalgebra::{DMatrix, DVector};

/// One ordered pair of players and its results.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meeting {
    pub black: usize,
    pub white: usize,
    pub results: Results,
}

/// The results and the parameters of the model: the strengths, then those with an index here.
#[derive(Clone, Debug)]
pub(super) struct Likelihood {
    pub players: usize,
    pub meetings: Vec<Meeting>,
    /// Index of black's advantage, if it is estimated.
    pub advantage: Option<usize>,
    /// Index of ln nu, if draws have odds of their own; otherwise a draw is half a win and half a loss.
    pub draw: Option<usize>,
}

/// Probabilities of the outcomes of a game. The formulas avoid differences of nearly equal numbers, so that one upset
/// in a billion games still counts.
struct Odds {
    black: f64,
    white: f64,
    draw: f64,
}

impl Odds {
    fn new(x: f64, log_nu: f64) -> Self {
        let top = (x.abs() / 2.0).max(log_nu);
        let (black, white) = ((x / 2.0 - top).exp(), (-x / 2.0 - top).exp());
        let draw = (log_nu - top).exp();
        let sum = black + white + draw;
        Self { black: black / sum, white: white / sum, draw: draw / sum }
    }

    /// The sum of `count ln p`; outcomes that never occurred add nothing.
    fn log_likelihood(&self, won: f64, drawn: f64, lost: f64) -> f64 {
        let Self { black, white, draw } = *self;
        [(won, black, white + draw), (drawn, draw, black + white), (lost, white, black + draw)]
            .into_iter()
            .filter(|&(count, ..)| count > 0.0)
            .map(|(count, p, others)| -count * (others / p).ln_1p())
            .sum()
    }
}

impl Likelihood {
    pub fn parameters(&self) -> usize {
        self.players + usize::from(self.advantage.is_some()) + usize::from(self.draw.is_some())
    }

    /// The log likelihood at `at`. A sum of sums: a million equal terms, added to one sum, round to the same side, and the
    /// maximum would seem to lie beyond every step.
    pub fn value(&self, at: &DVector<f64>) -> f64 {
        let value = |part: &[Meeting]| part.iter().map(|meeting| self.value_of(meeting, at)).sum::<f64>();
        self.meetings.chunks(1000).map(value).sum()
    }

    fn value_of(&self, meeting: &Meeting, at: &DVector<f64>) -> f64 {
        let (won, drawn, lost) = self.points(meeting);
        Odds::new(self.difference(meeting, at), self.log_nu(at)).log_likelihood(won, drawn, lost)
    }

    /// Gradient and negated Hessian (the information) at `at`. The information has the null space of equal shifts of
    /// all strengths.
    pub fn derivatives(&self, at: &DVector<f64>) -> (DVector<f64>, DMatrix<f64>) {
        let n = self.parameters();
        let (mut gradient, mut information) = (DVector::zeros(n), DMatrix::zeros(n, n));
        for meeting in &self.meetings {
            self.derive(meeting, at, &mut gradient, &mut information);
        }
        (gradient, information)
    }

    fn derive(
        &self,
        meeting: &Meeting,
        at: &DVector<f64>,
        gradient: &mut DVector<f64>,
        info: &mut DMatrix<f64>,
    ) {
        let (won, drawn, lost) = self.points(meeting);
        let games = won + drawn + lost;
        let Odds { black, white, draw } = Odds::new(self.difference(meeting, at), self.log_nu(at));
        let lean = (black - white) / 2.0;
        let signs = self.signs(meeting);
        // By x, by x and ln nu, and by ln nu.
        let by_x = won * (white + draw / 2.0) - drawn * lean - lost * (black + draw / 2.0);
        let xx = games * (black * white + draw * (black + white) / 4.0);
        let (xn, nn) = (-games * draw * lean, games * draw * (black + white));
        for &(i, sign) in signs.iter().flatten() {
            gradient[i] += sign * by_x;
        }
        for &(i, sign_i) in signs.iter().flatten() {
            for &(j, sign_j) in signs.iter().flatten() {
                info[(i, j)] += sign_i * sign_j * xx;
            }
        }
        let Some(nu) = self.draw else { return };
        gradient[nu] += drawn * (black + white) - (won + lost) * draw;
        info[(nu, nu)] += nn;
        for &(i, sign) in signs.iter().flatten() {
            info[(i, nu)] += sign * xn;
            info[(nu, i)] += sign * xn;
        }
    }

    /// The parameters that x is the sum of.
    fn signs(&self, meeting: &Meeting) -> [Option<(usize, f64)>; 3] {
        [Some((meeting.black, 1.0)), Some((meeting.white, -1.0)), self.advantage.map(|i| (i, 1.0))]
    }

    fn difference(&self, meeting: &Meeting, at: &DVector<f64>) -> f64 {
        at[meeting.black] - at[meeting.white] + self.advantage.map_or(0.0, |i| at[i])
    }

    fn log_nu(&self, at: &DVector<f64>) -> f64 {
        self.draw.map_or(f64::NEG_INFINITY, |i| at[i])
    }

    /// Black's wins, draws and losses as this model counts them.
    fn points(&self, meeting: &Meeting) -> (f64, f64, f64) {
        let Results { black_wins, draws, white_wins } = meeting.results;
        match self.draw {
            Some(_) => (black_wins, draws, white_wins),
            None => (black_wins + draws / 2.0, 0.0, white_wins + draws / 2.0),
        }
    }
}
