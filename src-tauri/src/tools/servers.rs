//! The list of servers: what the person writes down, and what they switch on and off.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;

use foretoken_protocol::{ErrorReport, NamedValue, ServerForm};
use foretoken_tools::configuration::{Secret, ServerEntry, Transport, slug};
use tauri::WebviewWindow;

use super::consent::Question;
use super::entry::{self, Listed};
use super::error::ToolboxError;
use super::secrets::Values;
use super::{Toolbox, begun};
use crate::blocking::blocking;
use crate::clock::now;
use crate::language::Texts;

impl Toolbox {
    /// Adds a server, or changes one, and returns its slug. A new one is off; one that would run or reach something
    /// else than the person has agreed to is switched off.
    pub(crate) async fn put(&self, form: ServerForm) -> Result<String, ErrorReport> {
        let slug = self.put_form(form).await?;
        self.publish().await;
        Ok(slug)
    }

    async fn put_form(&self, form: ServerForm) -> Result<String, ToolboxError> {
        let ServerForm { slug: of, name, transport, values } = form;
        let mut changing = self.changing().await;
        let before = match &of {
            Some(slug) => Some(entry::find(&self.store, slug).await?),
            None => None,
        };
        let slug = match of {
            Some(slug) => slug,
            None => slug(&name, &self.taken().await?),
        };
        let names = values.iter().map(|value| value.name.clone()).collect();
        let transport = entry::of_page(transport, names);
        let entry = ServerEntry { slug: slug.clone(), name: name.trim().to_owned(), transport };
        entry.validate()?;

        let kept = self.values(&slug, before.as_ref().map(Listed::names).unwrap_or_default()).await?;
        let values = together(&entry.transport, values, &kept)?;
        let same = before.as_ref().is_some_and(|before| {
            before.entry.fingerprint(None) == entry.fingerprint(None)
                // What a program does may hang on the value of a variable.
                && (values == kept || matches!(entry.transport, Transport::Http { .. }))
        });
        let is_new = before.is_none();
        let signed_in = before.as_ref().is_some_and(|before| before.signed_in);
        let listed = Listed {
            entry,
            agreed: before.as_ref().and_then(|before| before.agreed.clone()).filter(|_| same),
            // What was granted was granted to be sent to where it was.
            signed_in: signed_in && same,
            created_at: before.map_or_else(now, |before| before.created_at),
        };
        // What an earlier server of this slug may have left is none of a new one's.
        if values != kept || (is_new && !listed.names().is_empty()) {
            self.keep(BTreeMap::from([(slug.clone(), values)])).await?;
        }
        if let Err(error) = entry::put(&self.store, &listed).await {
            // It is as it was, and so are its values.
            self.keep(BTreeMap::from([(slug, kept)])).await?;
            return Err(error.into());
        }
        *changing += 1;
        if !same {
            // What was allowed was allowed of what it was.
            let of = slug.clone();
            let revoked = self.store.call(move |store| {
                let permissions = store.tool_permissions()?.into_iter();
                permissions
                    .filter(|permission| permission.server == of)
                    .try_for_each(|permission| store.revoke(permission.id))
            });
            revoked.await?;
            self.revoke_temporary(&slug, None).await;
            self.forget(&slug);
            self.give_up_sign_in(&slug);
            let given_up = if signed_in { self.give_up_tokens(&slug).await } else { Ok(()) };
            let stopping = begun(self.servers.remove(&slug));
            drop(changing);
            stopping.await;
            given_up?;
        }
        Ok(slug)
    }

    /// Removes a server, with what was allowed of it and its secrets. A folder of its own stays if anything is in it.
    pub(crate) async fn remove(&self, slug: String) -> Result<(), ErrorReport> {
        let removed = self.remove_listed(&slug).await;
        self.publish().await;
        Ok(removed?)
    }

    async fn remove_listed(&self, slug: &str) -> Result<(), ToolboxError> {
        let mut changing = self.changing().await;
        let listed = entry::find(&self.store, slug).await?;
        let of = slug.to_owned();
        self.store.call(move |store| store.remove_tool_server(&of)).await?;
        self.revoke_temporary(slug, None).await;
        *changing += 1;
        self.forget(slug);
        self.give_up_sign_in(slug);
        let stopping = begun(self.servers.remove(slug));
        let given_up = if listed.names().is_empty() {
            Ok(())
        } else {
            self.keep(BTreeMap::from([(slug.to_owned(), Values::new())])).await
        };
        let signed_out = if listed.signed_in { self.give_up_tokens(slug).await } else { Ok(()) };
        drop(changing);
        stopping.await;
        let folder = self.folder.join(slug);
        // It is not there, or has something in it.
        let _ = blocking(move || std::fs::remove_dir(folder)).await;
        given_up.and(signed_out.map_err(Into::into))
    }

    /// Switches a server on or off, and returns whether it is on. Before it is switched on, the person is shown in a
    /// dialog of the system what it runs or reaches.
    pub(crate) async fn enable(
        &self,
        window: &WebviewWindow,
        texts: &Texts,
        slug: String,
        enabled: bool,
    ) -> Result<bool, ErrorReport> {
        let window = window.clone();
        self.enable_if(&slug, enabled, |question| question.ask(window, texts)).await
    }

    /// The same, where `ask` answers for the person.
    pub(super) async fn enable_if<Asking: Future<Output = bool>>(
        &self,
        slug: &str,
        enabled: bool,
        ask: impl FnOnce(Question) -> Asking,
    ) -> Result<bool, ErrorReport> {
        let done = if enabled { self.switch_on(slug, ask).await } else { self.switch_off(slug).await };
        self.publish().await;
        Ok(done?)
    }

    /// Switches a server on for a person who agrees.
    #[cfg(test)]
    pub(crate) async fn agree_to(&self, slug: &str) -> Result<bool, ErrorReport> {
        self.enable_if(slug, true, |_| std::future::ready(true)).await
    }

    async fn switch_on<Asking: Future<Output = bool>>(
        &self,
        slug: &str,
        ask: impl FnOnce(Question) -> Asking,
    ) -> Result<bool, ToolboxError> {
        // One dialog at a time: of several nobody reads any.
        let Ok(_asking) = self.asking.try_lock() else { return Ok(false) };
        let listed = entry::find(&self.store, slug).await?;
        let (program, fingerprint) = self.as_it_is(&listed.entry).await?;
        if listed.agreed.as_ref() == Some(&fingerprint) {
            return Ok(true);
        }
        if !ask(Question::of(&listed.entry, program.as_deref())?).await {
            return Ok(false);
        }
        // It may have been changed while the person read.
        let (_, as_it_is) = self.as_it_is(&listed.entry).await?;
        let mut changing = self.changing().await;
        let listed = Listed { agreed: Some(fingerprint.clone()), ..self.unchanged(listed).await? };
        if as_it_is != fingerprint {
            return Err(ToolboxError::NotAgreed { name: listed.entry.name });
        }
        entry::put(&self.store, &listed).await?;
        *changing += 1;
        Ok(true)
    }

    /// A server as it is listed now, if what it runs or reaches is listed as before.
    pub(super) async fn unchanged(&self, before: Listed) -> Result<Listed, ToolboxError> {
        let now = entry::find(&self.store, &before.entry.slug).await?;
        if now.entry.transport == before.entry.transport {
            Ok(now)
        } else {
            Err(ToolboxError::NotAgreed { name: now.entry.name })
        }
    }

    /// Switches a server off and stops it.
    pub(super) async fn switch_off(&self, slug: &str) -> Result<bool, ToolboxError> {
        let mut changing = self.changing().await;
        let listed = entry::find(&self.store, slug).await?;
        let stored = entry::put(&self.store, &Listed { agreed: None, ..listed }).await;
        *changing += 1;
        self.give_up_sign_in(slug);
        // Whatever the store says, it is not wanted any more.
        let stopping = begun(self.servers.remove(slug));
        drop(changing);
        stopping.await;
        stored?;
        Ok(false)
    }

    /// The slugs that servers have.
    pub(super) async fn taken(&self) -> Result<BTreeSet<String>, ErrorReport> {
        let servers = self.store.call(|store| store.tool_servers()).await?;
        Ok(servers.into_iter().map(|server| server.slug).collect())
    }

    /// The values of a server that has these names.
    pub(super) async fn values(&self, slug: &str, names: &[String]) -> Result<Values, ToolboxError> {
        let (secrets, slug, names) = (self.secrets.clone(), slug.to_owned(), names.to_vec());
        Ok(blocking(move || secrets.values(&slug, &names)).await?)
    }

    /// Keeps the values of servers.
    pub(super) async fn keep(&self, servers: BTreeMap<String, Values>) -> Result<(), ToolboxError> {
        let secrets = self.secrets.clone();
        Ok(blocking(move || secrets.keep(&servers)).await?)
    }
}

/// The values that the person wrote, and for those that they left alone the ones that are kept.
fn together(transport: &Transport, written: Vec<NamedValue>, kept: &Values) -> Result<Values, ToolboxError> {
    let mut values = Values::new();
    for NamedValue { name, value } in written {
        let value = match value {
            Some(value) => Some(Secret::new(value)),
            None => kept.get(&name).cloned(),
        };
        if let Some(value) = value {
            transport.check_value(&name, &value)?;
            values.insert(name, value);
        }
    }
    Ok(values)
}
