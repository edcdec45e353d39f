//! Aggregates that users make: the functions that compute them, chosen when they are made, and the types that these have in a call.
//!
//! PostgreSQL counterpart: `lookup_agg_function` of `pg_aggregate.c`, `resolve_aggregate_transtype` of `parse_agg.c`.

use base::{Oid, SqlResult, sql_err};
use catalog::view::CatalogView;
use parse::ast;
use types::{CastContext, FormatContext, oids};

use crate::ParamTypes;
use crate::coerce::Pathway;
use crate::core::Analyzer;
use crate::lookup::is_polymorphic;
use crate::resolve::Resolved;

/// A function that an aggregate calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// OID.
    pub function: Oid,
    /// Result type; polymorphic only if the arguments are.
    pub result: Oid,
    /// It is not called for a NULL.
    pub strict: bool,
}

/// The function of an aggregate by its name and the types that it will be called with.
pub fn step_function(
    name: &ast::Name,
    args: &[Oid],
    variadic_any: bool,
    catalog: &dyn CatalogView,
    call: &types::Call<'_>,
) -> SqlResult<Step> {
    let mut analyzer = Analyzer::new("", ParamTypes::None, catalog, call);
    let resolved = analyzer.resolve_function(name, args, &[], true, false)?;
    let mut found = match resolved {
        Resolved::Function(found) if found.kind == b'f' => found,
        _ => {
            let shown = analyzer.signature(name, args, &[]);
            return Err(sql_err!(UNDEFINED_FUNCTION, "function {shown} does not exist"));
        }
    };
    let shown = |types: &[Oid]| analyzer.signature(name, types, &[]);
    if found.returns_set {
        return Err(sql_err!(DATATYPE_MISMATCH, "function {} returns a set", shown(args)));
    }
    if variadic_any && found.args.last() != Some(&oids::any) {
        return Err(sql_err!(
            DATATYPE_MISMATCH,
            "function {} must accept VARIADIC ANY to be used in this aggregate",
            shown(args)
        ));
    }
    let strict = match types::registry::function(found.oid) {
        Some(f) => f.strict,
        None => catalog.function_by_oid(found.oid)?.is_some_and(|f| f.strict),
    };
    let result = analyzer.declared_result(&mut found.args, args, found.result)?;
    for (given, wanted) in args.iter().zip(&found.args) {
        if !analyzer.binary_coercible(*given, *wanted)? {
            let shown = analyzer.signature(name, &found.args, &[]);
            return Err(sql_err!(DATATYPE_MISMATCH, "function {shown} requires run-time type coercion"));
        }
    }
    Ok(Step { function: found.oid, result, strict })
}

/// Whether values of one type are values of the other as they are, without being asked to.
pub fn is_binary_coercible(
    source: Oid,
    target: Oid,
    catalog: &dyn CatalogView,
    call: &types::Call<'_>,
) -> SqlResult<bool> {
    Analyzer::new("", ParamTypes::None, catalog, call).binary_coercible(source, target)
}

/// What a polymorphic type stands for in a call of an aggregate with arguments of these types.
pub fn actual_type(declared: &[Oid], actual: &[Oid], of: Oid, catalog: &dyn CatalogView) -> SqlResult<Oid> {
    if !is_polymorphic(of) {
        return Ok(of);
    }
    let format = FormatContext::default();
    let call = types::Call::new(&format);
    let mut analyzer = Analyzer::new("", ParamTypes::None, catalog, &call);
    let mut declared = declared.to_vec();
    // More arguments than declared are those of VARIADIC "any", which determine nothing.
    declared.resize(actual.len(), oids::any);
    analyzer.resolve_polymorphic(actual, &mut declared, of)
}

impl Analyzer<'_> {
    /// `aggkind` and `aggnumdirectargs`.
    pub(crate) fn aggregate_kind(&self, function: Oid) -> SqlResult<(u8, i16)> {
        if let Some(row) = types::registry::aggregate(function) {
            return Ok((row.kind, row.direct_args));
        }
        let def = self.catalog.function_by_oid(function)?;
        let aggregate = def.and_then(|def| def.aggregate.clone());
        Ok(aggregate.map_or((b'n', 0), |aggregate| (aggregate.kind, aggregate.direct_args)))
    }

    /// The result of a function whose arguments may still be polymorphic themselves; `declared` becomes what it is called with.
    fn declared_result(&mut self, declared: &mut [Oid], actual: &[Oid], result: Oid) -> SqlResult<Oid> {
        let unknown = |(d, a): (&Oid, &Oid)| !(d == a && is_polymorphic(*d));
        let known: Vec<usize> =
            (0..declared.len()).filter(|i| unknown((&declared[*i], &actual[*i]))).collect();
        let mut wanted: Vec<Oid> = known.iter().map(|i| declared[*i]).collect();
        if !wanted.iter().any(|d| is_polymorphic(*d)) {
            return Ok(result);
        }
        let given: Vec<Oid> = known.iter().map(|i| actual[*i]).collect();
        let result = self.resolve_polymorphic(&given, &mut wanted, result)?;
        for (i, found) in known.into_iter().zip(wanted) {
            declared[i] = found;
        }
        Ok(result)
    }

    /// Whether values of one type are values of the other as they are, without being asked to.
    fn binary_coercible(&self, source: Oid, target: Oid) -> SqlResult<bool> {
        if source == target || matches!(target, oids::any | oids::anyelement | oids::anycompatible) {
            return Ok(true);
        }
        let source = self.base_type(source, -1)?.0;
        Ok(match target {
            oids::anyarray | oids::anycompatiblearray => self.element_type(source)?.is_valid(),
            oids::anynonarray | oids::anycompatiblenonarray => !self.element_type(source)?.is_valid(),
            _ if is_polymorphic(target) => self.polymorphic_fits(&[source], &[target])?,
            oids::record => self.is_composite(source)?,
            _ => {
                source == target
                    || self.pathway(source, target, CastContext::Implicit)? == Some(Pathway::Relabel)
            }
        })
    }
}
