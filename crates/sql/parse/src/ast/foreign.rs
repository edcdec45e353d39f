//! Foreign data: wrappers, servers, user mappings, and what foreign tables have beside other tables.

use super::{DefElem, Location, Name, RoleSpec};

/// What becomes of an option in a list of OPTIONS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionAction {
    /// ADD, or nothing written
    Add,
    /// SET
    Set,
    /// DROP
    Drop,
}

/// One of the OPTIONS of something foreign.
#[derive(Clone, Debug, PartialEq)]
pub struct ForeignOption {
    /// What becomes of it.
    pub action: OptionAction,
    /// Its name.
    pub name: String,
    /// Its value; empty with DROP.
    pub value: String,
}

/// HANDLER or VALIDATOR of a wrapper; no function: NO HANDLER, NO VALIDATOR.
#[derive(Clone, Debug, PartialEq)]
pub struct WrapperFunction {
    /// HANDLER, not VALIDATOR
    pub is_handler: bool,
    /// The function.
    pub function: Option<Name>,
    /// Of the word.
    pub location: Location,
}

/// CREATE and ALTER FOREIGN DATA WRAPPER.
#[derive(Clone, Debug, PartialEq)]
pub struct ForeignWrapper {
    /// Name.
    pub name: String,
    /// HANDLER and VALIDATOR as written.
    pub functions: Vec<WrapperFunction>,
    /// OPTIONS
    pub options: Vec<ForeignOption>,
}

/// CREATE SERVER.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateServer {
    /// Name.
    pub name: String,
    /// TYPE
    pub kind: Option<String>,
    /// VERSION
    pub version: Option<String>,
    /// FOREIGN DATA WRAPPER
    pub wrapper: String,
    /// IF NOT EXISTS
    pub if_not_exists: bool,
    /// OPTIONS
    pub options: Vec<ForeignOption>,
}

/// ALTER SERVER.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterServer {
    /// Name.
    pub name: String,
    /// VERSION, if there is to be another; without a value: NULL.
    pub version: Option<Option<String>>,
    /// OPTIONS
    pub options: Vec<ForeignOption>,
}

/// The user and the server of a mapping.
#[derive(Clone, Debug, PartialEq)]
pub struct MappingName {
    /// FOR
    pub user: RoleSpec,
    /// SERVER
    pub server: String,
}

/// What becomes of a user mapping.
#[derive(Clone, Debug, PartialEq)]
pub enum MappingChange {
    /// CREATE USER MAPPING
    Create {
        /// IF NOT EXISTS
        if_not_exists: bool,
        /// OPTIONS
        options: Vec<ForeignOption>,
    },
    /// ALTER USER MAPPING
    Alter(Vec<ForeignOption>),
    /// DROP USER MAPPING
    Drop {
        /// IF EXISTS
        missing_ok: bool,
    },
}

/// Where the rows of a foreign table are.
#[derive(Clone, Debug, PartialEq)]
pub struct ForeignSource {
    /// SERVER
    pub server: String,
    /// OPTIONS
    pub options: Vec<ForeignOption>,
}

/// Which of the remote tables IMPORT FOREIGN SCHEMA takes.
#[derive(Clone, Debug, PartialEq)]
pub enum ImportedTables {
    /// All.
    All,
    /// LIMIT TO
    Only(Vec<String>),
    /// EXCEPT
    Except(Vec<String>),
}

/// IMPORT FOREIGN SCHEMA.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportForeignSchema {
    /// FROM SERVER
    pub server: String,
    /// The schema there.
    pub remote_schema: String,
    /// INTO
    pub local_schema: String,
    /// LIMIT TO, EXCEPT
    pub tables: ImportedTables,
    /// OPTIONS
    pub options: Vec<DefElem>,
}
