//! From a password to a key (string-to-key), and the ciphers that keys are for.

use base::SqlResult;
use digest::{Digest, DynDigest};

use super::super::cipher::{self, Block};
use super::options::Options;
use super::{corrupt, external};

/// A cipher by its number in messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cipher {
    pub(super) number: u8,
    pub(super) name: &'static str,
    pub(super) key_size: usize,
}

/// The ciphers that there are.
const CIPHERS: [Cipher; 6] = [
    Cipher { number: 2, name: "3des", key_size: 24 },
    Cipher { number: 3, name: "cast5", key_size: 16 },
    Cipher { number: 4, name: "bf", key_size: 16 },
    Cipher { number: 7, name: "aes128", key_size: 16 },
    Cipher { number: 8, name: "aes192", key_size: 24 },
    Cipher { number: 9, name: "aes256", key_size: 32 },
];

impl Cipher {
    pub(super) fn numbered(number: u8) -> Option<Cipher> {
        CIPHERS.into_iter().find(|cipher| cipher.number == number)
    }

    pub(super) fn named(name: &str) -> Option<Cipher> {
        let name = match name {
            "aes" => "aes128",
            "blowfish" => "bf",
            other => other,
        };
        CIPHERS.into_iter().find(|cipher| cipher.name == name)
    }

    /// The cipher with a key of its size.
    pub(super) fn block(self, key: &[u8]) -> SqlResult<Box<dyn Block>> {
        match self.number {
            2 => cipher::triple_des(key),
            3 => cipher::cast5(key),
            4 => Ok(cipher::blowfish(key)),
            _ => cipher::aes(key),
        }
    }
}

/// A hash by its number in messages.
fn hasher(number: u8) -> SqlResult<Box<dyn DynDigest>> {
    Ok(match number {
        1 => Box::new(md5::Md5::new()),
        2 => Box::new(sha1::Sha1::new()),
        8 => Box::new(sha2::Sha256::new()),
        9 => Box::new(sha2::Sha384::new()),
        10 => Box::new(sha2::Sha512::new()),
        _ => return Err(external("Unsupported digest algorithm")),
    })
}

/// The number of a hash.
pub(super) fn digest_number(name: &str) -> Option<u8> {
    Some(match name {
        "md5" => 1,
        "sha1" | "sha-1" => 2,
        "sha256" => 8,
        "sha384" => 9,
        "sha512" => 10,
        _ => return None,
    })
}

/// How a key is made of a password.
pub(super) struct Made {
    pub(super) cipher: Cipher,
    /// 0: hashed; 1: with salt; 3: with salt, many times.
    mode: u8,
    digest: u8,
    salt: [u8; 8],
    count: u8,
}

impl Made {
    /// With new salt.
    pub(super) fn new(options: &Options) -> SqlResult<Made> {
        let mut salt = [0; 8];
        runtime::spawn::fill_random(&mut salt);
        Ok(Made {
            cipher: options.key_cipher(),
            mode: options.s2k_mode,
            digest: options.s2k_digest,
            salt,
            count: options.s2k_count,
        })
    }

    /// What a message's first packet says, and the encrypted key behind it.
    pub(super) fn parse(body: &[u8]) -> SqlResult<(Made, &[u8])> {
        let &[4, cipher, mode, digest, ref rest @ ..] = body else { return Err(corrupt()) };
        let cipher = Cipher::numbered(cipher).ok_or_else(|| external("Unsupported cipher algorithm"))?;
        let mut made = Made { cipher, mode, digest, salt: [0; 8], count: 0 };
        let rest = match mode {
            0 => rest,
            1 | 3 => {
                let (salt, behind) = rest.split_at_checked(8).ok_or_else(corrupt)?;
                made.salt.copy_from_slice(salt);
                behind
            }
            _ => return Err(external("Bad S2K mode")),
        };
        if mode != 3 {
            return Ok((made, rest));
        }
        let (count, behind) = rest.split_first().ok_or_else(corrupt)?;
        made.count = *count;
        Ok((made, behind))
    }

    /// The body of a message's first packet.
    pub(super) fn header(&self) -> Vec<u8> {
        let mut out = vec![4, self.cipher.number, self.mode, self.digest];
        if self.mode != 0 {
            out.extend_from_slice(&self.salt);
        }
        if self.mode == 3 {
            out.push(self.count);
        }
        out
    }

    /// The key. Where one hash is too short others follow, each with one more zero in front.
    pub(super) fn key(&self, password: &[u8]) -> SqlResult<Vec<u8>> {
        let salt: &[u8] = if self.mode == 0 { &[] } else { &self.salt };
        let once = [salt, password].concat();
        let total = match self.mode {
            3 => decoded_count(self.count).max(once.len()),
            _ => once.len(),
        };
        let mut key = Vec::new();
        for zeros in 0.. {
            if key.len() >= self.cipher.key_size {
                break;
            }
            let mut hash = hasher(self.digest)?;
            hash.update(&vec![0; zeros]);
            let (mut left, mut looked) = (total, 0);
            while left > 0 && !once.is_empty() {
                let part = &once[..left.min(once.len())];
                hash.update(part);
                left -= part.len();
                looked += part.len();
                if looked >= super::super::PIECE {
                    looked = 0;
                    runtime::check_piece()?;
                }
            }
            key.extend_from_slice(&hash.finalize());
        }
        key.truncate(self.cipher.key_size);
        Ok(key)
    }
}

/// Bytes to hash, from their form in one byte.
fn decoded_count(count: u8) -> usize {
    (16 + usize::from(count & 15)) << ((count >> 4) + 6)
}

/// The smallest count in one byte that is no smaller.
pub(super) fn encoded_count(bytes: usize) -> u8 {
    (0..=255).find(|count| decoded_count(*count) >= bytes).unwrap_or(255)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_fit_in_a_byte() {
        assert_eq!(decoded_count(0), 1024);
        assert_eq!(decoded_count(255), 65_011_712);
        assert_eq!(encoded_count(1024), 0);
        assert!(decoded_count(encoded_count(100_000)) >= 100_000);
    }
}
