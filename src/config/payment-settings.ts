// Settings of payments: prices, token and chain, channels, the ledger, and the facilitator.
import {
  accountAddress,
  accountKey,
  booleanText,
  commaSeparated,
  gweiAmount,
  integer,
  matchingText,
  optionalSetting,
  port,
  privateKey,
  secret,
  setting,
  textValue,
  url,
  usdAmount,
} from "./setting-kinds.ts";

export const paywallSettings = {
  portfolioPriceUsd: setting("PORTFOLIO_PRICE_USD", usdAmount, "0.01", "Price of one snapshot."),
  exposurePriceUsd: optionalSetting(
    "EXPOSURE_PRICE_USD",
    usdAmount,
    "Price of one exposure; unless set, that of a snapshot.",
  ),
  diffPriceUsd: optionalSetting(
    "DIFF_PRICE_USD",
    usdAmount,
    "Price of one difference of two snapshots; unless set, that of a snapshot.",
  ),
  simulatePriceUsd: optionalSetting(
    "SIMULATE_PRICE_USD",
    usdAmount,
    "Price of one simulation; unless set, 0.003, or that of a snapshot if the token has fewer decimals.",
  ),
  priceUsdPerChain: optionalSetting(
    "PRICE_USD_PER_CHAIN",
    usdAmount,
    "What each chain after the first adds to the price of a request.",
  ),
  priceUsdSummary: optionalSetting(
    "PRICE_USD_SUMMARY",
    usdAmount,
    "Price of any paid response with `detail=summary`; unless set, that of the full one.",
  ),
  proofPriceUsd: optionalSetting(
    "PROOF_PRICE_USD",
    usdAmount,
    "What `proof=1` adds to the price of a request, also if no node proves anything. Default: nothing.",
  ),
  unpaidPerMinute: setting(
    "PORTFOLIO_UNPAID_PER_MINUTE",
    integer(0, 1_000_000),
    100,
    "Maximum rejected payments per client and minute, and a fifth as many unpaid runs; 0 disables both limits. Each process counts for itself.",
  ),
  payTo: optionalSetting(
    "PAY_TO",
    accountAddress,
    "Address that receives payments; required to sell snapshots.",
  ),
  facilitatorUrl: optionalSetting(
    "FACILITATOR_URL",
    secret(url("http", "https")),
    "Facilitator that settles payments. Default: this process settles with FACILITATOR_PRIVATE_KEY.",
  ),
  mppKey: optionalSetting(
    "PAYMENT_MPP_KEY",
    secret(privateKey),
    "Key of challenges by the Machine Payments Protocol, the same for all processes. Without it, only x402 pays.",
  ),
  devBypass: setting(
    "X402_DEV_BYPASS",
    booleanText,
    false,
    "Serves snapshots without payment, for development; rejected on a mainnet or if NODE_ENV is production.",
  ),
  nodeEnvironment: optionalSetting(
    "NODE_ENV",
    textValue,
    "With production, development-only settings are rejected.",
  ),
};

/** For what keeps a ledger of payments: the portfolio service and the facilitator. */
export const ledgerSettings = {
  allowAsyncLedger: setting(
    "SEXTANT_ALLOW_ASYNC_LEDGER",
    booleanText,
    false,
    "Sell although a fail-over of the database would lose payments, because no standby confirms commits.",
  ),
};

export const paymentSettings = {
  paymentNetwork: setting(
    "PAYMENT_NETWORK",
    matchingText(/^eip155:[1-9][0-9]{0,14}$/, "eip155: followed by a chain id"),
    "eip155:84532",
    "Payment chain (CAIP-2).",
  ),
  paymentRpcUrls: setting(
    "PAYMENT_RPC_URL",
    commaSeparated(secret(url("http", "https"))),
    [],
    "Nodes of the payment chain in order of preference.",
  ),
  paymentAsset: optionalSetting(
    "PAYMENT_ASSET",
    accountAddress,
    "Payment token; it must support signed transfers (EIP-3009). Default: USDC on Base and Base Sepolia.",
  ),
  paymentAssetName: optionalSetting(
    "PAYMENT_ASSET_NAME",
    textValue,
    "Name in the EIP-712 domain of PAYMENT_ASSET.",
  ),
  paymentAssetVersion: optionalSetting(
    "PAYMENT_ASSET_VERSION",
    textValue,
    "Version in the EIP-712 domain of PAYMENT_ASSET.",
  ),
};

/** Payment channels of the portfolio service. */
export const channelSettings = {
  channelsOn: setting(
    "PAYMENT_CHANNELS",
    booleanText,
    false,
    "Sell by payment channel too: one deposit pays for many calls.",
  ),
  channelKey: optionalSetting(
    "PAYMENT_CHANNEL_KEY",
    secret(accountKey),
    "Key that signs claims and refunds, the same for all processes; every channel contains its address.",
  ),
  channelOldKeys: setting(
    "PAYMENT_CHANNEL_OLD_KEYS",
    commaSeparated(secret(accountKey)),
    [],
    "Keys before that one, while their channels are not empty.",
  ),
  channelWithdrawSeconds: setting(
    "PAYMENT_CHANNEL_WITHDRAW_SECONDS",
    integer(900, 2_592_000),
    // A night in which nothing claims costs nothing.
    86_400,
    "Time between the start and the end of a payer's withdrawal; what is not claimed by then is lost.",
  ),
  channelDepositUsd: setting("PAYMENT_CHANNEL_DEPOSIT_USD", usdAmount, "0.10", "Smallest deposit."),
  channelExposureUsd: setting(
    "PAYMENT_CHANNEL_EXPOSURE_USD",
    usdAmount,
    "1",
    "Sum that a channel may owe before its deposit is final; at least a price.",
  ),
  channelFreeCalls: setting(
    "PAYMENT_CHANNEL_FREE_CALLS",
    integer(0, 1_000),
    0,
    "Free calls of a payer an hour; of all payers, a hundred times as many.",
  ),
  channelClaimUsd: setting(
    "PAYMENT_CHANNEL_CLAIM_USD",
    usdAmount,
    "1",
    "Sum of unclaimed purchases that is claimed; a channel that owes less than a hundredth of it is left out.",
  ),
  channelClaimSeconds: setting(
    "PAYMENT_CHANNEL_CLAIM_SECONDS",
    integer(60, 864_000),
    3_600,
    "Age at which a smaller sum is claimed; at most a third of the withdrawal's time.",
  ),
  channelsMax: setting(
    "PAYMENT_CHANNELS_MAX",
    integer(1, 10_000_000),
    100_000,
    "Maximum channels that were used within a day; others are paid by transfer.",
  ),
};

/** Key and gas limits for settling payments, in a facilitator process or within the portfolio service. */
export const gasSettings = {
  facilitatorPrivateKey: optionalSetting(
    "FACILITATOR_PRIVATE_KEY",
    secret(accountKey),
    "Key of the account that settles payments and pays their gas.",
  ),
  facilitatorGasPriceMax: optionalSetting(
    "FACILITATOR_GAS_PRICE_MAX",
    gweiAmount,
    "Maximum fee per gas, in gwei. Default: the cap of the payment chain; required on an unknown chain.",
  ),
  facilitatorGasPercentMax: setting(
    "FACILITATOR_GAS_PERCENT_MAX",
    integer(1, 1_000_000),
    100,
    "Maximum gas cost of a transfer, in percent of its amount; applies if the price of the native coin is known.",
  ),
  facilitatorRevertedGasMax: setting(
    "FACILITATOR_REVERTED_GAS_MAX",
    integer(0, 1_000_000_000),
    2_000_000,
    "Maximum gas per hour for reverted transfers of contract accounts; 0 rejects contract accounts.",
  ),
};

export const facilitatorSettings = {
  facilitatorPort: setting(
    "FACILITATOR_PORT",
    port,
    3004,
    "Port of the facilitator; 0 lets the system choose.",
  ),
  ...gasSettings,
  facilitatorAmountMin: setting(
    "FACILITATOR_AMOUNT_MIN",
    integer(1, 1_000_000_000_000),
    1_000,
    "Smallest accepted payment, in the token's smallest unit.",
  ),
  facilitatorPayees: setting(
    "FACILITATOR_PAYEES",
    commaSeparated(accountAddress),
    [],
    "Payees to settle payments for. Default: any, which is rejected on a mainnet.",
  ),
  facilitatorChannelAuthorizers: setting(
    "FACILITATOR_CHANNEL_AUTHORIZERS",
    commaSeparated(accountAddress),
    [],
    "Accounts of PAYMENT_CHANNEL_KEY of the payees: transactions of their channels are sent. Default: of none.",
  ),
};
