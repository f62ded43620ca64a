//! What a list must be like before anything is believed of it.

use std::collections::HashSet;

use super::{Catalogue, CatalogueEntry, DraftModelEntry, Format};

/// The form of the list that this program reads.
const VERSION: u32 = 1;
/// More suggestions help nobody.
const MAX_ENTRIES: usize = 500;
const MAX_TEXT_BYTES: usize = 100;
/// No model and no computer is larger, and sums of these do not overflow.
const MAX_AMOUNT: u64 = 1 << 50;

impl Catalogue {
    /// Reads a list. The error says why it cannot be used.
    pub(super) fn parse(text: &[u8]) -> Result<Self, String> {
        let list: Self =
            serde_json::from_slice(text).map_err(|error| format!("it is not readable: {error}"))?;
        list.check().map(|()| list)
    }

    /// The error says why the list cannot be used.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.version != VERSION {
            return Err(format!("it has version {} and this program reads {VERSION}", self.version));
        }
        if !is_day(&self.updated) {
            return Err(format!("{:?} is not a day", self.updated));
        }
        if self.entries.is_empty() || self.entries.len() > MAX_ENTRIES {
            return Err(format!("it has {} entries", self.entries.len()));
        }
        let mut ids = HashSet::new();
        for entry in &self.entries {
            entry.check().map_err(|reason| format!("{:?}: {reason}", entry.id))?;
            if !ids.insert(&entry.id) {
                return Err(format!("{:?} is in it twice", entry.id));
            }
        }
        if self.draft_models.len() > MAX_ENTRIES {
            return Err(format!("it has {} draft models", self.draft_models.len()));
        }
        let mut repos = HashSet::new();
        for draft in &self.draft_models {
            draft.check().map_err(|reason| format!("{}: {reason}", draft.repo))?;
            if !repos.insert(&draft.repo) {
                return Err(format!("{} is in it twice", draft.repo));
            }
        }
        Ok(())
    }
}

impl DraftModelEntry {
    fn check(&self) -> Result<(), String> {
        if self.targets.is_empty() || self.targets.len() > MAX_ENTRIES {
            return Err(format!("it is for {} models", self.targets.len()));
        }
        match self.download_bytes {
            Some(amount) if !(1..=MAX_AMOUNT).contains(&amount) => Err(format!("{amount} bytes to fetch")),
            _ => Ok(()),
        }
    }
}

impl CatalogueEntry {
    fn check(&self) -> Result<(), String> {
        let named = [("id", &self.id), ("name", &self.name), ("architecture", &self.architecture)];
        for (what, text) in named.into_iter().chain(self.licence.iter().map(|text| ("licence", text))) {
            let plain = text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
            if text.trim().is_empty() || text.len() > MAX_TEXT_BYTES || !plain {
                return Err(format!("its {what} {text:?} is not a plain short text"));
            }
        }
        let bits = match self.format {
            Format::Raw { runs_at_bits } => runs_at_bits,
            Format::Converted { bits } => bits,
        };
        if !(2..=32).contains(&bits) {
            return Err(format!("{bits} bits a parameter"));
        }
        if self.parameters_active > self.parameters_total {
            return Err("more parameters are active than it has".to_owned());
        }
        let memory = self.memory;
        let amounts = [
            ("parameters", self.parameters_total, 1),
            ("active parameters", self.parameters_active, 1),
            ("bytes to fetch", self.download_bytes, 1),
            ("bytes of weights", memory.weight_bytes, 1),
            ("bytes a token", memory.bytes_per_token, 0),
            ("bytes of state", memory.state_bytes, 0),
            ("bytes of a vision tower", self.vision_bytes.unwrap_or(1), 1),
        ];
        match amounts.into_iter().find(|(_, amount, least)| !(*least..=MAX_AMOUNT).contains(amount)) {
            Some((what, amount, _)) => Err(format!("{amount} {what}")),
            None => Ok(()),
        }
    }
}

/// `2026-11-21`: lists are compared by these texts, so nothing else may pass for one.
fn is_day(text: &str) -> bool {
    text.len() == 10
        && text.bytes().enumerate().all(|(place, byte)| match place {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_list_with_one_wrong_value_is_refused_and_says_which() {
        let good = serde_json::to_value(Catalogue::embedded()).unwrap();
        let parse = |list: &Value| Catalogue::parse(list.to_string().as_bytes());
        parse(&good).unwrap();
        let mut older = good.clone();
        older.as_object_mut().unwrap().remove("draft_models");
        assert!(parse(&older).unwrap().draft_models.is_empty(), "lists from before there were any");
        let wrong = [
            ("/version", json!(2), "version 2"),
            ("/updated", json!("9"), "not a day"),
            ("/updated", json!("2026-1-210"), "not a day"),
            ("/entries", json!([]), "0 entries"),
            ("/entries/1/id", good["entries"][0]["id"].clone(), "twice"),
            ("/entries/0/name", json!(""), "name"),
            ("/entries/0/name", json!("x\u{202e}y"), "name"),
            ("/entries/0/name", json!("x".repeat(101)), "name"),
            ("/entries/0/licence", json!("<b>\n"), "licence"),
            ("/entries/0/repo", json!("../../etc"), "not readable"),
            ("/entries/0/revision", json!("main"), "not readable"),
            ("/entries/0/parameters_total", json!(0), "active"),
            ("/entries/0/download_bytes", json!(0), "0 bytes to fetch"),
            ("/entries/0/download_bytes", json!(-1), "not readable"),
            ("/entries/0/memory/weight_bytes", json!(u64::MAX), "bytes of weights"),
            ("/entries/0/memory/bytes_per_token", json!(u64::MAX), "bytes a token"),
            ("/entries/0/vision_bytes", json!(0), "0 bytes of a vision tower"),
            ("/entries/0/format", json!({"kind": "raw", "runs_at_bits": 0}), "0 bits"),
            ("/entries/0/format", json!({"kind": "gguf"}), "not readable"),
            ("/draft_models/0/targets", json!([]), "for 0 models"),
            ("/draft_models/0/targets/0", json!("Qwen"), "not readable"),
            ("/draft_models/1/repo", good["draft_models"][0]["repo"].clone(), "twice"),
            ("/draft_models/0/download_bytes", json!(0), "0 bytes to fetch"),
        ];
        for (place, value, reason) in wrong {
            let mut list = good.clone();
            *list.pointer_mut(place).unwrap() = value;
            let refused = parse(&list).unwrap_err();
            assert!(refused.contains(reason), "{place}: {refused}");
        }
        assert!(Catalogue::parse(b"{\"version\": 1,").unwrap_err().contains("not readable"));
    }
}
