//! What a call calls: a function of the registry, or one that a user made.

use std::ops::Deref;
use std::sync::Arc;

use base::{Oid, SqlError, SqlResult};
use catalog::{FunctionDef, OperatorDef};
use types::registry::ORDERING_METHOD;
use types::{Imp, Selectivity, Volatility};

use crate::expr::OperatorRef;
use crate::planner::Planner;

/// A function that can be called.
#[derive(Clone, Debug)]
pub enum Function {
    /// Built in.
    Builtin(&'static types::Function),
    /// Made by a user.
    User(Arc<FunctionDef>),
}

impl Function {
    /// `pg_proc.oid`
    pub fn oid(&self) -> Oid {
        match self {
            Function::Builtin(f) => f.oid,
            Function::User(f) => f.oid,
        }
    }

    /// Its name, without schema.
    pub fn name(&self) -> &str {
        match self {
            Function::Builtin(f) => f.name,
            Function::User(f) => &f.name,
        }
    }

    /// Declared type of its result.
    pub fn result(&self) -> Oid {
        match self {
            Function::Builtin(f) => f.result,
            Function::User(f) => f.result,
        }
    }

    /// Whether a NULL argument makes the result NULL without a call.
    pub fn strict(&self) -> bool {
        match self {
            Function::Builtin(f) => f.strict,
            Function::User(f) => f.strict,
        }
    }

    /// What the caller may assume about its result.
    pub fn volatility(&self) -> Volatility {
        match self {
            Function::Builtin(f) => f.volatility,
            Function::User(f) => match f.volatility {
                'i' => Volatility::Immutable,
                's' => Volatility::Stable,
                _ => Volatility::Volatile,
            },
        }
    }

    /// Whether it gives a set of rows.
    pub fn retset(&self) -> bool {
        match self {
            Function::Builtin(f) => f.retset,
            Function::User(f) => f.returns_set,
        }
    }

    /// Rows that a set is expected to have.
    pub fn rows(&self) -> f64 {
        match self {
            Function::Builtin(f) => f.rows.into(),
            Function::User(f) => f.rows.into(),
        }
    }

    /// Number of OUT columns.
    pub fn out_columns(&self) -> usize {
        match self {
            Function::Builtin(f) => f.out_columns().count(),
            Function::User(f) => f.out_columns.len(),
        }
    }

    /// How it is carried out, unless by the language of a user's function.
    pub fn imp(&self) -> Option<Imp> {
        self.builtin().map(|f| f.imp)
    }

    /// The function of the registry that it is, or that it is another name of.
    pub fn builtin(&self) -> Option<&'static types::Function> {
        match self {
            Function::Builtin(f) => Some(f),
            Function::User(f) => f.internal(),
        }
    }

    /// The user's function.
    pub fn user(&self) -> Option<&Arc<FunctionDef>> {
        match self {
            Function::Builtin(_) => None,
            Function::User(f) => Some(f),
        }
    }
}

impl Planner<'_> {
    /// The function with this OID.
    pub(crate) fn function(&self, oid: Oid) -> SqlResult<Function> {
        if let Some(f) = types::registry::function(oid) {
            return Ok(Function::Builtin(f));
        }
        let def = self.context.catalog.function_by_oid(oid)?;
        let missing = || SqlError::internal(format!("cache lookup failed for function {oid}"));
        def.map(Function::User).ok_or_else(missing)
    }

    /// An operator and its function: of a user's type that compares as one of the registry, that one's, which plans know to sort, hash and
    /// look up by.
    pub(crate) fn operator(&mut self, op: &analyze::OpExpr) -> SqlResult<(Oid, Function)> {
        let function = self.function(op.function)?;
        let (Some(builtin), [left, right]) = (function.user().and_then(|f| f.internal()), op.args.as_slice())
        else {
            return Ok((op.op, function));
        };
        let mut order = |e: &analyze::Expr| {
            let ty = analyze::facts::expr_type(e, &|_| Oid::INVALID);
            self.note_type(ty).map(|shape| shape.comparable)
        };
        let (left, right) = (order(left)?, order(right)?);
        Ok(match types::registry::operator_of(builtin.oid, left, right) {
            Some(operator) => (operator.oid, Function::Builtin(builtin)),
            None => (op.op, function),
        })
    }

    /// What plans ask of an operator. One that a user made is an equality to sort or hash by if it is that of the order that the type's values are
    /// known to have.
    pub(crate) fn operator_ref(&mut self, oid: Oid) -> SqlResult<OperatorRef> {
        if let Some(operator) = types::registry::operator(oid) {
            return Ok(OperatorRef::built_in(operator));
        }
        let missing = || SqlError::internal(format!("cache lookup failed for operator {oid}"));
        let def = self.context.catalog.operator_by_oid(oid)?.ok_or_else(missing)?;
        let equality = (def.can_hash || def.can_merge) && self.is_known_equality(&def)?;
        Ok(OperatorRef {
            oid,
            name: def.name.deref().into(),
            commutator: def.commutator,
            negator: def.negator,
            selectivity: self.estimator(def.restrict)?,
            // All hashes are alike where a function of a user orders values.
            can_hash: equality && def.can_hash && self.types.is_hashed(def.left),
            can_merge: equality && def.can_merge,
        })
    }

    fn is_known_equality(&mut self, def: &OperatorDef) -> SqlResult<bool> {
        if def.left != def.right || types::builtin_type(def.left).is_some() {
            return Ok(false);
        }
        let known = self.note_type(def.left)?.comparable != def.left || self.types.is_asked(def.left);
        let families = self.context.catalog.operator_families()?;
        let class = families.default_class_for(ORDERING_METHOD, def.left);
        let member = class.and_then(|class| families.membership(class.family, def.oid));
        Ok(known && member.is_some_and(|member| member.strategy == index::strategy::EQUAL as i16))
    }

    /// What a function that estimates goes by.
    fn estimator(&self, function: Oid) -> SqlResult<Selectivity> {
        if !function.is_valid() || function.is_pinned() {
            return Ok(Selectivity::of_estimator(function));
        }
        let def = self.context.catalog.function_by_oid(function)?;
        let symbol = def.as_deref().and_then(FunctionDef::symbol);
        let known =
            symbol.and_then(|(library, symbol)| types::registry::libraries::estimator(library, symbol));
        Ok(known.unwrap_or(Selectivity::None))
    }
}
