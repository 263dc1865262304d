//! Refusals: a status and a sentence, for people as text or a page, for programs as JSON.

use axum::{
    body::{Body, to_bytes},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};

/// Longest sentence of a refusal that is passed on, in bytes.
const SENTENCE: usize = 4096;

/// Whether programs ask for this path: all of it is JSON, refusals too.
#[must_use]
pub fn is_for_programs(path: &str) -> bool {
    path.starts_with("/api/")
}

/// A refusal as text.
#[must_use]
pub fn of(status: StatusCode, words: &str) -> Response {
    (status, format!("{words}\n")).into_response()
}

/// A refusal that ends after so many seconds.
#[must_use]
pub fn later(status: StatusCode, seconds: u32, words: &str) -> Response {
    (status, [(header::RETRY_AFTER, seconds.to_string())], format!("{words}\n")).into_response()
}

/// A refusal as it goes over a connection that is closed after it.
#[must_use]
pub fn raw(status: StatusCode, words: &str, for_programs: bool) -> String {
    let (kind, words) = match for_programs {
        true => ("application/json", json(words)),
        false => ("text/plain; charset=utf-8", format!("{words}\n")),
    };
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nRetry-After: 30\r\nContent-Length: {}\r\nConnection: close\r\n\r\n\
         {words}",
        words.len()
    )
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

/// Whether an answer has content of a kind.
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
    async fn a_program_is_refused_in_json_and_answered_as_it_is() {
        let later = later(StatusCode::TOO_MANY_REQUESTS, 5, "too many");
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
