//! Which size a picture is given for a model, and how many tokens that is.

use foretoken_protocol::PictureDetail;

use crate::error::PictureError;

/// Both sides of a resized picture are multiples of this, in pixels: a patch has 16, and 2 × 2 patches make a token.
pub const FACTOR: u32 = 32;
/// The smallest area that the models of the family are trained on, in pixels.
pub const LEAST_AREA: u32 = 1 << 16;
/// The largest, and the largest that is ever handed to a model.
pub const LARGEST_AREA: u32 = 1 << 24;
/// How many times longer than the other a side may be.
const LARGEST_RATIO: f64 = 200.0;

/// Between which areas a picture is resized, in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SizeRule {
    least: u32,
    most: u32,
}

impl SizeRule {
    /// At least and at most so many pixels; where these contradict each other, at most.
    pub fn new(least: u32, most: u32) -> Self {
        Self { least: least.min(most), most }
    }

    /// The same rule, for a picture that is to be seen in no more than this detail.
    pub fn within(self, detail: PictureDetail) -> Self {
        Self::new(self.least, detail.most_pixels().map_or(self.most, |most| self.most.min(most)))
    }

    /// Width and height that a picture of this width and height gets. Computed in the order in which the models'
    /// preprocessor computes, since a rounding apart is another size.
    pub fn resized(self, (width, height): (u32, u32)) -> Result<(u32, u32), PictureError> {
        check_ratio((width, height))?;
        let (w, h, factor) = (f64::from(width), f64::from(height), f64::from(FACTOR));
        let nearest = |side: f64| (side / factor).round_ties_even() * factor;
        let (most, least) = (f64::from(self.most), f64::from(self.least));
        let (to_w, to_h) = if nearest(h) * nearest(w) > most {
            let shrink = (h * w / most).sqrt();
            let below = |side: f64| factor.max((side / shrink / factor).floor() * factor);
            (below(w), below(h))
        } else if nearest(h) * nearest(w) < least {
            let grow = (least / (h * w)).sqrt();
            let above = |side: f64| (side * grow / factor).ceil() * factor;
            (above(w), above(h))
        } else {
            (nearest(w), nearest(h))
        };
        Ok((to_w as u32, to_h as u32))
    }
}

impl Default for SizeRule {
    /// What the models of the family are trained on.
    fn default() -> Self {
        Self::new(LEAST_AREA, LARGEST_AREA)
    }
}

/// Refuses a picture that is much longer one way than the other, or has no pixel.
pub(crate) fn check_ratio((width, height): (u32, u32)) -> Result<(), PictureError> {
    let (short, long) = (width.min(height), width.max(height));
    if short == 0 || f64::from(long) / f64::from(short) > LARGEST_RATIO {
        return Err(PictureError::Narrow { width, height });
    }
    Ok(())
}

/// How many tokens a picture of this resized width and height is, without the two marks around it.
pub(crate) fn tokens((width, height): (u32, u32)) -> u32 {
    (width / FACTOR) * (height / FACTOR)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn sizes_are_those_of_the_reference() {
        let sizes: Value = serde_json::from_str(include_str!("../tests/reference/sizes.json")).unwrap();
        assert_eq!(sizes["factor"], FACTOR);
        let rows = sizes["table"].as_array().unwrap();
        assert_eq!(rows.len(), 108);
        for row in rows {
            let number = |name: &str| u32::try_from(row[name].as_u64().unwrap()).unwrap();
            let rule = SizeRule { least: number("min"), most: number("max") };
            let resized = rule.resized((number("width"), number("height")));
            match row["resized"].as_array() {
                None => assert!(matches!(resized, Err(PictureError::Narrow { .. })), "{row}"),
                Some(expected) => {
                    let (width, height) = resized.unwrap();
                    assert_eq!([height, width].map(Value::from), expected[..], "{row}");
                    assert_eq!(tokens((width, height)), number("tokens"), "{row}");
                }
            }
        }
    }

    #[test]
    fn a_detail_lowers_what_a_model_could_read_and_never_raises_it() {
        let family = SizeRule::default();
        let areas = [
            (PictureDetail::Low, 262_144, 252),
            (PictureDetail::Standard, 1_048_576, 1008),
            (PictureDetail::High, 4_194_304, 2040),
            (PictureDetail::Original, 16_777_216, 2040),
        ];
        for (detail, most, expected) in areas {
            assert_eq!(family.within(detail), SizeRule { least: 65_536, most });
            assert_eq!(tokens(family.within(detail).resized((1920, 1080)).unwrap()), expected);
            let small = SizeRule::new(4096, 147_456);
            assert_eq!(small.within(detail), small);
        }
        assert_eq!(SizeRule::new(65_536, 4096), SizeRule { least: 4096, most: 4096 });
    }

    #[test]
    fn a_side_of_nothing_is_refused() {
        for size in [(0, 0), (0, 5), (5, 0)] {
            assert!(matches!(SizeRule::default().resized(size), Err(PictureError::Narrow { .. })));
        }
    }
}
