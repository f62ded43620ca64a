//! Kernels that were broken on purpose: each must be found out, by what is named here.

use foretoken_engine::mlx::Dtype;
use foretoken_engine::mlx::kernels::{
    ADD_NORM, ATTENTION_PREPARE, GATED, GATED_NORM, GDN_PREPARE, GDN_STEP, Kernel, MOE_COMBINE, ROUTER,
    TOP_K_BLOCKS, TOP_K_MERGE,
};

use crate::case::Case;
use crate::cases;
use crate::program::{Build, Order, Program};

/// What finds a mistake.
#[derive(Debug, Clone, Copy)]
enum By {
    /// It does not compile.
    Compiler,
    /// The shim reports it in words with these among them.
    Report(&'static str),
    /// An output has other numbers.
    Numbers,
    /// A trap ends the program, in the build that has traps.
    Trap,
}

use By::{Compiler, Numbers, Report, Trap};

/// What is replaced in header and text by what, the mistake that this is, the case that shows it, and what finds it.
type Mutant = (&'static str, &'static str, &'static str, usize, By);

/// Fails if a mistake is not found out, or otherwise than it is said here.
fn are_found(kernel: &'static Kernel, cases: &[Case], mutants: &[Mutant]) {
    for &(from, to, mistake, index, by) in mutants {
        let case = &cases[index];
        assert_eq!(case.kernel.name, kernel.name);
        let whole = [kernel.header, kernel.text];
        assert!(whole.iter().any(|text| text.contains(from)), "{mistake}: {from:?} is nowhere");
        let [header, text] = whole.map(|text| text.replace(from, to));
        let build = if matches!(by, Trap) { Build::Trapping } else { Build::Plain };
        let program = Program::of_text(kernel, [&header, &text], vec![case.choice.clone()], build);
        let found = match program {
            Err(words) => {
                assert!(matches!(by, Compiler), "{mistake}: it does not compile: {words}");
                continue;
            }
            Ok(program) => case.judge(&program, Order { seed: 4, sum: 0 }),
        };
        let problem = found.expect_err(mistake);
        let as_said = match by {
            Compiler => false,
            Report(words) => problem.contains(words),
            Numbers => problem.contains("instead of"),
            Trap => problem.contains("signal"),
        };
        assert!(as_said, "{mistake}: {problem}");
    }
}

#[test]
fn of_gdn_step_are_found() {
    let cases = cases::gdn_step::cases();
    let half = cases.iter().position(|case| case.choice.dtype == Dtype::Bfloat16).unwrap();
    const PROMPT: usize = 5;
    are_found(
        &GDN_STEP,
        &cases,
        &[
            ("t < row[3]", "t <= row[3]", "one token more is folded", 0, Report("but there are only")),
            ("t < row[3]", "t < row[3] - 1", "one token less is folded", 0, Numbers),
            ("hv / (Hv / Hk)", "hv % Hk", "another key head", 0, Numbers),
            ("row[4]", "b", "another slot", 0, Numbers),
            ("if (lane == 0) {", "{", "all lanes write", 0, Report("write it")),
            (
                "held = tree_sum(held);",
                "if (lane < 31) held = tree_sum(held);",
                "a sum in divergent flow",
                0,
                Report("while others wait"),
            ),
            (
                "first + r;",
                "first + r + 1;",
                "outputs out of bounds at the end",
                0,
                Report("but there are only"),
            ),
            ("float held = 0.0f;", "float held;", "a sum without a beginning", 0, Compiler),
            (
                "y[to] = static_cast<T>(out);",
                "",
                "an output that is never written",
                0,
                Report("never written"),
            ),
            ("static_cast<float>(v[to])", "v[to]", "a bfloat computed with", half, Compiler),
            ("row[5] != 0", "false", "a prompt's end is not stored", PROMPT, Numbers),
            ("row[5] != 0", "true", "drafts are kept", 0, Numbers),
        ],
    );
}

#[test]
fn of_gdn_prepare_are_found() {
    are_found(
        &GDN_PREPARE,
        &cases::gdn_prepare::cases(),
        &[
            (
                "kept + place - first + tap",
                "place - first + tap",
                "the window forgets what was kept",
                0,
                Numbers,
            ),
            (
                "token >= first ?",
                "token > first ?",
                "the first new token is not read",
                0,
                Report("but there are only"),
            ),
            ("row[3] - row[2]", "row[3] - row[2] - 1", "the tail keeps one token less", 0, Numbers),
            ("h += 32", "h += 64", "gates that are never written", 3, Report("never written")),
            ("unit < Hk ? inv * inv : inv", "inv", "queries scaled as keys", 0, Numbers),
            ("+ static_cast<float>(dt_bias[h])", "", "no bias", 0, Numbers),
            ("i < each", "i <= each", "a local array's end", 0, Trap),
            ("row[5] != 0", "false", "a prompt's tail is not stored", 4, Numbers),
            ("behind < kept ", "behind <= kept ", "a kept token too many", 4, Numbers),
            ("row[0] + behind - kept", "behind - kept", "another row's tokens", 4, Numbers),
        ],
    );
}

#[test]
fn of_gated_norm_are_found() {
    are_found(
        &GATED_NORM,
        &cases::gated_norm::cases(),
        &[
            ("simd_sum(squares)", "squares", "a lane's squares for all", 0, Numbers),
            ("t * Z_STRIDE", "t * Hv * Dv", "the view's stride", 0, Numbers),
            ("x * sigmoid(x)", "sigmoid(x)", "a sigmoid for SiLU", 0, Numbers),
            (
                "(t * Hv + head) * Dv + lane * EACH + i]",
                "(t * Hv + head) * Dv + i]",
                "one place",
                0,
                Report("write it"),
            ),
        ],
    );
}

#[test]
fn of_gated_are_found() {
    are_found(
        &GATED,
        &cases::gated::cases(),
        &[
            ("gate[t * GATE_STRIDE + i]", "gate[t * N + i]", "the view's stride", 0, Numbers),
            ("x[t * X_STRIDE + i]", "x[t * N + i]", "the other view's stride", 0, Numbers),
            ("SILU ? ", "true ? ", "SiLU for a sigmoid", 1, Numbers),
            ("SILU ? ", "false ? ", "a sigmoid for SiLU", 0, Numbers),
            ("out[t * N + i]", "out[i]", "one token over the other", 0, Report("write it")),
        ],
    );
}

#[test]
fn of_add_norm_are_found() {
    const BARRIER: &str = "threadgroup_barrier(mem_flags::mem_threadgroup);";
    are_found(
        &ADD_NORM,
        &cases::add_norm::cases(),
        &[
            (BARRIER, "", "no barrier", 0, Report("sums[")),
            (
                BARRIER,
                "threadgroup_barrier(mem_flags::mem_device);",
                "a barrier for other memory",
                0,
                Report("no fence between"),
            ),
            (
                BARRIER,
                "simdgroup_barrier(mem_flags::mem_threadgroup);",
                "a barrier of each simdgroup",
                0,
                Report("sums["),
            ),
            (
                "float values[TIMES][4];",
                "float values[TIMES][4]; if (lane < 4) threadgroup_barrier(mem_flags::mem_threadgroup);",
                "a barrier in divergent flow",
                0,
                Report("waits for ever"),
            ),
            (
                "lane < THREADS / 32 ? float(sums[lane]) : 0.0f",
                "float(sums[lane])",
                "the end of shared memory",
                0,
                Report("but there are only"),
            ),
            ("if (at < H) {", "{", "channels behind the last", 3, Report("h[")),
            ("total / H", "total", "a sum for a mean", 0, Numbers),
            ("!ALONE && ", "", "what is not to be added", 4, Numbers),
            ("!ALONE && ", "false && ", "nothing added", 0, Numbers),
        ],
    );
}

#[test]
fn of_attention_prepare_are_found() {
    are_found(
        &ATTENTION_PREPARE,
        &cases::attention_prepare::cases(),
        &[
            ("values[0] * c - other * s", "values[0] * c + other * s", "turned the other way", 0, Numbers),
            (
                "inverse_periods[lane % HALF]",
                "inverse_periods[lane]",
                "behind the last",
                0,
                Report("but there are only"),
            ),
            ("positions[t]", "positions[0]", "all at one position", 0, Numbers),
            ("(Hkv + head) * tokens", "head * tokens", "values over keys", 0, Report("write it")),
            ("(t * Hq + head)", "(head * tokens + t)", "queries head by head", 0, Numbers),
            ("is_key ? k_norm", "false ? k_norm", "the other norm", 0, Numbers),
            ("one * s + other * c", "other * c", "half a turn", 3, Numbers),
        ],
    );
}

#[test]
fn of_moe_combine_are_found() {
    are_found(
        &MOE_COMBINE,
        &cases::moe_combine::cases(),
        &[
            ("scores[t * K + j]", "scores[t + j]", "another token's weights", 0, Numbers),
            ("j < K", "j < K - 1", "an expert left out", 0, Numbers),
            ("j < K", "j <= K", "an expert too many", 0, Report("but there are only")),
            ("shared_gate[t]", "shared_gate[0]", "another token's gate", 0, Numbers),
        ],
    );
}

#[test]
fn of_router_are_found() {
    are_found(
        &ROUTER,
        &cases::router::cases(),
        &[
            (
                "if (p[i] == top) chosen",
                "if (chosen < 0 && p[i] == top) chosen",
                "the lower of equals",
                0,
                Numbers,
            ),
            (
                "int place = K - 1; place >= 0; --place",
                "int place = 0; place < K; ++place",
                "descending",
                0,
                Numbers,
            ),
            ("NORMALIZE ? score / total : score", "score", "not made to add up", 0, Numbers),
            ("if (i * 32 + lane == chosen)", "if (i * 32 == chosen)", "an expert twice", 0, Numbers),
            ("if (lane < K) {", "{", "lanes without a place write", 0, Report("ids[")),
            (": -2.0f;", ": 0.0f;", "experts that there are not", 8, Numbers),
        ],
    );
}

#[test]
fn of_top_k_are_found() {
    let [blocks, merges] = cases::top_k::cases();
    const SECOND: &str = "threadgroup_barrier(mem_flags::mem_threadgroup);\n  return {";
    are_found(
        &TOP_K_BLOCKS,
        &blocks,
        &[
            ("first = min(first, ids[i])", "first = ids[i]", "the last of equals", 1, Numbers),
            (SECOND, "return {", "written while others read", 0, Report("still reads")),
            ("id < uint(V) ? id : NO_ID", "id", "ids that there are not", 2, Numbers),
            (
                "id < uint(V) ? static_cast",
                "id <= uint(V) ? static_cast",
                "a logit too many",
                0,
                Report("is read, but"),
            ),
            ("if (ids[i] == winner) ids[i] = NO_ID;", "", "the same again and again", 0, Numbers),
        ],
    );
    are_found(
        &TOP_K_MERGE,
        &merges,
        &[
            ("* exp(theirs - most)", "", "sums of different scale", 0, Numbers),
            ("most + log(sum)", "most + std::log(sum)", "the host's library", 0, Compiler),
            ("most + log(sum)", "most + log1p(sum - 1.0f)", "a function that Metal lacks", 0, Compiler),
            ("float most = ", "double most = ", "a type that Metal lacks", 0, Compiler),
        ],
    );
}
