//! Foretoken's own files.

use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, Visitor};

use super::importer::{Chats, Importer};
use super::record::{ChatRecord, PresetRecord};

/// What a file begins with.
pub(super) const FORMAT: &str = "foretoken-chats";
/// The version of what is written. A later one may mean something else by the same words.
pub(super) const VERSION: u32 = 1;

/// Adds the chats and presets of a file.
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
