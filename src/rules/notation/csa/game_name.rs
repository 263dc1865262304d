//! Game names, which encode time control and start position, and passwords with a game name, as in shogi-server and
//! on floodgate.

use referee::{
    Color,
    clock::{Accounting, TimeControl},
};
use std::{
    collections::{HashMap, HashSet},
    fmt,
    str::FromStr,
    time::Duration,
};

/// The colour that a player asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Wish {
    /// `+`.
    Black,
    /// `-`.
    White,
    /// `*`: any.
    #[default]
    Either,
}

impl Wish {
    /// Reads `+`, `-` or `*`.
    pub fn read(text: &str) -> Option<Self> {
        match text {
            "+" => Some(Self::Black),
            "-" => Some(Self::White),
            "*" => Some(Self::Either),
            _ => None,
        }
    }

    /// The colour; `None` for any.
    pub fn color(self) -> Option<Color> {
        match self {
            Self::Black => Some(Color::Black),
            Self::White => Some(Color::White),
            Self::Either => None,
        }
    }

    /// True if two players with these wishes can meet.
    pub fn fits(self, other: Self) -> bool {
        self == Self::Either || self != other
    }
}

/// A name such as `test-600-10`: a label, main time and byoyomi in seconds; `-10F` is a Fischer increment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GameName {
    text: String,
    seconds: [u32; 3],
    stop_watch: bool,
}

/// A name that is not the name of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadGameName {
    /// The times are missing.
    #[error("game name should consist of three parts like game-1500-60.")]
    Parts,
    /// Characters that a name must not have, or too many characters.
    #[error("invalid identifiers are found or too many characters are used.")]
    Characters,
}

/// Where a handicap game starts: the pieces are taken from *black's* camp and black moves first, as in shogi-server
/// (elsewhere white gives the odds).
const HANDICAPS: [(&str, &str); 9] = [
    ("hclance_", "1B5R1/1NSGKGSNL"),
    ("hcbishop_", "7R1/LNSGKGSNL"),
    ("hcrook_", "1B7/LNSGKGSNL"),
    ("hcrooklance_", "1B7/1NSGKGSNL"),
    ("hc2p_", "9/LNSGKGSNL"),
    ("hc4p_", "9/1NSGKGSN1"),
    ("hc6p_", "9/2SGKGS2"),
    ("hc8p_", "9/3GKG3"),
    ("hc10p_", "9/4K4"),
];

/// Longest name of a game, in characters.
const NAME_MAX: usize = 64;

impl GameName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The time of both players, counted as CSA servers do: in whole seconds or, where the name asks for it, as with
    /// a stop-watch.
    pub fn time(&self) -> TimeControl {
        let [main, byoyomi, increment] = self.seconds.map(|s| Duration::from_secs(u64::from(s)));
        let accounting = if self.stop_watch { Accounting::StopWatch } else { Accounting::Seconds };
        TimeControl { main, byoyomi, increment, accounting, ..TimeControl::default() }
    }

    /// True if the second number begins with a zero: time is counted in multiples of the byoyomi.
    pub fn is_stop_watch(&self) -> bool {
        self.stop_watch
    }

    /// True if games of this name are paired at fixed times instead of by order of arrival.
    pub fn is_floodgate(&self) -> bool {
        self.text.starts_with("floodgate-")
    }

    /// True if games of this name start from moves set with `%%SETBUOY`.
    pub fn is_buoy(&self) -> bool {
        self.text.starts_with("buoy_")
    }

    /// The start position as SFEN, if the name asks for a handicap.
    pub fn handicap(&self) -> Option<String> {
        let (_, camp) = HANDICAPS.iter().find(|(prefix, _)| self.text.starts_with(prefix))?;
        Some(format!("lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/{camp} b - 1"))
    }
}

impl FromStr for GameName {
    type Err = BadGameName;

    fn from_str(text: &str) -> Result<Self, BadGameName> {
        let allowed = |b: u8| b.is_ascii_alphanumeric() || b"_-@.".contains(&b);
        let mut parts = text.rsplitn(3, '-');
        let (Some(last), Some(main), Some(name)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(BadGameName::Parts);
        };
        let (last, fischer) = last.strip_suffix('F').map_or((last, false), |last| (last, true));
        let (main, extra) = seconds(main).zip(seconds(last)).ok_or(BadGameName::Parts)?;
        if name.is_empty() || name.starts_with('.') || text.len() > NAME_MAX || !text.bytes().all(allowed) {
            return Err(BadGameName::Characters);
        }
        let stop_watch = !fischer && last.len() > 1 && last.starts_with('0');
        let seconds = if fischer { [main, 0, extra] } else { [main, extra, 0] };
        Ok(Self { text: text.to_owned(), seconds, stop_watch })
    }
}

/// At most 999999 seconds, eleven days.
fn seconds(digits: &str) -> Option<u32> {
    let plain = (1..=6).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten()
}

impl fmt::Display for GameName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The content of the password of a CSA-mode login: `game`, `game,trip`, `game-B,trip`, or a trip alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The game asked for; by default `default-1500-0`.
    pub game: GameName,
    /// The colour asked for.
    pub wish: Wish,
    /// Secret that identifies the player; a player without one is not rated.
    pub trip: Option<String>,
}

impl Entry {
    /// Why a password that means a game does not name one: two times follow a name, or a comma nothing. Others are a trip.
    pub fn fault(password: &str) -> Option<BadGameName> {
        let (name, _) = wished(password.split(',').next().unwrap_or_default());
        let is_time = |part: &&str| part.starts_with(|first: char| first.is_ascii_digit());
        let parts: Vec<&str> = name.rsplitn(3, '-').collect();
        let means_game = password.starts_with(',') || parts.len() == 3 && parts[..2].iter().all(is_time);
        means_game.then(|| name.parse::<GameName>().err()).flatten()
    }

    /// Reads a password.
    pub fn read(password: &str) -> Self {
        let (name, trip) =
            password.split_once(',').map_or((password, None), |(name, trip)| (name, Some(trip)));
        let (name, wish) = wished(name);
        match name.parse() {
            Ok(game) => Self { game, wish, trip: trip.filter(|trip| !trip.is_empty()).map(str::to_owned) },
            Err(_) => {
                let game =
                    GameName { text: "default-1500-0".to_owned(), seconds: [1500, 0, 0], stop_watch: false };
                Self { game, wish: Wish::Either, trip: Some(password.to_owned()) }
            }
        }
    }
}

fn wished(text: &str) -> (&str, Wish) {
    let suffixes = [("-B", Wish::Black), ("-b", Wish::Black), ("-W", Wish::White), ("-w", Wish::White)];
    let found =
        suffixes.iter().find_map(|(suffix, wish)| text.strip_suffix(suffix).map(|name| (name, *wish)));
    found.unwrap_or((text, Wish::Either))
}

/// The public id of a player: the name and, with a trip, `+` and the MD5 of the trip in hex. The hash is unsalted and
/// public, as on floodgate: it proves only that two logins know the same trip.
pub fn player_id(name: &str, trip: Option<&str>) -> String {
    use md5::{Digest, Md5};
    use std::fmt::Write;
    let mut id = name.to_owned();
    if let Some(trip) = trip {
        id.push('+');
        for byte in Md5::digest(trip.as_bytes()) {
            let _infallible = write!(id, "{byte:02x}");
        }
    }
    id
}

/// Least characters of a trip in a short id.
const SHORT_TRIP: usize = 4;

/// Ids of players for people: the name alone, or with as much of the trip as distinguishes players of the same name. The
/// database keeps the full ids.
pub fn short_ids(ids: &[String]) -> Vec<String> {
    let mut bearers: HashMap<&str, Vec<&str>> = HashMap::new();
    for id in ids {
        bearers.entry(name_of(id)).or_default().push(id);
    }
    let shared = bearers.into_iter().filter(|(_, ids)| ids.len() > 1);
    let shown: HashMap<&str, usize> = shared.map(|(name, ids)| (name, distinguishing(name, &ids))).collect();
    ids.iter()
        .map(|id| shown.get(name_of(id)).map_or(name_of(id), |trip| cut(id, *trip)).to_owned())
        .collect()
}

/// The name of an id.
fn name_of(id: &str) -> &str {
    id.split('+').next().unwrap_or_default()
}

/// An id with the first characters of its trip.
fn cut(id: &str, trip: usize) -> &str {
    let end = name_of(id).chars().count() + 1 + trip;
    id.char_indices().nth(end).map_or(id, |(at, _)| &id[..at])
}

/// Fewest characters of their trips that distinguish these players of one name.
fn distinguishing(name: &str, ids: &[&str]) -> usize {
    let longest = ids.iter().map(|id| id.chars().count() - name.chars().count()).max().unwrap_or(0);
    let distinct =
        |trip: &usize| ids.iter().map(|id| cut(id, *trip)).collect::<HashSet<_>>().len() == ids.len();
    (SHORT_TRIP..longest).find(distinct).unwrap_or(longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_ids_have_no_trip_unless_two_players_share_a_name() {
        let short = |ids: &[&str]| short_ids(&ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>());
        assert_eq!(short(&["a+97d76f4c5a8f", "b"]), ["a", "b"]);
        assert_eq!(short(&["a+97d76f", "a+97d7bb", "a", "b+1234567"]), ["a+97d76", "a+97d7b", "a", "b"]);
        assert_eq!(short(&["a+1234567", "a+abcdefg"]), ["a+1234", "a+abcd"]);
    }

    fn name(text: &str) -> GameName {
        text.parse().unwrap()
    }

    #[test]
    fn a_name_carries_main_time_byoyomi_and_increment() {
        let secs = Duration::from_secs;
        let time = name("test-600-10").time();
        assert_eq!((time.main, time.byoyomi, time.increment), (secs(600), secs(10), secs(0)));
        let time = name("floodgate-300-10F").time();
        assert_eq!((time.main, time.byoyomi, time.increment), (secs(300), secs(0), secs(10)));
        assert!(name("floodgate-300-10F").is_floodgate() && !name("test-600-10").is_floodgate());
        assert!(name("sw-6-02").is_stop_watch() && !name("sw-6-0").is_stop_watch());
        assert!(name("a-b-c-6-0").handicap().is_none());
    }

    #[test]
    fn names_without_times_and_names_with_invalid_characters_are_distinguished() {
        for bad in
            ["badname", "", "-", "a-b", "x-600", "x-600-10G", "x--10", "x-600-", "x-1234567-0", "x-+6-0"]
        {
            assert_eq!(bad.parse::<GameName>(), Err(BadGameName::Parts), "{bad}");
        }
        let long = format!("{}-600-10", "x".repeat(80));
        for bad in ["a/b-600-10", "-600-10", "あ-600-10", "../x-600-10", &long] {
            assert_eq!(bad.parse::<GameName>(), Err(BadGameName::Characters), "{bad}");
        }
    }

    #[test]
    fn passwords_name_the_game_the_colour_and_the_trip() {
        let read = |password| {
            let entry = Entry::read(password);
            (entry.game.to_string(), entry.wish, entry.trip)
        };
        let trip = |trip: &str| Some(trip.to_owned());
        assert_eq!(read("test-900-0,tripA"), ("test-900-0".to_owned(), Wish::Either, trip("tripA")));
        assert_eq!(read("test-900-0"), ("test-900-0".to_owned(), Wish::Either, None));
        assert_eq!(read("t-300-10F-b,x,y"), ("t-300-10F".to_owned(), Wish::Black, trip("x,y")));
        assert_eq!(read("t-300-10-W"), ("t-300-10".to_owned(), Wish::White, None));
        assert_eq!(read("pass1"), ("default-1500-0".to_owned(), Wish::Either, trip("pass1")));
    }

    #[test]
    fn a_password_that_means_a_game_names_one() {
        for bad in ["g-600-10f", "g-1.5-10", "g-600-99999999999", "-600-10,trip", ",trip", "g-600-10f-B,trip"]
        {
            assert!(Entry::fault(bad).is_some(), "{bad}");
        }
        for good in ["g-600-10", "g-300-10F-W,a,b-1-2x", "pass1", "my-own-secret", "two-3", "a,b-c", "g-0-0"]
        {
            assert_eq!(Entry::fault(good), None, "{good}");
        }
    }

    #[test]
    fn a_trip_is_shown_as_its_md5() {
        assert_eq!(player_id("alice", Some("trip1")), "alice+97d76f4c5a8fcd7d265271e5b9f6dab6");
        assert_eq!(player_id("alice", None), "alice");
    }
}
