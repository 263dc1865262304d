//! `[serve]`: what it becomes, and what is said of one that is wrong.

use super::{World, here, with};
use crate::{
    Event, ServeConfig,
    serve::{Compat, Login, Missing, RoundsConfig},
};
use contest::schedule::rounds::Method;
use std::time::Duration;

fn league(text: &str) -> ServeConfig {
    match here().document(text) {
        Event::League(config) => *config,
        other => panic!("no open league: {other:?}"),
    }
}

/// The network side of an event.
fn of_event(lines: &str) -> Option<ServeConfig> {
    match here().document(&with(lines)) {
        Event::Arranged { serve, .. } => serve.map(|serve| *serve),
        other => panic!("no event: {other:?}"),
    }
}

#[test]
fn the_preset_of_an_open_league_says_the_defaults() {
    let world = here();
    let database = world.dir.path().join("league.db");
    let expected = Event::League(Box::new(ServeConfig { database, ..ServeConfig::default() }));
    assert_eq!(world.document(include_str!("../../../../configs/serve.toml")), expected);
    assert_eq!(world.document("[serve]"), expected);
}

#[test]
fn a_file_without_an_event_is_an_open_league_and_one_with_it_has_a_network_side() {
    assert_eq!(league("[serve]\nmax_moves = 0").rules().max_moves, None);
    assert_eq!(of_event(""), None);
    let serve = of_event("[serve]\nwait = 5\nmissing = \"skip\"\nlogin = \"accounts\"\n").unwrap();
    assert_eq!((serve.wait, serve.missing, serve.login), (5, Missing::Skip, Login::Accounts));
}

#[test]
fn a_full_league_says_what_it_says() {
    let config = league(
        r#"
        [serve]
        listen = ["127.0.0.1:1", "[::1]:2"]
        compat = "shogi-server"
        grace = 5
        [[serve.rounds]]
        game = "floodgate-300-10F"
        minutes = [0, 30]
        hours = [3]
        pairing = "swiss"
        [[serve.rounds]]
        game = "floodgate-600-10"
        every = "90s"
        [[serve.time]]
        player = "sente"
        byoyomi = 30
        [serve.rating]
        method = "floodgate"
        half_life_days = 30.5
        "#,
    );
    assert_eq!(config.listen, ["127.0.0.1:1".parse().unwrap(), "[::1]:2".parse().unwrap()]);
    assert_eq!((config.compat, config.grace()), (Compat::ShogiServer, Duration::from_secs(5)));
    let (minutes, hours) = (vec![0, 30], vec![3]);
    let game = "floodgate-300-10F".to_owned();
    assert_eq!(
        config.rounds[0],
        RoundsConfig { game, minutes, hours, timezone: 0, every: None, pairing: Method::Swiss }
    );
    assert_eq!(config.rounds[1].every, Some(Duration::from_secs(90)));
    assert_eq!((config.time[0].player.as_str(), config.time[0].byoyomi), ("sente", 30));
    assert_eq!(config.rating.half_life_days, 30.5);
}

#[test]
fn with_shogi_servers_rules_the_start_position_is_not_counted_unless_the_file_says_so() {
    let counts = |text| league(text).rules().count_start_position;
    assert!(counts("[serve]"));
    assert!(!counts("[serve]\ncompat = \"shogi-server\""));
    assert!(counts("[serve]\ncompat = \"shogi-server\"\ncount_start_position = true"));
}

#[test]
fn every_fault_of_a_league_is_told_at_once_with_its_place_and_key() {
    let text = r#"[serve]
name = "a/b"
listen = ["localhost:4081", 4081]
port = 4081
compat = "shogiserver"
max_moves = "none"
invited = ["gps", "a b", "c:trip"]
agreement = 0
wait = 10

[serve.limits]
line_bytes = 3
conections = 9

[[serve.time]]
player = "gps"

[[serve.time]]
totl = 5

[serve.rating]
half_life_days = 0
least_games = 20

[[serve.rounds]]
game = "test-300-10"
minutes = [0, 60]
every = "90s"

[[serve.rounds]]
game = "floodgate-300-10F"
pairing = "swis"

[[serve.rounds]]
game = "floodgate-300-10F"
minutes = []

[rules]
max_moves = 256
"#;
    insta::assert_snapshot!(here().faults(text), @r#"
    x.toml:2:8: serve.name: must be 1 to 32 letters, digits, `_`, `-` or `.`: it is a part of game ids
    x.toml:3:11: serve.listen[0]: `localhost:4081` is not an address; write a numeric IP address and a port, such as "127.0.0.1:4081", or "0.0.0.0:4081" for every interface
    x.toml:3:29: serve.listen[1]: expected an address such as "127.0.0.1:4081", found the number 4081
    x.toml:4:1: serve.port: unknown key `port`; did you mean `listen`?
    x.toml:5:10: serve.compat: unknown value "shogiserver"; did you mean "shogi-server"?
    x.toml:6:13: serve.max_moves: expected a whole number, found the text "none"
    x.toml:7:11: serve.invited: is checked only with `login = "invitation"`; write that too, or leave this out
    x.toml:7:19: serve.invited[1]: `a b` is not a name for a login: 1 to 32 letters, digits, `_`, `-`, `@` or `.`
    x.toml:7:26: serve.invited[2]: what follows the name is not a hash; `renmei account invite NAME` prints the whole line
    x.toml:8:13: serve.agreement: 0 is out of range; it must be from 1 to 86400
    x.toml:9:8: serve.wait: belongs to an event: in an open league no game waits for a player
    x.toml:12:14: serve.limits.line_bytes: 3 is out of range; it must be from 128 to 1048576
    x.toml:13:1: serve.limits.conections: unknown key `conections`; did you mean `connections`?
    x.toml:15:1: serve.time[0]: gives the player no time at all; give it `total`, `byoyomi` or `increment`
    x.toml:18:1: serve.time[1]: gives the player no time at all; give it `total`, `byoyomi` or `increment`
    x.toml:18:1: serve.time[1].player: is missing; name the player whose time this is
    x.toml:19:1: serve.time[1].totl: unknown key `totl`; did you mean `total`?
    x.toml:22:18: serve.rating.half_life_days: 0 is out of range; it must be from 0.001 to 100000
    x.toml:22:18: serve.rating.half_life_days: has no meaning without `method = "floodgate"`
    x.toml:23:15: serve.rating.least_games: has no meaning without `method = "floodgate"`
    x.toml:26:8: serve.rounds[0].game: must be a name such as `floodgate-300-10F`: only players of those wait for a round
    x.toml:27:11: serve.rounds[0].minutes: `every` already says when rounds begin; give one of the two
    x.toml:27:15: serve.rounds[0].minutes[1]: 60 is out of range; it must be from 0 to 59
    x.toml:30:1: serve.rounds[1].minutes: is missing; say when rounds begin, such as `minutes = [0, 30]` or `every = "90s"`
    x.toml:32:11: serve.rounds[1].pairing: unknown value "swis"; did you mean "swiss"?
    x.toml:36:11: serve.rounds[2].minutes: names no minute; write them as in `minutes = [0, 30]`
    x.toml:38:1: rules: an open league has `[serve]` alone, and its rules there; with `[event]` or `[[engines]]` the file is that of an event
    "#);
}

#[test]
fn an_empty_list_is_a_fault_where_nobody_could_log_in() {
    let world = here();
    insta::assert_snapshot!(world.faults("[serve]\nlogin = \"invitation\""), @r#"x.toml:1:1: serve.invited: is missing; with `login = "invitation"` name those who may log in"#);
    insta::assert_snapshot!(world.faults("[serve]\nlogin = \"invitation\"\ninvited = []"), @r#"x.toml:3:11: serve.invited: invites nobody; with `login = "invitation"` name those who may log in"#);
    insta::assert_snapshot!(world.faults("[serve]\nlisten = \":1\""), @r#"x.toml:2:10: serve.listen: expected a list of addresses such as ["127.0.0.1:4081"], found the text ":1""#);
    insta::assert_snapshot!(world.faults("[serve]\nlisten = []"), @r#"x.toml:2:10: serve.listen: names no address; write one such as "127.0.0.1:4081", or "0.0.0.0:4081" for every interface"#);
}

#[test]
fn what_an_event_says_itself_its_network_side_cannot_say_again() {
    let world: World = here();
    let text = with(
        "time = \"1m\"\n[serve]\nname = \"x\"\nmax_moves = 9\nrecords = \"book.usi\"\n[[serve.rounds]]\ngame = \"floodgate-300-10F\"\nminutes = [0]\n[[serve.time]]\nplayer = \"a\"\ntotal = 1\n",
    );
    insta::assert_snapshot!(world.faults(&text), @r#"
    x.toml:3:8: serve.name: belongs in `[event]` where there is an event
    x.toml:4:13: serve.max_moves: belongs in `[rules]` where there is an event
    x.toml:5:11: serve.records: `DIR/book.usi` is a file, not a directory
    x.toml:6:1: serve.rounds: has no place where there is an event: the event pairs its games itself
    x.toml:9:1: serve.time: belongs in the player's own `time` where there is an event
    "#);
}

#[test]
fn tls_needs_its_files_and_a_proxy_is_an_address_or_a_network() {
    let config = league(
        "[serve]\ntrusted_proxies = [\"127.0.0.1\", \"10.0.0.0/8\", \"2001:db8::1\"]\n\
         [serve.tls]\nlisten = [\"0.0.0.0:4082\"]\ncertificate = \"a.pem\"\nkey = \"a.key\"",
    );
    let tls = config.tls.as_ref().unwrap();
    assert!(tls.certificate.ends_with("a.pem") && tls.key.ends_with("a.key"));
    let trusts = |address: &str| config.trusted_proxies.trusts(address.parse().unwrap());
    assert!(trusts("127.0.0.1") && trusts("::ffff:127.0.0.1") && trusts("10.9.8.7") && trusts("2001:db8::1"));
    assert!(!trusts("127.0.0.2") && !trusts("2001:db8::2"), "an address means itself alone");
    assert!(!serde_json::to_string(&config).unwrap().contains("a.key"), "it is not stored with the event");
    let said = here().faults("[serve]\ntrusted_proxies = [\"proxy.example\"]\n[serve.tls]\nlisten = []");
    for fault in [
        "serve.trusted_proxies[0]: `proxy.example` is neither an address",
        "serve.tls.certificate: is missing; name the file",
        "serve.tls.key: is missing; name the file",
        "serve.tls.listen: names no address",
    ] {
        assert!(said.contains(fault), "{fault}: {said}");
    }
}

#[test]
fn a_time_of_its_own_that_the_least_time_of_a_move_uses_up_is_refused() {
    let own =
        |byoyomi| format!("[serve]\nleast_time = 2\n[[serve.time]]\nplayer = \"a\"\nbyoyomi = {byoyomi}\n");
    insta::assert_snapshot!(
        here().faults(&own(2)),
        @"x.toml:3:1: serve.time[0]: gives the player no more time than `least_time` charges for its first move: it cannot win"
    );
    assert_eq!(league(&own(3)).time[0].byoyomi, 3);
}
