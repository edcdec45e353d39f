//! Pages of indexes as people look at them, one by one: for each access method what its pages say.

pub use ::brin::inspect as brin;
pub use ::btree::inspect as btree;
pub use ::gin::inspect as gin;
pub use ::gist::inspect as gist;
pub use ::hash::inspect as hash;
