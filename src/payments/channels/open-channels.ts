// The parts of paying by channel that requests, reconciliation and commands share.
import type { Rpc } from "../../chain/rpc/types.ts";
import type { Hex } from "../../lib/hex.ts";
import type { Log } from "../../lib/log.ts";
import type { StatementRunner } from "../../schema/record-store.ts";
import { GATE_LIMITS } from "../paywall/limits.ts";
import { ChannelDigests } from "./channel-config.ts";
import { ChannelMirror } from "./channel-mirror.ts";
import { createChannelReader } from "./channel-reader.ts";
import { ChannelRows } from "./channel-rows.ts";
import type { ChannelSender } from "./channel-sender.ts";
import { ClaimRows } from "./claim-rows.ts";
import { CHANNEL_LIMITS } from "./limits.ts";
import { MirrorRows } from "./mirror-rows.ts";
import { OperatorInstructions } from "./operator-rows.ts";

/** The key that signs claims and refunds for the receiver. */
export type ReceiverAuthorizer = {
  readonly address: Hex;
  sign(digest: Hex): Promise<Hex>;
};

/** A channel is claimed when one of these holds, or when its payer starts to withdraw. */
export type ClaimRules = {
  /** Unclaimed units that are worth a transaction. */
  readonly valueMin: bigint;
  readonly ageSecondsMax: number;
  /**
   * Units of one channel below which a claim costs more gas than it brings: such a channel is not claimed, even while its
   * payer withdraws. Otherwise anyone could make us pay with tiny deposits. 0 by default.
   */
  readonly rowMin?: bigint;
};

export type ChannelParts = ReturnType<typeof openChannels>;

export function openChannels({
  network,
  store,
  rpc,
  finality,
  sender,
  authorizer,
  formerAuthorizers = [],
  exposureMax,
  claimRules,
  log,
  limits = {},
}: {
  readonly network: string;
  readonly store: StatementRunner;
  /** Our own nodes. */
  readonly rpc: Rpc;
  readonly finality: { readonly depthFallback: number; readonly depthMin: number };
  readonly sender: ChannelSender;
  readonly authorizer: ReceiverAuthorizer;
  /** Former ones: their channels are served, claimed and refunded until they are empty, and get no deposits. */
  readonly formerAuthorizers?: readonly ReceiverAuthorizer[];
  /** The sum that one channel may owe beyond the part of its balance that is final. */
  readonly exposureMax: bigint;
  readonly claimRules: ClaimRules;
  readonly log: Log;
  readonly limits?: Partial<typeof CHANNEL_LIMITS>;
}) {
  const channelLimits = { ...CHANNEL_LIMITS, ...limits };
  const { failuresMax, failureWindowMs } = GATE_LIMITS;
  const rows = new ChannelRows(store, network, { ...channelLimits, failuresMax, failureWindowMs });
  const mirror = new ChannelMirror({
    reader: createChannelReader(rpc, finality),
    rows: new MirrorRows(store, network, channelLimits),
    blockAgeMsMax: channelLimits.blockAgeMsMax,
    log,
  });
  return {
    digests: new ChannelDigests(network),
    claimRows: new ClaimRows(store, network, channelLimits),
    instructions: new OperatorInstructions(store, network),
    /** Signers by address, the one of new channels first. */
    authorizers: new Map([authorizer, ...formerAuthorizers].map((each) => [each.address, each])),
    ...{ network, rows, mirror, sender, exposureMax, claimRules, channelLimits },
  };
}
