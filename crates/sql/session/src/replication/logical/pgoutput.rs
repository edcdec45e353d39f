//! What · `pgoutput`: the protocol of subscribers, versions 1 to 4.
//!
//! Layout · Integers are big-endian. Texts end with a zero; a schema `pg_catalog` is written as an empty one.
//!
//! | first byte | what follows |
//! |---|---|
//! | `B` begin | position of the commit record i64, time i64, xid i32 |
//! | `O` origin | position of the commit record at the first server i64, name; behind `B`, of a transaction that was replicated itself |
//! | `C` commit | 0 i8, position of the commit record i64, its end i64, time i64 |
//! | `R` table | OID i32, schema, name, replica identity i8, number of columns i16; for each: 1 if it is of the key i8, name, type i32, modifier i32 |
//! | `Y` type | OID i32, schema, name |
//! | `I` insert | OID of the table i32, `N`, row |
//! | `U` update | OID i32, then `K` or `O` and the old row if there is one, `N`, row |
//! | `D` delete | OID i32, `K` or `O`, row |
//! | `T` truncate | number of tables i32, 1 CASCADE 2 RESTART IDENTITY i8, OIDs i32 |
//! | `M` message | 1 if it goes with its transaction i8, position i64, prefix, length i32, contents |
//!
//! A row is the number of columns i16; for each `n` NULL, `u` a large value that did not change, `t` or `b` and a length i32 with so many bytes.
//!
//! Invariants
//! 1. Before the first change of a table stands its `R`, and again when it, or how it is published, has changed.
//! 2. A transaction of which nothing is published is not told.
//!
//! PostgreSQL counterpart · `pgoutput.c`, `proto.c`. Differences: publications, and the columns of tables above partitions, are those of now, not of the moment of the change.

use std::sync::Arc;

use base::settings::parse_bool;
use base::{Lsn, Oid, SqlError, SqlResult, SqlState, sql_err};
use catalog::{CatalogView, Publication, Table};
use engine::decoding::{Change, DescribedColumn, Description, Message, Old};
use rustc_hash::FxHashMap;
use tuple::Datum;

use super::plugin::{Plugin, PluginOption, Sink, Told, bad_option, write_value};
use crate::Session;
use crate::expression::RowExpressions;

/// The newest version of the protocol.
const NEWEST: u32 = 4;
/// Types from here on are made by users or by scripts of a new cluster.
const FIRST_MADE_TYPE: u32 = 10_000;

pub(super) struct PgOutput {
    names: Vec<String>,
    binary: bool,
    messages: bool,
    /// Transactions that were replicated themselves are told too.
    replicated: bool,
    /// BEGIN was sent of the transaction that is told.
    begun: bool,
    /// How tables are published, and what the receiver knows of them.
    tables: FxHashMap<Oid, Entry>,
    /// The publications that this was found out with.
    known: Option<Arc<[Publication]>>,
    /// They were looked at since the transaction began.
    looked: bool,
}

/// How changes of a table are published.
struct Entry {
    /// The description that this was found out with.
    of: Arc<Description>,
    actions: Actions,
    /// As which table: itself, or a partitioned table above it.
    as_table: Arc<Description>,
    /// Which of the columns of that are published.
    columns: Vec<bool>,
    /// Where its columns are in the table itself; none: it is the table itself.
    from: Option<Vec<Option<usize>>>,
    filters: Filters,
    /// The receiver knows the tables.
    sent: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
struct Actions {
    insert: bool,
    update: bool,
    delete: bool,
    truncate: bool,
}

/// Rows that are published: by INSERT, UPDATE and DELETE; none: all.
#[derive(Default)]
struct Filters([Option<RowExpressions>; 3]);

impl Filters {
    fn pass(&mut self, action: usize, session: &Session, row: &[Datum]) -> SqlResult<bool> {
        let Some(filter) = &mut self.0[action] else { return Ok(true) };
        Ok(filter.values(session, row)?.contains(&Datum::Bool(true)))
    }
}

/// A name list as `publication_names` has it.
fn names_of(text: &str) -> SqlResult<Vec<String>> {
    let bad = || sql_err!(INVALID_NAME, "invalid publication_names syntax");
    let (mut names, mut rest) = (Vec::new(), text.trim());
    if rest.is_empty() {
        return Ok(names);
    }
    loop {
        let name = match rest.strip_prefix('"') {
            Some(mut quoted) => {
                let mut name = String::new();
                loop {
                    let at = quoted.find('"').ok_or_else(bad)?;
                    name.push_str(&quoted[..at]);
                    quoted = &quoted[at + 1..];
                    match quoted.strip_prefix('"') {
                        Some(more) => {
                            name.push('"');
                            quoted = more;
                        }
                        None => break,
                    }
                }
                rest = quoted.trim_start();
                name
            }
            None => {
                let end = rest.find(|c: char| c == ',' || c.is_whitespace()).unwrap_or(rest.len());
                let name = rest[..end].to_ascii_lowercase();
                rest = rest[end..].trim_start();
                name
            }
        };
        if name.is_empty() {
            return Err(bad());
        }
        names.push(name);
        match rest.strip_prefix(',') {
            Some(more) => rest = more.trim_start(),
            None if rest.is_empty() => return Ok(names),
            None => return Err(bad()),
        }
    }
}

/// What the options say.
#[derive(Default)]
struct Options {
    version: Option<u32>,
    names: Option<Vec<String>>,
    binary: Option<bool>,
    messages: Option<bool>,
    /// 2: in parallel.
    streaming: Option<u8>,
    two_phase: Option<bool>,
    origin: Option<String>,
}

fn set<T>(slot: &mut Option<T>, value: T) -> SqlResult<()> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(sql_err!(SYNTAX_ERROR, "conflicting or redundant options")),
    }
}

impl Options {
    fn read(options: &[PluginOption]) -> SqlResult<Options> {
        let mut read = Options::default();
        for (name, value) in options {
            let text = value.as_deref().unwrap_or("");
            let switch = || match value {
                None => Ok(true),
                Some(text) => parse_bool(text.trim())
                    .ok_or_else(|| sql_err!(SYNTAX_ERROR, "{name} requires a Boolean value")),
            };
            match name.as_str() {
                "proto_version" => {
                    let number =
                        text.parse::<i64>().map_err(|_| bad_option("invalid proto_version".into()))?;
                    let number = u32::try_from(number)
                        .map_err(|_| bad_option(format!("proto_version \"{text}\" out of range")))?;
                    set(&mut read.version, number)?;
                }
                "publication_names" => set(&mut read.names, names_of(text)?)?,
                "binary" => set(&mut read.binary, switch()?)?,
                "messages" => set(&mut read.messages, switch()?)?,
                "streaming" if text.eq_ignore_ascii_case("parallel") => set(&mut read.streaming, 2)?,
                "streaming" => match value {
                    Some(text) if parse_bool(text.trim()).is_none() => {
                        return Err(sql_err!(
                            SYNTAX_ERROR,
                            "streaming requires a Boolean value or \"parallel\""
                        ));
                    }
                    _ => set(&mut read.streaming, switch()?.into())?,
                },
                "two_phase" => set(&mut read.two_phase, switch()?)?,
                "origin" => {
                    let known = ["any", "none"].iter().any(|known| text.eq_ignore_ascii_case(known));
                    if !known {
                        return Err(bad_option(format!("unrecognized origin value: \"{text}\"")));
                    }
                    set(&mut read.origin, text.into())?;
                }
                other => return Err(SqlError::internal(format!("unrecognized pgoutput option: {other}"))),
            }
        }
        Ok(read)
    }

    fn check(&self) -> SqlResult<()> {
        let missing = |name: &str| Err(bad_option(format!("option \"{name}\" missing")));
        let refused = |message: String| Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
        let Some(version) = self.version else { return missing("proto_version") };
        if self.names.is_none() {
            return missing("publication_names");
        }
        if version > NEWEST {
            return refused(format!(
                "client sent proto_version={version} but server only supports protocol {NEWEST} or lower"
            ));
        }
        if version < 1 {
            return refused(format!(
                "client sent proto_version={version} but server only supports protocol 1 or higher"
            ));
        }
        let needs = |what: &str, least: u32| {
            bad_option(format!(
                "requested proto_version={version} does not support {what}, need {least} or higher"
            ))
        };
        match self.streaming {
            Some(1) if version < 2 => return Err(needs("streaming", 2)),
            Some(2) if version < 4 => return Err(needs("parallel streaming", 4)),
            _ => {}
        }
        match self.two_phase {
            Some(true) if version < 3 => Err(needs("two-phase commit", 3)),
            Some(true) => Err(super::no_two_phase()),
            _ => Ok(()),
        }
    }
}

impl PgOutput {
    pub(super) fn new(options: &[PluginOption]) -> SqlResult<PgOutput> {
        let read = Options::read(options)?;
        read.check()?;
        Ok(PgOutput {
            names: read.names.unwrap_or_default(),
            binary: read.binary.unwrap_or(false),
            messages: read.messages.unwrap_or(false),
            replicated: !read.origin.is_some_and(|origin| origin.eq_ignore_ascii_case("none")),
            begun: false,
            tables: FxHashMap::default(),
            known: None,
            looked: false,
        })
    }

    fn send_begin(&mut self, session: &Session, of: &Told, sink: &mut Sink) -> SqlResult<()> {
        if std::mem::replace(&mut self.begun, true) {
            return Ok(());
        }
        let mut out = vec![b'B'];
        out.extend_from_slice(&of.commit.0.to_be_bytes());
        out.extend_from_slice(&of.time.to_be_bytes());
        out.extend_from_slice(&of.xid.to_be_bytes());
        sink.put(of.first, out);
        let Some(mark) = of.origin else { return Ok(()) };
        // One that was dropped meanwhile has no name.
        if let Some(name) = session.with_reader(|reader| reader.origin_name(mark.origin))? {
            sink.put(of.first, origin_message(mark.remote, &name));
        }
        Ok(())
    }

    /// Sees to it that it is known how a table is published.
    fn look_up(&mut self, session: &Session, table: &Arc<Description>) -> SqlResult<()> {
        let publications = match &self.known {
            Some(known) if self.looked => known.clone(),
            _ => session.with_reader(|reader| reader.publications())?,
        };
        self.looked = true;
        if !self.known.as_ref().is_some_and(|known| Arc::ptr_eq(known, &publications)) {
            // What the receiver knows stays true, but it does not know how the table is published now.
            self.tables.clear();
            self.known = Some(publications.clone());
        }
        if self
            .tables
            .get(&table.oid)
            .is_some_and(|entry| Arc::ptr_eq(&entry.of, table) || entry.of == *table)
        {
            return Ok(());
        }
        let asked: Vec<&Publication> =
            publications.iter().filter(|one| self.names.contains(&one.name)).collect();
        let entry = Entry::new(session, table, &asked)?;
        self.tables.insert(table.oid, entry);
        Ok(())
    }

    fn row(
        &mut self,
        session: &Session,
        of: &Told,
        lsn: Lsn,
        (table, change): (&Arc<Description>, RowChange<'_>),
        sink: &mut Sink,
    ) -> SqlResult<()> {
        self.look_up(session, table)?;
        let binary = self.binary;
        let entry = self.tables.get_mut(&table.oid).expect("looked up above");
        let Some(change) = entry.published(session, change)? else { return Ok(()) };
        self.send_begin(session, of, sink)?;
        let entry = self.tables.get_mut(&table.oid).expect("looked up above");
        entry.send_tables(session, lsn, sink)?;
        let mut out = Vec::with_capacity(64);
        let relation = entry.as_table.oid.0.to_be_bytes();
        let (kind, old, new) = match &change {
            Published::Insert(new) => (b'I', None, Some(new)),
            Published::Update(old, new) => (b'U', old.as_ref(), Some(new)),
            Published::Delete(old) => (b'D', Some(old), None),
        };
        out.push(kind);
        out.extend_from_slice(&relation);
        if let Some(old) = old {
            out.push(if entry.as_table.identity == b'f' { b'O' } else { b'K' });
            entry.write_row(session, &old.values, binary, &mut out)?;
        }
        if let Some(new) = new {
            out.push(b'N');
            entry.write_row(session, new, binary, &mut out)?;
        }
        sink.put(lsn, out);
        Ok(())
    }

    fn truncate(
        &mut self,
        session: &Session,
        of: &Told,
        (lsn, tables, flags): (Lsn, &[Arc<Description>], u8),
        sink: &mut Sink,
    ) -> SqlResult<()> {
        let mut oids = Vec::new();
        for table in tables {
            self.look_up(session, table)?;
            let entry = &self.tables[&table.oid];
            // What is published as the table above goes with that.
            if !entry.actions.truncate || (table.parent.is_valid() && entry.as_table.oid != table.oid) {
                continue;
            }
            oids.push(table.oid);
            self.send_begin(session, of, sink)?;
            self.tables.get_mut(&table.oid).expect("looked up above").send_tables(session, lsn, sink)?;
        }
        if oids.is_empty() {
            return Ok(());
        }
        let mut out = vec![b'T'];
        out.extend_from_slice(&(oids.len() as u32).to_be_bytes());
        out.push(flags);
        oids.iter().for_each(|oid| out.extend_from_slice(&oid.0.to_be_bytes()));
        sink.put(lsn, out);
        Ok(())
    }
}

/// A change of a row, as it was decoded.
enum RowChange<'a> {
    Insert(&'a [Datum]),
    Update(Option<&'a Old>, &'a [Datum]),
    Delete(Option<&'a Old>),
}

/// As it is published: columns of the table that it is published as.
enum Published {
    Insert(Vec<Datum>),
    Update(Option<Old>, Vec<Datum>),
    Delete(Old),
}

impl Entry {
    fn new(session: &Session, table: &Arc<Description>, asked: &[&Publication]) -> SqlResult<Entry> {
        let now = session.relation_by_oid(table.oid)?;
        let schema = now.as_ref().map_or(Oid::INVALID, |now| now.schema);
        let line = session.with_reader(|reader| reader.with_ancestors(table.oid, schema))?;
        let partitioned = now.is_some_and(|now| now.kind == catalog::RelationKind::PartitionedTable);
        let mut actions = Actions::default();
        let (mut as_oid, mut level) = (table.oid, 0);
        let mut by: Vec<&Publication> = Vec::new();
        for publication in asked {
            if !line.iter().any(|(oid, schema)| publication.names(*oid, *schema)) {
                continue;
            }
            if partitioned && !publication.via_root {
                continue;
            }
            actions.insert |= publication.insert;
            actions.update |= publication.update;
            actions.delete |= publication.delete;
            actions.truncate |= publication.truncate;
            let (oid, at) = match publication.via_root {
                false => (table.oid, 0),
                true if publication.all_tables => (line[line.len() - 1].0, line.len() - 1),
                true => {
                    let top = publication.topmost(&line).unwrap_or(table.oid);
                    (top, line.iter().position(|(oid, _)| *oid == top).unwrap_or(0))
                }
            };
            if at > level {
                (as_oid, level) = (oid, at);
                by.clear();
            }
            if at == level {
                by.push(publication);
            }
        }
        let (as_table, from) = match as_oid == table.oid {
            true => (table.clone(), None),
            false => {
                let above = describe_now(session, as_oid)?;
                let place = |column: &DescribedColumn| {
                    table.columns.iter().position(|own| !own.dropped && own.name == column.name)
                };
                let from = above.columns.iter().map(place).collect();
                (Arc::new(above), Some(from))
            }
        };
        let columns = published_columns(&as_table, &by)?;
        let filters = match actions == Actions::default() {
            true => Filters::default(),
            false => filters(session, &as_table, &by)?,
        };
        Ok(Entry { of: table.clone(), actions, as_table, columns, from, filters, sent: false })
    }

    /// A row as one of the table that it is published as.
    fn converted(&self, row: &[Datum]) -> Vec<Datum> {
        match &self.from {
            None => row.to_vec(),
            Some(from) => {
                let value = |at: &Option<usize>| at.and_then(|at| row.get(at).cloned()).unwrap_or_default();
                from.iter().map(value).collect()
            }
        }
    }

    /// What of a change is published.
    fn published(&mut self, session: &Session, change: RowChange<'_>) -> SqlResult<Option<Published>> {
        let convert = |this: &Entry, old: &Old| Old { full: old.full, values: this.converted(&old.values) };
        match change {
            RowChange::Insert(new) if self.actions.insert => {
                let new = self.converted(new);
                Ok(self.filters.pass(0, session, &new)?.then_some(Published::Insert(new)))
            }
            RowChange::Delete(Some(old)) if self.actions.delete => {
                let old = convert(self, old);
                Ok(self.filters.pass(2, session, &old.values)?.then_some(Published::Delete(old)))
            }
            RowChange::Update(old, new) if self.actions.update => {
                let old = old.map(|old| convert(self, old));
                let new = self.converted(new);
                self.published_update(session, old, new)
            }
            _ => Ok(None),
        }
    }

    /// A row that comes into what is published is inserted there, and one that leaves it is deleted.
    fn published_update(
        &mut self,
        session: &Session,
        old: Option<Old>,
        mut new: Vec<Datum>,
    ) -> SqlResult<Option<Published>> {
        if self.filters.0[1].is_none() {
            return Ok(Some(Published::Update(old, new)));
        }
        let Some(old) = old else {
            return Ok(self.filters.pass(1, session, &new)?.then_some(Published::Update(None, new)));
        };
        // What did not change is beside the new row only if it was logged with the old one.
        let mut whole = new.clone();
        for (value, old) in whole.iter_mut().zip(&old.values) {
            if matches!(value, Datum::Toasted(_)) && !old.is_null() {
                *value = old.clone();
            }
        }
        let was = self.filters.pass(1, session, &old.values)?;
        let is = self.filters.pass(1, session, &whole)?;
        Ok(match (was, is) {
            (false, false) => None,
            (false, true) => {
                new = whole;
                Some(Published::Insert(new))
            }
            (true, false) => Some(Published::Delete(old)),
            (true, true) => Some(Published::Update(Some(old), new)),
        })
    }

    fn send_tables(&mut self, session: &Session, lsn: Lsn, sink: &mut Sink) -> SqlResult<()> {
        if std::mem::replace(&mut self.sent, true) {
            return Ok(());
        }
        send_table(session, &self.as_table, &self.columns, lsn, sink)?;
        if self.from.is_some() {
            let name = |column: &DescribedColumn| {
                let of = self.as_table.columns.iter().position(|c| !c.dropped && c.name == column.name);
                of.is_some_and(|at| self.columns[at])
            };
            let columns: Vec<bool> = self.of.columns.iter().map(|c| !c.dropped && name(c)).collect();
            send_table(session, &self.of, &columns, lsn, sink)?;
        }
        Ok(())
    }

    fn write_row(&self, session: &Session, row: &[Datum], binary: bool, out: &mut Vec<u8>) -> SqlResult<()> {
        let count = self.columns.iter().filter(|published| **published).count();
        out.extend_from_slice(&(count as u16).to_be_bytes());
        let columns = self.as_table.columns.iter().zip(&self.columns).zip(row);
        for ((column, _), value) in columns.filter(|((_, published), _)| **published) {
            match value {
                Datum::Null => out.push(b'n'),
                Datum::Toasted(_) => out.push(b'u'),
                value => {
                    out.push(if binary { b'b' } else { b't' });
                    let start = out.len();
                    out.extend_from_slice(&[0; 4]);
                    write_value(session, column.type_oid, value, binary, out)?;
                    let length = (out.len() - start - 4) as u32;
                    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
                }
            }
        }
        Ok(())
    }
}

/// A table as it is now.
fn describe_now(session: &Session, oid: Oid) -> SqlResult<Description> {
    let missing = || SqlError::internal(format!("could not open relation with OID {oid}"));
    let table = session.relation_by_oid(oid)?.ok_or_else(missing)?;
    // How values lie is not asked of it: rows are those of partitions.
    let attr = tuple::Attr { physical: tuple::Physical::Int4, align: 4, storage: b'p', compression: None };
    Ok(table.described(&vec![attr; table.columns.len()]))
}

/// Which columns of a table are published.
fn published_columns(table: &Description, by: &[&Publication]) -> SqlResult<Vec<bool>> {
    let of = |publication: &Publication| -> Vec<bool> {
        let list = publication.table(table.oid).and_then(|listed| listed.columns.clone());
        let is_published = |(i, column): (usize, &DescribedColumn)| match &list {
            _ if column.dropped => false,
            Some(list) => list.contains(&(i as i16 + 1)),
            None => !column.computed && (!column.stored || publication.generated),
        };
        table.columns.iter().enumerate().map(is_published).collect()
    };
    let Some((first, others)) = by.split_first() else { return Ok(vec![false; table.columns.len()]) };
    let columns = of(first);
    if others.iter().any(|other| of(other) != columns) {
        return Err(sql_err!(
            FEATURE_NOT_SUPPORTED,
            "cannot use different column lists for table \"{}.{}\" in different publications",
            table.schema,
            table.name
        ));
    }
    Ok(columns)
}

/// Which rows of a table are published: those that any filter lets through, of each kind of change.
fn filters(session: &Session, table: &Description, by: &[&Publication]) -> SqlResult<Filters> {
    let filter_of =
        |publication: &Publication| publication.table(table.oid).and_then(|listed| listed.filter.clone());
    if by.iter().all(|publication| filter_of(publication).is_none()) {
        return Ok(Filters::default());
    }
    let missing = || SqlError::internal(format!("could not open relation with OID {}", table.oid));
    let open: Arc<Table> = session.relation_by_oid(table.oid)?.ok_or_else(missing)?;
    let of = |does: fn(&Publication) -> bool| -> SqlResult<Option<RowExpressions>> {
        let filters: Vec<_> = by.iter().filter(|one| does(one)).map(|one| filter_of(one)).collect();
        match filters.iter().all(Option::is_some) && !filters.is_empty() {
            true => RowExpressions::new(session, &open, filters.iter().flatten()).map(Some),
            false => Ok(None),
        }
    };
    Ok(Filters([of(|p| p.insert)?, of(|p| p.update)?, of(|p| p.delete)?]))
}

/// Texts of the protocol.
fn put_text(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
    out.push(0);
}

fn put_schema(out: &mut Vec<u8>, schema: &str) {
    put_text(out, if schema == "pg_catalog" { "" } else { schema });
}

fn send_table(
    session: &Session,
    table: &Description,
    columns: &[bool],
    lsn: Lsn,
    sink: &mut Sink,
) -> SqlResult<()> {
    let published = || table.columns.iter().zip(columns).filter(|(_, published)| **published).map(|(c, _)| c);
    for column in published().filter(|column| column.type_oid.0 >= FIRST_MADE_TYPE) {
        let Some(known) = session.type_by_oid(column.type_oid)? else { continue };
        let mut out = vec![b'Y'];
        out.extend_from_slice(&column.type_oid.0.to_be_bytes());
        put_schema(&mut out, &known.schema_name);
        put_text(&mut out, &known.name);
        sink.put(lsn, out);
    }
    sink.put(lsn, table_message(table, published()));
    Ok(())
}

fn table_message<'a>(
    table: &Description,
    columns: impl Iterator<Item = &'a DescribedColumn> + Clone,
) -> Vec<u8> {
    let mut out = vec![b'R'];
    out.extend_from_slice(&table.oid.0.to_be_bytes());
    put_schema(&mut out, &table.schema);
    put_text(&mut out, &table.name);
    out.push(table.identity);
    out.extend_from_slice(&(columns.clone().count() as u16).to_be_bytes());
    for column in columns {
        out.push(u8::from(column.key || table.identity == b'f'));
        put_text(&mut out, &column.name);
        out.extend_from_slice(&column.type_oid.0.to_be_bytes());
        out.extend_from_slice(&column.typmod.to_be_bytes());
    }
    out
}

fn origin_message(remote: Lsn, name: &str) -> Vec<u8> {
    let mut out = vec![b'O'];
    out.extend_from_slice(&remote.0.to_be_bytes());
    put_text(&mut out, name);
    out
}

fn message_bytes(message: &Message, transactional: bool) -> Vec<u8> {
    let mut out = vec![b'M', u8::from(transactional)];
    out.extend_from_slice(&message.lsn.0.to_be_bytes());
    put_text(&mut out, &message.prefix);
    out.extend_from_slice(&(message.contents.len() as u32).to_be_bytes());
    out.extend_from_slice(&message.contents);
    out
}

impl Plugin for PgOutput {
    fn is_binary(&self) -> bool {
        true
    }

    fn wants_replicated(&self) -> bool {
        self.replicated
    }

    fn begin(&mut self, _session: &Session, _of: &Told, _sink: &mut Sink) -> SqlResult<()> {
        (self.begun, self.looked) = (false, false);
        Ok(())
    }

    fn change(
        &mut self,
        session: &Session,
        of: &Told,
        (lsn, change): (Lsn, &Change),
        sink: &mut Sink,
    ) -> SqlResult<()> {
        match change {
            Change::Insert(table, new) => self.row(session, of, lsn, (table, RowChange::Insert(new)), sink),
            Change::Update(table, old, new) => {
                self.row(session, of, lsn, (table, RowChange::Update(old.as_ref(), new)), sink)
            }
            Change::Delete(table, old) => {
                self.row(session, of, lsn, (table, RowChange::Delete(old.as_ref())), sink)
            }
            Change::Truncate { tables, cascade, restart } => {
                let flags = u8::from(*cascade) | u8::from(*restart) << 1;
                self.truncate(session, of, (lsn, tables, flags), sink)
            }
            Change::Message(message) if self.messages => {
                self.send_begin(session, of, sink)?;
                sink.put(lsn, message_bytes(message, true));
                Ok(())
            }
            Change::Message(_) => Ok(()),
        }
    }

    fn commit(&mut self, _session: &Session, of: &Told, sink: &mut Sink) -> SqlResult<()> {
        if !self.begun {
            return Ok(());
        }
        let mut out = vec![b'C', 0];
        out.extend_from_slice(&of.commit.0.to_be_bytes());
        out.extend_from_slice(&of.end.0.to_be_bytes());
        out.extend_from_slice(&of.time.to_be_bytes());
        sink.put(of.end, out);
        Ok(())
    }

    fn message(&mut self, message: &Message, sink: &mut Sink) -> SqlResult<()> {
        if self.messages {
            sink.put(message.lsn, message_bytes(message, false));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuple::{Attr, Physical, RowLayout};

    fn option(name: &str, value: &str) -> PluginOption {
        (name.into(), Some(value.into()))
    }

    fn refused(options: &[PluginOption]) -> String {
        PgOutput::new(options).err().map(|error| error.message().to_owned()).unwrap_or_default()
    }

    #[test]
    fn options_are_checked_as_postgresql_does() {
        let names = option("publication_names", "a, \"B \"\"c\"");
        let version = |text: &str| option("proto_version", text);
        assert_eq!(PgOutput::new(&[version("1"), names.clone()]).unwrap().names, ["a", "B \"c"]);
        assert_eq!(refused(std::slice::from_ref(&names)), "option \"proto_version\" missing");
        assert_eq!(refused(&[version("1")]), "option \"publication_names\" missing");
        assert_eq!(
            refused(&[version("5"), names.clone()]),
            "client sent proto_version=5 but server only supports protocol 4 or lower"
        );
        assert_eq!(
            refused(&[version("1"), names.clone(), option("streaming", "on")]),
            "requested proto_version=1 does not support streaming, need 2 or higher"
        );
        assert_eq!(
            refused(&[version("3"), names.clone(), option("streaming", "parallel")]),
            "requested proto_version=3 does not support parallel streaming, need 4 or higher"
        );
        assert!(PgOutput::new(&[version("4"), names.clone(), option("streaming", "parallel")]).is_ok());
        assert_eq!(
            refused(&[version("1"), names.clone(), names.clone()]),
            "conflicting or redundant options"
        );
        assert_eq!(
            refused(&[version("1"), option("publication_names", "a b")]),
            "invalid publication_names syntax"
        );
        assert_eq!(refused(&[option("nix", "1")]), "unrecognized pgoutput option: nix");
        assert_eq!(
            refused(&[version("1"), names, option("origin", "some")]),
            "unrecognized origin value: \"some\""
        );
    }

    #[test]
    fn messages_byte_by_byte() {
        let attr = Attr { physical: Physical::Int4, align: 4, storage: b'p', compression: None };
        let column = |name: &str, key| DescribedColumn {
            name: name.into(),
            type_oid: Oid(23),
            typmod: -1,
            dropped: false,
            key,
            stored: false,
            computed: false,
            attr,
        };
        let columns = vec![column("id", true), column("v", false)];
        let layout = RowLayout::new(vec![attr; 2]);
        let table = Description {
            oid: Oid(0x4001),
            schema: "s".into(),
            name: "t".into(),
            identity: b'd',
            toast: Oid::INVALID,
            parent: Oid::INVALID,
            columns,
            layout,
        };
        assert_eq!(
            table_message(&table, table.columns.iter()),
            [
                b"R\0\0\x40\x01s\0t\0d\0\x02".as_slice(),
                b"\x01id\0\0\0\0\x17\xff\xff\xff\xff",
                b"\0v\0\0\0\0\x17\xff\xff\xff\xff",
            ]
            .concat()
        );
        let full = Description { identity: b'f', schema: "pg_catalog".into(), ..table.clone() };
        assert!(
            table_message(&full, full.columns.iter().skip(1))
                .starts_with(b"R\0\0\x40\x01\0t\0f\0\x01\x01v\0")
        );
        let message = Message { lsn: Lsn(0x0102), prefix: "p".into(), contents: b"xy".to_vec() };
        assert_eq!(message_bytes(&message, true), b"M\x01\0\0\0\0\0\0\x01\x02p\0\0\0\0\x02xy");
        assert_eq!(origin_message(Lsn(0x0102), "pg_7"), b"O\0\0\0\0\0\0\x01\x02pg_7\0");
        let origin = |word| {
            let options =
                [option("proto_version", "1"), option("publication_names", "p"), option("origin", word)];
            PgOutput::new(&options).unwrap().wants_replicated()
        };
        assert!(origin("any") && !origin("NONE"));
    }
}
