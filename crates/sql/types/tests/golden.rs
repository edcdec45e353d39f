//! Calls of registered functions and the results that PostgreSQL 18 gives for them.
//!
//! `tests/golden.txt`: function OID, argument types, result type, arguments, result, separated by tabs; `\N` is NULL,
//! `ERROR` begins an error's SQLSTATE and message. Every line was confirmed by a running PostgreSQL 18.1.

use collation::{Definition, Provider};
use std::cell::RefCell;
use types::text::FiberFacts;

use base::{Oid, SqlResult};
use tuple::Datum;
use types::{Call, FormatContext, Imp, Session, random::Random, registry};

struct Seeded(RefCell<Random>);

impl Session for Seeded {
    fn with_random(&self, use_it: &mut dyn FnMut(&mut Random)) {
        use_it(&mut self.0.borrow_mut());
    }
}

fn unescape(text: &str) -> String {
    text.replace("\\t", "\t").replace("\\n", "\n").replace("\\\\", "\\")
}

fn show(type_oid: Oid, value: &Datum, cx: &Call) -> SqlResult<String> {
    if value.is_null() {
        return Ok("\\N".into());
    }
    let mut text = Vec::new();
    registry::output(type_oid, value, cx, &mut text)?;
    // The binary form brings the same value back.
    let mut sent = Vec::new();
    registry::send(type_oid, value, cx, &mut sent)?;
    let back = registry::receive(type_oid, &sent, -1, cx)?;
    let mut again = Vec::new();
    registry::output(type_oid, &back, cx, &mut again)?;
    assert_eq!(text, again, "binary form of {type_oid}");
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn run(fields: &[&str], cx: &Call, types: &[Oid], result: Oid) -> SqlResult<String> {
    let function = registry::function(Oid(fields[0].parse().unwrap())).expect("a registered function");
    let mut args = Vec::new();
    for (text, type_oid) in fields[3..].iter().zip(types) {
        args.push(if *text == "\\N" {
            Datum::Null
        } else {
            registry::input(*type_oid, &unescape(text), -1, cx)?
        });
    }
    if function.strict && args.iter().any(Datum::is_null) {
        return Ok("\\N".into());
    }
    match function.imp {
        Imp::Native(eval) => show(result, &eval(cx, &args)?, cx),
        Imp::Set(start) => {
            let mut rows = start(cx, &args)?;
            let (mut row, mut out) = (Vec::new(), Vec::new());
            while out.len() < 51 && rows.next(&mut row)? {
                out.push(show(result, &row[0], cx)?);
            }
            Ok(out.join(";"))
        }
        _ => panic!("{} is not carried out here", function.name),
    }
}

#[test]
fn calls_give_postgresqls_results() {
    // They come from a database with letters beyond ASCII.
    let locale = "C.UTF-8";
    let rules = Definition { provider: Provider::Builtin, locale, deterministic: true };
    let default_rules = collation::rules(rules).unwrap().number();
    FiberFacts { default_rules, ..FiberFacts::default() }.apply();
    let format = FormatContext::default();
    let session = Seeded(RefCell::new(Random::new(1)));
    let mut wrong = Vec::new();
    for line in include_str!("golden.txt").lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let (expected, call) = fields.split_last().expect("a result");
        let types: Vec<Oid> =
            call[1].split(',').filter(|t| !t.is_empty()).map(|t| Oid(t.parse().unwrap())).collect();
        let result = Oid(call[2].parse().unwrap());
        let cx = Call::new(&format).with_session(&session).with_types(&types, result);
        let got =
            run(call, &cx, &types, result).unwrap_or_else(|e| format!("ERROR {} {}", e.code(), e.message()));
        let got = got.replace('\\', "\\\\").replace('\n', "\\n").replace('\t', "\\t");
        if got != *expected {
            wrong.push(format!("{line}\n  got {got}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn registry_is_consistent() {
    for pair in registry::functions().windows(2) {
        assert!(pair[0].oid < pair[1].oid, "{} twice", pair[1].oid);
    }
    for op in registry::operators::OPERATORS {
        let function = registry::function(op.function).expect("the operator's function");
        let args: Vec<Oid> = [op.left, op.right].into_iter().filter(|t| t.is_valid()).collect();
        assert_eq!(function.args.len(), args.len(), "operator {}", op.oid);
        for other in [op.commutator, op.negator] {
            assert!(!other.is_valid() || registry::operator(other).is_some(), "operator {}", op.oid);
        }
    }
    // What is looked for by halving stands in order, or is not found.
    for cast in registry::casts::CASTS {
        let found = registry::cast(cast.source, cast.target).map(|found| found.oid);
        assert_eq!(found, Some(cast.oid), "cast of {} to {}", cast.source, cast.target);
    }
    for aggregate in registry::aggregates::AGGREGATES {
        assert!(registry::aggregate(aggregate.function).is_some(), "aggregate {}", aggregate.function);
    }
    for ty in registry::builtin_types() {
        assert!(registry::builtin_type(ty.oid).is_some(), "type {}", ty.oid);
        for function in ty.io.iter().chain(&ty.typmod_io).chain([&ty.subscript]) {
            assert!(
                !function.is_valid() || registry::function(*function).is_some(),
                "type {} names {function}",
                ty.name
            );
        }
        if ty.array.is_valid() {
            assert_eq!(registry::builtin_type(ty.array).map(|a| a.element), Some(ty.oid), "type {}", ty.name);
        }
    }
    for class in registry::opclasses::OPCLASSES {
        let known = registry::compare(class.input).is_some() || registry::equal(class.input).is_some();
        let pseudo = registry::builtin_type(class.input).is_some_and(|t| t.kind == b'p');
        // What keeps a tree without an order compares by itself.
        let tree = registry::tree_class(class.oid).is_some() || registry::is_parts_class(class.oid);
        let summary = class.method == Oid(3580);
        let space = registry::is_space_class(class.oid);
        assert!(
            known || pseudo || tree || summary || space,
            "operator class {} over {}",
            class.name,
            class.input
        );
    }
    for aggregate in registry::aggregates::AGGREGATES {
        assert_eq!(registry::function(aggregate.function).map(|f| f.kind), Some(b'a'));
    }
}
