//! A device that sleeps instead of computing: it shows on any machine how long a search keeps a GPU waiting.

use super::{Answer, Encoding, Evaluator, EvaluatorError, Question, UniformEvaluator};
use parking_lot::Mutex;
use std::{str::FromStr, thread, time::Duration};

/// How long a simulated device takes, such as `200us+2.5us`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Simulated {
    /// Time of a batch.
    pub batch: Duration,
    /// Time of each of its positions.
    pub position: Duration,
}

impl FromStr for Simulated {
    type Err = EvaluatorError;

    fn from_str(text: &str) -> Result<Self, EvaluatorError> {
        let micros = |text: &str| {
            let number: f64 = text.strip_suffix("us")?.parse().ok()?;
            Duration::try_from_secs_f64(number / 1e6).ok()
        };
        let times =
            text.split_once('+').and_then(|(batch, position)| Some((micros(batch)?, micros(position)?)));
        let (batch, position) = times.ok_or_else(|| {
            EvaluatorError::Device(format!(
                "`{text}` is not a time of a batch and of a position, such as 200us+2.5us"
            ))
        })?;
        Ok(Self { batch, position })
    }
}

/// Computes one batch at a time, and answers as [`UniformEvaluator`].
#[derive(Debug)]
pub struct SimulatedDevice {
    times: Simulated,
    answers: UniformEvaluator,
    busy: Mutex<()>,
}

impl SimulatedDevice {
    /// A device with these times that takes up to `batch` positions at once.
    pub const fn new(times: Simulated, batch: usize) -> Self {
        Self { times, answers: UniformEvaluator::new(batch), busy: Mutex::new(()) }
    }
}

impl Evaluator for SimulatedDevice {
    fn evaluate(&self, questions: &[Question]) -> Result<Vec<Answer>, EvaluatorError> {
        questions.chunks(self.batch().max(1)).try_for_each(|batch| self.forward_only(batch.len()))?;
        self.answers.evaluate(questions)
    }

    fn forward_only(&self, batch: usize) -> Result<(), EvaluatorError> {
        let _busy = self.busy.lock();
        thread::sleep(self.times.batch + self.times.position * u32::try_from(batch).unwrap_or(u32::MAX));
        Ok(())
    }

    fn batch(&self) -> usize {
        self.answers.batch()
    }

    fn encoding(&self) -> Encoding {
        self.answers.encoding()
    }

    fn kind(&self) -> &str {
        "simulated device"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_times_of_a_simulated_device_are_read_and_anything_else_is_refused() {
        let times = Simulated { batch: Duration::from_micros(200), position: Duration::from_nanos(2500) };
        assert_eq!("200us+2.5us".parse::<Simulated>().unwrap(), times);
        for text in ["", "200us", "200+2", "200us+-1us", "200us+NaNus"] {
            let fault = text.parse::<Simulated>().unwrap_err().to_string();
            assert!(fault.contains("such as 200us+2.5us"), "{fault}");
        }
    }
}
