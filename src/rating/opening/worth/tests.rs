use super::*;
use crate::simulation::Dice;

/// Lines with games of planted bias (natural logarithms of odds) and separation: `games` of them each, between players whose
/// gap is up to 300 Elo.
fn planted(truth: &[(f64, f64)], games: usize, dice: &mut Dice) -> Vec<LineRecord> {
    let line = |(at, &(bias, separation)): (usize, &(f64, f64))| {
        let mut record = LineRecord { family: at % 4, ..LineRecord::default() };
        for _ in 0..games {
            let gap = 300.0 * (2.0 * dice.roll() - 1.0);
            let score = 1.0 / (1.0 + (-(bias + separation * gap / ELO_PER_NAT)).exp());
            let results = if dice.roll() < score { [1, 0, 0] } else { [0, 0, 1] };
            record.games.push(LineGames { gap, results });
        }
        record
    };
    truth.iter().enumerate().map(line).collect()
}

fn truth(lines: usize, spread: [f64; 2], dice: &mut Dice) -> Vec<(f64, f64)> {
    (0..lines).map(|_| (0.2 + spread[0] * dice.normal(), 1.0 + spread[1] * dice.normal())).collect()
}

fn correlation(pairs: &[(f64, f64)]) -> f64 {
    let n = pairs.len() as f64;
    let (a, b) = pairs.iter().fold((0.0, 0.0), |sum, it| (sum.0 + it.0 / n, sum.1 + it.1 / n));
    let sums = pairs.iter().fold([0.0; 3], |sum, it| {
        [sum[0] + (it.0 - a) * (it.1 - b), sum[1] + (it.0 - a).powi(2), sum[2] + (it.1 - b).powi(2)]
    });
    sums[0] / (sums[1] * sums[2]).sqrt()
}

#[test]
fn planted_biases_and_separations_come_out_and_their_spreads_with_them() {
    let mut dice = Dice(1);
    let truth = truth(300, [0.8, 0.4], &mut dice);
    let learned = Worths::learn(&planted(&truth, 200, &mut dice));
    let of = |what: fn(&(f64, f64)) -> f64, seen: fn(&Worth) -> f64| {
        truth.iter().zip(&learned.lines).map(|(truth, worth)| (what(truth), seen(worth))).collect::<Vec<_>>()
    };
    assert!(correlation(&of(|it| it.0, |it| it.bias)) > 0.95);
    assert!(correlation(&of(|it| it.1, |it| it.separation)) > 0.8);
    let [bias, separation] = [learned.bias_spread[0] / ELO_PER_NAT, learned.separation_spread[0]];
    assert!((bias - 0.8).abs() < 0.1 && (separation - 0.4).abs() < 0.1, "{bias} {separation}");
    assert!((learned.bias / ELO_PER_NAT - 0.2).abs() < 0.15, "{}", learned.bias);
}

#[test]
fn few_games_say_little_and_lines_that_are_alike_stay_alike() {
    let mut dice = Dice(2);
    let alike = vec![(0.0, 1.0); 200];
    let learned = Worths::learn(&planted(&alike, 6, &mut dice));
    let most = learned.lines.iter().map(|worth| worth.information).fold(0.0, f64::max);
    assert!(most < 1.4, "of lines that are alike none may look much better than the others: {most}");
    let unseen = Worths::learn(&[LineRecord::default()]);
    assert_eq!((unseen.lines[0].level, unseen.draws), (0.5, 0.0));
    assert!(unseen.lines[0].bias_error > 0.0 && unseen.lines[0].information.is_finite());
}

#[test]
fn games_that_were_all_won_are_no_proof_of_an_endless_bias() {
    let all_won = |results| LineRecord {
        games: vec![LineGames { gap: 50.0, results }],
        level: (3, 3),
        ..LineRecord::default()
    };
    let learned = Worths::learn(&[all_won([40, 0, 0]), all_won([0, 0, 1]), all_won([0, 9, 0])]);
    assert!(learned.lines.iter().all(|worth| worth.bias.is_finite() && worth.information.is_finite()));
    assert_eq!(learned.lines[0].level, 1.0);
}

/// The best third of lines, by games of some players, tells others apart with fewer pairs: the information that is
/// promised is there.
#[test]
fn the_promised_information_of_chosen_lines_is_theirs() {
    let mut dice = Dice(3);
    let truth = truth(300, [0.9, 0.3], &mut dice);
    let learned = Worths::learn(&planted(&truth, 60, &mut dice));
    let mut order: Vec<usize> = (0..truth.len()).collect();
    order.sort_by(|&a, &b| learned.lines[b].information.total_cmp(&learned.lines[a].information));
    let promised = information(&order[..100].iter().map(|&line| learned.lines[line]).collect::<Vec<_>>());
    let real = {
        let sums = order[..100].iter().map(|&line| (truth[line].1, openness(truth[line].0)));
        let [shown, scattered] = sums.fold([0.0; 2], |sum, (k, v)| [sum[0] + k * v, sum[1] + v]);
        shown * shown / (scattered * 100.0)
    };
    println!("promised {promised}, real {real}");
    assert!((promised / real - 1.0).abs() < 0.12, "promised {promised}, real {real}");
}
