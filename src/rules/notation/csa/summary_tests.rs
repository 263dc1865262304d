use super::*;
use testing::conversation::{self, Conversation, Step};

const SMALL: &str = "BEGIN Game_Summary
Protocol_Version:1.2
Protocol_Mode:Server
Format:Shogi 1.0
Game_ID:event+g-60-0+a+b+20261121000000
Name+:a
Name-:b
Your_Turn:-
Rematch_On_Draw:NO
To_Move:+
Max_Moves:0
Reconnect_Token:0123
BEGIN Time+
Time_Unit:1msec
Total_Time:60000
Delay:100
Time_Roundup:YES
END Time+
BEGIN Time-
Total_Time:600
Byoyomi:10
END Time-
BEGIN Position
P1 *  *  *  * -OU *  *  *  * 
P2 *  *  *  *  *  *  *  *  * 
P3 *  *  *  *  *  *  *  *  * 
P4 *  *  *  *  *  *  *  *  * 
P5 *  *  *  *  *  *  *  *  * 
P6 *  *  *  *  *  *  *  *  * 
P7 *  *  *  *  *  *  *  *  * 
P8 *  *  *  *  *  *  *  *  * 
P9 *  *  *  * +OU *  *  *  * 
P+00FU
+
+0055FU,T12
-5152OU
END Position
END Game_Summary
";

#[test]
fn carriage_returns_before_the_end_of_a_line_are_no_part_of_a_value() {
    let summary: Summary =
        SMALL.replace("Name+:a\n", "Name+:a\r\r\n").replace("0123\n", "0123\r\r\r\n").parse().unwrap();
    assert_eq!(summary, SMALL.parse().unwrap());
}

#[test]
fn both_time_blocks_moves_and_unknown_lines_survive_a_round_trip() {
    let summary: Summary = SMALL.parse().unwrap();
    assert_eq!(summary.to_string(), SMALL);
    assert_eq!(summary.start, "4k4/9/9/9/9/9/9/9/4K4 b P 1");
    assert_eq!(
        summary.moves,
        [("+0055FU".to_owned(), Some(ChargedTime::Units(12))), ("-5152OU".to_owned(), None)]
    );
    assert_eq!(summary.your_turn, Some(Color::White));
    let Times::Each(times) = summary.times else { panic!("a block each") };
    assert_eq!(
        (times[0].unit.unwrap().of, times[0].roundup, times[1].byoyomi),
        (Span::Msec, Some(true), Some(10))
    );
}

#[test]
fn what_is_missing_or_wrong_is_named() {
    let without = |line: &str| SMALL.replace(line, "").parse::<Summary>().unwrap_err().to_string();
    assert_eq!(without("Name-:b\n"), "game summary without `Name-`");
    assert_eq!(without("To_Move:+\n"), "game summary without `To_Move`");
    let changed = |from, to| SMALL.replace(from, to).parse::<Summary>().unwrap_err().to_string();
    assert_eq!(changed("Byoyomi:10", "Byoyomi:ten"), "unreadable line of the game summary: `Byoyomi:ten`");
    assert_eq!(
        changed("P1 *", "P1 ?"),
        "position of the game summary: cell that is neither `*`, `+` nor `-`"
    );
    assert!("".parse::<Summary>().is_err());
}

/// Reads every summary that was said in these conversations and writes it again; how many there are.
fn round_trips(conversations: &[Conversation]) -> usize {
    let mut seen = 0;
    for Conversation { name, lines, .. } in conversations {
        let clients: std::collections::BTreeSet<_> = lines.iter().map(|line| &line.who).collect();
        for client in clients {
            let heard = lines.iter().filter(|line| line.who == *client).filter_map(|line| match &line.step {
                Step::Heard(text) => Some(plain(text)),
                _ => None,
            });
            let heard: Vec<_> = heard.collect();
            for (at, _) in heard.iter().enumerate().filter(|(_, line)| **line == "BEGIN Game_Summary") {
                let end = heard[at..].iter().position(|line| *line == "END Game_Summary").unwrap();
                let block = heard[at..=at + end].join("\n") + "\n";
                assert_eq!(block.parse::<Summary>().unwrap().to_string(), block, "{name}");
                seen += 1;
            }
        }
    }
    seen
}

#[test]
fn every_summary_of_our_own_host_survives_a_round_trip() {
    let seen = round_trips(&conversation::golden());
    assert!(seen > 100, "{seen} summaries");
}

mod oracles {
    use super::*;

    #[test]
    #[ignore = "needs the oracles in ../shared/protocol/transcripts: recordings of floodgate's server"]
    fn every_summary_of_the_transcripts_survives_a_round_trip() {
        assert_eq!(round_trips(&conversation::oracle()), 154);
    }
}

/// A line of a summary without the mark it bears for spectators.
fn plain(line: &str) -> &str {
    if line.starts_with("##[MONITOR]") || line.starts_with("##[SHOW]") {
        return line.split_once("] ").map_or(line, |(_, line)| line);
    }
    line
}
