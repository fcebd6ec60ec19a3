// Health by what each kind of market returns, in two round trips for all; markets that fail or contradict themselves.
import { describe, expect, it } from "vitest";
import {
  openFailingChain,
  openRecordedChain,
  type RecordedCall,
} from "../../../tests/support/chain/recorded-chain.ts";
import {
  makeChainConfig,
  makeHolding,
  makeListedToken,
  makePosition,
  numberedContract,
  TEST_WALLET,
} from "../../../tests/support/portfolio/portfolio-parts.ts";
import type { Hex } from "../../lib/hex.ts";
import type { ProtocolPosition } from "../types.ts";
import { describeRatios } from "./loan.ts";
import { readHealth } from "./read-health.ts";

const { signal } = new AbortController();
const chain = makeChainConfig("base", 8453);
const weth = makeListedToken(1, "WETH");
const usdc = makeListedToken(2, "USDC", 6);
const [POOL, COMPTROLLER, ORACLE, C_WETH, C_USDC, MORPHO, VAULT, EULER_COLLATERAL, FEED_A, FEED_B] =
  Array.from({ length: 10 }, (_, index) => numberedContract(0x100 + index)) as [
    Hex,
    Hex,
    Hex,
    Hex,
    Hex,
    Hex,
    Hex,
    Hex,
    Hex,
    Hex,
  ];
/** Compound's USDC market on Base, which counts in dollars. */
const COMET: Hex = "0xb125e6687d4313864e53df431d5425969c15eb2f";
const ID: Hex = `0x${"77".repeat(32)}`;
const WAD = (value: number) => `${BigInt(Math.round(value * 1e6)) * 10n ** 12n}`;

function account(
  protocol: string,
  market: string,
  collateral: Partial<ProtocolPosition>,
  debt: Partial<ProtocolPosition> | null,
): readonly ProtocolPosition[] {
  const shared = { protocol, market, name: `${protocol}: asset` };
  const supplied = { kind: "supplied", assets: [makeHolding(weth, 10n ** 18n)] } as const;
  const borrowed = { kind: "borrowed", assets: [makeHolding(usdc, 1_000_000000n)] } as const;
  return [
    makePosition({ ...shared, ...supplied, ...collateral }),
    ...(debt ? [makePosition({ ...shared, ...borrowed, ...debt })] : []),
  ];
}

const wallet = TEST_WALLET;
const aave = account("aave-v3", POOL, {}, {});
const aaveCalls: RecordedCall[] = [
  {
    to: POOL,
    function: "getUserAccountData(address) view returns (uint256,uint256,uint256,uint256,uint256,uint256)",
    args: [wallet],
    result: ["200000000000", "100000000000", "0", "8000", "7500", WAD(1.6)],
  },
];
const comet = account("compound-v3", COMET, { contract: COMET }, { contract: COMET });
const one = (to: Hex, fn: string, args: readonly unknown[], result: unknown): RecordedCall => ({
  to,
  function: fn,
  args,
  result,
});
const INFO = "(uint8,address,address,uint64,uint64,uint64,uint64,uint128)";
const cometCalls: RecordedCall[] = [
  one(COMET, "baseTokenPriceFeed() view returns (address)", [], FEED_B),
  one(COMET, "baseScale() view returns (uint256)", [], "1000000"),
  one(COMET, "isLiquidatable(address) view returns (bool)", [wallet], false),
  one(
    COMET,
    `getAssetInfoByAddress(address) view returns (${INFO.slice(1, -1)})`,
    [weth.contract],
    [0, weth.contract, FEED_A, WAD(1), WAD(0.8), WAD(0.9), WAD(0.95), "1"],
  ),
  one(COMET, "getPrice(address) view returns (uint256)", [FEED_A], "200000000000"),
  one(COMET, "getPrice(address) view returns (uint256)", [FEED_B], "100000000"),
];
const compound = account("compound-v2", COMPTROLLER, { contract: C_WETH }, { contract: C_USDC });
const LIQUIDITY = "getAccountLiquidity(address) view returns (uint256,uint256,uint256)";
const compoundCalls = (liquidity: string, shortfall: string): RecordedCall[] => [
  one(COMPTROLLER, "oracle() view returns (address)", [], ORACLE),
  one(COMPTROLLER, "getAssetsIn(address) view returns (address[])", [wallet], [C_WETH]),
  one(COMPTROLLER, LIQUIDITY, [wallet], ["0", liquidity, shortfall]),
  ...([C_WETH, C_USDC] as const).map((market, index) =>
    one(
      COMPTROLLER,
      "markets(address) view returns (bool,uint256,bool)",
      [market],
      [true, WAD(index === 0 ? 0.75 : 0.85), true],
    ),
  ),
  // Fifty shares of 0.02 ether; a debt of a thousand dollars.
  one(
    C_WETH,
    "getAccountSnapshot(address) view returns (uint256,uint256,uint256,uint256)",
    [wallet],
    ["0", "5000000000", "0", `${2n * 10n ** 26n}`],
  ),
  one(
    C_USDC,
    "getAccountSnapshot(address) view returns (uint256,uint256,uint256,uint256)",
    [wallet],
    ["0", "0", "1000000000", `${2n * 10n ** 14n}`],
  ),
  one(ORACLE, "getUnderlyingPrice(address) view returns (uint256)", [C_WETH], `${2_000n * 10n ** 18n}`),
  one(ORACLE, "getUnderlyingPrice(address) view returns (uint256)", [C_USDC], `${10n ** 30n}`),
];
const morpho = account("morpho-blue", `morpho-blue:${ID}`, { contract: MORPHO }, { contract: MORPHO });
const PARAMS = "idToMarketParams(bytes32) view returns (address,address,address,address,uint256)";
const morphoCalls = [
  one(MORPHO, PARAMS, [ID], [usdc.contract, weth.contract, ORACLE, FEED_A, WAD(0.86)]),
  // 2,000 dollars of 6 decimals for 18 decimals.
  one(ORACLE, "price() view returns (uint256)", [], `${2_000n * 10n ** 24n}`),
];
const euler = account("euler", `euler:${wallet}`, { contract: EULER_COLLATERAL }, { contract: VAULT });
const FULL = "accountLiquidityFull(address,bool) view returns (address[],uint256[],uint256)";
const eulerCalls = [
  one(
    VAULT,
    FULL,
    [wallet, true],
    [[EULER_COLLATERAL], [`${1_700n * 10n ** 18n}`], `${1_000n * 10n ** 18n}`],
  ),
  one(VAULT, "unitOfAccount() view returns (address)", [], numberedContract(0x348)),
  one(VAULT, "LTVLiquidation(address) view returns (uint16)", [EULER_COLLATERAL], 8500),
];

async function read(positions: readonly ProtocolPosition[], calls: readonly RecordedCall[]) {
  const at = openRecordedChain({ chain, calls });
  const result = await readHealth({ at, wallet }, positions, signal);
  return { ...result, ratios: result.health.map(({ loan }) => loan && describeRatios(loan)), at };
}

describe("the health of a loan", () => {
  it.each([
    ["aave-v3", aave, aaveCalls, ["1.6", "0.5", "0.8", "0.375"]],
    ["compound-v3", comet, cometCalls, ["1.8", "0.5", "0.9", "0.444444444444444444"]],
    [
      "compound-v2",
      compound,
      compoundCalls(`${500n * 10n ** 18n}`, "0"),
      ["1.5", "0.5", "0.75", "0.333333333333333333"],
    ],
    ["morpho-blue", morpho, morphoCalls, ["1.72", "0.5", "0.86", "0.418604651162790697"]],
    ["euler", euler, eulerCalls, ["1.7", "0.5", "0.85", "0.411764705882352941"]],
  ] as const)(
    "reads the health of a loan in %s as its market has it",
    async (protocol, positions, calls, expected) => {
      const { ratios, warnings, health } = await read(positions, calls);
      const [healthFactor, loanToValue, liquidationThreshold, distanceToLiquidation] = expected;
      expect(ratios).toEqual([
        { healthFactor, loanToValue, liquidationThreshold, distanceToLiquidation, liquidatable: false },
      ]);
      expect(health).toMatchObject([{ protocol, name: protocol }]);
      expect(warnings).toEqual([]);
    },
  );

  it("reads the health of all loans in two round trips", async () => {
    const positions = [...aave, ...comet, ...compound, ...morpho, ...euler];
    const own = morphoCalls.filter(({ to }) => to !== ORACLE);
    const calls = [
      ...aaveCalls,
      ...cometCalls,
      ...compoundCalls(`${500n * 10n ** 18n}`, "0"),
      ...own,
      ...eulerCalls,
    ];
    const { at, ratios } = await read(positions, [...calls, ...morphoCalls]);
    expect(ratios.filter((ratio) => ratio === null)).toEqual([]);
    expect(at.rounds.length).toBe(2);
  });

  it("the health of a loan is unknown, with a warning, if the comptroller's balance differs", async () => {
    const { ratios, warnings } = await read(compound, compoundCalls("0", `${500n * 10n ** 18n}`));
    expect(ratios).toEqual([null]);
    expect(warnings).toEqual([
      `The health of a lending account in compound-v2 on Base is unknown: its market ${COMPTROLLER} could not be read, or contradicts itself.`,
    ]);
  });

  it("counts as collateral only what the wallet has entered", async () => {
    const calls = compoundCalls("0", `${1_000n * 10n ** 18n}`).map((call) =>
      call.function.startsWith("getAssetsIn") ? { ...call, result: [] } : call,
    );
    const { ratios } = await read(compound, calls);
    expect(ratios).toMatchObject([{ healthFactor: "0", loanToValue: null, liquidatable: true }]);
  });

  it("returns no health factor for an account without debt", async () => {
    const calls = aaveCalls.map((call) => ({
      ...call,
      result: ["200000000000", "0", "0", "8000", "7500", "1"],
    }));
    const { ratios } = await read(aave.slice(0, 1), calls);
    expect(ratios).toMatchObject([{ healthFactor: null, distanceToLiquidation: null, liquidatable: false }]);
  });

  it("the health of each loan is unknown, with a warning, when the node fails", async () => {
    const at = openFailingChain({ chain, calls: [] });
    const { health, warnings } = await readHealth({ at, wallet }, [...aave, ...euler], signal);
    expect(health.map(({ loan }) => loan)).toEqual([null, null]);
    expect(warnings.length).toBe(2);
  });

  it.each([
    ["aave-v3", aave, aaveCalls],
    ["compound-v3", comet, cometCalls],
    ["compound-v2", compound, compoundCalls(`${500n * 10n ** 18n}`, "0")],
    ["morpho-blue", morpho, morphoCalls],
    // Without its unit the ratios stay, and only the dollars are unknown.
    ["euler", euler, eulerCalls.filter(({ function: name }) => !name.startsWith("unitOfAccount"))],
  ] as const)(
    "the health of a loan in %s is unknown when a call returns nothing or too much",
    async (_, positions, calls) => {
      for (const missing of calls) {
        for (const spoiled of ["0x", `0x${"ff".repeat(700)}`] as const) {
          const unit = eulerCalls.filter(({ function: name }) => name.startsWith("unitOfAccount"));
          const rest = [...unit, ...calls.filter((call) => call !== missing)];
          const at = openRecordedChain({ chain, calls: rest, otherwise: spoiled });
          const { health } = await readHealth({ at, wallet }, positions, signal);
          expect([missing.function, health.map(({ loan }) => loan)]).toEqual([missing.function, [null]]);
        }
      }
    },
  );

  it("sends no request for health without lending", async () => {
    const { health, at } = await read([makePosition({ protocol: "lido" })], []);
    expect([health, at.rounds]).toEqual([[], []]);
  });
});
