//! A small training from games to a network that plays.
#![allow(clippy::unwrap_used)] // tests, helpers included

use renmei_deep::{
    evaluator::{DeviceChoice, Evaluator, TorchEvaluator, TorchOptions},
    train::{AccuracyOptions, Corpus, Loss, Report, Session, Source, TrainOptions, load, measure_file},
};
use rsshogi::{board::MoveList, movegen::generate_legal_all};
use std::{fs, path::Path};
use tempfile::TempDir;
use usi_shell::{Game, SplitMix64};

/// Games in which both players choose the first legal move by label, sometimes a random one, and Black wins.
fn games(place: &Path, count: u64) -> Corpus {
    let mut text = String::from("opening_plies\tending\tmoves\tscores\n");
    for seed in 0..count {
        let (mut game, mut rng) = (Game::startpos(), SplitMix64::new(seed));
        for ply in 0..30 {
            let mut legal = MoveList::new();
            generate_legal_all(game.position(), &mut legal);
            let wanders = ply < 6 || rng.next_u64().is_multiple_of(4);
            let Some(mv) = (if wanders { rng.choose(legal.as_slice()) } else { legal.as_slice().first() })
            else {
                break;
            };
            game.play(&mv.to_usi()).unwrap();
        }
        let moves: Vec<String> = game.moves().iter().map(|mv| mv.to_usi()).collect();
        let ending = if moves.len().is_multiple_of(2) { "win" } else { "resign" };
        text += &format!("0\t{ending}\t{}\t{}\n", moves.join(" "), vec!["-"; moves.len()].join(" "));
    }
    let path = place.join("games.tsv");
    fs::write(&path, text).unwrap();
    load(&[Source::Games(path)]).unwrap()
}

fn options(out: &Path, steps: usize) -> TrainOptions {
    let network = "name = 'tiny'\nfeatures = 'joint'\nweights = 'tiny.safetensors'\n[body]\nkind = 'residual'\n\
                   blocks = 1\nfilters = 16\n[policy]\n[value]\nfilters = 2\nhidden = 8";
    let description = out.join("wanted.toml");
    fs::write(&description, network).unwrap();
    TrainOptions {
        network: description,
        sources: vec![],
        shares: vec![],
        out: out.to_owned(),
        batch: 64,
        steps,
        seconds: None,
        rate: 0.01,
        warm_up: 5,
        decay: 0.01,
        blend: 1.0,
        loss: Loss::Legal,
        held_out: 20,
        seed: 5,
        device: DeviceChoice::Cpu,
        half: true,
        every: 20,
        exam: 200,
        threads: 1,
        from: None,
        average: 0,
    }
}

fn exam() -> AccuracyOptions {
    let torch = TorchOptions { device: DeviceChoice::Cpu, ..TorchOptions::default() };
    AccuracyOptions { torch, held_out: 20, most: 2000 }
}

fn trained(steps: usize) -> (TempDir, Report) {
    let place = tempfile::tempdir().unwrap();
    let corpus = games(place.path(), 60);
    let report = Session::begin(options(place.path(), steps), corpus).unwrap().run().unwrap();
    (place, report)
}

#[test]
fn training_improves_and_writes_network_and_report() {
    let (place, report) = trained(80);
    let (first, last) = (&report.exams.first().unwrap().1, &report.exams.last().unwrap().1);
    let (before, after) = (first.policy.unwrap(), last.policy.unwrap());
    assert!(after.top1 > before.top1 + 0.1, "{} {}", before.top1, after.top1);
    assert!(after.loss < before.loss && after.top5 >= after.top1);
    let (before, after) = (first.value.unwrap(), last.value.unwrap());
    assert!(after.error < before.error, "{} {}", before.error, after.error);
    let kept: Report =
        serde_json::from_str(&fs::read_to_string(place.path().join("report.json")).unwrap()).unwrap();
    assert_eq!(kept.steps, 80);
    assert!(kept.positions > 0 && kept.held_out > 0 && kept.games == 60);
    let network = place.path().join("tiny.toml");
    let asked = measure_file(&network, games(place.path(), 60), &exam()).unwrap();
    assert_eq!(asked.positions, last.positions);
    let (one, other) = (asked.policy.unwrap().loss, last.policy.unwrap().loss);
    assert!((one - other).abs() < 0.02, "{asked} {other}");
    let options = TorchOptions { device: DeviceChoice::Cpu, ..TorchOptions::default() };
    let evaluator = TorchEvaluator::open(Some(&network), &options).unwrap();
    let mut legal = MoveList::new();
    let game = Game::startpos();
    generate_legal_all(game.position(), &mut legal);
    let question = evaluator.encoding().question(game.position(), legal.as_slice(), 0);
    assert_eq!(evaluator.evaluate(&[question]).unwrap()[0].priors.len(), 30);
}

#[test]
fn a_training_resumes_from_its_checkpoint() {
    let (place, first) = trained(20);
    let corpus = games(place.path(), 60);
    let second = Session::begin(options(place.path(), 45), corpus.clone()).unwrap().run().unwrap();
    assert_eq!((first.steps, second.steps), (20, 45));
    assert_eq!(second.marks[..first.marks.len()], first.marks[..]);
    assert_eq!(second.exams.iter().filter(|(step, _)| *step == 0).count(), 1);
    let other = TrainOptions { batch: 32, ..options(place.path(), 60) };
    let message = Session::begin(other, corpus).unwrap_err().to_string();
    assert!(message.contains("does not belong to this training"), "{message}");
}

#[test]
fn a_training_begins_with_the_weights_of_another_network() {
    let (place, first) = trained(80);
    let (other, corpus) = (tempfile::tempdir().unwrap(), games(place.path(), 60));
    let from = Some(place.path().join("tiny.toml"));
    let begun = TrainOptions { from: from.clone(), ..options(other.path(), 1) };
    let second = Session::begin(begun, corpus.clone()).unwrap().run().unwrap();
    let loss = |exam: &(usize, renmei_deep::train::Accuracy)| exam.1.policy.unwrap().loss;
    let (start, end, fresh) =
        (loss(&second.exams[0]), loss(first.exams.last().unwrap()), loss(&first.exams[0]));
    assert!((start - end).abs() < (fresh - end) / 4.0, "{start} {end} {fresh}");
    assert!(second.options.from.unwrap().ends_with("tiny.toml"));
    let out = tempfile::tempdir().unwrap();
    let begun = TrainOptions { from, ..options(out.path(), 1) };
    let wider = fs::read_to_string(&begun.network).unwrap().replace("filters = 16", "filters = 24");
    fs::write(&begun.network, wider).unwrap();
    let message = Session::begin(begun, corpus).unwrap_err().to_string();
    assert!(message.contains("instead of [24"), "{message}");
}

/// The results of these games are known by the first position, which lines of play would make a draw.
#[test]
fn lines_of_play_teach_the_policy_and_leave_the_value_alone() {
    let place = tempfile::tempdir().unwrap();
    let mut corpus = games(place.path(), 60);
    let from = Session::begin(options(place.path(), 80), corpus.clone()).unwrap().run().unwrap();
    corpus.samples.iter_mut().for_each(|sample| (sample.half_points, sample.score) = (None, None));
    let out = tempfile::tempdir().unwrap();
    let begun = TrainOptions { from: Some(place.path().join("tiny.toml")), ..options(out.path(), 40) };
    let report = Session::begin(begun, corpus).unwrap().run().unwrap();
    assert!(report.marks.iter().all(|mark| mark.value == 0.0 && mark.policy > 0.0));
    let after = measure_file(&out.path().join("tiny.toml"), games(place.path(), 60), &exam()).unwrap();
    let error = |accuracy: &renmei_deep::train::Accuracy| accuracy.value.unwrap().error;
    let (taught, after) = (error(&from.exams.last().unwrap().1), error(&after));
    assert!((after - taught).abs() < 0.1, "{taught} {after}");
}

#[test]
fn the_average_of_the_weights_is_measured_written_and_resumed() {
    let place = tempfile::tempdir().unwrap();
    let corpus = games(place.path(), 60);
    let averaged = |steps| TrainOptions { average: 10, ..options(place.path(), steps) };
    Session::begin(averaged(40), corpus.clone()).unwrap().run().unwrap();
    let report = Session::begin(averaged(80), corpus.clone()).unwrap().run().unwrap();
    assert_eq!((report.steps, report.options.average), (80, 10));
    let written = measure_file(&place.path().join("tiny.toml"), corpus.clone(), &exam()).unwrap();
    let (one, other) = (written.policy.unwrap().loss, report.exams.last().unwrap().1.policy.unwrap().loss);
    assert!((one - other).abs() < 0.02, "{one} {other}");
    assert!(other < report.exams[0].1.policy.unwrap().loss);
    let message = Session::begin(options(place.path(), 90), corpus).unwrap_err().to_string();
    assert!(message.contains("average are others"), "{message}");
}

#[test]
fn too_few_games_are_refused() {
    let place = tempfile::tempdir().unwrap();
    let message = Session::begin(options(place.path(), 5), Corpus::default()).unwrap_err().to_string();
    assert!(message.contains("too few"), "{message}");
}
