//! Plot of a training: losses above, held-out accuracy below.

use super::Report;
use pairwise::{
    Fault,
    plot::{self, Line, Panel},
};
use std::path::Path;

/// Draws a report into an SVG file.
pub(super) fn draw(report: &Report, path: &Path) -> Result<(), Fault> {
    let title =
        format!("{}: {} positions, batches of {}", report.network.name, report.positions, report.batch);
    let across = "steps";
    let panels = [
        Panel { title, across, up: "loss", lines: losses(report) },
        Panel { title: "held-out games".to_owned(), across, up: "share", lines: shares(report) },
    ];
    plot::draw(path, &panels)
}

fn line(name: &str, points: Vec<(f64, f64)>) -> Line {
    Line { name: name.to_owned(), points, dots: false }
}

fn losses(report: &Report) -> Vec<Line> {
    let over = |pick: fn(&super::Mark) -> f64| {
        report.marks.iter().map(|mark| (mark.step as f64, pick(mark))).collect()
    };
    let lines = [line("policy", over(|mark| mark.policy)), line("value", over(|mark| mark.value))];
    lines.into_iter().filter(|line| line.points.iter().any(|point| point.1 > 0.0)).collect()
}

fn shares(report: &Report) -> Vec<Line> {
    let over = |pick: fn(&super::Accuracy) -> Option<f64>| {
        let at =
            |(step, accuracy): &(usize, super::Accuracy)| pick(accuracy).map(|share| (*step as f64, share));
        report.exams.iter().filter_map(at).collect()
    };
    let lines = [
        line("move among the likeliest 1", over(|accuracy| Some(accuracy.policy?.top1))),
        line("move among the likeliest 5", over(|accuracy| Some(accuracy.policy?.top5))),
        line("winner named", over(|accuracy| Some(accuracy.value?.winner))),
        line("value error", over(|accuracy| Some(accuracy.value?.error))),
    ];
    lines.into_iter().filter(|line| !line.points.is_empty()).collect()
}
