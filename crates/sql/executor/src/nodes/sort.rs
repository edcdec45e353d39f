//! Sorting: in memory while it fits, else sorted runs in temporary files and a merge. Where only the first rows are wanted, no more than
//! these are kept, in a heap.

use std::cmp::Ordering;

use base::SqlResult;
use eval::code::{Code, Rows};
use eval::compile::{Inputs, order_of};
use eval::cx::Cx;
use eval::spill::{SpillFile, SpillReader, row_bytes};
use plan::explain::{Detail, SortMethod};
use plan::{ParamId, Plan, SortKey};
use tuple::Datum;
use types::Order;

use super::{BoxNode, Builder, Node, affected, depends_on, quick_sort};

/// A sort key, compiled.
pub struct Key {
    code: Code,
    order: Order,
    descending: bool,
    nulls_first: bool,
}

/// Compiles sort keys.
pub fn keys(builder: &Builder<'_>, keys: &[SortKey], inputs: Inputs<'_>) -> SqlResult<Box<[Key]>> {
    let compiler = builder.compiler();
    keys.iter()
        .map(|k| {
            Ok(Key {
                code: compiler.expr(&k.expr, inputs)?,
                order: order_of(builder.statement, &k.expr)?,
                descending: k.descending,
                nulls_first: k.nulls_first,
            })
        })
        .collect()
}

impl Key {
    /// A key on a column of the rows, ascending.
    pub fn column(i: usize, order: Order) -> Key {
        Key { code: Code::Outer(i), order, descending: false, nulls_first: false }
    }

    /// The same order on another column.
    pub fn at_column(&self, i: usize) -> Key {
        Key { code: Code::Outer(i), ..*self }
    }

    /// Changes the direction.
    pub fn set_direction(&mut self, descending: bool, nulls_first: bool) {
        (self.descending, self.nulls_first) = (descending, nulls_first);
    }

    /// Whether a function of a user tells the order.
    pub fn asks(&self) -> bool {
        self.order.asks()
    }

    /// DESC.
    pub fn descending(&self) -> bool {
        self.descending
    }

    /// NULLS FIRST.
    pub fn nulls_first(&self) -> bool {
        self.nulls_first
    }

    /// The key of a row.
    pub fn value(&self, row: &[Datum], cx: &mut Cx<'_>) -> SqlResult<Datum> {
        self.code.eval(Rows::one(row), cx)
    }

    /// Order of two values under this key.
    #[inline]
    pub fn compare(&self, a: &Datum, b: &Datum) -> Ordering {
        match (a.is_null(), b.is_null()) {
            (true, true) => Ordering::Equal,
            (true, false) => {
                if self.nulls_first {
                    Ordering::Less
                } else {
                    Ordering::Greater
                }
            }
            (false, true) => {
                if self.nulls_first {
                    Ordering::Greater
                } else {
                    Ordering::Less
                }
            }
            (false, false) => {
                let order = match (self.order, a, b) {
                    (Order::Plain(_), Datum::Int4(a), Datum::Int4(b)) => a.cmp(b),
                    (Order::Plain(_), Datum::Int8(a), Datum::Int8(b)) => a.cmp(b),
                    (order, ..) => order.compare(a, b),
                };
                if self.descending { order.reverse() } else { order }
            }
        }
    }
}

/// Order of two rows.
pub fn compare_rows(keys: &[Key], a: &[Datum], b: &[Datum], cx: &mut Cx<'_>) -> SqlResult<Ordering> {
    for key in keys {
        let order = match &key.code {
            Code::Outer(i) => key.compare(&a[*i], &b[*i]),
            code => {
                let (x, y) = (code.eval(Rows::one(a), cx)?, code.eval(Rows::one(b), cx)?);
                key.compare(&x, &y)
            }
        };
        if order.is_ne() {
            return Ok(order);
        }
    }
    Ok(Ordering::Equal)
}

/// Rows being sorted. The key columns must be columns of the rows.
pub struct Sorter {
    places: Vec<usize>,
    rows: Vec<Vec<Datum>>,
    bytes: usize,
    /// Sorted runs by how often they were merged: a level that is full becomes one run of the next.
    levels: Vec<Vec<SpillReader>>,
    merge: Option<Merge>,
    /// Only the first rows are wanted, this many.
    pub bound: Option<usize>,
    /// The rows are as many as are wanted, in a heap: none comes after the one at half its place.
    heaped: bool,
    /// Rows that were added.
    added: usize,
    at: usize,
}

/// Runs merged at once.
const FAN_IN: usize = 64;

impl Sorter {
    /// An empty sorter by keys that are columns.
    pub fn new(keys: &[Key]) -> Sorter {
        Sorter::at(places(keys, usize::MAX))
    }

    /// An empty sorter whose keys are these columns of the rows.
    pub fn at(places: Vec<usize>) -> Sorter {
        Sorter {
            places,
            rows: Vec::new(),
            bytes: 0,
            levels: Vec::new(),
            merge: None,
            bound: None,
            heaped: false,
            added: 0,
            at: 0,
        }
    }

    /// How many rows it gives.
    pub fn len(&self) -> usize {
        self.bound.map_or(self.added, |bound| bound.min(self.added))
    }

    /// Order of the current rows of two that sort alike.
    pub fn compare(&self, other: &Sorter, keys: &[Key]) -> Ordering {
        Self::order(&self.places, keys, self.row(), other.row())
    }

    fn order(places: &[usize], keys: &[Key], a: &[Datum], b: &[Datum]) -> Ordering {
        for (key, place) in keys.iter().zip(places) {
            let order = key.compare(&a[*place], &b[*place]);
            if order.is_ne() {
                return order;
            }
        }
        Ordering::Equal
    }

    /// Adds a row.
    pub fn add(&mut self, row: Vec<Datum>, keys: &[Key], cx: &Cx<'_>) -> SqlResult<()> {
        self.added += 1;
        if self.heaped {
            if Self::order(&self.places, keys, &row, &self.rows[0]).is_lt() {
                self.bytes += row_bytes(&row);
                self.bytes -= row_bytes(&self.rows[0]);
                self.rows[0] = row;
                self.sink(self.rows.len(), keys);
            }
        } else {
            self.bytes += row_bytes(&row);
            self.rows.push(row);
            let full = self.bytes > cx.env.work_mem;
            if let Some(bound) = self.bound.filter(|bound| *bound > 0 && self.levels.is_empty())
                && (self.rows.len() > bound.saturating_mul(2) || (self.rows.len() > bound && full))
            {
                self.make_heap(bound, keys);
            }
        }
        if self.bytes > cx.env.work_mem {
            self.spill(keys, cx)?;
        }
        Ok(())
    }

    /// Leaves the first `bound` rows, as a heap with the last of them on top.
    fn make_heap(&mut self, bound: usize, keys: &[Key]) {
        let rows = std::mem::take(&mut self.rows);
        for row in rows {
            if self.rows.len() < bound {
                self.rows.push(row);
                self.rise(keys);
            } else if Self::order(&self.places, keys, &row, &self.rows[0]).is_lt() {
                self.rows[0] = row;
                self.sink(bound, keys);
            }
        }
        self.bytes = self.rows.iter().map(|r| row_bytes(r)).sum();
        self.heaped = true;
    }

    /// Moves the last row of the heap up to its place.
    fn rise(&mut self, keys: &[Key]) {
        let mut at = self.rows.len() - 1;
        while at > 0 {
            let above = (at - 1) / 2;
            if Self::order(&self.places, keys, &self.rows[at], &self.rows[above]).is_le() {
                return;
            }
            self.rows.swap(at, above);
            at = above;
        }
    }

    /// Moves the top of a heap of the first `count` rows down to its place.
    fn sink(&mut self, count: usize, keys: &[Key]) {
        let mut at = 0;
        loop {
            let mut child = 2 * at + 1;
            if child >= count {
                return;
            }
            let order = |a: usize, b: usize| Self::order(&self.places, keys, &self.rows[a], &self.rows[b]);
            if child + 1 < count && order(child, child + 1).is_lt() {
                child += 1;
            }
            if order(at, child).is_ge() {
                return;
            }
            self.rows.swap(at, child);
            at = child;
        }
    }

    /// Takes the heap apart: the rows in order.
    fn sort_heap(&mut self, keys: &[Key]) {
        for last in (1..self.rows.len()).rev() {
            self.rows.swap(0, last);
            self.sink(last, keys);
        }
    }

    fn sort(&mut self, keys: &[Key]) -> SqlResult<()> {
        let places = &self.places;
        let order = |a: &Vec<Datum>, b: &Vec<Datum>| Self::order(places, keys, a, b);
        match self.rows.len() <= quick_sort::LONGEST {
            _ if keys.iter().any(Key::asks) => {
                types::piece::sort_by_any(&mut self.rows, order)?;
                types::asked::check()?;
            }
            true => quick_sort::sort(&mut self.rows, &order),
            false => types::piece::sort_by(&mut self.rows, order)?,
        }
        Ok(())
    }

    fn spill(&mut self, keys: &[Key], cx: &Cx<'_>) -> SqlResult<()> {
        self.heaped = false;
        self.sort(keys)?;
        let mut file = SpillFile::create(cx.env.temp)?;
        for row in self.rows.drain(..) {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            file.write(&row)?;
        }
        self.bytes = 0;
        self.add_run(0, file.into_reader()?, keys, cx)
    }

    fn add_run(&mut self, level: usize, run: SpillReader, keys: &[Key], cx: &Cx<'_>) -> SqlResult<()> {
        if self.levels.len() == level {
            self.levels.push(Vec::new());
        }
        self.levels[level].push(run);
        if self.levels[level].len() < FAN_IN {
            return Ok(());
        }
        let runs = std::mem::take(&mut self.levels[level]);
        let merged = Merge::new(runs, &self.places, keys)?.into_run(&self.places, keys, cx)?;
        self.add_run(level + 1, merged, keys, cx)
    }

    /// How the rows were sorted, and the kilobytes that they took.
    pub fn told(&self) -> (SortMethod, u64) {
        let method = match (&self.merge, self.heaped) {
            (Some(_), _) => SortMethod::ExternalMerge,
            (None, true) => SortMethod::TopN,
            (None, false) => SortMethod::Quicksort,
        };
        let bytes = match &self.merge {
            Some(merge) => merge.runs.iter().map(SpillReader::bytes).sum(),
            None => self.bytes as u64,
        };
        (method, bytes.div_ceil(1024))
    }

    /// Ends adding.
    pub fn finish(&mut self, keys: &[Key], cx: &Cx<'_>) -> SqlResult<()> {
        if self.levels.is_empty() {
            match self.heaped {
                true => {
                    self.sort_heap(keys);
                    types::asked::check()?;
                }
                false => self.sort(keys)?,
            }
            if let Some(bound) = self.bound {
                self.rows.truncate(bound);
            }
            return Ok(());
        }
        if !self.rows.is_empty() {
            self.spill(keys, cx)?;
        }
        self.rows = Vec::new();
        // Small runs first, so that long ones are read as seldom as may be.
        let mut runs = Vec::new();
        for level in std::mem::take(&mut self.levels) {
            runs.extend(level);
            if runs.len() > FAN_IN {
                let merged = Merge::new(std::mem::take(&mut runs), &self.places, keys)?;
                runs.push(merged.into_run(&self.places, keys, cx)?);
            }
        }
        self.merge = Some(Merge::new(runs, &self.places, keys)?);
        Ok(())
    }

    /// Back to the first row.
    pub fn rewind(&mut self, keys: &[Key]) -> SqlResult<()> {
        self.at = 0;
        if let Some(merge) = self.merge.take() {
            self.merge = Some(Merge::new(merge.runs, &self.places, keys)?);
        }
        Ok(())
    }

    /// Moves to the next row in order.
    pub fn next(&mut self, keys: &[Key]) -> SqlResult<bool> {
        let Some(merge) = &mut self.merge else {
            self.at += 1;
            return Ok(self.at <= self.rows.len());
        };
        if self.bound.is_some_and(|b| self.at >= b) {
            return Ok(false);
        }
        self.at += 1;
        let found = merge.next(&self.places, keys)?;
        if keys.iter().any(Key::asks) {
            types::asked::check()?;
        }
        Ok(found)
    }

    /// Takes the current row, which is read no more.
    pub fn take(&mut self) -> Vec<Datum> {
        match &mut self.merge {
            Some(merge) => std::mem::take(&mut merge.current),
            None => std::mem::take(&mut self.rows[self.at - 1]),
        }
    }

    /// The current row.
    pub fn row(&self) -> &[Datum] {
        self.merge.as_ref().map_or_else(|| self.rows[self.at - 1].as_slice(), |merge| &merge.current)
    }
}

/// Sorted runs, read side by side.
struct Merge {
    runs: Vec<SpillReader>,
    /// The next row of each run.
    heads: Vec<Vec<Datum>>,
    /// Runs that are not at their end, as a heap by their heads: none comes before the one at half its position.
    heap: Vec<usize>,
    current: Vec<Datum>,
}

impl Merge {
    /// Starts at the first rows.
    fn new(runs: Vec<SpillReader>, places: &[usize], keys: &[Key]) -> SqlResult<Merge> {
        let mut merge = Merge { heads: Vec::new(), heap: Vec::new(), current: Vec::new(), runs };
        for (number, run) in merge.runs.iter_mut().enumerate() {
            run.rewind();
            let mut row = Vec::new();
            if run.next(&mut row)? {
                merge.heap.push(number);
            }
            merge.heads.push(row);
        }
        for at in (0..merge.heap.len() / 2).rev() {
            merge.sift_down(at, places, keys);
        }
        Ok(merge)
    }

    fn sift_down(&mut self, mut at: usize, places: &[usize], keys: &[Key]) {
        let heads = &self.heads;
        let before =
            |a: usize, b: usize| Sorter::order(places, keys, &heads[a], &heads[b]).then(a.cmp(&b)).is_lt();
        loop {
            let mut child = 2 * at + 1;
            if child >= self.heap.len() {
                return;
            }
            if child + 1 < self.heap.len() && before(self.heap[child + 1], self.heap[child]) {
                child += 1;
            }
            if !before(self.heap[child], self.heap[at]) {
                return;
            }
            self.heap.swap(at, child);
            at = child;
        }
    }

    fn next(&mut self, places: &[usize], keys: &[Key]) -> SqlResult<bool> {
        let Some(&first) = self.heap.first() else { return Ok(false) };
        std::mem::swap(&mut self.current, &mut self.heads[first]);
        if !self.runs[first].next(&mut self.heads[first])? {
            self.heap.swap_remove(0);
        }
        self.sift_down(0, places, keys);
        Ok(true)
    }

    /// All rows as one run.
    fn into_run(mut self, places: &[usize], keys: &[Key], cx: &Cx<'_>) -> SqlResult<SpillReader> {
        let mut file = SpillFile::create(cx.env.temp)?;
        while self.next(places, keys)? {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            file.write(&self.current)?;
        }
        file.into_reader()
    }
}

/// Where keys lie in rows of `width` columns: keys that are no columns stand behind these.
fn places(keys: &[Key], width: usize) -> Vec<usize> {
    let mut behind = width..;
    let place = |key: &Key| match key.code {
        Code::Outer(i) => i,
        _ => behind.next().unwrap_or(width),
    };
    keys.iter().map(place).collect()
}

/// Rows as they are sorted: with all keys as columns.
pub struct Keyed {
    /// The keys.
    pub keys: Box<[Key]>,
    /// Where they lie.
    pub places: Vec<usize>,
    /// Columns of a row without the keys that are computed.
    pub width: usize,
}

impl Keyed {
    /// Of rows of `child`.
    pub fn new(builder: &Builder<'_>, child: &Plan, sort_keys: &[SortKey]) -> SqlResult<Keyed> {
        let keys = keys(builder, sort_keys, Inputs::one(&child.output))?;
        let width = child.output.len();
        Ok(Keyed { places: places(&keys, width), keys, width })
    }

    /// A copy of a row, with its keys.
    pub fn row(&self, row: &[Datum], cx: &mut Cx<'_>) -> SqlResult<Vec<Datum>> {
        let mut row = row.to_vec();
        for key in &self.keys {
            if !matches!(key.code, Code::Outer(_)) {
                let value = key.code.eval(Rows::one(&row), cx)?;
                row.push(value);
            }
        }
        if row.is_empty() {
            row.push(Datum::Null);
        }
        Ok(row)
    }
}

/// A sort node.
pub fn build<'p>(builder: &mut Builder<'p>, child: &'p Plan, sort_keys: &[SortKey]) -> SqlResult<BoxNode> {
    Ok(Box::new(node(builder, child, sort_keys)?))
}

pub(super) fn node<'p>(builder: &mut Builder<'p>, child: &'p Plan, sort_keys: &[SortKey]) -> SqlResult<Sort> {
    let keyed = Keyed::new(builder, child, sort_keys)?;
    let depends = depends_on(builder.statement, child);
    Ok(Sort { child: builder.build(child)?, keyed, depends, bound: None, sorter: None })
}

pub(super) struct Sort {
    pub(super) child: BoxNode,
    pub(super) keyed: Keyed,
    depends: Vec<ParamId>,
    pub(super) bound: Option<usize>,
    sorter: Option<Sorter>,
}

impl Sort {
    /// Sorts all rows of the child.
    pub(super) fn sorted(&mut self, cx: &mut Cx<'_>) -> SqlResult<Sorter> {
        let keys = &self.keyed.keys;
        let mut sorter = Sorter::at(self.keyed.places.clone());
        sorter.bound = self.bound;
        while self.child.next(cx)? {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            let row = self.keyed.row(self.child.row(), cx)?;
            sorter.add(row, keys, cx)?;
        }
        sorter.finish(keys, cx)?;
        let (method, kilobytes) = sorter.told();
        cx.tell(|_| Detail::Sort { method, kilobytes });
        Ok(sorter)
    }
}

impl Node for Sort {
    fn next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        if self.sorter.is_none() {
            self.sorter = Some(self.sorted(cx)?);
        }
        let keys = &self.keyed.keys;
        runtime::check_interrupts().map_err(eval::error::interrupted)?;
        self.sorter.as_mut().map_or(Ok(false), |s| s.next(keys))
    }

    fn row(&self) -> &[Datum] {
        self.sorter.as_ref().map_or(&[], |s| &s.row()[..self.keyed.width])
    }

    fn bound(&mut self, rows: Option<usize>) {
        self.bound = rows;
    }

    fn rescan(&mut self, cx: &mut Cx<'_>, changed: &[ParamId]) -> SqlResult<()> {
        match &mut self.sorter {
            // More rows may be wanted than were the last time.
            Some(sorter)
                if !changed.is_empty() && !affected(&self.depends, changed) && sorter.bound.is_none() =>
            {
                sorter.rewind(&self.keyed.keys)
            }
            _ => {
                self.sorter = None;
                self.child.rescan(cx, changed)
            }
        }
    }

    fn close(&mut self, cx: &mut Cx<'_>) {
        self.sorter = None;
        self.child.close(cx);
    }
}
