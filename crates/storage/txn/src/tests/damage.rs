//! Files of the commit log and of the multixacts that are not as they were written.

use std::path::Path;

use base::{Lsn, SqlError, Xid};
use runtime::fs::{self, File, OpenOptions};

use super::{FIRST, Server, simulate};
use crate::clog::XIDS_PER_PAGE;
use crate::{LockStrength, Log, Member, MemberStatus, SyncCommit, TxnError, TxnStart, XidStatus};

/// A server that was checkpointed and killed: where redo begins, two xids that committed, one before the checkpoint and one after it.
struct Killed {
    server: Server,
    start: TxnStart,
    redo_from: usize,
    early: Xid,
    late: Xid,
}

fn commit(server: &Server) -> Xid {
    let mut t = server.session(1);
    let xid = t.xid().unwrap();
    t.commit(SyncCommit::On, &[]).unwrap();
    xid
}

/// Its commit log has 41 pages, in two files; `early` is on the first, `late` on the last.
fn killed() -> Killed {
    let server = Server::new();
    let early = commit(&server);
    while server.system.next_xid().0 < 39 * XIDS_PER_PAGE + 100 {
        server.system.observe_xid(Xid(server.system.clog().limit().0 - 1));
        commit(&server);
    }
    let status = MemberStatus::Locked(LockStrength::KeyShare);
    let members: Vec<_> = (3..2000).map(|xid| Member { xid: Xid(xid), status }).collect();
    server.system.make_multi(&members).unwrap();
    let redo_from = server.log.records.lock().len();
    server.system.checkpoint(Lsn(redo_from as u64)).unwrap();
    let (next_xid, next_multi) = (server.system.next_xid(), server.system.next_multi_with_page());
    let start = TxnStart { next_xid, next_multi, ..FIRST };
    let late = commit(&server);
    server.system.make_multi(&members[..300]).unwrap();
    let end = server.log.records.lock().len() as u64;
    server.log.flush(Lsn(end)).unwrap();
    Killed { server, start, redo_from, early, late }
}

fn recover(killed: &Killed) -> Result<Server, TxnError> {
    let server = Server::open(killed.server.log.clone(), killed.start);
    let records = killed.server.log.records.lock().clone();
    for record in &records[killed.redo_from..] {
        server.system.observe_xid(record.xid);
        let (rmgr, info, xid) = (record.rmgr, record.info, record.xid);
        assert!(server.system.redo_parts(rmgr, info, xid, &record.data, record.end)?);
    }
    server.system.end_recovery()?;
    Ok(server)
}

fn open(file: &str) -> File {
    File::open(&Path::new("/data").join(file), OpenOptions::READ_WRITE).unwrap()
}

fn told(error: TxnError) -> String {
    let error = SqlError::from(error);
    format!("{} {} {}", error.code(), error.message(), error.report().detail.clone().unwrap())
}

fn refused(damage: impl Fn() + 'static, xid: impl Fn(&Killed) -> u64 + 'static, detail: &'static str) {
    simulate(1, move || {
        let killed = killed();
        damage();
        let said = told(recover(&killed).err().expect("it is refused"));
        let code = if detail.contains("No such file") { "58P01" } else { "XX001" };
        let id = xid(&killed);
        assert_eq!(said, format!("{code} could not access status of transaction {id} {detail}"));
        // Nothing of the failed attempt makes the next one succeed.
        assert_eq!(told(recover(&killed).err().expect("again")), said);
    });
}

#[test]
fn what_redo_needs_of_the_commit_log_is_there_or_named() {
    refused(
        || fs::remove_file(Path::new("/data/pg_xact/0001")).unwrap(),
        |killed| killed.late.0,
        "Could not open file \"pg_xact/0001\": No such file or directory.",
    );
    refused(
        || open("pg_xact/0001").set_len(8 * 8192 + 100).unwrap(),
        |killed| killed.late.0,
        "Could not read from file \"pg_xact/0001\" at offset 65536: read too few bytes.",
    );
    refused(
        || open("pg_xact/0001").write_all_at(&[0; 512], 8 * 8192).unwrap(),
        |killed| killed.late.0,
        "Could not read from file \"pg_xact/0001\" at offset 65536: checksum does not match.",
    );
}

#[test]
fn other_files_are_there_or_named() {
    refused(
        || fs::remove_file(Path::new("/data/pg_xact/0000")).unwrap(),
        |_| 3,
        "Could not open file \"pg_xact/0000\": No such file or directory.",
    );
    refused(
        || open("pg_xact/0000").set_len(5 * 8192).unwrap(),
        |_| 5 * XIDS_PER_PAGE,
        "Could not read from file \"pg_xact/0000\" at offset 40960: read too few bytes.",
    );
    refused(
        || fs::remove_file(Path::new("/data/pg_multixact/0000")).unwrap(),
        |killed| killed.start.next_multi.0,
        "Could not open file \"pg_multixact/0000\": No such file or directory.",
    );
}

#[test]
fn a_damaged_page_is_an_error_where_it_is_read() {
    simulate(2, || {
        let killed = killed();
        let file = open("pg_xact/0000");
        for damage in 0..512 {
            let mut sector = [0; 512];
            file.read_exact_at(&mut sector, 0).unwrap();
            let whole = sector;
            match damage % 4 {
                0 => sector[damage] ^= 1 << (damage % 8),
                1 => sector.fill(0),
                2 => sector[..damage].fill(0xff),
                _ => file.read_exact_at(&mut sector, 8192 + 512).unwrap(),
            }
            file.write_all_at(&sector, 0).unwrap();
            let server = recover(&killed).unwrap();
            let said = told(server.system.did_commit(killed.early).unwrap_err());
            let detail = "Could not read from file \"pg_xact/0000\" at offset 0: checksum does not match.";
            assert_eq!(said, format!("XX001 could not access status of transaction 3 {detail}"), "{damage}");
            file.write_all_at(&whole, 0).unwrap();
        }
        let server = recover(&killed).unwrap();
        assert_eq!(server.system.status(killed.early).unwrap(), XidStatus::Committed);
        assert_eq!(server.system.status(killed.late).unwrap(), XidStatus::Committed);
    });
}

#[test]
fn a_page_that_a_crash_tore_between_sectors_is_whole() {
    simulate(3, || {
        let killed = killed();
        let path = Path::new("/data/pg_xact/0001");
        let before = fs::read_to_vec(path).unwrap();
        let end = Lsn(killed.server.log.records.lock().len() as u64);
        killed.server.system.checkpoint(end).unwrap();
        let after = fs::read_to_vec(path).unwrap();
        assert_ne!(before, after);
        // Some sectors of the one, some of the other.
        for (number, sector) in before.chunks(512).enumerate().filter(|(number, _)| number % 2 == 0) {
            open("pg_xact/0001").write_all_at(sector, number as u64 * 512).unwrap();
        }
        let server = recover(&killed).unwrap();
        assert_eq!(server.system.status(killed.late).unwrap(), XidStatus::Committed);
    });
}
