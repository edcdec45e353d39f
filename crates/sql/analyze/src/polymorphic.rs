//! Polymorphic types: what `anyelement` and its kin stand for in one call.
//!
//! PostgreSQL counterpart: `enforce_generic_type_consistency` of `parse_coerce.c`.

use base::{Oid, SqlResult, sql_err};
use catalog::view::TypeKind;
use types::oids;

use crate::core::Analyzer;
use crate::expr::Location;
use crate::lookup::{is_compatible_family, is_polymorphic};

/// What `anyelement` and its kin stand for in a call.
enum Polymorphic {
    /// No argument is declared so.
    Unused,
    /// All arguments declared so are literals.
    Unknown,
    /// This element type.
    Element(Oid),
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
        let strict = match self.strict_polymorphic(actual, declared)? {
            Polymorphic::Unused => None,
            Polymorphic::Unknown => {
                return Err(sql_err!(
                    DATATYPE_MISMATCH,
                    "could not determine polymorphic type because input has type {}",
                    self.type_text(oids::unknown)
                ));
            }
            Polymorphic::Element(t) => Some(t),
        };
        let compatible = self.compatible_polymorphic(actual, declared)?;
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
        self.polymorphic_actual(result, strict, compatible)?.ok_or_else(|| {
            sql_err!(
                DATATYPE_MISMATCH,
                "could not determine polymorphic type because input has type {}",
                self.type_text(oids::unknown)
            )
        })
    }

    fn polymorphic_actual(
        &self,
        declared: Oid,
        strict: Option<Oid>,
        compatible: Option<Oid>,
    ) -> SqlResult<Option<Oid>> {
        let of = if is_compatible_family(declared) { compatible } else { strict };
        let Some(element) = of.filter(|_| is_polymorphic(declared)) else { return Ok(None) };
        if !matches!(declared, oids::anyarray | oids::anycompatiblearray) {
            return Ok(Some(element));
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

    /// The element type that `anyelement`, `anyarray`... stand for in one call.
    fn strict_polymorphic(&self, actual: &[Oid], declared: &[Oid]) -> SqlResult<Polymorphic> {
        let mut element: Option<Oid> = None;
        let mut array: Option<Oid> = None;
        let (mut used, mut nonarray, mut enumeration) = (false, false, false);
        for (a, d) in actual.iter().zip(declared) {
            let slot = match *d {
                oids::anyarray => &mut array,
                oids::anyelement | oids::anynonarray | oids::anyenum => &mut element,
                _ => continue,
            };
            used = true;
            nonarray |= *d == oids::anynonarray;
            enumeration |= *d == oids::anyenum;
            if *a == oids::unknown {
                continue;
            }
            let a = if *d == oids::anyarray { self.base_type(*a, -1)?.0 } else { *a };
            match *slot {
                Some(before) if before != a => {
                    let which = if *d == oids::anyarray { "anyarray" } else { "anyelement" };
                    return Err(sql_err!(
                        DATATYPE_MISMATCH,
                        "arguments declared \"{which}\" are not all alike"
                    )
                    .detail(format!(
                        "{} versus {}",
                        self.type_text(before),
                        self.type_text(a)
                    )));
                }
                _ => *slot = Some(a),
            }
        }
        if !used {
            return Ok(Polymorphic::Unused);
        }
        if let Some(array) = array
            && array != oids::anyarray
        {
            let of = self.element_type(array)?;
            if !of.is_valid() {
                return Err(sql_err!(
                    DATATYPE_MISMATCH,
                    "argument declared {} is not an array but type {}",
                    "anyarray",
                    self.type_text(array)
                ));
            }
            match element {
                None => element = Some(of),
                Some(e) if e != of => {
                    return Err(sql_err!(
                        DATATYPE_MISMATCH,
                        "argument declared {} is not consistent with argument declared {}",
                        "anyarray",
                        "anyelement"
                    )
                    .detail(format!(
                        "{} versus {}",
                        self.type_text(array),
                        self.type_text(e)
                    )));
                }
                Some(_) => {}
            }
        } else if array.is_some() {
            element = element.or(Some(oids::anyelement));
        }
        let Some(element) = element else { return Ok(Polymorphic::Unknown) };
        if nonarray && self.element_type(element)?.is_valid() {
            return Err(sql_err!(
                DATATYPE_MISMATCH,
                "type matched to anynonarray is an array type: {}",
                self.type_text(element)
            ));
        }
        if enumeration && !matches!(self.type_facts(element)?.kind, TypeKind::Enum(_)) {
            return Err(sql_err!(
                DATATYPE_MISMATCH,
                "type matched to anyenum is not an enum type: {}",
                self.type_text(element)
            ));
        }
        Ok(Polymorphic::Element(element))
    }

    /// The element type that `anycompatible`... stand for in one call.
    fn compatible_polymorphic(&self, actual: &[Oid], declared: &[Oid]) -> SqlResult<Option<Oid>> {
        let mut typed = Vec::new();
        for (a, d) in actual.iter().zip(declared) {
            match *d {
                oids::anycompatiblearray if *a != oids::unknown => {
                    let of = self.element_type(*a)?;
                    if !of.is_valid() {
                        return Err(sql_err!(
                            DATATYPE_MISMATCH,
                            "argument declared {} is not an array but type {}",
                            "anycompatiblearray",
                            self.type_text(*a)
                        ));
                    }
                    typed.push((of, Location::NONE));
                }
                oids::anycompatible | oids::anycompatiblenonarray | oids::anycompatiblearray => {
                    typed.push((*a, Location::NONE));
                }
                _ => {}
            }
        }
        if typed.is_empty() {
            return Ok(None);
        }
        self.common_of(&typed, Some("arguments of anycompatible family")).map(Some).map_err(|_| {
            sql_err!(DATATYPE_MISMATCH, "arguments of anycompatible family cannot be cast to a common type")
        })
    }
}
