//! Queries taken apart: two texts that must give the same rows, whatever those are. Needs no other server to compare with.
//!
//! The ways are SQLancer's oracles: a condition is true, false or unknown of every row (ternary logic partitioning), and a condition
//! counts as many rows when it is a value as when it chooses rows (NoREC).

use super::{Generator, Query, Scope, Type, named};

/// How a query is taken apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    Rows,
    Distinct,
    Aggregate,
    Having,
    Count,
}

const WAYS: &[Way] = &[Way::Rows, Way::Rows, Way::Distinct, Way::Aggregate, Way::Having, Way::Count];

impl Generator {
    /// A query, and another one with the same rows.
    pub fn taken_apart(&mut self) -> (Query, Query) {
        self.names = 0;
        let depth = 1 + self.below(2);
        let mut scope = Scope::default();
        let from = self.from(depth, &mut scope);
        let condition = self.condition(depth, &scope);
        let (whole, parts, types) = match self.pick(WAYS) {
            way @ (Way::Rows | Way::Distinct) => self.rows(way, depth, &scope, &from, &condition),
            Way::Aggregate => self.aggregate_of_parts(depth, &scope, &from, &condition),
            Way::Having => self.having(depth, &scope, &from),
            Way::Count => (
                format!("select count(*) as x1 from {from} where {condition}"),
                format!(
                    "select count(*) filter (where p) as x1 from (select ({condition}) as p from {from} offset 0) a"
                ),
                vec![Type::Big],
            ),
        };
        let query = |text| Query { text, types: types.clone(), ordered: false };
        (query(whole), query(parts))
    }

    /// All rows, or all that are distinct.
    fn rows(
        &mut self,
        way: Way,
        depth: usize,
        scope: &Scope,
        from: &str,
        condition: &str,
    ) -> (String, String, Vec<Type>) {
        let types = self.types();
        let columns: Vec<String> =
            types.iter().map(|ty| ty.shown(&self.expression(*ty, depth, scope))).collect();
        let (kind, union) =
            if way == Way::Distinct { ("select distinct", "union") } else { ("select", "union all") };
        let whole = format!("{kind} {} from {from}", named(&columns));
        let parts = thirds(condition, union, |part| format!("{whole} where {part}"));
        (whole, parts, types)
    }

    /// Aggregates of all rows are aggregates of those of the parts.
    fn aggregate_of_parts(
        &mut self,
        depth: usize,
        scope: &Scope,
        from: &str,
        condition: &str,
    ) -> (String, String, Vec<Type>) {
        let ty = self.pick(&[Type::Int, Type::Num, Type::Text, Type::Date, Type::Stamp]);
        let value = self.expression(ty, depth, scope);
        let sum = self.expression(Type::Int, depth, scope);
        let shown = |text: &str| ty.shown(text);
        let whole = |rest: &str| {
            format!(
                "select {} as x1, {} as x2, count({value}) as x3, sum({sum}) as x4 from {from}{rest}",
                shown(&format!("min({value})")),
                shown(&format!("max({value})"))
            )
        };
        let parts = thirds(condition, "union all", |part| whole(&format!(" where {part}")));
        let parts = format!("select min(x1), max(x2), sum(x3)::bigint, sum(x4)::bigint from ({parts}) a");
        (whole(""), parts, vec![ty, ty, Type::Big, Type::Big])
    }

    /// Every group is in one part.
    fn having(&mut self, depth: usize, scope: &Scope, from: &str) -> (String, String, Vec<Type>) {
        let ty = self.pick(&[Type::Int, Type::Text, Type::Bool, Type::Date]);
        let key = self.own_column_of(ty, scope);
        let whole = format!("select {} as x1, count(*) as x2 from {from} group by {key}", ty.shown(&key));
        let counted = self.expression(Type::Int, depth, scope);
        let groups = ["count(*)", &format!("max({counted})"), &format!("sum({counted})")].map(String::from);
        let group = self.pick(&groups);
        let comparison = self.pick(&["=", "<", ">", "<>"]);
        let condition = format!("{group} {comparison} {}", self.below(20));
        let parts = thirds(&condition, "union all", |part| format!("{whole} having {part}"));
        (whole, parts, vec![ty, Type::Big])
    }

    fn own_column_of(&mut self, ty: Type, scope: &Scope) -> String {
        let fitting: Vec<&str> =
            scope.own.iter().filter(|c| c.plain && c.ty == ty).map(|c| c.text.as_str()).collect();
        if fitting.is_empty() { format!("null::{}", ty.name()) } else { self.pick(&fitting).to_string() }
    }
}

/// The rows where a condition is true, where it is false, and where it is unknown.
fn thirds(condition: &str, union: &str, query: impl Fn(&str) -> String) -> String {
    [format!("({condition})"), format!("not ({condition})"), format!("({condition}) is null")]
        .map(|part| format!("({})", query(&part)))
        .join(&format!(" {union} "))
}
