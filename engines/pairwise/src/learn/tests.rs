use std::path::Path;

use clap::Parser;
use journal::Writer;
use notation::record::{Format, GameRecord, Ply};
use opening_book::games::{Game, GameResult, games};
use rsshogi::board::{self, Legal, Move32List, Position, STARTPOS_SFEN};
use rsshogi::movegen::generate_moves_move32;
use rsshogi::types::{Color, Move, PieceType};
use rusqlite::Connection;
use usi_shell::SplitMix64;

use super::gradient::{Gradient, Model};
use super::positions::{Sample, Selection, select};
use super::search::{MATE, Searcher};
use super::training_example::{self, SearchSettings};
use super::*;
use crate::evaluation::Weights;
use crate::evaluation::index;
use crate::evaluation::sharing::Group;

const HANDICAP: &str = "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1";

/// Whole units in every parameter, so that rounding loses nothing.
fn random_parameters(sharing: &Sharing, seed: u64, most: u64) -> Parameters {
    let mut random = SplitMix64::new(seed);
    let mut parameters = Parameters::material(sharing);
    for value in &mut parameters.values[sharing.range(Group::Material).end..] {
        *value = ((random.next_u64() % (2 * most + 1)) as f32 - most as f32) / 32.0;
    }
    parameters
}

/// A teacher with random piece-square values and a one-ply search.
fn teacher() -> Weights {
    let sharing = Sharing::new();
    let mut parameters = Parameters::material(&sharing);
    let mut random = SplitMix64::new(5);
    for value in &mut parameters.values[sharing.range(Group::Placement)] {
        *value = (random.next_u64() % 161) as f32 - 80.0;
    }
    parameters.expand(&sharing)
}

/// A game of the teacher against itself, after a few random moves.
fn taught_game(teacher: &Weights, sfen: &str, seed: u64, plies: usize) -> Game {
    let mut position = board::position_from_sfen(sfen).unwrap();
    let mut random = SplitMix64::new(seed);
    let mut game = Game { start: position.to_sfen(None), opening: 6, ..Game::default() };
    for ply in 0..plies {
        let mut legal = Move32List::new();
        generate_moves_move32::<Legal>(&position, &mut legal);
        let sums = teacher.accumulate(&position);
        let mut searcher = Searcher::new(teacher);
        let mut value = |mv| searcher.value_of(&mut position, &sums, mv, (-MATE, MATE), 1);
        let best = legal.as_slice().iter().copied().max_by_key(|&mv| value(mv));
        let chosen = if ply < game.opening { random.choose(legal.as_slice()).copied() } else { best };
        let Some(mv) = chosen else { break };
        let score = (ply >= game.opening).then(|| value(mv));
        game.moves.push((mv.to_move(), score));
        position.apply_move32(mv);
    }
    game.names = [Some("teacher".to_owned()), Some("pupil".to_owned())];
    game.result = Some(GameResult::Won(Color::BLACK));
    game
}

fn taught_games(count: u64) -> Vec<Game> {
    let teacher = teacher();
    (0..count).map(|seed| taught_game(&teacher, STARTPOS_SFEN, seed, 50)).collect()
}

fn everything() -> Selection {
    Selection { player: None, min_plies: 20, max_score: 3000, held_out: 0 }
}

#[test]
fn leaves_have_the_values_of_the_search() {
    let sharing = Sharing::new();
    let parameters = random_parameters(&sharing, 1, 400);
    let weights = parameters.expand(&sharing);
    let model = Model { weights: &weights, parameters: &parameters, sharing: &sharing };
    let mut compared = 0;
    for sample in select(&[taught_game(&teacher(), STARTPOS_SFEN, 3, 120)], &everything()).training {
        let mut position = Position::from_sfen(&sample.sfen).unwrap();
        let sums = weights.accumulate(&position);
        let root = weights.value(&sums, &position);
        let search = SearchSettings { depth: 1, window: 400 };
        let Some(choice) =
            training_example::compare(&weights, &sample, search, true).and_then(|found| found.choice)
        else {
            continue;
        };
        let mut searcher = Searcher::new(&weights);
        let mv = position.move32_from_move(sample.mv);
        let value = searcher.value_of(&mut position, &sums, mv, (-MATE, MATE), 1);
        let value_of_line = model.values(&choice)[0] + root as f32;
        assert!(
            (value_of_line - value as f32).abs() <= 2.0,
            "{value_of_line} instead of {value} after {mv} in {}",
            sample.sfen
        );
        compared += 1;
    }
    assert!(compared > 30, "{compared} are too few");
}

#[test]
fn the_gradient_is_that_of_the_values() {
    let sharing = Sharing::new();
    let samples = select(&[taught_game(&teacher(), HANDICAP, 4, 90)], &everything()).training;
    let (before, step) = (random_parameters(&sharing, 1, 300), random_parameters(&sharing, 2, 300));
    let mut after = before.clone();
    after.values.iter_mut().zip(&step.values).for_each(|(value, step)| *value += step);
    let tables = [before.expand(&sharing), after.expand(&sharing)];
    let at = |at: usize| Model { weights: &tables[at], parameters: [&before, &after][at], sharing: &sharing };
    let mut gradient = Gradient::new();
    let expected = |gradient: &mut Gradient| {
        let mut slopes = vec![0.0; sharing.parameters()];
        gradient.drain_into(&sharing, &mut slopes);
        slopes.iter().zip(&step.values).map(|(slope, step)| slope * step).sum::<f32>()
    };
    for sample in samples.iter().step_by(7) {
        let search = SearchSettings { depth: 1, window: 600 };
        let score = training_example::quiet_score(&tables[0], sample, 0.5).unwrap();
        gradient.add_score(&score, 1.0);
        let moved = at(1).value(&score) - at(0).value(&score);
        assert!((expected(&mut gradient) - moved).abs() < 0.1, "{moved}");
        let Some(choice) =
            training_example::compare(&tables[0], sample, search, true).and_then(|found| found.choice)
        else {
            continue;
        };
        let (old, new) = (at(0).values(&choice), at(1).values(&choice));
        for leaf in 0..choice.len() {
            let mut slopes = vec![0.0; choice.len()];
            slopes[leaf] = 1.0;
            gradient.add_choice(&choice, &slopes);
            let moved = new[leaf] - old[leaf];
            assert!((expected(&mut gradient) - moved).abs() < 0.1, "{moved} in {}", sample.sfen);
        }
    }
}

#[test]
fn a_search_finds_the_mate_and_sees_the_recapture() {
    let weights = Weights::material();
    let value = |sfen: &str, mv: &str| {
        let mut position = Position::from_sfen(sfen).unwrap();
        let mv = position.move32_from_move(Move::from_usi(mv).unwrap());
        let sums = weights.accumulate(&position);
        Searcher::new(&weights).value_of(&mut position, &sums, mv, (-MATE, MATE), 1)
    };
    let mate = "4k4/9/4P4/9/9/9/9/9/4K4 b G 1";
    assert_eq!(value(mate, "G*5b"), MATE);
    // The pawn is defended by a gold: capturing with the silver wins it, capturing with the rook loses the
    // rook.
    let covered = "4k4/9/3g5/3p5/4S4/9/9/3R5/4K4 b - 1";
    assert!(value(covered, "5e6d") > value(covered, "6h6d"));
}

#[test]
fn games_are_taken_as_asked() {
    let all = taught_games(3);
    let taken = select(&all, &everything());
    // The six opening moves have no player, and the last move is never used.
    assert_eq!(taken.training.len() + taken.repeated, 3 * (50 - 6 - 1));
    assert!(taken.training.windows(2).all(|pair| pair[0].sfen <= pair[1].sfen));
    let teachers = select(&all, &Selection { player: Some("teacher".to_owned()), ..everything() });
    assert!(
        teachers.training.iter().all(|sample| sample.sfen.contains(" b ") && sample.outcome == Some(1.0))
    );
    assert_eq!(teachers.training.len(), taken.training.iter().filter(|s| s.sfen.contains(" b ")).count());
    let again = select(&[all.clone(), all.clone()].concat(), &everything());
    assert_eq!(again.training, taken.training);
    let short = Game { moves: all[0].moves[..20].to_vec(), ..all[0].clone() };
    assert_eq!(select(&[short], &everything()).trivial, 1);
    let decided = select(&all, &Selection { max_score: 0, ..everything() });
    assert!(decided.training.iter().all(|sample| sample.score == Some(0)));
}

#[test]
fn training_and_held_out_games_are_disjoint() {
    let all = taught_games(40);
    let parted = select(&all, &Selection { held_out: 30, ..everything() });
    assert_eq!(parted.games[0] + parted.games[1], 40);
    assert!((4..=20).contains(&parted.games[1]), "{:?}", parted.games);
    let known = |sample: &Sample| parted.training.iter().any(|other| other.sfen == sample.sfen);
    assert!(!parted.held_out.iter().any(known));
}

#[test]
fn handicap_games_teach_too() {
    let game = taught_game(&teacher(), HANDICAP, 1, 60);
    let samples = select(&[game], &everything());
    assert!(samples.training.len() > 40);
    assert!(
        training_example::compare(
            &teacher(),
            &samples.training[9],
            SearchSettings { depth: 2, window: 400 },
            true
        )
        .is_some()
    );
}

fn trainer(samples: &[Sample], settings: &str) -> (Trainer, [f32; 2]) {
    let words = ["learn", "nowhere"].into_iter().chain(settings.split_whitespace());
    let settings = Line::parse_from(words).arguments.settings;
    let sharing = Sharing::new();
    let parameters = Parameters::material(&sharing);
    let mut trainer = Trainer::new(sharing, parameters, settings, 2);
    let before = trainer.agreement(samples, 1000).unwrap();
    for _ in 0..trainer.settings.passes {
        trainer.pass(samples, |_| ());
    }
    let after = trainer.agreement(samples, 1000).unwrap();
    (trainer, [before, after])
}

#[test]
fn a_handful_of_games_raises_agreement_on_them() {
    let samples = select(&taught_games(4), &everything()).training;
    for loss in ["sigmoid", "softmax"] {
        let settings = format!("--passes 3 --batch 50 --loss {loss}");
        let (learned, [before, after]) = trainer(&samples, &settings);
        assert!(after > before + 0.25, "{loss}: {before} {after}");
        let sum = |parameters: &Parameters| parameters.values[1..15].iter().sum::<f32>();
        let start = sum(&Parameters::material(&learned.sharing));
        assert!((sum(&learned.parameters) / start - 1.0).abs() < 1e-3);
    }
}

#[test]
fn scores_alone_teach_what_a_piece_is_worth_where() {
    let samples = select(&taught_games(8), &everything()).training;
    let (learned, _) = trainer(&samples, "--method regression --passes 2 --batch 50 --rate 10 --outcome 0");
    let error = |weights: &Weights| {
        let off = |sample: &Sample| {
            let mut position = Position::from_sfen(&sample.sfen).unwrap();
            let sums = weights.accumulate(&position);
            let value = Searcher::new(weights).quiet_value(&mut position, &sums);
            f64::from(value - sample.score.unwrap()).abs()
        };
        samples.iter().map(off).sum::<f64>() / samples.len() as f64
    };
    assert!(error(&learned.weights) < 0.7 * error(&Weights::material()));
}

#[test]
fn mirrored_and_turned_positions_stay_equal_after_learning() {
    let samples = select(&taught_games(4), &everything()).training;
    let (learned, _) = trainer(&samples, "--passes 1 --batch 50");
    for sample in samples.iter().step_by(5) {
        let position = Position::from_sfen(&sample.sfen).unwrap();
        let value =
            |position: &Position| learned.weights.value(&learned.weights.accumulate(position), position);
        assert_eq!(value(&position), value(&position.to_flipped()));
    }
    let lance =
        |square| index::board(rsshogi::types::Piece::B_LANCE, rsshogi::types::Square::from_index(square));
    assert_eq!(index::mirror(lance(8)), lance(80));
}

#[derive(clap::Parser)]
struct Line {
    #[command(flatten)]
    arguments: LearnArguments,
}

/// Writes games as USI lines and learns from them; returns the output.
fn learn(folder: &Path, options: &str) -> Result<String, Fault> {
    let path = folder.join("games.usi");
    let lines = taught_games(12).into_iter().map(|game| {
        let plies = game.moves.into_iter().map(|(mv, _)| Ply::from(mv)).collect();
        notation::record::write(&GameRecord { plies, ..GameRecord::default() }, Format::Usi).unwrap()
    });
    fs::write(&path, lines.collect::<Vec<_>>().concat()).unwrap();
    let output = folder.join("weights.kpw");
    let words = ["learn".as_ref(), path.as_os_str(), "--output".as_ref(), output.as_os_str()];
    let options = options.split_whitespace().map(AsRef::as_ref);
    let line = Line::parse_from(words.into_iter().chain(options));
    let mut out = Vec::new();
    run(&line.arguments, &mut out)?;
    Ok(String::from_utf8(out).unwrap())
}

#[test]
fn an_interrupted_run_goes_on_to_the_same_weights() {
    let (whole, parted) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let settings = "--batch 100 --updates 2 --threads 2 --held-out 25";
    let table = learn(whole.path(), &format!("{settings} --passes 2")).unwrap();
    learn(parted.path(), &format!("{settings} --passes 1")).unwrap();
    learn(parted.path(), &format!("{settings} --passes 2 --resume")).unwrap();
    let weights = |folder: &Path| fs::read(folder.join("weights.kpw")).unwrap();
    assert!(weights(whole.path()) == weights(parted.path()));
    assert!(table.lines().filter(|line| line.contains('%')).count() == 3, "{table}");
    let report = fs::read_to_string(whole.path().join("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["stages"].as_array().unwrap().len(), 3);
    assert!(report["stages"][2]["held_out"].is_number());
    let other = learn(parted.path(), &format!("{settings} --passes 2 --rate 1 --resume"));
    assert!(other.unwrap_err().to_string().contains("other settings"));
}

#[test]
fn unusable_sources_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let fault = |options: &str| learn(folder.path(), options).unwrap_err().to_string();
    assert!(fault("--player Nobody").contains("`Nobody`"));
    assert!(fault("--min-plies 500").contains("12 games"));
    assert!(fault("--resume").contains("weights.kpw.checkpoint"));
    assert!(fault("--start nowhere.kpw").contains("nowhere.kpw"));
    assert!(games(&folder.path().join("gone.db")).unwrap_err().to_string().contains("gone.db"));
    let empty = folder.path().join("empty");
    fs::create_dir(&empty).unwrap();
    assert!(games(&empty).unwrap_err().to_string().contains("no game record"));
    let foreign = folder.path().join("foreign.db");
    Connection::open(&foreign).unwrap().execute_batch("CREATE TABLE other (x)").unwrap();
    assert!(games(&foreign).unwrap_err().to_string().contains("foreign.db"));
    let lines = folder.path().join("lines.tsv");
    fs::write(&lines, "opening_plies\tending\tmoves\tscores\n0\tresign\t7g7f\n").unwrap();
    assert!(games(&lines).unwrap_err().to_string().contains("line 2"));
}

#[test]
fn games_come_out_of_a_database_with_names_scores_and_results() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("league.db");
    Writer::open(&path).unwrap();
    Connection::open(&path)
        .unwrap()
        .execute_batch(
            "INSERT INTO events VALUES (1, 'e', 'run', 0, '{}', '{}');
             INSERT INTO players VALUES (1, 0, 'one'), (1, 1, 'two');
             INSERT INTO games (id, event, number, stage, index_, attempt, round, pair, opening, black, white,
                                start, opening_moves, started_at, ended_at, result, cause, plies, replayed)
             VALUES (7, 1, 1, 0, 0, 0, 0, 0, 0, 1, 0,
                     'lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1',
                     '7g7f', 0, 1, 'white', 'resignation', 3, 0);
             INSERT INTO moves (game, ply, color, move, at, charged_ms, elapsed_us, left_ms, score_cp, mate)
             VALUES (7, 2, 1, '3c3d', 0, 0, 0, 0, 45, NULL), (7, 3, 0, '2g2f', 0, 0, 0, 0, NULL, -3);",
        )
        .unwrap();
    let [game] = &games(&path).unwrap()[..] else { panic!("one game is in it") };
    assert_eq!(game.names, [Some("two".to_owned()), Some("one".to_owned())]);
    assert_eq!((game.opening, game.result), (1, Some(GameResult::Won(Color::WHITE))));
    let scores: Vec<_> = game.moves.iter().map(|(mv, score)| (mv.to_usi(), *score)).collect();
    let expected = [("7g7f", None), ("3c3d", Some(45)), ("2g2f", Some(-opening_book::games::MATE_SCORE))];
    assert_eq!(scores, expected.map(|(mv, score)| (mv.to_owned(), score)));
}

#[test]
fn records_are_read_from_a_folder_with_scores_of_the_mover() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("deep")).unwrap();
    let csa = "V2.2\nN+black\nN-white\nPI\n+\n+7776FU\n'** 30\n-3334FU\n'** 20\n%TORYO\n";
    fs::write(folder.path().join("deep/game.csa"), csa).unwrap();
    fs::write(folder.path().join("notes.txt"), "no record").unwrap();
    let [game] = &games(folder.path()).unwrap()[..] else { panic!("one game is in it") };
    assert_eq!(game.moves.iter().map(|(_, score)| *score).collect::<Vec<_>>(), [Some(30), Some(-20)]);
    assert_eq!(game.names[0].as_deref(), Some("black"));
    assert_eq!(game.result, Some(GameResult::Won(Color::WHITE)));
}

#[test]
fn positions_of_a_training_file_all_teach() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("games.psv");
    let game = &taught_games(1)[0];
    let plies: Vec<Ply> = game.moves[..8].iter().map(|(mv, _)| Ply::from(*mv)).collect();
    let ending = Some(notation::record::Ending::Resign);
    let record = GameRecord { plies, ending, ..GameRecord::default() };
    fs::write(&path, notation::record::write(&record, Format::Psv).unwrap()).unwrap();
    let samples = select(&games(&path).unwrap(), &everything());
    assert_eq!(samples.training.len(), 8);
    assert!(samples.training.iter().all(|sample| sample.outcome.is_some()));
}

#[test]
fn a_list_of_games_is_read_with_its_random_plies_and_scores() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("games.tsv");
    let taught = taught_games(3);
    let line = |game: &Game| {
        let moves: Vec<String> = game.moves.iter().map(|(mv, _)| mv.to_usi()).collect();
        let score = |score: &Option<i32>| score.map_or("-".to_owned(), |score| score.to_string());
        let scores: Vec<String> = game.moves.iter().map(|(_, known)| score(known)).collect();
        format!("{}\tresign\t{}\t{}\n", game.opening, moves.join(" "), scores.join(" "))
    };
    let lines: String = taught.iter().map(line).collect();
    fs::write(&path, format!("opening_plies\tending\tmoves\tscores\n{lines}")).unwrap();
    let read = games(&path).unwrap();
    assert_eq!(read.len(), 3);
    for (read, taught) in read.iter().zip(&taught) {
        assert_eq!((&read.moves, read.opening), (&taught.moves, taught.opening));
    }
}

mod oracles {
    use super::*;

    #[test]
    #[ignore = "needs the oracles in ../shared/data/teacher: 202 games of one program"]
    fn the_teachers_games_can_be_read() {
        let all = games(&testing::oracle("data/teacher/gpsusi_ld4.tsv")).unwrap();
        let samples = select(&all, &Selection { max_score: 40_000, ..everything() });
        assert_eq!(all.len(), 202);
        assert!(samples.training.len() > 24_000);
        let gold = PieceType::GOLD;
        assert!(
            Position::from_sfen(&samples.training[0].sfen).unwrap().pieces_for(gold, Color::BLACK).count()
                <= 4
        );
    }
}
