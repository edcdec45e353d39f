//! Conditions over the columns of a batch.

use base::{Oid, SqlResult};
use eval::code::{Code, IntCmp};
use eval::cx::Cx;
use plan::{Test, UserTypes};
use tuple::{Batch, Column, Datum, Values};
use types::comparator::Order;
use types::compare::{compare_floats, double, orders_as_integer, trim_blanks};
use types::numeric::compare_payloads;
use types::oids;
use types::registry::Relation;

use super::vector::{IntCode, Ints, RowForm, fixed, known, prepare};

/// What a condition is for a row.
pub(crate) type Truth = u8;

const FALSE: Truth = 0;
const TRUE: Truth = 1;
const UNKNOWN: Truth = 2;

/// A condition.
pub(crate) enum Condition {
    Ints(IntCmp, Box<(IntCode, IntCode)>),
    Floats(Relation, Side, Side),
    /// What is stored as byte strings.
    Texts(Relation, Side, Side, Strings),
    /// LIKE, or NOT LIKE.
    Like {
        text: usize,
        pattern: Code,
        negated: bool,
    },
    IsNull(usize, bool),
    /// AND, or OR.
    Several(Box<[Condition]>, Truth),
    Not(Box<Condition>),
    /// By rows.
    Rows(RowForm),
}

/// How byte strings compare.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Strings {
    /// By their bytes.
    Bytes,
    /// The same without the blanks at their ends.
    Padded,
    /// They are numbers of type `numeric`.
    Numbers,
}

impl Strings {
    fn of((left, right): (Oid, Oid), order: Order) -> Option<Strings> {
        let text = |t: Oid| t == oids::text || t == oids::varchar;
        Some(match (left, right) {
            (oids::numeric, oids::numeric) => Strings::Numbers,
            _ if !matches!(order, Order::Plain(_)) => return None,
            (oids::bpchar, oids::bpchar) => Strings::Padded,
            _ if text(left) && text(right) => Strings::Bytes,
            _ => return None,
        })
    }
}

/// What is compared.
pub(crate) enum Side {
    Column(usize),
    Fixed(Code),
}

impl Side {
    fn of(code: &Code) -> Option<Side> {
        match code {
            Code::Outer(column) => Some(Side::Column(*column)),
            code => fixed(code).map(Side::Fixed),
        }
    }

    fn prepare(&self, cx: &mut Cx<'_>) -> SqlResult<()> {
        match self {
            Side::Column(_) => Ok(()),
            Side::Fixed(code) => prepare(code, cx),
        }
    }
}

/// A side for the rows of a batch.
enum Operand<'a> {
    Column(&'a Column),
    One(&'a Datum),
}

impl<'a> Operand<'a> {
    fn of(side: &'a Side, batch: &Batch<'a>, cx: &'a Cx<'_>) -> SqlResult<Operand<'a>> {
        Ok(match side {
            Side::Column(column) => Operand::Column(batch.column(*column)),
            Side::Fixed(code) => Operand::One(known(code, cx)?),
        })
    }

    #[inline]
    fn float(&self, row: usize) -> Option<f64> {
        match self {
            Operand::One(value) => (!value.is_null()).then(|| double(value)),
            Operand::Column(column) if column.is_null(row) => None,
            Operand::Column(column) => match &column.values {
                Values::Floats(list) => Some(list[row]),
                Values::Datums(list) => Some(double(&list[row])),
                _ => None,
            },
        }
    }

    #[inline]
    fn bytes(&self, row: usize, page: &'a [u8]) -> Option<&'a [u8]> {
        match self {
            Operand::One(value) => bytes_of(value),
            Operand::Column(column) if column.is_null(row) => None,
            Operand::Column(column) => match &column.values {
                Values::Views(list) => Some(list[row].of(page)),
                Values::Datums(list) => bytes_of(&list[row]),
                _ => None,
            },
        }
    }
}

fn bytes_of(value: &Datum) -> Option<&[u8]> {
    match value {
        Datum::Bytes(bytes) => Some(bytes),
        _ => None,
    }
}

impl Condition {
    /// Of a compiled condition that reads these columns of the batch.
    pub(crate) fn new(code: Code, reads: &[usize], types: &UserTypes) -> Condition {
        match Condition::kernel(&code, types) {
            Some(condition) => condition,
            None => match code {
                Code::And(list) => Condition::several(list, FALSE, reads, types),
                Code::Or(list) => Condition::several(list, TRUE, reads, types),
                Code::Not(arg) => Condition::Not(Box::new(Condition::new(*arg, reads, types))),
                code => Condition::Rows(RowForm::new(code, reads)),
            },
        }
    }

    fn several(list: Box<[Code]>, decisive: Truth, reads: &[usize], types: &UserTypes) -> Condition {
        let arms = list.into_iter().map(|code| Condition::new(code, reads, types));
        Condition::Several(arms.collect(), decisive)
    }

    /// What has a kernel.
    fn kernel(code: &Code, types: &UserTypes) -> Option<Condition> {
        Some(match code {
            Code::IntCmp(op, sides) => {
                Condition::Ints(*op, Box::new((IntCode::of(&sides.0)?, IntCode::of(&sides.1)?)))
            }
            Code::Compare(of) => {
                let (left, right) = &of.sides;
                if are_integers(of.types) {
                    let sides = (IntCode::of(left)?, IntCode::of(right)?);
                    return Some(Condition::Ints(int_relation(of.relation), Box::new(sides)));
                }
                let sides = (Side::of(left)?, Side::of(right)?);
                if is_float(of.types.0) && is_float(of.types.1) {
                    return Some(Condition::Floats(of.relation, sides.0, sides.1));
                }
                Condition::Texts(of.relation, sides.0, sides.1, Strings::of(of.types, of.order)?)
            }
            Code::Call(call) => {
                // textlike and like, textnlike and notlike.
                let negated = match call.oid.0 {
                    850 | 1569 => false,
                    851 | 1570 => true,
                    _ => return None,
                };
                let [Code::Outer(text), pattern] = &*call.args else { return None };
                types.rules(call.collation).ok().filter(|rules| rules.is_deterministic())?;
                Condition::Like { text: *text, pattern: fixed(pattern)?, negated }
            }
            Code::Test(test @ (Test::IsNull | Test::IsNotNull), arg) => match **arg {
                Code::Outer(column) => Condition::IsNull(column, *test == Test::IsNull),
                _ => return None,
            },
            _ => return None,
        })
    }

    /// Leaves those rows for which it is true.
    pub(crate) fn refine(
        &mut self,
        batch: &Batch<'_>,
        cx: &mut Cx<'_>,
        rows: &mut Vec<u16>,
    ) -> SqlResult<()> {
        let mut truths = Vec::new();
        self.truths(batch, rows, cx, &mut truths)?;
        keep(rows, &truths, |truth| truth == TRUE);
        Ok(())
    }

    /// What it is for each of `rows`.
    fn truths(
        &mut self,
        batch: &Batch<'_>,
        rows: &[u16],
        cx: &mut Cx<'_>,
        out: &mut Vec<Truth>,
    ) -> SqlResult<()> {
        runtime::check_stack()?;
        out.clear();
        if rows.is_empty() {
            return Ok(());
        }
        match self {
            Condition::Ints(op, sides) => {
                sides.0.prepare(cx)?;
                sides.1.prepare(cx)?;
                let (a, b) = (sides.0.eval(batch, rows, cx)?, sides.1.eval(batch, rows, cx)?);
                compare_ints(*op, &a, &b, rows, out);
            }
            Condition::Floats(relation, a, b) => {
                a.prepare(cx)?;
                b.prepare(cx)?;
                let (a, b) = (Operand::of(a, batch, cx)?, Operand::of(b, batch, cx)?);
                out.extend(rows.iter().map(|row| match (a.float(*row as usize), b.float(*row as usize)) {
                    (Some(a), Some(b)) => Truth::from(relation.holds(compare_floats(a, b))),
                    _ => UNKNOWN,
                }));
            }
            Condition::Texts(relation, a, b, strings) => {
                a.prepare(cx)?;
                b.prepare(cx)?;
                let (a, b) = (Operand::of(a, batch, cx)?, Operand::of(b, batch, cx)?);
                compare_texts(*relation, &a, &b, *strings, (rows, batch.page), out);
            }
            Condition::Like { text, pattern, negated } => {
                prepare(pattern, cx)?;
                let Some(pattern) = bytes_of(known(pattern, cx)?) else {
                    out.resize(rows.len(), UNKNOWN);
                    return Ok(());
                };
                let column = Operand::Column(batch.column(*text));
                for row in rows {
                    out.push(match column.bytes(*row as usize, batch.page) {
                        Some(text) => Truth::from(types::text::like(text, pattern)? != *negated),
                        None => UNKNOWN,
                    });
                }
            }
            Condition::IsNull(column, asked) => {
                let column = batch.column(*column);
                out.extend(rows.iter().map(|row| Truth::from(column.is_null(*row as usize) == *asked)));
            }
            Condition::Several(arms, decisive) => several(arms, *decisive, batch, rows, cx, out)?,
            Condition::Not(arg) => {
                arg.truths(batch, rows, cx, out)?;
                out.iter_mut().filter(|truth| **truth != UNKNOWN).for_each(|truth| *truth ^= 1);
            }
            Condition::Rows(form) => {
                for row in rows {
                    out.push(form.truth(batch, *row, cx)?.map_or(UNKNOWN, Truth::from));
                }
            }
        }
        Ok(())
    }
}

/// Keeps the rows whose truth is wanted.
fn keep(rows: &mut Vec<u16>, truths: &[Truth], wanted: impl Fn(Truth) -> bool) {
    let mut kept = 0;
    for (at, truth) in truths.iter().enumerate() {
        rows[kept] = rows[at];
        kept += usize::from(wanted(*truth));
    }
    rows.truncate(kept);
}

/// AND and OR. An arm that is unknown decides nothing, but neither does it keep the others from being evaluated.
fn several(
    arms: &mut [Condition],
    decisive: Truth,
    batch: &Batch<'_>,
    rows: &[u16],
    cx: &mut Cx<'_>,
    out: &mut Vec<Truth>,
) -> SqlResult<()> {
    out.resize(rows.len(), decisive ^ 1);
    // Rows that no arm has decided, and their places in the result.
    let mut open = rows.to_vec();
    let mut places: Vec<u16> = (0..rows.len() as u16).collect();
    let mut truths = Vec::new();
    for arm in arms {
        arm.truths(batch, &open, cx, &mut truths)?;
        for (place, truth) in places.iter().zip(&truths).filter(|(_, truth)| **truth != decisive ^ 1) {
            out[*place as usize] = *truth;
        }
        keep(&mut open, &truths, |truth| truth != decisive);
        keep(&mut places, &truths, |truth| truth != decisive);
    }
    Ok(())
}

fn is_float(type_oid: Oid) -> bool {
    [oids::float4, oids::float8].contains(&type_oid)
}

/// Whether values of two types compare as the integers that they are stored as.
pub(super) fn are_integers((left, right): (Oid, Oid)) -> bool {
    let number = |t: &Oid| [oids::int2, oids::int4, oids::int8].contains(t);
    left == right && orders_as_integer(left) || number(&left) && number(&right)
}

fn int_relation(relation: Relation) -> IntCmp {
    match relation {
        Relation::Less => IntCmp::Lt,
        Relation::LessEqual => IntCmp::Le,
        Relation::Equal => IntCmp::Eq,
        Relation::GreaterEqual => IntCmp::Ge,
        Relation::Greater => IntCmp::Gt,
        Relation::NotEqual => IntCmp::Ne,
    }
}

fn compare_ints(op: IntCmp, a: &Ints<'_>, b: &Ints<'_>, rows: &[u16], out: &mut Vec<Truth>) {
    if let (Some(values), Ints::One(Some(b))) = (a.all(), b) {
        return match op {
            IntCmp::Eq => test(values, rows, out, |a| a == *b),
            IntCmp::Ne => test(values, rows, out, |a| a != *b),
            IntCmp::Lt => test(values, rows, out, |a| a < *b),
            IntCmp::Le => test(values, rows, out, |a| a <= *b),
            IntCmp::Gt => test(values, rows, out, |a| a > *b),
            IntCmp::Ge => test(values, rows, out, |a| a >= *b),
        };
    }
    out.extend(rows.iter().map(|row| match (a.get(*row as usize), b.get(*row as usize)) {
        (Some(a), Some(b)) => Truth::from(op.holds(a, b)),
        _ => UNKNOWN,
    }));
}

#[inline]
fn test(values: &[i64], rows: &[u16], out: &mut Vec<Truth>, holds: impl Fn(i64) -> bool) {
    out.extend(rows.iter().map(|row| Truth::from(holds(values[*row as usize]))));
}

fn compare_texts(
    relation: Relation,
    a: &Operand<'_>,
    b: &Operand<'_>,
    strings: Strings,
    (rows, page): (&[u16], &[u8]),
    out: &mut Vec<Truth>,
) {
    let cut = |text| if strings == Strings::Padded { trim_blanks(text) } else { text };
    out.extend(rows.iter().map(|row| match (a.bytes(*row as usize, page), b.bytes(*row as usize, page)) {
        (Some(a), Some(b)) if strings == Strings::Numbers => {
            Truth::from(relation.holds(compare_payloads(a, b)))
        }
        (Some(a), Some(b)) => {
            let (a, b) = (cut(a), cut(b));
            Truth::from(match relation {
                Relation::Equal => a == b,
                Relation::NotEqual => a != b,
                _ => relation.holds(a.cmp(b)),
            })
        }
        _ => UNKNOWN,
    }));
}
