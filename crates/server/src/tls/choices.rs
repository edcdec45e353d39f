//! Versions, ciphers and groups: what the settings' words mean for `rustls`.

use base::settings::{ServerSettings, Setting};
use base::{SqlError, SqlResult};
use rustls::crypto::{CryptoProvider, SupportedKxGroup, ring};
use rustls::{CipherSuite, NamedGroup, SupportedCipherSuite, SupportedProtocolVersion, version};

use super::refused;

/// Fails for settings of what this library does not do.
pub(super) fn refuse_what_is_not_there(settings: &ServerSettings) -> SqlResult<()> {
    for setting in [Setting::ssl_passphrase_command, Setting::ssl_dh_params_file] {
        if !settings.text(setting).is_empty() {
            return Err(unsupported(setting, settings.text(setting)));
        }
    }
    Ok(())
}

fn unsupported(setting: Setting, value: &str) -> SqlError {
    refused(format!("\"{}\" setting \"{value}\" not supported by this build", setting.name()))
}

/// The versions from the oldest to the newest that the settings allow.
pub(super) fn versions(settings: &ServerSettings) -> SqlResult<Vec<&'static SupportedProtocolVersion>> {
    let order = ["TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"];
    let rank = |setting| {
        let word = settings.text(setting);
        match order.iter().position(|known| *known == word) {
            Some(rank @ 2..) => Ok(rank),
            // Without an upper bound.
            None if word.is_empty() => Ok(order.len()),
            _ => Err(unsupported(setting, word)),
        }
    };
    let least = rank(Setting::ssl_min_protocol_version)?;
    let most = rank(Setting::ssl_max_protocol_version)?;
    if least > most {
        return Err(refused("could not set SSL protocol version range")
            .detail("\"ssl_min_protocol_version\" cannot be higher than \"ssl_max_protocol_version\""));
    }
    let all = [(2, &version::TLS12), (3, &version::TLS13)];
    Ok(all.iter().filter(|(rank, _)| (least..=most).contains(rank)).map(|(_, version)| *version).collect())
}

/// Ciphers and groups, in the server's order.
pub(super) fn provider(settings: &ServerSettings) -> SqlResult<CryptoProvider> {
    let mut provider = ring::default_provider();
    let (newer, older): (Vec<_>, Vec<_>) =
        provider.cipher_suites.iter().copied().partition(|suite| suite.tls13().is_some());
    let newer = match settings.text(Setting::ssl_tls13_ciphers) {
        "" => newer,
        list => named_suites(&newer, list)?,
    };
    let older = cipher_list(&older, settings.text(Setting::ssl_ciphers));
    if older.is_empty() {
        return Err(refused("could not set the cipher list (no valid ciphers available)"));
    }
    provider.cipher_suites = newer.into_iter().chain(older).collect();
    provider.kx_groups = groups(settings.text(Setting::ssl_groups))?;
    Ok(provider)
}

fn groups(list: &str) -> SqlResult<Vec<&'static dyn SupportedKxGroup>> {
    let named = |word: &str| {
        let group = match word.trim().to_ascii_lowercase().as_str() {
            "x25519" => NamedGroup::X25519,
            "prime256v1" | "p-256" | "secp256r1" => NamedGroup::secp256r1,
            "secp384r1" | "p-384" => NamedGroup::secp384r1,
            _ => return None,
        };
        ring::ALL_KX_GROUPS.iter().copied().find(|known| known.name() == group)
    };
    let groups: Option<Vec<_>> = list.split(':').map(named).collect();
    groups.ok_or_else(|| {
        refused(format!("could not set group names specified in ssl_groups: {list}"))
            .hint("Ensure that each group name is spelled correctly: X25519, prime256v1 and secp384r1 are supported.")
    })
}

/// `ssl_tls13_ciphers`: names only.
fn named_suites(all: &[SupportedCipherSuite], list: &str) -> SqlResult<Vec<SupportedCipherSuite>> {
    let named = |word: &str| all.iter().copied().find(|suite| cipher_name(suite.suite()).0 == word.trim());
    let suites: Option<Vec<_>> = list.split(':').map(named).collect();
    suites.ok_or_else(|| refused("could not set the TLSv1.3 cipher suites (no valid ciphers available)"))
}

/// `ssl_ciphers`, as OpenSSL reads it: names and words for groups of them, each after `!` (never), `-` (not so far) or
/// `+` (moved to the end). Words for what is not there mean nothing.
fn cipher_list(all: &[SupportedCipherSuite], list: &str) -> Vec<SupportedCipherSuite> {
    let mut chosen: Vec<SupportedCipherSuite> = Vec::new();
    let mut never: Vec<SupportedCipherSuite> = Vec::new();
    for word in list.split([':', ',', ' ', ';']).filter(|word| !word.is_empty()) {
        if word == "@STRENGTH" {
            chosen.sort_by_key(|suite| std::cmp::Reverse(cipher_name(suite.suite()).1));
            continue;
        }
        let (action, word) = match word.as_bytes()[0] {
            action @ (b'!' | b'-' | b'+') => (action, &word[1..]),
            _ => (b' ', word),
        };
        let meant: Vec<_> = all
            .iter()
            .copied()
            .filter(|s| word.split('+').all(|part| is_meant(cipher_name(s.suite()).0, part)))
            .collect();
        match action {
            b'!' => {
                never.extend(&meant);
                chosen.retain(|suite| !meant.contains(suite));
            }
            b'-' => chosen.retain(|suite| !meant.contains(suite)),
            b'+' => {
                let (moved, kept) = chosen.into_iter().partition(|suite| meant.contains(suite));
                chosen = kept;
                chosen.extend::<Vec<_>>(moved);
            }
            _ => {
                let more: Vec<_> = meant
                    .into_iter()
                    .filter(|suite| !never.contains(suite) && !chosen.contains(suite))
                    .collect();
                chosen.extend(more);
            }
        }
    }
    chosen
}

/// Whether a word of a list means this cipher.
fn is_meant(name: &str, word: &str) -> bool {
    match word {
        "ALL" | "DEFAULT" | "HIGH" | "ECDHE" | "EECDH" | "kECDHE" | "kEECDH" | "TLSv1.2" => true,
        "AESGCM" => name.contains("GCM"),
        "AES" | "AES128" | "AES256" | "CHACHA20" => name.contains(word),
        "ECDSA" | "aECDSA" => name.contains("ECDSA"),
        "aRSA" => name.contains("RSA"),
        _ => name == word,
    }
}

/// The name that OpenSSL gives a cipher, and the bits of its key.
pub fn cipher_name(suite: CipherSuite) -> (&'static str, i32) {
    match suite {
        CipherSuite::TLS13_AES_256_GCM_SHA384 => ("TLS_AES_256_GCM_SHA384", 256),
        CipherSuite::TLS13_AES_128_GCM_SHA256 => ("TLS_AES_128_GCM_SHA256", 128),
        CipherSuite::TLS13_CHACHA20_POLY1305_SHA256 => ("TLS_CHACHA20_POLY1305_SHA256", 256),
        CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384 => ("ECDHE-ECDSA-AES256-GCM-SHA384", 256),
        CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 => ("ECDHE-ECDSA-AES128-GCM-SHA256", 128),
        CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256 => ("ECDHE-ECDSA-CHACHA20-POLY1305", 256),
        CipherSuite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384 => ("ECDHE-RSA-AES256-GCM-SHA384", 256),
        CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 => ("ECDHE-RSA-AES128-GCM-SHA256", 128),
        CipherSuite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256 => ("ECDHE-RSA-CHACHA20-POLY1305", 256),
        _ => ("unknown", 0),
    }
}

#[cfg(test)]
mod tests {
    use base::settings::Source;

    use super::*;

    fn with(settings: &[(&str, &str)]) -> ServerSettings {
        let mut all = ServerSettings::new();
        for (name, value) in settings {
            all.set(name, value, Source::File, None).unwrap();
        }
        all
    }

    fn suites(settings: &[(&str, &str)]) -> Vec<&'static str> {
        let provider = provider(&with(settings)).unwrap();
        provider.cipher_suites.iter().map(|suite| cipher_name(suite.suite()).0).collect()
    }

    #[test]
    fn ciphers_by_name_and_by_kind() {
        let all = suites(&[]);
        assert_eq!(all.len(), 9, "{all:?}");
        assert!(!all.contains(&"unknown"));
        let only = suites(&[
            ("ssl_ciphers", "ECDHE-RSA-AES128-GCM-SHA256"),
            ("ssl_tls13_ciphers", "TLS_AES_128_GCM_SHA256"),
        ]);
        assert_eq!(only, ["TLS_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256"]);
        let list = |text: &str| suites(&[("ssl_ciphers", text)])[3..].to_vec();
        assert_eq!(
            list("ECDHE+AESGCM:!aRSA:HIGH:!CHACHA20"),
            ["ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-ECDSA-AES128-GCM-SHA256"]
        );
        assert_eq!(
            list("aRSA:-AES128:+AES256"),
            ["ECDHE-RSA-CHACHA20-POLY1305", "ECDHE-RSA-AES256-GCM-SHA384"]
        );
        for none in ["RC4:kRSA", "HIGH:!ALL", ""] {
            let error = provider(&with(&[("ssl_ciphers", none)])).unwrap_err();
            assert_eq!(error.message(), "could not set the cipher list (no valid ciphers available)");
        }
        assert!(provider(&with(&[("ssl_tls13_ciphers", "TLS_AES_128_CCM_SHA256")])).is_err());
    }

    #[test]
    fn versions_from_and_to() {
        let count = |least: &str, most: &str| {
            versions(&with(&[("ssl_min_protocol_version", least), ("ssl_max_protocol_version", most)]))
                .map(|versions| versions.len())
                .map_err(|error| error.message().to_string())
        };
        assert_eq!(count("TLSv1.2", ""), Ok(2));
        assert_eq!(count("TLSv1.3", ""), Ok(1));
        assert_eq!(count("TLSv1.2", "TLSv1.2"), Ok(1));
        assert_eq!(count("TLSv1.3", "TLSv1.2"), Err("could not set SSL protocol version range".into()));
        let refused =
            Err("\"ssl_min_protocol_version\" setting \"TLSv1\" not supported by this build".into());
        assert_eq!(count("TLSv1", ""), refused);
    }

    #[test]
    fn groups_by_name() {
        assert_eq!(groups("P-384:x25519").unwrap().len(), 2);
        assert!(groups("X25519:secp521r1").is_err());
        assert!(refuse_what_is_not_there(&with(&[("ssl_passphrase_command", "echo x")])).is_err());
    }
}
