//! A running game as it is shown: `%%SHOW`, `%%MONITOR`, `%%MONITOR2`.

use super::lobby::LoginId;
use notation::csa::{
    move_from_csa, position_lines,
    summary::{Span, Standing, Summary, TimeUnit},
    wire::{Ending, ServerLine},
};
use notation::date;
use notation::printable;
use plan::serve::Compat;
use referee::{Color, Outcome, WinBy, clock::TimeControl};
use rsshogi::{
    board::{Position, position_from_sfen},
    types::Move32,
};
use seat::csa_host::ending;

/// Characters of a comment that watchers are shown.
const COMMENT: usize = 1000;

/// A running game.
#[derive(Debug)]
pub struct GameView {
    summary: Summary,
    /// The players with their trips, black first.
    ids: [String; 2],
    times: [TimeControl; 2],
    unit: TimeUnit,
    compat: Compat,
    /// When it was arranged, in ms since 1970.
    at: i64,
    /// Moves made, with the time units charged.
    moves: Vec<(String, u64)>,
    /// What was said of a move that was not made yet.
    comment: Option<(String, String)>,
    /// Who watches, and whether moves alone.
    watchers: Vec<(LoginId, bool)>,
    /// Everything was heard from the one who tells it.
    told: bool,
    outcome: Option<Outcome>,
}

/// Lines for a watcher.
pub type Shown = (LoginId, String);

impl GameView {
    /// A game that was arranged at `at`, in ms since 1970.
    #[must_use]
    pub fn new(
        summary: Summary,
        ids: [String; 2],
        times: [TimeControl; 2],
        unit: TimeUnit,
        compat: Compat,
        at: i64,
    ) -> Self {
        let (moves, watchers) = (vec![], vec![]);
        Self {
            summary,
            ids,
            times,
            unit,
            compat,
            at,
            moves,
            comment: None,
            watchers,
            told: false,
            outcome: None,
        }
    }

    /// The game's id.
    #[must_use]
    pub fn id(&self) -> &str {
        self.summary.game_id.as_deref().unwrap_or_default()
    }

    /// The summary of the game as it stands, every line behind `prefix`.
    #[must_use]
    pub fn show(&self, prefix: &str) -> String {
        let mut lines = prefixed(prefix, &self.now().to_string());
        lines.push_str(&format!("{prefix} +OK\n"));
        lines
    }

    /// Begins to watch; what is seen first.
    pub fn watch(&mut self, watcher: LoginId, moves_only: bool) -> String {
        self.unwatch(watcher, moves_only);
        self.watchers.push((watcher, moves_only));
        let prefix = self.prefix(moves_only);
        match moves_only {
            false => self.show(&prefix),
            true => prefixed(&prefix, &self.record()) + &format!("{prefix} +OK\n"),
        }
    }

    /// Watches no longer.
    pub fn unwatch(&mut self, watcher: LoginId, moves_only: bool) {
        self.watchers.retain(|known| *known != (watcher, moves_only));
    }

    /// Something was said of a move before it was made; watchers of moves are shown it with the move.
    pub fn commented(&mut self, mv: &str, comment: &str) {
        let shown = printable(comment.as_bytes());
        self.comment = Some((mv.to_owned(), shown.chars().take(COMMENT).collect()));
    }

    /// A move was made.
    pub fn moved(&mut self, mv: String, charged: u64) -> Vec<Shown> {
        let comment = self.comment.take().filter(|(of, _)| *of == mv);
        // As records have it, with a second asterisk.
        let comment = comment.map(|(_, text)| format!("{} '*{}\n", self.prefix(true), &text[1..]));
        self.moves.push((mv, charged));
        if self.watchers.is_empty() {
            return vec![];
        }
        let (mv, charged) = &self.moves[self.moves.len() - 1];
        let took = self.in_record(*charged);
        let prefix = self.prefix(true);
        let alone = format!("{prefix} {mv}\n{prefix} {took}\n{}{prefix} +OK\n", comment.unwrap_or_default());
        let whole =
            self.watchers.iter().any(|(_, moves_only)| !moves_only).then(|| self.show(&self.prefix(false)));
        let lines = |moves_only| if moves_only { alone.clone() } else { whole.clone().unwrap_or_default() };
        self.watchers.iter().map(|&(login, moves_only)| (login, lines(moves_only))).collect()
    }

    /// The one who tells the moves has told them all; the lines about the end, once it is known.
    pub fn told(&mut self) -> Option<Vec<Shown>> {
        self.told = true;
        self.ended()
    }

    /// The game is over; the lines about it, once every move was told.
    pub fn over(&mut self, outcome: Outcome) -> Option<Vec<Shown>> {
        self.outcome = Some(outcome);
        self.ended()
    }

    fn ended(&self) -> Option<Vec<Shown>> {
        let (true, Some(outcome)) = (self.told, self.outcome) else { return None };
        let declared = matches!(outcome, Outcome::Win { by: WinBy::IllegalDeclaration, .. });
        let word = match ending(outcome, Color::Black).0 {
            Ending::Resign => "%TORYO".to_owned(),
            _ if declared && self.compat == Compat::ShogiServer => "%KACHI".to_owned(),
            Ending::Jishogi => "%KACHI".to_owned(),
            ending => ServerLine::Ending(ending).to_string(),
        };
        let lines = |moves_only| {
            let prefix = self.prefix(moves_only);
            format!("{prefix} {word}\n{prefix} +OK\n")
        };
        Some(self.watchers.iter().map(|&(login, moves_only)| (login, lines(moves_only))).collect())
    }

    fn prefix(&self, moves_only: bool) -> String {
        format!("##[MONITOR{}][{}]", if moves_only { "2" } else { "" }, self.id())
    }

    fn start(&self) -> Position {
        position_from_sfen(&self.summary.start).unwrap_or_default()
    }

    /// The summary with the board and the clocks of this moment.
    fn now(&self) -> Summary {
        let mut position = self.start();
        position.init_stack();
        let mut left = self.times.map(|time| self.unit.count(time.main));
        let before = self.summary.moves.iter().map(|(mv, _)| (mv, None));
        for (mv, charged) in before.chain(self.moves.iter().map(|(mv, charged)| (mv, Some(*charged)))) {
            let side = Color::from(position.turn()).index();
            if let Some(charged) = charged {
                let increment = self.unit.count(self.times[side].increment);
                left[side] = (left[side] + increment).saturating_sub(charged);
            }
            apply(&mut position, mv);
        }
        let last_move = self.moves.last().map_or_else(String::new, |(mv, time)| format!("{mv},T{time}"));
        let mut summary = self.summary.clone();
        let plies = summary.moves.len() + self.moves.len();
        let current_turn = u32::try_from(plies).unwrap_or(u32::MAX);
        if let Some(block) = summary.times.blocks_mut().last_mut() {
            block.standing = Some(Standing { remaining: left, last_move, current_turn });
        }
        // shogi-server tells spectators `+` whoever is to move.
        let turn = Color::from(position.turn());
        summary.to_move = if self.compat == Compat::Protocol { turn } else { Color::Black };
        summary.moves.clear();
        summary.start = position.to_sfen(Some(1));
        summary
    }

    /// The players with their trips, black first.
    #[must_use]
    pub fn ids(&self) -> &[String; 2] {
        &self.ids
    }

    /// When it was arranged, in ms since 1970.
    #[must_use]
    pub fn at(&self) -> i64 {
        self.at
    }

    /// The record so far, as shogi-server writes it.
    #[must_use]
    pub fn record(&self) -> String {
        let Summary { names, max_moves, .. } = &self.summary;
        let mut text = format!(
            "V2\nN+{}\nN-{}\n'Max_Moves:{}\n'Least_Time_Per_Move:{}\n{}$EVENT:{}\n$START_TIME:{}\n",
            names[0],
            names[1],
            max_moves.unwrap_or(0),
            self.times[0].least.as_secs(),
            Some(self.times[0].increment.as_secs())
                .filter(|seconds| *seconds > 0)
                .map_or_else(String::new, |seconds| format!("'Increment:{seconds}\n")),
            self.id(),
            date::text(self.at),
        );
        text.push_str(&position_lines(&self.start()));
        text.push_str(&format!("'rating:{}:{}\n", self.ids[0], self.ids[1]));
        if !self.summary.moves.is_empty() {
            text.push_str(&format!("'buoy game starting with {} moves\n", self.summary.moves.len()));
        }
        let before = self.summary.moves.iter().map(|(mv, time)| (mv, time.unwrap_or(0)));
        for (mv, time) in before.chain(self.moves.iter().map(|(mv, time)| (mv, *time))) {
            text.push_str(&format!("{mv}\n{}\n", self.in_record(time)));
        }
        text
    }

    /// A time charged as a record tells it: in seconds.
    fn in_record(&self, charged: u64) -> String {
        match self.unit.of {
            Span::Msec => format!("T{}.{:03}", charged / 1000, charged % 1000),
            Span::Sec | Span::Min => format!("T{charged}"),
        }
    }

    /// The moves from the start of the game, those set before it included, glued together.
    #[must_use]
    pub fn moves(&self) -> Vec<&str> {
        let before = self.summary.moves.iter().map(|(mv, _)| mv.as_str());
        before.chain(self.moves.iter().map(|(mv, _)| mv.as_str())).collect()
    }
}

/// Plays a move that was legal when it was made.
pub fn apply(position: &mut Position, mv: &str) -> bool {
    let Some(mv) = move_from_csa(position, mv) else { return false };
    let piece = position.moved_piece_after_move(mv);
    position.is_legal_move(mv) && position.try_apply_move32(Move32::from_move_with_piece(mv, piece)).is_ok()
}

fn prefixed(prefix: &str, lines: &str) -> String {
    lines.lines().map(|line| format!("{prefix} {line}\n")).collect()
}
