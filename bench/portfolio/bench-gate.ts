// The gate of a benchmark: sells over a local chain, with a facilitator in the same process.
import { privateKeyToAccount } from "viem/accounts";
import { localChain } from "../../src/chain/chains/chains.ts";
import type { Rpc } from "../../src/chain/rpc/types.ts";
import type { Hex } from "../../src/lib/hex.ts";
import { Secret } from "../../src/lib/secret.ts";
import type { ChannelTerms } from "../../src/payments/channels/channel-terms.ts";
import { openChannels, type ReceiverAuthorizer } from "../../src/payments/channels/open-channels.ts";
import { claimKey } from "../../src/payments/facilitator/key-claim.ts";
import { createLocalFacilitator, type LocalFacilitator } from "../../src/payments/facilitator/local.ts";
import { createGate, type Gate, type Sale } from "../../src/payments/paywall/gate.ts";
import { createSettlementLookup } from "../../src/payments/settlement/onchain.ts";
import type { StatementRunner } from "../../src/schema/record-store.ts";
import type { Database } from "../../src/store/postgres/database.ts";
import { openRecordStore } from "../../src/store/postgres/record-store.ts";
import { benchLog } from "../harness/bench-database.ts";

type BenchPaymentChain = {
  readonly url: string;
  readonly chainId: number;
  readonly asset: Hex;
  readonly payTo: Hex;
  readonly facilitatorKey: Hex;
};

type BenchChannels = { readonly authorizer: ReceiverAuthorizer; readonly minDeposit: bigint };

const keyAddress = (key: Hex) => privateKeyToAccount(key).address.toLowerCase() as Hex;

export async function openBenchGate(
  chain: BenchPaymentChain,
  options: {
    readonly rpc: Rpc;
    readonly database: Database;
    readonly amount: bigint;
    readonly finality: Parameters<typeof createSettlementLookup>[1];
    /** Sells by channel too. */
    readonly channels?: BenchChannels;
  },
): Promise<Gate & Sale> {
  const network = `eip155:${chain.chainId}` as const;
  const { asset, payTo } = chain;
  const { rpc, database, amount, finality } = options;
  const store = openRecordStore(database);
  const facilitator = createLocalFacilitator({
    network,
    urls: [new Secret(chain.url)],
    privateKey: new Secret(chain.facilitatorKey),
    store,
    turns: await claimKey({ database, network, address: keyAddress(chain.facilitatorKey), log: benchLog }),
    gas: { ...localChain.gas, revertedGasMax: 2_000_000n, paymentPercent: null },
    log: benchLog,
    onCall: null,
  });
  const { channels } = options;
  const gate = createGate({
    scope: { network, asset },
    store,
    facilitator,
    ...(channels
      ? { channels: openBenchChannels(channels, { network, store, rpc, facilitator, finality }) }
      : {}),
    lookup: createSettlementLookup(rpc, finality),
    // All payers are behind one address, and reconciliation is measured without its pauses.
    limits: { unpaidPerClientPerMinute: 0, recheckMsMin: 0 },
    log: benchLog,
  });
  const sale = gate.sell({
    network,
    asset,
    assetName: "USD Coin",
    assetVersion: "2",
    decimals: 6,
    payTo,
    amount,
    maxTimeoutSeconds: 60,
    description: "A snapshot.",
    mimeType: "application/json",
    resourceOrigin: "https://sold.example",
    listing: null,
    ...(channels ? { channels: termsOf(channels) } : {}),
  });
  return { ...gate, ...sale };
}

function termsOf({ authorizer, minDeposit }: BenchChannels): ChannelTerms {
  return { receiverAuthorizer: authorizer.address, withdrawDelay: 900, minDeposit };
}

function openBenchChannels(
  { authorizer, minDeposit }: BenchChannels,
  parts: {
    readonly network: string;
    readonly store: StatementRunner;
    readonly rpc: Rpc;
    readonly facilitator: LocalFacilitator;
    readonly finality: Parameters<typeof createSettlementLookup>[1];
  },
) {
  const { network, store, rpc, facilitator, finality } = parts;
  return openChannels({
    ...{ network, store, rpc, sender: facilitator.channels, authorizer },
    finality: { depthFallback: finality.finalityDepth, depthMin: finality.finalityDepthMin },
    // The chain makes no block while nothing is deposited.
    limits: { blockAgeMsMax: 3_600_000 },
    exposureMax: minDeposit,
    claimRules: { valueMin: 1_000_000n, ageSecondsMax: 3_600 },
    log: benchLog,
  });
}
