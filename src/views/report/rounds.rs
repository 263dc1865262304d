//! Who met whom: a line for each player, with the opponent, the colour and the result of each round. As TSV and as a tournament
//! report of FIDE (TRF16) it is what `renmei import` reads.

use super::{
    EventHistoryError, EventInfo, HistoryFold, Language, event_info,
    exhibit::{Cell, Column, Exhibit},
    plan,
};
use contest::standings::Standings;
use journal::{EventSummary, Moves, Store};
use notation::printable;
use referee::{
    AbortBy, Color, Outcome,
    entry::{GameId, PlayerId},
    pairing::Pairing,
    points::Points,
    rating::fit,
};
use std::collections::BTreeMap;

/// Most rounds that are printed as text.
pub const MOST_SHOWN: usize = 40;
/// Letters of a name in a tournament report.
const NAME: usize = 33;

/// The players of an event, best first, with what they met in each round.
#[derive(Clone, Debug, Default)]
pub struct RoundTable {
    name: String,
    format: String,
    rounds: Vec<(u8, u32)>,
    rows: Vec<Row>,
}

#[derive(Clone, Debug)]
struct Row {
    player: PlayerId,
    name: String,
    rating: Option<u32>,
    points: Points,
    /// What the player met, by its place in [`RoundTable::rounds`].
    met: BTreeMap<usize, Vec<Met>>,
}

#[derive(Clone, Copy, Debug)]
enum Met {
    /// Nothing, half or all of what a bye is worth, as 0, 1 and 2 or more.
    Bye(u8),
    Player {
        /// The line of the opponent, from 1.
        number: usize,
        color: Color,
        /// Twice the score.
        half_points: u8,
        /// True if nobody played.
        by_default: bool,
    },
}

impl Met {
    /// As `renmei import` reads it: `27b+`.
    fn cell(self) -> String {
        match self {
            Self::Bye(half_points) => format!("bye{}", ["0", "=", ""][usize::from(half_points.min(2))]),
            Self::Player { number, color, half_points, by_default } => {
                let color = if color == Color::Black { 'b' } else { 'w' };
                let result = ['-', '=', '+'][usize::from(half_points.min(2))];
                format!("{number}{color}{result}{}", if by_default { "f" } else { "" })
            }
        }
    }

    /// In the signs of a Japanese table of results: `☗27○`.
    fn sign(self) -> String {
        match self {
            Self::Bye(2..) => "不戦勝".to_owned(),
            Self::Bye(1) => "休（半点）".to_owned(),
            Self::Bye(_) => self.cell(),
            Self::Player { number, color, half_points, by_default } => {
                let color = if color == Color::Black { '☗' } else { '☖' };
                let result = ['●', '△', '○'][usize::from(half_points.min(2))];
                format!("{color}{number}{result}{}", if by_default { "不戦" } else { "" })
            }
        }
    }

    /// The ten columns of a round in a tournament report.
    fn columns(self) -> String {
        let (number, color, result) = match self {
            Self::Bye(half_points) => {
                ("0000".to_owned(), '-', ['Z', 'H', 'U'][usize::from(half_points.min(2))])
            }
            Self::Player { number, color, half_points, by_default } => {
                let results = if by_default { ['-', '=', '+'] } else { ['0', '=', '1'] };
                let color = if color == Color::Black { 'b' } else { 'w' };
                (number.to_string(), color, results[usize::from(half_points.min(2))])
            }
        };
        format!("  {number:>4} {color} {result}")
    }
}

impl RoundTable {
    /// Reads the table of an event.
    ///
    /// # Errors
    /// When the database or the stored plan cannot be read.
    pub fn read(store: &Store, event: &EventSummary) -> Result<Self, EventHistoryError> {
        let info = event_info(event, plan(event)?);
        let mut fold = HistoryFold::new(&info, false);
        store.replay(event.id, Moves::Results, &mut |stamped| fold.take(stamped))?;
        let order = fold.standings().order(&fit(&fold.standings().cross_table()));
        let order: Vec<PlayerId> = order.into_iter().map(|(_, player)| player).collect();
        Ok(Self::named(&info, fold.standings(), &order, fold.results()))
    }

    /// The table with the names of the players.
    pub(crate) fn named(
        info: &EventInfo,
        standings: &Standings,
        order: &[PlayerId],
        games: &[(GameId, Pairing, Outcome)],
    ) -> Self {
        let mut table = Self::of(standings, order, games.iter().map(|(_, pairing, end)| (*pairing, *end)));
        table.rows.iter_mut().for_each(|row| row.name = info.player(row.player).to_owned());
        Self { name: info.name.clone(), format: info.format.clone(), ..table }
    }

    /// The table without anything that players of these names met.
    #[must_use]
    pub fn without(mut self, is_hidden: impl Fn(&str) -> bool) -> Self {
        let hidden: Vec<bool> = self.rows.iter().map(|row| is_hidden(&row.name)).collect();
        for (row, hides) in self.rows.iter_mut().zip(&hidden) {
            let shows = |met: &Met| match met {
                Met::Player { number, .. } => hidden.get(number.wrapping_sub(1)) != Some(&true),
                Met::Bye(_) => true,
            };
            row.met.values_mut().for_each(|met| met.retain(|met| !hides && shows(met)));
        }
        self
    }

    fn of(
        standings: &Standings,
        order: &[PlayerId],
        games: impl Iterator<Item = (Pairing, Outcome)>,
    ) -> Self {
        let mut line_of = vec![0; standings.players()];
        order.iter().zip(1..).for_each(|(player, line)| line_of[player.index()] = line);
        let mut met: Vec<((u8, u32), PlayerId, Met)> = vec![];
        for (pairing, outcome) in games {
            let Pairing { stage, round, black, white, .. } = pairing;
            let is_missed = matches!(outcome, Outcome::Aborted { by: AbortBy::Missing });
            let by_default = is_missed || matches!(outcome, Outcome::Win { by, .. } if by.is_default());
            if !is_missed && !outcome.counts() || standings.is_struck(&pairing) {
                continue;
            }
            for (color, player, other) in [(Color::Black, black, white), (Color::White, white, black)] {
                let half_points = outcome.half_points(color).unwrap_or(0);
                let number = line_of.get(other.index()).copied().unwrap_or(0);
                met.push(((stage, round), player, Met::Player { number, color, half_points, by_default }));
            }
        }
        let mut points = vec![Points::ZERO; standings.players()];
        let mut stage = 0;
        while standings.stage(stage).is_some() {
            standings.ranking(stage).iter().for_each(|row| points[row.player.index()] += row.points);
            let at = u8::try_from(stage).unwrap_or(u8::MAX);
            let byes = standings.byes(stage);
            let worth = |half| if standings.is_half_bye(stage, half) { 1 } else { half };
            met.extend(byes.map(|(round, player, half)| ((at, round), player, Met::Bye(worth(half)))));
            stage += 1;
        }
        let mut rounds: Vec<(u8, u32)> = met.iter().map(|(round, ..)| *round).collect();
        rounds.sort_unstable();
        rounds.dedup();
        let row = |player: &PlayerId| Row {
            player: *player,
            name: String::new(),
            rating: standings.rules().ratings.get(player.index()).copied().flatten(),
            points: points[player.index()],
            met: BTreeMap::new(),
        };
        let mut rows: Vec<Row> = order.iter().map(row).collect();
        for (round, player, met) in met {
            let Ok(column) = rounds.binary_search(&round) else { continue };
            let row = line_of.get(player.index()).and_then(|line| rows.get_mut(line.wrapping_sub(1)));
            row.into_iter().for_each(|row| row.met.entry(column).or_default().push(met));
        }
        Self { name: String::new(), format: String::new(), rounds, rows }
    }

    /// Number of rounds.
    pub fn rounds(&self) -> usize {
        self.rounds.len()
    }

    /// The table for people.
    pub fn exhibit(&self, language: Language) -> Exhibit {
        self.exhibit_of(0..self.rounds.len(), language, |_, name| Cell::words(name))
    }

    /// The table of some rounds in the order of these places; `name` gives the cell of a player.
    pub fn exhibit_of(
        &self,
        rounds: impl Iterator<Item = usize>,
        language: Language,
        name: impl Fn(PlayerId, &str) -> Cell,
    ) -> Exhibit {
        let rows: Vec<(usize, &Row)> = (1..).zip(&self.rows).collect();
        let cell = |row: &Row, round: usize| {
            let met = row.met.get(&round).into_iter().flatten();
            let cells: Vec<String> = met.map(|met| language.pick(met.cell(), met.sign())).collect();
            Cell::words(if cells.is_empty() { "-".to_owned() } else { cells.join(" ") })
        };
        let mut columns: Vec<Column<'_, (usize, &Row)>> = vec![
            Column::right("#", |(at, _): &(usize, &Row)| Cell::number(at.to_string())),
            Column::left(language.player(), |(_, row): &(usize, &Row)| name(row.player, &row.name)),
        ];
        columns.extend(rounds.map(|round| {
            Column::left((round + 1).to_string(), move |(_, row): &(usize, &Row)| cell(row, round))
        }));
        columns.push(Column::right(language.points(), |(_, row): &(usize, &Row)| {
            Cell::number(row.points.to_string())
        }));
        Exhibit::of(columns, &rows)
    }

    /// The table as `renmei import` reads it. Hidden characters of a name are escaped, so that two names stay two.
    pub fn tsv(&self) -> String {
        let mut text = String::from("name");
        text.extend((1..=self.rounds.len()).map(|round| format!("\tr{round}")));
        text.push_str("\tpoints\n");
        for row in &self.rows {
            let name = printable(row.name.as_bytes());
            text += &if name.starts_with('"') { format!("\"{}\"", name.replace('"', "\"\"")) } else { name };
            for round in 0..self.rounds.len() {
                let met = row.met.get(&round).into_iter().flatten();
                let cells: Vec<String> = met.map(|met| met.cell()).collect();
                let cell = if cells.is_empty() { "-".to_owned() } else { cells.join(" ") };
                text += &format!("\t{cell}");
            }
            text += &format!("\t{}\n", row.points);
        }
        text
    }

    /// The event as a tournament report; `None`: a player has several games in a round, for which that has no place.
    pub fn trf(&self) -> Option<String> {
        let plain = |text: &str| printable(text.as_bytes());
        let mut text =
            format!("012 {}\n062 {}\n092 {}\n", plain(&self.name), self.rows.len(), plain(&self.format));
        for (rank, row) in (1..).zip(&self.rows) {
            let name: String = plain(&row.name).chars().take(NAME).collect();
            let rating = row.rating.map_or_else(String::new, |rating| rating.to_string());
            let points = row.points.to_string();
            text +=
                &format!("001 {rank:>4}      {name:<NAME$} {rating:>4} {:26} {:>4} {rank:>4}", "", points);
            for round in 0..self.rounds.len() {
                match row.met.get(&round).map(Vec::as_slice) {
                    None | Some([]) => text.push_str("  0000 - -"),
                    Some([met]) => text.push_str(&met.columns()),
                    Some(_) => return None,
                }
            }
            text.push('\n');
        }
        text += &format!("XXR {}\n", self.rounds.len());
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contest::stage::{Format, Stage};
    use referee::{
        WinBy,
        entry::{Entry, GameEnded},
    };

    /// Three players and three rounds: `あい` beats `b`, then draws with `c`, who does not come to the last game.
    fn table() -> RoundTable {
        let stage = Stage { format: Format::Swiss { rounds: 3 }, games: 1, ..Stage::default() };
        let mut standings = Standings::new(&[stage], 3);
        let won = |by| Outcome::Win { winner: Color::Black, by };
        let games = [
            (1, [0, 1], won(WinBy::Resignation)),
            (2, [2, 0], Outcome::Draw { by: referee::DrawBy::Sennichite }),
            (3, [0, 2], won(WinBy::Default)),
        ];
        let games = (0..).zip(games).map(|(index, (round, [black, white], outcome))| {
            let [black, white] = [black, white].map(PlayerId);
            let pairing =
                Pairing { stage: 0, index, attempt: 0, round, pair: index, opening: index, black, white };
            (pairing, outcome)
        });
        let games = games.collect::<Vec<_>>();
        for (pairing, outcome) in &games {
            let end = GameEnded::new(GameId(pairing.index + 1), *pairing, *outcome, 10);
            standings.fold(&Entry::GameEnded(end));
        }
        for (round, player, half_points) in [(1, 2, 2), (2, 1, 1), (3, 1, 0)] {
            standings.fold(&Entry::Bye { stage: 0, round, player: PlayerId(player), half_points });
        }
        let mut table = RoundTable::of(&standings, &[0, 2, 1].map(PlayerId), games.into_iter());
        table.rows.iter_mut().zip(["あい", "c", "b"]).for_each(|(row, name)| row.name = name.to_owned());
        table.name = "Cup".to_owned();
        table
    }

    #[test]
    fn a_line_has_opponent_colour_and_result_of_each_round() {
        let tsv = "name\tr1\tr2\tr3\tpoints\nあい\t3b+\t2w=\t2b+f\t2.5\nc\tbye\t1b=\t1w-f\t1.5\n\
                   b\t1w-\tbye=\tbye0\t0.5\n";
        assert_eq!(table().tsv(), tsv);
        let japanese = table().exhibit(Language::Japanese).to_string();
        assert!(
            japanese.contains("☗3○") && japanese.contains("不戦勝") && japanese.contains("☖1●不戦"),
            "{japanese}"
        );
    }

    #[test]
    fn a_bye_that_was_given_is_half_a_bye_whatever_the_games_of_an_encounter_are() {
        let stage = Stage { format: Format::Swiss { rounds: 2 }, games: 2, ..Stage::default() };
        let mut standings = Standings::new(&[stage], 1);
        for (round, half_points) in [(1, 2), (2, 4)] {
            standings.fold(&Entry::Bye { stage: 0, round, player: PlayerId(0), half_points });
        }
        let table = RoundTable::of(&standings, &[PlayerId(0)], [].into_iter());
        assert_eq!(table.tsv(), "name\tr1\tr2\tpoints\n\tbye=\tbye\t3.0\n");
        assert!(table.trf().unwrap().contains("  0000 - H  0000 - U\n"));
        let japanese = table.exhibit(Language::Japanese).to_string();
        assert!(japanese.contains("休（半点）") && japanese.contains("不戦勝"), "{japanese}");
    }

    #[test]
    fn no_name_of_a_table_hides_a_character_or_becomes_another_one() {
        let mut table = table();
        let names = ["a\0b\t\u{1b}", "\"c\"", "\u{202e}b"];
        table.rows.iter_mut().zip(names).for_each(|(row, name)| row.name = name.to_owned());
        let tsv = table.tsv();
        for name in ["\na\\u{0}b\\t\\u{1b}\t3b+", "\n\"\"\"c\"\"\"\t", "\n\\u{202e}b\t"] {
            assert!(tsv.contains(name), "{tsv}");
        }
        assert!(table.trf().unwrap().contains(" \\u{202e}b "));
    }

    #[test]
    fn a_tournament_report_has_its_columns() {
        let report = table().trf().unwrap();
        let lines: Vec<Vec<char>> = report.lines().map(|line| line.chars().collect()).collect();
        let columns =
            |line: usize, from: usize, to: usize| lines[line][from - 1..to].iter().collect::<String>();
        assert_eq!(
            (columns(3, 1, 8), columns(3, 15, 16), columns(3, 81, 89)),
            ("001    1".into(), "あい".into(), " 2.5    1".into())
        );
        assert_eq!(
            (columns(3, 92, 99), columns(3, 102, 109), columns(3, 112, 119)),
            ("   3 b 1".into(), "   2 w =".into(), "   2 b +".into())
        );
        assert_eq!(
            (columns(4, 92, 99), columns(5, 102, 109), columns(5, 112, 119)),
            ("0000 - U".into(), "0000 - H".into(), "0000 - Z".into())
        );
        let mut twice = table();
        let again = twice.rows[0].met[&0][0];
        twice.rows[0].met.get_mut(&0).unwrap().push(again);
        assert!(twice.trf().is_none(), "several games of a round have no place in it");
    }
}
