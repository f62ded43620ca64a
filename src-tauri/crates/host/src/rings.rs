//! What a process of the engine needs to compute a model together with other Macs. Who connects them is not known here.

use std::ffi::OsString;
use std::fmt::{self, Debug, Formatter};
use std::pin::Pin;

use foretoken_protocol::ErrorReport;

use crate::command::Model;
use crate::layers::Layers;

/// Connects this Mac with others.
pub trait Rings: Debug + Send + Sync {
    /// Has the Macs that a model is spread over start what computes their layers, and connects them. Fails where one of
    /// them cannot or will not.
    fn form(&self, model: Model, layers: Layers) -> Forming;
}

/// Macs on their way to be connected.
pub type Forming = Pin<Box<dyn Future<Output = Result<Ring, ErrorReport>> + Send>>;

/// Macs that are connected, for one process of this Mac. They are let go when this is dropped.
pub struct Ring {
    /// What the process is started with beside the usual.
    pub arguments: Vec<OsString>,
    /// What is in its environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Ends when a connection does. The process notices by itself, unless it waits for somebody who has gone.
    pub ended: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl Debug for Ring {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ring").field("arguments", &self.arguments).finish_non_exhaustive()
    }
}
