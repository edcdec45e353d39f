//! Square root, exponential, logarithms, power.
//!
//! All work in decimal with guard digits and round once at the end, so that the digits shown are the true ones.

use base::{SqlResult, sql_err};

use super::{Kind, LIMB_DIGITS, MAX_DISPLAY_SCALE, MAX_WEIGHT, MIN_SIGNIFICANT, Numeric, overflow};

/// Largest argument of the exponential, whose result PostgreSQL still gives.
const EXP_LIMIT: f64 = 6000.0;

fn one() -> Numeric {
    Numeric::from_i64(1)
}

/// A double as a number of 17 significant digits.
fn approximate(value: f64) -> Numeric {
    Numeric::from_float(value, 17).unwrap_or_else(|_| one())
}

impl Numeric {
    /// Base-10 logarithm of the absolute value, roughly; the number is finite and not zero.
    fn log10_estimate(&self) -> f64 {
        let head = self
            .limbs
            .iter()
            .take(4)
            .enumerate()
            .fold(0.0, |sum, (i, limb)| sum + f64::from(*limb) * 10f64.powi(-(LIMB_DIGITS * i as i32)));
        head.log10() + f64::from(self.weight * LIMB_DIGITS)
    }

    /// Square root.
    pub fn sqrt(&self) -> SqlResult<Numeric> {
        // Decimal weight of the result's first digit decides how many digits are significant.
        let weight = if self.weight >= 0 {
            self.weight * LIMB_DIGITS / 2 + 1
        } else {
            1 - (1 - self.weight * LIMB_DIGITS) / 2
        };
        self.sqrt_rounded((MIN_SIGNIFICANT - weight).max(self.scale).clamp(0, MAX_DISPLAY_SCALE))
    }

    /// Square root rounded to `scale` digits.
    pub(super) fn sqrt_rounded(&self, scale: i32) -> SqlResult<Numeric> {
        match self.kind {
            Kind::NaN | Kind::Infinity => return Ok(self.clone()),
            Kind::Negative | Kind::MinusInfinity => {
                return Err(sql_err!(
                    INVALID_ARGUMENT_FOR_POWER_FUNCTION,
                    "cannot take square root of a negative number"
                ));
            }
            Kind::Positive => {}
        }
        if self.is_zero() {
            return Ok(Numeric { scale, ..Numeric::zero() });
        }
        Ok(self.sqrt_floor(scale + 1)?.round(scale))
    }

    /// Square root cut at `scale` digits.
    fn sqrt_floor(&self, scale: i32) -> SqlResult<Numeric> {
        // Newton from a double estimate; each step doubles the digits. Ends within a unit, corrected exactly below.
        let estimate = self.log10_estimate() / 2.0;
        let whole = estimate.floor();
        let mut root = approximate(10f64.powf(estimate - whole)).shift10(whole as i32);
        let guard = scale + 4;
        let digits = (whole as i32 + guard).max(1);
        let mut exact = 14;
        while exact < digits * 2 + 8 {
            runtime::check_interrupts()?;
            let next = root.add(&self.div_rounded(&root, guard)).mul_rounded(&half(), guard);
            root = next;
            exact *= 2;
        }
        let mut root = root.truncate(scale);
        let unit = one().shift10(-scale);
        while root.mul_exact(&root).compare_abs(self).is_gt() {
            root = root.sub(&unit);
        }
        loop {
            let next = root.add(&unit);
            if next.mul_exact(&next).compare_abs(self).is_gt() {
                return Ok(root);
            }
            root = next;
        }
    }

    /// Times a power of ten.
    fn shift10(&self, power: i32) -> Numeric {
        let limbs = power.div_euclid(LIMB_DIGITS);
        let rest = power.rem_euclid(LIMB_DIGITS);
        let mut out = self.mul_exact(&Numeric::from_i64(10i64.pow(rest as u32)));
        out.weight += limbs;
        out.scale = (self.scale - power).max(0);
        if out.limbs.is_empty() {
            out.weight = 0;
        }
        out
    }

    /// e to this power.
    pub fn exp(&self) -> SqlResult<Numeric> {
        match self.kind {
            Kind::NaN | Kind::Infinity => return Ok(self.clone()),
            Kind::MinusInfinity => return Ok(Numeric::zero()),
            _ => {}
        }
        let decimal = self.to_f64() * std::f64::consts::LOG10_E;
        let decimal = decimal.clamp(-16_383.0, 16_383.0);
        let scale = (MIN_SIGNIFICANT - decimal as i32).max(self.scale).clamp(0, MAX_DISPLAY_SCALE);
        self.exp_scaled(scale)
    }

    /// e to this power, to `scale` digits.
    fn exp_scaled(&self, scale: i32) -> SqlResult<Numeric> {
        let value = self.to_f64();
        if value.abs() >= EXP_LIMIT {
            return if value < 0.0 { Ok(Numeric { scale, ..Numeric::zero() }) } else { Err(overflow()) };
        }
        let decimal = value * std::f64::consts::LOG10_E;
        // Halve the argument until it is small, sum the series, square as often; a digit is lost with every ten squarings.
        let mut halvings = 0;
        let mut size = value.abs();
        while size > 0.01 {
            size /= 2.0;
            halvings += 1;
        }
        // With all digits relative: the argument's reduction needs them behind the point.
        let digits = (decimal.max(0.0) as i32 + scale.max(0) + 1 + 10 + halvings / 3).max(20);
        let mut reduced = self.clone();
        reduced.scale = digits + halvings;
        for _ in 0..halvings {
            runtime::check_interrupts()?;
            reduced = reduced.mul_rounded(&half(), digits + halvings);
        }
        let mut sum = one().add(&reduced);
        let mut term = reduced.clone();
        let mut n = 2;
        loop {
            runtime::check_interrupts()?;
            term = term.mul_rounded(&reduced, digits).div_rounded(&Numeric::from_i64(n), digits);
            if term.is_zero() {
                break;
            }
            sum = sum.add(&term);
            n += 1;
        }
        for _ in 0..halvings {
            runtime::check_interrupts()?;
            // Keep `digits` significant ones as the value grows or shrinks.
            let weight = (2.0 * sum.log10_estimate()).floor() as i32;
            let keep = (digits - weight).max(scale + 2);
            sum = sum.mul_rounded(&sum.clone(), keep);
        }
        sum.round(scale).checked()
    }

    /// Decimal weight of the natural logarithm of a positive number.
    fn ln_weight(&self) -> i32 {
        if self.signum() <= 0 {
            return 0;
        }
        let near_one = self.compare(&parse("0.9")).is_ge() && self.compare(&parse("1.1")).is_le();
        if near_one {
            // ln(1 + x) is about x.
            let x = self.sub(&one());
            if x.is_zero() {
                return 0;
            }
            return x.weight * LIMB_DIGITS + x.limbs.first().map_or(0, |l| l.ilog10() as i32);
        }
        let ln = self.log10_estimate() * std::f64::consts::LN_10;
        ln.abs().log10() as i32
    }

    /// Natural logarithm.
    pub fn ln(&self) -> SqlResult<Numeric> {
        if let Some(special) = self.logarithm_special()? {
            return Ok(special);
        }
        let scale = (MIN_SIGNIFICANT - self.ln_weight()).max(self.scale).clamp(0, MAX_DISPLAY_SCALE);
        self.ln_scaled(scale)
    }

    /// The result for special values, the errors for those without logarithm.
    fn logarithm_special(&self) -> SqlResult<Option<Numeric>> {
        let error = |text: &str| Err(sql_err!(INVALID_ARGUMENT_FOR_LOG, "cannot take logarithm of {text}"));
        match (self.kind, self.signum()) {
            (Kind::NaN | Kind::Infinity, _) => Ok(Some(self.clone())),
            (_, 0) => error("zero"),
            (_, -1) => error("a negative number"),
            _ => Ok(None),
        }
    }

    /// Natural logarithm of a positive number, to `scale` digits.
    fn ln_scaled(&self, scale: i32) -> SqlResult<Numeric> {
        let digits = scale + 12;
        // Bring the argument near 1 by a power of ten, then by square roots.
        let power = self.log10_estimate().round() as i32;
        let mut x = if power == 0 { self.clone() } else { self.shift10(-power) };
        let mut doublings = 0;
        while x.compare(&parse("0.9")).is_le() || x.compare(&parse("1.1")).is_ge() {
            x = x.sqrt_floor(digits + 2)?;
            doublings += 1;
        }
        let mut result = atanh_series(&x, digits)?;
        for _ in 0..=doublings {
            result = result.add(&result.clone());
        }
        if power != 0 {
            result = result.add(&ln_ten(digits)?.mul_exact(&Numeric::from_i64(i64::from(power))));
        }
        Ok(result.round(scale))
    }

    /// Logarithm of `self` to the given base.
    pub fn log(base: &Numeric, number: &Numeric) -> SqlResult<Numeric> {
        if base.is_nan() || number.is_nan() {
            return Ok(Numeric::nan());
        }
        base.logarithm_special()?;
        number.logarithm_special()?;
        match (base.is_finite(), number.is_finite()) {
            (false, false) => return Ok(Numeric::nan()),
            (false, true) => return Ok(Numeric::zero()),
            (true, false) => return Ok(number.clone()),
            _ => {}
        }
        // Digits of the quotient: the two logarithms' weights say where it begins.
        let (weight_base, weight_number) = (base.ln_weight(), number.ln_weight());
        let scale = (MIN_SIGNIFICANT - (weight_number - weight_base))
            .max(base.scale)
            .max(number.scale)
            .clamp(0, MAX_DISPLAY_SCALE);
        let ln_base =
            base.ln_scaled((scale + weight_number - weight_base - weight_base + 10).max(scale + 10))?;
        let ln_number = number.ln_scaled((scale + weight_base + 10).max(10))?;
        if ln_base.is_zero() {
            return Err(sql_err!(DIVISION_BY_ZERO, "division by zero"));
        }
        Ok(ln_number.div_rounded(&ln_base, scale))
    }

    /// `self` to the power of `exponent`.
    pub fn power(&self, exponent: &Numeric) -> SqlResult<Numeric> {
        if let Some(special) = power_special(self, exponent)? {
            return Ok(special);
        }
        let whole = exponent.is_integer();
        if self.is_zero() && exponent.signum() < 0 {
            return Err(sql_err!(
                INVALID_ARGUMENT_FOR_POWER_FUNCTION,
                "zero raised to a negative power is undefined"
            ));
        }
        if self.signum() < 0 && !whole {
            return Err(sql_err!(
                INVALID_ARGUMENT_FOR_POWER_FUNCTION,
                "a negative number raised to a non-integer power yields a complex result"
            ));
        }
        if whole && let Some(n) = exponent.to_i128().and_then(|n| i32::try_from(n).ok()) {
            let scale = self.scale;
            return self.power_int(n, exponent.scale.max(scale));
        }
        if self.is_zero() {
            return Ok(Numeric {
                scale: MIN_SIGNIFICANT.max(self.scale).max(exponent.scale),
                ..Numeric::zero()
            });
        }
        let odd = whole && exponent.is_odd();
        let magnitude = self.clone().abs();
        // e^(exponent · ln |self|), first roughly to learn where the digits begin.
        let rough = magnitude.log10_estimate() * std::f64::consts::LN_10;
        let rough = if rough.abs() < 1e-10 { magnitude.ln_scaled(40)?.to_f64() } else { rough };
        let decimal = exponent.to_f64() * rough * std::f64::consts::LOG10_E;
        if decimal > f64::from(MAX_WEIGHT + 1) * 4.0 {
            return Err(overflow());
        }
        let estimate = decimal.clamp(-16_383.0, 16_383.0) as i32;
        let scale =
            (MIN_SIGNIFICANT - estimate).max(self.scale).max(exponent.scale).clamp(0, MAX_DISPLAY_SCALE);
        if decimal < -f64::from(scale) - 2.0 {
            return Ok(Numeric { scale, ..Numeric::zero() });
        }
        let digits = (scale + estimate.max(0) + 10 + exponent.log10_estimate().max(0.0) as i32).max(20);
        let product = magnitude.ln_scaled(digits)?.mul_rounded(exponent, digits);
        let result = product.exp_scaled(scale)?;
        Ok(if odd && self.signum() < 0 { result.negate() } else { result })
    }

    /// Integer power by squaring.
    fn power_int(&self, n: i32, least_scale: i32) -> SqlResult<Numeric> {
        let decimal = if self.is_zero() { 0.0 } else { self.log10_estimate() * f64::from(n) };
        if decimal > f64::from(MAX_WEIGHT + 1) * f64::from(LIMB_DIGITS) {
            return Err(overflow());
        }
        let scale = |decimal: f64| {
            (MIN_SIGNIFICANT - decimal.clamp(-20_000.0, 140_000.0) as i32)
                .max(least_scale)
                .clamp(0, MAX_DISPLAY_SCALE)
        };
        let scale = scale(decimal);
        match n {
            0 => return Ok(one().round(scale)),
            1 => return Ok(self.clone().round(scale)),
            -1 => return Ok(one().div_rounded(self, scale)),
            2 => return Ok(self.mul_rounded(self, scale)),
            _ if self.is_zero() => return Ok(Numeric { scale, ..Numeric::zero() }),
            _ => {}
        }
        if decimal + f64::from(scale) < -2.0 {
            return Ok(Numeric { scale, ..Numeric::zero() });
        }
        // Significant digits to keep: those of the result and guards for the roundings on the way.
        let digits =
            (decimal.max(0.0) as i32 + scale + 12 + (f64::from(n.unsigned_abs())).log10() as i32).max(24);
        let significant = |x: Numeric| {
            let weight = x.log10_estimate().floor() as i32;
            let keep = digits - weight;
            if x.scale > keep { x.round(keep) } else { x }
        };
        let mut bits = n.unsigned_abs();
        let mut square = self.clone();
        let mut result = if bits & 1 == 1 { self.clone() } else { one() };
        bits >>= 1;
        while bits > 0 {
            runtime::check_interrupts()?;
            square = significant(square.mul_exact(&square));
            if bits & 1 == 1 {
                result = significant(result.mul_exact(&square));
            }
            if square.weight > MAX_WEIGHT * 2 {
                return if n > 0 { Err(overflow()) } else { Ok(Numeric { scale, ..Numeric::zero() }) };
            }
            bits >>= 1;
        }
        let result = if n < 0 { one().div_rounded(&result, scale) } else { result.round(scale) };
        result.checked()
    }

    /// Whether there are only zeros behind the point.
    pub(super) fn is_integer(&self) -> bool {
        self.is_finite() && self.limbs.len() as i32 <= self.weight + 1
    }

    /// Whether a whole number is odd.
    fn is_odd(&self) -> bool {
        self.weight >= 0 && self.limbs.get(self.weight as usize).is_some_and(|limb| limb & 1 == 1)
    }
}

fn half() -> Numeric {
    parse("0.5")
}

/// A literal of this file.
fn parse(text: &str) -> Numeric {
    Numeric::parse(text).unwrap_or_else(|_| one())
}

/// Half of `ln x` for `x` near 1: z + z³/3 + z⁵/5 …, z = (x - 1) / (x + 1).
fn atanh_series(x: &Numeric, digits: i32) -> SqlResult<Numeric> {
    let z = x.sub(&one()).div_rounded(&x.add(&one()), digits);
    let square = z.mul_rounded(&z, digits);
    let mut power = z.clone();
    let mut sum = z;
    let mut n = 3;
    loop {
        runtime::check_interrupts()?;
        power = power.mul_rounded(&square, digits);
        let term = power.div_rounded(&Numeric::from_i64(n), digits);
        if term.is_zero() {
            return Ok(sum);
        }
        sum = sum.add(&term);
        n += 2;
    }
}

/// ln 10, with some digits more than asked for.
fn ln_ten(digits: i32) -> SqlResult<Numeric> {
    let digits = digits + 8;
    // ln 10 = 3 ln 2 + ln 1.25 and ln 2 = ln 4/3 + ln 3/2: arguments near enough to 1 for the series.
    let ln = |n: i64, d: i64| -> SqlResult<Numeric> {
        let series = atanh_series(&Numeric::from_i64(n).div_rounded(&Numeric::from_i64(d), digits), digits)?;
        Ok(series.add(&series.clone()))
    };
    let two = ln(4, 3)?.add(&ln(3, 2)?);
    let five_quarters = ln(5, 4)?;
    Ok(two.mul_exact(&Numeric::from_i64(3)).add(&five_quarters))
}

/// Results that IEEE 754 and POSIX fix for NaN and the infinities.
fn power_special(base: &Numeric, exponent: &Numeric) -> SqlResult<Option<Numeric>> {
    if base.is_nan() || exponent.is_nan() {
        let fixed = (base.is_nan() && exponent.is_zero()) || (exponent.is_nan() && *base == one());
        return Ok(Some(if fixed { one() } else { Numeric::nan() }));
    }
    if base.is_finite() && exponent.is_finite() {
        return Ok(None);
    }
    if *base == one() || exponent.is_zero() {
        return Ok(Some(one()));
    }
    if base.is_zero() {
        return if exponent.signum() < 0 {
            Err(sql_err!(INVALID_ARGUMENT_FOR_POWER_FUNCTION, "zero raised to a negative power is undefined"))
        } else {
            Ok(Some(Numeric::zero()))
        };
    }
    if !exponent.is_finite() {
        let magnitude = base.clone().abs();
        let grows = !magnitude.is_finite() || magnitude.compare(&one()).is_gt();
        if magnitude == one() {
            return Ok(Some(one()));
        }
        let infinite = grows == (exponent.signum() > 0);
        return Ok(Some(if infinite { Numeric::infinity(false) } else { Numeric::zero() }));
    }
    if exponent.signum() < 0 {
        return Ok(Some(Numeric::zero()));
    }
    if base.signum() > 0 {
        return Ok(Some(Numeric::infinity(false)));
    }
    if !exponent.is_integer() {
        return Err(sql_err!(
            INVALID_ARGUMENT_FOR_POWER_FUNCTION,
            "a negative number raised to a non-integer power yields a complex result"
        ));
    }
    Ok(Some(Numeric::infinity(exponent.is_odd())))
}
