//! From a description to a network that computes.

use super::{
    Body, Description, NetworkError, Policy, Value,
    layers::{Connected, Convolution, Labelled},
    weights,
};
use std::path::Path;
use tch::{Device, Kind, TchError, Tensor, nn};

/// Embedded, so that the program works from any directory.
const SHIPPED: &str = include_str!("../../weights/small.toml");
const SHIPPED_WEIGHTS: &[u8] = include_bytes!("../../weights/small.safetensors");

/// A network, for training or inference.
#[derive(Debug)]
pub struct Network {
    description: Description,
    stem: Convolution,
    blocks: Vec<Vec<Convolution>>,
    policy: Option<PolicyHead>,
    value: Option<ValueHead>,
}

/// Outputs of a network for a batch.
#[derive(Debug)]
pub struct Outputs {
    /// `[batch, labels]`: logits.
    pub policy: Option<Tensor>,
    /// `[batch]`: logit of the win probability of the side to move.
    pub value: Option<Tensor>,
}

#[derive(Debug)]
struct PolicyHead {
    labelled: Labelled,
    connected: Option<Connected>,
}

#[derive(Debug)]
struct ValueHead {
    convolution: Option<Convolution>,
    hidden: Option<Connected>,
    last: Connected,
}

/// Float type of everything but the body, for a body of type `body`: bfloat16, with 8 significant bits, is too
/// coarse for the outputs.
pub const fn outside(body: Kind) -> Kind {
    match body {
        Kind::BFloat16 => Kind::Float,
        kind => kind,
    }
}

impl Network {
    /// An untrained network by its description, its weights in `root`.
    ///
    /// # Errors
    /// When the description is invalid, or libtorch fails.
    pub fn untrained(description: &Description, root: &nn::Path) -> Result<Self, NetworkError> {
        description.check()?;
        Self::random(description.clone(), root).map_err(|source| description.failed(source))
    }

    /// Loads the network of a description file, or the embedded one, with its weights, for inference: batch normalisation
    /// is folded into the weights, numbers have the type `kind`; bfloat16 is for the body only.
    ///
    /// # Errors
    /// When a file is missing or the weights do not fit the description.
    pub fn load(path: Option<&Path>, device: Device, kind: Kind) -> Result<Self, NetworkError> {
        let description =
            path.map_or_else(|| Description::parse(SHIPPED, Path::new("small.toml")), Description::read)?;
        let mut store = nn::VarStore::new(device);
        let network = Self::untrained(&description, &store.root())?;
        match path {
            Some(_) => weights::read(&mut store, &description.weights)?,
            None => weights::fill(&mut store, SHIPPED_WEIGHTS, &description.weights)?,
        }
        network.for_use(kind)
    }

    fn random(description: Description, root: &nn::Path) -> Result<Self, TchError> {
        let (blocks, convolutions, filters) = match description.body {
            Body::Residual { blocks, convolutions, filters } => (blocks, convolutions, filters),
            Body::Plain { convolutions, filters } => (convolutions - 1, 1, filters),
        };
        let planes = description.features.planes() as i64;
        let block = |block: usize| {
            let path = root / "blocks" / block;
            (0..convolutions).map(|nth| Convolution::new(&(&path / nth), filters, filters, 3)).collect()
        };
        let ways = description.labels.ways() as i64;
        let policy = |policy: &Policy| PolicyHead::new(policy, &(root / "policy"), filters, ways);
        let value = |value: &Value| ValueHead::new(value, &(root / "value"), filters);
        Ok(Self {
            stem: Convolution::new(&(root / "stem"), planes, filters, 3)?,
            blocks: (0..blocks).map(block).collect::<Result<_, _>>()?,
            policy: description.policy.as_ref().map(policy).transpose()?,
            value: description.value.as_ref().map(value).transpose()?,
            description,
        })
    }

    /// Its description.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// A copy for inference, with batch normalisation folded into the weights.
    ///
    /// # Errors
    /// When libtorch fails.
    pub fn for_use(&self, kind: Kind) -> Result<Self, NetworkError> {
        tch::no_grad(|| self.fused(kind)).map_err(|source| self.description.failed(source))
    }

    /// Within the body, activations stay in the memory layout of the kernels.
    fn fused(&self, body: Kind) -> Result<Self, TchError> {
        let kind = outside(body);
        let fused = |layer: &Convolution| match layer.fused(kind)? {
            layer if layer.can_be_packed() => layer.packed(body),
            layer if layer.wants_channels_last() => layer.channels_last(),
            layer => Ok(layer),
        };
        let block = |block: &Vec<Convolution>| block.iter().map(fused).collect();
        Ok(Self {
            description: self.description.clone(),
            stem: fused(&self.stem)?,
            blocks: self.blocks.iter().map(block).collect::<Result<_, _>>()?,
            policy: self.policy.as_ref().map(|head| head.fused(kind)),
            value: self.value.as_ref().map(|head| head.fused(kind)).transpose()?,
        })
    }

    /// Computes the outputs for planes `[batch, planes, 9, 9]`. In training, batch normalisation uses the
    /// statistics of the batch and updates the running ones. For bfloat16 planes the body is computed in
    /// bfloat16, whatever the type of its weights.
    ///
    /// # Errors
    /// When libtorch fails.
    pub fn forward(&self, planes: &Tensor, train: bool) -> Result<Outputs, TchError> {
        let packed = self.stem.is_packed();
        let planes = if packed { planes.f_to_mkldnn(self.stem.kind())? } else { planes.shallow_clone() };
        let mut planes = self.stem.forward(&planes, train)?.f_relu_()?;
        for block in &self.blocks {
            planes = self.through(block, planes, train)?;
        }
        let planes = if packed { planes.f_to_dense(Kind::Float, false)? } else { planes };
        let planes = planes.f_to_kind(outside(planes.kind()))?;
        Ok(Outputs {
            policy: self.policy.as_ref().map(|head| head.forward(&planes)).transpose()?,
            value: self.value.as_ref().map(|head| head.forward(&planes, train)).transpose()?,
        })
    }

    /// Through a block; in a residual body its input is added to its output.
    fn through(&self, block: &[Convolution], input: Tensor, train: bool) -> Result<Tensor, TchError> {
        let residual = matches!(self.description.body, Body::Residual { .. });
        let mut planes = input.shallow_clone();
        for (nth, convolution) in block.iter().enumerate() {
            planes = convolution.forward(&planes, train)?;
            if residual && nth + 1 == block.len() {
                planes = planes.f_add_(&input)?;
            }
            planes = planes.f_relu_()?;
        }
        Ok(planes)
    }
}

impl PolicyHead {
    fn new(head: &Policy, path: &nn::Path, filters: i64, ways: i64) -> Result<Self, TchError> {
        let connected = head
            .fully_connected
            .then(|| Connected::new(&(path / "connected"), ways * 81, ways * 81))
            .transpose()?;
        Ok(Self { labelled: Labelled::new(path, filters, ways)?, connected })
    }

    fn forward(&self, planes: &Tensor) -> Result<Tensor, TchError> {
        let mut logits = self.labelled.forward(planes)?;
        match &self.connected {
            Some(connected) => connected.forward(&logits.f_relu_()?),
            None => Ok(logits),
        }
    }

    fn fused(&self, kind: Kind) -> Self {
        let connected = self.connected.as_ref().map(|layer| layer.fused(kind));
        Self { labelled: self.labelled.fused(kind), connected }
    }
}

impl ValueHead {
    fn new(head: &Value, path: &nn::Path, filters: i64) -> Result<Self, TchError> {
        let convolution = (head.filters > 0)
            .then(|| Convolution::new(&(path / "convolution"), filters, head.filters, 1))
            .transpose()?;
        let flat = 81 * if head.filters > 0 { head.filters } else { filters };
        let hidden =
            (head.hidden > 0).then(|| Connected::new(&(path / "hidden"), flat, head.hidden)).transpose()?;
        let before = if head.hidden > 0 { head.hidden } else { flat };
        Ok(Self { convolution, hidden, last: Connected::new(&(path / "last"), before, 1)? })
    }

    fn forward(&self, planes: &Tensor, train: bool) -> Result<Tensor, TchError> {
        let planes = match &self.convolution {
            Some(convolution) => convolution.forward(planes, train)?.f_relu_()?,
            None => planes.shallow_clone(),
        };
        let mut numbers = planes.f_flatten(1, 3)?;
        if let Some(hidden) = &self.hidden {
            numbers = hidden.forward(&numbers)?.f_relu_()?;
        }
        self.last.forward(&numbers)?.f_squeeze_dim(1)
    }

    fn fused(&self, kind: Kind) -> Result<Self, TchError> {
        Ok(Self {
            convolution: self.convolution.as_ref().map(|layer| layer.fused(kind)).transpose()?,
            hidden: self.hidden.as_ref().map(|layer| layer.fused(kind)),
            last: self.last.fused(kind),
        })
    }
}
