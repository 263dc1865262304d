//! A running game as spectators are shown it: `%%SHOW`, `%%MONITOR`, `%%MONITOR2`.

use super::presence::LoginId;
use notation::{
    csa::{
        move_from_csa, move_to_csa, position_lines,
        summary::{Span, Standing, Summary, TimeUnit},
        wire::{ChargedTime, Ending, ServerLine},
    },
    date, printable,
};
use plan::serve::Compat;
use referee::{Color, Outcome, WinBy, clock::TimeControl, running::play};
use rsshogi::{
    board::{Position, position_from_sfen},
    types::Move,
};
use seat::csa_host::ending;
use std::{fmt, sync::Arc, time::Duration};

/// Characters of a comment that spectators are shown.
const COMMENT: usize = 1000;

/// The facts of a game that spectators are shown.
#[derive(Clone, Debug)]
pub struct Announcement {
    /// The summary that the players get.
    pub summary: Summary,
    /// The players with their trips, black first.
    pub ids: [String; 2],
    /// The clocks, black first.
    pub times: [TimeControl; 2],
    /// The unit that times are announced in.
    pub unit: TimeUnit,
    /// The variant of the protocol.
    pub compat: Compat,
    /// The time when the game was arranged, in ms since 1970.
    pub at: i64,
}

/// A running game.
pub struct GameView {
    game: Announcement,
    /// The board after `moves`.
    board: Position,
    /// Time units left, black first.
    left: [u64; 2],
    /// Moves made, with the time units charged.
    moves: Vec<(String, u64)>,
    /// Moves that are not spelled yet: they are when the game is looked at, as most games are not watched.
    unread: Vec<(Move, u64)>,
    /// A move that was not made yet, and the player's comment on it.
    comment: Option<(String, String)>,
    /// The spectators, and whether they are shown moves alone.
    watchers: Vec<(LoginId, bool)>,
}

/// Lines for a spectator.
pub type Line = (LoginId, Arc<str>);

impl GameView {
    /// A game before its first move.
    pub fn new(game: Announcement) -> Self {
        let mut board = position_from_sfen(&game.summary.start).unwrap_or_default();
        board.init_stack();
        for (mv, _) in &game.summary.moves {
            apply(&mut board, mv);
        }
        let left = game.times.map(|time| game.unit.count(time.main));
        let (moves, unread, watchers) = (vec![], vec![], vec![]);
        Self { game, board, left, moves, unread, comment: None, watchers }
    }

    /// The game's id.
    pub fn id(&self) -> &str {
        self.game.summary.game_id.as_deref().unwrap_or_default()
    }

    /// True if its Game_ID or one of its players is meant, with a trip or without.
    pub fn is_known_by(&self, is_meant: impl Fn(&str) -> bool) -> bool {
        is_meant(self.id()) || self.game.ids.iter().any(|id| is_meant(id))
    }

    /// The summary of the game as it stands, every line behind `prefix`.
    pub fn show(&mut self, prefix: &str) -> String {
        let mut lines = prefixed(prefix, &self.now().to_string());
        lines.push_str(&format!("{prefix} +OK\n"));
        lines
    }

    /// Adds a spectator; returns the lines that it is shown first.
    pub fn watch(&mut self, watcher: LoginId, moves_only: bool) -> String {
        self.unwatch(watcher, moves_only);
        self.watchers.push((watcher, moves_only));
        let prefix = self.prefix(moves_only);
        match moves_only {
            false => self.show(&prefix),
            true => prefixed(&prefix, &self.record()) + &format!("{prefix} +OK\n"),
        }
    }

    /// Removes a spectator.
    pub fn unwatch(&mut self, watcher: LoginId, moves_only: bool) {
        self.watchers.retain(|known| *known != (watcher, moves_only));
    }

    /// Takes a player's comment on a move that is not made yet; spectators of moves are shown it with the move.
    pub fn commented(&mut self, mv: &str, comment: &str) {
        let shown = printable(comment.as_bytes());
        self.comment = Some((mv.to_owned(), shown.chars().take(COMMENT).collect()));
    }

    /// Takes a move; returns what spectators are shown of it.
    pub fn moved(&mut self, mv: Move, charged: Duration) -> Vec<Line> {
        self.unread.push((mv, self.game.unit.count(charged)));
        if self.watchers.is_empty() && self.comment.is_none() {
            return vec![];
        }
        self.catch_up();
        self.last_shown()
    }

    /// Takes a declaration. Spectators of shogi-server are shown it as if it were a move, and again at the end.
    pub fn declared(&mut self, charged: Duration) -> Vec<Line> {
        if self.game.compat != Compat::ShogiServer {
            return vec![];
        }
        self.catch_up();
        let charged = self.game.unit.count(charged);
        self.charge(charged);
        self.moves.push(("%KACHI".to_owned(), charged));
        self.last_shown()
    }

    /// Spells the moves since the game was last looked at.
    fn catch_up(&mut self) {
        for (mv, charged) in std::mem::take(&mut self.unread) {
            let Some(text) = move_to_csa(&self.board, mv) else { continue };
            self.charge(charged);
            apply(&mut self.board, &text);
            self.moves.push((text, charged));
        }
    }

    fn charge(&mut self, charged: u64) {
        let side = Color::from(self.board.turn()).index();
        let increment = self.game.unit.count(self.game.times[side].increment);
        self.left[side] = (self.left[side] + increment).saturating_sub(charged);
    }

    /// What spectators are shown of the last move.
    fn last_shown(&mut self) -> Vec<Line> {
        let Some((mv, charged)) = self.moves.last() else { return vec![] };
        let comment = self.comment.take().filter(|(of, _)| of == mv);
        // As records have it, with a second asterisk.
        let comment = comment.map(|(_, text)| format!("{} '*{}\n", self.prefix(true), &text[1..]));
        let took = self.in_record(*charged);
        let prefix = self.prefix(true);
        let alone = format!("{prefix} {mv}\n{prefix} {took}\n{}{prefix} +OK\n", comment.unwrap_or_default());
        let board_watched = self.watchers.iter().any(|(_, moves_only)| !moves_only);
        let whole = if board_watched { self.show(&self.prefix(false)) } else { String::new() };
        let [alone, whole] = [alone, whole].map(Arc::<str>::from);
        let lines = |moves_only| if moves_only { alone.clone() } else { whole.clone() };
        self.watchers.iter().map(|&(login, moves_only)| (login, lines(moves_only))).collect()
    }

    /// What spectators are shown of the end.
    pub fn ended(&self, outcome: Outcome) -> Vec<Line> {
        let declared = matches!(outcome, Outcome::Win { by: WinBy::IllegalDeclaration, .. });
        let word = match ending(outcome, Color::Black).0 {
            Ending::Resign => "%TORYO".to_owned(),
            _ if declared && self.game.compat == Compat::ShogiServer => "%KACHI".to_owned(),
            Ending::Jishogi => "%KACHI".to_owned(),
            ending => ServerLine::Ending(ending).to_string(),
        };
        let [whole, alone] = [false, true].map(|moves_only| {
            let prefix = self.prefix(moves_only);
            Arc::<str>::from(format!("{prefix} {word}\n{prefix} +OK\n"))
        });
        let lines = |moves_only| if moves_only { alone.clone() } else { whole.clone() };
        self.watchers.iter().map(|&(login, moves_only)| (login, lines(moves_only))).collect()
    }

    fn prefix(&self, moves_only: bool) -> String {
        format!("##[MONITOR{}][{}]", if moves_only { "2" } else { "" }, self.id())
    }

    /// The summary with the board and the clocks of this moment.
    fn now(&mut self) -> Summary {
        self.catch_up();
        let last_move = self.moves.last().map_or_else(String::new, |(mv, time)| format!("{mv},T{time}"));
        let mut summary = self.game.summary.clone();
        let plies = summary.moves.len() + self.moves.len();
        let current_turn = u32::try_from(plies).unwrap_or(u32::MAX);
        if let Some(block) = summary.times.blocks_mut().last_mut() {
            block.standing = Some(Standing { remaining: self.left, last_move, current_turn });
        }
        // shogi-server announces `+` to spectators whichever side is to move.
        let turn = Color::from(self.board.turn());
        summary.to_move = if self.game.compat == Compat::Protocol { turn } else { Color::Black };
        summary.moves.clear();
        summary.start = self.board.to_sfen(Some(1));
        summary
    }

    /// The players with their trips, black first.
    pub fn ids(&self) -> &[String; 2] {
        &self.game.ids
    }

    /// The names of the players.
    pub fn names(&self) -> &[String; 2] {
        &self.game.summary.names
    }

    /// The time when the game was arranged, in ms since 1970.
    pub fn at(&self) -> i64 {
        self.game.at
    }

    /// The record so far, as shogi-server writes it.
    pub fn record(&mut self) -> String {
        self.catch_up();
        let Announcement { summary, ids, times, at, .. } = &self.game;
        let Summary { names, max_moves, .. } = summary;
        let mut text = format!(
            "V2\nN+{}\nN-{}\n'Max_Moves:{}\n'Least_Time_Per_Move:{}\n{}$EVENT:{}\n$START_TIME:{}\n",
            names[0],
            names[1],
            max_moves.unwrap_or(0),
            times[0].least.as_secs(),
            Some(times[0].increment.as_secs())
                .filter(|seconds| *seconds > 0)
                .map_or_else(String::new, |seconds| format!("'Increment:{seconds}\n")),
            self.id(),
            date::text(*at),
        );
        text.push_str(&position_lines(&position_from_sfen(&summary.start).unwrap_or_default()));
        text.push_str(&format!("'rating:{}:{}\n", ids[0], ids[1]));
        if !summary.moves.is_empty() {
            text.push_str(&format!("'buoy game starting with {} moves\n", summary.moves.len()));
        }
        let units = |time: &Option<ChargedTime>| match time {
            Some(ChargedTime::Units(units)) => *units,
            Some(ChargedTime::Seconds(_)) | None => 0,
        };
        let before = summary.moves.iter().map(|(mv, time)| (mv, units(time)));
        for (mv, time) in before.chain(self.moves.iter().map(|(mv, time)| (mv, *time))) {
            text.push_str(&format!("{mv}\n{}\n", self.in_record(time)));
        }
        text
    }

    /// A time charged in the seconds of records.
    fn in_record(&self, charged: u64) -> String {
        match self.game.unit.of {
            Span::Msec => format!("T{}.{:03}", charged / 1000, charged % 1000),
            Span::Sec | Span::Min => format!("T{charged}"),
        }
    }

    /// The moves from the start of the game, those set before it included, glued together.
    pub fn moves(&mut self) -> Vec<&str> {
        self.catch_up();
        let before = self.game.summary.moves.iter().map(|(mv, _)| mv.as_str());
        before.chain(self.moves.iter().map(|(mv, _)| mv.as_str())).collect()
    }
}

impl fmt::Debug for GameView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GameView")
            .field("game", &self.game)
            .field("moves", &self.moves)
            .finish_non_exhaustive()
    }
}

/// Plays a move in CSA notation; false when it is illegal.
pub fn apply(position: &mut Position, mv: &str) -> bool {
    move_from_csa(position, mv).is_some_and(|mv| play(position, mv))
}

fn prefixed(prefix: &str, lines: &str) -> String {
    lines.lines().map(|line| format!("{prefix} {line}\n")).collect()
}
