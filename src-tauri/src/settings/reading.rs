//! Reading the settings: what the file says, as much of it as settings can hold.

use std::io::ErrorKind;
use std::path::Path;

use serde::de::Error as _;
use serde_json::{Map, Value};

use super::{Settings, in_bounds, local_api_in_bounds};

/// What came of reading the file.
pub(super) enum FileContent {
    /// What it says; the defaults where there is no file.
    Settings(Box<Settings>),
    /// It was read and makes no sense.
    Damaged(String),
    /// It could not be read, which says nothing of what is in it.
    Unreadable(std::io::Error),
}

/// Reads the file.
pub(super) fn read(path: &Path) -> FileContent {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return FileContent::Settings(Box::default()),
        Err(error) => return FileContent::Unreadable(error),
    };
    match settings_in(&bytes) {
        Ok((settings, lost)) => {
            for name in lost {
                tracing::warn!("{}: the value of {name} makes no sense and is left out", path.display());
            }
            FileContent::Settings(Box::new(settings))
        }
        Err(error) => FileContent::Damaged(error.to_string()),
    }
}

/// The settings in a file, and the names of values that this version does not know. Each of those takes its default.
pub(super) fn settings_in(bytes: &[u8]) -> serde_json::Result<(Settings, Vec<String>)> {
    let found: Value = serde_json::from_slice(bytes)?;
    if !found.is_object() {
        return Err(serde_json::Error::custom("it holds no settings"));
    }
    let mut lost = Vec::new();
    let defaults = serde_json::to_value(Settings::default())?;
    let fits = |value: &Value| serde_json::from_value::<Settings>(value.clone()).is_ok();
    let fitting = fitting(found, &defaults, String::new(), &mut lost, &fits).unwrap_or(defaults);
    let mut settings: Settings = serde_json::from_value(fitting)?;
    settings.preferences = in_bounds(settings.preferences);
    settings.local_api = local_api_in_bounds(settings.local_api);
    Ok((settings, lost))
}

/// As much of `found` as `fits` where `default` is: all of it, or the parts that do.
fn fitting(
    found: Value,
    default: &Value,
    name: String,
    lost: &mut Vec<String>,
    fits: &dyn Fn(&Value) -> bool,
) -> Option<Value> {
    if fits(&found) {
        return Some(found);
    }
    let nothing = match &found {
        Value::Object(_) if default.is_object() => default.clone(),
        Value::Object(_) => Value::Object(Map::new()),
        Value::Array(_) => Value::Array(Vec::new()),
        _ => Value::Null,
    };
    match (found, nothing) {
        (Value::Object(found), Value::Object(mut kept)) if fits(&Value::Object(kept.clone())) => {
            for (key, value) in found {
                let default = kept.get(&key).cloned().unwrap_or_default();
                let with = |value: &Value| {
                    let mut whole = kept.clone();
                    whole.insert(key.clone(), value.clone());
                    fits(&Value::Object(whole))
                };
                let name = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
                if let Some(value) = fitting(value, &default, name, lost, &with) {
                    kept.insert(key, value);
                }
            }
            Some(Value::Object(kept))
        }
        (Value::Array(found), Value::Array(mut kept)) if fits(&Value::Array(Vec::new())) => {
            for (index, value) in found.into_iter().enumerate() {
                let with = |value: &Value| {
                    let mut whole = kept.clone();
                    whole.push(value.clone());
                    fits(&Value::Array(whole))
                };
                let name = format!("{name}[{index}]");
                if let Some(value) = fitting(value, &Value::Null, name, lost, &with) {
                    kept.push(value);
                }
            }
            Some(Value::Array(kept))
        }
        _ => {
            lost.push(name);
            None
        }
    }
}
