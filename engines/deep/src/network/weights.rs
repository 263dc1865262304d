//! Weight files.

use super::NetworkError;
use safetensors::{Dtype, SafeTensors};
use std::{collections::HashMap, fs, path::Path};
use tch::{Kind, TchError, Tensor, nn::VarStore};

/// Fills a store from a file that holds exactly its tensors.
///
/// # Errors
/// When the file is missing or unreadable, or its tensors differ.
pub(crate) fn read(store: &mut VarStore, path: &Path) -> Result<(), NetworkError> {
    exists(path)?;
    let failed = |source| NetworkError::Torch { name: path.display().to_string(), source };
    let found = Tensor::read_safetensors(path).map_err(failed)?;
    fill(store, found, path)
}

/// Fills a store from the contents of a weight file; `path` is for error messages.
///
/// # Errors
/// As [`read`].
pub(crate) fn read_bytes(store: &mut VarStore, bytes: &[u8], path: &Path) -> Result<(), NetworkError> {
    let found =
        tensors(bytes).map_err(|source| NetworkError::Torch { name: path.display().to_string(), source })?;
    fill(store, found, path)
}

fn tensors(bytes: &[u8]) -> Result<Vec<(String, Tensor)>, TchError> {
    let file = SafeTensors::deserialize(bytes).map_err(|fault| TchError::Convert(fault.to_string()))?;
    let tensor = |(name, view): (String, safetensors::tensor::TensorView<'_>)| {
        let kind = match view.dtype() {
            Dtype::F16 => Kind::Half,
            Dtype::F32 => Kind::Float,
            other => return Err(TchError::Convert(format!("numbers of type {other:?}"))),
        };
        let shape: Vec<i64> = view.shape().iter().map(|&size| size as i64).collect();
        Ok((name, Tensor::f_from_data_size(view.data(), &shape, kind)?))
    };
    file.tensors().into_iter().map(tensor).collect()
}

fn fill(store: &mut VarStore, found: Vec<(String, Tensor)>, path: &Path) -> Result<(), NetworkError> {
    let failed = |source| NetworkError::Torch { name: path.display().to_string(), source };
    let mut found: HashMap<String, Tensor> = found.into_iter().collect();
    for (name, mut wanted) in sorted(store) {
        let Some(tensor) = found.remove(&name) else {
            return Err(NetworkError::Missing { path: path.to_owned(), name });
        };
        if tensor.size() != wanted.size() {
            let (found, wanted) = (tensor.size(), wanted.size());
            return Err(NetworkError::Shape { path: path.to_owned(), name, found, wanted });
        }
        tch::no_grad(|| wanted.f_copy_(&tensor)).map_err(failed)?;
    }
    match found.into_keys().min() {
        Some(name) => Err(NetworkError::Unknown { path: path.to_owned(), name }),
        None => Ok(()),
    }
}

/// Writes all tensors of a store, atomically through a temporary file.
///
/// # Errors
/// When the file cannot be written.
pub(crate) fn write(store: &VarStore, path: &Path, kind: Kind) -> Result<(), NetworkError> {
    let tensors =
        sorted(store).into_iter().map(|(name, tensor)| (name, for_file(&tensor, kind))).collect::<Vec<_>>();
    write_tensors(&tensors, path)
}

/// Writes named tensors, atomically.
pub(crate) fn write_tensors(tensors: &[(String, Tensor)], path: &Path) -> Result<(), NetworkError> {
    let unfinished = path.with_extension("unfinished");
    Tensor::write_safetensors(tensors, &unfinished)
        .map_err(|source| NetworkError::Torch { name: path.display().to_string(), source })?;
    fs::rename(&unfinished, path).map_err(|source| NetworkError::File { path: path.to_owned(), source })
}

/// A copy of a tensor on the CPU, in the type of the file.
pub(crate) fn for_file(tensor: &Tensor, kind: Kind) -> Tensor {
    tensor.detach().to_device(tch::Device::Cpu).to_kind(kind).contiguous()
}

/// Checks that the file exists: libtorch's own message would name its source files.
pub(crate) fn exists(path: &Path) -> Result<(), NetworkError> {
    fs::File::open(path).map(drop).map_err(|source| NetworkError::File { path: path.to_owned(), source })
}

/// The tensors of a store, sorted by name.
pub(crate) fn sorted(store: &VarStore) -> Vec<(String, Tensor)> {
    let mut tensors: Vec<_> = store.variables().into_iter().collect();
    tensors.sort_by(|one, other| one.0.cmp(&other.0));
    tensors
}
