//! A league of builds, and what their parts are worth.
//!
//! The league is an event like any other. Everything that is told of the parts is computed from the games that the
//! database has, at any time, so that there is no state of its own that a kill could lose.

use crate::{
    Exit, Failure, OpenScreen, find_event, other_build::refuse_missing_parts, play::play, playing::Playing,
    pretty, standings, write, write_picture,
};
use arena::resume;
use contest::{
    schedule::{Format, Stage},
    standings::Standings,
};
use journal::{EventSummary, Store};
use laboratory::attribution::{
    Effect, Effects, Field, Levels, NoDesign, NoEffects, Predicted, Predictor, design, effects, table,
};
use notation::printable;
use plan::{
    AttributeConfig, Plan,
    attribute::{Part, Wish, build_name},
};
use referee::rating::{CrossTable, fit};
use report::{
    attribution::{Attribution, BuildRow, EffectRow, ExplainedRow, PartRow, page},
    plot::Size,
};
use std::path::PathBuf;

/// What follows the name of the league in the name of an event in which a build was confirmed.
const CONFIRMS: &str = " confirms ";
/// Effects that are named where they cannot be told apart.
const NAMED: usize = 3;

/// What is wanted of a league of builds.
pub struct Options<'a> {
    /// The configuration file.
    pub file: PathBuf,
    /// Applies the options of the command line to a plan.
    pub adjust: &'a dyn Fn(&mut Plan) -> Result<(), Failure>,
    /// Plays nothing, and reports what the database has.
    pub only_report: bool,
    /// Builds to predict: `part=level,part=level`.
    pub predict: Vec<String>,
    /// Games of the best build that was not in the league against all others.
    pub confirm: Option<u64>,
    /// File for a picture of what pairs are worth.
    pub plot: Option<PathBuf>,
    /// File for a page.
    pub html: Option<PathBuf>,
    /// How games are played and shown.
    pub playing: Playing,
}

/// Plays the league of a file, unless it is only to be reported, and prints what its parts are worth.
///
/// # Errors
/// When the file is wrong, or the league cannot be played.
pub fn attribute(args: &Options<'_>, open_screen: OpenScreen) -> Result<Exit, Failure> {
    let mut config = AttributeConfig::load(&args.file, chosen).map_err(Failure::Config)?;
    (args.adjust)(&mut config.plan)?;
    let wished = args.predict.iter().map(|words| build(&config.parts, words)).collect::<Result<Vec<_>, _>>();
    let wished = wished?;
    let mut exit = match args.only_report {
        true => {
            refuse_other_builds(&config.plan)?;
            Exit::Done
        }
        false => {
            refuse_missing_parts(&config.plan)?;
            play(config.plan.clone(), None, &args.playing, open_screen)?
        }
    };
    let mut league = League::read(&config)?;
    if let (Exit::Done, Some(games)) = (exit, args.confirm) {
        exit = confirm(args, &config, &league, games, open_screen)?;
        league = League::read(&config)?;
    }
    let attribution = league.attribution(&config, &wished);
    if let Some(path) = &args.plot {
        write_picture(&attribution.heat(Size::Wide), path)?;
    }
    if let Some(path) = &args.html {
        write(path, page(&attribution).as_bytes())?;
    }
    match args.playing.json {
        true => out_line!("{}", pretty(&attribution)?),
        false => out!("{attribution}"),
    }
    Ok(exit)
}

/// Refuses a file whose builds are not those that played: the names of parts and levels would be wrong.
fn refuse_other_builds(plan: &Plan) -> Result<(), Failure> {
    let mut lines = resume::differences(plan)?;
    // Where nothing is played, nothing is built: programs are not known.
    let is_built = plan.engines.iter().any(|engine| engine.source.is_some());
    lines.retain(|line| line.starts_with("engines") && !(is_built && line.contains(".command")));
    let more = match lines.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    lines.truncate(NAMED);
    if lines.is_empty() {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "`{}` was not played with the builds of this file, whose levels would name others: {}{more}; take the change back, \
         or give this league a `name` or `database` of its own",
        printable(plan.name.as_bytes()),
        printable(lines.join("; ").as_bytes())
    )))
}

fn field(parts: &[Part], pairs: bool) -> Field {
    Field::new(parts.iter().map(|part| part.levels.len()).collect(), pairs)
}

fn chosen(wish: &Wish) -> Result<Vec<Levels>, NoDesign> {
    design(&field(&wish.parts, wish.pairs), wish.builds, wish.seed)
}

/// The build that words mean: `part=level,part=level`, the others at their first level; or its name.
fn build(parts: &[Part], words: &str) -> Result<Levels, Failure> {
    if let Some(levels) = levels(parts, words) {
        return Ok(levels);
    }
    let fault = |what: String| Failure::Usage(format!("--predict {words}: {what}"));
    let mut build = vec![0; parts.len()];
    for word in words.split(',') {
        let (name, level) = word.split_once('=').ok_or_else(|| {
            fault(format!("`{word}` is not PART=LEVEL, and `{words}` is not the name of a build"))
        })?;
        let (name, level) = (name.trim(), level.trim());
        let names: Vec<_> = parts.iter().map(|part| part.name.as_str()).collect();
        let at = parts.iter().position(|part| part.name == name);
        let at =
            at.ok_or_else(|| fault(format!("there is no part `{name}`; there are {}", names.join(", "))))?;
        let known = &parts[at].levels;
        build[at] = known
            .iter()
            .position(|known| known == level)
            .ok_or_else(|| fault(format!("`{name}` has no level `{level}`; it has {}", known.join(", "))))?;
    }
    Ok(build)
}

/// The levels of a build by its name.
fn levels(parts: &[Part], name: &str) -> Option<Levels> {
    let levels = name.chars().map(|digit| digit.to_digit(10)).collect::<Option<Vec<_>>>()?;
    let levels: Levels = levels.into_iter().map(|level| level as usize).collect();
    let fits = levels.iter().zip(parts).all(|(level, part)| *level < part.levels.len());
    (levels.len() == parts.len() && fits).then_some(levels)
}

/// The best build that was not played, in an event of its own against all builds of the league.
fn confirm(
    args: &Options<'_>,
    config: &AttributeConfig,
    league: &League,
    games: u64,
    open_screen: OpenScreen,
) -> Result<Exit, Failure> {
    let field = field(&config.parts, config.pairs);
    let found = effects(&field, &league.builds, &league.table);
    let found =
        found.map_err(|fault| Failure::Other(format!("--confirm: {}", words(&fault, &config.parts))))?;
    let best = Predictor::new(&field, &league.builds, &found).best_unplayed(&league.builds);
    let Some(best) = best else {
        return Err(Failure::Usage("--confirm: every possible build was played".to_owned()));
    };
    let builds: Vec<Levels> = [vec![best.build.clone()], league.builds.clone()].concat();
    let challenge =
        AttributeConfig::load(&args.file, |_| Ok::<_, NoDesign>(builds)).map_err(Failure::Config)?;
    let mut plan = challenge.plan;
    (args.adjust)(&mut plan)?;
    plan.name = format!("{}{CONFIRMS}{}", config.plan.name, build_name(&best.build));
    let each = games.div_ceil(league.builds.len().max(1) as u64).next_multiple_of(2);
    let format = Format::Gauntlet { challengers: 1, cycles: 1 };
    let games = u32::try_from(each).unwrap_or(u32::MAX);
    plan.stages = vec![Stage { format, games, ..Stage::default() }];
    play(plan, None, &Playing { fresh: false, ..args.playing.clone() }, open_screen)
}

/// What the database has of a league.
struct League {
    builds: Vec<Levels>,
    table: CrossTable,
    /// Points from -1 to 1, and games, by build.
    rates: Vec<(f64, f64)>,
    games: u64,
    /// Builds that were played later, against all others.
    confirmed: Vec<Confirmed>,
}

struct Confirmed {
    build: Levels,
    standings: Standings,
}

impl League {
    fn read(config: &AttributeConfig) -> Result<Self, Failure> {
        let plan = &config.plan;
        let store = Store::read(&plan.database)?;
        let events = store.events()?;
        let event = find_event(&events, Some(&plan.name))?;
        let builds = builds(&config.parts, event)?;
        let standings = standings(&store, event)?;
        let mut confirmed = vec![];
        for later in &events {
            let build = later.name.strip_prefix(&format!("{}{CONFIRMS}", plan.name));
            let Some(build) = build.and_then(|name| levels(&config.parts, name)) else { continue };
            // The others are those of the league, in its order.
            if later.players.len() == builds.len() + 1 && later.players[1..] == event.players[..] {
                confirmed.push(Confirmed { build, standings: crate::standings(&store, later)? });
            }
        }
        let rates = standings.total().players.iter().map(|record| {
            let (games, half_points) = (record.games().games() as f64, record.games().half_points() as f64);
            (half_points / games.max(1.0) - 1.0, games)
        });
        let games = standings.total().games();
        Ok(Self { rates: rates.collect(), table: standings.cross_table(), builds, games, confirmed })
    }

    fn attribution(&self, config: &AttributeConfig, wished: &[Levels]) -> Attribution {
        let parts = &config.parts;
        let field = field(parts, config.pairs);
        let mut attribution = Attribution {
            event: config.plan.name.clone(),
            games: self.games,
            builds: self.builds.len(),
            parts: parts.iter().map(part_row).collect(),
            ..Attribution::default()
        };
        match effects(&field, &self.builds, &self.table) {
            Ok(found) => self.fill(&mut attribution, &field, parts, &found, wished),
            Err(fault) => attribution.missing = Some(words(&fault, parts)),
        }
        attribution
    }

    fn fill(
        &self,
        attribution: &mut Attribution,
        field: &Field,
        parts: &[Part],
        found: &Effects,
        wished: &[Levels],
    ) {
        let predictor = Predictor::new(field, &self.builds, found);
        let row = |predicted: Predicted| self.build_row(parts, found, predicted);
        let mut all: Vec<_> = found.all.iter().collect();
        all.sort_by(|a, b| b.elo.total_cmp(&a.elo));
        let effect = |estimated: &&_| {
            let laboratory::attribution::Estimated { effect, elo, error } = **estimated;
            EffectRow { of: names(parts, effect), elo, elo_error: error }
        };
        attribution.effects = all.iter().map(effect).collect();
        attribution.own = Some(found.own);
        attribution.black_advantage = Some(found.black_advantage);
        attribution.draw_ratio = Some(found.draw_ratio);
        attribution.explained = explained(field, self);
        attribution.base = Some(row(predictor.predict(&vec![0; parts.len()])));
        attribution.best_unplayed = predictor.best_unplayed(&self.builds).map(row);
        attribution.predictions = wished.iter().map(|build| row(predictor.predict(build))).collect();
        attribution.confirmed = self
            .confirmed
            .iter()
            .map(|later| {
                let expected = row(predictor.predict(&later.build));
                BuildRow { played: self.elo_of(later), ..expected }
            })
            .collect();
    }

    fn build_row(&self, parts: &[Part], found: &Effects, predicted: Predicted) -> BuildRow {
        let Predicted { build, elo, error } = predicted;
        let played =
            self.builds.iter().position(|known| *known == build).filter(|at| self.rates[*at].1 > 0.0);
        let played = played.map(|at| (found.builds[at], referee::rating::Z_95 * found.variance[at].sqrt()));
        let levels = parts.iter().zip(&build).map(|(part, level)| name(part, *level));
        BuildRow { name: build_name(&build), levels: levels.collect(), elo, elo_error: error, played }
    }

    /// Elo of a build that was played later, by all games, relative to the mean of the league's builds.
    fn elo_of(&self, later: &Confirmed) -> Option<(f64, f64)> {
        let builds = self.builds.len();
        let mut table = self.table.clone();
        table.grow(builds + 1);
        // Player 0 of the later event is the build, and player k + 1 is player k of the league.
        let place = |player: usize| if player == 0 { builds } else { player - 1 };
        for (black, white, results) in later.standings.cross_table().cells() {
            table.add(place(black), place(white), *results).ok()?;
        }
        let elo = fit(&table).players.get(builds)?.elo;
        // Ratings are relative to the mean of all, this build included.
        let share = (builds + 1) as f64 / builds as f64;
        Some((elo.value()? * share, elo.error()? * share))
    }
}

/// The builds of an event, by its players.
fn builds(parts: &[Part], event: &EventSummary) -> Result<Vec<Levels>, Failure> {
    let build = |name: &String| {
        levels(parts, name).ok_or_else(|| {
            let (event, name) = (printable(event.name.as_bytes()), printable(name.as_bytes()));
            Failure::Usage(format!(
                "`{name}`, a player of `{event}`, is no build of the parts in this file: the event was played with \
                 others; name it by `--name`, or give this league a `name` or `database` of its own"
            ))
        })
    };
    event.players.iter().map(build).collect()
}

fn part_row(part: &Part) -> PartRow {
    PartRow { name: part.name.clone(), levels: part.levels.clone() }
}

fn name(part: &Part, level: usize) -> String {
    format!("{} = {}", part.name, part.levels.get(level).map_or("?", String::as_str))
}

fn names(parts: &[Part], effect: Effect) -> Vec<String> {
    match effect {
        Effect::Part { part, level } => vec![name(&parts[part], level)],
        Effect::Pair { parts: [a, b], levels: [x, y] } => vec![name(&parts[a], x), name(&parts[b], y)],
    }
}

/// Why there are no effects, with the names of those that are meant.
fn words(fault: &NoEffects, parts: &[Part]) -> String {
    let NoEffects::Aliased(aliased) = fault else { return fault.to_string() };
    let named =
        aliased.iter().take(NAMED).map(|effect| format!("`{}`", names(parts, *effect).join(" with ")));
    let more = match aliased.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{fault}: {}{more}", named.collect::<Vec<_>>().join(", "))
}

fn explained(field: &Field, league: &League) -> Vec<ExplainedRow> {
    let finite = |share: f64| share.is_finite().then_some(share);
    let row = |row: laboratory::attribution::Row| ExplainedRow {
        columns: match (row.columns.parts, row.columns.pairs) {
            (true, false) => "P",
            (false, _) => "PP",
            (true, true) => "P+PP",
        },
        number: row.number,
        ridge: finite(row.ridge),
        least_squares: finite(row.least_squares),
        ridge_largest: row.ridge_largest,
        least_squares_largest: row.least_squares_largest,
    };
    table(field, &league.builds, &league.rates).into_iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_is_named_by_its_parts_or_by_digits() {
        let part = |name: &str, levels: &[&str]| Part {
            name: name.to_owned(),
            levels: levels.iter().map(|level| (*level).to_owned()).collect(),
        };
        let parts = [part("null", &["true", "false"]), part("eval", &["new", "old", "none"])];
        let build = |words: &str| build(&parts, words).map_err(|fault| fault.to_string());
        assert_eq!(build("eval=old"), Ok(vec![0, 1]));
        assert_eq!(build(" null = false,eval=none"), Ok(vec![1, 2]));
        assert_eq!(build("12"), Ok(vec![1, 2]));
        assert_eq!(
            build("evil=old").unwrap_err(),
            "--predict evil=old: there is no part `evil`; there are null, eval"
        );
        assert_eq!(
            build("eval=big").unwrap_err(),
            "--predict eval=big: `eval` has no level `big`; it has new, old, none"
        );
        assert!(build("22").unwrap_err().contains("`22` is not the name of a build"));
    }
}
