//! `renmei openings learn`: bias of opening lines, how well they separate players, and a set of the best.

use super::{Exit, Failure, ledger::read, pretty};
use crate::cli::{OpeningsArgs, OpeningsCommand, OpeningsLearnArgs};
use ledger::{Apart, Learned, LearnedLine, Ledger};
use referee::{
    number::number,
    opening::{EVEN, Family, worth::Worth},
    rating::signed,
};
use serde::Serialize;
use std::{collections::BTreeMap, fmt::Write};

/// What was learned, as JSON.
#[derive(Serialize)]
struct Document<'a> {
    counts: ledger::Counts,
    players: usize,
    #[serde(flatten)]
    learned: &'a Learned,
    /// Places of the chosen lines in `lines`, in the order of the file.
    chosen: &'a [usize],
    /// Information of a pair from the chosen lines, relative to one from all.
    gain: f64,
}

/// The commands about openings.
pub fn openings(args: &OpeningsArgs) -> Result<Exit, Failure> {
    match &args.command {
        OpeningsCommand::Learn(args) => learn(args),
    }
}

fn learn(args: &OpeningsLearnArgs) -> Result<Exit, Failure> {
    let mut ledger = Ledger::new(Apart::default(), None).with_lines();
    read(&args.paths, &mut ledger, &|_| {})?;
    let rated = ledger.rate(&[]).map_err(|why| Failure::Usage(why.to_string()))?;
    let learned = ledger.learn(&rated);
    let many = learned.lines.len();
    if many < 2 {
        let text = format!("the games begin from {many} line; there is nothing to choose from");
        return Err(Failure::Usage(text));
    }
    // A third of all: fewer say more, but come again sooner.
    let count = args.lines.unwrap_or((many / 3).max(1));
    if !(1..=many).contains(&count) {
        return Err(Failure::Usage(format!("--lines {count}: there are {many} lines")));
    }
    let chosen = learned.choose(count, args.bias);
    let gain = learned.gain(&chosen);
    if let Some(path) = &args.output {
        event::write(path, file(&learned, &chosen, gain).as_bytes())?;
    }
    if let Some(path) = &args.plot {
        event::write_picture(&report::plot::openings(&learned, &chosen, report::plot::Size::Wide), path)?;
    }
    let counts = ledger.counts();
    if args.json {
        let players = ledger.nodes().len();
        out_line!("{}", pretty(&Document { counts, players, learned: &learned, chosen: &chosen, gain })?);
        return Ok(Exit::Done);
    }
    out!("{}", text(&ledger, &learned, &chosen));
    let place =
        args.output.as_ref().map_or_else(|| "a set of".to_owned(), |path| format!("`{}`:", path.display()));
    out_line!("\n{place} {} lines; {}", chosen.len(), gain_words(gain));
    Ok(Exit::Done)
}

/// What a set of lines brings, in words.
fn gain_words(gain: f64) -> String {
    let percent = |share: f64| format!("{:.0} %", 100.0 * share);
    match gain {
        1.0.. => format!(
            "a pair from them is expected to say {} more than one from all lines: {} fewer games to a verdict",
            percent(gain - 1.0),
            percent(1.0 - 1.0 / gain)
        ),
        _ => format!(
            "a pair from them is expected to say {} less than one from all lines",
            percent(1.0 - gain)
        ),
    }
}

/// The set as a file of lines, each below what is known of it.
fn file(learned: &Learned, chosen: &[usize], gain: f64) -> String {
    let mut text = format!(
        "# {} of {} lines, chosen by `renmei openings learn`: {}\n",
        chosen.len(),
        learned.lines.len(),
        gain_words(gain)
    );
    for LearnedLine { start, moves, family, games, worth } in chosen.iter().map(|&line| &learned.lines[line])
    {
        let Worth { bias, bias_error, separation, level, .. } = worth;
        let start = if start == EVEN { "startpos".to_owned() } else { format!("sfen {start}") };
        let moves = if moves.is_empty() { String::new() } else { format!(" moves {moves}") };
        let _infallible = writeln!(
            text,
            "# {family}; black {} +-{bias_error:.0} Elo, separation {separation:.2}, level pairs {:.0} %, games {games}\n\
             {start}{moves}",
            signed(*bias, 0),
            100.0 * level
        );
    }
    text
}

/// Sums of a family.
#[derive(Default)]
struct Sums {
    lines: usize,
    chosen: usize,
    games: u64,
    bias: f64,
    separation: f64,
    level: f64,
    information: f64,
}

impl Sums {
    fn add(&mut self, line: &LearnedLine, is_chosen: bool) {
        self.lines += 1;
        self.chosen += usize::from(is_chosen);
        self.games += line.games;
        self.bias += line.worth.bias;
        self.separation += line.worth.separation;
        self.level += line.worth.level;
        self.information += line.worth.information;
    }

    fn row(&self, name: &str) -> String {
        let mean = |sum: f64| sum / self.lines.max(1) as f64;
        format!(
            "{name:<36}{:>6}{:>8}{:>9}{:>8}{:>12.2}{:>7.0}%{:>13.2}\n",
            self.lines,
            self.chosen,
            self.games,
            signed(mean(self.bias), 0),
            mean(self.separation),
            100.0 * mean(self.level),
            mean(self.information)
        )
    }
}

/// What was learned: of all lines, by family, and of the chosen ones.
fn text(ledger: &Ledger, learned: &Learned, chosen: &[usize]) -> String {
    let (counts, worths) = (ledger.counts(), &learned.worths);
    let mut families: BTreeMap<Family, Sums> = BTreeMap::new();
    let (mut all, mut best) = (Sums::default(), Sums::default());
    for (at, line) in learned.lines.iter().enumerate() {
        let is_chosen = chosen.contains(&at);
        families.entry(line.family).or_default().add(line, is_chosen);
        all.add(line, is_chosen);
        if is_chosen {
            best.add(line, true);
        }
    }
    let [bias, bias_of_families] = worths.bias_spread;
    let [separation, separation_of_families] = worths.separation_spread;
    let mut text = format!(
        "{} in {} of {}, {}; {:.1} % of the games were drawn\n\
         bias: {} Elo for black in the mean; lines scatter by {bias:.0} Elo around their family, families by {bias_of_families:.0}\n\
         separation: lines scatter by {separation:.2} around their family, families by {separation_of_families:.2}\n\n\
         {:<36}{:>6}{:>8}{:>9}{:>8}{:>12}{:>8}{:>13}\n",
        number(learned.lines.len(), "line"),
        number(counts.games + counts.own_games, "game"),
        number(counts.events, "event"),
        number(ledger.nodes().len(), "player"),
        100.0 * worths.draws,
        signed(worths.bias, 0),
        "family",
        "lines",
        "chosen",
        "games",
        "bias",
        "separation",
        "level",
        "information",
    );
    for (family, sums) in &families {
        text.push_str(&sums.row(&family.to_string()));
    }
    text.push_str(&all.row("all"));
    text.push_str(&best.row("chosen"));
    text
}
