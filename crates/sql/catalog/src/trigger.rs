//! Triggers of a relation, as `pg_trigger` has them. Constraints that triggers implement (foreign keys, deferrable unique keys) are among
//! them, with functions of the system.

use std::sync::Arc;

use base::{Oid, SqlResult};
use tuple::Datum;

use crate::database::Reader;
use crate::row::{Row, RowExt};
use crate::system::pg_trigger;
use crate::vectors;

/// When and for what a trigger fires: the bits of `pg_trigger.tgtype`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TriggerKind(pub i16);

impl TriggerKind {
    /// FOR EACH ROW.
    pub const ROW: i16 = 1;
    /// BEFORE.
    pub const BEFORE: i16 = 2;
    /// INSERT.
    pub const INSERT: i16 = 4;
    /// DELETE.
    pub const DELETE: i16 = 8;
    /// UPDATE.
    pub const UPDATE: i16 = 16;
    /// TRUNCATE.
    pub const TRUNCATE: i16 = 32;
    /// INSTEAD OF.
    pub const INSTEAD: i16 = 64;

    /// Whether all these bits are set.
    pub fn has(self, bits: i16) -> bool {
        self.0 & bits == bits
    }

    /// FOR EACH ROW, not FOR EACH STATEMENT.
    pub fn row(self) -> bool {
        self.has(Self::ROW)
    }

    /// BEFORE.
    pub fn before(self) -> bool {
        self.has(Self::BEFORE)
    }

    /// INSTEAD OF.
    pub fn instead(self) -> bool {
        self.has(Self::INSTEAD)
    }

    /// AFTER.
    pub fn after(self) -> bool {
        self.0 & (Self::BEFORE | Self::INSTEAD) == 0
    }
}

/// A trigger.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trigger {
    /// OID.
    pub oid: Oid,
    /// The trigger of the partitioned table that it is a part of; 0 if none.
    pub parent: Oid,
    /// Name.
    pub name: String,
    /// Its function.
    pub function: Oid,
    /// When and for what it fires.
    pub kind: TriggerKind,
    /// `pg_trigger.tgenabled`: O, D, R or A.
    pub enabled: u8,
    /// Made by the system, for a constraint.
    pub internal: bool,
    /// The other table of a foreign key, or FROM; 0 if none.
    pub constraint_relation: Oid,
    /// The index of a unique constraint or of a foreign key's target; 0 if none.
    pub constraint_index: Oid,
    /// Its constraint; 0 if none.
    pub constraint: Oid,
    /// DEFERRABLE.
    pub deferrable: bool,
    /// INITIALLY DEFERRED.
    pub deferred: bool,
    /// UPDATE OF these columns; empty for all.
    pub columns: Vec<i16>,
    /// Arguments of the function.
    pub args: Vec<String>,
    /// WHEN, as `analyze::stored` writes it: the old row has range table index 0, the new one 1.
    pub when: Option<Arc<str>>,
    /// REFERENCING OLD TABLE.
    pub old_table: Option<String>,
    /// REFERENCING NEW TABLE.
    pub new_table: Option<String>,
}

impl Trigger {
    /// A trigger as its row says.
    pub fn of_row(row: &Row) -> Trigger {
        use pg_trigger as t;
        Trigger {
            oid: row.oid(t::OID),
            parent: row.oid(t::TGPARENTID),
            name: row.str(t::TGNAME).to_owned(),
            function: row.oid(t::TGFOID),
            kind: TriggerKind(row.int(t::TGTYPE) as i16),
            enabled: row.char(t::TGENABLED),
            internal: row.bool(t::TGISINTERNAL),
            constraint_relation: row.oid(t::TGCONSTRRELID),
            constraint_index: row.oid(t::TGCONSTRINDID),
            constraint: row.oid(t::TGCONSTRAINT),
            deferrable: row.bool(t::TGDEFERRABLE),
            deferred: row.bool(t::TGINITDEFERRED),
            columns: vectors::int2s(&row[t::TGATTR]),
            args: arguments(&row[t::TGARGS], row.int(t::TGNARGS) as usize),
            when: row.opt_str(t::TGQUAL).map(Into::into),
            old_table: row.opt_str(t::TGOLDTABLE).map(str::to_owned),
            new_table: row.opt_str(t::TGNEWTABLE).map(str::to_owned),
        }
    }

    /// Whether its function may read the rows of a change as tables.
    pub fn has_transitions(&self) -> bool {
        self.old_table.is_some() || self.new_table.is_some()
    }

    /// Whether it is the part of a partitioned table's trigger.
    pub fn is_clone(&self) -> bool {
        self.parent.is_valid()
    }
}

/// Arguments as `tgargs` has them: each ends with a zero byte.
fn arguments(value: &Datum, count: usize) -> Vec<String> {
    let Datum::Bytes(bytes) = value else { return Vec::new() };
    let text = |part: &[u8]| String::from_utf8_lossy(part).into_owned();
    bytes.as_slice().split(|b| *b == 0).take(count).map(text).collect()
}

impl Reader<'_> {
    /// Triggers of a relation by name, the order in which they fire.
    pub fn triggers(&self, relation: Oid) -> SqlResult<Vec<Arc<Trigger>>> {
        let index = pg_trigger::PG_TRIGGER_TGRELID_TGNAME_INDEX;
        let rows = self.find(&pg_trigger::TABLE, index, &[relation.into()])?;
        let mut triggers: Vec<_> = rows.iter().map(|(_, row)| Arc::new(Trigger::of_row(row))).collect();
        triggers.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(triggers)
    }
}
