//! Expressions: constants, columns, functions and operators from a table of forms, conditions, subqueries.

use super::{Generator, Scope, TYPES, Type};
use Type::*;

/// Result, text with a place for each argument, types of the arguments.
const FORMS: &[(Type, &str, &[Type])] = &[
    (Int, "({} + {})", &[Int, Int]),
    (Int, "({} - {})", &[Int, Int]),
    (Int, "({} * 3)", &[Int]),
    (Int, "({} / nullif({}, 0))", &[Int, Int]),
    (Int, "({} % nullif({}, 0))", &[Int, Int]),
    (Int, "(- {})", &[Int]),
    (Int, "abs({})", &[Int]),
    (Int, "({} & {})", &[Int, Int]),
    (Int, "({} | {})", &[Int, Int]),
    (Int, "({} # {})", &[Int, Int]),
    (Int, "length({})", &[Text]),
    (Int, "ascii({})", &[Text]),
    (Int, "strpos({}, {})", &[Text, Text]),
    (Int, "position({} in {})", &[Text, Text]),
    (Int, "({} - {})", &[Date, Date]),
    (Int, "extract(year from {})::int", &[Date]),
    (Int, "extract(dow from {})::int", &[Stamp]),
    (Int, "extract(hour from {})::int", &[Time]),
    (Int, "cardinality({})", &[Ints]),
    (Int, "array_length({}, 1)", &[Ints]),
    (Int, "({})[2]", &[Ints]),
    (Int, "array_position({}, {})", &[Ints, Int]),
    (Int, "({}->>'k')::int", &[Json]),
    (Int, "jsonb_array_length({}->'q')", &[Json]),
    (Int, "sign({})::int", &[Int]),
    (Int, "{}::int", &[Bool]),
    (Int, "width_bucket({}, 0, 100, 7)", &[Int]),
    (Big, "({}::bigint + {})", &[Int, Big]),
    (Big, "({} * {}::bigint)", &[Int, Int]),
    (Big, "({} % 1009)", &[Big]),
    (Big, "({} / 17)", &[Big]),
    (Big, "extract(epoch from {})::bigint", &[Stamp]),
    (Big, "gcd({} % 10000, {}::bigint)", &[Big, Int]),
    (Num, "({} + {})", &[Num, Num]),
    (Num, "({} - {})", &[Num, Int]),
    (Num, "({} * 1.25)", &[Num]),
    (Num, "({} / nullif({}, 0))", &[Num, Int]),
    (Num, "round({}, 1)", &[Num]),
    (Num, "trunc({})", &[Num]),
    (Num, "floor({})", &[Num]),
    (Num, "ceil({})", &[Num]),
    (Num, "mod({}, 7)", &[Num]),
    (Num, "{}::numeric", &[Int]),
    (Num, "{}::numeric", &[Big]),
    (Num, "sqrt(abs({}))", &[Num]),
    (Num, "extract(epoch from {})", &[Interval]),
    (Float, "({} + {})", &[Float, Float]),
    (Float, "({} * 0.5)", &[Float]),
    (Float, "({} - {})", &[Float, Int]),
    (Float, "{}::float8", &[Int]),
    (Float, "floor({})", &[Float]),
    (Text, "({} || {})", &[Text, Text]),
    (Text, "({} || {}::text)", &[Text, Int]),
    (Text, "upper({})", &[Text]),
    (Text, "lower({})", &[Text]),
    (Text, "initcap({})", &[Text]),
    (Text, "substr({}, 2, 3)", &[Text]),
    (Text, "substring({} from {})", &[Text, Int]),
    (Text, "left({}, 3)", &[Text]),
    (Text, "right({}, -2)", &[Text]),
    (Text, "lpad({}, 5, '*')", &[Text]),
    (Text, "rpad({}, 4)", &[Text]),
    (Text, "btrim({}, ' x')", &[Text]),
    (Text, "replace({}, 'e', {})", &[Text, Text]),
    (Text, "reverse({})", &[Text]),
    (Text, "translate({}, 'abe', 'xy')", &[Text]),
    (Text, "split_part({}, 'e', 2)", &[Text]),
    (Text, "regexp_replace({}, '[0-9]+', '#', 'g')", &[Text]),
    (Text, "md5({})", &[Text]),
    (Text, "concat({}, '-', {})", &[Text, Int]),
    (Text, "concat_ws(',', {}, {})", &[Text, Text]),
    (Text, "format('%s/%s', {}, {})", &[Text, Int]),
    (Text, "quote_literal({})", &[Text]),
    (Text, "quote_ident({})", &[Text]),
    (Text, "{}::text", &[Bool]),
    (Text, "{}::text", &[Date]),
    (Text, "{}::text", &[Ints]),
    (Text, "({}->>'w')", &[Json]),
    (Text, "({} #>> '{{q,1}}')", &[Json]),
    (Text, "to_char({}, 'FM999990.00')", &[Num]),
    (Text, "to_char({}, 'YYYY-MM Mon Day HH24:MI')", &[Stamp]),
    (Text, "array_to_string({}, '+')", &[Ints]),
    (Text, "left(repeat({}, 3), 9)", &[Text]),
    (Bool, "({} like 'b%')", &[Text]),
    (Bool, "({} ilike '%E_')", &[Text]),
    (Bool, "({} not like '%\\%%')", &[Text]),
    (Bool, "({} ~ '^[a-f]+[0-9]')", &[Text]),
    (Bool, "starts_with({}, {})", &[Text, Text]),
    (Bool, "({} @> {})", &[Ints, Ints]),
    (Bool, "({} && {})", &[Ints, Ints]),
    (Bool, "({} = any ({}))", &[Int, Ints]),
    (Bool, "({} < all ({}))", &[Int, Ints]),
    (Bool, "({} ? 'k')", &[Json]),
    (Bool, "({} @> '{{\"k\": 2}}')", &[Json]),
    (Bool, "({} in (1, 2, 3, 5, 8, 13))", &[Int]),
    (Bool, "({} not in ('a', 'red', '8'))", &[Text]),
    (Bool, "({} between {} and {})", &[Int, Int, Int]),
    (Bool, "({} not between {} and {})", &[Date, Date, Date]),
    (Bool, "(({}, {}) = ({}, {}))", &[Int, Text, Int, Text]),
    (Bool, "(({}, {}) < ({}, {}))", &[Int, Date, Int, Date]),
    (Bool, "(({}, {}) in ((1, 'red'), (2, 'Green')))", &[Int, Text]),
    (Bool, "({} is true)", &[Bool]),
    (Bool, "({} is not unknown)", &[Bool]),
    (Bool, "(not {})", &[Bool]),
    (Bool, "({}, {}) overlaps ({}, {})", &[Date, Date, Date, Date]),
    (Date, "({} + {} % 1000)", &[Date, Int]),
    (Date, "{}::date", &[Stamp]),
    (Date, "({} - 30)", &[Date]),
    (Stamp, "({} + {})", &[Stamp, Interval]),
    (Stamp, "({} - {})", &[Date, Interval]),
    (Stamp, "date_trunc('month', {})", &[Stamp]),
    (Stamp, "date_trunc('hour', {})", &[Stamp]),
    (Stamp, "{}::timestamp", &[Date]),
    (Stamp, "({} + {})", &[Date, Time]),
    (Stamp, "({} at time zone 'UTC')", &[Zoned]),
    (Zoned, "({} at time zone 'America/New_York')", &[Stamp]),
    (Zoned, "({} + interval '1 day')", &[Zoned]),
    (Zoned, "date_trunc('day', {}, 'Europe/Berlin')", &[Zoned]),
    (Interval, "({} - {})", &[Stamp, Stamp]),
    (Interval, "({} * 2)", &[Interval]),
    (Interval, "({} + {})", &[Interval, Interval]),
    (Interval, "age({}, {})", &[Stamp, Stamp]),
    (Interval, "({} - {})", &[Time, Time]),
    (Time, "{}::time", &[Stamp]),
    (Time, "({} + {})", &[Time, Interval]),
    (Ints, "({} || {})", &[Ints, Ints]),
    (Ints, "array_append({}, {})", &[Ints, Int]),
    (Ints, "({})[1:2]", &[Ints]),
    (Ints, "array[{}, {}]", &[Int, Int]),
    (Ints, "array_remove({}, {})", &[Ints, Int]),
    (Json, "({}->'q')", &[Json]),
    (Json, "to_jsonb({})", &[Int]),
    (Json, "to_jsonb({})", &[Text]),
    (Json, "jsonb_build_object('n', {}, 't', {})", &[Int, Text]),
    (Json, "jsonb_strip_nulls(jsonb_build_object('n', {}, 'd', {}))", &[Int, Date]),
    (Json, "({} - 'k')", &[Json]),
    (Json, "jsonb_build_array({}, {}, {})", &[Int, Bool, Text]),
    (Json, "jsonb_set({}, '{{k}}', to_jsonb({}), true)", &[Json, Int]),
    (Json, "({} || {})", &[Json, Json]),
    (Json, "jsonb_path_query_first({}, '$.q[*]')", &[Json]),
    (Json, "to_jsonb({})", &[Ints]),
    (Int, "twice({})", &[Int]),
    (Int, "(around({})).below", &[Int]),
    (Int, "num_nulls({}, {}, {})", &[Text, Int, Date]),
    (Int, "date_part('day', {})::int", &[Interval]),
    (Int, "extract(isoyear from {})::int", &[Date]),
    (Int, "array_upper({}, 1)", &[Ints]),
    (Int, "array_lower({} || {}, 1)", &[Ints, Ints]),
    (Int, "(row({}, {}) <= row({}, {}))::int", &[Int, Text, Int, Text]),
    (Int, "octet_length({})", &[Text]),
    (Num, "trunc({}, 2)", &[Num]),
    (Num, "div({}, 3)", &[Num]),
    (Num, "power({}, 2)", &[Num]),
    (Num, "greatest({}, {}, {}::numeric)", &[Num, Num, Int]),
    (Text, "(named({})).rest", &[Text]),
    (Text, "overlay({} placing '--' from 2 for 1)", &[Text]),
    (Text, "left({}::text, 8)", &[Uuid]),
    (Text, "{}::text", &[Zoned]),
    (Text, "substring({} from '[a-f]+')", &[Text]),
    (Text, "to_char({}, 'IYYY-IW DDD')", &[Date]),
    (Text, "jsonb_typeof({})", &[Json]),
    (Text, "nullif({}, {})", &[Text, Text]),
    (Bool, "({} similar to '(r|G)%')", &[Text]),
    (Bool, "({} between symmetric {} and {})", &[Int, Int, Int]),
    (Bool, "(row({}, {}) is distinct from row({}, {}))", &[Int, Date, Int, Date]),
    (Bool, "(row({}, {}) is null)", &[Int, Text]),
    (Bool, "({} <@ {})", &[Ints, Ints]),
    (Bool, "({} < {})", &[Uuid, Uuid]),
    (Bool, "isfinite({})", &[Date]),
    (Date, "make_date(2024, 1 + abs({}) % 12, 15)", &[Int]),
    (Date, "least({}, {})", &[Date, Date]),
    (Stamp, "date_bin('3 hours', {}, timestamp '2024-01-01')", &[Stamp]),
    (Stamp, "make_timestamp(2024, 3, 1 + abs({}) % 28, 4, 5, 6)", &[Int]),
    (Interval, "make_interval(days => {} % 100, hours => 5)", &[Int]),
    (Interval, "({} / 2)", &[Interval]),
    (Interval, "justify_hours({})", &[Interval]),
    (Time, "make_time(abs({}) % 24, 30, 0)", &[Int]),
    (Ints, "array_prepend({}, {})", &[Int, Ints]),
    (Ints, "array_replace({}, {}, {})", &[Ints, Int, Int]),
    (Ints, "string_to_array({}, ',')::int[]", &[Text]),
    (Ints, "array_positions({}, {})", &[Ints, Int]),
    (Uuid, "md5({})::uuid", &[Text]),
    (Uuid, "coalesce({}, {})", &[Uuid, Uuid]),
];

impl Generator {
    /// An expression of a type.
    pub(super) fn expression(&mut self, ty: Type, depth: usize, scope: &Scope) -> String {
        let leaf = depth == 0 || self.chance(35);
        if leaf {
            return self.leaf(ty, scope);
        }
        match self.below(20) {
            0 => {
                let (a, b) = (self.expression(ty, depth - 1, scope), self.expression(ty, depth - 1, scope));
                let shape = self.pick(&["coalesce", "greatest", "least", "nullif"]);
                format!("{shape}({a}, {b})")
            }
            1 => {
                let test = self.condition(depth - 1, scope);
                let (a, b) = (self.expression(ty, depth - 1, scope), self.expression(ty, depth - 1, scope));
                format!("case when {test} then {a} else {b} end")
            }
            2 => {
                let key = self.expression(Int, depth - 1, scope);
                let (a, b) = (self.leaf(ty, scope), self.expression(ty, depth - 1, scope));
                format!("case {key} % 3 when 0 then {a} when 1 then {b} end")
            }
            3 if depth > 1 => self.scalar_subquery(ty, depth - 1, scope),
            4 if depth > 1 && ty == Ints => self.array_subquery(depth - 1, scope),
            _ if ty == Bool && self.chance(60) => self.condition(depth, scope),
            _ => self.form(ty, depth, scope),
        }
    }

    fn form(&mut self, ty: Type, depth: usize, scope: &Scope) -> String {
        let forms: Vec<_> = FORMS.iter().filter(|form| form.0 == ty).collect();
        let (_, text, types) = *forms[self.below(forms.len())];
        let mut parts = text.split("{}");
        let mut made = parts.next().unwrap_or_default().to_string();
        for (part, ty) in parts.zip(types) {
            made += &self.expression(*ty, depth - 1, scope);
            made += part;
        }
        made.replace("{{", "{").replace("}}", "}")
    }

    /// A column or a constant.
    fn leaf(&mut self, ty: Type, scope: &Scope) -> String {
        let of_type = |columns: &[super::Column]| -> Vec<String> {
            columns.iter().filter(|column| column.ty == ty).map(|column| column.text.clone()).collect()
        };
        let own = of_type(&scope.own);
        if !own.is_empty() && self.chance(80) {
            return self.pick(&own);
        }
        let outer = of_type(&scope.outer);
        if !outer.is_empty() && self.chance(60) {
            return self.pick(&outer);
        }
        self.constant(ty)
    }

    fn constant(&mut self, ty: Type) -> String {
        if self.chance(6) {
            return format!("null::{}", ty.name());
        }
        let n = self.below(40);
        match ty {
            Int => n.to_string(),
            Big => format!("{n}00000::bigint"),
            Num => format!("{n}.{}", self.below(100)),
            Float => format!("{n}.25::float8"),
            Text => format!("'{}'::text", self.pick(&["", "a", "red", "e", "8f", "O''K", "x y"])),
            Bool => self.pick(&["true", "false"]).to_string(),
            Date => format!("date '2024-03-{:02}'", 1 + n % 30),
            Stamp => format!("timestamp '2024-{:02}-15 08:{n:02}:00'", 1 + n % 12),
            Zoned => format!("timestamptz '2024-{:02}-28 23:{n:02}:00+02'", 1 + n % 12),
            Interval => format!("interval '{n} days {n} minutes'"),
            Time => format!("time '{:02}:{n:02}'", n % 24),
            Ints => format!("'{{{n},NULL,{}}}'::int[]", n % 4),
            Json => format!("'{{\"k\": {}, \"q\": [{n}]}}'::jsonb", n % 6),
            Uuid => format!("'c4ca4238-a0b9-2382-0dcc-509a6f7584{n:02}'::uuid"),
        }
    }

    /// A boolean expression as a condition.
    pub(super) fn condition(&mut self, depth: usize, scope: &Scope) -> String {
        if depth == 0 {
            return self.comparison(0, scope);
        }
        match self.below(12) {
            0 | 1 => {
                let (a, b) = (self.condition(depth - 1, scope), self.condition(depth - 1, scope));
                format!("({a} and {b})")
            }
            2 => {
                let (a, b) = (self.condition(depth - 1, scope), self.condition(depth - 1, scope));
                format!("({a} or {b})")
            }
            3 => self.form(Bool, depth, scope),
            4 | 5 if depth > 1 => self.test_of_subquery(depth - 1, scope),
            6 => {
                let ty = self.pick(TYPES);
                let value = self.expression(ty, depth - 1, scope);
                let test = self.pick(&["is null", "is not null"]);
                format!("({value} {test})")
            }
            _ => self.comparison(depth - 1, scope),
        }
    }

    pub(super) fn comparison(&mut self, depth: usize, scope: &Scope) -> String {
        let ty = self.pick(TYPES);
        let left = self.expression(ty, depth, scope);
        let right = self.expression(ty, depth, scope);
        let operator = self.pick(&[
            "=",
            "=",
            "=",
            "<",
            "<=",
            ">",
            ">=",
            "<>",
            "is distinct from",
            "is not distinct from",
        ]);
        format!("({left} {operator} {right})")
    }

    /// A subquery that gives one row or none.
    fn scalar_subquery(&mut self, ty: Type, depth: usize, scope: &Scope) -> String {
        let mut inside = scope.inside();
        let from = self.from(depth, &mut inside);
        let condition = self.condition(depth, &inside);
        let value = if self.chance(70) {
            self.aggregate(ty, depth, &inside)
        } else {
            let value = self.expression(ty, depth - 1, &inside);
            let value = ty.shown(&value);
            return format!("(select {value} from {from} where {condition} order by 1 limit 1)");
        };
        format!("(select {value} from {from} where {condition})")
    }

    fn array_subquery(&mut self, depth: usize, scope: &Scope) -> String {
        format!("array({} order by 1)", self.select(depth, &[Int], &scope.inside()))
    }

    fn test_of_subquery(&mut self, depth: usize, scope: &Scope) -> String {
        let inside = scope.inside();
        let ty = self.pick(&[Int, Int, Text, Date, Num]);
        if self.chance(40) {
            let not = self.pick(&["", "", "not "]);
            return format!("{not}exists ({})", self.query(depth, None, &inside).text);
        }
        let left = self.expression(ty, depth - 1, scope);
        if self.chance(15) {
            let left2 = self.expression(Int, depth - 1, scope);
            let right = self.query(depth, Some(vec![ty, Int]), &inside).text;
            return format!("(({left}, {left2}) in ({right}))");
        }
        let test = self.pick(&["in", "in", "in", "not in", "= any", "< any", ">= all", "<> all"]);
        format!("({left} {test} ({}))", self.query(depth, Some(vec![ty]), &inside).text)
    }
}
