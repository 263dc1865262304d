//! What an arbiter sees: who plays, what runs, what was done, and a dialog with the orders for each of them.

use super::{
    dialogs::{Button, Forms, REASON, hidden},
    take_part,
};
use crate::{
    accounts::{Office, Registers, Signed},
    components::prose,
    refusals::Refusal,
};
use arena::operations::{
    Operations,
    command::Command,
    request::{
        Listed, ListedAdjourned, ListedAppeal, ListedBan, ListedEntrant, ListedGame, ListedPlayer, Request,
    },
};
use journal::Role;
use maud::{Markup, html};
use referee::operation::{NoInverse, Operation};
use report::plot::plain;
use words::Language;

/// Operations that are shown.
const RECENT: usize = 100;

/// Where the games of an event come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Engines of this machine, or of others that play for it.
    Here,
    /// Entrants who log in over the network.
    Network,
    /// An open league, where new players may come.
    League,
}

/// The page of somebody who is logged in. `takes_pairings`: whether a round of a Swiss is paired next; `is_closed`: whether the
/// event has come to its end, which one that was stopped has not.
///
/// # Errors
/// When the database cannot be read.
pub async fn content(
    office: &Office,
    signed: &Signed,
    words: Language,
    place: Place,
    (takes_pairings, is_closed): (bool, bool),
) -> Result<Markup, Refusal> {
    let forms = Forms { signed, words };
    let (list, recent) = match office.operations().cloned() {
        Some(operations) => tokio::task::spawn_blocking(move || look(&operations)).await?,
        None => (None, vec![]),
    };
    let registrations = match office.registers() {
        Registers::Accounts => office.with_store(|store| store.registrations()).await?,
        _ => vec![],
    };
    Ok(html! {
        (bar(&forms, list.as_ref(), (place, is_closed), office.is_of_desk()))
        @match &list {
            None => p { (words.not_begun()) },
            Some(list) => {
                (appeals(&forms, &list.appeals))
                div.desk {
                    section { (games(&forms, list)) (adjourned(&forms, &list.adjourned)) }
                    section {
                        @if place != Place::League { (entrants(&forms, list, place, takes_pairings)) }
                        @if place != Place::Here { (players(&forms, list, place)) }
                    }
                }
                (others(&forms, list))
            }
        }
        @if office.registers() == Registers::Accounts { (take_part::waiting(&forms, &registrations)) }
        (record(&forms, &recent, list.as_ref().is_some_and(|list| list.over)))
    })
}

/// An operation on record, with the reason why it cannot be taken back.
type Recorded = (Operation, Option<NoInverse>);

fn look(operations: &Operations) -> (Option<Listed>, Vec<Recorded>) {
    let answer =
        operations.carry_out("", &Request { named: None, reason: None, event: None, command: Command::List });
    (answer.ok().and_then(|answer| answer.list).map(|list| *list), operations.recent(RECENT))
}

/// The event, what may be done to all of it, and who is logged in.
fn bar(
    forms: &Forms<'_>,
    list: Option<&Listed>,
    (place, is_closed): (Place, bool),
    is_of_desk: bool,
) -> Markup {
    let switch = |command: &str, title: &str| {
        forms.small(&format!("do-{command}"), title, &forms.reason(false), &[(command, title, true)])
    };
    html! {
        div.office {
            h1 { (forms.words.arbiter()) }
            @if list.is_some_and(|list| list.over) { strong { (if is_closed { forms.words.over() } else { forms.words.event_stopped() }) } }
            @else if let Some(list) = list {
                @if list.paused {
                    strong { (forms.words.paused()) }
                    (switch("resume", forms.words.resume()))
                } @else {
                    span { (forms.words.running()) }
                    (switch("pause", forms.words.pause()))
                }
                @if place == Place::League && list.registration_closed { (switch("open", forms.words.open_registration())) }
                @else if place == Place::League { (switch("close", forms.words.close_registration())) }
                @if list.has_file && forms.signed.is_arbiter() { (reload(forms)) }
                @let announce = forms.words.announce();
                (forms.small("do-announce", announce, &forms.text("text", forms.words.words_for_everybody(), REASON, true), &[("announce", announce, true)]))
            }
            @if !is_of_desk {
                form.account method="post" action="/arbiter/logout" {
                    input type="hidden" name="csrf" value=(forms.signed.csrf);
                    (plain(&forms.signed.account.name)) " (" (role(forms.words, forms.signed.account.role)) ") "
                    button { (forms.words.log_out()) }
                }
            }
        }
    }
}

/// The order to read the file of the event again.
fn reload(forms: &Forms<'_>) -> Markup {
    let title = forms.words.reload();
    let fields = html! { p { (forms.words.reload_adds_engines()) } (forms.reason(false)) };
    forms.small("do-reload", title, &fields, &[("reload", title, true)])
}

fn games(forms: &Forms<'_>, list: &Listed) -> Markup {
    let games = &list.games;
    html! {
        div.title {
            h2 { (forms.words.running_games()) " (" (games.len()) ")" }
            @if forms.signed.is_arbiter() && !list.over { (by_number(forms)) }
        }
        @if games.is_empty() { p { (forms.words.none()) } }
        ul.cells { @for game in games { li { (running(forms, game)) } } }
    }
}

/// A running game, and the orders for it.
fn running(forms: &Forms<'_>, game: &ListedGame) -> Markup {
    let number = game.game.to_string();
    let title = format!("{} {number}: {} – {}", forms.words.game(), plain(&game.black), plain(&game.white));
    let button = html! {
        span.number { (number) }
        span.name { (plain(&game.black)) " – " (plain(&game.white)) }
        span.facts { (forms.words.so_many_plies(game.plies)) }
    };
    let adjourn = ("adjourn", forms.words.adjourn(), false);
    let rule = ("rule", forms.words.rule(), true);
    let content = html! {
        p { a href={ "/games/" (number) } { (forms.words.to_the_game()) } }
        @if forms.signed.is_arbiter() {
            (forms.form(&html! { (hidden("game", &number)) (forms.results()) (forms.reason(true)) }, &[rule, adjourn]))
        } @else {
            (forms.form(&html! { (hidden("game", &number)) (forms.reason(false)) }, &[adjourn]))
        }
    };
    forms.dialog(&format!("game-{number}"), &button, &title, &content)
}

/// Adjourned games that wait for the operator.
fn adjourned(forms: &Forms<'_>, games: &[ListedAdjourned]) -> Markup {
    let on = ("play-on", forms.words.play_on(), false);
    let again = ("replay", forms.words.play_again(), true);
    html! {
        @if !games.is_empty() { h2 { (forms.words.adjourned()) } }
        ul.cells { @for game in games { li {
            @let number = game.game.to_string();
            @let title = format!("{} {number}: {} – {}", forms.words.game(), plain(&game.black), plain(&game.white));
            @let button = html! { span.number { (number) } span.name { (plain(&game.black)) " – " (plain(&game.white)) } };
            @let fields = html! { (hidden("game", &number)) (forms.reason(true)) };
            @let buttons = if forms.signed.is_arbiter() { &[on, again][..] } else { &[on][..] };
            (forms.dialog(&format!("kept-{number}"), &button, &title, &html! {
                p { a href={ "/games/" (number) } { (forms.words.to_the_game()) } }
                (forms.form(&fields, buttons))
                @if forms.signed.is_arbiter() { (clock(forms, &number)) }
            }))
        } } }
    }
}

/// The order to play an adjourned game on with another time on a clock.
fn clock(forms: &Forms<'_>, game: &str) -> Markup {
    let fields = html! {
        (hidden("game", game))
        label { (forms.words.whose_clock()) select name="color" {
            option value="black" { (forms.words.black_player()) }
            option value="white" { (forms.words.white_player()) }
        } }
        (forms.text("left", forms.words.main_time_left(), "20", true))
        (forms.reason(true))
    };
    forms.form(&fields, &[("clock", forms.words.set_the_clock(), true)])
}

/// Orders about a game that may be over.
fn by_number(forms: &Forms<'_>) -> Markup {
    let title = forms.words.by_number();
    let fields = html! {
        label { (forms.words.number_of_game()) input name="game" type="number" min="1" required; }
        (forms.results())
        (forms.reason(true))
    };
    let buttons = [("rule", forms.words.rule(), true), ("replay", forms.words.replay(), true)];
    forms.small("by-number", title, &fields, &buttons)
}

/// Appeals that wait, each with its decision.
fn appeals(forms: &Forms<'_>, appeals: &[ListedAppeal]) -> Markup {
    html! {
        @if !appeals.is_empty() { h2 { (forms.words.appeals()) } }
        ul.cells { @for appeal in appeals { li {
            @let title = format!("{} {}: {}", forms.words.game(), appeal.game, plain(&appeal.by));
            @let button = html! { span.number { (appeal.game) } span.name { (plain(&appeal.by)) ": " (plain(&appeal.reason)) } };
            (forms.dialog(&format!("appeal-{}", appeal.operation), &button, &title, &html! {
                p { (plain(&appeal.reason)) }
                p { a href={ "/games/" (appeal.game) } { (forms.words.to_the_game()) } }
                @if forms.signed.is_arbiter() { (forms.form(&decision(forms, appeal), &[("answer", forms.words.answer(), true)])) }
            }))
        } } }
    }
}

fn decision(forms: &Forms<'_>, appeal: &ListedAppeal) -> Markup {
    html! {
        (hidden("appeal", &appeal.operation.to_string()))
        label { (forms.words.decision()) select name="decision" {
            option value="dismissed" { (forms.words.appeal_dismissed()) }
            option value="replay" { (forms.words.appeal_replayed()) }
            (forms.result_options())
            option value="upheld" { (forms.words.appeal_upheld()) }
        } }
        (forms.reason(true))
    }
}

/// The players of the network, the absent first, then by name.
fn players(forms: &Forms<'_>, list: &Listed, place: Place) -> Markup {
    let mut players: Vec<_> = list.players.iter().collect();
    players.sort_by(|one, other| one.name.cmp(&other.name));
    html! {
        div.title {
            h2 { (forms.words.players()) " (" (forms.words.players_here(players.len()))
                @if !list.absent.is_empty() { (forms.words.players_absent(list.absent.len())) } ")" }
            @if forms.signed.is_arbiter() { (of_players(forms, place)) }
            small { (forms.words.what_seconds_mean()) }
        }
        @if players.is_empty() && list.absent.is_empty() { p { (forms.words.none()) } }
        ul.cells.many {
            @for name in &list.absent { li { span.absent { span.name { (plain(name)) } span.facts { (forms.words.absent()) } } } }
            @for (at, player) in players.into_iter().enumerate() { li { (player_cell(forms, at, player)) } }
        }
    }
}

fn player_cell(forms: &Forms<'_>, at: usize, player: &ListedPlayer) -> Markup {
    let state = state(forms.words, &player.state);
    let button = html! {
        span.name { (plain(&player.name)) }
        span.facts { (state) " " span.idle { (forms.words.seconds(player.idle_seconds)) } }
    };
    let content = html! {
        p { (state) " · " (plain(&player.address)) }
        p { (forms.words.since_last_line()) (player.idle_seconds) }
        @if let Some(ms) = player.round_trip_ms { p { (forms.words.there_and_back()) (format!("{ms:.1} ms")) } }
        (forms.form(&of_player(forms, player), &player_buttons(forms)))
    };
    forms.dialog(&format!("player-{at}"), &button, &plain(&player.name), &content)
}

fn of_player(forms: &Forms<'_>, player: &ListedPlayer) -> Markup {
    html! {
        (hidden("name", &player.name))
        (hidden("address", &player.address))
        (forms.reason(forms.signed.is_arbiter()))
    }
}

fn player_buttons(forms: &Forms<'_>) -> Vec<Button<'static>> {
    let all = [("kick", forms.words.disconnect(), false), ("mute", forms.words.mute(), false)];
    let bans = [("ban-name", forms.words.ban_name(), true), ("ban-address", forms.words.ban_address(), true)];
    all.into_iter().chain(bans.into_iter().filter(|_| forms.signed.is_arbiter())).collect()
}

/// Orders that name players.
fn of_players(forms: &Forms<'_>, place: Place) -> Markup {
    let pair = forms.words.pair_two();
    let ban = forms.words.ban();
    html! {
        @if place == Place::League { (forms.small("pair", pair, &html! {
            p { (forms.words.both_wait()) }
            (forms.text("black", forms.words.black_player(), "32", true))
            (forms.text("white", forms.words.white_player(), "32", true))
            (forms.reason(false))
        }, &[("pair", pair, true)])) }
        (forms.small("ban", ban, &html! {
            (forms.text("whom", forms.words.whom_to_ban(), "64", true))
            (forms.reason(true))
        }, &[("ban", ban, true)]))
    }
}

/// The entrants of an event, each with the orders about it.
fn entrants(forms: &Forms<'_>, list: &Listed, place: Place, takes_pairings: bool) -> Markup {
    html! {
        div.title {
            h2 { (forms.words.entrants()) " (" (list.entrants.len()) ")" }
            @if takes_pairings && forms.signed.is_arbiter() && !list.over { (pair_entrants(forms, list)) }
        }
        ul.cells.many { @for (at, entrant) in list.entrants.iter().enumerate() { li {
            @let button = html! {
                span.name { (plain(&entrant.name)) }
                @if entrant.withdrawn { span.facts { (forms.words.withdrawn()) } }
            };
            @if forms.signed.is_arbiter() && !list.over {
                (forms.dialog(&format!("entrant-{at}"), &button, &plain(&entrant.name), &of_entrant(forms, entrant, place, takes_pairings)))
            } @else { span.entry { (button) } }
        } } }
    }
}

/// The order that two entrants meet in the next round of a Swiss.
fn pair_entrants(forms: &Forms<'_>, list: &Listed) -> Markup {
    let title = forms.words.pair_in_next_round();
    let one = |name: &str, label: &str| {
        html! { label { (label) select name=(name) required {
            option value="" { "–" }
            @for entrant in list.entrants.iter().filter(|entrant| !entrant.withdrawn) {
                option value=(entrant.name) { (plain(&entrant.name)) }
            }
        } } }
    };
    forms.small(
        "pair",
        title,
        &html! {
            p { (forms.words.others_by_the_rules()) }
            (one("black", forms.words.black_player()))
            (one("white", forms.words.white_player()))
            (forms.reason(false))
        },
        &[("pair", title, true)],
    )
}

/// The orders about an entrant.
fn of_entrant(forms: &Forms<'_>, entrant: &ListedEntrant, place: Place, takes_byes: bool) -> Markup {
    let words = forms.words;
    let (order, label) =
        if entrant.withdrawn { ("return", words.return_player()) } else { ("withdraw", words.withdraw()) };
    let player = hidden("player", &entrant.name);
    let round = html! {
        (player) p { (words.from_the_next_round()) } (forms.reason(!entrant.withdrawn))
    };
    let bye = html! {
        (player) label { (words.round_of_bye()) input name="round" type="number" min="1"; } (forms.reason(false))
    };
    let points = html! {
        (player)
        label { (words.so_many_points()) input name="points" type="number" min="0.001" step="0.001" value="1" required; }
        (forms.reason(true))
    };
    let above =
        html! { (player) (forms.text("above", words.level_player(), "64", true)) (forms.reason(true)) };
    let substitute = html! {
        (hidden("out", &entrant.name))
        (forms.text("substitute", words.who_substitutes(), "32", true))
        (forms.reason(true))
    };
    html! {
        (forms.form(&round, &[(order, label, true)]))
        @if takes_byes && !entrant.withdrawn { (forms.form(&bye, &[("bye", words.give_bye(), true)])) }
        (forms.form(&points, &[("penalty", words.take_points(), true)]))
        (forms.form(&above, &[("place", words.place_above(), true)]))
        (forms.form(&html! { (player) (forms.reason(true)) }, &[("disqualify", words.disqualify(), true)]))
        @if place == Place::Network { (forms.form(&substitute, &[("swap", words.substitute(), true)])) }
    }
}

fn others(forms: &Forms<'_>, list: &Listed) -> Markup {
    let ends = |command: &str, label: &str, field: &str, name: &str| {
        let fields = html! { (hidden(field, name)) (forms.reason(false)) };
        forms.small(&format!("{command}-{name}"), label, &fields, &[(command, label, true)])
    };
    let ban =
        |ban: &ListedBan| html! { (plain(&ban.whom)) " – " (plain(&ban.by)) ": " (plain(&ban.reason)) " " };
    html! {
        @if !list.bans.is_empty() {
            h2 { (forms.words.bans()) }
            ul { @for banned in &list.bans { li {
                (ban(banned))
                @if forms.signed.is_arbiter() { (ends("unban", forms.words.end_the_ban(), "whom", &banned.whom)) }
            } } }
        }
        @if !list.mutes.is_empty() {
            h2 { (forms.words.muted()) }
            ul { @for name in &list.mutes { li { (plain(name)) " " (ends("unmute", forms.words.unmute(), "name", name)) } } }
        }
        @if !list.buoys.is_empty() {
            h2 { (forms.words.buoys()) }
            ul { @for name in &list.buoys { li { (plain(name)) " " (ends("delete-buoy", forms.words.delete(), "name", name)) } } }
        }
    }
}

/// What was done, the last first.
fn record(forms: &Forms<'_>, recent: &[Recorded], is_over: bool) -> Markup {
    let label = forms.words.take_back();
    html! {
        h2 { (forms.words.on_record()) }
        @if recent.is_empty() { p { (forms.words.nothing_yet()) } }
        ol.record reversed {
            @for (operation, refusal) in recent {
                li value=(operation.number) {
                    (prose(&plain(&forms.words.operation(operation)))) " "
                    @if let Some(NoInverse::Undone(_)) = refusal { em { (forms.words.taken_back()) } }
                    @else if refusal.is_none() && !is_over && forms.signed.is_arbiter() {
                        @let fields = html! { (hidden("number", &operation.number.to_string())) (forms.reason(false)) };
                        (forms.small(&format!("undo-{}", operation.number), label, &fields, &[("undo", label, true)]))
                    }
                }
            }
        }
    }
}

/// What a player on the network does, from the protocol's word.
fn state(words: Language, word: &str) -> &str {
    match word {
        "connected" => words.has_no_game(),
        "game_waiting" => words.waits(),
        "agree_waiting" => words.has_to_agree(),
        "start_waiting" => words.has_agreed(),
        "game" => words.plays(),
        other => other,
    }
}

/// The role of an account.
fn role(words: Language, role: Role) -> &'static str {
    match role {
        Role::Arbiter => words.role_arbiter(),
        Role::Operator => words.role_operator(),
    }
}
