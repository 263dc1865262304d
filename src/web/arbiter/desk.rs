//! What an arbiter sees: who plays, what runs, what was done, and a dialog with the orders for each of them.

use super::{take_part, words};
use crate::{
    accounts::{Office, Refused, Registers, Signed},
    visitor::Visitor,
};
use arena::operations::{
    Operations,
    command::Command,
    request::{Listed, ListedAdjourned, ListedAppeal, ListedBan, ListedGame, ListedPlayer, Request},
};
use journal::Role;
use maud::{Markup, html};
use referee::operation::Operation;
use report::plot::plain;

/// Operations that are shown.
const RECENT: usize = 100;
/// Most characters of a reason; longer ones are refused.
const REASON: &str = "500";

/// An operation on record.
struct Recorded {
    operation: Operation,
    undone: bool,
    /// Whether it can be taken back now.
    can_be_undone: bool,
}

/// A button that orders something: the command, its words, and whether the fields that a form asks for are needed.
type Button<'a> = (&'a str, &'a str, bool);

/// Forms and dialogs of somebody who is logged in.
pub struct Forms<'a> {
    pub signed: &'a Signed,
    pub visitor: &'a Visitor,
}

impl Forms<'_> {
    fn say<'b>(&self, en: &'b str, ja: &'b str) -> &'b str {
        self.visitor.say(en, ja)
    }

    fn is_arbiter(&self) -> bool {
        self.signed.account.role == Role::Arbiter
    }

    /// A form with its fields and buttons.
    fn form(&self, fields: &Markup, buttons: &[Button<'_>]) -> Markup {
        html! {
            form.order method="post" action="/arbiter/do" {
                input type="hidden" name="csrf" value=(self.signed.csrf);
                (fields)
                p.buttons {
                    @for (command, label, needs) in buttons {
                        button name="command" value=(command) formnovalidate[!needs] { (label) }
                    }
                }
            }
        }
    }

    /// A button that opens a dialog. The browser does it without a script.
    pub fn dialog(&self, id: &str, button: &Markup, title: &str, content: &Markup) -> Markup {
        html! {
            button.opens type="button" popovertarget=(id) { (button) }
            div.dialog popover="auto" id=(id) role="dialog" aria-label=(title) {
                h3 { (title) }
                (content)
                button.closes type="button" popovertarget=(id) popovertargetaction="hide" { (self.say("Close", "閉じる")) }
            }
        }
    }

    /// A dialog whose button has the words of its title.
    fn small(&self, id: &str, title: &str, fields: &Markup, buttons: &[Button<'_>]) -> Markup {
        self.dialog(id, &html! { (title) }, title, &self.form(fields, buttons))
    }

    fn text(&self, name: &str, label: &str, most: &str, required: bool) -> Markup {
        html! { label { (label) input name=(name) maxlength=(most) required[required]; } }
    }

    pub fn reason(&self, required: bool) -> Markup {
        let label = match required {
            true => self.say("Reason (on record)", "理由（記録されます）"),
            false => self.say("Reason (may be empty)", "理由（省略可）"),
        };
        self.text("reason", label, REASON, required)
    }

    fn results(&self) -> Markup {
        html! { label { (self.say("Result", "結果")) select name="result" { (self.result_options()) } } }
    }

    fn result_options(&self) -> Markup {
        html! {
            option value="black" { (self.say("black wins", "先手勝ち")) }
            option value="white" { (self.say("white wins", "後手勝ち")) }
            option value="draw" { (self.say("draw", "引き分け")) }
            option value="void" { (self.say("void", "無効")) }
        }
    }
}

fn hidden(name: &str, value: &str) -> Markup {
    html! { input type="hidden" name=(name) value=(value); }
}

/// The page of somebody who is logged in; in a league new players may come.
///
/// # Errors
/// When the database cannot be read.
pub async fn content(
    office: &Office,
    signed: &Signed,
    visitor: &Visitor,
    is_league: bool,
) -> Result<Markup, Refused> {
    let forms = Forms { signed, visitor };
    let told = office.told(signed);
    let (list, recent) = match office.operations().cloned() {
        Some(operations) => tokio::task::spawn_blocking(move || look(&operations)).await?,
        None => (None, vec![]),
    };
    let registrations = match office.registers() {
        Registers::Accounts => office.with_store(journal::Store::registrations).await?,
        _ => vec![],
    };
    Ok(html! {
        (bar(&forms, list.as_ref(), is_league))
        @if let Some(words) = told { p.told role="status" { (plain(&words)) } }
        @match &list {
            None => p { (visitor.say("The event has not begun yet.", "大会はまだ始まっていません。")) },
            Some(list) => {
                (appeals(&forms, &list.appeals))
                div.desk {
                    section { (games(&forms, &list.games)) (adjourned(&forms, &list.adjourned)) }
                    section { (players(&forms, list, is_league)) }
                }
                (others(&forms, list))
            }
        }
        @if office.registers() == Registers::Accounts { (take_part::waiting(&forms, &registrations)) }
        (record(&forms, &recent))
    })
}

fn look(operations: &Operations) -> (Option<Listed>, Vec<Recorded>) {
    let answer = operations.carry_out("", &Request { named: None, reason: None, command: Command::List });
    let recent = operations.recent(RECENT).into_iter().map(|(operation, undone)| {
        let can_be_undone = operations.inverse(operation.number).is_ok();
        Recorded { operation, undone, can_be_undone }
    });
    (answer.list.map(|list| *list), recent.collect())
}

/// The event, what may be done to all of it, and who is logged in.
fn bar(forms: &Forms<'_>, list: Option<&Listed>, is_league: bool) -> Markup {
    let switch = |command: &str, title: &str| {
        forms.small(&format!("do-{command}"), title, &forms.reason(false), &[(command, title, true)])
    };
    html! {
        div.office {
            h1 { (forms.say("Arbiter", "審判")) }
            @if let Some(list) = list {
                @if list.paused {
                    strong { (forms.say("Paused: no new game begins.", "休止中：新しい対局は始まりません。")) }
                    (switch("resume", forms.say("Resume", "再開")))
                } @else {
                    span { (forms.say("Running.", "進行中。")) }
                    (switch("pause", forms.say("Pause", "休止")))
                }
                @if is_league && list.registration_closed { (switch("open", forms.say("Open the registration", "受付を開く"))) }
                @else if is_league { (switch("close", forms.say("Close the registration", "受付を閉じる"))) }
                @let announce = forms.say("Announce", "お知らせ");
                (forms.small("do-announce", announce, &forms.text("text", forms.say("Words for everybody", "全員への文面"), REASON, true), &[("announce", announce, true)]))
            }
            form.account method="post" action="/arbiter/logout" {
                input type="hidden" name="csrf" value=(forms.signed.csrf);
                (plain(&forms.signed.account.name)) " (" (words::role(forms.visitor.lang, forms.signed.account.role)) ") "
                button { (forms.say("Log out", "ログアウト")) }
            }
        }
    }
}

fn games(forms: &Forms<'_>, games: &[ListedGame]) -> Markup {
    html! {
        div.title {
            h2 { (forms.say("Running games", "対局中")) " (" (games.len()) ")" }
            @if forms.is_arbiter() { (by_number(forms)) }
        }
        @if games.is_empty() { p { (forms.say("None.", "なし。")) } }
        ul.cells { @for game in games { li { (running(forms, game)) } } }
    }
}

/// A running game, and the orders for it.
fn running(forms: &Forms<'_>, game: &ListedGame) -> Markup {
    let number = game.game.to_string();
    let title =
        format!("{} {number}: {} – {}", forms.say("Game", "対局"), plain(&game.black), plain(&game.white));
    let button = html! {
        span.number { (number) }
        span.name { (plain(&game.black)) " – " (plain(&game.white)) }
        span.facts { (game.plies) (forms.say(" plies", "手")) }
    };
    let adjourn = ("adjourn", forms.say("Adjourn (the position is kept)", "指し掛け（局面を保存）"), false);
    let rule = ("rule", forms.say("Rule", "裁定"), true);
    let content = html! {
        p { a href={ "/games/" (number) } { (forms.say("To the game", "対局を見る")) } }
        @if forms.is_arbiter() {
            (forms.form(&html! { (hidden("game", &number)) (forms.results()) (forms.reason(true)) }, &[rule, adjourn]))
        } @else {
            (forms.form(&html! { (hidden("game", &number)) (forms.reason(false)) }, &[adjourn]))
        }
    };
    forms.dialog(&format!("game-{number}"), &button, &title, &content)
}

/// Adjourned games that wait for the operator.
fn adjourned(forms: &Forms<'_>, games: &[ListedAdjourned]) -> Markup {
    let on = ("play-on", forms.say("Play on from the position", "続きから再開（指し継ぎ）"), false);
    let again = ("replay", forms.say("Play again from the opening", "初手から指し直し"), true);
    html! {
        @if !games.is_empty() { h2 { (forms.say("Adjourned", "指し掛け")) } }
        ul.cells { @for game in games { li {
            @let number = game.game.to_string();
            @let title = format!("{} {number}: {} – {}", forms.say("Game", "対局"), plain(&game.black), plain(&game.white));
            @let button = html! { span.number { (number) } span.name { (plain(&game.black)) " – " (plain(&game.white)) } };
            @let fields = html! { (hidden("game", &number)) (forms.reason(true)) };
            @let buttons = if forms.is_arbiter() { &[on, again][..] } else { &[on][..] };
            (forms.dialog(&format!("kept-{number}"), &button, &title, &html! {
                p { a href={ "/games/" (number) } { (forms.say("To the game", "対局を見る")) } }
                (forms.form(&fields, buttons))
            }))
        } } }
    }
}

/// Orders about a game that may be over.
fn by_number(forms: &Forms<'_>) -> Markup {
    let title = forms.say("A game by its number", "番号で指定");
    let fields = html! {
        label { (forms.say("Number of the game", "対局番号")) input name="game" type="number" min="1" required; }
        (forms.results())
        (forms.reason(true))
    };
    let buttons = [
        ("rule", forms.say("Rule", "裁定"), true),
        ("replay", forms.say("Play again (a game that is over)", "指し直し（終局後）"), true),
    ];
    forms.small("by-number", title, &fields, &buttons)
}

/// Appeals that wait, each with its decision.
fn appeals(forms: &Forms<'_>, appeals: &[ListedAppeal]) -> Markup {
    html! {
        @if !appeals.is_empty() { h2 { (forms.say("Appeals", "異議申し立て")) } }
        ul.cells { @for appeal in appeals { li {
            @let title = format!("{} {}: {}", forms.say("Game", "対局"), appeal.game, plain(&appeal.by));
            @let button = html! { span.number { (appeal.game) } span.name { (plain(&appeal.by)) ": " (plain(&appeal.reason)) } };
            (forms.dialog(&format!("appeal-{}", appeal.operation), &button, &title, &html! {
                p { (plain(&appeal.reason)) }
                p { a href={ "/games/" (appeal.game) } { (forms.say("To the game", "対局を見る")) } }
                @if forms.is_arbiter() { (forms.form(&decision(forms, appeal), &[("answer", forms.say("Answer", "回答"), true)])) }
            }))
        } } }
    }
}

fn decision(forms: &Forms<'_>, appeal: &ListedAppeal) -> Markup {
    html! {
        (hidden("appeal", &appeal.operation.to_string()))
        label { (forms.say("Decision", "判断")) select name="decision" {
            option value="dismissed" { (forms.say("dismissed: the result stands", "却下：結果は変わりません")) }
            option value="replay" { (forms.say("upheld: play again", "認める：指し直し")) }
            (forms.result_options())
            option value="upheld" { (forms.say("upheld: ordered before", "認める：裁定済み")) }
        } }
        (forms.reason(true))
    }
}

/// The players of the network, the absent first, then by name.
fn players(forms: &Forms<'_>, list: &Listed, is_league: bool) -> Markup {
    let mut players: Vec<_> = list.players.iter().collect();
    players.sort_by(|one, other| one.name.cmp(&other.name));
    html! {
        div.title {
            h2 { (forms.say("Players", "選手")) " (" (forms.say("here: ", "接続中 ")) (players.len())
                @if !list.absent.is_empty() { (forms.say(", absent: ", "、不在 ")) (list.absent.len()) } ")" }
            @if forms.is_arbiter() { (of_players(forms, is_league)) }
            small { (forms.say("seconds: since the player's last line", "秒：最後の受信から")) }
        }
        @if players.is_empty() && list.absent.is_empty() { p { (forms.say("None.", "なし。")) } }
        ul.cells.many {
            @for name in &list.absent { li { span.absent { span.name { (plain(name)) } span.facts { (forms.say("absent", "不在")) } } } }
            @for (at, player) in players.into_iter().enumerate() { li { (player_cell(forms, at, player)) } }
        }
    }
}

fn player_cell(forms: &Forms<'_>, at: usize, player: &ListedPlayer) -> Markup {
    let state = words::state(forms.visitor.lang, &player.state);
    let button = html! {
        span.name { (plain(&player.name)) }
        span.facts { (state) " " span.idle { (player.idle_seconds) (forms.say(" s", "秒")) } }
    };
    let content = html! {
        p { (state) " · " (plain(&player.address)) }
        p { (forms.say("Seconds since a line of this player: ", "最後の受信からの秒数：")) (player.idle_seconds) }
        (forms.form(&of_player(forms, player), &player_buttons(forms)))
    };
    forms.dialog(&format!("player-{at}"), &button, &plain(&player.name), &content)
}

fn of_player(forms: &Forms<'_>, player: &ListedPlayer) -> Markup {
    html! {
        (hidden("name", &player.name))
        (hidden("address", &player.address))
        (forms.reason(forms.is_arbiter()))
    }
}

fn player_buttons<'a>(forms: &Forms<'a>) -> Vec<Button<'a>> {
    let all = [
        ("kick", forms.visitor.say("Disconnect", "切断"), false),
        ("mute", forms.visitor.say("Mute", "発言禁止"), false),
    ];
    let bans = [
        ("ban-name", forms.visitor.say("Ban the name", "名前を禁止"), true),
        ("ban-address", forms.visitor.say("Ban the address", "アドレスを禁止"), true),
    ];
    all.into_iter().chain(bans.into_iter().filter(|_| forms.is_arbiter())).collect()
}

/// Orders that name players.
fn of_players(forms: &Forms<'_>, is_league: bool) -> Markup {
    let pair = forms.say("Pair two players", "2人を対局させる");
    let swap = forms.say("Substitute", "代理");
    let ban = forms.say("Ban", "禁止");
    html! {
        @if is_league { (forms.small("pair", pair, &html! {
            p { (forms.say("Both wait for the same game.", "同じ対局を待っている2人を指定します。")) }
            (forms.text("black", forms.say("Black", "先手"), "32", true))
            (forms.text("white", forms.say("White", "後手"), "32", true))
            (forms.reason(false))
        }, &[("pair", pair, true)])) } @else { (forms.small("swap", swap, &html! {
            (forms.text("out", forms.say("Entrant who leaves", "退く選手"), "32", true))
            (forms.text("substitute", forms.say("Login name of the substitute", "代わりの選手のログイン名"), "32", true))
            (forms.reason(true))
        }, &[("swap", forms.say("Swap", "交代"), true)])) }
        (forms.small("ban", ban, &html! {
            (forms.text("whom", forms.say("Name, address or network", "名前・アドレス・ネットワーク"), "64", true))
            (forms.reason(true))
        }, &[("ban", ban, true)]))
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
            h2 { (forms.say("Bans", "禁止")) }
            ul { @for banned in &list.bans { li {
                (ban(banned))
                @if forms.is_arbiter() { (ends("unban", forms.say("End the ban", "解除"), "whom", &banned.whom)) }
            } } }
        }
        @if !list.mutes.is_empty() {
            h2 { (forms.say("Muted", "発言禁止")) }
            ul { @for name in &list.mutes { li { (plain(name)) " " (ends("unmute", forms.say("Let speak", "解除"), "name", name)) } } }
        }
        @if !list.buoys.is_empty() {
            h2 { (forms.say("Buoys", "ブイ")) }
            ul { @for name in &list.buoys { li { (plain(name)) " " (ends("delete-buoy", forms.say("Delete", "削除"), "name", name)) } } }
        }
    }
}

/// What was done, the last first.
fn record(forms: &Forms<'_>, recent: &[Recorded]) -> Markup {
    let label = forms.say("Take back", "取り消す");
    html! {
        h2 { (forms.say("On record", "記録")) }
        @if recent.is_empty() { p { (forms.say("Nothing yet.", "まだありません。")) } }
        ol.record reversed {
            @for Recorded { operation, undone, can_be_undone } in recent {
                li value=(operation.number) {
                    (plain(&words::operation(forms.visitor.lang, operation))) " "
                    @if *undone { em { (forms.say("(taken back)", "（取り消し済み）")) } }
                    @else if *can_be_undone && forms.is_arbiter() {
                        @let fields = html! { (hidden("number", &operation.number.to_string())) (forms.reason(false)) };
                        (forms.small(&format!("undo-{}", operation.number), label, &fields, &[("undo", label, true)]))
                    }
                }
            }
        }
    }
}
