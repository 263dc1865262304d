//! What the operator did, as reports show it.

use crate::html::Language;
use maud::{Markup, html};
use notation::{date, printable};
use referee::{
    Color, Outcome,
    operation::{Action, Operation},
};
use serde::Serialize;
use std::fmt;

/// Most operations that people are shown; JSON and the database have all.
const SHOWN: usize = 30;

/// An action of the operator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OperationRow {
    /// Its number.
    pub number: u64,
    /// Its time, in ms since 1970-01-01 UTC.
    pub at: i64,
    /// Who did it.
    pub by: String,
    /// What was done, in a word.
    pub action: &'static str,
    /// The game that it is about.
    pub game: Option<u64>,
    /// The operation that it takes back.
    pub undoes: Option<u64>,
    /// Why.
    pub reason: String,
    /// All of it in words.
    pub words: String,
    /// All of it in Japanese.
    #[serde(skip)]
    pub japanese: String,
}

/// An operation in Japanese.
#[must_use]
pub fn japanese_operation(operation: &Operation) -> String {
    let Operation { number, by, reason, undoes, action } = operation;
    let undone = undoes.map_or_else(String::new, |undone| format!("（操作{undone}の取り消し）"));
    let why = if reason.is_empty() { String::new() } else { format!("　理由：{reason}") };
    format!("操作{number}　{by}：{}{undone}{why}", japanese_action(action))
}

fn japanese_action(action: &Action) -> String {
    use Action as A;
    match action {
        A::Paused => "大会を休止".to_owned(),
        A::Resumed => "大会を再開".to_owned(),
        A::RegistrationClosed => "受付を終了".to_owned(),
        A::RegistrationOpened => "受付を再開".to_owned(),
        A::Kicked { name } => format!("`{name}` の接続を切断"),
        A::Banned { whom } => format!("`{whom}` を禁止"),
        A::Unbanned { whom } => format!("`{whom}` の禁止を解除"),
        A::Muted { name } => format!("`{name}` の発言を禁止"),
        A::Unmuted { name } => format!("`{name}` の発言禁止を解除"),
        A::BuoyDeleted { name } => format!("ブイ `{name}` を削除"),
        A::Announced { text } => format!("お知らせ「{text}」"),
        A::RegistrationApproved { name } => format!("`{name}` の登録を承認"),
        A::RegistrationRefused { name } => format!("`{name}` の登録を却下"),
        A::Adjourned { game, .. } => format!("第{}局を指し掛け", game.0),
        A::PlayedOn { game } => format!("第{}局を指し掛けの局面から再開", game.0),
        A::Restarted { game } => format!("第{}局を初手から指し直し", game.0),
        A::Ruled { game, was, outcome, .. } => {
            let before =
                was.map_or_else(String::new, |was| format!("（元の結果：{}）", japanese_outcome(was)));
            format!("第{}局を裁定：{}{before}", game.0, japanese_outcome(*outcome))
        }
        A::Replayed { game, was, .. } => {
            format!("第{}局を指し直し（元の結果：{}）", game.0, japanese_outcome(*was))
        }
        A::Paired { black, white, name } => format!("`{black}` と `{white}` を `{name}` で対局"),
        A::Appealed { game, .. } => format!("第{}局の結果に異議申し立て", game.0),
        A::AppealAnswered { appeal, game, upheld } => {
            let answer = if *upheld { "認める" } else { "却下" };
            format!("第{}局への異議申し立て（操作{appeal}）を{answer}", game.0)
        }
        A::Swapped { out, substitute, .. } => format!("`{out}` に代わり `{substitute}` が出場"),
        A::MachineDropped { machine } => format!("マシン `{machine}` を除外"),
        A::MachineReadmitted { machine } => format!("マシン `{machine}` の復帰を許可"),
    }
}

/// An outcome in Japanese.
fn japanese_outcome(outcome: Outcome) -> String {
    let cause = Language::Japanese.cause(outcome.cause());
    match outcome {
        Outcome::Win { winner: Color::Black, .. } => format!("先手勝ち（{cause}）"),
        Outcome::Win { winner: Color::White, .. } => format!("後手勝ち（{cause}）"),
        Outcome::Draw { .. } => format!("引き分け（{cause}）"),
        Outcome::Aborted { .. } => format!("無効（{cause}）"),
    }
}

impl OperationRow {
    pub(super) fn of((at, operation): (i64, Operation)) -> Self {
        let words = printable(operation.to_string().as_bytes());
        let japanese = printable(japanese_operation(&operation).as_bytes());
        let Operation { number, by, reason, undoes, action } = operation;
        let game = action.game().map(|game| game.0);
        Self { number, at, by, action: action.word(), game, undoes, reason, words, japanese }
    }

    fn line(&self, language: Language) -> String {
        format!("{}  {}", date::text(self.at), language.say(&self.words, &self.japanese))
    }
}

fn shown(rows: &[OperationRow]) -> (usize, &[OperationRow]) {
    let left_out = rows.len().saturating_sub(SHOWN);
    (left_out, &rows[left_out..])
}

/// The list in a text.
pub(super) fn text(f: &mut fmt::Formatter<'_>, rows: &[OperationRow]) -> fmt::Result {
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(f, "\noperator's actions (UTC)")?;
    let (left_out, rows) = shown(rows);
    if left_out > 0 {
        writeln!(f, "  {left_out} earlier ones")?;
    }
    rows.iter().try_for_each(|row| writeln!(f, "  {}", row.line(Language::English)))
}

/// The list on a page.
pub(super) fn page(rows: &[OperationRow], language: Language) -> Markup {
    let (left_out, last) = shown(rows);
    html! {
        @if !rows.is_empty() {
            h2 { (language.say("Operator's actions", "運営の操作")) }
            ul {
                @if left_out > 0 { li { (left_out) (language.say(" earlier ones", "件（以前の操作）")) } }
                @for row in last { li { (crate::plot::plain(&row.line(language))) } }
            }
        }
    }
}
