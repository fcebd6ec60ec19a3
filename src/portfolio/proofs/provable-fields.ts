// Lists the fields of a response that can be proven, by chain and block: what each says, and where it stands.
import type { Hex } from "../../lib/hex.ts";
import type { DiffSide, PortfolioDiff, TokenChange } from "../../schema/portfolio/diff.ts";
import type { Exposure, ExposurePermission, SpenderAllowance } from "../../schema/portfolio/exposure.ts";
import type { PortfolioSnapshot } from "../../schema/portfolio/snapshot.ts";
import { blockHashOf } from "../block-hashes.ts";

export type ProvableField = { readonly path: string } & (
  | { readonly kind: "native"; readonly value: bigint }
  /** The proof itself shows it: no other read does. */
  | { readonly kind: "nonce" }
  | ({ readonly kind: "code" } & Pick<PortfolioSnapshot["accounts"][number], "delegate"> & {
        readonly accountKind: string | null;
      })
  | { readonly kind: "erc20"; readonly token: Hex; readonly value: bigint }
  | SpenderField<"allowance">
  /** `value` is the owner. */
  | { readonly kind: "owner"; readonly token: Hex; readonly tokenId: bigint; readonly value: bigint }
  | (SpenderField<"permit2"> & Pick<ExposurePermission, "expiresAt">)
  /** A permission that is not one word of a known contract. */
  | { readonly kind: "unprovable"; readonly reason: string }
);

type SpenderField<Kind> = {
  readonly kind: Kind;
  readonly token: Hex;
  readonly spender: Hex;
  readonly value: bigint;
};

/** The fields of one chain at one block. */
export type ProvableChain = {
  readonly slug: string;
  readonly side?: "from" | "to";
  /** The block that it was read at; null for a stored snapshot whose blocks are not known. */
  readonly block: { readonly number: number; readonly hash: Hex } | null;
  /** The most valuable first, as in the response. */
  readonly fields: readonly ProvableField[];
};

function ofChain<T extends { readonly chain: string }>(
  slug: string,
  items: readonly T[],
  describe: (item: T, index: number) => readonly ProvableField[],
): readonly ProvableField[] {
  return items.flatMap((item, index) => (item.chain === slug ? describe(item, index) : []));
}

function balanceField(path: string, contract: Hex | null, rawBalance: string): ProvableField {
  const value = BigInt(rawBalance);
  return contract === null
    ? { path, kind: "native", value }
    : { path, kind: "erc20", token: contract, value };
}

export function listSnapshotFields({
  tokens,
  gas,
  accounts,
  blocks,
}: PortfolioSnapshot): readonly ProvableChain[] {
  return blocks.map(({ chain: slug, number, hash }) => ({
    slug,
    block: { number, hash },
    fields: [
      ...ofChain(slug, accounts, ({ kind, delegate }, index) => [
        { path: `/accounts/${index}/kind`, kind: "code", accountKind: kind, delegate },
        { path: noncePath(index), kind: "nonce" },
      ]),
      ...ofChain(slug, gas, ({ rawBalance }, index) => [
        balanceField(`/gas/${index}/rawBalance`, null, rawBalance),
      ]),
      ...ofChain(slug, tokens, ({ contract, rawBalance }, index) => [
        balanceField(`/tokens/${index}/rawBalance`, contract, rawBalance),
      ]),
    ],
  }));
}

export function noncePath(index: number): string {
  return `/accounts/${index}/nonce`;
}

export function listExposureFields({
  address,
  summary,
  permissions,
  allowances = [],
}: Pick<Exposure, "address" | "summary" | "permissions" | "allowances">): readonly ProvableChain[] {
  const describe = (each: ExposurePermission, index: number) => [
    ...describePermission(each, index),
    ...describeOwner(each, index, address),
  ];
  return summary.chains.flatMap((part) => {
    const { chain: slug, blockNumber } = part;
    if (blockNumber === null) return [];
    // The request asks for these.
    const asked = ofChain(slug, allowances, (each, index) => [describeAllowance(each, index)]);
    const fields = [...asked, ...ofChain(slug, permissions, describe)];
    return [{ slug, block: blockOf(part, blockNumber), fields }];
  });
}

function describeAllowance(allowance: SpenderAllowance, index: number): ProvableField {
  const { kind, contract: token, spender, rawAllowance, expiresAt } = allowance;
  const path = `/allowances/${index}/rawAllowance`;
  if (rawAllowance === null) return { path, kind: "unprovable", reason: "unknown" };
  const value = BigInt(rawAllowance);
  return kind === "erc20-allowance"
    ? { path, kind: "allowance", token, spender, value }
    : { path, kind: "permit2", token, spender, value, expiresAt };
}

/** The approval of an NFT is one over the wallet while that owns it. */
function describeOwner(
  { kind, contract: token, tokenId }: ExposurePermission,
  index: number,
  wallet: Hex,
): readonly ProvableField[] {
  if (kind !== "nft-approval" || tokenId === null) return [];
  const path = `/permissions/${index}/tokenId`;
  return [{ path, kind: "owner", token, tokenId: BigInt(tokenId), value: BigInt(wallet) }];
}

function describePermission(permission: ExposurePermission, index: number): readonly ProvableField[] {
  const { kind, contract: token, spender, rawAllowance, rawBalance, expiresAt } = permission;
  if (kind !== "erc20-allowance" && kind !== "permit2-allowance") {
    const path = `/permissions/${index}/${rawAllowance === null ? "kind" : "rawAllowance"}`;
    return [{ path, kind: "unprovable", reason: kind.startsWith("nft-") ? "nft" : "other_permission" }];
  }
  const allowance = { path: `/permissions/${index}/rawAllowance`, token, spender };
  return [
    ...(rawAllowance === null
      ? []
      : kind === "erc20-allowance"
        ? [{ ...allowance, kind: "allowance" as const, value: BigInt(rawAllowance) }]
        : [{ ...allowance, kind: "permit2" as const, value: BigInt(rawAllowance), expiresAt }]),
    ...(rawBalance === null ? [] : [balanceField(`/permissions/${index}/rawBalance`, token, rawBalance)]),
  ];
}

export function listDiffFields({ chains, tokens, from, to }: PortfolioDiff): readonly ProvableChain[] {
  const sides = [
    { side: "from", figures: "before", blocks: from.blocks },
    { side: "to", figures: "after", blocks: to.blocks },
  ] as const;
  return sides.flatMap(({ side, figures, blocks }) =>
    chains.map(({ chain: slug }) => ({
      slug,
      side,
      block: findBlock(blocks, slug),
      fields: ofChain(slug, tokens, (token, index) => [describeSide(token, index, figures)]),
    })),
  );
}

function findBlock(blocks: DiffSide["blocks"], slug: string): ProvableChain["block"] {
  const block = blocks.find(({ chain }) => chain === slug);
  return block === undefined ? null : blockOf(block, block.number);
}

/** Without the hash anything could be proven, for a block of that number that a node has made up. */
function blockOf(part: object, number: number): ProvableChain["block"] {
  const hash = blockHashOf(part);
  return hash && { number, hash };
}

/** A side without figures says that the wallet had nothing of the token. */
function describeSide(token: TokenChange, index: number, side: "before" | "after"): ProvableField {
  const figures = token[side];
  return figures === null
    ? balanceField(`/tokens/${index}/${side}`, token.contract, "0")
    : balanceField(`/tokens/${index}/${side}/rawBalance`, token.contract, figures.rawBalance);
}
