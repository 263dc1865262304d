//! The main loop: reads lines, keeps the state of the session, and hands jobs to the engine's thread.

use std::io::{self, BufRead, BufReader, IsTerminal, Read, Write};
use std::mem;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use rsshogi::types::Color;

use crate::engine::{BestMove, Engine, GameResult, NotReady, Search};
use crate::game::Game;
use crate::limits::{Clock, Limits};
use crate::options::{NETWORK_DELAY, OptionSpec, Options, TIME_POLICY};
use crate::output::Output;
use crate::policy::{Seen, TimePolicy};

/// Grace period for an engine to return from a search stopped by `quit`.
pub const QUIT_PATIENCE: Duration = Duration::from_secs(1);

/// A fault that ends the shell.
#[derive(Debug, thiserror::Error)]
pub enum ShellError {
    /// [`Engine::ready`] failed.
    #[error("engine not ready: {0}")]
    NotReady(NotReady),
    /// A method of the engine panicked.
    #[error("engine panicked")]
    Panicked,
}

/// Runs `engine` on stdin and stdout until `quit` or the end of stdin: the body of an engine's `main`.
pub fn run(engine: impl Engine) -> ExitCode {
    if io::stdin().is_terminal() {
        eprintln!("{} waits for USI on its standard input: `usi`, ..., `quit`", engine.name());
    }
    match serve(engine, io::stdin(), io::stdout()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs `engine` on any pair of streams until `quit` or the end of `input`.
///
/// # Errors
/// When the engine fails to get ready or panics. The error is also printed as an `info string`.
pub fn serve(
    engine: impl Engine,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
) -> Result<(), ShellError> {
    let (events, inbox) = mpsc::channel();
    let (jobs, orders) = mpsc::channel();
    let out = Output::new(output);
    let own = [OptionSpec::spin(NETWORK_DELAY, 50, 0..=10_000), OptionSpec::string(TIME_POLICY, "")];
    let options = Options::declare(engine.options().into_iter().chain(own));
    let identity = [format!("id name {}", engine.name()), format!("id author {}", engine.author())];
    let lines = events.clone();
    thread::spawn(move || read_lines(input, &lines));
    let engine_out = out.clone();
    thread::spawn(move || work(engine, &orders, EndNotice(events), &engine_out));
    let game = Some(Game::startpos());
    let options = Arc::new(options);
    let (policy, search, deferred) = (TimePolicy::default(), None, Vec::new());
    let mut shell = Shell { identity, out, options, policy, jobs, game, search, deferred, ready: false };
    let outcome = shell.listen(&inbox);
    shell.shut_down(&inbox);
    outcome
}

enum Event {
    Line { at: Instant, text: String },
    Eof,
    Answer(String),
    Failed(NotReady),
    WorkerGone,
}

enum Job {
    SetOption(String, Arc<Options>),
    Ready { options: Arc<Options>, announce: bool },
    NewGame,
    Think(Box<Game>, Search),
    GameOver(GameResult),
}

fn read_lines(input: impl Read, events: &Sender<Event>) {
    let mut input = BufReader::new(input);
    let mut bytes = Vec::new();
    while matches!(input.read_until(b'\n', &mut bytes), Ok(1..)) {
        let at = Instant::now();
        let text = String::from_utf8_lossy(&bytes).trim().to_owned();
        if events.send(Event::Line { at, text }).is_err() {
            return;
        }
        bytes.clear();
    }
    let _ = events.send(Event::Eof);
}

/// Reports the end of the worker thread on drop, so that a panic is reported too.
struct EndNotice(Sender<Event>);

impl Drop for EndNotice {
    fn drop(&mut self) {
        let _ = self.0.send(Event::WorkerGone);
    }
}

/// The policy of the option `TimePolicy`.
fn time_policy(options: &Options) -> Result<TimePolicy, NotReady> {
    options.text(TIME_POLICY).parse().map_err(|fault| format!("option `{TIME_POLICY}`: {fault}").into())
}

fn ready(engine: &mut impl Engine, options: &Options, out: &Output) -> Result<(), NotReady> {
    time_policy(options)?;
    engine.ready(options, out)
}

fn work(mut engine: impl Engine, orders: &Receiver<Job>, notice: EndNotice, out: &Output) {
    for job in orders {
        match job {
            Job::SetOption(name, options) => engine.set_option(&name, &options),
            Job::NewGame => engine.new_game(),
            Job::GameOver(result) => engine.game_over(result),
            Job::Ready { options, announce } => match ready(&mut engine, &options, out) {
                Ok(()) if announce => out.line("readyok"),
                Ok(()) => {}
                Err(reason) => {
                    let _ = notice.0.send(Event::Failed(reason));
                    return;
                }
            },
            Job::Think(game, search) => {
                let answer = match search.limits.mate {
                    Some(_) => engine.solve_mate(&game, &search, out).to_string(),
                    None => engine.think(&game, &search, out).to_string(),
                };
                let _ = notice.0.send(Event::Answer(answer));
            }
        }
    }
    // The engine must be dropped before `WorkerGone` is sent: the shell may end the process on receiving it.
    drop(engine);
}

struct Shell {
    identity: [String; 2],
    out: Output,
    options: Arc<Options>,
    /// The value of the option `TimePolicy`.
    policy: TimePolicy,
    jobs: Sender<Job>,
    /// `None` after a `position` line that could not be followed.
    game: Option<Game>,
    search: Option<Running>,
    /// Lines received between `stop` and the answer, starting with the first one that requires an idle engine.
    deferred: Vec<(Instant, String)>,
    /// True if [`Engine::ready`] was ordered.
    ready: bool,
}

/// A search whose answer has not been printed.
struct Running {
    limits: Limits,
    clock: Clock,
    mover: Color,
    ply: u32,
    seen: Seen,
    /// True if the answer must wait for `stop` or `ponderhit`.
    withheld: bool,
    stopped: bool,
    answer: Option<String>,
}

impl Running {
    fn release(&mut self) {
        self.withheld = false;
        self.stopped = true;
        self.clock.stop();
    }
}

impl Shell {
    fn listen(&mut self, inbox: &Receiver<Event>) -> Result<(), ShellError> {
        for event in inbox {
            match event {
                Event::Line { text, .. } if text == "quit" => break,
                Event::Line { at, text } => self.process(at, &text),
                Event::Eof => break,
                Event::Answer(answer) => self.answered(answer),
                Event::Failed(reason) => {
                    let error = ShellError::NotReady(reason);
                    self.out.say(&error);
                    return Err(error);
                }
                Event::WorkerGone => {
                    self.out.say(ShellError::Panicked);
                    return Err(ShellError::Panicked);
                }
            }
        }
        Ok(())
    }

    /// Stops the search and waits at most [`QUIT_PATIENCE`] for the engine to be dropped.
    fn shut_down(self, inbox: &Receiver<Event>) {
        if let Some(search) = &self.search {
            search.clock.stop();
        }
        drop(self.jobs);
        let patience = Instant::now() + QUIT_PATIENCE;
        while let Ok(event) = inbox.recv_timeout(patience.saturating_duration_since(Instant::now())) {
            if matches!(event, Event::WorkerGone) {
                break;
            }
        }
    }

    fn process(&mut self, at: Instant, line: &str) {
        let command = line.split_ascii_whitespace().next().unwrap_or_default();
        // A `stop` after a deferred `go` belongs to that search, so lines are processed in order.
        if !self.deferred.is_empty() && command != "isready" {
            self.deferred.push((at, line.to_owned()));
            return;
        }
        match command {
            "usi" => self.introduce(),
            "isready" if self.search.is_some() => self.out.line("readyok"),
            "isready" => self.get_ready(true),
            "stop" => self.stop(),
            "ponderhit" => self.ponderhit(at, line),
            "gameover" => self.game_over(line),
            "setoption" | "usinewgame" | "position" | "go" => self.process_idle(at, command, line),
            _ => {}
        }
    }

    fn process_idle(&mut self, at: Instant, command: &str, line: &str) {
        match &self.search {
            Some(search) if search.stopped => {
                self.deferred.push((at, line.to_owned()));
                return;
            }
            Some(_) => {
                self.out.say(format_args!("`{command}` refused: a search is running"));
                return;
            }
            None => {}
        }
        match command {
            "setoption" => self.set_option(line),
            "usinewgame" => {
                self.out.forget();
                self.order(Job::NewGame);
            }
            "position" => self.set_position(line),
            _ => self.go(at, line),
        }
    }

    fn introduce(&self) {
        self.identity.iter().for_each(|line| self.out.line(line));
        self.options.specs().for_each(|spec| self.out.line(spec));
        self.out.line("usiok");
    }

    fn get_ready(&mut self, announce: bool) {
        self.ready = true;
        self.order(Job::Ready { options: Arc::clone(&self.options), announce });
    }

    fn set_option(&mut self, line: &str) {
        match Arc::make_mut(&mut self.options).apply(line) {
            Ok(Some(name)) if name == TIME_POLICY => match time_policy(&self.options) {
                Ok(policy) => self.policy = policy,
                // `isready` refuses it: nobody is to play with another policy than the one that was asked for.
                Err(fault) => self.out.say(fault),
            },
            Ok(Some(name)) => self.order(Job::SetOption(name, Arc::clone(&self.options))),
            Ok(None) => {}
            Err(fault) => self.out.say(fault),
        }
    }

    fn set_position(&mut self, line: &str) {
        self.game = Game::parse(line).map_err(|fault| self.out.say(fault)).ok();
    }

    fn go(&mut self, at: Instant, line: &str) {
        let Some(game) = self.game.clone() else {
            self.out.say("no position to search");
            self.out.line(BestMove::Resign);
            return;
        };
        if !self.ready {
            self.get_ready(false);
        }
        let limits = Limits::parse(line);
        let (mover, ply, seen) = (game.position().turn(), game.ply(), self.seen(&game));
        let budget = match limits.ponder {
            true => None,
            false => limits.budget(&self.policy, mover, ply, seen, self.delay()),
        };
        let clock = Clock::start(at, budget);
        let withheld = limits.infinite || limits.ponder;
        let search =
            Search { limits: limits.clone(), clock: clock.clone(), options: Arc::clone(&self.options) };
        let (stopped, answer) = (false, None);
        self.search = Some(Running { limits, clock, mover, ply, seen, withheld, stopped, answer });
        self.order(Job::Think(Box::new(game), search));
    }

    /// What the last search knew of the position that is searched now.
    fn seen(&self, game: &Game) -> Seen {
        let last = self.out.reported();
        let played = game.moves().last_chunk::<2>().map(|moves| moves.map(|mv| mv.to_move()));
        Seen { score: last.score, expected: played.is_some() && played == last.line }
    }

    fn delay(&self) -> Duration {
        Duration::from_millis(self.options.spin(NETWORK_DELAY).unsigned_abs())
    }

    fn stop(&mut self) {
        if let Some(search) = &mut self.search {
            search.release();
        }
        self.print_answer();
    }

    fn ponderhit(&mut self, at: Instant, line: &str) {
        let delay = self.delay();
        if let Some(search) = self.search.as_mut().filter(|search| search.limits.ponder) {
            search.limits.refresh_times(&Limits::parse(line));
            let (mover, ply, seen) = (search.mover, search.ply, search.seen);
            search.clock.allow(at, search.limits.budget(&self.policy, mover, ply, seen, delay));
            search.limits.ponder = false;
            search.withheld = search.limits.infinite;
        }
        self.print_answer();
    }

    fn game_over(&mut self, line: &str) {
        self.stop();
        let result = match line.split_ascii_whitespace().nth(1) {
            Some("win") => GameResult::Win,
            Some("lose") => GameResult::Lose,
            Some("draw") => GameResult::Draw,
            _ => GameResult::Unknown,
        };
        self.order(Job::GameOver(result));
    }

    fn answered(&mut self, answer: String) {
        if let Some(search) = &mut self.search {
            search.answer = Some(answer);
        }
        self.print_answer();
    }

    /// Prints the answer if there is one and it is not withheld, then processes the deferred lines.
    fn print_answer(&mut self) {
        let due = |search: &mut Running| !search.withheld && search.answer.is_some();
        let Some(answer) = self.search.take_if(due).and_then(|search| search.answer) else { return };
        self.out.line(answer);
        for (at, line) in mem::take(&mut self.deferred) {
            self.process(at, &line);
        }
    }

    fn order(&self, job: Job) {
        // If the worker has ended, `WorkerGone` is already in the queue of `listen`.
        let _ = self.jobs.send(job);
    }
}
