//! Checkpoints of a training.

use super::{Report, average::Average, optimizer::AdamW};
use crate::network::weights;
use anyhow::{Result, anyhow, bail};
use std::{
    collections::HashMap,
    fmt, fs, io,
    path::{Path, PathBuf},
};
use tch::{Kind, Tensor, nn::VarStore};

/// The files of a training in its directory.
#[derive(Clone, Debug)]
pub(super) struct Directory(PathBuf);

impl Directory {
    /// Uses a directory, which is created if missing.
    pub(super) fn new(directory: &Path) -> Result<Self> {
        fs::create_dir_all(directory).map_err(|fault| file(directory, &fault))?;
        Ok(Self(directory.to_owned()))
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The report of a training begun in this directory.
    pub(super) fn begun(&self) -> Result<Option<Report>> {
        let path = self.file("report.json");
        if !path.exists() || !self.file("checkpoint.safetensors").exists() {
            return Ok(None);
        }
        let text = fs::read_to_string(&path).map_err(|fault| file(&path, &fault))?;
        serde_json::from_str(&text).map(Some).map_err(|fault| other(&path, fault))
    }

    /// Writes weights, optimiser and report, each atomically. The report, which has the number of steps, comes
    /// last.
    pub(super) fn save(
        &self,
        store: &VarStore,
        average: Option<&Average>,
        optimizer: &AdamW,
        report: &Report,
    ) -> Result<()> {
        let weights =
            named("weight", store).chain(average.into_iter().flat_map(|a| named("average", a.store())));
        let step = ("step".to_owned(), Tensor::from(report.steps as i64).view([1]));
        let tensors =
            weights.chain(optimizer.state()).map(|(name, t)| (name, weights::for_file(&t, Kind::Float)));
        let tensors: Vec<_> = tensors.chain([step]).collect();
        weights::write_tensors(&tensors, &self.file("checkpoint.safetensors"))?;
        self.write("report.json", &(serde_json::to_string_pretty(report).unwrap_or_default() + "\n"))
    }

    pub(super) fn write(&self, name: &str, text: &str) -> Result<()> {
        let (path, unfinished) = (self.file(name), self.file(&format!("{name}.unfinished")));
        fs::write(&unfinished, text)
            .and_then(|()| fs::rename(&unfinished, &path))
            .map_err(|fault| file(&path, &fault))
    }

    /// Restores weights and optimiser; returns the number of their steps.
    pub(super) fn restore(
        &self,
        store: &VarStore,
        average: Option<&Average>,
        optimizer: &AdamW,
    ) -> Result<usize> {
        let path = self.file("checkpoint.safetensors");
        let mut found: HashMap<String, Tensor> = Tensor::read_safetensors(&path)?.into_iter().collect();
        let mut fill = |name: &str, tensor: &mut Tensor| match found.remove(name) {
            Some(saved) if saved.size() == tensor.size() => Ok(tch::no_grad(|| tensor.f_copy_(&saved))?),
            _ => bail!(other(&path, format_args!("no `{name}` of the same shape"))),
        };
        let averages = average.into_iter().flat_map(|average| named("average", average.store()));
        for (name, mut tensor) in named("weight", store).chain(averages).chain(optimizer.state()) {
            fill(&name, &mut tensor)?;
        }
        let mut step = Tensor::zeros([1], (Kind::Int64, tch::Device::Cpu));
        fill("step", &mut step)?;
        Ok(usize::try_from(step.int64_value(&[0])).unwrap_or(0))
    }
}

fn file(path: &Path, fault: &io::Error) -> anyhow::Error {
    anyhow!("file `{}`: {fault}", path.display())
}

/// The checkpoint belongs to another training.
pub(super) fn other(path: &Path, reason: impl fmt::Display) -> anyhow::Error {
    anyhow!("checkpoint `{}` does not belong to this training: {reason}", path.display())
}

/// The tensors of a store under a prefix.
fn named(prefix: &'static str, store: &VarStore) -> impl Iterator<Item = (String, Tensor)> + use<> {
    weights::sorted(store).into_iter().map(move |(name, tensor)| (format!("{prefix}/{name}"), tensor))
}
