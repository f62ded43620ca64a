//! One model over several processes: this one has the first layers and all that is not a layer, the others have the
//! rest.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::rc::Rc;

use super::Prepared;
use crate::error::EngineError;
use crate::link::{Channel, Clocks, Link, OnLoss, PartOrder};

impl Prepared {
    /// Spreads the model over this process and those at the other ends of `channels`, rank by rank: `layers` says how
    /// many of its layers each gets. This process must have its place in the ring, see
    /// [`set_ring`](crate::mlx::environment::set_ring). What is remembered of earlier turns goes with the process.
    ///
    /// Whatever becomes of the others from now on ends this process, after `on_loss` was told.
    pub fn spread(
        &mut self,
        layers: &[usize],
        channels: Vec<Channel>,
        clocks: Clocks,
        on_loss: OnLoss,
    ) -> Result<(), EngineError> {
        let (ranks, all) = (channels.len() + 1, self.config.layers.len());
        let sum = layers.iter().copied().fold(0, usize::saturating_add);
        if layers.len() != ranks || layers.contains(&0) || sum != all {
            return Err(EngineError::Request {
                code: "bad_layers",
                message: format!("{layers:?} is no way to spread {all} layers over {ranks} processes."),
                hint: "Give each process at least one layer, and all of them together as many as there are.",
            });
        }
        let part = PartOrder {
            fingerprint: self.info.fingerprint.clone(),
            layers: 0..0,
            kv_precision: self.layout.kv_precision,
            taps: self.draft_model.as_ref().map_or(Vec::new(), |(config, _)| config.target_layer_ids.clone()),
            // 31 bits that no other ring has.
            epoch: (RandomState::new().build_hasher().finish() >> 33) as u32,
            silence: clocks.silence,
        };
        let link = Link::form(channels, &part.spread(layers), clocks, on_loss)?;
        self.rest = Some((layers[0], Rc::new(link)));
        Ok(())
    }
}
