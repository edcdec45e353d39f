//! Clients whose texts are not UTF-8. The server converts whole messages; what only the session can tell is text is converted here.

use std::borrow::Cow;

use base::{Encoding, Oid, SqlResult};

use super::{ParamValue, Session, format_of};
use crate::output::{Format, Output};

impl Session {
    /// The client's encoding, if it is another one than the server's. One that goes unconverted is none.
    pub(crate) fn client_encoding(&self) -> Option<Encoding> {
        Some(self.encoding()).filter(|encoding| encoding.is_converted())
    }

    /// The client's encoding.
    pub fn encoding(&self) -> Encoding {
        self.settings.borrow().fast().client_encoding
    }

    /// Tells the output of an encoding that a statement has set: the next one of the same message writes in it.
    pub(super) fn tell_encoding(&self, out: &mut dyn Output) {
        if self.settings.borrow().has_changed() {
            out.client_encoding(self.encoding());
        }
    }

    /// Parameters in binary form with their texts in UTF-8.
    pub(super) fn recode_parameters<'v>(
        &self,
        encoding: Encoding,
        types: &[Oid],
        formats: &[Format],
        values: &[ParamValue<'v>],
    ) -> SqlResult<Vec<Option<Cow<'v, [u8]>>>> {
        let context = self.format();
        let call = types::Call::new(&context).with_session(self);
        let mut recoded = Vec::with_capacity(values.len());
        for (i, (value, ty)) in values.iter().zip(types).enumerate() {
            recoded.push(match (*value, format_of(formats, i)?) {
                (Some(bytes), Format::Binary) => {
                    Some(types::encoding::from_client(encoding, *ty, bytes, &call)?)
                }
                (value, _) => value.map(Cow::Borrowed),
            });
        }
        Ok(recoded)
    }
}
