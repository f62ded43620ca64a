//! The functions by which mlx-c gets kernels to a kind of GPU: one family for each, alike but for their names.

use std::ffi::{CStr, c_int};
use std::fmt::Debug;

use mlx_sys::{mlx_dtype, mlx_stream, mlx_vector_array, mlx_vector_string};

/// What a kind of GPU needs said so that the texts run there.
#[derive(Debug, Clone, Copy)]
pub struct Language {
    /// What stands in front of a kernel's header.
    pub header: &'static str,
    /// The size of the threadgroups that a grid is made of, no larger than the kernel's own.
    pub group: fn(grid: [i32; 3], group: [i32; 3]) -> [i32; 3],
}

/// Of Apple's GPUs, in whose language the texts are written.
pub const METAL: Language = Language { header: "", group: |_, group| group };

/// Of NVIDIA's. Its threadgroups divide the grid: where Metal cuts the last one, MLX has threads behind the grid's end
/// run there.
pub const CUDA: Language = Language {
    header: include_str!("cuda.cuh"),
    group: |grid, group| std::array::from_fn(|axis| greatest_common_divisor(grid[axis], group[axis]).max(1)),
};

fn greatest_common_divisor(a: i32, b: i32) -> i32 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// A family of functions of mlx-c. Handles are the caller's to free, once.
///
/// # Safety
/// What a function does with the handles, texts and pointers that it is given is mlx-c's: all of them are valid during
/// the call, and copied by it.
pub(super) trait Family: Debug + Default + 'static {
    /// A kernel.
    type Kernel: Copy + Debug;
    /// How one is dispatched.
    type Config: Copy + Debug;
    /// What the kernels are written in there.
    const LANGUAGE: Language;

    /// A kernel of this text, which reads its inputs where they lie: a copy would be a dispatch of its own.
    unsafe fn kernel(
        name: &CStr,
        inputs: mlx_vector_string,
        outputs: mlx_vector_string,
        text: &CStr,
        header: &CStr,
    ) -> Self::Kernel;
    unsafe fn free_kernel(kernel: Self::Kernel);
    unsafe fn apply(
        outputs: *mut mlx_vector_array,
        kernel: Self::Kernel,
        inputs: mlx_vector_array,
        config: Self::Config,
        stream: mlx_stream,
    ) -> c_int;
    unsafe fn config() -> Self::Config;
    unsafe fn free_config(config: Self::Config);
    unsafe fn add_output(config: Self::Config, shape: &[i32], dtype: mlx_dtype) -> c_int;
    unsafe fn set_grid(config: Self::Config, grid: [i32; 3]) -> c_int;
    unsafe fn set_group(config: Self::Config, group: [i32; 3]) -> c_int;
    unsafe fn add_type(config: Self::Config, name: &CStr, dtype: mlx_dtype) -> c_int;
    unsafe fn add_integer(config: Self::Config, name: &CStr, value: i32) -> c_int;
}

/// Its functions; `$last` is what the last parameter of a new kernel says.
macro_rules! functions {
    ($kernel:ident, $new:ident($last:expr), $free:ident, $apply:ident, $config:ident, $config_new:ident,
     $config_free:ident, $add_output:ident, $set_grid:ident, $set_group:ident, $add_type:ident,
     $add_integer:ident) => {
        type Kernel = mlx_sys::$kernel;
        type Config = mlx_sys::$config;

        unsafe fn kernel(
            name: &CStr,
            inputs: mlx_vector_string,
            outputs: mlx_vector_string,
            text: &CStr,
            header: &CStr,
        ) -> Self::Kernel {
            let [name, text, header] = [name, text, header].map(CStr::as_ptr);
            // SAFETY: the caller's.
            unsafe { mlx_sys::$new(name, inputs, outputs, text, header, false, $last) }
        }
        unsafe fn free_kernel(kernel: Self::Kernel) {
            // SAFETY: the caller's.
            unsafe { mlx_sys::$free(kernel) }
        }
        unsafe fn apply(
            outputs: *mut mlx_vector_array,
            kernel: Self::Kernel,
            inputs: mlx_vector_array,
            config: Self::Config,
            stream: mlx_stream,
        ) -> c_int {
            // SAFETY: the caller's.
            unsafe { mlx_sys::$apply(outputs, kernel, inputs, config, stream) }
        }
        unsafe fn config() -> Self::Config {
            // SAFETY: a fresh handle.
            unsafe { mlx_sys::$config_new() }
        }
        unsafe fn free_config(config: Self::Config) {
            // SAFETY: the caller's.
            unsafe { mlx_sys::$config_free(config) }
        }
        unsafe fn add_output(config: Self::Config, shape: &[i32], dtype: mlx_dtype) -> c_int {
            // SAFETY: the caller's; the shape is as long as is said.
            unsafe { mlx_sys::$add_output(config, shape.as_ptr(), shape.len(), dtype) }
        }
        unsafe fn set_grid(config: Self::Config, [x, y, z]: [i32; 3]) -> c_int {
            // SAFETY: the caller's.
            unsafe { mlx_sys::$set_grid(config, x, y, z) }
        }
        unsafe fn set_group(config: Self::Config, [x, y, z]: [i32; 3]) -> c_int {
            // SAFETY: the caller's.
            unsafe { mlx_sys::$set_group(config, x, y, z) }
        }
        unsafe fn add_type(config: Self::Config, name: &CStr, dtype: mlx_dtype) -> c_int {
            // SAFETY: the caller's.
            unsafe { mlx_sys::$add_type(config, name.as_ptr(), dtype) }
        }
        unsafe fn add_integer(config: Self::Config, name: &CStr, value: i32) -> c_int {
            // SAFETY: the caller's.
            unsafe { mlx_sys::$add_integer(config, name.as_ptr(), value) }
        }
    };
}

/// Of Apple's GPUs.
#[derive(Debug, Default)]
pub(super) struct Metal;

impl Family for Metal {
    const LANGUAGE: Language = METAL;

    functions!(
        mlx_fast_metal_kernel,
        mlx_fast_metal_kernel_new(false),
        mlx_fast_metal_kernel_free,
        mlx_fast_metal_kernel_apply,
        mlx_fast_metal_kernel_config,
        mlx_fast_metal_kernel_config_new,
        mlx_fast_metal_kernel_config_free,
        mlx_fast_metal_kernel_config_add_output_arg,
        mlx_fast_metal_kernel_config_set_grid,
        mlx_fast_metal_kernel_config_set_thread_group,
        mlx_fast_metal_kernel_config_add_template_arg_dtype,
        mlx_fast_metal_kernel_config_add_template_arg_int
    );
}

/// Of NVIDIA's GPUs.
#[derive(Debug, Default)]
pub(super) struct Cuda;

impl Family for Cuda {
    const LANGUAGE: Language = CUDA;

    functions!(
        mlx_fast_cuda_kernel,
        mlx_fast_cuda_kernel_new(0),
        mlx_fast_cuda_kernel_free,
        mlx_fast_cuda_kernel_apply,
        mlx_fast_cuda_kernel_config,
        mlx_fast_cuda_kernel_config_new,
        mlx_fast_cuda_kernel_config_free,
        mlx_fast_cuda_kernel_config_add_output_arg,
        mlx_fast_cuda_kernel_config_set_grid,
        mlx_fast_cuda_kernel_config_set_thread_group,
        mlx_fast_cuda_kernel_config_add_template_arg_dtype,
        mlx_fast_cuda_kernel_config_add_template_arg_int
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuda_s_grids_have_whole_threadgroups() {
        assert_eq!((CUDA.group)([32, 49, 6], [32, 4, 1]), [32, 1, 1]);
        assert_eq!((CUDA.group)([32, 50, 6], [32, 4, 1]), [32, 2, 1]);
        assert_eq!((CUDA.group)([3072, 5, 1], [256, 1, 1]), [256, 1, 1]);
        assert_eq!((CUDA.group)([72, 5, 1], [256, 1, 1]), [8, 1, 1]);
        assert_eq!((METAL.group)([72, 5, 1], [256, 1, 1]), [256, 1, 1]);
    }
}
