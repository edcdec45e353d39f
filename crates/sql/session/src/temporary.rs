//! # What
//! Where temporary relations and files go (`temp_tablespaces`).
//!
//! # Invariants
//! 1. Which of the tablespaces there are, and are allowed, is looked up once in a transaction, when the first of them is needed; those that are not are passed over then, while SET
//!    refuses them.
//! 2. Relations and files take turns together ([`TempDir::next_tablespace`]).
//!
//! # PostgreSQL counterpart
//! `PrepareTempTablespaces` of `commands/tablespace.c`.

use base::settings::Setting;
use base::{Oid, SqlResult, sql_err};
use catalog::RowExt;
use catalog::system::pg_tablespace as t;
use eval::spill::TempDir;

use crate::Session;
use crate::login::split_list;
use crate::lookup::names::check_tablespace_creation;

impl Session {
    /// Where temporary files of the present transaction are made.
    #[inline]
    pub fn temp_dir(&self) -> &TempDir {
        if self.settings.borrow().fast().names_temp_tablespaces || !self.temp_chosen.borrow().1.is_empty() {
            self.choose_temp_tablespaces();
        }
        &self.temp
    }

    /// The tablespace of the next temporary relation; 0: the database's own.
    pub fn next_temp_tablespace(&self) -> Oid {
        self.temp_dir().next_tablespace()
    }

    #[cold]
    fn choose_temp_tablespaces(&self) {
        let settings = self.settings.borrow();
        let list = settings.text(Setting::temp_tablespaces);
        let mut chosen = self.temp_chosen.borrow_mut();
        let transaction = self.txn.borrow().local_id();
        if (chosen.0, chosen.1.as_str()) == (transaction, list) {
            return;
        }
        *chosen = (transaction, list.to_owned());
        let names = split_list(list);
        drop((settings, chosen));
        // Where nothing can be looked up, files go where they always can.
        let found = names.iter().filter_map(|name| self.temp_tablespace(name).ok().flatten());
        self.temp.choose(found.collect());
    }

    /// The tablespace of this name, which the current user may create in; 0: the database's own. None if there is none.
    fn temp_tablespace(&self, name: &str) -> SqlResult<Option<Oid>> {
        if name.is_empty() {
            return Ok(Some(Oid::INVALID));
        }
        let index = t::PG_TABLESPACE_SPCNAME_INDEX;
        let Some((_, row)) = self.with_reader(|r| r.find_one(&t::TABLE, index, &[name.into()]))? else {
            return Ok(None);
        };
        match row.oid(t::OID) {
            own if own == self.catalog.tablespace() => Ok(Some(Oid::INVALID)),
            other => check_tablespace_creation(self, other, name).map(|()| Some(other)),
        }
    }

    /// Fails unless `temp_tablespaces` can be set to this: all are there, and the current user may create in them.
    pub(crate) fn check_temp_tablespaces(&self, list: &str) -> SqlResult<()> {
        for name in split_list(list) {
            if self.temp_tablespace(&name)?.is_none() {
                return Err(sql_err!(UNDEFINED_OBJECT, "tablespace \"{name}\" does not exist"));
            }
        }
        Ok(())
    }
}
