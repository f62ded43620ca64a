//! What the tests of several modules need.

use foretoken_protocol::{GenerationSettings, Thinking};
use tempfile::TempDir;

use crate::Store;

/// An empty store in a folder of its own.
pub(crate) fn store() -> (TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("chats.db")).unwrap();
    (folder, store)
}

pub(crate) fn settings() -> GenerationSettings {
    GenerationSettings {
        sampling: Default::default(),
        drafting: Default::default(),
        max_tokens: 64,
        thinking: Thinking::Off,
        stop: vec![],
    }
}

/// The steps in which SQLite would do `sql`.
pub(crate) fn plan(store: &Store, sql: &str) -> String {
    let mut statement = store.db.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let values = vec![1; statement.parameter_count()];
    let steps = statement
        .query_map(rusqlite::params_from_iter(values), |row| row.get::<_, String>("detail"))
        .unwrap();
    steps.collect::<rusqlite::Result<Vec<_>>>().unwrap().join("; ")
}
