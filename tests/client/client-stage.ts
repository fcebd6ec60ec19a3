// A portfolio service that sells for real money of a local chain, with the parts that clients of tests need.

import { numberToHex } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import type { GuardOptions } from "../../packages/client/payments/guard.ts";
import { addEndpointRoutes } from "../../src/http/routes/endpoints.ts";
import { createHttpServer } from "../../src/http/server.ts";
import type { Fault } from "../../src/lib/fault.ts";
import { createPaidEndpoint } from "../../src/portfolio/http/endpoint.ts";
import type { RouteServices } from "../../src/portfolio/http/routes/paid-route.ts";
import { portfolioRoute } from "../../src/portfolio/http/routes/portfolio.ts";
import { DEFAULT_CHAINS } from "../../src/portfolio/query.ts";
import { ReadLoad } from "../../src/portfolio/read-load.ts";
import type { SnapshotReader } from "../../src/portfolio/snapshot.ts";
import { exampleSnapshot } from "../../src/schema/portfolio/examples.ts";
import { NO_LIMITS } from "../support/http/no-limits.ts";
import { TEST_NETWORK } from "../support/payments/paid-client.ts";
import { openPaidStage, type PaidStage } from "../support/payments/paid-stage.ts";
import { silentLog } from "../support/quiet-log.ts";

export type ClientStage = Awaited<ReturnType<typeof openClientStage>>;

/** The real route, payments and chain; what is sold is the example, for any wallet. */
export async function openClientStage(options: Parameters<PaidStage["serve"]>[0] = {}) {
  const paid = await openPaidStage("in process");
  const { close: closeShop, ...parts } = await openShop(paid, options);
  return {
    paid,
    ...parts,
    /** Everything pinned, and room for many payments. */
    guard: {
      network: TEST_NETWORK,
      asset: paid.asset,
      payees: [paid.payTo],
      perHour: "1000",
      perDay: "1000",
      total: "1000",
    } satisfies GuardOptions,
    async payer(
      dollars = 1n,
    ): Promise<{ readonly account: PrivateKeyAccount; readonly privateKey: `0x${string}` }> {
      const privateKey = generatePrivateKey();
      const account = privateKeyToAccount(privateKey);
      await paid.mint(account.address, dollars * 1_000_000n);
      return { account, privateKey };
    },
    /** Transactions by which the account paid: those of the chain, and those of the ledger. */
    async payments(payer: `0x${string}`) {
      const transfers = await paid.transfersFrom(payer);
      const { rows } = await paid.database.query<{ transaction: string }>({
        text: "select transaction from payments where payer = $1 and state = 'settled'",
        values: [payer.toLowerCase()],
      });
      return {
        chain: transfers.map(({ transactionHash }) => transactionHash as string).sort(),
        ledger: rows.map(({ transaction }) => transaction).sort(),
      };
    },
    async close() {
      await closeShop();
      await paid.close();
    },
  };
}

/** One more service on the chain of a stage. */
export async function openShop(paid: PaidStage, options: Parameters<PaidStage["serve"]>[0] = {}) {
  const service = await paid.serve(options);
  const runs: string[] = [];
  const reads: { fault: Fault | null } = { fault: null };
  const snapshots = createExampleSnapshots(runs, reads);
  const server = createHttpServer({
    ...NO_LIMITS,
    log: silentLog,
    bodyBytesMax: 4_096,
    requestMsMax: 30_000,
    checkReadiness: async () => ({ ready: true }),
  });
  const sold = { declaration: portfolioRoute, sale: service.sale };
  const names = new Map<string, string>();
  const parts = { snapshots, load: new ReadLoad(new Map()), ...createMovingChain(), ...createNames(names) };
  const services = parts as unknown as RouteServices;
  addEndpointRoutes(server.app, [createPaidEndpoint({ sold, served: DEFAULT_CHAINS, services, page: null })]);
  const url = await server.listen({ host: "127.0.0.1", port: 0, portVariable: "TEST_PORT" });
  return {
    service,
    url,
    /** Wallets that were read, in order. */
    runs,
    /** The error with which reading a wallet fails, while it is set. */
    reads,
    /** The wallets that names lead to. */
    names,
    close: () => server.close(),
  };
}

/** The example as of the blocks that are asked for. */
function createExampleSnapshots(runs: string[], reads: { readonly fault: Fault | null }): SnapshotReader {
  return {
    read: async ({ wallet, blocks }) => {
      runs.push(wallet);
      if (reads.fault !== null) throw reads.fault;
      const read = [...(blocks ?? [])].map(([chain, number]) => ({
        chain,
        number,
        hash: numberToHex(number),
      }));
      return { ...exampleSnapshot, address: wallet, ...(blocks && { blocks: read }) };
    },
  };
}

const BLOCK_SECONDS = 12;

/** Base with another final block at every request: an age leads to the next one each time, and a date to the same. */
function createMovingChain() {
  let requests = 0;
  const startMs = Date.now();
  const clock = {
    nowMs: () => {
      requests += 1;
      return startMs + requests * BLOCK_SECONDS * 1_000;
    },
  };
  const base = {
    canPin: () => true,
    blockAt: async (seconds: number) => {
      const number = Math.floor(seconds / BLOCK_SECONDS);
      return { number, timestamp: number * BLOCK_SECONDS };
    },
  };
  const freeReads = { run: (_: string, read: () => Promise<unknown>) => read() };
  return { chains: new Map([["base", base]]), clock, freeReads };
}

function createNames(names: ReadonlyMap<string, string>) {
  return { names: { resolve: async (name: string) => ({ name, address: names.get(name) }) } };
}

/** Wallets that no other purchase asks for. */
export function walletAt(index: number): `0x${string}` {
  return `0x${(index + 1).toString(16).padStart(40, "0")}`;
}
