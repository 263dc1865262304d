//! `renmei sprt`: from counts to LLR, Elo, normalized Elo and bounds.

mod plan;

use super::{Exit, Failure};
use clap::{Args, Subcommand, ValueEnum};
use referee::{
    rating::{Counts, Numbers, Pentanomial, Trinomial, elo_words},
    sprt::{Model, Sprt, Standing, StoppedEstimate, Verdict},
};
use serde::Serialize;

#[derive(Clone, Debug, Args)]
#[command(
    after_help = "\
Examples:
  renmei sprt --wdl 136 111 96
  renmei sprt --pentanomial 34 54 63 64 75 --elo0 0 --elo1 5
  renmei sprt plan elo0=0 elo1=5 --draws 30 --bias 60",
    args_conflicts_with_subcommands = true
)]
pub struct SprtArgs {
    /// What else is asked.
    #[command(subcommand)]
    pub ask: Option<SprtAsk>,
    /// Wins, draws and losses of single games.
    #[arg(long, num_args = 3, value_names = ["WINS", "DRAWS", "LOSSES"], conflicts_with = "pentanomial")]
    pub wdl: Option<Vec<u64>>,
    /// Pairs of games by their score: 0, 1/2, 1, 3/2, 2.
    #[arg(long, num_args = 5, value_names = ["LL", "LD", "WL_DD", "WD", "WW"])]
    pub pentanomial: Option<Vec<u64>>,
    /// Elo of H0.
    #[arg(long, default_value_t = 0.0, allow_negative_numbers = true)]
    pub elo0: f64,
    /// Elo of H1.
    #[arg(long, default_value_t = 5.0, allow_negative_numbers = true)]
    pub elo1: f64,
    /// Probability of accepting H1 when H0 is true.
    #[arg(long, default_value_t = 0.05)]
    pub alpha: f64,
    /// Probability of accepting H0 when H1 is true.
    #[arg(long, default_value_t = 0.05)]
    pub beta: f64,
    /// Scale of elo0 and elo1.
    #[arg(long, value_enum, default_value_t = SprtScale::Normalized)]
    pub model: SprtScale,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Questions about a test that is not played yet.
#[derive(Clone, Debug, Subcommand)]
pub enum SprtAsk {
    /// Compute the chance to pass and the number of games of a test, by the true difference.
    Plan(plan::SprtPlanArgs),
}

/// The scale of an SPRT's hypotheses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SprtScale {
    /// Normalized Elo.
    Normalized,
    /// Logistic Elo.
    Logistic,
}

#[derive(Serialize)]
struct Answer {
    #[serde(flatten)]
    numbers: Numbers,
    #[serde(flatten)]
    standing: Standing,
    elo0: f64,
    elo1: f64,
    alpha: f64,
    beta: f64,
    estimate: Option<StoppedEstimate>,
}

/// Computes a sequential test from counts.
pub fn sprt(args: &SprtArgs) -> Result<Exit, Failure> {
    if let Some(SprtAsk::Plan(asked)) = &args.ask {
        return plan::plan(asked);
    }
    let model = match args.model {
        SprtScale::Normalized => Model::Normalized,
        SprtScale::Logistic => Model::Logistic,
    };
    let wrong = |e: referee::sprt::SprtError| Failure::Usage(e.to_string());
    let test = Sprt::new(model, args.elo0, args.elo1, args.alpha, args.beta).map_err(wrong)?;
    let counts = counts(args)?;
    let standing = test.standing(&counts).map_err(wrong)?;
    let exit = match standing.verdict {
        Verdict::H1 => Exit::H1,
        Verdict::H0 => Exit::H0,
        Verdict::Continue => Exit::Done,
    };
    let estimate = test.estimate(&counts).map_err(wrong)?;
    let SprtArgs { elo0, elo1, alpha, beta, .. } = *args;
    let answer = Answer { numbers: Numbers::from(&counts), standing, elo0, elo1, alpha, beta, estimate };
    match args.json {
        true => {
            out_line!("{}", super::pretty(&answer)?)
        }
        false => print(&answer, &test),
    }
    Ok(exit)
}

fn counts(args: &SprtArgs) -> Result<Counts, Failure> {
    match (args.wdl.as_deref(), args.pentanomial.as_deref()) {
        (Some(&[wins, draws, losses]), _) => Ok(Trinomial { losses, draws, wins }.into()),
        (_, Some(&[a, b, c, d, e])) => Ok(Pentanomial([a, b, c, d, e]).into()),
        _ => Err(Failure::Usage(
            "`sprt` needs counts: `--wdl WINS DRAWS LOSSES` of single games, as in `renmei sprt --wdl 136 111 96`, or \
             `--pentanomial` with five counts of pairs; `renmei sprt --help` tells the rest"
                .to_owned(),
        )),
    }
}

fn print(answer: &Answer, test: &Sprt) {
    let Answer { numbers, standing, .. } = answer;
    let score = numbers.score.map_or_else(|| "n/a".to_owned(), |score| format!("{:.2}%", 100.0 * score));
    out_line!("games  {}", numbers.games);
    out_line!("score  {score}");
    out_line!("result {}", elo(answer));
    out_line!("nElo   {:.2}", numbers.nelo);
    out_line!(
        "LOS    {:.2}%: how likely the first is the stronger one, whatever elo0 and elo1",
        100.0 * numbers.los
    );
    let Standing { llr, lower, upper, verdict } = *standing;
    let means = test.claim(verdict, "the first", "the second");
    let means = match (verdict, means) {
        (Verdict::H0, Some(means)) => format!("H0 accepted: {means}"),
        (Verdict::H1, Some(means)) => format!("H1 accepted: {means}"),
        _ => "undecided".to_owned(),
    };
    out_line!("LLR    {llr:.3} in [{lower:.3}, {upper:.3}] for [{}, {}]: {means}", answer.elo0, answer.elo1);
}

/// The one difference that is told: from a verdict on, the one that knows of the stop.
fn elo(Answer { numbers, standing, estimate, .. }: &Answer) -> String {
    match (standing.verdict, estimate) {
        (Verdict::H0 | Verdict::H1, Some(stopped)) => {
            let words = elo_words(Some(stopped.elo), stopped.low, stopped.high);
            format!("{words}, corrected for the stop of the test; by the score alone {}", numbers.elo_words())
        }
        _ => numbers.elo_words(),
    }
}
