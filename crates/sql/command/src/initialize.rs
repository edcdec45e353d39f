//! A new data directory with its first databases: what initdb does.

use std::path::Path;
use std::sync::Arc;

use base::settings::ServerSettings;
use base::{Oid, SqlError, SqlResult, SqlState};
use catalog::{
    BootstrapOptions, INFORMATION_SCHEMA, INITIAL_PRIVILEGES, POSTGRES, STATISTICS_VIEWS, SYSTEM_VIEWS,
    TEMPLATE0, TEMPLATE1,
};
use engine::{Engine, EngineOptions};
use runtime::fs::{self, File, OpenOptions};
use session::output::{Format, Output, RowEncoder};
use session::{Instance, Session, SessionInfo};
use tuple::Datum;

use crate::Commands;
use crate::oldest_ids::leave_template;

/// Makes a data directory in `dir` (missing or empty) and leaves it as after a clean shutdown.
///
/// The catalogs are written into `template1`; the other databases are copies of its files, taken after a shutdown, so the log
/// need not know of them.
pub fn initialize(dir: &Path, engine: EngineOptions, options: &BootstrapOptions) -> SqlResult<()> {
    let engine = Arc::new(Engine::create(dir, engine)?);
    catalog::bootstrap(&engine, options)?;
    make_system_views(&engine, options)?;
    engine.begin_user_oids();
    engine.shutdown()?;
    drop(engine);
    for database in [TEMPLATE0, POSTGRES] {
        copy_database(dir, TEMPLATE1, database)
            .map_err(|e| SqlError::new(SqlState::IO_ERROR, format!("could not copy database: {e}")))?;
    }
    Ok(())
}

fn make_system_views(engine: &Arc<Engine>, options: &BootstrapOptions) -> SqlResult<()> {
    let instance = Instance::new(engine.clone(), Arc::new(ServerSettings::new()), &Commands);
    let mut info = SessionInfo::local(1, options.superuser.clone(), "template1".into());
    info.options.push(("allow_system_table_mods".into(), "on".into()));
    let session = Session::new(instance, info)?;
    let frozen = "vacuum (freeze, skip_database_stats)";
    let made = [SYSTEM_VIEWS, STATISTICS_VIEWS, INITIAL_PRIVILEGES, INFORMATION_SCHEMA, frozen];
    let done = made.iter().try_for_each(|text| session.simple_query(text, &mut Silent));
    let done = done.and_then(|()| leave_template(&session));
    session.close();
    done
}

/// Throws results away.
pub(crate) struct Silent;

impl Output for Silent {
    fn data_row(&mut self, _: &RowEncoder<'_>, _: &[Datum]) -> SqlResult<()> {
        Ok(())
    }
    fn notice(&mut self, _: &SqlError) {}
    fn copy_in(&mut self, _: Format, _: usize) -> SqlResult<()> {
        Err(SqlError::not_supported("COPY FROM STDIN during initialization"))
    }
    fn copy_out_data(&mut self, _: &[u8]) -> SqlResult<()> {
        Ok(())
    }
}

/// Copies the files of a database that is not in use.
fn copy_database(dir: &Path, from: Oid, to: Oid) -> std::io::Result<()> {
    let base = dir.join("base");
    let (from, to) = (base.join(from.to_string()), base.join(to.to_string()));
    fs::create_dir_all(&to)?;
    for entry in fs::read_dir(&from)?.iter().filter(|entry| !entry.is_dir) {
        let bytes = fs::read_to_vec(&from.join(&entry.name))?;
        let file = File::open(&to.join(&entry.name), OpenOptions::CREATE_NEW)?;
        file.write_all_at(&bytes, 0)?;
        file.sync_all()?;
    }
    fs::sync_dir(&to)?;
    fs::sync_dir(&base)
}
