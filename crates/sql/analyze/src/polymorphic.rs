//! Polymorphic types: what `anyelement` and its kin stand for in one call.
//!
//! PostgreSQL counterpart: `enforce_generic_type_consistency` of `parse_coerce.c`.

use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::view::TypeKind;
use types::oids;
use types::range::RangeInfo;

use crate::core::Analyzer;
use crate::expr::Location;
use crate::lookup::{is_compatible_family, is_polymorphic};

/// What a family of polymorphic types stands for in a call.
#[derive(Clone, Copy, Default)]
struct Actual {
    /// Some argument is declared so.
    used: bool,
    /// The element type; none if all arguments declared so are literals.
    element: Option<Oid>,
    /// The range type, where an argument gives one.
    range: Option<RangeInfo>,
}

/// The types of the arguments of one call, by what they are declared as.
#[derive(Default)]
struct Slots {
    used: bool,
    element: Option<Oid>,
    array: Option<Oid>,
    range: Option<Oid>,
    multirange: Option<Oid>,
    /// Some argument is declared `anynonarray`, `anyenum`.
    nonarray: bool,
    enumeration: bool,
}

fn undetermined(declared: Oid) -> SqlError {
    let name = types::format_type(declared, None).unwrap_or_default();
    sql_err!(
        DATATYPE_MISMATCH,
        "could not determine polymorphic type {name} because input has type {}",
        "unknown"
    )
}

impl Analyzer<'_> {
    /// Checks a call's polymorphic arguments against each other and gives the result type; declared types are replaced by the
    /// actual ones.
    pub(crate) fn resolve_polymorphic(
        &mut self,
        actual: &[Oid],
        declared: &mut [Oid],
        result: Oid,
    ) -> SqlResult<Oid> {
        if !declared.iter().any(|t| is_polymorphic(*t)) && !is_polymorphic(result) {
            return Ok(result);
        }
        let unknown = |a: &Self| {
            sql_err!(
                DATATYPE_MISMATCH,
                "could not determine polymorphic type because input has type {}",
                a.type_text(oids::unknown)
            )
        };
        let strict = self.strict_polymorphic(actual, declared)?;
        if strict.used && strict.element.is_none() {
            return Err(unknown(self));
        }
        let compatible = self.compatible_polymorphic(actual, declared)?;
        let ranges = [oids::anycompatiblerange, oids::anycompatiblemultirange];
        let asked = ranges.into_iter().find(|range| declared.contains(range) || result == *range);
        if let Some(range) = asked.filter(|_| compatible.range.is_none()) {
            return Err(undetermined(range));
        }
        for (i, d) in declared.iter_mut().enumerate() {
            if let Some(t) = self.polymorphic_actual(*d, strict, compatible)? {
                *d = t;
            } else if is_polymorphic(*d) {
                *d = actual[i];
            }
        }
        if !is_polymorphic(result) {
            return Ok(result);
        }
        self.polymorphic_actual(result, strict, compatible)?.ok_or_else(|| unknown(self))
    }

    /// What one polymorphic type stands for; none if nothing says it.
    fn polymorphic_actual(
        &self,
        declared: Oid,
        strict: Actual,
        compatible: Actual,
    ) -> SqlResult<Option<Oid>> {
        let of = if is_compatible_family(declared) { compatible } else { strict };
        let Some(element) = of.element.filter(|_| is_polymorphic(declared)) else { return Ok(None) };
        let range = || of.range.ok_or_else(|| undetermined(declared));
        match declared {
            oids::anyrange | oids::anycompatiblerange => return range().map(|info| Some(info.range)),
            oids::anymultirange | oids::anycompatiblemultirange => {
                return range().map(|info| Some(info.multirange));
            }
            oids::anyarray | oids::anycompatiblearray => {}
            _ => return Ok(Some(element)),
        }
        if element == oids::anyelement {
            return Ok(Some(oids::anyarray));
        }
        let array = self.array_type(element)?;
        if !array.is_valid() {
            return Err(sql_err!(
                UNDEFINED_OBJECT,
                "could not find array type for data type {}",
                self.type_text(element)
            ));
        }
        Ok(Some(array))
    }

    /// Whether the polymorphic arguments of a call agree.
    pub(crate) fn polymorphic_fits(&self, actual: &[Oid], declared: &[Oid]) -> SqlResult<bool> {
        Ok(self.strict_polymorphic(actual, declared).is_ok()
            && self.compatible_polymorphic(actual, declared).is_ok())
    }

    /// The arguments of the family of `anyelement`; those of one declared type must be alike.
    fn strict_slots(&self, actual: &[Oid], declared: &[Oid]) -> SqlResult<Slots> {
        let mut slots = Slots::default();
        for (a, d) in actual.iter().zip(declared) {
            let (slot, which) = match *d {
                oids::anyarray => (&mut slots.array, "anyarray"),
                oids::anyrange => (&mut slots.range, "anyrange"),
                oids::anymultirange => (&mut slots.multirange, "anymultirange"),
                oids::anyelement | oids::anynonarray | oids::anyenum => (&mut slots.element, "anyelement"),
                _ => continue,
            };
            slots.used = true;
            slots.nonarray |= *d == oids::anynonarray;
            slots.enumeration |= *d == oids::anyenum;
            if *a == oids::unknown {
                continue;
            }
            let a = if which == "anyelement" { *a } else { self.base_type(*a, -1)?.0 };
            match *slot {
                Some(before) if before != a => {
                    let error =
                        sql_err!(DATATYPE_MISMATCH, "arguments declared \"{which}\" are not all alike");
                    return Err(self.versus(error, before, a));
                }
                _ => *slot = Some(a),
            }
        }
        Ok(slots)
    }

    fn versus(&self, error: SqlError, one: Oid, other: Oid) -> SqlError {
        error.detail(format!("{} versus {}", self.type_text(one), self.type_text(other)))
    }

    fn inconsistent(&self, (declared, one): (&str, Oid), (other_declared, other): (&str, Oid)) -> SqlError {
        let error = sql_err!(
            DATATYPE_MISMATCH,
            "argument declared {declared} is not consistent with argument declared {other_declared}"
        );
        self.versus(error, one, other)
    }

    fn not_such(&self, declared: &str, what: &str, actual: Oid) -> SqlError {
        sql_err!(
            DATATYPE_MISMATCH,
            "argument declared {declared} is not {what} but type {}",
            self.type_text(actual)
        )
    }

    /// What `anyelement`, `anyarray`, `anyrange`... stand for in one call.
    fn strict_polymorphic(&self, actual: &[Oid], declared: &[Oid]) -> SqlResult<Actual> {
        let slots = self.strict_slots(actual, declared)?;
        let mut element = slots.element;
        if let Some(array) = slots.array.filter(|a| *a != oids::anyarray) {
            let of = self.element_type(array)?;
            if !of.is_valid() {
                return Err(self.not_such("anyarray", "an array", array));
            }
            match element {
                Some(e) if e != of => return Err(self.inconsistent(("anyarray", array), ("anyelement", e))),
                _ => element = Some(of),
            }
        } else if slots.array.is_some() {
            element = element.or(Some(oids::anyelement));
        }
        let range = self.strict_range(&slots)?;
        if let Some((info, (declared, given))) = range {
            match element {
                Some(e) if e != info.subtype => {
                    return Err(self.inconsistent((declared, given), ("anyelement", e)));
                }
                _ => element = Some(info.subtype),
            }
        }
        if let Some(element) = element {
            self.check_element(&slots, element)?;
        }
        Ok(Actual { used: slots.used, element, range: range.map(|(info, _)| info) })
    }

    /// The range type of a call, and which argument gave it.
    #[allow(clippy::type_complexity)]
    fn strict_range(&self, slots: &Slots) -> SqlResult<Option<(RangeInfo, (&'static str, Oid))>> {
        let mut found = None;
        if let Some(range) = slots.range {
            let info = self.range_info(range)?.filter(|info| info.range == range);
            let info = info.ok_or_else(|| self.not_such("anyrange", "a range type", range))?;
            found = Some((info, ("anyrange", range)));
        }
        if let Some(multirange) = slots.multirange {
            let info = self.range_info(multirange)?.filter(|info| info.multirange == multirange);
            let info = info.ok_or_else(|| self.not_such("anymultirange", "a multirange type", multirange))?;
            match found {
                Some((before, given)) if before != info => {
                    return Err(self.inconsistent(("anymultirange", multirange), given));
                }
                Some(_) => {}
                None => found = Some((info, ("anymultirange", multirange))),
            }
        }
        Ok(found)
    }

    fn check_element(&self, slots: &Slots, element: Oid) -> SqlResult<()> {
        if slots.nonarray && self.element_type(element)?.is_valid() {
            return Err(sql_err!(
                DATATYPE_MISMATCH,
                "type matched to anynonarray is an array type: {}",
                self.type_text(element)
            ));
        }
        if slots.enumeration && !matches!(self.type_facts(element)?.kind, TypeKind::Enum(_)) {
            return Err(sql_err!(
                DATATYPE_MISMATCH,
                "type matched to anyenum is not an enum type: {}",
                self.type_text(element)
            ));
        }
        Ok(())
    }

    /// What `anycompatible`, `anycompatiblearray`, `anycompatiblerange`... stand for in one call.
    fn compatible_polymorphic(&self, actual: &[Oid], declared: &[Oid]) -> SqlResult<Actual> {
        let mut typed = Vec::new();
        let mut range: Option<RangeInfo> = None;
        for (a, d) in actual.iter().zip(declared) {
            match *d {
                oids::anycompatiblearray if *a != oids::unknown => {
                    let of = self.element_type(*a)?;
                    if !of.is_valid() {
                        return Err(self.not_such("anycompatiblearray", "an array", *a));
                    }
                    typed.push((of, Location::NONE));
                }
                oids::anycompatible | oids::anycompatiblenonarray | oids::anycompatiblearray => {
                    typed.push((*a, Location::NONE));
                }
                oids::anycompatiblerange | oids::anycompatiblemultirange if *a != oids::unknown => {
                    let info = self.compatible_range(*a, *d)?;
                    if range.is_some_and(|before| before != info) {
                        let name = types::format_type(*d, None).unwrap_or_default();
                        let error =
                            sql_err!(DATATYPE_MISMATCH, "arguments declared \"{name}\" are not all alike");
                        return Err(self.versus(error, range.map_or(*a, |before| before.range), *a));
                    }
                    range = Some(info);
                }
                _ => {}
            }
        }
        typed.extend(range.map(|info| (info.subtype, Location::NONE)));
        if typed.is_empty() {
            return Ok(Actual::default());
        }
        let element = self.common_of(&typed, Some("arguments of anycompatible family")).map_err(|_| {
            sql_err!(DATATYPE_MISMATCH, "arguments of anycompatible family cannot be cast to a common type")
        })?;
        match range {
            Some(info) if info.subtype != element => Err(sql_err!(
                DATATYPE_MISMATCH,
                "anycompatiblerange type {} does not match anycompatible type {}",
                self.type_text(info.range),
                self.type_text(element)
            )),
            _ => Ok(Actual { used: true, element: Some(element), range }),
        }
    }

    /// The range type of an argument declared `anycompatiblerange` or `anycompatiblemultirange`.
    fn compatible_range(&self, actual: Oid, declared: Oid) -> SqlResult<RangeInfo> {
        let base = self.base_type(actual, -1)?.0;
        let info = self.range_info(base)?;
        if declared == oids::anycompatiblerange {
            let info = info.filter(|info| info.range == base);
            return info.ok_or_else(|| self.not_such("anycompatiblerange", "a range type", actual));
        }
        let info = info.filter(|info| info.multirange == base);
        info.ok_or_else(|| self.not_such("anycompatiblemultirange", "a multirange type", actual))
    }
}
