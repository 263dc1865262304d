//! The names of what can go wrong; the crate documentation says what each does.

use crate::illegal::Illegal;

macro_rules! modes {
    ($($mode:ident $name:literal,)*) => {
        /// What goes wrong.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Mode {
            $($mode,)*
            /// A move against the rules.
            Illegal(Illegal),
        }

        /// Each mode with its name, except the illegal moves.
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
    StderrFlood "stderrflood", Memory "memory",
    IgnoreStdin "ignorestdin", CloseIn "closein", CloseOut "closeout",
    SlowStart "slowstart", NoUsi "nousi", SlowReady "slowready", NoReady "noready",
    CrashReady "crashready", CrashNewGame "crashnewgame", PonderStale "ponderstale",
    IgnoreQuit "ignorequit", Grandchild "grandchild", Zombie "zombie",
}

impl Mode {
    /// Every mode with its name.
    pub fn all() -> impl Iterator<Item = (&'static str, Self)> {
        let illegal = Illegal::NAMES.iter().map(|&(name, kind)| (name, Self::Illegal(kind)));
        PLAIN.iter().copied().chain(illegal)
    }

    /// The mode of this name; the option's check has let no other name through.
    pub fn named(name: &str) -> Self {
        Self::all().find(|(known, _)| *known == name).map_or(Self::Honest, |(_, mode)| mode)
    }
}
