//! The rounds of a Swiss and of a knock-out: who met whom, and who goes on.

use crate::{
    Site,
    desk::{Desk, NoAnswer},
    layout::Page,
    live::Live,
    parts::{FOLLOWING, Json, fresh},
    refusals::Refusal,
    visitor::Visitor,
};
use axum::extract::State;
use contest::stage::Format;
use journal::EventSummary;
use maud::html;
use plan::StoredPlan;
use referee::{Color, entry::PlayerId, points::Points, running::RunningGame};
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};
use words::Language;

/// Games that are looked at: more rounds than anybody looks through.
const MAX_GAMES: usize = 20_000;

/// A round.
#[derive(Serialize)]
struct Round {
    stage: u8,
    round: u32,
    encounters: Vec<Encounter>,
    byes: Vec<Bye>,
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
fn knockouts(event: &EventSummary, plan: &StoredPlan) -> Vec<Option<u32>> {
    let mut entrants = event.players.len();
    let rounds = plan.stages.iter().map(|stage| {
        entrants = stage.entrants.map_or(entrants, |some| entrants.min(usize::from(some)));
        matches!(stage.format, Format::Knockout { .. }).then(|| entrants.next_power_of_two().ilog2())
    });
    rounds.collect()
}

/// A player without an opponent.
#[derive(Serialize)]
struct Bye {
    player: u32,
    name: String,
    /// What the round is worth to it, by the event's scoring.
    points: Points,
    /// True if an arbiter has given it.
    half: bool,
}

/// Two players in a round.
#[derive(Serialize)]
struct Encounter {
    players: [u32; 2],
    names: [String; 2],
    /// Twice the wins and the draws.
    half_points: [u32; 2],
    /// By the event's scoring.
    points: [Points; 2],
    games: Vec<u64>,
    /// The games in which each has black.
    blacks: [u32; 2],
    running: bool,
    /// True if a game of it counts, or still may.
    counts: bool,
}

impl Encounter {
    /// Takes in a game with this black player.
    fn add(&mut self, game: u64, black: u32) {
        self.games.push(game);
        self.blacks[usize::from(self.players[0] != black)] += 1;
    }

    /// The colour of a player, where it had one alone.
    fn mark(&self, at: usize) -> &'static str {
        match self.blacks {
            blacks if blacks[1 - at] == 0 => "☗",
            blacks if blacks[at] == 0 => "☖",
            _ => "",
        }
    }
}

/// Rounds by stage and number, each with its encounters by their players, the lower number first.
type Rounds = BTreeMap<(u8, u32), BTreeMap<[u32; 2], Encounter>>;

fn rounds(desk: &mut Desk) -> Result<Vec<Round>, NoAnswer> {
    let event = desk.store()?.1;
    let plan = report::plan(event)?;
    let (knockouts, scoring) = (knockouts(event, &plan), plan.ranking().scoring);
    let site = desk.site();
    let mut found = Rounds::new();
    // A game whose end viewers may not know yet is running for them.
    let now = site.now(|live| (take_running(&mut found, live), byes(live, &plan)));
    let (running, mut byes) = now.unwrap_or_default();
    for round in byes.keys() {
        found.entry(*round).or_default();
    }
    desk.ended_games(MAX_GAMES, |game, veil| {
        if running.contains(&game.number) {
            return;
        }
        let encounter = encounter(&mut found, (game.stage, game.round), game.players, |at| veil.name(at));
        encounter.add(game.number, game.players[0]);
        encounter.counts |= game.counts;
        if game.counts {
            let at = usize::from(encounter.players[0] != game.players[0]);
            let black = game.result.black_half_points();
            for (at, color, half_points) in [(at, Color::Black, black), (1 - at, Color::White, 2 - black)] {
                encounter.half_points[at] += u32::from(half_points);
                encounter.points[at] += scoring.half_points(color, half_points);
            }
        }
    })?;
    let rounds = found.into_iter().map(|((stage, round), encounters)| {
        let mut encounters: Vec<Encounter> = encounters.into_values().collect();
        encounters.iter_mut().for_each(|encounter| encounter.games.sort_unstable());
        encounters.sort_by_key(|encounter| encounter.games.first().copied());
        let of = knockouts.get(usize::from(stage)).copied().flatten();
        Round { stage, round, encounters, byes: byes.remove(&(stage, round)).unwrap_or_default(), of }
    });
    Ok(rounds.collect())
}

/// The byes that viewers may know of, by stage and round.
fn byes(live: &Live, plan: &StoredPlan) -> BTreeMap<(u8, u32), Vec<Bye>> {
    let (standings, scoring) = (live.fold.standings(), plan.ranking().scoring);
    let mut found: BTreeMap<_, Vec<Bye>> = BTreeMap::new();
    for stage in 0..u8::try_from(plan.stages.len()).unwrap_or(u8::MAX) {
        for (round, player, half_points) in standings.byes(stage.into()) {
            let name = live.player(player).to_owned();
            if !live.facts.is_private(&name) {
                let points = scoring.byes(half_points.into());
                let half = standings.is_half_bye(stage.into(), half_points);
                found.entry((stage, round)).or_default().push(Bye { player: player.0, name, points, half });
            }
        }
    }
    found
}

/// Takes the running games in; returns their numbers.
fn take_running(rounds: &mut Rounds, live: &Live) -> HashSet<u64> {
    let running = live.games.values().filter(|game| !game.id.is_elsewhere());
    let take = |game: &RunningGame| {
        let (pairing, name) = (game.pairing, |player| live.player(PlayerId(player)).to_owned());
        let encounter =
            encounter(rounds, (pairing.stage, pairing.round), game.players().map(|id| id.0), name);
        encounter.add(game.id.0, game.players()[0].0);
        (encounter.running, encounter.counts) = (true, true);
        game.id.0
    };
    running.map(take).collect()
}

fn encounter(
    rounds: &mut Rounds,
    round: (u8, u32),
    [black, white]: [u32; 2],
    name: impl Fn(u32) -> String,
) -> &mut Encounter {
    let players = [black.min(white), black.max(white)];
    rounds.entry(round).or_default().entry(players).or_insert_with(|| Encounter {
        players,
        names: players.map(name),
        half_points: [0, 0],
        points: [Points::ZERO; 2],
        games: vec![],
        blacks: [0, 0],
        running: false,
        counts: false,
    })
}

/// The page.
pub async fn page(State(site): State<Site>, visitor: Visitor) -> Result<Page, Refusal> {
    let (rounds, language) = (site.ask(rounds).await?, visitor.language);
    let stages = rounds.iter().map(|round| round.stage).max().unwrap_or(0);
    let content = html! {
        @for stage in 0..=stages {
            @if stages > 0 { h2 { (language.stage(u32::from(stage) + 1)) } }
            @let last = rounds.iter().rfind(|round| round.stage == stage).map(|round| round.round);
            div.rounds { @for round in rounds.iter().filter(|round| round.stage == stage) {
                section.round.current[Some(round.round) == last] {
                    h3 { (round.name(language)) }
                    @for encounter in &round.encounters {
                        div.encounter.running[encounter.running] {
                            @for at in [0, 1] {
                                p.won[encounter.half_points[at] > encounter.half_points[1 - at]] {
                                    a href=(format!("/players/{}", encounter.players[at])) { (encounter.mark(at)) (encounter.names[at]) }
                                    b { (encounter.points[at].shortest()) }
                                }
                            }
                            p.facts { @for number in encounter.games.iter().take(12) { a href=(format!("/games/{number}")) { "#" (number) } " " } @if !encounter.counts { (language.not_counted()) } }
                        }
                    }
                    @for bye in &round.byes { div.encounter {
                        p.won { a href=(format!("/players/{}", bye.player)) { (bye.name) } b { (bye.points.shortest()) } }
                        p.facts { (if bye.half { language.half_bye() } else { language.bye() }) }
                    } }
                }
            } }
        }
    };
    let table = html! { p { a href="/rounds/table" { (language.round_table()) } } };
    let content = html! { h1 { (language.rounds()) } (table) (fresh(&site, &content)) };
    Ok(Page::new(language.rounds(), "/rounds", content).with(FOLLOWING))
}

/// The same as JSON.
pub async fn api(State(site): State<Site>) -> Result<Json, Refusal> {
    Ok(Json::of(&site.ask(rounds).await?))
}
