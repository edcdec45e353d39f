//! # What
//! Parsers, dictionaries and configurations of text search, as the catalogs have them: what is named, and what it does.
//!
//! Dictionaries and configurations are kept with what else the sessions of a database share of its catalogs, until one of them changes; a session
//! remembers those that it has used.
//!
//! # PostgreSQL counterpart and differences
//! `ts_cache.c`. The files of dictionaries are in the folder `tsearch_data` of the data directory; the stop words of languages need not be there.

use std::cell::RefCell;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use base::settings::Setting;
use base::{Oid, SqlError, SqlResult, sql_err};
use catalog::system::{pg_proc, pg_ts_config, pg_ts_dict, pg_ts_parser, pg_ts_template};
use catalog::{CatalogView, Reader, Row, RowExt};
use rustc_hash::FxHashMap;
use textsearch::builtin;
use textsearch::configuration::{Asked, Configuration};
use textsearch::dictionary::lines::File;
use textsearch::dictionary::options::{self, Parameter};
use textsearch::dictionary::{self, Dictionary, World};
use textsearch::parser::{KINDS, Kind};
use types::call::RegKind;

use crate::Session;

/// The folder of dictionaries' files in the data directory.
const FOLDER: &str = "tsearch_data";

/// The functions of the default parser that give tokens, and their kinds.
const TOKENS: Oid = Oid(3718);
const LEXTYPES: Oid = Oid(3721);

/// What a session remembers.
#[derive(Default)]
pub(crate) struct Known {
    /// What the catalogs were like: the generation of what is shared, and of the transaction's own changes.
    versions: (u64, u64),
    configurations: FxHashMap<Oid, Arc<Configuration>>,
    /// The setting, the search path and the configuration that is meant where none is named.
    default: Option<(String, Vec<Oid>, Oid)>,
}

/// What sessions remember.
pub(crate) type Remembered = RefCell<Known>;

fn missing(what: &str, oid: Oid) -> SqlError {
    SqlError::internal(format!("cache lookup failed for text search {what} {oid}"))
}

impl Session {
    /// Lets go of what was remembered of other catalogs.
    fn remembered<T>(&self, look: impl FnOnce(&mut Known) -> T) -> T {
        let versions = (self.catalog.generation(), self.names.changes_version(&self.catalog));
        let mut known = self.text_search.borrow_mut();
        if known.versions != versions {
            *known = Known { versions, ..Known::default() };
        }
        look(&mut known)
    }

    /// The configuration with this OID.
    pub fn text_search_of(&self, oid: Oid) -> SqlResult<Arc<Configuration>> {
        if let Some(known) = self.remembered(|known| known.configurations.get(&oid).cloned()) {
            return Ok(known);
        }
        // What is read from now on is at least as new as these catalogs.
        let versions = self.text_search.borrow().versions;
        let found = self.with_reader(|reader| {
            reader.text_search_configuration(oid, || make_configuration(self, reader, oid))
        })?;
        self.remembered(|known| {
            if known.versions == versions {
                known.configurations.insert(oid, found.clone());
            }
        });
        Ok(found)
    }

    /// The default configuration.
    pub(crate) fn default_text_search(&self) -> SqlResult<Oid> {
        let path = self.with_reader(|reader| CatalogView::search_path(reader))?;
        let known = self.remembered(|known| {
            let settings = self.settings.borrow();
            let (text, known_path, oid) = known.default.as_ref()?;
            let same = text == settings.text(Setting::default_text_search_config) && *known_path == path;
            same.then_some(*oid)
        });
        if let Some(known) = known {
            return Ok(known);
        }
        let versions = self.text_search.borrow().versions;
        let text = self.settings.borrow().text(Setting::default_text_search_config).to_owned();
        let oid = types::Session::reg_lookup(self, RegKind::Config, &text)?;
        self.remembered(|known| {
            if known.versions == versions {
                known.default = Some((text, path, oid));
            }
        });
        Ok(oid)
    }

    /// The dictionary with this OID.
    pub fn dictionary_of(&self, oid: Oid) -> SqlResult<Arc<dyn Dictionary>> {
        self.with_reader(|reader| dictionary(self, reader, oid))
    }

    /// A value of `default_text_search_config`: the configuration with its schema.
    pub(crate) fn checked_text_search(&self, text: &str) -> SqlResult<String> {
        let oid = types::Session::reg_lookup(self, RegKind::Config, text).map_err(|_| {
            let name = Setting::default_text_search_config.name();
            sql_err!(INVALID_PARAMETER_VALUE, "invalid value for parameter \"{name}\": \"{text}\"")
        })?;
        let key = [oid.into()];
        self.with_reader(|reader| {
            use pg_ts_config::*;
            let row = reader.find_one(&TABLE, PG_TS_CONFIG_OID_INDEX, &key)?;
            let (_, row) = row.ok_or_else(|| missing("configuration", oid))?;
            let schema = CatalogView::schema_name(reader, row.oid(CFGNAMESPACE))?.unwrap_or_default();
            let quote = types::text::quote_identifier;
            Ok(format!("{}.{}", quote(&schema), quote(row.str(CFGNAME))))
        })
    }
}

/// A row by its OID.
fn by_oid(
    reader: &Reader<'_>,
    (shape, index): (&'static catalog::system::SystemTable, Oid),
    what: &str,
    oid: Oid,
) -> SqlResult<Row> {
    let row = reader.find_one(shape, index, &[oid.into()])?;
    row.map(|(_, row)| row).ok_or_else(|| missing(what, oid))
}

fn make_configuration(session: &Session, reader: &Reader<'_>, oid: Oid) -> SqlResult<Configuration> {
    let catalog = (&pg_ts_config::TABLE, pg_ts_config::PG_TS_CONFIG_OID_INDEX);
    let row = by_oid(reader, catalog, "configuration", oid)?;
    check_parser(reader, row.oid(pg_ts_config::CFGPARSER))?;
    let mut made = Configuration::default();
    for mapping in reader.text_search_mappings(oid)? {
        let Some(kind) = Kind::of(mapping.kind) else { continue };
        let ask = |oid: &Oid| Ok(Asked { oid: oid.0, dictionary: dictionary(session, reader, *oid)? });
        made.ask(kind, mapping.dictionaries.iter().map(ask).collect::<SqlResult<_>>()?);
    }
    Ok(made)
}

fn dictionary(session: &Session, reader: &Reader<'_>, oid: Oid) -> SqlResult<Arc<dyn Dictionary>> {
    reader.text_search_dictionary(oid, || {
        use pg_ts_dict as d;
        let row = by_oid(reader, (&d::TABLE, d::PG_TS_DICT_OID_INDEX), "dictionary", oid)?;
        let given = row.opt_str(d::DICTINITOPTION).unwrap_or_default();
        // Those of languages are the same in all databases, unless they have been altered.
        if let Some(made) = builtin::dictionary(oid.0)
            && given == builtin::options_of(oid.0)
        {
            return Ok(made);
        }
        make(session, reader, row.oid(d::DICTTEMPLATE), &options::parse(given)?)
    })
}

/// A dictionary of a template with these parameters.
///
/// # Errors
/// The template does not take them; a file is missing or bad.
pub fn make_dictionary(
    session: &Session,
    template: Oid,
    parameters: &[Parameter],
) -> SqlResult<Arc<dyn Dictionary>> {
    session.with_reader(|reader| make(session, reader, template, parameters))
}

fn make(
    session: &Session,
    reader: &Reader<'_>,
    template: Oid,
    parameters: &[Parameter],
) -> SqlResult<Arc<dyn Dictionary>> {
    use pg_ts_template as t;
    let row = by_oid(reader, (&t::TABLE, t::PG_TS_TEMPLATE_OID_INDEX), "template", template)?;
    let world = Files { session, reader };
    if let Some(template) = builtin::template(row.oid(t::TMPLLEXIZE).0) {
        return dictionary::make(template, parameters, &world);
    }
    let key = [row.oid(t::TMPLLEXIZE).into()];
    let function = reader.find_one(&pg_proc::TABLE, pg_proc::PG_PROC_OID_INDEX, &key)?;
    if let Some((_, function)) = &function
        && let Some(library) = function.opt_str(pg_proc::PROBIN)
        && let Some(make) = session.instance.modules.template(library, function.str(pg_proc::PROSRC))
    {
        return make(parameters, &world);
    }
    Err(SqlError::not_supported(format!("text search template \"{}\"", row.str(t::TMPLNAME))))
}

/// The files of dictionaries, and other dictionaries.
struct Files<'s> {
    session: &'s Session,
    reader: &'s Reader<'s>,
}

impl Files<'_> {
    fn place(&self, file: &File<'_>) -> PathBuf {
        let name = format!("{}.{}", file.name, file.extension);
        self.session.engine().dir().join(FOLDER).join(name)
    }
}

impl World for Files<'_> {
    fn read(&self, file: &File<'_>) -> SqlResult<io::Result<String>> {
        let read = runtime::fs::read_to_vec(&self.place(file));
        Ok(match (read, builtin::file(file)) {
            (Ok(bytes), _) => {
                let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
                Ok(types::encoding::text_of(bytes)?.into_owned())
            }
            (Err(error), Some(text)) if error.kind() == io::ErrorKind::NotFound => Ok(text.to_owned()),
            (Err(error), _) => Err(error),
        })
    }

    fn path(&self, file: &File<'_>) -> String {
        self.place(file).display().to_string()
    }

    fn dictionary(&self, name: &str) -> SqlResult<Arc<dyn Dictionary>> {
        let oid = types::Session::reg_lookup(self.session, RegKind::Dictionary, name)?;
        runtime::check_stack()?;
        dictionary(self.session, self.reader, oid)
    }
}

/// Refuses a parser that is not the default one under whatever name.
fn check_parser(reader: &Reader<'_>, oid: Oid) -> SqlResult<()> {
    use pg_ts_parser as p;
    let row = by_oid(reader, (&p::TABLE, p::PG_TS_PARSER_OID_INDEX), "parser", oid)?;
    match row.oid(p::PRSTOKEN) == TOKENS && row.oid(p::PRSLEXTYPE) == LEXTYPES {
        true => Ok(()),
        false => {
            let name = row.str(p::PRSNAME);
            Err(SqlError::not_supported(format!("text search parser \"{name}\"")))
        }
    }
}

/// The kinds of tokens of a parser, with name and description.
///
/// # Errors
/// There is no such parser, or it cannot be carried out.
pub fn kinds(session: &Session, parser: Oid) -> SqlResult<&'static [(Kind, &'static str, &'static str)]> {
    session.with_reader(|reader| check_parser(reader, parser))?;
    Ok(&KINDS)
}
