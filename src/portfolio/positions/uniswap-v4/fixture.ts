// A wallet with a Uniswap v4 NFT on Base, in a pool of ether and USDC, in range and with fees.
//
// The results are written by hand; tests/protocols/liquidity compares the reader with the contracts themselves.
import { keccak256, numberToHex } from "viem";
import { createParametersCodec } from "../../../lib/abi/codec.ts";
import type { Hex } from "../../../lib/hex.ts";
import type { TransferLog } from "../../types.ts";
import { FIXTURE_WALLET, fixtureChainConfig, fixtureToken } from "../fixture-chain.ts";

export const V4_USDC = fixtureToken("0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", "USDC", 6, "USD Coin");
export const v4ChainConfig = fixtureChainConfig(8453, "Base", [V4_USDC]);
export const V4_MANAGER: Hex = "0x7c5f5a4bbd8fd63184577525326123b519429bdc";
const STATE_VIEW: Hex = "0xa3c0c9b65bad0b08107aa264b0f3db444b867a71";

export const V4_ID = 4_711n;
export const V4_RANGE = { tickLower: -196_500, tickUpper: -195_600 };
export const V4_LIQUIDITY = 5_000_000_000_000_000n;
export const V4_SQRT_PRICE = 4_366_000_000_000_000_000_000_000n;
const Q128 = 1n << 128n;
const ZERO_ADDRESS: Hex = `0x${"00".repeat(20)}`;

const keyTypes = ["address", "address", "uint24", "int24", "address"].map((type) => ({ type }));
const { tickLower, tickUpper } = V4_RANGE;
const packTicks =
  (BigInt.asUintN(24, BigInt(tickUpper)) << 32n) | (BigInt.asUintN(24, BigInt(tickLower)) << 8n);

export const V4_COUNT_FUNCTION = "balanceOf(address) view returns (uint256)";
export const V4_INFO_FUNCTION =
  "getPoolAndPositionInfo(uint256) view returns (address, address, uint24, int24, address, uint256)";
const INSIDE = "getFeeGrowthInside(bytes32, int24, int24) view returns (uint256, uint256)";
const POSITION =
  "getPositionInfo(bytes32, address, int24, int24, bytes32) view returns (uint128, uint256, uint256)";

export const v4Transfer: TransferLog = {
  ...{
    contract: V4_MANAGER,
    from: ZERO_ADDRESS,
    to: FIXTURE_WALLET,
    isErc721: true,
    tokenId: V4_ID,
    amount: null,
  },
  ...{ transactionHash: `0x${"11".repeat(32)}`, blockNumber: 1, blockTimestamp: null, logIndex: 0 },
};

/** What the contracts return of the NFT, in a pool with these hooks. */
export function createV4Calls(hooks: Hex = ZERO_ADDRESS) {
  const key = [ZERO_ADDRESS, V4_USDC.contract, 500, 10, hooks] as const;
  const poolId = keccak256(createParametersCodec(keyTypes).encode(key));
  const info = ((BigInt(poolId) >> 56n) << 56n) | packTicks;
  return [
    { to: V4_MANAGER, function: V4_COUNT_FUNCTION, args: [FIXTURE_WALLET], result: 1n },
    {
      to: V4_MANAGER,
      function: "ownerOf(uint256) view returns (address)",
      args: [V4_ID],
      result: FIXTURE_WALLET,
    },
    { to: V4_MANAGER, function: V4_INFO_FUNCTION, args: [V4_ID], result: [...key, info] },
    {
      to: STATE_VIEW,
      function: "getSlot0(bytes32) view returns (uint160, int24, uint24, uint24)",
      args: [poolId],
      result: [V4_SQRT_PRICE, -196_141, 0, 500],
    },
    {
      to: STATE_VIEW,
      function: INSIDE,
      args: [poolId, tickLower, tickUpper],
      // The counters wrap around: the second has passed zero since.
      result: [3n * Q128, 2n * Q128],
    },
    {
      to: STATE_VIEW,
      function: POSITION,
      args: [poolId, V4_MANAGER, tickLower, tickUpper, numberToHex(V4_ID, { size: 32 })],
      result: [V4_LIQUIDITY, 2n * Q128, (1n << 256n) - Q128],
    },
  ];
}
