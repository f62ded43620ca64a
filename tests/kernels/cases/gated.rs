//! What comes through a gate.

use foretoken_engine::mlx::Dtype;
use foretoken_engine::mlx::kernels::GATED;
use foretoken_tests::rng::Rng;

use super::{DTYPES, random};
use crate::case::{Case, Expected, Values};
use crate::numbers::{array, host, rounded, sigmoid};
use crate::program::Choice;

fn case(rng: &mut Rng, [tokens, width, between]: [usize; 3], silu: bool, dtype: Dtype) -> Case {
    // gate and x of a token side by side, with something between two tokens.
    let stride = 2 * width + between;
    let fused = random(rng, tokens * stride, 2.0, dtype);
    let part = |from: usize| -> Vec<f64> {
        (0..tokens).flat_map(|t| fused[t * stride + from..][..width].to_vec()).collect()
    };
    let (gates, x) = (part(0), part(width));
    let round = |x: f64| rounded(x, dtype);
    let values = gates.iter().zip(&x).map(|(&gate, &x)| {
        let opened = round(sigmoid(gate));
        round(if silu { round(gate * opened) } else { opened } * x)
    });
    let values = values.collect();
    let [gate, of] = [&gates, &x].map(|values| array(values, &[(tokens * width) as i32], dtype));
    let opened = if silu { gate.silu() } else { gate.sigmoid() }.unwrap();
    let operations = host(&opened.multiply(&of).unwrap());
    let view = |from: usize| Values::Floats(fused[from..].to_vec());
    Case {
        kernel: &GATED,
        name: format!("{tokens} tokens of {width}, silu: {silu}, {dtype:?}"),
        choice: Choice {
            dtype,
            integers: [width, usize::from(silu), stride, stride].map(|n| n as i32).into(),
        },
        counts: vec![("tokens", tokens as i32)],
        inputs: vec![view(0), view(width)],
        expected: vec![Expected::activations(values, dtype)],
        // The sigmoid of MLX on the processor rounds otherwise within.
        operations: vec![Expected { ulps: 3.0, ..Expected::activations(operations, dtype) }],
    }
}

/// So many tokens.
pub(crate) fn of_tokens(tokens: usize) -> Case {
    case(&mut Rng::new(1), [tokens, 64, 0], true, Dtype::Bfloat16)
}

/// All cases.
pub(crate) fn cases() -> Vec<Case> {
    let mut rng = Rng::new(8);
    let rng = &mut rng;
    let sizes = [([3, 64, 5], true), ([1, 300, 0], false), ([2, 512, 64], false)];
    DTYPES.into_iter().flat_map(|dtype| sizes.map(|(sizes, silu)| case(rng, sizes, silu, dtype))).collect()
}
