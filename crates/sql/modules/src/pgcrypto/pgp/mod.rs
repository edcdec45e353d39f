//! # What
//! OpenPGP messages (RFC 4880) with a password: `pgp_sym_encrypt` and `pgp_sym_decrypt`.
//!
//! # Layout
//! `options`: what the caller may choose. `key`: from a password to a key. `packet`: the packets of a message.
//! A message is a packet with what the key is made of, and one with the encrypted rest: random bytes, the packet with the data, which may be
//! compressed, and a hash of it all.

mod key;
mod options;
mod packet;

use base::calendar::UNIX_MICROS;
use base::{SqlError, SqlResult};
use flate2::Compression;
use flate2::read::{DeflateDecoder, DeflateEncoder, ZlibDecoder, ZlibEncoder};
use sha1::Sha1;
use std::borrow::Cow;
use std::io::Read;
use tuple::Datum;
use types::Call;
use types::encoding::bytes_of;

use super::cipher::{self, Block};
use super::{bytes, external, text};
use options::Options;

/// Tags of packets.
mod tag {
    pub(super) const PUBLIC_KEY_SESSION: u8 = 1;
    pub(super) const SYMMETRIC_SESSION: u8 = 3;
    pub(super) const COMPRESSED: u8 = 8;
    pub(super) const ENCRYPTED: u8 = 9;
    pub(super) const MARKER: u8 = 10;
    pub(super) const LITERAL: u8 = 11;
    pub(super) const PROTECTED: u8 = 18;
    pub(super) const HASH: u8 = 19;
}

/// What a message is that cannot be read.
fn corrupt() -> SqlError {
    external("Wrong key or corrupt data")
}

/// `pgp_sym_encrypt(data, password [, options])`
pub(in super::super) fn encrypt(cx: &Call<'_>, args: &[Datum], is_text: bool) -> SqlResult<Datum> {
    let options = Options::read(args.get(2).map_or("", |_| text(args, 2)))?;
    let made = key::Made::new(&options)?;
    let from_password = made.key(&bytes_of(bytes(args, 1))?)?;
    let data = if is_text { bytes_of(bytes(args, 0))? } else { Cow::Borrowed(bytes(args, 0)) };
    let mut message = Vec::new();
    let mut header = made.header();
    let mut session_key = from_password;
    if options.session_key {
        let mut own = vec![options.cipher.number];
        own.resize(1 + options.cipher.key_size, 0);
        runtime::spawn::fill_random(&mut own[1..]);
        let mut hidden = own.clone();
        cipher::cfb(&*made.cipher.block(&session_key)?, &mut hidden, true)?;
        header.extend_from_slice(&hidden);
        session_key = own.split_off(1);
    }
    packet::push(&mut message, tag::SYMMETRIC_SESSION, &header);
    let block = options.cipher.block(&session_key)?;
    let body = data_packets(cx, &data, is_text, &options)?;
    match options.integrity {
        true => push_protected(&mut message, &*block, &body)?,
        false => push_plain(&mut message, &*block, &body)?,
    }
    Ok(Datum::Bytes(message.into()))
}

/// The packet with the data, maybe in one that compresses it.
fn data_packets(cx: &Call<'_>, data: &[u8], is_text: bool, options: &Options) -> SqlResult<Vec<u8>> {
    let kind = match (is_text, options.unicode) {
        (true, true) => b'u',
        (true, false) => b't',
        (false, _) => b'b',
    };
    let mut literal = vec![kind, 0];
    let seconds = (cx.session.clock() + UNIX_MICROS) / 1_000_000;
    literal.extend_from_slice(&(seconds as u32).to_be_bytes());
    match is_text && options.line_ends {
        true => literal.extend_from_slice(&with_carriage_returns(data)),
        false => literal.extend_from_slice(data),
    }
    let mut packets = Vec::with_capacity(literal.len() + 6);
    packet::push(&mut packets, tag::LITERAL, &literal);
    if options.compression == 0 || options.compression_level == 0 {
        return Ok(packets);
    }
    let level = Compression::new(options.compression_level);
    let mut body = vec![options.compression];
    let squeezed = runtime::blocking(|| match options.compression {
        1 => DeflateEncoder::new(&packets[..], level).read_to_end(&mut body),
        _ => ZlibEncoder::new(&packets[..], level).read_to_end(&mut body),
    });
    squeezed.map_err(|e| SqlError::internal(e.to_string()))?;
    let mut out = Vec::with_capacity(body.len() + 6);
    packet::push(&mut out, tag::COMPRESSED, &body);
    Ok(out)
}

/// Line ends as OpenPGP wants them in texts.
fn with_carriage_returns(data: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(data.len());
    for (i, byte) in data.iter().enumerate() {
        if *byte == b'\n' && (i == 0 || data[i - 1] != b'\r') {
            out.push(b'\r');
        }
        out.push(*byte);
    }
    out
}

/// A block of random bytes whose last two come twice: who has the wrong key sees that.
fn prefix(size: usize) -> Vec<u8> {
    let mut prefix = vec![0; size + 2];
    runtime::spawn::fill_random(&mut prefix[..size]);
    prefix.copy_within(size - 2..size, size);
    prefix
}

/// The encrypted part with a hash at its end.
fn push_protected(message: &mut Vec<u8>, block: &dyn Block, body: &[u8]) -> SqlResult<()> {
    let mut plain = prefix(block.size());
    plain.extend_from_slice(body);
    plain.extend_from_slice(&[0xC0 | tag::HASH, 20]);
    let hash = super::hash::<Sha1>(&[&plain])?;
    plain.extend_from_slice(&hash);
    cipher::cfb(block, &mut plain, true)?;
    plain.insert(0, 1);
    packet::push(message, tag::PROTECTED, &plain);
    Ok(())
}

/// The encrypted part as it was before there were hashes: what follows the prefix starts anew from the prefix's end.
fn push_plain(message: &mut Vec<u8>, block: &dyn Block, body: &[u8]) -> SqlResult<()> {
    let mut start = prefix(block.size());
    cipher::cfb(block, &mut start, true)?;
    let mut rest = body.to_vec();
    cipher::cfb_from(block, start[2..].to_vec(), &mut rest, true)?;
    start.extend_from_slice(&rest);
    packet::push(message, tag::ENCRYPTED, &start);
    Ok(())
}

/// `pgp_sym_decrypt(message, password [, options])`
pub(in super::super) fn decrypt(args: &[Datum], want_text: bool) -> SqlResult<Datum> {
    let options = Options::read(args.get(2).map_or("", |_| text(args, 2)))?;
    let (mut rest, mut keys) = (bytes(args, 0), None);
    while !rest.is_empty() {
        let packet = packet::next(&mut rest)?;
        match packet.tag {
            tag::MARKER => {}
            tag::SYMMETRIC_SESSION => keys = Some(session_key(&packet.body, &bytes_of(bytes(args, 1))?)?),
            tag::PUBLIC_KEY_SESSION => return Err(SqlError::not_supported("OpenPGP with public keys")),
            tag::PROTECTED | tag::ENCRYPTED => {
                let block = keys.ok_or_else(corrupt)?;
                let plain = match packet.tag {
                    tag::PROTECTED => open_protected(&*block, packet.body)?,
                    _ => open_plain(&*block, packet.body)?,
                };
                return literal(&plain, want_text, &options, 0);
            }
            _ => return Err(corrupt()),
        }
    }
    Err(corrupt())
}

/// The cipher that a message's first packet and the password give.
fn session_key(body: &[u8], password: &[u8]) -> SqlResult<Box<dyn Block>> {
    let (made, hidden) = key::Made::parse(body)?;
    let from_password = made.key(password)?;
    if hidden.is_empty() {
        return made.cipher.block(&from_password);
    }
    let mut own = hidden.to_vec();
    cipher::cfb(&*made.cipher.block(&from_password)?, &mut own, false)?;
    let kind = key::Cipher::numbered(own[0]).ok_or_else(corrupt)?;
    match own.len() == 1 + kind.key_size {
        true => kind.block(&own[1..]),
        false => Err(corrupt()),
    }
}

/// Whether the prefix's last two bytes are there twice.
fn check_prefix(plain: &[u8], size: usize) -> SqlResult<()> {
    match plain.len() >= size + 2 && plain[size - 2..size] == plain[size..size + 2] {
        true => Ok(()),
        false => Err(corrupt()),
    }
}

fn open_protected(block: &dyn Block, body: Vec<u8>) -> SqlResult<Vec<u8>> {
    let size = block.size();
    if body.first() != Some(&1) || body.len() < 1 + size + 2 + 22 {
        return Err(corrupt());
    }
    let mut plain = body;
    plain.remove(0);
    cipher::cfb(block, &mut plain, false)?;
    check_prefix(&plain, size)?;
    let end = plain.len() - 22;
    let hash = super::hash::<Sha1>(&[&plain[..end + 2]])?;
    if plain[end..end + 2] != [0xC0 | tag::HASH, 20] || plain[end + 2..] != hash[..] {
        return Err(corrupt());
    }
    Ok(plain[size + 2..end].to_vec())
}

fn open_plain(block: &dyn Block, mut body: Vec<u8>) -> SqlResult<Vec<u8>> {
    let size = block.size();
    if body.len() < size + 2 {
        return Err(corrupt());
    }
    let mut rest = body.split_off(size + 2);
    let iv = body[2..].to_vec();
    cipher::cfb(block, &mut body, false)?;
    check_prefix(&body, size)?;
    cipher::cfb_from(block, iv, &mut rest, false)?;
    Ok(rest)
}

/// The data in the decrypted packets.
fn literal(mut packets: &[u8], want_text: bool, options: &Options, depth: u32) -> SqlResult<Datum> {
    let packet = packet::next(&mut packets)?;
    match packet.tag {
        // Compressed twice is what nobody writes who means well.
        tag::COMPRESSED if depth == 0 => {
            let (kind, squeezed) = packet.body.split_first().ok_or_else(corrupt)?;
            literal(&decompressed(*kind, squeezed)?, want_text, options, 1)
        }
        tag::LITERAL => {
            let body = &packet.body;
            let name = usize::from(*body.get(1).ok_or_else(corrupt)?);
            let data = body.get(2 + name + 4..).ok_or_else(corrupt)?;
            if want_text && !matches!(body[0], b't' | b'u') {
                return Err(external("Not text data"));
            }
            if !want_text {
                return Ok(Datum::Bytes(data.into()));
            }
            let data = if options.line_ends { without_carriage_returns(data) } else { data.to_vec() };
            Ok(Datum::text(&types::encoding::text_of(&data)?))
        }
        _ => Err(corrupt()),
    }
}

fn without_carriage_returns(data: &[u8]) -> Vec<u8> {
    let ends = |i: usize| data[i] == b'\r' && data.get(i + 1) == Some(&b'\n');
    (0..data.len()).filter(|i| !ends(*i)).map(|i| data[i]).collect()
}

fn decompressed(kind: u8, squeezed: &[u8]) -> SqlResult<Vec<u8>> {
    let mut reader: Box<dyn Read> = match kind {
        0 => return Ok(squeezed.to_vec()),
        1 => Box::new(DeflateDecoder::new(squeezed)),
        2 => Box::new(ZlibDecoder::new(squeezed)),
        3 => return Err(external("Unsupported compression algorithm")),
        _ => return Err(corrupt()),
    };
    let (mut out, mut piece) = (Vec::new(), vec![0; super::PIECE]);
    loop {
        // What is small may become big.
        runtime::check_piece()?;
        match reader.read(&mut piece) {
            Ok(0) => return Ok(out),
            Ok(n) => out.extend_from_slice(&piece[..n]),
            Err(_) => return Err(corrupt()),
        }
    }
}

/// `pgp_key_id(message)`
pub(in super::super) fn key_id(mut message: &[u8]) -> SqlResult<Datum> {
    while !message.is_empty() {
        let packet = packet::next(&mut message)?;
        match packet.tag {
            tag::MARKER => {}
            tag::SYMMETRIC_SESSION => return Ok(Datum::text("SYMKEY")),
            tag::PUBLIC_KEY_SESSION => {
                let id = packet.body.get(1..9).ok_or_else(corrupt)?;
                let text: String = id.iter().map(|byte| format!("{byte:02X}")).collect();
                return Ok(Datum::text(if id == [0; 8] { "ANYKEY" } else { &text }));
            }
            2 | 5 | 6 => return Err(SqlError::not_supported("OpenPGP with public keys")),
            _ => break,
        }
    }
    Err(corrupt())
}
