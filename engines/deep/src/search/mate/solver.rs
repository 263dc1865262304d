//! Depth-first proof-number search (Nagai 2002), with the thresholds of the 1+epsilon trick (Pawlewicz and Lew
//! 2006).
//!
//! Each position has two numbers: `phi`, the minimum number of leaves that must be proven for the side to move
//! to reach its goal, and `delta`, the same for the opponent. The attacker's goal is mate, the defender's to
//! escape the checks. A position is solved when one of them is 0.

use rsshogi::{
    board::{Move32List, Position, zobrist::ZobristKey},
    mate::solve_mate_in_one_in_place,
    movegen::generate_legal_evasions_all_move32,
    types::{Move, Move32},
};

use super::{Mate, back, checks};

const DECIDED: u32 = u32::MAX / 2;

/// Maximum length of a mate, which bounds the recursion.
const MOST_PLIES: usize = 255;

/// Entries per bucket of the table.
const BUCKET: usize = 4;

/// A solver with its table.
#[derive(Debug)]
pub struct Solver {
    table: Vec<Entry>,
    /// The positions from the root to the current one.
    path: Vec<ZobristKey>,
    nodes: u64,
    most: u64,
    stopped: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    key: ZobristKey,
    numbers: Numbers,
    /// Nodes searched for the entry: the cheapest one of a bucket is replaced.
    work: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Numbers {
    phi: u32,
    delta: u32,
    /// Length of the mate in plies, once it is proven.
    plies: u16,
}

#[derive(Clone, Copy)]
struct Child {
    mv: Move32,
    key: ZobristKey,
}

impl Default for Numbers {
    fn default() -> Self {
        Self { phi: 1, delta: 1, plies: 0 }
    }
}

impl Numbers {
    /// The side to move reaches its goal.
    const fn won(plies: u16) -> Self {
        Self { phi: 0, delta: DECIDED, plies }
    }

    /// The opponent reaches its goal.
    const fn lost(plies: u16) -> Self {
        Self { phi: DECIDED, delta: 0, plies }
    }

    const fn is_decided(self) -> bool {
        self.phi == 0 || self.delta == 0
    }
}

fn key_after(position: &mut Position, mv: Move32) -> ZobristKey {
    position.apply_move32(mv);
    let key = position.key();
    back(position, mv);
    key
}

/// The state of one search.
struct SearchState<'a> {
    position: &'a mut Position,
    stop: &'a dyn Fn() -> bool,
}

impl Solver {
    /// Nodes between two questions whether to stop.
    pub const BETWEEN: u64 = 64;

    /// Bytes of an entry.
    pub const ENTRY: usize = size_of::<Entry>();

    /// A solver with a table of this many entries, or half as many.
    pub fn new(entries: usize) -> Self {
        let entries = 1 << entries.max(BUCKET).ilog2();
        Self { table: vec![Entry::default(); entries], path: Vec::new(), nodes: 0, most: 0, stopped: false }
    }

    /// Searches for a mate by checks for the side to move, with at most `nodes` nodes and until `stop` returns
    /// true.
    pub fn solve(&mut self, position: &Position, nodes: u64, stop: &dyn Fn() -> bool) -> Mate {
        let mut position = position.clone_compact();
        position.init_stack();
        (self.nodes, self.most, self.stopped) = (0, nodes, false);
        self.path.clear();
        let mut state = SearchState { position: &mut position, stop };
        let found = self.prove(&mut state, DECIDED, DECIDED);
        match (found.phi, found.delta) {
            (0, _) => self.line(&mut state).map_or(Mate::Unknown, Mate::Moves),
            (_, 0) => Mate::NoMate,
            _ => Mate::Unknown,
        }
    }

    /// Bytes of the table.
    pub const fn bytes(&self) -> usize {
        self.table.len() * Self::ENTRY
    }

    /// True if the attacker is to move.
    fn attacks(&self) -> bool {
        self.path.len().is_multiple_of(2)
    }

    /// Searches the position until one of its numbers reaches its threshold.
    fn prove(&mut self, state: &mut SearchState<'_>, phi: u32, delta: u32) -> Numbers {
        let key = state.position.key();
        let begun = self.nodes;
        self.nodes += 1;
        if self.nodes >= self.most || (self.nodes.is_multiple_of(Self::BETWEEN) && (state.stop)()) {
            self.stopped = true;
        }
        let numbers = match self.children(state.position) {
            Ok(children) => self.widen(state, &children, key, phi, delta),
            Err(known) => known,
        };
        self.keep(key, numbers, (self.nodes - begun).min(u64::from(u32::MAX)) as u32);
        numbers
    }

    /// The moves to search, or the result if there is none.
    fn children(&self, position: &mut Position) -> Result<Vec<Child>, Numbers> {
        let moves: Vec<Move32> = if self.attacks() {
            if solve_mate_in_one_in_place(position).is_some() {
                return Err(Numbers::won(1));
            }
            checks(position)
        } else {
            let mut list = Move32List::new();
            generate_legal_evasions_all_move32(position, &mut list);
            list.iter().copied().collect()
        };
        if moves.is_empty() || self.path.len() >= MOST_PLIES {
            return Err(if self.attacks() || moves.is_empty() { Numbers::lost(0) } else { Numbers::won(0) });
        }
        Ok(moves.into_iter().map(|mv| Child { mv, key: key_after(position, mv) }).collect())
    }

    fn widen(
        &mut self,
        state: &mut SearchState<'_>,
        children: &[Child],
        key: ZobristKey,
        phi: u32,
        delta: u32,
    ) -> Numbers {
        self.path.push(key);
        let numbers = loop {
            let (numbers, best, second) = self.survey(children);
            if self.stopped || numbers.is_decided() || numbers.phi >= phi || numbers.delta >= delta {
                break numbers;
            }
            let child = self.lookup(children[best].key);
            let others = numbers.delta.saturating_sub(child.phi);
            let limit = phi.min(second.saturating_add(second / 4).saturating_add(1));
            state.position.apply_move32(children[best].mv);
            self.prove(state, delta.saturating_sub(others), limit);
            back(state.position, children[best].mv);
        };
        self.path.pop();
        numbers
    }

    /// The numbers of a position from those of its children, the child to search next, and the second smallest
    /// `delta`.
    fn survey(&self, children: &[Child]) -> (Numbers, usize, u32) {
        let (mut best, mut least, mut second) = (0, u32::MAX, u32::MAX);
        let (mut sum, mut shortest, mut longest) = (0_u32, u16::MAX, 0_u16);
        for (index, child) in children.iter().enumerate() {
            let known = self.lookup(child.key);
            sum = sum.saturating_add(known.phi).min(DECIDED);
            longest = longest.max(known.plies);
            if known.delta == 0 {
                shortest = shortest.min(known.plies);
            }
            if known.delta < least {
                (second, least, best) = (least, known.delta, index);
            } else {
                second = second.min(known.delta);
            }
        }
        let numbers = match (least, sum) {
            (0, _) => Numbers::won(shortest.saturating_add(1)),
            (_, 0) => Numbers::lost(longest.saturating_add(1)),
            _ => Numbers { phi: least, delta: sum, plies: 0 },
        };
        (numbers, best, second)
    }

    /// The numbers of the position after a move. A repetition of a position on the path is no mate.
    fn lookup(&self, key: ZobristKey) -> Numbers {
        if self.path.contains(&key) {
            return if self.attacks() { Numbers::lost(0) } else { Numbers::won(0) };
        }
        self.bucket(key)
            .iter()
            .find(|entry| entry.key == key)
            .map_or_else(Numbers::default, |entry| entry.numbers)
    }

    fn bucket_of(&self, key: ZobristKey) -> usize {
        key.low_u64() as usize & (self.table.len() - BUCKET) & !(BUCKET - 1)
    }

    fn bucket(&self, key: ZobristKey) -> &[Entry] {
        let first = self.bucket_of(key);
        &self.table[first..first + BUCKET]
    }

    fn keep(&mut self, key: ZobristKey, numbers: Numbers, work: u32) {
        let first = self.bucket_of(key);
        let bucket = &mut self.table[first..first + BUCKET];
        let slot = bucket.iter().position(|entry| entry.key == key).or_else(|| {
            bucket.iter().enumerate().min_by_key(|(_, entry)| entry.work).map(|(index, _)| index)
        });
        if let Some(entry) = slot.and_then(|slot| bucket.get_mut(slot)) {
            let work = if entry.key == key { entry.work.saturating_add(work) } else { work };
            *entry = Entry { key, numbers, work };
        }
    }

    /// The line of a proven mate.
    fn line(&mut self, state: &mut SearchState<'_>) -> Option<Vec<Move>> {
        let mut line = Vec::new();
        self.path.clear();
        (self.most, self.stopped) = (self.nodes.saturating_add(100_000), false);
        while let Some(mv) = self.next_of_line(state)? {
            line.push(mv.to_move());
            self.path.push(state.position.key());
            state.position.apply_move32(mv);
        }
        (line.len() % 2 == 1).then_some(line)
    }

    /// The attacker's shortest or the defender's longest move; `Some(None)` at the mate, `None` if the proof is
    /// incomplete.
    fn next_of_line(&mut self, state: &mut SearchState<'_>) -> Option<Option<Move32>> {
        if !self.attacks() {
            return match self.ways(state) {
                Ok(ways) => ways.iter().max_by_key(|(plies, _)| *plies).map(|&(_, mv)| Some(mv)),
                Err(_) => Some(None),
            };
        }
        if let Some(mate) = solve_mate_in_one_in_place(state.position) {
            return Some(Some(mate));
        }
        // Entries of the proof may have been replaced in the table; they are proven again.
        for _ in 0..2 {
            let ways = self.ways(state).ok()?;
            if let Some(&(_, mv)) = ways.iter().min_by_key(|(plies, _)| *plies) {
                return Some(Some(mv));
            }
            self.prove(state, DECIDED, DECIDED);
        }
        None
    }

    /// The moves of the proof, with the length of the mate after each.
    fn ways(&mut self, state: &mut SearchState<'_>) -> Result<Vec<(u16, Move32)>, Numbers> {
        let children = self.children(state.position)?;
        let attacks = self.attacks();
        self.path.push(state.position.key());
        let mut ways = Vec::new();
        for child in children {
            let mut known = self.lookup(child.key);
            if !attacks && known.phi != 0 {
                state.position.apply_move32(child.mv);
                known = self.prove(state, DECIDED, DECIDED);
                back(state.position, child.mv);
            }
            if (if attacks { known.delta } else { known.phi }) == 0 {
                ways.push((known.plies, child.mv));
            }
        }
        self.path.pop();
        Ok(ways)
    }
}
