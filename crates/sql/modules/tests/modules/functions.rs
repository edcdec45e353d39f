//! What the functions of the modules answer.

#[test]
fn pgcrypto() {
    let server = crate::server();
    let s = server.connect();
    s.run("create extension pgcrypto").unwrap();
    for (sql, expected) in [
        ("select hmac('a', 'k', 'sha256')", "\\x78da91511e675587f5b9df78bedebaf5560da2abb88162ee875dcdf744951d9e"),
        ("select crypt('foox', 'xx')", "xxrF1j8WaXReM"),
        ("select crypt('pw', h) = h from (select crypt('pw', gen_salt('bf', 4)) as h) s", "t"),
        ("select decrypt(encrypt('foo', 'key', 'aes'), 'key', 'aes')", "\\x666f6f"),
        ("select length(gen_random_bytes(10)), gen_random_uuid() is not null", "10|t"),
        ("select encode(dearmor(armor('hello')), 'escape')", "hello"),
        ("select * from pgp_armor_headers(armor('hello', array['a', 'b'], array['x', 'y']))", "a|x\nb|y"),
        ("select pgp_sym_decrypt(pgp_sym_encrypt('Secret.', 'key'), 'key')", "Secret."),
        (
            "select pgp_sym_decrypt(pgp_sym_encrypt(repeat('Secret.', 9999), 'key',
               'compress-algo=2, cipher-algo=aes256, s2k-mode=1, sess-key=1'), 'key') = repeat('Secret.', 9999)",
            "t",
        ),
        (
            "select pgp_sym_decrypt(pgp_sym_encrypt('Secret.', 'key', 'disable-mdc=1, cipher-algo=bf'), 'key')",
            "Secret.",
        ),
        ("select pgp_key_id(pgp_sym_encrypt('a', 'b'))", "SYMKEY"),
    ] {
        assert_eq!(s.query(sql), expected, "{sql}");
    }
    for (sql, expected) in [
        ("select digest('a', 'foo')", "Cannot use \"foo\": No such hash algorithm"),
        ("select gen_random_bytes(1025)", "Length not in range"),
        ("select pgp_sym_decrypt(pgp_sym_encrypt('Secret.', 'key'), 'bad')", "Wrong key or corrupt data"),
        ("select pgp_sym_decrypt(pgp_sym_encrypt_bytea('Secret.', 'key'), 'key')", "Not text data"),
        ("select pgp_sym_encrypt('a', 'key', 'foo=1')", "Illegal argument to function"),
    ] {
        let error = s.run(sql).err().unwrap_or_else(|| panic!("{sql}: no error"));
        assert_eq!(error.message(), expected, "{sql}");
    }
}

#[test]
fn uuids_and_words() {
    let server = crate::server();
    let s = server.connect();
    s.run("create extension \"uuid-ossp\"; create extension fuzzystrmatch").unwrap();
    for (sql, expected) in [
        (
            "select uuid_generate_v5(uuid_ns_dns(), 'www.widgets.com'), uuid_nil()",
            "21f7f8de-8051-5b89-8680-0195ef798b6a|00000000-0000-0000-0000-000000000000",
        ),
        ("select uuid_extract_version(uuid_generate_v1()), uuid_extract_version(uuid_generate_v4())", "1|4"),
        ("select abs(extract(epoch from uuid_extract_timestamp(uuid_generate_v1()) - now())) < 60", "t"),
        ("select levenshtein('GUMBO', 'GAMBOL', 2, 1, 1), difference('Anne', 'Andrew')", "3|2"),
        ("select levenshtein_less_equal('extensive', 'exhaustive', 2), soundex('Honeyman')", "3|H555"),
    ] {
        assert_eq!(s.query(sql), expected, "{sql}");
    }
}

#[test]
fn words_lose_their_accents_on_the_way_to_other_dictionaries() {
    let server = crate::server();
    let s = server.connect();
    s.run("create extension unaccent; create text search configuration fr (copy = french)").unwrap();
    s.run("alter text search configuration fr alter mapping for word with unaccent, french_stem").unwrap();
    for (query, expected) in [
        ("select to_tsvector('fr', 'Hôtels de la Mer')", "'hotel':1 'mer':4"),
        ("select ts_lexize('unaccent', 'Hôtel'), ts_lexize('unaccent', 'Hotel') is null", "{Hotel}|t"),
        ("select unaccent('unaccent', 'ôé'), unaccent('unaccent', 'x')", "oe|x"),
        (
            "create text search dictionary u (template = unaccent, rule = 'x')",
            "ERROR:  unrecognized Unaccent parameter: \"rule\"",
        ),
        (
            "drop extension unaccent",
            "ERROR:  cannot drop extension unaccent because other objects depend on it",
        ),
        (
            "create schema s; alter extension unaccent set schema s; select to_tsvector('fr', 'Hôtels')",
            "'hotel':1",
        ),
    ] {
        assert_eq!(s.query(query), expected, "{query}");
    }
}

/// The answers are PostgreSQL's.
#[test]
fn similar_texts_and_accents() {
    let server = crate::server();
    let s = server.connect();
    s.run("create extension pg_trgm; create extension unaccent").unwrap();
    for (sql, expected) in [
        ("select unaccent('Hôtel, Œuvre, Straße')", "Hotel, OEuvre, Strasse"),
        (
            "select show_trgm('Foo bar, café ü1_x')",
            "{0xef5960,0xfffa1f,0x0d7f89,\"  b\",\"  c\",\"  f\",\"  x\",\" ba\",\" ca\",\" fo\",\" x \",0x544980,0x60ecfb,\"ar \",bar,caf,foo,\"oo \"}",
        ),
        ("select similarity('word', 'two words'), word_similarity('word', 'two words')", "0.36363637|0.8"),
        (
            "select strict_word_similarity('word', 'two words'), strict_word_similarity('word', 'words')",
            "0.5714286|0.5714286",
        ),
        ("select similarity('', ''), word_similarity('a', '')", "0|0"),
        (
            "select 'word' <-> 'two words', 'word' <<-> 'two words', 'word' <->> 'two words', 'word' <<<-> 'two words'",
            "0.6363636|0.19999999|0.6|0.4285714",
        ),
        (
            "select 'word' % 'two words', 'word' <% 'two words', 'two words' %> 'word', 'word' <<% 'two words'",
            "t|t|t|t",
        ),
        ("select show_limit(), set_limit(0.5), show_limit()", "0.3|0.5|0.5"),
        ("select 'word' % 'two words', current_setting('pg_trgm.similarity_threshold')", "f|0.5"),
        (
            "select n from (values ('Alice'), ('Alise'), ('Bob')) t (n) where n % 'alica' order by n <-> 'alica', n",
            "Alice",
        ),
    ] {
        assert_eq!(s.query(sql), expected, "{sql}");
    }
    let error = s.run("select set_limit(1.5)").err().unwrap();
    assert_eq!(
        error.message(),
        "1.5 is outside the valid range for parameter \"pg_trgm.similarity_threshold\" (0 .. 1)"
    );
}
