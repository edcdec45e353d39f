//! `crypt` over SHA-256 and SHA-512, and over MD5: many rounds of a hash, in an order that the password's length decides.

use base::SqlResult;
use digest::Digest;
use sha2::{Sha256, Sha512};

const DIGITS: &[u8; 64] = b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Rounds between two looks for interrupts.
const LOOK: u32 = 512;

/// Three bytes as four characters, fewer for fewer; the lowest six bits first.
fn push(out: &mut String, bytes: [u8; 3], count: usize) {
    let mut word = u32::from(bytes[0]) << 16 | u32::from(bytes[1]) << 8 | u32::from(bytes[2]);
    for _ in 0..count {
        out.push(char::from(DIGITS[(word & 0x3F) as usize]));
        word >>= 6;
    }
}

/// `length` bytes of a block that repeats.
fn repeated(block: &[u8], length: usize) -> Vec<u8> {
    block.iter().copied().cycle().take(length).collect()
}

/// The hash of the first of SHA-crypt's steps, which the rounds start from, with the sequences of password and salt.
fn start<H: Digest>(password: &[u8], salt: &[u8]) -> (Vec<u8>, Vec<u8>, Vec<u8>) {
    let size = <H as Digest>::output_size();
    let alternate = H::new().chain_update(password).chain_update(salt).chain_update(password).finalize();
    let mut first = H::new().chain_update(password).chain_update(salt);
    first.update(repeated(&alternate, password.len()));
    let mut bits = password.len();
    while bits > 0 {
        match bits & 1 {
            1 => first.update(&alternate),
            _ => first.update(password),
        }
        bits >>= 1;
    }
    let first = first.finalize().to_vec();
    let mut of_password = H::new();
    (0..password.len()).for_each(|_| of_password.update(password));
    let of_password = repeated(&of_password.finalize(), password.len());
    let mut of_salt = H::new();
    (0..16 + usize::from(first[0])).for_each(|_| of_salt.update(salt));
    let of_salt = repeated(&of_salt.finalize(), salt.len());
    debug_assert_eq!(first.len(), size);
    (first, of_password, of_salt)
}

/// The rounds.
fn stretch<H: Digest>(password: &[u8], salt: &[u8], rounds: u32) -> SqlResult<Vec<u8>> {
    let (mut last, password, salt) = start::<H>(password, salt);
    for round in 0..rounds {
        if round > 0 && round % LOOK == 0 {
            runtime::check_interrupts()?;
        }
        let odd = round % 2 == 1;
        let mut hash = H::new();
        hash.update(if odd { &password } else { &last });
        if round % 3 != 0 {
            hash.update(&salt);
        }
        if round % 7 != 0 {
            hash.update(&password);
        }
        hash.update(if odd { &last } else { &password });
        last = hash.finalize().to_vec();
    }
    Ok(last)
}

/// SHA-256: the hash's 43 characters.
pub(super) fn sha256(password: &[u8], salt: &[u8], rounds: u32) -> SqlResult<String> {
    let hash = stretch::<Sha256>(password, salt, rounds)?;
    let mut out = String::with_capacity(43);
    let (mut a, mut b, mut c) = (0, 10, 20);
    for _ in 0..10 {
        push(&mut out, [hash[a], hash[b], hash[c]], 4);
        (a, b, c) = (c + 1, a + 1, b + 1);
    }
    push(&mut out, [0, hash[31], hash[30]], 3);
    Ok(out)
}

/// SHA-512: the hash's 86 characters.
pub(super) fn sha512(password: &[u8], salt: &[u8], rounds: u32) -> SqlResult<String> {
    let hash = stretch::<Sha512>(password, salt, rounds)?;
    let mut out = String::with_capacity(86);
    let (mut a, mut b, mut c) = (0, 21, 42);
    for _ in 0..21 {
        push(&mut out, [hash[a], hash[b], hash[c]], 4);
        (a, b, c) = (b + 1, c + 1, a + 1);
    }
    push(&mut out, [0, 0, hash[63]], 2);
    Ok(out)
}

/// MD5: the hash's 22 characters.
pub(super) fn md5(password: &[u8], salt: &[u8]) -> SqlResult<String> {
    use md5::Md5;
    let alternate = Md5::new().chain_update(password).chain_update(salt).chain_update(password).finalize();
    let mut first = Md5::new().chain_update(password).chain_update(b"$1$").chain_update(salt);
    first.update(repeated(&alternate, password.len()));
    let mut bits = password.len();
    while bits > 0 {
        match bits & 1 {
            1 => first.update([0]),
            _ => first.update(&password[..1]),
        }
        bits >>= 1;
    }
    let mut last = first.finalize();
    for round in 0..1000 {
        if round == LOOK {
            runtime::check_interrupts()?;
        }
        let odd = round % 2 == 1;
        let mut hash = Md5::new();
        hash.update(if odd { password } else { &last[..] });
        if round % 3 != 0 {
            hash.update(salt);
        }
        if round % 7 != 0 {
            hash.update(password);
        }
        hash.update(if odd { &last[..] } else { password });
        last = hash.finalize();
    }
    let mut out = String::with_capacity(22);
    for [a, b, c] in [[0, 6, 12], [1, 7, 13], [2, 8, 14], [3, 9, 15], [4, 10, 5]] {
        push(&mut out, [last[a], last[b], last[c]], 4);
    }
    push(&mut out, [0, 0, last[11]], 2);
    Ok(out)
}
