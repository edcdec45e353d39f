//! # What
//! Objects of any catalog by address and by name: `pg_identify_object`, `pg_identify_object_as_address`, `pg_get_object_address`,
//! `pg_describe_object`.
//!
//! # Layout
//! [`identity`]: from address to names. [`address`]: from names to address. What both know of catalogs whose objects just have a name
//! is [`catalog::ObjectClass`].
//!
//! # PostgreSQL counterpart
//! `catalog/objectaddress.c`.

mod address;
mod identity;

use base::{Oid, SqlError, SqlResult};
use catalog::change::ObjectAddress;
use tuple::Datum;
use types::SessionFn;

use super::{Row, arg};
use crate::Session;

/// The object that a function is asked about.
fn asked(args: &[Datum]) -> ObjectAddress {
    let (class, object, sub): (u32, u32, i32) = (arg(args, 0), arg(args, 1), arg(args, 2));
    ObjectAddress { class: Oid(class), object: Oid(object), sub: sub as i16 }
}

fn unsupported_class(class: Oid) -> SqlError {
    SqlError::internal(format!("unsupported object class: {class}"))
}

impl Session {
    /// `pg_describe_object(catalog, object, column)`: NULL for what is not there.
    pub(super) fn object_description(&self, args: &[Datum]) -> SqlResult<Datum> {
        let object = asked(args);
        // What pinned objects have in `pg_depend`.
        if object.class == Oid::INVALID && object.object == Oid::INVALID {
            return Ok(Datum::Null);
        }
        match self.identify(object)?.exact {
            Some(_) => Ok(Datum::text(&self.with_reader(|reader| reader.describe(object))?)),
            None => Ok(Datum::Null),
        }
    }

    pub(super) fn object_rows(&self, id: SessionFn, args: &[Datum]) -> SqlResult<Option<Vec<Row>>> {
        let optional = |text: Option<&String>| text.map_or(Datum::Null, |text| Datum::text(text));
        let row = match id {
            SessionFn::PgIdentifyObject => {
                let found = self.identify(asked(args))?;
                let text = found.exact.as_ref().map(|exact| &exact.text);
                vec![
                    Datum::text(&found.kind),
                    optional(found.schema.as_ref()),
                    optional(found.name.as_ref()),
                    optional(text),
                ]
            }
            SessionFn::PgIdentifyObjectAsAddress => {
                let object = asked(args);
                let found = self.identify(object)?;
                let [names, of] = match found.exact {
                    Some(exact) if exact.names.is_empty() => {
                        return Err(SqlError::internal(format!(
                            "requested object address for unsupported object class {}: text result \"{}\"",
                            object.class, exact.text
                        )));
                    }
                    Some(exact) => [exact.names, exact.args].map(|list| catalog::text_array(&list)),
                    None => [Datum::Null, Datum::Null],
                };
                vec![Datum::text(&found.kind), names, of]
            }
            SessionFn::PgGetObjectAddress => {
                let found = self.object_address(arg(args, 0), &args[1], &args[2])?;
                vec![Datum::Oid(found.class.0), Datum::Oid(found.object.0), Datum::Int4(i32::from(found.sub))]
            }
            _ => return Ok(None),
        };
        Ok(Some(vec![row]))
    }
}
