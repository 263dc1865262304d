//! Plots: line charts in panels, one above the other, as SVG.

use crate::Fault;
use plotters::{coord::Shift, prelude::*};
use std::{error::Error, path::Path};

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
const COLORS: [RGBColor; 4] =
    [RGBColor(31, 119, 180), RGBColor(214, 96, 20), RGBColor(44, 140, 44), RGBColor(140, 86, 75)];

/// A labelled line.
#[derive(Clone, Debug)]
pub struct Line {
    /// The label.
    pub name: String,
    /// Its points.
    pub points: Vec<(f64, f64)>,
    /// Marks its points, for measured values.
    pub dots: bool,
}

/// Lines over a common axis.
#[derive(Clone, Debug)]
pub struct Panel<'a> {
    /// The caption.
    pub title: String,
    /// Label of the horizontal axis.
    pub across: &'a str,
    /// Label of the vertical axis.
    pub up: &'a str,
    /// The lines.
    pub lines: Vec<Line>,
}

/// Draws the panels into an SVG file.
///
/// # Errors
/// When it cannot be written.
pub fn draw(path: &Path, panels: &[Panel<'_>]) -> Result<(), Fault> {
    let root = SVGBackend::new(path, (900, 380 * panels.len() as u32)).into_drawing_area();
    all(&root, panels).map_err(|fault| format!("plot `{}`: {fault}", path.display()).into())
}

fn all(root: &Area, panels: &[Panel<'_>]) -> Result<(), Box<dyn Error>> {
    root.fill(&WHITE)?;
    let areas = root.split_evenly((panels.len(), 1));
    areas.iter().zip(panels).try_for_each(|(area, panel)| panel.draw(area))?;
    Ok(root.present()?)
}

impl Panel<'_> {
    fn draw(&self, area: &Area) -> Result<(), Box<dyn Error>> {
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let right = points().map(|point| point.0).fold(f64::MIN_POSITIVE, f64::max);
        let top = points().map(|point| point.1).fold(0.1, f64::max) * 1.05;
        let mut chart = ChartBuilder::on(area)
            .caption(&self.title, ("sans-serif", 18))
            .margin(12)
            .x_label_area_size(36)
            .y_label_area_size(52)
            .build_cartesian_2d(0.0..right, 0.0..top)?;
        chart.configure_mesh().x_desc(self.across).y_desc(self.up).light_line_style(WHITE).draw()?;
        for (line, color) in self.lines.iter().zip(COLORS.into_iter().cycle()) {
            let drawn =
                chart.draw_series(LineSeries::new(line.points.iter().copied(), color.stroke_width(2)))?;
            drawn
                .label(&line.name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], color.stroke_width(2)));
            let dots = line.points.iter().filter(|_| line.dots);
            chart.draw_series(dots.map(|&point| Circle::new(point, 4, color.filled())))?;
        }
        chart
            .configure_series_labels()
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK.mix(0.3))
            .draw()?;
        Ok(())
    }
}
