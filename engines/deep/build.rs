//! Lets the program find libtorch where it was built against it, without a variable.

fn main() {
    if let Some(libraries) = std::env::var_os("DEP_TCH_LIBTORCH_LIB") {
        println!("cargo::rustc-link-arg=-Wl,-rpath,{}", libraries.to_string_lossy());
    }
    // A build tree that was moved finds what `cargo xtask libtorch` put beside it.
    println!("cargo::rustc-link-arg=-Wl,-rpath,$ORIGIN/../libtorch/torch/lib");
    println!("cargo::rerun-if-changed=build.rs");
}
