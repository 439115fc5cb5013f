// Reads server-sent events.

/**
 * Opens an event stream: `{status, headers, events, close}`, where `events` is an async iterator of
 * `{event, id, data}` (data parsed) and of `{comment}`.
 */
export async function openEvents(url, { headers = {}, token, after } = {}) {
  const controller = new AbortController();
  const response = await fetch(url, {
    headers: {
      accept: "text/event-stream",
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...(after ? { "last-event-id": after } : {}),
      ...headers,
    },
    signal: controller.signal,
  });
  return {
    status: response.status,
    headers: response.headers,
    events: parseEvents(response.body),
    close: () => controller.abort(),
  };
}

/** Events and comments of a byte stream; ends when the stream ends or is cut. */
export async function* parseEvents(body) {
  const decoder = new TextDecoder();
  let buffer = "";
  try {
    for await (const chunk of body) {
      buffer += decoder.decode(chunk, { stream: true });
      let end;
      while ((end = buffer.indexOf("\n\n")) >= 0) {
        yield parseBlock(buffer.slice(0, end));
        buffer = buffer.slice(end + 2);
      }
    }
  } catch (error) {
    // A killed server or a closed reader cuts the stream; whoever reads sees its end.
    if (!["AbortError", "TypeError"].includes(error.name) && error.code !== "UND_ERR_SOCKET") throw error;
  }
}

function parseBlock(block) {
  const fields = {};
  for (const line of block.split("\n")) {
    const at = line.indexOf(":");
    const name = line.slice(0, at);
    const value = line.slice(at + 1).replace(/^ /, "");
    if (name === "") return { comment: value };
    fields[name] = name === "data" && fields.data !== undefined ? `${fields.data}\n${value}` : value;
  }
  return { event: fields.event ?? "message", id: fields.id, data: JSON.parse(fields.data) };
}

/** The next event for which `wanted` holds; fails when the stream ends before. */
export async function nextEvent(events, wanted = (event) => !event.comment) {
  for (;;) {
    const { value, done } = await events.next();
    if (done) throw new Error("the stream ended");
    if (wanted(value)) return value;
  }
}
