//! The registry of buoys: moves that the games of a name start from (`%%SETBUOY`). It outlives the program.

use super::{error::HostError, game_view::apply};
use notation::csa::game_name::GameName;
use plan::serve::Limits;
use platform::limits::Origin;
use referee::sink::{Buoy, SideRecord, Sink};
use std::{collections::HashMap, sync::Arc};

/// Plies a buoy may have.
const PLIES: usize = 512;
/// Games that may start from a buoy.
const GAMES: i64 = 10_000;

/// The buoys of a host.
#[derive(Debug)]
pub struct Buoys {
    known: HashMap<String, Buoy>,
    /// Who has set the buoys of this run. Addresses are not stored, so those of earlier runs count for their owners alone.
    origins: HashMap<String, Origin>,
    limits: Limits,
    sink: Arc<dyn Sink>,
}

impl Buoys {
    /// The buoys of earlier runs; changes are kept in `sink`.
    pub fn new(stored: Vec<Buoy>, limits: Limits, sink: Arc<dyn Sink>) -> Self {
        let known = stored.into_iter().map(|buoy| (buoy.name.clone(), buoy)).collect();
        Self { known, origins: HashMap::new(), limits, sink }
    }

    /// True if there is a buoy of that name.
    pub fn contains(&self, name: &str) -> bool {
        self.known.contains_key(name)
    }

    /// Games that may still start from the buoy of that name.
    pub fn left(&self, name: &str) -> Option<i64> {
        self.known.get(name).map(|buoy| buoy.left)
    }

    /// Sets a buoy with glued moves (`+7776FU-3334FU`) for `left` games, from an address.
    ///
    /// # Errors
    /// The answer to the player when it is refused.
    pub fn set(
        &mut self,
        name: String,
        moves: &str,
        left: i64,
        (owner, origin): (String, Origin),
    ) -> Result<(), HostError> {
        let is_buoy = name.parse::<GameName>().is_ok_and(|name| name.is_buoy());
        if !is_buoy {
            return Err(HostError::BuoyName(name));
        } else if self.contains(&name) {
            return Err(HostError::SecondBuoy(name));
        } else if left <= 0 {
            return Err(HostError::Count(left));
        } else if left > GAMES {
            return Err(HostError::LongCount(left, GAMES));
        }
        self.has_room(&owner, origin)?;
        let moves = read_moves(moves).ok_or_else(|| HostError::Moves(moves.to_owned()))?;
        let buoy = Buoy { name: name.clone(), moves, owner, left };
        self.sink.keep(SideRecord::Buoy(buoy.clone()));
        self.origins.insert(name.clone(), origin);
        self.known.insert(name, buoy);
        Ok(())
    }

    /// Whether one more buoy may be set by a player and from an address.
    fn has_room(&self, owner: &str, origin: Origin) -> Result<(), HostError> {
        let Limits { buoys, buoys_per_player, buoys_per_address, .. } = self.limits;
        let own = self.known.values().filter(|buoy| buoy.owner == owner).count();
        let from_here = self.origins.values().filter(|known| **known == origin).count();
        if own >= buoys_per_player {
            Err(HostError::OwnBuoys(own))
        } else if from_here >= buoys_per_address {
            Err(HostError::BuoysFromHere(from_here))
        } else if self.known.len() >= buoys {
            Err(HostError::Buoys)
        } else {
            Ok(())
        }
    }

    /// Gives the buoys of a player whose name has changed to its new name.
    pub fn owner_renamed(&mut self, former: &str, id: &str) {
        for buoy in self.known.values_mut().filter(|buoy| buoy.owner == former) {
            id.clone_into(&mut buoy.owner);
            self.sink.keep(SideRecord::Buoy(buoy.clone()));
        }
    }

    /// Takes the moves of a buoy for one game; none where there is no such buoy.
    pub fn take(&mut self, name: &str) -> Vec<String> {
        let Some(buoy) = self.known.get_mut(name) else { return vec![] };
        buoy.left -= 1;
        let (moves, left) = (buoy.moves.clone(), buoy.left);
        if left <= 0 {
            self.remove(name);
        } else {
            self.sink.keep(SideRecord::Buoy(buoy.clone()));
        }
        moves
    }

    /// Deletes a buoy of the owner's.
    ///
    /// # Errors
    /// The answer to the player when it is refused.
    pub fn delete(&mut self, name: &str, owner: &str) -> Result<(), HostError> {
        match self.known.get(name) {
            None => Err(HostError::NoBuoy(name.to_owned())),
            Some(buoy) if buoy.owner != owner => Err(HostError::ForeignBuoy(name.to_owned())),
            Some(_) => {
                self.remove(name);
                Ok(())
            }
        }
    }

    /// The names, in their order.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.known.keys().cloned().collect();
        names.sort();
        names
    }

    /// Deletes a buoy of any player; false if there is none of that name.
    pub fn take_away(&mut self, name: &str) -> bool {
        let known = self.contains(name);
        if known {
            self.remove(name);
        }
        known
    }

    fn remove(&mut self, name: &str) {
        self.known.remove(name);
        self.origins.remove(name);
        self.sink.keep(SideRecord::NoBuoy(name.to_owned()));
    }
}

/// The name of the buoy that forks the game of that id after a ply: `event+test-600-10+...` gives
/// `buoy_test_1-600-10`.
pub fn forked_name(id: &str, plies: usize) -> String {
    let name = id.split('+').nth(1).unwrap_or_default();
    let name = name.strip_prefix("buoy_").unwrap_or(name);
    match name.rsplitn(3, '-').collect::<Vec<_>>()[..] {
        [byoyomi, total, name] => format!("buoy_{name}_{plies}-{total}-{byoyomi}"),
        _ => String::new(),
    }
}

/// Reads glued moves, each with `,Tn` or without, that are legal from the even start.
fn read_moves(glued: &str) -> Option<Vec<String>> {
    let mut position = rsshogi::board::position_from_sfen(referee::opening::EVEN).ok()?;
    position.init_stack();
    let mut rest = glued;
    let mut moves = vec![];
    while !rest.is_empty() {
        let (mv, tail) = rest.split_at_checked(7)?;
        rest = match tail.strip_prefix(",T") {
            Some(timed) => timed.trim_start_matches(|c: char| c.is_ascii_digit()),
            None => tail,
        };
        if moves.len() == PLIES || !apply(&mut position, mv) {
            return None;
        }
        moves.push(mv.to_owned());
    }
    (!moves.is_empty()).then_some(moves)
}
