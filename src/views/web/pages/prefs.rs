//! Choices of language and colours, kept in cookies.

use crate::visitor::Theme;
use axum::{
    extract::Query,
    http::{StatusCode, header},
    response::{AppendHeaders, IntoResponse, Response},
};
use serde::Deserialize;
use words::Language;

/// The choice, and the page to go back to.
#[derive(Deserialize)]
pub struct Choice {
    lang: Option<String>,
    theme: Option<String>,
    back: Option<String>,
}

/// Keeps a choice for a year and goes back. Nowhere else: an address with a host would lead strangers away.
pub async fn choose(Query(choice): Query<Choice>) -> Response {
    let lang = choice.lang.as_deref().and_then(Language::of).map(|lang| ("lang", lang.code()));
    let theme = choice.theme.as_deref().and_then(Theme::of).map(|theme| ("theme", theme.word()));
    let kept = |(name, value)| {
        (header::SET_COOKIE, format!("{name}={value}; Path=/; Max-Age=31536000; SameSite=Lax; HttpOnly"))
    };
    let cookies = AppendHeaders(lang.into_iter().chain(theme).map(kept).collect::<Vec<_>>());
    let back = choice.back.filter(|back| is_here(back)).unwrap_or_else(|| "/".to_owned());
    (StatusCode::SEE_OTHER, [(header::LOCATION, back)], cookies).into_response()
}

/// True if an address is a path of this site.
fn is_here(path: &str) -> bool {
    path.starts_with('/')
        && !path.starts_with("//")
        && path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_leads_back_to_this_site_only() {
        assert!(is_here("/games/7?x=1"));
        for elsewhere in
            ["//evil.example", "https://evil.example", "/\\evil.example", "/a\r\nSet-Cookie: x", ""]
        {
            assert!(!is_here(elsewhere), "{elsewhere}");
        }
    }
}
