//! The rounds of a Swiss and of a knock-out: who met whom, and who goes on.

use crate::{
    Site,
    desk::{Desk, NoAnswer},
    layout::Page,
    parts::{FOLLOWING, Json, fresh},
    refusals::Refusal,
    visitor::Visitor,
};
use axum::extract::State;
use journal::EventSummary;
use maud::html;
use referee::{entry::GameId, stage::Format};
use serde::Serialize;
use std::collections::BTreeMap;
use words::Language;

/// Games that are looked at: more rounds than anybody looks through.
const MOST: i64 = 20_000;

/// A round.
#[derive(Serialize)]
struct Round {
    stage: u8,
    round: u32,
    encounters: Vec<Encounter>,
    /// Rounds of the stage, where it is a knock-out.
    #[serde(skip)]
    of: Option<u32>,
}

impl Round {
    /// Its name: the last rounds of a knock-out have names of their own.
    fn name(&self, language: Language) -> String {
        self.of.map_or_else(|| language.round(self.round), |of| language.knockout_round(self.round, of))
    }
}

/// Rounds of each stage that is a knock-out.
fn knockouts(event: &EventSummary) -> Result<Vec<Option<u32>>, NoAnswer> {
    let plan = report::plan(event)?;
    let mut entrants = event.players.len();
    let rounds = plan.stages.iter().map(|stage| {
        entrants = stage.entrants.map_or(entrants, |some| entrants.min(usize::from(some)));
        matches!(stage.format, Format::Knockout { .. }).then(|| entrants.next_power_of_two().ilog2())
    });
    Ok(rounds.collect())
}

/// Two players in a round, with their points in half points.
#[derive(Serialize)]
struct Encounter {
    players: [u32; 2],
    names: [String; 2],
    half_points: [u32; 2],
    games: Vec<u64>,
    running: bool,
}

fn rounds(desk: &mut Desk) -> Result<Vec<Round>, NoAnswer> {
    let site = desk.site();
    let (names, running) = site.now(|live| (live.names.clone(), live.running())).ok_or(NoAnswer::NotYet)?;
    let private = site.now(|live| live.private.clone()).unwrap_or_default();
    let hidden = site.now(|live| live.ids.iter().map(|id| live.facts.is_private(id)).collect::<Vec<_>>());
    let hidden = hidden.unwrap_or_default();
    let is_hidden =
        |player: u32| usize::try_from(player).ok().and_then(|at| hidden.get(at)).copied().unwrap_or(false);
    let veil = desk.veil()?;
    let (store, event) = desk.store()?;
    let knockouts = knockouts(event)?;
    let sql = "SELECT stage, round, black, white, number, result, state, ended_at FROM games WHERE event = ? \
               ORDER BY number LIMIT ?";
    let mut games = store.connection().prepare_cached(sql)?;
    let mut rows = games.query((event.id.0, MOST))?;
    let mut found: BTreeMap<(u8, u32), BTreeMap<[u32; 2], Encounter>> = BTreeMap::new();
    let name =
        |player: u32| usize::try_from(player).ok().and_then(|at| names.get(at)).cloned().unwrap_or_default();
    while let Some(row) = rows.next()? {
        let (black, white): (u32, u32) = (row.get(2)?, row.get(3)?);
        let pair = [black.min(white), black.max(white)];
        if pair.into_iter().any(is_hidden) {
            continue;
        }
        let number = row.get::<_, i64>(4)?.unsigned_abs();
        let runs = running.contains_key(&number);
        if private.contains(&GameId(number)) || !runs && !veil.shows(GameId(number), row.get(7)?) {
            continue;
        }
        let round = found.entry((row.get(0)?, row.get(1)?)).or_default();
        let encounter = round.entry(pair).or_insert_with(|| Encounter {
            players: pair,
            names: pair.map(name),
            half_points: [0, 0],
            games: vec![],
            running: false,
        });
        encounter.games.push(number);
        // A game whose end viewers may not know yet is running for them.
        if runs {
            encounter.running = true;
            continue;
        }
        let state: String = row.get(6)?;
        let black_points = match row.get::<_, Option<String>>(5)?.as_deref() {
            _ if state != "counted" => continue,
            Some("black") => 2,
            Some("white") => 0,
            _ => 1,
        };
        let at = usize::from(pair[0] != black);
        encounter.half_points[at] += black_points;
        encounter.half_points[1 - at] += 2 - black_points;
    }
    let rounds = found.into_iter().map(|((stage, round), encounters)| {
        let mut encounters: Vec<Encounter> = encounters.into_values().collect();
        encounters.sort_by_key(|encounter| encounter.games.first().copied());
        let of = knockouts.get(usize::from(stage)).copied().flatten();
        Round { stage, round, encounters, of }
    });
    Ok(rounds.collect())
}

/// The page.
pub async fn page(State(site): State<Site>, visitor: Visitor) -> Result<Page, Refusal> {
    let (rounds, language) = (site.ask(rounds).await?, visitor.language);
    let points = |half: u32| (f64::from(half) / 2.0).to_string();
    let stages = rounds.iter().map(|round| round.stage).max().unwrap_or(0);
    let content = html! {
        @for stage in 0..=stages {
            @if stages > 0 { h2 { (language.stage(u32::from(stage) + 1)) } }
            div.rounds { @for round in rounds.iter().filter(|round| round.stage == stage) {
                section.round {
                    h3 { (round.name(language)) }
                    @for encounter in &round.encounters {
                        div.encounter.running[encounter.running] {
                            @for at in [0, 1] {
                                p.won[encounter.half_points[at] > encounter.half_points[1 - at]] {
                                    a href=(format!("/players/{}", encounter.players[at])) { (encounter.names[at]) }
                                    b { (points(encounter.half_points[at])) }
                                }
                            }
                            p.facts { @for number in encounter.games.iter().take(12) { a href=(format!("/games/{number}")) { "#" (number) } " " } }
                        }
                    }
                }
            } }
        }
    };
    let content = html! { h1 { (language.rounds()) } (fresh(&site, &content)) };
    Ok(Page::new(language.rounds(), "/rounds", content).with(FOLLOWING))
}

/// The same as JSON.
pub async fn api(State(site): State<Site>) -> Result<Json, Refusal> {
    Ok(Json::of(&site.ask(rounds).await?))
}
