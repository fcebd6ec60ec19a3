// local.json: URLs, addresses and keys of a local run, for scripts. Deleted when the run ends.
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { PaymentOffer } from "../payments/paywall/offer.ts";
import type { LocalMarket } from "./markets.ts";
import { deleteRunFile, LOCAL_JOURNAL, type RunState, writeRunFile } from "./run-files.ts";
import type { LocalSimulation } from "./simulation.ts";

export type LocalUrls = { readonly api: string; readonly portfolio: string; readonly facilitator: string };

export type LocalRun = {
  readonly urls: LocalUrls;
  readonly simulation: LocalSimulation;
  readonly markets: readonly LocalMarket[];
  readonly offer: PaymentOffer;
} & Pick<RunState, "hasDatabaseUrl" | "operator">;

/** Returns the path. */
export async function writeLocalState(dataFolder: string, run: LocalRun): Promise<string> {
  await deleteJournal(dataFolder);
  return writeRunFile(dataFolder, "local", toState(run));
}

export async function deleteLocalState(path: string): Promise<void> {
  if (await deleteRunFile(path)) await deleteJournal(dirname(path));
}

/** Payments on a chain that is gone say nothing about the next one. */
function deleteJournal(dataFolder: string): Promise<void> {
  return rm(join(dataFolder, LOCAL_JOURNAL), { force: true });
}

function toState({ urls, simulation, markets, offer, hasDatabaseUrl, operator }: LocalRun): RunState {
  const { deployment, accounts, rpcUrl, wsUrl } = simulation;
  const { network, asset, payTo, amount } = offer;
  const state = {
    pid: process.pid,
    hasDatabaseUrl,
    operator,
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
  return state;
}
