//! Results without moves, of games that were played elsewhere: a list with a line for each game, the table of a Swiss with
//! a column for each round, or a crosstable with a column for each player. Cells are separated by tabs or commas, and the
//! first line names the columns.

use super::{FAULTS, FileFault, Import, ImportReport, RecordsError};
use contest::{
    schedule::Pairing,
    stage::{Format, Stage},
};
use journal::{EventHead, Journal, UNDATED, Writer, now};
use notation::record::lines;
use plan::StoredPlan;
use referee::{
    Color, DrawBy, Outcome, WinBy,
    entry::{Entry, GameEnded, GameId, GameStarted, Opened, PlayerId, Stamped},
};
use std::{collections::BTreeMap, fs, path::Path};

/// Largest file of results, in bytes.
const MOST_BYTES: u64 = 16 << 20;
/// Most players, and most rounds.
const MAX_ROWS: usize = 10_000;

/// True if a file has results rather than records, by its name.
pub(super) fn is_results(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    ["tsv", "csv"].contains(&extension.to_ascii_lowercase().as_str())
}

/// Imports a file of results as an event of its own; with a fault in the file nothing is imported, as a table with holes
/// would be another one.
///
/// # Errors
/// When the database cannot be written, or has an event of that name.
pub(super) fn import(path: &Path, args: &Import) -> Result<ImportReport, RecordsError> {
    let mut report = ImportReport { files: 1, verified: args.verify, ..ImportReport::default() };
    let fault = |line, reason: String| FileFault { file: path.to_owned(), line, reason, illegal: false };
    let read = match fs::metadata(path) {
        Err(error) => Err(vec![(None, format!("cannot be read: {error}"))]),
        Ok(data) if data.len() > MOST_BYTES => Err(vec![(None, "is larger than 16 MiB".to_owned())]),
        Ok(_) => match fs::read(path) {
            Ok(bytes) => Results::read(&lines(&bytes).join("\n")),
            Err(error) => Err(vec![(None, format!("cannot be read: {error}"))]),
        },
    };
    match read {
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
        if results.games.is_empty() { Err(vec![(None, "has no game".to_owned())]) } else { Ok(results) }
    }

    /// Reads a list: a line for each game or bye.
    fn of_list(
        rows: &[(usize, Vec<String>)],
        [black, white, result]: [usize; 3],
        round: Option<usize>,
    ) -> Result<Self, Wrong> {
        let (mut results, mut wrong, mut ids) = (Self::default(), vec![], BTreeMap::new());
        for (line, row) in rows {
            let cell = |at: usize| row.get(at).map_or("", String::as_str);
            let number = match round.map(|round| cell(round).parse::<u32>()) {
                None => 1,
                Some(Ok(number)) if (1..=MAX_ROWS as u32).contains(&number) => number,
                Some(_) => {
                    wrong.push((Some(*line), "`round` is not a number from 1".to_owned()));
                    continue;
                }
            };
            let mut id = |name: &str| {
                *ids.entry(name.to_owned()).or_insert_with(|| {
                    results.players.push(name.to_owned());
                    PlayerId::at(results.players.len() - 1)
                })
            };
            match (cell(black), cell(white), cell(result)) {
                ("", ..) => wrong.push((Some(*line), "`black` is empty".to_owned())),
                (player, "" | "-" | "bye" | "不戦勝", worth) => match bye(worth) {
                    Some(half_points) => {
                        let player = id(player);
                        results.byes.push(Bye { round: number, player, half_points });
                    }
                    None => wrong.push((Some(*line), unknown(worth))),
                },
                (one, other, _) if one == other => {
                    wrong.push((Some(*line), format!("`{}` plays itself", shown(one))));
                }
                (one, other, result) => match outcome(result) {
                    Some(outcome) => {
                        let players = [id(one), id(other)];
                        results.games.push(Game { round: number, players, outcome });
                    }
                    None => wrong.push((Some(*line), unknown(result))),
                },
            }
        }
        if results.players.len() > MAX_ROWS {
            wrong.push((None, format!("has more than {MAX_ROWS} players")));
        }
        if wrong.is_empty() { Ok(results) } else { Err(wrong) }
    }

    /// The players of a table, each with a line.
    fn of_rows(rows: &[(usize, Vec<String>)], name: usize) -> Result<Self, Wrong> {
        let players = rows.iter().map(|(_, row)| row.get(name).cloned().unwrap_or_default()).collect();
        match rows.len() <= MAX_ROWS {
            true => Ok(Self { players, ..Self::default() }),
            false => Err(vec![(None, format!("has more than {MAX_ROWS} players"))]),
        }
    }

    /// Reads a table with a line for each player and a cell for each round, such as `27b+`: a win with black against the
    /// player of line 27. `bye` is a round without an opponent, and an `f` at the end a game that was not played.
    fn of_table(rows: &[(usize, Vec<String>)], name: usize, rounds: &[usize]) -> Result<Self, Wrong> {
        let (mut results, mut wrong) = (Self::of_rows(rows, name)?, vec![]);
        for (round, &column) in (1..).zip(rounds) {
            let cell = |at: usize| rows[at].1.get(column).map_or("", String::as_str);
            let met: Vec<_> = (0..rows.len()).map(|at| Met::read(cell(at))).collect();
            for (at, (line, _)) in rows.iter().enumerate() {
                let player = PlayerId::at(at);
                let fault = |why: &str| (Some(*line), format!("round {round}: `{}` {why}", shown(cell(at))));
                match met[at] {
                    None => wrong.push(fault("is not a result such as `27b+`, `bye` or `-`")),
                    Some(Met::Nobody) => {}
                    Some(Met::Bye(half_points)) => results.byes.push(Bye { round, player, half_points }),
                    Some(Met::Player { number, color, outcome }) => {
                        let mirrored = Met::Player { number: at + 1, color: !color, outcome };
                        match number.checked_sub(1).and_then(|other| met.get(other)) {
                            Some(Some(seen)) if *seen == mirrored => {}
                            _ => wrong.push(fault("does not agree with the line of the opponent")),
                        }
                        if color == Color::Black {
                            let players = [player, PlayerId::at(number.saturating_sub(1))];
                            results.games.push(Game { round, players, outcome });
                        }
                    }
                }
            }
        }
        if wrong.is_empty() { Ok(results) } else { Err(wrong) }
    }

    /// Reads a crosstable: a line and a column for each player, and the games of two players in both their cells, such as
    /// `1` or `½ 0`. It does not say who had black: colours are dealt out evenly.
    fn of_crosstable(rows: &[(usize, Vec<String>)], name: usize, opponents: &[usize]) -> Result<Self, Wrong> {
        let (mut results, mut wrong) = (Self::of_rows(rows, name)?, vec![]);
        let cell = |of: usize, with: usize| rows[of].1.get(opponents[with]).map_or("", String::as_str);
        for (at, (line, _)) in rows.iter().enumerate() {
            for other in (0..rows.len()).filter(|other| *other != at) {
                let agreed = match (games_in(cell(at, other)), games_in(cell(other, at))) {
                    (None, _) => None,
                    // The other cell has a fault of its own.
                    (Some(_), None) => continue,
                    (Some(own), Some(theirs)) => Some(meetings(&own, &theirs)),
                };
                let why = match agreed {
                    None => "is not a list of results such as `1`, `0`, `½` or `1 0`",
                    Some(None) => "does not agree with the line of the opponent",
                    Some(Some(games)) => {
                        for (round, outcome) in (1_u32..).zip(games).filter(|_| at < other) {
                            let is_upper = (at + other + round as usize).is_multiple_of(2);
                            let (players, outcome) = match is_upper {
                                true => ([at, other], outcome),
                                false => ([other, at], mirrored(outcome)),
                            };
                            let players = players.map(PlayerId::at);
                            results.games.push(Game { round, players, outcome });
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
        let (players, rounds) = (self.players.len(), self.games.iter().map(|game| game.round).max());
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

/// What a cell of a table says of a round.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Met {
    Nobody,
    /// Twice the score.
    Bye(u8),
    Player {
        number: usize,
        color: Color,
        outcome: Outcome,
    },
}

impl Met {
    fn read(cell: &str) -> Option<Self> {
        if ["", "-", "--"].contains(&cell) {
            return Some(Self::Nobody);
        }
        if let Some(worth) = cell.strip_prefix("bye") {
            return bye(worth).map(Self::Bye);
        }
        let digits = cell.find(|c: char| !c.is_ascii_digit())?;
        let (number, rest) = cell.split_at(digits);
        let color = match rest.chars().next()?.to_ascii_lowercase() {
            'b' => Color::Black,
            'w' => Color::White,
            _ => return None,
        };
        let own = outcome(&rest[1..])?;
        // The result is that of the player of the line.
        let outcome = if color == Color::White { mirrored(own) } else { own };
        Some(Self::Player { number: number.parse().ok()?, color, outcome })
    }
}

/// The outcome that a result means, from black's side; of the cause it says nothing, but that nobody played.
fn outcome(result: &str) -> Option<Outcome> {
    let result = result.to_lowercase();
    let (result, is_forfeit) = match result.strip_suffix('f') {
        Some(played) => (played, true),
        None => (result.as_str(), false),
    };
    let by = if is_forfeit { WinBy::Default } else { WinBy::Ruling };
    match result {
        "1-0" | "1" | "+" | "black" | "先手" | "先手勝ち" | "○" => {
            Some(Outcome::Win { winner: Color::Black, by })
        }
        "0-1" | "0" | "-" | "white" | "後手" | "後手勝ち" | "●" | "×" => {
            Some(Outcome::Win { winner: Color::White, by })
        }
        "1/2-1/2" | "½-½" | "0.5-0.5" | "1/2" | "½" | "0.5" | "=" | "draw" | "引き分け" | "引分" | "△"
            if !is_forfeit =>
        {
            Some(Outcome::Draw { by: DrawBy::Ruling })
        }
        _ => None,
    }
}

/// What a game between these players ended with, from the other one's side.
fn mirrored(outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Win { winner, by } => Outcome::Win { winner: !winner, by },
        outcome => outcome,
    }
}

/// The games in a cell of a crosstable, from the side of the player of the line as if it had black. A `+` or `-` is a game
/// by default, and an `x` none.
fn games_in(cell: &str) -> Option<Vec<Outcome>> {
    let mut games = vec![];
    for word in cell.split_whitespace() {
        match word {
            "1/2" | "0.5" => games.push(outcome("=")?),
            word => {
                for letter in word.chars().filter(|letter| !['x', 'X'].contains(letter)) {
                    let by_default = if ['+', '-'].contains(&letter) { "f" } else { "" };
                    games.push(outcome(&format!("{letter}{by_default}"))?);
                }
            }
        }
    }
    Some(games)
}

/// The games of two players by the cells of both, from the side of the first; `None`: the cells do not agree. Two losses by
/// default are a game that did not take place.
fn meetings(own: &[Outcome], theirs: &[Outcome]) -> Option<Vec<Outcome>> {
    let forfeited = Outcome::Win { winner: Color::White, by: WinBy::Default };
    let games = own.iter().zip(theirs).map(|(&own, &theirs)| match own == mirrored(theirs) {
        true => Some(Some(own)),
        false => (own == forfeited && theirs == forfeited).then_some(None),
    });
    let games: Option<Vec<_>> = games.collect();
    games.filter(|_| own.len() == theirs.len()).map(|games| games.into_iter().flatten().collect())
}

/// Twice the score of a bye.
fn bye(worth: &str) -> Option<u8> {
    match worth {
        "" | "bye" | "1" | "+" | "1-0" | "不戦勝" => Some(2),
        "1/2" | "½" | "0.5" | "=" => Some(1),
        "0" => Some(0),
        _ => None,
    }
}

fn unknown(result: &str) -> String {
    let result = shown(result);
    format!(
        "unknown result `{result}`; write 1-0, 0-1 or 1/2-1/2, with an `f` behind it for a game that was not played"
    )
}

fn shown(cell: &str) -> String {
    cell.chars().filter(|c| !c.is_control()).take(50).collect()
}

/// The cells of a line; in quotes a cell may have the separator in it, and a quote doubled.
fn cells(line: &str, separator: char) -> Vec<String> {
    let (mut cells, mut cell, mut quoted) = (vec![], String::new(), false);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => cell.extend(letters.next()),
            '"' => quoted = !quoted,
            letter if letter == separator && !quoted => {
                cells.push(std::mem::take(&mut cell).trim().to_owned())
            }
            letter => cell.push(letter),
        }
    }
    cells.push(cell.trim().to_owned());
    cells
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
        assert_eq!(missed.games.len(), 2, "a game that both have lost by default did not take place");
        let wrong = Results::read(&table.replace("0 1", "0 0")).unwrap_err();
        assert_eq!(wrong.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [Some(2), Some(3)]);
        let wrong = Results::read(&table.replace("1 0", "2")).unwrap_err();
        assert!(wrong.len() == 1 && wrong[0].1.contains("`2` against `b` is not a list"), "{wrong:?}");
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
