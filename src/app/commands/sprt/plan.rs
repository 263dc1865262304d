//! `renmei sprt plan`: what a sequential test will bring, before it is played.

use crate::commands::{
    Exit, Failure, find_event, pretty,
    values::{percent, two_names},
};
use clap::Args;
use journal::{Moves, Store};
use referee::{
    rating::signed,
    sprt::{Model, PairLaw, Prospect, Sprt},
};
use report::{Encounter, EventHistory};
use serde::Serialize;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Pairs of games are those of Davidson's model with the draws and the openings given, or those that two engines have shown in
a database.

Examples:
  renmei sprt plan elo0=0 elo1=5
  renmei sprt plan elo0=0 elo1=10 alpha=0.05 beta=0.1 model=logistic --draws 30 --bias 60
  renmei sprt plan elo0=0 elo1=5 --db match.db")]
pub struct SprtPlanArgs {
    /// The test, as in `[sprt]` of a configuration: elo0, elo1, alpha, beta and model, each as KEY=VALUE.
    #[arg(value_name = "KEY=VALUE", required = true)]
    pub test: Vec<String>,
    /// Games in a hundred that equals draw from a level opening.
    #[arg(long, value_name = "PERCENT", value_parser = percent, default_value = "30")]
    pub draws: f64,
    /// Elo by which an opening favours one side.
    #[arg(long, value_name = "ELO", default_value_t = 0.0)]
    pub bias: f64,
    /// A database: take the pairs of games as its two players have played them.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["draws", "bias"])]
    pub db: Option<PathBuf>,
    /// The event of the database [default: the newest].
    #[arg(long, value_name = "NAME", requires = "db")]
    pub event: Option<String>,
    /// The two players, where the event has more.
    #[arg(long, value_name = "A,B", value_parser = two_names, requires = "db")]
    pub players: Option<(String, String)>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// True differences of the table: 0 is `elo0`, 1 is `elo1`.
const PLACES: [f64; 9] = [-1.0, -0.5, 0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0];

/// The hypotheses and error rates of a test.
#[derive(Clone, Copy, Debug, Serialize)]
struct Hypotheses {
    elo0: f64,
    elo1: f64,
    alpha: f64,
    beta: f64,
    model: Model,
}

#[derive(Serialize)]
struct Answer<'a> {
    #[serde(flatten)]
    test: Hypotheses,
    /// What the two players have played, where a database was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    shown: Option<&'a Encounter>,
    prospects: &'a [Prospect],
}

/// Computes what a test brings, by the true difference.
pub(super) fn plan(args: &SprtPlanArgs) -> Result<Exit, Failure> {
    let hypotheses = Hypotheses::read(&args.test).map_err(Failure::Usage)?;
    let Hypotheses { elo0, elo1, alpha, beta, model } = hypotheses;
    let wrong = |e: referee::sprt::SprtError| Failure::Usage(e.to_string());
    let test = Sprt::new(model, elo0, elo1, alpha, beta).map_err(wrong)?;
    let shown = args.db.as_deref().map(|path| shown(path, args)).transpose()?;
    let law = match &shown {
        Some(pair) => PairLaw::Shown(pair.pentanomial),
        None => PairLaw::Assumed { draws: args.draws / 100.0, bias: args.bias },
    };
    let prospect = |place: f64| test.prospect(&law, elo0 + place * (elo1 - elo0)).map_err(wrong);
    let prospects = PLACES.into_iter().map(prospect).collect::<Result<Option<Vec<_>>, _>>()?;
    let Some(prospects) = prospects else {
        return Err(Failure::Usage("pairs that always end level decide nothing".to_owned()));
    };
    match args.json {
        true => out_line!(
            "{}",
            pretty(&Answer { test: hypotheses, shown: shown.as_ref(), prospects: &prospects })?
        ),
        false => print(args, &hypotheses, shown.as_ref(), &prospects),
    }
    Ok(Exit::Done)
}

impl Hypotheses {
    fn read(words: &[String]) -> Result<Self, String> {
        let mut read =
            Self { elo0: f64::NAN, elo1: f64::NAN, alpha: 0.05, beta: 0.05, model: Model::Normalized };
        for word in words {
            let (key, value) = word.split_once('=').ok_or_else(|| format!("`{word}` is not KEY=VALUE"))?;
            let number = || value.parse::<f64>().map_err(|_| format!("{key} = {value} is not a number"));
            match (key, value) {
                ("elo0", _) => read.elo0 = number()?,
                ("elo1", _) => read.elo1 = number()?,
                ("alpha", _) => read.alpha = number()?,
                ("beta", _) => read.beta = number()?,
                ("model", "normalized") => read.model = Model::Normalized,
                ("model", "logistic") => read.model = Model::Logistic,
                ("model", _) => return Err(format!("model = {value}: expected normalized or logistic")),
                _ => return Err(format!("unknown key `{key}`: expected elo0, elo1, alpha, beta or model")),
            }
        }
        let missing = [("elo0", read.elo0), ("elo1", read.elo1)].into_iter().find(|(_, elo)| elo.is_nan());
        match missing {
            Some((key, _)) => Err(format!("{key} is missing, such as `renmei sprt plan elo0=0 elo1=5`")),
            None => Ok(read),
        }
    }
}

/// The pairs of games that two players have played.
fn shown(path: &Path, args: &SprtPlanArgs) -> Result<Encounter, Failure> {
    let store = Store::read(path)?;
    let events = store.events()?;
    let event = find_event(&events, args.event.as_deref())?;
    let pairs = EventHistory::read(&store, event, Moves::Results)?.report.pairs;
    let players = pairs.len();
    let found = match &args.players {
        Some((a, b)) => pairs.into_iter().find(|pair| pair.seen_by(a).is_some_and(|(other, _)| other == b)),
        None => pairs.into_iter().next().filter(|_| players == 1),
    };
    let usage = |text: &str| Failure::Usage(format!("`{}`: {text}", path.display()));
    let pair = found.ok_or_else(|| match &args.players {
        Some((a, b)) => usage(&format!("`{a}` and `{b}` have not met")),
        None => usage("the event is not one of two players; name two by `--players A,B`"),
    })?;
    match pair.pentanomial.iter().sum() {
        0_u64 => Err(usage("the two have no finished pair of games")),
        _ => Ok(pair),
    }
}

fn print(args: &SprtPlanArgs, test: &Hypotheses, shown: Option<&Encounter>, prospects: &[Prospect]) {
    let (scale, unit) = match test.model {
        Model::Normalized => ("normalized", "nElo"),
        Model::Logistic | Model::BayesElo => ("logistic", "Elo"),
    };
    let Hypotheses { elo0, elo1, alpha, beta, .. } = test;
    out_line!("SPRT {scale} [{elo0}, {elo1}] alpha {alpha} beta {beta}");
    match shown {
        Some(Encounter { name, opponent, games, draws, pentanomial: [ll, ld, level, wd, ww], .. }) => {
            out_line!(
                "pairs as {} and {} played them: {games} games, {draws} drawn; 0: {ll}, 1/2: {ld}, 1: {level}, 3/2: {wd}, \
             2: {ww}",
                notation::printable(name.as_bytes()),
                notation::printable(opponent.as_bytes())
            )
        }
        None => out_line!(
            "pairs of which equals draw {} % of the games; openings of {} Elo",
            args.draws,
            args.bias
        ),
    }
    // On the logistic scale the difference is its own Elo.
    let is_apart = test.model == Model::Normalized;
    let apart = |text: String| if is_apart { text } else { String::new() };
    out_line!("\n{unit:>8}{}  {:>7}  {:>10}", apart(format!("  {:>8}", "Elo")), "passes", "games");
    for Prospect { difference, elo, passes, games } in prospects {
        let elo = apart(format!("  {:>8}", signed(*elo, 1)));
        out_line!("{:>8}{elo}  {:>6.1}%  {games:>10.0}", signed(*difference, 2), 100.0 * passes);
    }
    out_line!("\npasses: chance that H1 is accepted; games until a verdict, on average");
}
