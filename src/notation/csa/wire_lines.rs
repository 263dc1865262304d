//! The recorded transcripts, for tests.

use std::path::Path;

/// A line of a transcript.
#[derive(Debug)]
pub struct Line {
    /// The connection.
    pub client: String,
    /// Whether the client sent the line.
    pub by_client: bool,
    /// The line.
    pub text: String,
}

/// Every transcript by name; none, with a note on stderr, if they are absent.
pub fn transcripts() -> Vec<(String, Vec<Line>)> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/protocol/transcripts");
    let Ok(files) = std::fs::read_dir(&dir) else {
        eprintln!("no transcripts in {}: nothing is compared", dir.display());
        return vec![];
    };
    let mut paths: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    paths.sort();
    let read = |path: std::path::PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        (path.file_stem().unwrap().to_string_lossy().into_owned(), text.lines().filter_map(parsed).collect())
    };
    paths.into_iter().map(read).collect()
}

/// `<seconds> <client> <direction> <line>`; notes are left out.
fn parsed(line: &str) -> Option<Line> {
    let (client, rest) = line.trim_start().split_once(' ')?.1.trim_start().split_once(' ')?;
    let (direction, text) = rest.trim_start().split_at_checked(1)?;
    let text = text.strip_prefix(' ').unwrap_or(text);
    let text = match text {
        "(LF only)" | "(CRLF only)" => "",
        text => text.strip_suffix("\\r\\n").unwrap_or(text),
    };
    let by_client = match direction {
        ">" => true,
        "<" => false,
        _ => return None,
    };
    Some(Line { client: client.to_owned(), by_client, text: text.to_owned() })
}
