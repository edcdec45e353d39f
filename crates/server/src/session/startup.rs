//! From the packet that wants a session to the first ReadyForQuery.

use base::settings::Setting;
use base::{SqlError, SqlResult, SqlState, sql_err};
use exec::SessionInfo;
use runtime::Interrupts;
use wire::backend as message;
use wire::frontend::{authentication_frame, sasl_initial_response};
use wire::scram::{self, Exchange, Outcome, Verifier};
use wire::startup::{Startup, Version};

use super::io::{Arrival, Io};
use super::negotiate::Security;
use super::{Peer, Shared, in_fiber, life};
use crate::backend::{Client, Role};
use crate::config::hba::{Method, Request};
use crate::sessions::{Limits, Registration};

/// What a client said of the session it wants.
#[derive(Debug)]
pub(super) struct Greeting {
    pub(super) version: Version,
    pub(super) user: String,
    pub(super) database: String,
    /// Settings, those of `options` first.
    pub(super) options: Vec<(String, String)>,
    /// TLS, if it has that.
    pub(super) security: Option<Security>,
}

/// What a client says of the session it wants, over a connection that is secured so.
pub(super) fn read_startup(startup: &Startup<'_>, security: Option<Security>) -> SqlResult<Greeting> {
    let text = |bytes| wire::check_utf8(bytes).map(str::to_string);
    let mut options = Vec::new();
    let (mut user, mut database) = (String::new(), String::new());
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
            "replication" if matches!(base::settings::parse_bool(&value), Some(false)) => {}
            "replication" => {
                return Err(sql_err!(FEATURE_NOT_SUPPORTED, "replication connections are not supported yet"));
            }
            _ => options.push((name, value)),
        }
    }
    if user.is_empty() {
        return Err(SqlError::fatal(
            SqlState::INVALID_AUTHORIZATION_SPECIFICATION,
            "no PostgreSQL user name specified in startup packet",
        ));
    }
    if database.is_empty() {
        database.clone_from(&user);
    }
    Ok(Greeting { version: startup.negotiated(), user, database, options, security })
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

/// Finds out whether the client is who it says it is. Sends AuthenticationOk into the buffer.
pub(super) async fn authenticate(
    shared: &Shared,
    io: &mut Io,
    greeting: &Greeting,
    peer: Peer,
    interrupts: &Interrupts,
) -> SqlResult<Role> {
    let database =
        shared.database.get().ok_or_else(|| SqlError::internal("the database is not open"))?.clone();
    let user = greeting.user.clone();
    let role = in_fiber(interrupts, {
        let (database, user) = (database.clone(), user.clone());
        move || database.role(&user)
    })
    .await?;
    let (method, line) = {
        let rules = shared.rules.read().clone();
        let (database, user, wanted) = (database.clone(), user.clone(), greeting.database.clone());
        let address = match peer {
            Peer::Tcp(address) => Some(address.ip()),
            Peer::Unix(_) => None,
        };
        let tls = greeting.security.is_some();
        in_fiber(interrupts, move || {
            let member = |user: &str, role: &str| database.is_member(user, role).unwrap_or(false);
            let request = Request { address, tls, user: &user, database: &wanted };
            let rule = rules.find(&request, &member)?;
            Ok((rule.method.clone(), rule.line))
        })
        .await?
    };
    match method {
        Method::Trust => life::authenticated(shared, &user, None, "trust", line),
        Method::Scram => {
            scram(shared, io, greeting, role.as_ref()).await?;
            life::authenticated(shared, &user, Some(&user), "scram-sha-256", line);
        }
        Method::Peer => {
            check_peer(peer, &user)?;
            life::authenticated(shared, &user, Some(&user), "peer", line);
        }
        Method::Reject => return Err(SqlError::internal("a rejected client was let through")),
        Method::Unsupported(name) => {
            return Err(SqlError::not_supported(format!("authentication method \"{name}\"")));
        }
    }
    let Some(role) = role else {
        return Err(SqlError::fatal(
            SqlState::INVALID_AUTHORIZATION_SPECIFICATION,
            format!("role \"{user}\" does not exist"),
        ));
    };
    if !role.can_login {
        return Err(SqlError::fatal(
            SqlState::INVALID_AUTHORIZATION_SPECIFICATION,
            format!("role \"{user}\" is not permitted to log in"),
        ));
    }
    message::authentication_ok(io.out());
    Ok(role)
}

/// The operating system's user must have the role's name.
fn check_peer(peer: Peer, user: &str) -> SqlResult<()> {
    if let Peer::Unix(Some(uid)) = peer
        && user_name(uid).as_deref() == Some(user)
    {
        return Ok(());
    }
    Err(SqlError::fatal(
        SqlState::INVALID_AUTHORIZATION_SPECIFICATION,
        format!("Peer authentication failed for user \"{user}\""),
    ))
}

/// Name of an operating system user.
pub fn user_name(uid: u32) -> Option<String> {
    let mut buffer = vec![0u8; 4096];
    // SAFETY: all pointers are valid for the call, and the buffer's length is passed with it; the name it points to lies in
    // the buffer, which outlives the copy made of it.
    unsafe {
        let mut entry: libc::passwd = std::mem::zeroed();
        let mut found = std::ptr::null_mut();
        let rc = libc::getpwuid_r(uid, &mut entry, buffer.as_mut_ptr().cast(), buffer.len(), &mut found);
        if rc != 0 || found.is_null() {
            return None;
        }
        Some(std::ffi::CStr::from_ptr(entry.pw_name).to_string_lossy().into_owned())
    }
}

async fn scram(shared: &Shared, io: &mut Io, greeting: &Greeting, role: Option<&Role>) -> SqlResult<()> {
    let iterations = shared.settings().int(Setting::scram_iterations).unsigned_abs();
    let stored = role.and_then(|role| role.password.as_deref()).and_then(Verifier::parse);
    let verifier = stored.unwrap_or_else(|| Verifier::mock(&greeting.user, &shared.mock_secret, iterations));
    let mut nonce = [0; scram::NONCE_LENGTH];
    runtime::spawn::fill_random(&mut nonce);
    let mut exchange = Exchange::new(verifier, nonce);

    message::authentication_sasl(io.out(), &[scram::MECHANISM]);
    let answer = next_answer(io).await?;
    let first = {
        let frame = authentication_frame(&answer, "SASL response")?.ok_or_else(malformed)?;
        let response = sasl_initial_response(&frame)?;
        if response.mechanism != scram::MECHANISM {
            return Err(SqlError::fatal(
                SqlState::PROTOCOL_VIOLATION,
                "client selected an invalid SASL authentication mechanism",
            ));
        }
        match response.data {
            Some(data) => exchange.first(data)?,
            // The client waits to be asked for its first message.
            None => {
                message::authentication_sasl_continue(io.out(), b"");
                let answer = next_answer(io).await?;
                let frame = authentication_frame(&answer, "SASL response")?.ok_or_else(malformed)?;
                exchange.first(frame.body)?
            }
        }
    };
    message::authentication_sasl_continue(io.out(), first.as_bytes());
    let answer = next_answer(io).await?;
    let frame = authentication_frame(&answer, "SASL response")?.ok_or_else(malformed)?;
    match exchange.last(frame.body)? {
        Outcome::Authenticated(last) => {
            message::authentication_sasl_final(io.out(), last.as_bytes());
            Ok(())
        }
        Outcome::Refused => Err(SqlError::fatal(
            SqlState::INVALID_PASSWORD,
            format!("password authentication failed for user \"{}\"", greeting.user),
        )),
    }
}

fn malformed() -> SqlError {
    SqlError::fatal(SqlState::PROTOCOL_VIOLATION, "invalid message length")
}

/// Sends what was asked and waits for one whole answer.
async fn next_answer(io: &mut Io) -> SqlResult<Vec<u8>> {
    io.flush().await;
    loop {
        if let Some(frame) = authentication_frame(io.unread(), "SASL response")? {
            let length = frame.length;
            let answer = io.unread()[..length].to_vec();
            io.consume(length);
            return Ok(answer);
        }
        if io.fill().await != Arrival::Bytes {
            return Err(SqlError::fatal(SqlState::CONNECTION_FAILURE, "unexpected EOF on client connection"));
        }
    }
}

/// How many sessions there may be.
pub(super) fn limits(shared: &Shared) -> Limits {
    let settings = shared.settings();
    let number = |setting| settings.int(setting).max(0) as usize;
    Limits {
        max: number(Setting::max_connections),
        superuser: number(Setting::superuser_reserved_connections),
    }
}

/// Opens the session in the database and sends the messages up to ReadyForQuery.
pub(super) async fn open_session(
    shared: &Shared,
    io: &mut Io,
    greeting: &Greeting,
    peer: Peer,
    registration: &Registration<'_>,
    interrupts: &Interrupts,
) -> SqlResult<Box<dyn Client>> {
    let database =
        shared.database.get().ok_or_else(|| SqlError::internal("the database is not open"))?.clone();
    let info = SessionInfo {
        pid: registration.pid,
        user: greeting.user.clone(),
        database: greeting.database.clone(),
        options: greeting.options.clone(),
        client_address: match peer {
            Peer::Tcp(address) => Some(address),
            Peer::Unix(_) => None,
        },
        encryption: greeting.security.as_ref().map(|security| security.agreed.shown()),
    };
    let client = in_fiber(interrupts, move || database.connect(info)).await?;
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

    #[test]
    fn the_superuser_has_a_name() {
        assert_eq!(user_name(0).as_deref(), Some("root"));
    }
}
