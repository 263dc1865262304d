//! What an arbiter sees: who plays, what runs, what was done, and a form for each order.

use super::take_part;
use crate::{
    accounts::{Office, Refused, Registers, Signed},
    visitor::Visitor,
};
use arena::operations::{
    Operations,
    request::{Command, Listed, ListedAppeal, ListedGame, ListedPlayer, Request},
};
use journal::Role;
use maud::{Markup, html};
use referee::operation::Operation;
use report::plot::plain;

/// Operations that are shown.
const RECENT: usize = 100;
/// Most characters of a reason; longer ones are refused.
const REASON: &str = "500";

/// A form that orders something.
struct Forms<'a>(&'a Signed, &'a Visitor);

impl Forms<'_> {
    fn order(&self, command: &str, label: &str, inner: &Markup) -> Markup {
        html! {
            form.order method="post" action="/arbiter/do" {
                input type="hidden" name="csrf" value=(self.0.csrf);
                input type="hidden" name="command" value=(command);
                (inner)
                button { (label) }
            }
        }
    }

    fn reason(&self, required: bool) -> Markup {
        let label = self.1.say("Reason", "理由");
        html! { input name="reason" maxlength=(REASON) placeholder=(label) aria-label=(label) required[required]; }
    }

    fn with(&self, command: &str, label: &str, name: &str, value: &str, reason: bool) -> Markup {
        self.order(
            command,
            label,
            &html! { input type="hidden" name=(name) value=(value); (self.reason(reason)) },
        )
    }

    fn results(&self) -> Markup {
        html! { select name="result" aria-label=(self.1.say("Result", "結果")) { (self.result_options()) } }
    }

    fn result_options(&self) -> Markup {
        let say = |en, ja| self.1.say(en, ja);
        html! {
            option value="black" { (say("black wins", "先手勝ち")) }
            option value="white" { (say("white wins", "後手勝ち")) }
            option value="draw" { (say("draw", "引き分け")) }
            option value="void" { (say("void", "無効")) }
        }
    }
}

/// The page of somebody who is logged in.
///
/// # Errors
/// When the database cannot be read.
pub async fn content(office: &Office, signed: &Signed, visitor: &Visitor) -> Result<Markup, Refused> {
    let forms = Forms(signed, visitor);
    let told = office.told(signed);
    let (list, recent) = match office.operations().cloned() {
        Some(operations) => tokio::task::spawn_blocking(move || look(&operations)).await?,
        None => (None, vec![]),
    };
    let registrations = match office.registers() {
        Registers::Accounts => office.with_store(journal::Store::registrations).await?,
        _ => vec![],
    };
    let arbiter = signed.account.role == Role::Arbiter;
    Ok(html! {
        h1 { (visitor.say("Arbiter", "審判")) }
        p {
            (plain(&signed.account.name)) " (" (signed.account.role.to_string()) ") "
        }
        form.order method="post" action="/arbiter/logout" {
            input type="hidden" name="csrf" value=(signed.csrf);
            button { (visitor.say("Log out", "ログアウト")) }
        }
        @if let Some(words) = told { p.told role="status" { (plain(&words)) } }
        @match list {
            None => p { (visitor.say("The event has not begun yet.", "大会はまだ始まっていません。")) },
            Some(list) => {
                (event(&forms, &list))
                (appeals(&forms, &list.appeals, arbiter))
                (games(&forms, &list.games, arbiter))
                (players(&forms, &list.players, arbiter))
                (others(&forms, &list, arbiter))
            }
        }
        @if office.registers() == Registers::Accounts {
            (take_part::waiting(signed, visitor, &registrations))
        }
        (record(&forms, &recent, arbiter))
    })
}

fn look(operations: &Operations) -> (Option<Listed>, Vec<(Operation, bool)>) {
    let answer = operations.carry_out("", &Request { named: None, reason: None, command: Command::List });
    (answer.list.map(|list| *list), operations.recent(RECENT))
}

fn event(forms: &Forms<'_>, list: &Listed) -> Markup {
    let Forms(_, visitor) = forms;
    let paused = list.paused;
    html! {
        h2 { (visitor.say("Event", "大会")) }
        p { (match paused {
            true => visitor.say("Paused: no new game begins.", "休止中：新しい対局は始まりません。"),
            false => visitor.say("Running.", "進行中。"),
        }) }
        @if paused { (forms.order("resume", visitor.say("Resume", "再開"), &forms.reason(false))) }
        @else { (forms.order("pause", visitor.say("Pause", "休止"), &forms.reason(false))) }
        @if list.registration_closed { (forms.order("open", visitor.say("Open the registration", "受付を開く"), &forms.reason(false))) }
        @else { (forms.order("close", visitor.say("Close the registration", "受付を閉じる"), &forms.reason(false))) }
        (forms.order("announce", visitor.say("Announce", "お知らせ"), &html! {
            input name="text" maxlength=(REASON) required aria-label=(visitor.say("Announcement", "お知らせの内容"));
        }))
    }
}

fn games(forms: &Forms<'_>, games: &[ListedGame], arbiter: bool) -> Markup {
    let Forms(_, visitor) = forms;
    html! {
        h2 { (visitor.say("Running games", "対局中")) }
        @if games.is_empty() { p { (visitor.say("None.", "なし。")) } }
        @for game in games {
            h3 { a href={ "/games/" (game.game) } { (game.game) } ": " (plain(&game.black)) " – " (plain(&game.white)) }
            p { (visitor.say("moves", "手数")) " " (game.plies) }
            (forms.with("adjourn", visitor.say("Adjourn", "指し掛け"), "game", &game.game.to_string(), false))
            @if arbiter {
                (forms.order("rule", visitor.say("Rule", "裁定"), &html! {
                    input type="hidden" name="game" value=(game.game);
                    (forms.results()) (forms.reason(true))
                }))
            }
        }
        @if arbiter {
            h3 { (visitor.say("A game by its number, running or over", "番号で指定（終局後も可）")) }
            @for (command, label) in [("rule", visitor.say("Rule", "裁定")), ("replay", visitor.say("Play again", "指し直し"))] {
                (forms.order(command, label, &html! {
                    input name="game" type="number" min="1" required aria-label=(visitor.say("Game", "対局番号"));
                    @if command == "rule" { (forms.results()) }
                    (forms.reason(true))
                }))
            }
        }
    }
}

/// Appeals that wait, each with its decision.
fn appeals(forms: &Forms<'_>, appeals: &[ListedAppeal], arbiter: bool) -> Markup {
    let Forms(_, visitor) = forms;
    let say = |en, ja| visitor.say(en, ja);
    html! {
        @if !appeals.is_empty() { h2 { (say("Appeals", "異議申し立て")) } }
        @for appeal in appeals {
            h3 { a href={ "/games/" (appeal.game) } { (say("Game", "対局")) " " (appeal.game) } ": " (plain(&appeal.by)) }
            p { (plain(&appeal.reason)) }
            @if arbiter {
                (forms.order("answer", say("Answer", "回答"), &html! {
                    input type="hidden" name="appeal" value=(appeal.operation);
                    select name="decision" aria-label=(say("Decision", "判断")) {
                        option value="dismissed" { (say("dismissed: the result stands", "却下：結果は変わりません")) }
                        option value="replay" { (say("upheld: play again", "認める：指し直し")) }
                        (forms.result_options())
                        option value="upheld" { (say("upheld: ordered before", "認める：裁定済み")) }
                    }
                    (forms.reason(true))
                }))
            }
        }
    }
}

fn players(forms: &Forms<'_>, players: &[ListedPlayer], arbiter: bool) -> Markup {
    let Forms(_, visitor) = forms;
    html! {
        h2 { (visitor.say("Players who are connected", "接続中の選手")) }
        @if players.is_empty() { p { (visitor.say("None.", "なし。")) } }
        @for player in players {
            h3 { (plain(&player.name)) }
            p { (plain(&player.address)) ", " (player.state) ", " (player.idle_seconds) " s" }
            (forms.with("kick", visitor.say("Send away", "切断"), "name", &player.name, false))
            (forms.with("mute", visitor.say("Mute", "発言禁止"), "name", &player.name, false))
            @if arbiter {
                (forms.with("ban", visitor.say("Ban the name", "名前を禁止"), "whom", &player.name, true))
                (forms.with("ban", visitor.say("Ban the address", "アドレスを禁止"), "whom", &player.address, true))
            }
        }
        @if arbiter {
            h3 { (visitor.say("Pair two players who wait for the same game", "待機中の2人を対局させる")) }
            (forms.order("pair", visitor.say("Pair", "対局させる"), &html! {
                input name="black" maxlength="32" required placeholder=(visitor.say("black", "先手")) aria-label=(visitor.say("black", "先手"));
                input name="white" maxlength="32" required placeholder=(visitor.say("white", "後手")) aria-label=(visitor.say("white", "後手"));
                (forms.reason(false))
            }))
            h3 { (visitor.say("Substitute", "代理")) }
            (forms.order("swap", visitor.say("Swap", "交代"), &html! {
                input name="out" maxlength="32" required placeholder=(visitor.say("out", "退く選手")) aria-label=(visitor.say("out", "退く選手"));
                input name="substitute" maxlength="32" required placeholder=(visitor.say("in", "代わりの選手")) aria-label=(visitor.say("in", "代わりの選手"));
                (forms.reason(true))
            }))
            h3 { (visitor.say("Ban a name, an address or a network", "名前・アドレス・ネットワークの禁止")) }
            (forms.order("ban", visitor.say("Ban", "禁止"), &html! {
                input name="whom" maxlength="64" required aria-label=(visitor.say("Whom", "対象"));
                (forms.reason(true))
            }))
        }
    }
}

fn others(forms: &Forms<'_>, list: &Listed, arbiter: bool) -> Markup {
    let Forms(_, visitor) = forms;
    html! {
        @if !list.bans.is_empty() {
            h2 { (visitor.say("Bans", "禁止")) }
            @for ban in &list.bans {
                p { (plain(&ban.whom)) " – " (plain(&ban.by)) ": " (plain(&ban.reason)) }
                @if arbiter { (forms.with("unban", visitor.say("End the ban", "解除"), "whom", &ban.whom, false)) }
            }
        }
        @if !list.mutes.is_empty() {
            h2 { (visitor.say("Muted", "発言禁止")) }
            @for name in &list.mutes { p { (plain(name)) } (forms.with("unmute", visitor.say("Let speak", "解除"), "name", name, false)) }
        }
        @if !list.buoys.is_empty() {
            h2 { (visitor.say("Buoys", "ブイ")) }
            @for name in &list.buoys { p { (plain(name)) } (forms.with("delete-buoy", visitor.say("Delete", "削除"), "name", name, false)) }
        }
    }
}

/// What was done, the last first.
fn record(forms: &Forms<'_>, recent: &[(Operation, bool)], arbiter: bool) -> Markup {
    let Forms(_, visitor) = forms;
    html! {
        h2 { (visitor.say("On record", "記録")) }
        @if recent.is_empty() { p { (visitor.say("Nothing yet.", "まだありません。")) } }
        ol.record reversed {
            @for (operation, undone) in recent {
                li value=(operation.number) {
                    (plain(&operation.to_string()))
                    @if *undone { " " em { (visitor.say("(taken back)", "（取り消し済み）")) } }
                    @else if arbiter { (forms.with("undo", visitor.say("Take back", "取り消す"), "number", &operation.number.to_string(), false)) }
                }
            }
        }
    }
}
