//! `connectby`: what hangs below a row of a table whose rows name the one that they hang on.

use base::{SqlResult, sql_err};
use session::Session;
use session::module::rows;
use session::routine::{Invocation, Returned};
use tuple::Datum;
use types::oids;
use types::value::FromDatum;

use super::query::{Column, Query, mismatch, returned, value, wrong_return};

const NAME: &str = "connectby";

struct Search<'a> {
    session: &'a Session,
    call: &'a Invocation<'a>,
    columns: Vec<Column>,
    table: &'a str,
    key: &'a str,
    parent: &'a str,
    /// The column by which siblings are ordered; then rows get numbers.
    order: Option<&'a str>,
    /// The deepest level; 0: no limit.
    deepest: i32,
    /// What stands between the keys of a branch; none if branches are not shown.
    delimiter: Option<&'a str>,
    out: Vec<Vec<Datum>>,
}

/// One search: without (`ordered` is false) or with a column by which siblings are ordered.
pub(super) fn search(session: &Session, call: &Invocation<'_>, ordered: bool) -> SqlResult<Returned> {
    let text = |at: usize| <&str>::from_datum(&call.args[at]);
    let behind = 3 + usize::from(ordered);
    let delimiter = call.args.get(behind + 2).map(<&str>::from_datum);
    let mut search = Search {
        session,
        call,
        columns: returned(session, call)?,
        table: text(0),
        key: text(1),
        parent: text(2),
        order: ordered.then(|| text(3)),
        deepest: i32::from_datum(&call.args[behind + 1]),
        delimiter,
        out: Vec::new(),
    };
    search.check_columns()?;
    let start = text(behind);
    search.add(start, None, 0, start)?;
    search.below(start, 1, start)?;
    rows(session, call, search.out)
}

impl Search<'_> {
    fn check_columns(&self) -> SqlResult<()> {
        let wanted = 3 + usize::from(self.delimiter.is_some()) + usize::from(self.order.is_some());
        let wrong = |detail: String| Err(wrong_return(NAME, detail));
        if self.columns.len() != wanted {
            return wrong(format!("Return row must have {wanted} columns, not {}.", self.columns.len()));
        }
        let typed = |at: usize, ty, name: &str| {
            let found = self.columns[at].0;
            if found == ty {
                return Ok(());
            }
            let (number, found) = (at + 1, self.session.type_text(found));
            Err(wrong_return(
                NAME,
                format!("Return column {number} is of type {found}, but it must be {name}."),
            ))
        };
        typed(2, oids::int4, "integer")?;
        if self.delimiter.is_some() {
            typed(3, oids::text, "text")?;
        }
        if self.order.is_some() {
            typed(wanted - 1, oids::int4, "integer")?;
        }
        Ok(())
    }

    fn add(&mut self, key: &str, parent: Option<&str>, level: i32, branch: &str) -> SqlResult<()> {
        let cx = self.call.call;
        let mut row = vec![
            value(cx, self.columns[0], Some(key))?,
            value(cx, self.columns[1], parent)?,
            Datum::Int4(level),
        ];
        row.extend(self.delimiter.map(|_| Datum::text(branch)));
        row.extend(self.order.map(|_| Datum::Int4(self.out.len() as i32 + 1)));
        self.out.push(row);
        Ok(())
    }

    /// The keys that hang on this one.
    fn children(&self, of: &str) -> SqlResult<Vec<String>> {
        let Search { table, key, parent, .. } = self;
        let quoted = of.replace('\\', "\\\\").replace('\'', "''");
        let escapes = if of.contains('\\') { " E" } else { "" };
        let order = self.order.map_or(String::new(), |order| format!(" ORDER BY {order}"));
        let text = format!(
            "SELECT {key}, {parent} FROM {table} WHERE {parent} ={escapes} '{quoted}' AND {key} IS NOT NULL AND {key} <> {parent}{order}"
        );
        let query = Query::new(self.session, self.call, &text)?;
        let [found, above] = query.columns[..] else {
            return Err(wrong_return(NAME, "The query must return two columns.".to_owned()));
        };
        for (what, source, returned) in
            [("key", found.0, self.columns[0].0), ("parent key", above.0, self.columns[1].0)]
        {
            if source != returned {
                return Err(wrong_return(NAME, mismatch(self.session, what, source, returned)));
            }
        }
        let mut keys = Vec::new();
        query.rows(self.call, &mut |row| {
            keys.extend(row[0].clone());
            Ok(())
        })?;
        Ok(keys)
    }

    fn below(&mut self, of: &str, level: i32, branch: &str) -> SqlResult<()> {
        runtime::check_stack()?;
        if self.deepest > 0 && level > self.deepest {
            return Ok(());
        }
        let between = self.delimiter.unwrap_or("~");
        for key in self.children(of)? {
            if format!("{between}{branch}{between}").contains(&format!("{between}{key}{between}")) {
                return Err(sql_err!(INVALID_RECURSION, "infinite recursion detected"));
            }
            let branch = format!("{branch}{between}{key}");
            self.add(&key, Some(of), level, &branch)?;
            self.below(&key, level + 1, &branch)?;
        }
        Ok(())
    }
}
