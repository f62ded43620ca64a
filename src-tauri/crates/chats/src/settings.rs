//! What belongs to a chat besides its messages: settings, a draft, and the presets to choose settings from.

use foretoken_protocol::{
    Attachment, ChatId, ChatSettings, Draft, GenerationSettings, MessagePicture, OpenedChat, Preset, PresetId,
};
use rusqlite::{Connection, Row};

use crate::error::Fault;
use crate::pictures::described_list;
use crate::sql::{self, all, first};
use crate::store::DeletedPreset;
use crate::{ChatsError, Store, edits, list, pictures, tree};

impl Store {
    /// Everything that is shown when a chat opens.
    pub fn open_chat(&self, id: ChatId) -> Result<OpenedChat, ChatsError> {
        self.read(|db| {
            Ok(OpenedChat {
                chat: list::summary(db, id)?,
                settings: chat_settings(db, id)?,
                draft: draft(db, Some(id))?,
                edits: edits::of_chat(db, id)?,
                messages: tree::branch(db, id)?,
            })
        })
    }

    /// How replies are written in a chat.
    pub fn chat_settings(&self, id: ChatId) -> Result<ChatSettings, ChatsError> {
        self.read(|db| chat_settings(db, id))
    }

    /// Changes how replies are written in a chat.
    pub fn set_chat_settings(&mut self, id: ChatId, settings: &ChatSettings) -> Result<(), ChatsError> {
        // Presets are kept with the chats that are stored; a temporary one has what is in it.
        let preset = settings.preset.filter(|_| !self.is_temporary());
        let settings = ChatSettings { preset, ..settings.clone() };
        self.write(|db| {
            tree::must_exist(db, id)?;
            if let Some(preset) = settings.preset {
                find_preset(db, preset)?;
            }
            Ok(set_chat_settings(db, id, &settings)?)
        })
    }

    /// What was written and not sent in a chat, or in the one that is not begun yet.
    pub fn draft(&self, chat: Option<ChatId>) -> Result<Draft, ChatsError> {
        self.read(|db| draft(db, chat))
    }

    /// Keeps what is typed and not sent. An empty text is none.
    pub fn set_draft_text(&mut self, chat: Option<ChatId>, text: &str) -> Result<(), ChatsError> {
        self.write(|db| set_part_of_draft(db, chat, "text", text))
    }

    /// Keeps the files that are to go with what is typed.
    pub fn set_draft_files(&mut self, chat: Option<ChatId>, files: &[Attachment]) -> Result<(), ChatsError> {
        self.write(|db| set_part_of_draft(db, chat, "files", &sql::to_json(&files)?))
    }

    /// Keeps which pictures, of those that the store has, are to go with what is typed.
    pub fn set_draft_pictures(
        &mut self,
        chat: Option<ChatId>,
        pictures: &[MessagePicture],
    ) -> Result<(), ChatsError> {
        self.write(|db| set_part_of_draft(db, chat, "pictures", &pictures::named(db, pictures)?))
    }

    /// All presets by name.
    pub fn presets(&self) -> Result<Vec<Preset>, ChatsError> {
        self.read(|db| Ok(presets(db)?))
    }

    /// Adds a preset.
    pub fn add_preset(
        &mut self,
        name: &str,
        system_prompt: &str,
        generation: Option<&GenerationSettings>,
    ) -> Result<Preset, ChatsError> {
        self.write(|db| Ok(add_preset(db, name, system_prompt, generation)?))
    }

    /// Gives the preset of that id another content. Chats that were set by it keep their settings.
    pub fn change_preset(&mut self, preset: &Preset) -> Result<(), ChatsError> {
        self.write(|db| {
            let changed = db.execute(
                "UPDATE preset SET name = ?2, system_prompt = ?3, generation = ?4 WHERE id = ?1",
                (preset.id, &preset.name, &preset.system_prompt, to_json(preset.generation.as_ref())?),
            )?;
            must_be_one(preset.id, changed)
        })
    }

    /// Deletes a preset. Chats that were set by it keep their settings.
    pub fn delete_preset(&mut self, id: PresetId) -> Result<(), ChatsError> {
        let deleted = self.write(|db| {
            let preset = find_preset(db, id)?;
            let chats = all(db, "SELECT id FROM chat WHERE preset = ?1", [id], |row| row.get(0))?;
            db.execute("DELETE FROM preset WHERE id = ?1", [id])?;
            Ok(DeletedPreset { preset, chats })
        })?;
        self.deleted_presets.push(deleted);
        Ok(())
    }

    /// The presets that this store has deleted and can bring back, the last one first.
    pub fn deleted_presets(&self) -> Vec<Preset> {
        self.deleted_presets.iter().rev().map(|deleted| deleted.preset.clone()).collect()
    }

    /// Brings a deleted preset back. Chats that were set by it are so again, but for those that another one has set
    /// since; these chats are returned.
    pub fn restore_preset(&mut self, id: PresetId) -> Result<Vec<ChatId>, ChatsError> {
        let place = self.deleted_presets.iter().position(|deleted| deleted.preset.id == id);
        let place = place.ok_or(ChatsError::UnknownPreset { id })?;
        let DeletedPreset { preset, chats } = self.deleted_presets[place].clone();
        let set_again = self.write(|db| {
            db.execute(
                "INSERT INTO preset (id, name, system_prompt, generation) VALUES (?1, ?2, ?3, ?4)",
                (id, &preset.name, &preset.system_prompt, to_json(preset.generation.as_ref())?),
            )?;
            let set = "UPDATE chat SET preset = ?2 WHERE id = ?1 AND preset IS NULL RETURNING id";
            let mut set_again = Vec::new();
            for chat in chats {
                set_again.extend(first(db, set, (chat, id), |row| row.get::<_, ChatId>(0))?);
            }
            Ok(set_again)
        })?;
        self.deleted_presets.remove(place);
        Ok(set_again)
    }
}

pub(crate) fn chat_settings(db: &Connection, id: ChatId) -> Result<ChatSettings, Fault> {
    let sql = "SELECT system_prompt, without_standing, without_project, generation, preset, tools FROM chat
               WHERE id = ?1 AND deletion IS NULL";
    let read = |row: &Row<'_>| {
        Ok(ChatSettings {
            system_prompt: row.get("system_prompt")?,
            without_standing: row.get("without_standing")?,
            without_project: row.get("without_project")?,
            generation: sql::json(row, "generation")?,
            preset: row.get("preset")?,
            tools: sql::json(row, "tools")?.unwrap_or_default(),
        })
    };
    Ok(first(db, sql, [id], read)?.ok_or(ChatsError::UnknownChat { id })?)
}

pub(crate) fn set_chat_settings(
    db: &Connection,
    id: ChatId,
    settings: &ChatSettings,
) -> rusqlite::Result<()> {
    let ChatSettings { system_prompt, without_standing, without_project, generation, preset, tools } =
        settings;
    let tools = (!tools.is_empty()).then(|| sql::to_json(tools)).transpose()?;
    db.execute(
        "UPDATE chat SET system_prompt = ?2, generation = ?3, preset = ?4, without_standing = ?5, without_project = ?6,
             tools = ?7
         WHERE id = ?1",
        (id, system_prompt, to_json(generation.as_ref())?, preset, without_standing, without_project, tools),
    )
    .map(drop)
}

pub(crate) fn draft(db: &Connection, chat: Option<ChatId>) -> Result<Draft, Fault> {
    let read = |row: &Row<'_>| {
        Ok(Draft {
            text: row.get("text")?,
            files: sql::json(row, "files")?.unwrap_or_default(),
            pictures: sql::list(row, "described")?,
        })
    };
    let sql = concat!(
        "SELECT text, files, ",
        described_list!("draft.pictures"),
        " AS described FROM draft WHERE chat IS ?1"
    );
    Ok(first(db, sql, [chat], read)?.unwrap_or_default())
}

/// Writes one column of a draft, its text, its files or its pictures, and leaves the others as they are: the text is
/// written often, and files are large.
fn set_part_of_draft(db: &Connection, chat: Option<ChatId>, column: &str, value: &str) -> Result<(), Fault> {
    if let Some(id) = chat {
        tree::must_exist(db, id)?;
    }
    let update = format!("UPDATE draft SET {column} = ?2 WHERE chat IS ?1");
    if db.execute(&update, (chat, value))? == 0 {
        db.execute("INSERT INTO draft (chat, text) VALUES (?1, '')", [chat])?;
        db.execute(&update, (chat, value))?;
    }
    db.execute(
        "DELETE FROM draft WHERE chat IS ?1 AND text = '' AND files = '[]' AND pictures = '[]'",
        [chat],
    )?;
    Ok(())
}

pub(crate) fn set_draft(db: &Connection, chat: Option<ChatId>, draft: &Draft) -> Result<(), Fault> {
    db.execute("DELETE FROM draft WHERE chat IS ?1", [chat])?;
    if *draft != Draft::default() {
        let insert = "INSERT INTO draft (chat, text, files, pictures) VALUES (?1, ?2, ?3, ?4)";
        let pictures = pictures::named(db, &draft.pictures)?;
        db.execute(insert, (chat, &draft.text, sql::to_json(&draft.files)?, pictures))?;
    }
    Ok(())
}

const PRESET: &str = "id, name, system_prompt, generation";

fn preset(row: &Row<'_>) -> rusqlite::Result<Preset> {
    Ok(Preset {
        id: row.get("id")?,
        name: row.get("name")?,
        system_prompt: row.get("system_prompt")?,
        generation: sql::json(row, "generation")?,
    })
}

pub(crate) fn presets(db: &Connection) -> rusqlite::Result<Vec<Preset>> {
    all(db, &format!("SELECT {PRESET} FROM preset ORDER BY name COLLATE NOCASE, id"), [], preset)
}

pub(crate) fn find_preset(db: &Connection, id: PresetId) -> Result<Preset, Fault> {
    let sql = format!("SELECT {PRESET} FROM preset WHERE id = ?1");
    Ok(first(db, &sql, [id], preset)?.ok_or(ChatsError::UnknownPreset { id })?)
}

pub(crate) fn add_preset(
    db: &Connection,
    name: &str,
    system_prompt: &str,
    generation: Option<&GenerationSettings>,
) -> rusqlite::Result<Preset> {
    let sql = format!(
        "INSERT INTO preset (name, system_prompt, generation) VALUES (?1, ?2, ?3) RETURNING {PRESET}"
    );
    db.query_row(&sql, (name, system_prompt, to_json(generation)?), preset)
}

fn to_json(generation: Option<&GenerationSettings>) -> rusqlite::Result<Option<String>> {
    generation.map(sql::to_json).transpose()
}

fn must_be_one(id: PresetId, changed: usize) -> Result<(), Fault> {
    if changed == 1 { Ok(()) } else { Err(ChatsError::UnknownPreset { id }.into()) }
}

#[cfg(test)]
mod tests {
    use foretoken_protocol::Thinking;

    use super::*;
    use crate::testing::{settings, store};

    #[test]
    fn a_chat_of_an_older_version_thinks_as_it_did() {
        let (_folder, mut store) = store();
        let chat = store.create_chat("Owls").unwrap().id;
        let own = ChatSettings { generation: Some(settings()), ..ChatSettings::default() };
        for (switch, thinking) in [("true", Thinking::Normal), ("false", Thinking::Off)] {
            store.set_chat_settings(chat, &own).unwrap();
            let as_it_was = "UPDATE chat SET generation = json_set(generation, '$.thinking', json(?1))";
            assert_eq!(store.db.execute(as_it_was, [switch]).unwrap(), 1);
            assert_eq!(store.chat_settings(chat).unwrap().generation.unwrap().thinking, thinking);
        }
    }
}
