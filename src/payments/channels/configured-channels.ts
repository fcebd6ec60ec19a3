// Payment channels as the settings have them: keys, terms, limits and claim rules, and whether the chain has the contracts.
import { privateKeyToAccount } from "viem/accounts";
import { contractCall } from "../../chain/contract-calls.ts";
import { RpcError } from "../../chain/rpc/errors.ts";
import type { Rpc } from "../../chain/rpc/types.ts";
import type {
  channelSettings,
  gasSettings,
  paymentSettings,
  paywallSettings,
} from "../../config/payment-settings.ts";
import type { Config } from "../../config/read-config.ts";
import { parseAmount } from "../../lib/decimal.ts";
import { Fault } from "../../lib/fault.ts";
import type { Hex } from "../../lib/hex.ts";
import type { Log } from "../../lib/log.ts";
import type { Secret } from "../../lib/secret.ts";
import type { StatementRunner } from "../../schema/record-store.ts";
import type { PaymentToken } from "../payment-token.ts";
import { encodePayout } from "./channel-calls.ts";
import { CHANNEL_CONTRACT } from "./channel-config.ts";
import type { ChannelSender } from "./channel-sender.ts";
import type { ChannelTerms } from "./channel-terms.ts";
import { type ChannelParts, openChannels, type ReceiverAuthorizer } from "./open-channels.ts";

type ChannelConfiguration = Config<typeof channelSettings>;

// A claim has the rest of the withdrawal's time to be mined.
const CLAIMS_PER_WITHDRAWAL = 3;
// Channels that owe less than this part of a claim may cost more gas than they bring.
const ROWS_PER_CLAIM = 100n;

// The key in .env.example.
const EXAMPLE_KEY = `0x${"5e".repeat(32)}`;

/** Rejects settings that could not claim what they sell, or whose key does other things, or is public. */
export function checkChannelConfig(
  config: ChannelConfiguration &
    Config<
      Pick<
        typeof paymentSettings & typeof paywallSettings & typeof gasSettings,
        "payTo" | "facilitatorPrivateKey"
      >
    >,
): void {
  const { channelsOn, channelKey, channelClaimSeconds, channelWithdrawSeconds } = config;
  if (!channelsOn) return;
  if (channelKey === null) {
    throw new Fault(
      "CONFIG_INVALID",
      "PAYMENT_CHANNELS needs PAYMENT_CHANNEL_KEY: 32 random bytes, such as 0x$(openssl rand -hex 32), the same for all processes.",
    );
  }
  const { address } = channelAuthorizer(channelKey);
  const { facilitatorPrivateKey: gasKey, payTo } = config;
  const known =
    channelKey.reveal() === EXAMPLE_KEY
      ? "the example of .env.example, which anyone can sign with"
      : gasKey !== null && address === channelAuthorizer(gasKey).address
        ? "FACILITATOR_PRIVATE_KEY"
        : address === payTo?.toLowerCase()
          ? "the key of PAY_TO"
          : null;
  if (known !== null) {
    throw new Fault("CONFIG_INVALID", `PAYMENT_CHANNEL_KEY must be a key of its own; it is ${known}.`);
  }
  if (channelClaimSeconds * CLAIMS_PER_WITHDRAWAL > channelWithdrawSeconds) {
    throw new Fault(
      "CONFIG_INVALID",
      `PAYMENT_CHANNEL_CLAIM_SECONDS must be at most a third of PAYMENT_CHANNEL_WITHDRAW_SECONDS, which is ${channelWithdrawSeconds}.`,
    );
  }
}

/** The account that signs for the receiver. */
export function channelAuthorizer(key: Secret<Hex>): ReceiverAuthorizer {
  const account = privateKeyToAccount(key.reveal());
  return {
    address: account.address.toLowerCase() as Hex,
    sign: (digest) => account.sign({ hash: digest }),
  };
}

/** Null if channels are off. */
export function channelTermsOf(
  config: ChannelConfiguration,
  { decimals }: Pick<PaymentToken, "decimals">,
): ChannelTerms | null {
  const { channelsOn, channelKey, channelOldKeys, channelWithdrawSeconds: withdrawDelay } = config;
  if (!channelsOn || channelKey === null) return null;
  return {
    receiverAuthorizer: channelAuthorizer(channelKey).address,
    formerAuthorizers: channelOldKeys.map((key) => channelAuthorizer(key).address),
    withdrawDelay,
    minDeposit: parseAmount(config.channelDepositUsd, decimals, "PAYMENT_CHANNEL_DEPOSIT_USD"),
    ...(config.channelFreeCalls === 0 ? {} : { freeCallsPerHour: config.channelFreeCalls }),
  };
}

/** The parts that requests, reconciliation and commands share. Throws if there is no key. */
export function openConfiguredChannels(
  config: ChannelConfiguration,
  needs: {
    readonly token: Pick<PaymentToken, "network" | "decimals">;
    readonly store: StatementRunner;
    readonly rpc: Rpc;
    readonly finality: { readonly finalityDepth: number; readonly finalityDepthMin: number };
    readonly sender: ChannelSender;
    readonly largestPrice: bigint;
    readonly log: Log;
  },
): ChannelParts {
  const { token, store, rpc, finality, sender, largestPrice, log } = needs;
  const { channelKey, channelOldKeys, channelClaimSeconds: ageSecondsMax } = config;
  if (channelKey === null) throw new Fault("CONFIG_INVALID", "PAYMENT_CHANNEL_KEY is missing.");
  const { decimals } = token;
  const valueMin = parseAmount(config.channelClaimUsd, decimals, "PAYMENT_CHANNEL_CLAIM_USD");
  const exposure = parseAmount(config.channelExposureUsd, decimals, "PAYMENT_CHANNEL_EXPOSURE_USD");
  return openChannels({
    ...{ network: token.network, store, rpc, sender, log },
    finality: { depthFallback: finality.finalityDepth, depthMin: finality.finalityDepthMin },
    authorizer: channelAuthorizer(channelKey),
    formerAuthorizers: channelOldKeys.map(channelAuthorizer),
    // A purchase at the largest price must be possible.
    exposureMax: largestPrice > exposure ? largestPrice : exposure,
    claimRules: { valueMin, ageSecondsMax, rowMin: valueMin / ROWS_PER_CLAIM },
    limits: { channelsMax: config.channelsMax },
  });
}

/** Throws CONFIG_INVALID if the payment chain does not have the contracts, or is one without EIP-1153. */
export async function assertChannelContracts(
  rpc: Rpc,
  { network, asset }: Pick<PaymentToken, "network" | "asset">,
  payTo: Hex,
  signal?: AbortSignal,
): Promise<void> {
  const call = contractCall({ to: CHANNEL_CONTRACT, data: encodePayout(payTo, asset), block: "latest" });
  const code = {
    method: "eth_getCode",
    params: [CHANNEL_CONTRACT, "latest"],
    parse: (result: unknown) => result,
  };
  const missing = (cause?: unknown) =>
    new Fault(
      "CONFIG_INVALID",
      `The contract of payment channels does not work at ${CHANNEL_CONTRACT} on ${network}: set PAYMENT_CHANNELS=false there.`,
      cause === undefined ? {} : { cause },
    );
  const options = signal ? { signal } : {};
  if ((await rpc.request(code, options)) === "0x") throw missing();
  try {
    // Pays out nothing: it only shows that its guard works.
    await rpc.request(call, options);
  } catch (error) {
    if (error instanceof RpcError && error.kind === "reverted") throw missing(error);
    throw error;
  }
}
