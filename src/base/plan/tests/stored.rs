//! The plan as the database keeps it: what is written, and what is read.

use super::{FULL, client, here, with};
use crate::{ClientConfig, ServeConfig, StoredPlan};
use contest::schedule::{Format, Stage};
use referee::clock::TimeControl;
use serde_json::Value;
use std::{collections::BTreeMap, path::Path, time::Duration};

fn anybody() -> Vec<Stage> {
    vec![Stage { format: Format::RoundRobin { cycles: 1 }, games: 1, ..Stage::default() }]
}

fn reread(plan: &StoredPlan) -> StoredPlan {
    StoredPlan::from_json(&plan.to_json()).unwrap()
}

#[test]
fn an_event_comes_back_with_its_stages_and_players_and_keeps_the_rest_for_queries() {
    let plan = here().plan(FULL);
    let stored = StoredPlan::from(&plan);
    assert_eq!(reread(&stored), stored);
    assert_eq!(stored.stages, plan.stages);
    let names: Vec<_> = stored.engines.iter().map(|engine| engine.name.as_str()).collect();
    assert_eq!(names, ["alpha", "b"]);
    assert_eq!(stored.engines[1].time, Some(plan.engines[1].time));
    let written: Value = serde_json::from_str(&stored.to_json()).unwrap();
    assert_eq!(
        written,
        serde_json::to_value(&plan).unwrap(),
        "every field stands where it stands in the plan"
    );
}

#[test]
fn a_sequential_test_comes_back() {
    let plan = here().plan(&with("[event]\nformat = \"sprt\"\n[sprt]\nelo0 = 0\nelo1 = 5.5\n"));
    assert_eq!(reread(&StoredPlan::from(&plan)).sprt, plan.sprt);
}

#[test]
fn an_open_league_is_one_stage_of_anybody_against_anybody() {
    let stored = StoredPlan::from(&ServeConfig { max_moves: 120, ..ServeConfig::default() });
    assert_eq!((&stored.stages, stored.engines.len(), &stored.us), (&anybody(), 0, &None));
    assert_eq!(reread(&stored), stored);
    let written: Value = serde_json::from_str(&stored.to_json()).unwrap();
    assert_eq!((&written["name"], &written["serve"]["max_moves"]), (&"league".into(), &120.into()));
    assert!(written["serve"].get("invited").is_none(), "who is invited stays in the file");
}

#[test]
fn games_on_a_server_come_back_with_our_name_and_the_ratings_but_no_password() {
    let config =
        ClientConfig::parse(&client("", "a-1-1,geheim", ""), Some(Path::new("x.toml")), &here().environment);
    let ratings = BTreeMap::from([("strong".to_owned(), 2850.5)]);
    let stored = StoredPlan::from(&ClientConfig { ratings, ..config.unwrap() });
    assert_eq!(reread(&stored), stored);
    assert_eq!((stored.us.as_deref(), stored.rating("strong")), (Some("me"), Some(2850.5)));
    assert_eq!(stored.rating("stranger"), None);
    assert!(stored.to_json().contains("\"floodgate\":{") && !stored.to_json().contains("geheim"));
}

#[test]
fn what_a_stored_plan_leaves_out_has_its_default() {
    let plan = here().plan(FULL);
    let stored = StoredPlan::from_json(&serde_json::to_string(&plan).unwrap()).unwrap();
    assert_eq!((&stored.stages, stored.engines.len()), (&plan.stages, 2));
    let league = StoredPlan::from_json(
        r#"{"engines":[],"name":"league","serve":{"grace":null,"listen":["127.0.0.1:4181"]},"sprt":null,
            "stages":[{"entrants":null,"format":{"cycles":1,"format":"round-robin"},"games":1}]}"#,
    );
    assert_eq!(league.unwrap().stages, anybody());
    let server = StoredPlan::from_json(
        r#"{"engines":[],"floodgate":{"host":"h"},"name":"kawa","ratings":{"mori":1500.0},"sprt":null,
            "stages":[{"entrants":null,"format":{"cycles":1,"format":"round-robin"},"games":1}],"us":"kawa"}"#,
    )
    .unwrap();
    assert_eq!((server.us.as_deref(), server.rating("mori")), (Some("kawa"), Some(1500.0)));
    let imported = StoredPlan::from_json("{}").unwrap();
    assert_eq!((imported.stages, imported.engines.len()), (anybody(), 0));
    let short = r#"{"engines":[{"name":"a","time":{"main":{"secs":0,"nanos":0},"byoyomi":{"secs":10,"nanos":0},
        "increment":{"secs":0,"nanos":0},"delay":{"secs":0,"nanos":0},"fixed":null,"nodes":null,"depth":null,
        "margin":{"secs":0,"nanos":0},"accounting":"milliseconds","least":{"secs":0,"nanos":0},
        "patience":{"secs":120,"nanos":0}}}]}"#;
    let time = StoredPlan::from_json(short).unwrap().engines[0].time.map(|time: TimeControl| time.byoyomi);
    assert_eq!(time, Some(Duration::from_secs(10)));
}

#[test]
fn a_plan_of_another_program_is_refused() {
    let other = StoredPlan::from_json("nonsense").unwrap_err();
    insta::assert_snapshot!(other, @"it is not a plan of this program: expected ident at line 1 column 2");
}
