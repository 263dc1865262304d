//! The guides as HTML, by rustdoc: links between them lead to pages.

use anyhow::{Context, Result, ensure};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};
use xtask::workspace::{self, Scratch, root};

/// Texts outside the directory of the guides.
const OTHERS: [&str; 4] =
    ["README.md", ".github/CHANGELOG.md", ".github/CONTRIBUTING.md", ".github/SECURITY.md"];
const STYLE: &str = "<style>body{max-width:52rem;margin:2rem auto;padding:0 1rem;font:16px/1.55 sans-serif;color:#222;background:#fff}\
    pre{background:#f4f4f4;padding:.7rem;overflow-x:auto}code{font:.9em monospace}table{border-collapse:collapse}\
    td,th{border:1px solid #ccc;padding:.25rem .6rem;text-align:left;vertical-align:top}img{max-width:100%}\
    @media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}pre{background:#262626}a{color:#8ab4f8}td,th{border-color:#555}}</style>";

/// Pages by their sources.
type Pages = BTreeMap<PathBuf, String>;

/// Writes the guides and their pictures into a directory.
pub fn write(to: &Path) -> Result<()> {
    let scratch = Scratch::new("guides")?;
    let style = scratch.file("style.html");
    fs::write(&style, STYLE)?;
    let pages = pages()?;
    for (source, page) in &pages {
        let text =
            fs::read_to_string(source).with_context(|| format!("`{}` cannot be read", source.display()))?;
        let text = ["](", "]: "].iter().fold(text, |text, mark| relinked(&text, mark, source, &pages));
        let copy = scratch.file(&page.replace(".html", ".md"));
        fs::write(&copy, text)?;
        let mut rustdoc = Command::new("rustdoc");
        rustdoc.args(["--markdown-no-toc", "--html-in-header"]).args([&style, &copy]).arg("--output").arg(to);
        ensure!(workspace::run(&mut rustdoc)?.success(), "`{}` could not be converted", source.display());
        if page.ends_with(".ja.html") {
            let html = fs::read_to_string(to.join(page))?.replace("lang=\"en\"", "lang=\"ja\"");
            fs::write(to.join(page), html)?;
        }
    }
    fs::create_dir(to.join("pictures"))?;
    for picture in fs::read_dir(root().join("src/guide/pictures"))? {
        let picture = picture?;
        fs::copy(picture.path(), to.join("pictures").join(picture.file_name()))?;
    }
    Ok(())
}

/// The pages; the README begins.
fn pages() -> Result<Pages> {
    let guides = fs::read_dir(root().join("src/guide"))?.flatten().map(|entry| entry.path());
    let sources = guides.chain(OTHERS.map(|other| root().join(other)));
    let page = |source: PathBuf| {
        let source = source.canonicalize().ok()?;
        let stem = source.file_stem()?.to_string_lossy().replace("README", "index").to_lowercase();
        source.extension().is_some_and(|end| end == "md").then(|| (source, format!("{stem}.html")))
    };
    Ok(sources.filter_map(page).collect())
}

/// A text whose links behind this mark lead to pages.
fn relinked(text: &str, mark: &str, source: &Path, pages: &Pages) -> String {
    let mut parts = text.split(mark);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let end = part.find([')', '\n', ' ']).unwrap_or(part.len());
        text + mark + &target(&part[..end], source, pages) + &part[end..]
    })
}

/// Where a link leads: to a page, to a picture; to a file that is not packed, nowhere.
fn target(link: &str, source: &Path, pages: &Pages) -> String {
    let at = link.find('#').unwrap_or(link.len());
    let (file, heading) = link.split_at(at);
    let named =
        source.parent().filter(|_| !file.is_empty()).and_then(|from| from.join(file).canonicalize().ok());
    match named.map(|file| (pages.get(&file).cloned(), file)) {
        None => link.to_owned(),
        Some((Some(page), _)) => page + heading,
        Some((None, file)) if file.extension().is_some_and(|end| end == "png") => {
            format!("pictures/{}", file.file_name().unwrap_or_default().display())
        }
        Some(_) => "#".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_link_of_a_packed_guide_leads_to_a_packed_file_and_its_heading() {
        let place = Scratch::new("guides-test").unwrap();
        write(&place.file("")).unwrap();
        let mut links = 0;
        for page in pages().unwrap().values() {
            let text = fs::read_to_string(place.file(page)).unwrap();
            let marks = text.split("href=\"").skip(1).chain(text.split("src=\"").skip(1));
            for link in marks.filter_map(|rest| rest.split('"').next()).filter(|link| !link.contains("://")) {
                let (file, heading) = link.split_once('#').unwrap_or((link, ""));
                let to = place.file(if file.is_empty() { page } else { file });
                let found = fs::read(&to).unwrap_or_else(|_| panic!("{page}: there is no {link}"));
                let heading = format!("id=\"{heading}\"");
                let is_there = String::from_utf8_lossy(&found).contains(&heading);
                assert!(heading == "id=\"\"" || is_there, "{page}: {link}");
                links += 1;
            }
        }
        assert!(links > 50, "{links} links");
        let index = |name: &str| fs::read_to_string(place.file(name)).unwrap();
        assert!(index("index.html").contains("href=\"platforms.html\""));
        assert!(index("index.ja.html").contains("lang=\"ja\""));
    }
}
