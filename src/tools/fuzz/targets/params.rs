//! Parameter files of YaneuraOu.

use laboratory::params::ParamsFile;

/// What was read is written so that it is read again with the same options, kinds and bounds.
pub fn params(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let Ok(file) = ParamsFile::parse(&text) else { return };
    for parameter in file.parameters() {
        assert!(
            parameter.c_end > 0.0 && parameter.r_end > 0.0 && parameter.r_end.is_finite(),
            "{parameter:?}"
        );
    }
    let written = file.text();
    let again = ParamsFile::parse(&written).unwrap_or_else(|fault| panic!("{fault}: {written:?}"));
    let known = |file: &ParamsFile| -> Vec<_> {
        file.parameters()
            .map(|it| (it.name.clone(), it.start, it.min, it.max, it.c_end, it.r_end, it.whole))
            .collect()
    };
    assert_eq!(known(&again), known(&file));
}
