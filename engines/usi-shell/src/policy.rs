//! How an engine divides the time of its clock among its moves: the option `TimePolicy`.

use std::fmt::{self, Display};
use std::str::FromStr;
use std::time::Duration;

use crate::limits::Budget;

/// A division of the clock. The default is what the shell does without the option.
///
/// As text it is words `KEY=VALUE` with blanks between them, and what is left out keeps its default:
/// `moves=40 least_moves=15 ply1=70 ply41=120 decided=1500:50`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimePolicy {
    /// Own moves that the main time should last at the first move; each own move takes one away.
    pub moves: u32,
    /// Never fewer own moves than these.
    pub least_moves: u32,
    /// Percent of the main time left that one move may take at most.
    pub most: u32,
    /// Main time that is not divided: it remains for what goes wrong.
    pub reserve: Duration,
    /// Time that every move has, however little is planned for it.
    pub floor: Duration,
    /// Percent of the planned time from a ply on, in the order of plies; 100 before the first.
    pub phases: Vec<(u32, u32)>,
    /// Percent of the planned time where the opponent has played the expected reply.
    pub expected: u32,
    /// Percent of the planned time where the last score was beyond so many centipawns, in favour of either side.
    pub decided: Option<(u32, u32)>,
}

/// Most phases of a policy.
pub const MOST_PHASES: usize = 32;
/// Most percent of the planned time.
const MOST_PERCENT: u32 = 1000;
/// Most own moves that main time is divided by.
const MOST_MOVES: u32 = 1000;
/// Longest reserve and floor in ms: a day.
const MOST_MILLIS: u32 = 86_400_000;
/// Largest centipawns.
const MOST_SCORE: u32 = 100_000;
/// The longest time that is computed with: a year.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

impl Default for TimePolicy {
    /// Games between shogi engines take 110 to 150 plies on average, and a long game is likely to last longer still.
    fn default() -> Self {
        Self {
            moves: 60,
            least_moves: 20,
            most: 20,
            reserve: Duration::ZERO,
            floor: Duration::ZERO,
            phases: Vec::new(),
            expected: 100,
            decided: None,
        }
    }
}

/// One side's clock at its turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OwnClock {
    /// Main time left, without byoyomi and the increment of this move.
    pub time: Duration,
    /// Time per move once the main time is used up.
    pub byoyomi: Duration,
    /// Increment per move.
    pub increment: Duration,
}

/// What an engine knows of the game from its last search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// The last score in centipawns, from its own side; a mate is more than any limit.
    pub score: Option<i32>,
    /// True if the opponent has played the reply that the last search expected.
    pub expected: bool,
}

impl TimePolicy {
    /// The time budget of a move at `ply` (from 1).
    ///
    /// `delay` is deducted from each move for the latency between engine and clock, but at most half of the
    /// available time, so that a short byoyomi still leaves time to search. No budget exceeds what is available.
    #[must_use]
    pub fn budget(&self, clock: OwnClock, ply: u32, seen: Seen, delay: Duration) -> Budget {
        let [time, byoyomi, increment] =
            [clock.time, clock.byoyomi, clock.increment].map(|it| it.min(LONGEST));
        // The increment is added after the move, so this move cannot use it; it only enters the plan.
        let all = time + byoyomi;
        let all = all.saturating_sub(delay.min(all / 2));
        let divided = time.saturating_sub(self.reserve);
        let plan = divided / self.moves_to_come(ply) + increment + byoyomi;
        // Byoyomi that is not used is lost, once it is all there is.
        let plan = if time.is_zero() && increment.is_zero() { plan } else { self.weighed(plan, ply, seen) };
        let soft = plan.max(self.floor);
        let hard = (percent(divided, self.most) + increment + byoyomi).max(soft);
        Budget { soft: soft.min(all), hard: hard.min(all) }
    }

    /// Number of own moves that the remaining time should last.
    fn moves_to_come(&self, ply: u32) -> u32 {
        self.moves.saturating_sub(ply / 2).max(self.least_moves).max(1)
    }

    fn weighed(&self, plan: Duration, ply: u32, seen: Seen) -> Duration {
        let phase = self.phases.iter().rfind(|(from, _)| *from <= ply).map_or(100, |(_, share)| *share);
        let expected = if seen.expected { self.expected } else { 100 };
        let is_beyond = |limit: u32| seen.score.is_some_and(|score| score.unsigned_abs() > limit);
        let decided = self.decided.filter(|(limit, _)| is_beyond(*limit)).map_or(100, |(_, share)| share);
        [phase, expected, decided].into_iter().fold(plan, percent)
    }
}

fn percent(time: Duration, share: u32) -> Duration {
    time.saturating_mul(share) / 100
}

/// Why a text is no policy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// A word without `=`, or with an unknown key.
    #[error("`{0}` is not a word of a time policy, such as `moves=40` or `ply41=120`")]
    Unknown(String),
    /// A value that is not a number in range.
    #[error("`{word}` needs {expected}")]
    Value {
        /// The word as given.
        word: String,
        /// The values accepted.
        expected: &'static str,
    },
    /// Phases that are not in the order of plies, or too many of them.
    #[error("phases have to be in the order of their plies, and no more than {MOST_PHASES}")]
    Phases,
}

impl FromStr for TimePolicy {
    type Err = PolicyError;

    fn from_str(text: &str) -> Result<Self, PolicyError> {
        let mut policy = Self::default();
        text.split_ascii_whitespace().try_for_each(|word| policy.set(word))?;
        let is_sorted = policy.phases.is_sorted_by(|(one, _), (next, _)| one < next);
        if is_sorted && policy.phases.len() <= MOST_PHASES { Ok(policy) } else { Err(PolicyError::Phases) }
    }
}

impl TimePolicy {
    fn set(&mut self, word: &str) -> Result<(), PolicyError> {
        let (key, value) = word.split_once('=').ok_or_else(|| PolicyError::Unknown(word.to_owned()))?;
        let fault = |expected| PolicyError::Value { word: word.to_owned(), expected };
        let within = |text: &str, least: u32, most: u32| {
            text.parse().ok().filter(|number| (least..=most).contains(number))
        };
        let share = |text: &str| within(text, 1, MOST_PERCENT);
        let moves = || within(value, 1, MOST_MOVES).ok_or_else(|| fault("a number of moves from 1 to 1000"));
        let a_share = || share(value).ok_or_else(|| fault("a percentage from 1 to 1000"));
        let millis = || {
            let number = within(value, 0, MOST_MILLIS).ok_or_else(|| fault("milliseconds, a day at most"));
            number.map(|ms| Duration::from_millis(ms.into()))
        };
        match key {
            "moves" => self.moves = moves()?,
            "least_moves" => self.least_moves = moves()?,
            "most" => {
                self.most = within(value, 1, 100).ok_or_else(|| fault("a percentage from 1 to 100"))?;
            }
            "reserve" => self.reserve = millis()?,
            "floor" => self.floor = millis()?,
            "expected" => self.expected = a_share()?,
            "decided" => {
                let pair = value.split_once(':');
                let pair = pair.and_then(|(cp, part)| Some((within(cp, 0, MOST_SCORE)?, share(part)?)));
                self.decided =
                    Some(pair.ok_or_else(|| fault("centipawns and a percentage, such as `1500:50`"))?);
            }
            _ => {
                let ply = key.strip_prefix("ply").and_then(|ply| within(ply, 1, MOST_MOVES));
                let ply = ply.ok_or_else(|| PolicyError::Unknown(word.to_owned()))?;
                self.phases.push((ply, a_share()?));
            }
        }
        Ok(())
    }
}

impl Display for TimePolicy {
    /// Only what differs from the default, so that the default is the empty text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let usual = Self::default();
        let mut words = vec![];
        let mut word = |key: &str, value: u128, usual: u128| {
            if value != usual {
                words.push(format!("{key}={value}"));
            }
        };
        word("moves", self.moves.into(), usual.moves.into());
        word("least_moves", self.least_moves.into(), usual.least_moves.into());
        word("most", self.most.into(), usual.most.into());
        word("reserve", self.reserve.as_millis(), 0);
        word("floor", self.floor.as_millis(), 0);
        word("expected", self.expected.into(), usual.expected.into());
        words.extend(self.decided.map(|(score, share)| format!("decided={score}:{share}")));
        words.extend(self.phases.iter().map(|(ply, share)| format!("ply{ply}={share}")));
        f.write_str(&words.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn soft(policy: &str, time: u64, ply: u32, seen: Seen) -> u128 {
        let clock = OwnClock { time: ms(time), byoyomi: ms(0), increment: ms(0) };
        let policy: TimePolicy = policy.parse().unwrap();
        policy.budget(clock, ply, seen, ms(0)).soft.as_millis()
    }

    #[test]
    fn a_policy_survives_its_text() {
        let text = "moves=40 least_moves=15 most=25 reserve=500 floor=10 expected=80 decided=1500:50 ply1=70 ply41=120";
        assert_eq!(text.parse::<TimePolicy>().unwrap().to_string(), text);
        assert_eq!("".parse(), Ok(TimePolicy::default()));
        assert_eq!(TimePolicy::default().to_string(), "");
    }

    #[test]
    fn what_is_no_policy_is_refused_with_the_word() {
        for (text, why) in [
            ("moves", "`moves` is not a word of a time policy, such as `moves=40` or `ply41=120`"),
            ("moves=0", "`moves=0` needs a number of moves from 1 to 1000"),
            ("plyx=3", "`plyx=3` is not a word of a time policy, such as `moves=40` or `ply41=120`"),
            ("decided=50", "`decided=50` needs centipawns and a percentage, such as `1500:50`"),
            ("ply41=50 ply1=70", "phases have to be in the order of their plies, and no more than 32"),
        ] {
            assert_eq!(text.parse::<TimePolicy>().unwrap_err().to_string(), why);
        }
    }

    #[test]
    fn phases_scores_and_expected_replies_weigh_the_plan() {
        let seen = Seen::default();
        assert_eq!(soft("", 60_000, 1, seen), 1000);
        assert_eq!(soft("moves=30", 60_000, 1, seen), 2000);
        assert_eq!(soft("reserve=30000", 60_000, 1, seen), 500);
        assert_eq!(soft("ply1=50 ply11=200", 60_000, 10, seen), 545);
        assert_eq!(soft("ply1=50 ply11=200", 60_000, 11, seen), 2181);
        assert_eq!(soft("expected=50", 60_000, 1, Seen { expected: true, ..seen }), 500);
        assert_eq!(soft("decided=1500:50", 60_000, 1, Seen { score: Some(-1501), ..seen }), 500);
        assert_eq!(soft("decided=1500:50", 60_000, 1, Seen { score: Some(1500), ..seen }), 1000);
        assert_eq!(soft("floor=1200", 60_000, 1, seen), 1200);
    }

    #[test]
    fn no_policy_has_more_than_the_clock() {
        for policy in ["", "moves=1 most=100 floor=86400000 ply1=1000", "reserve=86400000 expected=1000"] {
            let policy: TimePolicy = policy.parse().unwrap();
            for (time, byoyomi, increment) in
                [(0, 0, 0), (0, 1000, 0), (70, 0, 5000), (u64::MAX, 7, u64::MAX)]
            {
                let clock = OwnClock { time: ms(time), byoyomi: ms(byoyomi), increment: ms(increment) };
                let budget = policy.budget(clock, 99, Seen { score: Some(i32::MIN), expected: true }, ms(50));
                assert!(budget.soft <= budget.hard, "{policy} {clock:?} {budget:?}");
                assert!(budget.hard <= ms(time).saturating_add(ms(byoyomi)), "{policy} {clock:?} {budget:?}");
            }
        }
    }

    #[test]
    fn byoyomi_alone_is_used_up_whatever_the_phase() {
        let clock = OwnClock { byoyomi: ms(1000), ..OwnClock::default() };
        let policy: TimePolicy = "ply1=10".parse().unwrap();
        let budget = policy.budget(clock, 9, Seen::default(), ms(50));
        assert_eq!(budget, Budget { soft: ms(950), hard: ms(950) });
    }
}
