//! The content of the screens: a fold of the event's entries, on top of the referee's standings.

mod figures;
mod game;
mod openings;

pub use figures::Figures;
pub use game::{End, Game};
pub use openings::by_opening;

use crate::text::clean;
use contest::{
    schedule::{OpeningsPer, Pairing, ReplayDraws, Schedule},
    stage::Stage,
    standings::{Scale, Standings, Verdict},
};
use referee::{
    AbortBy, Outcome,
    clock::TimeControl,
    entry::{Entry, GameEnded, GameId, GameStarted, Opened, PlayerId, Stamped, WARNING},
    evaluation::GameScales,
    lease::MachineState,
    operation::{Action, PublicNotice},
    rating::Course,
    running::RunningGame,
    sprt::{Sprt, Walk},
    usage::Usage,
};
use report::{EventInfo, Language, Named, verdict_phrase};
use std::collections::{BTreeMap, VecDeque};

/// A finished game in few bytes, because an event may have a hundred thousand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Played {
    /// The game.
    pub game: GameId,
    /// Place in the schedule.
    pub pairing: Pairing,
    /// The ending.
    pub outcome: Outcome,
    /// Plies on the board.
    pub plies: u32,
    /// True if the game was a draw that is played again.
    pub replayed: bool,
    /// Time of the end, in ms since 1970 UTC.
    pub ended: i64,
}

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// Time in ms since 1970 UTC.
    pub at: i64,
    /// True if the line reports a fault.
    pub fault: bool,
    /// Printable text, possibly of several lines.
    pub text: String,
}

/// Lines of the log that are kept.
const LOG: usize = 2000;

/// Boards kept of finished games; older ones come from the archive.
const BOARDS: usize = 64;

/// The content of all screens.
#[derive(Clone, Debug)]
pub struct State {
    /// The event.
    pub info: EventInfo,
    /// Games of the whole event, if they are known; of a sequential test the most that it may take.
    pub total: Option<u64>,
    /// The sequential test, if there is one.
    test: Option<Sprt>,
    /// The standings.
    pub standings: Standings,
    /// Boards of every running game and of some finished ones.
    pub boards: BTreeMap<GameId, Game>,
    /// Finished games, in the order of their ends.
    pub played: Vec<Played>,
    /// The log, newest line last.
    pub log: VecDeque<LogLine>,
    /// Faults of engines and of the event: games lost by faults, and notices for the operator.
    pub faults: u64,
    /// Halts of engines that were reported: they follow from faults, and are none themselves.
    halts: usize,
    /// Ratings on an external scale, if there is one; looked up periodically.
    pub scale: Option<Scale>,
    /// Ratings and the state of the test, computed periodically.
    pub figures: Figures,
    /// The course of the sequential test.
    pub walk: Walk,
    /// The course of the ratings.
    pub course: Course,
    /// Number of games of `played` that are in `course`.
    rated: usize,
    /// Moves of the first few thousand openings, by number.
    pub openings: BTreeMap<u64, String>,
    /// Time use of the engines, by [`PlayerId`].
    pub usage: Vec<Usage>,
    /// Start of this run of the event, in ms since 1970 UTC.
    pub opened: Option<i64>,
    /// Number of games finished before this run.
    pub before: usize,
    /// True if the event is over.
    pub closed: bool,
    /// A pause of the event, and the last announcement.
    pub notice: PublicNotice,
    /// The other machines that play games of the event, looked up periodically.
    pub machines: Vec<MachineLine>,
    /// The current time, in ms since 1970 UTC.
    pub now: i64,
    /// The language of the reader.
    pub language: Language,
}

/// A machine of the event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineLine {
    /// The machine as it was heard of last.
    pub state: MachineState,
    /// Games that it has played and that count.
    pub games: u64,
}

impl State {
    /// The state before the first entry.
    pub fn new(mut info: EventInfo) -> Self {
        let names = info.engines.iter_mut().map(|engine| &mut engine.name);
        names.chain([&mut info.name, &mut info.format]).for_each(|text| *text = clean(text));
        let players = info.engines.len();
        let course = Course::new(players);
        Self {
            standings: info.standings(),
            usage: vec![Usage::default(); players],
            total: if info.open { None } else { total(&info.stages, players) },
            test: info.sprt.and_then(|plan| plan.test().ok()),
            info,
            walk: Walk::default(),
            course,
            rated: 0,
            openings: BTreeMap::new(),
            boards: BTreeMap::new(),
            played: vec![],
            log: VecDeque::new(),
            faults: 0,
            halts: 0,
            scale: None,
            figures: Figures::default(),
            opened: None,
            before: 0,
            closed: false,
            notice: PublicNotice::default(),
            machines: vec![],
            now: 0,
            language: Language::default(),
        }
    }

    /// The state for a reader of this language.
    #[must_use]
    pub fn in_language(self, language: Language) -> Self {
        Self { language, ..self }
    }

    /// A player's name, printable.
    pub fn player(&self, player: PlayerId) -> &str {
        self.info.engines.get(player.index()).map_or("?", |engine| &engine.name)
    }

    /// The time control of a player; untimed if unknown.
    pub fn time(&self, player: PlayerId) -> TimeControl {
        self.info.engines.get(player.index()).map(|engine| engine.time).unwrap_or_default()
    }

    /// What is known of the scales of the players' scores in a game.
    pub fn scales(&self, game: &Game) -> GameScales {
        GameScales::new(game.players().map(|player| self.info.engines.get(player.index())?.scale))
    }

    /// The running games, in the order of their starts.
    pub fn running(&self) -> impl Iterator<Item = &Game> {
        self.boards.values().filter(|game| game.end.is_none())
    }

    /// Folds an entry.
    pub fn fold(&mut self, stamped: &Stamped) {
        let Stamped { at, entry } = stamped;
        if !matches!(entry, Entry::Moved(_) | Entry::Judged(_)) {
            self.fold_standings(entry);
        }
        self.now = self.now.max(*at);
        match entry {
            Entry::Opened(opened) => self.open(opened, *at),
            Entry::Entered { player, name } => self.entered(*player, name, *at),
            Entry::Renamed { player, name } => self.renamed(*player, name, *at),
            Entry::GameStarted(started) => self.started(started, *at),
            Entry::Moved(moved) => self.moved(moved, *at),
            Entry::Judged(judged) => {
                self.boards.get_mut(&judged.game).into_iter().for_each(|game| game.judge(judged));
            }
            Entry::GameEnded(end) => self.ended(end, *at),
            Entry::Bye { stage, round, player, half_points } => {
                let (words, is_half) =
                    (self.language, self.standings.is_half_bye(usize::from(*stage), *half_points));
                let sort = if is_half { words.half_bye() } else { words.bye() };
                self.log_line(*at, false, &words.has_a_bye(*round, self.player(*player), sort));
            }
            Entry::Fault { text, .. } => {
                let is_halt = self.halts < self.standings.halts().len();
                self.halts += usize::from(is_halt);
                self.faults += u64::from(!is_halt && !text.starts_with(WARNING));
                self.log_line(*at, true, text);
            }
            Entry::Memory { player, kib } => {
                if let Some(usage) = self.usage.get_mut(player.index()) {
                    usage.memory = usage.memory.max(*kib);
                }
            }
            Entry::Verdict { verdict, llr, pairs } => {
                let verdict = Verdict { verdict: verdict.clone(), llr: *llr, pairs: *pairs };
                self.log_line(
                    *at,
                    false,
                    &self.language.pick(verdict.words(), verdict_phrase(&verdict.verdict, self.language)),
                );
            }
            Entry::Operator(operation) => {
                self.corrected(&operation.action);
                if matches!(operation.action, Action::Joined { .. }) {
                    self.total = self.standings.games_to_play();
                }
                self.notice.fold(*at, &operation.action);
                self.log_line(*at, true, &self.language.operation(operation));
            }
            Entry::Closed => {
                self.closed = true;
                self.log_line(*at, false, self.language.event_is_over());
            }
        }
    }

    fn fold_standings(&mut self, event: &Entry) {
        self.standings.fold(event);
        self.figures.stale = true;
        if let Some(test) = &self.test {
            self.standings.due().iter().for_each(|counts| self.walk.step(test, counts));
        }
    }

    fn started(&mut self, started: &GameStarted, at: i64) {
        if self.openings.len() < OPENINGS && !started.opening.is_empty() {
            let opening = self.openings.entry(started.pairing.opening);
            opening.or_insert_with(|| opening_words(started));
        }
        let game = RunningGame::new(started, self.times(&started.pairing), at);
        let _before = self.boards.insert(started.game, game.into());
    }

    /// A run of the event begins.
    fn open(&mut self, opened: &Opened, at: i64) {
        let known = self.info.engines.len();
        if self.info.open {
            self.info.format = clean(&opened.format);
        }
        self.enter(opened.players.iter().skip(known));
        self.boards.retain(|_, game| game.end.is_some());
        (self.opened, self.before) = (Some(at), self.played.len());
        self.closed = false;
        let format = self.language.pick(opened.format.clone(), self.info.format_in(Language::Japanese));
        let say = if opened.resumed { Language::goes_on } else { Language::begins };
        self.log_line(at, false, &say(self.language, &opened.name, &format));
    }

    fn entered(&mut self, player: PlayerId, name: &String, at: i64) {
        let known = self.info.engines.len();
        if player.index() == known {
            self.enter([name].into_iter());
            self.came_since(known, at);
        }
    }

    /// A player whose name is unknown here is told with its new one when it enters.
    fn renamed(&mut self, player: PlayerId, name: &str, at: i64) {
        let name = if self.info.open { with_short_trip(&clean(name)) } else { clean(name) };
        let Some(known) = self.info.engines.get_mut(player.index()) else { return };
        known.name.clone_from(&name);
        self.log_line(at, false, &self.language.has_new_trip(&name));
    }

    fn came_since(&mut self, known: usize, at: i64) {
        for player in known..self.info.engines.len() {
            let name = self.info.engines[player].name.clone();
            self.log_line(at, false, &self.language.player_joins(&name));
        }
    }

    /// Adds players.
    fn enter<'a>(&mut self, names: impl Iterator<Item = &'a String>) {
        let open = self.info.open;
        let shown = |name: &String| if open { with_short_trip(&clean(name)) } else { clean(name) };
        self.info.engines.extend(names.map(|name| Named::whole(&shown(name))));
        let players = self.info.engines.len();
        self.usage.resize(players, Usage::default());
        self.course.grow(players);
    }

    /// The clocks of the plan for a game, black's first.
    fn times(&self, pairing: &Pairing) -> [TimeControl; 2] {
        [pairing.black, pairing.white].map(|player| self.time(player))
    }

    fn moved(&mut self, moved: &referee::entry::Moved, at: i64) {
        let Some(game) = self.boards.get_mut(&moved.game) else { return };
        let player = game.players()[moved.color.index()];
        if game.moved(moved, at)
            && let Some(usage) = self.usage.get_mut(player.index())
        {
            usage.add(moved);
        }
    }

    fn ended(&mut self, end: &GameEnded, at: i64) {
        let (game, pairing, outcome) = (end.game, end.pairing, end.outcome);
        let (plies, replayed) = (end.plies, end.replayed);
        self.played.push(Played { game, pairing, outcome, plies, replayed, ended: at });
        // A board without all moves is dropped: the archive has the game.
        self.boards
            .retain(|id, board| *id != game || usize::try_from(plies).is_ok_and(|n| n == board.plies.len()));
        if let Some(board) = self.boards.get_mut(&game) {
            board.end = Some(End::of(end, at));
        }
        let fault = is_fault(outcome);
        self.faults += u64::from(fault);
        let (black, white) = (self.player(pairing.black), self.player(pairing.white));
        let (result, cause) = (outcome.score_words(), self.language.cause(outcome.cause()));
        let length = self.language.of_plies(plies as usize);
        let mut text = format!("#{} {black} - {white}  {result}  {cause}, {length}", game.0);
        text.extend(end.reason().map(|reason| format!(": {}", clean(&reason))));
        if fault {
            end.evidence.lines().take(40).for_each(|line| text.extend(["\n", line]));
        }
        self.log_line(at, fault, &text);
        self.forget();
    }

    /// Gives a game that is over another result; the course of the ratings is computed anew.
    fn corrected(&mut self, action: &Action) {
        let Some((game, _, _, is)) = action.correction() else { return };
        if let Some(played) = self.played.iter_mut().rfind(|played| played.game == game) {
            played.replayed = is.is_none();
            played.outcome = is.unwrap_or(played.outcome);
            (self.course, self.rated) = (Course::new(self.info.engines.len()), 0);
        }
    }

    /// Keeps the boards of the games that ended last.
    fn forget(&mut self) {
        let over = |game: &Game| game.end.as_ref().map(|end| end.at);
        while self.boards.values().filter(|game| game.end.is_some()).count() > BOARDS {
            let oldest = self.boards.iter().filter_map(|(id, game)| Some((over(game)?, *id))).min();
            if let Some((_, id)) = oldest {
                self.boards.remove(&id);
            }
        }
    }

    /// Writes a line into the log.
    pub fn log_line(&mut self, at: i64, fault: bool, text: &str) {
        self.log.push_back(LogLine { at, fault, text: clean_lines(text) });
        if self.log.len() > LOG {
            self.log.pop_front();
        }
    }

    /// Stores ratings that were looked up.
    pub fn rescale(&mut self, scale: Scale) {
        let scale = Scale { words: clean(&scale.words), ..scale };
        if self.scale.as_ref() != Some(&scale) {
            self.scale = Some(scale);
            self.figures.stale = true;
        }
    }

    /// Restores the board of a game from its archived entries; nothing else changes.
    pub fn recall(&mut self, events: &[Stamped]) {
        let Some(running) = RunningGame::of(events, |pairing| self.times(pairing)) else { return };
        let end = events.iter().find_map(|stamped| match &stamped.entry {
            Entry::GameEnded(end) => Some(End::of(end, stamped.at)),
            _ => None,
        });
        self.boards.insert(running.id, Game { running, end });
    }

    /// Sets the current time. Ratings are computed again if something changed and a second has passed.
    pub fn tick(&mut self, now: i64) {
        self.now = now;
        if self.figures.is_due(now) {
            self.figures = Figures::of(&self.info, &self.standings, self.scale.as_ref(), now);
            if self.info.engines.len() <= figures::RATED {
                self.rate();
            }
        }
    }

    /// Takes the games that other machines play now, as these show them, in place of those that were taken before.
    pub fn show_elsewhere(&mut self, games: Vec<RunningGame>) {
        self.boards.retain(|id, _| !id.is_elsewhere());
        for mut game in games {
            game.machine = game.machine.as_deref().map(clean);
            self.boards.insert(game.id, game.into());
        }
    }

    /// Adds newly finished games to the course of the ratings.
    fn rate(&mut self) {
        let counts = |played: &&Played| played.outcome.counts() && !played.replayed;
        let new: Vec<_> = self.played[self.rated..]
            .iter()
            .filter(counts)
            .filter(|played| self.standings.is_distinct(&played.pairing))
            .map(|played| {
                let Pairing { black, white, .. } = played.pairing;
                (black.index(), white.index(), played.outcome.black_half_points())
            })
            .collect();
        self.course.extend(new.into_iter());
        self.rated = self.played.len();
    }

    /// Number of games that count.
    pub fn counted(&self) -> u64 {
        self.standings.total().players.iter().map(|record| record.games().games()).sum::<u64>() / 2
    }

    /// Estimated milliseconds until the event is over, by the pace of the last games of this run; `None` before the
    /// first end. `None` where an engine is halted: games of it that are left never begin.
    pub fn to_go(&self) -> Option<u64> {
        if !self.standings.halts().is_empty() {
            return None;
        }
        let left = self.total?.checked_sub(self.counted())?;
        let run = &self.played[self.before.min(self.played.len())..];
        let recent = &run[run.len().saturating_sub(RECENT)..];
        let since = match run.len() > recent.len() {
            true => run[run.len() - recent.len() - 1].ended,
            false => self.opened?,
        };
        let counts = |played: &&Played| played.outcome.counts() && !played.replayed;
        let games = recent.iter().filter(counts).count();
        let took = u64::try_from(recent.last()?.ended.max(self.now) - since).ok()?;
        (games > 0).then(|| (u128::from(took) * u128::from(left) / games as u128) as u64)
    }
}

/// Games of stages with so many players; of a sequential test the most that it may take.
fn total(stages: &[Stage], players: usize) -> Option<u64> {
    match stages {
        [stage] if stage.format.is_sequential() => stage.format.most_games(),
        _ => Schedule::new(stages, players, 0, ReplayDraws::default(), OpeningsPer::Pair).total(),
    }
}

/// Openings whose moves are kept.
const OPENINGS: usize = 8192;

/// The first moves of an opening in Japanese notation.
fn opening_words(started: &referee::entry::GameStarted) -> String {
    let game = Game::from(RunningGame::new(started, Default::default(), 0));
    let words = game.words(SPELLED);
    words.iter().filter_map(|words| words.split('(').next()).collect()
}

/// Moves of an opening that are shown.
const SPELLED: usize = 8;

/// Number of last games for the estimate of the end.
const RECENT: usize = 400;

/// The name of a league player with the beginning of its trip. The whole trip would fill a column; the beginning
/// still distinguishes players of one name.
fn with_short_trip(player: &str) -> String {
    match player.split_once('+') {
        Some((name, trip)) => format!("{name}+{}", trip.chars().take(TRIP).collect::<String>()),
        None => player.to_owned(),
    }
}

/// Characters of a trip that are shown.
const TRIP: usize = 4;

fn clean_lines(text: &str) -> String {
    text.lines().map(clean).collect::<Vec<_>>().join("\n")
}

/// The result for one side.
pub fn result_of(outcome: Outcome, color: referee::Color, words: Language) -> &'static str {
    match outcome.winner() {
        Some(winner) if winner == color => words.pick("won", "勝ち"),
        Some(_) => words.pick("lost", "負け"),
        None if outcome.counts() => words.drawn(),
        None => "-",
    }
}

/// True if a game ended by a fault.
pub fn is_fault(outcome: Outcome) -> bool {
    match outcome {
        Outcome::Win { by, .. } => by.is_fault(),
        Outcome::Draw { .. } => false,
        Outcome::Aborted { by } => by != AbortBy::Stopped,
    }
}
