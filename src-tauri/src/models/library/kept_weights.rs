//! How a conversion stores weights, as jobs keep it over restarts. Earlier versions kept the bits alone, or none for
//! those as published.

use foretoken_protocol::{ConversionChoice, Weights};
use serde::{Deserialize, Deserializer};

#[derive(Deserialize)]
#[serde(untagged)]
enum Kept {
    Bits(Option<u8>),
    Weights(Weights),
}

#[derive(Deserialize)]
struct Choice {
    #[serde(alias = "bits", deserialize_with = "weights")]
    weights: Weights,
    keep_raw: bool,
}

/// Reads how weights are stored.
pub(super) fn weights<'de, D: Deserializer<'de>>(from: D) -> Result<Weights, D::Error> {
    Ok(match Kept::deserialize(from)? {
        Kept::Bits(None) => Weights::Published,
        Kept::Bits(Some(bits)) => Weights::Bits { bits },
        Kept::Weights(weights) => weights,
    })
}

/// Reads how a download is converted.
pub(super) fn choice<'de, D: Deserializer<'de>>(from: D) -> Result<ConversionChoice, D::Error> {
    let Choice { weights, keep_raw } = Choice::deserialize(from)?;
    Ok(ConversionChoice { weights, keep_raw })
}
