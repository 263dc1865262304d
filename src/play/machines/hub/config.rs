//! The configuration file of a hub's server: who may connect, what each may do, and what it costs.

use crate::hub::{
    JOIN, LONGEST_MESSAGE, Subjects, WorkerId,
    subjects::{JOIN_INBOX, MANAGER_INBOX, RELOAD_INBOX, reload},
};
use std::{fmt::Write as _, net::SocketAddr, path::Path};

/// Connections at once, with those of strangers that have not said yet who they are.
const CONNECTIONS: usize = 2_048;
/// Seconds that a stranger has to say who it is.
const AUTHENTICATION_S: u32 = 10;

/// What the file says.
#[derive(Debug)]
pub(crate) struct Config<'a> {
    pub event: &'a str,
    pub listen: SocketAddr,
    pub directory: &'a Path,
    /// Public half of the manager's key.
    pub manager: &'a str,
    /// Public half of the key of whoever asks to join.
    pub join: &'a str,
    /// Public half of the key that asks the server to read this file again.
    pub reload: &'a str,
    /// Public halves of the keys of the workers that were let in.
    pub workers: Vec<(&'a str, &'a WorkerId)>,
}

impl Config<'_> {
    /// The text of the file.
    pub fn text(&self) -> String {
        let path = |name: &str| quoted(&self.directory.join(name).to_string_lossy());
        let listen = match self.listen.port() {
            // 0 would be the usual port.
            0 => self.listen.to_string().trim_end_matches('0').to_owned() + "-1",
            _ => self.listen.to_string(),
        };
        let mut text = format!(
            "# Written by renmei at each start and for each new worker; what is changed here is lost.\n\
             server_name: \"renmei-{event}\"\n\
             listen: \"{listen}\"\n\
             logtime: false\n\
             max_connections: {CONNECTIONS}\n\
             max_payload: {LONGEST_MESSAGE}\n\
             max_control_line: 4096\n\
             max_subscriptions: 1000\n\
             max_pending: 64MB\n\
             write_deadline: \"10s\"\n\
             ping_interval: \"20s\"\n\
             ping_max: 3\n\
             tls {{ cert_file: {certificate}, key_file: {private}, timeout: {AUTHENTICATION_S} }}\n\
             authorization {{ timeout: {AUTHENTICATION_S} }}\n\
             accounts {{\n  renmei {{ users: [\n",
            event = self.event,
            certificate = path(crate::hub::keys::CERTIFICATE),
            private = path(crate::hub::keys::PRIVATE),
        );
        // Nobody is in an account without users' keys: a server before 2.9.23 that has `$SYS` alone lets everybody into the other.
        user(&mut text, self.manager, &[">".to_owned()], &manager_subscribes(self.event));
        user(&mut text, self.join, &[JOIN.to_owned()], &[format!("{JOIN_INBOX}.>")]);
        let subjects = Subjects::of(self.event);
        for (key, worker) in &self.workers {
            user(&mut text, key, &subjects.worker_publishes(worker), &subjects.worker_subscribes(worker));
        }
        text += "  ] }\n  \"$SYS\" { users: [\n";
        user(&mut text, self.reload, &[reload("*")], &[format!("{RELOAD_INBOX}.>")]);
        text + "  ] }\n}\n"
    }
}

fn manager_subscribes(event: &str) -> Vec<String> {
    vec![JOIN.to_owned(), format!("renmei.{event}.>"), format!("{MANAGER_INBOX}.>")]
}

/// A user who may do nothing else.
fn user(text: &mut String, key: &str, publish: &[String], subscribe: &[String]) {
    let list =
        |subjects: &[String]| subjects.iter().map(|subject| quoted(subject)).collect::<Vec<_>>().join(", ");
    let (publish, subscribe) = (list(publish), list(subscribe));
    let written = writeln!(
        text,
        "    {{ nkey: {key}, permissions: {{ publish: {{ allow: [{publish}] }}, subscribe: {{ allow: [{subscribe}] }} }} }}"
    );
    written.expect("a String takes everything");
}

/// A text in the words of the server's configuration.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            c if c.is_control() => quoted.extend(c.to_string().bytes().map(|byte| format!("\\x{byte:02x}"))),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}
