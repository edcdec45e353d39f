//! Storing and deparsing.

use proptest::prelude::*;
use types::{Call, FormatContext};

use super::catalog::TestCatalog;
use crate::ParamTypes;
use crate::deparse::Deparse;

fn query(sql: &str, catalog: &TestCatalog) -> crate::Query {
    let format = FormatContext::default();
    let raw = parse::parse(sql).expect(sql);
    crate::analyze(&raw[0], sql, ParamTypes::None, catalog, &Call::new(&format)).expect(sql).query
}

/// Statements of every shape that views can have.
const QUERIES: &[&str] = &[
    "select a, b || 'x' as bx, c + 1.5 from t1 where a between 1 and 10 and b is not null",
    "select t1.a, count(*), sum(c) filter (where a > 1) from t1 join t2 on t2.t1_a = t1.a group by t1.a having count(*) > 2 order by 2 desc limit 5",
    "select t1.b as x, t3.* from t1 left join t3 using (a) where exists (select 1 from t2 where t2.t1_a = t1.a)",
    "with q as (select a from t1) select a from q union all select t1_a from t2 order by 1",
    "with recursive r(n) as (select 1 union all select n + 1 from r where n < 5) select n from r",
    "select row_number() over (partition by b order by a), sum(a) over w from t1 window w as (order by b rows between 1 preceding and current row)",
    "select case a when 1 then 'one' else b end, coalesce(b, 'z'), greatest(a, 2), array[1, a], a in (1, 2, 3) from t1",
    "select distinct on (b) b, a from t1 order by b, a desc nulls last",
    "values (1, 'a'), (2, 'b')",
    "select s.x from (select a as x from t1) s, lateral (select s.x + 1 as y) l where l.y = any (array[1, 2])",
    "select b, grouping(b), count(*) from t1 group by rollup (b)",
    "select a::text, d::date, current_date, b collate \"C\" from t1",
    "select bb from v1 where cc > 3",
];

#[test]
fn stored_queries_come_back_the_same() {
    let catalog = TestCatalog::load();
    for sql in QUERIES {
        let before = query(sql, &catalog);
        let text = crate::stored::store_query(&before);
        let after = crate::stored::load_query(&text, &catalog).expect(sql);
        assert_eq!(crate::stored::store_query(&after), text, "{sql}");
    }
}

#[test]
fn deparsed_queries_mean_the_same() {
    let catalog = TestCatalog::load();
    let format = FormatContext::default();
    let call = Call::new(&format);
    for sql in QUERIES {
        let deparse = Deparse { catalog: &catalog, call: &call, pretty: true, params: None };
        let once = view(&deparse, &query(sql, &catalog));
        let again = view(&deparse, &query(&once, &catalog));
        assert_eq!(once, again, "{sql}");
    }
}

proptest! {
    #[test]
    fn damaged_text_is_an_error(at in 0usize..2000, with in "\\PC{0,3}") {
        let catalog = TestCatalog::load();
        let text = crate::stored::store_query(&query(QUERIES[1], &catalog));
        let cut = text.char_indices().map(|(i, _)| i).nth(at).unwrap_or(text.len());
        let mut damaged = text[..cut].to_owned();
        damaged.push_str(&with);
        damaged.push_str(text.get(cut + 1..).unwrap_or(""));
        // Whatever comes out, it is a result.
        let _ = crate::stored::load_query(&damaged, &catalog);
    }
}

/// A query as a view whose columns have its names.
fn view(deparse: &Deparse<'_>, query: &crate::Query) -> String {
    let targets = query.targets.iter().filter(|target| !target.junk);
    let names: Vec<&str> = targets.map(|target| target.name.as_deref().unwrap_or("?column?")).collect();
    deparse.view(query, &names)
}

/// `tests/views.txt` holds what `pg_get_viewdef(..., true)` of PostgreSQL 18 answers for [`QUERIES`].
#[test]
fn views_are_shown_as_postgresql_shows_them() {
    let catalog = TestCatalog::load();
    let format = FormatContext::default();
    let call = Call::new(&format);
    let deparse = Deparse { catalog: &catalog, call: &call, pretty: true, params: None };
    let expected: Vec<&str> = include_str!("views.txt").split("\n@@\n").collect();
    for (sql, expected) in QUERIES.iter().zip(expected) {
        // Which grouping sets ROLLUP and CUBE stood for is known, not how they were written.
        if !sql.contains("rollup") {
            assert_eq!(view(&deparse, &query(sql, &catalog)), expected, "{sql}");
        }
    }
}
