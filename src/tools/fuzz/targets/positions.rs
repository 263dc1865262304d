//! Files of positions that `renmei check` asks an engine for moves in.

use crate::scratch::Scratch;
use check::{CheckError, Request, check};

/// A file is refused with its line, or the engine is asked for, which is not there.
pub fn positions(data: &[u8]) {
    let place = Scratch::new();
    let file = place.file("positions", data);
    let request = Request { positions: Some(file), ..Request::new(place.path("no-engine")) };
    match check(&request, |_| ()) {
        Err(CheckError::Start(..) | CheckError::File(..)) => {}
        Err(CheckError::Position { line, fault, .. }) => {
            let lines = data.split(|byte| *byte == b'\n').count();
            assert!((1..=lines).contains(&line) && !fault.to_string().trim().is_empty(), "{line}: {fault}");
        }
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("an engine that is not there was examined"),
    }
}
