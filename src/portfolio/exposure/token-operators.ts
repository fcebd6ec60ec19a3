// Operators of ERC-777 tokens: each can move all that the wallet holds of the token, without an allowance.
import { hashEvent } from "../../lib/abi/codec.ts";
import { decodeWord } from "../../lib/abi/return-data.ts";
import { topicToAddress } from "../../lib/abi/words.ts";
import type { Hex } from "../../lib/hex.ts";
import { readEach } from "../contract-reads/read-groups.ts";
import { defineRead, toAddressArray } from "../contract-reads/reads.ts";
import type { WalletQuery } from "../types.ts";
import { readLogsNamingSecond } from "./approval-logs.ts";
import { revocations } from "./revocations.ts";
import type { ChainSpenders } from "./spenders.ts";
import { createPermission, NO_FINDINGS, type PermissionFindings } from "./types.ts";

/** The operator comes first and the holder second, so that the search for approvals does not find it. */
const AUTHORIZED_OPERATOR = hashEvent("AuthorizedOperator(address,address)");
const VIEW_GAS_MAX = 200_000;
// A dozen such tokens are listed on all chains together.
const TOKENS_MAX = 20;
// Most operators of one token: real ones have a handful.
const DEFAULT_OPERATORS_MAX = 50;
const defaultOperators = defineRead(
  "function defaultOperators()",
  toAddressArray(DEFAULT_OPERATORS_MAX),
  VIEW_GAS_MAX,
);
/** Null if the call failed. */
const isOperatorFor = defineRead(
  "function isOperatorFor(address, address)",
  (data) => data && decodeWord(data) === 1n,
  VIEW_GAS_MAX,
);
// Most operators of all tokens, the newest first: only the wallet itself makes such logs of a listed token.
const LOGGED_MAX = 500;
/** No amount limits an operator. */
const UNLIMITED = { rawAllowance: 2n ** 256n - 1n };
const revoke = revocations["token-operator"];

/** Reads tokens that are known to be ERC-777; no request without one. */
export async function readTokenOperators(
  query: WalletQuery,
  tokens: readonly Hex[],
  { ofTokens }: Pick<ChainSpenders, "ofTokens">,
  signal: AbortSignal,
): Promise<PermissionFindings> {
  if (tokens.length === 0) return NO_FINDINGS;
  const { at, wallet } = query;
  const read = tokens.slice(0, TOKENS_MAX);
  const [defaults, logged] = await Promise.all([
    readEach(at, signal, read, (token) => defaultOperators(token)),
    findAuthorized(query, read, signal),
  ]);
  const pairs = defaults.flatMap(([token, byDefault]) => {
    const authorized = logged.pairs.flatMap((one) => (one.token === token ? [one.operator] : []));
    const operators = new Set([...(byDefault ?? []), ...authorized, ...ofTokens]);
    return [...operators].map((operator) => ({ token, operator }));
  });
  const results = await readEach(at, signal, pairs, ({ token, operator }) =>
    isOperatorFor(token, [operator, wallet]),
  );
  const isComplete =
    read.length === tokens.length &&
    logged.isComplete &&
    [...defaults, ...results].every(([, result]) => result !== null);
  return {
    permissions: results.flatMap(([{ token, operator }, isOperator]) =>
      isOperator && operator !== wallet
        ? [createPermission("token-operator", token, operator, revoke(wallet, token, operator), UNLIMITED)]
        : [],
    ),
    isComplete,
    warnings: isComplete ? [] : [`${at.chain.name}: operators of ERC-777 tokens could not be read in full.`],
  };
}

/** Not complete if the logs could not be read, or are more than are asked about. */
async function findAuthorized(query: WalletQuery, contracts: readonly Hex[], signal: AbortSignal) {
  const logs = await readLogsNamingSecond(query, { event: AUTHORIZED_OPERATOR, contracts }, signal);
  const pairs = (logs ?? []).slice(-LOGGED_MAX).flatMap(({ address, topics: [, operator] }) => {
    const named = topicToAddress(operator);
    return named === null ? [] : [{ token: address, operator: named }];
  });
  return { pairs, isComplete: logs !== null && logs.length <= LOGGED_MAX };
}
