//! CREATE DATABASE.

use base::{Oid, SqlResult, sql_err};
use catalog::system::pg_database as d;
use catalog::{Row, RowExt};
use parse::ast::{DefElem, RoleSpec};
use session::Session;
use tuple::Datum;
use txn::LockMode;

use super::locale::Locale;
use super::options::Options;
use super::{check_creator, exists, find, open, tablespace, wait_for_others};
use crate::{names, schema};

/// CREATE DATABASE.
pub(crate) fn create(session: &Session, name: &str, list: &[DefElem], text: &str) -> SqlResult<()> {
    let options = Options::read(session, list, text)?;
    let owner = match &options.owner {
        Some(owner) => schema::role(session, &RoleSpec::Name(owner.clone(), Default::default()))?.0,
        None => session.names.user(),
    };
    check_creator(session, "create")?;
    names::check_may_become(session, owner)?;
    let template = template(session, options.template.as_deref().unwrap_or("template1"))?;
    let strategy = options.strategy()?;
    let locale = Locale::of_new(session, &template, &options)?;
    let from = template.oid(d::OID);
    let home = home(session, &template, options.tablespace.as_deref())?;
    if find(session, name)?.is_some() {
        return Err(exists(name));
    }
    wait_for_others(session, from, || {
        format!("source database \"{}\" is being accessed by other users", template.str(d::DATNAME))
    })?;
    let oid = new_oid(session, options.oid)?;
    session.with_changer(|changer| {
        changer
            .create_database(&template, oid, |row| set_columns(row, (name, owner, home), &options, &locale))
    })?;
    let engine = session.instance.engine().clone();
    let mut txn = session.txn.borrow_mut();
    Ok(engine.create_database(&mut txn, (oid, home), from, strategy)?)
}

/// The own tablespace of the new database: the one that is named, or the template's. Nobody drops one meanwhile that it will have files in.
fn home(session: &Session, template: &Row, name: Option<&str>) -> SqlResult<Oid> {
    let (from, old) = (template.oid(d::OID), template.oid(d::DATTABLESPACE));
    let home = name.map_or(Ok(old), |name| tablespace(session, name))?;
    let spaces = session.engine().tablespaces_of_database(from)?;
    if home != old && spaces.contains(&home) {
        let name = crate::tablespace::name_of(session, home)?;
        let error = sql_err!(FEATURE_NOT_SUPPORTED, "cannot assign new default tablespace \"{name}\"");
        return Err(error.detail(format!(
            "There is a conflict because database \"{}\" already has some tables in this tablespace.",
            template.str(d::DATNAME)
        )));
    }
    spaces.into_iter().chain([home]).try_for_each(|space| crate::tablespace::keep(session, space))?;
    Ok(home)
}

/// The database to copy, which the current user may copy. Nobody enters it from now on.
fn template(session: &Session, name: &str) -> SqlResult<Row> {
    let row = open(session, name, LockMode::Share)?;
    let row =
        row.ok_or_else(|| sql_err!(UNDEFINED_DATABASE, "template database \"{name}\" does not exist"))?;
    if !row.bool(d::DATISTEMPLATE) && !names::owns(session, row.oid(d::DATDBA))? {
        return Err(sql_err!(INSUFFICIENT_PRIVILEGE, "permission denied to copy database \"{name}\""));
    }
    Ok(row)
}

fn set_columns(row: &mut Row, (name, owner, home): (&str, Oid, Oid), options: &Options, locale: &Locale) {
    let text = |text: &Option<String>| text.as_deref().map_or(Datum::Null, Datum::text);
    row[d::DATNAME] = Datum::text(name);
    row[d::DATDBA] = owner.into();
    row[d::DATTABLESPACE] = home.into();
    row[d::ENCODING] = locale.encoding.into();
    row[d::DATLOCPROVIDER] = Datum::Char(locale.provider);
    row[d::DATISTEMPLATE] = options.is_template.unwrap_or(false).into();
    row[d::DATALLOWCONN] = options.allow_connections.unwrap_or(true).into();
    row[d::DATCONNLIMIT] = options.connection_limit.unwrap_or(-1).into();
    row[d::DATCOLLATE] = Datum::text(&locale.collate);
    row[d::DATCTYPE] = Datum::text(&locale.ctype);
    row[d::DATLOCALE] = text(&locale.locale);
    row[d::DATICURULES] = Datum::Null;
    row[d::DATCOLLVERSION] = text(&locale.version);
}

/// The OID that was asked for, or a new one; no database has it, nor a folder.
fn new_oid(session: &Session, wanted: Option<Oid>) -> SqlResult<Oid> {
    let known = |oid: Oid| session.with_reader(|reader| reader.database_by_oid(oid));
    if let Some(oid) = wanted {
        if let Some(other) = known(oid)? {
            return Err(sql_err!(
                INVALID_PARAMETER_VALUE,
                "database OID {oid} is already in use by database \"{}\"",
                other.name
            ));
        }
        if session.engine().has_database_folder(oid)? {
            return Err(sql_err!(
                INVALID_PARAMETER_VALUE,
                "data directory with the specified OID {oid} already exists"
            ));
        }
        return Ok(oid);
    }
    loop {
        let oid = session.engine().next_oid();
        if known(oid)?.is_none() && !session.engine().has_database_folder(oid)? {
            return Ok(oid);
        }
    }
}
