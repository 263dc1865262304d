//! Sentences in Japanese that are built otherwise than in English.

use plan::{SprtModel, SprtPlan};

/// The name of a test's scale.
pub fn scale(model: SprtModel) -> &'static str {
    match model {
        SprtModel::Normalized => "正規化 Elo",
        SprtModel::Logistic => "Elo",
    }
}

/// What the verdict of a sequential test claims of the first player against the second; `stronger`: it accepted H1.
pub fn claim(plan: &SprtPlan, stronger: bool, first: &str, second: &str) -> String {
    let (elo, [more, less], error) = match stronger {
        true => (plan.elo0, ["強い", "弱い"], plan.alpha),
        false => (-plan.elo1, ["弱い", "強い"], plan.beta),
    };
    let scale = scale(plan.model);
    let size = elo.abs();
    let words = match elo {
        0.0 => format!("{first} は {second} より{more}"),
        0.0.. => format!("{first} は {second} より {size} {scale} を超えて{more}"),
        _ => format!("{first} は {second} より{more}か、{less}としても {size} {scale} 未満"),
    };
    format!("{words}（誤る確率は最大 {} %）", 100.0 * error)
}
