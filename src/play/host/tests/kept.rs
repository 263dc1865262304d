//! Side records of a game: the record file in floodgate's form, the transcript, the buoys.

use super::driver::{Client, Host};
use arena::operations::{
    command::{Command, RuledResult},
    request::Request,
};
use notation::record::{self, GameRecord};
use plan::serve::ServeConfig;
use std::{
    fs,
    path::{Path, PathBuf},
};

fn game(host: &Host) -> [Client; 2] {
    let black = host.connect().login("sente", "t-600-10-B,t");
    let white = host.connect().login("gote", "t-600-10-W,t");
    let mut players = [black, white];
    for player in &mut players {
        player.until("END Game_Summary");
        player.say("AGREE");
    }
    for player in &mut players {
        assert!(player.line().unwrap().starts_with("START:"));
    }
    players
}

/// All files below a directory.
fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn a_record_of_every_game_is_written_in_floodgates_form() {
    let records = tempfile::tempdir().unwrap();
    let config = ServeConfig { records: Some(records.path().to_owned()), ..ServeConfig::default() };
    let mut host = Host::start(config);
    let [mut black, mut white] = game(&host);
    black.say("+7776FU,'* 35 -3334FU +2726FU");
    white.until("+7776FU,T0");
    white.say("-3334FU,'* 100000");
    black.until("-3334FU,T0");
    black.say("%TORYO");
    white.until("#WIN");
    black.until("#LOSE");
    let mut rejected = host.connect().login("sente", "t-600-10-B,t");
    let mut other = host.connect().login("gote", "t-600-10-W,t");
    rejected.until("END Game_Summary");
    rejected.say("REJECT");
    other.until("END Game_Summary");
    other.rest();
    let db = host.end();
    let files = files(records.path());
    let [file] = &files[..] else { panic!("one game began: {files:?}") };
    let path = file.strip_prefix(records.path()).unwrap().to_str().unwrap();
    let parts: Vec<&str> = path.split('/').collect();
    assert_eq!(parts.iter().map(|part| part.len()).collect::<Vec<_>>()[..3], [4, 2, 2]);
    let id = parts[3].strip_suffix(".csa").unwrap();
    assert!(id.starts_with("league+t-600-10+sente+gote+20"), "{id}");
    let text = fs::read_to_string(file).unwrap();
    let names = "SELECT group_concat(name, ':') FROM (SELECT name FROM players ORDER BY player)";
    let ids: String = db.query_row(names, [], |row| row.get(0)).unwrap();
    assert!(ids.starts_with("sente+") && ids.contains(":gote+"), "{ids}");
    let rating = &format!("'rating:{ids}\n");
    let expected = "+7776FU\nT0\n'** 35 -3334FU +2726FU\n-3334FU\nT0\n'** 100000\n%TORYO\n'P1-KY-KE-GI-KI-OU-KI-GI-KE-KY\n";
    assert!(text.starts_with("V2\nN+sente\nN-gote\n'Max_Moves:256\n"), "{text}");
    assert!(text.contains(&format!("$EVENT:{id}\n")) && text.contains(expected), "{text}");
    assert!(
        text.contains(rating) && text.contains("\n'summary:toryo:sente lose:gote win\n'$END_TIME:20"),
        "{text}"
    );
    let read: Vec<GameRecord> = record::read(text.as_bytes(), None).unwrap();
    assert_eq!((read.len(), read[0].plies.len()), (1, 2));
}

#[test]
fn the_record_file_of_a_game_that_was_ruled_on_has_the_ruled_result() {
    let records = tempfile::tempdir().unwrap();
    let config = ServeConfig { records: Some(records.path().to_owned()), ..ServeConfig::default() };
    let mut host = Host::start(config);
    let [mut black, mut white] = game(&host);
    black.say("+7776FU");
    white.until("+7776FU,T0");
    white.say("%TORYO");
    black.until("#WIN");
    let command = Command::Rule { game: 1, result: RuledResult::White };
    let reason = Some("two engines".to_owned());
    let request = Request { named: None, reason, event: None, command };
    host.operate(|operations| operations.carry_out("kai", &request)).unwrap();
    drop(host.end());
    let text = fs::read_to_string(&files(records.path())[0]).unwrap();
    assert!(text.contains("'summary:abnormal:sente lose:gote win\n'$END_TIME:20"), "{text}");
    assert!(text.contains("+7776FU\nT0\n'P1-KY") && !text.contains("%TORYO"), "{text}");
}

#[test]
fn buoys_survive_a_restart_until_they_are_used_up() {
    let first = tempfile::tempdir().unwrap();
    let config = ServeConfig::default();
    let mut host = Host::start(config.clone());
    let mut owner = host.connect().login_x1("owner", "x");
    owner.say("%%SETBUOY buoy_a-600-10 +7776FU-3334FU 2\n%%SETBUOY buoy_b-600-10 +2726FU\n%%DELETEBUOY buoy_b-600-10");
    owner.hears(&["##[SETBUOY] +OK", "##[SETBUOY] +OK", "##[DELETEBUOY] +OK"]);
    host.end();
    let kept = first.path().join("league.db");
    fs::copy(host.dir().join("league.db"), &kept).unwrap();
    let mut host = Host::prepared(config, |path| assert!(fs::copy(&kept, path).unwrap() > 0));
    let mut players = [("a", "B"), ("b", "W")]
        .map(|(name, color)| host.connect().login(name, &format!("buoy_a-600-10-{color},t")));
    for player in &mut players {
        player.until("BEGIN Position");
        player.until("+7776FU,T0");
        player.hears(&["-3334FU,T0", "END Position"]);
    }
    let mut asker = host.connect().login_x1("asker", "x");
    asker.say("%%GETBUOYCOUNT buoy_a-600-10\n%%GETBUOYCOUNT buoy_b-600-10");
    asker.hears(&[
        "##[GETBUOYCOUNT] 1",
        "##[GETBUOYCOUNT] +OK",
        "##[GETBUOYCOUNT] -1",
        "##[GETBUOYCOUNT] +OK",
    ]);
    let left: i64 = host.end().query_row("SELECT left_ FROM buoys", [], |row| row.get(0)).unwrap();
    assert_eq!(left, 1);
}

#[test]
fn a_league_that_is_back_within_the_second_gives_no_game_the_id_of_an_earlier_one() {
    let mut host = Host::start(ServeConfig::default());
    let [mut black, mut white] = game(&host);
    black.say("%TORYO");
    white.until("#WIN");
    let first = host.end();
    // As if games of the same players had been begun in every second until in ten minutes.
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    first.execute_batch("BEGIN").unwrap();
    for ahead in 0..600 {
        let date = notation::date::digits((now + ahead).cast_signed() * 1000);
        let name = format!("league+t-600-10+sente+gote+{date}");
        first.execute("INSERT INTO game_names VALUES (1, ?, ?)", (1000 + ahead.cast_signed(), name)).unwrap();
    }
    first.execute_batch("COMMIT").unwrap();
    drop(first);
    let kept = host.dir().join("league.db");
    let mut again =
        Host::prepared(ServeConfig::default(), |path| assert!(fs::copy(&kept, path).unwrap() > 0));
    let [mut black, mut white] = game(&again);
    black.say("%TORYO");
    white.until("#WIN");
    let doubled: i64 = again
        .end()
        .query_row("SELECT count(*) - count(DISTINCT name) FROM game_names WHERE number <> 1", [], |row| {
            row.get(0)
        })
        .unwrap();
    assert_eq!(doubled, 0, "two games have one id, and one record file");
}
