//! Sentences of the page in Japanese.

use crate::{Correction, Difference, Report, TestReport};
use plan::{SprtModel, SprtPlan};
use referee::rating::{digits, signed};

/// What the verdict of a sequential test claims of the first player against the second; `None` before a verdict.
pub fn claim(test: &TestReport, first: &str, second: &str) -> Option<String> {
    match test.verdict.as_deref()? {
        "H1" => Some(hypothesis(&test.plan, true, first, second)),
        "H0" => Some(hypothesis(&test.plan, false, first, second)),
        _ => None,
    }
}

fn hypothesis(plan: &SprtPlan, stronger: bool, first: &str, second: &str) -> String {
    let (elo, [more, less], error) = match stronger {
        true => (plan.elo0, ["強い", "弱い"], plan.alpha),
        false => (-plan.elo1, ["弱い", "強い"], plan.beta),
    };
    let scale = match plan.model {
        SprtModel::Normalized => "正規化 Elo",
        SprtModel::Logistic => "Elo",
    };
    let size = elo.abs();
    let words = match elo {
        0.0 => format!("{first} は {second} より{more}"),
        0.0.. => format!("{first} は {second} より {size} {scale} を超えて{more}"),
        _ => format!("{first} は {second} より{more}か、{less}としても {size} {scale} 未満"),
    };
    format!("{words}（誤る確率は最大 {} %）", 100.0 * error)
}

/// The result of two players.
pub fn duel(report: &Report) -> Option<String> {
    let (met, Difference { elo, low, high, correction }) = (report.duel()?, report.difference()?);
    let (words, plain) = (elo_words(elo, low, high), elo_words(met.elo, met.elo_low, met.elo_high));
    let corrected = match correction {
        Correction::No => String::new(),
        Correction::Stop => "、検定の打ち切りを補正済み".to_owned(),
        Correction::Looking => "、途中経過の確認を補正済み".to_owned(),
    };
    let corrected = match correction {
        Correction::No => corrected,
        _ if plain == words => corrected,
        _ => format!("{corrected}。補正前は {plain}"),
    };
    Some(format!("{} 対 {}：{words}{corrected}", met.name, met.opponent))
}

/// A difference in Elo with its interval.
fn elo_words(elo: Option<f64>, low: Option<f64>, high: Option<f64>) -> String {
    match (elo, low, high) {
        (Some(elo), Some(low), Some(high)) => {
            let [elo, low, high] = [elo, low, high].map(|end| signed(end, digits((high - low) / 2.0)));
            format!("{elo} Elo（95 % 区間 {low} 〜 {high}）")
        }
        (_, Some(low), None) => format!("全勝、少なくとも {} Elo（95 %）", signed(low, 0)),
        (_, None, Some(high)) => format!("全敗、高くても {} Elo（95 %）", signed(high, 0)),
        _ => "対局がなく Elo は不明".to_owned(),
    }
}
