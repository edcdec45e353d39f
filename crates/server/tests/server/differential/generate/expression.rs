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
    // NULLs in lists, arrays and rows.
    (Bool, "({} in ({}, {}, null))", &[Int, Int, Int]),
    (Bool, "({} not in ({}, null))", &[Text, Text]),
    (Bool, "({} = any (array[{}, null, {}]))", &[Int, Int, Int]),
    (Bool, "({} <> all (array[{}, null]))", &[Text, Text]),
    (Bool, "({} > some (array[{}, {}]::date[]))", &[Date, Date, Date]),
    (Bool, "({} = any (null::int[]))", &[Int]),
    (Bool, "(({}, {}) in (({}, {}), (null, {})))", &[Int, Text, Int, Text, Text]),
    (Bool, "(({}, {}) not in ((1, null), ({}, {})))", &[Int, Int, Int, Int]),
    (Bool, "(({}, {}, {}) >= ({}, null, {}))", &[Int, Int, Text, Int, Text]),
    (Bool, "(row({}, {}) = row({}, null))", &[Int, Int, Int]),
    (Bool, "(row({}, {}) is not null)", &[Int, Date]),
    (Bool, "(not (row({}, {}) is not distinct from row(null, {})))", &[Int, Text, Text]),
    (Bool, "(({} = {}) is not true)", &[Text, Text]),
    (Bool, "(({} < {}) is unknown)", &[Num, Num]),
    (Bool, "(({} is null) = ({} is null))", &[Json, Ints]),
    (Int, "num_nonnulls({}, {}, null)", &[Date, Int]),
    (Int, "coalesce(null, {}, {})", &[Int, Int]),
    (Int, "case {} when null then 1 when {} then 2 else 3 end", &[Text, Text]),
    // Casts.
    (Int, "{}::int", &[Num]),
    (Int, "{}::int", &[Float]),
    (Int, "({} % 30000)::smallint", &[Int]),
    (Int, "{}::bit(8)::int", &[Int]),
    (Big, "{}::bigint", &[Num]),
    (Big, "({} % 1000000)::int::bigint", &[Big]),
    (Num, "{}::numeric", &[Float]),
    (Num, "{}::numeric(12,2)", &[Num]),
    (Num, "({}->'k')::numeric", &[Json]),
    (Num, "{}::text::numeric", &[Num]),
    (Float, "trunc({})::float8", &[Num]),
    (Float, "{}::float4::float8", &[Int]),
    (Text, "{}::varchar(4)::text", &[Text]),
    (Text, "{}::char(5)::text", &[Text]),
    (Text, "{}::name::text", &[Text]),
    (Text, "{}::bigint::text", &[Int]),
    (Text, "{}::text", &[Stamp]),
    (Text, "{}::text", &[Time]),
    (Text, "justify_interval({})::text", &[Interval]),
    (Text, "{}::text", &[Uuid]),
    (Text, "{}::text", &[Json]),
    (Text, "{}::bit(6)::text", &[Int]),
    (Text, "({}, {})::text", &[Text, Int]),
    (Text, "row({}, {}, {})::text", &[Ints, Date, Text]),
    (Text, "array[{}, {}]::text", &[Text, Text]),
    (Text, "convert_to({}, 'UTF8')::text", &[Text]),
    (Bool, "({} % 2)::boolean", &[Int]),
    (Bool, "{}::text::boolean", &[Bool]),
    (Date, "{}::text::date", &[Date]),
    (Date, "{}::date", &[Zoned]),
    (Stamp, "{}::timestamp", &[Zoned]),
    (Stamp, "{}::timestamp(0)", &[Stamp]),
    (Zoned, "{}::timestamptz", &[Date]),
    (Zoned, "{}::timestamptz", &[Stamp]),
    (Time, "{}::time", &[Interval]),
    (Time, "{}::timetz::time", &[Zoned]),
    (Interval, "{}::interval", &[Time]),
    (Interval, "{}::text::interval", &[Interval]),
    (Ints, "array[{}, {}]::text[]::int[]", &[Int, Int]),
    (Ints, "array[{}]::numeric[]::int[]", &[Num]),
    (Json, "{}::text::jsonb", &[Json]),
    (Json, "to_jsonb({})", &[Num]),
    (Json, "to_jsonb({})", &[Stamp]),
    (Json, "to_jsonb(row({}, {}))", &[Int, Text]),
    // Text, in more than one byte a letter.
    (Int, "char_length({} || 'ß')", &[Text]),
    (Int, "bit_length({})", &[Text]),
    (Int, "octet_length(left({} || '日本語', 4))", &[Text]),
    (Int, "regexp_count({}, '[a-fé]')", &[Text]),
    (Int, "regexp_instr({}, '[0-9]', 1, 2)", &[Text]),
    (Text, "chr(ascii({} || 'x'))", &[Text]),
    (Text, "encode(convert_to({}, 'UTF8'), 'hex')", &[Text]),
    (Text, "encode({}::bytea, 'base64')", &[Text]),
    (Text, "to_hex({})", &[Int]),
    (Text, "split_part({}, 'e', -1)", &[Text]),
    (Text, "regexp_substr({}, '[^0-9]+')", &[Text]),
    (Text, "(regexp_match({}, '(.)(.)'))[2]", &[Text]),
    (Text, "regexp_replace({}, '(.)(é|e)', '<\\2\\1>', 'i')", &[Text]),
    (Text, "rpad({}, 6, 'ü')", &[Text]),
    (Text, "lpad({}, {} % 9, 'né')", &[Text, Int]),
    (Text, "overlay({} placing 'ö' from 1 for 2)", &[Text]),
    (Text, "translate({}, 'éß日', 'es')", &[Text]),
    (Text, "trim(both 'é ' from {})", &[Text]),
    (Text, "format('%-6s|%5s|%I', {}, {}, 'é')", &[Text, Int]),
    (Text, "string_to_array({}, null)::text", &[Text]),
    (Text, "array_to_string(string_to_array({}, 'e'), '/', '~')", &[Text]),
    (Text, "quote_nullable({})", &[Text]),
    (Text, "to_char({}, '999G999D9S')", &[Num]),
    (Text, "to_char({}, 'HH12:MI:SS am Q WW J')", &[Stamp]),
    (Text, "to_char({}, 'DD HH24:MI')", &[Interval]),
    (Text, "substring({}, -1, 4)", &[Text]),
    (Text, "right({}, {} % 5)", &[Text, Int]),
    (Text, "greatest({}, 'é', {})", &[Text, Text]),
    (Bool, "({} like '_é%')", &[Text]),
    (Bool, "({} ~* 'É|[[:digit:]]{{2}}')", &[Text]),
    (Bool, "({} like any (array['%a%', null, {}]))", &[Text, Text]),
    (Bool, "({} < {} collate \"C\")", &[Text, Text]),
    // Dates, times and intervals.
    (Int, "extract(doy from {})::int", &[Date]),
    (Int, "extract(week from {})::int", &[Stamp]),
    (Int, "extract(quarter from {})::int", &[Zoned]),
    (Int, "date_part('minute', {})::int", &[Time]),
    (Num, "extract(second from {})", &[Stamp]),
    (Num, "extract(julian from {})", &[Stamp]),
    (Bool, "({} + interval '1 month' > {})", &[Stamp, Stamp]),
    (Bool, "({} between {} and {})", &[Interval, Interval, Interval]),
    (Bool, "({} < {}::date)", &[Stamp, Zoned]),
    (Date, "({} + interval '1 month -1 day')::date", &[Date]),
    (Date, "to_date(to_char({}, 'YYYYMMDD'), 'YYYYMMDD')", &[Date]),
    (Date, "date_trunc('quarter', {})::date", &[Date]),
    (Stamp, "to_timestamp(extract(epoch from {}))::timestamp", &[Stamp]),
    (Stamp, "({} - interval '1 year 2 months 3 days 04:05:06')", &[Stamp]),
    (Stamp, "greatest({}, {}, null)", &[Stamp, Stamp]),
    (Zoned, "date_add({}, {}, 'Europe/Berlin')", &[Zoned, Interval]),
    (Zoned, "({} - {})", &[Zoned, Interval]),
    (Interval, "age({}, {})", &[Zoned, Zoned]),
    (Interval, "(- {})", &[Interval]),
    (Interval, "justify_days({} * 1.5)", &[Interval]),
    (Interval, "date_trunc('hour', {})", &[Interval]),
    (Time, "date_trunc('minute', {}::interval)::time", &[Time]),
    // Arrays.
    (Int, "array_ndims(array[{}, {}])", &[Ints, Ints]),
    (Int, "(array[{}, {}])[2]", &[Int, Int]),
    (Int, "array_position({}, {}, 2)", &[Ints, Int]),
    (Int, "width_bucket({}, array[0, 10, 20])", &[Int]),
    (Bool, "({} < {})", &[Ints, Ints]),
    (Bool, "({} is not distinct from {} || {})", &[Ints, Ints, Int]),
    (Ints, "trim_array({}, least(1, cardinality({})))", &[Ints, Ints]),
    (Ints, "array_fill({}, array[2])", &[Int]),
    (Ints, "({})[{} % 4 :]", &[Ints, Int]),
    (Ints, "array_sort({})", &[Ints]),
    (Ints, "array_reverse({})", &[Ints]),
    (Ints, "array_cat({}, array[null, {}]::int[])", &[Ints, Int]),
    (Text, "array_dims({} || {})", &[Ints, Ints]),
    // jsonb.
    (Int, "({}->'q'->>0)::int", &[Json]),
    (Int, "({}['k'])::int", &[Json]),
    (Int, "(jsonb_path_query_array({}, '$.q[*] ? (@ > 1)')->>0)::int", &[Json]),
    (Text, "({}->'w')::text", &[Json]),
    (Text, "jsonb_pretty({})", &[Json]),
    (Text, "({} #- '{{q,0}}')::text", &[Json]),
    (Bool, "({} <@ {})", &[Json, Json]),
    (Bool, "({} ?| array['w', {}])", &[Json, Text]),
    (Bool, "({} ?& array['k', 'q'])", &[Json]),
    (Bool, "({} @? '$.q[*] ? (@ == 2)')", &[Json]),
    (Bool, "({} @@ '$.k > 2')", &[Json]),
    (Bool, "({} < {})", &[Json, Json]),
    (Json, "jsonb_insert({}, '{{q,1}}', to_jsonb({}))", &[Json, Text]),
    (Json, "jsonb_object(array['a', 'b'], array[{}, {}])", &[Text, Text]),
    (Json, "({} - array['k', 'w'])", &[Json]),
    (Json, "({} #> '{{q}}')", &[Json]),
    (Json, "jsonb_extract_path({}, 'q', '0')", &[Json]),
    (Json, "jsonb_set_lax({}, '{{w}}', to_jsonb({}), true, 'delete_key')", &[Json, Int]),
    // Ranges.
    (Bool, "(int4range(least({0}, {1}), greatest({0}, {1})) @> {2})", &[Int, Int, Int]),
    (Bool, "(daterange(null, {}) && daterange({}, null))", &[Date, Date]),
    (Int, "upper(int4range(1, 2 + abs({}), '[]'))", &[Int]),
    (Text, "int4range({}, null, '()')::text", &[Int]),
    (Text, "numrange(null, {}, '[]')::text", &[Num]),
    (Text, "(int4multirange(int4range(1, 5)) - int4multirange(int4range(2, 2 + abs({}))))::text", &[Int]),
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
        if text.contains("{0}") {
            return types.iter().enumerate().fold(text.to_string(), |text, (at, ty)| {
                text.replace(&format!("{{{at}}}"), &self.leaf(*ty, scope))
            });
        }
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
            Text => format!(
                "'{}'::text",
                self.pick(&["", "a", "red", "e", "8f", "O''K", "x y", "é", "Straße", "日本"])
            ),
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
