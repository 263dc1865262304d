use super::*;
use crate::{
    accounts::{Office, Registers},
    arbiter,
};
use arena::operations::Operations;
use axum::body::to_bytes;
use journal::Role;
use referee::{
    entry::Entry,
    operation::InForce,
    sink::{SideRecord, Sink},
};
use std::net::{IpAddr, Ipv4Addr};

/// Forgets what it is told.
#[derive(Debug)]
struct Forgetful;

impl Sink for Forgetful {
    fn happened(&self, _: Entry) {}

    fn keep(&self, _: SideRecord) {}
}

#[test]
fn viewers_leave_most_files_to_games_and_the_database() {
    let most = [(1000, None), (1000, Some(65_536)), (1000, Some(256)), (1000, Some(3))];
    assert_eq!(most.map(|(wanted, files)| viewers(wanted, files)), [1000, 1000, 64, 1]);
}

/// The pages of an event with an arbiter, without sockets.
struct Pages {
    door: Door,
    office: Office,
    _dir: tempfile::TempDir,
}

const PASSWORD: &str = "a-long-password";

impl Pages {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let database = dir.path().join("event.db");
        let hash = plan::password::hash(PASSWORD).unwrap();
        journal::Writer::open(&database).unwrap().set_web_account("kai", Role::Arbiter, &hash).unwrap();
        let office = Office::new(&database, Registers::Anybody);
        let (config, event, places) = (HttpConfig::default(), "event".to_owned(), arbiter::places(None));
        let (base, crowd) = (String::new(), Crowd::default());
        let limits = limits(&config);
        let setup =
            Setup { config, database, event, base, crowd, places, office: None, secure: None, boards: None };
        let site = site(setup);
        let own = office.clone();
        let room = Room::new(site, Some(office.clone()), move |_| arbiter::routes(own, None));
        let front = Front::Event(room);
        let door = Door { limits, front, gate: None };
        Self { door, office, _dir: dir }
    }

    /// Asks as a browser on this machine: method and path, headers, body. Returns the status, the cookies and the body.
    async fn ask(&self, line: &str, headers: &[(&str, &str)], body: &str) -> (StatusCode, String, String) {
        let peer = Peer { address: IpAddr::V4(Ipv4Addr::LOCALHOST), is_secure: false, port: 0 };
        let place = Arc::new(self.door.limits.enter(peer).unwrap());
        let (method, path) = line.split_once(' ').unwrap();
        let form = ("content-type", "application/x-www-form-urlencoded");
        let mut request = Request::builder().method(method).uri(path).header("host", "localhost");
        for (name, value) in headers.iter().chain([&form]) {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::from(body.to_owned())).unwrap();
        let guest = Guest { peer, is_private: false, place };
        let answer = answer(request, &guest, self.door.clone()).await;
        let cookies = answer.headers().get_all(header::SET_COOKIE).iter();
        let cookies = cookies.map(|cookie| cookie.to_str().unwrap().split(';').next().unwrap());
        let cookies = cookies.collect::<Vec<_>>().join("; ");
        let status = answer.status();
        let body = to_bytes(answer.into_body(), 1 << 20).await.unwrap();
        (status, cookies, String::from_utf8(body.to_vec()).unwrap())
    }

    /// Asks until a request is refused.
    async fn flood(&self, line: &str, cookies: &str) {
        for _ in 0..2000 {
            if self.ask(line, &[("cookie", cookies)], "").await.0 == StatusCode::TOO_MANY_REQUESTS {
                return;
            }
        }
        panic!("nothing bounds {line}");
    }

    /// Logs in; returns the cookies, and the token of the session's forms.
    async fn log_in(&self) -> (String, String) {
        let form = format!("name=kai&password={PASSWORD}");
        let (status, cookies, said) = self.ask("POST /arbiter/login", &[], &form).await;
        assert_eq!(status, StatusCode::SEE_OTHER, "{said}");
        let (_, _, page) = self.ask("GET /arbiter", &[("cookie", &cookies)], "").await;
        let (_, rest) = page.split_once("name=\"csrf\" value=\"").unwrap();
        (cookies, rest.split('"').next().unwrap().to_owned())
    }
}

#[tokio::test(start_paused = true)]
async fn a_flood_on_the_arbiters_pages_does_not_keep_an_arbiter_at_its_address_from_working() {
    let pages = Pages::new();
    let (cookies, csrf) = pages.log_in().await;
    pages.flood("GET /arbiter", "").await;
    let (status, ..) = pages.ask("GET /arbiter", &[("cookie", "renmei_session=made-up")], "").await;
    assert_eq!(status, StatusCode::TOO_MANY_REQUESTS, "a token that nobody was given is worth nothing");
    let (status, _, page) = pages.ask("GET /arbiter", &[("cookie", &cookies)], "").await;
    assert_eq!(status, StatusCode::OK, "{page}");
    let form = format!("csrf={csrf}");
    let (status, ..) = pages.ask("POST /arbiter/logout", &[("cookie", &cookies)], &form).await;
    assert_eq!(status, StatusCode::SEE_OTHER);
    pages.flood("GET /arbiter", "").await;
    let form = format!("name=kai&password={PASSWORD}");
    let (status, ..) = pages.ask("POST /arbiter/login", &[("cookie", &cookies)], &form).await;
    assert_eq!(status, StatusCode::SEE_OTHER, "a browser that is known logs in");
}

#[tokio::test(start_paused = true)]
async fn a_login_that_asks_without_end_is_refused_too() {
    let pages = Pages::new();
    let (cookies, _) = pages.log_in().await;
    pages.flood("GET /nowhere", &cookies).await;
    assert_eq!(pages.ask("GET /nowhere", &[], "").await.0, StatusCode::NOT_FOUND, "and nobody else is");
}

#[tokio::test]
async fn a_refusal_is_json_for_programs_and_a_page_in_the_language_of_the_reader() {
    let pages = Pages::new();
    let ja = [("accept-language", "ja")];
    let (status, _, said) = pages.ask("GET /api/table", &ja, "").await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(said, r#"{"error":"the event has not begun yet"}"#);
    let (status, _, said) = pages.ask("GET /games/7.xyz", &ja, "").await;
    assert_eq!((status, said.contains("\"error\"")), (StatusCode::NOT_FOUND, true), "{said}");
    let (status, _, said) = pages.ask("GET /table", &ja, "").await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(said.contains("大会はまだ始まっていません") && said.contains("lang=\"ja\""), "{said}");
    let (status, _, said) = pages.ask("GET /nowhere", &[], "").await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert!(said.contains("There is no page of this address.") && said.contains("<nav"), "{said}");
    let (status, _, said) = pages.ask("POST /arbiter/do", &ja, "command=pause").await;
    assert_eq!(status, StatusCode::FORBIDDEN);
    assert!(said.contains("実行されませんでした") && said.contains("ログインしていないか"), "{said}");
}

#[tokio::test]
async fn an_order_that_is_refused_says_so_in_the_language_of_the_arbiter() {
    let pages = Pages::new();
    let (cookies, csrf) = pages.log_in().await;
    pages.office.open(Operations::new(InForce::default(), Arc::new(Forgetful)));
    for (language, words) in [("en", "the event is not paused"), ("ja", "一時停止中ではありません。")]
    {
        let headers = [("cookie", cookies.as_str()), ("accept-language", language)];
        let form = format!("command=resume&csrf={csrf}");
        let (status, _, said) = pages.ask("POST /arbiter/do", &headers, &form).await;
        assert_eq!(status, StatusCode::CONFLICT);
        assert!(said.contains(words), "{said}");
    }
    let (status, _, said) = pages
        .ask("POST /arbiter/do", &[("cookie", &cookies)], &format!("command=rule&game=x&csrf={csrf}"))
        .await;
    assert_eq!(
        (status, said.contains("the field <code>game</code> takes a number")),
        (StatusCode::BAD_REQUEST, true)
    );
}
