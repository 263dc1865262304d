//! Whether one machine's results are those of the others: Pearson's chi-squared of a table with two rows.
//!
//! Machines that play the same event are samples of one distribution. A machine whose clock is wrong, whose memory is
//! broken, or whose owner cheats is not. A difference is told only where it would come by chance once in a thousand
//! machines, and where every cell of the table is expected to have [`MIN_EXPECTED`] games, as the test is not exact below.

/// Fewest games that a cell of the table is expected to have.
pub const MIN_EXPECTED: f64 = 5.0;
/// Values of chi squared that are exceeded by chance once in a thousand times, with 1 and with 2 degrees of freedom.
const CRITICAL: [f64; 2] = [10.828, 13.816];

/// Chi squared of a machine's counts against those of all others, where it is beyond chance; `None` where it is not, or
/// where there are too few games. Categories that nobody has are left out.
pub fn stands_out<const N: usize>(own: [u64; N], others: [u64; N]) -> Option<f64> {
    let cells: Vec<[f64; 2]> = own
        .into_iter()
        .zip(others)
        .filter(|(own, others)| own + others > 0)
        .map(|(own, others)| [own as f64, others as f64])
        .collect();
    let critical = *CRITICAL.get(cells.len().checked_sub(2)?)?;
    let rows = [0, 1].map(|row| cells.iter().map(|cell| cell[row]).sum::<f64>());
    let all = rows[0] + rows[1];
    let mut chi_squared = 0.0;
    for cell in cells {
        for row in [0, 1] {
            let expected = rows[row] * (cell[0] + cell[1]) / all;
            if expected < MIN_EXPECTED {
                return None;
            }
            chi_squared += (cell[row] - expected).powi(2) / expected;
        }
    }
    (chi_squared > critical).then_some(chi_squared)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_with_a_tenth_of_false_time_losses_stands_out_within_five_hundred_pairs() {
        // 1,000 games of its own, 100 of them lost on time, beside two sound machines.
        assert!(stands_out([100, 900], [0, 2000]).is_some());
        assert!(stands_out([900, 100], [2000, 0]).is_some());
    }

    #[test]
    fn machines_that_play_alike_do_not_stand_out() {
        assert_eq!(stands_out([300, 400, 300], [600, 800, 600]), None);
        assert_eq!(stands_out([310, 390, 300], [600, 800, 600]), None);
        assert!(stands_out([400, 300, 300], [600, 800, 600]).is_some());
    }

    #[test]
    fn few_games_prove_nothing() {
        assert_eq!(stands_out([4, 0], [0, 4]), None);
        assert_eq!(stands_out([0, 0], [0, 0]), None);
        assert_eq!(stands_out([100, 0], [200, 0]), None, "nothing differs");
    }

    #[test]
    fn the_value_is_that_of_a_textbook() {
        // Table [[10, 20], [30, 5]]: expected 18.46, 11.54, 21.54, 13.46.
        let value = stands_out([10, 20], [30, 5]).unwrap();
        assert!((value - 18.73).abs() < 0.01, "{value}");
    }

    #[test]
    fn a_difference_counts_from_the_critical_value_on_and_from_five_expected_games_in_every_cell() {
        // Twice as many in both rows: chi squared doubles with the counts.
        assert_eq!(stands_out([40, 60], [60, 40]), None, "8.0 with one degree of freedom");
        assert!(stands_out([40, 110], [75, 75]).is_some_and(|value| value > 10.828));
        let near = stands_out([38, 62], [62, 38]);
        assert!(near.is_some_and(|value| (value - 11.52).abs() < 1e-9), "{near:?}");
        assert_eq!(stands_out([30, 30, 40], [40, 40, 20]), None, "9.5 with two degrees of freedom");
        assert!(stands_out([28, 28, 44], [41, 41, 18]).is_some());
        // Ten games of which five are expected in a cell of one row are enough, nine are not.
        assert!(stands_out([10, 90], [0, 100]).is_none(), "10.5");
        assert!(stands_out([10, 10], [0, 500]).is_none(), "0.4 games are expected in a cell");
        assert!(stands_out([0, 100], [11, 89]).is_some());
        // Four categories have no critical value.
        assert_eq!(stands_out([100, 1, 1, 1], [1, 100, 100, 100]), None);
    }
}
