//! Events of a hall behind one port: players reach the event that their login means, and strangers reach nothing.

use super::{Guest, Hosted, Style, event, support::Desk};
use socket2::{Domain, Socket, Type};
use std::{
    io::Write,
    net::{SocketAddr, TcpStream},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// A hall with one port, and two events in which `mori` plays.
fn hall(desk: &Desk) -> Hosted {
    std::fs::create_dir(desk.path("hall")).unwrap();
    let cup = event("format = \"round-robin\"\ngames = 2", 120, "skip");
    let night = cup.replace("\"cup\"", "\"night\"").replace("\"kawa\"", "\"yama\"");
    // Addresses of their own are not used.
    let night = night.replace("[serve]", "[serve]\nlisten = [\"127.0.0.1:1\"]");
    desk.write("hall/cup.toml", &cup);
    desk.write("hall/night.toml", &night);
    desk.write("hall/hall.toml", "[serve]\nlisten = [\"127.0.0.1:0\"]\n");
    let args = ["hall", "hall", "--until-done", "--oversubscribe", "--concurrency", "4"];
    let hosted = Hosted::run(desk, &args);
    // The way to an event opens after it has begun.
    let is_open = |name: &str| {
        let heard = answer(&hosted, format!("LOGIN watcher {name}-60-10,x\n").as_bytes());
        !heard.contains("no event here") && hosted.log.lock().unwrap().contains(&format!("{name} begins"))
    };
    let patience = Instant::now() + testing::PATIENCE;
    while !(is_open("cup") && is_open("night")) {
        assert!(Instant::now() < patience, "{}", hosted.log.lock().unwrap());
        thread::sleep(Duration::from_millis(50));
    }
    hosted
}

/// Plays every game, from a login with this password.
fn player(hosted: &Hosted, name: &str, password: &str) -> JoinHandle<Vec<String>> {
    let mut guest = hosted.connect();
    guest.say(&format!("LOGIN {name} {password} x1"));
    thread::spawn(move || guest.play_all(Style::Resigns))
}

/// What a connection hears that says this, until it is closed.
fn answer(hosted: &Hosted, bytes: &[u8]) -> String {
    let mut guest = hosted.connect();
    let _closed_before = guest.stream.write_all(bytes);
    std::iter::from_fn(|| guest.line()).collect::<Vec<_>>().join("\n")
}

/// A connection of another address of this machine.
fn connect_from(address: [u8; 4], to: &str) -> TcpStream {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.bind(&SocketAddr::from((address, 0)).into()).unwrap();
    socket.connect(&to.parse::<SocketAddr>().unwrap().into()).unwrap();
    socket.into()
}

#[test]
fn players_reach_their_events_by_one_port_and_a_player_of_two_names_the_game() {
    let desk = Desk::new();
    let mut hosted = hall(&desk);
    let refused = answer(&hosted, b"LOGIN mori secret x1\n");
    assert!(
        refused.starts_with("LOGIN:incorrect\n##[ERROR] several events here have a player `mori`")
            && refused.contains("`cup-60-10,SECRET` or `night-60-10,SECRET`"),
        "{refused}"
    );
    assert_eq!(answer(&hosted, b"LOGIN nobody secret\n"), "LOGIN:incorrect");
    let players = [
        player(&hosted, "kawa", "secret"),
        player(&hosted, "yama", "secret"),
        player(&hosted, "mori", "cup-60-10,secret"),
        player(&hosted, "mori", "night-60-10,secret"),
    ];
    hosted.ends();
    for player in players {
        assert_eq!(player.join().unwrap().len(), 4);
    }
    hosted.reads("no event here has a player `nobody`");
    for (file, guest) in [("hall/cup.db", "kawa"), ("hall/night.db", "yama")] {
        let report = desk.renmei(&["report", file, "--json"]);
        let report: serde_json::Value = serde_json::from_slice(&report.stdout).unwrap();
        assert_eq!(report["complete"], true, "{report}");
        let named: Vec<_> = report["standings"].as_array().unwrap().iter().map(|row| &row["name"]).collect();
        assert!(named.contains(&&guest.into()) && named.len() == 3, "{report}");
    }
}

#[test]
fn strangers_at_the_port_of_a_hall_are_sent_away_and_keep_nobody_out() {
    let desk = Desk::new();
    let mut hosted = hall(&desk);
    // Silent connections of ten other addresses, more than may wait there.
    let silent: Vec<_> = (0..250).map(|at| connect_from([127, 0, 0, 2 + at % 10], &hosted.address)).collect();
    assert!(answer(&hosted, b"GET / HTTP/1.1\r\n\r\n").starts_with("type 'LOGIN name password'"));
    assert!(answer(&hosted, b"LOGIN \xff\xfe x\n").starts_with("type 'LOGIN name password'"));
    // What was sent and not read may keep the sentence from them.
    for endless in [b'x', b'\n'] {
        let heard = answer(&hosted, &[endless; 100_000]);
        assert!(heard.is_empty() || heard.starts_with("type 'LOGIN"), "it is cut off: {heard:?}");
    }
    for name in ["../cup", "x\u{1b}[2J", "a'b"] {
        let heard = answer(&hosted, format!("LOGIN {name} x x1\n").as_bytes());
        assert!(heard.starts_with("type 'LOGIN") || heard == "LOGIN:incorrect", "{name:?}: {heard:?}");
    }
    let players = [
        player(&hosted, "kawa", "secret"),
        player(&hosted, "mori", "cup-60-10,secret"),
        player(&hosted, "yama", "secret"),
        player(&hosted, "mori", "night-60-10,secret"),
    ];
    // Until the hall, whose games may be over before, listens no more.
    let strangers = (0..200).map_while(|at| Some((at, Guest::to(&hosted.address)?)));
    for (at, mut guest) in strangers {
        let _closed_before = guest.stream.write_all(format!("LOGIN stranger{at} x\n").as_bytes());
        while guest.line().is_some() {}
    }
    hosted.ends();
    for player in players {
        assert_eq!(player.join().unwrap().len(), 4, "nobody was kept out");
    }
    let log = hosted.log.lock().unwrap();
    let told = log.matches("no event here has a player").count();
    assert!((1..=70).contains(&told), "{told} lines for the operator");
    assert!(!log.contains('\u{1b}'), "{log}");
    drop(silent);
}

#[test]
fn a_silent_connection_is_told_why_it_is_closed_at_the_port_of_a_hall() {
    let desk = Desk::new();
    let hosted = hall(&desk);
    let mut silent = Guest::to(&hosted.address).unwrap();
    assert_eq!(silent.line().unwrap(), "##[ERROR] no login came within 20 s");
    assert_eq!(silent.line(), None);
}
