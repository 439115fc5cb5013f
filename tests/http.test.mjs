// The transport: what the Worker answers before any session is involved.

import assert from "node:assert/strict";
import { createHash, createHmac } from "node:crypto";
import { once } from "node:events";
import net from "node:net";
import test from "node:test";
import { request, sessionClient } from "./support/http.mjs";
import { eventually, serverFor, stateFolder, withTimeout } from "./support/process.mjs";
import { objectsIn } from "./support/state.mjs";

const sha256 = (text) => createHash("sha256").update(text).digest("hex");

const tokens = [
  { sha256: sha256("alpha"), project: "a", scopes: ["call", "read", "transcript", "write", "admin"] },
  { sha256: sha256("beta"), project: "b", scopes: ["call", "read", "transcript", "write", "admin"] },
  { sha256: sha256("reader"), project: "a", scopes: ["read"] },
];

function jwt(claims, secret = "key") {
  const encode = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${encode({ alg: "HS256", typ: "JWT" })}.${encode(claims)}`;
  return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
}

function refused(answer, status, code) {
  assert.deepEqual([answer.status, answer.json?.error?.code], [status, code], answer.text);
  assert.equal(typeof answer.json.error.message, "string");
  assert.match(answer.headers.get("x-request-id"), /^[0-9a-f]{32}$/);
}

test("tokens, scopes, projects", async (context) => {
  const state = await stateFolder(context);
  const vars = { TIDEHOLD_TOKENS: JSON.stringify(tokens), TIDEHOLD_JWT_SECRET: "key" };
  const server = await serverFor(context, { state, vars });
  const as = (token, session = "s") => sessionClient(server, session, { token });

  refused(await as(undefined).get(""), 401, "unauthenticated");
  const unknown = await as("gamma").get("");
  refused(unknown, 401, "unauthenticated");
  assert.equal(unknown.headers.get("www-authenticate"), "Bearer");
  refused(await as("reader").get("/conversations/root/entries"), 403, "scope_missing");
  refused(await as("reader").post("/conversations"), 403, "scope_missing");
  refused(await as("reader").get(""), 404, "not_found");

  const exp = Math.floor(Date.now() / 1000) + 60;
  refused(await as(jwt({ project: "a", scope: "read", exp })).get(""), 404, "not_found");
  refused(await as(jwt({ project: "a", scope: "read", exp: 1 })).get(""), 401, "unauthenticated");
  refused(await as(jwt({ project: "a", scope: "read", exp }, "other")).get(""), 401, "unauthenticated");

  // Reading what never existed leaves nothing behind. The runtime makes an empty file for an object that was asked.
  await server.kill();
  for (const object of await objectsIn(state)) {
    assert.deepEqual([object.tables, object.alarm], [[], false]);
  }
});

test("nothing configured", async (context) => {
  const server = await serverFor(context);
  refused(await sessionClient(server, "s", { token: "alpha" }).get(""), 503, "auth_not_configured");
  assert.equal((await request("GET", `${server.url}/healthz`)).status, 200);
});

test("what tasks work on is for the scope that reads transcripts", async (context) => {
  const server = await serverFor(context, { vars: { TIDEHOLD_TOKENS: JSON.stringify(tokens) } });
  const [owner, reader] = ["alpha", "reader"].map((token) => sessionClient(server, "s", { token }));
  const input = (content) => owner.post("/conversations/root/submissions", { type: "input", content });
  const key = "sk-0123456789abcdefghij";
  const failed = await input(`@fail 400 no such key ${key}`);
  const settled = await reader.get(`/submissions/${failed.json.id}?wait=30`);
  assert.equal(settled.json.status, "unanswered", settled.text);
  assert.match(settled.text, /no such key \[REDACTED\]/);

  await input("@defer 600000\n@say wordless");
  const parked = async (client) => (await client.get("/tasks")).json.items.find(({ state }) => state.kind === "waiting");
  // Both of one poll: each moves the task on.
  const [whole, task] = await eventually(async () => {
    const [whole, task] = [await parked(owner), await parked(reader)];
    return whole && whole.state.until === task?.state.until && [whole, task];
  });
  const { checkpoint, ...state } = whole.record.state;
  assert.match(JSON.stringify(checkpoint), /wordless/);
  assert.deepEqual([task.record.id, task.record.kind, task.state], [whole.record.id, "pi.generation", whole.state]);
  const { phase, attempt, pollAt } = checkpoint;
  assert.deepEqual(task.record.state, { ...state, phase, attempt, pollAt });
  for (const path of ["", "/tasks", `/tasks/${task.record.id}`]) {
    const shown = await reader.get(path);
    assert.equal(shown.status, 200, shown.text);
    assert.doesNotMatch(shown.text, /wordless|checkpoint|"input":|memos/);
  }
  assert.match((await owner.get(`/tasks/${task.record.id}`)).text, /wordless/);
});

test("the rate limit", async (context) => {
  const config = {
    providers: { scripted: { api: "scripted", models: { echo: {} } } },
    harnesses: { default: { model: "scripted/echo" } },
    limits: { requestsPerMinute: 3 },
  };
  const vars = { TIDEHOLD_TOKENS: JSON.stringify(tokens), TIDEHOLD_CONFIG: JSON.stringify(config) };
  const server = await serverFor(context, { vars });
  const get = (token, session = "s") => sessionClient(server, session, { token }).get("");
  for (let i = 0; i < 3; i += 1) refused(await get("alpha"), 404, "not_found");
  const limited = await get("alpha");
  refused(limited, 429, "rate_limited");
  assert.ok(Number(limited.headers.get("retry-after")) >= 1);
  // Each session has its own, and so has each project.
  refused(await get("alpha", "t"), 404, "not_found");
  refused(await get("beta"), 404, "not_found");
});

test("in dev mode", async (context) => {
  const server = await serverFor(context, { devVars: true });
  const client = sessionClient(server, "s");

  await context.test("health and the OpenAPI document need no token", async () => {
    const health = await request("GET", `${server.url}/healthz`);
    assert.deepEqual([health.status, health.json.status], [200, "ok"]);
    const document = await request("GET", `${server.url}/openapi.json`);
    assert.equal(document.json.openapi, "3.1.0");
    assert.ok(document.json.paths["/v1/sessions/{session}/tools/{tool}"].post);
  });

  await context.test("any token, or none, is project dev", async () => {
    refused(await client.get(""), 404, "not_found");
    refused(await sessionClient(server, "s", { token: "anything" }).get(""), 404, "not_found");
  });

  await context.test("paths and methods", async () => {
    refused(await request("GET", `${server.url}/v1/nothing`), 404, "not_found");
    refused(await request("GET", `${server.url}/v1/sessions/a%20b`), 404, "not_found");
    refused(await request("GET", `${server.url}/v1/sessions/${"a".repeat(129)}`), 404, "not_found");
    refused(await client.get("/conversations/main/entries"), 404, "not_found");
    const refusal = await client.call("PUT", "/conversations");
    refused(refusal, 405, "method_not_allowed");
    assert.equal(refusal.headers.get("allow"), "GET, POST");
  });

  await context.test("parameters", async () => {
    for (const query of ["limit=0", "limit=501", "limit=x", "order=up"]) {
      refused(await client.get(`/conversations/root/entries?${query}`), 400, "parameter_invalid");
    }
    refused(await client.get("/submissions/2?wait=-1"), 400, "parameter_invalid");
    refused(await client.get("/submissions/2?wait=soon"), 400, "parameter_invalid");
  });

  await context.test("bodies", async () => {
    const post = (body, headers) => client.post("/conversations/root/submissions", body, headers);
    refused(await post("{"), 400, "json_invalid");
    refused(await post(`${"[".repeat(129)}${"]".repeat(129)}`), 400, "json_invalid");
    refused(await post('{"text": "\\ud83d"}'), 400, "text_invalid");
    refused(await post(Buffer.from([0x22, 0xff, 0x22])), 400, "text_invalid");
    refused(await post("{}", { "content-type": "text/plain" }), 415, "media_type_unsupported");
    refused(await post("{}", { "content-encoding": "gzip" }), 415, "media_type_unsupported");
    refused(await post(`"${"x".repeat(4 * 1024 * 1024)}"`), 413, "body_too_large");
    refused(await client.post("/tools/external_delegate", `"${"x".repeat(1_572_864)}"`), 413, "body_too_large");
  });

  await context.test("a body without an announced length is bounded while it is read", async () => {
    const chunks = Array.from({ length: 24 }, () => new Uint8Array(256 * 1024).fill(0x20));
    const response = await fetch(`${client.base}/conversations`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: ReadableStream.from(chunks),
      duplex: "half",
    });
    assert.equal(response.status, 413);
  });
});

test("a refusal waits for its body a moment and no longer", { concurrency: true }, async (context) => {
  const vars = { TIDEHOLD_TOKENS: JSON.stringify(tokens) };
  const server = await serverFor(context, { vars });
  const conversations = "/v1/sessions/s/conversations";
  const json = "content-type: application/json";
  const stalled = {
    "without a token": [conversations, [json], 401],
    "without the scope": [conversations, [json, "authorization: Bearer reader"], 403],
    "without such a route": ["/v1/nothing", [json], 404],
    "of another type": [conversations, ["content-encoding: gzip", "authorization: Bearer alpha"], 415],
    "announced too large": [conversations, [json, "authorization: Bearer alpha", "content-length: 9999999"], 413],
  };
  for (const [how, [path, headers, status]] of Object.entries(stalled)) {
    await context.test(`${how}, one byte of the body and then nothing`, async () => {
      assert.match(await statusOfStalled(server, path, headers), new RegExp(`^HTTP/1.1 ${status} `));
    });
  }
  await context.test("a client that sends it all reads the answer", async () => {
    const body = `"${"x".repeat(3 * 1024 * 1024)}"`;
    for (let round = 0; round < 5; round += 1) {
      refused(await sessionClient(server, "s", { token: "gamma" }).post("/conversations", body), 401, "unauthenticated");
    }
    refused(await request("POST", `${server.url}/v1/nothing`, { body }), 404, "not_found");
  });
});

/** The status line that answers a POST of which one byte of the body is sent. */
async function statusOfStalled(server, path, headers) {
  const { hostname, port } = new URL(server.url);
  const socket = net.connect(Number(port), hostname);
  try {
    const announced = headers.some((header) => header.startsWith("content-length"));
    const framing = announced ? [] : ["transfer-encoding: chunked"];
    const head = [`POST ${path} HTTP/1.1`, `host: ${hostname}`, ...headers, ...framing].join("\r\n");
    socket.write(`${head}\r\n\r\n${announced ? "{" : "1\r\n{\r\n"}`);
    const [chunk] = await withTimeout(once(socket, "data"), 20_000, () => "no answer");
    return chunk.toString("latin1");
  } finally {
    socket.destroy();
  }
}

test("a broken configuration", async (context) => {
  const server = await serverFor(context, { devVars: true, vars: { TIDEHOLD_CONFIG: '{"providers": {"a": 1}}' } });
  const answer = await sessionClient(server, "s").get("");
  refused(answer, 503, "configuration_invalid");
  assert.match(answer.json.error.message, /^providers\.a: /);
  assert.equal((await request("GET", `${server.url}/healthz`)).status, 200);
});

test("other origins", async (context) => {
  const config = {
    providers: { scripted: { api: "scripted", models: { echo: {} } } },
    harnesses: { default: { model: "scripted/echo" } },
    cors: { origins: ["https://app.example"] },
  };
  const server = await serverFor(context, { devVars: true, vars: { TIDEHOLD_CONFIG: JSON.stringify(config) } });
  const from = async (method, origin, headers = {}) => {
    const answer = await request(method, `${server.url}/v1/sessions/s`, { headers: { origin, ...headers } });
    return [answer.status, answer.headers.get("access-control-allow-origin")];
  };
  const preflight = { "access-control-request-method": "GET" };
  assert.deepEqual(await from("GET", "https://app.example"), [404, "https://app.example"]);
  assert.deepEqual(await from("GET", "https://evil.example"), [404, null]);
  assert.deepEqual(await from("OPTIONS", "https://app.example", preflight), [204, "https://app.example"]);
});
