//! `#[derive(FromJson)]` of `tidehold-delta`, which re-exports it: the reading half of serde's derive for one format.
//!
//! It reads the `#[serde(…)]` attributes that `Serialize` beside it obeys, so that a type says once how its JSON looks, and
//! refuses those it does not know. What it generates asks for one member after the other by a plain function call. serde's
//! derive generates a visitor per type and, for tagged enums and flattened members, a buffer and the visitors a second
//! and third time; over the records of this project that was a fifth of the bundle.
//!
//! Beyond serde's: `#[json(with = "path")]` on a field names a `fn(&Json) -> Result<T, ConvertError>` that reads it when it is
//! present.

mod attributes;
mod case;
mod expand;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Implements `tidehold_delta::FromJson`.
///
/// Structs with named fields are objects: absent `Option`s are `None`, unknown members are ignored unless
/// `deny_unknown_fields`. One-field tuple structs are their content. Enums are externally tagged (a name, or an object
/// with the name as its only member), internally tagged with `tag`, or `untagged`. A flattened field takes the members of
/// its type, so it is a struct or a tagged enum, not a map of the rest.
#[proc_macro_derive(FromJson, attributes(serde, json))]
pub fn from_json(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand::expand(&input)
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}
