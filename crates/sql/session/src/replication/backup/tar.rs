//! Heads of a tar archive's members, in the format `ustar` as PostgreSQL writes it.

use base::{SqlError, SqlResult};

/// Unit of an archive.
pub(super) const BLOCK: usize = 512;
/// Bytes of a member's name, and of where a link leads.
const NAME: usize = 100;

/// What is known of a member beside its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Member {
    /// Bytes; of folders and links 0.
    pub size: u64,
    /// Permission bits.
    pub mode: u32,
    /// User id of its owner.
    pub owner: u32,
    /// When it was last written, seconds since 1970.
    pub modified: i64,
    /// What it is.
    pub kind: Kind,
}

/// Kinds of members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Folder,
    /// A symbolic link, and where it leads.
    Link(String),
}

/// The head of a member.
pub(super) fn head(name: &str, member: &Member) -> SqlResult<[u8; BLOCK]> {
    let mut name = name.to_owned();
    if member.kind == Kind::Folder && !name.ends_with('/') {
        name.push('/');
    }
    if name.len() >= NAME {
        return Err(SqlError::internal(format!("file name too long for tar format: \"{name}\"")));
    }
    let (kind, target) = match &member.kind {
        Kind::File => (b"0", ""),
        Kind::Folder => (b"5", ""),
        Kind::Link(target) => (b"2", target.as_str()),
    };
    if target.len() >= NAME {
        return Err(SqlError::internal(format!(
            "symbolic link target too long for tar format: file name \"{name}\", target \"{target}\""
        )));
    }
    let mut block = [0; BLOCK];
    let mut put = |at: usize, bytes: &[u8]| block[at..at + bytes.len()].copy_from_slice(bytes);
    let octal = |value: u64, width: usize| format!("{value:0width$o} ").into_bytes();
    put(0, name.as_bytes());
    put(100, &octal(u64::from(member.mode & 0o7777), 7));
    put(108, &octal(u64::from(member.owner) & 0o777_7777, 7));
    put(116, &octal(0, 7));
    put(124, &octal(member.size, 11));
    put(136, &octal(member.modified.max(0) as u64, 11));
    put(148, b"        ");
    put(156, kind);
    put(157, target.as_bytes());
    put(257, b"ustar\x0000");
    put(265, b"postgres");
    put(297, b"postgres");
    put(329, &octal(0, 7));
    put(337, &octal(0, 7));
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:07o} ").as_bytes());
    Ok(block)
}

/// Zeros that follow a member of so many bytes.
pub(super) fn padding(size: u64) -> usize {
    (size.next_multiple_of(BLOCK as u64) - size) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_as_postgresql_writes_them() {
        let file = Member { size: 201, mode: 0o600, owner: 0o145, modified: 0o15302352605, kind: Kind::File };
        let head_of = head("backup_label", &file).unwrap();
        assert!(head_of.starts_with(b"backup_label\0"));
        assert_eq!(&head_of[100..156], b"0000600 0000145 0000000 00000000311 15302352605 0015507 ");
        assert_eq!(&head_of[156..158], b"0\0");
        assert_eq!(&head_of[257..276], b"ustar\x0000postgres\0\0\0");
        let folder = Member { size: 0, kind: Kind::Folder, ..file.clone() };
        let head_of = head("base", &folder).unwrap();
        assert!(head_of.starts_with(b"base/\0") && head_of[156] == b'5');
        assert!(head(&"x".repeat(100), &file).is_err());
        let link = |target: String| {
            head("pg_tblspc/7", &Member { size: 0, kind: Kind::Link(target), ..file.clone() })
        };
        assert_eq!(&link("/mnt/a".into()).unwrap()[156..164], b"2/mnt/a\0");
        assert!(link("x".repeat(100)).is_err());
        assert_eq!([0, 1, 511, 512, 513].map(padding), [0, 511, 1, 0, 511]);
    }
}
