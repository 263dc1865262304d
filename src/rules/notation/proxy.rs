//! The PROXY protocol (HAProxy, version 1 and 2): the header in which a reverse proxy names the address of its client.
//!
//! Read [`BEGINNING`] bytes, then as many as [`missing`] asks for, until it returns 0: the bytes after that belong to the
//! client.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Least length of a header, in bytes.
pub const BEGINNING: usize = 12;
/// Greatest length of a header of version 1, with its line end.
const LINE: usize = 107;
/// Greatest length of the addresses and further fields of version 2; the fields are ignored.
const FIELDS: usize = 2048;
/// The beginning of a header of version 2.
const SIGNATURE: &[u8; 12] = b"\r\n\r\n\0\r\nQUIT\n";
/// Length of a header of version 2 before the addresses.
const FIXED: usize = 16;

/// The bytes are not a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a connection from a trusted proxy must begin with a header of the PROXY protocol, version 1 or 2")]
pub struct NotAHeader;

/// Least number of bytes missing from a header that begins with these; 0 for a complete header.
///
/// # Errors
/// When no header begins with these bytes.
pub fn missing(bytes: &[u8]) -> Result<usize, NotAHeader> {
    if bytes.len() < BEGINNING {
        return Ok(BEGINNING - bytes.len());
    }
    if bytes.starts_with(SIGNATURE) {
        let Some(length) = bytes.get(14..FIXED) else { return Ok(FIXED - bytes.len()) };
        let length = usize::from(u16::from_be_bytes([length[0], length[1]]));
        return if length > FIELDS {
            Err(NotAHeader)
        } else {
            Ok((FIXED + length).saturating_sub(bytes.len()))
        };
    }
    match bytes.starts_with(b"PROXY ") {
        true if bytes.ends_with(b"\r\n") => Ok(0),
        true if bytes.len() < LINE => Ok(1),
        _ => Err(NotAHeader),
    }
}

/// The address of the client in a complete header; `None` for a connection of the proxy itself, or if unknown.
///
/// # Errors
/// When the bytes are not a header.
pub fn client(header: &[u8]) -> Result<Option<IpAddr>, NotAHeader> {
    match header.strip_prefix(SIGNATURE) {
        Some(rest) => binary(rest),
        None => line(header),
    }
}

fn line(header: &[u8]) -> Result<Option<IpAddr>, NotAHeader> {
    let text = std::str::from_utf8(header).map_err(|_| NotAHeader)?.strip_suffix("\r\n").ok_or(NotAHeader)?;
    let words: Vec<&str> = text.split(' ').collect();
    let port = |word: &str| word.parse::<u16>().is_ok();
    match words[..] {
        ["PROXY", "UNKNOWN", ..] => Ok(None),
        ["PROXY", family @ ("TCP4" | "TCP6"), from, to, source, target] if port(source) && port(target) => {
            let address = |word: &str| -> Option<IpAddr> {
                match family {
                    "TCP4" => word.parse::<Ipv4Addr>().ok().map(IpAddr::from),
                    _ => word.parse::<Ipv6Addr>().ok().map(IpAddr::from),
                }
            };
            address(from).filter(|_| address(to).is_some()).map(Some).ok_or(NotAHeader)
        }
        _ => Err(NotAHeader),
    }
}

fn binary(rest: &[u8]) -> Result<Option<IpAddr>, NotAHeader> {
    let [command, family, _, _, addresses @ ..] = rest else { return Err(NotAHeader) };
    match (command, family) {
        (0x20, _) => Ok(None),
        (0x21, 0x11) => {
            let from: [u8; 4] =
                addresses.get(..12).ok_or(NotAHeader)?[..4].try_into().map_err(|_| NotAHeader)?;
            Ok(Some(IpAddr::from(from)))
        }
        (0x21, 0x21) => {
            let from: [u8; 16] =
                addresses.get(..36).ok_or(NotAHeader)?[..16].try_into().map_err(|_| NotAHeader)?;
            Ok(Some(IpAddr::from(from)))
        }
        // Unspecified and Unix sockets: the proxy has no address for us.
        (0x21, 0x00 | 0x31) => Ok(None),
        _ => Err(NotAHeader),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads as a host does: returns the client and what is left for it.
    fn read(all: &[u8]) -> Result<(Option<IpAddr>, &[u8]), NotAHeader> {
        let mut taken = 0;
        loop {
            match missing(&all[..taken])? {
                0 => return client(&all[..taken]).map(|found| (found, &all[taken..])),
                more if taken + more > all.len() => return Err(NotAHeader),
                more => taken += more,
            }
        }
    }

    #[test]
    fn both_versions_name_the_client_and_leave_it_what_follows() {
        let v4: IpAddr = "192.0.2.7".parse().unwrap();
        let v6: IpAddr = "2001:db8::7".parse().unwrap();
        assert_eq!(
            read(b"PROXY TCP4 192.0.2.7 10.0.0.1 4711 4081\r\nLOGIN a b\n"),
            Ok((Some(v4), &b"LOGIN a b\n"[..]))
        );
        assert_eq!(read(b"PROXY TCP6 2001:db8::7 ::1 4711 4081\r\n"), Ok((Some(v6), &b""[..])));
        assert_eq!(read(b"PROXY UNKNOWN\r\nx"), Ok((None, &b"x"[..])));
        let mut binary = SIGNATURE.to_vec();
        binary.extend([0x21, 0x11, 0, 14, 192, 0, 2, 7, 10, 0, 0, 1, 1, 2, 3, 4, 9, 9]);
        binary.extend(b"LOGIN a b\n");
        assert_eq!(read(&binary), Ok((Some(v4), &b"LOGIN a b\n"[..])), "further fields are skipped");
        let mut binary = SIGNATURE.to_vec();
        binary.extend([0x21, 0x21, 0, 36]);
        binary.extend("2001:db8::7".parse::<Ipv6Addr>().unwrap().octets());
        binary.extend([0; 20]);
        assert_eq!(read(&binary), Ok((Some(v6), &b""[..])));
        let mut check = SIGNATURE.to_vec();
        check.extend([0x20, 0, 0, 0]);
        assert_eq!(read(&check), Ok((None, &b""[..])), "a proxy that looks whether we are alive");
    }

    #[test]
    fn what_is_no_header_is_refused_before_it_grows() {
        for wrong in [
            &b"LOGIN someone secret\r\n"[..],
            b"PROXY TCP4 2001:db8::7 ::1 4711 4081\r\n",
            b"PROXY TCP4 192.0.2.7 10.0.0.1 4711 99999\r\n",
            b"PROXY TCP4 192.0.2.7\r\n",
            b"PROXYTCP4 192.0.2.7 10.0.0.1 1 1\r\n",
        ] {
            assert_eq!(read(wrong), Err(NotAHeader), "{}", wrong.escape_ascii());
        }
        let endless = [b"PROXY TCP4 ".as_slice(), &[b'1'; 200]].concat();
        assert_eq!(read(&endless), Err(NotAHeader));
        let mut long = SIGNATURE.to_vec();
        long.extend([0x21, 0x11, 0xff, 0xff]);
        assert_eq!(missing(&long), Err(NotAHeader));
        let mut short = SIGNATURE.to_vec();
        short.extend([0x21, 0x11, 0, 4, 1, 2, 3, 4]);
        assert_eq!(read(&short), Err(NotAHeader));
    }
}
