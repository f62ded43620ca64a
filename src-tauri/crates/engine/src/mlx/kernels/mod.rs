//! The engine's own Metal kernels: their texts, and in one table what each reads, writes and is told. MLX makes a
//! kernel of a text by `mlx_fast_metal_kernel` and writes the head of its function itself, after the names and types
//! here. On an NVIDIA GPU the same texts run behind a header that says in CUDA what they say of a GPU.
//!
//! T packed tokens of B rows of a batch; act is the type of the activations. Counts that change from step to step are
//! data, so that a kernel is compiled once for a model. `plan`, int32 `[B, 8]`, says of each row: its first new token
//! and the one behind its last; of the tape of the step before, the row's first token and the one behind the last that
//! was kept; the row's slot in the states that are read; 1 where all of its new tokens are kept at once, as in prefill,
//! else 0. Sums are in f32, roundings those of the operations that a
//! kernel stands for.
//!
//! A text is the body of a function. It has no pointer types of its own (`auto p = input + offset`), computes in float
//! and writes each element of its outputs once; [`TEXT_LIMIT`] keeps it short, since MLX hashes it at every dispatch.

mod attention;
mod family;
mod gdn;
mod launch;
mod token_wise;

pub use attention::{AttentionKernel, AttentionSizes};
pub use family::{CUDA, Language, METAL};
pub use gdn::{GdnKernels, GdnPlan, GdnRow, GdnSizes, GdnTape};
pub(super) use launch::one_kernel;
pub use launch::{Call, Launch, for_metal, of_device};
pub use token_wise::{AddNorm, Gated, Largest, Mixture, Opened};

/// The least elements of an array that MLX hands to a kernel as memory of the device. Below it generates another text,
/// which would be compiled in the middle of a chat.
pub const LEAST_ELEMENTS: usize = 8;

/// The most bytes of one text.
pub const TEXT_LIMIT: usize = 4096;

/// Logits that a threadgroup of `top_k_blocks` reads.
const TOP_K_BLOCK: i32 = 4096;

/// Type of the elements of a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scalar {
    /// The type of the activations, which the text knows as `T`.
    Activation,
    /// f32.
    Float,
    /// int32.
    Int,
    /// uint32.
    Uint,
}

/// Something a kernel reads.
#[derive(Debug, Clone, Copy)]
pub struct Input {
    /// As the text names it.
    pub name: &'static str,
    /// Of its elements.
    pub scalar: Scalar,
    /// The integer that says how far apart its rows are, where it may be a view; others are row-major.
    pub stride: Option<&'static str>,
}

/// Something a kernel writes.
#[derive(Debug, Clone, Copy)]
pub struct Output {
    /// As the text names it.
    pub name: &'static str,
    /// Of its elements.
    pub scalar: Scalar,
    /// Its shape.
    pub shape: fn(&Sizes<'_>) -> Vec<i32>,
}

/// A kernel.
#[derive(Debug, Clone, Copy)]
pub struct Kernel {
    /// Its name, also of its file.
    pub name: &'static str,
    /// What stands before the function.
    pub header: &'static str,
    /// The body of the function.
    pub text: &'static str,
    /// In the order of the function's parameters.
    pub inputs: &'static [Input],
    /// Behind the inputs.
    pub outputs: &'static [Output],
    /// The integers among its template arguments, behind `T`: sizes that are the same for all steps of a model.
    pub integers: &'static [&'static str],
    /// Threads in all, x fastest.
    pub grid: fn(&Sizes<'_>) -> [i32; 3],
    /// Threads of a threadgroup.
    pub group: fn(&Sizes<'_>) -> [i32; 3],
}

/// Sizes by name: a kernel's integers, and the counts of one step: `tokens` and `rows`.
#[derive(Debug, Clone, Copy)]
pub struct Sizes<'a>(pub &'a [(&'static str, i32)]);

impl Sizes<'_> {
    /// One of them.
    ///
    /// # Panics
    /// If it is not there, which is a mistake in the table or at its use.
    pub fn of(&self, name: &str) -> i32 {
        let found = self.0.iter().find(|(other, _)| *other == name);
        found.unwrap_or_else(|| panic!("the size {name} is missing in {:?}", self.0)).1
    }
}

const PRELUDE: &str = include_str!("prelude.metal");
const WITH_PICK: &str = concat!(include_str!("prelude.metal"), include_str!("top_k_pick.metal"));

/// An input whose elements have the type of the activations.
const fn act(name: &'static str) -> Input {
    Input { name, scalar: Scalar::Activation, stride: None }
}

/// Columns of a projection, which are read where they lie.
const fn view(name: &'static str, stride: &'static str) -> Input {
    Input { stride: Some(stride), ..act(name) }
}

const fn float(name: &'static str) -> Input {
    Input { name, scalar: Scalar::Float, stride: None }
}

const fn int(name: &'static str) -> Input {
    Input { name, scalar: Scalar::Int, stride: None }
}

const fn uint(name: &'static str) -> Input {
    Input { name, scalar: Scalar::Uint, stride: None }
}

const fn out(input: Input, shape: fn(&Sizes<'_>) -> Vec<i32>) -> Output {
    Output { name: input.name, scalar: input.scalar, shape }
}

/// One packed step of Gated DeltaNet: what each row kept of the step before is folded into its state, then its new
/// tokens run.
///
/// q, k `[T, Hk, Dk]`, unit and scaled; v `[T, Hv, Dv]`; decay, beta `[T, Hv]`; states `[slots, Hv, Dv, Dk]`; the step
/// before's own k, decay, and delta `[P, Hv, Dv]`. The new states `[B, 1, Hv, Dv, Dk]` are from before the new tokens,
/// of which delta is the tape, or from behind them where they are kept at once: S ← decay · S; δ = beta · (v − S k); S
/// ← S + δ kᵀ; y = S q. `ROWS` value rows, which divide Dv, are one simdgroup's; Dk is a multiple of 32.
pub const GDN_STEP: Kernel = Kernel {
    name: "gdn_step",
    header: PRELUDE,
    text: include_str!("gdn_step.metal"),
    inputs: &[
        act("q"),
        act("k"),
        act("v"),
        float("decay"),
        act("beta"),
        int("plan"),
        float("state"),
        act("old_k"),
        float("old_decay"),
        float("old_delta"),
    ],
    outputs: &[
        out(act("y"), |s| vec![s.of("tokens"), s.of("Hv"), s.of("Dv")]),
        out(float("delta"), |s| vec![s.of("tokens"), s.of("Hv"), s.of("Dv")]),
        out(float("new_state"), |s| vec![s.of("rows"), 1, s.of("Hv"), s.of("Dv"), s.of("Dk")]),
    ],
    integers: &["Hk", "Hv", "Dk", "Dv", "ROWS"],
    grid: |s| [32, s.of("Dv") / s.of("ROWS"), s.of("rows") * s.of("Hv")],
    group: |_| [32, 4, 1],
};

/// What [`GDN_STEP`] reads, from the projections of the tokens, which are views with these strides between tokens.
///
/// x_in `[T, C]`, b_in, a_in `[T, Hv]`; row_of int32 `[T + B]`, padded to 8: the row of each token, and then −1 − b for
/// each row b whose tail is copied; tail `[slots, K − 1, C]` and the step before's x_in are the committed inputs of the
/// convolution; weight `[C, K]`; dt_bias `[Hv]`; rate f32 `[Hv]`, −e^A_log. Dk and Dv are multiples of 32, `MOST` the
/// larger of them / 32.
pub const GDN_PREPARE: Kernel = Kernel {
    name: "gdn_prepare",
    header: PRELUDE,
    text: include_str!("gdn_prepare.metal"),
    inputs: &[
        view("x_in", "X_STRIDE"),
        view("b_in", "B_STRIDE"),
        view("a_in", "A_STRIDE"),
        int("plan"),
        int("row_of"),
        act("tail"),
        view("old_x", "X_STRIDE"),
        act("weight"),
        act("dt_bias"),
        float("rate"),
    ],
    outputs: &[
        out(act("q"), |s| vec![s.of("tokens"), s.of("Hk"), s.of("Dk")]),
        out(act("k"), |s| vec![s.of("tokens"), s.of("Hk"), s.of("Dk")]),
        out(act("v"), |s| vec![s.of("tokens"), s.of("Hv"), s.of("Dv")]),
        out(float("decay"), |s| vec![s.of("tokens"), s.of("Hv")]),
        out(act("beta"), |s| vec![s.of("tokens"), s.of("Hv")]),
        out(act("new_tail"), |s| {
            let channels = 2 * s.of("Hk") * s.of("Dk") + s.of("Hv") * s.of("Dv");
            vec![s.of("rows"), s.of("K") - 1, channels]
        }),
    ],
    integers: &["Hk", "Hv", "Dk", "Dv", "K", "MOST", "X_STRIDE", "B_STRIDE", "A_STRIDE"],
    grid: |s| [32, 2 * s.of("Hk") + s.of("Hv") + 1, s.of("tokens") + s.of("rows")],
    group: |_| [32, 4, 1],
};

/// The output norm of Gated DeltaNet and its gate, RMSNorm(y) ⊙ silu(z): y `[T, Hv, Dv]`, z a view `[T, Hv · Dv]`,
/// weight `[Dv]`, eps f32 `[1]` → `[T, Hv · Dv]`.
pub const GATED_NORM: Kernel = Kernel {
    name: "gated_norm",
    header: PRELUDE,
    text: include_str!("gated_norm.metal"),
    inputs: &[act("y"), view("z", "Z_STRIDE"), act("weight"), float("eps")],
    outputs: &[out(act("out"), |s| vec![s.of("tokens"), s.of("Hv") * s.of("Dv")])],
    integers: &["Hv", "Dv", "Z_STRIDE"],
    grid: |s| [32, s.of("Hv"), s.of("tokens")],
    group: |_| [32, 8, 1],
};

/// The experts of each token and their weights: logits `[T, E]` → ids uint32 `[T, K]`, ascending by weight, and scores
/// `[T, K]`, which add up to 1 where `NORMALIZE` is 1. K is 32 at most.
pub const ROUTER: Kernel = Kernel {
    name: "router",
    header: PRELUDE,
    text: include_str!("router.metal"),
    inputs: &[act("logits")],
    outputs: &[
        out(uint("ids"), |s| vec![s.of("tokens"), s.of("K")]),
        out(act("scores"), |s| vec![s.of("tokens"), s.of("K")]),
    ],
    integers: &["E", "K", "NORMALIZE"],
    grid: |s| [32, s.of("tokens"), 1],
    group: |_| [32, 1, 1],
};

/// First half of the K ≤ 64 largest of each row of logits `[T, V]`: those of each block, and what the row's logsumexp
/// is made of.
pub const TOP_K_BLOCKS: Kernel = Kernel {
    name: "top_k_blocks",
    header: WITH_PICK,
    text: include_str!("top_k_blocks.metal"),
    inputs: &[act("logits")],
    outputs: &[
        out(float("block_values"), |s| vec![s.of("tokens"), blocks(s), s.of("K")]),
        out(uint("block_ids"), |s| vec![s.of("tokens"), blocks(s), s.of("K")]),
        out(float("block_sums"), |s| vec![s.of("tokens"), blocks(s), 2]),
    ],
    integers: &["V", "K"],
    grid: |s| [256, blocks(s), s.of("tokens")],
    group: |_| [256, 1, 1],
};

/// Second half: the K largest of each row, descending, the lower id first among equals, f32 and uint32 `[T, K]`, and
/// the logsumexp of all, f32 `[T]`.
pub const TOP_K_MERGE: Kernel = Kernel {
    name: "top_k_merge",
    header: WITH_PICK,
    text: include_str!("top_k_merge.metal"),
    inputs: &[float("block_values"), uint("block_ids"), float("block_sums")],
    outputs: &[
        out(float("values"), |s| vec![s.of("tokens"), s.of("K")]),
        out(uint("ids"), |s| vec![s.of("tokens"), s.of("K")]),
        out(float("lse"), |s| vec![s.of("tokens")]),
    ],
    integers: &["V", "K"],
    grid: |s| [256, s.of("tokens"), 1],
    group: |_| [256, 1, 1],
};

fn blocks(sizes: &Sizes<'_>) -> i32 {
    (sizes.of("V") + TOP_K_BLOCK - 1) / TOP_K_BLOCK
}

/// What the experts of each token gave, weighed, and the shared expert behind its gate: experts `[T, K, H]`, scores
/// `[T, K]`, shared_expert `[T, H]`, shared_gate `[T, 1]` before its sigmoid → `[T, H]`. H is a multiple of 4.
pub const MOE_COMBINE: Kernel = Kernel {
    name: "moe_combine",
    header: PRELUDE,
    text: include_str!("moe_combine.metal"),
    inputs: &[act("experts"), act("scores"), act("shared_expert"), act("shared_gate")],
    outputs: &[out(act("out"), |s| vec![s.of("tokens"), s.of("H")])],
    integers: &["H", "K"],
    grid: |s| [s.of("H") / 4, s.of("tokens"), 1],
    group: |_| [64, 1, 1],
};

/// Queries, keys and values on their way to attention, from views of the projections with these strides between
/// tokens: q_in `[T, Hq · D]`, k_in, v_in `[T, Hkv · D]`; norm weights `[D]`; inverse_periods f32 `[ROPE / 2]`, radians
/// a token; positions int32 `[T]`, padded to 8; eps f32 `[1]` → q `[T, Hq, 1, D]` and kv `[2, Hkv, T, D]`.
///
/// D is a multiple of 32, ROPE / 2 too or a power of two below.
pub const ATTENTION_PREPARE: Kernel = Kernel {
    name: "attention_prepare",
    header: PRELUDE,
    text: include_str!("attention_prepare.metal"),
    inputs: &[
        view("q_in", "Q_STRIDE"),
        view("k_in", "K_STRIDE"),
        view("v_in", "V_STRIDE"),
        act("q_norm"),
        act("k_norm"),
        float("inverse_periods"),
        int("positions"),
        float("eps"),
    ],
    outputs: &[
        out(act("q"), |s| vec![s.of("tokens"), s.of("Hq"), 1, s.of("D")]),
        out(act("kv"), |s| vec![2, s.of("Hkv"), s.of("tokens"), s.of("D")]),
    ],
    integers: &["Hq", "Hkv", "D", "ROPE", "Q_STRIDE", "K_STRIDE", "V_STRIDE"],
    grid: |s| [32, s.of("Hq") + 2 * s.of("Hkv"), s.of("tokens")],
    group: |_| [32, 4, 1],
};

/// The residual and the norm behind it: x, y `[T, H]`, weight `[H]`, eps f32 `[1]` → h = x + y and n = RMSNorm(h) ⊙
/// weight; h = x where `ALONE` is 1. `THREADS` is a multiple of 32, at most 1024; MLX's own norm has H / 4.
pub const ADD_NORM: Kernel = Kernel {
    name: "add_norm",
    header: PRELUDE,
    text: include_str!("add_norm.metal"),
    inputs: &[act("x"), act("y"), act("weight"), float("eps")],
    outputs: &[
        out(act("h"), |s| vec![s.of("tokens"), s.of("H")]),
        out(act("n"), |s| vec![s.of("tokens"), s.of("H")]),
    ],
    integers: &["H", "THREADS", "ALONE"],
    grid: |s| [s.of("THREADS"), s.of("tokens"), 1],
    group: |s| [s.of("THREADS"), 1, 1],
};

/// x `[T, N]` through a gate `[T, N]`, both views: silu(gate) ⊙ x where `SILU` is 1, else sigmoid(gate) ⊙ x → `[T, N]`.
pub const GATED: Kernel = Kernel {
    name: "gated",
    header: PRELUDE,
    text: include_str!("gated.metal"),
    inputs: &[view("gate", "GATE_STRIDE"), view("x", "X_STRIDE")],
    outputs: &[out(act("out"), |s| vec![s.of("tokens"), s.of("N")])],
    integers: &["N", "SILU", "GATE_STRIDE", "X_STRIDE"],
    grid: |s| [s.of("N"), s.of("tokens"), 1],
    group: |_| [256, 1, 1],
};

/// All of them.
pub const KERNELS: [&Kernel; 10] = [
    &GDN_STEP,
    &GDN_PREPARE,
    &GATED_NORM,
    &ADD_NORM,
    &ATTENTION_PREPARE,
    &GATED,
    &MOE_COMBINE,
    &ROUTER,
    &TOP_K_BLOCKS,
    &TOP_K_MERGE,
];
