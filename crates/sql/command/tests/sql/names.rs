//! What drivers, object mappers and administration tools ask the catalogs, and the functions that answer them.

use crate::support::{Client, Server};

fn message(s: &Client, sql: &str) -> String {
    s.run(sql).err().map_or_else(|| format!("{sql}: no error"), |e| e.message().to_owned())
}

/// Keys of a table as JDBC's `getPrimaryKeys` asks for them.
const PRIMARY_KEYS: &str = "select (result.keys).x, (result.keys).n, result.column from \
    (select information_schema._pg_expandarray(i.indkey) as keys, a.attname as column, a.attnum as attnum \
     from pg_class t join pg_index i on t.oid = i.indrelid join pg_attribute a on a.attrelid = t.oid \
     where i.indisprimary and t.relname = 'keyed' and a.attnum > 0) result \
    where result.attnum = (result.keys).x order by 2";

#[test]
fn what_tools_ask() {
    let server = Server::new();
    let s = server.connect();
    keywords(&s);
    properties_of_indexes(&s);
    columns_of_records(&s);
    time_zones(&s);
    constraints_with_further_columns(&s);
    system_schemas(&s);
    assert_eq!(
        s.query("select current_query(), getpgusername()"),
        "select current_query(), getpgusername()|postgres"
    );
    assert_eq!(
        s.query("select oidvectortypes('23 1043 1184')"),
        "integer, character varying, timestamp with time zone"
    );
    information_schema(&s);
}

fn keywords(s: &Client) {
    assert_eq!(s.query("select count(*), min(word), max(word) from pg_get_keywords()"), "494|abort|zone");
    assert_eq!(
        s.query("select * from pg_get_keywords() where word in ('abort', 'between', 'left', 'select', 'year') order by 1"),
        "abort|U|t|unreserved|can be bare label\n\
         between|C|t|unreserved (cannot be function or type name)|can be bare label\n\
         left|T|t|reserved (can be function or type name)|can be bare label\n\
         select|R|t|reserved|can be bare label\n\
         year|U|f|unreserved|requires AS"
    );
}

fn properties_of_indexes(s: &Client) {
    s.run("create table i (a int, b int, c int); create index ii on i (a desc nulls last, b) include (c)")
        .unwrap();
    assert_eq!(
        s.query(
            "select string_agg(coalesce(pg_index_column_has_property('ii', n, p)::text, '-'), ' ' order by n) \
             from unnest('{ASC,desc,nulls_first,nulls_last,orderable,distance_orderable,returnable,search_array,\
                           clusterable}'::text[]) with ordinality p(p, o), generate_series(0, 4) n group by o order by o"
        ),
        "- false true - -\n- true false - -\n- false false - -\n- true true - -\n- true true false -\n\
         - false false false -\n- true true true -\n- true true - -\n- - - - -"
    );
    assert_eq!(
        s.query(
            "select pg_index_has_property('ii', 'Clusterable'), pg_index_has_property('i', 'clusterable')"
        ),
        "t|"
    );
    s.run("create index ih on i using hash (a)").unwrap();
    assert_eq!(
        s.query(
            "select bool_or(pg_index_column_has_property('ih', 1, p)), count(pg_index_column_has_property('ih', 1, p)) \
             from unnest('{asc,desc,nulls_first,nulls_last,orderable}'::text[]) p"
        ),
        "f|5"
    );
    assert_eq!(
        s.query(
            "select amname, pg_indexam_has_property(oid, 'can_order'), pg_indexam_has_property(oid, 'asc') \
             from pg_am where amname in ('btree', 'hash', 'heap') order by 1"
        ),
        "btree|t|\nhash|f|\nheap||"
    );
}

fn columns_of_records(s: &Client) {
    s.run("create table keyed (a int, b int, c int, primary key (c, a))").unwrap();
    assert_eq!(s.query(PRIMARY_KEYS), "3|1|c\n1|2|a");
    // Through subqueries, joins and WITH.
    assert_eq!(
        s.query("select (q.k).x from (select k from (select information_schema._pg_expandarray('{7}'::int[]) k) p, i) q"),
        ""
    );
    assert_eq!(
        s.query("with q as (select json_each('{\"a\": 1}') e) select (e).key, (q.e).value from q"),
        "a|1"
    );
    assert_eq!(
        s.query("select (j.e).key from ((select json_each('{\"a\": 1}') e) x join (select 1) y on true) j"),
        "a"
    );
    assert_eq!(
        message(s, "select (e).nothing from (select json_each('{}') e) q"),
        "could not identify column \"nothing\" in record data type"
    );
}

fn time_zones(s: &Client) {
    s.run("set time zone interval '+05:30' hour to minute").unwrap();
    assert_eq!(s.query("show time zone"), "<+05:30>-05:30");
    assert_eq!(s.query("select '2024-01-01 00:00Z'::timestamptz"), "2024-01-01 05:30:00+05:30");
    s.run("set time zone interval '+00:00' hour to minute").unwrap();
    assert_eq!(s.query("show time zone"), "<+00>-00");
    assert_eq!(
        message(s, "set time zone interval '1 month'"),
        "invalid value for parameter \"TimeZone\": \"INTERVAL '1 mon'\""
    );
    s.run("set time zone 'Asia/Kolkata'").unwrap();
    assert_eq!(
        s.query("select abbrev, utc_offset, is_dst from pg_timezone_names where name = 'Asia/Kolkata'"),
        "IST|05:30:00|f"
    );
    assert_eq!(s.query("select * from pg_timezone_abbrevs_zone() where abbrev = 'IST'"), "IST|05:30:00|f");
    // The session's zone means something else by it than the list does.
    assert_eq!(
        s.query("select * from pg_timezone_abbrevs where abbrev in ('IST', 'PST') order by 1"),
        "IST|05:30:00|f\nPST|-08:00:00|f"
    );
    s.run("reset time zone").unwrap();
}

fn constraints_with_further_columns(s: &Client) {
    s.run("create table including (a int, b bool check (b), c int, unique (a) include (c))").unwrap();
    assert_eq!(
        s.query(
            "select pg_get_constraintdef(oid), conkey from pg_constraint where conrelid = 'including'::regclass order by 1"
        ),
        "CHECK (b)|{2}\nUNIQUE (a) INCLUDE (c)|{1}"
    );
    s.run("alter table including drop column c").unwrap();
    assert_eq!(s.query("select count(*) from pg_constraint where conrelid = 'including'::regclass"), "1");
}

fn system_schemas(s: &Client) {
    s.run("create function pg_catalog.made_here() returns int language sql as 'select 1'").unwrap();
    s.run("create function pg_temp.passing() returns int language sql as 'select 2'").unwrap();
    assert_eq!(s.query("select made_here(), pg_temp.passing()"), "1|2");
    // Unlike what else initdb made.
    s.run("create table dropped (a int); create function dropped() returns int language sql as 'select 1'")
        .unwrap();
    assert_eq!(
        message(s, "drop schema public"),
        "cannot drop schema public because other objects depend on it"
    );
    s.run("drop schema public cascade; create schema public; create table dropped (a int)").unwrap();
    assert_eq!(s.query("select count(*) from pg_class where relname = 'dropped'"), "1");
    assert_eq!(s.query("select count(*) from pg_proc where proname = 'dropped'"), "0");
    assert_eq!(
        message(s, "create table pg_catalog.t (a int)"),
        "permission denied to create \"pg_catalog.t\""
    );
}

fn information_schema(s: &Client) {
    s.run(
        "create schema sx; set search_path to sx; create type comp as (a int, b numeric(8, 2)); \
         create function fn(a int, b int default 3) returns int language sql as 'select a'; \
         create table t (a int, arr text[], c comp); create view v as select a, fn(a) from t; \
         create trigger tr before insert or update of a on t for each row when (new.a > 3) execute function suppress_redundant_updates_trigger('x')",
    )
    .unwrap();
    let all = s.query("select viewname from pg_views where schemaname = 'information_schema'");
    for view in all.lines() {
        s.query(&format!("select * from information_schema.{view} where false"));
    }
    assert_eq!(all.lines().count(), 65);
    let asked = [
        (
            "attribute_name, data_type, numeric_scale from information_schema.attributes where udt_name = 'comp' order by 1",
            "a|integer|0\nb|numeric|2",
        ),
        (
            "parameter_name, parameter_default from information_schema.parameters where specific_schema = 'sx' and specific_name like 'fn%' order by 1",
            "a|\nb|3",
        ),
        (
            "view_name, table_name, column_name from information_schema.view_column_usage where view_schema = 'sx'",
            "v|t|a",
        ),
        (
            "event_manipulation, action_order, action_condition, action_timing, action_statement from information_schema.triggers order by 1",
            "INSERT|1|(new.a > 3)|BEFORE|EXECUTE FUNCTION suppress_redundant_updates_trigger('x')\nUPDATE|1|(new.a > 3)|BEFORE|EXECUTE FUNCTION suppress_redundant_updates_trigger('x')",
        ),
        ("event_object_column from information_schema.triggered_update_columns", "a"),
        ("count(*) from information_schema.foreign_tables", "0"),
    ];
    for (query, expected) in asked {
        assert_eq!(s.query(&format!("select {query}")), expected, "{query}");
    }
}

/// The messages are PostgreSQL's.
#[test]
fn conversions_are_objects() {
    let server = Server::new();
    let s = server.connect();
    let error = |sql: &str| match s.run(sql) {
        Ok(_) => panic!("{sql}: no error"),
        Err(error) => format!("{} {}", error.code().as_str(), error.message()),
    };
    assert_eq!(
        s.query("select count(*), count(distinct conproc), bool_and(condefault) from pg_conversion"),
        "128|84|t"
    );
    assert_eq!(
        s.query("select conproc, obj_description(oid, 'pg_conversion') from pg_conversion where conname = 'utf8_to_iso_8859_5'"),
        "utf8_to_iso8859|conversion for UTF8 to ISO-8859-5"
    );
    s.run("create schema cvs; create conversion foo for 'LATIN1' to 'UTF8' from iso8859_1_to_utf8").unwrap();
    s.run("create default conversion cvs.bar for 'latin1' to 'unicode' from iso8859_1_to_utf8").unwrap();
    for (sql, expected) in [
        (
            "create conversion x for 'xx' to 'UTF8' from iso8859_1_to_utf8",
            "42704 source encoding \"xx\" does not exist",
        ),
        (
            "create conversion x for 'SQL_ASCII' to 'UTF8' from iso8859_1_to_utf8",
            "42P17 encoding conversion to or from \"SQL_ASCII\" is not supported",
        ),
        (
            "create conversion x for 'LATIN1' to 'UTF8' from upper",
            "42883 function upper(integer, integer, cstring, internal, integer, boolean) does not exist",
        ),
        (
            "create conversion x for 'WIN1251' to 'UTF8' from iso8859_1_to_utf8",
            "XX000 expected source encoding \"LATIN1\", but got \"WIN1251\"",
        ),
        (
            "create conversion foo for 'LATIN1' to 'UTF8' from iso8859_1_to_utf8",
            "42710 conversion \"foo\" already exists",
        ),
        (
            "create default conversion cvs.x for 'LATIN1' to 'UTF8' from iso8859_1_to_utf8",
            "42710 default conversion for LATIN1 to UTF8 already exists",
        ),
        ("alter conversion nope rename to x", "42704 conversion \"nope\" does not exist"),
        (
            "drop conversion iso_8859_1_to_utf8",
            "2BP01 cannot drop conversion iso_8859_1_to_utf8 because it is required by the database system",
        ),
    ] {
        assert_eq!(error(sql), expected, "{sql}");
    }
    s.run("alter conversion foo rename to bar").unwrap();
    assert_eq!(
        error("alter conversion bar set schema cvs"),
        "42710 conversion \"bar\" already exists in schema \"cvs\""
    );
    s.run("comment on conversion bar is 'c'; create role r; alter conversion bar owner to r").unwrap();
    assert_eq!(
        s.query("select conname, connamespace::regnamespace, conowner::regrole, condefault, obj_description(oid, 'pg_conversion')
            from pg_conversion where oid >= 16384 order by 2"),
        "bar|public|r|f|c\nbar|cvs|postgres|t|"
    );
    s.run("drop conversion bar; drop schema cvs cascade; drop role r").unwrap();
    assert_eq!(s.query("select count(*) from pg_conversion where oid >= 16384"), "0");
    assert_eq!(
        s.query("select count(*), count(*) filter (where is_supported = 'YES') > 400 from information_schema.sql_features"),
        "755|t"
    );
    assert_eq!(
        s.query("select (select count(*) from information_schema.sql_parts), (select count(*) from information_schema.sql_sizing),
            (select character_value from information_schema.sql_implementation_info where implementation_info_id = '18')"),
        "11|23|18.01.0000"
    );
    assert_eq!(s.query("select inet_server_addr() is null, inet_client_port() is null"), "t|t");
}
