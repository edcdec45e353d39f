//! Client authentication: `pg_hba.conf` and `pg_ident.conf`.
//!
//! # Layout
//! [`file`](mod@file): lines, fields and words of both. `line`: one rule. [`address`]: networks and names of hosts. [`ident`]: users of other
//! systems. [`shown`]: both as views show them.
//!
//! # PostgreSQL counterpart and differences
//! `hba.c`. The methods that need a library that is not there (`ldap`, `pam`, `gss` and the like) are refused as PostgreSQL
//! refuses them in a build without that library.

pub mod address;
pub mod file;
pub mod ident;
mod line;
pub mod shown;

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use base::{Severity, SqlError, SqlState};

pub use address::HostName;
pub use file::{Line, Word};
pub use ident::Maps;

/// How a client proves who it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// It need not.
    Trust,
    /// It may not connect at all.
    Reject,
    /// By SCRAM-SHA-256.
    Scram,
    /// By a hash of the stored MD5 hash; by SCRAM-SHA-256 where that is stored.
    Md5,
    /// By the password as it is.
    Password,
    /// By the operating system's user on the other end of the Unix socket.
    Peer,
    /// By what the ident server of its machine says.
    Ident,
    /// By the name in its certificate.
    Cert,
}

impl Method {
    /// The word of the file.
    pub fn as_str(self) -> &'static str {
        match self {
            Method::Trust => "trust",
            Method::Reject => "reject",
            Method::Scram => "scram-sha-256",
            Method::Md5 => "md5",
            Method::Password => "password",
            Method::Peer => "peer",
            Method::Ident => "ident",
            Method::Cert => "cert",
        }
    }
}

/// Kind of connection that a rule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Over a Unix socket.
    Local,
    /// Over TCP.
    Host,
    /// Over TCP with TLS.
    HostSsl,
    /// Over TCP without TLS.
    HostNoSsl,
    /// Encrypted by GSS: no connection is.
    HostGss,
    /// Not encrypted by GSS: all over TCP.
    HostNoGss,
}

impl Kind {
    /// The word of the file.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Local => "local",
            Kind::Host => "host",
            Kind::HostSsl => "hostssl",
            Kind::HostNoSsl => "hostnossl",
            Kind::HostGss => "hostgssenc",
            Kind::HostNoGss => "hostnogssenc",
        }
    }
}

/// Addresses that a rule is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// All; a local rule has none.
    All,
    /// A network and its mask.
    Network(IpAddr, IpAddr),
    /// Addresses of this machine.
    SameHost,
    /// Networks that this machine is in.
    SameNet,
    /// A name of a host, or the end of such names.
    Host(String),
}

/// A certificate that a client must have shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientCert {
    /// Signed by an authority that the server knows.
    VerifyCa,
    /// The same, with the role's name.
    VerifyFull,
}

/// Which name of a certificate counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientName {
    /// The common name.
    Common,
    /// All of the subject.
    Distinguished,
}

/// One line of `pg_hba.conf`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Kind of connection.
    pub kind: Kind,
    /// Databases.
    pub databases: Vec<Word>,
    /// Roles.
    pub users: Vec<Word>,
    /// Addresses.
    pub address: Address,
    /// The authentication method.
    pub method: Method,
    /// Map of user names (`map=`).
    pub map: Option<String>,
    /// Certificate that is asked for besides.
    pub client_cert: Option<ClientCert>,
    /// The name in it that counts.
    pub client_name: ClientName,
    /// File it stands in.
    pub file: Arc<str>,
    /// Line of the file, from 1.
    pub line: u32,
    /// As written.
    pub text: String,
}

/// What is known of a client when its rule is looked for.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Its address; none over a Unix socket.
    pub address: Option<IpAddr>,
    /// Whether the connection is encrypted.
    pub tls: bool,
    /// Role it wants to be.
    pub user: &'a str,
    /// Database it wants.
    pub database: &'a str,
    /// It wants none, but to replicate the whole cluster.
    pub replication: bool,
}

/// What rules ask of the world around them.
pub trait Surroundings {
    /// Whether a user belongs to a role, directly or not; being a superuser is not enough.
    fn is_member(&self, user: &str, role: &str) -> bool;
    /// Addresses of this machine, each with the mask of its network.
    fn interfaces(&self) -> Vec<(IpAddr, IpAddr)>;
    /// The name of the client's host, looked up the first time.
    fn host_name(&self) -> &HostName;
    /// The same if it was looked up.
    fn known_host_name(&self) -> Option<&HostName>;
}

/// All rules, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules(Vec<Arc<Rule>>);

/// What each line that says something is, or what is wrong with it, and what is odd about it. `tls`: whether there is TLS.
type Read = Vec<(Line, Result<(Rule, Option<SqlError>), SqlError>)>;

/// The lines of a file.
pub fn lines(path: &Path, tls: bool) -> Result<Read, SqlError> {
    let lines = file::read(path)?;
    Ok(lines
        .into_iter()
        .map(|line| {
            let rule = line::rule(&line, tls);
            (line, rule)
        })
        .collect())
}

impl Rules {
    /// Reads the file. What is odd is logged; errors are for the log, and none of the rules is to be used then.
    pub fn read(path: &Path, tls: bool) -> Result<Rules, Vec<SqlError>> {
        let mut rules = Vec::new();
        let mut flaws = Vec::new();
        for (_, rule) in lines(path, tls).map_err(|flaw| vec![flaw])? {
            match rule {
                Ok((rule, oddity)) => {
                    oddity.iter().for_each(|oddity| crate::log::report(oddity, None, None));
                    rules.push(Arc::new(rule));
                }
                Err(flaw) => flaws.push(flaw),
            }
        }
        if flaws.is_empty() && rules.is_empty() {
            let message = format!("configuration file \"{}\" contains no entries", path.display());
            flaws.push(SqlError::with_severity(Severity::Log, SqlState::CONFIG_FILE_ERROR, message));
        }
        if flaws.is_empty() { Ok(Rules(rules)) } else { Err(flaws) }
    }

    /// The first rule that fits; an error if that is to reject, or there is none.
    pub fn find(&self, request: &Request<'_>, around: &dyn Surroundings) -> Result<&Arc<Rule>, SqlError> {
        let refuse = |what: &str| {
            let host = request.address.map_or("[local]".to_string(), |a| a.to_string());
            let encryption = if request.tls { "SSL encryption" } else { "no encryption" };
            let database = match request.replication {
                true => String::new(),
                false => format!(", database \"{}\"", request.database),
            };
            SqlError::fatal(
                SqlState::INVALID_AUTHORIZATION_SPECIFICATION,
                format!("{what} host \"{host}\", user \"{}\"{database}, {encryption}", request.user),
            )
        };
        match (self.0.iter().find(|rule| rule.fits(request, around)), request.replication) {
            (Some(rule), _) if rule.method != Method::Reject => Ok(rule),
            (None, false) => Err(refuse("no pg_hba.conf entry for")),
            (None, true) => Err(refuse("no pg_hba.conf entry for replication connection from")),
            (Some(_), false) => Err(refuse("pg_hba.conf rejects connection for")),
            (Some(_), true) => Err(refuse("pg_hba.conf rejects replication connection for")),
        }
    }
}

impl Rule {
    fn fits(&self, request: &Request<'_>, around: &dyn Surroundings) -> bool {
        let is_remote = request.address.is_some();
        let kind = match self.kind {
            Kind::Local => !is_remote,
            Kind::Host | Kind::HostNoGss => is_remote,
            Kind::HostSsl => is_remote && request.tls,
            Kind::HostNoSsl => is_remote && !request.tls,
            Kind::HostGss => false,
        };
        kind && self.fits_address(request.address, around)
            && self.databases.iter().any(|word| fits_database(word, request, around))
            && self.users.iter().any(|word| fits_user(word, request.user, around))
    }

    fn fits_address(&self, address: Option<IpAddr>, around: &dyn Surroundings) -> bool {
        let Some(address) = address else { return true };
        match &self.address {
            Address::All => true,
            Address::Network(network, mask) => address::is_within(address, *network, *mask),
            Address::SameHost => around.interfaces().iter().any(|(own, _)| *own == address.to_canonical()),
            Address::SameNet => {
                around.interfaces().iter().any(|(own, mask)| address::is_within(address, *own, *mask))
            }
            Address::Host(name) => around.host_name().fits(name),
        }
    }

    /// Options as the file has them.
    pub fn options(&self) -> Vec<String> {
        let mut options = Vec::new();
        options.extend(self.map.as_ref().map(|map| format!("map={map}")));
        options.extend(self.client_cert.map(|wanted| match wanted {
            ClientCert::VerifyCa => "clientcert=verify-ca".to_string(),
            ClientCert::VerifyFull => "clientcert=verify-full".to_string(),
        }));
        options
    }
}

fn fits_database(word: &Word, request: &Request<'_>, around: &dyn Surroundings) -> bool {
    let (user, database) = (request.user, request.database);
    if request.replication || word.is("replication") {
        request.replication && word.is("replication")
    } else if word.is("all") {
        true
    } else if word.is("sameuser") {
        user == database
    } else if word.is("samerole") || word.is("samegroup") {
        around.is_member(user, database)
    } else {
        word.matches(database)
    }
}

/// Whether a word of a list of roles means this one.
fn fits_user(word: &Word, user: &str, around: &dyn Surroundings) -> bool {
    match word.text.strip_prefix('+').filter(|_| !word.quoted) {
        Some(role) => around.is_member(user, role),
        None => word.is("all") || word.matches(user),
    }
}

#[cfg(test)]
mod tests;
