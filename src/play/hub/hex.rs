//! Hexadecimal digits.

pub use platform::content::hex as encode;

/// `N` bytes of exactly `2 N` digits.
pub fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.as_bytes();
    (digits.len() == 2 * N && digits.iter().all(u8::is_ascii_hexdigit)).then_some(())?;
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}

/// 32 bytes in a JSON file.
pub mod serde32 {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(bytes: &[u8; 32], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&super::encode(bytes))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<[u8; 32], D::Error> {
        let text = String::deserialize(deserializer)?;
        super::decode(&text).ok_or_else(|| D::Error::custom("64 hexadecimal digits are expected"))
    }
}
