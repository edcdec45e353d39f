//! INTERSECT and EXCEPT: the right side is counted in a table, the left side looks there.

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
    let types: Vec<Oid> = left.output.iter().map(plan::Expr::type_oid).collect();
    let user = &builder.statement.types;
    let none = |t: &Oid| SqlError::not_supported(format!("a set operation over type {t}"));
    let hash = types.iter().map(|t| user.hash(*t).ok_or_else(|| none(t))).collect::<SqlResult<_>>()?;
    let equal = types.iter().map(|t| user.equal(*t).ok_or_else(|| none(t))).collect::<SqlResult<_>>()?;
    let (left, right) = (builder.build(left)?, builder.build(right)?);
    Ok(Box::new(SetOp { kind, left, right, hash, equal, counts: None }))
}

/// Rows of the right side: how often each occurs, and whether the left side gave it.
type Counts = FxHashMap<u64, Vec<(Vec<Datum>, u64, bool)>>;

struct SetOp {
    kind: SetOpKind,
    left: BoxNode,
    right: BoxNode,
    hash: Vec<fn(&Datum) -> u64>,
    equal: Vec<fn(&Datum, &Datum) -> bool>,
    counts: Option<Counts>,
}

impl SetOp {
    fn hash_of(&self, row: &[Datum]) -> u64 {
        row.iter().zip(&self.hash).fold(0u64, |h, (v, f)| {
            let part = if v.is_null() { 1 } else { f(v) };
            (h.rotate_left(5) ^ part).wrapping_mul(0x517c_c1b7_2722_0a95)
        })
    }

    fn same(equal: &[fn(&Datum, &Datum) -> bool], a: &[Datum], b: &[Datum]) -> bool {
        a.iter().zip(b).zip(equal).all(|((a, b), f)| match (a.is_null(), b.is_null()) {
            (true, true) => true,
            (false, false) => f(a, b),
            _ => false,
        })
    }

    fn entry<'a>(&'a mut self, row: &[Datum]) -> Option<&'a mut (Vec<Datum>, u64, bool)> {
        let hash = self.hash_of(row);
        let SetOp { counts, equal, .. } = self;
        let chain = counts.as_mut()?.entry(hash).or_default();
        let at = chain.iter().position(|(known, ..)| Self::same(equal, known, row)).unwrap_or_else(|| {
            chain.push((row.to_vec(), 0, false));
            chain.len() - 1
        });
        chain.get_mut(at)
    }
}

impl Node for SetOp {
    fn next(&mut self, cx: &mut Cx<'_>) -> SqlResult<bool> {
        if self.counts.is_none() {
            self.counts = Some(Counts::default());
            while self.right.next(cx)? {
                runtime::check_interrupts().map_err(crate::error::interrupted)?;
                let row = self.right.row().to_vec();
                if let Some((_, count, _)) = self.entry(&row) {
                    *count += 1;
                }
            }
        }
        while self.left.next(cx)? {
            runtime::check_interrupts().map_err(crate::error::interrupted)?;
            let row = self.left.row().to_vec();
            let kind = self.kind;
            let Some((_, count, given)) = self.entry(&row) else { return Ok(false) };
            let give = match kind {
                SetOpKind::Intersect => *count > 0 && !*given,
                SetOpKind::Except => *count == 0 && !*given,
                SetOpKind::IntersectAll => *count > 0,
                SetOpKind::ExceptAll => *count == 0,
            };
            if matches!(kind, SetOpKind::IntersectAll | SetOpKind::ExceptAll) {
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
        self.counts = None;
        self.left.rescan(cx, changed)?;
        self.right.rescan(cx, changed)
    }

    fn close(&mut self, cx: &mut Cx<'_>) {
        self.counts = None;
        self.left.close(cx);
        self.right.close(cx);
    }
}
