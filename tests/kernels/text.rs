//! The texts themselves.

use foretoken_engine::mlx::kernels::{KERNELS, TEXT_LIMIT};

#[test]
fn texts_are_short_and_plain() {
    for kernel in KERNELS {
        for text in [kernel.header, kernel.text] {
            assert!(text.len() <= TEXT_LIMIT, "{} has {} bytes", kernel.name, text.len());
            assert!(text.is_ascii(), "{}", kernel.name);
        }
        assert!(!kernel.text.contains("#"), "{}: a body has no directives", kernel.name);
        let lines = kernel.header.lines().chain(kernel.text.lines());
        lines.for_each(|line| assert!(line.len() <= 120, "{}: {line}", kernel.name));
    }
}

/// Only what the body names is passed to it by MLX, and only Metal knows how a pointer's memory is called.
#[test]
fn texts_name_what_they_are_given_and_spell_no_pointers() {
    for kernel in KERNELS {
        let names = kernel.inputs.iter().map(|input| input.name);
        let names = names
            .chain(kernel.outputs.iter().map(|output| output.name))
            .chain(kernel.integers.iter().copied());
        for name in names {
            let is_part = |c: char| c.is_alphanumeric() || c == '_';
            let mut words = kernel.text.split(|c: char| !is_part(c));
            assert!(words.any(|word| word == name), "{} does not use {name}", kernel.name);
        }
        for kind in
            ["float*", "float *", "int*", "int *", "uint*", "uint *", "T*", "T *", "device ", "fast::"]
        {
            assert!(!kernel.text.contains(kind), "{} spells {kind:?}", kernel.name);
        }
    }
}
