//! `pg_hba_file_rules` and `pg_ident_file_mappings`: what the files say now, which need not be what is in force.

use base::SqlResult;
use tuple::Datum;
use types::SessionFn;

use super::Row;
use crate::{AccessRule, Session, UserMapping};

impl Session {
    pub(super) fn access_rows(&self, id: SessionFn) -> SqlResult<Option<Vec<Row>>> {
        let settings = self.instance.settings();
        Ok(Some(match id {
            SessionFn::PgHbaFileRules => {
                self.instance.access_files()?.rules(&settings)?.into_iter().map(rule_row).collect()
            }
            SessionFn::PgIdentFileMappings => {
                self.instance.access_files()?.mappings(&settings)?.into_iter().map(mapping_row).collect()
            }
            _ => return Ok(None),
        }))
    }
}

fn text(text: Option<&str>) -> Datum {
    text.map_or(Datum::Null, Datum::text)
}

fn number(number: Option<i32>) -> Datum {
    number.map_or(Datum::Null, Datum::Int4)
}

fn texts(texts: &[String]) -> Datum {
    match texts {
        [] => Datum::Null,
        texts => types::array::from_texts(texts.iter().map(|text| Some(text.as_str()))),
    }
}

fn rule_row(rule: AccessRule) -> Row {
    vec![
        number(rule.number),
        Datum::text(&rule.file),
        Datum::Int4(rule.line),
        text(rule.kind),
        texts(&rule.databases),
        texts(&rule.users),
        text(rule.address.as_deref()),
        text(rule.netmask.as_deref()),
        text(rule.method),
        texts(&rule.options),
        text(rule.error.as_deref()),
    ]
}

fn mapping_row(mapping: UserMapping) -> Row {
    vec![
        number(mapping.number),
        Datum::text(&mapping.file),
        Datum::Int4(mapping.line),
        text(mapping.map.as_deref()),
        text(mapping.system_user.as_deref()),
        text(mapping.role.as_deref()),
        text(mapping.error.as_deref()),
    ]
}
