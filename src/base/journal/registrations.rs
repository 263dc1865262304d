//! People who want to take part: registrations and invitations. Hashes of passwords and codes are opaque here.

use super::{Store, StoreError, Writer, now};
use platform::limits::Origin;
use rusqlite::{Connection, OptionalExtension, Row};
use std::collections::HashMap;

/// Somebody who wants an account for the games.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registration {
    /// Login name.
    pub name: String,
    /// Hash of the password.
    pub hash: String,
    /// Words for the arbiter.
    pub note: String,
    /// Address that it came from.
    pub address: String,
    /// Time in ms since 1970-01-01 UTC.
    pub asked_at: i64,
}

/// What became of a registration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registered {
    /// It waits for an arbiter.
    Waits,
    /// It was invited, and has its account.
    Admitted,
    /// Somebody has the name, or has asked for it.
    Taken,
    /// As many wait as may.
    Full,
}

/// An invitation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invitation {
    /// Hash of its code.
    pub code: String,
    /// For whom.
    pub note: String,
    /// Who has made it.
    pub by: String,
    /// Until when it holds, in ms since 1970-01-01 UTC.
    pub expires_at: i64,
}

impl Store {
    /// The registrations that wait, in the order in which they came.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn registrations(&self) -> Result<Vec<Registration>, StoreError> {
        self.database.check(|conn| {
            let mut all = conn.prepare_cached("SELECT * FROM registrations ORDER BY asked_at, name")?;
            let one = |row: &Row<'_>| {
                Ok(Registration {
                    name: row.get(0)?,
                    hash: row.get(1)?,
                    note: row.get(2)?,
                    address: row.get(3)?,
                    asked_at: row.get(4)?,
                })
            };
            all.query_map([], one)?.collect()
        })
    }
}

impl Writer {
    /// Takes in a registration; the hash of a valid code admits it at once, and uses the invitation up. When `most` wait
    /// already, it takes the place of the newest of the network with the most, if that has at least two more than its own.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn register(
        &self,
        asked: &Registration,
        code: Option<&str>,
        most: usize,
    ) -> Result<Registered, StoreError> {
        self.database.write(|conn| {
            if is_taken(conn, &asked.name)? {
                return Ok(Registered::Taken);
            }
            let invited = "DELETE FROM invitations WHERE code = ? AND expires_at > ?";
            if let Some(code) = code
                && conn.execute(invited, (code, asked.asked_at))? > 0
            {
                conn.execute(
                    "INSERT INTO accounts VALUES (?, ?, ?)",
                    (&asked.name, &asked.hash, asked.asked_at),
                )?;
                return Ok(Registered::Admitted);
            }
            let waiting: i64 = conn.query_row("SELECT count(*) FROM registrations", [], |row| row.get(0))?;
            if usize::try_from(waiting).is_ok_and(|waiting| waiting >= most) && !makes_room(conn, asked)? {
                return Ok(Registered::Full);
            }
            let sql = "INSERT INTO registrations VALUES (?, ?, ?, ?, ?)";
            conn.execute(sql, (&asked.name, &asked.hash, &asked.note, &asked.address, asked.asked_at))?;
            Ok(Registered::Waits)
        })
    }

    /// Ends a registration, with an account or without; returns false if there is none of that name, or the name got an
    /// account meanwhile: nobody is given the account of another.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn decide_registration(&self, name: &str, admit: bool) -> Result<bool, StoreError> {
        self.database.write(|conn| {
            let hash = "DELETE FROM registrations WHERE name = ? RETURNING hash";
            let hash: Option<String> = conn.query_row(hash, [name], |row| row.get(0)).optional()?;
            match hash {
                None => Ok(false),
                Some(_) if !admit => Ok(true),
                Some(hash) => {
                    let sql = "INSERT INTO accounts VALUES (?, ?, ?) ON CONFLICT DO NOTHING";
                    Ok(conn.execute(sql, (name, hash, now()))? > 0)
                }
            }
        })
    }

    /// Keeps an invitation; those that have expired are dropped. Returns false when there are `most` already.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn invite(&self, invitation: &Invitation, most: usize) -> Result<bool, StoreError> {
        self.database.write(|conn| {
            conn.execute("DELETE FROM invitations WHERE expires_at <= ?", [now()])?;
            let open: i64 = conn.query_row("SELECT count(*) FROM invitations", [], |row| row.get(0))?;
            if usize::try_from(open).is_ok_and(|open| open >= most) {
                return Ok(false);
            }
            let Invitation { code, note, by, expires_at } = invitation;
            conn.execute(
                "INSERT INTO invitations VALUES (?, ?, ?, ?, ?)",
                (code, note, by, now(), expires_at),
            )?;
            Ok(true)
        })
    }
}

/// Whether a name has an account or waits for one.
/// Drops the newest registration of the network from which most wait, if that has at least two more than the newcomer's.
fn makes_room(conn: &Connection, newcomer: &Registration) -> rusqlite::Result<bool> {
    let mut waiting =
        conn.prepare_cached("SELECT name, address FROM registrations ORDER BY asked_at, name")?;
    let mut networks: HashMap<String, (usize, String)> = HashMap::new();
    let mut rows = waiting.query([])?;
    while let Some(row) = rows.next()? {
        let (count, newest) = networks.entry(network(&row.get::<_, String>(1)?)).or_default();
        (*count, *newest) = (*count + 1, row.get(0)?);
    }
    let own = networks.get(&network(&newcomer.address)).map_or(0, |(count, _)| *count);
    let Some((count, newest)) = networks.into_values().max() else { return Ok(false) };
    if count <= own + 1 {
        return Ok(false);
    }
    tracing::warn!("the registration of {newest:?} gave way: {count} of its network wait for an arbiter");
    Ok(conn.execute("DELETE FROM registrations WHERE name = ?", [newest])? > 0)
}

/// The network of an address as limits count it: of IPv6 the first 64 bits.
fn network(address: &str) -> String {
    address.parse().map_or_else(|_| address.to_owned(), |address| Origin::of(address).0.to_string())
}

fn is_taken(conn: &Connection, name: &str) -> rusqlite::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM accounts WHERE name = ?1) OR \
               EXISTS (SELECT 1 FROM registrations WHERE name = ?1)";
    conn.query_row(sql, [name], |row| row.get(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store() -> (tempfile::TempDir, Writer) {
        let dir = tempfile::tempdir().unwrap();
        let store = Writer::open(dir.path().join("league.db")).unwrap();
        (dir, store)
    }

    fn asks(name: &str, hash: &str) -> Registration {
        let (note, address) = (String::new(), "192.0.2.1".to_owned());
        Registration { name: name.to_owned(), hash: hash.to_owned(), note, address, asked_at: now() }
    }

    #[test]
    fn a_registration_never_replaces_the_account_of_another() {
        let (_dir, store) = store();
        store.set_account("kuma", "old").unwrap();
        assert_eq!(store.register(&asks("kuma", "new"), None, 9).unwrap(), Registered::Taken);
        assert_eq!(store.register(&asks("tora", "first"), None, 9).unwrap(), Registered::Waits);
        assert_eq!(store.register(&asks("tora", "second"), None, 9).unwrap(), Registered::Taken);
        // The name gets an account by another way before the arbiter decides.
        store.set_account("tora", "other").unwrap();
        assert!(!store.decide_registration("tora", true).unwrap());
        assert_eq!(store.account_hash("tora").unwrap().as_deref(), Some("other"));
        assert_eq!(store.account_hash("kuma").unwrap().as_deref(), Some("old"));
    }

    #[test]
    fn a_crowd_of_registrations_gives_way_to_somebody_from_elsewhere() {
        let (_dir, store) = store();
        let register = |name: &str, address: &str| {
            let asked = Registration { address: address.to_owned(), ..asks(name, "hash") };
            store.register(&asked, None, 3).unwrap()
        };
        let crowd = ["2001:db8::1", "2001:db8::2", "2001:db8::3"];
        for (name, address) in ["a", "b", "c"].into_iter().zip(crowd) {
            assert_eq!(register(name, address), Registered::Waits);
        }
        assert_eq!(register("d", "2001:db8::4"), Registered::Full, "one household");
        assert_eq!(register("honest", "192.0.2.7"), Registered::Waits);
        assert_eq!(network("::ffff:192.0.2.7"), network("192.0.2.7"), "one address in two spellings");
        assert_eq!(register("late", "192.0.2.8"), Registered::Waits);
        assert_eq!(register("later", "192.0.2.9"), Registered::Full, "everybody has one");
        let names: Vec<String> = store.registrations().unwrap().into_iter().map(|asked| asked.name).collect();
        assert_eq!(names, ["a", "honest", "late"]);
    }

    #[test]
    fn an_approved_registration_has_its_account_and_a_refused_one_is_gone() {
        let (_dir, store) = store();
        for name in ["kuma", "tora"] {
            assert_eq!(store.register(&asks(name, "hash"), None, 2).unwrap(), Registered::Waits);
        }
        assert_eq!(store.register(&asks("usagi", "hash"), None, 2).unwrap(), Registered::Full);
        assert!(store.decide_registration("kuma", true).unwrap());
        assert!(store.decide_registration("tora", false).unwrap());
        assert!(!store.decide_registration("tora", true).unwrap(), "decided already");
        assert_eq!(store.account_hash("kuma").unwrap().as_deref(), Some("hash"));
        assert_eq!(store.account_hash("tora").unwrap(), None);
    }

    #[test]
    fn an_invitation_admits_once_and_until_it_expires() {
        let (_dir, store) = store();
        let invitation = |code: &str, expires_at| Invitation {
            code: code.to_owned(),
            note: "a friend".to_owned(),
            by: "kai".to_owned(),
            expires_at,
        };
        assert!(store.invite(&invitation("late", 1), 2).unwrap());
        assert!(store.invite(&invitation("good", now() + 60_000), 1).unwrap(), "expired ones do not count");
        assert!(!store.invite(&invitation("more", now() + 60_000), 1).unwrap());
        assert_eq!(store.register(&asks("a", "h"), Some("late"), 9).unwrap(), Registered::Waits);
        assert_eq!(store.register(&asks("b", "h"), Some("good"), 9).unwrap(), Registered::Admitted);
        assert_eq!(store.register(&asks("c", "h"), Some("good"), 9).unwrap(), Registered::Waits);
    }
}
