//! `renmei floodgate`: an engine on a server.

use super::{
    Exit, Failure, OpenScreen, Screen, Showing, disk,
    ordered_lines::OrderedLines,
    pages,
    play::{Linger, check_log},
};
use crate::{
    cli::{FloodgateArgs, Picture, ReportArgs},
    signals,
};
use arena::Say;
use arena::Shutdown;
use arena::{dispatcher::RunError, preflight};
use client::{
    self, Audience, Client, Finish, GameLines, KIND,
    ratings::{Ratings, scale},
};
use journal::{Reader, Store};
use notation::{date, record::Format as RecordFormat};
use notify::{Notifier, Subject};
use plan::{
    StoredPlan,
    client::{ClientConfig, RecordFiles},
};
use referee::{
    entry::{Entry, GameId},
    rating::LookUp,
};
use std::{
    fs,
    io::{self, Write},
    path::Path,
    sync::Arc,
};

/// Plays until the configured number of games is played or a signal arrives: the first SIGINT lets the game end, the
/// second, or SIGTERM, resigns it.
///
/// # Errors
/// When the configuration is wrong or the database fails.
pub fn floodgate(args: &FloodgateArgs, open_screen: OpenScreen) -> Result<Exit, Failure> {
    let mut config = ClientConfig::load(&args.file).map_err(Failure::Config)?;
    if let Some(db) = &args.db {
        config.database.clone_from(db);
    }
    if let Some(log) = &args.log {
        config.log.clone_from(log);
    }
    if let Some(games) = args.games {
        config.games = Some(games);
    }
    config.reserve_mb = args.reserve_mb.unwrap_or(config.reserve_mb);
    if let Some(command) = &args.notify {
        config.notify.command = Some(command.clone());
    }
    let begun = begun(&config)?;
    if begun.as_ref().is_some_and(|begun| config.engine.keep_defaults_of(begun)) {
        err_line!("the engine runs in the current directory, as when `{}` was begun", config.name);
    }
    for line in config.engine.misplaced(&[&std::env::current_dir().unwrap_or_default()]) {
        err_line!("{line}");
    }
    check_log(&config.log)?;
    config.look &= !args.no_look;
    if config.look {
        look(&config, begun.is_some())?;
    }
    let report = ReportArgs {
        db: config.database.clone(),
        event: Some(config.name.clone()),
        list: false,
        json: args.json,
        html: None,
        plot: None,
        of: Picture::Elo,
    };
    let other = |e: io::Error| Failure::Other(e.to_string());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(other)?;
    let identified = runtime.block_on(client::identify(&config, &|line: &str| err_line!("{line}")));
    let engine = identified.map_err(Failure::Usage)?;
    let shutdown = Shutdown::default();
    let ratings = Ratings::new(config.ratings.clone());
    let wanted = !(args.no_dashboard || args.json);
    let screen = if wanted { open_screen(showing(&config, &ratings))? } else { None };
    // Declared before what prints, so that it is dropped last.
    let ordered = screen.is_none().then(OrderedLines::default);
    let (mut audience, linger) = audience(screen, ordered.as_ref());
    let pages = pages::open(&config.http, &args.http, &config.database, &config.name, None, None)?;
    if let Some(pages) = &pages {
        pages::lines(pages).iter().for_each(|line| (audience.say)(line));
        audience.readers.push(pages.reader());
    }
    let notifier = Notifier::open(&config.notify, subject(&config), audience.say.clone())?;
    audience.readers.extend(notifier.as_ref().map(Notifier::reader));
    let say = audience.say.clone();
    audience.readers.extend(config.records.clone().map(|files| record_files(files, &config, say)));
    let say = audience.say.clone();
    let finishing =
        move || say("no new game begins; a running game is finished, and a second signal resigns it");
    signals::listen(shutdown.clone(), finishing).map_err(other)?;
    let ClientConfig { host, port, login, .. } = &config;
    (audience.say)(&format!("{} on {host}:{port} as {}", login.game, login.name));
    let places =
        [Some(config.database.clone()), config.records.as_ref().map(|files| files.directory.clone())];
    let (places, reserve) = (places.into_iter().flatten().collect(), config.reserve_mb);
    let say = audience.say.clone();
    let client = Client::open(config, &shutdown, ratings, audience, engine)?;
    let (disk, _watching) = disk::watched(places, reserve, &say, notifier.as_ref())?;
    let client = client.watching(disk);
    ordered.iter().for_each(|lines| lines.follow(client.appended()));
    let finish = runtime.block_on(client.play(shutdown.clone()))?;
    if let Some(notifier) = notifier {
        if matches!(finish, Finish::Complete) {
            notifier.tell_end();
        }
        notifier.finish();
    }
    drop(ordered);
    if let Some(linger) = linger.filter(|_| !shutdown.is_finishing()) {
        linger();
    }
    super::report(&report)?;
    match finish {
        Finish::Complete => Ok(Exit::Done),
        Finish::Short { unplayed } => {
            err_line!("stopped before the end: {unplayed} of the games asked for are unplayed");
            Ok(Exit::Stopped)
        }
        Finish::Engine { was_ready, why } => {
            err_line!("the engine is given up: {why}");
            Ok(if was_ready { Exit::Failed } else { Exit::Wrong })
        }
    }
}

/// The games on a server, for notices.
fn subject(config: &ClientConfig) -> Subject {
    let stages = StoredPlan::of_client(config, config.ratings.clone()).stages;
    Subject { database: config.database.clone(), name: config.name.clone(), stages, fault_limits: vec![] }
}

/// What the dashboard needs to know about games on a server.
fn showing(config: &ClientConfig, ratings: &Ratings) -> Showing {
    let (us, known) = (config.login.name.clone(), ratings.clone());
    let look_up: LookUp =
        Box::new(move |standings, players| scale(&us, players, standings, |name| known.of(name)));
    Showing {
        name: config.name.clone(),
        database: config.database.clone(),
        plan: StoredPlan::of_client(config, config.ratings.clone()),
        scale: Some(look_up),
        boards: None,
    }
}

/// The views of the event: the dashboard, or lines on stderr without one.
fn audience(screen: Option<Screen>, ordered: Option<&OrderedLines>) -> (Audience, Option<Linger>) {
    let mut lines = GameLines::default();
    let Some(Screen { feed, mut game_lines, say, linger, .. }) = screen else {
        let printer = ordered.map(OrderedLines::printer).unwrap_or_default();
        let saying = printer.clone();
        let reader = Reader::new("lines", move |batch| {
            for stamped in batch.iter() {
                printer.entry(stamped.at, lines.line(stamped).as_deref());
            }
        });
        return (Audience { readers: vec![reader], say: Arc::new(move |line: &str| saying.say(line)) }, None);
    };
    let reader = Reader::new("lines", move |batch| {
        for line in batch.iter().filter_map(|stamped| lines.line(stamped)) {
            let _reader_gone = writeln!(game_lines, "{line}");
        }
    });
    (Audience { readers: vec![reader, Reader::new("dashboard", feed)], say }, Some(linger))
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

fn write_record(files: &RecordFiles, db: &Path, event: &str, game: GameId) -> Result<(), String> {
    let told = |error: journal::StoreError| error.to_string();
    let store = Store::read(db).map_err(told)?;
    let id = records::event(&store, Some(event), db).map_err(|error| error.to_string())?.id;
    let name = store.game_name(id, game).map_err(told)?.unwrap_or_default();
    let row = store.game(id, game).map_err(told)?.ok_or("it is not in the database")?.row;
    let date = date::digits(row.started_at.unwrap_or_default());
    let number = game.0.to_string();
    let output = files.path(&[&number, &name, &row.black, &row.white, &date[..8]]);
    if let Some(directory) = output.parent() {
        fs::create_dir_all(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    }
    let (db, event, game) = (db.to_owned(), Some(event.to_owned()), vec![number]);
    let export = records::Export {
        db,
        event,
        game,
        all: true,
        format: RecordFormat::Csa,
        output,
        access: files::Access::Private,
    };
    records::export(&export).map(drop).map_err(|error| error.to_string())
}

/// Has the engine make a move before the server sees it. In an event that was begun before, a fault is only shown: a
/// service that starts again by itself, perhaps before the engine's disk or GPU is there, tries until it is.
fn look(config: &ClientConfig, begun: bool) -> Result<(), Failure> {
    let say: Say = Arc::new(|line: &str| err_line!("{line}"));
    let found = preflight::look_at(&config.engine, &say).map_err(|e| Failure::Other(e.to_string()))?;
    match found {
        Ok(options) => options.iter().for_each(|fault| say(&client::warning(fault))),
        Err(fault) if begun => say(&fault),
        Err(fault) => return Err(RunError::Engines(vec![fault]).into()),
    }
    Ok(())
}

/// The plan that the event was begun with, if it goes on; refuses to resume an event of another kind.
fn begun(config: &ClientConfig) -> Result<Option<StoredPlan>, Failure> {
    let events = Store::read(&config.database).and_then(|store| store.events()).unwrap_or_default();
    match events.iter().find(|event| event.name == config.name) {
        Some(event) if event.kind != KIND => Err(Failure::Usage(format!(
            "`{}` in this database is a `{}` event; give this one another `floodgate.name`",
            event.name, event.kind
        ))),
        event => Ok(event.and_then(|event| StoredPlan::from_json(&event.plan).ok())),
    }
}
