//! The reserve of the disk: below it no new games begin, so that the running ones can still be written down.

use crate::resting::{Rest, RestingThread};
use std::{
    fmt, io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

/// Time between two looks at the disk.
const GLANCE: Duration = Duration::from_secs(1);
/// Share of the reserve that has to be free beyond it before new games begin again.
const SLACK: u64 = 8;
const MB: u64 = 1 << 20;

/// What has changed on the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiskNews {
    /// Less than the reserve is free.
    Low {
        /// Where.
        place: PathBuf,
        /// Megabytes free.
        free_mb: u64,
        /// The reserve in megabytes.
        reserve_mb: u64,
    },
    /// There is room again.
    Room,
}

impl fmt::Display for DiskNews {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Low { place, free_mb, reserve_mb } => write!(
                f,
                "the disk is nearly full: {free_mb} MB are free at {}, and `reserve_mb` keeps {reserve_mb}; no new games \
                 begin until there is room, and running games go on",
                place.display()
            ),
            Self::Room => f.write_str("the disk has room again: new games begin"),
        }
    }
}

/// Whether there is room on the disk for new games. The default is that there always is.
#[derive(Clone, Debug, Default)]
pub struct DiskWatch(Arc<AtomicBool>);

impl DiskWatch {
    /// True if less than the reserve is free, so that no new game begins.
    pub fn is_low(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Watches the file systems of `places`, which need not exist yet, and calls `tell` at each change. Without a reserve
/// nobody looks. The state is known on return.
///
/// # Errors
/// When the system has no thread.
pub fn watch(
    places: Vec<PathBuf>,
    reserve_mb: u64,
    mut tell: impl FnMut(&DiskNews) + Send + 'static,
) -> io::Result<(DiskWatch, RestingThread)> {
    let watch = DiskWatch::default();
    if reserve_mb == 0 {
        return Ok((watch, RestingThread::default()));
    }
    let low = watch.0.clone();
    let mut look = move || {
        let was_low = low.load(Ordering::Relaxed);
        if let Some(news) = news(&places, reserve_mb, was_low) {
            low.store(!was_low, Ordering::Relaxed);
            tell(&news);
        }
    };
    look();
    let work = move |rest: &Rest| {
        while !rest.ends_within(GLANCE) {
            look();
        }
    };
    Ok((watch, RestingThread::start("disk", work)?))
}

/// What has changed since the last look. A file system that cannot be asked counts as having room: the writer of the
/// database tells what is wrong with it.
fn news(places: &[PathBuf], reserve_mb: u64, was_low: bool) -> Option<DiskNews> {
    let free = places.iter().filter_map(|place| Some((free_mb(place)?, place)));
    let (free_mb, place) = free.min_by_key(|(free, _)| *free)?;
    let wanted = if was_low { reserve_mb.saturating_add(reserve_mb / SLACK) } else { reserve_mb };
    match (was_low, free_mb < wanted) {
        (false, true) => Some(DiskNews::Low { place: place.clone(), free_mb, reserve_mb }),
        (true, false) => Some(DiskNews::Room),
        _ => None,
    }
}

/// Megabytes that this user may still write where `place` is, or will be.
fn free_mb(place: &Path) -> Option<u64> {
    let place = std::path::absolute(place).ok()?;
    let free = place.ancestors().find_map(|place| platform::disk::free(place).ok())?;
    Some(free / MB)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn a_reserve_that_is_not_free_is_told_before_the_first_game() {
        let dir = tempfile::tempdir().unwrap();
        let (tell, told) = mpsc::channel();
        let place = dir.path().join("not there/league.db");
        let told_of = tell.clone();
        let watched = watch(vec![place.clone()], u64::MAX, move |news| told_of.send(news.clone()).unwrap());
        let (disk, thread) = watched.unwrap();
        assert!(disk.is_low());
        let news = told.try_recv().unwrap();
        let DiskNews::Low { place: told_place, reserve_mb: u64::MAX, .. } = &news else { panic!("{news:?}") };
        assert_eq!(told_place, &place);
        assert!(news.to_string().contains("no new games begin until there is room"));
        drop(thread);
        for small in [0, 1] {
            let tell = tell.clone();
            let (disk, _thread) =
                watch(vec![place.clone()], small, move |news| tell.send(news.clone()).unwrap()).unwrap();
            assert!(!disk.is_low());
        }
        assert!(told.try_recv().is_err());
    }

    #[test]
    fn new_games_begin_again_only_with_some_room_beyond_the_reserve() {
        let place = [PathBuf::from("/")];
        let free = free_mb(&place[0]).unwrap();
        let reserve = free - free / 20;
        assert_eq!(news(&place, reserve, false), None);
        assert_eq!(news(&place, reserve, true), None, "a twentieth beyond it is too little");
        assert_eq!(news(&place, free / 2, true), Some(DiskNews::Room));
    }
}
