//! Shapes against the grammar's own lexer, and what counts as a value.

use proptest::prelude::*;
use rupg_sql::Lexer;

use super::*;

/// Kind and text of every token; `None` if the lexer refuses the text.
fn tokens(text: &str) -> Option<Vec<(u16, usize, usize)>> {
    let mut lexer = Lexer::new(text);
    let mut tokens = Vec::new();
    loop {
        let token = lexer.next_token().ok()?;
        if token.kind == 0 {
            return Some(tokens);
        }
        tokens.push((token.kind, token.start, token.end));
    }
}

/// Another literal of the same class.
fn other(class: Class, salt: usize) -> &'static str {
    let choice: [&str; 3] = match class {
        Class::Int4 => ["7", "2147483647", "0012"],
        Class::Int8 => ["2147483648", "9223372036854775807", "00000003000000000"],
        Class::Numeric => ["0.5", "123456789012345678901234567890.25", "3.000"],
        Class::Text => ["''", "'it''s -- /* $1 */ \"x\" \\'", "'é\n;'"],
    };
    choice[salt % 3]
}

/// The text with all its literals replaced.
fn replaced(shape: &Shape<'_>, salt: usize) -> String {
    let mut text = String::new();
    let mut from = 0;
    for (i, literal) in shape.literals().iter().enumerate() {
        text += &shape.text()[from..literal.start];
        text += other(literal.class, salt + i);
        from = literal.end;
    }
    text + &shape.text()[from..]
}

fn check(text: &str, salt: usize) {
    let Some(shape) = scan(text) else { return };
    let Some(before) = tokens(text) else { return };
    let second = replaced(&shape, salt);
    let Some(again) = scan(&second) else { panic!("{second:?} has no shape, {text:?} has") };
    assert!(again.fits(&shape.skeleton()) && shape.fits(&again.skeleton()), "{text:?} {second:?}");
    assert_eq!(again.hash(), shape.hash());
    let after = tokens(&second).unwrap_or_else(|| panic!("{second:?} has no tokens, {text:?} has"));
    assert_eq!(before.len(), after.len(), "{text:?} {second:?}");
    let mut literals = shape.literals().iter().zip(again.literals()).peekable();
    for (old, new) in before.iter().zip(&after) {
        assert_eq!(old.0, new.0, "{text:?} {second:?}");
        match literals.next_if(|(literal, _)| literal.start == old.1) {
            Some((a, b)) => assert_eq!((a.end, b.start, b.end), (old.2, new.1, new.2), "{text:?}"),
            None => assert_eq!(text[old.1..old.2], second[new.1..new.2], "{text:?} {second:?}"),
        }
    }
    assert!(literals.next().is_none(), "a literal of {text:?} is no token");
}

const PIECES: [&str; 60] = [
    " ",
    " ",
    " ",
    "\n",
    "\t",
    ",",
    "(",
    ")",
    "=",
    "-",
    "- ",
    "+",
    "*",
    "/",
    "<",
    ">=",
    "||",
    "::",
    ".",
    ";",
    "[",
    "]",
    "$",
    "$1",
    "'",
    "''",
    "'a'",
    "'a' 'b'",
    "'a'\n'b'",
    "\"",
    "\"A b\"",
    "--",
    "-- c\n",
    "/*",
    "*/",
    "/* c */",
    "e",
    "E'x'",
    "n'x'",
    "b'1'",
    "x'f'",
    "u&'x'",
    "u&\"x\"",
    "a",
    "a1",
    "é",
    "date ",
    "and ",
    "from ",
    "0",
    "5",
    "12345678901",
    "99999999999999999999",
    "1.5",
    "1.",
    ".5",
    "1e5",
    "0x1F",
    "1_000",
    "'it''s'",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn texts_of_one_shape_are_the_same_tokens(
        pieces in prop::collection::vec(0..PIECES.len(), 0..16),
        salt in 0..3_usize,
    ) {
        let text: String = pieces.iter().map(|i| PIECES[*i]).collect();
        check(&format!("select {text}"), salt);
    }

    #[test]
    fn skeletons_tell_texts_apart(
        first in prop::collection::vec(0..PIECES.len(), 0..6),
        second in prop::collection::vec(0..PIECES.len(), 0..6),
    ) {
        let text = |pieces: &[usize]| pieces.iter().fold("select ".to_owned(), |text, i| text + PIECES[*i]);
        let (first, second) = (text(&first), text(&second));
        if let (Some(a), Some(b)) = (scan(&first), scan(&second)) {
            assert_eq!(a.fits(&b.skeleton()), a.skeleton() == b.skeleton(), "{first:?} {second:?}");
        }
    }
}

#[test]
fn literals_and_their_classes() {
    let text = "Select a1, 'it''s' From t -- 5 'x'\n Where b = 12 /* 'y' /* 7 */ */ And \"c 8\" < 2147483648 Or d>-1.50 ; ";
    let shape = scan(text).unwrap();
    let found: Vec<_> = shape.literals().iter().map(|l| (shape.written(l), l.class)).collect();
    let expected = [
        ("'it''s'", Class::Text),
        ("12", Class::Int4),
        ("2147483648", Class::Int8),
        ("1.50", Class::Numeric),
    ];
    assert_eq!(found, expected);
    assert_eq!(shape.skeleton().len(), text.len() - 7 - 2 - 10 - 4 + 4);
}

#[test]
fn unusual_texts_have_no_shape() {
    for text in [
        "",
        "begin",
        "selected",
        "with x as (select 1) select 1",
        "select 1; select 2",
        "select $1",
        "select $$x$$",
        "select e'x'",
        "select E'x'",
        "select b'1'",
        "select x'1'",
        "select n'1'",
        "select u&'x'",
        "select u&\"x\"",
        "select 'a' 'b'",
        "select 'a' -- c\n 'b'",
        "select 1e5",
        "select 1.",
        "select .5",
        "select 0x1f",
        "select 1_000",
        "select 5x",
        "select 99999999999999999999",
        "select 'a",
        "select \"a",
        "select /* a",
        "select \u{1}",
        "select \"\u{1}\"",
        "select -- \u{1}",
        "select /* \u{1} */ 1",
    ] {
        assert!(scan(text).is_none(), "{text:?}");
    }
    assert!(scan(&format!("select '{}'", "x".repeat(LONGEST))).is_none());
    assert!(scan(&format!("select {}1", "1,".repeat(MOST_LITERALS))).is_none());
    assert!(scan("select e, x, u, 'e' from b -- no statement\n").is_some());
}

/// The literals that are values, with their signs.
fn found(text: &str) -> String {
    let shape = scan(text).unwrap_or_else(|| panic!("no shape: {text}"));
    let statement = &crate::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"))[0].stmt;
    let values = values(statement, &shape);
    let written = |v: &Value| {
        let literal = &shape.literals()[v.literal];
        text[literal.start - v.sign..literal.end].to_owned()
    };
    let texts = values.iter().map(written);
    texts.collect::<Vec<_>>().join(" ")
}

#[test]
fn values_are_those_beside_columns_and_in_new_rows() {
    for (text, expected) in [
        ("select a from t where b = 5", "5"),
        ("select 1, a + 2, f(3) from t where 4 < b and not (c = 'x' or d is null)", "4 'x'"),
        ("select a from t where b = -5 and c = - 6 and d - 7 > 8.5 and e > - /* */ 9", "-5 - 6 7 8.5"),
        ("select a from t where b = -3000000000 and c = 3000000000", "3000000000"),
        ("select a from t where b = - - 5", ""),
        ("select a from t where b in (1, 2, 1 + 1) and c not between 3 and 4", "1 2 3 4"),
        ("select a from t where b like 'x%' and c ~ 'y' and d @> 'z' and e similar to 'w'", ""),
        (
            "select a from t where b = date '2020-01-01' and c = '2020-01-02'::date and d = cast('x' as text)",
            "'2020-01-02' 'x'",
        ),
        ("select a from t where b = 1::int8 and f(2) = 3 and f(c, 4) = 5", "5"),
        ("select a from t where 1 = 2 and (b, 3) = (4, 5) and b[6] = 7", "7"),
        ("select a from t group by 1, b + 2 having max(c) > 3 order by 4, b + 5 limit 6 offset 7", "7"),
        ("select a from t limit 5 offset '6'", ""),
        ("select 1 from t join u on t.a = u.a and u.b = 2, (select 3 from v where c = 4) w", "2 4"),
        (
            "select a from t where exists (select 1 from u where b = 2) and c = (select d from v where e = 3)",
            "2 3",
        ),
        ("select a from t where b = 1 union select 2 from u where c = 3 order by 1", "1 3"),
        ("insert into t (a, b, c) values (1, -2, default)", "1 -2"),
        ("insert into t values (1 + 2, f(3), null, 'x', '{4}'::int[])", "'x' '{4}'"),
        ("insert into t values (1, 2), (3, 4)", ""),
        ("insert into t select 1, a from u where b = 2", "2"),
        (
            "insert into t values (1) on conflict (a) where b = 2 do update set c = 3, d = t.d + 4 where t.e = 5 returning 6",
            "1 3 4 5",
        ),
        (
            "update t set a = 1, b = b + 2, c = f(3), (d, e) = (4, 5) from u where g = 6 returning a + 7",
            "1 2 6",
        ),
        ("delete from t using u where t.a = 1 and u.b = t.b + 2 returning 3", "1 2"),
        ("select a from t where case when b = 1 then 2 else 3 end = 4", ""),
    ] {
        assert_eq!(found(text), expected, "{text}");
    }
}
