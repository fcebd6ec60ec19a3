// The paid service with its chain, and Node's own HTTP server with the same 402 alongside it.
import type { ServerReady } from "../api/cpu-time.ts";
import type { BenchDatabaseTarget } from "../harness/bench-database.ts";
import type { StartChild } from "../harness/with-children.ts";
import type { PaymentChainReady, PaymentChainTask } from "./paid-chain-child.ts";
import type { ServiceTask } from "./service-child.ts";
import type { UnpaidTask } from "./unpaid-ceiling-child.ts";

type BenchPaidService = {
  readonly chain: PaymentChainReady;
  readonly service: ServerReady;
  readonly raw: ServerReady;
  /** The offer, without the address of a server. */
  readonly path: string;
  stop(): Promise<void>;
};

export async function startPaidService(
  start: StartChild,
  place: BenchDatabaseTarget,
  payers: number,
): Promise<BenchPaidService> {
  const chainTask: PaymentChainTask = { payers };
  const chain = await start(
    "paid chain",
    "portfolio/paid-chain-child.ts",
    chainTask,
  ).next<PaymentChainReady>();
  const serviceTask: ServiceTask = { ...place, chain };
  const sold = start("service", "portfolio/service-child.ts", serviceTask);
  const service = await sold.next<ServerReady>();
  const path = `/portfolio?address=${chain.wallet}&chains=local`;
  const unpaidTask: UnpaidTask = { url: service.url + path };
  const raw = await start("node:http", "portfolio/unpaid-ceiling-child.ts", unpaidTask).next<ServerReady>();
  return { chain, service, raw, path, stop: () => sold.stop() };
}
