//! Statements and PostgreSQL 18's answers to them, a file for each module: `golden/NAME.txt`. Blank lines separate them; a line `--` stands before the answer,
//! which is what `psql -At` prints, or `ERROR`, the SQLSTATE and the message.

use crate::support::Client;

fn answer(s: &Client, statement: &str) -> String {
    match s.run(statement) {
        Ok(collected) => collected.rows.join("\n"),
        Err(error) => format!("ERROR {}: {}", error.code().as_str(), error.message()),
    }
}

/// Asks all of a file in one session and tells every answer that differs.
fn check(name: &str, golden: &str) {
    let server = crate::server();
    let s = server.connect();
    let mut wrong = String::new();
    for block in golden.trim_end().split("\n\n") {
        let (statement, expected) = block.split_once("\n--").expect("a statement and its answer");
        let (found, expected) = (answer(&s, statement), expected.trim_start_matches('\n'));
        if found.trim_end_matches('\n') != expected {
            wrong += &format!("{statement}\nexpected:\n{expected}\nfound:\n{found}\n\n");
        }
    }
    assert!(wrong.is_empty(), "{name}:\n{wrong}");
}

macro_rules! golden {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                check(stringify!($name), include_str!(concat!("golden/", stringify!($name), ".txt")));
            }
        )*
    };
}

golden! { amcheck btree_gin btree_gist cube gin hstore intarray ltree pageinspect pg_buffercache pg_prewarm pg_trgm pg_visibility pg_walinspect pgstattuple small tablefunc triggers vector }
