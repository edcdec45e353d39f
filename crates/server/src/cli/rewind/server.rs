//! A running server that the target is to become like, asked in SQL.

use std::collections::VecDeque;
use std::path::PathBuf;

use base::{Lsn, TimelineId};
use client::{Connection, Options};
use engine::control::{ClusterState, ControlFile};

use super::super::messages::{Failure, Messages};
use super::files::Found;
use super::source::{Source, Wanted};
use super::target::Target;

/// Bytes asked for at a time, of all files together.
const BATCH: u64 = 4 << 20;
/// Stretches asked for at a time.
const CHUNKS: usize = 500;

/// What is said for the session before anything else: nobody is to end it, and names mean what they mean.
const PREPARE: &str = "set statement_timeout = 0; set lock_timeout = 0; set idle_in_transaction_session_timeout = 0; \
    set transaction_timeout = 0; select pg_catalog.set_config('search_path', '', false); set bytea_output = hex";

/// All names below the data directory, with sizes, whether they are folders, and where tablespaces lie. Who has gone meanwhile has no size.
const LIST: &str = "with recursive found (path, size, isdir) as (
    select name, stat.size, stat.isdir from pg_catalog.pg_ls_dir('.', true, false) name, pg_catalog.pg_stat_file(name, true) stat
    union all
    select found.path || '/' || name, stat.size, stat.isdir
    from found, pg_catalog.pg_ls_dir(found.path, true, false) name, pg_catalog.pg_stat_file(found.path || '/' || name, true) stat
    where found.isdir)
    select path, size, isdir, pg_catalog.pg_tablespace_location(tablespace.oid)
    from found left join pg_catalog.pg_tablespace tablespace on path = 'pg_tblspc/' || tablespace.oid where isdir is not null";

/// A server.
pub(super) struct Server {
    /// The event loop of the connection.
    events: tokio::runtime::Runtime,
    connection: Connection,
}

/// A stretch of a file that is asked for.
#[derive(Clone, Debug)]
struct Chunk {
    path: String,
    offset: u64,
    length: u64,
    /// The file is written anew.
    first: bool,
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// The bytes of a `bytea` in hexadecimal.
fn bytes_of(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("\\x")?.as_bytes();
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    digits.chunks(2).map(|pair| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?)).collect()
}

impl Server {
    /// Connects to the server of a connection string.
    pub fn connect(text: &str, progress: bool, messages: Messages) -> Result<Server, Failure> {
        let environment = |name: &str| std::env::var(name).ok();
        let warn = |warning: &str| messages.warning(warning);
        let options = Options::parse(text, messages.program, &environment, warn)?;
        let events = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| base::os_error(&error))?;
        let connection =
            events.block_on(Connection::open(&options, "false")).map_err(|failure| failure.to_string())?;
        let mut server = Server { events, connection };
        if progress {
            messages.info("connected to server");
        }
        server.query(PREPARE)?;
        if server.value("show full_page_writes")? != "on" {
            return Err("\"full_page_writes\" must be enabled in the source server".into());
        }
        Ok(server)
    }

    fn query(&mut self, text: &str) -> Result<Vec<Vec<Option<String>>>, Failure> {
        self.events
            .block_on(self.connection.query(text))
            .map_err(|failure| format!("error running query ({text}) on source server: {failure}").into())
    }

    /// The one value of a query.
    fn value(&mut self, text: &str) -> Result<String, Failure> {
        let rows = self.query(text)?;
        match rows.into_iter().next().and_then(|row| row.into_iter().next()) {
            Some(Some(value)) => Ok(value),
            _ => Err("unexpected result set from query".into()),
        }
    }

    /// Fetches some stretches, and writes them. Of a file that has gone nothing is written.
    fn fetch(&mut self, chunks: &[Chunk], target: &mut Target) -> Result<(), Failure> {
        let list = |value: &dyn Fn(&Chunk) -> String| chunks.iter().map(value).collect::<Vec<_>>().join(",");
        let text = format!(
            "select n, pg_catalog.pg_read_binary_file(path, first, length, true) from rows from \
             (pg_catalog.unnest(array[{}]::text[]), pg_catalog.unnest(array[{}]::int8[]), pg_catalog.unnest(array[{}]::int8[])) \
             with ordinality as wanted (path, first, length, n) order by n",
            list(&|chunk| quoted(&chunk.path)),
            list(&|chunk| chunk.offset.to_string()),
            list(&|chunk| chunk.length.to_string())
        );
        let rows = self.query(&text)?;
        if rows.len() != chunks.len() {
            return Err("unexpected number of data chunks received".into());
        }
        for (chunk, row) in chunks.iter().zip(rows) {
            let Some(Some(text)) = row.into_iter().nth(1) else { continue };
            let unreadable = || format!("unexpected result while fetching file \"{}\"", chunk.path);
            let bytes = bytes_of(&text).ok_or_else(unreadable)?;
            target.open(&chunk.path, chunk.first)?;
            target.write(&bytes, chunk.offset)?;
        }
        Ok(())
    }
}

impl Source for Server {
    fn control(&mut self) -> Result<ControlFile, Failure> {
        let bytes = self.read(engine::files::CONTROL)?;
        ControlFile::decode(&bytes).map_err(|error| error.to_string().into())
    }

    fn list(&mut self) -> Result<Vec<Found>, Failure> {
        let unexpected = || Failure::from("unexpected result set while fetching file list");
        let found = |row: Vec<Option<String>>| {
            let [Some(path), Some(size), Some(is_folder), location] = &row[..] else {
                return Err(unexpected());
            };
            // A tablespace in place has a location below the data directory.
            let leads = location.as_ref().map(PathBuf::from).filter(|location| location.is_absolute());
            let size = size.parse().map_err(|_| unexpected())?;
            Ok(Found::new(path.clone(), is_folder == "t", size, leads))
        };
        self.query(LIST)?.into_iter().map(found).collect()
    }

    fn read(&mut self, path: &str) -> Result<Vec<u8>, Failure> {
        let text = self.value(&format!("select pg_catalog.pg_read_binary_file({})", quoted(path))).map_err(
            |failure| Failure::from(format!("could not fetch remote file \"{path}\": {}", failure.message)),
        )?;
        bytes_of(&text)
            .ok_or_else(|| format!("unexpected result set while fetching remote file \"{path}\"").into())
    }

    fn copy(&mut self, wanted: &[Wanted], target: &mut Target) -> Result<(), Failure> {
        let mut waiting: VecDeque<Chunk> = wanted.iter().flat_map(chunks_of).collect();
        while !waiting.is_empty() {
            let (mut batch, mut bytes) = (Vec::new(), 0);
            while bytes < BATCH && batch.len() < CHUNKS {
                let Some(chunk) = waiting.pop_front() else { break };
                bytes += chunk.length;
                batch.push(chunk);
            }
            self.fetch(&batch, target)?;
        }
        Ok(())
    }

    fn end(&mut self, before: &ControlFile) -> Result<(Lsn, TimelineId, ControlFile), Failure> {
        let control = self.control()?;
        if control.timeline() != before.timeline() {
            return Err("source system was modified while pg_rewind was running".into());
        }
        let timeline = control.timeline();
        if self.value("select pg_catalog.pg_is_in_recovery()")? == "t" {
            return Ok((control.min_recovery_point, control.min_recovery_timeline, control));
        }
        if control.state != ClusterState::InProduction {
            return Err("source system was in unexpected state at end of rewind".into());
        }
        let text = self.value("select pg_catalog.pg_current_wal_insert_lsn()")?;
        let end = text
            .parse()
            .map_err(|()| format!("unrecognized result \"{text}\" for current WAL insert location"))?;
        Ok((end, timeline, control))
    }
}

/// A stretch in pieces. A whole file may have grown since it was listed: more is asked for, which comes back short.
fn chunks_of(wanted: &Wanted) -> Vec<Chunk> {
    let Wanted { path, offset, length, known } = wanted;
    let end = match length {
        Some(length) => offset + length,
        None => known + super::source::PIECE as u64,
    };
    let chunk = |at: u64| {
        let first = at == *offset && length.is_none();
        Chunk { path: path.clone(), offset: at, length: (end - at).min(super::source::PIECE as u64), first }
    };
    (*offset..end).step_by(super::source::PIECE).map(chunk).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes() {
        assert_eq!(bytes_of("\\x00ff10"), Some(vec![0, 255, 16]));
        assert_eq!(bytes_of("\\x"), Some(vec![]));
        for other in ["00", "\\x0", "\\x0g", "\\xä0"] {
            assert_eq!(bytes_of(other), None, "{other}");
        }
    }

    #[test]
    fn long_stretches_come_in_pieces() {
        let piece = super::super::source::PIECE as u64;
        let wanted = |offset, length| Wanted { path: "x".into(), offset, length, known: 0 };
        let pieces =
            |wanted| chunks_of(&wanted).iter().map(|c| (c.offset, c.length, c.first)).collect::<Vec<_>>();
        assert_eq!(pieces(wanted(8192, Some(piece + 10))), [(8192, piece, false), (8192 + piece, 10, false)]);
        assert_eq!(pieces(wanted(0, None)), [(0, piece, true)]);
    }
}
