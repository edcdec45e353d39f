//! Tests of paths.

use base::{SqlResult, SqlState};
use proptest::prelude::*;
use tuple::Datum;

use crate::{
    Call, FormatContext, oids,
    registry::{input, output},
};

use super::{Query, path_exists, path_match, path_query_array};

fn with<T>(f: impl FnOnce(&Call) -> T) -> T {
    let format = FormatContext::default();
    f(&Call::new(&format))
}

fn path(text: &str) -> SqlResult<Datum> {
    with(|cx| input(oids::jsonpath, text, -1, cx))
}

fn jsonb(text: &str) -> Datum {
    with(|cx| input(oids::jsonb, text, -1, cx)).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn text(type_oid: base::Oid, value: &Datum) -> String {
    let mut out = Vec::new();
    with(|cx| output(type_oid, value, cx, &mut out)).unwrap();
    String::from_utf8(out).unwrap()
}

fn all(document: &str, p: &str) -> SqlResult<String> {
    let (document, p) = (jsonb(document), path(p)?);
    with(|cx| {
        let query = Query::new(cx, &document, &p, &Datum::Null, false, false)?;
        Ok(text(oids::jsonb, &path_query_array(&query)?))
    })
}

#[test]
fn output_has_brackets_and_quotes_where_postgresql_puts_them() {
    for (given, shown) in [
        (
            "$.a[*] ? (@.b > 1 && !(@.c like_regex \"x\" flag \"i\")).d.type()",
            "$.\"a\"[*]?(@.\"b\" > 1 && !(@.\"c\" like_regex \"x\" flag \"i\")).\"d\".type()",
        ),
        (
            "strict $.a.** {2 to last}[0,1 to last] + 3 * -2",
            "strict ($.\"a\".**{2 to last}[0,1 to last] + 3 * -2)",
        ),
        ("1 + (2 - 3) - 4", "((1 + (2 - 3)) - 4)"),
        ("($.a + 1) * 2", "(($.\"a\" + 1) * 2)"),
        ("exists($.a) || ($ == 1) is unknown", "(exists ($.\"a\") || ($ == 1) is unknown)"),
        ("(-1).abs()", "(-1).abs()"),
    ] {
        let once = path(given).unwrap();
        assert_eq!(text(oids::jsonpath, &once), shown);
        assert_eq!(path(shown).unwrap(), once, "the shown form reads as the same path");
    }
}

#[test]
fn errors_name_the_token() {
    let message = |p: &str| path(p).unwrap_err().message().to_owned();
    assert_eq!(message("$."), "syntax error at end of jsonpath input");
    assert_eq!(message("1 ? (2)"), "syntax error at or near \")\" of jsonpath input");
    assert_eq!(message("@.a"), "@ is not allowed in root expressions");
    assert_eq!(message("1a"), "trailing junk after numeric literal at or near \"1a\" of jsonpath input");
    assert_eq!(
        path(&format!("{}1{}", "(".repeat(20_000), ")".repeat(20_000))).unwrap_err().code(),
        SqlState::STATEMENT_TOO_COMPLEX
    );
}

#[test]
fn lax_paths_unwrap_and_forgive_strict_ones_do_not() {
    assert_eq!(all("[{\"a\": 1}, {\"a\": [2, 3]}, 4]", "$.a").unwrap(), "[1, [2, 3]]");
    assert_eq!(all("[{\"a\": 1}]", "strict $.a").unwrap_err().code(), SqlState::SQL_JSON_MEMBER_NOT_FOUND);
    assert_eq!(all("[1, 2, 3]", "$[last - 1 to last]").unwrap(), "[2, 3]");
    assert_eq!(all("{\"a\": {\"b\": 1}}", "$.**{1 to last}").unwrap(), "[{\"b\": 1}, 1]");
    assert_eq!(all("[1, \"x\", null]", "$[*] ? (@ > 0)").unwrap(), "[1]");
    assert_eq!(
        all("\"2023-08-15 12:34:56+05:30\"", "$.datetime()").unwrap(),
        "[\"2023-08-15T12:34:56+05:30\"]"
    );
}

#[test]
fn unknown_is_neither_true_nor_false() {
    let found = |p: &str| {
        let (document, p) = (jsonb("[1, \"x\"]"), path(p).unwrap());
        with(|cx| path_match(&Query::new(cx, &document, &p, &Datum::Null, true, false)?)).unwrap()
    };
    assert_eq!(found("strict $[*] > 0"), None);
    assert_eq!(found("$[*] > 0"), Some(true));
    assert_eq!(found("strict ($[*] > 0) is unknown"), Some(true));
}

proptest! {
    #[test]
    fn any_text_gives_a_path_or_an_error(words in prop::collection::vec(prop::sample::select(vec![
        "$", "@", ".", "a", "\"x\"", "[", "]", "(", ")", "?", "*", "**", "{", "}", "1", "2.5", "to", "last", "&&", "||",
        "!", "==", "<", "+", "-", "exists", "is", "unknown", "type", "size", "like_regex", "starts", "with", "strict", "lax", "\\u", "$v", ",",
    ]), 0..14)) {
        for separator in ["", " "] {
            let Ok(p) = path(&words.join(separator)) else { continue };
            let shown = text(oids::jsonpath, &p);
            prop_assert_eq!(&path(&shown).unwrap(), &p, "{}", shown);
            let document = jsonb("[{\"a\": [1, {\"x\": 2}]}, \"x\", null, true]");
            with(|cx| {
                if let Ok(query) = Query::new(cx, &document, &p, &Datum::Null, true, false) {
                    let _ = path_exists(&query);
                    let _ = path_query_array(&query);
                }
            });
        }
    }
}
