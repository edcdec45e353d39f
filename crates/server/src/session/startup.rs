//! From the packet that wants a session to the first ReadyForQuery.

use base::settings::Setting;
use base::{SqlError, SqlResult, SqlState};
use runtime::Interrupts;
use session::{Output, Replication, SessionInfo};
use wire::backend as message;
use wire::startup::{Startup, Version};

use super::io::Io;
use super::negotiate::Security;
use super::{Peer, Shared, in_fiber};
use crate::backend::Client;
use crate::listener;
use crate::sessions::{Limits, Registration};

/// What a client said of the session it wants.
#[derive(Debug)]
pub(super) struct Greeting {
    pub(super) version: Version,
    pub(super) user: String,
    pub(super) database: String,
    /// Whether it is to replicate, and from what.
    pub(super) replication: Option<Replication>,
    /// Settings, those of `options` first.
    pub(super) options: Vec<(String, String)>,
    /// TLS, if it has that.
    pub(super) security: Option<Security>,
}

/// What a client says of the session it wants, over a connection that is secured so.
pub(super) fn read_startup(startup: &Startup<'_>, security: Option<Security>) -> SqlResult<Greeting> {
    let text = |bytes| wire::check_utf8(bytes).map(str::to_string);
    let mut options = Vec::new();
    let (mut user, mut database, mut replication) = (String::new(), String::new(), None);
    for (name, value) in startup.parameters() {
        let (name, value) = (text(name)?, text(value)?);
        match name.as_str() {
            "user" => user = value,
            "database" => database = value,
            "options" => {
                let mut more = read_options(&value)?;
                more.append(&mut options);
                options = more;
            }
            "replication" => replication = read_replication(&value)?,
            _ => options.push((name, value)),
        }
    }
    if user.is_empty() {
        return Err(SqlError::fatal(
            SqlState::INVALID_AUTHORIZATION_SPECIFICATION,
            "no PostgreSQL user name specified in startup packet",
        ));
    }
    if replication == Some(Replication::Physical) {
        database.clear();
    } else if database.is_empty() {
        database.clone_from(&user);
    }
    Ok(Greeting { version: startup.negotiated(), user, database, replication, options, security })
}

/// What the word `replication` asks for.
fn read_replication(value: &str) -> SqlResult<Option<Replication>> {
    if value == "database" {
        return Ok(Some(Replication::Database));
    }
    match base::settings::parse_bool(value) {
        Some(wanted) => Ok(wanted.then_some(Replication::Physical)),
        None => Err(SqlError::fatal(
            SqlState::INVALID_PARAMETER_VALUE,
            format!("invalid value for parameter \"replication\": \"{value}\""),
        )
        .hint("Valid values are: \"false\", 0, \"true\", 1, \"database\".")),
    }
}

/// `-c name=value`, `--name=value`, separated by spaces; a backslash takes the next character as it is.
fn read_options(text: &str) -> SqlResult<Vec<(String, String)>> {
    let mut words: Vec<String> = Vec::new();
    let mut inside = false;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c.is_whitespace() {
            inside = false;
            continue;
        }
        if !inside {
            words.push(String::new());
            inside = true;
        }
        let literal = if c == '\\' { chars.next() } else { Some(c) };
        if let (Some(word), Some(literal)) = (words.last_mut(), literal) {
            word.push(literal);
        }
    }
    let mut options = Vec::new();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let assignment = if let Some(rest) = word.strip_prefix("--") {
            rest.to_string()
        } else if word == "-c" {
            words.next().unwrap_or_default()
        } else if let Some(rest) = word.strip_prefix("-c") {
            rest.to_string()
        } else {
            return Err(SqlError::fatal(
                SqlState::SYNTAX_ERROR,
                format!("invalid command-line argument for server process: {word}"),
            ));
        };
        let Some((name, value)) = assignment.split_once('=') else {
            return Err(SqlError::fatal(SqlState::SYNTAX_ERROR, format!("-c {assignment} requires a value")));
        };
        options.push((name.replace('-', "_"), value.to_string()));
    }
    Ok(options)
}

/// How many sessions there may be.
pub(super) fn limits(shared: &Shared) -> Limits {
    let settings = shared.settings();
    let number = |setting| settings.int(setting).max(0) as usize;
    Limits {
        max: number(Setting::max_connections),
        superuser: number(Setting::superuser_reserved_connections),
        reserved: number(Setting::reserved_connections),
        senders: number(Setting::max_wal_senders),
    }
}

/// Opens the session in the database and sends the messages up to ReadyForQuery.
pub(super) async fn open_session(
    shared: &Shared,
    io: &mut Io,
    greeting: &Greeting,
    (peer, client_host): (Peer, Option<String>),
    system_user: Option<String>,
    registration: &Registration<'_>,
    interrupts: &Interrupts,
) -> SqlResult<Box<dyn Client>> {
    let database =
        shared.database.get().ok_or_else(|| SqlError::internal("the database is not open"))?.clone();
    let info = SessionInfo {
        pid: registration.pid,
        user: greeting.user.clone(),
        database: greeting.database.clone(),
        replication: greeting.replication,
        options: greeting.options.clone(),
        client_address: match peer {
            Peer::Tcp(address) => Some(address),
            Peer::Unix(_) => None,
        },
        server_address: io.local_address(),
        client_host,
        encryption: greeting.security.as_ref().map(|security| security.agreed.shown()),
        system_user,
    };
    let mut client = in_fiber(interrupts, move || database.connect(info)).await?;
    if let Peer::Tcp(_) = peer {
        let socket = io.socket();
        client.socket_to(Box::new(move |options| listener::apply_options(socket, options)));
    }
    io.passage(client.passage());
    for (name, value) in client.reported_settings() {
        message::parameter_status(io.out(), &name, &value);
    }
    message::backend_key_data(io.out(), registration.pid, registration.key());
    message::ready_for_query(io.out(), message::TransactionStatus::Idle);
    io.flush().await;
    Ok(client)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(text: &str) -> String {
        match read_options(text) {
            Ok(options) => options.iter().map(|(n, v)| format!("{n}={v};")).collect(),
            Err(error) => error.message().to_string(),
        }
    }

    #[test]
    fn options_of_the_startup_packet() {
        assert_eq!(options("-c a=1  --work-mem=2MB -cb=x\\ y\\\\"), "a=1;work_mem=2MB;b=x y\\;");
        assert_eq!(options(""), "");
        assert_eq!(options("-c a"), "-c a requires a value");
        assert_eq!(options("-x"), "invalid command-line argument for server process: -x");
    }
}
