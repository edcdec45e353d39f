//! Settings: `current_setting`, `set_config`, `pg_settings`.

use base::settings::{Setting, SettingRow};
use base::{Severity, SqlError, SqlResult, SqlState, sql_err};
use tuple::Datum;
use types::SessionFn;

use super::{Row, arg};
use crate::Session;
use crate::control::FileSetting;

impl Session {
    pub(super) fn setting_function(&self, id: SessionFn, args: &[Datum]) -> SqlResult<Option<Datum>> {
        Ok(Some(match id {
            SessionFn::CurrentSetting => self.current_setting(args)?,
            SessionFn::SetConfig => self.set_config(args)?,
            SessionFn::PgSettingsGetFlags => setting_flags(arg(args, 0)),
            SessionFn::PgReloadConf => {
                self.instance().control()?.reload();
                Datum::Bool(true)
            }
            SessionFn::PgRotateLogfile => self.rotate_log()?,
            SessionFn::PgCurrentLogfile => self.current_log_file(args.first().map(|_| arg(args, 0)))?,
            _ => return Ok(None),
        }))
    }

    pub(super) fn setting_rows(&self, id: SessionFn) -> SqlResult<Option<Vec<Row>>> {
        match id {
            SessionFn::PgShowAllSettings => {
                Ok(Some(self.visible_settings()?.into_iter().map(setting_row).collect()))
            }
            SessionFn::PgShowAllFileSettings => {
                let rows = self.instance().control()?.file_settings();
                Ok(Some(rows.into_iter().enumerate().map(|(at, row)| file_setting_row(at, row)).collect()))
            }
            _ => Ok(None),
        }
    }

    fn rotate_log(&self) -> SqlResult<Datum> {
        let done = self.instance().control()?.rotate_log();
        if !done {
            let message = "rotation not possible because log collection not active";
            self.notice(SqlError::with_severity(Severity::Warning, SqlState::WARNING, message));
        }
        Ok(Datum::Bool(done))
    }

    fn current_log_file(&self, format: Option<Option<&str>>) -> SqlResult<Datum> {
        let format = format.flatten();
        if let Some(unknown) = format.filter(|format| !matches!(*format, "stderr" | "csvlog" | "jsonlog")) {
            return Err(sql_err!(INVALID_PARAMETER_VALUE, "log format \"{unknown}\" is not supported")
                .hint("The supported log formats are \"stderr\", \"csvlog\", and \"jsonlog\"."));
        }
        let file = self.instance().control()?.log_file(format);
        Ok(file.map_or(Datum::Null, |file| Datum::text(&file)))
    }

    fn current_setting(&self, args: &[Datum]) -> SqlResult<Datum> {
        let missing_ok = args.len() > 1 && arg(args, 1);
        match self.shown_setting(arg(args, 0)) {
            Ok(value) => Ok(Datum::text(&value)),
            Err(error) if missing_ok && error.code() == SqlState::UNDEFINED_OBJECT => Ok(Datum::Null),
            Err(error) => Err(error),
        }
    }

    /// `set_config(name, value, local)`; a NULL value is the default.
    fn set_config(&self, args: &[Datum]) -> SqlResult<Datum> {
        let name: Option<&str> = arg(args, 0);
        let Some(name) = name else {
            return Err(sql_err!(NULL_VALUE_NOT_ALLOWED, "SET requires parameter name"));
        };
        let local = arg::<Option<bool>>(args, 2).unwrap_or(false);
        self.change_setting(name, arg(args, 1), local)?;
        Ok(Datum::text(&self.settings.borrow().show(name)?))
    }
}

fn setting_row(row: SettingRow) -> Row {
    let text = |t: &str| Datum::text(t);
    let maybe = |t: Option<&str>| t.map_or(Datum::Null, Datum::text);
    vec![
        text(&row.name),
        text(&row.setting),
        maybe(row.unit),
        text(row.category),
        text(row.short_desc),
        maybe(row.extra_desc.as_deref()),
        text(row.context),
        text(row.vartype),
        text(row.source),
        maybe(row.min_val.as_deref()),
        maybe(row.max_val.as_deref()),
        row.enumvals.map_or(Datum::Null, |words| types::array::from_texts(words.iter().map(|w| Some(*w)))),
        maybe(row.boot_val.as_deref()),
        maybe(row.reset_val.as_deref()),
        maybe(row.sourcefile.as_deref()),
        row.sourceline.map_or(Datum::Null, |line| Datum::Int4(line as i32)),
        Datum::Bool(row.pending_restart),
    ]
}

fn file_setting_row(at: usize, row: FileSetting) -> Row {
    let (name, value) = row.item.unzip();
    let maybe = |text: Option<String>| text.map_or(Datum::Null, |text| Datum::text(&text));
    vec![
        Datum::text(&row.file),
        Datum::Int4(row.line as i32),
        Datum::Int4(at as i32 + 1),
        maybe(name),
        maybe(value),
        Datum::Bool(row.applied),
        maybe(row.error),
    ]
}

/// The flags of a setting as PostgreSQL names them; NULL for one that does not exist.
fn setting_flags(name: &str) -> Datum {
    let Some(setting) = Setting::find(name) else { return Datum::Null };
    let d = setting.definition();
    let flags = [
        (d.in_explain, "EXPLAIN"),
        (d.is_hidden, "NO_SHOW_ALL"),
        (d.no_reset, "NO_RESET"),
        (d.no_reset, "NO_RESET_ALL"),
        (d.is_not_in_sample, "NOT_IN_SAMPLE"),
        (d.is_computed, "RUNTIME_COMPUTED"),
    ];
    types::array::from_texts(flags.iter().filter(|(on, _)| *on).map(|(_, name)| Some(*name)))
}
