//! The object that names mean: `pg_get_object_address(kind, names, arguments)`.

use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::change::ObjectAddress;
use catalog::system::{
    SystemTable, pg_am, pg_amop, pg_amproc, pg_attrdef, pg_collation, pg_default_acl, pg_language,
    pg_namespace, pg_opclass, pg_opfamily, pg_policy, pg_proc, pg_publication_namespace, pg_publication_rel,
    pg_rewrite, pg_trigger,
};
use catalog::{CatalogView, ObjectClass, RelationKind, Row, RowExt, Table, TypeKind};
use parse::ast::{Name, ObjectKind, ObjectName, ObjectWithArgs, TypeName};
use tuple::Datum;
use txn::LockMode;
use types::array::Array;
use types::value::FromDatum;

use super::identity::default_acl_kind;
use crate::Session;
use crate::lookup::{self, names, operator, routine_name};

/// Kinds that have names in messages but no address of their own.
const UNSUPPORTED: [&str; 9] = [
    "toast table",
    "composite type",
    "index column",
    "sequence column",
    "toast table column",
    "view column",
    "materialized view column",
    "composite type column",
    "role membership",
];

fn wrong(message: impl Into<String>) -> SqlError {
    SqlError::new(base::SqlState::INVALID_PARAMETER_VALUE, message.into())
}

/// The elements of a `text[]`, none of them NULL.
fn strings(list: &Datum) -> SqlResult<Vec<String>> {
    let Datum::Bytes(payload) = list else { return Ok(Vec::new()) };
    let elements = Array::from_payload(payload).into_elements();
    let text = |element: &Datum| <Option<&str>>::from_datum(element).map(str::to_owned);
    let all: Option<Vec<String>> = elements.iter().map(text).collect();
    all.ok_or_else(|| wrong("name or argument lists may not contain nulls"))
}

/// A list must have so many elements.
fn check_length(what: &str, list: &[String], wanted: usize, at_least: bool) -> SqlResult<()> {
    let (fits, how) = match at_least {
        true => (list.len() >= wanted, "at least"),
        false => (list.len() == wanted, "exactly"),
    };
    if fits { Ok(()) } else { Err(wrong(format!("{what} list length must be {how} {wanted}"))) }
}

fn check_names(names: &[String], wanted: usize) -> SqlResult<()> {
    check_length("name", names, wanted, false)
}

fn check_args(args: &[String], wanted: usize) -> SqlResult<()> {
    check_length("argument", args, wanted, false)
}

fn undefined(message: String) -> SqlError {
    SqlError::new(base::SqlState::UNDEFINED_OBJECT, message)
}

fn address(shape: &SystemTable, row: &Row) -> ObjectAddress {
    ObjectAddress { class: shape.oid, object: row.oid(0), sub: 0 }
}

impl Session {
    pub(super) fn object_address(&self, kind: &str, names: &Datum, args: &Datum) -> SqlResult<ObjectAddress> {
        let special = matches!(
            kind,
            "table"
                | "index"
                | "sequence"
                | "view"
                | "materialized view"
                | "foreign table"
                | "table column"
                | "foreign table column"
                | "aggregate"
                | "function"
                | "procedure"
                | "type"
                | "cast"
                | "table constraint"
                | "domain constraint"
                | "default value"
                | "large object"
                | "operator"
                | "operator class"
                | "operator family"
                | "operator of access method"
                | "function of access method"
                | "rule"
                | "trigger"
                | "policy"
                | "user mapping"
                | "default acl"
                | "transform"
                | "publication namespace"
                | "publication relation"
        );
        let class = ObjectClass::named(kind);
        if !special && class.is_none() {
            return Err(match UNSUPPORTED.contains(&kind) {
                true => wrong(format!("unsupported object type \"{kind}\"")),
                false => wrong(format!("unrecognized object type \"{kind}\"")),
            });
        }
        let of_one = matches!(kind, "type" | "cast" | "transform" | "domain constraint" | "large object");
        let names = match strings(names) {
            Err(_) if kind == "large object" => return Err(wrong("large object OID may not be null")),
            names => names?,
        };
        match of_one {
            true => check_names(&names, 1)?,
            false => check_length("name", &names, 1, true)?,
        }
        let args = strings(args)?;
        match kind {
            "publication namespace" | "user mapping" => {
                check_names(&names, 1)?;
                check_args(&args, 1)?;
            }
            "domain constraint" | "cast" | "publication relation" | "default acl" | "transform" => {
                check_args(&args, 1)?;
            }
            "operator class" | "operator family" => check_length("name", &names, 2, true)?,
            "operator of access method" | "function of access method" => {
                check_length("name", &names, 3, true)?;
                check_args(&args, 2)?;
            }
            "operator" => check_args(&args, 2)?,
            _ => {}
        }
        match class {
            Some(class) => self.named_address(class, &names),
            None => self.special_address(kind, &names, &args),
        }
    }

    /// An object of a catalog whose objects just have a name.
    fn named_address(&self, class: &ObjectClass, names: &[String]) -> SqlResult<ObjectAddress> {
        let name = Name(names.to_vec());
        let schemas = match class.schema {
            Some(_) => routine_name::schemas(self, &name)?,
            None => {
                check_names(names, 1)?;
                Vec::new()
            }
        };
        let rows = self.with_reader(|r| r.scan(class.shape))?;
        let rank = |row: &Row| match class.schema {
            Some(schema) => schemas.iter().position(|found| *found == row.oid(schema)),
            None => Some(0),
        };
        let found = rows.iter().filter(|(_, row)| row.str(class.name) == name.last());
        let found = found.filter_map(|(_, row)| Some((rank(row)?, row))).min_by_key(|(rank, _)| *rank);
        match found {
            Some((_, row)) => Ok(address(class.shape, row)),
            None => Err(missing(class, &name)),
        }
    }

    fn special_address(&self, kind: &str, names: &[String], args: &[String]) -> SqlResult<ObjectAddress> {
        match kind {
            "table" | "index" | "sequence" | "view" | "materialized view" | "foreign table" => {
                let table = self.open_named(names)?;
                check_relation(&table, kind)?;
                Ok(ObjectAddress::relation(table.oid))
            }
            "table column" | "foreign table column" => self.column_address(names),
            "default value" => self.default_address(names),
            "aggregate" => self.routine_address(ObjectKind::Aggregate, names, args),
            "function" => self.routine_address(ObjectKind::Function, names, args),
            "procedure" => self.routine_address(ObjectKind::Procedure, names, args),
            "type" => Ok(ObjectAddress::ty(self.type_named(&names[0])?.0)),
            "cast" => self.cast_address(&names[0], &args[0]),
            "domain constraint" => self.domain_constraint_address(&names[0], &args[0]),
            "table constraint" => {
                let (table, name) = self.relation_and_name(names)?;
                let all = self.with_reader(|reader| reader.constraints(table.oid))?;
                let found = all.iter().find(|found| found.name == *name);
                found.map(|found| ObjectAddress::constraint(found.oid)).ok_or_else(|| {
                    undefined(format!("constraint \"{name}\" for table \"{}\" does not exist", table.name))
                })
            }
            "large object" => {
                let number: Oid = Oid(types::ids::parse_oid(&names[0], "oid")?);
                Ok(ObjectAddress::large_object(lookup::large_object(self, &number.to_string())?))
            }
            "operator" => self.operator_address(names, args),
            "operator class" => self.of_method(names, true),
            "operator family" => self.of_method(names, false),
            "operator of access method" => self.family_member(names, args, true),
            "function of access method" => self.family_member(names, args, false),
            "rule" => self.on_relation_address(names, "relation", "rule"),
            "trigger" => self.on_relation_address(names, "table", "trigger"),
            "policy" => self.on_relation_address(names, "table", "policy"),
            "default acl" => self.default_acl_address(names, args),
            "transform" => self.transform_address(names, args),
            _ => self.foreign_or_published(kind, names, args),
        }
    }

    /// User mappings, and what publications have.
    fn foreign_or_published(
        &self,
        kind: &str,
        names: &[String],
        args: &[String],
    ) -> SqlResult<ObjectAddress> {
        let (name, arg) = (&names[0], &args[0]);
        match kind {
            "user mapping" => {
                let found = self.with_reader(|r| {
                    let user = match name.as_str() {
                        "public" => Some(Oid::INVALID),
                        name => r.role(name)?.map(|role| role.oid),
                    };
                    match (user, r.server_named(arg)?) {
                        (Some(user), Some(server)) => r.user_mapping(user, server.oid(0)),
                        _ => Ok(None),
                    }
                })?;
                let missing = || {
                    undefined(format!("user mapping for user \"{name}\" on server \"{arg}\" does not exist"))
                };
                found.map(|row| ObjectAddress::user_mapping(row.oid(0))).ok_or_else(missing)
            }
            "publication namespace" => {
                let found = self.with_reader(|r| r.schema_by_name(name))?;
                let schema = found.ok_or_else(|| names::undefined_schema(name))?;
                let key = [schema.into(), self.publication_named(arg)?.into()];
                let index = pg_publication_namespace::PG_PUBLICATION_NAMESPACE_PNNSPID_PNPUBID_INDEX;
                let shape = &pg_publication_namespace::TABLE;
                let row = self.with_reader(|r| r.find_one(shape, index, &key))?;
                row.map(|(_, row)| address(shape, &row)).ok_or_else(|| {
                    undefined(format!(
                        "publication schema \"{name}\" in publication \"{arg}\" does not exist"
                    ))
                })
            }
            _ => {
                let table = self.open_named(names)?;
                let key = [table.oid.into(), self.publication_named(arg)?.into()];
                let index = pg_publication_rel::PG_PUBLICATION_REL_PRRELID_PRPUBID_INDEX;
                let shape = &pg_publication_rel::TABLE;
                let row = self.with_reader(|r| r.find_one(shape, index, &key))?;
                row.map(|(_, row)| address(shape, &row)).ok_or_else(|| {
                    let name = &table.name;
                    undefined(format!(
                        "publication relation \"{name}\" in publication \"{arg}\" does not exist"
                    ))
                })
            }
        }
    }

    fn publication_named(&self, name: &str) -> SqlResult<Oid> {
        let all = self.with_reader(|r| r.publications())?;
        let found = all.iter().find(|publication| publication.name == name);
        found
            .map(|publication| publication.oid)
            .ok_or_else(|| undefined(format!("publication \"{name}\" does not exist")))
    }

    fn open_named(&self, names: &[String]) -> SqlResult<std::sync::Arc<Table>> {
        let name = names::relation_name(&ObjectName::Name(Name(names.to_vec())))?;
        names::open(self, &name, LockMode::AccessShare)
    }

    /// The relation that all but the last of the names are, and the last.
    fn relation_and_name<'n>(&self, names: &'n [String]) -> SqlResult<(std::sync::Arc<Table>, &'n String)> {
        match names.split_last() {
            Some((name, relation)) if !relation.is_empty() => Ok((self.open_named(relation)?, name)),
            _ => Err(sql_err!(SYNTAX_ERROR, "must specify relation and object name")),
        }
    }

    fn column_address(&self, names: &[String]) -> SqlResult<ObjectAddress> {
        let Some((column, relation)) = names.split_last().filter(|(_, rest)| !rest.is_empty()) else {
            return Err(sql_err!(SYNTAX_ERROR, "column name must be qualified"));
        };
        let table = self.open_named(relation)?;
        match table.column(column) {
            Some((number, _)) => Ok(ObjectAddress::column(table.oid, number)),
            None => Err(sql_err!(
                UNDEFINED_COLUMN,
                "column \"{column}\" of relation \"{}\" does not exist",
                table.name
            )),
        }
    }

    fn default_address(&self, names: &[String]) -> SqlResult<ObjectAddress> {
        use pg_attrdef::*;
        let column = self.column_address(names)?;
        let key = [column.object.into(), column.sub.into()];
        match self.with_reader(|r| r.find_one(&TABLE, PG_ATTRDEF_ADRELID_ADNUM_INDEX, &key))? {
            Some((_, row)) => Ok(address(&TABLE, &row)),
            None => Err(sql_err!(
                UNDEFINED_COLUMN,
                "default value for column \"{}\" of relation \"{}\" does not exist",
                names[names.len() - 1],
                names[..names.len() - 1].join(".")
            )),
        }
    }

    fn routine_address(
        &self,
        kind: ObjectKind,
        names: &[String],
        args: &[String],
    ) -> SqlResult<ObjectAddress> {
        let types: SqlResult<Vec<Option<TypeName>>> =
            args.iter().map(|arg| parse::parse_type_name(arg).map(Some)).collect();
        let named = ObjectWithArgs {
            name: Name(names.to_vec()),
            args: types?,
            parameters: Vec::new(),
            args_unspecified: false,
        };
        let found = routine_name::find(self, kind, &named)?;
        Ok(ObjectAddress { class: pg_proc::TABLE.oid, object: found.oid, sub: 0 })
    }

    fn cast_address(&self, from: &str, to: &str) -> SqlResult<ObjectAddress> {
        let [from, to] = [from, to].map(|name| self.type_named(name));
        let (from, to) = (from?.0, to?.0);
        match self.with_reader(|r| r.cast_row(from, to))? {
            Some(row) => Ok(ObjectAddress::cast(row.oid(0))),
            None => {
                let (from, to) = (self.type_name(from, None)?, self.type_name(to, None)?);
                Err(undefined(format!("cast from type {from} to type {to} does not exist")))
            }
        }
    }

    fn domain_constraint_address(&self, domain: &str, constraint: &str) -> SqlResult<ObjectAddress> {
        let oid = self.type_named(domain)?.0;
        let def = self.with_reader(|r| CatalogView::type_by_oid(r, oid))?;
        if !def.is_some_and(|def| matches!(def.kind, TypeKind::Domain(_))) {
            return Err(sql_err!(WRONG_OBJECT_TYPE, "\"{domain}\" is not a domain"));
        }
        let all = self.with_reader(|reader| reader.domain_constraints(oid))?;
        let found = all.iter().find(|(_, name, _)| name == constraint);
        found.map(|(oid, ..)| ObjectAddress::constraint(*oid)).ok_or_else(|| {
            undefined(format!("constraint \"{constraint}\" for domain {domain} does not exist"))
        })
    }

    fn operator_address(&self, names: &[String], args: &[String]) -> SqlResult<ObjectAddress> {
        let side = |arg: &String| match arg.as_str() {
            "none" | "NONE" => Ok(Oid::INVALID),
            arg => self.type_named(arg).map(|found| found.0),
        };
        let (left, right) = (side(&args[0])?, side(&args[1])?);
        let name = Name(names.to_vec());
        match operator::find(self, &name, left, right)? {
            Some(oid) => Ok(ObjectAddress::operator(oid)),
            None => Err(operator::undefined(self, &name, [left, right])),
        }
    }

    /// An operator class or family: its access method's name, then its own.
    fn of_method(&self, names: &[String], class: bool) -> SqlResult<ObjectAddress> {
        let row = self
            .with_reader(|r| r.find(&pg_am::TABLE, pg_am::PG_AM_NAME_INDEX, &[names[0].as_str().into()]))?;
        let Some((_, method)) = row.first() else {
            return Err(undefined(format!("access method \"{}\" does not exist", names[0])));
        };
        let name = Name(names[1..].to_vec());
        let (shape, index, what) = match class {
            true => (&pg_opclass::TABLE, pg_opclass::PG_OPCLASS_AM_NAME_NSP_INDEX, "class"),
            false => (&pg_opfamily::TABLE, pg_opfamily::PG_OPFAMILY_AM_NAME_NSP_INDEX, "family"),
        };
        for schema in routine_name::schemas(self, &name)? {
            let key = [method.oid(0).into(), name.last().into(), schema.into()];
            if let Some((_, row)) = self.with_reader(|r| r.find_one(shape, index, &key))? {
                return Ok(address(shape, &row));
            }
        }
        let name = name.dotted();
        Err(undefined(format!(
            "operator {what} \"{name}\" does not exist for access method \"{}\"",
            names[0]
        )))
    }

    /// An operator or a support function of a family: names of the access method and the family, and its number.
    fn family_member(&self, names: &[String], args: &[String], operator: bool) -> SqlResult<ObjectAddress> {
        let (number, of) = (&names[names.len() - 1], &names[..names.len() - 1]);
        let family = self.of_method(of, false)?;
        let number: i16 = number.parse().unwrap_or(0);
        let [left, right] = [&args[0], &args[1]].map(|arg| self.type_named(arg));
        let key = [family.object.into(), left?.0.into(), right?.0.into(), number.into()];
        let (shape, index, what) = match operator {
            true => (&pg_amop::TABLE, pg_amop::PG_AMOP_FAM_STRAT_INDEX, "operator"),
            false => (&pg_amproc::TABLE, pg_amproc::PG_AMPROC_FAM_PROC_INDEX, "function"),
        };
        match self.with_reader(|r| r.find_one(shape, index, &key))? {
            Some((_, row)) => Ok(address(shape, &row)),
            None => Err(undefined(format!(
                "{what} {number} ({}, {}) of operator family {} for access method {} does not exist",
                args[0],
                args[1],
                of[1..].join("."),
                of[0]
            ))),
        }
    }

    /// A rule, trigger or policy.
    fn on_relation_address(&self, names: &[String], of: &str, kind: &str) -> SqlResult<ObjectAddress> {
        let (table, name) = self.relation_and_name(names)?;
        let (shape, index): (&SystemTable, Oid) = match kind {
            "rule" => (&pg_rewrite::TABLE, pg_rewrite::PG_REWRITE_REL_RULENAME_INDEX),
            "trigger" => (&pg_trigger::TABLE, pg_trigger::PG_TRIGGER_TGRELID_TGNAME_INDEX),
            _ => (&pg_policy::TABLE, pg_policy::PG_POLICY_POLRELID_POLNAME_INDEX),
        };
        let key = [table.oid.into(), name.as_str().into()];
        match self.with_reader(|r| r.find_one(shape, index, &key))? {
            Some((_, row)) => Ok(address(shape, &row)),
            None => Err(undefined(format!("{kind} \"{name}\" for {of} \"{}\" does not exist", table.name))),
        }
    }

    fn default_acl_address(&self, names: &[String], args: &[String]) -> SqlResult<ObjectAddress> {
        use pg_default_acl::*;
        let letter = args[0].bytes().next().unwrap_or(0);
        let Some(kind) = default_acl_kind(letter) else {
            return Err(wrong(format!("unrecognized default ACL object type \"{}\"", letter as char))
                .hint("Valid object types are \"r\", \"S\", \"f\", \"T\", \"n\", \"L\"."));
        };
        let role = self.with_reader(|r| r.role(&names[0]))?.map(|role| role.oid);
        let schema = match names.get(1) {
            Some(schema) => self.with_reader(|r| r.schema_by_name(schema))?,
            None => Some(Oid::INVALID),
        };
        if let (Some(role), Some(schema)) = (role, schema) {
            let key = [role.into(), schema.into(), Datum::Char(letter)];
            let index = PG_DEFAULT_ACL_ROLE_NSP_OBJ_INDEX;
            if let Some((_, row)) = self.with_reader(|r| r.find_one(&TABLE, index, &key))? {
                return Ok(address(&TABLE, &row));
            }
        }
        let place = names.get(1).map_or(String::new(), |schema| format!(" in schema \"{schema}\""));
        Err(undefined(format!("default ACL for user \"{}\"{place} on {kind} does not exist", names[0])))
    }

    fn transform_address(&self, names: &[String], args: &[String]) -> SqlResult<ObjectAddress> {
        let ty = self.type_named(&names[0])?.0;
        let key = [args[0].as_str().into()];
        let language = pg_language::PG_LANGUAGE_NAME_INDEX;
        if self.with_reader(|r| r.find_one(&pg_language::TABLE, language, &key))?.is_none() {
            return Err(undefined(format!("language \"{}\" does not exist", args[0])));
        }
        let ty = self.type_name(ty, None)?;
        Err(undefined(format!("transform for type {ty} language \"{}\" does not exist", args[0])))
    }
}

/// Whether a relation is of the kind that was asked for.
fn check_relation(table: &Table, kind: &str) -> SqlResult<()> {
    use RelationKind as K;
    let fits = match kind {
        "table" => matches!(table.kind, K::Table | K::PartitionedTable),
        "index" => matches!(table.kind, K::Index | K::PartitionedIndex),
        "sequence" => table.kind == K::Sequence,
        "view" => table.kind == K::View,
        "materialized view" => table.kind == K::MaterializedView,
        _ => table.kind == K::ForeignTable,
    };
    let article = if kind == "index" { "an" } else { "a" };
    match fits {
        true => Ok(()),
        false => Err(sql_err!(WRONG_OBJECT_TYPE, "\"{}\" is not {article} {kind}", table.name)),
    }
}

fn missing(class: &ObjectClass, name: &Name) -> SqlError {
    let (kind, name) = (class.kind, name.dotted());
    match class.shape.oid {
        catalog if catalog == pg_namespace::TABLE.oid => names::undefined_schema(&name),
        catalog if catalog == pg_collation::TABLE.oid => {
            let encoding = types::text::server_encoding().name();
            undefined(format!("collation \"{name}\" for encoding \"{encoding}\" does not exist"))
        }
        catalog if catalog == catalog::system::pg_database::TABLE.oid => {
            sql_err!(UNDEFINED_DATABASE, "database \"{name}\" does not exist")
        }
        _ => undefined(format!("{kind} \"{name}\" does not exist")),
    }
}
