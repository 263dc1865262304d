//! An engine on somebody else's server.

use crate::{
    EventRun, Exit, Failure,
    ordered_lines::OrderedLines,
    prepare::check_log,
    runner::{EventRunner, Now},
    runtime,
};
use arena::{Say, dispatcher::RunError, preflight};
use client::{
    self, Audience, Client, Finish, GameLines, KIND,
    presence::Presence,
    ratings::{Ratings, scale},
};
use contest::standings::LookUp;
use journal::{Reader, Store};
use notation::{date, record::Format as RecordFormat};
use plan::client::{ClientConfig, RecordFiles};
use referee::entry::{Entry, GameId, Stamped};
use std::{
    fs,
    io::{self, Write},
    mem,
    path::{Path, PathBuf},
    sync::Arc,
};
use words::Language;

impl EventRunner<'_> {
    /// Plays on a server until enough games are played, until it is stopped, or until the engine is given up.
    pub fn seat(mut self, config: ClientConfig) -> Result<(EventRun, Finish), Failure> {
        let Self { venue, shutdown, .. } = self;
        let say = self.say.clone();
        let begun = is_begun(&config)?;
        let here = std::env::current_dir().unwrap_or_default();
        config.engine.misplaced(&[&here]).iter().for_each(|line| say(line));
        check_log(&config.log)?;
        if config.look {
            look(&config, begun, &say)?;
        }
        let runtime = runtime()?;
        let engine = runtime.block_on(client::identify(&config, &|line: &str| say(line)))?;
        let (ratings, presence) = (Ratings::new(config.ratings.clone()), Presence::default());
        let language = self.screen.map_or(Language::English, |screen| screen.language);
        let scale = look_up(&config, &ratings, language);
        let mut run = self.surround(config.clone().into(), Some(scale), None)?;
        // Declared before what prints, so that it is dropped last.
        let ordered = print_games(&mut run, self.playing.quiet);
        run.publish(&self.pages, None, None)?;
        let finishing = "no new game begins; a running game is finished, and a second signal resigns it";
        venue.listen(&run.say, Some(finishing))?;
        venue.begun(Some(Now::Seat { presence: presence.clone(), ratings: ratings.clone() }), None);
        if let Some(files) = config.records.clone() {
            run.readers.push(record_files(files, &config, run.say.clone()));
        }
        let ClientConfig { host, port, login, .. } = &config;
        (run.say)(&format!("{} on {host}:{port} as {}", login.game, login.name));
        let audience = Audience { readers: mem::take(&mut run.readers), say: run.say.clone(), presence };
        let mut client = Client::open(config, shutdown, ratings, audience, engine)?;
        client.disk = run.watch_disk()?;
        ordered.iter().for_each(|lines| lines.follow(client.appended()));
        let finish = runtime.block_on(client.play(shutdown.clone()))?;
        if let Some(notifier) = run.notifier.as_ref().filter(|_| matches!(finish, Finish::Complete)) {
            notifier.tell_end();
        }
        run.close();
        drop(ordered);
        Ok((run, finish))
    }
}

/// How playing on a server ended, as an exit code.
pub(crate) fn exit_of(finish: Finish) -> Exit {
    match finish {
        Finish::Complete => Exit::Done,
        Finish::Short { unplayed } => {
            err_line!("stopped before the end: {unplayed} of the games asked for are unplayed");
            Exit::Stopped
        }
        Finish::Engine { was_ready, why } => {
            err_line!("the engine is given up: {why}");
            if was_ready { Exit::Failed } else { Exit::Wrong }
        }
    }
}

/// The ratings of opponents, on the server's scale.
fn look_up(config: &ClientConfig, ratings: &Ratings, words: Language) -> LookUp {
    let (us, known) = (config.login.name.clone(), ratings.clone());
    Box::new(move |standings, players| scale(&us, players, standings, words, |name| known.of(name)))
}

/// Prints a line for each game where the venue has a place for it; elsewhere in order with all other lines on stderr.
fn print_games(run: &mut EventRun, quiet: bool) -> Option<OrderedLines> {
    let mut lines = GameLines::default();
    if let Some(mut to) = run.game_lines.take() {
        let read = move |batch: &Arc<[Stamped]>| {
            for line in batch.iter().filter(|_| !quiet).filter_map(|stamped| lines.line(stamped)) {
                let _reader_gone = to.write_all(format!("{line}\n").as_bytes());
            }
        };
        run.readers.push(Reader::new("lines", read));
        return None;
    }
    let ordered = OrderedLines::default();
    let (printer, saying) = (ordered.printer(), ordered.printer());
    run.say = Arc::new(move |line: &str| saying.say(line));
    run.readers.push(Reader::new("lines", move |batch| {
        for stamped in batch.iter() {
            printer.entry(stamped.at, lines.line(stamped).as_deref());
        }
    }));
    Some(ordered)
}

/// Writes the record of each game that was begun, once its end is in the database.
fn record_files(files: RecordFiles, config: &ClientConfig, say: Say) -> Reader {
    let (db, event) = (config.database.clone(), config.name.clone());
    Reader::new("records", move |batch| {
        for stamped in batch.iter() {
            if let Entry::GameEnded(end) = &stamped.entry
                && end.plies > 0
                && let Err(why) = write_record(&files, &db, &event, end.game)
            {
                say(&format!("the record of game {} could not be written: {why}", end.game.0));
            }
        }
    })
}

fn write_record(files: &RecordFiles, db: &Path, event: &str, game: GameId) -> Result<(), Failure> {
    let store = Store::read(db)?;
    let missing = || Failure::Other("it is not in the database".to_owned());
    let id = store.event_named(event)?.ok_or_else(missing)?;
    let name = store.game_name(id, game)?.unwrap_or_default();
    let row = store.game(id, game)?.ok_or_else(missing)?.row;
    let date = date::digits(row.started_at.unwrap_or_default());
    let number = game.0.to_string();
    let path = files.path(&[&number, &name, &row.black, &row.white, &date[..8]]);
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)
            .map_err(|error| Failure::Other(format!("{}: {error}", directory.display())))?;
    }
    for extension in &files.formats {
        let output = own_file(&path, extension)
            .map_err(|error| Failure::Other(format!("{}.{extension}: {error}", path.display())))?;
        let export = records::Export {
            db: db.to_owned(),
            event: Some(event.to_owned()),
            game: vec![number.clone()],
            all: true,
            format: RecordFormat::from_extension(extension).unwrap_or(RecordFormat::Csa),
            output,
            access: platform::files::Access::Private,
        };
        records::export(&export)?;
    }
    Ok(())
}

/// Makes the first file of `PATH.EXTENSION`, `PATH-2.EXTENSION` and so on that is not there: the other side of a game may be a
/// client that writes into the same directory.
fn own_file(path: &Path, extension: &str) -> io::Result<PathBuf> {
    let mut number = 1_u64;
    loop {
        // A Game_ID may contain dots.
        let number_of = if number == 1 { String::new() } else { format!("-{number}") };
        let file = platform::files::beside(path, &format!("{number_of}.{extension}"));
        match platform::files::create_new(&file) {
            Ok(_) => return Ok(file),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Has the engine make a move before the server sees it. In an event that was begun before, a fault is only shown: a
/// service that starts again by itself, perhaps before the engine's disk or GPU is there, tries until it is.
fn look(config: &ClientConfig, begun: bool, say: &Say) -> Result<(), Failure> {
    let found = preflight::look_at(&config.engine, say).map_err(|e| Failure::Other(e.to_string()))?;
    match found {
        Ok(options) => options.iter().for_each(|fault| say(&client::warning(fault))),
        Err(fault) if begun => say(&fault.to_string()),
        Err(fault) => return Err(RunError::Engines(vec![fault.to_string()]).into()),
    }
    Ok(())
}

/// True if the event goes on; refuses to resume an event of another kind.
fn is_begun(config: &ClientConfig) -> Result<bool, Failure> {
    let events = Store::read(&config.database).and_then(|store| store.events()).unwrap_or_default();
    match events.iter().find(|event| event.name == config.name) {
        Some(event) if event.kind != KIND => Err(Failure::Usage(format!(
            "`{}` in this database is a `{}` event; give this one another `floodgate.name`",
            event.name, event.kind
        ))),
        event => Ok(event.is_some()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_clients_that_write_into_one_directory_do_not_overwrite_each_other() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("floodgate-600-10F+a+b+20261121");
        let names: Vec<_> = ["csa", "csa", "kifu"]
            .iter()
            .map(|extension| own_file(&path, extension).unwrap().file_name().unwrap().to_owned())
            .collect();
        assert_eq!(
            names,
            [
                "floodgate-600-10F+a+b+20261121.csa",
                "floodgate-600-10F+a+b+20261121-2.csa",
                "floodgate-600-10F+a+b+20261121.kifu"
            ]
        );
    }
}
