//! Why the host refuses what a player asks for.

use super::{lobby::NEARLY_FULL, requests::clipped};
use notation::csa::game_name::{GameName, Wish};
use std::time::Duration;

/// Why the host refuses what a player asks for: the line that the player gets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    #[error("As the service is going to shutdown shortly, starting new games is not allowed now.")]
    Closing,
    #[error("{NEARLY_FULL}")]
    NearlyFull,
    #[error("a stop-watch needs a main time: {0}")]
    StopWatch(GameName),
    #[error("buoy game not found: {}", clipped(.0))]
    NoBuoy(String),
    #[error("You are not allowed to specify TEBAN {1} for the game {0}")]
    Color(GameName, Wish),
    #[error("Random turn preference is not allowed for handicapped games")]
    NoColor,
    #[error("wrong buoy game name: {}", clipped(.0))]
    BuoyName(String),
    #[error("duplicated buoy game name: {0}")]
    SecondBuoy(String),
    #[error("invalid count: {0}")]
    Count(i64),
    #[error("invalid count: {0}; a buoy is good for {1} games at most")]
    LongCount(i64, i64),
    #[error("wrong moves: {}", clipped(.0))]
    Moves(String),
    #[error("you have set {0} buoys, and may set no more; %%DELETEBUOY deletes one")]
    OwnBuoys(usize),
    #[error("{0} buoys were set from your address, and no more may be")]
    BuoysFromHere(usize),
    #[error("too many buoys are set")]
    Buoys,
    #[error("you are not allowed to delete a buoy game that you did not set: {}", clipped(.0))]
    ForeignBuoy(String),
    #[error("you have begun {games} games in an hour; ask again in {} s", wait.as_secs() + 1)]
    OwnGames { games: u32, wait: Duration },
    #[error("the players of your address have begun {games} games in an hour; ask again in {} s", wait.as_secs() + 1)]
    GamesFromHere { games: u32, wait: Duration },
    #[error("{here} games are played from your address, and there may be {most} at once")]
    AtOnce { here: usize, most: usize },
    #[error("{names} new names have come from your address in an hour; ask again in {} s", wait.as_secs() + 1)]
    NewNames { names: u32, wait: Duration },
    #[error("no event here has the game `{0}`; there is {1}")]
    NoGame(String, String),
    #[error("no event here has a player `{0}`")]
    NoPlayer(String),
    #[error("several events here have a player `{0}`: give a game of one of them in the password, {1}")]
    Several(String, String),
}
