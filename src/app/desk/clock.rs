//! A clock in the reader's words, beside the notation of configurations.

use plan::time_text;
use referee::clock::TimeControl;
use std::time::Duration;
use words::Language;

/// What a clock gives to a player, such as `5m for all moves, 2s more for each move`.
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

/// A length of time; in English as configurations write it, `1h30m`.
fn length(words: Language, time: Duration) -> String {
    let text = time_text::text(time);
    let units = [("ms", "ミリ秒"), ("h", "時間"), ("m", "分"), ("s", "秒")];
    match words {
        Language::English => text,
        Language::Japanese => units.iter().fold(text, |text, (unit, word)| text.replace(unit, word)),
    }
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
                    "1s for each move",
                    "3s for each move",
                    "10s for each move",
                    "5m for all moves, 2s more for each move",
                    "10m for all moves, then 10s for each move",
                    "5m for all moves, 10s more for each move",
                    "10000 nodes for each move",
                ],
                [
                    "1手1秒の秒読み",
                    "1手3秒の秒読み",
                    "1手10秒の秒読み",
                    "持ち時間5分、1手ごとに2秒加算",
                    "持ち時間10分、切れたら1手10秒の秒読み",
                    "持ち時間5分、1手ごとに10秒加算",
                    "1手10000ノード",
                ],
            ]
        );
        let odd = time_control("1h30m delay 250ms").unwrap();
        assert_eq!(
            in_words(Language::English, &odd),
            "1h30m for all moves, the first 250ms of each move free"
        );
        let both = time_control("5m nodes 10000").unwrap();
        assert_eq!(in_words(Language::Japanese, &both), "持ち時間5分、1手10000ノード");
    }
}
