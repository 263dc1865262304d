//! `renmei-pairwise scale`: another evaluation file, whose relations weigh more or less. What a tuning of the options
//! `KingRelations` and `PairRelations` has found becomes a part of the weights.

use crate::Fault;
use crate::evaluation::{
    file, load_parameters,
    sharing::{Group, Sharing},
};
use clap::Args;
use std::{fs, path::PathBuf};

/// Scale the relations of an evaluation file
#[derive(Args)]
pub struct ScaleArguments {
    /// The evaluation file
    from: PathBuf,
    /// The file that is written
    to: PathBuf,
    /// Percent of the relations of a king and a piece
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(0..=400))]
    king: u32,
    /// Percent of the relations of two pieces
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(0..=400))]
    pair: u32,
}

/// Writes the scaled evaluation.
///
/// # Errors
/// When the first file is not an evaluation, or the second cannot be written.
pub fn run(arguments: &ScaleArguments) -> Result<(), Fault> {
    let sharing = Sharing::new();
    let mut parameters = load_parameters(&arguments.from, &sharing)?;
    for &group in Group::ALL {
        let percent = match group {
            Group::KingRelative | Group::KingAbsolute => arguments.king,
            Group::PairRelative | Group::PairAbsolute => arguments.pair,
            Group::Material | Group::Placement | Group::Kings => continue,
        };
        for value in &mut parameters.values[sharing.range(group)] {
            *value *= percent as f32 / 100.0;
        }
    }
    let mut bytes = vec![];
    let written = file::write(&parameters, &mut bytes).and_then(|()| fs::write(&arguments.to, &bytes));
    written.map_err(|fault| format!("`{}`: {fault}", arguments.to.display()).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{SCALE, Weights};

    #[test]
    fn a_scaled_evaluation_values_relations_by_their_shares_and_pieces_as_before() {
        let directory = tempfile::tempdir().unwrap();
        let [from, to, back] = ["a.kpw", "b.kpw", "c.kpw"].map(|name| directory.path().join(name));
        fs::write(&from, include_bytes!("../weights/default.kpw")).unwrap();
        let scaled = |from: &PathBuf, to: &PathBuf, king, pair| {
            run(&ScaleArguments { from: from.clone(), to: to.clone(), king, pair }).unwrap();
            Weights::load(to).unwrap()
        };
        let whole = Weights::load(&from).unwrap();
        let (none, double) = (scaled(&from, &to, 0, 0), scaled(&from, &back, 200, 200));
        for line in include_str!("../../../kifu/middlegames.sfen")
            .lines()
            .filter(|line| !line.starts_with('#'))
            .take(50)
        {
            let position = rsshogi::board::Position::from_sfen(line.trim_start_matches("sfen ")).unwrap();
            let value = |weights: &Weights| weights.value(&weights.accumulate(&position), &position);
            let expected = value(&none) + 2 * (value(&whole) - value(&none));
            // Each of some 800 relations is rounded to a unit.
            assert!((value(&double) - expected).abs() <= 3 + 800 / SCALE, "{line}");
        }
    }
}
