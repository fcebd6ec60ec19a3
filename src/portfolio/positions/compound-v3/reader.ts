// Compound v3: the base asset a wallet supplied or borrowed in each market, and the collateral behind it.

import {
  decodeAddress,
  decodeTokenAmount,
  decodeWords,
  TOKEN_AMOUNT_MAX,
  wordToAddress,
} from "../../../lib/abi/return-data.ts";
import type { Hex } from "../../../lib/hex.ts";
import { createCallEncoder, readByMulticall } from "../../multicall.ts";
import type { Holding, PositionKind, PositionReader, ProtocolPosition } from "../../types.ts";
import { createUnknownAsset, prepareAssetLookup } from "../asset-metadata.ts";
import type { CometMarket } from "./markets.ts";

const CALLS_PER_MARKET = 3;
/** Principal, two tracking counters, the collateral bits 0 to 15, and bits 16 to 23 of markets with more. */
const USER_BASIC_WORDS = 5;
const ASSETS_IN_WORD = 3;
const MORE_ASSETS_IN_WORD = 4;
const ASSETS_IN_BITS = 16;
const COLLATERALS_MAX = 24;
const ASSET_INFO_WORDS = 8;
const ASSET_INFO_ADDRESS_WORD = 1;
const USER_COLLATERAL_WORDS = 2;

const balanceOf = createCallEncoder("function balanceOf(address) view returns (uint256)");
const borrowBalanceOf = createCallEncoder("function borrowBalanceOf(address) view returns (uint256)");
const userBasic = createCallEncoder("function userBasic(address)");
const baseToken = createCallEncoder("function baseToken() view returns (address)");
const getAssetInfo = createCallEncoder("function getAssetInfo(uint8)");
const userCollateral = createCallEncoder("function userCollateral(address, address)");

type Account = CometMarket & {
  readonly supplied: bigint;
  readonly borrowed: bigint;
  readonly collaterals: readonly number[];
};
type Collateral = { readonly account: Account; readonly asset: Hex };

/** One round trip where there is nothing; two more for the assets and collateral balances of the markets in use. */
export function compoundV3Reader(marketsOf: ReadonlyMap<number, readonly CometMarket[]>): PositionReader {
  return {
    protocol: "compound-v3",
    async read(question, signal) {
      const { at, wallet } = question;
      const markets = marketsOf.get(at.chain.chainId) ?? [];
      if (markets.length === 0) return { positions: [], warnings: [] };

      const warnings: string[] = [];
      const incomplete = ({ name }: CometMarket, what: string) =>
        warnings.push(`${what} in the Compound v3 market ${name} on ${at.chain.name} could not be read.`);

      const first = await readByMulticall(
        at,
        markets.flatMap(({ comet }) =>
          [balanceOf, borrowBalanceOf, userBasic].map((encode) => encode(comet, [wallet])),
        ),
        signal,
      );
      const accounts = markets.flatMap((market, index): Account[] => {
        const [forSupply, forDebt, forBasic] = first.slice(index * CALLS_PER_MARKET);
        const supplied = decodeTokenAmount(forSupply);
        const borrowed = decodeTokenAmount(forDebt);
        const collaterals = collateralsIn(decodeWords(forBasic, USER_BASIC_WORDS));
        if (supplied === null || borrowed === null || collaterals === null) {
          incomplete(market, "Balances");
          return [];
        }
        const empty = supplied === 0n && borrowed === 0n && collaterals.length === 0;
        return empty ? [] : [{ ...market, supplied, borrowed, collaterals }];
      });
      if (accounts.length === 0) return { positions: [], warnings };

      const wanted = accounts.flatMap((account) => account.collaterals.map((index) => ({ account, index })));
      const second = await readByMulticall(
        at,
        [
          ...accounts.map(({ comet }) => baseToken(comet)),
          ...wanted.map(({ account, index }) => getAssetInfo(account.comet, [index])),
        ],
        signal,
      );
      const collaterals = wanted.flatMap(({ account }, index): Collateral[] => {
        const words = decodeWords(second[accounts.length + index], ASSET_INFO_WORDS);
        const asset = wordToAddress(words?.[ASSET_INFO_ADDRESS_WORD]);
        if (asset === null) incomplete(account, "A collateral");
        return asset === null ? [] : [{ account, asset }];
      });
      const bases = new Map<Account, Hex>();
      for (const [index, account] of accounts.entries()) {
        const base = decodeAddress(second[index]);
        if (base !== null) bases.set(account, base);
        else if (account.supplied + account.borrowed > 0n) incomplete(account, "The base asset");
      }

      const inquiry = prepareAssetLookup(question, [
        ...bases.values(),
        ...collaterals.map(({ asset }) => asset),
      ]);
      const calls = [
        ...collaterals.map(({ account, asset }) => userCollateral(account.comet, [wallet, asset])),
        ...inquiry.calls,
      ];
      const third = await readByMulticall(at, calls, signal);
      const assets = inquiry.decode(third.slice(collaterals.length));

      const held = (contract: Hex, rawBalance: bigint): Holding => ({
        ...(assets.get(contract) ?? createUnknownAsset(contract)),
        rawBalance,
      });

      const positions: ProtocolPosition[] = [];
      for (const [account, base] of bases) {
        const { comet, supplied, borrowed } = account;
        // The market is its own receipt token, for the supplied base asset only.
        if (supplied > 0n) positions.push(positionOf(account, "supplied", held(base, supplied), [comet]));
        if (borrowed > 0n) positions.push(positionOf(account, "borrowed", held(base, borrowed), []));
      }
      for (const [index, { account, asset }] of collaterals.entries()) {
        // The second word is reserved and may hold anything.
        const balance = decodeWords(third[index], USER_COLLATERAL_WORDS)?.[0];
        if (balance === undefined || balance > TOKEN_AMOUNT_MAX) incomplete(account, "A collateral balance");
        else if (balance > 0n) positions.push(positionOf(account, "supplied", held(asset, balance), []));
      }
      return { positions, warnings };
    },
  };
}

function collateralsIn(basic: readonly bigint[] | null): readonly number[] | null {
  const low = basic?.[ASSETS_IN_WORD];
  const high = basic?.[MORE_ASSETS_IN_WORD];
  if (low === undefined || high === undefined || low >> 16n !== 0n || high >> 8n !== 0n) return null;
  const bits = low | (high << BigInt(ASSETS_IN_BITS));
  return Array.from({ length: COLLATERALS_MAX }, (_, bit) => bit).filter((bit) => (bits >> BigInt(bit)) & 1n);
}

function positionOf(
  { name, comet }: CometMarket,
  kind: PositionKind,
  asset: Holding,
  replaces: readonly Hex[],
): ProtocolPosition {
  return {
    protocol: "compound-v3",
    kind,
    name: `Compound v3 ${name}${asset.symbol === null ? "" : `: ${asset.symbol}`}`,
    contract: comet,
    assets: [asset],
    receiptTokens: replaces,
  };
}
