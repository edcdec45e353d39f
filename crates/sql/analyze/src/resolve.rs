//! Choosing among functions or operators of one name by the types of the arguments.
//!
//! PostgreSQL counterpart: `func_get_detail`, `func_select_candidate` of `parse_func.c`; the rules are those of the
//! documentation's chapter "Type Conversion".

use base::{Oid, SqlError, SqlResult, sql_err};
use parse::ast;
use types::{CastContext, oids};

use crate::core::Analyzer;
use crate::lookup::{Candidate, Signature};

/// Outcome of a choice.
pub(crate) enum Choice {
    /// This one (index).
    One(usize),
    /// None fits.
    NoMatch,
    /// Several fit equally well.
    Ambiguous,
}

/// What a call's name and arguments mean.
pub(crate) enum Resolved {
    Function(Candidate),
    /// `type(value)`: a cast.
    Cast(Oid),
    NotFound,
    Ambiguous,
}

impl Candidate {
    fn resolved(self) -> Resolved {
        if self.ambiguous { Resolved::Ambiguous } else { Resolved::Function(self) }
    }
}

impl Analyzer<'_> {
    /// The best of several argument lists for these actual types.
    pub(crate) fn choose(&self, actual: &[Oid], lists: &[&[Oid]]) -> SqlResult<Choice> {
        let mut left = Vec::new();
        for (i, list) in lists.iter().enumerate() {
            if list.len() == actual.len() && self.all_coercible(actual, list)? {
                left.push(i);
            }
        }
        match left.as_slice() {
            [] => Ok(Choice::NoMatch),
            [one] => Ok(Choice::One(*one)),
            _ => self.choose_best(actual, lists, left),
        }
    }

    fn all_coercible(&self, actual: &[Oid], declared: &[Oid]) -> SqlResult<bool> {
        for (a, d) in actual.iter().zip(declared) {
            if !self.can_coerce(*a, *d, CastContext::Implicit)? {
                return Ok(false);
            }
        }
        if declared.iter().any(|d| crate::lookup::is_polymorphic(*d)) {
            return self.polymorphic_fits(actual, declared);
        }
        Ok(true)
    }

    fn choose_best(&self, actual: &[Oid], lists: &[&[Oid]], mut left: Vec<usize>) -> SqlResult<Choice> {
        let mut base = Vec::with_capacity(actual.len());
        for a in actual {
            base.push(if *a == oids::unknown { *a } else { self.base_type(*a, -1)?.0 });
        }
        let known = |i: usize| base[i] != oids::unknown;
        // Most exact matches.
        keep_best(&mut left, |c| {
            Ok(base.iter().zip(lists[c]).filter(|(a, d)| **a != oids::unknown && *a == *d).count())
        })?;
        if let [one] = left.as_slice() {
            return Ok(Choice::One(*one));
        }
        // Most exact or preferred matches.
        let mut categories = Vec::with_capacity(base.len());
        for b in &base {
            categories.push(self.type_facts(*b)?.category);
        }
        let preferred = |category: u8, t: Oid| -> SqlResult<bool> {
            let facts = self.type_facts(t)?;
            Ok(facts.preferred && facts.category == category)
        };
        keep_best(&mut left, |c| {
            let mut n = 0;
            for i in 0..base.len() {
                if known(i) && (lists[c][i] == base[i] || preferred(categories[i], lists[c][i])?) {
                    n += 1;
                }
            }
            Ok(n)
        })?;
        if let [one] = left.as_slice() {
            return Ok(Choice::One(*one));
        }
        if base.iter().all(|b| *b != oids::unknown) {
            return Ok(Choice::Ambiguous);
        }
        self.choose_for_unknowns(&base, lists, left)
    }

    /// The last rules: literals of unknown type.
    fn choose_for_unknowns(&self, base: &[Oid], lists: &[&[Oid]], mut left: Vec<usize>) -> SqlResult<Choice> {
        let mut slots: Vec<Option<(u8, bool)>> = vec![None; base.len()];
        let mut resolved = true;
        for i in 0..base.len() {
            if base[i] != oids::unknown {
                continue;
            }
            let (mut category, mut is_preferred, mut conflict, mut found) = (0, false, false, false);
            for c in &left {
                let facts = self.type_facts(lists[*c][i])?;
                if !found {
                    (category, is_preferred, found) = (facts.category, facts.preferred, true);
                } else if facts.category == category {
                    is_preferred |= facts.preferred;
                } else if facts.category == b'S' {
                    (category, is_preferred) = (b'S', facts.preferred);
                } else {
                    conflict = true;
                }
            }
            if conflict && category != b'S' {
                resolved = false;
                break;
            }
            slots[i] = Some((category, is_preferred));
        }
        if resolved {
            let mut kept = Vec::new();
            for c in &left {
                let mut keep = true;
                for (i, slot) in slots.iter().enumerate() {
                    if let Some((category, is_preferred)) = slot {
                        let facts = self.type_facts(lists[*c][i])?;
                        keep &= facts.category == *category && (!*is_preferred || facts.preferred);
                    }
                }
                if keep {
                    kept.push(*c);
                }
            }
            if !kept.is_empty() {
                left = kept;
            }
            if let [one] = left.as_slice() {
                return Ok(Choice::One(*one));
            }
        }
        // If all known arguments are of one type, suppose the unknown ones are too.
        let mut known = base.iter().filter(|b| **b != oids::unknown);
        if let Some(first) = known.next()
            && known.all(|b| b == first)
        {
            let supposed = vec![*first; base.len()];
            let mut fitting = Vec::new();
            for c in &left {
                if self.all_coercible(&supposed, lists[*c])? {
                    fitting.push(*c);
                }
            }
            if let [one] = fitting.as_slice() {
                return Ok(Choice::One(*one));
            }
        }
        Ok(Choice::Ambiguous)
    }

    /// The candidates of a name for a call with these arguments.
    fn candidates(
        &self,
        name: &ast::Name,
        nargs: usize,
        names: &[&str],
        expand: bool,
    ) -> SqlResult<Vec<Candidate>> {
        let mut out: Vec<Candidate> = Vec::new();
        self.each_function(name, &mut |f| {
            if let Some(c) = candidate(f, nargs, names, expand) {
                add_candidate(&mut out, c);
            }
        })?;
        Ok(out)
    }

    /// What a call means.
    pub(crate) fn resolve_function(
        &self,
        name: &ast::Name,
        actual: &[Oid],
        arg_names: &[&str],
        variadic: bool,
        single_literal: bool,
    ) -> SqlResult<Resolved> {
        let mut candidates = self.candidates(name, actual.len(), arg_names, !variadic)?;
        let exact = candidates.iter().position(|c| c.args[..actual.len()] == *actual);
        if let Some(i) = exact {
            return Ok(candidates.swap_remove(i).resolved());
        }
        if actual.len() == 1
            && arg_names.is_empty()
            && let Some(target) = self.cast_like(name, actual[0], single_literal)?
        {
            return Ok(Resolved::Cast(target));
        }
        let lists: Vec<&[Oid]> = candidates.iter().map(|c| &c.args[..actual.len()]).collect();
        Ok(match self.choose(actual, &lists)? {
            Choice::One(i) => candidates.swap_remove(i).resolved(),
            Choice::NoMatch => Resolved::NotFound,
            Choice::Ambiguous => Resolved::Ambiguous,
        })
    }

    /// Whether `name(value)` is a cast to the type of that name.
    fn cast_like(&self, name: &ast::Name, source: Oid, literal: bool) -> SqlResult<Option<Oid>> {
        let type_name = ast::TypeName { names: name.0.clone(), typmod: -1, ..ast::TypeName::default() };
        let Ok(Some((target, _))) = self.try_type_name(&type_name) else { return Ok(None) };
        if source == oids::unknown && literal {
            return Ok(Some(target));
        }
        use crate::coerce::Pathway;
        let fits = match self.pathway(source, target, CastContext::Explicit)? {
            Some(Pathway::Relabel) => true,
            Some(Pathway::Io) => {
                // Not from a row, nor from a string to something else: those calls name functions.
                let composite = source == oids::record || self.is_composite(source)?;
                !(composite && self.type_facts(target)?.category == b'S')
            }
            _ => false,
        };
        Ok(fits.then_some(target))
    }

    /// The operator of a name for these operand types; `None` for the missing operand of a prefix operator.
    pub(crate) fn resolve_operator(
        &self,
        name: &ast::Name,
        left: Option<Oid>,
        right: Oid,
    ) -> SqlResult<Option<crate::lookup::OperatorFacts>> {
        let all = self.operators(name)?;
        let of_kind: Vec<_> = all.into_iter().filter(|o| o.left.is_valid() == left.is_some()).collect();
        let Some(left) = left else { return self.resolve_prefix(name, right, &of_kind) };
        if let Some(o) = exact_operator(self, &of_kind, left, right)? {
            return Ok(Some(o));
        }
        // A literal is supposed to be of the other operand's type, if that gives an exact match for choosing.
        let actual = match (left, right) {
            (oids::unknown, other) | (other, oids::unknown) if other == oids::unknown => [other, other],
            _ => [left, right],
        };
        let pairs: Vec<[Oid; 2]> = of_kind.iter().map(|o| [o.left, o.right]).collect();
        let lists: Vec<&[Oid]> = pairs.iter().map(|p| p.as_slice()).collect();
        match self.choose(&actual, &lists)? {
            Choice::One(i) => Ok(Some(of_kind[i])),
            Choice::NoMatch => Ok(None),
            Choice::Ambiguous => Err(self.ambiguous_operator(name, Some(left), right)),
        }
    }

    fn resolve_prefix(
        &self,
        name: &ast::Name,
        right: Oid,
        all: &[crate::lookup::OperatorFacts],
    ) -> SqlResult<Option<crate::lookup::OperatorFacts>> {
        if let Some(o) = all.iter().find(|o| o.right == right) {
            return Ok(Some(*o));
        }
        let singles: Vec<[Oid; 1]> = all.iter().map(|o| [o.right]).collect();
        let lists: Vec<&[Oid]> = singles.iter().map(|p| p.as_slice()).collect();
        match self.choose(&[right], &lists)? {
            Choice::One(i) => Ok(Some(all[i])),
            Choice::NoMatch => Ok(None),
            Choice::Ambiguous => Err(self.ambiguous_operator(name, None, right)),
        }
    }

    fn operator_signature(&self, name: &ast::Name, left: Option<Oid>, right: Oid) -> String {
        let left = left.map(|l| format!("{} ", self.type_text(l))).unwrap_or_default();
        format!("{left}{} {}", name.dotted(), self.type_text(right))
    }

    fn ambiguous_operator(&self, name: &ast::Name, left: Option<Oid>, right: Oid) -> SqlError {
        sql_err!(AMBIGUOUS_FUNCTION, "operator is not unique: {}", self.operator_signature(name, left, right))
            .hint("Could not choose a best candidate operator. You might need to add explicit type casts.")
    }

    /// The error of an operator that does not exist.
    pub(crate) fn no_operator(&self, name: &ast::Name, left: Option<Oid>, right: Oid) -> SqlError {
        let hint = if left.is_some() {
            "No operator matches the given name and argument types. You might need to add explicit type casts."
        } else {
            "No operator matches the given name and argument type. You might need to add an explicit type cast."
        };
        sql_err!(
            UNDEFINED_FUNCTION,
            "operator does not exist: {}",
            self.operator_signature(name, left, right)
        )
        .hint(hint)
    }
}

/// The operator with exactly these operand types; a literal counts as of the other operand's type.
fn exact_operator(
    analyzer: &Analyzer<'_>,
    all: &[crate::lookup::OperatorFacts],
    left: Oid,
    right: Oid,
) -> SqlResult<Option<crate::lookup::OperatorFacts>> {
    let find = |l: Oid, r: Oid| all.iter().find(|o| o.left == l && o.right == r).copied();
    let unknown = oids::unknown;
    let (l, r) = match (left == unknown, right == unknown) {
        (true, false) => (right, right),
        (false, true) => (left, left),
        _ => (left, right),
    };
    if let Some(o) = find(l, r) {
        return Ok(Some(o));
    }
    if (left == unknown) != (right == unknown) {
        let base = analyzer.base_type(l, -1)?.0;
        if base != l {
            return Ok(find(base, base));
        }
    }
    Ok(None)
}

/// Keeps the candidates with the highest score; all of them if that is 0.
fn keep_best(left: &mut Vec<usize>, mut score: impl FnMut(usize) -> SqlResult<usize>) -> SqlResult<()> {
    let mut scores = Vec::with_capacity(left.len());
    for c in left.iter() {
        scores.push(score(*c)?);
    }
    let best = scores.iter().copied().max().unwrap_or(0);
    let mut scores = scores.into_iter();
    left.retain(|_| scores.next() == Some(best));
    Ok(())
}

/// A function as a candidate for a call, if the number and names of the arguments fit.
fn candidate(f: &Signature<'_>, nargs: usize, names: &[&str], expand: bool) -> Option<Candidate> {
    let declared = f.args.len();
    let mut order = None;
    let (mut variadic, mut defaults) = (0, 0);
    let mut args: Vec<Oid> = Vec::new();
    if !names.is_empty() {
        // Named notation: no variadic expansion.
        if declared < nargs || declared - nargs > f.defaults || (f.variadic.is_valid() && expand) {
            return None;
        }
        let order_found = named_order(f, nargs, names)?;
        args.extend(order_found.iter().map(|p| f.args[*p]));
        defaults = declared - nargs;
        order = Some(order_found);
    } else if f.variadic.is_valid() && expand && nargs >= declared {
        variadic = nargs - declared + 1;
        args.extend(&f.args[..declared - 1]);
        args.extend(std::iter::repeat_n(f.variadic, variadic));
    } else if nargs == declared {
        args.extend(f.args);
    } else if nargs < declared && declared - nargs <= f.defaults {
        args.extend(f.args);
        defaults = declared - nargs;
    } else {
        return None;
    }
    Some(Candidate {
        oid: f.oid,
        args,
        result: f.result,
        returns_set: f.returns_set,
        kind: f.kind,
        variadic,
        defaults,
        order,
        user: f.user,
        schema: f.schema,
        ambiguous: false,
    })
}

/// Parameter numbers of the arguments given, then of those left to defaults.
fn named_order(f: &Signature<'_>, nargs: usize, names: &[&str]) -> Option<Vec<usize>> {
    let declared = f.args.len();
    let positional = nargs - names.len();
    let mut order: Vec<usize> = (0..positional).collect();
    for name in names {
        let found = f.names.iter().take(declared).position(|n| n == name)?;
        if order.contains(&found) {
            return None;
        }
        order.push(found);
    }
    let first_default = declared - f.defaults;
    for p in 0..declared {
        if !order.contains(&p) {
            if p < first_default {
                return None;
            }
            order.push(p);
        }
    }
    Some(order)
}

/// Adds a candidate; of two with the same arguments the plainer one stays: not variadic, fewer defaults, found first.
fn add_candidate(out: &mut Vec<Candidate>, c: Candidate) {
    let given = c.args.len() - c.defaults;
    let twin =
        out.iter().position(|o| o.args.len() - o.defaults == given && o.args[..given] == c.args[..given]);
    match twin {
        None => out.push(c),
        Some(i) => {
            let before = &out[i];
            let alike = c.variadic == before.variadic && c.schema == before.schema && c.user == before.user;
            if alike && c.defaults > 0 && before.defaults > 0 {
                out[i].ambiguous = true;
                return;
            }
            let plainer = (c.variadic > 0, c.defaults) < (before.variadic > 0, before.defaults);
            if plainer && (before.user || !c.user) {
                out[i] = c;
            }
        }
    }
}
