//! Certificates, keys and lists of revoked certificates, from files in PEM.

use std::path::Path;

use base::SqlResult;
use runtime::fs;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer};

use super::refused;

/// What went wrong, for the end of a message.
fn reason(error: &pem::Error) -> String {
    match error {
        pem::Error::NoItemsFound => "no start line".into(),
        other => other.to_string(),
    }
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read_to_vec(path).map_err(|error| base::os_error(&error))
}

/// All items of a kind in a file, one at least.
fn items<T: PemObject>(path: &Path) -> Result<Vec<T>, String> {
    let items: Result<Vec<T>, _> = T::pem_slice_iter(&read(path)?).collect();
    match items {
        Ok(items) if items.is_empty() => Err(reason(&pem::Error::NoItemsFound)),
        Ok(items) => Ok(items),
        Err(error) => Err(reason(&error)),
    }
}

/// The certificates of a file, in their order; one at least.
pub(super) fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    items(path)
}

/// Fails unless the file is the server's alone. `named` as in the setting.
pub(super) fn check_key_file(path: &Path, named: &str) -> SqlResult<()> {
    let meta = fs::metadata(path).map_err(|error| {
        refused(format!("could not access private key file \"{named}\": {}", base::os_error(&error)))
    })?;
    if meta.is_dir {
        return Err(refused(format!("private key file \"{named}\" is not a regular file")));
    }
    // SAFETY: a system call without arguments that cannot fail.
    let own = unsafe { libc::geteuid() };
    if meta.owner != own && meta.owner != 0 {
        return Err(refused(format!(
            "private key file \"{named}\" must be owned by the database user or root"
        )));
    }
    // Root may let a group in, for the sake of keys that several services use.
    let allowed = if meta.owner == 0 && own != 0 { 0o640 } else { 0o600 };
    if meta.mode & 0o077 & !allowed != 0 {
        return Err(refused(format!("private key file \"{named}\" has group or world access")).detail(
            "File must have permissions u=rw (0600) or less if owned by the database user, \
             or permissions u=rw,g=r (0640) or less if owned by root.",
        ));
    }
    Ok(())
}

/// The key of a file.
pub(super) fn private_key(path: &Path, named: &str) -> SqlResult<PrivateKeyDer<'static>> {
    let failed = |why: String| refused(format!("could not load private key file \"{named}\": {why}"));
    let bytes = read(path).map_err(failed)?;
    let text = String::from_utf8_lossy(&bytes);
    if text.contains("-----BEGIN ENCRYPTED PRIVATE KEY-----") || text.contains("Proc-Type: 4,ENCRYPTED") {
        let message =
            format!("private key file \"{named}\" cannot be loaded because it requires a passphrase");
        return Err(refused(message).hint("Keys that are encrypted are not supported."));
    }
    PrivateKeyDer::from_pem_slice(&bytes).map_err(|error| failed(reason(&error)))
}

/// The lists of a file and of all files of a directory; a path that is empty stands for none.
pub(super) fn revocations(file: &Path, dir: &Path) -> SqlResult<Vec<CertificateRevocationListDer<'static>>> {
    let mut lists = Vec::new();
    let failed = |what: &str, path: &Path, why: String| {
        let path = path.display();
        refused(format!("could not load SSL certificate revocation list {what} \"{path}\": {why}"))
    };
    if !file.as_os_str().is_empty() {
        lists.extend(items(file).map_err(|why| failed("file", file, why))?);
    }
    if !dir.as_os_str().is_empty() {
        let entries = fs::read_dir(dir).map_err(|error| failed("directory", dir, base::os_error(&error)))?;
        for entry in entries.iter().filter(|entry| !entry.is_dir) {
            let path = dir.join(&entry.name);
            lists.extend(items(&path).map_err(|why| failed("file", &path, why))?);
        }
    }
    Ok(lists)
}
