//! A network: a description in TOML, and beside it the file of its weights.
//!
//! ```toml
//! name = "small"
//! features = "joint"            # what it sees: joint | nene | optim
//! labels = "directional"        # its names for moves: directional (2,187) | kind-and-square (1,134)
//! weights = "small.safetensors" # beside this file
//! [body]
//! kind = "residual"             # residual | plain | torch-script
//! blocks = 6
//! convolutions = 2              # in a block
//! filters = 64
//! [policy]                      # leave out what the network does not answer
//! fully-connected = false       # a further layer over all labels
//! [value]
//! filters = 8                   # of the 1x1 convolution before it; 0: none
//! hidden = 64                   # numbers in the layer before the last; 0: none
//! ```
//!
//! A body of kind `torch-script` is a module of someone else, weights and all: it gets planes `[batch, planes, 9, 9]`
//! and returns the policy's logits, the value, or both in this order; `value.output` says whether the value is a
//! `logit` or a `probability` already.

mod build;
mod layers;
pub(crate) mod weights;

use crate::{labels::Labels, planes::Features};
use serde::{Deserialize, Serialize};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

pub use build::{Network, Outputs, outside};

/// What a description file says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Description {
    /// Its name, for reports.
    pub name: String,
    /// The planes that it sees.
    pub features: Features,
    /// Its names for moves; of no consequence without a policy.
    #[serde(default = "directional")]
    pub labels: Labels,
    /// The file of its weights, relative to the description.
    pub weights: PathBuf,
    /// What all its answers have in common.
    pub body: Body,
    /// Its answer about moves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<Policy>,
    /// Its answer about winning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
}

/// The layers before the heads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", deny_unknown_fields, rename_all = "kebab-case")]
pub enum Body {
    /// A 3x3 convolution and then blocks of 3x3 convolutions, each block's input added to its output.
    Residual {
        /// How many blocks.
        blocks: usize,
        /// Convolutions in a block.
        #[serde(default = "two")]
        convolutions: usize,
        /// Filters of each convolution.
        filters: i64,
    },
    /// 3x3 convolutions one after the other.
    Plain {
        /// How many.
        convolutions: usize,
        /// Filters of each.
        filters: i64,
    },
    /// A module of someone else, heads included.
    TorchScript,
}

/// The policy head: a 1x1 convolution to one plane for each way to reach a square, a bias for each label.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Policy {
    /// Whether a fully connected layer from all labels to all labels follows.
    pub fully_connected: bool,
}

/// The value head.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Value {
    /// Filters of a 1x1 convolution before it; 0: none, the body's planes are used.
    pub filters: i64,
    /// Numbers in a fully connected layer before the last; 0: none.
    pub hidden: i64,
    /// What a module of someone else returns.
    pub output: ValueOutput,
}

/// The scale of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ValueOutput {
    /// The logarithm of the odds.
    #[default]
    Logit,
    /// 0 to 1.
    Probability,
}

const fn directional() -> Labels {
    Labels::Directional
}

const fn two() -> usize {
    2
}

/// Why a network cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum NetworkError {
    /// A file could not be read or written.
    #[error("network file `{}`: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The description is none.
    #[error("network description `{}`: {source}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Where and why.
        source: toml::de::Error,
    },
    /// What the description says makes no network.
    #[error("network `{name}`: {reason}")]
    Impossible {
        /// The network.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// The weights have no tensor that the description calls for.
    #[error("weights `{}` lack the tensor `{name}` of the description", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// The tensor.
        name: String,
    },
    /// The weights have a tensor that the description does not call for.
    #[error("weights `{}` have a tensor `{name}`, which the description lacks", path.display())]
    Unknown {
        /// The file.
        path: PathBuf,
        /// The tensor.
        name: String,
    },
    /// A tensor of the weights has another shape than the description gives it.
    #[error("tensor `{name}` of `{}` has shape {found:?} instead of {wanted:?}", path.display())]
    Shape {
        /// The file.
        path: PathBuf,
        /// The tensor.
        name: String,
        /// Its shape in the file.
        found: Vec<i64>,
        /// Its shape by the description.
        wanted: Vec<i64>,
    },
    /// libtorch said no.
    #[error("network `{name}`: {}", message(source))]
    Torch {
        /// The network or the file.
        name: String,
        /// What it said.
        source: tch::TchError,
    },
}

impl Description {
    /// Reads a description file and checks that it describes something. The path of its weights comes out relative to
    /// the working directory.
    ///
    /// # Errors
    /// When it cannot be read, has a key that means nothing, or describes what cannot be built.
    pub fn read(path: &Path) -> Result<Self, NetworkError> {
        let text = fs::read_to_string(path)
            .map_err(|source| NetworkError::File { path: path.to_owned(), source })?;
        Self::parse(&text, path)
    }

    fn parse(text: &str, path: &Path) -> Result<Self, NetworkError> {
        let mut description: Self =
            toml::from_str(text).map_err(|source| NetworkError::Syntax { path: path.to_owned(), source })?;
        description.check()?;
        description.weights = path.parent().unwrap_or(Path::new("")).join(&description.weights);
        Ok(description)
    }

    /// Writes a description file whose weights lie beside it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), NetworkError> {
        let weights = self.weights.file_name().map(PathBuf::from).unwrap_or_default();
        let text = toml::to_string(&Self { weights, ..self.clone() })
            .map_err(|fault| self.impossible(fault.to_string()))?;
        fs::write(path, text).map_err(|source| NetworkError::File { path: path.to_owned(), source })
    }

    /// Whether its layers have sizes that can be built.
    ///
    /// # Errors
    /// When they have not.
    pub fn check(&self) -> Result<(), NetworkError> {
        if self.policy.is_none() && self.value.is_none() {
            return Err(self.impossible("it has neither [policy] nor [value], so it answers nothing"));
        }
        let (layers, filters) = match self.body {
            Body::Residual { blocks, convolutions, filters } => {
                (blocks.saturating_mul(convolutions), filters)
            }
            Body::Plain { convolutions, filters } => (convolutions, filters),
            Body::TorchScript => (1, 1),
        };
        if !(1..=400).contains(&layers) {
            return Err(self.impossible(format!("the body has {layers} convolutions; 1 to 400 are allowed")));
        }
        if !(1..=2048).contains(&filters) {
            return Err(self.impossible(format!("body.filters is {filters}; 1 to 2048 are allowed")));
        }
        let value = self.value.clone().unwrap_or_default();
        if !(0..=2048).contains(&value.filters) || !(0..=65536).contains(&value.hidden) {
            return Err(self.impossible("value.filters is to be 0 to 2048, value.hidden 0 to 65536"));
        }
        Ok(())
    }

    fn impossible(&self, reason: impl Into<String>) -> NetworkError {
        NetworkError::Impossible { name: self.name.clone(), reason: reason.into() }
    }
}

/// What libtorch says of a fault, without the list of its functions that were running.
pub(crate) fn message(fault: &tch::TchError) -> String {
    let whole = fault.to_string();
    let end = whole.find("\nException raised from").unwrap_or(whole.len());
    whole[..end].trim_end().to_owned()
}

#[cfg(test)]
mod tests;
