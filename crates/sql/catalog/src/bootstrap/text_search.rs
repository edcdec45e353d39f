//! The default parser, the templates that have dictionaries, the dictionaries and configurations of all languages.

use base::Oid;
use textsearch::builtin as b;
use types::oids;

use super::{BOOTSTRAP_SUPERUSER, Rows, add, add_c_function};
use crate::database::PG_CATALOG;
use crate::row::RowBuilder;
use crate::system::{pg_proc, pg_ts_config, pg_ts_config_map, pg_ts_dict, pg_ts_parser, pg_ts_template};

/// The template `simple`.
const SIMPLE_TEMPLATE: u32 = 3727;

/// Adds the rows.
pub(super) fn describe(rows: &mut Rows) {
    add_parser(rows);
    for (oid, name, functions, ..) in b::TEMPLATES {
        if oid == b::SNOWBALL_TEMPLATE {
            add_snowball_functions(rows, functions);
        }
        add_template(rows, oid, name, functions);
    }
    add_dictionary(rows, b::SIMPLE_DICTIONARY, "simple", SIMPLE_TEMPLATE, None);
    add_configuration(rows, b::SIMPLE_CONFIGURATION, "simple");
    for (i, language) in b::LANGUAGES.iter().enumerate() {
        let name = format!("{}_stem", language.name);
        add_dictionary(rows, b::dictionary_oid(i), &name, b::SNOWBALL_TEMPLATE, Some(b::options(language)));
        add_configuration(rows, b::configuration_oid(i), language.name);
    }
}

/// What is said of all of them.
pub(super) fn comments() -> impl Iterator<Item = (Oid, Oid, String)> {
    let simple = "simple dictionary: just lower case and check for stopword";
    let others = [
        (pg_ts_parser::TABLE.oid, b::DEFAULT_PARSER, "default word parser"),
        (pg_ts_dict::TABLE.oid, b::SIMPLE_DICTIONARY, simple),
        (pg_ts_config::TABLE.oid, b::SIMPLE_CONFIGURATION, "simple configuration"),
    ];
    let templates = b::TEMPLATES.iter().map(|(oid, _, _, _, what)| (pg_ts_template::TABLE.oid, *oid, *what));
    let functions = (3717..=3721).map(|oid| (pg_proc::TABLE.oid, oid, "(internal)"));
    let others = others
        .into_iter()
        .chain(templates)
        .chain(functions)
        .map(|(class, oid, text)| (class, Oid(oid), text.to_owned()));
    let languages = b::LANGUAGES.iter().enumerate().flat_map(|(i, language)| {
        let name = language.name;
        [
            (
                pg_ts_dict::TABLE.oid,
                Oid(b::dictionary_oid(i)),
                format!("snowball stemmer for {name} language"),
            ),
            (
                pg_ts_config::TABLE.oid,
                Oid(b::configuration_oid(i)),
                format!("configuration for {name} language"),
            ),
        ]
    });
    others.chain(languages)
}

fn add_parser(rows: &mut Rows) {
    use pg_ts_parser as p;
    let row = RowBuilder::new(&p::TABLE)
        .set(p::OID, Oid(b::DEFAULT_PARSER))
        .set(p::PRSNAME, "default")
        .set(p::PRSNAMESPACE, PG_CATALOG)
        .set(p::PRSSTART, Oid(3717))
        .set(p::PRSTOKEN, Oid(3718))
        .set(p::PRSEND, Oid(3719))
        .set(p::PRSHEADLINE, Oid(3720))
        .set(p::PRSLEXTYPE, Oid(3721));
    add(rows, &p::TABLE, row.build());
}

fn add_template(rows: &mut Rows, oid: u32, name: &str, [init, lexize]: [u32; 2]) {
    use pg_ts_template as t;
    let row = RowBuilder::new(&t::TABLE)
        .set(t::OID, Oid(oid))
        .set(t::TMPLNAME, name)
        .set(t::TMPLNAMESPACE, PG_CATALOG)
        .set(t::TMPLINIT, Oid(init))
        .set(t::TMPLLEXIZE, Oid(lexize));
    add(rows, &t::TABLE, row.build());
}

fn add_snowball_functions(rows: &mut Rows, [init, lexize]: [u32; 2]) {
    let internal = oids::internal;
    for (oid, name, arguments) in [(init, "dsnowball_init", 1), (lexize, "dsnowball_lexize", 4)] {
        let arguments = &[internal; 4][..arguments];
        add_c_function(rows, Oid(oid), (name, "dict_snowball"), (arguments, internal), (true, b'v', b'u'));
    }
}

fn add_dictionary(rows: &mut Rows, oid: u32, name: &str, template: u32, options: Option<String>) {
    use pg_ts_dict as d;
    let row = RowBuilder::new(&d::TABLE)
        .set(d::OID, Oid(oid))
        .set(d::DICTNAME, name)
        .set(d::DICTNAMESPACE, PG_CATALOG)
        .set(d::DICTOWNER, BOOTSTRAP_SUPERUSER)
        .set(d::DICTTEMPLATE, Oid(template))
        .set_some(d::DICTINITOPTION, options.as_deref());
    add(rows, &d::TABLE, row.build());
}

fn add_configuration(rows: &mut Rows, oid: u32, name: &str) {
    use {pg_ts_config as c, pg_ts_config_map as m};
    let row = RowBuilder::new(&c::TABLE)
        .set(c::OID, Oid(oid))
        .set(c::CFGNAME, name)
        .set(c::CFGNAMESPACE, PG_CATALOG)
        .set(c::CFGOWNER, BOOTSTRAP_SUPERUSER)
        .set(c::CFGPARSER, Oid(b::DEFAULT_PARSER));
    add(rows, &c::TABLE, row.build());
    for (kind, words) in b::MAPPED {
        let dictionary = b::mapped(oid, words).unwrap_or(b::SIMPLE_DICTIONARY);
        let row = RowBuilder::new(&m::TABLE)
            .set(m::MAPCFG, Oid(oid))
            .set(m::MAPTOKENTYPE, kind as i32)
            .set(m::MAPSEQNO, 1)
            .set(m::MAPDICT, Oid(dictionary));
        add(rows, &m::TABLE, row.build());
    }
}
