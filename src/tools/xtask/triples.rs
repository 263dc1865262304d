//! Lists of entries of three lines each, with comments (`#`) and empty lines between them.

/// The entries; lines at the end that are no entry are left out.
pub fn triples(text: &str) -> Vec<[&str; 3]> {
    let rows: Vec<_> =
        text.lines().map(str::trim).filter(|row| !row.is_empty() && !row.starts_with('#')).collect();
    rows.as_chunks().0.to_vec()
}
