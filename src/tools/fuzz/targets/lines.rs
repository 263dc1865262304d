//! Lines of engines and of servers, out of the bytes that are read.

use seat::lines::Lines;

/// However the bytes come, the lines are the same: each as it stands between two newlines, without blanks around it.
pub fn lines(data: &[u8]) {
    let mut whole: Vec<&[u8]> = data.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).collect();
    let rest = whole.pop().unwrap_or_default();
    for most in [1, 7, data.len().max(1)] {
        let (mut lines, mut cut) = (Lines::default(), vec![]);
        for part in data.chunks(most) {
            lines.chunk[..part.len()].copy_from_slice(part);
            lines.feed(part.len(), |line| cut.push(line.to_vec()));
        }
        assert_eq!(cut, whole, "in parts of {most} bytes");
        assert_eq!(lines.is_within_line(), !rest.is_empty());
    }
}
