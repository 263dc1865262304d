//! The transcripts recorded from floodgate's server, and where this host departs from what was recorded.

pub use golden::conversation::{Line, Step};

/// Transcripts in which time passes, and how much of a wait is waited. In all others nobody waits for anything.
const PACE: [(&str, f64); 8] = [
    // The league has to notice who is gone before the opponent moves.
    ("13_", 1.0 / 16.0),
    // #TIME_UP is told at the instant here, not a minute later: as many keep-alives have to come before it.
    ("20a_", 1.0 / 16.0),
    ("20b_", 1.0),
    ("20c_", 1.0),
    ("20d_", 1.0),
    // For the same reason.
    ("20e_", 0.8),
    ("20f_", 1.0),
    // The late move has to come after #TIME_UP.
    ("24_", 1.5),
];
/// Shorter waits are the scheduling of the day.
const WAIT: f64 = 0.5;
/// What is waited beyond a whole second, at most: the rest of the second is for machines that are late.
const BEYOND: f64 = 0.3;

/// How much of a wait is waited in a transcript, if it is one in which time passes.
pub fn pace(name: &str) -> Option<f64> {
    PACE.iter().find(|(of, _)| name.starts_with(of)).map(|(_, pace)| *pace)
}

/// How long to wait where `recorded` seconds were waited.
pub fn wait(recorded: f64, pace: f64) -> f64 {
    let wait = if recorded < WAIT { 0.0 } else { recorded * pace };
    wait.floor() + wait.fract().min(BEYOND)
}

/// In this transcript two connections at a time bear one letter. These are the lines from the third player's on:
/// `A` and `B` play the first game, `a` and `b` the second. A keep-alive is left out (`.`): it was to make shogi-server
/// look at what had come, and whether it is answered depends on whether the resignation before it was.
const NAMESAKES: (&str, &str) = ("21_", "CCC A C AB B.a AAA BBB bbb aaa BbA");

/// Recorded lines that we say otherwise.
pub struct Deviation {
    /// Beginning of the transcript's name.
    pub of: &'static str,
    /// Beginning of the recorded line from which on it is looked for; empty: from the first on.
    pub after: &'static str,
    /// Beginning of the recorded line, without a spectator's mark; each deviation is met once.
    pub recorded: &'static str,
    pub ours: Vec<String>,
}

/// Everything in which the league says something else than shogi-server did, dates and times apart.
pub fn deviations(name: &str) -> Vec<Deviation> {
    let deviation = |of, after, recorded, ours: &[&str]| {
        let ours = ours.iter().map(|line| (*line).to_owned()).collect();
        Deviation { of, after, recorded, ours }
    };
    let version = format!("##[VERSION] Renmei {}", env!("CARGO_PKG_VERSION"));
    let late = "##[ERROR] you are in connected status. MOVE is valid in game status";
    let all = vec![
        // Who drops the line loses at once, not when the opponent has moved.
        deviation("13_", "", "+2726FU,T4", &[]),
        deviation("17_", "", "##[VERSION] Shogi Server", &[&version]),
        // A buoy that an earlier recording had left behind.
        deviation("17_", "", "##[ERROR] duplicated buoy game name: buoy_test_1", &["##[SETBUOY] +OK"]),
        // shogi-server reads the number of moves to fork after as 0, whatever it is.
        deviation(
            "17_",
            "",
            "##[ERROR] number of moves to fork is out of range: 2.",
            &["##[FORK]: new buoy game name: buoy_myfork-600-10", "##[FORK] +OK", "##[SETBUOY] +OK"],
        ),
        // #TIME_UP has been told already: this move belongs to no game any more.
        deviation("24_", "#TIME_UP", "#LOSE", &["#LOSE", late]),
        // Spectators see the board after the last move, also when it completes a repetition.
        deviation("24_", "Current_Turn:13", "P8", &["P8 * +KA *  * +OU *  * +HI * "]),
        deviation("24_", "Current_Turn:13", "P9", &["P9+KY+KE+GI+KI * +KI+GI+KE+KY"]),
        deviation("24_", "Current_Turn:13", "+", &["-"]),
    ];
    all.into_iter().filter(|deviation| name.starts_with(deviation.of)).collect()
}

/// Sets apart the connections of a transcript that bear one letter.
pub fn set_apart(name: &str, mut lines: Vec<Line>) -> Vec<Line> {
    let Some(owners) = Some(NAMESAKES.1).filter(|_| name.starts_with(NAMESAKES.0)) else { return lines };
    let known = |line: &Line| line.who == "A" && line.step == Step::Connected;
    let second = lines.iter().rposition(known).unwrap();
    let third = lines.iter().position(|line| line.who == "C").unwrap();
    lines[second..third].iter_mut().for_each(|line| line.who.make_ascii_lowercase());
    let owners: Vec<char> = owners.chars().filter(|c| !c.is_whitespace()).collect();
    for (line, owner) in lines[third..].iter_mut().zip(&owners) {
        line.who = owner.to_string();
    }
    lines.retain(|line| line.who != ".");
    lines
}
