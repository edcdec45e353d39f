//! Foreign tables over files, by `file_fdw`.

use std::fs;
use std::path::PathBuf;

use crate::support::Client;

/// A folder for one test, which goes with it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("file_fdw-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn file(&self, name: &str, content: &str) -> String {
        let path = self.0.join(name);
        fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn error(s: &Client, sql: &str) -> base::SqlError {
    s.run(sql).err().unwrap_or_else(|| panic!("{sql}: no error"))
}

fn begin(s: &Client) {
    s.run("create extension file_fdw; create server files foreign data wrapper file_fdw").unwrap();
}

#[test]
fn files_are_read_as_copy_reads_them() {
    let (server, folder) = (crate::server(), Folder::new("read"));
    let s = server.connect();
    begin(&s);
    let csv = folder.file("a.csv", "id,name\n1,one\n2,\"\"\n3,\n4,four\n");
    s.run(&format!(
        "create foreign table t (id int not null, name text, twice int default 7)
         server files options (filename '{csv}', format 'csv', header 'true')"
    ))
    .unwrap();
    assert_eq!(error(&s, "select * from t").message(), "missing data for column \"twice\"");
    s.run("alter foreign table t drop twice").unwrap();
    assert_eq!(s.query("select * from t where id < 4 order by id desc"), "3|\n2|\n1|one");
    assert_eq!(s.query("select id from t where name is null"), "3");
    s.run("alter foreign table t alter name options (force_null 'true')").unwrap();
    assert_eq!(s.query("select id from t where name is null"), "2\n3");
    assert_eq!(s.query("select tableoid::regclass, count(*) from t group by 1"), "t|4");
    assert_eq!(
        s.query("select a.id, b.name from t a, lateral (select name from t where id = a.id) b where a.id in (1, 4)"),
        "1|one\n4|four"
    );
    let text = folder.file("a.txt", "1\tx\n2\ty\nz\tw\n");
    s.run(&format!("create foreign table u (a int, b text) server files options (filename '{text}')"))
        .unwrap();
    let bad = error(&s, "select a from u");
    assert_eq!(bad.message(), "invalid input syntax for type integer: \"z\"");
    assert_eq!(bad.report().context.as_deref(), Some("COPY u, line 3, column a: \"z\""));
    // What is not wanted is not read.
    assert_eq!(s.query("select b from u"), "x\ny\nw");
    assert_eq!(s.query("select a from u limit 2"), "1\n2");
    s.run("alter foreign table u options (on_error 'ignore')").unwrap();
    let found = s.run("select a from u").unwrap();
    assert_eq!(found.rows, ["1", "2"]);
    assert_eq!(found.notices, ["1 row was skipped due to data type incompatibility"]);
    s.run("set restrict_nonsystem_relation_kind = 'foreign-table'").unwrap();
    assert_eq!(error(&s, "select 1 from u").message(), "access to non-system foreign table is restricted");
    s.run("reset restrict_nonsystem_relation_kind").unwrap();
    s.run("begin; declare c cursor for select b from u").unwrap();
    assert_eq!(s.query("fetch 2 from c"), "x\ny");
    s.run("commit").unwrap();
}

#[test]
fn plans_and_statistics_know_the_file() {
    let (server, folder) = (crate::server(), Folder::new("plans"));
    let s = server.connect();
    begin(&s);
    let lines: String = (0..2000).map(|i| format!("{i},{}\n", i % 4)).collect();
    let size = lines.len();
    let csv = folder.file("b.csv", &lines);
    s.run(&format!(
        "create foreign table t (a int, b int) server files options (filename '{csv}', format 'csv')"
    ))
    .unwrap();
    assert_eq!(
        s.query("explain (costs off) select a from t where b = 1"),
        format!("Foreign Scan on t\n  Filter: (b = 1)\n  Foreign File: {csv}")
    );
    assert!(s.query("explain select a from t").ends_with(&format!("  Foreign File Size: {size} b")));
    s.run("analyze t").unwrap();
    assert_eq!(s.query("select reltuples, relpages from pg_class where oid = 't'::regclass"), "2000|2");
    assert_eq!(s.query("select n_distinct from pg_stats where tablename = 't' and attname = 'b'"), "4");
    s.run("create foreign table p (a int) server files options (program 'printf \"1\\n2\\n\"')").unwrap();
    assert_eq!(s.query("select sum(a) from p"), "3");
    assert!(s.query("explain (costs off) select * from p").contains("Foreign Program: printf"));
    assert_eq!(s.run("analyze p").unwrap().notices, ["skipping \"p\" --- cannot analyze this foreign table"]);
    s.run("alter foreign table p options (set program 'exit 3')").unwrap();
    let failed = error(&s, "select * from p");
    assert_eq!(failed.message(), "program \"exit 3\" failed");
}

#[test]
fn options_are_checked() {
    let (server, folder) = (crate::server(), Folder::new("options"));
    let s = server.connect();
    begin(&s);
    let path = folder.file("c.txt", "");
    let make = |options: &str| {
        error(&s, &format!("create foreign table t (a int) server files options ({options})"))
    };
    for (options, message) in [
        ("format 'csv'".to_owned(), "either filename or program is required for file_fdw foreign tables"),
        (format!("filename '{path}', program 'true'"), "conflicting or redundant options"),
        (format!("filename '{path}', format 'xml'"), "COPY format \"xml\" not recognized"),
        (format!("filename '{path}', quote ':'"), "COPY QUOTE requires CSV mode"),
        (
            format!("filename '{path}', reject_limit '1'"),
            "COPY REJECT_LIMIT requires ON_ERROR to be set to IGNORE",
        ),
        (format!("filename '{path}', force_null 'true'"), "invalid option \"force_null\""),
    ] {
        assert_eq!(make(&options).message(), message, "{options}");
    }
    let near = make("filenam 'a'");
    assert_eq!(near.report().hint.as_deref(), Some("Perhaps you meant the option \"filename\"."));
    assert_eq!(near.code().as_str(), "HV00D");
    assert_eq!(
        error(&s, "create server other foreign data wrapper file_fdw options (a 'b')")
            .report()
            .hint
            .as_deref(),
        Some("There are no valid options in this context.")
    );
    s.run(&format!("create foreign table t (a int) server files options (filename '{path}')")).unwrap();
    assert_eq!(
        error(&s, "alter foreign table t alter a options (force_null 'maybe')").message(),
        "force_null requires a Boolean value"
    );
    s.run("create role r; grant usage on foreign server files to r; alter foreign table t owner to r")
        .unwrap();
    s.run("set role r").unwrap();
    let denied = error(&s, "alter foreign table t options (set filename '/etc/passwd')");
    assert_eq!(
        denied.message(),
        "permission denied to set the \"filename\" option of a file_fdw foreign table"
    );
    assert_eq!(s.query("select count(*) from t"), "0");
}

#[test]
fn rows_of_files_cannot_be_changed_and_are_partitions() {
    let (server, folder) = (crate::server(), Folder::new("parts"));
    let s = server.connect();
    begin(&s);
    let (one, two) = (folder.file("1.csv", "1,a\n1,b\n"), folder.file("2.csv", "2,c\n"));
    s.run("create table p (a int, b text) partition by list (a)").unwrap();
    for (n, file) in [(1, &one), (2, &two)] {
        s.run(&format!(
            "create foreign table p{n} partition of p for values in ({n})
             server files options (filename '{file}', format 'csv')"
        ))
        .unwrap();
    }
    s.run("create table p3 partition of p for values in (3); insert into p values (3, 'd')").unwrap();
    assert_eq!(s.query("select * from p order by b"), "1|a\n1|b\n2|c\n3|d");
    assert_eq!(s.query("select * from p where a = 2"), "2|c");
    assert_eq!(
        s.query("explain (costs off) select * from p where a = 2"),
        format!("Foreign Scan on p2 p\n  Filter: (a = 2)\n  Foreign File: {two}")
    );
    for (statement, message) in [
        ("insert into p1 values (1)", "cannot insert into foreign table \"p1\""),
        ("insert into p values (2)", "cannot insert into foreign table \"p2\""),
        ("update p1 set b = 'x'", "cannot update foreign table \"p1\""),
        ("delete from p1", "cannot delete from foreign table \"p1\""),
        ("update p set b = 'x'", "cannot update foreign table \"p1\""),
        ("truncate p2", "cannot truncate foreign table \"p2\""),
        ("copy p1 from stdin", "cannot insert into foreign table \"p1\""),
        (
            "merge into p1 using p2 on true when matched then delete",
            "cannot execute MERGE on relation \"p1\"",
        ),
    ] {
        assert_eq!(error(&s, statement).message(), message, "{statement}");
    }
    s.run("update p set b = 'x' where a = 3").unwrap();
    assert_eq!(s.query("select b from p3"), "x");
    s.run("create table l (a int); insert into l values (1)").unwrap();
    s.run("update l set a = p2.a from p2; delete from l using p1 where l.a = p1.a").unwrap();
    assert_eq!(s.query("select a from l for update"), "2");
    assert_eq!(s.query("select l.a from l, p2 where l.a = p2.a for update"), "2");
}
