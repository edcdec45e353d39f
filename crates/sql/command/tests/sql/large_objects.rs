//! Large objects: their functions, who may use them, what ends their descriptors.

use crate::support::{Client, Server};

fn message(s: &Client, sql: &str) -> String {
    s.run(sql).err().map_or_else(|| format!("{sql}: no error"), |e| e.message().to_owned())
}

#[test]
fn objects_are_written_read_and_cut() {
    let mut server = Server::new();
    let s = server.connect();
    assert_eq!(s.query("select lo_create(1001), lo_create(0) > 16383"), "1001|t");
    assert_eq!(s.query("select lo_put(1001, 5000, 'ende')"), "");
    assert_eq!(s.query("select length(lo_get(1001)), lo_get(1001, 4998, 4)"), "5004|\\x0000656e");
    assert_eq!(s.query("select pageno, length(data) from pg_largeobject where loid = 1001"), "2|908");
    s.run("begin").unwrap();
    assert_eq!(s.query("select lo_open(1001, x'60000'::int)"), "0");
    assert_eq!(s.query("select lo_lseek(0, 2046, 0), lowrite(0, 'abcd'), lo_tell(0)"), "2046|4|2050");
    assert_eq!(s.query("select lo_lseek(0, -4, 1), loread(0, 6)"), "2046|\\x616263640000");
    assert_eq!(s.query("select lo_lseek64(0, 0, 2), lo_truncate(0, 2048), lo_lseek(0, 0, 2)"), "5004|0|2048");
    assert_eq!(s.query("select lo_truncate64(0, 6000), lo_lseek(0, 0, 2), lo_close(0)"), "0|6000|0");
    assert_eq!(message(&s, "select lo_close(0)"), "invalid large-object descriptor: 0");
    s.run("rollback").unwrap();
    assert_eq!(s.query("select length(lo_get(1001))"), "5004");
    assert_eq!(s.query("select lo_from_bytea(42, '\\x0102'), lo_get(42)"), "42|\\x0102");
    assert_eq!(
        message(&s, "select lo_create(42)"),
        "duplicate key value violates unique constraint \"pg_largeobject_metadata_oid_index\""
    );
    drop(s);
    server.crash_and_restart();
    let s = server.connect();
    assert_eq!(s.query("select lo_get(42), lo_unlink(1001)"), "\\x0102|1");
    assert_eq!(message(&s, "select lo_get(1001)"), "large object 1001 does not exist");
    assert_eq!(s.query("select count(*) from pg_largeobject where loid = 1001"), "0");
}

#[test]
fn a_reader_sees_what_was_there_when_it_opened() {
    let server = Server::new();
    let (s, other) = (server.connect(), server.connect());
    s.run("select lo_from_bytea(7, 'before')").unwrap();
    s.run("begin; select lo_open(7, x'40000'::int), lo_open(7, x'20000'::int)").unwrap();
    other.run("select lo_put(7, 0, 'beyond')").unwrap();
    assert_eq!(
        s.query("select encode(loread(0, 9), 'escape'), encode(loread(1, 9), 'escape')"),
        "before|beyond"
    );
    assert_eq!(message(&s, "select lowrite(0, 'x')"), "large object descriptor 0 was not opened for writing");
    s.run("rollback").unwrap();
    assert_eq!(message(&s, "select loread(0, 1)"), "invalid large-object descriptor: 0");
    s.run("begin; savepoint a; select lo_open(7, x'40000'::int); rollback to a").unwrap();
    assert_eq!(message(&s, "select loread(0, 1)"), "invalid large-object descriptor: 0");
    s.run("rollback; begin; savepoint a; select lo_open(7, x'40000'::int); release a").unwrap();
    assert_eq!(s.query("select encode(loread(0, 2), 'escape')"), "be");
    s.run("rollback; begin read only").unwrap();
    assert_eq!(
        message(&s, "select lo_open(7, x'20000'::int)"),
        "cannot execute lo_open(INV_WRITE) in a read-only transaction"
    );
}

#[test]
fn rights_owners_and_comments() {
    let server = Server::new();
    let s = server.connect();
    s.run("select lo_from_bytea(7, 'x'); create role r; create role q; set role r").unwrap();
    assert_eq!(message(&s, "select lo_get(7)"), "permission denied for large object 7");
    assert_eq!(message(&s, "select lo_unlink(7)"), "must be owner of large object 7");
    assert_eq!(message(&s, "select lo_import('/x')"), "permission denied for function lo_import");
    s.run("reset role; grant select on large object 7 to r; set role r").unwrap();
    assert_eq!(s.query("select lo_get(7), has_largeobject_privilege(7, 'update')"), "\\x78|f");
    assert_eq!(message(&s, "select lo_put(7, 0, 'y')"), "permission denied for large object 7");
    assert_eq!(message(&s, "grant select on large object 8 to r"), "large object 8 does not exist");
    s.run("reset role; alter large object 7 owner to r; comment on large object 7 is 'mine'").unwrap();
    assert_eq!(s.query("select obj_description(7, 'pg_largeobject')"), "mine");
    assert_eq!(s.query("select lomowner::regrole, lomacl from pg_largeobject_metadata"), "r|{r=rw/r}");
    assert_eq!(message(&s, "drop role r"), "role \"r\" cannot be dropped because some objects depend on it");
    s.run("reassign owned by r to q; drop owned by r; drop role r; drop owned by q; drop role q").unwrap();
    assert_eq!(s.query("select count(*) from pg_largeobject_metadata"), "0");
    assert_eq!(s.query("select count(*) from pg_description where objoid = 7"), "0");
    assert_eq!(s.query("select has_largeobject_privilege(7, 'select') is null"), "t");
}
