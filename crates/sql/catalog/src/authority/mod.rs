//! # What
//! Who may do what: the rights of a role on an object, from the object's owner and ACL and the role's memberships.
//!
//! # Layout
//! `kinds`: where owner and ACL stand. Here: what they give a role.
//!
//! # Invariants
//! 1. Everything asked here is cached like other descriptions: a change of a role, a membership, an owner or an ACL takes
//!    it out of the caches of all databases when, and only when, its transaction commits.
//! 2. A superuser holds everything, the owner can grant everything.
//!
//! # PostgreSQL counterpart
//! `catalog/aclchk.c`: the `pg_*_aclmask` family.

mod kinds;

use std::sync::Arc;

use base::{Oid, SqlError, SqlResult, sql_err};
use types::acl::{self, AclItem, Held, bits};

pub use kinds::{AclKind, COLUMN_PRIVILEGES};

use crate::database::Reader;
use crate::roles::predefined;
use crate::row::RowExt;
use crate::system::{pg_namespace, pg_proc};
use crate::view::{RelationKind, Table};

/// The ACLs of a relation and its columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grants {
    /// Of the relation; `None`: what its kind grants by default.
    pub relation: Option<Vec<AclItem>>,
    /// Of columns that have one, by attribute number.
    pub columns: Vec<(i16, Vec<AclItem>)>,
}

impl Grants {
    /// The items of a column.
    pub fn column(&self, number: i16) -> &[AclItem] {
        self.columns.iter().find(|(n, _)| *n == number).map_or(&[], |(_, items)| items)
    }
}

/// Owner and ACL of an object that is no relation.
#[derive(Clone, Debug, PartialEq)]
pub struct Owned {
    /// Owner.
    pub owner: Oid,
    /// ACL; `None`: what its kind grants by default.
    pub acl: Option<Vec<AclItem>>,
}

/// What a query needs on one relation.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// Privileges, as bits of [`types::acl`].
    pub required: u32,
    /// Columns read: attribute numbers, 0 for the whole row.
    pub selected: &'a [i16],
    /// Columns inserted.
    pub inserted: &'a [i16],
    /// Columns updated.
    pub updated: &'a [i16],
}

/// The letter of `acldefault` for a relation.
pub fn relation_letter(kind: RelationKind) -> u8 {
    if kind == RelationKind::Sequence { b's' } else { b'r' }
}

/// `permission denied for …`.
pub fn denied(what: &str, name: &str) -> SqlError {
    sql_err!(INSUFFICIENT_PRIVILEGE, "permission denied for {what} {name}")
}

/// The word for a relation in messages about denied access.
pub fn relation_word(kind: RelationKind) -> &'static str {
    match kind {
        RelationKind::Index | RelationKind::PartitionedIndex => "index",
        RelationKind::Sequence => "sequence",
        RelationKind::View => "view",
        RelationKind::MaterializedView => "materialized view",
        RelationKind::ForeignTable => "foreign table",
        RelationKind::Composite => "type",
        RelationKind::Table | RelationKind::PartitionedTable | RelationKind::Toast => "table",
    }
}

impl Reader<'_> {
    /// What a role holds on an object with this owner and ACL, of a kind that `acldefault` gives a letter.
    pub fn rights(&self, role: Oid, letter: u8, owned: (Oid, Option<&[AclItem]>)) -> SqlResult<Held> {
        let facts = self.role_facts(role)?;
        if facts.superuser {
            return Ok(Held::ALL);
        }
        let (owner, items) = owned;
        let has = |of: Oid| facts.inherits.contains(&of);
        Ok(match items {
            Some(items) => acl::held(items, owner, &has),
            None => acl::held(&acl::default_items(letter, owner)?, owner, &has),
        })
    }

    /// What a role holds on a relation as a whole.
    pub fn relation_rights(&self, role: Oid, table: &Table) -> SqlResult<Held> {
        let acl = table.grants.relation.as_deref();
        let mut held = self.rights(role, relation_letter(table.kind), (table.owner, acl))?;
        if held == Held::ALL {
            return Ok(held);
        }
        let facts = self.role_facts(role)?;
        let is = |role: Oid| facts.inherits.contains(&role);
        // Only superusers change catalogs, whatever their ACLs say.
        let system = table.oid.is_pinned() || table.kind == RelationKind::Toast;
        if system && table.kind != RelationKind::View {
            held.privileges &= !bits("awdDU");
        }
        if is(predefined::READ_ALL_DATA) {
            held.privileges |= bits("r");
        }
        if is(predefined::WRITE_ALL_DATA) && !system {
            held.privileges |= bits("awd");
        }
        if is(predefined::MAINTAIN) {
            held.privileges |= bits("m");
        }
        Ok(held)
    }

    /// What a role holds on a column by the column's own ACL.
    pub fn column_rights(&self, role: Oid, table: &Table, number: i16) -> SqlResult<Held> {
        let facts = self.role_facts(role)?;
        if facts.superuser {
            return Ok(Held::ALL);
        }
        let has = |of: Oid| facts.inherits.contains(&of);
        Ok(acl::held(table.grants.column(number), table.owner, &has))
    }

    /// Whether a role holds what a query needs on a relation: on the whole, or on every column that it touches.
    pub fn may_access(&self, role: Oid, table: &Table, wanted: Wanted<'_>) -> SqlResult<bool> {
        let missing = wanted.required & !self.relation_rights(role, table)?.privileges;
        if missing == 0 {
            return Ok(true);
        }
        if missing & !bits("raw") != 0 || table.grants.columns.is_empty() {
            return Ok(false);
        }
        for (bit, columns) in
            [(bits("r"), wanted.selected), (bits("a"), wanted.inserted), (bits("w"), wanted.updated)]
        {
            if missing & bit != 0 && !self.may_access_columns(role, table, bit, columns)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a role holds a privilege on all these columns; on any if there are none.
    fn may_access_columns(&self, role: Oid, table: &Table, bit: u32, columns: &[i16]) -> SqlResult<bool> {
        let holds = |number: i16| {
            Ok::<bool, SqlError>(self.column_rights(role, table, number)?.privileges & bit != 0)
        };
        if columns.is_empty() {
            return self.holds_on_any_column(role, table, (bit, false));
        }
        for &number in columns {
            let allowed = match number {
                0 => {
                    let all =
                        (1..=table.columns.len() as i16).filter(|n| !table.columns[*n as usize - 1].dropped);
                    all.map(holds).try_fold(true, |so_far, one| Ok::<_, SqlError>(so_far && one?))?
                }
                number => holds(number)?,
            };
            if !allowed {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a role holds a privilege on some column by that column's ACL.
    pub fn holds_on_any_column(&self, role: Oid, table: &Table, wanted: acl::Wanted) -> SqlResult<bool> {
        for (number, _) in &table.grants.columns {
            let dropped = table.columns.get(*number as usize - 1).is_none_or(|column| column.dropped);
            if !dropped && self.column_rights(role, table, *number)?.has(wanted) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Owner and ACL of a schema.
    pub fn schema_owned(&self, schema: Oid) -> SqlResult<Option<Arc<Owned>>> {
        self.cached(
            |entries| entries.schema_acls.get(&schema).cloned(),
            || {
                let key = [schema.into()];
                let row = self.find_one(&pg_namespace::TABLE, pg_namespace::PG_NAMESPACE_OID_INDEX, &key)?;
                Ok(row.map(|(_, row)| {
                    Arc::new(Owned {
                        owner: row.oid(pg_namespace::NSPOWNER),
                        acl: acl::optional_items(&row[pg_namespace::NSPACL]),
                    })
                }))
            },
            |entries, owned| {
                entries.schema_acls.insert(schema, owned);
            },
        )
    }

    /// What a role holds on a schema.
    pub fn schema_rights(&self, role: Oid, schema: Oid) -> SqlResult<Held> {
        let facts = self.role_facts(role)?;
        if facts.superuser || self.session.temporary_schema() == Some(schema) {
            return Ok(Held::ALL);
        }
        let Some(owned) = self.schema_owned(schema)? else { return Ok(Held::default()) };
        let mut held = self.rights(role, b'n', (owned.owner, owned.acl.as_deref()))?;
        let reads_all = [predefined::READ_ALL_DATA, predefined::WRITE_ALL_DATA];
        if reads_all.iter().any(|role| facts.inherits.contains(role)) {
            held.privileges |= bits("U");
        }
        Ok(held)
    }

    /// Owner and ACL of a function; nothing for one without a row.
    pub fn function_owned(&self, function: Oid) -> SqlResult<Option<Arc<Owned>>> {
        self.cached(
            |entries| entries.function_acls.get(&function).cloned(),
            || {
                let row = self.routine_row(function)?;
                Ok(row.map(|row| {
                    let acl = acl::optional_items(&row[pg_proc::PROACL]);
                    Arc::new(Owned { owner: row.oid(pg_proc::PROOWNER), acl })
                }))
            },
            |entries, owned| {
                entries.function_acls.insert(function, owned);
            },
        )
    }

    /// Name and `prokind` of a function, for messages.
    pub fn function_name(&self, function: Oid) -> SqlResult<(String, u8)> {
        let row = self.routine_row(function)?;
        Ok(row.map_or_else(
            || (function.to_string(), b'f'),
            |row| (row.str(pg_proc::PRONAME).to_owned(), row.char(pg_proc::PROKIND)),
        ))
    }

    /// Whether the current user may look names up in a schema.
    pub fn may_use_schema(&self, schema: Oid) -> SqlResult<bool> {
        Ok(self.schema_rights(self.session.user(), schema)?.has((bits("U"), false)))
    }

    /// Fails unless the current user may look names up in a schema.
    pub fn check_schema_usage(&self, schema: Oid, name: &str) -> SqlResult<()> {
        if self.may_use_schema(schema)? { Ok(()) } else { Err(denied("schema", name)) }
    }
}
