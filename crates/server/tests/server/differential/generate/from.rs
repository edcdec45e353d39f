//! FROM: tables, subqueries, LATERAL, WITH queries, functions, VALUES, and joins of all kinds.

use super::{Column, Generator, Scope, TYPES, Type, column_names, table_names};
use crate::differential::schema;

impl Generator {
    /// One to three items; the scope gets their columns.
    pub(super) fn from(&mut self, depth: usize, scope: &mut Scope) -> String {
        let mut text = self.item(depth, scope, false);
        for _ in 0..self.pick(&[0, 0, 0, 1, 1, 1, 2, 2]) {
            text = self.join(&text, depth, scope);
        }
        text
    }

    fn join(&mut self, left: &str, depth: usize, scope: &mut Scope) -> String {
        let before = scope.own.clone();
        let kind = self.pick(&[
            "join",
            "join",
            "join",
            "left join",
            "left join",
            "right join",
            "full join",
            ",",
            "cross join",
        ]);
        // The right side may look at the left one only where that makes sense.
        let lateral = matches!(kind, "join" | "left join" | "," | "cross join") && self.chance(25);
        let right = self.item(depth, scope, lateral);
        let new: Vec<Column> = scope.own[before.len()..].to_vec();
        if kind == "," || kind == "cross join" {
            // Not too many rows: a comma joins with a small right side, or binds weaker than JOIN.
            return format!("{left} cross join {right}");
        }
        let key = self.equality(&before, &new);
        let mut condition = key.unwrap_or_else(|| "true".to_string());
        // FULL JOIN demands a condition that can be hashed or merged.
        if kind != "full join" && self.chance(20) {
            let seen = Scope { own: scope.own.clone(), outer: scope.outer.clone(), ..Scope::default() };
            let more = self.comparison(depth.saturating_sub(1), &seen);
            condition = format!("{condition} and {more}");
        }
        format!("{left} {kind} {right} on {condition}")
    }

    /// Equality of a column of the one side and one of the other.
    fn equality(&mut self, left: &[Column], right: &[Column]) -> Option<String> {
        let mut pairs = Vec::new();
        for a in left.iter().filter(|column| column.ty != Type::Bool) {
            pairs.extend(right.iter().filter(|b| b.ty == a.ty).map(|b| format!("{} = {}", a.text, b.text)));
        }
        if pairs.is_empty() {
            return None;
        }
        let first = self.pick(&pairs);
        Some(if self.chance(20) { format!("{first} and {}", self.pick(&pairs)) } else { first })
    }

    /// One item; with `lateral` it may refer to those before it.
    fn item(&mut self, depth: usize, scope: &mut Scope, lateral: bool) -> String {
        let alias = self.name("f");
        if !lateral && (depth <= 1 || self.chance(60)) {
            return self.table(alias, scope);
        }
        let within = if lateral { scope.inside() } else { scope.beside() };
        let (text, types) = match self.below(10) {
            0 if !scope.with.is_empty() || depth > 1 => return self.with_item(alias, scope),
            1 => {
                let (start, rows) = (self.below(5), self.below(9));
                (format!("generate_series({start}, {})", start + rows), vec![Type::Int])
            }
            2 => self.values(&within),
            3 if lateral && self.chance(50) => {
                let value = self.expression(Type::Int, 1, &within);
                let (call, types) = self.pick(&[
                    ("upto", vec![Type::Int, Type::Text]),
                    ("around", vec![Type::Int, Type::Int]),
                    ("near", schema::columns().map(|c| c.1).collect()),
                ]);
                (format!("{call}({value})"), types)
            }
            3 if lateral => {
                let value = self.expression(Type::Ints, 1, &within);
                (format!("unnest({value})"), vec![Type::Int])
            }
            _ => {
                let query = self.query(depth.max(2) - 1, None, &within);
                (format!("({})", query.text), query.types)
            }
        };
        let lateral = if lateral && text.starts_with('(') { "lateral " } else { "" };
        let names = column_names(types.len());
        self.bind(scope, &alias, &types);
        format!("{lateral}{text} {alias}({names})")
    }

    fn table(&mut self, alias: String, scope: &mut Scope) -> String {
        let table = self.pick(&table_names());
        let table = if table == "none" && self.chance(60) { "small" } else { table };
        let table = if table == "heads" && self.chance(50) { "part" } else { table };
        // Two large tables side by side make slow joins and no new cases.
        let table = if table == "big" && !scope.own.is_empty() && self.chance(70) { "mid" } else { table };
        for (name, ty) in schema::columns() {
            scope.own.push(Column { text: format!("{alias}.{name}"), ty, plain: true });
        }
        scope.identity.push(format!("{alias}.id"));
        format!("{table} {alias}")
    }

    fn with_item(&mut self, alias: String, scope: &mut Scope) -> String {
        if scope.with.is_empty() {
            return self.table(alias, scope);
        }
        let (name, types) = self.pick(&scope.with);
        self.bind(scope, &alias, &types);
        format!("{name} {alias}")
    }

    fn bind(&mut self, scope: &mut Scope, alias: &str, types: &[Type]) {
        scope.repeats = true;
        for (at, ty) in types.iter().enumerate() {
            let text = format!("{alias}.x{}", at + 1);
            scope.identity.push(text.clone());
            scope.own.push(Column { text, ty: *ty, plain: true });
        }
    }

    fn values(&mut self, scope: &Scope) -> (String, Vec<Type>) {
        let types = [self.pick(TYPES), self.pick(TYPES)];
        let mut rows = Vec::new();
        for _ in 0..1 + self.below(4) {
            let mut row = Vec::new();
            for ty in types {
                let value = self.expression(ty, 1, scope);
                row.push(ty.shown(&value));
            }
            rows.push(format!("({})", row.join(", ")));
        }
        (format!("(values {})", rows.join(", ")), types.to_vec())
    }
}
