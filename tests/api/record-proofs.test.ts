// Records with proof=1: what storage and receipts show of every kind, as the verifier finds it, and what nothing shows.
import { describeStatus, type Verification, verify } from "@sextant/client/verify/verify";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Secret } from "../../src/lib/secret.ts";
import { type ApiClient, openApiClient } from "../support/http/api-client.ts";
import { startTestApi, type TestApi } from "../support/http/test-api.ts";
import { readSharedHistory, type SimulatedHistory } from "../support/index/simulated-history.ts";
import { startProofNode } from "../support/nodes/proof-node.ts";
import { createTestKeys } from "../support/signing/test-keys.ts";
import { openReadStage, type ReadStage } from "./api-stage.ts";

let stage: ReadStage;
let history: SimulatedHistory;
let api: TestApi;
let client: ApiClient;

beforeAll(async () => {
  [stage, history] = await Promise.all([openReadStage(), readSharedHistory()]);
  api = await startTestApi(stage.database, { proofs: proofsOf([history.rpcUrl]) });
  client = await openApiClient(api.url);
});
afterAll(async () => {
  await api?.close();
  await stage?.close();
});

const proofsOf = (urls: readonly string[]) => ({
  deployment: history.deployment,
  urls: urls.map((url) => new Secret(url)),
  onCall: null,
});

const check = (text: string, options: Parameters<typeof verify>[1] = {}) =>
  verify(text, { nodes: [history.rpcUrl], nodesMin: 1, deployments: [history.deployment], ...options });

async function readProven(
  path: string,
): Promise<{ text: string; body: Record<string, unknown>; result: Verification }> {
  const { status, text, body } = await client.call(path);
  expect(status, text).toBe(200);
  return { text, body: body as Record<string, unknown>, result: await check(text) };
}

const wrongOf = ({ rows }: Verification) => rows.filter(({ status }) => status === "wrong");
const statusOf = ({ rows }: Verification, path: string) => {
  const row = rows.find((each) => each.path === path);
  return row === undefined ? "missing" : describeStatus(row);
};

const KINDS = [
  ["intents", "intents", "intent_id"],
  ["agents", "agents", "agent_id"],
  ["attestations", "attestations", "attestation_id"],
  ["solvers", "solvers", "solver_id"],
  ["attestors", "attestors", "attestor_id"],
  ["merchants", "merchants", "merchant_id"],
  ["services", "services", "service_numeric_id"],
  ["facilitators", "facilitators", "facilitator_id"],
  ["quotes", "quotes", "hex_text(quote_hash)"],
  ["receipts", "receipts", "receipt_id"],
  ["disputes", "disputes", "dispute_id"],
] as const;

/** Members that neither a contract nor an event has. */
const UNPROVEN =
  /^\/(?:metadata|fills|successful_fills|failed_fills|avg_\w+|bids|selected_bids|win_rate|attestations|revoked_attestations|tx_hash|fill\/tx_hash|log_index)$/;

describe("a record with proof=1", () => {
  it.each(KINDS)("shows every member of %s that the contract or an event has", async (path, table, id) => {
    const rows = await stage.rows(
      `select distinct ${id} as id from ${table} where valid_to is null order by 1 desc limit 3`,
    );
    expect(rows.length).toBeGreaterThan(0);
    const include = path === "intents" ? "provenance,requirements" : "provenance";
    for (const row of rows) {
      const { body, result } = await readProven(`/${path}/${row.id}?proof=1&include=${include}`);
      expect(wrongOf(result)).toEqual([]);
      expect(result).toMatchObject({ ok: true, kind: "record" });
      const unproven = result.rows.filter(
        ({ status, path: at }) => status !== "proven" && at.startsWith("/"),
      );
      expect(unproven.filter(({ path: at }) => !UNPROVEN.test(at))).toEqual([]);
      const { proofs, ...record } = body;
      expect(record).toEqual((await client.call(`/${path}/${row.id}?include=${include}`)).body);
      expect(proofs).toMatchObject({ version: 1, reason: null, chainId: "eip155:31337" });
    }
  });

  it("shows a fill by its event, and its absence by storage", async () => {
    for (const [where, value] of [
      ["status = 'FILLED'", "solver"],
      ["status = 'OPEN'", null],
    ] as const) {
      const { intent_id } = await stage.first(
        `select intent_id from intents where valid_to is null and ${where}`,
      );
      const { result } = await readProven(`/intents/${intent_id}?proof=1`);
      expect(statusOf(result, value === null ? "/fill" : `/fill/${value}`)).toBe("proven");
    }
  });

  it("shows a record of the past at its own block", async () => {
    const { intent_id, block } = await stage.first(
      "select intent_id, valid_from as block from intents where valid_to is not null and status = 'OPEN' limit 1",
    );
    const { result, body } = await readProven(`/intents/${intent_id}?proof=1&block=${block}`);
    expect(result.ok).toBe(true);
    expect(body).toMatchObject({ status: "OPEN", proofs: { block: { number: block } } });
    expect(statusOf(result, "/status")).toBe("proven");
  });

  it("leaves a status open that is judged at another time than that of the block", async () => {
    const { intent_id, block, deadline } = await stage.first(
      "select intent_id, valid_from as block, deadline from intents where valid_to is null and status = 'OPEN' order by deadline desc limit 1",
    );
    const { result } = await readProven(`/intents/${intent_id}?proof=1&block=${block}@${deadline}`);
    expect(wrongOf(result)).toEqual([]);
    expect(["proven", "unknown"]).toContain(statusOf(result, "/status"));
  });
});

describe("a proven record, to a reader", () => {
  const readAgent = async () => (await client.call("/agents/1?proof=1")).text;

  it("needs the contract to be the one that the reader means", async () => {
    const result = await check(await readAgent(), { deployments: [] });
    expect(statusOf(result, "/owner")).toBe("proven if the contract is yours");
    expect(result.ok).toBe(false);
    expect(result.rows.find(({ path }) => path === "/owner")?.reason).toContain(
      history.deployment.contracts.AgentRegistry,
    );
    const byAddress = await check(await readAgent(), {
      deployments: [history.deployment.contracts.AgentRegistry],
    });
    expect(byAddress.ok).toBe(true);
  });

  it("counts an address for the contract that it fits, and leaves the others unknown", async () => {
    const { AgentRegistry, IntentBook } = history.deployment.contracts;
    const other = await check(await readAgent(), { deployments: [IntentBook] });
    expect(wrongOf(other)).toEqual([]);
    expect(statusOf(other, "/owner")).toBe("proven if the contract is yours");
    const both = await check(await readAgent(), { deployments: [IntentBook, AgentRegistry] });
    expect(both).toMatchObject({ ok: true, record: { kind: "agent", id: "1" } });
  });

  it("is wrong if the reader knows the contract at another address", async () => {
    const contracts = { ...history.deployment.contracts, AgentRegistry: `0x${"77".repeat(20)}` };
    const result = await check(await readAgent(), { deployments: [{ ...history.deployment, contracts }] });
    expect(wrongOf(result).map(({ reason }) => reason)).toEqual([
      "You know AgentRegistry at another address.",
    ]);
  });

  it("is wrong if the request was about another record or block", async () => {
    const body = await readAgent();
    const wrong = async (path: string) => {
      const request = { method: "GET", url: `${api.url}${path}` };
      const options = { nodes: [history.rpcUrl], nodesMin: 1, deployments: [history.deployment] };
      return wrongOf(await verify({ body, request }, options)).map(({ reason }) => reason);
    };
    expect(await wrong("/agents/1?proof=1")).toEqual([]);
    expect(await wrong("/d/main/agents/01?proof=1")).toEqual([]);
    expect(await wrong("/agents/2?proof=1")).toEqual([
      "The response is about another record than the request.",
    ]);
    expect(await wrong("/solvers/1?proof=1")).toEqual([
      "The response is about another record than the request.",
    ]);
    expect(await wrong("/agents/1?proof=1&block=3")).toEqual([
      "The response is about another block than the request.",
    ]);
  });

  it("is not proven while nothing vouches for its block", async () => {
    const result = await verify(await readAgent(), { deployments: [history.deployment] });
    expect(statusOf(result, "/owner")).toBe("proven if the block is real");
    expect(result.ok).toBe(false);
  });
});

const send = async (method: string, params: readonly unknown[]) => {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const headers = { "content-type": "application/json" };
  const sent = await fetch(history.rpcUrl, { method: "POST", headers, body });
  const { error, result } = (await sent.json()) as { readonly error?: unknown; readonly result: unknown };
  if (error !== undefined) throw new Error(`${method} is not available`);
  return result;
};

describe("a filled intent of a node that rejects the slot of its status and all receipts", () => {
  it("is not wrong: status and fill are open, and the rest is proven", async () => {
    const where = "valid_to is null and status = 'FILLED'";
    const { intent_id } = await stage.first(`select intent_id from intents where ${where} limit 1`);
    const path = `/intents/${intent_id}?proof=1`;
    const { proofs } = (await readProven(path)).body as {
      proofs: { claims: { path: string; slot?: string }[] };
    };
    const slot = BigInt(proofs.claims.find((claim) => claim.path === "/status")?.slot ?? 0);
    const node = await startProofNode(send, (method, result) => {
      if (method.includes("Receipt")) throw new Error("the receipts are not there");
      if (method !== "eth_getProof") return result;
      const proof = result as { readonly storageProof: readonly { readonly key: string }[] };
      const storageProof = proof.storageProof.map((word) =>
        BigInt(word.key) === slot ? { ...word, proof: [] } : word,
      );
      return { ...proof, storageProof };
    });
    const partial = await startTestApi(stage.database, { proofs: proofsOf([node.url]) });
    try {
      const result = await check(await (await fetch(partial.url + path)).text());
      expect(wrongOf(result)).toEqual([]);
      expect(result.ok).toBe(true);
      expect(statusOf(result, "/owner")).toBe("proven");
      expect(["/status", "/fill/solver", "/fill/amount_out"].map((each) => statusOf(result, each))).toEqual(
        Array(3).fill("unknown"),
      );
    } finally {
      await partial.close();
      await node.stop();
    }
  });
});

describe("the receipts behind a fill", () => {
  it("each is read once, for both of its events and for all requests", async () => {
    const where = "valid_to is null and status = 'FILLED'";
    const { intent_id } = await stage.first(`select intent_id from intents where ${where} limit 1`);
    const asked: unknown[] = [];
    const node = await startProofNode(send, (method, result, params) => {
      if (method === "eth_getTransactionReceipt") asked.push(params[0]);
      return result;
    });
    const counted = await startTestApi(stage.database, { proofs: proofsOf([node.url]) });
    try {
      for (let round = 0; round < 2; round += 1) {
        const path = `/intents/${intent_id}?proof=1&include=requirements`;
        const result = await check(await (await fetch(counted.url + path)).text());
        expect(statusOf(result, "/fill/solver")).toBe("proven");
        expect(statusOf(result, "/fill/result_hash")).toBe("proven");
      }
      expect(asked.length).toBeGreaterThan(0);
      expect(asked).toEqual([...new Set(asked)]);
    } finally {
      await counted.close();
      await node.stop();
    }
  });
});

describe("the parameter proof", () => {
  it("asks the node again after it had no proof, also for a signed response", async () => {
    let isRefused = true;
    const node = await startProofNode(send, (method, result) => {
      if (isRefused && method === "eth_getProof") throw new Error("the state is not there");
      return result;
    });
    const signing = { keys: createTestKeys(), signsAll: false };
    const signed = await startTestApi(stage.database, { proofs: proofsOf([node.url]), signing });
    try {
      const reasons: unknown[] = [];
      for (let each = 0; each < 3; each += 1) {
        const response = await fetch(`${signed.url}/agents/1?proof=1&signed=1`);
        expect(response.headers.get("signature")).not.toBeNull();
        reasons.push(((await response.json()) as { proofs: { reason: unknown } }).proofs.reason);
        isRefused = each < 1;
      }
      expect(reasons).toEqual(["no_proofs", "no_proofs", null]);
    } finally {
      await signed.close();
      await node.stop();
    }
  });

  it("takes 1 only, and is ignored by lists", async () => {
    const { status, body } = await client.call("/agents/1?proof=2");
    expect([status, body]).toEqual([400, { error: "proof must be 1." }]);
    const { body: list } = await client.call("/solvers?proof=1&limit=1");
    expect(list).not.toHaveProperty("proofs");
  });

  it("says of a record that there is none, without asking a node", async () => {
    expect((await client.call("/agents/999999?proof=1")).status).toBe(404);
  });

  it("says why nothing is proven without a node", async () => {
    const without = await startTestApi(stage.database);
    try {
      const { proofs } = (await (await fetch(`${without.url}/agents/1?proof=1`)).json()) as {
        proofs: object;
      };
      expect(proofs).toMatchObject({
        reason: "no_node",
        header: null,
        claims: expect.arrayContaining([{ path: "/owner", kind: "none", reason: "no_node" }]),
      });
    } finally {
      await without.close();
    }
  });

  it("counts as five requests", async () => {
    const limited = await startTestApi(stage.database, {
      proofs: proofsOf([history.rpcUrl]),
      requestsPerMinuteMax: 12,
    });
    try {
      const statuses: number[] = [];
      for (let each = 0; each < 3; each += 1) {
        statuses.push((await fetch(`${limited.url}/agents/1?proof=1`)).status);
      }
      expect(statuses).toEqual([200, 200, 429]);
    } finally {
      await limited.close();
    }
  });
});
