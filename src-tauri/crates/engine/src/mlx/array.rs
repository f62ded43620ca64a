//! The lazy array of MLX: made from host values or by mlx-c operations, described without evaluating it, and read back
//! to the host.

use std::borrow::Cow;
use std::marker::PhantomData;

use mlx_sys::{mlx_array, mlx_vector_array};

use super::error::install_handler;
use super::streams::stream;
use super::{MlxError, Result};

pub use mlx_rs::Dtype;

/// A lazy n-dimensional array. Cloning copies the handle, not the data.
///
/// A clone that is alive when an array is updated in place makes MLX copy the buffer instead.
#[derive(Clone)]
pub struct Array {
    inner: mlx_rs::Array,
    // mlx-rs calls its arrays `Send`; a lazy one is not.
    _one_thread: PhantomData<*const ()>,
}

impl std::fmt::Debug for Array {
    // mlx-rs evaluates an array to print it; this must not.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Array{:?} {:?}", self.shape(), self.dtype())
    }
}

/// Element types that can be copied to and from the host.
pub trait Element: mlx_rs::ArrayElement + Copy {}

impl Element for f32 {}
impl Element for i32 {}
impl Element for u32 {}
impl Element for u8 {}
impl Element for bool {}

impl Array {
    pub(super) fn from_inner(inner: mlx_rs::Array) -> Self {
        Self { inner, _one_thread: PhantomData }
    }

    pub(super) fn inner(&self) -> &mlx_rs::Array {
        &self.inner
    }

    pub(super) fn raw(&self) -> mlx_array {
        self.inner.as_ptr()
    }

    /// Runs one mlx-c operation, which writes its result to a fresh array handle, on the current stream of this thread.
    pub(super) fn build(
        operation: &'static str,
        call: impl FnOnce(*mut mlx_array, mlx_sys::mlx_stream) -> i32,
    ) -> Result<Self> {
        let stream = stream();
        // SAFETY: the handle is fresh, `call` fills it or fails, and it is owned by exactly one `Array`.
        let (status, inner) = unsafe {
            let mut handle = mlx_sys::mlx_array_new();
            let status = call(&mut handle, stream);
            (status, mlx_rs::Array::from_ptr(handle))
        };
        match status {
            0 => Ok(Self::from_inner(inner)),
            _ => Err(MlxError::last(operation)),
        }
    }

    /// Copies host values. `shape` must hold exactly `values.len()` elements.
    pub fn from_slice<T: Element>(values: &[T], shape: &[i32]) -> Result<Self> {
        install_handler();
        let size: i64 = shape.iter().map(|&d| i64::from(d)).product();
        if size != values.len() as i64 {
            return Err(MlxError::new(
                "from_slice",
                format!("{} values do not fill {shape:?}", values.len()),
            ));
        }
        // SAFETY: the data holds as many elements of this type as the shape says, and MLX copies them.
        Ok(Self::from_inner(unsafe { mlx_rs::Array::from_raw_data(values.as_ptr().cast(), shape, T::DTYPE) }))
    }

    /// Copies elements that are given as bytes, row-major, in the machine's byte order. They must fill `shape` exactly.
    pub fn from_bytes(bytes: &[u8], shape: &[i32], dtype: Dtype) -> Result<Self> {
        install_handler();
        // SAFETY: no preconditions.
        let size = unsafe { mlx_sys::mlx_dtype_size(dtype.into()) };
        let elements =
            shape.iter().try_fold(1, |product: usize, &d| product.checked_mul(usize::try_from(d).ok()?));
        if elements.and_then(|elements| elements.checked_mul(size)) != Some(bytes.len()) {
            let problem = format!("{} bytes do not fill {shape:?} {dtype:?}", bytes.len());
            return Err(MlxError::new("from_bytes", problem));
        }
        // SAFETY: the data is as long as the shape and the type say, and MLX copies it.
        Ok(Self::from_inner(unsafe { mlx_rs::Array::from_raw_data(bytes.as_ptr().cast(), shape, dtype) }))
    }

    /// A scalar of the given type. MLX has no weak scalars: an f32 one would promote bf16 arrays.
    pub fn scalar(value: f32, dtype: Dtype) -> Result<Self> {
        install_handler();
        Self::from_inner(mlx_rs::Array::from_f32(value)).astype(dtype)
    }

    /// Zeros.
    pub fn zeros(shape: &[i32], dtype: Dtype) -> Result<Self> {
        Self::build("zeros", |res, s| unsafe {
            mlx_sys::mlx_zeros(res, shape.as_ptr(), shape.len(), dtype.into(), s)
        })
    }

    /// Its dimensions.
    pub fn shape(&self) -> &[i32] {
        self.inner.shape()
    }

    /// The size of one axis; negative axes count from the end.
    pub fn dim(&self, axis: i32) -> i32 {
        let shape = self.shape();
        let index = if axis < 0 { shape.len() as i32 + axis } else { axis };
        shape[index as usize]
    }

    /// How many elements it has.
    pub fn size(&self) -> usize {
        self.inner.size()
    }

    /// Its element type.
    pub fn dtype(&self) -> Dtype {
        self.inner.dtype()
    }

    /// Bytes of its elements.
    pub fn nbytes(&self) -> usize {
        self.inner.nbytes()
    }

    /// Evaluates the array and copies it to the host, row-major.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        self.with_elements(<[T]>::to_vec)
    }

    /// Evaluates the array and lends its elements, row-major. Fails where they are of another type.
    pub fn with_elements<T: Element, R>(&self, read: impl FnOnce(&[T]) -> R) -> Result<R> {
        if self.inner.size() == 0 {
            return Ok(read(&[]));
        }
        let rows = self.evaluated_rows()?;
        let elements = rows.inner.try_as_slice::<T>();
        elements.map(read).map_err(|e| MlxError::new("with_elements", e.to_string()))
    }

    /// Evaluates the array and copies its elements to the host as bytes, row-major, in the machine's byte order.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.with_bytes(<[u8]>::to_vec)
    }

    /// Evaluates the array and lends its elements as bytes, row-major, in the machine's byte order.
    pub fn with_bytes<R>(&self, read: impl FnOnce(&[u8]) -> R) -> Result<R> {
        if self.inner.size() == 0 {
            return Ok(read(&[]));
        }
        let rows = self.evaluated_rows()?;
        // SAFETY: the array is evaluated and row-major, so its elements lie side by side from here on, and it is alive
        // until they are read.
        let bytes = unsafe {
            let data = mlx_sys::mlx_array_data_uint8(rows.raw());
            std::slice::from_raw_parts(data, rows.nbytes())
        };
        Ok(read(bytes))
    }

    /// Evaluates it. The array itself where its elements lie row-major, which costs the device nothing more; else a
    /// copy in which they do.
    fn evaluated_rows(&self) -> Result<Cow<'_, Self>> {
        super::eval([self])?;
        let mut is_row_major = false;
        // SAFETY: the out-pointer is to a local; the handle is valid, and evaluated, so that its layout is known.
        match unsafe { mlx_sys::_mlx_array_is_row_contiguous(&mut is_row_major, self.raw()) } {
            0 if is_row_major => return Ok(Cow::Borrowed(self)),
            0 => {}
            _ => return Err(MlxError::last("is_row_contiguous")),
        }
        let copy = self.contiguous()?;
        super::eval([&copy])?;
        Ok(Cow::Owned(copy))
    }

    /// Evaluates the array and lends the memory from its first element to its last as it lies, and how many elements
    /// each axis steps over. Fails where one runs backwards.
    pub fn with_memory<R>(&self, read: impl FnOnce(&[u8], &[usize]) -> R) -> Result<R> {
        if self.inner.size() == 0 {
            return Ok(read(&[], &[]));
        }
        super::eval([self])?;
        // SAFETY: the array is evaluated, so strides and data are there, as many strides as axes; the memory of an
        // array holds all elements that its strides lead to, and it is alive until they are read.
        unsafe {
            let strides = mlx_sys::mlx_array_strides(self.raw());
            let strides = std::slice::from_raw_parts(strides.cast::<usize>(), self.shape().len());
            if strides.iter().any(|&by| by > isize::MAX as usize) {
                return Err(MlxError::new("with_memory", "an axis runs backwards"));
            }
            let last: usize =
                self.shape().iter().zip(strides).map(|(&size, by)| (size as usize - 1) * by).sum();
            let data = mlx_sys::mlx_array_data_uint8(self.raw());
            let bytes = (last + 1) * mlx_sys::mlx_array_itemsize(self.raw());
            Ok(read(std::slice::from_raw_parts(data, bytes), strides))
        }
    }
}

/// A vector of handles for one call.
pub(super) struct Handles(mlx_vector_array);

impl Handles {
    pub(super) fn raw(&self) -> mlx_vector_array {
        self.0
    }

    /// Takes over a vector that mlx-c filled.
    pub(super) fn into_arrays(self) -> Result<Vec<Array>> {
        // SAFETY: the vector is valid until `self` is dropped; `get` gives each array a handle of its own.
        let count = unsafe { mlx_sys::mlx_vector_array_size(self.0) };
        (0..count)
            .map(|i| {
                Array::build("vector_get", |res, _| unsafe { mlx_sys::mlx_vector_array_get(res, self.0, i) })
            })
            .collect()
    }

    pub(super) fn empty() -> Self {
        // SAFETY: no preconditions.
        Self(unsafe { mlx_sys::mlx_vector_array_new() })
    }

    pub(super) fn as_mut_raw(&mut self) -> *mut mlx_vector_array {
        &mut self.0
    }
}

impl Drop for Handles {
    fn drop(&mut self) {
        // SAFETY: owned and freed once.
        unsafe { mlx_sys::mlx_vector_array_free(self.0) };
    }
}

/// The handles of these arrays as a vector of mlx-c.
pub(super) fn vector_of<'a>(arrays: impl IntoIterator<Item = &'a Array>) -> Handles {
    let raw: Vec<mlx_array> = arrays.into_iter().map(Array::raw).collect();
    // SAFETY: mlx-c copies the handles during the call.
    Handles(unsafe { mlx_sys::mlx_vector_array_new_data(raw.as_ptr(), raw.len()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    static_assertions::assert_not_impl_any!(Array: Send, Sync);

    #[test]
    fn bytes_come_back_as_they_went_in() {
        let bytes: Vec<u8> = (0..48).collect();
        for (dtype, shape) in [
            (Dtype::Bfloat16, [4, 6]),
            (Dtype::Float16, [6, 4]),
            (Dtype::Uint32, [3, 4]),
            (Dtype::Uint8, [2, 24]),
        ] {
            let array = Array::from_bytes(&bytes, &shape, dtype).unwrap();
            assert_eq!((array.shape(), array.dtype()), (&shape[..], dtype));
            assert_eq!(array.to_bytes().unwrap(), bytes);
        }
        let array = Array::from_bytes(&bytes[..8], &[2, 2], Dtype::Bfloat16).unwrap();
        assert_eq!(array.swapaxes(0, 1).unwrap().to_bytes().unwrap(), [0, 1, 4, 5, 2, 3, 6, 7]);
        for shape in [[4, 5], [-4, -6], [i32::MAX, i32::MAX]] {
            assert!(Array::from_bytes(&bytes, &shape, Dtype::Bfloat16).is_err(), "{shape:?}");
        }
    }
}
