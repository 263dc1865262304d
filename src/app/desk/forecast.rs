//! What an event will be before it begins: its games, how long they take, how sure its result is, and what speaks against it.

use crate::{Desk, clock::in_words};
use maud::{Markup, html};
use notation::usi::OptionKind;
use plan::{EnginePlan, Event, Plan};
use seat::usi::Handshake;
use std::{collections::BTreeSet, thread, time::Duration};
use web::{
    components::{Mood, alert, prose},
    time,
};
use words::Language;

/// Plies of a game of programs, where an estimate needs them.
const PLIES: u32 = 120;
/// Names of the option for the megabytes of the hash table.
const HASH: [&str; 2] = ["USI_Hash", "Hash"];
/// The option for the move limit.
const LIMIT: &str = "MaxMovesToDraw";

/// What is known of an event beside its form.
pub(crate) fn forecast(words: Language, desk: &Desk, event: Option<&Event>) -> Markup {
    let Some(event @ Event::Arranged { plan, .. }) = event else {
        return html! { p.quiet { (words.summary_when_right()) } };
    };
    // No engine is started for it: what is known of those that the desk has seen.
    let said: Vec<_> =
        plan.engines.iter().map(|engine| desk.0.handshakes.known(engine).unwrap_or_default()).collect();
    let games = lasts(event)
        .map(|(games, minutes)| (games, Some(minutes)))
        .or_else(|| Some((event::total(plan)?, None)));
    let most = megabytes(plan, &said);
    let memory = platform::usage::memory().map(|memory| memory.free.unwrap_or(memory.total) >> 20);
    html! {
        h2 { (words.summary()) }
        @if let Some((games, minutes)) = games {
            p.big { (words.so_many_games(games)) }
            @if let Some(minutes) = minutes {
                p { (match minutes { 0..60 => words.lasts_minutes(minutes, PLIES), _ => words.lasts_about(minutes / 60, minutes % 60, PLIES) }) }
                p.quiet { (words.ends_about()) " " (time(journal::now() + i64::try_from(minutes * 60_000).unwrap_or(i64::MAX))) }
            }
        } @else { p.big { (words.stops_by_itself()) } }
        dl.facts {
            dt { (words.games_at_once_short()) } dd { (plan.concurrency) }
            dt { (words.clock()) } dd { @for clock in clocks(words, plan) { div { (clock) } } }
            @if let Some(error) = games.and_then(|(games, _)| precision(plan.engines.len(), games)) {
                dt { (words.precision_to_expect()) } dd { "Elo ±" (format!("{error:.0}")) }
            }
            @if let Some(free) = memory.filter(|_| most > 0) {
                dt { (words.hash_tables()) } dd { (words.megabytes_of(most, free)) }
            }
        }
        @for warning in warnings(words, plan, &said, (most, memory), games.map(|(games, _)| games)) {
            (alert(Mood::Wait, &html! { p { (prose(&warning)) } }))
        }
    }
}

/// An option of an engine: as it is set, or as the engine has it.
fn option<'a>(engine: &'a EnginePlan, said: &'a Handshake, names: &[&str]) -> Option<String> {
    let is_meant = |name: &str| names.contains(&name);
    let set = engine.options.iter().find(|(name, _)| is_meant(name)).map(|(_, value)| value.clone());
    set.or_else(|| {
        let declared = said.options.iter().find(|option| is_meant(&option.name))?;
        if let OptionKind::Spin { default, .. } = declared.kind { Some(default.to_string()) } else { None }
    })
}

/// Most megabytes of hash tables at once: the two largest of every game, on this machine.
fn megabytes(plan: &Plan, said: &[Handshake]) -> u64 {
    let here =
        plan.engines.iter().zip(said).filter(|(engine, _)| plan.starts(engine) && engine.host.is_none());
    let hash = |(engine, said)| option(engine, said, &HASH)?.parse::<u64>().ok();
    let mut sizes: Vec<u64> = here.filter_map(hash).collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    sizes.iter().take(2).sum::<u64>().saturating_mul(plan.concurrency as u64)
}

/// What speaks against an event as it is: sentences.
fn warnings(
    words: Language,
    plan: &Plan,
    said: &[Handshake],
    (most, memory): (u64, Option<u64>),
    games: Option<u64>,
) -> Vec<String> {
    let mut found = vec![];
    let usable = thread::available_parallelism().map_or(1, usize::from);
    let cores: Vec<f64> = plan.engines.iter().map(|engine| engine.cores).collect();
    let needed = (arena::preflight::cores_per_game(plan, &cores) * plan.concurrency as f64).ceil() as u64;
    if needed > usable as u64 && !plan.oversubscribe {
        found.push(words.more_cores_than_there_are(needed, usable));
    }
    if let Some(free) = memory.filter(|free| most > *free) {
        found.push(words.more_memory_than_there_is(most, free));
    }
    let pairs = games.map_or(0, |games| games.div_ceil(2));
    let openings = plan.openings.as_ref().and_then(|openings| records::openings::load(openings).ok());
    match openings.map(|openings| openings.len() as u64) {
        None if pairs > 1 => found.push(words.games_repeat_without_openings().to_owned()),
        Some(count) if pairs > count => found.push(words.openings_repeat(pairs, count)),
        _ => {}
    }
    let limit = plan.rules.max_moves.unwrap_or(0);
    let limits = plan.engines.iter().zip(said).filter_map(|(engine, said)| {
        let own =
            option(engine, said, &[LIMIT])?.parse().ok().filter(|own: &u32| *own > 0 && *own != limit)?;
        Some(words.other_move_limit(&engine.name, own, limit))
    });
    found.extend(limits);
    found
}

/// The games of an event, and the minutes that they take if the players use their clocks; `None` without a number or clocks.
fn lasts(event: &Event) -> Option<(u64, u64)> {
    let Event::Arranged { plan, .. } = event else { return None };
    let used = |engine: &EnginePlan| {
        let time = &engine.time;
        let turns = PLIES / 2;
        let used =
            time.fixed.map_or(time.main + (time.byoyomi + time.increment) * turns, |fixed| fixed * turns);
        time.is_timed().then_some(used)
    };
    let (games, used) = (event::total(plan)?, plan.engines.iter().map(used).sum::<Option<Duration>>()?);
    let of_a_game = used.as_secs_f64() * 2.0 / plan.engines.len() as f64;
    let seconds = games as f64 * of_a_game / plan.concurrency.max(1) as f64;
    Some((games, (seconds / 60.0).ceil() as u64))
}

/// The clocks of the engines in words, each once.
fn clocks(words: Language, plan: &Plan) -> BTreeSet<String> {
    plan.engines.iter().flat_map(|engine| engine.times()).map(|time| in_words(words, time)).collect()
}

/// Half of the 95 % interval of an engine's Elo when engines of equal strength have played so many games, none drawn: the
/// slope of the logistic curve at one half is ln 10 / 1600 of a point for an Elo, and a game's standard deviation is one half.
fn precision(engines: usize, games: u64) -> Option<f64> {
    let games_each = 2.0 * games as f64 / engines as f64;
    let slope = std::f64::consts::LN_10 / 1600.0;
    (engines > 1 && games > 0).then(|| 1.96 * 0.5 / games_each.sqrt() / slope)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_precision_that_is_promised_is_that_of_even_games() {
        // A hundred games of two: 1.96 standard errors of 5 % are 68 Elo by the slope at one half.
        assert!((precision(2, 100).unwrap() - 68.1).abs() < 0.1);
        assert!((precision(3, 150).unwrap() - 68.1).abs() < 0.1, "each of three has played a hundred");
        assert_eq!((precision(2, 0), precision(1, 9)), (None, None));
    }

    #[test]
    fn what_a_machine_cannot_carry_and_what_engines_count_otherwise_is_said() {
        let engine = |name: &str, options: &[(&str, &str)]| EnginePlan {
            name: name.to_owned(),
            cores: 4.0,
            options: options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            ..EnginePlan::default()
        };
        let engines =
            vec![engine("a", &[("USI_Hash", "1024"), (LIMIT, "256")]), engine("b", &[("USI_Hash", "512")])];
        let plan = Plan { concurrency: 4096, ..Plan::of_engines("cup", engines, "cup.db".into()) };
        let said = [Handshake::default(), Handshake::default()];
        assert_eq!(megabytes(&plan, &said), 4096 * 1536);
        let found =
            |memory, games| warnings(Language::English, &plan, &said, (2000, Some(memory)), Some(games));
        let all = found(1999, 100);
        assert_eq!(all.len(), 4, "{all:?}");
        assert!(
            all[0].contains("16384 cores") && all[1].contains("2000 MB") && all[3].contains("256"),
            "{all:?}"
        );
        assert_eq!(found(2000, 2).len(), 2, "{:?}", found(2000, 2));
    }
}
