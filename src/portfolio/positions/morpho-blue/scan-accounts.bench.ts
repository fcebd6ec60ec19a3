// The scan of Ethereum's markets for a wallet without positions, compared with encoding and decoding every call.
import { multicall3Abi } from "@sextant/contracts/generated/multicall3";
import { encodeFunctionResult } from "viem";
import { bench } from "vitest";
import {
  makeChainAccess,
  makeChainConfig,
  TEST_WALLET,
} from "../../../../tests/support/portfolio/portfolio-parts.ts";
import type { Hex } from "../../../lib/hex.ts";
import { readGroups } from "../../contract-reads/read-groups.ts";
import type { ContractRead } from "../../types.ts";
import { MORPHO_BLUE_MARKETS } from "./contracts.ts";
import { createAccountScan, declarePositions } from "./scan-accounts.ts";

const markets = MORPHO_BLUE_MARKETS.get(1) ?? [];
const ids = markets.flatMap((market) => market.ids);
const returned = [200, ids.length - 200].map((count) =>
  encodeFunctionResult({
    abi: multicall3Abi,
    functionName: "aggregate3",
    result: Array.from({ length: count }, () => ({
      success: true,
      returnData: `0x${"0".repeat(192)}` as Hex,
    })),
  }),
);
const read = async (calls: readonly ContractRead[]) => calls.map((_, index) => returned[index] ?? null);
const signal = new AbortController().signal;
const at = await makeChainAccess(makeChainConfig("ethereum", 1), { read }).pin(signal);
const scan = createAccountScan();

bench("encoded once", async () => {
  await scan(at, TEST_WALLET, markets, signal);
});

bench("every call encoded and decoded", async () => {
  await readGroups(
    at,
    signal,
    markets.map(({ morpho }) => declarePositions(morpho, ids, TEST_WALLET)),
  );
});
