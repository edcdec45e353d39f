//! Every type has a whole descriptor.

use std::cmp::Ordering;

use base::Oid;
use proptest::prelude::*;
use tuple::{Datum, Physical};
use types::registry::{self, builtin_types, opclasses::OPCLASSES, type_imp};
use types::{Call, FormatContext, Imp, oids};

/// Base types whose values only the server makes.
const MADE_BY_SERVER: [Oid; 5] =
    [oids::pg_node_tree, oids::pg_ndistinct, oids::pg_dependencies, oids::pg_mcv_list, oids::gtsvector];

/// A text that is a value of the type.
fn sample(type_oid: Oid) -> &'static str {
    match type_oid {
        oids::bool => "t",
        oids::tid => "(1,2)",
        oids::point => "(1,2)",
        oids::lseg | oids::r#box | oids::path | oids::polygon => "((1,2),(3,4))",
        oids::line => "{1,2,3}",
        oids::circle => "<(1,2),3>",
        oids::inet | oids::cidr => "10.0.0.0/8",
        oids::macaddr | oids::macaddr8 => "08:00:2b:01:02:03",
        oids::date => "2020-01-02",
        oids::time | oids::timetz => "03:04:05",
        oids::timestamp | oids::timestamptz => "2020-01-02 03:04:05",
        oids::interval => "1 day",
        oids::uuid => "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
        oids::pg_lsn => "16/B374D848",
        oids::pg_snapshot | oids::txid_snapshot => "1:5:2",
        oids::jsonpath => "$",
        oids::void => "",
        _ if registry::builtin_type(type_oid).is_some_and(|t| t.is_array() && t.storage == b'x') => "{}",
        _ => "1",
    }
}

#[test]
fn base_types_have_all_parts() {
    let format = FormatContext::default();
    let cx = Call::new(&format);
    for row in builtin_types().iter().filter(|row| row.kind == b'b') {
        let (oid, name, imp) = (row.oid, row.name, type_imp(row.oid));
        assert_eq!(imp.row.map(|row| row.oid), Some(oid), "{name}");
        let forms = row.io.map(|f| registry::function(f).map(|f| f.imp));
        assert!(
            matches!(forms[0], Some(Imp::Input(_))) && matches!(forms[1], Some(Imp::Output(_))),
            "{name}"
        );
        assert!(!registry::format_type(oid, None).unwrap().is_empty(), "{name}");
        let has_typmod = registry::typmod_in(oid, &["5"]).is_ok();
        assert_eq!(has_typmod, row.typmod_io[0].is_valid(), "{name}");
        // Names of roles are the session's.
        let unknown_here = MADE_BY_SERVER.contains(&oid) || oid == oids::aclitem;
        if unknown_here {
            continue;
        }
        let value = registry::input(oid, sample(oid), -1, &cx).unwrap_or_else(|e| panic!("{name}: {e:?}"));
        let (mut text, mut bytes) = (Vec::new(), Vec::new());
        registry::output(oid, &value, &cx, &mut text).unwrap_or_else(|e| panic!("{name}: {e:?}"));
        registry::send(oid, &value, &cx, &mut bytes).unwrap_or_else(|e| panic!("{name}: {e:?}"));
        let text = String::from_utf8(text).unwrap();
        assert_eq!(registry::input(oid, &text, -1, &cx).ok(), Some(value.clone()), "{name}");
        assert_eq!(registry::receive(oid, &bytes, -1, &cx).ok(), Some(value), "{name}");
    }
}

#[test]
fn what_can_be_ordered_or_hashed_can_be_compared() {
    for row in builtin_types() {
        let imp = type_imp(row.oid);
        let compares = imp.equal.is_some();
        assert!(imp.compare.is_none() || compares, "order of {}", row.name);
        // Arrays of what is in no order (`xid[]`) are hashed only.
        assert!(imp.hash.is_none() || compares || row.is_array(), "hash of {}", row.name);
        assert_eq!(imp.hash.is_some(), imp.seeded_hash.is_some(), "hashes of {}", row.name);
    }
    for class in OPCLASSES.iter().filter(|class| class.default) {
        let imp = type_imp(class.input);
        let has = match class.method.0 {
            403 => imp.compare.is_some(),
            405 => imp.seeded_hash.is_some(),
            // BRIN: what summarizes has its own functions.
            3580 => true,
            4000 => registry::is_space_class(class.oid),
            _ => registry::tree_class(class.oid).is_some() || registry::is_parts_class(class.oid),
        };
        assert!(has, "class {} of {}", class.name, class.method);
    }
}

/// Order of two values as their physical class has it.
fn plain(a: &Datum, b: &Datum) -> Ordering {
    match (a, b) {
        (Datum::Bool(a), Datum::Bool(b)) => a.cmp(b),
        (Datum::Char(a), Datum::Char(b)) => a.cmp(b),
        (Datum::Int2(a), Datum::Int2(b)) => a.cmp(b),
        (Datum::Int4(a), Datum::Int4(b)) => a.cmp(b),
        (Datum::Int8(a), Datum::Int8(b)) => a.cmp(b),
        (Datum::Oid(a), Datum::Oid(b)) => a.cmp(b),
        (Datum::Float4(a), Datum::Float4(b)) => a.total_cmp(b),
        (Datum::Float8(a), Datum::Float8(b)) => a.total_cmp(b),
        (Datum::Bytes(a), Datum::Bytes(b)) => a[..].cmp(&b[..]),
        other => panic!("values of two classes: {other:?}"),
    }
}

/// Values of a physical class at its ends and beside.
fn extremes(physical: Physical) -> Vec<Datum> {
    match physical {
        Physical::Bool => [false, true].map(Datum::Bool).into(),
        Physical::Char => [0, 1, 127, 128, 255].map(Datum::Char).into(),
        Physical::Int2 => [i16::MIN, -1, 0, 1, i16::MAX].map(Datum::Int2).into(),
        Physical::Int4 => [i32::MIN, -1, 0, 1, i32::MAX].map(Datum::Int4).into(),
        Physical::Int8 => [i64::MIN, -1, 0, 1, i64::MAX].map(Datum::Int8).into(),
        Physical::Oid => [0, 1, 1 << 31, u32::MAX].map(Datum::Oid).into(),
        Physical::Float4 => [f32::NEG_INFINITY, -1.0, 0.0, f32::NAN].map(Datum::Float4).into(),
        Physical::Float8 => [f64::NEG_INFINITY, -1.0, 0.0, f64::NAN].map(Datum::Float8).into(),
        Physical::Fixed(n) => {
            let first = |byte| {
                Datum::Bytes((0..n).map(|i| if i == 0 { byte } else { 7 }).collect::<Vec<u8>>().into())
            };
            [0, 1, 127, 128, 255].map(first).into()
        }
        Physical::Name | Physical::Varlena => ["", " ", "A", "a", "a ", "aB", "ä"].map(Datum::text).into(),
    }
}

#[test]
fn a_plain_order_is_that_of_the_stored_form() {
    for row in builtin_types().iter().filter(|row| type_imp(row.oid).plain_order) {
        let imp = type_imp(row.oid);
        let values = extremes(row.physical);
        for (a, b) in values.iter().flat_map(|a| values.iter().map(move |b| (a, b))) {
            let found = imp.compare.map(|compare| compare(a, b));
            assert_eq!(found, Some(plain(a, b)), "{}: {a:?} and {b:?}", row.name);
            assert_eq!(
                imp.equal.map(|equal| equal(a, b)),
                Some(a == b || plain(a, b).is_eq()),
                "{}",
                row.name
            );
        }
    }
    for oid in [oids::int4, oids::int8, oids::date, oids::text, oids::uuid, oids::regclass] {
        assert!(type_imp(oid).plain_order, "{oid}");
    }
    for oid in [oids::bpchar, oids::xid, oids::xid8, oids::pg_lsn, oids::inet, oids::tid, oids::bit] {
        assert!(!type_imp(oid).plain_order, "{oid}");
    }
}

#[test]
fn types_made_at_run_time_share_one_descriptor() {
    let made = type_imp(Oid(16_384));
    for oid in [0, 9_999, 10_000, 16_385, u32::MAX] {
        assert!(std::ptr::eq(type_imp(Oid(oid)), made), "{oid}");
    }
    assert!(made.row.is_none() && made.compare.is_none());
    // In no catalog, but compared.
    assert!(registry::builtin_type(oids::folded).is_none());
    assert!(type_imp(oids::folded).compare.is_some());
}

proptest! {
    #[test]
    fn equal_values_of_a_family_hash_equal(v in any::<i16>(), text in "[a-cA-C ]{0,6}", seed in any::<u64>()) {
        let padded = format!("{}  ", text.trim_end());
        let families: [&[(Oid, Datum)]; 6] = [
            &[
                (oids::int2, Datum::Int2(v)),
                (oids::int4, Datum::Int4(v.into())),
                (oids::int8, Datum::Int8(v.into())),
            ],
            &[(oids::float4, Datum::Float4(v.into())), (oids::float8, Datum::Float8(v.into()))],
            &[
                (oids::text, Datum::text(&text)),
                (oids::varchar, Datum::text(&text)),
                (oids::name, Datum::text(&text)),
            ],
            &[(oids::bpchar, Datum::text(text.trim_end())), (oids::bpchar, Datum::text(&padded))],
            &[(oids::folded, Datum::text(&text)), (oids::folded, Datum::text(&text.to_lowercase()))],
            &[(oids::oid, Datum::Oid(v as u32)), (oids::regclass, Datum::Oid(v as u32))],
        ];
        for family in families {
            let (first_type, first) = &family[0];
            let of = type_imp(*first_type);
            for (type_oid, value) in family {
                let imp = type_imp(*type_oid);
                prop_assert!(imp.equal.unwrap()(first, value), "{:?} of type {}", value, type_oid);
                prop_assert!(imp.compare.unwrap()(first, value).is_eq());
                prop_assert_eq!(imp.hash.unwrap()(value), of.hash.unwrap()(first));
                prop_assert_eq!(imp.seeded_hash.unwrap()(value, seed), of.seeded_hash.unwrap()(first, seed));
            }
        }
    }
}
