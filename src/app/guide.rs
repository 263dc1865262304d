//! The guides, which stand as Markdown in `src/guide/`. Here their links lead to modules instead of files: of two
//! definitions of a link the first holds.

pub mod hosting {
    #![doc = "[configuration]: crate::guide::configuration"]
    #![doc = "[arbiter]: crate::guide::arbiter"]
    #![doc = "[events]: crate::guide::events"]
    #![doc = "[schema]: ../../../journal/index.html"]
    #![doc = include_str!("../guide/hosting.md")]
}

pub mod arbiter {
    #![doc = "[hosting]: crate::guide::hosting"]
    #![doc = include_str!("../guide/arbiter.md")]
}

pub mod events {
    #![doc = include_str!("../guide/events.md")]
}

pub mod floodgate {
    #![doc = "[configuration]: crate::guide::configuration"]
    #![doc = include_str!("../guide/floodgate.md")]
}

pub mod engines {
    #![doc = "[one page]: crate::guide::deep"]
    #![doc = include_str!("../guide/engines.md")]
}

pub mod deep {
    #![doc = include_str!("../guide/deep.md")]
}

pub mod laboratory {
    #![doc = "[configuration]: crate::guide::configuration"]
    #![doc = "[results]: crate::guide::results"]
    #![doc = include_str!("../guide/laboratory.md")]
}

pub mod parts {
    #![doc = "[configuration]: crate::guide::configuration"]
    #![doc = include_str!("../guide/parts.md")]
}

pub mod platforms {
    #![doc = "[architecture guide]: crate::guide::architecture#platform"]
    #![doc = "[Windows]: crate::guide::windows"]
    #![doc = include_str!("../guide/platforms.md")]
}

pub mod windows {
    #![doc = "[platforms]: crate::guide::platforms#renmei-on-windows"]
    #![doc = "[hosting]: crate::guide::hosting"]
    #![doc = "[floodgate]: crate::guide::floodgate"]
    #![doc = "[machines]: crate::guide::machines"]
    #![doc = include_str!("../guide/windows.md")]
}

pub mod desk {
    #![doc = include_str!("../guide/desk.md")]
}

pub mod hall {
    #![doc = "[configuration]: crate::guide::configuration"]
    #![doc = "[web]: crate::guide::web"]
    #![doc = "[arbiter]: crate::guide::arbiter"]
    #![doc = "[engines]: crate::guide::engines"]
    #![doc = include_str!("../guide/hall.md")]
}

pub mod big {
    #![doc = include_str!("../guide/big.md")]
}

pub mod machines {
    #![doc = "[results]: crate::guide::results"]
    #![doc = include_str!("../guide/machines.md")]
}

pub mod configuration {
    #![doc = "[hosting]: crate::guide::hosting"]
    #![doc = include_str!("../guide/configuration.md")]
}

pub mod web {
    #![doc = "[configuration]: crate::guide::configuration"]
    #![doc = include_str!("../guide/web.md")]
}

pub mod architecture {
    #![doc = "[schema]: ../../../journal/index.html"]
    #![doc = include_str!("../guide/architecture.md")]
}

pub mod explain {
    #![doc = "[results]: crate::guide::results#evaluations"]
    #![doc = include_str!("../guide/explain.md")]
}

pub mod results {
    #![doc = "[schema]: ../../../journal/index.html"]
    #![doc = include_str!("../guide/results.md")]
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    /// Each Markdown file that readers of the repository open, with its text.
    fn pages() -> Vec<(String, String)> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let guides = fs::read_dir(root.join("src/guide")).unwrap();
        let guides = guides.map(|entry| format!("src/guide/{}", entry.unwrap().file_name().display()));
        let others = ["README.md", ".github/CONTRIBUTING.md", ".github/SECURITY.md", ".github/CHANGELOG.md"]
            .map(str::to_owned);
        let names = guides.filter(|name| name.ends_with(".md")).chain(others);
        names.map(|name| (name.clone(), fs::read_to_string(root.join(&name)).unwrap())).collect()
    }

    /// Targets of links: `](TARGET)`, and `[name]: TARGET` at the start of a line.
    fn links(text: &str) -> Vec<&str> {
        let inline = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        let defined = text.lines().filter_map(|line| line.strip_prefix('[')?.split_once("]: "));
        inline.chain(defined.map(|(_, target)| target)).collect()
    }

    /// True if a page has a heading that a link calls `anchor`.
    fn has_heading(page: &Path, anchor: &str) -> bool {
        let text = fs::read_to_string(page).unwrap_or_default();
        let of = |heading: &str| {
            let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
            heading.trim().to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-")
        };
        text.lines()
            .filter(|line| line.starts_with('#'))
            .any(|line| of(line.trim_start_matches('#')) == anchor)
    }

    #[test]
    fn every_link_between_pages_leads_to_a_file_and_to_a_heading_in_it() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        for (name, text) in pages() {
            let directory = root.join(&name).parent().unwrap().to_path_buf();
            for target in links(&text).into_iter().filter(|target| !target.contains("://")) {
                let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
                let page = if file.is_empty() { root.join(&name) } else { directory.join(file) };
                let found = page.exists() && (anchor.is_empty() || has_heading(&page, anchor));
                assert!(found, "{name}: there is no {target}");
            }
        }
    }

    #[test]
    fn the_guide_to_the_configuration_names_every_ending() {
        use referee::{AbortBy, DrawBy, WinBy};
        let (_, list) = include_str!("../guide/configuration.md").split_once("The endings are ").unwrap();
        let (list, _) = list.split_once("\n\n").unwrap();
        let drawn = DrawBy::ALL.iter().map(|by| by.name());
        let names = WinBy::ALL.iter().map(|by| by.name()).chain(drawn);
        for name in names.chain(AbortBy::ALL.iter().map(|by| by.name())) {
            let (name, end) = name.split_once(':').map_or((name, "`"), |(family, _)| (family, ":KIND`"));
            assert!(list.contains(&format!("`{name}{end}")), "{name}");
        }
    }

    #[test]
    fn every_path_that_the_architecture_guide_names_exists() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let text = include_str!("../guide/architecture.md");
        let quoted = text.split('`').skip(1).step_by(2);
        let paths: Vec<_> = quoted.filter(|word| word.starts_with("src/") && !word.contains(' ')).collect();
        assert!(paths.len() > 30, "the guide quotes its paths");
        for path in paths {
            assert!(root.join(path).exists(), "there is no {path}");
        }
    }

    #[test]
    fn rooms_import_from_their_own_floor_and_from_those_before_it() {
        const FLOORS: [&str; 7] = ["rules", "base", "play", "lab", "views", "app", "tools"];
        let floor = |path: &str| FLOORS.iter().position(|floor| path.starts_with(&format!("src/{floor}/")));
        let manifest = |path: &str| fs::read_to_string(Path::new(path).join("Cargo.toml")).unwrap();
        let whole = manifest(env!("CARGO_MANIFEST_DIR"));
        let rooms: Vec<(&str, &str)> = whole
            .lines()
            .filter_map(|line| line.split_once(" = { path = \""))
            .filter_map(|(name, rest)| Some((name, rest.split('"').next()?)))
            .collect();
        assert!(rooms.len() > 20, "{rooms:?}");
        for (name, path) in rooms.iter().filter(|(_, path)| floor(path).is_some()) {
            let text = manifest(&format!("{}/{path}", env!("CARGO_MANIFEST_DIR")));
            let text = text.split("[dev-dependencies]").next().unwrap_or_default();
            let needs = |other: &str| text.lines().any(|line| line.split(['.', ' ']).next() == Some(other));
            for (other, place) in rooms.iter().filter(|(other, _)| needs(other)) {
                assert!(floor(place) <= floor(path), "{name} imports {other} from a floor above");
            }
        }
    }

    #[test]
    fn the_readme_has_ten_kilobytes_at_most() {
        let (_, readme) = pages().into_iter().find(|(name, _)| name == "README.md").unwrap();
        assert!(readme.len() <= 10 * 1024, "{} bytes", readme.len());
    }
}
