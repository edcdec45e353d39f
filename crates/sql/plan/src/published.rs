//! What keeps rows of a published table from being changed: subscribers must be able to tell which row it is.
//!
//! Found out when a statement is planned, of tables that some publication publishes; a plan goes with the descriptions of its tables, which go with
//! any change of a publication or a replica identity. So what runs looks at a plan once, and not at all at tables that nobody publishes.
//!
//! PostgreSQL counterpart: `CheckCmdReplicaIdentity` of `execReplication.c`, `pub_rf_contains_invalid_column` and
//! `pub_contains_invalid_column` of `publicationcmds.c`.

use analyze::{Expr, computed, walk};
use base::{SqlError, SqlResult, sql_err};
use catalog::view::{CatalogView, Generated, Table};
use catalog::{Published, PublishedTable, ReplicaIdentity};

use crate::plan::{Command, Modify, TargetTable};

/// Why a row must not be changed; the first of several is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Hindrance {
    /// A row filter uses columns beyond the replica identity.
    Filter,
    /// A column list lacks columns of the replica identity.
    Columns,
    /// Generated columns of the replica identity are not published.
    Generated,
    /// There is no replica identity.
    NoIdentity,
}

/// Why rows of a table must not be updated or deleted.
#[derive(Clone, Copy, Debug)]
pub struct Hindrances {
    update: Option<Hindrance>,
    delete: Option<Hindrance>,
}

impl Hindrances {
    /// What publications of a table have against changes of its rows; mostly nothing.
    pub(crate) fn of(table: &Table, catalog: &dyn CatalogView) -> SqlResult<Option<Hindrances>> {
        let Some(published) = &table.published else { return Ok(None) };
        let (mut update, mut delete) = (None, None);
        for one in published.iter() {
            let Some(found) = hindrance(table, one, catalog)? else { continue };
            let note = |first: &mut Option<Hindrance>| *first = Some(first.map_or(found, |f| f.min(found)));
            if one.update {
                note(&mut update);
            }
            if one.delete {
                note(&mut delete);
            }
        }
        Ok((update.is_some() || delete.is_some()).then_some(Hindrances { update, delete }))
    }

    /// Fails if a row of the table must not be changed so.
    pub fn check(self, table: &Table, command: Command) -> SqlResult<()> {
        let (found, verb, verbs, gerund) = match command {
            Command::Update => (self.update, "update", "updates", "updating"),
            Command::Delete => (self.delete, "delete from", "deletes", "deleting from"),
            _ => return Ok(()),
        };
        let name = &table.name;
        let detail = match found {
            None => return Ok(()),
            Some(Hindrance::NoIdentity) => return Err(no_identity(name, (verb, verbs, gerund))),
            Some(Hindrance::Filter) => {
                "Column used in the publication WHERE expression is not part of the replica identity."
            }
            Some(Hindrance::Columns) => {
                "Column list used by the publication does not cover the replica identity."
            }
            Some(Hindrance::Generated) => "Replica identity must not contain unpublished generated columns.",
        };
        Err(sql_err!(INVALID_COLUMN_REFERENCE, "cannot {verb} table \"{name}\"").detail(detail))
    }
}

fn no_identity(name: &str, (verb, verbs, gerund): (&str, &str, &str)) -> SqlError {
    sql_err!(
        OBJECT_NOT_IN_PREREQUISITE_STATE,
        "cannot {verb} table \"{name}\" because it does not have a replica identity and publishes {verbs}"
    )
    .hint(format!("To enable {gerund} the table, set REPLICA IDENTITY using ALTER TABLE."))
}

impl TargetTable {
    /// Fails if publications have something against such a change of the table's rows.
    pub fn check_published(&self, command: Command) -> SqlResult<()> {
        self.hindrances.map_or(Ok(()), |found| found.check(&self.table, command))
    }
}

impl Modify {
    /// Fails if publications have something against what the statement does to the rows that it finds.
    pub fn check_published(&self) -> SqlResult<()> {
        let mut commands = vec![self.command];
        commands.extend(self.merge.iter().flat_map(|merge| &merge.actions).filter_map(|arm| arm.command));
        if self.on_conflict.as_ref().is_some_and(|conflict| conflict.set.is_some()) {
            commands.push(Command::Update);
        }
        let found_in = &self.targets[..self.found_in];
        found_in
            .iter()
            .filter(|target| target.hindrances.is_some())
            .try_for_each(|target| commands.iter().try_for_each(|command| target.check_published(*command)))
    }
}

/// What one publication has against changes of a table's rows.
fn hindrance(table: &Table, one: &Published, catalog: &dyn CatalogView) -> SqlResult<Option<Hindrance>> {
    let full = table.replica_identity == ReplicaIdentity::Full;
    let identity: &[i16] = table.identity_index().map_or(&[], |index| &index.keys);
    if let Some(listed) = &one.listed {
        let root = listing(table, listed, catalog)?;
        let number_here = |number: i16| match &root {
            None => Some(number),
            Some(root) => table.column(&root.columns.get(number as usize - 1)?.name).map(|(here, _)| here),
        };
        if !full
            && let Some(filter) = &listed.filter
            && used_columns(filter, root.as_deref().unwrap_or(table), catalog)?
                .into_iter()
                .any(|number| number_here(number).is_none_or(|here| !identity.contains(&here)))
        {
            return Ok(Some(Hindrance::Filter));
        }
        if let Some(columns) = &listed.columns {
            let here: Vec<i16> = columns.iter().filter_map(|number| number_here(*number)).collect();
            if full || identity.iter().any(|number| !here.contains(number)) {
                return Ok(Some(Hindrance::Columns));
            }
        }
    }
    let hides = |generated: Generated| match generated {
        Generated::None => false,
        Generated::Stored => !one.generated,
        Generated::Virtual => true,
    };
    let lists_columns = one.listed.as_ref().is_some_and(|listed| listed.columns.is_some());
    let hidden = (1..).zip(&table.columns).any(|(number, column)| {
        let told = full || (identity.contains(&number) && !lists_columns);
        told && !column.dropped && hides(column.generated)
    });
    Ok(match () {
        () if hidden => Some(Hindrance::Generated),
        () if !full && identity.is_empty() => Some(Hindrance::NoIdentity),
        () => None,
    })
}

/// The table above that a publication lists, if it is not the table itself.
fn listing(
    table: &Table,
    listed: &PublishedTable,
    catalog: &dyn CatalogView,
) -> SqlResult<Option<std::sync::Arc<Table>>> {
    match listed.relation == table.oid {
        true => Ok(None),
        false => catalog.relation_by_oid(listed.relation),
    }
}

/// The stored columns that a row filter uses.
fn used_columns(filter: &str, table: &Table, catalog: &dyn CatalogView) -> SqlResult<Vec<i16>> {
    let mut expr = analyze::stored::load_expr(filter, catalog)?;
    computed::replace(&mut expr, &[table], catalog)?;
    let mut used = Vec::new();
    walk::contains(&expr, |e, _| {
        if let Expr::Var(var) = e {
            used.push(var.attno);
        }
        false
    });
    Ok(used)
}
