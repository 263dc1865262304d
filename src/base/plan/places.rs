//! Paths that an engine is told, seen from the directory that it runs in.

use crate::EnginePlan;
use std::path::Path;

impl EnginePlan {
    /// A line for each argument and option value that names a file where a person may have thought of it, in one of
    /// `places`, and none where the engine will look for it.
    pub fn misplaced(&self, places: &[&Path]) -> Vec<String> {
        let Some(directory) = self.directory.as_ref().filter(|_| self.host.is_none()) else { return vec![] };
        let arguments = self.args.iter().map(|arg| (arg.as_str(), "an argument".to_owned()));
        let options = self.options.iter().map(|(name, value)| (value.as_str(), format!("option `{name}`")));
        let told = arguments.chain(options).filter_map(|(text, origin)| {
            // `--book=FILE` names a file as well.
            let value = text.split_once('=').map_or(text, |(_, value)| value);
            let missing = !value.is_empty() && !directory.join(value).exists();
            let place = places.iter().find(|place| missing && place.join(value).exists())?;
            Some(format!(
                "`{}` runs in `{}`, where there is no `{value}` ({origin}); there is `{}`: write the whole path, or \
                 set `directory`",
                self.name,
                directory.display(),
                place.join(value).components().collect::<std::path::PathBuf>().display(),
            ))
        });
        told.collect()
    }
}
