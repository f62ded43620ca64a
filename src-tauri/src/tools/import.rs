//! Servers out of the lists of other programs. All come in switched off, and the lists stay as they are.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use foretoken_protocol::{ErrorReport, ServerLeftOut, ServersFile, ServersImported};
use foretoken_tools::configuration::{
    ConfigurationError, ImportedServer, LARGEST_FILE, Place, read, slug, usual_places,
};
use foretoken_tools::visible;

use super::Toolbox;
use super::entry::{self, Listed};
use super::error::ToolboxError;
use crate::blocking::blocking;
use crate::clock::now;

impl Toolbox {
    /// Takes over the servers of another program's list, all switched off.
    pub(crate) async fn import(&self, text: String) -> Result<ServersImported, ErrorReport> {
        let imported = self.import_text(text).await;
        self.publish().await;
        Ok(imported?)
    }

    async fn import_text(&self, text: String) -> Result<ServersImported, ToolboxError> {
        let read = blocking(move || read(&text)).await?;
        let left_out = |name: &str, error: ErrorReport| ServerLeftOut { name: visible(name).0, error };
        let mut imported = ServersImported {
            added: Vec::new(),
            left_out: read.left_out.iter().map(|one| left_out(&one.name, (&one.reason).into())).collect(),
        };
        let mut changing = self.changing().await;
        let there = self.store.call(|store| entry::all(store)).await?;
        let mut taken = self.taken().await?;
        let mut servers = Vec::new();
        for server in read.servers {
            let same = |there: &Listed| {
                there.entry.name == server.entry.name
                    && there.entry.fingerprint(None) == server.entry.fingerprint(None)
            };
            if there.iter().any(same) {
                let name = server.entry.name;
                imported
                    .left_out
                    .push(left_out(&name, ToolboxError::AlreadyThere { name: name.clone() }.into()));
                continue;
            }
            let slug = slug(&server.entry.name, &taken);
            taken.insert(slug.clone());
            servers.push((slug, server));
        }
        let values: BTreeMap<_, _> = servers
            .iter()
            // Also where it names none: what an earlier server of this slug may have left is none of its own.
            .filter(|(_, server)| !entry::names(&server.entry.transport).is_empty())
            .map(|(slug, server)| (slug.clone(), server.values.clone()))
            .collect();
        let kept = if values.is_empty() { Ok(()) } else { self.keep(values).await };
        *changing += 1;
        for (slug, server) in servers {
            let ImportedServer { mut entry, values, .. } = server;
            entry.slug.clone_from(&slug);
            let name = entry.name.clone();
            let added = match &kept {
                // A server without what it needs would be of no use.
                Err(error) if !values.is_empty() => Err(error.clone().into()),
                _ => {
                    entry::put(
                        &self.store,
                        &Listed { entry, agreed: None, signed_in: false, created_at: now() },
                    )
                    .await
                }
            };
            match added {
                Ok(()) => imported.added.push(slug),
                Err(error) => imported.left_out.push(left_out(&name, error)),
            }
        }
        Ok(imported)
    }

    /// The files of other programs on this machine that list servers.
    pub(crate) async fn files(&self) -> Vec<ServersFile> {
        let shown = |place: Place| ServersFile {
            program: place.program.to_owned(),
            path: place.path.to_string_lossy().into_owned(),
        };
        self.places().await.into_iter().map(shown).collect()
    }

    async fn places(&self) -> Vec<Place> {
        let home = self.surroundings.home().map(Path::to_owned);
        let there = move || {
            let places = home.iter().flat_map(|home| usual_places(home));
            places.filter(|place| place.path.is_file()).collect()
        };
        blocking(there).await
    }

    /// Takes over the servers of one of these files; no other file is read.
    pub(crate) async fn import_file(&self, path: String) -> Result<ServersImported, ErrorReport> {
        let named = |place: &Place| place.path.to_string_lossy() == path;
        let Some(place) = self.places().await.into_iter().find(named) else {
            return Err(ToolboxError::OtherFile { path: path.into() }.into());
        };
        let text = blocking(move || text_of(place.path)).await?;
        self.import(text).await
    }
}

/// The text of a file, which is not read beyond what a list may have.
fn text_of(path: PathBuf) -> Result<String, ToolboxError> {
    let mut text = Vec::new();
    let most = LARGEST_FILE as u64 + 1;
    let read = File::open(&path).and_then(|file| file.take(most).read_to_end(&mut text));
    match read {
        Ok(_) => String::from_utf8(text)
            .map_err(|_| ConfigurationError::NotJson { reason: "it is not written in UTF-8".into() }.into()),
        Err(error) => Err(unreadable(path, &error)),
    }
}

fn unreadable(path: PathBuf, error: &io::Error) -> ToolboxError {
    ToolboxError::FileUnreadable { path, kind: error.kind() }
}
