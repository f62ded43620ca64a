//! What a model makes of texts, part by part: the network is never in memory as a whole. Each part is read from the
//! model folder, all texts go through it, and it is dropped. So a model can be measured that does not fit in memory,
//! and in the same reading also many versions of it that differ in how one group of matrices is quantized.

mod allocate;
mod divergence;
mod error;
mod groups;
mod head;
mod probe;
mod rates;
mod round;
mod source;
mod stream;

pub use allocate::{Allocation, Choice, Point, allocate};
pub use divergence::{Divergence, comparing_bytes, evidence, kl_divergence, likelihoods, standard_error};
pub use error::ObserveError;
pub use groups::{Group, Module, WIDTHS, groups};
pub use head::{HeadFound, HeadPoint, head, head_modules, head_spec};
pub use probe::{Batch, Probe, Probing, Sensitivity, probe};
pub use rates::Rates;
pub use source::Source;
pub use stream::{Outputs, outputs};
