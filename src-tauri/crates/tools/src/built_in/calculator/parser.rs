//! Reads an expression by recursive descent, so that it means one thing or is refused, and has each operation done as
//! soon as its values are known.

use std::f64::consts::{E, PI};

use super::number::{Number, Work};
use super::{CalculatorError, DEEPEST, Result};

/// What is called with one value in parentheses.
const FUNCTIONS: [&str; 11] =
    ["abs", "ceil", "cos", "exp", "floor", "ln", "log10", "round", "sin", "sqrt", "tan"];

/// Computes an expression.
pub(super) fn evaluate(expression: &str) -> Result<Number> {
    // Signs that people use for the same thing.
    let expression = expression
        .replace("**", "^")
        .replace(['×', '·', '⋅'], "*")
        .replace(['÷', '∕'], "/")
        .replace(['−', '–'], "-");
    let mut parser = Parser { rest: expression.trim_start(), depth: 0, work: Work::new() };
    let value = parser.sum()?;
    parser.expect("", "An operator or the end")?;
    Ok(value)
}

struct Parser<'a> {
    /// What is not read yet, from the beginning of a token.
    rest: &'a str,
    depth: usize,
    work: Work,
}

impl<'a> Parser<'a> {
    /// The next token: a number, a word or one character. At the end it is empty.
    fn peek(&self) -> &'a str {
        let length = match self.rest.chars().next() {
            None => 0,
            Some('0'..='9' | '.') => number_length(self.rest),
            Some(first) if first.is_alphabetic() => {
                self.rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(self.rest.len())
            }
            Some(first) => first.len_utf8(),
        };
        &self.rest[..length]
    }

    fn take(&mut self) -> &'a str {
        let token = self.peek();
        self.rest = self.rest[token.len()..].trim_start();
        token
    }

    fn expect(&mut self, token: &str, expected: &'static str) -> Result<()> {
        if self.peek() != token {
            return Err(self.unexpected(expected));
        }
        self.take();
        Ok(())
    }

    fn unexpected(&self, expected: &'static str) -> CalculatorError {
        let found = match self.peek() {
            "" => "the end".to_owned(),
            token => format!("\"{token}\""),
        };
        CalculatorError::Unexpected { expected, found }
    }

    /// Runs `read` one level deeper.
    fn deeper(&mut self, read: impl FnOnce(&mut Self) -> Result<Number>) -> Result<Number> {
        if self.depth == DEEPEST {
            return Err(CalculatorError::Deep);
        }
        self.depth += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    /// Reads operands with these operators between them, which are done from left to right.
    fn chain(&mut self, operators: &[&str], operand: fn(&mut Self) -> Result<Number>) -> Result<Number> {
        let mut value = operand(self)?;
        while operators.contains(&self.peek()) {
            let operator = self.take();
            let right = operand(self)?;
            value = self.work.binary(operator, value, right)?;
        }
        Ok(value)
    }

    fn sum(&mut self) -> Result<Number> {
        self.chain(&["+", "-"], Self::product)
    }

    fn product(&mut self) -> Result<Number> {
        self.chain(&["*", "/", "of"], Self::signed)
    }

    /// Reads a value with its signs and its power: `-2^2` is `-(2^2)`, and `2^3^2` is `2^(3^2)`.
    fn signed(&mut self) -> Result<Number> {
        if let "+" | "-" = self.peek() {
            let sign = self.take();
            let value = self.deeper(Self::signed)?;
            return self.work.binary(sign, Number::integer(0), value);
        }
        let base = self.postfixed()?;
        if self.peek() != "^" {
            return Ok(base);
        }
        self.take();
        let exponent = self.deeper(Self::signed)?;
        self.work.binary("^", base, exponent)
    }

    fn postfixed(&mut self) -> Result<Number> {
        let mut value = self.primary()?;
        while let "!" | "%" = self.peek() {
            value = match self.take() {
                "%" => self.work.binary("/", value, Number::integer(100))?,
                // It would be the factorial of the factorial or a double factorial.
                _ if self.peek() == "!" => {
                    return Err(self.unexpected("A closing parenthesis after the first \"!\""));
                }
                _ => self.work.factorial(&value)?,
            };
        }
        Ok(value)
    }

    fn primary(&mut self) -> Result<Number> {
        let token = self.peek();
        if token.contains(|c: char| c.is_ascii_digit()) && !token.starts_with(char::is_alphabetic) {
            self.take();
            return self.work.read(token);
        }
        if !FUNCTIONS.contains(&token) && !matches!(token, "(" | "pi" | "π" | "e" | "min" | "max") {
            return Err(self.unexpected("A value"));
        }
        self.take();
        match token {
            "pi" | "π" => return Ok(Number::About(PI)),
            "e" => return Ok(Number::About(E)),
            "(" => {}
            _ => self.expect("(", "\"(\" after a function")?,
        }
        let mut value = self.deeper(Self::sum)?;
        while matches!(token, "min" | "max") && self.peek() == "," {
            self.take();
            let other = self.deeper(Self::sum)?;
            value = self.work.binary(token, value, other)?;
        }
        self.expect(")", "An operator or \")\"")?;
        if FUNCTIONS.contains(&token) { self.work.function(token, value) } else { Ok(value) }
    }
}

/// How long the number at the beginning is: `12`, `1.5`, `1e-9`.
fn number_length(text: &str) -> usize {
    let digits = |from: usize| from + text[from..].bytes().take_while(u8::is_ascii_digit).count();
    let mut end = digits(0);
    if text[end..].starts_with('.') {
        end = digits(end + 1);
    }
    if let Some(power) = text[end..].strip_prefix(['e', 'E']) {
        let begin = text.len() - power.strip_prefix(['+', '-']).unwrap_or(power).len();
        if digits(begin) > begin {
            end = digits(begin);
        }
    }
    end
}
