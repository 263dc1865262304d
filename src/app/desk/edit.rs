//! The editor of positions. Without its script a position is a line of SFEN, or begins as a handicap.

use crate::{Asked, study::LETTERS};
use maud::html;
use notation::record::HANDICAPS;
use web::{STUDY_PAGE, board, layout::Page, refusals::Refusal};

/// The handicaps in English, in their order.
const ENGLISH: [&str; HANDICAPS.len()] = [
    "Even",
    "Lance",
    "Right lance",
    "Bishop",
    "Rook",
    "Rook and lance",
    "2 pieces",
    "3 pieces",
    "4 pieces",
    "5 pieces",
    "5 pieces (left)",
    "6 pieces",
    "7 pieces (left)",
    "7 pieces (right)",
    "8 pieces",
    "10 pieces",
];
/// Two kings, and all other pieces in White's hand, as problems of mate begin.
const EMPTY: &str = "4k4/9/9/9/9/9/9/9/4K4 b 2r2b4g4s4n4l18p 1";

/// The page.
pub(crate) fn page(Asked { desk, words, fields, .. }: Asked) -> Result<Page, Refusal> {
    let known = desk.studied(&fields).map(|studied| studied.position_at(studied.at));
    let position = known.unwrap_or_else(|_| rsshogi::board::hirate_position());
    let sfen = position.to_sfen(Some(1));
    let starts =
        HANDICAPS.iter().zip(ENGLISH).map(|(named, english)| (named.sfen, words.pick(english, named.kif)));
    let content = html! {
        a.crumb href="/study" { (words.study()) " ›" }
        div.top { h1 { (words.edit_position()) } }
        div.study.edit {
            div.side.board-side { div id="board" role="img" aria-label=(words.board()) { (board::drawn(&position, None, None)) } }
            section {
                div id="tools" hidden data-words={ (words.black_moves()) "/" (words.white_moves()) } { p.quiet { (words.editor_is_used_so()) } }
                form.order method="get" action=(STUDY_PAGE) {
                    label { span { (words.position_in_sfen()) } input name="position" id="sfen" value=(sfen) maxlength=(LETTERS) required spellcheck="false"; }
                    p.buttons { button.main { (words.study_position()) } }
                }
                form.order.line method="get" action="/study/edit" {
                    label { span { (words.start_position()) } select name="position" {
                        @for (start, name) in starts { option value=(start) { (name) } }
                        option value=(EMPTY) { (words.empty_board()) }
                    } }
                    button { (words.take_position()) }
                }
            }
        }
    };
    Ok(Page::new(words.edit_position(), "/study", content).with(&["board.js", "edit.js"]))
}
