//! Files that pages load: all from this program. Their addresses change with their content, so that a browser keeps them.

use axum::{
    extract::Path,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use flate2::{Compression, write::GzEncoder};
use sha2::{Digest, Sha256};
use std::{borrow::Cow, io::Write, sync::LazyLock};

/// A file.
struct Asset {
    name: &'static str,
    kind: &'static str,
    content: Cow<'static, str>,
    /// The same, compressed; empty if that failed.
    packed: Vec<u8>,
    mark: String,
}

const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
/// The condition of rules for dark windows, as it is written in the style sheets.
const DARK: [&str; 2] = ["(prefers-color-scheme: dark)", "(prefers-color-scheme:dark)"];

static ASSETS: LazyLock<Vec<Asset>> = LazyLock::new(|| {
    let style = format!("{}{}{}", report::plot::rules(), report::html::STYLE, include_str!("assets/web.css"));
    let with = |medium: &str| DARK.iter().fold(style.clone(), |style, dark| style.replace(dark, medium));
    vec![
        // The rules for dark windows apply always, or never.
        Asset::new("dark.css", STYLE, with(" all")),
        Asset::new("light.css", STYLE, with(" not all")),
        Asset::new("style.css", STYLE, style),
        Asset::new("board.js", SCRIPT, include_str!("assets/board.js")),
        Asset::new("viewer.js", SCRIPT, include_str!("assets/viewer.js")),
        Asset::new("live.js", SCRIPT, include_str!("assets/live.js")),
        Asset::new("now.js", SCRIPT, include_str!("assets/now.js")),
        Asset::new("embed.js", SCRIPT, include_str!("assets/embed.js")),
        Asset::new("game.js", SCRIPT, include_str!("assets/game.js")),
        Asset::new("fresh.js", SCRIPT, include_str!("assets/fresh.js")),
        Asset::new("again.js", SCRIPT, include_str!("assets/again.js")),
        Asset::new("home.js", SCRIPT, include_str!("assets/home.js")),
        Asset::new("study.js", SCRIPT, include_str!("assets/study.js")),
        Asset::new("hand.js", SCRIPT, include_str!("assets/hand.js")),
        Asset::new("play.js", SCRIPT, include_str!("assets/play.js")),
        Asset::new("edit.js", SCRIPT, include_str!("assets/edit.js")),
        Asset::new("drop.js", SCRIPT, include_str!("assets/drop.js")),
        Asset::new("summary.js", SCRIPT, include_str!("assets/summary.js")),
        Asset::new("options.js", SCRIPT, include_str!("assets/options.js")),
        Asset::new("times.js", SCRIPT, include_str!("assets/times.js")),
        Asset::new("copy.js", SCRIPT, include_str!("assets/copy.js")),
        Asset::new("icon.svg", "image/svg+xml", include_str!("assets/icon.svg")),
    ]
});

impl Asset {
    fn new(name: &'static str, kind: &'static str, content: impl Into<Cow<'static, str>>) -> Self {
        let content = content.into();
        let digest = Sha256::digest(content.as_bytes());
        let mark = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
        let packed = gzip(content.as_bytes()).unwrap_or_default();
        Self { name, kind, content, packed, mark }
    }
}

fn gzip(content: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(vec![], Compression::best());
    encoder.write_all(content)?;
    encoder.finish()
}

/// The address of a file.
pub fn path(name: &str) -> String {
    let mark = ASSETS.iter().find(|asset| asset.name == name).map_or("", |asset| &asset.mark);
    format!("/static/{name}?{mark}")
}

/// Serves a file, compressed for whoever can read that: the first picture of a page waits for these.
pub async fn serve(asked: HeaderMap, Path(name): Path<String>) -> Response {
    let Some(asset) = ASSETS.iter().find(|asset| asset.name == name) else {
        return (StatusCode::NOT_FOUND, "there is no such file\n").into_response();
    };
    let headers = [
        (header::CONTENT_TYPE, asset.kind),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
        (header::VARY, "Accept-Encoding"),
    ];
    if takes_gzip(&asked) && !asset.packed.is_empty() {
        return (headers, [(header::CONTENT_ENCODING, "gzip")], asset.packed.as_slice()).into_response();
    }
    (headers, asset.content.as_ref()).into_response()
}

/// True if a browser says that it reads gzip.
fn takes_gzip(asked: &HeaderMap) -> bool {
    let encodings = asked.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or("");
    encodings.split(',').any(|word| {
        let (name, weight) = word.split_once(';').unwrap_or((word, ""));
        name.trim().eq_ignore_ascii_case("gzip") && !matches!(weight.trim(), "q=0" | "q=0.0")
    })
}

/// The style sheet of a theme.
#[cfg(test)]
pub(crate) fn style(theme: &str) -> &'static str {
    let name = format!("{theme}.css");
    ASSETS.iter().find(|asset| asset.name == name).map_or("", |asset| &asset.content)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;
    use std::io::Read;

    fn named(name: &str) -> &'static Asset {
        ASSETS.iter().find(|asset| asset.name == name).unwrap()
    }

    #[test]
    fn a_chosen_colour_does_not_ask_what_the_window_prefers() {
        assert!(named("style.css").content.contains("prefers-color-scheme"));
        for chosen in ["dark.css", "light.css"] {
            assert!(!named(chosen).content.contains("prefers-color-scheme"), "{chosen}");
        }
    }

    #[tokio::test]
    async fn files_are_compressed_for_those_who_read_that_and_are_the_same() {
        let ask = async |encodings: &'static str| {
            let asked =
                HeaderMap::from_iter([(header::ACCEPT_ENCODING, HeaderValue::from_static(encodings))]);
            let answer = serve(asked, Path("style.css".to_owned())).await;
            let encoding = answer.headers().get(header::CONTENT_ENCODING).cloned();
            (encoding, axum::body::to_bytes(answer.into_body(), 1 << 20).await.unwrap())
        };
        let whole = named("style.css").content.as_bytes();
        let (encoding, packed) = ask("br, gzip;q=0.8").await;
        assert_eq!(encoding.unwrap(), "gzip");
        assert!(packed.len() * 2 < whole.len(), "{} of {}", packed.len(), whole.len());
        let mut text = vec![];
        flate2::read::GzDecoder::new(&*packed).read_to_end(&mut text).unwrap();
        assert_eq!(text, whole);
        for encodings in ["", "br", "gzip;q=0"] {
            let (encoding, plain) = ask(encodings).await;
            assert!(encoding.is_none() && plain == whole, "{encodings}");
        }
    }
}
