//! How well tunings are planned: `cargo run --release -p laboratory --example tuning`. For several numbers of parameters
//! it prints what is proposed and how many of 200 tunings end within the goal, also where the assumption was wrong.

use laboratory::{
    landscape::{Assumption, COST, propose},
    spsa::{Parameter, Spec},
};

fn main() {
    for number in [2, 4, 8] {
        let parameter = |i: usize| Parameter {
            name: format!("p{i}"),
            start: 100.0,
            min: 0.0,
            max: 200.0,
            c_end: 10.0,
            r_end: 0.002,
            whole: i.is_multiple_of(2),
        };
        let parameters = (0..number).map(parameter).collect();
        let spec = Spec { pairs: 1, window: 16, seed: 1, parameters };
        let costs = vec![COST; number];
        let assumption = Assumption { costs, distance: 2.0, draws: 0.1, within: 1.0, confidence: 0.95 };
        let Some(proposal) = propose(&spec, &assumption, &|| false) else {
            println!("{number} parameters: more than 500000 pairs");
            continue;
        };
        let r_end = proposal.spec.parameters[0].r_end;
        println!(
            "{number} parameters: {} pairs, r_end {r_end:.4}; start {:.0} Elo below the best",
            proposal.spec.pairs, proposal.start
        );
        for (what, tried) in [
            ("as assumed", proposal.tried),
            ("3 times as steep, interacting", proposal.steep),
            ("3 times as flat, interacting", proposal.flat),
        ] {
            println!(
                "  {what}: within 1 Elo {:.1} %, within 3 Elo {:.1} %, median {:.2} Elo",
                100.0 * tried.within,
                100.0 * tried.within_three,
                tried.median
            );
        }
    }
}
