// Sessions over HTTP: exactly-once submissions, large and odd text, streams, isolation, deletion.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import test from "node:test";
import { request, sessionClient } from "./support/http.mjs";
import { serverFor, sleep } from "./support/process.mjs";
import { nextEvent, openEvents } from "./support/sse.mjs";
import { objectsIn } from "./support/state.mjs";

const submit = (client, body) => client.post("/conversations/root/submissions", { type: "input", ...body });

async function settled(client, id) {
  for (let asked = 0; asked < 5; asked += 1) {
    const record = await client.get(`/submissions/${id}?wait=30`);
    assert.equal(record.status, 200, record.text);
    if (!["queued", "placed"].includes(record.json.status)) return record.json;
  }
  throw new Error(`submission ${id} did not settle`);
}

/** Every entry of a conversation, oldest first, over as many pages as it takes. */
async function entriesOf(client, conversation, limit = 500) {
  const entries = [];
  let cursor = "";
  do {
    const page = await client.get(`/conversations/${conversation}/entries?order=ascending&limit=${limit}${cursor}`);
    assert.equal(page.status, 200, page.text);
    entries.push(...page.json.items);
    cursor = page.json.next ? `&cursor=${page.json.next}` : undefined;
  } while (cursor);
  return entries;
}

const textOf = (entry) => {
  const { content } = entry.model[0];
  return typeof content === "string" ? content : content.map((block) => block.text ?? "").join("");
};

test("sessions in dev mode", async (context) => {
  const server = await serverFor(context, { devVars: true });

  await context.test("two hundred submissions with ten request ids are ten", async () => {
    const client = sessionClient(server, "many");
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, n) => submit(client, { content: `input ${n % 10}`, requestId: `r${n % 10}` })),
    );
    assert.deepEqual(new Set(answers.map((answer) => answer.status)), new Set([202]));
    const ids = new Set(answers.map((answer) => answer.json.id));
    assert.equal(ids.size, 10);
    for (const id of ids) assert.equal((await settled(client, id)).status, "done");
    const users = (await entriesOf(client, "root")).filter((entry) => entry.kind === "pi.user");
    assert.deepEqual(users.map(textOf).sort(), Array.from({ length: 10 }, (_, n) => `input ${n}`));
    const conflict = await submit(client, { content: "another", requestId: "r1" });
    assert.deepEqual([conflict.status, conflict.json.error.code], [409, "request_conflict"]);
  });

  await context.test("a text of 1.4 MB and an answer of 5 MB are stored, paged and read back byte for byte", async () => {
    const client = sessionClient(server, "large");
    const text = "Große Flut \u{1F30A} ".repeat(84_000);
    assert.ok(Buffer.byteLength(text) > 1_400_000);
    const echoed = await submit(client, { content: text });
    assert.equal(echoed.status, 202, echoed.text);
    assert.equal((await settled(client, echoed.json.id)).status, "done");
    const long = await submit(client, { content: "@repeat 500000 tide waves" });
    assert.equal((await settled(client, long.json.id)).status, "done");
    const entries = await entriesOf(client, "root", 3);
    const answers = entries.filter((entry) => entry.kind === "pi.assistant").map(textOf);
    assert.deepEqual([answers[0] === text, textOf(entries[0]) === text], [true, true]);
    const answer = Array(500_000).fill("tide waves").join(" ");
    assert.equal(Buffer.byteLength(answer), 5_499_999);
    assert.ok(answers[1] === answer, "the long answer differs");
    assert.equal((await client.get("")).json.alarm, null);
  });

  await context.test("every odd character survives, and half characters are refused", async () => {
    const client = sessionClient(server, "odd");
    const c0 = Array.from({ length: 32 }, (_, n) => String.fromCharCode(n)).join("");
    const text = `${c0}\u007f e\u0301 \u{1F469}\u200d\u{1F4BB} \u202e\ufeff \u{10FFFF} "\\`;
    const accepted = await submit(client, { content: text });
    assert.equal((await settled(client, accepted.json.id)).status, "done");
    assert.deepEqual((await entriesOf(client, "root")).map(textOf), [text, text]);
    for (const half of ['"\\ud83d"', '"x\\udc00y"']) {
      const refused = await client.post("/conversations/root/submissions", `{"type":"input","content":${half}}`);
      assert.deepEqual([refused.status, refused.json.error.code], [400, "text_invalid"], refused.text);
    }
  });

  await context.test("the folded stream equals a fresh snapshot at fifty cut points", async () => {
    const client = sessionClient(server, "fold");
    await settled(client, (await submit(client, { content: "first" })).json.id);
    const url = `${client.base}/conversations/root/events`;
    const { events, close } = await openEvents(url);
    const snapshots = new Map();
    const folded = new Map();
    const fold = new Fold();
    const reading = (async () => {
      for (;;) {
        const { event, id, data } = await nextEvent(events).catch(() => ({ event: "gone" }));
        if (event === "gone") return;
        event === "snapshot" ? fold.snapshot(data) : data.forEach((one) => fold.event(one));
        folded.set(id, fold.essence());
      }
    })();
    const script = "@pace 20\n@think pondering the tide \n@say Hello \n@repeat 90 wave\n@usage 5 6";
    const ids = [];
    for (const content of [script, "@fail 500 down\n@pace 20\n@repeat 40 again", "@call x {}\n---\n@say end", script]) {
      ids.push((await submit(client, { content })).json.id);
    }
    const reset = client.post("/conversations/root/reset", { handoff: "the story so far" });
    assert.equal((await reset).status, 202);
    for (let cut = 0; cut < 50; cut += 1) {
      await sleep(30 + Math.random() * 120);
      const fresh = await request("GET", url, { headers: { accept: "application/json" } });
      const snapshot = new Fold();
      snapshot.snapshot(fresh.json.snapshot);
      snapshots.set(fresh.json.id, snapshot.essence());
    }
    for (const id of ids) assert.equal((await settled(client, id)).status, "done");
    await sleep(300);
    close();
    await reading;
    let compared = 0;
    for (const [id, essence] of snapshots) {
      // A commit of another kind has no frame here; the newest frame before it is what a reader holds then.
      const seq = (key) => Number(key.split("-")[1]);
      const held = [...folded.keys()].filter((key) => seq(key) <= seq(id)).pop();
      assert.deepEqual(folded.get(held), essence, `at ${id}`);
      compared += 1;
    }
    assert.ok(compared >= 20, `${compared} different cuts`);
  });

  await context.test("streams resume exactly, and positions that never were are gone", async () => {
    const client = sessionClient(server, "resume");
    const accepted = await submit(client, { content: "one" });
    await settled(client, accepted.json.id);
    const url = `${client.base}/conversations/root/events`;
    const { id } = (await request("GET", url, { headers: { accept: "application/json" } })).json;
    const { events, close } = await openEvents(url, { after: id });
    await submit(client, { content: "two" });
    const first = await nextEvent(events);
    assert.equal(first.event, "batch");
    assert.ok(first.data.some(({ type }) => type === "run_start"));
    close();
    const [incarnation, seq] = id.split("-");
    for (const after of [`${incarnation}-${Number(seq) + 100_000}`, `0000-${seq}`, "nonsense", `${incarnation}-x`]) {
      const gone = await request("GET", `${url}?after=${after}`, { headers: { accept: "text/event-stream" } });
      assert.deepEqual([gone.status, gone.json.error.code], [416, "stream_cursor_gone"], gone.text);
      assert.match(gone.json.error.head, /^[0-9a-f]+-\d+$/);
    }
  });

  await context.test("a reader that stops reading slows nobody, and catches up with a snapshot", async () => {
    const client = sessionClient(server, "slow-reader");
    await settled(client, (await submit(client, { content: "first" })).json.id);
    const url = `${client.base}/conversations/root/events`;
    const { events, close } = await openEvents(url);
    const fold = new Fold();
    fold.snapshot((await nextEvent(events)).data);
    // Nothing reads the stream here, and this is more than the sockets between hold.
    const runs = 40;
    for (let run = 0; run < runs; run += 1) {
      const { json } = await submit(client, { content: `${run} ${"wave".repeat(100_000)}` });
      assert.equal((await settled(client, json.id)).status, "done");
    }
    const fresh = new Fold();
    fresh.snapshot((await request("GET", url, { headers: { accept: "application/json" } })).json.snapshot);
    const seen = { batch: 0, snapshot: 0 };
    while (fold.state.entries.length < fresh.state.entries.length || fold.state.run) {
      const { event, data } = await nextEvent(events);
      seen[event] += 1;
      event === "snapshot" ? fold.snapshot(data) : data.forEach((one) => fold.event(one));
    }
    close();
    assert.deepEqual(fold.essence(), fresh.essence());
    // What it missed was dropped, not kept for it: a run has at least three frames.
    assert.ok(seen.snapshot >= 1 && seen.batch < 3 * runs, JSON.stringify(seen));
  });

  await context.test("a deleted session is another one afterwards", async () => {
    const client = sessionClient(server, "gone");
    const accepted = await submit(client, { content: "@pace 100\n@repeat 100 tide" });
    const before = (await client.get("")).json.incarnation;
    const { events } = await openEvents(`${client.base}/conversations/root/events`);
    assert.equal((await nextEvent(events)).event, "snapshot");
    assert.equal((await client.call("DELETE", "")).status, 204);
    const end = await nextEvent(events, (event) => event.event === "end");
    assert.deepEqual(end.data, { reason: "deleted" });
    assert.equal((await events.next()).done, true);
    assert.equal((await client.get("")).status, 404);
    assert.equal((await client.get(`/submissions/${accepted.json.id}`)).status, 404);
    assert.equal((await client.call("DELETE", "")).status, 204);
    await submit(client, { content: "anew" });
    const after = (await client.get("")).json.incarnation;
    assert.notEqual(after, before);
    const stale = await request("POST", `${client.base}/conversations/root/submissions`, {
      body: { type: "input", content: "x" },
      headers: { "if-incarnation": before },
    });
    assert.deepEqual([stale.status, stale.json.error.code], [409, "incarnation_changed"]);
  });

  await context.test("a session is deleted under everyone who waits in it", async () => {
    const client = sessionClient(server, "gone-busy");
    const accepted = await submit(client, { content: "@wait 60000" });
    const opened = await Promise.all([1, 2].map(() => openEvents(`${client.base}/conversations/root/events`)));
    for (const { events } of opened) assert.equal((await nextEvent(events)).event, "snapshot");
    const waiters = [1, 2].map(() => client.get(`/submissions/${accepted.json.id}?wait=30`));
    const call = fetch(`${client.base}/tools/external_delegate`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ role: "worker", description: "d", prompt: "@wait 60000" }),
    });
    const body = (await call).text().then((text) => text.trim(), () => "");
    const before = (await client.get("")).json.incarnation;
    const deletions = await Promise.all([1, 2, 3].map(() => client.call("DELETE", "")));
    assert.deepEqual(deletions.map(({ status, text }) => [status, text]), Array(3).fill([204, ""]));
    for (const waiter of await Promise.all(waiters)) {
      assert.deepEqual([waiter.status, waiter.json.error.code], [404, "not_found"], waiter.text);
    }
    for (const { events } of opened) {
      assert.deepEqual((await nextEvent(events, ({ event }) => event === "end")).data, { reason: "deleted" });
      assert.equal((await events.next()).done, true);
    }
    const receipt = JSON.parse(await body).structuredContent;
    assert.deepEqual([receipt.ok, receipt.error.code], [false, "session_closed"]);
    assert.equal((await client.get("")).status, 404);
    assert.equal((await submit(client, { content: "anew" })).status, 202);
    assert.notEqual((await client.get("")).json.incarnation, before);
    assert.equal((await entriesOf(client, "root")).filter(({ kind }) => kind === "pi.user").length, 1);
  });

  await context.test("every call that writes names the head, and one that wrote nothing names none", async () => {
    const client = sessionClient(server, "heads");
    const delegate = (args) => client.post("/tools/external_delegate", { role: "worker", description: "d", ...args });
    const refused = await delegate({ role: "nobody", prompt: "x" });
    assert.deepEqual([refused.json.isError, refused.headers.has("x-stream-id")], [true, false]);
    assert.equal((await client.get("")).status, 404);
    for (const background of [true, false]) {
      const answer = await delegate({ prompt: "hello", background });
      const { incarnation } = (await client.get("")).json;
      const [, seq] = answer.headers.get("x-stream-id")?.split(`${incarnation}-`) ?? [];
      assert.match(seq ?? "no head", /^[0-9]+$/);
      // Where the launch is, the run is still to come.
      const { conversationId } = answer.json.structuredContent.data.run;
      const { events, close } = await openEvents(`${client.base}/conversations/${conversationId}/events`);
      const snapshot = await nextEvent(events);
      close();
      assert.ok(Number(snapshot.id.split("-")[1]) >= Number(seq));
    }
  });

  await context.test("runs: foreground, background, waiting, cancelling, listing", async () => {
    const client = sessionClient(server, "runs");
    const empty = await client.tool("external_runs", { action: "list" });
    assert.deepEqual([empty.ok, empty.data.runs, empty.data.workflows], [true, [], []]);
    assert.equal((await client.get("")).status, 404, "asking creates nothing");
    const done = await client.tool("external_delegate", { role: "worker", description: "d", prompt: "hello" });
    assert.deepEqual([done.ok, done.data.run.output.value], [true, "hello"]);
    const failed = await client.tool("external_delegate", { role: "worker", description: "d", prompt: "@fail 400 no" });
    assert.deepEqual([failed.ok, failed.error.code, failed.data.run.state.outcome], [false, "failed", "failed"]);
    const unknown = await client.tool("external_delegate", { role: "nobody", description: "d", prompt: "x" });
    assert.deepEqual([unknown.ok, unknown.error.code, unknown.data.run], [false, "selection_invalid", null]);
    const slow = await client.tool("external_delegate", {
      role: "worker", description: "d", prompt: "@pace 100\n@repeat 600 tide", background: true,
    });
    const { runId } = slow.data.run;
    const cancel = await client.tool("external_runs", { action: "cancel", runIds: [runId] });
    assert.deepEqual(cancel.data, { runId, status: "requested" });
    const waited = await client.tool("external_runs", { action: "wait", runIds: [runId], timeoutMs: 20_000 });
    assert.equal(waited.data.completed[0].state.outcome, "cancelled", JSON.stringify(waited));
    const list = await client.tool("external_runs", { action: "list" });
    assert.deepEqual(list.data.runs.map((run) => run.state.outcome), ["cancelled", "failed", "succeeded"]);
    const wrong = await client.post("/tools/external_delegate", { role: "worker", description: 5 });
    assert.deepEqual([wrong.status, wrong.json.error.code], [422, "arguments_invalid"], wrong.text);
    assert.equal((await client.post("/tools/unknown", {})).status, 404);
  });
});

test("another project's token cannot tell a foreign session from none, and leaves no trace", async (context) => {
  const sha256 = (text) => createHash("sha256").update(text).digest("hex");
  const scopes = ["call", "read", "transcript", "write", "admin"];
  const tokens = ["a", "b"].map((project) => ({ sha256: sha256(project), project, scopes }));
  const server = await serverFor(context, { vars: { TIDEHOLD_TOKENS: JSON.stringify(tokens) } });
  const owner = sessionClient(server, "shared", { token: "a" });
  assert.equal((await submit(owner, { content: "mine" })).status, 202);
  const paths = ["", "/conversations", "/conversations/root/entries", "/submissions/2", "/conversations/root/events"];
  for (const path of paths) {
    const foreign = await sessionClient(server, "shared", { token: "b" }).get(path);
    const absent = await sessionClient(server, "never", { token: "b" }).get(path);
    assert.equal(foreign.status, 404);
    assert.deepEqual([foreign.status, foreign.text], [absent.status, absent.text], path);
  }
  await sleep(500);
  await server.kill();
  const objects = await objectsIn(server.options.state);
  assert.equal(objects.filter((object) => object.tables.length > 0).length, 1);
  assert.ok(objects.every((object) => !object.alarm));
});

/** A client that holds a snapshot and applies every event on top of it. */
class Fold {
  snapshot(data) {
    this.state = structuredClone(data);
  }

  event(event) {
    const { state } = this;
    switch (event.type) {
      case "message_start":
        if (event.message.stopReason === "pending") (state.generation ??= {}).message = structuredClone(event.message);
        break;
      case "message_update":
        state.generation.message.usage = event.usage;
        for (const change of event.changes) this.change(change);
        break;
      case "message_end":
        if (state.generation) delete state.generation.message;
        this.append(event.entry);
        break;
      case "entry_appended": this.append(event.entry); break;
      case "run_start": state.run = { inputs: event.inputs }; break;
      case "run_end": delete state.run; delete state.generation; break;
      case "inbox_update": state.inbox = event.items; break;
      case "agent_changed": state.agent = event.agent; break;
      case "usage_changed": state.usage = event.usage; break;
      default: break;
    }
  }

  /** An entry with a head starts the context anew (docs/http.md). */
  append(entry) {
    const { state } = this;
    if (entry.head === undefined) state.entries.push(entry);
    else state.entries = [entry, ...state.entries.filter(({ id }) => id >= entry.head)];
  }

  change(change) {
    const { message } = this.state.generation;
    const block = message.content[change.contentIndex];
    switch (change.type) {
      case "text_delta": block.text += change.delta; break;
      case "thinking_delta": block.thinking += change.delta; break;
      case "block": message.content[change.contentIndex] = change.block; break;
      case "message": this.state.generation.message = change.message; break;
      default: message.content.splice(change.contentIndex, 0, change.block);
    }
  }

  /** Attempts and waits of a generation travel as events of their own. */
  essence() {
    const { entries, run, inbox, agent, usage, generation } = this.state;
    return structuredClone({ entries, run, inbox, agent, usage, message: generation?.message });
  }
}
