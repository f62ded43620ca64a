//! A kernel's case: inputs, and what must come out.

use foretoken_engine::mlx::Dtype;
use foretoken_engine::mlx::kernels::{Kernel, Scalar};

use crate::numbers;
use crate::program::{Build, Choice, Order, Outcome, Program, size_of};

/// Elements of a buffer.
#[derive(Debug, Clone)]
pub(crate) enum Values {
    /// Numbers that the buffer's type has.
    Floats(Vec<f64>),
    Ints(Vec<i32>),
    Uints(Vec<u32>),
}

/// What an output must be: off by no more than so many units of its type's last place, and so much of the largest.
#[derive(Debug, Clone)]
pub(crate) struct Expected {
    pub(crate) values: Vec<f64>,
    pub(crate) ulps: f64,
    pub(crate) of_largest: f64,
}

/// One case.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) kernel: &'static Kernel,
    pub(crate) name: String,
    pub(crate) choice: Choice,
    /// `tokens` and `rows`.
    pub(crate) counts: Vec<(&'static str, i32)>,
    pub(crate) inputs: Vec<Values>,
    /// For each output, by definition in f64.
    pub(crate) expected: Vec<Expected>,
    /// For each output, by the engine's operations; none where a test of the layer compares them.
    pub(crate) operations: Vec<Expected>,
}

impl Expected {
    /// f32 numbers.
    pub(crate) fn floats(values: Vec<f64>) -> Self {
        Self { values, ulps: 0.0, of_largest: 1e-6 }
    }

    /// Numbers of the activations' type that are rounded once, or more often with no cancellation behind it.
    pub(crate) fn activations(values: Vec<f64>, dtype: Dtype) -> Self {
        let of_largest = if dtype == Dtype::Float32 { 1e-6 } else { 0.0 };
        Self { values, ulps: 2.0, of_largest }
    }

    /// These and no others.
    pub(crate) fn exactly(values: Vec<f64>) -> Self {
        Self { values, ulps: 0.0, of_largest: 0.0 }
    }

    /// Why the numbers of this type are not those, if they are not.
    fn refuse(&self, got: &[f64], dtype: Dtype, slack: f64) -> Option<String> {
        if got.len() != self.values.len() {
            return Some(format!("{} values instead of {}", got.len(), self.values.len()));
        }
        let finite = self.values.iter().filter(|x| x.is_finite());
        let largest = finite.fold(0.0f64, |most, x| most.max(x.abs()));
        got.iter().zip(&self.values).enumerate().find_map(|(i, (&got, &want))| {
            let limit = slack * (self.ulps * numbers::ulp(want, dtype) + self.of_largest * largest);
            let fits = got == want || (got - want).abs() <= limit;
            (!fits).then(|| format!("[{i}] is {got:e} instead of {want:e}, more than {limit:e} off"))
        })
    }
}

impl Case {
    /// The bytes of the inputs.
    pub(crate) fn bytes(&self) -> Vec<Vec<u8>> {
        bytes_of(self.kernel, self.choice.dtype, &self.inputs)
    }

    /// Runs it and fails with what is wrong: the program's end, what it reported, or numbers.
    pub(crate) fn judge(&self, program: &Program, order: Order) -> Result<(), String> {
        let outcome = program.run(&self.choice, &self.counts, &self.bytes(), order)?;
        self.compare(&outcome, 1.0)
    }

    /// Fails with what is wrong: what was reported, or numbers that are off by more than `slack` times what they may.
    pub(crate) fn compare(&self, outcome: &Outcome, slack: f64) -> Result<(), String> {
        if let Some(problem) = outcome.problems.first() {
            return Err(problem.clone());
        }
        for (oracle, expected) in [("f64", &self.expected), ("operations", &self.operations)] {
            for (i, expected) in expected.iter().enumerate() {
                let (got, dtype) = self.numbers(outcome, i);
                if let Some(words) = expected.refuse(&got, dtype, slack) {
                    return Err(format!("{} against {oracle}: {words}", self.kernel.outputs[i].name));
                }
            }
        }
        Ok(())
    }

    /// The numbers of an output, and the type whose last places count.
    pub(crate) fn numbers(&self, outcome: &Outcome, output: usize) -> (Vec<f64>, Dtype) {
        let (bytes, scalar) = (&outcome.outputs[output], self.kernel.outputs[output].scalar);
        match scalar {
            Scalar::Activation => {
                let dtype = self.choice.dtype;
                (numbers::from_bytes(bytes, dtype, size_of(scalar, dtype)), dtype)
            }
            Scalar::Float => (numbers::from_bytes(bytes, Dtype::Float32, 4), Dtype::Float32),
            Scalar::Int | Scalar::Uint => {
                let words = bytes.chunks_exact(4).map(|word| u32::from_ne_bytes(word.try_into().unwrap()));
                (words.map(f64::from).collect(), Dtype::Float32)
            }
        }
    }
}

/// The bytes of a kernel's inputs.
pub(crate) fn bytes_of(kernel: &Kernel, dtype: Dtype, inputs: &[Values]) -> Vec<Vec<u8>> {
    let inputs = inputs.iter().zip(kernel.inputs);
    inputs
        .map(|(values, input)| match (values, input.scalar) {
            (Values::Floats(values), Scalar::Activation) => numbers::bytes(values, dtype),
            (Values::Floats(values), Scalar::Float) => numbers::bytes(values, Dtype::Float32),
            (Values::Ints(values), Scalar::Int) => values.iter().flat_map(|n| n.to_ne_bytes()).collect(),
            (Values::Uints(values), Scalar::Uint) => values.iter().flat_map(|n| n.to_ne_bytes()).collect(),
            _ => panic!("{}'s {} has another type", kernel.name, input.name),
        })
        .collect()
}

/// In order and shuffled, each with every order of `simd_sum`.
pub(crate) const ORDERS: [Order; 9] = {
    let seeds = [0, 7, 12345];
    let mut orders = [Order { seed: 0, sum: 0 }; 9];
    let mut i = 0;
    while i < 9 {
        orders[i] = Order { seed: seeds[i / 3], sum: i as u32 % 3 };
        i += 1;
    }
    orders
};

/// Runs all cases of a kernel: in every order as it is written, and in two in each other build.
pub(crate) fn agree(cases: &[Case]) {
    let kernel = cases[0].kernel;
    let mut choices: Vec<Choice> = Vec::new();
    for case in cases {
        assert_eq!(case.kernel.name, kernel.name);
        if !choices.contains(&case.choice) {
            choices.push(case.choice.clone());
        }
    }
    for (build, orders) in
        [(Build::Plain, &ORDERS[..]), (Build::Contracted, &ORDERS[3..5]), (Build::Trapping, &ORDERS[8..])]
    {
        let program = Program::new(kernel, choices.clone(), build);
        for case in cases {
            for &order in orders {
                if let Err(problem) = case.judge(&program, order) {
                    panic!("{}, {}, {build:?}, {order:?}: {problem}", kernel.name, case.name);
                }
            }
        }
    }
}

/// A kernel's first case in this type.
pub(crate) fn case_of<'a>(cases: &'a [Case], kernel: &Kernel, dtype: Dtype) -> &'a Case {
    let fits = |case: &&Case| case.kernel.name == kernel.name && case.choice.dtype == dtype;
    cases.iter().find(fits).expect("every kernel has cases in every type")
}
