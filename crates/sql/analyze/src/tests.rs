//! Golden scripts: `tests/*.golden` hold statements and what becomes of them, in a form that PostgreSQL's Parse and Describe
//! messages give too: `R` parameter types and result columns, or `E` with the error's fields. `tests/schema.sql` is the schema,
//! `tests/catalog.tsv` what the catalogs of PostgreSQL 18 say of it.
//!
//! `UPDATE_GOLDEN=1 cargo test -p analyze` rewrites the expectations.

mod catalog;
mod stored;

use std::fmt::Write;
use std::path::Path;

use base::SqlError;
use types::{Call, FormatContext};

use self::catalog::TestCatalog;
use crate::ParamTypes;

/// What becomes of one statement.
fn outcome(sql: &str, catalog: &TestCatalog) -> String {
    let format = FormatContext::default();
    let call = Call::new(&format);
    let statements = match parse::parse(sql) {
        Ok(statements) => statements,
        Err(e) => return error_text(&e),
    };
    let Some(raw) = statements.first() else { return "empty\n".into() };
    let analyzed = match crate::analyze(raw, sql, ParamTypes::Infer(Vec::new()), catalog, &call) {
        Ok(analyzed) => analyzed,
        Err(e) => return error_text(&e),
    };
    let params: Vec<String> = analyzed.params.iter().map(|p| p.0.to_string()).collect();
    let mut out = format!("R ({})", params.join(","));
    for t in analyzed.query.result_columns() {
        let type_oid = crate::facts::expr_type(&t.expr, &|t| {
            types::builtin_type(t).map_or_else(Default::default, |t| t.array)
        });
        let typmod = crate::facts::expr_typmod(&t.expr);
        let _ = write!(
            out,
            " {}:{}:{}:{}.{}",
            t.name.as_deref().unwrap_or("?"),
            type_oid,
            typmod,
            t.source_table,
            t.source_column
        );
    }
    out.push('\n');
    out
}

fn error_text(e: &SqlError) -> String {
    let r = e.report();
    let mut out = format!("E {} {} @{}\n", r.code, r.message, r.position.unwrap_or(0));
    if let Some(d) = &r.detail {
        let _ = writeln!(out, "  DETAIL {d}");
    }
    if let Some(h) = &r.hint {
        let _ = writeln!(out, "  HINT {h}");
    }
    out
}

/// Runs every script of a folder and gives the first differences.
fn run_scripts(dir: &Path) -> Vec<String> {
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let catalog = TestCatalog::load();
    let mut differences = Vec::new();
    let mut paths: Vec<_> = std::fs::read_dir(dir)
        .expect("folder of golden scripts")
        .map(|e| e.expect("entry").path())
        .filter(|p| p.extension().is_some_and(|e| e == "golden"))
        .collect();
    paths.sort();
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("golden script");
        let mut out = String::new();
        for block in text.split("\n\n").map(str::trim).filter(|b| !b.is_empty()) {
            let (sql, expected) = split_block(block);
            let actual = outcome(sql, &catalog);
            if actual.trim_end() != expected.trim_end() {
                differences
                    .push(format!("{}\n{sql}\nexpected: {expected}\nactual:   {actual}", path.display()));
            }
            let _ = write!(out, "{sql}\n---\n{actual}\n");
        }
        if update {
            std::fs::write(&path, out).expect("write golden script");
        }
    }
    if update { Vec::new() } else { differences }
}

fn split_block(block: &str) -> (&str, &str) {
    match block.split_once("\n---\n") {
        Some((sql, expected)) => (sql, expected),
        None => (block.trim_end_matches("\n---"), ""),
    }
}

#[test]
fn golden() {
    let dir = std::env::var_os("GOLDEN_DIR")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests"), std::path::PathBuf::from);
    let differences = run_scripts(&dir);
    assert!(differences.is_empty(), "{} differences:\n{}", differences.len(), differences.join("\n"));
}
