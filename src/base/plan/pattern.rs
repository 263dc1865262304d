//! Patterns for paths: `*` and `?` stand within a name, `**` for any number of directories. Names are separated as paths of
//! the system are: by `/`, on Windows by `\` as well.

use std::path::is_separator;

/// True if a path is one that the pattern names, or lies in a directory that it names. A pattern without a
/// separator is for a name in any directory.
///
/// ```
/// assert!(plan::pattern::covers("*.log", "out/a.log") && plan::pattern::covers("book", "book/learned.db"));
/// assert!(plan::pattern::covers("book/**/*.db", "book/a/b/c.db") && !plan::pattern::covers("book/*.db", "book/a/b.db"));
/// ```
pub fn covers(pattern: &str, path: &str) -> bool {
    let pattern: Vec<&str> = parts(pattern);
    let path: Vec<&str> = parts(path);
    match pattern[..] {
        [name] => path.iter().any(|part| name_matches(name.as_bytes(), part.as_bytes())),
        _ => along(&pattern, &path),
    }
}

/// The directory that a pattern starts from, and whether the pattern is a plain path.
pub fn root(pattern: &str) -> (&str, bool) {
    let Some(wild) = pattern.find(['*', '?']) else { return (pattern, true) };
    let end = pattern[..wild].rfind(is_separator).map_or(0, |slash| slash + 1);
    (&pattern[..end], false)
}

/// True if a name is one that the pattern stands for.
pub fn names(pattern: &str, name: &str) -> bool {
    name_matches(pattern.as_bytes(), name.as_bytes())
}

fn parts(path: &str) -> Vec<&str> {
    let mut path = path.trim_end_matches(is_separator);
    while let Some(rest) = path.strip_prefix('.').and_then(|rest| rest.strip_prefix(is_separator)) {
        path = rest;
    }
    path.split(is_separator).collect()
}

fn along(pattern: &[&str], path: &[&str]) -> bool {
    match pattern {
        [] => true,
        ["**", rest @ ..] => (0..path.len()).any(|skipped| along(rest, &path[skipped..])),
        [name, rest @ ..] => path
            .split_first()
            .is_some_and(|(part, path)| name_matches(name.as_bytes(), part.as_bytes()) && along(rest, path)),
    }
}

fn name_matches(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern, name) {
        ([], []) => true,
        ([b'*', rest @ ..], _) => (0..=name.len()).any(|skipped| name_matches(rest, &name[skipped..])),
        ([b'?', pattern @ ..], [_, name @ ..]) => name_matches(pattern, name),
        ([p, pattern @ ..], [n, name @ ..]) => p == n && name_matches(pattern, name),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_covers_the_paths_that_it_names_and_what_lies_below_them() {
        for (pattern, path) in [
            ("nn.bin", "eval/nn.bin"),
            ("eval/nn.bin", "eval/nn.bin"),
            ("./eval/", "eval/a/b.bin"),
            ("eval/*.bin", "eval/nn.bin"),
            ("/data/nn?.bin", "/data/nn1.bin"),
            ("**/*.log", "a/b/c.log"),
            ("**/c.log", "c.log"),
            ("book/**", "book/a/b"),
        ] {
            assert!(covers(pattern, path), "{pattern} {path}");
        }
        let shown = ["eval", "nn.bin"].join(std::path::MAIN_SEPARATOR_STR);
        assert!(covers("eval/*.bin", &shown) && covers(&shown, &shown), "{shown}");
        for (pattern, path) in [
            ("nn.bin", "eval/nn.bin2"),
            ("eval/nn.bin", "a/eval/nn.bin"),
            ("eval/*.bin", "eval/a/nn.bin"),
            ("eval/x", "eval"),
            ("?.bin", "nn.bin"),
        ] {
            assert!(!covers(pattern, path), "{pattern} {path}");
        }
        assert_eq!(root("eval/*.bin"), ("eval/", false));
        assert_eq!((root("*.py"), root("lib/x.py")), (("", false), ("lib/x.py", true)));
    }
}
