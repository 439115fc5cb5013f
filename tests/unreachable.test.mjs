// The Worker in front of objects that fail it: every call ends, with an error a client can act on.

import assert from "node:assert/strict";
import path from "node:path";
import test from "node:test";
import { request } from "./support/http.mjs";
import { serverFor } from "./support/process.mjs";

const objects = path.join(import.meta.dirname, "support/failing-objects.mjs");

test("an object that fails the Worker", { concurrency: true }, async (context) => {
  const server = await serverFor(context, { objects, vars: { TIDEHOLD_DEV: "1" } });
  const ask = (session) => request("GET", `${server.url}/v1/sessions/${session}`);

  for (const session of ["silent", "throws"]) {
    await context.test(`${session}: may be asked again`, async () => {
      const answer = await ask(session);
      assert.deepEqual([answer.status, answer.json.error.code], [503, "session_failed"], answer.text);
      assert.match(answer.headers.get("retry-after"), /^\d+$/);
    });
  }
  for (const session of ["foreign", "garbled"]) {
    await context.test(`${session}: an internal error that tells nothing of it`, async () => {
      const answer = await ask(session);
      assert.deepEqual([answer.status, answer.json.error.code], [500, "internal"], answer.text);
      assert.doesNotMatch(answer.text, /html|protocol/);
    });
  }
});
