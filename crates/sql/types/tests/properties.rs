//! Properties that hold for all values: arithmetic against big integers, forms that come back, orders that agree with
//! hashes, decoders that survive any bytes.

use num_bigint::BigInt;
use proptest::prelude::*;
use tuple::Datum;
use types::{Call, FormatContext, numeric::Numeric, oids, registry};

/// A decimal as digits and scale, and the same as a big integer.
fn decimal() -> impl Strategy<Value = (String, BigInt, u32)> {
    ("-?[1-9][0-9]{0,60}", 0u32..30).prop_map(|(digits, scale)| {
        let value: BigInt = digits.parse().unwrap();
        (format!("{digits}e-{scale}"), value, scale)
    })
}

fn scaled(value: &BigInt, by: u32) -> BigInt {
    value * BigInt::from(10).pow(by)
}

/// A big integer with a scale as text in PostgreSQL's form.
fn text(value: &BigInt, scale: u32) -> String {
    let negative = value < &BigInt::from(0);
    let digits = format!("{:0>width$}", value.magnitude().to_string(), width = scale as usize + 1);
    let (whole, part) = digits.split_at(digits.len() - scale as usize);
    let point = if scale > 0 { "." } else { "" };
    format!("{}{whole}{point}{part}", if negative { "-" } else { "" })
}

proptest! {
    #[test]
    fn numeric_sums_and_products_are_exact(a in decimal(), b in decimal()) {
        let (x, y) = (Numeric::parse(&a.0).unwrap(), Numeric::parse(&b.0).unwrap());
        let scale = a.2.max(b.2);
        let (p, q) = (scaled(&a.1, scale - a.2), scaled(&b.1, scale - b.2));
        prop_assert_eq!(x.add(&y).to_string(), text(&(&p + &q), scale));
        prop_assert_eq!(x.sub(&y).to_string(), text(&(&p - &q), scale));
        prop_assert_eq!(x.mul(&y).to_string(), text(&(&a.1 * &b.1), a.2 + b.2));
        prop_assert_eq!(x.compare(&y), p.cmp(&q));
        let whole = &p / &q;
        prop_assert_eq!(x.div_whole(&y).unwrap().to_string(), text(&whole, 0));
        prop_assert_eq!(x.rem(&y).unwrap().to_string(), text(&(&p - &whole * &q), scale));
    }

    #[test]
    fn numeric_quotient_is_rounded_half_away_from_zero(a in decimal(), b in decimal()) {
        let (x, y) = (Numeric::parse(&a.0).unwrap(), Numeric::parse(&b.0).unwrap());
        let quotient = x.div(&y).unwrap();
        let scale = quotient.scale() as u32;
        // value = round(a · 10^(scale + scale_b) / (b · 10^scale_a))
        let (p, q) = (scaled(&a.1, scale + b.2), scaled(&b.1, a.2));
        let negative = (p < BigInt::from(0)) != (q < BigInt::from(0));
        let (p, q) = (BigInt::from(p.magnitude().clone()), BigInt::from(q.magnitude().clone()));
        let rounded: BigInt = (&p * 2 + &q) / (&q * 2);
        prop_assert_eq!(quotient.to_string(), text(&if negative { -rounded } else { rounded }, scale));
    }

    #[test]
    fn numeric_square_root_is_within_half_a_unit(a in decimal()) {
        let x = Numeric::parse(a.0.trim_start_matches('-')).unwrap();
        let root = x.sqrt().unwrap();
        let half_unit = Numeric::parse(&format!("5e-{}", root.scale() + 1)).unwrap();
        let (low, high) = (root.sub(&half_unit), root.add(&half_unit));
        prop_assert!(low.mul(&low).compare(&x).is_le() && high.mul(&high).compare(&x).is_ge());
    }

    #[test]
    fn numeric_payload_and_text_come_back(a in decimal()) {
        let x = Numeric::parse(&a.0).unwrap();
        let back = Numeric::from_payload(&x.to_payload());
        prop_assert_eq!(back.to_string(), x.to_string());
        prop_assert_eq!(Numeric::parse(&x.to_string()).unwrap().to_string(), x.to_string());
        prop_assert_eq!(x.to_f64().to_string(), a.0.parse::<f64>().unwrap().to_string());
    }

    #[test]
    fn integers_of_all_widths_compare_and_hash_alike(v in any::<i16>(), w in any::<i64>()) {
        let hash = registry::hash(oids::int8).unwrap();
        let forms = [Datum::Int2(v), Datum::Int4(v.into()), Datum::Int8(v.into())];
        for form in &forms {
            prop_assert_eq!(hash(form), hash(&forms[0]));
            prop_assert_eq!(registry::compare(oids::int4).unwrap()(form, &Datum::Int8(w)), i64::from(v).cmp(&w));
        }
    }

    #[test]
    fn equal_values_hash_equal(a in "-?[0-9]{1,4}\\.[0-9]{0,3}", zeros in 0usize..6, days in -400i32..400, months in -30i32..30) {
        let format = FormatContext::default();
        let cx = Call::new(&format);
        let pairs = [
            (oids::numeric, a.clone(), format!("{a}{}", "0".repeat(zeros))),
            (oids::bpchar, a.clone(), format!("{a}{}", " ".repeat(zeros))),
            (oids::interval, format!("{months} mons {days} days"), format!("{} days", months * 30 + days)),
            (oids::float8, "0".into(), "-0".into()),
        ];
        for (type_oid, x, y) in pairs {
            let x = registry::input(type_oid, &x, -1, &cx).unwrap();
            let y = registry::input(type_oid, &y, -1, &cx).unwrap();
            prop_assert!(registry::equal(type_oid).unwrap()(&x, &y));
            let hash = registry::hash(type_oid).unwrap();
            prop_assert_eq!(hash(&x), hash(&y), "type {}", type_oid);
        }
    }

    #[test]
    fn timestamps_come_back_through_text(ts in -211_813_488_000_000_000i64..9_223_371_331_200_000_000) {
        for zone in ["UTC", "America/New_York", "Asia/Kolkata"] {
            let format = FormatContext { time_zone: types::timezone::TimeZone::named(zone).unwrap(), ..FormatContext::default() };
            let cx = Call::new(&format);
            for type_oid in [oids::timestamp, oids::timestamptz] {
                let mut out = Vec::new();
                registry::output(type_oid, &Datum::Int8(ts), &cx, &mut out).unwrap();
                let text = String::from_utf8(out).unwrap();
                // The very last local times lie beyond the range in a zone east or west.
                if let Ok(back) = registry::input(type_oid, &text, -1, &cx) {
                    prop_assert_eq!(back, Datum::Int8(ts), "{}", text);
                }
            }
        }
    }

    #[test]
    fn decoders_survive_any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        let format = FormatContext::default();
        let cx = Call::new(&format);
        for ty in registry::builtin_types() {
            if let Ok(value) = registry::receive(ty.oid, &bytes, -1, &cx) {
                let mut out = Vec::new();
                registry::output(ty.oid, &value, &cx, &mut out).ok();
                if let Some(compare) = registry::compare(ty.oid) {
                    prop_assert!(compare(&value, &value).is_eq());
                }
            }
        }
        // Damaged payloads of stored values.
        let stored = Datum::Bytes(bytes.as_slice().into());
        for type_oid in [oids::numeric, oids::_int4, oids::_text, oids::interval, oids::timetz, oids::oidvector] {
            let mut out = Vec::new();
            registry::output(type_oid, &stored, &cx, &mut out).ok();
        }
    }

    #[test]
    fn text_input_survives_any_text(text in "\\PC{0,40}|[-+0-9:.T eE{}\",\\[\\]a-z/]{0,40}") {
        let format = FormatContext::default();
        let cx = Call::new(&format);
        for ty in registry::builtin_types() {
            if let Ok(value) = registry::input(ty.oid, &text, -1, &cx) {
                let mut out = Vec::new();
                registry::output(ty.oid, &value, &cx, &mut out).unwrap();
            }
        }
    }

    #[test]
    fn arrays_come_back(rows in 1usize..4, columns in 1usize..4, texts in proptest::collection::vec(proptest::option::of("\\PC{0,6}"), 16)) {
        let format = FormatContext::default();
        let cx = Call::new(&format);
        let quoted = |i: usize| texts[i].as_ref().map_or("NULL".into(), |t: &String| {
            format!("\"{}\"", t.replace('\\', "\\\\").replace('"', "\\\""))
        });
        let inner = |r: usize| (0..columns).map(|c| quoted(r * columns + c)).collect::<Vec<_>>().join(",");
        let text = format!("{{{}}}", (0..rows).map(|r| format!("{{{}}}", inner(r))).collect::<Vec<_>>().join(","));
        let value = registry::input(oids::_text, &text, -1, &cx).unwrap();
        let mut out = Vec::new();
        registry::output(oids::_text, &value, &cx, &mut out).unwrap();
        let again = registry::input(oids::_text, std::str::from_utf8(&out).unwrap(), -1, &cx).unwrap();
        prop_assert_eq!(&again, &value);
        let Datum::Bytes(bytes) = &value else { panic!("an array") };
        let array = types::array::Array::from_payload(bytes);
        for (i, element) in array.elements().iter().enumerate() {
            let expected = texts[i].as_ref().map_or(Datum::Null, |t| Datum::text(t));
            prop_assert_eq!(element, &expected);
        }
    }
}
