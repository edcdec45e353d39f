//! `crypt` and `gen_salt`: passwords hashed for storage. What a setting begins with says how.

use base::{SqlError, SqlResult, SqlState, sql_err};
use blowfish::Blowfish;
use session::Session;
use session::routine::{Invocation, Returned};
use tuple::Datum;

use super::{bytes, des, sha_crypt, text};

/// Rounds of SHA-crypt unless a setting says how many, and the limits.
const ROUNDS: (u32, u32, u32) = (5000, 1000, 999_999_999);

fn invalid() -> SqlError {
    sql_err!(INVALID_PARAMETER_VALUE, "invalid salt")
}

/// `crypt(password, setting)`
pub(super) fn crypt(session: &Session, call: &Invocation<'_>) -> SqlResult<Returned> {
    let password = &*types::encoding::bytes_of(bytes(call.args, 0))?;
    // A password is a text, and ends with its first zero.
    let hashed = hashed(password, text(call.args, 1), &|notice| session.raise_notice(notice))?;
    Ok(Returned::Value(Datum::text(&hashed)))
}

fn hashed(password: &[u8], setting: &str, notice: &dyn Fn(SqlError)) -> SqlResult<String> {
    if setting.starts_with("$2a$") || setting.starts_with("$2x$") {
        return bcrypt(password, setting);
    }
    if let Some(rest) = setting.strip_prefix("$1$") {
        let salt = rest.split('$').next().unwrap_or_default();
        let salt = &salt[..salt.floor_char_boundary(salt.len().min(8))];
        return Ok(format!("$1${salt}${}", sha_crypt::md5(password, salt.as_bytes())?));
    }
    if setting.starts_with("$5$") || setting.starts_with("$6$") {
        return sha(password, setting, notice);
    }
    if setting.starts_with("$2$") {
        return Err(invalid());
    }
    let long_enough = setting.len() >= if setting.starts_with('_') { 9 } else { 2 };
    if !long_enough || !setting.is_char_boundary(if setting.starts_with('_') { 9 } else { 2 }) {
        return Err(invalid());
    }
    match setting.starts_with('_') {
        true => des::extended(password, setting),
        false => des::traditional(password, setting),
    }
}

/// `$5$` and `$6$`, maybe with `rounds=`.
fn sha(password: &[u8], setting: &str, notice: &dyn Fn(SqlError)) -> SqlResult<String> {
    let (prefix, mut rest) = setting.split_at(3);
    let (mut rounds, mut told) = (ROUNDS.0, String::new());
    if let Some(given) = rest.strip_prefix("rounds=") {
        let parsed = given.split_once('$').and_then(|(n, rest)| Some((n.parse::<u64>().ok()?, rest)));
        let (asked, behind) = parsed.ok_or_else(|| sql_err!(SYNTAX_ERROR, "could not parse salt options"))?;
        rest = behind;
        rounds = asked.clamp(u64::from(ROUNDS.1), u64::from(ROUNDS.2)) as u32;
        if asked != u64::from(rounds) {
            let is = if asked < u64::from(rounds) { "is below" } else { "exceeds maximum" };
            let limit = if asked < u64::from(rounds) { ROUNDS.1 } else { ROUNDS.2 };
            let text = format!("rounds={asked} {is} supported value ({limit}), using {limit} instead");
            let severity = base::Severity::Notice;
            notice(SqlError::with_severity(severity, SqlState::NUMERIC_VALUE_OUT_OF_RANGE, text));
        }
        told = format!("rounds={rounds}$");
    }
    let salt = rest.split('$').next().unwrap_or_default();
    let is_digit = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '.' | '/');
    if let Some(wrong) = salt.chars().take(16).find(|c| !is_digit(c)) {
        return Err(sql_err!(INVALID_PARAMETER_VALUE, "invalid character in salt string: \"{wrong}\""));
    }
    let salt = &salt[..salt.len().min(16)];
    let hash = match prefix {
        "$5$" => sha_crypt::sha256(password, salt.as_bytes(), rounds)?,
        _ => sha_crypt::sha512(password, salt.as_bytes(), rounds)?,
    };
    Ok(format!("{prefix}{told}{salt}${hash}"))
}

/// Digits of bcrypt's base64.
const DIGITS: &[u8; 64] = b"./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// `$2a$`, two digits of cost, 22 of salt.
fn bcrypt(password: &[u8], setting: &str) -> SqlResult<String> {
    let bytes = setting.as_bytes();
    if bytes.len() < 29 || bytes[6] != b'$' {
        return Err(invalid());
    }
    let cost = std::str::from_utf8(&bytes[4..6]).ok().and_then(|cost| cost.parse::<u32>().ok());
    let cost = cost.filter(|cost| (4..=31).contains(cost)).ok_or_else(invalid)?;
    let salt = decoded(&bytes[7..29]).ok_or_else(invalid)?;
    if bytes[2] == b'x' && !password.is_ascii() {
        return Err(SqlError::not_supported("crypt() of other than ASCII characters in the form $2x$"));
    }
    let mut key = password.to_vec();
    key.push(0);
    let mut cipher: Blowfish = Blowfish::bc_init_state();
    cipher.salted_expand_key(&salt, &key);
    for round in 0..1u32 << cost {
        if round > 0 {
            runtime::check_interrupts()?;
        }
        cipher.bc_expand_key(&key);
        cipher.bc_expand_key(&salt);
    }
    let mut hash = Vec::with_capacity(24);
    for pair in b"OrpheanBeholderScryDoubt".chunks(8) {
        let word = |at: usize| u32::from_be_bytes([pair[at], pair[at + 1], pair[at + 2], pair[at + 3]]);
        let block = (0..64).fold([word(0), word(4)], |block, _| cipher.bc_encrypt(block));
        block.iter().for_each(|word| hash.extend_from_slice(&word.to_be_bytes()));
    }
    // One byte of the hash was lost long ago, and so stays.
    Ok(format!("{}{}{}", &setting[..7], encoded(&salt), encoded(&hash[..23])))
}

/// 22 characters as 16 bytes.
fn decoded(characters: &[u8]) -> Option<[u8; 16]> {
    let mut bits = 0u128;
    for (i, character) in characters.iter().enumerate() {
        let digit = DIGITS.iter().position(|d| d == character)? as u128;
        bits = if i == 21 { bits << 2 | digit >> 4 } else { bits << 6 | digit };
    }
    Some(bits.to_be_bytes())
}

/// Bytes in bcrypt's base64, six bits at a time from the highest, without padding.
fn encoded(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() * 4 / 3 + 1);
    for chunk in bytes.chunks(3) {
        let word = (0..3).fold(0u32, |word, i| word << 8 | u32::from(chunk.get(i).copied().unwrap_or(0)));
        for i in 0..=chunk.len() {
            out.push(char::from(DIGITS[(word >> (18 - 6 * i)) as usize & 0x3F]));
        }
    }
    out
}

/// `gen_salt(type [, rounds])`; 0 rounds are the usual ones.
pub(super) fn gen_salt(kind: &str, rounds: i32) -> SqlResult<Datum> {
    let wrong = || sql_err!(INVALID_PARAMETER_VALUE, "gen_salt: Incorrect number of rounds");
    let checked = |default: i32, from: i32, to: i32| match rounds {
        0 => Ok(default),
        n if (from..=to).contains(&n) => Ok(n),
        _ => Err(wrong()),
    };
    let random = |count: usize| {
        let mut bytes = vec![0; count];
        runtime::spawn::fill_random(&mut bytes);
        bytes
    };
    let plain =
        |count: usize| -> String { random(count).iter().map(|byte| unix_digit(u32::from(*byte))).collect() };
    let salt = match kind.to_ascii_lowercase().as_str() {
        "des" => {
            checked(25, 25, 25)?;
            plain(2)
        }
        "xdes" => {
            let count = checked(725, 1, 0xFF_FFFF)? as u32;
            if count.is_multiple_of(2) {
                return Err(wrong());
            }
            let digits: String = (0..4).map(|i| unix_digit(count >> (6 * i))).collect();
            format!("_{digits}{}", plain(4))
        }
        "md5" => {
            checked(1000, 1000, 1000)?;
            format!("$1${}", plain(8))
        }
        "bf" => format!("$2a${:02}${}", checked(6, 4, 31)?, encoded(&random(16))),
        "sha256crypt" => format!("$5$rounds={}${}", sha_rounds(rounds).ok_or_else(wrong)?, plain(16)),
        "sha512crypt" => format!("$6$rounds={}${}", sha_rounds(rounds).ok_or_else(wrong)?, plain(16)),
        _ => return Err(sql_err!(INVALID_PARAMETER_VALUE, "gen_salt: Unknown salt algorithm")),
    };
    Ok(Datum::text(&salt))
}

fn sha_rounds(asked: i32) -> Option<u32> {
    match asked {
        0 => Some(ROUNDS.0),
        n => u32::try_from(n).ok().filter(|n| (ROUNDS.1..=ROUNDS.2).contains(n)),
    }
}

/// A digit of the alphabet that all but bcrypt use.
fn unix_digit(value: u32) -> char {
    char::from(b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"[value as usize & 0x3F])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_hash_as_everywhere() {
        for (setting, expected) in [
            ("xx", "xxrF1j8WaXReM"),
            ("_J9..rasm", "_J9..rasmFl48UvfpUZA"),
            ("$1$abcdefgh$", "$1$abcdefgh$Cs7845d.9NQVBYpWQnjHT."),
            ("$2a$06$RQiOJ.3ELirrXwxIZY8q0O", "$2a$06$RQiOJ.3ELirrXwxIZY8q0OR3CVJrAfda1z26CCHPnB6mmVZD8p0/C"),
            (
                "$5$rounds=1000$abcdefghijklmnop",
                "$5$rounds=1000$abcdefghijklmnop$k2q45dhMRB9B4ljOe..PVvLnOMrm.ojCNNatIOCIs9/",
            ),
            ("$5$abc", "$5$abc$MhVm6lOm5NxccMg.jT6tB06vflslWYXNfwgh/APZHyB"),
            (
                "$6$abcdefghijklmnop",
                "$6$abcdefghijklmnop$kh6oxTHRaKd1oLefKJ6pwXUEclvNKm11DRyVG7x9AWjKuLgzdfntJ7pzCMWFtPH9U40EehQDJzdtUBAS/mduT.",
            ),
            ("$2y$06$RQiOJ.3ELirrXwxIZY8q0O", "$2A2eTeOR8FRk"),
        ] {
            assert_eq!(hashed(b"foox", setting, &|_| {}).expect("hashed"), expected);
            assert_eq!(hashed(b"foox", expected, &|_| {}).expect("hashed"), expected, "its own setting");
        }
        for wrong in ["", "x", "$2a$99$RQiOJ.3ELirrXwxIZY8q0O", "$2a$06$short"] {
            assert_eq!(hashed(b"foox", wrong, &|_| {}).unwrap_err().message(), "invalid salt", "{wrong}");
        }
    }

    #[test]
    fn salts_are_settings() {
        for kind in ["des", "xdes", "md5", "bf", "sha256crypt", "sha512crypt"] {
            let Datum::Bytes(salt) = gen_salt(kind, 0).expect("made") else { panic!("no text") };
            let salt = String::from_utf8(salt.to_vec()).expect("text");
            let once = hashed(b"secret", &salt, &|_| {}).expect("hashed");
            assert!(once.starts_with(&salt), "{kind}");
            assert_ne!(once, hashed(b"Secret", &salt, &|_| {}).expect("hashed"), "{kind}");
        }
    }
}
