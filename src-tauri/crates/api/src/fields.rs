//! The fields of a JSON object, taken out one by one; what is left was not known. `null` is no value, everywhere.

use std::fmt::Display;
use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use crate::error::ApiError;
use crate::redacted::redacted;

redacted!(Fields);

/// An object of a request.
pub(crate) struct Fields {
    /// Where it stands in the request, up to and with the dot before its fields.
    place: String,
    map: Map<String, Value>,
}

impl Fields {
    /// The whole body.
    pub(crate) fn of_body(body: &[u8]) -> Result<Self, ApiError> {
        match serde_json::from_slice(body) {
            Ok(Value::Object(map)) => Ok(Self { place: String::new(), map }),
            Ok(other) => Err(ApiError::NotJson { reason: format!("it is {}", kind(&other)) }),
            Err(error) => Err(ApiError::NotJson { reason: error.to_string() }),
        }
    }

    /// An object that stands at `place`.
    pub(crate) fn at(place: &str, value: Value) -> Result<Self, ApiError> {
        match value {
            Value::Object(map) => Ok(Self { place: format!("{place}."), map }),
            other => Err(invalid(place, format!("it is {}, not an object", kind(&other)))),
        }
    }

    /// Takes a field out.
    pub(crate) fn take(&mut self, name: &str) -> Option<Value> {
        self.map.shift_remove(name).filter(|value| !value.is_null())
    }

    /// A field, which stays.
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.map.get(name).filter(|value| !value.is_null())
    }

    /// Whether a field is there.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.map.get(name).is_some_and(|value| !value.is_null())
    }

    /// How many bytes a field has as JSON, quotes not counted; 0 where it is not there.
    pub(crate) fn length(&self, name: &str) -> usize {
        match self.map.get(name) {
            None => 0,
            Some(Value::String(text)) => text.len(),
            Some(other) => other.to_string().len(),
        }
    }

    /// What a field is called in messages.
    pub(crate) fn name(&self, name: &str) -> String {
        format!("{}{name}", self.place)
    }

    /// That a field has a value that it cannot have.
    pub(crate) fn refuse(&self, name: &str, reason: impl Display) -> ApiError {
        invalid(&self.name(name), reason)
    }

    pub(crate) fn string(&mut self, name: &str) -> Result<Option<String>, ApiError> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.refuse(name, format!("it is {}, not a string", kind(&other)))),
        }
    }

    /// A string that must be there.
    pub(crate) fn required_string(&mut self, name: &str) -> Result<String, ApiError> {
        self.string(name)?.ok_or_else(|| self.refuse(name, "it is missing"))
    }

    pub(crate) fn boolean(&mut self, name: &str) -> Result<Option<bool>, ApiError> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Bool(value)) => Ok(Some(value)),
            Some(other) => Err(self.refuse(name, format!("it is {}, not true or false", kind(&other)))),
        }
    }

    /// A number within a range.
    pub(crate) fn number(&mut self, name: &str, range: RangeInclusive<f64>) -> Result<Option<f32>, ApiError> {
        let Some(value) = self.take(name) else { return Ok(None) };
        match value.as_f64() {
            Some(number) if range.contains(&number) => Ok(Some(number as f32)),
            _ => Err(self.refuse(name, format!("it is no number from {} to {}", range.start(), range.end()))),
        }
    }

    /// A whole number within a range. One of more than 63 bits counts as the largest of these.
    pub(crate) fn integer(
        &mut self,
        name: &str,
        range: RangeInclusive<i64>,
    ) -> Result<Option<i64>, ApiError> {
        let Some(value) = self.take(name) else { return Ok(None) };
        match value.as_i64().or_else(|| value.is_u64().then_some(i64::MAX)) {
            Some(number) if range.contains(&number) => Ok(Some(number)),
            _ => {
                let (low, high) = (range.start(), range.end());
                Err(self.refuse(name, format!("it is no whole number from {low} to {high}")))
            }
        }
    }

    pub(crate) fn array(&mut self, name: &str) -> Result<Option<Vec<Value>>, ApiError> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Array(values)) => Ok(Some(values)),
            Some(other) => Err(self.refuse(name, format!("it is {}, not an array", kind(&other)))),
        }
    }

    /// An array that must be there.
    pub(crate) fn required_array(&mut self, name: &str) -> Result<Vec<Value>, ApiError> {
        self.array(name)?.ok_or_else(|| self.refuse(name, "it is missing"))
    }

    pub(crate) fn object(&mut self, name: &str) -> Result<Option<Self>, ApiError> {
        let place = self.name(name);
        self.take(name).map(|value| Self::at(&place, value)).transpose()
    }

    /// The names of what was not taken and has a value.
    pub(crate) fn left(self) -> impl Iterator<Item = String> {
        let Self { place, map } = self;
        map.into_iter().filter(|(_, value)| !value.is_null()).map(move |(name, _)| format!("{place}{name}"))
    }
}

/// That a field has a value that it cannot have.
pub(crate) fn invalid(field: &str, reason: impl Display) -> ApiError {
    ApiError::InvalidValue { field: field.to_owned(), reason: reason.to_string() }
}

/// What a value is, in words.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
