//! `renmei sprt`: from counts to LLR, Elo, normalized Elo and bounds.

use super::{Exit, Failure};
use crate::cli::{SprtArgs, SprtScale};
use referee::{
    rating::{Counts, Numbers, Pentanomial, Trinomial},
    sprt::{Model, Sprt, Standing, StoppedEstimate, Verdict},
};
use serde::Serialize;

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
///
/// # Errors
/// When the numbers are no valid test.
pub fn sprt(args: &SprtArgs) -> Result<Exit, Failure> {
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
        false => print(&answer),
    }
    Ok(exit)
}

fn counts(args: &SprtArgs) -> Result<Counts, Failure> {
    match (args.wdl.as_deref(), args.pentanomial.as_deref()) {
        (Some(&[wins, draws, losses]), _) => Ok(Trinomial { losses, draws, wins }.into()),
        (_, Some(&[a, b, c, d, e])) => Ok(Pentanomial([a, b, c, d, e]).into()),
        _ => Err(Failure::Usage("give --wdl WINS DRAWS LOSSES or --pentanomial with five counts".to_owned())),
    }
}

fn print(answer: &Answer) {
    let Answer { numbers, standing, .. } = answer;
    let score = numbers.score.map_or_else(|| "n/a".to_owned(), |score| format!("{:.2}%", 100.0 * score));
    out_line!("games  {}", numbers.games);
    out_line!("score  {score}");
    out_line!("Elo    {:.2}", numbers.elo);
    out_line!("nElo   {:.2}", numbers.nelo);
    out_line!("LOS    {:.2}%", 100.0 * numbers.los);
    let Standing { llr, lower, upper, verdict } = standing;
    let verdict = match verdict {
        Verdict::H0 => "H0 accepted",
        Verdict::H1 => "H1 accepted",
        Verdict::Continue => "undecided",
    };
    out_line!(
        "LLR    {llr:.3} in [{lower:.3}, {upper:.3}] for [{}, {}]: {verdict}",
        answer.elo0,
        answer.elo1
    );
}
