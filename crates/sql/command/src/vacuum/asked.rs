//! The options of VACUUM and ANALYZE, as a statement writes them.

use base::settings::{MAX_RING, MIN_RING, Setting};
use base::{SqlResult, sql_err};
use heap::vacuum::IndexCleanup;
use parse::ast::{DefElem, Vacuum};
use session::Session;

use super::maintenance::{FreezeAges, Maintenance};
use crate::names::at;
use crate::options;

/// What was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    pub vacuum: bool,
    pub analyze: bool,
    pub full: bool,
    pub skip_locked: bool,
    pub database_stats: bool,
    pub only_database_stats: bool,
    verbose: bool,
    freeze: bool,
    disable_page_skipping: bool,
    index_cleanup: Option<IndexCleanup>,
    process_main: bool,
    process_toast: bool,
    truncate: Option<bool>,
    /// As [`Maintenance::workers`].
    workers: Option<u32>,
    /// Kilobytes.
    ring: Option<i32>,
}

impl Asked {
    /// How each table is gone about: as the statement says, and otherwise the session's settings.
    pub fn maintenance(&self, session: &Session) -> Maintenance {
        let mut how = Maintenance::of_session(session);
        how.verbose = self.verbose;
        how.skip_locked = self.skip_locked;
        how.disable_page_skipping = self.disable_page_skipping;
        how.index_cleanup = self.index_cleanup;
        how.truncate = self.truncate;
        how.process_main = self.process_main;
        how.process_toast = self.process_toast;
        how.workers = self.workers;
        if self.freeze {
            how.freeze_ages = FreezeAges::NONE;
        }
        if let Some(kilobytes) = self.ring {
            how.ring = (kilobytes as usize) << 10;
        }
        how
    }
}

pub(super) fn read(statement: &Vacuum, text: &str) -> SqlResult<Asked> {
    let mut asked = Asked {
        vacuum: statement.vacuum,
        analyze: !statement.vacuum,
        full: false,
        skip_locked: false,
        database_stats: true,
        only_database_stats: false,
        verbose: false,
        freeze: false,
        disable_page_skipping: false,
        index_cleanup: None,
        process_main: true,
        process_toast: true,
        truncate: None,
        workers: Some(0),
        ring: None,
    };
    for option in &statement.options {
        let known =
            read_common(&mut asked, option)? || statement.vacuum && read_vacuum(&mut asked, option, text)?;
        if !known {
            let command = if statement.vacuum { "VACUUM" } else { "ANALYZE" };
            let error = sql_err!(SYNTAX_ERROR, "unrecognized {command} option \"{}\"", option.name);
            return Err(at(error, text, option.location));
        }
    }
    if asked.full {
        check_full(&asked, statement)?;
    }
    if asked.only_database_stats && !statement.relations.is_empty() {
        return Err(sql_err!(
            FEATURE_NOT_SUPPORTED,
            "ONLY_DATABASE_STATS cannot be specified with a list of tables"
        ));
    }
    Ok(asked)
}

/// What FULL cannot do.
fn check_full(asked: &Asked, statement: &Vacuum) -> SqlResult<()> {
    let option = |name: &str| statement.options.iter().find(|option| option.name == name);
    if option("parallel").is_some_and(|workers| options::integer(workers).is_ok_and(|n| n > 0)) {
        return Err(sql_err!(FEATURE_NOT_SUPPORTED, "VACUUM FULL cannot be performed in parallel"));
    }
    if option("buffer_usage_limit").is_some() && !asked.analyze {
        return Err(sql_err!(
            FEATURE_NOT_SUPPORTED,
            "BUFFER_USAGE_LIMIT cannot be specified for VACUUM FULL"
        ));
    }
    if asked.disable_page_skipping {
        return Err(sql_err!(
            FEATURE_NOT_SUPPORTED,
            "VACUUM option DISABLE_PAGE_SKIPPING cannot be used with FULL"
        ));
    }
    if !asked.process_toast {
        return Err(sql_err!(FEATURE_NOT_SUPPORTED, "PROCESS_TOAST required with VACUUM FULL"));
    }
    Ok(())
}

/// Options of both; false if it is none.
fn read_common(asked: &mut Asked, option: &DefElem) -> SqlResult<bool> {
    match option.name.as_str() {
        "verbose" => asked.verbose = options::boolean(option)?,
        "skip_locked" => asked.skip_locked = options::boolean(option)?,
        "buffer_usage_limit" => asked.ring = Some(read_ring(&options::string(option)?)?),
        _ => return Ok(false),
    }
    Ok(true)
}

/// Kilobytes of the ring of buffers.
fn read_ring(text: &str) -> SqlResult<i32> {
    let read = Setting::vacuum_buffer_usage_limit.parse(text);
    read.map(|value| value.as_int()).map_err(|_| {
        sql_err!(
            INVALID_PARAMETER_VALUE,
            "BUFFER_USAGE_LIMIT option must be 0 or between {MIN_RING} kB and {MAX_RING} kB"
        )
    })
}

/// Options of VACUUM; false if it is none.
fn read_vacuum(asked: &mut Asked, option: &DefElem, text: &str) -> SqlResult<bool> {
    match option.name.as_str() {
        "analyze" => asked.analyze = options::boolean(option)?,
        "freeze" => asked.freeze = options::boolean(option)?,
        "full" => asked.full = options::boolean(option)?,
        "disable_page_skipping" => asked.disable_page_skipping = options::boolean(option)?,
        "index_cleanup" => {
            let auto = option.value.as_ref().is_none_or(|value| {
                options::text(value).is_some_and(|w| w.is_empty() || w.eq_ignore_ascii_case("auto"))
            });
            asked.index_cleanup = Some(match auto {
                true => IndexCleanup::Auto,
                false if options::boolean(option)? => IndexCleanup::On,
                false => IndexCleanup::Off,
            });
        }
        "process_main" => asked.process_main = options::boolean(option)?,
        "process_toast" => asked.process_toast = options::boolean(option)?,
        "truncate" => asked.truncate = Some(options::boolean(option)?),
        "parallel" => asked.workers = read_parallel(option, text)?,
        "skip_database_stats" => asked.database_stats = !options::boolean(option)?,
        "only_database_stats" => asked.only_database_stats = options::boolean(option)?,
        _ => return Ok(false),
    }
    Ok(true)
}

/// See [`Maintenance::workers`].
fn read_parallel(option: &DefElem, text: &str) -> SqlResult<Option<u32>> {
    if option.value.is_none() {
        let error = sql_err!(SYNTAX_ERROR, "parallel option requires a value between 0 and 1024");
        return Err(at(error, text, option.location));
    }
    match options::integer(option)? {
        0 => Ok(None),
        most @ 1..=1024 => Ok(Some(most as u32)),
        _ => {
            let error = sql_err!(SYNTAX_ERROR, "parallel workers for vacuum must be between 0 and 1024");
            Err(at(error, text, option.location))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(sql: &str) -> SqlResult<Asked> {
        let statements = parse::parse(sql).unwrap();
        let parse::Statement::Vacuum(vacuum) = &statements[0].stmt else { panic!("not a VACUUM") };
        read(vacuum, sql)
    }

    #[test]
    fn options_are_read_in_both_syntaxes() {
        assert!(asked("vacuum analyze t").unwrap().analyze);
        assert!(asked("vacuum (freeze, verbose off) t").unwrap().freeze);
        assert_eq!(asked("vacuum (index_cleanup off) t").unwrap().index_cleanup, Some(IndexCleanup::Off));
        assert_eq!(asked("vacuum (index_cleanup auto) t").unwrap().index_cleanup, Some(IndexCleanup::Auto));
        assert_eq!(asked("vacuum (buffer_usage_limit '1 MB') t").unwrap().ring, Some(1024));
        assert!(asked("vacuum (buffer_usage_limit 100) t").is_err());
        assert!(!asked("analyze verbose t").unwrap().vacuum);
        let error = asked("vacuum (frobnicate) t").unwrap_err();
        assert_eq!(error.message(), "unrecognized VACUUM option \"frobnicate\"");
        assert_eq!(error.report().position, Some(9));
        assert_eq!(
            asked("analyze (freeze) t").unwrap_err().message(),
            "unrecognized ANALYZE option \"freeze\""
        );
        assert!(asked("vacuum full t").unwrap().full);
        let error = asked("vacuum (full, disable_page_skipping) t").unwrap_err();
        assert_eq!(error.message(), "VACUUM option DISABLE_PAGE_SKIPPING cannot be used with FULL");
        assert!(asked("vacuum (full, parallel 2) t").is_err());
        assert!(asked("vacuum (full, parallel 0) t").is_ok());
        assert_eq!(asked("vacuum (parallel 0) t").unwrap().workers, None);
        assert_eq!(asked("vacuum (parallel 3) t").unwrap().workers, Some(3));
        assert_eq!(asked("vacuum t").unwrap().workers, Some(0));
    }
}
