//! The nodes of a plan: what each is called, its figures, and those below it.

use super::document::{Group, Heading, Item, Property, Shape, Value};
use super::expr::{quote, quoted_always};
use super::{Detail, Explain, Measured};
use crate::cost::ForcedParallel;
use crate::expr::{Expr, RelId};
use crate::plan::*;

/// What a node is called: in the text format, and in the others by kind and properties.
pub(super) struct Name {
    text: String,
    kind: &'static str,
    /// Shares its work with other participants.
    parallel: bool,
    /// Properties before `Parent Relationship`, and those behind.
    what: Vec<Property>,
    of: Vec<Property>,
}

impl Name {
    fn new(kind: &'static str) -> Name {
        Name { text: kind.into(), kind, parallel: false, what: Vec::new(), of: Vec::new() }
    }

    fn text(mut self, text: impl Into<String>) -> Name {
        self.text = text.into();
        self
    }

    /// One that may share its work with other participants.
    fn parallel(mut self, parallel: bool) -> Name {
        if parallel {
            self.text.insert_str(0, "Parallel ");
            self.parallel = true;
        }
        self
    }

    fn what(mut self, label: &'static str, value: impl Into<Value>) -> Name {
        self.what.push(Property::new(label, value));
        self
    }

    fn of(mut self, label: &'static str, value: impl Into<Value>) -> Name {
        self.of.push(Property::new(label, value));
        self
    }
}

/// What a node is to the one above it.
#[derive(Clone, Copy)]
pub(super) struct Place<'l> {
    relationship: &'static str,
    /// `SubPlan 1`
    label: Option<&'l str>,
}

impl Place<'_> {
    fn child(relationship: &'static str) -> Option<Place<'static>> {
        Some(Place { relationship, label: None })
    }
}

impl<'a> Explain<'a> {
    /// A node with all below it. `number` is its own, and behind it that of the next node.
    pub(super) fn node(&mut self, plan: &'a Plan, place: Option<Place<'_>>, number: &mut usize) -> Group {
        let own = *number;
        *number += 1;
        if let Some(only) = only_member(plan).or_else(|| self.hidden(plan)) {
            return self.node(only, place, number);
        }
        let name = self.name(plan);
        let above = std::mem::take(&mut self.carried);
        self.carried = self.inputs(plan);
        let mut items = vec![Item::Line(None, name_properties(&name, place))];
        items.push(self.figures(&plan.cost, self.measured(own), false));
        items.push(disabled(self.is_disabled(&plan.node)));
        self.properties(plan, own, &mut items);
        let headline = format!("{}{}", name.text, self.figures_text(&plan.cost, &self.measured(own), false));
        self.used(own, &mut items);
        let plans = self.below(plan, own, number);
        if !plans.is_empty() {
            items.push(Item::Group(Group::named("Plans", Shape::Array, plans)));
        }
        self.carried = above;
        group(headline, place, items)
    }

    /// What is below a gathering that is not to be seen.
    fn hidden(&self, plan: &'a Plan) -> Option<&'a Plan> {
        let hides = self.settings.debug_parallel_query == ForcedParallel::Regress;
        match &plan.node {
            Node::Gather { child, single_copy: true, .. } if hides => Some(child),
            _ => None,
        }
    }

    /// What the node's inputs carry.
    pub(super) fn inputs(&self, plan: &'a Plan) -> Vec<&'a [Expr]> {
        let mut inputs = Vec::new();
        match &plan.node {
            Node::SubqueryScan { .. } => {}
            // What the participants have of an aggregate is not its value.
            Node::Aggregate { split: Split::Final, child, .. } => {
                child.for_children(&mut |partial| inputs.extend(self.inputs(partial)));
            }
            // Columns are its own by position.
            Node::MergeAppend { .. } => inputs.push(&plan.output[..]),
            _ => plan.for_children(&mut |child| inputs.push(&child.output[..])),
        }
        inputs
    }

    /// Pages and log.
    fn used(&self, number: usize, items: &mut Vec<Item>) {
        let usage = self.measured(number).usage;
        if self.options.buffers {
            items.extend(super::usage::buffers(&usage, self.options.io_timing));
        }
        if self.options.wal {
            items.push(super::usage::wal(&usage));
        }
    }

    /// The nodes below: plans that are computed first, children, other subplans.
    fn below(&mut self, plan: &'a Plan, own: usize, number: &mut usize) -> Vec<Item> {
        let mut used = Vec::new();
        // What an input carries is computed there.
        let inputs = self.inputs(plan);
        plan.for_exprs(&mut |e| {
            if !inputs.iter().any(|carried| carried.contains(e)) {
                crate::planner::collect_subplans(e, &mut used);
            }
        });
        if let Node::CteScan { subplan, .. } = &plan.node {
            used.push(*subplan);
        }
        used.extend(std::mem::take(&mut self.ctes));
        used.sort_unstable();
        used.dedup();
        used.retain(|sub| !self.shown.contains(sub));
        self.shown.extend(&used);
        let (first, last): (Vec<usize>, Vec<usize>) =
            used.into_iter().partition(|sub| !self.statement.subplans[*sub].name.starts_with("SubPlan"));
        let mut out = Vec::new();
        first.into_iter().for_each(|sub| out.push(self.subplan(sub, "InitPlan")));
        if let Node::BitmapHeapScan { bitmap, .. } = &plan.node {
            out.push(Item::Group(self.bitmap(bitmap, "Outer", number)));
        }
        let mut children = Vec::new();
        plan.for_children(&mut |child| children.push(child));
        for (at, child) in children.into_iter().enumerate() {
            let relationship = match (&plan.node, at) {
                (Node::Append { .. } | Node::MergeAppend { .. }, _) => "Member",
                (Node::SubqueryScan { .. }, _) => "Subquery",
                (_, 0) => "Outer",
                _ => "Inner",
            };
            let hash = matches!(plan.node, Node::HashJoin { .. }) && at == 1;
            out.push(Item::Group(match hash {
                true => self.hash(self.measured(own).detail, child, number),
                false => self.node(child, Place::child(relationship), number),
            }));
        }
        last.into_iter().for_each(|sub| out.push(self.subplan(sub, "SubPlan")));
        out
    }

    fn subplan(&mut self, number: usize, relationship: &'static str) -> Item {
        let sub = &self.statement.subplans[number];
        let mut start = self.starts[number];
        Item::Group(self.node(&sub.plan, Some(Place { relationship, label: Some(&sub.name) }), &mut start))
    }

    /// The table that a hash join makes of its inner side, of which the join tells.
    fn hash(&mut self, join: Detail, child: &'a Plan, number: &mut usize) -> Group {
        let name = Name::new("Hash");
        let cost = Cost { startup: child.cost.total, ..child.cost };
        let measured = Measured { detail: join, ..self.measured(*number) };
        let mut items = vec![Item::Line(None, name_properties(&name, Place::child("Inner")))];
        items.push(self.figures(&cost, measured, true));
        items.push(disabled(false));
        let carried = std::mem::replace(&mut self.carried, vec![&child.output[..]]);
        self.output(&child.output, &mut items);
        self.carried = carried;
        items.extend(self.detail_item(&join));
        self.used(*number, &mut items);
        let headline = format!("Hash{}", self.figures_text(&cost, &measured, true));
        let below = self.node(child, Place::child("Outer"), number);
        items.push(Item::Group(Group::named("Plans", Shape::Array, vec![Item::Group(below)])));
        group(headline, Place::child("Inner"), items)
    }

    fn bitmap(&mut self, bitmap: &'a Bitmap, relationship: &'static str, number: &mut usize) -> Group {
        let own = *number;
        *number += 1;
        let place = Place::child(relationship);
        let (name, cost) = match bitmap {
            Bitmap::Index { index, cost, .. } => (
                Name::new("Bitmap Index Scan")
                    .text(format!("Bitmap Index Scan on {}", quote(&index.name)))
                    .of("Index Name", &*index.name),
                Cost { startup: 0.0, width: 0.0, ..*cost },
            ),
            Bitmap::And(_, cost) => {
                (Name::new("BitmapAnd"), Cost { startup: cost.total, width: 0.0, ..*cost })
            }
            Bitmap::Or(_, cost) => (Name::new("BitmapOr"), Cost { startup: cost.total, width: 0.0, ..*cost }),
        };
        let measured = self.measured(own);
        let mut items = vec![Item::Line(None, name_properties(&name, place))];
        items.push(self.figures(&cost, measured, false));
        items.push(disabled(false));
        let headline = format!("{}{}", name.text, self.figures_text(&cost, &measured, false));
        let mut plans = Vec::new();
        match bitmap {
            Bitmap::Index { conditions, .. } => {
                let list: Vec<Expr> = conditions.iter().map(|c| c.original.clone()).collect();
                self.quals("Index Cond", &list, self.options.verbose, &mut items);
                self.searches(own, &mut items);
            }
            Bitmap::And(list, _) | Bitmap::Or(list, _) => {
                for part in list {
                    plans.push(Item::Group(self.bitmap(part, "Member", number)));
                }
            }
        }
        self.used(own, &mut items);
        if !plans.is_empty() {
            items.push(Item::Group(Group::named("Plans", Shape::Array, plans)));
        }
        group(headline, place, items)
    }

    /// Estimates and measured figures, for formats other than text.
    fn figures(&self, cost: &Cost, measured: Measured, whole: bool) -> Item {
        let mut list = Vec::new();
        if self.options.costs {
            list.push(Property::new("Startup Cost", Value::float(cost.startup, 2)));
            list.push(Property::new("Total Cost", Value::float(cost.total, 2)));
            list.push(Property::new("Plan Rows", Value::float(cost.rows, 0)));
            list.push(Property::new("Plan Width", Value::float(cost.width, 0)));
        }
        if self.options.analyze {
            let m = per_loop(&measured, whole);
            if self.options.timing {
                list.push(Property::new("Actual Startup Time", Value::float(m.startup, 3)));
                list.push(Property::new("Actual Total Time", Value::float(m.total, 3)));
            }
            list.push(Property::new("Actual Rows", Value::float(m.rows, 2)));
            list.push(Property::new("Actual Loops", Value::float(m.loops, 0)));
        }
        Item::Line(None, list)
    }

    /// Whether settings meant to exclude such a node.
    fn is_disabled(&self, node: &Node) -> bool {
        let settings = self.settings;
        !match node {
            Node::SeqScan { .. } => settings.enable_seqscan,
            Node::IndexScan { .. } | Node::IndexOnlyScan { .. } => settings.enable_indexscan,
            Node::BitmapHeapScan { .. } => settings.enable_bitmapscan,
            Node::TidScan { .. } | Node::TidRangeScan { .. } => settings.enable_tidscan,
            Node::NestLoop { .. } => settings.enable_nestloop,
            Node::HashJoin { .. } => settings.enable_hashjoin,
            Node::MergeJoin { .. } => settings.enable_mergejoin,
            Node::Sort { .. } => settings.enable_sort,
            Node::Gather { merge: true, .. } => settings.enable_gathermerge,
            Node::Materialize { .. } => settings.enable_material,
            Node::Aggregate { strategy: AggStrategy::Hashed | AggStrategy::Mixed, .. }
            | Node::SetOp { .. } => settings.enable_hashagg,
            _ => true,
        }
    }

    /// The same for the text format. `whole`: the first row comes only when all are there.
    fn figures_text(&self, cost: &Cost, measured: &Measured, whole: bool) -> String {
        let mut out = String::new();
        if self.options.costs {
            let Cost { startup, total, rows, width } = cost;
            out = format!("  (cost={startup:.2}..{total:.2} rows={rows:.0} width={width:.0})");
        }
        if !self.options.analyze {
            return out;
        }
        if measured.loops == 0.0 {
            return out + " (never executed)";
        }
        let m = per_loop(measured, whole);
        out.push_str(" (actual ");
        if self.options.timing {
            out.push_str(&format!("time={:.3}..{:.3} ", m.startup, m.total));
        }
        out + &format!("rows={:.2} loops={:.0})", m.rows, m.loops)
    }

    /// ` on schema.name alias`, and the properties that say it.
    fn of_table(&self, name: Name, rel: RelId) -> Name {
        let relation = &self.statement.relations[rel];
        let text = format!("{} on {}", name.text, self.target(rel));
        let name = name.text(text);
        match &relation.table {
            Some(table) => self.named(name, "Relation Name", &table.name, Some(&table.schema_name), rel),
            None => name.of("Alias", &*relation.alias),
        }
    }

    fn named(&self, name: Name, label: &'static str, object: &str, schema: Option<&str>, rel: RelId) -> Name {
        let mut name = name.of(label, object);
        if let Some(schema) = schema.filter(|_| self.options.verbose) {
            name = name.of("Schema", shown_schema(schema));
        }
        name.of("Alias", &*self.statement.relations[rel].alias)
    }

    /// A relation as the text format names it.
    pub(super) fn target(&self, rel: RelId) -> String {
        let relation = &self.statement.relations[rel];
        let Some(table) = &relation.table else { return quote(&relation.alias) };
        let name = quote(&table.name);
        let name = match self.options.verbose {
            true => format!("{}.{name}", quote(shown_schema(&table.schema_name))),
            false => name,
        };
        match *table.name == *relation.alias {
            true => name,
            false => format!("{name} {}", quote(&relation.alias)),
        }
    }

    fn of_index(&self, kind: &'static str, rel: RelId, index: &IndexRef, backward: bool) -> Name {
        let direction = if backward { " Backward" } else { "" };
        let text = format!("{kind}{direction} using {}", quote(&index.name));
        let direction = if backward { "Backward" } else { "Forward" };
        let name = Name::new(kind).text(text).of("Scan Direction", direction).of("Index Name", &*index.name);
        self.of_table(name, rel)
    }

    fn of_function(&self, rel: RelId, functions: &[Expr]) -> Name {
        let name = Name::new("Function Scan");
        let alias = &self.statement.relations[rel].alias;
        let table = match functions {
            [Expr::Json(_)] => Some("json_table"),
            [Expr::Xml(_)] => Some("xmltable"),
            _ => None,
        };
        if let Some(table) = table {
            let mut text = format!("Table Function Scan on {}", quoted_always(table));
            if **alias != *table {
                text.push_str(&format!(" {}", quote(alias)));
            }
            let name = Name::new("Table Function Scan").text(text);
            return self.named(name, "Table Function Name", table, None, rel);
        }
        let [Expr::Call(call)] = functions else {
            let text = format!("Function Scan on {}", quote(alias));
            return name.text(text).of("Alias", &**alias);
        };
        let function = call.function.name();
        let schema = self.options.verbose.then_some("pg_catalog").filter(|_| call.function.oid().is_pinned());
        let mut shown = quote(function);
        if let Some(schema) = schema {
            shown = format!("{schema}.{shown}");
        }
        let text = match **alias == *function {
            true => format!("Function Scan on {shown}"),
            false => format!("Function Scan on {shown} {}", quote(alias)),
        };
        self.named(name.text(text), "Function Name", function, schema, rel)
    }

    /// Name of the recursive query whose work table this is.
    fn recursive_name(&self, table: usize) -> Option<&str> {
        fn fills(plan: &Plan, wanted: usize) -> bool {
            let mut found = matches!(plan.node, Node::RecursiveUnion { table, .. } if table == wanted);
            plan.for_children(&mut |child| found = found || fills(child, wanted));
            found
        }
        let subplan = self.statement.subplans.iter().find(|s| fills(&s.plan, table))?;
        subplan.name.strip_prefix("CTE ")
    }

    fn of_cte(&self, kind: &'static str, cte: &str, rel: RelId) -> Name {
        let alias = &self.statement.relations[rel].alias;
        let text = match **alias == *cte {
            true => format!("{kind} on {}", quote(cte)),
            false => format!("{kind} on {} {}", quote(cte), quote(alias)),
        };
        Name::new(kind).text(text).of("CTE Name", cte).of("Alias", &**alias)
    }

    fn name(&self, plan: &Plan) -> Name {
        match &plan.node {
            Node::Result { .. } => Name::new("Result"),
            Node::ProjectSet { .. } => Name::new("ProjectSet"),
            Node::SeqScan { rel, parallel, .. } => {
                self.of_table(Name::new("Seq Scan").parallel(*parallel), *rel)
            }
            Node::ForeignScan { rel, .. } => self.of_table(Name::new("Foreign Scan"), *rel),
            Node::SampleScan { rel, .. } => self.of_table(Name::new("Sample Scan"), *rel),
            Node::IndexScan { rel, index, backward, .. } => {
                self.of_index("Index Scan", *rel, index, *backward)
            }
            Node::IndexOnlyScan { rel, index, backward, .. } => {
                self.of_index("Index Only Scan", *rel, index, *backward)
            }
            Node::BitmapHeapScan { rel, parallel, .. } => {
                self.of_table(Name::new("Bitmap Heap Scan").parallel(*parallel), *rel)
            }
            Node::TidScan { rel, .. } => self.of_table(Name::new("Tid Scan"), *rel),
            Node::TidRangeScan { rel, .. } => self.of_table(Name::new("Tid Range Scan"), *rel),
            Node::ValuesScan { rel, .. } => {
                let alias = &self.statement.relations[*rel].alias;
                let text = format!("Values Scan on {}", quoted_always(alias));
                Name::new("Values Scan").text(text).of("Alias", &**alias)
            }
            Node::FunctionScan { rel, functions, .. } => self.of_function(*rel, functions),
            Node::SubqueryScan { rel, .. } => self.of_table(Name::new("Subquery Scan"), *rel),
            Node::CteScan { rel, subplan } => {
                let name = &self.statement.subplans[*subplan].name;
                self.of_cte("CTE Scan", name.strip_prefix("CTE ").unwrap_or(name), *rel)
            }
            Node::WorkTableScan { rel, table } => {
                let name = self.recursive_name(*table).unwrap_or(&self.statement.relations[*rel].alias);
                self.of_cte("WorkTable Scan", name, *rel)
            }
            Node::TransitionScan { .. } => Name::new("Named Tuplestore Scan"),
            Node::RecursiveUnion { .. } => Name::new("Recursive Union"),
            Node::NestLoop { kind, .. } => join("Nested Loop", "Nested Loop", *kind),
            Node::HashJoin { kind, .. } => join("Hash Join", "Hash", *kind),
            Node::MergeJoin { kind, .. } => join("Merge Join", "Merge", *kind),
            Node::Gather { merge: false, .. } => Name::new("Gather"),
            Node::Gather { merge: true, .. } => Name::new("Gather Merge"),
            Node::Materialize { .. } => Name::new("Materialize"),
            Node::Memoize { .. } => Name::new("Memoize"),
            Node::Sort { .. } => Name::new("Sort"),
            Node::IncrementalSort { .. } => Name::new("Incremental Sort"),
            Node::Unique { .. } => Name::new("Unique"),
            Node::Aggregate { strategy: AggStrategy::Sorted, rollups, calls, .. }
                if rollups.is_empty() && calls.is_empty() =>
            {
                Name::new("Group")
            }
            Node::Aggregate { strategy, split, .. } => aggregate(*strategy, *split),
            Node::WindowAgg { .. } => Name::new("WindowAgg"),
            Node::Limit { .. } => Name::new("Limit"),
            Node::SetOp { kind, .. } => set_operation(*kind),
            Node::Append { .. } => Name::new("Append"),
            Node::MergeAppend { .. } => Name::new("Merge Append"),
            Node::LockRows { .. } => Name::new("LockRows"),
            Node::Modify(modify) => {
                let name = Name::new("ModifyTable").text(verb(modify.command));
                self.of_table(name.what("Operation", verb(modify.command)), modify.rel)
            }
        }
    }
}

/// A node's group.
fn group(headline: String, place: Option<Place<'_>>, items: Vec<Item>) -> Group {
    let heading = match place {
        None => Heading::Top(headline),
        Some(place) => Heading::Node(place.label.map(str::to_owned), headline),
    };
    let label = place.is_none().then_some("Plan");
    Group { kind: "Plan", label, shape: Shape::Object, heading, items }
}

fn disabled(is: bool) -> Item {
    Item::Line(is.then(|| "Disabled: true".into()), vec![Property::new("Disabled", is)])
}

fn name_properties(name: &Name, place: Option<Place<'_>>) -> Vec<Property> {
    let mut out = vec![Property::new("Node Type", name.kind)];
    out.extend(name.what.iter().cloned());
    if let Some(place) = place {
        out.push(Property::new("Parent Relationship", place.relationship));
        out.extend(place.label.map(|label| Property::new("Subplan Name", label)));
    }
    out.push(Property::new("Parallel Aware", name.parallel));
    out.push(Property::new("Async Capable", false));
    out.extend(name.of.iter().cloned());
    out
}

/// Figures of a run on average.
fn per_loop(measured: &Measured, whole: bool) -> Measured {
    let loops = if measured.loops > 0.0 { measured.loops } else { 1.0 };
    let startup = if whole { measured.total } else { measured.startup };
    let (startup, total, rows) = (startup / loops, measured.total / loops, measured.rows / loops);
    Measured { startup, total, rows, ..*measured }
}

/// The session's temporary schema is shown as `pg_temp`.
pub(super) fn shown_schema(schema: &str) -> &str {
    if schema.starts_with("pg_temp_") { "pg_temp" } else { schema }
}

fn join(kind: &'static str, method: &str, join: JoinKind) -> Name {
    let (word, name) = match join {
        JoinKind::Inner => ("", "Inner"),
        JoinKind::Left => ("Left", "Left"),
        JoinKind::Right => ("Right", "Right"),
        JoinKind::Full => ("Full", "Full"),
        JoinKind::Semi => ("Semi", "Semi"),
        JoinKind::Anti => ("Anti", "Anti"),
        JoinKind::RightSemi => ("Right Semi", "Right Semi"),
        JoinKind::RightAnti => ("Right Anti", "Right Anti"),
    };
    let text = if word.is_empty() { kind.to_owned() } else { format!("{method} {word} Join") };
    Name::new(kind).text(text).of("Join Type", name)
}

fn aggregate(strategy: AggStrategy, split: Split) -> Name {
    let (text, name) = match strategy {
        AggStrategy::Plain => ("Aggregate", "Plain"),
        AggStrategy::Sorted => ("GroupAggregate", "Sorted"),
        AggStrategy::Hashed => ("HashAggregate", "Hashed"),
        AggStrategy::Mixed => ("MixedAggregate", "Mixed"),
    };
    let (before, mode) = match split {
        Split::Whole => ("", "Simple"),
        Split::Partial => ("Partial ", "Partial"),
        Split::Final => ("Finalize ", "Finalize"),
    };
    Name::new("Aggregate").text(format!("{before}{text}")).what("Strategy", name).what("Partial Mode", mode)
}

fn set_operation(kind: SetOpKind) -> Name {
    let command = match kind {
        SetOpKind::Intersect => "Intersect",
        SetOpKind::IntersectAll => "Intersect All",
        SetOpKind::Except => "Except",
        SetOpKind::ExceptAll => "Except All",
    };
    Name::new("SetOp").text(format!("HashSetOp {command}")).what("Strategy", "Hashed").of("Command", command)
}

/// What is shown in a node's place: the scan of an only member, the plan of a subquery that gives its rows as they are.
fn only_member(plan: &Plan) -> Option<&Plan> {
    match &plan.node {
        Node::SubqueryScan { child, .. } if super::is_trivial(plan) => Some(child),
        Node::Append { children, .. } => match children.as_slice() {
            [only] => Some(only),
            _ => None,
        },
        _ => None,
    }
}

pub(super) fn verb(command: Command) -> &'static str {
    match command {
        Command::Insert => "Insert",
        Command::Update => "Update",
        Command::Delete => "Delete",
        _ => "Merge",
    }
}
