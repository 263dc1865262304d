//! The search for the commit of a repository that lost strength.
//!
//! Each commit that is played has an event of its own in the database, against the good commit, which grows as long as
//! the search asks for more of its games. The state of the search is a fold of these events, so a killed search goes on
//! with all games that were played.

use crate::{
    Exit, Failure, aloud,
    gallery::{Gallery, ListedEvent},
    play::print_how_to_resume,
    prepare::{build, faults_of, listen, look, openings},
    pretty,
    run::PagesAt,
    runner::{EventRunner, Prepared, repeats},
    standings, write_picture,
};
use arena::{Say, Shutdown, dispatcher};
use contest::standings::{Pentanomial, Standings};
use journal::Store;
use laboratory::{
    Built, Cache, LabError, NotBuilt, Surroundings,
    bisection::{Bisection, Build, Found, GOOD, Posterior},
    git::{Commit, short},
};
use plan::Plan;
use referee::{
    entry::PlayerId,
    rating::{elo_of_score, signed},
};
use report::plot::{self, Size};
use serde::Serialize;
use std::{
    collections::HashMap,
    net::SocketAddr,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

/// The players of an event of the search.
const GOOD_ONE: PlayerId = PlayerId(0);
const TRIED: PlayerId = PlayerId(1);
/// Least probability of a commit that is listed.
const WORTH_A_LINE: f64 = 0.01;

/// Time between two lines with `--quiet`.
const MINUTE: Duration = Duration::from_secs(60);

/// A loss below this share of the expected one makes wrong answers likelier than they should be.
const FAR_BELOW: f64 = 0.75;

/// What is searched for, and how far.
#[derive(Clone, Debug)]
pub struct Options {
    /// The repository: a URL, or an absolute path.
    pub repository: String,
    /// A commit before the loss, and a later one after it, as typed.
    pub ends: [String; 2],
    /// Takes each merge on the main line as one commit.
    pub first_parent: bool,
    /// Expected loss, in Elo.
    pub loss: f64,
    /// The probability at which the search ends.
    pub confidence: f64,
    /// Pairs of games before the commit to play is chosen anew.
    pub pairs: u64,
    /// Games of the whole search, at most.
    pub most_games: u64,
    /// File for a picture of the probabilities.
    pub plot: Option<PathBuf>,
    /// Addresses of the pages of all commits that are played; none: no pages.
    pub http: Vec<SocketAddr>,
    /// Prints the report as JSON on stdout.
    pub json: bool,
    /// Prints the state of the search once a minute, not after each round of games.
    pub quiet: bool,
}

/// Source of the plans of a search's games.
pub trait Plans {
    /// The games of a commit against the good one, which is the first.
    ///
    /// # Errors
    /// When the settings of the games are wrong.
    fn plan(&self, commits: [&Commit; 2], games: u64) -> Result<Plan, Failure>;

    /// What the events of a search have in common in their names. A search with other settings is another search, in the
    /// same database.
    ///
    /// # Errors
    /// When the settings of the games are wrong.
    fn mark(&self, good: &Commit) -> Result<String, Failure>;
}

/// Finds the commit that lost strength.
///
/// # Errors
/// When the good or the bad commit does not build or play, or games cannot be played.
pub fn bisect(args: &Options, plans: &dyn Plans) -> Result<Exit, Failure> {
    let shutdown = Shutdown::default();
    listen(&shutdown)?;
    let mut search = Search::open(args, plans, &shutdown)?;
    search.take_up()?;
    loop {
        let posterior = search.bisection.posterior();
        search.draw(&posterior)?;
        if let Some(found) = search.bisection.found(&posterior, args.confidence) {
            return search.report(&posterior, Some(found));
        }
        let spent = search.games() >= args.most_games;
        let next = search.bisection.next(&posterior, args.pairs).filter(|_| !spent);
        let Some(commit) = next.filter(|_| !shutdown.is_finishing()) else {
            return search.report(&posterior, None);
        };
        match search.bisection.build(commit) {
            Build::Program(number) => search.play(number)?,
            Build::Unknown | Build::Failed => search.build(commit)?,
        }
    }
}

/// A search under way.
struct Search<'a> {
    args: &'a Options,
    plans: &'a dyn Plans,
    shutdown: &'a Shutdown,
    cache: Cache,
    good: Commit,
    /// The commits after the good one, up to the bad one.
    commits: Vec<Commit>,
    /// What the events of this search have in common in their names.
    mark: String,
    bisection: Bisection,
    /// Numbers of programs by their hashes.
    programs: HashMap<String, usize>,
    /// The first commit of each program that was played, its pairs, and the evidence of these.
    played: HashMap<usize, (usize, u64, Pentanomial)>,
    /// When the state of the search was printed last.
    told: Option<Instant>,
    /// The pages of the commits that are played.
    gallery: Gallery,
    /// Keeps the build of the good commit in the cache.
    _good_build: Option<Built>,
}

impl<'a> Search<'a> {
    fn open(args: &'a Options, plans: &'a dyn Plans, shutdown: &'a Shutdown) -> Result<Self, Failure> {
        let (say, stopped) = (|line: &str| err_line!("{line}"), || shutdown.is_finishing());
        let around = Surroundings { say: &say, stopped: &stopped };
        let (cache, repository) = (Cache::here()?, &args.repository);
        let [good, bad] = args.ends.each_ref().map(|end| cache.resolve(repository, end, &around));
        let (good, bad) = (good?, bad?);
        let commits = cache.line(repository, &good.id, &bad.id, args.first_parent)?;
        err_line!("good: {good}\nbad:  {bad}\n{} commits to search", commits.len());
        let bisection = Bisection::new(commits.len(), args.loss);
        let mark = plans.mark(&good)?;
        let (programs, played) = (HashMap::new(), HashMap::new());
        let mut search = Self {
            args,
            plans,
            shutdown,
            cache,
            good,
            commits,
            mark,
            bisection,
            programs,
            played,
            told: None,
            gallery: Gallery::on(&args.http, "Bisect", None)?,
            _good_build: None,
        };
        search.prove_the_ends()?;
        Ok(search)
    }

    /// Builds the good and the bad commit, and has them play a move: without them there is nothing to search.
    fn prove_the_ends(&mut self) -> Result<(), Failure> {
        let bad = self.commits.len() - 1;
        let mut plan = self.plan(bad, 2)?;
        let mut builds = build(&mut plan, &self.cache, self.shutdown, &aloud())?;
        let longest = self.plan(bad, self.args.most_games)?;
        repeats(&longest, openings(&longest)?.len()).iter().for_each(|line| err_line!("{line}"));
        look(&Plan { look: true, ..plan })?;
        let last = builds.pop().map(|built| built.sha256).unwrap_or_default();
        let good = builds.pop();
        self.programs.insert(good.as_ref().map(|built| built.sha256.clone()).unwrap_or_default(), GOOD);
        self._good_build = good;
        self.note_program(bad, last);
        Ok(())
    }

    fn note_program(&mut self, commit: usize, sha256: String) {
        let next = self.programs.len();
        let number = *self.programs.entry(sha256).or_insert(next);
        self.bisection.set_build(commit, Build::Program(number));
    }

    /// The plan of the games of a commit against the good one.
    fn plan(&self, commit: usize, games: u64) -> Result<Plan, Failure> {
        let commit = &self.commits[commit];
        let mut plan = self.plans.plan([&self.good, commit], games)?;
        plan.name = self.event(commit);
        // Every commit has openings of its own, so that one that suits a side does not speak in every result.
        plan.seed ^= u64::from_str_radix(&commit.id[..8], 16).unwrap_or(0);
        plan.look = false;
        Ok(plan)
    }

    fn event(&self, commit: &Commit) -> String {
        format!("{} {}", self.mark, commit.id)
    }

    /// Takes up what an earlier run of this search has played.
    fn take_up(&mut self) -> Result<(), Failure> {
        let database = self.plan(0, 2)?.database;
        if !database.exists() {
            return Ok(());
        }
        let store = Store::read(&database)?;
        for event in store.events()? {
            let commit = self.commits.iter().position(|commit| self.event(commit) == event.name);
            let Some(commit) = commit.filter(|_| event.counted > 0) else { continue };
            let identities = store.identities(event.id)?;
            let hash = |known: &journal::KnownIdentity| known.identity.hash.clone();
            let Some(sha256) = identities.iter().rev().find(|known| known.player == TRIED).and_then(hash)
            else {
                continue;
            };
            self.note_program(commit, sha256);
            self.note_results(commit, &standings(&store, &event)?);
        }
        if self.bisection.games() > 0 {
            err_line!("{} of this search are in {}", self.games_words(), database.display());
        }
        Ok(())
    }

    fn note_results(&mut self, commit: usize, standings: &Standings) {
        let Build::Program(number) = self.bisection.build(commit) else { return };
        let pairs = standings.total().pentanomial(TRIED, GOOD_ONE);
        // A program has its games under the commit that was played first.
        if number != GOOD && self.played.get(&number).is_none_or(|(first, ..)| *first == commit) {
            let done = standings.total().games() / 2;
            self.played.insert(number, (commit, done, pairs));
            self.bisection.set_results(number, pairs);
            self.bisection.set_played(number, done);
        }
    }

    /// Games that were played, repeated or not.
    fn games(&self) -> u64 {
        self.played.values().map(|(_, pairs, _)| 2 * pairs).sum()
    }

    /// The games that were played, and those that are evidence where others repeat them.
    fn games_words(&self) -> String {
        let (played, distinct) = (self.games(), self.bisection.games());
        match distinct < played {
            true => format!("{played} games, {distinct} in distinct pairs"),
            false => format!("{played} games"),
        }
    }

    /// Builds a commit; one that does not build, or does not play, is left out.
    fn build(&mut self, commit: usize) -> Result<(), Failure> {
        let mut plan = self.plan(commit, 2)?;
        let mut builds = match build(&mut plan, &self.cache, self.shutdown, &aloud()) {
            Ok(builds) => builds,
            Err(NotBuilt(faults)) => {
                return self.leave_out(commit, faults.into_iter().map(|(_, _, fault)| fault).next());
            }
        };
        let Some(built) = builds.pop() else { return Ok(()) };
        if self.programs.contains_key(&built.sha256) {
            err_line!("{} builds a program that is known already", self.commits[commit]);
        } else {
            let faults = faults_of(&plan.engines[TRIED.index()])?;
            if let Some(fault) = faults.first() {
                err_line!("{} is left out: {fault}", self.commits[commit]);
                self.bisection.set_build(commit, Build::Failed);
                return Ok(());
            }
        }
        self.note_program(commit, built.sha256);
        Ok(())
    }

    fn leave_out(&mut self, commit: usize, fault: Option<LabError>) -> Result<(), Failure> {
        match fault {
            // The loop sees that it is to end.
            Some(LabError::Interrupted) => Ok(()),
            Some(fault @ LabError::Build { .. }) => {
                err_line!("{} is left out: {fault}", self.commits[commit]);
                self.bisection.set_build(commit, Build::Failed);
                Ok(())
            }
            Some(fault) => Err(fault.into()),
            None => Ok(()),
        }
    }

    /// Plays the next games of a program against the good one.
    fn play(&mut self, number: usize) -> Result<(), Failure> {
        let first = || (0..self.commits.len()).find(|at| self.bisection.build(*at) == Build::Program(number));
        let played = self.played.get(&number).copied().or_else(|| Some((first()?, 0, [0; 5])));
        let Some((commit, done, _)) = played else { return Ok(()) };
        let plan = self.plan(commit, 2 * self.args.pairs * (done / self.args.pairs + 1))?;
        // What is to be known of the event was said of the whole search.
        let silent: Say = Arc::new(|_| ());
        let prepare = |plan: &mut Plan| {
            let builds = build(plan, &self.cache, self.shutdown, &aloud())?;
            Prepared::new(plan, builds, silent.clone(), look)
        };
        let title = self.commits[commit].to_string();
        let listed = ListedEvent { name: &self.commits[commit].id, title: Some(&title), note: "" };
        let pages = PagesAt::Gallery(&self.gallery, listed);
        let finished = EventRunner::beside(&prepare, self.shutdown, aloud(), pages, plan)?;
        self.note_results(commit, &finished.standings);
        if finished.halted {
            return self.halted(commit, number, &finished.plan, &finished.standings);
        }
        self.tell(commit, number);
        Ok(())
    }

    /// A program whose games are halted by its faults is left out, unless it is the good one.
    fn halted(
        &mut self,
        commit: usize,
        number: usize,
        plan: &Plan,
        standings: &Standings,
    ) -> Result<(), Failure> {
        for halt in standings.halts() {
            let words = dispatcher::halt_words(plan, halt);
            if halt.player == GOOD_ONE || commit + 1 == self.commits.len() {
                return Err(Failure::Other(format!(
                    "{words}; without the good and the bad commit there is no search"
                )));
            }
            err_line!("{} is left out: {words}", self.commits[commit]);
        }
        for at in 0..self.commits.len() {
            if self.bisection.build(at) == Build::Program(number) {
                self.bisection.set_build(at, Build::Failed);
            }
        }
        Ok(())
    }

    /// Prints the state of the search: after each round of games, with `--quiet` once a minute.
    fn tell(&mut self, commit: usize, number: usize) {
        if self.args.quiet && self.told.is_some_and(|told| told.elapsed() < MINUTE) {
            return;
        }
        self.told = Some(Instant::now());
        let pairs = self.played.get(&number).map(|(.., pairs)| *pairs).unwrap_or_default();
        let posterior = self.bisection.posterior();
        let Found::Lost { first, last, probability } = self.bisection.likeliest(&posterior) else { return };
        let place = match first == last {
            true => self.commits[first].to_string(),
            false => format!("{} to {}", short(&self.commits[first].id), short(&self.commits[last].id)),
        };
        err_line!(
            "{} (commit {} of {}): {}; likeliest of all: {place}, {:.1} %; nothing lost: {:.1} %; {}",
            self.commits[commit],
            commit + 1,
            self.commits.len(),
            score_words(&pairs),
            100.0 * probability,
            100.0 * posterior.nothing,
            self.games_words()
        );
    }

    /// Draws the probabilities as they stand.
    fn draw(&self, posterior: &Posterior) -> Result<(), Failure> {
        let Some(path) = &self.args.plot else { return Ok(()) };
        let bars: Vec<(String, f64)> =
            self.commits.iter().zip(&posterior.commits).map(|(commit, p)| (commit.to_string(), *p)).collect();
        let title = format!(
            "{} to {} · probability that the loss came with a commit",
            short(&self.good.id),
            self.bad()
        );
        write_picture(&plot::posterior(&title, &bars, posterior.nothing, Size::Wide), path)
    }

    fn bad(&self) -> &str {
        self.commits.last().map_or("", |commit| short(&commit.id))
    }

    fn report(&self, posterior: &Posterior, found: Option<Found>) -> Result<Exit, Failure> {
        let report = Report::of(self, posterior, found);
        match self.args.json {
            true => out_line!("{}", pretty(&report)?),
            false => out_line!("{}", self.words(&report, posterior, found)),
        }
        match found {
            Some(Found::Lost { .. }) => Ok(Exit::Done),
            Some(Found::Nothing(_)) => Ok(Exit::H0),
            None => {
                match () {
                    () if self.games() >= self.args.most_games => err_line!(
                        "{} were played (`--games`); with more the same command goes on",
                        self.games_words()
                    ),
                    () if self.bisection.has_used_up() && !self.shutdown.is_finishing() => err_line!(
                        "the opening lines are used up: the last games only repeated earlier ones move for move, and repeated games                          are no evidence; a search with more opening lines (`--openings`), or nodes that vary                          (`--time \"nodes 4000 jitter 3%\"`), goes on where this one cannot"
                    ),
                    () => print_how_to_resume(self.args.json),
                }
                Ok(Exit::Stopped)
            }
        }
    }

    fn words(&self, report: &Report, posterior: &Posterior, found: Option<Found>) -> String {
        let mut lines = vec![match found {
            Some(Found::Lost { first, last, .. }) if first == last => {
                format!("the loss came with {}", self.commits[last])
            }
            Some(Found::Lost { first, last, .. }) => format!(
                "the loss came with one of {} to {}, whose border does not build",
                self.commits[first], self.commits[last]
            ),
            Some(Found::Nothing(_)) => "nothing was lost".to_owned(),
            None => "not decided yet".to_owned(),
        }];
        let loss = match found {
            Some(Found::Nothing(_)) => String::new(),
            _ => format!(", a loss of about {:.0} Elo", report.loss),
        };
        lines.push(format!("probability {:.1} %{loss}, {}", 100.0 * report.probability, self.games_words()));
        if !matches!(found, Some(Found::Nothing(_))) && report.loss < FAR_BELOW * self.args.loss {
            lines.push(format!(
                "the loss seems to be smaller than `--loss {}`, so this may be wrong: say `--loss {:.0}` and the search goes on \
                 with all its games",
                self.args.loss,
                report.loss.max(5.0)
            ));
        }
        if posterior.nothing >= WORTH_A_LINE {
            lines.push(format!("{:6.1} %  nothing was lost", 100.0 * posterior.nothing));
        }
        for (commit, p) in self.commits.iter().zip(&posterior.commits).filter(|(_, p)| **p >= WORTH_A_LINE) {
            lines.push(format!("{:6.1} %  {commit}", 100.0 * p));
        }
        lines.join("\n")
    }
}

/// A score in words: games, points of both sides, Elo.
fn score_words(pairs: &Pentanomial) -> String {
    let games = 2 * pairs.iter().sum::<u64>();
    let half_points: u64 = (0..).zip(pairs).map(|(score, count): (u64, _)| score * count).sum();
    let points = half_points as f64 / 2.0;
    let elo = elo_of_score(points / games.max(1) as f64);
    format!("{points}-{} ({} Elo)", games as f64 - points, signed(elo, 0))
}

/// The report as JSON.
#[derive(Debug, Serialize)]
struct Report {
    /// `commit`, `nothing`, or absent while nothing is found.
    found: Option<&'static str>,
    /// The commits that the loss came with: one, or several whose border does not build. While nothing is found, the
    /// likeliest.
    commits: Vec<String>,
    probability: f64,
    /// Expected loss in Elo, if there is one.
    loss: f64,
    /// Games that were played.
    games: u64,
    /// Those of distinct pairs, which are the evidence.
    distinct_games: u64,
    nothing: f64,
    posterior: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    commit: String,
    subject: String,
    probability: f64,
    /// `false`: it does not build or play; absent: it was not tried.
    builds: Option<bool>,
    /// Pairs of games against the good commit by half points, if this commit was played.
    pentanomial: Option<Pentanomial>,
}

impl Report {
    fn of(search: &Search<'_>, posterior: &Posterior, found: Option<Found>) -> Self {
        let place = found.unwrap_or_else(|| search.bisection.likeliest(posterior));
        let (commits, probability) = match place {
            Found::Lost { first, last, probability } => {
                (search.commits[first..=last].iter().map(|commit| commit.id.clone()).collect(), probability)
            }
            Found::Nothing(probability) => (vec![], probability),
        };
        let row = |(at, commit): (usize, &Commit)| Row {
            commit: commit.id.clone(),
            subject: commit.subject.clone(),
            probability: posterior.commits[at],
            builds: match search.bisection.build(at) {
                Build::Unknown => None,
                Build::Failed => Some(false),
                Build::Program(_) => Some(true),
            },
            pentanomial: search.played.values().find(|(first, ..)| *first == at).map(|(.., pairs)| *pairs),
        };
        Self {
            found: found.map(|found| if matches!(found, Found::Nothing(_)) { "nothing" } else { "commit" }),
            commits,
            probability,
            loss: posterior.loss,
            games: search.games(),
            distinct_games: search.bisection.games(),
            nothing: posterior.nothing,
            posterior: search.commits.iter().enumerate().map(row).collect(),
        }
    }
}
