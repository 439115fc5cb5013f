//! The implementation, as tokens. `members`, `json` and `value` are the names it works with.

use crate::attributes::{Container, Field, Variant};
use crate::case::Case;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::{Data, DataEnum, DeriveInput, Fields, FieldsNamed, Index, Type, parse_quote};

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
            let fields = Named::read(fields, container.case, container.default)?;
            let only = only(container, &fields.names);
            let base = container.default.then(|| quote!(let base = Self::default();));
            let built = fields.build(&quote!(Self));
            Ok(quote! {
                let members = ::tidehold_delta::Members::of(json)?;
                #only
                #base
                #built
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

/// Named fields: their JSON names, the slots they are read into, and the text that does it.
#[derive(Default)]
struct Named {
    names: Vec<String>,
    idents: Vec<Ident>,
    starts: Vec<TokenStream>,
    reads: TokenStream,
}

impl Named {
    fn read(fields: &FieldsNamed, case: Case, base: bool) -> syn::Result<Self> {
        let mut named = Self::default();
        for (index, field) in fields.named.iter().enumerate() {
            let Some(ident) = &field.ident else { continue };
            let attributes = Field::read(&field.attrs)?;
            let name = attributes
                .name
                .clone()
                .unwrap_or_else(|| case.field(ident.to_string().trim_start_matches("r#")));
            let index = Index::from(index);
            let slot = quote!(&mut slots.#index);
            let optional = base || attributes.default;
            let read = match (&attributes.with, optional) {
                _ if attributes.flatten => quote!(members.flattened(#slot)?;),
                (Some(with), false) => quote!(members.required_with(#name, #slot, #with)?;),
                (Some(with), true) => quote!(members.optional_with(#name, #slot, #with)?;),
                (None, _) if base => quote!(members.optional(#name, #slot)?;),
                (None, _) if optional || is_option(&field.ty) => quote!(members.or_default(#name, #slot)?;),
                (None, _) => quote!(members.required(#name, #slot)?;),
            };
            named.starts.push(match &attributes.with {
                _ if base => quote!(Some(base.#ident)),
                Some(_) if attributes.default => quote!(Some(Default::default())),
                _ => quote!(None),
            });
            named.reads.extend(read);
            named.names.push(name);
            named.idents.push(ident.clone());
        }
        Ok(named)
    }

    /// Reads all of them and builds `path { … }`. Every slot is filled by then: what reads it fails otherwise.
    fn build(&self, path: &TokenStream) -> TokenStream {
        let Self {
            idents,
            starts,
            reads,
            ..
        } = self;
        quote! {
            let mut slots = (#(#starts,)*);
            #reads
            match slots {
                (#(Some(#idents),)*) => Ok(#path { #(#idents),* }),
                #[allow(unreachable_patterns)]
                _ => Err(::tidehold_delta::ConvertError::mismatch("incomplete")),
            }
        }
    }
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
                let fields = Named::read(fields, case, false)?;
                let mut names = fields.names.clone();
                names.extend(container.tag.clone());
                let only = only(container, &names);
                let built = fields.build(&quote!(Self::#ident));
                quote!({
                    let members = ::tidehold_delta::Members::of(json)?;
                    #only
                    #built
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
