//! A clock as the fields of a form, and in the reader's words, beside the notation of configurations.

use crate::{
    compose::CLOCKS,
    fields::Fields,
    form::{Form, wrong},
};
use maud::{Markup, html};
use plan::time_text::{self, time_control};
use referee::clock::TimeControl;
use std::time::Duration;
use web::components::prose;
use words::{Language, Phrase};

/// What a player has for a move beside the time for all moves.
const MANNERS: [(&str, Phrase); 3] = [
    ("byoyomi", Language::byoyomi_choice),
    ("increment", Language::increment_choice),
    ("nodes", Language::nodes_choice),
];

/// Most minutes for all moves, and most seconds for one, that a person is given.
pub const MOST: [u32; 2] = [1440, 3600];

/// The clock of a game of a person, as configurations write it; `None` where the fields have no such numbers.
pub fn of_person(fields: &Fields) -> Option<String> {
    let number = |name: &str, most: u32| {
        let text = Some(fields.text(name)).filter(|text| !text.is_empty()).unwrap_or("0");
        let number = text.parse().ok().filter(|number| (0.0..=f64::from(most)).contains(number))?;
        Some((number * 1000.0).round() / 1000.0)
    };
    let (minutes, seconds) = (number("minutes", MOST[0])?, number("amount", MOST[1])?);
    let control = written(&minutes.to_string(), "byoyomi", &seconds.to_string());
    (minutes + seconds > 0.0).then_some(control)
}

/// The clock of a form, as configurations write it: what was typed, or what the fields say.
pub fn of_form(fields: &Fields) -> String {
    if fields.is("clock") || !fields.is("amount") {
        return Some(fields.text("clock")).filter(|clock| !clock.is_empty()).unwrap_or(CLOCKS[0]).to_owned();
    }
    written(fields.text("minutes"), fields.text("manner"), fields.text("amount"))
}

fn written(minutes: &str, manner: &str, amount: &str) -> String {
    let main = if ["", "0"].contains(&minutes) { "0s".to_owned() } else { format!("{minutes}m") };
    match manner {
        "nodes" => format!("nodes {amount}"),
        "increment" => format!("{main}+{amount}s"),
        _ if main == "0s" => format!("byoyomi {amount}s"),
        _ if amount == "0" => main,
        _ => format!("{main} byoyomi {amount}s"),
    }
}

/// The fields of a clock: minutes, what a move has beside them, and how much; `None`: they cannot say it.
fn parted(clock: &str) -> Option<(String, &'static str, String)> {
    let time = time_control(clock).ok()?;
    let minutes = (time.main.as_secs_f64() / 60.0).to_string();
    let (manner, amount) = match time.nodes {
        Some(nodes) => ("nodes", nodes.to_string()),
        None if time.increment.is_zero() => ("byoyomi", time.byoyomi.as_secs_f64().to_string()),
        None => ("increment", time.increment.as_secs_f64().to_string()),
    };
    let is_whole = time_control(&written(&minutes, manner, &amount)).ok() == Some(time);
    is_whole.then_some((minutes, manner, amount))
}

/// The fields of a clock in a form; another one can be typed as configurations write it.
pub fn fields(words: Language, form: &Form) -> Markup {
    let given = of_form(&form.fields);
    let parts = parted(&given);
    let (typed, is_typed) = (if parts.is_none() { given.as_str() } else { "" }, parts.is_none());
    let (minutes, manner, amount) = parts.unwrap_or_default();
    html! {
        fieldset {
            legend { (words.clock()) }
            div.line.numbers {
                label { span { (words.minutes_for_all_moves()) } input type="number" name="minutes" value=(minutes) min="0" max="1440" step="any"; }
                label { span { (words.each_move()) } select name="manner" { @for (word, name) in MANNERS { option value=(word) selected[word == manner] { (name(words)) } } } }
                label { span { (words.so_many()) } input type="number" name="amount" value=(amount) min="0" step="any"; }
            }
            @if let Ok(time) = time_control(&given) { p.quiet { (in_words(words, &time)) } }
            details open[is_typed] {
                summary { (prose(words.another_clock())) }
                input name="clock" value=(typed) list="clocks" maxlength="100" autocomplete="off" aria-label=(words.another_clock());
                datalist id="clocks" { @for clock in CLOCKS { option value=(clock) { (time_control(clock).map(|time| in_words(words, &time)).unwrap_or_default()) } } }
            }
            (wrong(form, "clock"))
        }
    }
}

/// What a clock gives to a player, such as `5m for all moves, 2s more for each move`.
pub fn in_words(words: Language, time: &TimeControl) -> String {
    let given = |time: Duration, say: fn(Language, &str) -> String| {
        (!time.is_zero()).then(|| say(words, &words.clock_text(&time_text::text(time))))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_of_a_form_say_the_clocks_that_they_can_say_and_others_are_typed() {
        let of = |fields: &[(&str, &str)]| of_form(&Fields::of(fields));
        assert_eq!(of(&[("minutes", "10"), ("manner", "byoyomi"), ("amount", "30")]), "10m byoyomi 30s");
        assert_eq!(of(&[("minutes", ""), ("manner", "byoyomi"), ("amount", "0.5")]), "byoyomi 0.5s");
        assert_eq!(of(&[("minutes", "5"), ("manner", "increment"), ("amount", "2")]), "5m+2s");
        assert_eq!(of(&[("minutes", "5"), ("manner", "nodes"), ("amount", "4000")]), "nodes 4000");
        assert_eq!(of(&[("minutes", "5"), ("amount", "0")]), "5m");
        assert_eq!(of(&[("minutes", "5"), ("amount", "2"), ("clock", "1h delay 1s")]), "1h delay 1s");
        assert_eq!(of(&[]), CLOCKS[0]);
        for clock in CLOCKS {
            let (minutes, manner, amount) = parted(clock).unwrap();
            assert_eq!(time_control(&written(&minutes, manner, &amount)), time_control(clock), "{clock}");
        }
        for odd in ["1h30m delay 250ms", "5m+2s byoyomi 1s", "5m nodes 10000", "depth 9", "a while"] {
            assert_eq!(parted(odd), None, "{odd}");
        }
    }

    #[test]
    fn a_person_has_a_clock_of_what_the_fields_say_and_none_of_what_is_no_time() {
        let of =
            |minutes: &str, amount: &str| of_person(&Fields::of(&[("minutes", minutes), ("amount", amount)]));
        for (minutes, amount, clock) in
            [("10", "30", "10m byoyomi 30s"), ("", "30", "byoyomi 30s"), ("15", "", "15m")]
        {
            assert_eq!(of(minutes, amount).as_deref(), Some(clock));
            assert!(time_control(clock).is_ok(), "{clock}");
        }
        for (minutes, amount) in
            [("", ""), ("0", "0"), ("1441", "1"), ("1", "3601"), ("-1", "5"), ("ten", "5"), ("NaN", "5")]
        {
            assert_eq!(of(minutes, amount), None, "{minutes} {amount}");
        }
    }

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
