use super::*;
use crate::network::weights;
use std::fs;
use tch::{Device, Kind, Tensor, nn::VarStore};
use tempfile::TempDir;

const SMALL: &str = "
    name = 'small'
    features = 'joint'
    weights = 'small.safetensors'
    [body]
    kind = 'residual'
    blocks = 2
    filters = 8
    [policy]
    [value]
    filters = 2
    hidden = 16
";

fn described(text: &str) -> (TempDir, PathBuf) {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("network.toml");
    fs::write(&path, text).unwrap();
    (place, path)
}

fn fault(text: &str) -> String {
    let (_place, path) = described(text);
    Network::load(Some(&path), Device::Cpu, Kind::Float).unwrap_err().to_string()
}

/// A network with random weights, and input planes.
fn untrained(path: &Path) -> (VarStore, Network, Tensor) {
    tch::manual_seed(3);
    let description = Description::read(path).unwrap();
    let store = VarStore::new(Device::Cpu);
    let network = Network::untrained(&description, &store.root()).unwrap();
    let planes = Tensor::rand([3, description.features.planes() as i64, 9, 9], (Kind::Float, Device::Cpu));
    (store, network, planes)
}

#[test]
fn each_network_has_the_outputs_of_its_description() {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("networks");
    let mut tried = 0;
    for file in fs::read_dir(shipped).unwrap() {
        let path = file.unwrap().path();
        let (_store, network, planes) = untrained(&path);
        let outputs = network.forward(&planes, false).unwrap();
        let (policy, value) = (&network.description().policy, &network.description().value);
        let labels = network.description().labels.count() as i64;
        assert_eq!(outputs.policy.map(|logits| logits.size()), policy.as_ref().map(|_| vec![3, labels]));
        assert_eq!(outputs.value.map(|logits| logits.size()), value.as_ref().map(|_| vec![3]));
        tried += 1;
    }
    assert!(tried >= 4, "{tried}");
}

#[test]
fn the_networks_have_as_many_convolutions_as_the_originals() {
    let convolutions = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("networks").join(name);
        let (store, ..) = untrained(&path);
        store.variables().values().filter(|tensor| tensor.dim() == 4 && tensor.size()[2] == 3).count()
    };
    assert_eq!([convolutions("nene.toml"), convolutions("optim.toml")], [13, 12]);
}

#[test]
fn weights_survive_a_round_trip_in_16_and_32_bits() {
    let (place, path) = described(SMALL);
    let (store, network, planes) = untrained(&path);
    // Running statistics that folding has to respect.
    let _trained = network.forward(&planes, true).unwrap();
    let before = network.forward(&planes, false).unwrap();
    for (kind, tolerance) in [(Kind::Float, 1e-4), (Kind::Half, 3e-2)] {
        weights::write(&store, &place.path().join("small.safetensors"), kind).unwrap();
        let loaded = Network::load(Some(&path), Device::Cpu, Kind::Float).unwrap();
        let after = loaded.forward(&planes, false).unwrap();
        for (one, other) in [(&before.policy, &after.policy), (&before.value, &after.value)] {
            let distance = (one.as_ref().unwrap() - other.as_ref().unwrap()).abs().max().double_value(&[]);
            assert!(distance < tolerance, "{kind:?}: {distance}");
        }
    }
}

#[test]
fn a_faulty_description_is_reported_with_its_place() {
    assert!(fault(&SMALL.replace("blocks", "bloks")).contains("bloks"));
    assert!(fault(&SMALL.replace("'joint'", "'joined'")).contains("joined"));
    assert!(fault(&SMALL.replace("filters = 8", "filters = 0")).contains("body.filters is 0"));
    assert!(fault(&SMALL.replace("blocks = 2", "blocks = 0")).contains("0 convolutions"));
    assert!(fault("name = 'x'\nfeatures = 'nene'\nweights = 'w'\n[body]\nkind = 'plain'\nconvolutions = 1\nfilters = 1")
        .contains("answers nothing"));
    let missing = Description::read(Path::new("nowhere.toml")).unwrap_err().to_string();
    assert!(missing.contains("nowhere.toml"), "{missing}");
}

#[test]
fn weights_that_do_not_fit_are_named() {
    let (place, path) = described(SMALL);
    let message = |path: &Path| Network::load(Some(path), Device::Cpu, Kind::Float).unwrap_err().to_string();
    assert!(message(&path).contains("small.safetensors"), "no file: {}", message(&path));
    let file = place.path().join("small.safetensors");
    fs::write(&file, "not safe tensors").unwrap();
    assert!(message(&path).contains("small.safetensors"));
    let (store, ..) = untrained(&path);
    let mut tensors = weights::sorted(&store);
    let (name, _) = tensors.remove(0);
    weights::write_tensors(&tensors, &file).unwrap();
    assert!(message(&path).contains(&format!("no tensor `{name}`")), "{}", message(&path));
    tensors.push((name.clone(), Tensor::zeros([5, 5], (Kind::Float, Device::Cpu))));
    weights::write_tensors(&tensors, &file).unwrap();
    assert!(message(&path).contains("shape [5, 5]") && message(&path).contains(&name), "{}", message(&path));
    let mut tensors = weights::sorted(&store);
    tensors.push(("stranger".to_owned(), Tensor::from(1.0)));
    weights::write_tensors(&tensors, &file).unwrap();
    assert!(message(&path).contains("a tensor `stranger`"), "{}", message(&path));
}
