//! Hostile clients, while other players play on.

use super::{
    client::{Client, Host},
    duel::{Duel, Seeded},
};
use journal::Writer;
use plan::password;
use plan::serve::{Login, ServeConfig};

/// Number of lines that the fuzzer sends in each of the three states: 10,000 in all, or a sample of 2,000.
fn lines() -> [usize; 3] {
    testing::repetitions([3400, 3300, 3300], [680, 660, 660])
}
/// Lines per connection.
const BLOCK: usize = 66;

fn config() -> ServeConfig {
    let mut config = ServeConfig { max_moves: 0, grace: Some(0), ..ServeConfig::default() };
    config.limits.lines_per_second = 100_000;
    config.limits.login_attempts = 1000;
    config.limits.login_failures = 0;
    config.limits.connections_per_address = 2000;
    config
}

/// A league with accounts; all passwords are `word`.
fn with_accounts(config: ServeConfig, names: &[&str]) -> Host {
    Host::prepared(ServeConfig { login: Login::Accounts, ..config }, |path| {
        let (store, hash) = (Writer::open(path).unwrap(), password::hash("word").unwrap());
        names.iter().for_each(|name| assert!(store.set_account(name, &hash).unwrap()));
    })
}

/// Game 1 in the database.
fn first_game(host: &mut Host) -> (u32, u32, String) {
    let sql =
        "SELECT plies, (SELECT count(*) FROM moves WHERE game = g.id), cause FROM games g WHERE number = 1";
    host.end().query_row(sql, [], |row| row.try_into()).unwrap()
}

fn resigned_after(plies: u32) -> (u32, u32, String) {
    (plies, plies, "resignation".to_owned())
}

#[test]
fn hostile_lines_neither_disturb_a_game_nor_log_in() {
    let mut host = with_accounts(config(), &["sente", "gote", "inside", "left", "right"]);
    let duel = Duel::begin(&host, ["word", "word"]);
    let mut fuzzer = Fuzzer(Seeded(20_261_121));
    let answers = before_login(&host, &mut fuzzer);
    assert!(!contains(&answers, b" OK\n"), "a login succeeded");
    after_login(&host, &mut fuzzer);
    in_games(&host, &mut fuzzer);
    let plies = duel.end("hostile lines");
    assert_eq!(first_game(&mut host), resigned_after(plies));
}

fn before_login(host: &Host, fuzzer: &mut Fuzzer) -> Vec<u8> {
    let mut answers = vec![];
    for _ in 0..lines()[0].div_ceil(BLOCK) {
        let mut stranger = host.connect();
        stranger.bytes(&fuzzer.block());
        answers.extend(stranger.hang_up());
    }
    answers
}

fn after_login(host: &Host, fuzzer: &mut Fuzzer) {
    for _ in 0..lines()[1].div_ceil(BLOCK) {
        let mut player = host.connect().login_x1("inside", "word");
        player.bytes(&fuzzer.block());
        player.bytes(b"\n%%GAME\n%%VERSION\nLOGOUT\n");
        assert!(player.is_let_go());
    }
}

/// Fuzzes two players of a game of their own; the first lines must not end it.
fn in_games(host: &Host, fuzzer: &mut Fuzzer) {
    for _ in 0..lines()[2].div_ceil(BLOCK) {
        let mut players = [("left", "+"), ("right", "-")].map(|(name, color)| {
            let mut player = host.connect().login_x1(name, "word");
            player.say(&format!("%%GAME fuzz-600-0 {color}"));
            player
        });
        for player in &mut players {
            player.until("END Game_Summary");
            player.say("AGREE");
        }
        for player in &mut players {
            while !player.line().unwrap().starts_with("START:") {}
        }
        let [left, right] = &mut players;
        for _ in 0..BLOCK / 2 {
            left.bytes(&fuzzer.line(|line| !line.starts_with(b"LOGOUT") && !b"+-%".contains(&line[0])));
            right.bytes(&fuzzer.line(|_| true));
        }
        left.say("\nLOGOUT");
        assert!(left.is_let_go());
        right.say("\nLOGOUT");
        assert!(right.is_let_go());
    }
}

#[test]
fn slow_senders_are_disconnected_and_delay_no_other() {
    let mut limited = config();
    limited.limits.login_seconds = 2;
    let mut host = Host::start(limited);
    let duel = Duel::begin(&host, ["t", "t"]);
    let mut slow: Vec<_> = (0..50).map(|_| host.connect()).collect();
    for byte in b"LOGIN slow t-600-10,xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" {
        slow.iter_mut().for_each(|client| client.bytes(&[*byte]));
        std::thread::sleep(std::time::Duration::from_millis(30));
    }
    assert!(slow.iter_mut().all(Client::is_let_go));
    let plies = duel.end("50 slow senders");
    assert_eq!(first_game(&mut host), resigned_after(plies));
}

#[test]
fn five_hundred_silent_connections_delay_no_other_and_are_closed() {
    let mut limited = config();
    limited.limits.login_seconds = 3;
    let mut host = Host::start(limited);
    let duel = Duel::begin(&host, ["t", "t"]);
    let mut silent: Vec<_> = (0..250).map(|_| host.connect()).collect();
    for n in 0..250 {
        let mut vanished = host.connect();
        vanished.bytes(b"LOGIN van");
        if n % 2 == 0 {
            vanished.cut()
        }
    }
    let mut visitor = host.connect().login_x1("visitor", "v");
    visitor.say("%%LIST");
    assert!(visitor.line().unwrap().starts_with("##[LIST] league+duel-600-10+sente+gote+"));
    assert!(silent.iter_mut().all(Client::is_let_go));
    let plies = duel.end("500 half-open connections");
    assert_eq!(first_game(&mut host), resigned_after(plies));
}

#[test]
fn a_flood_of_logins_neither_succeeds_nor_disturbs_a_game() {
    let mut host = with_accounts(config(), &["sente", "gote", "late"]);
    let duel = Duel::begin(&host, ["word", "word"]);
    let mut guessers: Vec<_> = (0..30).map(|_| host.connect()).collect();
    for (n, guesser) in guessers.iter_mut().enumerate() {
        let name = ["late", "sente", "nobody"][n % 3];
        guesser.say(&format!("LOGIN {name} t-600-10,guess{n}\nLOGIN {name} guess{n} x1"));
    }
    let mut late = host.connect();
    late.say("LOGIN late word x1");
    drop(guessers.split_off(10)); // closed connections cost no waiting
    for guesser in &mut guessers {
        guesser.hears(&["LOGIN:incorrect"]);
    }
    late.hears(&["LOGIN:late OK"]);
    let plies = duel.end("60 guesses at once");
    assert_eq!(first_game(&mut host), resigned_after(plies));
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    memchr::memmem::find(bytes, part).is_some()
}

/// Generates hostile lines.
struct Fuzzer(Seeded);

impl Fuzzer {
    /// Lines for one connection in one piece; the last line may be incomplete.
    fn block(&mut self) -> Vec<u8> {
        let lines: Vec<u8> = (0..BLOCK).flat_map(|_| self.line(|_| true)).collect();
        let cut = self.0.below(4);
        lines[..lines.len() - cut.min(1)].to_vec()
    }

    /// A line, with its end, that satisfies `is_wanted`.
    fn line(&mut self, is_wanted: impl Fn(&[u8]) -> bool) -> Vec<u8> {
        loop {
            let mut line = self.body();
            line.push(b'\n');
            if is_wanted(&line) {
                return line;
            }
        }
    }

    fn body(&mut self) -> Vec<u8> {
        match self.0.below(16) {
            0 => (0..self.0.below(300)).map(|_| self.byte()).filter(|b| *b != b'\n').collect(),
            1 => vec![0; self.0.below(64)],
            2 => [b"\xff\xfe\xf0\x28".as_slice(), self.sample()].concat(),
            3 if self.0.below(8) == 0 => vec![b'+'; 100_000],
            3 => [self.sample(), b"\r"].concat(),
            4 => [b"\x1b[2J\x1b]0;x\x07".as_slice(), self.sample()].concat(),
            5 => [self.sample(), &b" x".repeat(self.0.below(200))].concat(),
            6 => [self.sample(), self.sample()].concat(),
            _ => self.mutant(),
        }
    }

    /// A line of the protocol with a few bytes changed, removed or inserted.
    fn mutant(&mut self) -> Vec<u8> {
        let mut line = self.sample().to_vec();
        for _ in 0..self.0.below(4) {
            let at = self.0.below(line.len() + 1);
            match self.0.below(3) {
                0 => line.insert(at, self.byte()),
                1 if at < line.len() => drop(line.remove(at)),
                _ if at < line.len() => line[at] = self.byte(),
                _ => line.truncate(at / 2),
            }
        }
        line.retain(|b| *b != b'\n');
        line
    }

    fn byte(&mut self) -> u8 {
        let any = u8::try_from(self.0.below(256)).unwrap();
        if self.0.below(2) == 0 { any } else { b" ,+-%'T0123456789FU\t\r"[usize::from(any) % 21] }
    }

    /// No password is a few letters from the right one, which mutants would guess.
    fn sample(&mut self) -> &'static [u8] {
        const SAMPLES: [&[u8]; 30] = [
            b"LOGIN sente t-600-10,secret",
            b"LOGOUT",
            b"AGREE",
            b"AGREE league+t-600-10+sente+gote+20261121000000",
            b"REJECT",
            b"+7776FU",
            b"-3334FU,'* 30 +2726FU",
            b"+0055FU,T99999999999999999999",
            b"%TORYO",
            b"%KACHI",
            b"%CHUDAN",
            b"%%WHO",
            b"%%LIST",
            b"%%SHOW league+duel-600-10+sente+gote+20261121000000",
            b"%%MONITORON x",
            b"%%MONITOR2ON x",
            b"%%MONITOROFF x",
            b"%%GAME t-600-10 +",
            b"%%GAME floodgate-300-10F *",
            b"%%GAME x-99999999999999999999-0 *",
            b"%%CHALLENGE t-600-10 -",
            b"CHALLENGE",
            b"%%RATING",
            b"%%CHAT hello",
            b"%%SETBUOY buoy_x-600-10 +7776FU-3334FU 9223372036854775807",
            b"%%DELETEBUOY buoy_x-600-10",
            b"%%GETBUOYCOUNT buoy_x-600-10",
            b"%%FORK league+duel-600-10+sente+gote+20261121000000 buoy_y-1-1 -9223372036854775808",
            b"%%VERSION",
            b"%%%x",
        ];
        SAMPLES[self.0.below(SAMPLES.len())]
    }
}
