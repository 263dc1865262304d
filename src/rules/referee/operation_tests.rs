//! What each operation says, what follows from it, and what takes it back.

use super::*;

#[test]
fn a_ban_of_an_address_is_one_of_its_ipv6_network_and_of_nobody_else() {
    let whom = |text: &str| text.parse::<Whom>().unwrap();
    let at = |text: &str| text.parse::<IpAddr>().unwrap();
    assert!(whom("2001:db8:1:2::7").contains(at("2001:db8:1:2:ffff::1")));
    assert!(!whom("2001:db8:1:2::7").contains(at("2001:db8:1:3::1")));
    assert!(
        whom("192.0.2.7").contains(at("::ffff:192.0.2.7")) && !whom("192.0.2.7").contains(at("192.0.2.8"))
    );
    assert!(whom("192.0.2.0/24").contains(at("192.0.2.200")) && whom("0.0.0.0/0").contains(at("1.2.3.4")));
    assert!(whom("kuma").is("kuma", at("192.0.2.1")) && !whom("kuma").is("kumo", at("192.0.2.1")));
    for wrong in ["", "a b", "192.0.2.0/33", "kuma/8", "192.0.2.0/x"] {
        assert_eq!(wrong.parse::<Whom>(), Err(NotAnAddress), "{wrong}");
    }
    for text in ["kuma", "192.0.2.7", "192.0.2.0/24", "2001:db8:1:2::/64"] {
        assert_eq!(whom(text).to_string(), text);
    }
}

#[test]
fn an_appeal_waits_until_it_is_answered_and_does_not_keep_a_ruling_from_being_taken_back() {
    let mut in_force = InForce::default();
    let was = Outcome::Draw { by: crate::DrawBy::Sennichite };
    let (id, round) = (GameId(7), 2);
    let game = NamedGame { game: id, black: "kuma".to_owned(), white: "taka".to_owned(), round };
    let operation = |number, action| Operation {
        number,
        by: "kuma".to_owned(),
        reason: "it was perpetual check".to_owned(),
        undoes: None,
        action,
    };
    in_force.fold(&operation(1, Action::Appealed { game: game.clone(), was }));
    assert_eq!(in_force.appeals().map(|(appeal, game)| (appeal.number, game)).collect::<Vec<_>>(), [(1, id)]);
    in_force.fold(&operation(2, Action::AppealAnswered { appeal: 1, game, was, upheld: false }));
    assert_eq!(in_force.appeals().count(), 0);
    assert_eq!(
        in_force.get(2).unwrap().to_string(),
        "operation 2: kuma dismissed the appeal (operation 1) against the result of game 7 (kuma - taka, round 2): \
         draw by sennichite: it was perpetual check"
    );
}

#[test]
fn an_adjourned_game_of_a_player_who_was_replaced_waits_no_longer() {
    let mut in_force = InForce::default();
    let players = [0, 1, 2].map(PlayerId);
    for (number, white) in (1..).zip([players[1], players[2]]) {
        let black = players[0];
        let pairing =
            Pairing { stage: 0, index: number, attempt: 0, round: 1, pair: 0, opening: 0, black, white };
        let game = NamedGame { game: GameId(number), black: "a".to_owned(), white: "b".to_owned(), round: 1 };
        let action = Action::Adjourned { game, held: Some(pairing) };
        let (by, reason) = Default::default();
        in_force.fold(&Operation { number, by, reason, undoes: None, action });
    }
    let (player, name, configuration) = (PlayerId(3), "c".to_owned(), String::new());
    let (replaces, out) = (Some(players[1]), Some("b".to_owned()));
    let action = Action::Joined { player, name, replaces, out, configuration };
    let (by, reason) = Default::default();
    in_force.fold(&Operation { number: 3, by, reason, undoes: None, action });
    assert_eq!(in_force.held().map(|(game, _)| game).collect::<Vec<_>>(), [GameId(2)]);
}

#[test]
fn an_order_about_a_game_names_its_players_its_round_and_its_result() {
    let (black, white) = ("ponanza".to_owned(), "gps".to_owned());
    let game = NamedGame { game: GameId(10), black, white, round: 3 };
    let (first, second) = (PlayerId(0), PlayerId(1));
    let (stage, index, attempt, round, pair, opening) = (0, 9, 0, 3, 9, 9);
    let pairing = Pairing { stage, index, attempt, round, pair, opening, black: first, white: second };
    let was = Outcome::Win { winner: Color::Black, by: crate::WinBy::Resignation };
    let replayed = Action::Replayed { game, pairing, was };
    let text = replayed.to_string();
    assert_eq!(text, format!("has game 10 (ponanza - gps, round 3) played again (it was: {was})"));
    let json = serde_json::to_value(&replayed).unwrap();
    assert_eq!((&json["game"], &json["black"], &json["round"]), (&10.into(), &"ponanza".into(), &3.into()));
    assert_eq!(serde_json::from_value::<Action>(json).unwrap(), replayed);
}

#[test]
fn what_was_undone_is_not_undone_twice() {
    let mut in_force = InForce::default();
    let operation = |number, undoes, action| Operation {
        number,
        by: "kai".to_owned(),
        reason: String::new(),
        undoes,
        action,
    };
    in_force.fold(&operation(1, None, Action::Banned { whom: Whom::Name("kuma".to_owned()) }));
    assert!(in_force.ban("kuma", IpAddr::from([127, 0, 0, 1])).is_some());
    let inverse = in_force.inverse(1).unwrap();
    in_force.fold(&operation(2, Some(1), inverse));
    assert!(in_force.ban("kuma", IpAddr::from([127, 0, 0, 1])).is_none());
    assert_eq!(
        [1, 9].map(|number| in_force.inverse(number)),
        [Err(NoInverse::Undone(1)), Err(NoInverse::Unknown(9))]
    );
    assert_eq!(in_force.next(), 3);
}

fn named(game: u64) -> NamedGame {
    NamedGame { game: GameId(game), black: "kuma".to_owned(), white: "taka".to_owned(), round: 2 }
}

fn place(index: u64, black: u32, white: u32) -> Pairing {
    let (black, white) = (PlayerId(black), PlayerId(white));
    Pairing { stage: 0, index, attempt: 0, round: 2, pair: index, opening: 0, black, white }
}

const DREW: Outcome = Outcome::Draw { by: crate::DrawBy::MaxMoves };
const WON: Outcome = Outcome::Win { winner: Color::Black, by: crate::WinBy::Mate };

/// Folds actions in their order, numbered from 1.
fn folded(actions: &[Action]) -> InForce {
    let mut in_force = InForce::default();
    for (number, action) in (1..).zip(actions) {
        let (by, reason, action) = ("kai".to_owned(), String::new(), action.clone());
        in_force.fold(&Operation { number, by, reason, undoes: None, action });
    }
    in_force
}

#[test]
fn every_action_has_its_word_its_sentence_and_the_game_that_it_is_about() {
    let name = || "kuma".to_owned();
    let whom = || Whom::Name(name());
    let (player, below, stage, round) = (PlayerId(0), PlayerId(1), 1, 4);
    let points = Points::thousandths(1500);
    let bye = |holds| Action::ByeGiven { player, name: name(), stage, round, holds };
    let withdrawn = |holds| Action::Withdrawn { player, name: name(), stage, round, holds };
    let disqualified = |holds| Action::Disqualified { player, name: name(), stage, round, holds };
    let placed =
        |holds| Action::Placed { player, name: name(), below, other: "taka".to_owned(), stage, holds };
    let given = |holds| {
        let (black, white) = (name(), "taka".to_owned());
        Action::PairingGiven { players: [player, below], black, white, stage, round, holds }
    };
    let penalised = |points| Action::Penalised { player, name: name(), points, stage, round };
    let ruled = |was| Action::Ruled { game: named(7), pairing: place(3, 0, 1), was, outcome: DREW };
    let joined = |out: Option<&str>| {
        let (replaces, out) = (out.map(|_| below), out.map(str::to_owned));
        Action::Joined { player, name: name(), replaces, out, configuration: String::new() }
    };
    let answered = |upheld| Action::AppealAnswered { appeal: 3, game: named(7), was: WON, upheld };
    let (black, white) = (name(), "taka".to_owned());
    let table = [
        (Action::Paused, "paused", None, "paused the event"),
        (Action::Resumed, "resumed", None, "resumed the event"),
        (Action::RegistrationClosed, "registration-closed", None, "closed the registration"),
        (Action::RegistrationOpened, "registration-opened", None, "opened the registration"),
        (Action::Kicked { name: name() }, "kicked", None, "kicked `kuma`"),
        (Action::Banned { whom: whom() }, "banned", None, "banned `kuma`"),
        (Action::Unbanned { whom: whom() }, "unbanned", None, "unbanned `kuma`"),
        (Action::Muted { name: name() }, "muted", None, "muted `kuma`"),
        (Action::Unmuted { name: name() }, "unmuted", None, "unmuted `kuma`"),
        (Action::BuoyDeleted { name: name() }, "buoy-deleted", None, "deleted the buoy `kuma`"),
        (Action::Announced { text: "tea at noon".to_owned() }, "announced", None, "announced: tea at noon"),
        (
            Action::RegistrationApproved { name: name() },
            "registration-approved",
            None,
            "approved the registration of `kuma`",
        ),
        (
            Action::RegistrationRefused { name: name() },
            "registration-refused",
            None,
            "refused the registration of `kuma`",
        ),
        (
            Action::Adjourned { game: named(7), held: None },
            "adjourned",
            Some(7),
            "adjourned game 7 (kuma - taka, round 2)",
        ),
        (
            Action::PlayedOn { game: named(7) },
            "played-on",
            Some(7),
            "resumed game 7 (kuma - taka, round 2) from its position",
        ),
        (
            Action::ClockSet { game: named(7), color: Color::White, left_ms: 61_500 },
            "clock-set",
            Some(7),
            "set the clock of white in game 7 (kuma - taka, round 2) to 61.5 s",
        ),
        (
            Action::Restarted { game: named(7) },
            "restarted",
            Some(7),
            "restarted game 7 (kuma - taka, round 2) from its opening",
        ),
        (ruled(None), "ruled", Some(7), "ruled game 7 (kuma - taka, round 2): draw by max-moves"),
        (
            ruled(Some(WON)),
            "ruled",
            Some(7),
            "ruled game 7 (kuma - taka, round 2): draw by max-moves (it was: black wins by mate)",
        ),
        (
            Action::Replayed { game: named(7), pairing: place(3, 0, 1), was: WON },
            "replayed",
            Some(7),
            "has game 7 (kuma - taka, round 2) played again (it was: black wins by mate)",
        ),
        (
            Action::Paired { black, white, name: "x-600-10".to_owned() },
            "paired",
            None,
            "paired `kuma` (black) with `taka` for `x-600-10`",
        ),
        (given(true), "pairing-given", None, "paired `kuma` (black) with `taka` (white) in round 5"),
        (
            given(false),
            "pairing-given",
            None,
            "left the pairing of `kuma` and `taka` in round 5 to the rules",
        ),
        (
            Action::Appealed { game: named(7), was: WON },
            "appealed",
            Some(7),
            "appealed against the result of game 7 (kuma - taka, round 2): black wins by mate",
        ),
        (
            answered(true),
            "appeal-answered",
            Some(7),
            "upheld the appeal (operation 3) against the result of game 7 (kuma - taka, round 2): black wins by mate",
        ),
        (
            answered(false),
            "appeal-answered",
            Some(7),
            "dismissed the appeal (operation 3) against the result of game 7 (kuma - taka, round 2): black wins by \
             mate",
        ),
        (
            Action::Swapped { player, out: "taka".to_owned(), substitute: name() },
            "swapped",
            None,
            "swapped `taka` for `kuma`, who keeps the place and its games",
        ),
        (penalised(points), "penalised", None, "took 1.5 points from `kuma` in stage 2"),
        (penalised(-points), "penalised", None, "gave `kuma` 1.5 points back in stage 2"),
        (penalised(Points::ZERO), "penalised", None, "took 0.0 points from `kuma` in stage 2"),
        (disqualified(true), "disqualified", None, "disqualified `kuma`: none of its results count"),
        (disqualified(false), "disqualified", None, "took back the disqualification of `kuma`"),
        (placed(true), "placed", None, "placed `kuma` above `taka` in stage 2, where they are level"),
        (placed(false), "placed", None, "left `kuma` and `taka` level in stage 2"),
        (withdrawn(true), "withdrawn", None, "withdrew `kuma` from the next round on"),
        (withdrawn(false), "withdrawn", None, "let `kuma` play again from the next round on"),
        (joined(None), "joined", None, "added `kuma`"),
        (joined(Some("taka")), "joined", None, "replaced `taka` by `kuma`"),
        (bye(true), "bye-given", None, "gave `kuma` a half-point bye in round 4"),
        (bye(false), "bye-given", None, "took back the bye of `kuma` in round 4"),
        (
            Action::MachineReadmitted { machine: name() },
            "machine-readmitted",
            None,
            "readmitted the machine `kuma`, which may join again",
        ),
        (
            Action::MachineDropped { machine: name() },
            "machine-dropped",
            None,
            "dropped the machine `kuma`, which gets no more games",
        ),
    ];
    let words: BTreeSet<&str> = table.iter().map(|(_, word, ..)| *word).collect();
    assert_eq!(words, <Action as strum::VariantNames>::VARIANTS.iter().copied().collect(), "every action");
    for (action, word, about, sentence) in table {
        assert_eq!(
            (action.word(), action.game(), action.to_string()),
            (word, about.map(GameId), sentence.to_owned())
        );
        let json = serde_json::to_value(&action).unwrap();
        assert_eq!(json["action"], word);
        assert_eq!(serde_json::from_value::<Action>(json).unwrap(), action);
    }
}

#[test]
fn an_operation_says_who_did_it_what_it_takes_back_and_why() {
    let said = |undoes, reason: &str| {
        let (by, reason) = ("kai".to_owned(), reason.to_owned());
        Operation { number: 4, by, reason, undoes, action: Action::Paused }.to_string()
    };
    assert_eq!(said(None, ""), "operation 4: kai paused the event");
    assert_eq!(said(None, "fire"), "operation 4: kai paused the event: fire");
    assert_eq!(
        said(Some(2), "fire"),
        "operation 4: kai paused the event, which takes back operation 2: fire"
    );
}

#[test]
fn a_pause_a_closed_registration_mutes_and_bans_hold_until_they_end() {
    let name = |name: &str| name.to_owned();
    let whom = |text: &str| text.parse::<Whom>().unwrap();
    let address = |text: &str| text.parse::<IpAddr>().unwrap();
    assert!(!InForce::default().is_paused() && !InForce::default().registration_is_closed());
    assert!(folded(&[Action::Paused]).is_paused());
    assert!(!folded(&[Action::Paused, Action::Resumed]).is_paused());
    assert!(!folded(&[Action::Paused]).registration_is_closed());
    assert!(folded(&[Action::RegistrationClosed]).registration_is_closed());
    assert!(!folded(&[Action::RegistrationClosed, Action::RegistrationOpened]).registration_is_closed());

    let muted = [Action::Muted { name: name("kuma") }, Action::Muted { name: name("taka") }];
    let both = folded(&muted);
    assert_eq!(both.mutes().collect::<Vec<_>>(), ["kuma", "taka"]);
    assert!(both.is_muted("kuma") && !both.is_muted("kum"));
    let one = folded(&[&muted[..], &[Action::Unmuted { name: name("kuma") }]].concat());
    assert!(!one.is_muted("kuma") && one.is_muted("taka"));

    let banned = ["kuma", "192.0.2.0/24"].map(|text| Action::Banned { whom: whom(text) });
    let both = folded(&banned);
    assert_eq!(both.bans().map(|(_, ban)| ban.number).collect::<Vec<_>>(), [1, 2]);
    let ban = |in_force: &InForce, name: &str, from: &str| {
        in_force.ban(name, address(from)).map(|operation| operation.number)
    };
    assert_eq!(ban(&both, "kuma", "198.51.100.1"), Some(1));
    assert_eq!(ban(&both, "taka", "192.0.2.77"), Some(2));
    assert_eq!(ban(&both, "taka", "198.51.100.1"), None);
    assert!(both.bans_address(address("192.0.2.77")) && !both.bans_address(address("192.0.3.77")));
    let one = folded(&[&banned[..], &[Action::Unbanned { whom: whom("192.0.2.0/24") }]].concat());
    assert!(!one.bans_address(address("192.0.2.77")) && ban(&one, "kuma", "192.0.2.77") == Some(1));
    assert!(!folded(&[]).bans_address(address("192.0.2.77")));
}

#[test]
fn a_network_holds_its_first_address_and_its_last_and_none_beside_them() {
    for (network, inside, outside) in [
        ("192.0.2.64/26", ["192.0.2.64", "192.0.2.127"], ["192.0.2.63", "192.0.2.128"]),
        ("192.0.2.7/32", ["192.0.2.7", "192.0.2.7"], ["192.0.2.6", "192.0.2.8"]),
        ("128.0.0.0/1", ["128.0.0.0", "255.255.255.255"], ["127.255.255.255", "0.0.0.0"]),
        ("2001:db8::/127", ["2001:db8::", "2001:db8::1"], ["2001:db8::2", "2001:db7:ffff::"]),
        ("2001:db8::9/128", ["2001:db8::9", "2001:db8::9"], ["2001:db8::8", "2001:db8::a"]),
    ] {
        let whom: Whom = network.parse().unwrap();
        let holds = |address: &str| whom.contains(address.parse().unwrap());
        assert_eq!((inside.map(holds), outside.map(holds)), ([true; 2], [false; 2]), "{network}");
    }
    let everybody: Whom = "::/0".parse().unwrap();
    assert!(everybody.contains("2001:db8::9".parse().unwrap()));
    assert!(!everybody.contains("192.0.2.7".parse().unwrap()), "an address of IPv4 is none of IPv6");
    assert_eq!("2001:db8::/129".parse::<Whom>(), Err(NotAnAddress));
}

#[test]
fn adjourned_games_clocks_machines_substitutes_and_withdrawals_are_folded() {
    let adjourned = |game, held| Action::Adjourned { game: named(game), held };
    assert!(!InForce::default().has_adjourned());
    let at_once = folded(&[adjourned(7, None)]);
    assert!(at_once.has_adjourned() && at_once.held().count() == 0, "it is played on at once");
    let held = [adjourned(7, Some(place(3, 0, 1))), adjourned(8, Some(place(4, 2, 3)))];
    let waiting = |more: &[Action]| {
        folded(&[&held[..], more].concat())
            .held()
            .map(|(game, pairing)| (game.0, pairing.index))
            .collect::<Vec<_>>()
    };
    assert_eq!(waiting(&[]), [(7, 3), (8, 4)]);
    assert_eq!(waiting(&[Action::PlayedOn { game: named(7) }]), [(8, 4)]);
    assert_eq!(waiting(&[Action::Restarted { game: named(8) }]), [(7, 3)]);

    let clock = |game, color, left_ms| Action::ClockSet { game: named(game), color, left_ms };
    let set = folded(&[clock(7, Color::White, 500), clock(7, Color::White, 900), clock(8, Color::Black, 3)]);
    assert_eq!(set.clocks(GameId(7)), [None, Some(Duration::from_millis(900))]);
    assert_eq!(set.clocks(GameId(8)), [Some(Duration::from_millis(3)), None]);
    assert_eq!(set.clocks(GameId(9)), [None, None]);

    let dropped = |machine: &str| Action::MachineDropped { machine: machine.to_owned() };
    let machines =
        folded(&[dropped("a"), dropped("b"), Action::MachineReadmitted { machine: "a".to_owned() }]);
    let found: Vec<_> =
        machines.dropped_machines().map(|(name, operation)| (name, operation.number)).collect();
    assert_eq!(found, [("b", 2)]);

    let swap = |out: &str, substitute: &str| Action::Swapped {
        player: PlayerId(1),
        out: out.to_owned(),
        substitute: substitute.to_owned(),
    };
    let swapped = folded(&[swap("a", "b"), swap("b", "c")]);
    assert_eq!(swapped.substitutes().collect::<Vec<_>>(), [(PlayerId(1), "c")]);

    let (player, stage, round) = (PlayerId(1), 0, 1);
    let withdrawn = |holds| Action::Withdrawn { player, name: String::new(), stage, round, holds };
    let disqualified = |holds| Action::Disqualified { player, name: String::new(), stage, round, holds };
    for (actions, is_out) in [
        (vec![], false),
        (vec![withdrawn(true)], true),
        (vec![withdrawn(true), withdrawn(false)], false),
        (vec![disqualified(true)], true),
        (vec![disqualified(true), withdrawn(false)], true),
        (vec![withdrawn(true), disqualified(true), disqualified(false)], true),
        (vec![disqualified(true), disqualified(false)], false),
    ] {
        let in_force = folded(&actions);
        assert_eq!(in_force.has_withdrawn(player), is_out, "{actions:?}");
        assert!(!in_force.has_withdrawn(PlayerId(0)));
    }
    let mut out = BTreeSet::new();
    assert!(!withdrawn(true).disqualifies(&mut out) && out.is_empty());
    assert!(disqualified(true).disqualifies(&mut out) && out == BTreeSet::from([player]));
    assert!(disqualified(false).disqualifies(&mut out) && out.is_empty());
}

#[test]
fn an_adjourned_game_waits_on_when_somebody_joins_in_nobodys_stead() {
    let held = Action::Adjourned { game: named(7), held: Some(place(3, 0, 1)) };
    let joined = |replaces: Option<u32>| Action::Joined {
        player: PlayerId(3),
        name: "c".to_owned(),
        replaces: replaces.map(PlayerId),
        out: None,
        configuration: String::new(),
    };
    for (replaces, waits) in [(None, 1), (Some(2), 1), (Some(0), 0), (Some(1), 0)] {
        assert_eq!(folded(&[held.clone(), joined(replaces)]).held().count(), waits, "{replaces:?}");
    }
}

#[test]
fn what_takes_an_operation_back_restores_what_was_or_is_refused_with_the_reason() {
    let (player, below, stage, round) = (PlayerId(0), PlayerId(1), 0, 2);
    let name = || "kuma".to_owned();
    let whom = || Whom::Name(name());
    let points = Points::ONE;
    let penalised = |points| Action::Penalised { player, name: name(), points, stage, round };
    let withdrawn = |holds| Action::Withdrawn { player, name: name(), stage, round, holds };
    let disqualified = |holds| Action::Disqualified { player, name: name(), stage, round, holds };
    let placed = |holds| Action::Placed { player, name: name(), below, other: name(), stage, holds };
    let given = |holds| Action::PairingGiven {
        players: [player, below],
        black: name(),
        white: name(),
        stage,
        round,
        holds,
    };
    let ruled = |was, outcome| Action::Ruled { game: named(7), pairing: place(3, 0, 1), was, outcome };
    let swap = |out: &str, substitute: &str| Action::Swapped {
        player,
        out: out.to_owned(),
        substitute: substitute.to_owned(),
    };
    for (action, inverse) in [
        (Action::Paused, Action::Resumed),
        (Action::Resumed, Action::Paused),
        (Action::RegistrationClosed, Action::RegistrationOpened),
        (Action::RegistrationOpened, Action::RegistrationClosed),
        (Action::Banned { whom: whom() }, Action::Unbanned { whom: whom() }),
        (Action::Unbanned { whom: whom() }, Action::Banned { whom: whom() }),
        (Action::Muted { name: name() }, Action::Unmuted { name: name() }),
        (Action::Unmuted { name: name() }, Action::Muted { name: name() }),
        (penalised(points), penalised(-points)),
        (disqualified(true), disqualified(false)),
        (placed(true), placed(false)),
        (withdrawn(true), withdrawn(false)),
        (withdrawn(false), withdrawn(true)),
        (given(true), given(false)),
        (swap("a", "b"), swap("b", "a")),
        (ruled(Some(WON), DREW), ruled(Some(DREW), WON)),
    ] {
        assert_eq!(folded(std::slice::from_ref(&action)).inverse(1), Ok(inverse), "{action}");
    }
    let replayed = Action::Replayed { game: named(7), pairing: place(3, 0, 1), was: WON };
    for (action, word) in [
        (ruled(None, DREW), "ruled"),
        (replayed.clone(), "replayed"),
        (Action::Kicked { name: name() }, "kicked"),
        (Action::PlayedOn { game: named(7) }, "played-on"),
        (Action::MachineReadmitted { machine: name() }, "machine-readmitted"),
    ] {
        assert_eq!(
            folded(std::slice::from_ref(&action)).inverse(1),
            Err(NoInverse::Final(1, word)),
            "{action}"
        );
    }
    for action in [disqualified(true), placed(true), given(true), penalised(points), Action::Paused] {
        let mut in_force = folded(std::slice::from_ref(&action));
        let (by, reason, action) = (name(), String::new(), in_force.inverse(1).unwrap());
        in_force.fold(&Operation { number: 2, by, reason, undoes: Some(1), action });
        assert_eq!(in_force.inverse(2), Err(NoInverse::Undo(2, 1)), "an undo is not taken back");
    }
    let dropped = folded(&[Action::MachineDropped { machine: name() }]);
    assert_eq!(dropped.inverse(1), Err(NoInverse::Machine(1, name())));
    let twice = folded(&[swap("a", "b"), swap("b", "c")]);
    assert_eq!(twice.inverse(1), Err(NoInverse::Superseded(1, 2)));
    assert_eq!(twice.inverse(2), Ok(swap("c", "b")));
    // A later decision about the same game comes first, one about another game does not matter.
    let other = Action::Replayed { game: named(8), pairing: place(4, 0, 1), was: WON };
    for (later, refusal) in [
        (ruled(Some(DREW), WON), Some(NoInverse::Superseded(1, 2))),
        (replayed, Some(NoInverse::Superseded(1, 2))),
        (other, None),
        (Action::Appealed { game: named(7), was: DREW }, None),
    ] {
        let in_force = folded(&[ruled(Some(WON), DREW), later]);
        assert_eq!(in_force.inverse(1).err(), refusal);
    }
    let later = folded(&[ruled(Some(WON), DREW), ruled(Some(DREW), WON)]);
    assert_eq!(later.inverse(2), Ok(ruled(Some(WON), DREW)), "the last one is not later than itself");
}

#[test]
fn an_undo_takes_back_the_operation_of_its_number_alone() {
    let (player, stage, round) = (PlayerId(0), 0, 2);
    let withdrawn = |holds| Action::Withdrawn { player, name: "kuma".to_owned(), stage, round, holds };
    let swap = |out: &str, substitute: &str| Action::Swapped {
        player,
        out: out.to_owned(),
        substitute: substitute.to_owned(),
    };
    let banned = || Action::Banned { whom: Whom::Name("kuma".to_owned()) };
    let unbanned = || Action::Unbanned { whom: Whom::Name("kuma".to_owned()) };
    for [first, back] in [
        [Action::Paused, Action::Resumed],
        [Action::Resumed, Action::Paused],
        [Action::RegistrationClosed, Action::RegistrationOpened],
        [banned(), unbanned()],
        [withdrawn(true), withdrawn(false)],
        [swap("a", "b"), swap("b", "a")],
    ] {
        let in_force = folded(&[first.clone(), back.clone(), first.clone()]);
        assert_eq!(
            [1, 2].map(|stale| in_force.inverse(stale)),
            [Err(NoInverse::Superseded(1, 3)), Err(NoInverse::Superseded(2, 3))],
            "{first}"
        );
        assert_eq!(in_force.inverse(3), Ok(back), "{first}");
    }
    // What was taken back is in nobody's way.
    let mut in_force = folded(&[withdrawn(true), withdrawn(false)]);
    let (by, reason, action) = ("kai".to_owned(), String::new(), in_force.inverse(2).unwrap());
    in_force.fold(&Operation { number: 3, by, reason, undoes: Some(2), action });
    assert_eq!(in_force.inverse(1), Ok(withdrawn(false)));
}

#[test]
fn a_decision_about_a_player_can_hold_as_of_another_round_and_no_other_action_can() {
    let (player, stage, round) = (PlayerId(0), 0, 2);
    let at = |(stage, round)| {
        let (name, points) = (String::new, Points::ONE);
        [
            Action::Penalised { player, name: name(), points, stage, round },
            Action::Disqualified { player, name: name(), stage, round, holds: true },
            Action::Withdrawn { player, name: name(), stage, round, holds: true },
        ]
    };
    assert_eq!(at((stage, round)).map(|action| action.as_of((3, 9))), at((3, 9)));
    assert_eq!(Action::Paused.as_of((3, 9)), Action::Paused);
}

#[test]
fn only_a_game_that_was_over_is_corrected() {
    let (game, pairing) = (named(7), place(3, 0, 1));
    let ruled = |was| Action::Ruled { game: game.clone(), pairing, was, outcome: DREW };
    assert_eq!(ruled(Some(WON)).correction(), Some((GameId(7), &pairing, WON, Some(DREW))));
    assert_eq!(ruled(None).correction(), None);
    let replayed = Action::Replayed { game: game.clone(), pairing, was: WON };
    assert_eq!(replayed.correction(), Some((GameId(7), &pairing, WON, None)));
    assert_eq!(Action::Appealed { game: game.clone(), was: WON }.correction(), None);
}

#[test]
fn operations_keep_their_order_and_are_found_by_their_number() {
    let in_force = folded(&[Action::Paused, Action::Resumed, Action::Paused]);
    assert_eq!(in_force.operations().iter().map(|operation| operation.number).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(in_force.get(2).map(|operation| &operation.action), Some(&Action::Resumed));
    assert_eq!((in_force.get(4), in_force.next(), InForce::default().next()), (None, 4, 1));
    assert!(!in_force.is_undone(1));
}

#[test]
fn spectators_are_told_of_a_pause_and_of_the_last_announcement() {
    let mut notice = PublicNotice::default();
    let announced = |text: &str| Action::Announced { text: text.to_owned() };
    notice.fold(1, &announced("tea at noon"));
    notice.fold(2, &Action::Paused);
    assert_eq!((notice.paused, &notice.announced), (true, &Some((1, "tea at noon".to_owned()))));
    notice.fold(3, &announced("tea is over"));
    notice.fold(4, &Action::Muted { name: "kuma".to_owned() });
    notice.fold(5, &Action::Resumed);
    assert_eq!((notice.paused, &notice.announced), (false, &Some((3, "tea is over".to_owned()))));
}
