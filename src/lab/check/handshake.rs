//! From `usi` to `readyok`: names, options, time and memory.

use super::{
    exam::Exam,
    report::{Row, Verdict, cut, text},
};
use notation::usi::{EngineLine, OptionDecl, OptionKind, nearest};
use referee::number::number;
use seat::usi::OPTIONS;
use std::{collections::BTreeSet, time::Duration};

/// A start-up that takes longer is reported as slow.
const SLOW: Duration = Duration::from_secs(10);
/// Options that managers always send (USI); engines that do not declare them ignore them.
const IMPLIED: [&str; 2] = ["USI_Hash", "USI_Ponder"];

/// Performs the handshake; returns true if the examination can continue.
pub async fn greet(exam: &mut Exam) -> bool {
    let here = std::env::current_dir().unwrap_or_default();
    for line in exam.settings.plan.misplaced(&[&here]) {
        exam.add(Row::warn("files", line));
    }
    let mut broken = Vec::new();
    let mut facts = std::mem::take(&mut exam.facts);
    let heard = exam.usi(|line| match line {
        EngineLine::IdName(name) => facts.name = Some(name.clone()),
        EngineLine::IdAuthor(author) => facts.author = Some(author.clone()),
        // What comes beyond the limit is counted, and not kept.
        EngineLine::Option(_) if facts.options.len() > OPTIONS => {}
        EngineLine::Option(option) => facts.options.push(option.clone()),
        EngineLine::Unknown(line) if line.starts_with("option") && broken.len() < OPTIONS => {
            broken.push(line.clone());
        }
        _ => {}
    });
    let heard = heard.await;
    exam.facts = facts;
    let took = match heard {
        Ok(took) => took,
        Err(failure) => {
            let advice = match failure.ended {
                true => format!(
                    "the engine exited before it answered `usi`, see its last lines; check its arguments and the paths \
                     of its files: its working directory is {} (`--dir`)",
                    exam.place()
                ),
                false => "a USI engine answers `usi` with `id` lines and `usiok`; check the program and its arguments"
                    .to_owned(),
            };
            exam.add(failure.row(Verdict::Fault, "usi").advising(advice));
            return false;
        }
    };
    let row = named(exam.facts.name.as_deref(), exam.facts.author.as_deref(), took);
    exam.add(row);
    if exam.facts.options.len() > OPTIONS {
        let row = Row::fault("options", format!("the engine declares more than {OPTIONS} options"));
        exam.add(row.advising("in an event this is a fault at its start"));
        return false;
    }
    for row in options(&exam.facts.options, &broken, &exam.settings.plan.options) {
        exam.add(row);
    }
    become_ready(exam).await
}

async fn become_ready(exam: &mut Exam) -> bool {
    exam.set_options();
    let limit = exam.settings.plan.limits.ready;
    let took = match exam.ready(limit).await {
        Ok(took) => took,
        Err(failure) => {
            let advice = match failure.ended {
                true => format!(
                    "the engine exited while loading, see its last lines; check its options and the paths of its \
                     evaluation, network and book: its working directory is {} (`--dir`)",
                    exam.place()
                ),
                false => {
                    "if loading takes longer, raise `--ready` here and `limits.ready` in the configuration"
                        .to_owned()
                }
            };
            exam.add(failure.row(Verdict::Fault, "isready").advising(advice));
            return false;
        }
    };
    exam.facts.ready = took;
    let running = exam.engine().await.ok();
    let device = running.as_ref().and_then(|talk| talk.device.clone());
    let memory = running.map_or(Some(0), |talk| talk.memory());
    let memory =
        memory.map_or_else(|| "memory not measured".to_owned(), |bytes| mebibytes(bytes) + " in memory");
    let seen = format!("`readyok` after {}, {memory}", text(took));
    let verdict = if took > SLOW { Verdict::Warn } else { Verdict::Pass };
    exam.add(Row::new(verdict, "isready", seen));
    if let Some(device) = device {
        exam.add(Row::note("device", device));
    }
    true
}

fn named(name: Option<&str>, author: Option<&str>, took: Duration) -> Row {
    let seen = format!("`usiok` after {}", text(took));
    match (name, author) {
        (Some(name), Some(author)) => Row::pass("usi", format!("{seen}: {name}, by {author}")),
        (Some(name), None) => Row::warn("usi", format!("{seen}: {name}; no `id author`")),
        _ => Row::warn("usi", format!("{seen}, but no `id name`")).advising(
            "print `id name NAME` before `usiok`; events use the `name` key of the configuration instead",
        ),
    }
}

/// Rows about the declared and the requested options.
pub fn options(declared: &[OptionDecl], broken: &[String], wanted: &[(String, String)]) -> Vec<Row> {
    let mut rows = Vec::new();
    if !broken.is_empty() {
        let seen = format!("{} cannot be read", number(broken.len(), "option line"));
        let advice = "`option name NAME type check|spin|combo|button|string|filename default ...`";
        rows.push(Row::warn("options", seen).showing(received(broken)).advising(advice));
    }
    let mut names = BTreeSet::new();
    let twice: Vec<_> = declared.iter().filter(|o| !names.insert(&o.name)).map(|o| o.name.as_str()).collect();
    if !twice.is_empty() {
        let seen = format!("declared more than once: {}", twice.join(", "));
        rows.push(Row::warn("options", seen));
    }
    let outside: Vec<String> = declared.iter().filter_map(default_fault).collect();
    if !outside.is_empty() {
        let seen = format!("{} against the engine's own declaration", number(outside.len(), "default value"));
        rows.push(Row::warn("options", seen).showing(outside));
    }
    if rows.is_empty() {
        rows.push(Row::pass("options", format!("{} declared, defaults in range", declared.len())));
    }
    rows.extend(wanted.iter().map(|(name, value)| wanted_option(declared, name, value)));
    rows
}

fn received(lines: &[String]) -> Vec<String> {
    lines.iter().take(5).map(|line| cut(&format!("< {line}"))).collect()
}

/// The line of an option whose default value contradicts its declaration.
fn default_fault(option: &OptionDecl) -> Option<String> {
    let default = match &option.kind {
        OptionKind::Spin { default, .. } => default.to_string(),
        OptionKind::Combo { default, .. } => default.clone(),
        _ => return None,
    };
    option.check(&default).err().map(|fault| format!("< {option}   ({fault})"))
}

fn wanted_option(declared: &[OptionDecl], name: &str, value: &str) -> Row {
    let check = format!("option {name}");
    match declared.iter().find(|option| option.name == name) {
        Some(option) => match option.check(value) {
            Ok(()) => Row::pass(check, format!("`{value}` is in its range")),
            Err(fault) => Row::fault(check, fault.to_string()),
        },
        None if IMPLIED.contains(&name) => Row::warn(check, "not declared; managers send it anyway"),
        None => {
            let near = nearest(name, declared.iter().map(|option| option.name.as_str()));
            let meant = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            Row::fault(check, format!("the engine has no such option{meant}"))
        }
    }
}

/// A number of bytes as text.
pub fn mebibytes(bytes: u64) -> String {
    format!("{:.0} MiB", bytes as f64 / f64::from(1 << 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared(lines: &[&str]) -> Vec<OptionDecl> {
        let parsed = lines.iter().map(|line| match EngineLine::parse(line.as_bytes()) {
            EngineLine::Option(option) => option,
            other => panic!("{other:?}"),
        });
        parsed.collect()
    }

    #[test]
    fn bad_defaults_and_duplicate_names_are_reported() {
        let options = options(
            &declared(&[
                "option name Hash type spin default 0 min 1 max 9",
                "option name Style type combo default wild var calm",
                "option name Hash type spin default 2 min 1 max 9",
            ]),
            &["option name X type what".to_owned()],
            &[],
        );
        let seen: Vec<_> = options.iter().map(|row| (row.verdict, row.seen.as_str())).collect();
        assert_eq!(
            seen,
            [
                (Verdict::Warn, "1 option line cannot be read"),
                (Verdict::Warn, "declared more than once: Hash"),
                (Verdict::Warn, "2 default values against the engine's own declaration"),
            ]
        );
    }

    #[test]
    fn a_requested_option_must_be_declared_and_in_range() {
        let declared = declared(&["option name Skill Level type spin default 20 min -20 max 20"]);
        let verdict = |name: &str, value: &str| wanted_option(&declared, name, value);
        assert_eq!(verdict("Skill Level", "5").verdict, Verdict::Pass);
        assert_eq!(verdict("Skill Level", "50").verdict, Verdict::Fault);
        assert_eq!(
            verdict("Skil Level", "5").seen,
            "the engine has no such option; did you mean `Skill Level`?"
        );
        assert_eq!(verdict("USI_Ponder", "true").verdict, Verdict::Warn);
    }
}
