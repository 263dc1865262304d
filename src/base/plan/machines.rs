//! `[machines]`: other machines that play games of the event.

use crate::{
    keys::{
        Fallback::{Is, Says},
        Kind::{Duration as Time, Integer, Other, Path, Text},
    },
    reader::Table,
    settings::settings,
};
use std::{collections::BTreeSet, path::PathBuf, time::Duration};

/// Most hosts of an event.
const MOST_HOSTS: usize = 200;
/// Most bytes of a host.
const LONGEST_HOST: usize = 255;

settings! {
    /// Machines that are reached over `ssh`. They are not stored with the plan: a resumed event may have others.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct MachinesConfig in "`[machines]`", "Machines that play games of an event of `renmei run`, reached over `ssh`: see \
        the guide to many machines.";

    slots: Option<usize> = None shown Says("as many as the cores carry"), Integer(0, 1024),
        "pairs of games at once on the machine that manages the event; 0: it only manages; `--slots` overrides it";
    ssh: Vec<String> = (vec![]) by ssh shown Is("[]"), Other("texts"),
        "hosts as `ssh` takes them, such as `\"box2\"` or `\"ann@192.0.2.7\"`; `--ssh` overrides it";
    ssh_command: Vec<String> = (vec!["ssh".to_owned()]) by ssh_command shown Is("[\"ssh\"]"), Other("texts"),
        "the program, with options that stand before the host, such as `[\"ssh\", \"-p\", \"2222\"]`; \
         nothing is asked at a terminal (`BatchMode=yes`)";
    ssh_program: Option<PathBuf> = None shown Says("this program"), Path,
        "the `renmei` that is sent to the hosts, for machines with another system or processor";
    ssh_directory: Option<String> = None by ssh_directory shown Says("the home directory of the user there"), Text,
        "directory on the hosts, in which each worker makes one of its own and removes it at the end; `$HOME` and other \
         variables are replaced there";
    ssh_slots: Option<usize> = None shown Says("as many as the cores of each carry"), Integer(1, 1024),
        "pairs of games at once on each host";
    ssh_keep: Duration = (Duration::from_secs(120)) shown Is("\"2m\""), Time { zero: true },
        "time for which a worker keeps its answers and files after its connection broke; its games end at once";
}

impl MachinesConfig {
    pub(crate) fn of(root: &Table<'_>) -> Self {
        Self::read(&root.table("machines", &Self::SECTION))
    }
}

/// Why `ssh` is not to be given a list of hosts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostsFault {
    /// More than an event has.
    #[error("names {0} hosts; at most {MOST_HOSTS} can be used")]
    TooMany(usize),
    /// An option of `ssh`, or blanks.
    #[error("`{}` is not a host", .0.escape_default())]
    NoHost(String),
    /// Nothing, or more than any name has.
    #[error("names a host that is empty or too long")]
    Length,
    /// The same host again.
    #[error("names `{0}` twice")]
    Twice(String),
}

/// Checks a list of hosts.
///
/// # Errors
/// Why `ssh` is not to be given one of them.
pub fn check_hosts(hosts: &[String]) -> Result<(), HostsFault> {
    if hosts.len() > MOST_HOSTS {
        return Err(HostsFault::TooMany(hosts.len()));
    }
    let mut known = BTreeSet::new();
    for host in hosts {
        // What begins so is an option of `ssh`, such as a command to run here.
        let is_option = host.rsplit('@').any(|part| part.starts_with('-'));
        if is_option || host.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return Err(HostsFault::NoHost(host.clone()));
        }
        if host.is_empty() || host.len() > LONGEST_HOST {
            return Err(HostsFault::Length);
        }
        if !known.insert(host) {
            return Err(HostsFault::Twice(host.clone()));
        }
    }
    Ok(())
}

/// True if a directory on a host may be named so: it stands in double quotes in a shell, where `$HOME` is replaced.
#[must_use]
pub fn is_directory(text: &str) -> bool {
    !text.is_empty() && !text.contains(|c: char| "'\"\\`!".contains(c) || c.is_control())
}

fn ssh(table: &Table<'_>) -> Option<Vec<String>> {
    let hosts = texts(table, "ssh", "a list of hosts such as [\"box2\", \"ann@box3\"]")?;
    if let Err(why) = check_hosts(&hosts) {
        table.fault("ssh", why);
    }
    Some(hosts)
}

pub(crate) fn ssh_command(table: &Table<'_>) -> Option<Vec<String>> {
    let command = texts(table, "ssh_command", "a list of texts such as [\"ssh\", \"-p\", \"2222\"]")?;
    if command.first().is_none_or(String::is_empty) {
        table.fault("ssh_command", "is empty; name the program first, such as [\"ssh\", \"-p\", \"2222\"]");
    }
    Some(command)
}

fn texts(table: &Table<'_>, name: &str, expected: &str) -> Option<Vec<String>> {
    let list = table.item(name)?.elements(expected);
    Some(list.iter().filter_map(|item| item.text("a text").map(str::to_owned)).collect())
}

fn ssh_directory(table: &Table<'_>) -> Option<Option<String>> {
    let text = table.text("ssh_directory")?;
    if !is_directory(&text) {
        table.fault("ssh_directory", "has a quote, a backslash, a `!` or nothing in it");
    }
    Some(Some(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_no_option_of_ssh_and_stands_once() {
        let check =
            |hosts: &[&str]| check_hosts(&hosts.iter().map(|host| (*host).to_owned()).collect::<Vec<_>>());
        assert_eq!(check(&["box2", "ann@box2", "ssh://ann@[::1]:2222"]), Ok(()));
        for wrong in
            ["-oProxyCommand=reboot", "ann@-oProxyCommand=reboot", "", "a b", "a\nb", &"x".repeat(300)]
        {
            assert!(check(&[wrong]).is_err(), "{wrong:?}");
        }
        assert_eq!(check(&["box2", "box2"]), Err(HostsFault::Twice("box2".to_owned())));
    }

    #[test]
    fn a_directory_cannot_leave_its_quotes() {
        assert!(is_directory("$HOME/scratch") && is_directory("/scratch/my files"));
        for wrong in ["", "a'b", "a\"b", "`x`", "a\nb", "a\\b", "a!b"] {
            assert!(!is_directory(wrong), "{wrong}");
        }
    }
}
