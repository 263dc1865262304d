//! Players who join a stage that is being played: the encounters of each come after those that the stage had before.
//!
//! "Why was I paired so": a newcomer meets its opponents once in each cycle, one encounter a round. Colours alternate, and each
//! cycle swaps those of the one before: it has black against those who had black most often, and white against those who had
//! white most often (it begins with white if its opponents together had white more often). Its opponents are the players
//! before it who are not replaced: in a gauntlet the challengers, or those who are challenged if it replaces a challenger.
//! With random pairing they are shuffled by the event's seed, and it has as many encounters as the stage has rounds.
//!
//! What was handed out before keeps its place: an encounter of the stage, or of an earlier newcomer, has the number that it
//! had.

use super::{
    encounters, random,
    table::{Table, round_number},
    table_of,
};
use crate::stage::{Format, Stage};
use referee::ids::PlayerId;
use std::{cmp::Reverse, collections::VecDeque};

/// A player who joined the event after its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Joined {
    /// The player.
    pub player: PlayerId,
    /// The player who plays no further game from then on.
    pub replaces: Option<PlayerId>,
}

impl Format {
    /// True if players may join while a stage of this format is played.
    fn takes_newcomers(self) -> bool {
        matches!(self, Self::RoundRobin { .. } | Self::Gauntlet { .. } | Self::Random { .. })
    }
}

/// The encounters of a stage, those of newcomers included. Players are seats in the list of entrants.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field<'a> {
    pub stage: &'a Stage,
    /// All entrants, newcomers included.
    pub entrants: usize,
    pub joined: &'a [Joined],
    pub seed: u64,
}

/// An encounter: the newcomer whose it is, from 0, or `None` for one of those that the stage began with; and its number
/// among these.
pub(super) type Place = (Option<usize>, u64);

impl Field<'_> {
    /// Players that the stage began with.
    fn before(&self) -> usize {
        match self.stage.format.takes_newcomers() {
            true => self.entrants.saturating_sub(self.joined.len()),
            // Who comes before the first round is among those that the stage begins with.
            false => self.entrants,
        }
    }

    /// Those that the stage began with, then each newcomer.
    fn parts(&self) -> impl Iterator<Item = Option<usize>> {
        std::iter::once(None).chain((0..self.joined.len()).map(Some))
    }

    /// All encounters.
    pub fn encounters(&self) -> u64 {
        self.parts().map(|whose| self.of(whose)).fold(0, u64::saturating_add)
    }

    /// The encounter of that number; `None`: there is none.
    pub fn place(&self, encounter: u64) -> Option<Place> {
        let mut left = encounter;
        self.parts().find_map(|whose| match left.checked_sub(self.of(whose)) {
            Some(rest) => {
                left = rest;
                None
            }
            None => Some((whose, left)),
        })
    }

    /// The number of an encounter; `None`: there is none at this place.
    pub fn number(&self, (whose, at): Place) -> Option<u64> {
        let before = self.parts().take_while(|earlier| *earlier != whose);
        let before = before.map(|earlier| self.of(earlier)).fold(0, u64::saturating_add);
        (at < self.of(whose)).then(|| before.saturating_add(at))
    }

    /// The seats of an encounter.
    pub fn table(&self, encounter: u64) -> Option<Table<usize>> {
        let (whose, at) = self.place(encounter)?;
        let Some(number) = whose else { return table_of(self.stage, self.before(), encounter, self.seed) };
        let (seat, turns) = (self.before() + number, self.turns(number));
        let (turn, pass) = (at % turns.len() as u64, at / turns.len() as u64);
        let cycle = pass / self.stage.passes();
        let (opponent, has_black) = turns[turn as usize];
        let is_black = has_black == cycle.is_multiple_of(2);
        let (black, white) = if is_black { (seat, opponent) } else { (opponent, seat) };
        Some(Table { round: self.last_round(number).saturating_add(round_number(at)), black, white })
    }

    /// Whom a newcomer meets in a cycle, and whether as black: the same if the numbers of cycles and games grow.
    fn turns(&self, number: usize) -> Vec<(usize, bool)> {
        let first = if matches!(self.stage.format, Format::Random { .. }) { number } else { 0 };
        let mut surpluses: Vec<i64> = (0..self.entrants).map(|seat| self.surplus(seat)).collect();
        let mut turns = vec![];
        for earlier in first..=number {
            let (newcomer, mut left) = (self.before() + earlier, VecDeque::from(self.opponents(earlier)));
            left.make_contiguous().sort_by_key(|&seat| Reverse(surpluses[seat]));
            let is_white = left.iter().map(|&seat| surpluses[seat]).sum::<i64>() < 0;
            turns = (0..left.len())
                .filter_map(|turn| match is_white == turn.is_multiple_of(2) {
                    true => Some((left.pop_back()?, false)),
                    false => Some((left.pop_front()?, true)),
                })
                .collect();
            for &(seat, is_black) in &turns {
                let sign = if is_black { 1 } else { -1 };
                (surpluses[seat], surpluses[newcomer]) = (surpluses[seat] - sign, surpluses[newcomer] + sign);
            }
        }
        turns
    }

    /// Black games less white games of a seat in a cycle of single games that the stage began with.
    fn surplus(&self, seat: usize) -> i64 {
        let (before, odd) = (self.before(), |at: usize| (at % 2) as i64);
        let sign = |at| 1 - 2 * odd(at);
        match self.stage.format {
            Format::RoundRobin { .. } if seat < before => -sign(seat) * odd(before + 1),
            Format::Gauntlet { challengers, .. } if seat < before => {
                let challengers = usize::from(challengers).min(before);
                match seat.checked_sub(challengers) {
                    None => sign(seat) * odd(before - challengers),
                    Some(at) => -sign(at) * odd(challengers),
                }
            }
            _ => 0,
        }
    }

    /// The last round before the encounters of a newcomer.
    fn last_round(&self, number: usize) -> u32 {
        let last = self.of(None).checked_sub(1);
        let last = last.and_then(|last| table_of(self.stage, self.before(), last, self.seed));
        let earlier = (0..number).map(|earlier| u32::try_from(self.of(Some(earlier))).unwrap_or(u32::MAX));
        earlier.fold(last.map_or(0, |table| table.round), u32::saturating_add)
    }

    /// Encounters of a newcomer, or those that the stage began with.
    pub fn of(&self, whose: Option<usize>) -> u64 {
        let Some(number) = whose else { return encounters(self.stage, self.before()) };
        let opponents = self.opponents(number).len() as u64;
        match self.stage.format {
            Format::RoundRobin { cycles } | Format::Gauntlet { cycles, .. } => {
                opponents.saturating_mul(u64::from(cycles)).saturating_mul(self.stage.passes())
            }
            Format::Random { rounds } if opponents > 0 => u64::from(rounds),
            _ => 0,
        }
    }

    /// The seats that a newcomer meets.
    fn opponents(&self, number: usize) -> Vec<usize> {
        let seat = self.before() + number;
        let replaced = |other: &usize| {
            self.joined[..=number].iter().any(|joined| joined.replaces == Some(PlayerId::at(*other)))
        };
        let is_opponent = |other: &usize| match self.stage.format {
            Format::Gauntlet { challengers, .. } => {
                self.challenges(*other, challengers) != self.challenges(seat, challengers)
            }
            _ => true,
        };
        let mut opponents: Vec<usize> =
            (0..seat).filter(|other| !replaced(other)).filter(is_opponent).collect();
        if matches!(self.stage.format, Format::Random { .. }) {
            let order = random::shuffled(opponents.len(), super::mixed(self.seed, seat as u64));
            opponents = order.into_iter().map(|at| opponents[at]).collect();
        }
        opponents
    }

    /// True if a player of a gauntlet is a challenger: one of the first, or the replacement of one.
    fn challenges(&self, mut seat: usize, challengers: u16) -> bool {
        while let Some(joined) = seat.checked_sub(self.before()).and_then(|number| self.joined.get(number)) {
            match joined.replaces.map(PlayerId::index) {
                Some(replaced) if replaced < seat => seat = replaced,
                _ => return false,
            }
        }
        seat < usize::from(challengers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        schedule::{Next, OpeningsPer, Pairing, ReplayDraws, Schedule, size::Resizing},
        standings::Standings,
    };
    use proptest::prelude::*;
    use referee::{
        DrawBy, Outcome,
        entry::{Entry, GameEnded, GameId},
        operation::{Action, Operation},
    };
    use std::collections::BTreeMap;

    fn joined(player: u32, replaces: Option<u32>) -> Entry {
        let (name, out) = (format!("player {player}"), replaces.map(|out| format!("player {out}")));
        let (player, replaces) = (PlayerId(player), replaces.map(PlayerId));
        let action = Action::Joined { player, name, replaces, out, configuration: "{}".to_owned() };
        let (by, reason) = ("a".to_owned(), String::new());
        Entry::Operator(Box::new(Operation { number: 1, by, reason, undoes: None, action }))
    }

    fn draw(pairing: Pairing) -> Entry {
        let outcome = Outcome::Draw { by: DrawBy::Sennichite };
        let game = GameId(pairing.index);
        Entry::GameEnded(GameEnded::new(game, pairing, outcome, 1))
    }

    struct Event {
        stages: [Stage; 1],
        players: usize,
        entries: Vec<Entry>,
        standings: Standings,
        schedule: Schedule,
        played: Vec<Pairing>,
    }

    impl Event {
        fn new(format: Format, games: u32, players: usize) -> Self {
            let stages = [Stage { format, games, ..Stage::default() }];
            let standings = Standings::new(&stages, players);
            let schedule = Self::schedule(&stages, players);
            Self { stages, players, entries: vec![], standings, schedule, played: vec![] }
        }

        fn schedule(stages: &[Stage], players: usize) -> Schedule {
            Schedule::new(stages, players, 7, ReplayDraws::default(), OpeningsPer::Pair)
        }

        fn fold(&mut self, entry: Entry) {
            self.standings.fold(&entry);
            self.entries.push(entry);
        }

        fn play(&mut self, most: usize) -> Next {
            for _ in 0..most {
                match self.schedule.next(&self.standings) {
                    Next::Game(pairing) => {
                        self.played.push(pairing);
                        self.fold(draw(pairing));
                    }
                    other => return other,
                }
            }
            Next::Wait
        }

        /// The same event in another process.
        fn resumed(&self) -> Self {
            let mut standings = Standings::new(&self.stages, self.players);
            self.entries.iter().for_each(|entry| standings.fold(entry));
            let schedule = Self::schedule(&self.stages, self.players);
            let (entries, played) = (self.entries.clone(), self.played.clone());
            Self { stages: self.stages.clone(), players: self.players, entries, standings, schedule, played }
        }

        /// Games of each two players.
        fn met(&self) -> BTreeMap<(u32, u32), usize> {
            let mut met = BTreeMap::new();
            for game in &self.played {
                let pair = (game.black.0.min(game.white.0), game.black.0.max(game.white.0));
                *met.entry(pair).or_default() += 1;
            }
            met
        }
    }

    #[test]
    fn a_newcomer_of_a_round_robin_meets_everybody_as_often_as_the_others_do_and_disturbs_no_game() {
        for (cycles, games, players) in [(1, 2, 5), (2, 2, 4), (3, 1, 3), (1, 2, 2)] {
            let mut without = Event::new(Format::RoundRobin { cycles }, games, players);
            assert_eq!(without.play(usize::MAX), Next::Done);
            for before in [0, 1, 4, without.played.len() - 1] {
                let mut event = Event::new(Format::RoundRobin { cycles }, games, players);
                event.play(before);
                event.fold(joined(players as u32, None));
                event.play(2);
                let mut event = event.resumed();
                assert_eq!(event.play(usize::MAX), Next::Done);
                assert_eq!(event.played[..without.played.len()], without.played);
                let met = event.met();
                assert_eq!(met.len(), players * (players + 1) / 2);
                assert!(met.values().all(|n| *n == (cycles * games) as usize), "{met:?}");
                assert_eq!(event.schedule.total(), Some(event.played.len() as u64));
                assert_eq!(event.schedule.total_by(&event.standings), event.schedule.total());
                let of_newcomer = |color: fn(&Pairing) -> PlayerId| {
                    event.played.iter().filter(|game| color(game).index() == players).count()
                };
                assert!(of_newcomer(|game| game.black).abs_diff(of_newcomer(|game| game.white)) <= 1);
                assert!(event.played.iter().all(|game| game.black != game.white));
            }
        }
    }

    /// Black games less white games of each player.
    fn surpluses(games: &[Pairing], players: usize) -> Vec<i64> {
        let mut surpluses = vec![0; players];
        for game in games {
            surpluses[game.black.index()] += 1;
            surpluses[game.white.index()] -= 1;
        }
        surpluses
    }

    fn any_format() -> impl Strategy<Value = Format> {
        prop_oneof![
            (1..4_u32).prop_map(|cycles| Format::RoundRobin { cycles }),
            (1..4_u16, 1..4_u32).prop_map(|(challengers, cycles)| Format::Gauntlet { challengers, cycles }),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(testing::repetitions(1000, 96)))]

        #[test]
        fn however_many_join_and_whenever_nobody_has_a_colour_two_times_more_often_than_the_other(
            format in any_format(), odd in 0..2_u32, players in 2..9_usize,
            joins in prop::collection::vec(0..30_usize, 0..9),
        ) {
            let mut event = Event::new(format, 2 * odd + 1, players);
            for (at, games) in joins.iter().enumerate() {
                event.play(*games);
                event.fold(joined((players + at) as u32, None));
            }
            prop_assert_eq!(event.play(usize::MAX), Next::Done);
            let surpluses = surpluses(&event.played, players + joins.len());
            prop_assert!(surpluses.iter().all(|surplus| surplus.abs() <= 1), "{format:?} {surpluses:?}");
        }

        #[test]
        fn builds_that_replace_each_other_leave_their_opponents_with_balanced_colours(
            format in any_format(), players in 3..9_usize, joins in prop::collection::vec(0..8_usize, 0..12),
        ) {
            let mut event = Event::new(format, 1, players);
            let mut active: Vec<usize> = (0..players).collect();
            for (at, &out) in joins.iter().enumerate() {
                prop_assert_eq!(event.play(usize::MAX), Next::Done);
                let replaced = (out < active.len()).then(|| active.remove(out) as u32);
                event.fold(joined((players + at) as u32, replaced));
                active.push(players + at);
            }
            prop_assert_eq!(event.play(usize::MAX), Next::Done);
            let surpluses = surpluses(&event.played, players + joins.len());
            prop_assert!(surpluses.iter().all(|surplus| surplus.abs() <= 2), "{format:?} {surpluses:?}");
        }
    }

    #[test]
    fn seven_who_join_two_players_do_not_all_begin_as_black_against_the_first() {
        let mut event = Event::new(Format::RoundRobin { cycles: 1 }, 1, 2);
        event.play(usize::MAX);
        (2..9).for_each(|player| event.fold(joined(player, None)));
        assert_eq!(event.play(usize::MAX), Next::Done);
        assert_eq!(surpluses(&event.played, 9), [0; 9], "each has eight games");
        let begins = surpluses(&event.played[1..3], 9);
        assert_eq!(begins[2], 0, "colours of a newcomer alternate");
    }

    #[test]
    fn who_is_replaced_keeps_its_games_and_begins_none() {
        for before in [0, 3, 9] {
            let mut event = Event::new(Format::RoundRobin { cycles: 2 }, 2, 4);
            event.play(before);
            let of_old = |event: &Event| {
                let plays = |game: &&Pairing| game.black == PlayerId(1) || game.white == PlayerId(1);
                event.played.iter().filter(plays).count()
            };
            let played = of_old(&event);
            event.fold(joined(4, Some(1)));
            let total = event.schedule.total_by(&event.standings);
            event.play(3);
            let mut event = event.resumed();
            assert_eq!(event.play(usize::MAX), Next::Done);
            assert_eq!(of_old(&event), played);
            assert_eq!(total, Some(event.played.len() as u64));
            let met = event.met();
            assert_eq!([met[&(0, 4)], met[&(2, 4)], met[&(3, 4)]], [4, 4, 4]);
            assert!(!met.contains_key(&(1, 4)), "a build does not meet the one that it replaces");
            assert_eq!([met[&(0, 2)], met[&(0, 3)], met[&(2, 3)]], [4, 4, 4]);
        }
    }

    #[test]
    fn one_after_the_other_may_join_and_be_replaced() {
        let mut event = Event::new(Format::RoundRobin { cycles: 1 }, 2, 3);
        event.play(2);
        event.fold(joined(3, Some(0)));
        event.fold(joined(4, Some(3)));
        event.fold(joined(5, None));
        let mut event = event.resumed();
        assert_eq!(event.play(usize::MAX), Next::Done);
        let met = event.met();
        for pair in [(1, 2), (1, 4), (2, 4), (1, 5), (2, 5), (4, 5)] {
            assert_eq!(met[&pair], 2, "{met:?}");
        }
        assert!(met.keys().all(|(one, other)| *one != 3 && *other != 3), "{met:?}");
    }

    #[test]
    fn a_newcomer_of_a_gauntlet_meets_the_challengers_unless_it_replaces_one() {
        let mut event = Event::new(Format::Gauntlet { challengers: 1, cycles: 1 }, 2, 4);
        event.fold(joined(4, None));
        event.fold(joined(5, Some(0)));
        assert_eq!(event.play(usize::MAX), Next::Done);
        let met = event.met();
        assert_eq!(met, BTreeMap::from([((1, 5), 2), ((2, 5), 2), ((3, 5), 2), ((4, 5), 2)]));
    }

    #[test]
    fn a_newcomer_of_random_pairing_plays_as_many_rounds_as_the_others() {
        let mut event = Event::new(Format::Random { rounds: 8 }, 2, 4);
        event.play(5);
        event.fold(joined(4, None));
        assert_eq!(event.play(usize::MAX), Next::Done);
        let met = event.met();
        let of_newcomer: Vec<_> = (0..4).map(|other| met[&(other, 4)]).collect();
        assert_eq!(of_newcomer, [4; 4]);
    }

    #[test]
    fn an_event_that_ended_while_it_was_paused_goes_on_with_a_newcomer() {
        let mut event = Event::new(Format::RoundRobin { cycles: 1 }, 2, 2);
        assert_eq!(event.play(usize::MAX), Next::Done);
        event.fold(joined(2, None));
        assert_eq!(event.play(usize::MAX), Next::Done);
        assert_eq!(event.met(), BTreeMap::from([((0, 1), 2), ((0, 2), 2), ((1, 2), 2)]));
    }

    #[test]
    fn the_games_of_newcomers_keep_their_encounters_when_the_event_grows() {
        let mut event = Event::new(Format::RoundRobin { cycles: 1 }, 2, 3);
        event.play(3);
        event.fold(joined(3, None));
        event.play(6);
        let is = [Stage { format: Format::RoundRobin { cycles: 2 }, games: 4, ..Stage::default() }];
        let newcomers = event.standings.joined().to_vec();
        let resizing = Resizing::new(&event.stages, &is, 4).with(&newcomers);
        let moved = |game: &Pairing| resizing.place(game).unwrap().unwrap_or(*game);
        let mut grown = Event { stages: is.clone(), ..event.resumed() };
        (grown.schedule, grown.entries) = (Event::schedule(&is, 3), vec![joined(3, None)]);
        grown.entries.extend(event.played.iter().map(|game| draw(moved(game))));
        let mut grown = grown.resumed();
        assert_eq!(grown.play(usize::MAX), Next::Done);
        assert!(grown.met().values().all(|games| *games == 8), "{:?}", grown.met());
    }

    #[test]
    fn a_place_and_a_number_are_one_encounter() {
        let stage = Stage { format: Format::RoundRobin { cycles: 3 }, ..Stage::default() };
        let joined = [(4, None), (5, Some(2)), (6, None)];
        let joined = joined
            .map(|(player, replaces)| Joined { player: PlayerId(player), replaces: replaces.map(PlayerId) });
        let field = Field { stage: &stage, entrants: 7, joined: &joined, seed: 3 };
        for encounter in 0..field.encounters() {
            assert_eq!(field.place(encounter).and_then(|place| field.number(place)), Some(encounter));
        }
        assert_eq!(field.place(field.encounters()), None);
        assert_eq!(field.number((Some(0), 12)), None);
    }

    #[test]
    fn the_rounds_of_a_newcomer_follow_on_the_last_one_before_it() {
        // Four players have three rounds in a cycle; of five, the odd one pauses in each of five.
        for (format, games, players, first) in [
            (Format::RoundRobin { cycles: 1 }, 2, 4, 4),
            (Format::RoundRobin { cycles: 2 }, 2, 4, 7),
            (Format::RoundRobin { cycles: 1 }, 4, 4, 7), // a pair of each encounter, then the second pairs
            (Format::RoundRobin { cycles: 1 }, 1, 5, 6),
            (Format::Gauntlet { challengers: 1, cycles: 1 }, 2, 4, 4),
            (Format::Random { rounds: 6 }, 1, 4, 7),
        ] {
            let mut event = Event::new(format, games, players);
            let newcomers = [players as u32, players as u32 + 1];
            newcomers.iter().for_each(|player| event.fold(joined(*player, None)));
            assert_eq!(event.play(usize::MAX), Next::Done);
            let mut next = first;
            for player in newcomers.map(PlayerId) {
                let is_its = |game: &&Pairing| game.black.max(game.white) == player;
                let of_it: Vec<&Pairing> = event.played.iter().filter(is_its).collect();
                assert!(!of_it.is_empty(), "{format:?}");
                for encounter in of_it.chunks(if games % 2 == 0 { 2 } else { 1 }) {
                    assert!(encounter.iter().all(|game| game.round == next), "{format:?} {encounter:?}");
                    next += 1;
                }
            }
        }
    }

    #[test]
    fn colours_of_a_newcomer_alternate_from_opponent_to_opponent_and_turn_in_the_next_cycle() {
        let mut event = Event::new(Format::RoundRobin { cycles: 2 }, 1, 3);
        event.fold(joined(3, None));
        assert_eq!(event.play(usize::MAX), Next::Done);
        let newcomer = PlayerId(3);
        let own: Vec<(u32, bool)> = event
            .played
            .iter()
            .filter(|game| game.black == newcomer || game.white == newcomer)
            .map(|game| (game.black.0.min(game.white.0), game.black == newcomer))
            .collect();
        assert_eq!(
            own,
            [(0, true), (2, false), (1, true), (0, false), (2, true), (1, false)],
            "by colours had before"
        );
    }

    #[test]
    fn opponents_of_a_newcomer_of_random_pairing_are_shuffled_by_the_seed_and_no_two_newcomers_alike() {
        let stage = Stage { format: Format::Random { rounds: 8 }, ..Stage::default() };
        let joined = [8, 9].map(|player| Joined { player: PlayerId(player), replaces: None });
        let met = |seed, number: usize| -> Vec<usize> {
            let field = Field { stage: &stage, entrants: 10, joined: &joined, seed };
            let opponent = |at| {
                let table = field.table(field.number((Some(number), at)).unwrap()).unwrap();
                table.black.min(table.white)
            };
            (0..8).map(opponent).collect()
        };
        let mut first = met(3, 0);
        assert_ne!(first, met(4, 0));
        assert_ne!(first[..7], met(3, 1)[..7]);
        first.sort_unstable();
        assert_eq!(first, (0..8).collect::<Vec<_>>());
    }

    #[test]
    fn a_replacement_of_a_replacement_of_a_challenger_is_one_and_nobody_else_is() {
        let stage = Stage { format: Format::Gauntlet { challengers: 2, cycles: 1 }, ..Stage::default() };
        let joined = [(5, Some(1)), (6, Some(5)), (7, None), (8, Some(4)), (9, Some(7))];
        let joined = joined
            .map(|(player, replaces)| Joined { player: PlayerId(player), replaces: replaces.map(PlayerId) });
        let field = Field { stage: &stage, entrants: 10, joined: &joined, seed: 3 };
        let challengers: Vec<usize> = (0..10).filter(|seat| field.challenges(*seat, 2)).collect();
        assert_eq!(challengers, [0, 1, 5, 6]);
    }
}
