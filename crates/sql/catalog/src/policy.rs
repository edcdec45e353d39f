//! Row security of a table: whether it is on, and its policies, as `pg_policy` has them.

use std::sync::Arc;

use base::{Oid, SqlResult};

use crate::database::Reader;
use crate::row::{Row, RowExt};
use crate::system::pg_policy as p;
use crate::vectors;
use crate::view::Table;

/// What a policy is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum PolicyCommand {
    Select,
    Insert,
    Update,
    Delete,
}

/// A policy.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// OID.
    pub oid: Oid,
    /// Name.
    pub name: String,
    /// What it is for; none: all commands.
    pub command: Option<PolicyCommand>,
    /// Its rows may be seen, rather than no others.
    pub permissive: bool,
    /// The roles that it is for; 0 stands for PUBLIC.
    pub roles: Vec<Oid>,
    /// USING, as `analyze::stored` writes it: columns of the table have range table index 0.
    pub using: Option<Arc<str>>,
    /// WITH CHECK.
    pub check: Option<Arc<str>>,
}

/// Row security of a table that has it enabled.
#[derive(Clone, Debug, PartialEq)]
pub struct RowSecurity {
    /// For the owner, too.
    pub forced: bool,
    /// The policies by name.
    pub policies: Vec<Policy>,
}

impl PolicyCommand {
    fn from_letter(letter: u8) -> Option<PolicyCommand> {
        match letter {
            b'r' => Some(PolicyCommand::Select),
            b'a' => Some(PolicyCommand::Insert),
            b'w' => Some(PolicyCommand::Update),
            b'd' => Some(PolicyCommand::Delete),
            _ => None,
        }
    }
}

/// `pg_policy.polcmd`
pub(crate) fn letter(command: Option<PolicyCommand>) -> u8 {
    match command {
        None => b'*',
        Some(PolicyCommand::Select) => b'r',
        Some(PolicyCommand::Insert) => b'a',
        Some(PolicyCommand::Update) => b'w',
        Some(PolicyCommand::Delete) => b'd',
    }
}

impl Policy {
    /// A policy as its row says.
    pub fn of_row(row: &Row) -> Policy {
        Policy {
            oid: row.oid(p::OID),
            name: row.str(p::POLNAME).to_owned(),
            command: PolicyCommand::from_letter(row.char(p::POLCMD)),
            permissive: row.bool(p::POLPERMISSIVE),
            roles: vectors::oids(&row[p::POLROLES]),
            using: row.opt_str(p::POLQUAL).map(Into::into),
            check: row.opt_str(p::POLWITHCHECK).map(Into::into),
        }
    }
}

impl Table {
    /// Whether row security is enabled and FORCEd.
    pub fn is_secured_from_owner(&self) -> bool {
        self.row_security.as_ref().is_some_and(|security| security.forced)
    }
}

impl Reader<'_> {
    /// Whether row security of a table counts for a role; `forced`: also if that has the owner's privileges.
    pub fn may_be_hidden(&self, table: &Table, role: Oid, forced: bool) -> SqlResult<bool> {
        if table.row_security.is_none() || table.oid.is_pinned() {
            return Ok(false);
        }
        let facts = self.role_facts(role)?;
        let exempt =
            facts.superuser || facts.bypass_rls || (!forced && facts.inherits.contains(&table.owner));
        Ok(!exempt)
    }

    /// Policies of a table by name.
    pub fn policies(&self, table: Oid) -> SqlResult<Vec<Policy>> {
        let rows = self.find(&p::TABLE, p::PG_POLICY_POLRELID_POLNAME_INDEX, &[table.into()])?;
        let mut policies: Vec<_> = rows.iter().map(|(_, row)| Policy::of_row(row)).collect();
        policies.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(policies)
    }

    /// The table of a policy, and the policy's name.
    pub fn policy_of(&self, oid: Oid) -> SqlResult<Option<(Oid, String)>> {
        let found = self.find_one(&p::TABLE, p::PG_POLICY_OID_INDEX, &[oid.into()])?;
        Ok(found.map(|(_, row)| (row.oid(p::POLRELID), row.str(p::POLNAME).to_owned())))
    }
}
