//! Every single operator, comparison and number of the kernels' texts changed, one at a time: some case must find it
//! out, unless the change is known to change nothing.

use std::fmt::Write as _;

use foretoken_engine::mlx::Dtype;

use crate::case::Case;
use crate::cases;
use crate::program::{Build, Choice, Order, Program};

/// What is put in the place of what.
const OPERATORS: [(&str, &str); 9] = [
    (" + ", " - "),
    (" - ", " + "),
    (" * ", " + "),
    (" / ", " * "),
    (" % ", " / "),
    (" < ", " <= "),
    (" >= ", " > "),
    (" == ", " != "),
    (" > ", " >= "),
];

/// A text with one change, and the changed line.
struct Change {
    text: String,
    line: String,
}

/// All changes of a text, comments aside.
fn changes(text: &str) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let code = line.find("//").unwrap_or(line.len());
        let mut places: Vec<(usize, usize, String)> = Vec::new();
        for (from, to) in OPERATORS {
            places.extend(line[..code].match_indices(from).map(|(at, _)| (at, from.len(), to.to_owned())));
        }
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        let mut at = 0;
        for word in line[..code].split_inclusive(|c: char| !is_part(c)) {
            let number = word.trim_end_matches(|c: char| !is_part(c));
            if let Ok(value) = number.parse::<u32>() {
                places.push((at, number.len(), (value + 1).to_string()));
            }
            at += word.len();
        }
        for (at, length, to) in places {
            let changed = format!("{}{to}{}", &line[..at], &line[at + length..]);
            let text = [&text[..start], &changed, &text[start + line.len()..]].concat();
            changes.push(Change { text, line: changed.trim().to_owned() });
        }
        start += line.len();
    }
    changes
}

/// Fails with the changes that no case finds out, besides those that change nothing: `same` holds their lines.
fn are_found(cases: &[Case], same: &[&str]) {
    let kernel = cases[0].kernel;
    let cases: Vec<&Case> = cases.iter().filter(|case| case.choice.dtype != Dtype::Float16).collect();
    let mut choices: Vec<Choice> = Vec::new();
    for case in &cases {
        if !choices.contains(&case.choice) {
            choices.push(case.choice.clone());
        }
    }
    let (mut left, mut known) = (String::new(), Vec::new());
    for Change { text, line } in changes(kernel.text) {
        let program = Program::of_text(kernel, [kernel.header, &text], choices.clone(), Build::Trapping);
        let survives = program.is_ok_and(|program| {
            cases.iter().all(|case| case.judge(&program, Order { seed: 4, sum: 0 }).is_ok())
        });
        match (survives, same.contains(&line.as_str())) {
            (true, true) => known.push(line),
            (true, false) => writeln!(left, "  {line}").unwrap(),
            (false, _) => {}
        }
    }
    assert!(left.is_empty(), "{}: nothing finds\n{left}", kernel.name);
    for line in same {
        assert!(known.iter().any(|known| known == line), "{}: found after all: {line}", kernel.name);
    }
}

#[test]
#[ignore = "compiles hundreds of programs, in minutes"]
fn changes_of_gdn_step_are_found() {
    are_found(&cases::gdn_step::cases(), &[]);
}

#[test]
#[ignore = "compiles hundreds of programs, in minutes"]
fn changes_of_gdn_prepare_are_found() {
    are_found(&cases::gdn_prepare::cases(), &[]);
}

#[test]
#[ignore = "compiles hundreds of programs, in minutes"]
fn changes_of_norms_and_rotations_are_found() {
    are_found(&cases::gated_norm::cases(), &[]);
    are_found(&cases::add_norm::cases(), &[]);
    are_found(&cases::attention_prepare::cases(), &[]);
}

#[test]
#[ignore = "compiles hundreds of programs, in minutes"]
fn changes_of_experts_and_top_k_are_found() {
    are_found(&cases::moe_combine::cases(), &[]);
    are_found(&cases::router::cases(), &[]);
    let [blocks, merges] = cases::top_k::cases();
    are_found(&blocks, &[]);
    are_found(&merges, &[]);
}
