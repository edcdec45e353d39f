//! What PostgreSQL 18 with libxml2 said of the same texts.

use proptest::prelude::*;

use crate::xpath::{Item, Path, Value};
use crate::{Document, NodeId, Reading, Severity, read, read_content, write_copy, write_indented};

/// Problems of content, or of a document, as PostgreSQL's DETAIL has them.
fn problems(text: &str, document: bool, severity: Severity) -> String {
    let reading = Reading { expand: true, drop_blanks: false };
    let outcome = if document { read(text, reading) } else { read_content(text, reading) };
    let told: Vec<String> =
        outcome.unwrap().problems.into_iter().filter(|p| p.severity == severity).map(|p| p.text).collect();
    told.join("\n")
}

#[track_caller]
fn content(text: &str, expected: &[(usize, &str)]) {
    wrong(text, false, Severity::Syntax, expected);
}

#[track_caller]
fn document(text: &str, expected: &[(usize, &str)]) {
    wrong(text, true, Severity::Syntax, expected);
}

/// Problems of a line, by column.
#[track_caller]
fn wrong(text: &str, document: bool, severity: Severity, expected: &[(usize, &str)]) {
    let line =
        |(column, message): &(usize, &str)| format!("line 1: {message}\n{text}\n{}^", " ".repeat(*column));
    let expected: Vec<String> = expected.iter().map(line).collect();
    assert_eq!(problems(text, document, severity), expected.join("\n"), "{text}");
}

#[test]
fn tags_and_attributes_are_told_as_libxml_tells_them() {
    content("<wrong", &[(6, "Couldn't find end of Start Tag wrong line 1")]);
    content("<>", &[(1, "StartTag: invalid element name")]);
    content(
        "<a b=c/>",
        &[
            (5, "AttValue: \" or ' expected"),
            (5, "attributes construct error"),
            (5, "Couldn't find end of Start Tag a line 1"),
        ],
    );
    content("<a b/>", &[(4, "Specification mandate value for attribute b")]);
    content(
        "<a b=\"<c\"/>",
        &[
            (6, "Unescaped '<' not allowed in attributes values"),
            (6, "attributes construct error"),
            (6, "Couldn't find end of Start Tag a line 1"),
            (8, "error parsing attribute name"),
            (8, "attributes construct error"),
            (8, "Couldn't find end of Start Tag c line 1"),
        ],
    );
    content("<a b=\"1\" b=\"2\"/>", &[(14, "Attribute b redefined")]);
    content(
        "<a><b></a>",
        &[
            (10, "Opening and ending tag mismatch: b line 1 and a"),
            (10, "Premature end of data in tag a line 1"),
        ],
    );
    content(
        "<a><b>",
        &[(6, "Premature end of data in tag b line 1"), (6, "Premature end of data in tag a line 1")],
    );
    content("x</a>", &[(1, "chunk is not well balanced")]);
    content("<a></a", &[(6, "expected '>'")]);
    content(
        "<a /",
        &[
            (3, "error parsing attribute name"),
            (3, "attributes construct error"),
            (3, "Couldn't find end of Start Tag a line 1"),
        ],
    );
    for fine in ["<a:b:c/>", "<:a/>", "<nosuchprefix:tag/>", "", "  ", "<a b='&lt;\"'>]] ></a>", "<é>é</é>"]
    {
        content(fine, &[]);
    }
    let deep = "<a>".repeat(300);
    assert!(problems(&deep, false, Severity::Syntax).starts_with("line 1: Excessive depth in document: 256"));
    assert_eq!(
        problems("<a>\n<b>\n</c>\n</a>", false, Severity::Syntax),
        "line 3: Opening and ending tag mismatch: b line 2 and c\n</c>\n    ^"
    );
}

#[test]
fn what_is_in_elements_is_told_as_libxml_tells_it() {
    content("a & b", &[(3, "xmlParseEntityRef: no name")]);
    content("a &b", &[(4, "EntityRef: expecting ';'")]);
    content(
        "&#x; &#12x; &#0;",
        &[
            (4, "xmlParseCharRef: invalid xmlChar value 0"),
            (9, "CharRef: invalid decimal value"),
            (9, "xmlParseCharRef: invalid xmlChar value 0"),
            (16, "xmlParseCharRef: invalid xmlChar value 0"),
        ],
    );
    content(
        "a ]]> b",
        &[
            (0, "Sequence ']]>' not allowed in content"),
            (2, "Sequence ']]>' not allowed in content"),
            (2, "internal error: detected an error in element content"),
        ],
    );
    content("<!-- a -- b -->", &[(7, "Double hyphen within comment: <!-- a ")]);
    content("<!-- a ", &[(7, "Comment not terminated")]);
    content("x<?xml version=\"1.0\"?>", &[(6, "XML declaration allowed only at the start of the document")]);
    content("<?a", &[(3, "ParsePI: PI a space expected"), (3, "ParsePI: PI a never end ...")]);
    content("<? a?>", &[(2, "xmlParsePI : no target name")]);
    content("<!ELEMENT>", &[(1, "StartTag: invalid element name")]);
    content(
        "<twoerrors>&idontexist;</unbalanced>",
        &[
            (23, "Entity 'idontexist' not defined"),
            (36, "Opening and ending tag mismatch: twoerrors line 1 and unbalanced"),
        ],
    );
}

#[test]
fn documents_have_one_root() {
    document("   ", &[(3, "Start tag expected, '<' not found")]);
    document("abc", &[(0, "Start tag expected, '<' not found")]);
    document("<a/>x", &[(4, "Extra content at the end of the document")]);
    document("<!DOCTYPE a><a/><b/>", &[(16, "Extra content at the end of the document")]);
    document("<>", &[(1, "StartTag: invalid element name"), (1, "Extra content at the end of the document")]);
    document("<?xml version=\"1.0\" foo?><a/>", &[(20, "parsing XML declaration: '?>' expected")]);
    document(
        "<!DOCTYPE a [",
        &[
            (13, "internal error: xmlParseInternalSubset: error detected in Markup declaration"),
            (13, "DOCTYPE improperly terminated"),
            (13, "Start tag expected, '<' not found"),
        ],
    );
    for fine in [
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?> <!-- c --> <a/> <?p?> ",
        "<!DOCTYPE foo [<!ENTITY c SYSTEM \"/etc/passwd\">]><foo>&c;</foo>",
        "<!DOCTYPE c PUBLIC \"-//X//EN\" \"http://x.y/z.dtd\"><c>&nbsp;</c>",
        "<!DOCTYPE a [<!ELEMENT a (#PCDATA)> <!-- > --> <?p > ?> %x; <!ENTITY x \"1\"><!ENTITY y \"&x;&x;\">]><a>&y;</a>",
    ] {
        document(fine, &[]);
    }
}

#[test]
fn entities_cost_no_more_than_their_budget() {
    let bomb = |levels: usize| {
        let mut text = "<!DOCTYPE a [<!ENTITY e0 \"0123456789\">".to_owned();
        for i in 1..=levels {
            text.push_str(&format!("<!ENTITY e{i} \"{}\">", format!("&e{};", i - 1).repeat(10)));
        }
        text + &format!("]><a b=\"&e{levels};\">&e{levels};</a>")
    };
    document(&bomb(2), &[]);
    for expand in [true, false] {
        let outcome = read(&bomb(12), Reading { expand, drop_blanks: false }).unwrap();
        assert!(!outcome.is_well_formed());
        assert!(outcome.document.len() < 1000 || expand);
    }
    let looping = "<!DOCTYPE a [<!ENTITY x \"&y;\"><!ENTITY y \"&x;\">]><a>&y;</a>";
    assert!(problems(looping, true, Severity::Syntax).contains("Detected an entity reference loop"));
    let unbalanced = "<!DOCTYPE a [<!ENTITY x \"<b>\"> ]><a>&x;</a>";
    assert_eq!(
        problems(unbalanced, true, Severity::Syntax),
        format!(
            "line 1: Premature end of data in tag b line 1\n<b>\n   ^\nline 1: Entity 'x' failed to parse\n{unbalanced}\n{}^",
            " ".repeat(39)
        )
    );
}

#[test]
fn namespaces_are_told_apart_from_syntax() {
    let namespace =
        |text: &str, column, message| wrong(text, true, Severity::Namespace, &[(column, message)]);
    namespace("<invalidns xmlns='&lt;'/>", 23, "xmlns: '<' is not a valid URI");
    namespace("<nosuchprefix:tag/>", 17, "Namespace prefix nosuchprefix on tag is not defined");
    namespace("<a b:c=\"1\"/>", 10, "Namespace prefix b for c on a is not defined");
    namespace("<a xmlns:b=\"\"/>", 13, "xmlns:b: Empty XML namespace is not allowed");
    namespace("<a:b:c xmlns:a=\"urn:x\"/>", 4, "Failed to parse QName 'a:b:'");
    namespace(
        "<a xmlns:p=\"urn:x\" xmlns:q=\"urn:x\" p:b=\"1\" q:b=\"2\"/>",
        50,
        "Namespaced Attribute b in 'urn:x' redefined",
    );
    wrong(
        "<relativens xmlns='relative'/>",
        true,
        Severity::Warning,
        &[(28, "xmlns: URI relative is not absolute")],
    );
}

fn parsed(text: &str) -> Document {
    let outcome = read(text, Reading::default()).unwrap();
    assert!(outcome.problems.is_empty(), "{:?}", outcome.problems);
    outcome.document
}

fn shown(document: &Document, value: &Value) -> String {
    match value {
        Value::Nodes(items) => {
            let texts: Vec<String> = items
                .iter()
                .map(|i| match i.namespace {
                    0 => write_copy(document, i.node).unwrap(),
                    _ => i.text(document),
                })
                .collect();
            format!("{{{}}}", texts.join(","))
        }
        Value::Boolean(b) => b.to_string(),
        Value::Number(n) => format!("{n}"),
        Value::Text(text) => format!("'{text}'"),
    }
}

fn xpath(text: &str, path: &str, namespaces: &[(&str, &str)]) -> String {
    let document = parsed(text);
    let names: Vec<(String, String)> =
        namespaces.iter().map(|(p, u)| ((*p).to_owned(), (*u).to_owned())).collect();
    match Path::parse(path).and_then(|p| p.evaluate(&document, &names, Item::of(NodeId::ROOT))) {
        Ok(value) => shown(&document, &value),
        Err(error) => format!("{error:?}"),
    }
}

const BOOKS: &str = "<shop xml:lang=\"en\"><!--all--><book id=\"1\" y=\"1999\"><t>One</t><p>10</p></book><book id=\"2\"><t>Two</t>\
    <p>20.5</p></book><?do it?><pen id=\"3\"><p>1</p></pen></shop>";

#[test]
fn axes_give_nodes_in_their_order() {
    for (path, expected) in [
        ("/shop/book/t", "{<t>One</t>,<t>Two</t>}"),
        ("shop/book[2]/t", "{<t>Two</t>}"),
        ("//p[. > 5]/../@id", "{id=\"1\",id=\"2\"}"),
        ("//p[last()]", "{<p>10</p>,<p>20.5</p>,<p>1</p>}"),
        ("(//p)[last()]", "{<p>1</p>}"),
        ("//t[.='Two']/preceding::t", "{<t>One</t>}"),
        ("//t[.='One']/following::p", "{<p>10</p>,<p>20.5</p>,<p>1</p>}"),
        ("//pen/preceding-sibling::*[1]/@id", "{id=\"2\"}"),
        ("//book[1]/following-sibling::*/@id", "{id=\"2\",id=\"3\"}"),
        ("name(//p[.=1]/ancestor::*[1])", "'pen'"),
        ("name(//p[.=1]/ancestor::*[last()])", "'shop'"),
        ("count(//p/ancestor-or-self::*)", "7"),
        ("count(//node())", "16"),
        ("count(/descendant-or-self::node())", "17"),
        ("//@id[. = '3']/parent::*/p", "{<p>1</p>}"),
        ("//comment() | //processing-instruction('do')", "{<!--all-->,<?do it?>}"),
        ("//processing-instruction('other')", "{}"),
        ("//book/self::pen", "{}"),
        ("//@*[name() = 'y']", "{y=\"1999\"}"),
        ("shop/namespace::*", "{http://www.w3.org/XML/1998/namespace}"),
        ("//book[@y]/p/text()", "{10}"),
        ("//book[not(@y)]/@id", "{id=\"2\"}"),
        ("//t[lang('EN')][1]", "{<t>One</t>,<t>Two</t>}"),
        ("//book[position() = 1 or p = 20.5]/@id", "{id=\"1\",id=\"2\"}"),
        ("//book[t = //t[2]]", "{}"),
        (
            "/",
            "{<shop xml:lang=\"en\"><!--all--><book id=\"1\" y=\"1999\"><t>One</t><p>10</p></book><book id=\"2\"><t>Two</t>\
            <p>20.5</p></book><?do it?><pen id=\"3\"><p>1</p></pen></shop>\n}",
        ),
    ] {
        assert_eq!(xpath(BOOKS, path, &[]), expected, "{path}");
    }
}

#[test]
fn functions_and_operators_have_their_values() {
    for (path, expected) in [
        ("sum(//p)", "31.5"),
        ("1 + 2 * 3 - 4 div 2", "5"),
        ("-7 mod 3", "-1"),
        ("- - 2", "2"),
        ("1 < 2 and not(2 <= 1)", "true"),
        ("//p > 20", "true"),
        ("//p != //p", "true"),
        ("//nosuch = ''", "false"),
        ("true() = 'x'", "true"),
        ("string(1 div 3)", "'0.333333333333333'"),
        ("string(12345678901)", "'1.2345678901e+10'"),
        ("string(-0.000001234)", "'-1.234e-06'"),
        ("string(123456789.123)", "'123456789.123'"),
        ("string(1234567890.123)", "'1.234567890123e+09'"),
        ("string(0.1 + 0.2)", "'0.3'"),
        ("string(100 div 7)", "'14.2857142857143'"),
        ("string(0.00001)", "'0.00001'"),
        ("string(1e3)", "'1000'"),
        ("string(1 div 0)", "'Infinity'"),
        ("string(0 div 0)", "'NaN'"),
        ("number('x')", "NaN"),
        ("number(' 12.50 ')", "12.5"),
        ("round(2.5) + round(-2.5)", "1"),
        ("floor(-1.5) + ceiling(-1.5)", "-3"),
        ("concat('a', 1, true())", "'a1true'"),
        ("substring('12345', 1.5, 2.6)", "'234'"),
        ("substring('12345', 0 div 0)", "''"),
        ("substring('12345', 2)", "'2345'"),
        ("substring-before('1999/04', '/')", "'1999'"),
        ("substring-after('1999/04', '/')", "'04'"),
        ("translate('bar', 'abc', 'AB')", "'BAr'"),
        ("normalize-space('  a   b ')", "'a b'"),
        ("string-length('é')", "1"),
        ("contains(//t, 'ne')", "true"),
        ("starts-with('', '')", "true"),
        ("boolean(//nosuch)", "false"),
        ("local-name(/*)", "'shop'"),
        ("name(//@xml:lang)", "'xml:lang'"),
        ("'a", "Syntax(\"Unfinished literal\")"),
        ("/*[", "Syntax(\"Invalid expression\")"),
        ("1 +", "Syntax(\"Invalid expression\")"),
        ("", "Syntax(\"Invalid expression\")"),
        ("foo()", "Value(\"Unregistered function\")"),
        ("$x", "Value(\"\")"),
        ("p:x", "Value(\"Undefined namespace prefix\")"),
        ("count(1)", "Value(\"Invalid type\")"),
    ] {
        assert_eq!(xpath(BOOKS, path, &[]), expected, "{path}");
    }
}

#[test]
fn results_declare_the_namespaces_that_they_use() {
    let data = "<local:data xmlns:local=\"http://127.0.0.1\" xmlns=\"http://127.0.0.2\"><local:piece id=\"1\">\
        <internal>number one</internal><internal2/></local:piece><local:piece id=\"2\" /></local:data>";
    let names = [("loc", "http://127.0.0.1")];
    assert_eq!(
        xpath(data, "//loc:piece", &names),
        "{<local:piece xmlns:local=\"http://127.0.0.1\" xmlns=\"http://127.0.0.2\" id=\"1\"><internal>number one</internal>\
         <internal2/></local:piece>,<local:piece xmlns:local=\"http://127.0.0.1\" id=\"2\"/>}"
    );
    assert_eq!(xpath(data, "//internal", &names), "{}");
    assert_eq!(xpath(data, "namespace-uri(//loc:piece/*)", &names), "'http://127.0.0.2'");
    assert_eq!(
        xpath("<a b=\"é&amp;&#10;&#9;&quot;'&lt;&gt;\">é&gt;&#13;</a>", "/a", &[]),
        "{<a b=\"&#xE9;&amp;&#10;&#9;&quot;'&lt;&gt;\">é&gt;&#13;</a>}"
    );
    assert_eq!(
        xpath("<!DOCTYPE a [<!ENTITY x \"y\">]><a z=\"v\">1&x;2</a>", "concat(/a, count(/a/text()))", &[]),
        "'1y22'"
    );
    assert_eq!(
        xpath("<!DOCTYPE a [<!ATTLIST a b CDATA 'x' c ID #IMPLIED>]><a c=' 7 '/>", "id('7')", &[]),
        "{<a c=\"7\" b=\"x\"/>}"
    );
}

#[test]
fn indented_elements_stand_on_lines_without_text_beside_them() {
    for (text, expected) in [
        (
            "<foo><bar><val x=\"y\">42</val><v>text<v>73</v></v></bar><e></e></foo>",
            "<foo>\n  <bar>\n    <val x=\"y\">42</val>\n    <v>text<v>73</v></v>\n  </bar>\n  <e/>\n</foo>\n",
        ),
        ("<foo>   <bar></bar>    </foo>", "<foo>\n  <bar/>\n</foo>\n"),
        ("<foo xml:space='preserve'> <bar/> </foo>", "<foo xml:space=\"preserve\"> <bar/> </foo>\n"),
        ("<!--c--><a><!--d--><b>  </b></a>", "<!--c-->\n<a>\n  <!--d-->\n  <b>  </b>\n</a>\n"),
    ] {
        let outcome = read(text, Reading { expand: true, drop_blanks: true }).unwrap();
        assert_eq!(write_indented(&outcome.document, NodeId::ROOT).unwrap(), expected);
    }
}

proptest! {
    /// No text stops the reader or the writer with a panic, and what is well-formed is so after it was written.
    #[test]
    fn no_text_panics(parts in prop::collection::vec(prop::sample::select(TEXT_PARTS.to_vec()), 0..40)) {
        let text: String = parts.concat();
        for expand in [true, false] {
            let reading = Reading { expand, drop_blanks: expand };
            for outcome in [read(&text, reading).unwrap(), read_content(&text, reading).unwrap()] {
                let written = write_copy(&outcome.document, NodeId::ROOT).unwrap();
                write_indented(&outcome.document, NodeId::ROOT).unwrap();
                if outcome.is_well_formed() && !text.contains("<!DOCTYPE") {
                    let again = read_content(&written, Reading::default()).unwrap();
                    prop_assert!(again.is_well_formed(), "{text} {written} {:?}", again.problems);
                }
            }
        }
    }

    /// Nor any bytes.
    #[test]
    fn no_characters_panic(text in "\\PC*") {
        read(&text, Reading::default()).unwrap();
        read_content(&text, Reading { expand: true, drop_blanks: true }).unwrap();
        let _ = Path::parse(&text);
        let _ = crate::declaration::parse(&text);
    }

    /// No path panics, and node-sets are in document order.
    #[test]
    fn no_path_panics(parts in prop::collection::vec(prop::sample::select(PATH_PARTS.to_vec()), 0..20)) {
        let document = parsed(BOOKS);
        let text: String = parts.concat();
        if let Ok(path) = Path::parse(&text)
            && let Ok(Value::Nodes(items)) = path.evaluate(&document, &[], Item::of(NodeId::ROOT))
        {
            prop_assert!(items.is_sorted() || text.contains('('), "{text}");
            prop_assert!(items.len() <= 4 * document.len());
        }
    }
}

const TEXT_PARTS: [&str; 38] = [
    "<a>",
    "</a>",
    "<b c='1'>",
    "</b>",
    "<",
    ">",
    "/>",
    "<a/>",
    "&",
    "&lt;",
    "&x;",
    "&#65;",
    "&#x",
    ";",
    "]]>",
    "<![CDATA[",
    "<!--",
    "-->",
    "--",
    "<?p",
    "?>",
    "<?xml version='1.0'?>",
    " ",
    "\n",
    "é",
    "x",
    "\"",
    "'",
    "=",
    "<!DOCTYPE a",
    " [",
    "<!ENTITY x \"<b>&y;</b>\">",
    "<!ENTITY y '&x;'>",
    "<!ATTLIST a c ID 'q'>",
    "]",
    "<p:q xmlns:p='urn:x'>",
    "</p:q>",
    "%z;",
];

const PATH_PARTS: [&str; 44] = [
    "/",
    "//",
    "*",
    "@",
    "shop",
    "book",
    "p",
    "t",
    "[",
    "]",
    "(",
    ")",
    "1",
    "2",
    ".5",
    ".",
    "..",
    "|",
    "+",
    "-",
    " div ",
    " mod ",
    " and ",
    " or ",
    "=",
    "!=",
    "<",
    ">=",
    "'x'",
    "count(",
    "string(",
    "position()",
    "last()",
    "text()",
    "node()",
    "ancestor::",
    "preceding::",
    "following-sibling::",
    "namespace::*",
    "self::",
    ",",
    "$v",
    "::",
    " ",
];
