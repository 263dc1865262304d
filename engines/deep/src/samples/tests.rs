use super::*;
use rsshogi::{board::STARTPOS_SFEN, types::Color};

fn game(moves: &str, result: Option<GameResult>) -> GameRecord {
    let moves = moves.split_ascii_whitespace().map(|mv| (mv.parse().unwrap(), Some(100))).collect();
    GameRecord { start: STARTPOS_SFEN.to_owned(), moves, result, ..GameRecord::default() }
}

fn corpus(games: &[GameRecord]) -> Corpus {
    let mut corpus = Corpus::default();
    games.iter().for_each(|game| corpus.add(game, "here"));
    corpus
}

#[test]
fn points_are_the_movers() {
    let corpus = corpus(&[game("7g7f 3c3d 2g2f", Some(GameResult::Won(Color::BLACK)))]);
    let points: Vec<_> = corpus.samples.iter().map(|sample| sample.half_points).collect();
    assert_eq!(points, [Some(2), Some(0), Some(2)]);
    assert_eq!(corpus.games, 1);
}

#[test]
fn samples_count_earlier_occurrences() {
    let shuffle = "3i4h 3a4b 4h3i 4b3a ".repeat(3);
    let corpus = corpus(&[game(&shuffle, Some(GameResult::Drawn))]);
    let seen: Vec<_> = corpus.samples.iter().map(|sample| sample.seen).collect();
    assert_eq!(seen, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]);
}

#[test]
fn a_game_with_an_illegal_move_is_counted_and_left_out() {
    let corpus = corpus(&[game("7g7f 7g7f", None), game("7g7f", None)]);
    assert_eq!((corpus.games, corpus.broken, corpus.samples.len()), (1, 1, 1));
}

#[test]
fn opening_moves_are_not_learned() {
    let mut game = game("7g7f 3c3d 2g2f", None);
    game.opening = 1;
    let corpus = corpus(&[game]);
    assert_eq!(corpus.samples.len(), 2);
    assert_eq!(corpus.samples[0].mv.to_usi(), "3c3d");
}

#[test]
fn the_held_out_set_is_disjoint_from_the_training_set() {
    let firsts = ["7g7f", "2g2f", "5g5f", "9g9f", "1g1f", "3i4h", "6i7h", "6i6h", "8g8f", "3g3f"];
    let games: Vec<GameRecord> = firsts
        .iter()
        .flat_map(|one| firsts.map(|_| one))
        .enumerate()
        .map(|(n, first)| {
            let reply =
                ["3c3d", "8c8d", "5c5d", "9c9d", "1c1d", "3a4b", "4a3b", "6a5b", "7c7d", "2c2d"][n % 10];
            game(&format!("{first} {reply} 4i3h"), Some(GameResult::Drawn))
        })
        .collect();
    let split = corpus(&games).split(30);
    assert!(!split.training.is_empty() && !split.held_out.is_empty());
    assert_eq!(split.training.len() + split.held_out.len() + split.duplicates, 300);
    for held_out in &split.held_out {
        assert!(split.training.iter().all(|training| training.position.data != held_out.position.data));
        assert!(split.training.iter().all(|training| training.game != held_out.game));
    }
    let first_moves = split.training.iter().filter(|one| one.mv.to_usi() == "7g7f").count();
    assert!(first_moves <= 1, "the first position comes once with each move");
}

#[test]
fn a_target_mixes_result_and_score() {
    let sample =
        |score, half_points| Sample { score, half_points, ..corpus(&[game("7g7f", None)]).samples[0] };
    assert_eq!(sample(Some(0), Some(2)).target(0.5), Some(0.75));
    assert_eq!(sample(None, Some(0)).target(0.5), Some(0.0));
    assert_eq!(sample(None, None).target(0.5), None);
    let scored = sample(Some(600), None).target(0.9).unwrap();
    assert!((scored - 0.731_058_6).abs() < 1e-6, "{scored}");
}
