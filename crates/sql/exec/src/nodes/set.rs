//! INTERSECT and EXCEPT: the right side is counted in a table, the left side looks there. [`RowTable`] finds equal rows, here and in
//! recursive unions.

use base::{Oid, SqlError, SqlResult};
use plan::{ParamId, Plan, SetOpKind};
use rustc_hash::FxHashMap;
use tuple::Datum;

use super::{BoxNode, Builder, Node};
use crate::cx::Cx;

/// A set operation over two inputs with the same columns.
pub fn build<'p>(
    builder: &mut Builder<'p>,
    kind: SetOpKind,
    left: &'p Plan,
    right: &'p Plan,
) -> SqlResult<BoxNode> {
    let table = RowTable::new(builder, left)?;
    let (left, right) = (builder.build(left)?, builder.build(right)?);
    Ok(Box::new(SetOp { kind, left, right, table, counted: false }))
}

/// Rows by value, as their types compare them, each with what is known of it.
pub struct RowTable<T> {
    hash: Vec<fn(&Datum) -> u64>,
    equal: Vec<fn(&Datum, &Datum) -> bool>,
    chains: FxHashMap<u64, Vec<(Vec<Datum>, T)>>,
}

impl<T: Default> RowTable<T> {
    /// An empty table of rows like those of a plan.
    pub fn new(builder: &Builder<'_>, plan: &Plan) -> SqlResult<RowTable<T>> {
        let types: Vec<Oid> = plan.output.iter().map(plan::Expr::type_oid).collect();
        let user = &builder.statement.types;
        let none = |t: &Oid| SqlError::not_supported(format!("a set operation over type {t}"));
        let hash = types.iter().map(|t| user.hash(*t).ok_or_else(|| none(t))).collect::<SqlResult<_>>()?;
        let equal = types.iter().map(|t| user.equal(*t).ok_or_else(|| none(t))).collect::<SqlResult<_>>()?;
        Ok(RowTable { hash, equal, chains: FxHashMap::default() })
    }

    /// What is known of a row, and whether it is new.
    pub fn entry(&mut self, row: &[Datum]) -> (&mut T, bool) {
        let hash = row.iter().zip(&self.hash).fold(0u64, |h, (v, f)| {
            let part = if v.is_null() { 1 } else { f(v) };
            (h.rotate_left(5) ^ part).wrapping_mul(0x517c_c1b7_2722_0a95)
        });
        let chain = self.chains.entry(hash).or_default();
        let known = chain.iter().position(|(known, _)| same(&self.equal, known, row));
        let at = known.unwrap_or_else(|| {
            chain.push((row.to_vec(), T::default()));
            chain.len() - 1
        });
        (&mut chain[at].1, known.is_none())
    }

    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.chains = FxHashMap::default();
    }
}

fn same(equal: &[fn(&Datum, &Datum) -> bool], a: &[Datum], b: &[Datum]) -> bool {
    a.iter().zip(b).zip(equal).all(|((a, b), f)| match (a.is_null(), b.is_null()) {
        (true, true) => true,
        (false, false) => f(a, b),
        _ => false,
    })
}

struct SetOp {
    kind: SetOpKind,
    left: BoxNode,
    right: BoxNode,
    /// How often the right side has each row, and whether the left side gave it.
    table: RowTable<(u64, bool)>,
    /// The right side is in the table.
    counted: bool,
}

impl Node for SetOp {
    fn next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        if !self.counted {
            self.counted = true;
            while self.right.next(cx)? {
                runtime::check_interrupts().map_err(crate::error::interrupted)?;
                self.table.entry(self.right.row()).0.0 += 1;
            }
        }
        while self.left.next(cx)? {
            runtime::check_interrupts().map_err(crate::error::interrupted)?;
            let ((count, given), _) = self.table.entry(self.left.row());
            let give = match self.kind {
                SetOpKind::Intersect => *count > 0 && !*given,
                SetOpKind::Except => *count == 0 && !*given,
                SetOpKind::IntersectAll => *count > 0,
                SetOpKind::ExceptAll => *count == 0,
            };
            if matches!(self.kind, SetOpKind::IntersectAll | SetOpKind::ExceptAll) {
                *count = count.saturating_sub(1);
            }
            if give {
                *given = true;
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn row(&self) -> &[Datum] {
        self.left.row()
    }

    fn rescan(&mut self, cx: &mut Cx<'_>, changed: &[ParamId]) -> SqlResult<()> {
        self.counted = false;
        self.table.clear();
        self.left.rescan(cx, changed)?;
        self.right.rescan(cx, changed)
    }

    fn close(&mut self, cx: &mut Cx<'_>) {
        self.counted = false;
        self.table.clear();
        self.left.close(cx);
        self.right.close(cx);
    }
}
