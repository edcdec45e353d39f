//! Access methods that users make (`pg_am`), and what any access method is.

use base::{Oid, SqlError, SqlResult};
use index::Facts;

use super::{Changer, Dependency, ObjectAddress};
use crate::database::Reader;
use crate::row::{Row, RowBuilder, RowExt};
use crate::system::{pg_am as a, pg_class, pg_depend, pg_proc};

impl ObjectAddress {
    /// An access method.
    pub fn access_method(oid: Oid) -> ObjectAddress {
        ObjectAddress { class: a::TABLE.oid, object: oid, sub: 0 }
    }
}

impl Changer<'_> {
    /// Enters an access method; `kind`: `i` of indexes, `t` of tables.
    pub fn create_access_method(&mut self, name: &str, handler: Oid, kind: u8) -> SqlResult<()> {
        let oid = self.new_oid();
        let row = RowBuilder::new(&a::TABLE)
            .set(a::OID, oid)
            .set(a::AMNAME, name)
            .set(a::AMHANDLER, handler)
            .set(a::AMTYPE, kind);
        self.insert(&a::TABLE, &row.build())?;
        let me = ObjectAddress::access_method(oid);
        self.depend(me, ObjectAddress::routine(handler), Dependency::Normal)?;
        self.join_extension(me)?;
        self.next_command()
    }
}

impl Changer<'_> {
    /// Gives a table another access method; 0 of a partitioned one: its partitions get the one of all tables.
    pub fn set_access_method(&mut self, table: Oid, method: Oid) -> SqlResult<()> {
        self.edit_relation(table, |row| row[pg_class::RELAM] = method.into())?;
        let me = ObjectAddress::relation(table);
        let key = [me.class.into(), table.into()];
        self.delete_where(&pg_depend::TABLE, pg_depend::PG_DEPEND_DEPENDER_INDEX, &key, |row| {
            row.oid(pg_depend::REFCLASSID) == a::TABLE.oid
        })?;
        if method.is_valid() {
            self.depend(me, ObjectAddress::access_method(method), Dependency::Normal)?;
        }
        self.next_command()
    }
}

impl Reader<'_> {
    /// The access method of a relation; 0 if it has none.
    pub fn access_method_of(&self, relation: Oid) -> SqlResult<Oid> {
        let row = self.find_one(&pg_class::TABLE, pg_class::PG_CLASS_OID_INDEX, &[relation.into()])?;
        Ok(row.map_or(Oid::INVALID, |(_, row)| row.oid(pg_class::RELAM)))
    }

    fn access_method(&self, oid: Oid) -> SqlResult<Row> {
        let row = self.find_one(&a::TABLE, a::PG_AM_OID_INDEX, &[oid.into()])?;
        row.map(|(_, row)| row)
            .ok_or_else(|| SqlError::internal(format!("cache lookup failed for access method {oid}")))
    }

    /// The name of an access method.
    pub fn access_method_name(&self, oid: Oid) -> SqlResult<String> {
        match engine::indexes::method(oid) {
            Some(facts) => Ok(facts.name.to_owned()),
            None => Ok(self.access_method(oid)?.str(a::AMNAME).to_owned()),
        }
    }

    /// What an access method of indexes can do: one of a user is what its handler is.
    pub fn index_method(&self, oid: Oid) -> SqlResult<&'static Facts> {
        if let Some(facts) = engine::indexes::method(oid) {
            return Ok(facts);
        }
        let handler = self.access_method(oid)?.oid(a::AMHANDLER);
        self.index_handler(handler)?
            .ok_or_else(|| SqlError::internal(format!("access method {oid} has a handler that is not known")))
    }

    /// What a handler of indexes stands for, if it is one that there is.
    pub fn index_handler(&self, handler: Oid) -> SqlResult<Option<&'static Facts>> {
        let rows = self.scan(&a::TABLE)?;
        let built_in = rows.iter().map(|(_, row)| row).find(|row| {
            row.oid(a::OID).is_pinned() && row.char(a::AMTYPE) == b'i' && row.oid(a::AMHANDLER) == handler
        });
        if let Some(row) = built_in {
            return Ok(engine::indexes::method(row.oid(a::OID)));
        }
        let key = [handler.into()];
        let function = self.find_one(&pg_proc::TABLE, pg_proc::PG_PROC_OID_INDEX, &key)?;
        let symbol = function
            .as_ref()
            .and_then(|(_, row)| Some((row.opt_str(pg_proc::PROBIN)?, row.str(pg_proc::PROSRC))));
        let name = symbol.and_then(|(library, symbol)| types::registry::libraries::method(library, symbol));
        Ok(name.and_then(engine::indexes::brought))
    }
}
