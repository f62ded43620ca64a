//! The models that Foretoken suggests, and whether they fit a computer.

mod check;
mod fit;
mod source;

use serde::{Deserialize, Serialize};

use crate::hub::{Commit, RepoId};
pub use fit::{Fit, MemoryNeed, fit};
pub use source::CatalogueSource;

/// The list that came with this version of the app.
///
/// Downloads are as large as the published files, with what a chat does not need, such as a vision tower. What a model
/// takes in memory is computed from the published dimensions of the text model: 4.5 bits a parameter after the
/// conversion, three bytes for each score. What seeing takes is computed from the published dimensions of the vision
/// tower: 8 bits a parameter where its rows divide into groups, and a picture of 512 × 512 on its way through it. Of
/// models that others have converted all are estimates from rounded figures, and it is not known whether they see. Of
/// draft models, downloads are two bytes a parameter of the published dimensions.
const EMBEDDED: &str = include_str!("catalogue.json");
/// A list of suggested models, each better than the one before it for those whose computer it fits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Catalogue {
    version: u32,
    /// The day of the list: `2026-11-21`.
    pub updated: String,
    /// The models.
    pub entries: Vec<CatalogueEntry>,
    /// Draft models for some of them. Of several for one model the first is suggested.
    #[serde(default)]
    pub draft_models: Vec<DraftModelEntry>,
}

/// A suggested model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CatalogueEntry {
    /// Names it, for good.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// Where it is.
    pub repo: RepoId,
    /// The commit that is fetched; `None` takes what `main` is when its download begins, and keeps to that.
    pub revision: Option<Commit>,
    /// Its licence; `None` if only the Hub says it.
    pub licence: Option<String>,
    /// `model_type` in its `config.json`, which says what an engine must know to run it: `qwen3_5`, `qwen3_5_moe`,
    /// `qwen3_next`.
    pub architecture: String,
    /// All parameters but those of the MTP head.
    pub parameters_total: u64,
    /// The parameters that one token goes through.
    pub parameters_active: u64,
    /// How its tensors are kept.
    pub format: Format,
    /// Whether the MTP head is among its tensors.
    pub mtp: bool,
    /// What a download fetches, about.
    pub download_bytes: u64,
    /// What it takes to run.
    pub memory: MemoryNeed,
    /// What its vision tower takes beside that, in bytes; `None` for a model that reads text alone, or is not known to
    /// see.
    #[serde(default)]
    pub vision_bytes: Option<u64>,
}

/// A published draft model (DFlash), which guesses ahead for the models that it was trained with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DraftModelEntry {
    /// Where it is.
    pub repo: RepoId,
    /// The commit that is fetched, as [`CatalogueEntry::revision`].
    pub revision: Option<Commit>,
    /// Where the model is that it was trained with, and where others keep conversions of that.
    pub targets: Vec<RepoId>,
    /// What a download fetches, about; `None` where only the Hub says it.
    pub download_bytes: Option<u64>,
}

/// How a model's tensors are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Format {
    /// As published, to be converted here.
    Raw {
        /// What [`CatalogueEntry::memory`] is given for: bits a parameter after the conversion.
        runs_at_bits: u8,
    },
    /// Converted for MLX.
    Converted {
        /// Bits a parameter.
        bits: u8,
    },
}

impl Catalogue {
    /// The list that came with this version of the app.
    pub fn embedded() -> Self {
        Self::parse(EMBEDDED.as_bytes()).expect("a test reads the embedded list")
    }

    /// The draft model in a repository, as far as the list knows it.
    pub fn draft_model(&self, repo: &str) -> Option<&DraftModelEntry> {
        self.draft_models.iter().find(|draft| draft.repo.as_str() == repo)
    }

    /// The draft models for the model of a repository, the one to suggest first.
    pub fn draft_models_for<'a>(&'a self, repo: &'a str) -> impl Iterator<Item = &'a DraftModelEntry> {
        self.draft_models.iter().filter(move |draft| draft.is_for(repo))
    }

    /// The commit that is fetched of a repository, where the list names one.
    pub fn revision(&self, repo: &RepoId) -> Option<&Commit> {
        let models = self.entries.iter().map(|entry| (&entry.repo, &entry.revision));
        let drafts = self.draft_models.iter().map(|draft| (&draft.repo, &draft.revision));
        models.chain(drafts).find(|(listed, _)| *listed == repo)?.1.as_ref()
    }

    /// The last of the list that fits a computer with `available` bytes for models well and is of one of these
    /// architectures. `context`: the tokens of a chat.
    pub fn recommended(
        &self,
        available: u64,
        context: u64,
        architectures: &[&str],
    ) -> Option<&CatalogueEntry> {
        let fits = |entry: &&CatalogueEntry| {
            architectures.contains(&entry.architecture.as_str())
                && fit(entry.memory.at(context), available) == Fit::Well
        };
        self.entries.iter().rev().find(fits)
    }
}

impl DraftModelEntry {
    /// Whether it was trained with the model of a repository, or with what that was converted from.
    pub fn is_for(&self, repo: &str) -> bool {
        self.targets.iter().any(|target| target.as_str() == repo)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;
    const ALL: [&str; 3] = ["qwen3_5", "qwen3_5_moe", "qwen3_next"];

    /// What a computer with so much memory has for models.
    fn available(gib: u64) -> u64 {
        gib * GIB / 4 * 3
    }

    #[test]
    fn the_embedded_list_is_readable_and_its_sizes_are_the_published_ones() {
        let catalogue = Catalogue::embedded();
        for entry in &catalogue.entries {
            // The first number of billions in the name is the total.
            let billions = |part: &str| part.strip_suffix('B')?.parse::<f64>().ok();
            let named = entry.name.split('-').find_map(billions).unwrap();
            let total = entry.parameters_total as f64 / 1e9;
            assert!((total / named - 1.0).abs() < 0.12, "{}: {total}", entry.name);
            assert!(entry.parameters_active <= entry.parameters_total, "{}", entry.name);
            let bits = match entry.format {
                Format::Raw { .. } => 16,
                Format::Converted { bits } => u64::from(bits),
            };
            assert!(entry.download_bytes >= entry.parameters_total * bits / 8, "{}", entry.name);
            assert!(
                entry.revision.is_some() || entry.format != Format::Raw { runs_at_bits: 4 },
                "{}",
                entry.name
            );
            assert!(entry.memory.weight_bytes < entry.download_bytes, "{}", entry.name);
            assert_eq!(entry.id, entry.name.to_lowercase());
        }
        let ids: std::collections::HashSet<_> = catalogue.entries.iter().map(|entry| &entry.id).collect();
        assert_eq!(ids.len(), catalogue.entries.len());
    }

    #[test]
    fn each_draft_model_is_for_models_of_the_list_and_named_after_one() {
        let catalogue = Catalogue::embedded();
        assert!(!catalogue.draft_models.is_empty());
        for draft in &catalogue.draft_models {
            for target in &draft.targets {
                assert!(catalogue.entries.iter().any(|entry| entry.repo == *target), "{}", draft.repo);
                assert!(catalogue.draft_models_for(target.as_str()).any(|listed| listed == draft));
            }
            let named = draft.targets.iter().any(|target| {
                let rest = draft.repo.name().strip_prefix(target.name());
                rest.is_some_and(|rest| rest.starts_with("-DFlash"))
            });
            assert!(named, "{}", draft.repo);
        }
        // What is smaller answers sooner than what it guesses for.
        for entry in &catalogue.entries {
            let sizes =
                catalogue.draft_models_for(entry.repo.as_str()).filter_map(|draft| draft.download_bytes);
            assert!(sizes.into_iter().all(|bytes| bytes < entry.download_bytes / 2), "{}", entry.repo);
        }
        let suggested = |repo| catalogue.draft_models_for(repo).next().map(|draft| draft.repo.as_str());
        assert_eq!(suggested("Qwen/Qwen3.5-9B"), Some("z-lab/Qwen3.5-9B-DFlash"));
        assert_eq!(suggested("Qwen/Qwen3.5-0.8B"), None);
    }

    #[test]
    fn more_memory_never_gets_a_worse_recommendation() {
        let catalogue = Catalogue::embedded();
        let place = |gib: u64| {
            let entry = catalogue.recommended(available(gib), 16_384, &ALL)?;
            catalogue.entries.iter().position(|other| other.id == entry.id)
        };
        let places: Vec<_> =
            [1, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 512].into_iter().map(place).collect();
        assert_eq!(places[0], None);
        assert!(places[2].is_some());
        assert!(places.is_sorted(), "{places:?}");
        assert_eq!(places[11], Some(catalogue.entries.len() - 1));
    }

    #[test]
    fn only_what_the_engine_runs_is_recommended() {
        let catalogue = Catalogue::embedded();
        let best = |gib: u64, architectures: &[&str]| {
            let entry = catalogue.recommended(available(gib), 16_384, architectures)?;
            Some(entry.id.as_str())
        };
        assert_eq!(best(512, &["qwen3_5"]), Some("qwen3.8-27b"));
        assert_eq!(best(512, &["qwen3_5", "qwen3_next"]), Some("qwen3-next-80b-a3b-instruct"));
        assert_eq!(best(64, &ALL), Some("qwen3.6-35b-a3b"));
        assert_eq!(best(128, &ALL), Some("qwen3.5-122b-a10b"));
        assert_eq!(best(512, &ALL), Some("qwen3.5-397b-a17b"));
        assert_eq!(best(512, &[]), None);
    }
}
