//! Record files in the layout of floodgate: one file for each game, `YYYY/MM/DD/<Game_ID>.csa` by the date when it was
//! arranged. A thread of its own writes the file in one piece, once the end of the game is in the database.

use super::game_view::{GameView, apply};
use journal::{EventId, FullGame, Store};
use notation::csa::{move_to_csa, position_lines};
use notation::{date, printable};
use platform::files::{self, Access};
use referee::{
    AbortBy, Color, DrawBy, Foul, Outcome, WinBy,
    entry::{Entry, GameId, Moved, Score, Stamped},
};
use rsshogi::board::{Position, position_from_sfen};
use std::{
    collections::HashMap,
    io,
    io::Write as _,
    path::{Path, PathBuf},
    sync::mpsc,
    thread::{self, JoinHandle},
};

/// Longest name of a file without its extension, in characters.
const NAME: usize = 200;

/// The queue of the thread that writes record files; nothing is written where there is none.
#[derive(Clone, Debug, Default)]
pub struct RecordFiles(Option<mpsc::Sender<Job>>);

#[derive(Debug)]
enum Job {
    Arranged(GameId, Box<Arranged>),
    Ended(GameId),
    /// A game that was over has another result.
    Ruled(GameId),
    Close,
}

/// The parts of a record that the database does not have.
#[derive(Debug)]
struct Arranged {
    /// `2026/11/21`.
    day: String,
    name: String,
    /// The record up to its first move.
    head: String,
    ids: [String; 2],
}

impl RecordFiles {
    /// Starts the thread that writes the records of an event into a directory.
    ///
    /// # Errors
    /// When the system has no thread.
    pub fn open(
        directory: PathBuf,
        access: Access,
        database: PathBuf,
        event: String,
    ) -> io::Result<(Self, JoinHandle<()>)> {
        let (jobs, inbox) = mpsc::channel();
        let writer = Writer { directory, access, database, event, arranged: HashMap::new(), source: None };
        let thread = thread::Builder::new().name("records".to_owned()).spawn(move || writer.run(inbox))?;
        Ok((Self(Some(jobs)), thread))
    }

    fn send(&self, job: Job) {
        if let Some(jobs) = &self.0 {
            let _closed = jobs.send(job);
        }
    }

    /// Takes a game before its first move.
    pub fn arranged(&self, game: GameId, view: &mut GameView) {
        if self.0.is_some() {
            let day = date::text(view.at())[..10].to_owned();
            let head = view.record();
            let (name, ids) = (view.id().to_owned(), view.ids().clone());
            self.send(Job::Arranged(game, Box::new(Arranged { day, name, head, ids })));
        }
    }

    /// Takes committed entries: games that have ended are written.
    pub fn committed(&self, batch: &[Stamped]) {
        for stamped in batch {
            match &stamped.entry {
                Entry::GameEnded(end) => self.send(Job::Ended(end.game)),
                Entry::Operator(operation) => {
                    let corrected = operation.action.correction();
                    corrected.into_iter().for_each(|(game, ..)| self.send(Job::Ruled(game)));
                }
                _ => {}
            }
        }
    }

    /// Ends the thread after the jobs that are queued.
    pub fn close(&self) {
        self.send(Job::Close);
    }
}

/// Writes the records of an event.
struct Writer {
    directory: PathBuf,
    /// Who may read the records.
    access: Access,
    database: PathBuf,
    event: String,
    /// Games that have not ended.
    arranged: HashMap<GameId, Box<Arranged>>,
    /// The event in its database; opened at the end of the first game, when the event is sure to be there.
    source: Option<(Store, EventId)>,
}

impl Writer {
    fn run(mut self, inbox: mpsc::Receiver<Job>) {
        for job in inbox {
            match job {
                Job::Arranged(game, known) => drop(self.arranged.insert(game, known)),
                Job::Ended(game) => {
                    let Some(known) = self.arranged.remove(&game) else { continue };
                    tell(&known.name, self.write(game, &known));
                }
                Job::Ruled(game) => tell(&format!("game {}", game.0), self.rewrite(game)),
                Job::Close => return,
            }
        }
    }

    fn source(&mut self) -> io::Result<(&Store, EventId)> {
        if self.source.is_none() {
            let store = Store::read(&self.database).map_err(io::Error::other)?;
            let event = store.event_named(&self.event).map_err(io::Error::other)?;
            self.source = event.map(|event| (store, event));
        }
        let missing = || io::Error::other("the event is not in the database");
        self.source.as_ref().map(|(store, event)| (store, *event)).ok_or_else(missing)
    }

    fn write(&mut self, game: GameId, known: &Arranged) -> io::Result<()> {
        let (directory, access) = (self.directory.clone(), self.access);
        let (store, event) = self.source()?;
        file((&directory, access), store, event, game, known)
    }

    /// Gives the file of a game the end that it has now; the rest stays as it was written.
    fn rewrite(&mut self, game: GameId) -> io::Result<()> {
        let (directory, access) = (self.directory.clone(), self.access);
        let (store, event) = self.source()?;
        let name = store.game_name(event, game).map_err(io::Error::other)?;
        let full = store.game(event, game).map_err(io::Error::other)?;
        // The name of a game ends with the time when it was arranged.
        let day = |name: &str| {
            name.get(name.len().checked_sub(14)?..).filter(|day| day.is_ascii()).map(str::to_owned)
        };
        let day = name.as_deref().and_then(day);
        let (Some(name), Some(day), Some(outcome)) = (name, day, full.and_then(|full| full.row.outcome))
        else {
            return Ok(());
        };
        let path = format!("{}/{}/{}/{}.csa", &day[..4], &day[4..6], &day[6..8], safe(&name));
        let old = files::contents(&directory.join(&path), files::LARGE).and_then(files::utf8)?;
        let new = with_end(&old, outcome).ok_or_else(|| io::Error::other("its end was not found"))?;
        files::write_below(&directory, Path::new(&path), new.as_bytes(), access)
    }
}

fn tell(name: &str, written: io::Result<()>) {
    if let Err(why) = written {
        let told = format!("the record of {name} could not be written: {why}");
        let _stderr_closed = writeln!(std::io::stderr(), "{}", printable(told.as_bytes()));
    }
}

/// A record with another end: the moves and the last position stay.
fn with_end(old: &str, outcome: Outcome) -> Option<String> {
    let (mut moves, end) = old.split_at(old.rfind("\n'P1")? + 1);
    // The word for the ending.
    if let Some((before, last)) = moves.trim_end().rsplit_once('\n')
        && last.starts_with('%')
    {
        moves = &moves[..=before.len()];
    }
    let (position, end) = end.split_once("'summary:")?;
    let (summed, end) = end.split_once('\n')?;
    let names = summed.split(':').skip(1).map(|side| side.rsplit_once(' ').map_or("", |(name, _)| name));
    let names: [String; 2] = names.map(str::to_owned).collect::<Vec<_>>().try_into().ok()?;
    let (special, _) = words(outcome);
    Some(format!("{moves}{special}{position}{}{end}", summary(outcome, &names)))
}

fn file(
    (directory, access): (&Path, Access),
    store: &Store,
    event: EventId,
    game: GameId,
    known: &Arranged,
) -> io::Result<()> {
    let full = store.game(event, game).map_err(io::Error::other)?;
    let Some(full) = full.filter(|full| full.row.started_at.is_some()) else { return Ok(()) };
    let path = Path::new(&known.day).join(format!("{}.csa", safe(&known.name)));
    let written = files::write_below(directory, &path, text(&full, known).as_bytes(), access);
    written.map_err(|error| io::Error::other(format!("{}: {error}", directory.join(&path).display())))
}

/// A file name that cannot leave its directory. Only the name of the event can contain other characters.
fn safe(name: &str) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() || "_-.@+".contains(c) { c } else { '_' };
    let name: String = name.chars().map(allowed).take(NAME).collect();
    notation::no_device(name.strip_prefix(['.', '-']).map_or(name.clone(), |rest| format!("_{rest}")))
}

/// The text of a record: its head, the moves, and the end as shogi-server writes it.
fn text(full: &FullGame, known: &Arranged) -> String {
    let mut text = known.head.clone();
    let mut board =
        full.row.start.as_deref().and_then(|start| position_from_sfen(start).ok()).unwrap_or_default();
    board.init_stack();
    for mv in full.row.opening.iter().flat_map(|opening| opening.split_whitespace()) {
        play(&mut board, rsshogi::types::Move::from_usi(mv));
    }
    for (_, moved) in &full.moves {
        let Some(mv) = play(&mut board, Some(moved.mv)) else { break };
        text.push_str(&format!("{mv}\nT{}\n", moved.charged.as_secs()));
        text.push_str(&comment(moved).map_or_else(String::new, |comment| format!("'** {comment}\n")));
    }
    if let Some(outcome) = full.row.outcome {
        text.push_str(words(outcome).0);
        position_lines(&board).lines().for_each(|line| text.push_str(&format!("'{line}\n")));
        text.push_str(&summary(outcome, &known.ids));
    }
    let end = full.row.ended_at.map_or_else(String::new, date::text);
    text + &format!("'$END_TIME:{end}\n")
}

fn play(board: &mut Position, mv: Option<rsshogi::types::Move>) -> Option<String> {
    let text = move_to_csa(board, mv?)?;
    apply(board, &text).then_some(text)
}

/// The comment on a move as floodgate writes it: the score from black's side, and the expected moves.
fn comment(moved: &Moved) -> Option<String> {
    let thought = moved.thought.as_ref()?;
    let score = thought.score.map(|score| match score {
        Score::Mate(plies) if plies > 0 => 100_000,
        Score::Mate(_) => -100_000,
        Score::Cp(cp) => cp,
    });
    let score = score.map(|score| if moved.color == Color::Black { score } else { -score });
    let pv = thought.pv.as_deref().filter(|pv| pv.starts_with(['+', '-']));
    let pv = pv.map_or_else(String::new, |pv| format!(" {pv}"));
    score.map(|score| format!("{score}{pv}"))
}

/// The special of an ending, and its word in the summary, as floodgate's server writes them.
fn words(outcome: Outcome) -> (&'static str, &'static str) {
    match outcome {
        Outcome::Win { by, .. } => match by {
            WinBy::Resignation => ("%TORYO\n", "toryo"),
            WinBy::Mate | WinBy::Adjudication => ("", "toryo"),
            WinBy::Time => ("%TIME_UP\n", "time up"),
            WinBy::IllegalMove(Foul::Uchifuzume) => ("", "uchifuzume"),
            WinBy::IllegalMove(Foul::KingLeftInCheck) => ("", "oute_kaihimore"),
            WinBy::IllegalMove(_) => ("", "illegal move"),
            WinBy::Declaration => ("%KACHI\n", "kachi"),
            WinBy::IllegalDeclaration => ("%KACHI\n", "illegal kachi"),
            WinBy::PerpetualCheck => ("", "oute_sennichite"),
            WinBy::Disconnection | WinBy::Default => ("%TORYO\n", "abnormal"),
            WinBy::IllegalAction | WinBy::Ruling => ("", "abnormal"),
        },
        Outcome::Draw { by } => match by {
            DrawBy::Sennichite => ("%SENNICHITE\n", "sennichite"),
            DrawBy::MaxMoves => ("", "max_moves"),
            DrawBy::Impasse => ("", "kachi"),
            DrawBy::Adjudication | DrawBy::Ruling => ("", "abnormal"),
        },
        Outcome::Aborted { by } => match by {
            AbortBy::Stopped => ("%CHUDAN\n", "abnormal"),
            AbortBy::NotStarted | AbortBy::Server | AbortBy::Missing => ("", "abnormal"),
            AbortBy::Annulled | AbortBy::NoResult => ("", "abnormal"),
        },
    }
}

/// `'summary:toryo:a win:b lose`.
fn summary(outcome: Outcome, ids: &[String; 2]) -> String {
    let (_, kind) = words(outcome);
    let [black, white] = [0, 1].map(|side| ids[side].split('+').next().unwrap_or_default());
    let [of_black, of_white] = match outcome.winner() {
        Some(Color::Black) => ["win", "lose"],
        Some(Color::White) => ["lose", "win"],
        None => ["draw"; 2],
    };
    format!("'summary:{kind}:{black} {of_black}:{white} {of_white}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_of_a_ruled_game_has_the_ruled_end_and_keeps_its_moves() {
        let position = "'P1-KY-KE-GI-KI-OU-KI-GI-KE-KY\n'P2\n'+\n";
        let moves = "V2\nN+kawa\n'rating:kawa:mori\n+7776FU\nT1\n";
        let end = "'$END_TIME:2026/11/21 00:01:00\n";
        let old = format!("{moves}%TIME_UP\n{position}'summary:time up:kawa lose:mori win\n{end}");
        let ruled = Outcome::Win { winner: Color::Black, by: WinBy::Ruling };
        let new = with_end(&old, ruled).unwrap();
        assert_eq!(new, format!("{moves}{position}'summary:abnormal:kawa win:mori lose\n{end}"));
        let back = Outcome::Win { winner: Color::White, by: WinBy::Time };
        assert_eq!(with_end(&new, back).unwrap(), old);
        assert_eq!(with_end("V2\n+7776FU\n", back), None);
    }

    #[test]
    fn every_ending_has_the_words_of_shogi_server() {
        use WinBy::*;
        let won = |by| words(Outcome::loss(Color::White, by));
        let illegal =
            [Foul::Uchifuzume, Foul::KingLeftInCheck, Foul::Nifu].map(|foul| won(IllegalMove(foul)).1);
        assert_eq!(illegal, ["uchifuzume", "oute_kaihimore", "illegal move"]);
        assert_eq!(
            [Mate, Time, Declaration, IllegalDeclaration, PerpetualCheck, Disconnection, IllegalAction]
                .map(won),
            [
                ("", "toryo"),
                ("%TIME_UP\n", "time up"),
                ("%KACHI\n", "kachi"),
                ("%KACHI\n", "illegal kachi"),
                ("", "oute_sennichite"),
                ("%TORYO\n", "abnormal"),
                ("", "abnormal")
            ]
        );
        let drawn = [DrawBy::Sennichite, DrawBy::MaxMoves, DrawBy::Impasse, DrawBy::Ruling];
        assert_eq!(
            drawn.map(|by| words(Outcome::Draw { by })),
            [("%SENNICHITE\n", "sennichite"), ("", "max_moves"), ("", "kachi"), ("", "abnormal")]
        );
        let ended = [AbortBy::Stopped, AbortBy::Missing, AbortBy::Annulled];
        assert_eq!(
            ended.map(|by| words(Outcome::Aborted { by })),
            [("%CHUDAN\n", "abnormal"), ("", "abnormal"), ("", "abnormal")]
        );
        let ids = ["kawa+trip".to_owned(), "mori".to_owned()];
        let level = summary(Outcome::Draw { by: DrawBy::Sennichite }, &ids);
        assert_eq!(level, "'summary:sennichite:kawa draw:mori draw\n");
    }

    #[test]
    fn a_comment_has_the_score_from_blacks_side_and_moves_in_csa_alone() {
        let comment = |color, score, pv: Option<&str>| {
            let pv = pv.map(str::to_owned);
            let zero = std::time::Duration::ZERO;
            let thought = referee::entry::Thought { score, pv, ..Default::default() };
            let (mv, thought) = (rsshogi::types::Move::from_usi("7g7f").unwrap(), Some(Box::new(thought)));
            let game = GameId(1);
            super::comment(&Moved {
                game,
                ply: 1,
                color,
                mv,
                charged: zero,
                elapsed: zero,
                left: zero,
                thought,
            })
        };
        let said = |text: &str| Some(text.to_owned());
        use Score::{Cp, Mate};
        assert_eq!(comment(Color::Black, Some(Cp(31)), Some("+7776FU -3334FU")), said("31 +7776FU -3334FU"));
        assert_eq!(comment(Color::White, Some(Cp(31)), Some("7g7f 3c3d")), said("-31"));
        assert_eq!(comment(Color::Black, Some(Mate(5)), None), said("100000"));
        assert_eq!(comment(Color::White, Some(Mate(-5)), Some("-3334FU")), said("100000 -3334FU"));
        assert_eq!(comment(Color::Black, Some(Mate(0)), None), said("-100000"));
        assert_eq!(comment(Color::Black, None, Some("+7776FU")), None);
    }

    #[test]
    fn no_game_is_filed_outside_its_directory() {
        for (name, told) in [
            ("cup+t-600-10+a+b+20261121000000", "cup+t-600-10+a+b+20261121000000"),
            ("../../etc/passwd", "_._.._etc_passwd"),
            (".hidden", "_hidden"),
            ("a\0\u{1b}[2J角", "a___2J_"),
        ] {
            assert_eq!(safe(name), told);
        }
        assert!(safe(&"x".repeat(999)).len() <= NAME);
    }
}
