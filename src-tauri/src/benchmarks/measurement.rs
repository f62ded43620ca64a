//! Measuring a model with the engine's own benchmark.

use std::ffi::OsString;
use std::future::pending;
use std::path::Path;

use foretoken_host::{KV_IN_8_BITS, Model, Tool};
use foretoken_protocol::{
    Benchmark, BenchmarkPlan, DepthSpeed, DraftVocabularyFigures, ErrorReport, KvPrecision, MachineName,
    Spread, TextChoice, TextKind, TextSpeed,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// A prompt that is read in passing, where its speed is not asked for.
const SHORT_PROMPT: u32 = 64;

/// How much the engine is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sizes {
    /// Which kinds of text to decode.
    pub(crate) texts: TextChoice,
    /// Whether to draft.
    pub(crate) drafts: bool,
    pub(crate) prompt_tokens: u32,
    /// To decode behind each of a kind's questions.
    pub(crate) gen_tokens: u32,
    pub(crate) runs: u32,
}

impl Sizes {
    /// What a plan comes to with a model that can read `context` tokens.
    pub(crate) fn of(plan: BenchmarkPlan, context: u32) -> Self {
        let (prompt_tokens, gen_tokens, runs) = if plan.thorough { (2048, 48, 5) } else { (512, 20, 3) };
        let prompt_tokens = if plan.prompt { prompt_tokens.min(context / 2) } else { SHORT_PROMPT };
        Self { texts: plan.texts, drafts: plan.drafts, prompt_tokens, gen_tokens, runs }
    }

    fn arguments(&self, model: &Model, state: &Path) -> Vec<OsString> {
        let mut arguments: Vec<OsString> =
            ["bench", "--json", "--progress", "--decoding-only", "--model"].map(OsString::from).into();
        arguments.extend([(&model.folder).into(), "--state-dir".into(), state.into()]);
        let kinds: Vec<&str> = self.texts.kinds().iter().map(|&kind| name(kind)).collect();
        arguments.extend(["--texts".into(), kinds.join(",").into()]);
        for (name, count) in [
            ("--prompt-tokens", self.prompt_tokens),
            ("--gen-tokens", self.gen_tokens),
            ("--runs", self.runs),
        ] {
            arguments.extend([name.into(), count.to_string().into()]);
        }
        match &model.draft_model {
            _ if !self.drafts => arguments.extend(["--speculation".into(), "off".into()]),
            Some(draft_model) => arguments.extend(["--draft-model".into(), draft_model.into()]),
            None => {}
        }
        if model.kv_precision == KvPrecision::Eight {
            arguments.extend(KV_IN_8_BITS.map(OsString::from));
        }
        arguments
    }
}

/// As the engine's option and the history call it; empty for what was not told apart.
pub(super) fn name(kind: TextKind) -> &'static str {
    match kind {
        TextKind::Prose => "prose",
        TextKind::Code => "code",
        TextKind::Any => "",
    }
}

/// The engine's figures.
#[derive(Debug, Deserialize)]
pub(crate) struct Report {
    texts: Vec<TextFigures>,
    format: String,
    device: String,
    runs: u32,
    prompt_tokens: u32,
    prefill_tokens_per_second: Spread,
    peak_memory_bytes: Spread,
    load_seconds: Spread,
}

/// Those of one kind of text.
#[derive(Debug, Deserialize)]
struct TextFigures {
    /// Decoded in each way in each run.
    tokens: u32,
    #[serde(flatten)]
    speed: TextSpeed,
}

impl Report {
    /// Decoding of the first kind of text with the MTP head, by depth.
    pub(crate) fn depths(&self) -> &[DepthSpeed] {
        self.texts.first().map_or(&[], |text| &text.speed.depths)
    }

    /// The figures as they are kept, of the model with this name, measured now with keys and values kept so, on a
    /// machine that was strained or not.
    pub(crate) fn kept(
        self,
        model: String,
        plan: BenchmarkPlan,
        kv_precision: KvPrecision,
        (machine, strained): (MachineName, bool),
        measured_at: u64,
    ) -> Benchmark {
        Benchmark {
            measured_at,
            model,
            format: self.format,
            kv_precision,
            app_version: env!("CARGO_PKG_VERSION").into(),
            machine,
            device: self.device,
            strained,
            plan,
            runs: self.runs,
            gen_tokens: self.texts.first().map_or(0, |text| text.tokens),
            prompt_tokens: self.prompt_tokens,
            texts: self.texts.into_iter().map(|text| text.speed).collect(),
            prefill_tokens_per_second: plan.prompt.then_some(self.prefill_tokens_per_second),
            peak_memory_bytes: self.peak_memory_bytes,
            load_seconds: self.load_seconds,
        }
    }
}

/// How far the engine is: loads and runs.
#[derive(Deserialize)]
struct BenchProgress {
    done: u64,
    total: u64,
}

/// Measures a model as it is loaded for replies, and leaves what passes take in `state` for the engine that writes
/// them; `on_progress` is told how much of it is done, and of how much. Dropping the future ends it.
pub(crate) async fn measure(
    tool: &Tool,
    model: &Model,
    state: &Path,
    sizes: &Sizes,
    on_progress: impl FnMut(u64, u64),
) -> Result<Report, ErrorReport> {
    report(tool, sizes.arguments(model, state), on_progress).await
}

/// Has the engine choose the tokens that the MTP head of the model in a folder drafts from, where fewer are faster, and
/// keep them beside the model; the rest as in [`measure`].
pub(crate) async fn choose_draft_vocabulary(
    tool: &Tool,
    folder: &Path,
    on_progress: impl FnMut(u64, u64),
) -> Result<DraftVocabularyFigures, ErrorReport> {
    let mut arguments: Vec<OsString> =
        ["draft-vocabulary", "--json", "--progress", "--model"].map(OsString::from).into();
    arguments.push(folder.into());
    report(tool, arguments, on_progress).await
}

/// What the engine reports at the end, behind lines that tell how far it is.
async fn report<T: DeserializeOwned>(
    tool: &Tool,
    arguments: Vec<OsString>,
    mut on_progress: impl FnMut(u64, u64),
) -> Result<T, ErrorReport> {
    let mut output = String::new();
    let follow = |line: &str| match serde_json::from_str(line) {
        Ok(BenchProgress { done, total }) => on_progress(done, total),
        Err(_) => {
            output.push_str(line);
            output.push('\n');
        }
    };
    tool.lines(arguments, follow, pending()).await?;
    serde_json::from_str(&output).map_err(|error| ErrorReport {
        code: "engine_unreadable".into(),
        message: format!("The engine told its speed in words that cannot be read: {error}."),
        hint: "Install Foretoken again.".into(),
    })
}

#[cfg(test)]
mod tests {
    use foretoken_host::testing::{demo_model, engine_program};

    use super::*;

    const PLAN: BenchmarkPlan =
        BenchmarkPlan { texts: TextChoice::Both, drafts: true, prompt: true, thorough: false };
    /// Few tokens, but room for seven drafts.
    const SMALL: Sizes =
        Sizes { texts: TextChoice::Both, drafts: true, prompt_tokens: 16, gen_tokens: 8, runs: 1 };

    fn demo(kv_precision: KvPrecision, draft_model: Option<String>) -> Model {
        Model { draft_model, ..Model::new(demo_model().to_string_lossy(), kv_precision) }
    }

    #[test]
    fn a_plan_fits_into_the_model() {
        assert_eq!(Sizes::of(PLAN, 262_144).prompt_tokens, 512);
        assert_eq!(Sizes::of(PLAN, 512).prompt_tokens, 256);
        assert_eq!(Sizes::of(BenchmarkPlan { prompt: false, ..PLAN }, 262_144).prompt_tokens, SHORT_PROMPT);
        let (quick, thorough) =
            (Sizes::of(PLAN, 4096), Sizes::of(BenchmarkPlan { thorough: true, ..PLAN }, 4096));
        assert!(thorough.gen_tokens > quick.gen_tokens && thorough.runs > quick.runs);
    }

    #[tokio::test]
    async fn the_demo_model_is_measured_in_each_way_and_each_part_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let tool = Tool::new(engine_program(folder.path()));
        let (mut told, state) = (Vec::new(), folder.path().join("state"));
        let draft_model = demo_model().parent().unwrap().join("dflash").to_string_lossy().into_owned();
        let model = demo(KvPrecision::Full, Some(draft_model));
        let follow = |done, total| told.push((done, total));
        let report = measure(&tool, &model, &state, &SMALL, follow).await.unwrap();
        assert_eq!(std::fs::read_dir(&state).unwrap().count(), 1, "what passes take is kept");
        assert_eq!(told, [(1, 3), (2, 3), (3, 3)], "a load, a run that does not count and one that does");
        let machine = MachineName { chip: "M4".into(), ram_bytes: 16 << 30 };
        let kept = report.kept("Demo model".into(), PLAN, KvPrecision::Full, (machine, false), 7);
        assert_eq!(kept.texts.iter().map(|text| text.kind).collect::<Vec<_>>(), TextChoice::Both.kinds());
        for TextSpeed { depths, dflash, auto, lookup, .. } in &kept.texts {
            assert_eq!(depths.iter().map(|depth| depth.depth).collect::<Vec<_>>(), [0, 1, 2, 3]);
            for DepthSpeed { depth, tokens_per_second, speed_up, tokens_per_pass, positions } in depths {
                assert!(0.0 < tokens_per_second.min && tokens_per_second.min <= tokens_per_second.max);
                assert_eq!(positions.len(), usize::from(*depth));
                assert_eq!(speed_up.unwrap().median == 1.0, *depth == 0, "{speed_up:?}");
                assert_eq!(tokens_per_pass.median == 1.0, *depth == 0, "{tokens_per_pass:?}");
            }
            assert_eq!(dflash.iter().map(|depth| depth.depth).collect::<Vec<_>>(), [3, 7]);
            assert!(auto.is_some() && lookup.is_some());
        }
        assert!(kept.prefill_tokens_per_second.is_some());
        assert_eq!((kept.runs, kept.gen_tokens, kept.prompt_tokens), (1, 3 * 8, 16));
        assert!(kept.peak_memory_bytes.min > 0.0);
    }

    #[tokio::test]
    async fn plain_decoding_can_be_measured_alone_and_with_less_memory() {
        let folder = tempfile::tempdir().unwrap();
        let tool = Tool::new(engine_program(folder.path()));
        let cases = [(KvPrecision::Full, TextChoice::Prose), (KvPrecision::Eight, TextChoice::Code)];
        for (kv_precision, texts) in cases {
            let sizes = Sizes { drafts: false, texts, ..SMALL };
            let plan = BenchmarkPlan { texts, drafts: false, prompt: false, thorough: false };
            let model = demo(kv_precision, Some("nowhere".into()));
            let report = measure(&tool, &model, folder.path(), &sizes, |_, _| {}).await.unwrap();
            let nowhere = MachineName { chip: String::new(), ram_bytes: 0 };
            let kept = report.kept("Demo model".into(), plan, kv_precision, (nowhere, true), 7);
            let [text] = &kept.texts[..] else { panic!("{kept:?}") };
            assert_eq!((&[text.kind][..], text.depths.len(), text.dflash.len()), (texts.kinds(), 1, 0));
            assert_eq!((&text.auto, &text.lookup), (&None, &None));
            assert_eq!((kept.kv_precision, kept.prefill_tokens_per_second), (kv_precision, None));
        }
    }

    #[test]
    fn the_engine_is_told_how_keys_and_values_are_kept() {
        let says = |kv_precision| {
            let arguments = SMALL.arguments(&demo(kv_precision, None), Path::new("/state"));
            arguments.windows(2).any(|two| two == KV_IN_8_BITS)
        };
        assert!(says(KvPrecision::Eight) && !says(KvPrecision::Full));
    }
}
