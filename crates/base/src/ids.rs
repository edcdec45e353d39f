//! Identifiers of the storage and catalog layers.

use std::fmt;

/// Size of a page of every relation and SLRU, in bytes.
pub const PAGE_SIZE: usize = 8192;

/// Object identifier of a catalog row. 0 is invalid; below 16384 is built in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Oid(pub u32);

impl Oid {
    /// No object.
    pub const INVALID: Oid = Oid(0);
    /// The tablespace `pg_default`.
    pub const PG_DEFAULT: Oid = Oid(1663);
    /// The tablespace `pg_global`.
    pub const PG_GLOBAL: Oid = Oid(1664);
    /// First OID given to objects that users create; smaller ones are pinned (thread 4).
    pub const FIRST_NORMAL: Oid = Oid(16384);

    /// Whether this names an object at all.
    pub const fn is_valid(self) -> bool {
        self.0 != 0
    }

    /// Whether the object was made by initdb and can neither be dropped nor depended on explicitly.
    pub fn is_pinned(self) -> bool {
        self.0 < Self::FIRST_NORMAL.0
    }
}

impl fmt::Display for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// 64-bit transaction id; never wraps around.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Xid(pub u64);

impl Xid {
    /// No transaction.
    pub const INVALID: Xid = Xid(0);
    /// The transaction that initdb runs under; always committed.
    pub const BOOTSTRAP: Xid = Xid(1);
    /// Older than every normal xid; always committed and visible.
    pub const FROZEN: Xid = Xid(2);
    /// First xid given to an ordinary transaction.
    pub const FIRST_NORMAL: Xid = Xid(3);

    /// Whether this names a transaction at all.
    pub fn is_valid(self) -> bool {
        self.0 != 0
    }

    /// Whether this is an ordinary xid, neither invalid nor bootstrap nor frozen.
    pub fn is_normal(self) -> bool {
        self.0 >= Self::FIRST_NORMAL.0
    }

    /// The xid that is assigned after this one.
    pub fn next(self) -> Xid {
        Xid(self.0 + 1)
    }
}

impl fmt::Display for Xid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// 64-bit id of a set of row lockers; never wraps around.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MultiXactId(pub u64);

/// Number of a command within its transaction, from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommandId(pub u32);

/// Number of a subtransaction within its top-level transaction; 1 is the top level itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubxactId(pub u64);

/// Byte position in the write-ahead log. 0 is invalid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lsn(pub u64);

impl Lsn {
    /// No position.
    pub const INVALID: Lsn = Lsn(0);

    /// Whether this is a position at all.
    pub fn is_valid(self) -> bool {
        self.0 != 0
    }
}

impl std::str::FromStr for Lsn {
    type Err = ();

    /// Reads PostgreSQL's form.
    fn from_str(text: &str) -> Result<Lsn, ()> {
        let half = |text: &str| match (1..=8).contains(&text.len()) && !text.starts_with('+') {
            true => u32::from_str_radix(text, 16).map_err(|_| ()),
            false => Err(()),
        };
        let (high, low) = text.split_once('/').ok_or(())?;
        Ok(Lsn(u64::from(half(high)?) << 32 | u64::from(half(low)?)))
    }
}

impl fmt::Display for Lsn {
    /// PostgreSQL's form: upper and lower half in hexadecimal, `16/B374D848`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:X}/{:X}", self.0 >> 32, self.0 as u32)
    }
}

/// Number of a time line: a course of the log's history. A recovery that ends before the end of the log, or on another server, begins a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimelineId(pub u32);

impl TimelineId {
    /// That of a new cluster.
    pub const FIRST: TimelineId = TimelineId(1);

    /// The next number.
    pub fn next(self) -> TimelineId {
        TimelineId(self.0 + 1)
    }
}

impl Default for TimelineId {
    fn default() -> TimelineId {
        TimelineId::FIRST
    }
}

impl fmt::Display for TimelineId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Number of a page within a fork of a relation, from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockNo(pub u32);

impl BlockNo {
    /// No page.
    pub const INVALID: BlockNo = BlockNo(u32::MAX);
}

impl fmt::Display for BlockNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Number of a line pointer within a page, from 1; 0 is invalid.
pub type OffsetNo = u16;

/// Place of a tuple: page and line pointer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tid {
    /// Page of the heap's main fork.
    pub block: BlockNo,
    /// Line pointer on that page, from 1.
    pub offset: OffsetNo,
}

impl Tid {
    /// A tuple's place.
    pub const fn new(block: BlockNo, offset: OffsetNo) -> Tid {
        Tid { block, offset }
    }
}

impl fmt::Display for Tid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({},{})", self.block, self.offset)
    }
}

/// Physical identity of a relation's files: what WAL records and buffer tags name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelFile {
    /// Tablespace (1663 `pg_default`, 1664 `pg_global`).
    pub tablespace: Oid,
    /// Database, or 0 for shared catalogs.
    pub database: Oid,
    /// File number: changes when the relation is rewritten.
    pub number: u32,
}

impl RelFile {
    /// Where files are dropped: stands for all that a database has in a tablespace. No relation's file has the number 0.
    pub const fn whole_database(tablespace: Oid, database: Oid) -> RelFile {
        RelFile { tablespace, database, number: 0 }
    }

    /// Where files are dropped: stands for a tablespace, which has no files any more.
    pub const fn whole_tablespace(tablespace: Oid) -> RelFile {
        RelFile { tablespace, database: Oid::INVALID, number: 0 }
    }

    /// Whether it stands for all files of its database in its tablespace.
    pub const fn is_whole_database(self) -> bool {
        self.number == 0 && self.database.is_valid()
    }

    /// Whether it stands for its tablespace.
    pub const fn is_whole_tablespace(self) -> bool {
        self.number == 0 && !self.database.is_valid()
    }
}

/// The folder of a tablespace that its files are in. It is PostgreSQL's name: backup tools take what lies there for a tablespace's files, and nothing else.
pub const TABLESPACE_VERSION: &str = "PG_18_202506291";

/// Where the files of a tablespace are, below the data directory.
pub fn tablespace_folder(tablespace: Oid) -> String {
    match tablespace {
        Oid::PG_DEFAULT => "base".into(),
        Oid::PG_GLOBAL => "global".into(),
        own => format!("pg_tblspc/{own}/{TABLESPACE_VERSION}"),
    }
}

impl fmt::Display for RelFile {
    /// The path below the data directory, as PostgreSQL's messages name it: `base/5/16384`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&tablespace_folder(self.tablespace))?;
        if self.database.is_valid() {
            write!(f, "/{}", self.database)?;
        }
        if self.number != 0 {
            write!(f, "/{}", self.number)?;
        }
        Ok(())
    }
}

/// A relation's files: the rows and what is kept beside them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Fork {
    /// Tuples or index pages.
    #[default]
    Main = 0,
    /// Free-space map.
    Fsm = 1,
    /// Visibility map.
    Vm = 2,
    /// What the main fork of an unlogged relation is after a crash.
    Init = 3,
}

impl Fork {
    /// Every fork, main first.
    pub const ALL: [Fork; 4] = [Fork::Main, Fork::Fsm, Fork::Vm, Fork::Init];

    /// Ending of the fork's file name: empty, `_fsm`, `_vm` or `_init`.
    pub fn suffix(self) -> &'static str {
        match self {
            Fork::Main => "",
            Fork::Fsm => "_fsm",
            Fork::Vm => "_vm",
            Fork::Init => "_init",
        }
    }

    /// What functions call it: `main`, `fsm`, `vm` or `init`.
    pub fn name(self) -> &'static str {
        match self {
            Fork::Main => "main",
            other => &other.suffix()[1..],
        }
    }

    /// The fork with this number in WAL records.
    pub fn from_u8(n: u8) -> Option<Fork> {
        Fork::ALL.get(n as usize).copied()
    }
}
