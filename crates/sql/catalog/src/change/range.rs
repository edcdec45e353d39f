//! Range types that users make, with what belongs to them: the multirange type, both array types, constructors and a cast.

use base::{Oid, SqlError, SqlResult};

use super::{Changer, Dependency, NewRoutine, ObjectAddress};
use crate::bootstrap::BOOTSTRAP_SUPERUSER;
use crate::row::{RowBuilder, RowExt};
use crate::system::{pg_cast, pg_opclass, pg_range, pg_type};
use crate::view::{INTERNAL_LANGUAGE, Parameter};

/// A range type to be made.
#[derive(Clone, Debug)]
pub struct NewRange {
    /// Name.
    pub name: String,
    /// Schema.
    pub schema: Oid,
    /// Owner.
    pub owner: Oid,
    /// Type of the bounds.
    pub subtype: Oid,
    /// Operator class that orders them.
    pub class: Oid,
    /// Collation, 0 for a type without.
    pub collation: Oid,
    /// Function that gives the distance of two bounds, 0 if none.
    pub difference: Oid,
    /// Name and schema of the multirange type.
    pub multirange: (String, Oid),
}

/// `range_in` and the like, `multirange_in` and the like.
const RANGE_IO: [u32; 4] = [3834, 3835, 3836, 3837];
const MULTIRANGE_IO: [u32; 4] = [4231, 4232, 4233, 4234];
/// `range_typanalyze`, `multirange_typanalyze`
const ANALYZE: [u32; 2] = [3916, 4242];

impl Changer<'_> {
    /// Makes a range type. Returns its OID.
    pub fn create_range(&mut self, new: &NewRange) -> SqlResult<Oid> {
        let [range, range_array] = [self.new_oid(), self.new_oid()];
        let [multirange, multirange_array] = [self.new_oid(), self.new_oid()];
        let names = (new.name.as_str(), new.schema, new.owner);
        let multi_names = (new.multirange.0.as_str(), new.multirange.1, new.owner);
        let wide = self.is_wide(new.subtype)?;
        for (oid, array, names, io, analyze, kind) in [
            (range, range_array, names, RANGE_IO, ANALYZE[0], b'r'),
            (multirange, multirange_array, multi_names, MULTIRANGE_IO, ANALYZE[1], b'm'),
        ] {
            let row = self
                .type_row(oid, names, io)
                .set(pg_type::TYPTYPE, kind)
                .set(pg_type::TYPCATEGORY, b'R')
                .set(pg_type::TYPALIGN, if wide { b'd' } else { b'i' })
                .set(pg_type::TYPANALYZE, Oid(analyze))
                .set(pg_type::TYPARRAY, array);
            self.insert(&pg_type::TABLE, &row.build())?;
            self.depend(ObjectAddress::ty(oid), ObjectAddress::schema(names.1), Dependency::Normal)?;
        }
        let row = RowBuilder::new(&pg_range::TABLE)
            .set(pg_range::RNGTYPID, range)
            .set(pg_range::RNGSUBTYPE, new.subtype)
            .set(pg_range::RNGMULTITYPID, multirange)
            .set(pg_range::RNGCOLLATION, new.collation)
            .set(pg_range::RNGSUBOPC, new.class)
            .set(pg_range::RNGSUBDIFF, new.difference);
        self.insert(&pg_range::TABLE, &row.build())?;
        self.create_array_type(range_array, range, names, Oid::INVALID)?;
        self.create_array_type(multirange_array, multirange, multi_names, Oid::INVALID)?;
        let me = ObjectAddress::ty(range);
        let class = ObjectAddress { class: pg_opclass::TABLE.oid, object: new.class, sub: 0 };
        let mut needs = vec![ObjectAddress::ty(new.subtype), class];
        if new.difference.is_valid() {
            needs.push(ObjectAddress::routine(new.difference));
        }
        self.depend_on_all(me, needs)?;
        self.depend_on_owner(me, new.owner)?;
        self.depend(ObjectAddress::ty(multirange), me, Dependency::Internal)?;
        self.next_command()?;
        self.create_constructors(new, range, (multirange, range_array))?;
        Ok(range)
    }

    /// Whether values of a type are aligned to 8 bytes.
    fn is_wide(&self, ty: Oid) -> SqlResult<bool> {
        let found = self.reader().find_one(&pg_type::TABLE, pg_type::PG_TYPE_OID_INDEX, &[ty.into()])?;
        let (_, row) =
            found.ok_or_else(|| SqlError::internal(format!("cache lookup failed for type {ty}")))?;
        Ok(row.char(pg_type::TYPALIGN) == b'd')
    }

    /// `r(subtype, subtype)`, `r(subtype, subtype, text)`, `m()`, `m(r)`, `m(VARIADIC r[])`, and the cast from `r` to `m`.
    fn create_constructors(
        &mut self,
        new: &NewRange,
        range: Oid,
        (multirange, range_array): (Oid, Oid),
    ) -> SqlResult<()> {
        let range_of = (new.name.as_str(), new.schema, range);
        let multirange_of = (new.multirange.0.as_str(), new.multirange.1, multirange);
        let (sub, text) = (new.subtype, types::oids::text);
        self.constructor(range_of, &[sub, sub], "range_constructor2")?;
        self.constructor(range_of, &[sub, sub, text], "range_constructor3")?;
        self.constructor(multirange_of, &[], "multirange_constructor0")?;
        let cast = self.constructor(multirange_of, &[range], "multirange_constructor1")?;
        self.constructor(multirange_of, &[range_array], "multirange_constructor2")?;
        let oid = self.new_oid();
        let row = RowBuilder::new(&pg_cast::TABLE)
            .set(pg_cast::OID, oid)
            .set(pg_cast::CASTSOURCE, range)
            .set(pg_cast::CASTTARGET, multirange)
            .set(pg_cast::CASTFUNC, cast)
            .set(pg_cast::CASTCONTEXT, b'e')
            .set(pg_cast::CASTMETHOD, b'f');
        self.insert(&pg_cast::TABLE, &row.build())?;
        let me = ObjectAddress { class: pg_cast::TABLE.oid, object: oid, sub: 0 };
        self.depend(me, ObjectAddress::ty(range), Dependency::Internal)?;
        self.next_command()
    }

    fn constructor(
        &mut self,
        (name, schema, result): (&str, Oid, Oid),
        inputs: &[Oid],
        source: &str,
    ) -> SqlResult<Oid> {
        let variadic = source == "multirange_constructor2";
        let element = self.reader().element_of(inputs.first().copied().filter(|_| variadic))?;
        let mode = if variadic { b'v' } else { b'i' };
        let parameter = |ty: &Oid| Parameter { name: String::new(), type_oid: *ty, mode };
        let new = NewRoutine {
            name: name.to_owned(),
            schema,
            // As in PostgreSQL they do not belong to the type's owner.
            owner: BOOTSTRAP_SUPERUSER,
            language: Oid(INTERNAL_LANGUAGE),
            kind: b'f',
            cost: 1.0,
            rows: 0.0,
            variadic: element,
            security_definer: false,
            leakproof: false,
            strict: !source.starts_with("range"),
            returns_set: false,
            volatility: b'i',
            parallel: b's',
            result,
            parameters: inputs.iter().map(parameter).collect(),
            defaults: Vec::new(),
            source: source.to_owned(),
            library: None,
            body: None,
            config: Vec::new(),
            needs: Vec::new(),
        };
        let oid = self.create_routine(&new, None)?;
        self.depend(ObjectAddress::routine(oid), ObjectAddress::ty(result), Dependency::Internal)?;
        Ok(oid)
    }
}

impl crate::Reader<'_> {
    /// Element type of an array type.
    fn element_of(&self, array: Option<Oid>) -> SqlResult<Oid> {
        let Some(array) = array else { return Ok(Oid::INVALID) };
        let found = self.find_one(&pg_type::TABLE, pg_type::PG_TYPE_OID_INDEX, &[array.into()])?;
        Ok(found.map_or(Oid::INVALID, |(_, row)| row.oid(pg_type::TYPELEM)))
    }
}
