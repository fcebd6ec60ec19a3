// Opens the configured paywall of the portfolio service: price, facilitator and payment ledger.
import { findChainById } from "../../chain/chains/chains.ts";
import type { Rpc } from "../../chain/rpc/types.ts";
import type {
  channelSettings,
  gasSettings,
  paymentSettings,
  paywallSettings,
} from "../../config/payment-settings.ts";
import type { portfolioSettings } from "../../config/portfolio-settings.ts";
import type { Config } from "../../config/read-config.ts";
import { formatDecimal } from "../../lib/decimal.ts";
import { Fault } from "../../lib/fault.ts";
import type { ChannelSender } from "../../payments/channels/channel-sender.ts";
import { checkChannelConfig } from "../../payments/channels/configured-channels.ts";
import {
  type ConfiguredGate,
  openConfiguredGate,
  openRemoteFacilitator,
  type PaidServiceNeeds,
  readAmount,
  readKeylessTotals,
  readPayee,
  sharedTermsOf,
} from "../../payments/configured-gate.ts";
import type { PaymentFacilitator } from "../../payments/facilitator/facilitator.ts";
import { checkGasSettings, openLocalFacilitator } from "../../payments/facilitator/local.ts";
import { openChallengeIssuer } from "../../payments/mpp/configured-challenges.ts";
import {
  openPaymentToken,
  type PaymentAssetConfig,
  type PaymentToken,
  resolvePaymentAsset,
} from "../../payments/payment-token.ts";
import { createFreeSale, type Gate } from "../../payments/paywall/gate.ts";
import { amountOf, type PaymentOffer, withListings } from "../../payments/paywall/offer.ts";
import { SUPPORTED_CHAINS } from "../query.ts";
import { describeOffer, type SoldRoute } from "./offering.ts";
import type { PaidRouteDeclaration } from "./routes/paid-route.ts";
import { PAID_ROUTES } from "./routes/paid-routes.ts";

type PaywallConfig = Config<
  typeof paymentSettings & typeof paywallSettings & typeof channelSettings & typeof gasSettings
> &
  Pick<Config<typeof portfolioSettings>, "portfolioPublicUrl">;

type PortfolioPaywall = Pick<ConfiguredGate, "channels" | "channelTotals"> & {
  readonly sold: readonly SoldRoute[];
  /** Null for the bypass, which takes no payments. */
  readonly reconcile: Gate["reconcile"] | null;
  readonly devBypass: boolean;
  /** Why this process cannot settle at the moment; null if it can, or if another one settles. */
  findProblem(): Promise<string | null>;
  close(): Promise<void>;
};

type PortfolioPaywallOptions = PaidServiceNeeds & {
  /** The routes that are sold; all paid ones unless a test sells others. */
  readonly routes?: readonly PaidRouteDeclaration[];
};

// The work takes seconds and the transfer a few blocks; a signature with a longer validity could be settled long after
// its request.
const TIMEOUT_SECONDS = 60;

/** Rejects a configuration that could not sell, before opening anything. */
export function checkPaywallConfig(config: PaywallConfig): void {
  const asset = resolvePaymentAsset(config);
  rejectUnsafeBypass(config, asset);
  readPayee(config);
  checkChannelConfig(config);
  openChallengeIssuer(config);
  const { decimals } = asset;
  if (decimals !== null) {
    for (const route of PAID_ROUTES) readPrices(config, route, decimals);
    readPricePerChain(config, decimals);
    readProofPrice(config, decimals);
  }
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
  return openPaymentToken(config, options, async ({ rpc, token }) => {
    if (!config.devBypass) return openGate(config, token, options, rpc);
    rpc.close();
    return openBypass(config, token, options);
  });
}

function openBypass(
  config: PaywallConfig,
  token: PaymentToken,
  options: PortfolioPaywallOptions,
): PortfolioPaywall {
  const offered = createOffers(config, token, options);
  return {
    sold: offered.map(({ declaration, offer }) => ({ declaration, sale: createFreeSale(offer) })),
    reconcile: null,
    devBypass: true,
    channels: null,
    channelTotals: readKeylessTotals(options.database, token),
    findProblem: async () => null,
    close: async () => undefined,
  };
}

async function openGate(
  config: PaywallConfig,
  token: PaymentToken,
  options: PortfolioPaywallOptions,
  rpc: Rpc,
): Promise<PortfolioPaywall> {
  const offered = createOffers(config, token, options);
  const offers = offered.map(({ offer }) => offer);
  const opened = await openFacilitator(config, token, offers, { ...options, rpc });
  const { facilitator, sender, findProblem, close } = opened;
  const largestPrice = offers
    .map((offer) => amountOf(offer, { chainCount: SUPPORTED_CHAINS.length, hasProofs: true }))
    .reduce((most, amount) => (amount > most ? amount : most), 0n);
  const needs = { ...options, token, rpc, facilitator, sender, largestPrice };
  const { gate, channels, channelTotals } = await openConfiguredGate(config, needs);
  const sold = offered.map(({ declaration, offer }) => ({ declaration, sale: gate.sell(offer) }));
  return {
    sold,
    reconcile: gate.reconcile,
    devBypass: false,
    channels,
    channelTotals,
    findProblem,
    async close() {
      rpc.close();
      await close();
    },
  };
}

/** In the token's smallest units. */
function readPrices(
  config: PaywallConfig,
  { price, body }: PaidRouteDeclaration,
  decimals: number,
): Pick<PaymentOffer, "amount" | "summaryAmount"> {
  const own = config[price.key] ?? readUsualPrice(price, decimals);
  const variable = own === null ? "PORTFOLIO_PRICE_USD" : price.variable;
  const amount = readAmount(own ?? config.portfolioPriceUsd, decimals, variable);
  if (config.priceUsdSummary === null || body) return { amount };
  const summaryAmount = readAmount(config.priceUsdSummary, decimals, "PRICE_USD_SUMMARY");
  if (summaryAmount <= amount) return { amount, summaryAmount };
  throw new Fault("CONFIG_INVALID", `PRICE_USD_SUMMARY must be at most ${variable}.`);
}

function readUsualPrice({ usual }: PaidRouteDeclaration["price"], decimals: number): string | null {
  return usual !== undefined && usual.scale <= decimals ? formatDecimal(usual) : null;
}

/** In the token's smallest units; 0 if further chains cost nothing. */
function readPricePerChain({ priceUsdPerChain }: PaywallConfig, decimals: number): bigint {
  return priceUsdPerChain === null ? 0n : readAmount(priceUsdPerChain, decimals, "PRICE_USD_PER_CHAIN");
}

function readProofPrice(
  { proofPriceUsd }: PaywallConfig,
  decimals: number,
): Pick<PaymentOffer, "proofAmount"> {
  return proofPriceUsd === null
    ? {}
    : { proofAmount: readAmount(proofPriceUsd, decimals, "PROOF_PRICE_USD") };
}

type OfferedRoute = { readonly declaration: PaidRouteDeclaration; readonly offer: PaymentOffer };

function createOffers(
  config: PaywallConfig,
  token: PaymentToken,
  { routes = PAID_ROUTES, listenUrl, signingKeys }: PortfolioPaywallOptions,
): readonly OfferedRoute[] {
  const terms = sharedTermsOf(config, token);
  const mpp = openChallengeIssuer(config);
  return routes.map((declaration) => ({
    declaration,
    offer: {
      ...terms,
      ...(mpp ? { mpp } : {}),
      signingKeys,
      ...describeOffer(declaration),
      ...readPrices(config, declaration, token.decimals),
      ...(declaration.body === undefined && {
        amountPerChain: readPricePerChain(config, token.decimals),
        ...readProofPrice(config, token.decimals),
      }),
      maxTimeoutSeconds: TIMEOUT_SECONDS,
      get resourceOrigin() {
        return config.portfolioPublicUrl ?? listenUrl();
      },
    },
  }));
}

async function openFacilitator(
  config: PaywallConfig,
  token: PaymentToken,
  offers: readonly PaymentOffer[],
  { database, log, onCall, signal, rpc }: PortfolioPaywallOptions & { readonly rpc: Rpc },
): Promise<OpenFacilitator> {
  const { facilitatorUrl, facilitatorPrivateKey: privateKey, paymentRpcUrls: urls } = config;
  if (facilitatorUrl !== null) {
    const { facilitator, sender } = openRemoteFacilitator(facilitatorUrl, { database, rpc, token });
    return {
      facilitator: withListings(facilitator, offers),
      sender,
      findProblem: async () => null,
      close: async () => undefined,
    };
  }
  if (privateKey === null) throw facilitatorMissing();
  const needs = { urls, privateKey, database, log, onCall, signal };
  const facilitator = await openLocalFacilitator(config, token, needs);
  const { channels: sender, findProblem, close } = facilitator;
  return { facilitator, sender, findProblem, close };
}

type OpenFacilitator = Pick<PortfolioPaywall, "findProblem" | "close"> & {
  readonly facilitator: PaymentFacilitator;
  readonly sender: ChannelSender;
};

function facilitatorMissing(): Fault {
  return new Fault(
    "CONFIG_INVALID",
    "A facilitator must settle payments: set FACILITATOR_URL, or FACILITATOR_PRIVATE_KEY to settle in this process.",
  );
}

/** The bypass must not give snapshots away by accident if payments have value. */
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
