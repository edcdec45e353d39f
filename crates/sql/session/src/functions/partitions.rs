//! Partitions as SQL shows them: keys and bounds as text, trees of partitions.

use std::sync::Arc;

use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::partition::{Bound, Limit, Partitioning, Strategy};
use catalog::{CatalogView, Index, RelationKind, Table};
use parse::ast::Location;
use plan::partition::KeyColumn;
use tuple::Datum;
use types::array::Array;
use types::call::RegKind;
use types::value::FromDatum;
use types::{Call, Session as _, SessionFn};

use super::arg;
use super::text::quote_identifier;
use crate::Session;
use crate::lookup::operator;

/// A column of a partition key, in SQL.
struct ComparedKey {
    text: String,
    /// What operators of its class are called that are not those of the type: the symbol of the type's own, and the name.
    operators: Vec<(&'static str, String)>,
}

impl ComparedKey {
    /// A condition on it.
    fn compare(&self, symbol: &str, value: &str) -> String {
        let named = self.operators.iter().find(|(known, _)| *known == symbol);
        let operator = named.map_or(symbol, |(_, name)| name);
        format!("({} {operator} {value})", self.text)
    }
}

/// That keys are not NULL.
fn not_null(keys: &[ComparedKey]) -> Vec<String> {
    keys.iter().map(|key| format!("({} IS NOT NULL)", key.text)).collect()
}

impl Session {
    pub(super) fn partition_function(
        &self,
        id: SessionFn,
        call: &Call<'_>,
        args: &[Datum],
    ) -> SqlResult<Option<Datum>> {
        use SessionFn as F;
        Ok(Some(match id {
            F::PgGetPartkeydef => self.partition_key_definition(Oid(arg(args, 0)))?,
            F::PgGetPartitionConstraintdef => {
                let shown = self.partition_constraint(Oid(arg(args, 0)))?;
                shown.map_or(Datum::Null, |text| Datum::text(&text))
            }
            F::PgPartitionRoot => match self.ancestors(Oid(arg(args, 0)))?.last() {
                Some(root) => Datum::Oid(root.0),
                None => Datum::Null,
            },
            F::SatisfiesHashPartition => self.satisfies_hash(call, args)?,
            _ => return Ok(None),
        }))
    }

    pub(super) fn partition_rows(&self, id: SessionFn, args: &[Datum]) -> SqlResult<Option<Vec<Vec<Datum>>>> {
        use SessionFn as F;
        Ok(Some(match id {
            F::PgPartitionAncestors => {
                let ancestors = self.ancestors(Oid(arg(args, 0)))?;
                ancestors.into_iter().map(|oid| vec![Datum::Oid(oid.0)]).collect()
            }
            F::PgPartitionTree => self.partition_tree(Oid(arg(args, 0)))?,
            _ => return Ok(None),
        }))
    }

    /// A relation of a partition tree; none of anything else.
    fn in_tree(&self, oid: Oid) -> SqlResult<Option<Arc<Table>>> {
        let found = self.with_reader(|r| r.relation_by_oid(oid))?;
        let kinds = [RelationKind::PartitionedTable, RelationKind::PartitionedIndex];
        Ok(found.filter(|t| kinds.contains(&t.kind) || t.partition_of.is_valid()))
    }

    /// The relation and what it is a part of, from below.
    fn ancestors(&self, oid: Oid) -> SqlResult<Vec<Oid>> {
        let mut found = Vec::new();
        let mut next = self.in_tree(oid)?;
        while let Some(table) = next {
            found.push(table.oid);
            next = match self.parent_of(&table)?.filter(|parent| !found.contains(parent)) {
                Some(parent) => self.with_reader(|r| r.relation_by_oid(parent))?,
                None => None,
            };
        }
        Ok(found)
    }

    /// What a relation is a part of, and is not about to leave.
    fn parent_of(&self, table: &Table) -> SqlResult<Option<Oid>> {
        let parent = Some(table.partition_of).filter(|parent| parent.is_valid());
        match parent.is_some() && self.with_reader(|r| r.is_being_detached(table.oid))? {
            true => Ok(None),
            false => Ok(parent),
        }
    }

    fn partition_tree(&self, root: Oid) -> SqlResult<Vec<Vec<Datum>>> {
        let mut rows = Vec::new();
        let mut queue: Vec<(Arc<Table>, i32)> = self.in_tree(root)?.into_iter().map(|t| (t, 0)).collect();
        let mut at = 0;
        while let Some((table, level)) = queue.get(at).cloned() {
            at += 1;
            let parent = self.parent_of(&table)?.map_or(Datum::Null, |parent| Datum::Oid(parent.0));
            let leaf = !matches!(table.kind, RelationKind::PartitionedTable | RelationKind::PartitionedIndex);
            rows.push(vec![Datum::Oid(table.oid.0), parent, Datum::Bool(leaf), Datum::Int4(level)]);
            for &child in &table.children {
                if let Some(child) = self.with_reader(|r| r.relation_by_oid(child))? {
                    queue.push((child, level + 1));
                }
            }
        }
        Ok(rows)
    }

    /// An expression stored over a table's columns, as SQL.
    pub fn expression_over(&self, table: &Table, stored: &str) -> SqlResult<String> {
        self.expression_text(stored, Some(table), false)
    }

    /// The columns and expressions of a partition key as SQL.
    pub fn partition_key_sql(&self, table: &Table) -> SqlResult<Vec<String>> {
        let Some(key) = &table.partitioning else { return Ok(Vec::new()) };
        let mut expressions = key.expressions.iter();
        let mut shown = Vec::with_capacity(key.keys.len());
        for &number in &key.keys {
            shown.push(match number {
                0 => self.partition_expression(table, expressions.next().map_or("", |t| t))?,
                n => quote_identifier(&table.columns[n as usize - 1].name),
            });
        }
        Ok(shown)
    }

    /// An expression of a key: in parentheses unless it is a call.
    fn partition_expression(&self, table: &Table, stored: &str) -> SqlResult<String> {
        use analyze::Expr as E;
        let text = self.expression_over(table, stored)?;
        let is_call = match analyze::stored::load_expr(stored, self)? {
            E::Func(f) => matches!(f.form, analyze::CoercionForm::Call | analyze::CoercionForm::SqlSyntax),
            E::Coalesce(_) | E::MinMax(_) | E::NullIf(_) | E::SqlValue(_) => true,
            _ => false,
        };
        Ok(if is_call || text.starts_with('(') { text } else { format!("({text})") })
    }

    /// `pg_get_partkeydef`
    fn partition_key_definition(&self, oid: Oid) -> SqlResult<Datum> {
        let Some(table) = self.with_reader(|r| r.relation_by_oid(oid))? else { return Ok(Datum::Null) };
        let Some(key) = &table.partitioning else { return Ok(Datum::Null) };
        let mut parts = self.partition_key_sql(&table)?;
        let mut expressions = key.expressions.iter();
        for (i, part) in parts.iter_mut().enumerate() {
            let own = match usize::try_from(key.keys[i] - 1).ok().and_then(|n| table.columns.get(n)) {
                Some(column) => column.collation,
                None => match expressions.next() {
                    Some(stored) => {
                        analyze::facts::expr_collation(&analyze::stored::load_expr(stored, self)?)
                    }
                    None => Oid::INVALID,
                },
            };
            let collation = key.collations.get(i).copied().unwrap_or(Oid::INVALID);
            if collation.is_valid()
                && collation != own
                && let Some(c) = self.with_reader(|r| r.collation_by_oid(collation))?
            {
                part.push_str(&format!(" COLLATE {}", quote_identifier(&c.name)));
            }
            if let Some(class) = key.opclasses.get(i)
                && let Some(name) = self.opclass_name(*class, false)?
            {
                part.push_str(&format!(" {name}"));
            }
        }
        let word = key.strategy.word().to_uppercase();
        Ok(Datum::text(&format!("{word} ({})", parts.join(", "))))
    }

    /// A constant of a bound: without its type.
    fn bound_constant(&self, stored: &str) -> SqlResult<String> {
        let expr = analyze::stored::load_expr(stored, self)?;
        let analyze::Expr::Const(constant) = &expr else { return self.stored_expression_text(stored) };
        if constant.value.is_null() {
            return Ok("NULL".into());
        }
        let mut text = Vec::new();
        let format = self.format();
        let call = types::Call::new(&format).with_session(self);
        types::output(constant.type_oid, &constant.value, &call, &mut text)?;
        let text = String::from_utf8_lossy(&text).into_owned();
        use types::oids;
        let number = matches!(
            constant.type_oid,
            oids::int2 | oids::int4 | oids::int8 | oids::oid | oids::numeric | oids::float4 | oids::float8
        );
        let plain = text.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+'));
        Ok(match constant.type_oid {
            oids::bool => if text == "t" { "true" } else { "false" }.into(),
            _ if number && plain => text,
            _ => analyze::names::quote_literal(&text),
        })
    }

    /// `MINVALUE`, a constant, `MAXVALUE`
    pub fn limit_text(&self, limit: &Limit) -> SqlResult<String> {
        match limit {
            Limit::Min => Ok("MINVALUE".into()),
            Limit::Value(stored) => self.bound_constant(stored),
            Limit::Max => Ok("MAXVALUE".into()),
        }
    }

    /// A bound as FOR VALUES says it.
    pub(super) fn bound_text(&self, bound: &Bound) -> SqlResult<String> {
        let limits = |limits: &[Limit]| {
            let shown = limits.iter().map(|l| self.limit_text(l)).collect::<SqlResult<Vec<_>>>()?;
            Ok::<_, SqlError>(shown.join(", "))
        };
        Ok(match bound {
            Bound::Default => "DEFAULT".into(),
            Bound::Hash(modulus, remainder) => {
                format!("FOR VALUES WITH (modulus {modulus}, remainder {remainder})")
            }
            Bound::List(values) => {
                let shown = values.iter().map(|v| self.bound_constant(v)).collect::<SqlResult<Vec<_>>>()?;
                format!("FOR VALUES IN ({})", shown.join(", "))
            }
            Bound::Range(lower, upper) => {
                format!("FOR VALUES FROM ({}) TO ({})", limits(lower)?, limits(upper)?)
            }
        })
    }

    /// `pg_get_partition_constraintdef`: what rows satisfy because of all bounds above, as SQL.
    pub fn partition_constraint(&self, oid: Oid) -> SqlResult<Option<String>> {
        let mut parts = Vec::new();
        let mut next = self.with_reader(|r| r.relation_by_oid(oid))?;
        while let Some(table) = next.filter(|t| t.partition_of.is_valid()) {
            let Some(parent) = self.with_reader(|r| r.relation_by_oid(table.partition_of))? else { break };
            let mut own = Vec::new();
            if let (Some(key), Some(bound)) =
                (&parent.partitioning, self.with_reader(|r| r.bound(table.oid))?)
            {
                own = self.bound_conditions(&parent, key, &bound)?;
            }
            parts.splice(0..0, own);
            next = Some(parent);
        }
        Ok(match parts.as_slice() {
            [] => None,
            [one] => Some(one.clone()),
            many => Some(format!("({})", many.join(" AND "))),
        })
    }

    /// The columns of a partition key with the operators of their classes.
    fn compared_keys(&self, parent: &Table, key: &Partitioning) -> SqlResult<Vec<ComparedKey>> {
        let families = self.operator_families()?;
        let compared = |(at, text): (usize, String)| {
            let class = key.opclasses.get(at).and_then(|class| families.class(*class));
            let mut operators = Vec::new();
            if let Some(class) =
                class.filter(|class| !class.oid.is_pinned() && key.strategy != Strategy::Hash)
            {
                for (strategy, symbol) in (1..).zip(["<", "<=", "=", ">=", ">"]) {
                    let operator = families.operator(class.family, (class.input, class.input), strategy);
                    let operator = operator.filter(|operator| !operator.is_pinned());
                    let name = operator.and_then(|operator| self.reg_name(RegKind::Oper, operator));
                    let Some(name) = name else { continue };
                    let qualified = name.contains('.');
                    operators.push((symbol, if qualified { format!("OPERATOR({name})") } else { name }));
                }
            }
            Ok::<_, SqlError>(ComparedKey { text, operators })
        };
        self.partition_key_sql(parent)?.into_iter().enumerate().map(compared).collect()
    }

    fn bound_conditions(&self, parent: &Table, key: &Partitioning, bound: &Bound) -> SqlResult<Vec<String>> {
        let keys = self.compared_keys(parent, key)?;
        Ok(match bound {
            Bound::Default => match key.strategy {
                _ if key.partitions.iter().all(|p| p.bound == Bound::Default) => Vec::new(),
                Strategy::List => vec![format!("(NOT {})", self.list_condition(&keys[0], &all_values(key))?)],
                _ => vec![self.outside_ranges(&keys, key)?],
            },
            Bound::Hash(modulus, remainder) => vec![format!(
                "satisfies_hash_partition('{}'::oid, {modulus}, {remainder}, {})",
                parent.oid,
                keys.iter().map(|key| key.text.as_str()).collect::<Vec<_>>().join(", ")
            )],
            Bound::List(values) => match self.list_parts(&keys[0], values)? {
                (null, Some(equal)) if !null => vec![format!("({} IS NOT NULL)", keys[0].text), equal],
                _ => vec![self.list_condition(&keys[0], values)?],
            },
            Bound::Range(lower, upper) => {
                let mut parts = not_null(&keys);
                parts.extend(self.range_parts(&keys, (lower, upper))?);
                parts
            }
        })
    }

    /// The condition of the default partition beside ranges: in none of them.
    fn outside_ranges(&self, keys: &[ComparedKey], key: &Partitioning) -> SqlResult<String> {
        let mut ranges = Vec::new();
        for partition in &key.partitions {
            let Bound::Range(lower, upper) = &partition.bound else { continue };
            let parts = self.range_parts(keys, (lower, upper))?;
            ranges.push(match parts.as_slice() {
                [] => "true".to_owned(),
                [one] => one.clone(),
                many => format!("({})", many.join(" AND ")),
            });
        }
        let mut parts = not_null(keys);
        parts.push(match ranges.as_slice() {
            [one] => one.clone(),
            many => format!("({})", many.join(" OR ")),
        });
        Ok(format!("(NOT ({}))", parts.join(" AND ")))
    }

    /// What keys that are not NULL must satisfy to lie in a range.
    fn range_parts(
        &self,
        keys: &[ComparedKey],
        (lower, upper): (&[Limit], &[Limit]),
    ) -> SqlResult<Vec<String>> {
        let mut parts = Vec::new();
        let mut same = 0;
        while let (Some(Limit::Value(l)), Some(Limit::Value(u))) = (lower.get(same), upper.get(same)) {
            if l != u || same + 1 == keys.len() {
                break;
            }
            parts.push(keys[same].compare("=", &self.stored_expression_text(l)?));
            same += 1;
        }
        parts.extend(self.end_condition(&keys[same..], &lower[same..], (">", ">="))?);
        parts.extend(self.end_condition(&keys[same..], &upper[same..], ("<", "<"))?);
        Ok(parts)
    }

    fn list_parts(&self, key: &ComparedKey, values: &[Arc<str>]) -> SqlResult<(bool, Option<String>)> {
        let mut null = false;
        let mut shown = Vec::new();
        for stored in values {
            match analyze::stored::load_expr(stored, self)? {
                analyze::Expr::Const(c) if c.value.is_null() => null = true,
                _ => shown.push(self.stored_expression_text(stored)?),
            }
        }
        let equal = match shown.as_slice() {
            [] => None,
            [one] => Some(key.compare("=", one)),
            many => Some(key.compare("=", &format!("ANY (ARRAY[{}])", many.join(", ")))),
        };
        Ok((null, equal))
    }

    fn list_condition(&self, compared: &ComparedKey, values: &[Arc<str>]) -> SqlResult<String> {
        let key = &compared.text;
        Ok(match self.list_parts(compared, values)? {
            (true, Some(equal)) => format!("(({key} IS NULL) OR {equal})"),
            (true, None) => format!("({key} IS NULL)"),
            (false, Some(equal)) => format!("(({key} IS NOT NULL) AND {equal})"),
            (false, None) => "false".into(),
        })
    }

    /// The condition of a range's end on several columns: decided by the first that differs.
    fn end_condition(
        &self,
        keys: &[ComparedKey],
        limits: &[Limit],
        (strict, last): (&str, &str),
    ) -> SqlResult<Option<String>> {
        let mut arms = Vec::new();
        let mut equal: Vec<String> = Vec::new();
        for (i, (key, limit)) in keys.iter().zip(limits).enumerate() {
            let Limit::Value(stored) = limit else { break };
            let value = self.stored_expression_text(stored)?;
            let ends = i + 1 == keys.len() || !matches!(limits[i + 1], Limit::Value(_));
            let unbounded = match limits.get(i + 1) {
                Some(Limit::Min) => strict == ">",
                Some(Limit::Max) => strict == "<",
                _ => false,
            };
            let op = match (ends, unbounded) {
                (true, _) if i + 1 == keys.len() => last,
                (true, true) if strict == ">" => ">=",
                (true, true) => "<=",
                _ => strict,
            };
            let mut arm = equal.clone();
            arm.push(key.compare(op, &value));
            arms.push(match arm.as_slice() {
                [one] => one.clone(),
                many => format!("({})", many.join(" AND ")),
            });
            equal.push(key.compare("=", &value));
            if ends {
                break;
            }
        }
        Ok(match arms.as_slice() {
            [] => None,
            [one] => Some(one.clone()),
            many => Some(format!("({})", many.join(" OR "))),
        })
    }

    /// `satisfies_hash_partition(table, modulus, remainder, values)`
    fn satisfies_hash(&self, call: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
        if args.len() < 3 || args[..3].iter().any(Datum::is_null) {
            return Ok(Datum::Bool(false));
        }
        let (oid, modulus, remainder) = (Oid(arg(args, 0)), arg::<i32>(args, 1), arg::<i32>(args, 2));
        let invalid = |message: String| Err(sql_err!(INVALID_PARAMETER_VALUE, "{message}"));
        if modulus <= 0 {
            return invalid("modulus for hash partition must be an integer value greater than zero".into());
        }
        if remainder < 0 {
            return invalid(
                "remainder for hash partition must be an integer value greater than or equal to zero".into(),
            );
        }
        if remainder >= modulus {
            return invalid("remainder for hash partition must be less than modulus".into());
        }
        let table = self.with_reader(|r| r.relation_by_oid(oid))?;
        let table =
            table.ok_or_else(|| SqlError::internal(format!("could not open relation with OID {oid}")))?;
        if table.partitioning.as_ref().is_none_or(|key| key.strategy != Strategy::Hash) {
            return invalid(format!("\"{}\" is not a hash partitioned table", table.name));
        }
        let keys = plan::partition::key_columns(&table, self)?;
        let mut values = self.given_key(&keys, call, args)?;
        for (value, key) in values.iter_mut().zip(&keys) {
            if let Some(function) = key.hash_function.filter(|_| !value.is_null()) {
                *value = self.partition_hash(function, key.type_oid, value)?;
            }
        }
        let hash = plan::partition::hash_of(&keys, &values).unwrap_or_default();
        Ok(Datum::Bool(hash % modulus as u64 == remainder as u64))
    }

    /// The values that `satisfies_hash_partition` is given, of the types of the key: one by one, or as an array after VARIADIC.
    fn given_key(&self, keys: &[KeyColumn], call: &Call<'_>, args: &[Datum]) -> SqlResult<Vec<Datum>> {
        let shown = |ty: Oid| analyze::names::format_type(self, ty, None);
        let (values, types, quote) = match &args[3..] {
            [Datum::Null] if call.variadic_array => (Vec::new(), Vec::new(), "\""),
            [array] if call.variadic_array => {
                let array = Array::from_payload(<&[u8]>::from_datum(array));
                (array.elements().to_vec(), vec![array.element; keys.len()], "\"")
            }
            values => (values.to_vec(), call.arg_types.get(3..).unwrap_or_default().to_vec(), ""),
        };
        let count = || {
            if values.len() == keys.len() {
                return Ok(());
            }
            Err(sql_err!(
                INVALID_PARAMETER_VALUE,
                "number of partitioning columns ({}) does not match number of partition keys provided ({})",
                keys.len(),
                values.len()
            ))
        };
        if !call.variadic_array {
            count()?;
        }
        for (number, (key, given)) in keys.iter().zip(types).enumerate() {
            let fits = !call.variadic_array && operator::alike(given, key.type_oid);
            if given != key.type_oid && !fits {
                return Err(sql_err!(
                    INVALID_PARAMETER_VALUE,
                    "column {} of the partition key has type {quote}{}{quote}, but supplied value is of type {quote}{}{quote}",
                    number + 1,
                    shown(key.type_oid),
                    shown(given)
                ));
            }
        }
        count()?;
        Ok(values)
    }

    /// What a user's function makes of a value of a partition key.
    fn partition_hash(&self, function: Oid, type_oid: Oid, value: &Datum) -> SqlResult<Datum> {
        let constant = |type_oid: Oid, value: Datum| {
            let (typmod, collation) = (-1, Oid::INVALID);
            analyze::Expr::Const(analyze::Const {
                type_oid,
                typmod,
                collation,
                value,
                location: Location::NONE,
            })
        };
        let seed = Datum::Int8(types::hashing::PARTITION_SEED as i64);
        let call = analyze::FuncExpr {
            function,
            result_type: types::oids::int8,
            returns_set: false,
            variadic: false,
            form: analyze::CoercionForm::Call,
            collation: Oid::INVALID,
            input_collation: Oid::INVALID,
            args: vec![constant(type_oid, value.clone()), constant(types::oids::int8, seed)],
            location: Location::NONE,
        };
        self.evaluate(&analyze::Expr::Func(Box::new(call)))
    }

    /// The index with this OID and its table; both are there.
    pub fn index_and_table(&self, oid: Oid) -> SqlResult<(Arc<Table>, Arc<Index>)> {
        self.index(oid)?.ok_or_else(|| SqlError::internal(format!("index {oid} not found")))
    }
}

/// The values of all lists of a table.
fn all_values(key: &Partitioning) -> Vec<Arc<str>> {
    let mut all = Vec::new();
    for partition in &key.partitions {
        if let Bound::List(values) = &partition.bound {
            all.extend(values.iter().cloned());
        }
    }
    all
}
