//! `stampede verify` and the functions of `amcheck`: each kind of damage is found and named by both, and ends neither the session nor the server.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::support::{Client, Server, output, run, text};
use page::{LinePointer, PAGE_SIZE, PageBytes};

/// Where `pg_amcheck` may be.
const PG_AMCHECK: [&str; 3] =
    ["pg_amcheck", "/usr/lib/postgresql/18/bin/pg_amcheck", "/usr/lib/postgresql/15/bin/pg_amcheck"];

fn filled(server: &Server) -> Client {
    let mut client = server.client();
    run(
        &mut client,
        &[
            "create extension amcheck",
            "create table t (id int primary key, v text, n int)",
            "insert into t select g, 'row ' || g, g % 50 from generate_series(1, 4000) g",
            "create index t_v on t (v)",
            "create index t_n on t ((n * 2)) include (id) where n > 3",
            "alter table t alter v set storage external",
            "insert into t select g, repeat(md5(g::text), 100), 1 from generate_series(5001, 5003) g",
            "update t set v = v || '!' where id % 20 = 0",
            "delete from t where id % 30 = 0",
            "create materialized view m as select id from t where id < 10",
            "create sequence s",
            "create table parts (a int) partition by range (a)",
            "create table part partition of parts for values from (0) to (10)",
            "create index parts_a on parts (a)",
            "vacuum t",
            "update t set n = 7 where id between 3000 and 3010",
        ],
    );
    client
}

/// What the functions say of the table and its indexes: the rows of `verify_heapam`, and the errors.
fn checked(client: &mut Client) -> String {
    let mut out = Vec::new();
    let mut note = |answer: Result<crate::support::client::Rows, crate::support::Failure>| match answer {
        Ok(rows) => rows
            .into_iter()
            .flatten()
            .flatten()
            .filter(|text| !text.is_empty())
            .for_each(|text| out.push(text)),
        Err(crate::support::Failure::Error { code, message, .. }) => out.push(format!("{code} {message}")),
        Err(failure) => panic!("{failure:?}"),
    };
    let heap =
        "select concat_ws(' ', blkno, offnum, attnum, msg) from verify_heapam('t', check_toast => true)";
    note(client.query(heap));
    for index in ["t_pkey", "t_v", "t_n"] {
        note(client.query(&format!("select bt_index_check('{index}', true, true)")));
        note(client.query(&format!("select bt_index_parent_check('{index}', true, true, true)")));
    }
    out.join("\n")
}

#[test]
fn sound_tables_and_indexes_pass() {
    let mut server = Server::start(&["max_prepared_transactions=2"]);
    let mut client = filled(&server);
    assert_eq!(checked(&mut client), "");
    let all = "select count(bt_index_parent_check(indexrelid, true, true, true)) > 150 from pg_index where indisvalid
        and indrelid::regclass::text not like 'parts%'";
    assert_eq!(client.value(all), "t");
    let heaps = "select count(*) from pg_class c, lateral verify_heapam(c.oid, check_toast => true) where relkind in ('r', 'm', 't', 'S')";
    assert_eq!(client.value(heaps), "0");
    // While others write, and with their transactions open.
    let mut other = server.client();
    run(
        &mut other,
        &[
            "begin",
            "insert into t values (9001, 'open', 1)",
            "savepoint a",
            "delete from t where id = 5",
            "rollback to a",
        ],
    );
    assert_eq!(client.value("select count(*) from verify_heapam('t')"), "0");
    run(&mut client, &["select bt_index_check('t_v', true, true)"]);
    run(&mut other, &["prepare transaction 'p'"]);
    // Of one's own too.
    run(
        &mut client,
        &[
            "begin",
            "insert into t values (9002, 'mine', 1)",
            "select bt_index_check('t_v', true)",
            "rollback",
        ],
    );
    drop((client, other));
    server.stop();
    let before = modified(&server.data());
    server.assert_sound();
    assert_eq!(modified(&server.data()), before, "verify changes nothing");
    server.run();
    assert_eq!(server.verify().0, Some(1), "a server runs");
    server.kill();
    assert_eq!(server.verify(), (Some(1), "verify: error: cluster must be shut down\n".into()));
}

/// Names and contents of all files.
fn modified(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => files.extend(modified(&entry.path())),
            false => files.push((entry.path().display().to_string(), fs::read(entry.path()).unwrap())),
        }
    }
    files.sort();
    files
}

#[test]
fn what_is_asked_must_make_sense() {
    let server = Server::start(&[]);
    let mut client = filled(&server);
    for (statement, error) in [
        ("select bt_index_check('t')", "42809 \"t\" is not an index"),
        ("select bt_index_check('parts_a')", "0A000 expected \"btree\" index as targets for verification"),
        ("select bt_index_check(99::oid)", "XX000 could not open relation with OID 99"),
        ("select * from verify_heapam('t_v')", "42809 cannot check relation \"t_v\""),
        ("select * from verify_heapam('parts')", "42809 cannot check relation \"parts\""),
        (
            "select * from verify_heapam('pg_stat_activity')",
            "42809 cannot check relation \"pg_stat_activity\"",
        ),
        ("select * from verify_heapam(null)", "22023 relation cannot be null"),
        ("select * from verify_heapam('t', null)", "22023 on_error_stop cannot be null"),
        ("select * from verify_heapam('t', skip => 'some')", "22023 invalid skip option"),
        (
            "select * from verify_heapam('t', startblock => -1)",
            "22023 starting block number must be between 0 and",
        ),
        (
            "select * from verify_heapam('t', endblock => 99999)",
            "22023 ending block number must be between 0 and",
        ),
    ] {
        let said = client.error(statement);
        assert!(said.starts_with(error), "{statement}: {said}");
    }
    for fine in [
        "select bt_index_check(null)",
        "select * from verify_heapam('t', skip => 'ALL-Frozen', startblock => 1, endblock => 2)",
        "select * from verify_heapam('m')",
        "select * from verify_heapam('s')",
        "select * from verify_heapam('part')",
        "select bt_index_check('part_a_idx', true)",
    ] {
        run(&mut client, &[fine]);
    }
    // Nobody may who was not granted it.
    run(&mut client, &["create role joe login", "grant select on t to joe"]);
    let mut joe = server.connect(&[("user", "joe")]).unwrap();
    assert_eq!(
        joe.error("select bt_index_check('t_v')"),
        "42501 permission denied for function bt_index_check"
    );
    let denied = "42501 permission denied for function verify_heapam";
    assert_eq!(joe.error("select * from verify_heapam('t')"), denied);
    let grant = "grant execute on function bt_index_parent_check(regclass, bool, bool, bool) to joe";
    run(
        &mut client,
        &[
            grant,
            "grant execute on function verify_heapam(regclass, bool, bool, text, bigint, bigint) to joe",
        ],
    );
    run(
        &mut joe,
        &["select bt_index_parent_check('t_n', true, true, true)", "select * from verify_heapam('t')"],
    );
}

/// Changes a page of a relation's file; with `sealed`, so that its check sum is right.
fn change_page(file: &Path, block: u32, sealed: bool, change: &dyn Fn(&mut PageBytes)) {
    let file = fs::OpenOptions::new().read(true).write(true).open(file).unwrap();
    let mut page: PageBytes = [0; PAGE_SIZE];
    let at = u64::from(block) * PAGE_SIZE as u64;
    file.read_exact_at(&mut page, at).unwrap();
    change(&mut page);
    if sealed {
        page::set_checksum(&mut page, base::BlockNo(block));
    }
    file.write_all_at(&page, at).unwrap();
}

/// Damage of a page: of which relation and block, with the right check sum or not, and words that the functions and `stampede verify` say.
type Case = (&'static str, u32, bool, &'static dyn Fn(&mut PageBytes), &'static str);

fn swap(page: &mut PageBytes, one: u16, two: u16) {
    let [a, b] = [one, two].map(|n| page::line_pointer(page, n).unwrap());
    page::set_line_pointer(page, one, b);
    page::set_line_pointer(page, two, a);
}

/// An inserter that there was not yet, of a row that is not frozen.
fn strange_xmin(page: &mut PageBytes) {
    let row = page::item_mut(page, 7).unwrap();
    row[..4].copy_from_slice(&4_000_000u32.to_le_bytes());
    row[21] &= !3;
}

const CASES: &[Case] = &[
    ("t", 1, false, &|page| page[5000] ^= 0x10, "invalid page in block 1 of relation"),
    ("t_pkey", 1, false, &|page| page[5000] ^= 0x10, "invalid page in block 1 of relation"),
    ("t", 1, true, &|page| strange_xmin(page), "xmin 4000000 equals or exceeds next valid transaction ID"),
    (
        "t",
        1,
        true,
        &|page| page::item_mut(page, 7).unwrap()[18] = 77,
        "number of attributes 77 exceeds maximum 3 expected for table",
    ),
    (
        "t",
        1,
        true,
        &|page| page::set_line_pointer(page, 7, LinePointer::redirect(999)),
        "exceeds maximum offset",
    ),
    (
        "t",
        1,
        true,
        &|page| page::set_line_pointer(page, 7, LinePointer::UNUSED),
        "whose line pointer is unused",
    ),
    ("t", 1, true, &|page| swap(page, 7, 8), "which has another key"),
    ("t_pkey", 1, true, &|page| swap(page, 7, 8), "item order invariant violated for index \"t_pkey\""),
    (
        "t_pkey",
        1,
        true,
        &|page| page::delete_items(page, &[7]).unwrap(),
        "lacks matching index tuple within index \"t_pkey\"",
    ),
    (
        "t_pkey",
        2,
        true,
        &|page| page::item_mut(page, 3).unwrap()[8..12].copy_from_slice(&900_000i32.to_le_bytes()),
        "invariant violated for index \"t_pkey\"",
    ),
    (
        "t_v",
        1,
        true,
        &|page| page::set_line_pointer(page, 7, LinePointer::UNUSED),
        "line pointer names no item",
    ),
    ("t_n", 0, true, &|page| page.fill(0), "index \"t_n\" contains corrupted page at block 0"),
    ("t_n", 1, true, &|page| page[PAGE_SIZE - 12] ^= 1, "not a page of a B-tree"),
];

#[test]
fn each_kind_of_damage_is_found_and_named() {
    let mut server = Server::start(&[]);
    let mut client = filled(&server);
    let files: Vec<_> = CASES
        .iter()
        .map(|case| server.data().join(client.value(&format!("select pg_relation_filepath('{}')", case.0))))
        .collect();
    drop(client);
    server.stop();
    for ((relation, block, sealed, change, words), file) in CASES.iter().zip(files) {
        let sound = fs::read(&file).unwrap();
        change_page(&file, *block, *sealed, change);
        let (code, said) = server.verify();
        assert_eq!(code, Some(2), "{relation} {words}: {said}");
        assert!(
            said.contains(words) || !sealed && said.contains("page verification failed"),
            "{relation} {words}: {said}"
        );
        server.run();
        let mut client = server.client();
        let said = checked(&mut client);
        assert!(said.contains(words), "{relation} {words}: {said}");
        // The session goes on, and so does the server.
        assert_eq!(client.value("select 1"), "1");
        drop(client);
        assert!(!server.log().contains("panicked"), "{}", server.log());
        // As it was left, so that nothing of what the server saw is kept.
        server.kill();
        fs::write(&file, sound).unwrap();
        server.run();
        server.stop();
    }
    server.assert_sound();
}

/// An index of each access method that no function of `amcheck` checks.
const OTHER_METHODS: &[&str] = &[
    "create extension vector",
    "create table o (n int, p point, a int[], v vector)",
    "insert into o select g, point(g, g % 7), array[g, g % 9], array[g, g % 5]::vector(2) from generate_series(1, 1000) g",
    "create index o_hash on o using hash (n)",
    "create index o_gin on o using gin (a)",
    "create index o_gist on o using gist (p)",
    "create index o_spgist on o using spgist (p)",
    "create index o_brin on o using brin (n) with (pages_per_range = 1)",
    "create index o_hnsw on o using hnsw ((v::vector(2)) vector_l2_ops) with (m = 4, ef_construction = 8)",
    "create index o_ivfflat on o using ivfflat ((v::vector(2)) vector_l2_ops) with (lists = 3)",
];

fn flip(page: &mut PageBytes, item: u16, byte: usize) {
    page::item_mut(page, item).unwrap()[byte] ^= 0x40;
}

/// Damage of all indexes at a time: what a page is, what an entry says, and an entry that is not there.
const OTHER_CASES: [&[Case]; 3] = [
    &[
        ("o_hash", 1, true, &|page| page::special_mut(page)[8] ^= 1, "block 1: not a page of a hash index"),
        ("o_gin", 6, true, &|page| page::special_mut(page)[8] ^= 1, "block 6: not a page of a GIN index"),
        ("o_gist", 1, true, &|page| page::special_mut(page)[8] ^= 1, "block 1: not a page of a GiST index"),
        (
            "o_spgist",
            3,
            true,
            &|page| page::special_mut(page)[0] ^= 1,
            "block 3: not a page of an SP-GiST index",
        ),
        ("o_brin", 3, true, &|page| page::special_mut(page)[0] ^= 1, "block 3: not a page of a BRIN index"),
        ("o_hnsw", 1, true, &|page| flip(page, 1, 0), "block 1: item is neither a node nor links"),
        ("o_ivfflat", 2, true, &|page| page::special_mut(page)[4] ^= 1, "page has neither lists nor entries"),
    ],
    &[
        ("o_hash", 1, true, &|page| page[page::HEADER_SIZE] ^= 1, "which has another key"),
        ("o_gin", 6, true, &|page| flip(page, 3, 8), "list of rows does not end where its item says"),
        ("o_gist", 1, true, &|page| flip(page, 3, 0), "which is not there"),
        ("o_spgist", 3, true, &|page| flip(page, 1, 16), "which is not there"),
        ("o_brin", 3, true, &|page| flip(page, 1, 16), "lacks matching index tuple"),
        ("o_hnsw", 1, true, &|page| flip(page, 2, 31), "which has another key"),
        ("o_ivfflat", 2, true, &|page| flip(page, 3, 0), "which is not there"),
    ],
    &[
        ("o_gin", 6, true, &|page| swap(page, 3, 4), "block 6: items are out of order"),
        ("o_gist", 1, true, &|page| page::delete_items(page, &[3]).unwrap(), "lacks matching index tuple"),
        (
            "o_hnsw",
            1,
            true,
            &|page| page::set_line_pointer(page, 2, LinePointer::UNUSED),
            "line pointer names no item",
        ),
        ("o_ivfflat", 2, true, &|page| page::delete_items(page, &[3]).unwrap(), "lacks matching index tuple"),
    ],
];

#[test]
fn damage_of_each_access_method_is_told() {
    let mut server = Server::start(&[]);
    let mut client = server.client();
    run(&mut client, OTHER_METHODS);
    let path = |index: &str| format!("select pg_relation_filepath('{index}')");
    let mut file = |case: &Case| server.data().join(client.value(&path(case.0)));
    let files = OTHER_CASES.map(|cases| cases.iter().map(&mut file).collect::<Vec<_>>());
    drop(client);
    server.stop();
    server.assert_sound();
    for (cases, files) in OTHER_CASES.iter().zip(files) {
        let sound: Vec<_> = files.iter().map(|file| fs::read(file).unwrap()).collect();
        for ((_, block, sealed, change, _), file) in cases.iter().zip(&files) {
            change_page(file, *block, *sealed, change);
        }
        let (code, said) = server.verify();
        assert_eq!(code, Some(2), "{said}");
        for (index, _, _, _, words) in *cases {
            let told = |line: &str| line.contains(&format!("\"{index}\"")) && line.contains(words);
            assert!(said.lines().any(told), "{index} {words}: {said}");
        }
        assert_eq!(said.lines().filter(|line| line.starts_with("index ")).count(), cases.len(), "{said}");
        files.iter().zip(sound).for_each(|(file, sound)| fs::write(file, sound).unwrap());
    }
}

#[test]
fn postgresqls_own_program_works() {
    let server = Server::start(&[]);
    drop(filled(&server));
    let works = |program: &&&str| server.tool(program).arg("--version").output().is_ok();
    let Some(program) = PG_AMCHECK.iter().find(works) else {
        println!("skipped: pg_amcheck is not installed");
        return;
    };
    for options in [
        &["--no-strict-names"][..],
        &["--heapallindexed", "--rootdescend", "--parent-check"],
        &["--table=t", "--skip=all-frozen", "--on-error-stop", "--startblock=1"],
        &["--all", "--install-missing"],
    ] {
        let done = output(server.tool(program).args(options));
        let said = text(&done);
        assert_eq!(done.status.code(), Some(0), "{options:?}: {said}");
        assert!(!said.contains("ERROR"), "{options:?}: {said}");
    }
}
