//! The tool `calculator`: arithmetic on exact fractions and integers of any size. Here are its limits, its errors and
//! how a result is worded.

mod number;
mod parser;

use std::f64::consts::LOG10_2;

use foretoken_protocol::ErrorReport;
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Zero};

use number::{Number, log2, nearest};

type Result<T> = std::result::Result<T, CalculatorError>;

/// The longest expression, in characters.
const LONGEST_EXPRESSION: usize = 1_000;
/// How deep parentheses, signs and powers may lie within each other.
const DEEPEST: usize = 100;
/// The largest numerator or denominator, in bits: 100,000 digits.
const LARGEST: f64 = 332_193.0;
/// The most work for an expression, in multiplications of 64 by 64 bits: about a fifth of a second.
const MOST_WORK: u64 = 600_000_000;
/// The longest result, in characters.
const LONGEST_RESULT: usize = 2_000;
/// Fractions of more bits, about 200 digits, are told as decimal numbers alone, and such denominators are not tried for
/// an exact decimal number.
const LONGEST_FRACTION: u64 = 660;
/// Digits of what is known exactly but told as a decimal number.
const DIGITS: usize = 30;
/// Digits of each end of an integer that is too long to be told.
const DIGITS_OF_ENDS: usize = 30;

/// Why there is no result. Each sentence is for the model, which can mend its call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CalculatorError {
    /// The expression has too many characters.
    #[error("The expression has {characters} characters; at most {LONGEST_EXPRESSION} are taken.")]
    Long {
        /// How many.
        characters: usize,
    },
    /// Parentheses, signs or powers lie too deep.
    #[error("The expression is nested more than {DEEPEST} deep.")]
    Deep,
    /// Something else was expected.
    #[error("{expected} is expected where there is {found}.")]
    Unexpected {
        /// What was expected.
        expected: &'static str,
        /// What there is.
        found: String,
    },
    /// A number would be too long, or too many long ones would be computed.
    #[error(
        "The numbers in this would be too long: they may have 100,000 digits, and fewer where many are computed."
    )]
    Large,
    /// There is no such value.
    #[error("This cannot be computed: {reason}.")]
    Impossible {
        /// Why.
        reason: &'static str,
    },
}

impl From<&CalculatorError> for ErrorReport {
    fn from(error: &CalculatorError) -> Self {
        Self { code: error.code().to_owned(), message: error.to_string(), hint: error.hint().to_owned() }
    }
}

impl CalculatorError {
    /// Stable, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Long { .. } | Self::Deep => "tool_calculator_size",
            Self::Unexpected { .. } => "tool_calculator_syntax",
            Self::Large => "tool_calculator_large",
            Self::Impossible { .. } => "tool_calculator_impossible",
        }
    }

    /// What the model can do about it: one sentence.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Long { .. } | Self::Deep => "Compute it in several calls.",
            Self::Unexpected { .. } => {
                "Use numbers such as 1000.5 or 1e6, + - * / ^ between values, ! and % (a hundredth) after them, \
                 \"of\", parentheses, pi, e, sqrt(), abs(), floor(), ceil(), round(), min(1, 2), max(1, 2), ln(), \
                 log10(), exp(), sin(), cos() and tan(), but no units, currencies or variables."
            }
            Self::Large => "Use smaller numbers or powers.",
            Self::Impossible { .. } => "Check the numbers and the parentheses.",
        }
    }
}

/// Computes `expression` and writes the result for the model. A result that does not say `approx.` or `about` is exact.
/// It takes at most about a fifth of a second, during which it does not yield: it is to be called outside of tasks.
pub fn calculate(expression: &str) -> Result<String> {
    let characters = expression.chars().count();
    if characters > LONGEST_EXPRESSION {
        return Err(CalculatorError::Long { characters });
    }
    Ok(match parser::evaluate(expression)? {
        Number::About(value) => format!("approx. {}", about(value)),
        Number::Exact(value) if value.is_integer() => integer(value.numer().to_string()),
        Number::Exact(value) => match (terminating(&value), rounded(&value)) {
            (Some(decimal), _) => decimal,
            (None, about) if value.numer().bits() + value.denom().bits() <= LONGEST_FRACTION => {
                format!("{value} (about {about})")
            }
            (None, about) => format!("approx. {about}"),
        },
    })
}

/// All digits of an integer; of a long one the first and the last, and how many there are.
fn integer(text: String) -> String {
    let count = text.trim_start_matches('-').len();
    if count <= LONGEST_RESULT {
        return text;
    }
    let first = &text[..text.len() - count + DIGITS_OF_ENDS];
    let last = &text[text.len() - DIGITS_OF_ENDS..];
    format!(
        "{first}...{last} (an integer of {count} digits; the first and the last {DIGITS_OF_ENDS} are given)"
    )
}

/// The decimal number of a fraction, if it ends and is not too long.
fn terminating(value: &BigRational) -> Option<String> {
    let denominator = value.denom();
    if denominator.bits() > LONGEST_FRACTION {
        return None;
    }
    let twos = denominator.trailing_zeros()?;
    let (mut rest, mut fives) = (denominator >> twos, 0);
    while (&rest % 5_u32).is_zero() {
        rest /= 5_u32;
        fives += 1;
    }
    let places = u32::try_from(twos.max(fives)).ok()?;
    let digits = value.numer() * BigInt::from(10).pow(places) / denominator;
    let text = decimal(&digits.to_string(), places as isize);
    (rest.is_one() && text.len() <= LONGEST_RESULT).then_some(text)
}

/// The decimal number of a fraction, rounded.
fn rounded(value: &BigRational) -> String {
    let mut places = DIGITS as isize - 1 - (log2(value) * LOG10_2).floor() as isize;
    loop {
        let power = BigInt::from(10).pow(u32::try_from(places.unsigned_abs()).unwrap_or(u32::MAX));
        let digits = match places {
            0.. => nearest(&(value.numer() * power), value.denom()),
            _ => nearest(value.numer(), &(value.denom() * power)),
        };
        let missing = DIGITS as isize - digits.magnitude().to_string().len() as isize;
        // The logarithm is not exact, and rounding can add a digit.
        if missing == 0 {
            return decimal(&digits.to_string(), places);
        }
        places += missing;
    }
}

/// What is known only about, to 14 digits.
fn about(value: f64) -> String {
    let text = format!("{value:.13e}");
    let (mantissa, power) = text.split_once('e').unwrap_or((&text, "0"));
    decimal(&mantissa.replace('.', ""), 13 - power.parse::<isize>().unwrap_or(0))
}

/// The decimal number of these digits with so many places, without zeros at the end, and with a power of ten where the
/// point is far from the digits.
fn decimal(text: &str, places: isize) -> String {
    let digits = text.trim_start_matches('-');
    let kept = digits.trim_end_matches('0');
    if kept.is_empty() {
        return "0".to_owned();
    }
    let sign = &text[..text.len() - digits.len()];
    let places = places - (digits.len() - kept.len()) as isize;
    let power = kept.len() as isize - 1 - places;
    if !(-10..DIGITS as isize).contains(&power) {
        let point = if kept.len() > 1 { "." } else { "" };
        return format!("{sign}{}{point}{}e{power}", &kept[..1], &kept[1..]);
    }
    if places <= 0 {
        return format!("{sign}{kept}{}", "0".repeat(places.unsigned_abs()));
    }
    let padded = format!("{kept:0>width$}", width = places as usize + 1);
    let (whole, part) = padded.split_at(padded.len() - places as usize);
    format!("{sign}{whole}.{part}")
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn is(expression: &str, expected: &str) {
        assert_eq!(calculate(expression).as_deref(), Ok(expected), "{expression}");
    }

    /// The numerator and the denominator of an exact result, told as `1/3`.
    fn fraction(expression: &str) -> String {
        match parser::evaluate(expression) {
            Ok(Number::Exact(value)) => value.to_string(),
            other => panic!("{expression} gave {other:?}"),
        }
    }

    #[test]
    fn sums_are_exact_whatever_their_size() {
        is("0.1 + 0.2", "0.3");
        is("2^10 - 1", "1023");
        is("99999999999999999999 * 99999999999999999999", "9999999999999999999800000000000000000001");
        is("20!", "2432902008176640000");
        is("1e3 + 1.5E-3 + .5 + 2.", "1002.5015");
        is("3 × 4 ÷ 2 − 1", "5");
        is("2**3 + 9 ÷ 3 – 1 · 2", "9");
        is("1/8", "0.125");
        is("-0.5", "-0.5");
        is("7 - 7", "0");
    }

    #[test]
    fn a_fraction_is_told_with_its_decimal_number() {
        is("1/3", "1/3 (about 0.333333333333333333333333333333)");
        is("-4/6", "-2/3 (about -0.666666666666666666666666666667)");
        is(
            "10^40/7",
            "10000000000000000000000000000000000000000/7 (about 1.42857142857142857142857142857e39)",
        );
        is("1/(3*10^30)", "1/3000000000000000000000000000000 (about 3.33333333333333333333333333333e-31)");
    }

    #[test]
    fn what_is_rounded_says_so() {
        is("sqrt(2)", "approx. 1.4142135623731");
        is("sqrt(16)", "4");
        is("sqrt(10^60 / 9)", "1000000000000000000000000000000/3 (about 333333333333333333333333333333)");
        is("sqrt(1/4)", "0.5");
        is("ln(2)", "approx. 0.69314718055995");
        is("pi", "approx. 3.1415926535898");
        is("exp(100)", "approx. 2.6881171418161e43");
        is("2^0.5", "approx. 1.4142135623731");
        is("log10(10^1000) + ln(e)", "approx. 1001");
        is("sin(0) + cos(0) + tan(0)", "approx. 1");
        is("max(3, pi)", "approx. 3.1415926535898");
    }

    #[test]
    fn operators_bind_as_in_mathematics() {
        is("1 + 2 * 3", "7");
        is("-2^2", "-4");
        is("2^3^2", "512");
        is("2^-2", "0.25");
        is("12 / 4 / 3", "1");
        is("10 - 4 - 3", "3");
        is("(1 + 2) * (3 + 4)", "21");
        is("2*pi - 2*π", "approx. 0");
        is("log10(10)^2", "approx. 1");
        is("2 * sqrt(16)", "8");
        is("- - 3", "3");
        is("(3!)! + 0! + -3!", "715");
        is("2^3! / 2^(-1)", "128");
        is("0^0 + (-1)^1000000001 + 0^1000000000", "0");
    }

    #[test]
    fn a_percentage_is_a_hundredth() {
        is("15% of 80", "12");
        is("5% * 200", "10");
        is("200 + 10%", "200.1");
        is("200 * (1 + 10%)", "220");
        is("50%^2", "0.25");
    }

    #[test]
    fn whole_parts_of_fractions_are_exact() {
        is("floor(10^30/7)", "142857142857142857142857142857");
        is("ceil(10^30/7)", "142857142857142857142857142858");
        is("floor(-7/2)", "-4");
        is("ceil(-7/2)", "-3");
        is("floor(6/2)", "3");
        is("round(5/2)", "3");
        is("round(-5/2)", "-3");
        is("round(2.4) + round(-2.6) + floor(0.5) + ceil(-0.5)", "-1");
        is("floor(sqrt(2))", "approx. 1");
        is("floor(-sqrt(2)) + round(sqrt(2)) - ceil(sqrt(2)) + abs(-pi / pi)", "approx. -2");
    }

    #[test]
    fn the_smallest_and_the_largest_of_values_are_chosen() {
        is("min(3, 1/3, 2)", "1/3 (about 0.333333333333333333333333333333)");
        is("max(-3, (1), max(0, -1/2))", "1");
        is("max(5)", "5");
        // Of two fractions with many quotients in common.
        let close = "(1 + 1/7^3000)^2";
        is(&format!("min({close}, {close} + 1/3^3000) - {close}"), "0");
    }

    #[test]
    fn of_a_long_integer_its_ends_and_its_length_are_told() {
        let last = (0..30_000).fold(1_u128, |power, _| power * 2 % 10_u128.pow(30));
        let ends = "(an integer of 9031 digits; the first and the last 30 are given)";
        is("2^30000", &format!("794090351913296032413251784349...{last:030} {ends}"));
        let ends = "(an integer of 2001 digits; the first and the last 30 are given)";
        is("-(10^2000)", &format!("-1{}...{} {ends}", "0".repeat(29), "0".repeat(30)));
        is("3^5000/2^8000", "approx. 2.32438618992110629000147477722e-23");
        is("(1 + 5%/12)^360", "approx. 4.46774431400613221242807011041");
        is("1 - 10^(-1000)", "approx. 1");
    }

    #[test]
    fn mistakes_are_told_so_that_they_can_be_mended() {
        let error = |expression: &str| calculate(expression).unwrap_err();
        assert_eq!(error(&"1".repeat(1_001)), CalculatorError::Long { characters: 1_001 });
        assert_eq!(error(&"(".repeat(101)), CalculatorError::Deep);
        assert_eq!(error(&format!("{}1", "-".repeat(900))), CalculatorError::Deep);
        is(&format!("{}1{}", "(".repeat(100), ")".repeat(100)), "1");
        for (expression, reason) in [
            ("1/0", "division by zero"),
            ("0^-1", "division by zero"),
            ("pi / (1 - 1)", "division by zero"),
            ("0.5!", "a factorial is that of an integer from 0 on"),
            ("(-1)!", "a factorial is that of an integer from 0 on"),
            ("tan(10^16)", "an angle is at most 2^53"),
        ] {
            assert_eq!(error(expression), CalculatorError::Impossible { reason }, "{expression}");
        }
        for (expression, message) in [
            (" ", "A value is expected where there is the end."),
            ("12 +", "A value is expected where there is the end."),
            ("()", "A value is expected where there is \")\"."),
            ("foo + 1", "A value is expected where there is \"foo\"."),
            ("gcd(4)", "A value is expected where there is \"gcd\"."),
            ("of 3", "A value is expected where there is \"of\"."),
            ("$5 * 2", "A value is expected where there is \"$\"."),
            ("3 × .", "A value is expected where there is \".\"."),
            ("1)", "An operator or the end is expected where there is \")\"."),
            ("1,5 + 1", "An operator or the end is expected where there is \",\"."),
            ("1/2pi", "An operator or the end is expected where there is \"pi\"."),
            ("8/2(2+2)", "An operator or the end is expected where there is \"(\"."),
            ("1 2/3", "An operator or the end is expected where there is \"2\"."),
            ("17 % 5", "An operator or the end is expected where there is \"5\"."),
            ("17 mod 5", "An operator or the end is expected where there is \"mod\"."),
            ("5 USD to EUR", "An operator or the end is expected where there is \"USD\"."),
            ("0xff", "An operator or the end is expected where there is \"xff\"."),
            ("(1 + 2", "An operator or \")\" is expected where there is the end."),
            ("sqrt(1, 2)", "An operator or \")\" is expected where there is \",\"."),
            ("max(1, (2, 3))", "An operator or \")\" is expected where there is \",\"."),
            ("sqrt 2", "\"(\" after a function is expected where there is \"2\"."),
            ("5!!", "A closing parenthesis after the first \"!\" is expected where there is \"!\"."),
        ] {
            assert_eq!(error(expression).to_string(), message);
        }
        for expression in [
            "2+2=",
            "a = 1",
            "\\x.x",
            "1; 2",
            "\"a\"",
            "@2020-01-01",
            "1 << 9",
            "5 # a",
            "1_000",
            "3²",
            "ж1",
            "1..2",
            "d6",
            "ans",
        ] {
            assert!(matches!(error(expression), CalculatorError::Unexpected { .. }), "{expression}");
        }
        for expression in ["sqrt(-1)", "ln(0)", "ln(-1)", "(-8)^(1/3)", "exp(1000)", "pi * 10^400"] {
            assert!(matches!(error(expression), CalculatorError::Impossible { .. }), "{expression}");
        }
        for expression in ["10^100001", "30000!", "1e100001", "1e-99999999999", "10^60000 * 10^60000"] {
            assert_eq!(error(expression), CalculatorError::Large, "{expression}");
        }
    }

    #[test]
    fn no_expression_takes_long() {
        let chain = |operator: &str| vec!["1"; 500].join(operator);
        let expressions = [
            "2^(2^40)".to_owned(),
            "100000000!".to_owned(),
            "1e1000000000".to_owned(),
            "1e-1000000000".to_owned(),
            "10^100000000".to_owned(),
            "9^9^9^9".to_owned(),
            "9^99999/7^99999".to_owned(),
            "(2^99999-1)/(3^99999-1) + 1/(5^40000+1)".to_owned(),
            "floor(9^99999*7^-20000)".to_owned(),
            "(1/7)^(1/99999999)".to_owned(),
            "2^0.000000000000000000001".to_owned(),
            "sqrt(7^99999)".to_owned(),
            format!("{}1{}", "1-(".repeat(49), ")".repeat(49)),
            format!("{}1{}", "2(".repeat(49), ")".repeat(49)),
            chain("-"),
            chain("*"),
            chain("/"),
            chain("^"),
            vec!["25000!"; 142].join("-"),
            vec!["1/7^3000"; 111].join("-"),
            vec!["1/9^4000!"; 100].join("+1/2^9999-"),
            format!("sqrt({})", ["9^9999"; 10].join("*")),
            "!".repeat(999),
        ];
        for expression in expressions {
            let begin = Instant::now();
            let result = calculate(&expression);
            let took = begin.elapsed();
            // Without optimisation it takes twenty times as long.
            assert!(took < Duration::from_secs(20), "{expression:.40} took {took:?}: {result:?}");
        }
    }

    /// A fraction in lowest terms.
    #[derive(Debug, Clone, Copy)]
    struct Ratio(i128, i128);

    impl Ratio {
        fn new(numerator: i128, denominator: i128) -> Self {
            let (mut a, mut b) = (numerator.unsigned_abs(), denominator.unsigned_abs());
            while b != 0 {
                (a, b) = (b, a % b);
            }
            let divisor = i128::try_from(a.max(1)).unwrap() * denominator.signum();
            Self(numerator / divisor, denominator / divisor)
        }

        fn written(self) -> String {
            if self.1 == 1 { self.0.to_string() } else { format!("({}/{})", self.0, self.1) }
        }
    }

    fn ratios() -> impl Strategy<Value = Ratio> {
        (-1_000_000_000_i128..1_000_000_000, prop_oneof![Just(1_i128), 1_i128..1_000_000])
            .prop_map(|(numerator, denominator)| Ratio::new(numerator, denominator))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn operations_equal_those_of_another_exact_arithmetic(
            a in ratios(), b in ratios(), operator in prop::sample::select(vec!['+', '-', '*', '/']),
        ) {
            prop_assume!(operator != '/' || b.0 != 0);
            let expected = match operator {
                '+' => Ratio::new(a.0 * b.1 + b.0 * a.1, a.1 * b.1),
                '-' => Ratio::new(a.0 * b.1 - b.0 * a.1, a.1 * b.1),
                '*' => Ratio::new(a.0 * b.0, a.1 * b.1),
                _ => Ratio::new(a.0 * b.1, a.1 * b.0),
            };
            let got = fraction(&format!("{} {operator} {}", a.written(), b.written()));
            let written = expected.written();
            prop_assert_eq!(got, written.trim_matches(['(', ')']));
        }

        #[test]
        fn powers_equal_those_of_another_exact_arithmetic(base in -999_i128..1_000, exponent in -6_i32..13) {
            prop_assume!(base != 0);
            let power = base.pow(exponent.unsigned_abs());
            let expected = if exponent < 0 { Ratio::new(1, power) } else { Ratio::new(power, 1) };
            let got = fraction(&format!("({base})^({exponent})"));
            let written = expected.written();
            prop_assert_eq!(got, written.trim_matches(['(', ')']));
        }

        #[test]
        fn the_decimal_number_beside_a_fraction_is_right_to_its_last_digit(
            numerator in 1_i128..1_000_000, denominator in 3_i128..1_000_000,
        ) {
            let Ratio(numerator, denominator) = Ratio::new(numerator, denominator);
            let got = calculate(&format!("{numerator}/{denominator}")).unwrap();
            let Some((fraction, about)) = got.split_once(" (about ") else {
                prop_assert!(!got.contains(char::is_alphabetic));
                return Ok(());
            };
            prop_assert_eq!(fraction, format!("{numerator}/{denominator}"));
            let about = about.trim_end_matches(')');
            let places = about.split_once('.').map_or(0, |(_, part)| part.len());
            // Long division, digit by digit.
            let (mut digits, mut rest) = ((numerator / denominator).to_string(), numerator % denominator);
            for _ in 0..places {
                rest *= 10;
                digits.push_str(&(rest / denominator).to_string());
                rest %= denominator;
            }
            let rounded = digits.parse::<i128>().unwrap() + i128::from(rest * 2 >= denominator);
            prop_assert_eq!(about.replace('.', "").parse::<i128>().unwrap(), rounded);
        }

        #[test]
        fn whole_parts_equal_those_of_another_exact_arithmetic(a in ratios()) {
            let Ratio(numerator, denominator) = a;
            let floor = numerator.div_euclid(denominator);
            let nearest = (2 * numerator.abs() + denominator).div_euclid(2 * denominator) * numerator.signum();
            let got = |function: &str| calculate(&format!("{function}({numerator}/{denominator})")).unwrap();
            prop_assert_eq!(got("floor"), floor.to_string());
            prop_assert_eq!(got("ceil"), (-(-numerator).div_euclid(denominator)).to_string());
            prop_assert_eq!(got("round"), nearest.to_string());
        }

        #[test]
        fn whatever_is_written_gets_an_answer(expression in "([0-9.]{1,3}|[-+*/^%!(),]| |min|sqrt|pi|e|of){0,12}") {
            if let Ok(text) = calculate(&expression) {
                prop_assert!(text.chars().count() <= LONGEST_RESULT + 1);
            }
        }
    }
}
