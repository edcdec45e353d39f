//! The server's side of SCRAM-SHA-256 and SCRAM-SHA-256-PLUS (RFC 5802, RFC 7677), with channel binding by `tls-server-end-point` (RFC 5929).
//!
//! # What
//! A [`Verifier`] is what is stored instead of a password; a [`Exchange`] checks that a client knows the password it was
//! made of. For a user that does not exist [`Verifier::mock`] makes one that nobody can satisfy, always the same for
//! that name, so that a client cannot tell the two cases apart.
//!
//! # Invariants
//! 1. The outcome depends on the proof alone, compared in constant time.
//! 2. Where channel binding was offered, a client that could have used it and did not is refused: somebody may stand between.
//!
//! # PostgreSQL counterpart and differences
//! `auth-scram.c`; the verifier's text form and the error texts are PostgreSQL's.

use base::{SqlError, SqlResult, SqlState, sql_err};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};

/// Name of the mechanism.
pub const MECHANISM: &str = "SCRAM-SHA-256";
/// Name of the one that binds to the connection.
pub const BINDING_MECHANISM: &str = "SCRAM-SHA-256-PLUS";
/// What it binds to.
const BINDING_TYPE: &str = "tls-server-end-point";
/// Iterations of verifiers made without saying how many: PostgreSQL's `scram_iterations`.
pub const DEFAULT_ITERATIONS: u32 = 4096;
/// Bytes of salt in verifiers made here.
pub const SALT_LENGTH: usize = 16;
/// Random bytes in the server's half of the nonce.
pub const NONCE_LENGTH: usize = 18;

type Key = [u8; 32];

/// What is stored of a password.
#[derive(Clone, PartialEq, Eq)]
pub struct Verifier {
    iterations: u32,
    salt: Vec<u8>,
    stored_key: Key,
    server_key: Key,
    /// Nobody's: the proof is refused whatever it is.
    mock: bool,
}

impl std::fmt::Debug for Verifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Nothing secret goes to a log.
        f.debug_struct("Verifier").field("iterations", &self.iterations).finish_non_exhaustive()
    }
}

fn hmac(key: &[u8], parts: &[&[u8]]) -> Key {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

/// The password after SASLprep; as it is where SASLprep does not apply, as PostgreSQL does.
fn prepared(password: &str) -> std::borrow::Cow<'_, str> {
    stringprep::saslprep(password).unwrap_or(std::borrow::Cow::Borrowed(password))
}

impl Verifier {
    /// Makes a verifier of a password. The salt should be random.
    pub fn new(password: &str, salt: &[u8], iterations: u32) -> Verifier {
        let mut salted = [0; 32];
        pbkdf2::pbkdf2_hmac::<Sha256>(prepared(password).as_bytes(), salt, iterations, &mut salted);
        let stored_key = Sha256::digest(hmac(&salted, &[b"Client Key"])).into();
        let server_key = hmac(&salted, &[b"Server Key"]);
        Verifier { iterations, salt: salt.to_vec(), stored_key, server_key, mock: false }
    }

    /// For a user that has none: `secret` is the installation's own, so that each name always gets the same salt.
    pub fn mock(user: &str, secret: &[u8], iterations: u32) -> Verifier {
        let salt = Sha256::new().chain_update(user).chain_update(secret).finalize();
        Verifier {
            iterations,
            salt: salt[..SALT_LENGTH].to_vec(),
            stored_key: [0; 32],
            server_key: [0; 32],
            mock: true,
        }
    }

    /// Reads PostgreSQL's form, `SCRAM-SHA-256$<iterations>:<salt>$<stored key>:<server key>`.
    pub fn parse(text: &str) -> Option<Verifier> {
        let rest = text.strip_prefix("SCRAM-SHA-256$")?;
        let (head, keys) = rest.split_once('$')?;
        let (iterations, salt) = head.split_once(':')?;
        let (stored, server) = keys.split_once(':')?;
        let key = |text: &str| BASE64.decode(text).ok()?.try_into().ok();
        Some(Verifier {
            iterations: iterations.parse().ok().filter(|n| *n > 0)?,
            salt: BASE64.decode(salt).ok()?,
            stored_key: key(stored)?,
            server_key: key(server)?,
            mock: false,
        })
    }

    /// Whether this is the password (for checks without an exchange).
    pub fn matches(&self, password: &str) -> bool {
        let other = Verifier::new(password, &self.salt, self.iterations);
        !self.mock && same(&other.stored_key, &self.stored_key)
    }
}

impl std::fmt::Display for Verifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "SCRAM-SHA-256${}:{}${}:{}",
            self.iterations,
            BASE64.encode(&self.salt),
            BASE64.encode(self.stored_key),
            BASE64.encode(self.server_key)
        )
    }
}

/// Compares in a time that does not depend on where the difference is.
fn same(a: &Key, b: &Key) -> bool {
    a.iter().zip(b).fold(0, |acc, (x, y)| acc | (x ^ y)) == 0
}

/// One authentication.
#[derive(Debug)]
pub struct Exchange {
    verifier: Verifier,
    /// Hash of the server's certificate, where binding to it is offered.
    endpoint: Option<Vec<u8>>,
    /// The client has chosen to bind to it.
    is_bound: bool,
    server_nonce: String,
    /// What was said so far, for the signature.
    client_first_bare: String,
    server_first: String,
    nonce: String,
    /// Base64 of the header that the client began with, and of what it is bound to; it must repeat it.
    channel_binding: String,
}

/// How an exchange ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The client knows the password; this is the server's last message.
    Authenticated(String),
    /// It does not.
    Refused,
}

fn malformed(detail: impl Into<String>) -> SqlError {
    SqlError::fatal(SqlState::PROTOCOL_VIOLATION, "malformed SCRAM message").detail(detail)
}

fn fatal(mut error: SqlError) -> SqlError {
    error.report_mut().severity = base::Severity::Fatal;
    error
}

/// A character as PostgreSQL's messages show it.
fn shown(text: &str) -> String {
    match text.bytes().next() {
        None => "0x00".into(),
        Some(byte @ 0x21..=0x7E) => char::from(byte).to_string(),
        Some(byte) => format!("0x{byte:02x}"),
    }
}

/// Reads `<name>=<value>` up to the next comma.
fn attribute<'a>(text: &mut &'a str, name: char) -> SqlResult<&'a str> {
    let Some(rest) = text.strip_prefix(name) else {
        return Err(malformed(format!("Expected attribute \"{name}\" but found \"{}\".", shown(text))));
    };
    let Some(rest) = rest.strip_prefix('=') else {
        return Err(malformed(format!("Expected character \"=\" for attribute \"{name}\".")));
    };
    let (value, rest) = rest.split_once(',').unwrap_or((rest, ""));
    *text = rest;
    Ok(value)
}

fn as_text(message: &[u8]) -> SqlResult<&str> {
    if message.is_empty() {
        return Err(malformed("The message is empty."));
    }
    if message.contains(&0) {
        return Err(malformed("Message length does not match input length."));
    }
    crate::check_utf8(message).map_err(fatal)
}

impl Exchange {
    /// `nonce` must be random. `endpoint`: hash of the server's certificate, if the client may bind to it.
    pub fn new(verifier: Verifier, nonce: [u8; NONCE_LENGTH], endpoint: Option<Vec<u8>>) -> Exchange {
        Exchange {
            verifier,
            endpoint,
            is_bound: false,
            server_nonce: BASE64.encode(nonce),
            client_first_bare: String::new(),
            server_first: String::new(),
            nonce: String::new(),
            channel_binding: String::new(),
        }
    }

    /// The mechanisms that are offered, the better one first.
    pub fn mechanisms(&self) -> &'static [&'static str] {
        match self.endpoint {
            Some(_) => &[BINDING_MECHANISM, MECHANISM],
            None => &[MECHANISM],
        }
    }

    /// The client's choice among them. Errors are FATAL.
    pub fn choose(&mut self, mechanism: &str) -> SqlResult<()> {
        if !self.mechanisms().contains(&mechanism) {
            let message = "client selected an invalid SASL authentication mechanism";
            return Err(SqlError::fatal(SqlState::PROTOCOL_VIOLATION, message));
        }
        self.is_bound = mechanism == BINDING_MECHANISM;
        Ok(())
    }

    /// The head of the client's first message, up to the first comma: whether it binds. Returns the rest.
    fn binding_flag<'a>(&self, text: &'a str) -> SqlResult<(&'a str, &'a str)> {
        let (flag, rest) = text.split_at_checked(1).unwrap_or((text, ""));
        match flag {
            "n" | "y" if self.is_bound => Err(malformed(
                "The client selected SCRAM-SHA-256-PLUS, but the SCRAM message does not include channel binding data.",
            )),
            "y" if self.endpoint.is_some() => {
                let message = "SCRAM channel binding negotiation error";
                Err(SqlError::fatal(SqlState::INVALID_AUTHORIZATION_SPECIFICATION, message).detail(
                    "The client supports SCRAM channel binding but thinks the server does not.  \
                     However, this server does support channel binding.",
                ))
            }
            "n" | "y" => Ok((flag, rest)),
            "p" if !self.is_bound => Err(malformed(
                "The client selected SCRAM-SHA-256 without channel binding, \
                 but the SCRAM message includes channel binding data.",
            )),
            "p" => {
                let mut fields = text;
                let kind = attribute(&mut fields, 'p')?;
                if kind != BINDING_TYPE {
                    let message = format!("unsupported SCRAM channel-binding type \"{kind}\"");
                    return Err(SqlError::fatal(SqlState::PROTOCOL_VIOLATION, message));
                }
                Ok(text.split_at("p=".len() + kind.len()))
            }
            other => Err(malformed(format!("Unexpected channel-binding flag \"{}\".", shown(other)))),
        }
    }

    /// What the client must repeat in its last message.
    fn bound_to(&self, flag: &str) -> String {
        let mut bytes = format!("{flag},,").into_bytes();
        if let Some(endpoint) = self.endpoint.as_ref().filter(|_| self.is_bound) {
            bytes.extend_from_slice(endpoint);
        }
        BASE64.encode(bytes)
    }

    /// Reads the client's first message; returns the server's. Errors are FATAL.
    pub fn first(&mut self, message: &[u8]) -> SqlResult<String> {
        let text = as_text(message)?;
        let (flag, rest) = self.binding_flag(text)?;
        let Some(rest) = rest.strip_prefix(',') else {
            return Err(malformed(format!("Comma expected, but found character \"{}\".", shown(rest))));
        };
        if rest.starts_with('a') {
            return Err(fatal(sql_err!(
                FEATURE_NOT_SUPPORTED,
                "client uses authorization identity, but it is not supported"
            )));
        }
        let Some(bare) = rest.strip_prefix(',') else {
            return Err(malformed(format!(
                "Unexpected attribute \"{}\" in client-first-message.",
                shown(rest)
            )));
        };
        if bare.starts_with('m') {
            return Err(fatal(sql_err!(
                FEATURE_NOT_SUPPORTED,
                "client requires an unsupported SCRAM extension"
            )));
        }
        let mut fields = bare;
        // The name is ignored: the one from the start-up packet counts.
        attribute(&mut fields, 'n')?;
        let client_nonce = attribute(&mut fields, 'r')?;
        if !client_nonce.bytes().all(|b| (0x21..=0x7E).contains(&b) && b != b',') {
            return Err(fatal(sql_err!(PROTOCOL_VIOLATION, "non-printable characters in SCRAM nonce")));
        }
        self.channel_binding = self.bound_to(flag);
        self.client_first_bare = bare.to_string();
        self.nonce = format!("{client_nonce}{}", self.server_nonce);
        self.server_first = format!(
            "r={},s={},i={}",
            self.nonce,
            BASE64.encode(&self.verifier.salt),
            self.verifier.iterations
        );
        Ok(self.server_first.clone())
    }

    /// Reads the client's last message and checks its proof. Errors are FATAL.
    pub fn last(&mut self, message: &[u8]) -> SqlResult<Outcome> {
        let text = as_text(message)?;
        let mut rest = text;
        if attribute(&mut rest, 'c')? != self.channel_binding {
            if self.is_bound {
                let message = "SCRAM channel binding check failed";
                return Err(SqlError::fatal(SqlState::INVALID_AUTHORIZATION_SPECIFICATION, message));
            }
            return Err(fatal(sql_err!(
                PROTOCOL_VIOLATION,
                "unexpected SCRAM channel-binding attribute in client-final-message"
            )));
        }
        if attribute(&mut rest, 'r')? != self.nonce || self.nonce.is_empty() {
            return Err(SqlError::fatal(SqlState::PROTOCOL_VIOLATION, "invalid SCRAM response")
                .detail("Nonce does not match."));
        }
        // Extensions may stand before the proof; they are ignored.
        while !rest.starts_with('p') {
            let name = rest.chars().next().filter(char::is_ascii_alphabetic);
            let Some(name) = name else {
                return Err(malformed(format!(
                    "Attribute expected, but found invalid character \"{}\".",
                    shown(rest)
                )));
            };
            attribute(&mut rest, name)?;
        }
        let without_proof = &text[..text.len() - rest.len()];
        let without_proof = without_proof.strip_suffix(',').unwrap_or(without_proof);
        let proof = attribute(&mut rest, 'p')?;
        let proof: Key = BASE64
            .decode(proof)
            .ok()
            .and_then(|bytes| bytes.try_into().ok())
            .ok_or_else(|| malformed("Malformed proof in client-final-message."))?;
        if !rest.is_empty() {
            return Err(malformed("Garbage found at the end of client-final-message."));
        }
        Ok(self.check(&proof, without_proof))
    }

    fn check(&self, proof: &Key, without_proof: &str) -> Outcome {
        let said = [
            self.client_first_bare.as_bytes(),
            b",",
            self.server_first.as_bytes(),
            b",",
            without_proof.as_bytes(),
        ];
        let signature = hmac(&self.verifier.stored_key, &said);
        let mut client_key = *proof;
        for (byte, mask) in client_key.iter_mut().zip(signature) {
            *byte ^= mask;
        }
        let matches = same(&Sha256::digest(client_key).into(), &self.verifier.stored_key);
        if !matches || self.verifier.mock {
            return Outcome::Refused;
        }
        Outcome::Authenticated(format!("v={}", BASE64.encode(hmac(&self.verifier.server_key, &said))))
    }
}

#[cfg(test)]
#[path = "scram_tests.rs"]
mod tests;
