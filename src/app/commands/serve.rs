//! `renmei serve`: hosts a league or an event over the network.

use super::{Exit, Failure, OpenScreen, descriptors, playing::EventArgs};
use clap::Args;
use event::play;
use plan::{Event, ServeConfig};
use std::path::PathBuf;

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
An open league (a file with [serve] and neither [event] nor [[engines]]) starts no engines and has no end: it refuses
--concurrency, --fresh, --oversubscribe, --affinity and --json.")]
pub struct ServeArgs {
    /// Configuration file of the league, or of an event with remote players.
    pub file: PathBuf,
    /// Address to listen on; overrides the configuration.
    #[arg(long, value_name = "ADDR")]
    pub listen: Vec<std::net::SocketAddr>,
    /// Options for playing an event.
    #[command(flatten)]
    pub event: EventArgs,
}

/// Serves until a signal: the first lets the running games end, the second breaks them off.
pub fn serve(args: &ServeArgs, open_screen: OpenScreen) -> Result<Exit, Failure> {
    let playing = args.event.playing();
    match Event::load_hosted(&args.file).map_err(Failure::Config)? {
        Event::Arranged { mut plan, serve } => {
            let mut serve = serve.map_or_else(ServeConfig::default, |serve| *serve);
            descriptors::fit(&mut serve);
            if !args.listen.is_empty() {
                serve.listen.clone_from(&args.listen);
            }
            args.event.apply(&mut plan)?;
            play::play(*plan, Some(serve), &playing, open_screen)
        }
        Event::League(mut config) => {
            descriptors::fit(&mut config);
            refuse_of_league(&args.event)?;
            override_league(&mut config, args);
            play::league(*config, &playing, open_screen)
        }
        other @ Event::Seat(_) => {
            Err(Failure::Usage(format!("{}: {}", args.file.display(), other.refusal())))
        }
    }
}

fn override_league(config: &mut ServeConfig, args: &ServeArgs) {
    if !args.listen.is_empty() {
        config.listen.clone_from(&args.listen);
    }
    if let Some(db) = &args.event.place.db {
        config.database.clone_from(db);
    }
    if let Some(command) = &args.event.notify {
        config.notify.command = Some(command.clone());
    }
    config.reserve_mb = args.event.cores.reserve_mb.unwrap_or(config.reserve_mb);
    if let Some(name) = &args.event.place.name {
        config.name.clone_from(name);
    }
}

/// Refuses flags that have no meaning in an open league.
fn refuse_of_league(args: &EventArgs) -> Result<(), Failure> {
    const STARTS_NONE: &str = "an open league starts no engines";
    let given = [
        (
            "--concurrency",
            args.cores.concurrency.is_some(),
            "an open league plays every game that its players agree to",
        ),
        ("--paused", args.paused, "an open league is paused by `renmei admin` once it runs"),
        ("--fresh", args.fresh, "an open league has no beginning to go back to; `--name` begins another one"),
        ("--oversubscribe", args.cores.oversubscribe, STARTS_NONE),
        ("--affinity", args.cores.affinity, STARTS_NONE),
        ("--no-affinity", args.cores.no_affinity, STARTS_NONE),
        ("--on-verdict", args.on_verdict.is_some(), "an open league has no sequential test"),
        ("--fault-limit", args.engines.fault_limit.is_some(), STARTS_NONE),
        ("--no-look", args.engines.no_look, STARTS_NONE),
        (
            "--log",
            args.engines.log.is_some(),
            "an open league starts no engines; what its players send is always kept, see `renmei log`",
        ),
        (
            "--records",
            args.records.is_some(),
            "`records` of `[serve]` names the directory for the records of an open league",
        ),
        (
            "--rating-interval",
            args.rating_interval.is_some(),
            "an open league has no end; `renmei report DATABASE` prints the current standings",
        ),
        (
            "--json",
            args.json,
            "an open league has no final standings; `renmei report DATABASE --json` prints the current ones",
        ),
    ];
    let refused: Vec<_> = given
        .iter()
        .filter(|(_, given, _)| *given)
        .map(|(flag, _, why)| format!("{flag} does not apply: {why}"))
        .collect();
    if refused.is_empty() { Ok(()) } else { Err(Failure::Usage(refused.join("\n"))) }
}
