//! Events on a terminal: each has its dashboard or its lines, its pages and its report.

use crate::{
    Exit, Failure, OpenScreen, aloud, floodgate,
    output::Stream,
    playing::Playing,
    prepare::{build, look},
    print, report_event,
    run::PagesAt,
    runner::{EventRunner, Played, Prepared, Venue},
    signals,
};
use arena::{Say, Shutdown, dispatcher::Finished};
use laboratory::Cache;
use notation::printable;
use plan::{ClientConfig, Plan, ServeConfig};
use platform::programs;
use referee::sprt::{BY_FAULTS, Verdict};
use report::{Report, verdict};
use std::{cell::Cell, path::Path};
use words::Language;

/// A terminal, where an event is played by a command.
#[derive(Default)]
struct Terminal {
    shutdown: Shutdown,
    is_listening: Cell<bool>,
}

/// Plays a plan to its end; with a network side, players of it may log in.
///
/// # Errors
/// When it cannot be played.
pub fn play(
    plan: Plan,
    serve: Option<ServeConfig>,
    playing: &Playing,
    screen: OpenScreen,
) -> Result<Exit, Failure> {
    let terminal = Terminal::default();
    let played = terminal.runner(playing, screen).arranged(plan, serve)?;
    conclude(played, playing, screen.language, &terminal.shutdown)
}

/// Hosts an open league until a signal: the first lets the running games end, the second breaks them off.
///
/// # Errors
/// When an address is not available, or the database fails.
pub fn league(config: ServeConfig, playing: &Playing, screen: OpenScreen) -> Result<Exit, Failure> {
    Terminal::default().runner(playing, screen).league(config).map(|()| Exit::Done)
}

/// Plays an engine on a server until the configured number of games is played or a signal arrives: the first SIGINT lets the
/// game end, the second, or SIGTERM, resigns it.
///
/// # Errors
/// When the engine cannot play or the database fails.
pub fn floodgate(config: ClientConfig, playing: &Playing, screen: OpenScreen) -> Result<Exit, Failure> {
    let (database, name) = (config.database.clone(), config.name.clone());
    let terminal = Terminal::default();
    // Lines about games on a server stand in order with all others.
    let runner = EventRunner { game_lines: None, ..terminal.runner(playing, screen) };
    let (mut run, finish) = runner.seat(config)?;
    run.linger(terminal.shutdown.is_finishing());
    report_event(&database, Some(&name), playing.json, screen.language)?;
    run.finish();
    Ok(floodgate::exit_of(finish))
}

impl Terminal {
    fn runner<'a>(&'a self, playing: &'a Playing, screen: OpenScreen) -> EventRunner<'a> {
        let (say, lines) = (aloud(), if playing.json { Stream::Err } else { Stream::Out });
        let (game_lines, pages) = (Some(Box::new(lines) as _), PagesAt::Own(&playing.http));
        let (shutdown, screen, port) = (&self.shutdown, Some(screen), None);
        EventRunner { venue: self, playing, shutdown, say, screen, game_lines, pages, port }
    }
}

impl Venue for Terminal {
    fn prepare(&self, plan: &mut Plan) -> Result<Prepared, Failure> {
        let mut builds = vec![];
        if plan.engines.iter().any(|engine| engine.source.is_some()) {
            self.listen(&aloud(), None)?;
            builds = build(plan, &Cache::here()?, &self.shutdown, &aloud())?;
        }
        Prepared::new(plan, builds, aloud(), look)
    }

    fn listen(&self, say: &Say, finishing: Option<&'static str>) -> Result<(), Failure> {
        if self.is_listening.replace(true) {
            return Ok(());
        }
        let say = say.clone();
        let finishing = move || finishing.iter().for_each(|line| say(line));
        signals::listen(self.shutdown.clone(), finishing)
            .map_err(|error| Failure::Other(format!("signals: {error}")))
    }
}

/// Closes what surrounds an event that is over, and reports the event.
fn conclude(
    mut played: Played,
    playing: &Playing,
    words: Language,
    shutdown: &Shutdown,
) -> Result<Exit, Failure> {
    let report = played.report()?;
    let Played { run, finished } = &mut played;
    run.linger(finished.interrupted);
    if playing.report && !playing.json {
        out_line!("");
    }
    if playing.report {
        print(&report, playing.json, words);
    }
    if finished.interrupted {
        print_how_to_resume(playing.json);
    }
    if finished.halted {
        err_line!("{}", ways_on(&report, &finished.plan.database));
    }
    if !finished.interrupted {
        run.keep_pages(playing.http_linger, shutdown)?;
    }
    let exit = exit(&report, finished);
    played.run.finish();
    Ok(exit)
}

/// How an event ended, as an exit code.
fn exit(report: &Report, finished: &Finished) -> Exit {
    match (&report.sprt, verdict(report)) {
        (_, Some(Verdict::H1)) => Exit::H1,
        (_, Some(Verdict::H0)) => Exit::H0,
        _ if finished.interrupted => Exit::Stopped,
        (Some(test), _) if finished.halted || test.verdict.as_deref() == Some(BY_FAULTS) => Exit::ByFaults,
        _ if finished.halted => Exit::Halted,
        _ => Exit::Done,
    }
}

/// Why a halted event cannot be played to its end, and what to do about it.
pub(crate) fn ways_on(report: &Report, database: &Path) -> String {
    let mut lines = vec![format!("`{}` is halted and not complete:", printable(report.event.as_bytes()))];
    for halted in &report.halted {
        lines.push(format!("  engine `{}`: {}", printable(halted.name.as_bytes()), halted.reason));
    }
    let [database, event] = [&*database.to_string_lossy(), report.event.as_str()].map(programs::quoted);
    lines.push(format!(
        "if the engine was not at fault itself: `renmei rerun {database} --event {event} --faults` has its lost games played \
         again, by the same command or by the hall\neither mend the engine and begin anew with `--fresh`, or go on by the \
         same command with a higher limit: `--fault-limit 20`, `--fault-limit off`, or `fault_limit` in `[event]`"
    ));
    lines.join("\n")
}

/// Prints the command that resumes the event: the one that was typed.
pub(crate) fn print_how_to_resume(json: bool) {
    // Once more from the beginning is not what resumes.
    let words = std::env::args_os().filter(|word| word != "--fresh");
    let words = words.map(|word| programs::quoted(&word.to_string_lossy())).collect::<Vec<_>>();
    let line = format!("to resume: {}", words.join(" "));
    if json { err_line!("{line}") } else { out_line!("\n{line}") }
}
