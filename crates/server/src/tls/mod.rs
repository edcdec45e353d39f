//! TLS: what the server shows its clients, and whom it trusts.
//!
//! # What
//! [`Tls`] is made of the settings `ssl_*` and the files that they name, at start and on every reload; connections that
//! are open keep the one they began with. How one connection uses it is the business of `session::sealed`.
//!
//! # Layout
//! `files`: certificates, keys and lists of revoked certificates from disk. `choices`: versions, ciphers and groups.
//! [`certificate`]: what is read from a certificate for people and for authentication.
//!
//! # Invariants
//! 1. A setting is obeyed or refused in words that name it; none is ignored.
//! 2. No session is resumed: nothing of a client's session is kept, and no ticket is given.
//!
//! # PostgreSQL counterpart and differences
//! `be-secure-openssl.c`, over `rustls`: TLS 1.2 and 1.3 with authenticated encryption and ephemeral keys only, so that
//! there are no parameters for Diffie-Hellman in a file; keys must not be encrypted; certificates of clients must be of X.509 version 3.

pub mod certificate;
mod choices;
mod files;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::settings::{ServerSettings, Setting};
use base::{SqlError, SqlResult, SqlState};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::UnixTime;
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::time_provider::TimeProvider;
use rustls::{RootCertStore, ServerConfig};

pub use choices::cipher_name;

/// The protocol that clients name where they negotiate one (ALPN).
pub const PROTOCOL: &[u8] = b"postgresql";

/// What new connections are secured with.
pub struct Tls {
    /// For the handshake.
    pub config: Arc<ServerConfig>,
    /// Hash of the server's certificate that binds an authentication to the connection (`tls-server-end-point`). None
    /// where the certificate's signature has no hash of its own.
    pub endpoint: Option<Vec<u8>>,
    /// Whether certificates of clients are asked for: there are authorities to check them by.
    pub checks_clients: bool,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls").field("checks_clients", &self.checks_clients).finish_non_exhaustive()
    }
}

/// `config_file_error`, as a server that starts reports it.
fn refused(message: impl Into<String>) -> SqlError {
    SqlError::fatal(SqlState::CONFIG_FILE_ERROR, message)
}

/// The clock of the runtime, by which certificates are found to be valid.
#[derive(Debug)]
struct Clock;

impl TimeProvider for Clock {
    fn current_time(&self) -> Option<UnixTime> {
        let seconds = runtime::wall_clock_micros() / 1_000_000 + base::calendar::UNIX_SECONDS;
        Some(UnixTime::since_unix_epoch(std::time::Duration::from_secs(seconds.try_into().ok()?)))
    }
}

impl Tls {
    /// As the settings say; `None` if `ssl` is off. Errors are FATAL, in PostgreSQL's words.
    pub fn load(settings: &ServerSettings) -> SqlResult<Option<Tls>> {
        if !settings.bool(Setting::ssl) {
            return Ok(None);
        }
        choices::refuse_what_is_not_there(settings)?;
        let provider = Arc::new(choices::provider(settings)?);
        let versions = choices::versions(settings)?;
        let (chain, key) = server_key(settings, &provider)?;
        let endpoint = client::tls::endpoint_hash(&chain[0]);
        let builder = ServerConfig::builder_with_details(provider.clone(), Arc::new(Clock))
            .with_protocol_versions(&versions)
            .map_err(|error| refused(format!("could not set SSL protocol version range: {error}")))?;
        let (builder, checks_clients) = match authorities(settings)? {
            None => (builder.with_no_client_auth(), false),
            Some(roots) => {
                let crls = files::revocations(
                    &path(settings, Setting::ssl_crl_file),
                    &path(settings, Setting::ssl_crl_dir),
                )?;
                let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
                    .with_crls(crls)
                    .allow_unauthenticated()
                    .build()
                    .map_err(|error| refused(format!("could not check certificates of clients: {error}")))?;
                (builder.with_client_cert_verifier(verifier), true)
            }
        };
        let mut config =
            builder.with_cert_resolver(Arc::new(SingleCertAndKey::from(CertifiedKey::new(chain, key))));
        config.ignore_client_order = settings.bool(Setting::ssl_prefer_server_ciphers);
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        Ok(Some(Tls { config: Arc::new(config), endpoint, checks_clients }))
    }
}

/// The file that a setting names; relative names are of the data directory. Empty if it names none.
fn path(settings: &ServerSettings, setting: Setting) -> PathBuf {
    match settings.text(setting) {
        "" => PathBuf::new(),
        name => Path::new(settings.text(Setting::data_directory)).join(name),
    }
}

type Chain = Vec<rustls::pki_types::CertificateDer<'static>>;

/// The server's certificate with those that lead to an authority, and its key.
fn server_key(
    settings: &ServerSettings,
    provider: &CryptoProvider,
) -> SqlResult<(Chain, Arc<dyn rustls::sign::SigningKey>)> {
    let named = settings.text(Setting::ssl_cert_file);
    let chain = files::certificates(&path(settings, Setting::ssl_cert_file))
        .map_err(|why| refused(format!("could not load server certificate file \"{named}\": {why}")))?;
    let named = settings.text(Setting::ssl_key_file);
    let file = path(settings, Setting::ssl_key_file);
    files::check_key_file(&file, named)?;
    let key = files::private_key(&file, named)?;
    let key = provider
        .key_provider
        .load_private_key(key)
        .map_err(|error| refused(format!("could not load private key file \"{named}\": {error}")))?;
    let public = key.public_key();
    if public
        .is_some_and(|public| certificate::public_key(&chain[0]).is_none_or(|own| own != public.as_ref()))
    {
        return Err(refused("check of private key failed: key values mismatch"));
    }
    Ok((chain, key))
}

/// Who signs the certificates of clients, if `ssl_ca_file` is set.
fn authorities(settings: &ServerSettings) -> SqlResult<Option<RootCertStore>> {
    let named = settings.text(Setting::ssl_ca_file);
    if named.is_empty() {
        return Ok(None);
    }
    let failed = |why: String| refused(format!("could not load root certificate file \"{named}\": {why}"));
    let mut roots = RootCertStore::empty();
    for certificate in files::certificates(&path(settings, Setting::ssl_ca_file)).map_err(failed)? {
        roots.add(certificate).map_err(|error| failed(error.to_string()))?;
    }
    Ok(Some(roots))
}
