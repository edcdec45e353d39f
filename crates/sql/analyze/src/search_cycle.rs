//! SEARCH and CYCLE of WITH RECURSIVE.
//!
//! What: analysis checks the clauses and makes their columns visible to references. The query itself stays as written, so that views show it that way.
//! [`expanded`] then puts the clauses into the query: each arm of the UNION becomes a subquery of a SELECT that computes the columns.
//!
//! PostgreSQL counterpart: `analyzeCTE` of `parse_cte.c`, `rewriteSearchCycle.c`.

use base::{Oid, SqlError, SqlResult, sql_err};
use parse::ast;
use tuple::Datum;
use types::oids;

use crate::core::{Analyzer, Place};
use crate::expr::*;
use crate::query::*;
use crate::target::entry;
use crate::walk;

/// `=` of records with its function, `=` of arrays.
const RECORD_EQ: (Oid, Oid) = (Oid(2988), Oid(2981));
const ARRAY_EQ: Oid = Oid(1070);
/// `<` of records and of arrays.
const RECORD_LESS: Oid = Oid(2990);
const ARRAY_LESS: Oid = Oid(1072);
/// `array_cat`, `int8inc`.
const ARRAY_CAT: Oid = Oid(383);
const INCREMENT: Oid = Oid(1219);
/// The field of a breadth-first sequence that counts the steps.
const DEPTH: &str = "*DEPTH*";

impl Analyzer<'_> {
    /// SEARCH as written.
    pub(crate) fn search_clause(&self, s: &ast::CteSearch) -> SearchClause {
        SearchClause {
            columns: s.columns.clone(),
            breadth_first: s.breadth_first,
            sequence: s.sequence.clone(),
        }
    }

    /// CYCLE as written, with the values of its mark in their common type.
    pub(crate) fn cycle_clause(&mut self, c: &ast::CteCycle) -> SqlResult<CycleClause> {
        let value = self.in_place(Place::None, |a| a.expr(&c.mark_value))?;
        let default = self.in_place(Place::None, |a| a.expr(&c.mark_default))?;
        let mark_type = self.common_type(&[&value, &default], Some("CYCLE"))?;
        let value = self.coerce_to_common(value, mark_type, "CYCLE/SET/TO")?;
        let default = self.coerce_to_common(default, mark_type, "CYCLE/SET/DEFAULT")?;
        let typmod = self.common_typmod(&[&value, &default], mark_type);
        let ops = self.sort_operators(mark_type)?;
        let shown = self.type_text(mark_type);
        if !ops.equal.is_valid() {
            return Err(sql_err!(
                UNDEFINED_FUNCTION,
                "could not identify an equality operator for type {shown}"
            ));
        }
        let unequal = types::registry::operator(ops.equal).map_or(Oid::INVALID, |o| o.negator);
        let Some(operator) = types::registry::operator(unequal) else {
            return Err(sql_err!(
                UNDEFINED_FUNCTION,
                "could not identify an inequality operator for type {shown}"
            ));
        };
        Ok(CycleClause {
            columns: c.columns.clone(),
            mark: ColumnType {
                name: c.mark.clone(),
                type_oid: mark_type,
                typmod,
                collation: self.type_collation(mark_type)?,
            },
            value,
            default,
            equality: ops.equal,
            hashable: ops.hashable,
            inequality: (operator.oid, operator.function),
            path: c.path.clone(),
        })
    }

    /// Checks the clauses against the query that they stand on.
    pub(crate) fn check_search_cycle(
        &self,
        written: &ast::Cte,
        cte: &Cte,
        columns: &[ColumnType],
    ) -> SqlResult<()> {
        if written.search.is_none() && written.cycle.is_none() {
            return Ok(());
        }
        if !cte.recursive {
            return Err(self.at(sql_err!(SYNTAX_ERROR, "WITH query is not recursive"), written.location));
        }
        let names: Vec<&str> = columns.iter().map(|c| c.name.as_str()).collect();
        if let Some(s) = &written.search {
            let refuse = |e: SqlError| Err(self.at(e, s.location));
            self.check_listed("search", &s.columns, &names, s.location)?;
            if names.contains(&s.sequence.as_str()) {
                return refuse(already_used("search sequence column", &s.sequence));
            }
            if let Some(c) = &written.cycle {
                for (name, what) in [(&c.mark, "mark"), (&c.path, "path")] {
                    if *name == s.sequence {
                        return refuse(sql_err!(
                            SYNTAX_ERROR,
                            "search sequence column name and cycle {what} column name are the same"
                        ));
                    }
                }
            }
        }
        if let Some(c) = &written.cycle {
            let refuse = |e: SqlError| Err(self.at(e, c.location));
            self.check_listed("cycle", &c.columns, &names, c.location)?;
            for (name, what) in [(&c.mark, "mark"), (&c.path, "path")] {
                if names.contains(&name.as_str()) {
                    return refuse(already_used(&format!("cycle {what} column"), name));
                }
            }
            if c.mark == c.path {
                let message = "cycle mark column name and cycle path column name are the same";
                return refuse(sql_err!(SYNTAX_ERROR, "{message}"));
            }
        }
        expanded(cte).map(drop)
    }

    fn check_listed(&self, what: &str, list: &[String], names: &[&str], at: Location) -> SqlResult<()> {
        for (i, name) in list.iter().enumerate() {
            if !names.contains(&name.as_str()) {
                let error = sql_err!(SYNTAX_ERROR, "{what} column \"{name}\" not in WITH query column list");
                return Err(self.at(error, at));
            }
            if list[..i].contains(name) {
                let error = sql_err!(DUPLICATE_COLUMN, "{what} column \"{name}\" specified more than once");
                return Err(self.at(error, at));
            }
        }
        Ok(())
    }
}

fn already_used(what: &str, name: &str) -> SqlError {
    sql_err!(SYNTAX_ERROR, "{what} name \"{name}\" already used in WITH query column list")
}

/// The columns that the clauses add.
pub(crate) fn added_columns(search: Option<&SearchClause>, cycle: Option<&CycleClause>) -> Vec<ColumnType> {
    let plain = |name: &str, type_oid| ColumnType {
        name: name.to_owned(),
        type_oid,
        typmod: -1,
        collation: Oid::INVALID,
    };
    let mut out = Vec::new();
    if let Some(s) = search {
        out.push(plain(&s.sequence, if s.breadth_first { oids::record } else { oids::_record }));
    }
    if let Some(c) = cycle {
        out.push(c.mark.clone());
        out.push(plain(&c.path, oids::_record));
    }
    out
}

fn unsupported(message: String) -> SqlError {
    SqlError::new(base::SqlState::FEATURE_NOT_SUPPORTED, message)
}

/// A recursive query of WITH with its clauses put into the query.
pub fn expanded(cte: &Cte) -> SqlResult<Cte> {
    let mut out = Cte { search: None, cycle: None, ..cte.clone() };
    let clauses = Clauses { cte, search: cte.search.as_ref(), cycle: cte.cycle.as_ref() };
    let added = added_columns(clauses.search, clauses.cycle);
    let query = &mut out.query;
    let Some(SetOperation::Node(node)) = &mut query.set_operation else {
        return Err(SqlError::internal("recursive query without UNION"));
    };
    let side = |arm: &SetOperation, which: &str| match arm {
        SetOperation::Leaf(rte) => Ok(*rte),
        SetOperation::Node(_) => Err(unsupported(format!(
            "with a SEARCH or CYCLE clause, the {which} side of the UNION must be a SELECT"
        ))),
    };
    let (left, right) = (side(&node.left, "left")?, side(&node.right, "right")?);
    let casts = [std::mem::take(&mut node.left_casts), std::mem::take(&mut node.right_casts)];
    let count = node.columns.len();
    for (rte, casts, recursive) in [(left, &casts[0], false), (right, &casts[1], true)] {
        let Some(entry) = query.range_table.get_mut(rte) else {
            return Err(SqlError::internal("arm of a UNION is missing"));
        };
        clauses.wrap(entry, casts, (rte, count), recursive)?;
        entry.columns.extend(added.iter().map(|c| c.name.clone()));
    }
    for (i, column) in added.iter().enumerate() {
        let number = count + i + 1;
        if !node.all {
            node.group_by.push(clauses.group_key(column, number));
        }
        query.targets.push(entry(
            column_of(left, number, column),
            number as i16,
            Some(column.name.clone()),
            false,
        ));
    }
    node.columns.extend(added);
    Ok(out)
}

/// A column of an entry, by number from 1.
fn column_of(rte: usize, number: usize, column: &ColumnType) -> Expr {
    Expr::Var(Var {
        rte,
        attno: number as i16,
        type_oid: column.type_oid,
        typmod: column.typmod,
        collation: column.collation,
        levels_up: 0,
        version: RowVersion::Default,
        location: Location::NONE,
    })
}

fn call(function: Oid, result_type: Oid, args: Vec<Expr>) -> Expr {
    Expr::Func(Box::new(FuncExpr {
        function,
        result_type,
        returns_set: false,
        variadic: false,
        form: CoercionForm::Call,
        collation: Oid::INVALID,
        input_collation: Oid::INVALID,
        args,
        location: Location::NONE,
    }))
}

fn row(args: Vec<Expr>, names: Vec<String>) -> Expr {
    Expr::Row(Box::new(RowExpr {
        args,
        row_type: oids::record,
        names,
        form: CoercionForm::ImplicitCast,
        location: Location::NONE,
    }))
}

/// An array of one record.
fn array_of(record: Expr) -> Expr {
    Expr::Array(Box::new(ArrayExpr {
        array_type: oids::_record,
        element_type: oids::record,
        collation: Oid::INVALID,
        elements: vec![record],
        multidims: false,
        location: Location::NONE,
    }))
}

/// The clauses of one query.
struct Clauses<'c> {
    cte: &'c Cte,
    search: Option<&'c SearchClause>,
    cycle: Option<&'c CycleClause>,
}

impl Clauses<'_> {
    /// Makes an arm the subquery of a SELECT of its columns and of those that the clauses add.
    fn wrap(
        &self,
        arm: &mut RangeTableEntry,
        casts: &[Expr],
        (rte, count): (usize, usize),
        recursive: bool,
    ) -> SqlResult<()> {
        let RteKind::Subquery(sub) = &mut arm.kind else {
            return Err(SqlError::internal("arm of a UNION is no subquery"));
        };
        let mut inner = std::mem::take(&mut *sub.query);
        if recursive {
            self.carry(&mut inner, count)?;
        }
        let mut types: Vec<ColumnType> = inner
            .result_columns()
            .map(|t| ColumnType {
                name: t.name.clone().unwrap_or_default(),
                type_oid: crate::facts::expr_type(&t.expr, &|_| Oid::INVALID),
                typmod: crate::facts::expr_typmod(&t.expr),
                collation: crate::facts::expr_collation(&t.expr),
            })
            .collect();
        // What the row of a query of WITH is called is not what its arms call it.
        for (t, c) in types.iter_mut().zip(&self.cte.columns) {
            t.name.clone_from(&c.name);
        }
        let mut values: Vec<Expr> = types.iter().enumerate().map(|(i, t)| column_of(0, i + 1, t)).collect();
        let carried = values.split_off(count);
        for (value, cast) in values.iter_mut().zip(casts) {
            let mut cast = cast.clone();
            let _ = walk::visit_mut::<std::convert::Infallible>(&mut cast, 0, &mut |e, depth| {
                if let Expr::Var(v) = e
                    && v.levels_up == depth
                    && v.rte == rte
                {
                    v.rte = 0;
                }
                Ok(true)
            });
            *value = cast;
        }
        values.extend(if recursive { self.next(&values, carried) } else { self.first(&values) });
        walk::raise_query_levels(&mut inner, 1, 1);
        let name = if recursive { "*TROCRN*" } else { "*TLOCRN*" };
        let columns: Vec<String> = types.iter().map(|t| t.name.clone()).collect();
        let inner = Subquery { query: Box::new(inner), view: Oid::INVALID, security_barrier: false };
        let targets = values.into_iter().enumerate().map(|(i, value)| {
            let name = self.cte.columns.get(i).map(|c| c.name.clone());
            entry(value, i as i16 + 1, name, false)
        });
        *sub.query = Query {
            targets: targets.collect(),
            range_table: vec![RangeTableEntry {
                kind: RteKind::Subquery(inner),
                alias: Some(RteAlias { name: name.into(), columns: columns.clone() }),
                name: name.into(),
                columns,
                lateral: false,
                in_from: true,
                access: None,
            }],
            join_tree: FromExpr { items: vec![FromNode::Entry(0)], filter: None },
            ..Query::default()
        };
        Ok(())
    }

    /// Lets the recursive term hand on the added columns of the row that it goes on from, unless that closes a cycle.
    fn carry(&self, query: &mut Query, count: usize) -> SqlResult<()> {
        let own = |r: &RangeTableEntry| matches!(&r.kind, RteKind::Cte(c) if c.self_reference && c.name == self.cte.name && c.levels_up == 2);
        let Some(rte) = query.range_table.iter().position(own) else {
            return Err(unsupported(format!(
                "with a SEARCH or CYCLE clause, the recursive reference to WITH query \"{}\" must be at the top level of its right-hand SELECT",
                self.cte.name
            )));
        };
        for (i, column) in added_columns(self.search, self.cycle).iter().enumerate() {
            let var = column_of(rte, count + i + 1, column);
            if let Some(c) = self.cycle
                && column.name == c.mark.name
            {
                let unequal = Expr::Op(Box::new(OpExpr {
                    op: c.inequality.0,
                    function: c.inequality.1,
                    result_type: oids::bool,
                    returns_set: false,
                    collation: Oid::INVALID,
                    input_collation: c.mark.collation,
                    args: vec![var.clone(), c.value.clone()],
                    location: Location::NONE,
                }));
                query.join_tree.filter = Some(match query.join_tree.filter.take() {
                    None => unequal,
                    Some(filter) => Expr::Bool(Box::new(BoolExpr {
                        op: BoolOp::And,
                        args: vec![filter, unequal],
                        location: Location::NONE,
                    })),
                });
            }
            let number = query.targets.len() as i16 + 1;
            query.targets.push(entry(var, number, Some(column.name.clone()), false));
        }
        Ok(())
    }

    /// The row of the columns that a clause lists, behind what stands before them.
    fn listed(&self, columns: &[String], values: &[Expr], before: Option<Expr>) -> Expr {
        let mut names: Vec<String> = before.iter().map(|_| DEPTH.to_owned()).collect();
        let mut fields: Vec<Expr> = before.into_iter().collect();
        for name in columns {
            if let Some(i) = self.cte.columns.iter().position(|c| c.name == *name) {
                fields.push(values[i].clone());
                names.push(name.clone());
            }
        }
        row(fields, names)
    }

    /// What the added columns are in the rows of the non-recursive term.
    fn first(&self, values: &[Expr]) -> Vec<Expr> {
        let mut out = Vec::new();
        if let Some(s) = self.search {
            let zero = Expr::Const(Const {
                type_oid: oids::int8,
                typmod: -1,
                collation: Oid::INVALID,
                value: Datum::Int8(0),
                location: Location::NONE,
            });
            out.push(match s.breadth_first {
                true => self.listed(&s.columns, values, Some(zero)),
                false => array_of(self.listed(&s.columns, values, None)),
            });
        }
        if let Some(c) = self.cycle {
            out.push(c.default.clone());
            out.push(array_of(self.listed(&c.columns, values, None)));
        }
        out
    }

    /// What they are in the rows of the recursive term; `carried`: what they were in the row before.
    fn next(&self, values: &[Expr], carried: Vec<Expr>) -> Vec<Expr> {
        let mut carried = carried.into_iter();
        let mut before = || carried.next().unwrap_or_else(|| row(Vec::new(), Vec::new()));
        let longer = |path: Expr, record: Expr| call(ARRAY_CAT, oids::_record, vec![path, array_of(record)]);
        let mut out = Vec::new();
        if let Some(s) = self.search {
            let sequence = before();
            out.push(match s.breadth_first {
                false => longer(sequence, self.listed(&s.columns, values, None)),
                true => {
                    let depth = Expr::Field(Box::new(FieldExpr {
                        arg: sequence,
                        attno: 1,
                        result_type: oids::int8,
                        typmod: -1,
                        collation: Oid::INVALID,
                    }));
                    self.listed(&s.columns, values, Some(call(INCREMENT, oids::int8, vec![depth])))
                }
            });
        }
        if let Some(c) = self.cycle {
            let (_, path) = (before(), before());
            let record = self.listed(&c.columns, values, None);
            let seen = Expr::ScalarArray(Box::new(ScalarArrayExpr {
                op: RECORD_EQ.0,
                function: RECORD_EQ.1,
                any: true,
                input_collation: Oid::INVALID,
                scalar: record.clone(),
                array: path.clone(),
                location: Location::NONE,
            }));
            out.push(Expr::Case(Box::new(CaseExpr {
                result_type: c.mark.type_oid,
                collation: c.mark.collation,
                arg: None,
                whens: vec![(seen, c.value.clone())],
                default: c.default.clone(),
                location: Location::NONE,
            })));
            out.push(longer(path, record));
        }
        out
    }

    /// How UNION tells values of an added column apart.
    fn group_key(&self, column: &ColumnType, number: usize) -> SortGroupClause {
        let (equality, ordering, hashable) = match (column.type_oid, self.cycle) {
            (oids::record, _) => (RECORD_EQ.0, RECORD_LESS, true),
            (_, Some(c)) if c.mark.name == column.name => (c.equality, Oid::INVALID, c.hashable),
            _ => (ARRAY_EQ, ARRAY_LESS, true),
        };
        SortGroupClause {
            sort_ref: number as u32,
            equality,
            ordering,
            descending: false,
            nulls_first: false,
            hashable,
        }
    }
}
