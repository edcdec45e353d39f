//! Catalogs whose rows are objects with a name of their own, in a schema or in none.

use base::Oid;

use crate::system::{
    SystemTable, pg_am, pg_authid, pg_collation, pg_conversion, pg_database, pg_event_trigger, pg_extension,
    pg_foreign_data_wrapper, pg_foreign_server, pg_language, pg_namespace, pg_parameter_acl, pg_publication,
    pg_statistic_ext, pg_subscription, pg_tablespace, pg_ts_config, pg_ts_dict, pg_ts_parser, pg_ts_template,
};

/// One such catalog.
#[derive(Debug)]
pub struct ObjectClass {
    /// The catalog.
    pub shape: &'static SystemTable,
    /// What its objects are called, in messages and in `pg_get_object_address`.
    pub kind: &'static str,
    /// Column of the name.
    pub name: usize,
    /// Column of the schema.
    pub schema: Option<usize>,
}

const fn class(
    shape: &'static SystemTable,
    kind: &'static str,
    name: usize,
    schema: Option<usize>,
) -> ObjectClass {
    ObjectClass { shape, kind, name, schema }
}

static CLASSES: [ObjectClass; 20] = [
    class(&pg_am::TABLE, "access method", pg_am::AMNAME, None),
    class(&pg_authid::TABLE, "role", pg_authid::ROLNAME, None),
    class(&pg_collation::TABLE, "collation", pg_collation::COLLNAME, Some(pg_collation::COLLNAMESPACE)),
    class(&pg_conversion::TABLE, "conversion", pg_conversion::CONNAME, Some(pg_conversion::CONNAMESPACE)),
    class(&pg_database::TABLE, "database", pg_database::DATNAME, None),
    class(&pg_event_trigger::TABLE, "event trigger", pg_event_trigger::EVTNAME, None),
    class(&pg_extension::TABLE, "extension", pg_extension::EXTNAME, None),
    class(&pg_foreign_data_wrapper::TABLE, "foreign-data wrapper", pg_foreign_data_wrapper::FDWNAME, None),
    class(&pg_foreign_server::TABLE, "server", pg_foreign_server::SRVNAME, None),
    class(&pg_language::TABLE, "language", pg_language::LANNAME, None),
    class(&pg_namespace::TABLE, "schema", pg_namespace::NSPNAME, None),
    class(&pg_parameter_acl::TABLE, "parameter ACL", pg_parameter_acl::PARNAME, None),
    class(&pg_publication::TABLE, "publication", pg_publication::PUBNAME, None),
    class(
        &pg_statistic_ext::TABLE,
        "statistics object",
        pg_statistic_ext::STXNAME,
        Some(pg_statistic_ext::STXNAMESPACE),
    ),
    class(&pg_subscription::TABLE, "subscription", pg_subscription::SUBNAME, None),
    class(&pg_tablespace::TABLE, "tablespace", pg_tablespace::SPCNAME, None),
    class(
        &pg_ts_config::TABLE,
        "text search configuration",
        pg_ts_config::CFGNAME,
        Some(pg_ts_config::CFGNAMESPACE),
    ),
    class(
        &pg_ts_dict::TABLE,
        "text search dictionary",
        pg_ts_dict::DICTNAME,
        Some(pg_ts_dict::DICTNAMESPACE),
    ),
    class(
        &pg_ts_parser::TABLE,
        "text search parser",
        pg_ts_parser::PRSNAME,
        Some(pg_ts_parser::PRSNAMESPACE),
    ),
    class(
        &pg_ts_template::TABLE,
        "text search template",
        pg_ts_template::TMPLNAME,
        Some(pg_ts_template::TMPLNAMESPACE),
    ),
];

impl ObjectClass {
    /// The one of a catalog.
    pub fn of(catalog: Oid) -> Option<&'static ObjectClass> {
        CLASSES.iter().find(|class| class.shape.oid == catalog)
    }

    /// The one whose objects are called this.
    pub fn named(kind: &str) -> Option<&'static ObjectClass> {
        CLASSES.iter().find(|class| class.kind == kind)
    }
}
