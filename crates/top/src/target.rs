//! Which server: flags, a connection string, the environment and the password file, as libpq reads them.
//!
//! # Order
//! What a connection string says comes first, then flags, then the environment, then what is usual.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use client::options::{self, Encryption, Environment, choice, number};
use client::{conninfo, passfile};
use tokio_postgres::Config;
use tokio_postgres::config::{ChannelBinding, Host, SslMode, TargetSessionAttrs};

use crate::tls::Tls;

/// Connection flags, as psql has them.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    /// `-h`.
    pub host: Option<String>,
    /// `-p`.
    pub port: Option<String>,
    /// `-U`.
    pub user: Option<String>,
    /// `-d` or the first word: a name, or a connection string.
    pub database: Option<String>,
}

/// How a server is reached.
#[derive(Clone)]
pub struct Target {
    /// For the client library.
    pub config: Config,
    /// How a connection is encrypted.
    pub(crate) tls: Tls,
    /// Host and port, as shown.
    pub place: String,
    /// Role, as shown.
    pub user: String,
}

/// Options of a connection string, and the variables that stand for them.
const OPTIONS: &[(&str, &str)] = &[
    ("host", "PGHOST"),
    ("hostaddr", "PGHOSTADDR"),
    ("port", "PGPORT"),
    ("dbname", "PGDATABASE"),
    ("user", "PGUSER"),
    ("password", "PGPASSWORD"),
    ("passfile", "PGPASSFILE"),
    ("options", "PGOPTIONS"),
    ("application_name", "PGAPPNAME"),
    ("connect_timeout", "PGCONNECT_TIMEOUT"),
    ("sslmode", "PGSSLMODE"),
    ("sslrootcert", "PGSSLROOTCERT"),
    ("channel_binding", "PGCHANNELBINDING"),
    ("target_session_attrs", "PGTARGETSESSIONATTRS"),
];

/// Finds out which server is meant. The error is a message.
pub fn resolve(flags: &Flags, environment: Environment<'_>) -> Result<Target, String> {
    let options = merge(flags, environment)?;
    let get = |name: &str| options.get(name).map(String::as_str).filter(|value| !value.is_empty());
    let mut config = Config::new();
    let user = match get("user") {
        Some(user) => user.to_string(),
        None => environment("USER").or_else(|| environment("LOGNAME")).ok_or("no user name was given")?,
    };
    let database = get("dbname").unwrap_or(&user).to_string();
    config.user(&user).dbname(&database).application_name(get("application_name").unwrap_or("stampede top"));
    let place = hosts(&mut config, get("host"), get("hostaddr"), get("port"))?;
    if let Some(options) = get("options") {
        config.options(options);
    }
    if let Some(seconds) = get("connect_timeout") {
        let seconds: u64 = number("connect_timeout", seconds)?;
        if seconds > 0 {
            config.connect_timeout(Duration::from_secs(seconds));
        }
    }
    config.channel_binding(choice(
        "channel_binding",
        get("channel_binding").unwrap_or("prefer"),
        &[
            ("disable", ChannelBinding::Disable),
            ("prefer", ChannelBinding::Prefer),
            ("require", ChannelBinding::Require),
        ],
    )?);
    config.target_session_attrs(choice(
        "target_session_attrs",
        get("target_session_attrs").unwrap_or("any"),
        &[
            ("any", TargetSessionAttrs::Any),
            ("read-write", TargetSessionAttrs::ReadWrite),
            ("read-only", TargetSessionAttrs::ReadOnly),
        ],
    )?);
    let home = environment("HOME").map(PathBuf::from);
    let tls = encryption(&mut config, get("sslmode"), get("sslrootcert"), home.as_deref())?;
    match get("password") {
        Some(password) => drop(config.password(password)),
        None => {
            let file = get("passfile").map(PathBuf::from).or(home.map(|home| home.join(".pgpass")));
            let password = file.and_then(|file| {
                passfile::look_up(&file, &places(&config), &database, &user, |warning| eprintln!("{warning}"))
            });
            if let Some(password) = password {
                config.password(password);
            }
        }
    }
    Ok(Target { config, tls, place, user })
}

fn merge(flags: &Flags, environment: Environment<'_>) -> Result<BTreeMap<String, String>, String> {
    let mut options: BTreeMap<String, String> = OPTIONS
        .iter()
        .filter_map(|(name, variable)| Some(((*name).to_string(), environment(variable)?)))
        .collect();
    let mut set = |name: &str, value: &Option<String>| {
        if let Some(value) = value {
            options.insert(name.to_string(), value.clone());
        }
    };
    set("host", &flags.host);
    set("port", &flags.port);
    set("user", &flags.user);
    match &flags.database {
        Some(text) if conninfo::is_connection_string(text) => {
            for (name, value) in conninfo::parse(text)? {
                if !OPTIONS.iter().any(|(known, _)| *known == name) {
                    return Err(format!("invalid connection option \"{name}\""));
                }
                options.insert(name, value);
            }
        }
        other => set("dbname", other),
    }
    Ok(options)
}

/// Sets hosts and ports; returns how they are shown.
fn hosts(
    config: &mut Config,
    host: Option<&str>,
    address: Option<&str>,
    port: Option<&str>,
) -> Result<String, String> {
    let ports = port.unwrap_or("5432").split(',').map(|port| number::<u16>("port", port));
    let ports = ports.collect::<Result<Vec<u16>, String>>()?;
    for &port in &ports {
        config.port(port);
    }
    for address in address.into_iter().flat_map(|list| list.split(',')) {
        let parsed = address.parse().map_err(|_| format!("could not parse network address \"{address}\""))?;
        config.hostaddr(parsed);
    }
    let names = match (host, address) {
        (Some(host), _) => host,
        (None, Some(_)) => "",
        (None, None) => options::socket_directory(ports[0]),
    };
    for name in names.split(',').filter(|name| !name.is_empty()) {
        config.host(name);
    }
    let shown = if names.is_empty() { address.unwrap_or_default() } else { names };
    let ports = ports.iter().map(u16::to_string).collect::<Vec<_>>().join(",");
    Ok(format!("{shown}:{ports}"))
}

/// Hosts and ports as the password file has them.
fn places(config: &Config) -> Vec<(String, u16)> {
    let port = |at: usize| config.get_ports().get(at).or(config.get_ports().first()).copied().unwrap_or(5432);
    let hosts = config.get_hosts().iter().map(|host| match host {
        Host::Tcp(name) => name.clone(),
        Host::Unix(dir) => dir.display().to_string(),
    });
    let hosts: Vec<String> = match config.get_hosts() {
        [] => config.get_hostaddrs().iter().map(ToString::to_string).collect(),
        _ => hosts.collect(),
    };
    hosts.into_iter().enumerate().map(|(at, host)| (host, port(at))).collect()
}

fn encryption(
    config: &mut Config,
    mode: Option<&str>,
    authorities: Option<&str>,
    home: Option<&Path>,
) -> Result<Tls, String> {
    let Encryption { mode, verify, authorities } = Encryption::of(mode, authorities, home)?;
    let mode = match mode {
        options::SslMode::Disable => SslMode::Disable,
        options::SslMode::Allow | options::SslMode::Prefer => SslMode::Prefer,
        options::SslMode::Require => SslMode::Require,
    };
    // A socket's other end is on this machine: there is nobody to listen.
    let is_local = config.get_hosts().iter().all(|host| matches!(host, Host::Unix(_)));
    config.ssl_mode(if is_local && !config.get_hosts().is_empty() { SslMode::Disable } else { mode });
    Tls::new(verify, authorities.as_deref())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(name: &str) -> Option<String> {
        match name {
            "PGHOST" => Some("from-environment".into()),
            "PGPORT" => Some("1111".into()),
            "USER" => Some("me".into()),
            _ => None,
        }
    }

    fn flags(database: &str) -> Flags {
        Flags { port: Some("2222".into()), database: Some(database.into()), ..Flags::default() }
    }

    #[test]
    fn strings_before_flags_before_environment() {
        let target = resolve(&flags("app"), &environment).unwrap();
        assert_eq!(target.place, "from-environment:2222");
        assert_eq!((target.config.get_user(), target.config.get_dbname()), (Some("me"), Some("app")));
        let target =
            resolve(&flags("host=a,b port=3333 user='some one' sslmode=require"), &environment).unwrap();
        assert_eq!((target.place.as_str(), target.user.as_str()), ("a,b:3333", "some one"));
        assert_eq!(target.config.get_hosts(), [Host::Tcp("a".into()), Host::Tcp("b".into())]);
        assert_eq!(target.config.get_ssl_mode(), SslMode::Require);
        // Without a name, the database is the user's.
        assert_eq!(target.config.get_dbname(), Some("some one"));
    }

    #[test]
    fn nothing_is_encrypted_on_a_socket() {
        let target = resolve(&flags("host=/run/x sslmode=require"), &environment).unwrap();
        assert_eq!(target.config.get_ssl_mode(), SslMode::Disable);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let error = |text: &str| resolve(&flags(text), &environment).err().unwrap();
        assert_eq!(error("hots=a"), "invalid connection option \"hots\"");
        assert_eq!(error("port=x"), "invalid integer value \"x\" for connection option \"port\"");
        assert_eq!(error("sslmode=always"), "invalid sslmode value: \"always\"");
        assert_eq!(
            error("sslmode=verify-full sslrootcert=/no/file"),
            "root certificate file \"/no/file\" does not exist"
        );
    }
}
