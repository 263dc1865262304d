//! Tables of plain settings: each is declared once, with its type, its default, the range of its key and its meaning.

use crate::reader::Table;
use std::time::Duration;

/// A type that a setting may have; the key of the setting says which values it takes.
pub(crate) trait Setting: Sized {
    /// The value of a key; `None` if it is absent or wrong.
    fn read(table: &Table<'_>, name: &str) -> Option<Self>;
}

macro_rules! whole_numbers {
    ($($type:ty)*) => {
        $(impl Setting for $type {
            fn read(table: &Table<'_>, name: &str) -> Option<Self> {
                table.integer(name)
            }
        })*
    };
}
whole_numbers!(u32 u64 usize);

impl Setting for f64 {
    fn read(table: &Table<'_>, name: &str) -> Option<Self> {
        table.number(name)
    }
}

impl Setting for Duration {
    fn read(table: &Table<'_>, name: &str) -> Option<Self> {
        table.duration(name)
    }
}

impl Setting for String {
    fn read(table: &Table<'_>, name: &str) -> Option<Self> {
        table.text(name)
    }
}

impl<T: Setting> Setting for Option<T> {
    fn read(table: &Table<'_>, name: &str) -> Option<Self> {
        T::read(table, name).map(Some)
    }
}

/// Declares a table of settings: its struct with the defaults, its keys for reader and reference, and how it is read.
///
/// A setting is `name: type = default, kind, "meaning";`. The default is shown as it is written; `shown` gives it another
/// form. `by` names a function that reads the value in place of [`Setting::read`].
macro_rules! settings {
    (
        $(#[$meta:meta])*
        pub struct $name:ident in $title:literal, $about:literal;
        $($field:ident: $type:ty = $default:tt $(by $by:tt)? $(shown $shown:expr)?, $kind:expr, $meaning:literal;)*
    ) => {
        $(#[$meta])*
        pub struct $name {
            $(#[doc = $meaning] pub $field: $type,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        impl $name {
            pub(crate) const SECTION: $crate::keys::Section = $crate::keys::Section {
                title: $title,
                about: $about,
                keys: &[&[$($crate::keys::key(
                    stringify!($field),
                    $kind,
                    $crate::settings::settings!(@shown $default $($shown)?),
                    $meaning,
                ),)*]],
            };

            pub(crate) fn read(table: &$crate::reader::Table<'_>) -> Self {
                let default = Self::default();
                let read = Self {
                    $($field: $crate::settings::settings!(@read table, $field $($by)?).unwrap_or(default.$field),)*
                };
                table.refuse_unknown();
                read
            }
        }
    };
    (@read $table:ident, $field:ident) => { $crate::settings::Setting::read($table, stringify!($field)) };
    (@read $table:ident, $field:ident $by:tt) => { $by($table) };
    (@shown $default:tt) => { $crate::keys::Fallback::Is(stringify!($default)) };
    (@shown $default:tt $shown:expr) => { $shown };
}
pub(crate) use settings;
