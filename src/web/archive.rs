//! What the store answers: games by what was asked for, one game, its record, a player's history.

use crate::{
    desk::{Desk, FRESH, NoAnswer, lock},
    game::{Game, cause_words},
    opening,
    visitor::Lang,
};
use notation::record::Format;
use referee::{Color, entry::GameId};
use report::plot::plain;
use rusqlite::{OptionalExtension, Row, ToSql, types::Value};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, time::Instant};

/// Games on a page of the archive.
pub const PAGE: u64 = 50;
/// Letters of a filter.
const WORDS: usize = 200;
/// Moves of an opening that is searched for.
const OPENING: usize = 20;

/// What is searched for. An absent or empty field leaves everything in.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Search {
    /// A part of a player's name.
    pub player: String,
    /// A part of the other player's name.
    pub opponent: String,
    /// First day, `YYYY-MM-DD` (UTC).
    pub from: String,
    /// Last day.
    pub to: String,
    /// First moves in USI: `7g7f 3c3d`.
    pub opening: String,
    /// `black`, `white`, `draw` or `none`.
    pub result: String,
    /// A cause, as in the column `cause`.
    pub ending: String,
    /// Least plies.
    pub least: String,
    /// Most plies.
    pub most: String,
    /// The page, from 1.
    pub page: String,
    /// A player by its number.
    #[serde(skip)]
    pub number: Option<usize>,
}

/// A page of games.
#[derive(Clone, Debug, Serialize)]
pub struct Found {
    /// Games that fit, on all pages.
    pub total: u64,
    /// The page, from 1.
    pub page: u64,
    /// Games on it, newest first.
    pub games: Vec<Line>,
}

/// A game in a list.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    /// Number of the game.
    pub number: u64,
    /// Players by their numbers, black first.
    pub players: [u32; 2],
    /// Their names.
    pub names: [String; 2],
    /// Start in ms since 1970-01-01 UTC.
    pub started: Option<i64>,
    /// End in the same.
    pub ended: Option<i64>,
    /// `black`, `white`, `draw` or `none`.
    pub result: &'static str,
    /// The cause of the ending.
    pub cause: String,
    /// Plies at the end.
    pub plies: u32,
    /// Whether it counts.
    pub counts: bool,
}

impl Search {
    fn page(&self) -> Result<u64, NoAnswer> {
        number("page", &self.page).map(|page| page.unwrap_or(1).clamp(1, 1_000_000))
    }

    /// The conditions in SQL with their values.
    fn conditions(&self, names: &[String], horizon: i64) -> Result<(String, Vec<Value>), NoAnswer> {
        let mut sql = "g.event = ? AND g.ended_at IS NOT NULL AND g.ended_at <= ?".to_owned();
        let mut values = vec![Value::Integer(horizon)];
        let mut add = |condition: &str, value: Vec<Value>| {
            sql.push_str(" AND ");
            sql.push_str(condition);
            values.extend(value);
        };
        for (key, text) in [("player", &self.player), ("opponent", &self.opponent)] {
            if let Some(found) = players(key, text, names)? {
                let list = found.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
                add(&format!("(g.black IN ({list}) OR g.white IN ({list}))"), vec![]);
            }
        }
        if let (Some(one), Some(other)) =
            (players("player", &self.player, names)?, players("opponent", &self.opponent, names)?)
        {
            let [one, other] =
                [one, other].map(|list| list.iter().map(ToString::to_string).collect::<Vec<_>>().join(","));
            add(
                &format!(
                    "((g.black IN ({one}) AND g.white IN ({other})) OR (g.white IN ({one}) AND g.black IN ({other})))"
                ),
                vec![],
            );
        }
        if let Some(number) = self.number {
            add(&format!("{number} IN (g.black, g.white)"), vec![]);
        }
        if let Some(from) = day("from", &self.from)? {
            add("g.started_at >= ?", vec![Value::Integer(from)]);
        }
        if let Some(to) = day("to", &self.to)? {
            add("g.started_at < ?", vec![Value::Integer(to + 86_400_000)]);
        }
        match self.result.as_str() {
            "" => {}
            "none" => add("g.result = 'aborted'", vec![]),
            result @ ("black" | "white" | "draw") => {
                add("g.result = ?", vec![Value::Text(result.to_owned())])
            }
            other => return Err(wrong("result", other, "black, white, draw or none")),
        }
        if !self.ending.is_empty() {
            let ending = bounded("ending", &self.ending)?.to_owned();
            add(
                "(g.cause = ? OR g.cause LIKE ? || ':%')",
                vec![Value::Text(ending.clone()), Value::Text(ending)],
            );
        }
        if let Some(least) = number("least", &self.least)? {
            add("g.plies >= ?", vec![Value::Integer(least.cast_signed())]);
        }
        if let Some(most) = number("most", &self.most)? {
            add("g.plies <= ?", vec![Value::Integer(most.cast_signed())]);
        }
        let opening = opening::in_usi(bounded("opening", &self.opening)?);
        let opening: Vec<&str> = opening.split_whitespace().collect();
        if !opening.is_empty() {
            let is_move = |word: &&str| {
                word.len() <= 5 && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"+*".contains(&b))
            };
            if opening.len() > OPENING || !opening.iter().all(is_move) {
                return Err(wrong(
                    "opening",
                    &self.opening,
                    "up to 20 moves such as `7g7f 3c3d` or `▲７六歩 △３四歩`",
                ));
            }
            let (condition, found) = begins_with(&opening);
            add(&condition, found);
        }
        Ok((sql, values))
    }
}

/// The condition that a game begins with these moves. A game has those of its opening in one text and its own in a table,
/// by their plies: each of these is looked up alone, so that most games are out at the first.
fn begins_with(moves: &[&str]) -> (String, Vec<Value>) {
    let whole = format!("{} ", moves.join(" "));
    let own = |at: usize| {
        let ply = at + 1;
        format!(
            " AND (length(coalesce(g.opening_moves, '')) > 0 AND length(g.opening_moves) - \
             length(replace(g.opening_moves, ' ', '')) + 1 >= {ply} OR EXISTS (SELECT 1 FROM moves m \
             WHERE m.game = g.id AND m.ply = {ply} AND m.move = ?))"
        )
    };
    // Either the opening alone begins with them, or they begin with the opening and go on with the game's own moves.
    let sql = format!(
        "(substr(coalesce(g.opening_moves, '') || ' ', 1, {}) = ? OR (coalesce(g.opening_moves, '') = '' \
         OR substr(?, 1, length(g.opening_moves) + 1) = g.opening_moves || ' '){})",
        whole.len(),
        (0..moves.len()).map(own).collect::<String>()
    );
    let text = |text: &str| Value::Text(text.to_owned());
    let values = [text(&whole), text(&whole)].into_iter().chain(moves.iter().map(|mv| text(mv))).collect();
    (sql, values)
}

fn wrong(key: &str, text: &str, expected: &str) -> NoAnswer {
    let shown: String = plain(text).chars().take(40).collect();
    NoAnswer::Wrong(format!("`{key}`: `{shown}` is not {expected}"))
}

fn bounded<'a>(key: &str, text: &'a str) -> Result<&'a str, NoAnswer> {
    if text.chars().count() > WORDS {
        return Err(NoAnswer::Wrong(format!("`{key}` has more than {WORDS} letters")));
    }
    Ok(text.trim())
}

fn number(key: &str, text: &str) -> Result<Option<u64>, NoAnswer> {
    match text.trim() {
        "" => Ok(None),
        text => match text.parse::<u32>() {
            Ok(number) => Ok(Some(number.into())),
            Err(_) => Err(wrong(key, text, "a whole number")),
        },
    }
}

fn day(key: &str, text: &str) -> Result<Option<i64>, NoAnswer> {
    let text = bounded(key, text)?;
    if text.is_empty() {
        return Ok(None);
    }
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let at = (digits.len() == 8).then(|| notation::date::of_digits(&format!("{digits}000000"))).flatten();
    at.map(Some).ok_or_else(|| wrong(key, text, "a day such as 2026-11-22"))
}

/// Numbers of the players whose names contain a text; `None` where everybody is meant.
fn players(key: &str, text: &str, names: &[String]) -> Result<Option<Vec<usize>>, NoAnswer> {
    let text = bounded(key, text)?.to_lowercase();
    if text.is_empty() {
        return Ok(None);
    }
    let found = names.iter().enumerate().filter(|(_, name)| name.to_lowercase().contains(&text));
    Ok(Some(found.map(|(at, _)| at).collect()))
}

impl Desk {
    /// What viewers may know of: names of the players, those of private games, running games.
    pub(crate) fn veil(&self) -> Result<Veil, NoAnswer> {
        let site = self.site();
        let veil = site.now(|live| Veil {
            names: live.names.clone(),
            hidden: live
                .ids
                .iter()
                .enumerate()
                .filter(|(_, id)| live.facts.is_private(id))
                .map(|(at, _)| at)
                .collect(),
            patterns: live.facts.private.clone(),
            running: live.running(),
            until: self.horizon(),
        });
        veil.ok_or(NoAnswer::NotYet)
    }

    /// Searches the games that are over. The newest games, which every viewer of the first page is shown, are searched
    /// for at most once a second.
    pub fn search(&mut self, search: &Search) -> Result<Found, NoAnswer> {
        if *search != Search::default() {
            return self.find(search);
        }
        let site = self.site();
        let mut newest = lock(&site.0.questions.newest);
        if let Some((at, newest)) = newest.as_ref()
            && at.elapsed() < FRESH
        {
            return Ok(newest.clone());
        }
        let found = self.find(search)?;
        *newest = Some((Instant::now(), found.clone()));
        Ok(found)
    }

    fn find(&mut self, search: &Search) -> Result<Found, NoAnswer> {
        let veil = self.veil()?;
        let (mut sql, mut values) = search.conditions(&veil.names, veil.until)?;
        let page = search.page()?;
        let (store, event) = self.store()?;
        values.insert(0, Value::Integer(event.id.0));
        sql.push_str(&veil.sql());
        values.extend(veil.values());
        let conn = store.connection();
        let total: i64 = conn
            .prepare_cached(&format!("SELECT count(*) FROM games g WHERE {sql}"))?
            .query_row(rusqlite::params_from_iter(values.iter()), |row| row.get(0))?;
        values.push(Value::Integer(PAGE.cast_signed()));
        values.push(Value::Integer(((page - 1) * PAGE).cast_signed()));
        let mut games = conn.prepare_cached(&format!(
            "SELECT g.number, g.black, g.white, g.started_at, g.result, g.cause, g.plies, g.state, g.ended_at FROM games g \
             WHERE {sql} ORDER BY g.number DESC LIMIT ? OFFSET ?"
        ))?;
        let games = games
            .query_map(rusqlite::params_from_iter(values.iter()), |row| line(row, &veil.names))?
            .collect::<Result<_, _>>()?;
        Ok(Found { total: total.unsigned_abs(), page, games })
    }

    /// Games that began or ended after an entry, up to another one, and are over.
    pub fn changed(&mut self, after: u64, until: u64) -> Result<Vec<GameId>, NoAnswer> {
        let (store, event) = self.store()?;
        let sql = "SELECT DISTINCT g.number FROM log l JOIN games g ON g.id = l.game \
                   WHERE l.event = ? AND l.seq > ? AND l.seq <= ? AND g.ended_at IS NOT NULL ORDER BY g.number LIMIT 2000";
        let mut games = store.connection().prepare_cached(sql)?;
        let values: [&dyn ToSql; 3] = [&event.id.0, &after.cast_signed(), &until.cast_signed()];
        let found = games.query_map(values, |row| row.get::<_, i64>(0))?;
        Ok(found
            .map(|number| number.map(|number| GameId(number.unsigned_abs())))
            .collect::<Result<_, _>>()?)
    }

    /// A game as far as viewers may see it; `None` where there is none, or it is private.
    pub fn game(&mut self, id: GameId) -> Result<Option<Game>, NoAnswer> {
        let site = self.site();
        if let Some(game) = site.now(|live| live.games.get(&id).cloned()).flatten() {
            return Ok(Some(game));
        }
        let veil = self.veil()?;
        let (store, event) = self.store()?;
        let Some(game) = store.game(event.id, id)? else { return Ok(None) };
        if !veil.shows(id, game.row.ended_at) {
            return Ok(None);
        }
        let ids = [&game.row.black, &game.row.white].map(String::as_str);
        let name = if veil.patterns.is_empty() { None } else { store.game_name(event.id, id)? };
        let facts = site.now(|live| live.facts.clone()).ok_or(NoAnswer::NotYet)?;
        if ids.iter().any(|id| facts.is_private(id)) || name.is_some_and(|name| facts.is_private(&name)) {
            return Ok(None);
        }
        let pairing = game.row.pairing;
        let name = |at: usize, id: &str| veil.names.get(at).cloned().unwrap_or_else(|| plain(id));
        let names = [name(pairing.black.index(), ids[0]), name(pairing.white.index(), ids[1])];
        let number = i64::try_from(id.0).unwrap_or(i64::MAX);
        let annotations = store.annotations(event.id, id)?;
        let mut shown = Game::stored(&game, names, facts.times(ids)).annotated(&game, &annotations);
        let mut told = store.connection().prepare_cached(
            "SELECT words || ' (' || by_ || CASE reason WHEN '' THEN '' ELSE ': ' || reason END || ')' FROM operations \
             WHERE event = ? AND game = ? AND at <= ? ORDER BY number",
        )?;
        let told = told.query_map((event.id.0, number, veil.until), |row| row.get::<_, String>(0))?;
        shown.remarks = told.map(|words| words.map(|words| plain(&words))).collect::<Result<_, _>>()?;
        Ok(Some(shown))
    }

    /// The last game that a login name has lines of and that viewers may see, and its colour there. A player of an open
    /// league has a trip behind the name.
    pub fn last_game_of(&mut self, name: &str) -> Result<Option<(GameId, Color)>, NoAnswer> {
        let veil = self.veil()?;
        let (store, event) = self.store()?;
        let sql = format!(
            "SELECT g.number, g.black = p.player FROM games g \
             JOIN players p ON p.event = g.event AND p.player IN (g.black, g.white) \
             WHERE g.event = ? AND g.ended_at <= ? AND (p.name = ? OR substr(p.name, 1, length(?) + 1) = ? || '+') \
             AND EXISTS (SELECT 1 FROM wire w WHERE w.event = g.event AND w.number = g.number){} \
             ORDER BY g.number DESC LIMIT 1",
            veil.sql()
        );
        let text = || Value::Text(name.to_owned());
        let values = [Value::Integer(event.id.0), Value::Integer(veil.until), text(), text(), text()];
        let values = values.into_iter().chain(veil.values());
        let game = |row: &Row<'_>| {
            let color = if row.get(1)? { Color::Black } else { Color::White };
            Ok((GameId(row.get::<_, i64>(0)?.unsigned_abs()), color))
        };
        let mut found = store.connection().prepare_cached(&sql)?;
        Ok(found.query_row(rusqlite::params_from_iter(values), game).optional()?)
    }

    /// The record of a game, as far as viewers may see it.
    pub fn record(&mut self, id: GameId, format: Format) -> Result<Vec<u8>, NoAnswer> {
        let missing = || NoAnswer::Missing(format!("there is no game {} here", id.0));
        let shown = self.game(id)?.ok_or_else(missing)?;
        let (store, event) = self.store()?;
        let mut game = store.game(event.id, id)?.ok_or_else(missing)?;
        if game.row.pruned_at.is_some() {
            return Err(NoAnswer::Missing(format!(
                "the moves of game {} were dropped, as those of old games",
                id.0
            )));
        }
        if shown.end.is_none() {
            let last = shown.moves.last().map_or(0, |ply| ply.p);
            game.moves.retain(|(_, moved)| moved.ply <= last);
            (game.row.outcome, game.row.ended_at, game.row.plies) = (None, None, None);
        }
        let name = store.game_name(event.id, id)?;
        let annotations = store.annotations(event.id, id)?;
        Ok(records::one(event, &game, name, &annotations, format)?)
    }

    /// Every game of a list that is short enough for programs to take whole: number, names, start.
    pub fn listed(&mut self, most: u64) -> Result<Vec<Line>, NoAnswer> {
        let mut lines = vec![];
        for page in 1..=most.div_ceil(PAGE) {
            let found = self.search(&Search { page: page.to_string(), ..Search::default() })?;
            let done = found.games.len() < usize::try_from(PAGE).unwrap_or(usize::MAX);
            lines.extend(found.games);
            if done {
                break;
            }
        }
        Ok(lines)
    }
}

/// What is kept from viewers. Of the store they are shown games that are over for them, and no others: a game that runs
/// is shown as the feed has released it.
pub(crate) struct Veil {
    names: Vec<String>,
    hidden: Vec<usize>,
    patterns: Vec<String>,
    running: BTreeMap<u64, ()>,
    /// The latest end that viewers may know of.
    until: i64,
}

impl Veil {
    /// Whether a game of the store, which ended then, is over for viewers.
    pub(crate) fn shows(&self, game: GameId, ended_at: Option<i64>) -> bool {
        ended_at.is_some_and(|at| at <= self.until) && !self.running.contains_key(&game.0)
    }

    /// The condition of games of nobody whose games are kept from viewers.
    fn sql(&self) -> String {
        let mut sql = String::new();
        if !self.hidden.is_empty() {
            let list = self.hidden.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
            sql.push_str(&format!(" AND g.black NOT IN ({list}) AND g.white NOT IN ({list})"));
        }
        for _ in &self.patterns {
            sql.push_str(
                " AND NOT EXISTS (SELECT 1 FROM game_names n WHERE n.event = g.event AND n.number = g.number AND n.name GLOB ?)",
            );
        }
        if !self.running.is_empty() {
            let list = self.running.keys().map(ToString::to_string).collect::<Vec<_>>().join(",");
            sql.push_str(&format!(" AND g.number NOT IN ({list})"));
        }
        sql
    }

    fn values(&self) -> impl Iterator<Item = Value> + '_ {
        self.patterns.iter().map(|pattern| Value::Text(pattern.replace('[', "[[]")))
    }
}

fn line(row: &Row<'_>, names: &[String]) -> rusqlite::Result<Line> {
    let players: [u32; 2] = [row.get(1)?, row.get(2)?];
    let name =
        |player: u32| usize::try_from(player).ok().and_then(|at| names.get(at)).cloned().unwrap_or_default();
    let result = match row.get_ref(4)?.as_str().unwrap_or("") {
        "black" => "black",
        "white" => "white",
        "draw" => "draw",
        _ => "none",
    };
    Ok(Line {
        number: row.get::<_, i64>(0)?.unsigned_abs(),
        players,
        names: players.map(name),
        started: row.get(3)?,
        ended: row.get(8)?,
        result,
        cause: row.get::<_, Option<String>>(5)?.unwrap_or_default(),
        plies: row.get::<_, Option<u32>>(6)?.unwrap_or(0),
        counts: row.get::<_, String>(7)? == "counted",
    })
}

/// Every cause that can end a game, in words.
#[must_use]
pub fn causes(lang: Lang) -> BTreeMap<&'static str, &'static str> {
    const CAUSES: [&str; 19] = [
        "mate",
        "resignation",
        "time",
        "declaration",
        "illegal-move",
        "illegal-declaration",
        "perpetual-check",
        "default",
        "disconnection",
        "adjudication",
        "ruling",
        "sennichite",
        "max-moves",
        "impasse",
        "draw-adjudication",
        "stopped",
        "not-started",
        "server",
        "no-result",
    ];
    CAUSES.into_iter().map(|cause| (cause, cause_words(lang, cause))).collect()
}

/// The sign of a result.
#[must_use]
pub fn sign(result: &str) -> &'static str {
    match result {
        "black" => "1–0",
        "white" => "0–1",
        "draw" => "½",
        _ => "–",
    }
}
