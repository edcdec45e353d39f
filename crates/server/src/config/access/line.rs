//! One line of `pg_hba.conf`, taken apart.
//!
//! # PostgreSQL counterpart
//! `parse_hba_line`, `parse_hba_auth_opt` (`hba.c`).

use std::net::IpAddr;

use base::SqlError;

use super::file::{Line, Word};
use super::{Address, ClientCert, ClientName, Kind, Method, Rule};

type Failure = (String, Option<&'static str>);

fn failure(message: impl Into<String>) -> Failure {
    (message.into(), None)
}

/// The rule of a line, and what is odd about it; the error is for the log.
pub(super) fn rule(line: &Line, tls: bool) -> Result<(Rule, Option<SqlError>), SqlError> {
    let fields = line.fields.as_ref().map_err(Clone::clone)?;
    let mut oddity = None;
    let rule = parse(line, fields, tls, &mut oddity).map_err(|(message, hint)| line.flaw(message, hint))?;
    Ok((rule, oddity.map(|(message, hint)| line.flaw(message, hint))))
}

type Fields<'a> = std::slice::Iter<'a, Vec<Word>>;

/// The one word of a field.
fn single<'a>(field: &'a [Word], what: &str, hint: &'static str) -> Result<&'a Word, Failure> {
    match field {
        [word] => Ok(word),
        _ => Err((format!("multiple values specified for {what}"), Some(hint))),
    }
}

fn parse(
    line: &Line,
    fields: &[Vec<Word>],
    tls: bool,
    oddity: &mut Option<Failure>,
) -> Result<Rule, Failure> {
    let mut fields = fields.iter();
    let first = fields.next().map_or(&[][..], Vec::as_slice);
    let word = single(first, "connection type", "Specify exactly one connection type per line.")?;
    let kind = kind(&word.text, tls, oddity)?;
    let databases = names(fields.next(), "database")?;
    let users = names(fields.next(), "role")?;
    let address = if kind == Kind::Local { Address::All } else { address(&mut fields)? };
    let field = fields.next().ok_or_else(|| failure("end-of-line before authentication method"))?;
    let word = single(field, "authentication type", "Specify exactly one authentication type per line.")?;
    let mut rule = Rule {
        kind,
        databases,
        users,
        address,
        method: method(&word.text, kind)?,
        map: None,
        client_cert: None,
        client_name: ClientName::Common,
        file: line.file.clone(),
        line: line.number,
        text: line.text.clone(),
    };
    for word in fields.flatten() {
        let Some((name, value)) = word.text.split_once('=') else {
            return Err(failure(format!("authentication option not in name=value format: {}", word.text)));
        };
        option(&mut rule, name, value)?;
    }
    if rule.method == Method::Cert {
        rule.client_cert = Some(ClientCert::VerifyFull);
    }
    Ok(rule)
}

fn kind(word: &str, tls: bool, oddity: &mut Option<Failure>) -> Result<Kind, Failure> {
    Ok(match word {
        "local" => Kind::Local,
        "host" => Kind::Host,
        "hostssl" => {
            if !tls {
                let message = "hostssl record cannot match because SSL is disabled";
                *oddity = Some((message.into(), Some("Set \"ssl = on\" in postgresql.conf.")));
            }
            Kind::HostSsl
        }
        "hostnossl" => Kind::HostNoSsl,
        "hostgssenc" => {
            let message = "hostgssenc record cannot match because GSSAPI is not supported by this build";
            *oddity = Some(failure(message));
            Kind::HostGss
        }
        "hostnogssenc" => Kind::HostNoGss,
        other => return Err(failure(format!("invalid connection type \"{other}\""))),
    })
}

fn names(field: Option<&Vec<Word>>, what: &str) -> Result<Vec<Word>, Failure> {
    let field = field.ok_or_else(|| failure(format!("end-of-line before {what} specification")))?;
    field.iter().try_for_each(Word::check).map_err(failure)?;
    Ok(field.clone())
}

fn address(fields: &mut Fields<'_>) -> Result<Address, Failure> {
    let field = fields.next().ok_or_else(|| failure("end-of-line before IP address specification"))?;
    let word = single(field, "host address", "Specify one address range per line.")?;
    if word.is("all") {
        return Ok(Address::All);
    }
    if word.is("samehost") {
        return Ok(Address::SameHost);
    }
    if word.is("samenet") {
        return Ok(Address::SameNet);
    }
    let (text, bits) = match word.text.split_once('/') {
        Some((text, bits)) => (text, Some(bits)),
        None => (word.text.as_str(), None),
    };
    let Ok(network) = text.parse::<IpAddr>() else {
        return match bits {
            None => Ok(Address::Host(word.text.clone())),
            Some(_) => {
                let text = &word.text;
                Err(failure(format!("specifying both host name and CIDR mask is invalid: \"{text}\"")))
            }
        };
    };
    let mask = match bits {
        Some(bits) => bits
            .parse()
            .ok()
            .and_then(|bits| super::address::mask(network, bits))
            .ok_or_else(|| failure(format!("invalid CIDR mask in address \"{}\"", word.text)))?,
        None => netmask(fields, network)?,
    };
    Ok(Address::Network(network, mask))
}

fn netmask(fields: &mut Fields<'_>, network: IpAddr) -> Result<IpAddr, Failure> {
    let field = fields.next().ok_or((
        "end-of-line before netmask specification".into(),
        Some("Specify an address range in CIDR notation, or provide a separate netmask."),
    ))?;
    let [word] = field.as_slice() else {
        return Err(failure("multiple values specified for netmask"));
    };
    let mask: IpAddr = word
        .text
        .parse()
        .map_err(|_| failure(format!("invalid IP mask \"{}\": Name or service not known", word.text)))?;
    if mask.is_ipv4() != network.is_ipv4() {
        return Err(failure("IP address and mask do not match"));
    }
    Ok(mask)
}

fn method(name: &str, kind: Kind) -> Result<Method, Failure> {
    Ok(match name {
        "trust" => Method::Trust,
        "reject" => Method::Reject,
        "scram-sha-256" => Method::Scram,
        "md5" => Method::Md5,
        "password" => Method::Password,
        // Over a Unix socket there is no server to ask, and none is needed.
        "peer" | "ident" if kind == Kind::Local => Method::Peer,
        "peer" => return Err(failure("peer authentication is only supported on local sockets")),
        "ident" => Method::Ident,
        "cert" if kind == Kind::HostSsl => Method::Cert,
        "cert" => return Err(failure("cert authentication is only supported on hostssl connections")),
        "gss" | "sspi" | "pam" | "bsd" | "ldap" | "radius" | "oauth" => {
            let message = format!("invalid authentication method \"{name}\": not supported by this build");
            return Err(failure(message));
        }
        other => return Err(failure(format!("invalid authentication method \"{other}\""))),
    })
}

/// Options of methods that there are not, with the methods that they are for.
const FOREIGN_OPTIONS: &[(&[&str], &str)] = &[
    (&["pamservice", "pam_use_hostname"], "pam"),
    (
        &[
            "ldapurl",
            "ldaptls",
            "ldapscheme",
            "ldapserver",
            "ldapport",
            "ldapbinddn",
            "ldapbindpasswd",
            "ldapsearchattribute",
            "ldapsearchfilter",
            "ldapbasedn",
            "ldapprefix",
            "ldapsuffix",
        ],
        "ldap",
    ),
    (&["krb_realm", "include_realm"], "gssapi and sspi"),
    (&["compat_realm", "upn_username"], "sspi"),
    (&["radiusservers", "radiusports", "radiussecrets", "radiusidentifiers"], "radius"),
    (&["issuer", "scope", "validator", "delegate_ident_mapping"], "oauth"),
];

fn option(rule: &mut Rule, name: &str, value: &str) -> Result<(), Failure> {
    let tls_only = || failure(format!("{name} can only be configured for \"hostssl\" rows"));
    let invalid = || failure(format!("invalid value for {name}: \"{value}\""));
    let not_here = |methods: &str| {
        failure(format!(
            "authentication option \"{name}\" is only valid for authentication methods {methods}"
        ))
    };
    match name {
        "map" if !matches!(rule.method, Method::Ident | Method::Peer | Method::Cert) => {
            return Err(not_here("ident, peer, gssapi, sspi, cert, and oauth"));
        }
        "map" => rule.map = Some(value.into()),
        "clientcert" | "clientname" if rule.kind != Kind::HostSsl => return Err(tls_only()),
        "clientcert" => match value {
            "verify-full" => rule.client_cert = Some(ClientCert::VerifyFull),
            "verify-ca" if rule.method == Method::Cert => {
                return Err(failure(
                    "clientcert only accepts \"verify-full\" when using \"cert\" authentication",
                ));
            }
            "verify-ca" => rule.client_cert = Some(ClientCert::VerifyCa),
            _ => return Err(invalid()),
        },
        "clientname" => match value {
            "CN" => rule.client_name = ClientName::Common,
            "DN" => rule.client_name = ClientName::Distinguished,
            _ => return Err(invalid()),
        },
        _ => match FOREIGN_OPTIONS.iter().find(|(names, _)| names.contains(&name)) {
            Some((_, methods)) => return Err(not_here(methods)),
            None => return Err(failure(format!("unrecognized authentication option name: \"{name}\""))),
        },
    }
    Ok(())
}
