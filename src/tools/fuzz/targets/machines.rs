//! What other machines say: hellos, signs of life, answers.

use contest::schedule::{Pairing, ReplayDraws};
use machines::{
    messages::{Answer, Back, Beat, Hello, Job, JobGame, Order},
    registry::Registry,
    replay, wire,
};
use referee::{
    adjudicate::Adjudication,
    clock::TimeControl,
    entry::{GameId, PlayerId, Stamped},
    rules::Rules,
};
use std::time::{Duration, Instant};

const WORKER: &str = "0123456789abcdef";

/// Messages of a worker, and answers that our referee replays.
pub fn machines(input: &[u8]) {
    let now = Instant::now();
    if let Ok(hello) = serde_json::from_slice::<Hello>(input) {
        let mut registry = Registry::default();
        if registry.hello(now, 0, WORKER, &hello).is_ok() {
            assert!(registry.slots(now) <= hello.slots && registry.name_of(WORKER) == hello.name);
        }
    }
    if let Ok(beat) = serde_json::from_slice::<Beat>(input) {
        let (_, lost) = Registry::default().beat(now, 0, WORKER, 1, &beat);
        assert!(lost.is_empty(), "a stranger loses nothing that is another's");
    }
    if let Ok(back) = serde_json::from_slice::<Back>(input) {
        assert!(Registry::default().back(WORKER, &back.leases, back.leaves).is_empty());
    }
    if let Ok(job) = serde_json::from_slice::<Job>(input) {
        for game in &job.games {
            let _refused_or_not = game.fixture(GameId(1), Rules::default(), Adjudication::default());
        }
    }
    let _piece = wire::fetched(input);
    let _order = serde_json::from_slice::<Order>(input);
    if let Ok(text) = str::from_utf8(input)
        && let Ok(token) = text.parse::<machines::hub::Token>()
    {
        let (token, shown) = (token.line(), token.to_string());
        let secret = token.split_once('#').expect("the line that joins has a token").1;
        assert!(!shown.contains(secret), "the secret is shown");
    }
    if let Ok(answer) = serde_json::from_slice::<Answer>(input) {
        answer.games.iter().for_each(|game| replayed(game));
    }
    if let Ok(game) = serde_json::from_slice::<Vec<Stamped>>(input) {
        replayed(&game);
    }
}

/// What passes is written and read again as what passes.
fn replayed(game: &[Stamped]) {
    let fixture = job().fixture(GameId(1), Rules::default(), Adjudication::default()).expect("it is sound");
    if replay::check(&fixture, game).is_ok() {
        let written = serde_json::to_vec(game).expect("it can be written");
        let read: Vec<Stamped> = serde_json::from_slice(&written).expect("it can be read");
        assert_eq!(replay::check(&fixture, &read), Ok(()));
    }
}

pub(super) fn job() -> JobGame {
    let (black, white) = (PlayerId(0), PlayerId(1));
    let times = TimeControl { main: Duration::from_secs(10), ..TimeControl::default() };
    JobGame {
        pairing: Pairing { stage: 0, index: 0, attempt: 0, round: 1, pair: 0, opening: 0, black, white },
        times: [times; 2],
        scales: Default::default(),
        start: "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1".to_owned(),
        opening: vec![],
        draws: 0,
        seed: 1,
        replay: ReplayDraws::default(),
        tells_times: false,
        options: [vec![], vec![]],
    }
}
