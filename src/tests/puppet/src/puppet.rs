//! The main loop: one thread, one line at a time.

use std::io::{self, BufRead, StdinLock, StdoutLock, Write};
use std::process::{abort, exit};
use std::time::Duration;
use std::{fs, thread};

use rsshogi::board::MoveList;
use rsshogi::movegen::generate_legal_all;
use usi_shell::{BestMove, Game, SplitMix64};

use crate::hoard;
use crate::illegal::Illegal;
use crate::instant::Instant;
use crate::mode::Mode;
use crate::process;
use crate::settings::Settings;

/// The engine and its state.
pub struct Puppet {
    settings: Settings,
    stdin: StdinLock<'static>,
    stdout: StdoutLock<'static>,
    instant: Option<Instant>,
    rng: SplitMix64,
    /// `None` after a `position` line that was refused.
    game: Option<Game>,
    /// Number of `usinewgame` lines received.
    games: u64,
    /// True if the answer is withheld until `stop` or `ponderhit`.
    pondering: bool,
    /// True if every line except `quit` is ignored.
    silent: bool,
    /// True if the child of `grandchild` or `zombie` was started.
    has_child: bool,
    /// The time of the last `go movetime`; zero after another `go`.
    movetime: Duration,
    /// Memory allocated by the mode `memory`.
    allocated: Vec<u8>,
}

impl Puppet {
    /// An engine before its first line.
    pub fn new(settings: Settings) -> Self {
        let mut puppet = Self {
            rng: SplitMix64::new(settings.seed()),
            settings,
            stdin: io::stdin().lock(),
            stdout: io::stdout().lock(),
            instant: None,
            game: Some(Game::startpos()),
            games: 0,
            pondering: false,
            silent: false,
            has_child: false,
            movetime: Duration::ZERO,
            allocated: Vec::new(),
        };
        puppet.apply_mode();
        puppet
    }

    /// Runs until `quit` or the end of stdin.
    pub fn run(mut self) {
        let mut line = Vec::with_capacity(4096);
        loop {
            line.clear();
            match self.stdin.read_until(b'\n', &mut line) {
                Ok(1..) if self.answer_instantly(&line) => {}
                Ok(1..) if line.trim_ascii() != b"quit" => self.handle(&String::from_utf8_lossy(&line)),
                _ if self.settings.mode() != Mode::IgnoreQuit => return,
                Ok(1..) => {}
                Ok(0) | Err(_) => process::sleep_for_ever(),
            }
        }
    }

    /// The fast path of the benchmark modes, on undecoded bytes; returns `false` if `handle` must process the
    /// line.
    fn answer_instantly(&mut self, line: &[u8]) -> bool {
        let Some(instant) = &mut self.instant else { return false };
        if line.starts_with(b"position ") {
            instant.note(line);
        } else if line.starts_with(b"go") {
            if !instant.pause.is_zero() {
                thread::sleep(instant.pause);
            }
            // Stdout is line-buffered but passes these two complete lines on in one write.
            let _ = self.stdout.write_all(instant.answer());
        } else {
            return false;
        }
        true
    }

    fn handle(&mut self, line: &str) {
        if self.silent {
            return;
        }
        let mut words = line.split_ascii_whitespace();
        match words.next().unwrap_or_default() {
            "usi" => self.introduce(),
            "setoption" => self.set_option(line),
            "isready" => self.get_ready(),
            "usinewgame" => self.begin_game(),
            "position" => self.set_position(line),
            "go" if words.any(|word| word == "ponder" || word == "infinite") => self.pondering = true,
            "go" => {
                self.movetime = movetime(line);
                self.answer();
            }
            "ponderhit" if self.pondering => {
                self.pondering = false;
                self.answer();
            }
            "stop" if self.pondering => self.stop_pondering(),
            _ => {}
        }
    }

    fn introduce(&mut self) {
        let mut text = String::from("id name Renmei puppet\nid author the Renmei authors\n");
        text.extend(self.settings.declared().map(|spec| format!("{spec}\n")));
        match self.settings.mode() {
            Mode::NoUsi => return,
            Mode::SlowStart => thread::sleep(self.settings.delay()),
            _ => {}
        }
        self.put(text + "usiok\n");
    }

    fn set_option(&mut self, line: &str) {
        match self.settings.apply(line) {
            Ok(Some(name)) if name == "Seed" => self.rng = SplitMix64::new(self.settings.seed()),
            Ok(_) => self.apply_mode(),
            Err(fault) => self.put(format!("info string {fault}\n")),
        }
    }

    /// Applies the effects a mode has from its activation on.
    fn apply_mode(&mut self) {
        self.instant = Instant::of(self.settings.mode(), self.settings.pause());
        if self.settings.mode() == Mode::IgnoreQuit {
            process::block_sigterm();
        }
    }

    fn get_ready(&mut self) {
        match self.settings.mode() {
            Mode::CrashReady => abort(),
            Mode::NoReady => return,
            Mode::SlowReady => thread::sleep(self.settings.delay()),
            Mode::Busy if !self.has_child => {
                self.has_child = true;
                thread::spawn(|| process::compute(Duration::MAX));
            }
            Mode::Grandchild => self.leave_child(self.settings.delay()),
            Mode::Zombie => self.leave_child(Duration::ZERO),
            Mode::Daemon if !self.has_child => {
                self.has_child = true;
                process::leave_daemon(self.settings.delay(), self.settings.seed());
            }
            _ => {}
        }
        self.put("readyok\n");
    }

    fn leave_child(&mut self, sleep: Duration) {
        if !self.has_child {
            process::leave_child(sleep);
        }
        self.has_child = true;
    }

    fn begin_game(&mut self) {
        self.games += 1;
        if self.settings.mode() == Mode::CrashNewGame && self.settings.game_allows(self.games) {
            abort();
        }
    }

    fn set_position(&mut self, line: &str) {
        match Game::parse(line) {
            Ok(game) => self.game = Some(game),
            Err(fault) => {
                self.game = None;
                self.put(format!("info string {fault}\n"));
            }
        }
    }

    fn stop_pondering(&mut self) {
        self.pondering = false;
        if self.settings.mode() == Mode::PonderStale {
            thread::sleep(self.settings.delay());
        }
        let honest = self.honest();
        self.put(honest + "\n");
    }

    fn answer(&mut self) {
        if self.is_due() {
            self.misbehave();
        } else {
            self.play_honestly();
        }
    }

    fn is_due(&self) -> bool {
        self.game.as_ref().is_some_and(|game| {
            game.moves().len() + 1 >= self.settings.ply()
                && self.settings.color_allows(game.position().turn())
                && self.settings.game_allows(self.games)
        })
    }

    /// A correct `bestmove`, without its newline.
    fn honest(&mut self) -> String {
        let mut moves = MoveList::new();
        if let Some(game) = &self.game {
            generate_legal_all(game.position(), &mut moves);
        }
        let choice = self.rng.choose(moves.as_slice());
        choice.map_or(BestMove::Resign, |&mv| BestMove::play(mv)).to_string()
    }

    fn play_honestly(&mut self) {
        let bestmove = self.honest();
        let speed = self.settings.nps().map(|nps| {
            thread::sleep(self.movetime);
            let time = self.movetime.as_millis();
            format!(" nodes {} nps {nps} time {time}", u128::from(nps) * time / 1000)
        });
        self.put(format!("info depth 1 score cp 0{}\n{bestmove}\n", speed.unwrap_or_default()));
    }

    fn misbehave(&mut self) {
        match self.settings.mode() {
            Mode::Crash => {
                eprintln!("renmei-puppet: assertion failed");
                abort()
            }
            Mode::Exit => exit(3),
            Mode::DieAfter => {
                self.play_honestly();
                exit(0);
            }
            Mode::Hang => self.silent = true,
            Mode::Partial => {
                self.put("bestmove 7g7");
                self.silent = true;
            }
            Mode::FloodHang | Mode::Flood | Mode::LongLine => self.flood(),
            Mode::Late | Mode::LateIllegal | Mode::LateResign => self.play_late(),
            Mode::Illegal(kind) => self.play_illegally(kind),
            Mode::Misspelled => {
                let bestmove = self.honest();
                self.put(bestmove.replacen("bestmove", "bestmovefoo", 1) + "\n");
            }
            Mode::Garbage => self.put("bestmove hello\n"),
            Mode::Empty => self.put("bestmove\n"),
            Mode::NullMove => self.put("bestmove 0000\n"),
            Mode::Resign => self.put("bestmove resign\n"),
            Mode::Win => self.put("bestmove win\n"),
            Mode::DoubleMove | Mode::OutOfTurn => self.play_twice(),
            Mode::Noise => {
                let bestmove = self.honest();
                self.put(process::noise(&bestmove));
            }
            Mode::StderrFlood => {
                process::flood_stderr(self.settings.megabytes());
                self.play_honestly();
            }
            Mode::BlackView => {
                let bestmove = self.honest();
                self.put(format!("info depth 1 score cp -2500\n{bestmove}\n"));
            }
            Mode::Memory => {
                // Ones, not zeros: the kernel commits zeroed pages only when they are written.
                self.allocated.resize(self.settings.megabytes() << 20, 1);
                self.play_honestly();
            }
            Mode::Kill => {
                process::kill_others(self.settings.target());
                self.play_honestly();
            }
            Mode::Network => {
                process::connect(self.settings.target());
                self.play_honestly();
            }
            Mode::WriteFile => {
                let _written_or_not = fs::write(self.settings.target(), "the puppet was here");
                self.play_honestly();
            }
            Mode::Link => {
                process::link(self.settings.target());
                self.play_honestly();
            }
            Mode::Spin => {
                if !self.has_child {
                    process::spin(self.settings.megabytes(), self.settings.delay(), self.settings.seed());
                }
                self.has_child = true;
                self.play_honestly();
            }
            Mode::Hoard => self.hoard(),
            Mode::IgnoreStdin => process::sleep_for_ever(),
            Mode::CloseIn => {
                process::close_stdin();
                process::sleep_for_ever();
            }
            Mode::CloseOut => process::close_stdout(),
            _ => self.play_honestly(),
        }
    }

    /// Takes what it can, and waits to be ended.
    fn hoard(&mut self) -> ! {
        let (what, much) = (self.settings.target().to_owned(), self.settings.megabytes());
        if let Err(error) = hoard::take(&what, much) {
            eprintln!("renmei-puppet: not so much of {what}: {error}");
            abort();
        }
        self.put(format!("info string took {much} of {what}\n"));
        process::sleep_for_ever()
    }

    fn flood(&mut self) -> ! {
        let line = b"info depth 1 score cp 0 nodes 1 pv 7g7f\n";
        match self.settings.mode() {
            Mode::FloodHang => process::pour(&mut self.stdout, line, Duration::from_millis(1)),
            Mode::Flood => process::pour(&mut self.stdout, &line.repeat(1024), Duration::ZERO),
            _ => {
                self.put("info string ");
                process::pour(&mut self.stdout, &[b'x'; 65_536], Duration::ZERO);
            }
        }
        exit(0)
    }

    fn play_late(&mut self) {
        thread::sleep(self.settings.delay());
        match self.settings.mode() {
            Mode::LateIllegal => self.play_illegally(Illegal::NoPiece),
            Mode::LateResign => self.put("bestmove resign\n"),
            _ => self.play_honestly(),
        }
    }

    fn play_illegally(&mut self, kind: Illegal) {
        let moves = self.game.as_ref().map_or_else(Vec::new, |game| kind.moves(game.position()));
        match self.rng.choose(&moves).copied() {
            Some(mv) => self.put(format!("info depth 1 score cp 0\nbestmove {mv}\n")),
            None => self.play_honestly(),
        }
    }

    fn play_twice(&mut self) {
        let (first, second) = (self.honest(), self.honest());
        if self.settings.mode() == Mode::DoubleMove {
            self.put(format!("{first}\n{second}\n"));
        } else {
            self.put(first + "\n");
            thread::sleep(self.settings.delay());
            self.put(second + "\n");
        }
    }

    /// Writes `text` in one call. A write error is ignored: a manager that closed stdout closes stdin too.
    fn put(&mut self, text: impl AsRef<[u8]>) {
        let _ = self.stdout.write_all(text.as_ref()).and_then(|()| self.stdout.flush());
    }
}

/// The time of `go movetime`.
fn movetime(line: &str) -> Duration {
    let mut words = line.split_ascii_whitespace();
    let ms = words.find(|word| *word == "movetime").and_then(|_| words.next()?.parse().ok());
    Duration::from_millis(ms.unwrap_or(0))
}
