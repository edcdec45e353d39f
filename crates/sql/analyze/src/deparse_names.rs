//! Names for the entries and columns of a query that is written as text, so that the text means the query again.
//!
//! Tables may have been renamed since the query was analysed, columns renamed and added; an alias may hide another, and names that USING gives
//! must be those of both sides. Where a column cannot go by its own name, its entry gets a list of names for its columns.
//!
//! Invariants:
//! 1. No two entries of a query, or of those around it, have one name.
//! 2. The columns that USING merges have one name on both sides, which no other column of either side has. If a merged column has no
//!    side that it can be called by (FULL JOIN, or sides of different types), the name is that of no other merged column of the query.
//!
//! PostgreSQL counterpart: `set_deparse_for_query` of `ruleutils.c`. There a column of a join is a reference to the join, and replaced by what it
//! stands for; here it is what it stands for, and the join is found again that hides it.

use crate::clause::peel_implicit;
use crate::deparse::{Names, Scope};
use crate::equal::same;
use crate::expr::{BoolOp, Expr, RowVersion, Var};
use crate::names::quote_identifier;
use crate::query::{FromNode, Join, JoinNode, Query, RangeTableEntry, RteKind};

/// The longest name, in bytes.
const MAX_NAME: usize = 63;

/// Names of one query.
pub(crate) struct QueryNames {
    /// Of entries.
    pub(crate) entries: Vec<String>,
    /// Of columns, by entry; empty for one that is dropped, or not named yet.
    columns: Vec<Vec<String>>,
    /// Whether an entry's text lists names for its columns.
    pub(crate) listed: Vec<bool>,
    /// Names of the columns that USING merges, by entry.
    pub(crate) using: Vec<Vec<String>>,
    /// Names behind USING, by entry.
    pub(crate) using_aliases: Vec<Option<String>>,
    /// The joins with an alias that hide an entry, outermost first; for such a join the last is itself.
    hidden_by: Vec<Vec<usize>>,
    /// The joins, outermost first.
    joins: Vec<usize>,
    /// Columns that USING merges and that are no column of either side: join, and which.
    pub(crate) merged: Vec<(usize, usize)>,
    /// What the rows before and after a change are called in RETURNING.
    pub(crate) versions: [String; 2],
}

/// What a query's columns are called, and where.
#[derive(Clone, Copy)]
pub(crate) struct QueryScope<'s> {
    /// The query.
    pub(crate) query: &'s Query,
    /// Columns are written with their entry's name.
    pub(crate) qualify: bool,
    /// The names.
    pub(crate) names: &'s QueryNames,
    /// The entry inside of which the text stands (a join's condition, a LATERAL item): what hides it is not in effect there.
    pub(crate) inside: Option<usize>,
}

impl QueryNames {
    /// Names for a query inside others. `real`: what the columns of an entry are called that has no alias for them.
    pub(crate) fn new(
        query: &Query,
        outer: Option<&Scope<'_>>,
        real: &dyn Fn(&RangeTableEntry) -> Option<Vec<String>>,
    ) -> QueryNames {
        let count = query.range_table.len();
        let (entries, using_aliases) = entry_names(query, outer);
        let mut names = QueryNames {
            entries,
            columns: query.range_table.iter().map(|r| vec![String::new(); r.columns.len()]).collect(),
            listed: vec![false; count],
            using: vec![Vec::new(); count],
            using_aliases,
            hidden_by: vec![Vec::new(); count],
            joins: Vec::new(),
            merged: Vec::new(),
            versions: [String::new(), String::new()],
        };
        let [old, new] = &query.row_names;
        names.versions = [old.as_deref().unwrap_or("old"), new.as_deref().unwrap_or("new")]
            .map(|own| unlike(own, |n| names.entries.iter().any(|taken| taken == n)));
        let items: Vec<&FromNode> = from_items(query).collect();
        for item in &items {
            names.note_hidden(item, query, &mut Vec::new());
        }
        names.merged = merged_columns(query, &names.joins);
        let mut using = Vec::new();
        let mut parents = vec![Vec::new(); count];
        for item in &items {
            names.name_using(item, query, &mut using, &[], &mut parents);
        }
        for (i, rte) in query.range_table.iter().enumerate() {
            match &rte.kind {
                RteKind::Join(join) => names.name_join(i, rte, join, query, &items),
                _ => names.name_entry(i, rte, real(rte), &using, &parents[i]),
            }
        }
        names
    }

    fn note_hidden(&mut self, node: &FromNode, query: &Query, outer: &mut Vec<usize>) {
        match node {
            FromNode::Entry(i) => self.hidden_by[*i].clone_from(outer),
            FromNode::Join(j) => {
                self.joins.push(j.rte);
                let named = query.range_table[j.rte].alias.is_some();
                if named {
                    outer.push(j.rte);
                }
                self.hidden_by[j.rte].clone_from(outer);
                self.note_hidden(&j.left, query, outer);
                self.note_hidden(&j.right, query, outer);
                if named {
                    outer.pop();
                }
            }
        }
    }

    /// Names of merged columns, from the outermost join inwards, so that both sides get them.
    fn name_using(
        &mut self,
        node: &FromNode,
        query: &Query,
        using: &mut Vec<String>,
        parent: &[String],
        parents: &mut [Vec<String>],
    ) {
        let j = match node {
            FromNode::Entry(i) => return parents[*i] = parent.to_vec(),
            FromNode::Join(j) => j,
        };
        let rte = &query.range_table[j.rte];
        let RteKind::Join(join) = &rte.kind else { return };
        let mut parent = parent.to_vec();
        if rte.alias.is_none() {
            for (i, expr) in join.columns.iter().enumerate() {
                let name = self.columns[j.rte][i].clone();
                if !name.is_empty() {
                    self.give(&j.left, expr, &name, query);
                    self.give(&j.right, expr, &name, query);
                }
            }
        }
        for (i, (left, right)) in merged_sides(j).into_iter().enumerate().take(join.merged) {
            let mut name = self.columns[j.rte][i].clone();
            if name.is_empty() {
                let given = rte.alias.as_ref().and_then(|a| a.columns.get(i)).or(j.using.get(i));
                let own = &self.columns[j.rte];
                name = unlike(given.map_or("", String::as_str), |n| {
                    own.iter().chain(&*using).chain(&parent).any(|taken| taken == n)
                });
                if !self.merged.is_empty() {
                    using.push(name.clone());
                }
                self.columns[j.rte][i].clone_from(&name);
            }
            self.using[j.rte].push(name.clone());
            parent.push(name.clone());
            self.give(&j.left, left, &name, query);
            self.give(&j.right, right, &name, query);
        }
        parents[j.rte].clone_from(&parent);
        self.name_using(&j.left, query, using, &parent, parents);
        self.name_using(&j.right, query, using, &parent, parents);
    }

    /// Names the column of a side of a join that an expression is, if it is one.
    fn give(&mut self, node: &FromNode, expr: &Expr, name: &str, query: &Query) {
        let mut expr = expr;
        loop {
            if let Some((rte, column)) = column_of(node, expr, query) {
                self.columns[rte][column] = name.to_owned();
                return;
            }
            match peel_implicit(expr) {
                Some(inner) => expr = inner,
                None => return,
            }
        }
    }

    fn name_entry(
        &mut self,
        at: usize,
        rte: &RangeTableEntry,
        real: Option<Vec<String>>,
        using: &[String],
        parent: &[String],
    ) {
        let given = rte.alias.as_ref().map_or(0, |a| a.columns.len());
        let real = real.unwrap_or_else(|| rte.columns.clone());
        let mut columns = std::mem::take(&mut self.columns[at]);
        columns.resize(real.len(), String::new());
        let mut live = 0;
        let mut changed = false;
        for i in 0..real.len() {
            if real[i].is_empty() {
                continue;
            }
            if columns[i].is_empty() {
                let wanted = if live < given { rte.columns.get(i).unwrap_or(&real[i]) } else { &real[i] };
                let name =
                    unlike(wanted, |n| columns.iter().chain(using).chain(parent).any(|taken| taken == n));
                columns[i] = name;
            }
            live += 1;
            changed |= columns[i] != real[i];
        }
        self.columns[at] = columns;
        self.listed[at] = match &rte.kind {
            RteKind::Function(_) => table_function(rte).is_none(),
            RteKind::Relation(_) | RteKind::Transition(_) => changed,
            RteKind::Subquery(s) if s.view.is_valid() => changed,
            _ => changed || given > 0,
        };
    }

    fn name_join(
        &mut self,
        at: usize,
        rte: &RangeTableEntry,
        join: &Join,
        query: &Query,
        items: &[&FromNode],
    ) {
        let Some(node) = items.iter().find_map(|n| find_join(n, at)) else { return };
        let mut columns = std::mem::take(&mut self.columns[at]);
        let mut changed = false;
        for (i, expr) in join.columns.iter().enumerate() {
            let below = column_of(&node.left, expr, query).or_else(|| column_of(&node.right, expr, query));
            let below = match below {
                Some((rte, column)) => self.columns[rte][column].clone(),
                None => columns[i].clone(),
            };
            if rte.alias.is_none() {
                if columns[i].is_empty() {
                    columns[i] = below;
                }
                continue;
            }
            if columns[i].is_empty() && !below.is_empty() {
                let given = rte.alias.as_ref().and_then(|a| a.columns.get(i)).unwrap_or(&below);
                columns[i] = unlike(given, |n| columns.iter().any(|taken| taken == n));
            }
            changed |= columns[i] != below;
        }
        self.columns[at] = columns;
        self.listed[at] = changed || rte.alias.is_some() && self.join_list(join, node, query, at).1;
    }

    /// The names that an entry's text lists for its columns.
    pub(crate) fn list(&self, query: &Query, at: usize) -> Vec<String> {
        let names: Vec<String> = match &query.range_table[at].kind {
            RteKind::Join(join) => {
                let node = from_items(query).find_map(|n| find_join(n, at));
                node.map_or(Vec::new(), |node| self.join_list(join, node, query, at).0)
            }
            _ => self.columns[at].iter().filter(|n| !n.is_empty()).cloned().collect(),
        };
        names.iter().map(|n| quote_identifier(n)).collect()
    }

    /// The columns of a join as they stand now; what was added to tables since gets a name that is free. And whether any such name is not its own.
    fn join_list(&self, join: &Join, node: &JoinNode, query: &Query, at: usize) -> (Vec<String>, bool) {
        let mut out: Vec<String> = Vec::new();
        let mut renamed = false;
        for column in self.present(node, query) {
            let known = join.columns.iter().position(|e| column.is(e)).map(|i| &self.columns[at][i]);
            let name = match (known.filter(|n| !n.is_empty()), column) {
                (Some(name), _) => name.clone(),
                (None, Present::Of(rte, i)) => {
                    let own = &self.columns[rte][i];
                    let name = unlike(own, |n| self.columns[at].iter().chain(&out).any(|taken| taken == n));
                    renamed |= name != *own;
                    name
                }
                (None, Present::Merged(_)) => continue,
            };
            out.push(name);
        }
        (out, renamed)
    }

    /// The present columns of a join: merged ones, then the others of the left and of the right side.
    fn present<'q>(&self, node: &'q JoinNode, query: &'q Query) -> Vec<Present<'q>> {
        let mut out = Vec::new();
        if let RteKind::Join(join) = &query.range_table[node.rte].kind {
            out.extend(join.columns[..join.merged].iter().map(Present::of));
        }
        let (left, right): (Vec<&Expr>, Vec<&Expr>) = merged_sides(node).into_iter().unzip();
        for (side, merged) in [(&node.left, left), (&node.right, right)] {
            let columns = match side {
                FromNode::Entry(i) => {
                    let live = self.columns[*i].iter().enumerate().filter(|(_, n)| !n.is_empty());
                    live.map(|(at, _)| Present::Of(*i, at)).collect()
                }
                FromNode::Join(j) => self.present(j, query),
            };
            out.extend(columns.into_iter().filter(|c| !merged.iter().any(|e| c.is_or_becomes(e))));
        }
        out
    }
}

/// A column of a side of a join.
#[derive(Clone, Copy)]
enum Present<'q> {
    /// One of an entry.
    Of(usize, usize),
    /// One that USING made of two.
    Merged(&'q Expr),
}

impl<'q> Present<'q> {
    fn of(e: &'q Expr) -> Present<'q> {
        match e {
            Expr::Var(v) if v.attno > 0 => Present::Of(v.rte, v.attno as usize - 1),
            e => Present::Merged(e),
        }
    }

    fn is(self, e: &Expr) -> bool {
        match self {
            Present::Of(rte, at) => is_column(e, rte, at),
            Present::Merged(own) => same(own, e),
        }
    }

    /// Whether an expression is this column, maybe converted.
    fn is_or_becomes(self, e: &Expr) -> bool {
        self.is(e) || peel_implicit(e).is_some_and(|inner| self.is_or_becomes(inner))
    }
}

impl QueryScope<'_> {
    /// A column as the text names it: the entry's name and its own.
    pub(crate) fn column(&self, v: &Var) -> (String, String) {
        let Some(rte) = self.query.range_table.get(v.rte) else { return ("???".into(), "???".into()) };
        let quoted = |name: &String| if name.is_empty() { "???".to_owned() } else { quote_identifier(name) };
        if v.attno < 0 {
            return (quoted(&self.names.entries[v.rte]), quote_identifier(crate::agg::system_name(v.attno)));
        }
        let at = v.attno as usize - 1;
        match v.version {
            RowVersion::Default => {}
            version => return (self.entry(v.rte, version), rte.columns.get(at).map_or("???".into(), quoted)),
        }
        if let Some(join) = self.hiding(v.rte)
            && let RteKind::Join(j) = &self.query.range_table[join].kind
            && let Some(i) = j.columns.iter().position(|e| is_column(e, v.rte, at))
        {
            return (quoted(&self.names.entries[join]), quoted(&self.names.columns[join][i]));
        }
        let column = self.names.columns[v.rte].get(at).map_or("???".into(), quoted);
        (quoted(&self.names.entries[v.rte]), column)
    }

    /// The name of an entry, or of a version of its rows.
    pub(crate) fn entry(&self, rte: usize, version: RowVersion) -> String {
        quote_identifier(match version {
            RowVersion::Default => self.names.entries.get(rte).map_or("???", String::as_str),
            RowVersion::Old => &self.names.versions[0],
            RowVersion::New => &self.names.versions[1],
        })
    }

    /// The outermost join whose alias stands for an entry's columns here.
    fn hiding(&self, rte: usize) -> Option<usize> {
        let around: &[usize] = self.inside.map_or(&[], |i| &self.names.hidden_by[i]);
        self.names.hidden_by[rte].iter().copied().find(|join| !around.contains(join))
    }

    /// Whether an entry is in or around what the text stands inside of.
    fn contains_place(&self, join: usize) -> bool {
        let Some(place) = self.inside else { return false };
        let node = from_items(self.query).find_map(|n| find_join(n, join));
        place == join || node.is_some_and(|n| below(&n.left, place) || below(&n.right, place))
    }

    /// The name of a merged column that an expression is (`level` queries further in), if it goes by no column of either side.
    pub(crate) fn merged_column(&self, e: &Expr, level: u32) -> Option<String> {
        let is_it = |(join, i): &(usize, usize)| {
            let RteKind::Join(j) = &self.query.range_table[*join].kind else { return false };
            let mut column = j.columns[*i].clone();
            crate::walk::raise_levels(&mut column, level, 0);
            !self.contains_place(*join) && same(&column, e)
        };
        let (join, i) = *self.names.merged.iter().find(|m| is_it(m))?;
        let name = quote_identifier(&self.names.columns[join][i]);
        match self.hiding(join) {
            None => Some(name),
            Some(by) => {
                let RteKind::Join(outer) = &self.query.range_table[by].kind else { return None };
                let RteKind::Join(inner) = &self.query.range_table[join].kind else { return None };
                let at = outer.columns.iter().position(|c| same(c, &inner.columns[i]))?;
                let entry = quote_identifier(&self.names.entries[by]);
                Some(format!("{entry}.{}", quote_identifier(&self.names.columns[by][at])))
            }
        }
    }
}

/// The name that JSON_TABLE or XMLTABLE has without an alias.
pub(crate) fn table_function(rte: &RangeTableEntry) -> Option<&'static str> {
    let RteKind::Function(f) = &rte.kind else { return None };
    match f.functions.as_slice() {
        [one] if matches!(one.call, Expr::Json(_)) => Some("json_table"),
        [one] if matches!(one.call, Expr::Xml(_)) => Some("xmltable"),
        _ => None,
    }
}

/// A name like this one that is not taken.
fn unlike(wanted: &str, taken: impl Fn(&str) -> bool) -> String {
    let mut name = wanted.to_owned();
    let mut n = 0;
    while taken(&name) {
        n += 1;
        let number = format!("_{n}");
        let room = wanted.floor_char_boundary(MAX_NAME - number.len());
        name = format!("{}{number}", &wanted[..room]);
    }
    name
}

fn is_column(e: &Expr, rte: usize, at: usize) -> bool {
    matches!(e, Expr::Var(v) if v.rte == rte && v.levels_up == 0 && usize::try_from(v.attno) == Ok(at + 1))
}

/// The entry and column that an expression is on one side of a join.
fn column_of(node: &FromNode, e: &Expr, query: &Query) -> Option<(usize, usize)> {
    match node {
        FromNode::Entry(i) => match e {
            Expr::Var(v) if v.rte == *i && v.levels_up == 0 && v.attno > 0 => {
                Some((*i, v.attno as usize - 1))
            }
            _ => None,
        },
        FromNode::Join(j) => {
            let RteKind::Join(join) = &query.range_table[j.rte].kind else { return None };
            join.columns.iter().position(|c| same(c, e)).map(|i| (j.rte, i))
        }
    }
}

/// What USING compares, by column.
fn merged_sides(j: &JoinNode) -> Vec<(&Expr, &Expr)> {
    let terms: &[Expr] = match &j.on {
        _ if j.using.is_empty() => &[],
        Some(Expr::Bool(b)) if b.op == BoolOp::And && j.using.len() > 1 => &b.args,
        Some(one) => std::slice::from_ref(one),
        None => &[],
    };
    let mut out = Vec::with_capacity(terms.len());
    for term in terms {
        if let Expr::Op(o) = term
            && let [l, r] = o.args.as_slice()
        {
            out.push((l, r));
        }
    }
    out
}

fn merged_columns(query: &Query, joins: &[usize]) -> Vec<(usize, usize)> {
    let of_join = |&join: &usize| {
        let merged: &[Expr] = match &query.range_table[join].kind {
            RteKind::Join(j) => &j.columns[..j.merged],
            _ => &[],
        };
        let unlike_a_side = merged.iter().enumerate().filter(|(_, e)| !matches!(e, Expr::Var(_)));
        unlike_a_side.map(move |(i, _)| (join, i))
    };
    joins.iter().flat_map(of_join).collect()
}

/// The items of FROM, and of MERGE's USING.
fn from_items(query: &Query) -> impl Iterator<Item = &FromNode> {
    query.join_tree.items.iter().chain(query.merge_join.as_ref().map(|(node, _)| node))
}

fn find_join(node: &FromNode, rte: usize) -> Option<&JoinNode> {
    match node {
        FromNode::Entry(_) => None,
        FromNode::Join(j) if j.rte == rte => Some(j),
        FromNode::Join(j) => find_join(&j.left, rte).or_else(|| find_join(&j.right, rte)),
    }
}

fn below(node: &FromNode, rte: usize) -> bool {
    match node {
        FromNode::Entry(i) => *i == rte,
        FromNode::Join(j) => j.rte == rte || below(&j.left, rte) || below(&j.right, rte),
    }
}

/// Names of a query's entries, and of what stands behind USING, different from each other and from those outside.
fn entry_names(query: &Query, outer: Option<&Scope<'_>>) -> (Vec<String>, Vec<Option<String>>) {
    let mut taken: Vec<String> = Vec::new();
    let mut scope = outer;
    while let Some(s) = scope {
        if let Names::Query(q) = s.names {
            taken.extend(q.names.entries.iter().chain(q.names.using_aliases.iter().flatten()).cloned());
        }
        scope = s.outer;
    }
    let mut entries = Vec::with_capacity(query.range_table.len());
    let mut aliases = Vec::with_capacity(query.range_table.len());
    for rte in &query.range_table {
        let mut name = String::new();
        let mut alias = None;
        match &rte.kind {
            RteKind::Join(join) => {
                alias = join.using_alias.as_deref().map(|a| unlike(a, |n| taken.iter().any(|t| t == n)));
                taken.extend(alias.clone());
                if rte.alias.is_some() {
                    name = unlike(&rte.name, |n| taken.iter().any(|t| t == n));
                }
            }
            _ => name = unlike(&rte.name, |n| !n.is_empty() && taken.iter().any(|t| t == n)),
        }
        if rte.in_from {
            taken.push(name.clone());
        }
        entries.push(name);
        aliases.push(alias);
    }
    (entries, aliases)
}
