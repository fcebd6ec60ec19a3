// Orders that a wallet signs and others fill: Seaport, CoW Protocol and 1inch, with what they give and receive at least.
import type { Hex } from "../../../lib/hex.ts";
import {
  coinOf,
  createContent,
  type MessageContent,
  type SignedAmount,
  type SignedAsset,
  type SignedOrder,
  untilOf,
} from "./content.ts";
import type { MessageContracts } from "./contracts.ts";
import type { Struct } from "./struct.ts";

type OrderContext = {
  readonly verifyingContract: Hex;
  readonly contracts: MessageContracts;
  readonly wallet: Hex;
};

type OrderReader = (message: Struct, context: OrderContext) => MessageContent;

const ZERO_ADDRESS: Hex = "0x0000000000000000000000000000000000000000";
/** Stands for the native coin among what an order buys. */
const NATIVE_ADDRESS: Hex = "0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee";
const NATIVE: SignedAsset = { standard: "native", contract: null, tokenId: null };

const NO_CONDUIT: Hex = `0x${"0".repeat(64)}`;
/** The conduit of OpenSea takes what its users sell, and the key by which orders name it. */
const OPENSEA_KEY: Hex = "0x0000007b02230091a7ed01230072f7006a004d60a8d4e71d599b8104250f0000";
const OPENSEA_CONDUIT: Hex = "0x1e0049783f008a0085193e00003d00cd54003c71";

const ITEM_STANDARDS = ["native", "erc20", "erc721", "erc1155", "erc721", "erc1155"] as const;
/** A contract that decides itself what it gives. */
const CONTRACT_ORDER = 4n;

function readSeaportItem(item: Struct): SignedAsset | null {
  const type = item.uint("itemType");
  const standard = ITEM_STANDARDS[Number(type)];
  if (standard === undefined) return null;
  const contract = standard === "native" ? null : item.address("token");
  const isSingle = type === 2n || type === 3n;
  return { standard, contract, tokenId: isSingle ? item.uint("identifierOrCriteria") : null };
}

function readSeaportOrder(order: Struct, { verifyingContract }: OrderContext): SignedOrder | null {
  const maker = order.address("offerer");
  const gives = order.structs("offer").map((item) => ({
    asset: readSeaportItem(item),
    amount: higher(item.uint("startAmount"), item.uint("endAmount")),
  }));
  const receives = order.structs("consideration").map((item) => ({
    asset: readSeaportItem(item),
    amount: lower(item.uint("startAmount"), item.uint("endAmount")),
    recipient: item.address("recipient"),
  }));
  if (![...gives, ...receives].every(hasAsset)) return null;
  const type = order.uint("orderType");
  const key = order.bytes("conduitKey");
  const conduit = key === OPENSEA_KEY ? OPENSEA_CONDUIT : null;
  return {
    maker,
    gives: gives.filter(hasAsset),
    receives: receives.filter(hasAsset),
    via: key === NO_CONDUIT ? verifyingContract : conduit,
    isPartiallyFillable: type === 1n || type === 3n,
    runsCode: type >= CONTRACT_ORDER,
  };
}

function hasAsset<T extends { readonly asset: SignedAsset | null }>(
  item: T,
): item is T & { readonly asset: SignedAsset } {
  return item.asset !== null;
}

function describeSeaport(standard: string, orders: readonly Struct[], context: OrderContext): MessageContent {
  const read = orders.map((order) => readSeaportOrder(order, context));
  const makers = new Set(orders.map((order) => order.address("offerer")));
  const ends = orders.map((order) => order.uint("endTime"));
  const latest = ends.reduce(higher, 0n);
  const { verifyingContract: contract } = context;
  return createContent(standard, "seaport", {
    signer: makers.size === 1 ? ([...makers][0] ?? null) : null,
    usableFrom: orders.map((order) => order.uint("startTime")).reduce(lower, latest),
    // The end itself is too late.
    usableUntil: latest === 0n ? 0n : untilOf(latest - 1n),
    nonces: orders.map((order) => ({
      ...({ kind: "seaport-counter", contract, owner: order.address("offerer") } as const),
      expected: order.uint("counter"),
    })),
    orders: read.filter((order) => order !== null),
    hasUnknownPart:
      read.includes(null) || makers.size > 1 || read.some((order) => order?.gives.some(isCriteria) ?? false),
  });
}

function isCriteria({ asset }: SignedAmount): boolean {
  return (asset.standard === "erc721" || asset.standard === "erc1155") && asset.tokenId === null;
}

const ORDER_COMPONENTS =
  "OrderComponents(address offerer,address zone,OfferItem[] offer,ConsiderationItem[] consideration,uint8 orderType,uint256 startTime,uint256 endTime,bytes32 zoneHash,uint256 salt,bytes32 conduitKey,uint256 counter)";
const CONSIDERATION_ITEM =
  "ConsiderationItem(uint8 itemType,address token,uint256 identifierOrCriteria,uint256 startAmount,uint256 endAmount,address recipient)";
const OFFER_ITEM =
  "OfferItem(uint8 itemType,address token,uint256 identifierOrCriteria,uint256 startAmount,uint256 endAmount)";

/** A tree of orders, of any height: each leaf can be filled by itself. */
const BULK_ORDER = /^BulkOrder\(OrderComponents(?:\[2\]){1,10} tree\)/;

const readCowOrder: OrderReader = (message, { contracts, wallet }) => {
  const receiver = message.address("receiver");
  const sold = message.uint("sellAmount") + message.uint("feeAmount");
  const bought = message.address("buyToken");
  const order: SignedOrder = {
    maker: wallet,
    gives: [{ asset: coinOf(message.address("sellToken")), amount: sold }],
    receives: [
      {
        asset: bought === NATIVE_ADDRESS ? NATIVE : coinOf(bought),
        amount: message.uint("buyAmount"),
        recipient: receiver === ZERO_ADDRESS ? wallet : receiver,
      },
    ],
    via: message.text("sellTokenBalance") === "erc20" ? contracts.addressOf("cow-relayer") : null,
    isPartiallyFillable: message.flag("partiallyFillable"),
    runsCode: false,
  };
  const isKnown = ["sell", "buy"].includes(message.text("kind"));
  return createContent("cow-order", "cow", {
    signer: wallet,
    usableUntil: message.uint("validTo"),
    orders: [order],
    hasUnknownPart: !isKnown || message.text("buyTokenBalance") !== "erc20",
  });
};

const readCowCancellation: OrderReader = (_, { wallet }) =>
  createContent("cow-cancellation", "cow", { signer: wallet });

// The bits of 1inch's traits of a maker.
const NO_PARTIAL_FILLS = 1n << 255n;
const RUNS_CODE = (1n << 252n) | (1n << 251n);
const HAS_EXTENSION = 1n << 249n;
const USES_PERMIT2 = 1n << 248n;
const EXPIRATION_SHIFT = 80n;

const readInchOrder: OrderReader = (message, context) => {
  const traits = message.uint("makerTraits");
  const expiration = BigInt.asUintN(40, traits >> EXPIRATION_SHIFT);
  const hasExtension = (traits & HAS_EXTENSION) !== 0n;
  const order = describeInchOrder(message, context, {
    isBounded: !hasExtension,
    runsCode: (traits & RUNS_CODE) !== 0n,
  });
  return createContent("1inch-order", "1inch", {
    signer: order.maker,
    usableUntil: expiration === 0n ? null : expiration,
    orders: [
      {
        ...order,
        via: (traits & USES_PERMIT2) === 0n ? context.verifyingContract : null,
        isPartiallyFillable: (traits & NO_PARTIAL_FILLS) === 0n,
      },
    ],
  });
};

/** The interactions of this version may hold its prices, its predicate and calls. */
const readOldInchOrder: OrderReader = (message, context) => {
  const isPlain = message.bytes("interactions") === "0x";
  const order = describeInchOrder(message, context, { isBounded: isPlain, runsCode: !isPlain });
  return createContent("1inch-order", "1inch", { signer: order.maker, orders: [order] });
};

function describeInchOrder(
  message: Struct,
  { verifyingContract }: OrderContext,
  { isBounded, runsCode }: { readonly isBounded: boolean; readonly runsCode: boolean },
): SignedOrder {
  const [maker, receiver] = [message.address("maker"), message.address("receiver")];
  const received = {
    ...{ asset: coinOf(message.address("takerAsset")), amount: message.uint("takingAmount") },
    recipient: receiver === ZERO_ADDRESS ? maker : receiver,
  };
  return {
    maker,
    gives: [{ asset: coinOf(message.address("makerAsset")), amount: message.uint("makingAmount") }],
    receives: isBounded ? [received] : null,
    ...{ via: verifyingContract, isPartiallyFillable: true, runsCode },
  };
}

function lower(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}

function higher(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}

const ORDERS = new Map<string, OrderReader>([
  [
    `${ORDER_COMPONENTS}${CONSIDERATION_ITEM}${OFFER_ITEM}`,
    (message, context) => describeSeaport("seaport-order", [message], context),
  ],
  [
    "Order(address sellToken,address buyToken,address receiver,uint256 sellAmount,uint256 buyAmount,uint32 validTo,bytes32 appData,uint256 feeAmount,string kind,bool partiallyFillable,string sellTokenBalance,string buyTokenBalance)",
    readCowOrder,
  ],
  ["OrderCancellations(bytes[] orderUids)", readCowCancellation],
  [
    "Order(uint256 salt,address maker,address receiver,address makerAsset,address takerAsset,uint256 makingAmount,uint256 takingAmount,uint256 makerTraits)",
    readInchOrder,
  ],
  [
    "Order(uint256 salt,address makerAsset,address takerAsset,address maker,address receiver,address allowedSender,uint256 makingAmount,uint256 takingAmount,uint256 offsets,bytes interactions)",
    readOldInchOrder,
  ],
]);

/** The reader for a type as it is hashed; undefined for a type that no market of ours verifies. */
export function findOrderReader(type: string): OrderReader | undefined {
  const bulk = BULK_ORDER.exec(type)?.[0];
  if (bulk === undefined) return ORDERS.get(type);
  if (type !== `${bulk}${CONSIDERATION_ITEM}${OFFER_ITEM}${ORDER_COMPONENTS}`) return undefined;
  return (message, context) => describeSeaport("seaport-bulk-order", message.structs("tree"), context);
}
