//! What text search is made of: parsers, templates, dictionaries, configurations and their mappings (`pg_ts_*`).

use std::sync::Arc;

use base::{Oid, SqlResult};
use textsearch::configuration::Configuration;
use textsearch::dictionary::Dictionary;

use super::{Changer, Dependency, ObjectAddress};
use crate::cache::Entries;
use crate::database::Reader;
use crate::row::{Row, RowBuilder, RowExt};
use crate::system::{
    SystemTable, pg_depend, pg_ts_config as c, pg_ts_config_map as m, pg_ts_dict as d, pg_ts_parser as p,
    pg_ts_template as t,
};

/// The name of what is to be made, and where.
#[derive(Clone, Debug)]
pub struct NewName {
    /// Name.
    pub name: String,
    /// Schema.
    pub schema: Oid,
}

/// The dictionaries that a configuration asks about a kind of tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// Number of the kind.
    pub kind: i32,
    /// In the order in which they are asked.
    pub dictionaries: Vec<Oid>,
}

impl ObjectAddress {
    /// A text search parser.
    pub fn text_search_parser(oid: Oid) -> ObjectAddress {
        ObjectAddress { class: p::TABLE.oid, object: oid, sub: 0 }
    }

    /// A text search template.
    pub fn text_search_template(oid: Oid) -> ObjectAddress {
        ObjectAddress { class: t::TABLE.oid, object: oid, sub: 0 }
    }

    /// A text search dictionary.
    pub fn text_search_dictionary(oid: Oid) -> ObjectAddress {
        ObjectAddress { class: d::TABLE.oid, object: oid, sub: 0 }
    }

    /// A text search configuration.
    pub fn text_search_configuration(oid: Oid) -> ObjectAddress {
        ObjectAddress { class: c::TABLE.oid, object: oid, sub: 0 }
    }
}

impl Changer<'_> {
    /// Enters a parser. `functions`: start, token, end, headline (or none), kinds of tokens.
    pub fn create_text_search_parser(&mut self, new: &NewName, functions: [Oid; 5]) -> SqlResult<()> {
        let oid = self.new_oid();
        let [start, token, end, headline, kinds] = functions;
        let row = RowBuilder::new(&p::TABLE)
            .set(p::OID, oid)
            .set(p::PRSNAME, &*new.name)
            .set(p::PRSNAMESPACE, new.schema)
            .set(p::PRSSTART, start)
            .set(p::PRSTOKEN, token)
            .set(p::PRSEND, end)
            .set(p::PRSHEADLINE, headline)
            .set(p::PRSLEXTYPE, kinds);
        self.insert(&p::TABLE, &row.build())?;
        self.made_of_functions(ObjectAddress::text_search_parser(oid), new.schema, &functions)
    }

    /// Enters a template. `functions`: the one that takes parameters (or none), the one that looks words up.
    pub fn create_text_search_template(&mut self, new: &NewName, functions: [Oid; 2]) -> SqlResult<()> {
        let oid = self.new_oid();
        let row = RowBuilder::new(&t::TABLE)
            .set(t::OID, oid)
            .set(t::TMPLNAME, &*new.name)
            .set(t::TMPLNAMESPACE, new.schema)
            .set(t::TMPLINIT, functions[0])
            .set(t::TMPLLEXIZE, functions[1]);
        self.insert(&t::TABLE, &row.build())?;
        self.made_of_functions(ObjectAddress::text_search_template(oid), new.schema, &functions)
    }

    fn made_of_functions(&mut self, me: ObjectAddress, schema: Oid, functions: &[Oid]) -> SqlResult<()> {
        self.depend(me, ObjectAddress::schema(schema), Dependency::Normal)?;
        let functions = functions.iter().filter(|function| function.is_valid());
        self.depend_on_all(me, functions.map(|function| ObjectAddress::routine(*function)))?;
        self.join_extension(me)?;
        self.next_command()
    }

    /// Enters a dictionary of a template. `options`: its parameters as a text, if there are any.
    pub fn create_text_search_dictionary(
        &mut self,
        new: &NewName,
        (owner, template): (Oid, Oid),
        options: Option<&str>,
    ) -> SqlResult<()> {
        let oid = self.new_oid();
        let row = RowBuilder::new(&d::TABLE)
            .set(d::OID, oid)
            .set(d::DICTNAME, &*new.name)
            .set(d::DICTNAMESPACE, new.schema)
            .set(d::DICTOWNER, owner)
            .set(d::DICTTEMPLATE, template)
            .set_some(d::DICTINITOPTION, options);
        self.insert(&d::TABLE, &row.build())?;
        let me = ObjectAddress::text_search_dictionary(oid);
        self.depend(me, ObjectAddress::schema(new.schema), Dependency::Normal)?;
        self.depend(me, ObjectAddress::text_search_template(template), Dependency::Normal)?;
        self.depend_on_owner(me, owner)?;
        self.join_extension(me)?;
        self.next_command()
    }

    /// Gives a dictionary other parameters. Its row is rewritten even if they are the same: sessions read its files again.
    pub fn set_text_search_options(&mut self, dictionary: Oid, options: Option<&str>) -> SqlResult<()> {
        let found = self.reader().find_one(&d::TABLE, d::PG_TS_DICT_OID_INDEX, &[dictionary.into()])?;
        if let Some((place, old)) = found {
            let mut row = old.clone();
            row[d::DICTINITOPTION] = options.map_or(tuple::Datum::Null, tuple::Datum::text);
            self.update(&d::TABLE, place, &old, &row)?;
        }
        self.next_command()
    }

    /// Enters a configuration.
    pub fn create_text_search_configuration(
        &mut self,
        new: &NewName,
        (owner, parser): (Oid, Oid),
        mappings: &[Mapping],
    ) -> SqlResult<()> {
        let oid = self.new_oid();
        let row = RowBuilder::new(&c::TABLE)
            .set(c::OID, oid)
            .set(c::CFGNAME, &*new.name)
            .set(c::CFGNAMESPACE, new.schema)
            .set(c::CFGOWNER, owner)
            .set(c::CFGPARSER, parser);
        self.insert(&c::TABLE, &row.build())?;
        let me = ObjectAddress::text_search_configuration(oid);
        self.depend(me, ObjectAddress::schema(new.schema), Dependency::Normal)?;
        self.depend(me, ObjectAddress::text_search_parser(parser), Dependency::Normal)?;
        self.depend_on_owner(me, owner)?;
        self.join_extension(me)?;
        self.add_mappings(oid, mappings)?;
        self.next_command()
    }

    fn add_mappings(&mut self, configuration: Oid, mappings: &[Mapping]) -> SqlResult<()> {
        for Mapping { kind, dictionaries } in mappings {
            for (number, dictionary) in dictionaries.iter().enumerate() {
                let row = RowBuilder::new(&m::TABLE)
                    .set(m::MAPCFG, configuration)
                    .set(m::MAPTOKENTYPE, *kind)
                    .set(m::MAPSEQNO, number as i32 + 1)
                    .set(m::MAPDICT, *dictionary);
                self.insert(&m::TABLE, &row.build())?;
            }
        }
        let all = mappings.iter().flat_map(|mapping| &mapping.dictionaries);
        let needs = all.map(|dictionary| ObjectAddress::text_search_dictionary(*dictionary));
        self.depend_on_all(ObjectAddress::text_search_configuration(configuration), needs)
    }

    /// Gives a configuration other mappings, all of them.
    pub fn set_text_search_mappings(&mut self, configuration: Oid, mappings: &[Mapping]) -> SqlResult<()> {
        self.drop_mappings(configuration)?;
        let me = ObjectAddress::text_search_configuration(configuration);
        let key = [me.class.into(), me.object.into()];
        self.delete_where(&pg_depend::TABLE, pg_depend::PG_DEPEND_DEPENDER_INDEX, &key, |row| {
            row.oid(pg_depend::REFCLASSID) == d::TABLE.oid
        })?;
        self.add_mappings(configuration, mappings)?;
        self.next_command()
    }

    /// Removes the mappings of a configuration.
    pub(super) fn drop_mappings(&mut self, configuration: Oid) -> SqlResult<()> {
        self.delete_where(&m::TABLE, m::PG_TS_CONFIG_MAP_INDEX, &[configuration.into()], |_| true)?;
        Ok(())
    }
}

/// Where an object of text search is found by its name and schema.
fn by_name(shape: &SystemTable) -> Oid {
    match shape.oid {
        oid if oid == c::TABLE.oid => c::PG_TS_CONFIG_CFGNAME_INDEX,
        oid if oid == d::TABLE.oid => d::PG_TS_DICT_DICTNAME_INDEX,
        oid if oid == p::TABLE.oid => p::PG_TS_PARSER_PRSNAME_INDEX,
        _ => t::PG_TS_TEMPLATE_TMPLNAME_INDEX,
    }
}

impl Reader<'_> {
    /// The object of one of the catalogs `pg_ts_config`, `pg_ts_dict`, `pg_ts_parser` and `pg_ts_template` with this name in a schema.
    pub fn text_search_row(
        &self,
        shape: &'static SystemTable,
        name: &str,
        schema: Oid,
    ) -> SqlResult<Option<Row>> {
        let row = self.find_one(shape, by_name(shape), &[name.into(), schema.into()])?;
        Ok(row.map(|(_, row)| row))
    }

    /// What a dictionary does, as sessions share it; `make` makes it.
    pub fn text_search_dictionary(
        &self,
        oid: Oid,
        make: impl Fn() -> SqlResult<Arc<dyn Dictionary>>,
    ) -> SqlResult<Arc<dyn Dictionary>> {
        let put = |e: &mut Entries, made| {
            e.dictionaries.insert(oid, made);
        };
        self.cached(|e| e.dictionaries.get(&oid).cloned(), make, put)
    }

    /// What a configuration does, likewise.
    pub fn text_search_configuration(
        &self,
        oid: Oid,
        make: impl Fn() -> SqlResult<Configuration>,
    ) -> SqlResult<Arc<Configuration>> {
        let put = |e: &mut Entries, made| {
            e.configurations.insert(oid, made);
        };
        self.cached(|e| e.configurations.get(&oid).cloned(), || make().map(Arc::new), put)
    }

    /// The mappings of a configuration, by kind of tokens.
    pub fn text_search_mappings(&self, configuration: Oid) -> SqlResult<Vec<Mapping>> {
        let mut rows = self.find(&m::TABLE, m::PG_TS_CONFIG_MAP_INDEX, &[configuration.into()])?;
        rows.sort_by_key(|(_, row)| (row.int(m::MAPTOKENTYPE), row.int(m::MAPSEQNO)));
        let mut mappings: Vec<Mapping> = Vec::new();
        for (_, row) in rows {
            let (kind, dictionary) = (row.int(m::MAPTOKENTYPE), row.oid(m::MAPDICT));
            match mappings.last_mut() {
                Some(last) if last.kind == kind => last.dictionaries.push(dictionary),
                _ => mappings.push(Mapping { kind, dictionaries: vec![dictionary] }),
            }
        }
        Ok(mappings)
    }
}
