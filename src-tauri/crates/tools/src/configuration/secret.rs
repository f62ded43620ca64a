//! Values that are shown nowhere.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The value of an environment variable or of a header. It is never written by `Debug`, and as JSON it is `null`, which
/// does not read back; a text that the person wrote does.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Of a value.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// The value, for the keychain and for the server that it is meant for.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_unit()
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_shown_nowhere() {
        let secret = Secret::new("hunter2");
        assert_eq!(format!("{secret:?} {:?}", Some(&secret)), "Secret Some(Secret)");
        assert_eq!(serde_json::to_string(&secret).unwrap(), "null");
        assert!(serde_json::from_str::<Secret>("null").is_err());
        assert_eq!(serde_json::from_str::<Secret>("\"hunter2\"").unwrap().reveal(), "hunter2");
    }
}
