//! Clients whose texts are not what the server has inside. The server converts whole messages; what only the session can tell is text is converted here.

use std::borrow::Cow;

use base::{Encoding, Oid, SqlResult};
use types::encoding::Passage;

use super::{ParamValue, Session, format_of};
use crate::output::{Format, Output};

impl Session {
    /// How texts go between the client and the database; none: as they are.
    pub fn passage(&self) -> Option<Passage> {
        self.passage_of(self.encoding())
    }

    /// How texts go between a file with this encoding and the database.
    pub fn passage_of(&self, outside: Encoding) -> Option<Passage> {
        Passage::new(self.settings.borrow().fast().server_encoding, outside)
    }

    /// The client's encoding.
    pub fn encoding(&self) -> Encoding {
        self.settings.borrow().fast().client_encoding
    }

    /// Makes the output use an encoding that a statement has set: the next statement of the same message writes in it.
    pub(super) fn tell_encoding(&self, out: &mut dyn Output) {
        if self.settings.borrow().has_changed() {
            out.passage(self.passage());
        }
    }

    /// Parameters in binary form with their texts as the server has them.
    pub(super) fn recode_parameters<'v>(
        &self,
        passage: Passage,
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
                    Some(types::encoding::from_client(passage, *ty, bytes, &call)?)
                }
                (value, _) => value.map(Cow::Borrowed),
            });
        }
        Ok(recoded)
    }
}
