//! Command lines of fastchess and cutechess-cli.

use crate::habits::translate;
use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::OsStrExt,
};

/// A command line, a word on each line: it is refused with words, or it becomes one that is left as it is.
pub fn habits(data: &[u8]) {
    let words = data.split(|byte| *byte == b'\n').map(|word| OsStr::from_bytes(word).to_owned());
    let words: Vec<OsString> = [OsString::from("renmei")].into_iter().chain(words).collect();
    match translate(words) {
        Ok(own) => {
            let again = translate(own.words.clone());
            assert_eq!(again.map(|again| again.words), Ok(own.words));
        }
        Err(fault) => assert!(!fault.to_string().trim().is_empty()),
    }
}
