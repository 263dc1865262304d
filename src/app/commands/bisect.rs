//! `renmei bisect`: the commit of a repository that lost strength.

use super::{
    Exit, Failure,
    games::{self, GamesArgs, Length},
    playing::{CoresArgs, EnginesArgs, PlaceArgs},
    test::{SourceArgs, engine, repository},
    values::{at_least_one, from_to},
};
use clap::Args;
use event::bisect::{Options, Plans};
use laboratory::git::{Commit, short};
use plan::Plan;
use platform::content::hex;
use sha2::{Digest, Sha256};
use std::path::PathBuf;

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Plays commits between the two against the good one, each time the commit whose games are expected to say most, and ends
with the commit that lost strength and its probability. Commits that do not build, or do not play, are left out, and
commits that build the same program are one. The same command resumes.

Example:
  renmei bisect v1.2 main --repo ../engine --build \"make -j2\" --program src/engine --time \"nodes 10000\" --loss 20")]
pub struct BisectArgs {
    /// A commit before the loss.
    #[arg(value_name = "GOOD")]
    pub good: String,
    /// A later commit, after the loss.
    #[arg(value_name = "BAD")]
    pub bad: String,
    /// The builds.
    #[command(flatten)]
    pub source: SourceArgs,
    /// Take each merge on the main line as one commit.
    #[arg(long)]
    pub first_parent: bool,
    /// About how much was lost, in Elo; a wrong guess costs games.
    #[arg(long, value_name = "ELO", default_value_t = 30.0, value_parser = from_to::<5, 800>)]
    pub loss: f64,
    /// The probability at which the search ends.
    #[arg(long, value_name = "P", default_value_t = 0.95, value_parser = probability)]
    pub confidence: f64,
    /// Pairs of games before the commit to play is chosen anew.
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = at_least_one::<u64>)]
    pub pairs: u64,
    /// Games of the whole search, at most.
    #[arg(long = "games", value_name = "N", default_value_t = 50_000)]
    pub most_games: u64,
    /// Draw the probabilities of the commits into a file, `.svg` or `.png`.
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// What is played.
    #[command(flatten)]
    pub games: GamesArgs,
    #[command(flatten)]
    pub place: PlaceArgs,
    #[command(flatten)]
    pub cores: CoresArgs,
    #[command(flatten)]
    pub engines: EnginesArgs,
    /// Show the search in the browser on this address, such as 127.0.0.1:8080.
    #[arg(long, value_name = "ADDR")]
    pub http: Vec<std::net::SocketAddr>,
    /// Print the result as JSON on stdout; everything else goes to stderr.
    #[arg(long)]
    pub json: bool,
    /// Print no line per game.
    #[arg(long, short)]
    pub quiet: bool,
}

/// Parses the probability at which a search ends.
fn probability(text: &str) -> Result<f64, String> {
    let probability: f64 = text.parse().map_err(|_| "it is no number".to_owned())?;
    match (0.5..1.0).contains(&probability) {
        true => Ok(probability),
        false => Err("it must be at least 0.5, and less than 1".to_owned()),
    }
}

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
        http: args.http.clone(),
        json: args.json,
        quiet: args.quiet,
    };
    event::bisect::bisect(&options, args)
}

impl Plans for BisectArgs {
    fn plan(&self, commits: [&Commit; 2], games: u64) -> Result<Plan, Failure> {
        let players = commits.map(|commit| engine(&self.source, short(&commit.id), &commit.id).into());
        let length = Length { format: "round-robin", games: Some(games), sprt: &[], until: None };
        let name = self.place.name.as_deref().unwrap_or("bisect");
        let mut plan = games::plan(name, &self.games, length, players.to_vec())?;
        self.place.apply(&mut plan)?;
        self.cores.apply(&mut plan)?;
        self.engines.apply(&mut plan);
        Ok(plan)
    }

    fn mark(&self, good: &Commit) -> Result<String, Failure> {
        let length = Length { format: "round-robin", games: Some(2), sprt: &[], until: None };
        let config = games::configuration("bisect", &self.games, length, vec![])?;
        let source = engine(&self.source, "", &good.id);
        let text = format!("{config}\n{source}");
        let digest = Sha256::digest(text.as_bytes());
        Ok(format!("bisect {}", hex(&digest[..5])))
    }
}
