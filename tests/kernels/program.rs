//! Kernels as programs of this machine: their texts through GCC with the headers of `msl/`, one program for all choices
//! of a kernel's template arguments. A program runs one of them once and ends, so that what traps ends nothing but
//! itself.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use foretoken_engine::mlx::Dtype;
use foretoken_engine::mlx::kernels::{self, Kernel, Language, Scalar, Sizes};
use tempfile::TempDir;

/// What a function can have as parameters, if its body names it, and its type.
const ATTRIBUTES: [(&str, &str); 11] = [
    ("thread_position_in_grid", "uint3"),
    ("thread_position_in_threadgroup", "uint3"),
    ("threadgroup_position_in_grid", "uint3"),
    ("threads_per_threadgroup", "uint3"),
    ("threadgroups_per_grid", "uint3"),
    ("threads_per_grid", "uint3"),
    ("thread_index_in_threadgroup", "uint"),
    ("thread_index_in_simdgroup", "uint"),
    ("simdgroup_index_in_threadgroup", "uint"),
    ("simdgroups_per_threadgroup", "uint"),
    ("threads_per_simdgroup", "uint"),
];

/// The headers that stand for a language here.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shim {
    include: &'static str,
    /// What a function has as parameters.
    attributes: &'static [(&'static str, &'static str)],
    language: Language,
}

/// For what the texts are written in.
const METAL: Shim = Shim { include: "msl.h", attributes: &ATTRIBUTES, language: kernels::METAL };

/// For what they are on an NVIDIA GPU.
pub(crate) const CUDA: Shim = Shim { include: "cuda.h", attributes: &[], language: kernels::CUDA };

/// For all builds. Distributions that turn `_FORTIFY_SOURCE` on check each `longjmp`.
const FLAGS: [&str; 7] =
    ["-std=c++17", "-Wall", "-Werror", "-Wno-attributes", "-Wno-unused", "-U_FORTIFY_SOURCE", "-pipe"];

/// How a program is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Build {
    /// As the text says, operation by operation.
    Plain,
    /// Optimised, products and sums joined wherever the compiler likes; variables without a value hold a pattern.
    Contracted,
    /// Traps where local arrays end, where integers overflow or are shifted too far.
    Trapping,
}

impl Build {
    fn flags(self) -> &'static [&'static str] {
        match self {
            Self::Plain => &["-O1", "-ffp-contract=off"],
            #[cfg(target_arch = "x86_64")]
            Self::Contracted => &[
                "-O3",
                "-mfma",
                "-ffp-contract=fast",
                "-ftrivial-auto-var-init=pattern",
                "-Wno-maybe-uninitialized",
            ],
            #[cfg(not(target_arch = "x86_64"))]
            Self::Contracted => {
                &["-O3", "-ffp-contract=fast", "-ftrivial-auto-var-init=pattern", "-Wno-maybe-uninitialized"]
            }
            Self::Trapping => &[
                "-O1",
                "-ffp-contract=off",
                "-fsanitize=bounds,shift,signed-integer-overflow",
                "-fsanitize-undefined-trap-on-error",
            ],
        }
    }
}

/// The orders in which a dispatch runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Order {
    /// 0: threads and threadgroups in order; else in an order drawn from it.
    pub(crate) seed: u64,
    /// In which order `simd_sum` adds: 0 pairwise, 1 up, 2 down.
    pub(crate) sum: u32,
}

/// Template arguments of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    /// Of the activations.
    pub(crate) dtype: Dtype,
    /// The kernel's integers, in its order.
    pub(crate) integers: Vec<i32>,
}

/// What a run gave.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// What the shim reported, a line each.
    pub(crate) problems: Vec<String>,
    /// The bytes of each output.
    pub(crate) outputs: Vec<Vec<u8>>,
}

/// A kernel, compiled.
#[derive(Debug)]
pub(crate) struct Program {
    kernel: &'static Kernel,
    shim: Shim,
    choices: Vec<Choice>,
    file: PathBuf,
    _folder: TempDir,
}

impl Program {
    /// Compiles a kernel with another header and text than its own; fails with the compiler's words.
    pub(crate) fn of_text(
        kernel: &'static Kernel,
        texts: [&str; 2],
        choices: Vec<Choice>,
        build: Build,
    ) -> Result<Self, String> {
        Self::by(METAL, kernel, texts, choices, build)
    }

    /// The same by another shim.
    pub(crate) fn by(
        shim: Shim,
        kernel: &'static Kernel,
        texts: [&str; 2],
        choices: Vec<Choice>,
        build: Build,
    ) -> Result<Self, String> {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("kernel.cpp");
        std::fs::write(&source, source_of(shim, kernel, texts, &choices)).unwrap();
        let file = folder.path().join("kernel");
        let headers = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels/msl");
        let mut command = Command::new("g++");
        command.args(FLAGS).args(build.flags()).arg("-I").arg(headers).arg(source).arg("-o").arg(&file);
        let done = command.output().expect("there is GCC");
        match done.status.success() {
            true => Ok(Self { kernel, shim, choices, file, _folder: folder }),
            false => Err(String::from_utf8_lossy(&done.stderr).into_owned()),
        }
    }

    /// Compiles a kernel.
    pub(crate) fn new(kernel: &'static Kernel, choices: Vec<Choice>, build: Build) -> Self {
        Self::of_text(kernel, [kernel.header, kernel.text], choices, build)
            .unwrap_or_else(|words| panic!("{words}"))
    }

    /// Runs the kernel on the bytes of its inputs; fails if the program does not come to its end.
    pub(crate) fn run(
        &self,
        choice: &Choice,
        counts: &[(&'static str, i32)],
        inputs: &[Vec<u8>],
        order: Order,
    ) -> Result<Outcome, String> {
        let index = self.choices.iter().position(|other| other == choice).expect("the choice was compiled");
        let integers = self.kernel.integers.iter().copied().zip(choice.integers.iter().copied());
        let sizes: Vec<(&str, i32)> = integers.chain(counts.iter().copied()).collect();
        let sizes = Sizes(&sizes);
        let lengths: Vec<usize> = self
            .kernel
            .outputs
            .iter()
            .map(|output| {
                let size = (output.shape)(&sizes).iter().product::<i32>() as usize;
                size * size_of(output.scalar, choice.dtype)
            })
            .collect();

        let mut request: Vec<u8> = Vec::new();
        let mut word = |word: u32| request.extend(word.to_ne_bytes());
        word(index as u32);
        let grid = (self.kernel.grid)(&sizes);
        let group = (self.shim.language.group)(grid, (self.kernel.group)(&sizes));
        grid.into_iter().chain(group).for_each(|n| word(n as u32));
        word(order.sum);
        request.extend(order.seed.to_ne_bytes());
        assert_eq!(inputs.len(), self.kernel.inputs.len());
        for input in inputs {
            request.extend((input.len() as u64).to_ne_bytes());
            request.extend(input);
        }
        lengths.iter().for_each(|&length| request.extend((length as u64).to_ne_bytes()));

        let mut child =
            Command::new(&self.file).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        // A program that ends early says so by its status.
        let _ = child.stdin.take().expect("it is piped").write_all(&request);
        let done = child.wait_with_output().unwrap();
        if !done.status.success() {
            return Err(done.status.to_string());
        }
        let answer = &done.stdout[..];
        let (words, mut rest) = answer[8..].split_at(u32_at(answer, 4) as usize);
        let problems = String::from_utf8_lossy(words).lines().map(str::to_owned).collect();
        let mut outputs = Vec::with_capacity(lengths.len());
        for length in lengths {
            let (output, behind) = rest.split_at(length);
            outputs.push(output.to_vec());
            rest = behind;
        }
        assert!(rest.is_empty());
        Ok(Outcome { problems, outputs })
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes(bytes[at..at + 4].try_into().unwrap())
}

/// Bytes of an element.
pub(crate) fn size_of(scalar: Scalar, dtype: Dtype) -> usize {
    match (scalar, dtype) {
        (Scalar::Activation, Dtype::Bfloat16 | Dtype::Float16) => 2,
        _ => 4,
    }
}

/// The name of a type in the language.
pub(crate) fn type_name(scalar: Scalar, dtype: Dtype) -> &'static str {
    match (scalar, dtype) {
        (Scalar::Int, _) => "int",
        (Scalar::Uint, _) => "uint",
        (Scalar::Activation, Dtype::Bfloat16) => "bfloat16_t",
        (Scalar::Activation, Dtype::Float16) => "float16_t",
        (Scalar::Activation | Scalar::Float, _) => "float",
    }
}

/// A C++ program with the kernel once for each choice, its function written as MLX writes it.
fn source_of(shim: Shim, kernel: &Kernel, [header, text]: [&str; 2], choices: &[Choice]) -> String {
    let (include, language) = (shim.include, shim.language.header);
    let mut source = format!("#include \"{include}\"\n{language}\n#line 1 \"header\"\n{header}\n");
    let attributes: Vec<_> = shim.attributes.iter().filter(|(name, _)| text.contains(name)).collect();
    let integers: Vec<String> = kernel.integers.iter().map(|name| format!("int {name}")).collect();
    for (i, choice) in choices.iter().enumerate() {
        let of = |scalar| type_name(scalar, choice.dtype);
        let inputs = kernel.inputs.iter().map(|b| format!("msl::In<{}> {}", of(b.scalar), b.name));
        let outputs = kernel.outputs.iter().map(|b| format!("msl::Out<{}> {}", of(b.scalar), b.name));
        let places = attributes.iter().map(|(name, kind)| format!("{kind} {name}"));
        let parameters: Vec<String> = inputs.chain(outputs).chain(places).collect();
        let names = kernel.inputs.iter().map(|b| b.name).chain(kernel.outputs.iter().map(|b| b.name));
        let buffers = names.map(|name| format!("{{&buffer_{name}}}"));
        let places = attributes.iter().map(|(name, _)| format!("place.{name}"));
        let arguments: Vec<String> = buffers.chain(places).collect();
        let chosen: Vec<String> = choice.integers.iter().map(i32::to_string).collect();
        write!(
            source,
            "namespace choice_{i} {{\ntemplate <typename T, {}>\nvoid {name}({}) {{\n#line 1 \"{name}.metal\"\n{text}\n\
             }}\n#line 1 \"glue\"\nvoid run(const msl::Request& request) {{\n",
            integers.join(", "),
            parameters.join(", "),
            name = kernel.name,
        )
        .unwrap();
        for (buffer, verb) in kernel
            .inputs
            .iter()
            .map(|b| ((b.name, b.scalar), "input"))
            .chain(kernel.outputs.iter().map(|b| ((b.name, b.scalar), "output")))
        {
            let (name, scalar) = buffer;
            writeln!(source, "auto buffer_{name} = msl::{verb}<{}>(\"{name}\");", of(scalar)).unwrap();
        }
        let outputs: Vec<String> = kernel.outputs.iter().map(|b| format!("buffer_{}", b.name)).collect();
        write!(
            source,
            "auto call = [&](const msl::Place& place) {{ {}<{}, {}>({}); }};\nmsl::answer(request, call, {});\n}}\n}}\n",
            kernel.name,
            of(Scalar::Activation),
            chosen.join(", "),
            arguments.join(", "),
            outputs.join(", "),
        )
        .unwrap();
    }
    let runs: Vec<String> = (0..choices.len()).map(|i| format!("choice_{i}::run")).collect();
    writeln!(source, "MSL_PROGRAM({})", runs.join(", ")).unwrap();
    source
}
