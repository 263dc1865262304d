//! Axes: from values to coordinates, with ticks and labels.

/// A range of values and the coordinates of its ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    from: f64,
    to: f64,
    start: f64,
    end: f64,
}

impl Axis {
    /// An axis for the values `from..to`, drawn from `start` to `end`; an empty range is widened.
    pub fn new(from: f64, to: f64, start: f64, end: f64) -> Self {
        let to = if to > from { to } else { from + 1.0 };
        Self { from, to, start, end }
    }

    /// Coordinate of a value.
    pub fn at(&self, value: f64) -> f64 {
        self.start + (value - self.from) / (self.to - self.from) * (self.end - self.start)
    }

    /// Coordinates of the ends.
    pub fn ends(&self) -> (f64, f64) {
        (self.start, self.end)
    }

    /// About `count` round values along the axis.
    pub fn ticks(&self, count: usize) -> Vec<f64> {
        let step = step((self.to - self.from) / count.max(1) as f64);
        let first = (self.from / step).ceil() as i64;
        let last = (self.to / step).floor() as i64;
        (first..=last).map(|n| n as f64 * step).collect()
    }
}

/// Rounds up to the next of 1, 2, 5, 10, 20 ... times a power of ten.
fn step(rough: f64) -> f64 {
    let power = 10f64.powf(rough.log10().floor());
    let times = [1.0, 2.0, 5.0, 10.0].into_iter().find(|times| times * power >= rough * 0.999);
    times.unwrap_or(10.0) * power
}

/// Label of a value, with as many digits as tell it from the next: values of a scale that nobody chose may be small.
pub fn label(value: f64) -> String {
    match value.abs() {
        big if big >= 10_000.0 => format!("{}k", value / 1000.0),
        whole if whole.fract() == 0.0 => format!("{:.0}", value + 0.0),
        _ => format!("{value:.9}").trim_end_matches('0').to_owned(),
    }
}

/// Label with a sign; zero has none.
pub fn signed(value: f64) -> String {
    if value > 0.0 { format!("+{}", label(value)) } else { label(value).replace('-', "−") }
}
