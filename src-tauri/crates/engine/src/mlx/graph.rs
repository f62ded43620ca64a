//! What a lazy array is made of, here and on Metal.

use std::collections::{BTreeMap, HashMap};
use std::ffi::{CString, c_char, c_void};
use std::os::unix::ffi::OsStrExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use mlx_sys::mlx_vector_array;

use super::array::vector_of;
use super::error::install_handler;
use super::for_metal::for_metal;
use super::runtime::{DeviceKind, device};
use super::{Array, MlxError, Result};

/// What evaluating the arrays would run: the whole graph that has not been evaluated yet, each primitive once.
/// Primitives that only change how memory is looked at are among them.
pub fn primitives<'a>(arrays: impl IntoIterator<Item = &'a Array>) -> Result<BTreeMap<String, usize>> {
    let mut counts = BTreeMap::new();
    for (name, _) in nodes(&dot(arrays)?) {
        *counts.entry(name.to_owned()).or_insert(0) += 1;
    }
    Ok(counts)
}

/// The kernels that a GPU would be handed for it, by the primitives that they are of: views cost it nothing, and it
/// joins arrays by a copy of each.
pub fn dispatches<'a>(arrays: impl IntoIterator<Item = &'a Array>) -> Result<BTreeMap<String, usize>> {
    const VIEWS: [&str; 12] = [
        "AsStrided",
        "Broadcast",
        "BroadcastAxes",
        "ExpandDims",
        "Flatten",
        "Reshape",
        "Slice",
        "Split",
        "Squeeze",
        "Transpose",
        "Unflatten",
        "View",
    ];
    let mut counts = BTreeMap::new();
    for (name, inputs) in nodes(&dot(arrays)?).filter(|(name, _)| !VIEWS.contains(name)) {
        let kernels = if name == "Concatenate" { inputs } else { 1 };
        *counts.entry(name.to_owned()).or_insert(0) += kernels;
    }
    Ok(counts)
}

/// Builds a graph as it is on Metal and looks at it: with one node for what is one kernel there, and with Metal's own
/// kernels. Where there is no Metal, nothing of it can be computed, and what it is built from must have been.
pub fn metal_graph<T, F: FnOnce() -> Result<T>>(build: F) -> Result<T> {
    if device() == DeviceKind::Metal {
        return build();
    }
    // MLX refuses kernels without Metal, but not while a function is exported.
    let folder = tempfile::tempdir().map_err(|e| MlxError::new("export_function", e.to_string()))?;
    let file = CString::new(folder.path().join("graph").as_os_str().as_bytes())
        .map_err(|e| MlxError::new("export_function", e.to_string()))?;
    let mut building = Building { build: Some(build), built: None };
    let argument = Array::from_slice(&[0.0f32], &[1])?;
    let arguments = vector_of([&argument]);
    // SAFETY: the payload lives until the call has returned, and nothing else looks at it meanwhile; the closure, which
    // does not own it, is freed here.
    let status = unsafe {
        let payload = (&raw mut building).cast::<c_void>();
        let closure = mlx_sys::mlx_closure_new_func_payload(Some(run::<T, F>), payload, None);
        let status = mlx_sys::mlx_export_function(file.as_ptr(), closure, arguments.raw(), false);
        mlx_sys::mlx_closure_free(closure);
        status
    };
    match building.built {
        Some(built) => built,
        None if status == 0 => Err(MlxError::new("export_function", "the function was not called")),
        None => Err(MlxError::last("export_function")),
    }
}

/// What [`metal_graph`] hands to MLX and back.
struct Building<T, F> {
    build: Option<F>,
    built: Option<Result<T>>,
}

/// Called by MLX while it exports a function, which gives back what it is given.
///
/// # Safety
/// `payload` is a [`Building`] of these types that nothing else looks at; the vectors are valid.
unsafe extern "C" fn run<T, F: FnOnce() -> Result<T>>(
    outputs: *mut mlx_vector_array,
    inputs: mlx_vector_array,
    payload: *mut c_void,
) -> i32 {
    // SAFETY: as this function demands.
    unsafe {
        let building = &mut *payload.cast::<Building<T, F>>();
        if let Some(build) = building.build.take() {
            // A panic must not run through MLX.
            let built = catch_unwind(AssertUnwindSafe(|| for_metal(build)));
            building.built =
                Some(built.unwrap_or_else(|_| Err(MlxError::new("metal_graph", "building it panicked"))));
        }
        mlx_sys::mlx_vector_array_set(outputs, inputs)
    }
}

/// Primitives of a graph and the number of their inputs. A primitive is a labelled node; arrays are nodes without a
/// label.
fn nodes(dot: &str) -> impl Iterator<Item = (&str, usize)> {
    let mut inputs: HashMap<&str, usize> = HashMap::new();
    for (_, to) in dot.lines().filter_map(|line| line.split_once(" -> ")) {
        *inputs.entry(to.trim_end_matches(';').trim()).or_insert(0) += 1;
    }
    dot.lines().filter_map(move |line| {
        let (node, rest) = line.split_once("[label =\"")?;
        let name = rest.split('"').next()?;
        Some((name, inputs.get(node.trim().trim_start_matches("{ ")).copied().unwrap_or(0)))
    })
}

/// The graph in the language of Graphviz.
fn dot<'a>(arrays: impl IntoIterator<Item = &'a Array>) -> Result<String> {
    install_handler();
    let arrays = vector_of(arrays);
    let (mut text, mut length): (*mut c_char, usize) = (ptr::null_mut(), 0);
    // SAFETY: the stream writes to `text`, which it owns until it is closed and which is freed here afterwards; the
    // vector holds valid handles, and the namer is freed once.
    unsafe {
        let stream = libc::open_memstream(&mut text, &mut length);
        if stream.is_null() {
            return Err(MlxError::new("export_to_dot", std::io::Error::last_os_error().to_string()));
        }
        let namer = mlx_sys::mlx_node_namer_new();
        let status = mlx_sys::mlx_export_to_dot(stream.cast(), namer, arrays.raw());
        mlx_sys::mlx_node_namer_free(namer);
        libc::fclose(stream);
        let bytes = std::slice::from_raw_parts(text.cast::<u8>(), length).to_vec();
        libc::free(text.cast());
        match status {
            0 => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            _ => Err(MlxError::last("export_to_dot")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mlx;

    #[test]
    fn each_primitive_is_counted_once_and_only_until_it_is_evaluated() {
        let x = Array::from_slice(&[1.0f32, 2.0], &[2]).unwrap();
        let sum = x.add(&x).unwrap();
        let product = sum.multiply(&sum).unwrap();
        let expected = [("Add".to_owned(), 1), ("Multiply".to_owned(), 1)];
        assert_eq!(primitives([&product, &sum]).unwrap(), BTreeMap::from(expected));
        mlx::eval([&sum]).unwrap();
        assert_eq!(primitives([&product]).unwrap(), BTreeMap::from([("Multiply".to_owned(), 1)]));
        mlx::eval([&product]).unwrap();
        assert_eq!(primitives([&product]).unwrap(), BTreeMap::new());
    }

    #[test]
    fn a_gpu_is_handed_a_copy_of_each_joined_array_and_no_views() {
        let x = Array::from_slice(&[1.0f32, 2.0], &[2]).unwrap();
        let joined = mlx::concatenate(&[&x.add(&x).unwrap(), &x, &x], 0).unwrap();
        let viewed = joined.reshape(&[2, 3]).unwrap().expand_dims(0).unwrap();
        let expected = [("Add".to_owned(), 1), ("Concatenate".to_owned(), 3)];
        assert_eq!(dispatches([&viewed]).unwrap(), BTreeMap::from(expected));
    }

    #[test]
    fn what_is_one_kernel_on_metal_is_one_node_there() {
        let x = Array::from_slice(&[1.0f32; 64], &[1, 1, 1, 64]).unwrap();
        let offset = Array::from_slice(&[3], &[1]).unwrap();
        let of_metal = metal_graph(|| {
            assert_eq!(mlx::device(), DeviceKind::Metal);
            let normed = mlx::rms_norm(&x, None, 1e-6)?;
            let turned = mlx::rope(&normed, 64, mlx::Pairing::Halves, &mlx::Frequencies::Base(1e4), &offset)?;
            let out = mlx::scaled_dot_product_attention(&turned, &x, &x, 1.0, mlx::Mask::None)?;
            Ok((dispatches([&out])?, primitives([&out])?))
        });
        let (kernels, names) = of_metal.unwrap();
        assert_eq!(kernels.values().sum::<usize>(), 3, "{names:?}");
        let here = primitives([&mlx::rms_norm(&x, None, 1e-6).unwrap()]).unwrap();
        assert!(here.values().sum::<usize>() > 1, "{here:?}");
        // Whatever happens there, operations are the processor's again.
        assert!(metal_graph(|| Err::<(), _>(MlxError::new("nothing", "at all"))).is_err());
        assert!(metal_graph(|| -> Result<()> { panic!("nothing at all") }).is_err());
        mlx::eval([&x.add(&x).unwrap()]).unwrap();
    }
}
