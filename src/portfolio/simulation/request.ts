// The request of a simulation as the service uses it: addresses in lower case, amounts as numbers, limits kept.
import { createHash } from "node:crypto";
import { UINT256_MAX } from "../../lib/decimal.ts";
import { Fault } from "../../lib/fault.ts";
import { type Hex, parseAddress, parseBytes } from "../../lib/hex.ts";
import {
  CALL_DATA_BYTES_MAX,
  type SimulationRequest,
  TRANSACTIONS_MAX,
} from "../../schema/portfolio/simulation.ts";

/** A transaction of the wallet. */
export type WalletCall = { readonly to: Hex; readonly value: bigint; readonly data: Hex };

export type TransactionsQuery = {
  readonly wallet: Hex;
  readonly slug: string;
  /** Undefined for the newest. */
  readonly block: number | undefined;
  readonly calls: readonly WalletCall[];
};

/** Throws INPUT_INVALID for what the schema of the body cannot say. */
export function parseTransactions(request: SimulationRequest, served: readonly string[]): TransactionsQuery {
  const { transactions = [] } = request;
  if (transactions.length === 0) {
    throw new Fault("INPUT_INVALID", "transactions must name at least one transaction to simulate.");
  }
  if (transactions.length > TRANSACTIONS_MAX) {
    throw new Fault("INPUT_INVALID", `transactions must be at most ${TRANSACTIONS_MAX}.`);
  }
  const place = parsePlace(request, served);
  const calls = transactions.map(({ to, value = "0", data = "0x" }, index) => {
    const name = `transactions[${index}]`;
    return {
      to: parseAddress(to, `${name}.to`),
      value: parseValue(value, `${name}.value`),
      data: parseBytes(data, `${name}.data`, CALL_DATA_BYTES_MAX),
    };
  });
  return { ...place, calls };
}

/** The wallet, and the chain and block on which it would sign. */
export function parsePlace(
  { wallet, chain, block }: SimulationRequest,
  served: readonly string[],
): Omit<TransactionsQuery, "calls"> {
  if (served.includes(chain)) return { wallet: parseAddress(wallet, "wallet"), slug: chain, block };
  throw new Fault("INPUT_INVALID", `chain must be one of ${served.join(", ")}.`);
}

function parseValue(text: string, name: string): bigint {
  const value = BigInt(text);
  if (value <= UINT256_MAX) return value;
  throw new Fault("INPUT_INVALID", `${name} must be below 2^256.`);
}

/** All that determines the response; the transactions by their hash, because a payment names them in a URL. */
export function canonicalTransactions({
  wallet,
  slug,
  block,
  calls,
}: TransactionsQuery): Readonly<Record<string, string>> {
  const text = JSON.stringify(calls.map(({ to, value, data }) => [to, value.toString(), data]));
  return {
    wallet,
    chain: slug,
    ...(block !== undefined && { block: block.toString() }),
    transactions: createHash("sha256").update(text).digest("hex"),
  };
}
