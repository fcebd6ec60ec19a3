// The response about a message to sign: what it allows, to whom, until when, and how much that is at the block.
import { toCaip2Network } from "../../../lib/caip2.ts";
import { formatAmount, formatDecimal } from "../../../lib/decimal.ts";
import { Fault } from "../../../lib/fault.ts";
import type { Hex } from "../../../lib/hex.ts";
import { keepPresent } from "../../../lib/lists.ts";
import type { PermissionChange, Simulation } from "../../../schema/portfolio/simulation.ts";
import type { SpenderList } from "../../exposure/spenders.ts";
import type { PriceSourceGroups } from "../../prices/collect-prices.ts";
import { isListed, type PinnedChain, type PortfolioChain } from "../../types.ts";
import { formatUnixSeconds, formatUsdValue, sumKnownValues } from "../../valuation/usd.ts";
import { decideVerdict } from "../verdict.ts";
import type { MessageContent, SignedAsset } from "./content.ts";
import { contractsOnChain } from "./contracts.ts";
import { examineMessage, type MessageFindings } from "./examine-message.ts";
import { keyOfBalance } from "./message-state.ts";
import type { TypedMessage } from "./typed-data.ts";

export type MessageQuery = {
  readonly wallet: Hex;
  readonly slug: string;
  /** Undefined for the newest. */
  readonly block: number | undefined;
  readonly typed: TypedMessage;
};

type MessageServices = {
  readonly chains: ReadonlyMap<string, PortfolioChain>;
  readonly priceSources: PriceSourceGroups;
  readonly spenders: SpenderList;
};

/** Rejects, and so costs nothing, if the chain cannot be read. */
export async function simulateMessage(
  { chains, priceSources, spenders }: MessageServices,
  { wallet, slug, block, typed }: MessageQuery,
  signal: AbortSignal,
): Promise<Simulation> {
  const access = chains.get(slug);
  if (access === undefined) throw new Fault("INPUT_INVALID", `Chain ${slug} is not served.`);
  const at = await access.pin(signal, block, wallet);
  const sources = { priceSources, spenders: spenders.onChain(at.chain.chainId) };
  const findings = await examineMessage({ at, wallet }, typed, sources, signal);
  const describer = new MessageDescriber(at, wallet, findings, sources.spenders.byAddress);
  return {
    wallet,
    chain: at.chain.slug,
    chainId: toCaip2Network(at.chain.chainId),
    block: {
      ...{ number: at.block.number, hash: at.block.hash },
      timestamp: new Date(at.block.timestamp * 1_000).toISOString(),
    },
    ...decideVerdict(findings.reasons),
    ...{ success: null, transactions: [], balanceChanges: [], targets: [] },
    message: describer.describeMessage(),
    gas: { used: null, gasPriceWei: null, feeWei: null, feeUsd: null },
    permissionChanges: describer.listPermissions(),
    receivers: describer.listReceivers(),
    value: describer.sumValue(),
    crossCheck: { method: null, agrees: null },
    warnings: keepPresent(
      !findings.isSearched &&
        "Recent transfers of the wallet could not be searched: accounts were compared with our lists only.",
      ...findings.values.warnings,
    ),
  };
}

/** More entries than a person reads; the reasons are found over all of them. */
const ENTRIES_MAX = 100;
/** More than any balance: the end of what a token counts down. */
const UNLIMITED_MIN = 2n ** 128n;
const NO_CONTENT: Pick<MessageContent, "permissions" | "transfers" | "orders" | "calls"> = {
  ...{ permissions: [], transfers: [], orders: [], calls: [] },
};

type Grant = Pick<PermissionChange, "kind" | "spender" | "via"> & {
  readonly asset: SignedAsset;
  readonly owner: Hex;
  readonly amount: bigint;
  readonly expiresAt: bigint | null;
};

class MessageDescriber {
  readonly #at: PinnedChain;
  readonly #wallet: Hex;
  readonly #findings: MessageFindings;
  readonly #nameOf: (account: Hex) => string | null;

  constructor(
    at: PinnedChain,
    wallet: Hex,
    findings: MessageFindings,
    spenders: ReadonlyMap<Hex, { readonly name: string }>,
  ) {
    this.#at = at;
    this.#wallet = wallet;
    this.#findings = findings;
    const contracts = contractsOnChain(at.chain.chainId);
    this.#nameOf = (account) => spenders.get(account)?.name ?? contracts.find(account)?.name ?? null;
  }

  get #content(): typeof NO_CONTENT {
    return this.#findings.content ?? NO_CONTENT;
  }

  describeMessage(): Simulation["message"] {
    const { typed, content, takeable, vouchers, values } = this.#findings;
    return {
      standard: content?.standard ?? null,
      primaryType: typed.primaryType,
      domainName: typed.domain.name,
      verifyingContract: typed.domain.verifyingContract,
      signer: content?.signer ?? null,
      usableFrom: formatSeconds(content?.usableFrom ?? null),
      expiresAt: formatSeconds(content?.usableUntil ?? null),
      hash: typed.hash,
      takeable: takeable.slice(0, ENTRIES_MAX).map(({ asset, owner, amountMax, amount }) => {
        const value = amount === null ? null : values.usdOf(asset, amount);
        return {
          ...this.#describeAsset(asset),
          ...{ owner, rawAmountMax: amountMax.toString(), rawAmount: amount?.toString() ?? null },
          amount: this.#formatAmount(asset, amount),
          valueUsd: value && formatDecimal(value),
        };
      }),
      receives: this.#content.orders
        .flatMap(({ receives }) => receives ?? [])
        .slice(0, ENTRIES_MAX)
        .map(({ asset, amount, recipient }) => ({
          ...this.#describeAsset(asset),
          ...{ recipient, rawAmountMin: amount.toString(), amountMin: this.#formatAmount(asset, amount) },
        })),
      calls: this.#content.calls.map(({ account, to, value, data, isDelegateCall, hasRefund }) => ({
        ...{ account, to, rawValue: value.toString(), data },
        ...{ delegateCall: isDelegateCall, paysSender: hasRefund },
      })),
      vouchers: vouchers.map(({ channelId, total, balance, claimed, amount }) => ({
        ...{ channelId, rawTotal: total.toString(), rawBalance: balance?.toString() ?? null },
        ...{ rawClaimed: claimed?.toString() ?? null, rawAmount: amount?.toString() ?? null },
      })),
    };
  }

  listPermissions(): Simulation["permissionChanges"] {
    const { permissions, transfers, orders } = this.#content;
    const until = this.#findings.content?.usableUntil ?? null;
    const verifier = this.#findings.typed.domain.verifyingContract ?? this.#wallet;
    const grants: readonly Grant[] = [
      ...permissions.map((each) => ({
        ...each,
        kind:
          each.asset.standard === "erc721" && each.asset.tokenId === null
            ? ("nft-operator" as const)
            : each.kind,
        owner: each.owner ?? this.#wallet,
      })),
      ...transfers.map(({ asset, from, to, by, amount, via }) => ({
        ...{ kind: "signed-transfer" as const, asset, amount, via, expiresAt: until },
        ...{ owner: from ?? this.#wallet, spender: by ?? to ?? this.#wallet },
      })),
      ...orders.flatMap(({ maker, gives, via }) =>
        gives.map(({ asset, amount }) => ({
          ...{ kind: "order" as const, asset, amount, via: null, expiresAt: until },
          ...{ owner: maker, spender: via ?? verifier },
        })),
      ),
    ];
    return grants.slice(0, ENTRIES_MAX).flatMap((grant) => this.#describeGrant(grant));
  }

  #describeGrant({
    asset,
    owner,
    kind,
    spender,
    via,
    amount,
    expiresAt,
  }: Grant): readonly PermissionChange[] {
    const { contract } = asset;
    // A market takes the native coin from its buyer only.
    if (contract === null) return [];
    const { symbol, decimals } = this.#findings.values.assetOf(contract);
    const balance = this.#findings.state.balances.get(keyOfBalance({ asset, owner })) ?? null;
    const exposed = balance === null ? null : balance < amount ? balance : amount;
    const value = exposed === null ? null : this.#findings.values.usdOf(asset, exposed);
    return [
      {
        ...{ kind, contract, symbol, decimals, spender, via },
        spenderName: this.#nameOf(spender),
        spenderHasCode: this.#findings.state.hasCode.get(spender) ?? null,
        tokenId: asset.tokenId?.toString() ?? null,
        rawBefore: null,
        rawAfter: amount.toString(),
        unlimited: amount >= UNLIMITED_MIN,
        expiresAt: formatSeconds(expiresAt),
        rawBalance: balance?.toString() ?? null,
        valueAtRiskUsd: value && formatDecimal(value),
      },
    ];
  }

  listReceivers(): Simulation["receivers"] {
    return this.#content.transfers.slice(0, ENTRIES_MAX).flatMap(({ asset, to, amount }) => {
      if (to === null) return [];
      const { contract, symbol, decimals, listed } = this.#describeAsset(asset);
      return [
        {
          ...{ account: to, name: this.#nameOf(to), hasCode: this.#findings.state.hasCode.get(to) ?? null },
          ...{
            contract,
            symbol,
            decimals,
            listed,
            rawAmount: amount.toString(),
            lookalikeOf: this.#findings.lookalikes.get(to) ?? null,
          },
        },
      ];
    });
  }

  /** The sum that can be taken goes out, and the least that orders bring the wallet comes in. */
  sumValue(): Simulation["value"] {
    const { takeable, values } = this.#findings;
    const out = takeable.map(({ asset, amount }) => (amount === null ? null : values.usdOf(asset, amount)));
    const received = this.#content.orders
      .flatMap(({ receives }) => receives ?? [])
      .filter(({ recipient }) => recipient === this.#wallet)
      .map(({ asset, amount }) => values.usdOf(asset, amount));
    return {
      ...{ inUsd: formatUsdValue(sumKnownValues(received)), outUsd: formatUsdValue(sumKnownValues(out)) },
      partial: [...out, ...received].includes(null),
    };
  }

  #describeAsset(asset: SignedAsset) {
    const { contract, symbol, decimals } = this.#findings.values.assetOf(asset.contract);
    const listed = isListed(this.#at.chain, { contract });
    return { contract, symbol, decimals, listed, tokenId: asset.tokenId?.toString() ?? null };
  }

  #formatAmount({ standard, contract }: SignedAsset, amount: bigint | null): string | null {
    const { decimals } = this.#findings.values.assetOf(contract);
    const isCoin = standard === "native" || standard === "erc20";
    return amount === null || decimals === null || !isCoin ? null : formatAmount(amount, decimals);
  }
}

/** Null for a time beyond what a date can say. */
function formatSeconds(seconds: bigint | null): string | null {
  return seconds === null || seconds > BigInt(Number.MAX_SAFE_INTEGER)
    ? null
    : formatUnixSeconds(Number(seconds));
}
