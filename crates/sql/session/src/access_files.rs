//! The files that say who may connect. They are the server's, which reads them; statements only show them.

use base::SqlResult;
use base::settings::ServerSettings;

/// A line of `pg_hba.conf`, as `pg_hba_file_rules` shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccessRule {
    /// Number among the rules that are good, from 1.
    pub number: Option<i32>,
    /// File it stands in.
    pub file: String,
    /// Line, from 1.
    pub line: i32,
    /// Kind of connection.
    pub kind: Option<&'static str>,
    /// Databases.
    pub databases: Vec<String>,
    /// Roles.
    pub users: Vec<String>,
    /// Address, name of a host, or word for addresses.
    pub address: Option<String>,
    /// Mask of an address.
    pub netmask: Option<String>,
    /// Method.
    pub method: Option<&'static str>,
    /// Options, `name=value`.
    pub options: Vec<String>,
    /// What is wrong with it.
    pub error: Option<String>,
}

/// A line of `pg_ident.conf`, as `pg_ident_file_mappings` shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserMapping {
    /// Number among the lines that are good, from 1.
    pub number: Option<i32>,
    /// File it stands in.
    pub file: String,
    /// Line, from 1.
    pub line: i32,
    /// Name of the map.
    pub map: Option<String>,
    /// User of the other system.
    pub system_user: Option<String>,
    /// Role.
    pub role: Option<String>,
    /// What is wrong with it.
    pub error: Option<String>,
}

/// Reads them as they are now.
pub trait AccessFiles: Send + Sync {
    /// The lines of `pg_hba.conf` and what it includes.
    fn rules(&self, settings: &ServerSettings) -> SqlResult<Vec<AccessRule>>;
    /// The lines of `pg_ident.conf` and what it includes.
    fn mappings(&self, settings: &ServerSettings) -> SqlResult<Vec<UserMapping>>;
}
