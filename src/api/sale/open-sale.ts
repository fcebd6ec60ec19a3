// The sale of reads as the settings have it: the offers of a price, behind the gate of the portfolio service, for channels only.
import type { apiSettings, writeSettings } from "../../config/indexing-settings.ts";
import type { channelSettings, paymentSettings, paywallSettings } from "../../config/payment-settings.ts";
import type { Config } from "../../config/read-config.ts";
import type { listenSettings } from "../../config/service-settings.ts";
import { Fault } from "../../lib/fault.ts";
import { checkChannelConfig } from "../../payments/channels/configured-channels.ts";
import {
  type ConfiguredGate,
  openConfiguredGate,
  openRemoteFacilitator,
  type PaidServiceNeeds,
  readAmount,
  readPayee,
  sharedTermsOf,
} from "../../payments/configured-gate.ts";
import { openPaymentToken, type PaymentToken, resolvePaymentAsset } from "../../payments/payment-token.ts";
import type { Sale } from "../../payments/paywall/gate.ts";
import type { PaymentOffer } from "../../payments/paywall/offer.ts";
import { PAGE_BYTES_MAX } from "../../schema/reads/record.ts";
import { StoredBytes } from "./stored-bytes.ts";

type SaleConfig = Config<typeof paymentSettings & typeof channelSettings> &
  Pick<Config<typeof apiSettings>, "apiPriceUsd" | "apiProofPriceUsd"> &
  Pick<Config<typeof paywallSettings>, "payTo" | "facilitatorUrl" | "unpaidPerMinute"> &
  Pick<Config<typeof listenSettings & typeof writeSettings>, "host" | "publicBaseUrl">;

export type ApiSale = {
  readonly priceUsd: string;
  readonly read: Sale;
  /** The sale of a CSV, at the price of ten reads. */
  readonly download: Sale;
  /** The space for responses of both, over all deployments of the process. */
  readonly stored: StoredBytes;
};

// A CSV has up to ten pages of a list.
const READS_PER_DOWNLOAD = 10n;
const TIMEOUT_SECONDS = 60;
// A client that lost its response retries at once. Reads are cheap and large: those of a day would fill the disk.
const RESPONSE_MS = 300_000;
// Half a megabyte a response at most, so that 500 a second would fill 75 GB in that time; pages of usual size take a tenth
// of this.
const STORED_BYTES_MAX = 1024 ** 3;
const BODY_BYTES_MAX = Number(READS_PER_DOWNLOAD) * PAGE_BYTES_MAX;

/** Rejects a configuration that could not sell, before opening anything. */
export function checkSaleConfig(config: SaleConfig): void {
  if (config.apiPriceUsd === null) return;
  const needs = (what: string) => new Fault("CONFIG_INVALID", `API_PRICE_USD needs ${what}.`);
  readPayee(config);
  const { decimals } = resolvePaymentAsset(config);
  if (decimals !== null) {
    readAmount(config.apiPriceUsd, decimals, "API_PRICE_USD");
    readProofAmount(config, decimals);
  }
  if (!config.channelsOn) throw needs("PAYMENT_CHANNELS=true: reads are sold by channel only");
  checkChannelConfig({ ...config, facilitatorPrivateKey: null });
  if (config.paymentRpcUrls.length === 0) throw needs("PAYMENT_RPC_URL, a node of the payment chain");
  if (config.facilitatorUrl === null) throw needs("FACILITATOR_URL: the API settles nothing itself");
  if (config.publicBaseUrl === null && ["0.0.0.0", "::"].includes(config.host)) {
    throw needs(`PUBLIC_BASE_URL, the URL for clients, because HOST=${config.host} is not one`);
  }
}

/** Zero if proofs add nothing to the price. */
function readProofAmount({ apiProofPriceUsd }: SaleConfig, decimals: number): bigint {
  return apiProofPriceUsd === null ? 0n : readAmount(apiProofPriceUsd, decimals, "API_PROOF_PRICE_USD");
}

/** Null without a price. Waits for a node of the payment chain. */
export async function openApiSale(
  config: SaleConfig,
  { listenUrl, signingKeys, ...needs }: PaidServiceNeeds,
): Promise<(ConfiguredGate & { readonly sale: ApiSale; readonly decimals: number; close(): void }) | null> {
  checkSaleConfig(config);
  const { apiPriceUsd, facilitatorUrl } = config;
  if (apiPriceUsd === null || facilitatorUrl === null) return null;
  return openPaymentToken(config, needs, async ({ rpc, token }) => {
    const amount = readAmount(apiPriceUsd, token.decimals, "API_PRICE_USD");
    const remote = openRemoteFacilitator(facilitatorUrl, { ...needs, rpc, token });
    const proofAmount = readProofAmount(config, token.decimals);
    const ofDownload = READS_PER_DOWNLOAD * amount;
    const largestPrice = [ofDownload, amount + proofAmount].reduce((a, b) => (a > b ? a : b));
    const opened = await openConfiguredGate(config, { ...needs, ...remote, token, rpc, largestPrice });
    const sell = (price: bigint) =>
      opened.gate.sell(createOffer(config, token, { price, proofAmount }, { listenUrl, signingKeys }));
    const stored = new StoredBytes({
      bytesMax: STORED_BYTES_MAX,
      bodyBytesMax: BODY_BYTES_MAX,
      storedMs: RESPONSE_MS,
    });
    const sale = { priceUsd: apiPriceUsd, read: sell(amount), download: sell(ofDownload), stored };
    return { ...opened, sale, decimals: token.decimals, close: () => rpc.close() };
  });
}

function createOffer(
  config: SaleConfig,
  token: PaymentToken,
  { price: amount, proofAmount }: { readonly price: bigint; readonly proofAmount: bigint },
  { listenUrl, signingKeys }: Pick<PaidServiceNeeds, "listenUrl" | "signingKeys">,
): PaymentOffer {
  return {
    ...sharedTermsOf(config, token),
    signingKeys,
    isChannelOnly: true,
    amount,
    proofAmount,
    maxTimeoutSeconds: TIMEOUT_SECONDS,
    responseMs: RESPONSE_MS,
    description: "A read of the Sextant indexing API.",
    mimeType: "application/json",
    listing: null,
    get resourceOrigin() {
      return new URL(config.publicBaseUrl ?? listenUrl()).origin;
    },
  };
}
