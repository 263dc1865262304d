//! The state of a tuning, for people and scripts.

use crate::Language;
use crate::exhibit::{Cell, Column, Exhibit};
use serde::Serialize;

/// A tuning of options.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TuningReport {
    /// Pairs of games whose results are applied.
    pub pairs: u64,
    /// Pairs of the whole tuning.
    pub of: u64,
    /// Pair k plays the values after pair k - window.
    pub window: u64,
    /// The tuned options.
    pub parameters: Vec<ParameterRow>,
}

/// A tuned option.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ParameterRow {
    /// Name of the option.
    pub name: String,
    /// Value before the first pair.
    pub start: f64,
    /// Value after the last pair.
    pub value: f64,
    /// Mean of the values after each pair of the second half: the result of the tuning.
    pub averaged: f64,
    /// How far an option without influence may have gone from its start by now, in 95 of 100 tunings.
    pub chance: f64,
    /// Perturbation of the last pair.
    pub c_end: f64,
    /// Step of the last pair, in perturbations.
    pub r_end: f64,
    /// Least value.
    pub min: f64,
    /// Greatest value.
    pub max: f64,
}

impl TuningReport {
    /// The state of the tuning as text.
    pub(crate) fn text(&self, words: Language) -> String {
        let number =
            |of: fn(&ParameterRow) -> f64| move |row: &ParameterRow| Cell::number(format!("{:.2}", of(row)));
        let columns = vec![
            Column::left(words.pick("option", "オプション"), |row: &ParameterRow| {
                Cell::words(&row.name)
            }),
            Column::right(words.pick("start", "初期値"), number(|row| row.start)),
            Column::right(words.pick("last", "最新"), number(|row| row.value)),
            Column::right(words.pick("averaged", "平均"), number(|row| row.averaged)),
            Column::right(words.pick("by chance", "偶然の範囲"), |row: &ParameterRow| {
                Cell::number(format!("±{:.2}", row.chance))
            }),
        ];
        format!("{}\n{}", words.tuning_so_far(self.pairs, self.of), Exhibit::of(columns, &self.parameters))
    }
}

#[cfg(test)]
mod tests {
    use crate::{EventInfo, Named, Report};
    use contest::schedule::{Pairing, Stage};
    use referee::{
        Color, Outcome, WinBy,
        entry::{Entry, GameEnded, GameId, PlayerId},
    };

    #[test]
    fn a_tuning_is_called_so_in_both_languages_and_nowhere_a_round_robin() {
        let info = EventInfo {
            stages: vec![Stage::default()],
            engines: ["it", "it again"].map(Named::whole).into(),
            format: "tuning, 30 pairs of games".to_owned(),
            tuning: Some(30),
            ..EventInfo::default()
        };
        let [black, white] = [0, 1].map(PlayerId);
        let pairing = Pairing { stage: 0, index: 0, attempt: 0, round: 1, pair: 0, opening: 0, black, white };
        let won = Outcome::Win { winner: Color::Black, by: WinBy::Resignation };
        let mut standings = info.standings();
        standings.fold(&Entry::GameEnded(GameEnded::new(GameId(1), pairing, won, 9)));
        let report = Report::new(&info, &standings, false);
        let stage = &report.stages[0];
        assert_eq!(report.format_japanese, "オプションの調整（30 組の対局）");
        assert_eq!((&stage.format, &stage.format_japanese), (&info.format, &report.format_japanese));
    }
}
