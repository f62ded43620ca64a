//! Kernels for the engine to run on this machine: what the device would run, as programs.

use std::cell::RefCell;
use std::collections::HashMap;

use foretoken_engine::mlx::kernels::{Call, Launch};
use foretoken_engine::mlx::{Array, Dtype, MlxError};

use crate::program::{Build, Choice, Order, Program};

/// A kernel by name, with a choice of its template arguments.
type Chosen = (&'static str, Dtype, Vec<i32>);

/// Programs of the kernels that were asked for.
#[derive(Debug, Default)]
pub(crate) struct HostKernels {
    programs: RefCell<HashMap<Chosen, Program>>,
}

/// The memory of an input. What may be a view has to lie as the kernel is told, and everything else in rows.
fn memory(call: &Call<'_>, index: usize) -> Result<Vec<u8>, MlxError> {
    let (array, input) = (call.inputs[index], call.kernel.inputs[index]);
    assert_eq!(array.dtype(), call.dtype_of(input.scalar), "{}'s {}", call.kernel.name, input.name);
    array.with_memory(|bytes, strides| {
        check(call, index, strides);
        bytes.to_vec()
    })
}

fn check(call: &Call<'_>, index: usize, strides: &[usize]) {
    let (shape, input) = (call.inputs[index].shape(), call.kernel.inputs[index]);
    let mut expected = 1;
    for (axis, (&size, &by)) in shape.iter().zip(strides).enumerate().rev() {
        let what = format!("{}'s {} {shape:?}: axis {axis}", call.kernel.name, input.name);
        // Nobody steps over an axis with one element.
        assert!(size == 1 || by == expected, "{what} steps over {by} elements, not {expected}");
        expected = match input.stride {
            Some(stride) if axis + 1 == shape.len() => call.sizes.of(stride) as usize,
            _ => expected * size as usize,
        };
    }
}

impl Launch for HostKernels {
    fn launch(&self, call: &Call<'_>) -> Result<Vec<Array>, MlxError> {
        let kernel = call.kernel;
        let integers: Vec<i32> = kernel.integers.iter().map(|name| call.sizes.of(name)).collect();
        let choice = Choice { dtype: call.dtype, integers: integers.clone() };
        let mut programs = self.programs.borrow_mut();
        let program = programs
            .entry((kernel.name, call.dtype, integers))
            .or_insert_with(|| Program::new(kernel, vec![choice.clone()], Build::Plain));
        let inputs: Vec<Vec<u8>> =
            (0..call.inputs.len()).map(|i| memory(call, i)).collect::<Result<_, _>>()?;
        let counts: Vec<(&'static str, i32)> =
            call.sizes.0.iter().copied().filter(|(name, _)| ["tokens", "rows"].contains(name)).collect();
        let outcome = program.run(&choice, &counts, &inputs, Order { seed: 3, sum: 0 }).unwrap();
        assert_eq!(outcome.problems, Vec::<String>::new(), "{}", kernel.name);
        let outputs = kernel.outputs.iter().zip(outcome.outputs);
        outputs
            .map(|(output, bytes)| {
                let dtype = call.dtype_of(output.scalar);
                match (output.shape)(&call.sizes) {
                    shape if shape.contains(&0) => {
                        let shape: Vec<i32> = shape.into_iter().map(|size| size.max(1)).collect();
                        Array::zeros(&shape, dtype)
                    }
                    shape => Array::from_bytes(&bytes, &shape, dtype),
                }
            })
            .collect()
    }
}
