//! A tuning as an event: its games set the options of the engines, and their results move the values.

use crate::{Failure, other_build::hint};
use arena::steering::Steering;
use contest::schedule::Pairing;
use journal::{EventSummary, Moves, Store};
use laboratory::spsa::{Spec, Tuning};
use notation::usi::{OptionDecl, OptionKind, nearest};
use plan::{ParameterPlan, Plan, StoredPlan};
use referee::{
    Color, Outcome,
    entry::{Entry, GameEnded, PlayerId},
    number::number,
    operation::Action,
    sink::GameOptions,
};
use report::{
    ParameterRow, TuningReport,
    plot::{self, Course, Plot, Size},
};
use seat::usi::Handshake;
use std::collections::BTreeMap;

/// The player with the perturbation added.
const PLUS: PlayerId = PlayerId(0);
/// Points of the courses that a picture shows, and lines that are told of a tuning.
const POINTS: (u64, u64) = (400, 20);

/// Completes the parameters of a plan by what the engine declares, and begins their tuning; `None` without one.
///
/// # Errors
/// What does not fit the options of the engine.
pub fn begin(plan: &mut Plan, shown: &[Handshake], say: &dyn Fn(&str)) -> Result<Option<Tuner>, Failure> {
    let Some(tune) = &mut plan.tune else { return Ok(None) };
    let engine = plan.engines.first().map(|engine| engine.options.clone()).unwrap_or_default();
    let declared = shown.first().map(|shown| shown.options.as_slice()).unwrap_or_default();
    let mut faults = vec![];
    if tune.parameters.is_empty() {
        faults.push(
            "nothing is tuned; name options by `[[parameters]]`, or a file by `--params FILE`".to_owned(),
        );
    }
    for parameter in &mut tune.parameters {
        if engine.iter().any(|(name, _)| *name == parameter.name) {
            faults.push(format!(
                "`{}` is tuned, and set in `options` of the engine; leave it out there",
                parameter.name
            ));
        }
        faults.extend(complete(parameter, declared).err().map(|fault| fault.to_string()));
    }
    let least = (plan.concurrency as u64).div_ceil(2) + 1;
    if tune.window < least {
        say(&format!(
            "with `window = {}` some of the {} games at once wait for each other; `window = {least}` is enough for a new tuning",
            tune.window, plan.concurrency
        ));
    }
    match Spec::of(tune, plan.seed).filter(|_| faults.is_empty()) {
        Some(spec) => Ok(Some(Tuner::new(spec))),
        None => {
            let hint = plan.engines.first().map(|engine| hint(engine, "pairwise/tune")).unwrap_or_default();
            Err(Failure::Usage(format!("the options cannot be tuned:\n  {}{hint}", faults.join("\n  "))))
        }
    }
}

/// Why an option cannot be tuned.
#[derive(Debug, thiserror::Error)]
enum NotTunable {
    #[error("the engine has no option `{0}`{1}")]
    Missing(String, String),
    #[error("option `{0}` is no number; only `spin` and `string` can be tuned")]
    Kind(String),
    #[error("option `{0}` is declared without bounds; say `min` and `max`")]
    Unbounded(String),
    #[error("option `{0}` is declared without a number as its default; say `start`")]
    NoStart(String),
    #[error("option `{name}` starts at {start}, outside of {min} to {max}")]
    Start { name: String, start: f64, min: f64, max: f64 },
    #[error("option `{0}` has no room between {1} and {2}; widen `min` and `max`")]
    NoRoom(String, f64, f64),
}

/// Takes over what the engine declares of an option: its bounds, which the plan may narrow, its default and its type.
fn complete(parameter: &mut ParameterPlan, declared: &[OptionDecl]) -> Result<(), NotTunable> {
    let name = parameter.name.clone();
    let Some(option) = declared.iter().find(|option| option.name == name) else {
        let near = nearest(&name, declared.iter().map(|option| option.name.as_str()));
        let meant = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        return Err(NotTunable::Missing(name, meant));
    };
    let (default, [low, high]) = match &option.kind {
        OptionKind::Spin { default, min, max } => {
            parameter.whole = true;
            (Some(*default as f64), [min, max].map(|bound| bound.map(|bound| bound as f64)))
        }
        OptionKind::String { default } => (default.parse().ok().filter(|it: &f64| it.is_finite()), [None; 2]),
        _ => return Err(NotTunable::Kind(name)),
    };
    let narrowed =
        |given: Option<f64>, bound: Option<f64>, narrower: fn(f64, f64) -> f64| match (given, bound) {
            (Some(given), Some(bound)) => Some(narrower(given, bound)),
            (given, bound) => given.or(bound),
        };
    let (min, max) = (narrowed(parameter.min, low, f64::max), narrowed(parameter.max, high, f64::min));
    let (Some(mut min), Some(mut max)) = (min, max) else {
        return Err(NotTunable::Unbounded(name));
    };
    if parameter.whole {
        (min, max) = (min.ceil(), max.floor());
    }
    let Some(start) = parameter.start.or(default) else {
        return Err(NotTunable::NoStart(name));
    };
    if min >= max {
        return Err(NotTunable::NoRoom(name, min, max));
    }
    if !(min..=max).contains(&start) {
        return Err(NotTunable::Start { name, start, min, max });
    }
    (parameter.start, parameter.min, parameter.max) = (Some(start), Some(min), Some(max));
    Ok(())
}

/// The result of a game, from the side of the perturbation that is added; `None` if it is played again.
fn result_of(pairing: &Pairing, outcome: Outcome) -> Option<i8> {
    let color = if pairing.black == PLUS { Color::Black } else { Color::White };
    match outcome.half_points(color) {
        Some(half_points) => Some(half_points as i8 - 1),
        // A game that is left out for good says nothing.
        None => outcome.is_left_out().then_some(0),
    }
}

/// A tuning that follows the entries of its event.
pub struct Tuner {
    tuning: Tuning,
    /// The results of both games of each pair, from the side of the perturbation that is added.
    results: BTreeMap<u64, [Option<i8>; 2]>,
    course: Vec<Point>,
}

/// A point of the courses.
struct Point {
    pairs: u64,
    values: Vec<f64>,
    chance: f64,
}

impl Tuner {
    fn new(spec: Spec) -> Self {
        let tuning = Tuning::new(spec);
        let first = Point { pairs: 0, values: tuning.values().to_vec(), chance: 0.0 };
        Self { tuning, results: BTreeMap::new(), course: vec![first] }
    }

    /// The tuning of a stored event; `None` if it has none.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn read(store: &Store, event: &EventSummary, plan: &StoredPlan) -> Result<Option<Self>, Failure> {
        let Some(spec) = plan.tune.as_ref().and_then(|tune| Spec::of(tune, plan.seed().unwrap_or_default()))
        else {
            return Ok(None);
        };
        let mut tuner = Self::new(spec);
        store.replay(event.id, Moves::Without, &mut |stamped| {
            let _heard_before = tuner.fold(&stamped.entry);
        })?;
        tuner.note_point();
        Ok(Some(tuner))
    }

    fn ended(&mut self, ended: &GameEnded) -> Option<String> {
        let result = result_of(&ended.pairing, ended.outcome).filter(|_| !ended.replayed)?;
        let k = ended.pairing.pair + 1;
        let game = &mut self.results.entry(k).or_default()[usize::from(ended.pairing.index % 2 == 1)];
        match game {
            Some(_) => None,
            None => {
                *game = Some(result);
                self.note(k)
            }
        }
    }

    /// Applies the result of a pair, if both its games have one.
    fn note(&mut self, k: u64) -> Option<String> {
        let [Some(first), Some(second)] = *self.results.get(&k)? else { return None };
        let before = self.tuning.applied();
        self.tuning.note(k, first + second);
        self.follow(before)
    }

    /// Gives a game that was over another result, or none until it is played again: the tuning goes back to its pair, and on
    /// from there with the results that are known.
    fn correct(&mut self, action: &Action) {
        let Some((_, pairing, _, is)) = action.correction() else { return };
        let k = pairing.pair + 1;
        let Some(games) = self.results.get_mut(&k) else { return };
        games[usize::from(pairing.index % 2 == 1)] = is.and_then(|outcome| result_of(pairing, outcome));
        if k > self.tuning.applied() {
            self.tuning.forget(k);
            self.note(k);
            return;
        }
        let results = std::mem::take(&mut self.results);
        *self = Self { results, ..Self::new(self.tuning.spec().clone()) };
        for k in self.results.keys().copied().collect::<Vec<_>>() {
            self.note(k);
        }
    }

    /// Notes a point of the courses, and tells how the values stand, every so often.
    fn follow(&mut self, before: u64) -> Option<String> {
        let (now, all) = (self.tuning.applied(), self.tuning.spec().pairs);
        let passed = |parts: u64| now * parts / all > before * parts / all;
        if passed(POINTS.0) {
            self.note_point();
        }
        passed(POINTS.1).then(|| {
            let spec = self.tuning.spec();
            let values = spec.parameters.iter().zip(self.tuning.values());
            let words: Vec<_> = values.map(|(it, value)| format!("{} {value:.2}", it.name)).collect();
            format!("tuning, {now} of {}: {}", number(all, "pair"), words.join(", "))
        })
    }

    fn note_point(&mut self) {
        let (pairs, values, chance) =
            (self.tuning.applied(), self.tuning.values().to_vec(), self.tuning.chance());
        if self.course.last().is_none_or(|last| last.pairs < pairs) {
            self.course.push(Point { pairs, values, chance });
        }
    }

    /// How the tuning stands.
    pub fn report(&self) -> TuningReport {
        let spec = self.tuning.spec();
        let averaged = self.tuning.averaged();
        let row = |(i, it): (usize, &laboratory::spsa::Parameter)| ParameterRow {
            name: it.name.clone(),
            start: it.start,
            value: self.tuning.values()[i],
            averaged: averaged[i],
            chance: self.tuning.chance() * it.r_end * it.c_end,
            c_end: it.c_end,
            r_end: it.r_end,
            min: it.min,
            max: it.max,
        };
        let parameters = spec.parameters.iter().enumerate().map(row).collect();
        TuningReport { pairs: self.tuning.applied(), of: spec.pairs, window: spec.window, parameters }
    }

    /// The options of an engine with the tuned values, or with those before the first pair.
    pub fn options(&self, tuned: bool) -> Vec<(String, String)> {
        let averaged = self.tuning.averaged();
        let parameters = self.tuning.spec().parameters.iter().zip(averaged);
        parameters
            .map(|(it, value)| (it.name.clone(), it.text(if tuned { value } else { it.start })))
            .collect()
    }

    /// The courses of the values as a picture.
    pub fn plot(&self, name: &str) -> Plot {
        let parameters = &self.tuning.spec().parameters;
        let averaged = self.tuning.averaged();
        let course = |(i, it): (usize, &laboratory::spsa::Parameter)| Course {
            name: it.name.clone(),
            values: [
                it.start,
                self.course.last().map_or(it.start, |point| point.values[i]),
                averaged.get(i).copied().unwrap_or(it.start),
            ],
            points: self
                .course
                .iter()
                .map(|point| (point.pairs as f64, (point.values[i] - it.start) / it.c_end))
                .collect(),
        };
        let courses: Vec<_> = parameters.iter().enumerate().map(course).collect();
        let r_end = parameters.iter().map(|it| it.r_end).fold(0.0, f64::max);
        let chance: Vec<_> =
            self.course.iter().map(|point| (point.pairs as f64, r_end * point.chance)).collect();
        plot::tuning(&format!("{name} · tuned values"), &courses, &chance, Size::Wide)
    }

    /// The tuned values by name.
    pub fn averaged(&self) -> BTreeMap<String, f64> {
        let names = self.tuning.spec().parameters.iter().map(|it| it.name.clone());
        names.zip(self.tuning.averaged()).collect()
    }

    /// The parameters, as a parameter file has them.
    pub fn parameters(&self) -> Vec<ParameterPlan> {
        let plan = |it: &laboratory::spsa::Parameter| ParameterPlan {
            name: it.name.clone(),
            start: Some(it.start),
            min: Some(it.min),
            max: Some(it.max),
            c_end: it.c_end,
            r_end: it.r_end,
            whole: it.whole,
        };
        self.tuning.spec().parameters.iter().map(plan).collect()
    }

    /// What is tuned.
    pub fn spec(&self) -> &Spec {
        self.tuning.spec()
    }
}

impl Steering for Tuner {
    fn fold(&mut self, entry: &Entry) -> Option<String> {
        match entry {
            Entry::GameEnded(ended) => return self.ended(ended),
            Entry::Operator(operation) => self.correct(&operation.action),
            _ => {}
        }
        None
    }

    fn is_known(&self, pairing: &Pairing) -> bool {
        self.tuning.trial(pairing.pair + 1).is_some()
    }

    fn options(&self, pairing: &Pairing) -> [GameOptions; 2] {
        let Some(trial) = self.tuning.trial(pairing.pair + 1) else { return Default::default() };
        let side = |player: PlayerId| -> GameOptions {
            let values = if player == PLUS { &trial.plus } else { &trial.minus };
            let parameters = self.tuning.spec().parameters.iter().zip(values);
            parameters.map(|(it, value)| (it.name.clone(), format!("{value}"))).collect()
        };
        [pairing.black, pairing.white].map(side)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use referee::{
        WinBy,
        entry::GameId,
        operation::{NamedGame, Operation},
    };

    fn parameter(name: &str) -> ParameterPlan {
        ParameterPlan {
            name: name.to_owned(),
            start: None,
            min: None,
            max: None,
            c_end: 1.0,
            r_end: 0.1,
            whole: false,
        }
    }

    fn declared() -> Vec<OptionDecl> {
        let spin = OptionKind::Spin { default: 30, min: Some(0), max: Some(100) };
        let text = OptionKind::String { default: "0.5".to_owned() };
        [("Reduction", spin), ("Scale", text), ("Ponder", OptionKind::Check { default: true })]
            .map(|(name, kind)| OptionDecl { name: name.to_owned(), kind })
            .to_vec()
    }

    fn game(index: u64) -> Pairing {
        let [black, white] = if index.is_multiple_of(2) { [0, 1] } else { [1, 0] }.map(PlayerId);
        Pairing { stage: 0, index, attempt: 0, round: 1, pair: index / 2, opening: index / 2, black, white }
    }

    /// The end of a game that black has won.
    fn won(index: u64) -> Entry {
        let outcome = Outcome::loss(Color::White, WinBy::Resignation);
        Entry::GameEnded(GameEnded::new(GameId(index + 1), game(index), outcome, 9))
    }

    fn corrected(index: u64, is: Option<Outcome>) -> Entry {
        let names = ["a", "b"].map(str::to_owned);
        let [black, white] = names;
        let named = NamedGame { game: GameId(index + 1), black, white, round: 1 };
        let (pairing, was) = (game(index), Outcome::loss(Color::White, WinBy::Resignation));
        let action = match is {
            Some(outcome) => Action::Ruled { game: named, pairing, was: Some(was), outcome },
            None => Action::Replayed { game: named, pairing, was },
        };
        let (by, reason) = ("kai".to_owned(), String::new());
        Entry::Operator(Box::new(Operation { number: 1, by, reason, undoes: None, action }))
    }

    #[test]
    fn a_tuning_goes_back_to_a_game_that_does_not_count_any_more_and_on_with_what_it_is_ruled_to_be() {
        let spec = |pairs| {
            let parameter = laboratory::spsa::Parameter {
                name: "Beta".to_owned(),
                start: 40.0,
                min: 0.0,
                max: 100.0,
                c_end: 5.0,
                r_end: 0.1,
                whole: false,
            };
            Spec { pairs, window: 4, seed: 7, parameters: vec![parameter] }
        };
        let fold = |entries: &[Entry]| {
            let mut tuner = Tuner::new(spec(20));
            entries.iter().for_each(|entry| _ = tuner.fold(entry));
            (tuner.tuning.applied(), tuner.tuning.values()[0])
        };
        let lost = Outcome::loss(Color::Black, WinBy::Resignation);
        let played: Vec<Entry> = (0..20).map(won).collect();
        let with = |more: &[Entry]| fold(&[&played[..], more].concat());
        assert_eq!(with(&[]).0, 10);
        let discarded = with(&[corrected(6, None)]);
        assert_eq!((discarded.0, discarded.1), (3, fold(&played[..6]).1), "it waits for the game");
        assert_eq!(with(&[corrected(6, None), won(6)]), with(&[]));
        let ended_so: Vec<Entry> = (0..20)
            .map(|index| match (index, won(index)) {
                (6, Entry::GameEnded(end)) => Entry::GameEnded(GameEnded { outcome: lost, ..end }),
                (_, end) => end,
            })
            .collect();
        assert_eq!(with(&[corrected(6, Some(lost))]), fold(&ended_so));
        assert_ne!(with(&[corrected(6, Some(lost))]).1, with(&[]).1);
    }

    #[test]
    fn bounds_and_start_come_from_the_engine_and_are_narrowed_by_the_file() {
        let mut reduction = ParameterPlan { min: Some(9.5), max: Some(500.0), ..parameter("Reduction") };
        complete(&mut reduction, &declared()).unwrap();
        assert_eq!((reduction.start, reduction.min, reduction.max), (Some(30.0), Some(10.0), Some(100.0)));
        assert!(reduction.whole);
        let mut scale = ParameterPlan { min: Some(0.0), max: Some(2.0), ..parameter("Scale") };
        complete(&mut scale, &declared()).unwrap();
        assert_eq!((scale.start, scale.whole), (Some(0.5), false));
    }

    #[test]
    fn what_cannot_be_tuned_is_told_with_the_name_of_the_option() {
        let fault =
            |parameter: ParameterPlan| complete(&mut parameter.clone(), &declared()).unwrap_err().to_string();
        assert_eq!(
            fault(parameter("Reductoin")),
            "the engine has no option `Reductoin`; did you mean `Reduction`?"
        );
        assert!(fault(parameter("Ponder")).contains("is no number"));
        assert!(fault(parameter("Scale")).contains("without bounds"));
        assert!(
            fault(ParameterPlan { start: Some(200.0), ..parameter("Reduction") })
                .contains("starts at 200, outside of 0 to 100")
        );
        assert!(fault(ParameterPlan { min: Some(100.0), ..parameter("Reduction") }).contains("no room"));
    }
}
