//! Options for playing that several commands share. Each group changes a plan by itself, and a command has the groups that
//! it carries out.

use super::{Exit, Failure, OpenScreen, values::at_least_one};
use clap::Args;
use contest::fault_limit::FaultLimit;
use event::{Playing, Sharing};
use plan::{LogPlan, NAME, Plan, fault_limit::FaultLimitFault};
use std::{
    fmt,
    path::{PathBuf, absolute},
    str::FromStr,
};

/// Where an event is kept.
#[derive(Clone, Debug, Default, Args)]
pub struct PlaceArgs {
    /// The database; overrides the configuration.
    #[arg(long, value_name = "FILE")]
    pub db: Option<PathBuf>,
    /// Name of the event in the database; overrides the configuration.
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
}

/// What the games take of this machine.
#[derive(Clone, Debug, Default, Args)]
pub struct CoresArgs {
    /// Games at once; overrides the configuration.
    #[arg(long, value_name = "N", value_parser = at_least_one::<usize>)]
    pub concurrency: Option<usize>,
    /// Play even if the engines need more cores than the machine has.
    #[arg(long)]
    pub oversubscribe: bool,
    /// Pin each game's engines to cores of their own.
    #[arg(long)]
    pub affinity: bool,
    /// Leave every core to every game.
    #[arg(long, conflicts_with = "affinity")]
    pub no_affinity: bool,
    /// Begin no new game while less than so many megabytes are free on the disk; 0: play on; overrides `reserve_mb`
    /// (512).
    #[arg(long, value_name = "MB")]
    pub reserve_mb: Option<u64>,
}

/// How engines are treated.
#[derive(Clone, Debug, Default, Args)]
pub struct EnginesArgs {
    /// Faults that halt the games of an engine: `off`, a number in a row, or in_a_row=5,share=0.1,games=20; overrides the
    /// configuration.
    #[arg(long, value_name = "LIMIT")]
    pub fault_limit: Option<FaultLimitArg>,
    /// Do not have the engines make a move before the first game; only their handshakes are read.
    #[arg(long)]
    pub no_look: bool,
    /// Log the conversations with engines: `faults` (the default) in the database, of games that ended by a fault; a
    /// directory: also of all games, a file for each side; or `off`. Overrides the configuration.
    #[arg(long, value_name = "DIR|faults|off", value_parser = log_plan)]
    pub log: Option<LogPlan>,
}

/// Other machines that play, too.
#[derive(Clone, Debug, Default, Args)]
pub struct MachinesArgs {
    /// Have other machines play, too: starts a server at this address, such as 0.0.0.0:4222, and prints the line with
    /// which they join (`renmei worker`).
    #[arg(long, value_name = "ADDR")]
    pub hub: Option<std::net::SocketAddr>,
    /// Games at once on this machine while others play; 0: this one plays none.
    #[arg(long, value_name = "N", requires = "hub", conflicts_with = "concurrency")]
    pub slots: Option<usize>,
    /// Give every machine the clocks of the configuration, whatever its speed; otherwise they are scaled by it.
    #[arg(long, requires = "hub")]
    pub equal_clocks: bool,
    /// Where engines always play the same, one pair in so many is played again by another machine and compared; 0: none
    /// [default: 100].
    #[arg(long, value_name = "N", requires = "hub")]
    pub repeat: Option<u64>,
}

/// Options of an event that this machine plays.
#[derive(Clone, Debug, Default, Args)]
pub struct EventArgs {
    #[command(flatten)]
    pub place: PlaceArgs,
    #[command(flatten)]
    pub cores: CoresArgs,
    #[command(flatten)]
    pub engines: EnginesArgs,
    /// Play the event from its beginning; what was played of it stays in the database under another name.
    #[arg(long)]
    pub fresh: bool,
    /// Begin a new event paused: players may log in and the arbiter may act, and nothing is paired until `renmei admin DB
    /// resume`.
    #[arg(long)]
    pub paused: bool,
    /// Run this command for each notice, with JSON on its standard input: a verdict, the end, an engine that is halted;
    /// overrides `command` of `[notify]`.
    #[arg(long, value_name = "COMMAND")]
    pub notify: Option<String>,
    /// Run this command when the sequential test has ended, and at nothing else.
    #[arg(long, value_name = "COMMAND")]
    pub on_verdict: Option<String>,
    /// Show the event in the browser on this address, such as 127.0.0.1:8080; overrides `listen` of `[http]`.
    #[arg(long, value_name = "ADDR")]
    pub http: Vec<std::net::SocketAddr>,
    /// Keep the pages open for so long after the event, such as 10m, or `forever`: until a signal. Without it they stay
    /// until Ctrl-C on a terminal, and end with the event elsewhere, as in scripts.
    #[arg(long, value_name = "DURATION|forever", value_parser = event::PagesStay::parse)]
    pub http_linger: Option<event::PagesStay>,
    /// Append every entry of the event to a file, as a line of JSON.
    #[arg(long, value_name = "FILE")]
    pub events: Option<PathBuf>,
    /// Append the record of every game to a file as it ends: CSA, or USI lines where the name ends in .usi.
    #[arg(long, value_name = "FILE")]
    pub records: Option<PathBuf>,
    /// Print the final standings as JSON on stdout; everything else goes to stderr.
    #[arg(long)]
    pub json: bool,
    /// Print no line per game, only how the event stands every so often.
    #[arg(long, short)]
    pub quiet: bool,
    /// Without the dashboard: print score, Elo and the time to the end every N games, and once a minute while games end;
    /// 0: never [default: every 10 games, at most once in 2 seconds].
    #[arg(long, alias = "ratinginterval", value_name = "N")]
    pub rating_interval: Option<u64>,
    /// Print a line per game on a terminal, too, instead of showing the dashboard.
    #[arg(long)]
    pub no_dashboard: bool,
}

/// Options of an event that other machines may play, too.
#[derive(Clone, Debug, Args)]
pub struct PlayingArgs {
    #[command(flatten)]
    pub event: EventArgs,
    #[command(flatten)]
    pub machines: MachinesArgs,
}

impl PlaceArgs {
    /// Changes the database and the name of an event.
    pub fn apply(&self, plan: &mut Plan) -> Result<(), Failure> {
        if let Some(db) = &self.db {
            plan.database.clone_from(db);
        }
        let Some(name) = &self.name else { return Ok(()) };
        if name.trim().is_empty() || name.chars().count() > NAME {
            return Err(Failure::Usage(format!("--name: the name of an event has 1 to {NAME} characters")));
        }
        plan.name.clone_from(name);
        Ok(())
    }
}

impl CoresArgs {
    /// Changes what the games of an event take of this machine.
    pub fn apply(&self, plan: &mut Plan) -> Result<(), Failure> {
        plan.concurrency = self.concurrency.unwrap_or(plan.concurrency);
        plan.reserve_mb = self.reserve_mb.unwrap_or(plan.reserve_mb);
        plan.oversubscribe |= self.oversubscribe;
        if self.affinity || self.no_affinity {
            plan.affinity = Some(self.affinity);
        }
        if plan.affinity == Some(true) && plan.oversubscribe {
            let why =
                "--affinity and oversubscribing exclude each other: pinned games need cores of their own";
            return Err(Failure::Usage(why.to_owned()));
        }
        Ok(())
    }
}

impl EnginesArgs {
    /// Changes how the engines of an event are treated.
    pub fn apply(&self, plan: &mut Plan) {
        plan.look &= !self.no_look;
        if let Some(FaultLimitArg(limit)) = self.fault_limit {
            plan.fault_limit = limit;
        }
        if let Some(log) = &self.log {
            plan.log.clone_from(log);
        }
    }

    /// Keys of `[event]` that say the same.
    pub fn keys(&self) -> Vec<(&'static str, toml::Value)> {
        let mut keys = vec![("look", toml::Value::from(!self.no_look))];
        keys.extend(self.fault_limit.map(|limit| ("fault_limit", limit.to_string().into())));
        keys.extend(self.log.as_ref().map(|log| {
            let word = match log {
                LogPlan::Faults => "faults".to_owned(),
                LogPlan::Off => "off".to_owned(),
                LogPlan::All(directory) => directory.display().to_string(),
            };
            ("log", word.into())
        }));
        keys
    }
}

impl MachinesArgs {
    fn sharing(&self) -> Sharing {
        let Self { hub, equal_clocks, repeat, .. } = *self;
        Sharing { hub, equal_clocks, repeat }
    }
}

impl EventArgs {
    /// Applies the options to the plan of an event that this machine plays alone.
    pub fn apply(&self, plan: &mut Plan) -> Result<(), Failure> {
        self.apply_with(plan, &MachinesArgs::default())
    }

    fn apply_with(&self, plan: &mut Plan, machines: &MachinesArgs) -> Result<(), Failure> {
        self.place.apply(plan)?;
        plan.concurrency = machines.slots.or(self.cores.concurrency).unwrap_or(plan.concurrency);
        self.cores.apply(plan)?;
        self.engines.apply(plan);
        if let Some(command) = &self.notify {
            plan.notify.command = Some(command.clone());
        }
        if let (Some(events), Some(records)) = (&self.events, &self.records)
            && absolute(events).ok() == absolute(records).ok()
        {
            return Err(Failure::Usage("--events and --records name the same file".to_owned()));
        }
        plan.notify.on_verdict.clone_from(&self.on_verdict);
        if self.on_verdict.is_some() && !plan.stages.iter().any(|stage| stage.format.is_sequential()) {
            let why = "--on-verdict needs a test (--sprt, format \"sprt\", or `until`); --notify announces every end";
            return Err(Failure::Usage(why.to_owned()));
        }
        Ok(())
    }

    /// How the event is played and shown.
    pub fn playing(&self) -> Playing {
        let Self { fresh, paused, http, events, records, json, quiet, rating_interval, no_dashboard, .. } =
            self.clone();
        Playing {
            fresh,
            paused,
            sharing: Sharing::default(),
            http,
            http_linger: self.http_linger.unwrap_or_default(),
            events,
            records,
            report: true,
            json,
            quiet,
            rating_interval,
            no_dashboard,
            reread: None,
        }
    }
}

impl PlayingArgs {
    /// Applies the options to a plan of engines that are started by this program.
    pub fn apply(&self, plan: &mut Plan) -> Result<(), Failure> {
        if let Some(engine) = plan.engines.iter().find(|engine| engine.remote) {
            let name = &engine.name;
            return Err(Failure::Usage(format!(
                "`{name}` logs in over the network: play this event with `renmei serve`"
            )));
        }
        self.event.apply_with(plan, &self.machines)
    }

    /// How the event is played and shown.
    pub fn playing(&self) -> Playing {
        Playing { sharing: self.machines.sharing(), ..self.event.playing() }
    }

    /// Plays a plan to its end, and prints the report.
    pub fn play(&self, mut plan: Plan, open_screen: OpenScreen) -> Result<Exit, Failure> {
        self.apply(&mut plan)?;
        event::play::play(plan, None, &self.playing(), open_screen)
    }
}

/// The limit of `--fault-limit`; `None`: faults halt nobody.
#[derive(Clone, Copy, Debug)]
pub struct FaultLimitArg(pub Option<FaultLimit>);

impl FromStr for FaultLimitArg {
    type Err = FaultLimitFault;

    fn from_str(text: &str) -> Result<Self, FaultLimitFault> {
        plan::fault_limit::parse(text).map(Self)
    }
}

impl fmt::Display for FaultLimitArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(limit) = self.0 else { return f.write_str("off") };
        let in_a_row = limit.in_a_row.map_or_else(|| "off".to_owned(), |faults| faults.to_string());
        let share = limit.share.map(|share| format!(",share={share}")).unwrap_or_default();
        write!(f, "in_a_row={in_a_row}{share},games={}", limit.games)
    }
}

/// Parses what to keep of the conversations with engines; a directory is made absolute, because the event keeps it.
pub fn log_plan(text: &str) -> Result<LogPlan, String> {
    let here = std::env::current_dir().map_err(|error| error.to_string())?;
    LogPlan::of(text, |directory| here.join(directory)).map_err(str::to_owned)
}
