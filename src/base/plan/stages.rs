//! The event: `[event]`, `[[stage]]` and `[sprt]`.

use crate::{HttpConfig, JudgePlan, NotifyConfig, OpeningChange, OpeningPlan, Plan, RoundBreak, SprtPlan};
use crate::{
    engines::Engines,
    fault_limit,
    keys::{EVENT, STAGE, STAGE_KEYS},
    log::log,
    ranking,
    reader::{Table, listed},
    tune,
};
use contest::schedule::{EntryRules, Format, ReplayDraws, Stage, SwissRules, Tie};
use referee::{adjudicate::Adjudication, precision::Precision, rules::Rules};
use std::path::Path;

/// What stands for the format of two engines that play `until` their Elo is known.
const PRECISION: &str = "until";

/// Most games of a test, where none are given.
const MOST_GAMES: u64 = 20_000;

/// Keys with a meaning in some formats only.
const ONLY_IN: [(&str, &[&str]); 13] = [
    ("accelerated", &["swiss"]),
    ("random_rounds", &["swiss"]),
    ("forget_rematches", &["swiss"]),
    ("sits_out", &["swiss"]),
    (
        "colours",
        &["round-robin", "double-round-robin", "gauntlet", "random", "information", "swiss", "knock-out"],
    ),
    ("time_by_round", &["round-robin", "double-round-robin", "random", "information", "swiss", "knock-out"]),
    (
        "games",
        &[
            "round-robin",
            "double-round-robin",
            "gauntlet",
            "random",
            "information",
            "swiss",
            "knock-out",
            PRECISION,
        ],
    ),
    ("until", &["round-robin", PRECISION]),
    ("rounds", &["random", "information", "swiss"]),
    ("cycles", &["round-robin", "gauntlet"]),
    ("challengers", &["gauntlet"]),
    ("tie", &["knock-out"]),
    ("extra_pairs", &["knock-out"]),
];

/// Reads the tables of the event and puts the plan together.
pub fn plan(
    root: &Table<'_>,
    engines: Engines,
    rules: Rules,
    adjudication: Adjudication,
    openings: Option<OpeningPlan>,
) -> Plan {
    let event = root.table("event", &EVENT);
    let tune = tune::read(root, &event, openings.as_ref());
    let stages = match &tune {
        Some(tune) => vec![tune::stage(tune)],
        None => stages(root, &event, &engines),
    };
    check_pairs(root, &stages, openings.as_ref());
    check_rounds(root, &event, &stages, openings.as_ref());
    let judge = JudgePlan::of(root);
    let environment = root.context.environment;
    let seed = event.integer("seed").unwrap_or(1);
    let plan = Plan {
        name: name(&event),
        database: event.path("database").unwrap_or_else(|| environment.base.join(database(&event))),
        base: environment.base.clone(),
        seed,
        ranking: ranking::rules(root, &stages, &engines.present, seed),
        concurrency: concurrency(&event, &engines, judge.as_ref()),
        oversubscribe: event.flag("oversubscribe", false),
        affinity: event.flag_or_auto("affinity"),
        startups: number_or(&event, "startups", environment.cores),
        replay_draws: replay_draws(&event, &stages),
        round_break: RoundBreak::read(&event),
        look: event.flag("look", true),
        fault_limit: fault_limit::read(&event),
        sprt: sprt(root, &stages),
        stages,
        tune,
        rules,
        adjudication,
        openings,
        notify: NotifyConfig::of(root),
        http: HttpConfig::of(root),
        judge,
        gpus: event.number("gpus").unwrap_or_default(),
        engines: engines.present,
        skipped: engines.skipped,
        log: log(&event).unwrap_or_default(),
        reserve_mb: event.integer("reserve_mb").unwrap_or(crate::RESERVE_MB),
        difference: None,
    };
    check_event(&event, &plan);
    event.refuse_unknown();
    plan
}

fn name(event: &Table<'_>) -> String {
    let given = event.item("name").map(|item| item.name().unwrap_or_default().to_owned());
    given.unwrap_or_else(|| event.context.stem("match"))
}

fn database(event: &Table<'_>) -> String {
    event.context.stem("match") + ".db"
}

fn number_or(table: &Table<'_>, key: &str, auto: usize) -> usize {
    table.integer(key).unwrap_or(auto.max(1))
}

fn concurrency(event: &Table<'_>, engines: &Engines, judge: Option<&JudgePlan>) -> usize {
    let of_judge = judge.map_or(0.0, |judge| judge.engine.cores).ceil() as usize;
    let cores = event.context.environment.cores.saturating_sub(of_judge).max(1);
    let per_game = engines.cores_per_game();
    let players = &engines.present;
    let carried = match per_game {
        // A remote player thinks elsewhere and plays one game at a time: no core limits its games.
        _ if !players.is_empty() && players.iter().all(|player| player.remote) => players.len().div_ceil(2),
        0.0 => cores,
        each => (cores as f64 / each) as usize,
    };
    number_or(event, "concurrency", carried)
}

fn check_event(event: &Table<'_>, plan: &Plan) {
    if plan.affinity == Some(true) && plan.oversubscribe {
        let message = "cannot be with `oversubscribe = true`: pinned games need cores of their own";
        event.fault("affinity", message);
    }
    if let Some(engine) = plan.engines.iter().find(|engine| engine.gpu > plan.gpus) {
        let (name, gpu, gpus) = (&engine.name, engine.gpu, plan.gpus);
        event.fault("gpus", format!("\"{name}\" needs {gpu} of a GPU, the event has {gpus}"));
    }
    if let Err(why) = platform::files::refuse_special_name(&plan.database) {
        event.fault("database", why);
    } else if plan.database.is_dir() {
        event.fault("database", format!("`{}` is a directory, not a file", plan.database.display()));
    } else if !plan.database.parent().is_some_and(Path::is_dir) {
        event.fault("database", format!("the directory of `{}` does not exist", plan.database.display()));
    }
}

fn replay_draws(event: &Table<'_>, stages: &[Stage]) -> ReplayDraws {
    let word = event.word("replay_draws").unwrap_or("no");
    let limit = event.integer("replay_limit");
    let (which, clocks) = (event.word("replayed_draws"), event.word("replay_clocks"));
    let starved = event.word("starved") == Some("replay");
    if word == "no" {
        let others = ["replay_limit", "replayed_draws", "replay_clocks"];
        for key in others.into_iter().filter(|key| event.has(key)) {
            let message = "no draw is played again; say `replay_draws = \"same\"` or `\"swap\"` too";
            event.fault(key, message);
        }
        return ReplayDraws { starved, ..ReplayDraws::default() };
    }
    if stages.iter().any(|stage| stage.format.is_sequential()) {
        event.fault("replay_draws", "a sequential test counts its draws; leave it out");
    }
    ReplayDraws {
        times: limit.unwrap_or(4),
        swap_colors: word == "swap",
        only_sennichite: which == Some("sennichite"),
        keeps_clocks: clocks == Some("remaining"),
        starved,
    }
}

fn stages(root: &Table<'_>, event: &Table<'_>, engines: &Engines) -> Vec<Stage> {
    let mut field = FieldSizes { engines, sizes: vec![], seeds: vec![] };
    let Some(list) = root.item("stage") else {
        return vec![stage(event, root, &mut field)];
    };
    for key in STAGE_KEYS.iter().filter(|key| event.has(key.name)) {
        event.fault(key.name, "belongs in a `[[stage]]` where there are stages");
    }
    let items = list.elements("tables, each under `[[stage]]`");
    if items.is_empty() {
        list.fault("names no stage");
    }
    let tables: Vec<_> = items.iter().filter_map(|item| item.table(&STAGE)).collect();
    field.seeds = tables.iter().map(|table| table.integer("seeded").unwrap_or(0)).collect();
    let mut stages = Vec::new();
    for table in &tables {
        stages.push(stage(table, root, &mut field));
        table.refuse_unknown();
    }
    stages
}

/// The numbers of players of the stages, by the file.
struct FieldSizes<'a> {
    engines: &'a Engines,
    /// Players of each stage so far.
    sizes: Vec<usize>,
    /// Seeds of each stage.
    seeds: Vec<usize>,
}

impl FieldSizes<'_> {
    /// Reads where the players of a stage come from, and how many of them play.
    fn entry(&mut self, table: &Table<'_>) -> (Option<u16>, EntryRules) {
        let (at, all) = (self.sizes.len(), self.engines.listed.len());
        let later: usize = self.seeds.iter().skip(at + 1).sum();
        let own = self.seeds.get(at).copied().unwrap_or(0);
        let (from, skip) = (table.integer::<usize>("from_stage"), table.integer::<u16>("skip"));
        self.check_entry(table, from, own + later);
        let source = from.map_or(at.checked_sub(1), |from| from.checked_sub(1));
        let most = match source.and_then(|source| self.sizes.get(source)).filter(|_| at > 0) {
            Some(source) => own + source.saturating_sub(skip.unwrap_or(0).into()),
            None => all.saturating_sub(later),
        };
        let given = table.integer::<u16>("entrants");
        if let Some(entrants) = given.filter(|entrants| usize::from(*entrants) > most) {
            let whence = match at {
                0 => "engines of the file",
                _ if own > 0 || skip.is_some() => "players who can enter",
                _ => "entrants of the stage before",
            };
            table.fault("entrants", format!("{entrants} is more than the {most} {whence}"));
        }
        let size = given.map_or(most, usize::from);
        if size < 2 && (own + later > 0 || skip.is_some()) {
            table.fault("", format!("a stage needs two players, and {size} would enter this one"));
        }
        self.sizes.push(size);
        let present = |n: usize| u16::try_from(self.engines.present_among(n)).unwrap_or(u16::MAX);
        let rules = EntryRules {
            seeded: present(later + own).saturating_sub(present(later)),
            of: from.and_then(|from| u8::try_from(from.checked_sub(1)?).ok()),
            skip: skip.unwrap_or(0),
        };
        (given.map(|entrants| entrants.min(present(all))), rules)
    }

    fn check_entry(&self, table: &Table<'_>, from: Option<usize>, seeds: usize) {
        let (at, all) = (self.sizes.len(), self.engines.listed.len());
        for key in ["seeded", "from_stage", "skip"].into_iter().filter(|key| at == 0 && table.has(key)) {
            if table.integer(key) != Some(0) {
                table.fault(
                    key,
                    "belongs to later stages; every engine that none of them seeds enters the first",
                );
            }
        }
        if at > 0 && from.is_some_and(|from| from > at) {
            table.fault("from_stage", format!("is not a stage before this one, which is stage {}", at + 1));
        }
        if seeds > all {
            table.fault("seeded", format!("{seeds} engines would be seeded, and the file has {all}"));
        }
    }
}

fn swiss_rules(table: &Table<'_>) -> SwissRules {
    SwissRules {
        accelerated: table.integer("accelerated").unwrap_or(0),
        random_rounds: table.integer("random_rounds").unwrap_or(0),
        forget_rematches: table.integer("forget_rematches").unwrap_or(0),
        sits_out: table.choice("sits_out"),
        colours: table.choice("colours"),
    }
}

/// Reads a stage.
fn stage(table: &Table<'_>, root: &Table<'_>, field: &mut FieldSizes<'_>) -> Stage {
    let word = table.word("format");
    // Its clocks are read with the engines.
    let _read_elsewhere = ["time", "time_by_round"].map(|key| table.has(key));
    let (entrants, entry) = field.entry(table);
    let size = field.sizes.last().copied().unwrap_or(0);
    let meeting = word.unwrap_or("round-robin");
    let meeting = if meeting == "round-robin" && table.has("until") { PRECISION } else { meeting };
    let format = format(table, root, meeting, field.engines, size);
    if table.has("format") == word.is_some() {
        check_words(table, meeting);
    }
    let games = table.integer("games").unwrap_or(if word == Some("swiss") { 1 } else { 2 });
    Stage { format, games, entrants, entry, pairing: swiss_rules(table) }
}

fn format(table: &Table<'_>, root: &Table<'_>, word: &str, engines: &Engines, players: usize) -> Format {
    let cycles = table.integer("cycles").unwrap_or(1);
    let given = table.integer("rounds");
    let rounds = |what: &str, example: &str| {
        if !table.has("rounds") {
            table
                .fault("rounds", format!("is missing; {what} needs a number of rounds, such as `{example}`"));
        }
        given.unwrap_or(1)
    };
    let challengers = table.integer("challengers").unwrap_or(1);
    let tie = tie(table);
    match word {
        "double-round-robin" => Format::RoundRobin { cycles: 2 },
        "gauntlet" => {
            Format::Gauntlet { challengers: challenging(table, engines, players, challengers), cycles }
        }
        "random" => Format::Random { rounds: rounds("random pairing", "rounds = 100") },
        "information" => Format::Information { rounds: rounds("pairing by information", "rounds = 20") },
        "swiss" => Format::Swiss { rounds: rounds("a Swiss", "rounds = 5") },
        "knock-out" => Format::Knockout { tie },
        "sprt" => {
            let present = engines.present_among(players);
            if present != 2 {
                table.fault("format", format!("an SPRT is between two engines, here are {present}"));
            }
            Format::Sprt {
                max_games: root.table("sprt", &SprtPlan::SECTION).integer("max_games").unwrap_or(MOST_GAMES),
            }
        }
        PRECISION => precision(table, engines.present_among(players)),
        _ => Format::RoundRobin { cycles },
    }
}

/// The format of two engines that play until their Elo is known; a fault leaves another one in its place.
fn precision(table: &Table<'_>, players: usize) -> Format {
    if players != 2 {
        table.fault("until", format!("is for two engines, here are {players}"));
    }
    let max_games = table.integer("games").unwrap_or(MOST_GAMES);
    if max_games % 2 == 1 {
        table.fault("games", "must be even: games are played in colour-swapped pairs");
    }
    match table.text("until").map(|text| text.parse::<Precision>()) {
        Some(Ok(within)) => return Format::Precision { max_games, within },
        Some(Err(fault)) => table.fault("until", fault),
        None => {}
    }
    Format::RoundRobin { cycles: 1 }
}

/// Number of challengers that take part.
fn challenging(table: &Table<'_>, engines: &Engines, players: usize, challengers: u16) -> u16 {
    let of_file = usize::from(challengers);
    if of_file >= players {
        let message =
            format!("{challengers} of {players} players challenge, so that nobody is left to meet them");
        table.fault("challengers", message);
        return challengers;
    }
    let present = engines.present_among(of_file);
    let all = engines.present_among(players);
    if present == 0 || present == all {
        let who = if present == 0 { "challenger" } else { "opponent" };
        table.fault("challengers", format!("no {who} of the gauntlet has its program here"));
    }
    u16::try_from(present).unwrap_or(challengers)
}

fn tie(table: &Table<'_>) -> Tie {
    let extra = table.integer("extra_pairs");
    match table.word("tie") {
        Some("more-games") => Tie::MoreGames { extra: extra.unwrap_or(2) },
        _ => {
            if table.has("extra_pairs") {
                table.fault("extra_pairs", "no more games are played; say `tie = \"more-games\"` too");
            }
            Tie::HigherSeed
        }
    }
}

fn check_words(table: &Table<'_>, format: &str) {
    for (key, formats) in ONLY_IN {
        if table.has(key) && !formats.contains(&format) {
            let instead = match (key, format) {
                ("games", _) => "an SPRT has `max_games` in `[sprt]` instead".to_owned(),
                ("until", "sprt") => "an SPRT ends by its verdict".to_owned(),
                ("until", _) => "it is for two engines of a round robin".to_owned(),
                ("cycles", "double-round-robin") => {
                    "it has two cycles; use \"round-robin\" for more".to_owned()
                }
                _ => format!("it belongs to {}", listed(formats.iter().copied(), "and")),
            };
            let place = match format {
                PRECISION => "beside `until`".to_owned(),
                format => format!("in format \"{format}\""),
            };
            table.fault(key, format!("has no meaning {place}: {instead}"));
        }
    }
}

fn check_pairs(root: &Table<'_>, stages: &[Stage], openings: Option<&OpeningPlan>) {
    let table = root.table("openings", &OpeningPlan::SECTION);
    if !table.has("pairs") || !openings.is_some_and(|plan| plan.pairs) {
        return;
    }
    let paired = |stage: &&Stage| !stage.format.is_sequential();
    let odd = stages.iter().filter(paired).find(|stage| stage.games % 2 == 1);
    if let Some(stage) = odd {
        let games = stage.games;
        let message =
            format!("colour-swapped pairs need an even number of games, here are {games} an encounter");
        table.fault("pairs", message);
    }
}

/// A position for each round needs rounds, and so does a break between them.
fn check_rounds(root: &Table<'_>, event: &Table<'_>, stages: &[Stage], openings: Option<&OpeningPlan>) {
    let has_none =
        |stage: &Stage| stage.format.is_sequential() || matches!(stage.format, Format::Gauntlet { .. });
    if !stages.iter().any(has_none) {
        return;
    }
    if event.has("break") {
        event.fault("break", "needs rounds, which neither a gauntlet nor a sequential test has");
    }
    if openings.is_some_and(|plan| plan.change == OpeningChange::Round) {
        let table = root.table("openings", &OpeningPlan::SECTION);
        table.fault("change", "\"round\" needs rounds, which neither a gauntlet nor a sequential test has");
    }
}

fn sprt(root: &Table<'_>, stages: &[Stage]) -> Option<SprtPlan> {
    let table = root.table("sprt", &SprtPlan::SECTION);
    let wanted = stages.iter().any(|stage| matches!(stage.format, Format::Sprt { .. }));
    if !table.is_given() {
        if wanted {
            root.fault("sprt", "is missing; format \"sprt\" needs its two hypotheses `elo0` and `elo1`");
        }
        return None;
    }
    if !wanted {
        table.fault("", "no stage has format \"sprt\"; say `format = \"sprt\"` or leave this table out");
    }
    table.require("elo0", "say how much stronger the first engine is by H0, such as `elo0 = 0`");
    table.require("elo1", "say how much stronger the first engine is by H1, such as `elo1 = 10`");
    if table.integer::<i64>("max_games").is_some_and(|games| games % 2 == 1) {
        table.fault("max_games", "must be even: games are played in colour-swapped pairs");
    }
    let plan = SprtPlan::read(&table);
    if plan.elo0 >= plan.elo1 {
        let (elo0, elo1) = (plan.elo0, plan.elo1);
        table.fault("elo1", format!("must be above `elo0`: {elo1} is not above {elo0}"));
    }
    Some(plan)
}
