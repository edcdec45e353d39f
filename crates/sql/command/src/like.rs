//! # What
//! LIKE in CREATE TABLE: columns of another relation, and with INCLUDING what belongs to them.
//!
//! What is copied is written as SQL and read again: the new table is made like any other that says so much. Columns and
//! constraints become elements of the statement; indexes, statistics objects and comments come when the table is there.
//!
//! # PostgreSQL counterpart
//! `transformTableLikeClause` and `expandTableLikeClause` of `parser/parse_utilcmd.c`.

use std::sync::Arc;

use analyze::{Expr, stored, walk};
use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::authority::Wanted;
use catalog::change::ObjectAddress;
use catalog::system::{pg_attribute, pg_constraint};
use catalog::{CatalogView, Column, Generated, Identity, Index, RelationKind, Table};
use parse::Statement;
use parse::ast::{
    self, ColumnDef, Constraint, ConstraintKind, CreateTable, DefElem, IndexConstraint, Location, Name,
    OptionValue, RangeVar, SelectBody, TableElement, TypeName, like,
};
use session::Session;
use txn::LockMode;
use types::acl;

use super::names::at;
use super::{expression, extended_statistics, index, names, table};

/// What only tables that are stored here can take over.
const STORED: u32 = like::IDENTITY | like::INDEXES | like::STORAGE | like::COMPRESSION;

/// A relation named in LIKE.
struct Model {
    table: Arc<Table>,
    bits: u32,
}

/// CREATE TABLE with LIKE among its elements.
pub(crate) fn create(session: &Session, statement: &CreateTable, text: &str) -> SqlResult<()> {
    let schema = table::target_schema(session, &statement.relation)?;
    if statement.if_not_exists
        && let Some(()) = table::already_there(session, schema, &statement.relation.name, true)?
    {
        return Ok(());
    }
    let mut models = Vec::new();
    let mut plain = CreateTable { elements: Vec::new(), ..statement.clone() };
    for element in &statement.elements {
        let TableElement::Like(name, bits) = element else {
            plain.elements.push(element.clone());
            continue;
        };
        // A foreign table stores nothing, and has no indexes.
        let kept = if statement.foreign.is_some() { !STORED } else { u32::MAX };
        let model = Model { table: open(session, name, text)?, bits: *bits & kept };
        model.elements(session, &mut plain.elements)?;
        models.push(model);
    }
    table::create(session, &plain, text)?;
    let name = &statement.relation.name;
    let made = session.with_reader(|reader| reader.relation_oid(schema, name))?;
    let made = made.ok_or_else(|| SqlError::internal("the new table does not exist"))?;
    for model in &models {
        model.indexes(session, made)?;
        model.statistics(session, made)?;
        if model.includes(like::COMMENTS) {
            model.comments(session, made)?;
        }
    }
    Ok(())
}

fn open(session: &Session, name: &RangeVar, text: &str) -> SqlResult<Arc<Table>> {
    let table = names::open(session, name, LockMode::AccessShare).map_err(|e| at(e, text, name.location))?;
    let kinds = match table.kind {
        RelationKind::Index | RelationKind::PartitionedIndex => "indexes",
        RelationKind::Sequence => "sequences",
        RelationKind::Toast => "TOAST tables",
        // Every role may use a type's shape.
        RelationKind::Composite => return Ok(table),
        _ => {
            let wanted = Wanted { required: acl::bits("r"), selected: &[], inserted: &[], updated: &[] };
            session.check_relation(session.names.user(), table.oid, wanted)?;
            return Ok(table);
        }
    };
    let error = sql_err!(WRONG_OBJECT_TYPE, "relation \"{}\" is invalid in LIKE clause", table.name)
        .detail(format!("This operation is not supported for {kinds}."));
    Err(at(error, text, name.location))
}

fn constraint(name: Option<String>, kind: ConstraintKind) -> Constraint {
    Constraint {
        name,
        kind,
        deferrable: false,
        deferred: false,
        enforced: true,
        not_valid: false,
        no_inherit: false,
        location: Location::NONE,
    }
}

fn option(name: &str, value: OptionValue) -> DefElem {
    DefElem { namespace: None, name: name.into(), value: Some(value), location: Location::NONE }
}

impl Model {
    fn includes(&self, what: u32) -> bool {
        self.bits & what != 0
    }

    /// The columns, and constraints that are not about one of them.
    fn elements(&self, session: &Session, out: &mut Vec<TableElement>) -> SqlResult<()> {
        let table = &self.table;
        let named = session.with_reader(|reader| reader.constraints(table.oid))?;
        for (i, column) in table.columns.iter().enumerate().filter(|(_, c)| !c.dropped) {
            let mut def = self.column(session, i as i16 + 1, column)?;
            let not_null = named.iter().find(|c| c.is_not_null_of(i as i16 + 1));
            if let Some(not_null) = not_null {
                let kind = ConstraintKind::NotNull(None);
                def.constraints.insert(0, constraint(Some(not_null.name.clone()), kind));
            }
            out.push(TableElement::Column(def));
        }
        if self.includes(like::CONSTRAINTS) {
            for check in &table.checks {
                let kind = ConstraintKind::Check(self.sql(session, &check.expr, &check.name)?);
                let mut copy = constraint(Some(check.name.clone()), kind);
                (copy.enforced, copy.no_inherit) = (check.enforced, check.no_inherit);
                out.push(TableElement::Constraint(copy));
            }
        }
        if self.includes(like::INDEXES) {
            for index in table.indexes.iter().filter(|i| i.valid && i.constraint.is_valid()) {
                let key = match index.unique {
                    true => self.key(index),
                    false => self.exclusion(session, index)?,
                };
                out.push(TableElement::Constraint(key));
            }
        }
        Ok(())
    }

    fn column(&self, session: &Session, number: i16, column: &Column) -> SqlResult<ColumnDef> {
        let def = session.type_by_oid(column.type_oid)?;
        let def = def.ok_or_else(|| SqlError::internal("type of a column does not exist"))?;
        let mut type_name =
            TypeName { names: vec![def.schema_name.clone(), def.name.clone()], ..TypeName::default() };
        (type_name.typmod, type_name.location) = (column.typmod, Location::NONE);
        let mut out =
            ColumnDef { name: column.name.clone(), type_name: Some(type_name), ..ColumnDef::default() };
        out.location = Location::NONE;
        if column.collation != def.collation
            && let Some(collation) = session.collation_by_oid(column.collation)?
        {
            out.collation = Some((Name(vec![collation.schema_name, collation.name]), Location::NONE));
        }
        if self.includes(like::STORAGE) {
            out.storage = storage(session, self.table.oid, number)?;
        }
        if self.includes(like::COMPRESSION) {
            let facts = session.with_reader(|reader| reader.column_storage(self.table.oid, number))?;
            out.compression = facts.and_then(|(_, method)| method).map(|method| method.as_str().to_owned());
        }
        let generated = column.generated != Generated::None;
        if let Some(text) = &column.default
            && self.includes(if generated { like::GENERATED } else { like::DEFAULTS })
        {
            let expr = self.sql(session, text, &column.name)?;
            let stored = column.generated == Generated::Stored;
            out.constraints.push(constraint(
                None,
                match generated {
                    true => ConstraintKind::Generated { expr, stored, always: true },
                    false => ConstraintKind::Default(expr),
                },
            ));
        }
        if column.identity != Identity::None && self.includes(like::IDENTITY) {
            let kind = match column.identity {
                Identity::Always => ast::Identity::Always,
                _ => ast::Identity::ByDefault,
            };
            let list = sequence_options(session, column.identity_sequence)?;
            out.constraints.push(constraint(None, ConstraintKind::Identity(kind, list)));
        }
        Ok(out)
    }

    /// A stored expression over the columns as SQL.
    fn sql(&self, session: &Session, text: &str, what: &str) -> SqlResult<ast::Expr> {
        let table = &self.table;
        let expr = stored::load_expr(text, session)?;
        if walk::contains(&expr, |e, _| matches!(e, Expr::Var(v) if v.attno == 0)) {
            return Err(sql_err!(FEATURE_NOT_SUPPORTED, "cannot convert whole-row table reference").detail(
                format!("Constraint \"{what}\" contains a whole-row reference to table \"{}\".", table.name),
            ));
        }
        let parsed = parse::parse_expression(&expression::sql(session, table, &expr))?;
        match parsed.body {
            SelectBody::Simple(simple) if simple.targets.len() == 1 => {
                let mut expr = simple.targets.into_iter().map(|t| t.value);
                expr.next().ok_or_else(|| SqlError::internal("an expression was expected"))
            }
            _ => Err(SqlError::internal("an expression was expected")),
        }
    }

    /// PRIMARY KEY or UNIQUE.
    fn key(&self, index: &Index) -> Constraint {
        let columns = |list: &[i16]| -> Vec<String> {
            list.iter().map(|n| self.table.columns[*n as usize - 1].name.clone()).collect()
        };
        let with = IndexConstraint {
            columns: columns(&index.keys),
            including: columns(&index.including),
            nulls_not_distinct: index.nulls_not_distinct,
            without_overlaps: index.without_overlaps,
            ..IndexConstraint::default()
        };
        let kind =
            if index.primary { ConstraintKind::PrimaryKey(with) } else { ConstraintKind::Unique(with) };
        let mut copy = constraint(None, kind);
        copy.deferrable = !index.immediate;
        copy
    }

    /// EXCLUDE, read from the text of its definition.
    fn exclusion(&self, session: &Session, index: &Index) -> SqlResult<Constraint> {
        let text = session.constraint_statement(&self.table, index.constraint, &index.name)?;
        let parsed = parse::parse(&text)?.into_iter().next().map(|raw| raw.stmt);
        let added = match parsed {
            Some(Statement::AlterTable(alter)) => alter.actions.into_iter().next(),
            _ => None,
        };
        match added {
            Some(ast::AlterAction::AddConstraint(mut copy)) => {
                (copy.name, copy.location) = (None, Location::NONE);
                Ok(copy)
            }
            _ => Err(SqlError::internal("an exclusion constraint was expected")),
        }
    }

    /// Indexes that no constraint is made of.
    fn indexes(&self, session: &Session, made: Oid) -> SqlResult<()> {
        if !self.includes(like::INDEXES) {
            return Ok(());
        }
        let new = names::describe(session, made)?;
        for old in self.table.indexes.iter().filter(|i| i.valid && !i.constraint.is_valid()) {
            let Some(definition) = session.index_definition_text(old.oid)? else { continue };
            let parsed = parse::parse(&definition)?.into_iter().next().map(|raw| raw.stmt);
            let Some(Statement::CreateIndex(mut create)) = parsed else {
                return Err(SqlError::internal("an index was expected"));
            };
            create.name = None;
            create.relation = RangeVar {
                schema: Some(new.schema_name.clone()),
                name: new.name.clone(),
                ..RangeVar::default()
            };
            index::create(session, &create, &definition)?;
        }
        Ok(())
    }

    fn statistics(&self, session: &Session, made: Oid) -> SqlResult<()> {
        if !self.includes(like::STATISTICS) {
            return Ok(());
        }
        let new = names::describe(session, made)?;
        for old in &self.table.statistics {
            let Some(definition) = session.statistics_statement(old.oid)? else { continue };
            let comment = match self.includes(like::COMMENTS) {
                true => session.comment_of(ObjectAddress::statistics(old.oid))?,
                false => None,
            };
            extended_statistics::create_again(session, &definition, comment.as_deref(), |create| {
                create.name = None;
                create.relation = RangeVar {
                    schema: Some(new.schema_name.clone()),
                    name: new.name.clone(),
                    ..RangeVar::default()
                };
            })?;
        }
        Ok(())
    }

    fn comments(&self, session: &Session, made: Oid) -> SqlResult<()> {
        let new = names::describe(session, made)?;
        let copy = |from: ObjectAddress, to: ObjectAddress| -> SqlResult<()> {
            match session.comment_of(from)? {
                Some(text) => session.with_changer(|changer| changer.set_comment(to, Some(&text))),
                None => Ok(()),
            }
        };
        for (i, column) in self.table.columns.iter().enumerate().filter(|(_, c)| !c.dropped) {
            if let Some((number, _)) = new.column(&column.name) {
                let old = ObjectAddress::column(self.table.oid, i as i16 + 1);
                copy(old, ObjectAddress::column(made, number))?;
            }
        }
        let constraint = |oid| ObjectAddress { class: pg_constraint::TABLE.oid, object: oid, sub: 0 };
        if self.includes(like::CONSTRAINTS) {
            for old in &self.table.checks {
                if let Some(check) = new.checks.iter().find(|c| c.name == old.name) {
                    copy(constraint(old.oid), constraint(check.oid))?;
                }
            }
        }
        if self.includes(like::INDEXES) {
            for old in &self.table.indexes {
                let Some(index) = new.indexes.iter().find(|i| same_index((&self.table, old), (&new, i)))
                else {
                    continue;
                };
                copy(ObjectAddress::relation(old.oid), ObjectAddress::relation(index.oid))?;
                if old.constraint.is_valid() {
                    copy(constraint(old.constraint), constraint(index.constraint))?;
                }
            }
        }
        Ok(())
    }
}

/// Whether an index of the new table is the copy of one of the model.
fn same_index((model, old): (&Table, &Index), (table, new): (&Table, &Index)) -> bool {
    let name = |table: &Table, number: i16| {
        usize::try_from(number - 1).ok().and_then(|i| table.columns.get(i)).map(|c| c.name.clone())
    };
    let columns = |table: &Table, index: &Index| -> Vec<Option<String>> {
        index.keys.iter().chain(&index.including).map(|n| name(table, *n)).collect()
    };
    (old.primary, old.unique, old.expressions.len(), old.predicate.is_some())
        == (new.primary, new.unique, new.expressions.len(), new.predicate.is_some())
        && columns(model, old) == columns(table, new)
}

/// The word for a column's storage.
fn storage(session: &Session, table: Oid, number: i16) -> SqlResult<Option<String>> {
    let index = pg_attribute::PG_ATTRIBUTE_RELID_ATTNUM_INDEX;
    let key = [table.into(), number.into()];
    let row = session.with_reader(|reader| reader.find_one(&pg_attribute::TABLE, index, &key))?;
    let letter = row.map(|(_, row)| row[pg_attribute::ATTSTORAGE].clone());
    Ok(match letter {
        Some(tuple::Datum::Char(b'p')) => Some("plain".to_owned()),
        Some(tuple::Datum::Char(b'e')) => Some("external".to_owned()),
        Some(tuple::Datum::Char(b'x')) => Some("extended".to_owned()),
        Some(tuple::Datum::Char(b'm')) => Some("main".to_owned()),
        _ => None,
    })
}

/// What a sequence counts, as options of another.
fn sequence_options(session: &Session, sequence: Oid) -> SqlResult<Vec<DefElem>> {
    let described = names::describe(session, sequence)?;
    let Some(counts) = described.sequence else { return Ok(Vec::new()) };
    let number = |name, value: i64| option(name, OptionValue::Float(value.to_string()));
    Ok(vec![
        number("increment", counts.increment),
        number("minvalue", counts.min),
        number("maxvalue", counts.max),
        number("start", counts.start),
        number("cache", counts.cache),
        option("cycle", OptionValue::Boolean(counts.cycle)),
    ])
}
