//! The texts as MLX hands them to Metal, through clang: types, and the memory that each pointer points to, which the
//! shim does not know apart.

use std::path::{Path, PathBuf};
use std::process::Command;

use foretoken_engine::mlx::Dtype;
use foretoken_engine::mlx::kernels::{KERNELS, Scalar, Sizes};
use foretoken_tests::oracle;
use serde_json::{Value, json};

use crate::case::{Case, case_of};
use crate::cases;
use crate::program::{size_of, type_name};

/// clang that looks at types and computes nothing. Only Metal allows attributes in the line that makes the function.
struct Clang(PathBuf);

impl Clang {
    /// The one that the set-up fetches for macOS.
    fn find() -> Option<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests lie in a checkout");
        let compiler = root.join("target/tools/bin/macos-c++");
        compiler.is_file().then_some(Self(compiler))
    }

    /// The errors in a text.
    fn errors(&self, text: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("kernel.cpp");
        let (before, instance) = text.split_once("template [[host_name").expect("MLX makes the function");
        let (_, instance) = instance.split_once("[[kernel]]").expect("it is a kernel");
        let header = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels/msl/front_end.h");
        let source = format!("#include \"{}\"\n{before}template{instance}", header.display());
        std::fs::write(&file, source).unwrap();
        let done = Command::new(&self.0)
            .args(["-std=c++17", "-c", "-Wall", "-Werror", "-Wconversion", "-Wno-sign-conversion"])
            .args(["-Wno-implicit-int-conversion", "-Wno-implicit-int-float-conversion", "-Wno-unused"])
            .args(["-Wno-unknown-attributes", "-Wno-ignored-attributes"])
            .arg(&file)
            .arg("-o")
            .arg(folder.path().join("kernel.o"))
            .output()
            .unwrap();
        let words = String::from_utf8_lossy(&done.stderr).into_owned();
        let errors: Vec<String> =
            words.lines().filter(|line| line.contains("error")).map(str::to_owned).collect();
        assert_eq!(done.status.success(), errors.is_empty(), "{words}");
        errors
    }
}

/// MLX's name of a type.
fn dtype_name(scalar: Scalar, dtype: Dtype) -> &'static str {
    match type_name(scalar, dtype) {
        "int" => "int32",
        "uint" => "uint32",
        "float" => "float32",
        "bfloat16_t" => "bfloat16",
        other => other.trim_end_matches("_t"),
    }
}

/// What `metal_text.py` is asked for.
fn question(case: &Case, text: &str) -> Value {
    let (kernel, dtype) = (case.kernel, case.choice.dtype);
    let integers: Vec<(&str, i32)> =
        kernel.integers.iter().copied().zip(case.choice.integers.iter().copied()).collect();
    let sizes: Vec<(&str, i32)> = integers.iter().chain(&case.counts).copied().collect();
    let inputs = kernel.inputs.iter().zip(case.bytes()).map(|(input, bytes)| {
        json!([input.name, dtype_name(input.scalar, dtype), [bytes.len() / size_of(input.scalar, dtype)]])
    });
    let outputs = kernel
        .outputs
        .iter()
        .map(|output| json!([output.name, dtype_name(output.scalar, dtype), (output.shape)(&Sizes(&sizes))]));
    json!({
        "name": kernel.name,
        "header": kernel.header,
        "text": text,
        "inputs": inputs.collect::<Vec<_>>(),
        "outputs": outputs.collect::<Vec<_>>(),
        "types": [["T", dtype_name(Scalar::Activation, dtype)]],
        "integers": integers,
    })
}

fn texts(questions: &[Value]) -> Vec<String> {
    serde_json::from_str(&oracle::ask("metal_text.py", &Value::from(questions).to_string())).unwrap()
}

#[test]
fn what_mlx_makes_of_the_texts_has_the_types_of_metal() {
    let Some(clang) = Clang::find() else {
        eprintln!(
            "SKIPPED: without clang, which the set-up fetches for macOS, types of memory were NOT looked at"
        );
        return;
    };
    let cases = cases::all();
    let types = [Dtype::Float32, Dtype::Bfloat16, Dtype::Float16];
    let cases: Vec<&Case> =
        KERNELS.iter().flat_map(|kernel| types.map(|dtype| case_of(&cases, kernel, dtype))).collect();
    let questions: Vec<Value> = cases.iter().map(|case| question(case, case.kernel.text)).collect();
    for (case, text) in cases.iter().zip(texts(&questions)) {
        let errors = clang.errors(&text);
        assert!(errors.is_empty(), "{}, {}: {errors:#?}", case.kernel.name, case.name);
    }

    // Mistakes that only this finds.
    let mistakes = [
        ("auto in = y", "const float* in = y", "a pointer without its memory"),
        ("auto in = y", "const constant float* in = y", "one into other memory"),
    ];
    let case = case_of(&cases::all(), KERNELS[2], Dtype::Float32).clone();
    assert!(mistakes.iter().all(|(from, _, _)| case.kernel.text.contains(from)));
    let questions = mistakes.map(|(from, to, _)| question(&case, &case.kernel.text.replace(from, to)));
    for ((_, _, mistake), text) in mistakes.iter().zip(texts(&questions)) {
        assert!(!clang.errors(&text).is_empty(), "{mistake}");
    }
}

/// A pipeline in the middle of a chat would make somebody wait: neither rows nor tokens change a text. With fewer than
/// eight value heads they would, where one token is few numbers.
#[test]
fn a_kernel_is_compiled_once_for_a_model() {
    let few_and_many = [
        [cases::gdn_step::of_steps(1, 1), cases::gdn_step::of_steps(1, 4), cases::gdn_step::of_steps(33, 2)],
        [
            cases::gdn_prepare::of_steps(1, 1),
            cases::gdn_prepare::of_steps(1, 4),
            cases::gdn_prepare::of_steps(33, 2),
        ],
        [1, 2, 40].map(cases::gated::of_tokens),
        [1, 2, 40].map(cases::gated_norm::of_tokens),
        [1, 2, 40].map(cases::attention_prepare::of_tokens),
    ];
    for cases in few_and_many {
        let texts = texts(&cases.each_ref().map(|case| question(case, case.kernel.text)));
        assert!(texts[1..].iter().all(|text| *text == texts[0]), "{}", cases[0].kernel.name);
    }
}
