//! From two players to a game: summary, clocks and start become a fixture, two seats and a view for spectators.

use super::{
    game_view::{Announcement, GameView, apply},
    games::Games,
    mailbox::{Message, Offer},
    presence::Player,
    record_files::RecordFiles,
    roster::Roster,
};
use arena::{actor_thread::ActorThread, play::Fixture};
use contest::schedule::Pairing;
use journal::{Store, StoreError, now};
use notation::{
    csa::{
        game_name::GameName,
        move_from_csa,
        summary::{Summary, TAKES_COMMENTS},
        wire::ChargedTime,
    },
    date,
};
use plan::serve::{Compat, ServeConfig};
use platform::limits::SharedBucket;
use referee::{
    Color,
    clock::TimeControl,
    entry::GameId,
    game::Setup,
    opening::EVEN,
    rules::Declaration,
    sink::{SideRecord, Sink},
};
use rsshogi::{board::position_from_sfen, types::Move};
use seat::{
    Seat,
    csa_host::{self, SeatTerms},
    transcript::Transcripts,
};
use std::{collections::HashMap, mem, path::PathBuf, sync::Arc, time::Duration};

/// A game whose players have been offered it.
#[derive(Debug)]
pub struct ArrangedGame {
    /// The game.
    pub fixture: Fixture,
    /// Its players.
    pub seats: [Seat; 2],
    /// The thread that it is played on.
    pub thread: ActorThread,
}

/// The names of a game and its players, as they are announced.
#[derive(Debug)]
pub struct Names<'a> {
    /// The game's name.
    pub game: &'a GameName,
    /// The players, black first.
    pub players: [String; 2],
}

/// Arranges games by the configuration of a host.
#[derive(Debug)]
pub struct Arranger {
    pub(super) config: Arc<ServeConfig>,
    roster: Arc<Roster>,
    pub(super) transcripts: Transcripts,
    record_files: RecordFiles,
    /// Dates given out this second and later, so that no two games have one id, and the second.
    dates: (i64, HashMap<String, i64>),
}

impl Arranger {
    /// An arranger whose games are kept in the transcripts and, where they are wanted, in record files. It gives out no id
    /// that an earlier run of the `stored` event gave out: a league that was killed may be back within the second.
    ///
    /// # Errors
    /// When there is a database that cannot be read.
    pub fn new(
        config: Arc<ServeConfig>,
        roster: Arc<Roster>,
        transcripts: Transcripts,
        record_files: RecordFiles,
        (database, event): &(PathBuf, String),
    ) -> Result<Self, StoreError> {
        let mut dates = HashMap::new();
        let store = database.exists().then(|| Store::read(database)).transpose()?;
        if let Some(store) = store
            && let Some(event) = store.event_named(event)?
        {
            let names = store.names_dated_from(event, &date::digits(now()))?;
            let given = names.iter().filter_map(|name| name.rsplit_once('+'));
            let given = given.filter_map(|(base, at)| Some((base.to_owned(), date::of_digits(at)? / 1000)));
            given.for_each(|(base, at)| {
                let last = dates.entry(base).or_insert(at);
                *last = at.max(*last);
            });
        }
        Ok(Self { config, roster, transcripts, record_files, dates: (0, dates) })
    }

    /// The players of the event.
    pub fn roster(&self) -> &Roster {
        &self.roster
    }

    /// The sink that entries are reported to.
    pub fn sink(&self) -> &dyn Sink {
        &**self.transcripts.sink()
    }

    /// A game between two players, black first, that starts with the moves of `opening`; rounds count from 1.
    pub fn arrange(
        &mut self,
        game: GameId,
        name: &GameName,
        players: [&Player; 2],
        opening: &[String],
        round: u32,
    ) -> (Fixture, Announcement) {
        let ids = players.map(|player| player.id.clone());
        let names = Names { game: name, players: players.map(|player| player.name.clone()) };
        let times = [0, 1].map(|side| self.config.clock(name, &names.players[side], &ids[side]));
        let start = name.handicap().unwrap_or_else(|| EVEN.to_owned());
        let summary = self.summary(names, start, opening, &times);
        let setup = self.setup(game, &summary, times);
        let pairing = self.pairing(game, &ids, round);
        let fixture = Fixture { tells_times: true, ..Fixture::of(setup, pairing) };
        (fixture, self.announcement(summary, ids, times))
    }

    /// The facts that spectators are shown of a game that is arranged now.
    pub fn announcement(&self, summary: Summary, ids: [String; 2], times: [TimeControl; 2]) -> Announcement {
        let (unit, compat) = (self.config.unit(), self.config.compat);
        Announcement { summary, ids, times, unit, compat, at: now() }
    }

    /// Lists a game for spectators.
    pub fn list(&self, games: &mut Games, game: GameId, announcement: Announcement) {
        let mut view = GameView::new(announcement);
        self.sink().keep(SideRecord::Named(game, view.id().to_owned()));
        self.record_files.arranged(game, &mut view);
        games.add(game, view);
    }

    /// Seats a player in a game and offers it to the player's connection.
    pub fn offer(&self, player: &Player, terms: SeatTerms, thread: &ActorThread) -> Seat {
        let (game, thread) = (terms.game, thread.clone());
        let (seat, mut host) = csa_host::seat(terms);
        host.keep(&self.transcripts);
        // If the connection is gone, the offer is dropped, and the player's seat with it.
        let _gone = player.mailbox.tell(Message::Game(Box::new(Offer { host, game, thread })));
        seat
    }

    /// The terms on which a player is seated.
    pub fn terms(
        &self,
        (game, color): (GameId, Color),
        summary: Summary,
        opening: Vec<Move>,
        allowance: SharedBucket,
    ) -> SeatTerms {
        SeatTerms {
            game,
            color,
            summary,
            opening,
            compat: self.config.compat,
            agreement: Duration::from_secs(self.config.agreement),
            unit: self.config.unit(),
            game_bytes: self.config.limits.game_bytes,
            allowance,
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
            rules: self.config.rules(),
            opening,
            hears: [true; 2],
            ..Setup::of(game, times, &summary.start)
        }
    }

    fn pairing(&self, game: GameId, ids: &[String; 2], round: u32) -> Pairing {
        let [black, white] = [0, 1].map(|side| self.roster.player(&ids[side]));
        // A player is entered before the first game it is in.
        for entered in self.roster.unreported() {
            self.sink().happened(entered);
        }
        let index = game.0.saturating_sub(1);
        Pairing { stage: 0, index, attempt: 0, round, pair: index, opening: 0, black, white }
    }

    /// The summary of a game under a new id.
    pub fn summary(
        &mut self,
        Names { game, players }: Names<'_>,
        start: String,
        opening: &[String],
        times: &[TimeControl; 2],
    ) -> Summary {
        let base = format!("{}+{game}+{}+{}", self.config.name, players[0], players[1]);
        let game_id = format!("{base}+{}", self.date(&base));
        let shogi_server = self.config.compat == Compat::ShogiServer;
        // shogi-server says that each of these moves took a second, and takes none of it off the clocks.
        let charged = Some(ChargedTime::Units(u64::from(shogi_server)));
        Summary {
            version: "1.2".to_owned(),
            mode: Some("Server".to_owned()),
            format: "Shogi 1.0".to_owned(),
            declaration: (self.config.declaration == Declaration::Csa27).then(|| "Jishogi 1.1".to_owned()),
            game_id: Some(game_id),
            names: players,
            your_turn: None,
            rematch_on_draw: Some(false),
            // The text means the side to move before the moves listed, shogi-server the one after them.
            to_move: if shogi_server && opening.len() % 2 == 1 { Color::White } else { Color::Black },
            max_moves: Some(self.config.max_moves),
            times: self.config.announced(times),
            start,
            moves: opening.iter().map(|mv| (mv.clone(), charged)).collect(),
            // The summary of shogi-server is what its imitation has to look like.
            others: if shogi_server { vec![] } else { vec![TAKES_COMMENTS.to_owned()] },
        }
    }

    /// A date for a game's id; the same game in the same second gets the next one.
    fn date(&mut self, base: &str) -> String {
        let now = now() / 1000;
        let (second, dates) = &mut self.dates;
        if mem::replace(second, now) != now {
            dates.retain(|_, given| *given >= now);
        }
        let given = dates.get(base).map_or(now, |given| now.max(given + 1));
        dates.insert(base.to_owned(), given);
        date::digits(given * 1000)
    }
}
