// The floor: a Durable Object without any kernel that makes the same three writes a commit. It has the kernel's tables
// and indexes for them, uses the kernel's statements (both come with the workload) and reads nothing back. With
// `transaction` the three are one, as the kernel's are; the floor does without.

import { DurableObject } from "cloudflare:workers";

const [CONVERSATION, TASK, DOCUMENT] = [1, 2, 3];

export class RawObject extends DurableObject {
  async fetch(request) {
    const { workload, commits, warmup, sync, transaction } = await request.json();
    this.open(workload);
    this.transaction = transaction;
    await this.commits(0, warmup, sync);
    const rows = this.rows;
    const start = Date.now();
    await this.commits(warmup, commits, sync);
    const milliseconds = Date.now() - start;
    return Response.json({ milliseconds, rows: this.rows - rows });
  }

  open(workload) {
    this.workload = workload;
    this.nextId = 4;
    this.nextSeq = 1;
    this.rows = 0;
    this.text = "";
    this.task = {
      id: TASK,
      conversationId: CONVERSATION,
      kind: "bench.generation",
      version: 1,
      input: { model: "scripted/echo", reason: "input" },
      background: false,
      abortRequested: false,
      startedAt: Date.now(),
      state: { status: "running", checkpoint: { phase: "prepare" } },
    };
    for (const statement of workload.schema) this.write(statement);
    const task = JSON.stringify(this.task);
    this.write(workload.insert_task, TASK, CONVERSATION, '"bench.generation"', "running", 0, 0, 0, 0, task);
    const base = 'b 1 1 {"text":""}\n';
    const { insert_document: insert } = workload;
    this.write(insert, DOCUMENT, 1, CONVERSATION, '"bench.partial"', null, 0, 2, 1, null, 1, base.length, base);
  }

  async commits(first, count, sync) {
    for (let step = first; step < first + count; step += 1) {
      if (this.transaction) this.ctx.storage.transactionSync(() => this.commit(step));
      else this.commit(step);
      if (sync) await this.ctx.storage.sync();
    }
  }

  commit(step) {
    const { workload } = this;
    const id = this.nextId++;
    const seq = this.nextSeq++;
    const entry = { id, conversationId: CONVERSATION, kind: "bench.message", model: [workload.message] };
    this.write(workload.insert_entry, id, CONVERSATION, null, seq, 0, JSON.stringify(entry));
    this.task.state = { status: "running", checkpoint: { phase: "request", attempt: 1, step } };
    this.write(workload.update_task, TASK, "running", 0, 0, 0, JSON.stringify(this.task));
    if (step % workload.partials === 0) {
      this.text = "";
      const line = `b ${seq} 1 ${JSON.stringify({ text: this.text })}\n`;
      this.write(workload.rebase_document, DOCUMENT, 1, line.length, line);
    } else {
      this.text += workload.piece;
      const line = `d ${seq} 1 ${JSON.stringify([["a", ["text"], workload.piece]])}\n`;
      this.write(workload.append_to_document, DOCUMENT, line, line.length);
    }
  }

  write(statement, ...parameters) {
    this.rows += this.ctx.storage.sql.exec(statement, ...parameters).rowsWritten;
  }
}

export default { fetch: () => new Response("speak to an object", { status: 404 }) };
