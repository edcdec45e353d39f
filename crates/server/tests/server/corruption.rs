//! Files of a data directory that are gone, cut, zeroed or changed: the server refuses to start and names what is wrong, or a statement fails
//! and names it, or everything is as it was. Never a wrong answer, a hang, or an end without a word.
//!
//! `STAMPEDE_TEST_SEED` chooses, `STAMPEDE_CORRUPTIONS` says how many (0: every kind of every file).

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::copies::copy;
use crate::support::{Client, Failure, Random, Server, knob, run};

/// What happens to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Damage {
    Removed,
    Emptied,
    /// Cut to half of its pages.
    Halved,
    /// The last bytes are missing.
    Torn,
    /// All zero, as long as before.
    Zeroed,
    /// One page, or all of a smaller file, is zero.
    ZeroPage,
    /// A bit is another.
    Flipped,
}

const DAMAGES: [Damage; 7] = [
    Damage::Removed,
    Damage::Emptied,
    Damage::Halved,
    Damage::Torn,
    Damage::Zeroed,
    Damage::ZeroPage,
    Damage::Flipped,
];

const PAGE: usize = 8192;

/// The bytes of a damaged file; none if it is gone, or if this damage changes nothing of it.
fn damaged(damage: Damage, bytes: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let mut out = bytes.to_vec();
    // What lies at the beginning is in use, whatever room the file has.
    let used = bytes.iter().rposition(|byte| *byte != 0)? + 1;
    match damage {
        Damage::Removed => return None,
        Damage::Emptied => out.clear(),
        Damage::Halved => out.truncate(if used > PAGE { used.div_ceil(PAGE) / 2 * PAGE } else { used / 2 }),
        Damage::Torn => out.truncate(used.saturating_sub(17)),
        Damage::Zeroed => out.fill(0),
        Damage::ZeroPage => {
            let page = random.below(used.div_ceil(PAGE) as u64) as usize * PAGE;
            let end = (page + PAGE).min(out.len());
            out[page..end].fill(0);
        }
        Damage::Flipped => out[random.below(used as u64) as usize] ^= 1 << random.below(8),
    }
    Some(out)
}

/// What is damaged: a name for people, and the file below the data directory.
struct Victim {
    what: &'static str,
    file: String,
}

/// What must be so, whatever is asked first: a query and its answer.
type Ledger = Vec<(String, String)>;

/// A data directory as a server left it.
struct Image {
    name: &'static str,
    dir: PathBuf,
    victims: Vec<Victim>,
    ledger: Ledger,
}

const TABLES: [&str; 10] = [
    "create table t (id int primary key, v text)",
    "insert into t select g, 'row ' || g || repeat('.', 80) from generate_series(1, 3000) g",
    "create table big (id int primary key, v text)",
    "insert into big select g, (select string_agg(md5(i::text || g), '') from generate_series(1, 200) i) \
     from generate_series(1, 30) g",
    "create table shared (id int primary key, v int)",
    "insert into shared select g, 0 from generate_series(1, 20) g",
    "create sequence s",
    "create role joe login",
    "create view young as select id from t where id <= 10",
    "create function twice(int) returns int language sql as 'select 2 * $1'",
];

/// Many transactions whose ends only the commit log knows: nobody has read their rows.
fn insert_late(client: &mut Client, table: &str) {
    run(client, &[&format!("create table {table} (id int)")]);
    for id in 1..=60 {
        let end = if id % 3 == 0 { "rollback" } else { "commit" };
        run(client, &["begin", &format!("insert into {table} values ({id})"), end]);
    }
}

/// Rows that two sessions lock, so that their lockers are in `pg_multixact`.
fn share_rows(server: &Server) {
    let (mut one, mut two) = (server.client(), server.client());
    run(&mut one, &["begin", "select * from shared for key share"]);
    run(&mut two, &["begin", "select * from shared for key share", "commit"]);
    run(&mut two, &["begin", "update shared set v = 1", "commit"]);
    run(&mut one, &["commit"]);
}

fn path_of(client: &mut Client, relation: &str) -> String {
    client.value(&format!("select pg_relation_filepath('{relation}')"))
}

/// Some files of every sort that there is.
fn victims(server: &Server, client: &mut Client) -> Vec<Victim> {
    let mut list = Vec::new();
    let mut add = |what, file: String| list.push(Victim { what, file });
    for (what, relation) in [
        ("table", "t"),
        ("index", "t_pkey"),
        ("table of unread rows", "late"),
        ("shared table", "shared"),
        ("sequence", "s"),
        ("pg_class", "pg_class"),
        ("pg_attribute", "pg_attribute"),
        ("index of pg_class", "pg_class_oid_index"),
        ("pg_authid", "pg_authid"),
        ("pg_database", "pg_database"),
    ] {
        add(what, path_of(client, relation));
    }
    let toast = client.value("select reltoastrelid::regclass from pg_class where relname = 'big'");
    add("TOAST table", path_of(client, &toast));
    let index = client
        .value(&format!("select indexrelid::regclass from pg_index where indrelid = '{toast}'::regclass"));
    add("TOAST index", path_of(client, &index));
    add("free space map", path_of(client, "t") + "_fsm");
    add("visibility map", path_of(client, "t") + "_vm");
    let database = path_of(client, "t").rsplit_once('/').unwrap().0.to_owned();
    add("map of files", database.clone() + "/pg_filenode.map");
    add("map of shared files", "global/pg_filenode.map".into());
    add("control file", "global/pg_control".into());
    add("version", "PG_VERSION".into());
    add("lengths of files", "global/pg_lengths".into());
    add("commit log", "pg_xact/0000".into());
    add("sets of lockers", "pg_multixact/0000".into());
    let only = |folder: &str| {
        let mut names: Vec<_> = fs::read_dir(server.data().join(folder))
            .into_iter()
            .flatten()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names.into_iter().map(move |name| format!("{folder}/{name}")).collect::<Vec<_>>()
    };
    only("pg_wal").into_iter().for_each(|file| add("log", file));
    only("pg_twophase").into_iter().for_each(|file| add("prepared transaction", file));
    add("statistics", "pg_stat/pgstat.stat".into());
    list
}

const SETTINGS: [&str; 7] = [
    // A server that is open already ends at the first page that cannot be redone: `damage.rs` has that.
    "stampede.open_during_recovery=off",
    "max_prepared_transactions=2",
    "autovacuum=off",
    "fsync=off",
    "min_wal_size=2MB",
    "log_line_prefix=%e:",
    "stampede.workers=1",
];

/// Questions that need every file that is damaged, asked in both images.
const QUESTIONS: [&str; 13] = [
    "select count(*), sum(id), sum(length(v)), min(v), max(v) from t",
    "select count(*), sum(id) from late",
    "select count(*), sum(id) from later",
    "select count(*), sum(id), md5(string_agg(v, '' order by id)) from big",
    "select count(*), sum(v) from (select v from shared for update) locked",
    "set enable_seqscan = off; select count(*), sum(id), max(v) from t where id between 1 and 3000; reset enable_seqscan",
    "set enable_seqscan = off; select v from t where id = 1717; reset enable_seqscan",
    "select count(*) from young",
    "select twice(21)",
    "select rolname from pg_roles where rolname = 'joe'",
    "select last_value from s",
    "select string_agg(gid, ' ') from pg_prepared_xacts",
    "select string_agg(datname, ' ' order by datname) from pg_database",
];

fn answer(client: &mut Client, question: &str) -> Result<String, Failure> {
    let rows = client.query(question)?;
    let row = |row: &Vec<Option<String>>| {
        row.iter().map(|value| value.as_deref().unwrap_or("null")).collect::<Vec<_>>().join(" ")
    };
    Ok(rows.iter().map(row).collect::<Vec<_>>().join("; "))
}

/// Makes a data directory, `name`d by how its server ended, in a folder of `server`.
fn image(server: &mut Server, name: &'static str, kill: bool) -> Image {
    SETTINGS.iter().for_each(|setting| server.set_option(setting));
    server.run();
    let mut client = server.client();
    run(&mut client, &TABLES);
    run(&mut client, &["vacuum t", "select nextval('s')"]);
    share_rows(server);
    run(&mut client, &["begin", "insert into t values (4000, 'prepared')", "prepare transaction 'p'"]);
    insert_late(&mut client, "late");
    run(&mut client, &["checkpoint"]);
    insert_late(&mut client, "later");
    run(&mut client, &["update t set v = v || '!' where id % 100 = 0", "select nextval('s')"]);
    let victims = victims(server, &mut client);
    // Nobody reads the rows of the image before it is made.
    drop(client);
    match kill {
        true => server.kill(),
        false => server.stop(),
    }
    let dir = server.file(name);
    copy(&server.data(), &dir);
    // What is right is what the whole directory says.
    server.run();
    let mut client = server.client();
    let ledger = QUESTIONS.iter().map(|&q| (q.to_owned(), answer(&mut client, q).unwrap())).collect();
    drop(client);
    server.stop();
    Image { name, dir, victims, ledger }
}

/// SQLSTATEs of what was found to be damaged or missing.
const FOUND: [&str; 4] = ["XX001", "XX002", "58P01", "58030"];

/// Whether the file was damaged: not all damage changes every file.
fn damage_file(path: &Path, damage: Damage, random: &mut Random) -> bool {
    // A server that was killed left no statistics.
    let Ok(bytes) = fs::read(path) else { return false };
    match damaged(damage, &bytes, random) {
        Some(new) if new == bytes => return false,
        Some(new) => fs::write(path, new).unwrap(),
        None if damage == Damage::Removed => fs::remove_file(path).unwrap(),
        None => return false,
    }
    true
}

/// What a server that did not start has to say.
fn refusal(log: &str, victim: &Victim) -> Result<String, String> {
    let last = log.lines().rfind(|line| line.contains("FATAL:") || line.contains("PANIC:"));
    let last = last.ok_or("it ended without a word")?;
    let name = victim.file.rsplit('/').next().unwrap_or_default();
    let words = ["WAL", "checkpoint", "control file", "are incompatible", name, "\"base/", "\"global/"];
    match words.iter().any(|word| log.contains(word)) {
        true => Ok(format!("refused: {last}")),
        false => Err("it named nothing".into()),
    }
}

/// Asks in a session of its own, as some may be refused. The error of what is damaged, if there is one.
fn ask(server: &Server, question: &str, right: Option<&String>) -> Result<Option<String>, String> {
    match (server.connect(&[]).and_then(|mut client| answer(&mut client, question)), right) {
        (Ok(answer), Some(right)) if answer != *right => {
            Err(format!("wrong: {answer} instead of {right}: {question}"))
        }
        (Ok(_), _) => Ok(None),
        (Err(Failure::Error { code, message, .. }), _) => {
            // Of an earlier moment: some tables are not there yet.
            let found = FOUND.contains(&code.as_str()) || right.is_none() && code == "42P01";
            match found && !message.contains("internal error") {
                true => Ok(Some(message)),
                false => Err(format!("{code} {message}: {question}")),
            }
        }
        (Err(failure), _) => Err(format!("{failure:?}: {question}")),
    }
}

/// What else is done, after all questions.
const CHANGES: [&str; 6] = [
    "insert into t select g, 'new' from generate_series(5000, 5300) g",
    "delete from t where id between 5000 and 5300",
    "create table fresh as select 1 a",
    "drop table if exists fresh",
    "commit prepared 'p'",
    "vacuum t",
];

/// How a server takes a damaged directory; an error if that is not as it must be.
fn attempt(
    server: &mut Server,
    (image, victim, damage): &Case<'_>,
    random: &mut Random,
) -> Result<String, String> {
    let data = server.data();
    let _ = fs::remove_dir_all(&data);
    copy(&image.dir, &data);
    if !damage_file(&data.join(&victim.file), *damage, random) {
        return Ok("nothing to damage".into());
    }
    server.launch();
    if !server.becomes_ready() {
        return refusal(&server.log(), victim);
    }
    let mut errors = Vec::new();
    // A log without its end tells of an earlier moment, and nothing says that it went on.
    let earlier = image.name == "killed" && victim.what == "log";
    for (question, right) in &image.ledger {
        errors.extend(ask(server, question, (!earlier).then_some(right))?);
    }
    for change in CHANGES {
        errors.extend(ask(server, change, None)?);
    }
    if errors.is_empty() && !earlier {
        errors.extend(ask(server, "select v from t where id = 4000", Some(&"prepared".into()))?);
    }
    server.signal(libc::SIGINT);
    let ended = server.wait();
    let log = server.log();
    if log.contains("panicked") || !ended.success() && !log.contains("PANIC:") && !log.contains("FATAL:") {
        return Err("it ended without a word, or panicked".into());
    }
    match errors.first() {
        Some(first) => Ok(format!("{} errors: {first}", errors.len())),
        None => Ok("all right".into()),
    }
}

/// What is damaged, and how.
type Case<'a> = (&'a Image, &'a Victim, Damage);

/// Some cases, or all, in random order.
fn cases<'a>(images: &'a [Image], random: &mut Random) -> Vec<Case<'a>> {
    let mut cases: Vec<Case<'a>> = Vec::new();
    for image in images {
        for victim in &image.victims {
            cases.extend(DAMAGES.iter().map(|&damage| (image, victim, damage)));
        }
    }
    for at in (1..cases.len()).rev() {
        cases.swap(at, random.below(at as u64 + 1) as usize);
    }
    match knob("STAMPEDE_CORRUPTIONS", 64) {
        0 => {}
        most => cases.truncate(most as usize),
    }
    cases
}

#[test]
fn damage_is_found_or_harmless() {
    let seed = knob("STAMPEDE_TEST_SEED", u64::from(std::process::id()));
    println!("STAMPEDE_TEST_SEED={seed}");
    let mut servers: Vec<Server> = (0..2).map(|_| Server::init(&["--wal-segsize=1"])).collect();
    let names = [("stopped", false), ("killed", true)];
    let images: Vec<Image> =
        servers.iter_mut().zip(names).map(|(server, (name, kill))| image(server, name, kill)).collect();
    let cases = cases(&images, &mut Random(seed));
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for server in &mut servers {
            let (next, failures, cases) = (&next, &failures, &cases);
            scope.spawn(move || {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = cases.get(number) else { break };
                    let what = format!("{} {}, {:?} ({})", case.0.name, case.1.what, case.2, case.1.file);
                    match attempt(server, case, &mut Random(seed ^ number as u64)) {
                        Ok(outcome) => println!("{what}: {outcome}"),
                        Err(why) => {
                            server.kill_if_running();
                            eprintln!("{what}: {why}\n{}", server.log());
                            failures.lock().unwrap().push(format!("{what}: {why}"));
                        }
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), cases.len(), failures.join("\n"));
}
