//! # What
//! `WITH (...)` of tables and indexes: which parameters there are, and what they may be.
//!
//! # PostgreSQL counterpart
//! `access/common/reloptions.c`.

use base::{SqlResult, sql_err};
use index::{Facts, OptionKind};
use parse::ast::DefElem;
use tuple::options::{ClassOption, ClassOptionKind};

use super::options;

/// What a parameter may be.
#[derive(Clone, Copy)]
enum Kind {
    Bool,
    Int(i64, i64),
    /// As `Int`, multiples of the last.
    Multiple(i64, i64, i64),
    Real(f64, f64),
    /// One of these words; how an error lists them.
    Enum(&'static [&'static str], &'static str),
}

/// What the parameters are of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Target {
    /// A table.
    Table,
    /// Its TOAST table (`toast.` in front).
    Toast,
    /// An index of an access method.
    Index(&'static Facts),
    /// A view.
    View,
    /// A column.
    Column,
    /// A tablespace.
    Tablespace,
    /// An operator class, which takes these.
    Class(&'static [ClassOption]),
}

const MAX_INT: i64 = i32::MAX as i64;

/// Parameters of tables; those of autovacuum are TOAST tables' too.
const TABLE: &[(&str, Kind)] = &[
    ("fillfactor", Kind::Int(10, 100)),
    ("toast_tuple_target", Kind::Int(128, 8160)),
    ("parallel_workers", Kind::Int(0, 1024)),
    ("user_catalog_table", Kind::Bool),
];

const VACUUM: &[(&str, Kind)] = &[
    ("autovacuum_enabled", Kind::Bool),
    ("autovacuum_vacuum_threshold", Kind::Int(0, MAX_INT)),
    ("autovacuum_vacuum_max_threshold", Kind::Int(-1, MAX_INT)),
    ("autovacuum_vacuum_insert_threshold", Kind::Int(-1, MAX_INT)),
    ("autovacuum_analyze_threshold", Kind::Int(0, MAX_INT)),
    ("autovacuum_vacuum_cost_limit", Kind::Int(1, 10_000)),
    ("autovacuum_vacuum_cost_delay", Kind::Real(0.0, 100.0)),
    ("autovacuum_vacuum_scale_factor", Kind::Real(0.0, 100.0)),
    ("autovacuum_vacuum_insert_scale_factor", Kind::Real(0.0, 100.0)),
    ("autovacuum_analyze_scale_factor", Kind::Real(0.0, 100.0)),
    ("autovacuum_freeze_min_age", Kind::Int(0, 1_000_000_000)),
    ("autovacuum_freeze_max_age", Kind::Int(100_000, 2_000_000_000)),
    ("autovacuum_freeze_table_age", Kind::Int(0, 2_000_000_000)),
    ("autovacuum_multixact_freeze_min_age", Kind::Int(0, 1_000_000_000)),
    ("autovacuum_multixact_freeze_max_age", Kind::Int(10_000, 2_000_000_000)),
    ("autovacuum_multixact_freeze_table_age", Kind::Int(0, 2_000_000_000)),
    ("log_autovacuum_min_duration", Kind::Int(-1, MAX_INT)),
    (
        "vacuum_index_cleanup",
        Kind::Enum(
            &["auto", "on", "off", "true", "false", "yes", "no", "1", "0"],
            "Valid values are \"on\", \"off\", and \"auto\".",
        ),
    ),
    ("vacuum_truncate", Kind::Bool),
    ("vacuum_max_eager_freeze_failure_rate", Kind::Real(0.0, 1.0)),
];

const VIEW: &[(&str, Kind)] = &[
    ("security_barrier", Kind::Bool),
    ("security_invoker", Kind::Bool),
    ("check_option", Kind::Enum(&["local", "cascaded"], "Valid values are \"local\" and \"cascaded\".")),
];

const COLUMN: &[(&str, Kind)] =
    &[("n_distinct", Kind::Real(-1.0, f64::MAX)), ("n_distinct_inherited", Kind::Real(-1.0, f64::MAX))];

const TABLESPACE: &[(&str, Kind)] = &[
    ("seq_page_cost", Kind::Real(0.0, f64::MAX)),
    ("random_page_cost", Kind::Real(0.0, f64::MAX)),
    ("effective_io_concurrency", Kind::Int(0, 1000)),
    ("maintenance_io_concurrency", Kind::Int(0, 1000)),
];

/// Whether a parameter changes what queries give, so that none may run while it is set.
pub(crate) fn changes_queries(name: &str) -> bool {
    VIEW.iter().any(|(known, _)| *known == name) || name == "user_catalog_table"
}

fn find(target: Target, name: &str) -> Option<Kind> {
    let lists: &[&[(&str, Kind)]] = match target {
        Target::Index(method) => {
            let option = method.options.iter().find(|option| option.name == name)?;
            return Some(match option.kind {
                OptionKind::Bool => Kind::Bool,
                OptionKind::Int(least, most) => Kind::Int(least, most),
                OptionKind::Enum(words, listed) => Kind::Enum(words, listed),
            });
        }
        Target::Class(known) => {
            let option = known.iter().find(|option| option.name == name)?;
            return Some(match option.kind {
                ClassOptionKind::Int { least, most, step: 1, .. } => Kind::Int(least, most),
                ClassOptionKind::Int { least, most, step, .. } => Kind::Multiple(least, most, step),
                ClassOptionKind::Real { least, most, .. } => Kind::Real(least, most),
            });
        }
        Target::Table => &[TABLE, VACUUM],
        Target::Toast => &[VACUUM],
        Target::View => &[VIEW],
        Target::Column => &[COLUMN],
        Target::Tablespace => &[TABLESPACE],
    };
    lists.iter().copied().flatten().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
}

/// Checks parameters and gives them as `name=value`, in the order written, without those of the TOAST table.
pub(crate) fn check(target: Target, list: &[DefElem]) -> SqlResult<Vec<String>> {
    checked(target, list, target)
}

/// As [`check`]; the parameters of a table's TOAST table.
pub(crate) fn of_toast(list: &[DefElem]) -> SqlResult<Vec<String>> {
    checked(Target::Table, list, Target::Toast)
}

fn checked(target: Target, list: &[DefElem], wanted: Target) -> SqlResult<Vec<String>> {
    let mut out: Vec<String> = Vec::with_capacity(list.len());
    for option in list {
        let target = match option.namespace.as_deref() {
            None if target == Target::Table && option.name == "oids" => {
                refuse_oids(option)?;
                continue;
            }
            None => target,
            Some("toast") if target == Target::Table => Target::Toast,
            Some(other) => {
                return Err(sql_err!(
                    INVALID_PARAMETER_VALUE,
                    "unrecognized parameter namespace \"{other}\""
                ));
            }
        };
        let value = match &option.value {
            None => "true".to_owned(),
            Some(_) => options::string(option)?,
        };
        check_one(target, &option.name, &value)?;
        if target != wanted {
            continue;
        }
        let prefix = format!("{}=", option.name);
        if out.iter().any(|entry| entry.starts_with(&prefix)) {
            return Err(sql_err!(
                INVALID_PARAMETER_VALUE,
                "parameter \"{}\" specified more than once",
                option.name
            ));
        }
        out.push(prefix + &value);
    }
    Ok(out)
}

/// WITH (oids), of old: only `false` is taken.
fn refuse_oids(option: &DefElem) -> SqlResult<()> {
    match option.value.is_some() && !options::boolean(option)? {
        true => Ok(()),
        false => Err(sql_err!(FEATURE_NOT_SUPPORTED, "tables declared WITH OIDS are not supported")),
    }
}

/// Checks the name of a parameter to be reset.
pub(crate) fn check_name(target: Target, name: &str) -> SqlResult<()> {
    match find(target, name) {
        Some(_) => Ok(()),
        None => Err(sql_err!(INVALID_PARAMETER_VALUE, "unrecognized parameter \"{name}\"")),
    }
}

fn check_one(target: Target, name: &str, value: &str) -> SqlResult<()> {
    check_name(target, name)?;
    let range = |value: &str, (min, max): (String, String)| {
        sql_err!(INVALID_PARAMETER_VALUE, "value {value} out of bounds for option \"{name}\"")
            .detail(format!("Valid values are between \"{min}\" and \"{max}\"."))
    };
    let whole = |(min, max): (i64, i64)| match value.trim().parse::<i64>() {
        Ok(n) if (min..=max).contains(&n) => Ok(n),
        Ok(_) => Err(range(value, (min.to_string(), max.to_string()))),
        Err(_) => {
            Err(sql_err!(INVALID_PARAMETER_VALUE, "invalid value for integer option \"{name}\": {value}"))
        }
    };
    match find(target, name) {
        Some(Kind::Bool) if base::settings::parse_bool(value).is_none() => {
            Err(sql_err!(INVALID_PARAMETER_VALUE, "invalid value for boolean option \"{name}\": {value}"))
        }
        Some(Kind::Int(min, max)) => whole((min, max)).map(drop),
        Some(Kind::Multiple(min, max, step)) => match whole((min, max))? % step {
            0 => Ok(()),
            _ => Err(sql_err!(INVALID_PARAMETER_VALUE, "{name} value must be a multiple of {step}")),
        },
        Some(Kind::Real(min, max)) => match value.trim().parse::<f64>() {
            Ok(n) if (min..=max).contains(&n) => Ok(()),
            Ok(_) => Err(range(value, (format!("{min:.6}"), format!("{max:.6}")))),
            Err(_) => Err(sql_err!(
                INVALID_PARAMETER_VALUE,
                "invalid value for floating point option \"{name}\": {value}"
            )),
        },
        Some(Kind::Enum(words, detail)) if !words.iter().any(|w| w.eq_ignore_ascii_case(value)) => {
            Err(sql_err!(INVALID_PARAMETER_VALUE, "invalid value for enum option \"{name}\": {value}")
                .detail(detail))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use parse::ast::OptionValue;

    use super::*;

    fn list(name: &str, value: OptionValue) -> Vec<DefElem> {
        vec![DefElem { namespace: None, name: name.into(), value: Some(value), location: Default::default() }]
    }

    #[test]
    fn fillfactor_has_bounds() {
        let read = |n| check(Target::Table, &list("fillfactor", OptionValue::Integer(n)));
        assert_eq!(read(70).unwrap(), ["fillfactor=70"]);
        let error = read(5).unwrap_err();
        assert_eq!(error.message(), "value 5 out of bounds for option \"fillfactor\"");
        assert_eq!(error.report().detail.as_deref(), Some("Valid values are between \"10\" and \"100\"."));
    }

    #[test]
    fn unknown_parameters_are_refused() {
        let error = check(
            Target::Index(engine::indexes::DEFAULT_METHOD),
            &list("toast_tuple_target", OptionValue::Integer(200)),
        )
        .unwrap_err();
        assert_eq!(error.message(), "unrecognized parameter \"toast_tuple_target\"");
    }

    #[test]
    fn twice_is_too_often() {
        let mut options = list("fillfactor", OptionValue::Integer(50));
        options.extend(list("fillfactor", OptionValue::Integer(60)));
        let error = check(Target::Table, &options).unwrap_err();
        assert_eq!(error.message(), "parameter \"fillfactor\" specified more than once");
    }
}
