//! Expressions of a plan as EXPLAIN shows them: in SQL, over the relations that they name.

use std::fmt::Write as _;

use analyze::json_text::{JsonWriter, format_clause};
use analyze::xml_text::XmlWriter;
use analyze::{Json, JsonConstructor, Xml, XmlOp};
use base::Oid;
use tuple::Datum;

use super::Explain;
use crate::expr::*;

impl<'a> Explain<'a> {
    /// Expressions, separated by commas.
    pub(super) fn list(&self, list: &[Expr], qualify: bool) -> String {
        self.texts(list, qualify).join(", ")
    }

    /// Each expression as text.
    pub(super) fn texts(&self, list: &[Expr], qualify: bool) -> Vec<String> {
        list.iter().map(|e| self.expr(e, qualify)).collect()
    }

    /// A conjunction in parentheses.
    pub(super) fn condition(&self, quals: &[Expr], qualify: bool) -> String {
        let parts = self.texts(quals, qualify);
        match parts.as_slice() {
            [one] => one.clone(),
            many => format!("({})", many.join(" AND ")),
        }
    }

    /// Sort keys with their directions.
    pub(super) fn sort_keys(&self, keys: &[SortKey], qualify: bool) -> Vec<String> {
        let part = |k: &SortKey| {
            let mut text = match &k.expr {
                Expr::Ordered { arg, operators, .. } => {
                    let mut text = self.expr(arg, qualify);
                    text.push_str(" USING ");
                    text.push_str(&operators[usize::from(k.descending)]);
                    if k.nulls_first != k.descending {
                        text.push_str(if k.nulls_first { " NULLS FIRST" } else { " NULLS LAST" });
                    }
                    return text;
                }
                Expr::Relabel { arg, type_oid, collation: Some(collation), .. } if collation.is_valid() => {
                    let sorted = if arg.type_oid() == *type_oid { arg } else { &k.expr };
                    format!("{} COLLATE {}", self.expr(sorted, qualify), self.display.collation(*collation))
                }
                other => self.expr(other, qualify),
            };
            if k.descending {
                text.push_str(" DESC");
                if !k.nulls_first {
                    text.push_str(" NULLS LAST");
                }
            } else if k.nulls_first {
                text.push_str(" NULLS FIRST");
            }
            text
        };
        keys.iter().map(part).collect()
    }

    fn type_name(&self, type_oid: Oid, typmod: i32) -> String {
        if type_oid == types::oids::bpchar && typmod < 0 {
            // Of any length: `character` would mean one of length 1.
            return "bpchar".into();
        }
        let typmod = (typmod >= 0).then_some(typmod);
        self.display.type_name(type_oid, typmod)
    }

    /// An expression as PostgreSQL deparses it; expressions that a child node has computed are put in parentheses.
    pub(super) fn expr(&self, expr: &Expr, qualify: bool) -> String {
        if let Expr::Placeholder(placeholder) = expr
            && matches!(placeholder.arg, Expr::Var(_))
        {
            return self.plain(&placeholder.arg, qualify);
        }
        let simple =
            matches!(expr, Expr::Var(_) | Expr::Const { .. } | Expr::Param { .. } | Expr::ExecParam { .. });
        if !simple && self.carried.iter().any(|outputs| outputs.contains(expr)) {
            let computed = Explain { carried: Vec::new(), ..self.shallow() };
            return format!("({})", computed.plain(expr, qualify));
        }
        self.plain(expr, qualify)
    }

    fn plain(&self, expr: &Expr, qualify: bool) -> String {
        match expr {
            Expr::Const { value, type_oid, typmod } => self.constant(value, *type_oid, *typmod),
            Expr::Param { number, .. } => format!("${}", number + 1),
            Expr::ExecParam { source: Some(source), .. } => self.expr(source, true),
            Expr::ExecParam { id, .. } => match self.links.iter().rev().find(|(cell, _)| cell == id) {
                Some((_, column)) => column.clone(),
                None => format!("${id}"),
            },
            Expr::Var(var) => self.var(var, qualify),
            Expr::Placeholder(placeholder) => self.expr(&placeholder.arg, qualify),
            Expr::CurrentOf { variable: Some(variable), .. } => {
                format!("CURRENT OF {}", self.expr(variable, qualify))
            }
            Expr::CurrentOf { cursor, .. } => format!("CURRENT OF {}", quote(cursor)),
            Expr::Call(call) if expr.is_current_of() => self.expr(&call.args[1], qualify),
            Expr::Call(call) => self.call(call, qualify),
            Expr::ArrayOp(op) => format!(
                "({} {} {} ({}))",
                self.expr(&op.left, qualify),
                op.operator.name,
                if op.any { "ANY" } else { "ALL" },
                self.expr(&op.array, qualify)
            ),
            Expr::And(list) => format!("({})", self.joined(list, " AND ", qualify)),
            Expr::Or(list) => format!("({})", self.joined(list, " OR ", qualify)),
            Expr::Not(arg) => format!("(NOT {})", self.expr(arg, qualify)),
            Expr::Test(test, arg) => {
                let word = match test {
                    Test::IsNull => "IS NULL",
                    Test::IsNotNull => "IS NOT NULL",
                    Test::IsTrue => "IS TRUE",
                    Test::IsNotTrue => "IS NOT TRUE",
                    Test::IsFalse => "IS FALSE",
                    Test::IsNotFalse => "IS NOT FALSE",
                    Test::IsUnknown => "IS UNKNOWN",
                    Test::IsNotUnknown => "IS NOT UNKNOWN",
                };
                format!("({} {word})", self.expr(arg, qualify))
            }
            Expr::Distinct { equality, negated } => format!(
                "({} IS {}DISTINCT FROM {})",
                self.expr(&equality.args[0], qualify),
                if *negated { "NOT " } else { "" },
                self.expr(&equality.args[1], qualify)
            ),
            Expr::NullIf(call) => format!("NULLIF({})", self.list(&call.args, qualify)),
            Expr::Case { operand, arms, otherwise, .. } => {
                let mut out = "CASE".to_string();
                if let Some((_, operand)) = operand {
                    let _ = write!(out, " {}", self.expr(operand, qualify));
                }
                for (when, then) in arms {
                    let _ =
                        write!(out, " WHEN {} THEN {}", self.expr(when, qualify), self.expr(then, qualify));
                }
                if let Some(otherwise) = otherwise {
                    let _ = write!(out, " ELSE {}", self.expr(otherwise, qualify));
                }
                out + " END"
            }
            Expr::Coalesce(list, _) => format!("COALESCE({})", self.list(list, qualify)),
            Expr::Extreme(greatest, list, ..) => {
                format!("{}({})", if *greatest { "GREATEST" } else { "LEAST" }, self.list(list, qualify))
            }
            // Another collation of the same type.
            Expr::Relabel { arg, type_oid, explicit: false, .. } if arg.type_oid() == *type_oid => {
                self.expr(arg, qualify)
            }
            Expr::Relabel { arg, type_oid, typmod, explicit, .. } => {
                self.cast(arg, *type_oid, *typmod, *explicit, qualify)
            }
            Expr::Ordered { arg, .. } => self.expr(arg, qualify),
            Expr::IoCast { arg, type_oid, explicit } => self.cast(arg, *type_oid, -1, *explicit, qualify),
            Expr::ArrayCast { arg, type_oid, .. } => self.cast(arg, *type_oid, -1, true, qualify),
            Expr::Array { elements, .. } => format!("ARRAY[{}]", self.list(elements, qualify)),
            Expr::Subscript { array, upper, lower, .. } => {
                let mut out = self.expr(array, qualify);
                for (i, upper) in upper.iter().enumerate() {
                    let text =
                        |e: &Option<Expr>| e.as_ref().map(|e| self.expr(e, qualify)).unwrap_or_default();
                    match lower.get(i) {
                        Some(lower) => {
                            let _ = write!(out, "[{}:{}]", text(lower), text(upper));
                        }
                        None => {
                            let _ = write!(out, "[{}]", text(upper));
                        }
                    }
                }
                out
            }
            Expr::Row { fields, .. } => format!("ROW({})", self.list(fields, qualify)),
            Expr::FieldStore { arg, .. } | Expr::ToDomain { arg, .. } => self.expr(arg, qualify),
            Expr::RowNullTest { arg, not, .. } => {
                format!("({} IS {}NULL)", self.expr(arg, qualify), if *not { "NOT " } else { "" })
            }
            Expr::Field { arg, field, .. } => format!("({}).f{}", self.expr(arg, qualify), field + 1),
            Expr::SqlValue(kind, ..) => sql_value_name(*kind).into(),
            Expr::Aggregate(call) => self.aggregate(call, (call.function.name(), ", ", ""), qualify),
            Expr::Window(call) => self.window_call(call, (call.function.name(), ", ", ""), qualify),
            Expr::SubPlan(sub) => self.subplan_ref(sub, qualify),
            Expr::Json(json) => self.json(&json.node, qualify),
            Expr::Xml(xml) => self.xml(&xml.node, qualify),
            Expr::Grouping(_) => "GROUPING(...)".into(),
        }
    }

    fn xml(&self, node: &Xml<Expr>, qualify: bool) -> String {
        let writer = XmlWriter {
            expr: &|e| self.expr(e, qualify),
            type_name: &|oid, typmod| self.type_name(oid, typmod),
            is_null: &|e| matches!(e, Expr::Const { value: Datum::Null, .. }),
        };
        match node {
            Xml::Call(c) if c.op == XmlOp::IsDocument => {
                format!("({} IS DOCUMENT)", c.args.iter().map(writer.expr).collect::<String>())
            }
            Xml::Call(c) => writer.call(c),
            Xml::Table(t) => writer.table(t),
        }
    }

    fn json(&self, node: &Json<Expr>, qualify: bool) -> String {
        let text = |e: &Expr| self.expr(e, qualify);
        let writer = JsonWriter {
            expr: &text,
            path: &|e| match e {
                Expr::Const { value: Datum::Bytes(path), .. } => {
                    format!("'{}'", String::from_utf8_lossy(path).replace('\'', "''"))
                }
                other => text(other),
            },
            type_name: &|oid, typmod| self.type_name(oid, typmod),
            is_string: &|oid| types::builtin_type(oid).is_some_and(|t| t.category == b'S'),
            node: &|e| match e {
                Expr::Json(json) => Some(&json.node),
                _ => None,
            },
        };
        match node {
            Json::Value(v) => format!("{}{}", text(&v.raw), format_clause(v.format)),
            Json::Constructor(c @ JsonConstructor { call: Some(call), .. }) => {
                let options = c.options(writer.type_name);
                let parts = (c.name(), c.separator(1), options.as_str());
                match call {
                    Expr::Aggregate(call) => self.aggregate(call, parts, qualify),
                    Expr::Window(call) => self.window_call(call, parts, qualify),
                    other => text(other),
                }
            }
            Json::Constructor(c) => writer.constructor(c),
            Json::Is(i) => format!("({}{})", text(&i.arg), writer.is_clause(i)),
            Json::Path(p) => writer.path(p),
            Json::Table(t) => writer.table(t, None),
        }
    }

    fn subplan_ref(&self, sub: &SubPlanRef, qualify: bool) -> String {
        let name = &self.statement.subplans[sub.plan].name;
        match &sub.kind {
            SubPlanKind::Quantified { any, single, test, columns, hash } => {
                let hashed = if hash.is_some() { "hashed " } else { "" };
                let column = |(i, cell): (usize, &ParamId)| (*cell, format!("({hashed}{name}).col{}", i + 1));
                let links =
                    self.links.iter().cloned().chain(columns.iter().enumerate().map(column)).collect();
                let within = Explain { links, carried: self.carried.clone(), ..self.shallow() };
                let test = within.expr(test, qualify);
                match single {
                    true => test,
                    false => format!("({} {test})", if *any { "ANY" } else { "ALL" }),
                }
            }
            _ if sub.args.is_empty() => format!("({name}).col1"),
            SubPlanKind::Exists => format!("EXISTS({name})"),
            SubPlanKind::Array { .. } => format!("ARRAY({name})"),
            SubPlanKind::Scalar | SubPlanKind::Multi { .. } => format!("({name})"),
        }
    }

    fn joined(&self, list: &[Expr], word: &str, qualify: bool) -> String {
        list.iter().map(|e| self.expr(e, qualify)).collect::<Vec<_>>().join(word)
    }

    fn cast(&self, arg: &Expr, type_oid: Oid, typmod: i32, explicit: bool, qualify: bool) -> String {
        let inner = self.expr(arg, qualify);
        // A relabelled text column is shown with a cast even where the query has none, as in PostgreSQL.
        if !explicit && !matches!(type_oid, Oid(25)) {
            return inner;
        }
        format!("({inner})::{}", self.type_name(type_oid, typmod))
    }

    /// A window function's call by its name, what separates its arguments, and what stands behind them.
    fn window_call(
        &self,
        call: &WindowCall,
        (name, separator, options): (&str, &str, &str),
        qualify: bool,
    ) -> String {
        let args = if call.star { "*".into() } else { self.joined(&call.args, separator, qualify) };
        let mut out = format!("{name}({args}{options})");
        if let Some(filter) = &call.filter {
            let _ = write!(out, " FILTER (WHERE {})", self.expr(filter, qualify));
        }
        let window = self.windows.iter().find(|(number, _)| *number == call.window);
        let _ = write!(out, " OVER {}", window.map_or("?".into(), |(_, name)| quote(name)));
        out
    }

    /// An aggregate by its name, what separates its arguments, and what stands behind them.
    fn aggregate(
        &self,
        call: &AggCall,
        (name, separator, options): (&str, &str, &str),
        qualify: bool,
    ) -> String {
        let mut args = if call.star { "*".into() } else { self.joined(&call.args, separator, qualify) };
        if call.distinct {
            args = format!("DISTINCT {args}");
        }
        let keys = self.sort_keys(&call.order, qualify).join(", ");
        if !call.order.is_empty() && !call.within_group {
            args = format!("{args} ORDER BY {keys}");
        }
        let mut out = match call.within_group {
            true => {
                let direct = self.list(&call.direct, qualify);
                format!("{name}({direct}) WITHIN GROUP (ORDER BY {keys})")
            }
            false => format!("{}{name}({args}{options})", if self.partial { "PARTIAL " } else { "" }),
        };
        if let Some(filter) = &call.filter {
            let _ = write!(out, " FILTER (WHERE {})", self.expr(filter, qualify));
        }
        out
    }

    fn call(&self, call: &Call, qualify: bool) -> String {
        match (&call.form, call.args.as_slice()) {
            (CallForm::Operator(op), [arg]) => format!("({} {})", op.name, self.expr(arg, qualify)),
            (CallForm::Operator(op), [left, right]) => {
                format!("({} {} {})", self.expr(left, qualify), op.name, self.expr(right, qualify))
            }
            (CallForm::ExplicitCast, [arg, ..]) => self.cast(arg, call.type_oid, call.typmod, true, qualify),
            (CallForm::ImplicitCast, [arg, ..]) => self.expr(arg, qualify),
            _ => format!("{}({})", call.function.name(), self.list(&call.args, qualify)),
        }
    }

    fn var(&self, var: &Var, qualify: bool) -> String {
        if let Some(given) = self.computed.get(&(var.rel, var.column)) {
            let below = Explain { carried: Vec::new(), ..self.shallow() };
            let text = below.expr(given, qualify);
            let simple = matches!(given, Expr::Var(_) | Expr::Placeholder(_));
            return if simple { text } else { format!("({text})") };
        }
        let relation = &self.statement.relations[var.rel];
        let name = match var.column {
            0 => "*".to_string(),
            -1 => "ctid".into(),
            -2 => "xmin".into(),
            -3 => "cmin".into(),
            -4 => "xmax".into(),
            -5 => "cmax".into(),
            -6 => "tableoid".into(),
            n => relation.columns.get(n as usize - 1).map_or_else(|| "?".into(), |c| quote(&c.name)),
        };
        let whole = var.column == 0;
        if qualify || whole { format!("{}.{name}", quote(&relation.alias)) } else { name }
    }

    fn constant(&self, value: &Datum, type_oid: Oid, typmod: i32) -> String {
        let plain = matches!(type_oid.0, 16 | 23);
        let with_type = |text: String| format!("{text}::{}", self.type_name(type_oid, typmod));
        match value {
            Datum::Null => with_type("NULL".into()),
            Datum::Bool(v) => if *v { "true" } else { "false" }.into(),
            _ => {
                let mut text = Vec::new();
                if self.display.value(type_oid, value, &mut text).is_err() {
                    return "?".into();
                }
                let text = String::from_utf8_lossy(&text).into_owned();
                if plain && !text.starts_with('-') {
                    return text;
                }
                if matches!(type_oid.0, 1700) && !text.starts_with('-') && text.contains('.') {
                    return text;
                }
                let quoted = format!("'{}'", text.replace('\'', "''"));
                if type_oid == types::oids::unknown { quoted } else { with_type(quoted) }
            }
        }
    }
}

fn sql_value_name(kind: SqlValueKind) -> &'static str {
    match kind {
        SqlValueKind::CurrentDate => "CURRENT_DATE",
        SqlValueKind::CurrentTime => "CURRENT_TIME",
        SqlValueKind::CurrentTimestamp => "CURRENT_TIMESTAMP",
        SqlValueKind::LocalTime => "LOCALTIME",
        SqlValueKind::LocalTimestamp => "LOCALTIMESTAMP",
        SqlValueKind::CurrentRole => "CURRENT_ROLE",
        SqlValueKind::CurrentUser => "CURRENT_USER",
        SqlValueKind::User => "USER",
        SqlValueKind::SessionUser => "SESSION_USER",
        SqlValueKind::CurrentCatalog => "CURRENT_CATALOG",
        SqlValueKind::CurrentSchema => "CURRENT_SCHEMA",
    }
}

/// An identifier, quoted where it must be.
pub fn quote(name: &str) -> String {
    analyze::names::quote_identifier(name)
}

pub(super) fn quoted_always(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
