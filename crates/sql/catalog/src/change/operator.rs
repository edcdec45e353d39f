//! Operators and casts that users make.

use base::{Oid, SqlResult};

use super::{Changer, Dependency, ObjectAddress};
use crate::database::Reader;
use crate::row::{Row, RowBuilder, RowExt};
use crate::system::{pg_cast, pg_operator};

/// An operator to be made (`pg_operator`).
#[derive(Clone, Debug)]
pub struct NewOperator {
    /// Name.
    pub name: String,
    /// Schema.
    pub schema: Oid,
    /// Owner.
    pub owner: Oid,
    /// Left operand; 0 for a prefix operator.
    pub left: Oid,
    /// Right operand.
    pub right: Oid,
    /// Result.
    pub result: Oid,
    /// Function.
    pub function: Oid,
    /// The operator with the operands swapped, if there is one already; `Some(0)`: it is its own.
    pub commutator: Option<Oid>,
    /// The operator that gives the opposite, if there is one already.
    pub negator: Option<Oid>,
    /// Estimators.
    pub restrict: Oid,
    /// Estimators of joins.
    pub join: Oid,
    /// HASHES.
    pub hashes: bool,
    /// MERGES.
    pub merges: bool,
}

/// What ALTER OPERATOR changes; none: stays as it is. 0 takes an estimator away.
#[derive(Clone, Copy, Debug, Default)]
pub struct OperatorChange {
    /// Estimator.
    pub restrict: Option<Oid>,
    /// Estimator of joins.
    pub join: Option<Oid>,
    /// The operator with the operands swapped.
    pub commutator: Option<Oid>,
    /// The operator that gives the opposite.
    pub negator: Option<Oid>,
    /// HASHES.
    pub hashes: Option<bool>,
    /// MERGES.
    pub merges: Option<bool>,
}

/// A cast to be made (`pg_cast`).
#[derive(Clone, Copy, Debug)]
pub struct NewCast {
    /// From.
    pub source: Oid,
    /// To.
    pub target: Oid,
    /// Function; 0 if none.
    pub function: Oid,
    /// `i`, `a` or `e`
    pub context: u8,
    /// `f`, `b` or `i`
    pub method: u8,
}

impl ObjectAddress {
    /// An operator.
    pub fn operator(oid: Oid) -> ObjectAddress {
        ObjectAddress { class: pg_operator::TABLE.oid, object: oid, sub: 0 }
    }

    /// A cast.
    pub fn cast(oid: Oid) -> ObjectAddress {
        ObjectAddress { class: pg_cast::TABLE.oid, object: oid, sub: 0 }
    }
}

impl Changer<'_> {
    /// Enters an operator; `shell`: the row that another one made by naming it becomes it. Returns its OID.
    pub fn create_operator(&mut self, new: &NewOperator, shell: Option<Oid>) -> SqlResult<Oid> {
        use pg_operator as o;
        let oid = shell.unwrap_or_else(|| self.new_oid());
        let commutator = match new.commutator {
            Some(Oid::INVALID) => oid,
            other => other.unwrap_or_default(),
        };
        let row = RowBuilder::new(&o::TABLE)
            .set(o::OID, oid)
            .set(o::OPRNAME, &*new.name)
            .set(o::OPRNAMESPACE, new.schema)
            .set(o::OPROWNER, new.owner)
            .set(o::OPRKIND, if new.left.is_valid() { b'b' } else { b'l' })
            .set(o::OPRCANMERGE, new.merges)
            .set(o::OPRCANHASH, new.hashes)
            .set(o::OPRLEFT, new.left)
            .set(o::OPRRIGHT, new.right)
            .set(o::OPRRESULT, new.result)
            .set(o::OPRCOM, commutator)
            .set(o::OPRNEGATE, new.negator.unwrap_or_default())
            .set(o::OPRCODE, new.function)
            .set(o::OPRREST, new.restrict)
            .set(o::OPRJOIN, new.join);
        let me = ObjectAddress::operator(oid);
        match shell {
            None => self.insert(&o::TABLE, &row.build())?,
            Some(_) => {
                let row = row.build();
                self.edit(&o::TABLE, o::PG_OPERATOR_OID_INDEX, &[oid.into()], |shell| *shell = row)?;
                self.forget_dependencies(me)?;
                self.forget_shared(me, None)?;
            }
        }
        self.depend(me, ObjectAddress::schema(new.schema), Dependency::Normal)?;
        self.depend_on_owner(me, new.owner)?;
        self.join_extension(me)?;
        let mut needs = vec![
            ObjectAddress::ty(new.left),
            ObjectAddress::ty(new.right),
            ObjectAddress::ty(new.result),
            ObjectAddress::routine(new.function),
        ];
        needs.dedup();
        self.depend_on_all(me, needs.into_iter().filter(|n| n.object.is_valid()))?;
        // Each names the other.
        for (column, other) in [(o::OPRCOM, commutator), (o::OPRNEGATE, new.negator.unwrap_or_default())] {
            if other.is_valid() && other != oid && !other.is_pinned() {
                self.edit(&o::TABLE, o::PG_OPERATOR_OID_INDEX, &[other.into()], |row| {
                    if !row.oid(column).is_valid() {
                        row[column] = oid.into();
                    }
                })?;
            }
        }
        self.next_command()?;
        Ok(oid)
    }

    /// Changes what ALTER OPERATOR may change. A new commutator or negator names the operator back.
    pub fn alter_operator(&mut self, oid: Oid, change: OperatorChange) -> SqlResult<()> {
        use pg_operator as o;
        self.edit(&o::TABLE, o::PG_OPERATOR_OID_INDEX, &[oid.into()], |row| {
            let oids = [
                (o::OPRREST, change.restrict),
                (o::OPRJOIN, change.join),
                (o::OPRCOM, change.commutator),
                (o::OPRNEGATE, change.negator),
            ];
            for (column, value) in oids {
                if let Some(value) = value {
                    row[column] = value.into();
                }
            }
            for (column, value) in [(o::OPRCANHASH, change.hashes), (o::OPRCANMERGE, change.merges)] {
                if let Some(value) = value {
                    row[column] = value.into();
                }
            }
        })?;
        self.next_command()?;
        for (column, other) in [(o::OPRCOM, change.commutator), (o::OPRNEGATE, change.negator)] {
            if let Some(other) = other.filter(|other| *other != oid) {
                self.edit(&o::TABLE, o::PG_OPERATOR_OID_INDEX, &[other.into()], |row| {
                    row[column] = oid.into()
                })?;
            }
        }
        self.next_command()
    }

    /// Enters a cast. Returns its OID.
    pub fn create_cast(&mut self, new: &NewCast) -> SqlResult<Oid> {
        use pg_cast as c;
        let oid = self.new_oid();
        let row = RowBuilder::new(&c::TABLE)
            .set(c::OID, oid)
            .set(c::CASTSOURCE, new.source)
            .set(c::CASTTARGET, new.target)
            .set(c::CASTFUNC, new.function)
            .set(c::CASTCONTEXT, new.context)
            .set(c::CASTMETHOD, new.method);
        self.insert(&c::TABLE, &row.build())?;
        let me = ObjectAddress::cast(oid);
        self.join_extension(me)?;
        self.depend(me, ObjectAddress::ty(new.source), Dependency::Normal)?;
        self.depend(me, ObjectAddress::ty(new.target), Dependency::Normal)?;
        if new.function.is_valid() {
            self.depend(me, ObjectAddress::routine(new.function), Dependency::Normal)?;
        }
        self.next_command()?;
        Ok(oid)
    }

    /// Removes an operator; others that name it name it no more.
    pub(super) fn drop_operator(&mut self, oid: Oid) -> SqlResult<()> {
        use pg_operator as o;
        let key = [oid.into()];
        let row = self.reader().find_one(&o::TABLE, o::PG_OPERATOR_OID_INDEX, &key)?;
        let others = row.map(|(_, row)| [row.oid(o::OPRCOM), row.oid(o::OPRNEGATE)]).unwrap_or_default();
        for other in others.into_iter().filter(|other| *other != oid && other.is_valid()) {
            self.edit(&o::TABLE, o::PG_OPERATOR_OID_INDEX, &[other.into()], |row| {
                for column in [o::OPRCOM, o::OPRNEGATE] {
                    if row.oid(column) == oid {
                        row[column] = Oid::INVALID.into();
                    }
                }
            })?;
        }
        self.drop_by_oid(o::TABLE.oid, oid)
    }
}

impl Reader<'_> {
    /// The operator in a schema with this name and these operands.
    pub fn operator_row(&self, schema: Oid, name: &str, left: Oid, right: Oid) -> SqlResult<Option<Row>> {
        let key = [name.into(), left.into(), right.into(), schema.into()];
        let index = pg_operator::PG_OPERATOR_OPRNAME_L_R_N_INDEX;
        let row = self.find_one(&pg_operator::TABLE, index, &key)?;
        Ok(row.map(|(_, row)| row))
    }

    /// The cast between two types.
    pub fn cast_row(&self, source: Oid, target: Oid) -> SqlResult<Option<Row>> {
        let key = [source.into(), target.into()];
        let row = self.find_one(&pg_cast::TABLE, pg_cast::PG_CAST_SOURCE_TARGET_INDEX, &key)?;
        Ok(row.map(|(_, row)| row))
    }

    /// `operator ===(integer,integer)`, `cast from a to b`.
    pub(super) fn describe_operator(&self, oid: Oid) -> SqlResult<String> {
        let row = self.find_one(&pg_operator::TABLE, pg_operator::PG_OPERATOR_OID_INDEX, &[oid.into()])?;
        let Some((_, row)) = row else { return Ok(format!("operator {oid}")) };
        let side = |t: Oid| if t.is_valid() { self.type_text(t) } else { Ok("NONE".to_owned()) };
        let schema = row.oid(pg_operator::OPRNAMESPACE);
        Ok(format!(
            "operator {}{}({},{})",
            self.prefix(schema)?,
            row.str(pg_operator::OPRNAME),
            side(row.oid(pg_operator::OPRLEFT))?,
            side(row.oid(pg_operator::OPRRIGHT))?
        ))
    }

    pub(super) fn describe_cast(&self, oid: Oid) -> SqlResult<String> {
        let row = self.find_one(&pg_cast::TABLE, pg_cast::PG_CAST_OID_INDEX, &[oid.into()])?;
        let Some((_, row)) = row else { return Ok(format!("cast {oid}")) };
        let (from, to) = (row.oid(pg_cast::CASTSOURCE), row.oid(pg_cast::CASTTARGET));
        Ok(format!("cast from {} to {}", self.type_text(from)?, self.type_text(to)?))
    }
}
