//! Exchanges against the RFC's example and a small client.

use proptest::prelude::*;

use super::*;

const SALT: &str = "W22ZaJ0SNY7soEsUEjb6gQ==";

/// The example of RFC 7677, section 3.
fn rfc_exchange() -> Exchange {
    let verifier = Verifier::new("pencil", &BASE64.decode(SALT).unwrap(), 4096);
    let mut exchange = Exchange::new(verifier, [0; NONCE_LENGTH], None);
    exchange.server_nonce = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0".into();
    exchange
}

#[test]
fn the_example_of_the_rfc() {
    let mut exchange = rfc_exchange();
    assert_eq!(
        exchange.first(b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO").unwrap(),
        format!("r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s={SALT},i=4096")
    );
    let last = b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,\
        p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";
    assert_eq!(
        exchange.last(last).unwrap(),
        Outcome::Authenticated("v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=".into())
    );
}

#[test]
fn the_verifier_that_postgresql_stores() {
    let text = "SCRAM-SHA-256$4096:AAECAwQFBgcICQoLDA0ODw==$";
    let made = Verifier::new("secret", &(0..16).collect::<Vec<u8>>(), 4096).to_string();
    assert!(made.starts_with(text), "{made}");
    let parsed = Verifier::parse(&made).unwrap();
    assert_eq!(parsed.to_string(), made);
    assert!(parsed.matches("secret"));
    assert!(!parsed.matches("Secret"));
    for bad in
        ["", "md5abc", "SCRAM-SHA-256$0:AAAA$AAAA:AAAA", "SCRAM-SHA-256$4096:AAAA$AAAA:AAAA", &made[..60]]
    {
        assert_eq!(Verifier::parse(bad), None, "{bad}");
    }
}

#[test]
fn passwords_are_prepared() {
    // SASLprep maps U+00AA to "a" and drops soft hyphens; what it forbids is taken as it is.
    let verifier = Verifier::new("\u{AA}b\u{AD}", b"salt", 1);
    assert!(verifier.matches("ab"));
    assert!(Verifier::new("\u{7}", b"salt", 1).matches("\u{7}"));
}

fn detail(result: SqlResult<impl std::fmt::Debug>) -> String {
    let error = result.unwrap_err();
    let report = error.report();
    assert_eq!(report.severity, base::Severity::Fatal);
    format!("{} {}: {}", report.code, report.message, report.detail.as_deref().unwrap_or(""))
}

#[test]
fn malformed_first_messages() {
    let cases: [(&[u8], &str); 9] = [
        (b"", "08P01 malformed SCRAM message: The message is empty."),
        (b"n,,n=\0", "08P01 malformed SCRAM message: Message length does not match input length."),
        (b"x,,n=,r=a", "08P01 malformed SCRAM message: Unexpected channel-binding flag \"x\"."),
        (b"nn", "08P01 malformed SCRAM message: Comma expected, but found character \"n\"."),
        (b"n,a=me,n=,r=a", "0A000 client uses authorization identity, but it is not supported: "),
        (b"n,b,n=,r=a", "08P01 malformed SCRAM message: Unexpected attribute \"b\" in client-first-message."),
        (b"n,,m=1,n=,r=a", "0A000 client requires an unsupported SCRAM extension: "),
        (b"n,,r=a", "08P01 malformed SCRAM message: Expected attribute \"n\" but found \"r\"."),
        (b"n,,n=,r=\x01", "08P01 non-printable characters in SCRAM nonce: "),
    ];
    for (message, expected) in cases {
        assert_eq!(detail(rfc_exchange().first(message)), expected);
    }
}

#[test]
fn malformed_last_messages() {
    let nonce = "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
    let cases = [
        (
            format!("c=eSws,r={nonce},p=AAAA"),
            "08P01 unexpected SCRAM channel-binding attribute in client-final-message: ",
        ),
        (format!("c=biws,r={nonce}x,p=AAAA"), "08P01 invalid SCRAM response: Nonce does not match."),
        (
            format!("c=biws,r={nonce},p=AAAA"),
            "08P01 malformed SCRAM message: Malformed proof in client-final-message.",
        ),
        (
            format!("c=biws,r={nonce},p={},x=1", BASE64.encode([0; 32])),
            "08P01 malformed SCRAM message: Garbage found at the end of client-final-message.",
        ),
    ];
    for (message, expected) in cases {
        let mut exchange = rfc_exchange();
        exchange.first(b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO").unwrap();
        assert_eq!(detail(exchange.last(message.as_bytes())), expected);
    }
}

/// A client's last message for this password.
fn client_last(password: &str, first_bare: &str, server_first: &str, header: &str, extra: &str) -> String {
    let mut fields = server_first;
    let nonce = attribute(&mut fields, 'r').unwrap();
    let salt = BASE64.decode(attribute(&mut fields, 's').unwrap()).unwrap();
    let iterations: u32 = attribute(&mut fields, 'i').unwrap().parse().unwrap();
    let mut salted = [0; 32];
    pbkdf2::pbkdf2_hmac::<Sha256>(prepared(password).as_bytes(), &salt, iterations, &mut salted);
    let client_key = hmac(&salted, &[b"Client Key"]);
    let without_proof = format!("c={},r={nonce}{extra}", BASE64.encode(header));
    let said = format!("{first_bare},{server_first},{without_proof}");
    let signature = hmac(&Sha256::digest(client_key), &[said.as_bytes()]);
    let proof: Vec<u8> = client_key.iter().zip(signature).map(|(a, b)| a ^ b).collect();
    format!("{without_proof},p={}", BASE64.encode(proof))
}

fn exchange(verifier: Verifier, password: &str, header: &str, extra: &str) -> Outcome {
    let mut exchange = Exchange::new(verifier, [7; NONCE_LENGTH], None);
    let bare = "n=,r=abcdef";
    let first = exchange.first(format!("{header}{bare}").as_bytes()).unwrap();
    exchange.last(client_last(password, bare, &first, header, extra).as_bytes()).unwrap()
}

#[test]
fn mock_verifiers_refuse_and_repeat_themselves() {
    let mock = |user| Verifier::mock(user, b"secret of the installation", 4096);
    assert_eq!(mock("nobody"), mock("nobody"));
    assert_ne!(mock("nobody").salt, mock("somebody").salt);
    assert_eq!(exchange(mock("nobody"), "", "n,,", ""), Outcome::Refused);
    // Even the proof that fits its keys is refused.
    let mut exchange = Exchange::new(mock("nobody"), [0; NONCE_LENGTH], None);
    exchange.verifier.stored_key = Sha256::digest([0; 32]).into();
    assert_eq!(exchange.check(&hmac(&exchange.verifier.stored_key, &[b",,"]), ""), Outcome::Refused);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_right_password_and_no_other(password in "\\PC{0,20}", other in "\\PC{0,20}", supports in any::<bool>()) {
        let verifier = Verifier::new(&password, b"0123456789abcdef", 2);
        let header = if supports { "y,," } else { "n,," };
        let right = exchange(verifier.clone(), &password, header, ",x=ignored");
        prop_assert!(matches!(right, Outcome::Authenticated(_)));
        if prepared(&password) != prepared(&other) {
            prop_assert_eq!(exchange(verifier, &other, header, ""), Outcome::Refused);
        }
    }

    #[test]
    fn no_message_panics(first in "[nyp,a=rmnb]{0,12}", last in "[cprbiws,=]{0,20}", bytes in any::<Vec<u8>>()) {
        let mut exchange = rfc_exchange();
        let _ = exchange.first(&bytes);
        let _ = exchange.first(first.as_bytes());
        let _ = exchange.last(last.as_bytes());
        let _ = exchange.last(&bytes);
        let _ = Verifier::parse(&last);
    }
}

/// An exchange that offers binding to an endpoint, with the mechanism chosen.
fn bound(mechanism: &str) -> Exchange {
    let verifier = Verifier::new("pencil", &BASE64.decode(SALT).unwrap(), 4096);
    let mut exchange = Exchange::new(verifier, [0; NONCE_LENGTH], Some(b"hash".to_vec()));
    assert_eq!(exchange.mechanisms(), [BINDING_MECHANISM, MECHANISM]);
    exchange.choose(mechanism).unwrap();
    exchange
}

#[test]
fn binding_to_the_connection() {
    let mut exchange = bound(BINDING_MECHANISM);
    exchange.first(b"p=tls-server-end-point,,n=,r=abc").unwrap();
    let repeated = BASE64.encode(b"p=tls-server-end-point,,hash");
    let said =
        |header: &str| format!("c={header},r={},p={}", exchange.nonce, BASE64.encode([0; 32])).into_bytes();
    let (right, wrong) = (said(&repeated), said(&BASE64.encode(b"p=tls-server-end-point,,other")));
    assert_eq!(exchange.last(&right).unwrap(), Outcome::Refused, "the proof is still asked for");
    assert_eq!(detail(exchange.last(&wrong)), "28000 SCRAM channel binding check failed: ");
    let first = |mechanism, message: &[u8]| detail(bound(mechanism).first(message));
    assert!(first(MECHANISM, b"y,,n=,r=abc").starts_with("28000 SCRAM channel binding negotiation error"));
    assert!(first(MECHANISM, b"p=tls-server-end-point,,n=,r=abc").contains("without channel binding"));
    assert!(first(BINDING_MECHANISM, b"n,,n=,r=abc").contains("does not include channel binding data"));
    assert!(
        first(BINDING_MECHANISM, b"p=tls-unique,,n=,r=abc")
            .contains("unsupported SCRAM channel-binding type")
    );
    assert!(bound(MECHANISM).first(b"n,,n=,r=abc").is_ok(), "a client that knows no binding");
    let plain = &mut rfc_exchange();
    assert_eq!(plain.mechanisms(), [MECHANISM]);
    assert!(detail(plain.choose(BINDING_MECHANISM)).contains("invalid SASL authentication mechanism"));
}
