// A portfolio service that sells the example snapshot for real money of a local chain, as a local run shows itself.
import type { EventEmitter } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import type { PaidRouteDeclaration } from "../../src/portfolio/http/routes/paid-route.ts";
import { WALLET_ROUTES } from "../../src/portfolio/http/routes/paid-routes.ts";
import type { SnapshotReader } from "../../src/portfolio/snapshot.ts";
import { exampleSnapshot } from "../../src/schema/portfolio/examples.ts";
import { type FaultyProxy, startFaultyProxy } from "../client/faulty-proxy.ts";
import { startTestPortfolioWeb } from "../support/http/test-portfolio-web.ts";
import { openPaidStage, type PaidStage } from "../support/payments/paid-stage.ts";
import { runSextantInProcess } from "../support/process/run-in-process.ts";

type PaidRun = {
  readonly paid: PaidStage;
  /** The body of the last snapshot to sell. */
  snapshot: object;
  /** The terms of the service as settings of the guard. */
  readonly pins: Readonly<Record<string, string>>;
  /** A payer of its own, with a dollar unless it says otherwise, and a data folder with its local.json. */
  openPayer(units?: bigint): Promise<PayerOfRun>;
  /** Has the service call itself by the URL that a payer knows, in whose name it challenges. */
  nameOrigin(url: string): void;
  close(): Promise<void>;
};

type PayerOfRun = {
  /** In front of the service: what the commands of this payer reach, so that tests can run at the same time. */
  readonly proxy: FaultyProxy;
  readonly environment: Readonly<Record<string, string>>;
  /** The folder of local.json and the journal. */
  readonly folder: string;
  readonly privateKey: `0x${string}`;
  /** The command in this process; with columns, on a terminal of that width. */
  run(
    args: readonly string[],
    options?: {
      readonly environment?: Readonly<Record<string, string>>;
      readonly columns?: number;
      /** Emits the signals that end it. */
      readonly keyboard?: EventEmitter;
    },
  ): Promise<{ readonly code: number; readonly out: string; readonly err: string }>;
  /** Transactions by which it paid, as the chain has them. */
  transactions(): Promise<readonly string[]>;
};

/** The same route, with its example as the response for every wallet. */
function sellExample(route: PaidRouteDeclaration): PaidRouteDeclaration {
  return {
    ...route,
    createQuery(served) {
      const { parameters, parse } = route.createQuery(served);
      return {
        parameters,
        parse: (values) => {
          const { query } = parse(values);
          const check = async () => undefined;
          const countChains = async () => 1;
          return {
            query,
            countChains,
            readCount: 1,
            check,
            read: async () => ({ ...route.responseExample, address: query.address }),
          };
        },
      };
    },
  };
}

export async function openPaidRun(options: Parameters<PaidStage["serve"]>[0] = {}): Promise<PaidRun> {
  const paid = await openPaidStage("in process");
  const service = await paid.serve(options);
  const run: Pick<PaidRun, "snapshot"> = { snapshot: exampleSnapshot };
  const snapshots = { read: async () => run.snapshot } as unknown as SnapshotReader;
  const web = await startTestPortfolioWeb({
    offer: service.offer,
    sale: service.sale,
    ...(service.offer.signingKeys && { signingKeys: service.offer.signingKeys }),
    snapshots,
    declarations: WALLET_ROUTES.map((route) => (route.path === "/portfolio" ? route : sellExample(route))),
  });
  const proxies: FaultyProxy[] = [];
  const folders: string[] = [];
  return Object.assign(run, {
    paid,
    pins: {
      SEXTANT_GUARD_NETWORK: service.offer.network,
      SEXTANT_GUARD_ASSET: service.offer.asset,
      SEXTANT_GUARD_PAYEES: service.offer.payTo,
    },
    nameOrigin: (url) => Object.defineProperty(service.sale.offer, "resourceOrigin", { value: url }),
    async openPayer(units = 1_000_000n) {
      const privateKey = generatePrivateKey();
      const { address } = privateKeyToAccount(privateKey);
      if (units > 0n) await paid.mint(address, units);
      const folder = mkdtempSync(join(tmpdir(), "sextant-paid-run-"));
      folders.push(folder);
      const proxy = await startFaultyProxy(web.url);
      proxies.push(proxy);
      const { network, asset, payTo } = service.offer;
      const accounts = [{ name: "payer", address, privateKey }];
      // No command of these tests reads the index.
      const local = { pid: process.pid, api: "http://127.0.0.1:9", portfolio: proxy.url };
      writeFileSync(
        join(folder, "local.json"),
        JSON.stringify({ ...local, payment: { network, asset, payTo }, accounts }),
      );
      const environment = { SEXTANT_DATA: folder, HOME: folder };
      return {
        ...{ proxy, environment, folder, privateKey },
        run: (args, options = {}) =>
          runSextantInProcess(
            args,
            { ...environment, ...options.environment },
            folder,
            options.columns ?? null,
            options.keyboard,
          ),
        transactions: async () =>
          (await paid.transfersFrom(address)).map(({ transactionHash }) => String(transactionHash)),
      } satisfies PayerOfRun;
    },
    async close() {
      for (const proxy of proxies) await proxy.stop();
      await web.close();
      await paid.close();
      for (const folder of folders) rmSync(folder, { recursive: true });
    },
  } satisfies Omit<PaidRun, "snapshot">);
}
