//! XML through whole sessions: values, paths, XMLTABLE, what views show of them, and tables as XML.

use crate::support::{Client, Server};

fn refusal(s: &Client, sql: &str) -> String {
    let Some(error) = s.run(sql).err() else { return format!("{sql}: no error") };
    let detail = error.report().detail.as_deref().map(|d| format!(" | {d}")).unwrap_or_default();
    format!("{} {}{detail}", error.code().as_str(), error.message())
}

/// Compares statements with what they give.
fn check(s: &Client, cases: &[(&str, &str)]) {
    for (sql, expected) in cases {
        assert_eq!(s.query(sql), *expected, "{sql}");
    }
}

fn check_refusals(s: &Client, cases: &[(&str, &str)]) {
    for (sql, expected) in cases {
        assert_eq!(refusal(s, sql), *expected, "{sql}");
    }
}

#[test]
fn values_are_made_of_others() {
    let server = Server::new();
    let s = server.connect();
    check(
        &s,
        &[
            (
                "select xmlelement(name foo, xmlattributes(1 as a, null as b, 'é\"' as c), 'x<', null, xml '<y/>')",
                "<foo a=\"1\" c=\"&#xE9;&quot;\">x&lt;<y/></foo>",
            ),
            (
                "select xmlelement(name foo, ''), xmlelement(name foo, null), xmlelement(name \"a b\")",
                "<foo></foo>|<foo/>|<a_x0020_b/>",
            ),
            (
                "select xmlelement(name foo, array[[1, 2], [3, null]])",
                "<foo><element>1</element><element>2</element><element>3</element></foo>",
            ),
            (
                "select xmlforest(date '2020-01-02' as d, timestamp '2020-01-02 03:04:05' as t, true as b, null as n)",
                "<d>2020-01-02</d><t>2020-01-02T03:04:05</t><b>true</b>",
            ),
            ("select xmlforest(null as x) is null", "t"),
            (
                "select xmlconcat('<?xml version=\"1.1\"?><foo/>', null, '<?xml version=\"1.1\" standalone=\"no\"?><bar/>')",
                "<?xml version=\"1.1\"?><foo/><bar/>",
            ),
            (
                "select xmlroot(xml '<?xml version=\"1.1\" standalone=\"yes\"?><a/>', version no value)",
                "<?xml version=\"1.0\" standalone=\"yes\"?><a/>",
            ),
            ("select xmlpi(name php, '  echo'), xmlpi(name php, null) is null", "<?php echo?>|t"),
            (
                "select xmltext(e'<\"\\r'), xmlcomment('a'), xmlconcat2('<a/>', null)",
                "&lt;&quot;&#13;|<!--a-->|<a/>",
            ),
            (
                "select xmlagg(xmlelement(name r, v) order by v desc) from generate_series(1, 3) v",
                "<r>3</r><r>2</r><r>1</r>",
            ),
            ("select xmlagg(x) is null from (select xml '<a/>' where false) t(x)", "t"),
            (
                "select xmlserialize(content xml '<a/>' as char(6)), xmlserialize(document '<a><b/></a>' as text indent)",
                "<a/>  |<a>\n  <b/>\n</a>",
            ),
            ("select xml '<a/>' is document, xml 'a' is not document, pg_typeof(xml 'a')", "t|t|xml"),
            (
                "select (xml '<?xml version=\"1.0\"?><a/>')::text, xml '<?xml version=\"1.0\"?><a/>', '<b/>'::varchar::xml",
                "<?xml version=\"1.0\"?><a/>|<a/>|<b/>",
            ),
            ("select array[xml '<a/>', xml 'b']", "{<a/>,b}"),
        ],
    );
    check_refusals(
        &s,
        &[
            (
                "select xmlelement(name a, xmlattributes('x'))",
                "42601 unnamed XML attribute value must be a column reference",
            ),
            ("select xmlforest(1)", "42601 unnamed XML element value must be a column reference"),
            (
                "select xmlelement(name a, xmlattributes(1 as b, 2 as b))",
                "42601 XML attribute name \"b\" appears more than once",
            ),
            ("select xmlconcat(1, 2)", "42804 argument of XMLCONCAT must be type xml, not type integer"),
            ("select xmlserialize(content 'a' as int)", "42846 cannot cast XMLSERIALIZE result to integer"),
            ("select xmlserialize(document 'a' as text)", "2200L not an XML document"),
            (
                "select xmlpi(name xml, null)",
                "2200T invalid XML processing instruction | XML processing instruction target name cannot be \"xml\".",
            ),
            ("select xmlcomment('a-')", "2200S invalid XML comment"),
            (
                "select xmlelement(name a, timestamp 'infinity')",
                "22008 timestamp out of range | XML does not support infinite timestamp values.",
            ),
            (
                "select xml '<?xml version=\"1.0\" standalone=\"y\"?><a/>'",
                "2200N invalid XML content: invalid XML declaration | standalone accepts only 'yes' or 'no'.",
            ),
            (
                "select '<a>'::text::xml",
                "2200N invalid XML content | line 1: Premature end of data in tag a line 1\n<a>\n   ^",
            ),
            ("select 1 order by xml '<a/>'", "42883 could not identify an ordering operator for type xml"),
            ("select xml 'a' = xml 'a'", "42883 operator does not exist: xml = xml"),
            ("select xmlvalidate('<a/>', 'b')", "0A000 xmlvalidate is not implemented"),
        ],
    );
    // What is stored is shown as it came.
    s.run("create table t (x xml); insert into t values ('<a>1</a>'), ('b'), (null)").unwrap();
    check(&s, &[("select x, x is document from t", "<a>1</a>|t\nb|f\n|")]);
    s.run("set xml option document").unwrap();
    check_refusals(
        &s,
        &[(
            "insert into t values ('b')",
            "2200M invalid XML document | line 1: Start tag expected, '<' not found\nb\n^",
        )],
    );
    check(
        &s,
        &[(
            "select xml_is_well_formed('b'), xml_is_well_formed_content('b'), xml_is_well_formed_document('<b/>')",
            "f|t|t",
        )],
    );
}

#[test]
fn paths_lead_through_values() {
    let server = Server::new();
    let s = server.connect();
    check(
        &s,
        &[
            ("select xpath('//b/@c', '<a><b c=\"1&lt;\"/><b c=\"2\"/></a>')", "{1&lt;,2}"),
            (
                "select xpath('/x:a', '<a xmlns=\"urn:x\"/>', array[array['x', 'urn:x']])",
                "{\"<a xmlns=\\\"urn:x\\\"/>\"}",
            ),
            (
                "select xpath('count(//b)', '<a><b/><b/></a>'), xpath('1 = 1', '<a/>'), xpath('\"<\"', '<a/>')",
                "{2}|{true}|{&lt;}",
            ),
            (
                "select xpath_exists('//b', '<a/>'), xpath_exists('//a', '<a/>'), xpath(null, '<a/>') is null",
                "f|t|t",
            ),
            ("select xmlexists('//a[text() = \"x\"]' passing by ref '<a>x</a>' by ref)", "t"),
        ],
    );
    check_refusals(
        &s,
        &[
            ("select xpath('', '<a/>')", "10608 empty XPath expression"),
            ("select xpath('/*[', '<a/>')", "10608 invalid XPath expression | Invalid expression"),
            (
                "select xpath('x:a', '<a/>')",
                "10608 could not create XPath object | Undefined namespace prefix",
            ),
            (
                "select xpath('/a', 'abc')",
                "2200M could not parse XML document | line 1: Start tag expected, '<' not found\nabc\n^",
            ),
            (
                "select xpath('/a', '<a/>', array['x'])",
                "22000 invalid array for XML namespace mapping | The array must be two-dimensional with length of the second axis equal to 2.",
            ),
            (
                "select xpath('/a', '<a/>', array[array['x', null]])",
                "22004 neither namespace name nor URI may be null",
            ),
        ],
    );
}

#[test]
fn xmltable_gives_rows_of_a_path() {
    let server = Server::new();
    let s = server.connect();
    s.run(
        "create table docs (id int, x xml);
         insert into docs values (1, '<l><i n=\"a\">1</i><i>2</i></l>'), (2, '<l/>'), (3, null)",
    )
    .unwrap();
    check(
        &s,
        &[
            (
                "select id, t.* from docs, xmltable('/l/i' passing x columns o for ordinality, \
                 n text path '@n' default 'none', v int path '.', w xml path '.') t order by 1, 2",
                "1|1|a|1|<i n=\"a\">1</i>\n1|2|none|2|<i>2</i>",
            ),
            (
                "select id, v from docs left join lateral xmltable('/l/i' passing x columns v int path '.') t on true \
                 order by 1, 2",
                "1|1\n1|2\n2|\n3|",
            ),
            (
                "select * from xmltable(xmlnamespaces('urn:x' as p), '/p:a' passing '<a xmlns=\"urn:x\"><b>7</b></a>' \
                 columns b int path 'p:b', c boolean path '1 = 1', d int path 'true()', e text path '1 div 4')",
                "7|t|1|0.25",
            ),
            ("select * from xmltable('1' passing '<a/>' columns a int path '1')", ""),
            ("select z from xmltable('/a' passing '<a><b>1</b></a>' columns b text) as t (z)", "1"),
        ],
    );
    check_refusals(
        &s,
        &[
            (
                "select * from xmltable('/a' passing '<a/>' columns b int path 'b' not null)",
                "22004 null is not allowed in column \"b\"",
            ),
            (
                "select * from xmltable('/a' passing '<a><b/><b/></a>' columns b text path 'b')",
                "21000 more than one value returned by column XPath expression",
            ),
            (
                "select * from xmltable(xmlnamespaces(default 'urn:x'), '/a' passing '<a/>' columns b text)",
                "0A000 DEFAULT namespace is not supported",
            ),
            (
                "select * from xmltable('' passing '<a/>' columns b text)",
                "10608 row path filter must not be empty string",
            ),
            (
                "select * from xmltable(null passing '<a/>' columns b text)",
                "22004 row filter expression must not be null",
            ),
            (
                "select * from xmltable('/a' passing '<a/>' columns b text path null)",
                "22004 column filter expression must not be null | Filter for column \"b\" is null.",
            ),
            (
                "select * from xmltable('/a' passing '<a/>' columns b text, b text)",
                "42601 column name \"b\" is not unique",
            ),
            (
                "select * from xmltable('/a' passing '<a/>' columns b for ordinality, c for ordinality)",
                "42601 only one FOR ORDINALITY column is allowed",
            ),
            (
                "select * from xmltable('/a' passing '<a/>' columns b text) as t (x, y)",
                "42P10 XMLTABLE function has 1 columns available but 2 columns specified",
            ),
            (
                "select * from xmltable('/a' passing '<a>x</a>' columns b int path '.')",
                "22P02 invalid input syntax for type integer: \"x\"",
            ),
        ],
    );
}

#[test]
fn views_and_plans_show_xml_as_it_was_written() {
    let server = Server::new();
    let s = server.connect();
    let shown = |sql: &str| {
        s.run(&format!("create view shown as {sql}")).unwrap();
        let text = s.query("select pg_get_viewdef('shown')");
        s.run("drop view shown").unwrap();
        text
    };
    for (sql, expected) in [
        (
            "select xmlelement(name e, xmlattributes(1 as \":one:\", 'd' as two), 'c&') x",
            " SELECT XMLELEMENT(NAME e, XMLATTRIBUTES(1 AS \":one:\", 'd' AS two), 'c&') AS x;",
        ),
        (
            "select xmlforest(1 as a, 2 as b) x, xmlconcat('a', 'b') y",
            " SELECT XMLFOREST(1 AS a, 2 AS b) AS x,\n    XMLCONCAT('a'::xml, 'b'::xml) AS y;",
        ),
        (
            "select xmlparse(content 'a' preserve whitespace) x, xmlpi(name p, 'b') y",
            " SELECT XMLPARSE(CONTENT 'a'::text PRESERVE WHITESPACE) AS x,\n    XMLPI(NAME p, 'b'::text) AS y;",
        ),
        (
            "select xmlroot(xml 'a', version no value, standalone yes) x",
            " SELECT XMLROOT('a'::xml, VERSION NO VALUE, STANDALONE YES) AS x;",
        ),
        (
            "select xmlserialize(content 'a' as char(10)) x, xml 'a' is document y",
            " SELECT (XMLSERIALIZE(CONTENT 'a'::xml AS character(10) NO INDENT))::character(10) AS x,\n    ('a'::xml IS DOCUMENT) AS y;",
        ),
        (
            "select xmlexists('/a' passing xml '<a/>') x",
            " SELECT XMLEXISTS(('/a'::text) PASSING ('<a/>'::xml)) AS x;",
        ),
        (
            "select * from xmltable(xmlnamespaces('urn:x' as \"Z\"), '/a' passing '<a/>' \
             columns a int path 'b' default 1 not null, o for ordinality, c text)",
            " SELECT a,\n    o,\n    c\n   FROM XMLTABLE(XMLNAMESPACES ('urn:x'::text AS \"Z\"), ('/a'::text) PASSING ('<a/>'::xml) \
             COLUMNS a integer DEFAULT (1) PATH ('b'::text) NOT NULL, o FOR ORDINALITY, c text);",
        ),
    ] {
        assert_eq!(shown(sql), expected, "{sql}");
    }
    assert_eq!(
        s.query(
            "explain (verbose, costs off) select t.a from xmltable('/a' passing '<a/>' columns a int path 'b') t where t.a = 2"
        ),
        "Table Function Scan on \"xmltable\" t\n  Output: a\n  \
         Table Function Call: XMLTABLE(('/a'::text) PASSING ('<a/>'::xml) COLUMNS a integer PATH ('b'::text))\n  \
         Filter: (t.a = 2)"
    );
    // What is stored is what runs.
    s.run(
        "create table t (x xml check (x is document),
                         n text generated always as (xmlserialize(content x as text)) stored)",
    )
    .unwrap();
    assert_eq!(s.query("insert into t values ('<a/>') returning n"), "<a/>");
    assert_eq!(refusal(&s, "insert into t values ('a')").split(' ').next(), Some("23514"));
}

#[test]
fn tables_are_mapped_to_xml() {
    let server = Server::new();
    let s = server.connect();
    s.run(
        "create schema s; create table s.\"T 1\" (a int, b text);
         insert into s.\"T 1\" values (1, '<'), (2, null)",
    )
    .unwrap();
    let start = |name: &str| format!("<{name} xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"");
    let rows = "<row>\n  <a>1</a>\n  <b>&lt;</b>\n</row>\n\n<row>\n  <a>2</a>\n</row>\n\n";
    let nulls = rows.replace("<a>2</a>\n", "<a>2</a>\n  <b xsi:nil=\"true\"/>\n");
    for (sql, expected) in [
        (
            "select table_to_xml('s.\"T 1\"', false, false, '')",
            format!("{}>\n\n{rows}</T_x0020_1>\n", start("T_x0020_1")),
        ),
        (
            "select query_to_xml('select * from s.\"T 1\"', true, false, 'urn:x')",
            format!("{} xmlns=\"urn:x\">\n\n{nulls}</table>\n", start("table")),
        ),
        (
            "select query_to_xml('select 1 as a', true, true, '')",
            format!("{}>\n  <a>1</a>\n</row>\n\n", start("row")),
        ),
        (
            "select schema_to_xml('s', false, false, '')",
            format!("{}>\n\n<T_x0020_1>\n\n{rows}</T_x0020_1>\n\n</s>\n", start("s")),
        ),
    ] {
        assert_eq!(s.query(sql), expected, "{sql}");
    }
    let int = "<xsd:simpleType name=\"INTEGER\">\n  <xsd:restriction base=\"xsd:int\">\n    \
        <xsd:maxInclusive value=\"2147483647\"/>\n    <xsd:minInclusive value=\"-2147483648\"/>\n  \
        </xsd:restriction>\n</xsd:simpleType>\n\n";
    assert_eq!(
        s.query("select query_to_xmlschema('select 1 as a', true, false, '')"),
        format!(
            "<xsd:schema\n    xmlns:xsd=\"http://www.w3.org/2001/XMLSchema\">\n\n{int}<xsd:complexType name=\"RowType\">\n  \
             <xsd:sequence>\n    <xsd:element name=\"a\" type=\"INTEGER\" nillable=\"true\"></xsd:element>\n  \
             </xsd:sequence>\n</xsd:complexType>\n\n<xsd:complexType name=\"TableType\">\n  <xsd:sequence>\n    \
             <xsd:element name=\"row\" type=\"RowType\" minOccurs=\"0\" maxOccurs=\"unbounded\"/>\n  </xsd:sequence>\n\
             </xsd:complexType>\n\n<xsd:element name=\"table\" type=\"TableType\"/>\n\n</xsd:schema>"
        )
    );
    s.run("begin; declare c cursor for select g from generate_series(1, 3) g").unwrap();
    assert_eq!(
        s.query("select cursor_to_xml('c', 1, true, false, '')"),
        format!("{}>\n\n<row>\n  <g>1</g>\n</row>\n\n</table>\n", start("table"))
    );
    let schema = s.query("select cursor_to_xmlschema('c', true, true, '')");
    assert!(schema.contains("name=\"g\" type=\"INTEGER\""), "{schema}");
    s.run("rollback").unwrap();
    check_refusals(
        &s,
        &[
            ("select cursor_to_xml('c', 1, true, false, '')", "34000 cursor \"c\" does not exist"),
            ("select cursor_to_xmlschema('c', true, false, '')", "34000 cursor \"c\" does not exist"),
            ("select schema_to_xml('nope', true, true, '')", "3F000 schema \"nope\" does not exist"),
            (
                "select query_to_xml('create table n ()', true, false, '')",
                "0A000 CREATE TABLE is not allowed in a non-volatile function",
            ),
            (
                "select query_to_xmlschema('create table n ()', true, false, '')",
                "42P11 cannot open CREATE TABLE query as cursor",
            ),
            ("select query_to_xml('select nope', true, false, '')", "42703 column \"nope\" does not exist"),
        ],
    );
}
