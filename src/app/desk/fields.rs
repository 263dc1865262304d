//! The fields of a form or of a query, in the order in which they were sent.

use axum::{
    Form,
    extract::{FromRequest, Request},
    response::{IntoResponse, Response},
};
use std::hash::{DefaultHasher, Hash, Hasher};
use toml_edit::Value;
use web::refusals::Refusal;
use words::Language;

/// The fields.
#[derive(Clone, Debug, Default)]
pub struct Fields(Vec<(String, String)>);

impl Fields {
    /// A field without blanks around it; empty where it is absent.
    pub fn text(&self, name: &str) -> &str {
        self.0.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value.trim())
    }

    /// The values of a field that may be given more than once.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.trim())
    }

    /// A text of several lines, with line ends as files have them.
    pub fn lines(&self, name: &str) -> String {
        let sent = self.0.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value);
        sent.replace("\r\n", "\n")
    }

    /// A field that is one of these words.
    pub fn one_of(&self, name: &str, words: &[&'static str]) -> Result<&'static str, Refusal> {
        let found = words.iter().find(|word| **word == self.text(name));
        found.copied().ok_or_else(|| Refusal::bad(Language::unknown_order))
    }

    /// These fields, and others behind them.
    pub fn with(mut self, others: Vec<(&str, String)>) -> Self {
        self.0.extend(others.into_iter().map(|(name, value)| (name.to_owned(), value)));
        self
    }

    /// True if a box is ticked, or a field is not empty.
    pub fn is(&self, name: &str) -> bool {
        !self.text(name).is_empty()
    }

    /// The fields whose names begin so, without that beginning.
    pub fn beginning<'a>(&'a self, head: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.0.iter().filter_map(move |(name, value)| Some((name.strip_prefix(head)?, value.as_str())))
    }

    #[cfg(test)]
    pub fn of(fields: &[(&str, &str)]) -> Self {
        Self(fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }
}

/// Of a query, or of a form that is posted in the way of HTML forms.
impl<S: Send + Sync> FromRequest<S> for Fields {
    type Rejection = Response;

    async fn from_request(request: Request, state: &S) -> Result<Self, Response> {
        let form = Form::<Vec<(String, String)>>::from_request(request, state).await;
        form.map(|Form(fields)| Self(fields)).map_err(IntoResponse::into_response)
    }
}

/// What a text is known by in the form that shows it.
pub fn version(text: &str) -> String {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// A text as TOML has it.
pub fn quoted(text: &str) -> String {
    Value::from(text).to_string().trim().to_owned()
}

/// A number as TOML has it. Other words become a text, and the reader of the file reports that it expected a number.
pub fn number(fields: &Fields, name: &str, usual: &str) -> String {
    let text = Some(fields.text(name)).filter(|text| !text.is_empty()).unwrap_or(usual);
    let is_number = matches!(text.parse(), Ok(Value::Integer(_) | Value::Float(_)));
    if is_number { text.to_owned() } else { quoted(text) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::{body::Body, http::header::CONTENT_TYPE};
    use web::refusals::refusal_of;

    #[test]
    fn a_form_that_is_too_large_is_refused_in_the_language_of_its_reader() {
        let request =
            axum::http::Request::post("/quit").header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        let request = request.body(Body::from(format!("how={}", "x".repeat(3 << 20)))).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let refusal = runtime.block_on(async {
            let mut answer = Fields::from_request(request, &()).await.unwrap_err();
            refusal_of(&mut answer).await.unwrap()
        });
        assert_eq!(refusal.status.as_u16(), 413);
        for (language, words) in
            [(Language::English, "nothing was done"), (Language::Japanese, "何も実行していません")]
        {
            assert!(refusal.message.text(language).contains(words));
        }
    }
}
