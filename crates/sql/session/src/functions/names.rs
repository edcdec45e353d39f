//! Names, comments and visibility of objects.

use base::{Oid, SqlResult, SqlState};
use catalog::change::ObjectAddress;
use catalog::system::{
    SystemTable, pg_class, pg_collation, pg_conversion, pg_description, pg_opclass, pg_operator, pg_opfamily,
    pg_proc, pg_shdescription, pg_statistic_ext, pg_ts_config, pg_ts_dict, pg_ts_parser, pg_ts_template,
    pg_type,
};
use catalog::{CatalogView, Reader, RowExt};
use tuple::Datum;
use types::call::RegKind;
use types::{Call, SessionFn};

use super::arg;
use crate::Session;

/// How objects of a catalog are named: its OID index, its index by name, the key of the latter (`None` stands for the
/// schema) and the column of the schema.
struct Naming {
    table: &'static SystemTable,
    by_oid: Oid,
    by_name: Oid,
    key: &'static [Option<usize>],
    schema: usize,
}

macro_rules! naming {
    ($table:ident, $oid:ident, $name:ident, $schema:ident, [$($key:expr),*]) => {{
        use $table::*;
        Naming { table: &TABLE, by_oid: $oid, by_name: $name, key: &[$($key),*], schema: $schema }
    }};
}

fn naming(id: SessionFn) -> Option<Naming> {
    use SessionFn as F;
    Some(match id {
        F::PgTableIsVisible => {
            naming!(
                pg_class,
                PG_CLASS_OID_INDEX,
                PG_CLASS_RELNAME_NSP_INDEX,
                RELNAMESPACE,
                [Some(RELNAME), None]
            )
        }
        F::PgTypeIsVisible => {
            naming!(
                pg_type,
                PG_TYPE_OID_INDEX,
                PG_TYPE_TYPNAME_NSP_INDEX,
                TYPNAMESPACE,
                [Some(TYPNAME), None]
            )
        }
        F::PgFunctionIsVisible => naming!(
            pg_proc,
            PG_PROC_OID_INDEX,
            PG_PROC_PRONAME_ARGS_NSP_INDEX,
            PRONAMESPACE,
            [Some(PRONAME), Some(PROARGTYPES), None]
        ),
        F::PgOperatorIsVisible => naming!(
            pg_operator,
            PG_OPERATOR_OID_INDEX,
            PG_OPERATOR_OPRNAME_L_R_N_INDEX,
            OPRNAMESPACE,
            [Some(OPRNAME), Some(OPRLEFT), Some(OPRRIGHT), None]
        ),
        F::PgOpclassIsVisible => naming!(
            pg_opclass,
            PG_OPCLASS_OID_INDEX,
            PG_OPCLASS_AM_NAME_NSP_INDEX,
            OPCNAMESPACE,
            [Some(OPCMETHOD), Some(OPCNAME), None]
        ),
        F::PgOpfamilyIsVisible => naming!(
            pg_opfamily,
            PG_OPFAMILY_OID_INDEX,
            PG_OPFAMILY_AM_NAME_NSP_INDEX,
            OPFNAMESPACE,
            [Some(OPFMETHOD), Some(OPFNAME), None]
        ),
        F::PgConversionIsVisible => naming!(
            pg_conversion,
            PG_CONVERSION_OID_INDEX,
            PG_CONVERSION_NAME_NSP_INDEX,
            CONNAMESPACE,
            [Some(CONNAME), None]
        ),
        F::PgCollationIsVisible => naming!(
            pg_collation,
            PG_COLLATION_OID_INDEX,
            PG_COLLATION_NAME_ENC_NSP_INDEX,
            COLLNAMESPACE,
            [Some(COLLNAME), Some(COLLENCODING), None]
        ),
        F::PgStatisticsObjIsVisible => naming!(
            pg_statistic_ext,
            PG_STATISTIC_EXT_OID_INDEX,
            PG_STATISTIC_EXT_NAME_INDEX,
            STXNAMESPACE,
            [Some(STXNAME), None]
        ),
        F::PgTsConfigIsVisible => naming!(
            pg_ts_config,
            PG_TS_CONFIG_OID_INDEX,
            PG_TS_CONFIG_CFGNAME_INDEX,
            CFGNAMESPACE,
            [Some(CFGNAME), None]
        ),
        F::PgTsDictIsVisible => naming!(
            pg_ts_dict,
            PG_TS_DICT_OID_INDEX,
            PG_TS_DICT_DICTNAME_INDEX,
            DICTNAMESPACE,
            [Some(DICTNAME), None]
        ),
        F::PgTsParserIsVisible => naming!(
            pg_ts_parser,
            PG_TS_PARSER_OID_INDEX,
            PG_TS_PARSER_PRSNAME_INDEX,
            PRSNAMESPACE,
            [Some(PRSNAME), None]
        ),
        F::PgTsTemplateIsVisible => naming!(
            pg_ts_template,
            PG_TS_TEMPLATE_OID_INDEX,
            PG_TS_TEMPLATE_TMPLNAME_INDEX,
            TMPLNAMESPACE,
            [Some(TMPLNAME), None]
        ),
        _ => return None,
    })
}

/// Whether an object is the first of its name on the search path; `None` if it does not exist.
fn is_visible(r: &Reader<'_>, naming: &Naming, oid: Oid) -> SqlResult<Option<bool>> {
    let Some((_, row)) = r.find_one(naming.table, naming.by_oid, &[oid.into()])? else { return Ok(None) };
    let own = row.oid(naming.schema);
    for schema in r.search_path()? {
        if schema == own {
            return Ok(Some(true));
        }
        let column = |c: &Option<usize>| c.map_or(schema.into(), |c| row[c].clone());
        let key: Vec<Datum> = naming.key.iter().map(column).collect();
        if r.find_one(naming.table, naming.by_name, &key)?.is_some() {
            return Ok(Some(false));
        }
    }
    Ok(Some(false))
}

impl Session {
    pub(super) fn name_function(&self, id: SessionFn, args: &[Datum]) -> SqlResult<Option<Datum>> {
        use SessionFn as F;
        if let Some(naming) = naming(id) {
            let visible = self.with_reader(|r| is_visible(r, &naming, Oid(arg(args, 0))))?;
            return Ok(Some(visible.map_or(Datum::Null, Datum::Bool)));
        }
        Ok(Some(match id {
            F::FormatType => self.format_type(args)?,
            F::ObjDescription => self.description(args, 0)?,
            F::ColDescription => self.column_description(Oid(arg(args, 0)), arg(args, 1))?,
            F::ShobjDescription => self.shared_description(args)?,
            F::PgGetUserbyid => self.user_by_id(Oid(arg(args, 0)))?,
            F::PgRelationIsPublishable => self.is_publishable(Oid(arg(args, 0)))?,
            F::ToRegclass => self.soft_lookup(RegKind::Class, args)?,
            F::ToRegtype => self.soft_lookup(RegKind::Type, args)?,
            F::ToRegproc => self.soft_lookup(RegKind::Proc, args)?,
            F::ToRegprocedure => self.soft_lookup(RegKind::Procedure, args)?,
            F::ToRegoper => self.soft_lookup(RegKind::Oper, args)?,
            F::ToRegoperator => self.soft_lookup(RegKind::Operator, args)?,
            F::ToRegnamespace => self.soft_lookup(RegKind::Namespace, args)?,
            F::ToRegrole => self.soft_lookup(RegKind::Role, args)?,
            F::ToRegcollation => self.soft_lookup(RegKind::Collation, args)?,
            F::ToRegtypemod => match soft(self.type_named(arg(args, 0)))? {
                Some((_, typmod)) => Datum::Int4(typmod),
                None => Datum::Null,
            },
            F::Amvalidate => Datum::Bool(self.operator_class_is_whole(Oid(arg(args, 0)))?),
            _ => return Ok(None),
        }))
    }

    /// Whether a publication may name the relation: a permanent table of a user. NULL for one that is gone.
    fn is_publishable(&self, oid: Oid) -> SqlResult<Datum> {
        let index = pg_class::PG_CLASS_OID_INDEX;
        let row = self.with_reader(|r| r.find_one(&pg_class::TABLE, index, &[oid.into()]))?;
        Ok(row.map_or(Datum::Null, |(_, row)| {
            let is_table = matches!(row.char(pg_class::RELKIND), b'r' | b'p');
            Datum::Bool(is_table && row.char(pg_class::RELPERSISTENCE) == b'p' && !oid.is_pinned())
        }))
    }

    /// Whether an object is found without its schema; `id` is one of the `*_is_visible` functions.
    pub(super) fn object_is_visible(&self, id: SessionFn, oid: Oid) -> SqlResult<bool> {
        match naming(id) {
            Some(naming) => Ok(self.with_reader(|r| is_visible(r, &naming, oid))?.unwrap_or(false)),
            None => Ok(false),
        }
    }

    fn format_type(&self, args: &[Datum]) -> SqlResult<Datum> {
        let ty: Option<u32> = arg(args, 0);
        let Some(ty) = ty else { return Ok(Datum::Null) };
        let typmod: Option<i32> = arg(args, 1);
        Ok(Datum::text(&self.type_name(Oid(ty), typmod)?))
    }

    /// SQL name of any type.
    pub(crate) fn type_name(&self, ty: Oid, typmod: Option<i32>) -> SqlResult<String> {
        if !ty.is_valid() {
            return Ok("-".into());
        }
        if let Some(name) = types::format_type(ty, typmod) {
            return Ok(name);
        }
        let Some(def) = self.with_reader(|r| r.type_by_oid(ty))? else { return Ok("???".into()) };
        if def.element.is_valid() {
            return Ok(format!("{}[]", self.type_name(def.element, typmod)?));
        }
        let visible = self.object_is_visible(SessionFn::PgTypeIsVisible, ty)?;
        let name = super::text::name_in_schema(&def.schema_name, &def.name, visible);
        Ok(match (&def.kind, typmod) {
            (catalog::TypeKind::Like(like), Some(typmod)) if like.modifiers => {
                name + &types::registry::typmod_out(like.base, typmod)
            }
            _ => name,
        })
    }

    /// Type and modifier of a type as SQL writes it.
    pub(super) fn type_named(&self, text: &str) -> SqlResult<(Oid, i32)> {
        let name = parse::parse_type_name(text)?;
        let format = self.format();
        analyze::resolve_type(&name, text, self, &Call::new(&format).with_session(self))
    }

    fn description(&self, args: &[Datum], column: i32) -> SqlResult<Datum> {
        self.with_reader(|r| {
            let mut key: Vec<Datum> = vec![args[0].clone()];
            if args.len() > 1 {
                let Some(class) = r.relation(Some("pg_catalog"), arg(args, 1))? else {
                    return Ok(Datum::Null);
                };
                key.extend([class.oid.into(), column.into()]);
            }
            let rows = r.find(&pg_description::TABLE, pg_description::PG_DESCRIPTION_O_C_O_INDEX, &key)?;
            let found = rows.into_iter().find(|(_, row)| row.int(pg_description::OBJSUBID) == column);
            Ok(found.map_or(Datum::Null, |(_, row)| row[pg_description::DESCRIPTION].clone()))
        })
    }

    /// The comment on an object or column.
    pub fn comment_of(&self, object: ObjectAddress) -> SqlResult<Option<String>> {
        let key = [object.object.into(), object.class.into(), i32::from(object.sub).into()];
        let index = pg_description::PG_DESCRIPTION_O_C_O_INDEX;
        let row = self.with_reader(|r| r.find_one(&pg_description::TABLE, index, &key))?;
        Ok(row.map(|(_, row)| row.str(pg_description::DESCRIPTION).to_owned()))
    }

    fn column_description(&self, table: Oid, column: i32) -> SqlResult<Datum> {
        if column == 0 {
            return Ok(Datum::Null);
        }
        let key = [table.into(), pg_class::TABLE.oid.into(), column.into()];
        let index = pg_description::PG_DESCRIPTION_O_C_O_INDEX;
        let row = self.with_reader(|r| r.find_one(&pg_description::TABLE, index, &key))?;
        Ok(row.map_or(Datum::Null, |(_, row)| row[pg_description::DESCRIPTION].clone()))
    }

    fn shared_description(&self, args: &[Datum]) -> SqlResult<Datum> {
        self.with_reader(|r| {
            let Some(class) = r.relation(Some("pg_catalog"), arg(args, 1))? else { return Ok(Datum::Null) };
            let key = [args[0].clone(), class.oid.into()];
            let index = pg_shdescription::PG_SHDESCRIPTION_O_C_INDEX;
            let row = r.find_one(&pg_shdescription::TABLE, index, &key)?;
            Ok(row.map_or(Datum::Null, |(_, row)| row[pg_shdescription::DESCRIPTION].clone()))
        })
    }

    fn user_by_id(&self, oid: Oid) -> SqlResult<Datum> {
        let name = self.with_reader(|r| r.role_name(oid))?;
        Ok(Datum::text(&name.unwrap_or_else(|| format!("unknown (OID={oid})"))))
    }

    /// `to_reg*`: NULL for what the cast would refuse.
    fn soft_lookup(&self, kind: RegKind, args: &[Datum]) -> SqlResult<Datum> {
        let name: &str = arg(args, 0);
        if !name.is_empty() && name.bytes().all(|b| b.is_ascii_digit()) {
            return Ok(name.parse().map_or(Datum::Null, Datum::Oid));
        }
        let found = soft(types::Session::reg_lookup(self, kind, name))?;
        Ok(found.map_or(Datum::Null, Into::into))
    }
}

/// No value where the error says that there is no such thing or that the text is not a name.
fn soft<T>(result: SqlResult<T>) -> SqlResult<Option<T>> {
    const SOFT: [SqlState; 12] = [
        SqlState::UNDEFINED_TABLE,
        SqlState::UNDEFINED_OBJECT,
        SqlState::UNDEFINED_FUNCTION,
        SqlState::UNDEFINED_COLUMN,
        SqlState::UNDEFINED_SCHEMA,
        SqlState::AMBIGUOUS_FUNCTION,
        SqlState::INVALID_NAME,
        SqlState::INVALID_TEXT_REPRESENTATION,
        SqlState::SYNTAX_ERROR,
        SqlState::INVALID_PARAMETER_VALUE,
        SqlState::INVALID_SCHEMA_NAME,
        SqlState::FEATURE_NOT_SUPPORTED,
    ];
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if SOFT.contains(&error.code()) => Ok(None),
        Err(error) => Err(error),
    }
}
