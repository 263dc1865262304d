//! From a description to a network that computes.

use super::{
    Body, Description, NetworkError, Policy, Value, ValueOutput,
    layers::{Connected, Convolution, Labelled},
    onnx::Graph,
    weights,
};
use std::{path::Path, sync::Arc};
use tch::{CModule, Device, IValue, Kind, TchError, Tensor, nn};

/// Embedded, so that the program works from any directory.
const SHIPPED: &str = include_str!("../../weights/small.toml");
const SHIPPED_WEIGHTS: &[u8] = include_bytes!("../../weights/small.safetensors");

/// A network, for training or inference.
#[derive(Debug)]
pub struct Network {
    description: Description,
    layers: Layers,
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
enum Layers {
    Ours(Box<Ours>),
    Module(Arc<CModule>),
}

#[derive(Debug)]
struct Ours {
    stem: Convolution,
    /// In a residual body, each block's input is added to its output.
    blocks: Vec<Vec<Convolution>>,
    residual: bool,
    policy: Option<PolicyHead>,
    value: Option<ValueHead>,
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
    /// When the description is invalid, or its body is a TorchScript module, which has no untrained state.
    pub fn untrained(description: &Description, root: &nn::Path) -> Result<Self, NetworkError> {
        description.check()?;
        let ours = Ours::new(description, root)
            .map_err(|source| NetworkError::Torch { name: description.name.clone(), source })?
            .ok_or_else(|| description.impossible("a torch-script module cannot be built or trained here"))?;
        Ok(Self { description: description.clone(), layers: Layers::Ours(Box::new(ours)) })
    }

    /// Loads the network of a description file, or the embedded one, with its weights, for inference: batch normalisation
    /// is folded into the weights, numbers have the type `kind`; bfloat16 is for the body only, and not for TorchScript
    /// modules.
    ///
    /// # Errors
    /// When a file is missing or the weights do not fit the description.
    pub fn load(path: Option<&Path>, device: Device, kind: Kind) -> Result<Self, NetworkError> {
        let description = Description::of(path)?;
        if description.body == Body::TorchScript {
            return Self::module(description, device, kind);
        }
        Self::learned(description, path.is_some(), device)?.for_use(kind)
    }

    /// The network of a description file, or the embedded one, as an ONNX file: 32-bit floats, batch normalisation folded into
    /// the weights; the input `planes`, the outputs `policy` (logits of the labels) and `value` (win probability of the side to
    /// move), as far as it has them.
    ///
    /// # Errors
    /// As [`load`](Self::load); and for a TorchScript module, whose layers are not known here.
    pub fn onnx(path: Option<&Path>) -> Result<Vec<u8>, NetworkError> {
        let network = Self::learned(Description::of(path)?, path.is_some(), Device::Cpu)?;
        let description = &network.description;
        let Layers::Ours(ours) = &network.layers else {
            return Err(description.impossible("a torch-script module cannot be exported"));
        };
        let ours = tch::no_grad(|| ours.folded(Kind::Float, Ok));
        let ours = ours.map_err(|source| NetworkError::Torch { name: description.name.clone(), source })?;
        ours.export(description)
    }

    /// A network of our own layers with its weights, from its file or embedded.
    fn learned(description: Description, file: bool, device: Device) -> Result<Self, NetworkError> {
        if description.body == Body::TorchScript {
            return Err(description.impossible("the layers of a torch-script module are not known here"));
        }
        let mut store = nn::VarStore::new(device);
        let network = Self::untrained(&description, &store.root())?;
        if file {
            weights::read(&mut store, &description.weights)?;
        } else {
            weights::fill(&mut store, SHIPPED_WEIGHTS, &description.weights)?;
        }
        Ok(network)
    }

    fn module(description: Description, device: Device, kind: Kind) -> Result<Self, NetworkError> {
        let path = description.weights.clone();
        weights::exists(&path)?;
        let failed = |source| NetworkError::Torch { name: path.display().to_string(), source };
        let mut module = CModule::load_on_device(&path, device).map_err(failed)?;
        module.f_set_eval().map_err(failed)?;
        module.to(device, outside(kind), false);
        Ok(Self { description, layers: Layers::Module(Arc::new(module)) })
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
        let layers = match &self.layers {
            Layers::Module(module) => Ok(Layers::Module(Arc::clone(module))),
            Layers::Ours(ours) => tch::no_grad(|| ours.fused(kind)).map(|ours| Layers::Ours(Box::new(ours))),
        };
        let layers =
            layers.map_err(|source| NetworkError::Torch { name: self.description.name.clone(), source })?;
        Ok(Self { description: self.description.clone(), layers })
    }

    /// Computes the outputs for planes `[batch, planes, 9, 9]`. In training, batch normalisation uses the
    /// statistics of the batch and updates the running ones. For bfloat16 planes the body is computed in
    /// bfloat16, whatever the type of its weights.
    ///
    /// # Errors
    /// When libtorch fails.
    pub fn forward(&self, planes: &Tensor, train: bool) -> Result<Outputs, TchError> {
        match &self.layers {
            Layers::Ours(ours) => ours.forward(planes, train),
            Layers::Module(module) => ask(module, &self.description, planes),
        }
    }
}

impl Description {
    /// The description in a file, or the embedded one.
    fn of(path: Option<&Path>) -> Result<Self, NetworkError> {
        path.map_or_else(|| Self::parse(SHIPPED, Path::new("small.toml")), Self::read)
    }
}

impl Ours {
    fn new(description: &Description, root: &nn::Path) -> Result<Option<Self>, TchError> {
        let (blocks, convolutions, filters, residual) = match description.body {
            Body::Residual { blocks, convolutions, filters } => (blocks, convolutions, filters, true),
            Body::Plain { convolutions, filters } => (convolutions - 1, 1, filters, false),
            Body::TorchScript => return Ok(None),
        };
        let planes = description.features.planes() as i64;
        let block = |block: usize| {
            let path = root / "blocks" / block;
            (0..convolutions).map(|nth| Convolution::new(&(&path / nth), filters, filters, 3)).collect()
        };
        let ways = description.labels.ways() as i64;
        let policy = |policy: &Policy| PolicyHead::new(policy, &(root / "policy"), filters, ways);
        let value = |value: &Value| ValueHead::new(value, &(root / "value"), filters);
        Ok(Some(Self {
            stem: Convolution::new(&(root / "stem"), planes, filters, 3)?,
            blocks: (0..blocks).map(block).collect::<Result<_, _>>()?,
            residual,
            policy: description.policy.as_ref().map(policy).transpose()?,
            value: description.value.as_ref().map(value).transpose()?,
        }))
    }

    fn forward(&self, planes: &Tensor, train: bool) -> Result<Outputs, TchError> {
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

    fn through(&self, block: &[Convolution], input: Tensor, train: bool) -> Result<Tensor, TchError> {
        let mut planes = input.shallow_clone();
        for (nth, convolution) in block.iter().enumerate() {
            planes = convolution.forward(&planes, train)?;
            if self.residual && nth + 1 == block.len() {
                planes = planes.f_add_(&input)?;
            }
            planes = planes.f_relu_()?;
        }
        Ok(planes)
    }

    fn fused(&self, body: Kind) -> Result<Self, TchError> {
        // Within the body, activations stay in the memory layout of the kernels.
        self.folded(outside(body), |layer| match layer {
            layer if layer.can_be_packed() => layer.packed(body),
            layer if layer.wants_channels_last() => layer.channels_last(),
            layer => Ok(layer),
        })
    }

    /// A copy whose batch normalisation is folded into the weights, with the layers of its body laid out by `lay`.
    fn folded(
        &self,
        kind: Kind,
        lay: impl Fn(Convolution) -> Result<Convolution, TchError>,
    ) -> Result<Self, TchError> {
        let fused = |layer: &Convolution| lay(layer.fused(kind)?);
        let block = |block: &Vec<Convolution>| block.iter().map(fused).collect();
        Ok(Self {
            stem: fused(&self.stem)?,
            blocks: self.blocks.iter().map(block).collect::<Result<_, _>>()?,
            residual: self.residual,
            policy: self.policy.as_ref().map(|head| head.fused(kind)),
            value: self.value.as_ref().map(|head| head.fused(kind)).transpose()?,
        })
    }
}

/// As ONNX; the names are those of outputs of layers.
impl Ours {
    fn export(&self, description: &Description) -> Result<Vec<u8>, NetworkError> {
        let mut graph = Graph::default();
        let stem = graph.convolution("planes", &self.stem)?;
        let mut planes = graph.plain("Relu", &[&stem]);
        for block in &self.blocks {
            let input = planes.clone();
            for (nth, convolution) in block.iter().enumerate() {
                planes = graph.convolution(&planes, convolution)?;
                if self.residual && nth + 1 == block.len() {
                    planes = graph.plain("Add", &[&planes, &input]);
                }
                planes = graph.plain("Relu", &[&planes]);
            }
        }
        if let Some(head) = &self.policy {
            let logits = head.export(&mut graph, &planes)?;
            graph.output(&logits, "policy", Some(description.labels.count() as i64));
        }
        if let Some(head) = &self.value {
            let value = head.export(&mut graph, &planes)?;
            graph.output(&value, "value", None);
        }
        let text = description.text()?;
        Ok(graph.file(&description.name, description.features.planes() as i64, &[("renmei", &text)]))
    }
}

impl PolicyHead {
    fn export(&self, graph: &mut Graph, planes: &str) -> Result<String, NetworkError> {
        let logits = graph.labelled(planes, &self.labelled)?;
        match &self.connected {
            Some(connected) => {
                let logits = graph.plain("Relu", &[&logits]);
                graph.connected(&logits, connected)
            }
            None => Ok(logits),
        }
    }

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
    fn export(&self, graph: &mut Graph, planes: &str) -> Result<String, NetworkError> {
        let mut numbers = planes.to_owned();
        if let Some(convolution) = &self.convolution {
            numbers = graph.convolution(&numbers, convolution)?;
            numbers = graph.plain("Relu", &[&numbers]);
        }
        numbers = graph.plain("Flatten", &[&numbers]);
        if let Some(hidden) = &self.hidden {
            numbers = graph.connected(&numbers, hidden)?;
            numbers = graph.plain("Relu", &[&numbers]);
        }
        numbers = graph.connected(&numbers, &self.last)?;
        numbers = graph.plain("Sigmoid", &[&numbers]);
        Ok(graph.last_axis(&numbers))
    }

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

/// Outputs of a TorchScript module: those in the description, policy first.
fn ask(module: &CModule, description: &Description, planes: &Tensor) -> Result<Outputs, TchError> {
    // A copy: a module may change its input, and the planes are a buffer that is used again.
    let mut answers = match module.forward_is(&[IValue::Tensor(planes.copy())])? {
        IValue::Tensor(one) => vec![one],
        IValue::Tuple(values) => values.into_iter().map(Tensor::try_from).collect::<Result<_, _>>()?,
        IValue::TensorList(list) => list,
        other => return Err(TchError::Kind(format!("the module returned {other:?}, not tensors"))),
    }
    .into_iter();
    let mut next = |what: &str| {
        answers.next().ok_or_else(|| TchError::Kind(format!("the module returned no tensor for [{what}]")))
    };
    let batch = planes.size()[0];
    let policy = match &description.policy {
        Some(_) => Some(next("policy")?.f_reshape([batch, description.labels.count() as i64])?),
        None => None,
    };
    let value = match &description.value {
        Some(head) => Some(as_logit(&next("value")?.f_reshape([batch])?, head.output)?),
        None => None,
    };
    Ok(Outputs { policy, value })
}

fn as_logit(value: &Tensor, output: ValueOutput) -> Result<Tensor, TchError> {
    match output {
        ValueOutput::Logit => Ok(value.shallow_clone()),
        ValueOutput::Probability => value.to_kind(Kind::Float).f_logit(1e-6),
    }
}
