// Everything money passes through, for real: two chains, a database, two selling processes, facilitators and a bad way to them.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LOCAL_GENESIS_CODE } from "@sextant/contracts/deploy/deploy";
import { type LocalChain, startLocalChain } from "@sextant/local-chain/local-chain";
import { deployFundedMarket } from "@sextant/simulator/fund-market";
import { Secret } from "../../../src/lib/secret.ts";
import { type Database, openDatabase } from "../../../src/store/postgres/database.ts";
import { startLaggingNode } from "../../support/nodes/lagging-node.ts";
import { silentLog } from "../../support/quiet-log.ts";
import { type FaultyFacilitator, startFaultyFacilitator } from "./faulty-facilitator.ts";
import { type PaymentChain, startPaymentChain } from "./payment-chain.ts";
import { type RestartedProcess, startRestartedProcess } from "./restarted-process.ts";

export type ChaosStage = {
  readonly paid: PaymentChain;
  readonly facilitatorProxy: FaultyFacilitator;
  readonly portfolios: readonly RestartedProcess[];
  /** A key each, behind one address. */
  readonly facilitators: readonly RestartedProcess[];
  /** The ledger that the services share. */
  readonly database: Database;
  /** Wallets with something to show. */
  readonly wallets: readonly string[];
  close(): Promise<void>;
};

const BASE = 8453;
const LISTENS = /"event":"[a-z]+_listening","url":"(http:\/\/127\.0\.0\.1:\d+)"/;

export async function openChaosStage(options: {
  readonly databaseUrl: string;
  readonly payers: number;
  readonly facilitators: number;
  readonly random: () => number;
  readonly faultySettles: number;
  readonly onSettle: (number: number) => void;
}): Promise<ChaosStage> {
  const closing: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const end of closing.splice(0).reverse()) await end();
  };
  try {
    const cwd = await mkdtemp(join(tmpdir(), "sextant-money-"));
    closing.push(() => rm(cwd, { recursive: true, force: true }));
    const [market, paid] = await Promise.all([startMarket(), startPaymentChain(options.payers)]);
    closing.push(() => market.stop());
    closing.push(() => paid.chain.stop());
    // The services read a node that is always a block behind the facilitator's.
    const behind = await startLaggingNode(paid.chain.rpcUrl);
    closing.push(() => behind.stop());
    const shared = { ...paymentEnvironment(paid), DATABASE_URL: options.databaseUrl };
    const start = async (command: string, environment: Readonly<Record<string, string>>) => {
      const started = await startRestartedProcess({ command, environment, cwd, listens: LISTENS });
      closing.push(() => started.stop());
      return started;
    };
    const facilitators: RestartedProcess[] = [];
    const way = await startFaultyFacilitator({
      ...options,
      target: takeTurns(facilitators),
      frontRun: paid.frontRun,
    });
    closing.push(() => way.stop());
    const settling = { ...shared, FACILITATOR_PORT: "0", FACILITATOR_PAYEES: paid.payTo };
    const selling = {
      ...shared,
      PAYMENT_RPC_URL: behind.url,
      PORTFOLIO_PORT: "0",
      PORTFOLIO_PUBLIC_URL: "https://portfolio.example",
      [`RPC_URL_${BASE}`]: market.rpcUrl,
      PAY_TO: paid.payTo,
      FACILITATOR_URL: way.url,
    };
    const keys = await paid.fundKeys(options.facilitators);
    const startFacilitator = (key: string) =>
      start("facilitator", { ...settling, FACILITATOR_PRIVATE_KEY: key });
    const [settlers, portfolios] = await Promise.all([
      Promise.all(keys.map(startFacilitator)),
      Promise.all([start("portfolio", selling), start("portfolio", selling)]),
    ]);
    facilitators.push(...settlers);
    const database = await openDatabase({
      connection: { url: new Secret(options.databaseUrl) },
      schema: "sextant",
      poolMax: 2,
      log: silentLog,
      applicationName: "money",
    });
    closing.push(() => database.close());
    const { payer, agent, solver, merchant } = market.accounts;
    const wallets = [payer, agent, solver, merchant].map(({ address }) => address.toLowerCase());
    return { paid, facilitatorProxy: way, portfolios, facilitators, database, wallets, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** One address for all: each request goes to the next process that is up. */
function takeTurns(processes: readonly RestartedProcess[]): () => string | null {
  let turns = 0;
  return () => {
    const up = processes.flatMap(({ url }) => url ?? []);
    turns += 1;
    return up[turns % up.length] ?? null;
  };
}

function paymentEnvironment({ chain, asset }: PaymentChain): Readonly<Record<string, string>> {
  return {
    PAYMENT_NETWORK: `eip155:${chain.chainId}`,
    PAYMENT_RPC_URL: chain.rpcUrl,
    PAYMENT_ASSET: asset,
    PAYMENT_ASSET_NAME: "USD Coin",
    PAYMENT_ASSET_VERSION: "2",
    SEXTANT_REQUESTS_PER_MINUTE: "0",
    // All payers are behind one address.
    PORTFOLIO_UNPAID_PER_MINUTE: "0",
    SEXTANT_DEBUG: "true",
  };
}

async function startMarket(): Promise<LocalChain> {
  const market = await startLocalChain({ chainId: BASE, code: LOCAL_GENESIS_CODE });
  await deployFundedMarket(market, "base");
  return market;
}
