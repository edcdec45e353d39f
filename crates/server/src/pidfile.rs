//! `postmaster.pid` and the lock files of Unix sockets.
//!
//! # Layout
//! Eight lines, as PostgreSQL's tools expect them: process, data directory, start time, port, socket directory, address,
//! shared memory key and id, status. A socket's lock file has the first five.
//!
//! # PostgreSQL counterpart and differences
//! `miscinit.c`. The exclusive lock on the data directory is the engine's; `postmaster.pid` only tells others about the
//! server. Whoever has the lock replaces the file, whatever process it names: numbers of processes are used again, above
//! all in containers.

use std::io;
use std::path::{Path, PathBuf};

use base::{Severity, SqlError, SqlState};
use engine::lock::DirectoryLock;
use runtime::fs::{self, File, OpenOptions};

/// How the server is doing, in the last line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Recovering, or not yet listening.
    Starting,
    /// Follows an archive, and accepts no connections.
    Standby,
    /// Accepts connections.
    Ready,
    /// On its way down.
    Stopping,
}

impl Status {
    /// Padded, so that the file never changes its length.
    fn word(self) -> &'static str {
        match self {
            Status::Starting => "starting",
            Status::Standby => "standby ",
            Status::Ready => "ready   ",
            Status::Stopping => "stopping",
        }
    }
}

/// What the file tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    /// Process.
    pub pid: i32,
    /// Data directory.
    pub data_directory: PathBuf,
    /// Seconds since 1970.
    pub started: i64,
    /// TCP port.
    pub port: u16,
    /// First socket directory; may be empty.
    pub socket_directory: String,
    /// First address listened on; may be empty.
    pub address: String,
}

/// A lock file that is removed when this is dropped.
#[derive(Debug)]
pub struct PidFile {
    path: PathBuf,
    contents: Contents,
    /// Whether it has only the five lines of a socket's lock file.
    short: bool,
}

/// Whether a process exists, other than as a dead one that nobody has waited for yet.
pub fn is_alive(pid: i32) -> bool {
    // SAFETY: signal 0 only asks.
    let exists = pid > 0
        && (unsafe { libc::kill(pid, 0) } == 0
            || io::Error::last_os_error().raw_os_error() == Some(libc::EPERM));
    // The state stands behind the name, which is in parentheses and may contain any.
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let dead = stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with(['Z', 'X']));
    exists && !dead
}

/// Whether a process may be a server: it lives, and its program is not known to be another one. Numbers of processes are
/// used again, above all after a restart of the machine or container.
fn may_be_server(pid: i32) -> bool {
    let program = std::fs::read_link(format!("/proc/{pid}/exe"));
    let own = std::env::current_exe();
    let is_server = match (program, own) {
        (Ok(program), Ok(own)) => {
            let name =
                program.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let name = name.trim_end_matches(" (deleted)");
            name == "postgres" || own.file_name().is_some_and(|own| own.to_string_lossy() == name)
        }
        // The process cannot be examined: trust the lock file.
        _ => true,
    };
    is_alive(pid) && is_server
}

/// Process named in the first line of a lock file; a negative number (standalone server) comes out positive.
pub fn read_pid(path: &Path) -> io::Result<Option<i32>> {
    let text = fs::read_to_string(path)?;
    Ok(text.lines().next().and_then(|line| line.trim().parse::<i32>().ok()).map(i32::abs))
}

/// Line `n` (from 1) of a lock file.
pub fn read_line(path: &Path, n: usize) -> io::Result<Option<String>> {
    let text = fs::read_to_string(path)?;
    Ok(text.lines().nth(n - 1).map(str::to_string))
}

/// `external_pid_file`: for programs that do not know the data directory. It is removed when the server ends.
#[derive(Debug)]
pub struct ExternalPidFile(PathBuf);

impl ExternalPidFile {
    /// Writes it; anybody may read it. A failure is an error that the server can live with.
    pub fn write(path: &Path) -> Result<ExternalPidFile, SqlError> {
        let failed = |error: io::Error| {
            let (name, why) = (path.display(), base::os_error(&error));
            let message = format!("could not write external PID file \"{name}\": {why}");
            SqlError::with_severity(Severity::Log, SqlState::IO_ERROR, message)
        };
        fs::write_file(path, format!("{}\n", std::process::id()).as_bytes()).map_err(failed)?;
        fs::set_permissions(path, 0o644).map_err(failed)?;
        Ok(ExternalPidFile(path.to_path_buf()))
    }
}

impl Drop for ExternalPidFile {
    fn drop(&mut self) {
        // Somebody may have taken it away.
        let _ = fs::remove_file(&self.0);
    }
}

/// Another server has the lock of the data directory (F0001).
pub fn directory_in_use(dir: &Path) -> SqlError {
    let hint = match read_pid(&dir.join("postmaster.pid")) {
        Ok(Some(pid)) => {
            format!("Is another postmaster (PID {pid}) running in data directory \"{}\"?", dir.display())
        }
        _ => format!("Is another postmaster running in data directory \"{}\"?", dir.display()),
    };
    fatal(SqlState::LOCK_FILE_EXISTS, "lock file \"postmaster.pid\" already exists").hint(hint)
}

impl PidFile {
    /// Makes `postmaster.pid` anew: by the lock, no living server has it.
    pub fn create(contents: Contents, _lock: &DirectoryLock) -> Result<PidFile, SqlError> {
        let path = contents.data_directory.join("postmaster.pid");
        remove(&path, "postmaster.pid")?;
        File::open(&path, OpenOptions::CREATE_NEW).map_err(|error| not_created("postmaster.pid", &error))?;
        let file = PidFile { path, contents, short: false };
        file.write(Status::Starting)?;
        Ok(file)
    }

    /// Makes the lock file of a socket; fails when a living server has it.
    pub fn create_for_socket(socket: &Path, contents: Contents) -> Result<PidFile, SqlError> {
        let mut path = socket.as_os_str().to_owned();
        path.push(".lock");
        let path = PathBuf::from(path);
        let name = path.display().to_string();
        let running = |pid: i32| {
            fatal(SqlState::LOCK_FILE_EXISTS, format!("lock file \"{name}\" already exists")).hint(format!(
                "Is another postmaster (PID {pid}) using socket file \"{}\"?",
                socket.display()
            ))
        };
        take(&path, &name, &running)?;
        let file = PidFile { path, contents, short: true };
        file.write(Status::Starting)?;
        Ok(file)
    }

    /// The addresses are known now.
    pub fn set_addresses(&mut self, socket_directory: String, address: String) {
        self.contents.socket_directory = socket_directory;
        self.contents.address = address;
    }

    /// Writes the file anew with this status.
    pub fn write(&self, status: Status) -> Result<(), SqlError> {
        let c = &self.contents;
        let mut text = format!(
            "{}\n{}\n{}\n{}\n{}\n",
            c.pid,
            c.data_directory.display(),
            c.started,
            c.port,
            c.socket_directory
        );
        if !self.short {
            // There is no shared memory; tools only look at the line's presence.
            text.push_str(&format!("{}\n{:9} {:9}\n{}\n", c.address, 0, 0, status.word()));
        }
        let written = File::open(&self.path, OpenOptions::TRUNCATE).and_then(|file| {
            file.write_all_at(text.as_bytes(), 0)?;
            file.sync_all()
        });
        written.map_err(|error| {
            fatal(
                SqlState::IO_ERROR,
                format!("could not write lock file \"{}\": {}", self.path.display(), base::os_error(&error)),
            )
        })
    }
}

impl Drop for PidFile {
    fn drop(&mut self) {
        // It may have been removed by hand, and belong to the next server already.
        if matches!(read_pid(&self.path), Ok(Some(pid)) if pid == self.contents.pid) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn fatal(code: SqlState, message: impl Into<String>) -> SqlError {
    SqlError::fatal(code, message)
}

fn not_created(name: &str, error: &io::Error) -> SqlError {
    fatal(SqlState::IO_ERROR, format!("could not create lock file \"{name}\": {}", base::os_error(error)))
}

/// Removes an old lock file, which need not be there.
fn remove(path: &Path, name: &str) -> Result<(), SqlError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(fatal(
            SqlState::IO_ERROR,
            format!("could not remove old lock file \"{name}\": {}", base::os_error(&error)),
        )),
        _ => Ok(()),
    }
}

/// Makes an empty lock file, or takes over one whose server is dead.
fn take(path: &Path, name: &str, running: &dyn Fn(i32) -> SqlError) -> Result<(), SqlError> {
    for _ in 0..100 {
        match File::open(path, OpenOptions::CREATE_NEW) {
            Ok(_) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(not_created(name, &error)),
        }
        match read_pid(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Ok(Some(pid)) => {
                let own = [std::process::id() as i32, std::os::unix::process::parent_id() as i32];
                if !own.contains(&pid) && may_be_server(pid) {
                    return Err(running(pid));
                }
            }
            Ok(None) => {
                return Err(fatal(SqlState::LOCK_FILE_EXISTS, format!("lock file \"{name}\" is empty")).hint(
                    "Either another server is starting, or the lock file is the remnant of a previous server \
                     startup crash.",
                ));
            }
            Err(error) => {
                return Err(fatal(
                    SqlState::IO_ERROR,
                    format!("could not read lock file \"{name}\": {}", base::os_error(&error)),
                ));
            }
        }
        remove(path, name)?;
    }
    Err(fatal(SqlState::LOCK_FILE_EXISTS, format!("could not create lock file \"{name}\"")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(dir: &Path) -> Contents {
        Contents {
            pid: std::process::id() as i32,
            data_directory: dir.to_path_buf(),
            started: 1_795_203_026,
            port: 5918,
            socket_directory: String::new(),
            address: String::new(),
        }
    }

    #[test]
    fn eight_lines_and_their_end() {
        let dir = std::env::temp_dir().join(format!("stampede-pidfile-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        let path = dir.join("postmaster.pid");
        let held = DirectoryLock::acquire(&dir).unwrap();
        // Whatever an old file says.
        fs::write_file(&path, b"1\n").unwrap();
        let mut file = PidFile::create(contents(&dir), &held).unwrap();
        file.set_addresses("/tmp".into(), "localhost".into());
        file.write(Status::Ready).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let lines: Vec<_> = text.lines().collect();
        let pid = std::process::id().to_string();
        let dir_text = dir.display().to_string();
        assert_eq!(lines[..6], [pid.as_str(), &dir_text, "1795203026", "5918", "/tmp", "localhost"]);
        assert_eq!((lines[7], lines.len()), ("ready   ", 8));
        assert_eq!(read_pid(&path).unwrap(), Some(std::process::id() as i32));
        assert_eq!(read_line(&path, 8).unwrap().as_deref(), Some("ready   "));
        drop(file);
        assert!(!path.exists());

        let socket = dir.join(".s.PGSQL.5918");
        let path = dir.join(".s.PGSQL.5918.lock");
        let lock = PidFile::create_for_socket(&socket, contents(&dir)).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 5);
        drop(lock);

        // This process is no obstacle, another one of the same program is, until it is dead.
        let mut other = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "pidfile::tests::sleeper", "--ignored"])
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        while !may_be_server(other.id() as i32) {
            std::thread::yield_now();
        }
        fs::write_file(&path, format!("{}\n", other.id()).as_bytes()).unwrap();
        let error = PidFile::create_for_socket(&socket, contents(&dir)).unwrap_err();
        assert_eq!(error.message(), format!("lock file \"{}\" already exists", path.display()));
        assert_eq!(error.code(), SqlState::LOCK_FILE_EXISTS);
        other.kill().unwrap();
        while is_alive(other.id() as i32) {
            std::thread::yield_now();
        }
        drop(PidFile::create_for_socket(&socket, contents(&dir)).unwrap());
        other.wait().unwrap();
        fs::write_file(&path, b"").unwrap();
        let error = PidFile::create_for_socket(&socket, contents(&dir)).unwrap_err();
        assert_eq!(error.message(), format!("lock file \"{}\" is empty", path.display()));
        // The largest process number is not in use.
        fs::write_file(&path, b"4194304\n").unwrap();
        drop(PidFile::create_for_socket(&socket, contents(&dir)).unwrap());
        fs::remove_dir_all(&dir).unwrap();
    }

    /// Not a test: what the one above starts as another server.
    #[test]
    #[ignore = "sleeps; started by another test"]
    fn sleeper() {
        std::thread::sleep(std::time::Duration::from_secs(60));
    }
}
