//! Full text search through SQL. What words become is tested in the crate `textsearch`.

use crate::support::Server;

#[test]
fn documents_are_stored_and_found() {
    let server = Server::new();
    let s = server.connect();
    s.run(
        "create table d(id int, t text, v tsvector generated always as (to_tsvector('english', t)) stored)",
    )
    .unwrap();
    s.run("insert into d values (1, 'The fat rats ate'), (2, 'a cat sat on the mat'), (3, null)").unwrap();
    let found = |query: &str| s.query(&format!("select id from d where v @@ {query} order by id"));
    assert_eq!(found("to_tsquery('english', 'rat & !cats')"), "1");
    assert_eq!(found("websearch_to_tsquery('english', 'cats or rats')"), "1\n2");
    assert_eq!(found("phraseto_tsquery('english', 'cat on the mat')"), "");
    assert_eq!(found("phraseto_tsquery('english', 'cat sat on the mat')"), "2");
    assert_eq!(
        s.query(
            "select id, ts_rank(v, q) > 0, v from d, plainto_tsquery('english', 'mats cat') q where q @@ v"
        ),
        "2|t|'cat':2 'mat':6 'sat':3"
    );
    assert_eq!(s.query("select v from d where v = 'fat:2 rat:3 ate:4'"), "'ate':4 'fat':2 'rat':3");
    assert_eq!(
        s.query("select lexeme, positions, weights from unnest('a:1A,2 b'::tsvector)"),
        "a|{1,2}|{A,D}\nb||"
    );
}

#[test]
fn the_configuration_of_the_session_counts() {
    let server = Server::new();
    let s = server.connect();
    assert_eq!(s.query("select get_current_ts_config(), to_tsvector('The Cats')"), "simple|'cats':2 'the':1");
    s.run("set default_text_search_config = 'english'").unwrap();
    assert_eq!(
        s.query("select get_current_ts_config(), to_tsvector('The Cats'), 'The Cats' @@ 'cat'"),
        "english|'cat':2|t"
    );
    assert_eq!(
        s.query("set default_text_search_config = 'klingon'"),
        "ERROR:  invalid value for parameter \"default_text_search_config\": \"klingon\""
    );
    assert_eq!(s.query("show default_text_search_config"), "pg_catalog.english");
    assert_eq!(
        s.query("select to_tsvector('klingon', 'x')"),
        "ERROR:  text search configuration \"klingon\" does not exist"
    );
}

#[test]
fn catalogs_tell_what_there_is() {
    let server = Server::new();
    let s = server.connect();
    assert_eq!(
        s.query("select count(*), count(distinct cfgparser) from pg_ts_config join pg_ts_config_map on mapcfg = pg_ts_config.oid"),
        "570|1"
    );
    assert_eq!(
        s.query("select dictname, dictinitoption from pg_ts_dict where dictname ~ '^(simple|dutch|greek)' order by 1"),
        "dutch_stem|language = 'dutch', stopwords = 'dutch'\ngreek_stem|language = 'greek'\nsimple|"
    );
    assert_eq!(
        s.query("select ts_lexize('english_stem', 'Stars'), ts_lexize('english_stem', 'a')"),
        "{star}|{}"
    );
    assert_eq!(
        s.query(
            "select alias, token, dictionaries, dictionary, lexemes from ts_debug('english', 'Cats-x 1')"
        ),
        "asciihword|Cats-x|{english_stem}|english_stem|{cats-x}\nhword_asciipart|Cats|{english_stem}|english_stem|{cat}\n\
         blank|-|{}||\nhword_asciipart|x|{english_stem}|english_stem|{x}\nblank| |{}||\nuint|1|{simple}|simple|{1}"
    );
    assert_eq!(s.query("select tokid, token from ts_parse('default', 'a 1')"), "1|a\n12| \n22|1");
    assert_eq!(s.query("select count(*) from ts_token_type('default')"), "23");
}

#[test]
fn triggers_keep_documents_up_to_date() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table d(t text, u varchar, v tsvector, n int)").unwrap();
    s.run(
        "create trigger tr before insert or update on d for each row \
         execute function tsvector_update_trigger(v, 'pg_catalog.english', t, u)",
    )
    .unwrap();
    s.run("insert into d values ('The cats', 'ate'), (null, 'a Rat')").unwrap();
    assert_eq!(s.query("select v from d"), "'ate':3 'cat':2\n'rat':2");
    s.run("update d set t = 'dogs' where u = 'ate'; update d set v = 'x:1' where u = 'a Rat'").unwrap();
    assert_eq!(s.query("select v from d order by t"), "'ate':2 'dog':1\n'x':1");
    s.run("drop trigger tr on d; create trigger tr before insert on d for each row execute function tsvector_update_trigger(v, 'english', t)").unwrap();
    assert_eq!(
        s.query("insert into d values ('x')"),
        "ERROR:  text search configuration name \"english\" must be schema-qualified"
    );
}

#[test]
fn documents_of_json_and_headlines() {
    let server = Server::new();
    let s = server.connect();
    let json = "{\"b\": \"fat cats\", \"a\": [\"rats\", 12, true]}";
    assert_eq!(
        s.query(&format!(
            "select to_tsvector('english', '{json}'::jsonb), to_tsvector('english', '{json}'::json)"
        )),
        "'cat':4 'fat':3 'rat':1|'cat':2 'fat':1 'rat':4"
    );
    assert_eq!(
        s.query(&format!(
            "select jsonb_to_tsvector('english', '{json}', '[\"key\", \"numeric\", \"boolean\"]')"
        )),
        "'12':2 'b':6 'true':4"
    );
    assert_eq!(s.query("select jsonb_to_tsvector('{}', '\"x\"')"), "ERROR:  wrong flag in flag array: \"x\"");
    assert_eq!(
        s.query("select ts_headline('english', 'The fat cats ate rats', to_tsquery('english', 'cat & rat'), 'StartSel=<, StopSel=>')"),
        "The fat <cats> ate <rats>"
    );
}

#[test]
fn objects_are_made_altered_and_dropped() {
    let server = Server::new();
    let s = server.connect();
    s.run("create text search dictionary d (template = simple, stopwords = english, accept = false)")
        .unwrap();
    assert_eq!(s.query("select ts_lexize('d', 'The'), ts_lexize('d', 'Cat') is null"), "{}|t");
    s.run("alter text search dictionary d (accept)").unwrap();
    assert_eq!(
        s.query("select dictinitoption, ts_lexize('d', 'Cat') from pg_ts_dict where dictname = 'd'"),
        "stopwords = 'english'|{cat}"
    );
    s.run("create text search configuration c (copy = english)").unwrap();
    s.run("alter text search configuration c alter mapping replace english_stem with d").unwrap();
    assert_eq!(s.query("select to_tsvector('c', 'The Cats sat')"), "'cats':2 'sat':3");
    assert_eq!(
        s.query("drop text search dictionary d"),
        "ERROR:  cannot drop text search dictionary d because other objects depend on it"
    );
    assert_eq!(
        s.query("alter text search configuration c drop mapping for nothing"),
        "ERROR:  token type \"nothing\" does not exist"
    );
    s.run("alter text search configuration c drop mapping for asciiword").unwrap();
    assert_eq!(s.query("select to_tsvector('c', 'The Cats sat')"), "");
    s.run("create schema s; alter text search configuration c set schema s; alter text search configuration s.c rename to e").unwrap();
    assert_eq!(s.query("select to_tsvector('s.e', 'x-y')"), "'x':2 'x-y':1 'y':3");
    s.run("drop text search dictionary d cascade").unwrap();
    assert_eq!(
        s.query("select count(*) from pg_ts_config_map where not exists (select from pg_ts_config where oid = mapcfg)"),
        "0"
    );
    s.run("create text search template t (lexize = dsimple_lexize)").unwrap();
    assert_eq!(
        s.query("create text search dictionary x (template = t, accept = true)"),
        "ERROR:  text search template \"t\" does not accept options"
    );
    s.run("create text search parser p (start = prsd_start, gettoken = prsd_nexttoken, end = prsd_end, lextypes = prsd_lextype)").unwrap();
    assert_eq!(s.query("select token from ts_parse('p', 'a') limit 1"), "a");
    assert_eq!(
        s.query("create text search parser q (start = int4in)"),
        "ERROR:  function int4in(internal, integer) does not exist"
    );
}

#[test]
fn objects_belong_to_roles() {
    let server = Server::new();
    let s = server.connect();
    s.run("create role r login; grant create on schema public to r; create text search configuration theirs (copy = simple)").unwrap();
    let r = server.connect_as("r").unwrap();
    r.run("create text search dictionary mine (template = simple); create text search configuration mine (copy = simple)").unwrap();
    for (statement, error) in [
        (
            "alter text search configuration theirs rename to x",
            "must be owner of text search configuration theirs",
        ),
        ("drop text search configuration theirs", "must be owner of text search configuration theirs"),
        (
            "create text search template t (lexize = dsimple_lexize)",
            "must be superuser to create text search templates",
        ),
        ("drop text search template simple", "must be superuser"),
        (
            "alter text search parser \"default\" rename to x",
            "must be superuser to rename text search parser \"default\"",
        ),
    ] {
        assert_eq!(r.query(statement), format!("ERROR:  {error}"), "{statement}");
    }
    drop(r);
    s.run("reassign owned by r to postgres").unwrap();
    assert_eq!(s.query("select dictowner::regrole from pg_ts_dict where dictname = 'mine'"), "postgres");
    s.run("alter text search dictionary mine owner to r; drop owned by r").unwrap();
    assert_eq!(s.query("select count(*) from pg_ts_dict where dictname = 'mine'"), "0");
}

#[test]
fn functions_run_queries_of_their_own() {
    let server = Server::new();
    let s = server.connect();
    s.run("create table d(v tsvector, a tsquery, b tsquery)").unwrap();
    s.run("insert into d values ('cat:1,2A dog:3', 'moscow', 'moskva'), ('cat', 'x', null), (null, 'new & york', 'nyc')").unwrap();
    assert_eq!(s.query("select * from ts_stat('select v from d')"), "cat|2|3\ndog|1|1");
    assert_eq!(s.query("select * from ts_stat('select v from d', 'ab')"), "cat|1|1");
    assert_eq!(
        s.query("select * from ts_stat('select a from d')"),
        "ERROR:  ts_stat query must return one tsvector column"
    );
    assert_eq!(
        s.query("select * from ts_stat('delete from d returning v')"),
        "ERROR:  DELETE is not allowed in a non-volatile function"
    );
    assert_eq!(s.query("select ts_rewrite('moscow & new & york', 'select a, b from d')"), "'nyc' & 'moskva'");
    assert_eq!(
        s.query("select ts_rewrite('moscow', 'select a from d')"),
        "ERROR:  ts_rewrite query must return two tsquery columns"
    );
    let json = "{\"a\": \"fat cats\", \"cat\": [\"cat\", 1]}";
    assert_eq!(
        s.query(&format!("select ts_headline('english', '{json}'::json, 'cat'), ts_headline('english', '{json}'::jsonb, 'cat', 'StartSel=<, StopSel=>')")),
        "{\"a\":\"fat <b>cats</b>\",\"cat\":[\"<b>cat</b>\",1]}|{\"a\": \"fat <cats>\", \"cat\": [\"<cat>\", 1]}"
    );
}
