//! Who a client is by the word of others: its operating system, or the ident server of its machine.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpSocket;

use super::{Attempt, Failure};
use crate::session::Peer;

/// Name of an operating system user.
pub fn user_name(uid: u32) -> Option<String> {
    let mut buffer = vec![0u8; 4096];
    // SAFETY: all pointers are valid for the call, and the buffer's length is passed with it; the name it points to lies in
    // the buffer, which outlives the copy made of it.
    unsafe {
        let mut entry: libc::passwd = std::mem::zeroed();
        let mut found = std::ptr::null_mut();
        let rc = libc::getpwuid_r(uid, &mut entry, buffer.as_mut_ptr().cast(), buffer.len(), &mut found);
        if rc != 0 || found.is_null() {
            return None;
        }
        Some(std::ffi::CStr::from_ptr(entry.pw_name).to_string_lossy().into_owned())
    }
}

impl Attempt<'_> {
    /// The method `peer`: the operating system's user on the other end of the socket.
    pub(super) fn peer_user(&self) -> Result<String, Failure> {
        let uid = match self.peer {
            Peer::Unix(Some(uid)) => uid,
            _ => return Err(self.wrong("could not get peer credentials".into())),
        };
        user_name(uid)
            .ok_or_else(|| self.wrong(format!("could not look up local user ID {uid}: user does not exist")))
    }

    /// The method `ident` (RFC 1413): the user that the client's machine says the connection is of.
    pub(super) async fn ident_user(&self) -> Result<String, Failure> {
        let (Some(remote), Some(local)) = (self.address(), self.io.local_address()) else {
            return Err(Failure::Wrong(None));
        };
        let server = SocketAddr::new(remote.ip(), IDENT_PORT);
        let asked = ask(server, local, &format!("{},{}\r\n", remote.port(), local.port())).await;
        let answer = asked.map_err(|why| {
            let address = remote.ip().to_canonical();
            self.wrong(format!(
                "could not connect to Ident server at address \"{address}\", port {IDENT_PORT}: {why}"
            ))
        })?;
        let malformed =
            || self.wrong(format!("invalidly formatted response from Ident server: \"{answer}\""));
        named_user(&answer).map(str::to_string).ok_or_else(malformed)
    }
}

/// Where ident servers listen.
const IDENT_PORT: u16 = 113;

/// The first line of the answer. The question comes from the address that the client knows.
async fn ask(server: SocketAddr, from: SocketAddr, question: &str) -> Result<String, String> {
    let failed = |error: std::io::Error| base::os_error(&error);
    let socket = if server.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }.map_err(failed)?;
    socket.bind(SocketAddr::new(from.ip(), 0)).map_err(failed)?;
    let mut stream = socket.connect(server).await.map_err(failed)?;
    stream.write_all(question.as_bytes()).await.map_err(failed)?;
    let mut answer = Vec::new();
    let mut piece = [0; 256];
    // RFC 1413 lets no line be longer than a thousand bytes.
    while answer.len() < 1000 && !answer.contains(&b'\n') {
        match stream.read(&mut piece).await.map_err(failed)? {
            0 => break,
            n => answer.extend_from_slice(&piece[..n]),
        }
    }
    let line = answer.split(|byte| matches!(byte, b'\r' | b'\n')).next().unwrap_or_default();
    Ok(String::from_utf8_lossy(line).into_owned())
}

/// The user in `ports : USERID : system : user`.
fn named_user(answer: &str) -> Option<&str> {
    let mut parts = answer.splitn(4, ':');
    let (_ports, kind, _system, user) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let user = user.trim_matches([' ', '\t']);
    (kind.trim_matches([' ', '\t']) == "USERID" && !user.is_empty()).then_some(user)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_ident_servers() {
        assert_eq!(named_user("6193, 23 : USERID : UNIX : stjohns"), Some("stjohns"));
        assert_eq!(named_user("6193,23:USERID:UNIX,UTF8:a:b"), Some("a:b"));
        for bad in ["6195, 23 : ERROR : NO-USER", "", "1,2:USERID:UNIX:", "1,2:USERID"] {
            assert_eq!(named_user(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_superuser_has_a_name() {
        assert_eq!(user_name(0).as_deref(), Some("root"));
    }
}
