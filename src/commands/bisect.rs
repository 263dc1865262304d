//! `renmei bisect`: the commit of a repository that lost strength.

use super::{
    Exit, Failure,
    ad_hoc::{self, Length},
    laboratory::{engine, repository},
    play::override_plan,
};
use crate::cli::BisectArgs;
use event::bisect::{Options, Plans};
use laboratory::git::{Commit, short};
use plan::Plan;
use platform::content::hex;
use sha2::{Digest, Sha256};

/// Finds the commit that lost strength.
pub fn bisect(args: &BisectArgs) -> Result<Exit, Failure> {
    let options = Options {
        repository: repository(&args.source)?,
        ends: [args.good.clone(), args.bad.clone()],
        first_parent: args.first_parent,
        loss: args.loss,
        confidence: args.confidence,
        pairs: args.pairs,
        most_games: args.most_games,
        plot: args.plot.clone(),
        http: args.games.playing.http.clone(),
        json: args.games.playing.json,
        quiet: args.games.playing.quiet,
    };
    event::bisect::bisect(&options, args)
}

impl Plans for BisectArgs {
    fn plan(&self, commits: [&Commit; 2], games: u64) -> Result<Plan, Failure> {
        let players = commits.map(|commit| engine(&self.source, short(&commit.id), &commit.id).into());
        let length = Length { format: "round-robin", games: Some(games), sprt: &[], until: None };
        let mut plan = ad_hoc::plan("bisect", &self.games, length, players.to_vec())?;
        override_plan(&mut plan, &self.games.playing)?;
        Ok(plan)
    }

    fn mark(&self, good: &Commit) -> Result<String, Failure> {
        let mut games = self.games.clone();
        (games.playing.concurrency, games.playing.oversubscribe, games.playing.name) = (None, false, None);
        let length = Length { format: "round-robin", games: Some(2), sprt: &[], until: None };
        let config = ad_hoc::configuration("bisect", &games, length, vec![])?;
        let source = engine(&self.source, "", &good.id);
        let text = format!("{config}\n{source}");
        let digest = Sha256::digest(text.as_bytes());
        Ok(format!("bisect {}", hex(&digest[..5])))
    }
}
