//! Conversion between games of the database and records, except for the ending.

use super::{RecordsError, annotations, ending::NO_RESULT};
use journal::{EventSummary, FullGame, GameRow};
use notation::record::{DISTANT_MATE, Ending, GameRecord, Ply};
use notation::{date, is_hidden, printable_lines};
use plan::{StoredPlan, time_text};
use referee::{
    Color, Outcome,
    annotations::Annotations,
    clock::{Clock, TimeControl},
    entry::{Judged, Moved, Score, Thought},
    evaluation::Evaluation,
    opening::EVEN,
};
use rsshogi::{board::Position, types::Move};
use std::{borrow::Cow, collections::HashMap, time::Duration};

/// Names for players that a record does not name.
pub(super) const UNNAMED: [&str; 2] = ["(black)", "(white)"];

/// Facts about an event that its records need beside the games' rows.
pub(super) struct Frame {
    event: String,
    imported: bool,
    /// True for games on a server, which names each.
    foreign: bool,
    times: HashMap<String, TimeControl>,
}

impl Frame {
    /// # Errors
    /// When the stored plan of the event cannot be read.
    pub fn of(event: &EventSummary) -> Result<Self, RecordsError> {
        let unreadable = |source| RecordsError::Plan(event.name.clone(), source);
        let plan = StoredPlan::from_json(&event.plan).map_err(unreadable)?;
        let timed = plan.engines.into_iter().filter_map(|engine| Some((engine.name, engine.time?)));
        Ok(Self {
            event: event.name.clone(),
            imported: event.kind == "import",
            foreign: event.kind == "floodgate",
            times: timed.collect(),
        })
    }

    /// The record of a game, without the ending of a game with a result. The event of a game on a server is the server's name
    /// of the game, as in the server's own records.
    pub fn record(&self, game: &FullGame, name: Option<String>, noted: &Annotations) -> GameRecord {
        let row = &game.row;
        let mut record = GameRecord {
            black: Some(plain(&row.black)),
            white: Some(plain(&row.white)),
            event: Some(plain(name.filter(|_| self.foreign).as_ref().unwrap_or(&self.event))),
            started: row.started_at.map(date::text),
            ended: row.ended_at.map(date::text),
            time_control: self.times(row).as_ref().map(time_control),
            ..played(game)
        };
        if self.imported {
            Origin::of(&row.evidence).restore(&mut record, row.outcome);
        }
        annotations::restore(&mut record, noted);
        record
    }

    /// The clocks of a game, black first: its own, otherwise those of the plan.
    fn times(&self, row: &GameRow) -> Option<[TimeControl; 2]> {
        let of_plan = || Some([*self.times.get(&row.black)?, *self.times.get(&row.white)?]);
        row.times.as_deref().copied().or_else(of_plan)
    }
}

/// The start and the moves of a game.
pub(super) fn played(game: &FullGame) -> GameRecord {
    let opening = game.row.opening.as_deref().unwrap_or_default().split_whitespace();
    let mut plies: Vec<_> = opening.filter_map(Move::from_usi).map(Ply::from).collect();
    for (number, time) in &game.opening_times {
        let ply = (*number as usize).checked_sub(1).and_then(|at| plies.get_mut(at));
        let time_ms = u32::try_from(time.as_millis()).unwrap_or(u32::MAX);
        ply.into_iter().for_each(|ply| ply.time_ms = Some(time_ms));
    }
    plies.extend(game.moves.iter().map(|(_, moved)| ply(moved)));
    for judged in &game.judged {
        let ply = (judged.ply as usize).checked_sub(1).and_then(|at| plies.get_mut(at));
        ply.into_iter().for_each(|ply| ply.comment = opinion(judged));
    }
    GameRecord { start: normal(game.row.start.as_deref().unwrap_or(EVEN)), plies, ..GameRecord::default() }
}

/// What the judge says of a position, as a comment below the move before it.
fn opinion(judged: &Judged) -> String {
    let depth = judged.depth.map(|depth| format!(", depth {depth}")).unwrap_or_default();
    format!("judge: {}{depth}", judged.evaluation())
}

/// The clocks of a game in a record.
fn time_control(times: &[TimeControl; 2]) -> String {
    let text = |time| spec(time).unwrap_or_else(|| time_text::control_text(time));
    match times.each_ref().map(text) {
        [black, white] if black == white => black,
        [black, white] => format!("black {black}, white {white}"),
    }
}

/// Replaces hidden characters in a name: a line end would end the field, others would make the file binary or mislead
/// its reader.
fn plain(name: &str) -> String {
    name.replace(is_hidden, " ")
}

/// Makes the texts of a record safe to be shown: those of imported games are somebody else's.
pub(super) fn make_plain(record: &mut GameRecord) {
    let GameRecord { black, white, event, site, started, ended, time_control, .. } = record;
    for field in [black, white, event, site, started, ended, time_control].into_iter().flatten() {
        *field = plain(field);
    }
    let GameRecord { plies, comment, ending_comment, variations, .. } = record;
    let (mut own, mut endings) = (vec![], vec![comment, ending_comment]);
    for variation in variations {
        own.extend(&mut variation.plies);
        endings.push(&mut variation.ending_comment);
    }
    let comments = plies.iter_mut().chain(own).map(|ply| &mut ply.comment);
    for comment in comments.chain(endings) {
        if let Cow::Owned(shown) = printable_lines(comment) {
            *comment = shown;
        }
    }
}

/// SFEN with a move number, as records require. Positions of training files may have the number 0.
fn normal(start: &str) -> String {
    let least = if start.ends_with(" 0") { 0 } else { 1 };
    let position = Position::from_sfen(start).ok();
    position.map_or(start.to_owned(), |it| it.to_sfen(Some(i32::from(it.game_ply()).max(least))))
}

/// `main+byoyomi+increment` in seconds, where this describes the control completely.
fn spec(time: &TimeControl) -> Option<String> {
    let parts = [time.main, time.byoyomi, time.increment];
    let complete =
        time.delay.is_zero() && time.fixed.is_none() && time.nodes.is_none() && time.depth.is_none();
    let whole = parts.iter().all(|part| part.subsec_nanos().is_multiple_of(1_000_000)) && time.is_timed();
    // Milliseconds as a fraction of a second: its shortest spelling.
    let [main, byoyomi, increment] = parts.map(|part| part.as_millis() as f64 / 1000.0);
    (whole && complete).then(|| format!("{main}+{byoyomi}+{increment}"))
}

fn ply(moved: &Moved) -> Ply {
    let thought = moved.thought.as_deref();
    let score = thought.and_then(|thought| thought.score).map(|score| {
        match (score, Evaluation::of(score, moved.color)) {
            // A number is written as the engine printed it, also one that stands for a mate.
            (Score::Cp(cp), _) => {
                if moved.color == Color::Black {
                    cp
                } else {
                    cp.saturating_neg()
                }
            }
            (_, Evaluation::Mate { winner: Color::Black, plies: None }) => DISTANT_MATE,
            (_, Evaluation::Mate { winner: Color::White, plies: None }) => -DISTANT_MATE,
            (_, known) => known.centipawns(),
        }
    });
    // A line that does not begin with the move played belongs to another search.
    let pv = thought.and_then(|thought| thought.pv.as_deref()).unwrap_or_default();
    let mut pv = pv.split_whitespace().map_while(Move::from_usi);
    let pv = if pv.next() == Some(moved.mv) { pv.collect() } else { vec![] };
    let time_ms = Some(u32::try_from(moved.charged.as_millis()).unwrap_or(u32::MAX));
    Ply { mv: moved.mv, time_ms, score, pv, comment: String::new() }
}

/// Converts a record's score, from black's side, to the mover's side.
fn score(black: i32, color: Color) -> Score {
    match if color == Color::Black { black } else { black.saturating_neg() } {
        DISTANT_MATE => Score::Mate(i32::MAX),
        mated if mated == -DISTANT_MATE => Score::Mate(-i32::MAX),
        mate @ 99_001..DISTANT_MATE => Score::Mate(DISTANT_MATE - mate),
        mated @ -99_999..=-99_001 => Score::Mate(-DISTANT_MATE - mated),
        // Larger numbers are mates by another program's count, which only that program understands.
        cp => Score::Cp(cp),
    }
}

/// Facts of a record that no column of a game holds; stored as lines of its evidence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Origin {
    fields: Vec<(String, String)>,
}

impl Origin {
    pub fn new(record: &GameRecord, source: &str, fingerprint: &str) -> Self {
        let ending = record.ending.as_ref().map(|ending| ending.word(record.side_to_move()));
        let spent = record.ending_time_ms.map(|time_ms| time_ms.to_string());
        let known = [
            ("file", Some(source)),
            ("record", Some(fingerprint)),
            ("event", record.event.as_deref()),
            ("site", record.site.as_deref()),
            ("started", record.started.as_deref()),
            ("ended", record.ended.as_deref()),
            ("time", record.time_control.as_deref()),
            ("ending", ending.as_deref()),
            ("ending-ms", spent.as_deref()),
        ];
        let known = known
            .into_iter()
            .filter_map(|(key, value)| Some((key.to_owned(), value?.replace(['\n', '\r'], " "))));
        Self { fields: known.collect() }
    }

    pub fn of(evidence: &str) -> Self {
        let fields = evidence.lines().filter_map(|line| line.split_once(": "));
        Self { fields: fields.map(|(key, value)| (key.to_owned(), value.to_owned())).collect() }
    }

    pub fn text(&self) -> String {
        self.fields.iter().map(|(key, value)| format!("{key}: {value}\n")).collect()
    }

    pub fn field(&self, key: &str) -> Option<&str> {
        self.fields.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    /// Restores the fields of the record; the ending only if the game has no result, as an operator may have ruled.
    fn restore(&self, record: &mut GameRecord, outcome: Option<Outcome>) {
        let word = self.field("ending").filter(|_| outcome == Some(NO_RESULT));
        record.ending = word.map(|word| Ending::from_word(word, record.side_to_move()));
        record.ending_time_ms = self.field("ending-ms").and_then(|time_ms| time_ms.parse().ok());
        let field = |key| self.field(key).map(str::to_owned);
        let named = |name: Option<String>, default: &str| name.filter(|name| name != default);
        record.black = named(record.black.take(), UNNAMED[0]);
        record.white = named(record.white.take(), UNNAMED[1]);
        record.event = field("event");
        record.site = field("site");
        record.started = field("started");
        record.ended = field("ended");
        record.time_control = field("time");
    }
}

/// Length of the opening: plies without time and score, before the first ply with a time.
pub(super) fn opening_length(record: &GameRecord) -> usize {
    let timed = record.plies.iter().position(|ply| ply.time_ms.is_some());
    let scored = record.plies.iter().position(|ply| ply.score.is_some());
    timed.map_or(0, |timed| timed.min(scored.unwrap_or(timed)))
}

/// The moves of a record after its opening, with clocks where the time control is known.
pub(super) fn moves(record: &GameRecord) -> impl Iterator<Item = Moved> + '_ {
    let skipped = opening_length(record);
    let mut clocks = clocks(record);
    let start = Position::from_sfen(&record.start).unwrap_or_else(|_| rsshogi::board::hirate_position());
    let first = (u32::from(start.game_ply()).max(1), Color::from(start.turn()));
    record.plies.iter().enumerate().skip(skipped).map(move |(index, ply)| {
        let color = if index.is_multiple_of(2) { first.1 } else { !first.1 };
        let spent = Duration::from_millis(ply.time_ms.unwrap_or(0).into());
        let left = clocks[color.index()]
            .as_mut()
            .map_or(Duration::ZERO, |clock| clock.charge(spent).map_or(Duration::ZERO, |_| clock.left()));
        Moved {
            game: referee::entry::GameId(0),
            ply: first.0 + u32::try_from(index).unwrap_or(u32::MAX - first.0),
            color,
            mv: ply.mv,
            charged: spent,
            elapsed: spent,
            left,
            thought: thought(ply, color),
        }
    })
}

/// The clocks of a record, black first, where its time control is known. They count milliseconds, so that records whose
/// format drops fractions never show an overrun.
pub(super) fn clocks(record: &GameRecord) -> [Option<Clock>; 2] {
    record.clocks().map(|clock| {
        let [main, byoyomi, increment] = clock?;
        let time = TimeControl { main, byoyomi, increment, ..TimeControl::default() };
        time.is_timed().then(|| Clock::new(time))
    })
}

fn thought(ply: &Ply, color: Color) -> Option<Box<Thought>> {
    let score = ply.score.map(|it| score(it, color));
    let pv = (!ply.pv.is_empty()).then(|| {
        let line = std::iter::once(&ply.mv).chain(&ply.pv);
        line.map(|mv| mv.to_usi()).collect::<Vec<_>>().join(" ")
    });
    (score.is_some() || pv.is_some()).then(|| Box::new(Thought { score, pv, ..Thought::default() }))
}
