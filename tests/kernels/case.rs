//! A kernel's case: inputs, and what must come out.

use foretoken_engine::mlx::Dtype;
use foretoken_engine::mlx::kernels::{Kernel, Scalar};

use crate::numbers;
use crate::program::{Build, Choice, Order, Outcome, Program, size_of};

/// Elements of a buffer.
#[derive(Debug, Clone)]
pub enum Values {
    /// Numbers that the buffer's type has.
    Floats(Vec<f64>),
    Ints(Vec<i32>),
    Uints(Vec<u32>),
}

/// What an output must be: off by no more than so many units of its type's last place, and so much of the largest.
#[derive(Debug, Clone)]
pub struct Expected {
    pub values: Vec<f64>,
    pub ulps: f64,
    pub of_largest: f64,
}

/// One case.
#[derive(Debug, Clone)]
pub struct Case {
    pub kernel: &'static Kernel,
    pub name: String,
    pub choice: Choice,
    /// `tokens` and `rows`.
    pub counts: Vec<(&'static str, i32)>,
    pub inputs: Vec<Values>,
    /// For each output, by definition in f64.
    pub expected: Vec<Expected>,
    /// For each output, by the engine's operations; none where a test of the layer compares them.
    pub operations: Vec<Expected>,
}

impl Expected {
    /// f32 numbers.
    pub fn floats(values: Vec<f64>) -> Self {
        Self { values, ulps: 0.0, of_largest: 1e-6 }
    }

    /// Numbers of the activations' type that are rounded once, or more often with no cancellation behind it.
    pub fn activations(values: Vec<f64>, dtype: Dtype) -> Self {
        let of_largest = if dtype == Dtype::Float32 { 1e-6 } else { 0.0 };
        Self { values, ulps: 2.0, of_largest }
    }

    /// These and no others.
    pub fn exactly(values: Vec<f64>) -> Self {
        Self { values, ulps: 0.0, of_largest: 0.0 }
    }

    /// Why the numbers of this type are not those, if they are not.
    fn refuse(&self, got: &[f64], dtype: Dtype) -> Option<String> {
        if got.len() != self.values.len() {
            return Some(format!("{} values instead of {}", got.len(), self.values.len()));
        }
        let finite = self.values.iter().filter(|x| x.is_finite());
        let largest = finite.fold(0.0f64, |most, x| most.max(x.abs()));
        got.iter().zip(&self.values).enumerate().find_map(|(i, (&got, &want))| {
            let limit = self.ulps * numbers::ulp(want, dtype) + self.of_largest * largest;
            let fits = got == want || (got - want).abs() <= limit;
            (!fits).then(|| format!("[{i}] is {got:e} instead of {want:e}, more than {limit:e} off"))
        })
    }
}

impl Case {
    /// The bytes of the inputs.
    pub fn bytes(&self) -> Vec<Vec<u8>> {
        let dtype = |scalar| if scalar == Scalar::Activation { self.choice.dtype } else { Dtype::Float32 };
        let inputs = self.inputs.iter().zip(self.kernel.inputs);
        inputs
            .map(|(values, input)| match (values, input.scalar) {
                (Values::Floats(values), scalar @ (Scalar::Activation | Scalar::Float)) => {
                    numbers::bytes(values, dtype(scalar))
                }
                (Values::Ints(values), Scalar::Int) => values.iter().flat_map(|x| x.to_ne_bytes()).collect(),
                (Values::Uints(values), Scalar::Uint) => {
                    values.iter().flat_map(|x| x.to_ne_bytes()).collect()
                }
                _ => panic!("{}: {} has another type", self.name, input.name),
            })
            .collect()
    }

    /// Runs it and fails with what is wrong: the program's end, what it reported, or numbers.
    pub fn judge(&self, program: &Program, order: Order) -> Result<(), String> {
        let outcome = program.run(&self.choice, &self.counts, &self.bytes(), order)?;
        if let Some(problem) = outcome.problems.first() {
            return Err(problem.clone());
        }
        for (oracle, expected) in [("f64", &self.expected), ("operations", &self.operations)] {
            for (i, expected) in expected.iter().enumerate() {
                let (got, dtype) = self.numbers(&outcome, i);
                if let Some(words) = expected.refuse(&got, dtype) {
                    return Err(format!("{} against {oracle}: {words}", self.kernel.outputs[i].name));
                }
            }
        }
        Ok(())
    }

    /// The numbers of an output, and the type whose last places count.
    pub fn numbers(&self, outcome: &Outcome, output: usize) -> (Vec<f64>, Dtype) {
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

/// In order and shuffled, each with every order of `simd_sum`.
pub const ORDERS: [Order; 9] = {
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
pub fn agree(cases: &[Case]) {
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
