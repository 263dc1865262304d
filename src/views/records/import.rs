//! `renmei import`.

use super::{
    FileFault, Finding, RecordsError, annotations, ending,
    files::{self, Content},
    game::{self, Origin, UNNAMED},
    results, verify,
};
use contest::schedule::Pairing;
use journal::{EventHead, GameFilter, Journal, UNDATED, Writer, now};
use notation::date;
use notation::record::{GameRecord, RecordFault};
use plan::StoredPlan;
use referee::{
    Outcome,
    distinct::moves_hash,
    entry::{Entry, GameEnded, GameId, GameStarted, Opened, PlayerId, Stamped},
    number::number,
    sink::SideRecord,
};
use serde::Serialize;
use std::{
    collections::{HashMap, HashSet},
    fmt,
    ops::ControlFlow,
    path::{Path, PathBuf},
};

/// Arguments of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// Record files and directories of them.
    pub files: Vec<PathBuf>,
    /// The database to import into.
    pub db: Option<PathBuf>,
    /// Replays each record through the referee.
    pub verify: bool,
    /// Name of the event that receives the games.
    pub event: String,
    /// File with `[scoring]` and `[tiebreaks]` of results without moves.
    pub rules: Option<PathBuf>,
}

/// Result of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ImportReport {
    /// Number of files read.
    pub files: usize,
    /// Number of readable records.
    pub records: usize,
    /// Number of records added to the database.
    pub imported: usize,
    /// Number of records that it already held.
    pub known: usize,
    /// Number of records added to the database whose game has no result: kept, but not counted.
    pub without_result: usize,
    /// Files and records that could not be read: of each file the first [`FAULTS`].
    pub faults: Vec<FileFault>,
    /// Files with more faults than that, and how many more.
    pub more_faults: Vec<MoreFaults>,
    /// Contradictions within records; and, where records were verified, disagreements with the referee.
    pub findings: Vec<Finding>,
    /// True if records were verified.
    pub verified: bool,
}

/// Faults of one file that are reported one by one; a stranger's file may have millions.
pub const FAULTS: usize = 100;

/// Faults of a file that are only counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MoreFaults {
    /// The file.
    pub file: PathBuf,
    /// Number of further faults.
    pub faults: usize,
    /// Number of illegal moves among them.
    pub illegal: usize,
}

impl ImportReport {
    /// Exit code of the command: 20 after disagreements of verified records with the referee, 1 after unreadable records,
    /// else 0.
    pub fn exit_code(&self) -> u8 {
        match (self.verified && self.disagreements() > 0, self.faults.is_empty()) {
            (true, _) => 20,
            (false, false) => 1,
            (false, true) => 0,
        }
    }

    /// Findings and illegal moves.
    fn disagreements(&self) -> usize {
        let illegal = self.faults.iter().filter(|fault| fault.illegal).count();
        self.findings.len() + illegal + self.more_faults.iter().map(|more| more.illegal).sum::<usize>()
    }

    fn unreadable(&self) -> usize {
        self.faults.len() + self.more_faults.iter().map(|more| more.faults).sum::<usize>()
    }
}

/// A line per fault and finding, and a summary.
impl fmt::Display for ImportReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.faults.iter().try_for_each(|fault| writeln!(f, "{fault}"))?;
        for more in &self.more_faults {
            writeln!(f, "{}: {}", more.file.display(), number(more.faults, "more faulty record"))?;
        }
        self.findings.iter().try_for_each(|finding| writeln!(f, "{finding}"))?;
        write!(f, "{} in {}", number(self.records, "record"), number(self.files, "file"))?;
        if self.imported + self.known > 0 {
            write!(f, ", {} imported, {} there before", self.imported, self.known)?;
        }
        if self.without_result > 0 {
            write!(f, ", {} without a result", self.without_result)?;
        }
        if self.verified {
            write!(f, ", {} with the referee", number(self.disagreements(), "disagreement"))?;
        }
        writeln!(f, ", {} unreadable", self.unreadable())
    }
}

/// Imports record files into an event of their own, and verifies them if requested. Unreadable records are reported
/// and skipped; a record that an earlier import read is not imported again, whichever file it comes from.
///
/// # Errors
/// When the database cannot be written, or the event was played by this program.
pub fn import(args: &Import) -> Result<ImportReport, RecordsError> {
    import_while(args, &|| true)
}

/// Does the same as long as it is wanted: what was imported before stays, and another import goes on from there.
///
/// # Errors
/// See [`import`].
pub fn import_while(args: &Import, is_wanted: &dyn Fn() -> bool) -> Result<ImportReport, RecordsError> {
    if let Some(results) = args.files.iter().find(|file| results::is_results(file)) {
        return match &args.files[..] {
            [alone] => results::import(alone, args),
            _ => Err(RecordsError::ResultsAlone(results.clone())),
        };
    }
    if let Some(rules) = &args.rules {
        return Err(RecordsError::RulesOfRecords(rules.clone()));
    }
    rsshogi::board::init();
    let (files, faults) = files::found(&args.files);
    let mut report =
        ImportReport { files: files.len(), faults, verified: args.verify, ..ImportReport::default() };
    let (names, mut streams) = survey(&files, args.verify, &mut report, is_wanted);
    if let Some(db) = args.db.as_ref().filter(|_| is_wanted()) {
        let mut importer = Importer::open(db, &args.event, names)?;
        let mut import = |file| importer.file(file, streams.remove(file), is_wanted);
        files.iter().take_while(|_| is_wanted()).for_each(|file| import(&**file));
        report.without_result = importer.without_result;
        (report.imported, report.known) = importer.finish()?;
    }
    Ok(report)
}

/// Reads every file once, for its faults and the names of the players: the stream names players before their games. Returns
/// the names, and the contents of pipes, which are not read again.
fn survey<'f>(
    files: &'f [PathBuf],
    verifies: bool,
    report: &mut ImportReport,
    is_wanted: &dyn Fn() -> bool,
) -> (Vec<String>, HashMap<&'f Path, Content>) {
    let (mut names, mut seen, mut streams) = (Vec::new(), HashSet::new(), HashMap::new());
    for file in files.iter().take_while(|_| is_wanted()) {
        let mut content = match Content::in_parts(file) {
            Ok(content) => content,
            Err(fault) => {
                report.faults.push(fault);
                continue;
            }
        };
        let limit = verify::move_limit(&content.bytes);
        let (mut number, mut faults) = (0, Faults { file, first: vec![], more: 0, illegal: 0 });
        content.games(|read| {
            number += 1;
            match read {
                Ok(record) => {
                    report.records += 1;
                    names.extend(players(&record).into_iter().filter(|name| seen.insert(name.clone())));
                    report.findings.extend(match verifies {
                        true => verify::findings(file, number, &record, limit),
                        false => verify::doubts(file, number, &record),
                    });
                }
                Err(fault) => faults.add(fault),
            }
            while_wanted(is_wanted)
        });
        faults.report(report);
        if !file.is_file() {
            streams.insert(&**file, content);
        }
    }
    (names, streams)
}

fn while_wanted(is_wanted: &dyn Fn() -> bool) -> ControlFlow<()> {
    if is_wanted() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
}

/// Faults of one file.
struct Faults<'f> {
    file: &'f Path,
    first: Vec<FileFault>,
    more: usize,
    illegal: usize,
}

impl Faults<'_> {
    fn add(&mut self, fault: RecordFault) {
        if self.first.len() < FAULTS {
            self.first.push(FileFault::of(self.file, fault));
        } else {
            self.more += 1;
            self.illegal += usize::from(fault.what.is_illegal());
        }
    }

    fn report(self, report: &mut ImportReport) {
        report.faults.extend(self.first);
        if self.more > 0 {
            let (file, faults, illegal) = (self.file.to_owned(), self.more, self.illegal);
            report.more_faults.push(MoreFaults { file, faults, illegal });
        }
    }
}

fn players(record: &GameRecord) -> [String; 2] {
    let name = |name: &Option<String>, default: &str| name.as_deref().unwrap_or(default).to_owned();
    [name(&record.black, UNNAMED[0]), name(&record.white, UNNAMED[1])]
}

/// How often a record is stored, and how often this import has read it.
#[derive(Default)]
struct Times {
    stored: u32,
    read: u32,
}

/// Writes records into an event.
struct Importer {
    journal: Journal,
    name: String,
    players: Vec<String>,
    ids: HashMap<String, PlayerId>,
    resumed: bool,
    begun: bool,
    next: u64,
    /// Records by their contents; half of the hash names them, as there may be millions.
    times: HashMap<u64, Times>,
    imported: usize,
    known: usize,
    without_result: usize,
}

impl Importer {
    fn open(db: &Path, name: &str, names: Vec<String>) -> Result<Self, RecordsError> {
        let before = Writer::open(db)?.events()?.into_iter().find(|event| event.name == name);
        if before.as_ref().is_some_and(|event| event.kind != "import") {
            return Err(RecordsError::PlayedHere(name.to_owned()));
        }
        let plan = StoredPlan::of_records(name).to_json();
        let head = EventHead { name, kind: "import", plan: &plan, fingerprint: "{}" };
        let opening = Journal::open(db, &head)?;
        let mut times = HashMap::<_, Times>::new();
        opening.store().games(opening.event().event, &GameFilter::default(), |row| {
            let contents = Origin::of(&row.evidence).field("record").and_then(contents_of);
            contents.into_iter().for_each(|contents| times.entry(half(contents)).or_default().stored += 1);
            Ok::<_, RecordsError>(())
        })?;
        let mut players = opening.players().to_vec();
        let (next, resumed) = (opening.event().next_game.0, opening.event().resumed);
        let old: HashSet<_> = players.iter().cloned().collect();
        players.extend(names.into_iter().filter(|name| !old.contains(name)));
        let ids = players.iter().enumerate().map(|(at, name)| (name.clone(), PlayerId::at(at))).collect();
        Ok(Self {
            ids,
            journal: opening.start(vec![], || ())?,
            name: name.to_owned(),
            players,
            resumed,
            begun: false,
            next,
            times,
            imported: 0,
            known: 0,
            without_result: 0,
        })
    }

    /// Imports the records of a file, or of the contents that a pipe had; the survey has reported the faults.
    fn file(&mut self, file: &Path, stream: Option<Content>, is_wanted: &dyn Fn() -> bool) {
        let Some(mut content) = stream.or_else(|| Content::in_parts(file).ok()) else { return };
        content.games(|read| {
            read.into_iter().for_each(|record| self.take(&record, file));
            while_wanted(is_wanted)
        });
    }

    /// Takes in a record, if an earlier import has not.
    fn take(&mut self, record: &GameRecord, file: &Path) {
        let contents = hash(record);
        let Times { stored, read } = self.times.entry(half(contents)).or_default();
        *read += 1;
        // Deterministic engines repeat games exactly: a second equal record of an import is another game, be it in the
        // same file or in one of its own.
        if *read > *stored {
            let fingerprint = format!("{contents:032x}.{read}");
            self.record(record, &file.to_string_lossy(), &fingerprint);
        } else {
            self.known += 1;
        }
    }

    fn record(&mut self, record: &GameRecord, file: &str, fingerprint: &str) {
        let players = players(record);
        // A file that changed since the survey may name a new player; the next import adds it.
        let [Some(&black), Some(&white)] = players.each_ref().map(|name| self.ids.get(name)) else {
            return;
        };
        self.begin();
        let (game, index) = (GameId(self.next), self.next - 1);
        let pairing =
            Pairing { stage: 0, index, attempt: 0, round: 1, pair: index, opening: index, black, white };
        let evidence = Origin::new(record, file, fingerprint).text();
        let outcome = outcome(record);
        let annotations = annotations::of(record, game);
        let noted = (!annotations.is_empty()).then(|| SideRecord::Annotated(Box::new(annotations)));
        self.journal.append_with(events(record, game, pairing, outcome, evidence), noted);
        self.next += 1;
        self.imported += 1;
        self.without_result += usize::from(outcome == ending::NO_RESULT);
    }

    /// Opens the event with the first new game, so that an import without new games changes nothing.
    fn begin(&mut self) {
        if !std::mem::replace(&mut self.begun, true) {
            let opened = Opened {
                name: self.name.clone(),
                players: self.players.clone(),
                format: "imported records".to_owned(),
                resumed: self.resumed,
            };
            self.journal.append([Stamped { at: now(), entry: Entry::Opened(opened) }]);
        }
    }

    fn finish(self) -> Result<(usize, usize), RecordsError> {
        if self.begun {
            self.journal.append([Stamped { at: now(), entry: Entry::Closed }]);
        }
        self.journal.finish()?;
        Ok((self.imported, self.known))
    }
}

/// The contents that a fingerprint names.
fn contents_of(fingerprint: &str) -> Option<u128> {
    u128::from_str_radix(fingerprint.split_once('.')?.0, 16).ok()
}

/// Half of a hash: of a million records two are taken for the same one with a chance of one in 30 million.
fn half(contents: u128) -> u64 {
    ((contents >> 64) ^ contents) as u64
}

/// The outcome of a record: that of its ending, or else that of the rules.
fn outcome(record: &GameRecord) -> Outcome {
    let stopped = record.ending.is_none();
    stopped.then(|| verify::ruling(record)).flatten().unwrap_or_else(|| ending::outcome(record))
}

/// Entries of a record, as if the game had been played here. Without a date in the record, the start is undated, the moves
/// count from it, and the end is now.
fn events(
    record: &GameRecord,
    game: GameId,
    pairing: Pairing,
    outcome: Outcome,
    evidence: String,
) -> Vec<Stamped> {
    let opening = &record.plies[..game::opening_length(record)];
    let started = GameStarted {
        game,
        pairing,
        start: record.start.clone(),
        opening: opening.iter().map(|ply| ply.mv.to_usi()).collect::<Vec<_>>().join(" "),
        times: None,
    };
    let dated = record.started.as_deref().and_then(date::parse);
    let mut events = vec![Stamped { at: dated.unwrap_or(UNDATED), entry: Entry::GameStarted(started) }];
    let mut at = dated.unwrap_or(0);
    for mut moved in game::moves(record) {
        moved.game = game;
        at = at.saturating_add(i64::try_from(moved.elapsed.as_millis()).unwrap_or(0));
        events.push(Stamped { at, entry: Entry::Moved(moved) });
    }
    let ended = record.ended.as_deref().and_then(date::parse);
    let at = match (dated, ended) {
        (Some(_), ended) => ended.map_or(at, |ended| ended.max(at)),
        (None, ended) => ended.unwrap_or_else(now),
    };
    let plies = plies(record);
    let moves: Vec<String> = record.plies.iter().map(|ply| ply.mv.to_usi()).collect();
    let moves_hash = (!moves.is_empty()).then(|| moves_hash(&record.start, moves.iter().map(String::as_str)));
    let ended = GameEnded { game, pairing, outcome, plies, evidence, replayed: false, moves_hash };
    events.push(Stamped { at, entry: Entry::GameEnded(ended) });
    events
}

/// Plies at the end, those before the start position included, as the referee counts.
pub(super) fn plies(record: &GameRecord) -> u32 {
    let before = annotations::plies_before(&record.start);
    before + u32::try_from(record.plies.len()).unwrap_or(u32::MAX - before)
}

/// Identity of a record: everything stored except expected lines, comments and variations. 128-bit FNV-1a (Fowler, Noll, Vo).
fn hash(record: &GameRecord) -> u128 {
    let mut hash = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128;
    let mut add = |text: &str| {
        for byte in text.bytes().chain([0]) {
            hash = (hash ^ u128::from(byte)).wrapping_mul(0x0100_0000_0000_0000_0000_013b);
        }
    };
    add(&record.start);
    add(&record.usi_moves());
    for text in [&record.black, &record.white, &record.event, &record.site, &record.started, &record.ended] {
        add(text.as_deref().unwrap_or_default());
    }
    for ply in &record.plies {
        add(&ply.time_ms.map_or(String::new(), |time| time.to_string()));
        add(&ply.score.map_or(String::new(), |score| score.to_string()));
    }
    add(&ending::outcome(record).to_string());
    hash
}
