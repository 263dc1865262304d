//! Names of players as the CSA protocol can spell them: letters, digits and `_ - @ .` alone.
//!
//! Kana become romaji (Hepburn, long vowels doubled), full-width letters their plain form. A run of anything else, kanji for
//! example, becomes one `_`. No two players of a field get the same name.

use super::wire::{NAME_MAX, is_player_name};

/// Hiragana in the order of Unicode, from U+3041; small ones that change the kana before them begin with `~`.
const KANA: [&str; 86] = [
    "a", "a", "i", "i", "u", "u", "e", "e", "o", "o", "ka", "ga", "ki", "gi", "ku", "gu", "ke", "ge", "ko",
    "go", "sa", "za", "shi", "ji", "su", "zu", "se", "ze", "so", "zo", "ta", "da", "chi", "ji", "*", "tsu",
    "zu", "te", "de", "to", "do", "na", "ni", "nu", "ne", "no", "ha", "ba", "pa", "hi", "bi", "pi", "fu",
    "bu", "pu", "he", "be", "pe", "ho", "bo", "po", "ma", "mi", "mu", "me", "mo", "~ya", "ya", "~yu", "yu",
    "~yo", "yo", "ra", "ri", "ru", "re", "ro", "wa", "wa", "i", "e", "o", "n", "vu", "ka", "ke",
];
/// Small vowels, which replace the vowel before them: `fa`, `ti`, `wi`.
const SMALL_VOWELS: &str = "ぁぃぅぇぉ";

/// The names of a field in the protocol's letters, in the field's order. A name that the protocol can spell stays as it is;
/// another that would look like one before it gets a number.
pub fn player_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let names: Vec<&str> = names.into_iter().collect();
    let plain: Vec<&str> = names.iter().copied().filter(|name| is_player_name(name)).collect();
    let mut given: Vec<String> = vec![];
    for (at, name) in names.iter().enumerate() {
        let spelled =
            if is_player_name(name) { (*name).to_owned() } else { other_name(name, at, &plain, &given) };
        given.push(spelled);
    }
    given
}

/// The name of a player whose own the protocol cannot spell; `at` is the player's place in the field.
fn other_name(name: &str, at: usize, plain: &[&str], given: &[String]) -> String {
    let spelled = spelled(name);
    let is_readable = spelled.bytes().any(|byte| byte.is_ascii_alphanumeric());
    let base = if is_readable { spelled } else { format!("player{}", at + 1) };
    let is_free = |name: &str| !plain.contains(&name) && !given.iter().any(|other| other == name);
    let numbered = |number: usize| {
        let number = format!("-{number}");
        format!("{}{number}", &base[..base.len().min(NAME_MAX - number.len())])
    };
    let (mut free, mut number) = (base.clone(), 1);
    while !is_free(&free) {
        number += 1;
        free = numbered(number);
    }
    free
}

/// A text in letters of the protocol, at most [`NAME_MAX`] of them.
pub fn spelled(text: &str) -> String {
    let mut out = String::new();
    let mut doubles = false;
    for c in text.chars().map(simple) {
        let kana = kana(c);
        match kana {
            Some("*") => doubles = true,
            Some(sound) => {
                append(&mut out, c, sound, std::mem::take(&mut doubles));
            }
            None if c.is_ascii_alphanumeric() || "_-.@".contains(c) => out.push(c),
            None if c == 'ー' => out.extend(out.chars().last().filter(|last| "aiueo".contains(*last))),
            None if !out.ends_with('_') => out.push('_'),
            None => {}
        }
    }
    let out = out.trim_start_matches('.');
    out.chars().take(NAME_MAX).collect()
}

/// Appends the sound of a kana to those before it.
fn append(out: &mut String, kana: char, sound: &str, doubles: bool) {
    let glides = sound.strip_prefix('~');
    let small_vowel = SMALL_VOWELS.contains(kana);
    // A small kana changes the vowel of the one before: ki + ya is kya, shi + ya is sha, fu + a is fa.
    if (glides.is_some() || small_vowel) && out.ends_with(['i', 'u', 'e', 'o']) {
        out.pop();
        let soft = out.ends_with("sh") || out.ends_with("ch") || out.ends_with('j');
        return out.push_str(match glides {
            Some(glide) if soft => &glide[1..],
            Some(glide) => glide,
            None => sound,
        });
    }
    let sound = glides.unwrap_or(sound);
    if doubles {
        out.extend(sound.chars().next().map(|first| if first == 'c' { 't' } else { first }));
    }
    out.push_str(sound);
}

/// Katakana as hiragana, full-width letters and digits as plain ones, small letters that stand for themselves.
fn simple(c: char) -> char {
    let moved = |by: u32| char::from_u32(u32::from(c) - by).unwrap_or(c);
    match c {
        'ァ'..='ヶ' => moved(0x60),
        '！'..='～' => moved(0xfee0),
        _ => c,
    }
}

fn kana(c: char) -> Option<&'static str> {
    let at = u32::from(c).checked_sub(0x3041)?;
    KANA.get(at as usize).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kana_become_romaji() {
        for (name, romaji) in [
            ("ポナンザ", "ponanza"),
            ("やねうら王", "yaneura_"),
            ("ギコウ", "gikou"),
            ("きふわらべ", "kifuwarabe"),
            ("シャンシャン", "shanshan"),
            ("ジョーカー", "jookaa"),
            ("マッチ１２", "matchi12"),
            ("ファティ", "fati"),
            ("ヴェガ", "vega"),
            ("ゔ", "vu"),
            ("っ", ""),
            ("水匠５", "_5"),
            ("..x", "x"),
        ] {
            assert_eq!(spelled(name), romaji, "{name}");
        }
    }

    #[test]
    fn no_two_players_have_the_same_name_and_names_of_clients_stay() {
        let long = "あ".repeat(40);
        let field =
            ["技巧", "gikou", "ギコウ", "水匠", "player4", "ぎこう", &long, &long, "a b", "a c", "a_b"];
        let names = player_names(field);
        let expected = ["player1", "gikou", "gikou-2", "player4-2", "player4", "gikou-3"];
        assert_eq!(names[..6], expected);
        assert_eq!(names[8..], ["a_b-2", "a_c", "a_b"]);
        let different: std::collections::BTreeSet<_> = names.iter().collect();
        assert_eq!(different.len(), field.len(), "{names:?}");
        assert!(names.iter().all(|name| is_player_name(name)), "{names:?}");
    }
}
