//! With whose rights the code of users runs.

use crate::support::{Client, Server};

fn all(client: &Client, statements: &[&str]) {
    for sql in statements {
        client.run(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
}

/// Whose code runs as whom: role of the session, what it does, and which code has run as whom (a: the owner of all of it).
const AS_WHOM: &[(&str, &str, &str)] = &[
    (
        "b",
        "insert into t (x) values (1)",
        "check=b,default=b,deferred=b,generated=b,index=b,trigger=b,when=b",
    ),
    // Deferred triggers run as who caused them, whoever commits.
    (
        "b",
        "begin; insert into t (x) values (2); reset role; commit",
        "check=b,default=b,deferred=b,generated=b,index=b,trigger=b,when=b",
    ),
    ("postgres", "insert into c values (1), (2)", ""),
    ("b", "delete from t where x = 1", "cascaded=a"),
    ("b", "update t set x = 5 where x = 2", "cascaded=a,check=b,generated=b,index=b"),
    ("b", "select count(f) from v", "view=b"),
    ("b", "select definer()", "definer=a"),
    ("b", "select 1::d", "domain=b"),
    ("b", "select 1 === 1", "operator=b"),
    ("b", "select ag(x) from t", "aggregate=b"),
    ("b", "call p()", "procedure=b"),
    ("b", "do $$ begin perform told('do'); end $$", "do=b"),
    (
        "b",
        "begin; declare cu cursor for select told('cursor') from generate_series(1, 2); fetch 1 from cu; \
         reset role; fetch 1 from cu; commit",
        "cursor=b,cursor=postgres",
    ),
    ("postgres", "alter table t add n int default told('new default')", "index=a,new default=postgres"),
    ("postgres", "alter table t add constraint ck check (kept(x, 'new check') > 0)", "new check=postgres"),
    ("postgres", "alter table t alter n type bigint", "index=a"),
    ("postgres", "alter table t alter n type int using told('using')", "index=a,using=postgres"),
    ("postgres", "create index on t ((kept(x, 'new index')))", "new index=a"),
    ("postgres", "vacuum full t", "index=a,new index=a"),
    ("postgres", "reindex table t", "index=a,new index=a"),
    ("postgres", "vacuum t", ""),
    ("postgres", "create table ct as select told('created')", "created=postgres"),
    ("postgres", "alter domain d add check (kept(value, 'altered') > 0)", ""),
];

#[test]
fn code_runs_as_whom_it_must() {
    let server = Server::new();
    server.instance().languages().register(vec![plpgsql::language()]);
    let su = server.connect();
    let trigger = |name: &str, when: &str, kind: &str| {
        format!("create trigger {name} {when} for each row {kind} execute function fired('{name}')")
    };
    all(
        &su,
        &[
            "create role a",
            "create role b",
            "create schema s authorization a",
            "grant all on schema s to b",
            "set search_path = s",
            "set role a",
            "create table seen (code text, who text)",
            "grant all on seen to public",
            "create function told(code text) returns int language plpgsql as \
             $$ begin insert into s.seen values (code, current_user); return 1; end $$",
            "create function kept(x int, code text) returns int language plpgsql immutable as \
             $$ begin perform s.told(code); return x; end $$",
            "create function definer() returns int security definer language sql as $$ select s.told('definer') $$",
            "create function fired() returns trigger language plpgsql as \
             $$ begin perform s.told(tg_argv[0]); return coalesce(new, old); end $$",
            "create table t (x int primary key, y int default s.told('default'), check (s.kept(x, 'check') > 0), \
             z int generated always as (s.kept(x, 'generated')) stored)",
            "create index on t (s.kept(x, 'index'))",
            "create table c (x int references t on delete cascade on update cascade, y int)",
            &trigger("trigger", "before insert on t", "when (s.kept(new.x, 'when') > 0)"),
            "create constraint trigger deferred after insert on t deferrable initially deferred for each row \
             execute function fired('deferred')",
            &trigger("cascaded", "before delete or update on c", ""),
            "create view v as select s.told('view') as f, x from t",
            "create domain d as int check (s.kept(value, 'domain') > 0)",
            "create function same(int, int) returns bool language plpgsql immutable as \
             $$ begin perform s.told('operator'); return true; end $$",
            "create operator === (leftarg = int, rightarg = int, procedure = same)",
            "create function next(int, int) returns int language plpgsql as \
             $$ begin perform s.told('aggregate'); return 1; end $$",
            "create aggregate ag(int) (sfunc = next, stype = int, initcond = 0)",
            "create procedure p() language plpgsql as $$ begin perform s.told('procedure'); end $$",
            "grant all on t, v to b",
            "reset role",
        ],
    );
    for (role, sql, expected) in AS_WHOM {
        all(&su, &["delete from seen", &format!("set role {role}")]);
        all(&su, &[sql, "reset role"]);
        let seen =
            "select string_agg(distinct code || '=' || who, ',' order by code || '=' || who) from seen";
        assert_eq!(su.query(seen), *expected, "{sql}");
    }
}
