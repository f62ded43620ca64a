//! Foretoken's own files.

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::importer::{Chats, Importer};
use super::record::{ChatRecord, PresetRecord, ProjectRecord};

/// What a file begins with.
pub(super) const FORMAT: &str = "foretoken-chats";
/// The version of what is written. A later one may mean something else by the same words.
pub(super) const VERSION: u32 = 1;

/// Adds the chats, presets and projects of a file.
pub(super) fn read<'de, D: Deserializer<'de>>(
    deserializer: D,
    importer: &mut Importer<'_>,
) -> Result<(), D::Error> {
    deserializer.deserialize_map(File { importer })
}

struct File<'a, 'i> {
    importer: &'a mut Importer<'i>,
}

impl<'de> Visitor<'de> for File<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("chats as Foretoken writes them")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { importer } = self;
        let mut found = false;
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "format" => {
                    let format: String = map.next_value()?;
                    if format != FORMAT {
                        return Err(A::Error::custom(format!("its format is {format:?}, not {FORMAT:?}")));
                    }
                }
                "version" => {
                    let version: u32 = map.next_value()?;
                    if version > VERSION {
                        return Err(A::Error::custom(format!(
                            "it was written by a newer Foretoken (version {version}; this one knows {VERSION})"
                        )));
                    }
                }
                "presets" => importer.presets.extend(map.next_value::<Vec<PresetRecord>>()?),
                "projects" => importer.projects.extend(map.next_value::<Vec<ProjectRecord>>()?),
                "pictures" => map.next_value_seed(Pictures { importer })?,
                "chats" => {
                    map.next_value_seed(Chats { importer, convert: |chat: ChatRecord, _| Ok(chat) })?;
                    found = true;
                }
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        if found { Ok(()) } else { Err(A::Error::missing_field("chats")) }
    }
}

/// A picture, before the chats whose messages name it by its hash.
#[derive(Deserialize)]
struct Picture {
    hash: String,
    /// Its file in base64. What it is its bytes tell.
    data: String,
}

/// Reads the pictures, each of which is taken when it is read.
struct Pictures<'a, 'i> {
    importer: &'a mut Importer<'i>,
}

impl<'de> DeserializeSeed<'de> for Pictures<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Pictures<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a list of pictures")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut pictures: A) -> Result<(), A::Error> {
        while let Some(Picture { hash, data }) = pictures.next_element()? {
            self.importer.add_picture(hash, &data)?;
        }
        Ok(())
    }
}
