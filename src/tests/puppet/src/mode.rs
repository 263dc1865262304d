//! The modes and their names; the crate documentation describes them.

use crate::illegal::Illegal;

macro_rules! modes {
    ($($mode:ident $name:literal,)*) => {
        /// The fault to play.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Mode {
            $($mode,)*
            /// An illegal move.
            Illegal(Illegal),
        }

        /// The modes by name, except the illegal moves.
        const PLAIN: &[(&str, Mode)] = &[$(($name, Mode::$mode),)*];
    };
}

modes! {
    Honest "honest", King "king", Rook "rook", Sleep "sleep",
    Crash "crash", Exit "exit", DieAfter "dieafter", Hang "hang", Partial "partial",
    FloodHang "floodhang", Flood "flood", LongLine "longline",
    Late "late", LateIllegal "lateillegal", LateResign "lateresign",
    Misspelled "misspelled", Garbage "garbage", Empty "empty", NullMove "nullmove", Resign "resign", Win "win",
    DoubleMove "doublemove", OutOfTurn "outofturn", Noise "noise",
    StderrFlood "stderrflood", Memory "memory", Busy "busy", BlackView "blackview",
    IgnoreStdin "ignorestdin", CloseIn "closein", CloseOut "closeout",
    SlowStart "slowstart", NoUsi "nousi", SlowReady "slowready", NoReady "noready",
    CrashReady "crashready", CrashNewGame "crashnewgame", PonderStale "ponderstale",
    IgnoreQuit "ignorequit", Grandchild "grandchild", Zombie "zombie",
    Daemon "daemon", Detach "detach", Kill "kill", Network "network", WriteFile "write",
    Link "link", Spin "spin", Compute "compute", Hoard "hoard",
}

impl Mode {
    /// All modes by name.
    pub fn all() -> impl Iterator<Item = (&'static str, Self)> {
        let illegal = Illegal::NAMES.iter().map(|&(name, kind)| (name, Self::Illegal(kind)));
        PLAIN.iter().copied().chain(illegal)
    }

    /// The mode called `name`. The option accepts known names only, so the default is never used.
    pub fn named(name: &str) -> Self {
        Self::all().find(|(known, _)| *known == name).map_or(Self::Honest, |(_, mode)| mode)
    }
}
