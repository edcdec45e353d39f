//! Multiranges in memory.

use super::*;

/// A multirange.
#[derive(Clone, Debug)]
pub(crate) struct Multirange {
    pub multirange: Oid,
    pub shape: Shape,
    pub spans: Vec<Span>,
}

impl FromDatum<'_> for Multirange {
    fn from_datum(datum: &Datum) -> Multirange {
        let read = |bytes: &[u8]| {
            let mut cursor = Cursor(bytes);
            let shape = Shape::read(&mut cursor)?;
            let multirange = Oid(u32::from_le_bytes(cursor.array()?));
            let count = u32::from_le_bytes(cursor.array()?) as usize;
            let mut spans = Vec::with_capacity(count.min(bytes.len()));
            for _ in 0..count {
                spans.extend(read_span(&shape, &mut cursor)?);
            }
            Some(Multirange { multirange, shape, spans })
        };
        let none = Multirange { multirange: Oid::INVALID, shape: NO_SHAPE, spans: Vec::new() };
        read(<&[u8]>::from_datum(datum)).unwrap_or(none)
    }
}

impl IntoDatum for Multirange {
    fn into_datum(self) -> SqlResult<Datum> {
        let mut out = Vec::with_capacity(32 * (self.spans.len() + 1));
        self.shape.write(&mut out);
        out.extend_from_slice(&self.multirange.0.to_le_bytes());
        out.extend_from_slice(&(self.spans.len() as u32).to_le_bytes());
        for span in &self.spans {
            write_span(&self.shape, Some(span), &mut out);
        }
        Ok(Datum::Bytes(Bytes::from(out)))
    }
}

impl Multirange {
    /// The multirange of these spans, in any order.
    pub fn new(multirange: Oid, shape: Shape, mut spans: Vec<Span>) -> SqlResult<Multirange> {
        spans.sort_by(|a, b| bound::order(&shape, Some(a), Some(b)));
        let mut merged: Vec<Span> = Vec::with_capacity(spans.len());
        for span in spans {
            match merged.last_mut() {
                Some(last) if last.overlaps(&shape, &span) || last.adjacent(&shape, &span)? => {
                    *last = last.merged(&shape, &span);
                }
                _ => merged.push(span),
            }
        }
        Ok(Multirange { multirange, shape, spans: merged })
    }

    /// The multirange type's value of these ranges.
    pub fn of_type(info: &RangeInfo, spans: Vec<Span>, cx: &Call) -> SqlResult<Multirange> {
        Multirange::new(info.multirange, Shape::of(info, cx)?, spans)
    }

    /// From the first lower to the last upper bound.
    pub fn whole(&self) -> Option<Span> {
        let (first, last) = (self.spans.first()?, self.spans.last()?);
        Some(Span { lower: first.lower.clone(), upper: last.upper.clone() })
    }

    /// The ranges that may touch `span`: those that do not end before it, up to the first that begins behind.
    fn near<'a>(&'a self, span: &'a Span) -> impl Iterator<Item = &'a Span> {
        let start = self.spans.partition_point(|s| s.before(&self.shape, span));
        self.spans[start..].iter().take_while(move |s| !span.before(&self.shape, s))
    }

    pub fn contains_value(&self, value: &Datum) -> bool {
        let point = Bound { value: Some(value.clone()), inclusive: true, lower: true };
        let start = self.spans.partition_point(|s| s.upper.order(&self.shape, &point).is_lt());
        self.spans.get(start).is_some_and(|s| s.contains_value(&self.shape, value))
    }

    pub fn contains(&self, span: &Span) -> bool {
        self.near(span).any(|s| s.contains(&self.shape, span))
    }

    pub fn overlaps(&self, span: &Span) -> bool {
        self.near(span).any(|s| s.overlaps(&self.shape, span))
    }

    pub fn union(mut self, other: Multirange) -> SqlResult<Multirange> {
        self.spans.extend(other.spans);
        Multirange::new(self.multirange, self.shape, self.spans)
    }

    pub fn intersection(&self, cx: &Call, other: &Multirange) -> SqlResult<Multirange> {
        let mut spans = Vec::new();
        for span in &self.spans {
            cx.session.check_interrupts()?;
            spans.extend(other.near(span).filter_map(|s| s.intersection(&self.shape, span)));
        }
        Ok(Multirange { spans, ..*self })
    }

    pub fn minus(&self, cx: &Call, other: &Multirange) -> SqlResult<Multirange> {
        let mut spans = Vec::new();
        for span in &self.spans {
            cx.session.check_interrupts()?;
            let mut rest = Some(span.clone());
            for taken in other.near(span) {
                let Some(left) = rest.take() else { break };
                if !left.overlaps(&self.shape, taken) {
                    rest = Some(left);
                    continue;
                }
                let (before, behind) = left.minus(&self.shape, taken)?;
                spans.extend(before);
                rest = behind;
            }
            spans.extend(rest);
        }
        Ok(Multirange { spans, ..*self })
    }
}
