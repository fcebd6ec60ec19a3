// A wallet on Aave v3 Base: two supplies, one debt, and a supply in a reserve that the data files lack.
import type { Hex } from "../../../lib/hex.ts";
import { FIXTURE_WALLET, fixtureChainConfig, fixtureToken } from "../fixture-chain.ts";
import { aaveBase } from "./markets/base.ts";

export const BASE_WETH = fixtureToken(
  "0x4200000000000000000000000000000000000006",
  "WETH",
  18,
  "Wrapped Ether",
);
export const BASE_USDC = fixtureToken("0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", "USDC", 6, "USD Coin");
export const A_WETH: Hex = "0xd4a0e0b9149bcee3c920d2e00b5de09138fd8bb7";
export const DEBT_USDC: Hex = "0x59dca05b6c26dbd64b5381374aaac5cd05644c28";
export const A_USDC: Hex = "0x4e65fe4dba92790696d040ac24aa414708f5c0ab";
export const NEW_UNDERLYING: Hex = "0x2222222222222222222222222222222222222222";
export const NEW_A_TOKEN: Hex = "0x3333333333333333333333333333333333333333";
const NEW_DEBT_TOKEN: Hex = "0x4444444444444444444444444444444444444444";

export const aaveChainConfig = fixtureChainConfig(8453, "Base", [BASE_WETH, BASE_USDC]);

const BALANCE = "balanceOf(address) view returns (uint256)";
const LIST = "getReservesList() view returns (address[])";
const known = aaveBase.reserves.map(({ underlying }) => underlying);

/** The pool's list when it has only the reserves of the data file. */
export const knownReservesCall = { to: aaveBase.pool, function: LIST, args: [], result: known };

export const knownPositionCalls = [
  { to: A_WETH, function: BALANCE, args: [FIXTURE_WALLET], result: 2_500000000000001234n },
  { to: A_USDC, function: BALANCE, args: [FIXTURE_WALLET], result: 1_000_000001n },
  { to: DEBT_USDC, function: BALANCE, args: [FIXTURE_WALLET], result: 3_141_592653n },
];

export const aaveCalls = [
  ...knownPositionCalls,
  { to: aaveBase.pool, function: LIST, args: [], result: [...known, NEW_UNDERLYING] },
  {
    to: aaveBase.pool,
    function: `getReserveData(address) view returns (${"uint256, ".repeat(8)}address, address, address, ${"uint256, ".repeat(3)}uint256)`,
    args: [NEW_UNDERLYING],
    result: [
      ...[379853409839n, 1001n * 10n ** 24n, 3n * 10n ** 25n, 1002n * 10n ** 24n, 5n * 10n ** 25n, 0n],
      ...[1_717_281_000n, 15n],
      ...[NEW_A_TOKEN, `0x${"00".repeat(20)}`, NEW_DEBT_TOKEN],
      ...[0n, 123n, 0n, 0n],
    ],
  },
  { to: NEW_A_TOKEN, function: BALANCE, args: [FIXTURE_WALLET], result: 777n },
  { to: NEW_DEBT_TOKEN, function: BALANCE, args: [FIXTURE_WALLET], result: 0n },
  { to: NEW_UNDERLYING, function: "symbol() view returns (string)", args: [], result: "NEW" },
  { to: NEW_UNDERLYING, function: "name() view returns (string)", args: [], result: "New Reserve" },
  { to: NEW_UNDERLYING, function: "decimals() view returns (uint8)", args: [], result: 8 },
];
