//! The lobby of an event: its entrants wait for the games that the event pairs, everybody else looks on.

use super::{
    game_view::{GameView, apply},
    lobby::{Lobby, LoginId, Status},
    roster::Roster,
};
use arena::play::Fixture;
use journal::now;
use notation::csa::{
    game_name::{Entry, GameName, Wish, player_id},
    move_to_csa,
    summary::Summary,
    wire::NAME_MAX,
};
use plan::Plan;
use plan::serve::Compat;
use plan::serve::{Login, ServeConfig};
use referee::{
    Color,
    clock::TimeControl,
    event::{Event, GameId, GameStarted, Moved, PlayerId, Stamped},
    rules::{Declaration, Rules},
    schedule::Pairing,
};
use rsshogi::{
    board::{Position, position_from_sfen},
    types::Move,
};
use seat::{Seat, transcript::Transcripts};
use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::Arc,
};
use tokio::sync::mpsc;

/// An event as its network side sees it.
pub struct Entrants {
    name: String,
    players: Vec<Entrant>,
    numbers: HashMap<String, PlayerId>,
    rules: Rules,
    /// Whoever logs in first as an entrant says by what trip it is known from then on.
    trips: HashMap<String, String>,
    /// The boards of running games, for spectators.
    boards: BTreeMap<GameId, Position>,
}

impl fmt::Debug for Entrants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entrants")
            .field("name", &self.name)
            .field("players", &self.players)
            .finish_non_exhaustive()
    }
}

#[derive(Debug)]
struct Entrant {
    /// Its name as the protocol can spell it.
    name: String,
    time: TimeControl,
}

impl Entrants {
    /// The entrants of a plan.
    #[must_use]
    pub fn of(plan: &Plan) -> Self {
        let players: Vec<Entrant> = plan
            .engines
            .iter()
            .map(|engine| Entrant { name: spelled(&engine.name), time: engine.time })
            .collect();
        let remote = plan.engines.iter().enumerate().filter(|(_, engine)| engine.remote);
        let number = |at| PlayerId(u16::try_from(at).unwrap_or(u16::MAX));
        let numbers = remote.map(|(at, engine)| (engine.name.clone(), number(at))).collect();
        let (trips, boards) = (HashMap::new(), BTreeMap::new());
        Self { name: spelled(&plan.name), players, numbers, rules: plan.rules, trips, boards }
    }

    /// What the games of the event are called: its name, with the time of the player.
    fn game_name(&self, player: PlayerId) -> Option<GameName> {
        let TimeControl { main, byoyomi, increment, .. } = self.players[player.index()].time;
        let last = match increment.is_zero() {
            true => byoyomi.as_secs().to_string(),
            false => format!("{}F", increment.as_secs()),
        };
        format!("{}-{}-{last}", self.name, main.as_secs()).parse().ok()
    }

    /// Lets an entrant in who shows the trip it has shown before, and whoever wants to look on; what it is refused with
    /// otherwise.
    pub(super) fn admit(&mut self, name: &str, password: &str, extended: bool) -> Result<(), &'static str> {
        if !self.numbers.contains_key(name) {
            return if extended { Ok(()) } else { Err("no entrant of this event") };
        }
        let trip = Entry::read(password).trip.unwrap_or_else(|| password.to_owned());
        match self.trips.entry(name.to_owned()).or_insert_with(|| trip.clone()) {
            known if *known == trip => Ok(()),
            _ => Err("this entrant has logged in with another trip"),
        }
    }
}

/// A name with everything replaced that the protocol has no place for.
fn spelled(name: &str) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() || "_-.@".contains(c) { c } else { '_' };
    name.chars().map(allowed).take(NAME_MAX).collect()
}

impl Lobby {
    /// The lobby of an event.
    #[must_use]
    pub fn of_event(config: Arc<ServeConfig>, event: Entrants, transcripts: Transcripts) -> Self {
        let (nobody_pairs_here, _) = mpsc::unbounded_channel();
        let roster = Roster::new(event.players.iter().map(|player| player.name.clone()).collect());
        let mut lobby = Self::new(config, Arc::new(roster), GameId(1), nobody_pairs_here, transcripts);
        lobby.event = Some(event);
        lobby
    }

    /// An entrant waits for its next game, without being asked.
    pub(super) fn await_round(&mut self, login: LoginId) {
        let (Some(player), Some(event)) = (self.players.get_mut(&login), &self.event) else { return };
        let number = event.numbers.get(&player.name);
        if let Some(game) = number.and_then(|number| event.game_name(*number)) {
            player.status = Status::GameWaiting(game, Wish::Either);
        }
    }

    /// Whether the player is here and waits for a game.
    #[must_use]
    pub fn waits(&self, player: PlayerId) -> bool {
        self.waiting(player).is_some()
    }

    fn waiting(&self, player: PlayerId) -> Option<LoginId> {
        let entrant = self.event.as_ref()?.players.get(player.index())?;
        let login = *self.names.get(&entrant.name)?;
        matches!(self.players.get(&login)?.status, Status::GameWaiting(..)).then_some(login)
    }

    /// Seats the remote players of a game, if all of them are still here.
    pub fn seat_remote(&mut self, fixture: &Fixture) -> Option<[Option<Seat>; 2]> {
        let Fixture { setup, pairing, .. } = fixture;
        let players = [pairing.black, pairing.white];
        let mut logins = [None; 2];
        for side in [0, 1].into_iter().filter(|&side| setup.hears[side]) {
            logins[side] = Some(self.waiting(players[side])?);
        }
        let opening: Vec<String> = setup.opening.iter().map(|mv| mv.to_usi()).collect();
        let summary = self.announce(setup.game, pairing, &setup.start, &opening.join(" "))?;
        let mut seat = |color: Color| {
            let login = logins[color.index()]?;
            let name = self.event.as_ref()?.game_name(players[color.index()])?;
            let place = self.place(setup.game, color, summary.clone(), setup.opening.clone());
            Some(self.offer(login, name, place, false))
        };
        Some([seat(Color::Black), seat(Color::White)])
    }

    /// Puts a game on the list, with the summary that everybody gets of it.
    fn announce(&mut self, game: GameId, pairing: &Pairing, start: &str, opening: &str) -> Option<Summary> {
        let event = self.event.as_ref()?;
        let players = [pairing.black, pairing.white].map(|player| &event.players[player.index()]);
        let (names, times) = (players.map(|player| player.name.clone()), players.map(|player| player.time));
        let label = event.game_name(pairing.black)?;
        let (max_moves, declares) = (event.rules.max_moves, event.rules.declaration == Declaration::Csa27);
        let (moves, board) = spelled_moves(start, opening);
        let mut summary = self.summary(&label, names.clone(), start.to_owned(), &moves, &times);
        let first = position_from_sfen(start).map_or(Color::Black, |first| first.turn().into());
        summary.to_move = match self.config.compat {
            Compat::Protocol => first,
            Compat::ShogiServer => board.turn().into(),
        };
        summary.max_moves = Some(max_moves.unwrap_or(0));
        summary.declaration = declares.then(|| "Jishogi 1.1".to_owned());
        let (ids, unit, compat) = (self.ids(&names), self.config.unit(), self.config.compat);
        let view = GameView::new(summary.clone(), ids, times, unit, compat, now());
        self.list(game, view);
        self.event.as_mut()?.boards.insert(game, board);
        Some(summary)
    }

    /// The players with the trips they have shown; a password that the host keeps is shown to nobody.
    fn ids(&self, names: &[String; 2]) -> [String; 2] {
        let trips =
            self.event.as_ref().filter(|_| self.config.login == Login::Open).map(|event| &event.trips);
        let id = |name: &String| player_id(name, trips.and_then(|trips| trips.get(name)).map(String::as_str));
        [id(&names[0]), id(&names[1])]
    }

    /// Shows spectators what happened in the event.
    pub fn happened(&mut self, stamped: &Stamped) {
        match &stamped.event {
            Event::GameStarted(GameStarted { game, pairing, start, opening, .. })
                if !self.games.contains_key(game) =>
            {
                self.announce(*game, pairing, start, opening);
            }
            Event::Moved(Moved { game, mv, charged, .. }) => {
                let board = self.event.as_mut().and_then(|event| event.boards.get_mut(game));
                let Some(board) = board else { return };
                if let Some(text) = move_to_csa(board, *mv).filter(|text| apply(board, text)) {
                    let charged = self.config.unit().count(*charged);
                    self.moved(*game, text, charged);
                }
            }
            Event::GameEnded(end) => {
                self.told(end.game);
                self.over(end.game, Some(end.outcome));
                if let Some(event) = &mut self.event {
                    event.boards.remove(&end.game);
                }
            }
            _ => {}
        }
    }
}

/// The moves of an opening as the protocol spells them, and the board after them.
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
