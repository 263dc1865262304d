//! Password hashes: argon2id with 19 MiB and two passes, slow on purpose.

use argon2::{
    Argon2,
    password_hash::{PasswordHasher, PasswordVerifier, phc::PasswordHash},
};

/// Longest password, in bytes; it has to fit in a line of the protocol.
pub const LONGEST: usize = 128;

/// Why a password cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadPassword {
    /// It does not fit in a line of the protocol.
    #[error(
        "a password has 1 to {LONGEST} characters, without blanks, as it stands in a line of the protocol"
    )]
    Form,
    /// It cannot be typed into the pages.
    #[error("a password of the pages has 1 to {LONGEST} bytes, without control characters")]
    Pages,
    /// The system has no random bytes.
    #[error("the password cannot be hashed: the system has no random bytes")]
    Salt,
}

/// The hash of a password with a salt of its own, as a PHC string.
///
/// # Errors
/// When the password does not fit in a line of the protocol, or the system has no random bytes.
pub fn hash(password: &str) -> Result<String, BadPassword> {
    let speakable = |b: u8| b.is_ascii_graphic();
    if password.is_empty() || password.len() > LONGEST || !password.bytes().all(speakable) {
        return Err(BadPassword::Form);
    }
    hashed(password)
}

/// The hash of a password of the pages, which may have blanks and any letters, as no line of the protocol carries it.
///
/// # Errors
/// When it is empty, too long or has control characters, or the system has no random bytes.
pub fn hash_of_pages(password: &str) -> Result<String, BadPassword> {
    if password.is_empty() || password.len() > LONGEST || password.chars().any(char::is_control) {
        return Err(BadPassword::Pages);
    }
    hashed(password)
}

fn hashed(password: &str) -> Result<String, BadPassword> {
    let hash = Argon2::default().hash_password(password.as_bytes());
    hash.map(|hash| hash.to_string()).map_err(|_| BadPassword::Salt)
}

/// True if `hash` was made from this password.
pub fn fits(password: &str, hash: &str) -> bool {
    let known = PasswordHash::new(hash);
    known.is_ok_and(|known| Argon2::default().verify_password(password.as_bytes(), &known).is_ok())
}

/// True if the text is a hash that [`fits`] can read.
pub fn is_hash(text: &str) -> bool {
    PasswordHash::new(text)
        .is_ok_and(|known| known.hash.is_some() && known.algorithm.as_str().starts_with("argon2"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_fits_its_own_hash_alone() {
        let [one, two] = [hash("secret,1").unwrap(), hash("secret,1").unwrap()];
        assert_ne!(one, two, "each has its own salt");
        assert!(is_hash(&one) && !is_hash("secret,1") && !is_hash(""));
        assert!(fits("secret,1", &one) && fits("secret,1", &two));
        assert!(!fits("secret,2", &one) && !fits("", &one) && !fits("secret,1", "nonsense"));
    }

    #[test]
    fn a_password_of_the_pages_may_have_blanks_and_any_letters() {
        for password in ["correct horse battery staple", "桂馬の 高跳び"] {
            let hash = hash_of_pages(password).unwrap();
            assert!(fits(password, &hash) && !fits(&password.replace(' ', ""), &hash));
        }
        assert_eq!(hash_of_pages("two\nlines"), Err(BadPassword::Pages));
    }

    #[test]
    fn what_no_line_of_the_protocol_can_carry_is_no_password() {
        for bad in ["", "two words", "tab\t", "角", &"x".repeat(LONGEST + 1)] {
            assert_eq!(hash(bad), Err(BadPassword::Form), "{bad:?}");
        }
    }
}
