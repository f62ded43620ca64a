//! One model over several processes: this one has the first layers and all that is not a layer, the others have the
//! rest.

use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::rc::Rc;

use foretoken_protocol::{MacLayers, RingMac, RingView};

use super::Prepared;
use crate::checkpoint::Part;
use crate::error::EngineError;
use crate::link::{Channel, Clocks, Link, Loss, OnLoss, PartOrder, Times, Worked, evenly};

/// What people call the process that this is.
const OWN_NAME: &str = "This Mac";

/// The place of this process in a ring, as rank 0 of it, for one model: it has no other, see
/// [`set_ring`](crate::mlx::environment::set_ring).
pub struct RingSeat {
    /// The ways to the other ranks, in order.
    pub channels: Vec<Channel>,
    /// How many layers each rank gets, this one first; empty for about as many each.
    pub layers: Vec<usize>,
    /// The most steps, and chunks of a prompt, that are under way at a time; as many as there are ranks where nothing
    /// is said.
    pub most_in_flight: Option<usize>,
    /// How long others may take.
    pub clocks: Clocks,
    /// What is done when one of them is lost, before this process ends.
    pub on_loss: OnLoss,
}

impl fmt::Debug for RingSeat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RingSeat").field("channels", &self.channels).finish_non_exhaustive()
    }
}

impl RingSeat {
    /// The same, with something else that is done first when a rank is lost.
    pub fn telling(self, tell: impl Fn(&Loss) + Send + Sync + 'static) -> Self {
        let on_loss = self.on_loss;
        let both = move |loss: &Loss| {
            tell(loss);
            on_loss(loss);
        };
        Self { on_loss: Box::new(both), ..self }
    }
}

/// The layers that lie on others, until the model is loaded.
#[derive(Debug)]
pub(super) struct Rest {
    pub(super) link: Rc<Link>,
    pub(super) watch: RingWatch,
}

/// Who computes the model together, and how long steps take each, for people to see.
#[derive(Debug)]
pub(super) struct RingWatch {
    view: RingView,
    /// What had been done when it was looked last: by this rank and all others, and by each other.
    times: Times,
    worked: Vec<Worked>,
}

impl RingWatch {
    /// The ranks with their layers, and the bytes of these.
    fn new(macs: Vec<RingMac>) -> Self {
        Self { view: RingView { macs, link_ms: None }, times: Times::default(), worked: Vec::new() }
    }

    /// How many layers this rank has.
    pub(super) fn own_layers(&self) -> usize {
        self.view.macs.first().map_or(0, |own| own.layers as usize)
    }

    /// The ranks as they work now. What has not moved since the last time stays as it was.
    pub(super) fn look(&mut self, link: &Link) -> RingView {
        let (times, worked) = (link.times(), link.worked().map(|(_, worked)| worked).collect::<Vec<_>>());
        self.worked.resize(worked.len(), Worked::default());
        let own = times.own.mean_since(self.times.own);
        let others = worked.iter().zip(&self.worked).map(|(now, before)| now.mean_since(*before));
        let mut all_known = true;
        for (mac, step_ms) in self.view.macs.iter_mut().zip(std::iter::once(own).chain(others)) {
            mac.step_ms = step_ms.or(mac.step_ms);
            all_known &= mac.step_ms.is_some();
        }
        if let Some(elsewhere) = times.elsewhere.mean_since(self.times.elsewhere).filter(|_| all_known) {
            let computed: f64 = self.view.macs.iter().skip(1).filter_map(|mac| mac.step_ms).sum();
            // The others' means are of other steps, by a fraction of a second.
            self.view.link_ms = Some((elsewhere - computed).max(0.0));
        }
        (self.times, self.worked) = (times, worked);
        self.view.clone()
    }
}

impl Prepared {
    /// Spreads the model over this process and those at the other ends of the channels. What is remembered of earlier
    /// turns goes with the process.
    ///
    /// Whatever becomes of the others from now on ends this process, after `on_loss` was told.
    pub fn spread(&mut self, seat: RingSeat) -> Result<(), EngineError> {
        let RingSeat { channels, mut layers, most_in_flight, clocks, on_loss } = seat;
        let (ranks, all) = (channels.len() + 1, self.config.layers.len());
        if layers.is_empty() {
            layers = evenly(all, ranks);
        }
        let sum = layers.iter().copied().fold(0, usize::saturating_add);
        if layers.len() != ranks || layers.contains(&0) || sum != all {
            return Err(EngineError::Request {
                code: "bad_layers",
                message: format!("{layers:?} is no way to spread {all} layers over {ranks} processes."),
                hint: "Give each process at least one layer, and all of them together as many as there are.",
            });
        }
        let part = PartOrder {
            part: Part::all(&self.config, &self.layout)?,
            kv_precision: self.layout.kv_precision,
            taps: self.draft_model.as_ref().map_or(Vec::new(), |(config, _)| config.target_layer_ids.clone()),
            // 31 bits that no other ring has.
            epoch: (RandomState::new().build_hasher().finish() >> 33) as u32,
            silence: clocks.silence,
        };
        let names = channels.iter().map(|channel| channel.name.clone());
        let mut first = 0;
        let of_rank = |(name, &layers): (String, &usize)| {
            let layout = self.layout.clone().of_layers(&(first..first + layers));
            first += layers;
            RingMac { name, layers: layers as u32, bytes: layout.weight_bytes(), step_ms: None }
        };
        let macs: Vec<RingMac> =
            std::iter::once(OWN_NAME.to_owned()).chain(names).zip(&layers).map(of_rank).collect();
        let link = Link::form(channels, &part.spread(&layers), clocks, on_loss)?;
        most_in_flight.iter().for_each(|&most| link.limit_in_flight(most));
        let layers_of = |mac: &RingMac| MacLayers { name: mac.name.clone(), layers: mac.layers };
        self.info.macs = macs.iter().map(layers_of).collect();
        self.rest = Some(Rest { link: Rc::new(link), watch: RingWatch::new(macs) });
        Ok(())
    }
}
