//! The picture of a training: losses above, held-out accuracy below.

use super::{Report, TrainError};
use plotters::{coord::Shift, prelude::*};
use std::{error::Error, path::Path};

/// A line's name and points.
type Line = (&'static str, Vec<(f64, f64)>);
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
const COLORS: [RGBColor; 4] =
    [RGBColor(31, 119, 180), RGBColor(214, 96, 20), RGBColor(44, 140, 44), RGBColor(140, 86, 75)];

/// Draws a report into an SVG file.
pub(super) fn draw(report: &Report, path: &Path) -> Result<(), TrainError> {
    let failed =
        |fault: Box<dyn Error>| TrainError::Plot { path: path.to_owned(), reason: fault.to_string() };
    let root = SVGBackend::new(path, (900, 760)).into_drawing_area();
    panels(report, &root).and_then(|()| Ok(root.present()?)).map_err(failed)
}

fn panels(report: &Report, root: &Area) -> Result<(), Box<dyn Error>> {
    root.fill(&WHITE)?;
    let (above, below) = root.split_vertically(380);
    let title =
        format!("{}: {} positions, batches of {}", report.network.name, report.positions, report.batch);
    panel(&above, &title, "loss", &losses(report))?;
    panel(&below, "held-out games", "share", &shares(report))
}

fn losses(report: &Report) -> Vec<Line> {
    let over = |pick: fn(&super::Mark) -> f64| {
        report.marks.iter().map(|mark| (mark.step as f64, pick(mark))).collect()
    };
    let lines: [Line; 2] = [("policy", over(|mark| mark.policy)), ("value", over(|mark| mark.value))];
    lines.into_iter().filter(|(_, points)| points.iter().any(|point| point.1 > 0.0)).collect()
}

fn shares(report: &Report) -> Vec<Line> {
    let over = |pick: fn(&super::Exam) -> Option<f64>| {
        let at = |(step, exam): &(usize, super::Exam)| pick(exam).map(|share| (*step as f64, share));
        report.exams.iter().filter_map(at).collect()
    };
    let lines: [Line; 4] = [
        ("move among the likeliest 1", over(|exam| Some(exam.policy?.top1))),
        ("move among the likeliest 5", over(|exam| Some(exam.policy?.top5))),
        ("winner named", over(|exam| Some(exam.value?.winner))),
        ("value error", over(|exam| Some(exam.value?.error))),
    ];
    lines.into_iter().filter(|(_, points)| !points.is_empty()).collect()
}

fn panel(area: &Area, title: &str, unit: &str, lines: &[Line]) -> Result<(), Box<dyn Error>> {
    let points = || lines.iter().flat_map(|(_, points)| points);
    let right = points().map(|point| point.0).fold(1.0, f64::max);
    let top = points().map(|point| point.1).fold(0.1, f64::max) * 1.05;
    let mut chart = ChartBuilder::on(area)
        .caption(title, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(52)
        .build_cartesian_2d(0.0..right, 0.0..top)?;
    chart.configure_mesh().x_desc("steps").y_desc(unit).light_line_style(WHITE).draw()?;
    for ((name, points), color) in lines.iter().zip(COLORS) {
        let drawn = chart.draw_series(LineSeries::new(points.iter().copied(), color.stroke_width(2)))?;
        drawn
            .label(*name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], color.stroke_width(2)));
    }
    chart.configure_series_labels().background_style(WHITE.mix(0.8)).border_style(BLACK.mix(0.3)).draw()?;
    Ok(())
}
