//! Lines of engines.

use notation::usi::{EngineLine, EngineLineRef, UNKNOWN_KEPT};

/// Lines of an engine: read, written, and read again as the same.
pub fn lines(data: &[u8]) {
    let mut declared = Vec::new();
    for line in data.split(|byte| *byte == b'\n') {
        engine(line);
        if let EngineLine::Option(option) = EngineLine::parse(line) {
            declared.push(option);
        }
        let Ok(text) = str::from_utf8(line) else { continue };
        for option in &declared {
            // Nothing but a text of the fault.
            let _told = option.check(text).map_err(|fault| fault.to_string());
        }
    }
}

fn engine(line: &[u8]) {
    let read = EngineLine::parse(line);
    // What is kept of a long unknown line may mean something: it is only shown.
    if !matches!(&read, EngineLine::Unknown(kept) if kept.len() < String::from_utf8_lossy(line).trim_ascii().len())
    {
        let written = read.to_string();
        assert_eq!(EngineLine::parse(written.as_bytes()), read, "{written}");
    }
    match EngineLineRef::parse(line) {
        EngineLineRef::Info(info) => {
            let read = info.read();
            assert!(read.score.is_none() || !info.bytes().is_empty());
            let _scores = info.scores_best_line();
        }
        EngineLineRef::BestMove(_) => assert!(matches!(read, EngineLine::BestMove { .. }), "{read:?}"),
        EngineLineRef::Other(other) => assert_eq!(other.read(), read),
    }
    if let EngineLine::Unknown(kept) = read {
        assert!(kept.len() <= UNKNOWN_KEPT);
    }
}
