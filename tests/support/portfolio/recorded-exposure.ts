// Who may act on a wallet, as its chain says to a recorder and as a recording repeats it: both ask in the same way.
import { systemClock } from "../../../src/lib/clock.ts";
import type { Hex } from "../../../src/lib/hex.ts";
import { readExposure } from "../../../src/portfolio/exposure/read-exposure.ts";
import { createSpenderList, type Spender } from "../../../src/portfolio/exposure/spenders.ts";
import {
  type AssetKey,
  getAssetKey,
  type Holding,
  type PinnedChain,
  type PositionReader,
  quotePrice,
} from "../../../src/portfolio/types.ts";
import type { Exposure } from "../../../src/schema/portfolio/exposure.ts";
import { openRecordedChain, openRecordedMoment, type RecordedMoment } from "../chain/recorded-chain.ts";

/** On the list of spenders in every recording; an operator that no log must name. */
export const RECORDED_SPENDER: Hex = `0x${"a1".repeat(20)}`;
/** On no list: only a log, or the position itself, names it. */
export const RECORDED_THIEF: Hex = `0x${"7e".repeat(20)}`;

export type ExposedWallet = {
  readonly wallet: Hex;
  readonly holdings: readonly Holding[];
  readonly readers: readonly PositionReader[];
  /** Whole dollars of a whole unit. */
  readonly prices?: Readonly<Partial<Record<AssetKey, bigint>>>;
  /** Besides the one of every recording. */
  readonly spenders?: readonly Pick<Spender, "kind" | "furtherKeys" | "deployments">[];
};

/** Without the scanner, whose calldata is that of one list of spenders: every pair is a call of its own. */
export function readExposureAt(
  at: PinnedChain,
  { wallet, holdings, readers, prices = {}, spenders = [] }: ExposedWallet,
  signal: AbortSignal,
): Promise<Exposure> {
  const chain = { ...at, callWithOverride: async () => null };
  const { slug, chainId } = at.chain;
  const known = { name: "Router", protocol: "Test", source: "this recording" };
  const router = {
    kind: "router",
    takesPositions: true,
    deployments: [[chainId, RECORDED_SPENDER]],
  } as const;
  const priceOf = (key: AssetKey) => prices[key];
  return readExposure(
    {
      chains: new Map([
        [
          slug,
          {
            chain: at.chain,
            pin: async () => chain,
            canPin: () => true,
            blockAt: async () => ({ number: 0, timestamp: 0 }),
          },
        ],
      ]),
      provider: {
        name: "recorded",
        read: async () => ({ holdings, activity: [], warnings: [] }),
      },
      priceSources: [
        [
          {
            name: "test",
            read: async ({ assets }) => ({
              prices: new Map(
                assets.flatMap((asset) => {
                  const usd = priceOf(getAssetKey(asset));
                  const price = usd === undefined ? null : quotePrice({ units: usd, scale: 0 });
                  return price ? [[getAssetKey(asset), price] as const] : [];
                }),
              ),
              warnings: [],
            }),
          },
        ],
      ],
      spenders: createSpenderList(
        [router, ...spenders].map((one) => ({ ...known, ...one })),
        "1 (2026-01-01)",
      ),
      positionReaders: readers,
      clock: systemClock,
    },
    { wallet, slugs: [slug] },
    signal,
  );
}

/** `changes` replaces parts of the record, such as the logs. */
export function readRecordedExposure(
  moment: RecordedMoment,
  exposed: Omit<ExposedWallet, "holdings">,
  changes: Partial<Parameters<typeof openRecordedChain>[0]> = {},
): Promise<Exposure> {
  const { holdings, ...record } = openRecordedMoment(moment);
  // The recorded Safe has neither guard nor handler.
  const at = { ...openRecordedChain({ ...record, ...changes }), storage: async () => 0n };
  return readExposureAt(at, { ...exposed, holdings }, AbortSignal.timeout(60_000));
}
