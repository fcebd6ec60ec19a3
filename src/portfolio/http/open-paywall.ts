// Opens the configured paywall of the portfolio service: price, facilitator and payment ledger.
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
import { withListing } from "../../payments/paywall/listing.ts";
import type { PaymentOffer } from "../../payments/paywall/offer.ts";
import type { PaymentOutcome } from "../../payments/paywall/paid-request.ts";
import { createSettlementLookup } from "../../payments/settlement/onchain.ts";
import type { Database } from "../../store/postgres/database.ts";
import { openRecordStore } from "../../store/postgres/record-store.ts";
import { PORTFOLIO_DESCRIPTION, PORTFOLIO_LISTING } from "./offering.ts";
import type { PortfolioGate } from "./serve.ts";

type PaywallConfig = Config<typeof paymentSettings & typeof paywallSettings & typeof gasSettings> &
  Pick<Config<typeof portfolioSettings>, "portfolioPublicUrl">;

type PortfolioPaywall = {
  readonly gate: PortfolioGate;
  readonly devBypass: boolean;
  close(): void;
};

type PortfolioPaywallOptions = {
  readonly database: Database;
  readonly log: Log;
  readonly count: (outcome: PaymentOutcome) => void;
  readonly onCall: CallObserver | null;
  /** The listen address, known once the server listens. */
  readonly listenUrl: () => string;
  /** Aborts the start while a node does not respond. */
  readonly signal?: AbortSignal;
};

// The work takes seconds and the transfer a few blocks; a signature with a longer validity could be settled long after
// its request.
const TIMEOUT_SECONDS = 60;
// A remote facilitator waits for the transfer to be mined.
const REMOTE_TIMEOUT_MS = 18_000;

/** Rejects a configuration that could not sell, before opening anything. */
export function checkPaywallConfig(config: PaywallConfig): void {
  const asset = resolvePaymentAsset(config);
  rejectUnsafeBypass(config, asset);
  readPayee(config);
  const { decimals } = asset;
  if (decimals !== null) readPrice(config, decimals);
  // The bypass needs no node when the token's decimals are known.
  if (config.devBypass && decimals !== null) return;
  if (config.paymentRpcUrls.length === 0) {
    throw new Fault("CONFIG_INVALID", `PAYMENT_RPC_URL must name at least one node of ${asset.network}.`);
  }
  if (config.devBypass || config.facilitatorUrl !== null) return;
  if (config.facilitatorPrivateKey === null) throw facilitatorMissing();
  checkGasSettings(config, asset);
}

/** Throws CONFIG_INVALID when the token contract does not match the configuration; waits for a responding node. */
export async function openPortfolioPaywall(
  config: PaywallConfig,
  options: PortfolioPaywallOptions,
): Promise<PortfolioPaywall> {
  checkPaywallConfig(config);
  const asset = resolvePaymentAsset(config);
  const { decimals } = asset;
  if (config.devBypass && decimals !== null) return openBypass(config, { ...asset, decimals }, options);
  const { log, onCall } = options;
  const rpc = createRpc({ urls: config.paymentRpcUrls, chainId: asset.chainId, log, onCall });
  try {
    const token = await readPaymentToken(rpc, asset, options);
    if (!config.devBypass) return openGate(config, token, options, rpc);
    rpc.close();
    return openBypass(config, token, options);
  } catch (error) {
    rpc.close();
    throw error;
  }
}

function openBypass(
  config: PaywallConfig,
  token: PaymentToken,
  { listenUrl }: PortfolioPaywallOptions,
): PortfolioPaywall {
  return {
    gate: createBypassGate(createOffer(config, token, listenUrl)),
    devBypass: true,
    close: () => undefined,
  };
}

function openGate(
  config: PaywallConfig,
  token: PaymentToken,
  options: PortfolioPaywallOptions,
  rpc: Rpc,
): PortfolioPaywall {
  const { log, count } = options;
  const offer = createOffer(config, token, options.listenUrl);
  const { finalityDepth, finalityDepthMin } = findChainById(token.chainId) ?? UNKNOWN_CHAIN_DEFAULTS;
  const gate = createGate({
    offer,
    store: openRecordStore(options.database),
    facilitator: openFacilitator(config, token, offer, options),
    lookup: createSettlementLookup(rpc, { finalityDepth, finalityDepthMin }),
    log,
    count,
  });
  return { gate, devBypass: false, close: () => rpc.close() };
}

function readPayee({ payTo }: PaywallConfig): Hex {
  if (payTo !== null) return payTo.toLowerCase() as Hex;
  throw new Fault("CONFIG_INVALID", "PAY_TO must be the address that receives payments for snapshots.");
}

/** In the token's smallest units. */
function readPrice({ portfolioPriceUsd }: PaywallConfig, decimals: number): bigint {
  try {
    return parseAmount(portfolioPriceUsd, decimals, "PORTFOLIO_PRICE_USD");
  } catch (cause) {
    const message = `PORTFOLIO_PRICE_USD must have at most ${decimals} decimal places, like the payment token.`;
    throw new Fault("CONFIG_INVALID", message, { cause });
  }
}

function createOffer(config: PaywallConfig, token: PaymentToken, listenUrl: () => string): PaymentOffer {
  return {
    network: token.network,
    asset: token.asset,
    assetName: token.name,
    assetVersion: token.version,
    decimals: token.decimals,
    payTo: readPayee(config),
    amount: readPrice(config, token.decimals),
    maxTimeoutSeconds: TIMEOUT_SECONDS,
    description: PORTFOLIO_DESCRIPTION,
    mimeType: "application/json",
    listing: PORTFOLIO_LISTING,
    get resourceOrigin() {
      return config.portfolioPublicUrl ?? listenUrl();
    },
  };
}

function openFacilitator(
  config: PaywallConfig,
  token: PaymentToken,
  offer: PaymentOffer,
  { database, log, onCall }: PortfolioPaywallOptions,
): PaymentFacilitator {
  const { facilitatorUrl, facilitatorPrivateKey: privateKey, paymentRpcUrls: urls } = config;
  if (facilitatorUrl !== null) {
    const url = facilitatorUrl.reveal().replace(/\/+$/, "");
    return withListing(createRemoteFacilitator({ url, timeoutMs: REMOTE_TIMEOUT_MS }), offer);
  }
  if (privateKey === null) throw facilitatorMissing();
  return openLocalFacilitator(config, token, { urls, privateKey, database, log, onCall });
}

function facilitatorMissing(): Fault {
  return new Fault(
    "CONFIG_INVALID",
    "A facilitator must settle payments: set FACILITATOR_URL, or FACILITATOR_PRIVATE_KEY to settle in this process.",
  );
}

/** The bypass must not give snapshots away by accident where payments have value. */
function rejectUnsafeBypass({ devBypass, nodeEnvironment }: PaywallConfig, asset: PaymentAssetConfig): void {
  if (!devBypass) return;
  const mainnet = findChainById(asset.chainId)?.mainnet !== false;
  if (!mainnet && nodeEnvironment !== "production") return;
  const reason = mainnet ? `payments on ${asset.network} are worth money` : "NODE_ENV is production";
  throw new Fault(
    "CONFIG_INVALID",
    `X402_DEV_BYPASS gives snapshots away, but ${reason}; remove one of the two.`,
  );
}
