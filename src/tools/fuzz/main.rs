//! The libFuzzer program: `RENMEI_FUZZ_TARGET` names the target, the arguments are libFuzzer's. Started by
//! `cargo xtask fuzz`.

#![no_main]

use fuzz::{TARGETS, Target, target};
use libfuzzer_sys::{Corpus, fuzz_target};
use std::sync::LazyLock;

static CHOSEN: LazyLock<&'static Target> = LazyLock::new(|| {
    let name = std::env::var("RENMEI_FUZZ_TARGET").unwrap_or_default();
    target(&name).unwrap_or_else(|| {
        let known: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
        eprintln!("RENMEI_FUZZ_TARGET={name}: the targets are {}", known.join(", "));
        std::process::exit(2)
    })
});

fuzz_target!(|data: &[u8]| -> Corpus {
    if data.len() > CHOSEN.longest {
        return Corpus::Reject;
    }
    (CHOSEN.check)(data);
    Corpus::Keep
});
