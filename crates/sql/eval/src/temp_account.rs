//! # What
//! The space that temporary files of a session take ([`TempAccount`]): their limit, and what is logged of them.
//!
//! # PostgreSQL counterpart and differences
//! `storage/file/fd.c`. Files are logged when the client's batch of messages has been carried out, not as each file is closed.

use std::sync::atomic::{AtomicI64, Ordering};

use base::{SqlResult, sql_err};
use parking_lot::Mutex;

/// What the temporary files of a session take. Its fiber alone writes here; the atomics and the lock never meet anybody.
#[derive(Debug)]
pub struct TempAccount {
    /// Bytes in files that there are.
    bytes: AtomicI64,
    /// `temp_file_limit`, kilobytes; negative: none.
    limit: AtomicI64,
    /// `log_temp_files`, kilobytes; negative: no file is told of.
    told_from: AtomicI64,
    /// Paths below the data directory, and sizes, of files that are gone and are to be told of.
    ended: Mutex<Vec<(String, u64)>>,
}

impl Default for TempAccount {
    fn default() -> TempAccount {
        let none = || AtomicI64::new(-1);
        TempAccount { bytes: AtomicI64::new(0), limit: none(), told_from: none(), ended: Mutex::default() }
    }
}

impl TempAccount {
    /// Takes over `temp_file_limit` and `log_temp_files`.
    pub fn set(&self, limit: i32, told_from: i32) {
        // Relaxed, here and below: one fiber's own.
        self.limit.store(limit.into(), Ordering::Relaxed);
        self.told_from.store(told_from.into(), Ordering::Relaxed);
    }

    /// A file is to grow by so many bytes; fails if that is more than the session may have.
    pub(crate) fn grow(&self, bytes: u64) -> SqlResult<()> {
        let (now, limit) = (self.bytes.load(Ordering::Relaxed), self.limit.load(Ordering::Relaxed));
        let then = now + bytes as i64;
        if limit >= 0 && then > limit << 10 {
            return Err(sql_err!(
                CONFIGURATION_LIMIT_EXCEEDED,
                "temporary file size exceeds \"temp_file_limit\" ({limit}kB)"
            ));
        }
        self.bytes.store(then, Ordering::Relaxed);
        Ok(())
    }

    /// A file of so many bytes is gone.
    pub(crate) fn end(&self, name: &str, bytes: u64) {
        self.bytes.fetch_sub(bytes as i64, Ordering::Relaxed);
        let from = self.told_from.load(Ordering::Relaxed);
        if from >= 0 && bytes as i64 >= from << 10 {
            self.ended.lock().push((name.to_owned(), bytes));
        }
    }

    /// Files that were removed and are not logged yet, in order.
    pub fn take_ended(&self) -> Vec<(String, u64)> {
        std::mem::take(&mut *self.ended.lock())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_one_of_all_files_together() {
        let account = TempAccount::default();
        account.grow(1 << 30).unwrap();
        account.end("a", 1 << 30);
        account.set(4, 1);
        account.grow(3 << 10).unwrap();
        account.grow(1 << 10).unwrap();
        let refused = account.grow(1).unwrap_err();
        assert_eq!(refused.message(), "temporary file size exceeds \"temp_file_limit\" (4kB)");
        account.end("b", 3 << 10);
        account.grow(3 << 10).unwrap();
        account.end("small", 1023);
        assert_eq!(account.take_ended(), [("b".to_string(), 3 << 10)]);
        assert!(account.take_ended().is_empty());
    }
}
