//! Values of fastchess and cutechess-cli in the words of `--engine`.

use plan::time_text;

/// A key of `--engine` and its value, for a word whose value is translated; or advice for the user.
pub fn translated(word: &str, value: &str) -> Result<(&'static str, String), &'static str> {
    match word {
        "tc" => clock(value),
        "st" => match value.parse::<f64>() {
            Ok(_) => Ok(("fixed", format!("{value}s"))),
            Err(_) => Err("write seconds, such as st=0.5"),
        },
        "timemargin" => match value.parse::<u64>() {
            Ok(ms) => Ok(("margin", format!("{ms}ms"))),
            Err(_) => Err("write milliseconds, such as timemargin=50"),
        },
        "restart" => match value {
            "on" => Ok(("restart", "every-game".to_owned())),
            "off" | "auto" => Ok(("restart", "on-fault".to_owned())),
            "every-game" | "on-fault" | "never" => Ok(("restart", value.to_owned())),
            _ => Err("write restart=on, restart=off or restart=auto"),
        },
        // A line for chess engines that names shogi engines means their protocol.
        _ if ["usi", "uci"].contains(&value) => Ok(("", String::new())),
        _ => Err("Renmei's engines speak USI: write proto=usi, or leave it out"),
    }
}

/// The value of `tc`: `moves/minutes:seconds+increment`, of which moves and minutes may be absent; `inf`; or a clock in
/// Renmei's own words.
fn clock<'a>(text: &'a str) -> Result<(&'static str, String), &'static str> {
    if text == "inf" || text == "infinite" {
        return Ok(("time", INFINITE.to_owned()));
    }
    let (moves, rest) = text.split_once('/').map_or(("0", text), |(moves, rest)| (moves, rest));
    if moves != "0" {
        return Err(
            "no shogi clock gives new time after a number of moves; write an increment (tc=60+1) or byoyomi \
             (\"tc=1m byoyomi 1s\")",
        );
    }
    let (main, increment) = rest.split_once('+').map_or((rest, None), |(main, it)| (main, Some(it)));
    let (minutes, seconds) = main.split_once(':').map_or(("0", main), |parts| parts);
    // Seconds may bear their unit, as Renmei's own do.
    let bare = |text: &'a str| text.strip_suffix('s').unwrap_or(text);
    let (seconds, increment) = (bare(seconds), increment.map(bare));
    let numbers = [minutes, seconds, increment.unwrap_or("0")].map(|text| text.parse::<f64>().ok());
    if let [Some(minutes), Some(seconds), Some(_)] = numbers {
        let main = format!("{}s", minutes * 60.0 + seconds);
        return Ok(("time", increment.map_or(main.clone(), |increment| format!("{main}+{increment}s"))));
    }
    let own = time_text::time_control(text).map(|_| ("time", text.to_owned()));
    own.map_err(|_| "write it as 10+0.1, 1:30+1 or 300 (seconds), or as \"10m byoyomi 30s\"")
}

/// The endless clock, which needs another limit.
pub const INFINITE: &str = "inf";
