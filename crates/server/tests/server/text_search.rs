//! Text search through a client: indexes find what the table has, also after a crash; dictionaries are made of files; what one session changes, others
//! use.

use crate::support::{Client, Server, run};

const TABLE: [&str; 5] = [
    "create table t (id int, v tsvector, q tsquery)",
    "insert into t select i, setweight(to_tsvector('simple', 'w' || i % 13 || ' common x' || i % 7 || ' y' || i || ' common'), \
     (array['A','B','C','D'])[1 + i % 4]::\"char\"), to_tsquery('simple', 'w' || i % 13 || ' & !x' || i % 7) from generate_series(1, 2000) i",
    "insert into t values (0, '', ''), (-1, null, null), (-2, 'w1 w12', 'w1 | w2')",
    "create index t1 on t using gin (v)",
    "create index t2 on t using gin (v) with (fastupdate = off) where id > 0",
];

const CONDITIONS: [&str; 19] = [
    "v @@ 'w1'",
    "v @@ 'w1 & x3'",
    "v @@ 'w1 | x3'",
    "v @@ 'w1 & !x3'",
    "v @@ '!w1'",
    "v @@ '!w1 & !x3'",
    "v @@ 'w1:*'",
    "v @@ 'w1:* & x1'",
    "v @@ 'y19:*'",
    "v @@ 'w1:AB'",
    "v @@ 'w1:*A & !x3:B'",
    "v @@@ 'w1:C'",
    "v @@ 'w1 <-> common'",
    "v @@ 'common <3> common'",
    "v @@ '!(w1 <-> common)'",
    "v @@ 'nothing'",
    "'w1 & x3' @@ v",
    "v @@ 'w1' and v @@ 'x3'",
    "v @@ ''",
];

/// Every condition finds the same rows by the table and by an index.
fn compare(client: &mut Client, conditions: &[&str]) {
    for condition in conditions {
        let query = format!("select count(*), sum(id) from t where {condition}");
        run(
            client,
            &["set enable_seqscan = on", "set enable_bitmapscan = off", "set enable_indexscan = off"],
        );
        let expected = client.query(&query).unwrap();
        run(client, &["set enable_seqscan = off", "set enable_bitmapscan = on", "set enable_indexscan = on"]);
        let plan = format!("{:?}", client.query(&format!("explain {query}")).unwrap());
        assert!(plan.contains("Index"), "{condition}: {plan}");
        assert_eq!(client.query(&query).unwrap(), expected, "{condition}");
    }
}

#[test]
fn gin_finds_what_the_table_has() {
    let mut server = Server::start(&[]);
    let mut client = server.client();
    run(&mut client, &TABLE);
    compare(&mut client, &CONDITIONS);
    run(&mut client, &["delete from t where id % 3 = 1", "vacuum analyze t"]);
    compare(&mut client, &CONDITIONS);
    server.kill();
    server.run();
    let mut client = server.client();
    run(&mut client, &["update t set v = v || 'w1:1A'::tsvector where id % 5 = 0"]);
    compare(&mut client, &CONDITIONS);
    drop(client);
    server.stop();
    server.assert_sound();
}

#[test]
fn gist_finds_what_the_table_has() {
    let mut server = Server::start(&[]);
    let mut client = server.client();
    run(&mut client, &TABLE[..3]);
    run(&mut client, &["create index t1 on t using gist (v)", "create index t2 on t using gist (q)"]);
    let queries = ["q @> 'w1'", "q @> 'w1 & x3'", "q <@ 'w1 & x3 & x1'", "q <@ ''", "'w1' <@ q"];
    let conditions: Vec<&str> =
        CONDITIONS.into_iter().filter(|condition| !condition.contains("@@@")).collect();
    compare(&mut client, &conditions);
    compare(&mut client, &queries);
    run(&mut client, &["drop index t1", "create index t3 on t using gist (v tsvector_ops (siglen = 8))"]);
    compare(&mut client, &conditions);
    run(&mut client, &["delete from t where id % 3 = 1", "vacuum analyze t"]);
    server.kill();
    server.run();
    let mut client = server.client();
    compare(&mut client, &conditions);
    compare(&mut client, &queries);
    drop(client);
    server.stop();
    server.assert_sound();
}

#[test]
fn documents_have_statistics() {
    let server = Server::start(&[]);
    let mut client = server.client();
    run(&mut client, &TABLE[..2]);
    run(&mut client, &["analyze t"]);
    let shares = "from pg_stats, unnest(most_common_elems::text::text[], most_common_elem_freqs[:array_length(most_common_elem_freqs, 1) - 2]) \
                  as u(word, share) where tablename = 't' and attname = 'v'";
    assert_eq!(client.value(&format!("select share {shares} and word = 'common'")), "1");
    let share = client.value(&format!("select share {shares} and word = 'w1'"));
    assert!(share.starts_with("0.07"), "{share}");
    let estimate = |client: &mut Client, query: &str| {
        let plan = client.value(&format!("explain (format json) select from t where v @@ '{query}'"));
        let rows = plan.split("\"Plan Rows\": ").nth(1).unwrap();
        rows.split(',').next().unwrap().trim().parse::<i32>().unwrap()
    };
    assert_eq!(estimate(&mut client, "common"), 2000);
    assert!((140..170).contains(&estimate(&mut client, "w1")));
    assert!(estimate(&mut client, "nothing") <= 2);
    assert!((1800..1900).contains(&estimate(&mut client, "!w1")));
}

fn psql(server: &Server, command: &str) -> String {
    let host = format!("host={}", server.socket().display());
    server.psql(&host, command)
}

fn write(server: &Server, name: &str, text: &str) {
    let folder = server.data().join("tsearch_data");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(name), text).unwrap();
}

#[test]
fn dictionaries_are_made_of_files_and_changed_for_all_sessions() {
    let server = Server::start(&[]);
    write(&server, "ours.dict", "house/S\nboat/SC\nstone/SC\n");
    write(&server, "ours.affix", "COMPOUNDFLAG C\nSFX S Y 1\nSFX S 0 s .\n");
    write(&server, "ours.syn", "ship boat\n");
    write(&server, "ours.ths", "stone boat : *submarine\n");
    write(&server, "ours.stop", "house\n");
    let mut client = server.client();
    let mut other = server.client();
    run(
        &mut client,
        &[
            "create text search dictionary words (template = ispell, dictfile = ours, afffile = ours, stopwords = ours)",
            "create text search dictionary other_words (template = synonym, synonyms = ours)",
            "create text search dictionary phrases (template = thesaurus, dictfile = ours, dictionary = words)",
            "create text search configuration c (copy = simple)",
            "alter text search configuration c alter mapping for asciiword with other_words, phrases, words, simple",
        ],
    );
    let vector =
        |client: &mut Client, text: &str| client.value(&format!("select to_tsvector('c', '{text}')"));
    let text = "Houses ships stoneboats ship stones boat";
    assert_eq!(vector(&mut other, text), "'boat':3,4 'ships':2 'stone':3 'submarine':5");
    assert_eq!(vector(&mut client, text), vector(&mut other, text));
    // Files are read again when the dictionary is altered, by whomever.
    write(&server, "ours.syn", "ship boat\nships boat\n");
    assert_eq!(vector(&mut other, "ships"), "'ships':1");
    run(&mut client, &["alter text search dictionary other_words (casesensitive = off)"]);
    assert_eq!(vector(&mut other, "ships"), "'boat':1");
    run(&mut client, &["begin", "alter text search configuration c alter mapping for asciiword with simple"]);
    assert_eq!(vector(&mut client, "ships"), "'ships':1");
    assert_eq!(vector(&mut other, "ships"), "'boat':1");
    run(&mut client, &["commit"]);
    assert_eq!(vector(&mut other, "ships"), "'ships':1");
    let error = client.error("create text search dictionary no (template = synonym, synonyms = nothing)");
    assert!(error.contains("could not open synonym file"), "{error}");
    if !crate::support::has("psql") {
        return;
    }
    let shown = psql(&server, "\\dF+ c");
    assert!(shown.contains("asciiword|simple"), "{shown}");
    let shown = psql(&server, "\\dFd+ words");
    assert!(shown.contains("dictfile = 'ours', afffile = 'ours', stopwords = 'ours'"), "{shown}");
    assert!(psql(&server, "\\dFt").contains("pg_catalog|thesaurus|"));
    assert!(psql(&server, "\\dFp+ default").contains("asciihword|Hyphenated word, all ASCII"));
}
