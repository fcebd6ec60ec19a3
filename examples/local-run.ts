// Connects the examples with `npm start`: a client of its services, its contracts, and its accounts as wallets of viem.
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createSextant, type SentencePart } from "@sextant/client/sextant";
import {
  type Address,
  createWalletClient,
  defineChain,
  formatUnits,
  type Hex,
  http,
  publicActions,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";

type LocalRun = {
  readonly api: string;
  readonly chains: readonly { readonly name: string; readonly rpcUrl: string }[];
  readonly deployment: {
    readonly chainId: number;
    readonly contracts: Readonly<Record<string, Address>>;
    /** Keys are addresses in lower case. */
    readonly tokens: Readonly<Record<string, { readonly symbol: string; readonly decimals: number }>>;
  };
  /** The token of the local chain. */
  readonly payment: { readonly asset: Address };
  readonly accounts: readonly { readonly name: string; readonly privateKey: Hex }[];
};

// Written by `npm start`, and gone when it ends. The commands read the same setting.
const FILE = join(process.env.SEXTANT_DATA ?? ".sextant", "local.json");

export type LocalWallet = ReturnType<ReturnType<typeof openLocalRun>["wallet"]>;

export function openLocalRun() {
  if (!existsSync(FILE)) {
    throw new Error(
      `There is no ${resolve(FILE)}: run npm start in another terminal, or set SEXTANT_DATA to the folder of its local.json.`,
    );
  }
  const run = JSON.parse(readFileSync(FILE, "utf8")) as LocalRun;
  const { tokens } = run.deployment;
  const chain = defineChain({
    id: run.deployment.chainId,
    name: "local",
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: { default: { http: [find(run.chains, "local").rpcUrl] } },
  });
  /** With decimals and symbol; in the smallest units if the run does not know the token. */
  const formatAmount = (units: bigint | string, token: string): string => {
    const known = tokens[token.toLowerCase()];
    if (known === undefined) return `${units} units of ${token}`;
    const [whole = "", fraction] = formatUnits(BigInt(units), known.decimals).split(".");
    const grouped = BigInt(whole).toLocaleString("en");
    return `${fraction === undefined ? grouped : `${grouped}.${fraction}`} ${known.symbol}`;
  };
  return {
    /** Address of the indexing API, which serves the explorer too. */
    api: run.api,
    chainId: BigInt(run.deployment.chainId),
    sextant: createSextant({ api: run.api }),
    contract: (name: string): Address => {
      const address = run.deployment.contracts[name];
      if (address === undefined) throw new Error(`${FILE} names no ${name}`);
      return address;
    },
    token: run.payment.asset,
    tokenNamed: (symbol: string): Address => {
      const [address] = Object.entries(tokens).find(([, token]) => token.symbol === symbol) ?? [];
      if (address === undefined) throw new Error(`${FILE} names no ${symbol}`);
      return address as Address;
    },
    formatAmount,
    /** Amounts with decimals and symbol, the rest as the API says it. */
    formatSentence: (parts: readonly SentencePart[]): string =>
      parts
        .map((part) =>
          part.kind === "amount" && part.token !== null ? formatAmount(part.amount, part.token) : part.text,
        )
        .join(""),
    /** Signs and sends transactions, and reads the chain. */
    wallet: (name: string) =>
      createWalletClient({
        account: privateKeyToAccount(find(run.accounts, name).privateKey),
        chain,
        transport: http(),
        pollingInterval: 100,
      }).extend(publicActions),
  };
}

/** The block of a transaction, from which on the index can be read; throws if it failed. */
export async function blockOf(wallet: LocalWallet, hash: Hex): Promise<bigint> {
  const { status, blockNumber } = await wallet.waitForTransactionReceipt({ hash });
  if (status !== "success") throw new Error(`the transaction ${hash} failed`);
  return blockNumber;
}

function find<T extends { readonly name: string }>(list: readonly T[], name: string): T {
  const found = list.find((each) => each.name === name);
  if (found === undefined) throw new Error(`${FILE} names no ${name}`);
  return found;
}
