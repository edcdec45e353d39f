//! Whether a client is who it says it is.
//!
//! # What
//! The first rule of `pg_hba.conf` that fits says how that is found out. `password`: by what the client knows. [`outside`]: by what
//! others say of it, the operating system, an ident server, a certificate.
//!
//! # Invariants
//! 1. A client is not told whether it was its name or its proof that was wrong; the log is.
//! 2. What asks a name server or hashes a password does so on another thread.
//!
//! # PostgreSQL counterpart
//! `auth.c`.

mod outside;
mod password;

use std::cell::OnceCell;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;

use base::{SqlError, SqlResult, SqlState};
use runtime::Interrupts;
use session::Replication;
use wire::backend as message;

use super::io::{Arrival, Io};
use super::startup::Greeting;
use super::{Peer, Shared, in_fiber, life};
use crate::backend::{Database, Role};
use crate::config::access::{ClientCert, ClientName, HostName, Method, Request, Rule, Surroundings, address};
use crate::log::Subject;

pub use outside::user_name;

/// Why a client is not let in.
pub(super) enum Refused {
    /// It has gone without an answer, as one that is asked for a password and has none.
    Gone,
    /// It is told so.
    Told {
        /// What it is told.
        error: SqlError,
        /// What the log is told besides.
        detail: Option<String>,
    },
}

impl From<SqlError> for Refused {
    fn from(error: SqlError) -> Refused {
        Refused::Told { error, detail: None }
    }
}

/// A proof that was not given; what the log is told of it.
enum Failure {
    Wrong(Option<String>),
    Refused(Refused),
}

impl From<SqlError> for Failure {
    fn from(error: SqlError) -> Failure {
        Failure::Refused(error.into())
    }
}

/// A client that may come in.
pub(super) struct Login {
    /// As which role.
    pub(super) role: Role,
    /// How it proved who it is, and as whom: what `system_user` shows.
    pub(super) system_user: Option<String>,
}

/// One client at the door.
pub(super) struct Attempt<'a> {
    pub(super) shared: &'a Shared,
    pub(super) io: &'a mut Io,
    pub(super) greeting: &'a Greeting,
    pub(super) peer: Peer,
    pub(super) interrupts: &'a Interrupts,
    pub(super) subject: &'a Subject,
}

/// What rules ask about, for one client.
struct Around {
    database: Arc<dyn Database>,
    address: Option<SocketAddr>,
    host: OnceCell<HostName>,
}

impl Surroundings for Around {
    fn is_member(&self, user: &str, role: &str) -> bool {
        self.database.is_member(user, role).unwrap_or(false)
    }

    fn interfaces(&self) -> Vec<(IpAddr, IpAddr)> {
        address::interfaces()
    }

    fn host_name(&self) -> &HostName {
        self.host.get_or_init(|| match self.address {
            Some(address) => runtime::blocking(|| HostName::of(address)),
            None => HostName::default(),
        })
    }

    fn known_host_name(&self) -> Option<&HostName> {
        self.host.get()
    }
}

/// The log's detail about a host name that was looked up for a rule without success.
fn lookup_detail(host: &HostName) -> String {
    match &host.name {
        None => "Could not resolve client IP address to a host name.".into(),
        Some(name) => {
            let outcome = if host.is_confirmed { "matches" } else { "does not match" };
            format!("Client IP address resolved to \"{name}\", forward lookup {outcome}.")
        }
    }
}

impl Attempt<'_> {
    /// Finds out whether the client is who it says it is. Sends AuthenticationOk into the buffer.
    pub(super) async fn authenticate(mut self) -> Result<Login, Refused> {
        let database =
            self.shared.database.get().ok_or_else(|| SqlError::internal("the database is not open"))?.clone();
        let user = self.greeting.user.clone();
        let role = {
            let (database, user) = (database.clone(), user.clone());
            in_fiber(self.interrupts, move || database.role(&user)).await?
        };
        let rule = self.rule(database.clone()).await?;
        self.check_certificate_is_there(&rule)?;
        let system_user = match self.prove(&rule, role.as_ref(), &database).await {
            Ok(identity) => identity.map(|identity| format!("{}:{identity}", rule.method.as_str())),
            Err(Failure::Refused(refused)) => return Err(refused),
            Err(Failure::Wrong(detail)) => return Err(failed(&rule, &user, detail)),
        };
        let refuse = |message| SqlError::fatal(SqlState::INVALID_AUTHORIZATION_SPECIFICATION, message);
        let role = role.ok_or_else(|| refuse(format!("role \"{user}\" does not exist")))?;
        if !role.can_login {
            return Err(refuse(format!("role \"{user}\" is not permitted to log in")).into());
        }
        message::authentication_ok(self.io.out());
        Ok(Login { role, system_user })
    }

    fn address(&self) -> Option<SocketAddr> {
        match self.peer {
            Peer::Tcp(address) => Some(address),
            Peer::Unix(_) => None,
        }
    }

    fn around(&self, database: Arc<dyn Database>) -> Around {
        Around { database, address: self.address(), host: OnceCell::new() }
    }

    /// The rule for this client.
    async fn rule(&self, database: Arc<dyn Database>) -> Result<Arc<Rule>, Refused> {
        let rules = self.shared.rules.read().clone();
        let around = self.around(database);
        let (user, wanted) = (self.greeting.user.clone(), self.greeting.database.clone());
        let tls = self.greeting.security.is_some();
        let replication = self.greeting.replication == Some(Replication::Physical);
        let found = in_fiber(self.interrupts, move || {
            let address = around.address.map(|address| address.ip().to_canonical());
            let request = Request { address, tls, user: &user, database: &wanted, replication };
            let found = rules.find(&request, &around).cloned();
            Ok(found.map_err(|error| (error, around.known_host_name().map(lookup_detail))))
        });
        found.await?.map_err(|(error, detail)| Refused::Told { error, detail })
    }

    /// Runs what may wait with the surroundings of this client.
    async fn with_around<T: 'static>(
        &self,
        database: &Arc<dyn Database>,
        body: impl FnOnce(&dyn Surroundings) -> T + 'static,
    ) -> SqlResult<T> {
        let around = self.around(database.clone());
        in_fiber(self.interrupts, move || Ok(body(&around))).await
    }

    /// A rule that wants a certificate is not for clients without one.
    fn check_certificate_is_there(&self, rule: &Rule) -> SqlResult<()> {
        if rule.client_cert.is_none() {
            return Ok(());
        }
        let security = self.greeting.security.as_ref();
        if !security.is_some_and(|security| security.tls.checks_clients) {
            let message = "client certificates can only be checked if a root certificate store is available";
            return Err(SqlError::fatal(SqlState::CONFIG_FILE_ERROR, message));
        }
        if security.is_none_or(|security| security.agreed.client.is_none()) {
            let message = "connection requires a valid client certificate";
            return Err(SqlError::fatal(SqlState::INVALID_AUTHORIZATION_SPECIFICATION, message));
        }
        Ok(())
    }

    /// Asks for the proof that a rule wants. Returns whom it is of, if anything was asked.
    async fn prove(
        &mut self,
        rule: &Rule,
        role: Option<&Role>,
        database: &Arc<dyn Database>,
    ) -> Result<Option<String>, Failure> {
        let identity = match rule.method {
            Method::Trust | Method::Cert => None,
            Method::Reject => return Err(SqlError::internal("a rejected client was let through").into()),
            Method::Scram => Some(self.scram(role).await?),
            Method::Md5 => Some(self.md5(role).await?),
            Method::Password => Some(self.password(role).await?),
            Method::Peer => Some(self.peer_user()?),
            Method::Ident => Some(self.ident_user().await?),
        };
        if let Some(identity) = &identity {
            life::authenticated(self.shared, self.subject, Some(identity), rule);
        }
        if matches!(rule.method, Method::Peer | Method::Ident) {
            let system_user = identity.clone().unwrap_or_default();
            self.check_map(rule, system_user, database).await?;
        }
        let identity = match rule.client_cert {
            Some(ClientCert::VerifyFull) => identity.or(self.certified_user(rule, database).await?),
            _ => identity,
        };
        if identity.is_none() {
            life::authenticated(self.shared, self.subject, None, rule);
        }
        Ok(identity)
    }

    /// A user of another system must be one that may be this role.
    async fn check_map(
        &self,
        rule: &Rule,
        system_user: String,
        database: &Arc<dyn Database>,
    ) -> Result<(), Failure> {
        let maps = self.shared.maps.read().clone();
        let (user, map) = (self.greeting.user.clone(), rule.map.clone());
        let allowed =
            self.with_around(database, move |around| maps.allow(map.as_deref(), &user, &system_user, around));
        allowed.await?.map_err(|why| self.wrong(why))
    }

    /// The certificate must be of the role. With the method `cert` it says who the client is.
    async fn certified_user(
        &self,
        rule: &Rule,
        database: &Arc<dyn Database>,
    ) -> Result<Option<String>, Failure> {
        let Some(client) =
            self.greeting.security.as_ref().and_then(|security| security.agreed.client.as_ref())
        else {
            return Err(Failure::Wrong(None));
        };
        let name = match rule.client_name {
            ClientName::Common => client.common_name.clone(),
            ClientName::Distinguished => Some(client.distinguished.clone()),
        };
        let Some(name) = name.filter(|name| !name.is_empty()) else {
            let user = &self.greeting.user;
            return Err(self.wrong(format!(
                "certificate authentication failed for user \"{user}\": client certificate contains no user name"
            )));
        };
        // The whole subject is who the client is, whichever part of it is looked at.
        let identity = (rule.method == Method::Cert).then(|| client.distinguished.clone());
        if let Some(identity) = &identity {
            life::authenticated(self.shared, self.subject, Some(identity), rule);
        }
        let checked = self.check_map(rule, name, database).await;
        if checked.is_err() && rule.method != Method::Cert {
            let what = match rule.client_name {
                ClientName::Common => "CN",
                ClientName::Distinguished => "DN",
            };
            let user = &self.greeting.user;
            return Err(self.wrong(format!(
                "certificate validation (clientcert=verify-full) failed for user \"{user}\": {what} mismatch"
            )));
        }
        checked.map(|()| identity)
    }

    /// A proof that is no good; the log gets a line with the reason.
    fn wrong(&self, why: String) -> Failure {
        life::note(self.subject, why);
        Failure::Wrong(None)
    }

    /// Sends what was asked and waits for one whole answer.
    async fn answer(&mut self, expected: &str) -> Result<Vec<u8>, Failure> {
        self.io.flush().await;
        loop {
            if let Some(frame) = wire::frontend::authentication_frame(self.io.unread(), expected)? {
                let length = frame.length;
                let answer = self.io.unread()[..length].to_vec();
                self.io.consume(length);
                return Ok(answer);
            }
            if self.io.fill().await != Arrival::Bytes {
                return Err(Failure::Refused(Refused::Gone));
            }
        }
    }
}

/// What a client is told whose proof was not good, and the log besides.
fn failed(rule: &Rule, user: &str, detail: Option<String>) -> Refused {
    let (code, what) = match rule.method {
        Method::Scram | Method::Md5 | Method::Password => (SqlState::INVALID_PASSWORD, "password"),
        Method::Trust => (SqlState::INVALID_AUTHORIZATION_SPECIFICATION, "\"trust\""),
        Method::Peer => (SqlState::INVALID_AUTHORIZATION_SPECIFICATION, "Peer"),
        Method::Ident => (SqlState::INVALID_AUTHORIZATION_SPECIFICATION, "Ident"),
        Method::Cert => (SqlState::INVALID_AUTHORIZATION_SPECIFICATION, "certificate"),
        Method::Reject => (SqlState::INVALID_AUTHORIZATION_SPECIFICATION, "\"reject\""),
    };
    let (file, line, text) = (&rule.file, rule.line, &rule.text);
    let matched = format!("Connection matched file \"{file}\" line {line}: \"{text}\"");
    Refused::Told {
        error: SqlError::fatal(code, format!("{what} authentication failed for user \"{user}\"")),
        detail: Some(match detail {
            Some(detail) => format!("{detail}\n{matched}"),
            None => matched,
        }),
    }
}

/// Runs a computation that takes long on another thread.
async fn compute<T: Send + 'static>(
    interrupts: &Interrupts,
    body: impl FnOnce() -> T + Send + 'static,
) -> SqlResult<T> {
    let slot: Rc<OnceCell<T>> = Rc::default();
    let result = slot.clone();
    in_fiber(interrupts, move || {
        let _ = slot.set(runtime::blocking(body));
        Ok(())
    })
    .await?;
    let value = Rc::into_inner(result).and_then(OnceCell::into_inner);
    value.ok_or_else(|| SqlError::internal("a computation left no result"))
}
