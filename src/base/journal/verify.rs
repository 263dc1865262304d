//! Recomputing the seals of an event: what was altered since it was played.

use crate::{
    EventId, Store, StoreError,
    database::Database,
    operations,
    replay::players,
    row::{self, TABLES, int, result},
    seal::{self, PartDigest, Sealed, StoredGame, is_sealed, part_names},
};
use parking_lot::Mutex;
use platform::content::hex;
use referee::Outcome;
use rusqlite::{Connection, OptionalExtension, Row, types::ValueRef};
use serde::Serialize;
use std::{
    collections::{BTreeMap, HashMap},
    fmt, thread,
};

/// Something that is not as it was sealed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Alteration {
    /// Number of the entry in the event's log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<i64>,
    /// Number of the game that the entry ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub game: Option<i64>,
    /// The kinds of content that were altered: `players`, `place`, `beginning`, `moves`, `times`, `evaluations`, `ending`
    /// and `evidence` of a game; `content`, `configuration` or `name` of another entry. Empty where the order of the
    /// entries was altered.
    pub parts: Vec<&'static str>,
    /// What was altered, as a lowercase fragment.
    pub text: String,
}

impl fmt::Display for Alteration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The result of recomputing the seals of an event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Verified {
    /// Name of the event.
    pub event: String,
    /// Games whose ends have seals.
    pub sealed_games: u64,
    /// Entries of other kinds with seals.
    pub other_entries: u64,
    /// Games with seals whose moves were dropped: of their evidence, their moves and their times nothing is known.
    pub pruned: u64,
    /// Games without an end.
    pub running: u64,
    /// The seal of the last entry.
    pub head: Option<String>,
    /// Number of the entry whose seal is the head that was asked for, if it is in the chain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked_head_at: Option<i64>,
    /// What was altered.
    pub alterations: Vec<Alteration>,
}

impl Store {
    /// Recomputes the seals of an event from its rows. `head` is a seal that was noted earlier, in hexadecimal digits, to
    /// be looked for in the chain.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn verify(&self, event: EventId, head: Option<&str>) -> Result<Verified, StoreError> {
        self.verify_on(1, event, head, &mut |_, _| ())
    }

    /// The same on so many threads. `progress` hears now and then how many games of how many were read.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn verify_on(
        &self,
        threads: usize,
        event: EventId,
        head: Option<&str>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Verified, StoreError> {
        let readers = Readers::open(self, threads)?;
        self.database().check(|conn| {
            let snapshot = conn.unchecked_transaction()?;
            let verified = Verification::new(&snapshot, event.0, head)?.finish(&readers, progress)?;
            snapshot.commit()?;
            Ok(verified)
        })
    }
}

/// Games that no entry of the log ends. Not by a correlated query: the log has no index by game, so each game would cost a
/// walk through it.
pub(crate) const INSERTED: &str = "
    SELECT number FROM games WHERE event = ?1 AND ended_at IS NOT NULL AND id NOT IN
    (SELECT game FROM log WHERE event = ?1 AND kind = 'ended' AND game IS NOT NULL) ORDER BY 1";

/// Entries whose games are read together, by all threads.
const BATCH: usize = 8192;

/// Connections that read games, one for each thread beside the caller's.
struct Readers(Vec<Mutex<Connection>>);

impl Readers {
    /// Opens a connection for each further thread.
    fn open(store: &Store, threads: usize) -> Result<Self, StoreError> {
        let open = |_| Ok(Mutex::new(Database::read(store.path())?.conn));
        Ok(Self((1..threads).map(open).collect::<Result<_, StoreError>>()?))
    }

    /// Reads games by their row ids, each in one transaction: a game that is pruned or ruled meanwhile is seen before or
    /// after that.
    fn read(&self, own: &Connection, games: Vec<i64>) -> rusqlite::Result<HashMap<i64, StoredGame>> {
        let share = games.len().div_ceil(self.0.len() + 1).max(1);
        let mut shares = games.chunks(share);
        let first = shares.next().unwrap_or_default();
        thread::scope(|scope| {
            let work = self.0.iter().zip(shares).map(|(reader, games)| {
                scope.spawn(move || {
                    let conn = reader.lock();
                    let snapshot = conn.unchecked_transaction()?;
                    let read = read(&snapshot, games)?;
                    snapshot.commit()?;
                    Ok(read)
                })
            });
            let work: Vec<_> = work.collect();
            let mut found: HashMap<_, _> = read(own, first)?.into_iter().collect();
            for thread in work {
                let read: rusqlite::Result<_> =
                    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                found.extend(read?);
            }
            Ok(found)
        })
    }
}

fn read(conn: &Connection, games: &[i64]) -> rusqlite::Result<Vec<(i64, StoredGame)>> {
    games.iter().map(|&game| Ok((game, StoredGame::read(conn, game)?))).collect()
}

/// The parts of a game that [`Writer::prune_next`](crate::Writer::prune_next) drops.
const PRUNED: [&str; 4] = ["moves", "times", "evaluations", "evidence"];

/// A row of the log beside its seal; one of them may be missing.
struct Line {
    seq: i64,
    kind: Option<String>,
    /// Row id and number of the game.
    game: Option<(i64, i64)>,
    seal: Option<Seal>,
}

struct Seal {
    kind: String,
    game: Option<i64>,
    parts: Vec<u8>,
    sealed: Sealed,
}

const LINES: &str = "
    SELECT l.seq, l.kind, g.id, g.number, s.kind, s.game, s.parts, s.sha256
    FROM log l LEFT JOIN seals s ON s.event = l.event AND s.seq = l.seq LEFT JOIN games g ON g.id = l.game
    WHERE l.event = ?1
    UNION ALL
    SELECT s.seq, NULL, NULL, NULL, s.kind, s.game, s.parts, s.sha256 FROM seals s
    WHERE s.event = ?1 AND NOT EXISTS (SELECT 1 FROM log l WHERE l.event = s.event AND l.seq = s.seq)
    ORDER BY 1";

impl Line {
    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        let seal = match row.get(4)? {
            Some(kind) => {
                // A seal of another length is nobody's.
                let sealed = row.get_ref(7)?.as_blob()?.try_into().unwrap_or_default();
                Some(Seal { kind, game: row.get(5)?, parts: row.get(6)?, sealed })
            }
            None => None,
        };
        let game = row.get::<_, Option<i64>>(2)?.zip(row.get(3)?);
        Ok(Self { seq: row.get(0)?, kind: row.get(1)?, game, seal })
    }
}

/// One walk along the chain of an event.
struct Verification<'c> {
    conn: &'c Connection,
    event: i64,
    asked: Option<&'c str>,
    found: Verified,
    /// The seal before the current one; `None` before the first.
    last: Option<Sealed>,
    /// Number of the entry before the current one.
    before: Option<i64>,
    /// True if entries are missing since the last seal.
    missing: bool,
    /// Digest of the configuration at the last run.
    configuration: Option<Vec<u8>>,
    /// Games of each player: all with seals, and the numbers of those whose players differ.
    players: BTreeMap<i64, (u64, u64)>,
    renamed: Vec<(Alteration, [i64; 2])>,
    /// Digest of each player's name at the current entry.
    names: HashMap<i64, PartDigest>,
    /// By the number of an entry that renames a player: the player, and the digest of the name from then on.
    renames: HashMap<i64, (i64, PartDigest)>,
    /// Games of the current batch of entries by their row ids.
    games: HashMap<i64, StoredGame>,
}

impl<'c> Verification<'c> {
    fn new(conn: &'c Connection, event: i64, asked: Option<&'c str>) -> rusqlite::Result<Self> {
        let name = conn.query_row("SELECT name FROM events WHERE id = ?", [event], |row| row.get(0))?;
        let running = "SELECT count(*) FROM games WHERE event = ? AND ended_at IS NULL";
        let running = conn.query_row(running, [event], |row| row::unsigned(row, 0))?;
        let (names, renames) = first_names(conn, event)?;
        Ok(Self {
            conn,
            event,
            asked,
            found: Verified { event: name, running, ..Verified::default() },
            last: None,
            before: None,
            missing: false,
            configuration: None,
            players: BTreeMap::new(),
            renamed: vec![],
            names,
            renames,
            games: HashMap::new(),
        })
    }

    fn finish(mut self, readers: &Readers, progress: &mut dyn FnMut(u64, u64)) -> rusqlite::Result<Verified> {
        let sql = "SELECT count(*) FROM games WHERE event = ? AND ended_at IS NOT NULL";
        let all = self.conn.query_row(sql, [self.event], |row| row::unsigned(row, 0))?;
        let mut lines = self.conn.prepare(LINES)?;
        let mut rows = lines.query([self.event])?;
        loop {
            let mut batch = Vec::with_capacity(BATCH);
            while batch.len() < BATCH
                && let Some(row) = rows.next()?
            {
                batch.push(Line::of(row)?);
            }
            if batch.is_empty() {
                break;
            }
            let games = batch.iter().filter(|line| line.seal.is_some()).filter_map(|line| line.game);
            self.games = readers.read(self.conn, games.map(|(row, _)| row).collect())?;
            for line in &batch {
                self.line(line)?;
            }
            progress(self.found.sealed_games.min(all), all);
        }
        self.names()?;
        self.configured()?;
        self.inserted()?;
        self.ruled()?;
        self.found.head = self.last.as_ref().map(|sealed| hex(sealed));
        Ok(self.found)
    }

    fn alter(&mut self, entry: i64, game: Option<i64>, parts: Vec<&'static str>, text: String) {
        self.found.alterations.push(Alteration { entry: Some(entry), game, parts, text });
    }

    fn line(&mut self, line: &Line) -> rusqlite::Result<()> {
        let seq = line.seq;
        self.gap(seq);
        match (&line.kind, &line.seal) {
            (Some(kind), None) => self.unsealed(seq, kind, line.game),
            (None, Some(seal)) if seal.kind != "closed" => {
                let what = words(&seal.kind, seal.game);
                self.alter(seq, seal.game, vec![], format!("{what} was removed (entry {seq})"));
            }
            (Some(kind), Some(seal)) => self.content(seq, kind, line.game, seal)?,
            // An end that was taken back, because the event grew.
            (None, _) => {}
        }
        if let Some(seal) = &line.seal {
            self.follow(seq, seal);
        }
        self.before = Some(seq);
        Ok(())
    }

    /// Finds entries that are missing before this one. The numbers of a log have no gaps.
    fn gap(&mut self, seq: i64) {
        let Some(before) = self.before.filter(|before| before + 1 < seq) else {
            return;
        };
        let text = match seq - before {
            2 => format!("entry {} was removed", before + 1),
            _ => format!("entries {} to {} were removed", before + 1, seq - 1),
        };
        self.alter(before + 1, None, vec![], text);
        self.missing = true;
    }

    fn unsealed(&mut self, seq: i64, kind: &str, game: Option<(i64, i64)>) {
        if is_sealed(kind) {
            let number = game.map(|(_, number)| number);
            let text = format!("{} was inserted, or its seal was removed (entry {seq})", words(kind, number));
            self.alter(seq, number, vec![], text);
        }
    }

    /// Compares an entry with the digests of its seal.
    fn content(
        &mut self,
        seq: i64,
        kind: &str,
        game: Option<(i64, i64)>,
        seal: &Seal,
    ) -> rusqlite::Result<()> {
        match kind == "ended" {
            true => self.found.sealed_games += 1,
            false => self.found.other_entries += 1,
        }
        let number = game.map(|(_, number)| number);
        let (was, is) = (words(&seal.kind, seal.game), words(kind, number));
        if seal.kind == "ended" && game.is_none() {
            self.alter(seq, seal.game, vec![], format!("{was} was removed (entry {seq})"));
            return Ok(());
        }
        if was != is {
            let text =
                format!("entry {seq} is {is}, but was sealed as {was}: entries were reordered or replaced");
            self.alter(seq, seal.game, vec![], text);
            return Ok(());
        }
        let stored = game.and_then(|(row, _)| self.games.get(&row).copied());
        let parts = match &stored {
            Some(game) => game.parts(&|player| self.names.get(&player).copied().unwrap_or_default()).to_vec(),
            None => self.other_parts(seq, kind, seal)?,
        };
        if kind == "opened" {
            self.configuration = seal.parts.get(16..32).map(<[u8]>::to_vec);
        }
        let pruned = stored.as_ref().is_some_and(|game| game.is_pruned);
        self.found.pruned += u64::from(pruned);
        let names = part_names(kind);
        let sealed = seal.parts.as_chunks::<16>().0;
        let altered: Vec<_> = (0..names.len())
            .filter(|at| parts.get(*at) != sealed.get(*at) || seal.parts.len() != names.len() * 16)
            .map(|at| names[at])
            .filter(|name| !(pruned && PRUNED.contains(name)))
            .collect();
        let pair = stored.map(|game| game.players);
        if let Some(pair) = pair {
            self.count(pair, altered.contains(&"players"));
        }
        if !altered.is_empty() {
            let text = format!("{was}: {} altered (entry {seq})", altered.join(", "));
            let alteration = Alteration { entry: Some(seq), game: number, parts: altered, text };
            match pair.filter(|_| alteration.parts == ["players"]) {
                Some(pair) => self.renamed.push((alteration, pair)),
                None => self.found.alterations.push(alteration),
            }
        }
        Ok(())
    }

    /// The digests of an entry that is not of a game. What only the seal knows is taken from it.
    fn other_parts(&mut self, seq: i64, kind: &str, seal: &Seal) -> rusqlite::Result<Vec<PartDigest>> {
        // A row that is gone has a digest that nothing has.
        let mut parts = vec![seal::stored_digest(self.conn, self.event, seq, kind)?.unwrap_or_default()];
        match kind {
            "entered" => {
                let sql = "SELECT player FROM entered WHERE event = ? AND seq = ?";
                let player: Option<i64> = self
                    .conn
                    .prepare_cached(sql)?
                    .query_row([self.event, seq], |row| row.get(0))
                    .optional()?;
                parts.push(player.and_then(|player| self.names.get(&player)).copied().unwrap_or_default());
            }
            "renamed" => {
                if let Some((player, name)) = self.renames.get(&seq) {
                    parts.extend([self.names.insert(*player, *name).unwrap_or_default(), *name]);
                }
            }
            // The configuration of an earlier run may have been another: only that of the last can be compared.
            "opened" => parts.extend(seal.parts.as_chunks::<16>().0.get(1)),
            _ => {}
        }
        Ok(parts)
    }

    fn count(&mut self, pair: [i64; 2], altered: bool) {
        for player in pair {
            let (all, wrong) = self.players.entry(player).or_default();
            *all += 1;
            *wrong += u64::from(altered);
        }
    }

    /// Checks that a seal follows the one before it, and goes on from what is stored.
    fn follow(&mut self, seq: i64, seal: &Seal) {
        let expected = seal::next(&self.last.unwrap_or_default(), seq, &seal.kind, seal.game, &seal.parts);
        // Where entries are missing, so is the seal that this one follows.
        if expected != seal.sealed && !self.missing {
            let text = match self.last {
                Some(_) => format!(
                    "the seal of {} does not follow from the one before it: entries were inserted, removed or \
                     reordered here, or a seal was altered (entry {seq})",
                    words(&seal.kind, seal.game)
                ),
                None => format!("the beginning of the chain was altered or removed (entry {seq})"),
            };
            self.alter(seq, seal.game, vec![], text);
        }
        self.missing = false;
        if self.asked.is_some_and(|asked| asked.eq_ignore_ascii_case(&hex(&expected))) {
            self.found.asked_head_at = Some(seq);
        }
        self.last = Some(seal.sealed);
    }

    /// A player all of whose games differ in their players had another name.
    fn names(&mut self) -> rusqlite::Result<()> {
        let names = players(self.conn, EventId(self.event))?;
        let renamed: Vec<i64> = self
            .players
            .iter()
            .filter(|(_, (all, wrong))| all == wrong)
            .map(|(player, _)| *player)
            .filter(|player| {
                // Not merely the opponent of one.
                let others = self.renamed.iter().filter(|(_, pair)| pair.contains(player));
                let opponents =
                    others.map(|(_, [black, white])| if black == player { *white } else { *black });
                opponents.clone().count() > 0
                    && (self.players.len() == 2
                        || opponents.clone().any(|opponent| {
                            self.players.get(&opponent).is_some_and(|(all, wrong)| all != wrong)
                        }))
            })
            .collect();
        for player in &renamed {
            let name = usize::try_from(*player).ok().and_then(|at| names.get(at)).map_or("", String::as_str);
            let games = self.players.get(player).map_or(0, |(all, _)| *all);
            let text = match renamed.len() == 2 && self.players.len() == 2 {
                true => format!("the name of player {player} (`{name}` now) or of the opponent was altered"),
                false => {
                    format!("the name of player {player} (`{name}` now) was altered: {games} games differ")
                }
            };
            let parts = vec!["players"];
            self.found.alterations.push(Alteration { entry: None, game: None, parts, text });
        }
        let unexplained = std::mem::take(&mut self.renamed)
            .into_iter()
            .filter(|(_, pair)| !pair.iter().any(|player| renamed.contains(player)));
        self.found.alterations.extend(unexplained.map(|(alteration, _)| alteration));
        self.found.alterations.sort_by_key(|alteration| alteration.entry);
        Ok(())
    }

    /// The configuration is that of the last run.
    fn configured(&mut self) -> rusqlite::Result<()> {
        let Some(sealed) = &self.configuration else { return Ok(()) };
        let sql = "SELECT fingerprint FROM events WHERE id = ?";
        let now: String = self.conn.query_row(sql, [self.event], |row| row.get(0))?;
        if *sealed != seal::text_digest(&now) {
            let text = "the configuration (`fingerprint`) is not that of the last run: it was altered, or the event was \
                        given another size and not played since"
                .to_owned();
            let parts = vec!["configuration"];
            self.found.alterations.push(Alteration { entry: None, game: None, parts, text });
        }
        Ok(())
    }

    /// The result of a game that was ruled on is that of the last operation about it; what the game itself ended with has
    /// a seal.
    fn ruled(&mut self) -> rusqlite::Result<()> {
        let sql = "SELECT * FROM operations WHERE event = ? ORDER BY seq";
        let mut operations = self.conn.prepare(sql)?;
        let mut rulings: HashMap<i64, (i64, Outcome, bool)> = HashMap::new();
        for operation in operations.query_map([self.event], operations::stored)? {
            // One that cannot be read differs from its seal, which has been told.
            let Ok(operation) = operation else { continue };
            let Some((game, _, was, is)) = operation.action.correction() else { continue };
            let ruling = (int(operation.number), is.unwrap_or(was), is.is_none());
            rulings.insert(int(game.0), ruling);
        }
        let sql = "SELECT number, ruling, result, cause, replayed FROM games WHERE event = ?
                   AND (ruling IS NOT NULL OR number IN (SELECT game FROM operations WHERE event = ?)) ORDER BY number";
        let mut games = self.conn.prepare(sql)?;
        let mut rows = games.query([self.event, self.event])?;
        while let Some(row) = rows.next()? {
            let game: i64 = row.get(0)?;
            let stands = match rulings.get(&game) {
                None => row.get_ref(1)? == ValueRef::Null,
                Some((number, outcome, replayed)) => {
                    row.get::<_, Option<i64>>(1)? == Some(*number)
                        && row.get_ref(2)? == ValueRef::Text(result(*outcome).as_bytes())
                        && row.get_ref(3)? == ValueRef::Text(outcome.cause().as_bytes())
                        && row.get_ref(4)? == ValueRef::Integer(i64::from(*replayed))
                }
            };
            if !stands {
                let text = format!("game {game}: its result is not what the operator ruled");
                let (game, parts) = (Some(game), vec!["ending"]);
                self.found.alterations.push(Alteration { entry: None, game, parts, text });
            }
        }
        Ok(())
    }

    /// Rows that no entry of the log brought.
    fn inserted(&mut self) -> rusqlite::Result<()> {
        let numbers: Vec<i64> = self
            .conn
            .prepare(INSERTED)?
            .query_map([self.event], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        for number in numbers {
            let text = format!("game {number} was inserted: the log has no entry for its end");
            let game = Some(number);
            self.found.alterations.push(Alteration { entry: None, game, parts: vec![], text });
        }
        for (kind, table) in TABLES {
            let sql = format!(
                "SELECT seq FROM {table} t WHERE event = ?1 AND NOT EXISTS
                 (SELECT 1 FROM log l WHERE l.event = ?1 AND l.kind = ?2 AND l.seq = t.seq)"
            );
            let mut rows = self.conn.prepare(&sql)?;
            let seqs = rows.query_map((self.event, kind), |row| row.get(0))?;
            for seq in seqs.collect::<rusqlite::Result<Vec<i64>>>()? {
                let text =
                    format!("{} was inserted: the log has no entry {seq} of its kind", words(kind, None));
                self.alter(seq, None, vec![], text);
            }
        }
        Ok(())
    }
}

/// The digest of each player's name at the first entry, and what the entries that rename players make of it. What a
/// former name was is known only to the seals of these entries.
type Names = (HashMap<i64, PartDigest>, HashMap<i64, (i64, PartDigest)>);

fn first_names(conn: &Connection, event: i64) -> rusqlite::Result<Names> {
    let players = players(conn, EventId(event))?;
    let mut names: HashMap<_, _> = (0..).zip(players.iter().map(|name| seal::text_digest(name))).collect();
    let mut renames = HashMap::new();
    let sql = "SELECT r.seq, r.player, s.parts FROM renamed r JOIN seals s USING (event, seq)
               WHERE r.event = ? ORDER BY r.seq DESC";
    let mut backwards = conn.prepare(sql)?;
    let mut rows = backwards.query([event])?;
    while let Some(row) = rows.next()? {
        let (seq, player, parts): (i64, i64, Vec<u8>) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let former = parts.as_chunks::<16>().0.get(1).copied().unwrap_or_default();
        let name = names.insert(player, former).unwrap_or_default();
        renames.insert(seq, (player, name));
    }
    Ok((names, renames))
}

/// An entry in words.
fn words(kind: &str, game: Option<i64>) -> String {
    let what = match kind {
        "ended" => {
            return game.map_or_else(|| "a game".to_owned(), |number| format!("game {number}"));
        }
        "started" => "the start of a game",
        "opened" => "the start of a run",
        "entered" => "the arrival of a player",
        "renamed" => "the new name of a player",
        "bye" => "a bye",
        "fault" => "a fault",
        "memory" => "the memory of an engine",
        "verdict" => "a verdict",
        "operation" => "an operation",
        "closed" => "the end of the event",
        other => return format!("an entry `{other}`"),
    };
    what.to_owned()
}
