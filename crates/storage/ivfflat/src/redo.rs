//! The WAL records: what they hold, their replay, their description.
//!
//! | record | each block |
//! |---|---|
//! | `CHANGE` | changes of its bytes |
//! | `BUILD` | full image |

use index::Records;
use index::bytes::Check;
use index::changes::changed;
use page::PageBytes;
use wal::{Record, RecordRef, ResourceManager, Rmgr};

/// Kind of a record, its `info`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    Change = 0,
    Build = 1,
}

fn name(info: u8) -> Option<&'static str> {
    ["CHANGE", "BUILD"].get(info as usize).copied()
}

/// Does to a page what a record says about its block reference `index`. The error says what does not fit.
pub(crate) fn redo_block(page: &mut PageBytes, record: &RecordRef<'_>, index: usize) -> Check<()> {
    if record.info != Kind::Change as u8 {
        return Err("page image is missing");
    }
    let data = record.block(index).ok_or("the record lacks a block")?.data;
    let new = changed(page, data)?;
    page.copy_from_slice(&new[..]);
    Ok(())
}

/// How records are replayed and shown.
pub(crate) const MANAGER: ResourceManager = ResourceManager {
    id: Rmgr::Ivfflat,
    redo_block: Some(|page, record, index| redo_block(page, record, index).map_err(str::to_owned)),
    describe: &Records { name, details },
};

fn details(record: &Record) -> Check<String> {
    let bytes: usize = (0..).map_while(|n| record.block(n)).map(|block| block.data.len()).sum();
    Ok(format!("bytes changed: {bytes}"))
}
