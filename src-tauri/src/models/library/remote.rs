//! What there is to get: the catalogue, searches of the Hub, model cards.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use foretoken_host::ENGINE_REFUSED;
use foretoken_models::{
    Catalogue, CatalogueEntry, Format, Hub, MeasuredSpeed, ModelInfo, RepoId, SearchHit, SearchQuery,
};
use foretoken_protocol::{
    ErrorReport, ExpectedSpeed, Fit, FitVerdict, KvPrecision, ModelKind, MtpState, RemoteFilter, RemoteModel,
    Sight,
};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::facts::{Facts, Inspector, sight};
use super::fit::Need;
use super::{card, expected, fit};
use crate::language::Texts;

/// The model types that the engine runs.
const ARCHITECTURES: [&str; 3] = ["qwen3_5", "qwen3_5_moe", "qwen3_next"];
/// Searches look no further.
const MOST_HITS: u32 = 24;
/// Repositories that are looked into at the same time.
const AT_ONCE: usize = 6;
/// What a search without words looks for.
const FAMILY: &str = "Qwen3.5";
/// The code of the library's error for a repository that holds no model, such as one of GGUF files.
const NOT_A_MODEL: &str = "not_a_model";
/// Fewer bits than these make a quantized weight.
const FLOAT_BITS: u8 = 16;
/// Bits of a parameter after the usual conversion: 4, and a scale and a bias of 16 for each 64.
const CONVERTED_BITS: f64 = 4.5;

/// What models are judged by.
#[derive(Debug, Clone, Copy)]
pub(super) struct Judge<'a> {
    /// The length of the chats, in tokens.
    pub(super) context: u32,
    /// How keys and values are kept.
    pub(super) kv_precision: KvPrecision,
    /// Memory for models on this machine, in bytes.
    pub(super) available: u64,
    /// What its maker calls the processor.
    pub(super) chip: &'a str,
    /// How fast models were here.
    pub(super) measured: &'a [MeasuredSpeed],
}

impl Judge<'_> {
    fn fit(&self, need: Need) -> Fit {
        fit::fit(need, self.available)
    }
}

/// What is expected of a model, if it runs.
fn if_it_runs(fit: Option<&Fit>, expected: Option<ExpectedSpeed>) -> Option<ExpectedSpeed> {
    expected.filter(|_| fit.is_some_and(|fit| fit.verdict != FitVerdict::TooBig))
}

/// The catalogue's models, as they are judged. Keys and values count as computed, since the catalogue does not say what
/// fewer bits save. `installed` says where the model of a repository is.
pub(super) fn suggestions(
    catalogue: &Catalogue,
    judge: &Judge<'_>,
    texts: &Texts,
    installed: impl Fn(&str) -> Option<String>,
) -> Vec<RemoteModel> {
    let Judge { context, available, .. } = *judge;
    let recommended = catalogue.recommended(available, context.into(), &ARCHITECTURES);
    let runs = |entry: &&CatalogueEntry| ARCHITECTURES.contains(&entry.architecture.as_str());
    let shown = |entry: &CatalogueEntry| {
        let (format, kind) = match entry.format {
            Format::Raw { .. } => ("bfloat16".to_owned(), ModelKind::Raw),
            Format::Converted { bits } => (format!("{bits}-bit"), ModelKind::Converted),
        };
        let active = Some(entry.parameters_active).filter(|&active| active < entry.parameters_total);
        let fit = judge.fit(Need { context, bytes: entry.memory.at(context.into()) });
        RemoteModel {
            repo: entry.repo.to_string(),
            name: entry.name.clone(),
            summary: texts.say(summary(entry)),
            licence: entry.licence.clone(),
            parameters: Some(entry.parameters_total),
            active_parameters: active,
            format: Some(format),
            kind,
            download_bytes: Some(entry.download_bytes),
            mtp: Some(entry.mtp),
            sight: sight(entry.vision_bytes.map(|bytes| bytes.saturating_add(fit.need_bytes)), available),
            expected: if_it_runs(Some(&fit), expected::of_entry(entry, judge.chip, judge.measured)),
            fit: Some(fit),
            recommended: recommended.is_some_and(|best| best.id == entry.id),
            installed: installed(entry.repo.as_str()),
        }
    };
    catalogue.entries.iter().filter(runs).map(shown).collect()
}

/// The text on what a model is good for, by its size; of what others have converted, what sets it apart.
fn summary(entry: &CatalogueEntry) -> &'static str {
    if let Format::Converted { .. } = entry.format {
        return match entry.mtp {
            true => "summary-converted-with-head",
            false => "summary-converted-without-head",
        };
    }
    match (entry.parameters_active < entry.parameters_total, entry.parameters_total) {
        (true, _) => "summary-experts",
        (false, ..3_000_000_000) => "summary-small",
        (false, ..12_000_000_000) => "summary-middle",
        (false, _) => "summary-large",
    }
}

/// Bits of most weights, from words such as `4-bit, group 64`, `mxfp4` or `bfloat16`.
fn main_bits(format: &str) -> Option<u8> {
    let number = format.trim_start_matches(|letter: char| !letter.is_ascii_digit());
    let end = number.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(number.len());
    number[..end].parse().ok()
}

/// What the Hub is asked for; the rest of a filter is about what it answers.
pub(super) fn query(filter: &RemoteFilter) -> SearchQuery {
    let words = if filter.text.trim().is_empty() { FAMILY } else { filter.text.trim() };
    let tags = match filter.kind {
        Some(ModelKind::Converted) => vec!["mlx".to_owned()],
        Some(ModelKind::Raw) | None => Vec::new(),
    };
    SearchQuery { words: words.to_owned(), tags, limit: Some(MOST_HITS) }
}

/// What a search has found.
#[derive(Debug, Clone)]
pub(super) struct Search {
    query: SearchQuery,
    found: Vec<Look>,
}

/// A model on the Hub and, as far as its files tell, what it takes.
#[derive(Debug, Clone)]
struct Look {
    model: RemoteModel,
    facts: Option<Facts>,
}

/// Models on the Hub, the most downloaded first. What a repository's files say is read from their headers, not from
/// its name; one that they show to be nothing that the engine runs is left out.
pub(super) async fn search(
    hub: &Hub,
    inspector: &Arc<Inspector>,
    query: SearchQuery,
) -> Result<Search, ErrorReport> {
    let hits = hub.search(&query).await?;
    let turns = Arc::new(Semaphore::new(AT_ONCE));
    let mut looks = JoinSet::new();
    for (place, hit) in hits.into_iter().enumerate() {
        let (hub, inspector, turns) = (hub.clone(), Arc::clone(inspector), Arc::clone(&turns));
        looks.spawn(async move {
            let _turn = turns.acquire().await;
            (place, look_into(&hub, &inspector, &hit).await)
        });
    }
    let mut found = looks.join_all().await;
    found.sort_by_key(|(place, _)| *place);
    Ok(Search { query, found: found.into_iter().filter_map(|(_, look)| look).collect() })
}

impl Search {
    /// Whether it is what the Hub would be asked for.
    pub(super) fn is_for(&self, query: &SearchQuery) -> bool {
        self.query.words == query.words && self.query.tags == query.tags
    }

    /// The models found that pass a filter, as they are judged. `installed` says where the model of a repository is.
    pub(super) fn shown(
        &self,
        filter: &RemoteFilter,
        judge: &Judge<'_>,
        installed: impl Fn(&str) -> Option<String>,
    ) -> Vec<RemoteModel> {
        let judged = |look: &Look| {
            let fit = look.need(judge.context, judge.kv_precision).map(|need| judge.fit(need));
            RemoteModel {
                expected: if_it_runs(fit.as_ref(), look.expected(judge)),
                fit,
                installed: installed(&look.model.repo),
                sight: sight(look.seeing(), judge.available),
                ..look.model.clone()
            }
        };
        let passes = |model: &RemoteModel| {
            filter.kind.is_none_or(|kind| model.kind == kind)
                && filter.bits.is_none_or(|bits| model.format.as_deref().and_then(main_bits) == Some(bits))
                && filter
                    .largest_download
                    .is_none_or(|most| model.download_bytes.is_some_and(|bytes| bytes <= most))
                && (!filter.with_mtp || model.mtp == Some(true))
                && (!filter.fitting
                    || model.fit.as_ref().is_some_and(|fit| fit.verdict != FitVerdict::TooBig))
        };
        self.found.iter().map(judged).filter(passes).collect()
    }
}

impl Look {
    /// What the model takes at a context; a raw one once it is converted.
    fn need(&self, context: u32, kv_precision: KvPrecision) -> Option<Need> {
        let facts = self.facts.as_ref()?;
        let need = facts.at(context, kv_precision);
        let bytes = need.bytes.saturating_sub(facts.weight_bytes).saturating_add(self.weight_bytes(facts));
        Some(Need { bytes, ..need })
    }

    /// What its weights take; those of a raw model once it is converted.
    fn weight_bytes(&self, facts: &Facts) -> u64 {
        match self.model.kind {
            ModelKind::Converted => facts.weight_bytes,
            ModelKind::Raw => (facts.parameters as f64 * CONVERTED_BITS / 8.0) as u64,
        }
    }

    /// What a short chat with a small picture takes, as [`Self::need`]; `None` for a model that sees none.
    fn seeing(&self) -> Option<u64> {
        let facts = self.facts.as_ref()?;
        let rest = facts.seeing?.saturating_sub(facts.weight_bytes);
        Some(rest.saturating_add(self.weight_bytes(facts)))
    }

    /// How fast it is expected to be; a raw one once it is converted.
    fn expected(&self, judge: &Judge<'_>) -> Option<ExpectedSpeed> {
        let facts = self.facts.as_ref()?;
        expected::of_converted(facts, self.weight_bytes(facts), judge.chip, judge.measured)
    }
}

/// What can be told of a search result; `None` if it cannot be run. A repository that cannot be read now stays as the
/// search describes it.
async fn look_into(hub: &Hub, inspector: &Inspector, hit: &SearchHit) -> Option<Look> {
    let mut model = from_tags(hit);
    let Ok(info) = hub.model_info(&hit.repo, "main").await else { return Some(Look { model, facts: None }) };
    match headers(hub, inspector, &info).await {
        Ok((facts, download_bytes)) => {
            model.download_bytes = Some(download_bytes);
            let is_converted = main_bits(&facts.format).is_some_and(|bits| bits < FLOAT_BITS);
            model.kind = if is_converted { ModelKind::Converted } else { ModelKind::Raw };
            model.mtp = Some(matches!(facts.mtp, MtpState::Present { .. }));
            model.parameters = Some(facts.parameters);
            model.active_parameters = facts.active_parameters.filter(|&active| active < facts.parameters);
            model.format = Some(facts.format.clone());
            Some(Look { model, facts: Some(facts) })
        }
        Err(error) => {
            tracing::debug!("{}: {error}", hit.repo);
            let never = error.code == NOT_A_MODEL || error.code == ENGINE_REFUSED;
            (!never).then_some(Look { model, facts: None })
        }
    }
}

/// Lets the engine look at a model whose weights are not here: its small files and the headers of the others.
async fn headers(hub: &Hub, inspector: &Inspector, info: &ModelInfo) -> Result<(Facts, u64), ErrorReport> {
    let remote = hub.inspect(info).await?;
    let io = |error: std::io::Error| ErrorReport {
        code: "io".into(),
        message: format!("A folder for a model's headers cannot be written: {error}."),
        hint: "Check that the disk is not full.".into(),
    };
    let folder = tempfile::tempdir().map_err(io)?;
    let mut files = vec![("config.json".to_owned(), remote.config)];
    files.extend(remote.index.map(|index| ("model.safetensors.index.json".to_owned(), index)));
    files.extend(remote.shards.into_iter().map(|shard| {
        let length = (shard.header.len() as u64).to_le_bytes();
        (shard.path, [length.as_slice(), &shard.header].concat())
    }));
    for (name, content) in files {
        write_below(folder.path(), &name, &content).map_err(io)?;
    }
    Ok((inspector.inspect_headers(folder.path()).await?, remote.download_bytes))
}

/// Writes a file of a repository. Its name was checked when the repository's files were chosen.
fn write_below(folder: &Path, name: &str, content: &[u8]) -> std::io::Result<()> {
    let path = folder.join(name);
    if let Some(above) = path.parent() {
        fs::create_dir_all(above)?;
    }
    fs::write(path, content)
}

fn from_tags(hit: &SearchHit) -> RemoteModel {
    let has = |tag: &str| hit.tags.iter().any(|other| other == tag);
    let licence = hit.tags.iter().find_map(|tag| tag.strip_prefix("license:"));
    RemoteModel {
        repo: hit.repo.to_string(),
        name: hit.repo.name().to_owned(),
        summary: String::new(),
        licence: licence.map(str::to_owned),
        parameters: None,
        active_parameters: None,
        format: None,
        kind: if has("mlx") { ModelKind::Converted } else { ModelKind::Raw },
        download_bytes: None,
        mtp: None,
        sight: Sight::None,
        fit: None,
        expected: None,
        recommended: false,
        installed: None,
    }
}

/// What a model's makers write about it.
pub(super) async fn model_card(hub: &Hub, repo: &RepoId) -> Result<String, ErrorReport> {
    let info = hub.model_info(repo, "main").await?;
    let Some(readme) = info.files.iter().find(|file| file.path == "README.md") else {
        return Err(ErrorReport {
            code: "no_model_card".into(),
            message: format!("{repo} has no model card."),
            hint: "Look at its page on the Hub.".into(),
        });
    };
    Ok(card::plain(&hub.read_file(repo, &info.commit, readme).await?))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use foretoken_host::Tool;
    use foretoken_host::testing::{demo_model, engine_program};
    use foretoken_models::{Gate, HubOptions, NoToken};
    use foretoken_test_hub::{Fault, Repo, Stage, TestHub, Trouble};
    use serde_json::{Map, Value};

    use super::*;

    fn judge(context: u32, available: u64) -> Judge<'static> {
        Judge { context, kv_precision: KvPrecision::Full, available, chip: "Apple M4 Max", measured: &[] }
    }

    fn quantized() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/tiny-dense-q4f32")
    }

    /// The demo model without the tensors of its MTP head, which its config goes on to declare.
    fn without_head(id: &str) -> Repo {
        let read = |name: &str| fs::read(demo_model().join(name)).unwrap();
        let file = read("model.safetensors");
        let (length, rest) = file.split_first_chunk::<8>().unwrap();
        let (header, data) = rest.split_at(u64::from_le_bytes(*length) as usize);
        let header: Map<String, Value> = serde_json::from_slice(header).unwrap();
        let (mut kept, mut bytes) = (Map::new(), Vec::new());
        for (name, mut tensor) in header.into_iter().filter(|(name, _)| !name.starts_with("mtp.")) {
            if let Some(place) = tensor.get_mut("data_offsets") {
                let at = |end: usize| place[end].as_u64().unwrap() as usize;
                let tensor = &data[at(0)..at(1)];
                *place = vec![bytes.len(), bytes.len() + tensor.len()].into();
                bytes.extend_from_slice(tensor);
            }
            kept.insert(name, tensor);
        }
        let header = serde_json::to_vec(&kept).unwrap();
        let file = [&(header.len() as u64).to_le_bytes(), header.as_slice(), &bytes].concat();
        let files = ["config.json", "tokenizer.json"].map(|name| (name, read(name)));
        Repo::new(id, files.into_iter().chain([("model.safetensors", file)]))
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_search_is_filtered_by_what_the_headers_say_and_not_by_names() {
        const ROOM: u64 = 16 << 30;
        let whole = |id: &str, folder: &Path| Repo::folder(id, folder).unwrap();
        let config = |kind: &str| ("config.json", format!(r#"{{"model_type":"{kind}"}}"#).into_bytes());
        let shard = ("model.safetensors", [2u64.to_le_bytes().as_slice(), b"{}"].concat());
        let hub = TestHub::start([
            whole("a/Whole", &demo_model()),
            without_head("b/Whole-MTP"),
            whole("c/Whole-small", &quantized()).tags(&["mlx"]),
            whole("d/Whole-gated", &demo_model()).gated("hf_token"),
            Repo::new("e/Whole-GGUF", [config("qwen3_5"), ("model.gguf", vec![0; 100])]),
            Repo::new("f/Whole-llama", [config("llama"), shard]),
        ])
        .await
        .unwrap();
        let folder = tempfile::tempdir().unwrap();
        let tool = Tool::new(engine_program(folder.path()));
        let inspector = Arc::new(Inspector::new(tool, folder.path().join("facts.json")));
        let options = HubOptions { endpoint: hub.endpoint().into(), ..HubOptions::default() };
        let client = Hub::new(options, Arc::new(NoToken)).unwrap();

        let any = RemoteFilter { text: "whole".into(), ..RemoteFilter::default() };
        let all = search(&client, &inspector, query(&any)).await.unwrap();
        let names = |found: &Search, filter: &RemoteFilter, available: u64| -> Vec<String> {
            found
                .shown(filter, &judge(4_096, available), |_| None)
                .into_iter()
                .map(|model| model.name)
                .collect()
        };
        assert_eq!(names(&all, &any, ROOM), ["Whole", "Whole-MTP", "Whole-small", "Whole-gated"]);
        assert_eq!(
            names(&all, &RemoteFilter { with_mtp: true, ..any.clone() }, ROOM),
            ["Whole", "Whole-small"]
        );
        let raw = RemoteFilter { kind: Some(ModelKind::Raw), ..any.clone() };
        assert_eq!(names(&all, &raw, ROOM), ["Whole", "Whole-MTP", "Whole-gated"]);
        let mlx = RemoteFilter { kind: Some(ModelKind::Converted), ..any.clone() };
        assert_eq!(names(&all, &mlx, ROOM), ["Whole-small"]);
        let converted = search(&client, &inspector, query(&mlx)).await.unwrap();
        assert_eq!(names(&converted, &mlx, ROOM), ["Whole-small"]);
        assert!(!all.is_for(&query(&mlx)), "the Hub is asked for these by their tag");

        let of = |bits| RemoteFilter { bits: Some(bits), ..any.clone() };
        assert_eq!(names(&all, &of(4), ROOM), ["Whole-small"]);
        assert!(names(&all, &of(8), ROOM).is_empty());
        let download = all.found.iter().find(|look| look.model.name == "Whole-small").unwrap();
        let most = download.model.download_bytes;
        let small = RemoteFilter { largest_download: most, ..any.clone() };
        assert_eq!(names(&all, &small, ROOM), ["Whole-small"]);
        let smaller = RemoteFilter { largest_download: most.map(|most| most - 1), ..any.clone() };
        assert!(names(&all, &smaller, ROOM).is_empty());

        // What is not known to fit is not said to; on a machine with little memory nothing fits.
        let fitting = RemoteFilter { fitting: true, ..any.clone() };
        assert_eq!(names(&all, &fitting, ROOM), ["Whole", "Whole-MTP", "Whole-small"]);
        assert!(names(&all, &fitting, 1 << 20).is_empty());
        let gated = all.shown(&any, &judge(4_096, ROOM), |_| None).pop().unwrap();
        assert_eq!((gated.mtp, gated.fit, gated.format), (None, None, None));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_search_of_a_busy_hub_says_when_to_try_again_and_does_not_wait_for_it() {
        let hub = TestHub::start([Repo::folder("a/Whole", &demo_model()).unwrap()]).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let tool = Tool::new(engine_program(folder.path()));
        let inspector = Arc::new(Inspector::new(tool, folder.path().join("facts.json")));
        let options = HubOptions { endpoint: hub.endpoint().into(), ..HubOptions::default() };
        let client = Hub::new(super::super::hub_access::interactive(options), Arc::new(NoToken)).unwrap();
        let any = query(&RemoteFilter { text: "whole".into(), ..RemoteFilter::default() });

        // Whoever waited would find the Hub well again.
        hub.fail(Fault::new(Stage::Api, Trouble::Status(429, Some(60))).times(1));
        let busy = search(&client, &inspector, any.clone()).await.unwrap_err();
        assert_eq!(busy.code, "hub_busy");
        assert!(busy.message.contains("60 seconds"), "{busy}");
        hub.fail(Fault::new(Stage::Api, Trouble::Status(429, Some(1))).times(1));
        assert_eq!(search(&client, &inspector, any).await.unwrap().found.len(), 1, "a moment is waited for");
    }

    #[test]
    fn the_catalogue_recommends_one_model_that_fits_and_knows_what_is_here() {
        let shown = suggestions(
            &Catalogue::embedded(),
            &judge(16_384, 12 << 30),
            Texts::of(foretoken_protocol::Language::En),
            |repo| (repo == "Qwen/Qwen3.5-2B").then(|| "/models/a".to_owned()),
        );
        let recommended: Vec<_> = shown.iter().filter(|model| model.recommended).collect();
        assert_eq!(recommended.len(), 1);
        assert_eq!(recommended[0].fit.as_ref().unwrap().verdict, FitVerdict::FitsWell);
        let here: Vec<_> =
            shown.iter().filter(|model| model.installed.is_some()).map(|model| &model.name).collect();
        assert_eq!(here, ["Qwen3.5-2B"]);
        assert!(shown.iter().all(|model| !model.summary.is_empty()));
        // Of what does not run nothing is expected.
        for model in &shown {
            let runs = model.fit.as_ref().unwrap().verdict != FitVerdict::TooBig;
            assert!(runs || model.expected.is_none(), "{}", model.name);
        }
        assert!(recommended[0].expected.is_some());
        let sight = |name: &str| shown.iter().find(|model| model.name == name).unwrap().sight;
        assert_eq!(sight("Qwen3.5-4B"), Sight::Sees);
        assert_eq!(sight("Qwen3-Next-80B-A3B-Instruct"), Sight::None);
        assert_eq!(sight("Qwen3.5-122B-A10B"), Sight::NoMemory);
    }

    /// A raw model is converted before it sees anything here.
    #[test]
    fn a_model_that_is_found_sees_with_the_weights_that_it_will_have() {
        let facts = serde_json::json!({
            "parameters": 1000, "format": "bfloat16", "mtp": {"state": "absent"}, "hidden_size": 64,
            "vocab_size": 256, "layers": 4, "weight_bytes": 2000, "needs": [], "seeing": 2300
        });
        let facts: Facts = serde_json::from_value(facts).unwrap();
        let hit = SearchHit {
            repo: "a/b".parse().unwrap(),
            gate: Gate::Open,
            tags: Vec::new(),
            downloads: 0,
            likes: 0,
            last_modified: None,
        };
        let look =
            |kind, facts: Option<Facts>| Look { model: RemoteModel { kind, ..from_tags(&hit) }, facts };
        assert_eq!(look(ModelKind::Converted, Some(facts.clone())).seeing(), Some(2300));
        assert_eq!(look(ModelKind::Raw, Some(facts.clone())).seeing(), Some(862));
        assert_eq!(look(ModelKind::Raw, Some(Facts { seeing: None, ..facts })).seeing(), None);
        assert_eq!(look(ModelKind::Raw, None).seeing(), None);
    }

    #[test]
    fn bits_are_told_of_every_format() {
        let formats =
            ["4-bit, group 64", "8-bit, group 64; parts bfloat16", "mxfp4", "nvfp4", "bfloat16", ""];
        assert_eq!(formats.map(main_bits), [Some(4), Some(8), Some(4), Some(4), Some(16), None]);
    }

    #[test]
    fn a_longer_context_takes_more_and_changes_the_recommendation() {
        let judged = |context| {
            suggestions(
                &Catalogue::embedded(),
                &judge(context, 12 << 30),
                Texts::of(foretoken_protocol::Language::En),
                |_| None,
            )
        };
        let best = |models: &[RemoteModel]| {
            models.iter().find(|model| model.recommended).map(|model| model.name.clone())
        };
        let (short, long) = (judged(4_096), judged(262_144));
        let need = |model: &RemoteModel| model.fit.as_ref().unwrap().need_bytes;
        assert!(short.iter().zip(&long).all(|(short, long)| need(short) < need(long)));
        assert!(long.iter().all(|model| model.fit.as_ref().unwrap().context == 262_144));
        assert_ne!(best(&short), best(&long));
    }
}
