// The paid service with its chain beneath it, and Node's own HTTP server that answers with the same 402 beside it.
import type { ServerReady } from "../api/server-child.ts";
import type { BenchPlace } from "../harness/bench-database.ts";
import type { Start } from "../harness/with-children.ts";
import type { PaidChain, PaidChainTask } from "./paid-chain-child.ts";
import type { ServiceTask } from "./service-child.ts";
import type { UnpaidTask } from "./unpaid-ceiling-child.ts";

export type PaidService = {
  readonly chain: PaidChain;
  readonly service: ServerReady;
  readonly raw: ServerReady;
  /** What is sold, without the address of a server. */
  readonly path: string;
  stop(): Promise<void>;
};

export async function startPaidService(
  start: Start,
  place: BenchPlace,
  payers: number,
): Promise<PaidService> {
  const chainTask: PaidChainTask = { payers };
  const chain = await start("paid chain", "portfolio/paid-chain-child.ts", chainTask).next<PaidChain>();
  const serviceTask: ServiceTask = { ...place, chain };
  const sold = start("service", "portfolio/service-child.ts", serviceTask);
  const service = await sold.next<ServerReady>();
  const path = `/portfolio?address=${chain.wallet}&chains=local`;
  const unpaidTask: UnpaidTask = { url: service.url + path };
  const raw = await start("node:http", "portfolio/unpaid-ceiling-child.ts", unpaidTask).next<ServerReady>();
  return { chain, service, raw, path, stop: () => sold.stop() };
}
