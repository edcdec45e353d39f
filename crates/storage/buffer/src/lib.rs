//! The buffer pool.

mod action;
mod pin;
mod pool;

pub use action::{PageChange, RedoPage, WalAction, redo_init_page, redo_page};
pub use pin::{ExclusivePage, Pin, SharedPage};
pub use pool::{
    BgwriterStep, BufferError, BufferPool, BufferStats, Persistence, PoolOptions, Ring, RingKind, Tag,
};
