//! `crypt` over DES: the traditional one, and the extended one with more salt and a count of rounds.
//!
//! The cipher is DES with some of the expansion's bits exchanged as the salt says, so that no library's DES can do it. Tables are those of
//! FIPS 46-3; substitution and permutation are joined in one when they are first used.

use std::sync::LazyLock;

use base::SqlResult;

const PERMUTED_CHOICE_1: [u8; 56] = [
    57, 49, 41, 33, 25, 17, 9, 1, 58, 50, 42, 34, 26, 18, 10, 2, 59, 51, 43, 35, 27, 19, 11, 3, 60, 52, 44,
    36, 63, 55, 47, 39, 31, 23, 15, 7, 62, 54, 46, 38, 30, 22, 14, 6, 61, 53, 45, 37, 29, 21, 13, 5, 28, 20,
    12, 4,
];

const PERMUTED_CHOICE_2: [u8; 48] = [
    14, 17, 11, 24, 1, 5, 3, 28, 15, 6, 21, 10, 23, 19, 12, 4, 26, 8, 16, 7, 27, 20, 13, 2, 41, 52, 31, 37,
    47, 55, 30, 40, 51, 45, 33, 48, 44, 49, 39, 56, 34, 53, 46, 42, 50, 36, 29, 32,
];

const SHIFTS: [u32; 16] = [1, 1, 2, 2, 2, 2, 2, 2, 1, 2, 2, 2, 2, 2, 2, 1];

const PERMUTATION: [u8; 32] = [
    16, 7, 20, 21, 29, 12, 28, 17, 1, 15, 23, 26, 5, 18, 31, 10, 2, 8, 24, 14, 32, 27, 3, 9, 19, 13, 30, 6,
    22, 11, 4, 25,
];

#[rustfmt::skip]
const SUBSTITUTION: [[u8; 64]; 8] = [
    [14, 4, 13, 1, 2, 15, 11, 8, 3, 10, 6, 12, 5, 9, 0, 7, 0, 15, 7, 4, 14, 2, 13, 1, 10, 6, 12, 11, 9, 5, 3, 8,
     4, 1, 14, 8, 13, 6, 2, 11, 15, 12, 9, 7, 3, 10, 5, 0, 15, 12, 8, 2, 4, 9, 1, 7, 5, 11, 3, 14, 10, 0, 6, 13],
    [15, 1, 8, 14, 6, 11, 3, 4, 9, 7, 2, 13, 12, 0, 5, 10, 3, 13, 4, 7, 15, 2, 8, 14, 12, 0, 1, 10, 6, 9, 11, 5,
     0, 14, 7, 11, 10, 4, 13, 1, 5, 8, 12, 6, 9, 3, 2, 15, 13, 8, 10, 1, 3, 15, 4, 2, 11, 6, 7, 12, 0, 5, 14, 9],
    [10, 0, 9, 14, 6, 3, 15, 5, 1, 13, 12, 7, 11, 4, 2, 8, 13, 7, 0, 9, 3, 4, 6, 10, 2, 8, 5, 14, 12, 11, 15, 1,
     13, 6, 4, 9, 8, 15, 3, 0, 11, 1, 2, 12, 5, 10, 14, 7, 1, 10, 13, 0, 6, 9, 8, 7, 4, 15, 14, 3, 11, 5, 2, 12],
    [7, 13, 14, 3, 0, 6, 9, 10, 1, 2, 8, 5, 11, 12, 4, 15, 13, 8, 11, 5, 6, 15, 0, 3, 4, 7, 2, 12, 1, 10, 14, 9,
     10, 6, 9, 0, 12, 11, 7, 13, 15, 1, 3, 14, 5, 2, 8, 4, 3, 15, 0, 6, 10, 1, 13, 8, 9, 4, 5, 11, 12, 7, 2, 14],
    [2, 12, 4, 1, 7, 10, 11, 6, 8, 5, 3, 15, 13, 0, 14, 9, 14, 11, 2, 12, 4, 7, 13, 1, 5, 0, 15, 10, 3, 9, 8, 6,
     4, 2, 1, 11, 10, 13, 7, 8, 15, 9, 12, 5, 6, 3, 0, 14, 11, 8, 12, 7, 1, 14, 2, 13, 6, 15, 0, 9, 10, 4, 5, 3],
    [12, 1, 10, 15, 9, 2, 6, 8, 0, 13, 3, 4, 14, 7, 5, 11, 10, 15, 4, 2, 7, 12, 9, 5, 6, 1, 13, 14, 0, 11, 3, 8,
     9, 14, 15, 5, 2, 8, 12, 3, 7, 0, 4, 10, 1, 13, 11, 6, 4, 3, 2, 12, 9, 5, 15, 10, 11, 14, 1, 7, 6, 0, 8, 13],
    [4, 11, 2, 14, 15, 0, 8, 13, 3, 12, 9, 7, 5, 10, 6, 1, 13, 0, 11, 7, 4, 9, 1, 10, 14, 3, 5, 12, 2, 15, 8, 6,
     1, 4, 11, 13, 12, 3, 7, 14, 10, 15, 6, 8, 0, 5, 9, 2, 6, 11, 13, 8, 1, 4, 10, 7, 9, 5, 0, 15, 14, 2, 3, 12],
    [13, 2, 8, 4, 6, 15, 11, 1, 10, 9, 3, 14, 5, 0, 12, 7, 1, 15, 13, 8, 10, 3, 7, 4, 12, 5, 6, 11, 0, 14, 9, 2,
     7, 11, 4, 1, 9, 12, 14, 2, 0, 6, 10, 13, 15, 3, 5, 8, 2, 1, 14, 7, 4, 10, 8, 13, 15, 12, 9, 0, 3, 5, 6, 11],
];

/// Bits of `value` (of `width` bits, 1 the highest) in the order that a table says.
fn permute(value: u64, width: u32, table: &[u8]) -> u64 {
    table.iter().fold(0, |out, bit| out << 1 | value >> (width - u32::from(*bit)) & 1)
}

/// The eight substitutions, each with the permutation behind it.
static JOINED: LazyLock<[[u32; 64]; 8]> = LazyLock::new(|| {
    let mut joined = [[0; 64]; 8];
    for (i, (to, from)) in joined.iter_mut().zip(&SUBSTITUTION).enumerate() {
        for (input, slot) in to.iter_mut().enumerate() {
            let row = (input >> 4 & 2) | (input & 1);
            let nibble = u64::from(from[row * 16 + (input >> 1 & 15)]);
            *slot = permute(nibble << (28 - 4 * i), 32, &PERMUTATION) as u32;
        }
    }
    joined
});

/// Sixteen round keys of 48 bits.
fn schedule(key: u64) -> [u64; 16] {
    let chosen = permute(key, 64, &PERMUTED_CHOICE_1);
    let (mut c, mut d) = (chosen >> 28, chosen & 0xFFF_FFFF);
    let rotate = |half: u64, by: u32| (half << by | half >> (28 - by)) & 0xFFF_FFFF;
    let mut keys = [0; 16];
    for (slot, shift) in keys.iter_mut().zip(SHIFTS) {
        (c, d) = (rotate(c, shift), rotate(d, shift));
        *slot = permute(c << 28 | d, 56, &PERMUTED_CHOICE_2);
    }
    keys
}

/// One round's function; `salt` says which bits of the expansion's halves change places.
fn round(right: u32, key: u64, salt: u32) -> u32 {
    let mut expanded = 0u64;
    for i in 0..8 {
        expanded = expanded << 6 | u64::from(right.rotate_left(4 * i + 5) & 0x3F);
    }
    let exchanged = (expanded >> 24 ^ expanded) & u64::from(salt);
    let input = expanded ^ (exchanged << 24 | exchanged) ^ key;
    (0..8).fold(0, |out, i| out ^ JOINED[i][(input >> (42 - 6 * i)) as usize & 0x3F])
}

/// Encrypts a block of zeros, or `block` after its initial permutation, `count` times.
fn encrypt(keys: &[u64; 16], mut left: u32, mut right: u32, salt: u32, count: u32) -> SqlResult<u64> {
    for n in 0..count {
        if n > 0 && n % 256 == 0 {
            runtime::check_interrupts()?;
        }
        for key in keys {
            (left, right) = (right, left ^ round(right, *key, salt));
        }
        (left, right) = (right, left);
    }
    Ok(final_permutation(u64::from(left) << 32 | u64::from(right)))
}

/// Position `n` (from 0) of the initial permutation: columns 58, 60, 62, 64, 57, … from the bottom up.
fn initial_position(n: u32) -> u32 {
    let (row, column) = (n / 8, n % 8);
    let top = if row < 4 { 58 + 2 * row } else { 57 + 2 * (row - 4) };
    top - 8 * column
}

fn initial_permutation(block: u64) -> u64 {
    (0..64).fold(0, |out, n| out << 1 | block >> (64 - initial_position(n)) & 1)
}

fn final_permutation(block: u64) -> u64 {
    (0..64).fold(0, |out, n| out | (block >> (63 - n) & 1) << (64 - initial_position(n)))
}

/// Salts have their lowest bit first; the expansion's first bit is its highest.
fn salt_mask(salt: u32) -> u32 {
    salt.reverse_bits() >> 8
}

/// Up to eight characters as a key: seven bits of each.
fn key_of(characters: &[u8]) -> u64 {
    (0..8).fold(0, |key, i| key << 8 | u64::from(characters.get(i).map_or(0, |c| c << 1)))
}

const DIGITS: &[u8; 64] = b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Six bits of a salt's character; what is no digit counts as 0.
fn digit(character: u8) -> u32 {
    DIGITS.iter().position(|d| *d == character).unwrap_or(0) as u32
}

/// A block as eleven characters.
fn characters(block: u64) -> String {
    let wide = u128::from(block) << 2;
    (0..11).map(|i| char::from(DIGITS[(wide >> (60 - 6 * i)) as usize & 0x3F])).collect()
}

/// Traditional: two characters of salt, eight of the password.
pub(super) fn traditional(password: &[u8], setting: &str) -> SqlResult<String> {
    let salt = setting.as_bytes();
    let mask = salt_mask(digit(salt[1]) << 6 | digit(salt[0]));
    let block = encrypt(&schedule(key_of(password)), 0, 0, mask, 25)?;
    Ok(format!("{}{}", &setting[..2], characters(block)))
}

/// Extended: `_`, four characters of count, four of salt; all of the password.
pub(super) fn extended(password: &[u8], setting: &str) -> SqlResult<String> {
    let number = |part: &[u8]| part.iter().rev().fold(0, |n, c| n << 6 | digit(*c));
    let bytes = setting.as_bytes();
    let (count, salt) = (number(&bytes[1..5]), number(&bytes[5..9]));
    let mut key = key_of(password);
    for rest in password.chunks(8).skip(1) {
        let block = initial_permutation(key);
        key = encrypt(&schedule(key), (block >> 32) as u32, block as u32, 0, 1)? ^ key_of(rest);
    }
    let block = encrypt(&schedule(key), 0, 0, salt_mask(salt), count)?;
    Ok(format!("{}{}", &setting[..9], characters(block)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_hash_as_everywhere() {
        assert_eq!(traditional(b"foox", "xx").expect("hashed"), "xxrF1j8WaXReM");
        assert_eq!(traditional(b"", "aa").expect("hashed"), "aaQSqAReePlq6");
        assert_eq!(extended(b"foox", "_J9..rasm").expect("hashed"), "_J9..rasmFl48UvfpUZA");
    }

    #[test]
    fn permutations_undo_each_other() {
        let block = 0x0123_4567_89AB_CDEF;
        assert_eq!(final_permutation(initial_permutation(block)), block);
    }
}
