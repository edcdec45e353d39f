//! What is read from certificates: names for people and for authentication.

use rustls::pki_types::CertificateDer;
use x509_cert::Certificate;
use x509_cert::attr::AttributeTypeAndValue;
use x509_cert::der::asn1::ObjectIdentifier;
use x509_cert::der::{Decode, Encode, Tag, Tagged};
use x509_cert::name::RdnSequence;

const COMMON_NAME: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.3");

/// Short names of attributes, as OpenSSL has them.
const NAMES: &[(&str, &str)] = &[
    ("2.5.4.3", "CN"),
    ("2.5.4.4", "SN"),
    ("2.5.4.5", "serialNumber"),
    ("2.5.4.6", "C"),
    ("2.5.4.7", "L"),
    ("2.5.4.8", "ST"),
    ("2.5.4.9", "street"),
    ("2.5.4.10", "O"),
    ("2.5.4.11", "OU"),
    ("2.5.4.12", "title"),
    ("2.5.4.13", "description"),
    ("2.5.4.17", "postalCode"),
    ("2.5.4.42", "GN"),
    ("2.5.4.43", "initials"),
    ("2.5.4.44", "generationQualifier"),
    ("2.5.4.45", "x500UniqueIdentifier"),
    ("2.5.4.46", "dnQualifier"),
    ("2.5.4.65", "pseudonym"),
    ("0.9.2342.19200300.100.1.1", "UID"),
    ("0.9.2342.19200300.100.1.25", "DC"),
    ("1.2.840.113549.1.9.1", "emailAddress"),
];

/// Who a client's certificate is of, and who says so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// The subject as `pg_stat_ssl` shows it, `/CN=…`.
    pub subject: String,
    /// The subject by RFC 2253: last part first, with commas.
    pub distinguished: String,
    /// The first common name.
    pub common_name: Option<String>,
    /// The issuer as `pg_stat_ssl` shows it.
    pub issuer: String,
    /// Serial number, decimal.
    pub serial: String,
}

impl Identity {
    /// Reads a certificate. An error says what is wrong with it.
    pub fn of(certificate: &CertificateDer<'_>) -> Result<Identity, String> {
        let certificate = Certificate::from_der(certificate).map_err(|error| error.to_string())?;
        let signed = &certificate.tbs_certificate;
        let attributes = || signed.subject.0.iter().flat_map(|part| part.0.iter());
        let common_name = attributes().find(|attribute| attribute.oid == COMMON_NAME).map(value);
        if common_name.as_ref().is_some_and(|name| name.contains('\0')) {
            return Err("SSL certificate's common name contains embedded null".into());
        }
        let distinguished = distinguished(&signed.subject);
        if distinguished.contains('\0') {
            return Err("SSL certificate's distinguished name contains embedded null".into());
        }
        Ok(Identity {
            subject: slashed(&signed.subject),
            distinguished,
            common_name,
            issuer: slashed(&signed.issuer),
            serial: decimal(signed.serial_number.as_bytes()),
        })
    }
}

/// The encoded public key of a certificate.
pub fn public_key(certificate: &CertificateDer<'_>) -> Option<Vec<u8>> {
    Certificate::from_der(certificate).ok()?.tbs_certificate.subject_public_key_info.to_der().ok()
}

fn name_of(attribute: &AttributeTypeAndValue) -> String {
    let oid = attribute.oid.to_string();
    NAMES.iter().find(|(known, _)| *known == oid).map_or(oid, |(_, name)| (*name).to_string())
}

/// An attribute's text; bytes that are none in hexadecimal.
fn value(attribute: &AttributeTypeAndValue) -> String {
    let bytes = attribute.value.value();
    match attribute.value.tag() {
        Tag::Utf8String | Tag::PrintableString | Tag::Ia5String | Tag::NumericString | Tag::VisibleString => {
            String::from_utf8_lossy(bytes).into_owned()
        }
        Tag::TeletexString => bytes.iter().map(|byte| char::from(*byte)).collect(),
        Tag::BmpString => {
            let units: Vec<u16> =
                bytes.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect();
            String::from_utf16_lossy(&units)
        }
        _ => format!("#{}", bytes.iter().map(|byte| format!("{byte:02X}")).collect::<String>()),
    }
}

/// Escapes by RFC 2253; characters beyond ASCII as bytes in hexadecimal, if that is wanted.
fn escaped(text: &str, ascii: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let last = text.len().saturating_sub(1);
    for (at, c) in text.char_indices() {
        let special = match c {
            ',' | '+' | '"' | '\\' | '<' | '>' | ';' => true,
            '#' => at == 0,
            ' ' => at == 0 || at == last,
            _ => false,
        };
        if special {
            out.push('\\');
            out.push(c);
        } else if c.is_ascii_control() || (ascii && !c.is_ascii()) {
            let mut bytes = [0; 4];
            c.encode_utf8(&mut bytes).bytes().for_each(|byte| out.push_str(&format!("\\{byte:02X}")));
        } else {
            out.push(c);
        }
    }
    out
}

fn slashed(name: &RdnSequence) -> String {
    let attributes = name.0.iter().flat_map(|part| part.0.iter());
    attributes
        .map(|attribute| format!("/{}={}", name_of(attribute), escaped(&value(attribute), false)))
        .collect()
}

fn distinguished(name: &RdnSequence) -> String {
    let attribute = |a: &AttributeTypeAndValue| {
        let value = value(a);
        // A name that nobody knows has its value in the encoded form.
        match NAMES.iter().any(|(oid, _)| *oid == a.oid.to_string()) || value.starts_with('#') {
            true => format!("{}={}", name_of(a), escaped(&value, true)),
            false => {
                let encoded = a.value.to_der().unwrap_or_default();
                format!("{}=#{}", a.oid, encoded.iter().map(|byte| format!("{byte:02X}")).collect::<String>())
            }
        }
    };
    let part = |part: &x509_cert::name::RelativeDistinguishedName| {
        part.0.iter().map(attribute).collect::<Vec<_>>().join("+")
    };
    name.0.iter().rev().map(part).collect::<Vec<_>>().join(",")
}

/// A big-endian number, decimal.
fn decimal(bytes: &[u8]) -> String {
    let mut digits = vec![0u8];
    for byte in bytes {
        let mut carry = u32::from(*byte);
        for digit in &mut digits {
            let value = u32::from(*digit) * 256 + carry;
            *digit = (value % 10) as u8;
            carry = value / 10;
        }
        while carry > 0 {
            digits.push((carry % 10) as u8);
            carry /= 10;
        }
    }
    digits.iter().rev().map(|digit| char::from(b'0' + digit)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serial_numbers_are_decimal() {
        assert_eq!(decimal(&[]), "0");
        assert_eq!(decimal(&[0, 255]), "255");
        assert_eq!(decimal(&[1; 20]), "5731378969925109483151705226338364782964441345");
    }

    #[test]
    fn names_are_escaped() {
        assert_eq!(escaped(" a,b+\"c\" ", true), "\\ a\\,b\\+\\\"c\\\"\\ ");
        assert_eq!(escaped("#é\n#", true), "\\#\\C3\\A9\\0A#");
        assert_eq!(escaped("é", false), "é");
    }
}
