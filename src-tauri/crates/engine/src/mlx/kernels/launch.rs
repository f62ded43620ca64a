//! Who runs the kernels: MLX on a GPU, or whatever else can.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::CString;
use std::fmt::Debug;
use std::rc::Rc;

use super::super::array::{Handles, vector_of};
use super::super::error::install_handler;
use super::super::runtime::{DeviceKind, device};
use super::super::streams::stream;
use super::super::{Array, Dtype, MlxError, Result};
use super::family::{Cuda, Family, Metal};
use super::{Input, Kernel, Output, Scalar, Sizes, act};

/// One dispatch of a kernel.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// Which one.
    pub kernel: &'static Kernel,
    /// Type of the activations.
    pub dtype: Dtype,
    /// The kernel's integers in its order, and then the counts of the step.
    pub sizes: Sizes<'a>,
    /// In the kernel's order.
    pub inputs: &'a [&'a Array],
}

impl Call<'_> {
    /// The type of a buffer's elements.
    pub fn dtype_of(&self, scalar: Scalar) -> Dtype {
        match scalar {
            Scalar::Activation => self.dtype,
            Scalar::Float => Dtype::Float32,
            Scalar::Int => Dtype::Int32,
            Scalar::Uint => Dtype::Uint32,
        }
    }
}

/// What runs kernels.
pub trait Launch: Debug {
    /// The outputs of a dispatch, which may be lazy. An output without elements has one without meaning instead.
    fn launch(&self, call: &Call<'_>) -> Result<Vec<Array>>;
}

impl Call<'_> {
    /// Its outputs, of which a kernel has as many.
    pub(super) fn by<const N: usize>(self, launch: &dyn Launch) -> Result<[Array; N]> {
        let outputs = launch.launch(&self)?;
        Ok(outputs.try_into().expect("a launch gives all outputs of a kernel"))
    }
}

/// Set to `off`, it leaves everything to operations: to compare them, or where a kernel does not come back.
const SWITCH: &str = "FORETOKEN_KERNELS";

/// What runs the kernels on this machine's device; `None` where operations must do.
pub fn of_device() -> Option<Rc<dyn Launch>> {
    if std::env::var_os(SWITCH).is_some_and(|value| value == "off") {
        return None;
    }
    match device() {
        DeviceKind::Metal => Some(for_metal()),
        DeviceKind::Cuda => Some(Rc::new(DeviceKernels::<Cuda>::default())),
        DeviceKind::Cpu => None,
    }
}

/// Kernels that MLX compiles for a GPU and runs among its own operations.
#[derive(Debug, Default)]
struct DeviceKernels<F: Family> {
    made: RefCell<HashMap<&'static str, Made<F>>>,
}

/// Those for Metal, of which a graph can be built and looked at anywhere.
pub fn for_metal() -> Rc<dyn Launch> {
    Rc::new(DeviceKernels::<Metal>::default())
}

/// A kernel as MLX knows it, and how it was dispatched: the layers of a pass dispatch it alike.
#[derive(Debug)]
struct Made<F: Family> {
    handle: KernelHandle<F>,
    /// The last ways, the newest in front.
    ways: Vec<(Dtype, Vec<i32>, Config<F>)>,
}

/// Ways to dispatch a kernel that a pass goes through by turns: the gate of attention, of experts and of a shared one.
const WAYS: usize = 4;

impl<F: Family> Launch for DeviceKernels<F> {
    fn launch(&self, call: &Call<'_>) -> Result<Vec<Array>> {
        let mut all = self.made.borrow_mut();
        let new = || Made { handle: KernelHandle::new(call.kernel), ways: Vec::new() };
        let Made { handle, ways } = all.entry(call.kernel.name).or_insert_with(new);
        let sizes = || call.sizes.0.iter().map(|(_, size)| *size);
        let known =
            ways.iter().position(|(dtype, of, _)| *dtype == call.dtype && of.iter().copied().eq(sizes()));
        let way = match known {
            Some(known) => ways.remove(known),
            None => (call.dtype, sizes().collect(), Config::new(call)?),
        };
        ways.truncate(WAYS - 1);
        ways.insert(0, way);
        let config = &ways[0].2;
        let inputs = vector_of(call.inputs.iter().copied());
        let mut outputs = Handles::empty();
        // SAFETY: all handles are valid and freed by their guards; the vector of outputs is filled or the call fails.
        let status = unsafe { F::apply(outputs.as_mut_raw(), handle.0, inputs.raw(), config.0, stream()) };
        match status {
            0 => outputs.into_arrays(),
            _ => Err(MlxError::last("custom_kernel")),
        }
    }
}

/// What stands in a graph for an operation that is one kernel on Metal, while MLX has no Metal to say so: of the first
/// input's type, in this shape.
pub(in super::super) fn one_kernel(inputs: &[&Array], shape: &[i32]) -> Result<Array> {
    const INPUTS: [Input; 3] = [act("a"), act("b"), act("c")];
    const fn of(inputs: &'static [Input]) -> Kernel {
        let (name, text) = ("operation", "out[thread_position_in_grid.x] = a[0];");
        let outputs = &[Output { name: "out", scalar: Scalar::Activation, shape: |s| vec![s.of("size")] }];
        let (grid, group): (fn(&Sizes<'_>) -> [i32; 3], _) =
            (|s| [s.of("size"), 1, 1], |_: &Sizes<'_>| [1, 1, 1]);
        Kernel { name, header: "", text, inputs, outputs, integers: &[], grid, group }
    }
    static KERNELS: [Kernel; 3] = [of(INPUTS.split_at(1).0), of(INPUTS.split_at(2).0), of(&INPUTS)];
    let sizes = [("size", shape.iter().product())];
    let kernel = &KERNELS[inputs.len() - 1];
    let call = Call { kernel, dtype: inputs[0].dtype(), sizes: Sizes(&sizes), inputs };
    let [out] = call.by(&*for_metal())?;
    out.reshape(shape)
}

/// A kernel of mlx-c.
#[derive(Debug)]
struct KernelHandle<F: Family>(F::Kernel);

impl<F: Family> KernelHandle<F> {
    fn new(kernel: &Kernel) -> Self {
        install_handler();
        let text = |text: &str| CString::new(text).expect("texts have no NUL");
        let inputs = Names::new(kernel.inputs.iter().map(|input| input.name));
        let outputs = Names::new(kernel.outputs.iter().map(|output| output.name));
        let header = text(&[F::LANGUAGE.header, kernel.header].concat());
        // SAFETY: mlx-c copies the strings and the vectors during the call.
        Self(unsafe { F::kernel(&text(kernel.name), inputs.0, outputs.0, &text(kernel.text), &header) })
    }
}

impl<F: Family> Drop for KernelHandle<F> {
    fn drop(&mut self) {
        // SAFETY: owned and freed once.
        unsafe { F::free_kernel(self.0) };
    }
}

/// Names as mlx-c takes them.
struct Names(mlx_sys::mlx_vector_string);

impl Names {
    fn new(names: impl Iterator<Item = &'static str>) -> Self {
        // SAFETY: the vector is fresh; mlx-c copies each string during its call.
        unsafe {
            let vector = mlx_sys::mlx_vector_string_new();
            for name in names {
                let name = CString::new(name).expect("names have no NUL");
                mlx_sys::mlx_vector_string_append_value(vector, name.as_ptr());
            }
            Self(vector)
        }
    }
}

impl Drop for Names {
    fn drop(&mut self) {
        // SAFETY: owned and freed once.
        unsafe { mlx_sys::mlx_vector_string_free(self.0) };
    }
}

/// Grid, threadgroup, template arguments and outputs of a dispatch.
#[derive(Debug)]
struct Config<F: Family>(F::Config);

impl<F: Family> Config<F> {
    fn new(call: &Call<'_>) -> Result<Self> {
        let Call { kernel, sizes, .. } = call;
        // SAFETY: the handle is fresh and freed by its guard; shapes and names are copied during each call.
        unsafe {
            let config = Self(F::config());
            let mut status = 0;
            for output in kernel.outputs {
                let shape: Vec<i32> = (output.shape)(sizes).into_iter().map(|size| size.max(1)).collect();
                status |= F::add_output(config.0, &shape, call.dtype_of(output.scalar).into());
            }
            let grid = (kernel.grid)(sizes);
            status |= F::set_grid(config.0, grid);
            status |= F::set_group(config.0, (F::LANGUAGE.group)(grid, (kernel.group)(sizes)));
            status |= F::add_type(config.0, c"T", call.dtype.into());
            for name in kernel.integers {
                let of = CString::new(*name).expect("names have no NUL");
                status |= F::add_integer(config.0, &of, sizes.of(name));
            }
            if status == 0 { Ok(config) } else { Err(MlxError::last("custom_kernel_config")) }
        }
    }
}

impl<F: Family> Drop for Config<F> {
    fn drop(&mut self) {
        // SAFETY: owned and freed once.
        unsafe { F::free_config(self.0) };
    }
}
