//! An index.

use std::sync::Arc;

use base::{Oid, SqlError, SqlResult, SqlState, Tid, Xid, sql_err};
use catalog::{CatalogView, Index, RelationKind, Table};
use engine::OpenIndex;
use heap::verify::{Target, target};
use heap::{ComboCids, Fetched, HeapError, HeapRel, HeapTuple, View};
use index::{IndexError, VerifyOptions};
use session::Session;
use session::expression::IndexKeys;
use session::lookup::names;
use session::table_rows::{Seen, decode};
use tuple::Datum;
use txn::{LockMode, Snapshot};

use super::filter::Filter;
use super::{check_not_temporary, lock};

/// Entries of an index page, if they are small: what a filter is made for.
const ENTRIES_PER_PAGE: u64 = 400;

/// What of an index is checked, beside its order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexChecks {
    /// Only an index of the access method with this name is checked.
    pub method: Option<&'static str>,
    /// Nobody may write meanwhile: links between all pages are checked too.
    pub parent: bool,
    /// Every row has its entry; with [`parent`](Self::parent) every entry has its row as well.
    pub heap_all_indexed: bool,
    /// Every entry is found by a search from the root; only with [`parent`](Self::parent).
    pub root_descend: bool,
    /// No two rows that are visible have the same key, if the index is unique.
    pub check_unique: bool,
}

impl IndexChecks {
    /// Everything.
    pub const ALL: IndexChecks = IndexChecks {
        method: None,
        parent: true,
        heap_all_indexed: true,
        root_descend: true,
        check_unique: true,
    };
}

/// Checks an index.
///
/// # Errors
/// What is wrong with it; the first that is found.
pub fn index(session: &Session, oid: Oid, checks: IndexChecks) -> SqlResult<()> {
    let mode = if checks.parent { LockMode::Share } else { LockMode::AccessShare };
    let owner = names::table_of_index(session, oid)?;
    if !owner.is_valid() {
        return Err(no_index(session, oid)?);
    }
    lock(session, &*names::describe(session, owner)?, mode)?;
    // It may be gone, or be another's, since it was looked at.
    if names::table_of_index(session, oid)? != owner {
        return Err(sql_err!(UNDEFINED_TABLE, "could not open relation with OID {oid}"));
    }
    let table = names::describe(session, owner)?;
    let index = names::find_index(&table, oid)?;
    let of_method = checks.method.is_none_or(|method| method == index.method.name);
    let Some(rel) = index.rel.as_ref().filter(|_| of_method && table.kind != RelationKind::PartitionedTable)
    else {
        let wanted = checks.method.unwrap_or(index.method.name);
        return Err(sql_err!(
            FEATURE_NOT_SUPPORTED,
            "expected \"{wanted}\" index as targets for verification"
        )
        .detail(format!("Relation \"{}\" is a {} index.", index.name, index.method.name)));
    };
    let associated = format!("Index \"{}\" is associated with temporary relation.", index.name);
    check_not_temporary(session, &table, &associated)?;
    if !index.valid {
        return Err(sql_err!(OBJECT_NOT_IN_PREREQUISITE_STATE, "cannot check index \"{}\"", index.name)
            .detail("Index is not valid."));
    }
    // Functions in its expressions run as the table's owner.
    session.as_maintainer(table.owner, || {
        Check {
            session,
            table: &table,
            index,
            rel,
            heap: table.heap.as_ref(),
            checks,
            snapshot: session.engine().txns().snapshot(),
        }
        .run()
    })
}

/// What is said of something that is no index.
fn no_index(session: &Session, oid: Oid) -> SqlResult<SqlError> {
    Ok(match session.with_reader(|reader| reader.relation_by_oid(oid))? {
        Some(other) => sql_err!(WRONG_OBJECT_TYPE, "\"{}\" is not an index", other.name),
        None => SqlError::internal(format!("could not open relation with OID {oid}")),
    })
}

/// Whether the index has a row with these values; the bytes are to work with.
type IsIn<'a> = dyn Fn(Tid, &mut Vec<Datum>, &mut Vec<u8>) -> SqlResult<bool> + 'a;

struct Check<'a> {
    session: &'a Session,
    table: &'a Table,
    index: &'a Index,
    rel: &'a OpenIndex,
    heap: Option<&'a Arc<HeapRel>>,
    checks: IndexChecks,
    /// Taken before the index is read: the entries of all rows that it sees are there, and stay.
    snapshot: Snapshot,
}

impl Check<'_> {
    fn run(&self) -> SqlResult<()> {
        let &Check { session, checks, .. } = self;
        let mut filter = match self.checks.heap_all_indexed && !self.index.method.summarizes {
            true => Some(self.filter()?),
            false => None,
        };
        let mut rows = Rows::new(self)?;
        let mut bytes = Vec::new();
        let mut entry = |tid: Tid, values: &[Datum]| {
            if let Some(filter) = &mut filter {
                filter.add(self.element(tid, values, &mut bytes));
            }
            rows.entry(tid, values)
        };
        let access = session.index_access(Xid::INVALID);
        let options =
            VerifyOptions { still: checks.parent, root_descend: checks.parent && checks.root_descend };
        self.rel.verify(&access, options, Some(&mut entry)).map_err(|error| self.error(error))?;
        match filter {
            Some(filter) => self.all_rows_are_in(&|tid, entry, bytes| {
                let mut all = true;
                self.entries(entry, &mut |entry| {
                    all &= filter.may_have(self.element(tid, entry, bytes));
                    Ok(())
                })?;
                Ok(all)
            }),
            None if self.checks.heap_all_indexed => self.all_rows_are_in(&|tid, entry, _| {
                self.rel.covers(&access, entry, tid).map_err(|error| self.error(error))
            }),
            None => Ok(()),
        }
    }

    /// An empty filter for the entries of the index.
    fn filter(&self) -> SqlResult<Filter> {
        let session = self.session;
        let memory = session.settings.borrow().fast().maintenance_work_mem as usize;
        let pages = u64::from(session.blocks(self.index.file)?);
        runtime::memory::ask(memory.min((pages * ENTRIES_PER_PAGE * 4) as usize))?;
        Ok(Filter::new(pages * ENTRIES_PER_PAGE, memory))
    }

    /// The entries of a row.
    fn entries(
        &self,
        values: &mut [Datum],
        each: &mut dyn FnMut(&[Datum]) -> SqlResult<()>,
    ) -> SqlResult<()> {
        let entered = self.rel.entries(values, each);
        entered.map_err(|error| error.into_sql(&self.index.name, &self.table.name))
    }

    /// What the filter has of an entry.
    fn element<'b>(&self, tid: Tid, values: &[Datum], bytes: &'b mut Vec<u8>) -> &'b [u8] {
        bytes.clear();
        bytes.extend_from_slice(&tid.block.0.to_le_bytes());
        bytes.extend_from_slice(&tid.offset.to_le_bytes());
        tuple::encode_nulls(values, bytes);
        self.rel.entry_layout().encode(values, bytes);
        bytes
    }

    /// Fails for a row that is not in the index.
    fn all_rows_are_in(&self, is_in: &IsIn<'_>) -> SqlResult<()> {
        let &Check { session, table, index, .. } = self;
        let Some(heap) = self.heap else { return Ok(()) };
        let mut keys = IndexKeys::new(session, table, index)?;
        let (mut entry, mut bytes) = (Vec::new(), Vec::new());
        let pages = session.blocks(heap.desc.file)?;
        let rows = Seen { session, heap, snapshot: &self.snapshot, pages: 0..pages };
        rows.each(keys.upto(), &mut |root, row| {
            if !keys.entry(session, row, &mut entry)? || !self.rel.desc().has_entry(&entry) {
                return Ok(());
            }
            if is_in(root, &mut entry, &mut bytes)? {
                return Ok(());
            }
            let error = sql_err!(
                DATA_CORRUPTED,
                "heap tuple {root} from table \"{}\" lacks matching index tuple within index \"{}\"",
                table.name,
                index.name
            );
            Err(match self.checks.parent {
                true => error,
                false => error.hint(
                    "Retrying verification using the function bt_index_parent_check() might provide a more specific error.",
                ),
            })
        })
    }

    /// What is wrong with the tree, in PostgreSQL's words where it has some.
    fn error(&self, error: IndexError) -> SqlError {
        let name = &self.index.name;
        let IndexError::Corrupt { block, what, .. } = error else {
            return error.into_sql(name, &self.table.name);
        };
        let Some(message) = self.rel.damage(what, name) else {
            return error.into_sql(name, &self.table.name);
        };
        SqlError::new(SqlState::INDEX_CORRUPTED, message).detail(format!("Index block {block}: {what}."))
    }
}

/// The rows behind the entries of an index, in its order.
struct Rows<'a> {
    check: &'a Check<'a>,
    keys: Option<IndexKeys>,
    row: HeapTuple,
    values: Vec<Datum>,
    computed: Vec<Datum>,
    /// The last entry that may stand for a visible row, with its key, and whether it does, once that was asked.
    last: Option<(Vec<Datum>, Tid, Option<bool>)>,
}

impl<'a> Rows<'a> {
    fn new(check: &'a Check<'a>) -> SqlResult<Rows<'a>> {
        let against = check.checks.parent && check.checks.heap_all_indexed;
        let keys = match against {
            true => Some(IndexKeys::new(check.session, check.table, check.index)?),
            false => None,
        };
        let (row, values, computed) = (HeapTuple::new(), Vec::new(), Vec::new());
        Ok(Rows { check, keys, row, values, computed, last: None })
    }

    fn entry(&mut self, tid: Tid, values: &[Datum]) -> SqlResult<()> {
        let Some(heap) = self.check.heap else { return Ok(()) };
        if self.keys.is_some() {
            self.has_its_row(heap, tid, values)?;
        }
        if self.check.checks.check_unique && self.check.index.refuses_duplicates() {
            self.is_unique(heap, tid, values)?;
        }
        Ok(())
    }

    fn wrong(&self, tid: Tid, what: &str) -> SqlError {
        let Check { table, index, .. } = self.check;
        let message = format!(
            "index tuple in index \"{}\" points to heap tuple {tid} of table \"{}\", {what}",
            index.name, table.name
        );
        SqlError::new(SqlState::INDEX_CORRUPTED, message)
    }

    /// The row that is visible has the entry's key.
    fn has_its_row(&mut self, heap: &HeapRel, tid: Tid, values: &[Datum]) -> SqlResult<()> {
        let session = self.check.session;
        let access = session.engine().heap_access();
        match target(&access, heap, tid).map_err(HeapError::into_sql)? {
            Target::Root => {}
            Target::Nothing => return Err(self.wrong(tid, "which is not there")),
            Target::Unused => return Err(self.wrong(tid, "whose line pointer is unused")),
            Target::HeapOnly => return Err(self.wrong(tid, "which is reached through another one only")),
        }
        if !self.is_visible(heap, tid)? {
            return Ok(());
        }
        let Some(keys) = &mut self.keys else { return Ok(()) };
        let found = self.row.get().ok_or_else(|| SqlError::internal("a row that was fetched is gone"))?;
        self.values.clear();
        decode(&access, heap, &found, keys.upto(), &mut self.values).map_err(HeapError::into_sql)?;
        if !keys.entry(session, &self.values, &mut self.computed)? {
            return Err(self.wrong(tid, "which does not satisfy its predicate"));
        }
        let layout = self.check.rel.entry_layout();
        let encoded = |values: &[Datum]| {
            let mut bytes = Vec::new();
            tuple::encode_nulls(values, &mut bytes);
            layout.encode(values, &mut bytes);
            bytes
        };
        let mut found = false;
        self.check.entries(&mut self.computed, &mut |entry| {
            found |= entry == values || encoded(entry) == encoded(values);
            Ok(())
        })?;
        match found {
            true => Ok(()),
            false => Err(self.wrong(tid, "which has another key")),
        }
    }

    /// Whether the snapshot sees the row behind an entry, which is in `row` then.
    fn is_visible(&mut self, heap: &HeapRel, tid: Tid) -> SqlResult<bool> {
        let Check { session, snapshot, .. } = self.check;
        let me = session.txn.borrow();
        let combo: &ComboCids = &session.combo;
        let view = View { snapshot, curcid: me.current_command(), me: &me, combo };
        let access = session.engine().heap_access();
        let found = heap::fetch(&access, heap, &view, tid, &mut self.row).map_err(HeapError::into_sql)?;
        Ok(found == Fetched::Visible)
    }

    fn is_unique(&mut self, heap: &HeapRel, tid: Tid, values: &[Datum]) -> SqlResult<()> {
        let Check { index, rel, .. } = self.check;
        let key = &values[..rel.desc().nkeys()];
        let distinct = !index.nulls_not_distinct && key.iter().any(Datum::is_null);
        let same = self.last.as_ref().is_some_and(|(last, ..)| rel.desc().compare_keys(last, key).is_eq());
        if distinct || !same {
            self.last = (!distinct).then(|| (key.to_vec(), tid, None));
            return Ok(());
        }
        let Some((last_key, last_tid, known)) = self.last.take() else { return Ok(()) };
        let last_visible = match known {
            Some(known) => known,
            None => self.is_visible(heap, last_tid)?,
        };
        let visible = self.is_visible(heap, tid)?;
        if last_visible && visible {
            let message = format!("index uniqueness is violated for index \"{}\"", index.name);
            return Err(SqlError::new(SqlState::INDEX_CORRUPTED, message).detail(format!(
                "Index tuples with the same key point to heap tuples {last_tid} and {tid}, which are both visible."
            )));
        }
        self.last = Some(match last_visible {
            true => (last_key, last_tid, Some(true)),
            false => (last_key, tid, Some(visible)),
        });
        Ok(())
    }
}
