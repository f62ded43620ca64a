//! Bicubic resizing as Pillow does it up to version 12: across, rounded to 8 bits, then down. The models' preprocessor
//! resizes so, and a picture resized otherwise is another picture to them.

use image::RgbImage;

/// Fractional bits of the weights.
const BITS: u32 = 22;
const HALF: i32 = 1 << (BITS - 1);

/// Resizes a picture to a width and a height; neither may be 0.
pub fn bicubic(picture: &RgbImage, to: (u32, u32)) -> RgbImage {
    let resized = resize::<3>(picture.as_raw(), picture.dimensions(), to);
    // It has as many bytes as that size has.
    RgbImage::from_raw(to.0, to.1, resized).unwrap_or_default()
}

/// Resizes a picture of `N` channels of 8 bits, row after row; each axis only if its size changes.
pub(crate) fn resize<const N: usize>(pixels: &[u8], from: (u32, u32), to: (u32, u32)) -> Vec<u8> {
    let [from_width, from_height, to_width, to_height] = [from.0, from.1, to.0, to.1].map(|n| n as usize);
    let mut now = Vec::new();
    if from_width != to_width {
        now = across::<N>(pixels, from_width, from_height, &Filter::new(from_width, to_width));
    }
    if from_height != to_height {
        let rows = if now.is_empty() { pixels } else { &now };
        now = down(rows, to_width * N, &Filter::new(from_height, to_height));
    }
    if now.is_empty() { pixels.to_vec() } else { now }
}

/// The weights of one axis.
struct Filter {
    /// For each target pixel, the first source pixel that it is made of.
    firsts: Vec<usize>,
    /// For each target pixel, the end of its weights; they begin where those of the one before end.
    ends: Vec<usize>,
    /// Times 2 to the power of [`BITS`].
    weights: Vec<i32>,
}

impl Filter {
    fn new(from: usize, to: usize) -> Self {
        let scale = from as f64 / to as f64;
        let stretch = scale.max(1.0);
        let (support, narrow) = (2.0 * stretch, 1.0 / stretch);
        let mut filter =
            Self { firsts: Vec::with_capacity(to), ends: Vec::with_capacity(to), weights: vec![] };
        let mut exact = Vec::new();
        for target in 0..to {
            let center = (target as f64 + 0.5) * scale;
            // A cast to a whole number cuts towards 0, and what is below 0 becomes 0.
            let first = (center - support + 0.5) as usize;
            let end = ((center + support + 0.5) as usize).min(from);
            exact.clear();
            exact.extend((first..end).map(|source| cubic((source as f64 - center + 0.5) * narrow)));
            let sum: f64 = exact.iter().sum();
            filter.weights.extend(exact.iter().map(|weight| fixed(weight / sum)));
            filter.firsts.push(first);
            filter.ends.push(filter.weights.len());
        }
        filter
    }

    /// For each target pixel its first source pixel and its weights.
    fn taps(&self) -> impl Iterator<Item = (usize, &[i32])> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        let weights = begins.zip(&self.ends).map(|(begin, end)| &self.weights[begin..*end]);
        self.firsts.iter().copied().zip(weights)
    }
}

/// The bicubic filter with a = −0.5.
fn cubic(x: f64) -> f64 {
    const A: f64 = -0.5;
    match x.abs() {
        x if x < 1.0 => ((A + 2.0) * x - (A + 3.0)) * x * x + 1.0,
        x if x < 2.0 => (((x - 5.0) * x + 8.0) * x - 4.0) * A,
        _ => 0.0,
    }
}

/// Rounds away from zero.
fn fixed(weight: f64) -> i32 {
    (weight * f64::from(1 << BITS) + 0.5_f64.copysign(weight)) as i32
}

/// From 0 to 255. The weights' magnitudes sum up to less than 2, so that no sum leaves an `i32`.
fn clipped(sum: i32) -> u8 {
    (sum >> BITS).clamp(0, 255) as u8
}

fn across<const N: usize>(pixels: &[u8], width: usize, height: usize, filter: &Filter) -> Vec<u8> {
    let mut out = Vec::with_capacity(filter.firsts.len() * height * N);
    for row in pixels.chunks_exact(width * N) {
        for (first, weights) in filter.taps() {
            let mut sums = [HALF; N];
            let sources = row[first * N..].as_chunks::<N>().0;
            for (source, weight) in sources.iter().zip(weights) {
                for (sum, value) in sums.iter_mut().zip(source) {
                    *sum += i32::from(*value) * weight;
                }
            }
            out.extend(sums.map(clipped));
        }
    }
    out
}

/// `row` is the length of a row in bytes.
fn down(pixels: &[u8], row: usize, filter: &Filter) -> Vec<u8> {
    let mut out = Vec::with_capacity(filter.firsts.len() * row);
    let mut sums = vec![0; row];
    for (first, weights) in filter.taps() {
        sums.fill(HALF);
        for (source, weight) in pixels[first * row..].chunks_exact(row).zip(weights) {
            for (sum, value) in sums.iter_mut().zip(source) {
                *sum += i32::from(*value) * weight;
            }
        }
        out.extend(sums.iter().map(|sum| clipped(*sum)));
    }
    out
}

#[cfg(test)]
mod tests {
    use image::Rgb;
    use proptest::prelude::*;

    use super::*;

    /// What the module's first lines say, pixel by pixel in f64, for one axis of one channel.
    fn axis(line: &[u8], to: usize) -> Vec<f64> {
        let scale = line.len() as f64 / to as f64;
        let stretch = scale.max(1.0);
        let value = |target: usize| {
            let center = (target as f64 + 0.5) * scale;
            let first = ((center - 2.0 * stretch + 0.5).floor()).max(0.0) as usize;
            let end = ((center + 2.0 * stretch + 0.5).floor()).min(line.len() as f64) as usize;
            let weight = |source: usize| {
                let x = ((source as f64 - center + 0.5) / stretch).abs();
                if x < 1.0 {
                    1.5 * x.powi(3) - 2.5 * x.powi(2) + 1.0
                } else if x < 2.0 {
                    -0.5 * x.powi(3) + 2.5 * x.powi(2) - 4.0 * x + 2.0
                } else {
                    0.0
                }
            };
            let total: f64 = (first..end).map(weight).sum();
            let sum: f64 = (first..end).map(|source| f64::from(line[source]) * weight(source) / total).sum();
            sum.clamp(0.0, 255.0)
        };
        (0..to).map(value).collect()
    }

    /// The column of a channel.
    fn column(picture: &RgbImage, x: u32, channel: usize) -> Vec<u8> {
        (0..picture.height()).map(|y| picture[(x, y)][channel]).collect()
    }

    /// Whether a picture is another one resized down alone, each value rounded to one of its neighbours.
    fn is_resized_down(picture: &RgbImage, resized: &RgbImage) -> bool {
        let mut columns = (0..picture.width()).flat_map(|x| (0..3).map(move |channel| (x, channel)));
        columns.all(|(x, channel)| {
            let exact = axis(&column(picture, x, channel), resized.height() as usize);
            let rounded = column(resized, x, channel);
            // Weights of 22 bits may round a value in the middle between two to either.
            exact.iter().zip(rounded).all(|(exact, rounded)| (exact - f64::from(rounded)).abs() < 0.51)
        })
    }

    fn turned(picture: &RgbImage) -> RgbImage {
        RgbImage::from_fn(picture.height(), picture.width(), |x, y| picture[(y, x)])
    }

    fn pictures() -> impl Strategy<Value = RgbImage> {
        (1_u32..90, 1_u32..90).prop_flat_map(|(width, height)| {
            let bytes = proptest::collection::vec(any::<u8>(), (width * height * 3) as usize);
            bytes.prop_map(move |bytes| RgbImage::from_raw(width, height, bytes).unwrap())
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn it_is_the_filter_that_it_claims_to_be(
            picture in pictures(),
            width in 1_u32..120,
            height in 1_u32..120,
        ) {
            let across = bicubic(&picture, (width, picture.height()));
            prop_assert!(width == picture.width() || is_resized_down(&turned(&picture), &turned(&across)));
            let down = bicubic(&across, (width, height));
            prop_assert!(height == picture.height() || is_resized_down(&across, &down));
            prop_assert!(bicubic(&picture, (width, height)) == down);
        }

        #[test]
        fn one_colour_stays_that_colour(
            colour: [u8; 3],
            from in (1_u32..200, 1_u32..200),
            to in (1_u32..200, 1_u32..200),
        ) {
            let picture = RgbImage::from_pixel(from.0, from.1, Rgb(colour));
            prop_assert_eq!(bicubic(&picture, to), RgbImage::from_pixel(to.0, to.1, Rgb(colour)));
        }
    }

    /// Pillow 12 has made these from the same pictures.
    #[test]
    fn every_byte_is_pillows() {
        let files: [(&[u8], &[u8]); 4] = [
            (include_bytes!("../tests/reference/a.png"), include_bytes!("../tests/reference/a.resized.png")),
            (include_bytes!("../tests/reference/b.png"), include_bytes!("../tests/reference/b.resized.png")),
            (include_bytes!("../tests/reference/c.png"), include_bytes!("../tests/reference/c.resized.png")),
            (include_bytes!("../tests/reference/d.png"), include_bytes!("../tests/reference/d.resized.png")),
        ];
        for (picture, resized) in files {
            // The transparent one was made by leaving out its alpha channel, which `into_rgb8` does too.
            let [picture, resized] =
                [picture, resized].map(|file| image::load_from_memory(file).unwrap().into_rgb8());
            assert!(bicubic(&picture, resized.dimensions()) == resized, "{:?}", picture.dimensions());
        }
    }
}
