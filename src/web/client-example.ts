// A client in TypeScript that buys from this service: one program, with the URL and the terms of the service in it.

type ClientExampleTerms = {
  /** The whole URL of the paid request. */
  readonly url: string;
  readonly network: string;
  readonly asset: string;
  readonly amount: string;
};

/** The packages that the example imports, in the versions that the tests run it with. */
export const CLIENT_PACKAGES = { "@x402/evm": "2.27.0", "@x402/fetch": "2.27.0", viem: "2.57.1" } as const;

/** For people without a TypeScript setup: tsx runs the program, the types are Node's. */
const CLIENT_TOOLS = { "@types/node": "20.19.43", tsx: "4.23.15" } as const;

export function renderInstallLine(): string {
  const packages = Object.entries({ ...CLIENT_PACKAGES, ...CLIENT_TOOLS });
  return `npm install ${packages.map(([name, version]) => `${name}@${version}`).join(" ")}`;
}

/** Complete and strict: `tests/portfolio/clients.integration.test.ts` compiles and runs what a service renders. */
export function renderClientExample({ url, network, asset, amount }: ClientExampleTerms): string {
  return `// Buys a snapshot and prints what the wallet is worth. PAYER_PRIVATE_KEY is the key of the account that pays.
import { env } from "node:process";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from "@x402/fetch";
import { privateKeyToAccount } from "viem/accounts";
import type { PortfolioSnapshot } from "./portfolio-snapshot.d.ts";

const url = ${JSON.stringify(url)};
const network = ${JSON.stringify(network)};
const asset = ${JSON.stringify(asset)};
const key = env.PAYER_PRIVATE_KEY;
if (!key) throw new Error("Set PAYER_PRIVATE_KEY to the key of the account that pays.");
const account = privateKeyToAccount(key as \`0x\${string}\`);

const client = x402Client.fromConfig({
  schemes: [{ network, client: new ExactEvmScheme(account) }],
  // The most that is signed for, in the smallest unit of this token; no other token is.
  spendControls: { allowedAssets: [{ network, asset, maxAmountPerPayment: ${JSON.stringify(amount)} }] },
});

// Sends the same signature until there is a response: a second signature would be a second payment.
const fetchWithRetry: typeof fetch = async (input, init) => {
  const request = new Request(input, init);
  if (!request.headers.has("payment-signature")) return fetch(request);
  for (let attempt = 1; attempt <= 8; attempt += 1) {
    const response = await fetch(request.clone()).catch(() => null);
    if (response && ![429, 502, 503, 504].includes(response.status)) return response;
    // A proxy in between may send a date instead of seconds.
    const seconds = Number(response?.headers.get("retry-after") ?? Number.NaN);
    await new Promise((resolve) => setTimeout(resolve, 1000 * (seconds >= 0 ? seconds : 2)));
  }
  throw new Error("There is no response yet; send the same signature again later.");
};

const response = await wrapFetchWithPayment(fetchWithRetry, client)(url);
if (response.status !== 200) throw new Error(\`\${response.status}: \${await response.text()}\`);

const { summary } = (await response.json()) as PortfolioSnapshot;
const { transaction } = decodePaymentResponseHeader(response.headers.get("payment-response") ?? "");
const worth = summary.totalValueUsd?.replace(/\\B(?=(\\d{3})+\\.)/g, ",");
console.log(\`worth $\${worth ?? "?"}, paid in \${transaction}\`);
console.log(\`next: open \${new URL("docs", url)} for the other calls\`);
`;
}
