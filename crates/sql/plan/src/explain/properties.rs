//! What a node says of itself: conditions, keys, and what a run found out.

use super::document::{Group, Heading, Item, Property, Shape, Value};
use super::expr::quote;
use super::node::verb;
use super::{Detail, Explain, SortGroups, SortMethod};
use crate::expr::Expr;
use crate::foreign::ForeignDetail;
use crate::plan::*;

impl<'a> Explain<'a> {
    /// `bernoulli ('10'::real) REPEATABLE ('0'::double precision)`
    fn sampling(&self, sample: &Sample, qualify: bool) -> String {
        let method = if sample.system { "system" } else { "bernoulli" };
        let mut text = format!("{method} ({})", self.expr(&sample.percent, qualify));
        if let Some(repeatable) = &sample.repeatable {
            text.push_str(&format!(" REPEATABLE ({})", self.expr(repeatable, qualify)));
        }
        text
    }

    /// Appends the properties of a node.
    pub(super) fn properties(&self, plan: &'a Plan, number: usize, items: &mut Vec<Item>) {
        let verbose = self.options.verbose;
        // Scans name the columns of one relation; other nodes may see several.
        let upper = verbose || self.several();
        // Rows that come from any input are not made here.
        if !matches!(plan.node, Node::RecursiveUnion { .. } | Node::Append { .. } | Node::MergeAppend { .. })
        {
            let (partial, carried) = (is_partial(plan), self.carried.clone());
            Explain { partial, carried, ..self.shallow() }.output(&plan.output, items);
        }
        self.inner_unique(plan, items);
        let mut qualify = upper;
        match &plan.node {
            Node::Result { one_time, .. } => self.quals("One-Time Filter", one_time, upper, items),
            Node::SeqScan { .. }
            | Node::ValuesScan { .. }
            | Node::CteScan { .. }
            | Node::WorkTableScan { .. }
            | Node::TransitionScan { .. } => {
                qualify = verbose;
            }
            Node::ForeignScan { .. } => qualify = verbose,
            Node::SampleScan { sample, .. } => {
                items.push(property("Sampling", self.sampling(sample, upper)));
                qualify = verbose;
            }
            Node::IndexScan { conditions, distances, .. }
            | Node::IndexOnlyScan { conditions, distances, .. } => {
                let list: Vec<Expr> = conditions.iter().map(|c| c.original.clone()).collect();
                self.quals("Index Cond", &list, verbose, items);
                self.rechecked(list.is_empty(), number, items);
                let list: Vec<Expr> = distances.iter().map(|d| d.original.clone()).collect();
                self.quals("Order By", &list, verbose, items);
                qualify = verbose;
            }
            Node::BitmapHeapScan { recheck, .. } => {
                self.quals("Recheck Cond", recheck, verbose, items);
                self.rechecked(recheck.is_empty(), number, items);
                qualify = verbose;
            }
            Node::TidScan { condition, .. } | Node::TidRangeScan { condition, .. } => {
                self.quals("TID Cond", condition, verbose, items);
                qualify = verbose;
            }
            Node::FunctionScan { functions, .. } => {
                if verbose {
                    let table = matches!(functions.as_slice(), [Expr::Json(_) | Expr::Xml(_)]);
                    let label = if table { "Table Function Call" } else { "Function Call" };
                    items.push(property(label, self.list(functions, true)));
                }
                qualify = verbose;
            }
            Node::NestLoop { clauses, .. } => self.join_filter(clauses, number, items),
            Node::HashJoin { hash: keys, clauses, .. } | Node::MergeJoin { merge: keys, clauses, .. } => {
                let label =
                    if matches!(plan.node, Node::HashJoin { .. }) { "Hash Cond" } else { "Merge Cond" };
                let list: Vec<Expr> = keys.iter().map(|c| c.original.clone()).collect();
                self.quals(label, &list, true, items);
                self.join_filter(clauses, number, items);
            }
            Node::Memoize { keys, binary, .. } => {
                items.push(property("Cache Key", self.list(keys, upper)));
                items.push(property("Cache Mode", if *binary { "binary" } else { "logical" }));
            }
            Node::Sort { keys, .. } | Node::MergeAppend { keys, .. } => {
                items.push(property("Sort Key", Value::List(self.sort_keys(keys, upper))));
            }
            Node::IncrementalSort { keys, presorted, .. } => {
                items.push(property("Sort Key", Value::List(self.sort_keys(keys, upper))));
                let first: Vec<Expr> = keys.iter().take(*presorted).map(|key| key.expr.clone()).collect();
                items.push(property("Presorted Key", Value::List(self.texts(&first, upper))));
            }
            Node::Aggregate { keys, rollups, child, .. } if !keys.is_empty() || !rollups.is_empty() => {
                // As what the child computes, not as what it gives.
                let child = Explain { carried: self.inputs(child), ..self.shallow() };
                child.grouping(keys, rollups, upper, items);
            }
            Node::WindowAgg { partition, order, frame, run, name, .. } => {
                let text = self.window(partition, order, frame, upper);
                items.push(property("Window", format!("{} AS ({text})", quote(name))));
                self.quals("Run Condition", run, qualify, items);
            }
            Node::Modify(modify) => self.modify(modify, number, items),
            _ => {}
        }
        self.quals("Filter", &plan.filter, qualify, items);
        if let Node::Gather { workers, merge, single_copy, .. } = &plan.node {
            self.workers(*workers, number, items);
            if *single_copy {
                items.push(property("Single Copy", true));
            } else if !merge {
                items.push(Item::Line(None, vec![Property::new("Single Copy", false)]));
            }
        }
        let hashed = matches!(&plan.node, Node::Aggregate { .. });
        if hashed {
            items.extend(self.detail_item(&self.measured(number).detail));
        }
        if !plan.filter.is_empty() {
            self.removed("Rows Removed by Filter", number, |m| m.filtered, items);
        }
        if !hashed && !matches!(plan.node, Node::HashJoin { .. } | Node::Modify(_)) {
            let told = match (&plan.node, self.measured(number).detail) {
                // Not shown for a scan that never visited the table.
                (Node::IndexOnlyScan { .. }, Detail::None) if self.options.analyze => Detail::HeapFetches(0),
                (_, told) => told,
            };
            items.extend(self.detail_item(&told));
            if let Detail::HeapBlocks { batches: count @ 1.., .. } = told {
                items.extend(self.detail_item(&Detail::RowBatches(count)));
            }
            if let Detail::SortGroups { full, presorted } = told {
                items.extend(sort_groups("Full-sort Groups", &full));
                items.extend(sort_groups("Pre-sorted Groups", &presorted));
            }
        }
        if let Node::ForeignScan { details, .. } = &plan.node {
            items.extend(details.iter().filter_map(|detail| self.foreign_detail(detail)));
        }
        if matches!(plan.node, Node::IndexScan { .. } | Node::IndexOnlyScan { .. }) {
            self.searches(number, items);
        }
    }

    /// What a wrapper tells of its scan.
    fn foreign_detail(&self, detail: &ForeignDetail) -> Option<Item> {
        match detail {
            ForeignDetail::Text(label, text) => Some(property(label, text.as_str())),
            ForeignDetail::Bytes(label, bytes) => self.options.costs.then(|| {
                let unit = Some("b");
                Item::Property(Property { unit, ..Property::new(label, Value::Number(bytes.to_string())) })
            }),
        }
    }

    /// How many were to take part, and did.
    fn workers(&self, planned: u32, number: usize, items: &mut Vec<Item>) {
        items.push(property("Workers Planned", u64::from(planned)));
        if self.options.analyze {
            let launched = match self.measured(number).detail {
                Detail::Workers(launched) => launched,
                _ => 0,
            };
            items.push(property("Workers Launched", launched));
        }
    }

    /// Whether the statement names several relations.
    fn several(&self) -> bool {
        let named = |relation: &&Relation| !relation.alias.is_empty() || !relation.columns.is_empty();
        self.statement.relations.iter().filter(named).nth(1).is_some()
    }

    /// What the node's rows are made of.
    pub(super) fn output(&self, output: &[Expr], items: &mut Vec<Item>) {
        if self.options.verbose && !output.is_empty() {
            let qualify = self.several();
            items.push(property("Output", Value::List(self.texts(output, qualify))));
        }
    }

    fn inner_unique(&self, plan: &Plan, items: &mut Vec<Item>) {
        if let Node::NestLoop { inner_unique, .. }
        | Node::HashJoin { inner_unique, .. }
        | Node::MergeJoin { inner_unique, .. } = &plan.node
        {
            let shown = self.options.verbose && *inner_unique;
            let text = shown.then(|| "Inner Unique: true".to_owned());
            items.push(Item::Line(text, vec![Property::new("Inner Unique", *inner_unique)]));
        }
    }

    /// A conjunction, unless it is empty.
    pub(super) fn quals(&self, label: &'static str, quals: &[Expr], qualify: bool, items: &mut Vec<Item>) {
        if !quals.is_empty() {
            items.push(property(label, self.condition(quals, qualify)));
        }
    }

    /// Rows that an index has named although they do not satisfy its conditions, if it has some.
    fn rechecked(&self, unconditional: bool, number: usize, items: &mut Vec<Item>) {
        if !unconditional {
            self.removed("Rows Removed by Index Recheck", number, |m| m.rechecked, items);
        }
    }

    /// Descents of the index.
    pub(super) fn searches(&self, number: usize, items: &mut Vec<Item>) {
        if self.options.analyze {
            items.push(property("Index Searches", self.measured(number).usage.index_searches));
        }
    }

    fn join_filter(&self, clauses: &[Expr], number: usize, items: &mut Vec<Item>) {
        self.quals("Join Filter", clauses, true, items);
        if !clauses.is_empty() {
            self.removed("Rows Removed by Join Filter", number, |m| m.unjoined, items);
        }
    }

    /// How many rows a condition threw away, a run on average.
    fn removed(
        &self,
        label: &'static str,
        number: usize,
        count: fn(&super::Measured) -> f64,
        items: &mut Vec<Item>,
    ) {
        if !self.options.analyze {
            return;
        }
        let measured = self.measured(number);
        let rows = if measured.loops > 0.0 { count(&measured) / measured.loops } else { 0.0 };
        let text = (count(&measured) > 0.0 && measured.loops > 0.0).then(|| format!("{label}: {rows:.0}"));
        items.push(Item::Line(text, vec![Property::new(label, Value::float(rows, 0))]));
    }

    fn grouping(&self, keys: &[Expr], rollups: &[Rollup], qualify: bool, items: &mut Vec<Item>) {
        if rollups.is_empty() {
            items.push(property("Group Key", Value::List(self.texts(keys, qualify))));
            return;
        }
        let texts = |set: &[usize]| {
            let part: Vec<Expr> = set.iter().map(|i| keys[*i].clone()).collect();
            self.texts(&part, qualify)
        };
        let mut sorted = false;
        let groups = rollups.iter().map(|rollup| {
            let (label, many) =
                if rollup.hashed { ("Hash Key", "Hash Keys") } else { ("Group Key", "Group Keys") };
            let lists: Vec<Vec<String>> = rollup.sets.iter().map(|set| texts(set)).collect();
            let line = |list: &Vec<String>| {
                let shown = if list.is_empty() { "()".into() } else { list.join(", ") };
                Item::Line(Some(format!("{label}: {shown}")), Vec::new())
            };
            let mut items: Vec<Item> = lists.iter().map(line).collect();
            let mut heading = Heading::None;
            // Rows are sorted for the first by the node below.
            if !rollup.hashed && std::mem::replace(&mut sorted, true) {
                let order = texts(rollup.keys());
                heading = Heading::Line(format!("Sort Key: {}", order.join(", ")));
                items.push(Item::Line(None, vec![Property::new("Sort Key", Value::List(order))]));
            }
            items.push(Item::Line(None, vec![Property::new(many, Value::Lists(lists))]));
            Item::Group(Group { kind: "Grouping Set", label: None, shape: Shape::Object, heading, items })
        });
        let groups = groups.collect();
        items.push(Item::Group(Group::named("Grouping Sets", Shape::Array, groups)));
    }

    /// PARTITION BY, ORDER BY and frame of a window.
    fn window(
        &self,
        partition: &[Expr],
        order: &[crate::expr::SortKey],
        frame: &WindowFrame,
        qualify: bool,
    ) -> String {
        let mut parts = Vec::new();
        if !partition.is_empty() {
            parts.push(format!("PARTITION BY {}", self.list(partition, qualify)));
        }
        if !order.is_empty() {
            // PostgreSQL shows no direction here.
            let keys: Vec<Expr> = order.iter().map(|key| key.expr.clone()).collect();
            parts.push(format!("ORDER BY {}", self.list(&keys, qualify)));
        }
        parts.extend(self.frame(frame, qualify));
        parts.join(" ")
    }

    /// The frame of a window, unless it is what none means.
    fn frame(&self, frame: &WindowFrame, qualify: bool) -> Option<String> {
        let plain = frame.mode == FrameMode::Range
            && matches!(frame.start, FrameBound::UnboundedPreceding)
            && matches!(frame.end, FrameBound::CurrentRow)
            && frame.exclude == FrameExclude::Nothing;
        if plain {
            return None;
        }
        let mode = match frame.mode {
            FrameMode::Rows => "ROWS",
            FrameMode::Range => "RANGE",
            FrameMode::Groups => "GROUPS",
        };
        let bound = |bound: &FrameBound| match bound {
            FrameBound::UnboundedPreceding => "UNBOUNDED PRECEDING".into(),
            FrameBound::Preceding(offset) => format!("{} PRECEDING", self.expr(offset, qualify)),
            FrameBound::CurrentRow => "CURRENT ROW".into(),
            FrameBound::Following(offset) => format!("{} FOLLOWING", self.expr(offset, qualify)),
            FrameBound::UnboundedFollowing => "UNBOUNDED FOLLOWING".into(),
        };
        let exclude = match frame.exclude {
            FrameExclude::Nothing => "",
            FrameExclude::CurrentRow => " EXCLUDE CURRENT ROW",
            FrameExclude::Group => " EXCLUDE GROUP",
            FrameExclude::Ties => " EXCLUDE TIES",
        };
        let range = match &frame.end {
            FrameBound::CurrentRow if !matches!(frame.start, FrameBound::CurrentRow) => bound(&frame.start),
            end => format!("BETWEEN {} AND {}", bound(&frame.start), bound(end)),
        };
        Some(format!("{mode} {range}{exclude}"))
    }

    fn modify(&self, modify: &Modify, number: usize, items: &mut Vec<Item>) {
        self.targets(modify, items);
        if let Some(conflict) = &modify.on_conflict {
            let kind = if conflict.set.is_some() { "UPDATE" } else { "NOTHING" };
            items.push(property("Conflict Resolution", kind));
            let arbiters = modify.table.indexes.iter().filter(|i| conflict.arbiters.contains(&i.oid));
            let names: Vec<String> = arbiters.map(|i| quote(&i.name)).collect();
            if !names.is_empty() {
                items.push(property("Conflict Arbiter Indexes", Value::List(names)));
            }
            self.quals("Conflict Filter", &conflict.filter, true, items);
        }
        self.modified(modify, number, items);
    }

    /// What a run did to rows.
    fn modified(&self, modify: &Modify, number: usize, items: &mut Vec<Item>) {
        match self.measured(number).detail {
            Detail::Conflicts { inserted, conflicting, filtered } => {
                let has_filter = modify.on_conflict.as_ref().is_some_and(|c| !c.filter.is_empty());
                if has_filter {
                    let label = "Rows Removed by Conflict Filter";
                    let text = (filtered > 0).then(|| format!("{label}: {filtered}"));
                    items.push(Item::Line(text, vec![Property::new(label, filtered)]));
                }
                items.push(property("Tuples Inserted", inserted));
                items.push(property("Conflicting Tuples", conflicting));
            }
            Detail::Merge { inserted, updated, deleted, skipped } => {
                let counts = [
                    ("inserted", inserted),
                    ("updated", updated),
                    ("deleted", deleted),
                    ("skipped", skipped),
                ];
                let shown: String =
                    counts.iter().filter(|(_, n)| *n > 0).map(|(name, n)| format!(" {name}={n}")).collect();
                let text = (!shown.is_empty()).then(|| format!("Tuples:{shown}"));
                let fields = vec![
                    Property::new("Tuples Inserted", inserted),
                    Property::new("Tuples Updated", updated),
                    Property::new("Tuples Deleted", deleted),
                    Property::new("Tuples Skipped", skipped),
                ];
                items.push(Item::Line(text, fields));
            }
            _ => {}
        }
    }

    /// The tables that a change of an inheritance tree writes to.
    fn targets(&self, modify: &Modify, items: &mut Vec<Item>) {
        if modify.command == Command::Insert {
            return;
        }
        let targets = modify.targets.iter().filter(|t| t.rel != modify.rel).map(|target| {
            let mut fields = vec![Property::new("Relation Name", &*target.table.name)];
            if self.options.verbose {
                fields.push(Property::new("Schema", &*target.table.schema_name));
            }
            fields.push(Property::new("Alias", &*self.statement.relations[target.rel].alias));
            let text = format!("{} on {}", verb(modify.command), self.target(target.rel));
            Item::Group(Group {
                kind: "Target Table",
                label: None,
                shape: Shape::Object,
                heading: Heading::None,
                items: vec![Item::Line(Some(text), fields)],
            })
        });
        let targets: Vec<Item> = targets.collect();
        if !targets.is_empty() {
            items.push(Item::Group(Group::named("Target Tables", Shape::Array, targets)));
        }
    }

    /// What only nodes of one kind tell of a run.
    pub(super) fn detail_item(&self, detail: &Detail) -> Option<Item> {
        let place = |disk: bool| if disk { "Disk" } else { "Memory" };
        let (text, fields) = match *detail {
            Detail::None
            | Detail::Conflicts { .. }
            | Detail::Merge { .. }
            | Detail::SortGroups { .. }
            | Detail::Workers(_) => {
                return None;
            }
            Detail::Sort { method, kilobytes } => (
                format!("Sort Method: {}  {}: {kilobytes}kB", method.name(), method.space()),
                vec![
                    Property::new("Sort Method", method.name()),
                    Property::new("Sort Space Used", kilobytes),
                    Property::new("Sort Space Type", method.space()),
                ],
            ),
            Detail::Hash { buckets, batches, kilobytes } => hash_table(buckets, batches, kilobytes),
            Detail::Groups { batches, kilobytes, disk } => {
                let mut text = format!("Batches: {batches}  Memory Usage: {kilobytes}kB");
                if batches > 1 {
                    text.push_str(&format!("  Disk Usage: {disk}kB"));
                }
                let fields = vec![
                    Property::new("HashAgg Batches", batches),
                    Property::new("Peak Memory Usage", kilobytes),
                    Property::new("Disk Usage", disk),
                ];
                (text, fields)
            }
            Detail::Cache { hits, misses, evictions, overflows, kilobytes } => (
                format!(
                    "Hits: {hits}  Misses: {misses}  Evictions: {evictions}  Overflows: {overflows}  Memory Usage: {kilobytes}kB"
                ),
                vec![
                    Property::new("Cache Hits", hits),
                    Property::new("Cache Misses", misses),
                    Property::new("Cache Evictions", evictions),
                    Property::new("Cache Overflows", overflows),
                    Property::new("Peak Memory Usage", kilobytes),
                ],
            ),
            Detail::Storage { disk, kilobytes } => (
                format!("Storage: {}  Maximum Storage: {kilobytes}kB", place(disk)),
                vec![Property::new("Storage", place(disk)), Property::new("Maximum Storage", kilobytes)],
            ),
            Detail::HeapBlocks { exact, lossy, .. } => {
                let fields = vec![
                    Property::new("Exact Heap Blocks", exact),
                    Property::new("Lossy Heap Blocks", lossy),
                ];
                let shown = [("exact", exact), ("lossy", lossy)];
                let shown: String =
                    shown.iter().filter(|(_, n)| *n > 0).map(|(name, n)| format!(" {name}={n}")).collect();
                if shown.is_empty() {
                    return Some(Item::Line(None, fields));
                }
                (format!("Heap Blocks:{shown}"), fields)
            }
            // PostgreSQL has no such line: it is for those who ask for everything.
            Detail::RowBatches(count) if self.options.verbose => {
                return Some(property("Row Batches", count));
            }
            Detail::RowBatches(_) => return None,
            Detail::HeapFetches(count) => return Some(property("Heap Fetches", count)),
        };
        Some(Item::Line(Some(text), fields))
    }
}

/// Whether aggregates among a node's columns are what one participant has of them.
fn is_partial(plan: &Plan) -> bool {
    match &plan.node {
        Node::Aggregate { split: Split::Partial, .. } => true,
        Node::Gather { child, .. } => is_partial(child),
        _ => false,
    }
}

/// Sorts of groups of one kind, if there were any.
fn sort_groups(label: &'static str, groups: &SortGroups) -> Option<Item> {
    if groups.count == 0 {
        return None;
    }
    let used = SortMethod::ALL.into_iter().filter(|method| groups.used[*method as usize]);
    let methods: Vec<String> = used.map(|method| method.name().to_owned()).collect();
    let many = if methods.len() > 1 { "s" } else { "" };
    let mut text = format!("{label}: {}  Sort Method{many}: {}", groups.count, methods.join(", "));
    let fields = vec![
        Property::new("Group Count", groups.count),
        Property::new("Sort Methods Used", Value::List(methods)),
    ];
    let mut items = vec![Item::Line(None, fields)];
    for (space, group, [all, most]) in
        [("Memory", "Sort Space Memory", groups.memory), ("Disk", "Sort Space Disk", groups.disk)]
    {
        if most > 0 {
            let average = all / groups.count;
            text.push_str(&format!("  Average {space}: {average}kB  Peak {space}: {most}kB"));
            let fields = vec![
                Property::new("Average Sort Space Used", average),
                Property::new("Peak Sort Space Used", most),
            ];
            items.push(Item::Group(Group::named(group, Shape::Object, vec![Item::Line(None, fields)])));
        }
    }
    let heading = Heading::Line(text);
    Some(Item::Group(Group { kind: label, label: Some(label), shape: Shape::Object, heading, items }))
}

fn hash_table(buckets: [u64; 2], batches: [u64; 2], kilobytes: u64) -> (String, Vec<Property>) {
    let fields = vec![
        Property::new("Hash Buckets", buckets[1]),
        Property::new("Original Hash Buckets", buckets[0]),
        Property::new("Hash Batches", batches[1]),
        Property::new("Original Hash Batches", batches[0]),
        Property::new("Peak Memory Usage", kilobytes),
    ];
    let text = if buckets[0] == buckets[1] && batches[0] == batches[1] {
        format!("Buckets: {}  Batches: {}  Memory Usage: {kilobytes}kB", buckets[1], batches[1])
    } else {
        format!(
            "Buckets: {} (originally {})  Batches: {} (originally {})  Memory Usage: {kilobytes}kB",
            buckets[1], buckets[0], batches[1], batches[0]
        )
    };
    (text, fields)
}

/// What all formats show in the same words.
fn property(label: &'static str, value: impl Into<Value>) -> Item {
    Item::Property(Property::new(label, value))
}
