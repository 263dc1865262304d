//! The transcripts recorded from floodgate's server, and where this host deviates from them.

pub use testing::conversation::{Line, Step};

/// Transcripts in which time passes, with the share of each wait to keep. No other transcript depends on time.
const PACE: [(&str, f64); 8] = [
    // The league must notice the disconnection before the opponent moves.
    ("13_", 1.0 / 16.0),
    // This host sends #TIME_UP when the flag falls, not a minute later: as many keep-alives must arrive before it.
    ("20a_", 1.0 / 16.0),
    ("20b_", 1.0),
    ("20c_", 1.0),
    ("20d_", 1.0),
    // For the same reason.
    ("20e_", 0.8),
    ("20f_", 1.0),
    // The late move must arrive after #TIME_UP.
    ("24_", 1.5),
];
/// Shorter waits are noise of the recording.
const WAIT: f64 = 0.5;
/// Most time waited beyond a whole second; the rest of the second absorbs the lateness of the machine.
const BEYOND: f64 = 0.3;

/// Share of the waits to keep in a transcript in which time passes; `None` for others.
pub fn pace(name: &str) -> Option<f64> {
    PACE.iter().find(|(of, _)| name.starts_with(of)).map(|(_, pace)| *pace)
}

/// Time to wait where `recorded` seconds passed.
pub fn wait(recorded: f64, pace: f64) -> f64 {
    let wait = if recorded < WAIT { 0.0 } else { recorded * pace };
    wait.floor() + wait.fract().min(BEYOND)
}

/// In this transcript two connections share a letter. These are the lines from the third player's on: `A` and `B` play
/// the first game, `a` and `b` the second. One keep-alive is left out (`.`): it only made shogi-server read its input,
/// and whether it is answered depends on timing.
const NAMESAKES: (&str, &str) = ("21_", "CCC A C AB B.a AAA BBB bbb aaa BbA");

/// A recorded line that our host sends differently.
pub struct Deviation {
    /// Prefix of the transcript's name.
    pub of: &'static str,
    /// Prefix of the recorded line after which it is looked for; empty: from the beginning.
    pub after: &'static str,
    /// Prefix of the recorded line, without a spectator's mark; each deviation occurs once.
    pub recorded: &'static str,
    pub ours: Vec<String>,
}

/// All deviations of our host from shogi-server, dates and times apart.
pub fn deviations(name: &str) -> Vec<Deviation> {
    let deviation = |of, after, recorded, ours: &[&str]| {
        let ours = ours.iter().map(|line| (*line).to_owned()).collect();
        Deviation { of, after, recorded, ours }
    };
    let version = format!("##[VERSION] Renmei {}", env!("CARGO_PKG_VERSION"));
    let late = "##[ERROR] you are in connected status. MOVE is valid in game status";
    let all = vec![
        // A dropped connection loses at once, not at the opponent's next move.
        deviation("13_", "", "+2726FU,T4", &[]),
        deviation("17_", "", "##[VERSION] Shogi Server", &[&version]),
        // A buoy left over from an earlier recording.
        deviation("17_", "", "##[ERROR] duplicated buoy game name: buoy_test_1", &["##[SETBUOY] +OK"]),
        // shogi-server reads the number of moves to fork after as 0, whatever its value.
        deviation(
            "17_",
            "",
            "##[ERROR] number of moves to fork is out of range: 2.",
            &["##[FORK]: new buoy game name: buoy_myfork-600-10", "##[FORK] +OK", "##[SETBUOY] +OK"],
        ),
        // #TIME_UP has been sent already, so this move belongs to no game.
        deviation("24_", "#TIME_UP", "#LOSE", &["#LOSE", late]),
        // Spectators see the board after the last move, also when it completes a repetition.
        deviation("24_", "Current_Turn:13", "P8", &["P8 * +KA *  * +OU *  * +HI * "]),
        deviation("24_", "Current_Turn:13", "P9", &["P9+KY+KE+GI+KI * +KI+GI+KE+KY"]),
        deviation("24_", "Current_Turn:13", "+", &["-"]),
    ];
    all.into_iter().filter(|deviation| name.starts_with(deviation.of)).collect()
}

/// Renames connections of a transcript that share a letter.
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
