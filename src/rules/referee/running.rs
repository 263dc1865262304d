//! A game as it stands: its moves, clocks, evaluations and board, folded from its entries. Screens, pages and the boards
//! of other machines show it, each in their own words.

use crate::{
    Color,
    clock::TimeControl,
    entry::{Entry, GameId, GameStarted, Judged, Moved, PlayerId, Stamped, Thought},
    evaluation::Evaluation,
    history::forget,
    opening::EVEN,
    pairing::Pairing,
};
use rsshogi::{board::Position, types::Move};
use std::{collections::BTreeMap, time::Duration};

/// A move on the board.
#[derive(Clone, Debug, PartialEq)]
pub struct Ply {
    /// The move.
    pub mv: Move,
    /// The side that moved.
    pub color: Color,
    /// When, in ms since 1970-01-01 UTC; moves of the opening have the start of the game.
    pub at: i64,
    /// Time charged; `None` for moves of the opening.
    pub charged: Option<Duration>,
    /// Main time left to the mover.
    pub left: Duration,
    /// The last `info` of the engine.
    pub thought: Option<Box<Thought>>,
}

impl Ply {
    /// The evaluation that the engine printed, from black's side.
    pub fn evaluation(&self) -> Option<Evaluation> {
        Some(Evaluation::of(self.thought.as_ref()?.score?, self.color))
    }

    /// The moves of the line that the engine expected, the move played first, up to the first word that is no move.
    pub fn expected_line(&self) -> impl Iterator<Item = Move> {
        let line = self.thought.as_deref().and_then(|thought| thought.pv.as_deref()).unwrap_or_default();
        line.split_whitespace().map_while(Move::from_usi)
    }
}

impl From<(i64, &Moved)> for Ply {
    fn from((at, moved): (i64, &Moved)) -> Self {
        let Moved { mv, color, charged, left, thought, .. } = moved;
        Self { mv: *mv, color: *color, at, charged: Some(*charged), left: *left, thought: thought.clone() }
    }
}

/// A clock as it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownClock {
    /// Main time left, the increment of this move included.
    pub main: Duration,
    /// Byoyomi (or the fixed time) left.
    pub byoyomi: Duration,
    /// True if the clock runs.
    pub running: bool,
}

/// A game from its start to its last move.
#[derive(Clone)]
pub struct RunningGame {
    /// The game.
    pub id: GameId,
    /// The machine that plays it, if it is another one: then it has no number of the event yet.
    pub machine: Option<String>,
    /// Place in the schedule.
    pub pairing: Pairing,
    /// Start in ms since 1970-01-01 UTC.
    pub started: i64,
    /// The start position as SFEN.
    pub start: String,
    /// The moves of the opening in USI, separated by blanks.
    pub opening: String,
    /// The clocks, black first.
    pub times: [TimeControl; 2],
    /// The moves, those of the opening first.
    pub plies: Vec<Ply>,
    /// What the judge of the event says of positions, by the plies before each.
    pub judged: BTreeMap<u32, Evaluation>,
    /// The board after them.
    position: Position,
}

impl std::fmt::Debug for RunningGame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("RunningGame");
        shown.field("id", &self.id).field("plies", &self.plies.len()).finish_non_exhaustive()
    }
}

impl RunningGame {
    /// A game that began at `at`, in ms since 1970-01-01 UTC. `times` are those of the plan, which a game may replace.
    pub fn new(started: &GameStarted, times: [TimeControl; 2], at: i64) -> Self {
        let times = started.times.as_deref().copied().unwrap_or(times);
        let mut game = Self {
            id: started.game,
            machine: None,
            pairing: started.pairing,
            started: at,
            start: started.start.clone(),
            opening: started.opening.clone(),
            times,
            plies: vec![],
            judged: BTreeMap::new(),
            position: position(&started.start),
        };
        for mv in started.opening.split_whitespace().map_while(Move::from_usi) {
            let color = game.turn();
            let left = times[color.index()].main;
            game.put(Ply { mv, color, at, charged: None, left, thought: None });
        }
        game
    }

    /// Folds the entries of a game; `None` if they do not begin with its start.
    pub fn of(entries: &[Stamped], times: impl FnOnce(&Pairing) -> [TimeControl; 2]) -> Option<Self> {
        let (Stamped { at, entry: Entry::GameStarted(started) }, rest) = entries.split_first()? else {
            return None;
        };
        let mut game = Self::new(started, times(&started.pairing), *at);
        for stamped in rest {
            if let Entry::Moved(moved) = &stamped.entry {
                game.moved(moved, stamped.at);
            }
        }
        Some(game)
    }

    /// The same game, as another machine plays it.
    #[must_use]
    pub fn on_machine(self, machine: &str) -> Self {
        Self { machine: Some(machine.to_owned()), ..self }
    }

    /// Takes a move; returns false for one that is not the next, or not legal.
    pub fn moved(&mut self, moved: &Moved, at: i64) -> bool {
        let is_next = usize::try_from(moved.ply).is_ok_and(|ply| ply == self.plies.len() + 1);
        is_next && moved.color == self.turn() && self.put((at, moved).into())
    }

    /// Takes what the judge says of a position of the game.
    pub fn judge(&mut self, judged: &Judged) {
        self.judged.insert(judged.ply, judged.evaluation());
    }

    /// What the judge said last of the positions within the first `plies`, from black's side.
    pub fn opinion(&self, plies: usize) -> Option<Evaluation> {
        let plies = u32::try_from(plies).unwrap_or(u32::MAX);
        self.judged.range(..=plies).next_back().map(|(_, evaluation)| *evaluation)
    }

    fn put(&mut self, ply: Ply) -> bool {
        let is_legal = play(&mut self.position, ply.mv);
        if is_legal {
            self.plies.push(ply);
        }
        is_legal
    }

    /// Black and white.
    pub fn players(&self) -> [PlayerId; 2] {
        [self.pairing.black, self.pairing.white]
    }

    /// What the game is called: its number, or the machine that plays it.
    pub fn label(&self) -> String {
        self.machine.clone().unwrap_or_else(|| format!("#{}", self.id.0))
    }

    /// The side to move.
    pub fn turn(&self) -> Color {
        Color::from(self.position.turn())
    }

    /// The board now.
    pub fn position(&self) -> &Position {
        &self.position
    }

    /// The board after so many plies.
    pub fn position_at(&self, plies: usize) -> Position {
        if plies >= self.plies.len() {
            return self.position.clone();
        }
        let mut position = position(&self.start);
        self.plies[..plies].iter().for_each(|ply| _ = play(&mut position, ply.mv));
        position
    }

    /// The moves after `at` plies that the engine of the next one expected, up to the first that is not legal.
    pub fn variation(&self, at: usize) -> Vec<Move> {
        let Some(ply) = self.plies.get(at) else { return vec![] };
        let mut position = self.position_at(at);
        ply.expected_line().take_while(|mv| play(&mut position, *mv)).collect()
    }

    /// The last ply of a side among the first `plies`.
    pub fn last_of(&self, color: Color, plies: usize) -> Option<&Ply> {
        self.plies[..plies.min(self.plies.len())].iter().rev().find(|ply| ply.color == color)
    }

    /// The clock of a side after `plies` plies, of which that of the side to move runs if `is_live` and the last ply is
    /// shown; `now` is in ms since 1970-01-01 UTC. `None` for an untimed side.
    pub fn clock(&self, color: Color, plies: usize, is_live: bool, now: i64) -> Option<ShownClock> {
        let time = &self.times[color.index()];
        if !time.is_timed() {
            return None;
        }
        let main = self.last_of(color, plies).map_or(time.main, |ply| ply.left) + time.increment;
        let running = is_live && plies >= self.plies.len() && self.turn() == color;
        let since = self.plies.last().map_or(self.started, |ply| ply.at);
        let spent = if running { u64::try_from(now - since).unwrap_or(0) } else { 0 };
        let spent = Duration::from_millis(spent).saturating_sub(time.delay);
        let byoyomi = time.fixed.unwrap_or(time.byoyomi).saturating_sub(spent.saturating_sub(main));
        Some(ShownClock { main: main.saturating_sub(spent), byoyomi, running })
    }

    /// The last evaluation that was printed, from black's side.
    pub fn evaluation(&self) -> Option<Evaluation> {
        self.plies.iter().rev().find_map(Ply::evaluation)
    }

    /// Time that a side has used in the first `plies`.
    pub fn used(&self, color: Color, plies: usize) -> Duration {
        let plies = &self.plies[..plies.min(self.plies.len())];
        plies.iter().filter(|ply| ply.color == color).filter_map(|ply| ply.charged).sum()
    }
}

/// A position given as SFEN; the even one if the text is none.
fn position(sfen: &str) -> Position {
    Position::from_sfen(sfen).or_else(|_| Position::from_sfen(EVEN)).unwrap_or_default()
}

/// Plays a move; returns false, and leaves the position as it is, if it is not legal.
pub fn play(position: &mut Position, mv: Move) -> bool {
    let is_legal = mv.is_normal() && position.try_apply_move32(position.move32_from_move(mv)).is_ok();
    if is_legal {
        forget(position);
    }
    is_legal
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::Score;

    fn started() -> GameStarted {
        rsshogi::board::init();
        let (black, white) = (PlayerId(0), PlayerId(1));
        let pairing = Pairing { stage: 0, index: 0, attempt: 0, round: 1, pair: 0, opening: 0, black, white };
        let opening = "7g7f 3c3d".to_owned();
        GameStarted { game: GameId(1), pairing, start: EVEN.to_owned(), opening, times: None }
    }

    fn moved(ply: u32, usi: &str, score: Score) -> Moved {
        let pv = Some(format!("{usi} 8c8d 2f2f 1g1f"));
        Moved {
            game: GameId(1),
            ply,
            color: Color::BOTH[(ply as usize + 1) % 2],
            mv: Move::from_usi(usi).unwrap(),
            charged: Duration::from_secs(2),
            elapsed: Duration::from_secs(2),
            left: Duration::from_secs(58),
            thought: Some(Box::new(Thought { score: Some(score), pv, ..Thought::default() })),
        }
    }

    fn game() -> RunningGame {
        let time = TimeControl {
            main: Duration::from_secs(60),
            byoyomi: Duration::from_secs(10),
            ..TimeControl::default()
        };
        RunningGame::new(&started(), [time; 2], 1000)
    }

    #[test]
    fn only_the_next_legal_move_of_the_side_to_move_is_taken() {
        let mut game = game();
        for refused in [moved(2, "2g2f", Score::Cp(0)), moved(4, "2g2f", Score::Cp(0))] {
            assert!(!game.moved(&refused, 0), "not the next");
        }
        assert!(!game.moved(&moved(3, "2g2e", Score::Cp(0)), 0), "not legal");
        assert!(
            !game.moved(&Moved { color: Color::White, ..moved(3, "8c8d", Score::Cp(0)) }, 0),
            "not its turn"
        );
        assert!(game.moved(&moved(3, "2g2f", Score::Cp(70)), 3000));
        assert!(game.moved(&moved(4, "8c8d", Score::Mate(5)), 5000));
        assert_eq!((game.plies.len(), game.turn()), (4, Color::Black));
        assert_eq!(
            game.evaluation().map(|evaluation| evaluation.to_string()).as_deref(),
            Some("☖ mate in 5")
        );
        assert_eq!(game.position_at(4).to_sfen(None), game.position().to_sfen(None));
        assert_eq!(game.variation(2).iter().map(|mv| mv.to_usi()).collect::<Vec<_>>(), ["2g2f", "8c8d"]);
        assert_eq!(game.used(Color::Black, 4), Duration::from_secs(2));
    }

    #[test]
    fn the_clock_of_the_side_to_move_runs_from_the_last_move_and_then_into_byoyomi() {
        let mut game = game();
        let seconds = |clock: Option<ShownClock>| {
            let clock = clock.unwrap();
            (clock.main.as_secs(), clock.byoyomi.as_secs(), clock.running)
        };
        assert!(game.moved(&moved(3, "2g2f", Score::Cp(0)), 3000));
        assert_eq!(seconds(game.clock(Color::Black, 3, true, 13_000)), (58, 10, false));
        assert_eq!(seconds(game.clock(Color::White, 3, true, 13_000)), (50, 10, true));
        assert_eq!(seconds(game.clock(Color::White, 3, true, 67_000)), (0, 6, true));
        assert_eq!(seconds(game.clock(Color::White, 3, false, 67_000)), (60, 10, false), "the game is over");
        assert_eq!(
            seconds(game.clock(Color::White, 2, true, 67_000)),
            (60, 10, false),
            "an earlier ply is shown"
        );
        game.times[1] = TimeControl::default();
        assert_eq!(game.clock(Color::White, 3, true, 0), None);
    }

    #[test]
    fn entries_that_do_not_begin_with_a_start_are_no_game() {
        let start = Stamped { at: 1, entry: Entry::GameStarted(started()) };
        let entries = [start, Stamped { at: 2, entry: Entry::Moved(moved(3, "2g2f", Score::Cp(0))) }];
        let times = |_: &Pairing| Default::default();
        assert_eq!(RunningGame::of(&entries, times).unwrap().plies.len(), 3);
        assert!(RunningGame::of(&entries[1..], times).is_none());
    }

    #[test]
    fn the_board_after_any_number_of_plies_is_that_of_its_moves() {
        let mut game = game();
        for (ply, usi) in [(3, "2g2f"), (4, "8c8d"), (5, "8h2b+")] {
            assert!(game.moved(&moved(ply, usi, Score::Cp(0)), 0));
        }
        let line = ["7g7f", "3c3d", "2g2f", "8c8d", "8h2b+"];
        let mut position = position(EVEN);
        for plies in 0..=line.len() {
            assert_eq!(game.position_at(plies).to_sfen(None), position.to_sfen(None), "{plies} plies");
            if let Some(usi) = line.get(plies) {
                assert!(play(&mut position, Move::from_usi(usi).unwrap()));
            }
        }
        assert_eq!(game.position_at(99).to_sfen(None), game.position().to_sfen(None));
        assert!(
            game.variation(99).is_empty() && game.variation(0).is_empty(),
            "no engine expected anything there"
        );
        let line = |ply: usize| game.plies[ply].expected_line().map(|mv| mv.to_usi()).collect::<Vec<_>>();
        assert_eq!(line(2), ["2g2f", "8c8d"], "its third word is no move");
    }

    #[test]
    fn the_last_ply_of_a_side_and_its_time_are_those_within_the_plies_that_are_shown() {
        let mut game = game();
        for (ply, usi) in [(3, "2g2f"), (4, "8c8d"), (5, "2f2e"), (6, "8d8e")] {
            let seconds = Duration::from_secs(u64::from(ply));
            assert!(game.moved(&Moved { charged: seconds, ..moved(ply, usi, Score::Cp(ply as i32)) }, 0));
        }
        let last = |color, plies| game.last_of(color, plies).map(|ply| ply.mv.to_usi());
        assert_eq!(
            [3, 4, 5, 99].map(|plies| last(Color::Black, plies)),
            ["2g2f", "2g2f", "2f2e", "2f2e"].map(|mv| Some(mv.to_owned()))
        );
        assert_eq!(
            [0, 1, 2, 4].map(|plies| last(Color::White, plies)),
            [None, None, Some("3c3d".to_owned()), Some("8c8d".to_owned())]
        );
        let used = |color, plies| game.used(color, plies).as_secs();
        assert_eq!([2, 3, 4, 5, 99].map(|plies| used(Color::Black, plies)), [0, 3, 3, 8, 8]);
        assert_eq!([3, 4, 99].map(|plies| used(Color::White, plies)), [0, 4, 10]);
        assert_eq!(game.plies[2].evaluation(), Some(Evaluation::Cp(3)));
        assert_eq!(game.evaluation(), Some(Evaluation::Cp(-6)), "white's own score is turned");
        assert_eq!(game.players(), [PlayerId(0), PlayerId(1)]);
        assert_eq!(
            (game.label(), game.clone().on_machine("koto").label()),
            ("#1".to_owned(), "koto".to_owned())
        );
    }

    #[test]
    fn the_judge_is_quoted_for_the_last_position_that_is_shown() {
        let mut game = game();
        assert_eq!(game.opinion(9), None);
        for (ply, cp) in [(2, 50), (4, -70)] {
            let (game_id, color) = (GameId(1), Color::Black);
            let judged = Judged { game: game_id, ply, color, score: Score::Cp(cp), depth: None, nodes: None };
            game.judge(&judged);
        }
        let opinions = [1, 2, 3, 4, 9].map(|plies| game.opinion(plies));
        assert_eq!(
            opinions,
            [None, Some(50), Some(50), Some(-70), Some(-70)].map(|cp| cp.map(Evaluation::Cp))
        );
    }

    #[test]
    fn a_shown_clock_knows_increment_delay_fixed_time_and_the_clocks_of_the_game() {
        let ms = Duration::from_millis;
        let shown = |time: TimeControl, now: i64| {
            let game = RunningGame::new(&started(), [time; 2], 1000);
            let ShownClock { main, byoyomi, running } = game.clock(Color::Black, 2, true, now).unwrap();
            assert!(running);
            (main.as_millis(), byoyomi.as_millis())
        };
        let plain = TimeControl { main: ms(5000), ..TimeControl::default() };
        assert_eq!(shown(TimeControl { increment: ms(2000), ..plain }, 2000), (6000, 0));
        assert_eq!(shown(TimeControl { delay: ms(300), ..plain }, 1300), (5000, 0));
        assert_eq!(shown(TimeControl { delay: ms(300), ..plain }, 2300), (4000, 0));
        let fixed = TimeControl { fixed: Some(ms(1500)), ..TimeControl::default() };
        assert_eq!(
            [shown(fixed, 1000), shown(fixed, 1600), shown(fixed, 9000)],
            [(0, 1500), (0, 900), (0, 0)]
        );
        assert_eq!(shown(plain, 500), (5000, 0), "a clock of this machine that goes back takes no time");
        let own = TimeControl { main: ms(7000), ..TimeControl::default() };
        let times = Some(Box::new([own, plain]));
        let game = RunningGame::new(&GameStarted { times, ..started() }, [plain; 2], 1000);
        assert_eq!((game.times, game.plies[0].left, game.plies[1].left), ([own, plain], ms(7000), ms(5000)));
        assert_eq!((game.started, game.plies.len(), game.plies[1].charged), (1000, 2, None));
    }
}
