//! Sets the rpath, so that the program finds the libtorch it was built against without an environment variable.

fn main() {
    if let Some(libraries) = std::env::var_os("DEP_TCH_LIBTORCH_LIB") {
        println!("cargo::rustc-link-arg=-Wl,-rpath,{}", libraries.to_string_lossy());
    }
    // For a build tree that was moved: the directory where `cargo xtask libtorch` puts the library.
    println!("cargo::rustc-link-arg=-Wl,-rpath,$ORIGIN/../libtorch/torch/lib");
    println!("cargo::rerun-if-changed=build.rs");
}
