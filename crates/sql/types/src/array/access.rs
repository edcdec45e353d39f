//! Subscripts: fetching and storing elements and slices.

use base::{SqlResult, sql_err};
use tuple::Datum;

use super::{Array, Dimension, Dimensions, MAX_DIMENSIONS, element_count};

/// A subscript of a slice; an end that is left out is the array's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// First subscript wanted.
    pub lower: Option<i32>,
    /// Last subscript wanted.
    pub upper: Option<i32>,
}

impl Array {
    /// The element at these subscripts; NULL outside or with a wrong number of them.
    pub fn get(&self, subscripts: &[i32]) -> Datum {
        self.offset(subscripts).map_or(Datum::Null, |i| self.values[i].clone())
    }

    fn offset(&self, subscripts: &[i32]) -> Option<usize> {
        if subscripts.len() != self.dimensions.len() || subscripts.is_empty() {
            return None;
        }
        let mut offset = 0usize;
        for (subscript, dimension) in subscripts.iter().zip(&self.dimensions) {
            if *subscript < dimension.lower || *subscript > dimension.upper() {
                return None;
            }
            offset = offset * dimension.length as usize + (*subscript - dimension.lower) as usize;
        }
        Some(offset)
    }

    /// The part between these bounds, with subscripts from 1; empty where it lies outside. Dimensions without a bound
    /// are taken whole.
    pub fn slice(&self, bounds: &[Bound]) -> Array {
        let mut out = Array { dimensions: Dimensions::new(), values: Vec::new(), ..self.shell() };
        if bounds.len() > self.dimensions.len() || self.values.is_empty() {
            return out;
        }
        let mut ranges = Vec::with_capacity(self.dimensions.len());
        for (i, dimension) in self.dimensions.iter().enumerate() {
            let bound = bounds.get(i).copied().unwrap_or(Bound { lower: None, upper: None });
            let lower = bound.lower.unwrap_or(dimension.lower).max(dimension.lower);
            let upper = bound.upper.unwrap_or(dimension.upper()).min(dimension.upper());
            if lower > upper {
                return out;
            }
            out.dimensions.push(Dimension { length: upper - lower + 1, lower: 1 });
            ranges.push((lower, upper));
        }
        let mut at: Vec<i32> = ranges.iter().map(|r| r.0).collect();
        loop {
            out.values.push(self.get(&at));
            if !advance(&mut at, &ranges) {
                return out;
            }
        }
    }

    fn shell(&self) -> Array {
        Array {
            element: self.element,
            comparable: self.comparable,
            physical: self.physical,
            dimensions: Dimensions::new(),
            values: Vec::new(),
        }
    }

    /// Stores one element; a one-dimensional array grows, with NULLs in between.
    pub fn set(&mut self, subscripts: &[i32], value: Datum) -> SqlResult<()> {
        check_count(subscripts.len())?;
        if self.dimensions.is_empty() {
            self.dimensions = subscripts.iter().map(|s| Dimension { length: 1, lower: *s }).collect();
            self.values = vec![value];
            element_count(&self.dimensions)?;
            return Ok(());
        }
        if let ([subscript], [dimension]) = (subscripts, self.dimensions.as_slice()) {
            self.grow(*dimension, *subscript, *subscript)?;
        }
        match self.offset(subscripts) {
            Some(i) => {
                self.values[i] = value;
                Ok(())
            }
            None if subscripts.len() != self.dimensions.len() => {
                Err(sql_err!(ARRAY_SUBSCRIPT_ERROR, "wrong number of array subscripts"))
            }
            None => Err(sql_err!(ARRAY_SUBSCRIPT_ERROR, "array subscript out of range")),
        }
    }

    /// Makes a one-dimensional array reach from `lower` to `upper`.
    fn grow(&mut self, dimension: Dimension, lower: i32, upper: i32) -> SqlResult<()> {
        let new_lower = dimension.lower.min(lower);
        let new_upper = dimension.upper().max(upper);
        let length = i64::from(new_upper) - i64::from(new_lower) + 1;
        if length > super::MAX_ELEMENTS as i64 {
            return Err(super::too_large());
        }
        let before = (dimension.lower - new_lower) as usize;
        if before > 0 {
            self.values.splice(0..0, std::iter::repeat_n(Datum::Null, before));
        }
        self.values.resize(length as usize, Datum::Null);
        self.dimensions[0] = Dimension { length: length as i32, lower: new_lower };
        Ok(())
    }

    /// Stores a slice from another array's elements.
    pub fn set_slice(&mut self, bounds: &[Bound], source: &Array) -> SqlResult<()> {
        check_count(bounds.len())?;
        if self.dimensions.is_empty() {
            return self.fill_empty(bounds, source);
        }
        if bounds.len() != self.dimensions.len() {
            return Err(sql_err!(ARRAY_SUBSCRIPT_ERROR, "wrong number of array subscripts"));
        }
        let mut ranges = Vec::with_capacity(bounds.len());
        for (bound, dimension) in bounds.iter().zip(&self.dimensions) {
            let range = (bound.lower.unwrap_or(dimension.lower), bound.upper.unwrap_or(dimension.upper()));
            if range.0 > range.1 {
                return Err(sql_err!(ARRAY_SUBSCRIPT_ERROR, "upper bound cannot be less than lower bound"));
            }
            ranges.push(range);
        }
        if let ([range], [dimension]) = (ranges.as_slice(), self.dimensions.as_slice()) {
            self.grow(*dimension, range.0, range.1)?;
        }
        let wanted: usize = ranges.iter().map(|r| (i64::from(r.1) - i64::from(r.0) + 1) as usize).product();
        if source.values.len() < wanted {
            return Err(sql_err!(ARRAY_SUBSCRIPT_ERROR, "source array too small"));
        }
        let mut at: Vec<i32> = ranges.iter().map(|r| r.0).collect();
        for value in source.values.iter().take(wanted) {
            let i = self
                .offset(&at)
                .ok_or_else(|| sql_err!(ARRAY_SUBSCRIPT_ERROR, "array subscript out of range"))?;
            self.values[i] = value.clone();
            advance(&mut at, &ranges);
        }
        Ok(())
    }

    fn fill_empty(&mut self, bounds: &[Bound], source: &Array) -> SqlResult<()> {
        let mut dimensions = Dimensions::new();
        for bound in bounds {
            let (Some(lower), Some(upper)) = (bound.lower, bound.upper) else {
                return Err(sql_err!(ARRAY_SUBSCRIPT_ERROR, "array slice subscript must provide both boundaries")
                    .detail("When assigning to a slice of an empty array value, slice boundaries must be fully specified."));
            };
            if lower > upper {
                return Err(sql_err!(ARRAY_SUBSCRIPT_ERROR, "upper bound cannot be less than lower bound"));
            }
            let length = i64::from(upper) - i64::from(lower) + 1;
            let length = i32::try_from(length).map_err(|_| super::too_large())?;
            dimensions.push(Dimension { length, lower });
        }
        let count = element_count(&dimensions)?;
        if source.values.len() < count {
            return Err(sql_err!(ARRAY_SUBSCRIPT_ERROR, "source array too small"));
        }
        self.values = source.values[..count].to_vec();
        self.dimensions = dimensions;
        Ok(())
    }
}

pub(super) fn check_count(count: usize) -> SqlResult<()> {
    if count > MAX_DIMENSIONS {
        return Err(sql_err!(
            PROGRAM_LIMIT_EXCEEDED,
            "number of array dimensions ({count}) exceeds the maximum allowed ({MAX_DIMENSIONS})"
        ));
    }
    Ok(())
}

/// The next subscripts within the ranges, last one fastest; false behind the end.
fn advance(at: &mut [i32], ranges: &[(i32, i32)]) -> bool {
    for i in (0..at.len()).rev() {
        if at[i] < ranges[i].1 {
            at[i] += 1;
            return true;
        }
        at[i] = ranges[i].0;
    }
    false
}
