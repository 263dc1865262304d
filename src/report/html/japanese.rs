//! Sentences of the page in Japanese.

use crate::{EventHistory, Report, TestReport};
use plan::{SprtModel, SprtPlan};
use referee::rating::signed;

/// The verdict of a sequential test, with what it claims of the first player against the second.
pub fn verdict(test: &TestReport, first: &str, second: &str) -> String {
    match test.verdict.as_deref() {
        Some("H1") => format!("H1 を採択：{}", claim(&test.plan, true, first, second)),
        Some("H0") => format!("H0 を採択：{}", claim(&test.plan, false, first, second)),
        Some(referee::sprt::BY_FAULTS) => "強さの判定なし：プログラムの不具合で終了".to_owned(),
        _ => "判定はまだ出ていません".to_owned(),
    }
}

fn claim(plan: &SprtPlan, stronger: bool, first: &str, second: &str) -> String {
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
    let met = report.duel()?;
    let stopped = report.sprt.as_ref().and_then(|test| test.estimate.as_ref());
    let (elo, low, high, corrected) = match stopped {
        Some(estimate) => (Some(estimate.elo), estimate.low, estimate.high, "、検定の打ち切りを補正済み"),
        None => (met.elo, met.elo_low, met.elo_high, ""),
    };
    let words = match (elo, low, high) {
        (Some(elo), Some(low), Some(high)) => {
            format!("{} Elo（95 % 区間 {} 〜 {}）", signed(elo, 0), signed(low, 0), signed(high, 0))
        }
        (_, Some(low), None) => format!("全勝、少なくとも {} Elo（95 %）", signed(low, 0)),
        (_, None, Some(high)) => format!("全敗、高くても {} Elo（95 %）", signed(high, 0)),
        _ => "対局がなく Elo は不明".to_owned(),
    };
    Some(format!("{} 対 {}：{words}{corrected}", met.name, met.opponent))
}

/// The format of an event.
pub fn format(history: &EventHistory) -> &str {
    match history.report.format.as_str() {
        "open league" => "自由対局リーグ",
        "imported records" => "取り込んだ棋譜",
        _ => &history.report.format_japanese,
    }
}
