//! Weight files.

use super::NetworkError;
use safetensors::SafeTensors;
use std::{collections::HashMap, fs, path::Path};
use tch::{Kind, TchError, Tensor, nn::VarStore};

/// Fills a store from a file that holds exactly its tensors.
///
/// # Errors
/// When the file is missing or malformed, or its tensors differ.
pub(crate) fn read(store: &mut VarStore, path: &Path) -> Result<(), NetworkError> {
    let bytes = fs::read(path).map_err(|source| NetworkError::File { path: path.to_owned(), source })?;
    fill(store, &bytes, path)
}

/// Fills a store from the contents of a weight file; `path` is for error messages.
///
/// # Errors
/// As [`read`].
pub(crate) fn fill(store: &mut VarStore, bytes: &[u8], path: &Path) -> Result<(), NetworkError> {
    let name = || path.display().to_string();
    let failed = |source| NetworkError::Torch { name: name(), source };
    let file = SafeTensors::deserialize(bytes)
        .map_err(|err| failed(TchError::SafeTensorError { path: name(), err }))?;
    let tensors = file.tensors().into_iter().map(|(name, view)| Ok((name, Tensor::try_from(view)?)));
    let mut found: HashMap<String, Tensor> = tensors.collect::<Result<_, _>>().map_err(failed)?;
    let file = path.display();
    for (tensor, mut wanted) in sorted(store) {
        let Some(found) = found.remove(&tensor) else {
            let fault = format!("weights `{file}` have no tensor `{tensor}`, unlike the description");
            return Err(NetworkError::Weights(fault));
        };
        let (shape, expected) = (found.size(), wanted.size());
        if shape != expected {
            let fault = format!("tensor `{tensor}` of `{file}` has shape {shape:?} instead of {expected:?}");
            return Err(NetworkError::Weights(fault));
        }
        tch::no_grad(|| wanted.f_copy_(&found)).map_err(failed)?;
    }
    match found.into_keys().min() {
        Some(tensor) => Err(NetworkError::Weights(format!(
            "weights `{file}` have a tensor `{tensor}`, which the description lacks"
        ))),
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

/// The tensors of a store, sorted by name.
pub(crate) fn sorted(store: &VarStore) -> Vec<(String, Tensor)> {
    let mut tensors: Vec<_> = store.variables().into_iter().collect();
    tensors.sort_by(|one, other| one.0.cmp(&other.0));
    tensors
}
