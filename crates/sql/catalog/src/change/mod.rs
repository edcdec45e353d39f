//! # What
//! Changes of catalogs: the rows behind CREATE, ALTER and DROP. Names are resolved and rights are checked by the caller; here
//! the rows, the dependencies and the files come about, in the caller's transaction.
//!
//! # Invariants
//! 1. Every row change registers what it makes stale, so that other sessions see it when, and only when, the transaction
//!    commits.
//! 2. Each public function ends with a new command id: its rows are visible to what follows in the transaction.
//! 3. Files of new relations go with an abort, those of dropped ones with the commit.
//!
//! # Locks
//! A catalog is locked in ROW EXCLUSIVE mode while a row of it is written, and no longer: uncommitted rows keep nobody from writing it
//! anew. Callers hold the relation locks that PostgreSQL's documentation names for each command; a new relation needs none, for
//! nobody can see it.
//!
//! # PostgreSQL counterpart
//! `heap.c`, `index.c`, `dependency.c`, `pg_*.c` under `catalog/`.

mod access_method;
mod acl;
mod aggregate;
mod collation;
mod column;
mod constraint;
mod conversion;
mod database;
mod depend;
mod describe;
mod extension;
mod foreign;
mod index;
mod inherit;
mod initial_privileges;
mod large_object;
mod object;
pub(crate) mod oldest;
mod operator;
mod operator_class;
mod origin;
mod owner;
mod policy;
mod publication;
mod range;
mod relation;
mod rewrite;
mod role;
mod routine;
mod rule;
mod sequence;
mod shared;
mod statistics;
mod subscription;
mod table;
mod tablespace;
mod text_search;
mod trigger;
mod types;

use std::rc::Rc;
use std::sync::Arc;

use ::types::oids;
use base::{Oid, SqlError, SqlResult, Xid};
use heap::{ComboCids, Refusal, Writer};
use tuple::Datum;
use txn::{LockMode, LockWait, Transaction};

pub use acl::DefaultAcl;
pub use aggregate::{NewAggregate, NewSteps};
pub use collation::NewCollation;
pub use constraint::{ConstraintInfo, NewConstraint};
pub use conversion::NewConversion;
pub use depend::{Behavior, Dependency, ObjectAddress};
pub use extension::{NewExtension, NewLanguage};
pub use foreign::{ForeignOptions, ForeignTable, NewServer, NewWrapper, options_array, options_of};
pub use index::NewIndex;
pub use inherit::Origin;
pub use large_object::MAX_LARGE_OBJECT;
pub use operator::{NewCast, NewOperator, OperatorChange};
pub use operator_class::{FamilyMember, NewOperatorClass, NewOperatorFamily};
pub use publication::NewPublishedTable;
pub use range::NewRange;
pub use routine::NewRoutine;
pub use sequence::NewSequence;
pub use shared::{Dependent, SharedDependency};
pub use statistics::{NewStatistics, StatisticsData};
pub use subscription::{NewSubscription, Subscribed};
pub use table::{NewColumn, NewDefault, NewTable};
pub use text_search::{Mapping, NewName};
pub use trigger::NewTrigger;
pub use types::{NewBaseType, NewDomain};

use crate::cache::Stale;
use crate::database::{Catalog, Reader, SessionCatalog, register_change};
use crate::row::{Row, RowExt};
use crate::system::{
    SystemColumn, SystemTable, pg_attrdef, pg_attribute, pg_auth_members, pg_authid, pg_class, pg_constraint,
    pg_database, pg_depend, pg_description, pg_foreign_table, pg_index, pg_inherits, pg_largeobject,
    pg_largeobject_metadata, pg_namespace, pg_partitioned_table, pg_policy, pg_proc, pg_rewrite, pg_sequence,
    pg_statistic, pg_statistic_ext, pg_trigger, pg_type,
};
use crate::tables::{OpenTable, Place, concurrently};
pub use oldest::NotedIds;

/// The catalog as one statement of one session changes it.
pub struct Changer<'a> {
    /// What sessions share.
    pub catalog: &'a Arc<Catalog>,
    /// What this one adds.
    pub session: &'a Rc<SessionCatalog>,
    /// Its transaction.
    pub me: &'a mut Transaction,
    /// That one's combo command ids.
    pub combo: &'a ComboCids,
}

/// What all databases read has characters, which a database whose texts are bytes does not have beyond ASCII.
fn check_shared_texts(shape: &SystemTable, row: &Row) -> SqlResult<()> {
    if !shape.shared || !::types::text::texts_are_bytes() {
        return Ok(());
    }
    let is_text = |column: &SystemColumn| [oids::name, oids::text, oids::_text].contains(&column.ty.oid);
    let foreign = |datum: &Datum| match datum {
        Datum::Bytes(bytes) => ::types::encoding::has_bytes(bytes),
        _ => false,
    };
    match shape.columns.iter().zip(row).any(|(column, datum)| is_text(column) && foreign(datum)) {
        false => Ok(()),
        true => Err(SqlError::not_supported(
            "a name or text beyond ASCII that all databases share, in one with the encoding \"SQL_ASCII\",",
        )),
    }
}

impl Changer<'_> {
    /// The catalog as this transaction sees it.
    pub fn reader(&self) -> Reader<'_> {
        Reader { catalog: self.catalog, session: self.session, me: self.me, combo: self.combo }
    }

    /// Enters a row.
    pub fn insert(&mut self, shape: &SystemTable, row: &Row) -> SqlResult<()> {
        check_shared_texts(shape, row)?;
        let mut stale = Vec::new();
        makes_stale(shape, row, &mut stale);
        stale.extend(may_be_searched(shape, row).then_some(Stale::Authority));
        self.change(shape, stale, 0, |table, writer| table.insert(writer, row).map(|()| None))?;
        Ok(())
    }

    /// Replaces a row. Who is changing it is waited for; if that one commits, this is an error, as in PostgreSQL.
    pub fn update(&mut self, shape: &SystemTable, place: Place, old: &Row, row: &Row) -> SqlResult<()> {
        match self.try_update(shape, place, old, row)? {
            true => Ok(()),
            false => Err(concurrently("updated")),
        }
    }

    /// The same; false if that one has committed.
    fn try_update(&mut self, shape: &SystemTable, place: Place, old: &Row, row: &Row) -> SqlResult<bool> {
        check_shared_texts(shape, row)?;
        let mut stale = Vec::new();
        makes_stale(shape, old, &mut stale);
        makes_stale(shape, row, &mut stale);
        // A plan does not say which built-in functions it calls.
        let execute = shape.oid == pg_proc::TABLE.oid && old[pg_proc::PROACL] != row[pg_proc::PROACL];
        stale.extend((execute || changes_rights(shape)).then_some(Stale::Authority));
        self.change(shape, stale, 1, |table, writer| table.update(writer, place, old, row))
    }

    /// Removes a row. Who is changing it is waited for as in [`update`](Self::update).
    pub fn delete(&mut self, shape: &SystemTable, place: Place, old: &Row) -> SqlResult<()> {
        let mut stale = Vec::new();
        makes_stale(shape, old, &mut stale);
        stale.extend(changes_rights(shape).then_some(Stale::Authority));
        match self.change(shape, stale, 2, |table, writer| table.delete(writer, place, old))? {
            true => Ok(()),
            false => Err(concurrently("deleted")),
        }
    }

    /// Replaces the one row with this key by what `edit` makes of it; false if there is none.
    pub(crate) fn edit(
        &mut self,
        shape: &SystemTable,
        index: Oid,
        key: &[tuple::Datum],
        edit: impl FnOnce(&mut Row),
    ) -> SqlResult<bool> {
        let Some((place, old)) = self.reader().find_one(shape, index, key)? else { return Ok(false) };
        let mut row = old.clone();
        edit(&mut row);
        if row != old {
            self.update(shape, place, &old, &row)?;
        }
        Ok(true)
    }

    /// As [`edit`](Self::edit) for what does not depend on the rest of the row: if another transaction commits a new version meanwhile, that is edited.
    pub(crate) fn edit_newest(
        &mut self,
        shape: &SystemTable,
        index: Oid,
        key: &[tuple::Datum],
        edit: impl Fn(&mut Row),
    ) -> SqlResult<()> {
        while let Some((place, old)) = self.reader().find_one(shape, index, key)? {
            let mut row = old.clone();
            edit(&mut row);
            if row == old || self.try_update(shape, place, &old, &row)? {
                break;
            }
        }
        Ok(())
    }

    /// Removes all rows whose key begins with `key` and that `which` picks.
    pub(crate) fn delete_where(
        &mut self,
        shape: &SystemTable,
        index: Oid,
        key: &[tuple::Datum],
        which: impl Fn(&Row) -> bool,
    ) -> SqlResult<usize> {
        let rows = self.reader().find(shape, index, key)?;
        let mut removed = 0;
        for (place, row) in rows.iter().filter(|(_, row)| which(row)) {
            self.delete(shape, *place, row)?;
            removed += 1;
        }
        Ok(removed)
    }

    /// Writes a row after waiting for any transaction that is changing it; false if one has. `kind`: how it counts among [`Written::rows`](crate::Written).
    fn change(
        &mut self,
        shape: &SystemTable,
        stale: Vec<Stale>,
        kind: usize,
        write: impl Fn(&OpenTable, &Writer<'_>) -> SqlResult<Option<Refusal>>,
    ) -> SqlResult<bool> {
        let xid = self.me.xid().map_err(SqlError::from)?;
        while let Some(refusal) = self.writing(shape, |changer| {
            let writer = changer.writer(xid);
            write(&changer.reader().table(shape), &writer)
        })? {
            let Refusal::WouldBlock { xid, .. } = refusal else { return Ok(false) };
            self.me.wait_for(xid).map_err(SqlError::from)?;
        }
        register_change(self.catalog, self.session, self.me, stale);
        self.session.note_written(shape.oid, self.me.depth() as u32, kind);
        Ok(true)
    }

    /// Who writes rows.
    fn writer(&self, xid: Xid) -> Writer<'_> {
        Writer {
            xid,
            cid: self.me.current_command(),
            me: self.me,
            combo: self.combo,
            compression: Default::default(),
            chunks: None,
        }
    }

    /// Locks a catalog while one row is written, so that the catalog is not rewritten meanwhile.
    fn writing<T>(
        &mut self,
        shape: &SystemTable,
        write: impl FnOnce(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let tag = self.catalog.lock_tag(shape.oid);
        self.me.lock(tag, LockMode::RowExclusive, LockWait::Block)?;
        let written = write(self);
        self.me.unlock(tag, LockMode::RowExclusive);
        written
    }

    /// Makes what was changed so far visible to what follows.
    pub fn next_command(&mut self) -> SqlResult<()> {
        self.me.next_command().map_err(SqlError::from)?;
        self.reader().forget();
        Ok(())
    }

    /// A new OID for a row of any catalog.
    pub fn new_oid(&self) -> Oid {
        self.catalog.engine().next_oid()
    }
}

/// Whether a new row is a schema that search paths may have named before. Temporary ones come and go with their sessions.
fn may_be_searched(shape: &SystemTable, row: &Row) -> bool {
    shape.oid == pg_namespace::TABLE.oid && !row.str(pg_namespace::NSPNAME).starts_with("pg_")
}

/// Whether rows of this catalog are never cached.
fn is_read_each_time(catalog: Oid) -> bool {
    [
        pg_depend::TABLE.oid,
        pg_description::TABLE.oid,
        pg_largeobject::TABLE.oid,
        pg_largeobject_metadata::TABLE.oid,
    ]
    .contains(&catalog)
}

/// Whether rows of this catalog decide about privileges once they are committed. A new role or database changes nothing yet.
fn changes_rights(shape: &SystemTable) -> bool {
    [pg_authid::TABLE.oid, pg_namespace::TABLE.oid, pg_database::TABLE.oid].contains(&shape.oid)
}

/// What a row of a catalog says, and so what changes with it.
fn makes_stale(shape: &SystemTable, row: &Row, stale: &mut Vec<Stale>) {
    let relation = |column: usize| Stale::Relation(row.oid(column));
    match shape.oid {
        oid if oid == pg_class::TABLE.oid => {
            stale.push(relation(pg_class::OID));
            let name = row.str(pg_class::RELNAME).into();
            stale.push(Stale::RelationName(row.oid(pg_class::RELNAMESPACE), name));
        }
        oid if oid == pg_attribute::TABLE.oid => stale.push(relation(pg_attribute::ATTRELID)),
        oid if oid == pg_attrdef::TABLE.oid => stale.push(relation(pg_attrdef::ADRELID)),
        oid if oid == pg_index::TABLE.oid => {
            stale.push(relation(pg_index::INDRELID));
            stale.push(relation(pg_index::INDEXRELID));
        }
        oid if oid == pg_constraint::TABLE.oid => {
            stale.push(relation(pg_constraint::CONRELID));
            if row.oid(pg_constraint::CONTYPID).is_valid() {
                stale.push(Stale::Catalog(pg_type::TABLE.oid));
            }
        }
        oid if oid == pg_foreign_table::TABLE.oid => stale.push(relation(pg_foreign_table::FTRELID)),
        oid if oid == pg_policy::TABLE.oid => stale.push(relation(pg_policy::POLRELID)),
        oid if oid == pg_trigger::TABLE.oid => stale.push(relation(pg_trigger::TGRELID)),
        oid if oid == pg_rewrite::TABLE.oid => stale.push(relation(pg_rewrite::EV_CLASS)),
        oid if oid == pg_inherits::TABLE.oid => {
            stale.push(relation(pg_inherits::INHRELID));
            stale.push(relation(pg_inherits::INHPARENT));
        }
        oid if oid == pg_partitioned_table::TABLE.oid => {
            stale.push(relation(pg_partitioned_table::PARTRELID))
        }
        oid if oid == pg_sequence::TABLE.oid => stale.push(relation(pg_sequence::SEQRELID)),
        oid if oid == pg_statistic::TABLE.oid => {
            stale.push(Stale::Statistics(row.oid(pg_statistic::STARELID)))
        }
        oid if oid == pg_statistic_ext::TABLE.oid => stale.push(relation(pg_statistic_ext::STXRELID)),
        oid if oid == pg_auth_members::TABLE.oid => stale.push(Stale::Authority),
        oid if is_read_each_time(oid) => {}
        oid => stale.push(Stale::Catalog(oid)),
    }
}
