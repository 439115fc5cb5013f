// The conversation of scripts/demo with the server: delegate, watch, read the receipt and the page.

import { parseArgs } from "node:util";
import { sessionClient } from "../tests/support/http.mjs";
import { startServer } from "../tests/support/process.mjs";
import { openEvents } from "../tests/support/sse.mjs";

const { values: options } = parseArgs({
  options: {
    once: { type: "boolean", default: false },
    port: { type: "string", default: "8787" },
    state: { type: "string", default: ".demo" },
    build: { type: "string" },
  },
});

const ANSWER =
  "Every word of this answer was committed to the SQLite storage of one Durable Object before it reached you. " +
  "Kill the server while it streams, start it again on the same folder, and the run finishes by itself.";
// A script of the scripted model: a pause before each piece, so that the stream can be seen.
const PROMPT = `@pace 60\n@say ${JSON.stringify(ANSWER)}`;

const heading = (text) => console.log(`\n\x1b[1m${text}\x1b[0m`);

let server;
try {
  heading("Starting the Worker in workerd");
  // In this process group, so that whoever ends the demo ends the server with it.
  server = await startServer({
    port: Number(options.port),
    state: options.state,
    build: options.build,
    devVars: true,
    detached: false,
  });
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.on(signal, () => server.stop().finally(() => process.exit(0)));
  }
  console.log(server.url);
  await demonstrate(sessionClient(server, `demo-${Date.now().toString(36)}`));
} catch (error) {
  console.error(`\n\x1b[31mThe demo failed:\x1b[0m ${error.stack ?? error}`);
  await server?.stop();
  process.exit(1);
}

if (options.once) {
  await server.stop();
  process.exit(0);
}
heading("The server keeps running");
console.log(`${server.url}   (Ctrl-C stops it; API description: ${server.url}/openapi.json)`);

async function demonstrate(session) {
  heading("Delegating, in the background");
  console.log(`POST ${session.base}/tools/external_delegate`);
  const accepted = await session.tool("external_delegate", {
    role: "worker",
    description: "Show a durable answer",
    prompt: PROMPT,
    background: true,
  });
  const { runId, conversationId } = expectOk(accepted).data.run;
  console.log(`accepted: ${runId}, conversation ${conversationId}`);

  heading("The answer as it is committed");
  console.log(`GET ${session.base}/conversations/${conversationId}/events\n`);
  const streamed = await showAnswer(`${session.base}/conversations/${conversationId}/events`);

  heading("The receipt (external_runs wait)");
  const waited = expectOk(await session.tool("external_runs", { action: "wait", runIds: [runId] }));
  console.log(JSON.stringify(waited, null, 2));
  const run = waited.data.completed.find((completed) => completed.runId === runId);
  expect(run?.state.outcome === "succeeded", "the run did not succeed");

  heading("The run's page (external_runs inspect, view final)");
  const page = expectOk(await session.tool("external_runs", { action: "inspect", runIds: [runId], view: "final" }));
  console.log(page.data.page.text);
  expect(page.data.page.text === ANSWER, "the page is not the answer");
  expect(streamed === ANSWER, "the streamed text is not the answer");
}

/** Prints the text of the first assistant message as its deltas come, and returns it. */
async function showAnswer(url) {
  const { status, events, close } = await openEvents(url);
  expect(status === 200, `the event stream answered ${status}`);
  let shown = "";
  const show = (text) => {
    process.stdout.write(text);
    shown += text;
  };
  // What is already there when the stream attaches, then what is added to it.
  const showMessage = (message) => {
    const text = message.content.map((block) => block.text ?? "").join("");
    if (text.startsWith(shown)) show(text.slice(shown.length));
  };
  for await (const { event, data } of events) {
    if (event === "end") break;
    for (const change of event === "snapshot" ? [data] : (data ?? [])) {
      const done = apply(change, show, showMessage);
      if (done) {
        close();
        process.stdout.write("\n");
        return shown;
      }
    }
  }
  throw new Error("the event stream ended before the answer was complete");
}

/** Shows what one agent event adds to the answer; true when the answer is complete. */
function apply(event, show, showMessage) {
  const assistant = (message) => message?.role === "assistant";
  const answers = (entry) => (entry.model ?? []).filter(assistant);
  switch (event.type) {
    case "snapshot": {
      const finished = event.entries.flatMap(answers);
      finished.forEach(showMessage);
      if (assistant(event.generation?.message)) showMessage(event.generation.message);
      return finished.length > 0;
    }
    case "message_start":
      if (assistant(event.message)) showMessage(event.message);
      return false;
    case "message_update":
      for (const change of event.changes) {
        if (change.type === "text_delta") show(change.delta);
        if (change.type === "text_start") show(change.block.text);
        if (change.type === "message") showMessage(change.message);
      }
      return false;
    case "message_end":
      answers(event.entry).forEach(showMessage);
      return answers(event.entry).length > 0;
    default:
      return false;
  }
}

function expectOk(receipt) {
  expect(receipt.ok, `${receipt.tool} ${receipt.action}: ${JSON.stringify(receipt.error)}`);
  return receipt;
}

function expect(condition, message) {
  if (!condition) throw new Error(message);
}
