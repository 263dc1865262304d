//! A clock in the reader's words, beside the notation of configurations.

use referee::clock::TimeControl;
use std::time::Duration;
use words::Language;

/// What a clock gives to a player, such as `5 min for all moves, 2 s more for each move`.
pub fn in_words(words: Language, time: &TimeControl) -> String {
    let given = |time: Duration, say: fn(Language, &str) -> String| {
        (!time.is_zero()).then(|| say(words, &length(words, time)))
    };
    let of_a_move =
        if time.main.is_zero() { Language::clock_of_a_move } else { Language::clock_of_a_move_afterwards };
    let parts = [
        given(time.main, Language::clock_of_all_moves),
        given(time.byoyomi, of_a_move),
        given(time.increment, Language::clock_added),
        given(time.delay, Language::clock_not_charged),
        given(time.fixed.unwrap_or_default(), Language::clock_fixed),
        time.nodes.map(|nodes| words.clock_of_nodes(nodes)),
        time.depth.map(|plies| words.clock_of_plies(plies)),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(words.pick(", ", "、"))
}

/// A length of time, such as `1 h 30 min`, to the millisecond.
fn length(words: Language, time: Duration) -> String {
    let ms = time.as_millis();
    let units = [
        (ms / 3_600_000, " h", "時間"),
        (ms / 60_000 % 60, " min", "分"),
        (ms / 1000 % 60, " s", "秒"),
        (ms % 1000, " ms", "ミリ秒"),
    ];
    let present = units.iter().filter(|(number, ..)| *number > 0);
    let parts: Vec<_> =
        present.map(|(number, unit, units)| format!("{number}{}", words.pick(unit, units))).collect();
    parts.join(words.pick(" ", ""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::CLOCKS;
    use plan::time_text::time_control;

    #[test]
    fn the_clocks_of_the_form_are_said_in_both_languages() {
        let said = Language::ALL
            .map(|language| CLOCKS.map(|clock| in_words(language, &time_control(clock).unwrap())));
        assert_eq!(
            said,
            [
                [
                    "1 s for each move",
                    "3 s for each move",
                    "10 s for each move",
                    "5 min for all moves, 2 s more for each move",
                    "10 min for all moves, then 10 s for each move",
                    "5 min for all moves, 10 s more for each move",
                    "10000 nodes for each move, without a clock",
                ],
                [
                    "1手1秒の秒読み",
                    "1手3秒の秒読み",
                    "1手10秒の秒読み",
                    "持ち時間5分、1手ごとに2秒加算",
                    "持ち時間10分、切れたら1手10秒の秒読み",
                    "持ち時間5分、1手ごとに10秒加算",
                    "1手10000ノード(時計なし)",
                ],
            ]
        );
        let odd = time_control("1h30m delay 250ms").unwrap();
        assert_eq!(
            in_words(Language::English, &odd),
            "1 h 30 min for all moves, the first 250 ms of each move free"
        );
    }
}
