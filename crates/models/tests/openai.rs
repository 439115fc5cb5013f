//! Chat Completions over a transport that misbehaves in every way a network can.

mod support;

use futures::StreamExt;
use futures::future::{FutureExt, LocalBoxFuture};
use futures::stream::{self, LocalBoxStream};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use support::{START, VirtualHost};
use tidehold_delta::{Json, json};
use tidehold_models::catalog::Catalog;
use tidehold_models::errors::is_retryable_assistant_error;
use tidehold_models::message::{AssistantMessage, Message, StopReason};
use tidehold_models::models::{Models, RequestPurpose, StreamOptions, StreamRequest};
use tidehold_models::partial::Partial;
use tidehold_models::registry::ModelRegistry;
use tidehold_models::stream::StreamEvent;
use tidehold_models::transport::{HttpRequest, HttpResponse, Transport, TransportError};
use tidehold_session::host::Host;
use tidehold_session::signal::{AbortController, AbortSignal};

type Body = LocalBoxStream<'static, Result<Vec<u8>, TransportError>>;
type Answer = Option<(u16, Vec<(&'static str, &'static str)>, Body)>;
type Answers = Box<dyn Fn(usize) -> Answer>;

/// Answers request `n` with what the closure says; `None` never answers.
struct Fake {
    answers: Answers,
    requests: RefCell<Vec<HttpRequest>>,
}

impl Transport for Fake {
    fn send(
        &self,
        request: HttpRequest,
        _: AbortSignal,
    ) -> LocalBoxFuture<'static, Result<HttpResponse, TransportError>> {
        let answer = (self.answers)(self.requests.borrow().len());
        self.requests.borrow_mut().push(request);
        async move {
            let Some((status, headers, body)) = answer else {
                return futures::future::pending().await;
            };
            let headers = headers
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect();
            Ok(HttpResponse {
                status,
                headers,
                body,
            })
        }
        .boxed_local()
    }
}

struct Bench {
    host: VirtualHost,
    transport: Rc<Fake>,
    registry: ModelRegistry,
}

impl Bench {
    fn new(key_secret: Json, answers: impl Fn(usize) -> Answer + 'static) -> Self {
        let host = VirtualHost::new();
        let config = json!({ "p": { "api": "openai-completions", "baseUrl": "http://llm/v1", "keySecret": key_secret,
            "models": { "m": { "id": "wire-m" } } } });
        let catalog = Rc::new(Catalog::from_config(&config, "providers").expect("a valid configuration"));
        let transport = Rc::new(Fake {
            answers: Box::new(answers),
            requests: RefCell::default(),
        });
        let secrets = Rc::new(|name: &str| (name == "KEY").then(|| "sk-1".to_owned()));
        let registry = ModelRegistry::new(catalog, transport.clone(), Rc::new(host.clone()), secrets);
        Self {
            host,
            transport,
            registry,
        }
    }

    fn request(&self, options: Json) -> StreamRequest {
        StreamRequest {
            model: self.registry.model("p", "m").expect("a model"),
            messages: vec![Message::user("hi", 1)],
            options: options.to_typed::<StreamOptions>().expect("options"),
            purpose: RequestPurpose::Answer,
            ordinal: 1,
            signal: AbortSignal::default(),
        }
    }

    fn ask(&self, options: Json) -> (Vec<StreamEvent>, AssistantMessage) {
        let events: Vec<StreamEvent> = self
            .host
            .run(self.registry.stream(self.request(options)).collect());
        let message = events
            .last()
            .cloned()
            .and_then(StreamEvent::into_terminal)
            .expect("a terminal event");
        (events, message)
    }

    fn elapsed(&self) -> u64 {
        self.host.now() - START
    }
}

fn chunk(content: &str, finish: Json) -> Vec<u8> {
    format!("data: {{\"model\":\"wire-m\",\"choices\":[{{\"delta\":{{\"content\":{content}}},\"finish_reason\":{finish}}}]}}\n\n")
        .into_bytes()
}

fn pieces(pieces: Vec<Vec<u8>>) -> Body {
    stream::iter(pieces.into_iter().map(Ok)).boxed_local()
}

fn ok(body: Body) -> Answer {
    Some((200, Vec::new(), body))
}

#[test]
fn keys_are_sent_missing_or_unneeded() {
    let answer = |_| ok(pieces(vec![chunk("\"x\"", json!("stop"))]));
    let header = |bench: &Bench| {
        let requests = bench.transport.requests.borrow();
        let found = requests
            .first()
            .and_then(|request| request.headers.iter().find(|(name, _)| name == "authorization"));
        found.map(|(_, value)| value.clone())
    };
    let keyed = Bench::new(json!("KEY"), answer);
    assert_eq!(keyed.ask(json!({})).1.text(), "x");
    assert_eq!(header(&keyed).as_deref(), Some("Bearer sk-1"));
    let open = Bench::new(json!(null), answer);
    assert_eq!(
        (open.ask(json!({})).1.text().as_str(), header(&open)),
        ("x", None)
    );
    let missing = Bench::new(json!("OTHER"), answer);
    let (events, message) = missing.ask(json!({}));
    assert_eq!(
        (events.len(), message.error_message.as_deref()),
        (1, Some("No API key for provider: p"))
    );
    let owned = missing
        .ask(json!({ "headers": { "Authorization": "Basic x" } }))
        .1;
    assert_eq!(owned.stop_reason, StopReason::Stop);
}

#[test]
fn messages_name_the_catalog_key_and_the_wire_names_the_wire_id() {
    let bench = Bench::new(json!(null), |_| ok(pieces(vec![chunk("\"x\"", json!("stop"))])));
    let (_, message) = bench.ask(json!({}));
    assert_eq!(
        (message.model.as_str(), message.response_model.as_deref()),
        ("m", None)
    );
    let body = Json::parse(
        &String::from_utf8_lossy(&bench.transport.requests.borrow()[0].body),
        128,
    )
    .expect("JSON");
    assert_eq!(body.get("model"), Some(&json!("wire-m")));
}

#[test]
fn silence_ends_a_request() {
    let bench = Bench::new(json!(null), |_| None);
    let (events, message) = bench.ask(json!({}));
    assert_eq!(
        (events.len(), message.error_message.as_deref()),
        (1, Some("Request timed out."))
    );
    assert_eq!(bench.elapsed(), 600_000);
    let stalled = |_| {
        let first = stream::iter([Ok(chunk("\"par\"", json!(null)))]);
        ok(first.chain(stream::pending()).boxed_local())
    };
    let bench = Bench::new(json!(null), stalled);
    let (_, message) = bench.ask(json!({}));
    assert_eq!(
        (message.text().as_str(), message.stop_reason, bench.elapsed()),
        ("par", StopReason::Error, 120_000)
    );
    assert!(is_retryable_assistant_error(&message));
    let bench = Bench::new(json!(null), stalled);
    bench.ask(json!({ "timeoutMs": 500 }));
    assert_eq!(bench.elapsed(), 500);
}

#[test]
fn keep_alives_count_as_life() {
    let host = Rc::new(RefCell::new(None::<VirtualHost>));
    let clock = Rc::clone(&host);
    let bench = Bench::new(json!(null), move |_| {
        let host = clock.borrow().clone().expect("a host");
        let beat = move |index: u64| {
            let host = host.clone();
            async move {
                host.sleep_until(START + (index + 1) * 100_000).await;
                Ok(if index < 5 {
                    b": keep-alive\n\n".to_vec()
                } else {
                    chunk("\"x\"", json!("stop"))
                })
            }
        };
        ok(stream::iter(0..6u64).then(beat).boxed_local())
    });
    *host.borrow_mut() = Some(bench.host.clone());
    assert_eq!(
        (bench.ask(json!({})).1.text().as_str(), bench.elapsed()),
        ("x", 600_000)
    );
}

#[test]
fn repeats_follow_what_the_server_asks() {
    let refusing = |headers: Vec<(&'static str, &'static str)>, status: u16| {
        Bench::new(json!(null), move |index| match index {
            0 | 1 => Some((
                status,
                headers.clone(),
                pieces(vec![b"{\"error\":{\"message\":\"slow\"}}".to_vec()]),
            )),
            _ => ok(pieces(vec![chunk("\"x\"", json!("stop"))])),
        })
    };
    let twice = json!({ "maxRetries": 2 });
    let after = refusing(vec![("Retry-After", "3")], 429);
    assert_eq!(
        (after.ask(twice.clone()).1.text().as_str(), after.elapsed()),
        ("x", 6_000)
    );
    let dated = refusing(vec![("retry-after", "Thu, 09 Oct 2025 08:53:22 GMT")], 503);
    assert_eq!(
        (dated.ask(twice.clone()).1.text().as_str(), dated.elapsed()),
        ("x", 2_000)
    );
    let plain = refusing(vec![], 500);
    assert_eq!(plain.ask(twice.clone()).1.text(), "x");
    assert!((1_100..=1_500).contains(&plain.elapsed()), "{}", plain.elapsed());
    let client = refusing(vec![], 400);
    assert_eq!(
        client.ask(twice.clone()).1.error_message.as_deref(),
        Some("400: {\"message\":\"slow\"}")
    );
    let told = refusing(vec![("x-should-retry", "false")], 500);
    assert_eq!(told.ask(twice).1.stop_reason, StopReason::Error);
    let once = refusing(vec![], 429);
    let message = once.ask(json!({})).1;
    assert_eq!(
        (
            once.transport.requests.borrow().len(),
            is_retryable_assistant_error(&message)
        ),
        (1, true)
    );
    let long = refusing(vec![("retry-after", "90.5")], 429);
    let message = long.ask(json!({ "maxRetries": 1 })).1;
    let expected = "Server requested 91s retry delay (max: 60s). 429: {\"message\":\"slow\"}";
    assert_eq!(
        (message.error_message.as_deref(), long.elapsed()),
        (Some(expected), 0)
    );
}

#[test]
fn halves_of_characters_meet_across_chunks() {
    let body = || {
        pieces(vec![
            chunk("\"a\\ud83d\"", json!(null)),
            chunk("\"\\ude48b\\ud800\"", json!("stop")),
        ])
    };
    let bench = Bench::new(json!(null), move |_| ok(body()));
    let (events, message) = bench.ask(json!({}));
    assert_eq!(message.text(), "a🙈b\u{fffd}");
    let deltas: String = events
        .iter()
        .filter_map(|event| match event {
            StreamEvent::TextDelta { delta, .. } => Some(delta.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(deltas, "a🙈b\u{fffd}");
}

#[test]
fn halves_in_tool_arguments_meet_or_are_replaced() {
    let call = |arguments: &str| {
        let entry =
            format!("{{\"index\":0,\"id\":\"c\",\"function\":{{\"name\":\"t\",\"arguments\":{arguments}}}}}");
        format!("data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{entry}]}},\"finish_reason\":\"tool_calls\"}}]}}\n\n").into_bytes()
    };
    let body = move || {
        pieces(vec![
            call(r#""{\"a\":\"\ud83d""#),
            call(r#""\ude48\",\"b\":\"\\ud83d\"}""#),
        ])
    };
    let bench = Bench::new(json!(null), move |_| ok(body()));
    let (_, message) = bench.ask(json!({}));
    let call = message.tool_calls().next().expect("a call");
    assert_eq!(call.arguments, json!({ "a": "🙈", "b": "\u{fffd}" }));
}

#[test]
fn an_abort_ends_a_wait_for_headers_and_for_pieces() {
    for stalls_at in [0, 1] {
        let bench = Bench::new(json!(null), move |_| match stalls_at {
            0 => None,
            _ => ok(stream::iter([Ok(chunk("\"par\"", json!(null)))])
                .chain(stream::pending())
                .boxed_local()),
        });
        let controller = AbortController::new();
        let mut request = bench.request(json!({}));
        request.signal = controller.signal();
        let events = bench.registry.stream(request).collect::<Vec<_>>();
        let abort = bench
            .host
            .sleep_until(START + 50)
            .map(|()| controller.abort("test"));
        let (events, ()) = bench.host.run(futures::future::join(events, abort));
        let message = events
            .last()
            .cloned()
            .and_then(StreamEvent::into_terminal)
            .expect("a terminal event");
        assert_eq!((message.stop_reason, bench.elapsed()), (StopReason::Aborted, 50));
        let texts = ["Request aborted", "Request was aborted"];
        assert_eq!(message.error_message.as_deref(), Some(texts[stalls_at]));
    }
}

#[test]
fn a_long_answer_stays_linear() {
    let count = Rc::new(Cell::new(0usize));
    let produced = Rc::clone(&count);
    let bench = Bench::new(json!(null), move |_| {
        let produced = Rc::clone(&produced);
        let deltas = stream::iter(0..100_000).map(move |_| {
            produced.set(produced.get() + 1);
            Ok(chunk(
                "\"fifty bytes of text, more or less, in every delta \"",
                json!(null),
            ))
        });
        ok(deltas
            .chain(stream::iter([Ok(chunk("\"\"", json!("stop")))]))
            .boxed_local())
    });
    let mut partial = Partial::new();
    bench
        .host
        .run(bench.registry.stream(bench.request(json!({}))).for_each(|event| {
            partial.apply(&event);
            futures::future::ready(())
        }));
    assert_eq!(partial.into_message().expect("a message").text().len(), 5_000_000);
    let flood = Bench::new(json!(null), |_| {
        let piece = format!("\"{}\"", "x".repeat(1_000_000));
        ok(stream::iter(0..40)
            .map(move |_| Ok(chunk(&piece, json!(null))))
            .boxed_local())
    });
    assert_eq!(flood.ask(json!({})).1.stop_reason, StopReason::Error);
}

#[test]
fn nonsense_ends_in_an_error_never_in_a_panic() {
    let bodies: [&[u8]; 10] = [
        b"<html>not a stream</html>",
        b"data: [1,2\n\n",
        b"data: 7\n\ndata: \"x\"\n\ndata: []\n\n",
        b"data: {\"choices\":{\"0\":1}}\n\n",
        b"data: {\"choices\":[null]}\n\ndata: {\"choices\":[7]}\n\n",
        b"data: {\"choices\":[{\"delta\":{\"tool_calls\":[null,7,{},{\"function\":7},{\"index\":-1}]}}]}\n\n",
        b"data: {\"choices\":[{\"delta\":{\"content\":7,\"reasoning\":[],\"reasoning_details\":[{}]}}]}\n\n",
        b"data: {\"usage\":{\"prompt_tokens\":-5,\"completion_tokens\":1e300},\"choices\":[{}]}\n\n",
        b"data: {\"error\":{\"message\":{\"a\":1}}}\n\n",
        b"\xff\xfe\x00\n\n\r\r\n",
    ];
    for body in bodies {
        let bench = Bench::new(json!(null), move |_| ok(pieces(vec![body.to_vec()])));
        let (_, message) = bench.ask(json!({}));
        assert_eq!(
            message.stop_reason,
            StopReason::Error,
            "{}",
            String::from_utf8_lossy(body)
        );
        assert!(message.error_message.is_some());
    }
    let deep = format!("data: {}\n\n", "[".repeat(100_000)).into_bytes();
    let bench = Bench::new(json!(null), move |_| ok(pieces(vec![deep.clone()])));
    assert_eq!(bench.ask(json!({})).1.stop_reason, StopReason::Error);
}
