//! The guides as HTML: links between them lead to pages, and those to files that are not packed are plain words.

use crate::tree::{Tree, read};
use anyhow::{Context, Result};
use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html};
use std::{
    collections::BTreeMap,
    fs,
    path::{Component, Path, PathBuf},
};

/// Texts outside the directory of the guides.
const OTHERS: [&str; 4] =
    ["README.md", ".github/CHANGELOG.md", ".github/CONTRIBUTING.md", ".github/SECURITY.md"];
const GUIDES: &str = "src/guide";
const PICTURES: &str = "src/guide/pictures";
const STYLE: &str = "body{max-width:52rem;margin:2rem auto;padding:0 1rem;font:16px/1.55 sans-serif;color:#222;background:#fff}\
    pre{background:#f4f4f4;padding:.7rem;overflow-x:auto}code{font:.9em monospace}table{border-collapse:collapse}\
    td,th{border:1px solid #ccc;padding:.25rem .6rem;text-align:left;vertical-align:top}img{max-width:100%}\
    @media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}pre{background:#262626}a{color:#8ab4f8}td,th{border-color:#555}}";

/// Packed pages by the paths of their sources in the repository.
type Pages = BTreeMap<PathBuf, String>;

/// Adds the guides to a tree, below `guides`.
pub fn add(tree: &mut Tree, root: &Path) -> Result<()> {
    let pages = pages(root)?;
    for (source, page) in &pages {
        let text = fs::read_to_string(root.join(source))
            .with_context(|| format!("`{}` cannot be read", source.display()))?;
        tree.add(&format!("guides/{page}"), html(&text, source, &pages));
    }
    for picture in fs::read_dir(root.join(PICTURES))? {
        let picture = picture?;
        tree.add(&format!("guides/pictures/{}", picture.file_name().display()), read(&picture.path())?);
    }
    Ok(())
}

fn pages(root: &Path) -> Result<Pages> {
    let listed = fs::read_dir(root.join(GUIDES)).context("the guides cannot be listed")?;
    let guides = listed.flatten().map(|entry| Path::new(GUIDES).join(entry.file_name()));
    let sources = guides.chain(OTHERS.map(PathBuf::from));
    let sources = sources.filter(|path| path.extension().is_some_and(|end| end == "md"));
    Ok(sources.map(|source| (source.clone(), page(&source))).collect())
}

/// The name of a page: the README begins.
fn page(source: &Path) -> String {
    let stem = source.file_stem().unwrap_or_default().to_string_lossy().replace("README", "index");
    format!("{}.html", stem.to_lowercase())
}

fn html(text: &str, source: &Path, pages: &Pages) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let events = named(Parser::new_ext(text, options).collect());
    let mut dropped = Vec::new();
    let events = events.into_iter().filter_map(|event| relinked(event, source, pages, &mut dropped));
    let mut body = String::new();
    html::push_html(&mut body, events);
    let japanese = source.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with(".ja"));
    let language = if japanese { "ja" } else { "en" };
    let title = text.lines().next().unwrap_or_default().trim_start_matches(['#', ' ']);
    format!(
        "<!doctype html>\n<html lang=\"{language}\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n{body}</html>\n"
    )
}

/// Gives headings the names by which links know them.
fn named(mut events: Vec<Event<'_>>) -> Vec<Event<'_>> {
    let mut begun = None;
    let mut words = String::new();
    for at in 0..events.len() {
        match &events[at] {
            Event::Start(Tag::Heading { .. }) => {
                begun = Some(at);
                words.clear();
            }
            Event::Text(text) | Event::Code(text) => words += text,
            Event::End(TagEnd::Heading(_)) => {
                if let Some(Event::Start(Tag::Heading { id, .. })) =
                    begun.take().map(|begun| &mut events[begun])
                {
                    *id = Some(CowStr::from(anchor(&words)));
                }
            }
            _ => {}
        }
    }
    events
}

fn anchor(heading: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    heading.trim().to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-")
}

/// An event with its link led to what is packed; `None` for the ends of a link that is dropped.
fn relinked<'a>(
    event: Event<'a>,
    source: &Path,
    pages: &Pages,
    dropped: &mut Vec<bool>,
) -> Option<Event<'a>> {
    match event {
        Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
            let target = target(&dest_url, source, pages);
            dropped.push(target.is_none());
            let dest_url = target?.into();
            Some(Event::Start(Tag::Link { link_type, dest_url, title, id }))
        }
        Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
            let name = dest_url.rsplit('/').next().unwrap_or_default();
            let dest_url = format!("pictures/{name}").into();
            Some(Event::Start(Tag::Image { link_type, dest_url, title, id }))
        }
        Event::End(TagEnd::Link) => (!dropped.pop().unwrap_or_default()).then_some(event),
        event => Some(event),
    }
}

/// Where a link leads in the packed guides.
fn target(link: &str, source: &Path, pages: &Pages) -> Option<String> {
    if link.contains("://") || link.starts_with('#') {
        return Some(link.to_owned());
    }
    let (file, anchor) =
        link.split_once('#').map_or((link, String::new()), |(file, at)| (file, format!("#{at}")));
    let page = pages.get(&resolved(source.parent()?, Path::new(file)))?;
    Some(format!("{page}{anchor}"))
}

/// A path of the repository without `.` and `..`.
fn resolved(directory: &Path, file: &Path) -> PathBuf {
    directory.join(file).components().fold(PathBuf::new(), |mut path, part| {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                path.pop();
            }
            part => path.push(part),
        }
        path
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use xtask::workspace::root;

    #[test]
    fn every_link_of_a_packed_guide_leads_to_a_packed_file_and_its_heading() {
        let mut tree = Tree::default();
        add(&mut tree, &root()).unwrap();
        let page = |path: &str| tree.get(path).map(|file| String::from_utf8_lossy(&file.bytes).into_owned());
        let mut links = 0;
        for (path, file) in tree.files().filter(|(path, _)| path.ends_with(".html")) {
            let text = String::from_utf8_lossy(&file.bytes);
            let marks = text.split("href=\"").skip(1).chain(text.split("src=\"").skip(1));
            for link in marks.filter_map(|rest| rest.split('"').next()).filter(|link| !link.contains("://")) {
                let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
                let to = if file.is_empty() { path.to_owned() } else { format!("guides/{file}") };
                let found = page(&to).unwrap_or_else(|| panic!("{path}: there is no {link}"));
                assert!(anchor.is_empty() || found.contains(&format!("id=\"{anchor}\"")), "{path}: {link}");
                links += 1;
            }
        }
        assert!(links > 50, "{links} links");
        assert!(page("guides/index.html").unwrap().contains("href=\"platforms.html\""));
    }

    #[test]
    fn a_link_to_a_file_that_is_not_packed_is_plain_words() {
        let pages = Pages::from([(PathBuf::from("src/guide/web.md"), "web.html".to_owned())]);
        let source = Path::new(".github/CONTRIBUTING.md");
        let told = html("[a](../src/guide/web.md#one) [b](../src/x.rs) `c`", source, &pages);
        assert!(told.contains("<p><a href=\"web.html#one\">a</a> b <code>c</code></p>"), "{told}");
    }
}
