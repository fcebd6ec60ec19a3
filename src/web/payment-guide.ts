// Renders the payment guide: how to pay, step by step and to the byte; and Markdown parts that other documents share.
import { transferTypedData } from "@sextant/client/payments/token-typed-data";
import { chainIdOfNetwork } from "../lib/caip2.ts";
import type { Offering, PaidRoute, PaymentTerms } from "./offering.ts";

/** The typed data that a payer signs: EIP-3009 TransferWithAuthorization as EIP-712 typed data. */
function buildTransferTypedData({ extra, network, asset }: PaymentTerms, message: object) {
  return transferTypedData({ ...extra, chainId: chainIdOfNetwork(network), address: asset }, message);
}

const PAYER = "0x1111111111111111111111111111111111111111";
const NONCE = `0x${"5e".repeat(32)}`;
const SIGNATURE = `0x${"ab".repeat(64)}1b`;
const TRANSACTION = `0x${"c0".repeat(32)}`;
// The time in the examples: 2026-01-01 00:00:00 UTC.
const NOW_SECONDS = 1_767_225_600;
// Clocks differ: a signature valid only from now on may be too early for the chain.
const EARLY_SECONDS = 600;

export function renderPaymentGuide({ origin }: Offering, route: PaidRoute, query: string): string {
  const { terms, priceUsd, priceUsdPerChain, method, path, description } = route;
  const ofOneChain = priceUsdPerChain === null ? "" : " (of one chain)";
  const url = `${origin}${path}?${query}`;
  const resource = { url, description, mimeType: "application/json" };
  const authorization = {
    from: PAYER,
    to: terms.payTo,
    value: terms.amount,
    validAfter: String(NOW_SECONDS - EARLY_SECONDS),
    validBefore: String(NOW_SECONDS + terms.maxTimeoutSeconds),
    nonce: NONCE,
  };
  return `### Step 1: request the terms

\`\`\`http
${method} ${path}?${query}
Accept: application/json
\`\`\`

The response is 402 with the header \`PAYMENT-REQUIRED\`: base64 (standard alphabet, padded) of this JSON in UTF-8. The body is \`{"x402Version": 2, "error": "…", "accepts": […]}\` with the same \`accepts\`. An invalid query gets 400 here, before anything is paid.

${formatMarkdownJson({ x402Version: 2, error: "Payment required.", resource, accepts: [terms] })}

There may also be \`extensions\`; all are optional. Check that \`amount\`, \`asset\`, \`network\` and \`payTo\` are what you are willing to pay: $${priceUsd}${ofOneChain} is ${terms.amount} of the smallest unit of \`${terms.asset}\` on \`${terms.network}\`. Paying needs that token and no gas: the service sends the transaction.

### Step 2: sign

Sign this EIP-712 typed data (\`eth_signTypedData_v4\`) with the account that pays. The domain is the token's: \`name\` and \`version\` from \`extra\`, \`chainId\` from \`network\`, \`verifyingContract\` is \`asset\`. \`validAfter\` is now minus ${EARLY_SECONDS} seconds, \`validBefore\` is now plus \`maxTimeoutSeconds\`, \`nonce\` is 32 fresh random bytes, \`value\` is \`amount\`, \`to\` is \`payTo\`.

${formatMarkdownJson(buildTransferTypedData(terms, authorization))}

Wallets that want the type of the domain listed too add \`EIP712Domain\`: name string, version string, chainId uint256, verifyingContract address.

### Step 3: send the payment

Send the same request with the header \`PAYMENT-SIGNATURE\`: base64 of this JSON in UTF-8. \`accepted\` is the element of \`accepts\` that you chose and \`resource\` the one from step 1, both unchanged; the numbers of \`authorization\` are decimal strings.

${formatMarkdownJson({ x402Version: 2, payload: { authorization, signature: SIGNATURE }, resource, accepted: terms })}

### Step 4: read the response

The response is 200 with the JSON you paid for. Its header \`PAYMENT-RESPONSE\` is base64 of:

${formatMarkdownJson({ success: true, transaction: TRANSACTION, network: terms.network, payer: PAYER, amount: terms.amount })}

### Retry rules

- Keep the value of \`PAYMENT-SIGNATURE\` until you have the response. Sending the same value with the same request again is free: you are charged once, and get the same response every time.
- After 503, 429, a timeout or a broken connection: wait \`Retry-After\` seconds (2 if it is absent) and send **the same** \`PAYMENT-SIGNATURE\` again. Do not sign a new payment: a second signature is a second payment.
- If the payment itself is lost, its account gets a response of the last day again: sign the challenge \`sign-in-with-x\` in \`extensions\` of the 402 (EIP-4361, by the account's key), and send it with the same request as \`SIGN-IN-WITH-X\`, without a payment. Nothing is charged; 402 means that no response is stored.
- 402 to a request that carried a payment means that it was not accepted and not charged; \`error\` in the header and the body says why. Fix that, then sign a new payment.
- 409 means that this signature belongs to another request. A payment is bound to method, path and query: \`address\`, \`chains\` and every other parameter.
- After 500 we have charged nothing. Send the same signature again, a few times a minute, and sign a new one only after it has expired: anyone who holds a signature can carry it out. If someone did, the same signature returns the response, until ten minutes after its expiry.
- We charge only for a delivered response: 400, 402, 409 and 500 cost nothing. After 503 the transfer may have happened already; the same signature returns its response and is not charged again.
- \`HEAD\` is priced like \`GET\`: without a payment it returns the same 402 without a body, with one it buys, and \`GET\` with the same payment returns the body.
- \`X-PAYMENT\` is version 1 of x402 and is not accepted.`;
}

export function formatMarkdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cellText).join(" | ")} |`;
  return [line(head), `|${"---|".repeat(head.length)}`, ...rows.map(line)].join("\n");
}

export function formatMarkdownJson(value: unknown): string {
  return `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``;
}

// A bar would start another cell, and a line break would end the table.
function cellText(text: string): string {
  return text.replaceAll("|", "\\|").replace(/\s*\n\s*/g, " ");
}
