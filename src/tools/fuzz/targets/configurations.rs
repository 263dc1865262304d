//! Configurations, stored plans and clocks as text.

use super::text;
use crate::scratch::Scratch;
use plan::{
    AttributeConfig, ClientConfig, Environment, Event, Faults, HallConfig, LibraryEngine, StoredPlan,
    attribute::Wish, fault_limit, time_text,
};
use std::{convert::Infallible, fs, os::unix::fs::PermissionsExt, path::Path, sync::LazyLock};

/// A place with the programs and files that a configuration may name.
static PLACE: LazyLock<(Scratch, Environment)> = LazyLock::new(|| {
    let place = Scratch::new();
    for program in ["renmei-random", "renmei-pairwise", "engine"] {
        let path = place.file(program, b"");
        let runs = fs::set_permissions(&path, fs::Permissions::from_mode(0o755));
        runs.unwrap_or_else(|fault| panic!("{}: {fault}", path.display()));
    }
    place.file("book.usi", b"startpos moves 7g7f 3c3d\n");
    let base = place.path("");
    let environment = Environment { base: base.clone(), search: vec![base], cores: 8 };
    (place, environment)
});

/// A text that is read as every kind of file, as a stored plan, and line by line as a clock and a limit of faults. What a
/// plan becomes in the database is read again as the same.
pub fn configurations(data: &[u8]) {
    let text = text(data);
    let (_, environment) = &*PLACE;
    let file = Some(Path::new("x.toml"));
    match Event::parse(&text, file, environment) {
        Ok(event) => {
            let plan = StoredPlan::from(&event);
            stored(&plan);
            let _words = plan.format_words();
        }
        Err(faults) => told(&faults),
    }
    let ends = |wish: &Wish| {
        let last = wish.parts.iter().map(|part| part.levels.len() - 1).collect();
        Ok::<_, Infallible>(vec![vec![0; wish.parts.len()], last])
    };
    match AttributeConfig::parse(&text, file, environment, ends) {
        Ok(config) => stored(&StoredPlan::from(&config.plan)),
        Err(faults) => told(&faults),
    }
    let (path, here) = (Path::new("x.toml"), environment);
    let others = [
        ClientConfig::parse(&text, file, here).map(drop),
        HallConfig::parse(&text, file, here, false).map(drop),
        LibraryEngine::parse(&text, path, here).map(drop),
    ];
    others.iter().filter_map(|read| read.as_ref().err()).for_each(told);
    if let Ok(plan) = StoredPlan::from_json(&text) {
        stored(&plan);
        let _server = plan.server();
        let _limits = plan.fault_limits().count();
    }
    text.lines().take(16).for_each(line);
}

fn stored(plan: &StoredPlan) {
    let json = plan.to_json();
    let again = StoredPlan::from_json(&json).unwrap_or_else(|fault| panic!("{fault}: {json}"));
    assert_eq!(again.to_json(), json);
}

/// Every fault has words.
fn told(faults: &Faults) {
    assert!(faults.iter().count() > 0);
    for fault in faults.iter() {
        assert!(!fault.to_string().trim().is_empty());
    }
}

fn line(line: &str) {
    if let Ok(duration) = time_text::duration(line) {
        let written = time_text::text(duration);
        assert_eq!(time_text::duration(&written), Ok(duration), "{written}");
    }
    if let Ok(time) = time_text::time_control(line) {
        let _contradictions = plan::contradictions(&time, true);
    }
    let _limit = fault_limit::parse(line);
}
