// Typed data as wallets are asked to sign it: a plain one of each kind, and what a test changes of it.
import { PERMIT2 } from "../../../src/portfolio/exposure/revocations.ts";

type Fields = readonly { readonly name: string; readonly type: string }[];
type Values = Readonly<Record<string, unknown>>;

/** As eth_signTypedData_v4 takes it; numbers are text. */
export type MessageSample = {
  readonly domain: Values;
  readonly types: Readonly<Record<string, Fields>>;
  readonly primaryType: string;
  readonly message: Values;
};

const SAMPLE_OWNER = `0x${"11".repeat(20)}`;
const SAMPLE_SPENDER = `0x${"22".repeat(20)}`;
const FAR = "1900000000";

/** `uint256 a,address b` as fields. */
function fieldsOf(text: string): Fields {
  return text.split(",").map((field) => {
    const [type = "", name = ""] = field.split(" ");
    return { name, type };
  });
}

const TOKEN_DOMAIN = fieldsOf("string name,string version,uint256 chainId,address verifyingContract");
const PERMIT2_DOMAIN = fieldsOf("string name,uint256 chainId,address verifyingContract");

type SampleOptions = {
  readonly chainId: number;
  readonly token: string;
  readonly domain?: Values;
  readonly message?: Values;
};

function tokenSample(
  primaryType: string,
  fields: string,
  message: Values,
  options: SampleOptions,
): MessageSample {
  const { chainId, token } = options;
  return {
    types: { EIP712Domain: TOKEN_DOMAIN, [primaryType]: fieldsOf(fields) },
    primaryType,
    domain: { name: "USD Coin", version: "2", chainId, verifyingContract: token, ...options.domain },
    message: { ...message, ...options.message },
  };
}

export function permitOf(options: SampleOptions): MessageSample {
  const fields = "address owner,address spender,uint256 value,uint256 nonce,uint256 deadline";
  const message = { owner: SAMPLE_OWNER, spender: SAMPLE_SPENDER, value: "5", nonce: "0", deadline: FAR };
  return tokenSample("Permit", fields, message, options);
}

export function daiPermitOf(options: SampleOptions): MessageSample {
  const fields = "address holder,address spender,uint256 nonce,uint256 expiry,bool allowed";
  const message = { holder: SAMPLE_OWNER, spender: SAMPLE_SPENDER, nonce: "0", expiry: "0", allowed: true };
  return tokenSample("Permit", fields, message, options);
}

export function authorizationOf(
  options: SampleOptions,
  primaryType: "TransferWithAuthorization" | "ReceiveWithAuthorization" = "TransferWithAuthorization",
): MessageSample {
  const fields = "address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce";
  const message = {
    ...{ from: SAMPLE_OWNER, to: SAMPLE_SPENDER, value: "5", validAfter: "0", validBefore: FAR },
    nonce: `0x${"01".repeat(32)}`,
  };
  return tokenSample(primaryType, fields, message, options);
}

function permit2Sample(
  primaryType: string,
  types: Readonly<Record<string, string>>,
  message: Values,
  options: SampleOptions,
): MessageSample {
  const declared = Object.entries(types).map(([name, fields]) => [name, fieldsOf(fields)] as const);
  return {
    types: { EIP712Domain: PERMIT2_DOMAIN, ...Object.fromEntries(declared) },
    primaryType,
    domain: { name: "Permit2", chainId: options.chainId, verifyingContract: PERMIT2, ...options.domain },
    message: { ...message, ...options.message },
  };
}

const PERMIT_DETAILS = { PermitDetails: "address token,uint160 amount,uint48 expiration,uint48 nonce" };
const TOKEN_PERMISSIONS = { TokenPermissions: "address token,uint256 amount" };

export function permitSingleOf(options: SampleOptions): MessageSample {
  const details = { token: options.token, amount: "5", expiration: FAR, nonce: "0" };
  const types = {
    PermitSingle: "PermitDetails details,address spender,uint256 sigDeadline",
    ...PERMIT_DETAILS,
  };
  return permit2Sample(
    "PermitSingle",
    types,
    { details, spender: SAMPLE_SPENDER, sigDeadline: FAR },
    options,
  );
}

export function permitBatchOf(
  options: SampleOptions & { readonly details: readonly Values[] },
): MessageSample {
  const types = {
    PermitBatch: "PermitDetails[] details,address spender,uint256 sigDeadline",
    ...PERMIT_DETAILS,
  };
  const message = { details: options.details, spender: SAMPLE_SPENDER, sigDeadline: FAR };
  return permit2Sample("PermitBatch", types, message, options);
}

const TRANSFER_FIELDS = "address spender,uint256 nonce,uint256 deadline";

export function permitTransferOf(options: SampleOptions): MessageSample {
  const types = { PermitTransferFrom: `TokenPermissions permitted,${TRANSFER_FIELDS}`, ...TOKEN_PERMISSIONS };
  const permitted = { token: options.token, amount: "5" };
  const message = { permitted, spender: SAMPLE_SPENDER, nonce: "0", deadline: FAR };
  return permit2Sample("PermitTransferFrom", types, message, options);
}

export function permitBatchTransferOf(
  options: SampleOptions & { readonly permitted: readonly Values[] },
): MessageSample {
  const types = {
    PermitBatchTransferFrom: `TokenPermissions[] permitted,${TRANSFER_FIELDS}`,
    ...TOKEN_PERMISSIONS,
  };
  const message = { permitted: options.permitted, spender: SAMPLE_SPENDER, nonce: "0", deadline: FAR };
  return permit2Sample("PermitBatchTransferFrom", types, message, options);
}

/** A transfer through Permit2 for something; `types` are those of the witness, its own first. */
export function permitWitnessOf(
  options: SampleOptions & { readonly types: Readonly<Record<string, string>>; readonly witness: Values },
): MessageSample {
  const [witnessType = ""] = Object.keys(options.types);
  const types = {
    PermitWitnessTransferFrom: `TokenPermissions permitted,${TRANSFER_FIELDS},${witnessType} witness`,
    ...TOKEN_PERMISSIONS,
    ...options.types,
  };
  const permitted = { token: options.token, amount: "5" };
  const message = {
    ...{ permitted, spender: SAMPLE_SPENDER, nonce: "0", deadline: FAR },
    witness: options.witness,
  };
  return permit2Sample("PermitWitnessTransferFrom", types, message, options);
}

const SEAPORT = "0x0000000000000068F116a894984e2DB1123eB395";
const ORDER_TYPES = {
  OrderComponents:
    "address offerer,address zone,OfferItem[] offer,ConsiderationItem[] consideration,uint8 orderType,uint256 startTime,uint256 endTime,bytes32 zoneHash,uint256 salt,bytes32 conduitKey,uint256 counter",
  OfferItem:
    "uint8 itemType,address token,uint256 identifierOrCriteria,uint256 startAmount,uint256 endAmount",
  ConsiderationItem:
    "uint8 itemType,address token,uint256 identifierOrCriteria,uint256 startAmount,uint256 endAmount,address recipient",
};
const ZERO_ADDRESS = `0x${"00".repeat(20)}`;
const ZERO_WORD = `0x${"00".repeat(32)}`;

/** An NFT of the token's address for one ether. */
export function seaportOrderOf(options: SampleOptions): MessageSample {
  const offer = [
    { itemType: 2, token: options.token, identifierOrCriteria: "7", startAmount: "1", endAmount: "1" },
  ];
  const consideration = [
    {
      ...{ itemType: 0, token: ZERO_ADDRESS, identifierOrCriteria: "0" },
      ...{ startAmount: "1000000000000000000", endAmount: "1000000000000000000", recipient: SAMPLE_OWNER },
    },
  ];
  const message = {
    ...{ offerer: SAMPLE_OWNER, zone: ZERO_ADDRESS, offer, consideration, orderType: 0 },
    ...{ startTime: "0", endTime: FAR, zoneHash: ZERO_WORD, salt: "1", conduitKey: ZERO_WORD, counter: "0" },
  };
  const types = Object.entries(ORDER_TYPES).map(([name, fields]) => [name, fieldsOf(fields)] as const);
  return {
    types: { EIP712Domain: TOKEN_DOMAIN, ...Object.fromEntries(types) },
    primaryType: "OrderComponents",
    domain: {
      ...{ name: "Seaport", version: "1.6", chainId: options.chainId, verifyingContract: SEAPORT },
      ...options.domain,
    },
    message: { ...message, ...options.message },
  };
}

export function cowOrderOf(options: SampleOptions): MessageSample {
  const fields =
    "address sellToken,address buyToken,address receiver,uint256 sellAmount,uint256 buyAmount,uint32 validTo,bytes32 appData,uint256 feeAmount,string kind,bool partiallyFillable,string sellTokenBalance,string buyTokenBalance";
  const message = {
    ...{ sellToken: options.token, buyToken: SAMPLE_SPENDER, receiver: ZERO_ADDRESS, sellAmount: "5" },
    ...{ buyAmount: "5000", validTo: Number(FAR), appData: ZERO_WORD, feeAmount: "0", kind: "sell" },
    ...{ partiallyFillable: false, sellTokenBalance: "erc20", buyTokenBalance: "erc20" },
  };
  const verifyingContract = "0x9008D19f58AAbD9eD0D60971565AA8510560ab41";
  const domain = { name: "Gnosis Protocol", version: "v2", verifyingContract, ...options.domain };
  return tokenSample("Order", fields, message, { ...options, domain });
}

export function inchOrderOf(options: SampleOptions): MessageSample {
  const fields =
    "uint256 salt,address maker,address receiver,address makerAsset,address takerAsset,uint256 makingAmount,uint256 takingAmount,uint256 makerTraits";
  const message = {
    ...{ salt: "1", maker: SAMPLE_OWNER, receiver: ZERO_ADDRESS, makerAsset: options.token },
    ...{ takerAsset: SAMPLE_SPENDER, makingAmount: "5", takingAmount: "5000", makerTraits: "0" },
  };
  const verifyingContract = "0x111111125421cA6dc452d289314280a0f8842A65";
  const domain = { name: "1inch Aggregation Router", version: "6", verifyingContract, ...options.domain };
  return tokenSample("Order", fields, message, { ...options, domain });
}

/** `token` is the Safe. */
export function safeTransactionOf(options: SampleOptions): MessageSample {
  const fields =
    "address to,uint256 value,bytes data,uint8 operation,uint256 safeTxGas,uint256 baseGas,uint256 gasPrice,address gasToken,address refundReceiver,uint256 nonce";
  const message = {
    ...{ to: SAMPLE_SPENDER, value: "0", data: "0x", operation: 0, safeTxGas: "0", baseGas: "0" },
    ...{ gasPrice: "0", gasToken: ZERO_ADDRESS, refundReceiver: ZERO_ADDRESS, nonce: "0" },
  };
  const sample = tokenSample("SafeTx", fields, message, options);
  const { chainId, token: verifyingContract } = options;
  const types = { ...sample.types, EIP712Domain: fieldsOf("uint256 chainId,address verifyingContract") };
  return { ...sample, types, domain: { chainId, verifyingContract, ...options.domain } };
}

export function userOperationOf(options: SampleOptions): MessageSample {
  const fields =
    "address sender,uint256 nonce,bytes initCode,bytes callData,bytes32 accountGasLimits,uint256 preVerificationGas,bytes32 gasFees,bytes paymasterAndData";
  const message = {
    ...{ sender: SAMPLE_OWNER, nonce: "0", initCode: "0x", callData: "0x12345678" },
    ...{ accountGasLimits: ZERO_WORD, preVerificationGas: "0", gasFees: ZERO_WORD, paymasterAndData: "0x" },
  };
  const verifyingContract = "0x4337084d9e255ff0702461cf8895ce9e3b5ff108";
  const domain = { name: "ERC4337", version: "1", verifyingContract, ...options.domain };
  return tokenSample("PackedUserOperation", fields, message, { ...options, domain });
}

/** `token` is not used: the channel has its own. */
export function voucherOf(options: SampleOptions): MessageSample {
  const message = { channelId: `0x${"cc".repeat(32)}`, maxClaimableAmount: "5" };
  const verifyingContract = "0x4020074e9df2ce1dee5a9c1b5c3f541d02a10003";
  const domain = { name: "x402 Batch Settlement", version: "1", verifyingContract, ...options.domain };
  const fields = "bytes32 channelId,uint128 maxClaimableAmount";
  return tokenSample("Voucher", fields, message, { ...options, domain });
}
