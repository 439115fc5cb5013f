// Invariant 10: a panic fails its unit, never a neighbour. On the test Worker of tests/panic-worker, which is the
// product's frame and adapters around a session that panics on request.

import assert from "node:assert/strict";
import path from "node:path";
import test from "node:test";
import { request } from "./support/http.mjs";
import { eventually, serverFor, sleep } from "./support/process.mjs";
import { nextEvent, parseEvents } from "./support/sse.mjs";

const folder = path.join(import.meta.dirname, "panic-worker");

const panics = {
  "in a request": async (ask) => {
    const answer = await ask({ name: "panicNow" });
    assert.deepEqual([answer.status, answer.json.code], [500, "internal"]);
  },
  "in a spawned task": async (ask) => {
    // The request that shares the session with the panic is told; it must not hang.
    const [later, held] = await Promise.all([ask({ name: "panicLater", ms: 100 }), ask({ name: "hold", ms: 5000 })]);
    assert.equal(later.status, 200);
    assert.deepEqual([held.status, held.json.code], [503, "session_failed"]);
  },
  "in a transaction": async (ask) => {
    const answer = await ask({ name: "panicInTransaction" });
    assert.deepEqual([answer.status, answer.json.code], [500, "internal"]);
  },
};

test("panics", async (context) => {
  const server = await serverFor(context, {
    build: path.join(folder, "build"),
    wrangler: path.join(folder, "wrangler.toml"),
  });
  const asker = (session) => (operation) => request("POST", `${server.url}/${session}`, { body: operation });
  const stream = async (session) => {
    const body = JSON.stringify({ name: "watch" });
    const response = await fetch(`${server.url}/${session}`, { method: "POST", body });
    return parseEvents(response.body);
  };

  for (const [where, panic] of Object.entries(panics)) {
    await context.test(where, async () => {
      const [victim, peer] = [asker(`victim ${where}`), asker(`peer ${where}`)];
      await victim({ name: "remember", text: "kept" });
      await victim({ name: "recall" });
      await peer({ name: "remember", text: "peer" });
      await peer({ name: "run" });
      const [victimEvents, peerEvents] = [await stream(`victim ${where}`), await stream(`peer ${where}`)];
      await nextEvent(victimEvents);
      const first = (await nextEvent(peerEvents)).data;
      const open = peer({ name: "hold", ms: 1500 });

      await panic(victim);

      // The panicked session ends its streams and answers again, from storage and with new memory.
      assert.deepEqual((await nextEvent(victimEvents)).data, { reason: "session_failed" });
      assert.equal((await victimEvents.next()).done, true);
      const recalled = await victim({ name: "recall" });
      assert.deepEqual(recalled.json, { stored: "kept", calls: 1, steps: 0, readers: 0 });

      // The neighbour's open request, stream and run go on, and so does its memory.
      for (let step = first + 1; step < first + 10; step += 1) {
        assert.equal((await nextEvent(peerEvents)).data, step);
      }
      const held = await open;
      assert.equal(held.status, 200);
      assert.deepEqual([held.json.stored, held.json.calls], ["peer", 4]);
      assert.ok(held.json.steps >= 10);
    });
  }

  await context.test("runs of the product, in the session that panics and in its neighbour", async () => {
    const words = Array(60).fill("tide").join(" ");
    const product = (ask, operation, body = {}) => ask({ name: "product", operation, body: JSON.stringify(body) });
    const submit = async (ask) => {
      const content = "@pace 50\n@repeat 60 tide";
      const accepted = await product(ask, { submit: { conversation: 1 } }, { type: "input", content });
      assert.equal(accepted.status, 200, accepted.text);
      return accepted.json.id;
    };
    const watch = async (session) => {
      const operation = { watchEvents: { conversation: 1, after: null } };
      const body = JSON.stringify({ name: "product", operation, body: "" });
      const response = await fetch(`${server.url}/${session}`, { method: "POST", body });
      return parseEvents(response.body);
    };
    const settled = async (ask, submission) => {
      const operation = { getSubmission: { submission, waitSeconds: 30 } };
      return (await product(ask, operation)).json.status;
    };
    const answers = async (ask) => {
      const operation = { listEntries: { conversation: 1, cursor: null, limit: 50, order: "ascending" } };
      const messages = (await product(ask, operation)).json.items.flatMap((entry) => entry.model ?? []);
      return messages.filter(({ role }) => role === "assistant").map(({ stopReason }) => stopReason);
    };

    const [victim, peer] = [asker("victim run"), asker("peer run")];
    const [victimInput, peerInput] = [await submit(victim), await submit(peer)];
    const [victimEvents, peerEvents] = [await watch("victim run"), await watch("peer run")];
    for (const events of [victimEvents, peerEvents]) {
      await nextEvent(events, ({ data }) => Array.isArray(data) && data.some(({ type }) => type === "message_update"));
    }
    await panics["in a spawned task"](victim);
    assert.deepEqual((await nextEvent(victimEvents, ({ event }) => event === "end")).data, { reason: "session_failed" });

    // The neighbour's stream tells its run to the end, in one piece.
    const end = await nextEvent(peerEvents, ({ data }) => data?.some?.(({ type }) => type === "run_end"));
    assert.equal(end.event, "batch");
    assert.equal(await settled(peer, peerInput), "done");
    assert.deepEqual(await answers(peer), ["stop"]);

    // The panicked session's own run is woken by its alarm; nobody has asked since.
    await sleep(6_000);
    assert.deepEqual(await answers(victim), ["aborted", "stop"]);
    assert.equal(await settled(victim, victimInput), "done");
    const newest = { listEntries: { conversation: 1, cursor: null, limit: 1, order: "descending" } };
    const last = (await product(victim, newest)).json;
    assert.equal(last.items[0].model[0].content[0].text, words);
  });

  await context.test("a hundred panics in a row", async () => {
    const [victim, peer] = [asker("victim again"), asker("peer again")];
    await peer({ name: "run" });
    for (let round = 0; round < 100; round += 1) {
      assert.equal((await victim({ name: "panicNow" })).status, 500);
    }
    const before = (await peer({ name: "recall" })).json.steps;
    await eventually(async () => (await peer({ name: "recall" })).json.steps > before);
  });

  await context.test("a gone reader is released", async () => {
    const peer = asker("peer gone");
    const controller = new AbortController();
    const body = JSON.stringify({ name: "watch" });
    await fetch(`${server.url}/peer%20gone`, { method: "POST", body, signal: controller.signal });
    await peer({ name: "run" });
    assert.equal((await peer({ name: "recall" })).json.readers, 1);
    controller.abort();
    // By the first write that fails, long before a heartbeat.
    await eventually(async () => (await peer({ name: "recall" })).json.readers === 0);
  });
});
