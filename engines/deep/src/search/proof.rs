//! Proven results, packed into the 32 bits that a node has for them.

use usi_shell::{Repetition, Return};

use super::Proven;

/// A proven result for the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proof {
    /// The result.
    pub result: Proven,
    /// True if it depends on scoring a first repetition as the fourth occurrence. Such a proof holds only for
    /// searches from the same root: once the game has passed the position, its first repetition ends nothing.
    pub by_return: bool,
}

const KIND: u32 = 0b11;
const BY_RETURN: u32 = 1 << 2;
const EPOCH_SHIFT: u32 = 3;
const EPOCH: u32 = 0xff;
const PLIES_SHIFT: u32 = 11;
const MOST_PLIES: u32 = u32::MAX >> PLIES_SHIFT;

impl Proven {
    /// [`Proof::of_children`] of results independent of the path.
    pub(crate) fn of_children(children: impl Iterator<Item = Option<Self>>) -> Option<Self> {
        Proof::of_children(children.map(|child| child.map(Proof::firm))).map(|proof| proof.result)
    }
}

impl Proof {
    /// A proof independent of the path.
    pub const fn firm(result: Proven) -> Self {
        Self { result, by_return: false }
    }

    /// The proof by a repetition.
    pub fn of_return(found: Return) -> Self {
        let result = match found.means {
            Repetition::Win => Proven::Win(0),
            Repetition::Loss => Proven::Loss(0),
            Repetition::Draw => Proven::Draw,
        };
        Self { result, by_return: !found.by_rule }
    }

    /// The packed form. `epoch` identifies the root.
    pub fn pack(self, epoch: u32) -> u32 {
        let (kind, plies) = match self.result {
            Proven::Win(plies) => (1, plies),
            Proven::Loss(plies) => (2, plies),
            Proven::Draw => (3, 0),
        };
        let flag = if self.by_return { BY_RETURN } else { 0 };
        kind | flag | (epoch & EPOCH) << EPOCH_SHIFT | plies.min(MOST_PLIES) << PLIES_SHIFT
    }

    /// Unpacks a proof if it holds in `epoch`.
    pub fn unpack(word: u32, epoch: u32) -> Option<Self> {
        let plies = word >> PLIES_SHIFT;
        let result = match word & KIND {
            1 => Proven::Win(plies),
            2 => Proven::Loss(plies),
            3 => Proven::Draw,
            _ => return None,
        };
        let by_return = word & BY_RETURN != 0;
        let holds = !by_return || (word >> EPOCH_SHIFT) & EPOCH == epoch & EPOCH;
        holds.then_some(Self { result, by_return })
    }

    /// The proof of a position by those of its children, `None` for unproven ones: a win by the child lost for
    /// the opponent in the fewest plies; a loss or a draw only if all children are proven and none is better,
    /// by the longest.
    pub fn of_children(children: impl Iterator<Item = Option<Self>>) -> Option<Self> {
        let (mut win, mut rest, mut open) = (None::<Self>, Some(Self::firm(Proven::Loss(0))), false);
        for child in children {
            match child {
                None => open = true,
                Some(Self { result: Proven::Loss(plies), by_return }) => {
                    let found = Self { result: Proven::Win(plies + 1), by_return };
                    win = Some(win.map_or(found, |best| best.shorter(found)));
                }
                Some(child) => rest = rest.map(|rest| rest.or_worse(child)),
            }
        }
        win.or(rest.filter(|_| !open))
    }

    fn shorter(self, other: Self) -> Self {
        match (self.result, other.result) {
            (Proven::Win(one), Proven::Win(two)) if two < one => other,
            _ => self,
        }
    }

    /// Combines with the proof of another child that is won or drawn for the opponent.
    fn or_worse(self, child: Self) -> Self {
        let result = match (self.result, child.result) {
            (Proven::Loss(plies), Proven::Win(child)) => Proven::Loss(plies.max(child + 1)),
            _ => Proven::Draw,
        };
        Self { result, by_return: self.by_return || child.by_return }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(children: &[Option<Proven>]) -> Option<Proven> {
        Proof::of_children(children.iter().map(|child| child.map(Proof::firm))).map(|proof| proof.result)
    }

    #[test]
    fn the_shortest_win_and_the_longest_loss_are_taken() {
        let (win, loss, draw) = (Some(Proven::Win(3)), Some(Proven::Loss(4)), Some(Proven::Draw));
        assert_eq!(of(&[None, loss, Some(Proven::Loss(2)), draw]), Some(Proven::Win(3)));
        assert_eq!(of(&[win, Some(Proven::Win(7)), Some(Proven::Win(5))]), Some(Proven::Loss(8)));
        assert_eq!(of(&[win, draw, win]), Some(Proven::Draw));
        assert_eq!(of(&[win, None, draw]), None);
    }

    #[test]
    fn a_proof_by_repetition_holds_for_its_root_only() {
        let proof = Proof { result: Proven::Win(9), by_return: true };
        assert_eq!(Proof::unpack(proof.pack(5), 5), Some(proof));
        assert_eq!(Proof::unpack(proof.pack(5), 6), None);
        let firm = Proof::firm(Proven::Loss(12));
        assert_eq!(Proof::unpack(firm.pack(5), 6), Some(firm));
        assert_eq!(Proof::unpack(0, 0), None);
    }

    #[test]
    fn a_derived_proof_depends_on_repetition_if_its_children_do() {
        let children = [Proof { result: Proven::Draw, by_return: true }, Proof::firm(Proven::Win(1))];
        assert!(Proof::of_children(children.into_iter().map(Some)).is_some_and(|proof| proof.by_return));
        let lost = Proof::firm(Proven::Loss(0));
        let children = [children[0], lost].map(Some);
        assert_eq!(Proof::of_children(children.into_iter()), Some(Proof::firm(Proven::Win(1))));
    }
}
