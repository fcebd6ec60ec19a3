// The rules by which a message is judged: each with its code, what it weighs, what it says, and what it is found by.
import { addDecimals, compareDecimals, type Decimal, multiplyDecimals } from "../../../lib/decimal.ts";
import type { Hex } from "../../../lib/hex.ts";
import type { ReasonCode, SimulationReason } from "../../../schema/portfolio/simulation.ts";
import type { ChainSpenders } from "../../exposure/spenders.ts";
import type { ChainConfig } from "../../types.ts";
import { createReason } from "../verdict.ts";
import type { MessageContent, SignedOrder, SignedPermission } from "./content.ts";
import {
  type MessageContract,
  type MessageContracts,
  type MessageProtocol,
  readAsEyes,
} from "./contracts.ts";
import { keyOfAllowance, keyOfBalance, listClaims, type MessageState } from "./message-state.ts";
import type { MessageValues } from "./message-values.ts";
import type { TypedMessage } from "./typed-data.ts";

/** A message with all that is known about it. */
type ExaminedMessage = {
  readonly typed: TypedMessage;
  /** Null for a message whose type no protocol of ours has. */
  readonly content: MessageContent | null;
  readonly state: MessageState;
  readonly wallet: Hex;
  readonly chain: ChainConfig;
  readonly contracts: MessageContracts;
  readonly spenders: MessageSpenders;
  readonly usdOf: MessageValues["usdOf"];
};

/** As much of the list of spenders as tells who may take what. */
export type MessageSpenders = Pick<ChainSpenders, "byAddress" | "ofTokens" | "ofPermit2">;

type Subject = Partial<Pick<SimulationReason, "contract" | "account">>;
type MessageRule = {
  readonly code: ReasonCode;
  /** One subject for each case in which the rule holds. */
  readonly find: (message: ExaminedMessage) => readonly Subject[];
};

/** A person signs what is used within minutes; a day allows for a slow relayer. */
const DEADLINE_SECONDS_MAX = 86_400n;
/** Orders and allowances last longer: the interfaces of markets offer a month. */
const GRANT_SECONDS_MAX = 31n * 86_400n;
/** More than any balance: some tokens have fewer bits for an allowance. */
const UNLIMITED_MIN = 2n ** 128n;
const UINT96_MAX = 2n ** 96n - 1n;
/** As much of a coin with 18 decimals, and of any token whose decimals are unknown, is worth nothing. */
const DUST = 10n ** 12n;
const DUST_WITHOUT_DECIMALS = 1_000n;
/** The part of a whole unit, in digits, below which a payment is dust. */
const DUST_DIGITS = 4;

const NOWHERE: Subject = {};

function when(isTrue: boolean, subject: Subject = NOWHERE): readonly Subject[] {
  return isTrue ? [subject] : [];
}

/** Rules about the domain: which contract would verify the message, and on which chain. */
const DOMAIN_RULES: readonly MessageRule[] = [
  {
    code: "other-chain",
    find: ({ typed: { domain }, chain }) =>
      when(domain.chainId !== null && domain.chainId !== BigInt(chain.chainId)),
  },
  {
    code: "no-chain-id",
    find: ({ typed: { domain }, content }) => when(domain.chainId === null && content !== null),
  },
  {
    code: "lookalike-contract",
    find: (message) => {
      const { typed, content, contracts } = message;
      const { verifyingContract: contract, name } = typed.domain;
      const known = contracts.find(contract);
      const isForeign = isProtocol(content) && known?.protocol !== content.verifier;
      const meant = name === null ? null : contracts.findByDomain(name);
      const isNamedAlike = meant !== null && known?.protocol !== meant.protocol;
      const { requires = null } = content ?? {};
      const isMisplaced = requires !== null && !contracts.isOf(requires.protocol, requires.address);
      return [
        ...when(isForeign || isNamedAlike || isTokenAlike(message), { contract }),
        ...when(isMisplaced, { account: requires?.address ?? null }),
      ];
    },
  },
  {
    code: "domain-mismatch",
    find: ({ typed, content, contracts, state }) => {
      const known = contracts.find(typed.domain.verifyingContract);
      const isOther = known !== null && isProtocol(content) && !isDomainOf(known, typed);
      const read = state.domainSeparator;
      return when(isOther || (read !== null && read !== typed.domainSeparator), {
        contract: typed.domain.verifyingContract,
      });
    },
  },
  {
    code: "unverified-domain",
    find: ({ typed, content, state }) => {
      const isAsked = content?.verifier === "token" || content?.verifier === "account";
      const { verifyingContract: contract } = typed.domain;
      const isMissing = contract !== null && content !== null && state.hasCode.get(contract) === false;
      return when((isAsked && state.domainSeparator === null) || isMissing, { contract });
    },
  },
  {
    code: "unknown-domain",
    find: (message) => {
      const { verifyingContract: contract } = message.typed.domain;
      const isKnown = contract !== null && isKnownContract(message, contract);
      return when(message.content === null && !isKnown, { contract });
    },
  },
  {
    code: "unknown-message",
    find: ({ content }) => when(content === null || content.hasUnknownPart),
  },
  { code: "unsigned-fields", find: ({ typed }) => when(typed.unsigned.length > 0) },
];

/** Rules about permissions and transfers: who may take what, and for how long. */
const GRANT_RULES: readonly MessageRule[] = [
  {
    code: "operator-for-all",
    find: (message) =>
      listPermissions(message)
        .filter(({ asset, ...one }) => isWholeCollection(asset) && !isKnownSpender(message, one))
        .map(({ asset, spender }) => ({ contract: asset.contract, account: spender })),
  },
  {
    code: "unlimited-approval",
    find: (message) =>
      listPermissions(message)
        .filter((one) => isUnlimited(one) && !isKnownSpender(message, one))
        .map(({ asset, spender }) => ({ contract: asset.contract, account: spender })),
  },
  {
    code: "spender-without-code",
    find: (message) =>
      listTakers(message)
        .filter(({ spender }) => message.state.hasCode.get(spender) === false)
        .map(({ spender }) => ({ account: spender })),
  },
  {
    code: "unknown-spender",
    find: (message) =>
      listTakers(message)
        .filter((taker) => !isKnownSpender(message, taker))
        .map(({ spender }) => ({ account: spender })),
  },
  {
    // A known contract is not safe either: a router lets anyone take what it was sent, and a deposit has a hidden receiver.
    code: "unknown-receiver",
    find: ({ content, wallet }) => [
      ...(content?.transfers ?? [])
        .flatMap(({ to, amount }) => (to === null || to === wallet || amount === 0n ? [] : [to]))
        .map((account) => ({ account })),
      ...when((content?.vouchers ?? []).some(({ total }) => total > 0n)),
    ],
  },
  {
    code: "unlisted-token",
    find: (message) => {
      const { permissions, transfers, orders } = message.content ?? NO_GRANTS;
      const named = [
        ...[...permissions, ...transfers].map(({ asset }) => asset.contract),
        ...orders.flatMap(({ gives, receives }) =>
          [...gives, ...(receives ?? [])].map(({ asset }) => asset.contract),
        ),
      ];
      return [...new Set(named)]
        .filter((contract) => contract !== null && !isListed(message, contract))
        .map((contract) => ({ contract }));
    },
  },
  {
    code: "no-expiry",
    find: (message) =>
      listPermissions(message)
        .filter((one) => one.expiresAt === null && (isUnlimited(one) || isWholeCollection(one.asset)))
        .map(({ asset, spender }) => ({ contract: asset.contract, account: spender })),
  },
  {
    code: "long-permission",
    find: ({ content, state }) =>
      (content?.permissions ?? [])
        .filter(({ expiresAt }) => expiresAt !== null && expiresAt > state.timestamp + GRANT_SECONDS_MAX)
        .map(({ asset, spender }) => ({ contract: asset.contract, account: spender })),
  },
];

const NO_GRANTS: Pick<MessageContent, "permissions" | "transfers" | "orders"> = {
  ...{ permissions: [], transfers: [], orders: [] },
};

/** Rules about time, nonces and signers: whether the signature can be used, and for how long. */
const USE_RULES: readonly MessageRule[] = [
  {
    code: "far-deadline",
    find: ({ content, state }) => {
      if (content === null || isEmpty(content)) return [];
      const { usableUntil, orders, calls } = content;
      // The nonce of a Safe ends its transactions, which have no time.
      if (calls.length > 0) return [];
      const max = orders.length > 0 ? GRANT_SECONDS_MAX : DEADLINE_SECONDS_MAX;
      return when(usableUntil === null || usableUntil > state.timestamp + max);
    },
  },
  {
    code: "signature-expired",
    find: ({ content, state }) =>
      when(content !== null && content.usableUntil !== null && content.usableUntil < state.timestamp),
  },
  {
    code: "nonce-unusable",
    find: ({ state }) => when(state.nonces.some((nonce) => nonce === "used" || nonce === "ahead")),
  },
  {
    code: "other-signer",
    find: ({ content, state, wallet }) => {
      const isOther = content !== null && content.signer !== null && content.signer !== wallet;
      return when((isOther || state.isSigner === false) && state.isSigner !== true);
    },
  },
  {
    code: "unread-state",
    find: ({ content, state, wallet }) => {
      if (content === null) return [];
      const isUnread = listClaims(content, wallet).some((claim) => {
        const allowance = state.allowances.get(keyOfAllowance(claim)) ?? null;
        const needsAllowance = claim.via !== null && claim.asset.contract !== null;
        return (
          (state.balances.get(keyOfBalance(claim)) ?? null) === null || (needsAllowance && allowance === null)
        );
      });
      const isPlaceless = content.orders.some(({ via }) => via === null);
      return when(isUnread || isPlaceless || state.nonces.includes(null));
    },
  },
];

/** Rules about orders, calls of accounts, and vouchers. */
const ORDER_RULES: readonly MessageRule[] = [
  {
    code: "given-away",
    find: (message) =>
      (message.content?.orders ?? [])
        .filter((order) => givesSomething(order) && getsNothing(order, message))
        .map(({ gives }) => ({ contract: gives[0]?.asset.contract ?? null })),
  },
  {
    code: "value-lost",
    find: (message) => when(listOrders(message).some((order) => rateOf(order, message) === "bad")),
  },
  {
    code: "rate-unknown",
    find: (message) => when(listOrders(message).some((order) => rateOf(order, message) === "unknown")),
  },
  {
    code: "order-runs-code",
    find: ({ content }) =>
      when((content?.orders ?? []).some(({ runsCode, receives }) => runsCode || receives === null)),
  },
  {
    code: "delegate-call",
    find: ({ content, contracts }) =>
      (content?.calls ?? [])
        .filter(({ isDelegateCall, to }) => isDelegateCall && !contracts.isOf("safe-multisend", to))
        .map(({ to }) => ({ contract: to })),
  },
  {
    code: "account-call",
    find: ({ content }) => (content?.calls ?? []).map(({ to }) => ({ contract: to })),
  },
  {
    code: "account-pays",
    find: ({ content }) => when((content?.calls ?? []).some(({ hasRefund }) => hasRefund)),
  },
  {
    code: "above-deposit",
    find: ({ content, state }) =>
      (content?.vouchers ?? []).flatMap(({ total }, index) => {
        const [balance = 0n] = state.channels[index] ?? [];
        return when(total > balance);
      }),
  },
];

const RULES: readonly MessageRule[] = [...DOMAIN_RULES, ...GRANT_RULES, ...USE_RULES, ...ORDER_RULES];

/** Every reason against signing; none for a message that was understood in full and gives no unknown account anything. */
export function findMessageReasons(message: ExaminedMessage): readonly SimulationReason[] {
  return RULES.flatMap(({ code, find }) => find(message).map((subject) => createReason(code, subject)));
}

function isProtocol(content: MessageContent | null): content is MessageContent {
  return content !== null && content.verifier !== "token" && content.verifier !== "account";
}

function isDomainOf(known: MessageContract, { domain }: TypedMessage): boolean {
  return domain.name === (known.domain ?? null) && domain.version === (known.version ?? null) && !domain.salt;
}

/** Another contract signs under the name of a listed token. */
function isTokenAlike({ typed, content, chain }: ExaminedMessage): boolean {
  const { name, verifyingContract } = typed.domain;
  if (content?.verifier !== "token" || name === null || verifyingContract === null) return false;
  if (chain.tokens.has(verifyingContract)) return false;
  const read = readAsEyes(name);
  if (read === "") return false;
  return [...chain.tokens.values()].some((token) =>
    [token.name, token.symbol].some((known) => known !== null && readAsEyes(known) === read),
  );
}

function isKnownContract(message: ExaminedMessage, contract: Hex): boolean {
  const { contracts, spenders } = message;
  return contracts.find(contract) !== null || spenders.byAddress.has(contract) || isListed(message, contract);
}

function isListed({ chain }: ExaminedMessage, contract: Hex): boolean {
  return chain.tokens.has(contract) || chain.stablecoins.has(contract);
}

/** Contracts that take tokens only as their owner signed it: others of our data would take them for any caller. */
const TAKE_TOKENS: ReadonlySet<MessageProtocol> = new Set(["permit2", "seaport", "cow-relayer", "1inch"]);
const TAKE_BY_PERMIT2: ReadonlySet<MessageProtocol> = new Set(["uniswapx", "x402-exact", "x402-upto"]);

type Taker = Pick<SignedPermission, "spender" | "via">;

/**
 * The wallet itself, or a contract that is known to take tokens this way. Another one may do for any caller what it was
 * never made for.
 */
function isKnownSpender({ contracts, spenders, wallet }: ExaminedMessage, { spender, via }: Taker): boolean {
  const [protocols, listed] =
    via === null ? [TAKE_TOKENS, spenders.ofTokens] : [TAKE_BY_PERMIT2, spenders.ofPermit2];
  const contract = contracts.find(spender);
  return (
    spender === wallet || listed.includes(spender) || (contract !== null && protocols.has(contract.protocol))
  );
}

/** Without those that take a permission back. */
function listPermissions({ content }: ExaminedMessage): readonly SignedPermission[] {
  return (content?.permissions ?? []).filter(({ amount }) => amount > 0n);
}

/** Accounts that may take something whenever they like: spenders, and who carries out transfers through Permit2. */
function listTakers(message: ExaminedMessage): readonly Taker[] {
  const takers = [
    ...listPermissions(message),
    ...(message.content?.transfers ?? []).flatMap(({ by, via, amount }) =>
      by === null || via === null || amount === 0n ? [] : [{ spender: by, via }],
    ),
  ].filter(({ spender }) => spender !== message.wallet);
  return [...new Map(takers.map(({ spender, via }) => [`${spender} ${via}`, { spender, via }])).values()];
}

function isWholeCollection({ standard, tokenId }: SignedPermission["asset"]): boolean {
  return (standard === "erc721" || standard === "erc1155") && tokenId === null;
}

function isUnlimited({ asset, amount }: Pick<SignedPermission, "asset" | "amount">): boolean {
  return asset.standard === "erc20" && (amount >= UNLIMITED_MIN || amount === UINT96_MAX);
}

function isEmpty({ permissions, transfers, orders, hasUnknownPart }: MessageContent): boolean {
  return permissions.length + transfers.length + orders.length === 0 && !hasUnknownPart;
}

function listOrders({ content }: ExaminedMessage): readonly SignedOrder[] {
  return (content?.orders ?? []).filter(givesSomething);
}

/** An order pays fees and a spread; what is lost beyond a tenth is more than that. */
const LOSS_PERCENT_MAX = 10n;

/** The least that an order brings its maker, against the most that it costs, in dollars. */
function rateOf(order: SignedOrder, { usdOf, wallet }: ExaminedMessage): "fair" | "bad" | "unknown" {
  if (order.receives === null) return "unknown";
  const own = order.receives.filter(({ recipient }) => recipient === order.maker || recipient === wallet);
  const paid = order.gives.map(({ asset, amount }) => usdOf(asset, amount));
  const brought = own.map(({ asset, amount }) => usdOf(asset, amount));
  const [cost, gain] = [sumKnown(paid), sumKnown(brought)];
  // Something without a price that comes in may be worth anything.
  if (cost === null || gain === null) return "unknown";
  const least = multiplyDecimals(cost, { units: 100n - LOSS_PERCENT_MAX, scale: 2 });
  return compareDecimals(gain, least) < 0 ? "bad" : "fair";
}

function sumKnown(values: readonly (Decimal | null)[]): Decimal | null {
  const known = values.filter((value) => value !== null);
  return known.length < values.length ? null : known.reduce(addDecimals, { units: 0n, scale: 0 });
}

function givesSomething({ gives }: SignedOrder): boolean {
  return gives.some(({ amount }) => amount > 0n);
}

/** Nothing that the order pays reaches its maker, or so little that it is worth nothing. */
function getsNothing({ receives, maker }: SignedOrder, { wallet, chain }: ExaminedMessage): boolean {
  if (receives === null) return false;
  return !receives.some(({ asset, amount, recipient }) => {
    if (recipient !== maker && recipient !== wallet) return false;
    if (asset.standard === "erc721" || asset.standard === "erc1155") return amount > 0n;
    return amount > dustOf(chain, asset.contract);
  });
}

function dustOf(chain: ChainConfig, contract: Hex | null): bigint {
  if (contract === null) return DUST;
  const decimals = chain.tokens.get(contract)?.decimals;
  if (decimals === undefined) return DUST_WITHOUT_DECIMALS;
  return 10n ** BigInt(Math.max(0, decimals - DUST_DIGITS));
}
