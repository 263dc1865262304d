//! Networks as ONNX files, so that other programs can compute them.
//!
//! ONNX is a message of Protocol Buffers (github.com/onnx/onnx, `onnx.proto`, operator set 17). What is written here needs
//! six of its messages, so the wire format is written directly: a key (field number and wire type), then a number or a
//! length with so many bytes.

use super::{
    NetworkError,
    layers::{Connected, Convolution, Labelled},
};
use tch::{Kind, Tensor};

/// Version of the file format, and of the operators.
const FORMAT: u64 = 8;
const OPERATORS: u64 = 17;
/// Types of tensors (`TensorProto.DataType`), and of attributes: a number, and a list of them.
const FLOAT: u64 = 1;
const INT64: u64 = 7;
const INT: u64 = 2;
const INTS: u64 = 7;

/// A message of Protocol Buffers.
#[derive(Debug, Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    fn number(mut self, field: u64, number: u64) -> Self {
        self.varint(field << 3);
        self.varint(number);
        self
    }

    fn bytes(mut self, field: u64, bytes: &[u8]) -> Self {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    fn text(self, field: u64, text: &str) -> Self {
        self.bytes(field, text.as_bytes())
    }

    fn message(self, field: u64, message: &Self) -> Self {
        self.bytes(field, &message.0)
    }
}

/// A graph under construction. Layers are added in the order of their computation; each gives the name of its output.
#[derive(Debug, Default)]
pub(super) struct Graph {
    fields: Message,
    made: usize,
}

impl Graph {
    /// A fused convolution.
    pub(super) fn convolution(&mut self, from: &str, layer: &Convolution) -> Result<String, NetworkError> {
        let (weight, bias) = layer.parts();
        let padding = weight.size()[2] as u64 / 2;
        let mut inputs = vec![from.to_owned(), self.constant(weight)?];
        if let Some(bias) = bias {
            inputs.push(self.constant(bias)?);
        }
        Ok(self.node("Conv", &inputs, &[("pads", &[padding; 4])]))
    }

    /// The policy's convolution with a bias for each label.
    pub(super) fn labelled(&mut self, from: &str, layer: &Labelled) -> Result<String, NetworkError> {
        let (weight, bias) = layer.parts();
        let weight = self.constant(weight)?;
        let planes = self.node("Conv", &[from.to_owned(), weight], &[]);
        let flat = self.node("Flatten", &[planes], &[]);
        let bias = self.constant(bias)?;
        Ok(self.node("Add", &[flat, bias], &[]))
    }

    /// A fully connected layer.
    pub(super) fn connected(&mut self, from: &str, layer: &Connected) -> Result<String, NetworkError> {
        let (weight, bias) = layer.parts();
        let inputs = [from.to_owned(), self.constant(weight)?, self.constant(bias)?];
        let turned = Message::default().text(1, "transB").number(3, 1).number(20, INT);
        Ok(self.node_with("Gemm", &inputs, &[turned]))
    }

    /// An operator without attributes.
    pub(super) fn plain(&mut self, operator: &str, inputs: &[&str]) -> String {
        let inputs: Vec<String> = inputs.iter().map(|&input| input.to_owned()).collect();
        self.node(operator, &inputs, &[])
    }

    /// `[batch, 1]` as `[batch]`.
    pub(super) fn last_axis(&mut self, from: &str) -> String {
        let axis =
            Message::default().number(1, 1).number(2, INT64).text(8, "axis").bytes(9, &1_i64.to_le_bytes());
        self.add(5, &axis);
        self.node("Squeeze", &[from.to_owned(), "axis".to_owned()], &[])
    }

    /// Names an output of the network, `[batch, size]`, or `[batch]` without a size.
    pub(super) fn output(&mut self, from: &str, name: &str, size: Option<i64>) {
        let node = Message::default().text(1, from).text(2, name).text(4, "Identity");
        self.add(1, &node);
        let shape = size.into_iter().collect::<Vec<_>>();
        self.add(12, &value(name, &shape));
    }

    /// The file: the graph with the input `planes`, `[batch, planes, 9, 9]`, and remarks by key.
    pub(super) fn file(mut self, name: &str, planes: i64, remarks: &[(&str, &str)]) -> Vec<u8> {
        self.add(11, &value("planes", &[planes, 9, 9]));
        let graph = Message(self.fields.0).text(2, name);
        let mut model = Message::default()
            .number(1, FORMAT)
            .text(2, "renmei-deep")
            .text(3, env!("CARGO_PKG_VERSION"))
            .message(7, &graph)
            .message(8, &Message::default().text(1, "").number(2, OPERATORS));
        for (key, words) in remarks {
            model = model.message(14, &Message::default().text(1, key).text(2, words));
        }
        model.0
    }

    fn add(&mut self, field: u64, message: &Message) {
        self.fields = std::mem::take(&mut self.fields).message(field, message);
    }

    fn name(&mut self) -> String {
        self.made += 1;
        format!("t{}", self.made)
    }

    /// Stores the numbers of a layer.
    fn constant(&mut self, tensor: &Tensor) -> Result<String, NetworkError> {
        let name = self.name();
        let failed = |source| NetworkError::Torch { name: name.clone(), source };
        let flat = tensor.f_to_kind(Kind::Float).and_then(|tensor| tensor.f_contiguous()).map_err(failed)?;
        let numbers = Vec::<f32>::try_from(flat.flatten(0, -1)).map_err(failed)?;
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let mut message = Message::default();
        for size in tensor.size() {
            message = message.number(1, size as u64);
        }
        let message = message.number(2, FLOAT).text(8, &name).bytes(9, &bytes);
        self.add(5, &message);
        Ok(name)
    }

    fn node(&mut self, operator: &str, inputs: &[String], lists: &[(&str, &[u64])]) -> String {
        let attribute = |&(name, numbers): &(&str, &[u64])| {
            let list = numbers.iter().fold(Message::default().text(1, name), |list, &n| list.number(8, n));
            list.number(20, INTS)
        };
        let attributes: Vec<Message> = lists.iter().map(attribute).collect();
        self.node_with(operator, inputs, &attributes)
    }

    fn node_with(&mut self, operator: &str, inputs: &[String], attributes: &[Message]) -> String {
        let output = self.name();
        let node = inputs.iter().fold(Message::default(), |node, input| node.text(1, input));
        let node = node.text(2, &output).text(4, operator);
        let node = attributes.iter().fold(node, |node, attribute| node.message(5, attribute));
        self.add(1, &node);
        output
    }
}

/// An input or output: floats, the batch first.
fn value(name: &str, shape: &[i64]) -> Message {
    let batch = Message::default().text(2, "batch");
    let sizes = shape.iter().map(|&size| Message::default().number(1, size as u64));
    let shape = std::iter::once(batch).chain(sizes);
    let shape = shape.fold(Message::default(), |shape, size| shape.message(1, &size));
    let tensor = Message::default().number(1, FLOAT).message(2, &shape);
    Message::default().text(1, name).message(2, &Message::default().message(1, &tensor))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::Network;
    use std::{collections::HashMap, path::Path};
    use tch::Device;

    /// A field of a message: its number, a number or its length, and its bytes.
    type Field<'a> = (u64, u64, &'a [u8]);

    /// The fields of a message, in order.
    fn fields(mut bytes: &[u8]) -> Vec<Field<'_>> {
        let varint = |bytes: &mut &[u8]| {
            let mut number = 0;
            for shift in (0..).step_by(7) {
                let (first, rest) = bytes.split_first().unwrap();
                *bytes = rest;
                number |= u64::from(first & 0x7f) << shift;
                if first & 0x80 == 0 {
                    break;
                }
            }
            number
        };
        let mut found = Vec::new();
        while !bytes.is_empty() {
            let (key, number) = (varint(&mut bytes), varint(&mut bytes));
            let length = if key & 7 == 2 { number as usize } else { 0 };
            let (inside, rest) = bytes.split_at(length);
            bytes = rest;
            found.push((key >> 3, number, inside));
        }
        found
    }

    fn text(bytes: &[u8]) -> String {
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    fn texts(message: &[u8], field: u64) -> Vec<String> {
        fields(message).iter().filter(|it| it.0 == field).map(|it| text(it.2)).collect()
    }

    fn numbers(bytes: &[u8], shape: &[i64]) -> Tensor {
        let numbers: Vec<f32> =
            bytes.chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().unwrap())).collect();
        Tensor::from_slice(&numbers).view(shape)
    }

    /// Computes the outputs of a file, as a program of somebody else would.
    fn computed(file: &[u8], planes: &Tensor) -> HashMap<String, Tensor> {
        let graph = fields(file).into_iter().find(|it| it.0 == 7).unwrap().2;
        let mut known = HashMap::from([("planes".to_owned(), planes.shallow_clone())]);
        for (field, _, message) in fields(graph) {
            if field == 5 {
                let parts = fields(message);
                let shape: Vec<i64> = parts.iter().filter(|it| it.0 == 1).map(|it| it.1 as i64).collect();
                let bytes = parts.iter().find(|it| it.0 == 9).unwrap().2;
                if parts.iter().any(|it| it.0 == 2 && it.1 == FLOAT) {
                    known.insert(texts(message, 8).remove(0), numbers(bytes, &shape));
                }
            }
        }
        for (_, _, node) in fields(graph).into_iter().filter(|it| it.0 == 1) {
            let inputs = texts(node, 1);
            let input = |nth: usize| &known[&inputs[nth]];
            let pads = fields(node)
                .into_iter()
                .find(|it| it.0 == 5)
                .and_then(|it| fields(it.2).into_iter().find(|it| it.0 == 8).map(|it| it.1 as i64));
            let output = match texts(node, 4)[0].as_str() {
                "Conv" => {
                    let bias = (inputs.len() > 2).then(|| input(2));
                    input(0).conv2d(input(1), bias, 1, pads.unwrap_or(0), 1, 1)
                }
                "Gemm" => input(0).linear(input(1), Some(input(2))),
                "Relu" => input(0).relu(),
                "Add" => input(0) + input(1),
                "Flatten" => input(0).flatten(1, -1),
                "Sigmoid" => input(0).sigmoid(),
                "Squeeze" => input(0).squeeze_dim(1),
                "Identity" => input(0).shallow_clone(),
                other => panic!("{other}"),
            };
            known.insert(texts(node, 2).remove(0), output);
        }
        known
    }

    fn near(one: &Tensor, other: &Tensor) -> bool {
        one.size() == other.size() && one.allclose(other, 1e-3, 1e-4, false)
    }

    #[test]
    fn an_exported_network_computes_what_ours_does() {
        let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("weights/small.toml");
        let file = Network::onnx(Some(&shipped)).unwrap();
        assert!(file == Network::onnx(None).unwrap(), "the embedded network is that of the file");
        let network = Network::load(Some(&shipped), Device::Cpu, Kind::Float).unwrap();
        let planes = Tensor::rand([3, 95, 9, 9], (Kind::Float, Device::Cpu)).gt(0.8).to_kind(Kind::Float);
        let ours = network.forward(&planes, false).unwrap();
        let theirs = computed(&file, &planes);
        assert!(near(&theirs["policy"], &ours.policy.unwrap()));
        assert!(near(&theirs["value"], &ours.value.unwrap().sigmoid()));
        let graph = fields(&file).into_iter().find(|it| it.0 == 7).unwrap().2;
        let names =
            |field| fields(graph).into_iter().filter(move |it| it.0 == field).map(|it| texts(it.2, 1));
        assert_eq!(names(11).chain(names(12)).flatten().collect::<Vec<_>>(), ["planes", "policy", "value"]);
        let remark = fields(&file).into_iter().find(|it| it.0 == 14).unwrap().2;
        assert!(texts(remark, 2)[0].contains("features = \"joint\""));
    }
}
