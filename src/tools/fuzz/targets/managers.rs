//! What a worker that was let in sends to its manager: every kind of letter, and the boards that it shows.

use super::machines::job;
use journal::{EventId, Fleet};
use machines::{
    Moment,
    hub::WorkerId,
    manager::{Act, EventOfDesk, Input, Letter, Manager, Sender},
    scaling::Scaling,
};
use plan::{EnginePlan, Plan};
use referee::{adjudicate::Adjudication, clock::Scale, entry::GameId, rules::Rules};
use std::path::PathBuf;

/// Messages that one check hands in at most.
const MESSAGES: usize = 64;
/// Boards that machines are asked for.
const BOARDS: usize = 64;
/// What may follow from one message.
const ACTS: usize = 1000;

/// A message on each line, behind the word for its kind: `hello {..}`, `board {..}`. After each, a pair waits for the
/// worker: the numbers of leases count from 1. What follows is bounded, and so is what is shown.
pub fn managers(data: &[u8]) {
    let event = event();
    let boards = event.boards.clone();
    boards.watch();
    let mut leases = 0;
    let mut manager = Manager::new(
        event,
        Box::new(move || {
            leases += 1;
            leases
        }),
    );
    handle(&mut manager, Input::Begin);
    for message in data.split(|byte| *byte == b'\n').take(MESSAGES) {
        let at = message.iter().position(|byte| *byte == b' ').unwrap_or(message.len());
        let (kind, payload) =
            (String::from_utf8_lossy(&message[..at]), message.get(at + 1..).unwrap_or_default());
        let from = Sender { id: WorkerId::from("0123456789abcdef"), name: "box2".to_owned() };
        let (kind, payload, reply) = (kind.into_owned(), payload.to_vec(), "_INBOX.1".to_owned());
        let input = match kind.as_str() {
            "board" => Input::Sight(from, payload),
            _ => Input::Letter(Letter { from, kind, payload, reply }),
        };
        handle(&mut manager, input);
        let games = [1, 2].map(|game| {
            job().fixture(GameId(game), Rules::default(), Adjudication::default()).expect("it is sound")
        });
        handle(&mut manager, Input::Give(games.to_vec()));
        assert!(boards.read(|boards| boards.len()) <= BOARDS);
    }
    handle(&mut manager, Input::Look { is_connected: true });
    handle(&mut manager, Input::Close);
}

/// Hands an input in, and does what the shell does with what follows.
fn handle(manager: &mut Manager, input: Input) {
    let acts = manager.handle(Moment::now(), input);
    assert!(acts.len() < ACTS, "{} acts follow from one message", acts.len());
    for act in acts {
        match act {
            Act::Lease(lease) => handle(manager, Input::LeaseStored(lease.lease)),
            Act::LookUp(question) => handle(manager, Input::LookedUp(question, Some(None))),
            Act::Played(played) => handle(manager, Input::Stored(played.lease)),
            _ => {}
        }
    }
}

fn event() -> EventOfDesk {
    let engine = |name: &str| EnginePlan { name: name.to_owned(), ..EnginePlan::default() };
    let plan = Plan::of_engines("event", vec![engine("a"), engine("b")], PathBuf::new());
    EventOfDesk {
        database: PathBuf::new(),
        event: EventId(1),
        fleet: Fleet { key: String::new(), epoch: 1, reference: None },
        terms: EventOfDesk::terms(&plan, &[None, None]),
        dropped: vec![],
        repeats: None,
        scaling: Scaling::default(),
        scale_here: Scale::ONE,
        boards: Default::default(),
    }
}
