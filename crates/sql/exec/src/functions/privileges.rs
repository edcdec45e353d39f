//! Who may do what: `has_*_privilege`, `pg_has_role`, ACLs as values.

use base::{Oid, SqlResult, sql_err};
use catalog::system::{
    SystemTable, pg_attribute, pg_auth_members, pg_authid, pg_class, pg_database, pg_foreign_data_wrapper,
    pg_foreign_server, pg_language, pg_namespace, pg_parameter_acl, pg_proc, pg_tablespace, pg_type,
};
use catalog::{CatalogView, Role, RowExt};
use tuple::Datum;
use types::value::FromDatum;
use types::{Call, SessionFn};

use super::acl::{self, AclItem, Wanted, bits};
use super::text::{quote_identifier, split_name};
use super::{Row, arg};
use crate::session::Session;

/// Where the owner and ACL of a kind of objects stand.
struct Kind {
    table: &'static SystemTable,
    by_oid: Oid,
    owner: usize,
    acl: usize,
    /// Letter of `acldefault`.
    letter: u8,
    /// All privileges that there are on such an object.
    all: u32,
}

macro_rules! kind {
    ($table:ident, $index:ident, $owner:ident, $acl:ident, $letter:literal, $all:literal) => {
        Kind {
            table: &$table::TABLE,
            by_oid: $table::$index,
            owner: $table::$owner,
            acl: $table::$acl,
            letter: $letter,
            all: bits($all),
        }
    };
}

const TABLE: Kind = kind!(pg_class, PG_CLASS_OID_INDEX, RELOWNER, RELACL, b'r', "arwdDxtm");
const COLUMN: u32 = bits("arwx");

fn kind_of(id: SessionFn) -> Option<Kind> {
    use SessionFn as F;
    Some(match id {
        F::HasTablePrivilege => TABLE,
        F::HasSequencePrivilege => kind!(pg_class, PG_CLASS_OID_INDEX, RELOWNER, RELACL, b's', "rwU"),
        F::HasSchemaPrivilege => kind!(pg_namespace, PG_NAMESPACE_OID_INDEX, NSPOWNER, NSPACL, b'n', "UC"),
        F::HasDatabasePrivilege => kind!(pg_database, PG_DATABASE_OID_INDEX, DATDBA, DATACL, b'd', "CTc"),
        F::HasFunctionPrivilege => kind!(pg_proc, PG_PROC_OID_INDEX, PROOWNER, PROACL, b'f', "X"),
        F::HasTablespacePrivilege => {
            kind!(pg_tablespace, PG_TABLESPACE_OID_INDEX, SPCOWNER, SPCACL, b't', "C")
        }
        F::HasLanguagePrivilege => kind!(pg_language, PG_LANGUAGE_OID_INDEX, LANOWNER, LANACL, b'l', "U"),
        F::HasTypePrivilege => kind!(pg_type, PG_TYPE_OID_INDEX, TYPOWNER, TYPACL, b'T', "U"),
        F::HasForeignDataWrapperPrivilege => {
            kind!(pg_foreign_data_wrapper, PG_FOREIGN_DATA_WRAPPER_OID_INDEX, FDWOWNER, FDWACL, b'F', "U")
        }
        F::HasServerPrivilege => {
            kind!(pg_foreign_server, PG_FOREIGN_SERVER_OID_INDEX, SRVOWNER, SRVACL, b'S', "U")
        }
        _ => return None,
    })
}

impl Session {
    pub(super) fn privilege_function(
        &self,
        id: SessionFn,
        call: &Call<'_>,
        args: &[Datum],
    ) -> SqlResult<Option<Datum>> {
        use SessionFn as F;
        if let Some(kind) = kind_of(id) {
            return self.has_privilege(id, &kind, args).map(Some);
        }
        Ok(Some(match id {
            F::HasColumnPrivilege => self.has_column_privilege(args)?,
            F::HasAnyColumnPrivilege => self.has_any_column_privilege(args)?,
            F::HasParameterPrivilege => self.has_parameter_privilege(args)?,
            F::PgHasRole => self.has_role(args)?,
            F::Acldefault => acl::array_of(&acl::default_items(arg(args, 0), Oid(arg(args, 1)))?, call)?,
            F::Makeaclitem => self.make_acl_item(args)?,
            _ => return Ok(None),
        }))
    }

    /// `has_sequence_privilege` of the current user.
    pub(super) fn sequence_privilege(&self, args: &[Datum]) -> SqlResult<Datum> {
        match kind_of(SessionFn::HasSequencePrivilege) {
            Some(kind) => self.has_privilege(SessionFn::HasSequencePrivilege, &kind, args),
            None => Ok(Datum::Null),
        }
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

    fn has_privilege(&self, id: SessionFn, kind: &Kind, args: &[Datum]) -> SqlResult<Datum> {
        let (role, args) = self.role_and_rest(args, 2)?;
        let object = self.object_argument(id, &args[0])?;
        let wanted = acl::parse_privileges(arg(args, 1), kind.all)?;
        let Some((owner, acl)) = self.owner_and_acl(kind, object)? else { return Ok(Datum::Null) };
        self.any_granted(role, &wanted, kind, object, owner, &acl).map(Datum::Bool)
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

    fn owner_and_acl(&self, kind: &Kind, object: Oid) -> SqlResult<Option<(Oid, Datum)>> {
        let row = self.with_reader(|r| r.find_one(kind.table, kind.by_oid, &[object.into()]))?;
        Ok(row.map(|(_, row)| (row.oid(kind.owner), row[kind.acl].clone())))
    }

    fn any_granted(
        &self,
        role: Oid,
        wanted: &[Wanted],
        kind: &Kind,
        object: Oid,
        owner: Oid,
        acl: &Datum,
    ) -> SqlResult<bool> {
        if role.is_valid() && self.is_superuser(role)? {
            return Ok(true);
        }
        let items = match acl {
            Datum::Null => {
                let mut items = acl::default_items(kind.letter, owner)?;
                items.extend(built_in_grants(kind, object, owner));
                items
            }
            acl => acl::items(acl),
        };
        self.granted(role, wanted, owner, &items)
    }

    /// Whether any privilege wanted was granted to the role, one that it belongs to, or everybody.
    fn granted(&self, role: Oid, wanted: &[Wanted], owner: Oid, items: &[AclItem]) -> SqlResult<bool> {
        let roles = self.roles_of(role, Membership::Inherit)?;
        let is_owner = roles.contains(&owner);
        let holds = |&(bit, grant): &Wanted| {
            // An owner can always grant on.
            (grant && is_owner)
                || items.iter().any(|item| {
                    let reaches = item.grantee == Oid::INVALID || roles.contains(&item.grantee);
                    reaches && (if grant { item.grantable } else { item.privileges }) & bit != 0
                })
        };
        Ok(wanted.iter().any(holds))
    }

    fn has_column_privilege(&self, args: &[Datum]) -> SqlResult<Datum> {
        let (role, args) = self.role_and_rest(args, 3)?;
        let object = self.object_argument(SessionFn::HasTablePrivilege, &args[0])?;
        let wanted = acl::parse_privileges(arg(args, 2), COLUMN)?;
        let Some((owner, table_acl)) = self.owner_and_acl(&TABLE, object)? else { return Ok(Datum::Null) };
        let Some(column) = self.column_acl(object, &args[1])? else { return Ok(Datum::Null) };
        if self.any_granted(role, &wanted, &TABLE, object, owner, &table_acl)? {
            return Ok(Datum::Bool(true));
        }
        self.granted(role, &wanted, owner, &acl::items(&column)).map(Datum::Bool)
    }

    /// ACL of a column given by name or number; none if there is no such column.
    fn column_acl(&self, table: Oid, column: &Datum) -> SqlResult<Option<Datum>> {
        use pg_attribute::*;
        let (index, by_name) = match column {
            Datum::Int2(_) => (PG_ATTRIBUTE_RELID_ATTNUM_INDEX, None),
            name => (PG_ATTRIBUTE_RELID_ATTNAM_INDEX, Some(<&str>::from_datum(name))),
        };
        let row = self.with_reader(|r| r.find_one(&TABLE, index, &[table.into(), column.clone()]))?;
        match (row, by_name) {
            (Some((_, row)), _) if !row.bool(ATTISDROPPED) => Ok(Some(row[ATTACL].clone())),
            (_, None) => Ok(None),
            (_, Some(name)) => {
                let table = self.with_reader(|r| r.relation_by_oid(table))?.map(|t| t.name.clone());
                let table = table.unwrap_or_default();
                Err(sql_err!(UNDEFINED_COLUMN, "column \"{name}\" of relation \"{table}\" does not exist"))
            }
        }
    }

    fn has_any_column_privilege(&self, args: &[Datum]) -> SqlResult<Datum> {
        let (role, args) = self.role_and_rest(args, 2)?;
        let object = self.object_argument(SessionFn::HasTablePrivilege, &args[0])?;
        let wanted = acl::parse_privileges(arg(args, 1), COLUMN)?;
        let Some((owner, table_acl)) = self.owner_and_acl(&TABLE, object)? else { return Ok(Datum::Null) };
        if self.any_granted(role, &wanted, &TABLE, object, owner, &table_acl)? {
            return Ok(Datum::Bool(true));
        }
        let index = pg_attribute::PG_ATTRIBUTE_RELID_ATTNUM_INDEX;
        let rows = self.with_reader(|r| r.find(&pg_attribute::TABLE, index, &[object.into()]))?;
        for (_, row) in rows.iter().filter(|(_, row)| !row.bool(pg_attribute::ATTISDROPPED)) {
            if self.granted(role, &wanted, owner, &acl::items(&row[pg_attribute::ATTACL]))? {
                return Ok(Datum::Bool(true));
            }
        }
        Ok(Datum::Bool(false))
    }

    fn has_parameter_privilege(&self, args: &[Datum]) -> SqlResult<Datum> {
        let (role, args) = self.role_and_rest(args, 2)?;
        let wanted = acl::parse_privileges(arg(args, 1), bits("sA"))?;
        if role.is_valid() && self.is_superuser(role)? {
            return Ok(Datum::Bool(true));
        }
        let name = arg::<&str>(args, 0).to_lowercase();
        let key = [name.as_str().into()];
        let index = pg_parameter_acl::PG_PARAMETER_ACL_PARNAME_INDEX;
        let row = self.with_reader(|r| r.find_one(&pg_parameter_acl::TABLE, index, &key))?;
        let items = row.map_or(Vec::new(), |(_, row)| acl::items(&row[pg_parameter_acl::PARACL]));
        self.granted(role, &wanted, Oid::INVALID, &items).map(Datum::Bool)
    }

    fn has_role(&self, args: &[Datum]) -> SqlResult<Datum> {
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
            let through = match (name, admin) {
                ("USAGE" | "MEMBER" | "SET", true) => Membership::Admin,
                ("USAGE", false) => Membership::Inherit,
                ("MEMBER", false) => Membership::Any,
                ("SET", false) => Membership::Set,
                _ => {
                    let word = word.trim();
                    return Err(sql_err!(INVALID_PARAMETER_VALUE, "unrecognized privilege type: \"{word}\""));
                }
            };
            if self.is_superuser(member)? || self.roles_of(member, through)?.contains(&role) {
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

    /// Whether a role is a superuser; a role that does not exist is none.
    pub(crate) fn is_superuser(&self, role: Oid) -> SqlResult<bool> {
        if role == self.names.session_user() && role == self.names.user() {
            return Ok(self.superuser.get());
        }
        let key = [role.into()];
        let row =
            self.with_reader(|r| r.find_one(&pg_authid::TABLE, pg_authid::PG_AUTHID_OID_INDEX, &key))?;
        Ok(row.is_some_and(|(_, row)| row.bool(pg_authid::ROLSUPER)))
    }

    /// The role itself and those that it belongs to.
    pub(super) fn roles_of(&self, role: Oid, through: Membership) -> SqlResult<Vec<Oid>> {
        use pg_auth_members::*;
        let mut roles = vec![role];
        let mut next = 0;
        while let Some(&member) = roles.get(next) {
            next += 1;
            if !member.is_valid() {
                continue;
            }
            let index = PG_AUTH_MEMBERS_MEMBER_ROLE_INDEX;
            for (_, row) in self.with_reader(|r| r.find(&TABLE, index, &[member.into()]))? {
                let counts = match through {
                    Membership::Any => true,
                    Membership::Inherit => row.bool(INHERIT_OPTION),
                    Membership::Set => row.bool(SET_OPTION),
                    Membership::Admin => row.bool(ADMIN_OPTION),
                };
                let of = row.oid(ROLEID);
                if counts && !roles.contains(&of) {
                    roles.push(of);
                }
            }
        }
        if through == Membership::Admin {
            // Nobody administers himself.
            roles.remove(0);
        }
        Ok(roles)
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
        let (grantee, rest) = text
            .split_once('=')
            .ok_or_else(|| sql_err!(INVALID_TEXT_REPRESENTATION, "missing \"=\" sign"))?;
        let grantee = grantee.trim();
        let grantee = grantee.strip_prefix("group ").or(grantee.strip_prefix("user ")).unwrap_or(grantee);
        let (letters, grantor) = match rest.split_once('/') {
            Some((letters, grantor)) => (letters, Some(grantor.trim())),
            None => (rest, None),
        };
        let role = |name: &str| self.role_named(&split_name(name)?.join("."));
        let (privileges, grantable) = acl::parse_letters(letters.trim())?;
        let grantor = match grantor {
            Some(name) => role(name)?,
            None => catalog::BOOTSTRAP_SUPERUSER,
        };
        let grantee = if grantee.is_empty() { Oid::INVALID } else { role(grantee)? };
        Ok(AclItem { grantee, grantor, privileges, grantable }.to_datum())
    }
}

/// Which memberships of roles count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Membership {
    Any,
    Inherit,
    Set,
    Admin,
}

/// Catalogs whose rows hold secrets or samples of data.
static PRIVATE: [Oid; 6] = [
    pg_authid::TABLE.oid,
    catalog::system::pg_subscription::TABLE.oid,
    catalog::system::pg_user_mapping::TABLE.oid,
    catalog::system::pg_statistic::TABLE.oid,
    catalog::system::pg_statistic_ext_data::TABLE.oid,
    catalog::system::pg_largeobject::TABLE.oid,
];

/// What built-in objects grant everybody although they have no ACL: reading the catalogs, using their schemas.
fn built_in_grants(kind: &Kind, object: Oid, owner: Oid) -> Option<AclItem> {
    let privileges = match kind.letter {
        _ if !object.is_pinned() => return None,
        b'r' if !PRIVATE.contains(&object) => bits("r"),
        b'n' => bits("U"),
        _ => return None,
    };
    Some(AclItem { grantee: Oid::INVALID, grantor: owner, privileges, grantable: 0 })
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
