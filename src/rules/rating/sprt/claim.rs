//! What a verdict claims, in words.
//!
//! A. Wald's test bounds how often it errs where the difference is `elo0` or less, and where it is `elo1` or more. So
//! H1 denies the one and H0 the other; how large the difference is, neither of them says.

use super::{Model, Sprt, Verdict};

impl Sprt {
    /// The claim of a verdict about the first side against the second; `None` without a verdict.
    pub fn claim(&self, verdict: Verdict, first: &str, second: &str) -> Option<String> {
        let (claim, error) = match verdict {
            Verdict::H1 => (self.more(self.elo0, ["stronger", "weaker"], first, second), self.alpha),
            Verdict::H0 => (self.more(-self.elo1, ["weaker", "stronger"], first, second), self.beta),
            Verdict::Continue => return None,
        };
        let percent = 100.0 * error;
        Some(format!("{claim} (such a test errs in {percent} % of cases at most)"))
    }

    fn more(&self, elo: f64, [more, less]: [&str; 2], first: &str, second: &str) -> String {
        match elo {
            0.0 => format!("{first} is {more} than {second}"),
            0.0.. => format!("{first} is {more} than {second} by more than {}", self.words(elo)),
            _ => format!("{first} is {more} than {second}, or {less} by less than {}", self.words(-elo)),
        }
    }

    fn words(&self, elo: f64) -> String {
        match self.model {
            Model::Normalized => format!("{elo} normalized Elo"),
            Model::Logistic => format!("{elo} Elo"),
            Model::BayesElo => format!("{elo} BayesElo"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims(model: Model, elo0: f64, elo1: f64) -> [String; 2] {
        let test = Sprt::new(model, elo0, elo1, 0.05, 0.1).unwrap();
        assert_eq!(test.claim(Verdict::Continue, "new", "old"), None);
        [Verdict::H1, Verdict::H0].map(|verdict| test.claim(verdict, "new", "old").unwrap())
    }

    #[test]
    fn a_verdict_claims_what_its_error_rate_covers_and_no_more() {
        let [h1, h0] = claims(Model::Normalized, 0.0, 60.0);
        assert_eq!(h1, "new is stronger than old (such a test errs in 5 % of cases at most)");
        assert_eq!(
            h0,
            "new is weaker than old, or stronger by less than 60 normalized Elo (such a test errs in 10 % of cases at \
             most)"
        );
        let [h1, h0] = claims(Model::Logistic, -5.0, 0.0);
        assert!(h1.starts_with("new is stronger than old, or weaker by less than 5 Elo ("), "{h1}");
        assert!(h0.starts_with("new is weaker than old ("), "{h0}");
        let [h1, h0] = claims(Model::Logistic, 2.0, 5.0);
        assert!(h1.starts_with("new is stronger than old by more than 2 Elo ("), "{h1}");
        assert!(h0.starts_with("new is weaker than old, or stronger by less than 5 Elo ("), "{h0}");
    }
}
