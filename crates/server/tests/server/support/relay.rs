//! A relay that tells programs of PostgreSQL 15 that the server is theirs: they refuse to copy newer ones, though what they speak is the same.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

/// A port where a server's clients are told that it is of version 15.
pub fn as_version_15(port: u16) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let own = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let Ok(server) = TcpStream::connect(("127.0.0.1", port)) else { continue };
            let (mut from_client, mut to_server) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            thread::spawn(move || {
                let _ = std::io::copy(&mut from_client, &mut to_server);
                let _ = to_server.shutdown(std::net::Shutdown::Write);
            });
            thread::spawn(move || {
                let _ = told(server, &client);
                let _ = client.shutdown(std::net::Shutdown::Both);
            });
        }
    });
    own
}

/// What the server says, with another version.
fn told(mut server: TcpStream, mut client: &TcpStream) -> std::io::Result<()> {
    loop {
        let mut head = [0; 5];
        server.read_exact(&mut head)?;
        let mut body = vec![0; u32::from_be_bytes(head[1..].try_into().unwrap()) as usize - 4];
        server.read_exact(&mut body)?;
        if head[0] == b'S' && body.starts_with(b"server_version\0") {
            body = b"server_version\x0015.18\0".to_vec();
        }
        client.write_all(&head[..1])?;
        client.write_all(&(body.len() as u32 + 4).to_be_bytes())?;
        client.write_all(&body)?;
        if head[0] == b'Z' {
            return std::io::copy(&mut server, &mut client).map(|_| ());
        }
    }
}
