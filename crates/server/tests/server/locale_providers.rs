//! Databases whose texts are in the order of a language: locales of ICU, chosen by `initdb` and by CREATE DATABASE. The answers are PostgreSQL 18's.

use crate::support::{Client, Server, run};

const WORDS: &str = "create table words (word text primary key); insert into words values ('zebra'), ('älg'), ('Apa'), ('apa'), ('björn'), ('Öga'), ('ö')";

fn in_order(client: &mut Client) -> String {
    client.value("select string_agg(word, ' ' order by word) from words")
}

fn connect(server: &Server, database: &str) -> Client {
    server.connect(&[("user", "postgres"), ("database", database)]).unwrap()
}

#[test]
fn the_first_databases_have_the_locale_of_initdb() {
    let mut server = Server::init(&["--locale-provider=icu", "--icu-locale=sv_SE"]);
    server.run();
    let mut client = server.client();
    let about = "select string_agg(distinct format('%s %s', datlocprovider, datlocale), ',') from pg_database where datcollversion is not null";
    assert_eq!(client.value(about), "i sv-SE");
    run(&mut client, &[WORDS]);
    assert_eq!(in_order(&mut client), "apa Apa björn zebra älg ö Öga");
    server.kill();
    server.run();
    let mut client = server.client();
    assert_eq!(in_order(&mut client), "apa Apa björn zebra älg ö Öga");
    run(&mut client, &["set enable_seqscan = off"]);
    assert_eq!(
        client.value("select string_agg(word, ' ' order by word) from words where word > 'zz'"),
        "älg ö Öga"
    );
    drop(client);
    server.stop();
    server.assert_sound();
}

#[test]
fn a_database_has_a_locale_of_its_own() {
    let mut server = Server::start(&[]);
    let mut client = server.client();
    let refused = [
        (
            "create database d locale_provider icu icu_locale 'de'",
            "22023",
            "new locale provider (icu) does not match locale provider of the template database (libc)",
        ),
        (
            "create database d template template0 locale_provider icu",
            "22023",
            "LOCALE or ICU_LOCALE must be specified",
        ),
        (
            "create database d template template0 icu_locale 'de'",
            "42P17",
            "ICU locale cannot be specified unless locale provider is ICU",
        ),
        (
            "create database d template template0 locale_provider icu icu_locale 'de' encoding 'SQL_ASCII' lc_collate 'C' lc_ctype 'C'",
            "22023",
            "encoding \"SQL_ASCII\" is not supported with ICU provider",
        ),
        (
            "create database d template template0 locale_provider icu icu_locale 'de' icu_rules '&a < g'",
            "0A000",
            "CREATE DATABASE with ICU_RULES is not supported yet",
        ),
        (
            "create database d template template0 locale_provider builtin builtin_locale 'de'",
            "42809",
            "invalid locale name \"de\" for builtin provider",
        ),
    ];
    for (statement, code, message) in refused {
        assert_eq!(client.error(statement), format!("{code} {message}"), "{statement}");
    }
    run(
        &mut client,
        &[
            "create database d template template0 locale_provider icu icu_locale 'de_DE'",
            "create database s template template0 locale_provider icu icu_locale 'sv'",
            "create database full_case template template0 locale_provider builtin builtin_locale 'PG_UNICODE_FAST'",
        ],
    );
    for (database, order) in [
        ("d", "älg apa Apa björn ö Öga zebra"),
        ("s", "apa Apa björn zebra älg ö Öga"),
        ("postgres", "Apa apa björn zebra Öga älg ö"),
    ] {
        let mut client = connect(&server, database);
        run(&mut client, &[WORDS]);
        assert_eq!(in_order(&mut client), order, "{database}");
        assert_eq!(client.value("select string_agg(word, ' ') from words where word = 'apa'"), "apa");
    }
    assert_eq!(connect(&server, "full_case").value("select upper('straße')"), "STRASSE");
    assert_eq!(
        client.error("create database copy template d icu_locale 'sv'"),
        "22023 new ICU locale (sv) is incompatible with the ICU locale of the template database (de-DE)"
    );
    run(&mut client, &["create database copy template d"]);
    server.kill();
    server.run();
    assert_eq!(in_order(&mut connect(&server, "copy")), "älg apa Apa björn ö Öga zebra");
    server.stop();
    server.assert_sound();
}
