//! The time of moves by ply, as it is divided now and by a policy.

use super::{
    Plot, Size,
    axis::label,
    curves::{Curve, Frame, HEIGHT},
    paint,
};
use maud::html;

/// Mean seconds of a move over the plies: each point is a ply, the time now and the time by the policy.
#[must_use]
pub fn spent(title: &str, course: &[(f64, f64, f64)], size: Size) -> Plot {
    let curve = |place: usize, name: &str, of: &dyn Fn(&(f64, f64, f64)) -> f64| Curve {
        name: name.to_owned(),
        class: paint::series(place),
        points: course.iter().map(|point| (point.0, of(point))).collect(),
        errors: vec![],
    };
    let curves = [curve(0, "now", &|point| point.1), curve(1, "policy", &|point| point.2)];
    let ends = curves.iter().flat_map(|curve| curve.points.iter());
    let (plies, seconds) = ends.fold((10.0_f64, 0.001_f64), |(x, y), point| (x.max(point.0), y.max(point.1)));
    let frame = Frame::new(size, (0.0, plies), (0.0, 1.05 * seconds), &curves);
    let body = html! {
        (frame.scales("ply", label))
        (frame.curves(&curves))
        (frame.names(&curves))
    };
    Plot::new(size, HEIGHT, title, body)
}
