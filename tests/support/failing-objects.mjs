// Objects that fail the Worker, each in the way its session's name says.

import { DurableObject } from "cloudflare:workers";

const answers = {
  silent: () => new Promise(() => {}),
  throws: () => {
    throw new Error("the object is overloaded");
  },
  foreign: () => new Response("<html>not of the protocol</html>"),
  garbled: () => new Response("{", { headers: { "x-tidehold-outcome": "error" } }),
};

export class SessionObject extends DurableObject {
  fetch(request) {
    const call = JSON.parse(request.headers.get("x-tidehold-call"));
    return answers[call.session]();
  }
}

export default { fetch: () => new Response(null, { status: 404 }) };
