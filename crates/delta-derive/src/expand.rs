//! The implementation, as tokens. `members`, `json` and `value` are the names it works with.

use crate::attributes::{Container, Field, Variant};
use crate::case::Case;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Data, DataEnum, DeriveInput, Fields, FieldsNamed, Type, parse_quote};

pub fn expand(input: &DeriveInput) -> syn::Result<TokenStream> {
    let container = Container::read(&input.attrs)?;
    let body = match &input.data {
        Data::Struct(data) => structure(&container, &data.fields)?,
        Data::Enum(data) => enumeration(&container, &input.ident.to_string(), data)?,
        Data::Union(data) => {
            return Err(syn::Error::new(data.union_token.span, "a union has no JSON form"));
        }
    };
    let mut generics = input.generics.clone();
    for parameter in generics.type_params_mut() {
        parameter.bounds.push(parse_quote!(::tidehold_delta::FromJson));
    }
    let (parameters, arguments, bounds) = generics.split_for_impl();
    let name = &input.ident;
    Ok(quote! {
        impl #parameters ::tidehold_delta::FromJson for #name #arguments #bounds {
            fn from_json(json: &::tidehold_delta::Json) -> ::core::result::Result<Self, ::tidehold_delta::ConvertError> {
                #body
            }
        }
    })
}

fn structure(container: &Container, fields: &Fields) -> syn::Result<TokenStream> {
    match fields {
        Fields::Named(fields) => {
            let (names, read) = named(fields, container.case, container.default)?;
            let only = only(container, &names);
            let base = container.default.then(|| quote!(let base = Self::default();));
            Ok(quote! {
                let members = ::tidehold_delta::Members::of(json)?;
                #only
                #base
                Ok(Self { #read })
            })
        }
        Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
            Ok(quote!(Ok(Self(::tidehold_delta::FromJson::from_json(json)?))))
        }
        other => Err(syn::Error::new_spanned(
            other,
            "FromJson knows no form for these fields",
        )),
    }
}

fn only(container: &Container, names: &[String]) -> Option<TokenStream> {
    container
        .deny_unknown
        .then(|| quote!(members.only(&[#(#names),*])?;))
}

/// The JSON names of the fields, and the text that reads each of them from `members`.
fn named(fields: &FieldsNamed, case: Case, base: bool) -> syn::Result<(Vec<String>, TokenStream)> {
    let mut names = Vec::new();
    let mut read = TokenStream::new();
    for field in &fields.named {
        let Some(ident) = &field.ident else { continue };
        let attributes = Field::read(&field.attrs)?;
        let name = attributes
            .name
            .clone()
            .unwrap_or_else(|| case.field(ident.to_string().trim_start_matches("r#")));
        let value = if attributes.flatten {
            quote!(members.flattened()?)
        } else if let Some(with) = &attributes.with {
            let present = quote!(members.optional_with(#name, #with)?);
            if base {
                quote!(#present.unwrap_or(base.#ident))
            } else if attributes.default {
                quote!(#present.unwrap_or_default())
            } else {
                quote!(members.required_with(#name, #with)?)
            }
        } else if base {
            quote!(members.or(#name, base.#ident)?)
        } else if attributes.default || is_option(&field.ty) {
            quote!(members.or_default(#name)?)
        } else {
            quote!(members.required(#name)?)
        };
        names.push(name);
        read.extend(quote!(#ident: #value,));
    }
    Ok((names, read))
}

/// By its name: a derive sees no types.
fn is_option(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Option"))
}

fn enumeration(container: &Container, type_name: &str, data: &DataEnum) -> syn::Result<TokenStream> {
    let mut arms = Vec::new();
    let mut names = Vec::new();
    for variant in &data.variants {
        let attributes = Variant::read(&variant.attrs)?;
        let ident = &variant.ident;
        let name = attributes
            .name
            .unwrap_or_else(|| container.case.variant(&ident.to_string()));
        let content = match &variant.fields {
            Fields::Unit if container.untagged => {
                return Err(syn::Error::new_spanned(
                    variant,
                    "an untagged variant needs content",
                ));
            }
            Fields::Unit => quote!(Ok(Self::#ident)),
            Fields::Named(fields) => {
                let case = attributes.field_case.unwrap_or(container.field_case);
                let (mut fields, read) = named(fields, case, false)?;
                fields.extend(container.tag.clone());
                let only = only(container, &fields);
                quote!({
                    let members = ::tidehold_delta::Members::of(json)?;
                    #only
                    Ok(Self::#ident { #read })
                })
            }
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                quote!(::tidehold_delta::FromJson::from_json(json).map(Self::#ident))
            }
            other => {
                return Err(syn::Error::new_spanned(
                    other,
                    "FromJson knows no form for these fields",
                ));
            }
        };
        let unit = matches!(variant.fields, Fields::Unit);
        arms.push((name.clone(), unit, content));
        names.push(name);
    }
    Ok(if container.untagged {
        untagged(type_name, &arms)
    } else if let Some(tag) = &container.tag {
        let arms = arms.iter().map(|(name, _, content)| quote!(#name => #content,));
        quote! {
            match ::tidehold_delta::Members::of(json)?.tag(#tag)? {
                #(#arms)*
                other => Err(::tidehold_delta::ConvertError::unknown_variant(other, &[#(#names),*]).inside(#tag)),
            }
        }
    } else {
        external(&arms, &names)
    })
}

type Arm = (String, bool, TokenStream);

fn untagged(type_name: &str, arms: &[Arm]) -> TokenStream {
    let attempts = arms.iter().enumerate().map(|(index, (_, _, content))| {
        let attempt = format_ident!("attempt_{index}");
        quote! {
            let #attempt = || -> ::core::result::Result<Self, ::tidehold_delta::ConvertError> { #content };
            if let Ok(value) = #attempt() {
                return Ok(value);
            }
        }
    });
    let problem = format!("fits no form of {type_name}");
    quote! {
        #(#attempts)*
        Err(::tidehold_delta::ConvertError::mismatch(#problem))
    }
}

/// `"name"` for variants without content, `{"name": content}` for those with one.
fn external(arms: &[Arm], names: &[String]) -> TokenStream {
    let units = arms
        .iter()
        .filter(|(_, unit, _)| *unit)
        .map(|(name, _, content)| quote!(#name => #content,));
    let filled: Vec<_> = arms
        .iter()
        .filter(|(_, unit, _)| !unit)
        .map(|(name, _, content)| quote!(#name => #content,))
        .collect();
    let with_content = (!filled.is_empty()).then(|| {
        quote! {
            if let Some((name, json)) = ::tidehold_delta::Members::only_one(json) {
                return match name {
                    #(#filled)*
                    other => Err(::tidehold_delta::ConvertError::unknown_variant(other, &[#(#names),*])),
                };
            }
        }
    });
    quote! {
        #with_content
        match ::tidehold_delta::variant_name(json)? {
            #(#units)*
            other => Err(::tidehold_delta::ConvertError::unknown_variant(other, &[#(#names),*])),
        }
    }
}
