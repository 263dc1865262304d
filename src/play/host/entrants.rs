//! The field of an event whose players log in: who is an entrant, and what the games of the event are called.

use super::{
    arrange::{Arranger, Names},
    game_view::{Announcement, apply},
    requests::Refusal,
};
use contest::schedule::Pairing;
use notation::csa::{
    game_name::GameName,
    move_to_csa,
    names::{player_names, spelled},
};
use plan::{
    EnginePlan, Plan,
    serve::{Compat, ServeConfig},
};
use referee::{
    Color,
    clock::TimeControl,
    entry::PlayerId,
    rules::{Declaration, Rules},
    sink::EntrantTrip,
};
use rsshogi::{
    board::{Position, position_from_sfen},
    types::Move,
};
use std::collections::HashMap;
use words::{Message, refuse};

/// The field of an event.
#[derive(Debug)]
pub struct Entrants {
    event: String,
    players: Vec<Entrant>,
    /// The entrants who log in over the network.
    remote: HashMap<String, PlayerId>,
    rules: Rules,
    /// The trip of each remote entrant's first login, by which it is known from then on.
    trips: HashMap<String, String>,
    /// The ids of the entrants who have logged in, with their trips.
    ids: HashMap<String, String>,
}

#[derive(Debug)]
struct Entrant {
    /// The name as the protocol can spell it.
    name: String,
    engine: EnginePlan,
}

impl Entrants {
    /// The entrants of a plan, some of whom are known from earlier runs.
    pub fn of(plan: &Plan, known: Vec<EntrantTrip>) -> Self {
        let trips = known.into_iter().map(|EntrantTrip { name, trip }| (name, trip)).collect();
        let names = player_names(plan.engines.iter().map(|engine| engine.name.as_str()));
        let players = names.into_iter().zip(&plan.engines);
        let players = players.map(|(name, engine)| Entrant { name, engine: engine.clone() }).collect();
        let remote = plan.engines.iter().enumerate().filter(|(_, engine)| engine.remote);
        let remote = remote.map(|(at, engine)| (engine.name.clone(), PlayerId::at(at))).collect();
        let event = Some(spelled(&plan.name)).filter(|event| !event.is_empty());
        let event = event.unwrap_or_else(|| "event".to_owned());
        Self { event, players, remote, rules: plan.rules, trips, ids: HashMap::new() }
    }

    /// Gives the place of a remote entrant to another name, which returns the place.
    ///
    /// # Errors
    /// When the one is no remote entrant, or the other is an entrant already.
    pub fn swap(&mut self, out: &str, substitute: &str) -> Result<PlayerId, Message> {
        if self.players.iter().any(|player| player.name == substitute) || self.remote.contains_key(substitute)
        {
            return refuse(|words| words.entrant_already(substitute));
        }
        let Some(player) = self.remote.get(out).copied() else {
            return refuse(|words| words.no_remote_entrant(out));
        };
        self.give(player, substitute);
        Ok(player)
    }

    /// Gives a place to another name.
    pub fn give(&mut self, player: PlayerId, substitute: &str) {
        self.remote.retain(|_, place| *place != player);
        self.remote.insert(substitute.to_owned(), player);
        if let Some(entrant) = self.players.get_mut(player.index()) {
            substitute.clone_into(&mut entrant.name);
        }
    }

    /// The names of all entrants, by number.
    pub fn names(&self) -> Vec<String> {
        self.players.iter().map(|player| player.name.clone()).collect()
    }

    /// The names of the entrants who log in over the network.
    pub fn remote_names(&self) -> impl Iterator<Item = &str> {
        self.remote.keys().map(String::as_str)
    }

    /// The name of an entrant.
    pub fn name(&self, player: PlayerId) -> Option<&str> {
        self.players.get(player.index()).map(|entrant| entrant.name.as_str())
    }

    /// The name of the games of a remote entrant; `None` for anybody else.
    pub fn game_of(&self, name: &str) -> Option<GameName> {
        self.game_name(*self.remote.get(name)?)
    }

    /// The name of the games of the event: that of the event, with the time of the player.
    pub fn game_name(&self, player: PlayerId) -> Option<GameName> {
        self.named(&self.players[player.index()].engine.time)
    }

    fn named(&self, time: &TimeControl) -> Option<GameName> {
        let TimeControl { main, byoyomi, increment, .. } = time;
        let last = match increment.is_zero() {
            true => byoyomi.as_secs().to_string(),
            false => format!("{}F", increment.as_secs()),
        };
        format!("{}-{}-{last}", self.event, main.as_secs()).parse().ok()
    }

    /// Admits an entrant with the trip of its first login, which is returned to be kept, and spectators in the extended
    /// mode. Where a password was checked there is no trip.
    ///
    /// # Errors
    /// The answer to a login that is refused.
    pub fn admit(
        &mut self,
        name: &str,
        id: &str,
        trip: Option<&str>,
        extended: bool,
    ) -> Result<Option<EntrantTrip>, Refusal> {
        if !self.remote.contains_key(name) {
            // A player's name has no characters that a terminal could take for more.
            let unknown =
                || Refusal::new(&format!("no entrant of this event has the name `{name}`\n"), false);
            return if extended { Ok(None) } else { Err(unknown()) };
        }
        let new = match (trip, self.trips.get(name)) {
            (Some(trip), Some(known)) if known != trip => {
                let why = format!("the entrant `{name}` has logged in with another secret\n");
                return Err(Refusal { guessed: true, ..Refusal::new(&why, false) });
            }
            (Some(trip), None) => {
                self.trips.insert(name.to_owned(), trip.to_owned());
                Some(EntrantTrip { name: name.to_owned(), trip: trip.to_owned() })
            }
            _ => None,
        };
        self.ids.insert(name.to_owned(), id.to_owned());
        Ok(new)
    }

    /// The names of the games of the entrants who log in over the network, each once.
    pub fn game_names(&self) -> Vec<String> {
        let names = self.remote.values().filter_map(|player| self.game_name(*player));
        let mut names: Vec<String> = names.map(|name| name.as_str().to_owned()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The announcement of a game of the event, with the opening in USI notation, and with clocks of its own if it has any.
    pub fn announce(
        &self,
        arranger: &mut Arranger,
        config: &ServeConfig,
        pairing: &Pairing,
        (start, opening): (&str, &str),
        times: Option<&[TimeControl; 2]>,
    ) -> Option<Announcement> {
        let players = [pairing.black, pairing.white].map(|player| &self.players[player.index()]);
        let names = players.map(|player| player.name.clone());
        let of_plan =
            |(player, color): (&Entrant, Color)| player.engine.time_in(pairing.stage, pairing.round, color);
        let [black, white] = players;
        let of_plan = [(black, Color::Black), (white, Color::White)].map(of_plan);
        let times = times.copied().unwrap_or(of_plan);
        let ids = names.clone().map(|name| self.ids.get(&name).cloned().unwrap_or(name));
        let (moves, board) = spelled_moves(start, opening);
        let game = &self.named(&of_plan[0])?;
        let mut summary = arranger.summary(Names { game, players: names }, start.to_owned(), &moves, &times);
        let first = position_from_sfen(start).map_or(Color::Black, |first| first.turn().into());
        summary.to_move = match config.compat {
            Compat::Protocol => first,
            Compat::ShogiServer => board.turn().into(),
        };
        summary.max_moves = Some(self.rules.max_moves.unwrap_or(0));
        let declares = self.rules.declaration == Declaration::Csa27;
        summary.declaration = declares.then(|| "Jishogi 1.1".to_owned());
        Some(arranger.announcement(summary, ids, times))
    }
}

/// The moves of an opening in CSA notation, and the board after them.
fn spelled_moves(start: &str, opening: &str) -> (Vec<String>, Position) {
    let mut board = position_from_sfen(start).unwrap_or_default();
    board.init_stack();
    let mut moves = vec![];
    for mv in opening.split_whitespace().filter_map(Move::from_usi) {
        let text = move_to_csa(&board, mv).filter(|text| apply(&mut board, text));
        moves.extend(text);
    }
    (moves, board)
}
