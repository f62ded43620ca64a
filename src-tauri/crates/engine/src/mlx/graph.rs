//! What a lazy array is made of.

use std::collections::BTreeMap;
use std::ffi::c_char;
use std::ptr;

use super::array::vector_of;
use super::error::install_handler;
use super::{Array, MlxError, Result};

/// Primitives by name that evaluating the arrays would run: those of the whole graph that has not been evaluated yet,
/// each counted once. Primitives that only change how memory is looked at are among them.
pub fn primitives<'a>(arrays: impl IntoIterator<Item = &'a Array>) -> Result<BTreeMap<String, usize>> {
    let dot = dot(arrays)?;
    let mut counts = BTreeMap::new();
    // A primitive is a labelled node; arrays are nodes without a label.
    for name in dot.split("[label =\"").skip(1).filter_map(|rest| rest.split('"').next()) {
        *counts.entry(name.to_owned()).or_insert(0) += 1;
    }
    Ok(counts)
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
}
