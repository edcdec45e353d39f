//! A new data directory with its first databases: what initdb does.

use std::path::Path;
use std::sync::Arc;

use base::settings::ServerSettings;
use base::{Oid, SqlError, SqlResult, SqlState};
use catalog::{BootstrapOptions, POSTGRES, SYSTEM_VIEWS, TEMPLATE0, TEMPLATE1};
use engine::{CheckpointCause, Engine, EngineOptions};
use runtime::fs;
use tuple::Datum;

use crate::output::{Column, Format, Output, RowEncoder};
use crate::session::{Instance, Session, SessionInfo};

/// Makes a data directory in `dir` (missing or empty) and leaves it as after a clean shutdown.
///
/// The catalogs are written into `template1`; the other databases are copies of its files, taken after a checkpoint, so the log need
/// not know of them.
pub fn initialize(dir: &Path, engine: EngineOptions, options: &BootstrapOptions) -> SqlResult<()> {
    let engine = Arc::new(Engine::create(dir, engine).map_err(failed)?);
    catalog::bootstrap(&engine, options)?;
    make_system_views(&engine, options)?;
    engine.begin_user_oids();
    engine.checkpoint(CheckpointCause::Requested).map_err(failed)?;
    for database in [TEMPLATE0, POSTGRES] {
        copy_database(dir, TEMPLATE1.0, database.0)?;
    }
    engine.shutdown().map_err(failed)
}

fn make_system_views(engine: &Arc<Engine>, options: &BootstrapOptions) -> SqlResult<()> {
    let instance = Instance::new(engine.clone(), Arc::new(ServerSettings::new()));
    let session = Session::new(
        instance,
        SessionInfo {
            pid: 1,
            user: options.superuser.clone(),
            database: "template1".into(),
            options: Vec::new(),
            client_address: None,
        },
    )?;
    let done = session.simple_query(SYSTEM_VIEWS, &mut Silent);
    session.close(None);
    done
}

/// Throws results away.
struct Silent;

impl Output for Silent {
    fn row_description(&mut self, _: &[Column], _: &[Format]) -> SqlResult<()> {
        Ok(())
    }
    fn no_data(&mut self) -> SqlResult<()> {
        Ok(())
    }
    fn parameter_description(&mut self, _: &[Oid]) -> SqlResult<()> {
        Ok(())
    }
    fn data_row(&mut self, _: &RowEncoder<'_>, _: &[Datum]) -> SqlResult<()> {
        Ok(())
    }
    fn command_complete(&mut self, _: &str) -> SqlResult<()> {
        Ok(())
    }
    fn empty_query(&mut self) -> SqlResult<()> {
        Ok(())
    }
    fn portal_suspended(&mut self) -> SqlResult<()> {
        Ok(())
    }
    fn notice(&mut self, _: &SqlError) {}
    fn parameter_status(&mut self, _: &str, _: &str) {}
    fn copy_in(&mut self, _: Format, _: usize) -> SqlResult<()> {
        Err(SqlError::not_supported("COPY FROM STDIN during initialization"))
    }
    fn copy_in_data(&mut self) -> SqlResult<Option<Vec<u8>>> {
        Ok(None)
    }
    fn copy_out(&mut self, _: Format, _: usize) -> SqlResult<()> {
        Ok(())
    }
    fn copy_out_data(&mut self, _: &[u8]) -> SqlResult<()> {
        Ok(())
    }
    fn copy_out_done(&mut self) -> SqlResult<()> {
        Ok(())
    }
}

fn copy_database(dir: &Path, from: u32, to: u32) -> SqlResult<()> {
    let (from, to) = (dir.join(format!("base/{from}")), dir.join(format!("base/{to}")));
    let io = |e: std::io::Error| {
        SqlError::new(SqlState::IO_ERROR, format!("could not copy directory \"{}\": {e}", from.display()))
    };
    fs::create_dir_all(&to).map_err(io)?;
    for entry in fs::read_dir(&from).map_err(io)? {
        let bytes = fs::read_to_vec(&from.join(&entry.name)).map_err(io)?;
        fs::write_file_durably(&to.join(&entry.name), &bytes).map_err(io)?;
    }
    fs::sync_dir(&dir.join("base")).map_err(io)
}

fn failed(error: engine::EngineError) -> SqlError {
    SqlError::new(SqlState::IO_ERROR, error.to_string())
}
