//! Lack of file descriptors: files that are open only because they may be needed again are closed.

use std::io;
use std::sync::{Arc, Weak};

use base::os::is_out_of_descriptors;
use parking_lot::Mutex;

/// Keeps files open that nobody needs now.
pub trait SpareFiles: Send + Sync {
    /// Closes some of them, if there are any; returns how many. Never waits.
    fn close_some(&self) -> usize;
}

static KEEPERS: Mutex<Vec<Weak<dyn SpareFiles>>> = Mutex::new(Vec::new());

/// From now on the files of `keeper` are closed when the system allows no further descriptor, for as long as there is another
/// reference to it.
pub fn give_way(keeper: &Arc<impl SpareFiles + 'static>) {
    let keeper: Arc<dyn SpareFiles> = keeper.clone();
    let mut keepers = KEEPERS.lock();
    keepers.retain(|keeper| keeper.strong_count() > 0);
    keepers.push(Arc::downgrade(&keeper));
}

fn close_some() -> usize {
    let keepers: Vec<_> = KEEPERS.lock().iter().filter_map(Weak::upgrade).collect();
    keepers.iter().map(|keeper| keeper.close_some()).sum()
}

/// How often one call closes cached files before it fails: another thread may take the freed descriptor first.
const ATTEMPTS: usize = 10;

/// Does what takes a descriptor, again if there was none and some could be freed.
pub(super) fn with_descriptor<T>(open: impl Fn() -> io::Result<T>) -> io::Result<T> {
    for _ in 0..ATTEMPTS {
        match open() {
            Err(error) if is_out_of_descriptors(&error) && close_some() > 0 => {}
            opened => return opened,
        }
    }
    open()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    struct Spare(AtomicUsize);

    impl SpareFiles for Spare {
        fn close_some(&self) -> usize {
            let before = self.0.load(Ordering::Relaxed);
            self.0.store(before.saturating_sub(1), Ordering::Relaxed);
            before.min(1)
        }
    }

    #[test]
    fn files_are_closed_until_there_is_a_descriptor_or_none_is_left() {
        let spare = Arc::new(Spare(AtomicUsize::new(3)));
        give_way(&spare);
        let missing = || io::Error::from_raw_os_error(libc::EMFILE);
        let left = || spare.0.load(Ordering::Relaxed);
        assert_eq!(with_descriptor(|| if left() == 1 { Ok(7) } else { Err(missing()) }).unwrap(), 7);
        assert_eq!(left(), 1);
        let other = || -> io::Result<()> { Err(io::ErrorKind::NotFound.into()) };
        assert_eq!(with_descriptor(other).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(left(), 1);
        assert!(is_out_of_descriptors(&with_descriptor(|| Err::<(), _>(missing())).unwrap_err()));
        assert_eq!(left(), 0);
    }
}
