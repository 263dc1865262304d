//! The rules of a game that the configuration chooses.

use rsshogi::types::EnteringKingRule;
use serde::{Deserialize, Serialize};

/// The rules of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    /// The move limit in plies from move 1 of the game, the moves of an opening included; `None`: no limit.
    pub max_moves: Option<u32>,
    /// Ruling at the move limit.
    pub at_limit: AtLimit,
    /// The declaration rule (nyugyoku).
    pub declaration: Declaration,
    /// In handicap games, whether the pieces that white gave count for white's declaration.
    pub handicap_credit: bool,
    /// True if the start position counts as the first of the four occurrences of a sennichite, as under the rules of
    /// the Japan Shogi Association. shogi-server does not count it.
    pub count_start_position: bool,
    /// True if the game ends at once when a side has no legal move; otherwise the mated side has to resign, as on CSA
    /// servers.
    pub mate_ends_game: bool,
}

impl Rules {
    /// The rule of declarations, as positions take it.
    pub fn entering_king_rule(&self) -> EnteringKingRule {
        match (self.declaration, self.handicap_credit) {
            (Declaration::None, _) => EnteringKingRule::None,
            (Declaration::Csa27, true) => EnteringKingRule::Point27Handicap,
            (Declaration::Csa27, false) => EnteringKingRule::Point27,
            (Declaration::Csa24, true) => EnteringKingRule::Point24Handicap,
            (Declaration::Csa24, false) => EnteringKingRule::Point24,
            (Declaration::Try, _) => EnteringKingRule::TryRule,
        }
    }
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            max_moves: Some(512),
            at_limit: AtLimit::Draw,
            declaration: Declaration::Csa27,
            handicap_credit: true,
            count_start_position: true,
            mate_ends_game: true,
        }
    }
}

/// Ruling at the move limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AtLimit {
    /// A draw as soon as the last move is made, even if it mates (floodgate, CSA championship).
    #[default]
    Draw,
    /// A win if the last move mates, a draw otherwise.
    MateWins,
    /// Play goes on while the side to move is in check, until a move that gives no check (professional games); mate
    /// wins.
    CheckExtends,
}

/// The declaration (nyugyoku) rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Declaration {
    /// No declaration.
    #[serde(rename = "none")]
    None,
    /// CSA 27-point rule: 28 points for black, 27 for white.
    #[default]
    #[serde(rename = "27")]
    Csa27,
    /// 24-point rule: 31 points win, 24 to 30 draw, for either side.
    #[serde(rename = "24")]
    Csa24,
    /// Try rule: the king reaches the start square of the opponent's king (5a for black, 5i for white).
    #[serde(rename = "try")]
    Try,
}
