//! Subscriptions.

use base::{Oid, SqlResult};
use tuple::Datum;

use super::{Changer, ObjectAddress};
use crate::database::Reader;
use crate::row::{Row, RowBuilder};
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
}

impl ObjectAddress {
    /// A subscription.
    pub fn subscription(oid: Oid) -> ObjectAddress {
        ObjectAddress { class: s::TABLE.oid, object: oid, sub: 0 }
    }
}

impl Changer<'_> {
    /// Enters a subscription, which is not enabled. Returns its OID.
    pub fn create_subscription(&mut self, new: &NewSubscription) -> SqlResult<Oid> {
        let oid = self.new_oid();
        let row = RowBuilder::new(&s::TABLE)
            .set(s::OID, oid)
            .set(s::SUBDBID, self.catalog.database())
            .set(s::SUBSKIPLSN, Datum::Int8(0))
            .set(s::SUBNAME, &*new.name)
            .set(s::SUBOWNER, new.owner)
            .set(s::SUBENABLED, false)
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

impl Reader<'_> {
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
