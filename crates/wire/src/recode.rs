//! Messages with their texts in another encoding.
//!
//! What the client sends is turned into UTF-8 before it is decoded, and what was written for it is turned into its own encoding behind the
//! message's writer: neither knows of encodings. Values in binary form are left to who knows their types, rows and COPY's data to who
//! wrote them.

use std::borrow::Cow;

use base::SqlResult;

use crate::frontend::Frame;

/// Appends a text in the other encoding.
pub type Convert<'c> = &'c dyn Fn(&[u8], &mut Vec<u8>) -> SqlResult<()>;

/// Body of a message of the client with its texts converted; malformed ones are left to be found by the decoder.
pub fn frontend<'a>(frame: &Frame<'a>, convert: Convert<'_>) -> SqlResult<Cow<'a, [u8]>> {
    let texts = match frame.kind {
        b'Q' | b'E' | b'f' => 1,
        b'P' | b'B' => 2,
        b'D' | b'C' => 1,
        b'F' => 0,
        _ => return Ok(Cow::Borrowed(frame.body)),
    };
    let mut copier = Copier { rest: frame.body, out: Vec::with_capacity(frame.body.len() + 16), convert };
    if matches!(frame.kind, b'D' | b'C') || frame.kind == b'F' {
        copier.copy(if frame.kind == b'F' { 4 } else { 1 });
    }
    for _ in 0..texts {
        copier.text()?;
    }
    if matches!(frame.kind, b'B' | b'F') {
        copier.values()?;
    }
    Ok(Cow::Owned(copier.finish()))
}

/// Turns the texts of the messages that were written from `start` on into the client's encoding. If one cannot be, they are taken back.
pub fn backend(out: &mut Vec<u8>, start: usize, convert: Convert<'_>) -> SqlResult<()> {
    let written = out.split_off(start);
    let mut rest = written.as_slice();
    while let Some((&kind, length)) = rest.split_first() {
        let length = length.first_chunk().map_or(0, |length| u32::from_be_bytes(*length) as usize);
        let Some((message, behind)) = rest.split_at_checked(length + 1) else { break };
        rest = behind;
        if let Err(error) = message_to_client(kind, &message[5..], convert, out) {
            out.truncate(start);
            return Err(error);
        }
    }
    Ok(())
}

fn message_to_client(kind: u8, body: &[u8], convert: Convert<'_>, out: &mut Vec<u8>) -> SqlResult<()> {
    let mut copier = Copier { rest: body, out: Vec::with_capacity(body.len() + 16), convert };
    match kind {
        b'T' => {
            for _ in 0..copier.number().unwrap_or(0) {
                copier.text()?;
                copier.copy(18);
            }
        }
        b'E' | b'N' => {
            while copier.rest.len() > 1 {
                copier.copy(1);
                copier.text()?;
            }
        }
        b'S' => {
            copier.text()?;
            copier.text()?;
        }
        b'A' => {
            copier.copy(4);
            copier.text()?;
            copier.text()?;
        }
        b'C' => copier.text()?,
        _ => {}
    }
    let body = copier.finish();
    let at = crate::backend::begin(out, kind);
    out.extend_from_slice(&body);
    crate::backend::end(out, at);
    Ok(())
}

/// Writes the body of a message anew.
struct Copier<'a, 'c> {
    rest: &'a [u8],
    out: Vec<u8>,
    convert: Convert<'c>,
}

impl Copier<'_, '_> {
    fn copy(&mut self, count: usize) {
        let (head, behind) = self.rest.split_at(count.min(self.rest.len()));
        self.out.extend_from_slice(head);
        self.rest = behind;
    }

    /// A text that ends with a zero.
    fn text(&mut self) -> SqlResult<()> {
        if let Some(length) = self.rest.iter().position(|byte| *byte == 0) {
            (self.convert)(&self.rest[..length], &mut self.out)?;
            self.rest = &self.rest[length..];
            self.copy(1);
        }
        Ok(())
    }

    fn number(&mut self) -> Option<u16> {
        let number = self.rest.first_chunk().copied().map(u16::from_be_bytes)?;
        self.copy(2);
        Some(number)
    }

    /// Formats, and values with their lengths: those in text form are converted.
    fn values(&mut self) -> SqlResult<()> {
        let Some(count) = self.number() else { return Ok(()) };
        let codes = self.rest.get(..2 * usize::from(count)).unwrap_or_default();
        self.copy(2 * usize::from(count));
        let is_text = |i: usize| match codes {
            [] => true,
            [_, one] => *one == 0,
            many => many.get(2 * i + 1) == Some(&0),
        };
        for i in 0..self.number().unwrap_or(0) {
            let Some(length) = self.rest.first_chunk().copied().map(i32::from_be_bytes) else { break };
            let start = self.out.len();
            self.copy(4);
            let Some(value) = usize::try_from(length).ok().and_then(|length| self.rest.get(..length)) else {
                continue;
            };
            match is_text(i.into()) {
                true => (self.convert)(value, &mut self.out)?,
                false => self.out.extend_from_slice(value),
            }
            let converted = (self.out.len() - start - 4) as i32;
            self.out[start..start + 4].copy_from_slice(&converted.to_be_bytes());
            self.rest = &self.rest[value.len()..];
        }
        Ok(())
    }

    fn finish(mut self) -> Vec<u8> {
        self.out.extend_from_slice(self.rest);
        self.out
    }
}
