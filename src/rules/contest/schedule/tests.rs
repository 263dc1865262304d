mod information;
mod knockout;
mod swiss;

use super::*;
use proptest::prelude::*;
use referee::{
    AbortBy, Color, DrawBy, Outcome, WinBy,
    entry::{Entry, GameEnded, GameId, GameStarted},
};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// A host that plays what the schedule says and ends games in any order.
struct Host {
    stages: Vec<Stage>,
    players: usize,
    replay: ReplayDraws,
    standings: Standings,
    schedule: Schedule,
    running: Vec<Pairing>,
    log: Vec<Entry>,
    started: Vec<Pairing>,
    dice: u64,
    /// Mixed into the results, so that a case can have other results for the same games.
    year: u64,
    /// One ending in so many is an abort; 0: none.
    aborts: u64,
}

const SEED: u64 = 7;

fn mixed(number: u64) -> u64 {
    let bits = (number ^ (number >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (bits ^ (bits >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 11
}

/// A result that depends on the game and the year alone: the lower id wins more often; some games are drawn.
fn result(pairing: &Pairing, year: u64) -> Outcome {
    let number = mixed(
        year ^ mixed(pairing.index * 1009 + u64::from(pairing.stage) * 77 + u64::from(pairing.black.0)),
    );
    let lower_is_black = pairing.black < pairing.white;
    match number % 10 {
        0..=1 => Outcome::Draw { by: DrawBy::Sennichite },
        2..=4 if lower_is_black => Outcome::loss(Color::Black, WinBy::Time),
        2..=4 => Outcome::loss(Color::White, WinBy::Time),
        _ if lower_is_black => Outcome::loss(Color::White, WinBy::Resignation),
        _ => Outcome::loss(Color::Black, WinBy::Resignation),
    }
}

impl Host {
    fn new(stages: &[Stage], players: usize, dice: u64) -> Self {
        let replay = ReplayDraws::default();
        Self {
            stages: stages.to_vec(),
            players,
            replay,
            standings: Standings::new(stages, players),
            schedule: Schedule::new(stages, players, SEED, replay, OpeningsPer::Pair),
            running: Vec::new(),
            log: Vec::new(),
            started: Vec::new(),
            dice,
            year: 0,
            aborts: 0,
        }
    }

    fn roll(&mut self, sides: usize) -> usize {
        self.dice = self.dice.wrapping_add(0x9e37_79b9_7f4a_7c15);
        (mixed(self.dice) % sides as u64) as usize
    }

    fn tell(&mut self, event: Entry) {
        self.standings.fold(&event);
        self.log.push(event);
    }

    fn next(&mut self) -> Next {
        let next = self.schedule.next(&self.standings);
        match next {
            Next::Game(pairing) => {
                self.running.push(pairing);
                self.started.push(pairing);
                let game = GameId(self.started.len() as u64);
                let start =
                    GameStarted { game, pairing, start: String::new(), opening: String::new(), times: None };
                self.tell(Entry::GameStarted(start));
            }
            Next::Bye { stage, round, player, half_points } => {
                self.tell(Entry::Bye { stage, round, player, half_points });
            }
            Next::Wait | Next::Done => {}
        }
        next
    }

    fn end_any(&mut self) {
        let at = self.roll(self.running.len());
        let pairing = self.running.swap_remove(at);
        let aborted = self.aborts > 0 && self.roll(self.aborts as usize) == 0;
        self.end(
            pairing,
            if aborted { Outcome::Aborted { by: AbortBy::Stopped } } else { result(&pairing, self.year) },
        );
    }

    fn end(&mut self, pairing: Pairing, outcome: Outcome) {
        let replayed = matches!(outcome, Outcome::Draw { .. })
            && self.standings.replays(&pairing) < self.schedule.replay.times;
        let game = GameId(0);
        self.tell(Entry::GameEnded(GameEnded { replayed, ..GameEnded::new(game, pairing, outcome, 9) }));
        if replayed || !outcome.counts() {
            self.schedule.returned(pairing);
        }
    }

    /// Plays until no game is left, or until `events` entries exist.
    fn play(&mut self, at_once: usize, events: usize) {
        loop {
            while self.running.len() < at_once {
                match self.next() {
                    Next::Game(_) | Next::Bye { .. } if self.log.len() < events => {}
                    Next::Wait if self.running.is_empty() => panic!("nothing runs and nothing can be played"),
                    Next::Done => {
                        assert!(self.running.is_empty(), "done while games run");
                        return;
                    }
                    _ => break,
                }
            }
            if self.log.len() >= events {
                return;
            }
            self.end_any();
        }
    }

    /// Restarts as after a kill: only the log is left.
    fn resume(&mut self) {
        self.running.clear();
        self.schedule = Schedule::new(&self.stages, self.players, SEED, self.replay, OpeningsPer::Pair);
        self.standings = Standings::new(&self.stages, self.players);
        self.log.iter().for_each(|event| self.standings.fold(event));
    }

    /// The games that count, by their place, without the attempts they took.
    fn counted(&self) -> BTreeMap<(u8, u64), Pairing> {
        let mut games = BTreeMap::new();
        for event in &self.log {
            if let Entry::GameEnded(end) = event
                && end.outcome.counts()
                && !end.replayed
            {
                let pairing = Pairing { attempt: 0, ..end.pairing };
                assert_eq!(
                    games.insert((pairing.stage, pairing.index), pairing),
                    None,
                    "a game counts twice"
                );
            }
        }
        games
    }

    fn byes(&self) -> Vec<(u32, PlayerId)> {
        let bye = |event: &Entry| match event {
            Entry::Bye { round, player, .. } => Some((*round, *player)),
            _ => None,
        };
        self.log.iter().filter_map(bye).collect()
    }
}

fn stage(format: Format, games: u32) -> Stage {
    Stage { format, games, ..Stage::default() }
}

fn played(stages: &[Stage], players: usize) -> Host {
    let mut host = Host::new(stages, players, 1);
    host.play(3, usize::MAX);
    host
}

fn any_stage() -> impl Strategy<Value = Stage> {
    let tie = prop_oneof![Just(Tie::HigherSeed), (0..3_u32).prop_map(|extra| Tie::MoreGames { extra })];
    let format = prop_oneof![
        (1..4_u32).prop_map(|cycles| Format::RoundRobin { cycles }),
        (1..4_u16, 1..3_u32).prop_map(|(challengers, cycles)| Format::Gauntlet { challengers, cycles }),
        (1..7_u32).prop_map(|rounds| Format::Swiss { rounds }),
        (1..7_u32).prop_map(|rounds| Format::Random { rounds }),
        tie.prop_map(|tie| Format::Knockout { tie }),
        (0..30_u64).prop_map(|max_games| Format::Sprt { max_games }),
    ];
    let entrants = prop_oneof![Just(None), (1..8_u16).prop_map(Some)];
    (format, 1..5_u32, entrants).prop_map(|(format, games, entrants)| Stage {
        format,
        games,
        entrants,
        ..Stage::default()
    })
}

/// Black games less white games of each player.
fn balances<'a>(games: impl IntoIterator<Item = &'a Pairing>, players: usize) -> Vec<i64> {
    let mut balances = vec![0; players];
    for game in games {
        balances[game.black.index()] += 1;
        balances[game.white.index()] -= 1;
    }
    balances
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn in_a_round_robin_all_pairs_meet_equally_often_with_balanced_colours(
        players in 2..12_usize, games in 1..5_u32, cycles in 1..4_u32, dice: u64,
    ) {
        let mut host = Host::new(&[stage(Format::RoundRobin { cycles }, games)], players, dice);
        host.play(4, usize::MAX);
        let counted = host.counted();
        prop_assert_eq!(Some(counted.len() as u64), host.schedule.total());
        for a in 0..players as u32 {
            for b in 0..a {
                let (a, b) = (PlayerId(a), PlayerId(b));
                let blacks = counted.values().filter(|game| (game.black, game.white) == (a, b)).count() as i64;
                let whites = counted.values().filter(|game| (game.white, game.black) == (a, b)).count() as i64;
                prop_assert_eq!(blacks + whites, i64::from(games * cycles));
                prop_assert!((blacks - whites).abs() <= i64::from(games * cycles % 2));
            }
        }
        for balance in balances(counted.values(), players) {
            prop_assert!(balance.abs() <= 1);
        }
    }

    #[test]
    fn no_player_plays_twice_in_a_round(players in 2..12_usize, challengers in 1..12_u16, cycles in 1..3_u32) {
        let formats = [
            Format::RoundRobin { cycles },
            Format::Gauntlet { challengers, cycles },
            Format::Random { rounds: 3 * cycles },
        ];
        for format in formats {
            let mut seen = HashSet::new();
            for game in played(&[stage(format, 1)], players).counted().values() {
                prop_assert!(seen.insert((game.round, game.black)) && seen.insert((game.round, game.white)));
            }
        }
    }

    #[test]
    fn in_a_gauntlet_every_challenger_meets_all_others_with_balanced_colours(
        players in 2..12_usize, challengers in 1..6_u16, games in 1..4_u32, cycles in 1..4_u32,
    ) {
        let format = Format::Gauntlet { challengers, cycles };
        let host = played(&[stage(format, games)], players);
        let counted = host.counted();
        let sides = usize::from(challengers).min(players);
        prop_assert_eq!(counted.len(), sides * (players - sides) * (games * cycles) as usize);
        let mut meetings = BTreeMap::new();
        for game in counted.values() {
            prop_assert_eq!(1, [game.black, game.white].iter().filter(|id| id.0 < u32::from(challengers)).count());
            let sign = if game.black < game.white { 1 } else { -1_i64 };
            let met = meetings.entry((game.black.min(game.white), game.black.max(game.white)));
            let (times, balance) = met.or_insert((0, 0_i64));
            (*times, *balance) = (*times + 1, *balance + sign);
        }
        prop_assert!(meetings.values().all(|met| met.0 == games * cycles && met.1.abs() <= 1));
        prop_assert!(balances(counted.values(), players).iter().all(|balance| balance.abs() <= 1));
    }

    #[test]
    fn in_any_order_of_endings_every_game_is_played_once_and_the_same_games_are_played(
        stages in prop::collection::vec(any_stage(), 1..4), players in 1..10_usize,
        at_once in 1..9_usize, aborts in prop_oneof![Just(0), 2..9_u64], dice: u64,
    ) {
        let mut host = Host::new(&stages, players, dice);
        host.aborts = aborts;
        host.play(at_once, usize::MAX);
        let attempts: HashSet<_> = host.started.iter().map(|game| (game.stage, game.index, game.attempt)).collect();
        prop_assert_eq!(attempts.len(), host.started.len(), "an attempt has one name for ever");
        if let Some(total) = host.schedule.total() {
            prop_assert_eq!(host.counted().len() as u64, total);
        }
        let plain = played(&stages, players);
        prop_assert_eq!(host.counted(), plain.counted());
        prop_assert_eq!(host.byes(), plain.byes());
        let last = stages.len() - 1;
        prop_assert_eq!(host.standings.ranking(last), plain.standings.ranking(last));
    }

    #[test]
    fn a_run_that_was_killed_anywhere_ends_as_an_uninterrupted_one(
        stages in prop::collection::vec(any_stage(), 1..3), players in 2..9_usize, at_once in 1..6_usize,
        kills in prop::collection::vec(1..60_usize, 1..5), dice: u64,
    ) {
        let mut host = Host::new(&stages, players, dice);
        for kill in kills {
            let until = host.log.len() + kill;
            host.play(at_once, until);
            host.resume();
        }
        host.play(at_once, usize::MAX);
        let plain = played(&stages, players);
        prop_assert_eq!(host.counted(), plain.counted());
        prop_assert_eq!(host.byes(), plain.byes());
        prop_assert_eq!(host.standings.total(), plain.standings.total());
        let attempts: HashSet<_> = host.started.iter().map(|game| (game.stage, game.index, game.attempt)).collect();
        prop_assert_eq!(attempts.len(), host.started.len(), "an attempt has one name for ever");
    }

    #[test]
    fn games_of_a_pair_are_neighbours_with_colours_swapped_and_one_opening(
        stages in prop::collection::vec(any_stage(), 1..3), players in 2..9_usize,
    ) {
        let mut pairs: BTreeMap<(u8, u64), Vec<Pairing>> = BTreeMap::new();
        for game in played(&stages, players).counted().into_values() {
            pairs.entry((game.stage, game.pair)).or_default().push(game);
        }
        let mut openings = HashSet::new();
        for games in pairs.values() {
            prop_assert!(openings.insert(games[0].opening), "two pairs have one opening");
            if let [first, second] = games[..] {
                prop_assert_eq!((first.black, first.white), (second.white, second.black));
                prop_assert_eq!((first.opening, first.index + 1), (second.opening, second.index));
            }
            prop_assert!(games.len() <= 2);
        }
    }
}

#[test]
fn in_random_rounds_everybody_meets_everybody_about_equally_often_and_the_seed_decides() {
    let (players, rounds) = (16, 1500);
    let stages = [stage(Format::Random { rounds }, 2)];
    let games = played(&stages, players).counted();
    assert_eq!(games.len(), 8 * 2 * rounds as usize);
    assert!(balances(games.values(), players).iter().all(|balance| *balance == 0));
    let mut met = BTreeMap::new();
    for game in games.values() {
        *met.entry((game.black, game.white)).or_insert(0_u32) += 1;
    }
    // 100 encounters of each two players are expected, with a standard deviation below 10.
    assert!(met.len() == 240 && met.values().all(|met| (55..145).contains(met)), "{met:?}");
    let mut other = Host::new(&stages, players, 2);
    other.play(3, usize::MAX);
    assert_eq!(other.counted(), games, "the order of endings decides nothing");
    let standings = Standings::new(&stages, players);
    let first = |seed| {
        Schedule::new(&stages, players, seed, ReplayDraws::default(), OpeningsPer::Pair).next(&standings)
    };
    assert_ne!(first(1), first(7));
}

#[test]
fn a_pair_of_every_encounter_is_played_before_the_second_pair_of_any() {
    let met = |game: &Pairing| (game.black.min(game.white), game.black.max(game.white));
    for (format, encounters) in
        [(Format::RoundRobin { cycles: 1 }, 6), (Format::Gauntlet { challengers: 1, cycles: 2 }, 3)]
    {
        let games: Vec<Pairing> = played(&[stage(format, 8)], 4).started;
        for pass in games.chunks(2 * encounters) {
            let mut games: BTreeMap<_, Vec<Pairing>> = BTreeMap::new();
            pass.iter().for_each(|game| games.entry(met(game)).or_default().push(*game));
            assert_eq!(games.len(), encounters);
            for pair in games.values() {
                assert_eq!((pair[0].black, pair[0].pair), (pair[1].white, pair[1].pair));
            }
        }
    }
}

#[test]
fn a_slow_game_delays_no_other_game_of_a_round_robin() {
    let mut host = Host::new(&[stage(Format::RoundRobin { cycles: 2 }, 2)], 5, 1);
    let Next::Game(slow) = host.next() else { panic!("there are games") };
    while let Next::Game(game) = host.next() {
        host.running.clear();
        host.end(game, result(&game, 0));
    }
    assert_eq!(host.counted().len() as u64 + 1, host.schedule.total().unwrap());
    assert_eq!(host.next(), Next::Wait);
    host.end(slow, result(&slow, 0));
    assert_eq!(host.next(), Next::Done);
}

#[test]
fn every_player_plays_early_in_a_round_robin() {
    let host = played(&[stage(Format::RoundRobin { cycles: 1 }, 2)], 8);
    let first: HashSet<PlayerId> = host.started[..8].iter().map(|game| game.black).collect();
    assert_eq!(first.len(), 8);
}

#[test]
fn the_final_of_a_swiss_is_played_by_its_first_players() {
    let last = Format::Knockout { tie: Tie::HigherSeed };
    let stages = [
        stage(Format::Swiss { rounds: 4 }, 2),
        Stage { format: last, games: 2, entrants: Some(4), ..Stage::default() },
    ];
    let host = played(&stages, 9);
    let best: BTreeSet<_> = host.standings.ranking(0).iter().take(4).map(|row| row.player).collect();
    let finalists: BTreeSet<_> =
        host.counted().values().filter(|game| game.stage == 1).map(|game| game.black).collect();
    assert_eq!(best, finalists);
    let first = host.started.iter().find(|game| game.stage == 1).unwrap();
    assert_eq!(first.opening, 16, "openings go on where the Swiss ended: 4 rounds of 4 tables");
}

#[test]
fn after_the_verdict_started_pairs_are_finished_and_no_new_one_is_begun() {
    for killed in [false, true] {
        let mut host = Host::new(&[stage(Format::Sprt { max_games: 1000 }, 2)], 2, 1);
        for _ in 0..7 {
            host.next();
        }
        let (third, sixth) = (host.running[2], host.running[5]);
        host.end(third, result(&third, 0));
        host.end(sixth, result(&sixth, 0));
        host.tell(Entry::Verdict { verdict: "H1".into(), llr: 3.0, pairs: 0 });
        if killed {
            host.resume();
        } else {
            host.running.retain(|game| *game != third && *game != sixth);
        }
        let mut games: Vec<u64> = host.running.iter().map(|game| game.index).collect();
        while let Next::Game(game) = host.next() {
            games.push(game.index);
        }
        games.sort_unstable();
        assert_eq!(games, [0, 1, 3, 4, 6, 7]);
        assert_eq!(host.next(), Next::Wait);
        while !host.running.is_empty() {
            host.end_any();
        }
        assert_eq!(host.next(), Next::Done);
        let test = host.standings.sequence().unwrap();
        assert_eq!((test.in_order.pairs, test.finished.pairs), (4, 4));
    }
}

#[test]
fn a_game_that_a_busy_machine_decided_is_replayed_on_demand_as_it_was() {
    let late = Outcome::loss(referee::Color::Black, referee::WinBy::Time);
    let waited = referee::game::starved_text(std::time::Duration::from_millis(850));
    let evidence = format!("black: no reply within 400 ms\n  {waited}\n");
    let rule = ReplayDraws { starved: true, ..ReplayDraws::default() };
    assert!(rule.replays(late, &evidence, 0) && !rule.replays(late, "black: no reply\n", 0));
    assert!(!rule.replays(late, &evidence, 10), "there is an end");
    assert!(!ReplayDraws::default().replays(late, &evidence, 0));
    let mut host = Host::new(&[stage(Format::RoundRobin { cycles: 1 }, 2)], 2, 1);
    host.replay = ReplayDraws { times: 2, swap_colors: true, starved: true, ..ReplayDraws::default() };
    host.schedule = Schedule::new(&host.stages, 2, SEED, host.replay, OpeningsPer::Pair);
    let Next::Game(first) = host.next() else { panic!("a game") };
    let ended = GameEnded::new(GameId(1), first, late, 9);
    host.tell(Entry::GameEnded(GameEnded { replayed: true, evidence, ..ended }));
    assert_eq!(host.standings.replays(&first), 1);
    host.schedule.returned(first);
    let Next::Game(again) = host.next() else { panic!("the same game") };
    assert_eq!(
        (again.index, again.black, again.attempt),
        (first.index, first.black, 1),
        "no colours are swapped"
    );
    let record = host.standings.total();
    assert_eq!(record.players.iter().map(|player| player.games().losses).sum::<u64>(), 0);
    assert_eq!(record.players[first.black.index()].uncounted["time"], 1, "it is counted apart");
}

#[test]
fn a_drawn_game_is_replayed_with_colours_swapped_as_often_as_asked() {
    let draw = Outcome::Draw { by: DrawBy::Sennichite };
    let mut host = Host::new(&[stage(Format::RoundRobin { cycles: 1 }, 1)], 2, 1);
    host.replay = ReplayDraws { times: 2, swap_colors: true, ..ReplayDraws::default() };
    host.schedule = Schedule::new(&host.stages, 2, SEED, host.replay, OpeningsPer::Pair);
    let mut blacks = Vec::new();
    for attempt in 0..3 {
        let Next::Game(game) = host.next() else { panic!("attempt {attempt}") };
        assert_eq!(game.attempt, attempt);
        blacks.push(game.black.0);
        host.end(game, draw);
        // A resumed run counts the draw, too.
        if attempt == 0 {
            host.resume();
        }
    }
    assert_eq!((blacks[0], blacks[1]), (blacks[2], 1 - blacks[0]));
    assert_eq!(host.next(), Next::Done);
    let record = &host.standings.total().players[0];
    assert_eq!((record.games().draws, record.uncounted["sennichite"]), (1, 2));
}

#[test]
fn an_aborted_game_comes_again_with_the_same_colours_before_later_ones() {
    let mut host = Host::new(&[stage(Format::RoundRobin { cycles: 1 }, 4)], 3, 1);
    let (Next::Game(first), Next::Game(_)) = (host.next(), host.next()) else { panic!("there are games") };
    host.end(first, Outcome::Aborted { by: AbortBy::NotStarted });
    assert_eq!(host.next(), Next::Game(Pairing { attempt: 1, ..first }));
}

#[test]
fn a_game_that_is_left_out_is_done_with_whatever_the_format() {
    for (format, games) in [
        (Format::RoundRobin { cycles: 1 }, 12),
        (Format::Swiss { rounds: 3 }, 12),
        (Format::Knockout { tie: Tie::MoreGames { extra: 2 } }, 18),
    ] {
        let mut host = Host::new(&[stage(format, 2)], 4, 1);
        while let Next::Game(game) = host.next() {
            host.end(game, Outcome::Aborted { by: AbortBy::Missing });
        }
        assert_eq!((host.next(), host.started.len()), (Next::Done, games), "{format:?}");
        assert!(host.started.iter().all(|game| game.attempt == 0));
        let table = host.standings.ranking(0);
        assert!(table.iter().all(|row| row.half_points == 0), "{format:?}: nobody scores");
        assert_eq!(table[0].player, PlayerId(0), "{format:?}: what is level goes by the seeds");
        host.resume();
        assert_eq!(host.next(), Next::Done, "{format:?}: resumed");
    }
}

#[test]
fn a_million_games_are_handed_out_and_counted_without_being_stored() {
    let stages = [stage(Format::RoundRobin { cycles: testing::repetitions(1112, 112) }, 20)];
    let mut standings = Standings::new(&stages, 10);
    let mut schedule = Schedule::new(&stages, 10, SEED, ReplayDraws::default(), OpeningsPer::Pair);
    let total = schedule.total().unwrap();
    let (mut late, mut games) = (Vec::new(), 0);
    while let Next::Game(pairing) = schedule.next(&standings) {
        late.push(pairing);
        if late.len() == 16 {
            // The last to start ends first.
            while let Some(pairing) = late.pop() {
                let outcome = result(&pairing, 0);
                let game = GameId(games);
                let ended = GameEnded::new(game, pairing, outcome, 0);
                standings.fold(&Entry::GameEnded(ended));
                games += 1;
            }
            assert_eq!(schedule.open.as_ref().unwrap().issued.iter().count(), 1);
            assert!(standings.finished(0).unwrap().iter().count() <= 16);
            assert!(standings.progress(0).unwrap().halves.len() <= 16);
        }
    }
    assert!(games > total - 16);
}

#[test]
fn a_schedule_without_games_is_done() {
    for players in 0..2 {
        for format in [
            Format::RoundRobin { cycles: 3 },
            Format::Gauntlet { challengers: 1, cycles: 3 },
            Format::Swiss { rounds: 3 },
            Format::Random { rounds: 3 },
            Format::Knockout { tie: Tie::HigherSeed },
            Format::Sprt { max_games: 10 },
        ] {
            let mut host = Host::new(&[stage(format, 2)], players, 1);
            assert_eq!(host.next(), Next::Done);
        }
    }
}

#[test]
fn sizes_beyond_all_games_do_not_overflow() {
    let stages = [
        stage(Format::RoundRobin { cycles: u32::MAX }, u32::MAX),
        stage(Format::Gauntlet { challengers: 9, cycles: u32::MAX }, u32::MAX),
        stage(Format::Swiss { rounds: u32::MAX }, u32::MAX),
        stage(Format::Random { rounds: u32::MAX }, u32::MAX),
    ];
    let mut host = Host::new(&stages, 65_000, 1);
    assert_eq!(host.schedule.total(), Some(u64::MAX));
    assert!(matches!(host.next(), Next::Game(_)));
}

/// The games of a stage of eight players, first games of encounters only.
fn first_games(format: Format, colours: Colours) -> Vec<Pairing> {
    let stage = Stage { pairing: SwissRules { colours, ..SwissRules::default() }, ..stage(format, 1) };
    let host = played(std::slice::from_ref(&stage), 8);
    host.counted().into_values().filter(|pairing| pairing.index.is_multiple_of(stage.stride())).collect()
}

#[test]
fn colours_are_fixed_or_drawn_in_every_format_where_the_stage_says_so() {
    for format in [
        Format::RoundRobin { cycles: 2 },
        Format::Gauntlet { challengers: 3, cycles: 2 },
        Format::Random { rounds: 6 },
        Format::Information { rounds: 6 },
        Format::Swiss { rounds: 5 },
        Format::Knockout { tie: Tie::HigherSeed },
    ] {
        let balanced = first_games(format, Colours::Balanced);
        assert!(balanced.iter().any(|game| game.black > game.white), "{format:?}");
        let fixed = first_games(format, Colours::Fixed);
        assert!(fixed.iter().all(|game| game.black < game.white), "{format:?}");
        let drawn = first_games(format, Colours::Lot);
        let lower = drawn.iter().filter(|game| game.black < game.white).count();
        assert!((1..drawn.len()).contains(&lower), "{format:?}: {lower} of {}", drawn.len());
        if !format.follows_results() {
            let pair = |game: &Pairing| (game.black.min(game.white), game.black.max(game.white));
            let pairs = |games: &[Pairing]| games.iter().map(pair).collect::<Vec<_>>();
            assert_eq!((pairs(&fixed), pairs(&drawn)), (pairs(&balanced), pairs(&balanced)), "{format:?}");
            assert!(drawn.iter().zip(&balanced).any(|(drawn, usual)| drawn.black != usual.black));
        }
    }
}

#[test]
fn a_pair_has_both_colours_wherever_they_begin() {
    let pairing = SwissRules { colours: Colours::Fixed, ..SwissRules::default() };
    let host = played(&[Stage { pairing, ..stage(Format::RoundRobin { cycles: 1 }, 2) }], 4);
    for (index, game) in host.counted().into_values().enumerate() {
        assert_eq!(game.black < game.white, index.is_multiple_of(2), "{game:?}");
    }
}

/// The games that are begun after the verdict, where these were handed out and those were taken back unbegun.
fn after_verdict(issued: usize, withdrawn: &[u64]) -> Vec<u64> {
    let stages = [stage(Format::Sprt { max_games: 1000 }, 2)];
    let mut standings = Standings::new(&stages, 2);
    let mut schedule = Schedule::new(&stages, 2, SEED, ReplayDraws::default(), OpeningsPer::Pair);
    let games: Vec<Pairing> = std::iter::from_fn(|| match schedule.next(&standings) {
        Next::Game(game) => Some(game),
        _ => None,
    })
    .take(issued)
    .collect();
    withdrawn.iter().for_each(|at| schedule.withdrawn(&games[*at as usize]));
    standings.fold(&Entry::Verdict { verdict: "H0".into(), llr: -3.0, pairs: 0 });
    let rest = std::iter::from_fn(|| match schedule.next(&standings) {
        Next::Game(game) => Some(game.index),
        _ => None,
    });
    rest.collect()
}

#[test]
fn of_the_pairs_that_are_begun_at_the_verdict_each_is_ended_whichever_half_of_it_was_handed_out() {
    assert!(after_verdict(4, &[]).is_empty(), "two whole pairs");
    assert_eq!(after_verdict(5, &[]), [5]);
    assert_eq!(after_verdict(6, &[4]), [4], "the second half alone was begun");
    assert_eq!(after_verdict(6, &[1, 2, 3]), [1], "a pair between two that nobody has begun");
    assert_eq!(after_verdict(7, &[0, 3, 4]), [0, 3, 4, 7], "the earliest first");
    assert!(after_verdict(2, &[0, 1]).is_empty());
}

#[test]
fn after_the_verdict_nothing_is_over_before_the_last_running_game_is() {
    let mut host = Host::new(&[stage(Format::Sprt { max_games: 10 }, 2)], 2, 1);
    let games = [0, 1].map(|_| match host.next() {
        Next::Game(game) => game,
        other => panic!("{other:?}"),
    });
    host.tell(Entry::Verdict { verdict: "H0".into(), llr: -3.0, pairs: 0 });
    assert_eq!(host.next(), Next::Wait);
    host.end(games[1], result(&games[1], 0));
    assert_eq!(host.next(), Next::Wait);
    host.end(games[0], Outcome::Aborted { by: AbortBy::Stopped });
    let again = host.next();
    assert!(matches!(again, Next::Game(game) if (game.index, game.attempt) == (0, 1)), "{again:?}");
    host.end(games[0], result(&games[0], 0));
    assert_eq!(host.next(), Next::Done);
}

#[test]
fn draws_and_games_of_a_busy_machine_are_replayed_as_the_rule_says_and_no_others() {
    let sennichite = Outcome::Draw { by: DrawBy::Sennichite };
    let long = Outcome::Draw { by: DrawBy::MaxMoves };
    let late = Outcome::loss(Color::Black, WinBy::Time);
    let waited = referee::game::starved_text(std::time::Duration::from_millis(850));
    let starved = format!("black: no reply within 400 ms\n  {waited}\n");
    let rule = ReplayDraws { times: 2, ..ReplayDraws::default() };
    let strict = ReplayDraws { only_sennichite: true, ..rule };
    let busy = ReplayDraws { starved: true, ..ReplayDraws::default() };
    for (rule, outcome, replays, is_replayed) in [
        (rule, sennichite, 1, true),
        (rule, sennichite, 2, false),
        (rule, long, 1, true),
        (rule, long, 2, false),
        (strict, sennichite, 0, true),
        (strict, long, 0, false),
        (rule, late, 0, false),
        (busy, late, 9, true),
        (busy, late, 10, false),
        (busy, sennichite, 0, false),
        (busy, Outcome::loss(Color::Black, WinBy::Resignation), 0, false),
        (busy, Outcome::Aborted { by: AbortBy::Stopped }, 0, false),
    ] {
        assert_eq!(rule.replays(outcome, &starved, replays), is_replayed, "{rule:?} {outcome} {replays}");
    }
}

/// The openings of the first games of a stage that follows on others, and of those before, where each counts its own.
#[test]
fn openings_are_numbered_through_the_stages_by_game_by_pair_and_by_round() {
    let stages = [
        stage(Format::RoundRobin { cycles: 1 }, 2),
        stage(Format::Gauntlet { challengers: 1, cycles: 1 }, 3),
        stage(Format::Knockout { tie: Tie::MoreGames { extra: 1 } }, 2),
        stage(Format::Random { rounds: 2 }, 1),
    ];
    let first = |per| {
        let mut host = Host::new(&stages, 4, 1);
        host.schedule = Schedule::new(&stages, 4, SEED, host.replay, per);
        host.play(1, usize::MAX);
        let mut first = BTreeMap::new();
        for game in host.counted().values() {
            first.entry(game.stage).or_insert(game.opening);
        }
        first.into_values().collect::<Vec<u64>>()
    };
    // 6 encounters of 2 games; 3 of 3 games, which are two pairs; 3 of 4 indices.
    assert_eq!(first(OpeningsPer::Game), [0, 12, 21, 33]);
    assert_eq!(first(OpeningsPer::Pair), [0, 6, 12, 18]);
    // 3 rounds of a pair; 3 encounters in rounds of one of two tables: two rounds of two pairs; 2 rounds of two pairs.
    assert_eq!(first(OpeningsPer::Round)[..2], [0, 3]);
}
