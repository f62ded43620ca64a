//! The values of an expression: exact fractions of integers of any size, and what is known only about, which stays so
//! in every result that is computed from it. What an operation costs is estimated before it is done.

use std::f64::consts::{E, LN_2, LOG10_2, TAU};

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{Signed, ToPrimitive, Zero};

use super::CalculatorError::{Impossible, Large};
use super::{LARGEST, MOST_WORK, Result};

/// What the binary algorithm for the greatest common divisor does with each word for each bit.
const WORK_OF_BIT: u64 = 4;
/// 2^53, above which not every integer is a number of 64 bits, so that an angle would be another one.
const LARGEST_ANGLE: f64 = 9_007_199_254_740_992.0;
const NOT_REAL: &str = "the result is no real number, or is out of the range of what is not exact";
const NO_FACTORIAL: &str = "a factorial is that of an integer from 0 on";

/// A value.
#[derive(Debug, Clone)]
pub(super) enum Number {
    /// In lowest terms, with a positive denominator. Its `==` and `<` call themselves as often as the two values have
    /// quotients in common, so they are not for fractions of this size.
    Exact(BigRational),
    /// A root, a logarithm or the like, to about 16 digits.
    About(f64),
}

impl Number {
    pub(super) fn integer(value: impl Into<BigInt>) -> Self {
        Self::Exact(BigRational::from_integer(value.into()))
    }

    /// To 64 bits; what is too large is infinite.
    fn about(&self) -> f64 {
        match self {
            Self::Exact(value) => value.to_f64().unwrap_or(f64::NAN),
            Self::About(value) => *value,
        }
    }
}

/// Does the operations of one expression, as long as the work for them is not too much.
#[derive(Debug)]
pub(super) struct Work {
    /// How much more may be done, in multiplications of 64 by 64 bits.
    left: u64,
}

impl Work {
    pub(super) fn new() -> Self {
        Self { left: MOST_WORK }
    }

    /// Reads digits such as `12`, `.5` and `1.5e-9`.
    pub(super) fn read(&mut self, text: &str) -> Result<Number> {
        let (mantissa, power) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits: BigInt = format!("{whole}{part}").parse().map_err(|_| Large)?;
        let power = BigInt::from(power.parse::<i64>().map_err(|_| Large)?) - part.len();
        let scale = self.power(&BigRational::from_integer(10.into()), &power)?;
        self.product(&BigRational::from_integer(digits), &scale).map(Number::Exact)
    }

    /// Computes `left operator right`, where the operator is one of `+ - * of / ^ min max`.
    pub(super) fn binary(&mut self, operator: &str, left: Number, right: Number) -> Result<Number> {
        if let (Number::Exact(a), Number::Exact(b)) = (&left, &right) {
            let exact = match operator {
                "+" => self.sum(a, b)?,
                "-" => self.sum(a, &-b)?,
                "/" => self.product(a, &reciprocal(b)?)?,
                "^" if b.is_integer() => self.power(a, b.numer())?,
                "^" => return real(left.about().powf(right.about())),
                "min" | "max" => {
                    let is_smaller = self.sum(a, &-b)?.is_negative();
                    return Ok(if is_smaller == (operator == "min") { left } else { right });
                }
                _ => self.product(a, b)?,
            };
            return Ok(Number::Exact(exact));
        }
        let (left, right) = (left.about(), right.about());
        real(match operator {
            "+" => left + right,
            "-" => left - right,
            "/" if right == 0.0 => return Err(Impossible { reason: "division by zero" }),
            "/" => left / right,
            "^" => left.powf(right),
            "min" => left.min(right),
            "max" => left.max(right),
            _ => left * right,
        })
    }

    pub(super) fn factorial(&mut self, value: &Number) -> Result<Number> {
        match value {
            Number::Exact(value) if value.is_integer() && !value.is_negative() => {
                let count = value.numer().to_u32().ok_or(Large)?;
                // Stirling's formula.
                let about = f64::from(count.max(1));
                self.spend_on_bits(about * (about / E).log2() + (TAU * about).log2() / 2.0)?;
                Ok(Number::integer(product_of(1, count)))
            }
            _ => Err(Impossible { reason: NO_FACTORIAL }),
        }
    }

    /// Computes a function of one value.
    pub(super) fn function(&mut self, name: &str, value: Number) -> Result<Number> {
        let about = value.about();
        if let Number::Exact(value) = &value {
            let (numerator, denominator) = (value.numer(), value.denom());
            self.spend(words(numerator) * words(denominator))?;
            match name {
                "abs" => return Ok(Number::Exact(value.abs())),
                "floor" => return Ok(Number::Exact(value.floor())),
                "ceil" => return Ok(Number::Exact(value.ceil())),
                "round" => return Ok(Number::integer(nearest(numerator, denominator))),
                "sqrt" if !value.is_negative() => {
                    self.spend(8 * (words(numerator).pow(2) + words(denominator).pow(2)))?;
                    let root = BigRational::new_raw(numerator.sqrt(), denominator.sqrt());
                    if root.numer().pow(2) == *numerator && root.denom().pow(2) == *denominator {
                        return Ok(Number::Exact(root));
                    }
                }
                // As a number of 64 bits it would be infinite or 0.
                "ln" | "log10" if value.is_positive() && !about.is_normal() => {
                    return real(log2(value) * if name == "ln" { LN_2 } else { LOG10_2 });
                }
                _ => {}
            }
        }
        real(match name {
            "abs" => about.abs(),
            "floor" => about.floor(),
            "ceil" => about.ceil(),
            "round" => about.round(),
            "sqrt" => about.sqrt(),
            "ln" => about.ln(),
            "log10" => about.log10(),
            "exp" => about.exp(),
            _ if about.abs() > LARGEST_ANGLE => {
                return Err(Impossible { reason: "an angle is at most 2^53" });
            }
            "sin" => about.sin(),
            "cos" => about.cos(),
            _ => about.tan(),
        })
    }

    /// Counts operations before they are done.
    fn spend(&mut self, operations: u64) -> Result<()> {
        self.left = self.left.checked_sub(operations).ok_or(Large)?;
        Ok(())
    }

    /// Counts what has a result of so many bits, as if each pair of its words were multiplied.
    fn spend_on_bits(&mut self, bits: f64) -> Result<()> {
        if bits > LARGEST {
            return Err(Large);
        }
        self.spend((bits / 64.0 + 1.0).powi(2) as u64)
    }

    fn times(&mut self, left: &BigInt, right: &BigInt) -> Result<BigInt> {
        if left.bits() + right.bits() > LARGEST as u64 + 1 {
            return Err(Large);
        }
        self.spend(words(left) * words(right))?;
        Ok(left * right)
    }

    /// Divides an integer and a positive one by their greatest common divisor.
    fn lowest(&mut self, left: &BigInt, right: &BigInt) -> Result<(BigInt, BigInt)> {
        let (mut divisor, mut rest) = (left.clone(), right.clone());
        // A division is the fastest step between lengths that differ, subtractions are so between like ones.
        while !rest.is_zero() {
            self.spend(words(&rest) * (words(&divisor).saturating_sub(words(&rest)) + 2))?;
            (divisor, rest) = (rest.clone(), (divisor % rest).abs());
            if !rest.is_zero() && words(&rest) + 1 >= words(&divisor) {
                self.spend(WORK_OF_BIT * divisor.bits() * words(&divisor))?;
                divisor = &divisor / BigRational::new(rest, divisor.clone()).denom();
                break;
            }
        }
        self.spend(words(&divisor) * (words(left).max(words(right)) - words(&divisor) + 1) * 2)?;
        Ok((left / &divisor, right / &divisor))
    }

    fn sum(&mut self, left: &BigRational, right: &BigRational) -> Result<BigRational> {
        // Knuth's way: the divisors are no longer than what the two denominators have in common.
        let (of_left, of_right) = self.lowest(left.denom(), right.denom())?;
        let common = left.denom() / &of_left;
        let numerator = self.times(left.numer(), &of_right)? + self.times(right.numer(), &of_left)?;
        let (numerator, common) = self.lowest(&numerator, &common)?;
        let apart = self.times(&of_left, &of_right)?;
        Ok(BigRational::new_raw(numerator, self.times(&apart, &common)?))
    }

    fn product(&mut self, left: &BigRational, right: &BigRational) -> Result<BigRational> {
        let (left_numerator, right_denominator) = self.lowest(left.numer(), right.denom())?;
        let (right_numerator, left_denominator) = self.lowest(right.numer(), left.denom())?;
        let numerator = self.times(&left_numerator, &right_numerator)?;
        Ok(BigRational::new_raw(numerator, self.times(&left_denominator, &right_denominator)?))
    }

    fn power(&mut self, base: &BigRational, exponent: &BigInt) -> Result<BigRational> {
        let base = if exponent.is_negative() { reciprocal(base)? } else { base.clone() };
        let exponent = exponent.magnitude().to_u32().ok_or(Large)?;
        for part in [base.numer(), base.denom()] {
            self.spend_on_bits(bits(part).max(0.0) * f64::from(exponent))?;
        }
        Ok(BigRational::new_raw(base.numer().pow(exponent), base.denom().pow(exponent)))
    }
}

/// A value that is known about, unless there is none.
fn real(value: f64) -> Result<Number> {
    if value.is_finite() { Ok(Number::About(value)) } else { Err(Impossible { reason: NOT_REAL }) }
}

fn reciprocal(value: &BigRational) -> Result<BigRational> {
    let sign = value.numer().signum();
    if sign.is_zero() {
        return Err(Impossible { reason: "division by zero" });
    }
    Ok(BigRational::new_raw(value.denom() * &sign, value.numer() * &sign))
}

/// The integer nearest to a quotient, halves away from zero. The denominator is positive.
pub(super) fn nearest(numerator: &BigInt, denominator: &BigInt) -> BigInt {
    (numerator * 2 + denominator * numerator.signum()) / (denominator * 2)
}

/// The binary logarithm of the absolute value, which may be out of the range of numbers of 64 bits.
pub(super) fn log2(value: &BigRational) -> f64 {
    bits(value.numer()) - bits(value.denom())
}

/// The binary logarithm of the absolute value of an integer.
fn bits(value: &BigInt) -> f64 {
    let below = value.bits().saturating_sub(64);
    (value.abs() >> below).to_f64().unwrap_or(f64::NAN).log2() + below as f64
}

/// How many words of 64 bits an integer has.
fn words(value: &BigInt) -> u64 {
    value.bits() / 64 + 1
}

/// The product of the integers from one to another, by halves, so that its factors are of like size.
fn product_of(first: u32, last: u32) -> BigInt {
    if last < first + 16 {
        return (first..=last).product();
    }
    let middle = first + (last - first) / 2;
    product_of(first, middle) * product_of(middle + 1, last)
}
