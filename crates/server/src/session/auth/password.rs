//! Passwords: SCRAM, MD5, and as they are.
//!
//! # Invariants
//! 1. A role that does not exist, or has no password, takes as many steps and as long as one that has.

use base::settings::Setting;
use base::{SqlError, SqlState};
use types::text::md5_text;
use wire::backend as message;
use wire::frontend::{authentication_frame, password, sasl_initial_response};
use wire::scram::{self, Exchange, Outcome, Verifier};

use super::{Attempt, Failure, Role, compute};

/// The MD5 hash in a stored password, if it is one.
fn stored_md5(stored: &str) -> Option<&str> {
    let hash = stored.strip_prefix("md5")?;
    (hash.len() == 32 && hash.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(hash)
}

/// Compares in a time that does not depend on where the difference is.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |acc, (x, y)| acc | (x ^ y)) == 0
}

fn malformed() -> SqlError {
    SqlError::fatal(SqlState::PROTOCOL_VIOLATION, "invalid message length")
}

impl Attempt<'_> {
    /// What is stored of the role's password, or why that cannot be used, for the log.
    fn stored<'r>(&self, role: Option<&'r Role>) -> Result<&'r str, String> {
        let user = &self.greeting.user;
        let role = role.ok_or_else(|| format!("Role \"{user}\" does not exist."))?;
        let stored = role.password.as_deref();
        let stored = stored.ok_or_else(|| format!("User \"{user}\" has no password assigned."))?;
        if role.password_expired {
            return Err(format!("User \"{user}\" has an expired password."));
        }
        Ok(stored)
    }

    /// A verifier that nobody satisfies, always the same for a name.
    fn mock(&self) -> Verifier {
        let iterations = self.shared.settings().int(Setting::scram_iterations).unsigned_abs();
        Verifier::mock(&self.greeting.user, &self.shared.mock_secret, iterations)
    }

    fn mismatch(&self) -> Failure {
        Failure::Wrong(Some(format!("Password does not match for user \"{}\".", self.greeting.user)))
    }

    /// The method `scram-sha-256`. Returns who the client is.
    pub(super) async fn scram(&mut self, role: Option<&Role>) -> Result<String, Failure> {
        let user = self.greeting.user.clone();
        let stored = self.stored(role).and_then(|stored| {
            Verifier::parse(stored)
                .ok_or_else(|| format!("User \"{user}\" does not have a valid SCRAM secret."))
        });
        let (verifier, why) = match stored {
            Ok(verifier) => (verifier, None),
            Err(why) => (self.mock(), Some(why)),
        };
        match self.exchange(verifier).await? {
            true => Ok(user),
            false => Err(why.map_or_else(|| self.mismatch(), |why| Failure::Wrong(Some(why)))),
        }
    }

    /// Whether the client knows the password that a verifier is of.
    async fn exchange(&mut self, verifier: Verifier) -> Result<bool, Failure> {
        const EXPECTED: &str = "SASL response";
        let mut nonce = [0; scram::NONCE_LENGTH];
        runtime::spawn::fill_random(&mut nonce);
        let endpoint = self.greeting.security.as_ref().and_then(|security| security.tls.endpoint.clone());
        let mut exchange = Exchange::new(verifier, nonce, endpoint);

        message::authentication_sasl(self.io.out(), exchange.mechanisms());
        let answer = self.answer(EXPECTED).await?;
        let first = {
            let frame = authentication_frame(&answer, EXPECTED)?.ok_or_else(malformed)?;
            let response = sasl_initial_response(&frame)?;
            exchange.choose(response.mechanism)?;
            match response.data {
                Some(data) => exchange.first(data)?,
                // The client waits to be asked for its first message.
                None => {
                    message::authentication_sasl_continue(self.io.out(), b"");
                    let answer = self.answer(EXPECTED).await?;
                    let frame = authentication_frame(&answer, EXPECTED)?.ok_or_else(malformed)?;
                    exchange.first(frame.body)?
                }
            }
        };
        message::authentication_sasl_continue(self.io.out(), first.as_bytes());
        let answer = self.answer(EXPECTED).await?;
        let frame = authentication_frame(&answer, EXPECTED)?.ok_or_else(malformed)?;
        match exchange.last(frame.body)? {
            Outcome::Authenticated(last) => {
                message::authentication_sasl_final(self.io.out(), last.as_bytes());
                Ok(true)
            }
            Outcome::Refused => Ok(false),
        }
    }

    /// The method `md5`: by the stored hash, or by SCRAM if a SCRAM verifier is stored. Returns who the client is.
    pub(super) async fn md5(&mut self, role: Option<&Role>) -> Result<String, Failure> {
        let stored = self.stored(role);
        let by_hash = match &stored {
            Ok(stored) => stored_md5(stored).is_some(),
            // Like a role that was made now.
            Err(_) => self.shared.settings().text(Setting::password_encryption) == "md5",
        };
        if !by_hash {
            return self.scram(role).await;
        }
        let mut salt = [0; 4];
        runtime::spawn::fill_random(&mut salt);
        message::authentication_md5_password(self.io.out(), salt);
        let answer = self.password_message().await?;
        let hash = stored.map_err(|why| Failure::Wrong(Some(why)))?;
        let hash = stored_md5(hash).unwrap_or_default();
        let salted = md5_text([hash.as_bytes(), &salt].concat())?;
        match same(answer.as_bytes(), format!("md5{salted}").as_bytes()) {
            true => Ok(self.greeting.user.clone()),
            false => Err(self.mismatch()),
        }
    }

    async fn password_message(&mut self) -> Result<String, Failure> {
        const EXPECTED: &str = "password response";
        let answer = self.answer(EXPECTED).await?;
        let frame = authentication_frame(&answer, EXPECTED)?.ok_or_else(malformed)?;
        Ok(password(&frame)?.to_string())
    }

    /// The method `password`: as it is. Returns who the client is.
    pub(super) async fn password(&mut self, role: Option<&Role>) -> Result<String, Failure> {
        message::authentication_cleartext_password(self.io.out());
        let given = self.password_message().await?;
        let user = self.greeting.user.clone();
        let stored = self.stored(role).map(str::to_string);
        let hash = stored.as_ref().ok().and_then(|stored| stored_md5(stored)).map(str::to_string);
        let matches = match hash {
            Some(hash) => same(md5_text(format!("{given}{user}"))?.as_bytes(), hash.as_bytes()),
            None => {
                let verifier = stored.as_ref().ok().and_then(|stored| Verifier::parse(stored));
                let verifier = verifier.unwrap_or_else(|| self.mock());
                compute(self.interrupts, move || verifier.matches(&given)).await?
            }
        };
        match stored {
            Ok(_) if matches => Ok(user),
            Ok(_) => Err(self.mismatch()),
            Err(why) => Err(Failure::Wrong(Some(why))),
        }
    }
}
