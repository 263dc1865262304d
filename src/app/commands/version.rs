//! `renmei version`: what this program was built of, and what it speaks.

use super::{Exit, Failure, pretty, worker};
use clap::Args;
use serde::Serialize;

#[derive(Clone, Debug, Args)]
pub struct VersionArgs {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// The CSA server protocol that the host and the client speak.
const CSA: &str = "1.2.1";

/// The build of this program.
#[derive(Debug, Serialize)]
struct Build {
    version: &'static str,
    /// The commit of the source; `null` in a development build, and where the source was no checkout.
    commit: Option<&'static str>,
    target: Option<&'static str>,
    profile: Option<&'static str>,
    features: Vec<&'static str>,
    rustc: Option<&'static str>,
    sqlite: &'static str,
    protocols: Protocols,
}

/// Versions that must fit when programs of different builds meet.
#[derive(Debug, Serialize)]
struct Protocols {
    /// CSA server protocol.
    csa: &'static str,
    /// Schema of the databases that this program writes.
    database: usize,
    /// What a manager and its workers speak; `null` without the feature `machines`.
    machines: Option<u32>,
}

impl Build {
    fn of_this_program() -> Self {
        let known = |text: &'static str| Some(text).filter(|text| !text.is_empty());
        let features = [
            ("machines", cfg!(feature = "machines")),
            ("parts", cfg!(feature = "parts")),
            ("png", cfg!(feature = "png")),
        ];
        Self {
            version: env!("CARGO_PKG_VERSION"),
            commit: known(env!("RENMEI_BUILD_COMMIT")),
            target: known(env!("RENMEI_BUILD_TARGET")),
            profile: known(env!("RENMEI_BUILD_PROFILE")),
            features: features.into_iter().filter(|(_, built)| *built).map(|(name, _)| name).collect(),
            rustc: known(env!("RENMEI_BUILD_RUSTC")),
            sqlite: rusqlite::version(),
            protocols: Protocols { csa: CSA, database: journal::SCHEMA, machines: worker::PROTOCOL },
        }
    }

    fn lines(&self) -> Vec<String> {
        let unknown = "not known";
        let Protocols { csa, database, machines } = self.protocols;
        let machines = machines.map_or_else(|| "not built in".to_owned(), |version| version.to_string());
        let features = if self.features.is_empty() { "none".to_owned() } else { self.features.join(", ") };
        vec![
            format!("renmei {}", self.version),
            format!("commit     {}", self.commit.unwrap_or(unknown)),
            format!("target     {}", self.target.unwrap_or(unknown)),
            format!("profile    {}", self.profile.unwrap_or(unknown)),
            format!("features   {features}"),
            format!("compiler   {}", self.rustc.unwrap_or(unknown)),
            format!("SQLite     {}", self.sqlite),
            format!("protocols  CSA {csa}; database {database}; machines {machines}"),
        ]
    }
}

/// Prints the build, in words or as JSON.
pub fn version(args: &VersionArgs) -> Result<Exit, Failure> {
    let build = Build::of_this_program();
    match args.json {
        true => out_line!("{}", pretty(&build)?),
        false => build.lines().iter().for_each(|line| out_line!("{line}")),
    }
    Ok(Exit::Done)
}
