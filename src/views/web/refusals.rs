//! Refusals: a status and a sentence in both languages. Programs read it as JSON, people in a page of their language.

use axum::{
    body::{Body, to_bytes},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use journal::StoreError;
use tokio::task::JoinError;
use words::{Language, Message};

/// Longest sentence of a refusal that is passed on, in bytes.
const SENTENCE: usize = 4096;

/// Why a request is not answered as it asks.
///
/// As a response it is a line of English text that carries the refusal itself, which [`crate::layout`] then shows in the
/// form that the path and the visitor want.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The status.
    pub status: StatusCode,
    /// The sentence.
    pub message: Message,
    /// Seconds after which the same request may be answered.
    retry_after: Option<u32>,
}

impl Refusal {
    /// A refusal with a message of the catalogue.
    pub fn new<T: Into<String>>(status: StatusCode, text: impl Fn(Language) -> T) -> Self {
        Self { status, message: Message::of(text), retry_after: None }
    }

    /// The request has a fault.
    pub fn bad<T: Into<String>>(text: impl Fn(Language) -> T) -> Self {
        Self::new(StatusCode::BAD_REQUEST, text)
    }

    /// The visitor may not do this.
    pub fn forbidden<T: Into<String>>(text: impl Fn(Language) -> T) -> Self {
        Self::new(StatusCode::FORBIDDEN, text)
    }

    /// The state of the event does not allow this.
    pub fn conflict<T: Into<String>>(text: impl Fn(Language) -> T) -> Self {
        Self::new(StatusCode::CONFLICT, text)
    }

    /// The address asks too often.
    pub fn too_many<T: Into<String>>(text: impl Fn(Language) -> T) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, text)
    }

    /// A fault of the program or of its database. Its reason names paths, so only the log has it.
    pub fn fault(reason: &dyn std::fmt::Display) -> Self {
        tracing::warn!("a page could not be made: {reason}");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, Language::page_failed)
    }

    /// The refusal with the seconds after which the same request may be answered.
    #[must_use]
    pub fn after(self, seconds: u32) -> Self {
        Self { retry_after: Some(seconds), ..self }
    }

    /// The refusal as a line of text.
    pub fn in_text(&self, language: Language) -> Response {
        self.answer("text/plain; charset=utf-8", format!("{}\n", self.message.text(language)))
    }

    /// The refusal as JSON, in English.
    pub fn in_json(&self) -> Response {
        self.answer("application/json", json(self.message.text(Language::English)))
    }

    fn answer(&self, kind: &'static str, body: String) -> Response {
        let retry_after = self.retry_after.map(|seconds| [(header::RETRY_AFTER, seconds.to_string())]);
        (self.status, [(header::CONTENT_TYPE, kind)], retry_after.map(axum::response::AppendHeaders), body)
            .into_response()
    }

    /// The refusal as it goes over a connection that is closed after it.
    pub fn raw(&self, for_programs: bool) -> String {
        let sentence = self.message.text(Language::English);
        let (kind, body) = match for_programs {
            true => ("application/json", json(sentence)),
            false => ("text/plain; charset=utf-8", format!("{sentence}\n")),
        };
        let (status, length) = (self.status, body.len());
        format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nRetry-After: 30\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n\
             {body}"
        )
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = self.in_text(Language::English);
        response.extensions_mut().insert(self);
        response
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        Self::fault(&error)
    }
}

impl From<JoinError> for Refusal {
    fn from(error: JoinError) -> Self {
        Self::fault(&error)
    }
}

/// The refusal that an answer is; one of a request that the server could not read for its handler says what of it.
pub async fn refusal_of(answer: &mut Response) -> Option<Refusal> {
    let (refusal, status) = (answer.extensions_mut().remove(), answer.status());
    if refusal.is_some() || ![400, 413, 415, 422].contains(&status.as_u16()) {
        return refusal;
    }
    if status == StatusCode::PAYLOAD_TOO_LARGE {
        return Some(Refusal::new(status, Language::form_is_too_large));
    }
    let said = to_bytes(std::mem::take(answer.body_mut()), SENTENCE).await.unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let why = said.rsplit("string: ").next().unwrap_or(&said);
    Some(Refusal::new(status, |words| words.request_cannot_be_read(why)))
}

/// True if all of a path is JSON, also refusals of the server itself.
pub fn is_for_programs(path: &str) -> bool {
    path.starts_with("/api/")
}

/// True if programs read this path, so that its refusals are JSON: records, lists and feeds besides the JSON.
pub fn is_read_by_programs(path: &str) -> bool {
    is_for_programs(path) || path == "/feed.xml" || path.starts_with("/games/") && path.contains('.')
}

fn json(words: &str) -> String {
    serde_json::json!({ "error": words }).to_string()
}

/// An answer for programs: a refusal that is not JSON becomes `{"error": ..}`, with its status and headers.
pub async fn in_json(answer: Response) -> Response {
    let status = answer.status();
    if !(status.is_client_error() || status.is_server_error()) || is_of(&answer, "application/json") {
        return answer;
    }
    let is_text = is_of(&answer, "text/plain");
    let (mut head, body) = answer.into_parts();
    let said = if is_text { to_bytes(body, SENTENCE).await.unwrap_or_default() } else { Default::default() };
    let said = String::from_utf8_lossy(&said);
    let words = match said.trim() {
        "" => status.canonical_reason().unwrap_or("refused").to_lowercase(),
        words => words.to_owned(),
    };
    head.headers.remove(header::CONTENT_LENGTH);
    head.headers.insert(header::CONTENT_TYPE, header::HeaderValue::from_static("application/json"));
    Response::from_parts(head, Body::from(json(&words)))
}

/// True if an answer has content of a kind.
fn is_of(answer: &Response, kind: &str) -> bool {
    let value = answer.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    value.is_some_and(|value| value.starts_with(kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn told(answer: Response) -> (u16, String) {
        let answer = in_json(answer).await;
        let status = answer.status().as_u16();
        (status, String::from_utf8(to_bytes(answer.into_body(), 1000).await.unwrap().to_vec()).unwrap())
    }

    #[tokio::test]
    async fn a_query_that_cannot_be_read_is_refused_in_a_sentence() {
        #[derive(Debug, serde::Deserialize)]
        struct Asked {
            #[allow(dead_code)]
            game: u64,
        }
        let uri = "/events?game=x".parse().unwrap();
        let read = axum::extract::Query::<Asked>::try_from_uri(&uri).map(|_| ());
        let refusal = refusal_of(&mut read.into_response()).await.unwrap();
        assert_eq!(refusal.status, StatusCode::BAD_REQUEST);
        assert_eq!(
            refusal.message.text(Language::English),
            "the address or the form has a value that cannot be read: game: invalid digit found in string"
        );
        let large = (StatusCode::PAYLOAD_TOO_LARGE, "length limit exceeded").into_response();
        let refusal = refusal_of(&mut { large }).await.unwrap();
        assert_eq!(
            refusal.message.text(Language::Japanese),
            "フォームが大きすぎるため、何も実行していません。"
        );
        let own = Refusal::bad(Language::too_many_viewers);
        assert_eq!(refusal_of(&mut own.clone().into_response()).await, Some(own));
        assert_eq!(refusal_of(&mut (StatusCode::OK, "fine").into_response()).await, None);
    }

    #[tokio::test]
    async fn a_program_is_refused_in_json_and_answered_as_it_is() {
        let later = Refusal::too_many(|_| "too many").after(5).in_text(Language::English);
        assert_eq!(later.headers()[header::RETRY_AFTER], "5");
        assert_eq!(told(later).await, (429, r#"{"error":"too many"}"#.to_owned()));
        let page = (StatusCode::NOT_FOUND, axum::response::Html("<p>no</p>")).into_response();
        assert_eq!(told(page).await, (404, r#"{"error":"not found"}"#.to_owned()));
        let bare = StatusCode::METHOD_NOT_ALLOWED.into_response();
        assert_eq!(told(bare).await, (405, r#"{"error":"method not allowed"}"#.to_owned()));
        let known =
            (StatusCode::NOT_FOUND, [(header::CONTENT_TYPE, "application/json")], "[1]").into_response();
        assert_eq!(told(known).await, (404, "[1]".to_owned()));
        assert_eq!(told("fine".into_response()).await, (200, "fine".to_owned()));
    }
}
