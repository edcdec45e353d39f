//! All databases of a data directory that no server runs on.

use std::cell::RefCell;
use std::sync::Arc;

use base::{Fork, Oid, SqlError, SqlResult, SqlState};
use catalog::system::{pg_class, pg_database};
use catalog::{RowExt, Table};
use engine::files::RelationFile;
use heap::verify::Finding;
use session::lookup::names;
use session::{Instance, Session};

use super::{IndexChecks, TableChecks, index, table};

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Where: database, relation, and what is known of the place in it.
    pub place: String,
    /// What is wrong.
    pub message: String,
}

/// Receives the progress of a check.
pub trait Watcher {
    /// A part of the work begins, of so many pages.
    fn begin(&mut self, what: &str, pages: u64);
    /// So many pages more are checked.
    fn checked(&mut self, pages: u64);
    /// Something is wrong.
    fn damage(&mut self, damage: Damage);
}

/// Checks all tables and indexes of all databases, and the fate of all transactions. `instance` has an engine that was opened
/// by [`engine::Engine::inspect`].
///
/// # Errors
/// The databases cannot be listed, or somebody wants the check to end. All else is damage.
pub fn databases(instance: &Arc<Instance>, watcher: &mut dyn Watcher) -> SqlResult<()> {
    instance.engine().txns().verify_status(&mut |error| {
        watcher.damage(Damage { place: "transaction status".into(), message: text(&error.into()) });
    });
    let files = engine::files::list(instance.engine().dir())?;
    check_files(&files, watcher)?;
    let main = files.iter().filter(|file| file.fork == Fork::Main);
    watcher.begin("tables and indexes", main.map(|file| file.pages()).sum());
    let rows = instance.read_shared(0, |reader| reader.scan(&pg_database::TABLE))?;
    let mut shared = true;
    for (_, row) in rows {
        let (oid, name) = (row.oid(pg_database::OID), row.str(pg_database::DATNAME).to_owned());
        let done = Session::for_inspection(instance.clone(), oid).and_then(|session| {
            let done = of_database(&session, &name, shared, watcher);
            session.close();
            done
        });
        match done {
            // What all databases share is checked once.
            Ok(_) => shared = false,
            Err(error) => note(watcher, format!("database \"{name}\""), error)?,
        }
    }
    Ok(())
}

/// Every page of every file.
fn check_files(files: &[RelationFile], watcher: &mut dyn Watcher) -> SqlResult<()> {
    watcher.begin("pages", files.iter().map(RelationFile::pages).sum());
    for file in files {
        let watching = RefCell::new(&mut *watcher);
        let read = &mut |pages| watching.borrow_mut().checked(pages);
        let damage = &mut |block, message| {
            let place = format!("file \"{}\", block {block}", file.name);
            watching.borrow_mut().damage(Damage { place, message });
        };
        engine::files::check(file, read, damage)?;
    }
    Ok(())
}

/// Checks all tables and indexes of one database, which nobody else writes to meanwhile: no lock is taken. Returns how many there are.
pub fn database(instance: &Arc<Instance>, oid: Oid, watcher: &mut dyn Watcher) -> SqlResult<usize> {
    let session = Session::for_inspection(instance.clone(), oid)?;
    let name = session.catalog.database_name().to_owned();
    let done = of_database(&session, &name, true, watcher);
    session.close();
    done
}

fn of_database(session: &Session, name: &str, shared: bool, watcher: &mut dyn Watcher) -> SqlResult<usize> {
    session.begin_statement();
    let rows = session.with_reader(|reader| reader.scan(&pg_class::TABLE))?;
    let mut checked = 0;
    let has_unlogged = session.engine().has_unlogged();
    for (_, row) in rows {
        let oid = row.oid(pg_class::OID);
        if row.char(pg_class::RELPERSISTENCE) == b'u' && !has_unlogged {
            continue;
        }
        if !matches!(row.char(pg_class::RELKIND), b'r' | b'm' | b't' | b'S')
            || catalog::system::is_shared_relation(oid) && !shared
        {
            continue;
        }
        let place = format!("database \"{name}\", relation {oid} (\"{}\")", row.str(pg_class::RELNAME));
        match names::describe(session, oid) {
            Ok(relation) => {
                session.with_orders(|| of_relation(session, name, &relation, watcher))?;
                checked += 1 + relation.indexes.len();
            }
            Err(error) => note(watcher, place, error)?,
        }
    }
    Ok(checked)
}

fn of_relation(
    session: &Session,
    database: &str,
    relation: &Table,
    watcher: &mut dyn Watcher,
) -> SqlResult<()> {
    let qualified = |name: &str| format!("\"{database}\".\"{}\".\"{name}\"", relation.schema_name);
    let place = format!("table {}", qualified(&relation.name));
    let checks = TableChecks { toast: true, ..TableChecks::default() };
    let pages = session.blocks(relation.file).unwrap_or(0);
    let mut errors = Vec::new();
    let mut findings = Vec::new();
    let done = table(
        session,
        relation.oid,
        &checks,
        &mut |found| {
            findings.extend(found);
            Ok(true)
        },
        &mut |error| {
            errors.push(error);
            Ok(())
        },
    );
    for Finding { block, offset, column, message } in findings {
        let mut place = format!("{place}, block {block}");
        offset.into_iter().for_each(|offset| place.push_str(&format!(", offset {offset}")));
        let name = column.and_then(|column| Some(&relation.columns.get(column)?.name));
        name.into_iter().for_each(|name| place.push_str(&format!(", column \"{name}\"")));
        watcher.damage(Damage { place, message });
    }
    for error in errors.into_iter().chain(done.err()) {
        note(watcher, place.clone(), error)?;
    }
    watcher.checked(u64::from(pages));
    for one in relation.indexes.iter().filter(|index| index.valid) {
        if let Err(error) = index(session, one.oid, IndexChecks::ALL) {
            note(watcher, format!("index {}", qualified(&one.name)), error)?;
        }
        watcher.checked(u64::from(session.blocks(one.file).unwrap_or(0)));
    }
    Ok(())
}

/// An error is damage, unless somebody wants all to end.
fn note(watcher: &mut dyn Watcher, place: String, error: SqlError) -> SqlResult<()> {
    const ENDS: [SqlState; 3] = [SqlState::QUERY_CANCELED, SqlState::ADMIN_SHUTDOWN, SqlState::OUT_OF_MEMORY];
    if ENDS.contains(&error.code()) {
        return Err(error);
    }
    watcher.damage(Damage { place, message: text(&error) });
    Ok(())
}

/// What an error says.
fn text(error: &SqlError) -> String {
    match &error.report().detail {
        Some(detail) => format!("{}: {detail}", error.message()),
        None => error.message().to_owned(),
    }
}
