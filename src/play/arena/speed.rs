//! The speed of a machine for an event: nodes per second of its engines, with all slots busy. Machines that are not equally
//! fast get clocks that make up for it.

use crate::Say;
use plan::EnginePlan;
use referee::clock::Scale;
use seat::usi::{self, LookFault, UsiPlayer};
use serde::{Deserialize, Serialize};
use std::{io, sync::Arc};
use tokio::sync::Semaphore;

/// Engines of an event that are measured: the first ones.
const ENGINES: usize = 4;
/// Searches at the same time at most.
const SLOTS: usize = 256;

/// The speed of a machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Speed {
    /// Nodes per second of each engine in one slot; `None` where it was not measured, or does not tell its nodes.
    pub nps: Vec<Option<f64>>,
    /// By how much the measures of the least steady engine differ, as a share of their mean.
    pub spread: f64,
}

impl Speed {
    /// Mean of the nodes per second, as far as they are known.
    pub fn mean(&self) -> Option<f64> {
        let known: Vec<f64> = self.nps.iter().flatten().copied().collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    }

    /// How much slower this machine is than another: the geometric mean over the engines that both tell of.
    pub fn slower_than(&self, reference: &Self) -> Option<f64> {
        let both = self.nps.iter().zip(&reference.nps);
        let logs: Vec<f64> = both.filter_map(|(own, other)| Some(((*other)? / (*own)?).ln())).collect();
        (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
    }

    /// True if every figure is a possible one.
    pub fn is_sound(&self) -> bool {
        let is_speed = |nps: &f64| nps.is_finite() && *nps > 0.0;
        self.spread.is_finite() && self.spread >= 0.0 && self.nps.iter().flatten().all(is_speed)
    }

    /// The scale of clocks against another machine; `None` where no engine tells its speed on both.
    ///
    /// # Errors
    /// The ratio, where it is beyond the bounds of [`Scale`].
    pub fn scale(&self, reference: &Self) -> Result<Option<Scale>, f64> {
        let Some(ratio) = self.slower_than(reference) else { return Ok(None) };
        Scale::of(ratio).map(Some).ok_or(ratio)
    }
}

/// Measures the first engines, one after the other, each with as many processes as there are slots.
///
/// # Errors
/// When the system has no event queue for it.
pub fn measure(engines: &[EnginePlan], slots: usize, startups: usize, say: &Say) -> io::Result<Speed> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut speed = Speed { nps: vec![None; engines.len()], spread: 0.0 };
    for (engine, nps) in engines.iter().take(ENGINES).zip(&mut speed.nps) {
        match runtime.block_on(of_engine(engine, slots.clamp(1, SLOTS), startups)) {
            Ok(rounds) => {
                *nps = mean(&rounds);
                speed.spread = speed.spread.max(spread(&rounds));
            }
            Err(why) => say(&format!("engine `{}`: its speed was not measured: {why}", engine.name)),
        }
    }
    Ok(speed)
}

/// Nodes per second in each round, as the mean of the slots; empty if a slot tells none.
async fn of_engine(engine: &EnginePlan, slots: usize, startups: usize) -> Result<Vec<f64>, LookFault> {
    let engine = Arc::new(engine.clone());
    let startups = Arc::new(Semaphore::new(startups.max(1)));
    let start = |_| {
        let (engine, startups) = (engine.clone(), startups.clone());
        tokio::spawn(usi::speed(UsiPlayer { startups, ..UsiPlayer::alone(engine) }))
    };
    let tasks: Vec<_> = (0..slots).map(start).collect();
    let mut rounds: Vec<f64> = vec![];
    for (at, task) in tasks.into_iter().enumerate() {
        let slot = task.await.map_err(|panicked| LookFault::of_panic(&panicked.to_string()))??;
        if at == 0 {
            rounds = slot;
        } else if slot.len() == rounds.len() {
            rounds.iter_mut().zip(slot).for_each(|(sum, nps)| *sum += nps);
        } else {
            rounds.clear();
        }
    }
    Ok(rounds.into_iter().map(|sum| sum / slots as f64).collect())
}

fn mean(rounds: &[f64]) -> Option<f64> {
    (!rounds.is_empty()).then(|| rounds.iter().sum::<f64>() / rounds.len() as f64)
}

/// Largest less smallest, as a share of the mean.
fn spread(rounds: &[f64]) -> f64 {
    let most = rounds.iter().copied().fold(f64::MIN, f64::max);
    let least = rounds.iter().copied().fold(f64::MAX, f64::min);
    mean(rounds).filter(|mean| *mean > 0.0).map_or(0.0, |mean| (most - least) / mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn speed(nps: &[Option<f64>]) -> Speed {
        Speed { nps: nps.to_vec(), spread: 0.0 }
    }

    #[test]
    fn a_machine_is_compared_by_the_engines_that_tell_their_nodes_on_both() {
        let reference = speed(&[Some(1000.0), Some(100.0), None]);
        let slow = speed(&[Some(250.0), Some(100.0), Some(7.0)]);
        assert_eq!(slow.scale(&reference).unwrap().unwrap().thousandths(), 2000);
        assert_eq!(speed(&[None, None, Some(7.0)]).scale(&reference), Ok(None));
        let ratio = speed(&[Some(100.0), None, None]).scale(&reference).unwrap_err();
        assert!((ratio - 10.0).abs() < 1e-9, "{ratio}");
    }

    #[test]
    fn the_spread_is_that_of_the_rounds() {
        assert!((spread(&[90.0, 100.0, 110.0]) - 0.2).abs() < 1e-12);
        assert_eq!((spread(&[]), mean(&[])), (0.0, None));
    }

    #[test]
    fn figures_that_no_machine_has_are_found() {
        assert!(speed(&[Some(1.0), None]).is_sound());
        for nps in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(!speed(&[Some(nps)]).is_sound(), "{nps}");
        }
    }
}
