//! What the store answers: games by what was asked for, one game, its record, a player's history.

use crate::{
    catalogue::{self, Catalogue, Entry, KEPT, code_of},
    desk::{Desk, FRESH, NoAnswer},
    game::Game,
    lists::{Found, Line},
    live::Item,
    opening,
};
use journal::{EventId, Store, StoreError};
use notation::record::Format;
use referee::{
    Color,
    entry::{GameId, PlayerId},
};
use report::plot::plain;
use serde::Deserialize;
use std::{collections::BTreeSet, ops::Range, time::Instant};
use words::{Language, Message};

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

impl Search {
    fn page(&self) -> Result<u64, NoAnswer> {
        number("page", &self.page).map(|page| page.unwrap_or(1).clamp(1, 1_000_000))
    }

    /// What a game has to be to be found.
    fn filter(&self, names: &[String], catalogue: &Catalogue) -> Result<Filter, NoAnswer> {
        let cause = bounded("ending", &self.ending)?;
        let family = format!("{cause}:");
        let is_meant = |known: &str| known == cause || known.starts_with(&family);
        Ok(Filter {
            player: players("player", &self.player, names)?,
            opponent: players("opponent", &self.opponent, names)?,
            number: self.number.map(|number| u32::try_from(number).unwrap_or(u32::MAX)),
            from: day("from", &self.from)?,
            before: day("to", &self.to)?.map(|to| to + 86_400_000),
            result: match self.result.as_str() {
                "" => None,
                "black" => Some(catalogue::Result::Black),
                "white" => Some(catalogue::Result::White),
                "draw" => Some(catalogue::Result::Draw),
                "none" => Some(catalogue::Result::None),
                other => return Err(wrong(other, |language, text| language.not_a_result("result", text))),
            },
            causes: (!cause.is_empty()).then(|| catalogue.causes(is_meant)),
            least: number("least", &self.least)?,
            most: number("most", &self.most)?,
            opening: self.opening_moves()?,
        })
    }

    /// The first moves that are searched for, in USI.
    fn opening_moves(&self) -> Result<Vec<String>, NoAnswer> {
        let moves = opening::in_usi(bounded("opening", &self.opening)?);
        let moves: Vec<String> = moves.split_whitespace().map(str::to_owned).collect();
        let is_move = |word: &String| {
            word.len() <= 5 && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"+*".contains(&b))
        };
        if moves.len() > OPENING || !moves.iter().all(is_move) {
            return Err(wrong(&self.opening, |language, text| language.not_an_opening("opening", text)));
        }
        Ok(moves)
    }
}

/// A search, checked against the names of the event.
struct Filter {
    player: Option<Vec<bool>>,
    opponent: Option<Vec<bool>>,
    number: Option<u32>,
    from: Option<i64>,
    before: Option<i64>,
    result: Option<catalogue::Result>,
    causes: Option<Vec<bool>>,
    least: Option<u64>,
    most: Option<u64>,
    opening: Vec<String>,
}

impl Filter {
    fn fits(&self, game: &Entry) -> bool {
        let plies = u64::from(game.plies);
        self.fits_players(game.players)
            && self.number.is_none_or(|number| game.has(number))
            && self.from.is_none_or(|from| game.started >= from)
            && self.before.is_none_or(|before| game.started > i64::MIN && game.started < before)
            && self.result.is_none_or(|result| game.result == result)
            && self.causes.as_ref().is_none_or(|causes| game.ended_by(causes))
            && self.least.is_none_or(|least| plies >= least)
            && self.most.is_none_or(|most| plies <= most)
    }

    fn fits_players(&self, [black, white]: [u32; 2]) -> bool {
        let one = |list: &Vec<bool>, player: u32| flag(list, player);
        match (&self.player, &self.opponent) {
            (Some(these), Some(those)) => {
                (one(these, black) && one(those, white)) || (one(these, white) && one(those, black))
            }
            (Some(these), None) | (None, Some(these)) => one(these, black) || one(these, white),
            (None, None) => true,
        }
    }
}

/// The flag of a player in a list by their numbers.
fn flag(list: &[bool], player: u32) -> bool {
    usize::try_from(player).ok().and_then(|at| list.get(at)).copied().unwrap_or(false)
}

/// The refusal of a text that a field does not take.
fn wrong(text: &str, words: impl Fn(Language, &str) -> String) -> NoAnswer {
    let shown: String = plain(text).chars().take(40).collect();
    NoAnswer::Wrong(Message::of(|language| words(language, &shown)))
}

fn bounded<'a>(key: &str, text: &'a str) -> Result<&'a str, NoAnswer> {
    if text.chars().count() > WORDS {
        return Err(NoAnswer::Wrong(Message::of(|language| language.too_many_letters(key, WORDS))));
    }
    Ok(text.trim())
}

fn number(key: &str, text: &str) -> Result<Option<u64>, NoAnswer> {
    match text.trim() {
        "" => Ok(None),
        text => match text.parse::<u32>() {
            Ok(number) => Ok(Some(number.into())),
            Err(_) => Err(wrong(text, |language, text| language.not_a_number(key, text))),
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
    at.map(Some).ok_or_else(|| wrong(text, |language, text| language.not_a_day(key, text)))
}

/// Whether the name of each player contains a text; `None` where everybody is meant.
fn players(key: &str, text: &str, names: &[String]) -> Result<Option<Vec<bool>>, NoAnswer> {
    let text = bounded(key, text)?.to_lowercase();
    if text.is_empty() {
        return Ok(None);
    }
    Ok(Some(names.iter().map(|name| name.to_lowercase().contains(&text)).collect()))
}

impl Desk {
    /// What viewers may know of: names of the players, those of private games, running games.
    pub(crate) fn veil(&self) -> Result<Veil, NoAnswer> {
        let site = self.site();
        let veil = site.now(|live| Veil {
            names: live.names.clone(),
            private: live.private.clone(),
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
        let mut newest = site.0.questions.newest.lock();
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
        let page = search.page()?;
        let first = (page - 1) * PAGE;
        self.look_through(search, first..first + PAGE, u64::MAX).map(|(total, games)| Found {
            total,
            page,
            games,
        })
    }

    /// The number of games that fit, counted up to `most`, and those of them in a range of places, newest first.
    fn look_through(
        &mut self,
        search: &Search,
        places: Range<u64>,
        most: u64,
    ) -> Result<(u64, Vec<Line>), NoAnswer> {
        let (veil, site) = (self.veil()?, self.site());
        let (store, event) = self.store()?;
        let (kept, private) = (&site.0.questions.catalogue, &site.config().private);
        if !search.opening.trim().is_empty() {
            // A part at a time, so that searches of others come between.
            while !kept.lock().prepare(store, event.id, private)? {}
        }
        let mut catalogue = kept.lock();
        catalogue.refresh(store, event.id, private)?;
        let filter = search.filter(&veil.names, &catalogue)?;
        if !filter.opening.is_empty() {
            catalogue.read_openings(store, event.id, true)?;
        }
        let codes: Vec<u16> = filter.opening.iter().map(|usi| code_of(usi)).collect();
        let (mut total, mut lines, all_shown) = (0, vec![], veil.is_thin());
        for game in catalogue.newest() {
            if game.ended > veil.until
                || !(all_shown || veil.reveals(GameId(game.number), Some(game.ended)))
                || !filter.fits(game)
                || !game.begins_with(&codes)
            {
                continue;
            }
            if codes.len() > KEPT {
                let mut played = vec![];
                store.first_moves(event.id, GameId(game.number), codes.len(), &mut |usi| {
                    played.push(code_of(usi));
                })?;
                if played != codes {
                    continue;
                }
            }
            if places.contains(&total) {
                lines.push(line(game, catalogue.cause(game), &veil));
            }
            total += 1;
            if total == most {
                break;
            }
        }
        Ok((total, lines))
    }

    /// Hands the first `most` games that are over to `f`, oldest first, as far as viewers may see them.
    pub(crate) fn ended_games(
        &mut self,
        most: usize,
        mut f: impl FnMut(&Entry, &Veil),
    ) -> Result<(), NoAnswer> {
        let (veil, site) = (self.veil()?, self.site());
        let (store, event) = self.store()?;
        let mut catalogue = site.0.questions.catalogue.lock();
        catalogue.refresh(store, event.id, &site.config().private)?;
        let shown = |game: &&Entry| veil.reveals(GameId(game.number), Some(game.ended));
        catalogue.oldest().take(most).filter(shown).for_each(|game| f(game, &veil));
        Ok(())
    }

    /// Reads a part of what the next search needs. Returns whether everything is read.
    pub fn prepare(&mut self) -> Result<bool, NoAnswer> {
        let site = self.site();
        let (store, event) = self.store()?;
        Ok(site.0.questions.catalogue.lock().prepare(store, event.id, &site.config().private)?)
    }

    /// Games that began or ended after an entry, up to another one, and are over.
    pub fn changed(&mut self, after: u64, until: u64) -> Result<Vec<GameId>, NoAnswer> {
        let (store, event) = self.store()?;
        Ok(store.changed_games(event.id, after, until)?)
    }

    /// What the operator did and the event told after an entry, up to another one.
    pub fn told(&mut self, after: u64, until: u64) -> Result<Vec<Item>, NoAnswer> {
        let private = self.veil()?.private;
        let (store, event) = self.store()?;
        let told = store.told(event.id, after, until)?;
        Ok(told.iter().filter_map(|(seq, stamped)| Item::told(*seq, &stamped.entry, &private)).collect())
    }

    /// A game as far as viewers may see it; `None` where there is none, or it is private.
    pub fn game(&mut self, id: GameId) -> Result<Option<Game>, NoAnswer> {
        let site = self.site();
        if let Some(game) = site.now(|live| live.games.get(&id).map(|game| live.shown(game))).flatten() {
            return Ok(Some(game));
        }
        let veil = self.veil()?;
        let (store, event) = self.store()?;
        let Some(game) = store.game(event.id, id)? else { return Ok(None) };
        if !veil.shows(id, game.row.ended_at) {
            return Ok(None);
        }
        let ids = [&game.row.black, &game.row.white].map(String::as_str);
        let facts = site.now(|live| live.facts.clone()).ok_or(NoAnswer::NotYet)?;
        if is_private(store, event.id, id, &facts.private)? {
            return Ok(None);
        }
        let pairing = game.row.pairing;
        let name = |at: usize, id: &str| veil.names.get(at).cloned().unwrap_or_else(|| plain(id));
        let names = [name(pairing.black.index(), ids[0]), name(pairing.white.index(), ids[1])];
        let annotations = store.annotations(event.id, id)?;
        let mut shown = Game::stored(&game, names, facts.times(ids)).annotated(&game, &annotations);
        shown.scales = facts.scales(ids).worth();
        if let Some(end) = &mut shown.end {
            let out = store.disqualified(event.id)?;
            end.counts &= ![pairing.black, pairing.white].iter().any(|player| out.contains(player));
        }
        shown.remarks = store.operations_about(event.id, id, veil.until)?;
        Ok(Some(shown))
    }

    /// The last game that a login name has lines of and that viewers may see, and its colour there. A player of an open
    /// league has a trip behind the name.
    pub fn last_game_of(&mut self, name: &str) -> Result<Option<(GameId, Color)>, NoAnswer> {
        let (veil, site) = (self.veil()?, self.site());
        let (store, event) = self.store()?;
        let private = &site.config().private;
        let is_shown = &mut |game: GameId, ended: i64| {
            veil.reveals(game, Some(ended)) && !is_private(store, event.id, game, private).unwrap_or(true)
        };
        Ok(store.last_game_of(event.id, name, veil.until, is_shown)?)
    }

    /// The record of a game, as far as viewers may see it.
    pub fn record(&mut self, id: GameId, format: Format) -> Result<Vec<u8>, NoAnswer> {
        let missing = || NoAnswer::Missing(Message::of(|language| language.no_game(id.0)));
        let shown = self.game(id)?.ok_or_else(missing)?;
        let (store, event) = self.store()?;
        let mut game = store.game(event.id, id)?.ok_or_else(missing)?;
        if game.row.pruned_at.is_some() {
            return Err(NoAnswer::Missing(Message::of(|language| language.moves_dropped(id.0))));
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

    /// The newest games of a list that is short enough for programs to take whole: number, names, start.
    pub fn listed(&mut self, most: u64) -> Result<Vec<Line>, NoAnswer> {
        Ok(self.look_through(&Search::default(), 0..most, most)?.1)
    }
}

/// True if the store says that a game is private: the feed may not have come to it yet.
fn is_private(store: &Store, event: EventId, game: GameId, private: &[String]) -> Result<bool, StoreError> {
    let names = if private.is_empty() { None } else { store.names(event, game)? };
    Ok(names.iter().flatten().any(|name| plan::http::is_private(private, name)))
}

/// What is kept from viewers, beside the private games that the catalogue leaves out. Of the store they are shown games that are over for them, and no others: a game that runs
/// is shown as the feed has released it.
pub(crate) struct Veil {
    names: Vec<String>,
    private: BTreeSet<GameId>,
    running: BTreeSet<GameId>,
    /// The latest end that viewers may know of.
    until: i64,
}

impl Veil {
    /// True if a game of the store, which ended then, is over for viewers.
    pub(crate) fn shows(&self, game: GameId, ended_at: Option<i64>) -> bool {
        ended_at.is_some_and(|at| at <= self.until) && !self.running.contains(&game)
    }

    /// A player's name as it is shown.
    pub(crate) fn name(&self, player: u32) -> String {
        self.names.get(PlayerId(player).index()).cloned().unwrap_or_default()
    }

    /// True if nothing at all is hidden, as in most events: then no game has to be looked at.
    fn is_thin(&self) -> bool {
        self.running.is_empty() && self.private.is_empty()
    }

    /// True if viewers are shown a game of the store, which ended then, as far as the feed has come.
    fn reveals(&self, game: GameId, ended_at: Option<i64>) -> bool {
        self.shows(game, ended_at) && !self.private.contains(&game)
    }
}

fn line(game: &Entry, cause: &str, veil: &Veil) -> Line {
    Line {
        number: game.number,
        players: game.players,
        names: game.players.map(|player| veil.name(player)),
        started: Some(game.started).filter(|at| *at > i64::MIN),
        ended: Some(game.ended),
        result: game.result.name(),
        cause: cause.to_owned(),
        plies: game.plies,
        counts: game.counts,
    }
}
