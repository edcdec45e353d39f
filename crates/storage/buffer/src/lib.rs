//! The buffer pool.
mod action;
mod clock_sweep;
mod frame;
mod mapping;
mod memory;
mod pin;
mod pool;
mod ring;
mod shim;
mod stats;
mod tag;
mod write_back;

#[cfg(test)]
mod model;
#[cfg(test)]
mod tests;

pub use action::{PageChange, RedoPage, WalAction, redo_init_page, redo_page};
pub use pin::{ExclusivePage, Pin, SharedPage};
pub use pool::{BufferError, BufferPool, Persistence, PoolOptions};
pub use ring::{Ring, RingKind};
pub use stats::BufferStats;
pub use tag::Tag;
pub use write_back::BgwriterStep;
