//! What the pages show now: a fold of the entries that are released to viewers.

use crate::game::{End, Game, Ply};
use notation::csa::game_name::short_ids;
use plan::StoredPlan;
use referee::{
    clock::TimeControl,
    entry::{Entry, GameId, PlayerId, Stamped},
    evaluation::{GameScales, ScoreScale},
    operation::PublicNotice,
    running::RunningGame,
};
use report::{EventInfo, HistoryFold, plot::plain};
use serde::Serialize;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};
use words::{Language, Message};

/// The state of the event, as far as viewers may see it.
#[derive(Debug)]
pub struct Live {
    /// What does not change.
    pub facts: Arc<Facts>,
    /// Names of the players as the database has them.
    pub ids: Vec<String>,
    /// Names as they are shown.
    pub names: Vec<String>,
    /// The history of the event, without moves.
    pub fold: HistoryFold,
    /// Running games.
    pub games: BTreeMap<GameId, RunningGame>,
    /// True if the names have to be made anew.
    unnamed: bool,
    /// Games that nobody is shown, running or over.
    pub private: BTreeSet<GameId>,
    /// Number of the last entry.
    pub seq: u64,
    /// True if the event is over.
    pub closed: bool,
    /// A pause of the event, and the last announcement.
    pub notice: PublicNotice,
}

/// What does not change of an event.
#[derive(Debug)]
pub struct Facts {
    /// Time controls of configured players, by name.
    pub times: BTreeMap<String, TimeControl>,
    /// Scales of the scores of configured players that have one, by name.
    pub scales: BTreeMap<String, ScoreScale>,
    /// True if players come and go, with trips behind their names.
    pub open: bool,
    /// Patterns of names and Game_IDs that are private.
    pub private: Vec<String>,
}

/// An item of the stream.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "k")]
pub enum Item {
    /// A game began.
    #[serde(rename = "s")]
    Started {
        /// The game.
        game: Box<Game>,
    },
    /// A move.
    #[serde(rename = "m")]
    Moved {
        /// Number of the game.
        g: u64,
        /// The move.
        #[serde(flatten)]
        ply: Ply,
    },
    /// The judge looked at a position.
    #[serde(rename = "j")]
    Judged {
        /// Number of the game.
        g: u64,
        /// Plies before the position.
        p: u32,
        /// Centipawns from black's side.
        s: i32,
    },
    /// A game ended.
    #[serde(rename = "e")]
    Ended {
        /// Number of the game.
        g: u64,
        /// How.
        #[serde(flatten)]
        end: End,
    },
    /// A game of another machine is not shown any more: it is over, or its machine is gone.
    #[serde(rename = "x")]
    Gone {
        /// Number of the game; `None`: so are all games of other machines.
        g: Option<u64>,
    },
    /// The operator did something, or the event told of something.
    #[serde(rename = "o")]
    Told {
        /// Number of the entry.
        seq: u64,
        /// The game that it is about.
        g: Option<u64>,
        /// In English.
        words: String,
        /// In Japanese.
        ja: String,
    },
}

impl Item {
    /// The game that the item is about.
    pub fn game(&self) -> Option<GameId> {
        match self {
            Self::Started { game } => Some(game.id()),
            Self::Moved { g, .. } | Self::Judged { g, .. } | Self::Ended { g, .. } => Some(GameId(*g)),
            Self::Told { g, .. } | Self::Gone { g } => g.map(GameId),
        }
    }

    /// What viewers are told of an entry that is no part of a game, but of the operator's orders about private ones.
    pub fn told(seq: u64, entry: &Entry, private: &BTreeSet<GameId>) -> Option<Self> {
        let (g, message) = match entry {
            Entry::Operator(operation) => {
                (operation.action.game(), Message::of(|language| language.operation(operation)))
            }
            Entry::Verdict { verdict, .. } => (None, Message::of(|language| language.verdict(verdict))),
            Entry::Closed => (None, Message::of(Language::event_is_over)),
            _ => return None,
        };
        let [words, ja] = Language::ALL.map(|language| plain(message.text(language)));
        let is_private = g.is_some_and(|game| private.contains(&game));
        (!is_private).then_some(Self::Told { seq, g: g.map(|game| game.0), words, ja })
    }

    /// The item as lists show it.
    pub fn short(&self) -> Self {
        match self {
            Self::Moved { g, ply } => Self::Moved { g: *g, ply: ply.short() },
            other => other.clone(),
        }
    }
}

impl Facts {
    /// True if a name, or its part before the trip, is private.
    pub fn is_private(&self, name: &str) -> bool {
        plan::http::is_private(&self.private, name)
    }

    /// The time controls of two players, where the plan has them.
    pub fn times(&self, ids: [&str; 2]) -> [TimeControl; 2] {
        ids.map(|id| self.times.get(id).copied().unwrap_or_default())
    }

    /// What is known of the scales of two players' scores.
    pub fn scales(&self, ids: [&str; 2]) -> GameScales {
        GameScales::new(ids.map(|id| self.scales.get(id).copied()))
    }
}

impl Live {
    /// The state before the first entry.
    pub fn new(info: &EventInfo, plan: &StoredPlan, private: Vec<String>) -> Self {
        let times =
            plan.engines.iter().filter_map(|engine| Some((engine.name.clone(), engine.time?))).collect();
        let scales =
            plan.engines.iter().filter_map(|engine| Some((engine.name.clone(), engine.scale?))).collect();
        let mut live = Self {
            facts: Arc::new(Facts { times, scales, open: info.open, private }),
            ids: info.engines.iter().map(|engine| engine.id.clone()).collect(),
            names: vec![],
            unnamed: true,
            fold: HistoryFold::new(info, false),
            games: BTreeMap::new(),
            private: BTreeSet::new(),
            seq: 0,
            closed: false,
            notice: PublicNotice::default(),
        };
        live.name();
        live
    }

    /// Makes the names anew that are shown, if somebody came or has another name.
    pub fn name(&mut self) {
        if !std::mem::take(&mut self.unnamed) {
            return;
        }
        let shown = if self.facts.open { short_ids(&self.ids) } else { self.ids.clone() };
        self.names = shown.iter().map(|name| plain(name)).collect();
    }

    fn enter(&mut self, at: usize, name: &str) {
        if self.ids.len() <= at {
            self.ids.resize(at + 1, String::new());
        }
        if self.ids[at] != name {
            name.clone_into(&mut self.ids[at]);
            self.unnamed = true;
        }
    }

    /// A player's name as it is shown.
    pub fn player(&self, player: PlayerId) -> &str {
        self.names.get(player.index()).map_or("?", String::as_str)
    }

    fn id(&self, player: PlayerId) -> &str {
        self.ids.get(player.index()).map_or("?", String::as_str)
    }

    /// Games that run as far as viewers know: nothing of them is read from the store.
    pub fn running(&self) -> BTreeSet<GameId> {
        self.games.keys().copied().collect()
    }

    /// A running game as it is shown.
    pub fn shown(&self, game: &RunningGame) -> Game {
        let scales = self.facts.scales(game.players().map(|player| self.id(player))).worth();
        Game { scales, ..Game::of(game, self.players(game)) }
    }

    /// The shown names of a game's players.
    pub fn players(&self, game: &RunningGame) -> [String; 2] {
        game.players().map(|player| self.player(player).to_owned())
    }

    /// Takes the games that other machines play now. Returns what viewers are sent of them.
    pub fn take_elsewhere(&mut self, boards: &BTreeMap<GameId, RunningGame>) -> Vec<Item> {
        let gone = self.games.range(GameId(GameId::ELSEWHERE)..).map(|(game, _)| *game);
        let gone: Vec<GameId> = gone.filter(|game| !boards.contains_key(game)).collect();
        let mut items: Vec<Item> = gone.iter().map(|game| Item::Gone { g: Some(game.0) }).collect();
        gone.iter().for_each(|game| _ = self.games.remove(game));
        for (id, board) in boards {
            let known = self.games.get(id).map(|known| known.plies.len());
            match known {
                Some(known) if known >= board.plies.len() => continue,
                Some(known) => {
                    let new = (1..).zip(&board.plies).skip(known);
                    items.extend(new.map(|(at, ply)| Item::Moved { g: id.0, ply: Ply::new(at, ply) }));
                }
                None if board.players().iter().any(|id| self.facts.is_private(self.id(*id))) => continue,
                None => items.push(Item::Started { game: Box::new(self.shown(board)) }),
            }
            self.games.insert(*id, board.clone());
        }
        items
    }

    /// Folds an entry; `names` looks up the names that a game had: those of its players then, and its Game_ID. Returns what
    /// viewers are told of it.
    pub fn take(
        &mut self,
        seq: u64,
        stamped: &Stamped,
        names: impl Fn(GameId) -> Vec<String>,
    ) -> Option<Item> {
        let Stamped { at, entry } = stamped;
        self.seq = self.seq.max(seq);
        if !matches!(entry, Entry::Moved(_) | Entry::Judged(_)) {
            self.fold.take(stamped);
        }
        match entry {
            Entry::Opened(opened) => {
                self.closed = false;
                opened.players.iter().enumerate().for_each(|(at, name)| self.enter(at, name));
                None
            }
            Entry::Entered { player, name } | Entry::Renamed { player, name } => {
                self.enter(player.index(), name);
                None
            }
            Entry::GameStarted(started) => {
                self.name();
                let pairing = started.pairing;
                let ids = [self.id(pairing.black), self.id(pairing.white)];
                let private = !self.facts.private.is_empty()
                    && names(started.game).iter().any(|name| self.facts.is_private(name));
                if private {
                    self.private.insert(started.game);
                    return None;
                }
                let game = RunningGame::new(started, self.facts.times(ids), *at);
                let shown = self.shown(&game);
                self.games.insert(started.game, game);
                Some(Item::Started { game: Box::new(shown) })
            }
            Entry::Moved(moved) => {
                let game = self.games.get_mut(&moved.game)?;
                let ply = game.moved(moved, *at).then(|| game.plies.last()).flatten()?;
                Some(Item::Moved { g: moved.game.0, ply: Ply::new(game.plies.len(), ply) })
            }
            Entry::Judged(judged) => {
                let game = self.games.get_mut(&judged.game)?;
                game.judge(judged);
                // A viewer who is behind the game has not seen the position yet.
                let is_seen = judged.ply as usize <= game.plies.len();
                let (g, p, s) = (judged.game.0, judged.ply, judged.evaluation().centipawns());
                is_seen.then_some(Item::Judged { g, p, s })
            }
            Entry::GameEnded(end) => {
                // From now on the store has it, with all its moves.
                self.games.remove(&end.game)?;
                Some(Item::Ended { g: end.game.0, end: End::of(end, *at) })
            }
            Entry::Operator(operation) => {
                self.notice.fold(*at, &operation.action);
                Item::told(seq, entry, &self.private)
            }
            Entry::Closed => {
                self.closed = true;
                Item::told(seq, entry, &self.private)
            }
            Entry::Verdict { .. } => Item::told(seq, entry, &self.private),
            Entry::Bye { .. } | Entry::Fault { .. } | Entry::Memory { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contest::schedule::Pairing;
    use referee::{
        Color,
        entry::{GameStarted, Moved, Opened},
    };
    use rsshogi::types::Move;
    use std::time::Duration;

    fn live(private: &[&str]) -> Live {
        let plan = plan::Plan::of_engines("event", vec![], "event.db".into());
        live_of(&StoredPlan::from(&plan), private)
    }

    fn live_of(stored: &StoredPlan, private: &[&str]) -> Live {
        let plan = plan::Plan::of_engines("event", vec![], "event.db".into());
        let info = EventInfo::of(&plan);
        let mut live = Live::new(&info, stored, private.iter().map(|&name| name.to_owned()).collect());
        let players = vec!["ann".to_owned(), "bob".to_owned()];
        let opened = Opened { name: "event".to_owned(), players, format: String::new(), resumed: false };
        live.take(1, &Stamped { at: 1, entry: Entry::Opened(opened) }, |_| vec![]);
        live.name();
        live
    }

    /// A board of another machine with so many of two moves.
    fn boards(moves: usize) -> BTreeMap<GameId, RunningGame> {
        let game = GameId(GameId::ELSEWHERE);
        let (black, white) = (PlayerId(0), PlayerId(1));
        let pairing = Pairing { stage: 0, index: 0, attempt: 0, round: 1, pair: 0, opening: 0, black, white };
        let (start, opening) = (referee::opening::EVEN.to_owned(), String::new());
        let started = GameStarted { game, pairing, start, opening, times: None };
        let mut board = RunningGame::new(&started, Default::default(), 5);
        for (ply, usi) in (0..).zip(["7g7f", "3c3d"]).take(moves) {
            let (color, mv) = (Color::BOTH[ply as usize % 2], Move::from_usi(usi).unwrap());
            let [charged, elapsed, left] = [Duration::ZERO; 3];
            let moved = Moved { game, ply: ply + 1, color, mv, charged, elapsed, left, thought: None };
            assert!(board.moved(&moved, 5));
        }
        BTreeMap::from([(game, board.on_machine("box2"))])
    }

    /// Pages of others read the stream: each kind of item with all of its words.
    #[test]
    fn the_words_of_the_stream_stay_as_they_are() {
        let thought = referee::entry::Thought {
            depth: Some(1),
            score: Some(referee::entry::Score::Mate(3)),
            nodes: Some(4),
            nps: Some(5),
            pv: Some("7g7f".to_owned()),
            ..Default::default()
        };
        let ply = referee::running::Ply {
            mv: Move::from_usi("7g7f").unwrap(),
            color: Color::Black,
            at: 6,
            charged: Some(Duration::from_millis(7)),
            left: Duration::from_millis(8),
            thought: Some(Box::new(thought)),
        };
        let by = referee::WinBy::IllegalMove(referee::Foul::Nifu);
        let outcome = referee::Outcome::loss(Color::Black, by);
        let (black, white) = (PlayerId(0), PlayerId(1));
        let pairing = Pairing { stage: 0, index: 0, attempt: 0, round: 1, pair: 0, opening: 0, black, white };
        let ended = referee::entry::GameEnded {
            evidence: "black: P*3e".to_owned(),
            ..referee::entry::GameEnded::new(GameId(2), pairing, outcome, 9)
        };
        let words = |item: &Item| match item {
            Item::Started { .. } => r#"{"k":"s","game":{"#,
            Item::Moved { .. } => {
                r#"{"k":"m","g":2,"p":1,"m":"7g7f","c":7,"l":8,"at":6,"s":99997,"x":3,"d":1,"n":4,"v":5,"pv":"7g7f"}"#
            }
            Item::Judged { .. } => r#"{"k":"j","g":2,"p":4,"s":-30}"#,
            Item::Ended { .. } => {
                r#"{"k":"e","g":2,"result":"white","cause":"illegal-move:nifu","plies":9,"at":5,"reason":"`P*3e`: nifu, a second pawn on its file","counts":true}"#
            }
            Item::Gone { .. } => r#"{"k":"x","g":null}"#,
            Item::Told { .. } => r#"{"k":"o","seq":3,"g":2,"words":"a","ja":"b"}"#,
        };
        for item in [
            Item::Started { game: Box::default() },
            Item::Moved { g: 2, ply: Ply::new(1, &ply) },
            Item::Judged { g: 2, p: 4, s: -30 },
            Item::Ended { g: 2, end: End::of(&ended, 5) },
            Item::Gone { g: None },
            Item::Told { seq: 3, g: Some(2), words: "a".to_owned(), ja: "b".to_owned() },
        ] {
            let json = crate::parts::to_json(&item);
            assert!(json.starts_with(words(&item)), "{json}");
        }
    }

    fn told(items: &[Item]) -> Vec<&'static str> {
        let kind = |item: &Item| match item {
            Item::Started { .. } => "started",
            Item::Moved { .. } => "moved",
            Item::Gone { .. } => "gone",
            _ => "other",
        };
        items.iter().map(kind).collect()
    }

    #[test]
    fn a_board_of_another_machine_comes_with_its_name_grows_and_goes() {
        let mut live = live(&[]);
        let begun = live.take_elsewhere(&boards(1));
        let [Item::Started { game }] = &begun[..] else { panic!("{begun:?}") };
        assert_eq!((game.label().as_str(), game.moves.len()), ("box2", 1));
        assert_eq!(game.names, ["ann", "bob"]);
        assert_eq!(told(&live.take_elsewhere(&boards(2))), ["moved"]);
        assert_eq!(told(&live.take_elsewhere(&boards(2))), [""; 0]);
        assert_eq!(told(&live.take_elsewhere(&BTreeMap::new())), ["gone"]);
        assert!(live.games.is_empty());
    }

    /// The pages may be behind the games: an opinion of a position that is not shown yet would give the next move away.
    #[test]
    fn what_the_judge_says_is_told_with_its_position_and_not_before() {
        let mut live = live(&[]);
        let game = GameId(GameId::ELSEWHERE);
        live.take_elsewhere(&boards(1));
        let judged = |ply, cp| {
            let (color, score) = (Color::Black, referee::entry::Score::Cp(cp));
            let judged = referee::entry::Judged { game, ply, color, score, depth: None, nodes: None };
            Stamped { at: 6, entry: Entry::Judged(judged) }
        };
        let item = live.take(2, &judged(1, 40), |_| vec![]);
        assert!(matches!(item, Some(Item::Judged { p: 1, s: 40, .. })), "{item:?}");
        assert!(live.take(2, &judged(2, 900), |_| vec![]).is_none());
        assert_eq!(live.shown(&live.games[&game]).judged, [(1, 40)]);
    }

    #[test]
    fn a_game_has_the_scales_of_its_players_where_one_of_them_is_given() {
        let shown = |engines: &str| {
            let plan = StoredPlan::from_json(&format!(r#"{{"engines":[{engines}]}}"#)).unwrap();
            let mut live = live_of(&plan, &[]);
            live.take_elsewhere(&boards(1));
            live.shown(&live.games[&GameId(GameId::ELSEWHERE)]).scales
        };
        assert_eq!(shown(r#"{"name":"ann"},{"name":"bob"}"#), None);
        assert_eq!(shown(r#"{"name":"ann"},{"name":"bob","scale":1200}"#), Some([1.0, 0.5]));
    }

    #[test]
    fn a_private_game_is_shown_no_more_on_another_machine_than_here() {
        let mut live = live(&["bob"]);
        assert_eq!(told(&live.take_elsewhere(&boards(2))), [""; 0]);
        assert!(live.games.is_empty());
    }
}
