// Reads for what a transfer through Permit2 is: orders of UniswapX, payments of x402, by the type of the witness.
import type { Hex } from "../../../lib/hex.ts";
import { coinOf, type MessageContent, type SignedAmount, type SignedOrder } from "./content.ts";
import type { Struct } from "./struct.ts";

type WitnessReader = (witness: Struct, plain: MessageContent, wallet: Hex) => Partial<MessageContent>;

const INFO =
  "OrderInfo(address reactor,address swapper,uint256 nonce,uint256 deadline,address additionalValidationContract,bytes additionalValidationData)";
const DUTCH_OUTPUT = "DutchOutput(address token,uint256 startAmount,uint256 endAmount,address recipient)";
const CURVE = "NonlinearDutchDecay(uint256 relativeBlocks,int256[] relativeAmounts)";
const PRIORITY_INPUT = "PriorityInput(address token,uint256 amount,uint256 mpsPerPriorityFeeWei)";
const PRIORITY_OUTPUT =
  "PriorityOutput(address token,uint256 amount,uint256 mpsPerPriorityFeeWei,address recipient)";
const V3_INPUT =
  "V3DutchInput(address token,uint256 startAmount,NonlinearDutchDecay curve,uint256 maxAmount,uint256 adjustmentPerGweiBaseFee)";
const V3_OUTPUT =
  "V3DutchOutput(address token,uint256 startAmount,NonlinearDutchDecay curve,address recipient,uint256 minAmount,uint256 adjustmentPerGweiBaseFee)";

const ZERO_ADDRESS: Hex = "0x0000000000000000000000000000000000000000";

/** The zero address stands for the native coin among what an order receives. */
function receivedAsset(token: Hex): SignedAmount["asset"] {
  return token === ZERO_ADDRESS ? { standard: "native", contract: null, tokenId: null } : coinOf(token);
}

/** An order of UniswapX: the reactor takes the input only if each output was paid, at least as low as it can fall. */
function readUniswapX(outputs: string, least: (output: Struct) => bigint): WitnessReader {
  return (order, plain, wallet) => {
    const [transfer] = plain.transfers;
    const info = order.struct("info");
    const signed: SignedOrder = {
      maker: wallet,
      gives: transfer === undefined ? [] : [{ asset: transfer.asset, amount: transfer.amount }],
      receives: order.structs(outputs).map((output) => ({
        asset: receivedAsset(output.address("token")),
        amount: least(output),
        recipient: output.address("recipient"),
      })),
      via: transfer?.via ?? null,
      isPartiallyFillable: false,
      runsCode: info.address("additionalValidationContract") !== ZERO_ADDRESS,
    };
    return {
      standard: "uniswapx-order",
      transfers: [],
      orders: [signed],
      hasUnknownPart: info.address("swapper") !== wallet || info.address("reactor") !== transfer?.by,
      requires: transfer?.by ? { protocol: "uniswapx", address: transfer.by } : null,
    };
  };
}

function lower(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}

const readDutchOutput = (output: Struct) => lower(output.uint("startAmount"), output.uint("endAmount"));

/** The proxy of x402 pays only the receiver that the witness names, and not before its first second. */
function readPayment(protocol: "x402-exact" | "x402-upto"): WitnessReader {
  return (witness, plain) => {
    const by = plain.transfers[0]?.by ?? null;
    const isExact = protocol === "x402-exact";
    return {
      standard: `${protocol}-payment`,
      usableFrom: witness.uint("validAfter"),
      transfers: plain.transfers.map((each) => ({ ...each, to: witness.address("to"), isExact })),
      requires: by === null ? null : { protocol, address: by },
    };
  };
}

export const WITNESSES: ReadonlyMap<string, WitnessReader> = new Map([
  [
    `ExclusiveDutchOrder(OrderInfo info,uint256 decayStartTime,uint256 decayEndTime,address exclusiveFiller,uint256 exclusivityOverrideBps,address inputToken,uint256 inputStartAmount,uint256 inputEndAmount,DutchOutput[] outputs)${DUTCH_OUTPUT}${INFO}`,
    readUniswapX("outputs", readDutchOutput),
  ],
  [
    `V2DutchOrder(OrderInfo info,address cosigner,address baseInputToken,uint256 baseInputStartAmount,uint256 baseInputEndAmount,DutchOutput[] baseOutputs)${DUTCH_OUTPUT}${INFO}`,
    readUniswapX("baseOutputs", readDutchOutput),
  ],
  [
    `V3DutchOrder(OrderInfo info,address cosigner,uint256 startingBaseFee,V3DutchInput baseInput,V3DutchOutput[] baseOutputs)${CURVE}${INFO}${V3_INPUT}${V3_OUTPUT}`,
    readUniswapX("baseOutputs", (output) => output.uint("minAmount")),
  ],
  [
    `PriorityOrder(OrderInfo info,address cosigner,uint256 auctionStartBlock,uint256 baselinePriorityFeeWei,PriorityInput input,PriorityOutput[] outputs)${INFO}${PRIORITY_INPUT}${PRIORITY_OUTPUT}`,
    readUniswapX("outputs", (output) => output.uint("amount")),
  ],
  ["Witness(address to,uint256 validAfter)", readPayment("x402-exact")],
  ["Witness(address to,address facilitator,uint256 validAfter)", readPayment("x402-upto")],
]);
