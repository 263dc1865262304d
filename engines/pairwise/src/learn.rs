//! `renmei-pairwise learn`: learns an evaluation from games by the Bonanza method.
//!
//! [`opening_book::games`] reads games; `positions` selects training samples; `search` finds the leaf of each
//! move's principal variation; `training_example` stores those leaves compactly; `loss` penalises moves valued
//! above the teacher's; `gradient` computes the derivatives by weight; `optimizer` updates the parameters;
//! `trainer` runs these steps in turn. `checkpoint` allows resuming an interrupted run, `report` describes the
//! result.

mod checkpoint;
mod gradient;
mod loss;
mod optimizer;
mod positions;
mod report;
pub(crate) mod search;
mod settings;
#[cfg(test)]
mod tests;
mod trainer;
mod training_example;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::{fs, thread, time::Instant};

use opening_book::games;

use crate::Fault;
use crate::evaluation::parameters::Parameters;
use crate::evaluation::sharing::Sharing;
use crate::evaluation::{self, file};

use checkpoint::Progress;
use positions::{Samples, Selection};
use report::{Report, Stage};
use trainer::{PassReport, Trainer};

pub use settings::{LearnArguments, Loss, Method, Settings};

/// Learns as configured by `arguments`; reports on `out`, shows progress on stderr.
///
/// # Errors
/// When a source, a checkpoint or weights cannot be read, no training position is found, or a file cannot be
/// written.
pub fn run(arguments: &LearnArguments, out: &mut impl Write) -> Result<(), Fault> {
    let print = |done| written("standard output".as_ref(), done);
    let samples = collect(arguments)?;
    print(writeln!(out, "{}\n\n{}", Report::positions(&samples), report::HEAD))?;
    let (mut trainer, mut progress) = begin(arguments, &samples)?;
    let passes = arguments.settings.passes;
    eprintln!(
        "{} passes on {} threads; written into {}",
        passes,
        trainer.threads(),
        arguments.output.display()
    );
    for stage in &progress.stages {
        print(writeln!(out, "{}", report::row(stage)))?;
    }
    while progress.stages.len() <= arguments.settings.passes {
        let begun = Instant::now();
        let done = (!progress.stages.is_empty()).then(|| pass(&mut trainer, &samples, &progress));
        let stage = measure(&trainer, &samples, arguments, progress.stages.len(), done);
        print(writeln!(out, "{}", report::row(&stage)))?;
        progress.stages.push(stage);
        let numbers = [&trainer.parameters.values[..], &trainer.optimizer.squares];
        checkpoint::save(&checkpoint_path(arguments), &progress, numbers)?;
        let left = (passes + 1).saturating_sub(progress.stages.len());
        if done.is_some() && left > 0 {
            eprintln!("about {:.0} s to the end", left as f64 * begun.elapsed().as_secs_f64());
        }
    }
    let report = finish(arguments, &trainer, &samples, &progress)?;
    let tail = report.split_once("\n\nagreement").map_or("", |(_, tail)| tail);
    print(writeln!(out, "\nagreement{tail}"))
}

/// Names the file that cannot be written.
fn written(path: &Path, result: io::Result<()>) -> Result<(), Fault> {
    result.map_err(|fault| format!("`{}`: {fault}", path.display()).into())
}

fn collect(arguments: &LearnArguments) -> Result<Samples, Fault> {
    let mut games = Vec::new();
    for source in &arguments.sources {
        games.extend(games::games(source)?);
    }
    let known = positions::names(&games);
    if let Some(name) = arguments.player.as_deref().filter(|name| !known.contains(name)) {
        let known = if known.is_empty() { "no names".to_owned() } else { Vec::from_iter(known).join(", ") };
        return Err(format!("no player of these games is called `{name}`; the players are {known}").into());
    }
    let samples = positions::select(
        &games,
        &Selection {
            player: arguments.player.clone(),
            min_plies: arguments.min_plies,
            max_score: arguments.max_score,
            held_out: arguments.held_out,
        },
    );
    if samples.training.is_empty() {
        return Err(format!("no training position is left in {} games", games.len()).into());
    }
    Ok(samples)
}

fn begin(arguments: &LearnArguments, samples: &Samples) -> Result<(Trainer, Progress), Fault> {
    let sharing = Sharing::new();
    let threads = arguments.threads.or_else(|| thread::available_parallelism().ok().map(Into::into));
    let settings = arguments.settings.clone();
    let start = match &arguments.start[..] {
        "material" => Parameters::material(&sharing),
        "" | "default" => evaluation::embedded_parameters(&sharing),
        path => evaluation::load_parameters(Path::new(path), &sharing)?,
    };
    let fresh =
        Progress { settings: settings.clone(), positions: samples.training.len(), stages: Vec::new() };
    let mut trainer = Trainer::new(sharing, start, settings, threads.unwrap_or(1));
    if !arguments.resume {
        return Ok((trainer, fresh));
    }
    let path = checkpoint_path(arguments);
    let (progress, [parameters, squares]) = checkpoint::load(&path, trainer.sharing.parameters())?;
    let comparable = Progress { stages: Vec::new(), ..progress.clone() };
    // A resumed run may have more passes; with any other changed setting the result would belong to neither
    // run.
    if (Progress {
        settings: Settings { passes: fresh.settings.passes, ..comparable.settings.clone() },
        ..comparable
    }) != fresh
    {
        return Err(checkpoint::unusable(&path, "it belongs to other settings or other games"));
    }
    trainer.restore(parameters, squares);
    Ok((trainer, progress))
}

fn pass(trainer: &mut Trainer, samples: &Samples, progress: &Progress) -> PassReport {
    let (pass, all) = (progress.stages.len(), samples.training.len());
    trainer.pass(&samples.training, |done| eprintln!("pass {pass}: {done} of {all} positions"))
}

fn measure(
    trainer: &Trainer,
    samples: &Samples,
    arguments: &LearnArguments,
    pass: usize,
    done: Option<PassReport>,
) -> Stage {
    let passes = arguments.settings.updates as f64;
    Stage {
        pass,
        training: trainer.agreement(&samples.training, arguments.measure),
        held_out: trainer.agreement(&samples.held_out, arguments.measure),
        loss: done.map(|done| done.loss),
        searched_per_s: done.map(|done| done.positions as f64 / done.search_s),
        learned_per_s: done.map(|done| passes * done.examples as f64 / done.update_s),
    }
}

/// Writes weights and report; returns the report as text.
fn finish(
    arguments: &LearnArguments,
    trainer: &Trainer,
    samples: &Samples,
    progress: &Progress,
) -> Result<String, Fault> {
    let output = &arguments.output;
    let mut bytes = Vec::new();
    written(output, file::write(&trainer.parameters, &mut bytes))?;
    written(output, fs::write(output, &bytes))?;
    let report = Report {
        samples,
        settings: &arguments.settings,
        stages: &progress.stages,
        parameters: &trainer.parameters,
        sharing: &trainer.sharing,
        bytes: bytes.len() as u64,
    };
    let folder =
        arguments.report.clone().unwrap_or_else(|| output.parent().unwrap_or(Path::new("")).to_owned());
    if folder != Path::new("") {
        written(&folder, fs::create_dir_all(&folder))?;
    }
    let text = report.text();
    let (txt, json) = (folder.join("report.txt"), folder.join("report.json"));
    written(&txt, fs::write(&txt, &text))?;
    written(&json, fs::write(&json, format!("{:#}\n", report.json())))?;
    Ok(text)
}

fn checkpoint_path(arguments: &LearnArguments) -> PathBuf {
    let mut name = arguments.output.clone().into_os_string();
    name.push(".checkpoint");
    name.into()
}
