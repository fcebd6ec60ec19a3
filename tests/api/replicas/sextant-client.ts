// The project's own client, moved from one API process to another between its requests: it asks for what it has seen.
import { setTimeout as pause } from "node:timers/promises";
import { Random } from "@sextant/simulator/random";
import { createSextant, type Sextant } from "../../../packages/client/create-sextant.ts";
import { SextantError } from "../../../packages/client/errors.ts";
import type { Readers } from "./reading-client.ts";

const ACTIONS: Readonly<Record<string, (sextant: Sextant, id: string) => Promise<unknown>>> = {
  agents: (sextant, agentId) => sextant.getAgent({ agentId }),
  intents: (sextant, id) => sextant.getIntent({ id }),
  merchants: (sextant, id) => sextant.getMerchant({ id }),
  receipts: (sextant, id) => sextant.getReceipt({ id }),
  solvers: (sextant, id) => sextant.getSolver({ id }),
};
const BETWEEN_MS = 20;

/** Until the readers are over. Returns how many of its requests carried a block that it had seen. */
export async function runSextantClient(readers: Readers, seed: number): Promise<number> {
  const random = new Random(seed);
  let seen = 0;
  let reached = 0;
  let asked = 0;
  const fetchAnywhere: typeof fetch = async (input, init) => {
    const { pathname } = new URL(String(input));
    const api = readers.site.apis[random.below(readers.site.apis.length)];
    const response = await fetch(`${api?.process.url}${pathname}`, init);
    const text = await response.clone().text();
    const minBlock = new Headers(init?.headers).get("x-min-block");
    // Kept and not thrown: the client would take what its fetch throws for an outage, and ask again.
    if (minBlock !== (seen > 0 ? String(seen) : null))
      readers.faults.push(`the client has seen ${seen} and asks for ${minBlock}`);
    if (minBlock !== null) asked += 1;
    reached = Number(response.headers.get("x-block-number"));
    if (response.status !== 200 && response.status !== 404) return response;
    const block = Number(response.headers.get("x-indexed-block"));
    if (block < seen) readers.faults.push(`${pathname} led the client back from block ${seen} to ${block}`);
    seen = block;
    const read = readers.reads.find(({ path }) => path === pathname);
    const hash = response.headers.get("x-indexed-block-hash") ?? "";
    if (read) readers.log.add(read, { status: response.status, code: "", hash, block, text });
    return response;
  };
  const sextant = createSextant({ api: "http://any.invalid", fetch: fetchAnywhere });
  while (!readers.isOver) {
    const found = readers.reads[random.below(readers.reads.length)]?.path ?? "";
    const [, table = "", id = ""] = /^\/([a-z]+)\/([0-9]+)$/.exec(found) ?? [];
    const marks = markAll(readers);
    await ACTIONS[table]?.(sextant, id).catch((error: unknown) => {
      if (error instanceof SextantError && error.code === "NOT_FOUND") return;
      // All attempts of the call have failed, and the next call asks for what the service has.
      if (!markAll(readers).some((mark, at) => mark === -1 || mark !== marks[at])) throw error;
      if (error instanceof SextantError && error.code === "BLOCK_NOT_INDEXED") seen = Math.min(seen, reached);
      readers.failed.set("client", (readers.failed.get("client") ?? 0) + 1);
    });
    await pause(BETWEEN_MS);
  }
  return asked;
}

function markAll({ site }: Readers): readonly number[] {
  const { withoutPrimary, withoutIndexer, reorg, apis } = site;
  return [withoutPrimary, withoutIndexer, reorg, ...apis.map(({ outage }) => outage)].map(({ mark }) => mark);
}
