//! The guides, which stand as Markdown in `src/guide/`. Here their links lead to modules instead of files: of two
//! definitions of a link the first holds.

pub mod hosting {
    #![doc = "[configuration]: crate::guide::configuration"]
    #![doc = "[schema]: ../../../journal/index.html"]
    #![doc = include_str!("guide/hosting.md")]
}

pub mod floodgate {
    #![doc = "[configuration]: crate::guide::configuration"]
    #![doc = include_str!("guide/floodgate.md")]
}

pub mod engines {
    #![doc = include_str!("guide/engines.md")]
}

pub mod configuration {
    #![doc = "[hosting]: crate::guide::hosting"]
    #![doc = include_str!("guide/configuration.md")]
}

pub mod architecture {
    #![doc = "[schema]: ../../../journal/index.html"]
    #![doc = include_str!("guide/architecture.md")]
}

pub mod results {
    #![doc = "[schema]: ../../../journal/index.html"]
    #![doc = include_str!("guide/results.md")]
}
