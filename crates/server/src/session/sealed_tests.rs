//! Both ends in memory: bytes in any pieces, bytes that somebody changed on the way.

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::{PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore};
use std::io::{Read, Write};

use super::*;

/// A server's configuration, and a client's that trusts it.
fn configurations() -> (Arc<ServerConfig>, Arc<ClientConfig>) {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["localhost".to_string()]).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
    let server = ServerConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)
        .unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(cert.der().clone()).unwrap();
    let client = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    (Arc::new(server), Arc::new(client))
}

struct Pair {
    server: Sealed,
    client: ClientConnection,
    /// What the server has opened.
    opened: Vec<u8>,
    /// What the client has.
    answered: Vec<u8>,
}

impl Pair {
    fn new((server, client): &(Arc<ServerConfig>, Arc<ClientConfig>)) -> Pair {
        Pair {
            server: Sealed::new(server.clone()).unwrap(),
            client: ClientConnection::new(client.clone(), ServerName::try_from("localhost").unwrap())
                .unwrap(),
            opened: Vec::new(),
            answered: Vec::new(),
        }
    }

    /// Carries what either end has to say to the other, in pieces, after `on_the_way` has seen it. False once there is nothing more.
    fn carry(&mut self, piece: usize, on_the_way: &mut dyn FnMut(&mut Vec<u8>)) -> bool {
        let mut bytes = Vec::new();
        while self.client.wants_write() {
            self.client.write_tls(&mut bytes).unwrap();
        }
        on_the_way(&mut bytes);
        for part in bytes.chunks_mut(piece) {
            self.server.open(part, |plain| self.opened.extend_from_slice(plain));
        }
        let answer = std::mem::take(&mut self.server.outgoing);
        let mut rest = answer.as_slice();
        while !rest.is_empty() && self.client.read_tls(&mut rest).is_ok_and(|n| n > 0) {
            if self.client.process_new_packets().is_err() {
                break;
            }
            // The client takes no more than it has room for.
            let _ = self.client.reader().read_to_end(&mut self.answered);
        }
        !bytes.is_empty() || !answer.is_empty()
    }

    fn settle(&mut self, piece: usize) {
        while self.carry(piece, &mut |_| {}) {}
    }
}

#[test]
fn bytes_in_pieces_of_any_length() {
    let configurations = configurations();
    for piece in [1, 7, 1 << 16] {
        let mut pair = Pair::new(&configurations);
        pair.settle(piece);
        assert!(!pair.server.is_handshaking() && !pair.client.is_handshaking());
        let agreed = pair.server.secured().unwrap();
        assert_eq!((agreed.version, agreed.bits), ("TLSv1.3", 256));
        pair.client.writer().write_all(&[b'q'; 40_000]).unwrap();
        pair.client.refresh_traffic_keys().unwrap();
        pair.client.writer().write_all(b"end").unwrap();
        pair.settle(piece);
        assert_eq!(pair.opened.len(), 40_003);
        assert!(pair.opened.ends_with(b"qend"));
        assert!(pair.server.seal(&[b'a'; 50_000]) && pair.server.seal(b"end"));
        pair.settle(piece);
        assert_eq!(pair.answered.len(), 50_003);
        assert!(pair.answered.ends_with(b"aend"));
        pair.server.close();
        pair.client.send_close_notify();
        pair.settle(piece);
        assert!(pair.server.has_ended() && pair.server.failure.is_none());
        pair.server.release();
        assert_eq!((pair.server.incoming.capacity(), pair.server.outgoing.capacity()), (0, 0));
    }
}

/// Whatever is changed on the way, the connection fails or goes on; nothing panics, and nothing false is opened.
#[test]
fn bytes_that_somebody_changed() {
    let configurations = configurations();
    let mut seed = 0x9E37_79B9_7F4A_7C15u64;
    let mut random = move |bound: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % bound
    };
    let mut failed = 0;
    for round in 0..300 {
        let mut pair = Pair::new(&configurations);
        let mut left = 1 + round % 4;
        let mut change = |bytes: &mut Vec<u8>| {
            if bytes.is_empty() || left == 0 {
                return;
            }
            left -= 1;
            let at = random(bytes.len());
            match random(4) {
                0 => bytes[at] ^= 1 << random(8),
                1 => bytes.insert(at, random(256) as u8),
                2 => drop(bytes.drain(at..)),
                _ => bytes.extend_from_within(at..),
            }
        };
        let _ = pair.client.writer().write_all(b"hello");
        for _ in 0..8 {
            pair.carry(1 + round, &mut change);
        }
        pair.server.seal(b"answer");
        assert!(b"hello".starts_with(&pair.opened), "{:?}", pair.opened);
        failed += usize::from(pair.server.failure.is_some());
    }
    assert!(failed > 50, "{failed}");
}
