//! Reading the JSON files of a checkpoint: bounded, and with errors that name the file and the key.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde_json::{Map, Value};

use super::CheckpointError;

/// A JSON object.
pub(super) type Object = Map<String, Value>;

/// Reads a file that must be a JSON object of at most `limit` bytes.
pub(super) fn read_object(path: &Path, limit: u64) -> Result<Object, CheckpointError> {
    let unreadable = |reason: String| CheckpointError::ConfigUnreadable { path: path.to_owned(), reason };
    let io = |source| CheckpointError::Io { path: path.to_owned(), source };
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(limit + 1).read_to_end(&mut bytes)).map_err(io)?;
    if bytes.len() as u64 > limit {
        return Err(unreadable(format!("it is longer than {limit} bytes")));
    }
    parse_object(path, &bytes)
}

/// The JSON object that a file's bytes are.
pub(super) fn parse_object(path: &Path, bytes: &[u8]) -> Result<Object, CheckpointError> {
    let unreadable = |reason: String| CheckpointError::ConfigUnreadable { path: path.to_owned(), reason };
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(unreadable("it is not a JSON object".into())),
        Err(error) => Err(unreadable(error.to_string())),
    }
}

/// Looks keys up in several objects, the first that has one wins. A `null` counts as absent.
#[derive(Debug, Clone)]
pub(super) struct Keys<'a>(pub(super) Vec<&'a Object>);

impl<'a> Keys<'a> {
    pub(super) fn get(&self, key: &str) -> Option<&'a Value> {
        self.0.iter().find_map(|object| object.get(key).filter(|value| !value.is_null()))
    }

    /// An object of its own.
    pub(super) fn object(&self, key: &str) -> Result<Option<&'a Object>, CheckpointError> {
        self.read(key, "an object", |value| value.as_object())
    }

    /// A whole number from `min` to `max`.
    pub(super) fn integer(&self, key: &str, min: u64, max: u64) -> Result<Option<u64>, CheckpointError> {
        self.read(key, &format!("a whole number from {min} to {max}"), |value| {
            value.as_u64().filter(|number| (min..=max).contains(number))
        })
    }

    /// A number for which `allowed` holds.
    pub(super) fn number(
        &self,
        key: &str,
        expected: &str,
        allowed: impl Fn(f64) -> bool,
    ) -> Result<Option<f64>, CheckpointError> {
        self.read(key, expected, |value| {
            value.as_f64().filter(|number| number.is_finite() && allowed(*number))
        })
    }

    pub(super) fn flag(&self, key: &str) -> Result<Option<bool>, CheckpointError> {
        self.read(key, "true or false", Value::as_bool)
    }

    pub(super) fn text(&self, key: &str) -> Result<Option<&'a str>, CheckpointError> {
        self.read(key, "a text", |value| value.as_str())
    }

    fn read<T>(
        &self,
        key: &str,
        expected: &str,
        parse: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, CheckpointError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        match parse(value) {
            Some(parsed) => Ok(Some(parsed)),
            None => Err(invalid(key, Some(value), expected)),
        }
    }
}

/// The error for a key whose value is wrong or absent.
pub(super) fn invalid(key: &str, value: Option<&Value>, expected: impl Into<String>) -> CheckpointError {
    CheckpointError::ConfigInvalid {
        key: key.into(),
        value: value.map_or_else(|| "nothing".into(), excerpt),
        expected: expected.into(),
    }
}

/// A value as JSON, short enough for a sentence.
pub(super) fn excerpt(value: &Value) -> String {
    const LIMIT: usize = 60;
    let text = value.to_string();
    match text.char_indices().nth(LIMIT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
