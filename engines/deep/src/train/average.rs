//! The average of a network's weights over the last steps of its training, which is better than the weights of the last
//! step: single steps follow single batches.

use crate::network::{Description, Network, weights};
use tch::{TchError, Tensor, nn::VarStore};

/// A network whose weights follow those of another one slowly.
#[derive(Debug)]
pub(super) struct Average {
    store: VarStore,
    network: Network,
    steps: usize,
    /// Each tensor of the average with the one that it follows.
    pairs: Vec<(Tensor, Tensor)>,
}

impl Average {
    /// An average that reaches back some `steps` steps (an exponential one), and begins with the weights in `from`.
    pub(super) fn new(description: &Description, from: &VarStore, steps: usize) -> anyhow::Result<Self> {
        let store = VarStore::new(from.device());
        let network = Network::untrained(description, &store.root())?;
        let tensors = |store| weights::sorted(store).into_iter().map(|(_, tensor)| tensor);
        let pairs = tensors(&store).zip(tensors(from)).collect();
        let mut average = Self { store, network, steps, pairs };
        average.each(|mine, theirs| mine.f_copy_(theirs).map(drop))?;
        Ok(average)
    }

    /// Follows the weights after a step, from 0. In the beginning the average is short, so that it forgets the start.
    pub(super) fn follow(&mut self, step: usize) -> Result<(), TchError> {
        let share = (1.0 / self.steps.max(1) as f64).max(2.0 / (step as f64 + 3.0));
        self.each(|mine, theirs| mine.f_lerp_(theirs, share).map(drop))
    }

    fn each(
        &mut self,
        change: impl Fn(&mut Tensor, &Tensor) -> Result<(), TchError>,
    ) -> Result<(), TchError> {
        tch::no_grad(|| self.pairs.iter_mut().try_for_each(|(mine, theirs)| change(mine, theirs)))
    }

    /// The network with the average weights.
    pub(super) const fn network(&self) -> &Network {
        &self.network
    }

    /// Its weights.
    pub(super) const fn store(&self) -> &VarStore {
        &self.store
    }
}
