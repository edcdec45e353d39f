//! A new data directory with its first databases: what initdb does.

use std::path::Path;
use std::sync::Arc;

use base::{SqlError, SqlResult, SqlState};
use catalog::{BootstrapOptions, POSTGRES, TEMPLATE0, TEMPLATE1};
use engine::{CheckpointCause, Engine, EngineOptions};
use runtime::fs;

/// Makes a data directory in `dir` (missing or empty) and leaves it as after a clean shutdown.
///
/// The catalogs are written into `template1`; the other databases are copies of its files, taken after a checkpoint, so the log need
/// not know of them.
pub fn initialize(dir: &Path, engine: EngineOptions, options: &BootstrapOptions) -> SqlResult<()> {
    let engine = Arc::new(Engine::create(dir, engine).map_err(failed)?);
    catalog::bootstrap(&engine, options)?;
    engine.checkpoint(CheckpointCause::Requested).map_err(failed)?;
    for database in [TEMPLATE0, POSTGRES] {
        copy_database(dir, TEMPLATE1.0, database.0)?;
    }
    engine.shutdown().map_err(failed)
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
