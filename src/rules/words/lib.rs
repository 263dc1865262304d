//! The message catalogue: every text that pages, reports and screens show in two languages, both texts side by side.
//!
//! A message is a method of [`Language`], so that a page writes `language.standings()` and the compiler checks that the
//! message exists and what it takes. [`Message`] carries both texts to a place where the reader's language is known.

mod answers;
mod arbiter;
mod desk;
mod faults;
mod ledger;
mod operations;
mod pages;
mod reports;
mod screens;
mod study;
mod terms;

pub use terms::format_in_japanese;

use std::fmt;

/// Language of pages, reports and screens. Names of engines are never translated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// English.
    #[default]
    English,
    /// Japanese.
    Japanese,
}

impl Language {
    /// Both languages.
    pub const ALL: [Self; 2] = [Self::English, Self::Japanese];

    /// Its code in HTML and in cookies.
    pub fn code(self) -> &'static str {
        self.pick("en", "ja")
    }

    /// The language of a code.
    pub fn of(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|language| language.code() == code)
    }

    /// The language of a locale such as `ja_JP.UTF-8`; English for one that there is no text in.
    pub fn of_locale(locale: &str) -> Self {
        locale.get(..2).and_then(Self::of).unwrap_or_default()
    }

    /// One of two values that are the same in two languages.
    pub fn pick<T>(self, english: T, japanese: T) -> T {
        match self {
            Self::English => english,
            Self::Japanese => japanese,
        }
    }
}

/// A message without arguments, to be shown later.
pub type Phrase = fn(Language) -> &'static str;

/// A text in both languages. Its [`Display`](fmt::Display) is the English text, for logs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message([String; 2]);

impl Message {
    /// The message that `text` makes in each language.
    pub fn of<T: Into<String>>(text: impl Fn(Language) -> T) -> Self {
        Self(Language::ALL.map(|language| text(language).into()))
    }

    /// The text in a language.
    pub fn text(&self, language: Language) -> &str {
        let [english, japanese] = &self.0;
        language.pick(english, japanese)
    }
}

/// A refusal with the message that `text` makes in each language.
///
/// # Errors
/// Always.
pub fn refuse<T, S: Into<String>>(text: impl Fn(Language) -> S) -> Result<T, Message> {
    Err(Message::of(text))
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text(Language::English))
    }
}

/// Defines messages as methods of [`Language`]: `name: "English" = "Japanese";`, or `name(argument: Type): ..` with the
/// arguments as placeholders in both texts.
macro_rules! messages {
    (@one $name:ident: $english:literal = $japanese:literal) => {
        #[doc = $english]
        pub fn $name(self) -> &'static str {
            self.pick($english, $japanese)
        }
    };
    (@one $name:ident ($($argument:ident: $type:ty),+): $english:literal = $japanese:literal) => {
        #[doc = $english]
        pub fn $name(self, $($argument: $type),+) -> String {
            match self {
                Self::English => format!($english),
                Self::Japanese => format!($japanese),
            }
        }
    };
    ($($name:ident $(($($argument:ident: $type:ty),+))?: $english:literal = $japanese:literal;)+) => {
        impl crate::Language {
            $(messages!(@one $name $(($($argument: $type),+))?: $english = $japanese);)+
        }

        /// Name, English and Japanese text of each message.
        #[cfg(test)]
        pub(crate) const MESSAGES: &[(&str, &str, &str)] = &[$((stringify!($name), $english, $japanese)),+];
    };
}
use messages;

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn all() -> impl Iterator<Item = &'static (&'static str, &'static str, &'static str)> {
        let rooms = [
            answers::MESSAGES,
            arbiter::MESSAGES,
            desk::MESSAGES,
            ledger::MESSAGES,
            operations::MESSAGES,
            pages::MESSAGES,
            reports::MESSAGES,
            screens::MESSAGES,
            study::MESSAGES,
            terms::MESSAGES,
        ];
        rooms.into_iter().flatten()
    }

    /// The placeholders of a text, without their formats.
    fn placeholders(text: &str) -> BTreeSet<&str> {
        let inner = text.split('{').skip(1).filter_map(|rest| rest.split('}').next());
        inner.map(|name| name.split(':').next().unwrap_or(name)).filter(|name| *name != "noun").collect()
    }

    #[test]
    fn every_message_has_both_texts_with_the_same_placeholders() {
        for (name, english, japanese) in all() {
            assert!(!english.trim().is_empty() && !japanese.trim().is_empty(), "{name}");
            assert_eq!(placeholders(english), placeholders(japanese), "{name}");
            assert!(!english.chars().any(|c| ('\u{3040}'..'\u{3100}').contains(&c)), "{name}: {english}");
        }
    }

    #[test]
    fn a_japanese_text_is_japanese_unless_the_term_is_international() {
        let international = ["elo", "over_tls"];
        for (name, _, japanese) in all().filter(|(name, ..)| !international.contains(name)) {
            assert!(japanese.chars().any(|c| ('\u{3040}'..'\u{a000}').contains(&c)), "{name}: {japanese}");
        }
    }

    #[test]
    fn a_japanese_text_has_one_word_and_one_bracket_for_each_thing() {
        for (name, _, japanese) in all() {
            let code = |(at, part): (usize, &'static str)| (at % 2 == 0).then_some(part);
            let text: String = japanese.split('`').enumerate().filter_map(code).collect();
            for other in ["組み合わせ", "選手", "休止", "ノックアウト", " 回戦", "(", ")", ": "]
            {
                let text = text.replace("組み合わせます", "").replace("選手権", "").replace("} : {", "");
                assert!(!text.contains(other), "{name}: `{other}` in {japanese}");
            }
        }
    }

    #[test]
    fn a_message_has_the_text_of_the_readers_language() {
        let message = Message::of(|language| language.no_game(7));
        assert_eq!(message.text(Language::English), message.to_string());
        assert_ne!(message.text(Language::Japanese), message.text(Language::English));
        assert_eq!(Language::ALL.map(|language| Language::of(language.code())), Language::ALL.map(Some));
        assert_eq!(Language::of("de"), None);
        let locales = ["ja_JP.UTF-8", "en_GB", "C.UTF-8", "de_DE", "", "日本"].map(Language::of_locale);
        assert_eq!(locales[0], Language::Japanese);
        assert_eq!(locales[1..], [Language::English; 5]);
    }
}
