//! Inheritance: parents and children (`pg_inherits`), bounds of partitions.

use base::{Oid, SqlResult};
use tuple::Datum;

use super::{Changer, Dependency, ObjectAddress, register_change};
use crate::cache::Stale;
use crate::partition::{Bound, Partitioning};
use crate::row::{RowBuilder, RowExt};
use crate::stored_list;
use crate::system::{pg_attribute, pg_class, pg_constraint, pg_depend, pg_inherits, pg_partitioned_table};
use crate::vectors::{int2_vector, oid_vector};

/// Where a column or constraint comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The table itself defines it.
    pub local: bool,
    /// Direct parents that have it.
    pub inherited: i16,
}

impl Changer<'_> {
    /// Makes `child` a child of `parent`: the last of its parents. A partition goes with its parent, another child asks.
    pub fn add_parent(&mut self, child: Oid, parent: Oid, partition: bool) -> SqlResult<()> {
        let index = pg_inherits::PG_INHERITS_RELID_SEQNO_INDEX;
        let rows = self.reader().find(&pg_inherits::TABLE, index, &[child.into()])?;
        let last = rows.iter().map(|(_, row)| row.int(pg_inherits::INHSEQNO)).max().unwrap_or(0);
        let row = RowBuilder::new(&pg_inherits::TABLE)
            .set(pg_inherits::INHRELID, child)
            .set(pg_inherits::INHPARENT, parent)
            .set(pg_inherits::INHSEQNO, last + 1);
        self.insert(&pg_inherits::TABLE, &row.build())?;
        let kind = if partition { Dependency::Auto } else { Dependency::Normal };
        self.depend(ObjectAddress::relation(child), ObjectAddress::relation(parent), kind)?;
        self.edit_relation(parent, |row| row[pg_class::RELHASSUBCLASS] = Datum::Bool(true))?;
        self.forget_below(child)
    }

    /// Ends what [`Changer::add_parent`] began.
    pub fn remove_parent(&mut self, child: Oid, parent: Oid) -> SqlResult<()> {
        let index = pg_inherits::PG_INHERITS_RELID_SEQNO_INDEX;
        self.delete_where(&pg_inherits::TABLE, index, &[child.into()], |row| {
            row.oid(pg_inherits::INHPARENT) == parent
        })?;
        let key = [pg_class::TABLE.oid.into(), child.into(), 0i32.into()];
        self.delete_where(&pg_depend::TABLE, pg_depend::PG_DEPEND_DEPENDER_INDEX, &key, |row| {
            row.oid(pg_depend::REFCLASSID) == pg_class::TABLE.oid
                && row.oid(pg_depend::REFOBJID) == parent
                && row.int(pg_depend::REFOBJSUBID) == 0
        })?;
        self.next_command()?;
        self.forget_below(child)
    }

    /// Descriptions of what is below a relation say how the tables above are published.
    fn forget_below(&mut self, relation: Oid) -> SqlResult<()> {
        let mut below = vec![relation];
        let mut at = 0;
        while let Some(&next) = below.get(at) {
            below.extend(self.reader().children(next)?.iter().map(|child| child.oid));
            at += 1;
        }
        let stale = below.split_off(1).into_iter().map(Stale::Relation).collect::<Vec<_>>();
        if !stale.is_empty() {
            register_change(self.catalog, self.session, self.me, stale);
        }
        Ok(())
    }

    /// Marks a partition as being detached: snapshots from the end of this transaction on do without it.
    pub fn mark_detached(&mut self, partition: Oid) -> SqlResult<()> {
        let index = pg_inherits::PG_INHERITS_RELID_SEQNO_INDEX;
        self.edit(&pg_inherits::TABLE, index, &[partition.into()], |row| {
            row[pg_inherits::INHDETACHPENDING] = Datum::Bool(true);
        })?;
        self.next_command()
    }

    /// Sets where a column comes from.
    pub fn set_column_origin(&mut self, table: Oid, number: i16, origin: Origin) -> SqlResult<()> {
        self.edit_column(table, number, |row| {
            row[pg_attribute::ATTISLOCAL] = Datum::Bool(origin.local);
            row[pg_attribute::ATTINHCOUNT] = Datum::Int2(origin.inherited);
        })
    }

    /// Sets where a constraint comes from.
    pub fn set_constraint_origin(&mut self, constraint: Oid, origin: Origin) -> SqlResult<()> {
        self.edit_constraint(constraint, |row| {
            row[pg_constraint::CONISLOCAL] = Datum::Bool(origin.local);
            row[pg_constraint::CONINHCOUNT] = Datum::Int2(origin.inherited);
        })
    }

    /// Notes how a new partitioned table is partitioned.
    pub fn set_partition_key(&mut self, table: Oid, key: &Partitioning) -> SqlResult<()> {
        use pg_partitioned_table as p;
        let row = RowBuilder::new(&p::TABLE)
            .set(p::PARTRELID, table)
            .set(p::PARTSTRAT, key.strategy.letter())
            .set(p::PARTNATTS, key.keys.len() as i16)
            .set(p::PARTDEFID, key.default)
            .set(p::PARTATTRS, int2_vector(&key.keys))
            .set(p::PARTCLASS, oid_vector(&key.opclasses))
            .set(p::PARTCOLLATION, oid_vector(&key.collations))
            .set_some(
                p::PARTEXPRS,
                (!key.expressions.is_empty()).then(|| stored_list::join(&key.expressions)),
            );
        self.insert(&p::TABLE, &row.build())?;
        let me = ObjectAddress::relation(table);
        self.depend_on_all(me, key.opclasses.iter().map(|class| ObjectAddress::operator_class(*class)))?;
        self.next_command()
    }

    /// Makes a child a partition with this bound, or (none) a table of its own.
    pub fn set_bound(&mut self, partition: Oid, bound: Option<&Bound>) -> SqlResult<()> {
        self.edit_relation(partition, |row| {
            row[pg_class::RELISPARTITION] = Datum::Bool(bound.is_some());
            row[pg_class::RELPARTBOUND] = bound.map_or(Datum::Null, |b| Datum::text(&b.store()));
        })
    }

    /// Notes the DEFAULT partition of a table, 0 for none.
    pub fn set_default_partition(&mut self, table: Oid, default: Oid) -> SqlResult<()> {
        use pg_partitioned_table as p;
        let index = p::PG_PARTITIONED_TABLE_PARTRELID_INDEX;
        self.edit(&p::TABLE, index, &[table.into()], |row| row[p::PARTDEFID] = default.into())?;
        self.next_command()
    }
}
