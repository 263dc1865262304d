//! `renmei init`: writes a preset configuration into the working directory.

use super::{Exit, Failure};
use clap::{Args, ValueEnum};
use platform::files;
use std::{io::Write, path::Path};

#[derive(Clone, Debug, Args)]
pub struct InitArgs {
    /// The preset.
    #[arg(value_enum)]
    pub preset: Option<Preset>,
    /// Overwrite existing files.
    #[arg(long)]
    pub force: bool,
}

/// A preset configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Preset {
    /// A first league of the installed engines; two minutes.
    Quickstart,
    /// Is one version better than another? A sequential test.
    Sprt,
    /// A sequential test on many machines (`renmei worker`).
    Machines,
    /// One engine against all others.
    Gauntlet,
    /// A whole tournament: a Swiss stage, then a knock-out final.
    Denou,
    /// Training games for renmei-pairwise.
    Learn,
    /// The values of options by which an engine is strongest (`renmei tune`).
    Tune,
    /// What the parts of an engine are worth: a league of its builds (`renmei attribute`).
    Attribute,
    /// Games on floodgate's clock, to test whether an engine keeps it.
    FloodgateTime,
    /// The first Denryu-sen, and TSEC with its designated positions: whole events, from the first round to the final.
    Denryu,
    /// The World Computer Shogi Championship since 2019: both qualifiers and the final.
    Wcsc,
    /// The first Shogi Denou tournament: a Swiss, a knock-out and a play-off for the fifth place.
    Sdt,
    /// A host with the rules and the rounds of floodgate (`renmei serve`).
    FloodgateHost,
    /// An engine on floodgate or another CSA server (`renmei floodgate`).
    Floodgate,
    /// An open league over the network (`renmei serve`).
    Serve,
    /// An event of local engines and remote players (`renmei serve`).
    League,
}

/// A file of a preset: its name, and its text in `configs/`.
type PresetFile = (&'static str, &'static str);

macro_rules! preset_file {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../configs/", $name)))
    };
}

/// The files of a preset, starting with the one to play.
fn files(preset: Preset) -> &'static [PresetFile] {
    match preset {
        Preset::Quickstart => &[preset_file!("quickstart.toml")],
        Preset::Sprt => &[preset_file!("sprt.toml")],
        Preset::Machines => &[preset_file!("machines.toml")],
        Preset::Gauntlet => &[preset_file!("gauntlet.toml")],
        Preset::Denou => &[preset_file!("denou.toml")],
        Preset::Learn => &[preset_file!("learn.toml")],
        Preset::Tune => &[preset_file!("tune.toml")],
        Preset::Attribute => &[preset_file!("attribute.toml")],
        Preset::FloodgateTime => &[preset_file!("floodgate-time.toml")],
        Preset::Denryu => &[preset_file!("denryu.toml"), preset_file!("tsec.toml")],
        Preset::Wcsc => &[preset_file!("wcsc.toml")],
        Preset::Sdt => &[preset_file!("sdt.toml")],
        Preset::FloodgateHost => &[preset_file!("floodgate-host.toml")],
        Preset::Floodgate => &[preset_file!("floodgate.toml")],
        Preset::Serve => &[preset_file!("serve.toml")],
        Preset::League => {
            &[preset_file!("league.toml"), preset_file!("kawa.toml"), preset_file!("mori.toml")]
        }
    }
}

/// The command that plays a preset.
fn command(preset: Preset) -> &'static str {
    match preset {
        Preset::Floodgate => "floodgate",
        Preset::Serve | Preset::League | Preset::FloodgateHost => "serve",
        Preset::Tune => "tune",
        Preset::Attribute => "attribute",
        _ => "run",
    }
}

/// Writes a preset into the working directory; without one, lists the presets.
pub fn init(args: &InitArgs) -> Result<Exit, Failure> {
    let Some(preset) = args.preset else {
        list();
        return Ok(Exit::Done);
    };
    let files = files(preset);
    let there: Vec<_> = files.iter().map(|(name, _)| *name).filter(|name| Path::new(name).exists()).collect();
    if !there.is_empty() && !args.force {
        let names = there.join("`, `");
        return Err(Failure::Other(format!("`{names}` exists in this directory; `--force` overwrites it")));
    }
    for (name, text) in files {
        write(name, &text.replace("configs/", ""), args.force)
            .map_err(|e| Failure::Other(format!("`{name}` cannot be written: {e}")))?;
        out_line!("wrote {name}");
    }
    out_line!("to play it: renmei {} {}", command(preset), files[0].0);
    if matches!(preset, Preset::Tune | Preset::Attribute) {
        out_line!(
            "it needs a renmei-pairwise with more options than the installed one: the file says how to build it"
        );
    }
    Ok(Exit::Done)
}

/// `create_new`: a file created since the check is not overwritten either.
fn write(name: &str, text: &str, force: bool) -> std::io::Result<()> {
    let path = Path::new(name);
    let mut file = match force && path.exists() {
        // A link under the name of a preset is not the user's choice.
        true => files::create(path)?,
        false => {
            let new = files::create_new(path)?;
            files::share(&new)?;
            new
        }
    };
    file.write_all(text.as_bytes())
}

fn list() {
    let values: Vec<_> = Preset::value_variants().iter().filter_map(ValueEnum::to_possible_value).collect();
    let width = values.iter().map(|value| value.get_name().len()).max().unwrap_or(0);
    for value in &values {
        let about = value.get_help().map(ToString::to_string).unwrap_or_default();
        out_line!("{:width$}  {about}", value.get_name());
    }
    out_line!("\nrenmei init PRESET writes one into this directory");
}
