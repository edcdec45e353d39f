//! Files and directories.
//!
//! # What
//! Every call waits for the fiber and never blocks the worker. A read first asks for what the page cache has; all
//! else goes to the thread pool. On a plain thread calls are made directly. In a simulation, paths name files of the
//! simulated disk. When the system allows no further descriptor, files that are kept open for later give way
//! ([`give_way`]).
//!
//! # WAL and crash
//! Nothing here retries or hides a failed write or sync: what a failure means is the caller's to decide. A new, removed or
//! renamed name survives a crash only after [`sync_dir`] of its directory.

mod copy;
mod descriptors;
mod dir;
mod direct;
mod file;
mod map;
mod reads;
mod real;
mod uring;

#[cfg(test)]
mod tests;

pub use copy::{CopyMethod, copy_file};
pub use descriptors::{SpareFiles, give_way};
pub use dir::{
    DirEntry, LockedFile, Metadata, canonical, create_dir, create_dir_all, directory_mode, exists, lock_file,
    metadata, read_dir, read_link, read_to_string, read_to_vec, remove_dir, remove_dir_all, remove_file,
    rename, set_group_access, set_permissions, symlink, sync_dir, sync_tree, write_file, write_file_durably,
};
pub use file::{File, OpenOptions};
pub use map::Mapping;
pub use reads::{Done, ReadMethod, prepare_reads, set_readers, start_read};
