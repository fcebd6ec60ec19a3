// Reconciliation as a process of its own: rows of the ledger against a chain, before and after the blocks are final.
import { toEventSelector } from "viem";
import { getLogsCall } from "../../src/chain/logs/get-logs.ts";
import { parseLog } from "../../src/chain/logs/log.ts";
import { createRpc } from "../../src/chain/rpc/client.ts";
import { rawCall } from "../../src/chain/rpc/types.ts";
import { Secret } from "../../src/lib/secret.ts";
import { type BenchDatabaseTarget, benchLog, openBenchDatabase } from "../harness/bench-database.ts";
import { sendToParent } from "../harness/progress.ts";
import { openBenchGate } from "../portfolio/bench-gate.ts";
import type { SettledChain } from "./settled-chain-child.ts";

export type ReconcileBenchTask = BenchDatabaseTarget & { readonly chain: SettledChain };

type Measured = { readonly rows: number; readonly ms: number; readonly requests: number };

export type ReconcileBenchReport = {
  /** Settled, in blocks that are not final yet: checked in every reconciliation. */
  readonly watched: Measured;
  /** The same rows once their blocks are final. */
  readonly finalized: Measured;
  /** Rows whose outcome is unknown although the transfer has happened. */
  readonly found: Measured;
};

const FINALITY_DEPTH = 32;

const { chain, ...place } = JSON.parse(process.argv[2] ?? "") as ReconcileBenchTask;
const { asset, payTo } = chain;
const network = `eip155:${chain.chainId}` as const;
const database = await openBenchDatabase(place);
const urls = [new Secret(chain.url)];
let requests = 0;
const rpc = createRpc({
  urls,
  chainId: chain.chainId,
  log: benchLog,
  onCall: () => {
    requests += 1;
  },
});
/** Every payment that was carried out, from the chain itself. */
const filter = {
  address: asset,
  topics: [toEventSelector("AuthorizationUsed(address,bytes32)")],
  fromBlock: "0x0",
};
const payments = await rpc.request(
  getLogsCall(filter, (logs) =>
    logs.map(parseLog).map(({ topics, transactionHash, blockNumber, blockHash }) => ({
      payer: `0x${topics[1]?.slice(26)}`,
      nonce: topics[2] ?? "",
      transaction: transactionHash,
      blockNumber,
      blockHash,
    })),
  ),
);
const gate = await openBenchGate(chain, {
  rpc,
  database,
  amount: BigInt(chain.price),
  finality: { finalityDepth: FINALITY_DEPTH, finalityDepthMin: 0 },
});

async function fill(state: "settled" | "settling"): Promise<void> {
  await database.query("truncate payments");
  const known = state === "settled";
  const column = (name: keyof (typeof payments)[number]) => payments.map((payment) => payment[name]);
  await database.query({
    text: `insert into payments (network, asset, payer, nonce, pay_to, amount, valid_before, fingerprint,
        payment_digest, payload, terms, state, verified, attempts, transaction, block_number, block_hash, settled_at)
      select $1, $2, payer, nonce, $3, $4, $5, 'fingerprint', 'digest', '{}', '{}', $6, true, 1,
        transaction, number, hash, case when $7 then now() end
      from unnest($8::text[], $9::text[], $10::text[], $11::bigint[], $12::text[])
        as rows (payer, nonce, transaction, number, hash)`,
    values: [
      ...[network, asset, payTo, chain.price, chain.validBefore, state, known],
      ...[column("payer"), column("nonce")],
      ...(["transaction", "blockNumber", "blockHash"] as const).map((name) =>
        column(name).map((value) => (known ? value : null)),
      ),
    ],
  });
}

const count = async (condition: string): Promise<number> => {
  const { rows } = await database.query<{ n: string }>(
    `select count(*)::text as n from payments where ${condition}`,
  );
  return Number(rows[0]?.n);
};

/** Reconciles until nothing is left, at most as often as rows could need it. */
async function measure(isDone: () => Promise<boolean>): Promise<Measured> {
  requests = 0;
  const startedMs = performance.now();
  for (let runs = 0; runs < payments.length; runs += 1) {
    await gate.reconcile();
    if (await isDone()) break;
  }
  return { rows: payments.length, ms: performance.now() - startedMs, requests };
}

await fill("settled");
const watched = await measure(async () => true);
await rpc.request(rawCall("hardhat_mine", ["0x40"]));
const finalized = await measure(async () => (await count("not final")) === 0);
await fill("settling");
const found = await measure(async () => (await count("state = 'settling'")) === 0);
const report: ReconcileBenchReport = { watched, finalized, found };
sendToParent(report);
rpc.close();
await database.close();
