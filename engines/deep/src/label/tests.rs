use super::*;
use crate::train::{Source, load};
use std::{fs, path::Path};
use tempfile::TempDir;

/// An engine that plays 3c3d or 2g2f if legal, with the score 77, and logs each position.
const ENGINE: &str = r#"while read -r line; do
  case "$line" in
    usi) echo usiok ;;
    isready) echo readyok ;;
    position*) echo "$line" >> "$(dirname "$0")/asked" ; last="$line" ;;
    go*) echo "info depth 1 score cp 77 pv 7g7f"
         case "$last" in *" w "*) echo "bestmove 3c3d" ;; *) echo "bestmove $1" ;; esac ;;
  esac
done
"#;

fn place(games: &str) -> (TempDir, Corpus) {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("engine"), ENGINE).unwrap();
    let list = place.path().join("games.tsv");
    fs::write(&list, format!("opening_plies\tending\tmoves\tscores\n{games}")).unwrap();
    let corpus = load(&[Source::Games(list)]).unwrap();
    (place, corpus)
}

fn options(place: &Path, black_plays: &str) -> LabelOptions {
    let engine = EngineOptions {
        // A program written a moment ago may be held open by a child of another test: the shell reads it.
        command: format!("sh {} {black_plays}", place.join("engine").display()),
        options: vec![],
        go: "nodes 1".to_owned(),
        patience: 20,
    };
    LabelOptions { engine, jobs: 2, out: place.join("some.labels"), most: None }
}

#[test]
fn a_position_is_labelled_once_over_several_runs() {
    let (place, corpus) = place("0\tresign\t7g7f 3c3d 2g2f 8c8d\t1 2 3 4\n0\tresign\t7g7f 8c8d\t1 2\n");
    let options = options(place.path(), "2g2f");
    let first = label(corpus.clone(), &LabelOptions { most: Some(2), ..options.clone() }).unwrap();
    assert_eq!(first, Labelled { before: 0, now: 2 });
    assert_eq!(label(corpus.clone(), &options).unwrap(), Labelled { before: 2, now: 2 });
    assert_eq!(label(corpus, &options).unwrap(), Labelled { before: 4, now: 0 });
    assert_eq!(fs::read_to_string(place.path().join("asked")).unwrap().lines().count(), 4);
}

#[test]
fn labels_are_a_source_with_the_engines_move_and_score_and_the_games_result() {
    let (place, corpus) = place("0\tresign\t7g7f 3c3d\t1 2\n");
    label(corpus, &options(place.path(), "2g2f")).unwrap();
    let mut samples = load(&[Source::Labels(place.path().join("some.labels"))]).unwrap().samples;
    samples.sort_by_key(|sample| sample.mv.to_usi());
    let message: Vec<_> = samples.iter().map(|one| (one.mv.to_usi(), one.score, one.half_points)).collect();
    assert_eq!(message, [("2g2f".to_owned(), Some(77), Some(0)), ("3c3d".to_owned(), Some(77), Some(2))]);
}

#[test]
fn a_line_of_play_keeps_its_move_and_gets_the_engines_score() {
    let (place, _) = place("");
    let lines = place.path().join("lines.txt");
    fs::write(&lines, "9g9f\n").unwrap();
    let corpus = load(&[Source::Lines(lines.clone())]).unwrap();
    label(corpus, &options(place.path(), "2g2f")).unwrap();
    let both = load(&[Source::Lines(lines), Source::Labels(place.path().join("some.labels"))]).unwrap();
    let split = both.split(0);
    let kept: Vec<_> =
        split.training.iter().map(|one| (one.mv.to_usi(), one.score, one.half_points)).collect();
    assert_eq!(kept, [("9g9f".to_owned(), Some(77), None)], "of duplicates the one with a value stays");
}

#[test]
fn an_illegal_move_is_no_label_and_not_requested_again() {
    let (place, corpus) = place("0\tresign\t7g7f\t1\n");
    let options = options(place.path(), "5i5a");
    assert_eq!(label(corpus.clone(), &options).unwrap().now, 1);
    assert_eq!(label(corpus, &options).unwrap(), Labelled { before: 1, now: 0 });
    assert!(load(&[Source::Labels(options.out)]).unwrap().samples.is_empty());
}

#[test]
fn labels_of_another_engine_are_refused() {
    let (place, corpus) = place("0\tresign\t7g7f\t1\n");
    label(corpus.clone(), &options(place.path(), "2g2f")).unwrap();
    let message = label(corpus, &options(place.path(), "7g7f")).unwrap_err().to_string();
    assert!(message.contains("2g2f") && message.contains("7g7f"), "{message}");
}

#[test]
fn a_labelling_that_was_killed_goes_on_behind_its_last_whole_line() {
    let (place, corpus) = place("0\tresign\t7g7f 3c3d\t1 2\n");
    let options = options(place.path(), "2g2f");
    label(corpus.clone(), &options).unwrap();
    let text = fs::read_to_string(&options.out).unwrap();
    fs::write(&options.out, &text[..text.len() - 3]).unwrap();
    assert_eq!(load(&[Source::Labels(options.out.clone())]).unwrap().samples.len(), 1);
    assert_eq!(label(corpus, &options).unwrap(), Labelled { before: 1, now: 1 });
    assert_eq!(fs::read_to_string(&options.out).unwrap(), text);
}

#[test]
fn a_file_that_has_no_labels_is_refused_and_left_as_it_is() {
    let (place, corpus) = place("0\tresign\t7g7f\t1\n");
    let options = options(place.path(), "2g2f");
    fs::write(&options.out, "lnsgkgsnl/1r5b1/ppppppppp\n").unwrap();
    let message = label(corpus, &options).unwrap_err().to_string();
    assert!(message.contains("some.labels`: not a file of labels"), "{message}");
    assert_eq!(fs::read_to_string(&options.out).unwrap(), "lnsgkgsnl/1r5b1/ppppppppp\n");
    fs::write(&options.out, "labels of one\n7g7f\n").unwrap();
    let message = load(&[Source::Labels(options.out)]).unwrap_err().to_string();
    assert!(message.contains("malformed line 2"), "{message}");
}

#[test]
fn a_missing_engine_is_named() {
    let (place, corpus) = place("0\tresign\t7g7f\t1\n");
    let mut options = options(place.path(), "2g2f");
    options.engine.command = "no-such-engine".to_owned();
    let message = label(corpus, &options).unwrap_err().to_string();
    assert!(message.contains("`no-such-engine` could not be started"), "{message}");
}
