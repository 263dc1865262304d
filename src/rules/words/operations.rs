//! What the operator did.

use crate::{Language, messages};
use referee::{
    Color,
    operation::{Action, NamedGame, Operation},
    points::Points,
};
use std::time::Duration;

messages! {
    operator: "Operator" = "運営";
    operators_actions: "Operator's actions" = "運営の操作";
    earlier_operations(operations: usize): "{operations} earlier ones" = "{operations}件（以前の操作）";
}

impl Language {
    /// An operation with its number, its person and its reason.
    pub fn operation(self, operation: &Operation) -> String {
        if self == Self::English {
            return operation.to_string();
        }
        let Operation { number, by, reason, undoes, action } = operation;
        let undone = undoes.map_or_else(String::new, |undone| format!("（操作{undone}の取り消し）"));
        let why = if reason.is_empty() { String::new() } else { format!("　理由：{reason}") };
        // An account that acts for a player: `root as gps`.
        let by =
            by.split_once(" as ").map_or_else(|| by.clone(), |(root, name)| format!("{name}（代理 {root}）"));
        format!("操作{number}　{by}：{}{undone}{why}", self.action(action))
    }

    /// A game with its players and its round.
    pub fn named_game(self, named: &NamedGame) -> String {
        let NamedGame { game, black, white, round } = named;
        self.pick(named.to_string(), format!("第{}局（☗{black} ☖{white}、{}）", game.0, self.round(*round)))
    }

    /// What was done.
    pub fn action(self, action: &Action) -> String {
        use Action as A;
        if self == Self::English {
            return action.to_string();
        }
        match action {
            A::Paused => "大会を一時停止".to_owned(),
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
            A::Adjourned { game, .. } => format!("{}を指し掛け", self.named_game(game)),
            A::PlayedOn { game } => format!("{}を指し掛けの局面から再開", self.named_game(game)),
            A::ClockSet { game, color, left_ms } => {
                let side = if *color == Color::Black { "先手" } else { "後手" };
                let seconds = Duration::from_millis(*left_ms).as_secs_f64();
                format!("{}の{side}の残り時間を{seconds}秒に変更", self.named_game(game))
            }
            A::Restarted { game } => format!("{}を初手から指し直し", self.named_game(game)),
            A::Ruled { game, was, outcome, .. } => {
                let before =
                    was.map_or_else(String::new, |was| format!("（元の結果：{}）", self.outcome(was)));
                format!("{}を裁定：{}{before}", self.named_game(game), self.outcome(*outcome))
            }
            A::Replayed { game, was, .. } => {
                format!("{}を指し直し（元の結果：{}）", self.named_game(game), self.outcome(*was))
            }
            A::Paired { black, white, name } => format!("`{black}` と `{white}` を `{name}` で対局"),
            A::PairingGiven { black, white, round, holds, .. } => {
                let round = round.saturating_add(1);
                match holds {
                    true => format!("{round}回戦で `{black}`（先手）と `{white}` を組む"),
                    false => format!("{round}回戦の `{black}` と `{white}` の組合せの指定を解除"),
                }
            }
            A::ByeGiven { name, round, holds: true, .. } => {
                format!("{round}回戦を `{name}` の休み（半点）とする")
            }
            A::ByeGiven { name, round, .. } => format!("{round}回戦の `{name}` の休みを取り消し"),
            A::Appealed { game, was } => {
                format!("{}の結果（{}）に異議を申し立て", self.named_game(game), self.outcome(*was))
            }
            A::AppealAnswered { appeal, game, was, upheld } => {
                let answer = if *upheld { "認める" } else { "却下" };
                let (game, was) = (self.named_game(game), self.outcome(*was));
                format!("{game}の結果（{was}）への異議申し立て（操作{appeal}）を{answer}")
            }
            A::Swapped { out, substitute, .. } => format!("`{out}` に代わり `{substitute}` が出場"),
            A::Penalised { name, points, stage, .. } => {
                let stage = u32::from(*stage) + 1;
                match *points < Points::ZERO {
                    true => format!("`{name}` に{}点を戻す（ステージ{stage}）", -*points),
                    false => format!("`{name}` を{points}点減点（ステージ{stage}）"),
                }
            }
            A::Disqualified { name, holds: true, .. } => format!("`{name}` を失格とし、全成績を除外"),
            A::Disqualified { name, .. } => format!("`{name}` の失格を取り消し"),
            A::Placed { name, other, stage, holds, .. } => {
                let stage = u32::from(*stage) + 1;
                match holds {
                    true => format!("同順位の `{name}` を `{other}` の上位とする（ステージ{stage}）"),
                    false => format!("`{name}` と `{other}` を同順位に戻す（ステージ{stage}）"),
                }
            }
            A::Withdrawn { name, holds: true, .. } => format!("`{name}` が次の回戦から棄権"),
            A::Withdrawn { name, .. } => format!("`{name}` が次の回戦から復帰"),
            A::Joined { name, out: Some(out), .. } => format!("`{out}` を `{name}` に交代"),
            A::Joined { name, .. } => format!("`{name}` が途中参加"),
            A::MachineDropped { machine } => format!("マシン `{machine}` を除外"),
            A::MachineReadmitted { machine } => format!("マシン `{machine}` の復帰を許可"),
        }
    }
}
