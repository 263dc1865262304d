use super::*;
use proptest::prelude::*;
use testing::conversation::{self, Conversation, Step};

fn client(line: &str) -> ClientLine {
    let Ok(read) = line.parse::<ClientLine>();
    assert_eq!(read.to_string(), line);
    read
}

fn server(line: &str) -> ServerLine {
    let Ok(read) = line.parse::<ServerLine>();
    assert_eq!(read.to_string(), line);
    read
}

/// Reads every line of these conversations and writes it again.
fn round_trips(conversations: &[Conversation]) {
    for line in conversations.iter().flat_map(|conversation| &conversation.lines) {
        match &line.step {
            Step::Said(text) => drop(client(text)),
            Step::Heard(text) => drop(server(text)),
            _ => {}
        }
    }
}

#[test]
fn every_line_of_the_golden_conversations_survives_a_round_trip() {
    round_trips(&conversation::golden());
}

mod oracles {
    use super::*;

    #[test]
    #[ignore = "needs the oracles in ../shared/protocol/transcripts: recordings of floodgate's server"]
    fn every_line_of_the_transcripts_survives_a_round_trip() {
        round_trips(&conversation::oracle());
    }
}

#[test]
fn logins_are_distinguished_from_similar_lines() {
    let login = |name: &str, password: &str, extended| ClientLine::Login {
        name: name.to_owned(),
        password: password.to_owned(),
        extended,
    };
    assert_eq!(client("LOGIN alice test-600-10-B,t"), login("alice", "test-600-10-B,t", false));
    assert_eq!(client("LOGIN alice trip x1"), login("alice", "trip", true));
    for line in
        ["LOGIN", "LOGIN u1", "LOGIN u1 a x2", "login u1 p", "LOGIN u1 p x1 more", "LOGIN  u1", " LOGIN a b"]
    {
        assert_eq!(client(line), ClientLine::Unknown(line.to_owned()));
    }
    assert!(is_player_name("Gikou_2-x@y.z") && !is_player_name("a/b") && !is_player_name(".."));
    assert!(!is_player_name(&"x".repeat(33)) && !is_player_name(""));
}

#[test]
fn moves_keep_what_follows_their_first_comma() {
    let ClientLine::Move(played) = client("-3334FU,'* -50 +2726FU -8384FU") else { panic!("a move") };
    assert_eq!(played.text, "-3334FU");
    let thought = played.thought(false).unwrap();
    assert_eq!(thought.score, Some(Score::Cp(50)), "floodgate's scores are black's, ours the mover's");
    assert_eq!(thought.pv.as_deref(), Some("+2726FU -8384FU"));
    let ClientLine::Move(mate) = client("+7776FU,T3,'* 100000") else { panic!("a move") };
    assert_eq!(mate.thought(true).unwrap().score, Some(Score::Mate(i32::MAX)));
    let ClientLine::Move(plain) = client("+7776FU,'plain") else { panic!("a move") };
    assert_eq!(plain.thought(true), None);
    assert!(matches!(client("%TORYO,'bye"), ClientLine::Special(Played { rest: Some(_), .. })));
    assert!(matches!(client("+anything"), ClientLine::Move(_)));
}

#[test]
fn commands_of_the_extended_mode_are_read_whole_or_not_at_all() {
    let command = |line| match client(line) {
        ClientLine::Command(command) => command,
        other => panic!("{other:?}"),
    };
    let game = |challenge, game: Option<&str>, wish| Command::Seek {
        challenge,
        game: game.map(str::to_owned),
        wish,
    };
    assert_eq!(command("%%GAME"), game(false, None, None));
    assert_eq!(command("%%GAME t-6-0"), game(false, Some("t-6-0"), None));
    assert_eq!(command("%%CHALLENGE t-6-0 *"), game(true, Some("t-6-0"), Some(Wish::Either)));
    assert_eq!(command("%%CHAT a  b "), Command::Chat("a  b ".to_owned()));
    assert_eq!(
        command("%%FORK id buoy_x-6-0 1"),
        Command::Fork { game: "id".to_owned(), buoy: Some("buoy_x-6-0".to_owned()), plies: Some(1) }
    );
    assert_eq!(command("%%%81DOJO"), Command::Private("%%%81DOJO".to_owned()));
    for line in ["%%NOSUCH", "%%", "%%GAME a-6-0 x", "%%SHOW", "%%WHO me", "%%SETBUOY a", "%%SETBUOY a b 01"]
    {
        assert_eq!(client(line), ClientLine::Unknown(line.to_owned()));
    }
}

#[test]
fn server_lines_are_distinguished() {
    assert_eq!(server("LOGIN:bob OK"), ServerLine::LoggedIn("bob".to_owned()));
    assert_eq!(server("+7776FU,T12"), ServerLine::Played { text: "+7776FU".to_owned(), time: Some(12) });
    assert_eq!(server("%TORYO"), ServerLine::Played { text: "%TORYO".to_owned(), time: None });
    assert_eq!(server("#OUTE_SENNICHITE"), ServerLine::Ending(Ending::OuteSennichite));
    assert_eq!(server("#CENSORED"), ServerLine::Result(GameResult::Censored));
    let by = "the Server (timed out)".to_owned();
    assert_eq!(
        server("REJECT:id by the Server (timed out)"),
        ServerLine::Rejected { game: "id".to_owned(), by }
    );
    for text in ["+", "-", "P1-KY", "#HELLO", "LOGIN:x", "REJECT:x", "+7776FU,T01", "Name+:x"] {
        assert!(matches!(server(text), ServerLine::Text(_)), "{text}");
    }
}

proptest! {
    #[test]
    fn any_line_is_read_and_written_back(line in "[^\r\n]{0,80}", head in prop::sample::select(vec![
        "", "LOGIN ", "AGREE", "%", "%%", "%%GAME ", "%%FORK ", "%%SETBUOY ", "+", "##[", "#", "START:", "REJECT:", "+7776FU,T",
    ])) {
        let line = format!("{head}{line}");
        client(&line);
        server(&line);
    }
}

#[test]
fn a_time_counts_units_and_with_a_decimal_point_seconds() {
    let unit = std::time::Duration::from_millis(1);
    for (text, millis) in
        [("3", 3), ("0", 0), ("3.5", 3500), ("3.", 3000), ("0.125", 125), ("1.9999999999", 1999)]
    {
        let time: ChargedTime = text.parse().unwrap();
        assert_eq!(time.with_unit(unit).as_millis(), millis, "{text}");
        assert_eq!(time.to_string().parse::<ChargedTime>().unwrap(), time, "{text}");
    }
    for nonsense in ["", "x", "-1", "3.x", "3.-5", ".5", "1.5.2", "99999999999.5", "1e3"] {
        assert!(nonsense.parse::<ChargedTime>().is_err(), "{nonsense}");
    }
}
