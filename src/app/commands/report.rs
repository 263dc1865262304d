//! `renmei report`: an event as text, as JSON, as a page, or as a picture.

use super::{Exit, Failure, find_event, pretty};
use clap::Args;
use event::{is_png, report_event, tuning::Tuner, write, write_picture};
use journal::{EventSummary, Moves, Store};
use referee::{entry::GameId, number::number};
use report::{
    EventHistory, Language, plan,
    plot::{self, Plot, Size},
    rounds::{MOST_SHOWN, RoundTable},
    scale,
};
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};
use web::Frozen;

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  renmei report league.db
  renmei report league.db --html league.html
  renmei report cup.db --rounds cup.trf
  renmei report league.db --plot elo.svg
  renmei report league.db --plot game.png --of eval:12")]
pub struct ReportArgs {
    /// The database; by default the one in the current directory, or the newest of several.
    pub db: Option<PathBuf>,
    /// Name of the event; by default the last one.
    #[arg(long, value_name = "NAME")]
    pub event: Option<String>,
    /// List the events of the database.
    #[arg(long, conflicts_with_all = ["json", "event"])]
    pub list: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Print black's score, level pairs and the strength of the players from each set of openings: families by what became of
    /// rooks and bishops, each line alone (`lines`), or the given files of lines.
    #[arg(long, value_name = "FILE", num_args = 0.., value_delimiter = ',', conflicts_with_all = ["list", "html", "plot"])]
    pub openings: Option<Vec<PathBuf>>,
    /// Print a line a player with the opponent, the colour and the result of each round; or write it to FILE.tsv or, as a
    /// tournament report of FIDE, FILE.trf.
    #[arg(long, value_name = "FILE", num_args = 0..=1, conflicts_with_all = ["list", "html", "plot", "openings", "scales"])]
    pub rounds: Option<Option<PathBuf>>,
    /// Fit each player's scores to its results: how many of its centipawns are one unit of log odds (600 on the common scale).
    #[arg(long, conflicts_with_all = ["list", "html", "plot"])]
    pub scales: bool,
    /// Write a self-contained web page with all figures and every game on a board.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "list"])]
    pub html: Option<PathBuf>,
    /// Draw a picture: FILE.svg or FILE.png.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "list"])]
    pub plot: Option<PathBuf>,
    /// Content of the picture: elo, ratings (over the games), sprt, tuning, endings, time (by ply), or eval:N for game N.
    #[arg(long, value_name = "WHAT", default_value = "elo", requires = "plot")]
    pub of: Picture,
}

/// Content of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Picture {
    /// Elo of every player with its interval.
    Elo,
    /// The ratings over the games.
    Ratings,
    /// The log-likelihood ratio of a sequential test between its bounds.
    Sprt,
    /// The values of a tuning over its pairs.
    Tuning,
    /// Number of games by ending.
    Endings,
    /// The mean time of a move by ply.
    Time,
    /// Evaluations of the game with this number.
    Eval(u64),
}

impl std::str::FromStr for Picture {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let game = |number: &str| number.parse().map(Self::Eval).ok();
        match text {
            "elo" => Some(Self::Elo),
            "ratings" => Some(Self::Ratings),
            "sprt" => Some(Self::Sprt),
            "tuning" => Some(Self::Tuning),
            "endings" => Some(Self::Endings),
            "time" => Some(Self::Time),
            _ => text.strip_prefix("eval:").and_then(game),
        }
        .ok_or_else(|| "expected elo, ratings, sprt, tuning, endings, time or eval:N".to_owned())
    }
}

/// Reports an event of a database.
pub fn report(args: &ReportArgs, language: Language) -> Result<Exit, Failure> {
    let db = super::database(args.db.as_deref())?;
    let store = Store::read(&db)?;
    let events = store.events()?;
    if args.list {
        list(&events, language);
        return Ok(Exit::Done);
    }
    let event = find_event(&events, args.event.as_deref())?;
    if let Some(files) = &args.openings {
        return openings(&store, event, (files, args.json), language);
    }
    if args.json && args.rounds.is_some() {
        let why = "`--rounds` has no JSON: `--rounds FILE.tsv` writes its table for programs, and `--json` alone the report";
        return Err(Failure::Usage(why.to_owned()));
    }
    if let Some(file) = &args.rounds {
        return rounds(&RoundTable::read(&store, event)?, file.as_deref(), language);
    }
    if args.scales {
        let scales = scale::scales(&store, event)?;
        match args.json {
            true => out_line!("{}", pretty(&scales)?),
            false => out!("{}", scale::text(&scales, language)),
        }
        return Ok(Exit::Done);
    }
    if let Some(path) = &args.html {
        write_page(&store, event, path, language)?;
    }
    if let Some(path) = &args.plot {
        write_plot(&store, event, args.of, path, language)?;
    }
    if args.html.is_none() && args.plot.is_none() {
        report_event(&db, args.event.as_deref(), args.json, language)?;
    }
    Ok(Exit::Done)
}

/// Prints who met whom in each round, or writes it to a file.
fn rounds(table: &RoundTable, file: Option<&Path>, language: Language) -> Result<Exit, Failure> {
    let Some(path) = file else {
        if table.rounds() > MOST_SHOWN {
            let rounds = number(table.rounds(), "round");
            return Err(Failure::Usage(format!(
                "{rounds} are more than a terminal shows: write them to a file, `--rounds FILE.tsv`"
            )));
        }
        out!("{}", table.exhibit(language));
        return Ok(Exit::Done);
    };
    let text = match path.extension().and_then(|extension| extension.to_str()) {
        Some("tsv") => table.tsv(),
        Some("trf") => table.trf().ok_or_else(|| {
            Failure::Usage(
                "a tournament report has one game of a player in a round, and this event more".to_owned(),
            )
        })?,
        _ => {
            return Err(Failure::Usage(format!(
                "--rounds writes FILE.tsv or FILE.trf, and `{}` is neither",
                path.display()
            )));
        }
    };
    write(path, text.as_bytes())?;
    Ok(Exit::Done)
}

/// Prints the strength of the players by sets of openings.
fn openings(
    store: &Store,
    event: &EventSummary,
    (files, json): (&[PathBuf], bool),
    language: Language,
) -> Result<Exit, Failure> {
    let is_each = files.len() == 1 && files[0].as_os_str() == "lines";
    let files = if is_each { &[] } else { files };
    let mut file_of: HashMap<String, String> = HashMap::new();
    for file in files {
        let plan = ::plan::OpeningPlan { files: vec![file.clone()], ..::plan::OpeningPlan::default() };
        let lines = records::openings::load(&plan).map_err(|faults| Failure::Usage(faults.to_string()))?;
        for goal in lines.iter().filter_map(referee::opening::Opening::goal) {
            file_of.entry(goal).or_insert_with(|| file.display().to_string());
        }
    }
    let set_of = |goal: &str, line: &str| match files {
        [] if is_each => line.to_owned(),
        [] => report::openings::family(goal),
        _ => file_of.get(goal).cloned().unwrap_or_else(|| "other lines".to_owned()),
    };
    let sets = report::openings::sets(store, event, &set_of)?;
    match json {
        true => out_line!("{}", pretty(&sets)?),
        false => out!("{}", report::openings::table(&sets, language)),
    }
    Ok(Exit::Done)
}

fn list(events: &[EventSummary], words: Language) {
    for event in events {
        let state = if event.closed { words.complete() } else { words.not_complete() };
        let players = event.players.len();
        let name = notation::printable(event.name.as_bytes());
        out_line!(
            "{name}  {}, {}, {}, {state}",
            words.of_games(event.counted),
            words.pick(number(players, "player"), format!("{players} 名")),
            event.kind
        );
    }
}

fn write_page(store: &Store, event: &EventSummary, path: &Path, language: Language) -> Result<(), Failure> {
    let file = path.file_name().map_or_else(|| "report.html".into(), |file| file.to_string_lossy());
    let Frozen { files, games } = web::freeze(store, event, &file, language)?;
    for (at, (name, page)) in files.iter().enumerate() {
        // The first name is as it was given, whatever its bytes are.
        let path = if at == 0 { path.to_owned() } else { path.with_file_name(name) };
        write(&path, page.as_bytes())?;
    }
    let games = number(games, "game");
    let further = match files.len() - 1 {
        0 => String::new(),
        pages => format!("; older games in {} beside it", number(pages, "page")),
    };
    err_line!("{}: {games}, {:.1} MB{further}", path.display(), files[0].1.len() as f64 / 1e6);
    Ok(())
}

fn write_plot(
    store: &Store,
    event: &EventSummary,
    of: Picture,
    path: &Path,
    language: Language,
) -> Result<(), Failure> {
    is_png(path)?;
    write_picture(&draw(store, event, of, language)?, path)
}

fn draw(store: &Store, event: &EventSummary, of: Picture, language: Language) -> Result<Plot, Failure> {
    let moves = if of == Picture::Time { Moves::With } else { Moves::Results };
    let history = || EventHistory::read(store, event, moves);
    Ok(match of {
        Picture::Elo => plot::elo(&history()?.report, Size::Wide),
        Picture::Ratings => plot::ratings(&history()?, Size::Wide, language),
        Picture::Tuning => {
            let tuner = Tuner::read(store, event, &plan(event)?)?;
            let tuner = tuner.ok_or_else(|| Failure::Usage(format!("`{}` tunes nothing", event.name)))?;
            tuner.plot(&event.name)
        }
        Picture::Endings => plot::endings(&history()?.report, Size::Wide, language),
        Picture::Time => plot::time(&history()?, Size::Wide, language),
        Picture::Sprt => {
            let EventHistory { report, walk, .. } = history()?;
            let test = report.sprt.as_ref();
            let test =
                test.ok_or_else(|| Failure::Usage(format!("`{}` has no sequential test", event.name)))?;
            plot::sprt(&report, test, &walk, Size::Wide, language)
        }
        Picture::Eval(game) => {
            let found = store.game(event.id, GameId(game))?;
            let missing = || Failure::Usage(format!("`{}` has no game {game}", event.name));
            let game = found.ok_or_else(missing)?;
            plot::evaluation(&game, scale::Given::of(event).game(&game.row.pairing), Size::Wide)
        }
    })
}
