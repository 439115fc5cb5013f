// A run survives SIGKILL of the whole server, and no request is needed to wake it. TIDEHOLD_QUICK=1 keeps the first
// test only.

import assert from "node:assert/strict";
import test from "node:test";
import { sessionClient } from "./support/http.mjs";
import { serverFor, sleep } from "./support/process.mjs";
import { nextEvent, openEvents } from "./support/sse.mjs";

const quick = process.env.TIDEHOLD_QUICK === "1";

const config = (watchdogMs) => ({
  providers: { scripted: { api: "scripted", models: { echo: {} } } },
  harnesses: { default: { model: "scripted/echo" } },
  roles: { worker: { instructions: "Work." } },
  limits: { watchdogMs },
});

/** A background run whose answer takes `words` times `pace` milliseconds. */
async function delegate(client, { words, pace }) {
  const receipt = await client.tool("external_delegate", {
    role: "worker",
    description: "A long answer",
    prompt: `@pace ${pace}\n@repeat ${words} tide`,
    background: true,
  });
  assert.equal(receipt.ok, true, JSON.stringify(receipt));
  return receipt.data.run;
}

/** Resolves in the middle of the first answer: after three committed partials. */
async function untilStreaming(client, run) {
  const { events, close } = await openEvents(`${client.base}/conversations/${run.conversationId}/events`);
  for (let updates = 0; updates < 3; ) {
    const { event, data } = await nextEvent(events);
    if (event === "batch" && data.some(({ type }) => type === "message_update")) updates += 1;
  }
  close();
}

/** The run settled, with its interrupted partials as aborted entries and exactly one final answer. */
async function assertDone(client, run, answer, aborted) {
  const waited = await client.tool("external_runs", { action: "wait", runIds: [run.runId], timeoutMs: 60_000 });
  assert.equal(waited.ok, true, JSON.stringify(waited));
  assert.equal(waited.data.completed[0]?.state.outcome, "succeeded", JSON.stringify(waited));
  const page = await client.get(`/conversations/${run.conversationId}/entries?order=ascending&limit=500`);
  const answers = page.json.items
    .flatMap((entry) => entry.model ?? [])
    .filter((message) => message.role === "assistant");
  const text = (message) => message.content.map((block) => block.text ?? "").join("");
  const finished = answers.filter((message) => message.stopReason === "stop");
  assert.deepEqual(finished.map(text), [answer]);
  const partials = answers.filter((message) => message.stopReason !== "stop");
  assert.deepEqual(new Set(partials.map((message) => message.stopReason)), new Set(aborted ? ["aborted"] : []));
  for (const partial of partials) {
    assert.ok(text(partial).length > 0 && text(partial).length < answer.length && answer.startsWith(text(partial)));
  }
  return partials.length;
}

test("killed while it streams, woken by its alarm", async (context) => {
  const server = await serverFor(context, { devVars: true, vars: { TIDEHOLD_CONFIG: config(2000) } });
  const client = sessionClient(server, "killed");
  const run = await delegate(client, { words: 60, pace: 50 });
  await untilStreaming(client, run);
  await server.restart();
  // Nobody asks; the alarm has to fire, and the answer takes three seconds.
  await sleep(quick ? 8_000 : 12_000);
  const before = Date.now();
  const partials = await assertDone(client, run, Array(60).fill("tide").join(" "), true);
  assert.equal(partials, 1);
  assert.ok(Date.now() - before < 2_000, "the run was only finished when somebody asked");
});

test("with the default watchdog, forty seconds without a request", { skip: quick }, async (context) => {
  const server = await serverFor(context, { devVars: true });
  const client = sessionClient(server, "default");
  const run = await delegate(client, { words: 200, pace: 50 });
  await untilStreaming(client, run);
  await server.restart();
  await sleep(40_000);
  const before = Date.now();
  assert.equal(await assertDone(client, run, Array(200).fill("tide").join(" "), true), 1);
  assert.ok(Date.now() - before < 2_000, "the run was only finished when somebody asked");
});

test("ten kills in one run", { skip: quick }, async (context) => {
  const server = await serverFor(context, { devVars: true, vars: { TIDEHOLD_CONFIG: config(2000) } });
  const client = sessionClient(server, "ten");
  const run = await delegate(client, { words: 40, pace: 50 });
  for (let kill = 0; kill < 10; kill += 1) {
    await sleep(500 + kill * 150);
    await server.restart();
  }
  await assertDone(client, run, Array(40).fill("tide").join(" "), true);
});

test("killed right after a submission was accepted", { skip: quick }, async (context) => {
  const server = await serverFor(context, { devVars: true, vars: { TIDEHOLD_CONFIG: config(2000) } });
  const client = sessionClient(server, "accepted");
  const accepted = await client.post("/conversations/root/submissions", { type: "input", content: "hello tide" });
  assert.equal(accepted.status, 202, accepted.text);
  await server.restart();
  await sleep(8_000);
  const record = await client.get(`/submissions/${accepted.json.id}`);
  assert.equal(record.json.status, "done", record.text);
});
