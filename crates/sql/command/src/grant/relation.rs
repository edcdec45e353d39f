//! GRANT and REVOKE on a relation and its columns.

use base::{Oid, Severity, SqlError, SqlResult, SqlState, sql_err};
use catalog::authority::{AclKind, COLUMN_PRIVILEGES};
use catalog::change::ObjectAddress;
use catalog::{RelationKind, Table};
use parse::ast::ObjectKind;
use session::Session;
use types::acl::{self, AclItem, bits};

use super::super::names;
use super::{Order, grantor, invalid, restrict, words};

/// Columns that every relation with rows has, in the order of their numbers.
const SYSTEM_COLUMNS: [(i16, &str); 6] =
    [(-6, "tableoid"), (-5, "cmax"), (-4, "xmax"), (-3, "cmin"), (-2, "xmin"), (-1, "ctid")];

/// Carries out an order on a relation.
pub(super) fn change(session: &Session, named_as: ObjectKind, order: &Order, oid: Oid) -> SqlResult<()> {
    let table = names::describe(session, oid)?;
    check_kind(&table, named_as)?;
    let is_sequence = table.kind == RelationKind::Sequence;
    let kind = if is_sequence { AclKind::SEQUENCE } else { AclKind::TABLE };
    let privileges = whole_privileges(session, &table, &kind, order)?;
    let columns = column_privileges(session, &table, order, privileges)?;
    let old = match &table.grants.relation {
        Some(items) => items.clone(),
        None => acl::default_items(kind.letter, table.owner)?,
    };
    if privileges != 0 {
        let (grantor, grantable, held) = session.with_reader(|reader| {
            let (grantor, grantable) = grantor(reader, &old, table.owner, privileges)?;
            let held = reader.relation_rights(grantor, &table)?;
            Ok::<_, SqlError>((grantor, grantable, held))
        })?;
        let name = format!("\"{}\"", table.name);
        let about = (kind.word, name.as_str());
        let possible = restrict(session, order, (privileges, kind.all), grantable, held, about)?;
        let new = order.apply(session, old.clone(), (grantor, table.owner), possible)?;
        let address = ObjectAddress::relation(oid);
        session.with_changer(|changer| changer.set_acl(&kind, address, table.owner, &new))?;
    }
    for (number, privileges) in columns {
        change_column(session, &table, order, &old, (number, privileges))?;
    }
    Ok(())
}

fn check_kind(table: &Table, named_as: ObjectKind) -> SqlResult<()> {
    let what = match table.kind {
        RelationKind::Index | RelationKind::PartitionedIndex => "an index",
        RelationKind::Composite => "a composite type",
        kind if named_as == ObjectKind::Sequence && kind != RelationKind::Sequence => {
            return Err(sql_err!(WRONG_OBJECT_TYPE, "\"{}\" is not a sequence", table.name));
        }
        _ => return Ok(()),
    };
    Err(sql_err!(WRONG_OBJECT_TYPE, "\"{}\" is {what}", table.name))
}

/// Privileges on the whole that the order is about.
fn whole_privileges(session: &Session, table: &Table, kind: &AclKind, order: &Order) -> SqlResult<u32> {
    let Some(privileges) = order.privileges else { return Ok(kind.all) };
    let strange = privileges & !kind.all;
    if strange == 0 {
        return Ok(privileges);
    }
    if table.kind != RelationKind::Sequence {
        // The only privilege of sequences that tables do not have.
        return Err(invalid(bits("U"), "table"));
    }
    let message = format!("sequence \"{}\" only supports USAGE, SELECT, and UPDATE privileges", table.name);
    session.notice(SqlError::with_severity(Severity::Warning, SqlState::INVALID_GRANT_OPERATION, message));
    Ok(privileges & kind.all)
}

/// Privileges on columns that the order is about, by attribute number. What is revoked from the whole is from all columns.
fn column_privileges(
    session: &Session,
    table: &Table,
    order: &Order,
    whole: u32,
) -> SqlResult<Vec<(i16, u32)>> {
    let mut all = vec![0; table.columns.len()];
    if !order.grant {
        let live = |column: &catalog::Column| !column.dropped;
        let of_columns = whole & COLUMN_PRIVILEGES;
        all.iter_mut().zip(&table.columns).filter(|(_, c)| live(c)).for_each(|(p, _)| *p |= of_columns);
    }
    for (wanted, names) in &order.columns {
        let mut privileges = wanted.unwrap_or(COLUMN_PRIVILEGES);
        if privileges & !COLUMN_PRIVILEGES != 0 {
            return Err(SqlError::new(
                SqlState::INVALID_GRANT_OPERATION,
                format!("invalid privilege type {} for column", words(privileges)),
            ));
        }
        if table.kind == RelationKind::Sequence && privileges & !bits("r") != 0 {
            let message = format!("sequence \"{}\" only supports SELECT column privileges", table.name);
            let code = SqlState::INVALID_GRANT_OPERATION;
            session.notice(SqlError::with_severity(Severity::Warning, code, message));
            privileges &= bits("r");
        }
        for name in names {
            let Some((number, _)) = table.column(name) else {
                return Err(sql_err!(
                    UNDEFINED_COLUMN,
                    "column \"{name}\" of relation \"{}\" does not exist",
                    table.name
                ));
            };
            all[number as usize - 1] |= privileges;
        }
    }
    // Nobody has been granted anything on a system column, but REVOKE says so.
    let of_system = match order.grant || table.kind == RelationKind::View {
        true => 0,
        false => whole & COLUMN_PRIVILEGES,
    };
    let system = SYSTEM_COLUMNS.map(|(number, _)| (number, of_system));
    let numbered = system.into_iter().chain((1..).zip(all)).filter(|(_, privileges)| *privileges != 0);
    Ok(numbered.collect())
}

/// Carries out an order on one column. `whole`: the relation's items, which give rights on its columns too.
fn change_column(
    session: &Session,
    table: &Table,
    order: &Order,
    whole: &[AclItem],
    (number, privileges): (i16, u32),
) -> SqlResult<()> {
    let old = table.grants.column(number).to_vec();
    let both: Vec<AclItem> = whole.iter().chain(&old).copied().collect();
    let (grantor, grantable, held) = session.with_reader(|reader| {
        let (grantor, grantable) = grantor(reader, &both, table.owner, privileges)?;
        let mut held = reader.rights(grantor, b'c', (table.owner, Some(&both)))?;
        held.privileges |= reader.relation_rights(grantor, table)?.privileges;
        Ok::<_, SqlError>((grantor, grantable, held))
    })?;
    let system = SYSTEM_COLUMNS.iter().find(|(known, _)| *known == number).map(|(_, name)| *name);
    let column = system.unwrap_or_else(|| &table.columns[number as usize - 1].name);
    let name = format!("column \"{column}\" of relation \"{}\"", table.name);
    let every =
        Order { privileges: (privileges != COLUMN_PRIVILEGES).then_some(privileges), ..order.clone() };
    if grantable == 0 && (held.privileges | held.grantable) & COLUMN_PRIVILEGES == 0 {
        return Err(sql_err!(INSUFFICIENT_PRIVILEGE, "permission denied for {name}"));
    }
    let possible =
        restrict(session, &every, (privileges, COLUMN_PRIVILEGES), grantable, held, ("column", &name))?;
    let new = order.apply(session, old.clone(), (grantor, table.owner), possible)?;
    if new == old {
        return Ok(());
    }
    session.with_changer(|changer| changer.set_column_acl(table.oid, number, table.owner, &new))
}
