// Proofs of a record on a real chain: what is claimed, what is not and why, and how a wrong record is reported.

import { describeStatus, verify } from "@sextant/client/verify/verify";
import { deploy, LOCAL_GENESIS_CODE } from "@sextant/contracts/deploy/deploy";
import { agentRegistryAbi } from "@sextant/contracts/generated/agent-registry";
import { type LocalChain, startLocalChain } from "@sextant/local-chain/local-chain";
import { encodeFunctionData, type Hex, toHex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type ChangeResult,
  flipDigit,
  rejectMethod,
  startProofNode,
} from "../../../tests/support/nodes/proof-node.ts";
import { silentLog } from "../../../tests/support/quiet-log.ts";
import { Secret } from "../../lib/secret.ts";
import type { Deployment } from "../../protocol/deployment.ts";
import type { RecordProofs } from "../../schema/reads/record-proofs.ts";
import { openRecordProver } from "./record-prover.ts";

let chain: LocalChain;
let deployment: Pick<Deployment, "chainId" | "contracts">;
let owner: Hex;

const CAPABILITIES: Hex = `0x${"ab".repeat(32)}`;
const URI = "ipfs://agent";
const LONG_URI = `https://agents.example/${"x".repeat(200)}`;

beforeAll(async () => {
  chain = await startLocalChain({
    ...{ chainId: 31_337, genesisTimestamp: 1_790_000_000n, code: LOCAL_GENESIS_CODE },
  });
  const deployed = await deploy({ request: chain.request, owner: chain.accounts.owner });
  deployment = { chainId: 31_337, contracts: deployed.contracts as Deployment["contracts"] };
  owner = chain.accounts.owner.address.toLowerCase() as Hex;
  for (const uri of [URI, LONG_URI, `${"y".repeat(2_000)}`]) await register(uri);
});
afterAll(() => chain.stop());

async function register(uri: string): Promise<void> {
  const data = encodeFunctionData({
    abi: agentRegistryAbi,
    functionName: "registerAgent",
    args: [uri, "0x1234", CAPABILITIES],
  });
  const call = { from: owner, to: deployment.contracts.AgentRegistry, data, gas: "0x4c4b40" };
  await chain.request("eth_sendTransaction", [call]);
}

type Agent = Readonly<Record<string, unknown>>;
const agentOf = (id: number, more: Agent = {}): Agent => ({
  agent_id: String(id),
  owner,
  metadata_uri: id === 1 ? URI : id === 2 ? LONG_URI : "y".repeat(2_000),
  pubkey: "0x1234",
  capabilities_hash: CAPABILITIES,
  revoked: false,
  ...more,
});

type Case = { readonly urls?: readonly string[]; readonly head?: Hex; readonly origin?: EventOrigin };
type EventOrigin = { readonly block: bigint; readonly blockHash: Hex; readonly txHash: Hex };
const NO_HASH: Hex = `0x${"00".repeat(32)}`;
const NO_ORIGIN: EventOrigin = { block: 0n, blockHash: NO_HASH, txHash: NO_HASH };

/** The response as the API sends it, and the fields of what was logged as an error. */
async function prove(record: Agent, { urls = [chain.rpcUrl], head, origin = NO_ORIGIN }: Case = {}) {
  const errors: unknown[] = [];
  const log = { ...silentLog, error: (fields: unknown) => void errors.push(fields) } as typeof silentLog;
  const { prove: run, close } = openRecordProver(
    { deployment, urls: urls.map((url) => new Secret(url)), onCall: null },
    log,
  );
  const newest = (await chain.request("eth_getBlockByNumber", ["latest", false])) as Record<string, Hex>;
  const number = BigInt(newest.number ?? 0);
  try {
    const proofs = await run({
      ...{ operationId: "getAgent", record, origin, block: number },
      ...{ head: { number, hash: head ?? newest.hash ?? "0x" }, client: "1.2.3.4" },
    });
    return { proofs, errors, text: JSON.stringify({ ...record, proofs }) };
  } finally {
    close();
  }
}

const kindsOf = ({ claims }: RecordProofs) =>
  Object.fromEntries(claims.map(({ path, kind, reason }) => [path, reason ?? kind]));

const check = (text: string) =>
  verify(text, { nodes: [chain.rpcUrl], nodesMin: 1, deployments: [deployment] });

/** A node in front of the chain, for one test. */
async function withNode<T>(change: ChangeResult, use: (url: string) => Promise<T>): Promise<T> {
  const node = await startProofNode(
    (method, params) => chain.request(method as never, params as never),
    change,
  );
  try {
    return await use(node.url);
  } finally {
    await node.stop();
  }
}

describe("the proof of a record", () => {
  it.each([1, 2])(
    "claim every member that the contract stores, with texts of one word and of several: %s",
    async (id) => {
      const { proofs, errors, text } = await prove(agentOf(id));
      expect(new Set(Object.values(kindsOf(proofs)))).toEqual(new Set(["storage"]));
      expect(errors).toEqual([]);
      const result = await check(text);
      expect(
        result.rows.filter(({ path }) => path.startsWith("/")).map(({ status }) => status),
      ).not.toContain("wrong");
      expect(result.ok).toBe(true);
    },
  );

  it("leaves out a text of too many words", async () => {
    const { proofs, text } = await prove(agentOf(3));
    expect(kindsOf(proofs)).toMatchObject({ "/metadata_uri": "too_long", "/owner": "storage" });
    expect((await check(text)).ok).toBe(true);
  });

  it("leaves out a text that JSON cannot hold", async () => {
    const data = encodeFunctionData({
      abi: agentRegistryAbi,
      functionName: "registerAgent",
      args: ["@@", "0x1234", CAPABILITIES],
    }).replace(toHex("@@").slice(2), "00ff") as Hex;
    await chain.request("eth_sendTransaction", [
      { from: owner, to: deployment.contracts.AgentRegistry, data, gas: "0x4c4b40" },
    ]);
    const { proofs, errors } = await prove(agentOf(4, { metadata_uri: "\ufffd\ufffd" }));
    expect(kindsOf(proofs)).toMatchObject({ "/metadata_uri": "text", "/owner": "storage" });
    expect(errors).toEqual([]);
  });

  it("says loudly which members of a record are not what the contract stores", async () => {
    const { proofs, errors, text } = await prove(
      agentOf(1, { revoked: true, owner: `0x${"11".repeat(20)}` }),
    );
    expect(proofs.claims.filter(({ kind }) => kind === "mismatch")).toMatchObject([
      { path: "/owner", proven: owner },
      { path: "/revoked", proven: "false" },
    ]);
    expect(errors).toMatchObject([
      { event: "record_proof_mismatch", kind: "agent", id: "1", fields: ["/owner", "/revoked"] },
    ]);
    const { ok, rows } = await check(text);
    expect(ok).toBe(false);
    expect(rows.filter(({ status }) => status === "wrong").map(({ path }) => path)).toEqual([
      "/owner",
      "/revoked",
    ]);
  });

  it("says so of a record that the contract does not have", async () => {
    const { proofs, errors, text } = await prove(agentOf(9));
    expect(kindsOf(proofs)["/agent_id"]).toBe("mismatch");
    expect(errors).toHaveLength(1);
    expect((await check(text)).ok).toBe(false);
  });
});

/** The newest agent registers, so that its block is the head. */
async function registerLast(): Promise<{ readonly record: Agent; readonly origin: EventOrigin }> {
  await register(URI);
  const block = (await chain.request("eth_getBlockByNumber", ["latest", false])) as {
    [name in "number" | "hash" | "timestamp"]: Hex;
  } & { readonly transactions: readonly [Hex] };
  const [log] = (await chain.request("eth_getLogs", [{ blockHash: block.hash }])) as { topics: Hex[] }[];
  const id = Number(log?.topics[1]);
  const created = {
    block_timestamp: String(Number(block.timestamp)),
    block_number: String(Number(block.number)),
  };
  const origin = { block: BigInt(block.number), blockHash: block.hash, txHash: block.transactions[0] };
  return { record: { ...agentOf(1), agent_id: String(id), ...created, block_hash: block.hash }, origin };
}
describe("the proof of the event of a record", () => {
  const EVENT_PATHS = ["/block_number", "/block_hash", "/block_timestamp"];

  it("claims the members that come from the event", async () => {
    const { record, origin } = await registerLast();
    const { proofs, text } = await prove(record, { origin });
    const kinds = kindsOf(proofs);
    expect(EVENT_PATHS.map((path) => kinds[path])).toEqual(["log", "log", "log"]);
    expect((await check(text)).ok).toBe(true);
  });

  it("is not made of another block of that height, which a node on a fork has", async () => {
    const { record, origin } = await registerLast();
    const forked: Hex = `0x${"77".repeat(32)}`;
    const { proofs, errors } = await prove(
      { ...record, block_hash: forked },
      { origin: { ...origin, blockHash: forked } },
    );
    const kinds = kindsOf(proofs);
    expect(EVENT_PATHS.map((path) => kinds[path])).toEqual(["no_log", "no_log", "no_log"]);
    expect(errors).toEqual([]);
  });

  it("is made of all receipts of the block, and of no others", async () => {
    const { record, origin } = await registerLast();
    const honest = await chain.request("eth_getTransactionReceipt", [origin.txHash]);
    const sent = [[honest], [], [honest, honest], [{ ...(honest as object), status: "0x0" }]];
    const kinds: unknown[] = [];
    for (const receipts of sent) {
      const node = await startProofNode(async (method, params) =>
        method === "eth_getBlockReceipts" ? receipts : chain.request(method as never, params as never),
      );
      const { proofs } = await prove(record, { urls: [node.url], origin });
      kinds.push(kindsOf(proofs)["/block_hash"]);
      await node.stop();
    }
    expect(kinds).toEqual(["log", "no_log", "no_log", "no_log"]);
  });
});

describe("the receipt behind the proofs of records", () => {
  it("is read once for all records of a transaction, and again only if a node lacked it", async () => {
    const { record, origin } = await registerLast();
    const asked: string[] = [];
    let isLacking = true;
    const node = await startProofNode((method, params) => {
      asked.push(method);
      if (isLacking && method.endsWith("Receipt")) throw new Error("the node is behind");
      return chain.request(method as never, params as never);
    });
    const { prove: run, close } = openRecordProver(
      { deployment, urls: [new Secret(node.url)], onCall: null },
      silentLog,
    );
    const head = { number: origin.block, hash: origin.blockHash };
    const request = { operationId: "getAgent", record, origin, block: origin.block, head, client: "1.2.3.4" };
    const kinds: unknown[] = [];
    for (let round = 0; round < 4; round += 1) {
      kinds.push(kindsOf(await run(request))["/block_hash"]);
      isLacking = false;
    }
    close();
    await node.stop();
    expect(kinds).toEqual(["no_log", "log", "log", "log"]);
    expect(asked.filter((method) => method === "eth_getTransactionReceipt")).toHaveLength(2);
  });
});

describe("the proof of a record, without a node that proves it", () => {
  const reasonOf = async (change: ChangeResult) =>
    withNode(change, async (url) => (await prove(agentOf(1), { urls: [url] })).proofs.reason);

  it("says that there is no node", async () => {
    const { proofs, text } = await prove(agentOf(1), { urls: [] });
    expect(proofs).toMatchObject({ reason: "no_node", header: null, block: null, nodes: [] });
    const { ok, rows } = await check(text);
    expect(ok).toBe(false);
    expect(rows.filter(({ status }) => status === "wrong")).toEqual([]);
  });

  it("says that no node offers proofs", async () => {
    expect(await reasonOf(rejectMethod("eth_getProof"))).toBe("no_proofs");
  });

  it("says that no node has the block of the index", async () => {
    const { proofs } = await prove(agentOf(1), { head: `0x${"77".repeat(32)}` });
    expect(proofs.reason).toBe("block");
  });

  it("takes nothing from a node that changes a proof, the code or the header", async () => {
    const forged: readonly ChangeResult[] = [
      (method, result) => {
        if (method !== "eth_getProof") return result;
        const { accountProof, ...others } = result as { accountProof: Hex[] };
        return { ...others, accountProof: accountProof.map((node) => flipDigit(node, 40)) };
      },
      (method, result) => (method === "eth_getCode" ? `${String(result)}00` : result),
      (method, result) =>
        method === "eth_getBlockByHash"
          ? { ...(result as object), stateRoot: `0x${"42".repeat(32)}` }
          : result,
    ];
    expect(await Promise.all(forged.map(reasonOf))).toEqual(["node_refused", "node_refused", "header"]);
  });

  it("takes nothing from a node that shows other words and not that the record exists", async () => {
    const claims = await withNode(
      (method, result) => {
        if (method !== "eth_getProof") return result;
        const { storageProof, ...others } = result as { storageProof: { proof: Hex[] }[] };
        const [, ...rest] = storageProof;
        const shared = new Set(rest.flatMap(({ proof }) => proof));
        const first = storageProof[0]?.proof.filter((node) => shared.has(node)) ?? [];
        return { ...others, storageProof: [{ proof: first }, ...rest] };
      },
      async (url) => kindsOf((await prove(agentOf(1), { urls: [url] })).proofs),
    );
    expect(new Set(Object.values(claims))).toEqual(new Set(["node_refused"]));
  });

  it("comes from the next node if the first has none", async () => {
    const reason = await withNode(rejectMethod("eth_getProof"), async (url) => {
      const { proofs } = await prove(agentOf(1), { urls: [url, chain.rpcUrl] });
      return proofs.reason;
    });
    expect(reason).toBeNull();
  });
});

describe("the proof of a record of a contract with other code", () => {
  it("counts only if every word fits, and only if the layout is right", async () => {
    const registry = deployment.contracts.AgentRegistry;
    const code = (await chain.request("eth_getCode", [registry, "latest"])) as Hex;
    await chain.setCode(registry, `${code}00`);
    await chain.mine(1);
    try {
      const { text } = await prove(agentOf(1));
      const { ok, rows } = await check(text);
      expect(ok).toBe(false);
      const row = rows.find(({ path }) => path === "/owner");
      expect(row && describeStatus(row)).toBe("proven if the layout is right");
      const { proofs, errors, text: other } = await prove(agentOf(1, { revoked: true }));
      expect(new Set(Object.values(kindsOf(proofs)))).toEqual(new Set(["no_layout"]));
      expect((await check(other)).rows.filter(({ status }) => status === "wrong")).toEqual([]);
      expect(errors).toEqual([]);
    } finally {
      await chain.setCode(registry, code);
      await chain.mine(1);
    }
  });
});
