// Balances of many tokens, each with limited gas: anyone may have deployed a token.
import {
  balanceScannerAbi as abi,
  balanceScannerRuntimeBytecode as code,
} from "@sextant/contracts/generated/balance-scanner";
import { MULTICALL3 } from "../../../chain/aggregate3.ts";
import { createFunctionCodec } from "../../../lib/abi/codec.ts";
import { decodeFirstWord } from "../../../lib/abi/return-data.ts";
import type { Hex } from "../../../lib/hex.ts";
import { scanContracts } from "../../contract-reads/scan-contracts.ts";
import { erc20 } from "../../tokens/erc20.ts";
import type { PinnedChain } from "../../types.ts";

type BalanceQuery = {
  readonly wallet: Hex;
  /** Distinct. */
  readonly tokens: readonly Hex[];
  /** A token that needs more counts as failed. */
  readonly gasPerToken: number;
};

/** A token in neither has a balance of zero. */
type TokenBalances = { readonly held: ReadonlyMap<Hex, bigint>; readonly failed: readonly Hex[] };

// Twelve thousand gas per token, twice what most need, within what every node allows a call.
const TOKENS_PER_CALL_MAX = 2_500;

const scan = createFunctionCodec(abi, "scan");

/** Rejects unless the balances are complete. */
export async function readTokenBalances(
  at: PinnedChain,
  { wallet, tokens, gasPerToken }: BalanceQuery,
  signal: AbortSignal,
): Promise<TokenBalances> {
  if (tokens.length === 0) return { held: new Map(), failed: [] };
  // The calldata is the same for every token, so it is encoded once.
  const { data = "0x" } = erc20.balanceOf(MULTICALL3, [wallet]).calls[0] ?? {};
  const { found, failed } = await scanContracts<Hex, { readonly balance: bigint }>(
    at,
    {
      items: tokens,
      itemsPerCall: TOKENS_PER_CALL_MAX,
      callsMax: 200,
      code,
      encode: (part) => scan.encodeCall([wallet, part, BigInt(gasPerToken)]),
      decode: scan.decodeResult,
      callOf: (to) => ({ to, data }),
      decodeOne: (returnData) => {
        const balance = decodeFirstWord(returnData);
        return balance ? { balance } : null;
      },
      gasPerItem: gasPerToken,
      title: "a balance scan",
    },
    signal,
  );
  return { held: new Map(found.map(([token, { balance }]) => [token, balance])), failed };
}
