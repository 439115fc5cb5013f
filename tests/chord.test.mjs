// Chord as the client: what the kernel's document states and watches deliver inside an object, npm's @earendil-works/chord
// applies, and has the document's value after every frame. The frames are told by tests/object-worker, the story is
// crates/session/tests/support/story.rs; crates/session/tests/replicas.rs follows the same streams with our own replica.

import assert from "node:assert/strict";
import path from "node:path";
import test from "node:test";
import { createRemoteServiceBinding, defineService } from "@earendil-works/chord";
import { BACKGROUND_CONTEXT } from "@earendil-works/chord/context";
import { apply, applyImmutable, decoder, isBase } from "@earendil-works/chord/delta";
import { serverFor } from "./support/process.mjs";

const folder = path.join(import.meta.dirname, "object-worker");
const STORIES = 200;
/** At a time: an object each. */
const TOGETHER = 8;

test("Chord has the value of every document after every frame", async (context) => {
  const server = await serverFor(context, {
    build: path.join(folder, "build"),
    wrangler: path.join(folder, "wrangler.toml"),
  });
  const count = { frames: 0, streams: 0, committed: 0, verbs: new Set() };
  let next = 0;
  const teller = async () => {
    while (next < STORIES) {
      const seed = next++;
      const lines = await told(server, seed);
      const streams = new Streams(lines, seed);
      await streams.follow(lines, count);
    }
  };
  await Promise.all(Array.from({ length: TOGETHER }, teller));
  const { frames, streams, committed, verbs } = count;
  process.stderr.write(`chord: ${STORIES} stories, ${streams} streams, ${frames} frames, ${committed} final values\n`);
  assert.equal([...verbs].sort().join(""), "admprst", "every operation was there");
  assert.ok(frames > 5_000 && committed > 500, "the stories tell enough");
});

async function told(server, seed) {
  const response = await fetch(`${server.url}/frames?case=${seed}`, { method: "POST" });
  const text = await response.text();
  assert.equal(response.status, 200, `seed ${seed}: ${text}`);
  return text.trimEnd().split("\n").map((line) => JSON.parse(line));
}

/** The clients of one story: for each stream a plain value, an immutable one, the wire form's decoder and a remote service. */
class Streams {
  constructor(lines, seed) {
    this.seed = seed;
    this.clients = new Map();
    for (const line of lines) {
      if (line.ops && !this.clients.has(line.document)) this.clients.set(line.document, new Client(line, seed));
    }
  }

  async follow(lines, count) {
    count.streams += this.clients.size;
    for (const line of lines) {
      if ("committed" in line) {
        for (const [name, client] of this.clients) {
          if (name !== line.document && !name.startsWith(`${line.document}.`)) continue;
          assert.deepEqual(client.plain, line.committed, `seed ${this.seed}, ${name} in the end`);
          count.committed += 1;
        }
        continue;
      }
      await this.clients.get(line.document).take(line);
      count.frames += 1;
      for (const [verb] of line.ops) count.verbs.add(verb);
    }
    for (const client of this.clients.values()) assert.deepEqual(client.errors, []);
  }
}

class Client {
  plain = undefined;
  immutable = undefined;
  wire = decoder();
  errors = [];
  delivered = [];

  constructor(first, seed) {
    this.name = `seed ${seed}, ${first.document}`;
    const { sequence, ops } = first;
    const service = defineService(`story.${seed}.${first.document}`);
    const subscribe = async (serviceId, mode, listener) => {
      this.send = listener;
      const members = [{ name: "document", kind: "state", sequence, ops }];
      return { snapshot: { serviceId, mode, instances: [{ members }] }, activate() {}, close() {} };
    };
    this.binding = createRemoteServiceBinding({
      services: [service],
      transport: { subscribe, invoke: async () => assert.fail("nothing is called") },
      onError: (error) => this.errors.push(error),
    });
    this.state = this.binding.use(service).document;
    this.state.subscribe((value, _context, delivery) => this.delivered.push({ value, ...delivery }));
  }

  async take({ sequence, ops, wire, value }) {
    const at = `${this.name} at ${sequence}`;
    const first = this.plain === undefined;
    assert.deepEqual(this.wire.decode(wire), ops, `${at}: wire form`);
    assert.equal(first, sequence === 0 || first, `${at}: begins once`);
    if (first) {
      assert.ok(isBase(ops), `${at}: a stream begins with a base`);
      await this.binding.ready(BACKGROUND_CONTEXT);
    } else {
      this.send({ type: "state", member: "document", sequence, ops: structuredClone(ops) }, BACKGROUND_CONTEXT);
    }
    this.immutable = applyImmutable(this.immutable, structuredClone(ops));
    this.plain = apply(this.plain, structuredClone(ops));
    assert.deepEqual(this.plain, value, `${at}: apply`);
    assert.deepEqual(this.immutable, value, `${at}: applyImmutable`);
    // The replica demands contiguous sequences and drops its value at a gap.
    assert.deepEqual(this.errors, [], at);
    assert.deepEqual(this.state.value, value, `${at}: replica`);
    const last = this.delivered.at(-1);
    const kind = first ? "hydrate" : "update";
    assert.deepEqual([last.kind, last.sequence, last.value], [kind, sequence, value], `${at}: delivery`);
  }
}
