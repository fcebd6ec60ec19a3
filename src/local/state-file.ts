// local.json: URLs, addresses and keys of a local run, for scripts. Deleted when the run ends.
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import type { PaymentOffer } from "../payments/paywall/offer.ts";
import type { LocalMarket } from "./markets.ts";
import type { LocalSimulation } from "./simulation.ts";

/** Payments by the client commands to this run. */
export const LOCAL_JOURNAL = "payments.jsonl";

export type LocalUrls = { readonly api: string; readonly portfolio: string; readonly facilitator: string };

export type LocalRun = {
  readonly urls: LocalUrls;
  readonly simulation: LocalSimulation;
  readonly markets: readonly LocalMarket[];
  readonly offer: PaymentOffer;
};

/** Returns the path. Runs with the same data folder share the file; the last one wins. */
export async function writeLocalState(dataFolder: string, run: LocalRun): Promise<string> {
  await mkdir(dataFolder, { recursive: true });
  await deleteJournal(dataFolder);
  const path = join(dataFolder, "local.json");
  // Rename into place, so that scripts never read a partial file. Owner-only, although the keys are public.
  const temporary = `${path}.${process.pid}`;
  await writeFile(temporary, `${JSON.stringify(toState(run), null, 2)}\n`, { mode: 0o600 });
  await rename(temporary, path);
  return relative(".", path);
}

/** Keeps the file if another run has replaced it. */
export async function deleteLocalState(path: string): Promise<void> {
  const text = await readFile(path, "utf8").catch(() => "{}");
  if ((JSON.parse(text) as { pid?: number }).pid !== process.pid) return;
  await rm(path, { force: true });
  await deleteJournal(dirname(path));
}

/** What was paid on a chain that is gone says nothing about the next one. */
function deleteJournal(dataFolder: string): Promise<void> {
  return rm(join(dataFolder, LOCAL_JOURNAL), { force: true });
}

function toState({ urls, simulation, markets, offer }: LocalRun): object {
  const { deployment, accounts, rpcUrl, wsUrl } = simulation;
  const { network, asset, payTo, amount } = offer;
  return {
    pid: process.pid,
    api: urls.api,
    portfolio: urls.portfolio,
    facilitator: urls.facilitator,
    chains: [
      { name: "local", chainId: deployment.chainId, rpcUrl, wsUrl },
      ...markets.map((market) => ({
        name: market.slug,
        chainId: market.chainId,
        rpcUrl: market.rpcUrl,
        wsUrl: market.wsUrl,
      })),
    ],
    deployment,
    payment: { network, asset, payTo, amount: amount.toString() },
    accounts: Object.entries(accounts).map(([name, { address, privateKey }]) => ({
      name,
      address,
      privateKey,
    })),
  };
}
