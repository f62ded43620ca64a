//! The tools that the prompts of a chat begin with. Any other list would have all of the chat read again, so it is
//! frozen when it is first used, until the person chooses other ones.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use foretoken_protocol::{ChatId, ModelInfo};
use foretoken_tools::Offer;
use serde_json::Value;
use tokio::sync::OnceCell;

use crate::chat_store::ChatStore;
use crate::tools::Toolbox;

/// The tools of a chat while a reply is written in it.
pub(crate) struct ChatTools {
    toolbox: Arc<Toolbox>,
    store: ChatStore,
    chat: ChatId,
    /// What the person has chosen, sorted; `None` for a reply that has begun, which goes on with what it has.
    chosen: Option<Vec<String>>,
    offer: OnceCell<Arc<Offer>>,
    /// Whether the model that writes was told of them.
    in_prompt: AtomicBool,
}

impl ChatTools {
    pub(crate) fn new(
        toolbox: Arc<Toolbox>,
        store: ChatStore,
        chat: ChatId,
        chosen: Option<Vec<String>>,
    ) -> Self {
        let chosen = chosen.map(|mut chosen| {
            chosen.sort_unstable();
            chosen.dedup();
            chosen
        });
        Self { toolbox, store, chat, chosen, offer: OnceCell::new(), in_prompt: AtomicBool::new(false) }
    }

    /// The tools, whose servers are started for it unless the chat has them already.
    pub(crate) async fn offer(&self) -> Arc<Offer> {
        Arc::clone(self.offer.get_or_init(|| self.find()).await)
    }

    /// The list for a model, where it takes one.
    pub(crate) async fn for_model(&self, model: &ModelInfo) -> Vec<Value> {
        let tools = if model.tools { self.offer().await.list() } else { Vec::new() };
        self.in_prompt.store(!tools.is_empty(), Ordering::Relaxed);
        tools
    }

    /// The tools, where the model that writes was told of them.
    pub(crate) fn in_prompt(&self) -> Option<Arc<Offer>> {
        self.offer.get().filter(|_| self.in_prompt.load(Ordering::Relaxed)).cloned()
    }

    /// Whether the servers of an offer are those that would run now: a call to another one would only be refused; and
    /// whether the app's own tools are those that can be used as things are set now.
    async fn can_run(&self, offer: &Offer) -> bool {
        let own = self.toolbox.own_tools(&offer.sources).into_iter();
        let own = own.map(|tool| tool.definition().fingerprint());
        let offered = offer.tools.iter().filter(|tool| tool.server.is_none());
        if own.collect::<BTreeSet<_>>() != offered.map(|tool| tool.fingerprint.clone()).collect() {
            return false;
        }
        let servers: BTreeMap<&str, &str> = offer
            .tools
            .iter()
            .filter_map(|tool| Some((tool.server.as_deref()?, tool.server_fingerprint.as_str())))
            .collect();
        for (slug, fingerprint) in servers {
            if self.toolbox.server_fingerprint(slug).await.as_deref() != Some(fingerprint) {
                return false;
            }
        }
        true
    }

    async fn find(&self) -> Arc<Offer> {
        let chat = self.chat;
        let frozen = self.store.call_for(chat, move |store| store.frozen_tools(chat)).await;
        let frozen = frozen.ok().flatten().and_then(|frozen| Offer::from_json(&frozen));
        let Some(chosen) = &self.chosen else { return frozen.unwrap_or_default().into() };
        if let Some(frozen) = frozen.filter(|frozen| frozen.sources == *chosen)
            && self.can_run(&frozen).await
        {
            return frozen.into();
        }
        let (mut offer, failed) = self.toolbox.offer(chosen).await;
        for error in &failed {
            tracing::warn!("the chat {chat} is without tools: {error}");
        }
        if !failed.is_empty() {
            // The next question tries again.
            offer.sources.clear();
        }
        let json = offer.to_json();
        let kept = self.store.call_for(chat, move |store| store.replace_frozen_tools(chat, Some(&json)));
        if let Err(error) = kept.await {
            tracing::error!("the tools of a chat could not be kept: {error}");
        }
        offer.into()
    }
}
