//! Hosts as `ssh` takes them, and the program `ssh`.

use crate::reader::Table;
use std::collections::BTreeSet;

/// Most hosts of a list.
const MOST_HOSTS: usize = 200;
/// Most bytes of a host.
const LONGEST_HOST: usize = 255;

/// Why `ssh` is not to be given a list of hosts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostsFault {
    /// More than a list has.
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
}
