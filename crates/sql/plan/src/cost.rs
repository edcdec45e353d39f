//! Costs of plans, in PostgreSQL's units: reading a page sequentially costs 1.

use catalog::PageCosts;

use crate::plan::Cost;

/// The planner's settings, under PostgreSQL's names.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct Settings {
    pub seq_page_cost: f64,
    pub random_page_cost: f64,
    pub cpu_tuple_cost: f64,
    pub cpu_index_tuple_cost: f64,
    pub cpu_operator_cost: f64,
    /// In pages.
    pub effective_cache_size: f64,
    /// In bytes.
    pub work_mem: f64,
    pub hash_mem_multiplier: f64,
    pub default_statistics_target: i32,
    pub enable_seqscan: bool,
    pub enable_indexscan: bool,
    pub enable_indexonlyscan: bool,
    pub enable_bitmapscan: bool,
    pub enable_tidscan: bool,
    pub enable_nestloop: bool,
    pub enable_hashjoin: bool,
    pub enable_mergejoin: bool,
    pub enable_hashagg: bool,
    pub enable_sort: bool,
    /// Rows that are sorted by the first keys are sorted by the others group by group.
    pub enable_incremental_sort: bool,
    /// The input of aggregates with an order of their own is sorted for them.
    pub enable_presorted_aggregate: bool,
    /// Rows are sorted for grouping by its keys in any order.
    pub enable_group_by_reordering: bool,
    /// Partitions are left out that conditions exclude.
    pub enable_partition_pruning: bool,
    /// Partitioned tables are joined by their partitions.
    pub enable_partitionwise_join: bool,
    pub enable_material: bool,
    /// Inner sides of loops keep their results.
    pub enable_memoize: bool,
    /// Relations up to which join orders are searched exhaustively.
    pub geqo_threshold: usize,
    pub join_collapse_limit: usize,
    pub from_collapse_limit: usize,
    /// Share of a cursor's rows expected to be fetched.
    pub cursor_tuple_fraction: f64,
    /// Scans of many rows give them many at once.
    pub batch_execution: bool,
    /// Workers that one gathering may have.
    pub max_parallel_workers_per_gather: u32,
    /// In pages.
    pub min_parallel_table_scan_size: f64,
    pub parallel_setup_cost: f64,
    pub parallel_tuple_cost: f64,
    /// What workers have sorted is merged.
    pub enable_gathermerge: bool,
    /// The session works beside its workers.
    pub parallel_leader_participation: bool,
    /// A worker runs whole plans.
    pub debug_parallel_query: ForcedParallel,
}

/// `debug_parallel_query`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForcedParallel {
    /// Workers help where that is cheaper.
    Off,
    /// A worker runs what it may.
    On,
    /// The same, and EXPLAIN does not tell.
    Regress,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            seq_page_cost: 1.0,
            random_page_cost: 4.0,
            cpu_tuple_cost: 0.01,
            cpu_index_tuple_cost: 0.005,
            cpu_operator_cost: 0.0025,
            effective_cache_size: 524_288.0,
            work_mem: 4.0 * 1024.0 * 1024.0,
            hash_mem_multiplier: 2.0,
            default_statistics_target: 100,
            enable_seqscan: true,
            enable_indexscan: true,
            enable_indexonlyscan: true,
            enable_bitmapscan: true,
            enable_tidscan: true,
            enable_nestloop: true,
            enable_hashjoin: true,
            enable_mergejoin: true,
            enable_hashagg: true,
            enable_sort: true,
            enable_incremental_sort: true,
            enable_presorted_aggregate: true,
            enable_group_by_reordering: true,
            enable_partition_pruning: true,
            enable_partitionwise_join: false,
            enable_material: true,
            enable_memoize: true,
            geqo_threshold: 12,
            join_collapse_limit: 8,
            from_collapse_limit: 8,
            cursor_tuple_fraction: 0.1,
            batch_execution: true,
            max_parallel_workers_per_gather: 2,
            min_parallel_table_scan_size: 1024.0,
            parallel_setup_cost: 1000.0,
            parallel_tuple_cost: 0.1,
            enable_gathermerge: true,
            parallel_leader_participation: true,
            debug_parallel_query: ForcedParallel::Off,
        }
    }
}

/// Added to the cost of a disabled kind of node, so that it is taken only when there is no other.
pub const DISABLED: f64 = 1.0e10;

/// Files that a hash aggregation deals rows out to.
const PARTITIONS: f64 = 32.0;

/// At least one row, whole.
pub fn clamp_rows(rows: f64) -> f64 {
    if rows <= 1.0 || rows.is_nan() { 1.0 } else { rows.round().min(1.0e100) }
}

/// What is known of an index when its scan is costed.
#[derive(Clone, Copy, Debug)]
pub struct IndexShape {
    /// Pages of the index.
    pub pages: f64,
    /// Entries.
    pub tuples: f64,
    /// Levels above the leaves.
    pub height: f64,
    /// A search goes down from a root, comparing on its way.
    pub descends: bool,
    /// Correlation of the first column with the heap's order, -1 to 1.
    pub correlation: f64,
    /// What its tablespace says of its pages.
    pub costs: PageCosts,
}

/// What a scan does in an index.
#[derive(Clone, Copy, Debug)]
pub struct IndexWork {
    /// Share of the entries that it reads.
    pub read: f64,
    /// Number of separate groups of entries that it searches for.
    pub groups: f64,
    /// Conditions that each entry is compared with.
    pub keys: f64,
    /// How often it runs.
    pub loops: f64,
}

/// What is known of the table.
#[derive(Clone, Copy, Debug)]
pub struct TableShape {
    /// Pages.
    pub pages: f64,
    /// Rows.
    pub tuples: f64,
    /// Share of pages known to be all-visible.
    pub all_visible: f64,
    /// What its tablespace says of its pages.
    pub costs: PageCosts,
}

/// What it costs to run a plan again.
#[derive(Clone, Copy, Debug)]
pub struct Rescan {
    /// Until the first row.
    pub startup: f64,
    /// All rows.
    pub total: f64,
}

/// What a hash join does.
#[derive(Clone, Copy, Debug)]
pub struct HashWork {
    /// Columns that are hashed.
    pub keys: f64,
    /// Operators of the other conditions.
    pub quals: f64,
    /// Share of the inner rows that are in the bucket where a row of the outer side is looked for.
    pub bucket: f64,
    /// Pairs of rows whose hashed columns are equal.
    pub pairs: f64,
    /// Where the first match is enough.
    pub matches: Option<Matches>,
    /// Rows without a match are what is asked for.
    pub anti: bool,
}

/// What the aggregates of a level do.
#[derive(Clone, Copy, Debug, Default)]
pub struct CallWork {
    /// How many there are.
    pub calls: f64,
    /// Operators of all of them for each row.
    pub row: f64,
    /// And for each group, conditions on groups too.
    pub group: f64,
}

/// Buckets of a hash table of so many rows.
pub fn buckets(rows: f64) -> f64 {
    rows.clamp(1024.0, 1.0e15).log2().ceil().exp2()
}

/// What is known of a join that looks for the first match only.
#[derive(Clone, Copy, Debug)]
pub struct Matches {
    /// Share of the outer rows that have one.
    pub share: f64,
    /// Rows that match one of those, on average.
    pub count: f64,
    /// An index of the inner side checks all conditions of the join.
    pub indexed: bool,
}

impl Settings {
    /// What a page costs that is read in its turn.
    pub fn seq_page(&self, costs: PageCosts) -> f64 {
        costs.seq.unwrap_or(self.seq_page_cost)
    }

    /// What a page costs that is read out of its turn.
    pub fn random_page(&self, costs: PageCosts) -> f64 {
        costs.random.unwrap_or(self.random_page_cost)
    }

    /// A scan of the whole table; `quals` is the cost of its conditions per row in operators.
    pub fn seq_scan(&self, table: TableShape, quals: f64) -> (f64, f64) {
        let disk = self.seq_page(table.costs) * table.pages;
        let cpu = (self.cpu_tuple_cost + self.cpu_operator_cost * quals) * table.tuples;
        (0.0, disk + cpu + if self.enable_seqscan { 0.0 } else { DISABLED })
    }

    /// Pages fetched at random when `tuples` are picked from a table of `pages` (Mackert and Lohman).
    pub fn pages_fetched(&self, tuples: f64, pages: f64, cache: f64) -> f64 {
        let t = pages.max(1.0);
        let b = cache.max(1.0);
        let fetched = if t <= b {
            (2.0 * t * tuples / (2.0 * t + tuples)).min(t)
        } else {
            let limit = 2.0 * t * b / (2.0 * t - b);
            if tuples <= limit {
                2.0 * t * tuples / (2.0 * t + tuples)
            } else {
                b + (tuples - limit) * (t - b) / t
            }
        };
        fetched.ceil()
    }

    /// Start-up and total cost of reading the index alone.
    pub fn index_access(&self, index: IndexShape, work: IndexWork) -> (f64, f64) {
        let tuples = clamp_rows(index.tuples * work.read);
        let mut pages = if index.pages > 1.0 && index.tuples > 1.0 {
            (tuples * index.pages / index.tuples).ceil()
        } else {
            1.0
        };
        // Groups apart are on pages of their own.
        let searches = work.groups.min(index.pages).max(1.0);
        pages = pages.max(searches);
        if work.loops > 1.0 {
            pages =
                self.pages_fetched(pages * work.loops, index.pages, self.effective_cache_size) / work.loops;
        }
        let disk = pages * self.random_page(index.costs);
        let cpu = tuples * (self.cpu_index_tuple_cost + self.cpu_operator_cost * work.keys);
        let mut descent = 0.0;
        if index.descends {
            descent += index.tuples.max(2.0).log2().ceil() * self.cpu_operator_cost;
            descent += (index.height + 1.0) * 50.0 * self.cpu_operator_cost;
        }
        (descent, descent * searches + disk + cpu)
    }

    /// Reading summaries of ranges of so many pages. `rows`: share of the rows that satisfy the conditions, and how well these follow the order of the table. Returns the share of the table
    /// that has to be read, start-up and total cost.
    pub fn summaries(
        &self,
        table: TableShape,
        index: IndexShape,
        pages_per_range: f64,
        (share, correlation): (f64, f64),
    ) -> (f64, f64, f64) {
        /// Ranges that one page tells the places of.
        const PLACES: f64 = 1000.0;
        let ranges = (table.pages / pages_per_range).ceil().max(1.0);
        let least = (ranges * share).ceil();
        let read = if correlation < 1.0e-10 { ranges } else { (least / correlation).min(ranges) };
        let maps = (ranges / PLACES).ceil();
        let startup = self.seq_page(index.costs) * maps;
        let total = startup
            + self.random_page(index.costs) * (index.pages - maps).max(0.0)
            + 0.1 * self.cpu_operator_cost * read * pages_per_range;
        ((read / ranges).clamp(0.0, 1.0), startup, total)
    }

    /// An index scan: rows from the heap (or, `index_only`, only from pages not all-visible).
    pub fn index_scan(
        &self,
        table: TableShape,
        index: IndexShape,
        selectivity: f64,
        work: IndexWork,
        quals: f64,
        index_only: bool,
    ) -> (f64, f64) {
        let (startup, mut total) = self.index_access(index, work);
        let loops = work.loops;
        let tuples = clamp_rows(table.tuples * selectivity);
        let visible = if index_only { 1.0 - table.all_visible } else { 1.0 };
        let mut worst = self.pages_fetched(tuples * loops.max(1.0), table.pages, self.effective_cache_size);
        let mut best = (selectivity * table.pages).ceil().max(if tuples > 0.0 { 1.0 } else { 0.0 });
        if loops > 1.0 {
            worst /= loops;
            best = self.pages_fetched(best * loops, table.pages, self.effective_cache_size) / loops;
        }
        if index_only {
            worst = (worst * visible).ceil();
            best = (best * visible).ceil();
        }
        let (seq, random) = (self.seq_page(table.costs), self.random_page(table.costs));
        let max_io = worst * random;
        let min_io = if best > 0.0 { random + (best - 1.0).max(0.0) * seq } else { 0.0 }.min(max_io);
        let squared = index.correlation * index.correlation;
        total += max_io + squared * (min_io - max_io);
        total += tuples * (self.cpu_tuple_cost + self.cpu_operator_cost * quals);
        (startup, total + if self.enable_indexscan { 0.0 } else { DISABLED })
    }

    /// Pages of a table that have rows of this part of it.
    pub fn bitmap_pages(table: TableShape, selectivity: f64) -> f64 {
        let tuples = clamp_rows(table.tuples * selectivity);
        let t = table.pages.max(1.0);
        (2.0 * t * tuples / (2.0 * t + tuples)).min(t).ceil().max(1.0)
    }

    /// The heap side of a bitmap scan, above `bitmap` (total cost of the bitmap, selectivity), whose pages are dealt out to so many participants.
    pub fn bitmap_heap(
        &self,
        table: TableShape,
        bitmap: f64,
        selectivity: f64,
        quals: f64,
        participants: f64,
    ) -> (f64, f64) {
        let tuples = clamp_rows(table.tuples * selectivity);
        let (pages, t) = (Settings::bitmap_pages(table, selectivity), table.pages.max(1.0));
        let (seq, random) = (self.seq_page(table.costs), self.random_page(table.costs));
        let per_page = if pages >= 2.0 { random - (random - seq) * (pages / t).sqrt() } else { random };
        let cpu = tuples * (self.cpu_tuple_cost + self.cpu_operator_cost * (quals + 1.0));
        let total = bitmap + pages * per_page + cpu / participants;
        (bitmap, total + if self.enable_bitmapscan { 0.0 } else { DISABLED })
    }

    /// A sort of `rows` of `width` bytes; `limit` rows wanted.
    pub fn sort(&self, input: f64, rows: f64, width: f64, limit: Option<f64>) -> (f64, f64) {
        let (startup, total) = self.one_sort(rows, width, limit);
        let before = input + if self.enable_sort { 0.0 } else { DISABLED };
        (before + startup, before + total)
    }

    /// The sort alone.
    fn one_sort(&self, rows: f64, width: f64, limit: Option<f64>) -> (f64, f64) {
        let rows = rows.max(2.0);
        let comparison = 2.0 * self.cpu_operator_cost;
        let wanted = limit.filter(|l| *l > 0.0 && *l < rows).unwrap_or(rows);
        let bytes = rows * (width + 24.0);
        let out_bytes = wanted * (width + 24.0);
        let mut startup = 0.0;
        if out_bytes > self.work_mem {
            let pages = (bytes / 8192.0).ceil();
            let runs = bytes / self.work_mem;
            let order = (self.work_mem / (8192.0 * 33.0)).clamp(6.0, 500.0);
            let passes = if runs > order { (runs.ln() / order.ln()).ceil() } else { 1.0 };
            startup += comparison * rows * rows.log2();
            startup += 2.0 * pages * passes * (self.seq_page_cost * 0.75 + self.random_page_cost * 0.25);
        } else if rows > 2.0 * wanted {
            startup += comparison * rows * (2.0 * wanted).log2();
        } else {
            startup += comparison * rows * rows.log2();
        }
        (startup, startup + self.cpu_operator_cost * rows)
    }

    /// A sort of rows that come sorted by the first keys, in `groups` groups that agree in these.
    pub fn incremental_sort(&self, input: Cost, groups: f64, limit: Option<f64>) -> (f64, f64) {
        let rows = input.rows.max(2.0);
        let groups = groups.clamp(1.0, rows);
        let read = (input.total - input.startup) / groups;
        let (startup, total) = self.one_sort(rows / groups, input.width, limit);
        let run = total - startup;
        let first = input.startup + startup + read;
        let rest = run + (run + startup + read) * (groups - 1.0);
        // Rows are compared to see where a group ends, and each group begins a sort anew.
        let ends = (self.cpu_tuple_cost + 2.0 * self.cpu_operator_cost) * rows;
        (first, first + rest + ends + 2.0 * self.cpu_tuple_cost * groups)
    }

    /// Keeping `rows` for rescans.
    pub fn materialize(&self, input: Cost) -> Cost {
        let bytes = input.rows * (input.width + 24.0);
        let mut total = input.total + 2.0 * self.cpu_operator_cost * input.rows;
        if bytes > self.work_mem {
            total += self.seq_page_cost * (bytes / 8192.0).ceil();
        }
        if !self.enable_material {
            total += DISABLED;
        }
        Cost { total, ..input }
    }

    /// Reading materialised rows again.
    pub fn rescan_materialized(&self, input: Cost) -> Rescan {
        let bytes = input.rows * (input.width + 24.0);
        let disk = if bytes > self.work_mem { self.seq_page_cost * (bytes / 8192.0).ceil() } else { 0.0 };
        Rescan { startup: 0.0, total: self.cpu_operator_cost * input.rows + disk }
    }

    /// A nested loop whose inner side's runs after the first cost `rescan`. `matches` is given where a row of the outer side is done with at
    /// its first match.
    pub fn nest_loop(
        &self,
        outer: Cost,
        inner: Cost,
        rescan: Rescan,
        quals: f64,
        matches: Option<Matches>,
    ) -> (f64, f64) {
        let rows = outer.rows.max(1.0);
        let inner_rows = inner.rows.max(1.0);
        let again = rescan.total - rescan.startup;
        let first = inner.total - inner.startup;
        let startup = outer.startup + inner.startup;
        let mut total = outer.total + inner.startup + (rows - 1.0) * rescan.startup;
        let pairs = match matches {
            None => {
                total += first + (rows - 1.0) * again;
                rows * inner_rows
            }
            Some(matches) => {
                let matched = (rows * matches.share).round();
                let unmatched = rows - matched;
                let part = 2.0 / (matches.count + 1.0);
                let read = matched * inner_rows * part;
                if matches.indexed {
                    // Where nothing matches, the index says so at once.
                    total += first * part + (matched - 1.0).max(0.0) * again * part;
                    total += unmatched * again / inner_rows;
                    read
                } else {
                    // The first run is a whole one, of a row without match if there is any.
                    let (matched, later) = if unmatched >= 1.0 {
                        (matched, unmatched - 1.0)
                    } else {
                        (matched - 1.0, unmatched)
                    };
                    total += first + matched.max(0.0) * again * part + later * again;
                    read + unmatched * inner_rows
                }
            }
        };
        total += pairs * (self.cpu_tuple_cost + self.cpu_operator_cost * quals);
        (startup, total + if self.enable_nestloop { 0.0 } else { DISABLED })
    }

    /// A hash join that builds from the inner side.
    pub fn hash_join(&self, outer: Cost, inner: Cost, work: HashWork) -> (f64, f64) {
        let HashWork { keys, quals, bucket, pairs, matches, anti } = work;
        let mut startup = outer.startup + inner.total;
        startup += (self.cpu_operator_cost * keys + self.cpu_tuple_cost) * inner.rows;
        let mut run = outer.total - outer.startup;
        run += self.cpu_operator_cost * keys * outer.rows;
        let inner_bytes = inner.rows * (inner.width + 24.0);
        if inner_bytes > self.hash_mem() {
            let inner_pages = (inner_bytes / 8192.0).ceil();
            let outer_pages = (outer.rows * (outer.width + 24.0) / 8192.0).ceil();
            startup += self.seq_page_cost * inner_pages;
            run += self.seq_page_cost * (inner_pages + 2.0 * outer_pages);
        }
        // Half of a bucket is compared before the match is found; most rows of it have another hash.
        let compared = self.cpu_operator_cost * keys * 0.5;
        let rows = match matches {
            None => {
                run += compared * outer.rows * clamp_rows(inner.rows * bucket);
                pairs
            }
            Some(matches) => {
                let matched = (outer.rows * matches.share).round();
                let others = outer.rows - matched;
                let part = 2.0 / (matches.count + 1.0);
                run += compared * matched * clamp_rows(inner.rows * bucket * part);
                run += compared * 0.1 * others * clamp_rows(inner.rows / buckets(inner.rows));
                if anti { others } else { matched }
            }
        };
        run += (self.cpu_tuple_cost + self.cpu_operator_cost * quals) * rows;
        let total = startup + run;
        (startup, total + if self.enable_hashjoin { 0.0 } else { DISABLED })
    }

    /// A merge join of sorted inputs.
    pub fn merge_join(&self, outer: Cost, inner: Cost, keys: f64, quals: f64, rows: f64) -> (f64, f64) {
        let startup = outer.startup + inner.startup;
        let mut run = (outer.total - outer.startup) + (inner.total - inner.startup);
        run += self.cpu_operator_cost * keys * (outer.rows + inner.rows);
        run += rows * (self.cpu_tuple_cost + self.cpu_operator_cost * quals);
        let total = startup + run;
        (startup, total + if self.enable_mergejoin { 0.0 } else { DISABLED })
    }

    /// Bytes that a hash table may take.
    pub fn hash_mem(&self) -> f64 {
        self.work_mem * self.hash_mem_multiplier
    }

    /// Bytes of a group in a hash table, of rows of this width and so many aggregates.
    pub fn group_bytes(&self, width: f64, calls: f64) -> f64 {
        width + 40.0 + 16.0 * calls
    }

    /// Aggregation: start-up and total.
    pub fn aggregate(&self, input: Cost, hashed: bool, keys: f64, work: CallWork, groups: f64) -> (f64, f64) {
        let transition = self.cpu_operator_cost * work.row * input.rows;
        let grouping = self.cpu_operator_cost * keys * input.rows;
        let finish = (self.cpu_operator_cost * work.group + self.cpu_tuple_cost) * groups;
        if !hashed {
            let total = input.total + transition + grouping + finish;
            let startup = if keys == 0.0 { total - self.cpu_tuple_cost } else { input.startup };
            return (startup, total);
        }
        let mut startup = input.total + transition + grouping;
        let mut read_back = 0.0;
        let batches = (groups * self.group_bytes(input.width, work.calls) / self.hash_mem()).ceil();
        if batches > 1.0 {
            // Rows of groups that do not fit are dealt out, perhaps more than once. Files that grow side by side are worse than a
            // sort's, hence twice the pages.
            let depth = (batches.ln() / PARTITIONS.ln()).ceil().max(1.0);
            let pages = 2.0 * depth * input.rows * (input.width + 24.0) / 8192.0;
            startup += pages * self.random_page_cost + depth * input.rows * 2.0 * self.cpu_tuple_cost;
            read_back = pages * self.seq_page_cost;
        }
        if !self.enable_hashagg {
            startup += DISABLED;
        }
        (startup, startup + read_back + finish)
    }
}
