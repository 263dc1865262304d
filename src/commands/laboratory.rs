//! `renmei test` and `renmei cache`, and what `renmei bisect` shares with them: commits as engines.

use super::{
    Exit, Failure, OpenScreen,
    ad_hoc::{self, Length, pair},
    play::play,
};
use crate::cli::{CacheArgs, SourceArgs, TestArgs};
use arena::Shutdown;
use event::{listen, prepare::build, queue::refuse_same_program};
use laboratory::{
    Cache, Surroundings,
    git::{Commit, short},
};
use std::path::Path;
use toml::{Table, Value};

/// Plays two commits of a repository against each other.
pub fn test(args: &TestArgs, open_screen: OpenScreen) -> Result<Exit, Failure> {
    let shutdown = Shutdown::default();
    listen(&shutdown)?;
    let (say, stopped) = (|line: &str| err_line!("{line}"), || shutdown.is_finishing());
    let (cache, around) = (Cache::here()?, Surroundings { say: &say, stopped: &stopped });
    let tested = Tested::resolve(args, &cache, &around)?;
    let length = Length::of("round-robin", &args.length);
    let mut plan = ad_hoc::plan("test", &args.games, length, tested.engines(&args.source))?;
    let builds = build(&mut plan, &cache, &shutdown, &event::aloud())?;
    refuse_same_program(&builds)?;
    ad_hoc::take_a_free_name_unless_named(&mut plan, &args.games)?;
    tested.tell();
    plan.difference = Some(tested.difference);
    play(plan, &args.games.playing, open_screen)
}

/// The commits of a test.
pub(super) struct Tested {
    /// The repository.
    pub repository: String,
    /// The new commit and the old one, each with what was typed for it.
    pub commits: [(String, Commit); 2],
    /// Size of their difference, in git's words; empty if there is none.
    pub difference: String,
}

impl Tested {
    /// Finds the commits of a test.
    pub fn resolve(args: &TestArgs, cache: &Cache, around: &Surroundings<'_>) -> Result<Self, Failure> {
        let repository = repository(&args.source)?;
        let [new, old] = [&args.new, &args.old]
            .map(|rev| cache.resolve(&repository, rev, around).map(|commit| (rev.clone(), commit)));
        let (new, old) = (new?, old?);
        let difference = cache.difference(&repository, &old.1.id, &new.1.id)?;
        Ok(Self { repository, commits: [new, old], difference })
    }

    /// The names of the players: the new one and the old one.
    pub fn names(&self) -> [String; 2] {
        self.commits.each_ref().map(|(rev, commit)| name(rev, commit))
    }

    /// The tables of the engines.
    pub fn engines(&self, source: &SourceArgs) -> Vec<Value> {
        let source = SourceArgs { repo: self.repository.clone(), ..source.clone() };
        let named = self.names().into_iter().zip(&self.commits);
        named.map(|(name, (_, commit))| engine(&source, &name, &commit.id).into()).collect()
    }

    /// Tells what is tested: the commits and the size of their difference.
    fn tell(&self) {
        for (what, (rev, commit)) in ["new", "old"].into_iter().zip(&self.commits) {
            err_line!("{what}: {commit} ({})", notation::printable(rev.as_bytes()));
        }
        let same = "no difference in the files of git";
        err_line!("{}", if self.difference.is_empty() { same } else { &self.difference });
    }
}

/// The name of a commit in an event: its digits, behind what was typed unless that says the same.
fn name(rev: &str, commit: &Commit) -> String {
    let digits = short(&commit.id);
    match commit.id.starts_with(rev) {
        true => digits.to_owned(),
        false => format!("{rev}@{digits}"),
    }
}

/// The repository of the arguments: a URL, or an absolute path.
pub(super) fn repository(args: &SourceArgs) -> Result<String, Failure> {
    let path = Path::new(&args.repo);
    if args.repo.contains("://") || (args.repo.contains(':') && !path.exists()) {
        return Ok(args.repo.clone());
    }
    let absolute =
        path.canonicalize().map_err(|error| Failure::Usage(format!("--repo {}: {error}", args.repo)))?;
    Ok(absolute.display().to_string())
}

/// The table of an engine that is built of a commit.
pub(super) fn engine(args: &SourceArgs, name: &str, commit: &str) -> Table {
    let keep = Value::Array(args.keep.iter().cloned().map(Value::from).collect());
    let source = Table::from_iter([
        pair("git", args.repo.clone()),
        pair("rev", commit),
        pair("build", args.build.clone()),
        pair("program", args.program.clone()),
        pair("keep", keep),
        pair("timeout", args.build_timeout.clone()),
        pair("incremental", args.incremental),
    ]);
    Table::from_iter([pair("name", name), pair("source", source)])
}

/// Lists the builds of commits, or deletes them.
pub fn cache(args: CacheArgs) -> Result<Exit, Failure> {
    let cache = Cache::here()?;
    if args.clear {
        let kept = cache.clear()?;
        let kept = if kept > 0 { format!("; {kept} in use were kept") } else { String::new() };
        out_line!("{}: cleared{kept}", cache.root().display());
        return Ok(Exit::Done);
    }
    let builds = cache.builds();
    for build in &builds {
        let megabytes = build.bytes as f64 / 1e6;
        out_line!("{megabytes:8.1} MB  {}  {}", build.commit, build.path.display());
    }
    let bytes: u64 = builds.iter().map(|build| build.bytes).sum();
    out_line!("{}: {} builds, {:.1} MB", cache.root().display(), builds.len(), bytes as f64 / 1e6);
    Ok(Exit::Done)
}
