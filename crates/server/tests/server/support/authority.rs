//! An authority that signs certificates, made again for each test.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, CertifiedIssuer, DnType, IsCa,
    KeyIdMethod, KeyPair, KeyUsagePurpose, RevokedCertParams, SerialNumber, date_time_ymd,
};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use super::client::Client;
use super::{PATIENCE, Server};

/// Who signs.
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    /// One that nobody knows yet.
    pub fn new(name: &str) -> Authority {
        let mut params = params(&[("CN", name)], &[]);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        Authority(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    /// Its own certificate, in PEM.
    pub fn pem(&self) -> String {
        self.0.as_ref().pem()
    }

    /// Writes `NAME.crt` and `NAME.key` of a subject, which is signed.
    pub fn sign(&self, dir: &Path, name: &str, subject: &[(&str, &str)], serial: u64, hosts: &[&str]) {
        let mut params = params(subject, hosts);
        params.serial_number = Some(SerialNumber::from(serial));
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        fs::write(dir.join(format!("{name}.crt")), certificate.pem()).unwrap();
        write_key(&dir.join(format!("{name}.key")), &key.serialize_pem());
    }

    /// Writes `NAME.crt` and `NAME.key` of a certificate for `localhost` that signed itself, as `openssl req -x509` makes it.
    pub fn self_signed(dir: &Path, name: &str) {
        let mut params = params(&[("CN", "localhost")], &["localhost"]);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        fs::write(dir.join(format!("{name}.crt")), params.self_signed(&key).unwrap().pem()).unwrap();
        write_key(&dir.join(format!("{name}.key")), &key.serialize_pem());
    }

    /// A list with one revoked certificate, in PEM.
    pub fn revoke(&self, serial: u64) -> String {
        let revoked = RevokedCertParams {
            serial_number: SerialNumber::from(serial),
            revocation_time: date_time_ymd(2024, 1, 1),
            reason_code: None,
            invalidity_date: None,
        };
        let list = CertificateRevocationListParams {
            this_update: date_time_ymd(2024, 1, 1),
            next_update: date_time_ymd(2099, 1, 1),
            crl_number: SerialNumber::from(1),
            issuing_distribution_point: None,
            revoked_certs: vec![revoked],
            key_identifier_method: KeyIdMethod::Sha256,
        };
        list.signed_by(&self.0).unwrap().pem().unwrap()
    }

    /// What a client trusts that trusts this authority; `alpn` names what is spoken.
    pub fn client_config(&self, alpn: bool) -> Arc<ClientConfig> {
        let mut roots = RootCertStore::empty();
        roots.add(self.0.as_ref().der().clone()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder =
            ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let mut config = builder.with_root_certificates(roots).with_no_client_auth();
        if alpn {
            config.alpn_protocols = vec![b"postgresql".to_vec()];
        }
        Arc::new(config)
    }
}

fn params(subject: &[(&str, &str)], hosts: &[&str]) -> CertificateParams {
    let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_string()).collect();
    let mut params = CertificateParams::new(hosts).unwrap();
    params.distinguished_name = rcgen::DistinguishedName::new();
    for (kind, value) in subject {
        let kind = match *kind {
            "CN" => DnType::CommonName,
            "O" => DnType::OrganizationName,
            "OU" => DnType::OrganizationalUnitName,
            other => panic!("{other}"),
        };
        params.distinguished_name.push(kind, *value);
    }
    params
}

/// Writes a file that only its owner reads.
pub fn write_key(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

/// A data directory with a certificate of an authority for `localhost`, TLS on.
pub fn secured_server(authority: &Authority) -> Server {
    let mut server = Server::init(&[]);
    let data = server.data();
    authority.sign(&data, "server", &[("CN", "localhost")], 7, &["localhost", "127.0.0.1"]);
    fs::write(server.file("root.crt"), authority.pem()).unwrap();
    server.set_option("ssl=on");
    server
}

/// A connection over TLS, as the client sees it.
pub type Secured = StreamOwned<ClientConnection, TcpStream>;

/// Begins TLS on a socket: the handshake comes with the first bytes.
pub fn secure(stream: TcpStream, config: Arc<ClientConfig>) -> Secured {
    let name = ServerName::try_from("localhost").unwrap();
    StreamOwned::new(ClientConnection::new(config, name).unwrap(), stream)
}

/// A socket of the server's that hangs no test.
pub fn socket(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

/// A socket on which the server has agreed to TLS.
pub fn accepted(server: &Server) -> TcpStream {
    let mut stream = socket(server);
    stream.write_all(&[0, 0, 0, 8, 4, 0xD2, 0x16, 0x2F]).unwrap();
    let mut answer = [0];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(answer, *b"S");
    stream
}

/// A session over TLS.
pub fn session(server: &Server, authority: &Authority) -> Client<Secured> {
    Client::over(secure(accepted(server), authority.client_config(true)), &[]).unwrap()
}
