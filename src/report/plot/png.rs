//! A picture as PNG.

use resvg::{
    tiny_skia::{Pixmap, Transform},
    usvg::{
        Options, Tree,
        fontdb::{Database, Family, Query},
    },
};

/// Why there is no PNG.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// The picture is no SVG.
    #[error("the picture cannot be read: {0}")]
    Svg(String),
    /// It has no size, or too much of it.
    #[error("a picture of {0} x {1} pixels cannot be drawn")]
    Size(f32, f32),
    /// It cannot be packed.
    #[error("the picture cannot be packed: {0}")]
    Pack(String),
}

const SCALE: f32 = 2.0;

/// Draws a picture. Text is in the fonts of the system; where it has none, there is no text.
pub fn render(svg: &str) -> Result<Vec<u8>, PngError> {
    let mut options = Options::default();
    options.fontdb_mut().load_system_fonts();
    choose_font(options.fontdb_mut());
    let tree = Tree::from_str(svg, &options).map_err(|e| PngError::Svg(e.to_string()))?;
    let (width, height) = (SCALE * tree.size().width(), SCALE * tree.size().height());
    let pixels = Pixmap::new(width.ceil() as u32, height.ceil() as u32);
    let mut pixels = pixels.ok_or(PngError::Size(width, height))?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    pixels.encode_png().map_err(|e| PngError::Pack(e.to_string()))
}

/// Sans-serif fonts in the order they are looked for; then any font will do.
const FONTS: [&str; 7] =
    ["Noto Sans", "DejaVu Sans", "Liberation Sans", "Arial", "Helvetica", "Noto Sans CJK JP", "IPAGothic"];

/// `sans-serif` is a name that somebody has to give a font to.
fn choose_font(fonts: &mut Database) {
    let is_there =
        |name: &&str| fonts.query(&Query { families: &[Family::Name(name)], ..Query::default() }).is_some();
    let known = FONTS.iter().find(|name| is_there(name)).map(|name| (*name).to_owned());
    let any = || Some(fonts.faces().next()?.families.first()?.0.clone());
    if let Some(name) = known.or_else(any) {
        fonts.set_sans_serif_family(name);
    }
}
