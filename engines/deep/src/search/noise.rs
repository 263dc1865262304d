//! Seeded Dirichlet noise.

use usi_shell::SplitMix64;

use super::Noise;

impl Noise {
    /// The priors mixed with noise.
    pub(super) fn mixed(self, priors: &[f32]) -> Vec<f32> {
        let mut rng = SplitMix64::new(self.seed);
        let alpha = f64::from(self.alpha).max(1e-3);
        let parts: Vec<f64> = priors.iter().map(|_| gamma(alpha, &mut rng)).collect();
        let sum: f64 = parts.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let share = self.share.clamp(0.0, 1.0);
        let mix = |(&prior, &part): (&f32, &f64)| (1.0 - share) * prior + share * (part / sum) as f32;
        priors.iter().zip(&parts).map(mix).collect()
    }
}

/// Uniform in the open interval from 0 to 1.
fn uniform(rng: &mut SplitMix64) -> f64 {
    ((rng.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
}

/// Normally distributed (Box and Muller 1958).
fn normal(rng: &mut SplitMix64) -> f64 {
    (-2.0 * uniform(rng).ln()).sqrt() * (std::f64::consts::TAU * uniform(rng)).cos()
}

/// Gamma distributed (Marsaglia and Tsang 2000).
fn gamma(shape: f64, rng: &mut SplitMix64) -> f64 {
    if shape < 1.0 {
        return gamma(shape + 1.0, rng) * uniform(rng).powf(1.0 / shape);
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = normal(rng);
        let v = (1.0 + c * x).powi(3);
        if v > 0.0 && uniform(rng).ln() < 0.5 * x * x + d * (1.0 - v + v.ln()) {
            return d * v;
        }
    }
}
