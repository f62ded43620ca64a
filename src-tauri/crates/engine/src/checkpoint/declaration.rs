//! What a config says about an MTP head beside its number of layers.

use serde_json::Value;

use super::CheckpointError;
use super::json::{Keys, invalid};
use super::kinds::{HiddenMode, NormEncoding};

/// Declarations of the tool that made a head. The config of the model has one, and so may a head in files of its own.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HeadDeclaration {
    /// How the head's norms are stored.
    pub norms: Option<NormEncoding>,
    /// Which hidden state the head reads.
    pub hidden_mode: Option<HiddenMode>,
    /// Whether the head is quantized in a way of its own, which its tensors tell.
    pub quantized_apart: bool,
}

impl HeadDeclaration {
    /// Refuses what the engine does not know, for then nobody can tell what the head needs.
    pub(super) fn parse(keys: &Keys<'_>) -> Result<Self, CheckpointError> {
        let key = "mtp_use_dedicated_embeddings";
        if keys.flag(key)? == Some(true) {
            let (value, supported) = ("true".into(), "false");
            return Err(CheckpointError::UnsupportedConfig { key: key.into(), value, supported });
        }
        Ok(Self {
            norms: norms(keys)?,
            hidden_mode: hidden_mode(keys)?,
            quantized_apart: keys.get("mtplx_mtp_quantization").is_some_and(Value::is_object),
        })
    }
}

fn norms(keys: &Keys<'_>) -> Result<Option<NormEncoding>, CheckpointError> {
    for key in ["mtplx_mtp_norm_encoding", "mtp_norm_encoding", "rmsnorm_weight_format"] {
        match keys.text(key)? {
            None => {}
            Some("delta" | "delta_plus_one" | "mlx_delta") => return Ok(Some(NormEncoding::Delta)),
            Some("gamma" | "mlx_gamma") => return Ok(Some(NormEncoding::Gamma)),
            Some(_) => return Err(invalid(key, keys.get(key), "delta or gamma")),
        }
    }
    Ok(None)
}

fn hidden_mode(keys: &Keys<'_>) -> Result<Option<HiddenMode>, CheckpointError> {
    let contract = Keys(keys.object("mtplx_mtp_contract")?.into_iter().collect());
    for (keys, key) in [(&contract, "base_hidden_variant"), (keys, "mtp_hidden_state_mode")] {
        match keys.text(key)? {
            None => {}
            Some("post_norm") => return Ok(Some(HiddenMode::PostNorm)),
            Some("pre_norm") => return Ok(Some(HiddenMode::PreNorm)),
            Some(_) => return Err(invalid(key, keys.get(key), "post_norm or pre_norm")),
        }
    }
    Ok(None)
}
