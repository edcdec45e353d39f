//! What a statement knows of the types that users made: enough to compare, hash and take apart their values without a catalog.

use std::collections::HashMap;
use std::sync::Arc;

use base::{Oid, SqlError, SqlResult};
use collation::Rules;
use types::Comparator;
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
}

impl UserTypes {
    /// The built-in type that values of `type_oid` compare as.
    pub fn comparable(&self, type_oid: Oid) -> Oid {
        self.shapes.get(&type_oid).map_or(type_oid, |shape| shape.comparable)
    }

    /// Whether values of a type are in an order.
    pub fn is_ordered(&self, type_oid: Oid) -> bool {
        types::compare(self.comparable(type_oid)).is_some()
    }

    /// Whether values of a type can be hashed.
    pub fn is_hashed(&self, type_oid: Oid) -> bool {
        types::hash(self.comparable(type_oid)).is_some()
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
