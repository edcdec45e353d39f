//! A cluster in a temporary directory, and sessions on it without a network.

#![allow(dead_code)]

pub mod crash;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use base::settings::ServerSettings;
use base::{SqlError, SqlResult};
use catalog::BootstrapOptions;
use command::{Commands, initialize};
use engine::{Engine, EngineOptions};
use session::{Column, Format, Instance, Output, RowEncoder, Session, SessionInfo};
use tuple::Datum;

/// An open cluster; its directory goes when it is dropped.
pub struct Server {
    dir: PathBuf,
    instance: Option<Arc<Instance>>,
    next_pid: AtomicI32,
}

fn options() -> EngineOptions {
    EngineOptions { shared_buffers: 512, ..EngineOptions::default() }
}

fn make(dir: &Path) {
    let first = BootstrapOptions {
        superuser: "postgres".into(),
        password: None,
        encoding: base::Encoding::Utf8,
        locale: "C.UTF-8".into(),
        provider: collation::Provider::Libc,
        provider_locale: None,
    };
    initialize(dir, options(), &first).expect("the cluster can be made");
}

impl Server {
    /// Opens a new cluster.
    pub fn new() -> Server {
        let name = format!("stampede-exec-{}-{:x}", std::process::id(), runtime::random_u64());
        let dir = std::env::temp_dir().join(name);
        let program = std::env::current_exe().expect("tests are a program");
        template::copy_of("sql", &program, Path::new(env!("CARGO_TARGET_TMPDIR")), &dir, make);
        let mut server = Server { dir, instance: None, next_pid: AtomicI32::new(1) };
        server.open();
        server
    }

    /// Opens a cluster that another process made, and goes on to keep.
    pub fn open_at(dir: &Path) -> Server {
        let mut server = Server { dir: dir.to_owned(), instance: None, next_pid: AtomicI32::new(1) };
        server.open();
        server
    }

    fn open(&mut self) {
        let engine = Arc::new(Engine::open(&self.dir, options()).expect("the cluster opens"));
        self.instance = Some(Instance::new(engine, Arc::new(ServerSettings::new()), &Commands));
    }

    /// Stops without a checkpoint and opens again: recovery replays the log.
    pub fn crash_and_restart(&mut self) {
        self.crash_and_restart_after(|_| ());
    }

    /// The same; in between, something happens to its directory.
    pub fn crash_and_restart_after<T>(&mut self, happens: impl FnOnce(&Path) -> T) -> T {
        self.instance = None;
        let answer = happens(&self.dir);
        self.open();
        answer
    }

    /// Stops as a server does that is asked to, and opens again.
    pub fn stop_and_restart(&mut self) {
        self.instance().engine().shutdown().expect("the cluster can be closed");
        self.crash_and_restart();
    }

    /// What its sessions share.
    pub fn instance(&self) -> &Arc<Instance> {
        self.instance.as_ref().expect("the cluster is open")
    }

    /// A new session of the superuser.
    pub fn connect(&self) -> Client {
        self.connect_as("postgres").expect("the superuser can connect")
    }

    /// A new session of a role.
    pub fn connect_as(&self, user: &str) -> SqlResult<Client> {
        self.connect_to("postgres", user)
    }

    /// A new session of a role in a database.
    pub fn connect_to(&self, database: &str, user: &str) -> SqlResult<Client> {
        let pid = self.next_pid.fetch_add(1, Ordering::Relaxed);
        let info = SessionInfo::local(pid, user.into(), database.into());
        let instance = self.instance.clone().expect("the cluster is open");
        Ok(Client { session: Session::new(instance, info)? })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.instance = None;
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

/// A session whose results are collected as text.
pub struct Client {
    session: Session,
}

impl Client {
    /// Rows as `psql -At` prints them; an error as `ERROR:  message`.
    pub fn query(&self, sql: &str) -> String {
        match self.run(sql) {
            Ok(collected) => collected.rows.join("\n"),
            Err(error) => error.to_string(),
        }
    }

    /// Everything the statement answered with.
    pub fn run(&self, sql: &str) -> SqlResult<Collected> {
        let mut out = Collected::default();
        self.session.simple_query(sql, &mut out)?;
        Ok(out)
    }

    /// The session.
    pub fn session(&self) -> &Session {
        &self.session
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.session.close();
    }
}

/// An [`Output`] in memory.
#[derive(Default)]
pub struct Collected {
    /// Columns of the last result.
    pub columns: Vec<Column>,
    /// Rows, columns separated by `|`.
    pub rows: Vec<String>,
    /// Command tags.
    pub tags: Vec<String>,
    /// Messages of notices.
    pub notices: Vec<String>,
    /// What COPY FROM STDIN reads, piece by piece.
    pub input: Vec<Vec<u8>>,
}

impl Output for Collected {
    fn row_description(&mut self, columns: &[Column], _: &[Format]) -> SqlResult<()> {
        self.columns = columns.to_vec();
        Ok(())
    }
    fn data_row(&mut self, encoder: &RowEncoder<'_>, row: &[Datum]) -> SqlResult<()> {
        let mut line = Vec::new();
        for (i, value) in row.iter().enumerate() {
            if i > 0 {
                line.push(b'|');
            }
            encoder.encode(i, value, &mut line)?;
        }
        self.rows.push(String::from_utf8_lossy(&line).into_owned());
        Ok(())
    }
    fn command_complete(&mut self, tag: &str) -> SqlResult<()> {
        self.tags.push(tag.to_owned());
        Ok(())
    }
    fn notice(&mut self, notice: &SqlError) {
        self.notices.push(notice.message().to_owned());
    }
    fn copy_in(&mut self, _: Format, _: usize) -> SqlResult<()> {
        self.input.reverse();
        Ok(())
    }
    fn copy_in_data(&mut self) -> SqlResult<Option<Vec<u8>>> {
        Ok(self.input.pop())
    }
    fn copy_out_data(&mut self, row: &[u8]) -> SqlResult<()> {
        self.rows.push(String::from_utf8_lossy(row).into_owned());
        Ok(())
    }
}
