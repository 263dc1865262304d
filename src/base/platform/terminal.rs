//! The terminal: its end, its echo, and the standard error beneath a screen.
//!
//! | | Linux | other Unix | Windows |
//! |---|---|---|---|
//! | [`hangs_up`] | `poll` on the terminal | as Linux | the console's input cannot be waited for |
//! | [`Hidden`]: no echo | `tcsetattr` | as Linux | `SetConsoleMode` |
//! | [`catch_stderr`] | descriptor 2 leads into a pipe: also what libraries print | as Linux | the standard handle leads into a pipe: not what C libraries print |
//! | [`is_own_console`] | a window that a double-click has opened is none | as Linux | `GetConsoleProcessList` |
//! | [`locale`] | the environment | as Linux | the environment, else `GetUserDefaultUILanguage` |
//! | [`is_journal`] | `JOURNAL_STREAM` | no such journal | no such journal |

#[cfg_attr(unix, path = "terminal/unix.rs")]
#[cfg_attr(windows, path = "terminal/windows.rs")]
mod side;

pub use side::{Hidden, Stderr, catch_stderr, hangs_up, is_journal, is_own_console};

/// The locale of the user, such as `ja_JP.UTF-8`: that of the environment, else the system's; empty where neither has one.
pub fn locale() -> String {
    let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let named = ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter().find_map(set);
    named.unwrap_or_else(|| side::system_locale().to_owned())
}
