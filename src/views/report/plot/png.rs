//! SVG to PNG.

/// Why a picture cannot be rendered.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// It is not SVG.
    #[error("the picture cannot be read: {0}")]
    Svg(String),
    /// Its size is zero or too large.
    #[error("a picture of {0} x {1} pixels cannot be drawn")]
    Size(f32, f32),
    /// It cannot be encoded.
    #[error("the picture cannot be encoded as PNG: {0}")]
    Encode(String),
    /// The program was built without the feature `png`.
    #[error("this build draws only .svg; PNG needs the feature `png`, which is on by default")]
    LeftOut,
}

/// Renders a picture with the fonts of the system; without fonts, text is missing.
#[cfg(feature = "png")]
pub use drawing::render;

/// Refuses: this build has no renderer.
#[cfg(not(feature = "png"))]
pub fn render(_svg: &str) -> Result<Vec<u8>, PngError> {
    Err(PngError::LeftOut)
}

#[cfg(feature = "png")]
mod drawing {
    use super::PngError;
    use resvg::{
        tiny_skia::{Pixmap, Transform},
        usvg::{
            Options, Tree,
            fontdb::{Database, Family, Query},
        },
    };
    const SCALE: f32 = 2.0;

    pub fn render(svg: &str) -> Result<Vec<u8>, PngError> {
        let mut options = Options::default();
        options.fontdb_mut().load_system_fonts();
        choose_font(options.fontdb_mut());
        let tree = Tree::from_str(svg, &options).map_err(|e| PngError::Svg(e.to_string()))?;
        let (width, height) = (SCALE * tree.size().width(), SCALE * tree.size().height());
        let pixels = Pixmap::new(width.ceil() as u32, height.ceil() as u32);
        let mut pixels = pixels.ok_or(PngError::Size(width, height))?;
        resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
        pixels.encode_png().map_err(|e| PngError::Encode(e.to_string()))
    }

    /// Sans-serif fonts in order of preference; any other font is the last resort.
    const FONTS: [&str; 7] = [
        "Noto Sans",
        "DejaVu Sans",
        "Liberation Sans",
        "Arial",
        "Helvetica",
        "Noto Sans CJK JP",
        "IPAGothic",
    ];

    /// The generic family `sans-serif` has no font until one is assigned.
    fn choose_font(fonts: &mut Database) {
        let is_there = |name: &&str| {
            fonts.query(&Query { families: &[Family::Name(name)], ..Query::default() }).is_some()
        };
        let known = FONTS.iter().find(|name| is_there(name)).map(|name| (*name).to_owned());
        let any = || Some(fonts.faces().next()?.families.first()?.0.clone());
        if let Some(name) = known.or_else(any) {
            fonts.set_sans_serif_family(name);
        }
    }
}
