//! Where owner and ACL of each kind of objects stand, and which privileges there are on it.

use base::Oid;
use types::acl::bits;

use crate::system::{
    SystemTable, pg_class, pg_database, pg_foreign_data_wrapper, pg_foreign_server, pg_language,
    pg_largeobject, pg_largeobject_metadata, pg_namespace, pg_proc, pg_tablespace, pg_type,
};

/// A kind of objects that have an owner and an ACL.
#[derive(Debug)]
pub struct AclKind {
    /// Its catalog.
    pub table: &'static SystemTable,
    /// Index by OID.
    pub by_oid: Oid,
    /// Column of the name.
    pub name: usize,
    /// Column of the owner.
    pub owner: usize,
    /// Column of the ACL.
    pub acl: usize,
    /// Letter of `acldefault`.
    pub letter: u8,
    /// All privileges that there are on such an object.
    pub all: u32,
    /// What messages call it.
    pub word: &'static str,
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $table:ident $index:ident ($name:ident, $owner:ident, $acl:ident) $letter:literal $all:literal $word:literal;)*) => {
        impl AclKind {
            $($(#[$doc])* pub const $kind: AclKind = AclKind {
                table: &$table::TABLE,
                by_oid: $table::$index,
                name: $table::$name,
                owner: $table::$owner,
                acl: $table::$acl,
                letter: $letter,
                all: bits($all),
                word: $word,
            };)*
        }
    };
}

kinds! {
    /// Relations with rows, and views.
    TABLE = pg_class PG_CLASS_OID_INDEX (RELNAME, RELOWNER, RELACL) b'r' "arwdDxtm" "table";
    /// Sequences.
    SEQUENCE = pg_class PG_CLASS_OID_INDEX (RELNAME, RELOWNER, RELACL) b's' "rwU" "sequence";
    /// Schemas.
    SCHEMA = pg_namespace PG_NAMESPACE_OID_INDEX (NSPNAME, NSPOWNER, NSPACL) b'n' "UC" "schema";
    /// Databases.
    DATABASE = pg_database PG_DATABASE_OID_INDEX (DATNAME, DATDBA, DATACL) b'd' "CTc" "database";
    /// Functions, procedures, aggregates.
    FUNCTION = pg_proc PG_PROC_OID_INDEX (PRONAME, PROOWNER, PROACL) b'f' "X" "function";
    /// Tablespaces.
    TABLESPACE = pg_tablespace PG_TABLESPACE_OID_INDEX (SPCNAME, SPCOWNER, SPCACL) b't' "C" "tablespace";
    /// Languages.
    LANGUAGE = pg_language PG_LANGUAGE_OID_INDEX (LANNAME, LANOWNER, LANACL) b'l' "U" "language";
    /// Types and domains.
    TYPE = pg_type PG_TYPE_OID_INDEX (TYPNAME, TYPOWNER, TYPACL) b'T' "U" "type";
    /// Foreign-data wrappers.
    FOREIGN_DATA_WRAPPER = pg_foreign_data_wrapper PG_FOREIGN_DATA_WRAPPER_OID_INDEX (FDWNAME, FDWOWNER, FDWACL) b'F' "U" "foreign-data wrapper";
    /// Foreign servers.
    FOREIGN_SERVER = pg_foreign_server PG_FOREIGN_SERVER_OID_INDEX (SRVNAME, SRVOWNER, SRVACL) b'S' "U" "foreign server";
    /// Large objects, which have no names.
    LARGE_OBJECT = pg_largeobject_metadata PG_LARGEOBJECT_METADATA_OID_INDEX (OID, LOMOWNER, LOMACL) b'L' "rw" "large object";
}

impl AclKind {
    /// The kind of objects that a catalog describes. Relations are of two kinds, and not found here.
    pub fn of_catalog(class: Oid) -> Option<AclKind> {
        let all = [
            AclKind::SCHEMA,
            AclKind::DATABASE,
            AclKind::FUNCTION,
            AclKind::TABLESPACE,
            AclKind::LANGUAGE,
            AclKind::TYPE,
            AclKind::FOREIGN_DATA_WRAPPER,
            AclKind::FOREIGN_SERVER,
            AclKind::LARGE_OBJECT,
        ];
        all.into_iter().find(|kind| kind.class() == class)
    }

    /// The catalog that such objects are said to be in where others depend on them.
    pub fn class(&self) -> Oid {
        match self.table.oid == pg_largeobject_metadata::TABLE.oid {
            true => pg_largeobject::TABLE.oid,
            false => self.table.oid,
        }
    }
}

/// Privileges that there are on a column.
pub const COLUMN_PRIVILEGES: u32 = bits("arwx");
