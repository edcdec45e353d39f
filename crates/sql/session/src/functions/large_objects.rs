//! Large objects: `lo_*`, `loread`, `lowrite`.
//!
//! # Invariants
//! 1. A descriptor ends with its transaction, or with the savepoint that it was opened under when that is rolled back.
//! 2. One opened for reading only sees what the statement that opened it saw; others see what is there now.
//!
//! # PostgreSQL counterpart
//! `libpq/be-fsstubs.c`, `storage/large_object/inv_api.c`.

use std::io;

use base::settings::Setting;
use base::{Oid, SqlError, SqlResult, SqlState, SubxactId, sql_err};
use catalog::authority::AclKind;
use catalog::change::{Behavior, MAX_LARGE_OBJECT, ObjectAddress};
use catalog::system::pg_largeobject_metadata;
use catalog::{Row, RowExt};
use runtime::fs::{File, OpenOptions};
use tuple::Datum;
use txn::Snapshot;
use types::SessionFn;
use types::acl::{self, bits};

use super::arg;
use crate::Session;
use crate::reach;

/// Flags of `lo_open`.
const WRITE: i32 = 0x2_0000;
const READ: i32 = 0x4_0000;

/// Largest result of `lo_get`: the longest `bytea`.
const MAX_VALUE: u64 = 0x3FFF_FFFF - 4;

/// Bytes moved at once between a file and an object.
const CHUNK: usize = 64 << 10;

/// An open large object.
pub(crate) struct LargeObject {
    oid: Oid,
    /// What it sees; none: what is there now.
    snapshot: Option<Snapshot>,
    writes: bool,
    at: u64,
    level: SubxactId,
}

impl Session {
    pub(super) fn large_object_function(
        &self,
        id: SessionFn,
        args: &[Datum],
        snapshot: &Snapshot,
    ) -> SqlResult<Option<Datum>> {
        use SessionFn as F;
        let fd = || arg::<i32>(args, 0);
        Ok(Some(match id {
            F::LoCreat => self.lo_create(Oid::INVALID, "lo_creat()")?.into(),
            F::LoCreate => self.lo_create(Oid(arg(args, 0)), "lo_create()")?.into(),
            F::LoUnlink => self.lo_unlink(Oid(arg(args, 0)))?,
            F::LoOpen => self.lo_open(Oid(arg(args, 0)), arg(args, 1), snapshot)?,
            F::LoClose => self.lo_close(fd())?,
            F::Loread => self.lo_read(fd(), arg(args, 1))?,
            F::Lowrite => self.lo_write(fd(), arg(args, 1))?,
            F::LoLseek => {
                let to = self.lo_seek(fd(), i64::from(arg::<i32>(args, 1)), arg(args, 2))?;
                small(to, "lo_lseek", fd())?
            }
            F::LoLseek64 => Datum::Int8(self.lo_seek(fd(), arg(args, 1), arg(args, 2))? as i64),
            F::LoTell => small(self.lo_tell(fd())?, "lo_tell", fd())?,
            F::LoTell64 => Datum::Int8(self.lo_tell(fd())? as i64),
            F::LoTruncate => self.lo_truncate(fd(), i64::from(arg::<i32>(args, 1)))?,
            F::LoTruncate64 => self.lo_truncate(fd(), arg(args, 1))?,
            F::LoFromBytea => {
                let oid = self.lo_create(Oid(arg(args, 0)), "lo_from_bytea()")?;
                self.with_changer(|changer| changer.write_large_object(oid, 0, arg(args, 1)))?;
                oid.into()
            }
            F::LoGet if args.len() == 1 => self.lo_get(Oid(arg(args, 0)), 0, None, snapshot)?,
            F::LoGet => {
                let count = Some(arg::<i32>(args, 2));
                self.lo_get(Oid(arg(args, 0)), arg(args, 1), count, snapshot)?
            }
            F::LoPut => self.lo_put(Oid(arg(args, 0)), arg(args, 1), arg(args, 2))?,
            F::LoImport => {
                let oid = if args.len() > 1 { Oid(arg(args, 1)) } else { Oid::INVALID };
                self.lo_import(arg(args, 0), oid)?.into()
            }
            F::LoExport => self.lo_export(Oid(arg(args, 0)), arg(args, 1))?,
            _ => return Ok(None),
        }))
    }

    /// Owner and ACL; an error if there is no such object.
    fn lo_row(&self, oid: Oid, snapshot: Option<&Snapshot>) -> SqlResult<Row> {
        let row = self.with_reader(|reader| reader.large_object(oid, snapshot))?;
        row.ok_or_else(|| sql_err!(UNDEFINED_OBJECT, "large object {oid} does not exist"))
    }

    /// Fails unless the current user holds the rights with these letters.
    fn lo_check(&self, oid: Oid, letters: &str, snapshot: Option<&Snapshot>) -> SqlResult<()> {
        use pg_largeobject_metadata as m;
        let row = self.lo_row(oid, snapshot)?;
        if self.settings.borrow().get(Setting::lo_compat_privileges).as_bool() {
            return Ok(());
        }
        let held = self.with_reader(|reader| {
            let items = acl::optional_items(&row[m::LOMACL]);
            let owned = (row.oid(m::LOMOWNER), items.as_deref());
            reader.rights(reader.session.user(), AclKind::LARGE_OBJECT.letter, owned)
        })?;
        match letters.chars().all(|letter| held.has((bits(letter.encode_utf8(&mut [0; 4])), false))) {
            true => Ok(()),
            false => Err(sql_err!(INSUFFICIENT_PRIVILEGE, "permission denied for large object {oid}")),
        }
    }

    fn lo_create(&self, oid: Oid, what: &str) -> SqlResult<Oid> {
        self.refuse_read_only(what)?;
        let owner = self.names.user();
        self.with_changer(|changer| changer.create_large_object(oid, owner))
    }

    fn lo_unlink(&self, oid: Oid) -> SqlResult<Datum> {
        self.refuse_read_only("lo_unlink()")?;
        self.check_large_object_owner(oid, true)?;
        for slot in self.large_objects.borrow_mut().iter_mut() {
            if slot.as_ref().is_some_and(|open| open.oid == oid) {
                *slot = None;
            }
        }
        let objects = [ObjectAddress::large_object(oid)];
        self.with_changer(|changer| changer.drop_objects(&objects, Behavior::Cascade))?;
        Ok(Datum::Int4(1))
    }

    /// Fails unless the object is the current user's; `compatible`: `lo_compat_privileges` lets everybody pass.
    pub fn check_large_object_owner(&self, oid: Oid, compatible: bool) -> SqlResult<()> {
        let row = self.lo_row(oid, None)?;
        let free = compatible && self.settings.borrow().get(Setting::lo_compat_privileges).as_bool();
        if free || crate::lookup::names::owns(self, row.oid(pg_largeobject_metadata::LOMOWNER))? {
            return Ok(());
        }
        Err(sql_err!(INSUFFICIENT_PRIVILEGE, "must be owner of large object {oid}"))
    }

    fn lo_open(&self, oid: Oid, mode: i32, snapshot: &Snapshot) -> SqlResult<Datum> {
        let writes = mode & WRITE != 0;
        if mode & (WRITE | READ) == 0 {
            let message = format!("invalid flags for opening a large object: {mode}");
            return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message));
        }
        if writes {
            self.refuse_read_only("lo_open(INV_WRITE)")?;
        }
        let snapshot = (!writes).then(|| snapshot.clone());
        self.lo_check(oid, "r", snapshot.as_ref())?;
        if writes {
            self.lo_check(oid, "w", None)?;
        }
        let level = self.txn.borrow().subxact();
        let open = LargeObject { oid, snapshot, writes, at: 0, level };
        let mut slots = self.large_objects.borrow_mut();
        let free = slots.iter().position(Option::is_none).unwrap_or(slots.len());
        match slots.get_mut(free) {
            Some(slot) => *slot = Some(open),
            None => slots.push(Some(open)),
        }
        Ok(Datum::Int4(free as i32))
    }

    /// Lends an open object.
    fn lo_with<T>(&self, fd: i32, lend: impl FnOnce(&mut LargeObject) -> T) -> SqlResult<T> {
        let mut slots = self.large_objects.borrow_mut();
        let slot = usize::try_from(fd).ok().and_then(|fd| slots.get_mut(fd)?.as_mut());
        slot.map(lend).ok_or_else(|| sql_err!(UNDEFINED_OBJECT, "invalid large-object descriptor: {fd}"))
    }

    /// What is open under a number: the object, what it sees, the position.
    fn lo_place(&self, fd: i32) -> SqlResult<(Oid, Option<Snapshot>, u64)> {
        self.lo_with(fd, |open| (open.oid, open.snapshot.clone(), open.at))
    }

    fn lo_close(&self, fd: i32) -> SqlResult<Datum> {
        self.lo_with(fd, |_| ())?;
        self.large_objects.borrow_mut()[fd as usize] = None;
        Ok(Datum::Int4(0))
    }

    fn lo_read(&self, fd: i32, count: i32) -> SqlResult<Datum> {
        let (oid, snapshot, at) = self.lo_place(fd)?;
        let count = count.max(0) as usize;
        let read = self.with_reader(|r| r.read_large_object(oid, at, count, snapshot.as_ref()))?;
        self.lo_with(fd, |open| open.at += read.len() as u64)?;
        Ok(Datum::Bytes(read.into()))
    }

    fn lo_write(&self, fd: i32, bytes: &[u8]) -> SqlResult<Datum> {
        let (oid, _, at) = self.lo_place(fd)?;
        self.lo_check_writes(fd)?;
        self.refuse_read_only("lowrite()")?;
        self.lo_put_bytes(oid, at, bytes)?;
        self.lo_with(fd, |open| open.at += bytes.len() as u64)?;
        Ok(Datum::Int4(bytes.len() as i32))
    }

    fn lo_check_writes(&self, fd: i32) -> SqlResult<()> {
        if self.lo_with(fd, |open| open.writes)? {
            return Ok(());
        }
        Err(sql_err!(
            OBJECT_NOT_IN_PREREQUISITE_STATE,
            "large object descriptor {fd} was not opened for writing"
        ))
    }

    fn lo_put_bytes(&self, oid: Oid, at: u64, bytes: &[u8]) -> SqlResult<()> {
        if at + bytes.len() as u64 > MAX_LARGE_OBJECT {
            let message = format!("invalid large object write request size: {}", bytes.len());
            return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message));
        }
        self.with_changer(|changer| changer.write_large_object(oid, at, bytes))
    }

    fn lo_seek(&self, fd: i32, offset: i64, whence: i32) -> SqlResult<u64> {
        let (oid, snapshot, at) = self.lo_place(fd)?;
        let from = match whence {
            0 => 0,
            1 => at,
            2 => self.with_reader(|r| r.large_object_size(oid, snapshot.as_ref()))?,
            _ => return Err(sql_err!(INVALID_PARAMETER_VALUE, "invalid whence setting: {whence}")),
        };
        let to = i128::from(from) + i128::from(offset);
        let fits = u64::try_from(to).ok().filter(|to| *to <= MAX_LARGE_OBJECT);
        let to =
            fits.ok_or_else(|| sql_err!(INVALID_PARAMETER_VALUE, "invalid large object seek target: {to}"))?;
        self.lo_with(fd, |open| open.at = to)?;
        Ok(to)
    }

    fn lo_tell(&self, fd: i32) -> SqlResult<u64> {
        self.lo_with(fd, |open| open.at)
    }

    fn lo_truncate(&self, fd: i32, length: i64) -> SqlResult<Datum> {
        let (oid, ..) = self.lo_place(fd)?;
        self.lo_check_writes(fd)?;
        self.refuse_read_only("lo_truncate()")?;
        let fits = u64::try_from(length).ok().filter(|length| *length <= MAX_LARGE_OBJECT);
        let length = fits.ok_or_else(|| {
            sql_err!(INVALID_PARAMETER_VALUE, "invalid large object truncation target: {length}")
        })?;
        self.with_changer(|changer| changer.truncate_large_object(oid, length))?;
        Ok(Datum::Int4(0))
    }

    fn lo_get(&self, oid: Oid, at: i64, count: Option<i32>, snapshot: &Snapshot) -> SqlResult<Datum> {
        if count.is_some_and(|count| count < 0) {
            return Err(sql_err!(INVALID_PARAMETER_VALUE, "requested length cannot be negative"));
        }
        self.lo_check(oid, "r", Some(snapshot))?;
        let at = u64::try_from(at)
            .map_err(|_| sql_err!(INVALID_PARAMETER_VALUE, "invalid large object seek target: {at}"))?;
        let size = self.with_reader(|r| r.large_object_size(oid, Some(snapshot)))?;
        let count = count.map_or(u64::MAX, |count| count as u64).min(size.saturating_sub(at));
        if count > MAX_VALUE {
            return Err(sql_err!(INVALID_PARAMETER_VALUE, "large object read request is too large"));
        }
        runtime::memory::ask(count as usize)?;
        let read = self.with_reader(|r| r.read_large_object(oid, at, count as usize, Some(snapshot)))?;
        Ok(Datum::Bytes(read.into()))
    }

    fn lo_put(&self, oid: Oid, at: i64, bytes: &[u8]) -> SqlResult<Datum> {
        self.refuse_read_only("lo_put()")?;
        self.lo_check(oid, "rw", None)?;
        let at = u64::try_from(at)
            .ok()
            .filter(|at| *at <= MAX_LARGE_OBJECT)
            .ok_or_else(|| sql_err!(INVALID_PARAMETER_VALUE, "invalid large object seek target: {at}"))?;
        self.lo_put_bytes(oid, at, bytes)?;
        Ok(Datum::Bytes(Default::default()))
    }

    fn lo_import(&self, path: &str, oid: Oid) -> SqlResult<Oid> {
        self.refuse_read_only("lo_import()")?;
        reach::check_file(self, path)?;
        let failed = |verb| move |error: io::Error| server_file_error(verb, path, &error);
        let file = File::open(path.as_ref(), OpenOptions::READ).map_err(failed("open"))?;
        let oid = self.lo_create(oid, "lo_import()")?;
        let (mut at, mut buffer) = (0u64, vec![0; CHUNK]);
        loop {
            let count = file.read_at(&mut buffer, at).map_err(failed("read"))?;
            if count == 0 {
                return Ok(oid);
            }
            self.lo_put_bytes(oid, at, &buffer[..count])?;
            at += count as u64;
        }
    }

    fn lo_export(&self, oid: Oid, path: &str) -> SqlResult<Datum> {
        self.lo_check(oid, "r", None)?;
        reach::check_file(self, path)?;
        let failed = |verb| move |error: io::Error| server_file_error(verb, path, &error);
        let file = File::open(path.as_ref(), OpenOptions::TRUNCATE).map_err(failed("create"))?;
        let mut at = 0;
        loop {
            let part = self.with_reader(|r| r.read_large_object(oid, at, CHUNK, None))?;
            if part.is_empty() {
                return Ok(Datum::Int4(1));
            }
            file.write_all_at(&part, at).map_err(failed("write"))?;
            at += part.len() as u64;
        }
    }

    /// The transaction has ended: so have its descriptors.
    pub(crate) fn close_large_objects(&self) {
        let mut slots = self.large_objects.borrow_mut();
        if !slots.is_empty() {
            *slots = Vec::new();
        }
    }

    /// A level of the transaction was rolled back: so are the descriptors opened in it.
    pub(crate) fn close_large_objects_since(&self, level: SubxactId) {
        for slot in self.large_objects.borrow_mut().iter_mut() {
            if slot.as_ref().is_some_and(|open| open.level >= level) {
                *slot = None;
            }
        }
    }

    /// A level of the transaction was released: its descriptors are the one's above.
    pub(crate) fn adopt_large_objects(&self) {
        let level = self.txn.borrow().subxact();
        for open in self.large_objects.borrow_mut().iter_mut().flatten() {
            open.level = open.level.min(level);
        }
    }
}

/// A position for a caller that takes 32 bits.
fn small(at: u64, function: &str, fd: i32) -> SqlResult<Datum> {
    i32::try_from(at).map(Datum::Int4).map_err(|_| {
        sql_err!(
            NUMERIC_VALUE_OUT_OF_RANGE,
            "{function} result out of range for large-object descriptor {fd}"
        )
    })
}

fn server_file_error(verb: &str, path: &str, error: &io::Error) -> SqlError {
    let message = format!("could not {verb} server file \"{path}\": {}", base::os::os_error(error));
    base::os::file_error(error.kind(), base::os::is_transient(error), message)
}
