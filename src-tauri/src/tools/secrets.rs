//! The values of servers' variables and headers: in the system's keychain, all of them in one entry.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use foretoken_tools::configuration::Secret;

use crate::keychain::{KeychainError, SecretStore};

/// Values by name.
pub(super) type Values = BTreeMap<String, Secret>;

/// Values by server and name, as the keychain has them.
type All = BTreeMap<String, Values>;

/// The values. The keychain, which may ask the person for a password, is read when a value is first needed, and neither
/// read nor written for servers without any.
#[derive(Debug)]
pub(super) struct Secrets {
    keychain: Box<dyn SecretStore>,
    /// What the keychain has, once it was read.
    read: Mutex<Option<All>>,
}

impl Secrets {
    pub(super) fn new(keychain: Box<dyn SecretStore>) -> Self {
        Self { keychain, read: Mutex::new(None) }
    }

    /// The values of a server that has these names. Blocks.
    pub(super) fn values(&self, slug: &str, names: &[String]) -> Result<Values, KeychainError> {
        if names.is_empty() {
            return Ok(Values::new());
        }
        let mut read = self.lock();
        let values = self.all(&mut read)?.get(slug).cloned().unwrap_or_default();
        Ok(values.into_iter().filter(|(name, _)| names.contains(name)).collect())
    }

    /// Keeps the values of these servers in place of those that they had, and gives up those of a server without any.
    /// Blocks.
    pub(super) fn keep(&self, servers: &BTreeMap<String, Values>) -> Result<(), KeychainError> {
        let mut read = self.lock();
        let mut all = self.all(&mut read)?.clone();
        for (slug, values) in servers {
            if values.is_empty() {
                all.remove(slug);
            } else {
                all.insert(slug.clone(), values.clone());
            }
        }
        if read.as_ref() != Some(&all) {
            if all.is_empty() {
                self.keychain.remove()?
            } else {
                self.keychain.write(&written(&all))?
            }
            *read = Some(all);
        }
        Ok(())
    }

    fn all<'a>(&self, read: &'a mut Option<All>) -> Result<&'a All, KeychainError> {
        if read.is_none() {
            // What somebody else has made of it holds nothing.
            let all = self.keychain.read()?.and_then(|text| serde_json::from_str(&text).ok());
            *read = Some(all.unwrap_or_default());
        }
        Ok(read.get_or_insert_default())
    }

    fn lock(&self) -> MutexGuard<'_, Option<All>> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A secret is written nowhere else.
fn written(all: &All) -> String {
    let revealed: BTreeMap<_, BTreeMap<_, _>> = all
        .iter()
        .map(|(slug, values)| (slug, values.iter().map(|(name, value)| (name, value.reveal())).collect()))
        .collect();
    serde_json::json!(revealed).to_string()
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// A keychain that counts how often it is asked.
    #[derive(Debug, Clone, Default)]
    pub(in crate::tools) struct Fake {
        pub(in crate::tools) secret: Arc<Mutex<Option<String>>>,
        pub(in crate::tools) asked: Arc<AtomicUsize>,
        pub(in crate::tools) is_missing: bool,
    }

    impl Fake {
        fn ask(&self) -> Result<(), KeychainError> {
            self.asked.fetch_add(1, Ordering::Relaxed);
            if self.is_missing { Err(KeychainError::Unavailable) } else { Ok(()) }
        }
    }

    impl SecretStore for Fake {
        fn read(&self) -> Result<Option<String>, KeychainError> {
            self.ask()?;
            Ok(self.secret.lock().unwrap().clone())
        }

        fn write(&self, secret: &str) -> Result<(), KeychainError> {
            self.ask()?;
            *self.secret.lock().unwrap() = Some(secret.to_owned());
            Ok(())
        }

        fn remove(&self) -> Result<(), KeychainError> {
            self.ask()?;
            *self.secret.lock().unwrap() = None;
            Ok(())
        }
    }

    fn values(all: &[(&str, &str)]) -> Values {
        all.iter().map(|&(name, value)| (name.to_owned(), Secret::new(value))).collect()
    }

    fn keep(secrets: &Secrets, slug: &str, of: &[(&str, &str)]) -> Result<(), KeychainError> {
        secrets.keep(&BTreeMap::from([(slug.to_owned(), values(of))]))
    }

    #[test]
    fn values_are_read_back_by_server_and_name() {
        let fake = Fake::default();
        let secrets = Secrets::new(Box::new(fake.clone()));
        keep(&secrets, "one", &[("A", "1"), ("B", "2")]).unwrap();
        keep(&secrets, "two", &[("A", "3")]).unwrap();
        let again = Secrets::new(Box::new(fake.clone()));
        let named = |slug, name: &str| again.values(slug, &[name.to_owned()]).unwrap();
        assert_eq!(named("one", "A"), values(&[("A", "1")]));
        assert_eq!(named("two", "A"), values(&[("A", "3")]));
        assert_eq!(named("two", "B"), values(&[]));
        assert_eq!(named("three", "A"), values(&[]));

        keep(&again, "one", &[]).unwrap();
        assert_eq!(*fake.secret.lock().unwrap(), Some(r#"{"two":{"A":"3"}}"#.into()));
        keep(&again, "two", &[]).unwrap();
        assert_eq!(*fake.secret.lock().unwrap(), None, "nothing is left in it");
    }

    #[test]
    fn nobody_is_asked_for_a_server_without_values() {
        let fake = Fake::default();
        let secrets = Secrets::new(Box::new(fake.clone()));
        assert_eq!(secrets.values("one", &[]).unwrap(), values(&[]));
        assert_eq!(fake.asked.load(Ordering::Relaxed), 0);
        for _ in 0..3 {
            secrets.values("one", &["A".into()]).unwrap();
        }
        assert_eq!(fake.asked.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn what_a_keychain_did_not_keep_is_nowhere() {
        let fake = Fake { is_missing: true, ..Fake::default() };
        let secrets = Secrets::new(Box::new(fake));
        assert!(keep(&secrets, "one", &[("A", "1")]).is_err());
        assert!(secrets.values("one", &["A".into()]).is_err());
    }

    #[test]
    fn no_value_is_shown() {
        let secrets = Secrets::new(Box::<Fake>::default());
        keep(&secrets, "one", &[("A", "hunter2")]).unwrap();
        assert!(!format!("{:?}", secrets.read).contains("hunter2"));
    }
}
