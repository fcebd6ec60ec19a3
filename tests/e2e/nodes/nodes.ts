// The nodes between the services and the chains, each with the faults that it may have.

import type { MarketChain } from "../chains/market-chain.ts";
import { FINALITY, type ProtocolChain } from "../chains/protocol-chain.ts";
import { type Carried, createCarried } from "../chains/submitted-payments.ts";
import type { Observations } from "../observations.ts";
import { type AbsurdFees, createAbsurdFees } from "./excessive-fees.ts";
import { type NodeCharacter, startTroubledNode, type TroubledNode } from "./flaky-node.ts";
import { createFrontRunner, type FrontRunner } from "./front-runner.ts";
import { createLagging, type Lagging } from "./lagging-fault.ts";
import { createOmission, type Omission } from "./log-omission.ts";
import type { NodeFault } from "./node-fault.ts";
import { startProxiedNode } from "./proxied-node.ts";

export type RiverNodes = {
  readonly troubled: readonly TroubledNode[];
  readonly protocolUrls: readonly string[];
  readonly marketUrls: readonly string[];
  /** One for each node of the protocol chain. */
  readonly lagging: readonly Lagging[];
  readonly fees: readonly AbsurdFees[];
  /** Of the node that is asked first. */
  readonly omission: Omission;
  readonly frontRunner: FrontRunner;
  readonly carried: Carried;
};

export type RiverNodeOptions = {
  readonly protocol: ProtocolChain;
  readonly market: MarketChain;
  readonly observations: Observations;
  readonly random: (name: string) => () => number;
  /** Whether a node may also be silent. */
  readonly silent: boolean;
  readonly closers: (() => Promise<void>)[];
};

export async function openRiverNodes(options: RiverNodeOptions): Promise<RiverNodes> {
  const { protocol, market, observations, random, closers } = options;
  const { chain, asset, stranger } = protocol;
  const counting = (kind: string) => ({ onFault: () => observations.count(kind) });
  const carried = createCarried(asset);
  const omission = createOmission(counting("responses with logs omitted"));
  const frontRunner = createFrontRunner({
    ...counting("payments front-run"),
    chain: chain.request,
    account: stranger.address,
    asset,
    random: random("front-runner's choice"),
    carried,
  });
  const lagging = [1, 2].map(() =>
    createLagging({ finalityDepth: FINALITY, ...counting("responses from behind") }),
  );
  const fees = [1, 2].map(() => createAbsurdFees(counting("absurd fees named")));

  const troubled = async (upstream: string, character: NodeCharacter, name: string) => {
    const opened = await startTroubledNode({
      upstream,
      character,
      random: random(name),
      silent: options.silent && character === "liar",
      onInjection: () => observations.count("RPC faults"),
    });
    closers.push(opened.stop);
    return opened;
  };
  const protocolNode = async (number: 0 | 1, character: NodeCharacter, more: readonly NodeFault[]) => {
    const own = [fees[number]?.fault, lagging[number]?.fault].filter((each) => each !== undefined);
    const faults = [...more, ...own, frontRunner.fault, carried.watch];
    const proxied = await startProxiedNode(chain.request, faults);
    closers.push(proxied.stop);
    return troubled(proxied.url, character, character);
  };
  const liar = await protocolNode(0, "liar", [omission.fault]);
  const flaky = await protocolNode(1, "flaky", []);
  const base = await troubled(market.chain.rpcUrl, "flaky", "base");
  return {
    troubled: [liar, flaky, base],
    protocolUrls: [liar.url, flaky.url],
    marketUrls: [base.url],
    lagging,
    fees,
    omission,
    frontRunner,
    carried,
  };
}
