//! Workers that were let in, kept in the directory of a hub.

use crate::hub::{HubError, WorkerId, directory::Directory};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

const FILE: &str = "members.json";
/// Workers that a hub knows at most: whoever has the line to join with could otherwise fill its directory.
const MAX_WORKERS: usize = 2_000;

/// A worker that was let in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Its identity on the wire.
    pub id: WorkerId,
    /// Its name for people, no other worker's.
    pub name: String,
    /// Public half of its key, `U...`.
    pub key: String,
    /// True if it was sent away since.
    pub expelled: bool,
    /// The name that it asked for.
    pub asked: String,
}

/// All of them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Members(Vec<Member>);

/// What becomes of a worker that asks to be let in.
pub(crate) enum Admission {
    /// It is new, or asks again.
    Welcome { member: Member, is_new: bool },
    /// It is not let in.
    No(String),
}

impl Member {
    /// True if it has this name, or asked for it.
    fn is_called(&self, name: &str) -> bool {
        self.name == name || self.asked == name
    }
}

impl Members {
    /// Those of a directory.
    pub fn of(directory: &Directory) -> Result<Self, HubError> {
        let Some(bytes) = directory.read(FILE)? else { return Ok(Self::default()) };
        let read = serde_json::from_slice(&bytes).ok();
        let sound = |member: &Member| {
            crate::hub::keys::is_public(&member.key) && member.id == WorkerId::of(&member.key)
        };
        let read = read.filter(|Self(list)| list.iter().all(sound));
        read.ok_or_else(|| HubError::Keys(directory.path(FILE)))
    }

    /// Writes them.
    pub fn write(&self, directory: &Directory) -> Result<(), HubError> {
        let unwritten = |error: serde_json::Error| HubError::Directory(directory.path(FILE), error.into());
        directory.write(FILE, &serde_json::to_vec_pretty(self).map_err(unwritten)?)
    }

    /// All that were ever let in.
    pub fn list(&self) -> &[Member] {
        &self.0
    }

    /// Keys and identities of those who may connect.
    pub fn users(&self) -> Vec<(&str, &WorkerId)> {
        let present = self.0.iter().filter(|member| !member.expelled);
        present.map(|member| (member.key.as_str(), &member.id)).collect()
    }

    /// Lets a worker in, unless something speaks against it.
    pub fn admit(&mut self, key: &str, name: &str) -> Admission {
        if !crate::hub::keys::is_public(key) {
            return Admission::No("malformed key".to_owned());
        }
        if let Err(error) = check_name(name) {
            return Admission::No(error.to_string());
        }
        let id = WorkerId::of(key);
        if let Some(known) = self.0.iter().find(|member| member.id == id) {
            return match known.expelled {
                true => Admission::No(format!("`{}` was sent away by the operator", known.name)),
                false if known.key != key => Admission::No("its key is too much like another's".to_owned()),
                false => Admission::Welcome { member: known.clone(), is_new: false },
            };
        }
        if let Some(known) = self.0.iter().find(|member| member.expelled && member.is_called(name)) {
            return Admission::No(format!(
                "`{}` was sent away by the operator, and does not come back by a new key: `renmei admin FILE readmit {}` \
                 lets it; another machine needs another `--name`",
                known.name, known.name
            ));
        }
        if self.0.len() >= MAX_WORKERS {
            return Admission::No(format!("{MAX_WORKERS} workers were let in, and no more are"));
        }
        let member = Member {
            id,
            name: self.free(name),
            key: key.to_owned(),
            expelled: false,
            asked: name.to_owned(),
        };
        self.0.push(member.clone());
        Admission::Welcome { member, is_new: true }
    }

    /// Sends a worker away, or lets it come back.
    pub fn set_expelled(&mut self, id: &WorkerId, expelled: bool) -> Result<Member, HubError> {
        let member = self.0.iter_mut().find(|member| member.id == *id);
        let member = member.ok_or_else(|| HubError::NoWorker(id.clone()))?;
        member.expelled = expelled;
        Ok(member.clone())
    }

    /// Takes back what `admit` has added.
    pub fn forget(&mut self, id: &WorkerId) {
        self.0.retain(|member| member.id != *id);
    }

    /// A name that no other worker has: this one, or with a number.
    fn free(&self, name: &str) -> String {
        let taken: HashSet<&str> = self.0.iter().map(|member| member.name.as_str()).collect();
        let is_free = |name: &String| !taken.contains(name.as_str());
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        std::iter::once(name.to_owned()).chain(numbered).find(is_free).unwrap_or_default()
    }
}

/// Refuses a name that could not stand in a table, a file's name or a command.
pub(crate) fn check_name(name: &str) -> Result<(), HubError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let fits = (1..=32).contains(&name.len()) && name.chars().all(plain) && !name.starts_with(['.', '-']);
    if fits { Ok(()) } else { Err(HubError::Name(name.chars().take(64).collect())) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hub::keys::UserKey;

    fn admitted(members: &mut Members, key: &UserKey, name: &str) -> Member {
        match members.admit(&key.public(), name) {
            Admission::Welcome { member, .. } => member,
            Admission::No(why) => panic!("{why}"),
        }
    }

    #[test]
    fn a_worker_that_asks_again_stays_the_same_and_a_second_one_of_its_name_gets_a_number() {
        let mut members = Members::default();
        let (first, second) = (UserKey::random(), UserKey::random());
        let member = admitted(&mut members, &first, "box");
        assert_eq!(admitted(&mut members, &first, "another"), member);
        assert_eq!(admitted(&mut members, &second, "box").name, "box-2");
        assert_eq!(members.users().len(), 2);
    }

    #[test]
    fn a_worker_that_was_sent_away_comes_back_with_its_key_only_after_it_was_readmitted() {
        let mut members = Members::default();
        let key = UserKey::random();
        let id = admitted(&mut members, &key, "box").id;
        members.set_expelled(&id, true).unwrap();
        assert!(members.users().is_empty());
        assert!(matches!(members.admit(&key.public(), "box"), Admission::No(_)));
        members.set_expelled(&id, false).unwrap();
        assert_eq!(admitted(&mut members, &key, "box").name, "box");
    }

    #[test]
    fn a_machine_that_was_sent_away_does_not_come_back_by_a_new_key_before_it_is_readmitted() {
        let mut members = Members::default();
        let keys: Vec<UserKey> = (0..5).map(|_| UserKey::random()).collect();
        admitted(&mut members, &keys[0], "box");
        let second = admitted(&mut members, &keys[1], "box");
        assert_eq!(second.name, "box-2");
        members.set_expelled(&second.id, true).unwrap();
        for name in ["box-2", "box"] {
            let Admission::No(why) = members.admit(&keys[2].public(), name) else { panic!("{name}") };
            assert!(why.contains("`box-2` was sent away") && why.contains("readmit box-2"), "{why}");
        }
        assert_eq!(admitted(&mut members, &keys[3], "other").name, "other", "others come");
        assert_eq!(admitted(&mut members, &keys[0], "box").name, "box", "and those that were there");
        members.set_expelled(&second.id, false).unwrap();
        assert_eq!(admitted(&mut members, &keys[4], "box").name, "box-3");
    }

    #[test]
    fn no_more_workers_are_let_in_than_a_directory_can_hold() {
        let mut members = Members::default();
        let full = (0..MAX_WORKERS)
            .all(|_| matches!(members.admit(&UserKey::random().public(), "x"), Admission::Welcome { .. }));
        assert!(full && matches!(members.admit(&UserKey::random().public(), "x"), Admission::No(_)));
    }

    #[test]
    fn a_name_that_would_confuse_a_table_a_path_or_a_shell_is_refused() {
        let mut members = Members::default();
        for name in ["", "..", "-x", "a/b", "a b", "\u{1b}[2J", &"x".repeat(33)] {
            let key = UserKey::random().public();
            assert!(matches!(members.admit(&key, name), Admission::No(_)), "{name:?}");
        }
        for key in ["", "U", "SUAXXX", &"U".repeat(56), "x\" } ] }"] {
            assert!(matches!(members.admit(key, "box"), Admission::No(_)), "{key:?}");
        }
    }
}
