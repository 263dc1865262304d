use super::*;
use crate::network::{Description, Network};
use rsshogi::{
    board::{MoveList, STARTPOS_SFEN, position_from_sfen},
    movegen::generate_legal_all,
};
use tch::{Device, Kind, Tensor, nn::VarStore};

const POSITIONS: [&str; 4] = [
    STARTPOS_SFEN,
    "ln1g3nl/1r2gks2/p1ppppb1p/6pp1/1p7/2P1P1P1P/PPSP1P3/1BG1GS1R1/LN1K3NL b Pp 31",
    "ln1g3nl/1r2gks2/p1ppppb1p/6pp1/1p7/2P1P1P1P/PPSP1P3/1BG1GS1R1/LN1K3NL w Pp 31",
    "4k4/9/4P4/9/9/9/9/9/4K4 b G 1",
];

fn description(text: &str) -> Description {
    toml::from_str(&format!("name = 'test'\nweights = 'none'\n{text}")).unwrap()
}

fn joint() -> Description {
    description(
        "features = 'joint'\n[body]\nkind = 'residual'\nblocks = 1\nfilters = 8\n[policy]\n[value]\nfilters = 2",
    )
}

/// A network whose weights are waves: libtorch's random numbers are shared by all tests that run at the same time, so
/// that a seed does not give the same weights twice.
fn network(description: &Description) -> Network {
    let store = VarStore::new(Device::Cpu);
    let network = Network::untrained(description, &store.root()).unwrap();
    let weights = store.variables().into_iter().filter(|(name, _)| name.ends_with("weight"));
    for (name, mut weight) in weights {
        let step = 0.7 + name.len() as f64 / 10.0;
        let wave = (Tensor::arange(weight.numel() as i64, (Kind::Float, Device::Cpu)) * step).sin() * 0.1;
        tch::no_grad(|| weight.copy_(&wave.reshape(weight.size())));
    }
    network
}

fn evaluator_of(network: &Network, options: &TorchOptions) -> TorchEvaluator {
    TorchEvaluator::of(network, Device::Cpu, options).unwrap()
}

fn evaluator(description: &Description, options: &TorchOptions) -> TorchEvaluator {
    evaluator_of(&network(description), options)
}

fn questions(encoding: Encoding) -> Vec<Question> {
    let question = |sfen: &&str| {
        let position = position_from_sfen(sfen).unwrap();
        let mut legal = MoveList::new();
        generate_legal_all(&position, &mut legal);
        encoding.question(&position, legal.as_slice(), 0)
    };
    POSITIONS.iter().map(question).collect()
}

fn options() -> TorchOptions {
    TorchOptions { device: DeviceChoice::Cpu, half: false, batch: 3, threads: 1, ..TorchOptions::default() }
}

fn assert_close(one: &Answer, other: &Answer) {
    assert!((one.value - other.value).abs() < 1e-5, "{} {}", one.value, other.value);
    assert_eq!(one.priors.len(), other.priors.len());
    assert!(one.priors.iter().zip(&other.priors).all(|(one, other)| (one - other).abs() < 1e-5));
}

#[test]
fn priors_are_a_distribution_over_the_questions_moves() {
    let evaluator = evaluator(&joint(), &options());
    let questions = questions(evaluator.encoding());
    let answers = evaluator.evaluate(&questions).unwrap();
    assert_eq!(answers.len(), questions.len());
    for (question, answer) in questions.iter().zip(&answers) {
        assert_eq!(answer.priors.len(), question.labels.len());
        assert!((answer.priors.iter().sum::<f32>() - 1.0).abs() < 1e-4);
        assert!(answer.priors.iter().all(|prior| (0.0..=1.0).contains(prior)));
        assert!((0.0..=1.0).contains(&answer.value));
    }
    assert_ne!(answers[0].value, answers[1].value);
    assert_eq!(evaluator.kind(), "torch cpu f32");
}

#[test]
fn bfloat16_on_the_cpu_gives_nearly_the_same_outputs() {
    let network = network(&joint());
    let full = evaluator_of(&network, &options());
    let half = evaluator_of(&network, &TorchOptions { half: true, ..options() });
    if half.kind() == full.kind() {
        eprintln!("skipped: this processor does not multiply bfloat16");
        return;
    }
    assert_eq!(half.kind(), "torch cpu bf16");
    let questions = questions(full.encoding());
    for (one, other) in full.evaluate(&questions).unwrap().iter().zip(half.evaluate(&questions).unwrap()) {
        assert!((one.value - other.value).abs() < 0.02, "{} {}", one.value, other.value);
        assert!(one.priors.iter().zip(&other.priors).all(|(one, other)| (one - other).abs() < 0.02));
    }
}

#[test]
fn an_evaluation_does_not_depend_on_its_batch() {
    let evaluator = evaluator(&joint(), &options());
    let questions = questions(evaluator.encoding());
    let together = evaluator.evaluate(&questions).unwrap();
    for (question, answer) in questions.iter().zip(&together) {
        let alone = evaluator.evaluate(std::slice::from_ref(question)).unwrap();
        assert_close(&alone[0], answer);
    }
    assert!(evaluator.evaluate(&[]).unwrap().is_empty());
}

#[test]
fn concurrent_callers_all_get_their_evaluations() {
    let evaluator = evaluator(&joint(), &TorchOptions { lanes: 2, ..options() });
    let questions = questions(evaluator.encoding());
    let expected = evaluator.evaluate(&questions).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..5 {
                    let answers = evaluator.evaluate(&questions).unwrap();
                    answers.iter().zip(&expected).for_each(|(one, other)| assert_close(one, other));
                }
            });
        }
    });
}

#[test]
fn missing_heads_give_uniform_priors_and_the_value_one_half() {
    let body = "[body]\nkind = 'plain'\nconvolutions = 2\nfilters = 4";
    let value = evaluator(&description(&format!("features = 'nene'\n{body}\n[value]")), &options());
    let answer = &value.evaluate(&questions(value.encoding())).unwrap()[0];
    assert!(answer.priors.iter().all(|&prior| prior == answer.priors[0]) && answer.value != 0.5);
    let text =
        format!("features = 'optim'\nlabels = 'kind-and-square'\n{body}\n[policy]\nfully-connected = true");
    let policy = evaluator(&description(&text), &options());
    let answer = &policy.evaluate(&questions(policy.encoding())).unwrap()[0];
    assert!(answer.priors.iter().any(|&prior| prior != answer.priors[0]) && answer.value == 0.5);
}

#[test]
fn a_higher_temperature_makes_priors_more_alike() {
    let highest = |temperature| {
        let evaluator = evaluator(&joint(), &TorchOptions { temperature, ..options() });
        let answers = evaluator.evaluate(&questions(evaluator.encoding())).unwrap();
        answers[0].priors.iter().copied().fold(0.0, f32::max)
    };
    assert!(highest(0.3) > highest(1.0) && highest(1.0) > highest(5.0));
}

#[test]
fn a_question_in_another_encoding_is_refused() {
    let evaluator = evaluator(&joint(), &options());
    let other = Encoding { features: Features::Nene, labels: Labels::Directional };
    let message = evaluator.evaluate(&questions(other)).unwrap_err().to_string();
    assert!(message.contains("bytes of planes"), "{message}");
    let mut question = questions(evaluator.encoding()).remove(0);
    question.labels[0] = 2187;
    assert!(evaluator.evaluate(&[question]).unwrap_err().to_string().contains("label 2187"));
}

#[test]
fn device_names_survive_a_round_trip() {
    assert_eq!("cuda:3".parse::<DeviceChoice>().unwrap(), DeviceChoice::Cuda(3));
    assert_eq!("auto".parse::<DeviceChoice>().unwrap(), DeviceChoice::Auto);
    assert!("gpu".parse::<DeviceChoice>().unwrap_err().to_string().contains("`gpu`"));
    let absent = DeviceChoice::Cuda(4_000).find().unwrap_err().to_string();
    assert!(absent.contains("cuda:4000"), "{absent}");
}

#[test]
fn the_uniform_evaluator_returns_constants() {
    let evaluator = UniformEvaluator::new(16);
    let answers = evaluator.evaluate(&questions(evaluator.encoding())).unwrap();
    assert_eq!(answers[0], Answer { priors: vec![1.0 / 30.0; 30], value: 0.5 });
    assert_eq!((evaluator.batch(), evaluator.kind()), (16, "uniform"));
}
