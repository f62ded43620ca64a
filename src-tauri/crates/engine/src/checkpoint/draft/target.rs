//! Whether a draft model belongs to a target.

use foretoken_protocol::ModelNote;

use super::super::CheckpointError;
use super::super::config::Config;
use super::config::DraftConfig;

impl DraftConfig {
    /// Refuses a target whose hidden states, vocabulary or depth are not those that the draft model was made for. What
    /// is odd though it works is a note.
    pub fn check_target(&self, target: &Config) -> Result<Option<ModelNote>, CheckpointError> {
        for (key, draft, target) in [
            ("hidden_size", self.hidden_size, target.hidden_size),
            ("vocab_size", self.vocab_size, target.vocab_size),
        ] {
            if draft != target {
                return Err(CheckpointError::DraftMismatch { key, draft, target });
            }
        }
        let layers = target.layers.len();
        if let Some(&tap) = self.target_layer_ids.iter().find(|tap| **tap >= layers) {
            return Err(CheckpointError::DraftTap { tap, layers });
        }
        Ok(self
            .target_layers
            .filter(|told| *told != layers)
            .map(|told| ModelNote::DraftTarget { told: told as u32, layers: layers as u32 }))
    }
}
