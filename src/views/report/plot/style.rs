//! Colours of pictures on light and dark backgrounds. Pictures use class names; the colours are defined here.

use crate::exhibit::SERIES;

struct Colours {
    paper: &'static str,
    ink: &'static str,
    quiet: &'static str,
    grid: &'static str,
    good: &'static str,
    bad: &'static str,
    rest: &'static str,
    series: [&'static str; SERIES],
}

const LIGHT: Colours = Colours {
    paper: "#fffefb",
    ink: "#22211e",
    quiet: "#6d6a62",
    grid: "#e4dfd3",
    good: "#23845c",
    bad: "#b9432f",
    rest: "#b3aea2",
    series: ["#2b67c4", "#cf6a1f", "#23845c", "#b03a85", "#7a5bc7", "#9a7600", "#1f8ba3", "#b9432f"],
};

const DARK: Colours = Colours {
    paper: "#1a1916",
    ink: "#ebe7dd",
    quiet: "#a09b8f",
    grid: "#38352f",
    good: "#5cc596",
    bad: "#ef8572",
    rest: "#6b675e",
    series: ["#79acf7", "#f09c5c", "#5cc596", "#e383bf", "#b29af4", "#d8b23e", "#62c4d8", "#ef8572"],
};

/// Style rules for a page or a file: dark or light, as the reader's system prefers.
pub fn rules() -> String {
    format!("{}@media(prefers-color-scheme:dark){{{}}}", light(), colours(&DARK))
}

/// Style rules for a light background.
pub fn light() -> String {
    format!("{SHAPES}{}", colours(&LIGHT))
}

const SHAPES: &str = ".plot text{font-family:system-ui,-apple-system,\"Segoe UI\",sans-serif;font-size:12px;\
stroke:none}.plot .title{font-size:15px;font-weight:600}.plot .end{text-anchor:end}.plot .mid{text-anchor:middle}\
.plot .curve{fill:none;stroke:currentColor;stroke-width:2;stroke-linejoin:round}.plot .thin{stroke-width:1}\
.plot .band{fill:currentColor;fill-opacity:.13;stroke:none}.plot .dot{fill:currentColor;stroke:none}\
.plot .whisker{stroke:currentColor;stroke-width:2;fill:none}.plot .loose{stroke-dasharray:3 3}\
.plot .bound{stroke-width:1.5;stroke-dasharray:6 4}.plot .named{fill:currentColor}";

fn colours(colours: &Colours) -> String {
    let Colours { paper, ink, quiet, grid, good, bad, rest, series } = colours;
    let mut text = format!(
        ".plot .paper{{fill:{paper}}}.plot text{{fill:{ink}}}.plot .quiet{{fill:{quiet}}}\
         .plot .grid{{stroke:{grid};stroke-width:1}}.plot .zero{{stroke:{quiet};stroke-width:1}}\
         .plot .hollow{{fill:{paper};stroke:currentColor;stroke-width:2}}\
         .good{{color:{good}}}.bad{{color:{bad}}}.rest{{color:{rest}}}.ink{{color:{ink}}}\
         .plot .named{{fill:currentColor}}"
    );
    for (at, colour) in series.iter().enumerate() {
        text += &format!(".s{at}{{color:{colour}}}");
    }
    text
}
