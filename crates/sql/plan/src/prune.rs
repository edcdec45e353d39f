//! Partition pruning: with constants when the plan is made, with other values when it runs.

use std::sync::Arc;

use base::{Oid, SqlResult};
use catalog::RelationKind;
use catalog::families::OperatorFamilies;
use catalog::partition::{Partitioning, Strategy};
use catalog::view::Table;
use tuple::Datum;
use types::Selectivity;

use crate::expr::{CallForm, Expr, RelId, Test, Var};
use crate::partition::{Comparison, Condition, PartitionMap};
use crate::planner::Planner;
use crate::relset::RelSet;
use crate::scan::{comparable, strip};
use crate::walk::flatten_and;

/// A partitioned table of a tree.
#[derive(Clone, Debug)]
pub(crate) struct Branch {
    map: Arc<PartitionMap>,
    table: Arc<Table>,
    /// Its key over the relation that stands for the tree.
    keys: Vec<Expr>,
    /// Of each partition, what is read for it; none of one that no row can come from.
    parts: Vec<Option<Part>>,
}

/// What is read for a partition.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    /// A member of the tree, by position.
    Member(usize),
    Branch(Box<Branch>),
}

/// Partitions to be chosen when a plan runs.
#[derive(Debug)]
pub struct Pruning {
    /// The partitions.
    pub map: Arc<PartitionMap>,
    /// What rows must satisfy; none if nothing is known at this level.
    pub condition: Option<Condition<Expr>>,
    /// What stands for each partition.
    pub parts: Vec<Option<Chosen>>,
}

/// What a partition is read by.
#[derive(Debug)]
pub enum Chosen {
    /// A child of the plan, by position.
    Child(usize),
    /// Partitions of the partition.
    Nested(Box<Pruning>),
}

impl Pruning {
    /// Calls `f` on each value that decides.
    pub fn for_exprs<'p>(&'p self, f: &mut dyn FnMut(&'p Expr)) {
        self.condition.iter().for_each(|c| c.for_values(f));
        for part in self.parts.iter().flatten() {
            if let Chosen::Nested(nested) = part {
                nested.for_exprs(f);
            }
        }
    }
}

impl<V> Condition<V> {
    /// Calls `f` on each value.
    pub fn for_values<'p>(&'p self, f: &mut dyn FnMut(&'p V)) {
        match self {
            Condition::Compare(_, _, v) | Condition::Any(_, v) | Condition::NoneOf(_, v) => f(v),
            Condition::And(list) | Condition::Or(list) => list.iter().for_each(|c| c.for_values(f)),
            Condition::Null(_) | Condition::NotNull(_) | Condition::Never => {}
        }
    }

    /// The same with another form of values.
    pub fn try_map<U>(&self, f: &mut dyn FnMut(&V) -> SqlResult<U>) -> SqlResult<Condition<U>> {
        let list = |list: &[Condition<V>], f: &mut dyn FnMut(&V) -> SqlResult<U>| {
            list.iter().map(|c| c.try_map(f)).collect::<SqlResult<Vec<_>>>()
        };
        Ok(match self {
            Condition::Compare(column, comparison, v) => Condition::Compare(*column, *comparison, f(v)?),
            Condition::Any(column, v) => Condition::Any(*column, f(v)?),
            Condition::NoneOf(column, v) => Condition::NoneOf(*column, f(v)?),
            Condition::Null(column) => Condition::Null(*column),
            Condition::NotNull(column) => Condition::NotNull(*column),
            Condition::And(of) => Condition::And(list(of, f)?),
            Condition::Or(of) => Condition::Or(list(of, f)?),
            Condition::Never => Condition::Never,
        })
    }
}

/// A partition key and how conditions on it are recognised.
pub(crate) struct Key<'k> {
    /// The relation whose rows it is of.
    pub rel: RelId,
    /// Its columns over that relation.
    pub exprs: &'k [Expr],
    /// The partitioning that it belongs to.
    pub of: &'k Partitioning,
    /// What operators are to its classes.
    pub families: &'k OperatorFamilies,
}

impl Key<'_> {
    /// What a list of conditions says; none if nothing.
    pub(crate) fn all(&self, quals: &[Expr]) -> Option<Condition<Expr>> {
        let mut list: Vec<Condition<Expr>> = Vec::new();
        for qual in quals {
            if let Some(condition) = self.one(qual) {
                list.push(condition);
            }
        }
        match list.len() {
            0 => None,
            1 => list.pop(),
            _ => Some(Condition::And(list)),
        }
    }

    fn one(&self, qual: &Expr) -> Option<Condition<Expr>> {
        match qual {
            Expr::Const { value: Datum::Bool(false) | Datum::Null, .. } => return Some(Condition::Never),
            Expr::And(list) => return self.all(list),
            Expr::Or(arms) => {
                let arm = |arm: &Expr| {
                    let mut quals = Vec::new();
                    flatten_and(arm.clone(), &mut quals);
                    self.all(&quals)
                };
                return arms.iter().map(arm).collect::<Option<Vec<_>>>().map(Condition::Or);
            }
            _ => {}
        }
        (0..self.exprs.len()).find_map(|column| self.on_column(column, qual))
    }

    fn on_column(&self, column: usize, qual: &Expr) -> Option<Condition<Expr>> {
        let key = &self.exprs[column];
        let same = |e: &Expr| e == key || strip(e) == strip(key);
        let fixed = |e: &Expr| !RelSet::of(e).contains(self.rel) && !e.is_volatile();
        let compare = |comparison, value: &Expr| {
            let fits = comparable(strip(key).type_oid(), value.type_oid());
            (fits && fixed(value)).then(|| Condition::Compare(column, comparison, value.clone()))
        };
        let boolean = |value| Some(Condition::Compare(column, Comparison::Equal, Expr::boolean(value)));
        let or_null = |value| boolean(value).map(|equal| Condition::Or(vec![equal, Condition::Null(column)]));
        match qual {
            Expr::Call(call) => {
                let CallForm::Operator(operator) = &call.form else { return None };
                let [left, right] = call.args.as_slice() else { return None };
                if !self.is_alike(column, call.collation) {
                    return None;
                }
                if same(left) {
                    return compare(self.comparison(column, operator.oid)?, right);
                }
                match same(right) {
                    true => compare(self.comparison(column, operator.commutator)?, left),
                    false => None,
                }
            }
            Expr::ArrayOp(op) if same(&op.left) && fixed(&op.array) => {
                if !comparable(strip(key).type_oid(), op.element) || !self.is_alike(column, op.collation) {
                    return None;
                }
                match (op.any, self.comparison(column, op.operator.oid)?) {
                    (true, Comparison::Equal) => Some(Condition::Any(column, op.array.clone())),
                    (false, Comparison::NotEqual) => Some(Condition::NoneOf(column, op.array.clone())),
                    _ => None,
                }
            }
            Expr::Test(test, arg) if same(arg) => match test {
                Test::IsNull | Test::IsUnknown => Some(Condition::Null(column)),
                Test::IsNotNull | Test::IsNotUnknown => Some(Condition::NotNull(column)),
                Test::IsTrue => boolean(true),
                Test::IsFalse => boolean(false),
                Test::IsNotTrue => or_null(false),
                Test::IsNotFalse => or_null(true),
            },
            Expr::Not(arg) if same(arg) => boolean(false),
            e if same(e) && e.type_oid() == types::oids::bool => boolean(true),
            _ => None,
        }
    }

    /// Whether a comparison is in the order of a column of the key.
    pub(crate) fn is_alike(&self, column: usize, collation: Oid) -> bool {
        let own = self.of.collations.get(column).copied().unwrap_or_default();
        !own.is_valid() || own == collation
    }

    /// What an operator asks of a column of the key.
    pub(crate) fn comparison(&self, column: usize, operator: Oid) -> Option<Comparison> {
        let class = self.families.class(*self.of.opclasses.get(column)?)?;
        let known = |oid: Oid| self.families.membership(class.family, oid);
        if self.of.strategy == Strategy::Hash {
            let operator = types::registry::operator(operator)?;
            let equality = operator.selectivity == Selectivity::Equal && operator.can_hash;
            return equality.then_some(Comparison::Equal);
        }
        if let Some(entry) = known(operator) {
            // A function of a user compares values of its type alone.
            if !class.oid.is_pinned() && (entry.left != class.input || entry.right != class.input) {
                return None;
            }
            return Some(match entry.strategy {
                1 => Comparison::Less,
                2 => Comparison::LessEqual,
                3 => Comparison::Equal,
                4 => Comparison::GreaterEqual,
                _ => Comparison::Greater,
            });
        }
        let negator = types::registry::operator(operator)?.negator;
        known(negator).filter(|entry| entry.strategy == 3).map(|_| Comparison::NotEqual)
    }
}

/// Elements of an array, or the value itself.
pub fn values_of(value: &Datum, array: bool) -> Vec<Datum> {
    match value {
        Datum::Bytes(bytes) if array => types::array::Array::from_payload(bytes).into_elements(),
        Datum::Null if array => Vec::new(),
        value => vec![value.clone()],
    }
}

/// The values of an expression that are known while planning.
pub(crate) fn known_values(expr: &Expr, array: bool) -> Option<Vec<Datum>> {
    match expr {
        Expr::Const { value, .. } => Some(values_of(value, array)),
        _ => None,
    }
}

impl Planner<'_> {
    /// The partitions of a table, and of those, that conditions over `rel`, which stands for the tree, leave: in the order of their
    /// bounds. `numbers`: the table's number of each column of `rel`.
    pub(crate) fn branch_of(
        &mut self,
        rel: RelId,
        table: &Arc<Table>,
        numbers: &[i16],
        filters: &[Expr],
        found: &mut Vec<Arc<Table>>,
    ) -> SqlResult<Branch> {
        runtime::check_stack()?;
        let map = Arc::new(PartitionMap::of(table, self.context.catalog)?);
        let keys = self.partition_keys(rel, table, numbers)?;
        let set = match &table.partitioning {
            Some(of) if self.settings().enable_partition_pruning => {
                let condition = Key { rel, exprs: &keys, of, families: &self.families }.all(filters);
                condition.map(|c| map.matching(&c, &mut |e, array| Ok(known_values(e, array)))).transpose()?
            }
            _ => None,
        };
        let mut parts = Vec::with_capacity(map.partitions.len());
        let root = self.relations[rel].table.clone();
        for (i, &oid) in map.partitions.iter().enumerate() {
            runtime::check_interrupts().map_err(crate::interrupted)?;
            if set.as_ref().is_some_and(|set| !set.contains(i)) {
                parts.push(None);
                continue;
            }
            // A partition that was dropped meanwhile is gone when the parent's lock is held.
            let Some(part) = self.context.catalog.relation_by_oid(oid)? else {
                parts.push(None);
                continue;
            };
            let mode = self.mode_of(rel);
            self.lock(oid, mode);
            parts.push(Some(match part.kind {
                RelationKind::PartitionedTable => {
                    let numbers = match &root {
                        Some(root) => crate::inherit::column_map(root, &part)?,
                        None => Arc::from([]),
                    };
                    Part::Branch(Box::new(self.branch_of(rel, &part, &numbers, filters, found)?))
                }
                _ => {
                    found.push(part);
                    Part::Member(found.len() - 1)
                }
            }));
        }
        Ok(Branch { map, table: table.clone(), keys, parts })
    }

    /// The key of a partitioned table over the columns of `rel`, which has the same under `numbers`.
    pub(crate) fn partition_keys(
        &mut self,
        rel: RelId,
        table: &Table,
        numbers: &[i16],
    ) -> SqlResult<Vec<Expr>> {
        let Some(of) = &table.partitioning else { return Ok(Vec::new()) };
        let mut expressions = of.expressions.iter();
        let mut keys = Vec::with_capacity(of.keys.len());
        for &number in &of.keys {
            let mut key = match number {
                0 => self.stored(expressions.next().map_or("", |text| text), rel)?,
                n => self.column(table, rel, n).unwrap_or_else(|| Expr::boolean(false)),
            };
            key.replace(&mut |e| match e {
                Expr::Var(var) if var.rel == rel && var.column > 0 => {
                    let own = numbers.iter().position(|n| *n == var.column);
                    own.map(|i| Expr::Var(Var { column: i as i16 + 1, ..var.clone() }))
                }
                _ => None,
            });
            keys.push(key);
        }
        Ok(keys)
    }

    /// What is left to be chosen when the plan runs, if conditions have values that are not known yet.
    pub(crate) fn pruning(&self, rel: RelId, branch: &Branch, conditions: &[Expr]) -> Option<Pruning> {
        if !self.settings().enable_partition_pruning {
            return None;
        }
        let condition = branch.table.partitioning.as_ref().and_then(|of| {
            let condition = Key { rel, exprs: &branch.keys, of, families: &self.families }.all(conditions)?;
            let mut open = false;
            condition.for_values(&mut |e| open |= !matches!(e, Expr::Const { .. }));
            open.then_some(condition)
        });
        let mut nested = false;
        let part = |part: &Option<Part>| match part {
            None => None,
            Some(Part::Member(at)) => Some(Chosen::Child(*at)),
            Some(Part::Branch(branch)) => {
                let chosen = self.pruning(rel, branch, conditions);
                nested |= chosen.is_some();
                Some(Chosen::Nested(Box::new(chosen.unwrap_or_else(|| branch.unpruned()))))
            }
        };
        let parts: Vec<_> = branch.parts.iter().map(part).collect();
        (condition.is_some() || nested).then(|| Pruning { map: branch.map.clone(), condition, parts })
    }
}

impl Branch {
    /// The table.
    pub fn table(&self) -> &Arc<Table> {
        &self.table
    }

    /// Its partitions' bounds.
    pub fn map(&self) -> &PartitionMap {
        &self.map
    }

    /// Its key over the relation that stands for the tree.
    pub fn keys(&self) -> &[Expr] {
        &self.keys
    }

    /// Of each partition, what is read for it; none of one that no row can come from.
    pub fn parts(&self) -> &[Option<Part>] {
        &self.parts
    }

    /// The members below it, by position in the tree.
    pub fn members(&self, out: &mut Vec<usize>) {
        for part in self.parts.iter().flatten() {
            match part {
                Part::Member(at) => out.push(*at),
                Part::Branch(branch) => branch.members(out),
            }
        }
    }

    /// The same in a tree whose members those at `places` are.
    pub fn renumbered(&self, places: &[usize], translate: &dyn Fn(&Expr) -> Expr) -> Branch {
        let part = |part: &Part| match part {
            Part::Member(at) => Some(Part::Member(places.iter().position(|place| place == at)?)),
            Part::Branch(branch) => Some(Part::Branch(Box::new(branch.renumbered(places, translate)))),
        };
        Branch {
            map: self.map.clone(),
            table: self.table.clone(),
            keys: self.keys.iter().map(translate).collect(),
            parts: self.parts.iter().map(|p| p.as_ref().and_then(part)).collect(),
        }
    }

    /// All that is left is read.
    fn unpruned(&self) -> Pruning {
        let part = |part: &Part| match part {
            Part::Member(at) => Chosen::Child(*at),
            Part::Branch(branch) => Chosen::Nested(Box::new(branch.unpruned())),
        };
        let parts = self.parts.iter().map(|p| p.as_ref().map(part)).collect();
        Pruning { map: self.map.clone(), condition: None, parts }
    }
}
