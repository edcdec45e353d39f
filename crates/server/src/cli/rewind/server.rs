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
    set transaction_timeout = 0; select pg_catalog.set_config('search_path', '', false)";

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

/// What a COPY in binary form of one column has sent: the value of each row.
fn values_of(mut sent: &[u8]) -> Option<Vec<Option<&[u8]>>> {
    fn take<'a>(bytes: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
        let (head, rest) = bytes.split_at_checked(length)?;
        *bytes = rest;
        Some(head)
    }
    let word = |bytes: &mut &[u8]| Some(i32::from_be_bytes(take(bytes, 4)?.try_into().ok()?));
    if take(&mut sent, 11)? != b"PGCOPY\n\xff\r\n\0" || word(&mut sent)? != 0 {
        return None;
    }
    let more = word(&mut sent)?;
    take(&mut sent, usize::try_from(more).ok()?)?;
    let mut values = Vec::new();
    loop {
        match i16::from_be_bytes(take(&mut sent, 2)?.try_into().ok()?) {
            -1 => return sent.is_empty().then_some(values),
            1 => values.push(match word(&mut sent)? {
                -1 => None,
                length => Some(take(&mut sent, usize::try_from(length).ok()?)?),
            }),
            _ => return None,
        }
    }
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
            "copy (select pg_catalog.pg_read_binary_file(path, first, length, true) from rows from \
             (pg_catalog.unnest(array[{}]::text[]), pg_catalog.unnest(array[{}]::int8[]), pg_catalog.unnest(array[{}]::int8[])) \
             with ordinality as wanted (path, first, length, n) order by n) to stdout (format binary)",
            list(&|chunk| quoted(&chunk.path)),
            list(&|chunk| chunk.offset.to_string()),
            list(&|chunk| chunk.length.to_string())
        );
        let sent = self.copy_out(&text)?;
        let values = values_of(&sent).ok_or("unexpected result while fetching remote files")?;
        if values.len() != chunks.len() {
            return Err("unexpected number of data chunks received".into());
        }
        for (chunk, value) in chunks.iter().zip(values) {
            let Some(bytes) = value else { continue };
            target.open(&chunk.path, chunk.first)?;
            target.write(bytes, chunk.offset)?;
        }
        Ok(())
    }

    fn copy_out(&mut self, text: &str) -> Result<Vec<u8>, Failure> {
        self.events
            .block_on(self.connection.copy_out(text))
            .map_err(|failure| format!("error running query ({text}) on source server: {failure}").into())
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
        let text = format!(
            "copy (select pg_catalog.pg_read_binary_file({})) to stdout (format binary)",
            quoted(path)
        );
        let sent = self.copy_out(&text).map_err(|failure| {
            Failure::from(format!("could not fetch remote file \"{path}\": {}", failure.message))
        })?;
        let values = values_of(&sent);
        match values.as_deref() {
            Some([Some(bytes)]) => Ok(bytes.to_vec()),
            _ => Err(format!("unexpected result set while fetching remote file \"{path}\"").into()),
        }
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
    fn values_of_a_binary_copy() {
        let head = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\x02xx";
        let sent = |rows: &[u8]| [head, rows].concat();
        let rows = sent(b"\0\x01\0\0\0\x03abc\0\x01\xff\xff\xff\xff\0\x01\0\0\0\0\xff\xff");
        assert_eq!(values_of(&rows), Some(vec![Some(&b"abc"[..]), None, Some(&b""[..])]));
        for length in 0..rows.len() {
            assert_eq!(values_of(&rows[..length]), None, "{length} bytes");
        }
        assert_eq!(values_of(&sent(b"\0\x02\0\0\0\0\0\0\0\0\xff\xff")), None, "two columns");
        assert_eq!(values_of(&sent(b"\xff\xffx")), None, "more behind the end");
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
