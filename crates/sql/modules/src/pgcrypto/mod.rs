//! # What
//! `pgcrypto`: hashes, ciphers, passwords, random bytes, OpenPGP messages with a password.
//!
//! # Layout
//! `cipher`: `encrypt` and `decrypt`. `crypt`: hashed passwords, with `des` and `sha_crypt` for two families of them. `armor`: messages as text. `pgp`: messages.
//!
//! # PostgreSQL counterpart and differences
//! `contrib/pgcrypto`. Algorithms come from libraries in Rust instead of OpenSSL: MD5, SHA-1, SHA-2 and SHA-3 among hashes. There are no public
//! keys yet.

mod armor;
mod cipher;
mod crypt;
mod des;
mod pgp;
mod sha_crypt;

use std::borrow::Cow;

use base::{SqlError, SqlResult, SqlState, sql_err};
use digest::Digest;
use hmac::{Mac, SimpleHmac};
use session::module::{Module, ModuleFunction};
use tuple::Datum;
use types::Call;
use types::value::FromDatum;

use ModuleFunction::{Session, Value};

/// The extension.
pub static MODULE: Module = Module {
    name: "pgcrypto",
    version: "1.4",
    comment: "cryptographic functions",
    schema: None,
    relocatable: true,
    trusted: true,
    requires: &[],
    script: include_str!("script.sql"),
    functions: &[
        ("pg_digest", Value(|cx, args| digest_of(&octets(cx, args, 0)?, text(args, 1)))),
        ("pg_hmac", Value(|cx, args| hmac_of(&octets(cx, args, 0)?, &octets(cx, args, 1)?, text(args, 2)))),
        ("pg_crypt", Session(crypt::crypt)),
        ("pg_gen_salt", Value(|_, args| crypt::gen_salt(text(args, 0), 0))),
        ("pg_gen_salt_rounds", Value(|_, args| crypt::gen_salt(text(args, 0), i32::from_datum(&args[1])))),
        ("pg_encrypt", Value(|_, args| cipher::run(args, true, false))),
        ("pg_decrypt", Value(|_, args| cipher::run(args, false, false))),
        ("pg_encrypt_iv", Value(|_, args| cipher::run(args, true, true))),
        ("pg_decrypt_iv", Value(|_, args| cipher::run(args, false, true))),
        ("pg_random_bytes", Value(|_, args| random_bytes(i32::from_datum(&args[0])))),
        ("pg_random_uuid", Value(|_, _| Ok(random_uuid()))),
        ("pg_armor", Value(armor::armor)),
        ("pg_dearmor", Value(armor::dearmor)),
        ("pgp_armor_headers", Session(armor::headers)),
        ("pg_check_fipsmode", Value(|_, _| Ok(Datum::Bool(false)))),
        ("pgp_sym_encrypt_text", Value(|cx, args| pgp::encrypt(cx, args, true))),
        ("pgp_sym_encrypt_bytea", Value(|cx, args| pgp::encrypt(cx, args, false))),
        ("pgp_sym_decrypt_text", Value(|_, args| pgp::decrypt(args, true))),
        ("pgp_sym_decrypt_bytea", Value(|_, args| pgp::decrypt(args, false))),
        ("pgp_pub_encrypt_text", Value(no_public_keys)),
        ("pgp_pub_encrypt_bytea", Value(no_public_keys)),
        ("pgp_pub_decrypt_text", Value(no_public_keys)),
        ("pgp_pub_decrypt_bytea", Value(no_public_keys)),
        ("pgp_key_id_w", Value(|_, args| pgp::key_id(bytes(args, 0)))),
    ],
    ..Module::LIBRARY
};

/// Bytes worked on between two looks for interrupts.
const PIECE: usize = 64 << 10;

fn bytes(args: &[Datum], i: usize) -> &[u8] {
    <&[u8]>::from_datum(&args[i])
}

/// The bytes of a `bytea`, or those that a text is in its database.
fn octets<'a>(cx: &Call<'_>, args: &'a [Datum], i: usize) -> SqlResult<Cow<'a, [u8]>> {
    match cx.arg_type(i) {
        types::oids::text => types::encoding::bytes_of(bytes(args, i)),
        _ => Ok(Cow::Borrowed(bytes(args, i))),
    }
}

fn text(args: &[Datum], i: usize) -> &str {
    <&str>::from_datum(&args[i])
}

fn no_public_keys(_: &Call<'_>, _: &[Datum]) -> SqlResult<Datum> {
    Err(SqlError::not_supported("OpenPGP with public keys"))
}

/// An error of the outside routines, as messages and ciphers raise it.
fn external(message: impl Into<String>) -> SqlError {
    SqlError::new(SqlState::EXTERNAL_ROUTINE_INVOCATION_EXCEPTION, message.into())
}

/// The hash of all parts.
pub(crate) fn hash<H: Digest>(parts: &[&[u8]]) -> SqlResult<Vec<u8>> {
    let mut hasher = H::new();
    for part in parts {
        in_pieces(part, |piece| hasher.update(piece))?;
    }
    Ok(hasher.finalize().to_vec())
}

/// Works on bytes in pieces, with a look for interrupts behind each but the last.
fn in_pieces(bytes: &[u8], mut work: impl FnMut(&[u8])) -> SqlResult<()> {
    for (i, piece) in bytes.chunks(PIECE).enumerate() {
        if i > 0 {
            runtime::check_piece()?;
        }
        work(piece);
    }
    Ok(())
}

fn keyed<H: Digest + digest::core_api::BlockSizeUser>(data: &[u8], key: &[u8]) -> SqlResult<Vec<u8>> {
    let mut mac = SimpleHmac::<H>::new_from_slice(key).map_err(|e| SqlError::internal(e.to_string()))?;
    in_pieces(data, |piece| mac.update(piece))?;
    Ok(mac.finalize().into_bytes().to_vec())
}

/// Picks a hash by its name and calls a generic function with it.
macro_rules! with_hash {
    ($name:expr, $call:ident($($arg:expr),*)) => {
        match $name.to_ascii_lowercase().as_str() {
            "md5" => $call::<md5::Md5>($($arg),*),
            "sha1" | "sha-1" => $call::<sha1::Sha1>($($arg),*),
            "sha224" | "sha-224" | "sha2-224" => $call::<sha2::Sha224>($($arg),*),
            "sha256" | "sha-256" | "sha2-256" => $call::<sha2::Sha256>($($arg),*),
            "sha384" | "sha-384" | "sha2-384" => $call::<sha2::Sha384>($($arg),*),
            "sha512" | "sha-512" | "sha2-512" => $call::<sha2::Sha512>($($arg),*),
            "sha512-224" | "sha-512/224" | "sha2-512/224" => $call::<sha2::Sha512_224>($($arg),*),
            "sha512-256" | "sha-512/256" | "sha2-512/256" => $call::<sha2::Sha512_256>($($arg),*),
            "sha3-224" => $call::<sha3::Sha3_224>($($arg),*),
            "sha3-256" => $call::<sha3::Sha3_256>($($arg),*),
            "sha3-384" => $call::<sha3::Sha3_384>($($arg),*),
            "sha3-512" => $call::<sha3::Sha3_512>($($arg),*),
            _ => Err(sql_err!(INVALID_PARAMETER_VALUE, "Cannot use \"{}\": No such hash algorithm", $name)),
        }
    };
}

fn digest_of(data: &[u8], name: &str) -> SqlResult<Datum> {
    let parts = [data];
    Ok(Datum::Bytes(with_hash!(name, hash(&parts))?.into()))
}

fn hmac_of(data: &[u8], key: &[u8], name: &str) -> SqlResult<Datum> {
    Ok(Datum::Bytes(with_hash!(name, keyed(data, key))?.into()))
}

fn random_bytes(count: i32) -> SqlResult<Datum> {
    if !(1..=1024).contains(&count) {
        return Err(external("Length not in range"));
    }
    let mut out = vec![0; count as usize];
    runtime::spawn::fill_random(&mut out);
    Ok(Datum::Bytes(out.into()))
}

fn random_uuid() -> Datum {
    let mut bytes = [0; 16];
    runtime::spawn::fill_random(&mut bytes);
    bytes[6] = bytes[6] & 0x0F | 0x40;
    bytes[8] = bytes[8] & 0x3F | 0x80;
    Datum::Bytes(bytes[..].into())
}
