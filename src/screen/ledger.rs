//! `renmei ledger --dashboard`: the players of many events in one rating, on the terminal.

use super::has_terminal;
use crate::cli::LedgerArgs;
use crate::commands::{Exit, Failure, ledger::rated};
use ::ledger::{Aim, Ledger, Met, Rated, Row, Suggestion};
use dashboard::{
    LedgerEnd,
    ledger::{Details, Encounter, Group, Opponent, Player, Source, Suggestions, Table},
};
use report::{
    html::Language,
    ledger::{aging, facts, labels, left_out, notes},
};
use std::io;

/// Shows the ledger of the databases that are given.
pub fn ledger(args: &LedgerArgs) -> Result<Exit, Failure> {
    if !has_terminal() {
        return Err(Failure::Usage(
            "`--dashboard` needs a terminal; without it the table is printed".to_owned(),
        ));
    }
    let cannot = |error: io::Error| Failure::Other(format!("the terminal cannot be used: {error}"));
    match dashboard::show_ledger(Databases { args: args.clone(), rated: None }).map_err(cannot)? {
        LedgerEnd::Left => Ok(Exit::Done),
        LedgerEnd::Nothing(why) => Err(why),
    }
}

/// The databases, and what was read of them last.
struct Databases {
    args: LedgerArgs,
    rated: Option<(Ledger, Rated)>,
}

impl Source for Databases {
    type Error = Failure;

    fn read(&mut self, say: &dyn Fn(String)) -> Result<Table, Failure> {
        let (ledger, rated) = rated(&self.args, say)?;
        say("looking for what to play next".to_owned());
        let next = suggestions(&ledger, &rated, Aim::Everyone, self.args.most);
        let labels = labels(ledger.nodes());
        let group = |group: &::ledger::Group| Group {
            players: group.rows.iter().map(|row| player(&ledger, row, &labels)).collect(),
            notes: notes(group, &labels).iter().map(|note| note.replace("+-", "±")).collect(),
        };
        let groups = rated.groups.iter().map(group).collect();
        let left_out = left_out(&ledger, Language::English);
        let left_out = left_out.iter().map(|line| format!("left out: {line}"));
        let notes = aging(&ledger, Language::English).into_iter().chain(left_out).collect();
        let table = Table { facts: facts(&ledger, &rated, Language::English), groups, next, notes };
        self.rated = Some((ledger, rated));
        Ok(table)
    }

    fn player(&mut self, node: usize) -> Details {
        let Some((ledger, rated)) = &self.rated else {
            return Details { node, opponents: vec![], next: None };
        };
        let opponent =
            |met: Met| Opponent { node: met.node, results: met.results, difference: met.difference };
        let opponents = ledger.opponents(node, rated).into_iter().map(opponent).collect();
        Details { node, opponents, next: suggestions(ledger, rated, Aim::Player(node), self.args.most) }
    }
}

fn player(ledger: &Ledger, row: &Row, labels: &[String]) -> Player {
    let node = &ledger.nodes()[row.node];
    Player {
        node: row.node,
        label: labels[row.node].clone(),
        also: node.also.clone(),
        build: node.build.clone(),
        settings: node.settings.clone(),
        clock: node.clock.clone(),
        machine: node.machine.clone(),
        elo: row.elo,
        games: row.games,
        score: row.score,
        events: node.events,
    }
}

/// The encounters to play next, of the set that the aim is in.
fn suggestions(ledger: &Ledger, rated: &Rated, aim: Aim, most: usize) -> Option<Suggestions> {
    let suggested = rated.suggest(aim, |a, b| ledger.may_meet(a, b), most);
    let error = suggested.first()?.error;
    let encounter = |suggestion: Suggestion| {
        let Suggestion { players, error_after, seconds, .. } = suggestion;
        Encounter { players, error_after, seconds }
    };
    Some(Suggestions { error, encounters: suggested.into_iter().map(encounter).collect() })
}
