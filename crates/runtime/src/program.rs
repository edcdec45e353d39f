//! # What
//! Programs that the server runs for a session ([`Program`]): a command line of the shell, whose output is read or whose input is written.
//!
//! # Invariants
//! 1. Nobody waits in a system call: the pipe never blocks, and who finds it empty or full sleeps a little. So whoever waits hears
//!    interrupts, and no thread is kept for a program that is slow.
//! 2. A program that is dropped before its end is interrupted, with all that it started, and killed if that does not help.
//!
//! # PostgreSQL counterpart and differences
//! `OpenPipeStream` and `ClosePipeStream` of `fd.c`. There a program is in the process group of its backend, which is signalled as a whole;
//! here it has a group of its own.

use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::env::{self, Kind};
use crate::interrupt::{Interrupt, wait_interruptible};
use crate::sim::programs::SimProgram;

/// Longest sleep between two checks of a pipe.
const LONGEST: Duration = Duration::from_millis(20);
/// How long a program that was interrupted may take to end.
const GRACE: Duration = Duration::from_secs(2);

/// Why a program could not be read, written or waited for.
#[derive(Debug)]
pub enum ProgramError {
    /// Whoever waited was interrupted.
    Interrupted(Interrupt),
    /// The operating system failed.
    Io(io::Error),
}

impl From<io::Error> for ProgramError {
    fn from(error: io::Error) -> ProgramError {
        ProgramError::Io(error)
    }
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// With this code; 0 is success.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

impl Exit {
    /// Whether this signal ended the program, or one that its shell waited for last.
    pub fn is_signal(self, signal: i32) -> bool {
        self == Exit::Signal(signal) || self == Exit::Code(128 + signal)
    }
}

/// The signal of who writes to a pipe that nobody reads.
pub const BROKEN_PIPE: i32 = libc::SIGPIPE;

/// A signal in the system's own words: `Killed`.
pub fn signal_text(signal: i32) -> String {
    // SAFETY: any number is allowed; the text is a constant, or the thread's own until it asks again.
    let text = unsafe { libc::strsignal(signal) };
    match text.is_null() {
        true => "unrecognized signal".into(),
        // SAFETY: not null, so it is a text that ends.
        false => unsafe { std::ffi::CStr::from_ptr(text) }.to_string_lossy().into_owned(),
    }
}

/// A program that runs.
#[derive(Debug)]
pub struct Program {
    /// None once it has ended, or is somebody else's to end.
    child: Option<Child>,
    /// What stands in for it in a simulation.
    simulated: Option<SimProgram>,
}

/// Sleeps longer each time that there was nothing to do.
struct Patience(Duration);

impl Patience {
    fn new() -> Patience {
        Patience(Duration::from_millis(1))
    }

    fn wait(&mut self) -> Result<(), ProgramError> {
        wait_interruptible(crate::sleep(self.0)).map_err(ProgramError::Interrupted)?;
        self.0 = (self.0 * 2).min(LONGEST);
        Ok(())
    }
}

impl Program {
    /// Starts a program in a directory that reads nothing, and writes where the server does.
    pub fn running(command: &str, dir: &Path) -> io::Result<Program> {
        if let Some(simulated) = env::sim().and_then(|sim| SimProgram::new(&sim, command, dir)) {
            return Ok(Program { child: None, simulated: Some(simulated) });
        }
        Program::start(command, |shell| shell.stdin(Stdio::null()).current_dir(dir))
    }

    /// Starts a program whose output is to be read.
    pub fn reading(command: &str) -> io::Result<Program> {
        Program::start(command, |shell| shell.stdin(Stdio::null()).stdout(Stdio::piped()))
    }

    /// Starts a program that is to be written to.
    pub fn writing(command: &str) -> io::Result<Program> {
        Program::start(command, |shell| shell.stdin(Stdio::piped()))
    }

    fn start(command: &str, pipes: impl FnOnce(&mut Command) -> &mut Command) -> io::Result<Program> {
        if env::kind() == Kind::Sim {
            return Err(io::Error::from(io::ErrorKind::Unsupported));
        }
        let mut shell = Command::new("/bin/sh");
        pipes(shell.arg("-c").arg(command).process_group(0));
        let child = shell.spawn()?;
        let pipe = child.stdout.as_ref().map(AsRawFd::as_raw_fd);
        if let Some(fd) = pipe.or_else(|| child.stdin.as_ref().map(AsRawFd::as_raw_fd)) {
            // SAFETY: a descriptor that the child's handle owns; only its flags are changed.
            let set = unsafe { libc::fcntl(fd, libc::F_SETFL, libc::O_NONBLOCK) };
            if set < 0 {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(Program { child: Some(child), simulated: None })
    }

    /// Reads into `bytes` what there is, at least a byte; 0 at the end.
    pub fn read(&mut self, bytes: &mut [u8]) -> Result<usize, ProgramError> {
        let mut patience = Patience::new();
        loop {
            let Some(pipe) = self.child.as_mut().and_then(|child| child.stdout.as_mut()) else {
                return Ok(0);
            };
            match pipe.read(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => patience.wait()?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                done => return Ok(done?),
            }
        }
    }

    /// Writes all of `bytes`.
    pub fn write_all(&mut self, mut bytes: &[u8]) -> Result<(), ProgramError> {
        let mut patience = Patience::new();
        while !bytes.is_empty() {
            let pipe = self.child.as_mut().and_then(|child| child.stdin.as_mut());
            match pipe.ok_or(io::ErrorKind::BrokenPipe)?.write(bytes) {
                Ok(written) => {
                    bytes = &bytes[written..];
                    patience = Patience::new();
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => patience.wait()?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Closes the pipe and waits for the program's end.
    pub fn finish(&mut self) -> Result<Exit, ProgramError> {
        if let Some(simulated) = self.simulated.take() {
            return Ok(simulated.run());
        }
        let mut patience = Patience::new();
        loop {
            let Some(child) = self.child.as_mut() else { return Ok(Exit::Code(0)) };
            drop((child.stdin.take(), child.stdout.take()));
            if let Some(status) = child.try_wait()? {
                self.child = None;
                return Ok(match status.signal() {
                    Some(signal) => Exit::Signal(signal),
                    None => Exit::Code(status.code().unwrap_or(0)),
                });
            }
            patience.wait()?;
        }
    }
}

impl From<io::ErrorKind> for ProgramError {
    fn from(kind: io::ErrorKind) -> ProgramError {
        ProgramError::Io(kind.into())
    }
}

fn signal_group(child: &Child, signal: i32) {
    // SAFETY: the group is the child's own, and it has not been waited for, so its number is nobody else's.
    unsafe { libc::kill(-(child.id() as i32), signal) };
}

impl Drop for Program {
    fn drop(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        drop((child.stdin.take(), child.stdout.take()));
        signal_group(&child, libc::SIGINT);
        // A destructor does not wait: a thread sees to the end.
        std::thread::spawn(move || {
            let deadline = std::time::Instant::now() + GRACE;
            while matches!(child.try_wait(), Ok(None)) {
                if std::time::Instant::now() >= deadline {
                    signal_group(&child, libc::SIGKILL);
                    return drop(child.wait());
                }
                std::thread::sleep(LONGEST);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_read_and_input_written() {
        let mut program = Program::reading("printf abc; sleep 0.05; printf def; exit 3").unwrap();
        let (mut all, mut bytes) = (Vec::new(), [0; 4]);
        loop {
            let n = program.read(&mut bytes).unwrap();
            if n == 0 {
                break;
            }
            all.extend_from_slice(&bytes[..n]);
        }
        assert_eq!((all.as_slice(), program.finish().unwrap()), (&b"abcdef"[..], Exit::Code(3)));

        let mut program = Program::writing("test $(wc -c) = 1000000").unwrap();
        program.write_all(&vec![b'x'; 1_000_000]).unwrap();
        assert_eq!(program.finish().unwrap(), Exit::Code(0));
    }

    #[test]
    fn who_does_not_read_is_found_out() {
        let mut program = Program::writing("exec 0<&-; kill -9 $$").unwrap();
        let failed = loop {
            if let Err(error) = program.write_all(&[b'x'; 4096]) {
                break error;
            }
        };
        assert!(matches!(failed, ProgramError::Io(error) if error.kind() == io::ErrorKind::BrokenPipe));
        assert_eq!(program.finish().unwrap(), Exit::Signal(9));
    }
}
