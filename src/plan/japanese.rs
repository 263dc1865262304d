//! Formats in Japanese.

use referee::stage::{Format, Stage};

/// Stages in Japanese.
#[must_use]
pub fn format_words_in_japanese(stages: &[Stage]) -> String {
    stages.iter().map(stage_words).collect::<Vec<_>>().join("、続いて")
}

fn stage_words(stage: &Stage) -> String {
    let games = stage.games;
    let entrants = stage.entrants.map(|n| format!("上位{n}名の")).unwrap_or_default();
    match stage.format {
        Format::RoundRobin { cycles: 1 } => format!("{entrants}総当たり戦（1組{games}局）"),
        Format::RoundRobin { cycles } => format!("{entrants}総当たり戦（1組{games}局を{cycles}回）"),
        Format::Gauntlet { challengers, cycles } => {
            let games = u64::from(cycles) * u64::from(games);
            format!("{entrants}ガントレット（挑戦者{challengers}、1組{games}局）")
        }
        Format::Random { rounds } => format!("{entrants}ランダムな組合せ（{rounds}回戦、各{games}局）"),
        Format::Swiss { rounds } => format!("{entrants}スイス式（{rounds}回戦、各{games}局）"),
        Format::Knockout { .. } => format!("{entrants}トーナメント（{games}番勝負）"),
        Format::Sprt { max_games } => format!("逐次検定（SPRT、最大{max_games}局）"),
    }
}

/// A round of a knock-out by the rounds that follow it: the final is 決勝.
#[must_use]
pub fn knockout_round_in_japanese(round: u32, rounds: u32) -> String {
    match rounds.checked_sub(round) {
        Some(0) => "決勝".to_owned(),
        Some(1) => "準決勝".to_owned(),
        Some(2) => "準々決勝".to_owned(),
        _ => format!("{round} 回戦"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_and_rounds_have_the_terms_of_japanese_tournaments() {
        let stage = |format, games, entrants| Stage { format, games, entrants };
        let stages = [
            stage(Format::Swiss { rounds: 7 }, 1, None),
            stage(Format::RoundRobin { cycles: 1 }, 2, Some(4)),
        ];
        assert_eq!(
            format_words_in_japanese(&stages),
            "スイス式（7回戦、各1局）、続いて上位4名の総当たり戦（1組2局）"
        );
        let rounds = [1, 2, 3, 4].map(|round| knockout_round_in_japanese(round, 4));
        assert_eq!(rounds, ["1 回戦", "準々決勝", "準決勝", "決勝"]);
    }
}
