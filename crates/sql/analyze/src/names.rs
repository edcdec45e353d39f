//! Names as SQL text shows them: quoted identifiers, types, qualified objects.

use base::Oid;
use catalog::view::CatalogView;
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
    if visible { quote_identifier(&t.name) } else { qualified(&t.schema_name, &t.name) }
}
