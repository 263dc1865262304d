//! The tables of a report, for its text and its page.

use crate::exhibit::{
    Cell, Exhibit,
    cross::{Met, Placed, cross},
    ranking::ranking,
    standings::standings,
};
use crate::{Encounter, Language, MOST_DRAWN, PlayerRow, Report, StageTable};
use contest::standings::Decided;

impl Report {
    /// The tables that are the result: those of ranked stages, and the standings with what two players' games say.
    pub fn tables(&self, words: Language) -> Vec<Exhibit> {
        let ranked = self.stages.iter().filter(|stage| stage.is_ranked);
        let ranked = ranked.map(|stage| stage.exhibit(words, |name| Cell::words(name)));
        let mut standings = self.standings_table(words, |row| Cell::words(&row.name));
        if let (Some(met), Some(said)) = (self.duel(), self.duel_words(words)) {
            standings.notes.push(format!("{} – {}: {said}", met.name, met.opponent));
        }
        ranked.chain([standings]).collect()
    }

    /// The standings; `name` gives the cell of a player.
    pub(crate) fn standings_table(&self, words: Language, name: impl Fn(&PlayerRow) -> Cell) -> Exhibit {
        standings(&self.standings, self.duel().is_some(), words, name)
    }

    /// The cross table of the first [`MOST_DRAWN`] players; `name` gives the cell of a player by its place in the standings.
    pub(crate) fn cross_table(&self, words: Language, name: impl Fn(usize, &str) -> Cell) -> Exhibit {
        let shown = &self.standings[..self.standings.len().min(MOST_DRAWN)];
        let order: Vec<Placed<&str>> = shown.iter().map(|row| row.name.as_str()).enumerate().collect();
        let all = self.standings.len();
        let note = (all > order.len()).then(|| words.first_players(order.len(), all));
        let name = |&(at, player): &Placed<&str>| name(at, player);
        cross(&order, &order, words.engine(), name, |one, other| self.met(one.1, other.1)).with_notes(note)
    }

    fn met(&self, own: &str, other: &str) -> Option<Met> {
        let met = |pair: &Encounter| {
            let (points, share) = pair.points_against(own, other)?;
            Some(Met { points: points.shortest(), share, games: pair.games })
        };
        self.pairs.iter().find_map(met)
    }
}

impl StageTable {
    /// Its table; `name` gives the cell of a player.
    pub(crate) fn exhibit(&self, words: Language, name: impl Fn(&str) -> Cell) -> Exhibit {
        let rows: Vec<_> = self.table.iter().map(|line| (name(&line.name), &line.row)).collect();
        let left_out = self.advances.len().saturating_sub(MOST_DRAWN);
        let advances = self.advances[left_out..].iter().map(|decided| self.goes_on(decided, words));
        let decisions = self.decisions.iter().map(|operation| words.operation(operation));
        ranking(&rows, words).with_notes(advances.chain(decisions))
    }

    /// `round 2: a goes on, 1.5 : 0.5 against b`, and what decided where the score of the first games did not.
    pub(crate) fn goes_on(&self, decided: &Decided, words: Language) -> String {
        let Decided { round, players, points: [own, other], extra, by_seed } = *decided;
        let [winner, loser] = players.map(|player| {
            self.table.iter().find(|line| line.row.player == player).map_or("?", |line| &line.name)
        });
        let by = match (by_seed, extra) {
            (true, _) => words.by_seed().to_owned(),
            (_, 0) => String::new(),
            (_, extra) => words.by_more_games(extra),
        };
        words.knockout_goes_on(&words.round(round), winner, loser, own, other, &by)
    }
}
