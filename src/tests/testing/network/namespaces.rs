//! Two machines on one: network namespaces that are joined by a cable.

use std::{
    io,
    net::Ipv4Addr,
    process::{Command, Output},
};

/// Two network namespaces with a cable between them. They are deleted when this value is dropped; what runs in them keeps
/// its network until it ends.
#[derive(Debug)]
pub struct Namespaces {
    names: [String; 2],
    net: u8,
}

impl Namespaces {
    /// Makes them, or says why this machine cannot.
    ///
    /// # Errors
    /// When this user may not make namespaces (`root` may), or `ip` of the package iproute2 is missing.
    pub fn new() -> Result<Self, String> {
        let number: u16 = rand::random();
        let [_, net] = number.to_be_bytes();
        let here = Self { names: ["a", "b"].map(|end| format!("rnm{number:04x}{end}")), net };
        here.make().map(|()| here)
    }

    /// The address of the first or the second machine.
    #[must_use]
    pub fn address(&self, machine: usize) -> Ipv4Addr {
        Ipv4Addr::new(10, 213, self.net, if machine == 0 { 1 } else { 2 })
    }

    /// A command that runs a program on one of the two machines.
    #[must_use]
    pub fn command(&self, machine: usize, program: &str) -> Command {
        let mut command = self.around(machine);
        command.arg(program);
        command
    }

    /// A command that becomes the program that its further arguments say, on one of the two machines.
    #[must_use]
    pub fn around(&self, machine: usize) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.names[machine.min(1)]]);
        command
    }

    /// Moves this thread, and whatever it starts from now on, to one of the two machines.
    ///
    /// # Errors
    /// When this user may not.
    pub fn enter(&self, machine: usize) -> Result<(), String> {
        let path = format!("/run/netns/{}", self.names[machine.min(1)]);
        let failed = |why: &dyn std::fmt::Display| format!("`{path}`: {why}");
        let namespace = std::fs::File::open(&path).map_err(|why| failed(&why))?;
        nix::sched::setns(namespace, nix::sched::CloneFlags::CLONE_NEWNET).map_err(|why| failed(&why))
    }

    /// Pulls the cable out, or plugs it in again.
    ///
    /// # Errors
    /// When `ip` fails.
    pub fn plug(&self, is_in: bool) -> Result<(), String> {
        let [a, cable] = [&self.names[0], &self.cable(0)];
        ip(&["-n", a, "link", "set", cable, if is_in { "up" } else { "down" }])
    }

    fn cable(&self, machine: usize) -> String {
        format!("{}0", self.names[machine])
    }

    fn make(&self) -> Result<(), String> {
        for name in &self.names {
            ip(&["netns", "add", name])?;
        }
        let ([a, b], ends) = (&self.names, [self.cable(0), self.cable(1)]);
        ip(&["link", "add", &ends[0], "netns", a, "type", "veth", "peer", "name", &ends[1], "netns", b])?;
        for (machine, (name, end)) in self.names.iter().zip(&ends).enumerate() {
            ip(&["-n", name, "addr", "add", &format!("{}/24", self.address(machine)), "dev", end])?;
            ip(&["-n", name, "link", "set", end, "up"])?;
            ip(&["-n", name, "link", "set", "lo", "up"])?;
        }
        Ok(())
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        for name in &self.names {
            let _was_not_made = ip(&["netns", "del", name]);
        }
    }
}

fn ip(arguments: &[&str]) -> Result<(), String> {
    let told = |says: &str| format!("`ip {}`: {}", arguments.join(" "), says.trim());
    match Command::new("ip").args(arguments).output() {
        Ok(Output { status, .. }) if status.success() => Ok(()),
        Ok(output) => Err(told(&String::from_utf8_lossy(&output.stderr))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err("there is no `ip`: apt install iproute2".to_owned())
        }
        Err(error) => Err(told(&error.to_string())),
    }
}
