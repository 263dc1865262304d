//! A client of the soak: logs in, plays short games with any opponent, and misbehaves in some of them.

use super::{
    host::GRACE,
    ledger::{Ended, Ledger},
};
use anyhow::{Context, Result, bail};
use std::{
    cell::{Cell, RefCell},
    net::SocketAddr,
    rc::Rc,
    time::Duration,
};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{TcpSocket, TcpStream},
    time::{sleep, timeout},
};
use usi_shell::SplitMix64;

/// The game that everybody asks for; its clock is what a stall takes.
const GAME: &str = "days-2-0";
/// How long a line is waited for before a client looks whether the soak is over.
const LOOK: Duration = Duration::from_secs(1);
/// How long a client is away before it comes again.
const AWAY: Duration = Duration::from_millis(100);

/// State shared by all clients.
pub struct Life {
    pub address: SocketAddr,
    /// The moves of every game.
    pub moves: Vec<String>,
    /// No further game is begun.
    pub over: Cell<bool>,
    pub ledger: RefCell<Ledger>,
}

pub struct Client {
    life: Rc<Life>,
    number: usize,
    random: SplitMix64,
}

/// The behaviour of a client at one ply of a game, in place of the move.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Habit {
    Honest,
    /// Lets its flag fall.
    Stalls,
    /// An illegal move.
    Cheats,
    /// A declaration without the position for it.
    Claims,
    /// Sends lines of other games and states, and then its move.
    Chatters,
    /// Cuts the connection, and comes back to the game.
    Drops,
    /// Cuts the connection, and comes back too late.
    Deserts,
    /// Logs out.
    Leaves,
}

/// A game as its player knows it.
struct Game {
    id: String,
    black: bool,
    ply: usize,
    /// When it misbehaves, and when it resigns, counted in plies.
    lapse: usize,
    resigns: usize,
    habit: Habit,
    /// True if its turn at this ply was used.
    answered: Option<usize>,
}

/// The next step after a visit to the host.
enum After {
    Stay,
    /// Away for that long.
    Away(Duration),
}

impl Client {
    pub fn new(life: Rc<Life>, number: usize, seed: u64) -> Self {
        let random = SplitMix64::new(seed ^ (number as u64 + 1).wrapping_mul(0x9E37_79B9));
        Self { life, number, random }
    }

    /// Plays until it is over. A host that is down, or a connection that broke, is tried again after a moment.
    pub async fn live(mut self) {
        while !self.life.over.get() {
            let away = match self.visit().await {
                Ok(away) => away,
                Err(_down) => AWAY,
            };
            sleep(away.mul_f64(0.5 + self.random.uniform())).await;
        }
    }

    /// From a login to the end of the connection; returns how long the client stays away.
    async fn visit(&mut self) -> Result<Duration> {
        let mut talk = Talk::to(self.life.address, self.number).await?;
        while !self.life.over.get() {
            match self.game(&mut talk).await? {
                After::Stay => {}
                After::Away(away) => return Ok(away),
            }
        }
        Ok(AWAY)
    }

    /// One game, or the rest of one that was left.
    async fn game(&mut self, talk: &mut Talk) -> Result<After> {
        talk.say(&format!("%%GAME {GAME} *")).await?;
        let Some(mut game) = self.offered(talk).await? else { return Ok(After::Away(AWAY)) };
        if game.habit == Habit::Chatters {
            talk.say("AGREE days+no+game+of+mine+1\n%%WHO\n+7776FU\n%%CHAT a").await?;
        }
        talk.say("AGREE").await?;
        loop {
            let line = talk.line(None).await?.context("a game goes on")?;
            if line.starts_with("REJECT:") {
                return Ok(After::Stay);
            }
            if let Some(ended) = Ended::read(&line, game.black) {
                self.life.ledger.borrow_mut().saw(&game.id, ended);
                return Ok(After::Stay);
            }
            game.ply += usize::from(line.starts_with(['+', '-']) && line.contains(",T"));
            let begins = line.starts_with("START:") || line.contains(",T");
            if begins && game.is_to_move() {
                game.answered = Some(game.ply);
                if let Some(away) = self.turn(talk, &game).await? {
                    return Ok(After::Away(away));
                }
            }
        }
    }

    /// Waits for the offer of a game; `None` when the soak is over meanwhile.
    async fn offered(&mut self, talk: &mut Talk) -> Result<Option<Game>> {
        let (mut id, mut black, mut ply) = (String::new(), true, 0);
        loop {
            let Some(line) = talk.line(Some(&self.life.over)).await? else { return Ok(None) };
            match line.as_str() {
                "END Game_Summary" => return Ok(Some(self.plan(id, black, ply))),
                "BEGIN Game_Summary" => ply = 0,
                _ if line.starts_with("Game_ID:") => id = line["Game_ID:".len()..].to_owned(),
                _ if line.starts_with("Your_Turn:") => black = line.ends_with('+'),
                // A game that goes on lists its moves with their times.
                _ if line.starts_with(['+', '-']) && line.contains(",T") => ply += 1,
                _ => {}
            }
        }
    }

    fn plan(&mut self, id: String, black: bool, ply: usize) -> Game {
        let most = self.life.moves.len();
        let between = |from: usize, to: usize, random: &mut SplitMix64| {
            from + ((to - from) as f64 * random.uniform()) as usize
        };
        let resigns = between(most * 3 / 5, most, &mut self.random);
        let lapse = between(0, most / 2, &mut self.random);
        // A client that came back to its game plays on.
        let habit = if ply > 0 { Habit::Honest } else { habit(self.random.uniform()) };
        Game { id, black, ply, lapse, resigns, habit, answered: None }
    }

    /// Answers in a turn; returns how long the client is away if it leaves.
    async fn turn(&mut self, talk: &mut Talk, game: &Game) -> Result<Option<Duration>> {
        let mv = self.life.moves.get(game.ply).map_or("%TORYO", String::as_str);
        let lapses = game.ply >= game.lapse;
        match game.habit {
            _ if self.life.over.get() || game.ply >= game.resigns => talk.say("%TORYO").await?,
            Habit::Stalls if lapses => {}
            Habit::Cheats if lapses => talk.say(&format!("{}0055OU", &mv[..1])).await?,
            Habit::Claims if lapses => talk.say("%KACHI").await?,
            Habit::Chatters if lapses => talk.say(&format!("x\n%%LIST\n{mv}\n{mv}\n%CHUDAN\nREJECT")).await?,
            Habit::Drops if lapses => return Ok(Some(Duration::from_millis(50))),
            Habit::Deserts if lapses => return Ok(Some(Duration::from_millis(GRACE * 3000))),
            Habit::Leaves if lapses => {
                talk.say("LOGOUT").await?;
                return Ok(Some(AWAY));
            }
            _ => talk.say(mv).await?,
        }
        Ok(None)
    }
}

impl Game {
    fn is_to_move(&self) -> bool {
        self.ply.is_multiple_of(2) == self.black && self.answered != Some(self.ply)
    }
}

/// Nine of ten games are honest; a stall and a desertion cost seconds and are rare.
fn habit(random: f64) -> Habit {
    let shares = [
        (0.005, Habit::Stalls),
        (0.005, Habit::Deserts),
        (0.02, Habit::Cheats),
        (0.02, Habit::Claims),
        (0.03, Habit::Drops),
        (0.01, Habit::Leaves),
        (0.03, Habit::Chatters),
    ];
    let mut up_to = 0.0;
    shares
        .into_iter()
        .find(|(share, _)| {
            up_to += share;
            random < up_to
        })
        .map_or(Habit::Honest, |(_, habit)| habit)
}

/// A connection.
struct Talk {
    reader: BufReader<TcpStream>,
    line: String,
}

impl Talk {
    /// Logs in from the client's own address.
    async fn to(address: SocketAddr, number: usize) -> Result<Self> {
        let socket = TcpSocket::new_v4()?;
        let from = [127, 3, (number / 200) as u8, (number % 200 + 1) as u8];
        socket.bind(SocketAddr::from((from, 0)))?;
        let stream = socket.connect(address).await?;
        stream.set_nodelay(true)?;
        let mut talk = Self { reader: BufReader::new(stream), line: String::new() };
        talk.say(&format!("LOGIN client{number} secret{number} x1")).await?;
        let first = talk.line(None).await?.unwrap_or_default();
        if !first.ends_with(" OK") {
            bail!("the login was answered by `{first}`");
        }
        Ok(talk)
    }

    async fn say(&mut self, line: &str) -> Result<()> {
        Ok(self.reader.get_mut().write_all(format!("{line}\n").as_bytes()).await?)
    }

    /// The next line; `None` as soon as `over` is set.
    async fn line(&mut self, over: Option<&Cell<bool>>) -> Result<Option<String>> {
        self.line.clear();
        loop {
            // A line that is read in part stays in the buffer of this connection.
            match timeout(LOOK, self.reader.read_line(&mut self.line)).await {
                Ok(Ok(1..)) => return Ok(Some(self.line.trim_end().to_owned())),
                Ok(read) => bail!("the connection ended: {read:?}"),
                Err(_silent) if over.is_some_and(Cell::get) => return Ok(None),
                Err(_silent) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_games_are_honest_and_every_habit_occurs() {
        let mut random = SplitMix64::new(1);
        let habits: Vec<Habit> = (0..10_000).map(|_| habit(random.uniform())).collect();
        let count = |habit| habits.iter().filter(|known| **known == habit).count();
        assert!((8_500..9_200).contains(&count(Habit::Honest)));
        for rare in
            [Habit::Stalls, Habit::Deserts, Habit::Cheats, Habit::Drops, Habit::Leaves, Habit::Chatters]
        {
            assert!(count(rare) > 0, "{rare:?}");
        }
    }
}
