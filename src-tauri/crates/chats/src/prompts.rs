//! The texts that a person keeps for messages.

use foretoken_protocol::Prompt;
use rusqlite::Row;

use crate::sql::all;
use crate::{ChatsError, Store};

impl Store {
    /// All prompts, in the person's order.
    pub fn prompts(&self) -> Result<Vec<Prompt>, ChatsError> {
        self.read(|db| Ok(all(db, "SELECT name, description, text FROM prompt ORDER BY place", [], prompt)?))
    }

    /// Keeps these prompts, in this order, and no others.
    pub fn set_prompts(&mut self, prompts: &[Prompt]) -> Result<(), ChatsError> {
        self.write(|db| {
            db.execute("DELETE FROM prompt", [])?;
            let mut insert =
                db.prepare("INSERT INTO prompt (name, description, text) VALUES (?1, ?2, ?3)")?;
            for Prompt { name, description, text } in prompts {
                insert.execute((name, description, text))?;
            }
            Ok(())
        })
    }
}

fn prompt(row: &Row<'_>) -> rusqlite::Result<Prompt> {
    Ok(Prompt { name: row.get("name")?, description: row.get("description")?, text: row.get("text")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_are_kept_in_their_order_and_replaced_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chats.db");
        let mut store = Store::open(&path).unwrap();
        assert_eq!(store.prompts().unwrap(), []);
        let prompt =
            |name: &str| Prompt { name: name.into(), description: "For".into(), text: "{{x}}\n".into() };
        let mut prompts = vec![prompt("Owl"), prompt("Bell"), prompt("Owl")];
        store.set_prompts(&prompts).unwrap();
        drop(store);
        let mut store = Store::open(&path).unwrap();
        assert_eq!(store.prompts().unwrap(), prompts);
        prompts.swap(0, 1);
        prompts.pop();
        store.set_prompts(&prompts).unwrap();
        assert_eq!(store.prompts().unwrap(), prompts);
    }
}
