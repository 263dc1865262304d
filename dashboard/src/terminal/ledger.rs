//! A ledger on the terminal: this thread draws and reads keys, another one reads and rates.

use super::window::{self, Window};
use crate::{
    input,
    ledger::{
        Answer, Source, State, Work,
        ui::{Ui, Wish},
        view,
    },
    text,
};
use ratatui::crossterm::event::Event;
use std::{
    io,
    sync::mpsc::{self, Receiver, Sender},
    thread,
    time::Instant,
};

/// Why the screens of a ledger ended.
#[derive(Debug)]
pub enum LedgerEnd<E> {
    /// The reader left.
    Left,
    /// There is nothing to show.
    Nothing(E),
}

/// What the source is asked.
enum Request {
    Read,
    Player(usize),
}

/// Shows a ledger on the terminal until the reader leaves. What the source is at then goes on until the program ends.
///
/// # Errors
/// When the terminal cannot be used, or no thread started.
pub fn show_ledger<S: Source>(source: S) -> io::Result<LedgerEnd<S::Error>> {
    let (requests, asked) = mpsc::channel();
    let (answers, heard) = mpsc::channel();
    thread::Builder::new().name("ledger".to_owned()).spawn(move || work(source, &asked, &answers))?;
    let ui = Ui { palette: window::palette(), ..Ui::default() };
    let (state, began, window) = (State::default(), Instant::now(), Window::open()?);
    let mut screen = LedgerLoop { state, ui, requests, heard, open: 0, began, window };
    screen.ask(Request::Read);
    screen.run()
}

/// Answers requests until nobody asks any more.
fn work<S: Source>(mut source: S, asked: &Receiver<Request>, answers: &Sender<Answer<S::Error>>) {
    while let Ok(request) = asked.recv() {
        let answer = match request {
            Request::Read => {
                let say = |words| {
                    let _reader_left = answers.send(Answer::Says(words));
                };
                Answer::Read(source.read(&say))
            }
            Request::Player(node) => Answer::Player(source.player(node)),
        };
        if answers.send(answer).is_err() {
            return;
        }
    }
}

struct LedgerLoop<E> {
    state: State,
    ui: Ui,
    requests: Sender<Request>,
    heard: Receiver<Answer<E>>,
    /// Requests without an answer.
    open: usize,
    /// When the last request was made.
    began: Instant,
    window: Window,
}

impl<E: std::fmt::Display> LedgerLoop<E> {
    fn run(mut self) -> io::Result<LedgerEnd<E>> {
        while !self.window.is_lost() && !self.window.is_stopped() {
            self.window.obey_suspension()?;
            self.take_lines();
            while let Ok(answer) = self.heard.try_recv() {
                if let Some(why) = self.take(answer) {
                    return Ok(LedgerEnd::Nothing(why));
                }
            }
            self.draw_if_needed()?;
            if !self.window.rest() {
                return Ok(LedgerEnd::Left);
            }
            while let Some(event) = self.window.event()? {
                if self.key(&event)? {
                    return Ok(LedgerEnd::Left);
                }
            }
        }
        match self.window.is_lost() {
            true => Err(io::Error::other("a fault of the program closed it")),
            false => Ok(LedgerEnd::Left),
        }
    }

    fn ask(&mut self, request: Request) {
        let words = match request {
            Request::Read => {
                self.state.lines.clear();
                "reading".to_owned()
            }
            Request::Player(_) => "computing".to_owned(),
        };
        // The thread ends with a panic alone, whose hook has restored the terminal.
        let _panicked = self.requests.send(request);
        self.open += 1;
        (self.state.work, self.began) = (Some(Work { words, seconds: 0 }), Instant::now());
    }

    /// Takes an answer of the source; returns why there is nothing to show.
    fn take(&mut self, answer: Answer<E>) -> Option<E> {
        self.window.dirty = true;
        match answer {
            Answer::Says(words) => {
                self.state.work.iter_mut().for_each(|work| work.words = text::clean(&words));
                return None;
            }
            Answer::Read(Ok(table)) => {
                (self.state.table, self.state.details) = (Some(table), None);
                self.ui.renew();
            }
            Answer::Read(Err(why)) if self.state.table.is_none() => return Some(why),
            Answer::Read(Err(why)) => self.ui.notice = Some(text::clean(&format!("not read again: {why}"))),
            // The reader may have gone on to another player.
            Answer::Player(details) if self.ui.player != Some(details.node) => {}
            Answer::Player(details) => self.state.details = Some(details),
        }
        self.open -= 1;
        if self.open == 0 {
            self.state.work = None;
        }
        None
    }

    fn take_lines(&mut self) {
        let lines = self.window.stderr_lines();
        self.window.dirty |= !lines.is_empty();
        self.state.lines.extend(lines.iter().map(|line| text::clean(line)));
    }

    fn draw_if_needed(&mut self) -> io::Result<()> {
        if !self.window.is_due() {
            return Ok(());
        }
        self.state.work.iter_mut().for_each(|work| work.seconds = self.began.elapsed().as_secs());
        let (state, ui) = (&self.state, &self.ui);
        self.window.draw(|area, buf| view::draw(state, ui, area, buf))
    }

    /// Whether the reader leaves.
    fn key(&mut self, event: &Event) -> io::Result<bool> {
        let Event::Key(key) = event else { return Ok(false) };
        self.ui.notice = None;
        let Some(action) = input::action(*key, self.ui.writing) else {
            self.ui.help &= key.is_release();
            return Ok(false);
        };
        match self.ui.act(action, &self.state) {
            None => {}
            Some(Wish::Quit) => return Ok(true),
            Some(Wish::Suspend) => self.window.suspend()?,
            Some(Wish::Redraw) => self.window.anew()?,
            // One reading at a time.
            Some(Wish::Read) if self.state.work.is_none() => self.ask(Request::Read),
            Some(Wish::Read) => {}
            Some(Wish::Player(node)) => {
                self.state.details = None;
                self.ask(Request::Player(node));
            }
        }
        Ok(false)
    }
}
