//! Expressions and type names.

use base::SqlResult;
use rupg_sql::nodes as n;

use super::{Converter, loc, name, opt_text, shape, strings, text_of};
use crate::ast::{
    BoolOp, BoolTest, CaseExpr, CaseWhen, CastExpr, CollateClause, ColumnRef, Expr, Frame, FrameBound,
    FrameExclusion, FrameUnits, FuncCall, Indirection, Literal, Location, OpExpr, OpKind, OpRight, SortBy,
    SortDirection, SortNulls, SqlValueKind, SubLink, SubLinkKind, TypeName, WindowDef,
};

impl Converter<'_> {
    /// An expression that must be there.
    pub(crate) fn expr(&mut self, node: Option<n::Node>) -> SqlResult<Expr> {
        let node = node.ok_or_else(|| shape("expression"))?;
        self.deeper(|c| c.expr_node(node))
    }

    /// An expression that may be absent.
    pub(crate) fn opt_expr(&mut self, node: Option<n::Node>) -> SqlResult<Option<Expr>> {
        node.map(|node| self.deeper(|c| c.expr_node(node))).transpose()
    }

    /// A list of expressions.
    pub(crate) fn exprs(&mut self, list: n::List) -> SqlResult<Vec<Expr>> {
        let mut out = Vec::with_capacity(list.len());
        for node in list {
            out.push(self.expr(node)?);
        }
        Ok(out)
    }

    fn expr_node(&mut self, node: n::Node) -> SqlResult<Expr> {
        Ok(match node {
            n::Node::ColumnRef(c) => {
                Expr::Column(ColumnRef { fields: self.steps(c.fields)?, location: loc(c.location) })
            }
            n::Node::ParamRef(p) => Expr::Param { number: p.number, location: loc(p.location) },
            n::Node::A_Const(c) => Expr::Const { location: loc(c.location), value: literal(*c)? },
            n::Node::Integer(i) => Expr::Const { value: Literal::Integer(i), location: Location::NONE },
            n::Node::String(s) => Expr::Const { value: Literal::String(s.into()), location: Location::NONE },
            n::Node::Float(s) => Expr::Const { value: Literal::Float(s.into()), location: Location::NONE },
            n::Node::A_Expr(e) => self.operator(*e)?,
            n::Node::BoolExpr(b) => Expr::Bool {
                op: match b.boolop {
                    n::BoolExprType::AND_EXPR => BoolOp::And,
                    n::BoolExprType::OR_EXPR => BoolOp::Or,
                    _ => BoolOp::Not,
                },
                args: self.exprs(b.args)?,
                location: loc(b.location),
            },
            n::Node::FuncCall(f) => Expr::Func(Box::new(self.func_call(*f)?)),
            n::Node::TypeCast(t) => {
                let arg = self.expr(t.arg)?;
                let type_name = self.boxed_type(t.typeName)?;
                Expr::Cast(Box::new(CastExpr { arg, type_name, location: loc(t.location) }))
            }
            n::Node::CollateClause(c) => Expr::Collate(Box::new(CollateClause {
                arg: self.opt_expr(c.arg)?,
                name: name(c.collname)?,
                location: loc(c.location),
            })),
            n::Node::SubLink(s) => self.sublink(*s)?,
            n::Node::A_ArrayExpr(a) => {
                Expr::Array { elements: self.exprs(a.elements)?, location: loc(a.location) }
            }
            n::Node::RowExpr(r) => Expr::Row {
                args: self.exprs(r.args)?,
                explicit: r.row_format == n::CoercionForm::COERCE_EXPLICIT_CALL,
                location: loc(r.location),
            },
            n::Node::CaseExpr(c) => Expr::Case(Box::new(self.case(*c)?)),
            n::Node::CoalesceExpr(c) => {
                Expr::Coalesce { args: self.exprs(c.args)?, location: loc(c.location) }
            }
            n::Node::MinMaxExpr(m) => Expr::MinMax {
                greatest: m.op == n::MinMaxOp::IS_GREATEST,
                args: self.exprs(m.args)?,
                location: loc(m.location),
            },
            n::Node::NullTest(t) => Expr::NullTest {
                arg: Box::new(self.expr(t.arg)?),
                not: t.nulltesttype == n::NullTestType::IS_NOT_NULL,
                location: loc(t.location),
            },
            n::Node::BooleanTest(t) => Expr::BooleanTest {
                arg: Box::new(self.expr(t.arg)?),
                test: bool_test(t.booltesttype),
                location: loc(t.location),
            },
            n::Node::SQLValueFunction(v) => {
                Expr::SqlValue { kind: sql_value(v.op), typmod: v.typmod, location: loc(v.location) }
            }
            node => self.rare_expr(node)?,
        })
    }

    fn rare_expr(&mut self, node: n::Node) -> SqlResult<Expr> {
        Ok(match node {
            n::Node::SetToDefault(d) => Expr::Default { location: loc(d.location) },
            n::Node::A_Indirection(i) => {
                Expr::Indirection { arg: Box::new(self.expr(i.arg)?), steps: self.steps(i.indirection)? }
            }
            n::Node::GroupingFunc(g) => {
                Expr::Grouping { args: self.exprs(g.args)?, location: loc(g.location) }
            }
            n::Node::NamedArgExpr(a) => Expr::NamedArg {
                name: text_of(a.name),
                arg: Box::new(self.expr(a.arg)?),
                location: loc(a.location),
            },
            n::Node::CurrentOfExpr(c) => Expr::CurrentOf { cursor: text_of(c.cursor_name) },
            n::Node::MergeSupportFunc(m) => Expr::MergeAction { location: loc(m.location) },
            n::Node::XmlExpr(x) => self.xml_expr(*x)?,
            n::Node::XmlSerialize(x) => self.xml_serialize(*x)?,
            node => match self.json_expr(node)? {
                Some(expr) => expr,
                None => return Err(shape("expression")),
            },
        })
    }

    fn operator(&mut self, e: n::A_Expr) -> SqlResult<Expr> {
        let kind = match e.kind {
            n::A_Expr_Kind::AEXPR_OP => OpKind::Op,
            n::A_Expr_Kind::AEXPR_OP_ANY => OpKind::OpAny,
            n::A_Expr_Kind::AEXPR_OP_ALL => OpKind::OpAll,
            n::A_Expr_Kind::AEXPR_DISTINCT => OpKind::Distinct,
            n::A_Expr_Kind::AEXPR_NOT_DISTINCT => OpKind::NotDistinct,
            n::A_Expr_Kind::AEXPR_NULLIF => OpKind::NullIf,
            n::A_Expr_Kind::AEXPR_IN => OpKind::In,
            n::A_Expr_Kind::AEXPR_LIKE => OpKind::Like,
            n::A_Expr_Kind::AEXPR_ILIKE => OpKind::Ilike,
            n::A_Expr_Kind::AEXPR_SIMILAR => OpKind::Similar,
            n::A_Expr_Kind::AEXPR_BETWEEN => OpKind::Between,
            n::A_Expr_Kind::AEXPR_NOT_BETWEEN => OpKind::NotBetween,
            n::A_Expr_Kind::AEXPR_BETWEEN_SYM => OpKind::BetweenSymmetric,
            n::A_Expr_Kind::AEXPR_NOT_BETWEEN_SYM => OpKind::NotBetweenSymmetric,
            _ => return Err(shape("operator")),
        };
        let name = name(e.name)?;
        let left = self.opt_expr(e.lexpr)?;
        let right = match e.rexpr {
            Some(n::Node::List(list)) => OpRight::List(self.exprs(list)?),
            node => OpRight::Expr(self.expr(node)?),
        };
        Ok(Expr::Op(Box::new(OpExpr { kind, name, left, right, location: loc(e.location) })))
    }

    /// The parts of a column reference, or of what follows a value.
    pub(crate) fn steps(&mut self, list: n::List) -> SqlResult<Vec<Indirection>> {
        let mut out = Vec::with_capacity(list.len());
        for node in list.into_iter().flatten() {
            out.push(match node {
                n::Node::String(s) => Indirection::Field(s.into()),
                n::Node::A_Star(_) => Indirection::Star,
                n::Node::A_Indices(i) if i.is_slice => {
                    Indirection::Slice(self.opt_expr(i.lidx)?, self.opt_expr(i.uidx)?)
                }
                n::Node::A_Indices(i) => Indirection::Index(self.expr(i.uidx)?),
                _ => return Err(shape("indirection")),
            });
        }
        Ok(out)
    }

    pub(crate) fn func_call(&mut self, f: n::FuncCall) -> SqlResult<FuncCall> {
        if f.ignore_nulls != n::NO_NULLTREATMENT {
            return Err(self.rejected_word(f.location, "nulls"));
        }
        Ok(FuncCall {
            name: name(f.funcname)?,
            args: self.exprs(f.args)?,
            order_by: self.sort_list(f.agg_order)?,
            filter: self.opt_expr(f.agg_filter)?,
            over: f.over.map(|w| self.window(*w)).transpose()?,
            within_group: f.agg_within_group,
            star: f.agg_star,
            distinct: f.agg_distinct,
            variadic: f.func_variadic,
            sql_syntax: f.funcformat == n::CoercionForm::COERCE_SQL_SYNTAX,
            location: loc(f.location),
        })
    }

    fn sublink(&mut self, s: n::SubLink) -> SqlResult<Expr> {
        let kind = match s.subLinkType {
            n::SubLinkType::EXISTS_SUBLINK => SubLinkKind::Exists,
            n::SubLinkType::ALL_SUBLINK => SubLinkKind::All,
            n::SubLinkType::ANY_SUBLINK => SubLinkKind::Any,
            n::SubLinkType::EXPR_SUBLINK => SubLinkKind::Expr,
            n::SubLinkType::ARRAY_SUBLINK => SubLinkKind::Array,
            _ => return Err(shape("subquery")),
        };
        Ok(Expr::SubLink(Box::new(SubLink {
            kind,
            test: self.opt_expr(s.testexpr)?,
            op: name(s.operName)?,
            query: self.select_node(s.subselect)?,
            location: loc(s.location),
        })))
    }

    fn case(&mut self, c: n::CaseExpr) -> SqlResult<CaseExpr> {
        let arg = self.opt_expr(c.arg)?;
        let mut whens = Vec::with_capacity(c.args.len());
        for node in c.args.into_iter().flatten() {
            let n::Node::CaseWhen(w) = node else { return Err(shape("CASE")) };
            whens.push(CaseWhen {
                when: self.expr(w.expr)?,
                then: self.expr(w.result)?,
                location: loc(w.location),
            });
        }
        Ok(CaseExpr { arg, whens, default: self.opt_expr(c.defresult)?, location: loc(c.location) })
    }

    /// ORDER BY.
    pub(crate) fn sort_list(&mut self, list: n::List) -> SqlResult<Vec<SortBy>> {
        let mut out = Vec::with_capacity(list.len());
        for node in list.into_iter().flatten() {
            let n::Node::SortBy(s) = node else { return Err(shape("ORDER BY")) };
            out.push(SortBy {
                expr: self.expr(s.node)?,
                direction: sort_direction(s.sortby_dir, s.useOp)?,
                nulls: sort_nulls(s.sortby_nulls),
                location: loc(s.location),
            });
        }
        Ok(out)
    }

    /// A window definition.
    pub(crate) fn window(&mut self, w: n::WindowDef) -> SqlResult<WindowDef> {
        let flags = w.frameOptions;
        let frame = if flags & n::FRAMEOPTION_NONDEFAULT != 0 {
            let start = self.opt_expr(w.startOffset)?;
            let end = self.opt_expr(w.endOffset)?;
            Some(frame(flags, start, end)?)
        } else {
            None
        };
        Ok(WindowDef {
            name: opt_text(w.name),
            base: opt_text(w.refname),
            partition_by: self.exprs(w.partitionClause)?,
            order_by: self.sort_list(w.orderClause)?,
            frame,
            location: loc(w.location),
        })
    }

    /// A type that must be there.
    pub(crate) fn boxed_type(&mut self, t: Option<Box<n::TypeName>>) -> SqlResult<TypeName> {
        self.type_name(*t.ok_or_else(|| shape("type name"))?)
    }

    /// A type.
    pub(crate) fn type_name(&mut self, t: n::TypeName) -> SqlResult<TypeName> {
        let bounds = t
            .arrayBounds
            .into_iter()
            .flatten()
            .map(|b| if let n::Node::Integer(i) = b { Ok(i) } else { Err(shape("array bounds")) })
            .collect::<SqlResult<_>>()?;
        Ok(TypeName {
            names: strings(t.names)?,
            setof: t.setof,
            percent_type: t.pct_type,
            modifiers: self.exprs(t.typmods)?,
            typmod: t.typemod,
            array_bounds: bounds,
            location: loc(t.location),
        })
    }
}

pub(super) fn literal(c: n::A_Const) -> SqlResult<Literal> {
    if c.isnull {
        return Ok(Literal::Null);
    }
    Ok(match c.val {
        Some(n::Node::Integer(i)) => Literal::Integer(i),
        Some(n::Node::Float(s)) => Literal::Float(s.into()),
        Some(n::Node::Boolean(b)) => Literal::Boolean(b),
        Some(n::Node::String(s)) => Literal::String(s.into()),
        Some(n::Node::BitString(s)) => Literal::BitString(s.into()),
        _ => return Err(shape("constant")),
    })
}

fn bool_test(t: n::BoolTestType) -> BoolTest {
    match t {
        n::BoolTestType::IS_TRUE => BoolTest::True,
        n::BoolTestType::IS_NOT_TRUE => BoolTest::NotTrue,
        n::BoolTestType::IS_FALSE => BoolTest::False,
        n::BoolTestType::IS_NOT_FALSE => BoolTest::NotFalse,
        n::BoolTestType::IS_UNKNOWN => BoolTest::Unknown,
        _ => BoolTest::NotUnknown,
    }
}

fn sql_value(op: n::SQLValueFunctionOp) -> SqlValueKind {
    use n::SQLValueFunctionOp as Op;
    match op {
        Op::SVFOP_CURRENT_DATE => SqlValueKind::CurrentDate,
        Op::SVFOP_CURRENT_TIME | Op::SVFOP_CURRENT_TIME_N => SqlValueKind::CurrentTime,
        Op::SVFOP_CURRENT_TIMESTAMP | Op::SVFOP_CURRENT_TIMESTAMP_N => SqlValueKind::CurrentTimestamp,
        Op::SVFOP_LOCALTIME | Op::SVFOP_LOCALTIME_N => SqlValueKind::LocalTime,
        Op::SVFOP_LOCALTIMESTAMP | Op::SVFOP_LOCALTIMESTAMP_N => SqlValueKind::LocalTimestamp,
        Op::SVFOP_CURRENT_ROLE => SqlValueKind::CurrentRole,
        Op::SVFOP_CURRENT_USER => SqlValueKind::CurrentUser,
        Op::SVFOP_USER => SqlValueKind::User,
        Op::SVFOP_SESSION_USER => SqlValueKind::SessionUser,
        Op::SVFOP_CURRENT_CATALOG => SqlValueKind::CurrentCatalog,
        _ => SqlValueKind::CurrentSchema,
    }
}

/// ASC, DESC, USING.
pub(crate) fn sort_direction(dir: n::SortByDir, using: n::List) -> SqlResult<SortDirection> {
    Ok(match dir {
        n::SortByDir::SORTBY_ASC => SortDirection::Ascending,
        n::SortByDir::SORTBY_DESC => SortDirection::Descending,
        n::SortByDir::SORTBY_USING => SortDirection::Using(name(using)?),
        _ => SortDirection::Default,
    })
}

/// NULLS FIRST, LAST.
pub(crate) fn sort_nulls(nulls: n::SortByNulls) -> SortNulls {
    match nulls {
        n::SortByNulls::SORTBY_NULLS_FIRST => SortNulls::First,
        n::SortByNulls::SORTBY_NULLS_LAST => SortNulls::Last,
        _ => SortNulls::Default,
    }
}

/// PostgreSQL's flag for `n FOLLOWING` at the end of a frame, which the library does not name.
const END_OFFSET_FOLLOWING: i32 = 0x4000;

fn frame(flags: i32, start: Option<Expr>, end: Option<Expr>) -> SqlResult<Frame> {
    let has = |flag| flags & flag != 0;
    let offset = |e: Option<Expr>| e.ok_or_else(|| shape("window frame"));
    let units = if has(n::FRAMEOPTION_ROWS) {
        FrameUnits::Rows
    } else if has(n::FRAMEOPTION_GROUPS) {
        FrameUnits::Groups
    } else {
        FrameUnits::Range
    };
    let start = if has(n::FRAMEOPTION_START_UNBOUNDED_PRECEDING) {
        FrameBound::UnboundedPreceding
    } else if has(n::FRAMEOPTION_START_UNBOUNDED_FOLLOWING) {
        FrameBound::UnboundedFollowing
    } else if has(n::FRAMEOPTION_START_OFFSET_PRECEDING) {
        FrameBound::Preceding(offset(start)?)
    } else if has(n::FRAMEOPTION_START_OFFSET_FOLLOWING) {
        FrameBound::Following(offset(start)?)
    } else {
        FrameBound::CurrentRow
    };
    let end = if has(n::FRAMEOPTION_END_UNBOUNDED_PRECEDING) {
        FrameBound::UnboundedPreceding
    } else if has(n::FRAMEOPTION_END_OFFSET_PRECEDING) {
        FrameBound::Preceding(offset(end)?)
    } else if has(END_OFFSET_FOLLOWING) {
        FrameBound::Following(offset(end)?)
    } else if has(n::FRAMEOPTION_END_CURRENT_ROW) {
        FrameBound::CurrentRow
    } else {
        FrameBound::UnboundedFollowing
    };
    let exclusion = if has(n::FRAMEOPTION_EXCLUDE_CURRENT_ROW) {
        FrameExclusion::CurrentRow
    } else if has(n::FRAMEOPTION_EXCLUDE_GROUP) {
        FrameExclusion::Group
    } else if has(n::FRAMEOPTION_EXCLUDE_TIES) {
        FrameExclusion::Ties
    } else {
        FrameExclusion::NoOthers
    };
    Ok(Frame { units, between: has(n::FRAMEOPTION_BETWEEN), start, end, exclusion })
}
