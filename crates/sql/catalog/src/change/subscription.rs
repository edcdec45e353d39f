//! Subscriptions.

use base::{Lsn, Oid, SqlResult};
use tuple::Datum;

use super::{Changer, ObjectAddress};
use crate::database::Reader;
use crate::row::{Row, RowBuilder, RowExt};
use crate::system::{pg_subscription as s, pg_subscription_rel as r};
use crate::text_array;

/// A subscription to be made.
#[derive(Clone, Debug)]
pub struct NewSubscription {
    /// Name.
    pub name: String,
    /// Owner.
    pub owner: Oid,
    /// Rows are asked for in binary form.
    pub binary: bool,
    /// Letter of `substream`.
    pub streaming: u8,
    /// Letter of `subtwophasestate`.
    pub two_phase: u8,
    /// An error disables it.
    pub disable_on_error: bool,
    /// It needs a password to connect.
    pub password_required: bool,
    /// Changes are applied as its owner, not as those of the tables.
    pub run_as_owner: bool,
    /// Its slot is one that standbys have, too.
    pub failover: bool,
    /// How to connect.
    pub connection: String,
    /// The slot there.
    pub slot: Option<String>,
    /// `synchronous_commit` of who applies.
    pub synchronous_commit: String,
    /// What it subscribes to.
    pub publications: Vec<String>,
    /// Whose changes it asks for.
    pub origin: String,
    /// Its changes are applied.
    pub enabled: bool,
}

impl ObjectAddress {
    /// A subscription.
    pub fn subscription(oid: Oid) -> ObjectAddress {
        ObjectAddress { class: s::TABLE.oid, object: oid, sub: 0 }
    }
}

impl Changer<'_> {
    /// Enters a subscription. Returns its OID.
    pub fn create_subscription(&mut self, new: &NewSubscription) -> SqlResult<Oid> {
        let oid = self.new_oid();
        let row = RowBuilder::new(&s::TABLE)
            .set(s::OID, oid)
            .set(s::SUBDBID, self.catalog.database())
            .set(s::SUBSKIPLSN, Datum::Int8(0))
            .set(s::SUBNAME, &*new.name)
            .set(s::SUBOWNER, new.owner)
            .set(s::SUBENABLED, new.enabled)
            .set(s::SUBBINARY, new.binary)
            .set(s::SUBSTREAM, new.streaming)
            .set(s::SUBTWOPHASESTATE, new.two_phase)
            .set(s::SUBDISABLEONERR, new.disable_on_error)
            .set(s::SUBPASSWORDREQUIRED, new.password_required)
            .set(s::SUBRUNASOWNER, new.run_as_owner)
            .set(s::SUBFAILOVER, new.failover)
            .set(s::SUBCONNINFO, &*new.connection)
            .set_some(s::SUBSLOTNAME, new.slot.as_deref())
            .set(s::SUBSYNCCOMMIT, &*new.synchronous_commit)
            .set(s::SUBPUBLICATIONS, text_array(&new.publications))
            .set(s::SUBORIGIN, &*new.origin);
        self.insert(&s::TABLE, &row.build())?;
        self.depend_on_owner(ObjectAddress::subscription(oid), new.owner)?;
        self.next_command()?;
        Ok(oid)
    }

    /// Changes the row of a subscription.
    pub fn edit_subscription(&mut self, oid: Oid, edit: impl FnOnce(&mut Row)) -> SqlResult<()> {
        self.edit_object(ObjectAddress::subscription(oid), edit)
    }

    /// Removes a subscription with its comment and what is known of its tables.
    pub fn drop_subscription(&mut self, oid: Oid) -> SqlResult<()> {
        let tables = self.reader().scan(&r::TABLE)?;
        for (place, row) in tables.iter().filter(|(_, row)| row[r::SRSUBID] == oid.into()) {
            self.delete(&r::TABLE, *place, row)?;
        }
        self.drop_by_oid(s::TABLE.oid, oid)?;
        self.set_comment(ObjectAddress::subscription(oid), None)?;
        self.forget_shared(ObjectAddress::subscription(oid), None)?;
        self.next_command()
    }
}

impl Changer<'_> {
    /// Enters how far the copy of a table is, or changes it: the letter of `srsubstate`, and the position that goes with it.
    pub fn set_subscribed(
        &mut self,
        subscription: Oid,
        table: Oid,
        (state, position): (u8, Option<Lsn>),
    ) -> SqlResult<()> {
        let key = [table.into(), subscription.into()];
        let index = r::PG_SUBSCRIPTION_REL_SRRELID_SRSUBID_INDEX;
        let position = position.map_or(Datum::Null, |lsn| Datum::Int8(lsn.0 as i64));
        match self.reader().find_one(&r::TABLE, index, &key)? {
            Some((place, old)) => {
                let mut row = old.clone();
                (row[r::SRSUBSTATE], row[r::SRSUBLSN]) = (Datum::Char(state), position);
                self.update(&r::TABLE, place, &old, &row)?;
            }
            None => {
                let row = RowBuilder::new(&r::TABLE)
                    .set(r::SRSUBID, subscription)
                    .set(r::SRRELID, table)
                    .set(r::SRSUBSTATE, state)
                    .set(r::SRSUBLSN, position);
                self.insert(&r::TABLE, &row.build())?;
            }
        }
        self.next_command()
    }

    /// A table is subscribed to no more.
    pub fn forget_subscribed(&mut self, subscription: Oid, table: Oid) -> SqlResult<()> {
        let key = [table.into(), subscription.into()];
        let index = r::PG_SUBSCRIPTION_REL_SRRELID_SRSUBID_INDEX;
        if let Some((place, row)) = self.reader().find_one(&r::TABLE, index, &key)? {
            self.delete(&r::TABLE, place, &row)?;
        }
        self.next_command()
    }
}

/// A table of a subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subscribed {
    /// The table.
    pub table: Oid,
    /// How far its copy is: the letter of `srsubstate`.
    pub state: u8,
    /// The position that goes with that.
    pub position: Lsn,
}

impl Reader<'_> {
    /// The tables of a subscription.
    pub fn subscribed(&self, subscription: Oid) -> SqlResult<Vec<Subscribed>> {
        let rows = self.scan(&r::TABLE)?;
        let of = |row: &Row| row.oid(r::SRSUBID) == subscription;
        let known = |row: &Row| Subscribed {
            table: row.oid(r::SRRELID),
            state: row.char(r::SRSUBSTATE),
            position: Lsn(row.long(r::SRSUBLSN) as u64),
        };
        Ok(rows.iter().map(|(_, row)| row).filter(|row| of(row)).map(known).collect())
    }

    /// The subscription with this OID.
    pub fn subscription_by_oid(&self, oid: Oid) -> SqlResult<Option<Row>> {
        Ok(self.find_one(&s::TABLE, s::PG_SUBSCRIPTION_OID_INDEX, &[oid.into()])?.map(|(_, row)| row))
    }

    /// The subscriptions of all databases.
    pub fn all_subscriptions(&self) -> SqlResult<Vec<Oid>> {
        Ok(self.scan(&s::TABLE)?.iter().map(|(_, row)| row.oid(s::OID)).collect())
    }

    /// Subscriptions of all databases that are enabled, with the database of each.
    pub fn enabled_subscriptions(&self) -> SqlResult<Vec<(Oid, Oid)>> {
        let rows = self.scan(&s::TABLE)?;
        let enabled = rows.iter().map(|(_, row)| row).filter(|row| row.bool(s::SUBENABLED));
        Ok(enabled.map(|row| (row.oid(s::OID), row.oid(s::SUBDBID))).collect())
    }

    /// The subscription with this name in the database.
    pub fn subscription_row(&self, name: &str) -> SqlResult<Option<Row>> {
        let key = [self.catalog.database().into(), name.into()];
        Ok(self.find_one(&s::TABLE, s::PG_SUBSCRIPTION_SUBNAME_INDEX, &key)?.map(|(_, row)| row))
    }

    /// How many subscriptions a database has.
    pub fn count_subscriptions(&self, database: Oid) -> SqlResult<usize> {
        Ok(self.find(&s::TABLE, s::PG_SUBSCRIPTION_SUBNAME_INDEX, &[database.into()])?.len())
    }
}
