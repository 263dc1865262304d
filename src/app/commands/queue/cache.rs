//! `renmei queue DIR cache`: the builds of commits.

use crate::commands::{Exit, Failure};
use ::laboratory::Cache;
use clap::Args;

#[derive(Clone, Copy, Debug, Args)]
pub struct CacheArgs {
    /// Delete all builds that nobody uses, with their clones and checkouts.
    #[arg(long)]
    pub clear: bool,
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
