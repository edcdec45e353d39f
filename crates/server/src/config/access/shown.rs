//! The lines of both files, as views show them.

use std::path::Path;

use base::settings::{ServerSettings, Setting};
use base::{Severity, SqlError, SqlResult};
use session::{AccessFiles, AccessRule, UserMapping};

use super::{Address, Kind, Line, Rule, Word, ident};

/// The files as they are now.
pub struct Files;

impl AccessFiles for Files {
    fn rules(&self, settings: &ServerSettings) -> SqlResult<Vec<AccessRule>> {
        let path = Path::new(settings.text(Setting::hba_file));
        let lines = super::lines(path, settings.bool(Setting::ssl)).map_err(error)?;
        let mut last = 0;
        let mut shown = |(line, rule): (Line, Result<(Rule, Option<SqlError>), SqlError>)| {
            let place =
                AccessRule { file: line.file.to_string(), line: line.number as i32, ..AccessRule::default() };
            match rule {
                Err(flaw) => AccessRule { error: Some(flaw.message().into()), ..place },
                Ok((rule, oddity)) => {
                    let error = oddity.map(|oddity| oddity.message().to_string());
                    last += i32::from(error.is_none());
                    AccessRule { number: error.is_none().then_some(last), error, ..shown_rule(&rule, place) }
                }
            }
        };
        Ok(lines.into_iter().map(&mut shown).collect())
    }

    fn mappings(&self, settings: &ServerSettings) -> SqlResult<Vec<UserMapping>> {
        let path = Path::new(settings.text(Setting::ident_file));
        let mut last = 0;
        let shown = |(line, mapping): (Line, Result<ident::Mapping, SqlError>)| {
            let place = UserMapping {
                file: line.file.to_string(),
                line: line.number as i32,
                ..UserMapping::default()
            };
            match mapping {
                Err(flaw) => UserMapping { error: Some(flaw.message().into()), ..place },
                Ok(mapping) => {
                    last += 1;
                    UserMapping {
                        number: Some(last),
                        map: Some(mapping.map),
                        system_user: Some(mapping.system_user.text),
                        role: Some(mapping.role.text),
                        ..place
                    }
                }
            }
        };
        Ok(ident::lines(path).map_err(error)?.into_iter().map(shown).collect())
    }
}

/// A flaw of the file as the error of a statement.
fn error(mut flaw: SqlError) -> SqlError {
    flaw.report_mut().severity = Severity::Error;
    flaw
}

fn shown_rule(rule: &Rule, place: AccessRule) -> AccessRule {
    let texts = |words: &[Word]| words.iter().map(|word| word.text.clone()).collect();
    let (address, netmask) = match &rule.address {
        _ if rule.kind == Kind::Local => (None, None),
        Address::All => (Some("all".to_string()), None),
        Address::SameHost => (Some("samehost".into()), None),
        Address::SameNet => (Some("samenet".into()), None),
        Address::Network(network, mask) => (Some(network.to_string()), Some(mask.to_string())),
        Address::Host(name) => (Some(name.clone()), None),
    };
    AccessRule {
        kind: Some(rule.kind.as_str()),
        databases: texts(&rule.databases),
        users: texts(&rule.users),
        address,
        netmask,
        method: Some(rule.method.as_str()),
        options: rule.options(),
        ..place
    }
}
