//! What tests of the network use: a line that is slow, stalls or breaks, and machines of one's own.

mod namespaces;
mod proxy;

pub use namespaces::Namespaces;
pub use proxy::Proxy;
