//! The descriptors of a host: every connection needs one, and so do the database, record files and engines. A host that
//! has used up its descriptors cannot write what it has to keep, so connections must not.

use plan::{ServeConfig, serve::Limits};
use platform::account;

/// Raises the number of files that this process may have open as far as the connections need it, or lowers the number of
/// connections to what there is, and says so.
pub fn fit(config: &mut ServeConfig) {
    let waiting = if config.tls.is_some() || !config.trusted_proxies.is_empty() {
        host::VESTIBULE_DESCRIPTORS
    } else {
        0
    };
    fit_limits(&mut config.limits, waiting as u64);
}

fn fit_limits(limits: &mut Limits, waiting: u64) {
    let needed = Limits::files(limits.connections).saturating_add(waiting);
    let Some(available) = account::files(needed) else { return };
    let most = Limits::connections_within(available.saturating_sub(waiting));
    if limits.connections > most {
        err_line!(
            "{available} open files are allowed, so there is room for {most} connections and not for the {} of \
             `connections`; allow {needed} by `ulimit -Hn` or by LimitNOFILE= in a unit",
            limits.connections
        );
        limits.connections = most;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_descriptors_for_the_database_and_the_records() {
        for available in [64, 256, 1024, 4608, 1_048_576] {
            let connections = Limits::connections_within(available);
            let kept = available - u64::try_from(connections + connections / 16).unwrap();
            assert!(kept >= 256.min(available / 2), "{available}: {connections}");
        }
        let most = Limits::connections_within;
        assert!(most(Limits::files(4096)) >= 4080 && most(1024) == 720);
    }
}
