//! Who may do what: `has_*_privilege`, `pg_has_role`, ACLs as values.

use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::authority::{AclKind, COLUMN_PRIVILEGES};
use catalog::system::{
    pg_attribute, pg_database, pg_foreign_data_wrapper, pg_foreign_server, pg_language, pg_namespace,
    pg_parameter_acl, pg_tablespace,
};
use catalog::{CatalogView, Role, RowExt, Table};
use tuple::Datum;
use types::SessionFn;
use types::acl::{self, AclItem, Held, Wanted, bits};
use types::value::FromDatum;

use super::text::quote_identifier;
use super::{Row, arg};
use crate::Session;

fn kind_of(id: SessionFn) -> Option<AclKind> {
    use SessionFn as F;
    Some(match id {
        F::HasTablePrivilege => AclKind::TABLE,
        F::HasSequencePrivilege => AclKind::SEQUENCE,
        F::HasSchemaPrivilege => AclKind::SCHEMA,
        F::HasDatabasePrivilege => AclKind::DATABASE,
        F::HasFunctionPrivilege => AclKind::FUNCTION,
        F::HasTablespacePrivilege => AclKind::TABLESPACE,
        F::HasLanguagePrivilege => AclKind::LANGUAGE,
        F::HasTypePrivilege => AclKind::TYPE,
        F::HasForeignDataWrapperPrivilege => AclKind::FOREIGN_DATA_WRAPPER,
        F::HasServerPrivilege => AclKind::FOREIGN_SERVER,
        F::HasLargeobjectPrivilege => AclKind::LARGE_OBJECT,
        _ => return None,
    })
}

impl Session {
    pub(super) fn privilege_function(&self, id: SessionFn, args: &[Datum]) -> SqlResult<Option<Datum>> {
        use SessionFn as F;
        if let Some(kind) = kind_of(id) {
            return self.has_privilege(id, &kind, args).map(Some);
        }
        Ok(Some(match id {
            F::HasColumnPrivilege => self.has_column_privilege(args)?,
            F::HasAnyColumnPrivilege => self.has_any_column_privilege(args)?,
            F::HasParameterPrivilege => self.has_parameter_privilege(args)?,
            F::PgHasRole => self.pg_has_role(args)?,
            F::Acldefault => acl::array_of(&acl::default_items(arg(args, 0), Oid(arg(args, 1)))?)?,
            F::PgGetAcl => self.acl_of(Oid(arg(args, 0)), Oid(arg(args, 1)), arg(args, 2))?,
            F::Makeaclitem => self.make_acl_item(args)?,
            _ => return Ok(None),
        }))
    }

    pub(super) fn privilege_rows(&self, id: SessionFn, args: &[Datum]) -> SqlResult<Option<Vec<Row>>> {
        match id {
            SessionFn::Aclexplode => Ok(Some(acl::items(&args[0]).iter().flat_map(exploded).collect())),
            _ => Ok(None),
        }
    }

    /// The role of a privilege function's first argument, if it has one, and the other arguments.
    fn role_and_rest<'a>(&self, args: &'a [Datum], without_role: usize) -> SqlResult<(Oid, &'a [Datum])> {
        match args.len() > without_role {
            true => Ok((self.role_argument(&args[0])?, &args[1..])),
            false => Ok((self.names.user(), args)),
        }
    }

    /// A role by name (`public` is 0) or OID.
    fn role_argument(&self, which: &Datum) -> SqlResult<Oid> {
        if let Datum::Oid(oid) = which {
            return Ok(Oid(*oid));
        }
        match <&str>::from_datum(which) {
            "public" => Ok(Oid::INVALID),
            name => self.role_named(name),
        }
    }

    fn role_named(&self, name: &str) -> SqlResult<Oid> {
        let role = self.with_reader(|r| r.role(name))?;
        role.map(|role: Role| role.oid)
            .ok_or_else(|| sql_err!(UNDEFINED_OBJECT, "role \"{name}\" does not exist"))
    }

    fn has_privilege(&self, id: SessionFn, kind: &AclKind, args: &[Datum]) -> SqlResult<Datum> {
        let (role, args) = self.role_and_rest(args, 2)?;
        let object = self.object_argument(id, &args[0])?;
        let wanted = acl::parse_privileges(arg(args, 1), kind.all)?;
        let Some((owner, acl)) = self.owner_and_acl(kind, object)? else { return Ok(Datum::Null) };
        self.any_granted(role, &wanted, kind, object, (owner, &acl)).map(Datum::Bool)
    }

    /// The object that a privilege function asks about, by OID or name.
    fn object_argument(&self, id: SessionFn, which: &Datum) -> SqlResult<Oid> {
        use SessionFn as F;
        if let Datum::Oid(oid) = which {
            return Ok(Oid(*oid));
        }
        let name = <&str>::from_datum(which);
        let (table, index, oid, what, code) = match id {
            F::HasTablePrivilege => return self.class_named(name),
            F::HasSequencePrivilege => {
                let oid = self.class_named(name)?;
                let kind = self.with_reader(|r| r.relation_by_oid(oid))?.map(|table| table.kind);
                return match kind {
                    Some(catalog::RelationKind::Sequence) => Ok(oid),
                    _ => Err(sql_err!(WRONG_OBJECT_TYPE, "\"{name}\" is not a sequence")),
                };
            }
            F::HasFunctionPrivilege => return self.function_with_args(name),
            F::HasTypePrivilege => return Ok(self.type_named(name)?.0),
            F::HasSchemaPrivilege => {
                use pg_namespace::*;
                (&TABLE, PG_NAMESPACE_NSPNAME_INDEX, OID, "schema", base::SqlState::UNDEFINED_SCHEMA)
            }
            F::HasDatabasePrivilege => {
                use pg_database::*;
                (&TABLE, PG_DATABASE_DATNAME_INDEX, OID, "database", base::SqlState::UNDEFINED_DATABASE)
            }
            F::HasTablespacePrivilege => {
                use pg_tablespace::*;
                (&TABLE, PG_TABLESPACE_SPCNAME_INDEX, OID, "tablespace", base::SqlState::UNDEFINED_OBJECT)
            }
            F::HasLanguagePrivilege => {
                use pg_language::*;
                (&TABLE, PG_LANGUAGE_NAME_INDEX, OID, "language", base::SqlState::UNDEFINED_OBJECT)
            }
            F::HasForeignDataWrapperPrivilege => {
                use pg_foreign_data_wrapper::*;
                let what = "foreign-data wrapper";
                (&TABLE, PG_FOREIGN_DATA_WRAPPER_NAME_INDEX, OID, what, base::SqlState::UNDEFINED_OBJECT)
            }
            _ => {
                use pg_foreign_server::*;
                (&TABLE, PG_FOREIGN_SERVER_NAME_INDEX, OID, "server", base::SqlState::UNDEFINED_OBJECT)
            }
        };
        let row = self.with_reader(|r| r.find_one(table, index, &[name.into()]))?;
        row.map(|(_, row)| row.oid(oid))
            .ok_or_else(|| base::SqlError::new(code, format!("{what} \"{name}\" does not exist")))
    }

    fn owner_and_acl(&self, kind: &AclKind, object: Oid) -> SqlResult<Option<(Oid, Datum)>> {
        let row = self.with_reader(|r| r.find_one(kind.table, kind.by_oid, &[object.into()]))?;
        Ok(row.map(|(_, row)| (row.oid(kind.owner), row[kind.acl].clone())))
    }

    fn any_granted(
        &self,
        role: Oid,
        wanted: &[Wanted],
        kind: &AclKind,
        object: Oid,
        owned: (Oid, &Datum),
    ) -> SqlResult<bool> {
        let held = self.with_reader(|reader| match kind.letter {
            b'r' | b's' => match reader.relation_by_oid(object)? {
                Some(table) => reader.relation_rights(role, &table),
                None => Ok(Held::default()),
            },
            b'n' => reader.schema_rights(role, object),
            letter => reader.rights(role, letter, (owned.0, acl::optional_items(owned.1).as_deref())),
        })?;
        Ok(wanted.iter().any(|wanted| held.has(*wanted)))
    }

    fn has_column_privilege(&self, args: &[Datum]) -> SqlResult<Datum> {
        let (role, args) = self.role_and_rest(args, 3)?;
        let object = self.object_argument(SessionFn::HasTablePrivilege, &args[0])?;
        let wanted = acl::parse_privileges(arg(args, 2), COLUMN_PRIVILEGES)?;
        let Some(table) = self.with_reader(|r| r.relation_by_oid(object))? else { return Ok(Datum::Null) };
        let Some(number) = column_number(&table, &args[1])? else { return Ok(Datum::Null) };
        let (whole, column) = self.with_reader(|reader| {
            Ok::<_, SqlError>((
                reader.relation_rights(role, &table)?,
                reader.column_rights(role, &table, number)?,
            ))
        })?;
        Ok(Datum::Bool(wanted.iter().any(|wanted| whole.has(*wanted) || column.has(*wanted))))
    }

    fn has_any_column_privilege(&self, args: &[Datum]) -> SqlResult<Datum> {
        let (role, args) = self.role_and_rest(args, 2)?;
        let object = self.object_argument(SessionFn::HasTablePrivilege, &args[0])?;
        let wanted = acl::parse_privileges(arg(args, 1), COLUMN_PRIVILEGES)?;
        let Some(table) = self.with_reader(|r| r.relation_by_oid(object))? else { return Ok(Datum::Null) };
        let held = self.with_reader(|reader| {
            let whole = reader.relation_rights(role, &table)?;
            for wanted in wanted {
                if whole.has(wanted) || reader.holds_on_any_column(role, &table, wanted)? {
                    return Ok::<_, SqlError>(true);
                }
            }
            Ok(false)
        })?;
        Ok(Datum::Bool(held))
    }

    fn has_parameter_privilege(&self, args: &[Datum]) -> SqlResult<Datum> {
        let (role, args) = self.role_and_rest(args, 2)?;
        let wanted = acl::parse_privileges(arg(args, 1), bits("sA"))?;
        let name = arg::<&str>(args, 0).to_lowercase();
        let key = [name.as_str().into()];
        let index = pg_parameter_acl::PG_PARAMETER_ACL_PARNAME_INDEX;
        let row = self.with_reader(|r| r.find_one(&pg_parameter_acl::TABLE, index, &key))?;
        let items = row.map_or(Vec::new(), |(_, row)| acl::items(&row[pg_parameter_acl::PARACL]));
        let held =
            self.with_reader(|r| r.rights(role, b'p', (catalog::BOOTSTRAP_SUPERUSER, Some(&items))))?;
        Ok(Datum::Bool(wanted.iter().any(|wanted| held.has(*wanted))))
    }

    fn pg_has_role(&self, args: &[Datum]) -> SqlResult<Datum> {
        let (member, args) = match args.len() > 2 {
            true => (self.role_or_oid(&args[0])?, &args[1..]),
            false => (self.names.user(), args),
        };
        let role = self.role_or_oid(&args[0])?;
        for word in arg::<&str>(args, 1).split(',') {
            let upper = word.trim().to_ascii_uppercase();
            let (name, admin) =
                match upper.strip_suffix(" WITH ADMIN OPTION").or(upper.strip_suffix(" WITH GRANT OPTION")) {
                    Some(name) => (name, true),
                    None => (upper.as_str(), false),
                };
            let is = self.with_reader(|reader| match (name, admin) {
                ("USAGE" | "MEMBER" | "SET", true) => reader.is_admin_of(member, role),
                ("USAGE", false) => reader.has_privileges_of(member, role),
                ("MEMBER", false) => reader.is_member_of(member, role),
                ("SET", false) => reader.may_become(member, role),
                _ => {
                    let word = word.trim();
                    Err(sql_err!(INVALID_PARAMETER_VALUE, "unrecognized privilege type: \"{word}\""))
                }
            })?;
            if is {
                return Ok(Datum::Bool(true));
            }
        }
        Ok(Datum::Bool(false))
    }

    fn role_or_oid(&self, which: &Datum) -> SqlResult<Oid> {
        match which {
            Datum::Oid(oid) => Ok(Oid(*oid)),
            name => self.role_named(<&str>::from_datum(name)),
        }
    }

    /// `pg_get_acl`: the ACL of any object, or of a column; NULL if it has none.
    fn acl_of(&self, class: Oid, object: Oid, column: i32) -> SqlResult<Datum> {
        if column != 0 && class == AclKind::TABLE.table.oid {
            let Ok(number) = i16::try_from(column) else { return Ok(Datum::Null) };
            let index = pg_attribute::PG_ATTRIBUTE_RELID_ATTNUM_INDEX;
            let key = [object.into(), number.into()];
            let row = self.with_reader(|r| r.find_one(&pg_attribute::TABLE, index, &key))?;
            return Ok(row.map_or(Datum::Null, |(_, row)| row[pg_attribute::ATTACL].clone()));
        }
        let kind = match class == AclKind::TABLE.table.oid {
            true => Some(AclKind::TABLE),
            false => AclKind::of_catalog(class),
        };
        let Some(kind) = kind else { return Ok(Datum::Null) };
        Ok(self.owner_and_acl(&kind, object)?.map_or(Datum::Null, |(_, acl)| acl))
    }

    fn make_acl_item(&self, args: &[Datum]) -> SqlResult<Datum> {
        let all = acl::PRIVILEGES.iter().fold(0, |all, p| all | p.bit);
        let wanted = acl::parse_privileges(arg(args, 2), all)?;
        let privileges = wanted.iter().fold(0, |bits, (bit, _)| bits | bit);
        let grantable = if arg(args, 3) { privileges } else { 0 };
        let item = AclItem { grantee: Oid(arg(args, 0)), grantor: Oid(arg(args, 1)), privileges, grantable };
        Ok(item.to_datum())
    }

    /// Text form of an `aclitem`: `grantee=privileges/grantor`.
    pub(super) fn acl_text(&self, value: &Datum) -> SqlResult<String> {
        let Some(item) = AclItem::from_datum(value) else { return Ok(String::new()) };
        let name = |oid: Oid| -> SqlResult<String> {
            let name = self.with_reader(|r| r.role_name(oid))?;
            Ok(name.map_or_else(|| oid.to_string(), |name| quote_identifier(&name)))
        };
        let grantee = if item.grantee.is_valid() { name(item.grantee)? } else { String::new() };
        Ok(format!("{grantee}={}/{}", item.letters(), name(item.grantor)?))
    }

    /// An `aclitem` from its text form.
    pub(super) fn acl_from_text(&self, text: &str) -> SqlResult<Datum> {
        let (mut item, grantor) = acl::parse_item(text, |name| self.role_named(name))?;
        if grantor.is_none() {
            item.grantor = catalog::BOOTSTRAP_SUPERUSER;
            self.notice(SqlError::with_severity(
                base::Severity::Warning,
                base::SqlState::INVALID_GRANTOR,
                format!("defaulting grantor to user ID {}", item.grantor),
            ));
        }
        Ok(item.to_datum())
    }
}

/// A column given by name or number; none if there is none of that number.
fn column_number(table: &Table, which: &Datum) -> SqlResult<Option<i16>> {
    if let Datum::Int2(number) = which {
        let known = |c: &catalog::Column| !c.dropped;
        let at = usize::try_from(*number).ok().and_then(|number| number.checked_sub(1));
        return Ok(at.and_then(|at| table.columns.get(at)).is_some_and(known).then_some(*number));
    }
    let name = <&str>::from_datum(which);
    if table.columns.iter().any(|column| column.dropped && column.name == name) {
        return Ok(None);
    }
    table.column(name).map(|(number, _)| Some(number)).ok_or_else(|| {
        sql_err!(UNDEFINED_COLUMN, "column \"{name}\" of relation \"{}\" does not exist", table.name)
    })
}

/// One row a privilege.
fn exploded(item: &AclItem) -> Vec<Row> {
    let held = acl::PRIVILEGES.iter().filter(|p| item.privileges & p.bit != 0);
    held.map(|p| {
        let grantable = item.grantable & p.bit != 0;
        vec![item.grantor.into(), item.grantee.into(), Datum::text(p.words), Datum::Bool(grantable)]
    })
    .collect()
}
