//! What a token's experts gave, weighed and added up.

use foretoken_engine::mlx::Dtype;
use foretoken_engine::mlx::kernels::MOE_COMBINE;
use foretoken_tests::rng::Rng;

use super::{DTYPES, random};
use crate::case::{Case, Expected, Values};
use crate::numbers::{array, host, rounded, sigmoid, ulp};
use crate::program::Choice;

fn case(rng: &mut Rng, [tokens, width, chosen]: [usize; 3], dtype: Dtype) -> Case {
    let round = |x: f64| rounded(x, dtype);
    let experts = random(rng, tokens * chosen * width, 1.0, dtype);
    let scores: Vec<f64> = (0..tokens * chosen).map(|_| round(rng.unit())).collect();
    let shared = random(rng, tokens * width, 1.0, dtype);
    let gates = random(rng, tokens, 2.0, dtype);
    let mut values = Vec::new();
    for t in 0..tokens {
        for channel in 0..width {
            let weighed = (0..chosen)
                .map(|j| round(experts[(t * chosen + j) * width + channel] * scores[t * chosen + j]));
            let beside = round(round(sigmoid(gates[t])) * shared[t * width + channel]);
            values.push(round(round(weighed.sum()) + beside));
        }
    }
    let [t, h, k] = [tokens, width, chosen].map(|n| n as i32);
    // As the layer has it.
    let outputs = array(&experts, &[t, k, 1, h], dtype);
    let weighed = outputs.multiply(&array(&scores, &[t, k, 1, 1], dtype)).unwrap();
    let y = weighed.sum(1, true).unwrap().reshape(&[t, h]).unwrap();
    let gate = array(&gates, &[t, 1], dtype).sigmoid().unwrap();
    let all = y.add(&gate.multiply(&array(&shared, &[t, h], dtype)).unwrap()).unwrap();
    // What cancels out leaves last places of what was added.
    let exact = Expected { values, ulps: 1.0, of_largest: ulp(0.5, dtype).max(1e-6) };
    let of_largest = if dtype == Dtype::Float32 { 1e-6 } else { 2.0 * ulp(1.0, dtype) };
    Case {
        kernel: &MOE_COMBINE,
        name: format!("{tokens} tokens of {width}, {chosen} experts, {dtype:?}"),
        choice: Choice { dtype, integers: vec![h, k] },
        counts: vec![("tokens", t)],
        inputs: [experts, scores, shared, gates].map(Values::Floats).into(),
        expected: vec![exact],
        // The sum of the operations may be rounded at each addition.
        operations: vec![Expected { values: host(&all), ulps: 2.0, of_largest }],
    }
}

/// All cases.
pub(crate) fn cases() -> Vec<Case> {
    let mut rng = Rng::new(6);
    let sizes = [[3, 64, 8], [1, 300, 10], [2, 512, 3]];
    DTYPES.into_iter().flat_map(|dtype| sizes.map(|sizes| case(&mut rng, sizes, dtype))).collect()
}
