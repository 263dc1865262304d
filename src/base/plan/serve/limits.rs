//! `[serve.limits]`: what a client may cost.

use super::DAY;
use crate::{
    keys::{Fallback::Says, Kind::Integer},
    settings::settings,
};
use serde::Serialize;

settings! {
    /// Limits per client.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    pub struct Limits in "`[serve.limits]`", "";

    connections: usize = 4096, Integer(1, 1_000_000),
        "connections at once; when they are taken, a newcomer takes the place of the connection that is idle for \
         longest, of the address with the most; some more are kept for players who return to their game";
    connections_per_address: usize = 256, Integer(1, 1_000_000),
        "connections at once from one address (IPv6: from one network of 64 bits)";
    login_attempts: u32 = 5, Integer(1, 1_000_000), "lines other than a login before a connection is closed";
    login_seconds: u64 = 60, Integer(1, DAY), "seconds that a connection has to log in";
    login_failures: u32 = 10, Integer(0, 1_000_000),
        "wrong passwords from one address after which it is locked out; 0: never";
    lockout_seconds: u64 = 600, Integer(1, 365 * DAY),
        "seconds in which wrong passwords are counted, and for which an address is locked out";
    idle_seconds: u64 = 3600, Integer(0, 365 * DAY),
        "seconds without a line in either direction after which a client is sent away that has no game and waits \
         for none; 0: never";
    unread_seconds: u64 = 60, Integer(1, DAY),
        "seconds for which a client without a game may leave everything unread before it is disconnected";
    line_bytes: usize = 8192, Integer(128, 1024 * 1024),
        "bytes of a line that are read; the rest of a longer line is dropped";
    lines_per_second: u32 = 50, Integer(1, 1_000_000),
        "lines read in a second from a connection, moves in turn not counted; later lines wait. All connections of \
         an address have 4 times as many, all connections together 40 times; long answers count for several lines";
    unread_bytes: usize = 524288, Integer(16 * 1024, 1024 * 1024 * 1024),
        "bytes that wait for a client that does not read, before it is disconnected; a game summary has to fit";
    buoys: usize = 1000, Integer(0, 1_000_000), "buoys at once";
    buoys_per_player: usize = 20, Integer(0, 1_000_000), "buoys at once of one player";
    buoys_per_address: usize = 50, Integer(0, 1_000_000),
        "buoys at once that were set from one address (IPv6: from one network of 64 bits) since the host started";
    games_per_hour: u32 = 600, Integer(0, 1_000_000_000),
        "open league: games that a player may begin in an hour; all players of an address together 4 times as many; \
         0: any number";
    games_per_address: Option<usize> = None shown Says("two fifths of `connections_per_address`"), Integer(1, 1_000_000),
        "open league: games at once in which players of one address play; a game of two of them counts once";
    names_per_hour: Option<u32> = None shown Says("as `connections_per_address`"), Integer(0, 1_000_000_000),
        "open league: names that begin their first game, from one address in an hour; who has played before is not \
         concerned; 0: any number";
    game_bytes: usize = 131072, Integer(8192, 1024 * 1024 * 1024),
        "bytes that are kept of a player's lines in a game, a sixteenth of them for lines that the game does not \
         expect, and as many of its comments; moves and results are always kept";
    kept_mb_per_hour: u64 = 8, Integer(1, 1_000_000),
        "megabytes that are kept in an hour of comments, long lines and lines that no game expects of all players of \
         an address; moves and results are always kept";
}

/// Open files of a host beside those of connections: the database, records, screens, and four for each engine.
const OTHER_FILES: u64 = 256;

impl Limits {
    /// Open files that a host with so many connections needs, and those kept for returning players.
    pub fn files(connections: usize) -> u64 {
        let connections = u64::try_from(connections).unwrap_or(u64::MAX);
        connections.saturating_add(connections / 16 + OTHER_FILES)
    }

    /// Connections for which so many open files are enough.
    pub fn connections_within(files: u64) -> usize {
        // A few connections are better than none, and leave as many files as there are.
        let left = files.saturating_sub(OTHER_FILES).max(files / 2);
        usize::try_from(left / 17 * 16).unwrap_or(usize::MAX).max(1)
    }

    /// Games at once in which players of one address play: by default two fifths of its connections, so that a room
    /// full of players is never refused, and some connections are left over.
    pub fn games_at_once(&self) -> usize {
        let (connections, few) = (self.connections_per_address, 16);
        let default = (connections / 2).min(few).max(connections / 5 * 2).max(1);
        self.games_per_address.unwrap_or(default)
    }

    /// Names that begin their first game, from one address in an hour: by default as many as its connections.
    pub fn names(&self) -> u32 {
        let default = u32::try_from(self.connections_per_address).unwrap_or(u32::MAX);
        self.names_per_hour.unwrap_or(default)
    }
}
