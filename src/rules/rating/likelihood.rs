//! The log likelihood of a field's results and its derivatives.
//!
//! R. R. Davidson, "On extending the Bradley-Terry model to accommodate ties in paired comparison experiments" (1970),
//! with the order effect of R. R. Davidson and R. J. Beaver (1977): with x = black's strength - white's strength +
//! black's advantage (natural logarithms), a black win, a white win and a draw have the odds e^(x/2) : e^(-x/2) : nu.
//! Preferred to the model of Rao and Kupper because it is an exponential family: the likelihood is concave in all
//! parameters at once (with ln nu), a draw counts exactly as half a win and half a loss for the strengths, and without
//! draws it is the plain model of Bradley and Terry.

use super::{Results, mix::mix};
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

    /// Gradient and negated Hessian (the information) at `at`.
    pub fn derivatives(&self, at: &DVector<f64>) -> (DVector<f64>, DMatrix<f64>) {
        let (gradient, information) = self.slope(at);
        (gradient, information.dense())
    }

    /// Gradient and information at `at`.
    pub fn slope(&self, at: &DVector<f64>) -> (DVector<f64>, Information<'_>) {
        let mut gradient = DVector::zeros(self.parameters());
        let bends = self.meetings.iter().map(|meeting| self.derive(meeting, at, &mut gradient)).collect();
        (gradient, Information { likelihood: self, bends })
    }

    fn derive(&self, meeting: &Meeting, at: &DVector<f64>, gradient: &mut DVector<f64>) -> Bend {
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
        if let Some(nu) = self.draw {
            gradient[nu] += drawn * (black + white) - (won + lost) * draw;
        }
        Bend { xx, xn, nn }
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

/// Second derivatives of a meeting's part, negated: by x, by x and ln nu, and by ln nu.
#[derive(Clone, Copy, Debug)]
struct Bend {
    xx: f64,
    xn: f64,
    nn: f64,
}

/// The information about all parameters: a sum over meetings, which takes no more room than these. It has the null space of
/// equal shifts of all strengths.
pub(super) struct Information<'a> {
    likelihood: &'a Likelihood,
    bends: Vec<Bend>,
}

impl Information<'_> {
    fn parts(&self) -> impl Iterator<Item = ([Option<(usize, f64)>; 3], Bend)> {
        let signs = self.likelihood.meetings.iter().map(|meeting| self.likelihood.signs(meeting));
        signs.zip(self.bends.iter().copied())
    }

    /// The matrix.
    pub fn dense(&self) -> DMatrix<f64> {
        let n = self.likelihood.parameters();
        let mut info = DMatrix::zeros(n, n);
        for (signs, Bend { xx, xn, nn }) in self.parts() {
            for &(i, sign_i) in signs.iter().flatten() {
                for &(j, sign_j) in signs.iter().flatten() {
                    info[(i, j)] += sign_i * sign_j * xx;
                }
            }
            let Some(nu) = self.likelihood.draw else { continue };
            info[(nu, nu)] += nn;
            for &(i, sign) in signs.iter().flatten() {
                info[(i, nu)] += sign * xn;
                info[(nu, i)] += sign * xn;
            }
        }
        info
    }

    /// The diagonal of the matrix.
    pub fn diagonal(&self) -> DVector<f64> {
        let mut diagonal = DVector::zeros(self.likelihood.parameters());
        for (signs, Bend { xx, nn, .. }) in self.parts() {
            signs.iter().flatten().for_each(|&(i, _)| diagonal[i] += xx);
            self.likelihood.draw.into_iter().for_each(|nu| diagonal[nu] += nn);
        }
        diagonal
    }

    /// The sum of a vector for each meeting, in x and in ln nu.
    fn sum(&self, mut of: impl FnMut(f64, f64, Bend) -> [f64; 2], v: &DVector<f64>) -> DVector<f64> {
        let mut sum = DVector::zeros(v.len());
        for (signs, bend) in self.parts() {
            let x = signs.iter().flatten().map(|&(i, sign)| sign * v[i]).sum();
            let [by_x, by_nu] = of(x, self.likelihood.draw.map_or(0.0, |nu| v[nu]), bend);
            signs.iter().flatten().for_each(|&(i, sign)| sum[i] += sign * by_x);
            self.likelihood.draw.into_iter().for_each(|nu| sum[nu] += by_nu);
        }
        sum
    }

    /// The matrix times a vector.
    pub fn times(&self, v: &DVector<f64>) -> DVector<f64> {
        self.sum(|x, n, Bend { xx, xn, nn }| [xx * x + xn * n, xn * x + nn * n], v)
    }

    /// A random vector whose covariance is the matrix.
    pub fn drawn(&self, seed: u64) -> DVector<f64> {
        let mut state = seed;
        let coin = |bit: u64| if bit == 0 { -1.0 } else { 1.0 };
        let root = |_, _, Bend { xx, xn, nn }: Bend| {
            state = mix(state);
            let (one, other) = (coin(state & 1), coin(state >> 1 & 1));
            let (by_x, across) = (xx.sqrt(), if xx > 0.0 { xn / xx.sqrt() } else { 0.0 });
            [by_x * one, across * one + (nn - across * across).max(0.0).sqrt() * other]
        };
        self.sum(root, &DVector::zeros(self.likelihood.parameters()))
    }
}
