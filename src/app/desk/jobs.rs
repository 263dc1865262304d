//! Long works of the desk, each on a thread of its own: how far each is, what came of it, and a way to stop it.

use crate::{Asked, lead};
use axum::response::{Html, Response};
use maud::{Markup, PreEscaped, html};
use parking_lot::{Condvar, Mutex};
use platform::files::{self, Access};
use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    thread,
};
use toml_edit::{Array, DocumentMut, Item, Value, value};
use web::{components::prose, layout::Page, refusals::Refusal};
use words::{Language, Message};

/// How far works give way to games.
const NICENESS: u8 = 10;
/// Where works are kept, in the directory of the desk.
const SHELF: &str = ".desk.jobs";
/// What is said of a work that ran when the desk ended.
const INTERRUPTED: &str = "the desk ended while it ran: begin it again";
/// What is said of a work that came to no end.
const PANICKED: &str = "a fault of this program ended it; the last lines of its stderr say where";
/// Works that run at once. The others wait, so that games keep their processors.
const AT_ONCE: usize = 4;
/// Questions about positions that are open at once.
const QUESTIONS: usize = 4;
/// Works that are kept to be looked at after their end.
const KEPT: usize = 50;

/// The works, oldest first.
#[derive(Default)]
pub struct Jobs {
    all: Mutex<Vec<Arc<Job>>>,
    next: AtomicU64,
    /// Where they are kept for the next start of the desk.
    directory: Option<PathBuf>,
    /// How many works run now, and the end of each.
    running: Arc<(Mutex<usize>, Condvar)>,
}

/// A work.
pub struct Job {
    number: u64,
    title: Message,
    /// What distinguishes it from another work of its title.
    terms: String,
    /// The page that it was begun on.
    back: String,
    /// True if it is a question about a position, which a board shows.
    is_question: bool,
    stopped: AtomicBool,
    course: Mutex<Course>,
}

/// What came of a work so far.
struct Course {
    /// How many parts of how many are done; nothing where nobody knows.
    done: (usize, usize),
    found: Found,
    /// The move that an arrow on the board shows.
    best: Box<dyn Fn() -> Option<String> + Send>,
    ended: Option<Result<(), String>>,
}

type Found = Box<dyn Fn(Language) -> Markup + Send>;
/// What a work is about: its title, and what distinguishes it from another one of that title.
type Subject = (Message, String);

impl Jobs {
    /// The works of a desk: those of its last starts with what they found.
    pub fn of(directory: &Path) -> Self {
        let files = fs::read_dir(directory.join(SHELF)).into_iter().flatten().flatten();
        let number = |entry: &fs::DirEntry| entry.path().file_stem()?.to_str()?.parse::<u32>().ok();
        let mut numbers: Vec<u64> = files.filter_map(|entry| number(&entry)).map(u64::from).collect();
        numbers.sort_unstable();
        let all = numbers.iter().filter_map(|number| Job::read(directory, *number).map(Arc::new)).collect();
        let next = AtomicU64::new(numbers.last().copied().unwrap_or(0));
        Self { all: Mutex::new(all), next, directory: Some(directory.to_owned()), ..Self::default() }
    }

    /// Begins a work, if none of this title and these terms runs; returns the path of its page.
    pub fn begin(
        &self,
        subject: Subject,
        back: &str,
        work: impl FnOnce(&Job) -> Result<(), String> + Send + 'static,
    ) -> String {
        self.start(&mut self.all.lock(), subject, (back, false), work).path()
    }

    /// Begins a question about a position, unless as many are open as may be; returns its number.
    pub fn ask(
        &self,
        subject: Subject,
        back: &str,
        work: impl FnOnce(&Job) -> Result<(), String> + Send + 'static,
    ) -> Result<u64, Refusal> {
        let mut all = self.all.lock();
        let open = all.iter().filter(|job| job.is_question && job.is_wanted() && !job.has_ended());
        if open.count() >= QUESTIONS {
            return Err(Refusal::conflict(|words| words.too_many_questions(QUESTIONS)));
        }
        Ok(self.start(&mut all, subject, (back, true), work).number)
    }

    /// Drops a question, if it is one.
    pub fn drop_question(&self, number: &str) {
        if let Some(job) = self.find(number).ok().filter(|job| job.is_question) {
            job.stopped.store(true, Relaxed);
        }
    }

    /// What a question has found for its board so far, and the move for an arrow.
    pub fn look_at(&self, number: &str, words: Language) -> Option<(Markup, Option<String>)> {
        let job = self.find(number).ok().filter(|job| job.is_question)?;
        let stand = job.stand(words);
        let course = job.course.lock();
        let best = (course.best)();
        let shown = html! { div data-best=[best.as_ref()] data-ended[course.ended.is_some()] {
            p.quiet role="status" { (job.title.text(words)) " · " (stand) }
            @if let Some(Err(why)) = &course.ended { pre role="alert" { (words.fault(why)) } }
            ((course.found)(words))
        } };
        Some((shown, best))
    }

    fn start(
        &self,
        all: &mut Vec<Arc<Job>>,
        (title, terms): Subject,
        (back, is_question): (&str, bool),
        work: impl FnOnce(&Job) -> Result<(), String> + Send + 'static,
    ) -> Arc<Job> {
        if let Some(running) = all
            .iter()
            .find(|job| job.title == title && job.terms == terms && job.is_wanted() && !job.has_ended())
        {
            return running.clone();
        }
        let course = Course {
            done: (0, 0),
            found: Box::new(|_| Markup::default()),
            best: Box::new(|| None),
            ended: None,
        };
        let number = self.next.fetch_add(1, Relaxed) + 1;
        let (back, stopped, course) = (back.to_owned(), AtomicBool::new(false), Mutex::new(course));
        let job = Arc::new(Job { number, title, terms, back, is_question, stopped, course });
        // A question is of interest while its board is open.
        let directory = self.directory.clone().filter(|_| !is_question);
        let (own, turns) = (job.clone(), self.running.clone());
        directory.iter().for_each(|directory| job.keep(directory));
        let run = move || {
            let (running, ends) = &*turns;
            let mut others = running.lock();
            ends.wait_while(&mut others, |running| *running >= AT_ONCE);
            *others += 1;
            drop(others);
            // Games come first.
            let _refused = platform::threads::yield_by(NICENESS);
            // A work that has a fault of its own has ended, too.
            let ended = catch_unwind(AssertUnwindSafe(|| if own.is_wanted() { work(&own) } else { Ok(()) }));
            own.course.lock().ended = Some(ended.unwrap_or_else(|_| Err(PANICKED.to_owned())));
            directory.iter().for_each(|directory| own.keep(directory));
            *running.lock() -= 1;
            ends.notify_one();
        };
        if let Err(error) = thread::Builder::new().name("job".to_owned()).spawn(run) {
            job.course.lock().ended = Some(Err(error.to_string()));
        }
        all.push(job.clone());
        let mut surplus = all.len().saturating_sub(KEPT);
        all.retain(|job| {
            let goes = surplus > 0 && job.has_ended();
            surplus -= usize::from(goes);
            let file = self.directory.as_ref().filter(|_| goes).map(|directory| job.file(directory));
            let _stays_at_worst = file.map(fs::remove_file);
            !goes
        });
        job
    }

    /// The page of the latest work of this title, and where that is.
    pub fn latest(&self, title: &Message) -> Option<(String, Message)> {
        let all = self.all.lock();
        let job = all.iter().rev().find(|job| job.title == *title)?;
        Some((job.path(), Message::of(|words| job.stand(words))))
    }

    fn find(&self, number: &str) -> Result<Arc<Job>, Refusal> {
        let found = self.all.lock().iter().find(|job| job.number.to_string() == number).cloned();
        found.ok_or_else(|| Refusal::bad(Language::no_such_job))
    }
}

impl Job {
    fn file(&self, directory: &Path) -> PathBuf {
        directory.join(SHELF).join(format!("{}.toml", self.number))
    }

    /// Keeps what is known of it for the next start of the desk. Where the disk is full it is known until then.
    fn keep(&self, directory: &Path) {
        let (course, mut kept) = (self.course.lock(), DocumentMut::new());
        let both = |of: &dyn Fn(Language) -> String| Value::from(Array::from_iter(Language::ALL.map(of)));
        kept["title"] = value(both(&|words| self.title.text(words).to_owned()));
        kept["back"] = value(&self.back);
        kept["found"] = value(both(&|words| (course.found)(words).into_string()));
        match &course.ended {
            _ if !self.is_wanted() => kept["stopped"] = value(true),
            Some(Err(why)) => kept["failed"] = value(why),
            Some(Ok(())) => {}
            None => kept["failed"] = value(INTERRUPTED),
        }
        let (below, text) = (Path::new(SHELF).join(format!("{}.toml", self.number)), kept.to_string());
        let _full = files::write_below(directory, &below, text.as_bytes(), Access::Private);
    }

    /// A work of an earlier start.
    fn read(directory: &Path, number: u64) -> Option<Self> {
        let path = directory.join(SHELF).join(format!("{number}.toml"));
        let text = String::from_utf8(files::contents(&path, files::LARGE).ok()?).ok()?;
        let kept: DocumentMut = text.parse().ok()?;
        let both = |key: &str| {
            let texts: Vec<String> = kept
                .get(key)?
                .as_array()?
                .iter()
                .filter_map(|text| text.as_str().map(str::to_owned))
                .collect();
            <[String; 2]>::try_from(texts).ok()
        };
        let (title, found) = (both("title")?, both("found")?);
        let title = Message::of(|words| words.pick(&title[0], &title[1]).clone());
        let failed = kept.get("failed").and_then(Item::as_str).map(str::to_owned);
        let found: Found = Box::new(move |words| PreEscaped(words.pick(&found[0], &found[1]).clone()));
        let ended = Some(failed.map_or(Ok(()), Err));
        let course = Course { done: (0, 0), found, best: Box::new(|| None), ended };
        let back = kept.get("back").and_then(Item::as_str)?.to_owned();
        let stopped = AtomicBool::new(kept.contains_key("stopped"));
        let (terms, is_question, course) = (String::new(), false, Mutex::new(course));
        Some(Self { number, title, terms, back, is_question, stopped, course })
    }

    /// False once it was stopped.
    pub fn is_wanted(&self) -> bool {
        !self.stopped.load(Relaxed)
    }

    /// Notes how many parts of how many are done.
    pub fn did(&self, done: usize, of: usize) {
        self.course.lock().done = (done, of);
    }

    /// What its page shows from now on.
    pub fn show(&self, found: impl Fn(Language) -> Markup + Send + 'static) {
        self.course.lock().found = Box::new(found);
    }

    /// The move that an arrow shows from now on.
    pub fn points(&self, best: impl Fn() -> Option<String> + Send + 'static) {
        self.course.lock().best = Box::new(best);
    }

    fn has_ended(&self) -> bool {
        self.course.lock().ended.is_some()
    }

    fn path(&self) -> String {
        format!("/job?number={}", self.number)
    }

    /// Where it is, in words.
    fn stand(&self, words: Language) -> String {
        let course = self.course.lock();
        let (done, of) = course.done;
        match &course.ended {
            _ if !self.is_wanted() => words.job_was_stopped().to_owned(),
            Some(Err(_)) => words.job_failed().to_owned(),
            Some(Ok(())) => words.job_is_done().to_owned(),
            None if of > 0 => words.job_runs_so_far(done, of),
            None => words.job_runs().to_owned(),
        }
    }
}

/// All works, the newest first.
pub(crate) fn list(Asked { desk, words, .. }: Asked) -> Result<Page, Refusal> {
    let jobs = desk.0.jobs.all.lock().clone();
    let runs = jobs.iter().any(|job| !job.has_ended());
    let content = html! {
        h1 { (words.jobs()) }
        @if jobs.is_empty() { p { (words.no_job_yet()) } }
        ul { @for job in jobs.iter().rev() { li {
            a href=(job.path()) { (prose(job.title.text(words))) } " " span.quiet { (job.stand(words)) }
        } } }
    };
    let page = Page::new(words.jobs(), "/jobs", content);
    Ok(if runs { page.again(2) } else { page })
}

/// One work; the page comes again by itself until it has ended.
pub(crate) fn page(Asked { desk, words, fields, .. }: Asked) -> Result<Page, Refusal> {
    let job = desk.0.jobs.find(fields.text("number"))?;
    let (title, stand) = (job.title.text(words).to_owned(), job.stand(words));
    let course = job.course.lock();
    let has_ended = course.ended.is_some();
    let content = html! {
        h1 { (prose(&title)) }
        p role=(if matches!(course.ended, Some(Err(_))) { "alert" } else { "status" }) { (stand) }
        @if let Some(Err(why)) = &course.ended { pre { (words.fault(why)) } }
        @if !has_ended && job.is_wanted() {
            form.order method="post" action="/job/stop" {
                input type="hidden" name="number" value=(job.number);
                p.buttons { button { (words.stop_job()) } }
            }
        }
        ((course.found)(words))
        p.buttons { a.button href=(job.back) { (words.back()) } a.button href="/jobs" { (words.jobs()) } }
    };
    let page = Page::new(title, "/jobs", content);
    Ok(if has_ended { page } else { page.again(1) })
}

/// What a question has found so far, for the script of its board.
pub(crate) fn look(Asked { desk, words, fields, .. }: Asked) -> Result<Html<String>, Refusal> {
    let found = desk.0.jobs.look_at(fields.text("number"), words);
    found.map(|(shown, _)| Html(shown.into_string())).ok_or_else(|| Refusal::bad(Language::no_such_job))
}

/// Stops a work.
pub(crate) fn stop(Asked { desk, fields, .. }: Asked) -> Result<Response, Refusal> {
    let job = desk.0.jobs.find(fields.text("number"))?;
    job.stopped.store(true, Relaxed);
    Ok(lead(&job.path()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn a_work_runs_once_shows_how_far_it_is_and_ends_when_it_is_stopped() {
        let jobs = Jobs::default();
        let (step, steps) = mpsc::channel::<()>();
        let (reached, reaches) = mpsc::channel();
        let title = || (Message::of(|_| "search"), "of 1".to_owned());
        let path = jobs.begin(title(), "/", move |job| {
            job.did(1, 3);
            reached.send(()).unwrap();
            while job.is_wanted() {
                steps.recv().unwrap();
            }
            reached.send(()).unwrap();
            Ok(())
        });
        reaches.recv().unwrap();
        assert_eq!(jobs.begin(title(), "/", |_| panic!("a second one")), path);
        let other = (title().0, "of 2".to_owned());
        assert_ne!(jobs.begin(other, "/", |_| Ok(())), path, "another event, or another engine");
        let job = jobs.find("1").unwrap();
        assert!(job.stand(Language::English).contains("1 of 3"), "{}", job.stand(Language::English));
        job.stopped.store(true, Relaxed);
        step.send(()).unwrap();
        reaches.recv().unwrap();
        assert_eq!(job.stand(Language::Japanese), Language::Japanese.job_was_stopped());
        assert!(jobs.find("3").is_err() && jobs.find("x").is_err());
    }

    #[test]
    fn a_work_with_a_fault_of_the_program_has_failed_and_can_be_begun_again() {
        let jobs = Jobs::default();
        let title = || (Message::of(|_| "search"), "of 1".to_owned());
        jobs.begin(title(), "/", |_| panic!("a fault"));
        let job = jobs.find("1").unwrap();
        while !job.has_ended() {
            thread::yield_now();
        }
        assert_eq!(job.stand(Language::English), Language::English.job_failed());
        assert_eq!(jobs.begin(title(), "/", |_| Ok(())), "/job?number=2");
    }

    #[test]
    fn a_work_is_known_with_what_it_found_when_the_desk_begins_again() {
        let dir = tempfile::tempdir().unwrap();
        let (reached, reaches) = mpsc::channel();
        let (_holds, held) = mpsc::channel::<()>();
        let title = |of: &str| (Message::of(|words| words.check_of("gps")), of.to_owned());
        let jobs = Jobs::of(dir.path());
        let ended = jobs.begin(title("1"), "/engines", |job| {
            job.show(|words| html! { b { (words.engines()) } });
            Ok(())
        });
        while !jobs.find("1").unwrap().has_ended() || !jobs.find("1").unwrap().file(dir.path()).exists() {
            thread::yield_now();
        }
        jobs.begin(title("2"), "/", move |_| {
            reached.send(()).unwrap();
            let _until_the_end = held.recv();
            Ok(())
        });
        reaches.recv().unwrap();
        let again = (0..).find_map(|_| {
            let again = Jobs::of(dir.path());
            let found = again.find("1").unwrap();
            (found.stand(Language::English) == Language::English.job_is_done()).then_some(again)
        });
        let again = again.unwrap();
        let first = again.find("1").unwrap();
        assert_eq!((first.path(), first.title.text(Language::Japanese)), (ended, "gps の検査"));
        assert_eq!(again.latest(&title("").0).map(|(path, _)| path), Some("/job?number=2".to_owned()));
        assert_eq!((first.course.lock().found)(Language::Japanese).into_string(), "<b>エンジン</b>");
        let second = again.find("2").unwrap();
        assert_eq!(second.stand(Language::English), Language::English.job_failed());
        assert_eq!(again.begin(title("3"), "/", |_| Ok(())), "/job?number=3");
    }

    #[test]
    fn works_beyond_a_number_wait_for_their_turn() {
        let (jobs, seen) = (Jobs::default(), Arc::new(Mutex::new((0, 0))));
        for number in 0..20 {
            let seen = seen.clone();
            jobs.begin((Message::of(move |_| number.to_string()), String::new()), "/", move |_| {
                {
                    let mut seen = seen.lock();
                    seen.0 += 1;
                    seen.1 = seen.1.max(seen.0);
                }
                thread::yield_now();
                seen.lock().0 -= 1;
                Ok(())
            });
        }
        while jobs.all.lock().iter().any(|job| !job.has_ended()) {
            thread::yield_now();
        }
        assert!((1..=AT_ONCE).contains(&seen.lock().1), "{} at once", seen.lock().1);
    }
}
