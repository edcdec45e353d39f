//! `encrypt` and `decrypt`: block ciphers in the modes CBC, CFB and ECB.

use aes::cipher::generic_array::GenericArray;
use aes::cipher::{BlockDecrypt, BlockEncrypt, BlockSizeUser, KeyInit};
use base::{SqlError, SqlResult, sql_err};
use blowfish::Blowfish;
use tuple::Datum;

use super::{PIECE, bytes, external, text};

/// A block cipher with its key.
pub(super) trait Block {
    /// Bytes of a block.
    fn size(&self) -> usize;
    /// Encrypts one block in place.
    fn encrypt(&self, block: &mut [u8]);
    /// Decrypts one block in place.
    fn decrypt(&self, block: &mut [u8]);
}

impl<C: BlockEncrypt + BlockDecrypt + BlockSizeUser> Block for C {
    fn size(&self) -> usize {
        C::block_size()
    }

    fn encrypt(&self, block: &mut [u8]) {
        self.encrypt_block(GenericArray::from_mut_slice(block));
    }

    fn decrypt(&self, block: &mut [u8]) {
        self.decrypt_block(GenericArray::from_mut_slice(block));
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Cbc,
    Cfb,
    Ecb,
}

/// The ciphers by their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Aes,
    Blowfish,
    Cast5,
    Des,
    TripleDes,
}

/// A cipher's name taken apart: `aes-cbc/pad:pkcs`.
fn parse(name: &str) -> SqlResult<(Kind, Mode, bool)> {
    let unknown = || sql_err!(INVALID_PARAMETER_VALUE, "Cannot use \"{name}\": No such cipher algorithm");
    let lower = name.to_ascii_lowercase();
    let mut parts = lower.split('/');
    let cipher = parts.next().unwrap_or_default();
    let mut padded = true;
    for part in parts.filter(|part| !part.is_empty()) {
        match part.split_once(':') {
            Some(("pad", "pkcs")) => padded = true,
            Some(("pad", "none")) => padded = false,
            Some(("pad", _)) => return Err(unknown()),
            Some(_) => {
                return Err(sql_err!(INVALID_PARAMETER_VALUE, "Cannot use \"{name}\": Unknown option"));
            }
            None => return Err(sql_err!(INVALID_PARAMETER_VALUE, "Cannot use \"{name}\": Bad option")),
        }
    }
    let (cipher, mode) = match cipher.rsplit_once('-') {
        Some((cipher, "cbc")) => (cipher, Mode::Cbc),
        Some((cipher, "cfb")) => (cipher, Mode::Cfb),
        Some((cipher, "ecb")) => (cipher, Mode::Ecb),
        Some(_) => return Err(unknown()),
        None => (cipher, Mode::Cbc),
    };
    let kind = match cipher {
        "aes" | "rijndael" => Kind::Aes,
        "bf" | "blowfish" => Kind::Blowfish,
        "cast5" => Kind::Cast5,
        "des" => Kind::Des,
        "des3" | "3des" => Kind::TripleDes,
        _ => return Err(unknown()),
    };
    Ok((kind, mode, padded))
}

/// The key with zeros behind it, or cut.
fn key_of(key: &[u8], length: usize) -> Vec<u8> {
    let mut out = key[..key.len().min(length)].to_vec();
    out.resize(length, 0);
    out
}

fn make<C: KeyInit + Block + 'static>(key: &[u8]) -> SqlResult<Box<dyn Block>> {
    let cipher = C::new_from_slice(key).map_err(|e| SqlError::internal(e.to_string()))?;
    Ok(Box::new(cipher))
}

/// AES with the shortest key size that holds the key.
pub(super) fn aes(key: &[u8]) -> SqlResult<Box<dyn Block>> {
    match key.len() {
        0..=16 => make::<aes::Aes128>(&key_of(key, 16)),
        17..=24 => make::<aes::Aes192>(&key_of(key, 24)),
        _ => make::<aes::Aes256>(&key_of(key, 32)),
    }
}

/// Blowfish, whose keys may have any length.
pub(super) fn blowfish(key: &[u8]) -> Box<dyn Block> {
    let mut cipher = Blowfish::bc_init_state();
    cipher.bc_expand_key(&key[..key.len().min(56)]);
    Box::new(cipher)
}

/// CAST5; keys of up to 10 bytes take fewer rounds.
pub(super) fn cast5(key: &[u8]) -> SqlResult<Box<dyn Block>> {
    make::<cast5::Cast5>(&key_of(key, key.len().clamp(5, 16)))
}

/// DES three times.
pub(super) fn triple_des(key: &[u8]) -> SqlResult<Box<dyn Block>> {
    make::<des::TdesEde3>(&key_of(key, 24))
}

fn block_of(kind: Kind, key: &[u8]) -> SqlResult<Box<dyn Block>> {
    match kind {
        Kind::Aes => aes(key),
        Kind::Blowfish if key.is_empty() => Err(external("encrypt error: Cipher cannot be initialized")),
        Kind::Blowfish => Ok(blowfish(key)),
        Kind::Cast5 => cast5(key),
        Kind::Des => make::<des::Des>(&key_of(key, 8)),
        Kind::TripleDes => triple_des(key),
    }
}

/// `encrypt(data, key, [iv,] type)`, or `decrypt`.
pub(super) fn run(args: &[Datum], encrypt: bool, with_iv: bool) -> SqlResult<Datum> {
    let name = text(args, if with_iv { 3 } else { 2 });
    let (kind, mode, padded) = parse(name)?;
    let cipher = block_of(kind, bytes(args, 1))?;
    let iv = key_of(if with_iv { bytes(args, 2) } else { &[] }, cipher.size());
    let mut data = bytes(args, 0).to_vec();
    let padded = padded && mode != Mode::Cfb;
    if encrypt {
        if padded {
            let missing = cipher.size() - data.len() % cipher.size();
            data.resize(data.len() + missing, missing as u8);
        } else if mode != Mode::Cfb && !data.len().is_multiple_of(cipher.size()) {
            return Err(external("encrypt error: Encryption failed"));
        }
        encrypt_all(&*cipher, mode, iv, &mut data)?;
    } else {
        let fails = || external("decrypt error: Decryption failed");
        if mode != Mode::Cfb && !data.len().is_multiple_of(cipher.size()) || padded && data.is_empty() {
            return Err(fails());
        }
        decrypt_all(&*cipher, mode, iv, &mut data)?;
        if padded {
            let pad = usize::from(*data.last().ok_or_else(fails)?);
            let kept = data.len().checked_sub(pad).filter(|_| (1..=cipher.size()).contains(&pad));
            let kept = kept.filter(|kept| data[*kept..].iter().all(|b| usize::from(*b) == pad));
            data.truncate(kept.ok_or_else(fails)?);
        }
    }
    Ok(Datum::Bytes(data.into()))
}

fn xor(block: &mut [u8], with: &[u8]) {
    block.iter_mut().zip(with).for_each(|(a, b)| *a ^= b);
}

fn encrypt_all(cipher: &dyn Block, mode: Mode, mut last: Vec<u8>, data: &mut [u8]) -> SqlResult<()> {
    for (i, block) in data.chunks_mut(cipher.size()).enumerate() {
        look(i, cipher.size())?;
        match mode {
            Mode::Cbc => {
                xor(block, &last);
                cipher.encrypt(block);
            }
            Mode::Cfb => {
                cipher.encrypt(&mut last);
                xor(block, &last);
            }
            Mode::Ecb => cipher.encrypt(block),
        }
        last[..block.len()].copy_from_slice(block);
    }
    Ok(())
}

fn decrypt_all(cipher: &dyn Block, mode: Mode, mut last: Vec<u8>, data: &mut [u8]) -> SqlResult<()> {
    for (i, block) in data.chunks_mut(cipher.size()).enumerate() {
        look(i, cipher.size())?;
        let before = block.to_vec();
        match mode {
            Mode::Cbc => {
                cipher.decrypt(block);
                xor(block, &last);
            }
            Mode::Cfb => {
                cipher.encrypt(&mut last);
                xor(block, &last);
            }
            Mode::Ecb => cipher.decrypt(block),
        }
        last[..before.len()].copy_from_slice(&before);
    }
    Ok(())
}

/// Looks for interrupts now and then, before block `i`.
fn look(i: usize, size: usize) -> SqlResult<()> {
    if i > 0 && i.is_multiple_of(PIECE / 4 / size) {
        runtime::check_piece()?;
    }
    Ok(())
}

/// CFB from an IV of zeros, as OpenPGP has it.
pub(super) fn cfb(cipher: &dyn Block, data: &mut [u8], encrypt: bool) -> SqlResult<()> {
    let iv = vec![0; cipher.size()];
    cfb_from(cipher, iv, data, encrypt)
}

/// CFB from an IV.
pub(super) fn cfb_from(cipher: &dyn Block, iv: Vec<u8>, data: &mut [u8], encrypt: bool) -> SqlResult<()> {
    match encrypt {
        true => encrypt_all(cipher, Mode::Cfb, iv, data),
        false => decrypt_all(cipher, Mode::Cfb, iv, data),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encrypted(data: &str, key: &str, name: &str) -> String {
        let args = [Datum::text(data), Datum::text(key), Datum::text(name)];
        let Datum::Bytes(out) = run(&args, true, false).expect("encrypted") else { panic!("no bytes") };
        let back = run(&[Datum::Bytes(out.clone()), args[1].clone(), args[2].clone()], false, false);
        assert_eq!(back.expect("decrypted"), args[0], "{name}");
        out.iter().map(|b| format!("{b:02x}")).collect()
    }

    #[test]
    fn ciphers_agree_with_others() {
        for (name, expected) in [
            ("aes", "50bb0504eb20d8ab3c1489072abad0ad"),
            ("aes-ecb", "50bb0504eb20d8ab3c1489072abad0ad"),
            ("bf", "80975e02431630d3"),
            ("des", "462f64b233030f7d"),
            ("3des", "462f64b233030f7d"),
            ("cast5", "0479670c3f6df587"),
            ("aes-cfb", "f509ec"),
        ] {
            assert_eq!(encrypted("foo", "0123456", name), expected, "{name}");
        }
        assert_eq!(encrypted("x", "0", "cast5"), "1a7b1a3915276221");
        let long = "0123456789012345678901234567890123456789";
        assert_eq!(encrypted("foo", long, "aes"), "e03799301a574d6d3c8cae1ee085d8d8");
        assert_eq!(encrypted("x", &long.repeat(2)[..70], "bf"), "1113782105a4dd52");
    }

    #[test]
    fn wrong_padding_is_told() {
        let args = [Datum::text("0123456789012345"), Datum::text("0123456"), Datum::text("aes")];
        assert_eq!(run(&args, false, false).unwrap_err().message(), "decrypt error: Decryption failed");
    }
}
