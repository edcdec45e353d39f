//! SELECT, INSERT, UPDATE, DELETE, MERGE.

use base::SqlResult;
use rupg_sql::nodes as n;

use super::{
    Converter, alias, boxed_range_var, loc, name, opt_text, range_var, range_vars, shape, strings, text_of,
};
use crate::ast::{
    Assignment, ConflictTarget, CreateTableAs, Cte, CteCycle, CteSearch, Delete, Distinct, FromFunction,
    FromItem, GroupBy, Insert, Into, Join, JoinKind, LockStrength, LockWait, Locking, Materialize, Merge,
    MergeAction, MergeMatch, MergeWhen, OnCommit, OnConflict, Overriding, ResTarget, Returning, Select,
    SelectBody, SetOp, SimpleSelect, Statement, TargetColumn, Update, With,
};

impl Converter<'_> {
    /// SELECT as a statement: SELECT INTO becomes CREATE TABLE AS.
    pub(crate) fn select_statement(&mut self, s: n::SelectStmt) -> SqlResult<Statement> {
        let mut select = self.select(s)?;
        let into = leftmost_into(&mut select);
        let select = Statement::Select(Box::new(select));
        Ok(match into {
            None => select,
            Some(into) => Statement::CreateTableAs(Box::new(CreateTableAs {
                query: Box::new(select),
                into,
                materialized_view: false,
                select_into: true,
                if_not_exists: false,
            })),
        })
    }

    /// A node that must be a SELECT.
    pub(crate) fn select_node(&mut self, node: Option<n::Node>) -> SqlResult<Select> {
        match node {
            Some(n::Node::SelectStmt(s)) => self.deeper(|c| c.select(*s)),
            _ => Err(shape("subquery")),
        }
    }

    pub(crate) fn select(&mut self, s: n::SelectStmt) -> SqlResult<Select> {
        let with = self.with(s.withClause)?;
        let body = if s.op != n::SetOperation::SETOP_NONE {
            let arm = |arm: Option<Box<n::SelectStmt>>| arm.ok_or_else(|| shape("set operation"));
            let (left, right) = (arm(s.larg)?, arm(s.rarg)?);
            SelectBody::SetOp {
                op: match s.op {
                    n::SetOperation::SETOP_UNION => SetOp::Union,
                    n::SetOperation::SETOP_INTERSECT => SetOp::Intersect,
                    _ => SetOp::Except,
                },
                all: s.all,
                left: Box::new(self.deeper(|c| c.select(*left))?),
                right: Box::new(self.deeper(|c| c.select(*right))?),
            }
        } else if !s.valuesLists.is_empty() {
            let mut rows = Vec::with_capacity(s.valuesLists.len());
            for row in s.valuesLists {
                let Some(n::Node::List(row)) = row else { return Err(shape("VALUES")) };
                rows.push(self.exprs(row)?);
            }
            SelectBody::Values(rows)
        } else {
            SelectBody::Simple(Box::new(SimpleSelect {
                distinct: self.distinct(s.distinctClause)?,
                into: s.intoClause.map(|i| self.created(*i)).transpose()?,
                targets: self.targets(s.targetList)?,
                from: self.tables(s.fromClause)?,
                filter: self.opt_expr(s.whereClause)?,
                group_by: self.group_by(s.groupClause)?,
                group_distinct: s.groupDistinct,
                having: self.opt_expr(s.havingClause)?,
                windows: self.windows(s.windowClause)?,
            }))
        };
        Ok(Select {
            with,
            body,
            order_by: self.sort_list(s.sortClause)?,
            offset: self.opt_expr(s.limitOffset)?,
            limit: self.opt_expr(s.limitCount)?,
            with_ties: s.limitOption == n::LimitOption::LIMIT_OPTION_WITH_TIES,
            locking: locking(s.lockingClause)?,
        })
    }

    fn distinct(&mut self, list: n::List) -> SqlResult<Distinct> {
        Ok(match list.first() {
            None => Distinct::None,
            Some(None) => Distinct::All,
            Some(Some(_)) => Distinct::On(self.exprs(list)?),
        })
    }

    fn windows(&mut self, list: n::List) -> SqlResult<Vec<crate::ast::WindowDef>> {
        list.into_iter()
            .flatten()
            .map(|w| if let n::Node::WindowDef(w) = w { self.window(*w) } else { Err(shape("WINDOW")) })
            .collect()
    }

    fn group_by(&mut self, list: n::List) -> SqlResult<Vec<GroupBy>> {
        let mut out = Vec::with_capacity(list.len());
        for node in list.into_iter().flatten() {
            out.push(match node {
                n::Node::GroupingSet(g) => {
                    let location = loc(g.location);
                    match g.kind {
                        n::GroupingSetKind::GROUPING_SET_EMPTY => GroupBy::Empty(location),
                        n::GroupingSetKind::GROUPING_SET_ROLLUP => {
                            GroupBy::Rollup(self.deeper(|c| c.group_by(g.content))?, location)
                        }
                        n::GroupingSetKind::GROUPING_SET_CUBE => {
                            GroupBy::Cube(self.deeper(|c| c.group_by(g.content))?, location)
                        }
                        n::GroupingSetKind::GROUPING_SET_SETS => {
                            GroupBy::Sets(self.deeper(|c| c.group_by(g.content))?, location)
                        }
                        _ => return Err(shape("GROUP BY")),
                    }
                }
                node => GroupBy::Expr(self.expr(Some(node))?),
            });
        }
        Ok(out)
    }

    /// A target list or RETURNING list.
    pub(crate) fn targets(&mut self, list: n::List) -> SqlResult<Vec<ResTarget>> {
        let mut out = Vec::with_capacity(list.len());
        for node in list.into_iter().flatten() {
            let n::Node::ResTarget(t) = node else { return Err(shape("target list")) };
            out.push(ResTarget {
                name: opt_text(t.name),
                value: self.expr(t.val)?,
                location: loc(t.location),
            });
        }
        Ok(out)
    }

    /// WITH.
    pub(crate) fn with(&mut self, with: Option<Box<n::WithClause>>) -> SqlResult<Option<With>> {
        let Some(with) = with else { return Ok(None) };
        let mut ctes = Vec::with_capacity(with.ctes.len());
        for node in with.ctes.into_iter().flatten() {
            let n::Node::CommonTableExpr(c) = node else { return Err(shape("WITH")) };
            let search = c.search_clause.map(|s| self.search(*s)).transpose()?;
            let cycle = c.cycle_clause.map(|s| self.cycle(*s)).transpose()?;
            ctes.push(Cte {
                name: text_of(c.ctename),
                columns: strings(c.aliascolnames)?,
                materialize: match c.ctematerialized {
                    n::CTEMaterialize::CTEMaterializeAlways => Materialize::Always,
                    n::CTEMaterialize::CTEMaterializeNever => Materialize::Never,
                    _ => Materialize::Default,
                },
                query: self.statement(c.ctequery.ok_or_else(|| shape("WITH"))?)?,
                search,
                cycle,
                location: loc(c.location),
            });
        }
        Ok(Some(With { recursive: with.recursive, ctes, location: loc(with.location) }))
    }

    fn search(&mut self, s: n::CTESearchClause) -> SqlResult<CteSearch> {
        Ok(CteSearch {
            columns: strings(s.search_col_list)?,
            breadth_first: s.search_breadth_first,
            sequence: text_of(s.search_seq_column),
            location: loc(s.location),
        })
    }

    fn cycle(&mut self, c: n::CTECycleClause) -> SqlResult<CteCycle> {
        Ok(CteCycle {
            columns: strings(c.cycle_col_list)?,
            mark: text_of(c.cycle_mark_column),
            mark_value: self.expr(c.cycle_mark_value)?,
            mark_default: self.expr(c.cycle_mark_default)?,
            path: text_of(c.cycle_path_column),
            location: loc(c.location),
        })
    }

    pub(crate) fn tables(&mut self, list: n::List) -> SqlResult<Vec<FromItem>> {
        list.into_iter().map(|node| self.table(node)).collect()
    }

    fn table(&mut self, node: Option<n::Node>) -> SqlResult<FromItem> {
        let node = node.ok_or_else(|| shape("FROM"))?;
        self.deeper(|c| c.table_node(node))
    }

    fn table_node(&mut self, node: n::Node) -> SqlResult<FromItem> {
        Ok(match node {
            n::Node::RangeVar(v) => FromItem::Table(range_var(*v)?),
            n::Node::RangeSubselect(s) => {
                let location = subquery_location(s.subquery.as_ref());
                FromItem::Subquery {
                    lateral: s.lateral,
                    query: Box::new(self.select_node(s.subquery)?),
                    alias: alias(s.alias)?,
                    location,
                }
            }
            n::Node::RangeFunction(f) => self.table_function(*f)?,
            n::Node::JoinExpr(j) => FromItem::Join(Box::new(self.join(*j)?)),
            n::Node::RangeTableSample(s) => {
                let Some(n::Node::RangeVar(table)) = s.relation else { return Err(shape("TABLESAMPLE")) };
                FromItem::Sample {
                    table: range_var(*table)?,
                    method: name(s.method)?,
                    args: self.exprs(s.args)?,
                    repeatable: self.opt_expr(s.repeatable)?,
                    location: loc(s.location),
                }
            }
            n::Node::RangeTableFunc(t) => FromItem::XmlTable(Box::new(self.xml_table(*t)?)),
            n::Node::JsonTable(t) => FromItem::JsonTable(Box::new(self.json_table(*t)?)),
            _ => return Err(shape("FROM")),
        })
    }

    fn table_function(&mut self, f: n::RangeFunction) -> SqlResult<FromItem> {
        let mut functions = Vec::with_capacity(f.functions.len());
        for node in f.functions.into_iter().flatten() {
            let n::Node::List(pair) = node else { return Err(shape("function in FROM")) };
            let mut pair = pair.into_iter();
            let call = self.expr(pair.next().flatten())?;
            let columns = match pair.next().flatten() {
                Some(n::Node::List(list)) => self.column_defs(list)?,
                None => Vec::new(),
                _ => return Err(shape("function in FROM")),
            };
            functions.push(FromFunction { call, columns });
        }
        Ok(FromItem::Function {
            lateral: f.lateral,
            ordinality: f.ordinality,
            rows_from: f.is_rowsfrom,
            functions,
            alias: alias(f.alias)?,
            columns: self.column_defs(f.coldeflist)?,
        })
    }

    fn join(&mut self, j: n::JoinExpr) -> SqlResult<Join> {
        Ok(Join {
            kind: match j.jointype {
                n::JoinType::JOIN_INNER => JoinKind::Inner,
                n::JoinType::JOIN_LEFT => JoinKind::Left,
                n::JoinType::JOIN_FULL => JoinKind::Full,
                n::JoinType::JOIN_RIGHT => JoinKind::Right,
                _ => return Err(shape("JOIN")),
            },
            natural: j.isNatural,
            left: self.table(j.larg)?,
            right: self.table(j.rarg)?,
            using: strings(j.usingClause)?,
            using_alias: alias(j.join_using_alias)?,
            on: self.opt_expr(j.quals)?,
            alias: alias(j.alias)?,
        })
    }

    /// What SELECT INTO and CREATE TABLE AS create.
    pub(crate) fn created(&mut self, i: n::IntoClause) -> SqlResult<Into> {
        Ok(Into {
            relation: boxed_range_var(i.rel)?,
            columns: strings(i.colNames)?,
            access_method: opt_text(i.accessMethod),
            options: self.def_elems(i.options)?,
            on_commit: on_commit(i.onCommit),
            tablespace: opt_text(i.tableSpaceName),
            skip_data: i.skipData,
        })
    }

    fn returning(&mut self, r: Option<Box<n::ReturningClause>>) -> SqlResult<Returning> {
        let Some(r) = r else { return Ok(Returning::default()) };
        let mut out = Returning::default();
        for option in r.options.into_iter().flatten() {
            let n::Node::ReturningOption(o) = option else { return Err(shape("RETURNING")) };
            let (slot, which) = if o.option == n::ReturningOptionKind::RETURNING_OPTION_OLD {
                (&mut out.old, "OLD")
            } else {
                (&mut out.new, "NEW")
            };
            if slot.is_some() {
                let at = usize::try_from(o.location).unwrap_or(0);
                return Err(base::sql_err!(SYNTAX_ERROR, "{which} cannot be specified multiple times")
                    .at(crate::position(self.text, at)));
            }
            *slot = opt_text(o.value);
        }
        out.targets = self.targets(r.exprs)?;
        Ok(out)
    }

    fn target_columns(&mut self, list: n::List) -> SqlResult<Vec<TargetColumn>> {
        let mut out = Vec::with_capacity(list.len());
        for node in list.into_iter().flatten() {
            let n::Node::ResTarget(t) = node else { return Err(shape("column list")) };
            out.push(TargetColumn {
                name: text_of(t.name),
                steps: self.steps(t.indirection)?,
                location: loc(t.location),
            });
        }
        Ok(out)
    }

    /// SET's list: consecutive targets of one multiple assignment are joined again.
    fn assignments(&mut self, list: n::List) -> SqlResult<Vec<Assignment>> {
        let mut out = Vec::with_capacity(list.len());
        for node in list.into_iter().flatten() {
            let n::Node::ResTarget(t) = node else { return Err(shape("SET")) };
            let n::ResTarget { name, indirection, val, location } = *t;
            let column = TargetColumn {
                name: text_of(name),
                steps: self.steps(indirection)?,
                location: loc(location),
            };
            match val {
                Some(n::Node::MultiAssignRef(m)) if m.colno > 1 => match out.last_mut() {
                    Some(Assignment::Multi(columns, _)) => columns.push(column),
                    _ => return Err(shape("SET")),
                },
                Some(n::Node::MultiAssignRef(m)) => {
                    out.push(Assignment::Multi(vec![column], self.expr(m.source)?));
                }
                value => out.push(Assignment::Single(column, self.expr(value)?)),
            }
        }
        Ok(out)
    }

    pub(crate) fn insert(&mut self, s: n::InsertStmt) -> SqlResult<Statement> {
        Ok(Statement::Insert(Box::new(Insert {
            with: self.with(s.withClause)?,
            relation: boxed_range_var(s.relation)?,
            columns: self.target_columns(s.cols)?,
            source: match s.selectStmt {
                None => None,
                node => Some(Box::new(self.select_node(node)?)),
            },
            overriding: overriding(s.r#override),
            on_conflict: s.onConflictClause.map(|c| self.on_conflict(*c)).transpose()?,
            returning: self.returning(s.returningClause)?,
        })))
    }

    fn on_conflict(&mut self, c: n::OnConflictClause) -> SqlResult<OnConflict> {
        let target = match c.infer {
            None => None,
            Some(i) => Some(match i.conname {
                Some(name) => ConflictTarget::Constraint { name: name.into(), location: loc(i.location) },
                None => ConflictTarget::Index {
                    elements: self.index_elements(i.indexElems)?,
                    filter: self.opt_expr(i.whereClause)?,
                    location: loc(i.location),
                },
            }),
        };
        let update = match c.action {
            n::OnConflictAction::ONCONFLICT_UPDATE => {
                Some((self.assignments(c.targetList)?, self.opt_expr(c.whereClause)?))
            }
            n::OnConflictAction::ONCONFLICT_NOTHING => None,
            _ => return Err(self.rejected_word(c.location, "select")),
        };
        Ok(OnConflict { target, update, location: loc(c.location) })
    }

    pub(crate) fn update(&mut self, s: n::UpdateStmt) -> SqlResult<Statement> {
        Ok(Statement::Update(Box::new(Update {
            with: self.with(s.withClause)?,
            relation: boxed_range_var(s.relation)?,
            assignments: self.assignments(s.targetList)?,
            from: self.tables(s.fromClause)?,
            filter: self.opt_expr(s.whereClause)?,
            returning: self.returning(s.returningClause)?,
        })))
    }

    pub(crate) fn delete(&mut self, s: n::DeleteStmt) -> SqlResult<Statement> {
        Ok(Statement::Delete(Box::new(Delete {
            with: self.with(s.withClause)?,
            relation: boxed_range_var(s.relation)?,
            using: self.tables(s.usingClause)?,
            filter: self.opt_expr(s.whereClause)?,
            returning: self.returning(s.returningClause)?,
        })))
    }

    pub(crate) fn merge(&mut self, s: n::MergeStmt) -> SqlResult<Statement> {
        let mut whens = Vec::with_capacity(s.mergeWhenClauses.len());
        for node in s.mergeWhenClauses.into_iter().flatten() {
            let n::Node::MergeWhenClause(w) = node else { return Err(shape("MERGE")) };
            whens.push(self.merge_when(*w)?);
        }
        Ok(Statement::Merge(Box::new(Merge {
            with: self.with(s.withClause)?,
            relation: boxed_range_var(s.relation)?,
            source: self.table(s.sourceRelation)?,
            on: self.expr(s.joinCondition)?,
            whens,
            returning: self.returning(s.returningClause)?,
        })))
    }

    fn merge_when(&mut self, w: n::MergeWhenClause) -> SqlResult<MergeWhen> {
        let action = match w.commandType {
            n::CmdType::CMD_NOTHING => MergeAction::Nothing,
            n::CmdType::CMD_DELETE => MergeAction::Delete,
            n::CmdType::CMD_UPDATE => MergeAction::Update(self.assignments(w.targetList)?),
            _ => MergeAction::Insert(
                self.target_columns(w.targetList)?,
                self.exprs(w.values)?,
                overriding(w.r#override),
            ),
        };
        Ok(MergeWhen {
            matched: match w.matchKind {
                n::MergeMatchKind::MERGE_WHEN_MATCHED => MergeMatch::Matched,
                n::MergeMatchKind::MERGE_WHEN_NOT_MATCHED_BY_SOURCE => MergeMatch::NotMatchedBySource,
                _ => MergeMatch::NotMatchedByTarget,
            },
            condition: self.opt_expr(w.condition)?,
            action,
        })
    }
}

/// Takes the INTO of the leftmost select, where the grammar leaves it.
fn leftmost_into(select: &mut Select) -> Option<Into> {
    match &mut select.body {
        SelectBody::Simple(s) => s.into.take(),
        SelectBody::SetOp { left, .. } => leftmost_into(left),
        SelectBody::Values(_) => None,
    }
}

fn locking(list: n::List) -> SqlResult<Vec<Locking>> {
    list.into_iter()
        .flatten()
        .map(|node| {
            let n::Node::LockingClause(l) = node else { return Err(shape("FOR UPDATE")) };
            Ok(Locking {
                strength: match l.strength {
                    n::LockClauseStrength::LCS_FORKEYSHARE => LockStrength::KeyShare,
                    n::LockClauseStrength::LCS_FORSHARE => LockStrength::Share,
                    n::LockClauseStrength::LCS_FORNOKEYUPDATE => LockStrength::NoKeyUpdate,
                    _ => LockStrength::Update,
                },
                tables: range_vars(l.lockedRels)?,
                wait: match l.waitPolicy {
                    n::LockWaitPolicy::LockWaitSkip => LockWait::Skip,
                    n::LockWaitPolicy::LockWaitError => LockWait::Error,
                    _ => LockWait::Block,
                },
            })
        })
        .collect()
}

/// Where a subquery in FROM begins, as far as its first expression tells.
fn subquery_location(node: Option<&n::Node>) -> crate::ast::Location {
    let Some(n::Node::SelectStmt(s)) = node else { return crate::ast::Location::NONE };
    match s.targetList.first() {
        Some(Some(n::Node::ResTarget(t))) => loc(t.location),
        _ => crate::ast::Location::NONE,
    }
}

fn overriding(kind: n::OverridingKind) -> Overriding {
    match kind {
        n::OverridingKind::OVERRIDING_USER_VALUE => Overriding::User,
        n::OverridingKind::OVERRIDING_SYSTEM_VALUE => Overriding::System,
        _ => Overriding::None,
    }
}

/// ON COMMIT.
pub(crate) fn on_commit(action: n::OnCommitAction) -> OnCommit {
    match action {
        n::OnCommitAction::ONCOMMIT_PRESERVE_ROWS => OnCommit::PreserveRows,
        n::OnCommitAction::ONCOMMIT_DELETE_ROWS => OnCommit::DeleteRows,
        n::OnCommitAction::ONCOMMIT_DROP => OnCommit::Drop,
        _ => OnCommit::None,
    }
}
