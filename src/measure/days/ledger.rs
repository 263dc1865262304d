//! The results of all games that a client saw end.

use std::collections::HashMap;

/// How a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    Black,
    White,
    Draw,
    /// Without a result.
    BrokenOff,
}

impl Ended {
    /// The meaning of a result line for the player of that colour.
    pub fn read(line: &str, black: bool) -> Option<Self> {
        match (line, black) {
            ("#WIN", true) | ("#LOSE", false) => Some(Self::Black),
            ("#WIN", false) | ("#LOSE", true) => Some(Self::White),
            ("#DRAW" | "#CENSORED", _) => Some(Self::Draw),
            ("#CHUDAN", _) => Some(Self::BrokenOff),
            _ => None,
        }
    }

    /// The word for it in the database.
    pub fn word(self) -> &'static str {
        match self {
            Self::Black => "black",
            Self::White => "white",
            Self::Draw => "draw",
            Self::BrokenOff => "aborted",
        }
    }
}

/// All games that were seen to end, by Game_ID.
#[derive(Debug, Default)]
pub struct Ledger {
    games: HashMap<String, Ended>,
    /// Contradicting results of one game.
    pub contradictions: Vec<String>,
}

impl Ledger {
    /// Notes what a client saw.
    pub fn saw(&mut self, id: &str, ended: Ended) {
        let known = *self.games.entry(id.to_owned()).or_insert(ended);
        if known != ended {
            self.contradictions.push(format!("{id} ended as {known:?} and as {ended:?}"));
        }
    }

    /// Number of games.
    pub fn ended(&self) -> usize {
        self.games.len()
    }

    pub fn games(&self) -> impl Iterator<Item = (&str, Ended)> {
        self.games.iter().map(|(id, ended)| (id.as_str(), *ended))
    }

    /// True if somebody saw the game end.
    pub fn contains(&self, id: &str) -> bool {
        self.games.contains_key(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_players_of_a_game_have_to_see_the_same_end() {
        let mut ledger = Ledger::default();
        ledger.saw("a", Ended::read("#WIN", true).unwrap());
        ledger.saw("a", Ended::read("#LOSE", false).unwrap());
        assert_eq!((ledger.ended(), ledger.contradictions.len()), (1, 0));
        ledger.saw("a", Ended::read("#WIN", false).unwrap());
        assert_eq!(ledger.contradictions, ["a ended as Black and as White"]);
        assert_eq!(Ended::read("#RESIGN", true), None);
    }
}
