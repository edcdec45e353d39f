//! Placeholder until the real `array/` folder of this crate lands: delete this file then.
#![allow(missing_docs)]
use crate::Call;
use base::{Oid, SqlResult};
use tuple::Datum;
pub struct Array;
impl Array {
    pub fn from_values(_e: Oid, _v: Vec<Datum>, _cx: &Call) -> SqlResult<Array> {
        todo!()
    }
    pub fn to_datum(&self) -> Datum {
        todo!()
    }
    pub fn from_payload(_b: &[u8]) -> Array {
        todo!()
    }
    pub fn into_elements(self) -> Vec<Datum> {
        todo!()
    }
}
pub fn from_texts<'a>(_t: impl Iterator<Item = Option<&'a str>>) -> Datum {
    todo!()
}
pub fn from_oids(_o: &[Oid]) -> Datum {
    todo!()
}
pub fn from_int2s(_o: &[i16]) -> Datum {
    todo!()
}
