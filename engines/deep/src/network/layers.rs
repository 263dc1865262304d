//! The layers of the networks. They can be shared by threads: copies share their tensors.

use tch::{
    Device, Kind, TchError, Tensor,
    nn::{self, Init},
};

/// Momentum of the running statistics of batch normalisation, and the epsilon under its square root.
const MOMENTUM: f64 = 0.1;
const EPSILON: f64 = 1e-5;

/// A convolution with batch normalisation; padding keeps the size 9x9.
#[derive(Debug)]
pub(super) struct Convolution {
    weight: Tensor,
    after: After,
}

#[derive(Debug)]
enum After {
    /// Batch normalisation, for training.
    Norm { scale: Tensor, shift: Tensor, mean: Tensor, variance: Tensor },
    /// The bias after folding batch normalisation into the weights, for inference.
    Bias(Tensor),
}

impl Convolution {
    pub(super) fn new(path: &nn::Path, from: i64, to: i64, size: i64) -> Result<Self, TchError> {
        let norm = path / "norm";
        let after = After::Norm {
            scale: norm.f_ones("weight", &[to])?,
            shift: norm.f_zeros("bias", &[to])?,
            mean: norm.f_zeros_no_train("running_mean", &[to])?,
            variance: norm.f_ones_no_train("running_var", &[to])?,
        };
        Ok(Self { weight: path.f_kaiming_normal("weight", &[to, from, size, size])?, after })
    }

    pub(super) fn forward(&self, planes: &Tensor, train: bool) -> Result<Tensor, TchError> {
        let padding = self.weight.size()[2] / 2;
        let bias = if let After::Bias(bias) = &self.after { Some(bias) } else { None };
        let planes = planes.f_conv2d(&self.weight_for(planes)?, bias, 1, padding, 1, 1)?;
        match &self.after {
            After::Bias(_) => Ok(planes),
            After::Norm { scale, shift, mean, variance } => {
                let (scale, shift, mean, variance) = (Some(scale), Some(shift), Some(mean), Some(variance));
                planes.f_batch_norm(scale, shift, mean, variance, train, MOMENTUM, EPSILON, true)
            }
        }
    }

    /// The weights in the type of the planes; learned weights are kept in 32-bit floats.
    fn weight_for(&self, planes: &Tensor) -> Result<Tensor, TchError> {
        if self.is_packed() { Ok(self.weight.shallow_clone()) } else { self.weight.f_to_kind(planes.kind()) }
    }

    /// The layer for inference, in floats of type `kind`.
    pub(super) fn fused(&self, kind: Kind) -> Result<Self, TchError> {
        let (weight, bias) = match &self.after {
            After::Bias(bias) => (self.weight.shallow_clone(), bias.shallow_clone()),
            After::Norm { scale, shift, mean, variance } => {
                let factor = scale.f_div(&variance.f_add_scalar(EPSILON)?.f_sqrt()?)?;
                let weight = self.weight.f_mul(&factor.f_view([-1, 1, 1, 1])?)?.f_to_kind(kind)?;
                (weight, shift.f_sub(&mean.f_mul(&factor)?)?.f_to_kind(kind)?)
            }
        };
        Ok(Self { weight, after: After::Bias(bias) })
    }

    /// A fused layer whose weights have the memory layout of the CPU kernels (MKL-DNN), in floats of type
    /// `kind`; its input must have the same layout.
    pub(super) fn packed(self, kind: Kind) -> Result<Self, TchError> {
        let After::Bias(bias) = &self.after else { return Ok(self) };
        if self.weight.is_mkldnn() {
            return Ok(self);
        }
        // libtorch requires a 32-bit bias, or one of the same type and layout as the weights.
        let bias = if kind == Kind::Float { bias.shallow_clone() } else { bias.f_to_mkldnn(kind)? };
        let padding = self.weight.size()[2] / 2;
        let weight = self.weight.f_to_mkldnn(kind)?.f_mkldnn_reorder_conv2d_weight(
            [padding, padding],
            [1, 1],
            [1, 1],
            1,
            None::<&[i64]>,
        )?;
        Ok(Self { weight, after: After::Bias(bias) })
    }

    /// A fused layer whose weights lie in memory with the channels last (NHWC), in which the 16-bit kernels of a GPU
    /// compute. The planes that it returns lie so, too, so that the next layer finds them ready. `tch` knows no memory
    /// formats; the order of the strides is what libtorch looks at.
    pub(super) fn channels_last(self) -> Result<Self, TchError> {
        let weight = self.weight.f_permute([0, 2, 3, 1])?.f_contiguous()?.f_permute([0, 3, 1, 2])?;
        Ok(Self { weight, after: self.after })
    }

    /// True if a GPU computes this layer in 16-bit floats.
    pub(super) fn wants_channels_last(&self) -> bool {
        self.weight.device().is_cuda() && self.kind() != Kind::Float
    }

    pub(super) fn kind(&self) -> Kind {
        self.weight.kind()
    }

    pub(super) fn is_packed(&self) -> bool {
        self.weight.is_mkldnn()
    }

    /// True if MKL-DNN has kernels for these weights.
    pub(super) fn can_be_packed(&self) -> bool {
        self.weight.device() == Device::Cpu && self.weight.kind() == Kind::Float && tch::utils::has_mkldnn()
    }
}

/// A fully connected layer.
#[derive(Debug)]
pub(super) struct Connected {
    weight: Tensor,
    bias: Tensor,
}

impl Connected {
    pub(super) fn new(path: &nn::Path, from: i64, to: i64) -> Result<Self, TchError> {
        let spread = Init::Randn { mean: 0.0, stdev: (1.0 / from as f64).sqrt() };
        Ok(Self { weight: path.f_var("weight", &[to, from], spread)?, bias: path.f_zeros("bias", &[to])? })
    }

    pub(super) fn forward(&self, numbers: &Tensor) -> Result<Tensor, TchError> {
        numbers.f_linear(&self.weight, Some(&self.bias))
    }

    pub(super) fn fused(&self, kind: Kind) -> Self {
        Self { weight: self.weight.to_kind(kind), bias: self.bias.to_kind(kind) }
    }
}

/// A 1x1 convolution to label planes, with a bias per label.
#[derive(Debug)]
pub(super) struct Labelled {
    weight: Tensor,
    bias: Tensor,
}

impl Labelled {
    pub(super) fn new(path: &nn::Path, from: i64, ways: i64) -> Result<Self, TchError> {
        // Small, so that the initial policy is nearly uniform.
        let spread = Init::Randn { mean: 0.0, stdev: 0.1 * (1.0 / from as f64).sqrt() };
        let weight = path.f_var("weight", &[ways, from, 1, 1], spread)?;
        Ok(Self { weight, bias: path.f_zeros("bias", &[ways * 81])? })
    }

    pub(super) fn forward(&self, planes: &Tensor) -> Result<Tensor, TchError> {
        planes.f_conv2d(&self.weight, None::<&Tensor>, 1, 0, 1, 1)?.f_flatten(1, 3)?.f_add(&self.bias)
    }

    pub(super) fn fused(&self, kind: Kind) -> Self {
        Self { weight: self.weight.to_kind(kind), bias: self.bias.to_kind(kind) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tch::nn::VarStore;

    #[test]
    fn the_layout_of_a_gpu_changes_where_numbers_lie_and_not_what_they_are() {
        let store = VarStore::new(Device::Cpu);
        let layer = Convolution::new(&store.root(), 5, 7, 3).unwrap().fused(Kind::Float).unwrap();
        let planes = Tensor::rand([2, 5, 9, 9], (Kind::Float, Device::Cpu));
        let before = layer.forward(&planes, false).unwrap();
        let after = layer.channels_last().unwrap().forward(&planes, false).unwrap();
        assert_eq!(after.stride(), [7 * 81, 1, 9 * 7, 7], "channels last");
        assert!(before.allclose(&after, 1e-4, 1e-5, false));
    }
}
