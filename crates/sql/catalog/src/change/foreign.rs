//! Foreign data: wrappers, servers, user mappings, and what foreign tables and their columns have beside others.
//!
//! # PostgreSQL counterpart
//! `commands/foreigncmds.c`, `foreign/foreign.c`.

use base::{Oid, SqlError, SqlResult};
use tuple::Datum;

use super::{Changer, Dependency, ObjectAddress};
use crate::authority::AclKind;
use crate::database::Reader;
use crate::row::{Row, RowBuilder, RowExt};
use crate::system::{
    pg_attribute, pg_depend, pg_foreign_data_wrapper as w, pg_foreign_server as s, pg_foreign_table as t,
    pg_proc, pg_user_mapping as m,
};
use crate::{text_array, texts_of};

/// Options of something foreign, by name, in the order in which they were given.
pub type ForeignOptions = Vec<(String, String)>;

/// A wrapper to be made.
#[derive(Debug)]
pub struct NewWrapper<'a> {
    /// Name.
    pub name: &'a str,
    /// Owner.
    pub owner: Oid,
    /// HANDLER; 0: none.
    pub handler: Oid,
    /// VALIDATOR; 0: none.
    pub validator: Oid,
    /// OPTIONS
    pub options: &'a ForeignOptions,
}

/// A server to be made.
#[derive(Debug)]
pub struct NewServer<'a> {
    /// Name.
    pub name: &'a str,
    /// Owner.
    pub owner: Oid,
    /// Its wrapper.
    pub wrapper: Oid,
    /// TYPE
    pub kind: Option<&'a str>,
    /// VERSION
    pub version: Option<&'a str>,
    /// OPTIONS
    pub options: &'a ForeignOptions,
}

/// Where the rows of a foreign table come from.
#[derive(Clone, Debug)]
pub struct ForeignTable {
    /// The table.
    pub table: Oid,
    /// Its server.
    pub server: Oid,
    /// Its own options.
    pub options: ForeignOptions,
}

impl ObjectAddress {
    /// A foreign-data wrapper.
    pub fn wrapper(oid: Oid) -> ObjectAddress {
        ObjectAddress { class: w::TABLE.oid, object: oid, sub: 0 }
    }

    /// A foreign server.
    pub fn server(oid: Oid) -> ObjectAddress {
        ObjectAddress { class: s::TABLE.oid, object: oid, sub: 0 }
    }

    /// A user mapping.
    pub fn user_mapping(oid: Oid) -> ObjectAddress {
        ObjectAddress { class: m::TABLE.oid, object: oid, sub: 0 }
    }
}

/// What a catalog has of options: `name=value`.
pub fn options_of(stored: &Datum) -> ForeignOptions {
    let pair = |text: String| match text.split_once('=') {
        Some((name, value)) => (name.to_owned(), value.to_owned()),
        None => (text, String::new()),
    };
    texts_of(stored).into_iter().map(pair).collect()
}

/// Options as a `text[]`, which has no elements if there are none.
pub fn options_array(options: &ForeignOptions) -> Datum {
    let all: Vec<String> = options.iter().map(|(name, value)| format!("{name}={value}")).collect();
    text_array(&all)
}

/// Options as catalogs store them: NULL if there are none.
fn stored(options: &ForeignOptions) -> Datum {
    if options.is_empty() { Datum::Null } else { options_array(options) }
}

impl Changer<'_> {
    /// CREATE FOREIGN DATA WRAPPER.
    pub fn create_wrapper(&mut self, new: &NewWrapper<'_>) -> SqlResult<()> {
        let oid = self.new_oid();
        let row = RowBuilder::new(&w::TABLE)
            .set(w::OID, oid)
            .set(w::FDWNAME, new.name)
            .set(w::FDWOWNER, new.owner)
            .set(w::FDWHANDLER, new.handler)
            .set(w::FDWVALIDATOR, new.validator)
            .set(w::FDWOPTIONS, stored(new.options));
        self.insert(&w::TABLE, &row.build())?;
        let me = ObjectAddress::wrapper(oid);
        let functions = [new.handler, new.validator].into_iter().filter(|function| function.is_valid());
        self.depend_on_all(me, functions.map(ObjectAddress::routine))?;
        self.note_new(&AclKind::FOREIGN_DATA_WRAPPER, me, new.owner, Oid::INVALID)?;
        self.next_command()
    }

    /// ALTER FOREIGN DATA WRAPPER: its functions and options from now on.
    pub fn alter_wrapper(
        &mut self,
        oid: Oid,
        [handler, validator]: [Oid; 2],
        options: &ForeignOptions,
    ) -> SqlResult<()> {
        let me = ObjectAddress::wrapper(oid);
        self.edit_object(me, |row| {
            row[w::FDWHANDLER] = handler.into();
            row[w::FDWVALIDATOR] = validator.into();
            row[w::FDWOPTIONS] = stored(options);
        })?;
        let key = [me.class.into(), oid.into()];
        self.delete_where(&pg_depend::TABLE, pg_depend::PG_DEPEND_DEPENDER_INDEX, &key, |row| {
            row.oid(pg_depend::REFCLASSID) == pg_proc::TABLE.oid
        })?;
        let functions = [handler, validator].into_iter().filter(|function| function.is_valid());
        self.depend_on_all(me, functions.map(ObjectAddress::routine))?;
        self.next_command()
    }

    /// CREATE SERVER.
    pub fn create_server(&mut self, new: &NewServer<'_>) -> SqlResult<()> {
        let oid = self.new_oid();
        let row = RowBuilder::new(&s::TABLE)
            .set(s::OID, oid)
            .set(s::SRVNAME, new.name)
            .set(s::SRVOWNER, new.owner)
            .set(s::SRVFDW, new.wrapper)
            .set_some(s::SRVTYPE, new.kind)
            .set_some(s::SRVVERSION, new.version)
            .set(s::SRVOPTIONS, stored(new.options));
        self.insert(&s::TABLE, &row.build())?;
        let me = ObjectAddress::server(oid);
        self.depend(me, ObjectAddress::wrapper(new.wrapper), Dependency::Normal)?;
        self.note_new(&AclKind::FOREIGN_SERVER, me, new.owner, Oid::INVALID)?;
        self.next_command()
    }

    /// ALTER SERVER; no version: as it was.
    pub fn alter_server(
        &mut self,
        oid: Oid,
        version: Option<Option<&str>>,
        options: &ForeignOptions,
    ) -> SqlResult<()> {
        self.edit_object(ObjectAddress::server(oid), |row| {
            if let Some(version) = version {
                row[s::SRVVERSION] = version.map_or(Datum::Null, Datum::text);
            }
            row[s::SRVOPTIONS] = stored(options);
        })
    }

    /// CREATE USER MAPPING; the user is 0 for PUBLIC.
    pub fn create_user_mapping(&mut self, user: Oid, server: Oid, options: &ForeignOptions) -> SqlResult<()> {
        let oid = self.new_oid();
        let row = RowBuilder::new(&m::TABLE)
            .set(m::OID, oid)
            .set(m::UMUSER, user)
            .set(m::UMSERVER, server)
            .set(m::UMOPTIONS, stored(options));
        self.insert(&m::TABLE, &row.build())?;
        let me = ObjectAddress::user_mapping(oid);
        self.depend(me, ObjectAddress::server(server), Dependency::Normal)?;
        self.depend_on_owner(me, user)?;
        self.next_command()
    }

    /// ALTER USER MAPPING.
    pub fn set_mapping_options(&mut self, mapping: Oid, options: &ForeignOptions) -> SqlResult<()> {
        self.edit_object(ObjectAddress::user_mapping(mapping), |row| row[m::UMOPTIONS] = stored(options))
    }

    /// Enters where the rows of a new foreign table come from.
    pub fn set_foreign_source(&mut self, new: &ForeignTable) -> SqlResult<()> {
        let row = RowBuilder::new(&t::TABLE)
            .set(t::FTRELID, new.table)
            .set(t::FTSERVER, new.server)
            .set(t::FTOPTIONS, stored(&new.options));
        self.insert(&t::TABLE, &row.build())?;
        let (me, server) = (ObjectAddress::relation(new.table), ObjectAddress::server(new.server));
        self.depend(me, server, Dependency::Normal)?;
        self.next_command()
    }

    /// ALTER FOREIGN TABLE ... OPTIONS.
    pub fn set_foreign_options(&mut self, table: Oid, options: &ForeignOptions) -> SqlResult<()> {
        let index = t::PG_FOREIGN_TABLE_RELID_INDEX;
        self.edit(&t::TABLE, index, &[table.into()], |row| row[t::FTOPTIONS] = stored(options))?;
        self.next_command()
    }

    /// ALTER FOREIGN TABLE ... ALTER COLUMN ... OPTIONS.
    pub fn set_foreign_column_options(
        &mut self,
        table: Oid,
        number: i16,
        options: &ForeignOptions,
    ) -> SqlResult<()> {
        self.edit_column(table, number, |row| row[pg_attribute::ATTFDWOPTIONS] = stored(options))
    }

    /// Forgets where the rows of a table that goes came from.
    pub(super) fn drop_foreign_source(&mut self, table: Oid) -> SqlResult<()> {
        let index = t::PG_FOREIGN_TABLE_RELID_INDEX;
        self.delete_where(&t::TABLE, index, &[table.into()], |_| true)?;
        Ok(())
    }
}

impl Reader<'_> {
    /// The row of a wrapper.
    pub fn wrapper_named(&self, name: &str) -> SqlResult<Option<Row>> {
        let found = self.find_one(&w::TABLE, w::PG_FOREIGN_DATA_WRAPPER_NAME_INDEX, &[name.into()])?;
        Ok(found.map(|(_, row)| row))
    }

    /// The row of a wrapper.
    pub fn wrapper(&self, oid: Oid) -> SqlResult<Row> {
        let found = self.object_row(&w::TABLE, oid)?;
        found.ok_or_else(|| SqlError::internal(format!("cache lookup failed for foreign-data wrapper {oid}")))
    }

    /// The row of a server.
    pub fn server_named(&self, name: &str) -> SqlResult<Option<Row>> {
        let found = self.find_one(&s::TABLE, s::PG_FOREIGN_SERVER_NAME_INDEX, &[name.into()])?;
        Ok(found.map(|(_, row)| row))
    }

    /// The row of a server.
    pub fn server(&self, oid: Oid) -> SqlResult<Row> {
        let found = self.object_row(&s::TABLE, oid)?;
        found.ok_or_else(|| SqlError::internal(format!("cache lookup failed for foreign server {oid}")))
    }

    /// The mapping of a user, or of all (0), on a server.
    pub fn user_mapping(&self, user: Oid, server: Oid) -> SqlResult<Option<Row>> {
        let key = [user.into(), server.into()];
        let found = self.find_one(&m::TABLE, m::PG_USER_MAPPING_USER_SERVER_INDEX, &key)?;
        Ok(found.map(|(_, row)| row))
    }

    /// Where the rows of a foreign table come from.
    pub fn foreign_table(&self, table: Oid) -> SqlResult<ForeignTable> {
        let found = self.find_one(&t::TABLE, t::PG_FOREIGN_TABLE_RELID_INDEX, &[table.into()])?;
        let (_, row) = found
            .ok_or_else(|| SqlError::internal(format!("cache lookup failed for foreign table {table}")))?;
        let (server, options) = (row.oid(t::FTSERVER), options_of(&row[t::FTOPTIONS]));
        Ok(ForeignTable { table, server, options })
    }

    /// The options of a column of a foreign table.
    pub fn foreign_column_options(&self, table: Oid, number: i16) -> SqlResult<ForeignOptions> {
        let key = [table.into(), number.into()];
        let index = pg_attribute::PG_ATTRIBUTE_RELID_ATTNUM_INDEX;
        let found = self.find_one(&pg_attribute::TABLE, index, &key)?;
        Ok(found.map_or_else(Vec::new, |(_, row)| options_of(&row[pg_attribute::ATTFDWOPTIONS])))
    }

    /// `user mapping for u on server s`
    pub(super) fn describe_user_mapping(&self, oid: Oid) -> SqlResult<String> {
        let Some(row) = self.object_row(&m::TABLE, oid)? else { return Ok(format!("user mapping {oid}")) };
        let server = self.server(row.oid(m::UMSERVER))?;
        let user = match row.oid(m::UMUSER) {
            Oid::INVALID => "public".to_owned(),
            user => self.role_name(user)?.unwrap_or_default(),
        };
        Ok(format!("user mapping for {user} on server {}", server.str(s::SRVNAME)))
    }
}
