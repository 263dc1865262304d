//! Results without moves, of games that were played elsewhere: a list with a line for each game, the table of a Swiss with
//! a column for each round, a crosstable with a column for each player, or a tournament report of FIDE (TRF). But for that,
//! cells are separated by tabs or commas, and the first line names the columns.

mod cells;
mod trf;

use super::{FAULTS, FileFault, Import, ImportReport, RecordsError};
use cells::{Met, agreed, bye, cells, games_in, mirrored, outcome, shown, unknown};
use contest::{
    schedule::Pairing,
    stage::{Format, Stage},
};
use journal::{EventHead, Journal, UNDATED, Writer, now};
use notation::record::lines;
use plan::StoredPlan;
use platform::files::typed_contents;
use referee::{
    Color, Outcome,
    entry::{Entry, GameEnded, GameId, GameStarted, Opened, PlayerId, Stamped},
};
use std::{collections::BTreeMap, path::Path};

/// Largest file of results, in bytes.
const MOST_BYTES: u64 = 16_000_000;
/// Most players, and most rounds.
const MAX_ROWS: usize = 10_000;

type Reader = fn(&str) -> Result<Results, Wrong>;

/// Reads results by the extension of a file's name; `None`: such a file has records.
fn reader(path: &Path) -> Option<Reader> {
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "tsv" | "csv" => Some(Results::read),
        "trf" => Some(trf::read),
        _ => None,
    }
}

/// True if a file has results rather than records, by its name.
pub(super) fn is_results(path: &Path) -> bool {
    reader(path).is_some()
}

/// Imports a file of results as an event of its own; with a fault in the file nothing is imported, as a table with holes
/// would be another one.
///
/// # Errors
/// When the database cannot be written, or has an event of that name.
pub(super) fn import(path: &Path, args: &Import) -> Result<ImportReport, RecordsError> {
    let mut report = ImportReport { files: 1, verified: args.verify, ..ImportReport::default() };
    let fault = |line, reason: String| FileFault { file: path.to_owned(), line, reason, illegal: false };
    let reads = reader(path).unwrap_or(Results::read);
    let read = typed_contents(path, MOST_BYTES);
    let read = read.map_err(|error| vec![(None, format!("cannot be read: {error}"))]);
    match read.and_then(|bytes| reads(&lines(&bytes).collect::<Vec<_>>().join("\n"))) {
        Ok(results) => {
            report.records = results.games.len();
            if let Some(db) = &args.db {
                results.write(db, args, &path.to_string_lossy())?;
                report.imported = results.games.len();
            }
        }
        Err(faults) => {
            report.faults = faults.into_iter().take(FAULTS).map(|(line, why)| fault(line, why)).collect();
        }
    }
    Ok(report)
}

/// Faults of a file, each with its line from 1.
type Wrong = Vec<(Option<usize>, String)>;

/// The results of an event.
#[derive(Debug, Default, PartialEq)]
struct Results {
    players: Vec<String>,
    /// In the order of the file, or of the rounds.
    games: Vec<Game>,
    byes: Vec<Bye>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Game {
    round: u32,
    /// Black and white.
    players: [PlayerId; 2],
    outcome: Outcome,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Bye {
    round: u32,
    player: PlayerId,
    half_points: u8,
}

/// A line of a table: a player with what it met in each round, beside the words for that.
struct Row {
    line: usize,
    name: String,
    rounds: Vec<(String, Option<Met>)>,
}

impl Results {
    fn read(text: &str) -> Result<Self, Wrong> {
        let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
        let Some((_, head)) = lines.next() else { return Err(vec![(None, "is empty".to_owned())]) };
        let separator = if head.contains('\t') { '\t' } else { ',' };
        let head: Vec<String> = cells(head, separator).iter().map(|cell| cell.to_lowercase()).collect();
        let rows: Vec<_> = lines.map(|(line, text)| (line, cells(text, separator))).collect();
        let column = |names: &[&str]| head.iter().position(|cell| names.contains(&cell.as_str()));
        let list = [
            column(&["black", "sente", "先手"]),
            column(&["white", "gote", "後手"]),
            column(&["result", "結果"]),
        ];
        let rounds: Vec<usize> = (1..=MAX_ROWS)
            .map_while(|round| column(&[&format!("r{round}"), &format!("{round}回戦")]))
            .collect();
        let name = column(&["name", "player", "名前"]);
        let opponents = || -> Option<Vec<usize>> {
            let named = |at: usize| rows[at].1.get(name?).filter(|name| !name.is_empty());
            let number = |at: usize| (at + 1).to_string();
            let of = |at| {
                column(&[&number(at), &named(at).map_or_else(|| number(at), |name| name.to_lowercase())])
            };
            (0..rows.len()).map(of).collect()
        };
        let results = match (list, name) {
            ([Some(black), Some(white), Some(result)], _) => {
                let round = column(&["round", "回戦"]);
                Self::of_list(&rows, [black, white, result], round)
            }
            (_, Some(name)) if !rounds.is_empty() => Self::of_table(&rows, name, &rounds),
            (_, Some(name)) if let Some(opponents) = opponents() => Self::of_crosstable(&rows, name, &opponents),
            _ => Err(vec![(
                Some(1),
                "names neither the columns `round`, `black`, `white` and `result` of a list nor `name`, `r1`, `r2` .. of \
                 a table nor `name` and a column for each player (`1`, `2` .. or the names) of a crosstable"
                    .to_owned(),
            )]),
        }?;
        results.with_games()
    }

    fn with_games(self) -> Result<Self, Wrong> {
        if self.games.is_empty() { Err(vec![(None, "has no game".to_owned())]) } else { Ok(self) }
    }

    /// Reads a list: a line for each game or bye.
    fn of_list(
        rows: &[(usize, Vec<String>)],
        [black, white, result]: [usize; 3],
        round: Option<usize>,
    ) -> Result<Self, Wrong> {
        let (mut results, mut wrong, mut ids) = (Self::default(), vec![], BTreeMap::new());
        let mut seen: BTreeMap<(u32, PlayerId), usize> = BTreeMap::new();
        let is_nobody = |cell: &str| ["", "-", "不戦勝"].contains(&cell) || cell.eq_ignore_ascii_case("bye");
        for (line, row) in rows {
            let cell = |at: usize| row.get(at).map_or("", String::as_str);
            let number = match round.map(|round| cell(round).parse::<u32>()) {
                None => 1,
                Some(Ok(number)) if (1..=MAX_ROWS as u32).contains(&number) => number,
                Some(_) => {
                    wrong.push((Some(*line), format!("`round` is not a number from 1 to {MAX_ROWS}")));
                    continue;
                }
            };
            let mut id = |name: &str| {
                *ids.entry(name.to_owned()).or_insert_with(|| {
                    results.players.push(name.to_owned());
                    PlayerId::at(results.players.len() - 1)
                })
            };
            let before = [results.games.len(), results.byes.len()];
            let cells = match [black, white, result].map(cell) {
                // With white, the player of a bye has won where white has.
                [nobody, player, "0-1"] if is_nobody(nobody) => [player, nobody, "1-0"],
                [nobody, player, "1-0"] if is_nobody(nobody) => [player, nobody, "0-1"],
                [nobody, player, worth] if is_nobody(nobody) => [player, nobody, worth],
                cells => cells,
            };
            match cells {
                [nobody, ..] if is_nobody(nobody) => wrong.push((Some(*line), "has no player".to_owned())),
                [player, nobody, worth] if is_nobody(nobody) => match bye(worth) {
                    Some(half_points) => {
                        let player = id(player);
                        results.byes.push(Bye { round: number, player, half_points });
                    }
                    None => wrong.push((Some(*line), unknown(cell(result)))),
                },
                [one, other, _] if one == other => {
                    wrong.push((Some(*line), format!("`{}` plays itself", shown(one))));
                }
                [one, other, result] => match outcome(result) {
                    Some(outcome) => {
                        let players = [id(one), id(other)];
                        results.games.push(Game { round: number, players, outcome });
                    }
                    None => wrong.push((Some(*line), unknown(result))),
                },
            }
            let played = results.games[before[0]..].iter().flat_map(|game| game.players);
            for player in played.chain(results.byes[before[1]..].iter().map(|bye| bye.player)) {
                // Without rounds, players may meet as often as the list says.
                let first = round.and_then(|_| seen.insert((number, player), *line));
                let Some(first) = first else { continue };
                let name = shown(&results.players[player.index()]);
                let why = format!(
                    "round {number}: `{name}` has its game or bye in line {first} already; further games of an encounter are \
                     rounds of their own"
                );
                wrong.push((Some(*line), why));
            }
        }
        if results.players.len() > MAX_ROWS {
            wrong.push((None, format!("has more than {MAX_ROWS} players")));
        }
        if wrong.is_empty() { Ok(results) } else { Err(wrong) }
    }

    /// The players of a table, each with a line.
    fn of_names<'n>(names: impl ExactSizeIterator<Item = (usize, &'n str)>) -> Result<Self, Wrong> {
        if names.len() > MAX_ROWS {
            return Err(vec![(None, format!("has more than {MAX_ROWS} players"))]);
        }
        let (mut results, mut wrong, mut first) = (Self::default(), vec![], BTreeMap::new());
        for (line, name) in names {
            if name.is_empty() {
                wrong.push((Some(line), "has no name".to_owned()));
            } else if let Some(first) = first.insert(name, line) {
                let why =
                    format!("`{}` is the name in line {first} too: two players need two names", shown(name));
                wrong.push((Some(line), why));
            }
            results.players.push(name.to_owned());
        }
        if wrong.is_empty() { Ok(results) } else { Err(wrong) }
    }

    /// Reads a table with a line for each player and a cell for each round, such as `27b+`: a win with black against the
    /// player of line 27. `bye` is a round without an opponent, and an `f` at the end a game that was not played.
    fn of_table(rows: &[(usize, Vec<String>)], name: usize, rounds: &[usize]) -> Result<Self, Wrong> {
        let row = |(line, row): &(usize, Vec<String>)| {
            let cell = |at: usize| row.get(at).cloned().unwrap_or_default();
            let met = |&at: &usize| (cell(at), Met::read(&cell(at)));
            Row { line: *line, name: cell(name), rounds: rounds.iter().map(met).collect() }
        };
        Self::of_rows(&rows.iter().map(row).collect::<Vec<_>>())
    }

    /// Takes the two cells of each game together; the number of a player is its place among the rows, from 1.
    fn of_rows(rows: &[Row]) -> Result<Self, Wrong> {
        let names = rows.iter().map(|row| (row.line, row.name.as_str()));
        let (mut results, mut wrong) = (Self::of_names(names)?, vec![]);
        let rounds = rows.iter().map(|row| row.rounds.len()).max().unwrap_or(0);
        for (round, column) in (1_u32..).zip(0..rounds) {
            let met = |at: usize| rows.get(at)?.rounds.get(column)?.1;
            for (at, row) in rows.iter().enumerate() {
                let Some((cell, own)) = row.rounds.get(column) else { continue };
                let mut fault = |why: &str| {
                    wrong.push((Some(row.line), format!("round {round}: `{}` {why}", shown(cell))))
                };
                match own {
                    None => fault("is not a result such as `27b+`, `○27`, `bye`, `bye=` or `-`"),
                    Some(Met::Nobody) => {}
                    Some(Met::Bye(half_points)) => {
                        let player = PlayerId::at(at);
                        results.byes.push(Bye { round, player, half_points: *half_points });
                    }
                    Some(Met::Player(own)) => {
                        let other = own.number.wrapping_sub(1);
                        let theirs = met(other).filter(|_| other != at);
                        match theirs.and_then(|theirs| own.agreed(at + 1, theirs)) {
                            None => fault("does not agree with the line of the opponent"),
                            Some((color, outcome)) if at < other => {
                                results.add(round, [at, other], color, outcome);
                            }
                            Some(_) => {}
                        }
                    }
                }
            }
        }
        if wrong.is_empty() { results.with_games() } else { Err(wrong) }
    }

    /// Adds a game with its outcome as if the first player had black. Colours that nobody knows are dealt out evenly.
    fn add(&mut self, round: u32, [at, other]: [usize; 2], color: Option<Color>, outcome: Outcome) {
        let is_even = (at + other + round as usize).is_multiple_of(2);
        let (players, outcome) = match color.unwrap_or(if is_even { Color::Black } else { Color::White }) {
            Color::Black => ([at, other], outcome),
            Color::White => ([other, at], mirrored(outcome)),
        };
        self.games.push(Game { round, players: players.map(PlayerId::at), outcome });
    }

    /// Reads a crosstable: a line and a column for each player, and the games of two players in both their cells, such as
    /// `1` or `½ 0`. It does not say who had black: colours are dealt out evenly.
    fn of_crosstable(rows: &[(usize, Vec<String>)], name: usize, opponents: &[usize]) -> Result<Self, Wrong> {
        let names = rows.iter().map(|(line, row)| (*line, row.get(name).map_or("", String::as_str)));
        let (mut results, mut wrong) = (Self::of_names(names)?, vec![]);
        let cell = |of: usize, with: usize| rows[of].1.get(opponents[with]).map_or("", String::as_str);
        for (at, (line, _)) in rows.iter().enumerate() {
            for other in (0..rows.len()).filter(|other| *other != at) {
                let agreed = match (games_in(cell(at, other)), games_in(cell(other, at))) {
                    (None, _) => None,
                    // The other cell has a fault of its own.
                    (Some(_), None) => continue,
                    (Some(own), Some(theirs)) => Some(agreed(&own, &theirs)),
                };
                let why = match agreed {
                    None => "is not a list of results such as `1`, `0`, `½` or `1 0`",
                    Some(None) => "does not agree with the line of the opponent",
                    Some(Some(games)) => {
                        for (round, outcome) in (1_u32..).zip(games).filter(|_| at < other) {
                            results.add(round, [at, other], None, outcome);
                        }
                        continue;
                    }
                };
                let (cell, opponent) = (shown(cell(at, other)), shown(&results.players[other]));
                wrong.push((Some(*line), format!("`{cell}` against `{opponent}` {why}")));
            }
        }
        if wrong.is_empty() { Ok(results) } else { Err(wrong) }
    }

    /// A round robin where everybody met everybody equally often, and else a Swiss.
    fn stage(&self) -> Stage {
        let mut met: BTreeMap<[PlayerId; 2], u32> = BTreeMap::new();
        for Game { players: [a, b], .. } in &self.games {
            *met.entry([*a.min(b), *a.max(b)]).or_default() += 1;
        }
        let cycles = met.values().next().copied().unwrap_or(1);
        let rounds = self.games.iter().map(|game| game.round).chain(self.byes.iter().map(|bye| bye.round));
        let (players, rounds) = (self.players.len(), rounds.max());
        let is_round_robin =
            met.len() == players * (players - 1) / 2 && met.values().all(|met| *met == cycles);
        let format = match is_round_robin {
            true => Format::RoundRobin { cycles },
            false => Format::Swiss { rounds: rounds.unwrap_or(1) },
        };
        Stage { format, games: 1, ..Stage::default() }
    }

    fn write(&self, db: &Path, args: &Import, file: &str) -> Result<(), RecordsError> {
        let name = &*args.event;
        if Writer::open(db)?.events()?.iter().any(|event| event.name == name) {
            return Err(RecordsError::NameTaken(name.to_owned()));
        }
        let stage = self.stage();
        let rules = args.rules.as_ref().map(|rules| plan::ranking::load(rules, &stage)).transpose()?;
        let plan = StoredPlan::of_results(name, &self.players, stage, rules.unwrap_or_default());
        let head = EventHead { name, kind: "import", plan: &plan.to_json(), fingerprint: "{}" };
        let journal = Journal::open(db, &head)?.start(vec![], || ())?;
        let format = plan::format_words(&plan.stages);
        let (name, players) = (name.to_owned(), self.players.clone());
        let at = now();
        let append = |at, entry| journal.append([Stamped { at, entry }]);
        append(at, Entry::Opened(Opened { name, players, format, resumed: false }));
        for (index, game) in (0..).zip(&self.games) {
            let [black, white] = game.players;
            let (round, number) = (game.round, GameId(index + 1));
            let pairing =
                Pairing { stage: 0, index, attempt: 0, round, pair: index, opening: index, black, white };
            let (start, opening) = ("startpos".to_owned(), String::new());
            let started = GameStarted { game: number, pairing, start, opening, times: None };
            append(UNDATED, Entry::GameStarted(started));
            let (outcome, evidence) = (game.outcome, format!("results of `{file}`"));
            let ended = GameEnded { evidence, ..GameEnded::new(number, pairing, outcome, 0) };
            append(at, Entry::GameEnded(ended));
        }
        for &Bye { round, player, half_points } in &self.byes {
            append(at, Entry::Bye { stage: 0, round, player, half_points });
        }
        append(at, Entry::Closed);
        journal.finish()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game(round: u32, [black, white]: [usize; 2], result: &str) -> Game {
        Game { round, players: [black, white].map(PlayerId::at), outcome: outcome(result).unwrap() }
    }

    #[test]
    fn a_list_has_rounds_byes_and_forfeits_in_english_and_japanese() {
        let list = "round,black,white,result\n1,\"kai, the\",ann,1-0\n1,bo,,\n2,ann,bo,0-1f\n2,\"kai, the\",bye,1/2\n";
        let results = Results::read(list).unwrap();
        assert_eq!(results.players, ["kai, the", "ann", "bo"]);
        assert_eq!(results.games, [game(1, [0, 1], "1-0"), game(2, [1, 2], "0-1f")]);
        let bye = |round, at, half_points| Bye { round, player: PlayerId::at(at), half_points };
        assert_eq!(results.byes, [bye(1, 2, 2), bye(2, 0, 1)]);
        assert_eq!(results.stage().format, Format::Swiss { rounds: 2 });
        let japanese = "回戦\t先手\t後手\t結果\n1\tポナンザ\t激指\t先手勝ち\n2\t激指\tポナンザ\t引き分け\n";
        let results = Results::read(japanese).unwrap();
        assert_eq!(results.games, [game(1, [0, 1], "1-0"), game(2, [1, 0], "=")]);
        assert_eq!(results.stage().format, Format::RoundRobin { cycles: 2 });
    }

    #[test]
    fn a_bye_stands_on_either_side_and_never_on_both() {
        let list = "round,black,white,result\n1,a,b,1-0\n2,bye,a,1\n3,a,Bye,=\n4,-,b,0-1\n";
        let results = Results::read(list).unwrap();
        let bye = |round, at, half_points| Bye { round, player: PlayerId::at(at), half_points };
        assert_eq!(results.byes, [bye(2, 0, 2), bye(3, 0, 1), bye(4, 1, 2)]);
        assert_eq!(results.players, ["a", "b"]);
        let wrong = |lines: &str| Results::read(&format!("{list}{lines}")).unwrap_err().remove(0).1;
        assert_eq!(wrong("5,bye,bye,1\n"), "has no player");
        assert!(wrong("5,bye,a,1-0\n").starts_with("unknown result `1-0`"));
        assert_eq!(wrong("1000000,a,b,1-0\n"), "`round` is not a number from 1 to 10000");
    }

    #[test]
    fn a_table_has_a_game_for_two_cells_that_agree() {
        let table = "rank\tname\tr1\tr2\tpoints\n1\ta\t2b+\tbye\t2\n2\tb\t1w-\t3b=\t0.5\n3\tc\t-\t2w=\t0.5\n";
        let results = Results::read(table).unwrap();
        assert_eq!(results.games, [game(1, [0, 1], "1-0"), game(2, [1, 2], "=")]);
        assert_eq!(results.byes, [Bye { round: 2, player: PlayerId(0), half_points: 2 }]);
        let wrong = Results::read(&table.replace("1w-", "1w+")).unwrap_err();
        assert_eq!(wrong.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [Some(2), Some(3)]);
        assert!(Results::read(&table.replace("2b+", "9b+")).is_err(), "there is no ninth player");
    }

    #[test]
    fn a_crosstable_has_the_games_of_two_players_in_both_their_cells() {
        let table = "rank,name,1,2,3,points\n1,a,x,1 0,½,1.5\n2,b,0 1,,+,2\n3,c,=,-,,0.5\n";
        let results = Results::read(table).unwrap();
        assert_eq!(results.players, ["a", "b", "c"]);
        let games =
            [game(1, [0, 1], "1-0"), game(2, [1, 0], "1-0"), game(1, [2, 0], "="), game(1, [1, 2], "1-0f")];
        assert_eq!(results.games, games);
        assert_eq!(results.stage().format, Format::Swiss { rounds: 2 }, "not all have met equally often");
        let by_name = "名前\tポナンザ\t激指\nポナンザ\t■\t○○\n激指\t●●\t■\n";
        let results = Results::read(by_name).unwrap();
        assert_eq!(results.stage().format, Format::RoundRobin { cycles: 2 });
        let missed = Results::read("name,1,2,3\na,,-,1\nb,-,,1\nc,0,0,\n").unwrap();
        assert_eq!(missed.games[0].outcome, outcome("0-0f").unwrap(), "both have lost by default");
        assert_eq!((missed.games.len(), missed.stage().format), (3, Format::RoundRobin { cycles: 1 }));
        let wrong = Results::read(&table.replace("0 1", "0 0")).unwrap_err();
        assert_eq!(wrong.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [Some(2), Some(3)]);
        let wrong = Results::read(&table.replace("1 0", "2")).unwrap_err();
        assert!(wrong.len() == 1 && wrong[0].1.contains("`2` against `b` is not a list"), "{wrong:?}");
    }

    #[test]
    fn neither_player_has_a_point_of_a_game_that_both_lose_by_default() {
        let list = "round,black,white,result\n1,A,B,0-0f\n2,A,B,1-0f\n3,A,bye,0\n4,A,bye,0.5\n";
        let results = Results::read(list).unwrap();
        let absent = Outcome::Aborted { by: referee::AbortBy::Missing };
        assert_eq!(results.games[0].outcome, absent);
        assert_eq!(results.byes.iter().map(|bye| bye.half_points).collect::<Vec<_>>(), [0, 1]);
        let late_bye = "round,black,white,result\n1,a,b,1-0\n1,c,bye,\n2,a,bye,0\n";
        let results = Results::read(late_bye).unwrap();
        assert_eq!(results.stage().format, Format::Swiss { rounds: 2 }, "a round of byes alone is one");
        let table = "name\tr1\tr2\na\t2b-f\t2w+\nb\t1w-f\t1b-\n";
        assert_eq!(Results::read(table).unwrap().games[0].outcome, absent);
        assert!(Results::read(&list.replace("0-0f", "0-0")).is_err(), "two losses of a game that was played");
    }

    #[test]
    fn a_player_has_one_game_or_bye_in_a_round_of_a_list() {
        let faults = |lines: &str| {
            let wrong = Results::read(&format!("round,black,white,result\n{lines}")).unwrap_err();
            wrong.into_iter().map(|(line, why)| format!("{}: {why}", line.unwrap())).collect::<Vec<_>>()
        };
        let twice = faults("1,a,b,1-0\n1,a,c,1-0\n");
        assert!(
            twice.len() == 1 && twice[0].starts_with("3: round 1: `a` has its game or bye in line 2"),
            "{twice:?}"
        );
        assert_eq!(faults("1,a,b,1-0\n1,b,a,0-1\n").len(), 2, "a game from both sides");
        let bye = faults("1,a,b,1-0\n1,b,bye,1\n");
        assert!(bye.len() == 1 && bye[0].starts_with("3: round 1: `b`"), "{bye:?}");
        let twice = faults("1,c,bye,\n1,a,b,1-0\n1,c,bye,\n");
        assert!(twice.len() == 1 && twice[0].starts_with("4: round 1: `c`"), "{twice:?}");
        assert!(Results::read("black,white,result\na,b,1-0\na,c,1-0\n").is_ok(), "the list has no rounds");
    }

    #[test]
    fn two_lines_of_one_name_are_a_fault_of_every_table() {
        for table in ["name,r1\na,2b+\na,1w-\n", "name,1,2\na,x,1\na,0,x\n"] {
            let wrong = Results::read(table).unwrap_err();
            assert!(
                wrong[0].0 == Some(3) && wrong[0].1.contains("`a` is the name in line 2 too"),
                "{wrong:?}"
            );
        }
        let trf = format!("{}{}", trf_line(1, "a", "   2 w 1"), trf_line(2, "a", "   1 b 0"));
        assert!(trf::read(&trf).unwrap_err()[0].1.contains("two names"));
        assert!(Results::read("name,r1\na,2b+\n,1w-\n").unwrap_err()[0].1.contains("has no name"));
    }

    #[test]
    fn a_quote_within_a_cell_is_a_letter() {
        let table = "name\tr1\nKai \"the\" Great\t2b+\n\"Bo\" Li\t1w-\n5\" disk\t-\n";
        assert_eq!(Results::read(table).unwrap().players, ["Kai \"the\" Great", "\"Bo\" Li", "5\" disk"]);
        let list = "black,white,result\n\"kai, \"\"the\"\" great\" , 5\" ,1-0\n";
        assert_eq!(Results::read(list).unwrap().players, ["kai, \"the\" great", "5\""]);
    }

    #[test]
    fn a_cell_may_begin_with_the_result_and_leave_the_colour_out() {
        let table = |cells: [&str; 4]| {
            let [a, b, c, d] = cells;
            Results::read(&format!("name\tr1\na\t{a}\nb\t{b}\nc\t{c}\nd\t{d}\n"))
        };
        let wanted = [game(1, [0, 1], "1-0"), game(1, [2, 3], "=")];
        for cells in [["2b+", "1w-", "4b=", "3w="], ["+2b", "-1w", "=4b", "=3w"], ["+2b", "●1", "△4", "3w="]]
        {
            assert_eq!(table(cells).unwrap().games, wanted, "{cells:?}");
        }
        let dealt = table(["W2", "L1", "D4", "D3"]).unwrap();
        let outcomes: Vec<_> = dealt.games.iter().map(|game| (game.players, game.outcome)).collect();
        assert_eq!(outcomes[0], ([PlayerId(0), PlayerId(1)], outcome("1-0").unwrap()));
        assert_eq!(table(["+2f", "-1f", "", ""]).unwrap().games, [game(1, [0, 1], "1-0f")]);
        for wrong in [["○2", "○1", "", ""], ["+2b", "-1b", "", ""], ["△1", "", "", ""], ["21", "12", "", ""]]
        {
            assert!(table(wrong).is_err(), "{wrong:?}");
        }
    }

    /// A line of a tournament report with the columns of its rounds.
    fn trf_line(number: usize, name: &str, rounds: &str) -> String {
        format!("001 {number:4} m    {name:<33} 2200 NOR           0 1990/01/01  0.0 {number:4}  {rounds}\n")
    }

    #[test]
    fn a_tournament_report_has_the_games_of_the_table_that_it_was_made_of() {
        let table = "name\tr1\tr2\tr3\nAlyx\t2w+\t3b=\tbye0\nBruno\t1b-\tbye=\t3w-f\nカイ\tbye\t1w=\t2b+f\n";
        let report = [
            "012 Cup\n".to_owned(),
            trf_line(7, "Alyx", "   9 w 1     4 b =  0000 - Z"),
            trf_line(9, "Bruno", "   7 b 0  0000 - H     4 w -"),
            trf_line(4, "カイ", "0000 - U     7 w =     9 b +"),
            "XXR 3\n".to_owned(),
        ];
        let read = trf::read(&report.concat()).unwrap();
        assert_eq!(read, Results::read(table).unwrap());
        let wrong = trf::read(&report.concat().replace("9 w 1", "9 w 0")).unwrap_err();
        assert_eq!(wrong.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [Some(2), Some(3)]);
        let wrong = trf::read(&report.concat().replace("   9 m", "   7 m")).unwrap_err();
        assert!(wrong[0].0 == Some(3) && wrong[0].1.contains("starting rank 7"), "{wrong:?}");
        assert!(trf::read("012 Cup\n").is_err(), "no player");
    }

    #[test]
    fn every_fault_of_a_file_of_results_is_named_with_its_line() {
        let list = "round,black,white,result\nx,a,b,1-0\n1,a,a,1-0\n1,,b,1-0\n1,a,b,2-0\n1,a,b,1-0\n";
        let wrong = Results::read(list).unwrap_err();
        assert_eq!(wrong.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [2, 3, 4, 5].map(Some));
        assert!(wrong[3].1.contains("`2-0`"), "{wrong:?}");
        for (text, why) in [("", "is empty"), ("a,b\n1,2\n", "`round`"), ("black,white,result\n", "no game")]
        {
            let wrong = Results::read(text).unwrap_err();
            assert!(wrong[0].1.contains(why), "{text}: {wrong:?}");
        }
    }
}
