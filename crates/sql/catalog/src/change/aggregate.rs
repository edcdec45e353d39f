//! Aggregates that users make: what `pg_aggregate` says beside the row of `pg_proc`.

use base::{Oid, SqlResult};

use super::{Changer, NewRoutine, ObjectAddress};
use crate::database::Reader;
use crate::row::{Row, RowBuilder};
use crate::system::pg_aggregate;

/// The functions of an aggregate to be made.
#[derive(Clone, Debug, Default)]
pub struct NewSteps {
    /// Transition function.
    pub transition: Oid,
    /// Final function; 0 if none.
    pub finale: Oid,
    /// FINALFUNC_EXTRA
    pub final_extra: bool,
    /// FINALFUNC_MODIFY: `r`, `s` or `w`
    pub final_modify: u8,
    /// Type of the state.
    pub state: Oid,
    /// SSPACE
    pub space: i32,
    /// INITCOND
    pub initial: Option<String>,
}

/// An aggregate to be made (`pg_aggregate`).
#[derive(Clone, Debug, Default)]
pub struct NewAggregate {
    /// `n`, `o` or `h`
    pub kind: u8,
    /// Number of direct arguments.
    pub direct_args: i16,
    /// The steps over a group.
    pub steps: NewSteps,
    /// Those over a frame that moves; functions and type are 0 if there are none.
    pub moving: NewSteps,
    /// The function that takes a row back; 0 if none.
    pub inverse: Oid,
    /// Makes one state of two; 0 if none.
    pub combine: Oid,
    /// State to bytes; 0 if none.
    pub serialize: Oid,
    /// Bytes to state; 0 if none.
    pub deserialize: Oid,
    /// SORTOP; 0 if none.
    pub sort_operator: Oid,
}

impl NewAggregate {
    fn row(&self, oid: Oid) -> Row {
        use pg_aggregate as a;
        let row = RowBuilder::new(&a::TABLE)
            .set(a::AGGFNOID, oid)
            .set(a::AGGKIND, self.kind)
            .set(a::AGGNUMDIRECTARGS, self.direct_args)
            .set(a::AGGTRANSFN, self.steps.transition)
            .set(a::AGGFINALFN, self.steps.finale)
            .set(a::AGGCOMBINEFN, self.combine)
            .set(a::AGGSERIALFN, self.serialize)
            .set(a::AGGDESERIALFN, self.deserialize)
            .set(a::AGGMTRANSFN, self.moving.transition)
            .set(a::AGGMINVTRANSFN, self.inverse)
            .set(a::AGGMFINALFN, self.moving.finale)
            .set(a::AGGFINALEXTRA, self.steps.final_extra)
            .set(a::AGGMFINALEXTRA, self.moving.final_extra)
            .set(a::AGGFINALMODIFY, self.steps.final_modify)
            .set(a::AGGMFINALMODIFY, self.moving.final_modify)
            .set(a::AGGSORTOP, self.sort_operator)
            .set(a::AGGTRANSTYPE, self.steps.state)
            .set(a::AGGTRANSSPACE, self.steps.space)
            .set(a::AGGMTRANSTYPE, self.moving.state)
            .set(a::AGGMTRANSSPACE, self.moving.space)
            .set_some(a::AGGINITVAL, self.steps.initial.as_deref())
            .set_some(a::AGGMINITVAL, self.moving.initial.as_deref());
        row.build()
    }

    /// Functions and operators that it needs.
    fn needs(&self) -> Vec<ObjectAddress> {
        let functions = [
            self.steps.transition,
            self.steps.finale,
            self.combine,
            self.serialize,
            self.deserialize,
            self.moving.transition,
            self.inverse,
            self.moving.finale,
        ];
        let mut needs: Vec<ObjectAddress> =
            functions.into_iter().filter(|f| f.is_valid()).map(ObjectAddress::routine).collect();
        if self.sort_operator.is_valid() {
            needs.push(ObjectAddress::operator(self.sort_operator));
        }
        needs.sort_unstable_by_key(|n| (n.class, n.object));
        needs.dedup();
        needs
    }
}

impl Changer<'_> {
    /// Enters an aggregate, in place of `old` if there is one. Returns its OID.
    pub fn create_aggregate(
        &mut self,
        routine: &NewRoutine,
        new: &NewAggregate,
        old: Option<Oid>,
    ) -> SqlResult<Oid> {
        let oid = self.create_routine(routine, old)?;
        let row = new.row(oid);
        match old {
            None => self.insert(&pg_aggregate::TABLE, &row)?,
            Some(_) => {
                let index = pg_aggregate::PG_AGGREGATE_FNOID_INDEX;
                self.edit(&pg_aggregate::TABLE, index, &[oid.into()], |before| *before = row)?;
            }
        }
        self.depend_on_all(ObjectAddress::routine(oid), new.needs())?;
        self.next_command()?;
        Ok(oid)
    }
}

impl Reader<'_> {
    /// The row of an aggregate in `pg_aggregate`.
    pub fn aggregate_row(&self, oid: Oid) -> SqlResult<Option<Row>> {
        let index = pg_aggregate::PG_AGGREGATE_FNOID_INDEX;
        Ok(self.find_one(&pg_aggregate::TABLE, index, &[oid.into()])?.map(|(_, row)| row))
    }
}
