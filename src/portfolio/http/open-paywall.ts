// The gate of the portfolio service as configured: what is asked for a snapshot, who carries payments out, and the ledger.
import { findChainById, UNKNOWN_CHAIN_DEFAULTS } from "../../chain/chains/chains.ts";
import { createRpc } from "../../chain/rpc/client.ts";
import type { CallObserver, Rpc } from "../../chain/rpc/types.ts";
import type { Config } from "../../config/read-config.ts";
import type {
  gasSettings,
  paymentSettings,
  paywallSettings,
  portfolioSettings,
} from "../../config/settings.ts";
import { parseAmount } from "../../lib/decimal.ts";
import { Fault } from "../../lib/fault.ts";
import type { Hex } from "../../lib/hex.ts";
import type { Log } from "../../lib/log.ts";
import type { PaymentFacilitator } from "../../payments/facilitator/facilitator.ts";
import { checkGasSettings, openLocalFacilitator } from "../../payments/facilitator/open-local.ts";
import { createRemoteFacilitator } from "../../payments/facilitator/remote.ts";
import {
  type PaymentAssetConfig,
  type PaymentToken,
  readPaymentToken,
  resolvePaymentAsset,
} from "../../payments/payment-token.ts";
import { createBypassGate, createGate } from "../../payments/paywall/gate.ts";
import type { PaymentOffer } from "../../payments/paywall/offer.ts";
import type { PaymentOutcome } from "../../payments/paywall/paid-request.ts";
import { createSettlementLookup } from "../../payments/settlement/onchain.ts";
import type { Database } from "../../store/postgres/database.ts";
import { openRecordStore } from "../../store/postgres/record-store.ts";
import { PORTFOLIO_DESCRIPTION } from "./offering.ts";
import type { PortfolioGate } from "./serve.ts";

export type PaywallConfig = Config<typeof paymentSettings & typeof paywallSettings & typeof gasSettings> &
  Pick<Config<typeof portfolioSettings>, "portfolioPublicUrl">;

export type PortfolioPaywall = {
  readonly gate: PortfolioGate;
  readonly devBypass: boolean;
  close(): void;
};

export type PortfolioPaywallOptions = {
  readonly database: Database;
  readonly log: Log;
  readonly count: (outcome: PaymentOutcome) => void;
  readonly onCall: CallObserver | null;
  /** The address listened on, known once it is. */
  readonly listenUrl: () => string;
  /** Ends the start while a node does not respond. */
  readonly signal?: AbortSignal;
};

// The work takes seconds and the transfer a few blocks; a signature that is good for longer could be carried out when
// nobody remembers what it was for.
const TIMEOUT_SECONDS = 60;
// Somebody else's facilitator waits for the transfer to be mined.
const REMOTE_MS = 18_000;

/** Refuses what could not sell, before anything is opened for it. */
export function checkPaywallConfig(config: PaywallConfig): void {
  const place = resolvePaymentAsset(config);
  refuseBypass(config, place);
  payeeOf(config);
  const { decimals } = place;
  if (decimals !== null) priceIn(config, decimals);
  // Only a token whose decimals are known can be given away without a node.
  if (config.devBypass && decimals !== null) return;
  if (config.paymentRpcUrls.length === 0) {
    throw new Fault("CONFIG_INVALID", `PAYMENT_RPC_URL must name at least one node of ${place.network}.`);
  }
  if (config.devBypass || config.facilitatorUrl !== null) return;
  if (config.facilitatorPrivateKey === null) throw nobodySettles();
  checkGasSettings(config, place);
}

/** Throws CONFIG_INVALID for a token that is not the configured one; waits for a node that can tell. */
export async function openPortfolioPaywall(
  config: PaywallConfig,
  needs: PortfolioPaywallOptions,
): Promise<PortfolioPaywall> {
  checkPaywallConfig(config);
  const place = resolvePaymentAsset(config);
  const { decimals } = place;
  if (config.devBypass && decimals !== null) return giveAway(config, { ...place, decimals }, needs);
  const { log, onCall } = needs;
  const rpc = createRpc({ urls: config.paymentRpcUrls, chainId: place.chainId, log, onCall });
  try {
    const token = await readPaymentToken(rpc, place, needs);
    if (!config.devBypass) return sell(config, token, needs, rpc);
    rpc.close();
    return giveAway(config, token, needs);
  } catch (error) {
    rpc.close();
    throw error;
  }
}

function giveAway(
  config: PaywallConfig,
  token: PaymentToken,
  { listenUrl: listensAt }: PortfolioPaywallOptions,
): PortfolioPaywall {
  return {
    gate: createBypassGate(offerOf(config, token, listensAt)),
    devBypass: true,
    close: () => undefined,
  };
}

function sell(
  config: PaywallConfig,
  place: PaymentToken,
  needs: PortfolioPaywallOptions,
  rpc: Rpc,
): PortfolioPaywall {
  const { log, count } = needs;
  const offer = offerOf(config, place, needs.listenUrl);
  const { finalityDepth, finalityDepthMin } = findChainById(place.chainId) ?? UNKNOWN_CHAIN_DEFAULTS;
  const gate = createGate({
    offer,
    store: openRecordStore(needs.database),
    facilitator: openFacilitator(config, place, needs),
    lookup: createSettlementLookup(rpc, { finalityDepth, finalityDepthMin }),
    log,
    count,
  });
  return { gate, devBypass: false, close: () => rpc.close() };
}

function payeeOf({ payTo }: PaywallConfig): Hex {
  if (payTo !== null) return payTo.toLowerCase() as Hex;
  throw new Fault("CONFIG_INVALID", "PAY_TO must be the address that is paid for snapshots.");
}

/** In the token's smallest units. */
function priceIn({ portfolioPriceUsd }: PaywallConfig, decimals: number): bigint {
  try {
    return parseAmount(portfolioPriceUsd, decimals, "PORTFOLIO_PRICE_USD");
  } catch (cause) {
    const sentence = `PORTFOLIO_PRICE_USD must have at most ${decimals} decimal places, as the token it is paid in.`;
    throw new Fault("CONFIG_INVALID", sentence, { cause });
  }
}

function offerOf(config: PaywallConfig, place: PaymentToken, listensAt: () => string): PaymentOffer {
  return {
    network: place.network,
    asset: place.asset,
    assetName: place.name,
    assetVersion: place.version,
    decimals: place.decimals,
    payTo: payeeOf(config),
    amount: priceIn(config, place.decimals),
    maxTimeoutSeconds: TIMEOUT_SECONDS,
    description: PORTFOLIO_DESCRIPTION,
    mimeType: "application/json",
    get resourceOrigin() {
      return config.portfolioPublicUrl ?? listensAt();
    },
  };
}

function openFacilitator(
  config: PaywallConfig,
  place: PaymentToken,
  { database, log, onCall }: PortfolioPaywallOptions,
): PaymentFacilitator {
  const { facilitatorUrl, facilitatorPrivateKey: privateKey, paymentRpcUrls: urls } = config;
  if (facilitatorUrl !== null) {
    return createRemoteFacilitator({
      url: facilitatorUrl.reveal().replace(/\/+$/, ""),
      timeoutMs: REMOTE_MS,
    });
  }
  if (privateKey === null) throw nobodySettles();
  return openLocalFacilitator(config, place, { urls, privateKey, database, log, onCall });
}

function nobodySettles(): Fault {
  return new Fault(
    "CONFIG_INVALID",
    "Somebody must carry payments out: set FACILITATOR_URL, or FACILITATOR_PRIVATE_KEY to do it in this process.",
  );
}

/** Never by accident where a snapshot could have been sold. */
function refuseBypass({ devBypass, nodeEnvironment }: PaywallConfig, place: PaymentAssetConfig): void {
  if (!devBypass) return;
  const mainnet = findChainById(place.chainId)?.mainnet !== false;
  if (!mainnet && nodeEnvironment !== "production") return;
  const where = mainnet ? `payments on ${place.network} are worth money` : "NODE_ENV is production";
  throw new Fault(
    "CONFIG_INVALID",
    `X402_DEV_BYPASS gives snapshots away, but ${where}; remove one of the two.`,
  );
}
