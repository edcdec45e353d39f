//! Names as SQL text shows them: quoted identifiers, types, qualified objects.

use base::{Oid, SqlResult};
use catalog::view::{CatalogView, TypeKind};
pub use types::text::quote_identifier;

/// `schema.name`, each quoted if it has to be.
pub fn qualified(schema: &str, name: &str) -> String {
    format!("{}.{}", quote_identifier(schema), quote_identifier(name))
}

/// A string literal, as it reads with `standard_conforming_strings`: a backslash stands for itself.
pub fn quote_literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// A type as `format_type` shows it.
pub fn format_type(catalog: &dyn CatalogView, oid: Oid, typmod: Option<i32>) -> String {
    if oid.0 == 0 {
        return "-".to_owned();
    }
    if let Some(text) = types::format_type(oid, typmod) {
        return text;
    }
    let Ok(Some(t)) = catalog.type_by_oid(oid) else { return "???".to_owned() };
    if t.category == 'A' && t.element.is_valid() {
        return format!("{}[]", format_type(catalog, t.element, typmod));
    }
    let visible = matches!(catalog.type_by_name(None, &t.name), Ok(Some(v)) if v.oid == oid);
    let name = if visible { quote_identifier(&t.name) } else { qualified(&t.schema_name, &t.name) };
    match (&t.kind, typmod) {
        (TypeKind::Like(like), Some(typmod)) if like.modifiers => {
            name + &types::registry::typmod_out(like.base, typmod)
        }
        _ => name,
    }
}

/// The type of the registry that reads and shows the modifiers of a type; none if it takes none.
pub fn modified(catalog: &dyn CatalogView, oid: Oid) -> SqlResult<Option<Oid>> {
    if let Some(info) = types::builtin_type(oid) {
        return Ok(info.typmod_io[0].is_valid().then_some(oid));
    }
    Ok(match catalog.type_by_oid(oid)?.as_deref().map(|def| &def.kind) {
        Some(TypeKind::Like(like)) => like.modifiers.then_some(like.base),
        _ => None,
    })
}
