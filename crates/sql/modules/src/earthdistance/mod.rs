//! # What
//! `earthdistance`: distances on the surface of the earth, between points of `cube` or of the plane.
//!
//! # PostgreSQL counterpart
//! `contrib/earthdistance`.

use base::SqlResult;
use session::module::{Module, ModuleFunction};
use tuple::Datum;
use types::Call;
use types::value::FromDatum;

/// The extension.
pub static MODULE: Module = Module {
    name: "earthdistance",
    version: "1.2",
    comment: "calculate great-circle distances on the surface of the Earth",
    relocatable: true,
    requires: &["cube"],
    script: include_str!("script.sql"),
    functions: &[("geo_distance", ModuleFunction::Value(distance))],
    ..Module::LIBRARY
};

/// Radius of the earth in statute miles.
const RADIUS: f64 = 3958.747716;

/// Longitude and latitude in radians.
fn place(value: &Datum) -> [f64; 2] {
    let numbers = <&[u8]>::from_datum(value).as_chunks::<8>().0;
    [0, 1].map(|at| numbers.get(at).map_or(0.0, |bytes| f64::from_le_bytes(*bytes)).to_radians())
}

/// Statute miles between two points of longitude and latitude in degrees.
fn distance(_: &Call<'_>, args: &[Datum]) -> SqlResult<Datum> {
    let [[long, lat], [other_long, other_lat]] = [0, 1].map(|at| place(&args[at]));
    let apart = (long - other_long).abs();
    let apart = if apart > std::f64::consts::PI { std::f64::consts::TAU - apart } else { apart };
    let (north, east) = (((lat - other_lat).abs() / 2.0).sin(), (apart / 2.0).sin());
    let half = (north * north + lat.cos() * other_lat.cos() * east * east).sqrt().min(1.0);
    Ok(Datum::Float8(2.0 * RADIUS * half.asin()))
}
