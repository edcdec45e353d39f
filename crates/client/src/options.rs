//! What a connection string says, with the environment and the usual for what it does not say.
//!
//! PostgreSQL counterpart · `PQconninfoOptions`, `conninfo_add_defaults`. Options of libpq that need what is not there (GSSAPI, OAuth, certificates of clients, service
//! files) are refused unless they ask for nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustls::ClientConfig;

use crate::conninfo;
use crate::passfile;
use crate::tls::{self, Verify};

/// How to treat encryption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SslMode {
    /// Never.
    Disable,
    /// If the server wants it.
    Allow,
    /// If the server has it.
    Prefer,
    /// Always.
    Require,
}

/// How to treat the binding of authentication to the encrypted connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    /// Never.
    Disable,
    /// If the server has it.
    Prefer,
    /// Always.
    Require,
}

/// Which servers will do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Any.
    Any,
    /// One that can be written to.
    ReadWrite,
    /// One that cannot.
    ReadOnly,
    /// One that is no standby.
    Primary,
    /// A standby.
    Standby,
    /// A standby, or any if there is none.
    PreferStandby,
}

/// A place where a server may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// A name, or a folder with a socket.
    pub host: String,
    /// The address, if it need not be looked up.
    pub address: Option<String>,
    /// The port.
    pub port: u16,
    /// What the password file has for it.
    pub password: Option<String>,
}

impl Place {
    /// Whether it is a socket's folder.
    pub fn is_socket(&self) -> bool {
        self.address.is_none() && (self.host.starts_with('/') || self.host.starts_with('@'))
    }
}

/// How sockets notice that nobody is there any more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keepalives {
    /// They do not.
    pub off: bool,
    /// Seconds of silence, seconds between two attempts, attempts; 0: the system's.
    pub numbers: [i32; 3],
    /// Milliseconds that what was sent may stay unacknowledged; 0: the system's.
    pub user_timeout: i32,
}

/// How to connect.
#[derive(Clone)]
pub struct Options {
    /// Where servers may be, in order.
    pub places: Vec<Place>,
    /// Role.
    pub user: String,
    /// Password, if the string has it.
    pub password: Option<String>,
    /// Database.
    pub database: String,
    /// `application_name`, or what stands in for it.
    pub application: String,
    /// `options` of the start-up packet.
    pub options: Option<String>,
    /// Encryption.
    pub ssl: SslMode,
    /// How it is done.
    pub tls: Arc<ClientConfig>,
    /// Channel binding.
    pub binding: Binding,
    /// Time for each place; none: any.
    pub timeout: Option<Duration>,
    /// Keepalives.
    pub keepalives: Keepalives,
    /// Which servers will do.
    pub wanted: Wanted,
}

/// Where a variable of the environment is looked up.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Options that are used, and the variables that stand for them.
const USED: &[(&str, &str)] = &[
    ("host", "PGHOST"),
    ("hostaddr", "PGHOSTADDR"),
    ("port", "PGPORT"),
    ("dbname", "PGDATABASE"),
    ("user", "PGUSER"),
    ("password", "PGPASSWORD"),
    ("passfile", "PGPASSFILE"),
    ("options", "PGOPTIONS"),
    ("application_name", "PGAPPNAME"),
    ("fallback_application_name", ""),
    ("connect_timeout", "PGCONNECT_TIMEOUT"),
    ("sslmode", "PGSSLMODE"),
    ("sslrootcert", "PGSSLROOTCERT"),
    ("channel_binding", "PGCHANNELBINDING"),
    ("target_session_attrs", "PGTARGETSESSIONATTRS"),
    ("keepalives", ""),
    ("keepalives_idle", ""),
    ("keepalives_interval", ""),
    ("keepalives_count", ""),
    ("tcp_user_timeout", ""),
    ("client_encoding", "PGCLIENTENCODING"),
    ("replication", ""),
];

/// Options that change nothing here with one of these values; empty: with any.
const ACCEPTED: &[(&str, &[&str])] = &[
    ("sslnegotiation", &["postgres"]),
    ("sslcompression", &[]),
    ("sslcertmode", &["allow", "disable"]),
    ("sslsni", &["1"]),
    ("ssl_min_protocol_version", &["TLSv1", "TLSv1.1", "TLSv1.2"]),
    ("ssl_max_protocol_version", &["TLSv1.3"]),
    ("gssencmode", &["prefer", "disable"]),
    ("krbsrvname", &[]),
    ("gsslib", &[]),
    ("gssdelegation", &["0"]),
    ("load_balance_hosts", &["disable"]),
    ("min_protocol_version", &["3.0"]),
    ("max_protocol_version", &[]),
];

/// Options that libpq has besides.
const MISSING: &[&str] = &[
    "service",
    "servicefile",
    "sslcert",
    "sslkey",
    "sslkeylogfile",
    "sslpassword",
    "sslcrl",
    "sslcrldir",
    "requirepeer",
    "require_auth",
    "requiressl",
    "scram_client_key",
    "scram_server_key",
    "oauth_issuer",
    "oauth_client_id",
    "oauth_client_secret",
    "oauth_scope",
];

/// Whether a text is a connection string that can be used. The error is a message.
pub fn check(text: &str) -> Result<(), String> {
    named(text).map(drop)
}

/// A connection string as it may be shown: without what is secret.
pub fn shown(text: &str) -> String {
    let quoted = |value: &str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:,".contains(&byte);
        match !value.is_empty() && value.bytes().all(plain) {
            true => value.to_owned(),
            false => format!("'{}'", value.replace('\\', "\\\\").replace('\'', "\\'")),
        }
    };
    let pairs = named(text).unwrap_or_default().into_iter().map(|(name, value)| match name.as_str() {
        "password" | "sslpassword" => format!("{name}=********"),
        _ => format!("{name}={}", quoted(&value)),
    });
    pairs.collect::<Vec<_>>().join(" ")
}

/// The options in a connection string that are used here, by name. The error is a message.
pub fn named(text: &str) -> Result<BTreeMap<String, String>, String> {
    let mut options = BTreeMap::new();
    for (name, value) in conninfo::parse(text)? {
        if USED.iter().any(|(known, _)| *known == name) {
            options.insert(name, value);
            continue;
        }
        let accepted = ACCEPTED.iter().find(|(known, _)| *known == name);
        match accepted {
            Some((_, values))
                if values.is_empty() || values.contains(&value.as_str()) || value.is_empty() => {}
            None if !MISSING.contains(&name.as_str()) => {
                return Err(format!("invalid connection option \"{name}\""));
            }
            None if value.is_empty() => {}
            _ => return Err(format!("connection option \"{name}\" with value \"{value}\" is not supported")),
        }
    }
    Ok(options)
}

impl Options {
    /// Reads a connection string for a connection that replicates. `fallback`: how the application is called unless the string says. The error is a message.
    pub fn parse(
        text: &str,
        fallback: &str,
        environment: Environment<'_>,
        warn: impl Fn(&str),
    ) -> Result<Options, String> {
        let given = named(text)?;
        let get = |name: &str| {
            let variable = USED.iter().find(|(known, _)| *known == name).map_or("", |(_, variable)| variable);
            let said = given.get(name).cloned().filter(|value| !value.is_empty());
            said.or_else(|| environment(variable).filter(|value| !variable.is_empty() && !value.is_empty()))
        };
        let user = match get("user") {
            Some(user) => user,
            None => environment("USER").or_else(|| environment("LOGNAME")).ok_or("no user name was given")?,
        };
        let database = get("dbname").unwrap_or_else(|| user.clone());
        let mut places = places(get("host"), get("hostaddr"), get("port"))?;
        let password = get("password");
        let home = environment("HOME").map(PathBuf::from);
        let file = get("passfile").map(PathBuf::from).or(home.as_ref().map(|home| home.join(".pgpass")));
        if let (None, Some(file)) = (&password, file) {
            for place in &mut places {
                let host = [(place.host.clone(), place.port)];
                // As libpq does: a physical replication connection is looked up by this word.
                place.password = passfile::look_up(&file, &host, "replication", &user, &warn);
            }
        }
        let (mode, authorities) = (get("sslmode"), get("sslrootcert"));
        let encryption = Encryption::of(mode.as_deref(), authorities.as_deref(), home.as_deref())?;
        let tls = tls::configuration(encryption.verify, encryption.authorities.as_deref())?;
        let seconds: u64 = get("connect_timeout").map_or(Ok(0), |text| number("connect_timeout", &text))?;
        Ok(Options {
            places,
            user,
            password,
            database,
            application: get("application_name")
                .or(get("fallback_application_name"))
                .unwrap_or_else(|| fallback.to_owned()),
            options: get("options"),
            ssl: encryption.mode,
            tls,
            binding: choice(
                "channel_binding",
                get("channel_binding").as_deref().unwrap_or("prefer"),
                BINDINGS,
            )?,
            timeout: (seconds > 0).then(|| Duration::from_secs(seconds.max(2))),
            keepalives: keepalives(&get)?,
            wanted: choice(
                "target_session_attrs",
                get("target_session_attrs").as_deref().unwrap_or("any"),
                WANTED,
            )?,
        })
    }
}

const BINDINGS: &[(&str, Binding)] =
    &[("disable", Binding::Disable), ("prefer", Binding::Prefer), ("require", Binding::Require)];

const WANTED: &[(&str, Wanted)] = &[
    ("any", Wanted::Any),
    ("read-write", Wanted::ReadWrite),
    ("read-only", Wanted::ReadOnly),
    ("primary", Wanted::Primary),
    ("standby", Wanted::Standby),
    ("prefer-standby", Wanted::PreferStandby),
];

const MODES: &[(&str, (SslMode, Verify))] = &[
    ("disable", (SslMode::Disable, Verify::Nothing)),
    ("allow", (SslMode::Allow, Verify::Nothing)),
    ("prefer", (SslMode::Prefer, Verify::Nothing)),
    ("require", (SslMode::Require, Verify::Nothing)),
    ("verify-ca", (SslMode::Require, Verify::Authority)),
    ("verify-full", (SslMode::Require, Verify::Full)),
];

/// Directories where servers put their socket unless told otherwise.
const SOCKET_DIRECTORIES: [&str; 2] = ["/tmp", "/var/run/postgresql"];

fn places(host: Option<String>, address: Option<String>, port: Option<String>) -> Result<Vec<Place>, String> {
    let list = |text: &Option<String>| -> Vec<String> {
        text.as_deref()
            .map_or(Vec::new(), |text| text.split(',').map(|item| item.trim().to_owned()).collect())
    };
    let (hosts, addresses) = (list(&host), list(&address));
    let ports = list(&port);
    let count = hosts.len().max(addresses.len()).max(1);
    if !hosts.is_empty() && !addresses.is_empty() && hosts.len() != addresses.len() {
        let (hosts, addresses) = (hosts.len(), addresses.len());
        return Err(format!("could not match {hosts} host names to {addresses} hostaddr values"));
    }
    if ports.len() > 1 && ports.len() != count {
        return Err(format!("could not match {} port numbers to {count} hosts", ports.len()));
    }
    let port = |at: usize| match ports.get(at).or(ports.first()).filter(|port| !port.is_empty()) {
        None => Ok(5432),
        Some(text) => match number::<i64>("port", text)? {
            number @ 1..=65535 => Ok(number as u16),
            _ => Err(format!("invalid port number: \"{text}\"")),
        },
    };
    (0..count)
        .map(|at| {
            let port = port(at)?;
            let address = addresses.get(at).filter(|address| !address.is_empty()).cloned();
            let usual = || socket_directory(port).to_owned();
            let host = match hosts.get(at).filter(|host| !host.is_empty()) {
                Some(host) => host.clone(),
                None => address.clone().unwrap_or_else(usual),
            };
            Ok(Place { host, address, port, password: None })
        })
        .collect()
}

fn keepalives(get: &impl Fn(&str) -> Option<String>) -> Result<Keepalives, String> {
    let of = |name: &str| get(name).map_or(Ok(0), |text| number::<i32>(name, &text).map(|n| n.max(0)));
    Ok(Keepalives {
        off: get("keepalives").is_some_and(|text| text.trim() == "0"),
        numbers: [of("keepalives_idle")?, of("keepalives_interval")?, of("keepalives_count")?],
        user_timeout: of("tcp_user_timeout")?,
    })
}

/// Whether to encrypt, and whose certificate will do.
#[derive(Clone, Debug)]
pub struct Encryption {
    /// Whether to.
    pub mode: SslMode,
    /// What is looked at in the server's certificate.
    pub verify: Verify,
    /// The file with the authorities that are trusted.
    pub authorities: Option<PathBuf>,
}

impl Encryption {
    /// By `sslmode` and `sslrootcert`, and the usual file in a home directory.
    pub fn of(
        mode: Option<&str>,
        authorities: Option<&str>,
        home: Option<&Path>,
    ) -> Result<Encryption, String> {
        let usual = home.map(|home| home.join(".postgresql/root.crt"));
        let authorities = authorities.map(PathBuf::from).or(usual);
        let (mode, verify) = choice("sslmode", mode.unwrap_or("prefer"), MODES)?;
        // As in libpq: whoever has a root certificate wants it looked at.
        let has_file = authorities.as_ref().is_some_and(|file| file.exists());
        let verify = match verify {
            Verify::Nothing if mode == SslMode::Require && has_file => Verify::Authority,
            other => other,
        };
        Ok(Encryption { mode, verify, authorities })
    }
}

/// One of the words that an option may have.
pub fn choice<T: Copy>(name: &str, value: &str, known: &[(&str, T)]) -> Result<T, String> {
    let found = known.iter().find(|(word, _)| *word == value);
    found.map(|(_, meaning)| *meaning).ok_or_else(|| format!("invalid {name} value: \"{value}\""))
}

/// An option that is a number.
pub fn number<T: std::str::FromStr>(name: &str, text: &str) -> Result<T, String> {
    let invalid = || format!("invalid integer value \"{text}\" for connection option \"{name}\"");
    text.trim().parse().map_err(|_| invalid())
}

/// The folder that has a server's socket for this port, unless told otherwise.
pub fn socket_directory(port: u16) -> &'static str {
    let has_socket = |dir: &&str| Path::new(dir).join(format!(".s.PGSQL.{port}")).exists();
    SOCKET_DIRECTORIES.into_iter().find(has_socket).unwrap_or(SOCKET_DIRECTORIES[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Options, String> {
        let environment = |name: &str| (name == "USER").then(|| "me".to_owned());
        Options::parse(text, "walreceiver", &environment, |_| {})
    }

    #[test]
    fn what_pg_basebackup_writes_is_understood() {
        let options = parse(
            "user=postgres passfile='/root/.pgpass' channel_binding=prefer host=/tmp port=5433 sslmode=prefer sslnegotiation=postgres \
             sslcompression=0 sslcertmode=disable sslsni=1 ssl_min_protocol_version=TLSv1.2 gssencmode=disable krbsrvname=postgres \
             gssdelegation=0 target_session_attrs=any load_balance_hosts=disable",
        )
        .unwrap();
        assert_eq!((options.user.as_str(), options.application.as_str()), ("postgres", "walreceiver"));
        assert_eq!((options.places[0].host.as_str(), options.places[0].port), ("/tmp", 5433));
        assert!(options.places[0].is_socket());
    }

    #[test]
    fn several_places() {
        let options = parse("host=a,b port=1,2 connect_timeout=1 keepalives_idle=7").unwrap();
        let places: Vec<_> = options.places.iter().map(|place| (place.host.as_str(), place.port)).collect();
        assert_eq!(places, [("a", 1), ("b", 2)]);
        assert_eq!(options.timeout, Some(Duration::from_secs(2)));
        assert_eq!(options.keepalives.numbers, [7, 0, 0]);
        let uri =
            parse("postgresql://you:x@[::1]:7/?application_name=s1&target_session_attrs=standby").unwrap();
        assert_eq!(
            (uri.user.as_str(), uri.password.as_deref(), uri.application.as_str()),
            ("you", Some("x"), "s1")
        );
        assert_eq!(
            (uri.places[0].host.as_str(), uri.places[0].port, uri.wanted),
            ("::1", 7, Wanted::Standby)
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        let error = |text: &str| parse(text).err().unwrap();
        assert_eq!(error("hots=a"), "invalid connection option \"hots\"");
        assert_eq!(error("host=a,b,c port=1,2"), "could not match 2 port numbers to 3 hosts");
        assert_eq!(error("port=x"), "invalid integer value \"x\" for connection option \"port\"");
        assert_eq!(error("port=0"), "invalid port number: \"0\"");
        assert_eq!(error("sslmode=always"), "invalid sslmode value: \"always\"");
        assert_eq!(error("sslcert=/x"), "connection option \"sslcert\" with value \"/x\" is not supported");
        assert_eq!(error("host"), "missing \"=\" after \"host\" in connection info string");
    }

    #[test]
    fn secrets_are_not_shown() {
        assert_eq!(
            shown("password=secret host=a user='some one'"),
            "host=a password=******** user='some one'"
        );
    }
}
