use super::*;
use crate::messages::JobGame;
use contest::schedule::Pairing;
use referee::{
    adjudicate::{Adjudication, ResignRule},
    clock::TimeControl,
    entry::{GameId, Score, Thought},
    evaluation::ScoreScale,
    game::{Game, Setup},
};

const EVEN: &str = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1";

fn fixture() -> Fixture {
    let pairing = Pairing {
        stage: 0,
        index: 4,
        attempt: 0,
        round: 1,
        pair: 2,
        opening: 2,
        black: PlayerId(0),
        white: PlayerId(1),
    };
    let times = TimeControl { main: Duration::from_secs(10), ..TimeControl::default() };
    let setup = Setup {
        opening: vec![Move::from_usi("7g7f").unwrap()],
        may_reject: false,
        ..Setup::of(GameId(0), [times; 2], EVEN)
    };
    Fixture::of(setup, pairing)
}

fn answer(said: Said) -> Reply {
    Reply::Answer(Answer { said, elapsed: Duration::from_millis(1500), ponders: false, thought: None })
}

/// The entries of a game that the worker's own referee has ruled.
fn played(replies: &[(Color, Reply)]) -> Vec<Stamped> {
    let fixture = fixture();
    let (mut game, _) = Game::start(fixture.setup.clone()).unwrap();
    let ready = Color::BOTH.map(|color| (color, Reply::Ready));
    let mut entries = vec![];
    for (color, reply) in ready.iter().chain(replies).cloned() {
        let outputs = game.handle(Input::Reply(color, reply));
        for output in outputs {
            entries.extend(match output {
                Output::Started => Some(Entry::GameStarted(GameStarted {
                    game: GameId(9),
                    pairing: fixture.pairing,
                    start: EVEN.to_owned(),
                    opening: "7g7f".to_owned(),
                    times: None,
                })),
                Output::Happened(Entry::Moved(moved)) => {
                    Some(Entry::Moved(Moved { game: GameId(9), ..moved }))
                }
                Output::Ended(outcome, reason) => Some(Entry::GameEnded(GameEnded {
                    game: GameId(9),
                    pairing: fixture.pairing,
                    outcome,
                    plies: game.plies(),
                    evidence: format!("{}: {reason}", game.turn()),
                    replayed: false,
                    moves_hash: Some(game.moves_hash()),
                })),
                _ => None,
            });
        }
    }
    entries.into_iter().map(|entry| Stamped { at: 5, entry }).collect()
}

fn mv(usi: &str) -> Reply {
    answer(Said::Move(Move::from_usi(usi).unwrap()))
}

/// White and black play a move each; then black's opponent does `last`.
fn ended_by(last: Reply) -> Vec<Stamped> {
    played(&[(Color::White, mv("3c3d")), (Color::Black, mv("2g2f")), (Color::White, last)])
}

fn fault(entries: &[Stamped]) -> String {
    check(&fixture(), entries).unwrap_err().to_string()
}

fn end(entries: &mut [Stamped]) -> &mut GameEnded {
    match entries.last_mut().map(|stamped| &mut stamped.entry) {
        Some(Entry::GameEnded(end)) => end,
        other => panic!("{other:?}"),
    }
}

fn second_move(entries: &mut [Stamped]) -> &mut Moved {
    match &mut entries[2].entry {
        Entry::Moved(moved) => moved,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_ending_that_a_referee_gives_passes() {
    let lasts = [
        answer(Said::Resign),
        answer(Said::Win),
        answer(Said::Unreadable("hello".to_owned())),
        mv("3d3f"),
        mv("7g7f"),
        Reply::Gone("exit code 3".to_owned()),
    ];
    for last in lasts {
        let entries = ended_by(last.clone());
        assert_eq!(check(&fixture(), &entries), Ok(()), "{last:?}");
    }
    let silent = played(&[(Color::Black, Reply::Gone("never ready".to_owned()))]);
    assert_eq!(check(&fixture(), &silent), Ok(()));
}

#[test]
fn a_move_that_was_altered_is_found() {
    let mut illegal = ended_by(answer(Said::Resign));
    second_move(&mut illegal).mv = Move::from_usi("2g2e").unwrap();
    assert!(fault(&illegal).contains("`2g2e`, cannot be played"), "{}", fault(&illegal));
    let mut missing = ended_by(answer(Said::Resign));
    missing.remove(1);
    assert!(fault(&missing).contains("cannot be played"), "{}", fault(&missing));
}

#[test]
fn times_that_the_clock_does_not_charge_are_found() {
    for alter in [
        |moved: &mut Moved| moved.charged = Duration::ZERO,
        |moved: &mut Moved| moved.left += Duration::from_secs(1),
        |moved: &mut Moved| moved.ply += 1,
    ] {
        let mut altered = ended_by(answer(Said::Resign));
        alter(second_move(&mut altered));
        assert!(fault(&altered).contains("are not those of the clock"), "{}", fault(&altered));
    }
    let mut late = ended_by(answer(Said::Resign));
    second_move(&mut late).elapsed = Duration::from_secs(60);
    assert!(fault(&late).contains("white wins by time"), "{}", fault(&late));
}

#[test]
fn a_result_that_does_not_follow_is_found() {
    let outcomes = [
        Outcome::loss(Color::Black, WinBy::Time),
        Outcome::loss(Color::White, WinBy::Mate),
        Outcome::loss(Color::Black, WinBy::IllegalMove(Foul::Nifu)),
        Outcome::Win { winner: Color::White, by: WinBy::Declaration },
        Outcome::Draw { by: DrawBy::Sennichite },
        Outcome::Draw { by: DrawBy::Impasse },
        Outcome::Aborted { by: referee::AbortBy::Stopped },
    ];
    for outcome in outcomes {
        let mut altered = ended_by(answer(Said::Resign));
        end(&mut altered).outcome = outcome;
        assert!(check(&fixture(), &altered).is_err(), "{outcome}");
    }
    let mut early = ended_by(answer(Said::Resign));
    end(&mut early).outcome = Outcome::loss(Color::Black, WinBy::Resignation);
    assert!(check(&fixture(), &early).is_ok(), "a player may resign in the turn of the other");
    let mut other = ended_by(answer(Said::Resign));
    end(&mut other).pairing.index += 1;
    assert!(fault(&other).contains("not that of this game"));
}

#[test]
fn a_game_that_is_not_the_one_is_found() {
    let mut entries = ended_by(answer(Said::Resign));
    let Entry::GameStarted(start) = &mut entries[0].entry else { panic!() };
    start.opening = "2g2f".to_owned();
    assert!(fault(&entries).contains("not the game that was to be played"));
    let whole = ended_by(answer(Said::Resign));
    assert!(fault(&whole[..3]).contains("has no end"));
    let twice: Vec<Stamped> = whole.iter().chain(&whole).cloned().collect();
    assert!(fault(&twice).contains("goes on after its end"));
    let closed = [whole[..3].to_vec(), vec![Stamped { at: 5, entry: Entry::Closed }]].concat();
    assert!(fault(&closed).contains("an entry that no game has"));
}

#[test]
fn entries_are_the_same_after_their_way_over_the_wire() {
    let entries = ended_by(mv("3d3f"));
    let bytes = serde_json::to_vec(&entries).unwrap();
    let read: Vec<Stamped> = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(read, entries);
}

#[test]
fn a_machine_rules_a_game_by_the_scales_of_its_job() {
    let mut given = fixture();
    let resign = ResignRule { score: 500, moves: 1, two_sided: false, audit: 0 };
    given.setup.adjudication = Adjudication { resign: Some(resign), draw: None };
    given.setup.scales = [ScoreScale::default(), ScoreScale::new(300).unwrap()];
    let sent = serde_json::to_string(&JobGame::of(&given)).unwrap();
    let job: JobGame = serde_json::from_str(&sent).unwrap();
    let there = job.fixture(GameId(9), given.setup.rules, given.setup.adjudication).unwrap();
    let (mut game, _) = Game::start(there.setup).unwrap();
    for color in Color::BOTH {
        game.handle(Input::Reply(color, Reply::Ready));
    }
    let thought = Some(Box::new(Thought { score: Some(Score::Cp(-250)), ..Thought::default() }));
    let said = Said::Move(Move::from_usi("3c3d").unwrap());
    let answer = Answer { said, elapsed: Duration::ZERO, ponders: false, thought };
    game.handle(Input::Reply(Color::White, Reply::Answer(answer)));
    let lost = Outcome::Win { winner: Color::Black, by: WinBy::Adjudication };
    assert_eq!(game.outcome(), Some(lost), "-250 of 300 is -500 of 600");
}
