//! ALTER TABLE and its kin.

use base::SqlResult;
use rupg_sql::nodes as n;

use super::ddl::{behavior, collation, identity, object_kind, role};
use super::{Converter, boxed_range_var, loc, opt_text, shape, text_of};
use crate::ast::{AlterAction, AlterTable, Constraint, ForeignOption, Identity, OptionValue, TriggerTarget};

impl Converter<'_> {
    pub(crate) fn alter_table(&mut self, s: n::AlterTableStmt) -> SqlResult<AlterTable> {
        let mut actions = Vec::with_capacity(s.cmds.len());
        for node in s.cmds.into_iter().flatten() {
            let n::Node::AlterTableCmd(c) = node else { return Err(shape("ALTER TABLE")) };
            actions.push(self.alter_action(*c)?);
        }
        Ok(AlterTable {
            kind: object_kind(s.objtype)?,
            relation: boxed_range_var(s.relation)?,
            actions,
            missing_ok: s.missing_ok,
        })
    }

    fn alter_action(&mut self, c: n::AlterTableCmd) -> SqlResult<AlterAction> {
        use n::AlterTableType as T;
        let missing_ok = c.missing_ok;
        let drop = behavior(c.behavior);
        Ok(match c.subtype {
            T::AT_AddColumn => match c.def {
                Some(n::Node::ColumnDef(d)) => AlterAction::AddColumn(self.column_def(*d)?, missing_ok, drop),
                _ => return Err(shape("ADD COLUMN")),
            },
            T::AT_ColumnDefault => AlterAction::ColumnDefault(text_of(c.name), self.opt_expr(c.def)?),
            T::AT_DropNotNull => AlterAction::DropNotNull(text_of(c.name)),
            T::AT_SetNotNull => AlterAction::SetNotNull(text_of(c.name)),
            T::AT_SetExpression => AlterAction::SetExpression(text_of(c.name), self.expr(c.def)?),
            T::AT_DropExpression => AlterAction::DropExpression(text_of(c.name), missing_ok),
            T::AT_SetStatistics => {
                let value = match c.def {
                    Some(n::Node::Integer(i)) => Some(i),
                    None => None,
                    _ => return Err(shape("SET STATISTICS")),
                };
                AlterAction::SetStatistics(opt_text(c.name), c.num, value)
            }
            T::AT_SetOptions => AlterAction::SetColumnOptions(text_of(c.name), self.list_options(c.def)?),
            T::AT_ResetOptions => AlterAction::ResetColumnOptions(text_of(c.name), self.list_options(c.def)?),
            T::AT_SetStorage => AlterAction::SetStorage(text_of(c.name), string(c.def)?),
            T::AT_SetCompression => AlterAction::SetCompression(text_of(c.name), string(c.def)?),
            T::AT_DropColumn => AlterAction::DropColumn(text_of(c.name), missing_ok, drop),
            T::AT_AddConstraint => AlterAction::AddConstraint(self.def_constraint(c.def)?),
            T::AT_ValidateConstraint => AlterAction::ValidateConstraint(text_of(c.name)),
            T::AT_DropConstraint => AlterAction::DropConstraint(text_of(c.name), missing_ok, drop),
            T::AT_AlterConstraint => match c.def {
                Some(n::Node::ATAlterConstraint(a)) => alter_constraint(*a),
                _ => return Err(shape("ALTER CONSTRAINT")),
            },
            T::AT_AlterColumnType => self.column_type(c)?,
            T::AT_AddIdentity => match self.def_constraint(c.def)?.kind {
                crate::ast::ConstraintKind::Identity(kind, options) => {
                    AlterAction::AddIdentity(text_of(c.name), kind, options)
                }
                _ => return Err(shape("ADD GENERATED")),
            },
            T::AT_SetIdentity => AlterAction::SetIdentity(text_of(c.name), self.identity_options(c.def)?),
            T::AT_DropIdentity => AlterAction::DropIdentity(text_of(c.name), missing_ok),
            _ => self.alter_whole(c)?,
        })
    }

    /// Actions on the relation as a whole.
    fn alter_whole(&mut self, c: n::AlterTableCmd) -> SqlResult<AlterAction> {
        use n::AlterTableType as T;
        Ok(match c.subtype {
            T::AT_ChangeOwner => AlterAction::Owner(role(*c.newowner.ok_or_else(|| shape("OWNER TO"))?)),
            T::AT_ClusterOn => AlterAction::ClusterOn(text_of(c.name)),
            T::AT_DropCluster => AlterAction::DropCluster,
            T::AT_SetLogged => AlterAction::SetLogged,
            T::AT_SetUnLogged => AlterAction::SetUnlogged,
            T::AT_DropOids => AlterAction::DropOids,
            T::AT_SetAccessMethod => AlterAction::SetAccessMethod(opt_text(c.name)),
            T::AT_SetTableSpace => AlterAction::SetTablespace(text_of(c.name)),
            T::AT_SetRelOptions => AlterAction::SetOptions(self.list_options(c.def)?),
            T::AT_ResetRelOptions => AlterAction::ResetOptions(self.list_options(c.def)?),
            T::AT_EnableTrig => AlterAction::Trigger(TriggerTarget::Name(text_of(c.name)), 'O'),
            T::AT_EnableAlwaysTrig => AlterAction::Trigger(TriggerTarget::Name(text_of(c.name)), 'A'),
            T::AT_EnableReplicaTrig => AlterAction::Trigger(TriggerTarget::Name(text_of(c.name)), 'R'),
            T::AT_DisableTrig => AlterAction::Trigger(TriggerTarget::Name(text_of(c.name)), 'D'),
            T::AT_EnableTrigAll => AlterAction::Trigger(TriggerTarget::All, 'O'),
            T::AT_DisableTrigAll => AlterAction::Trigger(TriggerTarget::All, 'D'),
            T::AT_EnableTrigUser => AlterAction::Trigger(TriggerTarget::User, 'O'),
            T::AT_DisableTrigUser => AlterAction::Trigger(TriggerTarget::User, 'D'),
            T::AT_EnableRule => AlterAction::Rule(text_of(c.name), 'O'),
            T::AT_EnableAlwaysRule => AlterAction::Rule(text_of(c.name), 'A'),
            T::AT_EnableReplicaRule => AlterAction::Rule(text_of(c.name), 'R'),
            T::AT_DisableRule => AlterAction::Rule(text_of(c.name), 'D'),
            T::AT_AddInherit => AlterAction::Inherit(def_range_var(c.def)?, true),
            T::AT_DropInherit => AlterAction::Inherit(def_range_var(c.def)?, false),
            T::AT_AddOf => match c.def {
                Some(n::Node::TypeName(t)) => AlterAction::Of(self.type_name(*t)?),
                _ => return Err(shape("OF")),
            },
            T::AT_DropOf => AlterAction::NotOf,
            T::AT_ReplicaIdentity => match c.def {
                Some(n::Node::ReplicaIdentityStmt(r)) => {
                    AlterAction::ReplicaIdentity(char::from(r.identity_type), opt_text(r.name))
                }
                _ => return Err(shape("REPLICA IDENTITY")),
            },
            T::AT_EnableRowSecurity => AlterAction::RowSecurity(true),
            T::AT_DisableRowSecurity => AlterAction::RowSecurity(false),
            T::AT_ForceRowSecurity => AlterAction::ForceRowSecurity(true),
            T::AT_NoForceRowSecurity => AlterAction::ForceRowSecurity(false),
            T::AT_AttachPartition | T::AT_DetachPartition | T::AT_DetachPartitionFinalize => {
                self.partition(c)?
            }
            T::AT_GenericOptions => AlterAction::ForeignOptions(foreign_options(c.def)?),
            T::AT_AlterColumnGenericOptions => {
                AlterAction::ForeignColumnOptions(text_of(c.name), foreign_options(c.def)?)
            }
            _ => return Err(shape("ALTER TABLE")),
        })
    }

    fn partition(&mut self, c: n::AlterTableCmd) -> SqlResult<AlterAction> {
        let Some(n::Node::PartitionCmd(p)) = c.def else { return Err(shape("partition")) };
        let relation = boxed_range_var(p.name)?;
        Ok(match c.subtype {
            n::AlterTableType::AT_AttachPartition => {
                AlterAction::AttachPartition(relation, p.bound.map(|b| self.partition_bound(*b)).transpose()?)
            }
            n::AlterTableType::AT_DetachPartition => {
                AlterAction::DetachPartition(relation, p.concurrent, false)
            }
            _ => AlterAction::DetachPartition(relation, false, true),
        })
    }

    fn column_type(&mut self, c: n::AlterTableCmd) -> SqlResult<AlterAction> {
        let Some(n::Node::ColumnDef(d)) = c.def else { return Err(shape("ALTER COLUMN TYPE")) };
        Ok(AlterAction::ColumnType {
            column: text_of(c.name),
            type_name: self.boxed_type(d.typeName)?,
            collation: d.collClause.map(|c| collation(*c)).transpose()?,
            using: self.opt_expr(d.raw_default)?,
            location: loc(d.location),
            behavior: behavior(c.behavior),
        })
    }

    fn def_constraint(&mut self, def: Option<n::Node>) -> SqlResult<Constraint> {
        match def {
            Some(n::Node::Constraint(c)) => self.constraint(*c),
            _ => Err(shape("constraint")),
        }
    }

    fn list_options(&mut self, def: Option<n::Node>) -> SqlResult<Vec<crate::ast::DefElem>> {
        match def {
            Some(n::Node::List(list)) => self.def_elems(list),
            None => Ok(Vec::new()),
            _ => Err(shape("options")),
        }
    }

    /// SET GENERATED's letter becomes the word: `generated` = `always` or `by default`.
    fn identity_options(&mut self, def: Option<n::Node>) -> SqlResult<Vec<crate::ast::DefElem>> {
        let mut options = self.list_options(def)?;
        for option in &mut options {
            if option.name == "generated"
                && let Some(OptionValue::Integer(letter)) = option.value
            {
                let word = match identity(u8::try_from(letter).unwrap_or(0)) {
                    Identity::Always => "always",
                    Identity::ByDefault => "by default",
                };
                option.value = Some(OptionValue::String(word.into()));
            }
        }
        Ok(options)
    }
}

fn alter_constraint(a: n::ATAlterConstraint) -> AlterAction {
    AlterAction::AlterConstraint {
        name: text_of(a.conname),
        enforced: a.alterEnforceability.then_some(a.is_enforced),
        deferrability: a.alterDeferrability.then_some((a.deferrable, a.initdeferred)),
        no_inherit: a.alterInheritability.then_some(a.noinherit),
    }
}

fn foreign_options(def: Option<n::Node>) -> SqlResult<Vec<ForeignOption>> {
    match def {
        Some(n::Node::List(list)) => super::foreign::options(list),
        _ => Err(shape("OPTIONS")),
    }
}

fn string(def: Option<n::Node>) -> SqlResult<String> {
    match def {
        Some(n::Node::String(s)) => Ok(s.into()),
        _ => Err(shape("ALTER COLUMN SET")),
    }
}

fn def_range_var(def: Option<n::Node>) -> SqlResult<crate::ast::RangeVar> {
    match def {
        Some(n::Node::RangeVar(r)) => super::range_var(*r),
        _ => Err(shape("INHERIT")),
    }
}
