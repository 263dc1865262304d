//! Tables of settings: each key is declared once, with its type, its default, its range and its meaning.

use crate::{
    OpeningChange, OpeningOrder, Restart, ScoreView, SprtModel,
    reader::Table,
    serve::{Compat, Counted, Login, Method, Missing},
};
use contest::schedule::{Colours, SitsOut, rounds::Method as Pairing};
use referee::{evaluation::ScoreScale, rules::Declaration};
use std::{path::PathBuf, time::Duration};

/// A type that a setting may have; the key of the setting says which values it takes.
pub(crate) trait Setting: Sized {
    /// The value of a key; `None` if it is absent or wrong.
    fn read(table: &Table<'_>, name: &str) -> Option<Self>;
}

/// Implements [`Setting`] for types by a method of [`Table`].
macro_rules! read_by {
    ($($method:ident: $($type:ty),*;)*) => {
        $($(impl Setting for $type {
            fn read(table: &Table<'_>, name: &str) -> Option<Self> {
                table.$method(name)
            }
        })*)*
    };
}
read_by! {
    integer: i64, u16, u32, u64, usize;
    number: f64;
    duration: Duration;
    text: String;
    path: PathBuf;
    switch: bool;
}

/// Implements [`Setting`] for types with a word for each value.
macro_rules! words {
    ($($type:ty),*) => {
        $(impl Setting for $type {
            fn read(table: &Table<'_>, name: &str) -> Option<Self> {
                Some(table.choice(name))
            }
        })*
    };
}
words!(
    Colours,
    Compat,
    Counted,
    Declaration,
    Login,
    Method,
    Missing,
    OpeningChange,
    OpeningOrder,
    Pairing,
    Restart,
    ScoreView,
    SitsOut,
    SprtModel
);

impl Setting for ScoreScale {
    fn read(table: &Table<'_>, name: &str) -> Option<Self> {
        Self::new(table.integer(name)?)
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
/// form. `by` names a function that reads the value in place of [`Setting::read`]. A key without a type has no field of
/// its own; fields that no single key sets stand under `with`, and keep their defaults here.
macro_rules! settings {
    (
        $(#[$meta:meta])*
        pub struct $name:ident in $title:literal, $about:literal
        $(with { $($(#[$more_attr:meta])* $more:ident: $more_type:ty = $more_default:expr;)* })?;
        $($field:ident $(: $(#[$attr:meta])* $type:ty = $default:tt $(by $by:tt)?)? $(shown $shown:expr)?, $kind:expr,
            $meaning:expr;)*
    ) => {
        $(#[$meta])*
        pub struct $name {
            $($(#[doc = $meaning] $(#[$attr])* pub $field: $type,)?)*
            $($($(#[$more_attr])* pub $more: $more_type,)*)?
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($($field: $default,)?)* $($($more: $more_default,)*)? }
            }
        }

        impl $name {
            pub(crate) const SECTION: $crate::keys::Section = $crate::keys::Section {
                title: $title,
                about: $about,
                keys: &[$crate::keys::keys![
                    $($field $(= $default)? $(shown $shown)?, $kind, $meaning;)*
                ]],
            };

            pub(crate) fn read(table: &$crate::reader::Table<'_>) -> Self {
                let default = Self::default();
                let read = Self {
                    $($($field: $crate::settings::settings!(@read table, $field $($by)?).unwrap_or(default.$field),)?)*
                    $($($more: default.$more,)*)?
                };
                table.refuse_unknown();
                read
            }
        }
    };
    (@read $table:ident, $field:ident) => { $crate::settings::Setting::read($table, stringify!($field)) };
    (@read $table:ident, $field:ident $by:tt) => { $by($table) };
}
pub(crate) use settings;
