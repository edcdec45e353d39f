//! Pages next to each other in a file, to be read at once.

use std::io::{self, IoSliceMut};
use std::sync::Arc;

use runtime::fs::{self, Done, File, ReadMethod};

/// Some pages next to each other in one file. Whoever reads them finds out himself what is wrong with each.
pub struct PageRun {
    pub(crate) file: Arc<File>,
    pub(crate) offset: u64,
    pub(crate) count: u32,
}

impl PageRun {
    /// How many pages they are.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Reads the first of them, as many as there are pieces, each of a page. Returns how many bytes came.
    pub fn read(&self, pieces: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        base::stop_result!("smgr-before-run").map_err(io::Error::from)?;
        self.file.read_vectored_at(pieces, self.offset)
    }

    /// As [`read`](Self::read), but goes on by itself; see [`fs::start_read`].
    pub fn start(self, method: ReadMethod, pieces: Vec<IoSliceMut<'static>>, done: Done) {
        match base::stop_result!("smgr-before-run") {
            Ok(()) => fs::start_read(self.file, method, pieces, self.offset, done),
            Err(error) => {
                drop(pieces);
                done(Err(error.into()));
            }
        }
    }
}
