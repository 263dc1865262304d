//! Extractors of the arbiter's handlers: the fields of a form, and the login that sends it.

use crate::{
    accounts::{Office, Signed, same_site},
    refusals::Refusal,
    visitor::Visitor,
};
use arena::operations::{
    Operations,
    request::{Answer, Request as Order},
};
use axum::{
    Form,
    extract::{FromRequest, Request},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Deserialize;
use std::collections::HashMap;
use words::Language;

/// The fields of a form or of a query.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub struct Fields(HashMap<String, String>);

impl Fields {
    /// A field without blanks around it; empty where it is absent.
    pub fn text(&self, name: &str) -> &str {
        self.as_sent(name).trim()
    }

    /// A field as it was sent: a password may begin and end with blanks.
    pub fn as_sent(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    /// A field that may be empty.
    pub fn optional(&self, name: &str) -> Option<String> {
        Some(self.text(name).to_owned()).filter(|text| !text.is_empty())
    }
}

/// A form without a login, sent from a page of this site.
pub struct Posted(pub Fields);

/// A form of a login, sent from a page of its session.
pub struct Sent {
    /// The login.
    pub signed: Signed,
    /// The fields.
    pub fields: Fields,
}

impl Sent {
    /// The form, if the account is an arbiter's.
    ///
    /// # Errors
    /// When the account is an operator's.
    pub fn by_arbiter(self) -> Result<Self, Refusal> {
        if self.signed.is_arbiter() { Ok(self) } else { Err(Refusal::forbidden(Language::for_arbiters)) }
    }
}

impl<S: Send + Sync> FromRequest<S> for Posted {
    type Rejection = Response;

    async fn from_request(request: Request, state: &S) -> Result<Self, Response> {
        same_site(request.headers()).map_err(IntoResponse::into_response)?;
        let Form(fields) = Form::from_request(request, state).await.map_err(IntoResponse::into_response)?;
        Ok(Self(fields))
    }
}

impl<S: Send + Sync> FromRequest<S> for Sent {
    type Rejection = Response;

    async fn from_request(request: Request, state: &S) -> Result<Self, Response> {
        let (parts, body) = request.into_parts();
        let (peer, headers) = (Visitor::of(&parts).peer, parts.headers.clone());
        let office = parts.extensions.get::<Office>().cloned();
        let Posted(fields) = Posted::from_request(Request::from_parts(parts, body), state).await?;
        let office = office.ok_or_else(|| StatusCode::NOT_FOUND.into_response())?;
        let signed =
            office.sends(peer, &headers, fields.text("csrf")).await.map_err(IntoResponse::into_response)?;
        Ok(Self { signed, fields })
    }
}

/// Redirects to the arbiter's page, so that a reload repeats nothing.
pub fn back() -> Response {
    (StatusCode::SEE_OTHER, [(header::LOCATION, "/arbiter")]).into_response()
}

/// Carries out an order on a blocking thread, because it may wait for the games.
///
/// # Errors
/// The refusal of the operator's handle.
pub async fn carry_out(operations: Operations, by: String, order: Order) -> Result<Answer, Refusal> {
    let answer = tokio::task::spawn_blocking(move || operations.carry_out(&by, &order)).await?;
    answer.map_err(|why| Refusal::conflict(|language| why.text(language)))
}
