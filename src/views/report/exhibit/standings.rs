//! The standings: a row for each player with its results, its Elo and its faults.

use super::{Cell, Column, Exhibit, Value};
use contest::standings::{Causes, Scale, Standings, Wdl};
use referee::{
    entry::PlayerId,
    points::Points,
    rating::{Estimate, Ratings, rounded},
};
use serde::{Serialize, Serializer};
use words::Language;

/// A player's row in the standings.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlayerRow {
    /// The player.
    #[serde(skip)]
    pub player: PlayerId,
    /// Rank, from 1; players who are level share it.
    pub rank: u32,
    /// Name; of a trip behind it, only what tells two players apart.
    pub name: String,
    /// The whole name, with its trip, as the database has it.
    pub id: String,
    /// Games that count.
    pub games: u64,
    /// Games won.
    pub wins: u64,
    /// Games lost.
    pub losses: u64,
    /// Games drawn.
    pub draws: u64,
    /// Score over games, from 0 to 1.
    pub score: Option<f64>,
    /// Points by the event's scoring, byes included, less the penalties.
    pub points: Points,
    /// Elo relative to the field's mean, by maximum likelihood over all games (Davidson's model with draws and an
    /// advantage of black).
    #[serde(flatten, serialize_with = "elo_fields")]
    pub elo: Estimate,
    /// The rating on an external scale, where the event has one.
    #[serde(skip)]
    pub rating: Option<Estimate>,
    /// Probability that the player is stronger than the next one.
    pub los: Option<f64>,
    /// Games as black.
    pub black: Wdl,
    /// Games as white.
    pub white: Wdl,
    /// Games won, by cause.
    pub won_by: Causes,
    /// Games lost, by cause.
    pub lost_by: Causes,
    /// Games drawn, by cause.
    pub drawn_by: Causes,
    /// Games lost by faults: time, a dead process, an illegal move.
    pub faults: u64,
    /// Rounds without an opponent.
    pub byes: u32,
    /// The player that has joined in its place, so that it plays no further game.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaced_by: Option<String>,
}

/// An estimate of Elo as the fields `elo`, `elo_error` and `elo_kind` of JSON.
///
/// # Errors
/// Those of the serializer.
pub fn elo_fields<S: Serializer>(elo: &Estimate, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Fields {
        elo: Option<f64>,
        elo_error: Option<f64>,
        elo_kind: &'static str,
    }
    Fields { elo: elo.value(), elo_error: elo.error(), elo_kind: elo.kind() }.serialize(serializer)
}

/// The rows, best first: by the order of the event, or by an external scale. `name` gives the name of a player that is
/// shown, and the whole one.
pub fn rows(
    standings: &Standings,
    ratings: &Ratings,
    scale: Option<&Scale>,
    name: impl Fn(PlayerId) -> [String; 2],
) -> Vec<PlayerRow> {
    let order = order(standings, ratings, scale);
    let shown = |player| name(player)[0].clone();
    let row = |(at, &(rank, player)): (usize, &(u32, PlayerId))| {
        let record = &standings.total().players[player.index()];
        let (games, [name, id]) = (record.games(), name(player));
        PlayerRow {
            player,
            rank,
            name,
            id,
            games: games.games(),
            wins: games.wins,
            losses: games.losses,
            draws: games.draws,
            score: games.score(),
            points: standings.points(player),
            elo: ratings.players.get(player.index()).map_or(Estimate::Unknown, |rating| rating.elo),
            rating: scale.map(|scale| *scale.ratings.get(&player).unwrap_or(&Estimate::Unknown)),
            los: order.get(at + 1).and_then(|(_, next)| ratings.los(player.index(), next.index())),
            black: record.black,
            white: record.white,
            won_by: record.won_by.clone(),
            lost_by: record.lost_by.clone(),
            drawn_by: record.drawn_by.clone(),
            faults: record.faults(),
            byes: record.byes,
            replaced_by: standings.replacement(player).map(shown),
        }
    };
    order.iter().enumerate().map(row).collect()
}

/// The players with their ranks, best first; those of an event that points do not decide by an external scale, if it has one.
fn order(standings: &Standings, ratings: &Ratings, scale: Option<&Scale>) -> Vec<(u32, PlayerId)> {
    let mut order = standings.order(ratings);
    if let Some(scale) = scale.filter(|_| !standings.by_points()) {
        let rating = |player: &PlayerId| match scale.ratings.get(player) {
            Some(Estimate::AtLeast { value } | Estimate::AtMost { value }) => *value,
            other => other.and_then(Estimate::value).unwrap_or(f64::NEG_INFINITY),
        };
        order.sort_by(|(_, a), (_, b)| rating(b).total_cmp(&rating(a)));
        (1..).zip(&mut order).for_each(|(place, (rank, _))| *rank = place);
    }
    order
}

/// The table of these rows. Where two players meet, their difference is the only Elo that is shown, and stands below in
/// words: `is_duel`. `name` gives the cell of a player.
pub fn standings<'a>(
    rows: impl IntoIterator<Item = &'a PlayerRow> + Clone,
    is_duel: bool,
    words: Language,
    name: impl Fn(&PlayerRow) -> Cell,
) -> Exhibit {
    let named = |row: &PlayerRow| {
        let cell = name(row);
        match (&cell.value, &row.replaced_by) {
            (Value::Words(name), Some(by)) => {
                Cell { value: Value::Words(format!("{name} ({})", words.replaced_by(by))), ..cell }
            }
            _ => cell,
        }
    };
    let mut columns = vec![
        Column::right("#", |row: &PlayerRow| Cell::number(row.rank.to_string())),
        Column::left(words.engine(), named),
        Column::right(words.game_column(), |row: &PlayerRow| Cell::count(row.games)),
        Column::right(words.pick("wins", "勝"), |row: &PlayerRow| Cell::count(row.wins)),
        Column::right(words.pick("loss", "敗"), |row: &PlayerRow| Cell::count(row.losses)),
        Column::right(words.pick("draw", "分"), |row: &PlayerRow| Cell::count(row.draws)),
        Column::right(words.score(), |row: &PlayerRow| Cell::share(row.score, 1)),
    ];
    if !is_duel {
        let is_scaled = rows.clone().into_iter().any(|row| row.rating.is_some());
        let heading = if is_scaled { words.declared_rating() } else { words.elo() };
        let elo = |row: &PlayerRow| row.rating.map_or_else(|| Cell::elo(row.elo), rating);
        columns.extend([
            Column::right(heading, elo),
            Column::right("+-", |row: &PlayerRow| Cell::error(row.rating.unwrap_or(row.elo))),
            Column::right("LOS", |row: &PlayerRow| Cell::share(row.los, 0))
                .about(words.stronger_than_next())
                .spare(),
        ]);
    }
    columns.push(Column::right(words.faults(), |row: &PlayerRow| Cell::faults(row.faults)));
    let is_tentative = |row: &PlayerRow| matches!(row.elo, Estimate::Tentative { .. });
    let tentative = !is_duel && rows.clone().into_iter().any(is_tentative);
    let notes = tentative.then(|| words.elo_is_tentative().to_owned());
    Exhibit::of(columns, rows).with_notes(notes)
}

/// A rating on an external scale, which is no difference and has no sign.
fn rating(rating: Estimate) -> Cell {
    match rating {
        Estimate::Measured { value, .. } => Cell::number(rounded(value, 0)),
        Estimate::Tentative { value, .. } => Cell::number(format!("~{}", rounded(value, 0))),
        Estimate::AtLeast { value } => Cell::number(format!(">{value:.0}")),
        Estimate::AtMost { value } => Cell::number(format!("<{value:.0}")),
        Estimate::Unknown => Cell::default(),
    }
}
