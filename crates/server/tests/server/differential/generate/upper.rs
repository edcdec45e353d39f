//! Above FROM and WHERE: aggregates, grouping sets, window functions.

use super::{Column, Generator, Scope, Type, named};
use Type::*;

/// Aggregates: result, text with a place for each argument, types of the arguments.
const AGGREGATES: &[(Type, &str, &[Type])] = &[
    (Int, "count(*)", &[]),
    (Int, "count({})", &[Text]),
    (Int, "count(distinct {})", &[Int]),
    (Int, "count(distinct {})", &[Text]),
    (Int, "max({})", &[Int]),
    (Int, "min({})", &[Int]),
    (Int, "bit_or({})", &[Int]),
    (Int, "bit_and({})", &[Int]),
    (Int, "percentile_disc(0.4) within group (order by {})", &[Int]),
    (Int, "mode() within group (order by {})", &[Int]),
    (Int, "rank(7) within group (order by {})", &[Int]),
    (Big, "sum({})", &[Int]),
    (Big, "sum(distinct {})", &[Int]),
    (Big, "max({})", &[Big]),
    (Num, "sum({})", &[Num]),
    (Num, "sum({})", &[Big]),
    (Num, "avg({})", &[Int]),
    (Num, "avg({})", &[Num]),
    (Num, "stddev({})", &[Int]),
    (Num, "variance({})", &[Num]),
    (Num, "var_pop({})", &[Int]),
    (Num, "min({})", &[Num]),
    (Float, "sum({})", &[Float]),
    (Float, "avg({})", &[Float]),
    (Float, "max({})", &[Float]),
    (Float, "percentile_cont(0.25) within group (order by {})", &[Float]),
    (Text, "min({})", &[Text]),
    (Text, "max({})", &[Text]),
    (Text, "string_agg({0}, ',' order by {0})", &[Text]),
    (Text, "string_agg(distinct {0}, ';' order by {0} desc)", &[Text]),
    (Bool, "bool_or({})", &[Bool]),
    (Bool, "bool_and({})", &[Bool]),
    (Bool, "every({})", &[Bool]),
    (Date, "min({})", &[Date]),
    (Date, "max({})", &[Date]),
    (Stamp, "max({})", &[Stamp]),
    (Zoned, "min({})", &[Zoned]),
    (Interval, "sum({})", &[Interval]),
    (Interval, "avg({})", &[Interval]),
    (Time, "max({})", &[Time]),
    (Ints, "array_agg({0} order by {0})", &[Int]),
    (Ints, "array_agg(distinct {0} order by {0} desc nulls last)", &[Int]),
    (Json, "jsonb_agg({0} order by {0})", &[Int]),
    (Json, "jsonb_agg(distinct {0} order by {0} desc)", &[Text]),
    (Int, "dense_rank({}) within group (order by {})", &[Int, Int]),
    (Int, "regr_count({}, {})::int", &[Float, Float]),
    (Num, "covar_pop({0}, {0})::numeric", &[Int]),
    (Text, "mode() within group (order by {})", &[Text]),
    (Text, "percentile_disc(0.5) within group (order by {} desc)", &[Text]),
    (Uuid, "percentile_disc(0.7) within group (order by {})", &[Uuid]),
    (Big, "bit_xor({})", &[Big]),
    (Ints, "max({})", &[Ints]),
    (Json, "jsonb_object_agg(coalesce({0}, ''), {0} order by {0})", &[Text]),
];

/// Window functions that need a total order.
const ORDERED: &[(Type, &str, &[Type])] = &[
    (Int, "row_number()", &[]),
    (Int, "ntile(4)", &[]),
    (Int, "lag({})", &[Int]),
    (Int, "lead({}, 2, -1)", &[Int]),
    (Text, "first_value({})", &[Text]),
    (Text, "last_value({})", &[Text]),
    (Date, "nth_value({}, 2)", &[Date]),
    (Num, "lag({}, 3)", &[Num]),
    (Stamp, "first_value({})", &[Stamp]),
];

/// Window functions that are the same for peers.
const RANKS: &[(Type, &str)] =
    &[(Int, "rank()"), (Int, "dense_rank()"), (Float, "percent_rank()"), (Float, "cume_dist()")];

const EXCLUSIONS: &[&str] = &["", "", "", " exclude current row", " exclude group", " exclude ties"];

impl Generator {
    /// An aggregate over the rows of FROM, in one form.
    pub(super) fn aggregate(&mut self, ty: Type, depth: usize, scope: &Scope) -> String {
        let call = self.aggregate_call(ty, depth, scope, false);
        let filter = if self.chance(15) && !call.contains("::jsonb") {
            format!(" filter (where {})", self.comparison(0, &Scope { outer: Vec::new(), ..scope.clone() }))
        } else {
            String::new()
        };
        ty.shown(&(call + &filter))
    }

    fn aggregate_call(&mut self, ty: Type, depth: usize, scope: &Scope, plain: bool) -> String {
        let usable: Vec<_> = AGGREGATES
            .iter()
            .filter(|a| a.0 == ty && !(plain && (a.1.contains("distinct") || a.1.contains("order by"))))
            .collect();
        if usable.is_empty() {
            return format!("null::{}", ty.name());
        }
        let (_, text, types) = *usable[self.below(usable.len())];
        // An aggregate of outer columns alone belongs to the outer query, where it may be allowed, or be an error.
        let own = match self.chance(2) {
            true => scope.clone(),
            false => Scope { outer: Vec::new(), ..scope.clone() },
        };
        self.fill(text, types, depth.min(2).saturating_sub(1), &own)
    }

    fn fill(&mut self, text: &str, types: &[Type], depth: usize, scope: &Scope) -> String {
        let mut made = text.to_string();
        for ty in types {
            let value = self.expression(*ty, depth, scope);
            let value = if matches!(ty, Num | Interval) { ty.shown(&value) } else { value };
            made = if made.contains("{0}") {
                made.replace("{0}", &value)
            } else {
                made.replacen("{}", &value, 1)
            };
        }
        made
    }

    /// GROUP BY, HAVING.
    pub(super) fn grouped(&mut self, depth: usize, types: &[Type], scope: &Scope, from: &str) -> String {
        let mut keys = Vec::new();
        for _ in 0..self.pick(&[0, 1, 1, 2, 2, 3]) {
            keys.extend(self.key(depth, scope));
        }
        let over_groups = Scope { own: keys.clone(), ..scope.clone() };
        let group = self.group_by(&keys);
        let mut columns = Vec::new();
        for ty in types {
            columns.push(self.group_column(*ty, depth, scope, &over_groups));
        }
        let having = if self.chance(20) {
            let value = self.aggregate(Int, depth, scope);
            let bound = self.below(20);
            format!(" having {value} > {bound}")
        } else {
            String::new()
        };
        format!("select {}{from}{group}{having}", named(&columns))
    }

    /// A column of a grouped query: of the keys, an aggregate, or both.
    fn group_column(&mut self, ty: Type, depth: usize, scope: &Scope, over_groups: &Scope) -> String {
        let own = over_groups.own.iter().any(|key| key.ty == ty);
        if own && self.chance(60) {
            let value = self.expression(ty, depth.min(1), over_groups);
            return ty.shown(&value);
        }
        if ty == Int && !over_groups.own.is_empty() && self.chance(10) {
            let key = self.pick(&over_groups.own).text;
            return format!("grouping({key})");
        }
        self.aggregate(ty, depth, scope)
    }

    /// A grouping key: a column or an expression of some.
    fn key(&mut self, depth: usize, scope: &Scope) -> Option<Column> {
        let columns: Vec<&Column> = scope.own.iter().filter(|column| column.plain).collect();
        if columns.is_empty() {
            return None;
        }
        let column = columns[self.below(columns.len())].clone();
        let computed = depth > 1 && self.chance(30);
        let text = match column.ty {
            Int if computed => format!("({} % 5)", column.text),
            Text if computed => format!("left({}, 1)", column.text),
            Date if computed => format!("extract(month from {})::int", column.text),
            ty @ (Num | Interval | Float) => ty.shown(&column.text),
            _ => column.text.clone(),
        };
        let ty = if column.ty == Date && computed { Int } else { column.ty };
        Some(Column { plain: text == column.text, text, ty })
    }

    fn group_by(&mut self, keys: &[Column]) -> String {
        if keys.is_empty() {
            return if self.chance(30) { " group by ()".into() } else { String::new() };
        }
        let texts: Vec<&str> = keys.iter().map(|key| key.text.as_str()).collect();
        let list = texts.join(", ");
        match self.below(10) {
            0 => format!(" group by rollup ({list})"),
            1 => format!(" group by cube ({list})"),
            2 => {
                let first = texts[0];
                format!(" group by grouping sets (({list}), ({first}), ())")
            }
            3 if texts.len() > 1 => format!(" group by {}, rollup ({})", texts[0], texts[1..].join(", ")),
            4 => format!(" group by distinct rollup ({list}), cube ({})", texts[0]),
            _ => format!(" group by {list}"),
        }
    }

    /// Window functions over the rows of FROM.
    pub(super) fn windowed(&mut self, depth: usize, types: &[Type], scope: &Scope, from: &str) -> String {
        if scope.identity.is_empty() {
            return self.plain(depth, types, scope, from);
        }
        let mut columns = Vec::new();
        for ty in types {
            let value = if self.chance(60) {
                self.window_call(*ty, depth, scope)
            } else {
                self.expression(*ty, depth.min(2), scope)
            };
            columns.push(ty.shown(&value));
        }
        format!("select {}{from}", named(&columns))
    }

    fn window_call(&mut self, ty: Type, depth: usize, scope: &Scope) -> String {
        let partition = match self.key(1, scope).filter(|_| self.chance(60)) {
            Some(key) => format!("partition by {} ", key.text),
            None => String::new(),
        };
        let ranks: Vec<_> = RANKS.iter().filter(|rank| rank.0 == ty).map(|rank| rank.1).collect();
        let ordered: Vec<_> = ORDERED.iter().filter(|call| call.0 == ty).collect();
        let key = self.key(1, scope).map_or("1".to_string(), |key| key.text);
        let direction = self.pick(&["", " desc", " nulls first"]);
        if !ranks.is_empty() && self.chance(30) {
            let rank = self.pick(&ranks);
            return format!("{rank} over ({partition}order by {key}{direction})");
        }
        let identity = scope.identity.join(", ");
        if !ordered.is_empty() && !scope.repeats && self.chance(40) {
            let (_, text, types) = *ordered[self.below(ordered.len())];
            let call = self.fill(text, types, depth.min(2) - 1, scope);
            let frame = if text.contains("_value") { self.rows_frame() } else { String::new() };
            return format!("{call} over ({partition}order by {key}{direction}, {identity}{frame})");
        }
        let call = self.aggregate_call(ty, depth, scope, true);
        let window = match self.below(if scope.repeats { 4 } else { 5 }) {
            0 => partition,
            1 => format!("{partition}order by {key}{direction}"),
            2 => {
                let (back, ahead) = (self.below(4), self.below(4));
                let exclusion = self.pick(EXCLUSIONS);
                format!(
                    "{partition}order by {key}{direction} groups between {back} preceding and {ahead} following{exclusion}"
                )
            }
            3 => match scope.own.iter().find(|column| column.ty == Int) {
                Some(column) => {
                    let (back, ahead) = (self.below(9), self.below(9));
                    let exclusion = self.pick(EXCLUSIONS);
                    format!(
                        "{partition}order by {} range between {back} preceding and {ahead} following{exclusion}",
                        column.text
                    )
                }
                None => partition,
            },
            _ => {
                let frame = self.rows_frame();
                format!("{partition}order by {key}{direction}, {identity}{frame}")
            }
        };
        if call.starts_with("null::") { call } else { format!("{call} over ({window})") }
    }

    fn rows_frame(&mut self) -> String {
        let start = self.pick(&["unbounded preceding", "3 preceding", "current row", "1 following"]);
        let end = match start {
            "1 following" => self.pick(&["4 following", "unbounded following"]),
            _ => self.pick(&["current row", "2 following", "unbounded following"]),
        };
        let exclusion = self.pick(EXCLUSIONS);
        format!(" rows between {start} and {end}{exclusion}")
    }
}
