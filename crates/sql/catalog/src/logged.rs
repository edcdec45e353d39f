//! # What
//! What the log says of a table to those who decode it (`wal_level = logical`): its description, and which columns of old rows.
//!
//! # Invariants
//! 1. Under any other `wal_level`, and for catalogs and relations that are not permanent, there is nothing.
//!
//! # PostgreSQL counterpart
//! `RelationIsLogicallyLogged`, `RelationGetIdentityKeyBitmap`.

use std::sync::Arc;

use base::Oid;
use engine::control::WalLevel;
use engine::decoding::{DescribedColumn, Description};
use heap::{Identity, Logged};
use tuple::{Attr, RowLayout};

use crate::database::Reader;
use crate::publication::{ReplicaIdentity, is_publishable};
use crate::view::{Generated, Table};

impl ReplicaIdentity {
    /// `pg_class.relreplident`
    pub fn letter(self) -> u8 {
        match self {
            ReplicaIdentity::Default => b'd',
            ReplicaIdentity::Index => b'i',
            ReplicaIdentity::Full => b'f',
            ReplicaIdentity::Nothing => b'n',
        }
    }
}

impl Table {
    /// How it is described to those who decode the log, its columns lying in rows like this.
    pub fn described(&self, attrs: &[Attr]) -> Description {
        let key: &[i16] = self.identity_index().map_or(&[], |index| &index.keys);
        let columns = self.columns.iter().zip(attrs).enumerate();
        let columns = columns.map(|(i, (column, attr))| DescribedColumn {
            name: column.name.clone(),
            type_oid: column.type_oid,
            typmod: column.typmod,
            dropped: column.dropped,
            key: key.contains(&(i as i16 + 1)),
            stored: column.generated == Generated::Stored,
            computed: column.generated == Generated::Virtual,
            attr: *attr,
        });
        Description {
            oid: self.oid,
            schema: self.schema_name.clone(),
            name: self.name.clone(),
            identity: self.replica_identity.letter(),
            toast: self.toast,
            parent: self.partition_of,
            columns: columns.collect(),
            layout: RowLayout::new(attrs.to_vec()),
        }
    }

    fn identity(&self) -> Identity {
        let key =
            || self.identity_index().map(|index| index.keys.iter().map(|key| *key as usize - 1).collect());
        match self.replica_identity {
            ReplicaIdentity::Full => Identity::Full,
            ReplicaIdentity::Nothing => Identity::Nothing,
            ReplicaIdentity::Default | ReplicaIdentity::Index => {
                key().map_or(Identity::Nothing, Identity::Columns)
            }
        }
    }
}

impl Reader<'_> {
    /// What the log says of a table to those who decode it; none if nobody can.
    pub(crate) fn logged_of(&self, table: &Table, attrs: &[Attr]) -> Option<Arc<Logged>> {
        let level = self.catalog.engine().options().recorded.wal_level;
        if level < WalLevel::Logical || !is_publishable(table.kind, table.persistence, table.oid) {
            return None;
        }
        let description = table.described(attrs).encode().into();
        Some(Arc::new(Logged::Table { oid: table.oid, description, identity: table.identity() }))
    }
}

/// What the log says of chunks of a table's large values.
pub(crate) fn chunks(of: Option<&Arc<Logged>>, toast: Oid) -> Option<Arc<Logged>> {
    of.map(|_| Arc::new(Logged::Chunks(toast)))
}
