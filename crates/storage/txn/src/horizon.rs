//! Removal horizons.
use base::Xid;

/// Classes of relations that different snapshots hold back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RelKind {
    /// Shared catalogs: any database's sessions read them.
    Shared,
    /// Catalogs of one database.
    Catalog,
    /// Ordinary relations.
    Plain,
    /// Temporary relations of one session.
    Temp,
}

/// Two bounds on which xids' deletions somebody may still have to see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Horizons {
    /// From here on, surely needed: not removable.
    pub definitely_needed: Xid,
    /// Below this, surely not needed: removable. Between the two: ask for an accurate bound.
    pub maybe_needed: Xid,
}
