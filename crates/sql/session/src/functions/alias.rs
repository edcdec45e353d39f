//! What types ask of a session: names behind `regclass` and the like, the clock, randomness, types that users made.

use std::sync::Arc;

use base::{Oid, SqlError, SqlResult, SqlState, sql_err};
use catalog::system::{pg_ts_config, pg_ts_dict, pg_ts_parser};
use catalog::{CatalogView, RowExt, TypeKind};
use textsearch::configuration::Configuration;
use textsearch::dictionary::Dictionary;
use tuple::Datum;
use types::call::{Parser, RegKind, RowField};
use types::registry::{self, TypeShape};
use types::{SessionFn, oids, record};

use super::text::{name_in_schema, quote_identifier, split_name};
use crate::Session;

/// Objects of text search that are named.
#[derive(Clone, Copy)]
enum Kind {
    Configuration,
    Dictionary,
    Parser,
}

impl types::Session for Session {
    fn collation_rules(&self, collation: Oid) -> SqlResult<&'static collation::Rules> {
        self.with_reader(|r| catalog::collation_rules(r, collation))
    }

    fn reg_lookup(&self, kind: RegKind, name: &str) -> SqlResult<Oid> {
        match kind {
            RegKind::Class => {
                let found = self.class_named(name)?;
                if let Some(named) = self.named_classes.borrow_mut().as_mut() {
                    named.push((found, name.to_owned()));
                }
                Ok(found)
            }
            RegKind::Type => Ok(self.type_named(name)?.0),
            RegKind::Proc => self.only_function(name),
            RegKind::Procedure => self.function_with_args(name),
            RegKind::Oper => self.only_operator(name),
            RegKind::Operator => self.operator_with_args(name),
            RegKind::Namespace => {
                let name = single_name(name)?;
                let found = self.with_reader(|r| r.schema(&name))?;
                found.ok_or_else(|| sql_err!(UNDEFINED_SCHEMA, "schema \"{name}\" does not exist"))
            }
            RegKind::Role => {
                let name = single_name(name)?;
                let found = self.with_reader(|r| r.role(&name))?;
                found
                    .map(|role| role.oid)
                    .ok_or_else(|| sql_err!(UNDEFINED_OBJECT, "role \"{name}\" does not exist"))
            }
            RegKind::Collation => {
                let (schema, name) = schema_and_name(name, self.catalog.database_name())?;
                let found = self.with_reader(|r| r.collation(schema.as_deref(), &name))?;
                found.map(|c| c.oid).ok_or_else(|| {
                    let shown = dotted(schema.as_deref(), &name);
                    let encoding = types::text::server_encoding().name();
                    sql_err!(
                        UNDEFINED_OBJECT,
                        "collation \"{shown}\" for encoding \"{encoding}\" does not exist"
                    )
                })
            }
            RegKind::Config => self.text_search_object(Kind::Configuration, name),
            RegKind::Dictionary => self.text_search_object(Kind::Dictionary, name),
        }
    }

    fn reg_name(&self, kind: RegKind, oid: Oid) -> Option<String> {
        self.object_name(kind, oid).ok().flatten()
    }

    fn text_search_configuration(&self) -> SqlResult<Oid> {
        self.default_text_search()
    }

    fn text_search(&self, configuration: Oid) -> SqlResult<Arc<Configuration>> {
        self.text_search_of(configuration)
    }

    fn text_search_dictionary(&self, dictionary: Oid) -> SqlResult<Arc<dyn Dictionary>> {
        self.dictionary_of(dictionary)
    }

    fn text_search_parser(&self, parser: Parser<'_>) -> SqlResult<()> {
        let oid = match parser {
            Parser::Number(oid) => oid,
            Parser::Named(name) => self.text_search_object(Kind::Parser, name)?,
            Parser::Of(configuration) => {
                use pg_ts_config::*;
                let key = [configuration.into()];
                let row = self.with_reader(|r| r.find_one(&TABLE, PG_TS_CONFIG_OID_INDEX, &key))?;
                row.map_or(Oid::INVALID, |(_, row)| row.oid(CFGPARSER))
            }
        };
        crate::text_search::kinds(self, oid).map(|_| ())
    }

    fn tell(&self, notice: SqlError) {
        self.notice(notice);
    }

    fn clock(&self) -> i64 {
        runtime::wall_clock_micros()
    }

    fn ascending_clock(&self, step: i64) -> i64 {
        let now = (self.clock() * 1000).max(self.last_moment.get() + step);
        self.last_moment.set(now);
        now
    }

    fn check_interrupts(&self) -> SqlResult<()> {
        runtime::check_interrupts().map_err(eval::error::interrupted)
    }

    fn with_random(&self, use_it: &mut dyn FnMut(&mut types::random::Random)) {
        use_it(&mut self.random.borrow_mut());
    }

    fn type_shape(&self, type_oid: Oid) -> Option<TypeShape> {
        catalog::type_shape(self, type_oid).ok()
    }

    fn range_info(&self, type_oid: Oid) -> Option<types::range::RangeInfo> {
        match self.user_type(type_oid).map(|def| def.kind.clone()) {
            Ok(TypeKind::Range(info) | TypeKind::Multirange(info)) => Some(info),
            _ => None,
        }
    }

    fn row_columns(&self, type_oid: Oid) -> SqlResult<Option<Vec<record::Column>>> {
        let Some(table) = catalog::composite_relation(self, type_oid)? else { return Ok(None) };
        catalog::row_columns(self, &table).map(Some)
    }

    fn type_null(&self, type_oid: Oid) -> SqlResult<Datum> {
        if types::builtin_type(type_oid).is_some() {
            return Ok(Datum::Null);
        }
        self.check_domain(type_oid, Datum::Null)
    }

    fn row_names(&self, type_oid: Oid) -> SqlResult<Vec<String>> {
        let table = catalog::composite_relation(self, type_oid)?;
        Ok(table.map(|t| t.columns.iter().map(|c| c.name.clone()).collect()).unwrap_or_default())
    }

    fn domain_check(&self, domain: Oid, value: Datum) -> SqlResult<Datum> {
        self.check_domain(domain, value)
    }

    fn type_input(&self, type_oid: Oid, text: &str, typmod: i32) -> SqlResult<Datum> {
        match type_oid {
            oids::aclitem => self.acl_from_text(text),
            _ => self.user_input(type_oid, text, typmod),
        }
    }

    fn type_output(&self, type_oid: Oid, value: &Datum, out: &mut Vec<u8>) -> SqlResult<()> {
        if type_oid == oids::aclitem {
            out.extend_from_slice(self.acl_text(value)?.as_bytes());
            return Ok(());
        }
        self.user_output(type_oid, value, out)
    }

    fn type_receive(&self, type_oid: Oid, bytes: &[u8], typmod: i32) -> SqlResult<Datum> {
        self.user_receive(type_oid, bytes, typmod)
    }

    fn type_send(&self, type_oid: Oid, value: &Datum, out: &mut Vec<u8>) -> SqlResult<()> {
        self.user_send(type_oid, value, out)
    }

    fn base_type(&self, type_oid: Oid) -> Oid {
        match self.user_type(type_oid).map(|def| def.kind.clone()) {
            Ok(TypeKind::Domain(domain)) if registry::builtin_type(domain.base).is_some() => domain.base,
            Ok(TypeKind::Domain(domain)) => self.base_type(domain.base),
            _ => type_oid,
        }
    }

    fn row_fields(&self, _type_oid: Oid, value: &Datum) -> SqlResult<Vec<RowField>> {
        self.fields_of_row(value)
    }

    fn is_row_type(&self, type_oid: Oid) -> bool {
        self.user_type(type_oid).is_ok_and(|def| matches!(def.kind, TypeKind::Composite(_)))
    }
}

impl Session {
    pub(super) fn class_named(&self, text: &str) -> SqlResult<Oid> {
        let (schema, name) = relation_name(text, self.catalog.database_name())?;
        let found = self.with_reader(|r| r.relation(schema.as_deref(), &name))?;
        found.map(|table| table.oid).ok_or_else(|| {
            let shown = dotted(schema.as_deref(), &name);
            sql_err!(UNDEFINED_TABLE, "relation \"{shown}\" does not exist")
        })
    }

    fn text_search_object(&self, kind: Kind, text: &str) -> SqlResult<Oid> {
        let (schema, name) = schema_and_name(text, self.catalog.database_name())?;
        let (table, oid, what) = match kind {
            Kind::Configuration => (&pg_ts_config::TABLE, pg_ts_config::OID, "configuration"),
            Kind::Dictionary => (&pg_ts_dict::TABLE, pg_ts_dict::OID, "dictionary"),
            Kind::Parser => (&pg_ts_parser::TABLE, pg_ts_parser::OID, "parser"),
        };
        let found = self.with_reader(|r| {
            let path = match &schema {
                Some(schema) => r.schema(schema)?.into_iter().collect(),
                None => r.search_path()?,
            };
            for schema in path {
                if let Some(row) = r.text_search_row(table, &name, schema)? {
                    return Ok::<_, SqlError>(Some(row.oid(oid)));
                }
            }
            Ok(None)
        })?;
        found.ok_or_else(|| {
            let shown = dotted(schema.as_deref(), &name);
            sql_err!(UNDEFINED_OBJECT, "text search {what} \"{shown}\" does not exist")
        })
    }

    /// Functions of a name: OID and argument types.
    fn functions_called(&self, schema: Option<&str>, name: &str) -> SqlResult<Vec<(Oid, Vec<Oid>)>> {
        let mut found: Vec<(Oid, Vec<Oid>)> = Vec::new();
        if schema.is_none_or(|s| s == "pg_catalog") {
            found.extend(registry::functions_named(name).iter().map(|f| (f.oid, f.args.to_vec())));
        }
        let users = self.with_reader(|r| r.functions(schema, name))?;
        found.extend(users.iter().map(|f| (f.oid, f.args.clone())));
        Ok(found)
    }

    /// Operators of a name: OID and operands.
    fn operators_called(&self, schema: Option<&str>, name: &str) -> SqlResult<Vec<(Oid, [Oid; 2])>> {
        let mut found: Vec<(Oid, [Oid; 2])> = Vec::new();
        if schema.is_none_or(|s| s == "pg_catalog") {
            found.extend(registry::operators_named(name).iter().map(|o| (o.oid, [o.left, o.right])));
        }
        let users = self.with_reader(|r| r.operators(schema, name))?;
        found.extend(users.iter().map(|o| (o.oid, [o.left, o.right])));
        Ok(found)
    }

    fn only_function(&self, text: &str) -> SqlResult<Oid> {
        let (schema, name) = schema_and_name(text, self.catalog.database_name())?;
        match self.functions_called(schema.as_deref(), &name)?.as_slice() {
            [] => Err(sql_err!(UNDEFINED_FUNCTION, "function \"{text}\" does not exist")),
            [(oid, _)] => Ok(*oid),
            _ => Err(sql_err!(AMBIGUOUS_FUNCTION, "more than one function named \"{text}\"")),
        }
    }

    pub(super) fn function_with_args(&self, text: &str) -> SqlResult<Oid> {
        let (called, args) = name_and_args(text)?;
        let (schema, name) = schema_and_name(called, self.catalog.database_name())?;
        let args = self.type_list(&args, false)?;
        let found = self.functions_called(schema.as_deref(), &name)?;
        found
            .into_iter()
            .find(|(_, types)| *types == args)
            .map(|(oid, _)| oid)
            .ok_or_else(|| sql_err!(UNDEFINED_FUNCTION, "function \"{text}\" does not exist"))
    }

    fn only_operator(&self, text: &str) -> SqlResult<Oid> {
        let (schema, name) = operator_name(text)?;
        match self.operators_called(schema.as_deref(), &name)?.as_slice() {
            [] => Err(sql_err!(UNDEFINED_FUNCTION, "operator does not exist: {text}")),
            [(oid, _)] => Ok(*oid),
            _ => Err(sql_err!(AMBIGUOUS_FUNCTION, "more than one operator named {text}")),
        }
    }

    fn operator_with_args(&self, text: &str) -> SqlResult<Oid> {
        let (called, args) = name_and_args(text)?;
        let (schema, name) = operator_name(called)?;
        match args.len() {
            0 | 1 => {
                return Err(sql_err!(UNDEFINED_PARAMETER, "missing argument")
                    .hint("Use NONE to denote the missing argument of a unary operator."));
            }
            2 => {}
            _ => {
                return Err(sql_err!(TOO_MANY_ARGUMENTS, "too many arguments")
                    .hint("Provide two argument types for operator."));
            }
        }
        let args = self.type_list(&args, true)?;
        let found = self.operators_called(schema.as_deref(), &name)?;
        found
            .into_iter()
            .find(|(_, operands)| operands[..] == args[..])
            .map(|(oid, _)| oid)
            .ok_or_else(|| sql_err!(UNDEFINED_FUNCTION, "operator does not exist: {text}"))
    }

    fn type_list(&self, names: &[&str], none: bool) -> SqlResult<Vec<Oid>> {
        let one = |name: &&str| match name.trim() {
            word if none && word.eq_ignore_ascii_case("none") => Ok(Oid::INVALID),
            name => Ok(self.type_named(name)?.0),
        };
        names.iter().map(one).collect()
    }

    /// Name of an object as its alias type shows it; none if it does not exist.
    fn object_name(&self, kind: RegKind, oid: Oid) -> SqlResult<Option<String>> {
        match kind {
            RegKind::Class => self.class_name(oid),
            RegKind::Type => {
                let known = self.with_reader(|r| r.type_by_oid(oid))?.is_some();
                known.then(|| self.type_name(oid, None)).transpose()
            }
            RegKind::Proc => self.function_name(oid, false),
            RegKind::Procedure => self.function_name(oid, true),
            RegKind::Oper => self.operator_name(oid, false),
            RegKind::Operator => self.operator_name(oid, true),
            RegKind::Namespace => {
                Ok(self.with_reader(|r| r.schema_name(oid))?.map(|name| quote_identifier(&name)))
            }
            RegKind::Role => Ok(self.with_reader(|r| r.role_name(oid))?.map(|name| quote_identifier(&name))),
            RegKind::Collation => {
                let Some(c) = self.with_reader(|r| r.collation_by_oid(oid))? else { return Ok(None) };
                let visible = self.object_is_visible(SessionFn::PgCollationIsVisible, oid)?;
                Ok(Some(name_in_schema(&c.schema_name, &c.name, visible)))
            }
            RegKind::Config | RegKind::Dictionary => self.text_search_name(kind, oid),
        }
    }

    /// A relation's name, with its schema where that is needed.
    pub(super) fn class_name(&self, oid: Oid) -> SqlResult<Option<String>> {
        let Some(table) = self.with_reader(|r| r.relation_by_oid(oid))? else { return self.index_name(oid) };
        let visible = self.object_is_visible(SessionFn::PgTableIsVisible, oid)?;
        Ok(Some(name_in_schema(&table.schema_name, &table.name, visible)))
    }

    fn index_name(&self, oid: Oid) -> SqlResult<Option<String>> {
        use catalog::system::pg_class::*;
        let Some((_, row)) = self.with_reader(|r| r.find_one(&TABLE, PG_CLASS_OID_INDEX, &[oid.into()]))?
        else {
            return Ok(None);
        };
        let schema = self.with_reader(|r| r.schema_name(row.oid(RELNAMESPACE)))?.unwrap_or_default();
        let visible = self.object_is_visible(SessionFn::PgTableIsVisible, oid)?;
        Ok(Some(name_in_schema(&schema, row.str(RELNAME), visible)))
    }

    fn text_search_name(&self, kind: RegKind, oid: Oid) -> SqlResult<Option<String>> {
        let (table, index, name, schema, visible) = match kind {
            RegKind::Config => {
                use pg_ts_config::*;
                (&TABLE, PG_TS_CONFIG_OID_INDEX, CFGNAME, CFGNAMESPACE, SessionFn::PgTsConfigIsVisible)
            }
            _ => {
                use pg_ts_dict::*;
                (&TABLE, PG_TS_DICT_OID_INDEX, DICTNAME, DICTNAMESPACE, SessionFn::PgTsDictIsVisible)
            }
        };
        let Some((_, row)) = self.with_reader(|r| r.find_one(table, index, &[oid.into()]))? else {
            return Ok(None);
        };
        let schema = self.with_reader(|r| r.schema_name(row.oid(schema)))?.unwrap_or_default();
        let visible = self.object_is_visible(visible, oid)?;
        Ok(Some(name_in_schema(&schema, row.str(name), visible)))
    }

    /// A function's name. Without arguments it gets its schema unless it is the only one of its name.
    pub(super) fn function_name(&self, oid: Oid, with_args: bool) -> SqlResult<Option<String>> {
        let (schema, name, args) = match registry::function(oid) {
            Some(f) => ("pg_catalog".to_owned(), f.name.to_owned(), f.args.to_vec()),
            None => match self.with_reader(|r| r.function_by_oid(oid))? {
                Some(f) => {
                    let schema = self.with_reader(|r| r.schema_name(f.schema))?.unwrap_or_default();
                    (schema, f.name.clone(), f.args.clone())
                }
                None => return Ok(None),
            },
        };
        if !with_args {
            let plain = matches!(self.functions_called(None, &name)?.as_slice(), [(only, _)] if *only == oid);
            return Ok(Some(name_in_schema(&schema, &name, plain)));
        }
        let visible = self.object_is_visible(SessionFn::PgFunctionIsVisible, oid)?;
        let args = args.iter().map(|&ty| self.type_name(ty, None)).collect::<SqlResult<Vec<_>>>()?;
        Ok(Some(format!("{}({})", name_in_schema(&schema, &name, visible), args.join(","))))
    }

    /// An operator with the types of its operands; none if there is no such operator.
    pub fn operator_signature(&self, oid: Oid) -> SqlResult<Option<String>> {
        self.operator_name(oid, true)
    }

    fn operator_name(&self, oid: Oid, with_args: bool) -> SqlResult<Option<String>> {
        let (schema, name, operands) = match registry::operator(oid) {
            Some(o) => ("pg_catalog".to_owned(), o.name.to_owned(), [o.left, o.right]),
            None => match self.with_reader(|r| r.operator_by_oid(oid))? {
                Some(o) => {
                    let schema = self.with_reader(|r| r.schema_name(o.schema))?.unwrap_or_default();
                    (schema, o.name.clone(), [o.left, o.right])
                }
                None => return Ok(None),
            },
        };
        let shown = |plain: bool| match plain {
            true => name.clone(),
            false => format!("{}.{name}", quote_identifier(&schema)),
        };
        if !with_args {
            let plain = matches!(self.operators_called(None, &name)?.as_slice(), [(only, _)] if *only == oid);
            return Ok(Some(shown(plain)));
        }
        let visible = self.object_is_visible(SessionFn::PgOperatorIsVisible, oid)?;
        let side = |ty: Oid| match ty {
            Oid::INVALID => Ok("NONE".to_owned()),
            ty => self.type_name(ty, None),
        };
        Ok(Some(format!("{}({},{})", shown(visible), side(operands[0])?, side(operands[1])?)))
    }
}

fn dotted(schema: Option<&str>, name: &str) -> String {
    schema.map_or_else(|| name.to_owned(), |schema| format!("{schema}.{name}"))
}

fn single_name(text: &str) -> SqlResult<String> {
    match <[String; 1]>::try_from(split_name(text)?) {
        Ok([name]) => Ok(name),
        Err(_) => Err(sql_err!(INVALID_NAME, "invalid name syntax")),
    }
}

/// The schema, if there is one, and the name in a text. What stands before a schema must be the current database.
pub(crate) fn schema_and_name(text: &str, database: &str) -> SqlResult<(Option<String>, String)> {
    named(text, "qualified name", database)
}

fn relation_name(text: &str, database: &str) -> SqlResult<(Option<String>, String)> {
    named(text, "relation name", database)
}

fn named(text: &str, what: &str, database: &str) -> SqlResult<(Option<String>, String)> {
    let mut parts = split_name(text)?;
    if parts.len() == 3 {
        let shown = parts.join(".");
        if parts.remove(0) != database {
            let shown = if what == "relation name" { format!("\"{shown}\"") } else { shown };
            return Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                format!("cross-database references are not implemented: {shown}"),
            ));
        }
    }
    let shown = text.trim();
    match (parts.pop(), parts.pop(), parts.len()) {
        (Some(name), schema, 0) => Ok((schema, name)),
        _ => Err(sql_err!(SYNTAX_ERROR, "improper {what} (too many dotted names): {shown}")),
    }
}

/// An operator's name, which has no letters and no dots, behind its schema.
fn operator_name(text: &str) -> SqlResult<(Option<String>, String)> {
    let text = text.trim();
    match text.rsplit_once('.') {
        Some((schema, name)) => Ok((Some(single_name(schema)?), name.trim().to_owned())),
        None => Ok((None, text.to_owned())),
    }
}

/// `name(type, type)` taken apart; commas within brackets and quotes belong to a type.
fn name_and_args(text: &str) -> SqlResult<(&str, Vec<&str>)> {
    let malformed = |what: &str| sql_err!(INVALID_TEXT_REPRESENTATION, "{what}");
    let mut quoted = false;
    let open = text.find(|c: char| {
        quoted ^= c == '"';
        c == '(' && !quoted
    });
    let open = open.ok_or_else(|| malformed("expected a left parenthesis"))?;
    let rest = text[open + 1..].trim_end();
    let inner = rest.strip_suffix(')').ok_or_else(|| malformed("expected a right parenthesis"))?;
    let (mut args, mut depth, mut from, mut quoted) = (Vec::new(), 0, 0, false);
    for (at, c) in inner.char_indices() {
        match c {
            '"' => quoted = !quoted,
            _ if quoted => {}
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                args.push(&inner[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    let last = &inner[from..];
    if last.trim().is_empty() && !args.is_empty() {
        return Err(malformed("expected a type name"));
    }
    if !last.trim().is_empty() {
        args.push(last);
    }
    if args.iter().any(|arg| arg.trim().is_empty()) {
        return Err(malformed("expected a type name"));
    }
    Ok((&text[..open], args))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_taken_apart() {
        let (name, args) = name_and_args("public.\"f(x\"( numeric(10,2), int[] ,\"a,b\")").unwrap();
        assert_eq!(name, "public.\"f(x\"");
        assert_eq!(args, [" numeric(10,2)", " int[] ", "\"a,b\""]);
        assert_eq!(name_and_args("now()").unwrap(), ("now", vec![]));
        for (bad, message) in [
            ("abs", "expected a left parenthesis"),
            ("abs(", "expected a right parenthesis"),
            ("abs(int,)", "expected a type name"),
            ("abs(,int)", "expected a type name"),
        ] {
            assert_eq!(name_and_args(bad).unwrap_err().message(), message, "{bad}");
        }
    }

    #[test]
    fn qualified_names_have_a_limit() {
        let name = |text| relation_name(text, "d").map_err(|error| error.message().to_owned());
        assert_eq!(name("s.t").unwrap(), (Some("s".into()), "t".into()));
        assert_eq!(name("t").unwrap(), (None, "t".into()));
        assert_eq!(name("d.s.t").unwrap(), (Some("s".into()), "t".into()));
        let far = "cross-database references are not implemented: ";
        assert_eq!(name("x.y.z").unwrap_err(), format!("{far}\"x.y.z\""));
        assert_eq!(schema_and_name("x.y.z", "d").unwrap_err().message(), format!("{far}x.y.z"));
        assert_eq!(name("x.y.z.w").unwrap_err(), "improper relation name (too many dotted names): x.y.z.w");
        assert_eq!(operator_name("pg_catalog.+").unwrap(), (Some("pg_catalog".into()), "+".into()));
        assert_eq!(single_name("a.b").unwrap_err().message(), "invalid name syntax");
    }
}
