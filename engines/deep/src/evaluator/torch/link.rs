//! The link between host and device: memory to send from, and the copies in both directions.
//!
//! A search on a GPU is as fast as what travels: packed planes from pinned memory one way, logits and values the other.
#![allow(unsafe_code)]

use std::fmt::Debug;
use tch::{Device, Kind, TchError, Tensor};

/// Copies between host and device.
pub(super) trait Link: Debug + Send {
    /// Host memory that batches are sent from; `None` if the device computes where the host writes.
    fn staging(&self, bytes: usize) -> Result<Option<Tensor>, TchError>;

    /// Copies bytes of the staging memory to the device, without waiting: they must not change before the next
    /// [`fetch`](Self::fetch) has returned.
    fn send(&self, bytes: &Tensor) -> Result<Tensor, TchError>;

    /// Waits for numbers of the device and copies them.
    fn fetch(&self, numbers: &Tensor, into: &mut [f32]) -> Result<(), TchError> {
        let numbers = numbers.f_to_kind(Kind::Float)?.f_to_device(Device::Cpu)?.f_contiguous()?;
        numbers.f_copy_data(into, into.len())
    }
}

/// The link to a device.
pub(super) fn to(device: Device) -> Box<dyn Link> {
    if device.is_cuda() { Box::new(Pinned(device)) } else { Box::new(Here) }
}

/// The processor itself.
#[derive(Debug)]
struct Here;

/// A GPU, which reads pinned memory by itself.
#[derive(Debug)]
struct Pinned(Device);

impl Link for Here {
    fn staging(&self, _bytes: usize) -> Result<Option<Tensor>, TchError> {
        Ok(None)
    }

    fn send(&self, bytes: &Tensor) -> Result<Tensor, TchError> {
        Ok(bytes.shallow_clone())
    }
}

impl Link for Pinned {
    fn staging(&self, bytes: usize) -> Result<Option<Tensor>, TchError> {
        Tensor::f_zeros([bytes as i64], (Kind::Uint8, Device::Cpu))?.f_pin_memory(self.0).map(Some)
    }

    fn send(&self, bytes: &Tensor) -> Result<Tensor, TchError> {
        bytes.f_to_device_(self.0, Kind::Uint8, true, false)
    }
}

/// The numbers of a tensor of the host.
pub(super) fn cells(tensor: &mut Tensor) -> Result<&mut [f32], TchError> {
    let begin = begin(tensor, Kind::Float)?;
    // SAFETY: contiguous memory of the host, of this type; no copy of the tensor is used while the slice is.
    Ok(unsafe { std::slice::from_raw_parts_mut(begin.cast(), tensor.numel()) })
}

/// The bytes of a tensor of the host.
pub(super) fn bytes(tensor: &mut Tensor) -> Result<&mut [u8], TchError> {
    let begin = begin(tensor, Kind::Uint8)?;
    // SAFETY: as in `cells`.
    Ok(unsafe { std::slice::from_raw_parts_mut(begin.cast(), tensor.numel()) })
}

fn begin(tensor: &Tensor, kind: Kind) -> Result<*mut std::ffi::c_void, TchError> {
    if tensor.kind() == kind && tensor.device() == Device::Cpu && tensor.is_contiguous() {
        Ok(tensor.data_ptr())
    } else {
        Err(TchError::Kind(format!("a buffer is not contiguous memory of the host, of type {kind:?}")))
    }
}
