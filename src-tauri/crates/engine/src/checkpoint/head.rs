//! Which MTP head is used: the one in the main files, else the first beside them that is whole.

use foretoken_protocol::{ErrorReport, ModelNote};

use super::CheckpointError;
use super::config::Config;
use super::declaration::HeadDeclaration;
use super::expected;
use super::forms::Family;
use super::index::{Index, SidecarContent};
use super::kinds::{FloatType, HiddenMode, MlpKind};
use super::names::classify_head;
use super::norms::{self, HeadNorms, Trunk};
use super::plan::SkipReason;
use super::planner::{CheckpointPart, Planned};
use super::quantization::Quantization;
use super::sort::{Sorted, TextTensors, mlp_kind};

/// A head that can be loaded.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) planned: Planned,
    pub(super) norms: HeadNorms,
    /// Which hidden state it reads, where that is declared.
    pub(super) hidden_mode: Option<HiddenMode>,
}

/// Plans the head of a model, if it has one that can be used: whatever is wrong with one, the trunk does without. Notes
/// say what was left out and why.
pub(super) fn plan(
    config: &Config,
    index: &Index,
    compute: FloatType,
    trunk: Trunk<'_>,
    sorted: &mut Sorted<'_>,
    notes: &mut Vec<ModelNote>,
) -> Option<Head> {
    let planner = HeadPlanner { config, compute, trunk };
    let inside = std::mem::take(&mut sorted.head);
    let mut head = None;
    if !inside.is_empty() {
        let planned = match sorted.head_twice.take() {
            Some(twice) => Err(twice.into()),
            None => planner.inside(index, &inside),
        };
        match planned {
            Ok(found) => head = Some(found),
            Err(error) => {
                notes.push(ModelNote::HeadUnused { error });
                sorted.skip(&inside, SkipReason::UnusedHead);
            }
        }
    }
    let in_main_files = head.is_some();
    let mut explained = !inside.is_empty();
    if let Some(file) = &config.mtp_file
        && head.is_none()
        && !index.sidecars.iter().any(|sidecar| sidecar.path.ends_with(file))
    {
        notes.push(ModelNote::HeadMissing { file: file.to_owned() });
        explained = true;
    }
    for sidecar in &index.sidecars {
        let file = sidecar.path.display().to_string();
        explained = true;
        if head.is_some() {
            notes.push(ModelNote::SecondHead { file, in_main_files });
            continue;
        }
        let planned = match &sidecar.content {
            Ok(content) => planner.beside(content),
            Err(error) => Err(error.into()),
        };
        match planned {
            Ok(found) => head = Some(found),
            Err(error) => notes.push(ModelNote::HeadFileUnused { file, error }),
        }
    }
    if head.as_ref().is_some_and(|head| head.norms.assumed) {
        notes.push(ModelNote::HeadNormsAssumed);
    }
    match (&head, config.mtp_layers) {
        (Some(_), 0) => notes.push(ModelNote::HeadUndeclared),
        (None, 1..) if !explained => notes.push(ModelNote::HeadStripped),
        _ => {}
    }
    head
}

struct HeadPlanner<'a> {
    config: &'a Config,
    compute: FloatType,
    trunk: Trunk<'a>,
}

impl HeadPlanner<'_> {
    fn inside(&self, index: &Index, tensors: &TextTensors<'_>) -> Result<Head, ErrorReport> {
        let quantization = match &self.config.mtp {
            Ok(declared) if declared.quantized_apart => None,
            _ => self.config.quantization.as_ref(),
        };
        self.head(index, tensors, &HeadDeclaration::default(), quantization)
    }

    /// Whatever is said about the quantization of such a head, its tensors say it exactly.
    fn beside(&self, content: &SidecarContent) -> Result<Head, ErrorReport> {
        let mut sorted = Sorted::of(&content.index, classify_head)?;
        if let Some(twice) = sorted.head_twice.take() {
            return Err(twice.into());
        }
        self.head(&content.index, &sorted.head, &content.declaration, None)
    }

    fn head(
        &self,
        index: &Index,
        tensors: &TextTensors<'_>,
        own: &HeadDeclaration,
        quantization: Option<&Quantization>,
    ) -> Result<Head, ErrorReport> {
        let of_model = self.config.mtp.as_ref().map_err(Clone::clone)?;
        if self.config.mtp_layers > 1 {
            let (key, value) = ("mtp_num_hidden_layers".into(), self.config.mtp_layers.to_string());
            return Err(CheckpointError::UnsupportedConfig { key, value, supported: "1" }.into());
        }
        let kind = match mlp_kind("mtp.layers.0", tensors) {
            Some(kind) => kind,
            None if self.config.moe.is_some() => MlpKind::Sparse,
            None => MlpKind::Dense,
        };
        let slots = expected::mtp_head(self.config, kind)?;
        let declared = own.norms.or(of_model.norms);
        // Whether all is there is told first: it is the simpler thing to mend.
        let mut part = CheckpointPart {
            family: Family::Model(&self.config.linear),
            compute: self.compute,
            norms: self.trunk.norms,
            quantization,
        };
        part.plan(&slots, tensors)?;
        let norms = match declared {
            Some(encoding) => HeadNorms { encoding, assumed: false },
            None => norms::head(index, tensors, self.trunk)?,
        };
        part.norms = norms.encoding;
        let planned = part.plan(&slots, tensors)?;
        Ok(Head { planned, norms, hidden_mode: of_model.hidden_mode.or(own.hidden_mode) })
    }
}
