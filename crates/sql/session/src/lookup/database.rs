//! What the catalog notes of the session's own database.

use base::SqlResult;
use catalog::NotedIds;
use catalog::system::pg_database;
use txn::OldestIds;

use crate::Session;

/// The oldest ids that it may have; those that the server keeps, if it notes none.
pub fn noted_ids(session: &Session, noted: &NotedIds) -> SqlResult<OldestIds> {
    let row = session.with_reader(|reader| {
        let key = [session.catalog.database().into()];
        reader.find_one(&pg_database::TABLE, pg_database::PG_DATABASE_OID_INDEX, &key)
    })?;
    let ids = row.and_then(|(_, row)| noted.of_database(&row));
    Ok(ids.unwrap_or_else(|| session.engine().txns().oldest_ids()))
}
