//! Where relations lie and how large they are.

use base::{Fork, Oid, PAGE_SIZE, RelFile, SqlError, SqlResult, sql_err, tablespace_folder};
use catalog::system::{pg_class, pg_database, pg_tablespace};
use catalog::{CatalogView, RowExt, predefined};
use tuple::Datum;
use types::SessionFn;

use super::{Row, arg};
use crate::Session;
use crate::lookup::names::{check_tablespace_creation, fork_named};

/// `pg_tablespace.oid` of `pg_default`.
const PG_DEFAULT: Oid = Oid(1663);
/// `pg_tablespace.oid` of `pg_global`.
const PG_GLOBAL: Oid = Oid(1664);

impl Session {
    pub(super) fn size_function(&self, id: SessionFn, args: &[Datum]) -> SqlResult<Option<Datum>> {
        use SessionFn as F;
        let oid = || Oid(arg(args, 0));
        Ok(Some(match id {
            F::PgRelationSize => self.relation_size(oid(), args.get(1))?,
            F::PgTableSize => self.optional(oid(), |s, class| s.table_size(class))?,
            F::PgIndexesSize => self.optional(oid(), |s, class| s.indexes_size(class.oid))?,
            F::PgTotalRelationSize => {
                self.optional(oid(), |s, class| Ok(s.table_size(class)? + s.indexes_size(class.oid)?))?
            }
            F::PgDatabaseSize => self.database_size(&args[0])?,
            F::PgTablespaceSize => self.tablespace_size(&args[0])?,
            F::PgRelationFilenode => match self.class(oid())? {
                Some(class) if class.file.number != 0 => Datum::Oid(class.file.number),
                _ => Datum::Null,
            },
            F::PgRelationFilepath => match self.class(oid())? {
                Some(class) if class.file.number != 0 => Datum::text(&class.file.to_string()),
                _ => Datum::Null,
            },
            F::PgFilenodeRelation => self.relation_of_file(oid(), arg(args, 1))?,
            F::PgTablespaceLocation => self.tablespace_location(oid())?,
            _ => return Ok(None),
        }))
    }

    pub(super) fn size_rows(&self, id: SessionFn, args: &[Datum]) -> SqlResult<Option<Vec<Row>>> {
        match id {
            SessionFn::PgTablespaceDatabases => Ok(Some(self.databases_in(Oid(arg(args, 0)))?)),
            _ => Ok(None),
        }
    }

    /// The `pg_class` row of a relation, as far as files go.
    fn class(&self, oid: Oid) -> SqlResult<Option<Class>> {
        self.with_reader(|r| {
            let row = r.find_one(&pg_class::TABLE, pg_class::PG_CLASS_OID_INDEX, &[oid.into()])?;
            Ok(row.map(|(_, row)| Class {
                oid,
                file: r.file_of(&row),
                toast: row.oid(pg_class::RELTOASTRELID),
            }))
        })
    }

    /// NULL for a relation that is gone.
    fn optional(&self, oid: Oid, size: impl Fn(&Session, &Class) -> SqlResult<i64>) -> SqlResult<Datum> {
        match self.class(oid)? {
            Some(class) => Ok(Datum::Int8(size(self, &class)?)),
            None => Ok(Datum::Null),
        }
    }

    fn relation_size(&self, oid: Oid, fork: Option<&Datum>) -> SqlResult<Datum> {
        let fork = fork_named(fork.map_or("main", types::value::FromDatum::from_datum))?;
        self.optional(oid, |s, class| s.fork_size(class.file, fork))
    }

    fn fork_size(&self, file: RelFile, fork: Fork) -> SqlResult<i64> {
        if file.number == 0 || !self.engine().smgr().exists(file, fork).map_err(io)? {
            return Ok(0);
        }
        let pages = self.engine().smgr().nblocks(file, fork).map_err(io)?;
        Ok(i64::from(pages) * PAGE_SIZE as i64)
    }

    fn file_size(&self, file: RelFile) -> SqlResult<i64> {
        Fork::ALL.into_iter().map(|fork| self.fork_size(file, fork)).sum()
    }

    /// All forks, and the TOAST table with its index.
    fn table_size(&self, class: &Class) -> SqlResult<i64> {
        let mut size = self.file_size(class.file)?;
        if class.toast.is_valid()
            && let Some(toast) = self.class(class.toast)?
        {
            size += self.file_size(toast.file)? + self.indexes_size(toast.oid)?;
        }
        Ok(size)
    }

    fn indexes_size(&self, table: Oid) -> SqlResult<i64> {
        let table = self.with_reader(|r| r.relation_by_oid(table))?;
        let indexes = table.iter().flat_map(|table| &table.indexes);
        indexes.map(|index| self.file_size(index.file)).sum()
    }

    fn database_size(&self, which: &Datum) -> SqlResult<Datum> {
        let oid = match which {
            Datum::Oid(oid) => {
                let key = [Datum::Oid(*oid)];
                let index = pg_database::PG_DATABASE_OID_INDEX;
                if self.with_reader(|r| r.find_one(&pg_database::TABLE, index, &key))?.is_none() {
                    return Ok(Datum::Null);
                }
                Oid(*oid)
            }
            name => {
                let name: &str = types::value::FromDatum::from_datum(name);
                let found = self.with_reader(|r| r.database_by_name(name))?;
                found.ok_or_else(|| sql_err!(UNDEFINED_DATABASE, "database \"{name}\" does not exist"))?.oid
            }
        };
        let mut size = 0;
        for tablespace in self.engine().tablespaces_of_database(oid)? {
            let folder = RelFile::whole_database(tablespace, oid).to_string();
            size += self.folder_size(&folder)?.unwrap_or(0);
        }
        Ok(Datum::Int8(size))
    }

    fn tablespace_size(&self, which: &Datum) -> SqlResult<Datum> {
        let oid = match which {
            Datum::Oid(oid) => Oid(*oid),
            name => {
                let text: &str = types::value::FromDatum::from_datum(name);
                let index = pg_tablespace::PG_TABLESPACE_SPCNAME_INDEX;
                let row = self
                    .with_reader(|r| r.find_one(&pg_tablespace::TABLE, index, std::slice::from_ref(name)))?;
                let row =
                    row.ok_or_else(|| sql_err!(UNDEFINED_OBJECT, "tablespace \"{text}\" does not exist"))?;
                row.1.oid(pg_tablespace::OID)
            }
        };
        if oid != self.catalog.tablespace() && !self.has_role(predefined::READ_ALL_STATS)? {
            let row = self.with_reader(|r| {
                r.find_one(&pg_tablespace::TABLE, pg_tablespace::PG_TABLESPACE_OID_INDEX, &[oid.into()])
            })?;
            if let Some((_, row)) = row {
                check_tablespace_creation(self, oid, row.str(pg_tablespace::SPCNAME))?;
            }
        }
        Ok(self.folder_size(&tablespace_folder(oid))?.map_or(Datum::Null, Datum::Int8))
    }

    /// Where a tablespace lies: a path below the data directory if in place, empty for those of initdb.
    fn tablespace_location(&self, oid: Oid) -> SqlResult<Datum> {
        let oid = if oid.is_valid() { oid } else { self.catalog.tablespace() };
        if oid == PG_DEFAULT || oid == PG_GLOBAL {
            return Ok(Datum::text(""));
        }
        let location = self.engine().tablespace_location(oid);
        let shown = format!("pg_tblspc/{oid}");
        match location {
            Ok(Some(path)) => Ok(Datum::text(&path.to_string_lossy())),
            Ok(None) => Ok(Datum::text(&shown)),
            Err(error) => {
                let message = format!("could not read symbolic link \"{shown}\": {}", base::os_error(&error));
                Err(base::os::file_error(error.kind(), false, message))
            }
        }
    }

    /// The databases that have files in a tablespace.
    fn databases_in(&self, tablespace: Oid) -> SqlResult<Vec<Row>> {
        if tablespace == PG_GLOBAL {
            let warning = "global tablespace never has databases";
            self.warning(base::SqlState::WARNING, warning);
            return Ok(Vec::new());
        }
        match self.engine().databases_in(tablespace)? {
            Some(databases) => Ok(databases.into_iter().map(|oid| vec![oid.into()]).collect()),
            None => {
                let message = format!("{tablespace} is not a tablespace OID");
                self.warning(base::SqlState::WARNING, &message);
                Ok(Vec::new())
            }
        }
    }

    /// Bytes of all files below a folder of the data directory; none if it is not there.
    fn folder_size(&self, folder: &str) -> SqlResult<Option<i64>> {
        let mut todo = vec![self.engine().dir().join(folder)];
        let mut size = 0;
        while let Some(dir) = todo.pop() {
            runtime::check_interrupts().map_err(eval::error::interrupted)?;
            let entries = match runtime::fs::read_dir(&dir) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
                entries => entries.map_err(io)?,
            };
            for entry in entries {
                let path = dir.join(&entry.name);
                match entry.is_dir {
                    true => todo.push(path),
                    // A file that went away meanwhile counts nothing.
                    false => size += runtime::fs::metadata(&path).map_or(0, |m| m.len),
                }
            }
        }
        Ok(Some(size as i64))
    }

    pub(super) fn relation_of_file(&self, tablespace: Oid, number: u32) -> SqlResult<Datum> {
        let own = self.catalog.tablespace();
        let tablespace = if tablespace == own { Oid::INVALID } else { tablespace };
        let key = [tablespace.into(), Datum::Oid(number)];
        let index = pg_class::PG_CLASS_TBLSPC_RELFILENODE_INDEX;
        if let Some((_, row)) = self.with_reader(|r| r.find_one(&pg_class::TABLE, index, &key))? {
            return Ok(row[pg_class::OID].clone());
        }
        // A mapped catalog: known by its file's number, or its OID is that.
        let database = if tablespace == PG_GLOBAL { Oid::INVALID } else { self.catalog.database() };
        let relation = self.engine().relation_of_mapped_file(database, number).unwrap_or(Oid(number));
        let lies_there = |class: &Class| {
            let tablespace = if tablespace.is_valid() { tablespace } else { own };
            (class.file.tablespace, class.file.number) == (tablespace, number)
        };
        let mapped = self.class(relation)?.filter(lies_there);
        Ok(mapped.map_or(Datum::Null, |class| Datum::Oid(class.oid.0)))
    }
}

struct Class {
    oid: Oid,
    file: RelFile,
    toast: Oid,
}

fn io(error: impl std::fmt::Display) -> SqlError {
    sql_err!(IO_ERROR, "{error}")
}
