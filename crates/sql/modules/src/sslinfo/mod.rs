//! # What
//! `sslinfo`: how a session's connection is encrypted, and whose certificate its client has shown.
//!
//! # PostgreSQL counterpart and differences
//! `contrib/sslinfo`. Extensions of certificates are not kept: `ssl_extension_info` says so of a client that has shown one.

use base::{SqlError, SqlResult, sql_err};
use session::module::{Module, ModuleFunction, rows};
use session::routine::{Invocation, Returned};
use session::{Encryption, Session};
use tuple::Datum;
use types::value::FromDatum;

use ModuleFunction::Session as F;

/// The extension.
pub static MODULE: Module = Module {
    name: "sslinfo",
    version: "1.2",
    comment: "information about SSL certificates",
    relocatable: true,
    script: include_str!("script.sql"),
    functions: &[
        ("ssl_is_used", F(|session, _| value(Datum::Bool(encryption(session).is_some())))),
        ("ssl_version", F(|session, _| text(encryption(session).map(|of| of.version)))),
        ("ssl_cipher", F(|session, _| text(encryption(session).map(|of| of.cipher)))),
        ("ssl_client_cert_present", F(|session, _| value(Datum::Bool(client(session).is_some())))),
        ("ssl_client_serial", F(serial)),
        ("ssl_client_dn", F(|session, _| text(client(session)))),
        ("ssl_issuer_dn", F(|session, _| text(issuer(session)))),
        ("ssl_client_dn_field", F(|session, call| field(client(session), call))),
        ("ssl_issuer_field", F(|session, call| field(issuer(session), call))),
        ("ssl_extension_info", F(extensions)),
    ],
    ..Module::LIBRARY
};

fn encryption(session: &Session) -> Option<&Encryption> {
    session.backend.encryption.as_deref()
}

fn client(session: &Session) -> Option<&str> {
    encryption(session)?.client_name.as_deref()
}

fn issuer(session: &Session) -> Option<&str> {
    encryption(session)?.issuer_name.as_deref()
}

fn value(value: Datum) -> SqlResult<Returned> {
    Ok(Returned::Value(value))
}

fn text(text: Option<&str>) -> SqlResult<Returned> {
    value(text.map_or(Datum::Null, Datum::text))
}

fn serial(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    let number = encryption(session).and_then(|of| of.client_serial.as_deref());
    match number {
        Some(number) => value(types::input(types::oids::numeric, number, -1, invocation.call)?),
        None => value(Datum::Null),
    }
}

/// Names of a field, the short one as it stands in distinguished names.
const FIELDS: [[&str; 2]; 13] = [
    ["CN", "commonName"],
    ["C", "countryName"],
    ["L", "localityName"],
    ["ST", "stateOrProvinceName"],
    ["O", "organizationName"],
    ["OU", "organizationalUnitName"],
    ["SN", "surname"],
    ["GN", "givenName"],
    ["UID", "userId"],
    ["DC", "domainComponent"],
    ["emailAddress", "emailAddress"],
    ["serialNumber", "serialNumber"],
    ["title", "title"],
];

/// A field of a distinguished name such as `/CN=joe/O=them`.
fn part<'a>(name: &'a str, wanted: &str) -> Option<&'a str> {
    let start = name.find(&format!("/{wanted}="))? + wanted.len() + 2;
    let rest = &name[start..];
    // A slash in a value is not followed by a field.
    let ends = rest.match_indices('/').map(|(at, _)| at);
    let mut ends = ends.filter(|at| {
        FIELDS.iter().any(|[short, _]| {
            rest[at + 1..].strip_prefix(short).is_some_and(|behind| behind.starts_with('='))
        })
    });
    Some(&rest[..ends.next().unwrap_or(rest.len())])
}

fn field(name: Option<&str>, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    let wanted = <&str>::from_datum(&invocation.args[0]);
    let Some(name) = name else { return value(Datum::Null) };
    let Some([short, _]) = FIELDS.iter().find(|names| names.contains(&wanted)) else {
        return Err(sql_err!(INVALID_PARAMETER_VALUE, "invalid X.509 field name: \"{wanted}\""));
    };
    text(part(name, short))
}

fn extensions(session: &Session, invocation: &Invocation<'_>) -> SqlResult<Returned> {
    match client(session) {
        None => rows(session, invocation, []),
        Some(_) => Err(SqlError::not_supported("ssl_extension_info()")),
    }
}

#[cfg(test)]
mod tests {
    use super::part;

    #[test]
    fn fields_of_names() {
        let name = "/C=DE/O=a/b co./CN=joe";
        assert_eq!(part(name, "C"), Some("DE"));
        assert_eq!(part(name, "O"), Some("a/b co."));
        assert_eq!(part(name, "CN"), Some("joe"));
        assert_eq!(part(name, "OU"), None);
    }
}
