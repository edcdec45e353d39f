//! Definitions of objects.

use base::{SqlError, SqlResult, SqlState, sql_err};
use rupg_sql::nodes as n;

use super::expr::{sort_direction, sort_nulls};
use super::select::on_commit;
use super::{
    Converter, boxed_range_var, loc, name, opt_name, opt_text, range_var, range_vars, shape, strings, text_of,
};
use crate::ast::{
    AlterDomainAction, AlterEnum, AlterPolicy, AlterTextSearchConfiguration, ColumnDef, Constraint,
    ConstraintKind, CreateFunction, CreateIndex, CreatePolicy, CreateRule, CreateStatistics, CreateTable,
    CreateTableAs, CreateTrigger, CreateView, DefElem, Define, Drop, DropBehavior, ForeignKeyAction,
    ForeignKeyMatch, FunctionParameter, Identity, IndexConstraint, IndexElement, Location, MappingAction,
    Name, ObjectKind, ObjectName, ObjectWithArgs, OptionValue, ParameterMode, PartitionBound, PartitionBy,
    PartitionStrategy, RoleSpec, RuleEvent, SetAction, SetStatement, SetValue, Statement, StatisticsElement,
    TableElement, like,
};

impl Converter<'_> {
    pub(crate) fn statements(&mut self, list: n::List) -> SqlResult<Vec<Statement>> {
        list.into_iter().flatten().map(|node| self.statement(node)).collect()
    }

    pub(super) fn create_table(&mut self, s: n::CreateStmt) -> SqlResult<CreateTable> {
        let mut elements = Vec::with_capacity(s.tableElts.len());
        for node in s.tableElts.into_iter().flatten() {
            elements.push(match node {
                n::Node::ColumnDef(c) => TableElement::Column(self.column_def(*c)?),
                n::Node::Constraint(c) => TableElement::Constraint(self.constraint(*c)?),
                n::Node::TableLikeClause(l) => {
                    TableElement::Like(boxed_range_var(l.relation)?, l.options & like_mask())
                }
                _ => return Err(shape("CREATE TABLE")),
            });
        }
        Ok(CreateTable {
            relation: boxed_range_var(s.relation)?,
            if_not_exists: s.if_not_exists,
            elements,
            inherits: range_vars(s.inhRelations)?,
            partition_of: s.partbound.map(|b| self.partition_bound(*b)).transpose()?,
            partition_by: s.partspec.map(|p| self.partition_by(*p)).transpose()?,
            of_type: s.ofTypename.map(|t| self.type_name(*t)).transpose()?,
            options: self.def_elems(s.options)?,
            on_commit: on_commit(s.oncommit),
            tablespace: opt_text(s.tablespacename),
            access_method: opt_text(s.accessMethod),
            foreign: None,
        })
    }

    pub(crate) fn partition_bound(&mut self, b: n::PartitionBoundSpec) -> SqlResult<PartitionBound> {
        Ok(match (b.is_default, b.strategy) {
            (true, _) => PartitionBound::Default,
            (_, b'h') => PartitionBound::Hash(b.modulus, b.remainder),
            (_, b'l') => PartitionBound::List(self.exprs(b.listdatums)?),
            _ => PartitionBound::Range(self.exprs(b.lowerdatums)?, self.exprs(b.upperdatums)?),
        })
    }

    fn partition_by(&mut self, p: n::PartitionSpec) -> SqlResult<PartitionBy> {
        let mut keys = Vec::new();
        for node in p.partParams.into_iter().flatten() {
            let n::Node::PartitionElem(e) = node else { return Err(shape("PARTITION BY")) };
            keys.push(IndexElement {
                column: opt_text(e.name),
                expr: self.opt_expr(e.expr)?,
                collation: opt_name(e.collation)?,
                opclass: opt_name(e.opclass)?,
                opclass_options: Vec::new(),
                direction: crate::ast::SortDirection::Default,
                nulls: crate::ast::SortNulls::Default,
                location: loc(e.location),
            });
        }
        let strategy = match p.strategy {
            n::PartitionStrategy::PARTITION_STRATEGY_LIST => PartitionStrategy::List,
            n::PartitionStrategy::PARTITION_STRATEGY_HASH => PartitionStrategy::Hash,
            _ => PartitionStrategy::Range,
        };
        Ok(PartitionBy { strategy, keys, location: loc(p.location) })
    }

    pub(super) fn create_statistics(&mut self, s: n::CreateStatsStmt) -> SqlResult<CreateStatistics> {
        let refused = |message: &str| Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
        let mut relations = s.relations.into_iter().flatten();
        let relation = match (relations.next(), relations.next()) {
            (Some(n::Node::RangeVar(relation)), None) => range_var(*relation)?,
            (Some(_), None) => {
                return refused("CREATE STATISTICS only supports relation names in the FROM clause");
            }
            _ => return refused("only a single relation is allowed in CREATE STATISTICS"),
        };
        let mut elements = Vec::with_capacity(s.exprs.len());
        for node in s.exprs.into_iter().flatten() {
            let n::Node::StatsElem(e) = node else { return Err(shape("CREATE STATISTICS")) };
            elements.push(StatisticsElement { column: opt_text(e.name), expr: self.opt_expr(e.expr)? });
        }
        Ok(CreateStatistics {
            name: opt_name(s.defnames)?,
            kinds: strings(s.stat_types)?,
            elements,
            relation,
            if_not_exists: s.if_not_exists,
        })
    }

    pub(super) fn create_table_as(&mut self, s: n::CreateTableAsStmt) -> SqlResult<Statement> {
        let query = s.query.ok_or_else(|| shape("CREATE TABLE AS"))?;
        Ok(Statement::CreateTableAs(Box::new(CreateTableAs {
            query: Box::new(self.statement(query)?),
            into: self.created(*s.into.ok_or_else(|| shape("CREATE TABLE AS"))?)?,
            materialized_view: s.objtype == n::ObjectType::OBJECT_MATVIEW,
            select_into: s.is_select_into,
            if_not_exists: s.if_not_exists,
        })))
    }

    /// Column definitions.
    pub(crate) fn column_defs(&mut self, list: n::List) -> SqlResult<Vec<ColumnDef>> {
        list.into_iter()
            .flatten()
            .map(|node| match node {
                n::Node::ColumnDef(c) => self.column_def(*c),
                _ => Err(shape("column definitions")),
            })
            .collect()
    }

    pub(crate) fn column_def(&mut self, c: n::ColumnDef) -> SqlResult<ColumnDef> {
        Ok(ColumnDef {
            name: text_of(c.colname),
            type_name: c.typeName.map(|t| self.type_name(*t)).transpose()?,
            compression: opt_text(c.compression),
            storage: opt_text(c.storage_name),
            collation: c.collClause.map(|c| collation(*c)).transpose()?,
            foreign_options: super::foreign::options(c.fdwoptions)?,
            constraints: self.constraints(c.constraints)?,
            location: loc(c.location),
        })
    }

    pub(super) fn constraints(&mut self, list: n::List) -> SqlResult<Vec<Constraint>> {
        list.into_iter()
            .flatten()
            .map(|node| match node {
                n::Node::Constraint(c) => self.constraint(*c),
                _ => Err(shape("constraints")),
            })
            .collect()
    }

    pub(crate) fn constraint(&mut self, c: n::Constraint) -> SqlResult<Constraint> {
        let (deferrable, deferred) = (c.deferrable, c.initdeferred);
        // The grammar fills it for the kinds that can be NOT ENFORCED.
        let enforceable = matches!(
            c.contype,
            n::ConstrType::CONSTR_CHECK | n::ConstrType::CONSTR_FOREIGN | n::ConstrType::CONSTR_NOTNULL
        );
        let enforced = c.is_enforced || !enforceable;
        let (not_valid, no_inherit, location) = (c.skip_validation, c.is_no_inherit, loc(c.location));
        let constraint_name = c.conname.clone().map(String::from);
        let kind = match c.contype {
            n::ConstrType::CONSTR_NULL => ConstraintKind::Null,
            n::ConstrType::CONSTR_NOTNULL => ConstraintKind::NotNull(strings(c.keys)?.pop()),
            n::ConstrType::CONSTR_DEFAULT => ConstraintKind::Default(self.expr(c.raw_expr)?),
            n::ConstrType::CONSTR_IDENTITY => {
                ConstraintKind::Identity(identity(c.generated_when), self.def_elems(c.options)?)
            }
            n::ConstrType::CONSTR_GENERATED => ConstraintKind::Generated {
                expr: self.expr(c.raw_expr)?,
                stored: c.generated_kind == n::ATTRIBUTE_GENERATED_STORED,
                always: c.generated_when == n::ATTRIBUTE_IDENTITY_ALWAYS,
            },
            n::ConstrType::CONSTR_CHECK => ConstraintKind::Check(self.expr(c.raw_expr)?),
            n::ConstrType::CONSTR_PRIMARY => ConstraintKind::PrimaryKey(self.index_constraint(c)?),
            n::ConstrType::CONSTR_UNIQUE => ConstraintKind::Unique(self.index_constraint(c)?),
            n::ConstrType::CONSTR_EXCLUSION => self.exclusion(c)?,
            n::ConstrType::CONSTR_FOREIGN => ConstraintKind::ForeignKey {
                table: boxed_range_var(c.pktable)?,
                columns: strings(c.fk_attrs)?,
                referenced: strings(c.pk_attrs)?,
                matching: match c.fk_matchtype {
                    n::FKCONSTR_MATCH_FULL => ForeignKeyMatch::Full,
                    n::FKCONSTR_MATCH_PARTIAL => ForeignKeyMatch::Partial,
                    _ => ForeignKeyMatch::Simple,
                },
                on_update: foreign_key_action(c.fk_upd_action),
                on_delete: foreign_key_action(c.fk_del_action),
                delete_columns: strings(c.fk_del_set_cols)?,
                period: c.fk_with_period,
                referenced_period: c.pk_with_period,
            },
            n::ConstrType::CONSTR_ATTR_DEFERRABLE => ConstraintKind::Deferrable,
            n::ConstrType::CONSTR_ATTR_NOT_DEFERRABLE => ConstraintKind::NotDeferrable,
            n::ConstrType::CONSTR_ATTR_DEFERRED => ConstraintKind::Deferred,
            n::ConstrType::CONSTR_ATTR_IMMEDIATE => ConstraintKind::Immediate,
            n::ConstrType::CONSTR_ATTR_ENFORCED => ConstraintKind::Enforced,
            n::ConstrType::CONSTR_ATTR_NOT_ENFORCED => ConstraintKind::NotEnforced,
            _ => return Err(shape("constraint")),
        };
        Ok(Constraint {
            name: constraint_name,
            kind,
            deferrable,
            deferred,
            enforced,
            not_valid,
            no_inherit,
            location,
        })
    }

    fn index_constraint(&mut self, c: n::Constraint) -> SqlResult<IndexConstraint> {
        Ok(IndexConstraint {
            columns: strings(c.keys)?,
            including: strings(c.including)?,
            nulls_not_distinct: c.nulls_not_distinct,
            without_overlaps: c.without_overlaps,
            options: self.def_elems(c.options)?,
            using_index: opt_text(c.indexname),
            tablespace: opt_text(c.indexspace),
        })
    }

    fn exclusion(&mut self, mut c: n::Constraint) -> SqlResult<ConstraintKind> {
        let mut elements = Vec::new();
        for node in std::mem::take(&mut c.exclusions).into_iter().flatten() {
            let n::Node::List(pair) = node else { return Err(shape("EXCLUDE")) };
            let mut pair = pair.into_iter().flatten();
            let (Some(n::Node::IndexElem(e)), Some(n::Node::List(op))) = (pair.next(), pair.next()) else {
                return Err(shape("EXCLUDE"));
            };
            elements.push((self.index_element(*e)?, name(op)?));
        }
        let access_method = c.access_method.take().map(String::from);
        let filter = self.opt_expr(c.where_clause.take())?;
        Ok(ConstraintKind::Exclude { index: self.index_constraint(c)?, elements, access_method, filter })
    }

    pub(crate) fn index_elements(&mut self, list: n::List) -> SqlResult<Vec<IndexElement>> {
        list.into_iter()
            .flatten()
            .map(|node| match node {
                n::Node::IndexElem(e) => self.index_element(*e),
                _ => Err(shape("index columns")),
            })
            .collect()
    }

    fn index_element(&mut self, e: n::IndexElem) -> SqlResult<IndexElement> {
        Ok(IndexElement {
            column: opt_text(e.name),
            expr: self.opt_expr(e.expr)?,
            collation: opt_name(e.collation)?,
            opclass: opt_name(e.opclass)?,
            opclass_options: self.def_elems(e.opclassopts)?,
            direction: sort_direction(e.ordering, Vec::new())?,
            nulls: sort_nulls(e.nulls_ordering),
            location: loc(e.location),
        })
    }

    pub(super) fn create_index(&mut self, s: n::IndexStmt) -> SqlResult<CreateIndex> {
        Ok(CreateIndex {
            name: opt_text(s.idxname),
            relation: boxed_range_var(s.relation)?,
            access_method: text_of(s.accessMethod),
            keys: self.index_elements(s.indexParams)?,
            including: self.index_elements(s.indexIncludingParams)?,
            options: self.def_elems(s.options)?,
            filter: self.opt_expr(s.whereClause)?,
            tablespace: opt_text(s.tableSpace),
            unique: s.unique,
            nulls_not_distinct: s.nulls_not_distinct,
            concurrently: s.concurrent,
            if_not_exists: s.if_not_exists,
        })
    }

    pub(super) fn drop(&mut self, s: n::DropStmt) -> SqlResult<Drop> {
        let kind = object_kind(s.removeType)?;
        let mut objects = Vec::with_capacity(s.objects.len());
        for node in s.objects {
            objects.push(self.object_name(kind, node)?);
        }
        Ok(Drop {
            kind,
            objects,
            behavior: behavior(s.behavior),
            missing_ok: s.missing_ok,
            concurrently: s.concurrent,
        })
    }

    pub(super) fn create_view(&mut self, s: n::ViewStmt) -> SqlResult<CreateView> {
        Ok(CreateView {
            view: boxed_range_var(s.view)?,
            columns: strings(s.aliases)?,
            query: Box::new(self.select_node(s.query)?),
            replace: s.replace,
            options: self.def_elems(s.options)?,
            check_option: match s.withCheckOption {
                n::ViewCheckOption::LOCAL_CHECK_OPTION => Some(false),
                n::ViewCheckOption::CASCADED_CHECK_OPTION => Some(true),
                _ => None,
            },
        })
    }

    pub(super) fn alter_domain(&mut self, s: n::AlterDomainStmt) -> SqlResult<Statement> {
        let action = match s.subtype {
            n::AlterDomainType::AD_AlterDefault => AlterDomainAction::Default(self.opt_expr(s.def)?),
            n::AlterDomainType::AD_DropNotNull => AlterDomainAction::DropNotNull,
            n::AlterDomainType::AD_SetNotNull => AlterDomainAction::SetNotNull,
            n::AlterDomainType::AD_AddConstraint => match s.def {
                Some(n::Node::Constraint(c)) => {
                    AlterDomainAction::AddConstraint(Box::new(self.constraint(*c)?))
                }
                _ => return Err(shape("ALTER DOMAIN")),
            },
            n::AlterDomainType::AD_DropConstraint => {
                AlterDomainAction::DropConstraint(text_of(s.name), s.missing_ok, behavior(s.behavior))
            }
            _ => AlterDomainAction::ValidateConstraint(text_of(s.name)),
        };
        Ok(Statement::AlterDomain(name(s.typeName)?, action))
    }

    pub(super) fn create_function(&mut self, s: n::CreateFunctionStmt) -> SqlResult<CreateFunction> {
        let parameters = self.parameters(s.parameters)?;
        let body = match s.sql_body {
            None => None,
            Some(n::Node::List(outer)) => Some(self.function_body(outer)?),
            Some(node) => Some(vec![self.statement(node)?]),
        };
        Ok(CreateFunction {
            procedure: s.is_procedure,
            replace: s.replace,
            name: name(s.funcname)?,
            parameters,
            returns: s.returnType.map(|t| self.type_name(*t)).transpose()?,
            options: self.def_elems(s.options)?,
            body,
        })
    }

    /// CREATE AGGREGATE, CREATE OPERATOR, CREATE TYPE of a base type, CREATE COLLATION, CREATE TEXT SEARCH ….
    pub(super) fn define(&mut self, s: n::DefineStmt) -> SqlResult<Define> {
        let mut args = s.args.into_iter().flatten();
        let parameters = match args.next() {
            Some(n::Node::List(list)) => self.parameters(list)?,
            _ => Vec::new(),
        };
        let direct = match args.next() {
            Some(n::Node::Integer(count)) => usize::try_from(count).ok(),
            _ => None,
        };
        Ok(Define {
            kind: object_kind(s.kind)?,
            replace: s.replace,
            if_not_exists: s.if_not_exists,
            old_style: s.oldstyle,
            name: name(s.defnames)?,
            parameters,
            direct,
            definition: self.def_elems(s.definition)?,
        })
    }

    fn parameters(&mut self, list: n::List) -> SqlResult<Vec<FunctionParameter>> {
        let mut parameters = Vec::with_capacity(list.len());
        for node in list.into_iter().flatten() {
            let n::Node::FunctionParameter(p) = node else { return Err(shape("function parameters")) };
            parameters.push(FunctionParameter {
                name: opt_text(p.name),
                type_name: self.boxed_type(p.argType)?,
                mode: match p.mode {
                    n::FunctionParameterMode::FUNC_PARAM_OUT => ParameterMode::Out,
                    n::FunctionParameterMode::FUNC_PARAM_INOUT => ParameterMode::InOut,
                    n::FunctionParameterMode::FUNC_PARAM_VARIADIC => ParameterMode::Variadic,
                    n::FunctionParameterMode::FUNC_PARAM_TABLE => ParameterMode::Table,
                    _ => ParameterMode::In,
                },
                default: self.opt_expr(p.defexpr)?,
                location: loc(p.location),
            });
        }
        Ok(parameters)
    }

    /// BEGIN ATOMIC's statements, which the grammar puts into a list of one list.
    fn function_body(&mut self, outer: n::List) -> SqlResult<Vec<Statement>> {
        let mut body = Vec::new();
        for node in outer.into_iter().flatten() {
            match node {
                n::Node::List(inner) => body.extend(self.statements(inner)?),
                node => body.push(self.statement(node)?),
            }
        }
        Ok(body)
    }

    pub(super) fn create_trigger(&mut self, s: n::CreateTrigStmt) -> SqlResult<CreateTrigger> {
        let mut transitions = Vec::new();
        for node in s.transitionRels.into_iter().flatten() {
            let n::Node::TriggerTransition(t) = node else { return Err(shape("CREATE TRIGGER")) };
            transitions.push((text_of(t.name), t.isNew, t.isTable));
        }
        Ok(CreateTrigger {
            replace: s.replace,
            constraint: s.isconstraint,
            name: text_of(s.trigname),
            relation: boxed_range_var(s.relation)?,
            function: name(s.funcname)?,
            args: strings(s.args)?,
            row: s.row,
            timing: s.timing,
            events: s.events,
            columns: strings(s.columns)?,
            when: self.opt_expr(s.whenClause)?,
            transitions,
            deferrable: s.deferrable,
            deferred: s.initdeferred,
            from: s.constrrel.map(|r| range_var(*r)).transpose()?,
        })
    }

    pub(super) fn create_rule(&mut self, s: n::RuleStmt) -> SqlResult<CreateRule> {
        Ok(CreateRule {
            replace: s.replace,
            name: text_of(s.rulename),
            relation: boxed_range_var(s.relation)?,
            event: match s.event {
                n::CmdType::CMD_SELECT => RuleEvent::Select,
                n::CmdType::CMD_UPDATE => RuleEvent::Update,
                n::CmdType::CMD_INSERT => RuleEvent::Insert,
                n::CmdType::CMD_DELETE => RuleEvent::Delete,
                _ => return Err(shape("CREATE RULE")),
            },
            condition: self.opt_expr(s.whereClause)?,
            instead: s.instead,
            actions: self.statements(s.actions)?,
        })
    }

    pub(super) fn create_policy(&mut self, s: n::CreatePolicyStmt) -> SqlResult<CreatePolicy> {
        Ok(CreatePolicy {
            name: text_of(s.policy_name),
            table: boxed_range_var(s.table)?,
            permissive: s.permissive,
            command: text_of(s.cmd_name),
            roles: roles(s.roles)?,
            using: self.opt_expr(s.qual)?,
            check: self.opt_expr(s.with_check)?,
        })
    }

    pub(super) fn alter_policy(&mut self, s: n::AlterPolicyStmt) -> SqlResult<AlterPolicy> {
        Ok(AlterPolicy {
            name: text_of(s.policy_name),
            table: boxed_range_var(s.table)?,
            roles: roles(s.roles)?,
            using: self.opt_expr(s.qual)?,
            check: self.opt_expr(s.with_check)?,
        })
    }

    /// An object as named after its kind.
    pub(crate) fn object_name(&mut self, kind: ObjectKind, node: Option<n::Node>) -> SqlResult<ObjectName> {
        Ok(match node {
            Some(n::Node::String(s)) => ObjectName::Name(Name(vec![s.into()])),
            Some(n::Node::TypeName(t)) => ObjectName::Type(self.type_name(*t)?),
            Some(n::Node::ObjectWithArgs(o)) => ObjectName::WithArgs(self.object_with_args(*o)?),
            Some(n::Node::RangeVar(r)) => {
                let r = range_var(*r)?;
                ObjectName::Name(Name([r.catalog, r.schema, Some(r.name)].into_iter().flatten().collect()))
            }
            Some(n::Node::List(list)) if kind == ObjectKind::Cast => {
                let mut types = list.into_iter().flatten();
                let (Some(n::Node::TypeName(a)), Some(n::Node::TypeName(b))) = (types.next(), types.next())
                else {
                    return Err(shape("cast"));
                };
                ObjectName::Cast(self.type_name(*a)?, self.type_name(*b)?)
            }
            Some(n::Node::List(list)) if matches!(list.first(), Some(Some(n::Node::TypeName(_)))) => {
                let mut parts = list.into_iter().flatten();
                let (Some(n::Node::TypeName(t)), Some(n::Node::String(s))) = (parts.next(), parts.next())
                else {
                    return Err(shape("object name"));
                };
                let t = self.type_name(*t)?;
                match kind {
                    ObjectKind::Transform => ObjectName::Transform(t, s.into()),
                    _ => ObjectName::DomainConstraint(t, s.into()),
                }
            }
            Some(n::Node::List(list)) => ObjectName::Name(name(list)?),
            Some(n::Node::Integer(i)) => ObjectName::Number(i.to_string()),
            Some(n::Node::Float(f)) => ObjectName::Number(f.into()),
            _ => return Err(shape("object name")),
        })
    }

    pub(crate) fn object_with_args(&mut self, o: n::ObjectWithArgs) -> SqlResult<ObjectWithArgs> {
        let mut args = Vec::with_capacity(o.objargs.len());
        for node in o.objargs {
            args.push(match node {
                None => None,
                Some(n::Node::TypeName(t)) => Some(self.type_name(*t)?),
                Some(_) => return Err(shape("argument types")),
            });
        }
        let parameters = self.parameters(o.objfuncargs)?;
        Ok(ObjectWithArgs { name: name(o.objname)?, args, parameters, args_unspecified: o.args_unspecified })
    }

    /// Options.
    pub(crate) fn def_elems(&mut self, list: n::List) -> SqlResult<Vec<DefElem>> {
        let mut out = Vec::with_capacity(list.len());
        for node in list.into_iter().flatten() {
            let n::Node::DefElem(d) = node else { return Err(shape("options")) };
            out.push(DefElem {
                namespace: opt_text(d.defnamespace),
                name: text_of(d.defname),
                value: d.arg.map(|v| self.option_value(v)).transpose()?,
                location: loc(d.location),
            });
        }
        Ok(out)
    }

    fn option_value(&mut self, node: n::Node) -> SqlResult<OptionValue> {
        Ok(match node {
            n::Node::String(s) => OptionValue::String(s.into()),
            n::Node::Integer(i) => OptionValue::Integer(i),
            n::Node::Float(s) => OptionValue::Float(s.into()),
            n::Node::Boolean(b) => OptionValue::Boolean(b),
            n::Node::TypeName(t) => OptionValue::Type(self.type_name(*t)?),
            n::Node::A_Star(_) => OptionValue::Star,
            n::Node::RoleSpec(r) => OptionValue::Role(role(*r)),
            n::Node::VariableSetStmt(s) => OptionValue::Set(self.set_statement(*s)?),
            n::Node::RangeVar(r) => {
                let r = range_var(*r)?;
                OptionValue::Names([r.catalog, r.schema, Some(r.name)].into_iter().flatten().collect())
            }
            n::Node::List(list) => {
                let mut values = Vec::with_capacity(list.len());
                for node in list.into_iter().flatten() {
                    values.push(self.deeper(|c| c.option_value(node))?);
                }
                OptionValue::List(values)
            }
            n::Node::DefElem(d) => {
                let mut elems = self.def_elems(vec![Some(n::Node::DefElem(d))])?;
                match elems.pop().map(|e| (e.name, e.value)) {
                    Some((_, Some(value))) => value,
                    Some((name, None)) => OptionValue::String(name),
                    None => return Err(shape("options")),
                }
            }
            // Modes of a transaction come as constants.
            n::Node::A_Const(c) => match c.val {
                Some(n::Node::String(_) | n::Node::Integer(_) | n::Node::Float(_) | n::Node::Boolean(_)) => {
                    return c.val.map_or_else(|| Err(shape("options")), |value| self.option_value(value));
                }
                _ => OptionValue::Expr(self.expr(Some(n::Node::A_Const(c)))?),
            },
            node => OptionValue::Expr(self.expr(Some(node))?),
        })
    }

    /// SET and RESET.
    pub(crate) fn set_statement(&mut self, s: n::VariableSetStmt) -> SqlResult<SetStatement> {
        let action = match s.kind {
            n::VariableSetKind::VAR_SET_VALUE => {
                let mut values = Vec::with_capacity(s.args.len());
                for node in s.args.into_iter().flatten() {
                    values.push(self.set_value(node)?);
                }
                SetAction::Value(values)
            }
            n::VariableSetKind::VAR_SET_DEFAULT => SetAction::Default,
            n::VariableSetKind::VAR_SET_CURRENT => SetAction::Current,
            n::VariableSetKind::VAR_SET_MULTI => SetAction::Multi(self.multi_options(s.args)?),
            n::VariableSetKind::VAR_RESET => SetAction::Reset,
            _ => SetAction::ResetAll,
        };
        Ok(SetStatement { action, name: text_of(s.name), local: s.is_local })
    }

    /// SET TRANSACTION's modes, or the snapshot of SET TRANSACTION SNAPSHOT under the name `snapshot`.
    fn multi_options(&mut self, args: n::List) -> SqlResult<Vec<DefElem>> {
        if let [Some(n::Node::A_Const(c))] = args.as_slice()
            && let Some(n::Node::String(s)) = &c.val
        {
            let value = Some(OptionValue::String(s.clone().into()));
            return Ok(vec![DefElem {
                namespace: None,
                name: "snapshot".into(),
                value,
                location: loc(c.location),
            }]);
        }
        self.def_elems(args)
    }

    fn set_value(&mut self, node: n::Node) -> SqlResult<SetValue> {
        let constant = |c: &n::A_Const| match &c.val {
            Some(n::Node::String(s)) => Ok(SetValue::String(s.clone().into())),
            Some(n::Node::Integer(i)) => Ok(SetValue::Integer(*i)),
            Some(n::Node::Float(f)) => Ok(SetValue::Float(f.clone().into())),
            Some(n::Node::Boolean(b)) => Ok(SetValue::String(if *b { "true" } else { "false" }.into())),
            _ => Err(shape("SET")),
        };
        match node {
            n::Node::A_Const(c) => constant(&c),
            n::Node::TypeCast(t) => {
                let type_name = self.boxed_type(t.typeName)?;
                match t.arg {
                    Some(n::Node::A_Const(c)) => match constant(&c)? {
                        SetValue::String(s) => Ok(SetValue::Interval(s, Some(Box::new(type_name)))),
                        other => Ok(other),
                    },
                    _ => Err(shape("SET")),
                }
            }
            _ => Err(shape("SET")),
        }
    }
}

pub(super) fn alter_enum(s: n::AlterEnumStmt) -> SqlResult<Statement> {
    Ok(Statement::AlterEnum(AlterEnum {
        name: name(s.typeName)?,
        old_value: opt_text(s.oldVal),
        new_value: text_of(s.newVal),
        neighbor: s.newValNeighbor.map(|v| (v.into(), s.newValIsAfter)),
        if_not_exists: s.skipIfNewValExists,
    }))
}

/// COLLATE of a column or domain.
pub(crate) fn collation(c: n::CollateClause) -> SqlResult<(Name, Location)> {
    Ok((name(c.collname)?, loc(c.location)))
}

/// A role.
pub(crate) fn role(r: n::RoleSpec) -> RoleSpec {
    let location = loc(r.location);
    match r.roletype {
        n::RoleSpecType::ROLESPEC_CURRENT_ROLE => RoleSpec::CurrentRole(location),
        n::RoleSpecType::ROLESPEC_CURRENT_USER => RoleSpec::CurrentUser(location),
        n::RoleSpecType::ROLESPEC_SESSION_USER => RoleSpec::SessionUser(location),
        n::RoleSpecType::ROLESPEC_PUBLIC => RoleSpec::Public(location),
        _ => RoleSpec::Name(text_of(r.rolename), location),
    }
}

/// A list of roles.
pub(crate) fn roles(list: n::List) -> SqlResult<Vec<RoleSpec>> {
    list.into_iter()
        .flatten()
        .map(|node| match node {
            n::Node::RoleSpec(r) => Ok(role(*r)),
            _ => Err(shape("list of roles")),
        })
        .collect()
}

/// CASCADE, RESTRICT.
pub(crate) fn behavior(b: n::DropBehavior) -> DropBehavior {
    if b == n::DropBehavior::DROP_CASCADE { DropBehavior::Cascade } else { DropBehavior::Restrict }
}

pub(crate) fn identity(letter: u8) -> Identity {
    if letter == n::ATTRIBUTE_IDENTITY_ALWAYS { Identity::Always } else { Identity::ByDefault }
}

fn like_mask() -> u32 {
    like::COMMENTS
        | like::COMPRESSION
        | like::CONSTRAINTS
        | like::DEFAULTS
        | like::GENERATED
        | like::IDENTITY
        | like::INDEXES
        | like::STATISTICS
        | like::STORAGE
}

pub(super) fn alter_text_search_configuration(
    s: n::AlterTSConfigurationStmt,
) -> SqlResult<AlterTextSearchConfiguration> {
    use n::AlterTSConfigType as T;
    let lists = s.dicts.into_iter().flatten().map(|node| match node {
        n::Node::List(list) => name(list),
        _ => Err(shape("ALTER TEXT SEARCH CONFIGURATION")),
    });
    let dictionaries = lists.collect::<SqlResult<Vec<Name>>>()?;
    let action = match s.kind {
        T::ALTER_TSCONFIG_ADD_MAPPING => MappingAction::Add(dictionaries),
        T::ALTER_TSCONFIG_ALTER_MAPPING_FOR_TOKEN => MappingAction::Set(dictionaries),
        T::ALTER_TSCONFIG_DROP_MAPPING => MappingAction::Drop { missing_ok: s.missing_ok },
        T::ALTER_TSCONFIG_REPLACE_DICT | T::ALTER_TSCONFIG_REPLACE_DICT_FOR_TOKEN => {
            let [old, new] =
                <[Name; 2]>::try_from(dictionaries).map_err(|_| shape("ALTER TEXT SEARCH CONFIGURATION"))?;
            MappingAction::Replace(old, new)
        }
        _ => return Err(shape("ALTER TEXT SEARCH CONFIGURATION")),
    };
    Ok(AlterTextSearchConfiguration { name: name(s.cfgname)?, kinds: strings(s.tokentype)?, action })
}

fn foreign_key_action(letter: u8) -> ForeignKeyAction {
    match letter {
        n::FKCONSTR_ACTION_RESTRICT => ForeignKeyAction::Restrict,
        n::FKCONSTR_ACTION_CASCADE => ForeignKeyAction::Cascade,
        n::FKCONSTR_ACTION_SETNULL => ForeignKeyAction::SetNull,
        n::FKCONSTR_ACTION_SETDEFAULT => ForeignKeyAction::SetDefault,
        _ => ForeignKeyAction::NoAction,
    }
}

/// Our kind for the grammar's.
pub(crate) fn object_kind(kind: n::ObjectType) -> SqlResult<ObjectKind> {
    use n::ObjectType as T;
    Ok(match kind {
        T::OBJECT_ACCESS_METHOD => ObjectKind::AccessMethod,
        T::OBJECT_AGGREGATE => ObjectKind::Aggregate,
        T::OBJECT_ATTRIBUTE => ObjectKind::Attribute,
        T::OBJECT_CAST => ObjectKind::Cast,
        T::OBJECT_COLUMN => ObjectKind::Column,
        T::OBJECT_COLLATION => ObjectKind::Collation,
        T::OBJECT_CONVERSION => ObjectKind::Conversion,
        T::OBJECT_DATABASE => ObjectKind::Database,
        T::OBJECT_DOMAIN => ObjectKind::Domain,
        T::OBJECT_DOMCONSTRAINT => ObjectKind::DomainConstraint,
        T::OBJECT_EVENT_TRIGGER => ObjectKind::EventTrigger,
        T::OBJECT_EXTENSION => ObjectKind::Extension,
        T::OBJECT_FDW => ObjectKind::ForeignDataWrapper,
        T::OBJECT_FOREIGN_SERVER => ObjectKind::ForeignServer,
        T::OBJECT_FOREIGN_TABLE => ObjectKind::ForeignTable,
        T::OBJECT_FUNCTION => ObjectKind::Function,
        T::OBJECT_INDEX => ObjectKind::Index,
        T::OBJECT_LANGUAGE => ObjectKind::Language,
        T::OBJECT_LARGEOBJECT => ObjectKind::LargeObject,
        T::OBJECT_MATVIEW => ObjectKind::MaterializedView,
        T::OBJECT_OPCLASS => ObjectKind::OperatorClass,
        T::OBJECT_OPERATOR => ObjectKind::Operator,
        T::OBJECT_OPFAMILY => ObjectKind::OperatorFamily,
        T::OBJECT_PARAMETER_ACL => ObjectKind::Parameter,
        T::OBJECT_POLICY => ObjectKind::Policy,
        T::OBJECT_PROCEDURE => ObjectKind::Procedure,
        T::OBJECT_PUBLICATION => ObjectKind::Publication,
        T::OBJECT_ROLE => ObjectKind::Role,
        T::OBJECT_ROUTINE => ObjectKind::Routine,
        T::OBJECT_RULE => ObjectKind::Rule,
        T::OBJECT_SCHEMA => ObjectKind::Schema,
        T::OBJECT_SEQUENCE => ObjectKind::Sequence,
        T::OBJECT_SUBSCRIPTION => ObjectKind::Subscription,
        T::OBJECT_STATISTIC_EXT => ObjectKind::Statistics,
        T::OBJECT_TABCONSTRAINT => ObjectKind::TableConstraint,
        T::OBJECT_TABLE => ObjectKind::Table,
        T::OBJECT_TABLESPACE => ObjectKind::Tablespace,
        T::OBJECT_TRANSFORM => ObjectKind::Transform,
        T::OBJECT_TRIGGER => ObjectKind::Trigger,
        T::OBJECT_TSCONFIGURATION => ObjectKind::TextSearchConfiguration,
        T::OBJECT_TSDICTIONARY => ObjectKind::TextSearchDictionary,
        T::OBJECT_TSPARSER => ObjectKind::TextSearchParser,
        T::OBJECT_TSTEMPLATE => ObjectKind::TextSearchTemplate,
        T::OBJECT_TYPE => ObjectKind::Type,
        T::OBJECT_VIEW => ObjectKind::View,
        T::OBJECT_USER_MAPPING => return Err(SqlError::not_supported("user mappings")),
        _ => return Err(sql_err!(INTERNAL_ERROR, "unexpected parse tree in object kind")),
    })
}
