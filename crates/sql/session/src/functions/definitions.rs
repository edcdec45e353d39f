//! Objects as the SQL that makes them: indexes, constraints, views, expressions, functions.

use std::sync::Arc;

use analyze::names::quote_literal;
use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::system::{
    pg_aggregate, pg_class, pg_constraint, pg_depend, pg_index, pg_language, pg_opclass, pg_proc,
};
use catalog::{CatalogView, Index, Reader, RowExt, Table};
use tuple::Datum;
use types::value::FromDatum;
use types::{Call, SessionFn, array};

use super::arg;
use super::text::{name_in_schema, qualified, quote_identifier};
use crate::Session;

/// `indoption`: DESC.
const DESCENDING: i16 = 1;
/// `indoption`: NULLS FIRST.
const NULLS_FIRST: i16 = 2;

/// The stored expression that key `at` of an index computes.
fn index_expression(index: &Index, at: usize) -> SqlResult<&str> {
    let nth = index.keys[..at].iter().filter(|&&key| key == 0).count();
    let stored = index.expressions.get(nth).map(|text| &**text);
    stored.ok_or_else(|| SqlError::internal(format!("too few entries in indexprs of index {}", index.oid)))
}

/// A storage parameter, or an option of an operator class, with its value.
fn option_text(name: &str, value: &str) -> String {
    let plain = quote_identifier(value) == value;
    let value = if plain { value.to_owned() } else { quote_literal(value) };
    format!("{}={value}", quote_identifier(name))
}

impl Session {
    pub(super) fn definition(
        &self,
        id: SessionFn,
        call: &Call<'_>,
        args: &[Datum],
    ) -> SqlResult<Option<Datum>> {
        use SessionFn as F;
        let oid = || Oid(arg(args, 0));
        let flag = |i: usize| args.len() > i && matches!(args[i], Datum::Bool(true));
        Ok(Some(match id {
            F::PgGetIndexdef if args.len() > 1 => self.index_definition(oid(), arg(args, 1), flag(2))?,
            F::PgGetIndexdef => self.index_definition(oid(), 0, false)?,
            F::PgGetRuledef => self.rule_definition(oid(), args.len() > 1 && flag(1))?,
            F::PgGetTriggerdef => self.trigger_definition(oid(), args.len() > 1 && flag(1))?,
            F::PgGetConstraintdef => self.constraint_definition(oid(), flag(1))?,
            F::PgDescribeObject => self.object_description(args)?,
            F::PgGetExpr => self.expression(args, flag(2))?,
            F::PgGetViewdef => self.view_definition(args)?,
            F::PgGetSerialSequence => self.serial_sequence(arg(args, 0), arg(args, 1))?,
            F::PgGetFunctionArguments => self.function_arguments(oid(), true)?,
            F::PgGetFunctionArgDefault => self.argument_default(oid(), arg(args, 1))?,
            F::PgGetFunctionIdentityArguments => self.function_arguments(oid(), false)?,
            F::PgGetFunctionResult => self.function_result(oid())?,
            F::PgGetFunctiondef => self.function_definition(oid())?,
            F::PgGetFunctionSqlbody => match self.standard_body(oid())? {
                Some(text) => Datum::text(&text),
                None => Datum::Null,
            },
            _ => return self.partition_function(id, call, args),
        }))
    }

    /// A stored expression as SQL, over the columns of a relation.
    pub(super) fn expression_text(
        &self,
        stored: &str,
        table: Option<&Table>,
        pretty: bool,
    ) -> SqlResult<String> {
        let format = self.format();
        let call = Call::new(&format).with_session(self);
        let expr = analyze::stored::load_expr(stored, self)?;
        let deparse = analyze::deparse::Deparse { catalog: self, call: &call, pretty, params: None };
        let Some(table) = table else { return Ok(deparse.expr(&expr, "", &[])) };
        let names: Vec<String> = table.columns.iter().map(|c| c.name.clone()).collect();
        Ok(deparse.expr(&expr, &table.name, &names))
    }

    /// A stored expression without columns as SQL.
    pub fn stored_expression_text(&self, stored: &str) -> SqlResult<String> {
        self.expression_text(stored, None, false)
    }

    /// A relation as a definition names it: always with its schema unless `pretty` and visible.
    pub(super) fn relation_text(&self, table: &Table, pretty: bool) -> SqlResult<String> {
        let visible = pretty && self.object_is_visible(SessionFn::PgTableIsVisible, table.oid)?;
        Ok(name_in_schema(&table.schema_name, &table.name, visible))
    }

    /// The index with this OID and its table.
    pub(super) fn index(&self, oid: Oid) -> SqlResult<Option<(Arc<Table>, Arc<Index>)>> {
        self.with_reader(|r| {
            let index = pg_index::PG_INDEX_INDEXRELID_INDEX;
            let Some((_, row)) = r.find_one(&pg_index::TABLE, index, &[oid.into()])? else { return Ok(None) };
            let Some(table) = r.relation_by_oid(row.oid(pg_index::INDRELID))? else { return Ok(None) };
            let index = table.indexes.iter().find(|index| index.oid == oid).cloned();
            Ok(index.map(|index| (table, index)))
        })
    }

    /// The CREATE INDEX that makes an index; `None` if there is no such index.
    pub fn index_definition_text(&self, oid: Oid) -> SqlResult<Option<String>> {
        let text = self.index_definition(oid, 0, false)?;
        Ok((!text.is_null()).then(|| <&str>::from_datum(&text).to_owned()))
    }

    /// `pg_get_indexdef(index, column, pretty)`; column 0 is all of it.
    fn index_definition(&self, oid: Oid, column: i32, pretty: bool) -> SqlResult<Datum> {
        let Some((table, index)) = self.index(oid)? else { return Ok(Datum::Null) };
        if column != 0 {
            return self.index_column(&table, &index, column, pretty);
        }
        let mut text = String::from(if index.unique { "CREATE UNIQUE INDEX " } else { "CREATE INDEX " });
        text.push_str(&quote_identifier(&index.name));
        let only = if index.rel.is_none() { "ONLY " } else { "" };
        text.push_str(&format!(
            " ON {only}{} USING {} (",
            self.relation_text(&table, pretty)?,
            quote_identifier(&self.with_reader(|r| r.access_method_name(index.access_method))?)
        ));
        let keys = (0..index.keys.len())
            .map(|i| self.index_key(&table, &index, i, pretty))
            .collect::<SqlResult<Vec<_>>>()?;
        text.push_str(&keys.join(", "));
        text.push(')');
        if !index.including.is_empty() {
            text.push_str(&format!(" INCLUDE ({})", column_list(&table, &index.including)));
        }
        if index.unique && index.nulls_not_distinct {
            text.push_str(" NULLS NOT DISTINCT");
        }
        if let Some(options) = self.options_of(oid)? {
            text.push_str(&format!(" WITH ({options})"));
        }
        if let Some(predicate) = &index.predicate {
            text.push_str(&format!(" WHERE {}", self.expression_text(predicate, Some(&table), pretty)?));
        }
        Ok(Datum::text(&text))
    }

    /// The name or expression of one index column, without its options; empty behind the last.
    fn index_column(&self, table: &Table, index: &Index, column: i32, pretty: bool) -> SqlResult<Datum> {
        let at = usize::try_from(column - 1).unwrap_or(usize::MAX);
        let text = match at.checked_sub(index.keys.len()) {
            None => self.key_text(table, index, at, pretty)?,
            Some(included) => match index.including.get(included) {
                Some(&number) => column_list(table, &[number]),
                None => return Ok(Datum::Null),
            },
        };
        Ok(Datum::text(&text))
    }

    /// A key's column or expression.
    pub(crate) fn key_text(
        &self,
        table: &Table,
        index: &Index,
        at: usize,
        pretty: bool,
    ) -> SqlResult<String> {
        if index.keys[at] != 0 {
            return Ok(column_list(table, &[index.keys[at]]));
        }
        self.expression_in_parentheses(index_expression(index, at)?, table, pretty)
    }

    /// An expression of an index, or of a statistics object.
    pub(super) fn expression_in_parentheses(
        &self,
        stored: &str,
        table: &Table,
        pretty: bool,
    ) -> SqlResult<String> {
        let text = self.expression_text(stored, Some(table), pretty)?;
        // Anything but a function call stands in parentheses.
        use analyze::Expr as E;
        let is_call = match analyze::stored::load_expr(stored, self)? {
            E::Func(f) => matches!(f.form, analyze::CoercionForm::Call | analyze::CoercionForm::SqlSyntax),
            E::Coalesce(_) | E::MinMax(_) | E::NullIf(_) | E::SqlValue(_) | E::Json(_) | E::Xml(_) => true,
            _ => false,
        };
        Ok(if is_call { text } else { format!("({text})") })
    }

    /// The collation that a key has of itself.
    fn key_collation(&self, table: &Table, index: &Index, at: usize) -> SqlResult<Oid> {
        if index.keys[at] == 0 {
            let expr = analyze::stored::load_expr(index_expression(index, at)?, self)?;
            return Ok(analyze::facts::expr_collation(&expr));
        }
        let column = usize::try_from(index.keys[at] - 1).ok().and_then(|i| table.columns.get(i));
        Ok(column.map_or(Oid::INVALID, |c| c.collation))
    }

    /// A key with collation, operator class and order, where they are not the defaults.
    fn index_key(&self, table: &Table, index: &Index, at: usize, pretty: bool) -> SqlResult<String> {
        let mut text = self.key_text(table, index, at, pretty)?;
        let own = self.key_collation(table, index, at)?;
        if let Some(&collation) = index.collations.get(at)
            && collation.is_valid()
            && collation != own
            && let Some(c) = self.with_reader(|r| r.collation_by_oid(collation))?
        {
            let visible = self.object_is_visible(SessionFn::PgCollationIsVisible, collation)?;
            text.push_str(&format!(" COLLATE {}", name_in_schema(&c.schema_name, &c.name, visible)));
        }
        let options = index.class_options.get(at).filter(|options| !options.is_empty());
        if let Some(&class) = index.opclasses.get(at)
            && let Some(name) = self.opclass_name(class, options.is_some())?
        {
            text.push_str(&format!(" {name}"));
        }
        if let Some(options) = options {
            let one = |(name, value): &(String, String)| option_text(name, value);
            text.push_str(&format!(" ({})", options.iter().map(one).collect::<Vec<_>>().join(", ")));
        }
        let option = index.options.get(at).copied().unwrap_or_default();
        text.push_str(match (option & DESCENDING != 0, option & NULLS_FIRST != 0) {
            (false, false) => "",
            (false, true) => " NULLS FIRST",
            (true, true) => " DESC",
            (true, false) => " DESC NULLS LAST",
        });
        Ok(text)
    }

    /// The name of an operator class that is not its type's default, or of any that is to be named `anyway`.
    pub(super) fn opclass_name(&self, class: Oid, anyway: bool) -> SqlResult<Option<String>> {
        use pg_opclass::*;
        let Some((_, row)) =
            self.with_reader(|r| r.find_one(&TABLE, PG_OPCLASS_OID_INDEX, &[class.into()]))?
        else {
            return Ok(None);
        };
        if row.bool(OPCDEFAULT) && !anyway {
            return Ok(None);
        }
        let schema = self.with_reader(|r| r.schema_name(row.oid(OPCNAMESPACE)))?.unwrap_or_default();
        let visible = self.object_is_visible(SessionFn::PgOpclassIsVisible, class)?;
        Ok(Some(name_in_schema(&schema, row.str(OPCNAME), visible)))
    }

    /// Storage parameters as `name='value'`.
    fn options_of(&self, relation: Oid) -> SqlResult<Option<String>> {
        let key = [relation.into()];
        let row = self.with_reader(|r| r.find_one(&pg_class::TABLE, pg_class::PG_CLASS_OID_INDEX, &key))?;
        let options = row.map_or(Vec::new(), |(_, row)| super::text::texts(&row[pg_class::RELOPTIONS]));
        let one = |option: &String| {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            option_text(name, value)
        };
        Ok((!options.is_empty()).then(|| options.iter().map(one).collect::<Vec<_>>().join(", ")))
    }

    fn constraint_definition(&self, oid: Oid, pretty: bool) -> SqlResult<Datum> {
        use pg_constraint::*;
        let row = self.with_reader(|r| r.find_one(&TABLE, PG_CONSTRAINT_OID_INDEX, &[oid.into()]))?;
        let Some((_, row)) = row else { return Ok(Datum::Null) };
        let table = self.with_reader(|r| r.relation_by_oid(row.oid(CONRELID)))?;
        let columns = |key: &Datum| match (&table, key) {
            (Some(table), Datum::Bytes(key)) => column_list(table, &array::int2_vector(key)),
            _ => String::new(),
        };
        let mut text = match row.char(CONTYPE) {
            b'c' => {
                let check = self.expression_text(row.str(CONBIN), table.as_deref(), pretty)?;
                let inherit = if row.bool(CONNOINHERIT) { " NO INHERIT" } else { "" };
                format!("CHECK ({check}){inherit}")
            }
            b'n' => {
                let inherit = if row.bool(CONNOINHERIT) { " NO INHERIT" } else { "" };
                match row.oid(CONTYPID) {
                    Oid::INVALID => format!("NOT NULL {}{inherit}", columns(&row[CONKEY])),
                    _ => "NOT NULL".into(),
                }
            }
            kind @ (b'p' | b'u') => {
                let mut text = String::from(if kind == b'p' { "PRIMARY KEY" } else { "UNIQUE" });
                let index = self.index(row.oid(CONINDID))?.map(|(_, index)| index);
                if index.as_ref().is_some_and(|index| index.nulls_not_distinct) {
                    text.push_str(" NULLS NOT DISTINCT");
                }
                let overlaps = if row.bool(CONPERIOD) { " WITHOUT OVERLAPS" } else { "" };
                text.push_str(&format!(" ({}{overlaps})", columns(&row[CONKEY])));
                if let (Some(index), Some(table)) = (&index, &table) {
                    if !index.including.is_empty() {
                        text.push_str(&format!(" INCLUDE ({})", column_list(table, &index.including)));
                    }
                    if let Some(options) = self.options_of(index.oid)? {
                        text.push_str(&format!(" WITH ({options})"));
                    }
                }
                text
            }
            b'x' => match self.index(row.oid(CONINDID))? {
                Some((table, index)) => self.exclusion(&table, &index, pretty)?,
                None => return Err(SqlError::internal("an exclusion constraint without its index")),
            },
            b't' => "TRIGGER".into(),
            b'f' => self.foreign_key(&row)?,
            other => {
                let what = format!("the definition of a constraint of type \"{}\"", other as char);
                return Err(SqlError::not_supported(what));
            }
        };
        if row.bool(CONDEFERRABLE) {
            text.push_str(" DEFERRABLE");
        }
        if row.bool(CONDEFERRED) {
            text.push_str(" INITIALLY DEFERRED");
        }
        if !row.bool(CONENFORCED) {
            text.push_str(" NOT ENFORCED");
        } else if !row.bool(CONVALIDATED) {
            text.push_str(" NOT VALID");
        }
        Ok(Datum::text(&text))
    }

    /// EXCLUDE
    fn exclusion(&self, table: &Table, index: &Index, pretty: bool) -> SqlResult<String> {
        let mut elements = Vec::with_capacity(index.keys.len());
        for (at, excluder) in index.excluders.iter().enumerate() {
            let key = self.index_key(table, index, at, pretty)?;
            elements.push(format!("{key} WITH {}", self.operator_text(excluder.operator)?));
        }
        let method = self.with_reader(|r| r.access_method_name(index.access_method))?;
        let mut text = format!("EXCLUDE USING {} ({})", quote_identifier(&method), elements.join(", "));
        if !index.including.is_empty() {
            text.push_str(&format!(" INCLUDE ({})", column_list(table, &index.including)));
        }
        if let Some(options) = self.options_of(index.oid)? {
            text.push_str(&format!(" WITH ({options})"));
        }
        if let Some(predicate) = &index.predicate {
            text.push_str(&format!(" WHERE ({})", self.expression_text(predicate, Some(table), pretty)?));
        }
        Ok(text)
    }

    /// An operator as SQL names it.
    fn operator_text(&self, operator: Oid) -> SqlResult<String> {
        let name = match types::registry::operator(operator) {
            Some(known) => known.name.to_owned(),
            None => {
                let def = self.with_reader(|r| r.operator_by_oid(operator))?;
                def.map(|def| def.name.clone()).unwrap_or_default()
            }
        };
        if self.object_is_visible(SessionFn::PgOperatorIsVisible, operator)? {
            return Ok(name);
        }
        let schema = self.with_reader(|r| match r.operator_by_oid(operator)? {
            Some(def) => Ok(r.schema_name(def.schema)?.unwrap_or_default()),
            None => Ok::<_, SqlError>("pg_catalog".to_owned()),
        })?;
        Ok(format!("OPERATOR({}.{name})", quote_identifier(&schema)))
    }

    fn foreign_key(&self, row: &[Datum]) -> SqlResult<String> {
        use pg_constraint::*;
        let Some(other) = self.with_reader(|r| r.relation_by_oid(row.oid(CONFRELID)))? else {
            return Err(SqlError::internal("a foreign key without its table"));
        };
        let numbers = |key: &Datum| match key {
            Datum::Bytes(key) => array::int2_vector(key),
            _ => Vec::new(),
        };
        let period = row.bool(CONPERIOD);
        let own = self.with_reader(|r| r.relation_by_oid(row.oid(CONRELID)))?;
        let own = own.ok_or_else(|| SqlError::internal("a foreign key without its own table"))?;
        let mut text = format!(
            "FOREIGN KEY ({}) REFERENCES {}({})",
            foreign_key_columns(&own, &numbers(&row[CONKEY]), period),
            self.relation_text(&other, true)?,
            foreign_key_columns(&other, &numbers(&row[CONFKEY]), period)
        );
        if row.char(CONFMATCHTYPE) == b'f' {
            text.push_str(" MATCH FULL");
        }
        if let Some(action) = action(row.char(CONFUPDTYPE)) {
            text.push_str(&format!(" ON UPDATE {action}"));
        }
        if let Some(action) = action(row.char(CONFDELTYPE)) {
            text.push_str(&format!(" ON DELETE {action}"));
            let only = numbers(&row[CONFDELSETCOLS]);
            if !only.is_empty() {
                text.push_str(&format!(" ({})", column_list(&own, &only)));
            }
        }
        Ok(text)
    }

    /// `pg_get_expr(stored, relation)`
    fn expression(&self, args: &[Datum], pretty: bool) -> SqlResult<Datum> {
        let relation = Oid(arg(args, 1));
        let table = match relation.is_valid() {
            true => match self.with_reader(|r| r.relation_by_oid(relation))? {
                Some(table) => Some(table),
                None => return Ok(Datum::Null),
            },
            false => None,
        };
        if let Some(bound) = catalog::partition::Bound::load(arg(args, 0)) {
            return Ok(Datum::text(&self.bound_text(&bound)?));
        }
        Ok(Datum::text(&self.expression_text(arg(args, 0), table.as_deref(), pretty)?))
    }

    /// The statement that makes an index.
    pub fn index_statement(&self, oid: Oid) -> SqlResult<String> {
        Ok(<&str>::from_datum(&self.index_definition(oid, 0, false)?).to_owned())
    }

    /// The statement that adds a constraint.
    pub fn constraint_statement(&self, table: &Table, oid: Oid, name: &str) -> SqlResult<String> {
        let definition = self.constraint_definition(oid, false)?;
        let table = qualified(&table.schema_name, &table.name);
        let definition = <&str>::from_datum(&definition);
        Ok(format!("ALTER TABLE ONLY {table} ADD CONSTRAINT {} {definition}", quote_identifier(name)))
    }

    /// Whether expressions or the predicate of an index use a column of its table.
    pub fn index_uses(&self, index: &catalog::Index, number: i16) -> SqlResult<bool> {
        for stored in index.expressions.iter().chain(&index.predicate) {
            if crate::expression::uses(self, stored, number)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// `pg_get_viewdef`, by name or OID; NULL for what is no view.
    fn view_definition(&self, args: &[Datum]) -> SqlResult<Datum> {
        let oid = match &args[0] {
            Datum::Oid(oid) => Oid(*oid),
            name => self.class_named(<&str>::from_datum(name))?,
        };
        let pretty = matches!(args.get(1), Some(Datum::Bool(true) | Datum::Int4(_)));
        let Some(table) = self.with_reader(|r| r.relation_by_oid(oid))? else { return Ok(Datum::Null) };
        let Some(stored) = &table.view_query else { return Ok(Datum::Null) };
        let query = analyze::stored::load_query(stored, self)?;
        let format = self.format();
        let call = Call::new(&format).with_session(self);
        let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        let deparse = analyze::deparse::Deparse { catalog: self, call: &call, pretty, params: None };
        Ok(Datum::text(&deparse.view(&query, &names)))
    }

    /// The sequence that a serial or identity column owns.
    fn serial_sequence(&self, table: &str, column: &str) -> SqlResult<Datum> {
        let oid = self.class_named(table)?;
        let Some(table) = self.with_reader(|r| r.relation_by_oid(oid))? else { return Ok(Datum::Null) };
        let (number, _) = table.column(column).ok_or_else(|| {
            sql_err!(UNDEFINED_COLUMN, "column \"{column}\" of relation \"{}\" does not exist", table.name)
        })?;
        let found = self.with_reader(|r| owned_sequence(r, oid, number))?;
        let Some(sequence) = found else { return Ok(Datum::Null) };
        Ok(Datum::text(&qualified(&sequence.schema_name, &sequence.name)))
    }

    fn proc_row(&self, oid: Oid) -> SqlResult<Option<Vec<Datum>>> {
        let row =
            self.with_reader(|r| r.find_one(&pg_proc::TABLE, pg_proc::PG_PROC_OID_INDEX, &[oid.into()]))?;
        Ok(row.map(|(_, row)| row))
    }

    fn function_arguments(&self, oid: Oid, defaults: bool) -> SqlResult<Datum> {
        match self.proc_row(oid)? {
            Some(row) => Ok(Datum::text(&self.argument_list(&row, defaults)?)),
            None => Ok(Datum::Null),
        }
    }

    /// The default of a function's argument, counted from 1 among all of them; NULL if it has none.
    fn argument_default(&self, oid: Oid, number: i32) -> SqlResult<Datum> {
        let Some(row) = self.proc_row(oid)? else { return Ok(Datum::Null) };
        let modes = chars_of(&row[pg_proc::PROARGMODES]);
        let inputs = oids_of(&row[pg_proc::PROARGTYPES]).len();
        let is_input = |at: usize| modes.get(at).is_none_or(|mode| matches!(mode, b'i' | b'b' | b'v'));
        let total = if modes.is_empty() { inputs } else { modes.len() };
        let Some(at) = usize::try_from(number - 1).ok().filter(|at| *at < total && is_input(*at)) else {
            return Ok(Datum::Null);
        };
        let input = (0..at).filter(|at| is_input(*at)).count();
        let defaults = self.default_texts(&row)?;
        let first = inputs.saturating_sub(defaults.len());
        Ok(input
            .checked_sub(first)
            .and_then(|n| defaults.get(n))
            .map_or(Datum::Null, |text| Datum::text(text)))
    }

    /// Arguments as CREATE FUNCTION takes them. TABLE columns are the result's.
    fn argument_list(&self, row: &[Datum], with_defaults: bool) -> SqlResult<String> {
        let inputs = oids_of(&row[pg_proc::PROARGTYPES]);
        let all = match &row[pg_proc::PROALLARGTYPES] {
            Datum::Null => inputs.clone(),
            all => oids_of(all),
        };
        let modes = chars_of(&row[pg_proc::PROARGMODES]);
        let names = super::text::texts(&row[pg_proc::PROARGNAMES]);
        let defaults = self.default_texts(row)?;
        let first_default = inputs.len().saturating_sub(defaults.len());
        let mut shown = Vec::new();
        let mut input = 0;
        for (i, &ty) in all.iter().enumerate() {
            let mode = modes.get(i).copied().unwrap_or(b'i');
            let is_input = matches!(mode, b'i' | b'b' | b'v');
            let variadic = mode == b'v'
                || (modes.is_empty() && i + 1 == all.len() && row.oid(pg_proc::PROVARIADIC).is_valid());
            let prefix = match mode {
                b't' => continue,
                b'o' => "OUT ",
                b'b' => "INOUT ",
                b'i' if row.char(pg_proc::PROKIND) == b'p' => "IN ",
                _ if variadic => "VARIADIC ",
                _ => "",
            };
            let mut text = prefix.to_owned();
            if let Some(name) = names.get(i).filter(|name| !name.is_empty()) {
                text.push_str(&quote_identifier(name));
                text.push(' ');
            }
            text.push_str(&self.type_name(ty, None)?);
            if is_input {
                if with_defaults && input >= first_default {
                    text.push_str(&format!(" DEFAULT {}", defaults[input - first_default]));
                }
                input += 1;
            }
            shown.push(text);
        }
        let set = match row.char(pg_proc::PROKIND) {
            b'a' => self.with_reader(|r| r.aggregate_row(row.oid(pg_proc::OID)))?,
            _ => None,
        };
        let set = set.filter(|row| row.char(pg_aggregate::AGGKIND) != b'n');
        Ok(match set.map(|row| row[pg_aggregate::AGGNUMDIRECTARGS].clone()) {
            Some(Datum::Int2(direct)) => with_order_by(direct as usize, shown),
            _ => shown.join(", "),
        })
    }

    /// Defaults of a function's last arguments.
    fn default_texts(&self, row: &[Datum]) -> SqlResult<Vec<String>> {
        if let Some(function) = types::registry::function(row.oid(pg_proc::OID)) {
            return Ok(function.defaults.iter().map(|text| text.to_string()).collect());
        }
        let def = self.with_reader(|r| r.function_by_oid(row.oid(pg_proc::OID)))?;
        let stored = def.iter().flat_map(|def| &def.defaults);
        stored.map(|text| self.expression_text(text, None, false)).collect()
    }

    fn function_result(&self, oid: Oid) -> SqlResult<Datum> {
        match self.proc_row(oid)? {
            Some(row) if row.char(pg_proc::PROKIND) != b'p' => Ok(Datum::text(&self.result_text(&row)?)),
            _ => Ok(Datum::Null),
        }
    }

    fn result_text(&self, row: &[Datum]) -> SqlResult<String> {
        let modes = chars_of(&row[pg_proc::PROARGMODES]);
        let all = oids_of(&row[pg_proc::PROALLARGTYPES]);
        let names = super::text::texts(&row[pg_proc::PROARGNAMES]);
        let mut columns = Vec::new();
        for (i, _) in modes.iter().enumerate().filter(|(_, mode)| **mode == b't') {
            let name = names.get(i).map(|name| quote_identifier(name)).unwrap_or_default();
            let ty = all.get(i).copied().unwrap_or_default();
            columns.push(format!("{name} {}", self.type_name(ty, None)?));
        }
        if !columns.is_empty() {
            return Ok(format!("TABLE({})", columns.join(", ")));
        }
        let setof = if row.bool(pg_proc::PRORETSET) { "SETOF " } else { "" };
        Ok(format!("{setof}{}", self.type_name(row.oid(pg_proc::PRORETTYPE), None)?))
    }

    fn function_definition(&self, oid: Oid) -> SqlResult<Datum> {
        let Some(row) = self.proc_row(oid)? else { return Ok(Datum::Null) };
        let name = row.str(pg_proc::PRONAME);
        let kind = row.char(pg_proc::PROKIND);
        if kind == b'a' {
            return Err(sql_err!(WRONG_OBJECT_TYPE, "\"{name}\" is an aggregate function"));
        }
        let (schema, language) = self.with_reader(|r| {
            let key = [row.oid(pg_proc::PROLANG).into()];
            let language = r.find_one(&pg_language::TABLE, pg_language::PG_LANGUAGE_OID_INDEX, &key)?;
            let language = language.map(|(_, row)| row.str(pg_language::LANNAME).to_owned());
            let schema = r.schema_name(row.oid(pg_proc::PRONAMESPACE))?;
            Ok::<_, SqlError>((schema.unwrap_or_default(), language.unwrap_or_default()))
        })?;
        let what = if kind == b'p' { "PROCEDURE" } else { "FUNCTION" };
        let mut text = format!(
            "CREATE OR REPLACE {what} {}({})\n",
            qualified(&schema, name),
            self.argument_list(&row, true)?
        );
        if kind != b'p' {
            text.push_str(&format!(" RETURNS {}\n", self.result_text(&row)?));
        }
        text.push_str(&format!(" LANGUAGE {}\n", quote_identifier(&language)));
        let properties = properties_of(&row);
        if !properties.is_empty() {
            text.push_str(&format!(" {}\n", properties.join(" ")));
        }
        for entry in super::text::texts(&row[pg_proc::PROCONFIG]) {
            if let Some((name, value)) = entry.split_once('=') {
                text.push_str(&format!(
                    " SET {} TO {}\n",
                    quote_identifier(name),
                    setting_value(name, value)
                ));
            }
        }
        if let Some(body) = self.standard_body(oid)? {
            text.push_str(&format!("{body}\n"));
            return Ok(Datum::text(&text));
        }
        let body = row.str(pg_proc::PROSRC);
        if let Some(library) = row.opt_str(pg_proc::PROBIN) {
            let quote = |text: &str| format!("'{}'", text.replace('\'', "''"));
            text.push_str(&format!("AS {}, {}\n", quote(library), quote(body)));
            return Ok(Datum::text(&text));
        }
        let tag = dollar_tag(body, if kind == b'p' { "procedure" } else { "function" });
        text.push_str(&format!("AS {tag}{body}{tag}\n"));
        Ok(Datum::text(&text))
    }

    /// A body in SQL-standard form.
    fn standard_body(&self, oid: Oid) -> SqlResult<Option<String>> {
        let Some(function) = self.function_by_oid(oid)? else { return Ok(None) };
        let Some((form, queries)) = function.body.as_deref().and_then(|body| body.split_first()) else {
            return Ok(None);
        };
        let format = self.format();
        let call = Call::new(&format).with_session(self);
        let params = Some((function.name.as_str(), function.arg_names.as_slice()));
        let deparse = analyze::deparse::Deparse { catalog: self, call: &call, pretty: false, params };
        let mut text = String::new();
        for query in queries {
            let query = analyze::stored::load_query(query, self)?;
            match (&**form, query.targets.first()) {
                ("return", Some(target)) => {
                    return Ok(Some(format!("RETURN {}", deparse.expr(&target.expr, "", &[]))));
                }
                _ => {
                    let shown = deparse.body_statement(&query);
                    // Its first line stands where a view's would, the others one further in.
                    text.push_str(&shown.replace('\n', "\n "));
                    text.push('\n');
                }
            }
        }
        Ok(Some(format!("BEGIN ATOMIC\n{text}END")))
    }
}

/// The value of a SET clause as SQL; lists of names item by item.
fn setting_value(name: &str, value: &str) -> String {
    use base::settings::Setting;
    let is_list = matches!(
        Setting::find(name),
        Some(Setting::search_path | Setting::temp_tablespaces | Setting::session_preload_libraries)
    );
    if !is_list {
        return quote_literal(value);
    }
    let item = |item: &str| {
        let item = item.trim();
        let bare = item.strip_prefix('"').and_then(|i| i.strip_suffix('"'));
        quote_literal(&bare.map_or_else(|| item.to_owned(), |quoted| quoted.replace("\"\"", "\"")))
    };
    value.split(',').map(item).collect::<Vec<_>>().join(", ")
}

/// The words of CREATE FUNCTION that are not the defaults.
fn properties_of(row: &[Datum]) -> Vec<String> {
    use pg_proc::*;
    let mut words = Vec::new();
    words.extend((row.char(PROKIND) == b'w').then_some("WINDOW"));
    words.extend(match row.char(PROVOLATILE) {
        b'i' => Some("IMMUTABLE"),
        b's' => Some("STABLE"),
        _ => None,
    });
    words.extend(match row.char(PROPARALLEL) {
        b's' => Some("PARALLEL SAFE"),
        b'r' => Some("PARALLEL RESTRICTED"),
        _ => None,
    });
    words.extend(row.bool(PROISSTRICT).then_some("STRICT"));
    words.extend(row.bool(PROSECDEF).then_some("SECURITY DEFINER"));
    words.extend(row.bool(PROLEAKPROOF).then_some("LEAKPROOF"));
    let mut words: Vec<String> = words.into_iter().map(str::to_owned).collect();
    let usual = if row.oid(PROLANG).0 <= 13 { 1.0 } else { 100.0 };
    if let Datum::Float4(cost) = row[PROCOST]
        && cost != usual
    {
        words.push(format!("COST {cost}"));
    }
    if let Datum::Float4(rows) = row[PROROWS]
        && rows > 0.0
        && rows != 1000.0
    {
        words.push(format!("ROWS {rows}"));
    }
    words
}

/// A dollar quote that the body does not contain.
fn dollar_tag(body: &str, word: &str) -> String {
    let mut word = word.to_owned();
    while body.contains(&format!("${word}$")) {
        word.push('x');
    }
    format!("${word}$")
}

fn action(letter: u8) -> Option<&'static str> {
    match letter {
        b'r' => Some("RESTRICT"),
        b'c' => Some("CASCADE"),
        b'n' => Some("SET NULL"),
        b'd' => Some("SET DEFAULT"),
        _ => None,
    }
}

/// Columns of a foreign key: PERIOD stands before the last one, if it is a period.
fn foreign_key_columns(table: &Table, numbers: &[i16], period: bool) -> String {
    match numbers.split_last() {
        Some((last, [])) if period => format!("PERIOD {}", column_list(table, &[*last])),
        Some((last, others)) if period => {
            format!("{}, PERIOD {}", column_list(table, others), column_list(table, &[*last]))
        }
        _ => column_list(table, numbers),
    }
}

/// Column names by number.
fn column_list(table: &Table, numbers: &[i16]) -> String {
    let name = |&number: &i16| {
        let column = usize::try_from(number - 1).ok().and_then(|i| table.columns.get(i));
        column.map_or_else(|| "?".to_owned(), |column| quote_identifier(&column.name))
    };
    numbers.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// The sequence that hangs on a column.
fn owned_sequence(r: &Reader<'_>, table: Oid, column: i16) -> SqlResult<Option<Arc<Table>>> {
    let key = [pg_class::TABLE.oid.into(), table.into(), Datum::Int4(i32::from(column))];
    for (_, row) in r.find(&pg_depend::TABLE, pg_depend::PG_DEPEND_REFERENCE_INDEX, &key)? {
        let owned = matches!(row.char(pg_depend::DEPTYPE), b'a' | b'i');
        if owned && row.oid(pg_depend::CLASSID) == pg_class::TABLE.oid {
            let relation = r.relation_by_oid(row.oid(pg_depend::OBJID))?;
            if let Some(sequence) = relation.filter(|rel| rel.kind == catalog::RelationKind::Sequence) {
                return Ok(Some(sequence));
            }
        }
    }
    Ok(None)
}

/// The arguments of an ordered-set aggregate; those that it sorts by stand behind ORDER BY.
fn with_order_by(direct: usize, mut shown: Vec<String>) -> String {
    if shown.len() <= direct {
        // Hypothetical sets take any columns, and as many values for them.
        shown.extend_from_within(..);
    }
    let sorted = shown.split_off(direct).join(", ");
    format!("{} ORDER BY {sorted}", shown.join(", ")).trim_start().to_owned()
}

fn oids_of(value: &Datum) -> Vec<Oid> {
    match value {
        Datum::Bytes(payload) => array::oid_vector(payload).into_iter().map(Oid).collect(),
        _ => Vec::new(),
    }
}

fn chars_of(value: &Datum) -> Vec<u8> {
    match value {
        Datum::Bytes(payload) => {
            array::Array::from_payload(payload).elements().iter().map(u8::from_datum).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dollar_quotes_avoid_the_body() {
        assert_eq!(dollar_tag("select 1", "function"), "$function$");
        assert_eq!(dollar_tag("a $function$ b", "function"), "$functionx$");
    }

    #[test]
    fn actions_of_foreign_keys_have_words_unless_default() {
        assert_eq!(action(b'a'), None);
        assert_eq!(
            [b'r', b'c', b'n', b'd'].map(action),
            [Some("RESTRICT"), Some("CASCADE"), Some("SET NULL"), Some("SET DEFAULT")]
        );
    }
}
