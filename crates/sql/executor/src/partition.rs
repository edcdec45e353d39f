//! Partitions while a statement runs: which are read ([`Pruner`]), and which a row goes into ([`Router`]).

use std::sync::Arc;

use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::view::Table;
use eval::code::{Code, Rows};
use eval::compile::{Compiler, Inputs};
use eval::cx::Cx;
use plan::partition::{Condition, PartitionMap};
use plan::prune::{Chosen, Pruning, values_of};
use plan::{Command, Expr, Route, Routing};
use tuple::Datum;

/// Chooses the children of a tree's scan.
pub struct Pruner {
    map: Arc<PartitionMap>,
    condition: Option<Condition<Code>>,
    parts: Vec<Option<Part>>,
}

enum Part {
    Child(usize),
    Nested(Box<Pruner>),
}

impl Pruner {
    /// Compiles what decides.
    pub fn new(compiler: &Compiler<'_>, pruning: &Pruning) -> SqlResult<Pruner> {
        let code = |e: &Expr| compiler.expr(e, Inputs::default());
        let condition = pruning.condition.as_ref().map(|c| c.try_map(&mut |e| code(e))).transpose()?;
        let part = |part: &Option<Chosen>| {
            Ok(match part {
                None => None,
                Some(Chosen::Child(at)) => Some(Part::Child(*at)),
                Some(Chosen::Nested(nested)) => Some(Part::Nested(Box::new(Pruner::new(compiler, nested)?))),
            })
        };
        let parts = pruning.parts.iter().map(part).collect::<SqlResult<_>>()?;
        Ok(Pruner { map: pruning.map.clone(), condition, parts })
    }

    /// Marks the children that may have rows.
    pub fn choose(&self, live: &mut [bool], cx: &mut Cx<'_>) -> SqlResult<()> {
        let set = match &self.condition {
            None => None,
            Some(condition) => {
                let mut value =
                    |code: &Code, array: bool| Ok(Some(values_of(&code.eval(Rows::one(&[]), cx)?, array)));
                Some(self.map.matching(condition, &mut value)?)
            }
        };
        for (i, part) in self.parts.iter().enumerate() {
            if set.as_ref().is_some_and(|set| !set.contains(i)) {
                continue;
            }
            match part {
                Some(Part::Child(at)) => live[*at] = true,
                Some(Part::Nested(nested)) => nested.choose(live, cx)?,
                None => {}
            }
        }
        Ok(())
    }
}

/// Finds the partition of a row.
pub struct Router {
    map: Arc<PartitionMap>,
    table: Arc<Table>,
    keys: Keys,
    parts: Vec<Option<Next>>,
}

enum Next {
    Target(usize),
    Table(Box<Router>),
    Foreign(Arc<Table>),
}

impl Router {
    /// Compiles the keys over rows of the statement's target.
    pub fn new(compiler: &Compiler<'_>, routing: &Routing, inputs: Inputs<'_>) -> SqlResult<Router> {
        let next = |route: &Option<Route>| {
            Ok(match route {
                None => None,
                Some(Route::Target(at)) => Some(Next::Target(*at)),
                Some(Route::Foreign(table)) => Some(Next::Foreign(table.clone())),
                Some(Route::Table(nested)) => {
                    Some(Next::Table(Box::new(Router::new(compiler, nested, inputs)?)))
                }
            })
        };
        Ok(Router {
            map: routing.map.clone(),
            table: routing.table.clone(),
            keys: Keys::new(compiler, (&routing.keys, &routing.hashes), inputs)?,
            parts: routing.parts.iter().map(next).collect::<SqlResult<_>>()?,
        })
    }

    /// The partition for a row; 23514 if there is none.
    pub fn route(&self, row: &[Datum], cx: &mut Cx<'_>) -> SqlResult<usize> {
        self.find(row, cx)?
    }

    /// As [`Router::route`]; within is what is wrong with a row that has no place.
    pub fn find(&self, row: &[Datum], cx: &mut Cx<'_>) -> SqlResult<Result<usize, SqlError>> {
        let values = self.keys.values(row, cx)?;
        let found = self.keys.route(&self.map, &values, row, cx)?.and_then(|at| self.parts.get(at)?.as_ref());
        match found {
            Some(Next::Target(at)) => Ok(Ok(*at)),
            Some(Next::Table(nested)) => nested.find(row, cx),
            Some(Next::Foreign(table)) => Err(plan::not_changeable(table, Command::Insert)),
            None => Ok(Err(self.nowhere(&values, cx)?)),
        }
    }

    fn nowhere(&self, values: &[Datum], cx: &Cx<'_>) -> SqlResult<SqlError> {
        let error =
            sql_err!(CHECK_VIOLATION, "no partition of relation \"{}\" found for row", self.table.name)
                .table(self.table.schema_name.as_str(), self.table.name.as_str());
        // What the user may not read is not told.
        if let (Some(readable), Some(key)) =
            (cx.env.session.shown_columns(&self.table, &[]), &self.table.partitioning)
            && !key.keys.iter().all(|number| *number > 0 && readable.contains(number))
        {
            return Ok(error);
        }
        let mut shown = Vec::with_capacity(values.len());
        for (value, key) in values.iter().zip(&self.map.keys) {
            let mut text = Vec::new();
            if value.is_null() {
                text.extend_from_slice(b"null");
            } else {
                types::output(
                    key.type_oid,
                    value,
                    &cx.call(&[], key.type_oid, Oid::INVALID, false),
                    &mut text,
                )?;
            }
            shown.push(String::from_utf8_lossy(&text).into_owned());
        }
        let names = cx.env.session.partition_key_columns(&self.table)?;
        Ok(error
            .detail(format!("Partition key of the failing row contains ({names}) = ({}).", shown.join(", "))))
    }
}

/// What computes a partition key.
struct Keys {
    values: Box<[Code]>,
    /// Where users' functions hash columns: the hash of each of those.
    hashes: Box<[Option<Code>]>,
}

impl Keys {
    fn new(
        compiler: &Compiler<'_>,
        (keys, hashes): (&[Expr], &[Option<Expr>]),
        inputs: Inputs<'_>,
    ) -> SqlResult<Keys> {
        let values = compiler.list(keys, inputs)?;
        let hash = |e: &Option<Expr>| e.as_ref().map(|e| compiler.expr(e, inputs)).transpose();
        let hashes = match hashes.iter().any(Option::is_some) {
            true => hashes.iter().map(hash).collect::<SqlResult<_>>()?,
            false => Box::default(),
        };
        Ok(Keys { values, hashes })
    }

    /// The values of a row's key.
    fn values(&self, row: &[Datum], cx: &mut Cx<'_>) -> SqlResult<Vec<Datum>> {
        self.values.iter().map(|code| code.eval(Rows::one(row), cx)).collect()
    }

    /// The partition of a row with these values. NULL is not hashed.
    fn route(
        &self,
        map: &PartitionMap,
        values: &[Datum],
        row: &[Datum],
        cx: &mut Cx<'_>,
    ) -> SqlResult<Option<usize>> {
        if self.hashes.is_empty() {
            return Ok(map.route(values));
        }
        let mut hashed = values.to_vec();
        for (value, hash) in hashed.iter_mut().zip(&self.hashes) {
            if let Some(hash) = hash.as_ref().filter(|_| !value.is_null()) {
                *value = hash.eval(Rows::one(row), cx)?;
            }
        }
        Ok(map.route(&hashed))
    }
}

/// Checks that rows may be in a partition.
pub struct PartitionChecker {
    map: Arc<PartitionMap>,
    keys: Keys,
    part: usize,
}

impl PartitionChecker {
    /// Compiles the parent's key over the partition's rows.
    pub fn new(
        compiler: &Compiler<'_>,
        check: &plan::PartitionCheck,
        inputs: Inputs<'_>,
    ) -> SqlResult<PartitionChecker> {
        let keys = Keys::new(compiler, (&check.keys, &check.hashes), inputs)?;
        Ok(PartitionChecker { map: check.map.clone(), keys, part: check.part })
    }

    /// Whether the parent would put the row there.
    pub fn holds(&self, row: &[Datum], cx: &mut Cx<'_>) -> SqlResult<bool> {
        let values = self.keys.values(row, cx)?;
        Ok(self.keys.route(&self.map, &values, row, cx)? == Some(self.part))
    }
}
