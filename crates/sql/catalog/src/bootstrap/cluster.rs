//! The cluster's first schemas, roles, databases, tablespaces, languages, access methods and collations.

use base::{Oid, SqlResult};
use types::acl::{self, AclItem};
use types::oids;

use super::{
    BOOTSTRAP_SUPERUSER, BootstrapOptions, POSTGRES, Rows, TEMPLATE0, TEMPLATE1, add, add_c_function,
    everybody,
};
use crate::change::oldest::never_entered;
use crate::database::{PG_CATALOG, PG_TOAST, PUBLIC};
use crate::roles::predefined;
use crate::row::RowBuilder;
use crate::system::{
    pg_am, pg_auth_members, pg_authid, pg_collation, pg_database, pg_depend, pg_description, pg_extension,
    pg_language, pg_namespace, pg_proc, pg_tablespace,
};
use crate::tables::{PG_DEFAULT, PG_GLOBAL};

/// The predefined roles.
const ROLES: [(u32, &str); 16] = [
    (6171, "pg_database_owner"),
    (6181, "pg_read_all_data"),
    (6182, "pg_write_all_data"),
    (3373, "pg_monitor"),
    (3374, "pg_read_all_settings"),
    (3375, "pg_read_all_stats"),
    (3377, "pg_stat_scan_tables"),
    (4569, "pg_read_server_files"),
    (4570, "pg_write_server_files"),
    (4571, "pg_execute_server_program"),
    (4200, "pg_signal_backend"),
    (4544, "pg_checkpoint"),
    (6337, "pg_maintain"),
    (4550, "pg_use_reserved_connections"),
    (6304, "pg_create_subscription"),
    (6392, "pg_signal_autovacuum_worker"),
];

/// Roles that `pg_monitor` is a member of, and the OIDs of these memberships.
const MONITOR_MEMBERSHIPS: [(u32, u32); 3] = [(10308, 3374), (10309, 3375), (10310, 3377)];

/// UTF8, as `pg_database.encoding` numbers it.
const UTF8: i32 = 6;

/// Adds the rows.
pub(super) fn describe(rows: &mut Rows, options: &BootstrapOptions) -> SqlResult<()> {
    add_schemas(rows)?;
    add_roles(rows, options);
    add_databases(rows, options)?;
    add_access_methods(rows);
    add_languages(rows);
    add_collations(rows);
    Ok(())
}

fn add_schemas(rows: &mut Rows) -> SqlResult<()> {
    use pg_namespace as n;
    for (oid, name, owner) in [
        (PG_CATALOG, "pg_catalog", BOOTSTRAP_SUPERUSER),
        (PG_TOAST, "pg_toast", BOOTSTRAP_SUPERUSER),
        (PUBLIC, "public", predefined::DATABASE_OWNER),
    ] {
        let mut items = acl::default_items(b'n', owner)?;
        items.push(AclItem { grantor: owner, ..everybody(acl::bits("U")) });
        let row = RowBuilder::new(&n::TABLE)
            .set(n::OID, oid)
            .set(n::NSPNAME, name)
            .set(n::NSPOWNER, owner)
            .set_some(n::NSPACL, (oid != PG_TOAST).then(|| acl::array_of(&items)).transpose()?);
        add(rows, &n::TABLE, row.build());
    }
    Ok(())
}

fn add_roles(rows: &mut Rows, options: &BootstrapOptions) {
    use pg_authid as a;
    let role = |oid: Oid, name: &str, all: bool| {
        [a::ROLSUPER, a::ROLCREATEROLE, a::ROLCREATEDB, a::ROLCANLOGIN, a::ROLREPLICATION, a::ROLBYPASSRLS]
            .into_iter()
            .fold(RowBuilder::new(&a::TABLE), |row, column| row.set(column, all))
            .set(a::OID, oid)
            .set(a::ROLNAME, name)
            .set(a::ROLINHERIT, true)
            .set(a::ROLCONNLIMIT, -1)
    };
    let superuser = role(BOOTSTRAP_SUPERUSER, &options.superuser, true);
    add(rows, &a::TABLE, superuser.set_some(a::ROLPASSWORD, options.password.as_deref()).build());
    for (oid, name) in ROLES {
        add(rows, &a::TABLE, role(Oid(oid), name, false).build());
    }
    for (oid, of) in MONITOR_MEMBERSHIPS {
        use pg_auth_members as m;
        let row = RowBuilder::new(&m::TABLE)
            .set(m::OID, Oid(oid))
            .set(m::ROLEID, Oid(of))
            .set(m::MEMBER, Oid(3373))
            .set(m::GRANTOR, BOOTSTRAP_SUPERUSER)
            .set(m::INHERIT_OPTION, true)
            .set(m::SET_OPTION, true);
        add(rows, &m::TABLE, row.build());
    }
}

fn add_databases(rows: &mut Rows, options: &BootstrapOptions) -> SqlResult<()> {
    use pg_database as d;
    let mut items = acl::default_items(b'd', BOOTSTRAP_SUPERUSER)?;
    // Everybody may connect to a template, and make nothing there.
    for item in items.iter_mut().filter(|item| !item.grantee.is_valid()) {
        item.privileges = acl::bits("c");
    }
    let of_templates = acl::array_of(&items)?;
    let BootstrapOptions { locale, provider, provider_locale, .. } = options;
    let provider_locale = provider_locale.as_deref();
    let version = collation::version(*provider, provider_locale.unwrap_or_default());
    for (oid, name, template, connect) in [
        (TEMPLATE1, "template1", true, true),
        (TEMPLATE0, "template0", true, false),
        (POSTGRES, "postgres", false, true),
    ] {
        let [xid, multi] = never_entered();
        let row = RowBuilder::new(&d::TABLE)
            .set(d::OID, oid)
            .set(d::DATNAME, name)
            .set(d::DATFROZENXID, xid)
            .set(d::DATMINMXID, multi)
            .set(d::DATDBA, BOOTSTRAP_SUPERUSER)
            .set(d::ENCODING, options.encoding.number())
            .set(d::DATLOCPROVIDER, provider.letter())
            .set(d::DATISTEMPLATE, template)
            .set(d::DATALLOWCONN, connect)
            .set(d::DATCONNLIMIT, -1)
            .set(d::DATTABLESPACE, PG_DEFAULT)
            .set(d::DATCOLLATE, locale.as_str())
            .set(d::DATCTYPE, locale.as_str())
            .set_some(d::DATLOCALE, provider_locale)
            .set_some(d::DATCOLLVERSION, version)
            .set_some(d::DATACL, template.then(|| of_templates.clone()));
        add(rows, &d::TABLE, row.build());
    }
    for (oid, name) in [(PG_DEFAULT, "pg_default"), (PG_GLOBAL, "pg_global")] {
        use pg_tablespace as t;
        let row = RowBuilder::new(&t::TABLE)
            .set(t::OID, oid)
            .set(t::SPCNAME, name)
            .set(t::SPCOWNER, BOOTSTRAP_SUPERUSER);
        add(rows, &t::TABLE, row.build());
    }
    Ok(())
}

/// OID, name, handler and kind of PostgreSQL's access methods. Indexes can be made with `btree` alone; `hash` also tells which
/// operators hash alike.
const ACCESS_METHODS: [(u32, &str, u32, u8); 7] = [
    (2, "heap", 3, b't'),
    (403, "btree", 330, b'i'),
    (405, "hash", 331, b'i'),
    (783, "gist", 332, b'i'),
    (2742, "gin", 333, b'i'),
    (4000, "spgist", 334, b'i'),
    (3580, "brin", 335, b'i'),
];

fn add_access_methods(rows: &mut Rows) {
    use pg_am as a;
    for (oid, name, handler, kind) in ACCESS_METHODS {
        let row = RowBuilder::new(&a::TABLE)
            .set(a::OID, Oid(oid))
            .set(a::AMNAME, name)
            .set(a::AMHANDLER, Oid(handler))
            .set(a::AMTYPE, kind);
        add(rows, &a::TABLE, row.build());
    }
}

/// What PostgreSQL's extension of this name brings along: itself, its functions, its language.
const PLPGSQL: Plpgsql = Plpgsql {
    extension: Oid(13494),
    call_handler: Oid(13495),
    inline_handler: Oid(13496),
    validator: Oid(13497),
    language: Oid(13498),
};

/// Whether initdb made the object as an extension or a member of one: like those that users make it can be dropped.
pub(crate) fn is_of_extension(oid: Oid) -> bool {
    (PLPGSQL.extension..=PLPGSQL.language).contains(&oid)
}

struct Plpgsql {
    extension: Oid,
    call_handler: Oid,
    inline_handler: Oid,
    validator: Oid,
    language: Oid,
}

fn add_languages(rows: &mut Rows) {
    use pg_language as l;
    for (oid, name, trusted, validator) in [
        (Oid(12), "internal", false, Oid(2246)),
        (Oid(crate::C_LANGUAGE), "c", false, Oid(2247)),
        (Oid(14), "sql", true, Oid(2248)),
        (PLPGSQL.language, "plpgsql", true, PLPGSQL.validator),
    ] {
        let own = oid == PLPGSQL.language;
        let row = RowBuilder::new(&l::TABLE)
            .set(l::OID, oid)
            .set(l::LANNAME, name)
            .set(l::LANOWNER, BOOTSTRAP_SUPERUSER)
            .set(l::LANISPL, own)
            .set(l::LANPLTRUSTED, trusted)
            .set(l::LANPLCALLFOID, if own { PLPGSQL.call_handler } else { Oid::INVALID })
            .set(l::LANINLINE, if own { PLPGSQL.inline_handler } else { Oid::INVALID })
            .set(l::LANVALIDATOR, validator);
        add(rows, &l::TABLE, row.build());
    }
    add_plpgsql(rows);
}

/// The extension, and the functions of its language, which cannot be called.
fn add_plpgsql(rows: &mut Rows) {
    use {pg_depend as d, pg_extension as e, pg_proc as p};
    let row = RowBuilder::new(&e::TABLE)
        .set(e::OID, PLPGSQL.extension)
        .set(e::EXTNAME, "plpgsql")
        .set(e::EXTOWNER, BOOTSTRAP_SUPERUSER)
        .set(e::EXTNAMESPACE, PG_CATALOG)
        .set(e::EXTRELOCATABLE, false)
        .set(e::EXTVERSION, "1.0");
    add(rows, &e::TABLE, row.build());
    let functions: [(Oid, &str, Oid, &[Oid]); 3] = [
        (PLPGSQL.call_handler, "plpgsql_call_handler", oids::language_handler, &[]),
        (PLPGSQL.inline_handler, "plpgsql_inline_handler", oids::void, &[oids::internal]),
        (PLPGSQL.validator, "plpgsql_validator", oids::void, &[oids::oid]),
    ];
    for (oid, name, result, args) in functions {
        let traits = (!args.is_empty(), b'v', b'u');
        add_c_function(rows, oid, (name, "plpgsql"), (args, result), traits);
    }
    let language = (pg_language::TABLE.oid, PLPGSQL.language);
    let extension = (e::TABLE.oid, PLPGSQL.extension);
    let mut depend = |(class, object): (Oid, Oid), (on_class, on): (Oid, Oid), kind: u8| {
        let row = RowBuilder::new(&d::TABLE)
            .set(d::CLASSID, class)
            .set(d::OBJID, object)
            .set(d::OBJSUBID, 0)
            .set(d::REFCLASSID, on_class)
            .set(d::REFOBJID, on)
            .set(d::REFOBJSUBID, 0)
            .set(d::DEPTYPE, kind);
        add(rows, &d::TABLE, row.build());
    };
    for (oid, ..) in functions {
        depend((p::TABLE.oid, oid), extension, b'e');
        depend(language, (p::TABLE.oid, oid), b'n');
    }
    depend(language, extension, b'e');
}

fn add_collations(rows: &mut Rows) {
    use pg_collation as c;
    for (oid, name, provider, encoding, collate, locale) in [
        (100, "default", b'd', -1, None, None),
        (950, "C", b'c', -1, Some("C"), None),
        (951, "POSIX", b'c', -1, Some("POSIX"), None),
        (962, "ucs_basic", b'b', UTF8, None, Some("C")),
        (811, "pg_c_utf8", b'b', UTF8, None, Some("C.UTF-8")),
        (6411, "pg_unicode_fast", b'b', UTF8, None, Some("PG_UNICODE_FAST")),
        (963, "unicode", b'i', -1, None, Some("und")),
    ] {
        let row = RowBuilder::new(&c::TABLE)
            .set(c::OID, Oid(oid))
            .set(c::COLLNAME, name)
            .set(c::COLLNAMESPACE, PG_CATALOG)
            .set(c::COLLOWNER, BOOTSTRAP_SUPERUSER)
            .set(c::COLLPROVIDER, provider)
            .set(c::COLLISDETERMINISTIC, true)
            .set(c::COLLENCODING, encoding)
            .set_some(c::COLLCOLLATE, collate)
            .set_some(c::COLLCTYPE, collate)
            .set_some(c::COLLLOCALE, locale)
            .set_some(c::COLLVERSION, version_of(provider, locale));
        add(rows, &c::TABLE, row.build());
    }
    add_icu_collations(rows);
}

fn version_of(provider: u8, locale: Option<&str>) -> Option<&'static str> {
    collation::version(collation::Provider::of_letter(provider)?, locale?)
}

/// First OID of the collations for the locales of ICU.
const FIRST_ICU_COLLATION: u32 = 12_360;

/// A collation for each locale of ICU.
fn add_icu_collations(rows: &mut Rows) {
    use pg_collation as c;
    use pg_description as d;
    for (i, (tag, comment)) in collation::locale::known().enumerate() {
        let oid = Oid(FIRST_ICU_COLLATION + i as u32);
        let row = RowBuilder::new(&c::TABLE)
            .set(c::OID, oid)
            .set(c::COLLNAME, &*format!("{tag}-x-icu"))
            .set(c::COLLNAMESPACE, PG_CATALOG)
            .set(c::COLLOWNER, BOOTSTRAP_SUPERUSER)
            .set(c::COLLPROVIDER, b'i')
            .set(c::COLLISDETERMINISTIC, true)
            .set(c::COLLENCODING, -1)
            .set(c::COLLLOCALE, tag)
            .set_some(c::COLLVERSION, version_of(b'i', Some(tag)));
        add(rows, &c::TABLE, row.build());
        if !comment.is_empty() {
            let row = RowBuilder::new(&d::TABLE)
                .set(d::OBJOID, oid)
                .set(d::CLASSOID, c::TABLE.oid)
                .set(d::OBJSUBID, 0)
                .set(d::DESCRIPTION, comment);
            add(rows, &d::TABLE, row.build());
        }
    }
}
