//! # What
//! Publications (`pg_publication`, `pg_publication_rel`, `pg_publication_namespace`), all of a database at once: which tables they publish, and how. And what tells a row to subscribers, its table's replica identity.
//!
//! # Invariants
//! 1. Whoever describes a table asks one cached list, which is empty where there are no publications.
//! 2. A publication that changes makes the descriptions of all relations of users stale, as it may publish any of them (`cache`).
//!
//! # PostgreSQL counterpart
//! `catalog/pg_publication.c`, `RelationBuildPublicationDesc` of `relcache.c`.

use std::sync::Arc;

use base::{Oid, SqlResult};

use crate::database::Reader;
use crate::row::{Row, RowExt};
use crate::system::{pg_publication as p, pg_publication_namespace as s, pg_publication_rel as r};
use crate::vectors;
use crate::view::{Index, RelationKind, Table};

/// What of a row is told of its UPDATE or DELETE (`pg_class.relreplident`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReplicaIdentity {
    /// The primary key.
    #[default]
    Default,
    /// The columns of an index, which [`Index::replica_identity`] marks.
    Index,
    /// All columns.
    Full,
    /// Nothing.
    Nothing,
}

impl ReplicaIdentity {
    pub(crate) fn from_letter(letter: u8) -> ReplicaIdentity {
        match letter {
            b'd' => ReplicaIdentity::Default,
            b'i' => ReplicaIdentity::Index,
            b'f' => ReplicaIdentity::Full,
            _ => ReplicaIdentity::Nothing,
        }
    }
}

/// A publication.
#[derive(Clone, Debug, PartialEq)]
pub struct Publication {
    /// OID.
    pub oid: Oid,
    /// Name.
    pub name: String,
    /// FOR ALL TABLES
    pub all_tables: bool,
    /// Publishes INSERT.
    pub insert: bool,
    /// Publishes UPDATE.
    pub update: bool,
    /// Publishes DELETE.
    pub delete: bool,
    /// Publishes TRUNCATE.
    pub truncate: bool,
    /// Changes of partitions are published as those of the topmost table that is published.
    pub via_root: bool,
    /// Stored generated columns are published.
    pub generated: bool,
    /// Its tables, by OID.
    pub tables: Vec<PublishedTable>,
    /// Its schemas, by OID.
    pub schemas: Vec<Oid>,
}

/// A table in a publication.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedTable {
    /// The table.
    pub relation: Oid,
    /// The columns that are published, ascending; none: all.
    pub columns: Option<Arc<[i16]>>,
    /// WHERE, as `analyze::stored` writes it.
    pub filter: Option<Arc<str>>,
}

/// How one publication publishes the changed and deleted rows of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Published {
    /// UPDATE is published.
    pub update: bool,
    /// DELETE is published.
    pub delete: bool,
    /// Stored generated columns are published.
    pub generated: bool,
    /// The table, or the partitioned table above it, that the publication lists; none if it lists neither.
    pub listed: Option<PublishedTable>,
}

impl Publication {
    /// Its entry of a relation.
    pub fn table(&self, relation: Oid) -> Option<&PublishedTable> {
        self.tables.iter().find(|table| table.relation == relation)
    }

    /// Whether it names a relation, its schema or all tables.
    pub fn names(&self, relation: Oid, schema: Oid) -> bool {
        self.all_tables || self.table(relation).is_some() || self.schemas.contains(&schema)
    }
}

/// Whether a relation can be published: a permanent table of a user.
pub fn is_publishable(kind: RelationKind, persistence: char, oid: Oid) -> bool {
    matches!(kind, RelationKind::Table | RelationKind::PartitionedTable)
        && persistence == 'p'
        && !oid.is_pinned()
}

impl Table {
    /// The index whose columns tell a row to subscribers.
    pub fn identity_index(&self) -> Option<&Index> {
        let chosen = |index: &&Arc<Index>| match self.replica_identity {
            ReplicaIdentity::Default => index.primary && index.immediate,
            ReplicaIdentity::Index => index.replica_identity,
            ReplicaIdentity::Full | ReplicaIdentity::Nothing => false,
        };
        self.indexes.iter().filter(|index| index.valid).find(chosen).map(|index| &**index)
    }
}

impl Reader<'_> {
    /// All publications of the database, by name.
    pub fn publications(&self) -> SqlResult<Arc<[Publication]>> {
        self.cached(
            |entries| entries.publications.clone(),
            || self.load_publications(),
            |entries, all| entries.publications = Some(all),
        )
    }

    fn load_publications(&self) -> SqlResult<Arc<[Publication]>> {
        let mut rows = self.scan(&p::TABLE)?;
        rows.sort_by(|(_, a), (_, b)| a.str(p::PUBNAME).cmp(b.str(p::PUBNAME)));
        rows.iter().map(|(_, row)| self.load_publication(row)).collect()
    }

    fn load_publication(&self, row: &Row) -> SqlResult<Publication> {
        let oid = row.oid(p::OID);
        let tables = self.find(&r::TABLE, r::PG_PUBLICATION_REL_PRPUBID_INDEX, &[oid.into()])?;
        let table = |row: &Row| PublishedTable {
            relation: row.oid(r::PRRELID),
            columns: (!row[r::PRATTRS].is_null()).then(|| vectors::int2s(&row[r::PRATTRS]).into()),
            filter: row.opt_str(r::PRQUAL).map(Into::into),
        };
        let mut tables: Vec<PublishedTable> = tables.iter().map(|(_, row)| table(row)).collect();
        tables.sort_by_key(|table| table.relation);
        let schemas = self.scan(&s::TABLE)?;
        let schemas = schemas.iter().filter(|(_, row)| row.oid(s::PNPUBID) == oid);
        let mut schemas: Vec<Oid> = schemas.map(|(_, row)| row.oid(s::PNNSPID)).collect();
        schemas.sort_unstable();
        Ok(Publication {
            oid,
            name: row.str(p::PUBNAME).to_owned(),
            all_tables: row.bool(p::PUBALLTABLES),
            insert: row.bool(p::PUBINSERT),
            update: row.bool(p::PUBUPDATE),
            delete: row.bool(p::PUBDELETE),
            truncate: row.bool(p::PUBTRUNCATE),
            via_root: row.bool(p::PUBVIAROOT),
            generated: row.char(p::PUBGENCOLS) == b's',
            tables,
            schemas,
        })
    }

    /// A relation and the partitioned tables above it, nearest first, each with its schema.
    pub fn with_ancestors(&self, relation: Oid, schema: Oid) -> SqlResult<Vec<(Oid, Oid)>> {
        use crate::system::pg_class as c;
        let mut all = vec![(relation, schema)];
        let is_partition = |oid: Oid| {
            let row = self.find_one(&c::TABLE, c::PG_CLASS_OID_INDEX, &[oid.into()])?;
            Ok::<_, base::SqlError>(
                row.map(|(_, row)| (row.oid(c::RELNAMESPACE), row.bool(c::RELISPARTITION))),
            )
        };
        let mut last = relation;
        while let Some((_, true)) = is_partition(last)? {
            let Some(parent) = self.parents(last)?.first().copied() else { break };
            let Some((schema, _)) = is_partition(parent)? else { break };
            all.push((parent, schema));
            last = parent;
        }
        Ok(all)
    }

    /// How publications publish the changed and deleted rows of a table.
    pub(crate) fn load_published(
        &self,
        (oid, schema): (Oid, Oid),
        kind: RelationKind,
        persistence: char,
    ) -> SqlResult<Option<Arc<[Published]>>> {
        if kind != RelationKind::Table || !is_publishable(kind, persistence, oid) {
            return Ok(None);
        }
        let all = self.publications()?;
        if !all.iter().any(|publication| publication.update || publication.delete) {
            return Ok(None);
        }
        let line = self.with_ancestors(oid, schema)?;
        let published: Vec<Published> = all.iter().filter_map(|one| one.publishes(&line)).collect();
        Ok((!published.is_empty()).then(|| published.into()))
    }

    /// Whether a relation is named by a publication, or its schema, or all tables are published.
    pub fn is_published(&self, table: &Table) -> SqlResult<bool> {
        if !is_publishable(table.kind, table.persistence, table.oid) {
            return Ok(false);
        }
        let line = self.with_ancestors(table.oid, table.schema)?;
        let all = self.publications()?;
        Ok(all.iter().any(|one| line.iter().any(|(oid, schema)| one.names(*oid, *schema))))
    }
}

impl Publication {
    /// The topmost of a table and the partitioned tables above it that the publication names by itself or by its schema.
    pub fn topmost(&self, line: &[(Oid, Oid)]) -> Option<Oid> {
        let named = |(oid, schema): &&(Oid, Oid)| self.table(*oid).is_some() || self.schemas.contains(schema);
        line.iter().rev().find(named).map(|(oid, _)| *oid)
    }

    /// How it publishes changed and deleted rows of the first table of a line.
    fn publishes(&self, line: &[(Oid, Oid)]) -> Option<Published> {
        if !(self.update || self.delete) || !line.iter().any(|(oid, schema)| self.names(*oid, *schema)) {
            return None;
        }
        let own = line.first()?.0;
        let root = if self.via_root { self.topmost(&line[1..]) } else { None };
        Some(Published {
            update: self.update,
            delete: self.delete,
            generated: self.generated,
            listed: self.table(root.unwrap_or(own)).cloned(),
        })
    }
}
