//! # What
//! Checks a table page by page: line pointers, headers, update chains, the fate of every transaction and set, columns, large values, the
//! visibility map. For `verify_heapam`, `stampede verify` and tests.
//!
//! # Invariants
//! 1. Nothing is changed, not even a hint: what is found is what is there.
//! 2. No bytes of a page make it panic or end: what is wrong is a [`Finding`]. An error is one of the disk, or of a page whose check sum is wrong.
//! 3. Others may write meanwhile. What is told must have been wrong whatever they did: who ended is asked in the order in which that can be told.
//!
//! # Locks
//! A heap page and its page of the map, shared, for the time of a copy. Large values are looked up with no latch held.
//!
//! # PostgreSQL counterpart and differences
//! `verify_heapam` of `contrib/amcheck`. The visibility map is checked too, and hints against the commit log.

use base::{BlockNo, Fork, MultiXactId, OffsetNo, PAGE_SIZE, SqlError, Tid, Xid};
use page::{LinePointer, LpFlags, PageBytes};
use tuple::varlena::{self, External};
use tuple::{Datum, bitmap_len};
use txn::{MemberStatus, OldestIds, XidStatus};

use crate::error::{HeapError, HeapResult};
use crate::fetch::{fetch_version, heap_tag};
use crate::header::{Bases, HEADER_LEN, Header, SPECIAL_LEN, infomask, infomask2};
use crate::ops;
use crate::rel::{Access, HeapRel};
use crate::row::{HeapTuple, TupleRef};
use crate::toast::{CHUNK, ToastTable, as_external};
use crate::visibility::is_removable;
use crate::vm::{self, VmCursor};

/// Something that is wrong in a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The page.
    pub block: BlockNo,
    /// The line pointer, unless it is about the page.
    pub offset: Option<OffsetNo>,
    /// The column, counted from 0, if it is about one.
    pub column: Option<usize>,
    /// What is wrong.
    pub message: String,
}

/// Pages that are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Skip {
    /// None.
    #[default]
    None,
    /// Those that the visibility map has as all-frozen.
    AllFrozen,
    /// Those that it has as all-visible.
    AllVisible,
}

/// What is checked.
#[derive(Clone, Copy, Debug)]
pub struct VerifyOptions {
    /// Pages left out.
    pub skip: Skip,
    /// Chunks of large values are looked up.
    pub toast: bool,
    /// Ids that the table may hold; older ones are damage.
    pub oldest: OldestIds,
}

/// A check of one table. Whoever runs it holds a snapshot, so that chunks of large values stay as long as their rows.
pub struct Verifier<'a> {
    access: &'a Access<'a>,
    rel: &'a HeapRel,
    options: VerifyOptions,
    map: VmCursor,
    /// The oldest ids that were kept before the page was read.
    kept: OldestIds,
    /// The fate asked for last, if it is final.
    last: Option<(Xid, XidStatus)>,
    findings: Vec<Finding>,
}

/// A version of a page under check.
#[derive(Clone, Copy)]
struct Version {
    header: Header,
    /// Fate of the inserter; none if it cannot be told.
    inserted: Option<XidStatus>,
    /// The transaction that updated or deleted it, and whether that committed; none if there is none, or it is not known.
    ended: Option<(Xid, XidStatus)>,
}

/// A page under check.
struct Page<'p> {
    block: BlockNo,
    page: &'p PageBytes,
    /// By line pointer, from 1 on.
    versions: Vec<Option<Version>>,
    /// Which line pointer leads here; 0: none.
    before: Vec<OffsetNo>,
}

impl<'a> Verifier<'a> {
    /// A check of `rel`.
    pub fn new(access: &'a Access<'a>, rel: &'a HeapRel, options: VerifyOptions) -> Verifier<'a> {
        Verifier {
            access,
            rel,
            options,
            map: VmCursor::default(),
            kept: access.txns.oldest_ids(),
            last: None,
            findings: Vec::new(),
        }
    }

    /// What is wrong on one page, which is there.
    pub fn page(&mut self, block: BlockNo) -> HeapResult<Vec<Finding>> {
        let bits = vm::bits(self.access, self.rel, block, &mut self.map)?;
        let skipped = match self.options.skip {
            Skip::None => 0,
            Skip::AllFrozen => vm::ALL_FROZEN,
            Skip::AllVisible => vm::ALL_VISIBLE,
        };
        if bits & skipped != 0 {
            return Ok(Vec::new());
        }
        self.kept = self.access.txns.oldest_ids();
        let mut copy: Box<PageBytes> = Box::new([0; PAGE_SIZE]);
        let bits = {
            let pin = self.access.pool.read(heap_tag(self.rel, block))?;
            let page = pin.shared();
            copy.copy_from_slice(&page[..]);
            self.map.bits(block)
        };
        if page::is_new(&copy) {
            if bits != 0 {
                self.tell(block, None, "page is empty but marked all-visible in visibility map");
            }
            return Ok(std::mem::take(&mut self.findings));
        }
        if page::special_offset(&copy) != PAGE_SIZE - SPECIAL_LEN {
            self.tell(block, None, "page has no special area of a table");
            return Ok(std::mem::take(&mut self.findings));
        }
        let slots = usize::from(page::max_offset(&copy)) + 1;
        let mut page = Page { block, page: &copy, versions: vec![None; slots], before: vec![0; slots] };
        self.line_pointers(&mut page)?;
        self.chains(&mut page)?;
        self.marks(&page, bits);
        self.rows(&page)?;
        Ok(std::mem::take(&mut self.findings))
    }

    fn tell(&mut self, block: BlockNo, offset: Option<OffsetNo>, message: impl Into<String>) {
        self.findings.push(Finding { block, offset, column: None, message: message.into() });
    }

    fn line_pointers(&mut self, page: &mut Page<'_>) -> HeapResult<()> {
        let max = page::max_offset(page.page);
        // Items by their places, to find those that overlap.
        let mut places: Vec<(u16, u16, OffsetNo)> = Vec::new();
        for n in 1..=max {
            let Some(lp) = page::line_pointer(page.page, n) else { continue };
            match lp.flags {
                LpFlags::Unused | LpFlags::Dead => {}
                LpFlags::Redirect => self.redirect(page, n, lp),
                LpFlags::Normal => {
                    if let Some(message) = misplaced(page.page, lp) {
                        self.tell(page.block, Some(n), message);
                        continue;
                    }
                    places.push((lp.offset, lp.len, n));
                    let Some(bytes) = page::item(page.page, n) else { continue };
                    match Header::read(bytes, Bases::of(page.page)) {
                        Some(header) => {
                            let version = self.version(page.block, n, header)?;
                            page.versions[usize::from(n)] = Some(version);
                        }
                        None => self.tell(
                            page.block,
                            Some(n),
                            format!(
                                "tuple data should begin within the tuple's {} bytes, but actually begins at byte {}",
                                bytes.len(),
                                bytes[HEADER_LEN - 1]
                            ),
                        ),
                    }
                }
            }
        }
        places.sort_unstable();
        for two in places.windows(2) {
            let ((at, length, first), (next, _, second)) = (two[0], two[1]);
            if usize::from(at) + usize::from(length) > usize::from(next) {
                let message = format!("line pointer shares bytes with the one at offset {first}");
                self.tell(page.block, Some(second), message);
            }
        }
        Ok(())
    }

    fn redirect(&mut self, page: &Page<'_>, n: OffsetNo, lp: LinePointer) {
        let (to, max) = (lp.offset, page::max_offset(page.page));
        let message = match page::line_pointer(page.page, to).map(|target| target.flags) {
            _ if to == 0 => {
                format!("line pointer redirection to item at offset {to} precedes minimum offset 1")
            }
            None => format!("line pointer redirection to item at offset {to} exceeds maximum offset {max}"),
            Some(LpFlags::Unused) => {
                format!("redirected line pointer points to an unused item at offset {to}")
            }
            Some(LpFlags::Dead) => format!("redirected line pointer points to a dead item at offset {to}"),
            Some(LpFlags::Redirect) => {
                format!("redirected line pointer points to another redirected line pointer at offset {to}")
            }
            Some(LpFlags::Normal) => return,
        };
        self.tell(page.block, Some(n), message);
    }

    /// Judges a header, and asks for the fate of whom it names.
    fn version(&mut self, block: BlockNo, n: OffsetNo, header: Header) -> HeapResult<Version> {
        let at = Some(n);
        let columns = header.columns();
        let known = self.rel.desc.layout.len();
        if columns > known {
            let message =
                format!("number of attributes {columns} exceeds maximum {known} expected for table");
            self.tell(block, at, message);
        }
        let bitmap = if header.has(infomask::HAS_NULL) { bitmap_len(columns) } else { 0 };
        let (begins, should) = (usize::from(header.hoff), page::align8(HEADER_LEN + bitmap));
        if begins != should {
            let nulls = if bitmap > 0 { "has nulls" } else { "no nulls" };
            self.tell(
                block,
                at,
                format!(
                    "tuple data should begin at byte {should}, but actually begins at byte {begins} ({columns} attributes, {nulls})"
                ),
            );
        }
        if header.multi().is_some() && header.has(infomask::XMAX_COMMITTED) {
            self.tell(block, at, "multixact should not be marked committed");
        }
        if header.infomask2 & infomask2::HOT_UPDATED != 0
            && !header.has(infomask::XMAX_INVALID)
            && (!header.raw_xmax.is_valid() || header.lock_only())
        {
            self.tell(block, at, "tuple has been HOT updated, but xmax is 0 or only a lock");
        }
        let inserted = self.inserter((block, n), &header)?;
        let ended = self.ender((block, n), &header)?;
        Ok(Version { header, inserted, ended })
    }

    fn inserter(
        &mut self,
        (block, n): (BlockNo, OffsetNo),
        header: &Header,
    ) -> HeapResult<Option<XidStatus>> {
        if header.xmin_frozen() {
            return Ok(Some(XidStatus::Committed));
        }
        let xmin = header.raw_xmin;
        if !xmin.is_valid() {
            self.tell(block, Some(n), "xmin is invalid");
            return Ok(None);
        }
        let Some(status) = self.fate((block, n), "xmin", xmin)? else { return Ok(None) };
        let hinted = match (header.xmin_hinted_committed(), header.xmin_hinted_aborted()) {
            (true, _) if status != XidStatus::Committed => "committed",
            (_, true) if status == XidStatus::Committed => "aborted",
            _ => return Ok(Some(status)),
        };
        let message = format!("xmin {xmin} is marked {hinted}, but it is {} in the commit log", word(status));
        self.tell(block, Some(n), message);
        Ok(None)
    }

    fn ender(&mut self, place: (BlockNo, OffsetNo), header: &Header) -> HeapResult<Option<(Xid, XidStatus)>> {
        let (block, n) = place;
        let xmax = match header.multi() {
            Some(multi) => match self.updater(place, multi, header)? {
                Some(updater) => updater,
                None => return Ok(None),
            },
            None if !header.raw_xmax.is_normal() => return Ok(None),
            None => header.raw_xmax,
        };
        // What a multixact's members were is told by it already.
        let Some(status) = self.fate(place, "xmax", xmax)? else { return Ok(None) };
        let (hint, void) = (header.has(infomask::XMAX_COMMITTED), header.has(infomask::XMAX_INVALID));
        let only_locked = header.lock_only();
        let contradiction = match status {
            XidStatus::Committed => void && !only_locked && !hint,
            XidStatus::Aborted | XidStatus::InProgress => hint && !void,
        };
        // A lock that has ended, as an update that was rolled back, may be marked as void; nothing else may.
        if contradiction && header.multi().is_none() {
            let marked = if void { "aborted" } else { "committed" };
            let message =
                format!("xmax {xmax} is marked {marked}, but it is {} in the commit log", word(status));
            self.tell(block, Some(n), message);
            return Ok(None);
        }
        Ok((!only_locked && !void).then_some((xmax, status)))
    }

    /// The member of a set that updated the row, if one did.
    fn updater(
        &mut self,
        (block, n): (BlockNo, OffsetNo),
        multi: MultiXactId,
        header: &Header,
    ) -> HeapResult<Option<Xid>> {
        let txns = self.access.txns;
        let (next, oldest) = (txns.next_multi(), self.kept.multi);
        let wrong = if multi.0 == 0 || header.raw_xmax.0 == Bases::default().multi {
            Some("xmax is an invalid multitransaction ID".to_owned())
        } else if multi >= next {
            Some(format!(
                "multitransaction ID {} equals or exceeds next valid multitransaction ID {}",
                multi.0, next.0
            ))
        } else if multi < oldest {
            Some(format!(
                "multitransaction ID {} precedes oldest valid multitransaction ID threshold {}",
                multi.0, oldest.0
            ))
        } else if multi < self.options.oldest.multi && self.options.oldest.multi.0 != u64::MAX {
            Some(format!(
                "multitransaction ID {} precedes relation minimum multitransaction ID threshold {}",
                multi.0, self.options.oldest.multi.0
            ))
        } else {
            None
        };
        if let Some(message) = wrong {
            self.tell(block, Some(n), message);
            return Ok(None);
        }
        let members = match txns.multixacts().members(multi) {
            Ok(members) => members,
            // VACUUM has removed it from the row meanwhile; it is not needed any more.
            Err(_) if multi < txns.oldest_ids().multi => return Ok(None),
            Err(error) if !error.transient => {
                let message =
                    format!("multitransaction ID {} could not be looked up: {}", multi.0, error.message);
                self.tell(block, Some(n), message);
                return Ok(None);
            }
            Err(error) => return Err(txn::TxnError::Multi { multi, error }.into()),
        };
        let updates = |status: MemberStatus| status.updates();
        let mut updaters = members.iter().filter(|member| updates(member.status)).map(|member| member.xid);
        let updater = updaters.next();
        if members.is_empty() {
            self.tell(block, Some(n), format!("multitransaction ID {} has no members", multi.0));
        }
        if updaters.next().is_some() {
            self.tell(block, Some(n), format!("multitransaction ID {} has two updaters", multi.0));
        }
        if updater.is_some() == header.lock_only()
            && !header.has(infomask::XMAX_INVALID)
            && !members.is_empty()
        {
            let what =
                if header.lock_only() { "an updater, but the tuple is only locked" } else { "no updater" };
            self.tell(block, Some(n), format!("multitransaction ID {} has {what}", multi.0));
        }
        Ok(updater)
    }

    /// The fate of a transaction that a version names; none if it is told that there is none.
    fn fate(
        &mut self,
        (block, n): (BlockNo, OffsetNo),
        field: &str,
        xid: Xid,
    ) -> HeapResult<Option<XidStatus>> {
        if let Some((last, status)) = self.last
            && last == xid
        {
            return Ok(Some(status));
        }
        if !xid.is_normal() {
            return Ok(Some(XidStatus::Committed));
        }
        let txns = self.access.txns;
        let (next, oldest) = (txns.next_xid(), self.kept.xid);
        let wrong = if xid >= next {
            Some(format!("{field} {xid} equals or exceeds next valid transaction ID {next}"))
        } else if xid < oldest {
            Some(format!("{field} {xid} precedes oldest valid transaction ID {oldest}"))
        } else if xid < self.options.oldest.xid && self.options.oldest.xid.0 != u64::MAX {
            Some(format!("{field} {xid} precedes relation freeze threshold {}", self.options.oldest.xid))
        } else {
            None
        };
        if let Some(message) = wrong {
            self.tell(block, Some(n), message);
            return Ok(None);
        }
        match txns.status(xid) {
            Ok(status) => {
                if status != XidStatus::InProgress {
                    self.last = Some((xid, status));
                }
                Ok(Some(status))
            }
            // VACUUM has frozen the row meanwhile; the transaction is not needed any more.
            Err(_) if xid < txns.oldest_ids().xid => Ok(None),
            Err(error) if error.is_transient() => Err(error.into()),
            Err(error) => {
                let error = SqlError::from(error);
                let detail = error.report().detail.clone().unwrap_or_default();
                self.tell(block, Some(n), format!("{field} {xid}: {} {detail}", error.message()));
                Ok(None)
            }
        }
    }

    /// Redirects and updates within the page.
    fn chains(&mut self, page: &mut Page<'_>) -> HeapResult<()> {
        for n in 1..=page::max_offset(page.page) {
            match page::line_pointer(page.page, n) {
                Some(lp) if lp.flags == LpFlags::Redirect => self.redirect_chain(page, n, lp.offset),
                Some(lp) if lp.flags == LpFlags::Normal => self.update_chain(page, n)?,
                _ => {}
            }
        }
        for n in 1..=page::max_offset(page.page) {
            let Some(version) = page.versions[usize::from(n)] else { continue };
            let committed = version.inserted == Some(XidStatus::Committed);
            if version.header.is_heap_only() && page.before[usize::from(n)] == 0 && committed {
                self.tell(page.block, Some(n), "tuple is root of chain but is marked as heap-only tuple");
            }
        }
        Ok(())
    }

    fn redirect_chain(&mut self, page: &mut Page<'_>, n: OffsetNo, to: OffsetNo) {
        let Some(Some(target)) = page.versions.get(usize::from(to)).copied() else { return };
        if !target.header.is_heap_only() {
            let message = format!("redirected line pointer points to a non-heap-only tuple at offset {to}");
            self.tell(page.block, Some(n), message);
        }
        match page.before[usize::from(to)] {
            0 => page.before[usize::from(to)] = n,
            other => {
                let message = format!(
                    "redirect line pointer points to offset {to}, but offset {other} also points there"
                );
                self.tell(page.block, Some(n), message);
            }
        }
    }

    fn update_chain(&mut self, page: &mut Page<'_>, n: OffsetNo) -> HeapResult<()> {
        let Some(version) = page.versions[usize::from(n)] else { return Ok(()) };
        let (header, ctid) = (version.header, version.header.ctid);
        if ctid.block != page.block || ctid.offset == n {
            if header.is_hot_updated() {
                let message = "tuple has been HOT updated, but its next version is not on the same page";
                self.tell(page.block, Some(n), message);
            }
            return Ok(());
        }
        let Some(Some(next)) = page.versions.get(usize::from(ctid.offset)).copied() else { return Ok(()) };
        let Some((xmax, _)) = version.ended.filter(|(xmax, _)| *xmax == next.header.raw_xmin) else {
            return Ok(());
        };
        let to = ctid.offset;
        match page.before[usize::from(to)] {
            0 => page.before[usize::from(to)] = n,
            other => {
                let message = format!(
                    "tuple points to new version at offset {to}, but offset {other} also points there"
                );
                self.tell(page.block, Some(n), message);
            }
        }
        // As it was written: whether the inserter has ended since does not matter.
        match (header.infomask2 & infomask2::HOT_UPDATED != 0, next.header.is_heap_only()) {
            (false, true) => {
                let message = format!("non-heap-only update produced a heap-only tuple at offset {to}");
                self.tell(page.block, Some(n), message);
            }
            (true, false) => {
                let message = format!("heap-only update produced a non-heap only tuple at offset {to}");
                self.tell(page.block, Some(n), message);
            }
            _ => {}
        }
        // Who updated it had seen it: it was committed, or his own.
        let xmin = header.raw_xmin;
        let (Some(inserted), Some(XidStatus::Committed)) = (version.inserted, next.inserted) else {
            return Ok(());
        };
        let inserted = match inserted {
            XidStatus::InProgress => self.access.txns.status(xmin)?,
            known => known,
        };
        if inserted != XidStatus::Committed {
            let how = if inserted == XidStatus::Aborted { "aborted" } else { "in-progress" };
            let message = format!(
                "tuple with {how} xmin {xmin} was updated to produce a tuple at offset {to} with committed xmin {xmax}"
            );
            self.tell(page.block, Some(n), message);
        }
        Ok(())
    }

    /// What the page and the visibility map say of all its versions.
    fn marks(&mut self, page: &Page<'_>, bits: u8) {
        let all_visible = ops::is_all_visible(page.page);
        if bits & vm::ALL_VISIBLE != 0 && !all_visible {
            let message = "page is not marked all-visible in page header but visibility map bit is set";
            self.tell(page.block, None, message);
        }
        if bits & vm::ALL_FROZEN != 0 && bits & vm::ALL_VISIBLE == 0 {
            self.tell(page.block, None, "page is marked all-frozen in visibility map but not all-visible");
        }
        if !all_visible {
            return;
        }
        for n in 1..=page::max_offset(page.page) {
            if page::line_pointer(page.page, n).is_some_and(|lp| lp.flags == LpFlags::Dead) {
                self.tell(page.block, Some(n), "line pointer is dead on a page that is marked all-visible");
            }
            let Some(version) = page.versions[usize::from(n)] else { continue };
            let frozen = version.header.xmin_frozen();
            let wrong = match version.inserted {
                Some(XidStatus::InProgress | XidStatus::Aborted) => "tuple is not visible to everybody",
                _ if matches!(version.ended, Some((_, XidStatus::Committed))) => "tuple is deleted",
                _ if bits & vm::ALL_FROZEN != 0 && !frozen => {
                    self.tell(page.block, Some(n), "tuple is not frozen on a page that is marked all-frozen");
                    continue;
                }
                _ => continue,
            };
            self.tell(page.block, Some(n), format!("{wrong} on a page that is marked all-visible"));
        }
    }

    /// Columns of the versions that some snapshot can read.
    fn rows(&mut self, page: &Page<'_>) -> HeapResult<()> {
        for n in 1..=page::max_offset(page.page) {
            let Some(version) = page.versions[usize::from(n)] else { continue };
            // Others may have another idea of the table's columns until they have committed.
            if version.inserted != Some(XidStatus::Committed)
                || version.header.columns() > self.rel.desc.layout.len()
            {
                continue;
            }
            let tid = Tid::new(page.block, n);
            let row = page::item(page.page, n).and_then(|b| TupleRef::new(tid, b, Bases::of(page.page)));
            let Some(row) = row else { continue };
            let gone = version.ended.is_some_and(|(xmax, status)| {
                status == XidStatus::Committed && is_removable(self.access.txns, self.rel.desc.kind, xmax)
            });
            self.row(&row, gone)?;
        }
        Ok(())
    }

    /// `gone`: its large values may be removed at any time, or are.
    fn row(&mut self, row: &TupleRef<'_>, gone: bool) -> HeapResult<()> {
        let layout = self.rel.desc.layout.clone();
        let place = row.tid;
        for column in 0..row.columns() {
            let told = |message: String| Finding {
                block: place.block,
                offset: Some(place.offset),
                column: Some(column),
                message,
            };
            let Ok(value) = row.decode_column(&layout, column) else {
                let message =
                    format!("attribute does not end within the tuple, whose length is {}", row.bytes().len());
                self.findings.push(told(message));
                // Where later ones begin depends on it.
                return Ok(());
            };
            let Datum::Toasted(stored) = &value else { continue };
            let Some(pointer) = as_external(&value) else {
                if !matches!(varlena::resolve_inline(stored), Ok(Some(_))) {
                    self.findings.push(told("compressed attribute cannot be decompressed".into()));
                }
                continue;
            };
            if !row.header().has(infomask::HAS_EXTERNAL) {
                let message = format!(
                    "toast value {} is external but tuple header flags it has none",
                    pointer.value_id
                );
                self.findings.push(told(message));
            }
            if !gone && self.options.toast {
                let messages = self.large_value(&pointer)?;
                self.findings.extend(messages.into_iter().map(told));
            }
        }
        Ok(())
    }

    /// What is wrong with a value's chunks.
    fn large_value(&self, pointer: &External) -> HeapResult<Vec<String>> {
        let id = pointer.value_id;
        let toast = self.rel.desc.toast.as_ref();
        let Some(toast) = toast.filter(|toast| toast.oid.0 == pointer.toast_relation) else {
            let message = format!(
                "toast value {id} points to relation {} that is not this table's",
                pointer.toast_relation
            );
            return Ok(vec![message]);
        };
        match chunks(self.access, toast, pointer) {
            // A damaged page of the TOAST table is found there.
            Err(HeapError::Corrupt { what, .. }) => {
                Ok(vec![format!("toast value {id} cannot be read: {what}")])
            }
            other => other,
        }
    }
}

/// What is wrong with a value's chunks.
fn chunks(access: &Access<'_>, toast: &ToastTable, pointer: &External) -> HeapResult<Vec<String>> {
    let (id, size) = (pointer.value_id, pointer.stored_size as usize);
    let last = size.saturating_sub(1) / CHUNK;
    let (mut wrong, mut expected) = (Vec::new(), 0);
    let mut row = HeapTuple::new();
    toast.index.find(access, id, 0, &mut |seq, tid| {
        runtime::check_interrupts()?;
        if seq as usize != expected {
            // An entry for a chunk that was never committed, and is written again.
            if (seq as usize) < expected {
                return Ok(true);
            }
            wrong.push(format!(
                "toast value {id} index scan returned chunk {seq} when expecting chunk {expected}"
            ));
            return Ok(false);
        }
        if !fetch_version(access, &toast.rel, tid, &mut row)? {
            return Ok(true);
        }
        let mut values = Vec::with_capacity(3);
        let decoded = row.get().is_some_and(|row| row.decode(&toast.rel.desc.layout, 3, &mut values).is_ok());
        let length = match values.as_slice() {
            [Datum::Oid(found), Datum::Int4(n), Datum::Bytes(bytes)]
                if decoded && *found == id && *n == seq =>
            {
                bytes.len()
            }
            _ => return Ok(true),
        };
        let due = if expected == last { size - last * CHUNK } else { CHUNK };
        if expected > last {
            wrong.push(format!("toast value {id} has chunk {seq} behind its last chunk {last}"));
            return Ok(false);
        }
        if length != due {
            wrong.push(format!("toast value {id} chunk {seq} has size {length}, but expected size {due}"));
        }
        expected += 1;
        Ok(true)
    })?;
    if expected == 0 && wrong.is_empty() {
        wrong.push(format!("toast value {id} not found in toast table"));
    } else if expected <= last && wrong.is_empty() {
        wrong.push(format!(
            "toast value {id} was expected to end at chunk {last}, but ended while expecting chunk {expected}"
        ));
    }
    Ok(wrong)
}

/// What is wrong with the place that a line pointer names.
fn misplaced(page: &PageBytes, lp: LinePointer) -> Option<String> {
    let (offset, length) = (usize::from(lp.offset), usize::from(lp.len));
    let end = page::special_offset(page);
    if !offset.is_multiple_of(8) {
        Some(format!("line pointer to page offset {offset} is not maximally aligned"))
    } else if length < HEADER_LEN {
        Some(format!("line pointer length {length} is less than the minimum tuple header size {HEADER_LEN}"))
    } else if offset + length > end {
        Some(format!(
            "line pointer to page offset {offset} with length {length} ends beyond maximum page offset {end}"
        ))
    } else if offset < page::upper(page) {
        Some(format!("line pointer to page offset {offset} begins before the items at {}", page::upper(page)))
    } else {
        None
    }
}

fn word(status: XidStatus) -> &'static str {
    match status {
        XidStatus::Committed => "committed",
        XidStatus::Aborted => "aborted",
        XidStatus::InProgress => "in progress",
    }
}

/// What an index entry leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A version that index entries may lead to, or what pruning left of one.
    Root,
    /// Behind the end of the table, or behind the last line pointer of its page.
    Nothing,
    /// A line pointer that is free.
    Unused,
    /// A version that is reached through its chain only.
    HeapOnly,
}

/// What an index entry for `tid` leads to. Only where no VACUUM is under way does [`Target::Unused`] tell of damage.
pub fn target(access: &Access<'_>, rel: &HeapRel, tid: Tid) -> HeapResult<Target> {
    if tid.block.0 >= access.pool.nblocks(rel.desc.file, Fork::Main)? {
        return Ok(Target::Nothing);
    }
    let pin = access.pool.read(heap_tag(rel, tid.block))?;
    let page = pin.shared();
    Ok(match page::line_pointer(&page, tid.offset).map(|lp| lp.flags) {
        None => Target::Nothing,
        Some(LpFlags::Unused) => Target::Unused,
        Some(LpFlags::Redirect | LpFlags::Dead) => Target::Root,
        Some(LpFlags::Normal) => {
            let header = page::item(&page, tid.offset).and_then(|b| Header::read(b, Bases::of(&page)));
            match header.is_some_and(|header| header.is_heap_only()) {
                true => Target::HeapOnly,
                false => Target::Root,
            }
        }
    })
}
