// Where everything of a local run is, in a file for scripts; it is gone when the run is.
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import type { PaymentOffer } from "../payments/paywall/offer.ts";
import type { LocalMarket } from "./markets.ts";
import type { LocalSimulation } from "./simulation.ts";

export type LocalRun = {
  readonly urls: { readonly api: string; readonly portfolio: string; readonly facilitator: string };
  readonly simulation: LocalSimulation;
  readonly markets: readonly LocalMarket[];
  readonly offer: PaymentOffer;
};

/** Answers with the path; two runs with the same data folder share it, and the later one is told of. */
export async function writeLocalState(dataFolder: string, run: LocalRun): Promise<string> {
  await mkdir(dataFolder, { recursive: true });
  const path = join(dataFolder, "local.json");
  // Renamed into place: a script that looks meanwhile finds a whole file. Its keys are public, and still nobody's else.
  const unfinished = `${path}.${process.pid}`;
  await writeFile(unfinished, `${JSON.stringify(stateOf(run), null, 2)}\n`, { mode: 0o600 });
  await rename(unfinished, path);
  return relative(".", path);
}

/** Leaves the file of another run alone. */
export async function deleteLocalState(path: string): Promise<void> {
  const text = await readFile(path, "utf8").catch(() => "{}");
  if ((JSON.parse(text) as { pid?: number }).pid === process.pid) await rm(path, { force: true });
}

function stateOf({ urls, simulation: economy, markets, offer }: LocalRun): object {
  const { deployment, accounts, rpcUrl, wsUrl } = economy;
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
