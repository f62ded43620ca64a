//! Who runs the kernels: MLX on Metal, or whatever else can.

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
        DeviceKind::Metal => Some(Rc::new(DeviceKernels::default())),
        DeviceKind::Cuda | DeviceKind::Cpu => None,
    }
}

/// Kernels that MLX compiles for Metal and runs among its own operations.
#[derive(Debug, Default)]
pub struct DeviceKernels {
    made: RefCell<HashMap<&'static str, Made>>,
}

/// A kernel as MLX knows it, and how it was dispatched: the layers of a pass dispatch it alike.
#[derive(Debug)]
struct Made {
    handle: KernelHandle,
    /// The last ways, the newest in front.
    ways: Vec<(Dtype, Vec<i32>, Config)>,
}

/// Ways to dispatch a kernel that a pass goes through by turns: the gate of attention, of experts and of a shared one.
const WAYS: usize = 4;

impl Launch for DeviceKernels {
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
        let status = unsafe {
            mlx_sys::mlx_fast_metal_kernel_apply(
                outputs.as_mut_raw(),
                handle.0,
                inputs.raw(),
                config.0,
                stream(),
            )
        };
        match status {
            0 => outputs.into_arrays(),
            _ => Err(MlxError::last("metal_kernel")),
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
    let [out] = call.by(&DeviceKernels::default())?;
    out.reshape(shape)
}

/// A kernel of mlx-c.
#[derive(Debug)]
struct KernelHandle(mlx_sys::mlx_fast_metal_kernel);

impl KernelHandle {
    fn new(kernel: &Kernel) -> Self {
        install_handler();
        let text = |text: &str| CString::new(text).expect("texts have no NUL");
        let inputs = Names::new(kernel.inputs.iter().map(|input| input.name));
        let outputs = Names::new(kernel.outputs.iter().map(|output| output.name));
        let (name, body, header) = (text(kernel.name), text(kernel.text), text(kernel.header));
        // SAFETY: mlx-c copies the strings and the vectors during the call.
        Self(unsafe {
            mlx_sys::mlx_fast_metal_kernel_new(
                name.as_ptr(),
                inputs.0,
                outputs.0,
                body.as_ptr(),
                header.as_ptr(),
                // Views are read where they lie: a copy would be a dispatch of its own.
                false,
                false,
            )
        })
    }
}

impl Drop for KernelHandle {
    fn drop(&mut self) {
        // SAFETY: owned and freed once.
        unsafe { mlx_sys::mlx_fast_metal_kernel_free(self.0) };
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
struct Config(mlx_sys::mlx_fast_metal_kernel_config);

impl Config {
    fn new(call: &Call<'_>) -> Result<Self> {
        let Call { kernel, sizes, .. } = call;
        // SAFETY: the handle is fresh and freed by its guard; shapes and names are copied during each call.
        unsafe {
            let config = Self(mlx_sys::mlx_fast_metal_kernel_config_new());
            let mut status = 0;
            for output in kernel.outputs {
                let shape: Vec<i32> = (output.shape)(sizes).into_iter().map(|size| size.max(1)).collect();
                let dtype = call.dtype_of(output.scalar).into();
                status |= mlx_sys::mlx_fast_metal_kernel_config_add_output_arg(
                    config.0,
                    shape.as_ptr(),
                    shape.len(),
                    dtype,
                );
            }
            let ([x, y, z], [gx, gy, gz]) = ((kernel.grid)(sizes), (kernel.group)(sizes));
            status |= mlx_sys::mlx_fast_metal_kernel_config_set_grid(config.0, x, y, z);
            status |= mlx_sys::mlx_fast_metal_kernel_config_set_thread_group(config.0, gx, gy, gz);
            status |= mlx_sys::mlx_fast_metal_kernel_config_add_template_arg_dtype(
                config.0,
                c"T".as_ptr(),
                call.dtype.into(),
            );
            for name in kernel.integers {
                let of = CString::new(*name).expect("names have no NUL");
                status |= mlx_sys::mlx_fast_metal_kernel_config_add_template_arg_int(
                    config.0,
                    of.as_ptr(),
                    sizes.of(name),
                );
            }
            if status == 0 { Ok(config) } else { Err(MlxError::last("metal_kernel_config")) }
        }
    }
}

impl Drop for Config {
    fn drop(&mut self) {
        // SAFETY: owned and freed once.
        unsafe { mlx_sys::mlx_fast_metal_kernel_config_free(self.0) };
    }
}
