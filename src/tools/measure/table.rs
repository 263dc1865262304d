//! Tables of plain text.

/// Rows below a header; the first column left-aligned, the others right-aligned.
pub fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(String::as_str);
        cells.chain(header.get(column).copied()).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let header = header.iter().map(|head| (*head).to_owned()).collect::<Vec<_>>();
    std::iter::once(&header).chain(rows).map(|row| line(row, &widths)).collect()
}

/// Rows of cells with the headers of their columns, the same in all rows.
pub fn columns(rows: &[Vec<(&str, String)>]) -> String {
    let header: Vec<&str> = rows.iter().take(1).flatten().map(|(head, _)| *head).collect();
    let cells = |row: &Vec<(&str, String)>| row.iter().map(|(_, cell)| cell.clone()).collect();
    table(&header, &rows.iter().map(cells).collect::<Vec<_>>())
}

fn line(row: &[String], widths: &[usize]) -> String {
    let cells = row.iter().zip(widths).enumerate().map(|(column, (cell, width))| {
        if column == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
    });
    cells.collect::<Vec<_>>().join("  ") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_right_aligned_below_their_header() {
        let rows = [vec!["king".to_owned(), "7".to_owned()], vec!["a".to_owned(), "12345".to_owned()]];
        assert_eq!(table(&["what", "us"], &rows), "what     us\nking      7\na     12345\n");
    }
}
