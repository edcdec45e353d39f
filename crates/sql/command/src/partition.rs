//! # What
//! Partitioned tables in definitions: PARTITION BY, bounds of new partitions, ATTACH PARTITION.
//!
//! # Invariants
//! 1. Bounds of one table never overlap; every row of a partition is one that its table would put there.
//!
//! # Locks
//! ACCESS EXCLUSIVE on the partitioned table that gets a partition, on the partition, and on the DEFAULT partition whose rows are
//! looked through. PostgreSQL takes SHARE UPDATE EXCLUSIVE on the table that gets one by ATTACH.
//!
//! # PostgreSQL counterpart
//! `transformPartitionSpec`, `ComputePartitionAttrs` and `ATExecAttachPartition` of `commands/tablecmds.c`,
//! `transformPartitionBound` of `parser/parse_utilcmd.c`, `check_new_partition_bound` of `partitioning/partbounds.c`.

use std::sync::Arc;

use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::partition::{Bound, Limit, Partition, Partitioning, Strategy};
use catalog::system::pg_proc;
use catalog::{CatalogView, Generated, RelationKind, RowExt, Table};
use parse::ast::{
    self, Expr, IndexElement, Indirection, PartitionBound, PartitionBy, PartitionStrategy, RangeVar,
};
use plan::partition::{self as bounds, BoundValues, KeyColumn, PartitionMap};
use session::Session;
use tuple::Datum;
use txn::LockMode;
use types::hashing::PARTITION_SEED;
use types::registry::{HASHING_METHOD, ORDERING_METHOD};

use super::internal::Internal;
use super::names::at;
use super::{
    expression, foreign_key_parts, index, inherit, names, operator_class, parameters, partition_index,
    trigger, type_name, typed_table,
};

/// Most columns of a partition key.
const MAX_KEYS: usize = 32;

/// PARTITION BY of a table that was just made.
pub(super) fn set_key(session: &Session, table: &Arc<Table>, by: &PartitionBy, text: &str) -> SqlResult<()> {
    let strategy = match by.strategy {
        PartitionStrategy::List => Strategy::List,
        PartitionStrategy::Range => Strategy::Range,
        PartitionStrategy::Hash => Strategy::Hash,
    };
    if strategy == Strategy::List && by.keys.len() != 1 {
        return Err(sql_err!(
            INVALID_OBJECT_DEFINITION,
            "cannot use \"list\" partition strategy with more than one column"
        ));
    }
    if by.keys.len() > MAX_KEYS {
        return Err(sql_err!(TOO_MANY_COLUMNS, "cannot partition using more than {MAX_KEYS} columns"));
    }
    let mut key = Partitioning {
        strategy,
        keys: Vec::new(),
        expressions: Vec::new(),
        opclasses: Vec::new(),
        collations: Vec::new(),
        default: Oid::INVALID,
        partitions: Vec::new(),
        detaching: None,
    };
    for element in &by.keys {
        add_key(session, table, element, &mut key, text)?;
    }
    session.with_changer(|changer| changer.set_partition_key(table.oid, &key))
}

fn add_key(
    session: &Session,
    table: &Arc<Table>,
    element: &IndexElement,
    key: &mut Partitioning,
    text: &str,
) -> SqlResult<()> {
    let (mut type_oid, mut collation) = (Oid::INVALID, Oid::INVALID);
    if let Some(name) = &element.column {
        let Some((number, column)) = table.column(name) else {
            let error = match index::is_system_column(name) {
                true => sql_err!(
                    INVALID_OBJECT_DEFINITION,
                    "cannot use system column \"{name}\" in partition key"
                ),
                false => {
                    sql_err!(UNDEFINED_COLUMN, "column \"{name}\" named in partition key does not exist")
                }
            };
            return Err(at(error, text, element.location));
        };
        if column.generated != Generated::None {
            let error = sql_err!(INVALID_OBJECT_DEFINITION, "cannot use generated column in partition key")
                .detail(format!("Column \"{name}\" is a generated column."));
            return Err(at(error, text, element.location));
        }
        key.keys.push(number);
        (type_oid, collation) = (column.type_oid, column.collation);
    }
    if let Some(expr) = &element.expr {
        // PostgreSQL does not say where in the text an expression is wrong.
        let stored = expression::partition_key(session, table, expr, text).map_err(|mut error| {
            error.report_mut().position = None;
            error
        })?;
        check_key_type(session, key.keys.len() + 1, stored.type_oid)?;
        check_expression(table, &stored)?;
        key.keys.push(0);
        key.expressions.push(stored.text.as_str().into());
        (type_oid, collation) = (stored.type_oid, stored.collation);
    }
    if let Some(name) = &element.collation {
        let ty = type_name::ColumnType { oid: type_oid, typmod: -1, collation, dimensions: 0 };
        collation = session.with_reader(|r| type_name::collation(r, (name, element.location), &ty, text))?;
    }
    let (method_oid, method) = match key.strategy {
        Strategy::Hash => (HASHING_METHOD, "hash"),
        _ => (ORDERING_METHOD, "btree"),
    };
    let class = index::class_for(session, type_oid, element.opclass.as_ref(), (method_oid, method))?;
    let Some(class) = class else {
        let shown = session.with_reader(|r| type_name::format(r, type_oid, -1))?;
        return Err(sql_err!(
            UNDEFINED_OBJECT,
            "data type {shown} has no default operator class for access method \"{method}\""
        )
        .hint(format!(
            "You must specify a {method} operator class or define a default {method} operator class for the data type."
        )));
    };
    match key.strategy {
        Strategy::Hash => operator_class::check_hashing(session, class, type_oid)?,
        _ => operator_class::check_ordering(session, class)?,
    }
    key.opclasses.push(class);
    key.collations.push(collation);
    Ok(())
}

/// An expression of a key has a type that columns may have.
fn check_key_type(session: &Session, number: usize, ty: Oid) -> SqlResult<()> {
    if !parameters::is_pseudo(session, ty)? {
        return Ok(());
    }
    let shown = session.with_reader(|r| type_name::format(r, ty, -1))?;
    Err(sql_err!(INVALID_TABLE_DEFINITION, "partition key column {number} has pseudo-type {shown}"))
}

fn check_expression(table: &Table, stored: &expression::Stored) -> SqlResult<()> {
    let wrong = |message: &str| Err(sql_err!(INVALID_OBJECT_DEFINITION, "{message}"));
    if stored.used.contains(&0) {
        return wrong("partition key expressions cannot contain whole-row references");
    }
    if stored.used.iter().any(|n| *n < 0) {
        return wrong("partition key expressions cannot contain system column references");
    }
    if stored.used.is_empty() {
        return wrong("cannot use constant expression as partition key");
    }
    let generated = stored.used.iter().filter_map(|n| table.columns.get(*n as usize - 1));
    match generated.into_iter().find(|c| c.generated != Generated::None) {
        Some(column) => {
            Err(sql_err!(INVALID_OBJECT_DEFINITION, "cannot use generated column in partition key")
                .detail(format!("Column \"{}\" is a generated column.", column.name)))
        }
        None => Ok(()),
    }
}

/// A partitioned table that gets a partition.
pub(super) struct Parent<'a> {
    session: &'a Session,
    table: Arc<Table>,
    key: Partitioning,
    columns: Vec<KeyColumn>,
}

impl<'a> Parent<'a> {
    pub(super) fn new(session: &'a Session, table: &Arc<Table>) -> SqlResult<Parent<'a>> {
        let Some(key) = table.partitioning.as_deref().cloned() else {
            return Err(sql_err!(WRONG_OBJECT_TYPE, "\"{}\" is not partitioned", table.name));
        };
        let columns = bounds::key_columns(table, session)?;
        Ok(Parent { session, table: table.clone(), key, columns })
    }

    /// FOR VALUES, checked for itself.
    pub(super) fn bound(&self, spec: &PartitionBound, text: &str) -> SqlResult<BoundValues> {
        let wrong = |message: String| Err(sql_err!(INVALID_TABLE_DEFINITION, "{message}"));
        match (spec, self.key.strategy) {
            (PartitionBound::Default, Strategy::Hash) => {
                wrong("a hash-partitioned table may not have a default partition".into())
            }
            (PartitionBound::Default, _) => Ok(Bound::Default),
            (PartitionBound::Hash(modulus, remainder), Strategy::Hash) => {
                if *modulus <= 0 {
                    return wrong(
                        "modulus for hash partition must be an integer value greater than zero".into(),
                    );
                }
                if *remainder < 0 {
                    return wrong(
                        "remainder for hash partition must be an integer value greater than or equal to zero"
                            .into(),
                    );
                }
                if remainder >= modulus {
                    return wrong("remainder for hash partition must be less than modulus".into());
                }
                Ok(Bound::Hash(*modulus, *remainder))
            }
            (PartitionBound::List(values), Strategy::List) => {
                let mut list: Vec<Datum> = Vec::with_capacity(values.len());
                for value in values {
                    let value = self.value(0, value, text)?;
                    let same = |old: &Datum| bounds::compare_values(&self.columns, old, &value).is_eq();
                    if !list.iter().any(same) {
                        list.push(value);
                    }
                }
                Ok(Bound::List(list))
            }
            (PartitionBound::Range(lower, upper), Strategy::Range) => {
                Ok(Bound::Range(self.limits(lower, "FROM", text)?, self.limits(upper, "TO", text)?))
            }
            (_, strategy) => {
                let article = if strategy == Strategy::Hash { "a hash" } else { "a" };
                let word = if strategy == Strategy::Hash { "" } else { strategy.word() };
                wrong(format!(
                    "invalid bound specification for {article}{}{word} partition",
                    if word.is_empty() { "" } else { " " }
                ))
            }
        }
    }

    fn value(&self, column: usize, expr: &Expr, text: &str) -> SqlResult<Datum> {
        let (name, typmod) = self.key_name(column)?;
        expression::bound_value(self.session, expr, (&name, self.columns[column].type_oid, typmod), text)
    }

    /// Name and modifier of a key's column, or its expression.
    fn key_name(&self, column: usize) -> SqlResult<(String, i32)> {
        let number = self.key.keys[column];
        if number > 0 {
            let column = &self.table.columns[number as usize - 1];
            return Ok((column.name.clone(), column.typmod));
        }
        let nth = self.key.keys[..column].iter().filter(|n| **n == 0).count();
        let stored = self.key.expressions.get(nth).map_or("", |text| text);
        Ok((self.session.expression_over(&self.table, stored)?, -1))
    }

    fn limits(&self, list: &[Expr], word: &str, text: &str) -> SqlResult<Vec<Limit<Datum>>> {
        if list.len() != self.columns.len() {
            return Err(sql_err!(
                INVALID_TABLE_DEFINITION,
                "{word} must specify exactly one value per partitioning column"
            ));
        }
        let mut limits: Vec<Limit<Datum>> = Vec::with_capacity(list.len());
        for (i, expr) in list.iter().enumerate() {
            let limit = match bare_word(expr) {
                Some("minvalue") => Limit::Min,
                Some("maxvalue") => Limit::Max,
                _ => match self.value(i, expr, text)? {
                    Datum::Null => {
                        return Err(sql_err!(INVALID_TABLE_DEFINITION, "cannot specify NULL in range bound"));
                    }
                    value => Limit::Value(value),
                },
            };
            let after = match limits.last() {
                Some(Limit::Min) if limit != Limit::Min => Some("MINVALUE"),
                Some(Limit::Max) if limit != Limit::Max => Some("MAXVALUE"),
                _ => None,
            };
            if let Some(word) = after {
                return Err(sql_err!(DATATYPE_MISMATCH, "every bound following {word} must also be {word}"));
            }
            limits.push(limit);
        }
        Ok(limits)
    }

    /// The bound with its values as catalogs keep them.
    fn stored(&self, bound: &BoundValues) -> SqlResult<Bound> {
        let constant = |column: usize, value: &Datum| -> SqlResult<Arc<str>> {
            let (_, typmod) = self.key_name(column)?;
            let of = (self.columns[column].type_oid, typmod, self.key.collations[column]);
            Ok(expression::stored_constant(value.clone(), of).into())
        };
        let limits = |limits: &[Limit<Datum>]| {
            let one = |(i, limit): (usize, &Limit<Datum>)| limit.try_map(&mut |v| constant(i, v));
            limits.iter().enumerate().map(one).collect::<SqlResult<Vec<_>>>()
        };
        Ok(match bound {
            Bound::Default => Bound::Default,
            Bound::Hash(modulus, remainder) => Bound::Hash(*modulus, *remainder),
            Bound::List(values) => {
                Bound::List(values.iter().map(|v| constant(0, v)).collect::<SqlResult<_>>()?)
            }
            Bound::Range(lower, upper) => Bound::Range(limits(lower)?, limits(upper)?),
        })
    }

    /// A new bound must leave the others alone; an error is where `spec` begins.
    pub(super) fn check(
        &self,
        name: &str,
        bound: &BoundValues,
        (spec, text): (&PartitionBound, &str),
    ) -> SqlResult<()> {
        let place = match spec {
            PartitionBound::List(values) | PartitionBound::Range(values, _) => values.first().map(place_of),
            _ => None,
        };
        self.check_others(name, bound).map_err(|e| at(e, text, place.unwrap_or(ast::Location::NONE)))
    }

    fn check_others(&self, name: &str, bound: &BoundValues) -> SqlResult<()> {
        if let Bound::Range(lower, upper) = bound
            && bounds::compare_ends(&self.columns, lower, upper).is_ge()
        {
            let error =
                sql_err!(INVALID_OBJECT_DEFINITION, "empty range bound specified for partition \"{name}\"");
            return Err(error.detail(format!(
                "Specified lower bound {} is greater than or equal to upper bound {}.",
                self.shown(lower)?,
                self.shown(upper)?
            )));
        }
        let others = self.others()?;
        if let Bound::Hash(modulus, _) = bound {
            self.check_modulus(*modulus, &others)?;
        }
        for (oid, other) in &others {
            let overlap = match (bound, other) {
                (Bound::Default, Bound::Default) => {
                    return Err(sql_err!(
                        INVALID_OBJECT_DEFINITION,
                        "partition \"{name}\" conflicts with existing default partition \"{}\"",
                        self.name_of(*oid)?
                    ));
                }
                (Bound::List(a), Bound::List(b)) => {
                    a.iter().any(|x| b.iter().any(|y| bounds::compare_values(&self.columns, x, y).is_eq()))
                }
                (Bound::Range(l1, u1), Bound::Range(l2, u2)) => {
                    bounds::compare_ends(&self.columns, l1, u2).is_lt()
                        && bounds::compare_ends(&self.columns, l2, u1).is_lt()
                }
                (Bound::Hash(m1, r1), Bound::Hash(m2, r2)) => {
                    let least = (*m1).min(*m2);
                    r1 % least == r2 % least
                }
                _ => false,
            };
            if overlap {
                return Err(sql_err!(
                    INVALID_OBJECT_DEFINITION,
                    "partition \"{name}\" would overlap partition \"{}\"",
                    self.name_of(*oid)?
                ));
            }
        }
        Ok(())
    }

    fn others(&self) -> SqlResult<Vec<(Oid, BoundValues)>> {
        let partitions = self.key.partitions.iter();
        partitions.map(|p| Ok((p.oid, bounds::bound_values(&p.bound, self.session)?))).collect()
    }

    fn name_of(&self, oid: Oid) -> SqlResult<String> {
        Ok(names::describe(self.session, oid)?.name.clone())
    }

    /// Each modulus is a factor of the next larger one.
    fn check_modulus(&self, modulus: i32, others: &[(Oid, BoundValues)]) -> SqlResult<()> {
        let known = |(oid, bound): &(Oid, BoundValues)| match bound {
            Bound::Hash(modulus, _) => Some((*modulus, *oid)),
            _ => None,
        };
        let known: Vec<(i32, Oid)> = others.iter().filter_map(known).collect();
        let next_below = known.iter().filter(|(m, _)| *m <= modulus).max_by_key(|(m, _)| *m);
        let next_above = known.iter().filter(|(m, _)| *m > modulus).min_by_key(|(m, _)| *m);
        let detail = match (next_below, next_above) {
            (Some((below, oid)), _) if modulus % below != 0 => format!(
                "The new modulus {modulus} is not divisible by {below}, the modulus of existing partition \"{}\".",
                self.name_of(*oid)?
            ),
            (_, Some((above, oid))) if above % modulus != 0 => format!(
                "The new modulus {modulus} is not a factor of {above}, the modulus of existing partition \"{}\".",
                self.name_of(*oid)?
            ),
            _ => return Ok(()),
        };
        Err(sql_err!(
            INVALID_OBJECT_DEFINITION,
            "every hash partition modulus must be a factor of the next larger modulus"
        )
        .detail(detail))
    }

    /// `(1, MAXVALUE)`
    fn shown(&self, limits: &[Limit<Datum>]) -> SqlResult<String> {
        let stored =
            |limits: &[Limit<Datum>]| match self.stored(&Bound::Range(limits.to_vec(), Vec::new()))? {
                Bound::Range(lower, _) => Ok::<_, SqlError>(lower),
                _ => Ok(Vec::new()),
            };
        let shown =
            stored(limits)?.iter().map(|l| self.session.limit_text(l)).collect::<SqlResult<Vec<_>>>()?;
        Ok(format!("({})", shown.join(", ")))
    }

    /// Makes a table that is a child already a partition with this bound. Rows that the DEFAULT partition holds may not belong there.
    pub(super) fn add(&self, partition: Oid, bound: &BoundValues) -> SqlResult<()> {
        let stored = self.stored(bound)?;
        self.session.with_changer(|changer| {
            changer.set_bound(partition, Some(&stored))?;
            match bound {
                Bound::Default => changer.set_default_partition(self.table.oid, partition),
                _ => Ok(()),
            }
        })?;
        if self.key.default.is_valid() && *bound != Bound::Default {
            self.check_default(partition, stored)?;
        }
        Ok(())
    }

    fn check_default(&self, partition: Oid, bound: Bound) -> SqlResult<()> {
        let mode = LockMode::AccessExclusive;
        let Some(default) = inherit::open_child(self.session, self.key.default, mode)? else { return Ok(()) };
        let mut key = self.key.clone();
        key.partitions.push(Partition { oid: partition, bound });
        let table = Table { partitioning: Some(Arc::new(key)), ..(*self.table).clone() };
        if self.has_strangers(&default, &table, default.oid)? {
            return Err(sql_err!(
                CHECK_VIOLATION,
                "updated partition constraint for default partition \"{}\" would be violated by some row",
                default.name
            )
            .table(&default.schema_name, &default.name));
        }
        Ok(())
    }

    /// The key in SQL, with calls of the functions of users that hash its columns.
    fn routed_keys(&self, table: &Table, map: &PartitionMap) -> SqlResult<Vec<String>> {
        let mut keys = self.session.partition_key_sql(table)?;
        for (text, key) in keys.iter_mut().zip(&map.keys) {
            let Some(row) = key.hash_function.map(|f| self.session.with_reader(|r| r.routine_row(f))) else {
                continue;
            };
            let row = row?.ok_or_else(|| SqlError::internal("a hash function is gone"))?;
            let schema = self.session.with_reader(|r| r.schema_name(row.oid(pg_proc::PRONAMESPACE)))?;
            let function =
                session::functions::quoted_relation(&schema.unwrap_or_default(), row.str(pg_proc::PRONAME));
            let seed = PARTITION_SEED as i64;
            *text = format!("CASE WHEN {text} IS NOT NULL THEN {function}({text}, {seed}) END");
        }
        Ok(keys)
    }

    /// Whether a partition holds a row that its table, described by `table`, would put elsewhere.
    /// Foreign tables are believed.
    fn has_strangers(&self, partition: &Table, table: &Table, home: Oid) -> SqlResult<bool> {
        if partition.kind == RelationKind::ForeignTable {
            return Ok(false);
        }
        let map = PartitionMap::of(table, self.session)?;
        let home = map.partitions.iter().position(|oid| *oid == home);
        let keys = self.routed_keys(table, &map)?;
        let names = session::functions::quoted_relation(&partition.schema_name, &partition.name);
        let text = format!("SELECT {} FROM {names}", keys.join(", "));
        let [raw] =
            parse::parse(&text)?.try_into().map_err(|_| SqlError::internal("a scan of a partition"))?;
        let parse::RawStatement { stmt, .. } = raw;
        let mut stranger = false;
        Internal::unsecured(self.session, &stmt, &text, &[])?.run(self.session, &[], &mut |row| {
            stranger |= map.route(row) != home;
            Ok(())
        })?;
        Ok(stranger)
    }
}

/// Where a constant or a word stands.
fn place_of(expr: &Expr) -> ast::Location {
    match expr {
        Expr::Const { location, .. } | Expr::Column(ast::ColumnRef { location, .. }) => *location,
        _ => ast::Location::NONE,
    }
}

fn bare_word(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Column(ast::ColumnRef { fields, .. }) => match fields.as_slice() {
            [Indirection::Field(name)] => Some(name),
            _ => None,
        },
        _ => None,
    }
}

/// Columns of a partition key stay as they are, in the table and in partitions that are partitioned by them.
pub(super) fn check_no_key(session: &Session, table: &Table, name: &str, verb: &str) -> SqlResult<()> {
    let below = inherit::descendants(session, table, LockMode::AccessExclusive)?;
    for table in std::iter::once(table).chain(below.iter().map(|t| &**t)) {
        let (Some(key), Some((number, _))) = (&table.partitioning, table.column(name)) else { continue };
        let mut used = key.keys.contains(&number);
        for stored in &key.expressions {
            used |= super::expression::uses(session, stored, number)?;
        }
        if used {
            return Err(sql_err!(
                INVALID_TABLE_DEFINITION,
                "cannot {verb} column \"{name}\" because it is part of the partition key of relation \"{}\"",
                table.name
            ));
        }
    }
    Ok(())
}

/// ATTACH PARTITION.
pub(super) fn attach(
    session: &Session,
    table: &Arc<Table>,
    name: &RangeVar,
    bound: &PartitionBound,
    text: &str,
) -> SqlResult<()> {
    let child = names::open(session, name, LockMode::AccessExclusive)?;
    names::check_not_system(&child)?;
    names::check_owner(session, &child)?;
    let wrong = |message: String| Err(sql_err!(WRONG_OBJECT_TYPE, "{message}"));
    typed_table::refuse(session, &child, "cannot attach a typed table as partition")?;
    if child.partition_of.is_valid() {
        return wrong(format!("\"{}\" is already a partition", child.name));
    }
    if !matches!(
        child.kind,
        RelationKind::Table | RelationKind::PartitionedTable | RelationKind::ForeignTable
    ) {
        return wrong(format!("\"{}\" is not a table or foreign table", child.name));
    }
    if !session.with_reader(|r| r.parents(child.oid))?.is_empty() {
        return wrong("cannot attach inheritance child as partition".into());
    }
    if child.kind != RelationKind::PartitionedTable && !child.children.is_empty() {
        return wrong("cannot attach inheritance parent as partition".into());
    }
    inherit::check_circle(session, &child, table)?;
    match (table.persistence == 't', child.persistence == 't') {
        (false, true) => {
            return wrong(format!(
                "cannot attach a temporary relation as partition of permanent relation \"{}\"",
                table.name
            ));
        }
        (true, false) => {
            return wrong(format!(
                "cannot attach a permanent relation as partition of temporary relation \"{}\"",
                table.name
            ));
        }
        _ => {}
    }
    for column in child.columns.iter().filter(|c| !c.dropped) {
        if table.column(&column.name).is_none() {
            return Err(sql_err!(
                DATATYPE_MISMATCH,
                "table \"{}\" contains column \"{}\" not found in parent \"{}\"",
                child.name,
                column.name,
                table.name
            )
            .detail("The new partition may contain only the columns present in parent."));
        }
    }
    trigger::check_may_inherit(session, &child, ("a partition", "on partitions"))?;
    // Rows that belong to the new partition must not go to the default one meanwhile.
    if let Some(key) = table.partitioning.as_ref().filter(|key| key.default.is_valid())
        && let Some(default) = inherit::open_child(session, key.default, LockMode::AccessExclusive)?
    {
        inherit::descendants(session, &default, LockMode::AccessExclusive)?;
    }
    let parent = Parent::new(session, table)?;
    let values = parent.bound(bound, text)?;
    parent.check(&child.name, &values, (bound, text))?;
    inherit::adopt(session, &child, table)?;
    session.with_changer(|changer| changer.add_parent(child.oid, table.oid, true))?;
    parent.add(child.oid, &values)?;
    let now = names::describe(session, table.oid)?;
    let (mut above, mut home) = (now.clone(), child.oid);
    loop {
        if parent.has_strangers(&child, &above, home)? {
            return Err(sql_err!(
                CHECK_VIOLATION,
                "partition constraint of relation \"{}\" is violated by some row",
                child.name
            )
            .table(&child.schema_name, &child.name));
        }
        if !above.partition_of.is_valid() {
            break;
        }
        home = above.oid;
        above = names::describe(session, above.partition_of)?;
    }
    partition_index::give_indexes(session, &now, &names::describe(session, child.oid)?)?;
    trigger::give_to_partition(session, &now, &names::describe(session, child.oid)?)?;
    foreign_key_parts::give_to_partition(session, &now, &names::describe(session, child.oid)?)
}
