//! The options of a message: `cipher-algo=aes256, compress-algo=1`.

use base::SqlResult;

use super::external;
use super::key::{self, Cipher};

/// What the caller chose.
#[derive(Debug)]
pub(super) struct Options {
    pub(super) cipher: Cipher,
    /// The cipher that the password's key is for, if the data has its own key.
    s2k_cipher: Option<Cipher>,
    pub(super) s2k_mode: u8,
    pub(super) s2k_digest: u8,
    /// Bytes hashed, as messages have it.
    pub(super) s2k_count: u8,
    /// 0: none, 1: deflate, 2: zlib.
    pub(super) compression: u8,
    pub(super) compression_level: u32,
    /// Whether a hash protects the data.
    pub(super) integrity: bool,
    /// Whether the data has a key of its own.
    pub(super) session_key: bool,
    /// Whether lines end with carriage return and line feed in messages.
    pub(super) line_ends: bool,
    /// Whether texts are marked as UTF-8.
    pub(super) unicode: bool,
}

const AES128: Cipher = Cipher { number: 7, name: "aes128", key_size: 16 };

impl Options {
    fn usual() -> Options {
        // Unless told otherwise between 65536 and 253952 bytes are hashed: nobody shall have tables.
        let random = 65_536 + (runtime::random_u64() % 188_417) as usize;
        Options {
            cipher: AES128,
            s2k_cipher: None,
            s2k_mode: 3,
            s2k_digest: 2,
            s2k_count: key::encoded_count(random),
            compression: 0,
            compression_level: 6,
            integrity: true,
            session_key: false,
            line_ends: false,
            unicode: false,
        }
    }

    /// Reads `name=value` pairs with commas between them.
    pub(super) fn read(text: &str) -> SqlResult<Options> {
        let mut options = Options::usual();
        for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').ok_or_else(illegal)?;
            options.set(&name.trim().to_ascii_lowercase(), &value.trim().to_ascii_lowercase())?;
        }
        Ok(options)
    }

    fn set(&mut self, name: &str, value: &str) -> SqlResult<()> {
        let number = || value.parse::<i64>().map_err(|_| illegal());
        let within = |from: i64, to: i64| {
            number().and_then(|n| if (from..=to).contains(&n) { Ok(n) } else { Err(illegal()) })
        };
        let on = || number().map(|n| n != 0);
        let cipher = || Cipher::named(value).ok_or_else(|| external("Unsupported cipher algorithm"));
        match name {
            "cipher-algo" => self.cipher = cipher()?,
            "s2k-cipher-algo" => self.s2k_cipher = Some(cipher()?),
            "s2k-digest-algo" => {
                let digest = key::digest_number(value);
                self.s2k_digest = digest.ok_or_else(|| external("Unsupported digest algorithm"))?;
            }
            "s2k-mode" => match within(0, 3)? {
                2 => return Err(illegal()),
                mode => self.s2k_mode = mode as u8,
            },
            "s2k-count" => self.s2k_count = key::encoded_count(within(1024, 65_011_712)? as usize),
            "compress-algo" => self.compression = within(0, 2)? as u8,
            "compress-level" => self.compression_level = within(0, 9)? as u32,
            "disable-mdc" => self.integrity = !on()?,
            "sess-key" => self.session_key = on()?,
            "convert-crlf" => self.line_ends = on()?,
            "unicode-mode" => self.unicode = on()?,
            _ => return Err(illegal()),
        }
        Ok(())
    }

    /// The cipher of the password's key.
    pub(super) fn key_cipher(&self) -> Cipher {
        match self.session_key {
            true => self.s2k_cipher.unwrap_or(self.cipher),
            false => self.cipher,
        }
    }
}

fn illegal() -> base::SqlError {
    external("Illegal argument to function")
}
