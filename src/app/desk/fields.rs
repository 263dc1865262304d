//! The fields of a form or of a query, in the order in which they were sent.

use axum::{
    Form,
    extract::{FromRequest, Request},
    response::{IntoResponse, Response},
};

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
