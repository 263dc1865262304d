//! Machines that are reached over `ssh`: no service, no open port, and nothing that stays there.
//!
//! For each host the manager starts `ssh HOST`, has a shell there take the program (`boot`), and speaks [frames](crate::frame)
//! with a worker over the standard input and output of `ssh` (`link`). What the far side sends is a stranger's: lines and
//! frames are bounded, what the worker asks has the [budgets](crate::manager) of every worker, and is taken no faster than the
//! desk reads it, so that the far side waits.
//!
//! A connection that breaks is made again, after 1 s at first and 60 s at most. The worker ends its games when its standard
//! input ends, keeps its answers for a while, and then removes its directory.

mod boot;
mod child;
mod link;
mod reader;

pub use boot::MARK;

use crate::{
    carrier::Arrival,
    frame::{Frame, Kind},
    messages::NAME,
};
use arena::Say;
use boot::Program;
use hub::{EventId, Shelf, WorkerId};
use link::{Gate, Line, Link};
use parking_lot::Mutex;
use std::{collections::BTreeSet, path::PathBuf, sync::Arc, time::Duration};
use tokio::{
    sync::{mpsc, watch},
    task::JoinSet,
    time::timeout,
};

/// What workers have sent and the desk has not read; then they wait.
const ARRIVALS: usize = 64;
/// Time for all workers to end, and for what they leave to be removed, before they are cut off.
const FAREWELL: Duration = Duration::from_secs(40);

/// The hosts, and how they are reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SshOptions {
    /// Hosts, as `ssh` takes them: `box2`, `ann@box2`.
    pub hosts: Vec<String>,
    /// The program `ssh`, with options before the host.
    pub command: Vec<String>,
    /// The renmei that is sent to the hosts; `None`: this one.
    pub program: Option<PathBuf>,
    /// Directory there, in which the worker makes one of its own; `None`: the user's home.
    pub directory: Option<String>,
    /// Pairs at once on each; `None`: as many as its cores carry.
    pub slots: Option<usize>,
    /// True if to play even if the engines need more cores than a machine has.
    pub oversubscribe: bool,
    /// Time for which a worker keeps its answers and files when its connection is gone.
    pub keep: Duration,
}

/// The connections to all hosts.
pub(crate) struct Links {
    hosts: Vec<Host>,
    arrivals: mpsc::Receiver<Arrival>,
    /// The tasks, until they are started.
    waiting: Vec<Link>,
    tasks: JoinSet<()>,
}

/// What the desk has of a connection.
struct Host {
    id: WorkerId,
    name: String,
    gate: watch::Sender<Gate>,
    line: Arc<Mutex<Option<Line>>>,
}

impl Links {
    /// The connections to the hosts of an event, which are not made yet. `shelf`: files that workers may ask for.
    pub fn new(options: SshOptions, event: EventId, shelf: &Shelf) -> Self {
        let (sender, arrivals) = mpsc::channel(ARRIVALS);
        let options = Arc::new(options);
        let program = Arc::new(Program::new(options.program.clone()));
        let (mut hosts, mut waiting) = (vec![], vec![]);
        for (host, name) in options.hosts.iter().zip(names(&options.hosts)) {
            let id = WorkerId::of(&format!("ssh {event} {host}"));
            let (gate, opened) = watch::channel(Gate::Open);
            let line = Arc::<Mutex<Option<Line>>>::default();
            waiting.push(Link {
                host: host.clone(),
                name: name.clone(),
                id: id.clone(),
                event,
                options: options.clone(),
                program: program.clone(),
                shelf: shelf.clone(),
                arrivals: sender.clone(),
                gate: opened,
                line: line.clone(),
                told: String::new(),
                is_there: false,
            });
            hosts.push(Host { id, name, gate, line });
        }
        Self { hosts, arrivals, waiting, tasks: JoinSet::new() }
    }

    /// Begins to connect, on the runtime that this is called on.
    pub fn start(&mut self) {
        for link in std::mem::take(&mut self.waiting) {
            self.tasks.spawn(link.run());
        }
    }

    /// What a worker has sent, or a line for people. Nothing is lost when this future is dropped.
    pub async fn next(&mut self) -> Arrival {
        match self.arrivals.recv().await {
            Some(arrival) => arrival,
            None => std::future::pending().await,
        }
    }

    /// True if the worker is one of these.
    pub fn has(&self, worker: &WorkerId) -> bool {
        self.hosts.iter().any(|host| host.id == *worker)
    }

    /// Answers a question, unless the connection that it came by is gone.
    pub fn answer(&self, worker: &WorkerId, to: &str, answer: &impl serde::Serialize) {
        let Some((session, number)) = to.split_once('.') else { return };
        if let (Ok(session), Ok(number)) = (session.parse(), number.parse()) {
            self.send(worker, session, Frame::json(Kind::Answer, number, answer));
        }
    }

    /// Sends a job or an order to that start of a worker.
    pub fn say_to(&self, worker: &WorkerId, session: u64, kind: Kind, message: &impl serde::Serialize) {
        self.send(worker, session, Frame::json(kind, 0, message));
    }

    /// Sends an order to all workers.
    pub fn say_to_all(&self, order: &impl serde::Serialize) {
        for host in &self.hosts {
            host.send(|_| true, Frame::json(Kind::OrderAll, 0, order));
        }
    }

    fn send(&self, worker: &WorkerId, session: u64, frame: Option<Frame>) {
        let host = self.hosts.iter().find(|host| host.id == *worker);
        host.into_iter().for_each(|host| host.send(|line| line.session == session, frame.clone()));
    }

    /// Connects to a machine no more; its worker ends.
    pub fn close_door(&self, machine: &str) {
        let of_it = self.hosts.iter().filter(|host| host.name == machine);
        of_it.for_each(|host| _ = host.gate.send_replace(Gate::Barred));
    }

    /// Connects again to machines that are not dropped any more.
    pub fn open_doors(&self, is_dropped: impl Fn(&str) -> bool) {
        for host in self.hosts.iter().filter(|host| !is_dropped(&host.name)) {
            host.gate.send_if_modified(|gate| {
                let was_barred = *gate == Gate::Barred;
                *gate = Gate::Open;
                was_barred
            });
        }
    }

    /// Ends all workers, and removes what is theirs.
    pub async fn close(mut self, say: &Say) {
        self.hosts.iter().for_each(|host| _ = host.gate.send_replace(Gate::Closing));
        let ended = async {
            loop {
                tokio::select! {
                    task = self.tasks.join_next() => if task.is_none() { return },
                    // What workers still send is not read any more, and must not keep a connection from ending.
                    Some(arrival) = self.arrivals.recv() => if let Arrival::Say(line) = arrival {
                        say(&line);
                    },
                }
            }
        };
        let _cut_off = timeout(FAREWELL, ended).await;
    }
}

impl Host {
    /// Queues a frame on the connection, if there is one and it is meant. A worker that does not read what it is sent is cut
    /// off.
    fn send(&self, is_meant: impl Fn(&Line) -> bool, frame: Option<Frame>) {
        let mut line = self.line.lock();
        let Some((open, frame)) = line.as_ref().filter(|line| is_meant(line)).zip(frame) else { return };
        if open.queue.try_send(frame).is_err() {
            *line = None;
        }
    }
}

/// Names of machines: that of the host without its user, in the letters that a name may have; no two alike.
fn names(hosts: &[String]) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let mut name = |host: &String| {
        let host = host.strip_prefix("ssh://").unwrap_or(host);
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
        let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
        let name: String = host.chars().map(plain).take(NAME - 8).collect();
        let name = name.trim_start_matches(['.', '-']);
        let name = if name.is_empty() { "machine" } else { name };
        let more = (2..).map(|number| format!("{name}-{number}"));
        let mut names = std::iter::once(name.to_owned()).chain(more);
        let free = names.find(|name| !taken.contains(name)).unwrap_or_default();
        taken.insert(free.clone());
        free
    };
    hosts.iter().map(&mut name).collect()
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod name_tests {
    use super::*;

    #[test]
    fn a_machine_is_named_by_its_host_and_no_two_alike() {
        let hosts = ["ann@box2", "bob@box2", "ssh://ann@box3:22", "-", "日本"].map(str::to_owned);
        assert_eq!(names(&hosts), ["box2", "box2-2", "box3-22", "machine", "machine-2"]);
    }
}
