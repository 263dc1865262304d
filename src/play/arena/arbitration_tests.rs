//! What an arbiter may decide of players and results, and when it is too late for it.

use super::*;
use crate::operations::command::RuledResult;
use referee::{
    entry::{Entry, GameEnded, GameId, GameStarted},
    operation::{InForce, NamedGame, Operation},
    sink::{SideRecord, Sink},
};
use std::sync::{Arc, mpsc};

#[derive(Debug)]
struct Nowhere;

impl Sink for Nowhere {
    fn happened(&self, _: Entry) {}

    fn keep(&self, _: SideRecord) {}
}

/// An event of four players and what was played and ordered of it.
struct Table {
    stages: Vec<Stage>,
    standings: Standings,
    operations: Operations,
    handed_out: Option<Vec<Pairing>>,
}

const SWISS: Format = Format::Swiss { rounds: 3 };
const ROUND_ROBIN: Format = Format::RoundRobin { cycles: 1 };
const KNOCK_OUT: Format = Format::Knockout { tie: contest::schedule::Tie::HigherSeed };
const WON: Outcome = Outcome::Win { winner: Color::Black, by: WinBy::Resignation };
const STOPPED: Outcome = Outcome::Aborted { by: AbortBy::Stopped };
const ANNULLED: Outcome = Outcome::Aborted { by: AbortBy::Annulled };

fn asked(order: Command, game: u64) -> Asked {
    let (by, reason, game) = ("kai".to_owned(), "why".to_owned(), GameId(game));
    Asked { by, reason, order, game, newcomers: vec![], answer: mpsc::channel().0 }
}

fn refusal(why: Result<Action, Message>) -> Result<Action, String> {
    why.map_err(|why| why.to_string())
}

fn player(name: &str) -> String {
    name.to_owned()
}

fn at(stage: u8, round: u32, index: u64, [black, white]: [u32; 2]) -> Pairing {
    let (black, white) = (PlayerId(black), PlayerId(white));
    Pairing { stage, index, attempt: 0, round, pair: index, opening: 0, black, white }
}

impl Table {
    fn of(formats: &[Format]) -> Self {
        let stages: Vec<_> = formats.iter().map(|&format| Stage { format, ..Stage::default() }).collect();
        let standings = Standings::new(&stages, 4);
        let operations = Operations::new(InForce::default(), Arc::new(Nowhere));
        Self { stages, standings, operations, handed_out: Some(vec![]) }
    }

    fn bench(&self) -> Bench<'_> {
        let names = vec!["a", "b", "c", "d"];
        let (stages, standings, operations) = (&self.stages, &self.standings, &self.operations);
        Bench { stages, names, standings, operations, handed_out: self.handed_out.clone() }
    }

    fn record(&mut self, undoes: Option<u64>, action: Action) {
        let number = self.operations.record("kai", "why", undoes, action.clone()).number;
        let (by, reason) = ("kai".to_owned(), "why".to_owned());
        self.standings.fold(&Entry::Operator(Box::new(Operation { number, by, reason, undoes, action })));
    }

    /// Gives an order about players, which is put on record if it is not refused.
    fn order(&mut self, order: Command) -> Result<Action, String> {
        let action = refusal(self.bench().about_player(&asked(order, 0)))?;
        self.record(None, action.clone());
        Ok(action)
    }

    fn back(&mut self, number: u64) -> Result<Action, String> {
        let action = refusal(self.bench().back(number))?;
        self.record(Some(number), action.clone());
        Ok(action)
    }

    fn begins(&mut self, pairing: Pairing) {
        let (game, start, opening) = (GameId(pairing.index + 1), String::new(), String::new());
        self.standings.fold(&Entry::GameStarted(GameStarted { game, pairing, start, opening, times: None }));
    }

    fn plays(&mut self, pairing: Pairing, outcome: Outcome) {
        self.begins(pairing);
        let ended = GameEnded::new(GameId(pairing.index + 1), pairing, outcome, 9);
        self.standings.fold(&Entry::GameEnded(ended));
    }

    fn corrects(&self, order: Command, pairing: Pairing, outcome: Outcome) -> Result<Action, String> {
        let asked = asked(order, pairing.index + 1);
        refusal(self.bench().correction(&asked, Past { pairing, outcome }).map(|(_, action)| action))
    }
}

const GAME: u64 = 1;

fn draws() -> Command {
    Command::Rule { game: GAME, result: RuledResult::Draw }
}

#[test]
fn a_player_is_penalised_once_for_a_reason_and_is_out_until_the_decision_is_taken_back() {
    let mut table = Table::of(&[SWISS]);
    let penalty = |name: &str, points| Command::Penalty { player: player(name), points };
    assert_eq!(table.order(penalty("a", Points::ZERO)), refusal(refuse(Language::penalty_above_zero)));
    assert_eq!(table.order(penalty("x", Points::ONE)), refusal(refuse(|words| words.no_such_player("x"))));
    let (stage, round) = (0, 0);
    let (of, points) = (PlayerId(0), Points::ONE);
    let penalised = Action::Penalised { player: of, name: player("a"), points, stage, round };
    assert_eq!(table.order(penalty(" a ", Points::ONE)), Ok(penalised));
    assert_eq!(table.order(penalty("a", Points::ONE)), refusal(refuse(|words| words.penalised_already(1))));
    assert!(table.order(penalty("a", Points::ONE * 2)).is_ok(), "another one");

    assert!(table.order(Command::Disqualify { player: player("b") }).is_ok());
    let out = || refusal(refuse(|words| words.disqualified_already("b", 3)));
    assert_eq!(table.order(Command::Disqualify { player: player("b") }), out());
    assert_eq!(table.order(Command::Return { player: player("b") }), out());
    assert_eq!(table.order(Command::Bye { player: player("b"), round: None }), out());

    let [withdraw, returns] = ["c"; 2].map(player);
    let (withdraw, returns) = (Command::Withdraw { player: withdraw }, Command::Return { player: returns });
    assert_eq!(table.order(returns.clone()), refusal(refuse(|words| words.not_withdrawn("c"))));
    assert!(table.order(withdraw.clone()).is_ok());
    assert_eq!(table.order(withdraw), refusal(refuse(|words| words.withdrawn_already("c"))));
    let back = Action::Withdrawn { player: PlayerId(2), name: player("c"), stage, round, holds: false };
    assert_eq!(table.order(returns), Ok(back));
    let again = Action::Disqualified { player: PlayerId(1), name: player("b"), stage, round, holds: false };
    assert_eq!(table.back(3), Ok(again));
    assert!(table.order(Command::Bye { player: player("b"), round: None }).is_ok());
}

#[test]
fn level_players_are_placed_once_and_others_stand_as_they_played() {
    let mut table = Table::of(&[SWISS, Format::Swiss { rounds: 2 }]);
    let place = |name: &str, above: &str| Command::Place { player: player(name), above: player(above) };
    assert_eq!(table.order(place("a", "a")), refusal(refuse(Language::needs_two_players)));
    table.plays(at(0, 1, 0, [0, 1]), WON);
    assert_eq!(table.order(place("b", "a")), refusal(refuse(|words| words.not_level("b", "a"))));
    let (player_, below) = (PlayerId(3), PlayerId(2));
    let placed = Action::Placed {
        player: player_,
        name: player("d"),
        below,
        other: player("c"),
        stage: 0,
        holds: true,
    };
    assert_eq!(table.order(place("d", "c")), Ok(placed));
    let already = || refusal(refuse(|words| words.placed_already("d", "c")));
    assert_eq!((table.order(place("d", "c")), table.order(place("c", "d"))), (already(), already()));
    table.handed_out = Some(vec![at(1, 1, 0, [0, 1])]);
    assert_eq!(table.back(1), refusal(refuse(|words| words.stage_follows(2))));
    table.handed_out = Some(vec![]);
    assert!(table.back(1).is_ok());
}

#[test]
fn pairings_and_byes_are_given_for_rounds_that_are_not_paired_and_to_players_who_are_free() {
    let mut table = Table::of(&[SWISS]);
    let pair = |black: &str, white: &str| Command::Pair { black: player(black), white: player(white) };
    let bye = |name: &str, round| Command::Bye { player: player(name), round };
    assert_eq!(table.order(pair("c", "c")), refusal(refuse(Language::needs_two_players)));
    let players = [PlayerId(1), PlayerId(0)];
    let (black, white) = (player("b"), player("a"));
    let given = Action::PairingGiven { players, black, white, stage: 0, round: 0, holds: true };
    assert_eq!(table.order(pair("b", "a")), Ok(given));
    let is_paired = || refusal(refuse(|words| words.pairing_is_given("a", 1)));
    assert_eq!((table.order(pair("c", "a")), table.order(bye("a", None))), (is_paired(), is_paired()));
    let given = Action::ByeGiven { player: PlayerId(2), name: player("c"), stage: 0, round: 2, holds: true };
    assert_eq!(table.order(bye("c", Some(2))), Ok(given));
    assert_eq!(table.order(bye("c", Some(2))), refusal(refuse(|words| words.bye_is_given("c", 2))));
    for round in [0, 4] {
        assert_eq!(
            table.order(bye("c", Some(round))),
            refusal(refuse(|words| words.no_such_round(round, 3)))
        );
    }
    assert!(table.order(bye("a", Some(3))).is_ok());
    assert!(table.order(Command::Withdraw { player: player("d") }).is_ok());
    assert_eq!(table.order(pair("c", "d")), refusal(refuse(|words| words.has_withdrawn("d"))));

    table.handed_out = Some(vec![at(0, 1, 0, [1, 0])]);
    assert_eq!(table.bench().last_paired(), (0, 1));
    let late = |round| refusal(refuse(|words| words.round_is_paired(round)));
    assert_eq!((table.order(bye("c", Some(1))), table.back(1)), (late(1), late(1)));
    let back = Action::Withdrawn { player: PlayerId(3), name: player("d"), stage: 0, round: 1, holds: false };
    assert_eq!(table.back(4), Ok(back), "from the next round on");
    table.begins(at(0, 2, 2, [2, 3]));
    assert_eq!(table.back(2), late(2));
    assert!(table.back(3).is_ok(), "that of round 3");
    assert!(table.order(pair("a", "b")).is_ok());
    table.begins(at(0, 3, 4, [2, 3]));
    assert_eq!(table.order(pair("c", "d")), refusal(refuse(Language::no_round_to_pair)));
}

#[test]
fn a_knock_out_has_no_points_and_a_test_keeps_its_two_players() {
    let points = Points::ONE;
    let orders =
        || [Command::Penalty { player: player("a"), points }, Command::Disqualify { player: player("a") }];
    for format in [KNOCK_OUT, Format::Sprt { max_games: 10 }] {
        for order in orders() {
            assert_eq!(Table::of(&[format]).order(order), refusal(refuse(Language::no_points_here)));
        }
    }
    for order in [Command::Withdraw { player: player("a") }, Command::Return { player: player("a") }] {
        let two = refusal(refuse(Language::test_has_two_players));
        assert_eq!(Table::of(&[Format::Sprt { max_games: 10 }]).order(order), two);
    }
    assert!(Table::of(&[KNOCK_OUT]).order(Command::Withdraw { player: player("a") }).is_ok());
    assert!(orders().into_iter().all(|order| Table::of(&[ROUND_ROBIN]).order(order).is_ok()));
    let pair = Command::Pair { black: player("a"), white: player("b") };
    assert_eq!(Table::of(&[ROUND_ROBIN]).order(pair), refusal(refuse(Language::no_round_to_pair)));
}

#[test]
fn a_result_is_changed_until_something_follows_from_it() {
    let first = at(0, 1, 0, [0, 1]);
    let second = at(0, 2, 2, [2, 3]);
    let stays = |why: Message| refusal(refuse(|words| words.stays_as_it_is(GAME, why.text(words))));
    let paired = || stays(Message::of(|words| words.round_is_paired(2)));
    let drawn = Outcome::Draw { by: referee::DrawBy::Ruling };
    for (format, follows) in [(ROUND_ROBIN, false), (SWISS, true), (KNOCK_OUT, true)] {
        let mut table = Table::of(&[format]);
        table.plays(first, WON);
        let ruled = table.corrects(draws(), first, WON);
        assert!(matches!(ruled, Ok(Action::Ruled { was: Some(WON), outcome, .. }) if outcome == drawn));
        let same = refusal(refuse(|words| words.same_result(GAME)));
        assert_eq!(table.corrects(draws(), first, drawn), same);
        table.handed_out = Some(vec![first]);
        assert!(table.corrects(draws(), first, WON).is_ok(), "games of its own round wait for nothing");
        table.handed_out = Some(vec![second]);
        let handed_out = table.corrects(draws(), first, WON);
        assert_eq!(handed_out.is_err(), follows);
        assert!(!follows || handed_out == paired());
        table.handed_out = Some(vec![]);
        table.begins(second);
        let settled = || stays(Message::of(|words| words.settled(Settled::Round(2))));
        let begun = table.corrects(draws(), first, WON);
        assert_eq!(begun.is_err(), follows);
        assert!(!follows || begun == settled());
        table.handed_out = None;
        let over = table.corrects(draws(), first, WON);
        assert_eq!(
            over.is_err(),
            format == KNOCK_OUT,
            "the rounds of a Swiss that is over stay as they were"
        );
    }
    let mut stages = Table::of(&[ROUND_ROBIN, SWISS]);
    stages.plays(first, WON);
    stages.handed_out = Some(vec![at(1, 1, 0, [0, 1])]);
    let next = stays(Message::of(|words| words.round_is_paired(1)));
    assert_eq!(stages.corrects(draws(), first, WON), next, "the players of the next stage follow from it");
    let appealed = stages.corrects(Command::Appeal { game: GAME }, first, WON);
    assert!(matches!(appealed, Ok(Action::Appealed { was: WON, .. })), "an appeal is always heard");
}

#[test]
fn a_game_that_does_not_count_is_ruled_on_only_if_it_was_left_out_for_good() {
    let game = at(0, 1, 0, [0, 1]);
    let mut table = Table::of(&[ROUND_ROBIN]);
    let to_be_played = refusal(refuse(|words| words.another_is_to_be_played(GAME, &words.outcome(STOPPED))));
    assert_eq!(table.corrects(draws(), game, STOPPED), to_be_played);
    assert!(table.corrects(draws(), game, ANNULLED).is_ok());
    let replay = Command::Replay { game: GAME };
    let annulled = refusal(refuse(|words| words.does_not_count(GAME, &words.outcome(ANNULLED))));
    assert_eq!(table.corrects(replay.clone(), game, ANNULLED), annulled);
    table.handed_out = None;
    let never = refusal(refuse(|words| words.does_not_count(GAME, &words.outcome(STOPPED))));
    assert_eq!(table.corrects(draws(), game, STOPPED), never);
    table.plays(Pairing { attempt: 1, ..game }, WON);
    let another = refusal(refuse(|words| words.another_was_played(GAME, &words.outcome(STOPPED))));
    assert_eq!(table.corrects(draws(), game, STOPPED), another);
    assert!(matches!(table.corrects(replay.clone(), game, WON), Ok(Action::Replayed { was: WON, .. })));

    let named = NamedGame { game: GameId(GAME), black: player("a"), white: player("b"), round: 1 };
    table.record(None, Action::Adjourned { game: named, held: Some(game) });
    let held = refusal(refuse(|words| words.rule_when_played_on(GAME)));
    assert_eq!(table.corrects(draws(), game, WON), held);
    let joined = Action::Joined {
        player: PlayerId(4),
        name: player("e"),
        replaces: Some(PlayerId(1)),
        out: Some(player("b")),
        configuration: String::new(),
    };
    table.record(None, joined);
    assert_eq!(table.bench().replaced(&game).as_deref(), Some("b"));
    let gone = refusal(refuse(|words| words.player_is_replaced("b")));
    assert_eq!(table.corrects(replay, game, WON), gone);
    assert!(table.bench().is_still_played(&at(0, 1, 1, [2, 3])).is_ok());
}

#[test]
fn who_has_withdrawn_loses_by_default_under_the_name_of_now() {
    let mut table = Table::of(&[ROUND_ROBIN]);
    let game = at(0, 1, 0, [0, 1]);
    let (of, out, substitute) = (PlayerId(1), player("b"), player("sub"));
    table.record(None, Action::Swapped { player: of, out, substitute });
    let default = |out| table.bench().default_of(&game, out);
    let lost = |color| Outcome::loss(color, WinBy::Default);
    assert_eq!(default([true, false]), (lost(Color::Black), "a had withdrawn".to_owned()));
    assert_eq!(default([false, true]), (lost(Color::White), "sub had withdrawn".to_owned()));
    let both = "a had withdrawn; sub had withdrawn".to_owned();
    assert_eq!(default([true, true]), (Outcome::Aborted { by: AbortBy::Missing }, both));
    assert!(table.order(Command::Withdraw { player: player("sub") }).is_ok());
    let nobody = refusal(refuse(|words| words.no_such_player("b")));
    assert_eq!(table.order(Command::Withdraw { player: player("b") }), nobody);
}
