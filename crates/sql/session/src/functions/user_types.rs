//! Values of user-defined types: enums, domains, composite types, and arrays of these.

use std::cell::RefCell;
use std::sync::Arc;

use analyze::{CoercionForm, Expr, Location, Param, ParamKind, ToDomainExpr};
use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::system::pg_enum;
use catalog::{CatalogView, EnumLabel, RowExt, TypeDef, TypeKind, Validity};
use executor::run::Execution;
use rustc_hash::FxHashMap;
use tuple::Datum;
use types::call::RowField;
use types::record::FieldType;
use types::value::{FromDatum, Reader};
use types::{Call, SessionFn, array, enums, oids, range, record};

use super::text::qualified;
use crate::Session;

/// The domains that values came in for, ready to be checked.
#[derive(Default)]
pub(crate) struct DomainCheckers(RefCell<FxHashMap<Oid, Checker>>);

/// A domain's constraints as a statement over one parameter; none if there are none.
struct Checker {
    execution: Option<Execution>,
    current: Validity,
    own_changes: u64,
}

fn unsupported(def: &TypeDef) -> SqlError {
    SqlError::not_supported(format!("a value of type {}", qualified(&def.schema_name, &def.name)))
}

impl Session {
    pub(super) fn user_type(&self, oid: Oid) -> SqlResult<Arc<TypeDef>> {
        let def = self.with_reader(|r| r.type_by_oid(oid))?;
        def.ok_or_else(|| SqlError::internal(format!("cache lookup failed for type {oid}")))
    }

    /// Columns of a composite type.
    fn columns_of_type(&self, def: &TypeDef) -> SqlResult<Vec<record::Column>> {
        let columns = types::Session::row_columns(self, def.oid)?;
        columns.ok_or_else(|| SqlError::internal(format!("type {} has no relation", def.oid)))
    }

    /// The fields of a row as JSON has them: named by its type, or by itself, or by number.
    pub(super) fn fields_of_row(&self, value: &Datum) -> SqlResult<Vec<RowField>> {
        let row = record::Row::from_payload(<&[u8]>::from_datum(value));
        let table = match row.type_oid {
            oids::record => None,
            oid => catalog::composite_relation(self, oid)?,
        };
        let count = table.as_ref().map_or(row.fields.len(), |table| table.columns.len());
        let mut out = Vec::with_capacity(count);
        for i in 0..count {
            let (field, value) = row.fields.get(i).cloned().unwrap_or((FieldType::DROPPED, Datum::Null));
            let (name, type_oid) = match &table {
                Some(table) if table.columns[i].dropped => continue,
                Some(table) => (table.columns[i].name.clone(), table.columns[i].type_oid),
                None => (row.names.get(i).cloned().unwrap_or_else(|| format!("f{}", i + 1)), field.type_oid),
            };
            out.push(RowField { name, type_oid, value });
        }
        Ok(out)
    }

    /// Text input.
    pub(super) fn user_input(&self, oid: Oid, text: &str, typmod: i32) -> SqlResult<Datum> {
        let def = self.user_type(oid)?;
        let format = self.format();
        let call = Call::new(&format).with_session(self);
        match &def.kind {
            TypeKind::Enum(labels) => self.enum_value(&def, labels, text),
            TypeKind::Domain(domain) => {
                let value = types::input(domain.base, text, domain.typmod, &call)?;
                self.check_domain(oid, value)
            }
            TypeKind::Like(like) => types::input(like.base, text, typmod, &call),
            TypeKind::Composite(_) => record::input(oid, &self.columns_of_type(&def)?, text, &call),
            TypeKind::Range(info) => range::input(info, text, &call),
            TypeKind::Multirange(info) => range::multirange_input(info, text, &call),
            _ if def.element.is_valid() => array::input(def.element, text, typmod, &call),
            _ => Err(unsupported(&def)),
        }
    }

    /// Text output.
    pub(super) fn user_output(&self, oid: Oid, value: &Datum, out: &mut Vec<u8>) -> SqlResult<()> {
        let def = self.user_type(oid)?;
        let format = self.format();
        let call = Call::new(&format).with_session(self);
        match &def.kind {
            TypeKind::Enum(labels) => push_label(self.enum_label(labels, value)?, out),
            TypeKind::Domain(domain) => types::output(domain.base, value, &call, out),
            TypeKind::Like(like) => types::output(like.base, value, &call, out),
            TypeKind::Composite(_) => {
                let columns = self.columns_of_type(&def)?;
                record::output(<&[u8]>::from_datum(value), Some(&columns), &call, out)
            }
            TypeKind::Range(_) => range::output(value, &call, out),
            TypeKind::Multirange(_) => range::multirange_output(value, &call, out),
            _ if def.element.is_valid() => array::output(<&[u8]>::from_datum(value), &call, out),
            _ => Err(unsupported(&def)),
        }
    }

    /// Binary input.
    pub(super) fn user_receive(&self, oid: Oid, bytes: &[u8], typmod: i32) -> SqlResult<Datum> {
        let def = self.user_type(oid)?;
        let format = self.format();
        let call = Call::new(&format).with_session(self);
        match &def.kind {
            TypeKind::Enum(labels) => self.enum_value(
                &def,
                labels,
                types::value::str_of(types::text::check_utf8(bytes)?.as_bytes()),
            ),
            TypeKind::Domain(domain) => {
                let value = types::receive(domain.base, bytes, domain.typmod, &call)?;
                self.check_domain(oid, value)
            }
            TypeKind::Like(like) => types::receive(like.base, bytes, typmod, &call),
            TypeKind::Composite(_) => record::receive(oid, &self.columns_of_type(&def)?, bytes, &call),
            TypeKind::Range(info) => whole(bytes, |reader| range::receive(info, reader, &call)),
            TypeKind::Multirange(info) => {
                whole(bytes, |reader| range::multirange_receive(info, reader, &call))
            }
            _ if def.element.is_valid() => array::binary_receive(def.element, bytes, typmod, &call),
            _ => Err(unsupported(&def)),
        }
    }

    /// Binary output.
    pub(super) fn user_send(&self, oid: Oid, value: &Datum, out: &mut Vec<u8>) -> SqlResult<()> {
        let def = self.user_type(oid)?;
        let format = self.format();
        let call = Call::new(&format).with_session(self);
        match &def.kind {
            TypeKind::Enum(labels) => push_label(self.enum_label(labels, value)?, out),
            TypeKind::Domain(domain) => types::send(domain.base, value, &call, out),
            TypeKind::Like(like) => types::send(like.base, value, &call, out),
            TypeKind::Composite(_) => {
                let columns = self.columns_of_type(&def)?;
                record::send(<&[u8]>::from_datum(value), Some(&columns), &call, out)
            }
            TypeKind::Range(_) => range::send(value, &call, out),
            TypeKind::Multirange(_) => range::multirange_send(value, &call, out),
            _ if def.element.is_valid() => array::binary_send(<&[u8]>::from_datum(value), &call, out),
            _ => Err(unsupported(&def)),
        }
    }

    fn enum_value(&self, def: &TypeDef, labels: &[EnumLabel], label: &str) -> SqlResult<Datum> {
        let Some(found) = labels.iter().find(|l| l.label == label) else {
            let name = self.type_name(def.oid, None)?;
            return Err(sql_err!(
                INVALID_TEXT_REPRESENTATION,
                "invalid input value for enum {name}: \"{label}\""
            ));
        };
        self.check_label_committed(def.oid, found)?;
        Ok(enums::value(found.oid.0, found.sort_order))
    }

    /// A label added by the running transaction must not get into tables: they may outlive it.
    fn check_label_committed(&self, enum_type: Oid, label: &EnumLabel) -> SqlResult<()> {
        if !self.new_labels.borrow().contains(&label.oid) {
            return Ok(());
        }
        let name = self.type_name(enum_type, None)?;
        Err(sql_err!(
            UNSAFE_NEW_ENUM_VALUE_USAGE,
            "unsafe use of new value \"{}\" of enum type {name}",
            label.label
        )
        .hint("New enum values must be committed before they can be used."))
    }

    fn enum_label(&self, labels: &[EnumLabel], value: &Datum) -> SqlResult<String> {
        let oid = enums::label_oid(value);
        if let Some(found) = labels.iter().find(|l| l.oid.0 == oid) {
            return Ok(found.label.clone());
        }
        let key = [Datum::Oid(oid)];
        let row = self.with_reader(|r| r.find_one(&pg_enum::TABLE, pg_enum::PG_ENUM_OID_INDEX, &key))?;
        match row {
            Some((_, row)) => Ok(row.str(pg_enum::ENUMLABEL).to_owned()),
            None => Err(sql_err!(INVALID_BINARY_REPRESENTATION, "invalid internal value for enum: {oid}")),
        }
    }

    /// `enum_first`, `enum_last`, `enum_range`.
    pub(super) fn enum_function(
        &self,
        id: SessionFn,
        call: &Call<'_>,
        args: &[Datum],
    ) -> SqlResult<Option<Datum>> {
        if !matches!(id, SessionFn::EnumFirst | SessionFn::EnumLast | SessionFn::EnumRange) {
            return Ok(None);
        }
        let enum_type = call.arg_type(0);
        let def =
            if types::builtin_type(enum_type).is_none() { Some(self.user_type(enum_type)?) } else { None };
        let Some(TypeKind::Enum(labels)) = def.as_deref().map(|def| &def.kind) else {
            return Err(sql_err!(FEATURE_NOT_SUPPORTED, "could not determine actual enum type"));
        };
        let one = |label: Option<&EnumLabel>| match label {
            Some(label) => {
                self.check_label_committed(enum_type, label)?;
                Ok(enums::value(label.oid.0, label.sort_order))
            }
            None => {
                let name = self.type_name(enum_type, None)?;
                Err(sql_err!(OBJECT_NOT_IN_PREREQUISITE_STATE, "enum {name} contains no values"))
            }
        };
        match id {
            SessionFn::EnumFirst => one(labels.first()).map(Some),
            SessionFn::EnumLast => one(labels.last()).map(Some),
            _ => {
                let all = labels.iter().map(|l| one(Some(l))).collect::<SqlResult<Vec<_>>>()?;
                let whole = args.len() < 2;
                let order = types::compare::integers;
                let within = |value: &Datum| {
                    (whole || args[0].is_null() || order(value, &args[0]).is_ge())
                        && (whole || args[1].is_null() || order(value, &args[1]).is_le())
                };
                let values = all.into_iter().filter(within).collect();
                Ok(Some(array::Array::from_values(enum_type, values, call)?.to_datum()))
            }
        }
    }

    /// A value, NULL included, on its way into a domain: the value, or the error of the constraint that it breaks. Types that
    /// are no domains take everything.
    pub fn check_domain(&self, domain: Oid, value: Datum) -> SqlResult<Datum> {
        let own_changes = self.names.changes_version(&self.catalog);
        let known = self.domains.0.borrow_mut().remove(&domain);
        let known = known.filter(|c| c.current.is_current() && c.own_changes == own_changes);
        let mut checker = match known {
            Some(checker) => checker,
            None => self.domain_checker(domain)?,
        };
        let checked = match &mut checker.execution {
            None => Ok(value),
            Some(execution) => self.run_checker(execution, &value).map(|()| value),
        };
        self.domains.0.borrow_mut().insert(domain, checker);
        checked
    }

    fn run_checker(&self, execution: &mut Execution, value: &Datum) -> SqlResult<()> {
        let (snapshot, command) = {
            let mut txn = self.txn.borrow_mut();
            (txn.statement_snapshot()?, txn.current_command())
        };
        let params = std::slice::from_ref(value);
        self.with_env(&snapshot, command, |env| execution.run(env, params, &mut |_| Ok(())))?;
        Ok(())
    }

    fn domain_checker(&self, oid: Oid) -> SqlResult<Checker> {
        let (current, own_changes) = (self.catalog.definitions(), self.names.changes_version(&self.catalog));
        let def = self.user_type(oid)?;
        let execution = match &def.kind {
            TypeKind::Domain(domain) => {
                let value = Expr::Param(Param {
                    kind: ParamKind::Extern,
                    id: 1,
                    type_oid: domain.base,
                    typmod: domain.typmod,
                    collation: def.collation,
                    location: Location::NONE,
                });
                let expr = Expr::ToDomain(Box::new(ToDomainExpr {
                    arg: value,
                    domain: oid,
                    typmod: -1,
                    collation: def.collation,
                    form: CoercionForm::ImplicitCast,
                    location: Location::NONE,
                }));
                let expr = self.with_planner(self, |cx| plan::convert_expression(&expr, cx))?;
                let checks = matches!(expr, plan::Expr::ToDomain { .. });
                if checks { Some(Execution::of_expressions(vec![expr])?) } else { None }
            }
            _ => None,
        };
        Ok(Checker { execution, current, own_changes })
    }
}

/// A value that takes up all of the bytes.
fn whole(bytes: &[u8], read: impl FnOnce(&mut Reader<'_>) -> SqlResult<Datum>) -> SqlResult<Datum> {
    let mut reader = Reader::new(bytes);
    let value = read(&mut reader)?;
    reader.end()?;
    Ok(value)
}

fn push_label(label: String, out: &mut Vec<u8>) -> SqlResult<()> {
    out.extend_from_slice(label.as_bytes());
    Ok(())
}
