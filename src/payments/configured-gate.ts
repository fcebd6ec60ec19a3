// The gate of a service as the settings have it, with its channels; and what its offers and its facilitator need.
import { findChainById, UNKNOWN_CHAIN_DEFAULTS } from "../chain/chains/chains.ts";
import type { CallObserver, Rpc } from "../chain/rpc/types.ts";
import type { channelSettings, paywallSettings } from "../config/payment-settings.ts";
import type { Config } from "../config/read-config.ts";
import type { SigningKeys } from "../http/signing/signing-keys.ts";
import { parseAmount } from "../lib/decimal.ts";
import { Fault } from "../lib/fault.ts";
import type { Hex } from "../lib/hex.ts";
import type { Log } from "../lib/log.ts";
import type { Secret } from "../lib/secret.ts";
import type { Database } from "../store/postgres/database.ts";
import { openRecordStore } from "../store/postgres/record-store.ts";
import type { ChannelSender } from "./channels/channel-sender.ts";
import { type ChannelTotals, ClaimRows } from "./channels/claim-rows.ts";
import {
  assertChannelContracts,
  channelTermsOf,
  openConfiguredChannels,
} from "./channels/configured-channels.ts";
import { CHANNEL_LIMITS } from "./channels/limits.ts";
import type { ChannelParts } from "./channels/open-channels.ts";
import { createRemoteFacilitator, type PaymentFacilitator } from "./facilitator/facilitator.ts";
import { createRemoteChannelSender } from "./facilitator/remote-channels.ts";
import { describeToken, type PaymentToken } from "./payment-token.ts";
import { createGate, type Gate } from "./paywall/gate.ts";
import type { PaymentOffer, PaymentOutcome } from "./paywall/offer.ts";
import { createSettlementLookup } from "./settlement/onchain.ts";
import { openSignIn } from "./sign-in/open-sign-in.ts";

export type ConfiguredGate = {
  readonly gate: Gate;
  /** Null if nothing is sold by channel. */
  readonly channels: ChannelParts | null;
  /** Debts of channels, also those that nothing is sold by now. */
  channelTotals(): Promise<ChannelTotals>;
};

type GateConfig = Config<typeof channelSettings> & Pick<Config<typeof paywallSettings>, "payTo">;

/** The parts of a process that its paid service is made of. */
export type PaidServiceNeeds = {
  readonly database: Database;
  readonly log: Log;
  readonly count: (outcome: PaymentOutcome) => void;
  readonly onCall: CallObserver | null;
  /** The listen address, known once the server listens. */
  readonly listenUrl: () => string;
  /** Sign offers and receipts; absent if nothing is signed. */
  readonly signingKeys?: SigningKeys | undefined;
  /** Aborts the start while a node does not respond. */
  readonly signal?: AbortSignal;
};

type GateNeeds = Pick<PaidServiceNeeds, "database" | "log" | "count"> & {
  readonly token: PaymentToken;
  /** In the token's smallest units. */
  readonly largestPrice: bigint;
  /** Our own nodes. */
  readonly rpc: Rpc;
  readonly facilitator: PaymentFacilitator;
  readonly sender: ChannelSender;
  /** Aborts the start while a node does not respond. */
  readonly signal?: AbortSignal | undefined;
};

/** Throws CONFIG_INVALID if channels are on and the payment chain does not have their contracts. */
export async function openConfiguredGate(
  config: GateConfig & Pick<Config<typeof paywallSettings>, "unpaidPerMinute">,
  { signal, ...needs }: GateNeeds,
): Promise<ConfiguredGate> {
  const { token, database, rpc, facilitator, log, count } = needs;
  const { finalityDepth, finalityDepthMin } = findChainById(token.chainId) ?? UNKNOWN_CHAIN_DEFAULTS;
  const finality = { finalityDepth, finalityDepthMin };
  const store = openRecordStore(database);
  if (config.channelsOn) await assertChannelContracts(rpc, token, readPayee(config), signal);
  const channels = config.channelsOn ? openConfiguredChannels(config, { ...needs, store, finality }) : null;
  const gate = createGate({
    scope: token,
    ...(channels ? { channels } : {}),
    signIn: await openSignIn(store, token),
    store,
    facilitator,
    lookup: createSettlementLookup(rpc, finality),
    limits: { unpaidPerClientPerMinute: config.unpaidPerMinute },
    log,
    count,
  });
  return {
    gate,
    channels,
    channelTotals:
      channels === null
        ? readKeylessTotals(database, token)
        : () => channels.claimRows.readTotals([...channels.authorizers.keys()], channels.claimRules.rowMin),
  };
}

/** Totals of a process that has no key of any channel. */
export function readKeylessTotals(
  database: Database,
  { network }: Pick<PaymentToken, "network">,
): () => Promise<ChannelTotals> {
  const rows = new ClaimRows(openRecordStore(database), network, CHANNEL_LIMITS);
  return () => rows.readTotals([]);
}

/** The part of an offer that all offers of a service share: the token, its payee, and how to pay by channel. */
export function sharedTermsOf(
  config: GateConfig,
  token: PaymentToken,
): Pick<PaymentOffer, keyof ReturnType<typeof describeToken> | "decimals" | "payTo" | "channels"> {
  const channels = channelTermsOf(config, token);
  const { decimals } = token;
  return { ...describeToken(token), decimals, payTo: readPayee(config), ...(channels ? { channels } : {}) };
}

// A remote facilitator waits for the transfer to be mined.
const REMOTE_TIMEOUT_MS = 18_000;

export function openRemoteFacilitator(
  facilitatorUrl: Secret<string>,
  needs: Pick<GateNeeds, "database" | "rpc" | "token">,
): Pick<GateNeeds, "facilitator" | "sender"> {
  const url = facilitatorUrl.reveal().replace(/\/+$/, "");
  const facilitator = createRemoteFacilitator({ url, timeoutMs: REMOTE_TIMEOUT_MS });
  return { facilitator, sender: createRemoteChannelSender({ ...needs, facilitator }) };
}

export function readPayee({ payTo }: Pick<Config<typeof paywallSettings>, "payTo">): Hex {
  if (payTo !== null) return payTo.toLowerCase() as Hex;
  throw new Fault("CONFIG_INVALID", "PAY_TO must be the address that receives payments.");
}

/** In the token's smallest units. */
export function readAmount(usd: string, decimals: number, variable: string): bigint {
  try {
    return parseAmount(usd, decimals, variable);
  } catch (cause) {
    const message = `${variable} must have at most ${decimals} decimal places, like the payment token.`;
    throw new Fault("CONFIG_INVALID", message, { cause });
  }
}
