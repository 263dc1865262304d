//! Networks: a description in TOML, and a weight file in the same directory.
//!
//! ```toml
//! name = "small"
//! features = "joint"            # input planes: joint | nene | optim
//! labels = "directional"        # policy labels: directional (2,187) | kind-and-square (1,134)
//! weights = "small.safetensors" # relative to this file
//! [body]
//! kind = "residual"             # residual | plain
//! blocks = 6
//! convolutions = 2              # per block
//! filters = 64
//! [policy]                      # omit a head that the network lacks
//! fully-connected = false       # another layer over all labels
//! [value]
//! filters = 8                   # of a preceding 1x1 convolution; 0: none
//! hidden = 64                   # units of the layer before the last; 0: none
//! ```

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

/// The description of a network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Description {
    /// Its name, for reports.
    pub name: String,
    /// The input planes.
    pub features: Features,
    /// The policy labels; unused without a policy.
    #[serde(default = "directional")]
    pub labels: Labels,
    /// The weight file, relative to the description.
    pub weights: PathBuf,
    /// The layers before the heads.
    pub body: Body,
    /// The policy head, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<Policy>,
    /// The value head, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
}

/// The layers before the heads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", deny_unknown_fields, rename_all = "kebab-case")]
pub enum Body {
    /// A 3x3 convolution, then residual blocks of 3x3 convolutions with a skip connection each.
    Residual {
        /// Number of blocks.
        blocks: usize,
        /// Convolutions per block.
        #[serde(default = "two")]
        convolutions: usize,
        /// Filters per convolution.
        filters: i64,
    },
    /// A sequence of 3x3 convolutions.
    Plain {
        /// Number of convolutions.
        convolutions: usize,
        /// Filters per convolution.
        filters: i64,
    },
}

/// The policy head: a 1x1 convolution to one plane per way to reach a square, with a bias per label.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Policy {
    /// True if a fully connected layer from all labels to all labels follows.
    pub fully_connected: bool,
}

/// The value head.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Value {
    /// Filters of a preceding 1x1 convolution; 0 for none.
    pub filters: i64,
    /// Units of a fully connected layer before the last; 0 for none.
    pub hidden: i64,
}

const fn directional() -> Labels {
    Labels::Directional
}

const fn two() -> usize {
    2
}

/// Why a network cannot be loaded or built.
#[derive(Debug, thiserror::Error)]
pub enum NetworkError {
    /// A file could not be read or written.
    #[error("network file `{}`: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The description is not valid TOML or has an unknown key.
    #[error("network description `{}`: {source}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// The error, with its line.
        source: toml::de::Error,
    },
    /// The description has invalid values.
    #[error("network `{name}`: {reason}")]
    Impossible {
        /// The network.
        name: String,
        /// The reason.
        reason: String,
    },
    /// The weights do not fit the description.
    #[error("{0}")]
    Weights(String),
    /// libtorch failed.
    #[error("network `{name}`: {}", message(source))]
    Torch {
        /// The network or the file.
        name: String,
        /// The error of libtorch.
        source: tch::TchError,
    },
}

impl Description {
    /// Reads and checks a description file. The path of the weights becomes relative to the working directory.
    ///
    /// # Errors
    /// When it cannot be read, has an unknown key, or describes an impossible network.
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

    /// Writes a description file whose weights are in the same directory.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), NetworkError> {
        let weights = self.weights.file_name().map(PathBuf::from).unwrap_or_default();
        let text = toml::to_string(&Self { weights, ..self.clone() })
            .map_err(|fault| self.impossible(fault.to_string()))?;
        fs::write(path, text).map_err(|source| NetworkError::File { path: path.to_owned(), source })
    }

    /// Checks the sizes of the layers.
    ///
    /// # Errors
    /// When one is out of range.
    pub fn check(&self) -> Result<(), NetworkError> {
        if self.policy.is_none() && self.value.is_none() {
            return Err(self.impossible("it has neither [policy] nor [value], so it answers nothing"));
        }
        let (layers, filters) = match self.body {
            Body::Residual { blocks, convolutions, filters } => {
                (blocks.saturating_mul(convolutions), filters)
            }
            Body::Plain { convolutions, filters } => (convolutions, filters),
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

    fn failed(&self, source: tch::TchError) -> NetworkError {
        NetworkError::Torch { name: self.name.clone(), source }
    }

    fn impossible(&self, reason: impl Into<String>) -> NetworkError {
        NetworkError::Impossible { name: self.name.clone(), reason: reason.into() }
    }
}

/// The message of a libtorch error without its stack trace.
pub(crate) fn message(fault: &tch::TchError) -> String {
    let whole = fault.to_string();
    let end = whole.find("\nException raised from").unwrap_or(whole.len());
    whole[..end].trim_end().to_owned()
}

#[cfg(test)]
mod tests;
