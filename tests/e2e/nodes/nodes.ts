// The nodes between the services and the chains, each with the faults that it may have.

import type { MarketChain } from "../chains/market-chain.ts";
import { E2E_FINALITY_DEPTH, type ProtocolChain } from "../chains/protocol-chain.ts";
import { createSubmittedPayments, type SubmittedPayments } from "../chains/submitted-payments.ts";
import type { Observations } from "../observations.ts";
import { createExcessiveFees, type ExcessiveFees } from "./excessive-fees.ts";
import { type FlakyNode, type FlakyNodeFaults, startFlakyNode } from "./flaky-node.ts";
import { createFrontRunner, type FrontRunner } from "./front-runner.ts";
import { createLaggingFault, type LaggingFault } from "./lagging-fault.ts";
import { createLogOmission, type LogOmission } from "./log-omission.ts";
import type { NodeFault } from "./node-fault.ts";
import { startProxiedNode } from "./proxied-node.ts";

export type E2eNodes = {
  readonly faulty: readonly FlakyNode[];
  readonly protocolUrls: readonly string[];
  readonly marketUrls: readonly string[];
  /** One for each node of the protocol chain. */
  readonly lagging: readonly LaggingFault[];
  readonly fees: readonly ExcessiveFees[];
  /** The omission of logs by the preferred node. */
  readonly omission: LogOmission;
  readonly frontRunner: FrontRunner;
  readonly carried: SubmittedPayments;
};

type E2eNodeOptions = {
  readonly protocol: ProtocolChain;
  readonly market: MarketChain;
  readonly observations: Observations;
  readonly random: (name: string) => () => number;
  /** Whether a node may also not respond. */
  readonly silent: boolean;
  readonly closers: (() => Promise<void>)[];
};

export async function openE2eNodes(options: E2eNodeOptions): Promise<E2eNodes> {
  const { protocol, market, observations, random, closers } = options;
  const { chain, asset, outsider } = protocol;
  const counting = (kind: string) => ({ onFault: () => observations.count(kind) });
  const carried = createSubmittedPayments(asset);
  const omission = createLogOmission(counting("responses with logs omitted"));
  const frontRunner = createFrontRunner({
    ...counting("payments front-run"),
    chain: chain.request,
    account: outsider.address,
    asset,
    random: random("front-runner's choice"),
    carried,
  });
  const lagging = [1, 2].map(() =>
    createLaggingFault({ finalityDepth: E2E_FINALITY_DEPTH, ...counting("lagging responses") }),
  );
  const fees = [1, 2].map(() => createExcessiveFees(counting("excessive fees suggested")));

  const startFaulty = async (upstream: string, character: FlakyNodeFaults, name: string) => {
    const opened = await startFlakyNode({
      upstream,
      character,
      random: random(name),
      silent: options.silent && character === "liar",
      onInjection: () => observations.count("RPC faults"),
    });
    closers.push(opened.stop);
    return opened;
  };
  const protocolNode = async (number: 0 | 1, character: FlakyNodeFaults, more: readonly NodeFault[]) => {
    const own = [fees[number]?.fault, lagging[number]?.fault].filter((each) => each !== undefined);
    const faults = [...more, ...own, frontRunner.fault, carried.watch];
    const proxied = await startProxiedNode(chain.request, faults);
    closers.push(proxied.stop);
    return startFaulty(proxied.url, character, character);
  };
  const liar = await protocolNode(0, "liar", [omission.fault]);
  const flaky = await protocolNode(1, "flaky", []);
  const base = await startFaulty(market.chain.rpcUrl, "flaky", "base");
  return {
    faulty: [liar, flaky, base],
    protocolUrls: [liar.url, flaky.url],
    marketUrls: [base.url],
    lagging,
    fees,
    omission,
    frontRunner,
    carried,
  };
}
