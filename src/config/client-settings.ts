// Settings of the commands that use the services as a client.
import type { Hex } from "../lib/hex.ts";
import {
  accountKey,
  baseUrl,
  matchingText,
  optionalSetting,
  secret,
  setting,
  textValue,
  url,
  usdAmount,
} from "./setting-kinds.ts";

/** Settings of the commands that use the services: where those are, who pays, and how much may be spent. */
export const clientSettings = {
  apiUrl: optionalSetting(
    "SEXTANT_API_URL",
    baseUrl,
    "Indexing API that the client commands read. Default: that of a local run.",
  ),
  portfolioUrl: optionalSetting(
    "SEXTANT_PORTFOLIO_URL",
    baseUrl,
    "Portfolio service that they buy from. Default: that of a local run.",
  ),
  payerKey: optionalSetting(
    "SEXTANT_PAYER_KEY",
    secret(accountKey),
    "Key of the account that pays. Default: the payer of a local run.",
  ),
  payerKeyFile: optionalSetting(
    "SEXTANT_PAYER_KEY_FILE",
    textValue,
    "File with that key instead, readable by its owner only.",
  ),
  guardNetwork: optionalSetting(
    "SEXTANT_GUARD_NETWORK",
    matchingText<`eip155:${number}`>(/^eip155:[1-9][0-9]{0,14}$/, "eip155: followed by a chain id"),
    "The only chain that is paid on. Default: that of a local run, otherwise Base.",
  ),
  guardAsset: optionalSetting(
    "SEXTANT_GUARD_ASSET",
    matchingText<Hex>(/^0x[0-9a-fA-F]{40}$/, "an address: 0x followed by 40 hex digits"),
    "The only token that is paid with; six decimals. Default: that of a local run, otherwise USDC.",
  ),
  guardPayees: optionalSetting(
    "SEXTANT_GUARD_PAYEES",
    matchingText(
      /^(?:first|0x[0-9a-fA-F]{40}(?:, ?0x[0-9a-fA-F]{40})*)$/,
      "first, or addresses separated by commas",
    ),
    "Who may be paid; first trusts the payee of the first payment and no other after it. Default: that of a local run.",
  ),
  guardPerPayment: setting("SEXTANT_GUARD_PER_PAYMENT", usdAmount, "0.05", "Largest payment that is signed."),
  guardPerHour: setting("SEXTANT_GUARD_PER_HOUR", usdAmount, "1", "Most that is signed in an hour."),
  guardPerDay: setting("SEXTANT_GUARD_PER_DAY", usdAmount, "5", "Most that is signed in a day."),
  guardTotal: setting(
    "SEXTANT_GUARD_TOTAL",
    usdAmount,
    "50",
    "Most that is signed in all payments of the journal.",
  ),
  channelDeposit: optionalSetting(
    "SEXTANT_CHANNEL_DEPOSIT",
    usdAmount,
    "Deposit of a payment channel; without one, transfers pay.",
  ),
  guardNode: optionalSetting(
    "SEXTANT_GUARD_NODE",
    secret(url("http", "https")),
    "Node of that chain, by which `payments recover` frees what was not charged, and `payments channels` what came back. Default: that of a local run for its own payer.",
  ),
  journalFile: optionalSetting(
    "SEXTANT_JOURNAL",
    textValue,
    "Journal of payments. Default: a file per payer in the state folder of the user, or in the data folder of a local run.",
  ),
  natsUrl: optionalSetting(
    "SEXTANT_NATS_URL",
    secret(url("nats", "tls")),
    "NATS server that `sextant publish` copies events to, with user and password or a token.",
  ),
};
