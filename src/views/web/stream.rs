//! `/events`: the stream for a viewer, from the last event that it has seen.

use crate::{
    Site,
    desk::{Desk, NoAnswer},
    game::Game,
    live::{Item, Live},
    refusals::Refusal,
    relay::{Frame, FrameId, Missed, data, event},
    site::asker,
};
use axum::{
    body::{Body, Bytes},
    extract::{Query, State},
    http::{HeaderMap, header},
    response::{IntoResponse, Response},
};
use futures_util::stream;
use journal::now;
use referee::entry::GameId;
use serde::Deserialize;
use std::{collections::VecDeque, convert::Infallible, net::IpAddr, sync::Arc, time::Duration};
use tokio::sync::broadcast::{self, error::RecvError};

/// Time after which a silent stream shows that it is there.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// Games that a viewer who returns is told of one by one; of more it takes the whole.
const MAX_MISSED: usize = 1000;

/// What a viewer asks for.
#[derive(Debug, Deserialize)]
pub struct Asked {
    /// The id of the last event that it has seen.
    since: Option<String>,
    /// The game that it watches; none: all.
    game: Option<u64>,
}

/// Serves the stream.
pub async fn events(
    State(site): State<Site>,
    Query(asked): Query<Asked>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let returned = headers.get("last-event-id").map(|id| id.to_str().unwrap_or_default());
    let seen = returned.or(asked.since.as_deref()).map(FrameId::read);
    let game = asked.game.map(GameId);
    let (receiver, missed) = site.0.relay.follow(seen);
    let seen = seen.flatten().unwrap_or_else(|| site.0.relay.last());
    let mut first = VecDeque::from([Bytes::from_static(b"retry: 2000\n\n")]);
    match missed {
        Missed::Whole => first.push_back(event("reset", site.0.relay.last(), "{}").into()),
        Missed::Frames(frames) => first.extend(frames.iter().map(|frame| frame.text(game))),
        Missed::Since(seq) => {
            let id = site.0.relay.last();
            match site.ask(move |desk| since(desk, seq, game)).await {
                Ok(Some(items)) => first.push_back(event("news", id, &data(now(), &items)).into()),
                // Asked again when the past was read.
                Err(NoAnswer::NotYet) => {}
                Ok(None) => first.push_back(event("reset", id, "{}").into()),
                Err(error @ NoAnswer::Busy) => return Err(Refusal::from(error).after(5)),
                Err(_) => first.push_back(event("reset", id, "{}").into()),
            }
        }
    }
    let viewer = Viewer { first, receiver, site, game, seen, origin: asker() };
    let body = Body::from_stream(stream::unfold(viewer, |mut viewer| async move {
        let text = viewer.next().await?;
        Some((Ok::<_, Infallible>(text), viewer))
    }));
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-store"),
        (header::HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    Ok((headers, body).into_response())
}

struct Viewer {
    first: VecDeque<Bytes>,
    receiver: broadcast::Receiver<Arc<Frame>>,
    site: Site,
    game: Option<GameId>,
    /// The last frame that it knows of.
    seen: FrameId,
    /// Its address, which pays for what is asked later.
    origin: IpAddr,
}

impl Viewer {
    /// The next text; it is asked for when the connection has taken the one before.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(text) = self.first.pop_front() {
                if text.is_empty() {
                    continue;
                }
                return Some(text);
            }
            match tokio::time::timeout(HEARTBEAT, self.receiver.recv()).await {
                Err(_) => return Some(Bytes::from_static(b":\n\n")),
                Ok(Ok(frame)) => {
                    let seen = std::mem::replace(&mut self.seen, frame.id());
                    if frame.is_beginning() {
                        let (id, game) = (self.site.0.relay.last(), self.game);
                        let ask = move |desk: &mut Desk| since(desk, seen.seq, game);
                        let text = match self.site.0.relay.leads_to(seen, id.event) {
                            true => self.site.ask_for(self.origin, ask).await.ok().flatten(),
                            false => None,
                        };
                        let text = match text {
                            Some(items) => event("news", id, &data(now(), &items)),
                            None => event("reset", id, "{}"),
                        };
                        return Some(text.into());
                    }
                    let text = frame.text(self.game);
                    if !text.is_empty() {
                        return Some(text);
                    }
                }
                // Too slow: the frames in between are gone, and the viewer takes the whole as it is now.
                Ok(Err(RecvError::Lagged(_))) => {
                    self.receiver = self.receiver.resubscribe();
                    return Some(event("reset", self.site.0.relay.last(), "{}").into());
                }
                Ok(Err(RecvError::Closed)) => return None,
            }
        }
    }
}

/// Everything since an entry that the relay has no more: each game that began or ended, as a whole, and what was told
/// beside them; `None`: too much.
fn since(desk: &mut Desk, seq: u64, only: Option<GameId>) -> Result<Option<Vec<Item>>, NoAnswer> {
    let site = desk.site();
    let running = |live: &Live| {
        let wanted = live.games.values().filter(|game| only.is_none_or(|id| game.id == id));
        let games: Vec<Game> = wanted.map(|game| live.shown(game)).collect();
        (live.seq, games)
    };
    let (horizon, running) = site.now(running).ok_or(NoAnswer::NotYet)?;
    let games = desk.changed(seq, horizon)?;
    let over: Vec<GameId> = games
        .into_iter()
        .filter(|id| only.is_none_or(|only| only == *id) && !running.iter().any(|game| game.id() == *id))
        .collect();
    let told = desk.told(seq, horizon)?;
    if over.len() + told.len() > MAX_MISSED {
        return Ok(None);
    }
    // Of the boards of other machines nobody keeps which have vanished: all have, and those that are there come again.
    let is_gone = |id: GameId| id.is_elsewhere() && !running.iter().any(|game| game.id() == id);
    let mut items: Vec<Item> = match only {
        None => site.0.boards.iter().map(|_| Item::Gone { g: None }).collect(),
        Some(id) if is_gone(id) => vec![Item::Gone { g: Some(id.0) }],
        Some(_) => vec![],
    };
    for id in over {
        if let Some(game) = desk.game(id)? {
            items.push(Item::Started { game: Box::new(game) });
        }
    }
    items.extend(running.into_iter().map(|game| Item::Started { game: Box::new(game) }));
    items.extend(told.into_iter().filter(|item| only.is_none() || item.game() == only));
    Ok(Some(items))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{catalogue::tests::play, feed::Feed, server::site_of};
    use futures_util::StreamExt;
    use journal::{EventHead, Journal, Store};
    use referee::{
        entry::Entry,
        operation::{Action, Operation},
    };
    use std::path::Path;

    fn pauses(path: &Path) {
        let head = EventHead { name: "e", kind: "run", plan: "{}", fingerprint: "{}" };
        let journal = Journal::open(path, &head).unwrap().start(vec![], || ()).unwrap();
        let (action, by, reason) = (Action::Paused, "kai".to_owned(), String::new());
        let operation = Operation { number: 1, by, reason, undoes: None, action };
        journal.happened(Entry::Operator(Box::new(operation)));
        journal.finish().unwrap();
    }

    #[tokio::test]
    async fn an_id_that_cannot_be_read_is_that_of_another_event() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("event.db");
        play(&path, &[(1, 0, 1)]);
        let site = site_of(&path, "e");
        for (header, since) in
            [(Some("x"), None), (None, Some("1-2")), (Some("99999999999999999999-1-1"), None)]
        {
            let mut headers = HeaderMap::new();
            header.map(|id| headers.insert("last-event-id", id.parse().unwrap()));
            let asked = Asked { since: since.map(str::to_owned), game: None };
            let viewer = events(State(site.clone()), Query(asked), headers).await.unwrap();
            let mut body = viewer.into_body().into_data_stream();
            let _retry = body.next().await.unwrap().unwrap();
            let told = body.next().await.unwrap().unwrap();
            assert!(told.starts_with(b"event: reset\n"), "{header:?} {since:?}: {told:?}");
        }
    }

    #[tokio::test]
    async fn a_viewer_who_returns_while_the_past_is_read_misses_nothing_of_it() {
        for (since_creation, is_foreign) in [(Some(0), false), (None, false), (Some(1), true)] {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("event.db");
            play(&path, &[(1, 0, 1), (2, 1, 0), (3, 0, 1)]);
            let site = site_of(&path, "e");
            let mut feed = Feed::new(&site);
            feed.open = feed.begin().unwrap();
            // One has seen an earlier run, one a page of this one, and one an event that had the name before.
            let created_at = Store::read(&path).unwrap().events().unwrap()[0].created_at;
            let seen = since_creation.map(|before| format!("{}-1-1", created_at - before));
            let since = seen.unwrap_or_else(|| site.0.relay.last().to_string());
            let asked = Asked { since: Some(since.clone()), game: None };
            let viewer = events(State(site.clone()), Query(asked), HeaderMap::new()).await.unwrap();
            let mut body = viewer.into_body().into_data_stream();
            let retry = body.next().await.unwrap().unwrap();
            assert!(retry.starts_with(b"retry: "), "nothing is known yet: {retry:?}");
            feed.look().unwrap();
            let told = body.next().await.unwrap().unwrap();
            let told = String::from_utf8(told.to_vec()).unwrap();
            if is_foreign {
                assert!(told.starts_with("event: reset\n"), "{told}");
                continue;
            }
            let games = [1, 2, 3].map(|game| told.contains(&format!("\"number\":{game},")));
            assert_eq!(games, [true; 3], "{since}: {told}");
            // A look that fails is followed by one that reads the past anew, and more by now.
            feed.open = None;
            play(&path, &[(4, 0, 1)]);
            pauses(&path);
            feed.look().unwrap();
            let told = String::from_utf8(body.next().await.unwrap().unwrap().to_vec()).unwrap();
            assert!(told.contains("paused the event"), "what the operator did: {told}");
            assert!(told.contains("\"number\":4,") && !told.contains("\"number\":1,"), "{told}");
        }
    }

    #[test]
    fn an_event_is_shown_once_something_of_it_was_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("event.db");
        let head = EventHead { name: "e", kind: "run", plan: "{}", fingerprint: "{}" };
        Journal::open(&path, &head).unwrap().into_store();
        let site = site_of(&path, "e");
        let mut feed = Feed::new(&site);
        assert!(feed.begin().unwrap().is_none(), "with a delay its players would be unknown for as long");
        feed.look().unwrap();
        assert!(site.now(|_| ()).is_none(), "games that end before the next look would lack their moves");
        play(&path, &[(1, 0, 1)]);
        feed.look().unwrap();
        assert!(site.now(|_| ()).is_some());
    }
}
