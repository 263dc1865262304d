//! Two players meet: the game's name, colours, clocks and start become a table, two seats and a view for spectators.

use super::{
    game_view::{GameView, apply},
    lobby::{ArrangedGame, Lobby, LoginId, Message, Offer, Progress, Status},
};
use arena::play::Fixture;
use journal::now;
use notation::csa::{
    game_name::{GameName, Wish},
    move_from_csa,
    summary::Summary,
};
use referee::sink::SideRecord;
use referee::{
    Color, adjudicate::Adjudication, clock::TimeControl, event::GameId, game::Setup, opening::EVEN,
    rules::Declaration, schedule::Pairing,
};
use rsshogi::{board::position_from_sfen, types::Move};
use seat::{
    Seat,
    csa_host::{self, Place},
};
use std::time::Duration;

impl Lobby {
    /// Two players meet. The one who waited has its colour; where neither asks for one, chance has it.
    pub(super) fn arrange(&mut self, name: GameName, waiting: (LoginId, Wish), coming: (LoginId, Wish)) {
        let color = waiting.1.color().or(coming.1.color().map(|color| !color));
        let waits_black = color.map_or_else(rand::random, |color| color == Color::Black);
        let players = if waits_black { [waiting.0, coming.0] } else { [coming.0, waiting.0] };
        self.begin(&name, players, 1);
    }

    /// A game between two players, black first, in a round counted from 1.
    pub(super) fn begin(&mut self, name: &GameName, players: [LoginId; 2], round: u32) {
        let opening = self.take_buoy(name);
        let [names, ids] = [0, 1].map(|what| {
            players.map(|login| {
                let player = self.players.get(&login);
                player.map_or_else(String::new, |player| [&player.name, &player.id][what].clone())
            })
        });
        let times = [0, 1].map(|side| self.config.clock(name, &names[side], &ids[side]));
        let start = name.handicap().unwrap_or_else(|| EVEN.to_owned());
        let summary = self.summary(name, names, start, &opening, &times);
        let game = self.next_game;
        self.next_game = GameId(game.0 + 1);
        let setup = self.setup(game, &summary, times);
        let pairing = self.pairing(game, &ids, round);
        let fixture = Fixture { setup, pairing, draws: 0, replays_draws: false, tells_times: true };
        let view = GameView::new(summary.clone(), ids, times, self.config.unit(), self.config.compat, now());
        self.list(game, view);
        let seats = [(players[0], Color::Black), (players[1], Color::White)].map(|(login, color)| {
            let place = self.place(game, color, summary.clone(), fixture.setup.opening.clone());
            self.offer(login, name.clone(), place, color == Color::Black)
        });
        let _closing = self.matches.send(ArrangedGame { fixture, seats });
    }

    /// Puts a game on the list.
    pub(super) fn list(&mut self, game: GameId, view: GameView) {
        self.transcripts.sink().keep(SideRecord::Named(game, view.id().to_owned()));
        self.record_files.arranged(game, &view);
        self.games.insert(game, view);
    }

    /// Seats a player and offers it the game.
    pub(super) fn offer(&mut self, login: LoginId, name: GameName, place: Place, tells: bool) -> Seat {
        let (game, color) = (place.game, place.color);
        let (seat, mut host) = csa_host::seat(place);
        if let Some(player) = self.players.get_mut(&login) {
            player.status = Status::InGame(name, color, Progress::AgreeWaiting);
            host.keep(&self.transcripts);
            // A full mailbox drops the offer, and with it the seat: the game is lost by it.
            let _behind = player.mailbox.try_send(Message::Game(Box::new(Offer { host, game, tells })));
        }
        seat
    }

    /// A place at a table of this league.
    pub(super) fn place(&self, game: GameId, color: Color, summary: Summary, opening: Vec<Move>) -> Place {
        Place {
            game,
            color,
            summary,
            opening,
            compat: self.config.compat,
            agreement: Duration::from_secs(self.config.agreement),
            unit: self.config.unit(),
        }
    }

    fn setup(&self, game: GameId, summary: &Summary, times: [TimeControl; 2]) -> Setup {
        let mut position = position_from_sfen(&summary.start).unwrap_or_default();
        position.init_stack();
        let spelled = summary.moves.iter().filter_map(|(mv, _)| {
            let read = move_from_csa(&position, mv);
            apply(&mut position, mv);
            read
        });
        let opening = spelled.collect();
        Setup {
            game,
            rules: self.config.rules(),
            adjudication: Adjudication::default(),
            times,
            start: summary.start.clone(),
            opening,
            hears: [true; 2],
            may_reject: true,
        }
    }

    fn pairing(&self, game: GameId, ids: &[String; 2], round: u32) -> Pairing {
        let [black, white] = [0, 1].map(|side| self.roster.player(&ids[side]));
        // A player is entered before the first game it is in.
        if let Some(opened) = self.roster.news(&self.config.name) {
            self.transcripts.sink().happened(opened);
        }
        let index = game.0.saturating_sub(1);
        Pairing { stage: 0, index, attempt: 0, round, pair: index, opening: 0, black, white }
    }

    pub(super) fn summary(
        &mut self,
        name: &GameName,
        names: [String; 2],
        start: String,
        opening: &[String],
        times: &[TimeControl; 2],
    ) -> Summary {
        let base = format!("{}+{name}+{}+{}", self.config.name, names[0], names[1]);
        let game_id = format!("{base}+{}", self.stamp(&base));
        let shogi_server = self.config.compat == plan::serve::Compat::ShogiServer;
        // shogi-server says that each of these moves took a second, and takes none of it off the clocks.
        let charged = Some(u64::from(shogi_server));
        Summary {
            version: "1.2".to_owned(),
            mode: Some("Server".to_owned()),
            format: "Shogi 1.0".to_owned(),
            declaration: (self.config.declaration == Declaration::Csa27).then(|| "Jishogi 1.1".to_owned()),
            game_id: Some(game_id),
            names,
            your_turn: None,
            rematch_on_draw: Some(false),
            // The text means the side to move before the moves listed, shogi-server the one after them.
            to_move: if shogi_server && opening.len() % 2 == 1 { Color::White } else { Color::Black },
            max_moves: Some(self.config.max_moves),
            times: self.config.announced(times),
            start,
            moves: opening.iter().map(|mv| (mv.clone(), charged)).collect(),
            others: vec![],
        }
    }

    /// A date for a game's id; the same game in the same second gets the next one.
    fn stamp(&mut self, base: &str) -> String {
        let now = now() / 1000;
        self.stamps.retain(|_, given| *given >= now);
        let given = self.stamps.get(base).map_or(now, |given| given + 1);
        self.stamps.insert(base.to_owned(), given);
        notation::date::digits(given * 1000)
    }
}
