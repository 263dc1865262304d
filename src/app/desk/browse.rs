//! The folders of this machine, for somebody who looks for engines: directories and programs by their names. No file is read.

use crate::{Asked, engine::address, refused};
use maud::{Markup, html};
use plan::EnginePlan;
use std::{
    fs, io,
    path::{Path, PathBuf},
};
use web::{
    layout::{Page, percent},
    refusals::Refusal,
};
use words::Language;

/// Most entries of a folder that are shown.
const MOST: usize = 2000;

/// What a folder has.
#[derive(Debug, Default, PartialEq, Eq)]
struct Folder {
    path: PathBuf,
    folders: Vec<String>,
    programs: Vec<String>,
    /// Other files, where one is chosen.
    files: Vec<String>,
    /// True if it has more than is shown.
    more: bool,
}

/// Reads a folder: names that are not hidden, with `all` also those of files that are no programs.
fn look(path: &Path, all: bool) -> io::Result<Folder> {
    // What `canonicalize` makes of a path on Windows, few programs can begin in.
    let path = std::path::absolute(path)?;
    let (mut folders, mut programs, mut files, mut more) = (vec![], vec![], vec![], false);
    for entry in fs::read_dir(&path)? {
        let Ok(entry) = entry else { continue };
        let Ok(name) = entry.file_name().into_string() else { continue };
        let at = entry.path();
        let is_hidden = name.starts_with('.') || name.contains(char::is_control);
        more |= folders.len() + programs.len() + files.len() >= MOST;
        if is_hidden || more {
            continue;
        }
        if at.is_dir() {
            folders.push(name);
        } else if all && at.is_file() {
            files.push(name);
        } else if platform::files::is_program(&at) {
            programs.push(name);
        }
    }
    let by_name = |names: &mut Vec<String>| names.sort_by_key(|name| name.to_lowercase());
    by_name(&mut folders);
    by_name(&mut programs);
    by_name(&mut files);
    Ok(Folder { path, folders, programs, files, more })
}

fn begin() -> PathBuf {
    std::env::home_dir().unwrap_or_else(|| PathBuf::from(std::path::MAIN_SEPARATOR_STR))
}

/// Where engines are often found: the home of the user, beside this program, where packages put them, and all disks.
fn places() -> Vec<PathBuf> {
    let beside = std::env::current_exe().ok().and_then(|program| Some(program.parent()?.to_path_buf()));
    let games = platform::programs::GAMES.iter().map(PathBuf::from);
    let found = [begin()].into_iter().chain(beside).chain(games).filter(|place| place.is_dir());
    found.chain(platform::files::drives()).collect()
}

/// The page of a folder.
pub(crate) fn page(Asked { words, fields, .. }: Asked) -> Result<Page, Refusal> {
    let path = Some(fields.text("path")).filter(|path| !path.is_empty()).map_or_else(begin, PathBuf::from);
    let chosen = (fields.text("for"), fields.text("option"));
    let chosen = Some(chosen).filter(|(engine, _)| !engine.is_empty());
    let folder = look(&path, chosen.is_some());
    let folder = folder.map_err(|error| refused(format!("{}: {error}", path.display())))?;
    Ok(Page::new(words.add_engines(), "/engines", shown(words, &folder, chosen)))
}

/// The address of the folders for an option of an engine: where its value is, or beside the program.
pub(crate) fn for_option(engine: &EnginePlan, option: &str) -> String {
    let value = engine.options.iter().find(|(name, _)| name == option).map(|(_, value)| PathBuf::from(value));
    let beside = engine.command.parent().map(Path::to_path_buf).unwrap_or_else(begin);
    let at = value
        .map(|value| beside.join(value))
        .and_then(|at| at.ancestors().find(|at| at.is_dir()).map(Path::to_path_buf));
    let (path, name) = (at.unwrap_or(beside), &engine.name);
    format!(
        "/engines/browse?for={}&option={}&path={}",
        percent(name),
        percent(option),
        percent(&path.to_string_lossy())
    )
}

/// The page of a folder, to add its programs, or to choose a file of it for an engine and its option.
fn shown(words: Language, folder: &Folder, chosen: Option<(&str, &str)>) -> Markup {
    let asked = chosen.map(|(engine, option)| format!("for={}&option={}&", percent(engine), percent(option)));
    let to = |path: &Path| {
        format!(
            "/engines/browse?{}path={}",
            asked.as_deref().unwrap_or_default(),
            percent(&path.to_string_lossy())
        )
    };
    html! {
        @match chosen {
            Some((engine, option)) => { a.crumb href=(address(engine)) { (engine) " ›" } h1 { (option) } },
            None => h1 { (words.add_engines()) },
        }
        form.order.line method="get" action="/engines/browse" {
            @if let Some((engine, option)) = chosen {
                input type="hidden" name="for" value=(engine);
                input type="hidden" name="option" value=(option);
            }
            label { span { (words.folder()) } input name="path" value=(folder.path.display()) spellcheck="false"; }
            button { (words.open_folder()) }
        }
        p { @for place in places() { a href=(to(&place)) { (place.display()) } " " } }
        ul.folders {
            @if let Some(above) = folder.path.parent() { li { a href=(to(above)) { (words.folder_above()) } } }
            @for name in &folder.folders { li { a href=(to(&folder.path.join(name))) { (name) "/" } } }
        }
        @match chosen {
            Some((engine, option)) => (files(words, folder, engine, option)),
            None if folder.programs.is_empty() => p { (words.no_program_here()) },
            None => form.order method="post" action="/engines/add" {
                p { (words.choose_programs()) }
                @for name in &folder.programs {
                    label.tick { input type="checkbox" name="program" value=(folder.path.join(name).display()); span { (name) } }
                }
                p.buttons { button.main { (words.add_chosen()) } }
            },
        }
        @if folder.more { p { (words.first_of_folder(MOST)) } }
    }
}

/// The files of a folder, and the folder itself, as values of an option.
fn files(words: Language, folder: &Folder, engine: &str, option: &str) -> Markup {
    let field = format!("option:{option}");
    html! { form.order method="post" action="/engine" {
        input type="hidden" name="engine" value=(engine);
        ul.folders { @for name in &folder.files { li { button.quiet name=(field) value=(folder.path.join(name).display()) { (name) } } } }
        p.buttons { button name=(field) value=(folder.path.display()) { (words.choose_this_folder()) } }
    } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_shows_folders_and_programs_and_nothing_of_files() {
        let dir = tempfile::tempdir().unwrap();
        let program = format!("engine{}", std::env::consts::EXE_SUFFIX);
        for name in [&program, ".hidden"] {
            fs::copy(std::env::current_exe().unwrap(), dir.path().join(name)).unwrap();
        }
        fs::write(dir.path().join("notes.txt"), "secret").unwrap();
        fs::create_dir(dir.path().join("Books")).unwrap();
        let folder = look(dir.path(), false).unwrap();
        assert_eq!((folder.folders, folder.programs), (vec!["Books".to_owned()], vec![program]));
        assert!(look(&dir.path().join("notes.txt"), true).is_err());
        let page = shown(Language::English, &look(dir.path(), false).unwrap(), None).into_string();
        assert!(page.contains("engine") && !page.contains("notes") && !page.contains("secret"), "{page}");
        let chosen = shown(Language::English, &look(dir.path(), true).unwrap(), Some(("gps", "BookFile")))
            .into_string();
        assert!(chosen.contains("notes.txt") && chosen.contains("name=\"option:BookFile\""), "{chosen}");
        assert!(!chosen.contains(".hidden") && !chosen.contains("secret"), "{chosen}");
    }
}
