// Symbol, name and decimals of a position's assets: from what is known already, else asked along with other calls.
import type { Hex } from "../../lib/hex.ts";
import { createCallEncoder } from "../multicall.ts";
import { decodeTokenDecimals, decodeTokenText } from "../tokens/metadata.ts";
import { TOKEN_NAME_LENGTH_MAX, TOKEN_SYMBOL_LENGTH_MAX } from "../tokens/sanitize-text.ts";
import type { Asset, ContractRead, PositionQuery } from "../types.ts";

/** Several proxies deep and a long name take half of it; anyone may have deployed these contracts. */
const GAS_MAX = 150_000;
const CALLS_PER_ASSET = 3;

const symbol = createCallEncoder("function symbol() view returns (string)");
const name = createCallEncoder("function name() view returns (string)");
const decimals = createCallEncoder("function decimals() view returns (uint8)");

/** The calls that are missing, and how to read their answers. */
type AssetInquiry = {
  readonly calls: readonly ContractRead[];
  decode(answers: readonly (Hex | null)[]): ReadonlyMap<Hex, Asset>;
};

/** Held tokens have been described by the chain already, so they are believed before lists. */
export function prepareAssetLookup(
  { at, holdings }: Pick<PositionQuery, "at" | "holdings">,
  contracts: Iterable<Hex>,
): AssetInquiry {
  const held = new Map(holdings.map(({ rawBalance: _, ...asset }) => [asset.contract, asset]));
  const distinct = [...new Set(contracts)];
  const known = new Map<Hex, Asset>();
  for (const contract of distinct) {
    const asset = held.get(contract) ?? at.chain.tokens.get(contract);
    if (asset) known.set(contract, asset);
  }
  const unknown = distinct.filter((contract) => !known.has(contract));
  return {
    calls: unknown.flatMap((contract) =>
      [symbol, name, decimals].map((encode) => encode(contract, [], GAS_MAX)),
    ),
    decode: (answers) => {
      const asked = unknown.map((contract, index): [Hex, Asset] => {
        const [forSymbol, forName, forDecimals] = answers.slice(index * CALLS_PER_ASSET);
        return [
          contract,
          {
            contract,
            symbol: decodeTokenText(forSymbol, TOKEN_SYMBOL_LENGTH_MAX),
            name: decodeTokenText(forName, TOKEN_NAME_LENGTH_MAX),
            decimals: decodeTokenDecimals(forDecimals),
            logo: null,
          },
        ];
      });
      return new Map([...known, ...asked]);
    },
  };
}

/** For a contract that no inquiry covered: nothing is known of it, and nothing is made up. */
export function createUnknownAsset(contract: Hex): Asset {
  return { contract, symbol: null, name: null, decimals: null, logo: null };
}
