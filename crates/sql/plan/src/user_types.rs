//! What a statement knows of the types that users made: enough to compare, hash and take apart their values without a catalog.

use std::collections::HashMap;
use std::sync::Arc;

use base::{Oid, SqlError, SqlResult};
use catalog::view::Index;
use collation::Rules;
use types::Comparator;
use types::asked::UserOrder;
use types::comparator::{pinned_rules, undetermined};
use types::record::{FieldType, RowType};
use types::registry::TypeShape;

use crate::expr::{DomainCheck, Expr, RelId};
use crate::planner::Planner;

/// Shapes of the types of a statement that are not built in, and the rules of its collations.
#[derive(Clone, Debug, Default)]
pub struct UserTypes {
    shapes: HashMap<Oid, TypeShape>,
    rules: HashMap<Oid, &'static Rules>,
    /// Types whose values a function of a user orders: the function, and the type that it takes.
    orders: HashMap<Oid, (Oid, Oid)>,
}

impl UserTypes {
    /// The built-in type that values of `type_oid` compare as.
    pub fn comparable(&self, type_oid: Oid) -> Oid {
        self.shapes.get(&type_oid).map_or(type_oid, |shape| shape.comparable)
    }

    /// Whether values of a type are in an order.
    pub fn is_ordered(&self, type_oid: Oid) -> bool {
        self.is_asked(type_oid) || types::compare(self.comparable(type_oid)).is_some()
    }

    /// Whether values of a type can be hashed.
    pub fn is_hashed(&self, type_oid: Oid) -> bool {
        !self.is_asked(type_oid) && types::hash(self.comparable(type_oid)).is_some()
    }

    /// Whether values of an expression are in an order.
    pub fn orders(&self, expr: &Expr) -> bool {
        matches!(expr, Expr::Ordered { .. }) || self.is_ordered(expr.type_oid())
    }

    /// Whether values of an expression can be hashed.
    pub fn hashes(&self, expr: &Expr) -> bool {
        !matches!(expr, Expr::Ordered { .. }) && self.is_hashed(expr.type_oid())
    }

    /// Whether a function of a user orders values of a type.
    pub fn is_asked(&self, type_oid: Oid) -> bool {
        self.orders.contains_key(&type_oid)
    }

    /// The rules of a collation of the statement: an error if it is not known which one.
    pub fn rules(&self, collation: Oid) -> SqlResult<&'static Rules> {
        match pinned_rules(collation).or_else(|| self.rules.get(&collation).copied()) {
            Some(rules) => Ok(rules),
            None if !collation.is_valid() => Err(undetermined("string comparison")),
            None => Err(SqlError::internal(format!("collation {collation} was not noted"))),
        }
    }

    /// How values of a type compare under a collation; any will do if the type has none.
    pub fn comparator(&self, type_oid: Oid, collation: Oid) -> SqlResult<Comparator> {
        if let Some((function, input)) = self.orders.get(&type_oid) {
            return Ok(Comparator::asked(UserOrder::of(*function, *input, Oid::INVALID)));
        }
        let comparable = self.comparable(type_oid);
        let rules = match types::builtin_type(comparable) {
            Some(info) if info.collation.is_valid() => self.rules(collation)?,
            // An array of users' types may be of texts.
            _ if collation.is_valid() => self.rules(collation)?,
            _ => &collation::C,
        };
        Ok(Comparator::of(comparable, rules))
    }

    /// How values of an expression compare.
    pub fn comparator_of(&self, expr: &Expr) -> SqlResult<Comparator> {
        if let Expr::Ordered { by, .. } = expr {
            return Ok(Comparator::asked(by));
        }
        self.comparator(expr.type_oid(), expr.collation())
    }

    /// Element type of an array type.
    pub fn element(&self, type_oid: Oid) -> Oid {
        match self.shapes.get(&type_oid) {
            Some(shape) => shape.element,
            None => types::builtin_type(type_oid).map_or(Oid::INVALID, |t| t.element),
        }
    }

    /// Array type over a type.
    pub fn array(&self, type_oid: Oid) -> Oid {
        match self.shapes.get(&type_oid) {
            Some(shape) => shape.array,
            None => types::builtin_type(type_oid).map_or(Oid::INVALID, |t| t.array),
        }
    }
}

impl Planner<'_> {
    /// A value in the order of an operator family for a type, if a function of a user tells that order.
    pub(crate) fn in_order_of(&self, value: Expr, family: Oid, input: Oid) -> SqlResult<Expr> {
        let catalog = self.context.catalog;
        // It may be the order that values of the type are in.
        let usual = self.families.default_class_for(types::registry::ORDERING_METHOD, input);
        if self.types.is_asked(value.type_oid()) && usual.is_some_and(|class| class.family == family) {
            return Ok(value);
        }
        let Some(function) = catalog::families::asked_order(catalog, family, input)? else {
            return Ok(value);
        };
        let operator = |strategy: u16| {
            let operator =
                self.families.operator(family, (input, input), strategy as i16).unwrap_or_default();
            if let Some(known) = types::registry::operator(operator) {
                return Ok(known.name.into());
            }
            let def = catalog.operator_by_oid(operator)?;
            Ok::<Arc<str>, SqlError>(def.map_or("?".into(), |def| def.name.as_str().into()))
        };
        let operators = [operator(index::strategy::LESS)?, operator(index::strategy::GREATER)?];
        let collation = match types::comparator::is_collatable(self.types.comparable(value.type_oid())) {
            true => value.collation(),
            false => Oid::INVALID,
        };
        let by = UserOrder::of(function, input, collation);
        Ok(Expr::Ordered { arg: Box::new(value), by, operators })
    }

    /// A column of an index as what the index is in order of.
    pub(crate) fn as_ordered(&self, value: Expr, (index, column): (&Index, usize)) -> SqlResult<Expr> {
        if !index.asks(column) {
            return Ok(value);
        }
        let class = index.opclasses.get(column).and_then(|class| self.families.class(*class));
        let class = class.ok_or_else(|| SqlError::internal("an index without operator class"))?;
        self.in_order_of(value, class.family, class.input)
    }

    /// A value in the order of an ordering operator.
    pub(crate) fn in_order_by(&self, value: Expr, operator: Oid) -> SqlResult<Expr> {
        let mut members = self.families.memberships_of(operator, types::registry::ORDERING_METHOD);
        let ordering = |strategy: i16| {
            [index::strategy::LESS, index::strategy::GREATER].map(|s| s as i16).contains(&strategy)
        };
        match members.find(|m| m.left == m.right && ordering(m.strategy)) {
            Some(member) if !member.family.is_pinned() => self.in_order_of(value, member.family, member.left),
            _ => Ok(value),
        }
    }

    /// Makes a collation known to the statement.
    pub(crate) fn note_collation(&mut self, collation: Oid) -> SqlResult<()> {
        if collation.is_valid()
            && pinned_rules(collation).is_none()
            && !self.types.rules.contains_key(&collation)
        {
            let rules = catalog::collation_rules(self.context.catalog, collation)?;
            self.types.rules.insert(collation, rules);
        }
        Ok(())
    }

    /// A value under the collation that analysis derived for it.
    pub(crate) fn collated(&mut self, value: Expr, collation: Oid) -> SqlResult<Expr> {
        if !collation.is_valid() {
            let comparable = self.types.comparable(value.type_oid());
            return Ok(match types::comparator::is_collatable(comparable) {
                true => value.under(collation),
                false => value,
            });
        }
        self.note_collation(collation)?;
        Ok(value.under(collation))
    }

    /// Makes a type known to the statement.
    pub(crate) fn note_type(&mut self, type_oid: Oid) -> SqlResult<TypeShape> {
        if let Some(info) = types::builtin_type(type_oid) {
            return Ok(info.shape());
        }
        if let Some(known) = self.types.shapes.get(&type_oid) {
            return Ok(*known);
        }
        let shape = catalog::type_shape(self.context.catalog, type_oid)?;
        self.types.shapes.insert(type_oid, shape);
        if let Some(order) = catalog::families::default_order(self.context.catalog, type_oid)? {
            self.types.orders.insert(type_oid, order);
        }
        if shape.element.is_valid() {
            self.note_type(shape.element)?;
        }
        Ok(shape)
    }

    /// A row of `record` with fields of these types.
    pub(crate) fn anonymous_row(
        &mut self,
        type_oid: Oid,
        fields: impl IntoIterator<Item = Oid>,
    ) -> SqlResult<Arc<RowType>> {
        let fields = fields
            .into_iter()
            .map(|field| match field {
                Oid::INVALID => Ok(FieldType::DROPPED),
                field => Ok(FieldType::new(field, &self.note_type(field)?)),
            })
            .collect::<SqlResult<_>>()?;
        Ok(Arc::new(RowType { type_oid, fields, names: Box::default() }))
    }

    /// A row of a composite type, or of the one under a domain.
    pub(crate) fn composite_row(&mut self, type_oid: Oid) -> SqlResult<Option<Arc<RowType>>> {
        let Some(table) = catalog::composite_relation(self.context.catalog, type_oid)? else {
            return Ok(None);
        };
        let row = table.columns.iter().map(|c| c.type_oid).collect::<Vec<_>>();
        self.anonymous_row(table.row_type, row).map(Some)
    }

    /// Makes the row type of a relation known, for a reference to its whole row.
    pub(crate) fn whole_row(&mut self, rel: RelId, type_oid: Oid) -> SqlResult<()> {
        if self.whole_rows.contains_key(&rel) {
            return Ok(());
        }
        let relation = &self.relations[rel];
        let columns: Vec<Oid> = match &relation.table {
            Some(table) => {
                table.columns.iter().map(|c| if c.dropped { Oid::INVALID } else { c.type_oid }).collect()
            }
            None => relation.columns.iter().map(|c| c.type_oid).collect(),
        };
        let names = match relation.table {
            None if type_oid == types::oids::record => {
                relation.columns.iter().map(|c| (*c.name).into()).collect()
            }
            _ => Box::default(),
        };
        let mut row = self.anonymous_row(type_oid, columns)?;
        Arc::make_mut(&mut row).names = names;
        self.whole_rows.insert(rel, row);
        Ok(())
    }
}

/// A domain's constraints in the order they are checked: those of the type underneath first.
pub(crate) struct DomainRules {
    /// The domains from the lowest up: name for messages, NOT NULL, CHECK constraints with their stored expressions.
    pub(crate) levels: Vec<DomainLevel>,
}

pub(crate) struct DomainLevel {
    pub(crate) schema: String,
    pub(crate) name: String,
    pub(crate) not_null: bool,
    pub(crate) checks: Vec<(String, Arc<str>)>,
}

impl Planner<'_> {
    /// What a domain asks of its values.
    pub(crate) fn domain_rules(&self, domain: Oid) -> SqlResult<DomainRules> {
        let mut levels = Vec::new();
        let mut at = domain;
        while types::builtin_type(at).is_none() {
            let def = self.context.catalog.type_by_oid(at)?;
            let def = def.ok_or_else(|| SqlError::internal(format!("cache lookup failed for type {at}")))?;
            let catalog::TypeKind::Domain(rules) = &def.kind else { break };
            levels.push(DomainLevel {
                schema: def.schema_name.clone(),
                name: def.name.clone(),
                not_null: rules.not_null,
                checks: rules.checks.iter().map(|c| (c.name.clone(), c.expr.clone())).collect(),
            });
            at = rules.base;
        }
        levels.reverse();
        Ok(DomainRules { levels })
    }
}

impl DomainCheck {
    /// The expression that must not be false, if it is a CHECK.
    pub fn expr(&self) -> Option<&Expr> {
        self.check.as_ref().map(|(_, expr)| expr)
    }
}
