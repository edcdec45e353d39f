//! `docs/settings.md` says of each setting what the table does. `UPDATE_GOLDEN=1 cargo test -p base` writes it anew.

use std::fmt::Write as _;
use std::path::Path;

use super::{ALL, Definition, Effect};

const HEAD: &str = "\
# Settings

The settings are PostgreSQL 18's, with its names, units, limits and ways to set them: `postgresql.conf`, `ALTER SYSTEM`, the command line, the client's start-up packet, `ALTER ROLE` and
`ALTER DATABASE`, `SET`. `pg_settings` shows their values, `pg_settings.extra_desc` the remarks below.

Each setting does what it says, or cannot be set to what it would not do:

* no remark: any value that PostgreSQL would take has its effect;
* *no effect*: whatever the value is, it stays true, because what it limits, prices or allows never happens here;
* *fixed*: another value asks for something that is not there, and is refused (SQLSTATE 0A000).

Where a default differs from PostgreSQL's, it is what the server does.
";

fn table() -> String {
    let mut out = String::from(HEAD);
    let mut shown: Vec<&Definition> =
        ALL.iter().map(|setting| setting.definition()).filter(|definition| !definition.is_hidden).collect();
    shown.sort_by_key(|definition| (definition.category, definition.name.to_lowercase()));
    let mut category = "";
    for definition in shown {
        if definition.category != category {
            category = definition.category;
            let _ = write!(out, "\n## {category}\n\n| name | default | context | |\n|---|---|---|---|\n");
        }
        let _ = writeln!(
            out,
            "| `{}` | {} | {} | {}{} |",
            definition.name,
            default(definition),
            definition.context.as_str(),
            definition.description,
            remark(definition)
        );
    }
    out
}

fn default(definition: &Definition) -> String {
    match definition.default_value().show(definition) {
        _ if definition.is_computed => String::new(),
        text if text.is_empty() => "empty".into(),
        text => format!("`{}`", text.replace('|', "\\|")),
    }
}

fn remark(definition: &Definition) -> String {
    match definition.effect {
        Effect::Works => String::new(),
        Effect::Moot(why) => format!(" *No effect:* {why}"),
        Effect::Fixed { .. } => {
            definition.remark().map(|text| format!(" *Fixed:* {text}")).unwrap_or_default()
        }
    }
}

#[test]
fn the_page_of_settings_says_what_the_table_does() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/settings.md");
    let table = table();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &table).unwrap();
    }
    let page = std::fs::read_to_string(&path).unwrap();
    let differs = table.lines().zip(page.lines()).find(|(is, was)| is != was);
    assert!(page == table, "docs/settings.md is behind the table of settings, first here: {differs:?}");
}
