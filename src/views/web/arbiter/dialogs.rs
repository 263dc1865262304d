//! Forms and dialogs of the arbiter's page.

use crate::accounts::Signed;
use maud::{Markup, html};
use words::Language;

/// Most characters of a reason; longer ones are refused.
pub const REASON: &str = "500";

/// A button that orders something: the command, its words, and whether the fields that a form asks for are needed.
pub type Button<'a> = (&'a str, &'a str, bool);

/// Forms and dialogs of somebody who is logged in.
pub struct Forms<'a> {
    pub signed: &'a Signed,
    pub words: Language,
}

impl Forms<'_> {
    /// A form with its fields and buttons.
    pub fn form(&self, fields: &Markup, buttons: &[Button<'_>]) -> Markup {
        html! {
            form.order method="post" action="/arbiter/do" {
                input type="hidden" name="csrf" value=(self.signed.csrf);
                (fields)
                p.buttons {
                    @for (command, label, needs) in buttons {
                        button name="command" value=(command) formnovalidate[!needs] { (label) }
                    }
                }
            }
        }
    }

    /// A button that opens a dialog. The browser does it without a script.
    pub fn dialog(&self, id: &str, button: &Markup, title: &str, content: &Markup) -> Markup {
        html! {
            button.opens type="button" popovertarget=(id) { (button) }
            div.dialog popover="auto" id=(id) role="dialog" aria-label=(title) {
                h3 { (title) }
                (content)
                button.closes type="button" popovertarget=(id) popovertargetaction="hide" { (self.words.close()) }
            }
        }
    }

    /// A dialog whose button has the words of its title.
    pub fn small(&self, id: &str, title: &str, fields: &Markup, buttons: &[Button<'_>]) -> Markup {
        self.dialog(id, &html! { (title) }, title, &self.form(fields, buttons))
    }

    pub fn text(&self, name: &str, label: &str, most: &str, required: bool) -> Markup {
        html! { label { (label) input name=(name) maxlength=(most) required[required]; } }
    }

    pub fn reason(&self, required: bool) -> Markup {
        let label = if required { self.words.reason_required() } else { self.words.reason_optional() };
        self.text("reason", label, REASON, required)
    }

    pub fn results(&self) -> Markup {
        html! { label { (self.words.ruled_result()) select name="result" { (self.result_options()) } } }
    }

    pub fn result_options(&self) -> Markup {
        html! {
            option value="black" { (self.words.black_wins()) }
            option value="white" { (self.words.white_wins()) }
            option value="draw" { (self.words.draw()) }
            option value="void" { (self.words.void()) }
        }
    }
}

pub fn hidden(name: &str, value: &str) -> Markup {
    html! { input type="hidden" name=(name) value=(value); }
}
