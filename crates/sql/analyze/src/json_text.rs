//! SQL/JSON as SQL text: the clauses that views and EXPLAIN show alike.
//!
//! PostgreSQL counterpart: the parts of `ruleutils.c` for `JsonConstructorExpr`, `JsonExpr` and `TableFunc`.

use base::Oid;

use crate::json_tree::*;
use crate::names::{quote_identifier, quote_literal};

/// How the parts of a node are written.
pub struct JsonWriter<'w, E> {
    /// An operand.
    pub expr: &'w dyn Fn(&E) -> String,
    /// A path: a constant without its type.
    pub path: &'w dyn Fn(&E) -> String,
    /// A type with its modifier.
    pub type_name: &'w dyn Fn(Oid, i32) -> String,
    /// Whether a type is one of strings.
    pub is_string: &'w dyn Fn(Oid) -> bool,
    /// The node that an operand is, if it is one of SQL/JSON.
    pub node: &'w dyn Fn(&E) -> Option<&Json<E>>,
}

/// Where a text stands: at the start of lines, or all in one.
#[derive(Clone, Copy)]
struct Lines(Option<usize>);

impl Lines {
    /// Begins a line, or goes on.
    fn begin(self, out: &mut String) {
        if let Some(indent) = self.0 {
            out.truncate(out.trim_end_matches(' ').len());
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', indent));
        }
    }

    fn deeper(self) -> Lines {
        Lines(self.0.map(|n| n + 4))
    }
}

/// FORMAT JSON ENCODING, with a blank before it.
pub fn format_clause(format: JsonFormat) -> String {
    let mut out = match format.kind {
        JsonFormatKind::Default => return String::new(),
        JsonFormatKind::Json => " FORMAT JSON".to_owned(),
        JsonFormatKind::Jsonb => " FORMAT JSONB".to_owned(),
    };
    out.push_str(match format.encoding {
        JsonEncoding::Default => "",
        JsonEncoding::Utf8 => " ENCODING UTF8",
        JsonEncoding::Utf16 => " ENCODING UTF16",
        JsonEncoding::Utf32 => " ENCODING UTF32",
    });
    out
}

impl<E> JsonConstructor<E> {
    /// Name of the constructor.
    pub fn name(&self) -> &'static str {
        match self.kind {
            JsonConstructorKind::Object => "JSON_OBJECT",
            JsonConstructorKind::Array => "JSON_ARRAY",
            JsonConstructorKind::ObjectAgg => "JSON_OBJECTAGG",
            JsonConstructorKind::ArrayAgg => "JSON_ARRAYAGG",
            JsonConstructorKind::Parse => "JSON",
            JsonConstructorKind::Scalar => "JSON_SCALAR",
            JsonConstructorKind::Serialize => "JSON_SERIALIZE",
        }
    }

    /// What stands between the arguments.
    pub fn separator(&self, before: usize) -> &'static str {
        let keyed = matches!(self.kind, JsonConstructorKind::Object | JsonConstructorKind::ObjectAgg);
        if keyed && before % 2 == 1 { " : " } else { ", " }
    }

    /// The clauses behind the arguments.
    pub fn options(&self, type_name: &dyn Fn(Oid, i32) -> String) -> String {
        use JsonConstructorKind as Kind;
        let mut out = String::new();
        match (self.kind, self.absent_on_null) {
            (Kind::Object | Kind::ObjectAgg, true) => out.push_str(" ABSENT ON NULL"),
            (Kind::Array | Kind::ArrayAgg, false) => out.push_str(" NULL ON NULL"),
            _ => {}
        }
        if self.unique {
            out.push_str(" WITH UNIQUE KEYS");
        }
        if !matches!(self.kind, Kind::Parse | Kind::Scalar) {
            out.push_str(&returning(&self.returning, true, type_name));
        }
        out
    }
}

fn returning(r: &JsonReturning, json_by_default: bool, type_name: &dyn Fn(Oid, i32) -> String) -> String {
    if !r.type_oid.is_valid() {
        return String::new();
    }
    let mut out = format!(" RETURNING {}", type_name(r.type_oid, r.typmod));
    let implied = if r.type_oid == types::oids::jsonb { JsonFormatKind::Jsonb } else { JsonFormatKind::Json };
    if !json_by_default || r.format.kind != implied {
        out.push_str(&format_clause(r.format));
    }
    out
}

impl<E> JsonWriter<'_, E> {
    /// The text of a constructor that is no aggregate.
    pub fn constructor(&self, c: &JsonConstructor<E>) -> String {
        let mut out = format!("{}(", c.name());
        for (i, arg) in c.args.iter().enumerate() {
            if i > 0 {
                out.push_str(c.separator(i));
            }
            out.push_str(&(self.expr)(arg));
        }
        out.push_str(&c.options(self.type_name));
        out.push(')');
        out
    }

    /// The text behind the operand of IS JSON.
    pub fn is_clause(&self, i: &IsJson<E>) -> String {
        let item = match i.item {
            JsonItemKind::Any => "",
            JsonItemKind::Object => " OBJECT",
            JsonItemKind::Array => " ARRAY",
            JsonItemKind::Scalar => " SCALAR",
        };
        format!(" IS JSON{item}{}", if i.unique { " WITH UNIQUE KEYS" } else { "" })
    }

    /// The text of JSON_EXISTS, JSON_QUERY and JSON_VALUE.
    pub fn path(&self, p: &JsonPath<E>) -> String {
        let name = match p.op {
            JsonPathOp::Exists => "JSON_EXISTS",
            JsonPathOp::Query => "JSON_QUERY",
            JsonPathOp::Value | JsonPathOp::Table => "JSON_VALUE",
        };
        let mut out = format!("{name}({}, {}", (self.expr)(&p.context), (self.path)(&p.path));
        for (i, a) in p.passing.iter().enumerate() {
            out.push_str(if i == 0 { " PASSING " } else { ", " });
            out.push_str(&format!("{} AS {}", (self.expr)(&a.value), quote_identifier(&a.name)));
        }
        if p.op != JsonPathOp::Exists || p.returning.type_oid != types::oids::bool {
            out.push_str(&returning(&p.returning, p.op == JsonPathOp::Query, self.type_name));
        }
        self.path_options(p, &mut out);
        out.push(')');
        out
    }

    fn path_options(&self, p: &JsonPath<E>, out: &mut String) {
        let implied = match p.op {
            JsonPathOp::Exists => JsonBehaviorKind::False,
            _ => JsonBehaviorKind::Null,
        };
        if p.op == JsonPathOp::Query {
            out.push_str(match p.wrapper {
                JsonWrapper::Conditional => " WITH CONDITIONAL WRAPPER",
                JsonWrapper::Unconditional => " WITH UNCONDITIONAL WRAPPER",
                JsonWrapper::Without | JsonWrapper::Unspecified => " WITHOUT WRAPPER",
            });
            out.push_str(if p.omit_quotes { " OMIT QUOTES" } else { " KEEP QUOTES" });
        }
        for (behavior, event) in [(p.on_empty.as_ref(), "EMPTY"), (Some(&p.on_error), "ERROR")] {
            if let Some(b) = behavior.filter(|b| b.kind != implied) {
                out.push_str(&format!(" {}", behavior_words(b.kind)));
                if b.kind == JsonBehaviorKind::Default
                    && let Some(value) = &b.value
                {
                    out.push_str(&format!(" {}", (self.expr)(value)));
                }
                out.push_str(&format!(" ON {event}"));
            }
        }
    }

    /// The text of JSON_TABLE; `indent`: of the lines that it is spread over, none for one line.
    pub fn table(&self, t: &JsonTable<E>, indent: Option<usize>) -> String {
        let lines = Lines(indent);
        let inner = lines.deeper();
        let mut out = "JSON_TABLE(".to_owned();
        inner.begin(&mut out);
        out.push_str(&format!(
            "{}, {} AS {}",
            (self.expr)(&t.context),
            quote_literal(&t.root.path),
            quote_identifier(&t.root.name)
        ));
        if !t.passing.is_empty() {
            out.push(' ');
            inner.begin(&mut out);
            out.push_str("PASSING ");
            for (i, a) in t.passing.iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                inner.deeper().begin(&mut out);
                out.push_str(&format!("{} AS {}", (self.expr)(&a.value), quote_identifier(&a.name)));
            }
        }
        self.columns(&t.root, inner, &mut out);
        if t.on_error != JsonBehaviorKind::EmptyArray {
            out.push_str(&format!(" {} ON ERROR", behavior_words(t.on_error)));
        }
        lines.begin(&mut out);
        out.push(')');
        out
    }

    fn columns(&self, path: &JsonTablePath<E>, lines: Lines, out: &mut String) {
        out.push(' ');
        lines.begin(out);
        out.push_str("COLUMNS (");
        let inner = lines.deeper();
        for (i, c) in path.columns.iter().enumerate() {
            if i > 0 {
                out.push_str(", ");
            }
            inner.begin(out);
            out.push_str(&format!("{} ", quote_identifier(&c.name)));
            match c.value.as_ref().and_then(|v| (self.node)(v)) {
                Some(Json::Path(p)) => self.column(c, p, out),
                _ => out.push_str("FOR ORDINALITY"),
            }
        }
        for (i, n) in path.nested.iter().enumerate() {
            if i > 0 || !path.columns.is_empty() {
                out.push(',');
            }
            out.push(' ');
            inner.begin(out);
            out.push_str(&format!("NESTED PATH {} AS {}", quote_literal(&n.path), quote_identifier(&n.name)));
            self.columns(n, inner, out);
        }
        lines.begin(out);
        out.push(')');
    }

    fn column(&self, c: &JsonTableColumn<E>, p: &JsonPath<E>, out: &mut String) {
        out.push_str(&(self.type_name)(c.type_oid, c.typmod));
        if p.op == JsonPathOp::Exists {
            out.push_str(" EXISTS");
        } else if p.op == JsonPathOp::Query && (self.is_string)(c.type_oid) {
            let jsonb = p.format.kind == JsonFormatKind::Jsonb;
            out.push_str(if jsonb { " FORMAT JSONB" } else { " FORMAT JSON" });
        }
        out.push_str(&format!(" PATH {}", (self.path)(&p.path)));
        self.path_options(p, out);
    }
}

/// A behavior in words.
pub fn behavior_words(kind: JsonBehaviorKind) -> &'static str {
    match kind {
        JsonBehaviorKind::Null => "NULL",
        JsonBehaviorKind::Error => "ERROR",
        JsonBehaviorKind::Empty => "EMPTY",
        JsonBehaviorKind::True => "TRUE",
        JsonBehaviorKind::False => "FALSE",
        JsonBehaviorKind::Unknown => "UNKNOWN",
        JsonBehaviorKind::EmptyArray => "EMPTY ARRAY",
        JsonBehaviorKind::EmptyObject => "EMPTY OBJECT",
        JsonBehaviorKind::Default => "DEFAULT",
    }
}
