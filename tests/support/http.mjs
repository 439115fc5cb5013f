// Requests to a server, and what came back.

import { once } from "node:events";
import http from "node:http";

/**
 * A client of one session. `call("POST", "/conversations", body)` sends JSON; a string or Buffer body is sent as it
 * is. Answers `{status, headers, text, json}`; `json` is undefined when the text is none.
 */
export function sessionClient(server, session, { token } = {}) {
  const base = `${server.url}/v1/sessions/${session}`;
  const call = (method, path, body, headers = {}) => request(method, `${base}${path}`, { body, headers, token });
  return {
    base,
    call,
    get: (path, headers) => call("GET", path, undefined, headers),
    post: (path, body = {}, headers) => call("POST", path, body, headers),
    /** Calls a contract tool and answers its receipt. */
    async tool(name, args) {
      const answer = await call("POST", `/tools/${name}`, args);
      if (answer.status !== 200) throw new Error(`${name}: ${answer.status} ${answer.text}`);
      return answer.json.structuredContent;
    },
  };
}

export async function request(method, url, { body, headers = {}, token, signal } = {}) {
  const raw = body === undefined || typeof body === "string" || Buffer.isBuffer(body);
  const response = await fetch(url, {
    method,
    body: raw ? body : JSON.stringify(body),
    headers: {
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...headers,
    },
    signal,
  });
  return answerOf(response);
}

/** POSTs JSON over a connection of its own: what else a dying object takes along reaches no later request. */
export async function postAlone(url, body) {
  const sent = http.request(url, { method: "POST", agent: false });
  sent.end(JSON.stringify(body));
  const [response] = await once(sent, "response");
  const text = Buffer.concat(await response.toArray()).toString();
  return { status: response.statusCode, text, json: jsonOf(text) };
}

async function answerOf(response) {
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: jsonOf(text) };
}

function jsonOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
