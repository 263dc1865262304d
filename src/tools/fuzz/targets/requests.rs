//! Requests at the operator's door, and its answers.

use super::text;
use arena::operations::request::{Answer, Request};
use referee::operation::Whom;
use serde::{Serialize, de::DeserializeOwned};
use std::fmt::Debug;

/// A request is written and read again as the same; so is an answer, which `renmei admin` reads, and the name or address that
/// is banned.
pub fn requests(data: &[u8]) {
    if let Some(request) = read::<Request>(data) {
        let _asked_for = request.command.needs_reason();
    }
    read::<Answer>(data);
    if let Ok(whom) = text(data).parse::<Whom>() {
        assert_eq!(whom.to_string().parse(), Ok(whom));
    }
}

fn read<T: Serialize + DeserializeOwned + PartialEq + Debug>(data: &[u8]) -> Option<T> {
    let read = serde_json::from_slice::<T>(data).ok()?;
    let written = serde_json::to_string(&read).unwrap_or_else(|fault| panic!("{fault}: {read:?}"));
    let again = serde_json::from_str::<T>(&written).unwrap_or_else(|fault| panic!("{fault}: {written}"));
    assert_eq!(again, read, "{written}");
    Some(read)
}
